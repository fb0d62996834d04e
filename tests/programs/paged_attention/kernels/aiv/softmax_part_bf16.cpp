/* SPDX-License-Identifier: MIT */
#include "../softmax_part.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	softmax_part<bfloat16_t>(args);
}
