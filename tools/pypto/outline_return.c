/* SPDX-License-Identifier: MIT */
/*
 * Returned tensors that are chosen while an orchestration runs. A result has one place, which the
 * caller gives; a tensor that a loop exchanged, that a branch took from several that exist, or that
 * is part of another one or has another shape is copied there by a region in front of the return
 * (decisions.md).
 */
#include <string.h>

#include "blockops.h"
#include "gen.h"
#include "outline.h"

struct roots {
	struct px *px;
	const struct ir_program *program;
	struct var_map of;		/* tensor -> the one that it is a state of */
	struct var_map chosen;		/* those that are known only when the function runs */
	struct var_map base;		/* of a chosen one: what it is a part of, or is at first */
	struct var_map born;		/* root -> its number in order of definition, from 1 */
	struct var_map tuples;		/* variable -> what made the tuple */
	uintptr_t next;
};

static struct ir_node *root_of(struct roots *r, struct ir_node *value)
{
	struct ir_node *root = ir_is_var(value) ? var_map_get(&r->of, value) : NULL;

	return root ? root : value;
}

static void set_root(struct roots *r, struct ir_node *var, struct ir_node *root)
{
	var_map_set(&r->of, var, root);
	if (root == var)
		var_map_set(&r->born, var, (void *)++r->next);
}

static void choose(struct roots *r, struct ir_node *var, struct ir_node *base)
{
	var_map_set(&r->chosen, var, var);
	var_map_set(&r->base, var, base);
	set_root(r, var, var);
}

/* ---- Values ---- */

static bool is_part(const struct ir_call *view)
{
	const struct ir_list *at = &IR_AS(view->args.at[2], tuple)->elements;
	uint32_t i;

	for (i = 0; i < at->n; i++)
		if (at->at[i]->kind != IR_CONST_INT || IR_AS(at->at[i], const)->value)
			return true;
	return !shape_equal(&view->node.type->shape, &view->args.at[0]->type->shape);
}

/* Result @i of a call: the argument that the callee returns, or something new. */
static struct ir_node *result_root(struct roots *r, const struct ir_call *call, uint32_t i,
				   struct ir_node *var)
{
	const struct ir_function *callee = program_find(r->program, call->callee);
	int p = callee && i < callee->n_returns ? gen_returned_param(r->px, callee, i) : -1;

	return p >= 0 && (uint32_t)p < call->args.n ? root_of(r, call->args.at[p]) : var;
}

static void call_root(struct roots *r, struct ir_node *var, const struct ir_call *call)
{
	if (!call->op)
		set_root(r, var, result_root(r, call, 0, var));
	else if (call->op->rule == rule_slice && is_part(call))
		choose(r, var, root_of(r, call->args.at[0]));
	else if (call->op->rule == rule_slice || call->op->rule == rule_reshape ||
		 call->op->rule == rule_assemble)
		set_root(r, var, root_of(r, call->args.at[0]));
	else if (call->op->rule == rule_store)
		set_root(r, var, root_of(r, call->args.at[3]));
	else if (call->op->rule == rule_mscatter)
		set_root(r, var, root_of(r, call->args.at[2]));
	else
		set_root(r, var, var);
}

static void assign_root(struct roots *r, const struct ir_assign *s)
{
	struct ir_node *value = gen_element(&r->tuples, s);
	const struct ir_node *made;

	if (s->var->type->kind == TY_TUPLE)
		var_map_set(&r->tuples, s->var, s->value);
	if (s->var->type->kind != TY_TENSOR)
		return;
	if (value->kind == IR_CALL) {
		call_root(r, s->var, IR_AS(value, call));
	} else if (value->kind == IR_GET_ITEM) {
		made = var_map_get(&r->tuples, IR_AS(value, item)->tuple);
		set_root(r, s->var, made && made->kind == IR_CALL ?
			 result_root(r, IR_AS(made, call), (uint32_t)IR_AS(value, item)->index,
				     s->var) : s->var);
	} else {
		set_root(r, s->var, root_of(r, value));
	}
}

/* ---- Statements ---- */

static void find_roots(struct roots *r, struct ir_node *body);

static const struct ir_values *last_of(struct ir_node *body, enum ir_kind kind)
{
	struct ir_list stmts = ir_stmts(&body);
	struct ir_node *last = stmts.n ? stmts.at[stmts.n - 1] : NULL;

	return last && last->kind == kind ? IR_AS(last, values) : NULL;
}

