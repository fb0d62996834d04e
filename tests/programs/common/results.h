/* SPDX-License-Identifier: MIT */
/* What all passes of a program have in common: results seen so far, and counts. */
#ifndef TESTS_PROGRAMS_RESULTS_H
#define TESTS_PROGRAMS_RESULTS_H

#include "prog.h"

#define RESULT_NAME 48

struct result {
	struct result *next;
	char name[RESULT_NAME];
	size_t bytes;
	void *first;			/* of the first pass */
};

struct prog_totals {
	struct result *results;
	struct prog_difference worst;
	unsigned int compared;
	unsigned int passes;
	uint64_t tasks;
	uint64_t runs;
	uint64_t run_ns;
};

void totals_release(struct prog_totals *t);

/* Of all bytes of all results. */
uint64_t totals_digest(const struct prog_totals *t);

#endif /* TESTS_PROGRAMS_RESULTS_H */
