/* SPDX-License-Identifier: MIT */
/* A task that completes when the host says so, without keeping a thread busy; (gate) */
#include "intrinsic.h"
#include "tensor.h"

#include "../held.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *gate = reinterpret_cast<struct held_gate *>(
		reinterpret_cast<const ChipTensor *>(args[0])->buffer.addr);

	/* release: pairs with the host's acquire before it measures */
	__atomic_store_n(&gate->started, 1, __ATOMIC_RELEASE);
	save_expected_notification_counter(get_async_ctx(args), &gate->released, 1);
}
