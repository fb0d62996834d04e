/* SPDX-License-Identifier: MIT */
/* A task of a set length; (cell, rounds) */
#include "tensor.h"

#include "../graph.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	graph_work(static_cast<uint64_t>(args[1]));
}
