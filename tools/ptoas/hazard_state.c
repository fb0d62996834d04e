/* SPDX-License-Identifier: MIT */
/*
 * One step of the machine model: a pipe starts instructions in order; it knows that an access is
 * complete after a barrier of its own, or after waiting for a flag that was set behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "hazard.h"

#define FOUND_MAX	4	/* conflicts reported per instruction */

static uint64_t *known_of(const struct hazard *h, const struct hz_state *s, unsigned int pipe)
{
	return s->known + (size_t)pipe * h->a.words;
}

static uint64_t *snap_of(const struct hazard *h, const struct hz_state *s, uint32_t event)
{
	return s->snap + (size_t)event * h->a.words;
}

static const uint64_t *on_pipe(const struct hazard *h, unsigned int pipe)
{
	return h->on_pipe + (size_t)pipe * h->a.words;
}

/* ---- States ------------------------------------------------------------------------------- */

struct hz_state hz_state_new(const struct hazard *h)
{
	size_t known = (size_t)PTO_PIPES * h->a.words, snap = (size_t)h->n_events * h->a.words;
	struct hz_state s = { .known = calloc(known + snap + 1, sizeof(*s.known)) };

	s.status = calloc(h->n_events + 1u, 1);
	if (!s.known || !s.status)
		return s;
	s.snap = s.known + known;
	memset(s.known, 0xFF, known * sizeof(*s.known)); /* nothing has run */
	return s;
}

void hz_state_free(struct hz_state *s)
{
	free(s->known);
	free(s->status);
}

void hz_copy(const struct hazard *h, struct hz_state *to, const struct hz_state *from)
{
	size_t n = ((size_t)PTO_PIPES + h->n_events) * h->a.words;

	memcpy(to->known, from->known, n * sizeof(*to->known));
	memcpy(to->status, from->status, h->n_events);
	to->seen = from->seen;
}

static bool and_into(uint64_t *to, const uint64_t *from, size_t n)
{
	uint64_t changed = 0, both;
	size_t i;

	for (i = 0; i < n; i++) {
		both = to[i] & from[i];
		changed |= both ^ to[i];
		to[i] = both;
	}
	return changed;
}

static void or_into(uint64_t *to, const uint64_t *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] |= from[i];
}

static bool join_event(const struct hazard *h, struct hz_state *to, const struct hz_state *from,
		       uint32_t e)
{
	uint8_t before = to->status[e];
	uint64_t *snap = snap_of(h, to, e);

	if (before == HZ_CLEAR && from->status[e] != HZ_CLEAR)
		memcpy(snap, snap_of(h, from, e), h->a.words * sizeof(*snap));
	if (before != from->status[e])
		to->status[e] = HZ_MAYBE;
	if (from->status[e] == HZ_CLEAR || before == HZ_CLEAR)
		return to->status[e] != before;
	return and_into(snap, snap_of(h, from, e), h->a.words) || to->status[e] != before;
}

bool hz_join(const struct hazard *h, struct hz_state *to, const struct hz_state *from)
{
	bool changed;
	uint32_t e;

	if (!to->seen) {
		hz_copy(h, to, from);
		to->seen = true;
		return true;
	}
	changed = and_into(to->known, from->known, (size_t)PTO_PIPES * h->a.words);
	for (e = 0; e < h->n_events; e++)
		changed |= join_event(h, to, from, e);
	return changed;
}

/* ---- Events ------------------------------------------------------------------------------- */

static bool is_set(enum pto_opcode code)
{
	return code == PTO_OP_SET_FLAG || code == PTO_OP_SET_FLAG_DYN;
}

static bool is_wait(enum pto_opcode code)
{
	return code == PTO_OP_WAIT_FLAG || code == PTO_OP_WAIT_FLAG_DYN;
}

static struct hz_event event_of(struct pto_op *op)
{
	struct hz_event e = {
		.src = (uint8_t)pto_attr_int(op, "src_pipe", 0),
		.dst = (uint8_t)pto_attr_int(op, "dst_pipe", 0),
		.id = pto_attr_int(op, "event_id", -1), .first = op,
	};

	if (op->n_operands && !pto_const_int(op->operand[0].value, &e.id))
		e.dynamic = op->operand[0].value;
	return e;
}

static uint32_t find_event(const struct hazard *h, const struct hz_event *e)
{
	uint32_t i;

	for (i = 0; i < h->n_events; i++)
		if (h->events[i].src == e->src && h->events[i].dst == e->dst &&
		    h->events[i].id == e->id && h->events[i].dynamic == e->dynamic)
			break;
	return i;
}

