/* SPDX-License-Identifier: MIT */
/* Pipes between cores, reserved buffers, authored synchronisation. Sections 8.6, 9.7, 9.8. */
#include <string.h>

#include "verify.h"

#define RESERVE_ALIGN	256	/* section 2.2 */

int verify_pipe_init(struct verify *v)
{
	int64_t mask = pto_attr_int(v->op, "dir_mask", 0), slot = pto_attr_int(v->op, "slot_size",
									       0);

	if (mask < 1 || mask > 3)
		return bad(v, "1: cube to vector, 2: vector to cube, 3: both",
			   "expects dir_mask to be 1, 2 or 3, not %lld", (long long)mask);
	if (slot <= 0)
		return bad(v, NULL, "expects slot_size to be positive, not %lld", (long long)slot);
	if (pto_attr_int(v->op, "slot_num", 1) <= 0 ||
	    pto_attr_int(v->op, "local_slot_num", 1) <= 0)
		return bad(v, NULL, "expects slot counts to be positive");
	return 0;
}

/* Whether the operation stands in a section or in a function of one kind; the kind it runs on. */
static bool core_of(const struct verify *v, bool *cube)
{
	const struct pto_attr *kind = pto_attr_find(v->func->op, "pto.kernel_kind");
	const struct pto_op *up;

	for (up = pto_parent(v->op); up; up = pto_parent(up)) {
		*cube = up->info->code == PTO_OP_SECTION_CUBE;
		if (*cube || up->info->code == PTO_OP_SECTION_VECTOR)
			return true;
	}
	if (!kind || kind->kind != PTO_ATTR_ENUM)
		return false;
	*cube = kind->i == 0;
	return true;
}

/* Cube side: push to aiv, pop and free from aiv; vector side: the other way round. */
static bool is_cube_op(enum pto_opcode code)
{
	return code == PTO_OP_TPUSH_TO_AIV || code == PTO_OP_TPOP_FROM_AIV ||
	       code == PTO_OP_TFREE_FROM_AIV;
}

static int verify_pop(struct verify *v)
{
	const struct pto_type *t = v->op->result[0].type;

	if (t->kind != PTO_T_TILE)
		return bad(v, NULL, "expects a !pto.tile_buf result");
	if (v->op->n_operands == 2 && (t->valid[0] != PTO_DYNAMIC || t->valid[1] != PTO_DYNAMIC))
		return bad(v, "write v_row=?, v_col=? in the result type",
			   "expects tile result to have dynamic validShape (?, ?) when "
			   "valid_row/valid_col operands are provided");
	if (!v->op->n_operands && (t->valid[0] == PTO_DYNAMIC || t->valid[1] == PTO_DYNAMIC))
		return bad(v, "write (%rows, %cols) behind the name",
			   "expects valid_row and valid_col operands for a dynamic validShape");
	return 0;
}

int verify_pipe_use(struct verify *v)
{
	enum pto_opcode code = pto_code(v->op);
	int64_t split = pto_attr_int(v->op, "split", -1);
	bool cube;

	if (!core_of(v, &cube))
		return bad(v,
			   "use pto.section.cube or .vector, or pto.kernel_kind of the function",
			   "must be inside a section or a function with kernel_kind");
	if (cube != is_cube_op(code))
		return bad(v, "the cube side pushes to aiv and pops from aiv, the vector side aic",
			   "cannot run on the %s side", cube ? "cube" : "vector");
	if (split < 0 || split > 2)
		return bad(v, "0: none, 1: rows, 2: columns",
			   "expects split to be 0, 1 or 2, not %lld",
			   (long long)split);
	if (code == PTO_OP_TPOP_FROM_AIC || code == PTO_OP_TPOP_FROM_AIV)
		return verify_pop(v);
	return 0;
}

static int verify_base(struct verify *v)
{
	const struct pto_attr *base = pto_attr_find(v->op, "base");
	bool automatic = pto_attr_int(v->op, "auto", 0);

	if (automatic && base)
		return bad(v, NULL, "expects 'base' to be absent when 'auto' is true");
	if (!automatic && !base)
		return bad(v, NULL, "expects 'base' when 'auto' is false");
	if (base && (base->i < 0 || base->i % RESERVE_ALIGN))
		return bad(v, "a multiple of 256",
			   "expects 'base' to satisfy the address-space alignment");
	return 0;
}

int verify_reserve(struct verify *v)
{
	const struct pto_attr *space = pto_attr_find(v->op, "location");
	const struct pto_type *t = v->op->result[0].type;

	if (t->kind != PTO_T_SCALAR || t->elem != PTO_I32)
		return bad(v, NULL, "expects an i32 result");
	if (v->op->info->code == PTO_OP_IMPORT_RESERVED_BUFFER)
		return 0;
	if (++v->reserves > 1)
		return bad(v, NULL, "expects at most one pto.reserve_buffer per function");
	if (pto_attr_int(v->op, "size", 0) <= 0)
		return bad(v, NULL, "expects 'size' to be positive");
	if (space->i < PTO_SPACE_MAT)
		return bad(v, NULL, "expects 'location' to be a local address space");
	return verify_base(v);
}

int verify_sync_set(struct verify *v)
{
	int64_t pipe = pto_attr_int(v->op, "pipe", 0), mode = pto_attr_int(v->op, "ffts_mode", 0);
	bool set = v->op->info->code == PTO_OP_SYNC_SET;

	if (!v->op->n_operands && !pto_attr_find(v->op, "event_id"))
		return bad(v, NULL, "requires an event id");
	if (set && v->arch == PTO_ARCH_A5 && pipe != PTO_PIPE_FIX && pipe != PTO_PIPE_MTE3)
		return bad(v, NULL, "expects PIPE_FIX or PIPE_MTE3 on A5, not %s",
			   pto_pipe_name((enum pto_pipe)pipe));
	if (mode < 0 || mode > 2)
		return bad(v, NULL, "expects ffts_mode to be 0, 1 or 2, not %lld", (long long)mode);
	return 0;
}

int verify_ffts(struct verify *v)
{
	const struct pto_type *t = v->op->operand[0].value->type;

	if (!pto_is_global(t) && t->kind != PTO_T_SCALAR)
		return bad(v, NULL, "expects a pointer or an address");
	return 0;
}
