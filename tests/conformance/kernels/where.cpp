// SPDX-License-Identifier: MIT
// args: int32 tensor: row block * 3 + place (0 AIC, 1 AIV0, 2 AIV1) of eight words tells
// where and when a block ran; the first word of the buffer is the clock.
#include "intrinsic.h"
#include "tensor.h"

extern "C" {
__attribute__((visibility("default"))) const struct pto_core_ops *pto_core_ops_bound;
}

static inline int32_t tick(int32_t *clock)
{
	return __atomic_add_fetch(clock, 1, __ATOMIC_RELAXED);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<const ChipTensor *>(args[0]);
	auto *clock = reinterpret_cast<int32_t *>(t->buffer.addr);
	const struct pto_core *core = pto_core_ops_bound->self();
	int32_t place = core->is_aic ? 0 : 1 + core->lane;
	int32_t *row = clock + t->start_offset + 8 * (3 * get_block_idx(args) + place);

	row[5] = tick(clock);
	row[0]++;
	row[1] = get_block_num(args);
	row[2] = static_cast<int32_t>(core->cluster_id);
	row[3] = get_sub_block_id(args);
	row[4] = static_cast<int32_t>(core->core_id);
	row[6] = tick(clock);
}
