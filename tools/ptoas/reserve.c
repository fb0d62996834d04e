/* SPDX-License-Identifier: MIT */
/*
 * Reserved buffers: the lowest hole between the planned tiles that holds one, and constants in
 * place of the operations. Section 9.7.
 */
#include <string.h>

#include "hazard_access.h"
#include "plan.h"

#define RESERVE_ALIGN	256

struct hole {
	struct pto_pass_ctx *c;
	enum pto_space space;
	int64_t at, size;
	bool moved;
};

/* Moves the candidate past a buffer that it meets. */
static int avoid(struct pto_op *op, void *arg)
{
	struct hole *h = arg;
	const struct pto_use *addr = pto_operand(op, 0);
	int64_t base, bytes;

	if (op->info->code != PTO_OP_ALLOC_TILE && op->info->code != PTO_OP_ALLOC_MULTI_TILE)
		return 0;
	bytes = pto_type_bytes(op->result[0].type);
	if (pto_type_space(op->result[0].type) != h->space || bytes < 0 || !addr ||
	    !pto_const_int(addr->value, &base))
		return 0;
	if (base >= h->at + h->size || base + bytes <= h->at)
		return 0;
	h->at = (base + bytes + RESERVE_ALIGN - 1) / RESERVE_ALIGN * RESERVE_ALIGN;
	h->moved = true;
	return 0;
}

static int find_hole(struct pto_pass_ctx *c, struct pto_op *func, struct pto_op *op)
{
	struct hole h = { .c = c, .space = (enum pto_space)pto_attr_int(op, "location", 0),
			  .size = pto_attr_int(op, "size", 0) };

	do {
		h.moved = false;
		pto_walk(func, avoid, &h);
	} while (h.moved);
	if (h.at + h.size > pto_capacity(h.space, c->arch))
		return pto_op_error(c->diags, c->module, op, "make it or the tiles smaller",
				    "failed to allocate local memory hole for reserve_buffer");
	return pto_set_attr_int(c->module, op, "base", h.at, PTO_I32);
}

struct placing {
	struct pto_pass_ctx *c;
	struct pto_op *func;
};

static int place(struct pto_op *op, void *arg)
{
	struct placing *p = arg;

	if (op->info->code != PTO_OP_RESERVE_BUFFER || pto_attr_find(op, "base"))
		return 0;
	return find_hole(p->c, p->func, op);
}

struct search {
	const struct pto_name *name;
	const struct pto_attr *base;
};

static int match(struct pto_op *op, void *arg)
{
	struct search *s = arg;
	const struct pto_attr *name = pto_attr_find(op, "name");

	if (op->info->code == PTO_OP_RESERVE_BUFFER && name && name->text == s->name)
		s->base = pto_attr_find(op, "base");
	return 0;
}

/* The base that a peer function reserved under the name of import @op; NULL: none. */
static const struct pto_attr *imported(struct pto_pass_ctx *c, const struct pto_op *op)
{
	const struct pto_attr *peer = pto_attr_find(op, "peer_func");
	struct search s = { .name = pto_attr_find(op, "name")->text };

	pto_for_each_func(f, c->module)
		if (peer && f->name == peer->text && pto_func_has_body(f))
			pto_walk(f->op, match, &s);
	return s.base;
}

static int note_import(struct pto_op *op, void *arg)
{
	struct pto_pass_ctx *c = arg;
	const struct pto_attr *base;

	if (op->info->code != PTO_OP_IMPORT_RESERVED_BUFFER)
		return 0;
	base = imported(c, op);
	if (!base)
		return pto_op_error(c->diags, c->module, op,
				    "reserve a buffer of that name in the peer function",
				    "names a buffer that its peer does not reserve");
	return pto_set_attr_int(c->module, op, "base", base->i, PTO_I32);
}

static int to_constant(struct pto_op *op, void *arg)
{
	struct pto_pass_ctx *c = arg;
	struct pto_op *value;

	if (op->info->code != PTO_OP_RESERVE_BUFFER &&
	    op->info->code != PTO_OP_IMPORT_RESERVED_BUFFER)
		return 0;
	value = pto_const_before(c->module, op, PTO_I32, pto_attr_int(op, "base", 0));
	if (!value)
		return -ENOMEM;
	pto_replace_all_uses(&op->result[0], &value->result[0]);
	pto_remove(op);
	return 0;
}

int pass_reserve_buffers(struct pto_pass_ctx *c)
{
	int ret = 0;

	pto_for_each_func(f, c->module) {
		struct placing p = { c, f->op };

		if (!ret && pto_func_has_body(f))
			ret = pto_walk(f->op, place, &p);
	}
	pto_for_each_func(f, c->module)
		ret = ret ? ret : pto_walk(f->op, note_import, c);
	pto_for_each_func(f, c->module)
		ret = ret ? ret : pto_walk(f->op, to_constant, c);
	return ret;
}
