/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

static uint32_t width(const struct workload *w)
{
	return w->kv_heads * w->dim;
}

/* The interesting lengths first: one token, one block and its neighbours, the longest. */
static void choose_lengths(struct workload *w, struct prog_random *random)
{
	const uint32_t fixed[] = {
		1, w->block_size, w->block_size + 1, w->max_tokens, 2 * w->block_size - 1,
	};

	for (uint32_t b = 0; b < w->batch; b++)
		w->past[b] = (int32_t)(b < sizeof(fixed) / sizeof(fixed[0]) ? fixed[b] - 1 :
				       prog_random_below(random, w->max_tokens));
}

/* Every block of every sequence gets a place of its own, in random order. */
static void choose_blocks(struct workload *w, struct prog_random *random)
{
	uint32_t n = w->batch * w->blocks_per_seq;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = prog_random_below(random, i + 1);

		w->table[i] = w->table[j];
		w->table[j] = (int32_t)i;
	}
}

static uint32_t cache_row(const struct workload *w, uint32_t seq, uint32_t token)
{
	const int32_t *blocks = w->table + (size_t)seq * w->blocks_per_seq;

	return (uint32_t)blocks[token / w->block_size] * w->block_size + token % w->block_size;
}

static void append(const struct workload *w, uint16_t *cache, const uint16_t *rows)
{
	for (uint32_t b = 0; b < w->batch; b++)
		memcpy(cache + (size_t)cache_row(w, b, (uint32_t)w->past[b]) * width(w),
		       rows + (size_t)b * width(w), width(w) * sizeof(*cache));
}

static float *as_floats(const uint16_t *data, int dtype, size_t n)
{
	float *f = prog_alloc(n, sizeof(*f));

	for (size_t i = 0; i < n; i++)
		f[i] = (float)prog_element(data, dtype, i);
	return f;
}

static double dot(const float *a, const float *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += (double)a[i] * (double)b[i];
	return sum;
}

struct floats {
	float *q, *k, *v;
	double *scores;
};

/* Attention of one head by its definition. */
static void golden_head(const struct workload *w, const struct floats *f, uint32_t seq,
			uint32_t head)
{
	uint32_t n = (uint32_t)w->past[seq] + 1, kv = head / (w->heads / w->kv_heads);
	const float *q = f->q + ((size_t)seq * w->heads + head) * w->dim;
	double *out = w->golden + ((size_t)seq * w->heads + head) * w->dim;
	double best = -INFINITY, sum = 0;

	for (uint32_t t = 0; t < n; t++) {
		size_t at = (size_t)cache_row(w, seq, t) * width(w) + (size_t)kv * w->dim;

		f->scores[t] = dot(q, f->k + at, w->dim) / sqrt(w->dim);
		best = fmax(best, f->scores[t]);
	}
	for (uint32_t t = 0; t < n; t++)
		sum += f->scores[t] = exp(f->scores[t] - best);
	for (uint32_t t = 0; t < n; t++) {
		size_t at = (size_t)cache_row(w, seq, t) * width(w) + (size_t)kv * w->dim;

		for (uint32_t d = 0; d < w->dim; d++)
			out[d] += f->scores[t] / sum * (double)f->v[at + d];
	}
}

static void make_golden(struct workload *w)
{
	size_t cache = (size_t)w->cache_rows * width(w);
	struct floats f = {
		.q = as_floats(w->q, w->dtype, (size_t)w->batch * w->heads * w->dim),
		.k = as_floats(w->k_after, w->dtype, cache),
		.v = as_floats(w->v_after, w->dtype, cache),
		.scores = prog_alloc(w->max_tokens, sizeof(*f.scores)),
	};

	for (uint32_t seq = 0; seq < w->batch; seq++)
		for (uint32_t head = 0; head < w->heads; head++)
			golden_head(w, &f, seq, head);
	free(f.q);
	free(f.k);
	free(f.v);
	free(f.scores);
}

static uint16_t *random_values(const struct workload *w, struct prog_random *random, size_t n,
			       float magnitude)
{
	uint16_t *data = prog_alloc(n, sizeof(*data));

	prog_fill_random(random, data, w->dtype, n, magnitude);
	return data;
}

static uint16_t *copy_with_new(const struct workload *w, const uint16_t *cache,
			       const uint16_t *rows)
{
	size_t n = (size_t)w->cache_rows * width(w);
	uint16_t *after = prog_alloc(n, sizeof(*after));

	memcpy(after, cache, n * sizeof(*after));
	append(w, after, rows);
	return after;
}

static double count_flop(const struct workload *w)
{
	double flop = 0;

	for (uint32_t b = 0; b < w->batch; b++)
		flop += 4.0 * (w->past[b] + 1) * w->heads * w->dim;
	return flop;
}

void workload_prepare(struct workload *w, uint64_t seed)
{
	struct prog_random random = { seed + (uint64_t)w->dtype * 1000 };
	size_t per_step = (size_t)w->batch * width(w);

	w->blocks_per_seq = (w->max_tokens + w->block_size - 1) / w->block_size;
	w->cache_rows = w->batch * w->blocks_per_seq * w->block_size;
	w->past = prog_alloc(w->batch, sizeof(*w->past));
	w->table = prog_alloc((size_t)w->batch * w->blocks_per_seq, sizeof(*w->table));
	choose_lengths(w, &random);
	choose_blocks(w, &random);
	w->q = random_values(w, &random, (size_t)w->batch * w->heads * w->dim, 6);
	w->new_k = random_values(w, &random, per_step, 1);
	w->new_v = random_values(w, &random, per_step, 1);
	w->k_cache = random_values(w, &random, (size_t)w->cache_rows * width(w), 1);
	w->v_cache = random_values(w, &random, (size_t)w->cache_rows * width(w), 1);
	w->k_after = copy_with_new(w, w->k_cache, w->new_k);
	w->v_after = copy_with_new(w, w->v_cache, w->new_v);
	w->golden = prog_alloc((size_t)w->batch * w->heads * w->dim, sizeof(*w->golden));
	w->flop = count_flop(w);
	make_golden(w);
}

void workload_release(struct workload *w)
{
	free(w->past);
	free(w->table);
	free(w->q);
	free(w->new_k);
	free(w->new_v);
	free(w->k_cache);
	free(w->v_cache);
	free(w->k_after);
	free(w->v_after);
	free(w->golden);
}
