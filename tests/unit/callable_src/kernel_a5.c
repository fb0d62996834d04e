/* SPDX-License-Identifier: MIT */
/* A kernel that says that it was compiled for a5. */
#include <stdint.h>

const char pto_kernel_arch_a5 = 1;

void kernel_entry(int64_t *args);
void kernel_entry(int64_t *args)
{
	args[0] = 5;
}
