/* SPDX-License-Identifier: MIT */
/* Relative relocations in compact form, both kinds of hash table, and a constructor. */
#include <stdint.h>

static int64_t value = 1;
static int64_t *volatile pointers[100] = { [3] = &value, [50] = &value, [99] = &value };

__attribute__((constructor)) static void construct(void)
{
	value = 20;
}

void kernel_entry(int64_t *args);
void kernel_entry(int64_t *args)
{
	args[0] = *pointers[3] + *pointers[50] + *pointers[99];
}
