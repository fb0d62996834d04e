/* SPDX-License-Identifier: MIT */
/*
 * Statements of .pto text: section 10.5. Scalars are SSA values and are carried as such; tiles
 * are buffers, in which the passes have put what loops and branches hand on, so they are not
 * carried at all.
 */
#include <string.h>

#include "gen_pto.h"

/* ---- What bodies hand on ---- */

static bool is_scalar(const struct ir_node *var)
{
	return var->type->kind == TY_SCALAR;
}

static unsigned int count_scalars(const struct ir_list *vars)
{
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		n += is_scalar(vars->at[i]);
	return n;
}

/* The types of the scalars among @vars: "f32, index". */
static const char *types_text(struct pto_gen *g, const struct ir_list *vars)
{
	struct text t = { .px = g->px };
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		if (is_scalar(vars->at[i]))
			text_printf(&t, "%s%s", t.n ? ", " : "",
				    pto_scalar_type(g, vars->at[i]->type->dtype,
						    vars->at[i]->span));
	return text_str(&t);
}

/* New names for the scalars among @vars: "%3, %4". */
static const char *names_text(struct pto_gen *g, const struct ir_list *vars)
{
	struct text t = { .px = g->px };
	uint32_t i;

	for (i = 0; i < vars->n; i++) {
		const struct ir_node *var = vars->at[i];
		struct pto_value *v;

		if (!is_scalar(var))
			continue;
		v = pto_new_value(g, pto_temp(g), pto_scalar_type(g, var->type->dtype, var->span));
		var_map_set(&g->values, var, v);
		text_printf(&t, "%s%s", t.n ? ", " : "", v->name);
	}
	return text_str(&t);
}

static void same_storage(struct pto_gen *g, const struct ir_node *var, const struct ir_node *as)
{
	struct pto_tensor *tensor = var_map_get(&g->tensors, as);

	if (var->type->kind == TY_TENSOR && tensor)
		var_map_set(&g->tensors, var, tensor);
	if (var->type->kind == TY_TILE && var->type->memref == as->type->memref &&
	    !strcmp(pto_tile_type(g, var->type, MS_VEC), pto_tile_type(g, as->type, MS_VEC)))
		var_map_set(&g->tiles, var, pto_tile_of(g, as));
}

static void put_yield(struct pto_gen *g, const struct ir_list *results,
		      const struct ir_list *values)
{
	struct text names = { .px = g->px }, types = { .px = g->px };
	uint32_t i;

	for (i = 0; i < results->n && i < values->n; i++) {
		const struct ir_node *to = results->at[i];
		const char *type;

		if (!is_scalar(to)) {
			if (to->type->kind == TY_TENSOR && var_map_get(&g->tensors, to) &&
			    var_map_get(&g->tensors, to) !=
			    var_map_get(&g->tensors, values->at[i]))
				pto_mistake(g, to, "Write into one tensor, or split the kernel",
					    "'%s' is a different tensor in different ways through the kernel",
					    gen_written_name(g->px, to));
			continue;
		}
		type = pto_scalar_type(g, to->type->dtype, to->span);
		text_printf(&names, "%s%s", names.n ? ", " : "",
			    pto_as(g, pto_expr(g, values->at[i]), type));
		text_printf(&types, "%s%s", types.n ? ", " : "", type);
	}
	if (names.n)
		pto_line(g, "scf.yield %s : %s", text_str(&names), text_str(&types));
}

/* ---- Loops ---- */

/* "%v = %init, %w = %start" of the scalars, after their initial values have been made. */
static const char *carried_text(struct pto_gen *g, const struct ir_list *args)
{
	const char **inits = px_alloc(g->px, args->n + 1, sizeof(*inits));
	struct text t = { .px = g->px };
	uint32_t i;

	for (i = 0; i < args->n; i++) {
		const struct ir_node *arg = args->at[i];

		if (is_scalar(arg))
			inits[i] = pto_as(g, pto_expr(g, IR_AS(arg, var)->init),
					  pto_scalar_type(g, arg->type->dtype, arg->span));
		else
			same_storage(g, arg, IR_AS(arg, var)->init);
	}
	for (i = 0; i < args->n; i++) {
		struct ir_list one = { .at = &args->at[i], .n = 1 };

		if (is_scalar(args->at[i]))
			text_printf(&t, "%s%s = %s", t.n ? ", " : "", names_text(g, &one),
				    inits[i]);
	}
	return text_str(&t);
}

static const char *results_text(struct pto_gen *g, const struct ir_list *results,
				const struct ir_list *args)
{
	const char *names = names_text(g, results);
	uint32_t i;

	for (i = 0; i < results->n; i++)
		if (!is_scalar(results->at[i]))
			same_storage(g, results->at[i], args->at[i]);
	return *names ? px_printf(g->px, "%s = ", names) : "";
}

static struct pto_value temp(struct pto_gen *g, const char *op, const char *a, const char *b)
{
	struct pto_value v = { pto_temp(g), "index" };

