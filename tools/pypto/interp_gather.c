/* SPDX-License-Identifier: MIT */
/* Interpreter: single elements, gathering, sorting; section 4.8. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp_value.h"

/* Element @flat in row-major order; NULL outside. */
static void *flat_at(const struct iv *v, int64_t flat)
{
	int64_t index[INTERP_MAX_RANK];
	int i;

	if (flat < 0 || flat >= iv_count(v))
		return NULL;
	for (i = v->rank - 1; i >= 0; i--) {
		index[i] = flat % v->shape[i];
		flat /= v->shape[i];
	}
	return iv_at(v, index);
}

static void *need_flat(struct op_run *r, const struct iv *v, int64_t flat)
{
	void *at = flat_at(v, flat);

	return at ? at : interp_error(r->fr, r->call->node.span,
				      "Element %lld lies outside: there are %lld", (long long)flat,
				      (long long)iv_count(v));
}

static struct iv *run_getval(struct op_run *r)
{
	void *at = need_flat(r, r->args[0], r->args[1]->cell.i);

	return at ? iv_scalar(r->in, r->args[0]->dtype, cell_read(r->args[0]->dtype, at)) : NULL;
}

static struct iv *run_setval(struct op_run *r)
{
	const struct iv *tile = r->args[0], *value = r->args[2];
	void *at = need_flat(r, tile, r->args[1]->cell.i);

	if (!at)
		return NULL;
	cell_write(tile->dtype, at,
		   cell_convert(value->dtype, tile->dtype, value->cell, MODE_OF_TYPES));
	return run_nothing(r);
}

/* An index outside gives zero. Code 1: the source is a tensor. */
static struct iv *run_gather(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node), *idx = r->args[1];
	union cell *cells;
	int64_t i, n;

	if (!v)
		return NULL;
	n = iv_count(v);
	cells = cells_of(r->in, idx, DT_INT64, v->rank, v->shape);
	for (i = 0; i < n; i++) {
		const void *at = flat_at(r->args[0], cells[i].i);

		if (at)
			cells[i] = cell_read(v->dtype, at);
		else
			cells[i].i = 0;
	}
	cells_put(v, cells);
	free(cells);
	return v;
}

/* dst.flat[idx] = src, in row-major order of idx. */
static int scatter(struct op_run *r, const struct iv *dst, const struct iv *src,
		   const struct iv *idx)
{
	union cell *to = cells_of(r->in, idx, DT_INT64, idx->rank, idx->shape);
	union cell *from = cells_of(r->in, src, dst->dtype, idx->rank, idx->shape);
	int64_t i, n = iv_count(idx);
	void *at = "";

	for (i = 0; i < n && at; i++) {
		at = need_flat(r, dst, to[i].i);
		if (at)
			cell_write(dst->dtype, at, from[i]);
	}
	free(to);
	free(from);
	return at ? 0 : -EINVAL;
}

static struct iv *run_scatter(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	union cell *cells;

	if (!v)
		return NULL;
	cells = cells_of(r->in, r->args[0], v->dtype, v->rank, v->shape);
	cells_put(v, cells);
	free(cells);
	if (!scatter(r, v, r->args[1], r->args[2]))
		return v;
	iv_unref(v);
	return NULL;
}

static struct iv *run_mscatter(struct op_run *r)
{
	return scatter(r, r->args[2], r->args[0], r->args[1]) ? NULL : iv_ref(r->args[2]);
}

/* ---- Where one operand is not valid, the other counts ---- */

static bool valid_at(const struct iv *v, const int64_t *index)
{
	int i;

	for (i = 0; i < v->rank && index[i] < v->valid[i]; i++)
		;
	return i == v->rank;
}

static union cell part(int code, unsigned int dtype, union cell a, union cell b)
{
	bool is_float = dtype_is_float(dtype);

	if (code == 0 && is_float)
		return (union cell){ .f = a.f + b.f };
	if (code == 0)
		return (union cell){ .i = a.i + b.i };
	if (is_float)
		return (code == 1 ? a.f < b.f : b.f < a.f) ? b : a;
	return (code == 1 ? a.i < b.i : b.i < a.i) ? b : a;
}

static struct iv *run_part(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	int64_t index[INTERP_MAX_RANK] = { 0 }, k = 0;
	union cell *a, *b;

	if (!v || !iv_count(v))
		return v;
	a = cells_of(r->in, r->args[0], v->dtype, v->rank, v->shape);
	b = cells_of(r->in, r->args[1], v->dtype, v->rank, v->shape);
	do {
		bool in_a = valid_at(r->args[0], index), in_b = valid_at(r->args[1], index);

		if (in_a && in_b)
			a[k] = part(r->code, v->dtype, a[k], b[k]);
		else if (!in_a)
			a[k] = in_b ? b[k] : (union cell){ 0 };
		k++;
	} while (index_next(index, v->rank, v->shape));
	cells_put(v, a);
	free(a);
	free(b);
	return v;
}

