/* SPDX-License-Identifier: MIT */
/* Calls that are not operators: functions of the program, free and inline functions, pl.const. */
#include <errno.h>
#include <string.h>

#include "front.h"

#define MAX_INLINE_DEPTH	16

static void dim_accept(const struct ir_list *have, const struct ir_list *want, bool *good)
{
	uint32_t i;

	*good &= have->n == want->n;
	for (i = 0; *good && i < have->n; i++)
		if (have->at[i]->kind == IR_CONST_INT && want->at[i]->kind == IR_CONST_INT)
			*good = dim_equal(have->at[i], want->at[i]);
}

bool front_accepts(const struct ir_type *have, const struct ir_type *want)
{
	bool good = have->kind == want->kind && have->dtype == want->dtype;

	if (have->kind == TY_CLUSTER && want->kind != TY_CLUSTER)
		return want->dtype == DT_INT32 && want->shape.n <= 1;
	if (have->kind == TY_CLUSTER && want->kind == TY_CLUSTER)
		return true;
	dim_accept(&have->shape, &want->shape, &good);
	return good;
}

/* ---- Functions of the program ---- */

static const char *function_list(struct front *f)
{
	struct text t = { .px = f->px };
	uint32_t i;

	for (i = 0; i < f->program->functions.n; i++)
		text_printf(&t, "%s%s", i ? ", " : "",
			    IR_AS(f->program->functions.at[i], function)->name);
	return text_str(&t);
}

static const char *param_list(struct front *f, const struct ir_function *callee, uint32_t n)
{
	struct text t = { .px = f->px };
	uint32_t i;

	for (i = 0; i < n; i++)
		text_printf(&t, "%s%s: %s", i ? ", " : "", IR_AS(callee->params.at[i], var)->name,
			    type_text(f->px, callee->params.at[i]->type));
	return text_str(&t);
}

/* Block number and index are supplied by the call's blockdim and by the machine. */
static uint32_t passed_params(const struct ir_function *callee)
{
	uint32_t n = callee->params.n;

	while (callee->func_type == FN_BLOCK_INCORE && n &&
	       (!strcmp(IR_AS(callee->params.at[n - 1], var)->name, "block_id") ||
		!strcmp(IR_AS(callee->params.at[n - 1], var)->name, "blockdim")))
		n--;
	return n;
}

static struct ir_node *call_argument(struct front *f, const struct ir_function *callee, uint32_t i,
				     struct ir_node *arg, struct span at)
{
	const struct ir_node *param = callee->params.at[i];
	uint8_t direction = callee->directions[i];

	if (arg->type->kind == TY_SCALAR && param->type->kind == TY_SCALAR)
		return front_convert(f, arg, param->type, at);
	if (!front_accepts(arg->type, param->type)) {
		diag_hint(f->px,
			  diag_add(f->px, DIAG_TYPE, at,
				   "Argument '%s' of function '%s' must be %s, got %s",
				   IR_AS(param, var)->name, callee->name,
				   type_text(f->px, param->type), type_text(f->px, arg->type)),
			  "The parameter is declared at line %u", param->span.line);
		return NULL;
	}
	if ((direction == DIR_OUT || direction == DIR_INOUT) && !ir_is_var(arg)) {
		diag_hint(f->px, diag_add(f->px, DIAG_TYPE, at,
			 "Argument '%s' of function '%s' is written, so it must be a variable",
			 IR_AS(param, var)->name, callee->name),
			  "Assign it to a name first: %s = ...", IR_AS(param, var)->name);
		return NULL;
	}
	if ((direction == DIR_OUT || direction == DIR_INOUT) && front_read_only(f, arg)) {
		const struct ir_node *own = front_read_only(f, arg);

		front_read_only_hint(f, diag_add(f->px, DIAG_TYPE, at,
						 "Parameter '%s' is read-only, but function '%s' writes to it",
						 IR_AS(own, var)->name, callee->name), own);
		return NULL;
	}
	return arg;
}

/* What a call gives: D3 makes the only pipe that is written its value. */
static const struct ir_type *call_type(struct front *f, const struct ir_function *callee,
				       struct var_map *map)
{
	const struct ir_type **types, *pipe = NULL;
	uint32_t i, n = 0;

