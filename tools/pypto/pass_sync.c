/* SPDX-License-Identifier: MIT */
/*
 * InsertSync, section 7.9. Which pairs of a set and a wait are needed, and which barriers, is
 * decided on the machine's view of the function (ptoas/sync.h), which leaves out what a chain of
 * others gives. Here they get their places; sync_event.c numbers them.
 *
 * A pair stands right behind its producer and right in front of its consumer; both stand together
 * where one of the two is inside a loop or branch. What an iteration needs of the one before is at
 * the end of the body.
 */
#include <string.h>

#include "../ptoas/sync.h"
#include "machine.h"
#include "pass.h"
#include "sync_event.h"

#define MAX_TRIALS	16

struct spot {
	struct sync_mark *before, **before_end, *after, **after_end, *tail, **tail_end;
};

struct place_sync {
	struct px *px;
	struct machine mc;
	struct sync_events events;
	struct var_map spots;		/* statement -> struct spot */
	struct ir_list *out;
	struct ir_list doubtful;	/* barriers in front of a loop or branch */
};

static struct spot *spot_of(struct place_sync *p, const struct pto_op *op)
{
	struct ir_node *stmt = machine_stmt(&p->mc, op);
	struct spot *spot = stmt ? var_map_get(&p->spots, stmt) : NULL;

	if (spot || !stmt)
		return spot;
	spot = px_new(p->px, struct spot);
	spot->before_end = &spot->before;
	spot->after_end = &spot->after;
	spot->tail_end = &spot->tail;
	var_map_set(&p->spots, stmt, spot);
	return spot;
}

static void put(struct place_sync *p, struct sync_mark ***end, enum sync_mark_kind kind,
		struct event_pair *pair, unsigned int pipe)
{
	struct sync_mark *mark = px_new(p->px, struct sync_mark);

	mark->kind = kind;
	mark->pair = pair;
	mark->pipe = (uint8_t)pipe;
	**end = mark;
	*end = &mark->next;
}

static void put_both(struct place_sync *p, struct sync_mark ***end, struct event_pair *pair)
{
	put(p, end, MARK_SET, pair, 0);
	put(p, end, MARK_WAIT, pair, 0);
}

static bool has_pair(const struct sync_mark *mark, const struct sync_pair *pair)
{
	for (; mark; mark = mark->next)
		if (mark->pair && mark->pair->src == pair->src && mark->pair->dst == pair->dst)
			return true;
	return false;
}

static void place_pair(struct place_sync *p, const struct sync_pair *s)
{
	struct spot *after = spot_of(p, s->after), *before = spot_of(p, s->before);
	struct spot *loop = s->loop ? spot_of(p, s->loop) : NULL;
	struct event_pair *pair = px_new(p->px, struct event_pair);

	pair->src = s->src;
	pair->dst = s->dst;
	if (s->loop) {
		if (!has_pair(loop->tail, s))
			put_both(p, &loop->tail_end, pair);
	} else if (s->before->n_regions && !s->after->n_regions) {
		put_both(p, &after->after_end, pair);
	} else if (s->after->n_regions) {
		put_both(p, &before->before_end, pair);
	} else {
		put(p, &after->after_end, MARK_SET, pair, 0);
		put(p, &before->before_end, MARK_WAIT, pair, 0);
	}
}

static bool has_barrier(const struct sync_mark *mark, unsigned int pipe)
{
	for (; mark; mark = mark->next)
		if (mark->kind == MARK_BARRIER && mark->pipe == pipe)
			return true;
	return false;
}

static void place_barrier(struct place_sync *p, const struct sync_barrier *b)
{
	struct spot *spot = spot_of(p, b->loop ? b->loop : b->before);

	if (!spot)	/* the end of the function */
		return;
	if (!b->loop)
		put(p, &spot->before_end, MARK_BARRIER, NULL, b->pipe);
	else if (!has_barrier(spot->tail, b->pipe))
		put(p, &spot->tail_end, MARK_BARRIER, NULL, b->pipe);
}

static void place_all(struct place_sync *p, const struct sync *s)
{
	uint32_t i;

	for (i = 0; i < s->n_pairs; i++)
		place_pair(p, &s->pairs[i]);
	for (i = 0; i < s->n_barriers; i++)
		place_barrier(p, &s->barriers[i]);
}

/* ---- Writing ---- */

static bool is_nested(const struct ir_node *s)
{
	return s->kind == IR_FOR || s->kind == IR_WHILE || s->kind == IR_IF;
}

static struct ir_node *write_body(struct place_sync *p, struct ir_node *body,
				  const struct sync_mark *tail);

static struct ir_node *write_loop(struct place_sync *p, struct ir_node *s, struct ir_node *body,
				  const struct sync_mark *tail)
{
	struct sync_events before = p->events;
	struct ir_node *copy = ir_copy(p->px, s);

	body = write_body(p, body, tail);
	if (s->kind == IR_FOR)
		IR_AS(copy, for)->body = body;
	else
		IR_AS(copy, while)->body = body;
	sync_events_join(&p->events, &before);
	return copy;
}

static struct ir_node *write_if(struct place_sync *p, const struct ir_if *s)
{
	struct sync_events before = p->events, after;
	struct ir_if *copy = ir_copy(p->px, &s->node);

