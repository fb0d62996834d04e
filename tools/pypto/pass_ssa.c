/* SPDX-License-Identifier: MIT */
/*
 * ConvertToSSA, section 7.2. Every variable that is assigned gets a version per assignment; .now
 * says which one is valid at this point. A loop carries the variables that exist before it and are
 * assigned in it; an if merges those that exist after both branches. A tuple is taken apart: its
 * version is the tuple of its elements' versions, unless it is what a call returns.
 */
#include <string.h>

#include "ops.h"
#include "pass.h"
#include "walk.h"

struct ssa {
	struct px *px;
	struct var_map now;		/* variable -> its version here */
	struct var_map counters;	/* interned name -> versions so far */
	struct var_map extents;		/* version that is a parameter's extent -> that extent */
	struct var_map shared;		/* what regions read before they make it, or is named outside */
	const struct ir_list *params;
};

static struct ir_node *convert(struct ssa *s, struct ir_node *stmt);

/* ---- Versions ---- */

static uintptr_t count(struct ssa *s, const char *name)
{
	uintptr_t n = (uintptr_t)var_map_get(&s->counters, (const struct ir_node *)name);

	var_map_set(&s->counters, (const struct ir_node *)name, (void *)(n + 1));
	return n;
}

/* Shapes of tensors in terms of parameters' extents, which exist from the beginning. */
static const struct ir_type *type_now(struct ssa *s, const struct ir_type *type)
{
	const struct ir_type *now = ir_subst_type(&s->now, type);

	return type && type->kind == TY_TILE ? now : ir_subst_type(&s->extents, now);
}

/* Whether that makes a difference. */
static bool names_extents(struct ssa *s, const struct ir_type *type)
{
	const struct ir_type *now = ir_subst_type(&s->now, type);

	return now && now->kind == TY_TENSOR && ir_subst_type(&s->extents, now) != now;
}

static struct ir_node *version_named(struct ssa *s, const struct ir_node *var, const char *name)
{
	struct ir_var *v = ir_new(s->px, IR_VAR, var->span, type_now(s, var->type));

	v->name = px_intern(s->px, name);
	return &v->node;
}

static struct ir_node *version(struct ssa *s, const struct ir_node *var)
{
	const char *name = IR_AS(var, var)->name;

	return version_named(s, var, px_printf(s->px, "%s_%lu", name,
					       (unsigned long)count(s, name)));
}

static struct ir_node *iter_version(struct ssa *s, const struct ir_node *var, struct ir_node *init)
{
	const char *name = IR_AS(var, var)->name;
	struct ir_var *arg =
		ir_new(s->px, IR_ITER_ARG, var->span, type_now(s, var->type));

	arg->name = px_intern(s->px, px_printf(s->px, "%s_iter_%lu", name,
					       (unsigned long)count(s, name)));
	arg->init = init;
	return &arg->node;
}

static void set_now(struct ssa *s, const struct ir_node *var, struct ir_node *version)
{
	var_map_set(&s->now, var, version);
}

/* ---- Tuples ---- */

static struct ir_node *element(struct ssa *s, struct ir_node *tuple, uint32_t i)
{
	struct ir_item *item;

	if (tuple->kind == IR_MAKE_TUPLE)
		return IR_AS(tuple, tuple)->elements.at[i];
	item = ir_new(s->px, IR_GET_ITEM, tuple->span, tuple->type->items[i]);
	item->tuple = tuple;
	item->index = i;
	return &item->node;
}

static struct ir_node *tuple_like(struct ssa *s, const struct ir_node *like)
{
	return ir_new(s->px, IR_MAKE_TUPLE, like->span, NULL);
}

static void tuple_push(struct ssa *s, struct ir_node *tuple, struct ir_node *e)
{
	list_push(s->px, &IR_AS(tuple, tuple)->elements, e);
}

/* @tuple, whose elements are all there. */
static struct ir_node *tuple_typed(struct ssa *s, struct ir_node *tuple)
{
	const struct ir_list *elements = &IR_AS(tuple, tuple)->elements;
	const struct ir_type **types =
		px_alloc(s->px, elements->n + 1, sizeof(const struct ir_type *));
	uint32_t i;

	for (i = 0; i < elements->n; i++)
		types[i] = elements->at[i]->type;
	tuple->type = type_tuple(s->px, types, elements->n);
	return tuple;
}

