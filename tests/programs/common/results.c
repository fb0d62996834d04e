/* SPDX-License-Identifier: MIT */
/* Comparison with goldens, and of passes with each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "results.h"

static struct result *find(struct prog_totals *t, const char *name)
{
	struct result *r = t->results;

	while (r && strcmp(r->name, name))
		r = r->next;
	return r;
}

/* Keeps the first pass's bytes and holds later passes to them. */
static void expect_same(struct prog_session *s, const char *name, const void *data, size_t bytes)
{
	struct prog_totals *t = s->totals;
	struct result *r = find(t, name);
	size_t i;

	t->compared++;
	if (!r) {
		r = prog_alloc(1, sizeof(*r));
		snprintf(r->name, sizeof(r->name), "%s", name);
		r->bytes = bytes;
		r->first = prog_alloc(bytes, 1);
		memcpy(r->first, data, bytes);
		r->next = t->results;
		t->results = r;
		return;
	}
	if (r->bytes != bytes)
		prog_die("%s: %zu bytes, in the first pass %zu", name, bytes, r->bytes);
	for (i = 0; i < bytes && ((char *)r->first)[i] == ((const char *)data)[i]; i++)
		;
	if (i < bytes)
		prog_die("%s: differs from the first pass at byte %zu of %zu (API %s); the order of "
			 "floating-point operations must not depend on the engine", name, i, bytes,
			 s->api);
}

void totals_release(struct prog_totals *t)
{
	while (t->results) {
		struct result *r = t->results;

		t->results = r->next;
		free(r->first);
		free(r);
	}
}

uint64_t totals_digest(const struct prog_totals *t)
{
	uint64_t hash = HASH_FNV1A64_INIT;

	for (const struct result *r = t->results; r; r = r->next)
		hash = hash_fnv1a64(hash, r->first, r->bytes);
	return hash;
}

static bool is_right(float result, double golden, struct prog_tolerance tol)
{
	return fabs((double)result - golden) <= tol.abs + tol.rel * fabs(golden);
}

/* Relative to the largest value of the result: elements near zero are sums of large ones. */
static void note_difference(struct prog_difference *d, const float *result, const double *golden,
			    size_t n)
{
	double worst = 0, largest = 0;

	for (size_t i = 0; i < n; i++) {
		worst = fmax(worst, fabs((double)result[i] - golden[i]));
		largest = fmax(largest, fabs(golden[i]));
	}
	d->max_abs = fmax(d->max_abs, worst);
	if (largest > 0)
		d->max_rel = fmax(d->max_rel, worst / largest);
}

void prog_expect(struct prog_session *s, const char *name, const float *result,
		 const double *golden, size_t n, struct prog_tolerance tolerance)
{
	size_t wrong = 0, first = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_right(result[i], golden[i], tolerance))
			first = wrong++ ? first : i;
	if (wrong)
		prog_die("%s: %zu of %zu elements are wrong (API %s); the first is [%zu]: %.9g, expected %.9g (tolerance %g + %g relative)",
			 name, wrong, n, s->api, first, (double)result[first], golden[first],
			 tolerance.abs, tolerance.rel);
	note_difference(&s->totals->worst, result, golden, n);
	expect_same(s, name, result, n * sizeof(*result));
}

void prog_expect_i32(struct prog_session *s, const char *name, const int32_t *result,
		     const int32_t *golden, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (result[i] != golden[i])
			prog_die("%s: element [%zu] of %zu is %d, expected %d (API %s)", name, i, n,
				 result[i], golden[i], s->api);
	expect_same(s, name, result, n * sizeof(*result));
}

struct prog_difference prog_worst(const struct prog_session *s)
{
	return s->totals->worst;
}