	pto_line(g, "%s = %s %s, %s : index", v.name, op, a, b);
	return v;
}

/* Trips of a loop that gen_counts_up() does not hold of; a step of 0 stops the kernel (D28). */
static const char *trips_text(struct pto_gen *g, const char *start, const char *stop,
			      const char *step)
{
	const char *zero = pto_index(g, 0), *is_zero = pto_temp(g), *up, *span, *size, *trips;
	struct pto_value there, back, minus;

	pto_line(g, "%s = arith.cmpi eq, %s, %s : index", is_zero, step, zero);
	pto_line(g, "scf.if %s {", is_zero);
	pto_line(g, "  pto.trap");
	pto_line(g, "}");
	there = temp(g, "arith.subi", stop, start);
	back = temp(g, "arith.subi", start, stop);
	minus = temp(g, "arith.subi", zero, step);
	up = pto_temp(g);
	pto_line(g, "%s = arith.cmpi sgt, %s, %s : index", up, step, zero);
	span = pto_temp(g);
	pto_line(g, "%s = arith.select %s, %s, %s : index", span, up, there.name, back.name);
	size = pto_temp(g);
	pto_line(g, "%s = arith.select %s, %s, %s : index", size, up, step, minus.name);
	span = temp(g, "arith.maxsi", span, zero).name;
	trips = temp(g, "arith.ceildivsi", span, size).name;
	return trips;
}

static void put_for(struct pto_gen *g, const struct ir_for *s)
{
	const char *start = pto_index_expr(g, s->start), *stop = pto_index_expr(g, s->stop);
	const char *step = pto_index_expr(g, s->step), *var, *carried, *results, *trip = NULL;
	bool plain = gen_counts_up(s);
	int64_t trips;
	const char *low = start, *by = step;

	if (!plain) {
		stop = ir_trips(s->start, s->stop, s->step, &trips) ?
		       trips_text(g, start, stop, step) : pto_index(g, trips);
		low = pto_index(g, 0);
		by = pto_index(g, 1);
		trip = pto_temp(g);
	} else if (gen_is_nonnegative(s->start, &g->nonnegative)) {
		var_map_set(&g->nonnegative, s->loop_var, s->loop_var);
	}
	var = pto_temp(g);
	var_map_set(&g->values, s->loop_var, pto_new_value(g, var, "index"));
	carried = carried_text(g, &s->iter_args);
	results = results_text(g, &s->return_vars, &s->iter_args);
	if (*carried)
		pto_line(g, "%sscf.for %s = %s to %s step %s iter_args(%s) -> (%s) {", results,
			 plain ? var : trip, low, stop, by, carried, types_text(g, &s->iter_args));
	else
		pto_line(g, "scf.for %s = %s to %s step %s {", plain ? var : trip, low, stop, by);
	g->indent++;
	if (!plain) {
		struct pto_value offset = temp(g, "arith.muli", trip, step);

		pto_line(g, "%s = arith.addi %s, %s : index", var, start, offset.name);
	}
	gen_body(g, s->body, &s->iter_args);
	g->indent--;
	pto_line(g, "}");
}

static void put_while(struct pto_gen *g, const struct ir_while *s)
{
	const char *carried = carried_text(g, &s->iter_args);
	const char *types = types_text(g, &s->iter_args), *results, *names, *condition;
	struct text block = { .px = g->px };
	uint32_t i;

	results = results_text(g, &s->return_vars, &s->iter_args);
	pto_line(g, "%sscf.while (%s) : (%s) -> (%s) {", results, carried, types, types);
	g->indent++;
	condition = pto_expr(g, s->condition).name;
	for (i = 0; i < s->iter_args.n; i++)
		if (is_scalar(s->iter_args.at[i]))
			text_printf(&block, "%s%s", block.n ? ", " : "",
				    pto_expr(g, s->iter_args.at[i]).name);
	if (block.n)
		pto_line(g, "scf.condition(%s) %s : %s", condition, text_str(&block), types);
	else
		pto_line(g, "scf.condition(%s)", condition);
	g->indent--;
	pto_line(g, "} do {");
	names = names_text(g, &s->iter_args);
	if (*names) {
		struct text args = { .px = g->px };

		for (i = 0; i < s->iter_args.n; i++)
			if (is_scalar(s->iter_args.at[i]))
				text_printf(&args, "%s%s: %s", args.n ? ", " : "",
					    pto_expr(g, s->iter_args.at[i]).name,
					    pto_expr(g, s->iter_args.at[i]).type);
		pto_line(g, "^bb0(%s):", text_str(&args));
	}
	g->indent++;
	gen_body(g, s->body, &s->iter_args);
	if (!*names)
		pto_line(g, "scf.yield");
	g->indent--;
	pto_line(g, "}");
}

/* ---- Branches ---- */

