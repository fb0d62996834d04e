/* SPDX-License-Identifier: MIT */
/* Verifier: section 5.3. Each check adds one mistake per violation. */
#include <errno.h>

#include "ops.h"
#include "verify.h"

void violation_code(struct verify *v, enum property property, const struct ir_node *node,
		    enum verify_code code, const char *what, const char *name)
{
	v->violations[__builtin_ctz(property)]++;
	if (v->report & property)
		diag_add(v->px, DIAG_COMPILE, node->span, "%s%s%s", what, name ? ": " : "",
			 name ? name : "")->code = code;
}

void violation(struct verify *v, enum property property, const struct ir_node *node,
	       const char *what, const char *name)
{
	violation_code(v, property, node, VERIFY_NO_CODE, what, name);
}

/* ---- Types that differ ---- */

/*
 * @constant: extents that are no numbers in both may differ, and so may numbers of clusters, which
 * a call compares with its number of blocks.
 */
static enum verify_code mismatch(const struct ir_type *is, const struct ir_type *wanted,
				 bool constant)
{
	enum verify_code code = VERIFY_NO_CODE;
	uint32_t i;

	if (is == wanted)
		return VERIFY_NO_CODE;
	if (is->kind != wanted->kind)
		return VERIFY_KIND;
	if (is->n_items != wanted->n_items)
		return VERIFY_COUNT;
	for (i = 0; i < is->n_items && !code; i++)
		code = mismatch(is->items[i], wanted->items[i], constant);
	if (code || (is->dtype != wanted->dtype && !(constant && is->kind == TY_SCALAR)))
		return code ? code : VERIFY_DTYPE;
	if (is->shape.n != wanted->shape.n)
		return VERIFY_RANK;
	for (i = 0; i < is->shape.n && !(constant && is->kind == TY_CLUSTER); i++)
		if (!dim_equal(is->shape.at[i], wanted->shape.at[i]) &&
		    !(constant && (is->shape.at[i]->kind != IR_CONST_INT ||
				   wanted->shape.at[i]->kind != IR_CONST_INT)))
			return VERIFY_EXTENT;
	return VERIFY_NO_CODE;
}

enum verify_code type_mismatch(const struct ir_type *is, const struct ir_type *wanted)
{
	return mismatch(is, wanted, false);
}

enum verify_code type_misfit(const struct ir_type *is, const struct ir_type *wanted)
{
	return mismatch(is, wanted, true);
}

void violation_type(struct verify *v, const struct ir_node *node, const char *what,
		    const char *name, enum verify_code mismatch, const struct ir_type *is,
		    const struct ir_type *wanted)
{
	static const char *const differs[] = {
		"kinds", "element types", "numbers of extents", "extents", "numbers of elements"
	};

	if (mismatch)
		violation_code(v, PROP_TYPE_CHECKED, node, mismatch, what,
			       px_printf(v->px, "%s (the %s of %s and %s differ)", name,
					 differs[mismatch - VERIFY_KIND], type_text(v->px, is),
					 type_text(v->px, wanted)));
}

/* ---- SSA ---- */

static void define(struct verify *v, const struct ir_node *var)
{
	if (var->kind == IR_MEMREF)
		return;
	if (var_map_get(&v->defined, var))
		violation_code(v, PROP_SSA, var, VERIFY_MULTIPLE_ASSIGNMENT, "MULTIPLE_ASSIGNMENT",
			       IR_AS(var, var)->name);
	var_map_set(&v->defined, var, (void *)var);
}

static void define_list(struct verify *v, const struct ir_list *vars)
{
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		define(v, vars->at[i]);
}

static void check_type(struct verify *v, const struct ir_node *node, const char *what,
		       const char *name, const struct ir_type *is, const struct ir_type *wanted)
{
	violation_type(v, node, what, name, type_mismatch(is, wanted), is, wanted);
}

static void check_yield(struct verify *v, const struct ir_node *stmt, struct ir_node *body,
			const struct ir_list *results)
{
	const struct ir_values *yield = body ? ir_last(body, IR_YIELD) : NULL;
	uint32_t i;

	if (!results->n)
		return;
	if (!yield) {
		violation_code(v, PROP_SSA, stmt, VERIFY_MISSING_YIELD, "MISSING_YIELD", NULL);
		return;
	}
	if (yield->values.n != results->n) {
		violation_code(v, PROP_TYPE_CHECKED, stmt, VERIFY_COUNT,
			       "Numbers of yielded values and results differ", NULL);
		return;
	}
	for (i = 0; i < results->n; i++)
		if (!yield->values.at[i])
			violation(v, PROP_SSA, stmt, "A body yields no value for a result",
				  IR_AS(results->at[i], var)->name);
		else
			check_type(v, yield->values.at[i],
				   "A yielded value has another type than the result",
				   IR_AS(results->at[i], var)->name, yield->values.at[i]->type,
				   results->at[i]->type);
}

/* ---- Types ---- */

static void need_scalar(struct verify *v, const struct ir_node *e, const char *what)
{
	if (e->type->kind != TY_SCALAR)
		violation_code(v, PROP_TYPE_CHECKED, e, VERIFY_KIND, what,
			       type_text(v->px, e->type));
}

