// SPDX-License-Identifier: MIT
// args: tensor over the record, any others
#include "words.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<const ChipTensor *>(args[0]);

	tell(t->data_as<struct words_record>(), args);
}
