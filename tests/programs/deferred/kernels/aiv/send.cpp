/* SPDX-License-Identifier: MIT */
/* Copies a piece of the payload, then counts it; (piece, place, counters [2], which counter) */
#include "../../../common/device/matrix.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	vec<float, 8, 64> x(rows(tensor(args, 0)), 64);

	TASSIGN(x, 0x0);
	TLOAD(x, whole<float>(tensor(args, 0)));
	hand_over(PIPE_MTE2, PIPE_MTE3);
	TSTORE(whole<float>(tensor(args, 1)), x);
	hand_over(PIPE_MTE3, PIPE_S);
	/* release: pairs with the acquire of the runtime's check, so that its consumers see the payload */
	__atomic_fetch_add(tensor(args, 2).data_as<int32_t>() + args[3], 1, __ATOMIC_RELEASE);
}
