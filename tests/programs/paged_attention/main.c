/* SPDX-License-Identifier: MIT */
/*
 * Batched paged attention: one decoding step of a grouped-query transformer
 * layer.  A task per (sequence, key head, cache block) and stage: scores and
 * weighted values on the cube cores, online softmax and its update on the
 * vector cores.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workload.h"

static struct workload workloads[] = {
	{ .name = "FP16", .dtype = SIMPLER_FLOAT16, .batch = 8, .heads = 16, .kv_heads = 1,
	  .dim = 128, .block_size = 128, .max_tokens = 1024, .tolerance = { 5e-4, 1e-3 } },
	{ .name = "BF16", .dtype = SIMPLER_BFLOAT16, .batch = 7, .heads = 32, .kv_heads = 2,
	  .dim = 128, .block_size = 64, .max_tokens = 640, .tolerance = { 4e-3, 8e-3 } },
};
#define WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

static const struct prog_kernel kernels_f16[] = {
	{ 0, "aiv/lengths" }, { 1, "aiv/append_f16" }, { 2, "aic/qk_f16" },
	{ 3, "aiv/softmax_part_f16" }, { 4, "aic/pv_f16" }, { 5, "aiv/update" }, { 0, NULL },
};
static const struct prog_kernel kernels_bf16[] = {
	{ 0, "aiv/lengths" }, { 1, "aiv/append_bf16" }, { 2, "aic/qk_bf16" },
	{ 3, "aiv/softmax_part_bf16" }, { 4, "aic/pv_bf16" }, { 5, "aiv/update" }, { 0, NULL },
};

/* One pass's call, with its own copies of what a run writes. */
struct step {
	const struct workload *w;
	struct prog_call *call;
	uint16_t *k_cache, *v_cache;
	float *out;
	size_t out_count;
	size_t cache_bytes;
};

static void add(struct prog_call *c, int dir, int dtype, uint32_t rows, uint32_t cols, void *data)
{
	prog_call_array(c, &(struct prog_array){ dir, dtype, PROG_DEVICE, 2, { rows, cols },
						 data });
}

static void add_arguments(struct prog_session *s, const struct step *t)
{
	const struct workload *w = t->w;
	uint32_t width = w->kv_heads * w->dim;
	struct prog_call *c = t->call;

	add(c, SIMPLER_DIR_IN, w->dtype, w->batch * w->heads, w->dim, w->q);
	add(c, SIMPLER_DIR_IN, w->dtype, w->batch, width, w->new_k);
	add(c, SIMPLER_DIR_IN, w->dtype, w->batch, width, w->new_v);
	add(c, SIMPLER_DIR_INOUT, w->dtype, w->cache_rows, width, t->k_cache);
	add(c, SIMPLER_DIR_INOUT, w->dtype, w->cache_rows, width, t->v_cache);
	add(c, SIMPLER_DIR_IN, SIMPLER_INT32, w->batch, w->blocks_per_seq, w->table);
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_INT32, PROG_DEVICE, 1,
						 { w->batch }, w->past });
	add(c, SIMPLER_DIR_OUT, SIMPLER_FLOAT32, w->batch * w->heads, w->dim, t->out);
	prog_call_scalar(c, w->heads);
	prog_call_scalar(c, w->kv_heads);
	prog_call_scalar(c, w->block_size);
	prog_call_float(c, (float)(1 / sqrt(w->dim)));
	if (!prog_api_is(s, "older"))
		return;
	prog_call_scalar(c, w->batch);
	prog_call_scalar(c, w->dim);
	prog_call_scalar(c, w->cache_rows);
	prog_call_scalar(c, w->blocks_per_seq);
	prog_call_scalar(c, (uint64_t)w->dtype);
}

static struct step prepare(struct prog_session *s, const struct workload *w)
{
	size_t cache = (size_t)w->cache_rows * w->kv_heads * w->dim;
	struct step t = {
		.w = w,
		.call = prog_call_create(s, s->api, w->dtype == SIMPLER_FLOAT16 ? kernels_f16 :
										  kernels_bf16),
		.k_cache = prog_new(s, cache, 2),
		.v_cache = prog_new(s, cache, 2),
		.out_count = (size_t)w->batch * w->heads * w->dim,
		.cache_bytes = cache * 2,
	};

