/* SPDX-License-Identifier: MIT */
/* One block: who knows what of whom, position by position. */
#include <stdlib.h>
#include <string.h>

#include "sync.h"

/* Position up to which pipe p may rely on pipe q: known[p][q]. */
struct clock {
	uint32_t known[PTO_PIPES][PTO_PIPES];
};

struct item {
	struct pto_op *op;
	struct sync_summary inside;	/* of an operation with regions */
	uint32_t first_pair, n_pairs;	/* that wait in front of it, within an iteration */
	uint16_t barriers;		/* pipes, PTO_PIPE_ALL for all */
};

struct level {
	struct sync *s;
	struct pto_op *loop;	/* whose body this is */
	struct item *items;	/* positions 1 to n */
	uint32_t n;
	uint32_t *last;		/* per cell: position of its last access; 0: none */
	uint32_t last_on[PTO_PIPES];
	struct clock now;
	struct clock *after;	/* by position, up to 2 n */
	bool failed;		/* pairs cannot do it: the body begins with a full barrier */
};

typedef uint32_t need_t[PTO_PIPES][PTO_PIPES];

static bool is_section(const struct pto_op *op)
{
	return op->info->code == PTO_OP_SECTION_CUBE || op->info->code == PTO_OP_SECTION_VECTOR;
}

static const struct item *item_at(const struct level *l, uint32_t pos)
{
	return &l->items[(pos - 1) % l->n];
}

/* Cells of @op and everything in it: a range of a.touched. A section is another core's. */
static void cells_of(const struct sync *s, const struct pto_op *op, uint32_t *from, uint32_t *to)
{
	const struct pto_touch *end = &s->a.ops[s->last[op->id]];

	*from = s->a.ops[op->id].first;
	*to = is_section(op) ? *from : end->first + end->n;
}

/* ---- Needs --------------------------------------------------------------------------------- */

static bool is_own(const struct pto_cell *mine, const struct pto_cell *theirs,
		   const struct pto_op *op)
{
	return mine->pipe != theirs->pipe && theirs->n_ops == 1 && mine->n_ops == 1 &&
	       theirs->ops[0] == op && mine->ops[0] == op;
}

static void need_of_cell(const struct level *l, const struct pto_op *op, uint32_t cell, need_t need)
{
	const struct pto_access *a = &l->s->a;
	const struct pto_cell *mine = &a->cells[cell];
	const uint64_t *conf = pto_conflicts(a, cell);
	unsigned int p = mine->pipe;
	uint32_t w;

	for (w = 0; w < a->words; w++) {
		uint64_t bits = conf[w];

		for (; bits; bits &= bits - 1) {
			uint32_t d = w * 64 + (uint32_t)__builtin_ctzll(bits);
			unsigned int q = a->cells[d].pipe;

			if (l->last[d] <= l->now.known[p][q] || l->last[d] <= need[p][q])
				continue;
			if ((p == q && pto_in_order((enum pto_pipe)p, a->arch)) ||
			    is_own(mine, &a->cells[d], op))
				continue;
			need[p][q] = l->last[d];
		}
	}
}

static void needs(const struct level *l, const struct pto_op *op, need_t need)
{
	uint32_t from, to;

	memset(need, 0, sizeof(need_t));
	for (cells_of(l->s, op, &from, &to); from < to; from++)
		need_of_cell(l, op, l->s->a.touched[from], need);
}

/* ---- Knowledge ----------------------------------------------------------------------------- */

static void raise_to(uint32_t *to, uint32_t value)
{
	if (*to < value)
		*to = value;
}

/* Pipe @p has waited for a flag that pipe @q set behind position @pos. */
static void learn(struct level *l, unsigned int p, unsigned int q, uint32_t pos)
{
	unsigned int r;

	for (r = 0; r < PTO_PIPES; r++)
		raise_to(&l->now.known[p][r], l->after[pos].known[q][r]);
	raise_to(&l->now.known[p][q], pos);
}

/* A barrier in front of position @pos. */
static void pass_barrier(struct level *l, unsigned int pipe, uint32_t pos)
{
	unsigned int p, q;

	if (pipe != PTO_PIPE_ALL) {
		l->now.known[pipe][pipe] = pos - 1;
		return;
	}
	for (p = 0; p < PTO_PIPES; p++)
		for (q = 0; q < PTO_PIPES; q++)
			l->now.known[p][q] = pos - 1;
}