/* A variable for element @i of @var. */
static struct ir_node *element_var(struct ssa *s, const struct ir_node *var, uint32_t i,
				   const struct ir_type *type)
{
	return ir_var(s->px, px_printf(s->px, "%s_%u", IR_AS(var, var)->name, i), type, var->span);
}

/* What loops and branches hand on for @value: itself, or a tuple's elements. */
static void push_value(struct ssa *s, struct ir_list *list, struct ir_node *value)
{
	uint32_t i;

	if (value->type->kind != TY_TUPLE)
		list_push(s->px, list, value);
	for (i = 0; i < value->type->n_items; i++)
		push_value(s, list, element(s, value, i));
}

/* A new version of @var, in parts if it is a tuple; @list gets the parts. */
static struct ir_node *push_version(struct ssa *s, struct ir_list *list, const struct ir_node *var)
{
	struct ir_node *whole;
	uint32_t i;

	if (var->type->kind != TY_TUPLE) {
		whole = version(s, var);
		list_push(s->px, list, whole);
		return whole;
	}
	whole = tuple_like(s, var);
	for (i = 0; i < var->type->n_items; i++)
		tuple_push(s, whole, push_version(s, list, element_var(s, var, i,
								       var->type->items[i])));
	return tuple_typed(s, whole);
}

/* The same of an iter arg that starts as @init. */
static struct ir_node *push_iter(struct ssa *s, struct ir_list *list, const struct ir_node *var,
				 struct ir_node *init)
{
	struct ir_node *whole;
	uint32_t i;

	if (var->type->kind != TY_TUPLE) {
		whole = iter_version(s, var, init);
		list_push(s->px, list, whole);
		return whole;
	}
	whole = tuple_like(s, var);
	for (i = 0; i < var->type->n_items; i++)
		tuple_push(s, whole, push_iter(s, list, element_var(s, var, i, var->type->items[i]),
					       element(s, init, i)));
	return tuple_typed(s, whole);
}

/* @tuple with a variable, assigned in @out, for each element that is computed. */
static struct ir_node *name_elements(struct ssa *s, struct ir_list *out, const struct ir_node *var,
				     const struct ir_node *tuple)
{
	const struct ir_list *elements = &IR_AS(tuple, tuple)->elements;
	struct ir_node *whole = tuple_like(s, tuple), *e, *named;
	uint32_t i;

	for (i = 0; i < elements->n; i++) {
		e = elements->at[i];
		named = e;
		if (e->kind == IR_MAKE_TUPLE) {
			named = name_elements(s, out, element_var(s, var, i, e->type), e);
		} else if (!ir_is_var(e) && !ir_is_const(e)) {
			named = version(s, element_var(s, var, i, e->type));
			list_push(s->px, out, ir_assign(s->px, named, e, e->span));
		}
		tuple_push(s, whole, named);
	}
	return tuple_typed(s, whole);
}

/* ---- What a body assigns ---- */

struct assigned {
	struct px *px;
	struct var_map seen;
	struct ir_list vars;	/* ordered by name */
};

static void note_assigned(struct assigned *a, struct ir_node *var)
{
	uint32_t i;

	if (var->kind == IR_MEMREF || var_map_get(&a->seen, var))
		return;
	var_map_set(&a->seen, var, var);
	list_push(a->px, &a->vars, var);
	for (i = a->vars.n - 1; i && strcmp(IR_AS(a->vars.at[i - 1], var)->name,
					    IR_AS(var, var)->name) > 0; i--)
		a->vars.at[i] = a->vars.at[i - 1];
	a->vars.at[i] = var;
}

static bool assigned_visit(void *data, struct ir_node *node)
{
	if (node->kind == IR_ASSIGN)
		note_assigned(data, IR_AS(node, assign)->var);
	return node->kind >= IR_ASSIGN;
}

static struct ir_list assigned_in(struct ssa *s, struct ir_node *one, struct ir_node *two)
{
	struct assigned a = { .px = s->px, .seen = { .px = s->px } };

	ir_walk(one, assigned_visit, &a);
	if (two)
		ir_walk(two, assigned_visit, &a);
	return a.vars;
}

/* ---- Names that each region uses for values of its own ---- */

