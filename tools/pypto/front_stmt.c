/* SPDX-License-Identifier: MIT */
/* Statements without inner bodies: section 3.6. */
#include <errno.h>
#include <string.h>

#include "front.h"

void front_emit(struct front *f, struct ir_node *stmt)
{
	list_push(f->px, f->stmts, stmt);
}

/* ---- Assignment ---- */

#define TUPLE_TMP	"_tuple_tmp"	/* a hidden name, not the author's */

/* No value of it is needed behind the statement that makes it, nor in the next trip of a loop. */
static bool is_tuple_tmp(const char *name)
{
	size_t n = strlen(name), tmp = strlen(TUPLE_TMP);

	return n >= tmp && !strcmp(name + n - tmp, TUPLE_TMP);
}

static struct ir_node *variable_for(struct front *f, struct binding *b, const struct ir_type *type,
				    struct span span)
{
	struct ir_node *var;
	uint32_t i;

	if (is_tuple_tmp(b->name))
		return ir_var(f->px, b->name, type, span);
	if (b->state == BIND_OK && list_has(&b->variables, b->node) &&
	    type_identical(b->node->type, type))
		return b->node;
	for (i = 0; i < b->variables.n; i++)
		if (type_identical(b->variables.at[i]->type, type))
			return b->variables.at[i];
	var = ir_var(f->px, b->name, type, span);
	bind_variable(f, b, var, 1);
	return var;
}

static bool is_pipe_pass(const struct binding *b, const struct ir_node *value)
{
	return value->type->kind == TY_PIPE && b->state == BIND_OK &&
	       b->node->type->kind == TY_PIPE;
}

static struct ir_node *alloc_variable(struct front *f, const struct ir_call *call, struct span span)
{
	return &front_memref(f, call_attr(call, "space"), call_attr(call, "addr"),
			     (uint64_t)call_attr(call, "size"), (uint64_t)call_attr(call, "id"),
			     span)->node;
}

/* What the shapes of parameters say holds in the whole function. */
static bool is_param_extent(struct front *f, const struct ir_node *var, struct span span)
{
	const struct ir_list *params = &f->func->params;
	uint32_t i;

	for (i = 0; i < params->n && list_has(params, var); i++) {
		if (!extents_name(&params->at[i]->type->shape, var))
			continue;
		diag_hint(f->px, diag_add(f->px, DIAG_SYNTAX, span,
					  "Parameter '%s' is an extent of parameter '%s' and keeps its value",
					  IR_AS(var, var)->name, IR_AS(params->at[i], var)->name),
			  "Use another name for the new value");
		return true;
	}
	return false;
}

struct ir_node *front_assign_name(struct front *f, const struct py_node *target,
				  struct ir_node *value, const struct ir_type *annotation)
{
	struct binding *b = bind_find(f, target->name);
	const struct ir_type *type = value->type;
	struct ir_node *var, *root;
	struct diag *diag;

	if ((f->flags & PARSE_STRICT_SSA) && b->state == BIND_OK && !is_pipe_pass(b, value) &&
	    strcmp(target->name, TUPLE_TMP)) {
		diag = diag_add(f->px, DIAG_SSA, target->span, "Variable '%s' is already defined",
				target->name);
		diag->previous = b->span;
		diag_hint(f->px, diag, "Use another name, or leave out strict_ssa");
		return NULL;
	}
	if (annotation && annotation->memref)
		type = type_with_memref(f->px, type, annotation->memref);
	if (value->kind == IR_CALL && IR_AS(value, call)->op &&
	    IR_AS(value, call)->op->rule == rule_alloc)
		var = alloc_variable(f, IR_AS(value, call), target->span);
	else
		var = variable_for(f, b, type, target->span);
	if (is_param_extent(f, var, target->span))
		return NULL;
	root = bind_root(f, value);
	bind_set(f, target->name, var, target->span);
	front_extents_assigned(f, var);
	b->root = root;
	return var;
}

/* Marks what a statement would have assigned, so that its uses do not make more mistakes. */
static void break_targets(struct front *f, const struct py_node *target)
{
	uint32_t i;

	if (target->kind == PY_NAME)
		bind_break(f, target->name, target->span);
	for (i = 0; target->kind == PY_TUPLE && i < target->args.n; i++)
		break_targets(f, target->args.at[i]);
}

static int assign_tuple(struct front *f, const struct py_node *node, struct ir_node *value)
{
	const struct py_list *targets = &node->x->args;
	struct py_node name = { .kind = PY_NAME, .name = TUPLE_TMP, .span = node->span };
	struct ir_node *whole;
	uint32_t i;

	if (value->type->kind != TY_TUPLE || value->type->n_items != targets->n) {
		diag_add(f->px, DIAG_SYNTAX, node->span,
			 "Cannot unpack %s into %u names", type_text(f->px, value->type),
			 targets->n);
		return -EINVAL;
	}
	whole = front_assign_name(f, &name, value, NULL);
	if (!whole)
		return -EINVAL;
	front_emit(f, ir_assign(f->px, whole, value, node->span));
	for (i = 0; i < targets->n; i++) {
		struct ir_item *item = ir_new(f->px, IR_GET_ITEM, node->span,
					      value->type->items[i]);
		struct ir_node *var;

		item->tuple = whole;
		item->index = i;
		var = front_assign_name(f, targets->at[i], &item->node, NULL);
		if (!var)
			return -EINVAL;
		front_emit(f, ir_assign(f->px, var, &item->node, targets->at[i]->span));
	}
	return 0;
}

