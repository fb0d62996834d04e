/* SPDX-License-Identifier: MIT */
/* Its second constructor crashes; its destructor tells through the environment whether it ran. */
#include <stdint.h>
#include <stdlib.h>

__attribute__((constructor(101))) static void first(void)
{
	setenv("KERNEL_CRASH", "constructed", 1);
}

__attribute__((constructor(102))) static void second(void)
{
	__builtin_trap();
}

__attribute__((destructor)) static void last(void)
{
	setenv("KERNEL_CRASH", "destroyed", 1);
}

void kernel_entry(int64_t *args);
void kernel_entry(int64_t *args)
{
	args[0] = 1;
}