static struct iv *run_ci(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	int64_t step = run_attr(r, "descending", 0) ? -1 : 1, i, n;
	union cell *cells;

	if (!v)
		return NULL;
	n = iv_count(v);
	cells = iv_alloc(r->in, (size_t)n, sizeof(*cells));
	for (i = 0; i < n; i++)
		cells[i].i = r->args[0]->cell.i + step * i;
	cells_put(v, cells);
	free(cells);
	return v;
}

/* ---- Sorting: records of a value and a 32-bit index ---- */

struct record {
	double key;
	int64_t order;		/* among equal keys */
	uint8_t bytes[8];
};

static int by_key(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void put_records(struct iv *v, int64_t first, const struct record *records, int64_t n)
{
	int64_t i, per = 8 / (int64_t)interp_item_size(v->dtype), j;

	for (i = 0; i < n; i++)
		for (j = 0; j < per; j++)
			memcpy(flat_at(v, first + i * per + j),
			       records[i].bytes + j * (int64_t)interp_item_size(v->dtype),
			       interp_item_size(v->dtype));
}

/* Each group of 32 columns, the largest first. */
static struct iv *run_sort32(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node), *src = r->args[0], *idx = r->args[1];
	int64_t n, i, k, per;
	struct record records[32];

	if (!v)
		return NULL;
	per = 8 / (int64_t)interp_item_size(v->dtype);
	n = iv_count(src);
	for (i = 0; i + 32 <= n; i += 32) {
		memset(records, 0, sizeof(records));
		for (k = 0; k < 32; k++) {
			const void *value = flat_at(src, i + k);
			const void *index = flat_at(idx, (i + k) % iv_count(idx));

			records[k].key = cell_read(src->dtype, value).f;
			records[k].order = k;
			memcpy(records[k].bytes, value, interp_item_size(src->dtype));
			memcpy(records[k].bytes + 4, index, 4);
		}
		qsort(records, 32, sizeof(records[0]), by_key);
		put_records(v, i * per, records, 32);
	}
	return v;
}

static int64_t get_records(const struct iv *v, int64_t first, int64_t words, struct record *records,
			   int64_t order)
{
	int64_t size = interp_item_size(v->dtype), per = 8 / size, i, j;

	for (i = 0; i < words / per; i++) {
		for (j = 0; j < per; j++)
			memcpy(records[i].bytes + j * size, flat_at(v, first + i * per + j),
			       (size_t)size);
		records[i].key = cell_read(v->dtype, records[i].bytes).f;
		records[i].order = order + i;
	}
	return words / per;
}

/* One tile: each four adjacent runs of block_len words become one run. */
static struct iv *merge_runs(struct op_run *r, struct iv *v, int64_t block_len)
{
	const struct iv *src = r->args[0];
	int64_t n = iv_count(src), i, count;
	struct record *records = iv_alloc(r->in, (size_t)n, sizeof(*records));

	for (i = 0; i + 4 * block_len <= n; i += 4 * block_len) {
		count = get_records(src, i, 4 * block_len, records, 0);
		qsort(records, (size_t)count, sizeof(*records), by_key);
		put_records(v, i, records, count);
	}
	free(records);
	return v;
}

static struct iv *run_mrgsort(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	int64_t block_len = run_attr(r, "block_len", 0), count = 0;
	struct record *records;
	unsigned int i;

	if (!v)
		return NULL;
	if (block_len > 0)
		return merge_runs(r, v, block_len);
	records = iv_alloc(r->in, (size_t)iv_count(v), sizeof(*records));
	for (i = 0; i < 4; i++)
		if (r->args[i])
			count += get_records(r->args[i], 0, iv_count(r->args[i]), records + count,
					     count);
	qsort(records, (size_t)count, sizeof(*records), by_key);
	put_records(v, 0, records, count);
	free(records);
	return v;
}

const struct op_entry *interp_ops_gather(void)
{
	static const struct op_entry ops[] = {
		{ "block.getval", run_getval, 0 }, { "block.setval", run_setval, 0 },
		{ "block.gather", run_gather, 0 }, { "block.mgather", run_gather, 0 },
		{ "block.scatter", run_scatter, 0 }, { "block.mscatter", run_mscatter, 0 },
		{ "block.partadd", run_part, 0 }, { "block.partmax", run_part, 1 },
		{ "block.partmin", run_part, 2 }, { "block.ci", run_ci, 0 },
		{ "block.sort32", run_sort32, 0 }, { "block.mrgsort", run_mrgsort, 0 },
		{ NULL, NULL, 0 }
	};

	return ops;
}