int hz_find_events(struct hazard *h)
{
	uint32_t i;

	h->n_events = 0;
	for (i = 0; i < h->f.n_ops; i++) {
		struct pto_op *op = h->f.ops[i];
		struct hz_event e;

		if (!is_set(pto_code(op)) && !is_wait(pto_code(op)))
			continue;
		e = event_of(op);
		if (find_event(h, &e) < h->n_events)
			continue;
		if (h->n_events == h->event_room) {
			uint32_t room = h->event_room ? 2 * h->event_room : 32;
			void *p = realloc(h->events, room * sizeof(*h->events));

			if (!p)
				return -ENOMEM;
			h->events = p;
			h->event_room = room;
		}
		h->events[h->n_events++] = e;
	}
	return 0;
}

static void set_event(struct hazard *h, struct hz_state *s, struct pto_op *op)
{
	struct hz_event key = event_of(op);
	uint32_t e = find_event(h, &key);
	uint64_t *snap = snap_of(h, s, e);

	if (h->report && s->status[e] != HZ_CLEAR && !key.dynamic)
		pto_op_error(h->d, h->m, op, "wait for the flag first, or take another event id",
			     "sets event %lld from %s to %s while it is%s pending",
			     (long long)key.id, pto_pipe_name(key.src), pto_pipe_name(key.dst),
			     s->status[e] == HZ_MAYBE ? ", on some path," : "");
	memcpy(snap, known_of(h, s, key.src), h->a.words * sizeof(*snap));
	or_into(snap, on_pipe(h, key.src), h->a.words);
	s->status[e] = HZ_SET;
}

static void wait_event(struct hazard *h, struct hz_state *s, struct pto_op *op)
{
	struct hz_event key = event_of(op);
	uint32_t e = find_event(h, &key);

	if (h->report && s->status[e] != HZ_SET && !key.dynamic)
		pto_op_error(h->d, h->m, op, "set the flag on every path to the wait",
			     "waits for event %lld from %s to %s, which is %s set",
			     (long long)key.id, pto_pipe_name(key.src), pto_pipe_name(key.dst),
			     s->status[e] == HZ_MAYBE ? "not on every path" : "never");
	if (s->status[e] == HZ_SET)
		or_into(known_of(h, s, key.dst), snap_of(h, s, e), h->a.words);
	s->status[e] = HZ_CLEAR;
}

static void barrier(struct hazard *h, struct hz_state *s, int64_t pipe)
{
	if (pipe == PTO_PIPE_ALL)
		memset(s->known, 0xFF, (size_t)PTO_PIPES * h->a.words * sizeof(*s->known));
	else
		or_into(known_of(h, s, (unsigned int)pipe), on_pipe(h, (unsigned int)pipe),
			h->a.words);
}

/* What is still set when the function ends would meet the next one's flags. */
static void check_pending(struct hazard *h, const struct hz_state *s, struct pto_op *op)
{
	uint32_t e;

	for (e = 0; h->report && e < h->n_events; e++)
		if (s->status[e] != HZ_CLEAR && !h->events[e].dynamic)
			pto_op_error(h->d, h->m, op, "wait for it before the end",
				     "leaves event %lld from %s to %s set%s",
				     (long long)h->events[e].id, pto_pipe_name(h->events[e].src),
				     pto_pipe_name(h->events[e].dst),
				     s->status[e] == HZ_MAYBE ? " on some path" : "");
}

/* ---- Accesses ----------------------------------------------------------------------------- */

/* The access that is meant: the last one before @op, else the last one of an earlier iteration. */
static struct pto_op *other_op(const struct pto_cell *c, const struct pto_op *op, bool *carried)
{
	struct pto_op *best = NULL;
	uint32_t i;

	for (i = 0; i < c->n_ops && c->ops[i]->id < op->id; i++)
		best = c->ops[i];
	*carried = !best;
	return best ? best : c->ops[c->n_ops - 1];
}

static void report_conflict(struct hazard *h, struct pto_op *op, const struct pto_cell *mine,
			    const struct pto_cell *theirs)
{
	bool carried;
	const struct pto_op *o = other_op(theirs, op, &carried);
	uint32_t line = 0, col = 0;

	if (h->m->text && o->loc.at != PTO_NO_PLACE)
		pto_line_col(h->m->text, h->m->text_size, o->loc.at, &line, &col);
	pto_op_error(h->d, h->m, op,
		     mine->pipe == theirs->pipe ? "put a barrier of the pipe between them" :
		     "set a flag behind the first and wait for it before the second",
		     "%s %s from %s without waiting for the %s by '%s' on %s (line %u%s)",
		     mine->write ? "writes" : "reads", pto_space_name(mine->span.space),
		     pto_pipe_name(mine->pipe), theirs->write ? "write" : "read", o->info->name,
		     pto_pipe_name(theirs->pipe), line, carried ? ", an earlier iteration" : "");
}

