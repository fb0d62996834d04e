// SPDX-License-Identifier: MIT
// args: x, gate (one 32-bit word that the host sets); ends once it is set
#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *gate = reinterpret_cast<const ChipTensor *>(args[1])->data_as<uint32_t>();

	// acquire: pairs with the store of the test, which is ordered by its system calls
	while (!__atomic_load_n(gate, __ATOMIC_ACQUIRE))
		;
}