	t.out = prog_new(s, t.out_count, sizeof(*t.out));
	memcpy(t.k_cache, w->k_cache, t.cache_bytes);
	memcpy(t.v_cache, w->v_cache, t.cache_bytes);
	add_arguments(s, &t);
	return t;
}

static void expect(struct prog_session *s, const struct step *t)
{
	prog_call_fetch(t->call);
	prog_expect(s, t->w->name, t->out, t->w->golden, t->out_count, t->w->tolerance);
	if (memcmp(t->k_cache, t->w->k_after, t->cache_bytes) ||
	    memcmp(t->v_cache, t->w->v_after, t->cache_bytes))
		prog_die("%s: the caches differ from what appending the new token gives (API %s)",
			 t->w->name, s->api);
}

static void prepare_workloads(const struct prog_session *s)
{
	for (size_t i = 0; i < WORKLOADS; i++)
		if (!workloads[i].golden)
			workload_prepare(&workloads[i], s->options->seed);
}

static void check(struct prog_session *s)
{
	prepare_workloads(s);
	for (size_t i = 0; i < WORKLOADS; i++) {
		struct step t = prepare(s, &workloads[i]);

		prog_call_run(t.call, NULL);
		expect(s, &t);
	}
}

/* ---- the table of `make run` ------------------------------------------------------ */

#define WARM_RUNS 31

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median time of a warm run in microseconds, submit to completion. */
static double time_runs(struct prog_session *s, struct prog_call *c)
{
	unsigned int n = s->options->repeat ? s->options->repeat : WARM_RUNS;
	double *us = prog_new(s, n, sizeof(*us));

	for (unsigned int i = 0; i < n; i++) {
		double start = now_us();

		prog_call_run(c, NULL);
		us[i] = now_us() - start;
	}
	qsort(us, n, sizeof(*us), by_value);
	return us[n / 2];
}

static void report_one(struct prog_session *s, const struct workload *w)
{
	struct step t = prepare(s, w);
	struct simpler_run_stats stats;
	uint64_t tokens = 0;
	double us;

	prog_call_run(t.call, &stats);
	expect(s, &t);
	us = time_runs(s, t.call);
	expect(s, &t);
	for (uint32_t b = 0; b < w->batch; b++)
		tokens += (uint64_t)w->past[b] + 1;
	prog_table_line("workload", "%s, batch %u, %u heads on %u kv heads, dim %u, block %u, %llu tokens of context",
			w->name, w->batch, w->heads, w->kv_heads, w->dim, w->block_size,
			(unsigned long long)tokens);
	prog_table_line("result", "ok, error against the golden %.2g abs, %.2g of the largest value",
			prog_worst(s).max_abs, prog_worst(s).max_rel);
	prog_table_line("tasks", "%llu", (unsigned long long)stats.tasks_completed);
	prog_table_line("time per run", "%.0f us (median of %u warm runs)", us,
			s->options->repeat ? s->options->repeat : WARM_RUNS);
	prog_table_line("time per task", "%.2f us", us / (double)stats.tasks_completed);
	prog_table_line("achieved", "%.2f GFLOP/s", w->flop / us / 1e3);
}

static void report(struct prog_session *s)
{
	prepare_workloads(s);
	prog_table_line("program", "batched paged attention, API %s", s->api);
	prog_table_line("platform", "%s", s->options->platform);
	for (size_t i = 0; i < WORKLOADS; i++)
		report_one(s, &workloads[i]);
	prog_table_line("swimlane", "not recorded (diagnostics off)");
}

static const char *const apis[] = { "current", "older", NULL };

int main(int argc, char **argv)
{
	int rc = prog_main(argc, argv,
			   &(struct prog){ "paged_attention", apis, check, report });

	for (size_t i = 0; i < WORKLOADS; i++)
		workload_release(&workloads[i]);
	return rc;
}