static void add_barrier(struct level *l, struct item *it, unsigned int pipe, uint32_t pos)
{
	if (!(it->barriers >> pipe & 1))
		sync_add_barrier(l->s, it->op, pos > l->n ? l->loop : NULL, pipe);
	it->barriers |= (uint16_t)(1u << pipe);
	pass_barrier(l, pipe, pos);
}

/* The largest position on another pipe that is needed and not known; 0: none. */
static uint32_t worst(const struct level *l, need_t need, unsigned int *p, unsigned int *q)
{
	uint32_t most = 0;
	unsigned int i, j;

	for (i = 0; i < PTO_PIPES; i++)
		for (j = 0; j < PTO_PIPES; j++)
			if (i != j && need[i][j] > l->now.known[i][j] && need[i][j] > most) {
				most = need[i][j];
				*p = i;
				*q = j;
			}
	return most;
}

/* Makes what @it needs at @pos known; pairs that reach back to @back or less are carried. */
static void satisfy(struct level *l, struct item *it, uint32_t pos, need_t need, uint32_t back)
{
	unsigned int p = 0, q = 0;
	uint32_t src;

	while ((src = worst(l, need, &p, &q)) && !l->s->no_memory) {
		struct sync_pair pair = {
			.after = item_at(l, src)->op, .before = it->op,
			.src = (uint8_t)q, .dst = (uint8_t)p, .loop = back ? l->loop : NULL,
		};

		if (src > back && back) {
			l->failed = true;
			return;
		}
		if (sync_add_pair(l->s, pair)) {
			learn(l, p, q, src);
		} else if (back) {
			l->failed = true;
			return;
		} else {
			add_barrier(l, it, PTO_PIPE_ALL, pos);
		}
	}
	/* what a pipe knows of itself by way of others needs no barrier */
	for (p = 0; p < PTO_PIPES; p++)
		if (need[p][p] > l->now.known[p][p])
			add_barrier(l, it, p, pos);
}

/* ---- Steps --------------------------------------------------------------------------------- */

/* A pipe that had caught up before and has caught up inside has caught up behind. */
static void pass_inside(struct level *l, const struct item *it, uint32_t pos,
			const uint32_t *before)
{
	unsigned int p, q;

	for (p = 0; p < PTO_PIPES; p++)
		for (q = 0; q < PTO_PIPES; q++)
			if (it->inside.knows[p] >> q & 1 && l->now.known[p][q] >= before[q])
				l->now.known[p][q] = pos;
}

static void execute(struct level *l, const struct item *it, uint32_t pos)
{
	uint32_t from, to, before[PTO_PIPES];

	memcpy(before, l->last_on, sizeof(before));
	for (cells_of(l->s, it->op, &from, &to); from < to; from++) {
		uint32_t cell = l->s->a.touched[from];

		l->last[cell] = pos;
		l->last_on[l->s->a.cells[cell].pipe] = pos;
	}
	if (it->op->n_regions)
		pass_inside(l, it, pos, before);
	l->after[pos] = l->now;
}

static void step_again(struct level *l, struct item *it, uint32_t pos)
{
	need_t need;
	uint32_t i;
	unsigned int p;

	for (p = 0; p < PTO_PIPES; p++)
		if (it->barriers >> p & 1)
			pass_barrier(l, p, pos);
	for (i = it->first_pair; i < it->first_pair + it->n_pairs; i++) {
		const struct sync_pair *pair = &l->s->pairs[i];
		uint32_t k;

		for (k = pos - 1; k > l->n && item_at(l, k)->op != pair->after; k--)
			;
		learn(l, pair->dst, pair->src, k);
	}
	needs(l, it->op, need);
	satisfy(l, it, pos, need, l->n);
	execute(l, it, pos);
}

static void summary_all(struct sync_summary *sum)
{
	memset(sum, 0xFF, sizeof(*sum));
}

static void inside_of(struct sync *s, struct pto_op *op, struct sync_summary *sum);

static bool touches_buffers(const struct pto_op *op)
{
	unsigned int i;

	for (i = 0; i < op->n_operands; i++)
		if (pto_is_local(op->operand[i].value->type) ||
		    pto_is_global(op->operand[i].value->type))
			return true;
	return false;
}

static void step(struct level *l, struct item *it, uint32_t pos)
{
	need_t need;

	if (pto_is_call(it->op) && touches_buffers(it->op)) {
		add_barrier(l, it, PTO_PIPE_ALL, pos);
		if (it->op->next)
			sync_add_barrier(l->s, it->op->next, NULL, PTO_PIPE_ALL);
	}
	it->first_pair = l->s->n_pairs;
	needs(l, it->op, need);
	satisfy(l, it, pos, need, 0);
	it->n_pairs = l->s->n_pairs - it->first_pair;
	if (it->op->n_regions)
		inside_of(l->s, it->op, &it->inside);
	execute(l, it, pos);
}

