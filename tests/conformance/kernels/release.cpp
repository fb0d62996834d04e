// SPDX-License-Identifier: MIT
// As stamp, and lets the held task complete.
#include "log.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	stamp(args);
	__atomic_store_n(log_words(args) + 1, 1, __ATOMIC_RELEASE);
}
