/* SPDX-License-Identifier: MIT */
/*
 * Writes nothing itself: the task completes when the two counters have reached
 * what is expected; (payload, counters [2], expected, expected of the second)
 */
#include "../../../common/device/matrix.h"
#include "intrinsic.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	int32_t *counters = tensor(args, 1).data_as<int32_t>();
	const AsyncCtx ctx = get_async_ctx(args);
	CompletionToken token = {};

	save_expected_notification_counter(ctx, counters, scalar<uint32_t>(args, 2));
	token.addr = reinterpret_cast<uintptr_t>(counters + 1);
	token.expected_value = scalar<uint32_t>(args, 3);
	token.engine = static_cast<uint32_t>(CompletionEngine::URMA);
	token.type = static_cast<int32_t>(CompletionType::COUNTER);
	register_completion_condition(ctx, token);
}
