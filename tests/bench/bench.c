// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void *bench_alloc(uint64_t count, uint64_t bytes, uint64_t align)
{
	uint64_t size = (count * bytes + align - 1) & ~(align - 1);
	void *p = aligned_alloc(align, size);

	if (!p)
		bench_die("no memory for %llu bytes", (unsigned long long)size);
	return memset(p, 0, size);
}

uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t bench_number(const char *what, const char *text, uint64_t max)
{
	char *end;
	unsigned long long v;

	if (!text)
		bench_die("%s needs a number", what);
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || !*text || *end || *text == '-' || v > max)
		bench_die("%s %s: not a number of at most %llu", what, text,
			  (unsigned long long)max);
	return v;
}

/* ---- the check -------------------------------------------------------------- */

/* What a legal order does to the cells, task by task in submission order. */
static void plan(struct bench *b)
{
	struct graph_cell *now = bench_alloc(b->slots, sizeof(*now), 64);

	b->records = bench_alloc(b->tasks, sizeof(*b->records), 64);
	for (uint32_t i = 0; i < b->tasks; i++) {
		struct graph_access a[GRAPH_ACCESSES];
		struct graph_record *r = &b->records[i];

		r->count = graph_accesses(b->kind, i, b->slots - 1, a);
		for (uint32_t k = 0; k < r->count; k++) {
			struct graph_cell *c = &now[a[k].slot];

			r->steps[k] = (struct graph_step){ a[k].slot, a[k].write, c->writes,
							   c->reads };
			graph_touch(c, &r->steps[k]);
		}
	}
	free(now);
}

/* Each access happened once, and none found its cell in another state than planned. */
static void verify(const struct bench *b)
{
	uint64_t planned = 0, done = 0, errors = 0;

	for (uint32_t i = 0; i < b->tasks; i++)
		planned += b->records[i].count;
	for (uint32_t i = 0; i < b->slots; i++) {
		done += (uint64_t)b->cells[i].writes + b->cells[i].reads;
		errors += b->cells[i].errors;
	}
	if (done != planned || errors)
		bench_die("wrong order: %llu of %llu accesses happened, %llu of them at a wrong "
			  "time", (unsigned long long)done, (unsigned long long)planned,
			  (unsigned long long)errors);
	printf("{\"checked\": %u}\n", b->tasks);
}

/* ---- repetitions -------------------------------------------------------------- */

void bench_print_times(const uint64_t *ns, uint32_t count)
{
	printf("{\"ns\": [");
	for (uint32_t i = 0; i < count; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)ns[i]);
	printf("]}\n");
}

static uint64_t repeat(struct bench *b, const struct bench_contender *c)
{
	uint64_t start = bench_now_ns(), ns;

	c->run(b);
	ns = bench_now_ns() - start;
	if (c->tidy)
		c->tidy(b);
	return ns;
}

static void measure(struct bench *b, const struct bench_contender *c)
{
	uint64_t *ns = bench_alloc(b->reps, sizeof(*ns), 8);

	for (uint32_t i = 0; i < 1 + b->reps / 100; i++)
		repeat(b, c); /* warm up */
	for (uint32_t i = 0; i < b->reps; i++)
		ns[i] = repeat(b, c);
	bench_print_times(ns, b->reps);
	free(ns);
}

/* ---- arguments ---------------------------------------------------------------- */

static enum graph_kind kind_named(const char *name)
{
	static const char *const names[GRAPH_KINDS] = { "independent", "chain", "fanout64",
							"random4" };

	for (unsigned int i = 0; i < GRAPH_KINDS; i++)
		if (name && !strcmp(name, names[i]))
			return (enum graph_kind)i;
	bench_die("no graph is named %s", name ? name : "nothing");
}

static void parse(struct bench *b, int argc, char **argv)
{
	struct {
		const char *name;
		uint32_t *value;
	} options[] = {
		{ "--tasks", &b->tasks }, { "--slots", &b->slots }, { "--reps", &b->reps },
		{ "--threads", &b->threads }, { "--window", &b->window },
	};

	b->kind = kind_named(argv[1]);
	for (int i = 2; i < argc; i += 2) {
		bool known = false;

		if (!strcmp(argv[i], "--check")) {
			b->check = true;
			i--;
			continue;
		}
		if (!strcmp(argv[i], "--work")) {
			b->work = bench_number(argv[i], argv[i + 1], UINT32_MAX);
			continue;
		}
		for (unsigned int k = 0; k < sizeof(options) / sizeof(*options) && !known; k++) {
			known = !strcmp(argv[i], options[k].name);
			if (known)
				*options[k].value = (uint32_t)bench_number(argv[i], argv[i + 1],
									   1u << 24);
		}
		if (!known)
			bench_die("unknown option %s", argv[i]);
	}
}

int bench_main(int argc, char **argv, const struct bench_contender *c)
{
	struct bench b = { .tasks = 1000, .slots = 4096, .threads = 1, .reps = 10 };

	parse(&b, argc, argv);
	if (!b.slots || (b.slots & (b.slots - 1)) || !b.tasks || !b.reps || !b.threads)
		bench_die("--slots is a power of two, --tasks, --reps and --threads at least 1");
	b.cells = bench_alloc(b.slots, sizeof(*b.cells), 64);
	if (b.check)
		plan(&b);
	if (c->start)
		c->start(&b);
	if (b.check)
		repeat(&b, c);
	else
		measure(&b, c);
	if (c->stop)
		c->stop(&b);
	if (b.check)
		verify(&b);
	free(b.cells);
	free(b.records);
	return 0;
}
