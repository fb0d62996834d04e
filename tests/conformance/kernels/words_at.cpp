// SPDX-License-Identifier: MIT
// args: scalar: address of the record, any others
#include "words.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	tell(reinterpret_cast<struct words_record *>(args[0]), args);
}
