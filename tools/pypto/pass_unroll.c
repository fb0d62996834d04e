/* SPDX-License-Identifier: MIT */
/* UnrollLoops, section 7.5. It runs before ConvertToSSA, so the copies share their variables. */
#include "pass.h"
#include "walk.h"

#define MAX_TRIPS	1024
#define MAX_COPIES	65536	/* of all bodies in a function, which loops inside each other multiply */

struct unroll {
	struct px *px;
	uint64_t copies;
	bool stopped;
};

static struct ir_node *unroll(struct unroll *u, struct ir_node *stmt);

static int64_t constant(const struct ir_node *e)
{
	return IR_AS(e, const)->value;
}

static uint64_t trips(const struct ir_for *loop)
{
	int64_t n;
	int rc = ir_trips(loop->start, loop->stop, loop->step, &n);

	return rc ? INT64_MAX : (uint64_t)n;	/* which ir_form() and the front end refuse */
}

/* Assigned variables stand for themselves in a copy. */
static bool keep_assigned(void *data, struct ir_node *node)
{
	if (node->kind == IR_ASSIGN)
		var_map_set(data, IR_AS(node, assign)->var, IR_AS(node, assign)->var);
	return node->kind >= IR_ASSIGN;
}

static void too_many(struct unroll *u, const struct ir_for *loop, uint64_t n)
{
	if (u->stopped)
		return;
	u->stopped = true;
	if (n > MAX_TRIPS)
		diag_hint(u->px, diag_add(u->px, DIAG_COMPILE, loop->node.span,
					  "pl.unroll() would copy its body %llu times, more than %d",
					  (unsigned long long)n, MAX_TRIPS),
			  "Use pl.range()");
	else
		diag_hint(u->px, diag_add(u->px, DIAG_COMPILE, loop->node.span,
					  "The pl.unroll() loops of the function make more than %d copies",
					  MAX_COPIES),
			  "Use pl.range() for some of them");
}

static struct ir_node *unroll_for(struct unroll *u, struct ir_for *loop)
{
	uint64_t n = trips(loop), i;
	struct ir_list out = { 0 };
	struct px *px = u->px;

	u->copies += n;
	if (n > MAX_TRIPS || u->copies > MAX_COPIES) {
		too_many(u, loop, n);
		return &loop->node;
	}
	for (i = 0; i < n && !u->stopped; i++) {
		struct var_map map = { .px = px };
		int64_t at = constant(loop->start) + (int64_t)i * constant(loop->step);
		struct ir_node *now = ir_int(px, at, DT_INDEX, loop->loop_var->span);

		ir_walk(loop->body, keep_assigned, &map);
		if (var_map_get(&map, loop->loop_var))	/* the body gives it other values */
			list_push(px, &out, ir_assign(px, loop->loop_var, now, now->span));
		else
			var_map_set(&map, loop->loop_var, now);
		list_push(px, &out, unroll(u, ir_clone_stmt(&map, loop->body)));
	}
	return ir_body(px, out, loop->node.span);
}

static struct ir_node *unroll_fields(struct unroll *u, struct ir_node *stmt)
{
	struct ir_node *copy = ir_copy(u->px, stmt);
	const struct ir_field *field;
	struct ir_list stmts, out = { 0 };
	uint32_t i;

	for (field = ir_kind_info[stmt->kind].fields; field->name; field++) {
		struct ir_node **at = ir_field_at(copy, field);

		if (field->kind == FK_STMT && *at)
			*at = unroll(u, *at);
	}
	if (stmt->kind != IR_SEQ)
		return copy;
	stmts = IR_AS(stmt, seq)->stmts;
	for (i = 0; i < stmts.n; i++)
		list_push(u->px, &out, unroll(u, stmts.at[i]));
	return ir_body(u->px, out, stmt->span);
}

static struct ir_node *unroll(struct unroll *u, struct ir_node *stmt)
{
	if (stmt->kind == IR_FOR && IR_AS(stmt, for)->for_kind == FOR_UNROLL &&
	    !IR_AS(stmt, for)->chunk)
		return unroll_for(u, IR_AS(stmt, for));
	return unroll_fields(u, stmt);
}

static struct ir_function *unroll_function(struct px *px, struct ir_function *old, void *data)
{
	struct ir_function *f = ir_copy(px, &old->node);
	struct unroll u = { .px = px };

	(void)data;
	f->body = unroll(&u, old->body);
	return f;
}

struct ir_program *pass_unroll_loops(struct px *px, struct ir_program *program,
				     const struct pass_options *options)
{
	(void)options;
	return pass_each(px, program, unroll_function, NULL);
}
