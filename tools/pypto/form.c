/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "form.h"
#include "ops.h"
#include "walk.h"

struct form {
	struct px *px;
	const struct ir_node *node;
	const char *why;
};

static void wrong(struct form *f, const char *field, const char *what)
{
	if (!f->why)
		f->why = px_printf(f->px, "'%s' of %s must be %s", field,
				   ir_kind_info[f->node->kind].name, what);
}

/* ---- Fields ---- */

static bool is_expr(const struct ir_node *n)
{
	return n && n->kind < IR_ASSIGN && n->type;
}

static bool is_stmt(const struct ir_node *n)
{
	return n && n->kind >= IR_ASSIGN && n->kind <= IR_OPS;
}

static bool is_scalar(const struct ir_node *n)
{
	return n->type->kind == TY_SCALAR;
}

static bool is_int(const struct ir_node *n)
{
	return is_scalar(n) && dtype_is_int(n->type->dtype);
}

static bool is_left_out(const struct ir_node *node, const char *field)
{
	return (node->kind == IR_IF && !strcmp(field, "else_body")) ||
	       (node->kind == IR_CALL && !strcmp(field, "blockdim"));
}

static bool is_def(const struct ir_node *node, const char *field, const struct ir_node *var)
{
	if (!is_expr(var))
		return false;
	if (!strcmp(field, "iter_args"))
		return var->kind == IR_ITER_ARG;
	/* before SSA form, a carried variable is assigned like any other */
	return var->kind == IR_VAR ||
	       (node->kind == IR_ASSIGN && (var->kind == IR_MEMREF || var->kind == IR_ITER_ARG));
}

static void form_one(struct form *f, const struct ir_field *field, const struct ir_node *child)
{
	switch (field->kind) {
	case FK_EXPR:
		if (!is_expr(child) && (child || !is_left_out(f->node, field->name)))
			wrong(f, field->name, "an expression");
		break;
	case FK_STMT:
		if (!is_stmt(child) && (child || !is_left_out(f->node, field->name)))
			wrong(f, field->name, "a statement");
		break;
	case FK_DEF:
		if (!is_def(f->node, field->name, child))
			wrong(f, field->name, "a variable");
		break;
	}
}

static void form_list(struct form *f, const struct ir_field *field, const struct ir_list *list)
{
	bool gaps = f->node->kind == IR_CALL && IR_AS(f->node, call)->op;
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		const struct ir_node *n = list->at[i];

		if (field->kind == FK_EXPRS && !is_expr(n) && (n || !gaps))
			wrong(f, field->name, "a list of expressions");
		if (field->kind == FK_STMTS && !is_stmt(n))
			wrong(f, field->name, "a list of statements");
		if (field->kind == FK_DEFS && !is_def(f->node, field->name, n))
			wrong(f, field->name, "a list of variables");
		if (field->kind == FK_FUNCS && (!n || n->kind != IR_FUNCTION))
			wrong(f, field->name, "a list of functions");
	}
}

static void form_field(struct form *f, const struct ir_field *field)
{
	void *at = ir_field_at(f->node, field);

	switch (field->kind) {
	case FK_EXPR:
	case FK_STMT:
	case FK_DEF:
		form_one(f, field, *(struct ir_node **)at);
		break;
	case FK_EXPRS:
	case FK_STMTS:
	case FK_DEFS:
	case FK_FUNCS:
		form_list(f, field, at);
		break;
	case FK_STR:
	case FK_CALLEE:
		if (!*(const char **)at)
			wrong(f, field->name, "text");
		break;
	case FK_DIRS:
		if (!*(uint8_t **)at && IR_AS(f->node, function)->params.n)
			wrong(f, field->name, "a direction for each parameter");
		break;
	}
}

/* ---- Types ---- */

