// SPDX-License-Identifier: MIT
// args: log word, any others
#include "log.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	stamp(args);
}
