/* SPDX-License-Identifier: MIT */
/*
 * Pipes and clusters of a program: which ends belong together, and the rules of section 15.4.
 * Both ends of a pipe are parameters of two kernels; the orchestration connects them.
 */
#include <errno.h>
#include <string.h>

#include "gen_pipe.h"

static const struct entity *cluster_of(struct orch *o, const struct ir_call *call)
{
	uint32_t i;

	for (i = 0; i < call->args.n; i++)
		if (call->args.at[i]->type->kind == TY_CLUSTER)
			return orch_entity(o, call->args.at[i]);
	return NULL;
}

static bool find_ends(void *data, struct ir_node *node)
{
	struct pipe_ends *s = data;
	const struct ir_call *call = IR_AS(node, call);
	const struct ir_function *callee;
	uint32_t i;

	if (node->kind != IR_CALL || call->op)
		return true;
	callee = program_find(s->o->program, call->callee);
	for (i = 0; callee && i < call->args.n && i < callee->params.n; i++) {
		if (callee->directions[i] != DIR_PIPE_IN && callee->directions[i] != DIR_PIPE_OUT)
			continue;
		if (s->n == PIPE_ENDS) {
			s->too_many = true;
			return true;
		}
		s->at[s->n++] = (struct pipe_end){
			.call = call, .callee = callee, .param = i,
			.direction = callee->directions[i],
			.pipe = orch_entity(s->o, call->args.at[i]),
			.cluster = cluster_of(s->o, call),
		};
	}
	return true;
}

struct pipe_ends *pipe_ends_of(struct px *px, const struct ir_program *program,
			       const struct ir_function *f)
{
	struct pipe_ends *s = px_new(px, struct pipe_ends);

	s->o = orch_new(px, program, f);
	if (!s->o)
		return NULL;
	ir_walk(f->body, find_ends, s);
	if (s->too_many)
		diag_add(px, DIAG_COMPILE, f->node.span, "More than %d pipe arguments in '%s'",
			 PIPE_ENDS, f->name);
	return s;
}

/* ---- Numbers ---- */

/*
 * Ends that a pipe or a kernel's parameter has in common are one pipe: its lowest end's
 * position.
 */
static void label(const struct pipe_ends *s, unsigned int *labels)
{
	bool changed = true;
	unsigned int i, k;

	for (i = 0; i < s->n; i++)
		labels[i] = i;
	while (changed) {
		changed = false;
		for (i = 0; i < s->n; i++)
			for (k = 0; k < s->n; k++) {
				if (s->at[i].pipe != s->at[k].pipe &&
				    (s->at[i].callee != s->at[k].callee ||
				     s->at[i].param != s->at[k].param))
					continue;
				changed |= labels[k] > labels[i];
				labels[k] = labels[k] > labels[i] ? labels[i] : labels[k];
			}
	}
}

unsigned int gen_pipe_number(struct px *px, const struct ir_program *program,
			     const struct ir_function *f, uint32_t param)
{
	const struct ir_function *orch = gen_orchestration_of(px, program);
	struct pipe_ends *s = orch ? pipe_ends_of(px, program, orch) : NULL;
	unsigned int labels[PIPE_ENDS], number = 0, i;
	uint32_t p;

	if (s)
		label(s, labels);
	for (i = 0; s && i < s->n; i++) {
		if (s->at[i].callee == f && s->at[i].param == param) {
			unsigned int k;

			for (k = 0; k < labels[i]; k++)
				number += labels[k] == k;
			return number;
		}
	}
	for (p = 0; p < param; p++)
		number += f->params.at[p]->type->kind == TY_PIPE;
	return number;
}

/* ---- Pushes and pops ---- */

struct count {
	const struct ir_node *pipe;	/* counts what goes through it; NULL: counts @call */
	const struct ir_call *call;
	int64_t n, times;	/* -1: not constant, or beyond 64 bits */
};

static void count_body(struct count *c, struct ir_node *body);

static bool is_counted(const struct count *c, const struct ir_call *call)
{
	if (!c->pipe)
		return call == c->call;
	return call->op && call->args.n &&
	       (call->op->rule == rule_tpop || call->op->rule == rule_tpush) &&
	       call->args.at[call->args.n - 1] == c->pipe;
}

static bool count_calls(void *data, struct ir_node *node)
{
	struct count *c = data;

	if (node->kind == IR_CALL && is_counted(c, IR_AS(node, call)) &&
	    (c->n < 0 || c->times < 0 || __builtin_add_overflow(c->n, c->times, &c->n)))
		c->n = -1;
	return true;
}

static int64_t trips_of(const struct ir_for *s)
{
	int64_t n;

	return ir_trips(s->start, s->stop, s->step, &n) ? -1 : n;
}

