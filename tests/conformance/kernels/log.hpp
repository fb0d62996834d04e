// SPDX-License-Identifier: MIT
#include "intrinsic.h"
#include "tensor.h"

static inline int32_t *log_words(int64_t *args)
{
	auto *t = reinterpret_cast<ChipTensor *>(args[0]);

	return reinterpret_cast<int32_t *>(t->buffer.addr) + t->start_offset;
}

/* The order in which kernels start is what the tests look at. */
static inline void stamp(int64_t *args)
{
	int32_t *log = log_words(args);

	log[16 + args[2]] = __atomic_add_fetch(&log[0], 1, __ATOMIC_RELAXED);
}
