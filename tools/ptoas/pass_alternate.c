/* SPDX-License-Identifier: MIT */
/*
 * Tiles that a loop allocates in its body and carries to later iterations get alternating buffers
 * outside of it (decisions D27).
 *
 * A tile that is carried for k iterations is needed in k + 1 of them, so iteration i takes buffer
 * i mod (k + 1) of as many. One that may be carried on without end has no such number: an error.
 */
#include "hazard_access.h"
#include "passes.h"

#define MAX_BUFFERS	16	/* section 8.9 */
#define MAX_STEPS	256

static bool inside(const struct pto_op *op, const struct pto_op *outer)
{
	for (; op; op = pto_parent(op))
		if (op == outer)
			return true;
	return false;
}

static struct pto_op *loop_of(const struct pto_op *op)
{
	struct pto_op *up = pto_parent(op);

	while (up && up->info->code != PTO_OP_FOR && up->info->code != PTO_OP_WHILE)
		up = pto_parent(up);
	return up;
}

/* ---- How long a tile is carried -------------------------------------------------------------- */

/* A search for one tile within one iteration of a loop. */
struct search {
	const struct pto_op *loop;
	const struct pto_value *target;
	unsigned int steps;
};

static bool may_be(struct search *s, const struct pto_value *v);

static bool yields_may_be(struct search *s, const struct pto_op *op, unsigned int i)
{
	unsigned int r;

	for (r = 0; r < op->n_regions; r++)
		pto_for_each_block(b, &op->region[r])
			if (b->last && b->last->info->code == PTO_OP_YIELD &&
			    i < b->last->n_operands && may_be(s, b->last->operand[i].value))
				return true;
	return false;
}

/* What loop @op inside the searched one carries as value @i. */
static bool carried_may_be(struct search *s, const struct pto_op *op, unsigned int i)
{
	unsigned int first = op->info->code == PTO_OP_FOR ? 3 : 0;

	return (first + i < op->n_operands && may_be(s, op->operand[first + i].value)) ||
	       yields_may_be(s, op, i);
}

/* Whether @v may name the buffer of the target. A search that takes too long says yes. */
static bool may_be(struct search *s, const struct pto_value *v)
{
	const struct pto_op *op = v->def ? v->def : v->block->region->op;

	if (v == s->target || s->steps++ > MAX_STEPS)
		return true;
	if (!pto_is_local(v->type) || op == s->loop || !inside(op, s->loop))
		return false;
	if (!v->def)
		return carried_may_be(s, op, op->info->code == PTO_OP_FOR ? v->index - 1 : v->index);
	if (pto_has(op, PTO_F_VIEW) && op->n_operands)
		return may_be(s, op->operand[0].value);
	if (op->info->code == PTO_OP_SELECT)
		return may_be(s, op->operand[1].value) || may_be(s, op->operand[2].value);
	if (op->info->code == PTO_OP_FOR || op->info->code == PTO_OP_WHILE)
		return carried_may_be(s, op, v->index);
	return yields_may_be(s, op, v->index);
}

/* Carried values, as a mask, that @v may be in the next iteration. */
static uint64_t carried_as(const struct pto_op *loop, const struct pto_value *v)
{
	const struct pto_op *yield = loop->region[0].last->last;
	uint64_t mask = 0;
	unsigned int k;

	for (k = 0; k < yield->n_operands; k++) {
		struct search s = { .loop = loop, .target = v };

		if (pto_is_local(yield->operand[k].value->type) &&
		    may_be(&s, yield->operand[k].value))
			mask |= UINT64_C(1) << k;
	}
	return mask;
}

/* Iterations behind its own that @tile is carried for; MAX_BUFFERS: may be without end. */
static unsigned int iterations_carried(const struct pto_op *loop, const struct pto_value *tile)
{
	const struct pto_op *yield = loop->region[0].last ? loop->region[0].last->last : NULL;
	unsigned int n = 0, k;
	uint64_t now, next;

	if (!yield || yield->info->code != PTO_OP_YIELD || yield->n_operands > 64)
		return 0;
	for (now = carried_as(loop, tile); now && n < MAX_BUFFERS; now = next, n++)
		for (next = 0, k = 0; k < yield->n_operands; k++)
			if (now >> k & 1)
				next |= carried_as(loop, &loop->region[0].first->args[k + 1]);
	return n;
}

/* ---- The buffers ----------------------------------------------------------------------------- */

/* @v, or a constant like it, for use in front of @loop; NULL: it is made inside. */
static struct pto_value *outside(struct pto_module *m, struct pto_value *v, struct pto_op *loop)
{
	struct pto_op *copy;
	int64_t n;

	if (!inside(v->def ? v->def : v->block->region->op, loop))
		return v;
	if (!pto_const_int(v, &n))
		return NULL;
	copy = pto_const_before(m, loop, (enum pto_elem)v->type->elem, n);
	return copy ? &copy->result[0] : NULL;
}