static void count_nested(struct count *c, struct ir_node *body, int64_t trips)
{
	int64_t before = c->times;

	if (before < 0 || trips < 0 || __builtin_mul_overflow(before, trips, &c->times))
		c->times = -1;
	count_body(c, body);
	c->times = before;
}

static void count_stmt(struct count *c, struct ir_node *stmt)
{
	switch (stmt->kind) {
	case IR_FOR:
		count_nested(c, IR_AS(stmt, for)->body, trips_of(IR_AS(stmt, for)));
		break;
	case IR_WHILE:
		count_nested(c, IR_AS(stmt, while)->body, -1);
		break;
	case IR_IF:
		count_nested(c, IR_AS(stmt, if)->then_body, -1);
		if (IR_AS(stmt, if)->else_body)
			count_nested(c, IR_AS(stmt, if)->else_body, -1);
		break;
	case IR_SCOPE:
		count_body(c, IR_AS(stmt, scope)->body);
		break;
	case IR_OPS:
	case IR_SEQ:
		count_body(c, stmt);
		break;
	default:
		ir_walk(stmt, count_calls, c);
	}
}

static void count_body(struct count *c, struct ir_node *body)
{
	struct ir_list stmts = body->kind == IR_OPS ? IR_AS(body, seq)->stmts : ir_stmts(&body);
	uint32_t i;

	for (i = 0; i < stmts.n; i++)
		count_stmt(c, stmts.at[i]);
}

/* How often a kernel pushes into or pops from its parameter; -1: that is not constant. */
static int64_t transfers(const struct pipe_end *e)
{
	struct count c = { .pipe = e->callee->params.at[e->param], .times = 1 };

	count_body(&c, e->callee->body);
	return c.n;
}

static bool holds(struct ir_node *body, const struct ir_call *call)
{
	struct count c = { .call = call, .times = 1 };

	if (body)
		ir_walk(body, count_calls, &c);
	return c.n;
}

/* The body of @stmt that both calls are in; NULL: there is none. */
static struct ir_node *body_with(struct ir_node *stmt, const struct ir_call *a,
				 const struct ir_call *b)
{
	struct ir_node *bodies[2] = { NULL, NULL };
	int i;

	if (stmt->kind == IR_FOR)
		bodies[0] = IR_AS(stmt, for)->body;
	if (stmt->kind == IR_WHILE)
		bodies[0] = IR_AS(stmt, while)->body;
	if (stmt->kind == IR_SCOPE)
		bodies[0] = IR_AS(stmt, scope)->body;
	if (stmt->kind == IR_IF) {
		bodies[0] = IR_AS(stmt, if)->then_body;
		bodies[1] = IR_AS(stmt, if)->else_body;
	}
	for (i = 0; i < 2; i++)
		if (holds(bodies[i], a) && holds(bodies[i], b))
			return bodies[i];
	return NULL;
}

/* The innermost body that both calls are in: it runs both of them as often. */
static struct ir_node *common_body(struct px *px, struct ir_node *body, const struct ir_call *a,
				   const struct ir_call *b)
{
	struct ir_list stmts = ir_flat(px, body);
	struct ir_node *inner = NULL;
	uint32_t i;

	for (i = 0; i < stmts.n && !inner; i++)
		inner = body_with(stmts.at[i], a, b);
	return inner ? common_body(px, inner, a, b) : body;
}

/* What an end moves while @body runs; -1: that is not constant. */
static int64_t transfers_in(struct ir_node *body, const struct pipe_end *e)
{
	struct count c = { .call = e->call, .times = 1 };
	int64_t n = transfers(e);

	count_body(&c, body);
	return n < 0 || c.n < 0 || __builtin_mul_overflow(n, c.n, &n) ? -1 : n;
}

/* ---- Rules ---- */

static void mistake(struct px *px, const struct pipe_end *e, const char *hint, const char *text)
{
	struct diag *d = diag_add(px, DIAG_COMPILE, e->call->node.span, "%s", text);

	if (hint)
		diag_hint(px, d, "%s", hint);
}

static const char *name_of(struct px *px, const struct pipe_end *e)
{
	return gen_base_name(px, IR_AS(e->pipe->def, var)->name);
}

static void check_counts(struct orch *o, const struct pipe_end *out, const struct pipe_end *in)
{
	struct ir_node *body = common_body(o->px, o->f->body, out->call, in->call);
	int64_t pushes = transfers_in(body, out), pops = transfers_in(body, in);
	struct px *px = o->px;

	if (pushes >= 0 && pops >= 0 && pushes != pops)
		mistake(px, in, "Every push must be popped before the scope ends",
			px_printf(px, "Pipe '%s': %lld pushes, %lld pops", name_of(px, out),
				  (long long)pushes, (long long)pops));
	else if (pushes < 0 || pops < 0)
		diag_add(px, DIAG_WARNING, in->call->node.span,
			 "Pipe '%s': the numbers of pushes and pops are not known here",
			 name_of(px, out));
}

