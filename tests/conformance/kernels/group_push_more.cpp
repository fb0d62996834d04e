// SPDX-License-Identifier: MIT
// args: cluster, pipe, any tensor, scalar count: another producer of @count slots of 64 bytes
#include "pipe_ends.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	push_slots(args[3]);
}
