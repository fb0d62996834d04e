/* SPDX-License-Identifier: MIT */
/* What belongs together: an initialisation and the pushes, pops and frees of its function. */
#include <errno.h>

#include "pipe.h"

static bool is_init(const struct pto_op *op)
{
	return op->info->code == PTO_OP_AIC_INITIALIZE_PIPE ||
	       op->info->code == PTO_OP_AIV_INITIALIZE_PIPE;
}

int64_t pipe_split(const struct pto_op *op)
{
	return pto_attr_int(op, "split", 0);
}

struct find {
	const struct pto_op *user;
	struct pto_op *init;
	unsigned int aic, aiv;
	int64_t id;
};

static int find_init(struct pto_op *op, void *arg)
{
	struct find *f = arg;

	if (!is_init(op))
		return 0;
	if (op->info->code == PTO_OP_AIC_INITIALIZE_PIPE)
		f->aic++;
	else
		f->aiv++;
	if (pto_attr_int(op, "id", 0) == f->id)
		f->init = op;
	return 0;
}

struct pto_op *pipe_init_of(struct pto_module *m, struct pto_op *op)
{
	struct find f = { .id = pto_attr_int(op, "id", 0) };

	pto_walk(pto_func_of(m, op)->op, find_init, &f);
	return f.init;
}

/* ---- Splits -------------------------------------------------------------------------------- */

struct find_splits {
	struct pipe_splits found;
	int64_t id;
};

static int note_split(struct pto_op *op, void *arg)
{
	struct find_splits *s = arg;

	if (!pto_has(op, PTO_F_PIPE_USER) || pto_attr_int(op, "id", 0) != s->id)
		return 0;
	if (pipe_split(op))
		s->found.cut = true;
	else
		s->found.whole = true;
	return 0;
}

struct pipe_splits pipe_splits_of(struct pto_module *m, struct pto_op *init)
{
	struct find_splits s = { .id = pto_attr_int(init, "id", 0) };

	pto_walk(pto_func_of(m, init)->op, note_split, &s);
	return s.found;
}

struct pipe_facts pipe_facts_of(struct pto_module *m, struct pto_op *init, enum pto_arch arch)
{
	struct pipe_splits s = pipe_splits_of(m, init);
	struct pipe_facts p = {
		.dir = pto_attr_int(init, "dir_mask", 1),
		.slot_bytes = pto_attr_int(init, "slot_size", 0),
	};

	p.slots = pto_attr_int(init, "slot_num", p.dir == 3 ? 4 : 8);
	p.local_slots = pto_attr_int(init, "local_slot_num", arch == PTO_ARCH_A5 ? 2 : p.slots);
	p.nosplit = pto_attr_int(init, "nosplit", s.whole);
	p.flag_base = pto_attr_int(init, "flag_base", 4 * pto_attr_int(init, "id", 0));
	return p;
}

/* ---- Rules --------------------------------------------------------------------------------- */

static int check_init(struct pto_pass_ctx *c, struct pto_op *op)
{
	struct pipe_splits s = pipe_splits_of(c->module, op);
	const struct pto_attr *nosplit = pto_attr_find(op, "nosplit");

	if (c->arch == PTO_ARCH_A3 && !pto_operand(op, 0))
		return pto_op_error(c->diags, c->module, op, "pass gm_slot_buffer = %pointer",
				    "requires 'gm_slot_buffer' when lowering to a2/a3");
	if (s.whole && s.cut)
		return pto_op_error(c->diags, c->module, op, "use split 0 everywhere, or nowhere",
				    "conflicting pipe split usage across peer pipe init ops");
	if (nosplit && !nosplit->i && s.whole)
		return pto_op_error(c->diags, c->module, op, "drop nosplit, or change the splits",
				    "explicit 'nosplit = false' conflicts with downstream users "
				    "that require split = 0");
	if (nosplit && nosplit->i && s.cut)
		return pto_op_error(c->diags, c->module, op, "drop nosplit, or change the splits",
				    "explicit 'nosplit = true' conflicts with downstream users "
				    "that require split = 1 or 2");
	return 0;
}

/* Cube to vector is bit 0 of dir_mask, vector to cube bit 1. */
static int64_t direction_of(const struct pto_op *op)
{
	switch (pto_code(op)) {
	case PTO_OP_TPUSH_TO_AIV:
	case PTO_OP_TPOP_FROM_AIC:
	case PTO_OP_TFREE_FROM_AIC:
		return 1;
	default:
		return 2;
	}
}

static int check_user(struct pto_pass_ctx *c, struct pto_op *op)
{
	struct pto_op *init = pipe_init_of(c->module, op);

	if (!init)
		return pto_op_error(c->diags, c->module, op, "put an initialize_pipe before it",
				    "needs a pipe that its function initialises");
	if (!(pto_attr_int(init, "dir_mask", 0) & direction_of(op)))
		return pto_op_error(c->diags, c->module, op, "dir_mask 1: cube to vector, 2: back",
				    "uses a direction that dir_mask does not enable");
	return 0;
}

static int check_op(struct pto_op *op, void *arg)
{
	if (is_init(op))
		return check_init(arg, op);
	return pto_has(op, PTO_F_PIPE_USER) ? check_user(arg, op) : 0;
}

static int check_count(struct pto_pass_ctx *c, struct pto_op *func)
{
	struct find f = { .id = -1 };

	pto_walk(func, find_init, &f);
	if (!f.aic || !f.aiv)
		return 0;
	pto_diag(c->diags, c->module, PTO_ERROR, func->loc,
		 "the cube function has the one, the vector function the other",
		 "a function initialises either the cube's or the vector's end of a pipe");
	return -EINVAL;
}

int pass_check_pipes(struct pto_pass_ctx *c)
{
	int ret = 0;

	pto_for_each_func(f, c->module) {
		if (!ret)
			ret = pto_walk(f->op, check_op, c);
		if (!ret)
			ret = check_count(c, f->op);
	}
	return ret;
}
