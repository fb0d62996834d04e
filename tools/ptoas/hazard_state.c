/* SPDX-License-Identifier: MIT */
/*
 * One step of the machine model: a pipe starts instructions in order; it knows that an access is
 * complete after a barrier of its own, or after waiting for a flag that was set behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "hazard.h"

#define FOUND_MAX	4	/* conflicts reported per instruction */

static uint64_t *set_of(const struct hazard *h, const struct hz_state *s, uint32_t cell,
			unsigned int i)
{
	return s->bits + ((size_t)cell * HZ_STATES + i) * h->words;
}

static bool has(const uint64_t *set, uint32_t bit)
{
	return set[bit / 64] >> (bit % 64) & 1;
}

static void put(uint64_t *set, uint32_t bit, bool on)
{
	uint64_t mask = UINT64_C(1) << (bit % 64);

	set[bit / 64] = on ? set[bit / 64] | mask : set[bit / 64] & ~mask;
}

static uint32_t event_bit(uint32_t event)
{
	return PTO_PIPES + event;
}

/* ---- States -------------------------------------------------------------------------------- */

struct hz_state hz_state_new(const struct hazard *h)
{
	size_t words = (size_t)h->a.n_cells * HZ_STATES * h->words;
	struct hz_state s = {
		.bits = malloc((words + 1) * sizeof(uint64_t)), .n = malloc(h->a.n_cells + 1u),
		.status = calloc(h->n_events + 1u, 1),
	};

	if (s.bits)
		memset(s.bits, 0xFF, words * sizeof(uint64_t)); /* nothing has run */
	if (s.n)
		memset(s.n, 1, h->a.n_cells);
	return s;
}

void hz_state_free(struct hz_state *s)
{
	free(s->bits);
	free(s->n);
	free(s->status);
}

void hz_copy(const struct hazard *h, struct hz_state *to, const struct hz_state *from)
{
	memcpy(to->bits, from->bits,
	       (size_t)h->a.n_cells * HZ_STATES * h->words * sizeof(uint64_t));
	memcpy(to->n, from->n, h->a.n_cells);
	memcpy(to->status, from->status, h->n_events);
	to->seen = from->seen;
}

static bool is_subset(const struct hazard *h, const uint64_t *a, const uint64_t *b)
{
	uint32_t w;

	for (w = 0; w < h->words; w++)
		if (a[w] & ~b[w])
			return false;
	return true;
}

/* Adds @set to the states of @cell, unless a lesser one is there. Return: whether they changed. */
static bool add_set(const struct hazard *h, struct hz_state *s, uint32_t cell, const uint64_t *set)
{
	size_t size = h->words * sizeof(*set);
	unsigned int i, kept = 0;
	uint32_t w;

	for (i = 0; i < s->n[cell]; i++)
		if (is_subset(h, set_of(h, s, cell, i), set))
			return false;
	for (i = 0; i < s->n[cell]; i++) {
		if (is_subset(h, set, set_of(h, s, cell, i)))
			continue;
		if (i != kept)
			memcpy(set_of(h, s, cell, kept), set_of(h, s, cell, i), size);
		kept++;
	}
	if (kept < HZ_STATES) {
		memcpy(set_of(h, s, cell, kept), set, size);
		s->n[cell] = (uint8_t)(kept + 1);
		return true;
	}
	for (w = 0; w < h->words; w++)
		set_of(h, s, cell, HZ_STATES - 1)[w] &= set[w];
	return true;
}

bool hz_join(const struct hazard *h, struct hz_state *to, const struct hz_state *from)
{
	bool changed = false;
	uint32_t i, k;

	if (!to->seen) {
		hz_copy(h, to, from);
		to->seen = true;
		return true;
	}
	for (i = 0; i < h->a.n_cells; i++)
		for (k = 0; k < from->n[i]; k++)
			changed |= add_set(h, to, i, set_of(h, from, i, k));
	for (i = 0; i < h->n_events; i++) {
		if (to->status[i] == from->status[i] || to->status[i] == HZ_MAYBE)
			continue;
		to->status[i] = HZ_MAYBE;
		changed = true;
	}
	return changed;
}