	for (i = 0; i < callee->params.n; i++) {
		if (callee->directions[i] != DIR_PIPE_OUT)
			continue;
		pipe = callee->params.at[i]->type;
		n++;
	}
	if (!callee->n_returns && n == 1)
		return pipe;
	types = px_alloc(f->px, callee->n_returns + 1, sizeof(const struct ir_type *));
	for (i = 0; i < callee->n_returns; i++)
		types[i] = ir_subst_type(map, callee->return_types[i]);
	return callee->n_returns == 1 ? types[0] : type_tuple(f->px, types, callee->n_returns);
}

/* The callee's symbolic extents and scalars in terms of the caller's. */
static void map_param(struct var_map *map, const struct ir_node *param, struct ir_node *arg)
{
	uint32_t i;

	if (param->type->kind == TY_SCALAR)
		var_map_set(map, param, arg);
	for (i = 0; i < param->type->shape.n && i < arg->type->shape.n; i++)
		if (ir_is_var(param->type->shape.at[i]))
			var_map_set(map, param->type->shape.at[i], arg->type->shape.at[i]);
}

/* Whether the scalar @param is an extent of what @callee returns. */
static bool in_results(const struct ir_function *callee, const struct ir_node *param)
{
	uint32_t i;

	for (i = 0; i < callee->n_returns && param->type->kind == TY_SCALAR; i++)
		if (extents_name(&callee->return_types[i]->shape, param))
			return true;
	return false;
}

static int block_keyword(struct front *f, const struct py_node *node,
			 const struct ir_function *callee, struct ir_call *call)
{
	const struct py_node *kw = node->keywords.n ? node->keywords.at[0] : NULL;
	bool block = callee->func_type == FN_BLOCK_INCORE;

	if (node->keywords.n > 1 || (kw && !(block && !strcmp(kw->name, "blockdim")))) {
		diag_add(f->px, DIAG_TYPE, kw->span,
			 "Function '%s' takes no keyword argument '%s'", callee->name, kw->name);
		return -EINVAL;
	}
	if (!block)
		return 0;
	if (!kw) {
		diag_hint(f->px, diag_add(f->px, DIAG_TYPE, node->span,
					  "Function '%s' is BlockInCore: the call needs blockdim",
					  callee->name),
			  "self.%s(..., blockdim=8)", callee->name);
		return -EINVAL;
	}
	call->blockdim = front_value(f, kw->x);
	if (call->blockdim && call->blockdim->type->kind == TY_SCALAR &&
	    dtype_is_int(call->blockdim->type->dtype))
		return 0;
	if (call->blockdim)
		diag_add(f->px, DIAG_TYPE, kw->span, "blockdim must be an integer, got %s",
			 type_text(f->px, call->blockdim->type));
	return -EINVAL;
}

static struct ir_node *call_function(struct front *f, const struct py_node *node,
				     const struct ir_function *callee)
{
	struct ir_call *call = ir_new(f->px, IR_CALL, node->span, NULL);
	uint32_t n = passed_params(callee), i;
	struct var_map map = { .px = f->px };
	bool good = true;

	call->callee = callee->name;
	if (front_in_kernel(f)) {
		diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, node->span,
					  "Function '%s' cannot be called from an InCore function",
					  callee->name),
			  "Use a @pl.inline function for code shared by kernels");
		return NULL;
	}
	if (node->args.n != n) {
		diag_hint(f->px, diag_add(f->px, DIAG_TYPE, node->span,
					  "Function '%s' expects %u argument(s), got %u",
					  callee->name, n, node->args.n),
			  "Parameters: %s", param_list(f, callee, n));
		return NULL;
	}
	for (i = 0; i < n; i++) {
		struct ir_node *arg = front_value(f, node->args.at[i]);

		arg = arg ? call_argument(f, callee, i, arg, node->args.at[i]->span) : NULL;
		good &= arg != NULL;
		if (!arg)
			continue;
		if (in_results(callee, callee->params.at[i]))
			arg = front_extent(f, arg);
		map_param(&map, callee->params.at[i], arg);
		list_push(f->px, &call->args, arg);
	}
	if (block_keyword(f, node, callee, call) || !good)
		return NULL;
	call->node.type = call_type(f, callee, &map);
	return &call->node;
}

static struct ir_node *self_call(struct front *f, const struct py_node *node)
{
	const char *name = node->x->name;
	const struct ir_function *callee = f->program ? program_find(f->program, name) : NULL;

