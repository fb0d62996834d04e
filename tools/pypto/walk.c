/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "walk.h"

static void walk_list(const struct ir_list *list, bool (*visit)(void *, struct ir_node *),
		      void *data)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (list->at[i])
			ir_walk(list->at[i], visit, data);
}

static void walk_def(struct ir_node *var, bool (*visit)(void *, struct ir_node *), void *data)
{
	if (var->type) {
		walk_list(&var->type->shape, visit, data);
		walk_list(&var->type->view.valid, visit, data);
	}
	ir_walk(var, visit, data);
	if (var->kind == IR_ITER_ARG)
		ir_walk(IR_AS(var, var)->init, visit, data);
}

static void walk_field(struct ir_node *node, const struct ir_field *field,
		       bool (*visit)(void *, struct ir_node *), void *data)
{
	void *at = ir_field_at(node, field);
	struct ir_list *list = at;
	struct ir_node **one = at;
	uint32_t i;

	switch (field->kind) {
	case FK_EXPR:
	case FK_STMT:
		if (*one)
			ir_walk(*one, visit, data);
		break;
	case FK_EXPRS:
	case FK_STMTS:
	case FK_FUNCS:
		walk_list(list, visit, data);
		break;
	case FK_DEF:
		walk_def(*one, visit, data);
		break;
	case FK_DEFS:
		for (i = 0; i < list->n; i++)
			walk_def(list->at[i], visit, data);
		break;
	}
}

void ir_walk(struct ir_node *node, bool (*visit)(void *data, struct ir_node *node), void *data)
{
	const struct ir_field *field;

	if (!visit(data, node))
		return;
	/* an iter arg's initial value belongs to its definition, not to each use */
	if (ir_is_var(node))
		return;
	for (field = ir_kind_info[node->kind].fields; field->name; field++)
		walk_field(node, field, visit, data);
}

void ir_defs(struct ir_node *stmt, void (*define)(void *data, struct ir_node *var), void *data)
{
	const struct ir_field *field;
	uint32_t i;

	for (field = ir_kind_info[stmt->kind].fields; field->name; field++) {
		struct ir_list *list = ir_field_at(stmt, field);

		if (field->kind == FK_DEF && *(struct ir_node **)list)
			define(data, *(struct ir_node **)list);
		for (i = 0; field->kind == FK_DEFS && i < list->n; i++)
			define(data, list->at[i]);
	}
}

static void flat_into(struct px *px, struct ir_list *out, struct ir_node *stmt)
{
	uint32_t i;

	if (stmt->kind != IR_SEQ && stmt->kind != IR_OPS) {
		list_push(px, out, stmt);
		return;
	}
	for (i = 0; i < IR_AS(stmt, seq)->stmts.n; i++)
		flat_into(px, out, IR_AS(stmt, seq)->stmts.at[i]);
}

struct ir_list ir_flat(struct px *px, struct ir_node *body)
{
	struct ir_list out = { 0 };

	if (body)
		flat_into(px, &out, body);
	return out;
}

/* ---- Calls ---- */

struct cycle_search {
	const struct ir_program *program;
	struct px *px;
	struct ir_list open, done;
	const struct ir_call *found;
};

static void cycle_visit(struct cycle_search *s, struct ir_function *f);

static bool cycle_call(void *data, struct ir_node *node)
{
	struct cycle_search *s = data;
	struct ir_function *callee;

	if (s->found || node->kind != IR_CALL || IR_AS(node, call)->op)
		return !s->found;
	callee = program_find(s->program, IR_AS(node, call)->callee);
	if (callee && list_has(&s->open, &callee->node)) {
		s->found = IR_AS(node, call);
		return false;
	}
	if (callee)
		cycle_visit(s, callee);
	return true;
}

static void cycle_visit(struct cycle_search *s, struct ir_function *f)
{
	if (list_has(&s->done, &f->node))
		return;
	list_push(s->px, &s->open, &f->node);
	if (f->body)
		ir_walk(f->body, cycle_call, s);
	s->open.n--;
	list_push(s->px, &s->done, &f->node);
}

const struct ir_call *ir_recursion(struct px *px, const struct ir_program *program)
{
	struct cycle_search s = { .program = program, .px = px };
	uint32_t i;

	for (i = 0; i < program->functions.n && !s.found; i++)
		cycle_visit(&s, IR_AS(program->functions.at[i], function));
	return s.found;
}

