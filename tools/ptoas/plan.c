/* SPDX-License-Identifier: MIT */
/*
 * From the program to intervals. Lifetimes run from the first to the last use in program order; a
 * use inside a loop of a buffer from outside lasts for the whole loop, since the next iteration may
 * need it. Everything that may name a buffer counts as its use: views, carried values, results of
 * branches (decisions D27). With authored synchronisation the use by an asynchronous instruction
 * ends where its pipe has been waited for (D30).
 */
#include <stdlib.h>
#include <string.h>

#include "hazard_access.h"
#include "plan.h"

struct live {
	struct plan_item item;
	struct pto_op *alloc;
	enum pto_space space;
};

struct planner {
	struct pto_pass_ctx *c;
	struct pto_op *func;
	struct pto_op **ops;	/* by op->id, program order */
	uint32_t *end;		/* by op->id: last operation inside, or itself */
	uint32_t n_ops, room;
	struct live *live;
	uint32_t n_live;
	bool authored;		/* synchronisation of the author's, and none of ours to come */
	bool jumps;		/* blocks and jumps: everything lives all the time */
	int ret;
};

/* ---- Order --------------------------------------------------------------------------------- */

static int count(struct pto_op *op, void *arg)
{
	struct planner *p = arg;
	unsigned int i;

	op->id = p->n_ops++;
	for (i = 0; i < op->n_regions; i++)
		p->jumps |= op->region[i].first != op->region[i].last;
	p->authored |= pto_has(op, PTO_F_SYNC);
	p->n_live += op->info->code == PTO_OP_ALLOC_TILE ||
		     op->info->code == PTO_OP_ALLOC_MULTI_TILE;
	return 0;
}

static int note(struct pto_op *op, void *arg)
{
	struct planner *p = arg;
	struct pto_op *up;

	p->ops[op->id] = op;
	p->end[op->id] = op->id;
	for (up = pto_parent(op); up && up != p->func; up = pto_parent(up))
		p->end[up->id] = op->id;
	return 0;
}

static int number(struct planner *p)
{
	pto_walk(p->func, count, p);
	p->authored &= !p->c->options->insert_sync;
	p->jumps |= p->func->region[0].first != p->func->region[0].last;
	p->ops = calloc(p->n_ops + 1u, sizeof(struct pto_op *));
	p->end = calloc(p->n_ops + 1u, sizeof(*p->end));
	p->live = calloc(p->n_live + 1u, sizeof(*p->live));
	if (!p->ops || !p->end || !p->live)
		return -ENOMEM;
	pto_walk(p->func, note, p);
	return 0;
}

/* ---- Lifetimes ----------------------------------------------------------------------------- */

static bool is_loop(const struct pto_op *op)
{
	return op->info->code == PTO_OP_FOR || op->info->code == PTO_OP_WHILE;
}

static bool inside(const struct pto_op *op, const struct pto_op *outer)
{
	for (; op; op = pto_parent(op))
		if (op == outer)
			return true;
	return false;
}

static void extend(struct live *l, uint32_t first, uint32_t last)
{
	if (first < l->item.first)
		l->item.first = first;
	if (last > l->item.last)
		l->item.last = last;
}

/* Where an authored program has waited for the pipes of @op: a barrier or a wait, or its end. */
static uint32_t waited(const struct planner *p, const struct pto_op *op)
{
	unsigned int pipes = pto_op_pipes(op, p->c->arch);
	uint32_t i;

	for (i = op->id + 1; i < p->n_ops; i++) {
		const struct pto_op *o = p->ops[i];
		int64_t pipe = -1;

		if (o->info->code == PTO_OP_BARRIER)
			pipe = pto_attr_int(o, "pipe", PTO_PIPE_ALL);
		else if (o->info->code == PTO_OP_WAIT_FLAG ||
			 o->info->code == PTO_OP_WAIT_FLAG_DYN)
			pipe = pto_attr_int(o, "src_pipe", 0);
		if (pipe == PTO_PIPE_ALL || (pipe >= 0 && !(pipes & ~(1u << pipe))))
			return i;
	}
	return p->n_ops;
}

static void use(struct planner *p, struct live *l, const struct pto_op *op)
{
	const struct pto_op *up;

	extend(l, op->id, op->id);
	if (p->authored && pto_ends_late(op, p->c->arch))
		extend(l, op->id, waited(p, op));
	for (up = pto_parent(op); up && up != p->func; up = pto_parent(up)) {
		if (!is_loop(up) || inside(l->alloc, up))
			continue;
		extend(l, up->id, p->end[up->id]);
	}
}

static int carried_error(struct planner *p, struct pto_op *yield)
{
	return pto_op_error(p->c->diags, p->c->module, yield, "allocate the tile before the loop",
			    "carries a tile to the next iteration that is allocated inside the "
			    "loop");
}

static void use_span(struct planner *p, struct pto_op *op, const struct pto_span *s)
{
	struct pto_op *loop = pto_parent(op);
	struct live *l;

	if (s->place == PTO_PLACE_ANY && !p->ret) {
		p->ret = pto_op_error(p->c->diags, p->c->module, op,
				      "use the tile directly, or pass it through scf operations",
				      "PlanMemory Fail : Unrecognized type of Operation touches "
				      "local buffer!");
		return;
	}
	if (!s->root || !s->root->def || s->root->data == NULL)
		return;
	l = s->root->data;
	if (op->info->code == PTO_OP_YIELD && loop && is_loop(loop) && inside(l->alloc, loop))
		p->ret = carried_error(p, op);
	use(p, l, op);
}