struct regions {
	struct var_map *shared;
	struct ir_list made;	/* what the region at hand has assigned before this point */
	bool inside;		/* a region */
	struct px *px;
};

static bool region_visit(void *data, struct ir_node *node);

/* A body that may not run: what it makes is made there only. */
static void visit_part(struct regions *r, struct ir_node *part)
{
	uint32_t n = r->made.n;

	if (part)
		ir_walk(part, region_visit, r);
	r->made.n = n;
}

static void visit_inits(struct regions *r, const struct ir_list *iter_args)
{
	uint32_t i;

	for (i = 0; i < iter_args->n; i++)
		ir_walk(IR_AS(iter_args->at[i], var)->init, region_visit, r);
}

static bool region_visit(void *data, struct ir_node *node)
{
	struct regions *r = data;
	struct ir_list outside = r->made;
	bool inside = r->inside;

	switch (node->kind) {
	case IR_ASSIGN:
		ir_walk(IR_AS(node, assign)->value, region_visit, r);
		if (inside)
			list_push(r->px, &r->made, IR_AS(node, assign)->var);
		else
			var_map_set(r->shared, IR_AS(node, assign)->var, node);
		return false;
	case IR_SCOPE:
		r->made = (struct ir_list){ 0 };
		r->inside = true;
		ir_walk(IR_AS(node, scope)->body, region_visit, r);
		r->made = outside;
		r->inside = inside;
		return false;
	case IR_IF:
		ir_walk(IR_AS(node, if)->condition, region_visit, r);
		visit_part(r, IR_AS(node, if)->then_body);
		visit_part(r, IR_AS(node, if)->else_body);
		return false;
	case IR_FOR:
		ir_walk(IR_AS(node, for)->start, region_visit, r);
		ir_walk(IR_AS(node, for)->stop, region_visit, r);
		ir_walk(IR_AS(node, for)->step, region_visit, r);
		visit_inits(r, &IR_AS(node, for)->iter_args);
		visit_part(r, IR_AS(node, for)->body);
		return false;
	case IR_WHILE:
		visit_inits(r, &IR_AS(node, while)->iter_args);
		ir_walk(IR_AS(node, while)->condition, region_visit, r);
		visit_part(r, IR_AS(node, while)->body);
		return false;
	default:
		if (ir_is_var(node) && !list_has(&r->made, node))
			var_map_set(r->shared, node, node);
		return true;
	}
}

static void visit_extents(struct regions *r, const struct ir_type *type)
{
	uint32_t i;

	for (i = 0; i < type->shape.n; i++)
		ir_walk(type->shape.at[i], region_visit, r);
}

/*
 * A tile or scalar that every region makes before it reads it, and nothing else names, ends with
 * the region: no loop carries it.
 */
static void forget_own(struct ssa *s, struct ir_node *region)
{
	struct ir_list vars = assigned_in(s, region, NULL);
	uint32_t i;

	for (i = 0; i < vars.n; i++)
		if (vars.at[i]->type->kind != TY_TENSOR && !var_map_get(&s->shared, vars.at[i]))
			set_now(s, vars.at[i], NULL);
}

/* So does a parameter's name that regions alone use: its value is read nowhere. */
static void forget_params(struct ssa *s, const struct ir_list *params)
{
	uint32_t i;

	for (i = 0; i < params->n; i++)
		if (params->at[i]->type->kind != TY_TENSOR &&
		    !var_map_get(&s->shared, params->at[i]))
			set_now(s, params->at[i], NULL);
}

static struct ir_node **versions_of(struct ssa *s, const struct ir_list *vars)
{
	struct ir_node **now = px_alloc(s->px, vars->n + 1, sizeof(*now));
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		now[i] = var_map_get(&s->now, vars->at[i]);
	return now;
}

static void set_versions(struct ssa *s, const struct ir_list *vars, struct ir_node **versions)
{
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		set_now(s, vars->at[i], versions[i]);
}

/* ---- Bodies ---- */

/* The converted body, its yield extended by what those of @more are now that @keep has. */
static struct ir_node *convert_body(struct ssa *s, struct ir_node *body, const struct ir_list *more,
				    struct ir_node **keep, struct span span)
{
	struct ir_list stmts = body ? ir_stmts(&body) : (struct ir_list){ 0 }, out = { 0 };
	struct ir_list values = { 0 };
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		struct ir_node *stmt = convert(s, stmts.at[i]);

