// SPDX-License-Identifier: MIT
// Both ends of a pipe, straight on the runtime's interface.
#include <string.h>

#include "intrinsic.h"
#include "tensor.h"

extern "C" {
__attribute__((visibility("default"))) const struct pto_core_ops *pto_core_ops_bound;
__attribute__((visibility("default"))) char pto_kernel_may_block;
}

static const struct pto_pipe test_pipe = {
	.flag_id = 0, .dir_mask = PTO_PIPE_C2V, .slot_num = 8, .local_slot_num = 8, .slot_bytes = 64,
	.gm_slots = nullptr,
};

static inline void push_slots(int64_t count)
{
	for (int32_t i = 1; i <= count; i++) {
		memcpy(pto_core_ops_bound->push_begin(&test_pipe, PTO_PIPE_C2V, 1), &i, sizeof(i));
		pto_core_ops_bound->push_end(&test_pipe, PTO_PIPE_C2V, 1);
	}
}

static inline int32_t pop_slots(int64_t count)
{
	int32_t sum = 0;

	for (int64_t i = 0; i < count; i++) {
		int32_t v;

		memcpy(&v, pto_core_ops_bound->pop_begin(&test_pipe, PTO_PIPE_C2V, 1), sizeof(v));
		pto_core_ops_bound->pop_free(&test_pipe, PTO_PIPE_C2V, 1);
		sum += v;
	}
	return sum;
}
