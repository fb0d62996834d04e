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
	int64_t reach_min, reach_max;		/* of the terms that follow */
};

static void set_dense(struct tmap_geom *g)
{
	g->ndims = 1;
	g->dim[0].n = g->hi - g->lo;
	g->dim[0].stride = 1;
}

/* Inserts a dimension by stride, largest first. */
static void add_dim(struct tmap_geom *g, uint64_t n, uint64_t stride)
{
	uint32_t i = g->ndims++;

	for (; i && g->dim[i - 1].stride < stride; i--)
		g->dim[i] = g->dim[i - 1];
	g->dim[i].n = n;
	g->dim[i].stride = stride;
}

/* Joins each dimension with the next smaller one when that one fills its stride. */
static void merge_dims(struct tmap_geom *g)
{
	uint32_t out = g->ndims - 1, i = g->ndims - 1;

	while (i--) {
		if (g->dim[i].stride == g->dim[out].n * g->dim[out].stride)
			g->dim[out].n *= g->dim[i].n;
		else
			g->dim[--out] = g->dim[i];
	}
	g->ndims -= out;
	for (i = 0; out && i < g->ndims; i++)
		g->dim[i] = g->dim[i + out];
}

void tmap_geom_init(struct tmap_geom *g, const struct pto_tensor *t)
{
	uint32_t shift = tmap_elem_shift(t->dtype);
	uint32_t i, ndims = t->ndims < PTO_MAX_DIMS ? t->ndims : PTO_MAX_DIMS;

	g->lo = tmap_lo(t);
	g->hi = tmap_hi(t);
	g->ndims = 0;
	if (t->is_contiguous) {
		set_dense(g);
		return;
	}
	for (i = 0; i < ndims; i++) {
		uint64_t n = t->shapes[i], stride = t->strides[i];

		if (n <= 1 || !stride)
			continue;
		if ((n - 1) * stride >= t->extent_elem) {	/* contradicts the extent */
			set_dense(g);
			return;
		}
		add_dim(g, n, stride << shift);
	}
	g->dim[g->ndims].n = 1u << shift;
	g->dim[g->ndims++].stride = 1;
	merge_dims(g);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	if (a >= 0 && a < b)
		return 0;	/* divisions are slow, and this is the usual case */
	return a / b - (a % b < 0);
}

/* Is @delta the sum of the terms from @t on, each with a factor in its range? */
static bool search(const struct term *t, const struct term *last, int64_t delta, int *budget)
{
	int64_t min, max, k;

	if (t == last)
		return t->min <= delta && delta <= t->max;
	min = -floor_div(t->reach_max - delta, t->stride);
	max = floor_div(delta - t->reach_min, t->stride);
	min = min > t->min ? min : t->min;
	max = max < t->max ? max : t->max;
	if (min > max)
		return false;
	if (t + 1 == last)
		return true;	/* the last stride is 1: everything in reach is a sum */
	for (k = min; k <= max; k++)
		if (--*budget < 0 || search(t + 1, last, delta - k * t->stride, budget))
			return true;
	return false;
}

/* Terms of both views by stride, largest first; returns the last one. */
static struct term *make_terms(struct term *t, const struct tmap_geom *a,
			       const struct tmap_geom *b)
{
	uint32_t i = 0, j = 0;

	for (;; t++) {
		uint64_t sa = i < a->ndims ? a->dim[i].stride : 0;
		uint64_t sb = j < b->ndims ? b->dim[j].stride : 0;

		t->stride = sa > sb ? sa : sb;
		t->max = sa >= sb ? (int64_t)a->dim[i++].n - 1 : 0;
		t->min = sb >= sa ? 1 - (int64_t)b->dim[j++].n : 0;
		if (i == a->ndims && j == b->ndims)
			return t;
	}
}

bool tmap_geom_overlap(const struct tmap_geom *a, const struct tmap_geom *b)
{
	struct term terms[MAX_TERMS], *last, *t;
	int budget = SEARCH_BUDGET;

	if (a->hi <= b->lo || b->hi <= a->lo)
		return false;
	if (a->hi - a->lo > MAX_VIEW_BYTES || b->hi - b->lo > MAX_VIEW_BYTES)
		return true;
	last = make_terms(terms, a, b);
	last->reach_min = 0;
	last->reach_max = 0;
	for (t = last; t > terms; t--) {
		t[-1].reach_min = t->reach_min + t->min * t->stride;
		t[-1].reach_max = t->reach_max + t->max * t->stride;
	}
	return search(terms, last, (int64_t)(b->lo - a->lo), &budget);
}

bool tmap_geom_contains(const struct tmap_geom *outer, const struct tmap_geom *inner)
{
	uint64_t delta = inner->lo - outer->lo;
	uint32_t i, j = 0;

	if (inner->lo < outer->lo || inner->hi > outer->hi)
		return false;
	for (i = 0; i < outer->ndims; i++) {
		uint64_t stride = outer->dim[i].stride;
		uint64_t last = 0;	/* of the factors @inner needs */

		if (delta >= stride) {
			last = delta / stride;
			delta -= last * stride;
		}
		for (; j < inner->ndims && inner->dim[j].stride >= stride; j++) {
			uint64_t step = inner->dim[j].stride;

			if (step != stride && step % stride)
				return false;
			last += (inner->dim[j].n - 1) *
				(step == stride ? 1 : step / stride);
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
