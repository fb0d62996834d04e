// SPDX-License-Identifier: MIT
// Writes to address 16.
#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	(void)args;
	*reinterpret_cast<volatile int *>(16) = 1;
}
