/* SPDX-License-Identifier: MIT */
/* Operations: making, placing, looking at, taking out. */
#include <errno.h>
#include <string.h>

#include "ops.h"
#include "ptoas.h"

/* ---- Uses ------------------------------------------------------------------------------------ */

static void unlink_use(struct pto_use *u)
{
	if (!u->value)
		return;
	*u->link = u->next;
	if (u->next)
		u->next->link = u->link;
	u->value = NULL;
}

static void link_use(struct pto_use *u, struct pto_value *v)
{
	u->value = v;
	u->next = v->uses;
	u->link = &v->uses;
	if (u->next)
		u->next->link = &u->next;
	v->uses = u;
}

void pto_set_operand(struct pto_op *op, unsigned int i, struct pto_value *v)
{
	unlink_use(&op->operand[i]);
	link_use(&op->operand[i], v);
}

/* The slot at @from goes to @to, whose contents are void. */
static void move_use(struct pto_use *to, struct pto_use *from)
{
	*to = *from;
	if (!to->value)
		return;
	*to->link = to;
	if (to->next)
		to->next->link = &to->next;
}

int pto_add_operand(struct pto_module *m, struct pto_op *op, unsigned int group,
		    struct pto_value *v)
{
	struct pto_use *slots = arena_zalloc(&m->arena, op->n_operands + 1u, sizeof(*slots));
	unsigned int i, at = 0;

	if (!slots)
		return -ENOMEM;
	while (at < op->n_operands && op->operand[at].group <= group)
		at++;
	for (i = 0; i < op->n_operands; i++)
		move_use(&slots[i + (i >= at)], &op->operand[i]);
	op->operand = slots;
	op->n_operands++;
	slots[at] = (struct pto_use){ .op = op, .group = (uint8_t)group };
	link_use(&slots[at], v);
	return 0;
}

void pto_replace_all_uses(struct pto_value *from, struct pto_value *to)
{
	while (from != to && from->uses) {
		struct pto_use *u = from->uses;

		unlink_use(u);
		link_use(u, to);
	}
}

/* ---- Making and placing ---------------------------------------------------------------------- */

struct pto_op *pto_op_new(struct pto_module *m, enum pto_opcode code, struct pto_op_shape shape,
			  struct pto_loc loc)
{
	size_t bytes = sizeof(struct pto_op) + shape.operands * sizeof(struct pto_use) +
		       shape.results * sizeof(struct pto_value) +
		       shape.attrs * sizeof(struct pto_attr) +
		       shape.regions * sizeof(struct pto_region) +
		       shape.succs * sizeof(struct pto_block *);
	struct pto_op *op = arena_zalloc(&m->arena, 1, bytes);
	unsigned int i;

	if (!op) {
		m->no_memory = true;
		return NULL;
	}
	op->info = pto_op_info(code);
	op->loc = loc;
	op->operand = (struct pto_use *)(op + 1);
	op->result = (struct pto_value *)(op->operand + shape.operands);
	op->attr = (struct pto_attr *)(op->result + shape.results);
	op->region = (struct pto_region *)(op->attr + shape.attrs);
	op->succ = (struct pto_block **)(op->region + shape.regions);
	op->n_operands = (uint16_t)shape.operands;
	op->n_results = (uint16_t)shape.results;
	op->n_attrs = (uint16_t)shape.attrs;
	op->n_regions = (uint16_t)shape.regions;
	op->n_succs = (uint16_t)shape.succs;
	for (i = 0; i < shape.operands; i++)
		op->operand[i].op = op;
	for (i = 0; i < shape.results; i++) {
		op->result[i].def = op;
		op->result[i].index = i;
		op->result[i].loc = loc;
	}
	for (i = 0; i < shape.regions; i++)
		op->region[i].op = op;
	return op;
}

void pto_append(struct pto_block *b, struct pto_op *op)
{
	op->block = b;
	op->next = NULL;
	op->prev = b->last;
	*(b->last ? &b->last->next : &b->first) = op;
	b->last = op;
}

void pto_insert_before(struct pto_op *at, struct pto_op *op)
{
	struct pto_block *b = at->block;

	op->block = b;
	op->next = at;
	op->prev = at->prev;
	*(at->prev ? &at->prev->next : &b->first) = op;
	at->prev = op;
}

void pto_insert_after(struct pto_op *at, struct pto_op *op)
{
	if (at->next)
		pto_insert_before(at->next, op);
	else
		pto_append(at->block, op);
}

void pto_remove(struct pto_op *op)
{
	struct pto_block *b = op->block;
	unsigned int i;

	for (i = 0; i < op->n_operands; i++)
		unlink_use(&op->operand[i]);
	*(op->prev ? &op->prev->next : &b->first) = op->next;
	*(op->next ? &op->next->prev : &b->last) = op->prev;
	op->block = NULL;
	op->prev = op->next = NULL;
}

struct pto_block *pto_block_new(struct pto_module *m, struct pto_region *r, unsigned int n_args)
{
	struct pto_block *b = arena_new(&m->arena, struct pto_block);
	unsigned int i;

