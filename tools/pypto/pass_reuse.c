/* SPDX-License-Identifier: MIT */
/*
 * BasicMemoryReuse, section 7.7. A unit is all variables of one memory reference; it lives from the
 * first definition to the last use. In order of definition, a unit moves into the first buffer that
 * holds units of the same shape and is free.
 */
#include "life.h"
#include "memref.h"
#include "pass.h"

struct unit {
	struct unit *next;
	struct ir_memref *memref;
	const struct ir_type *type;	/* of its first variable */
	uint32_t def, last;
	bool apart;			/* takes nobody's buffer */
	bool kept;			/* nobody takes its buffer */
	uint32_t busy;			/* of a buffer: last use of all units in it */
};

struct reuse {
	struct px *px;
	struct life life;
	struct var_map units;		/* memory reference -> struct unit */
	struct var_map calls;		/* variable -> the call that defines it */
	struct unit *first, **end;	/* by first definition */
	struct unit *buffers[MS_SPACES], **buffers_end[MS_SPACES];
	struct var_map replaced;
};

static bool note_call(void *data, struct ir_node *node)
{
	struct reuse *r = data;

	if (node->kind == IR_ASSIGN && IR_AS(node, assign)->value->kind == IR_CALL)
		var_map_set(&r->calls, IR_AS(node, assign)->var, IR_AS(node, assign)->value);
	return node->kind >= IR_ASSIGN;
}

static void note_var(struct reuse *r, const struct ir_node *var)
{
	const struct life_var *v = life_find(&r->life, var);
	const struct ir_call *call = var_map_get(&r->calls, var);
	const struct ir_memref *m = var->type->memref;
	struct unit *u;

	if (var->kind == IR_MEMREF || !m || m->space == MS_DDR)
		return;
	u = var_map_get(&r->units, &m->node);
	if (!u) {
		u = px_new(r->px, struct unit);
		*u = (struct unit){ .memref = (struct ir_memref *)m, .type = var->type,
				    .def = v->def };
		var_map_set(&r->units, &m->node, u);
		*r->end = u;
		r->end = &u->next;
	}
	if (life_last(v) > u->last)
		u->last = life_last(v);
	if (call && call->op && call->op->rule == rule_cast)
		u->apart = true;
	if (call && call->op && call->op->rule == rule_tpop)
		u->apart = u->kept = true;
}

static struct unit *free_buffer(struct reuse *r, const struct unit *u)
{
	struct unit *b;

	if (u->apart || !shape_is_constant(&u->type->shape))
		return NULL;
	for (b = r->buffers[u->memref->space]; b; b = b->next)
		if (!b->kept && b->busy < u->def && b->memref->size >= u->memref->size &&
		    shape_equal(&b->type->shape, &u->type->shape))
			return b;
	return NULL;
}

static void place(struct reuse *r, const struct unit *u)
{
	struct unit *b = free_buffer(r, u);

	if (b) {
		b->busy = u->last;
		var_map_set(&r->replaced, &u->memref->node, b->memref);
		return;
	}
	b = px_new(r->px, struct unit);
	*b = *u;
	b->next = NULL;
	b->busy = u->last;
	*r->buffers_end[u->memref->space] = b;
	r->buffers_end[u->memref->space] = &b->next;
}

static struct ir_function *reuse_function(struct px *px, struct ir_function *f, void *data)
{
	struct reuse r = { .px = px, .units = { .px = px }, .calls = { .px = px },
			   .replaced = { .px = px }, .end = &r.first };
	const struct unit *u;
	uint32_t i;

	(void)data;
	if (pass_has_sync(f))	/* its author counts on these buffers (D31) */
		return f;
	for (i = 0; i < MS_SPACES; i++)
		r.buffers_end[i] = &r.buffers[i];
	life_of(px, f, &r.life);
	ir_walk(f->body, note_call, &r);
	for (i = 0; i < r.life.order.n; i++)
		note_var(&r, r.life.order.at[i]);
	for (u = r.first; u; u = u->next)
		place(&r, u);
	return memref_replace(px, f, &r.replaced);
}

struct ir_program *pass_reuse_memory(struct px *px, struct ir_program *program,
				     const struct pass_options *options)
{
	(void)options;
	return pass_each(px, program, reuse_function, NULL);
}
