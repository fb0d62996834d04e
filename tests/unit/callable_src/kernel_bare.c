/* SPDX-License-Identifier: MIT */
/*
 * Linked without the compiler's start files: the dynamic linker runs nothing of it, so any damage outside its
 * text can be tried in this process.
 */
#include <stdint.h>

int64_t counter = 1;
int64_t *const table[] = { &counter, &counter };
int64_t *volatile writable_table[] = { &counter, &counter };
_Thread_local int64_t per_thread = 3;

int64_t helper(int64_t v);
int64_t helper(int64_t v)
{
	return v + *table[0] + *writable_table[1] + per_thread;
}

void kernel_entry(int64_t *args);
void kernel_entry(int64_t *args)
{
	args[0] = helper(args[0]);
}
