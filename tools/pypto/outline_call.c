/* SPDX-License-Identifier: MIT */
/*
 * Calls of Opaque and Orchestration functions. The chip's orchestration is one function, so the
 * body of the function that is called stands for the call, with variables of its own: parameters
 * are the arguments, the call's value is what the function returns. Works on SSA form.
 */
#include "gen.h"
#include "outline.h"

/* Statements that all calls together may become: functions that call each other twice double. */
#define MOST_STATEMENTS	100000

struct inlining {
	struct px *px;
	const struct ir_program *program;
	struct var_map done;		/* function -> the same without such calls */
	struct var_map names;		/* interned names that the caller has */
	struct var_map numbers;		/* name without its number -> the next number to try */
	size_t *n;			/* statements that were put in, everywhere */
	bool opaque;			/* an Opaque body is in the caller */
	bool found;
};

static bool is_host(const struct ir_function *f)
{
	return f && f->body && (f->func_type == FN_OPAQUE || f->func_type == FN_ORCHESTRATION);
}

/* The call that is all of @stmt, of a function whose body can stand for it; or NULL. */
static const struct ir_call *host_call(const struct ir_program *program,
				       const struct ir_node *stmt)
{
	const struct ir_node *value = stmt->kind == IR_ASSIGN ? IR_AS(stmt, assign)->value :
				      stmt->kind == IR_EVAL ? IR_AS(stmt, eval)->expr : NULL;
	const struct ir_call *call = IR_AS(value, call);

	if (!value || value->kind != IR_CALL || call->op)
		return NULL;
	return is_host(program_find(program, call->callee)) ? call : NULL;
}

/* ---- Names ---- */

static void note_name(void *data, struct ir_node *var)
{
	struct inlining *in = data;

	if (ir_is_var(var))
		var_map_set(&in->names,
			    (const void *)px_intern(in->px, IR_AS(var, var)->name), in);
}

static bool note_names(void *data, struct ir_node *node)
{
	if (node->kind >= IR_ASSIGN)
		ir_defs(node, note_name, data);
	return node->kind >= IR_ASSIGN;
}

/* The name of a variable of a body that was put in; "_<k>" behind it tells it from the others. */
static void rename_var(void *data, struct ir_node *var)
{
	struct inlining *in = data;
	const char *base, *name;
	uintptr_t k;

	if (!ir_is_var(var))
		return;
	name = px_intern(in->px, IR_AS(var, var)->name);
	base = *name == '_' ? name : px_intern(in->px, gen_written_name(in->px, var));
	k = (uintptr_t)var_map_get(&in->numbers, (const void *)base);
	while (var_map_get(&in->names, (const void *)name))
		name = px_intern(in->px, px_printf(in->px, "%s_%lu", base, (unsigned long)k++));
	var_map_set(&in->numbers, (const void *)base, (void *)k);
	IR_AS(var, var)->name = name;
	note_name(in, var);
}

static bool rename_defs(void *data, struct ir_node *node)
{
	struct inlining *in = data;

	if (node->kind < IR_ASSIGN)
		return false;
	++*in->n;
	ir_defs(node, rename_var, in);
	return true;
}

/* ---- One call ---- */

/* Extents that a function counts on, and that only the run knows, are a mistake. */
static bool extents_fit(struct px *px, const struct ir_call *call, const struct ir_node *param,
			const struct ir_node *arg)
{
	uint32_t i;

	for (i = 0; i < param->type->shape.n && i < arg->type->shape.n; i++) {
		if (param->type->shape.at[i]->kind != IR_CONST_INT ||
		    dim_equal(param->type->shape.at[i], arg->type->shape.at[i]))
			continue;
		diag_hint(px, diag_add(px, DIAG_COMPILE, call->node.span,
				       "Argument '%s' of function '%s' must be %s, and only the run knows the extents of %s",
				       gen_written_name(px, param), call->callee,
				       type_text(px, param->type), type_text(px, arg->type)),
			  "Declare the parameter with pl.dynamic() extents");
		return false;
	}
	return true;
}

static bool map_params(struct inlining *in, struct var_map *map, const struct ir_function *callee,
		       const struct ir_call *call)
{
	uint32_t i, d;

	for (i = 0; i < callee->params.n; i++) {
		const struct ir_node *param = callee->params.at[i], *arg = call->args.at[i];

		if (!extents_fit(in->px, call, param, arg))
			return false;
		for (d = 0; d < param->type->shape.n && d < arg->type->shape.n; d++)
			if (ir_is_var(param->type->shape.at[d]))
				var_map_set(map, param->type->shape.at[d], arg->type->shape.at[d]);
	}
	for (i = 0; i < callee->params.n; i++) {
		const struct ir_type *type = callee->params.at[i]->type;
		struct ir_node *arg = call->args.at[i];

		if (type->kind == TY_SCALAR && arg->type->kind == TY_SCALAR &&
		    arg->type->dtype != type->dtype)
			arg = ir_cast(in->px, arg, type->dtype, arg->span);
		var_map_set(map, callee->params.at[i], arg);
	}
	return true;
}

