/* SPDX-License-Identifier: MIT */
/* The entry is an indirect function whose resolver crashes; no relocation needs it. */
#include <stdint.h>

__attribute__((used)) static void (*choose(void))(int64_t *args)
{
	__builtin_trap();
}

void kernel_entry(int64_t *args) __attribute__((ifunc("choose")));
