/* SPDX-License-Identifier: MIT */
/* Tasks of more blocks than there are cores, and tasks whose blocks all start together. */
#include "../common/prog.h"

#define VECTOR_BLOCKS 100
#define CUBE_BLOCKS 20
#define COLS 64
/* a simulated chip has eight clusters */
#define CLUSTERS 8

static const struct prog_kernel kernels[] = {
	{ 0, "aiv/scale_row" }, { 1, "aiv/sum_rows" }, { 2, "aic/multiply_rows" },
	{ 3, "aiv/widen_rows" }, { 0, NULL },
};

static double scaled(const float *x, size_t row, size_t col, unsigned int blocks)
{
	return (double)x[row * COLS + col] * (double)(row + 1) + blocks;
}

static void golden_scaled(const float *x, double *out, unsigned int blocks)
{
	for (size_t i = 0; i < blocks * COLS; i++)
		out[i] = scaled(x, i / COLS, i % COLS, blocks);
}

static void golden_sum(const float *x, double *out)
{
	for (size_t c = 0; c < COLS; c++)
		for (size_t r = 0; r < VECTOR_BLOCKS; r++)
			out[c] += scaled(x, r, c, VECTOR_BLOCKS);
}

static void golden_product(const uint16_t *a, const uint16_t *w, double *out, size_t rows)
{
	for (size_t i = 0; i < rows * COLS; i++)
		for (size_t k = 0; k < COLS; k++)
			out[i] += prog_element(a, SIMPLER_FLOAT16, i / COLS * COLS + k) *
				  prog_element(w, SIMPLER_FLOAT16, k * COLS + i % COLS);
}

/* A result with its golden. */
struct expected {
	const char *name;
	size_t rows;
	float *out;
	double *golden;
};

static struct expected expect_rows(struct prog_session *s, struct prog_call *c, const char *name,
				   uint32_t rows)
{
	struct expected e = { name, rows, prog_new(s, rows * COLS, sizeof(*e.out)),
			      prog_new(s, rows * COLS, sizeof(*e.golden)) };

	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_OUT, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { rows, COLS }, e.out });
	return e;
}

static void *add_input(struct prog_session *s, struct prog_call *c, int dtype, uint32_t rows)
{
	struct prog_random random = { s->options->seed + rows };
	void *data = prog_new(s, (size_t)rows * COLS, simpler_dtype_size(dtype));

	prog_fill_random(&random, data, dtype, (size_t)rows * COLS, 1);
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, dtype, PROG_DEVICE, 2,
						 { rows, COLS }, data });
	return data;
}

static void check_against(struct prog_session *s, const struct expected *e, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		prog_expect(s, e[i].name, e[i].out, e[i].golden, e[i].rows * COLS,
			    (struct prog_tolerance){ 1e-5, 2e-6 });
}

static void check(struct prog_session *s)
{
	struct prog_call *c = prog_call_create(s, s->api, kernels);
	bool current = prog_api_is(s, "current");
	struct expected e[6];
	uint16_t *a, *w;
	float *x;

	x = add_input(s, c, SIMPLER_FLOAT32, VECTOR_BLOCKS);
	e[0] = expect_rows(s, c, "100 vector blocks", VECTOR_BLOCKS);
	e[1] = expect_rows(s, c, "their sum", 1);
	a = add_input(s, c, SIMPLER_FLOAT16, 16 * CUBE_BLOCKS);
	w = add_input(s, c, SIMPLER_FLOAT16, COLS);
	e[2] = expect_rows(s, c, "20 cube blocks", 16 * CUBE_BLOCKS);
	golden_scaled(x, e[0].golden, VECTOR_BLOCKS);
	golden_sum(x, e[1].golden);
	golden_product(a, w, e[2].golden, 16 * CUBE_BLOCKS);
	if (current) {
		e[3] = expect_rows(s, c, "vector cohort", 2 * CLUSTERS);
		e[4] = expect_rows(s, c, "cube and mixed cohorts", 16 * CLUSTERS);
		e[5] = expect_rows(s, c, "vector half of the mixed cohort", 16 * CLUSTERS);
		golden_scaled(x, e[3].golden, 2 * CLUSTERS);
		golden_product(a, w, e[4].golden, 16 * CLUSTERS);
		for (size_t i = 0; i < 16 * CLUSTERS * COLS; i++)
			e[5].golden[i] = prog_element(a, SIMPLER_FLOAT16, i);
	} else {
		prog_call_scalar(c, VECTOR_BLOCKS);
		prog_call_scalar(c, 16 * CUBE_BLOCKS);
	}
	prog_call_run(c, NULL);
	prog_call_fetch(c);
	check_against(s, e, current ? 6 : 3);
}

static const char *const apis[] = { "current", "older", NULL };

int main(int argc, char **argv)
{
	return prog_main(argc, argv, &(struct prog){ "spmd", apis, check, NULL });
}
