/* SPDX-License-Identifier: MIT */
/* The variable for the core's services is constant: it is read-only once the object is relocated. */
#include "pto_runtime_abi.h"

static const struct pto_core_ops none;
const struct pto_core_ops *const pto_core_ops_bound = &none;

void kernel_entry(int64_t *args);
void kernel_entry(int64_t *args)
{
	args[0] = pto_core_ops_bound->bytes;
}
