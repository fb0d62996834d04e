/* SPDX-License-Identifier: MIT */
/* Functions and programs: section 3.5. */
#include <errno.h>
#include <string.h>

#include "front.h"
#include "walk.h"

static void front_start(struct front *f, struct ir_function *func, const struct front_method *m)
{
	f->func = func;
	f->def = m->def;
	f->flags = m->flags;
	f->names = (struct var_map){ .px = f->px };
	f->roots = (struct var_map){ .px = f->px };
	f->assigned = (struct var_map){ .px = f->px };
	f->changing = (struct var_map){ .px = f->px };
	f->extents = (struct ir_list){ 0 };
	f->memrefs = (struct ir_list){ 0 };
	f->n_changes = 0;
	f->loop = NULL;
	f->yield = NULL;
	f->depth = 0;
	f->incore = 0;
	f->n_inlined = 0;
	f->returned = false;
	front_note_assigned(f, &m->def->body);
}

/* ---- Signatures ---- */

static const char example[] = "Add a type annotation like: %s: pl.Tensor[[64], pl.FP32]";

static int check_param(struct front *f, const struct py_node *arg, const struct annotation *a)
{
	bool kernel = f->func->func_type == FN_INCORE || f->func->func_type == FN_BLOCK_INCORE;

	if (a->type->kind == TY_TUPLE) {
		diag_add(f->px, DIAG_TYPE, arg->x->span, "Parameter type cannot be a tuple");
		return -EINVAL;
	}
	if (a->type->kind == TY_TILE) {
		diag_hint(f->px, diag_add(f->px, DIAG_TYPE, arg->x->span,
					  "Parameter '%s' of a function cannot be a Tile", arg->name),
			  "Pass a pl.Tensor and read it with pl.load()");
		return -EINVAL;
	}
	if (a->type->kind == TY_PIPE && (!kernel || a->direction == DIR_IN)) {
		diag_add(f->px, DIAG_TYPE, arg->x->span,
			 "Pipe parameter '%s' is possible in InCore functions only, as pl.PIPE_IN[...] or pl.PIPE_OUT[...]",
			 arg->name);
		return -EINVAL;
	}
	return 0;
}

/* The parameter, which @direction describes. NULL with a mistake. */
static struct ir_node *make_param(struct front *f, const struct py_node *arg, uint8_t *direction)
{
	struct annotation a;
	struct ir_node *var;

	if (!arg->x) {
		diag_hint(f->px, diag_add(f->px, DIAG_TYPE, arg->span,
					  "Parameter '%s' missing type annotation", arg->name),
			  example, arg->name);
		return NULL;
	}
	if (front_annotation(f, arg->x, true, &a) || check_param(f, arg, &a))
		return NULL;
	var = ir_var(f->px, arg->name, a.type, arg->span);
	*direction = a.direction;
	bind_variable(f, bind_find(f, arg->name), var, 0);
	bind_set(f, arg->name, var, arg->span);
	return var;
}

/* pl.Scalar[...] or the name of an element type. */
static bool says_scalar(struct front *f, const struct py_node *arg)
{
	const struct py_node *type = arg->x;

	return type && (type->kind == PY_ATTRIBUTE ||
			(type->kind == PY_SUBSCRIPT && is_pl(f, type->x, "Scalar")));
}

/* Parameters from number @first on; scalars first, as the shapes of others may name them. */
static void add_params(struct front *f, const struct py_list *args, uint32_t first)
{
	struct ir_node **vars = px_alloc(f->px, args->n + 1, sizeof(*vars));
	uint8_t *directions = px_alloc(f->px, args->n + 1, 1);
	uint32_t i;
	int scalars;

	for (scalars = 1; scalars >= 0; scalars--) {
		for (i = first; i < args->n; i++) {
			if (says_scalar(f, args->at[i]) != scalars)
				continue;
			vars[i] = make_param(f, args->at[i], &directions[i]);
			if (!vars[i])
				bind_break(f, args->at[i]->name, args->at[i]->span);
		}
	}
	for (i = first; i < args->n; i++) {
		if (!vars[i])
			continue;
		f->func->directions[f->func->params.n] = directions[i];
		list_push(f->px, &f->func->params, vars[i]);
	}
}

