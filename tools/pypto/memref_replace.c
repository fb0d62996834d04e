/* SPDX-License-Identifier: MIT */
/* A function with other memory references in the types of its variables. */
#include <string.h>

#include "memref.h"

struct replace {
	struct px *px;
	struct var_map *replaced;
	struct var_map now;		/* variable -> the one with the new type */
};

static const struct ir_type *retyped(struct replace *p, const struct ir_type *type)
{
	const struct ir_memref *m = type->memref ? var_map_get(p->replaced, &type->memref->node) : NULL;
	const struct ir_type **items;
	struct ir_type *copy;
	bool changed = false;
	uint32_t i;

	if (m)
		return type_with_memref(p->px, ir_subst_type(&p->now, type), m);
	if (!type->n_items)
		return type;
	items = px_alloc(p->px, type->n_items, sizeof(const struct ir_type *));
	for (i = 0; i < type->n_items; i++) {
		items[i] = retyped(p, type->items[i]);
		changed |= items[i] != type->items[i];
	}
	if (!changed)
		return type;
	copy = type_copy(p->px, type);
	copy->items = items;
	return copy;
}

static struct ir_node *typed(struct replace *p, struct ir_node *var)
{
	const struct ir_type *type = var->type ? retyped(p, var->type) : NULL;
	struct ir_node *copy;

	if (var->kind == IR_MEMREF) {
		struct ir_memref *m = var_map_get(p->replaced, var);

		return m ? &m->node : var;
	}
	if (type == var->type)
		return var;
	copy = ir_copy(p->px, var);
	copy->type = type;
	var_map_set(&p->now, var, copy);
	return copy;
}

static struct ir_list typed_list(struct replace *p, const struct ir_list *vars)
{
	struct ir_list out = { 0 };
	uint32_t i;

	for (i = 0; i < vars->n; i++) {
		struct ir_node *var = vars->at[i], *copy;

		if (var->kind == IR_ITER_ARG) {	/* its initial value changes in any case */
			copy = ir_copy(p->px, typed(p, var));
			IR_AS(copy, var)->init = ir_subst(&p->now, IR_AS(var, var)->init);
			var_map_set(&p->now, var, copy);
			list_push(p->px, &out, copy);
			continue;
		}
		list_push(p->px, &out, typed(p, var));
	}
	return out;
}

static struct ir_node *alloc_call(struct replace *p, struct ir_node *call,
				  const struct ir_memref *m)
{
	struct ir_call *copy = ir_copy(p->px, call);
	uint32_t i;

	copy->attrs = px_alloc(p->px, copy->n_attrs, sizeof(*copy->attrs));
	memcpy(copy->attrs, IR_AS(call, call)->attrs, copy->n_attrs * sizeof(*copy->attrs));
	for (i = 0; i < copy->n_attrs; i++)
		if (!strcmp(copy->attrs[i].key, "addr"))
			copy->attrs[i].i = m->addr;
	return &copy->node;
}

static struct ir_node *rewrite_body(struct px *px, struct ir_node *body, void *data);

static bool is_alloc(const struct ir_node *s)
{
	return s->kind == IR_ASSIGN && IR_AS(s, assign)->var->kind == IR_MEMREF;
}

/* The allocation of a buffer that another one stands for. */
static bool is_dropped(struct replace *p, const struct ir_node *s)
{
	const struct ir_memref *m = is_alloc(s) ?
				    var_map_get(p->replaced, IR_AS(s, assign)->var) : NULL;

	return m && m->id != IR_AS(IR_AS(s, assign)->var, memref)->id;
}

static void rewrite_field(struct replace *p, struct ir_node *copy, const struct ir_field *field)
{
	void *at = ir_field_at(copy, field);
	struct ir_node **one = at;
	struct ir_list *list = at, fresh = { 0 };
	uint32_t i;

	switch (field->kind) {
	case FK_EXPR:
		*one = *one ? ir_subst(&p->now, *one) : NULL;
		break;
	case FK_EXPRS:
		*list = ir_subst_list(&p->now, list);
		break;
	case FK_STMT:
		*one = *one ? rewrite_body(p->px, *one, p) : NULL;
		break;
	case FK_STMTS:
		for (i = 0; i < list->n; i++)
			if (!is_dropped(p, list->at[i]))
				list_push(p->px, &fresh, rewrite_body(p->px, list->at[i], p));
		*list = fresh;
		break;
	case FK_DEF:
		*one = typed(p, *one);
		break;
	case FK_DEFS:
		*list = typed_list(p, list);
		break;
	}
}

static struct ir_node *rewrite_body(struct px *px, struct ir_node *stmt, void *data)
{
	struct ir_node *copy = ir_copy(px, stmt);
	const struct ir_field *field;
	struct replace *p = data;

	for (field = ir_kind_info[stmt->kind].fields; field->name; field++)
		rewrite_field(p, copy, field);
	if (is_alloc(copy))
		IR_AS(copy, assign)->value = alloc_call(p, IR_AS(copy, assign)->value,
							IR_AS(IR_AS(copy, assign)->var, memref));
	return copy;
}

struct ir_function *memref_replace(struct px *px, struct ir_function *old,
				   struct var_map *replaced)
{
	struct replace p = { .px = px, .replaced = replaced, .now = { .px = px } };
	struct ir_function *f = ir_copy(px, &old->node);

	f->body = rewrite_body(px, old->body, &p);
	return f;
}
