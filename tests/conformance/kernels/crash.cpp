// SPDX-License-Identifier: MIT
// args: any tensor, scalar: 0 wild store, 1 division by zero, 2 illegal instruction, 3 abort, 4 stack overflow, 5 exception, 6 jump to nowhere
#include <stdlib.h>

#include "tensor.h"

static volatile int zero;
static volatile uintptr_t wild = 64;

__attribute__((no_sanitize("undefined", "address"))) static int deep(int n)
{
	volatile char frame[4096];

	frame[0] = static_cast<char>(n);
	return n < 1 << 30 ? deep(n + 1) + frame[0] : 0;
}

/* The sanitizers would report what is done here on purpose. */
extern "C" __attribute__((no_sanitize("undefined", "address"))) __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	switch (args[1]) {
	case 0: *reinterpret_cast<volatile int *>(wild) = 1; break;
	case 1: zero = 1000 / zero; break;
	case 2: __builtin_trap();
	case 3: abort();
	case 5: throw 1;
	case 6: reinterpret_cast<void (*)()>(wild)(); break;
	default: zero = deep(0);
	}
}
