/* SPDX-License-Identifier: MIT */
/* x = x * factor + addend in place; (x, factor, addend), one row of 64 */
#include "../../../common/device/matrix.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	vec<float, 1, 64> x(1, 64);

	TASSIGN(x, 0x0);
	TLOAD(x, whole<float>(tensor(args, 0)));
	hand_over(PIPE_MTE2, PIPE_V);
	TMULS(x, x, scalar<float>(args, 1));
	TADDS(x, x, scalar<float>(args, 2));
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(whole<float>(tensor(args, 0)), x);
}
