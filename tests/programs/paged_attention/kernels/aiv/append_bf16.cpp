/* SPDX-License-Identifier: MIT */
#include "../append.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	append<bfloat16_t>(args);
}
