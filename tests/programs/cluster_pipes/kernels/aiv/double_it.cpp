/* SPDX-License-Identifier: MIT */
/* factor = 2 * factor; (factor [1]) */
#include "../../../common/device/matrix.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	vec<float, 1, 8> f(1, 1);

	TASSIGN(f, 0x0);
	TLOAD(f, window<float>(tensor(args, 0), 0, 0, 1, 1));
	hand_over(PIPE_MTE2, PIPE_V);
	TMULS(f, f, 2.0f);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(window<float>(tensor(args, 0), 0, 0, 1, 1), f);
}
