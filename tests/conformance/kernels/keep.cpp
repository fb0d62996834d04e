// SPDX-License-Identifier: MIT
// As stamp, and the task never completes: the condition is one that nobody meets.
#include "log.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	stamp(args);
	save_expected_notification_counter(get_async_ctx(args), log_words(args) + LOG_RELEASED, 1000);
}