static bool names_only(const struct py_node *target)
{
	uint32_t i;

	for (i = 0; i < target->args.n; i++)
		if (target->args.at[i]->kind != PY_NAME)
			return false;
	return target->kind == PY_NAME || (target->kind == PY_TUPLE && target->args.n);
}

static bool is_yield(const struct front *f, const struct py_node *node)
{
	return node && node->kind == PY_CALL && is_pl(f, node->x, "yield_");
}

/* Each result of a loop or branch is a variable of its own. */
static int repeated_target(struct front *f, const struct py_node *targets)
{
	uint32_t i, j;

	for (i = 1; i < targets->args.n; i++) {
		const char *name = targets->args.at[i]->name;

		for (j = 0; j < i && strcmp(targets->args.at[j]->name, name); j++)
			;
		if (j == i)
			continue;
		diag_hint(f->px, diag_add(f->px, DIAG_SYNTAX, targets->args.at[i]->span,
					  "Name '%s' stands twice left of pl.yield_()", name),
			  "Each result needs a name of its own");
		return -EINVAL;
	}
	return 0;
}

static int take_yield(struct front *f, const struct py_node *stmt, const struct py_node *call,
		      const struct py_node *targets, const struct ir_type *annotation)
{
	struct yield_site *site = f->yield;
	struct ir_node *value;
	uint32_t i;

	if (!site || site->stmt) {
		diag_add(f->px, DIAG_SYNTAX, stmt->span,
			 "pl.yield_() must be the last statement of a loop or branch");
		return -EINVAL;
	}
	if (call->keywords.n) {
		diag_add(f->px, DIAG_SYNTAX, stmt->span, "pl.yield_() takes no keyword arguments");
		return -EINVAL;
	}
	if (targets && targets->kind == PY_TUPLE && repeated_target(f, targets))
		return -EINVAL;
	site->stmt = stmt;
	site->targets = targets;
	site->annotation = annotation;
	for (i = 0; i < call->args.n; i++) {
		value = front_value(f, call->args.at[i]);
		if (!value)
			return -EINVAL;
		list_push(f->px, &site->values, value);
	}
	if (targets && (targets->kind == PY_TUPLE ? targets->args.n : 1) != call->args.n) {
		diag_add(f->px, DIAG_SYNTAX, stmt->span, "Mismatch: %u names but %u yielded values",
			 targets->kind == PY_TUPLE ? targets->args.n : 1, call->args.n);
		return -EINVAL;
	}
	return 0;
}

static int assign_value(struct front *f, const struct py_node *node,
			const struct ir_type *annotation)
{
	struct ir_node *value = front_value(f, node->y), *var;

	if (!value)
		return -EINVAL;
	if (annotation && annotation->kind == TY_SCALAR && ir_is_const(value) &&
	    value->type->dtype != annotation->dtype) {
		value = front_convert(f, value, annotation, node->y->span);
		if (!value)
			return -EINVAL;
	}
	if (node->x->kind == PY_TUPLE)
		return assign_tuple(f, node, value);
	if (value->kind == IR_MAKE_TUPLE && !IR_AS(value, tuple)->elements.n) {
		diag_add(f->px, DIAG_TYPE, node->y->span, "The right side has no return value");
		return -EINVAL;
	}
	var = front_assign_name(f, node->x, value, annotation);
	if (!var)
		return -EINVAL;
	front_emit(f, ir_assign(f->px, var, value, node->span));
	return 0;
}

static int assign(struct front *f, const struct py_node *node)
{
	struct annotation annotation = { 0 };

	if (!names_only(node->x) || !node->y) {
		diag_hint(f->px, diag_add(f->px, DIAG_SYNTAX, node->x->span,
					  "Assignment target must be a simple name"),
			  "Elements are written with pl.store() or pl.setval()");
		return -EINVAL;
	}
	if (node->z && front_annotation(f, node->z, false, &annotation)) {
		break_targets(f, node->x);
		return -EINVAL;
	}
	if (is_yield(f, node->y))
		return take_yield(f, node, node->y, node->x, annotation.type);
	if (!assign_value(f, node, annotation.type))
		return 0;
	break_targets(f, node->x);
	return -EINVAL;
}

/* ---- The rest ---- */