/* ---- Blocks -------------------------------------------------------------------------------- */

static int level_init(struct level *l, struct sync *s, struct pto_block *b)
{
	uint32_t i = 0;

	pto_for_each_op(op, b)
		l->n++;
	l->s = s;
	l->items = calloc(l->n + 1u, sizeof(*l->items));
	l->last = calloc(s->a.n_cells + 1u, sizeof(*l->last));
	l->after = calloc(2u * l->n + 1, sizeof(*l->after));
	if (!l->items || !l->last || !l->after) {
		s->no_memory = true;
		return -ENOMEM;
	}
	pto_for_each_op(op, b)
		l->items[i++].op = op;
	return 0;
}

static void level_fini(struct level *l)
{
	free(l->items);
	free(l->last);
	free(l->after);
}

/* Behind a loop the carried flags have been waited for once more. */
static void drain(struct level *l, uint32_t first_pair)
{
	uint32_t i, k;

	for (i = first_pair; i < l->s->n_pairs; i++) {
		const struct sync_pair *pair = &l->s->pairs[i];

		if (pair->loop != l->loop)
			continue;
		for (k = 2 * l->n; k > l->n && item_at(l, k)->op != pair->after; k--)
			;
		learn(l, pair->dst, pair->src, k);
	}
}

static void summarise(const struct level *l, struct sync_summary *sum)
{
	unsigned int p, q;

	for (p = 0; p < PTO_PIPES; p++)
		for (q = 0; q < PTO_PIPES; q++)
			if (l->now.known[p][q] < l->last_on[q])
				sum->knows[p] &= (uint16_t)~(1u << q);
}

/* Return: false when the body must begin with a full barrier. */
static bool run_level(struct level *l, bool barrier, struct sync_summary *sum)
{
	uint32_t first_pair = l->s->n_pairs, pos;

	for (pos = 1; pos <= l->n && !l->s->no_memory; pos++) {
		if (barrier && pos == 1)
			add_barrier(l, &l->items[0], PTO_PIPE_ALL, 1);
		step(l, &l->items[pos - 1], pos);
	}
	if (l->loop) {
		for (pos = l->n + 1; pos <= 2 * l->n && !l->failed; pos++)
			step_again(l, &l->items[pos - 1 - l->n], pos);
		if (l->failed)
			return false;
		drain(l, first_pair);
	}
	summarise(l, sum);
	return true;
}

static void sync_block(struct sync *s, struct pto_block *b, struct pto_op *loop, bool barrier,
		       struct sync_summary *sum)
{
	uint32_t pairs = s->n_pairs, barriers = s->n_barriers;
	struct level l = { .loop = loop };
	bool ok = true;

	if (!b->first || s->no_memory)
		return;
	if (!level_init(&l, s, b))
		ok = run_level(&l, barrier, sum);
	level_fini(&l);
	if (ok)
		return;
	s->n_pairs = pairs;
	s->n_barriers = barriers;
	sync_block(s, b, loop, true, sum);
}

/* Blocks with jumps between them: each begins with a full barrier. */
static void sync_blocks(struct sync *s, struct pto_region *r, bool barrier,
			struct sync_summary *sum)
{
	bool many = r->first != r->last;

	pto_for_each_block(b, r)
		sync_block(s, b, NULL, barrier || many, sum);
	if (many)
		memset(sum, 0, sizeof(*sum));
}

static void inside_of(struct sync *s, struct pto_op *op, struct sync_summary *sum)
{
	bool apart = is_section(op) || op->info->code == PTO_OP_WHILE;
	unsigned int i;

	summary_all(sum);
	if (op->info->code == PTO_OP_FOR && op->region[0].first == op->region[0].last) {
		if (op->region[0].first)
			sync_block(s, op->region[0].first, op, false, sum);
		return;
	}
	for (i = 0; i < op->n_regions; i++)
		sync_blocks(s, &op->region[i], apart || op->info->code == PTO_OP_FOR, sum);
	if (apart)
		memset(sum, 0, sizeof(*sum));
}

void sync_region(struct sync *s, struct pto_region *r, struct sync_summary *sum)
{
	sync_blocks(s, r, false, sum);
}
