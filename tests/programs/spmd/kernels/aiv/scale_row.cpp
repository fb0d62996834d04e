/* SPDX-License-Identifier: MIT */
/* Block b writes row b: out = x * (b + 1) + number of blocks; (x, out), 64 columns */
#include "../../../common/device/matrix.h"
#include "intrinsic.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const int block = get_block_idx(args);
	vec<float, 1, 64> x(1, 64);

	TASSIGN(x, 0x0);
	TLOAD(x, window<float>(tensor(args, 0), block, 0, 1, 64));
	hand_over(PIPE_MTE2, PIPE_V);
	TMULS(x, x, float(block + 1));
	TADDS(x, x, float(get_block_num(args)));
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(window<float>(tensor(args, 1), block, 0, 1, 64), x);
}