static void check_carried(struct verify *v, const struct ir_node *s,
			  const struct ir_list *iter_args, struct ir_node *body,
			  const struct ir_list *results)
{
	uint32_t i;

	define_list(v, iter_args);
	if (iter_args->n != results->n)
		violation_code(v, PROP_TYPE_CHECKED, s, VERIFY_COUNT,
			       "Numbers of carried values and results differ", NULL);
	for (i = 0; i < iter_args->n; i++)
		check_type(v, iter_args->at[i],
			   "A carried value has another type than its initial value",
			   IR_AS(iter_args->at[i], var)->name, iter_args->at[i]->type,
			   IR_AS(iter_args->at[i], var)->init->type);
	check_yield(v, s, body, results);
	define_list(v, results);
}

static void check_for(struct verify *v, const struct ir_for *s)
{
	need_scalar(v, s->start, "A loop bound must be a scalar");
	need_scalar(v, s->stop, "A loop bound must be a scalar");
	need_scalar(v, s->step, "A loop bound must be a scalar");
	define(v, s->loop_var);
	check_carried(v, &s->node, &s->iter_args, s->body, &s->return_vars);
}

static void check_while(struct verify *v, const struct ir_while *s)
{
	need_scalar(v, s->condition, "A condition must be a scalar");
	check_carried(v, &s->node, &s->iter_args, s->body, &s->return_vars);
}

static void check_if(struct verify *v, const struct ir_if *s)
{
	need_scalar(v, s->condition, "A condition must be a scalar");
	check_yield(v, &s->node, s->then_body, &s->return_vars);
	check_yield(v, &s->node, s->else_body, &s->return_vars);
	define_list(v, &s->return_vars);
}

/* ---- Calls ---- */

static bool count_calls(void *data, struct ir_node *node)
{
	*(unsigned int *)data += node->kind == IR_CALL;
	return true;
}

/* @own: a call at the top of the expression is allowed */
static void check_nesting(struct verify *v, struct ir_node *expr, bool own)
{
	unsigned int calls = 0;

	ir_walk(expr, count_calls, &calls);
	if (calls > (own && expr->kind == IR_CALL))
		violation(v, PROP_NO_NESTED_CALLS, expr, "A call stands inside another expression",
			  NULL);
}

static void check_nesting_list(struct verify *v, const struct ir_list *list)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (list->at[i])
			check_nesting(v, list->at[i], false);
}

static bool visit(void *data, struct ir_node *node)
{
	struct verify *v = data;

	switch (node->kind) {
	case IR_ASSIGN:
		define(v, IR_AS(node, assign)->var);
		check_nesting(v, IR_AS(node, assign)->value, true);
		break;
	case IR_FOR:
		check_for(v, IR_AS(node, for));
		check_nesting(v, IR_AS(node, for)->start, false);
		check_nesting(v, IR_AS(node, for)->stop, false);
		check_nesting(v, IR_AS(node, for)->step, false);
		break;
	case IR_WHILE:
		check_while(v, IR_AS(node, while));
		check_nesting(v, IR_AS(node, while)->condition, false);
		break;
	case IR_IF:
		check_if(v, IR_AS(node, if));
		check_nesting(v, IR_AS(node, if)->condition, false);
		break;
	case IR_YIELD:
	case IR_RETURN:
		check_nesting_list(v, &IR_AS(node, values)->values);
		break;
	case IR_EVAL:
		check_nesting(v, IR_AS(node, eval)->expr, true);
		break;
	case IR_SCOPE:
		violation(v, PROP_SPLIT_INCORE, node, "InCore ScopeStmt found", NULL);
		break;
	}
	return true;
}

static void check_all(struct verify *v, const struct ir_program *program)
{
	uint32_t i;

	for (i = 0; i < program->functions.n; i++) {
		const struct ir_function *f = IR_AS(program->functions.at[i], function);

		define_list(v, &f->params);
		ir_walk(f->body, visit, v);
		verify_uses(v, program, f);
		verify_memory(v, f);
	}
}

unsigned int ir_properties(struct px *px, const struct ir_program *program)
{
	struct verify v = { .px = px, .defined = { .px = px } };
	unsigned int i, have = 0;

	check_all(&v, program);
	for (i = 0; i < PROPERTIES; i++)
		have |= !v.violations[i] << i;
	return have;
}

int ir_verify(struct px *px, const struct ir_program *program, unsigned int properties)
{
	struct verify v = { .px = px, .defined = { .px = px } };
	unsigned int i, bad = 0;

	check_all(&v, program);
	for (i = 0; i < PROPERTIES; i++)
		bad += properties & 1u << i ? v.violations[i] : 0;
	if (!bad)
		return 0;
	v = (struct verify){ .px = px, .defined = { .px = px }, .report = properties };
	diag_add(px, DIAG_COMPILE, program->node.span, "IR Verification Report: %u violation(s)", bad);
	check_all(&v, program);
	return -EINVAL;
}
