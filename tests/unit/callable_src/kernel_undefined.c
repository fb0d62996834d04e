/* SPDX-License-Identifier: MIT */
/* Needs a function that nobody has. */
#include <stdint.h>

void no_such_function(int64_t *args);

void kernel_entry(int64_t *args);
void kernel_entry(int64_t *args)
{
	no_such_function(args);
}