	if (callee)
		return call_function(f, node, callee);
	if (!f->program)
		diag_add(f->px, DIAG_UNDEFINED, node->x->span,
			 "'self.%s' is used outside of a @pl.program class", name);
	else
		diag_hint(f->px, diag_add(f->px, DIAG_UNDEFINED, node->x->span,
					  "Function '%s' not defined in program", name),
			  "Available functions: %s", function_list(f));
	return NULL;
}

static struct ir_node *external_call(struct front *f, const struct py_node *node,
				     struct ir_function *function)
{
	struct ir_function *known;

	if (!f->program) {
		diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, node->span,
					  "A free function cannot call function '%s'",
					  function->name),
			  "Put both into a @pl.program class, or make it @pl.inline");
		return NULL;
	}
	known = program_find(f->program, function->name);
	if (!known) {
		program_add(f->px, f->program, function);
		return call_function(f, node, function);
	}
	if (known == function)
		return call_function(f, node, function);
	diag_add(f->px, DIAG_SYNTAX, node->span,
		 known->node.span.file == f->program->node.span.file &&
		 known->node.span.line >= f->program->node.span.line &&
		 known->node.span.line <= f->program->node.span.end_line ?
		 "External function '%s' conflicts with program function '%s'" :
		 "Conflicting external functions with name '%s'%.0s", function->name,
		 function->name);
	return NULL;
}

/* ---- Inline functions ---- */

static int inline_arguments(struct front *f, const struct py_node *call,
			    const struct py_node *def, const char *prefix)
{
	struct ir_node **args = px_alloc(f->px, def->args.n + 1, sizeof(*args));
	const char *outer = f->inline_prefix;
	uint32_t i;

	if (call->args.n != def->args.n || call->keywords.n) {
		diag_add(f->px, DIAG_TYPE, call->span,
			 "Inline function '%s' expects %u argument(s), got %u", def->name,
			 def->args.n, call->args.n + call->keywords.n);
		return -EINVAL;
	}
	for (i = 0; i < def->args.n; i++) {
		args[i] = front_value(f, call->args.at[i]);
		if (!args[i])
			return -EINVAL;
	}
	f->inline_prefix = prefix;
	for (i = 0; i < def->args.n; i++)
		bind_set(f, def->args.at[i]->name, args[i], call->span);
	f->inline_prefix = outer;
	return 0;
}

struct ir_node *front_inline(struct front *f, const struct py_node *call,
			     const struct py_value *value)
{
	const char *prefix = px_printf(f->px, "%s_%u_", value->def->name, f->n_inlined++);
	struct front outer = *f;
	unsigned int errors = f->px->n_errors;

	if (f->inline_depth >= MAX_INLINE_DEPTH) {
		diag_add(f->px, DIAG_UNSUPPORTED, call->span,
			 "Inline function '%s' calls itself", value->def->name);
		return NULL;
	}
	if (inline_arguments(f, call, value->def, prefix))
		return NULL;
	f->inline_prefix = prefix;
	f->inline_scope = value->scope;
	f->inline_value = NULL;
	f->inline_depth++;
	f->depth = 0;
	f->returned = false;
	front_note_assigned(f, &value->def->body);
	front_body(f, &value->def->body);
	f->inline_prefix = outer.inline_prefix;
	f->inline_scope = outer.inline_scope;
	f->inline_depth = outer.inline_depth;
	f->depth = outer.depth;
	f->returned = outer.returned;
	if (!f->inline_value && f->px->n_errors == errors) {
		struct ir_tuple *nothing = ir_new(f->px, IR_MAKE_TUPLE, call->span,
						  type_tuple(f->px, NULL, 0));

		return &nothing->node;
	}
	return f->px->n_errors == errors ? f->inline_value : NULL;
}

/* ---- Other names ---- */

static struct ir_node *typed_const(struct front *f, const struct py_node *node)
{
	const struct py_node *v = node->args.n == 2 ? node->args.at[0] : NULL;
	bool minus = v && v->kind == PY_UNARY && !strcmp(v->name, "USub");
	unsigned int dtype;