static void loop_roots(struct roots *r, const struct ir_list *args, const struct ir_list *results,
		       struct ir_node *body)
{
	const struct ir_values *yield = last_of(body, IR_YIELD);
	uint32_t i;

	for (i = 0; i < args->n; i++)
		if (args->at[i]->type->kind == TY_TENSOR)
			set_root(r, args->at[i], var_map_get(&r->chosen, args->at[i]) ? args->at[i] :
				 root_of(r, IR_AS(args->at[i], var)->init));
	find_roots(r, body);
	for (i = 0; yield && i < args->n; i++) {
		if (args->at[i]->type->kind != TY_TENSOR)
			continue;
		if (root_of(r, yield->values.at[i]) != root_of(r, args->at[i])) {
			var_map_set(&r->chosen, args->at[i], args->at[i]);
			var_map_set(&r->base, args->at[i],
				    root_of(r, IR_AS(args->at[i], var)->init));
		}
		set_root(r, results->at[i], root_of(r, args->at[i]));
	}
}

static void if_roots(struct roots *r, const struct ir_if *s)
{
	const struct ir_values *a, *b;
	uintptr_t before = r->next;
	uint32_t i;

	find_roots(r, s->then_body);
	if (!s->else_body)
		return;
	find_roots(r, s->else_body);
	a = last_of(s->then_body, IR_YIELD);
	b = last_of(s->else_body, IR_YIELD);
	for (i = 0; a && b && i < s->return_vars.n; i++) {
		struct ir_node *var = s->return_vars.at[i], *x = root_of(r, a->values.at[i]);
		struct ir_node *y = root_of(r, b->values.at[i]);

		if (var->type->kind != TY_TENSOR)
			continue;
		if (x == y)
			set_root(r, var, x);
		else if ((uintptr_t)var_map_get(&r->born, x) > before &&
			 (uintptr_t)var_map_get(&r->born, y) > before &&
			 !var_map_get(&r->chosen, x) && !var_map_get(&r->chosen, y))
			set_root(r, var, var);	/* each branch makes it: one tensor */
		else
			choose(r, var, NULL);
	}
}

static void find_roots(struct roots *r, struct ir_node *body)
{
	struct ir_list stmts = ir_flat(r->px, body);
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		struct ir_node *s = stmts.at[i];

		if (s->kind == IR_ASSIGN)
			assign_root(r, IR_AS(s, assign));
		else if (s->kind == IR_FOR)
			loop_roots(r, &IR_AS(s, for)->iter_args, &IR_AS(s, for)->return_vars,
				   IR_AS(s, for)->body);
		else if (s->kind == IR_WHILE)
			loop_roots(r, &IR_AS(s, while)->iter_args, &IR_AS(s, while)->return_vars,
				   IR_AS(s, while)->body);
		else if (s->kind == IR_IF)
			if_roots(r, IR_AS(s, if));
		else if (s->kind == IR_SCOPE)
			find_roots(r, IR_AS(s, scope)->body);
	}
}

/* ---- The copy ---- */

/* "_r0 = create(); with incore: _r1 = assemble(_r0, value)": _r1, or NULL with a mistake. */
static struct ir_node *copied(struct px *px, struct ir_node *value, uint32_t number,
			      struct ir_list *out)
{
	struct op_use create = { .px = px, .op = op_find("tensor.create"), .span = value->span };
	struct op_use assemble = { .px = px, .op = op_find("tensor.assemble"), .span = value->span };
	struct ir_attr dtype = { .key = "dtype", .kind = AT_DTYPE, .i = value->type->dtype };
	struct ir_list zeros = { 0 };
	struct ir_scope *scope = ir_new(px, IR_SCOPE, value->span, NULL);
	struct ir_node *call, *place, *var;
	uint32_t i;

	for (i = 0; i < value->type->shape.n; i++)
		list_push(px, &zeros, ir_int(px, 0, DT_INDEX, value->span));
	list_push(px, &create.args, block_list(px, &value->type->shape, value->span));
	create.attrs = &dtype;
	create.n_attrs = 1;
	call = op_call(&create);
	if (!call)
		return NULL;
	place = ir_var(px, px_printf(px, "_r%u", 2 * number), call->type, value->span);
	list_push(px, out, ir_assign(px, place, call, value->span));
	list_push(px, &assemble.args, place);
	list_push(px, &assemble.args, value);
	list_push(px, &assemble.args, block_list(px, &zeros, value->span));
	call = op_call(&assemble);
	if (!call)
		return NULL;
	var = ir_var(px, px_printf(px, "_r%u", 2 * number + 1), call->type, value->span);
	scope->body = ir_assign(px, var, call, value->span);
	list_push(px, out, &scope->node);
	return var;
}

