/* SPDX-License-Identifier: MIT */
/*
 * What the programs of all contenders share: options, repetitions, the check of
 * the order, and the result line that run.py reads,
 *
 *	{"ns": [time of each repetition, ...]}		or, with --check,
 *	{"checked": tasks}
 *
 * A wrong order, or anything else that goes wrong, ends the program with status 1.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bench {
	enum graph_kind kind;
	uint32_t tasks;
	uint32_t slots;			/* cells; a power of two */
	uint32_t threads;
	uint32_t reps;
	uint64_t work;			/* rounds per task; 0: empty tasks */
	bool check;			/* tasks check their order, one repetition */
	uint32_t window;		/* ours: tasks alive at most; 0: the default */
	struct graph_cell *cells;	/* @slots */
	struct graph_record *records;	/* @tasks; only with @check */
};

/* All but run() may be NULL. */
struct bench_contender {
	void (*start)(struct bench *b);		/* before the first repetition */
	void (*run)(struct bench *b);		/* one repetition; this is timed */
	void (*tidy)(struct bench *b);		/* after each repetition; not timed */
	void (*stop)(struct bench *b);		/* after the last; cells hold what tasks wrote */
};

/* The program: parses arguments, runs, prints; returns the exit status. */
int bench_main(int argc, char **argv, const struct bench_contender *contender);

/* Ends the program with status 1. */
void bench_die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Zeroed and aligned to @align, a power of two; ends the program when there is none. */
void *bench_alloc(uint64_t count, uint64_t bytes, uint64_t align);
uint64_t bench_now_ns(void);
/* A whole number of at most @max. */
uint64_t bench_number(const char *what, const char *text, uint64_t max);
void bench_print_times(const uint64_t *ns, uint32_t count);

/* What task @i of a peer does when it is not empty. */
static inline void bench_task(const struct bench *b, uint32_t i)
{
	const struct graph_record *r = b->records;

	if (b->work)
		graph_work(b->work);
	for (uint32_t k = 0; r && k < r[i].count; k++)
		graph_touch(&b->cells[r[i].steps[k].slot], &r[i].steps[k]);
}

static inline bool bench_empty(const struct bench *b)
{
	return !b->work && !b->check;
}

#ifdef __cplusplus
}
#endif

#endif /* BENCH_BENCH_H */
