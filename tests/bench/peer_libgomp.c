// SPDX-License-Identifier: MIT
/*
 * libgomp: one task construct per task with a depend clause per access.  A
 * repetition is a parallel region in which one thread submits and all execute.
 */
#include <omp.h>

#include "bench.h"

static void submit_reader(const struct bench *b, uint32_t i, struct graph_cell *c)
{
#pragma omp task depend(in : *c) firstprivate(b, i)
	if (!bench_empty(b))
		bench_task(b, i);
}

static void submit_writer(const struct bench *b, uint32_t i, struct graph_cell *c)
{
#pragma omp task depend(inout : *c) firstprivate(b, i)
	if (!bench_empty(b))
		bench_task(b, i);
}

/* The first tasks of random4, which have fewer than four predecessors. */
static void submit_few(const struct bench *b, uint32_t i, const struct graph_access *a, uint32_t n)
{
#pragma omp task depend(iterator(uint32_t k = 0 : n - 1), in : b->cells[a[k].slot]) \
	depend(inout : b->cells[a[n - 1].slot]) firstprivate(b, i)
	if (!bench_empty(b))
		bench_task(b, i);
}

static void submit_five(const struct bench *b, uint32_t i, const struct graph_access *a)
{
#pragma omp task depend(in : b->cells[a[0].slot], b->cells[a[1].slot], b->cells[a[2].slot], \
			 b->cells[a[3].slot]) depend(inout : b->cells[a[4].slot]) firstprivate(b, i)
	if (!bench_empty(b))
		bench_task(b, i);
}

static void submit(const struct bench *b, uint32_t i)
{
	struct graph_access a[GRAPH_ACCESSES];
	uint32_t n = graph_accesses(b->kind, i, b->slots - 1, a);

	if (n == GRAPH_ACCESSES)
		submit_five(b, i, a);
	else if (n > 1)
		submit_few(b, i, a, n);
	else if (a->write)
		submit_writer(b, i, &b->cells[a->slot]);
	else
		submit_reader(b, i, &b->cells[a->slot]);
}

static void run(struct bench *b)
{
#pragma omp parallel num_threads(b->threads)
#pragma omp single
	for (uint32_t i = 0; i < b->tasks; i++)
		submit(b, i);
}

int main(int argc, char **argv)
{
	return bench_main(argc, argv, &(struct bench_contender){ .run = run });
}
