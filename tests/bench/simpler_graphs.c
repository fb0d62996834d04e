// SPDX-License-Identifier: MIT
/*
 * Ours: the graph is submitted by orchestration/graph.cpp.  A repetition is one
 * simpler_worker_run().  SIMPLER_ENGINE_THREADS and SIMPLER_ENGINE_INLINE choose
 * threads and mode.
 */
#include "bench.h"
#include "session.h"

#define CELL_WORDS	(sizeof(struct graph_cell) / 4)
#define RECORD_WORDS	(sizeof(struct graph_record) / 4)

enum { EMPTY, WORK, CHECK };	/* func_ids, as in orchestration/graph.cpp */

static const char *const kernels[] = { "empty", "work", "check", NULL };
static struct simpler_worker *worker;
static struct simpler_callable_handle callable;
static struct simpler_task_args *args;
static struct simpler_call_config config;
static struct simpler_buffer *cells, *records;

static void put_arguments(const struct bench *b)
{
	const uint64_t what = b->check ? CHECK : b->work ? WORK : EMPTY;
	const uint64_t words[] = { b->kind, b->tasks, b->slots - 1, what, b->work };

	if (simpler_task_args_create(&args))
		bench_die("no memory for arguments");
	cells = session_words(worker, args, b->slots * CELL_WORDS);
	records = session_words(worker, args, (b->check ? b->tasks : 1) * RECORD_WORDS);
	if (b->check)
		session_must(worker, "records",
			     simpler_worker_copy_to_raw(worker, records, b->records,
							b->tasks * sizeof(*b->records), NULL));
	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (simpler_task_args_add_scalar(args, words[i]))
			bench_die("no memory for arguments");
}

static void start(struct bench *b)
{
	if (b->slots > 4096)
		bench_die("--slots %u: the orchestration has views of at most 4096", b->slots);
	worker = session_worker();
	callable = session_register(worker, "graph", kernels, 2, 5);
	simpler_call_config_init(&config);
	simpler_ring_set_all(config.runtime_env.ring_task_window, b->window);
	put_arguments(b);
}

static void run(struct bench *b)
{
	(void)b;
	session_must(worker, "run", simpler_worker_run(worker, &callable, args, &config, NULL));
}

static void stop(struct bench *b)
{
	session_must(worker, "cells",
		     simpler_worker_copy_from_raw(worker, b->cells, b->slots * sizeof(*b->cells),
						  cells, NULL));
	session_must(worker, "free", simpler_worker_free(worker, cells));
	session_must(worker, "free", simpler_worker_free(worker, records));
	simpler_buffer_put(cells);
	simpler_buffer_put(records);
	simpler_task_args_destroy(args);
	session_must(worker, "close", simpler_worker_destroy(worker));
}

int main(int argc, char **argv)
{
	return bench_main(argc, argv, &(struct bench_contender){ .start = start, .run = run,
								 .stop = stop });
}