static struct pto_op *alloc_before(struct pto_pass_ctx *c, struct pto_op *loop,
				   struct pto_op *alloc, unsigned int n)
{
	struct pto_op_shape shape = { .operands = alloc->n_operands, .results = 1 };
	struct pto_type type = { .kind = PTO_T_MULTI_TILE, .inner = alloc->result[0].type,
				 .count = n };
	struct pto_op *multi = pto_op_new(c->module, PTO_OP_ALLOC_MULTI_TILE, shape, alloc->loc);
	struct pto_value *v;
	unsigned int i;

	if (!multi)
		return NULL;
	for (i = 0; i < alloc->n_operands; i++) {
		v = outside(c->module, alloc->operand[i].value, loop);
		if (!v) {
			pto_op_error(c->diags, c->module, alloc,
				     "allocate it before the loop, as large as it becomes",
				     "is carried to the next iteration, and its valid shape varies");
			return NULL;
		}
		pto_set_operand(multi, i, v);
		multi->operand[i].group = alloc->operand[i].group;
	}
	multi->result[0].type = pto_type_get(c->module, &type);
	pto_insert_before(loop, multi);
	return multi->result[0].type && !pto_op_bind(multi) ? multi : NULL;
}

static struct pto_value *binary(struct pto_module *m, struct pto_op *at, enum pto_opcode code,
				struct pto_value *a, struct pto_value *b)
{
	struct pto_op *op = pto_op_new(m, code, (struct pto_op_shape){ .operands = 2, .results = 1 },
				       at->loc);

	if (!op)
		return NULL;
	pto_set_operand(op, 0, a);
	pto_set_operand(op, 1, b);
	op->operand[1].group = 1;
	op->result[0].type = a->type;
	pto_insert_before(at, op);
	return pto_op_bind(op) ? NULL : &op->result[0];
}

/* The number of the iteration, counted from 0, modulo @n. */
static struct pto_value *iteration(struct pto_module *m, struct pto_op *loop, struct pto_op *at,
				   unsigned int n)
{
	struct pto_value *v = &loop->region[0].first->args[0];
	struct pto_op *count = pto_const_before(m, at, (enum pto_elem)v->type->elem, n);
	int64_t k;

	if (!count)
		return NULL;
	if (!pto_const_int(loop->operand[0].value, &k) || k)
		v = binary(m, at, PTO_OP_SUBI, v, loop->operand[0].value);
	if (v && (!pto_const_int(loop->operand[2].value, &k) || k != 1))
		v = binary(m, at, PTO_OP_DIVSI, v, loop->operand[2].value);
	return v ? binary(m, at, PTO_OP_REMSI, v, &count->result[0]) : NULL;
}

static int alternate(struct pto_pass_ctx *c, struct pto_op *loop, struct pto_op *alloc,
		     unsigned int n)
{
	struct pto_op *multi = alloc_before(c, loop, alloc, n), *get;
	struct pto_value *slot = multi ? iteration(c->module, loop, alloc, n) : NULL;

	if (!slot)
		return c->diags->errors ? -EINVAL : -ENOMEM;
	get = pto_op_new(c->module, PTO_OP_MULTI_TILE_GET,
			 (struct pto_op_shape){ .operands = 2, .results = 1 }, alloc->loc);
	if (!get)
		return -ENOMEM;
	pto_set_operand(get, 0, &multi->result[0]);
	pto_set_operand(get, 1, slot);
	get->operand[1].group = 1;
	get->result[0].type = alloc->result[0].type;
	get->result[0].name = alloc->result[0].name;
	pto_insert_before(alloc, get);
	pto_replace_all_uses(&alloc->result[0], &get->result[0]);
	pto_remove(alloc);
	return pto_op_bind(get);
}

static int look_at(struct pto_op *op, void *arg)
{
	struct pto_pass_ctx *c = arg;
	struct pto_op *loop = op->info->code == PTO_OP_ALLOC_TILE ? loop_of(op) : NULL;
	unsigned int n;

	if (!loop || loop->info->code != PTO_OP_FOR || !loop->n_results || pto_operand(op, 0))
		return 0;
	n = iterations_carried(loop, &op->result[0]);
	if (n >= MAX_BUFFERS)
		return pto_op_error(c->diags, c->module, op,
				    "allocate the tile before the loop and copy what is to stay",
				    "may be carried through more iterations than alternating "
				    "buffers can hold");
	return n ? alternate(c, loop, op, n + 1) : 0;
}

int pass_alternate_buffers(struct pto_pass_ctx *c)
{
	int ret = 0;

	pto_for_each_func(f, c->module)
		ret = ret ? ret : pto_walk(f->op, look_at, c);
	return ret;
}
