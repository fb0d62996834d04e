/* SPDX-License-Identifier: MIT */
/*
 * Cluster groups: tasks pinned to an allocated cluster that hand tiles to each
 * other through pipes.  The orchestrations say what each part is about.
 */
#include <math.h>

#include "../common/prog.h"

#define PANEL (20 * 32 - 13)	/* rows: twenty bands, the last one short */
#define GROUPS 20
#define BLOCKS 4
#define PANELS (3 + GROUPS + BLOCKS)
#define ROWS (PANELS * PANEL)
#define DEPTH 64
#define WIDTH 64
#define FACTOR 0.5f
#define SLOW_FACTOR 0.125f

static const struct prog_kernel kernels[] = {
	{ 0, "aic/produce" }, { 1, "aiv/consume" }, { 2, "aic/produce_split" },
	{ 3, "aiv/consume_split" }, { 4, "aiv/double_it" }, { 5, "aic/there_and_back" },
	{ 6, "aiv/relu_back" }, { 0, NULL },
};

static void to_double(const uint16_t *half, double *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (double)prog_half_to_float(half[i]);
}

static void multiply_row(const double *a, const double *w, double *out)
{
	for (size_t c = 0; c < WIDTH; c++)
		out[c] = 0;
	for (size_t k = 0; k < DEPTH; k++)
		for (size_t c = 0; c < WIDTH; c++)
			out[c] += a[k] * w[k * WIDTH + c];
}

static void scaled_silu(double *row, double factor)
{
	for (size_t c = 0; c < WIDTH; c++)
		row[c] = factor * row[c] / (1 + exp(-row[c]));
}

/* The answer travels in half precision. */
static void relu_and_back(double *row, const double *w2)
{
	double answer[WIDTH];

	for (size_t c = 0; c < WIDTH; c++)
		answer[c] = (double)prog_half_to_float(prog_half_from_float((float)fmax(row[c], 0)));
	multiply_row(answer, w2, row);
}

struct data {
	uint16_t *a, *w1, *w2;
};

static void golden(const struct data *d, double *out)
{
	static double w1[DEPTH * WIDTH], w2[DEPTH * WIDTH];

	to_double(d->w1, w1, DEPTH * WIDTH);
	to_double(d->w2, w2, DEPTH * WIDTH);
	for (size_t r = 0; r < ROWS; r++) {
		size_t panel = r / PANEL;
		double a[DEPTH], *row = out + r * WIDTH;

		to_double(d->a + r * DEPTH, a, DEPTH);
		multiply_row(a, w1, row);
		if (panel >= 3 && panel < 3 + GROUPS)
			relu_and_back(row, w2);
		else
			scaled_silu(row, (double)(panel == 2 ? 32 * SLOW_FACTOR : FACTOR));
	}
}

static void add(struct prog_call *c, int dir, int dtype, uint32_t rows, uint32_t cols, void *data)
{
	prog_call_array(c, &(struct prog_array){ dir, dtype, PROG_DEVICE, 2, { rows, cols },
						 data });
}

static void add_factor(struct prog_session *s, struct prog_call *c, int dir, float value)
{
	float *factor = prog_new(s, 1, sizeof(*factor));

	*factor = value;
	prog_call_array(c, &(struct prog_array){ dir, SIMPLER_FLOAT32, PROG_DEVICE, 1, { 1 },
						 factor });
}

static struct prog_call *make_call(struct prog_session *s, const struct data *d, float *out)
{
	struct prog_call *c = prog_call_create(s, s->api, kernels);

	add(c, SIMPLER_DIR_IN, SIMPLER_FLOAT16, ROWS, DEPTH, d->a);
	add(c, SIMPLER_DIR_IN, SIMPLER_FLOAT16, DEPTH, WIDTH, d->w1);
	add(c, SIMPLER_DIR_IN, SIMPLER_FLOAT16, DEPTH, WIDTH, d->w2);
	add_factor(s, c, SIMPLER_DIR_IN, FACTOR);
	add_factor(s, c, SIMPLER_DIR_INOUT, SLOW_FACTOR);
	add(c, SIMPLER_DIR_OUT, SIMPLER_FLOAT32, ROWS, WIDTH, out);
	prog_call_scalar(c, PANEL);
	prog_call_scalar(c, GROUPS);
	prog_call_scalar(c, BLOCKS);
	if (prog_api_is(s, "older")) {
		prog_call_scalar(c, PANELS);
		prog_call_scalar(c, DEPTH);
		prog_call_scalar(c, WIDTH);
	}
	return c;
}

static void check(struct prog_session *s)
{
	static double expected[ROWS * WIDTH];
	struct prog_random random = { s->options->seed };
	struct data d = { prog_new(s, ROWS * DEPTH, 2), prog_new(s, DEPTH * WIDTH, 2),
			  prog_new(s, DEPTH * WIDTH, 2) };
	float *out = prog_new(s, ROWS * WIDTH, sizeof(*out));
	struct prog_call *c;

	prog_fill_random(&random, d.a, SIMPLER_FLOAT16, ROWS * DEPTH, 0.25f);
	prog_fill_random(&random, d.w1, SIMPLER_FLOAT16, DEPTH * WIDTH, 1);
	prog_fill_random(&random, d.w2, SIMPLER_FLOAT16, DEPTH * WIDTH, 1);
	if (!prog_passes(s))
		golden(&d, expected);
	c = make_call(s, &d, out);
	prog_call_run(c, NULL);
	prog_call_fetch(c);
	/* a value below 4 that rounds to the other side on its way back differs by 2^-9 */
	prog_expect(s, "out", out, expected, ROWS * WIDTH, (struct prog_tolerance){ 2.5e-3, 1e-4 });
}

static const char *const apis[] = { "current", "older", NULL };

int main(int argc, char **argv)
{
	return prog_main(argc, argv, &(struct prog){ "cluster_pipes", apis, check, NULL });
}
