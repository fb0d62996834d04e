/* SPDX-License-Identifier: MIT */
/*
 * Buffers that overlap while both are in use: a buffer was filled, another one's bytes on top of it
 * were written, and then the first is read. A buffer that was never filled under its own name is a
 * second name of the other one, and no error. Windows of a buffer never count as all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "hazard.h"

#define MAX_BUFFERS	65536

struct clobber {
	struct hazard *h;
	struct pto_span *buffers;
	struct pto_op **by;		/* per buffer: who wrote over it last, for messages */
	uint32_t n, room;
	size_t words;			/* of one set of buffers */
	bool report;
};

/* Two sets per place: filled, overwritten; what may hold on some path. */
struct sets {
	uint64_t *filled, *lost;
};

static bool test(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}

static void put(uint64_t *set, uint32_t i, bool on)
{
	uint64_t bit = UINT64_C(1) << (i % 64);

	set[i / 64] = on ? set[i / 64] | bit : set[i / 64] & ~bit;
}

static uint32_t find_buffer(const struct clobber *c, const struct pto_value *root)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		if (c->buffers[i].root == root)
			break;
	return i;
}

static int add_buffer(struct clobber *c, struct pto_value *v)
{
	struct pto_span span[PTO_MAX_SPANS];

	if (pto_spans_of(v, span) != 1 || span[0].place != PTO_PLACE_ADDR ||
	    c->n == MAX_BUFFERS)
		return 0;
	if (c->n == c->room) {
		uint32_t room = c->room ? 2 * c->room : 64;
		void *p = realloc(c->buffers, room * sizeof(*c->buffers));

		if (!p)
			return -ENOMEM;
		c->buffers = p;
		c->room = room;
	}
	v->id = c->n;
	c->buffers[c->n++] = span[0];
	return 0;
}

static int find_alloc(struct pto_op *op, void *arg)
{
	bool buffer = op->info->code == PTO_OP_ALLOC_TILE ||
		      op->info->code == PTO_OP_ALLOC_MULTI_TILE;

	return buffer ? add_buffer(arg, &op->result[0]) : 0;
}

/* Number of the buffer of @s; c->n when it is none with an address. */
static uint32_t buffer_of(const struct clobber *c, const struct pto_span *s)
{
	if (s->place != PTO_PLACE_ADDR || !s->root || s->root->id >= c->n ||
	    c->buffers[s->root->id].root != s->root)
		return find_buffer(c, s->root);
	return s->root->id;
}

static void read_span(struct clobber *c, struct sets *s, struct pto_op *op,
		      const struct pto_span *span)
{
	uint32_t b = buffer_of(c, span);

	if (!c->report || b == c->n || !test(s->lost, b))
		return;
	pto_op_error(c->h->d, c->h->m, op, "give the two buffers different addresses",
		     "reads a %s buffer at %lld whose contents '%s' has overwritten through "
		     "another one", pto_space_name(span->space), (long long)c->buffers[b].base,
		     c->by[b] ? c->by[b]->info->name : "an instruction");
	put(s->lost, b, false);
}

static void write_span(struct clobber *c, struct sets *s, struct pto_op *op,
		       const struct pto_span *span, bool whole)
{
	uint32_t b = buffer_of(c, span), i;

	for (i = 0; i < c->n; i++) {
		if (i == b || !test(s->filled, i) || !pto_spans_meet(&c->buffers[i], span))
			continue;
		put(s->lost, i, true);
		c->by[i] = op;
	}
	if (b == c->n)
		return;
	put(s->filled, b, true);
	if (whole && !span->part)
		put(s->lost, b, false);
}

static void run_operand(struct clobber *c, struct sets *s, struct pto_op *op, unsigned int i,
			bool reads)
{
	struct pto_span spans[PTO_MAX_SPANS];
	uint8_t role = op->operand[i].role;
	unsigned int n, k;

	if (role == PTO_ROLE_VALUE || role == PTO_ROLE_BIND ||
	    !pto_is_local(op->operand[i].value->type))
		return;
	if (reads != (role == PTO_ROLE_READ || role == PTO_ROLE_UPDATE) &&
	    role != PTO_ROLE_UPDATE)
		return;
	n = pto_spans_of(op->operand[i].value, spans);
	for (k = 0; k < n; k++) {
		if (reads)
			read_span(c, s, op, &spans[k]);
		else
			write_span(c, s, op, &spans[k], role != PTO_ROLE_UPDATE && n == 1);
	}
}