		if (stmt->kind == IR_YIELD)
			values = list_copy(s->px, &IR_AS(stmt, values)->values);
		else
			list_push(s->px, &out, stmt);
	}
	for (i = 0; i < more->n; i++)
		if (keep[i])
			push_value(s, &values, var_map_get(&s->now, more->at[i]));
	if (values.n)
		list_push(s->px, &out, ir_values(s->px, IR_YIELD, values, span));
	return ir_body(s->px, out, span);
}

/* ---- Loops ---- */

struct carried {
	struct ir_list vars;		/* all that the body assigns */
	struct ir_node **before;	/* NULL: local to the body */
	struct ir_list iter_args, results;
	struct ir_node **after, **given;	/* versions: of .vars, of the results in the text */
};

static void carry_existing(struct ssa *s, struct carried *c, const struct ir_list *iter_args,
			   const struct ir_list *results)
{
	struct ir_node **args = px_alloc(s->px, iter_args->n + 1, sizeof(*args));
	uint32_t i;

	for (i = 0; i < iter_args->n; i++)
		args[i] = push_iter(s, &c->iter_args, iter_args->at[i],
				    ir_subst(&s->now, IR_AS(iter_args->at[i], var)->init));
	c->given = px_alloc(s->px, results->n + 1, sizeof(*c->given));
	for (i = 0; i < results->n; i++)
		c->given[i] = push_version(s, &c->results, results->at[i]);
	for (i = 0; i < iter_args->n; i++)
		set_now(s, iter_args->at[i], args[i]);
}

/* Before the loop's own variables exist, so that they count as local to the body. */
static void find_carried(struct ssa *s, struct carried *c, struct ir_node *body)
{
	c->vars = assigned_in(s, body, NULL);
	c->before = versions_of(s, &c->vars);
}

static void carry_assigned(struct ssa *s, struct carried *c)
{
	struct ir_node *arg;
	uint32_t i;

	c->after = px_alloc(s->px, c->vars.n + 1, sizeof(*c->after));
	for (i = 0; i < c->vars.n; i++) {
		if (!c->before[i])
			continue;
		arg = push_iter(s, &c->iter_args, c->vars.at[i], c->before[i]);
		c->after[i] = push_version(s, &c->results, c->vars.at[i]);
		set_now(s, c->vars.at[i], arg);
	}
}

static void finish_results(struct ssa *s, const struct carried *c, const struct ir_list *results)
{
	uint32_t i;

	set_versions(s, &c->vars, c->after);
	for (i = 0; i < results->n; i++)
		set_now(s, results->at[i], c->given[i]);
}

static struct ir_node *convert_for(struct ssa *s, const struct ir_for *old)
{
	struct ir_for *loop = ir_copy(s->px, &old->node);
	struct carried c = { 0 };

	loop->start = ir_subst(&s->now, old->start);
	loop->stop = ir_subst(&s->now, old->stop);
	loop->step = ir_subst(&s->now, old->step);
	loop->loop_var = version(s, old->loop_var);
	find_carried(s, &c, old->body);
	carry_existing(s, &c, &old->iter_args, &old->return_vars);
	carry_assigned(s, &c);
	set_now(s, old->loop_var, loop->loop_var);
	loop->body = convert_body(s, old->body, &c.vars, c.before, old->node.span);
	loop->iter_args = c.iter_args;
	loop->return_vars = c.results;
	finish_results(s, &c, &old->return_vars);
	return &loop->node;
}

static struct ir_node *convert_while(struct ssa *s, const struct ir_while *old)
{
	struct ir_while *loop = ir_copy(s->px, &old->node);
	struct carried c = { 0 };

	find_carried(s, &c, old->body);
	carry_existing(s, &c, &old->iter_args, &old->return_vars);
	carry_assigned(s, &c);
	loop->condition = ir_subst(&s->now, old->condition);
	loop->body = convert_body(s, old->body, &c.vars, c.before, old->node.span);
	loop->iter_args = c.iter_args;
	loop->return_vars = c.results;
	finish_results(s, &c, &old->return_vars);
	return &loop->node;
}

/* ---- Branches ---- */


