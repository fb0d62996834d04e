/* SPDX-License-Identifier: MIT */
/* Softmax of the rows of a matrix, in bands; also rows of one column and values of large magnitude. */
#include <math.h>
#include <stdio.h>

#include "../common/prog.h"

static const struct prog_kernel kernels[] = { { 0, "aiv/softmax" }, { 0, NULL } };

static void golden_row(const float *x, double *out, uint32_t n)
{
	double best = -INFINITY, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		best = fmax(best, (double)x[i]);
	for (uint32_t i = 0; i < n; i++)
		sum += out[i] = exp((double)x[i] - best);
	for (uint32_t i = 0; i < n; i++)
		out[i] /= sum;
}

static void check_shape(struct prog_session *s, uint32_t rows, uint32_t cols, float magnitude)
{
	struct prog_random random = { s->options->seed + cols };
	struct prog_call *c = prog_call_create(s, s->api, kernels);
	size_t n = (size_t)rows * cols;
	float *x = prog_new(s, n, sizeof(*x)), *out = prog_new(s, n, sizeof(*out));
	double *expected = prog_new(s, n, sizeof(*expected));
	char name[32];

	prog_fill_random(&random, x, SIMPLER_FLOAT32, n, magnitude);
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { rows, cols }, x });
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_OUT, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { rows, cols }, out });
	if (prog_api_is(s, "older")) {
		prog_call_scalar(c, rows);
		prog_call_scalar(c, cols);
	}
	for (uint32_t r = 0; r < rows; r++)
		golden_row(x + (size_t)r * cols, expected + (size_t)r * cols, cols);
	prog_call_run(c, NULL);
	prog_call_fetch(c);
	snprintf(name, sizeof(name), "softmax %u x %u", rows, cols);
	prog_expect(s, name, out, expected, n, (struct prog_tolerance){ 1e-7, 2e-5 });
}

static void check(struct prog_session *s)
{
	check_shape(s, 250, 384, 4);
	check_shape(s, 64, 129, 100);
	check_shape(s, 17, 1, 1e4f);
}

static const char *const apis[] = { "current", "older", NULL };

int main(int argc, char **argv)
{
	return prog_main(argc, argv, &(struct prog){ "softmax", apis, check, NULL });
}
