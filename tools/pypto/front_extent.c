/* SPDX-License-Identifier: MIT */
/*
 * Extents of tiles and tensors: a type may name a variable only if that variable keeps its value.
 * What may change, and what a call computes, is bound to a hidden variable where the type is made
 * (D4), one for all types that say the same while nothing has changed.
 */
#include <string.h>

#include "front.h"

struct front_extent {
	struct ir_list expr;	/* one */
	struct ir_node *var;	/* NULL: a variable of expr has been assigned since */
};

/* ---- Which variables are assigned again ---- */

static bool is_yield(const struct front *f, const struct py_node *node)
{
	return node->kind == PY_CALL && is_pl(f, node->x, "yield_");
}

static void note_target(struct front *f, struct var_map *counts, const struct py_node *target)
{
	const struct ir_node *b;
	uint32_t i;

	for (i = 0; target->kind == PY_TUPLE && i < target->args.n; i++)
		note_target(f, counts, target->args.at[i]);
	if (target->kind != PY_NAME)
		return;
	b = (const struct ir_node *)bind_find(f, target->name);
	var_map_set(counts, b, (void *)((uintptr_t)var_map_get(counts, b) + 1));
}

/* Binding -> how often the text assigns it; the results of loops and branches are not counted. */
static void note_assigned(struct front *f, struct var_map *counts, const struct py_list *body)
{
	uint32_t i;

	for (i = 0; i < body->n; i++) {
		const struct py_node *stmt = body->at[i];

		if ((stmt->kind == PY_ASSIGN || stmt->kind == PY_ANN_ASSIGN) && stmt->y &&
		    !is_yield(f, stmt->y))
			note_target(f, counts, stmt->x);
		note_assigned(f, counts, &stmt->body);
		note_assigned(f, counts, &stmt->orelse);
	}
}

void front_note_assigned(struct front *f, const struct py_list *body)
{
	note_assigned(f, &f->assigned, body);
}

/* The copies of an unrolled body share the hidden variables, each of which is used in its own. */
void bind_variable(struct front *f, struct binding *b, struct ir_node *var, unsigned int own)
{
	list_push(f->px, &b->variables, var);
	if ((uintptr_t)var_map_get(&f->assigned, (const struct ir_node *)b) > own &&
	    !front_hidden_number(IR_AS(var, var)->name))
		front_changes(f, var);
}

void front_changes(struct front *f, const struct ir_node *var)
{
	var_map_set(&f->changing, var, (void *)var);
}

/* ---- What is bound ---- */

struct extent_search {
	const struct front *f;		/* of which any variable that changes is sought */
	const struct ir_node *var;	/* or this one, if f is NULL */
	bool found;
};

static bool search_visit(void *data, struct ir_node *node)
{
	struct extent_search *s = data;

	if (!s->f)
		s->found |= node == s->var;
	else
		s->found |= node->kind == IR_CALL || var_map_get(&s->f->changing, node);
	return !s->found;
}

static bool may_change(const struct front *f, struct ir_node *expr)
{
	struct extent_search s = { .f = f };

	ir_walk(expr, search_visit, &s);
	return s.found;
}

bool extents_name(const struct ir_list *extents, const struct ir_node *var)
{
	struct extent_search s = { .var = var };
	uint32_t i;

	for (i = 0; i < extents->n; i++)
		ir_walk(extents->at[i], search_visit, &s);
	return s.found;
}

struct ir_node *front_extent(struct front *f, struct ir_node *expr)
{
	struct front_extent *e;
	struct ir_node *var;
	uint32_t i;

	if (ir_is_const(expr) || !may_change(f, expr))
		return expr;
	for (i = 0; i < f->extents.n; i++) {
		e = (struct front_extent *)f->extents.at[i];
		if (e->var && dim_equal(e->expr.at[0], expr))
			return e->var;
	}
	var = ir_var(f->px, px_printf(f->px, "_v%u%s%s", f->n_hidden++, ir_is_var(expr) ? "_" : "",
				      ir_is_var(expr) ? IR_AS(expr, var)->name : ""),
		     expr->type, expr->span);
	front_emit(f, ir_assign(f->px, var, expr, expr->span));
	e = px_new(f->px, struct front_extent);
	list_push(f->px, &e->expr, expr);
	e->var = var;
	list_push(f->px, &f->extents, (struct ir_node *)e);
	return var;
}

/* ---- What ends it ---- */

void front_extents_assigned(struct front *f, const struct ir_node *var)
{
	uint32_t i;

	for (i = 0; i < f->extents.n; i++) {
		struct front_extent *e = (struct front_extent *)f->extents.at[i];

		if (e->var && extents_name(&e->expr, var))
			e->var = NULL;
	}
}

void front_extents_loop(struct front *f, const struct py_list *body)
{
	struct var_map counts = { .px = f->px };
	size_t i;
	uint32_t j;

	if (!f->extents.n)
		return;
	note_assigned(f, &counts, body);
	for (i = 0; i < counts.room; i++) {
		const struct binding *b = (const struct binding *)counts.slots[i].key;

		for (j = 0; b && j < b->variables.n; j++)
			front_extents_assigned(f, b->variables.at[j]);
	}
}

/* ---- Types of operators ---- */

static bool find_extents(struct front *f, struct var_map *map, const struct ir_list *extents)
{
	bool found = false;
	uint32_t i;

	for (i = 0; i < extents->n; i++) {
		struct ir_node *bound = front_extent(f, extents->at[i]);

		if (bound == extents->at[i])
			continue;
		var_map_set(map, extents->at[i], bound);
		found = true;
	}
	return found;
}

static struct ir_node *replace_extents(struct front *f, const struct var_map *map,
				       struct ir_node *arg)
{
	struct ir_tuple *copy;
	uint32_t i;

	if (!arg || arg->kind != IR_MAKE_TUPLE)
		return arg;
	copy = ir_copy(f->px, arg);
	copy->elements = list_copy(f->px, &copy->elements);
	for (i = 0; i < copy->elements.n; i++) {
		struct ir_node *bound = var_map_get(map, copy->elements.at[i]);

		if (bound)
			copy->elements.at[i] = bound;
	}
	return &copy->node;
}

bool front_bind_extents(struct front *f, const struct ir_type *type, struct ir_list *args)
{
	struct var_map map = { .px = f->px };
	bool found = find_extents(f, &map, &type->shape);
	uint32_t i;

	found |= find_extents(f, &map, &type->view.valid);
	if (!found)
		return false;
	*args = list_copy(f->px, args);
	for (i = 0; i < args->n; i++)
		args->at[i] = replace_extents(f, &map, args->at[i]);
	return true;
}
