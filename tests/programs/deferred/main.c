/* SPDX-License-Identifier: MIT */
/* Deferred completion: tasks that end when counters say so, not when their kernel returns. */
#include <string.h>

#include "../common/prog.h"

#define MESSAGES 24		/* more than there are vector cores */
#define ROWS (32 * MESSAGES)
#define WIDTH 64
#define PIECES_PER_COUNTER 2

static const struct prog_kernel kernels[] = {
	{ 0, "aiv/receive" }, { 1, "aiv/send" }, { 2, "aiv/add_one" }, { 0, NULL },
};

static void expect_counters(struct prog_session *s, const int32_t *counters)
{
	int32_t expected[2 * MESSAGES];

	for (size_t i = 0; i < 2 * MESSAGES; i++)
		expected[i] = PIECES_PER_COUNTER;
	prog_expect_i32(s, "counters", counters, expected, 2 * MESSAGES);
}

static void check(struct prog_session *s)
{
	struct prog_random random = { s->options->seed };
	struct prog_call *c = prog_call_create(s, s->api, kernels);
	float *source = prog_new(s, ROWS * WIDTH, sizeof(*source));
	float *out = prog_new(s, ROWS * WIDTH, sizeof(*out));
	int32_t *counters = prog_new(s, 2 * MESSAGES, sizeof(*counters));
	double *golden = prog_new(s, ROWS * WIDTH, sizeof(*golden));

	prog_fill_random(&random, source, SIMPLER_FLOAT32, ROWS * WIDTH, 1);
	for (size_t i = 0; i < ROWS * WIDTH; i++)
		golden[i] = (double)source[i] + 1;
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { ROWS, WIDTH }, source });
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_OUT, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { ROWS, WIDTH }, out });
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_INOUT, SIMPLER_INT32, PROG_DEVICE, 2,
						 { MESSAGES, 2 }, counters });
	for (int run = 0; run < 3; run++) {
		memset(counters, 0, 2 * MESSAGES * sizeof(*counters));
		memset(out, 0, ROWS * WIDTH * sizeof(*out));
		prog_call_upload(c);
		prog_call_run(c, NULL);
		prog_call_fetch(c);
		prog_expect(s, "out", out, golden, ROWS * WIDTH, (struct prog_tolerance){ 1e-7, 1e-7 });
		expect_counters(s, counters);
	}
}

static const char *const apis[] = { "current", NULL };

int main(int argc, char **argv)
{
	return prog_main(argc, argv, &(struct prog){ "deferred", apis, check, NULL });
}
