/* SPDX-License-Identifier: MIT */
/* gates[i] = first + i; (gates [8], first) */
#include "../../../common/device/matrix.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	vec<int32_t, 1, 8> g(1, 8);
	matrix<int32_t> out(tensor(args, 0).data_as<int32_t>(), matrix<int32_t>::Shape(1, 8),
			    matrix<int32_t>::Stride(8, 1));

	TASSIGN(g, 0x0);
	TCI<vec<int32_t, 1, 8>, int32_t, 0>(g, scalar<int32_t>(args, 1));
	hand_over(PIPE_S, PIPE_MTE3);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(out, g);
}