static void run_op(struct clobber *c, struct sets *s, struct pto_op *op)
{
	unsigned int i;

	/* A buffer is new each time that its allocation is reached. */
	if (op->info->code == PTO_OP_ALLOC_TILE || op->info->code == PTO_OP_ALLOC_MULTI_TILE) {
		uint32_t b = op->result[0].id;

		if (b < c->n && c->buffers[b].root == &op->result[0]) {
			put(s->filled, b, false);
			put(s->lost, b, false);
		}
		return;
	}
	if (!pto_op_pipes(op, c->h->a.arch))
		return;
	for (i = 0; i < op->n_operands; i++)
		run_operand(c, s, op, i, true);
	for (i = 0; i < op->n_operands; i++)
		run_operand(c, s, op, i, false);
}

static struct sets sets_at(const struct clobber *c, uint64_t *all, uint32_t i)
{
	uint64_t *p = all + 2 * c->words * i;

	return (struct sets){ p, p + c->words };
}

static bool merge(const struct clobber *c, struct sets to, struct sets from)
{
	uint64_t changed = 0;
	size_t i;

	for (i = 0; i < 2 * c->words; i++) {
		changed |= from.filled[i] & ~to.filled[i];
		to.filled[i] |= from.filled[i];
	}
	return changed;
}

static bool run_node(struct clobber *c, uint64_t *all, uint32_t n, uint8_t *dirty)
{
	const struct flow *f = &c->h->f;
	struct sets work = sets_at(c, all, f->n_nodes), in = sets_at(c, all, n);
	bool changed = false;
	uint32_t i, e;

	memcpy(work.filled, in.filled, 2 * c->words * sizeof(uint64_t));
	for (i = 0; i < f->nodes[n].n; i++)
		run_op(c, &work, f->ops[f->nodes[n].first + i]);
	for (e = f->nodes[n].first_edge; e; e = f->edges[e - 1].next)
		if (merge(c, sets_at(c, all, f->edges[e - 1].to), work) ||
		    !dirty[f->edges[e - 1].to]) {
			dirty[f->edges[e - 1].to] = 2;
			changed = true;
		}
	return changed;
}

/* dirty: 0 never reached, 1 done, 2 to do. */
static void solve(struct clobber *c, uint64_t *all, uint8_t *dirty)
{
	bool again = true;
	uint32_t n;

	dirty[0] = 2;
	while (again) {
		again = false;
		for (n = 0; n < c->h->f.n_nodes; n++) {
			if (dirty[n] != 2)
				continue;
			dirty[n] = 1;
			again |= run_node(c, all, n, dirty);
		}
	}
	c->report = true;
	for (n = 0; n < c->h->f.n_nodes; n++)
		if (dirty[n])
			run_node(c, all, n, dirty);
}

int hz_check_clobber(struct hazard *h)
{
	struct clobber c = { .h = h };
	uint8_t *dirty = calloc(h->f.n_nodes, 1);
	uint64_t *all = NULL;
	int ret = -ENOMEM;
	uint32_t i;

	for (i = 0; i < h->f.n_ops; i++)
		if (find_alloc(h->f.ops[i], &c))
			goto out;
	c.words = (c.n + 63) / 64;
	c.by = calloc(c.n + 1u, sizeof(struct pto_op *));
	all = calloc(((size_t)h->f.n_nodes + 1) * 2 * c.words + 1, sizeof(*all));
	if (!dirty || !c.by || !all)
		goto out;
	if (c.n > 1)
		solve(&c, all, dirty);
	ret = 0;
out:
	free(c.buffers);
	free(c.by);
	free(dirty);
	free(all);
	return ret;
}
