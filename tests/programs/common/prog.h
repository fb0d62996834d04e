/* SPDX-License-Identifier: MIT */
/*
 * What the example programs share.  A program describes its APIs and checks;
 * prog_main() runs every check with each of its orchestration APIs, first on
 * one engine thread as the reference, then on the threads that the environment
 * asks for, with ready tasks executed at once and deferred.  Results that have
 * the same name must be equal to the bit in all of these passes.
 *
 * Helpers without a return code print what went wrong and end the program with
 * exit status 1.
 */
#ifndef TESTS_PROGRAMS_PROG_H
#define TESTS_PROGRAMS_PROG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/worker.h"

#define PROG_SKIP 77

struct prog_options {
	const char *platform;
	const char *api;		/* NULL: all */
	bool report;
	unsigned int repeat;		/* 0: the program's default */
	uint64_t seed;
};

/* ---- passes and results ---------------------------------------------------- */

struct prog_session;
struct prog_call;

struct prog {
	const char *name;
	const char *const *apis;	/* NULL-terminated: names of the orchestration generations */
	void (*check)(struct prog_session *s);
	/* --report; may be NULL: then it is one checked pass */
	void (*report)(struct prog_session *s);
};

int prog_main(int argc, char **argv, const struct prog *p);

struct prog_session {
	const struct prog *prog;
	const struct prog_options *options;
	const char *api;		/* of this pass */
	struct simpler_worker *worker;
	struct prog_call *calls;
	struct prog_block *blocks;	/* memory of this pass */
	struct prog_totals *totals;
};

/* Passes that have ended: goldens that do not change are made in the first one. */
unsigned int prog_passes(const struct prog_session *s);

/* True if this pass uses the named API. */
bool prog_api_is(const struct prog_session *s, const char *name);

void prog_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- callables and runs ---------------------------------------------------- */

/* A kernel: "aiv/add" is kernels/aiv/add.cpp. */
struct prog_kernel {
	int32_t func_id;
	const char *path;
};

/**
 * prog_call_create - an orchestration with its kernels and arguments
 * @orchestration: source name without folder and suffix
 * @kernels: ends with a NULL path
 *
 * Lives until the end of the pass.  Arguments are added next, tensors first;
 * the first run registers the callable.
 */
struct prog_call *prog_call_create(struct prog_session *s, const char *orchestration,
				   const struct prog_kernel *kernels);

enum prog_place { PROG_HOST, PROG_DEVICE };

/* An argument: what is at @data is what the run sees; HOST results appear there. */
struct prog_array {
	int dir;			/* enum simpler_direction */
	int dtype;			/* enum simpler_dtype */
	enum prog_place place;
	uint32_t ndims;
	uint32_t shapes[5];
	void *data;
};

void prog_call_array(struct prog_call *c, const struct prog_array *a);
void prog_call_scalar(struct prog_call *c, uint64_t word);
void prog_call_float(struct prog_call *c, float value);

/* Configuration of the call's runs, all zero at first. */
struct simpler_call_config *prog_call_config(struct prog_call *c);

/* Runs and waits; the run must succeed. */
void prog_call_run(struct prog_call *c, struct simpler_run_stats *stats);
/* Writes the arrays' present @data to the chip; before the first run it is done anyway. */
void prog_call_upload(struct prog_call *c);
/* Reads DEVICE arrays that are not IN back into their @data. */
void prog_call_fetch(struct prog_call *c);

/* ---- numbers ---------------------------------------------------------------- */

struct prog_random {
	uint64_t state;
};

uint64_t prog_random_next(struct prog_random *r);
/* Uniform in [0, n). */
uint32_t prog_random_below(struct prog_random *r, uint32_t n);
/* Uniform in [-1, 1). */
float prog_random_float(struct prog_random *r);

uint16_t prog_half_from_float(float f);
float prog_half_to_float(uint16_t h);
uint16_t prog_bf16_from_float(float f);
float prog_bf16_to_float(uint16_t b);
/* Of FLOAT32, FLOAT16 and BFLOAT16 memory. */
double prog_element(const void *data, int dtype, size_t i);
/* Random values below @magnitude, rounded to @dtype. */
void prog_fill_random(struct prog_random *r, void *data, int dtype, size_t n, float magnitude);

/* Zeroed; ends the program when memory is short. */
void *prog_alloc(size_t n, size_t size);
/* The same, freed at the end of the pass. */
void *prog_new(struct prog_session *s, size_t n, size_t size);

/* ---- comparison --------------------------------------------------------------- */

struct prog_tolerance {
	double abs;
	double rel;
};

struct prog_difference {
	double max_abs;
	double max_rel;			/* of the largest value of the same result */
};

/**
 * prog_expect - compare a result with its golden and with earlier passes
 * @name: names the result; equal names must be equal to the bit in all passes
 * @result: FLOAT32
 * @golden: what it should be
 *
 * An element is right if |result - golden| <= abs + rel * |golden|.
 */
void prog_expect(struct prog_session *s, const char *name, const float *result,
		 const double *golden, size_t n, struct prog_tolerance tolerance);
/* The same for integers, which must be equal. */
void prog_expect_i32(struct prog_session *s, const char *name, const int32_t *result,
		     const int32_t *golden, size_t n);

struct prog_difference prog_worst(const struct prog_session *s);

/* ---- output --------------------------------------------------------------------- */

void prog_table_line(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* TESTS_PROGRAMS_PROG_H */
