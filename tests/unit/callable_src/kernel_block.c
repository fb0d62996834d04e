/* SPDX-License-Identifier: MIT */
/* A kernel without a name of its own that may block and uses no services. */
#include <stdint.h>

const char pto_kernel_may_block = 0;

void kernel_entry(int64_t *args);
void kernel_entry(int64_t *args)
{
	args[0] = 7;
}