	copy->then_body = write_body(p, s->then_body, NULL);
	after = p->events;
	p->events = before;
	if (s->else_body)
		copy->else_body = write_body(p, s->else_body, NULL);
	sync_events_join(&p->events, &after);
	return &copy->node;
}

static void write_stmt(struct place_sync *p, struct ir_node *s)
{
	const struct spot *spot = var_map_get(&p->spots, s);
	uint32_t i = p->out->n;

	if (spot)
		sync_write_marks(&p->events, spot->before, s->span, p->out);
	for (; is_nested(s) && i < p->out->n; i++)
		if (sync_is_barrier(p->out->at[i]))
			list_push(p->px, &p->doubtful, p->out->at[i]);
	switch (s->kind) {
	case IR_FOR:
		s = write_loop(p, s, IR_AS(s, for)->body, spot ? spot->tail : NULL);
		break;
	case IR_WHILE:
		s = write_loop(p, s, IR_AS(s, while)->body, spot ? spot->tail : NULL);
		break;
	case IR_IF:
		s = write_if(p, IR_AS(s, if));
		break;
	}
	list_push(p->px, p->out, s);
	if (spot)
		sync_write_marks(&p->events, spot->after, s->span, p->out);
}

static struct ir_node *write_body(struct place_sync *p, struct ir_node *body,
				  const struct sync_mark *tail)
{
	struct ir_list stmts = ir_flat(p->px, body), out = { 0 }, *outer = p->out;
	uint32_t i, n = stmts.n;
	bool yields = n && stmts.at[n - 1]->kind == IR_YIELD;

	p->out = &out;
	for (i = 0; i + yields < n; i++)
		write_stmt(p, stmts.at[i]);
	sync_write_marks(&p->events, tail, n ? stmts.at[n - 1]->span : body->span, p->out);
	if (yields)
		list_push(p->px, &out, stmts.at[n - 1]);
	p->out = outer;
	return ir_body(p->px, out, body->span);
}

/* ---- Barriers that the inside of a loop makes superfluous ---- */

static struct ir_node *without(struct px *px, struct ir_node *body, void *drop)
{
	struct ir_list stmts = ir_flat(px, body), out = { 0 };
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		struct ir_node *s = stmts.at[i];

		if (s != drop)
			list_push(px, &out, is_nested(s) ? pass_bodies(px, s, without, drop) : s);
	}
	return ir_body(px, out, body->span);
}

/* Whether the function has no hazard as it is. */
static bool is_safe(struct px *px, const struct ir_function *f, int arch)
{
	struct pto_options options = { .arch_given = true, .arch = (enum pto_arch)arch };
	struct pto_diags d;
	struct machine mc;
	int rc = machine_build(&mc, px, f, options.arch, MACHINE_BUFFERS);

	pto_diags_init(&d);
	rc = rc ? rc : pto_check_hazards(mc.m, &options, &d);
	pto_diags_fini(&d);
	machine_fini(&mc);
	if (rc == -ENOMEM)
		px_no_memory(px);
	return !rc;
}

/*
 * To what is around it a loop is one instruction; the checker looks inside, and sees where the
 * order of other pipes is enough.
 */
static struct ir_node *thin_out(struct place_sync *p, const struct ir_function *f,
				struct ir_node *body, int arch)
{
	struct ir_function *trial = ir_copy(p->px, &f->node);
	uint32_t i;

	for (i = 0; i < p->doubtful.n && i < MAX_TRIALS; i++) {
		trial->body = without(p->px, body, p->doubtful.at[i]);
		if (is_safe(p->px, trial, arch))
			body = trial->body;
	}
	return body;
}

static void free_sync(void *s)
{
	sync_fini(s);
}

static int decide(struct place_sync *p, const struct ir_function *f, int arch)
{
	struct pto_pass_ctx c = { .arch = (enum pto_arch)arch };
	struct sync *s = px_new(p->px, struct sync);
	int rc = machine_build(&p->mc, p->px, f, c.arch, MACHINE_BUFFERS);

	*s = (struct sync){ .c = &c, .no_ids = true };
	c.module = p->mc.m;
	if (rc)
		return rc;
	px_own(p->px, free_sync, s);
	rc = sync_decide(s, p->mc.func->op);
	if (!rc)
		place_all(p, s);
	px_release(p->px, s);
	return rc;
}

static struct ir_function *sync_function(struct px *px, struct ir_function *old, void *data)
{
	struct place_sync p = { .px = px, .spots = { .px = px } };
	const struct pass_options *options = data;
	struct ir_function *f;
	struct ir_node *body;
	int rc;

	if ((old->func_type != FN_INCORE && old->func_type != FN_BLOCK_INCORE) ||
	    pass_has_sync(old))
		return old;
	sync_events_init(&p.events, px);
	rc = decide(&p, old, options->arch);
	machine_fini(&p.mc);
	if (rc)
		px_no_memory(px);
	f = ir_copy(px, &old->node);
	body = thin_out(&p, old, write_body(&p, old->body, NULL), options->arch);
	f->body = pass_grouped(px, body, NULL);
	return f;
}

struct ir_program *pass_add_sync(struct px *px, struct ir_program *program,
				 const struct pass_options *options)
{
	return pass_each(px, program, sync_function, (void *)options);
}