static void check_cluster(struct front *f)
{
	const struct ir_node *cluster = NULL, *pipe = NULL;
	uint32_t i;

	for (i = 0; i < f->func->params.n; i++) {
		const struct ir_node *p = f->func->params.at[i];

		if (p->type->kind == TY_PIPE)
			pipe = p;
		if (p->type->kind == TY_CLUSTER && cluster)
			diag_add(f->px, DIAG_TYPE, p->span,
				 "Function '%s' has more than one pl.Cluster parameter",
				 f->func->name);
		if (p->type->kind == TY_CLUSTER ||
		    (p->type->dtype == DT_INT32 && p->type->kind == TY_SCALAR) ||
		    (p->type->dtype == DT_INT32 && p->type->kind == TY_TENSOR &&
		     p->type->shape.n == 1))
			cluster = p;
	}
	if (pipe && !cluster)
		diag_hint(f->px, diag_add(f->px, DIAG_TYPE, pipe->span,
					  "Function '%s' has pipe parameters but no pl.Cluster parameter",
					  f->func->name),
			  "Add a parameter cid: pl.Cluster");
}

static void set_returns(struct front *f, const struct ir_type *type)
{
	struct ir_function *func = f->func;

	if (type->kind == TY_TUPLE) {
		func->return_types = type->items;
		func->n_returns = type->n_items;
		return;
	}
	func->return_types = px_alloc(f->px, 1, sizeof(const struct ir_type *));
	func->return_types[0] = type;
	func->n_returns = 1;
}

void front_signature(struct front *f, const struct py_node *def)
{
	struct annotation a;
	uint32_t i = 0;

	f->func->directions = px_alloc(f->px, def->args.n + 1, 1);
	if (def->y)
		diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, def->y->span,
					  "Unsupported parameter of function '%s'", def->name),
			  "Parameters are plain and without defaults: name: type");
	if (f->program && def->args.n && !strcmp(def->args.at[0]->name, "self"))
		i = 1;
	add_params(f, &def->args, i);
	check_cluster(f);
	if (def->x && def->x->kind != PY_NONE && !front_annotation(f, def->x, false, &a))
		set_returns(f, a.type);
}

/* ---- Returns ---- */

static int return_value(struct front *f, const struct py_node *node, struct ir_node **value,
			const struct ir_type *want)
{
	if ((*value)->type->kind == TY_SCALAR && want->kind == TY_SCALAR) {
		*value = front_convert(f, *value, want, node->span);
		return *value ? 0 : -EINVAL;
	}
	if (front_accepts((*value)->type, want))
		return 0;
	diag_hint(f->px,
		  diag_add(f->px, DIAG_TYPE, node->span, "Function '%s' returns %s, got %s",
			   f->func->name, type_text(f->px, want), type_text(f->px, (*value)->type)),
		  "The return type is declared at line %u", f->def->span.line);
	return -EINVAL;
}

static int return_values(struct front *f, const struct py_node *node, struct ir_list *values)
{
	struct py_list one = { (struct py_node **)&node->x, 1 };
	const struct py_list *items = &one;
	struct ir_node *value;
	uint32_t i;

	if (node->x->kind == PY_TUPLE)
		items = &node->x->args;
	for (i = 0; i < items->n; i++) {
		value = front_value(f, items->at[i]);
		if (!value)
			return -EINVAL;
		list_push(f->px, values, value);
	}
	return 0;
}

