/* SPDX-License-Identifier: MIT */
/* out = sum of the rows of x, from the first to the last; (x, out), at most 64 x 64 */
#include "../../../common/device/matrix.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const ChipTensor &in = tensor(args, 0);
	vec<float, 64, 64> x(rows(in), 64);
	vec<float, 1, 64> sum(1, 64);

	TASSIGN(x, 0x0);
	TASSIGN(sum, 0x8000);
	TLOAD(x, whole<float>(in));
	hand_over(PIPE_MTE2, PIPE_V);
	TCOLSUM(sum, x);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(whole<float>(tensor(args, 1)), sum);
}
