/* SPDX-License-Identifier: MIT */
/*
 * SplitChunkedLoops, section 7.5. A loop of N trips with chunk=C becomes an outer loop of N / C
 * trips around an inner one of C, and one of N % C behind them. What the loop carries goes through
 * all of them.
 */
#include <errno.h>

#include "pass.h"
#include "walk.h"

struct split {
	struct px *px;
	const struct ir_for *loop;
	struct ir_node *trips;
	struct span span;
};

static struct ir_node *split_body(struct px *px, struct ir_node *body, void *unused);

static struct ir_node *number(const struct split *s, int64_t value)
{
	return ir_int(s->px, value, DT_INDEX, s->span);
}

/* A sum has the type of its left side; what stands for a loop variable must be an INDEX like it. */
static bool is_to_swap(enum ir_kind kind, const struct ir_node *left, const struct ir_node *right)
{
	return kind == IR_ADD && left->type->dtype != DT_INDEX && right->type->dtype == DT_INDEX &&
	       right->kind != IR_CONST_INT;
}

static struct ir_node *binary(const struct split *s, enum ir_kind kind, struct ir_node *left,
			      struct ir_node *right)
{
	struct ir_node *folded = ir_fold(s->px, kind, left, right, DT_INDEX, s->span);
	bool zero = left->kind == IR_CONST_INT && !IR_AS(left, const)->value;
	bool one = right->kind == IR_CONST_INT && IR_AS(right, const)->value == 1;

	if (folded)
		return folded;
	if (kind == IR_ADD && zero)
		return right;
	if (kind == IR_MUL && one)
		return left;
	if (is_to_swap(kind, left, right))
		return binary(s, kind, right, left);
	return ir_binary(s->px, kind, left, right,
			 (left->kind == IR_CONST_INT ? right : left)->type->dtype, s->span);
}

/* The number of trips, rounded up; never negative. NULL when it may not fit, with a mistake. */
static struct ir_node *trips_of(const struct split *s)
{
	const struct ir_for *loop = s->loop;
	int64_t step = IR_AS(loop->step, const)->value, known;
	int rc = ir_trips(loop->start, loop->stop, loop->step, &known);
	struct ir_node *from = step > 0 ? loop->start : loop->stop;
	struct ir_node *to = step > 0 ? loop->stop : loop->start, *n;

	if (!rc)
		return number(s, known);
	if (rc == -ERANGE || step < -INT32_MAX || step > INT32_MAX) {
		diag_hint(s->px, diag_add(s->px, DIAG_COMPILE, loop->step->span,
					  "A loop with chunk= goes too far to count its trips"),
			  "Use a step between -2147483647 and 2147483647");
		return NULL;
	}
	step = step > 0 ? step : -step;
	n = from->kind == IR_CONST_INT && !IR_AS(from, const)->value ? to :
	    binary(s, IR_SUB, to, from);
	if (step != 1)
		n = binary(s, IR_FLOOR_DIV, binary(s, IR_ADD, n, number(s, step - 1)),
			   number(s, step));
	return binary(s, IR_MAX, n, number(s, 0));
}

/* A loop from 0 that counts trips of the old one; what it carries starts as @inits. */
static struct ir_for *counting(const struct split *s, const char *suffix, struct ir_node *stop,
			       const struct ir_list *inits, unsigned int origin)
{
	struct ir_for *loop = ir_copy(s->px, &s->loop->node);
	uint32_t i;

	loop->loop_var = ir_copy(s->px, s->loop->loop_var);
	IR_AS(loop->loop_var, var)->name =
		px_intern(s->px, px_printf(s->px, "%s_%s", IR_AS(s->loop->loop_var, var)->name,
					   suffix));
	loop->start = number(s, 0);
	loop->stop = stop;
	loop->step = number(s, 1);
	loop->chunk = 0;
	if (loop->for_kind == FOR_UNROLL && loop->iter_args.n)
		loop->for_kind = FOR_SEQUENTIAL;
	loop->origin = (uint8_t)origin;
	loop->iter_args = loop->return_vars = (struct ir_list){ 0 };
	for (i = 0; i < s->loop->iter_args.n; i++) {
		struct ir_var *arg = ir_copy(s->px, s->loop->iter_args.at[i]);
		struct ir_var *result = ir_copy(s->px, s->loop->return_vars.at[i]);

		arg->init = inits->at[i];
		arg->name = px_intern(s->px, px_printf(s->px, "%s_%s", arg->name, suffix));
		result->name = px_intern(s->px, px_printf(s->px, "%s_%s", result->name, suffix));
		list_push(s->px, &loop->iter_args, &arg->node);
		list_push(s->px, &loop->return_vars, &result->node);
	}
	return loop;
}

/* start + trip * step */
static struct ir_node *index_of(const struct split *s, struct ir_node *trip)
{
	return binary(s, IR_ADD, s->loop->start, binary(s, IR_MUL, trip, s->loop->step));
}