static void for_states(struct hazard *h, struct hz_state *s,
		       void (*fn)(const struct pto_cell *c, uint64_t *set, uint32_t a, uint32_t b),
		       uint32_t a, uint32_t b)
{
	unsigned int k;
	uint32_t i;

	for (i = 0; i < h->a.n_cells; i++)
		for (k = 0; k < s->n[i]; k++)
			fn(&h->a.cells[i], set_of(h, s, i, k), a, b);
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
	h->words = (PTO_PIPES + h->n_events + 63) / 64;
	return 0;
}

static void set_state(const struct pto_cell *c, uint64_t *set, uint32_t event, uint32_t src)
{
	put(set, event, c->pipe == src || has(set, src));
}

static void clear_state(const struct pto_cell *c, uint64_t *set, uint32_t event, uint32_t dst)
{
	(void)c, (void)dst;
	put(set, event, false);
}

static void wait_state(const struct pto_cell *c, uint64_t *set, uint32_t event, uint32_t dst)
{
	if (has(set, event))
		put(set, dst, true);
	clear_state(c, set, event, dst);
}

static void set_event(struct hazard *h, struct hz_state *s, struct pto_op *op)
{
	struct hz_event key = event_of(op);
	uint32_t e = find_event(h, &key);

	if (h->report && s->status[e] != HZ_CLEAR && !key.dynamic)
		pto_op_error(h->d, h->m, op, "wait for the flag first, or take another event id",
			     "sets event %lld from %s to %s while it is%s pending",
			     (long long)key.id, pto_pipe_name(key.src), pto_pipe_name(key.dst),
			     s->status[e] == HZ_MAYBE ? ", on some path," : "");
	for_states(h, s, set_state, event_bit(e), key.src);
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
	for_states(h, s, s->status[e] == HZ_SET ? wait_state : clear_state, event_bit(e), key.dst);
	s->status[e] = HZ_CLEAR;
}

static void barrier_state(const struct pto_cell *c, uint64_t *set, uint32_t pipe, uint32_t unused)
{
	(void)unused;
	if (pipe == PTO_PIPE_ALL)
		set[0] |= (UINT64_C(1) << PTO_PIPES) - 1;
	else if (c->pipe == pipe)
		put(set, pipe, true);
}

static void barrier(struct hazard *h, struct hz_state *s, int64_t pipe)
{
	for_states(h, s, barrier_state, (uint32_t)pipe, 0);
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

static bool relies(const struct hazard *h, const struct hz_state *s, uint32_t cell,
		   unsigned int pipe)
{
	unsigned int i;

	for (i = 0; i < s->n[cell]; i++)
		if (!has(set_of(h, s, cell, i), pipe))
			return false;
	return true;
}

static void check_cell(struct hazard *h, const struct hz_state *s, struct pto_op *op,
		       uint32_t cell, unsigned int *found)
{
	const struct pto_cell *mine = &h->a.cells[cell];
	const uint64_t *conf = pto_conflicts(&h->a, cell);
	uint32_t w;

	for (w = 0; w < h->a.words; w++) {
		uint64_t bits = conf[w];

		for (; bits && *found < FOUND_MAX; bits &= bits - 1) {
			uint32_t other = w * 64 + (uint32_t)__builtin_ctzll(bits);

			if (relies(h, s, other, mine->pipe) ||
			    is_own(mine, &h->a.cells[other], op))
				continue;
			++*found;
			report_conflict(h, op, mine, &h->a.cells[other]);
		}
	}
}

static void run_cell(struct hazard *h, struct hz_state *s, uint32_t cell)
{
	uint64_t *set = set_of(h, s, cell, 0);
	unsigned int pipe = h->a.cells[cell].pipe;

	s->n[cell] = 1;
	memset(set, 0, h->words * sizeof(*set));
	put(set, pipe, pto_in_order((enum pto_pipe)pipe, h->a.arch));
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
			if (relies(h, s, i, p))
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