/* The value of a call of a function that returns none: its only pipe (D3). */
static struct ir_node *written_pipe(const struct ir_function *callee, const struct ir_call *call)
{
	uint32_t i;

	for (i = 0; i < callee->params.n; i++)
		if (callee->directions[i] == DIR_PIPE_OUT)
			return call->args.at[i];
	return NULL;
}

static struct ir_node *result(struct px *px, const struct ir_function *callee,
			      const struct ir_call *call, const struct ir_list *values)
{
	struct ir_tuple *tuple;

	if (!values->n)
		return written_pipe(callee, call);
	if (values->n == 1)
		return values->at[0];
	tuple = ir_new(px, IR_MAKE_TUPLE, call->node.span, call->node.type);
	tuple->elements = *values;
	return &tuple->node;
}

static struct ir_function *without_calls(struct inlining *in, struct ir_function *f);

/* The body of the function that @stmt calls, if it does; @map gets what the call's value is. */
static struct ir_node *inline_call(void *data, struct var_map *map, struct ir_node *stmt)
{
	struct inlining *in = data;
	const struct ir_call *call = host_call(in->program, stmt);
	const struct ir_values *values;
	struct ir_list stmts, out = { 0 }, results = { 0 };
	struct var_map inner = { .px = in->px };
	struct ir_function *callee;
	uint32_t i;

	if (!call)
		return NULL;
	in->found = true;
	callee = without_calls(in, program_find(in->program, call->callee));
	call = IR_AS(ir_subst(map, (struct ir_node *)&call->node), call);
	in->opaque |= callee->func_type == FN_OPAQUE;
	if (in->px->n_errors || !map_params(in, &inner, callee, call))
		return ir_body(in->px, out, stmt->span);
	if (*in->n > MOST_STATEMENTS)
		diag_hint(in->px, diag_add(in->px, DIAG_COMPILE, call->node.span,
					   "The functions that are called become more than %d statements",
					   MOST_STATEMENTS),
			  "Call a function in a loop, or make it a kernel");
	stmts = ir_flat(in->px, callee->body);
	values = ir_last(callee->body, IR_RETURN);
	for (i = 0; i < stmts.n; i++) {
		if (stmts.at[i]->kind == IR_RETURN)
			continue;
		list_push(in->px, &out, ir_clone_stmt(&inner, stmts.at[i]));
		ir_walk(out.at[out.n - 1], rename_defs, in);
	}
	if (values)
		results = ir_subst_list(&inner, &values->values);
	if (stmt->kind == IR_ASSIGN)
		var_map_set(map, IR_AS(stmt, assign)->var, result(in->px, callee, call, &results));
	return ir_body(in->px, out, stmt->span);
}

/* ---- A function ---- */

static bool calls_host(void *data, struct ir_node *node)
{
	struct inlining *in = data;

	in->found |= node->kind >= IR_ASSIGN && host_call(in->program, node);
	return node->kind >= IR_ASSIGN && !in->found;
}

static struct ir_function *without_calls(struct inlining *outer, struct ir_function *f)
{
	struct ir_function *known = var_map_get(&outer->done, &f->node);
	struct inlining in = { .px = outer->px, .program = outer->program,
			       .names = { .px = outer->px }, .numbers = { .px = outer->px },
			       .n = outer->n };
	const struct ir_replace replace = { .stmt = inline_call, .data = &in };
	struct var_map map = { .px = outer->px };
	uint32_t i;

	if (known)
		return known;
	known = f;
	ir_walk(f->body, calls_host, &in);
	if (in.found) {
		in.done = outer->done;
		for (i = 0; i < f->params.n; i++)
			note_name(&in, f->params.at[i]);
		ir_walk(f->body, note_names, &in);
		known = ir_copy(in.px, &f->node);
		known->body = ir_clone_replaced(&map, f->body, &replace);
		if (in.opaque)
			known->func_type = FN_OPAQUE;
		outer->done = in.done;
	}
	var_map_set(&outer->done, &f->node, known);
	return known;
}

struct ir_program *outline_calls(struct px *px, struct ir_program *program)
{
	size_t n = 0;
	struct inlining in = { .px = px, .program = program, .done = { .px = px }, .n = &n };
	struct ir_list called = ir_called(px, program);
	struct ir_program *out = ir_copy(px, &program->node);
	uint32_t i;

	out->functions = (struct ir_list){ 0 };
	for (i = 0; i < program->functions.n; i++) {
		struct ir_function *f = IR_AS(program->functions.at[i], function);

		if (!is_host(f))
			list_push(px, &out->functions, &f->node);
		else if (!list_has(&called, &f->node))
			list_push(px, &out->functions, &without_calls(&in, f)->node);
	}
	return out;
}
