/* SPDX-License-Identifier: MIT */
/*
 * Matrix product on the cube core, activation on the vector cores of the same
 * cluster, connected by a pipe of eight slots through which each block pushes
 * more tiles than that.
 */
#include <math.h>

#include "../common/prog.h"

#define BLOCKS 10		/* more than there are clusters */
#define ROWS (BLOCKS * 12 * 32 - 11)	/* the last band is short */
#define DEPTH 64
#define WIDTH 64

static const struct prog_kernel kernels[] = {
	{ 0, "aic/push_up_down" }, { 1, "aiv/silu_up_down" },
	{ 2, "aic/push_left_right" }, { 3, "aiv/silu_left_right" },
	{ 4, "aic/push_whole" }, { 5, "aiv/silu_whole" }, { 0, NULL },
};

static const struct variant {
	const char *name;
	uint32_t cube, vector, lanes;
} variants[] = {
	{ "rows split between the lanes", 0, 1, 2 },
	{ "columns split between the lanes", 2, 3, 2 },
	{ "one lane", 4, 5, 1 },
	{ "two lanes, one of them idle", 4, 5, 2 },
};

static void golden(const uint16_t *a, const uint16_t *w, double *out)
{
	static double weight[DEPTH * WIDTH];

	for (size_t i = 0; i < DEPTH * WIDTH; i++)
		weight[i] = (double)prog_half_to_float(w[i]);
	for (size_t r = 0; r < ROWS; r++)
		for (size_t k = 0; k < DEPTH; k++) {
			double v = (double)prog_half_to_float(a[r * DEPTH + k]);

			for (size_t c = 0; c < WIDTH; c++)
				out[r * WIDTH + c] += v * weight[k * WIDTH + c];
		}
	for (size_t i = 0; i < ROWS * WIDTH; i++)
		out[i] /= 1 + exp(-out[i]);
}

struct data {
	uint16_t *a, *w;
	double *golden;
};

static void check_variant(struct prog_session *s, const struct variant *v, const struct data *d)
{
	struct prog_call *c = prog_call_create(s, s->api, kernels);
	float *out = prog_new(s, ROWS * WIDTH, sizeof(*out));

	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_FLOAT16, PROG_DEVICE, 2,
						 { ROWS, DEPTH }, d->a });
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_FLOAT16, PROG_DEVICE, 2,
						 { DEPTH, WIDTH }, d->w });
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_OUT, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { ROWS, WIDTH }, out });
	prog_call_scalar(c, v->cube);
	prog_call_scalar(c, v->vector);
	prog_call_scalar(c, v->lanes);
	prog_call_scalar(c, BLOCKS);
	if (prog_api_is(s, "older")) {
		prog_call_scalar(c, ROWS);
		prog_call_scalar(c, DEPTH);
		prog_call_scalar(c, WIDTH);
	}
	prog_call_run(c, NULL);
	prog_call_fetch(c);
	prog_expect(s, v->name, out, d->golden, ROWS * WIDTH, (struct prog_tolerance){ 2e-5, 1e-5 });
}

static void check(struct prog_session *s)
{
	struct prog_random random = { s->options->seed };
	static double expected[ROWS * WIDTH];
	struct data d = { prog_new(s, ROWS * DEPTH, 2), prog_new(s, DEPTH * WIDTH, 2), expected };

	prog_fill_random(&random, d.a, SIMPLER_FLOAT16, ROWS * DEPTH, 1);
	prog_fill_random(&random, d.w, SIMPLER_FLOAT16, DEPTH * WIDTH, 1);
	if (!prog_passes(s))
		golden(d.a, d.w, expected);
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		check_variant(s, &variants[i], &d);
}

static const char *const apis[] = { "current", "older", NULL };

int main(int argc, char **argv)
{
	return prog_main(argc, argv, &(struct prog){ "mix_pipes", apis, check, NULL });
}