static int check_returns(struct front *f, const struct py_node *node, struct ir_list *values)
{
	struct ir_function *func = f->func;
	const struct ir_type **types;
	uint32_t i;

	if (f->def->x && f->def->x->kind != PY_NONE) {
		if (!func->n_returns)	/* the annotation is a mistake already */
			return -EINVAL;
		if (values->n != func->n_returns) {
			diag_add(f->px, DIAG_TYPE, node->span,
				 "Function '%s' returns %u value(s), got %u", func->name,
				 func->n_returns, values->n);
			return -EINVAL;
		}
		for (i = 0; i < values->n; i++)
			if (return_value(f, node, &values->at[i], func->return_types[i]))
				return -EINVAL;
		return 0;
	}
	types = px_alloc(f->px, values->n + 1, sizeof(const struct ir_type *));
	for (i = 0; i < values->n; i++)
		types[i] = values->at[i]->type;
	func->return_types = types;
	func->n_returns = values->n;
	return 0;
}

int front_return(struct front *f, const struct py_node *node)
{
	struct ir_list values = { 0 };

	if (f->depth) {
		diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, node->span,
					  "Unsupported return inside a loop, branch or region"),
			  "Assign a variable there and return it at the end of the function");
		return -EINVAL;
	}
	f->returned = true;
	if (f->inline_depth) {
		if (node->x)
			f->inline_value = front_value(f, node->x);
		return 0;
	}
	if ((node->x && return_values(f, node, &values)) || check_returns(f, node, &values))
		return -EINVAL;
	front_emit(f, ir_values(f->px, IR_RETURN, values, node->span));
	return 0;
}

/* ---- Bodies ---- */

static void front_function_body(struct front *f, const struct py_node *def)
{
	struct ir_list stmts = { 0 };
	unsigned int errors = f->px->n_errors;

	f->stmts = &stmts;
	f->n_hidden = front_hidden_start(f, def);
	front_body(f, &def->body);
	if (!f->returned && f->func->n_returns && errors == f->px->n_errors)
		diag_add(f->px, DIAG_TYPE, def->span,
			 "Function '%s' has a return type but no return statement", def->name);
	f->func->body = ir_body(f->px, stmts, def->span);
}

static struct ir_function *function_new(struct px *px, const struct front_method *m)
{
	struct ir_function *func = ir_new(px, IR_FUNCTION, m->def->span, NULL);

	func->name = px_intern(px, m->def->name);
	func->func_type = m->func_type;
	return func;
}

struct ir_function *front_function(struct px *px, const struct front_method *method,
				   struct py_scope *scope)
{
	struct front f = { .px = px, .scope = scope };
	struct ir_function *func = function_new(px, method);

	front_start(&f, func, method);
	front_signature(&f, method->def);
	front_function_body(&f, method->def);
	return px->n_errors ? NULL : func;
}

/* ---- Programs ---- */

static void check_recursion(struct px *px, const struct ir_program *program)
{
	const struct ir_call *call = ir_recursion(px, program);

	if (call)
		diag_hint(px, diag_add(px, DIAG_UNSUPPORTED, call->node.span,
				       "Recursion: function '%s' calls itself", call->callee),
			  "Use a loop");
}

/* All signatures first, so that a call of a later function has a type. */
struct ir_program *front_program(struct px *px, const struct py_node *def,
				 const struct front_method *methods, uint32_t n,
				 struct py_scope *scope)
{
	struct ir_program *program = ir_new(px, IR_PROGRAM, def->span, NULL);
	struct front f = { .px = px, .scope = scope, .program = program };
	struct front *state = px_alloc(px, n + 1, sizeof(*state));
	struct ir_list dynamics;
	uint32_t i;

	program->name = px_intern(px, def->name);
	if (!n)
		diag_add(px, DIAG_SYNTAX, def->span,
			 "Class '%s' contains no @pl.function decorated methods", def->name);
	for (i = 0; i < n; i++) {
		front_start(&f, function_new(px, &methods[i]), &methods[i]);
		front_signature(&f, methods[i].def);
		if (program_add(px, program, f.func))
			diag_add(px, DIAG_SYNTAX, methods[i].def->span,
				 "Duplicate function name \"%s\"", f.func->name);
		state[i] = f;
	}
	for (i = 0; i < n; i++) {
		dynamics = f.dynamics;
		f = state[i];
		f.dynamics = dynamics;
		front_function_body(&f, methods[i].def);
	}
	if (!px->n_errors)
		check_recursion(px, program);
	return px->n_errors ? NULL : program;
}
