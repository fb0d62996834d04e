/* SPDX-License-Identifier: MIT */
/*
 * InterchangeChunkLoops, section 7.5. A nest of split loops whose inner loops are all parallel gets
 * its outer loops first; the inner ones together are an InCore region. Only in Opaque functions,
 * and only where nothing stands between the loops.
 */
#include "pass.h"
#include "walk.h"

#define MAX_NEST	16

enum { ORIGIN_OUTER = 1, ORIGIN_INNER = 2, ORIGIN_REMAINDER = 3 };

struct nest {
	struct ir_for *outer[MAX_NEST], *inner[MAX_NEST];
	unsigned int n;
};

static struct ir_node *change_body(struct px *px, struct ir_node *body, void *unused);

/* The loop that @body consists of, whose results it yields as they are; NULL: it is not so. */
static struct ir_for *only_loop(struct px *px, struct ir_node *body)
{
	struct ir_list stmts = ir_flat(px, body);
	struct ir_for *loop;
	uint32_t i;

	if (!stmts.n || stmts.n > 2 || stmts.at[0]->kind != IR_FOR)
		return NULL;
	loop = IR_AS(stmts.at[0], for);
	if (stmts.n == 1)
		return loop;
	if (stmts.at[1]->kind != IR_YIELD ||
	    IR_AS(stmts.at[1], values)->values.n != loop->return_vars.n)
		return NULL;
	for (i = 0; i < loop->return_vars.n; i++)
		if (IR_AS(stmts.at[1], values)->values.at[i] != loop->return_vars.at[i])
			return NULL;
	return loop;
}

static bool hands_on(const struct ir_for *outer, const struct ir_for *inner)
{
	uint32_t i;

	if (outer->iter_args.n != inner->iter_args.n)
		return false;
	for (i = 0; i < outer->iter_args.n; i++)
		if (IR_AS(inner->iter_args.at[i], var)->init != outer->iter_args.at[i])
			return false;
	return true;
}

static bool find_var(void *data, struct ir_node *node)
{
	if (node == ((struct ir_node **)data)[0])
		((struct ir_node **)data)[1] = node;
	return true;
}

static bool uses(struct ir_node *expr, struct ir_node *var)
{
	struct ir_node *data[] = { var, NULL };

	ir_walk(expr, find_var, data);
	return data[1];
}

/* Adds the pair of loops that @outer begins to the nest. */
static bool add_pair(struct px *px, struct nest *nest, struct ir_for *outer)
{
	struct ir_for *inner = only_loop(px, outer->body);
	unsigned int i;

	if (outer->origin != ORIGIN_OUTER || !inner || inner->origin != ORIGIN_INNER ||
	    inner->for_kind != FOR_PARALLEL || !hands_on(outer, inner) || nest->n == MAX_NEST)
		return false;
	for (i = 0; i < nest->n; i++)
		if (uses(outer->stop, nest->inner[i]->loop_var))
			return false;
	if (nest->n && !hands_on(nest->inner[nest->n - 1], outer))
		return false;
	nest->outer[nest->n] = outer;
	nest->inner[nest->n++] = inner;
	return true;
}

static bool find_call(void *data, struct ir_node *node)
{
	if (node->kind == IR_SCOPE || node->kind == IR_RETURN ||
	    (node->kind == IR_CALL && !IR_AS(node, call)->op))
		*(bool *)data = true;
	return true;
}

/* A region may hold it: no region or call of a function is inside. */
static bool fits_region(struct ir_node *stmt)
{
	bool found = false;

	ir_walk(stmt, find_call, &found);
	return !found;
}

static struct ir_node *region(struct px *px, struct ir_node *stmt)
{
	struct ir_scope *scope = ir_new(px, IR_SCOPE, stmt->span, NULL);

	scope->body = stmt;
	return &scope->node;
}

