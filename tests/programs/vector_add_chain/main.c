/* SPDX-License-Identifier: MIT */
/* A chain of dependent vector tasks per band of rows, in all three API generations. */
#include "../common/prog.h"

#define ROWS 200
#define COLS 96
#define STEPS 12
#define FACTOR 0.75f

static const struct prog_kernel current_kernels[] = {
	{ 0, "aiv/add" }, { 1, "aiv/scale" }, { 0, NULL },
};
static const struct prog_kernel older_kernels[] = {
	{ 0, "aiv/add" }, { 1, "aiv/scale_in_order" }, { 0, NULL },
};

/* The same single-precision operations one after the other, so that the result must be equal. */
static void golden(const float *x, const float *y, double *out)
{
	for (size_t i = 0; i < ROWS * COLS; i++) {
		volatile float v = x[i];

		for (int step = 0; step < STEPS; step++) {
			v = v + y[i];
			v = v * FACTOR;
		}
		out[i] = (double)v;
	}
}

static void check(struct prog_session *s)
{
	struct prog_random random = { s->options->seed };
	bool current = prog_api_is(s, "current");
	struct prog_call *c = prog_call_create(s, s->api,
					       current ? current_kernels : older_kernels);
	size_t n = ROWS * COLS;
	float *x = prog_new(s, n, 4), *y = prog_new(s, n, 4), *out = prog_new(s, n, 4);
	double *expected = prog_new(s, n, sizeof(*expected));

	prog_fill_random(&random, x, SIMPLER_FLOAT32, n, 1);
	prog_fill_random(&random, y, SIMPLER_FLOAT32, n, 1);
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_FLOAT32, PROG_HOST, 2,
						 { ROWS, COLS }, x });
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { ROWS, COLS }, y });
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_OUT, SIMPLER_FLOAT32, PROG_HOST, 2,
						 { ROWS, COLS }, out });
	prog_call_scalar(c, STEPS);
	prog_call_float(c, FACTOR);
	if (!current) {
		prog_call_scalar(c, ROWS);
		prog_call_scalar(c, COLS);
	}
	golden(x, y, expected);
	prog_call_run(c, NULL);
	prog_expect(s, "out", out, expected, n, (struct prog_tolerance){ 0, 0 });
	/* a second run of a warm callable gives the same */
	for (size_t i = 0; i < n; i++)
		out[i] = -1;
	prog_call_run(c, NULL);
	prog_expect(s, "out", out, expected, n, (struct prog_tolerance){ 0, 0 });
}

static const char *const apis[] = { "current", "older", "intermediate", NULL };

int main(int argc, char **argv)
{
	return prog_main(argc, argv, &(struct prog){ "vector_add_chain", apis, check, NULL });
}
