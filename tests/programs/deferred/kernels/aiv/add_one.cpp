/* SPDX-License-Identifier: MIT */
/* out = in + 1; (in, out), at most 32 x 64 */
#include "../../../common/device/matrix.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	vec<float, 32, 64> x(rows(tensor(args, 0)), 64);

	TASSIGN(x, 0x0);
	TLOAD(x, whole<float>(tensor(args, 0)));
	hand_over(PIPE_MTE2, PIPE_V);
	TADDS(x, x, 1.0f);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(whole<float>(tensor(args, 1)), x);
}
