/* SPDX-License-Identifier: MIT */
/* Half-precision matrix product with single-precision accumulation, over K in the kernel and between tasks. */
#include <stdio.h>
#include <stdlib.h>

#include "../common/prog.h"

struct shape {
	uint32_t m, k, n;
};

static const struct prog_kernel kernels[] = {
	{ 0, "aic/matmul" }, { 1, "aiv/add" }, { 0, NULL },
};

static void golden(const struct shape *z, const uint16_t *a, const uint16_t *b, double *c)
{
	float *row = prog_alloc(z->n, sizeof(*row));

	for (uint32_t k = 0; k < z->k; k++) {
		for (uint32_t j = 0; j < z->n; j++)
			row[j] = prog_half_to_float(b[(size_t)k * z->n + j]);
		for (uint32_t i = 0; i < z->m; i++) {
			double v = (double)prog_half_to_float(a[(size_t)i * z->k + k]);

			for (uint32_t j = 0; j < z->n; j++)
				c[(size_t)i * z->n + j] += v * (double)row[j];
		}
	}
	free(row);
}

static void check_shape(struct prog_session *s, const struct shape *z)
{
	struct prog_random random = { s->options->seed + z->k };
	struct prog_call *c = prog_call_create(s, s->api, kernels);
	size_t n = (size_t)z->m * z->n;
	uint16_t *a = prog_new(s, (size_t)z->m * z->k, 2), *b = prog_new(s, (size_t)z->k * z->n, 2);
	float *out = prog_new(s, n, sizeof(*out));
	double *expected = prog_new(s, n, sizeof(*expected));
	char name[32];

	prog_fill_random(&random, a, SIMPLER_FLOAT16, (size_t)z->m * z->k, 1);
	prog_fill_random(&random, b, SIMPLER_FLOAT16, (size_t)z->k * z->n, 1);
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_FLOAT16, PROG_DEVICE, 2,
						 { z->m, z->k }, a });
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_FLOAT16, PROG_DEVICE, 2,
						 { z->k, z->n }, b });
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_OUT, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { z->m, z->n }, out });
	if (prog_api_is(s, "older")) {
		prog_call_scalar(c, z->m);
		prog_call_scalar(c, z->k);
		prog_call_scalar(c, z->n);
	}
	golden(z, a, b, expected);
	prog_call_run(c, NULL);
	prog_call_fetch(c);
	snprintf(name, sizeof(name), "matmul %u x %u x %u", z->m, z->k, z->n);
	prog_expect(s, name, out, expected, n, (struct prog_tolerance){ 2e-5, 1e-5 });
}

static void check(struct prog_session *s)
{
	static const struct shape shapes[] = {
		{ 192, 768, 384 },
		{ 100, 600, 200 },	/* tiles, chunks and steps that are not whole */
		{ 1, 17, 3 },
	};

	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		check_shape(s, &shapes[i]);
}

static const char *const apis[] = { "current", "older", NULL };

int main(int argc, char **argv)
{
	return prog_main(argc, argv, &(struct prog){ "matmul", apis, check, NULL });
}
