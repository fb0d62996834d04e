// SPDX-License-Identifier: MIT
// As stamp, and the task completes only when log[1] becomes non-zero.
#include "log.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	struct pto_async_condition when = {};

	stamp(args);
	when.addr = reinterpret_cast<uint64_t>(log_words(args) + 1);
	when.expected_value = 1;
	register_completion_condition(get_async_ctx(args), when);
}
