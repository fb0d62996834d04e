// SPDX-License-Identifier: MIT
// args: tensor of any element type, scalar: bits of its first element
#include <string.h>

#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<const ChipTensor *>(args[0]);
	uint32_t bytes = get_element_size(t->dtype);

	memcpy(reinterpret_cast<char *>(t->buffer.addr) + t->start_offset * bytes, &args[1], bytes);
}
