/* SPDX-License-Identifier: MIT */
/* Buffers at constant addresses must lie inside their space and be aligned. Sections 2.2, 9.6. */
#include "hazard.h"

static void check_buffer(struct hazard *h, struct pto_op *op)
{
	const struct pto_use *addr = pto_operand(op, 0);
	enum pto_space space = pto_type_memory(op->result[0].type);
	int64_t bytes = pto_type_bytes(op->result[0].type), base, end;
	int64_t capacity = pto_capacity(space, h->a.arch);

	if (!addr || !pto_const_int(addr->value, &base) || bytes < 0)
		return;
	if (base < 0 || __builtin_add_overflow(base, bytes, &end) || end > capacity)
		pto_op_error(h->d, h->m, op, "place it lower, or make it smaller",
			     "occupies bytes %lld to %lld of %s, which has %lld",
			     (long long)base, (long long)(base + bytes), pto_space_name(space),
			     (long long)capacity);
	else if (base % 32)
		pto_op_error(h->d, h->m, op, "addresses are multiples of 32",
			     "has address %lld, which is not aligned", (long long)base);
}

static int check(struct pto_op *op, void *arg)
{
	if (op->info->code == PTO_OP_ALLOC_TILE || op->info->code == PTO_OP_ALLOC_MULTI_TILE)
		check_buffer(arg, op);
	return 0;
}

void hz_check_capacity(struct hazard *h, struct pto_op *func)
{
	pto_walk(func, check, h);
}
