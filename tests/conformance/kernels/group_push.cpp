// SPDX-License-Identifier: MIT
// args: cluster, pipe, scalar count: pushes @count slots of 64 bytes towards the vector cores
#include "pipe_ends.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	push_slots(args[2]);
}