/* For each variable that a branch assigns: NULL, or the version that both branches lead to. */
static struct ir_node **merge(struct ssa *s, struct ir_if *stmt, const struct ir_list *vars,
			      struct ir_node **then_end, struct ir_node **else_end)
{
	struct ir_node **merged = px_alloc(s->px, vars->n + 1, sizeof(*merged));
	uint32_t i;

	for (i = 0; i < vars->n; i++) {
		if (!then_end[i] || !else_end[i])
			continue;
		merged[i] = push_version(s, &stmt->return_vars, vars->at[i]);
	}
	return merged;
}

static struct ir_node *with_yield(struct ssa *s, struct ir_node *body, struct ir_node **merged,
				  struct ir_node **end, uint32_t n, struct span span)
{
	struct ir_list stmts = body ? ir_stmts(&body) : (struct ir_list){ 0 };
	struct ir_list out = { 0 }, values = { 0 };
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		if (stmts.at[i]->kind == IR_YIELD)
			values = list_copy(s->px, &IR_AS(stmts.at[i], values)->values);
		else
			list_push(s->px, &out, stmts.at[i]);
	}
	for (i = 0; i < n; i++)
		if (merged[i])
			push_value(s, &values, end[i]);
	if (values.n)
		list_push(s->px, &out, ir_values(s->px, IR_YIELD, values, span));
	return out.n ? ir_body(s->px, out, span) : NULL;
}

static struct ir_node *convert_if(struct ssa *s, const struct ir_if *old)
{
	struct ir_if *stmt = ir_copy(s->px, &old->node);
	struct ir_list vars = assigned_in(s, old->then_body, old->else_body), none = { 0 };
	struct ir_node **before = versions_of(s, &vars), **then_end, **else_end, **merged;
	struct ir_node **given = px_alloc(s->px, old->return_vars.n + 1, sizeof(*given));
	uint32_t i;

	stmt->condition = ir_subst(&s->now, old->condition);
	stmt->then_body = convert_body(s, old->then_body, &none, NULL, old->node.span);
	then_end = versions_of(s, &vars);
	set_versions(s, &vars, before);
	if (old->else_body)
		stmt->else_body = convert_body(s, old->else_body, &none, NULL, old->node.span);
	else_end = versions_of(s, &vars);
	stmt->return_vars = (struct ir_list){ 0 };
	for (i = 0; i < old->return_vars.n; i++)
		given[i] = push_version(s, &stmt->return_vars, old->return_vars.at[i]);
	merged = merge(s, stmt, &vars, then_end, else_end);
	stmt->then_body = with_yield(s, stmt->then_body, merged, then_end, vars.n, old->node.span);
	if (!stmt->then_body)
		stmt->then_body = ir_body(s->px, none, old->node.span);
	stmt->else_body = with_yield(s, stmt->else_body, merged, else_end, vars.n, old->node.span);
	set_versions(s, &vars, merged);
	for (i = 0; i < old->return_vars.n; i++)
		set_now(s, old->return_vars.at[i], given[i]);
	return &stmt->node;
}

/* ---- The rest ---- */

/* m = pl.dim(x, 0) of a parameter x with M rows: shapes say M. */
static void note_extent(struct ssa *s, const struct ir_node *var, const struct ir_call *call)
{
	struct ir_node *extent = call_dim(call);

	if (list_has(s->params, call->args.at[0]) && ir_is_var(extent) &&
	    IR_AS(extent, var)->dynamic)
		var_map_set(&s->extents, var, extent);
}

/* Whether arguments of an operator, or of a function (NULL), say what the shape of its tensor is. */
static bool chooses_shape(const struct px_op *op)
{
	return !op || op->rule == rule_create_tensor || op->rule == rule_slice ||
	       op->rule == rule_reshape;
}

/* A call that gives a tensor, in terms of extents; tiles in it are not. */
static struct ir_node *with_extents(struct ssa *s, struct ir_node *call)
{
	struct ir_node *copy;

	if (chooses_shape(IR_AS(call, call)->op))
		return ir_subst(&s->extents, call);
	copy = ir_copy(s->px, call);
	copy->type = type_now(s, call->type);
	return copy;
}

static struct ir_node *convert_assign(struct ssa *s, const struct ir_assign *old)
{
	struct ir_node *value = ir_subst(&s->now, old->value), *var = old->var;
	const struct px_op *op = value->kind == IR_CALL ? IR_AS(value, call)->op : NULL;
	struct ir_list parts = { 0 };