/* @outer around @stmt, which is or holds @inner; carried values are linked anew. */
static struct ir_for *wrap(struct px *px, struct ir_for *outer, const struct ir_for *inner,
			   struct ir_node *stmt)
{
	struct ir_list stmts = { 0 };
	struct ir_for *loop = ir_copy(px, &outer->node);

	list_push(px, &stmts, stmt);
	if (inner->return_vars.n)
		list_push(px, &stmts, ir_values(px, IR_YIELD, inner->return_vars,
						outer->node.span));
	loop->body = ir_body(px, stmts, outer->node.span);
	return loop;
}

/* Copies of the loops; the carried values of each start as those of the one before. */
static void relink(struct px *px, struct ir_for **loops, unsigned int n)
{
	struct var_map map = { .px = px };
	unsigned int i;
	uint32_t k;

	for (i = 0; i < n; i++) {
		struct ir_for *loop = ir_copy(px, &loops[i]->node);

		loop->iter_args = (struct ir_list){ 0 };
		for (k = 0; k < loops[i]->iter_args.n; k++) {
			struct ir_var *arg = ir_copy(px, loops[i]->iter_args.at[k]);

			if (i)
				arg->init = loops[i - 1]->iter_args.at[k];
			list_push(px, &loop->iter_args, &arg->node);
			var_map_set(&map, loops[i]->iter_args.at[k], arg);
		}
		loops[i] = loop;
	}
	if (map.n)
		loops[n - 1]->body = ir_clone_stmt(&map, loops[n - 1]->body);
}

static struct ir_node *change_nest(struct px *px, const struct nest *nest)
{
	struct ir_for *loops[2 * MAX_NEST], *inner;
	unsigned int i, n = 2 * nest->n;
	struct ir_node *stmt;

	for (i = 0; i < nest->n; i++) {
		loops[i] = nest->outer[i];
		loops[nest->n + i] = nest->inner[i];
	}
	relink(px, loops, n);
	inner = loops[n - 1];
	for (i = n - 1; i > nest->n; i--)
		inner = wrap(px, loops[i - 1], inner, &inner->node);
	stmt = region(px, &inner->node);
	for (i = nest->n; i; i--) {
		inner = wrap(px, loops[i - 1], inner, stmt);
		stmt = &inner->node;
	}
	return stmt;
}

static struct ir_node *change_loop(struct px *px, struct ir_for *loop)
{
	struct nest nest = { .n = 0 };
	struct ir_for *next = loop;

	if (loop->origin == ORIGIN_REMAINDER && loop->for_kind == FOR_PARALLEL &&
	    fits_region(&loop->node))
		return region(px, &loop->node);
	while (next && add_pair(px, &nest, next))
		next = only_loop(px, nest.inner[nest.n - 1]->body);
	if (!nest.n || !fits_region(nest.inner[nest.n - 1]->body))
		return pass_bodies(px, &loop->node, change_body, NULL);
	return change_nest(px, &nest);
}

static struct ir_node *change_body(struct px *px, struct ir_node *body, void *unused)
{
	struct ir_list stmts = ir_flat(px, body), out = { 0 };
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		struct ir_node *s = stmts.at[i];

		if (s->kind == IR_FOR)
			list_push(px, &out, change_loop(px, IR_AS(s, for)));
		else if (s->kind == IR_SCOPE)
			list_push(px, &out, s);
		else
			list_push(px, &out, pass_bodies(px, s, change_body, unused));
	}
	return ir_body(px, out, body->span);
}

static struct ir_function *change_function(struct px *px, struct ir_function *old, void *data)
{
	struct ir_function *f = ir_copy(px, &old->node);

	if (old->func_type == FN_OPAQUE)
		f->body = change_body(px, old->body, data);
	return f;
}

struct ir_program *pass_interchange_chunks(struct px *px, struct ir_program *program,
					   const struct pass_options *options)
{
	(void)options;
	return pass_each(px, program, change_function, NULL);
}