static void merge_tensors(struct pto_gen *g, const struct ir_if *s)
{
	const struct ir_values *yield = ir_last(s->then_body, IR_YIELD);
	uint32_t i;

	for (i = 0; yield && i < s->return_vars.n && i < yield->values.n; i++)
		if (s->return_vars.at[i]->type->kind == TY_TENSOR)
			same_storage(g, s->return_vars.at[i], yield->values.at[i]);
}

static bool check_if(struct pto_gen *g, const struct ir_if *s)
{
	const struct ir_values *yield = ir_last(s->then_body, IR_YIELD);

	if (s->return_vars.n && !s->else_body)
		pto_mistake(g, &s->node, NULL, "IfStmt with return_vars requires else_body");
	else if (s->return_vars.n && (!yield || yield->values.n != s->return_vars.n))
		pto_mistake(g, &s->node, NULL,
			    "IfStmt then-branch yield count (%u) must match return_vars (%u)",
			    yield ? yield->values.n : 0, s->return_vars.n);
	else
		return true;
	return false;
}

static void put_if(struct pto_gen *g, const struct ir_if *s)
{
	const char *condition = pto_expr(g, s->condition).name, *names;

	if (!check_if(g, s))
		return;
	if (count_scalars(&s->return_vars)) {
		names = names_text(g, &s->return_vars);
		pto_line(g, "%s = scf.if %s -> (%s) {", names, condition,
			 types_text(g, &s->return_vars));
	} else {
		pto_line(g, "scf.if %s {", condition);
	}
	g->indent++;
	gen_body(g, s->then_body, &s->return_vars);
	g->indent--;
	merge_tensors(g, s);
	if (s->else_body) {
		pto_line(g, "} else {");
		g->indent++;
		gen_body(g, s->else_body, &s->return_vars);
		g->indent--;
	}
	pto_line(g, "}");
}

/* ---- Statements ---- */

static void put_assign(struct pto_gen *g, const struct ir_assign *a)
{
	const struct ir_node *value = gen_element(&g->tuples, a);
	struct pto_value v;

	if (value->kind == IR_CALL) {
		if (IR_AS(value, call)->op)
			pto_operator(g, a->var, IR_AS(value, call));
		return;
	}
	if (ir_is_var(value) && !is_scalar(a->var)) {
		if (a->var->type->kind == TY_TILE)
			var_map_set(&g->tiles, a->var, pto_tile_of(g, value));
		else
			same_storage(g, a->var, value);
		return;
	}
	if (!is_scalar(a->var))
		return;
	v = pto_expr(g, value);
	v.name = pto_as(g, v, pto_scalar_type(g, a->var->type->dtype, a->var->span));
	v.type = pto_scalar_type(g, a->var->type->dtype, a->var->span);
	if (gen_is_nonnegative(value, &g->nonnegative))
		var_map_set(&g->nonnegative, a->var, a->var);
	var_map_set(&g->values, a->var, pto_new_value(g, v.name, v.type));
}

static void put_stmt(struct pto_gen *g, struct ir_node *stmt, const struct ir_list *results)
{
	g->at = stmt->span.line ? stmt->span : g->at;
	g->call = NULL;
	switch (stmt->kind) {
	case IR_ASSIGN:
		g->flow->assign(g, IR_AS(stmt, assign));
		break;
	case IR_EVAL:
		if (IR_AS(stmt, eval)->expr->kind == IR_CALL &&
		    IR_AS(IR_AS(stmt, eval)->expr, call)->op)
			pto_operator(g, NULL, IR_AS(IR_AS(stmt, eval)->expr, call));
		break;
	case IR_FOR:
		g->flow->loop(g, IR_AS(stmt, for));
		break;
	case IR_WHILE:
		g->flow->loop_while(g, IR_AS(stmt, while));
		break;
	case IR_IF:
		g->flow->branch(g, IR_AS(stmt, if));
		break;
	case IR_YIELD:
		if (results)
			g->flow->yield(g, results, &IR_AS(stmt, values)->values);
		break;
	case IR_OPS:
	case IR_SEQ:
		gen_body(g, stmt, results);
		break;
	case IR_SCOPE:
		gen_body(g, IR_AS(stmt, scope)->body, results);
		break;
	}
}

void gen_body(struct pto_gen *g, struct ir_node *body, const struct ir_list *results)
{
	struct ir_list stmts = body->kind == IR_OPS ? IR_AS(body, seq)->stmts : ir_stmts(&body);
	struct ir_list *frees = px_alloc(g->px, stmts.n + 1, sizeof(*frees));
	uint32_t i, k;

	gen_frees(g->px, &stmts, frees);
	for (i = 0; i < stmts.n; i++) {
		put_stmt(g, stmts.at[i], results);
		for (k = 0; k < frees[i].n; k++)
			g->flow->free_pipe(g, frees[i].at[k]);
	}
}

const struct gen_flow pto_flow = {
	.assign = put_assign,
	.loop = put_for,
	.loop_while = put_while,
	.branch = put_if,
	.yield = put_yield,
	.free_pipe = pto_free,
};
