/* SPDX-License-Identifier: MIT */
/*
 * The task graphs that every contender of `make bench` runs, told as accesses:
 * task i touches cells, and the order of two tasks that touch the same cell, one
 * of them writing, is that of their numbers.  Contenders that infer dependences
 * pass the accesses on; contenders with explicit edges derive them (edges.h).
 *
 *	independent	each task writes a cell of its own
 *	chain		each task writes the same cell
 *	fanout64	one task writes a cell, 64 read it, one writes it: 1:64:1
 *	random4		each task reads the cells of four of the 512 tasks before it
 *			and writes its own
 *
 * Tasks share cells modulo @slots.  With at most @slots tasks alive that changes
 * nothing about the graph; otherwise it adds edges to much older tasks.
 *
 * C and C++: orchestrations, kernels and host programs include this file.
 */
#ifndef BENCH_GRAPH_H
#define BENCH_GRAPH_H

#include <stdint.h>

enum graph_kind { GRAPH_INDEPENDENT, GRAPH_CHAIN, GRAPH_FANOUT64, GRAPH_RANDOM4, GRAPH_KINDS };

#define GRAPH_ACCESSES	5u	/* most of one task */
#define GRAPH_FAN	64u
#define GRAPH_BLOCK	(GRAPH_FAN + 2)	/* tasks of one 1:64:1 */
#define GRAPH_NEAR	128u	/* random4: distances lie in four ranges of this size */

struct graph_access {
	uint32_t slot;
	uint32_t write;		/* 0: reads only; 1: reads and writes */
};

static inline uint32_t graph_fanout(uint32_t i, uint32_t mask, struct graph_access *a)
{
	uint32_t block = i / GRAPH_BLOCK, place = i % GRAPH_BLOCK;

	a->slot = block & mask;
	a->write = place == 0 || place == GRAPH_BLOCK - 1;
	return 1;
}

/* The write comes last.  Four distances in ranges of their own, so that no cell is read twice. */
static inline uint32_t graph_random(uint32_t i, uint32_t mask, struct graph_access *a)
{
	uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15ull;
	uint32_t n = 0;

	for (uint32_t k = 0; k < 4; k++) {
		uint32_t near = (uint32_t)(bits >> (28 + 8 * k)) % GRAPH_NEAR;
		uint32_t distance = 1 + GRAPH_NEAR * k + near;

		if (distance <= i) {
			a[n].slot = (i - distance) & mask;
			a[n++].write = 0;
		}
	}
	a[n].slot = i & mask;
	a[n++].write = 1;
	return n;
}

/**
 * graph_accesses() - what one task touches
 * @kind: which graph
 * @i: number of the task, from 0
 * @mask: number of cells - 1; the number is a power of two, for random4 at least 1024
 * @a: filled
 *
 * Return: entries of @a.
 */
static inline uint32_t graph_accesses(enum graph_kind kind, uint32_t i, uint32_t mask,
				      struct graph_access a[GRAPH_ACCESSES])
{
	switch (kind) {
	case GRAPH_FANOUT64:
		return graph_fanout(i, mask, a);
	case GRAPH_RANDOM4:
		return graph_random(i, mask, a);
	default:
		a->slot = kind == GRAPH_CHAIN ? 0 : i & mask;
		a->write = 1;
		return 1;
	}
}

/* ---- what tasks do ---------------------------------------------------------- */

/* About 2 ns per round; the same code in all contenders. */
static inline void graph_work(uint64_t rounds)
{
	uint64_t x = 88172645463325252ull;

	for (; rounds; rounds--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
	}
}

/* Memory behind a slot: counts the accesses, which shows whether their order was legal. */
struct graph_cell {
	uint32_t writes;
	uint32_t reads;
	uint32_t errors;
	uint32_t unused[13];
};

/* One access of a task with what a legal order has done to the cell before. */
struct graph_step {
	uint32_t slot;
	uint32_t write;
	uint32_t writes;
	uint32_t reads;		/* only a write has a say about reads: readers run in any order */
};

/* What a checked task does; padded to the size of two cells. */
struct graph_record {
	uint32_t count;
	struct graph_step steps[GRAPH_ACCESSES];
	uint32_t unused[11];
};

static inline void graph_touch(struct graph_cell *c, const struct graph_step *s)
{
	/* relaxed: readers of one version only count; dependences order everything else */
	uint32_t reads = __atomic_load_n(&c->reads, __ATOMIC_RELAXED);

	if (c->writes != s->writes || (s->write && reads != s->reads))
		__atomic_fetch_add(&c->errors, 1, __ATOMIC_RELAXED); /* relaxed: a count */
	if (s->write)
		c->writes++;
	else
		__atomic_fetch_add(&c->reads, 1, __ATOMIC_RELAXED); /* relaxed: a count */
}

#endif /* BENCH_GRAPH_H */