	if (b && n_args)
		b->args = arena_zalloc(&m->arena, n_args, sizeof(*b->args));
	if (!b || (n_args && !b->args)) {
		m->no_memory = true;
		return NULL;
	}
	b->region = r;
	b->n_args = n_args;
	for (i = 0; i < n_args; i++) {
		b->args[i].block = b;
		b->args[i].index = i;
	}
	*(r->last ? &r->last->next : &r->first) = b;
	r->last = b;
	return b;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

const struct pto_attr *pto_attr_find(const struct pto_op *op, const char *name)
{
	unsigned int i;

	for (i = 0; i < op->n_attrs; i++)
		if (!strcmp(op->attr[i].name->text, name))
			return &op->attr[i];
	return NULL;
}

int64_t pto_attr_int(const struct pto_op *op, const char *name, int64_t otherwise)
{
	const struct pto_attr *a = pto_attr_find(op, name);

	if (a && a->kind == PTO_ATTR_UNIT)
		return 1;
	if (!a || (a->kind != PTO_ATTR_INT && a->kind != PTO_ATTR_BOOL && a->kind != PTO_ATTR_ENUM))
		return otherwise;
	return a->i;
}

int pto_set_attr(struct pto_module *m, struct pto_op *op, struct pto_attr attr)
{
	struct pto_attr *list;
	unsigned int i;

	if (!attr.name)
		return -ENOMEM;
	for (i = 0; i < op->n_attrs; i++)
		if (op->attr[i].name == attr.name) {
			op->attr[i] = attr;
			return 0;
		}
	list = arena_zalloc(&m->arena, op->n_attrs + 1u, sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, op->attr, op->n_attrs * sizeof(*list));
	list[op->n_attrs++] = attr;
	op->attr = list;
	return 0;
}

int pto_set_attr_int(struct pto_module *m, struct pto_op *op, const char *name, int64_t value,
		     enum pto_elem type)
{
	return pto_set_attr(m, op, (struct pto_attr){
		.name = pto_intern_text(m, name), .kind = PTO_ATTR_INT, .i = value,
		.type = pto_scalar(m, type),
	});
}

int pto_set_attr_enum(struct pto_module *m, struct pto_op *op, const char *name,
		      enum pto_attr_enum of, int64_t value)
{
	return pto_set_attr(m, op, (struct pto_attr){
		.name = pto_intern_text(m, name), .kind = PTO_ATTR_ENUM, .of = (uint8_t)of,
		.i = value,
	});
}

struct pto_op *pto_const_before(struct pto_module *m, struct pto_op *at, enum pto_elem type,
				int64_t value)
{
	struct pto_op_shape shape = { .results = 1, .attrs = 1 };
	struct pto_op *op = pto_op_new(m, PTO_OP_CONSTANT, shape, at->loc);

	if (!op)
		return NULL;
	op->result[0].type = pto_scalar(m, type);
	op->attr[0] = (struct pto_attr){
		.name = pto_intern_text(m, "value"), .kind = PTO_ATTR_INT, .i = value,
		.type = op->result[0].type,
	};
	if (!op->result[0].type || !op->attr[0].name)
		return NULL;
	pto_insert_before(at, op);
	return op;
}

/* ---- Looking around -------------------------------------------------------------------------- */

int pto_walk(struct pto_op *op, int (*fn)(struct pto_op *op, void *arg), void *arg)
{
	unsigned int i;
	int ret;

	for (i = 0; i < op->n_regions; i++)
		pto_for_each_block(b, &op->region[i])
			pto_for_each_op_safe(o, b) {
				ret = fn(o, arg);
				if (!ret)
					ret = pto_walk(o, fn, arg);
				if (ret)
					return ret;
			}
	return 0;
}

struct pto_op *pto_parent(const struct pto_op *op)
{
	return op->block ? op->block->region->op : NULL;
}

struct pto_func *pto_func_of(struct pto_module *m, const struct pto_op *op)
{
	const struct pto_op *up;

	while ((up = pto_parent(op)))
		op = up;
	pto_for_each_func(f, m)
		if (f->op == op)
			return f;
	return NULL;
}

struct pto_use *pto_operand(const struct pto_op *op, unsigned int group)
{
	unsigned int i;

	for (i = 0; i < op->n_operands; i++)
		if (op->operand[i].group == group)
			return &op->operand[i];
	return NULL;
}

unsigned int pto_group_count(const struct pto_op *op, unsigned int group)
{
	unsigned int i, n = 0;

	for (i = 0; i < op->n_operands; i++)
		n += op->operand[i].group == group;
	return n;
}

bool pto_const_int(const struct pto_value *v, int64_t *out)
{
	const struct pto_attr *a;

	if (!v->def || v->def->info->code != PTO_OP_CONSTANT)
		return false;
	a = pto_attr_find(v->def, "value");
	if (!a || (a->kind != PTO_ATTR_INT && a->kind != PTO_ATTR_BOOL))
		return false;
	*out = a->i;
	return true;
}

struct pto_value *pto_root(struct pto_value *v)
{
	while (v->def && pto_has(v->def, PTO_F_VIEW) && v->def->n_operands)
		v = v->def->operand[0].value;
	return v;
}