static int find_uses(struct pto_op *op, void *arg)
{
	struct pto_span spans[PTO_MAX_SPANS];
	struct planner *p = arg;
	unsigned int i, k, n;

	for (i = 0; i < op->n_operands; i++) {
		if (!pto_is_local(op->operand[i].value->type))
			continue;
		n = pto_spans_of(op->operand[i].value, spans);
		for (k = 0; k < n; k++)
			use_span(p, op, &spans[k]);
	}
	return 0;
}

static int find_alloc(struct pto_op *op, void *arg)
{
	struct planner *p = arg;
	struct live *l = &p->live[p->n_live];
	enum pto_space space;
	int64_t align, bytes;

	if (op->info->code != PTO_OP_ALLOC_TILE && op->info->code != PTO_OP_ALLOC_MULTI_TILE)
		return 0;
	space = pto_type_memory(op->result[0].type);
	align = pto_alignment(space);
	op->result[0].data = NULL;
	if (pto_operand(op, 0))
		return 0;
	bytes = pto_type_bytes(op->result[0].type);
	if (bytes < 0 || bytes > INT32_MAX)
		return pto_op_error(p->c->diags, p->c->module, op, "give it constant dimensions",
				    "has no size that can be planned");
	*l = (struct live){ .alloc = op, .space = space };
	l->item = (struct plan_item){ .size = (bytes + align - 1) / align * align,
				      .first = UINT32_MAX };
	op->result[0].data = l;
	p->n_live++;
	return 0;
}

/* ---- Addresses ----------------------------------------------------------------------------- */

static int overflow(struct planner *p, enum pto_space space, int64_t use)
{
	pto_diag(p->c->diags, p->c->module, PTO_ERROR, p->func->loc,
		 "make tiles smaller, or use them one after the other",
		 "%s overflow, requires %lld bits while %lld bits avaliable!",
		 pto_space_name(space), (long long)use * 8,
		 (long long)pto_capacity(space, p->c->arch) * 8);
	return -EINVAL;
}

static int assign(struct planner *p, struct pto_op *alloc, int64_t offset)
{
	struct pto_op *c = pto_const_before(p->c->module, alloc, PTO_I64, offset);

	if (!c)
		return -ENOMEM;
	return pto_add_operand(p->c->module, alloc, 0, &c->result[0]);
}

static int plan_space(struct planner *p, enum pto_space space, struct plan_item *items)
{
	uint32_t i, n = 0;
	int64_t use;
	int ret = 0;

	for (i = 0; i < p->n_live; i++)
		if (p->live[i].space == space)
			items[n++] = p->live[i].item;
	use = plan_pack(items, n, pto_alignment(space));
	if (use < 0)
		return -ENOMEM;
	if (use > pto_capacity(space, p->c->arch))
		return overflow(p, space, use);
	for (i = 0, n = 0; !ret && i < p->n_live; i++)
		if (p->live[i].space == space)
			ret = assign(p, p->live[i].alloc, items[n++].offset);
	return ret;
}

static int plan_spaces(struct planner *p)
{
	struct plan_item *items = calloc(p->n_live + 1u, sizeof(*items));
	int ret = 0, r, space;

	if (!items)
		return -ENOMEM;
	for (space = PTO_SPACE_MAT; space < PTO_MEMORIES; space++) {
		r = plan_space(p, (enum pto_space)space, items);
		ret = r ? r : ret;
	}
	free(items);
	return ret;
}

static int plan_func(struct pto_pass_ctx *c, struct pto_op *func)
{
	struct planner p = { .c = c, .func = func };
	int ret = number(&p);
	uint32_t i;

	p.n_live = 0;
	if (!ret)
		ret = pto_walk(func, find_alloc, &p);
	if (!ret)
		pto_walk(func, find_uses, &p);
	ret = ret ? ret : p.ret;
	for (i = 0; i < p.n_live; i++) {
		struct live *l = &p.live[i];

		l->alloc->result[0].data = NULL;
		if (l->item.first == UINT32_MAX)
			l->item.first = l->item.last = l->alloc->id;
		if (p.jumps)
			extend(l, 0, p.n_ops);
	}
	if (!ret)
		ret = plan_spaces(&p);
	free(p.ops);
	free(p.end);
	free(p.live);
	return ret;
}

int pass_plan_memory(struct pto_pass_ctx *c)
{
	int ret = 0, r;

	pto_for_each_func(f, c->module) {
		r = pto_func_has_body(f) ? plan_func(c, f->op) : 0;
		if (r == -ENOMEM)
			pto_diag(c->diags, c->module, PTO_ERROR, f->op->loc, NULL,
				 "out of memory while planning memory");
		ret = r ? r : ret;
	}
	return ret;
}

bool plan_memory_wanted(const struct pto_pass_ctx *c)
{
	return c->level != PTO_LEVEL3;
}
