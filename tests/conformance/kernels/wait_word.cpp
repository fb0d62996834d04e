// SPDX-License-Identifier: MIT
// args: x, gate (one 32-bit word); ends once the host has set the gate
#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<ChipTensor *>(args[1]);
	auto *gate = reinterpret_cast<uint32_t *>(t->buffer.addr);

	// acquire: pairs with the release in open_gate() of the test
	while (!__atomic_load_n(gate, __ATOMIC_ACQUIRE))
		;
}