	if (value->kind == IR_MAKE_TUPLE) {
		set_now(s, var, name_elements(s, &parts, var, value));
		return ir_body(s->px, parts, old->node.span);
	}
	if (value->kind == IR_CALL && names_extents(s, var->type))
		value = with_extents(s, value);
	if (var->kind != IR_MEMREF) {
		var = version(s, old->var);
		set_now(s, old->var, var);
	}
	if (op && op->rule == rule_dim)
		note_extent(s, var, IR_AS(value, call));
	return ir_assign(s->px, var, value, old->node.span);
}

static struct ir_node *convert_seq(struct ssa *s, const struct ir_seq *old)
{
	struct ir_list stmts = { 0 };
	uint32_t i;

	for (i = 0; i < old->stmts.n; i++)
		list_push(s->px, &stmts, convert(s, old->stmts.at[i]));
	return ir_body(s->px, stmts, old->node.span);
}

static struct ir_node *convert(struct ssa *s, struct ir_node *stmt)
{
	struct ir_list values, parts = { 0 };
	struct ir_scope *scope;
	struct ir_eval *eval;
	uint32_t i;

	switch (stmt->kind) {
	case IR_ASSIGN:
		return convert_assign(s, IR_AS(stmt, assign));
	case IR_FOR:
		return convert_for(s, IR_AS(stmt, for));
	case IR_WHILE:
		return convert_while(s, IR_AS(stmt, while));
	case IR_IF:
		return convert_if(s, IR_AS(stmt, if));
	case IR_SCOPE:
		scope = ir_copy(s->px, stmt);
		scope->body = convert(s, scope->body);
		forget_own(s, stmt);
		return &scope->node;
	case IR_YIELD:
		values = ir_subst_list(&s->now, &IR_AS(stmt, values)->values);
		for (i = 0; i < values.n; i++)
			push_value(s, &parts, values.at[i]);
		return ir_values(s->px, IR_YIELD, parts, stmt->span);
	case IR_RETURN:
		return ir_values(s->px, IR_RETURN,
				 ir_subst_list(&s->now, &IR_AS(stmt, values)->values), stmt->span);
	case IR_EVAL:
		eval = ir_copy(s->px, stmt);
		eval->expr = ir_subst(&s->now, eval->expr);
		return &eval->node;
	default:
		return convert_seq(s, IR_AS(stmt, seq));
	}
}

/* Calls supply these by their names, which therefore stay. */
static bool is_block_param(const struct ir_function *f, const struct ir_node *param)
{
	const char *name = IR_AS(param, var)->name;

	return f->func_type == FN_BLOCK_INCORE &&
	       (!strcmp(name, "blockdim") || !strcmp(name, "block_id"));
}

static struct ir_function *convert_function(struct px *px, struct ir_function *old, void *data)
{
	struct ssa s = { .px = px, .now = { .px = px }, .counters = { .px = px },
			 .extents = { .px = px }, .shared = { .px = px } };
	struct regions regions = { .shared = &s.shared, .px = px };
	struct ir_function *f = ir_copy(px, &old->node);
	uint32_t *order = ir_def_order(px, &old->params), i;

	(void)data;
	f->params = list_copy(px, &old->params);
	s.params = &f->params;
	for (i = 0; i < old->params.n; i++) {
		struct ir_node *param = old->params.at[order[i]];

		if (!is_block_param(old, param))
			f->params.at[order[i]] = version(&s, param);
		set_now(&s, param, f->params.at[order[i]]);
	}
	f->return_types = px_alloc(px, old->n_returns + 1, sizeof(const struct ir_type *));
	for (i = 0; i < old->n_returns; i++)
		f->return_types[i] = ir_subst_type(&s.now, old->return_types[i]);
	for (i = 0; i < old->params.n; i++)
		visit_extents(&regions, old->params.at[i]->type);
	ir_walk(old->body, region_visit, &regions);
	forget_params(&s, &old->params);
	f->body = convert(&s, old->body);
	return f;
}

struct ir_program *pass_convert_to_ssa(struct px *px, struct ir_program *program,
				       const struct pass_options *options)
{
	(void)options;
	return pass_each(px, program, convert_function, NULL);
}
