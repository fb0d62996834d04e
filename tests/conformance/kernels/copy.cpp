// SPDX-License-Identifier: MIT
// args: source, destination (float); copies the first element
#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *a = reinterpret_cast<ChipTensor *>(args[0]);
	auto *b = reinterpret_cast<ChipTensor *>(args[1]);

	reinterpret_cast<float *>(b->buffer.addr)[b->start_offset] =
		reinterpret_cast<float *>(a->buffer.addr)[a->start_offset];
}
