/* SPDX-License-Identifier: MIT */
/*
 * Graphs of small tasks: fans, diamonds with reuse in place, predicates, chains
 * that explicit dependences order, and dummies that collect.
 */

#include "../common/prog.h"

#define WIDTH 64
#define FAN 64
#define LAYERS 5
#define ROUNDS 40
#define GATES 8
#define FIRST_GATE -4
#define TARGET -1
#define LINKS 33
#define COLLECTED 40

static const struct prog_kernel kernels[] = {
	{ 0, "aiv/affine" }, { 1, "aiv/step" }, { 2, "aiv/add" }, { 3, "aiv/sum" },
	{ 4, "aiv/gates" }, { 0, NULL },
};

static double golden_fan(double x)
{
	for (int layer = 0; layer < LAYERS; layer++) {
		double sum = 0;

		for (int i = 0; i < FAN; i++)
			sum += x / FAN + (double)i / FAN;
		x = sum;
	}
	return x;
}

static double golden_diamond(double x)
{
	x += 1;
	for (int i = 0; i < ROUNDS; i++)
		x = ((2 * x + 1) + (3 * x + 2)) / 8;
	return x;
}

static bool gate_holds(int op, int gate)
{
	switch (op) {
	case 0: return gate == TARGET;
	case 1: return gate != TARGET;
	case 2: return gate > TARGET;
	case 3: return gate < TARGET;
	case 4: return gate >= TARGET;
	default: return gate <= TARGET;
	}
}

static double golden_ordered(double x)
{
	for (int i = 0; i < LINKS; i++)
		x = i % 2 ? x / 2 + 3 : x * 2 + 1;
	return x;
}

struct result {
	const char *name;
	size_t rows;
	float *out;
	double *golden;
};

static struct result add_result(struct prog_session *s, struct prog_call *c, const char *name,
				uint32_t rows, int dir, float initial)
{
	struct result r = { name, rows, prog_new(s, (size_t)rows * WIDTH, sizeof(*r.out)),
			    prog_new(s, (size_t)rows * WIDTH, sizeof(*r.golden)) };

	for (size_t i = 0; i < (size_t)rows * WIDTH; i++)
		r.out[i] = initial;
	prog_call_array(c, &(struct prog_array){ dir, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { rows, WIDTH }, r.out });
	return r;
}

enum { R_FAN, R_DIAMOND, R_GUARDED, R_ORDERED, R_COLLECTED, R_TOTAL, R_COUNT };

static void golden_of_current(const float *x, struct result *r)
{
	for (size_t i = 0; i < 6 * GATES * WIDTH; i++) {
		int task = (int)(i / WIDTH);

		r[R_GUARDED].golden[i] =
			gate_holds(task / GATES, FIRST_GATE + task % GATES) ? 1998 : 84;
	}
	for (size_t i = 0; i < WIDTH; i++)
		r[R_ORDERED].golden[i] = golden_ordered((double)x[i]);
	for (size_t i = 0; i < COLLECTED * WIDTH; i++) {
		r[R_COLLECTED].golden[i] = 2 * (double)x[i % WIDTH] + (double)(i / WIDTH);
		r[R_TOTAL].golden[i % WIDTH] += r[R_COLLECTED].golden[i];
	}
}

static void golden(const float *x, struct result *r, bool current)
{
	for (size_t i = 0; i < WIDTH; i++) {
		r[R_FAN].golden[i] = golden_fan((double)x[i]);
		r[R_DIAMOND].golden[i] = golden_diamond((double)x[i]);
	}
	if (current)
		golden_of_current(x, r);
}

static void add_current(struct prog_session *s, struct prog_call *c, struct result *r)
{
	r[R_GUARDED] = add_result(s, c, "guarded", 6 * GATES, SIMPLER_DIR_INOUT, 42);
	r[R_ORDERED] = add_result(s, c, "ordered", 1, SIMPLER_DIR_OUT, 0);
	r[R_COLLECTED] = add_result(s, c, "collected", COLLECTED, SIMPLER_DIR_OUT, 0);
	r[R_TOTAL] = add_result(s, c, "total", 1, SIMPLER_DIR_OUT, 0);
}

static void check(struct prog_session *s)
{
	struct prog_random random = { s->options->seed };
	struct prog_call *c = prog_call_create(s, s->api, kernels);
	float *x = prog_new(s, WIDTH, sizeof(*x));
	bool current = prog_api_is(s, "current");
	struct result r[R_COUNT];

	prog_fill_random(&random, x, SIMPLER_FLOAT32, WIDTH, 1);
	prog_call_array(c, &(struct prog_array){ SIMPLER_DIR_IN, SIMPLER_FLOAT32, PROG_DEVICE, 2,
						 { 1, WIDTH }, x });
	r[R_FAN] = add_result(s, c, "fan", 1, SIMPLER_DIR_OUT, 0);
	r[R_DIAMOND] = add_result(s, c, "diamond", 1, SIMPLER_DIR_OUT, 0);
	if (current)
		add_current(s, c, r);
	prog_call_scalar(c, LAYERS);
	prog_call_scalar(c, ROUNDS);
	if (current) {
		prog_call_scalar(c, (uint64_t)(int64_t)FIRST_GATE);
		prog_call_scalar(c, (uint64_t)(int64_t)TARGET);
		prog_call_scalar(c, LINKS);
	}
	golden(x, r, current);
	prog_call_run(c, NULL);
	prog_call_fetch(c);
	for (int i = 0; i < (current ? R_COUNT : R_GUARDED); i++)
		prog_expect(s, r[i].name, r[i].out, r[i].golden, r[i].rows * WIDTH,
			    (struct prog_tolerance){ 1e-5, 1e-5 });
}

static const char *const apis[] = { "current", "older", NULL };

int main(int argc, char **argv)
{
	return prog_main(argc, argv, &(struct prog){ "task_graph", apis, check, NULL });
}
