// SPDX-License-Identifier: MIT
// As stamp, and lets the held tasks complete.
#include "log.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	stamp(args);
	// release: pairs with the acquire of the chip's poll of the condition
	__atomic_store_n(log_words(args) + LOG_RELEASED, 1, __ATOMIC_RELEASE);
}
