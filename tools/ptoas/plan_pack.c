/* SPDX-License-Identifier: MIT */
/*
 * Packing of intervals. Each order of placing the buffers, lowest hole first, is a plan; the
 * best of some orders is taken. Placing the large or the long-lived first leaves few holes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define MANY	1000	/* from here on one order only */
#define SHUFFLES 48	/* further orders while the best is above the bound */

struct packer {
	struct plan_item *items;
	uint32_t n, n_placed;
	int64_t align;
	uint32_t *order;
	uint32_t *placed;	/* by offset */
	int64_t *best;		/* offsets of the best plan */
	int64_t best_use, bound;
	uint64_t random;
	bool by_start;		/* the order is that of the first uses */
};

static bool meet(const struct plan_item *a, const struct plan_item *b)
{
	return a->first <= b->last && b->first <= a->last;
}

static int64_t round_up(int64_t n, int64_t align)
{
	return (n + align - 1) / align * align;
}

/* Lowest offset where @it lies beside everything placed that it meets. */
static int64_t lowest_hole(const struct packer *p, const struct plan_item *it)
{
	int64_t at = 0;
	uint32_t i;

	for (i = 0; i < p->n_placed; i++) {
		const struct plan_item *o = &p->items[p->placed[i]];

		if (!meet(o, it) || o->offset + o->size <= at)
			continue;
		if (o->offset >= at + it->size)
			break;
		at = round_up(o->offset + o->size, p->align);
	}
	return at;
}

static void insert_placed(struct packer *p, uint32_t item)
{
	int64_t offset = p->items[item].offset;
	uint32_t lo = 0, hi = p->n_placed;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (p->items[p->placed[mid]].offset <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	memmove(p->placed + lo + 1, p->placed + lo, (p->n_placed - lo) * sizeof(*p->placed));
	p->placed[lo] = item;
	p->n_placed++;
}

/* What is placed and ends before @first meets nothing that comes later. */
static void forget_ended(struct packer *p, uint32_t first)
{
	uint32_t i, n = 0;

	for (i = 0; i < p->n_placed; i++)
		if (p->items[p->placed[i]].last >= first)
			p->placed[n++] = p->placed[i];
	p->n_placed = n;
}

/* Places all in the order of p->order; keeps the plan if it is the best so far. */
static void try_order(struct packer *p)
{
	int64_t use = 0;
	uint32_t i;

	p->n_placed = 0;
	for (i = 0; i < p->n; i++) {
		struct plan_item *it = &p->items[p->order[i]];

		if (p->by_start)
			forget_ended(p, it->first);
		it->offset = lowest_hole(p, it);
		if (it->offset + it->size > use)
			use = it->offset + it->size;
		if (p->best_use >= 0 && use >= p->best_use)
			return;
		insert_placed(p, p->order[i]);
	}
	p->best_use = use;
	for (i = 0; i < p->n; i++)
		p->best[i] = p->items[i].offset;
}

static bool done(const struct packer *p)
{
	return p->best_use >= 0 && p->best_use <= p->bound;
}

/* ---- Orders ------------------------------------------------------------------------------- */

typedef int (*compare_fn)(const void *a, const void *b, void *items);

static int sign(int64_t x)
{
	return (x > 0) - (x < 0);
}

static int by_start(const void *a, const void *b, void *arg)
{
	const struct plan_item *items = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int c = sign((int64_t)items[i].first - items[j].first);

	return c ? c : sign((int64_t)i - j);
}

static int by_size(const void *a, const void *b, void *arg)
{
	const struct plan_item *items = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int c = sign(items[j].size - items[i].size);

	return c ? c : by_start(a, b, arg);
}

static int64_t length(const struct plan_item *it)
{
	return (int64_t)it->last - it->first + 1;
}

static int by_length(const void *a, const void *b, void *arg)
{
	const struct plan_item *items = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int c = sign(length(&items[j]) - length(&items[i]));

	return c ? c : by_size(a, b, arg);
}

static int by_area(const void *a, const void *b, void *arg)
{
	const struct plan_item *items = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int c = sign(length(&items[j]) * (items[j].size / 32) -
		     length(&items[i]) * (items[i].size / 32));

	return c ? c : by_start(a, b, arg);
}

static void sorted(struct packer *p, compare_fn fn)
{
	uint32_t i;

	if (done(p))
		return;
	for (i = 0; i < p->n; i++)
		p->order[i] = i;
	qsort_r(p->order, p->n, sizeof(*p->order), fn, p->items);
	p->by_start = fn == by_start;
	try_order(p);
	p->by_start = false;
}

static uint32_t random_below(struct packer *p, uint32_t n)
{
	p->random = p->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(p->random >> 33) % n;
}

/* Neighbours of a sorted order, some pairs of which are exchanged. */
static void shuffled(struct packer *p, compare_fn fn)
{
	uint32_t i, swaps = p->n / 4 + 1;

	if (done(p))
		return;
	for (i = 0; i < p->n; i++)
		p->order[i] = i;
	qsort_r(p->order, p->n, sizeof(*p->order), fn, p->items);
	while (swaps--) {
		uint32_t a = random_below(p, p->n), b = (a + 1 + random_below(p, 4)) % p->n;
		uint32_t t = p->order[a];

		p->order[a] = p->order[b];
		p->order[b] = t;
	}
	try_order(p);
}

static void search(struct packer *p)
{
	uint32_t i;

	sorted(p, by_start);
	if (p->n > MANY)
		return;
	sorted(p, by_size);
	sorted(p, by_length);
	sorted(p, by_area);
	for (i = 0; i < SHUFFLES && p->n > 1; i++)
		shuffled(p, i % 3 == 0 ? by_size : i % 3 == 1 ? by_area : by_length);
}

int64_t plan_pack(struct plan_item *items, uint32_t n, int64_t align)
{
	struct packer p = { .items = items, .n = n, .align = align, .best_use = -1, .random = 1 };
	int64_t ret = -ENOMEM;
	uint32_t i;

	if (!n)
		return 0;
	p.order = calloc(n, sizeof(*p.order));
	p.placed = calloc(n + 1u, sizeof(*p.placed));
	p.best = calloc(n, sizeof(*p.best));
	p.bound = plan_bound(items, n);
	if (p.order && p.placed && p.best && p.bound >= 0) {
		search(&p);
		for (i = 0; i < n; i++)
			items[i].offset = p.best[i];
		ret = p.best_use;
	}
	free(p.order);
	free(p.placed);
	free(p.best);
	return ret;
}

int64_t plan_bound(const struct plan_item *items, uint32_t n)
{
	uint32_t i, end = 0;
	int64_t *change, now = 0, most = 0;

	for (i = 0; i < n; i++)
		if (items[i].last >= end)
			end = items[i].last + 1;
	change = calloc(end + 1u, sizeof(*change));
	if (!change)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		change[items[i].first] += items[i].size;
		change[items[i].last + 1] -= items[i].size;
	}
	for (i = 0; i < end; i++) {
		now += change[i];
		if (now > most)
			most = now;
	}
	free(change);
	return most;
}