/* Cells of another pipe that only @op itself touches: it runs on one of its pipes, not on both. */
static bool is_own(const struct pto_cell *mine, const struct pto_cell *theirs,
		   const struct pto_op *op)
{
	return mine->pipe != theirs->pipe && theirs->n_ops == 1 && theirs->ops[0] == op;
}

static void check_cell(struct hazard *h, const struct hz_state *s, struct pto_op *op,
		       uint32_t cell, unsigned int *found)
{
	const struct pto_cell *mine = &h->a.cells[cell];
	const uint64_t *known = known_of(h, s, mine->pipe), *conf = pto_conflicts(&h->a, cell);
	uint32_t w;

	for (w = 0; w < h->a.words; w++) {
		uint64_t bad = conf[w] & ~known[w];

		for (; bad && *found < FOUND_MAX; bad &= bad - 1) {
			const struct pto_cell *theirs =
				&h->a.cells[w * 64 + (uint32_t)__builtin_ctzll(bad)];

			if (is_own(mine, theirs, op))
				continue;
			++*found;
			report_conflict(h, op, mine, theirs);
		}
	}
}

static void run_cell(struct hazard *h, struct hz_state *s, uint32_t cell)
{
	uint64_t bit = UINT64_C(1) << (cell % 64);
	uint32_t w = cell / 64, e;
	unsigned int p;

	for (p = 0; p < PTO_PIPES; p++)
		known_of(h, s, p)[w] &= ~bit;
	for (e = 0; e < h->n_events; e++)
		snap_of(h, s, e)[w] &= ~bit;
	p = h->a.cells[cell].pipe;
	if (pto_in_order((enum pto_pipe)p, h->a.arch))
		known_of(h, s, p)[w] |= bit;
}

static void access_cells(struct hazard *h, struct hz_state *s, struct pto_op *op)
{
	const struct pto_touch *t = pto_touch_of(&h->a, op);
	unsigned int found = 0;
	uint32_t i;

	for (i = 0; h->report && i < t->n; i++)
		check_cell(h, s, op, h->a.touched[t->first + i], &found);
	for (i = 0; i < t->n; i++)
		run_cell(h, s, h->a.touched[t->first + i]);
}

static int has_instruction(struct pto_op *op, void *arg)
{
	struct hazard *h = arg;

	return pto_op_pipes(op, h->a.arch) != 0;
}

/* Whether what is called may touch buffers. */
static bool call_touches(struct hazard *h, const struct pto_op *op)
{
	const struct pto_attr *callee = pto_attr_find(op, "callee");
	unsigned int i;

	pto_for_each_func(f, h->m)
		if (callee && f->name == callee->text && pto_func_has_body(f))
			return pto_walk(f->op, has_instruction, h);
	for (i = 0; i < op->n_operands; i++)
		if (pto_is_local(op->operand[i].value->type) ||
		    pto_is_global(op->operand[i].value->type))
			return true;
	return false;
}

/* Everything before a call must be complete: nobody knows what it touches. */
static void check_call(struct hazard *h, const struct hz_state *s, struct pto_op *op)
{
	unsigned int p;
	uint32_t i;

	if (!h->report || !call_touches(h, op))
		return;
	for (p = 0; p < PTO_PIPES; p++)
		for (i = 0; i < h->a.n_cells; i++) {
			if (known_of(h, s, p)[i / 64] >> (i % 64) & 1)
				continue;
			pto_op_error(h->d, h->m, op, "put pto.barrier <PIPE_ALL> before the call",
				     "runs while instructions of %s may be unfinished",
				     pto_pipe_name(h->a.cells[i].pipe));
			return;
		}
}

void hz_run(struct hazard *h, struct hz_state *s, struct pto_op *op)
{
	switch (pto_code(op)) {
	case PTO_OP_SET_FLAG:
	case PTO_OP_SET_FLAG_DYN:
		set_event(h, s, op);
		break;
	case PTO_OP_WAIT_FLAG:
	case PTO_OP_WAIT_FLAG_DYN:
		wait_event(h, s, op);
		break;
	case PTO_OP_BARRIER:
		barrier(h, s, pto_attr_int(op, "pipe", PTO_PIPE_ALL));
		break;
	case PTO_OP_CALL:
		check_call(h, s, op);
		break;
	case PTO_OP_RETURN:
		check_pending(h, s, op);
		break;
	default:
		access_cells(h, s, op);
	}
}
