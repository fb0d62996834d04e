// SPDX-License-Identifier: MIT
// args: cluster, pipe, results (int32, one per block), scalar count: pops @count slots and adds them up
#include "pipe_ends.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<ChipTensor *>(args[2]);

	t->data_as<int32_t>()[get_block_idx(args)] += pop_slots(args[3]);
}
