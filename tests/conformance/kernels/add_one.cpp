// SPDX-License-Identifier: MIT
// args: x (float); x[i] += 1 for every element
#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<ChipTensor *>(args[0]);
	float *x = reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;

	for (uint32_t i = 0; i < t->shapes[0]; i++)
		x[i] += 1.0f;
}
