/* SPDX-License-Identifier: MIT */
#include "../pv.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	pv<bfloat16_t>(args);
}