const char *ir_form_type(struct px *px, const struct ir_type *type)
{
	uint32_t i;

	for (i = 0; i < type->shape.n; i++) {
		const struct ir_node *n = type->shape.at[i];

		if (!is_expr(n) || !is_int(n))
			return "an extent must be an integer";
		if (n->kind == IR_CONST_INT && IR_AS(n, const)->value < 0)
			return px_printf(px, "extent %lld is negative",
					 (long long)IR_AS(n, const)->value);
	}
	if (type->view.valid.n && type->view.valid.n != type->shape.n)
		return "a valid region must have as many extents as its tile";
	for (i = 0; i < type->view.valid.n; i++)
		if (!is_expr(type->view.valid.at[i]) || !is_int(type->view.valid.at[i]))
			return "an extent of a valid region must be an integer";
	return NULL;
}

/* ---- Expressions ---- */

static void form_const(struct form *f)
{
	const struct ir_type *t = f->node->type;
	bool fits = t->kind == TY_SCALAR;

	if (f->node->kind == IR_CONST_FLOAT)
		fits &= dtype_is_float(t->dtype);
	else
		fits &= (f->node->kind == IR_CONST_BOOL) == (t->dtype == DT_BOOL) &&
			dtype_holds(t->dtype, IR_AS(f->node, const)->value);
	if (!fits)
		wrong(f, "value", "one of its element type");
}

/* The call again, by the registry: an equal type must come out. */
static void form_operator(struct form *f, const struct ir_call *call)
{
	struct op_use use = { .px = f->px, .op = call->op, .span = call->node.span,
			      .args = list_copy(f->px, &call->args), .n_attrs = call->n_attrs };
	struct diag *diags = f->px->diags, **end = f->px->diags_end;
	unsigned int n_errors = f->px->n_errors;
	const struct ir_node *made;

	use.attrs = px_alloc(f->px, call->n_attrs + 1, sizeof(*use.attrs));
	if (call->n_attrs)
		memcpy(use.attrs, call->attrs, call->n_attrs * sizeof(*use.attrs));
	made = op_call(&use);
	if (!made)
		f->why = *end ? (*end)->message : "a call that the operator refuses";
	else if (!type_compatible(made->type, call->node.type))
		f->why = px_printf(f->px, "a call of %s gives %s, not %s", call->callee,
				   type_text(f->px, made->type), type_text(f->px, call->node.type));
	*end = NULL;
	f->px->diags = diags;
	f->px->diags_end = end;
	f->px->n_errors = n_errors;
}

static void form_call(struct form *f)
{
	const struct ir_call *call = IR_AS(f->node, call);

	if (call->blockdim && !is_int(call->blockdim))
		wrong(f, "blockdim", "an integer");
	if (call->op && !f->why)
		form_operator(f, call);
}

static void form_item(struct form *f)
{
	const struct ir_item *item = IR_AS(f->node, item);
	const struct ir_type *t = item->tuple->type;
	uint32_t n = item->tuple->kind == IR_MAKE_TUPLE ?
		     IR_AS(item->tuple, tuple)->elements.n : t->n_items;

	if (t->kind != TY_TUPLE || item->index < 0 || item->index >= n || item->index >= t->n_items)
		wrong(f, "index", "that of an element of the tuple");
	else if (!type_compatible(t->items[item->index], f->node->type))
		wrong(f, "type", "that of the element");
}

static void form_operands(struct form *f)
{
	bool fits = is_scalar(f->node);

	if (ir_is_binary(f->node))
		fits &= is_scalar(IR_AS(f->node, binary)->left) &&
			is_scalar(IR_AS(f->node, binary)->right);
	else
		fits &= is_scalar(IR_AS(f->node, unary)->operand);
	if (!fits)
		wrong(f, "operands", "scalars");
}

static void form_expr(struct form *f)
{
	if (ir_is_const(f->node))
		form_const(f);
	else if (f->node->kind == IR_CALL)
		form_call(f);
	else if (f->node->kind == IR_GET_ITEM)
		form_item(f);
	else if (ir_is_binary(f->node) || ir_is_unary(f->node))
		form_operands(f);
	else if (f->node->kind == IR_MEMREF && f->node->type->kind != TY_MEMREF)
		wrong(f, "type", "MemRefType");
}

