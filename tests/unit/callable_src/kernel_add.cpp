// SPDX-License-Identifier: MIT
// A kernel that uses the core's services: adds one to a counter of its own and reports the size of their table.
#include "pto_runtime_abi.h"

static int64_t calls = 40;

extern "C" {
const struct pto_core_ops *pto_core_ops_bound;

void kernel_entry(int64_t *args)
{
	args[0] = ++calls;
	args[1] = pto_core_ops_bound ? pto_core_ops_bound->bytes : -1;
	args[2] = reinterpret_cast<int64_t>(&calls);
}
}
