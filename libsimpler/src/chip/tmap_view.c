// SPDX-License-Identifier: MIT
/*
 * Geometry of tensor views, in bytes.
 *
 * A view is brought into one form whatever its rank, element type, order of
 * dimensions and base address: nested runs, sorted by stride, with runs that
 * follow each other without a gap merged.  Two views share a byte if
 *
 *	a.lo + sum(i_d * sa_d) == b.lo + sum(j_d * sb_d),  0 <= i_d < na_d, 0 <= j_d < nb_d
 *
 * has a solution.  With equal strides joined into one term of a range of
 * factors, that is a small search from the largest stride down: the rest must
 * stay within reach of the smaller strides, which leaves one or two factors per
 * term when the views lie in one lattice.
 */
#include <string.h>

#include "chip/tmap_priv.h"

/* Steps after which a search gives up and says that the views overlap. */
#define SEARCH_BUDGET 1024

/* No sum of terms of two views up to this size overflows. */
#define MAX_VIEW_BYTES (1ull << 58)

#define MAX_TERMS (2 * TMAP_GEOM_DIMS)

struct term {
	int64_t stride;
	int64_t min, max;			/* factors of the stride */
	int64_t reach_min, reach_max;		/* of the terms of smaller strides */
};

static void set_dense(struct tmap_geom *g)
{
	g->ndims = 1;
	g->dim[0].n = g->hi - g->lo;
	g->dim[0].stride = 1;
}

/* Adds a dimension outside of the others, as part of the last one if it goes on without a gap. */
static void append_dim(struct tmap_geom *g, uint64_t n, uint64_t stride)
{
	uint32_t last = g->ndims - 1;

	if (stride == g->dim[last].n * g->dim[last].stride) {
		g->dim[last].n *= n;
		return;
	}
	g->dim[g->ndims].n = n;
	g->dim[g->ndims++].stride = stride;
}

/* The order of dimensions by stride, smallest first; those of one element are left out. */
static uint32_t sort_dims(const struct pto_tensor *t, uint8_t *order)
{
	uint32_t i = t->ndims < PTO_MAX_DIMS ? t->ndims : PTO_MAX_DIMS, n = 0, at;

	while (i--) {
		if (t->shapes[i] <= 1)
			continue;
		for (at = n++; at && t->strides[order[at - 1]] > t->strides[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return n;
}

void tmap_geom_init(struct tmap_geom *g, const struct pto_tensor *t)
{
	uint32_t shift = tmap_elem_shift(t->dtype), n, i;
	uint8_t order[PTO_MAX_DIMS];

	g->lo = tmap_lo(t);
	g->hi = tmap_hi(t);
	if (t->is_contiguous) {
		set_dense(g);
		return;
	}
	g->ndims = 1;
	g->dim[0].n = 1u << shift;
	g->dim[0].stride = 1;
	n = sort_dims(t, order);
	for (i = 0; i < n; i++) {
		uint64_t count = t->shapes[order[i]], stride = t->strides[order[i]];

		if (!stride)
			continue;
		if ((count - 1) * stride >= t->extent_elem) {	/* contradicts the extent */
			set_dense(g);
			return;
		}
		append_dim(g, count, stride << shift);
	}
}

static int64_t floor_div(int64_t a, int64_t b)
{
	if (a >= 0 && a < b)
		return 0;	/* divisions are slow, and this is the usual case */
	return a / b - (a % b < 0);
}

/* Is @delta the sum of the terms from @first to @t, each with a factor in its range? */
static bool search(const struct term *t, const struct term *first, int64_t delta, int *budget)
{
	int64_t min, max, k;

	if (t == first)
		return t->min <= delta && delta <= t->max;
	min = -floor_div(t->reach_max - delta, t->stride);
	max = floor_div(delta - t->reach_min, t->stride);
	min = min > t->min ? min : t->min;
	max = max < t->max ? max : t->max;
	if (min > max)
		return false;
	if (t - 1 == first)
		return true;	/* its stride is 1: everything in reach is a sum */
	for (k = min; k <= max; k++)
		if (--*budget < 0 || search(t - 1, first, delta - k * t->stride, budget))
			return true;
	return false;
}

/* Terms of both views by stride, smallest first; returns the last one. */
static struct term *make_terms(struct term *t, const struct tmap_geom *a,
			       const struct tmap_geom *b)
{
	int64_t reach_min = 0, reach_max = 0;
	uint32_t i = 0, j = 0;

	for (;; t++) {
		uint64_t sa = i < a->ndims ? a->dim[i].stride : UINT64_MAX;
		uint64_t sb = j < b->ndims ? b->dim[j].stride : UINT64_MAX;

		t->stride = sa < sb ? sa : sb;
		t->max = sa <= sb ? (int64_t)a->dim[i++].n - 1 : 0;
		t->min = sb <= sa ? 1 - (int64_t)b->dim[j++].n : 0;
		t->reach_min = reach_min;
		t->reach_max = reach_max;
		if (i == a->ndims && j == b->ndims)
			return t;
		reach_min += t->min * t->stride;
		reach_max += t->max * t->stride;
	}
}

bool tmap_geom_overlap(const struct tmap_geom *a, const struct tmap_geom *b)
{
	struct term terms[MAX_TERMS], *last;
	int budget = SEARCH_BUDGET;

	if (a->hi - a->lo > MAX_VIEW_BYTES || b->hi - b->lo > MAX_VIEW_BYTES)
		return true;
	last = make_terms(terms, a, b);
	return search(last, terms, (int64_t)(b->lo - a->lo), &budget);
}

bool tmap_geom_contains(const struct tmap_geom *outer, const struct tmap_geom *inner)
{
	uint64_t delta = inner->lo - outer->lo;
	uint32_t i = outer->ndims, j = inner->ndims;

	if (inner->lo < outer->lo || inner->hi > outer->hi)
		return false;
	while (i--) {
		uint64_t stride = outer->dim[i].stride;
		uint64_t last = 0;	/* of the factors @inner needs */

		if (delta >= stride) {
			last = delta / stride;
			delta -= last * stride;
		}
		for (; j && inner->dim[j - 1].stride >= stride; j--) {
			uint64_t step = inner->dim[j - 1].stride;

			if (step != stride && step % stride)
				return false;
			last += (inner->dim[j - 1].n - 1) * (step == stride ? 1 : step / stride);
		}
		if (last >= outer->dim[i].n)
			return false;
	}
	return true;
}

/* Do tensors of the same range touch the same bytes for certain? */
static bool same_form(const struct pto_tensor *a, const struct pto_tensor *b)
{
	return a->dtype == b->dtype && a->ndims == b->ndims &&
	       !memcmp(a->shapes, b->shapes, sizeof(a->shapes)) &&
	       !memcmp(a->strides, b->strides, sizeof(a->strides));
}

bool tmap_match_slow(struct tmap_iter *it, const struct tmap_entry *e)
{
	struct tmap_geom g;

	if (it->lo == e->lo && it->hi == e->hi && same_form(it->tensor, e->tensor)) {
		it->kind = tmap_newer(it->tensor, e) ? TMAP_OTHER : TMAP_COVERED;
		return true;
	}

	if (!it->has_geom) {
		tmap_geom_init(&it->geom, it->tensor);
		it->has_geom = true;
	}
	tmap_geom_init(&g, e->tensor);
	if (tmap_geom_contains(&it->geom, &g)) {
		it->kind = tmap_newer(it->tensor, e) ? TMAP_OTHER : TMAP_COVERED;
		return true;
	}
	it->kind = TMAP_OTHER;
	return tmap_geom_overlap(&it->geom, &g);
}