/* ---- Statements ---- */

static bool is_const(const struct ir_node *n)
{
	return n->kind == IR_CONST_INT;
}

static void form_for(struct form *f)
{
	const struct ir_for *s = IR_AS(f->node, for);
	int64_t trips;

	if (is_const(s->step) && !IR_AS(s->step, const)->value)
		wrong(f, "step", "another number than 0");
	if (s->for_kind == FOR_UNROLL && !s->chunk &&
	    (!is_const(s->start) || !is_const(s->stop) || !is_const(s->step)))
		wrong(f, "bounds", "constants");
	if (s->for_kind == FOR_UNROLL && !s->chunk && s->iter_args.n)
		wrong(f, "iter_args", "absent in a loop to unroll");
	if (s->chunk && !is_const(s->step))
		wrong(f, "step", "a constant");
	if (!is_int(s->loop_var) || !is_int(s->start) || !is_int(s->stop) || !is_int(s->step))
		wrong(f, "bounds", "integers");
	if (ir_trips(s->start, s->stop, s->step, &trips) == -ERANGE)
		wrong(f, "bounds", "at most 2^63 - 1 apart");
	if (s->chunk < 0)
		wrong(f, "chunk_size", "positive, or 0");
	if (s->iter_args.n != s->return_vars.n)
		wrong(f, "return_vars", "as many as the iter_args");
}

static void form_while(struct form *f)
{
	const struct ir_while *s = IR_AS(f->node, while);

	if (!is_scalar(s->condition))
		wrong(f, "condition", "a scalar");
	if (s->iter_args.n != s->return_vars.n)
		wrong(f, "return_vars", "as many as the iter_args");
}

static void form_group(struct form *f)
{
	const struct ir_list *stmts = &IR_AS(f->node, seq)->stmts;
	uint32_t i;

	for (i = 0; i < stmts->n; i++)
		if (stmts->at[i]->kind != IR_ASSIGN && stmts->at[i]->kind != IR_EVAL)
			wrong(f, "stmts", "assignments and calls");
}

static void form_assign(struct form *f)
{
	const struct ir_assign *s = IR_AS(f->node, assign);

	if (s->var->type->kind != s->value->type->kind ||
	    s->var->type->dtype != s->value->type->dtype ||
	    s->var->type->shape.n != s->value->type->shape.n)
		wrong(f, "var", "of the value's type");
}

static void form_program(struct form *f)
{
	const struct ir_call *call = ir_recursion(f->px, IR_AS(f->node, program));

	if (call)
		wrong(f, "functions", px_printf(f->px, "without recursion, but '%s' calls itself",
						call->callee));
}

static void form_stmt(struct form *f)
{
	switch (f->node->kind) {
	case IR_ASSIGN:
		form_assign(f);
		break;
	case IR_IF:
		if (!is_scalar(IR_AS(f->node, if)->condition))
			wrong(f, "condition", "a scalar");
		break;
	case IR_FOR:
		form_for(f);
		break;
	case IR_WHILE:
		form_while(f);
		break;
	case IR_OPS:
		form_group(f);
		break;
	case IR_PROGRAM:
		form_program(f);
		break;
	}
}

const char *ir_form(struct px *px, const struct ir_node *node)
{
	struct form f = { .px = px, .node = node };
	const struct ir_field *field;

	if (node->kind < IR_ASSIGN && !node->type)
		wrong(&f, "type", "a type");
	for (field = ir_kind_info[node->kind].fields; field->name; field++)
		form_field(&f, field);
	if (f.why)
		return f.why;
	if (node->kind < IR_ASSIGN)
		form_expr(&f);
	else
		form_stmt(&f);
	return f.why;
}
