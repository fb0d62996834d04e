// SPDX-License-Identifier: MIT
// The dynamic linker is busy with it for longer than a short watchdog allows calls of kernels to last.
#include "tensor.h"

typedef void (*work)(int64_t *args);

static void nothing(int64_t *args)
{
	(void)args;
}

// called while nothing of this object is relocated, calls of a sanitizer neither
#if __has_attribute(disable_sanitizer_instrumentation)
#define PLAIN __attribute__((used, disable_sanitizer_instrumentation))
#else
#define PLAIN __attribute__((used, no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))
#endif

extern "C" PLAIN work choose_slowly()
{
	for (long i = 0; i < 1000000000; i++)
		__asm__ volatile("" ::: "memory");
	return nothing;
}

extern "C" __attribute__((visibility("default"), ifunc("choose_slowly"))) void chosen(int64_t *args);

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	chosen(args);
}
