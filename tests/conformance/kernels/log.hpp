// SPDX-License-Identifier: MIT
// What the kernels that keep a log share.  Their first argument is one word of
// the log, where the number of their start goes; the log's own first words are
// the counter of starts and the flag that held tasks wait for.
#include "intrinsic.h"
#include "tensor.h"

enum { LOG_CLOCK = 0, LOG_RELEASED = 1, LOG_STAMPS = 16 /* of task 0 */ };

static inline int32_t *log_words(int64_t *args)
{
	auto *t = reinterpret_cast<ChipTensor *>(args[0]);

	return reinterpret_cast<int32_t *>(t->buffer.addr);
}

/* The order in which kernels start is what the tests look at. */
static inline void stamp(int64_t *args)
{
	auto *t = reinterpret_cast<ChipTensor *>(args[0]);
	int32_t *log = log_words(args);
	int32_t now = __atomic_add_fetch(&log[LOG_CLOCK], 1, __ATOMIC_RELAXED);

	__atomic_store_n(&log[t->start_offset], now, __ATOMIC_RELAXED);
}
