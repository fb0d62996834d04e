// SPDX-License-Identifier: MIT
// args: x (float), scalar: float bits; sets the first element
#include <string.h>

#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<ChipTensor *>(args[0]);
	float v;

	memcpy(&v, &args[1], sizeof(v));
	reinterpret_cast<float *>(t->buffer.addr)[t->start_offset] = v;
}
