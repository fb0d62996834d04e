// SPDX-License-Identifier: MIT
// args: x (float); writes from x[0] on without end: upwards, or downwards when x[0] is negative
#include "tensor.h"

static const int64_t ENOUGH = 1 << 20;	// elements, so that a chip without limits ends the run

extern "C" __attribute__((no_sanitize("undefined", "address", "thread"))) __aicore__ void
kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<ChipTensor *>(args[0]);
	volatile float *x = reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;
	int step = x[0] < 0 ? -1 : 1;

	for (int64_t i = 0; i < ENOUGH; i++)
		x[step * i] = 3e33f;
}
