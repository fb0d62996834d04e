/* SPDX-License-Identifier: MIT */
/* Crashes inside the dynamic linker, which calls the resolver while it relocates. */
#include <stdint.h>

__attribute__((used)) static void (*choose(void))(int64_t *args)
{
	__builtin_trap();
}

void work(int64_t *args) __attribute__((ifunc("choose")));

void kernel_entry(int64_t *args);
void kernel_entry(int64_t *args)
{
	work(args);
}
