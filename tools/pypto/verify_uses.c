/* SPDX-License-Identifier: MIT */
/*
 * Verifier of what names refer to: variables are defined before they are used, in the order of the
 * text; functions that are called take such arguments; what is returned is what the function says.
 * Part of TypeChecked, because everything that works on a program counts on it.
 */
#include "verify.h"

struct uses {
	struct verify *v;
	const struct ir_program *program;
	const struct ir_function *f;
	struct var_map known;
};

static void uses_body(struct uses *u, struct ir_node *body);

static bool know_extent(void *data, struct ir_node *node)
{
	struct uses *u = data;

	if (ir_is_var(node))
		var_map_set(&u->known, node, node);
	return true;
}

/* The extents of a variable's type say what symbolic extents there are. */
static void know(struct uses *u, struct ir_node *var)
{
	uint32_t i;

	var_map_set(&u->known, var, var);
	for (i = 0; i < var->type->shape.n; i++)
		ir_walk(var->type->shape.at[i], know_extent, u);
	for (i = 0; i < var->type->view.valid.n; i++)
		ir_walk(var->type->view.valid.at[i], know_extent, u);
}

static void know_list(struct uses *u, const struct ir_list *vars)
{
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		know(u, vars->at[i]);
}

/* ---- Calls of functions ---- */

/* A block's number and their count are nobody's arguments. */
static bool count_fits(const struct ir_function *f, const struct ir_call *call)
{
	uint32_t implied = f->func_type == FN_BLOCK_INCORE ? 2 : 0;

	return call->args.n <= f->params.n && f->params.n <= call->args.n + implied;
}

/* Extents may differ: a parameter's may be symbolic, a tensor's known only at run time. */
static void check_fits(struct uses *u, const struct ir_node *node, const char *what,
		       const char *name, const struct ir_type *is, const struct ir_type *wanted)
{
	violation_type(u->v, node, what, name, type_misfit(is, wanted), is, wanted);
}

static void check_call(struct uses *u, const struct ir_call *call)
{
	const struct ir_function *f = program_find(u->program, call->callee);
	uint32_t i;

	if (!f)	/* which the generator of orchestrations reports */
		return;
	if (!count_fits(f, call)) {
		violation(u->v, PROP_TYPE_CHECKED, &call->node,
			  "A call has another number of arguments than the function", f->name);
		return;
	}
	for (i = 0; i < call->args.n; i++)
		check_fits(u, &call->node, "An argument has another type than the parameter",
			   IR_AS(f->params.at[i], var)->name, call->args.at[i]->type,
			   f->params.at[i]->type);
	if (f->n_returns)
		check_fits(u, &call->node, "A call has another type than the function returns",
			   f->name, call->node.type, f->n_returns == 1 ? f->return_types[0] :
			   type_tuple(u->v->px, f->return_types, f->n_returns));
}

/* ---- Expressions ---- */

static bool use(void *data, struct ir_node *node)
{
	struct uses *u = data;

	if (ir_is_var(node) && !IR_AS(node, var)->dynamic && !var_map_get(&u->known, node))
		violation(u->v, PROP_TYPE_CHECKED, node, "A variable is used before it is defined",
			  IR_AS(node, var)->name);
	if (node->kind == IR_CALL && !IR_AS(node, call)->op)
		check_call(u, IR_AS(node, call));
	return true;
}

static void use_list(struct uses *u, const struct ir_list *values)
{
	uint32_t i;

	for (i = 0; i < values->n; i++)
		if (values->at[i])
			ir_walk(values->at[i], use, u);
}

/* ---- Statements ---- */

static void uses_loop(struct uses *u, struct ir_node *var, struct ir_node *condition,
		      const struct ir_list *iter_args, struct ir_node *body,
		      const struct ir_list *results)
{
	uint32_t i;

	for (i = 0; i < iter_args->n; i++)
		ir_walk(IR_AS(iter_args->at[i], var)->init, use, u);
	know_list(u, iter_args);
	if (var)
		know(u, var);
	if (condition)
		ir_walk(condition, use, u);
	uses_body(u, body);
	know_list(u, results);
}

static void check_return(struct uses *u, const struct ir_values *s)
{
	uint32_t i;

	use_list(u, &s->values);
	if (s->values.n != u->f->n_returns) {
		violation_code(u->v, PROP_TYPE_CHECKED, &s->node, VERIFY_COUNT,
			       "Numbers of returned values and return types differ", u->f->name);
		return;
	}
	for (i = 0; i < s->values.n; i++)
		check_fits(u, s->values.at[i],
			   "A returned value has another type than the function says",
			   u->f->name, s->values.at[i]->type, u->f->return_types[i]);
}

static void uses_stmt(struct uses *u, struct ir_node *s)
{
	switch (s->kind) {
	case IR_ASSIGN:
		ir_walk(IR_AS(s, assign)->value, use, u);
		know(u, IR_AS(s, assign)->var);
		break;
	case IR_EVAL:
		ir_walk(IR_AS(s, eval)->expr, use, u);
		break;
	case IR_YIELD:
		use_list(u, &IR_AS(s, values)->values);
		break;
	case IR_RETURN:
		check_return(u, IR_AS(s, values));
		break;
	case IR_FOR:
		ir_walk(IR_AS(s, for)->start, use, u);
		ir_walk(IR_AS(s, for)->stop, use, u);
		ir_walk(IR_AS(s, for)->step, use, u);
		uses_loop(u, IR_AS(s, for)->loop_var, NULL, &IR_AS(s, for)->iter_args,
			  IR_AS(s, for)->body, &IR_AS(s, for)->return_vars);
		break;
	case IR_WHILE:
		uses_loop(u, NULL, IR_AS(s, while)->condition, &IR_AS(s, while)->iter_args,
			  IR_AS(s, while)->body, &IR_AS(s, while)->return_vars);
		break;
	case IR_IF:
		ir_walk(IR_AS(s, if)->condition, use, u);
		uses_body(u, IR_AS(s, if)->then_body);
		uses_body(u, IR_AS(s, if)->else_body);
		know_list(u, &IR_AS(s, if)->return_vars);
		break;
	case IR_SCOPE:
		uses_body(u, IR_AS(s, scope)->body);
		break;
	}
}

static void uses_body(struct uses *u, struct ir_node *body)
{
	struct ir_list stmts = ir_flat(u->v->px, body);
	uint32_t i;

	for (i = 0; i < stmts.n; i++)
		uses_stmt(u, stmts.at[i]);
}

void verify_uses(struct verify *v, const struct ir_program *program, const struct ir_function *f)
{
	struct uses u = { .v = v, .program = program, .f = f, .known = { .px = v->px } };

	know_list(&u, &f->params);
	uses_body(&u, f->body);
}
