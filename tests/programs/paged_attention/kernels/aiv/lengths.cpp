/* SPDX-License-Identifier: MIT */
/* Tokens after this step: total = past + 1; (past [batch], total [batch]) */
#include "../../../common/device/matrix.h"

using namespace prog;

static matrix<int32_t> as_row(const ChipTensor &t)
{
	return matrix<int32_t>(t.data_as<int32_t>(), matrix<int32_t>::Shape(1, t.shapes[0]),
			       matrix<int32_t>::Stride(t.shapes[0], 1));
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	vec<int32_t, 1, 256> v(1, tensor(args, 0).shapes[0]);

	TASSIGN(v, 0x0);
	TLOAD(v, as_row(tensor(args, 0)));
	hand_over(PIPE_MTE2, PIPE_V);
	TADDS(v, v, 1);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(as_row(tensor(args, 1)), v);
}
