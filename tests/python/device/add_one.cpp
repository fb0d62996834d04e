// SPDX-License-Identifier: MIT
// args: x (float); x[i] += 1
#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<const ChipTensor *>(args[0]);
	float *x = t->data_as<float>();

	for (uint32_t i = 0; i < t->shapes[0]; i++)
		x[i] += 1.0f;
}
