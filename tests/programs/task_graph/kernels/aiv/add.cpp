/* SPDX-License-Identifier: MIT */
/* out = a + b; (a, b, out), one row of 64 */
#include "../../../common/device/matrix.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	vec<float, 1, 64> x(1, 64), y(1, 64);

	TASSIGN(x, 0x0);
	TASSIGN(y, 0x100);
	TLOAD(x, whole<float>(tensor(args, 0)));
	TLOAD(y, whole<float>(tensor(args, 1)));
	hand_over(PIPE_MTE2, PIPE_V);
	TADD(x, x, y);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(whole<float>(tensor(args, 2)), x);
}
