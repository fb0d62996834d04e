/* SPDX-License-Identifier: MIT */
#include "../qk.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	qk<bfloat16_t>(args);
}