	if (minus)
		v = v->x;
	if (!v || node->keywords.n ||
	    (v->kind != PY_INT && v->kind != PY_FLOAT && v->kind != PY_BOOL)) {
		diag_hint(f->px, diag_add(f->px, DIAG_SYNTAX, node->span,
					  "pl.const() takes a literal number and a dtype"),
			  "pl.const(42, pl.INT32)");
		return NULL;
	}
	if (front_scalar_dtype(f, node->args.at[1], &dtype))
		return NULL;
	if (dtype == DT_BOOL && v->kind == PY_BOOL)
		return ir_bool(f->px, v->i, node->span);
	if (dtype_is_float(dtype))
		return ir_float(f->px,
				(minus ? -1 : 1) * (v->kind == PY_FLOAT ? v->f : (double)v->i),
				dtype, node->span);
	if (v->kind == PY_INT && !v->huge && dtype_holds(dtype, minus ? -v->i : v->i))
		return ir_int(f->px, minus ? -v->i : v->i, dtype, node->span);
	diag_add(f->px, DIAG_TYPE, node->span, "The value of pl.const() does not fit into %s",
		 dtype_name(dtype));
	return NULL;
}

static struct ir_node *unsupported_call(struct front *f, const struct py_node *node)
{
	struct diag *diag = diag_add(f->px, DIAG_UNSUPPORTED, node->span,
				     "Unsupported function call: %s",
				     node->x->name ? node->x->name : "expression");

	if (node->x->kind == PY_NAME && !strcmp(node->x->name, "range"))
		diag_hint(f->px, diag, "Use pl.range()");
	else if (node->x->kind == PY_NAME)
		diag_hint(f->px, diag,
			  "Operators are called as pl.name(), functions of the program as self.name()");
	else if (node->x->name && (op_find_pl("block", node->x->name) ||
				   op_find_pl("tensor", node->x->name)))
		diag_hint(f->px, diag, "Values have no methods; use pl.%s()", node->x->name);
	return NULL;
}

static struct ir_node *builtin_call(struct front *f, const struct py_node *node)
{
	struct ir_node *left, *right;
	struct ir_unary *abs;
	uint32_t i;
	bool is_min = !strcmp(node->x->name, "min");

	if (!strcmp(node->x->name, "abs") && node->args.n == 1) {
		left = front_value(f, node->args.at[0]);
		if (!left || left->type->kind == TY_SCALAR) {
			abs = left ? ir_new(f->px, IR_ABS, node->span, left->type) : NULL;
			if (abs)
				abs->operand = left;
			return abs ? &abs->node : NULL;
		}
		if (front_is_data(left))
			return front_data_abs(f, left, node->span);
		return unsupported_call(f, node);
	}
	if ((!is_min && strcmp(node->x->name, "max")) || node->args.n < 2)
		return unsupported_call(f, node);
	left = front_value(f, node->args.at[0]);
	for (i = 1; left && i < node->args.n; i++) {
		right = front_value(f, node->args.at[i]);
		left = right ? front_arith(f, is_min ? IR_MIN : IR_MAX, left, right, node->span) :
		       NULL;
	}
	return left;
}

static struct ir_node *named_call(struct front *f, const struct py_node *node)
{
	struct py_value value = { 0 };
	const char *why = NULL;
	int rc = f->scope->eval(f->scope, f->px, node->x, &value, &why);

	if (rc && f->inline_scope)
		rc = f->inline_scope->eval(f->inline_scope, f->px, node->x, &value, &why);
	if (!rc && value.kind == VAL_INLINE)
		return front_inline(f, node, &value);
	if (!rc && value.kind == VAL_FUNCTION)
		return external_call(f, node, value.function);
	if (node->x->kind == PY_NAME)
		return builtin_call(f, node);
	return unsupported_call(f, node);
}

struct ir_node *front_call(struct front *f, const struct py_node *node)
{
	const struct py_node *callee = node->x;
	const char *name = pl_name(f, callee), *space;

	if (name && !strcmp(name, "const"))
		return typed_const(f, node);
	if (name && (!strcmp(name, "yield_") || !strcmp(name, "cond") || !strcmp(name, "range"))) {
		diag_add(f->px, DIAG_SYNTAX, node->span, "pl.%s() cannot be used here", name);
		return NULL;
	}
	if (name)
		return front_pl_call(f, node, NULL, name);
	if (callee->kind == PY_ATTRIBUTE) {
		space = pl_name(f, callee->x);
		if (space)
			return front_pl_call(f, node, space, callee->name);
		if (callee->x->kind == PY_NAME && !strcmp(callee->x->name, "self"))
			return self_call(f, node);
	}
	return named_call(f, node);
}
