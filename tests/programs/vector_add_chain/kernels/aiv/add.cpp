/* SPDX-License-Identifier: MIT */
/* out = a + b; (a, b, out), at most 32 x 128 */
#include "../../../common/device/matrix.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const ChipTensor &a = tensor(args, 0), &b = tensor(args, 1), &out = tensor(args, 2);
	vec<float, 32, 128> x(rows(a), cols(a)), y(rows(a), cols(a));

	TASSIGN(x, 0x0);
	TASSIGN(y, 0x4000);
	TLOAD(x, whole<float>(a));
	TLOAD(y, whole<float>(b));
	hand_over(PIPE_MTE2, PIPE_V);
	TADD(x, x, y);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(whole<float>(out), x);
}
