/* SPDX-License-Identifier: MIT */
/* A task that checks its place in the order; (record, cells in the order of the record's steps) */
#include "tensor.h"

#include "../graph.h"

template <typename T> static T *data(int64_t argument)
{
	auto *t = reinterpret_cast<const ChipTensor *>(argument);

	return reinterpret_cast<T *>(t->buffer.addr + 4 * t->start_offset);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *record = data<const struct graph_record>(args[0]);

	for (uint32_t k = 0; k < record->count; k++)
		graph_touch(data<struct graph_cell>(args[1 + k]), &record->steps[k]);
}
