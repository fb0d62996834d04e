/* SPDX-License-Identifier: MIT */
/*
 * Beside multiply_rows in a MIX task: lane l of block b writes rows 16 b + 8 l
 * to 16 b + 8 l + 7 of a in single precision; (a, w, out, wide)
 */
#include "../../../common/device/matrix.h"
#include "intrinsic.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const int row = get_block_idx(args) * 16 + get_sub_block_id(args) * 8;
	vec<half, 8, 64> x(8, 64);
	vec<float, 8, 64> y(8, 64);

	TASSIGN(x, 0x0);
	TASSIGN(y, 0x1000);
	TLOAD(x, window<half>(tensor(args, 0), row, 0, 8, 64));
	hand_over(PIPE_MTE2, PIPE_V);
	TCVT(y, x, RoundMode::CAST_NONE);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(window<float>(tensor(args, 3), row, 0, 8, 64), y);
}
