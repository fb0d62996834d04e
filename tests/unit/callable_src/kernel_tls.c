/* SPDX-License-Identifier: MIT */
/* A kernel with thread-local storage of its own, and an indirect function. */
#include <errno.h>
#include <stdint.h>

static _Thread_local int64_t calls = 5;

static int64_t plain_double(int64_t v)
{
	return 2 * v;
}

__attribute__((used)) static int64_t (*choose_double(void))(int64_t v)
{
	return plain_double;
}

int64_t doubled(int64_t v) __attribute__((ifunc("choose_double")));

void kernel_entry(int64_t *args);
void kernel_entry(int64_t *args)
{
	errno = 0;
	args[0] = ++calls;
	args[1] = doubled(args[1]);
}
