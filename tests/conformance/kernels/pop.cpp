// SPDX-License-Identifier: MIT
// args: result (int32), scalar count: pops @count slots and adds them up
#include "pipe_ends.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<ChipTensor *>(args[0]);

	reinterpret_cast<int32_t *>(t->buffer.addr)[t->start_offset] += pop_slots(args[1]);
}