static void find_all_roots(struct roots *r, const struct ir_function *f)
{
	uint32_t i;
	size_t before;

	do {	/* a carried value that is exchanged may change what others are */
		before = r->chosen.n;
		for (i = 0; i < f->params.n; i++)
			set_root(r, f->params.at[i], f->params.at[i]);
		find_roots(r, f->body);
	} while (r->chosen.n != before);
}

static struct roots new_roots(struct px *px, const struct ir_program *program)
{
	return (struct roots){ .px = px, .program = program, .of = { .px = px },
			       .chosen = { .px = px }, .base = { .px = px }, .born = { .px = px },
			       .tuples = { .px = px } };
}

/* ---- Parameters that calls write ---- */

struct writes {
	struct roots r;
	struct ir_function *f;
};

static void write_param(struct writes *w, struct ir_node *tensor)
{
	struct ir_node *root = root_of(&w->r, tensor), *base;
	uint32_t i;

	while ((base = var_map_get(&w->r.base, root)))
		root = base;
	for (i = 0; i < w->f->params.n; i++)
		if (w->f->params.at[i] == root && w->f->directions[i] == DIR_IN)
			w->f->directions[i] = DIR_INOUT;
}

static bool call_writes(void *data, struct ir_node *node)
{
	struct writes *w = data;
	const struct ir_call *call = node->kind == IR_CALL ? IR_AS(node, call) : NULL;
	const struct ir_function *callee = call && !call->op ?
					   program_find(w->r.program, call->callee) : NULL;
	uint32_t i;

	for (i = 0; callee && i < call->args.n; i++)
		if (callee->directions[i] == DIR_OUT || callee->directions[i] == DIR_INOUT)
			write_param(w, call->args.at[i]);
	return true;
}

void outline_directions(struct px *px, const struct ir_program *program, struct ir_function *f)
{
	struct writes w = { new_roots(px, program), f };
	uint8_t *directions = px_alloc(px, f->params.n + 1, 1);

	memcpy(directions, f->directions, f->params.n);
	f->directions = directions;
	find_all_roots(&w.r, f);
	ir_walk(f->body, call_writes, &w);
}

/* ---- Returns ---- */

/* Whether one of the shapes is a reshape() of the other; extents that are computed may be equal. */
static bool shapes_differ(const struct ir_list *a, const struct ir_list *b)
{
	uint32_t i;

	for (i = 0; a->n == b->n && i < a->n; i++) {
		bool known = a->at[i]->kind == IR_CONST_INT;

		if (known != (b->at[i]->kind == IR_CONST_INT) ||
		    (known && !dim_equal(a->at[i], b->at[i])))
			return true;
	}
	return a->n != b->n;
}

/* The place of a result is that of the tensor itself. */
static bool has_no_place(struct roots *r, struct ir_node *value)
{
	struct ir_node *root = root_of(r, value);

	return value->type->kind == TY_TENSOR && value->type->shape.n &&
	       (var_map_get(&r->chosen, root) ||
		shapes_differ(&value->type->shape, &root->type->shape));
}

struct ir_node *outline_returns(struct px *px, const struct ir_program *program,
				const struct ir_function *f)
{
	struct roots r = new_roots(px, program);
	const struct ir_values *values = last_of(f->body, IR_RETURN);
	struct ir_list stmts = ir_flat(px, f->body), out = { 0 }, list = { 0 };
	bool changed = false;
	uint32_t i;

	if (!values)
		return f->body;
	find_all_roots(&r, f);
	for (i = 0; i + 1 < stmts.n; i++)
		list_push(px, &out, stmts.at[i]);
	for (i = 0; i < values->values.n; i++) {
		struct ir_node *value = values->values.at[i], *copy = value;

		if (has_no_place(&r, value))
			copy = copied(px, value, i, &out);
		changed |= copy != value;
		list_push(px, &list, copy ? copy : value);
	}
	if (!changed)
		return f->body;
	list_push(px, &out, ir_values(px, IR_RETURN, list, values->node.span));
	return ir_body(px, out, f->body->span);
}