static bool note_called(void *data, struct ir_node *node)
{
	struct cycle_search *s = data;
	struct ir_function *callee = node->kind == IR_CALL && !IR_AS(node, call)->op ?
				     program_find(s->program, IR_AS(node, call)->callee) : NULL;

	if (callee && !list_has(&s->done, &callee->node))
		list_push(s->px, &s->done, &callee->node);
	return true;
}

struct ir_list ir_called(struct px *px, const struct ir_program *program)
{
	struct cycle_search s = { .program = program, .px = px };
	uint32_t i;

	for (i = 0; i < program->functions.n; i++)
		if (IR_AS(program->functions.at[i], function)->body)
			ir_walk(IR_AS(program->functions.at[i], function)->body, note_called, &s);
	return s.done;
}

/* ---- Map ---- */

static size_t slot_of(const struct var_map *map, const struct ir_node *key)
{
	size_t i = ((uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (map->room - 1);

	while (map->slots[i].key && map->slots[i].key != key)
		i = (i + 1) & (map->room - 1);
	return i;
}

static void map_grow(struct var_map *map)
{
	struct var_map old = *map;
	size_t i;

	map->room = old.room ? 2 * old.room : 32;
	map->slots = px_alloc(map->px, map->room, sizeof(*map->slots));
	for (i = 0; i < old.room; i++)
		if (old.slots[i].key)
			map->slots[slot_of(map, old.slots[i].key)] = old.slots[i];
}

void var_map_set(struct var_map *map, const struct ir_node *key, void *value)
{
	size_t i;

	if (2 * (map->n + 1) > map->room)
		map_grow(map);
	i = slot_of(map, key);
	map->n += !map->slots[i].key;
	map->slots[i] = (struct map_slot){ key, value };
}

void *var_map_get(const struct var_map *map, const struct ir_node *key)
{
	return map->room ? map->slots[slot_of(map, key)].value : NULL;
}

/* ---- Order of definitions ---- */

uint32_t *ir_def_order(struct px *px, const struct ir_list *vars)
{
	uint32_t *order = px_alloc(px, vars->n + 1, sizeof(*order)), n = 0, i;
	int scalars;

	for (scalars = 1; scalars >= 0; scalars--)
		for (i = 0; i < vars->n; i++)
			if ((vars->at[i]->type && vars->at[i]->type->kind == TY_SCALAR) == scalars)
				order[n++] = i;
	return order;
}

/* ---- Substitution ---- */

struct ir_list ir_subst_list(struct var_map *map, const struct ir_list *list)
{
	struct ir_list copy = { 0 };
	bool changed = false;
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		struct ir_node *e = list->at[i] ? ir_subst(map, list->at[i]) : NULL;

		changed |= e != list->at[i];
		list_push(map->px, &copy, e);
	}
	return changed ? copy : *list;
}

const struct ir_type *ir_subst_type(struct var_map *map, const struct ir_type *type)
{
	struct ir_list shape, valid;
	const struct ir_type **items = NULL;
	bool changed = false;
	struct ir_type *copy;
	uint32_t i;

	if (!type)
		return NULL;
	shape = ir_subst_list(map, &type->shape);
	valid = ir_subst_list(map, &type->view.valid);
	if (type->n_items)
		items = px_alloc(map->px, type->n_items, sizeof(const struct ir_type *));
	for (i = 0; i < type->n_items; i++) {
		items[i] = ir_subst_type(map, type->items[i]);
		changed |= items[i] != type->items[i];
	}
	if (!changed && shape.at == type->shape.at && valid.at == type->view.valid.at)
		return type;
	copy = type_copy(map->px, type);
	copy->shape = shape;
	copy->view.valid = valid;
	copy->items = items;
	return copy;
}

/* A copy of @node in which each expression field is replaced; the node itself if none changes. */
static struct ir_node *subst_fields(struct var_map *map, struct ir_node *node)
{
	const struct ir_type *type = ir_subst_type(map, node->type);
	const struct ir_field *field;
	struct ir_node *copy = NULL;

	for (field = ir_kind_info[node->kind].fields; field->name; field++) {
		void *at = ir_field_at(node, field);

		if (field->kind == FK_EXPR) {
			struct ir_node *old = *(struct ir_node **)at;
			struct ir_node *new = old ? ir_subst(map, old) : NULL;

			if (new == old)
				continue;
			copy = copy ? copy : ir_copy(map->px, node);
			*(struct ir_node **)ir_field_at(copy, field) = new;
		} else if (field->kind == FK_EXPRS) {
			struct ir_list new = ir_subst_list(map, at);

			if (new.at == ((struct ir_list *)at)->at)
				continue;
			copy = copy ? copy : ir_copy(map->px, node);
			*(struct ir_list *)ir_field_at(copy, field) = new;
		}
	}
	if (!copy && type == node->type)
		return node;
	copy = copy ? copy : ir_copy(map->px, node);
	copy->type = type;
	if (copy->kind == IR_GET_ITEM && IR_AS(copy, item)->tuple->kind == IR_MAKE_TUPLE) {
		const struct ir_tuple *tuple = IR_AS(IR_AS(copy, item)->tuple, tuple);

		return tuple->elements.at[IR_AS(copy, item)->index];
	}
	if (ir_is_binary(copy)) {
		struct ir_node *folded = ir_fold(map->px, copy->kind, IR_AS(copy, binary)->left,
						 IR_AS(copy, binary)->right, type->dtype,
						 node->span);

		return folded ? folded : copy;
	}
	return copy;
}

struct ir_node *ir_subst(struct var_map *map, struct ir_node *expr)
{
	struct ir_node *other;

	if (ir_is_var(expr) || expr->kind == IR_MEMREF) {
		other = var_map_get(map, expr);
		return other ? other : expr;
	}
	if (ir_is_const(expr))
		return expr;
	return subst_fields(map, expr);
}

/* ---- Cloning ---- */

static struct ir_node *clone_def(struct var_map *map, struct ir_node *var)
{
	struct ir_node *copy = ir_copy(map->px, var);

	copy->type = ir_subst_type(map, var->type);
	if (var->kind == IR_ITER_ARG)
		IR_AS(copy, var)->init = ir_subst(map, IR_AS(var, var)->init);
	var_map_set(map, var, copy);
	return copy;
}

/* A statement that has become several stands as these in a sequence. */
static void push_stmt(struct px *px, struct ir_list *list, struct ir_node *stmt)
{
	struct ir_list parts = ir_stmts(&stmt);
	uint32_t i;

	for (i = 0; i < parts.n; i++)
		list_push(px, list, parts.at[i]);
}

static void clone_field(struct var_map *map, struct ir_node *copy, const struct ir_field *field,
			const struct ir_replace *replace)
{
	void *at = ir_field_at(copy, field);
	struct ir_node **one = at;
	struct ir_list *list = at, fresh = { 0 };
	uint32_t i;

	switch (field->kind) {
	case FK_EXPR:
		if (*one)
			*one = ir_subst(map, *one);
		break;
	case FK_EXPRS:
		*list = ir_subst_list(map, list);
		break;
	case FK_STMT:
		if (*one)
			*one = ir_clone_replaced(map, *one, replace);
		break;
	case FK_STMTS:
		for (i = 0; i < list->n; i++)
			push_stmt(map->px, &fresh, ir_clone_replaced(map, list->at[i], replace));
		*list = fresh;
		break;
	case FK_DEF:
		if (!var_map_get(map, *one))
			*one = clone_def(map, *one);
		else
			*one = var_map_get(map, *one);
		break;
	case FK_DEFS:
		for (i = 0; i < list->n; i++)
			list_push(map->px, &fresh, clone_def(map, list->at[i]));
		*list = fresh;
		break;
	}
}

struct ir_node *ir_clone_replaced(struct var_map *map, struct ir_node *stmt,
				  const struct ir_replace *replace)
{
	struct ir_node *copy = replace ? replace->stmt(replace->data, map, stmt) : NULL;
	const struct ir_field *field;

	if (copy)
		return copy;
	copy = ir_copy(map->px, stmt);
	for (field = ir_kind_info[stmt->kind].fields; field->name; field++)
		clone_field(map, copy, field, replace);
	return copy;
}

struct ir_node *ir_clone_stmt(struct var_map *map, struct ir_node *stmt)
{
	return ir_clone_replaced(map, stmt, NULL);
}
