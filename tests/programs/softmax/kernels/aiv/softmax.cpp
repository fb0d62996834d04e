/* SPDX-License-Identifier: MIT */
/* out = softmax of each row; (x, out), at most 16 x 384 */
#include "../../../common/device/matrix.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const ChipTensor &in = tensor(args, 0), &out = tensor(args, 1);
	vec<float, 16, 384> x(rows(in), cols(in)), scratch(rows(in), cols(in));
	column<float, 16> best(rows(in)), sum(rows(in));

	TASSIGN(x, 0x0);
	TASSIGN(scratch, 0x8000);
	TASSIGN(best, 0x10000);
	TASSIGN(sum, 0x10100);
	TLOAD(x, whole<float>(in));
	hand_over(PIPE_MTE2, PIPE_V);
	TROWMAX(best, x, scratch);
	TROWEXPANDSUB(x, x, best);
	TEXP(x, x);
	TROWSUM(sum, x, scratch);
	TROWEXPANDDIV(x, x, sum);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(whole<float>(out), x);
}