static void check_pair(struct orch *o, const struct pipe_end *out, const struct pipe_end *in)
{
	struct px *px = o->px;
	enum gen_core from = gen_core(px, out->callee), to = gen_core(px, in->callee);

	if (out->cluster != in->cluster)
		mistake(px, in, "Pass the same cluster id to both kernels",
			px_printf(px, "Pipe '%s' connects kernels on different clusters",
				  name_of(px, out)));
	else if (from == to)
		mistake(px, in, "One end runs on the cube core, the other on a vector core",
			px_printf(px, "Pipe '%s' connects two %s kernels", name_of(px, out),
				  from == CORE_CUBE ? "cube" : "vector"));
	else
		check_counts(o, out, in);
}

/* The other ends of the pipe of end @i. */
static unsigned int ends_on(const struct pipe_ends *s, const struct entity *pipe, uint8_t direction,
			    const struct pipe_end **found)
{
	unsigned int n = 0, i;

	for (i = 0; i < s->n; i++) {
		if (s->at[i].pipe != pipe || s->at[i].direction != direction)
			continue;
		*found = &s->at[i];
		n++;
	}
	return n;
}

static void check_pipe(struct px *px, const struct pipe_ends *s, const struct pipe_end *e)
{
	const struct pipe_end *out = NULL, *in = NULL;
	unsigned int n_out = ends_on(s, e->pipe, DIR_PIPE_OUT, &out);
	unsigned int n_in = ends_on(s, e->pipe, DIR_PIPE_IN, &in);

	if (n_in > 1)
		mistake(px, in, "Give the producer one PIPE_OUT parameter per consumer",
			px_printf(px, "Pipe '%s' has %u consumers; declare one PIPE_OUT per consumer",
				  name_of(px, e), n_in));
	else if (n_out > 1)
		mistake(px, out, NULL, px_printf(px, "Pipe '%s' has %u producers", name_of(px, e),
						 n_out));
	else if (!n_out || !n_in)
		mistake(px, e, "A pipe needs one kernel that pushes and one that pops",
			px_printf(px, "Pipe '%s' has no %s", name_of(px, e),
				  n_out ? "consumer" : "producer"));
	else
		check_pair(s->o, out, in);
}

/* The kernels of different pipes of a cluster know them by different numbers. */
static void check_numbers(struct px *px, const struct pipe_ends *s)
{
	unsigned int labels[PIPE_ENDS], i, k;

	label(s, labels);
	for (i = s->n; i--;) {
		for (k = 0; k < i; k++) {
			const struct pipe_end *a = &s->at[k], *b = &s->at[i];

			if (labels[i] != labels[k] || a->pipe == b->pipe ||
			    a->cluster != b->cluster || !a->pipe || !b->pipe)
				continue;
			diag_hint(px, diag_add(px, DIAG_COMPILE, b->call->node.span,
					       "Pipes '%s' and '%s' of one cluster go through the same kernels",
					       name_of(px, a), name_of(px, b)),
				  "Write the kernel once more for the second pipe");
			return;
		}
	}
}

static bool check_blocks(void *data, struct ir_node *node)
{
	struct pipe_ends *s = data;
	const struct ir_call *call = IR_AS(node, call);
	const struct entity *cluster;
	const struct ir_node *count;

	if (node->kind != IR_CALL || call->op || !call->blockdim)
		return true;
	cluster = cluster_of(s->o, call);
	if (!cluster || !cluster->call)
		return true;
	count = cluster->call->node.type->shape.at[0];
	if (count->kind == IR_CONST_INT && call->blockdim->kind == IR_CONST_INT &&
	    IR_AS(count, const)->value != IR_AS(call->blockdim, const)->value)
		diag_hint(s->o->px, diag_add(s->o->px, DIAG_COMPILE, node->span,
					     "allocated clusters (%lld) != blockdim (%lld)",
					     (long long)IR_AS(count, const)->value,
					     (long long)IR_AS(call->blockdim, const)->value),
			  "Each block runs on a cluster of its own: pl.allocate_cluster(%lld)",
			  (long long)IR_AS(call->blockdim, const)->value);
	return true;
}

int gen_check_groups(struct px *px, const struct ir_program *program, const struct ir_function *f)
{
	struct pipe_ends *s = pipe_ends_of(px, program, f);
	unsigned int i, k;

	if (!s)
		return -EINVAL;
	ir_walk(f->body, check_blocks, s);
	for (i = 0; i < s->n; i++) {
		for (k = 0; k < i && s->at[k].pipe != s->at[i].pipe; k++)
			;
		if (k == i && s->at[i].pipe)
			check_pipe(px, s, &s->at[i]);
	}
	if (!px->n_errors)
		check_numbers(px, s);
	return px->n_errors ? -EINVAL : 0;
}