/* Names of the copies get a suffix, so that the text has each once. */
static void rename_copies(struct px *px, const struct var_map *map, const char *suffix)
{
	size_t i;

	for (i = 0; i < map->room; i++) {
		struct ir_node *copy = map->slots[i].value;

		if (map->slots[i].key && ir_is_var(map->slots[i].key) && ir_is_var(copy) &&
		    copy != map->slots[i].key &&
		    IR_AS(copy, var)->name == IR_AS(map->slots[i].key, var)->name)
			IR_AS(copy, var)->name =
				px_intern(px, px_printf(px, "%s_%s", IR_AS(copy, var)->name,
							suffix));
	}
}

/* The old body in @loop, whose variable and carried values stand for the old ones. */
static struct ir_node *body_in(const struct split *s, const struct ir_for *loop,
			       struct ir_node *trip, const char *suffix)
{
	struct var_map map = { .px = s->px };
	struct ir_node *body;
	uint32_t i;

	var_map_set(&map, s->loop->loop_var, index_of(s, trip));
	for (i = 0; i < loop->iter_args.n; i++)
		var_map_set(&map, s->loop->iter_args.at[i], loop->iter_args.at[i]);
	body = ir_clone_stmt(&map, s->loop->body);
	rename_copies(s->px, &map, suffix);
	return body;
}

static struct ir_node *around(const struct split *s, struct ir_for *inner)
{
	struct ir_list stmts = { 0 };

	list_push(s->px, &stmts, &inner->node);
	if (inner->return_vars.n)
		list_push(s->px, &stmts,
			  ir_values(s->px, IR_YIELD, inner->return_vars, s->span));
	return ir_body(s->px, stmts, s->span);
}

static struct ir_list inits_of(const struct split *s)
{
	struct ir_list inits = { 0 };
	uint32_t i;

	for (i = 0; i < s->loop->iter_args.n; i++)
		list_push(s->px, &inits, IR_AS(s->loop->iter_args.at[i], var)->init);
	return inits;
}

static bool is_zero(const struct ir_node *e)
{
	return e->kind == IR_CONST_INT && !IR_AS(e, const)->value;
}

static struct ir_node *split_loop(const struct split *s)
{
	int64_t c = s->loop->chunk;
	struct ir_node *n = binary(s, IR_FLOOR_DIV, s->trips, number(s, c));
	struct ir_node *rest = binary(s, IR_FLOOR_MOD, s->trips, number(s, c));
	struct ir_list inits = inits_of(s), stmts = { 0 };
	struct ir_for *out, *in, *rem;
	struct ir_node *first;

	if (!is_zero(n)) {
		out = counting(s, "out", n, &inits, 1);
		out->for_kind = FOR_SEQUENTIAL;
		in = counting(s, "in", number(s, c), &out->iter_args, 2);
		in->body = body_in(s, in, binary(s, IR_ADD, binary(s, IR_MUL, out->loop_var,
								   number(s, c)), in->loop_var), "in");
		out->body = around(s, in);
		if (is_zero(rest))
			out->return_vars = s->loop->return_vars;
		inits = out->return_vars;
		list_push(s->px, &stmts, &out->node);
	}
	if (!is_zero(rest) || is_zero(n)) {
		rem = counting(s, "rem", rest, &inits, 3);
		first = binary(s, IR_MUL, n, number(s, c));
		rem->body = body_in(s, rem, binary(s, IR_ADD, first, rem->loop_var), "rem");
		rem->return_vars = s->loop->return_vars;
		list_push(s->px, &stmts, &rem->node);
	}
	return ir_body(s->px, stmts, s->span);
}

static struct ir_node *split_stmt(struct px *px, struct ir_node *stmt)
{
	struct ir_node *copy = pass_bodies(px, stmt, split_body, NULL);
	struct split s = { .px = px, .loop = IR_AS(copy, for), .span = stmt->span };

	if (stmt->kind != IR_FOR || !s.loop->chunk)
		return copy;
	if (s.loop->step->kind != IR_CONST_INT) {
		diag_hint(px, diag_add(px, DIAG_COMPILE, s.loop->step->span,
				       "A loop with chunk= needs a constant step"),
			  "Count by one and multiply in the body");
		return copy;
	}
	s.trips = trips_of(&s);
	return s.trips ? split_loop(&s) : copy;
}

static struct ir_node *split_body(struct px *px, struct ir_node *body, void *unused)
{
	struct ir_list stmts = ir_flat(px, body), out = { 0 };
	uint32_t i;

	(void)unused;
	for (i = 0; i < stmts.n; i++)
		list_push(px, &out, split_stmt(px, stmts.at[i]));
	return ir_body(px, out, body->span);
}

static struct ir_function *split_function(struct px *px, struct ir_function *old, void *data)
{
	struct ir_function *f = ir_copy(px, &old->node);

	f->body = split_body(px, old->body, data);
	return f;
}

struct ir_program *pass_split_chunks(struct px *px, struct ir_program *program,
				     const struct pass_options *options)
{
	(void)options;
	return pass_each(px, program, split_function, NULL);
}