static int expression(struct front *f, const struct py_node *node)
{
	struct ir_node *value;
	struct ir_eval *eval;

	if (is_yield(f, node->x))
		return take_yield(f, node, node->x, NULL, NULL);
	if (node->x->kind == PY_STR)
		return 0;
	value = front_expr(f, node->x);
	if (!value)
		return -EINVAL;
	if (value->kind == IR_MAKE_TUPLE && !IR_AS(value, tuple)->elements.n)
		return 0;	/* an inline function without a value */
	eval = ir_new(f->px, IR_EVAL, node->span, NULL);
	eval->expr = value;
	front_emit(f, &eval->node);
	return 0;
}

static int with(struct front *f, const struct py_node *node)
{
	const struct py_node *item = node->args.at[0];
	struct ir_scope *scope;

	if (node->args.n != 1) {
		diag_add(f->px, DIAG_UNSUPPORTED, node->span,
			 "Only single context manager supported in with statement");
		return -EINVAL;
	}
	if (item->x->kind != PY_CALL || !is_pl(f, item->x->x, "incore") || item->y) {
		diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, item->x->span,
					  "Unsupported context manager in with statement"),
			  "Use 'with pl.incore():'");
		return -EINVAL;
	}
	if (front_in_kernel(f)) {
		diag_add(f->px, DIAG_UNSUPPORTED, item->x->span,
			 "pl.incore() cannot be used inside an InCore function or region");
		return -EINVAL;
	}
	scope = ir_new(f->px, IR_SCOPE, node->span, NULL);
	f->incore++;
	scope->body = front_block(f, &node->body, node->span, NULL);
	f->incore--;
	front_emit(f, &scope->node);
	return 0;
}

static int unsupported(struct front *f, const struct py_node *node)
{
	static const char *const hints[][2] = {
		{ "Try", "Kernels have no exceptions; check in the Python code around the function" },
		{ "FunctionDef", "Write a method of the program, or a @pl.inline function outside" },
		{ "Import", "Import outside of the function; names are found there" },
		{ "ImportFrom", "Import outside of the function; names are found there" },
		{ "Break", "Put the condition into the loop's bounds, or use pl.while_()" },
		{ "Continue", "Use an if around the rest of the body" },
		{ "Assert", "Check in the Python code around the function" },
		{ "Delete", "Names need no deletion" },
		{ "Raise", "Kernels have no exceptions" },
		{ "AsyncFunctionDef", "Write a method of the program, or a @pl.inline function outside" },
		{ "ClassDef", "Define classes outside of the function" },
		{ "Match", "Use if and else" },
		{ "Nonlocal", "Values of the enclosing Python scope can be read without it" },
		{ "AsyncFor", "Use for i in pl.range(n):, or pl.parallel(n) where the order does not matter" },
		{ "AsyncWith", "Use with pl.incore():" },
		{ "Global", "Values of the enclosing Python scope can be read without it" },
	};
	const char *name = node->kind == PY_DEF ? "FunctionDef" :
			   node->kind == PY_CLASS ? "ClassDef" : node->name;
	struct diag *diag = diag_add(f->px, DIAG_UNSUPPORTED, node->span,
				     "Unsupported statement type: %s", name);
	size_t i;

	for (i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (!strcmp(hints[i][0], name))
			diag_hint(f->px, diag, "%s", hints[i][1]);
	return -EINVAL;
}

static int statement(struct front *f, const struct py_node *node)
{
	switch (node->kind) {
	case PY_ASSIGN:
	case PY_ANN_ASSIGN:
		return assign(f, node);
	case PY_FOR:
		return front_for(f, node);
	case PY_WHILE:
		return front_while(f, node);
	case PY_IF:
		return front_if(f, node);
	case PY_WITH:
		return with(f, node);
	case PY_RETURN:
		return front_return(f, node);
	case PY_EXPR:
		return expression(f, node);
	case PY_PASS:
		return 0;
	default:
		return unsupported(f, node);
	}
}

/* Every statement is tried, so that mistakes in several of them are found in one run. */
void front_body(struct front *f, const struct py_list *body)
{
	uint32_t i;

	for (i = 0; i < body->n; i++) {
		if (f->returned || (f->yield && f->yield->stmt)) {
			diag_add(f->px, DIAG_SYNTAX, body->at[i]->span,
				 f->returned ? "This statement is after the return" :
				 "This statement is after pl.yield_(), which must be the last");
			return;
		}
		statement(f, body->at[i]);
	}
}

struct ir_node *front_block(struct front *f, const struct py_list *body, struct span span,
			    struct yield_site *site)
{
	struct ir_list stmts = { 0 }, *outer_stmts = f->stmts;
	struct yield_site *outer_yield = f->yield;
	uint32_t n_extents = f->extents.n;

	f->stmts = &stmts;
	f->yield = site;
	f->depth++;
	front_body(f, body);
	f->depth--;
	f->yield = outer_yield;
	f->stmts = outer_stmts;
	f->extents.n = n_extents;
	if (site && site->values.n)
		list_push(f->px, &stmts,
			  ir_values(f->px, IR_YIELD, site->values, site->stmt->span));
	return ir_body(f->px, stmts, span);
}
