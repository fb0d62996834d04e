// SPDX-License-Identifier: MIT
/*
 * Ours: what a Worker costs.
 *
 *	init_close REPS		time of create, init and close, as {"ns": [...]}
 *	idle			memory of the process with an idle Worker
 *	held TASKS EDGE		memory and submission time of TASKS tasks that wait
 *				for one by enum held_edge
 *	rounds			rounds of work that take 10 us here, as {"rounds": n}
 *
 * For held set SIMPLER_ENGINE_INLINE=0.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "held.h"
#include "session.h"

#define HELD_WARM	1000u	/* tasks of the run before, which brings all code into memory */
#define GIVE_UP_NS	20000000000u

static uint64_t rss_bytes(void)
{
	unsigned long long total, resident;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%llu %llu", &total, &resident) != 2)
		bench_die("/proc/self/statm cannot be read");
	fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- init_close, idle, rounds ------------------------------------------------------ */

static void init_close(uint32_t reps)
{
	uint64_t *ns = bench_alloc(reps, sizeof(*ns), 8);

	for (uint32_t i = 0; i < reps; i++) {
		uint64_t begin = bench_now_ns();
		struct simpler_worker *w = session_worker();

		session_must(w, "close", simpler_worker_close(w, NULL));
		ns[i] = bench_now_ns() - begin;
		session_must(w, "destroy", simpler_worker_destroy(w));
	}
	bench_print_times(ns, reps);
	free(ns);
}

static void idle(void)
{
	uint64_t before = rss_bytes();
	struct simpler_worker *w = session_worker();
	uint64_t after = rss_bytes();

	printf("{\"rss\": %llu, \"growth\": %lld}\n", (unsigned long long)after,
	       (long long)(after - before));
	session_must(w, "destroy", simpler_worker_destroy(w));
}

/* The quickest of some tries, so that a busy machine does not make tasks shorter. */
static void rounds(void)
{
	const uint64_t tried = 100000;
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t begin = bench_now_ns(), ns;

		graph_work(tried);
		ns = bench_now_ns() - begin;
		if (ns < best)
			best = ns;
	}
	printf("{\"rounds\": %llu}\n", (unsigned long long)(tried * 10000 / best));
}

/* ---- held --------------------------------------------------------------------------- */

struct watch {
	struct held_gate *gate;
	uint32_t tasks;
	uint64_t submitted_ns;	/* when all had been submitted */
	uint64_t rss;
};

/* Waits until all tasks are there, measures, and lets them go. */
static void *watch(void *arg)
{
	struct watch *w = arg;
	uint64_t deadline = bench_now_ns() + GIVE_UP_NS;

	/* acquire: pairs with the orchestration's release after the last submit */
	while (__atomic_load_n(&w->gate->submitted, __ATOMIC_ACQUIRE) != w->tasks) {
		if (bench_now_ns() > deadline)
			bench_die("held: the orchestration waits for its tasks");
		sched_yield();
	}
	w->submitted_ns = bench_now_ns();
	/* acquire: pairs with the kernel's release: the tasks wait for it, not for a thread */
	while (!__atomic_load_n(&w->gate->started, __ATOMIC_ACQUIRE)) {
		if (bench_now_ns() > deadline)
			bench_die("held: the kernel that holds the others never started");
		sched_yield();
	}
	w->rss = rss_bytes();
	/* release: pairs with the acquire of the chip's poll of the condition */
	__atomic_store_n(&w->gate->released, 1, __ATOMIC_RELEASE);
	return NULL;
}

struct held {
	struct simpler_worker *worker;
	struct simpler_callable_handle callable;
	struct simpler_call_config config;
	struct simpler_buffer *cells;
};

/* One run of @tasks; returns what was seen while all of them waited. */
static struct watch run_held(struct held *h, uint32_t tasks, enum held_edge edge,
			     uint64_t *begin_ns)
{
	struct simpler_task_args *args;
	struct watch w = { .tasks = tasks };
	pthread_t thread;

	if (simpler_task_args_create(&args))
		bench_die("no memory for arguments");
	h->cells = session_words(h->worker, args, (tasks + 1ull) * HELD_CELL_BYTES / 4);
	if (simpler_task_args_add_scalar(args, tasks) || simpler_task_args_add_scalar(args, edge))
		bench_die("no memory for arguments");
	/* the simulated chip's memory is this process's */
	w.gate = (struct held_gate *)(uintptr_t)simpler_buffer_address(h->cells);
	if (pthread_create(&thread, NULL, watch, &w))
		bench_die("no thread");
	*begin_ns = bench_now_ns();
	session_must(h->worker, "run",
		     simpler_worker_run(h->worker, &h->callable, args, &h->config, NULL));
	pthread_join(thread, NULL);
	session_must(h->worker, "free", simpler_worker_free(h->worker, h->cells));
	simpler_buffer_put(h->cells);
	simpler_task_args_destroy(args);
	return w;
}

static void held(uint32_t tasks, enum held_edge edge)
{
	static const char *const kernels[] = { "empty", "hold", NULL };
	struct held h = { .worker = session_worker() };
	uint64_t before, begin, growth;
	struct watch w;

	h.callable = session_register(h.worker, "held", kernels, 1, 2);
	simpler_call_config_init(&h.config);
	simpler_ring_set_all(h.config.runtime_env.ring_task_window, 1u << 17);
	simpler_ring_set_all(h.config.runtime_env.ring_dep_pool, 1u << 20);
	run_held(&h, HELD_WARM, edge, &begin);
	before = rss_bytes();
	growth = run_held(&h, tasks, edge, &begin).rss - before;
	/* again, for the time without first touches of memory */
	w = run_held(&h, tasks, edge, &begin);
	printf("{\"tasks\": %u, \"growth\": %lld, \"submit_ns\": %llu}\n", tasks, (long long)growth,
	       (unsigned long long)(w.submitted_ns - begin));
	session_must(h.worker, "destroy", simpler_worker_destroy(h.worker));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "nothing";

	if (!strcmp(what, "init_close") && argc == 3)
		init_close((uint32_t)bench_number("REPS", argv[2], 100000));
	else if (!strcmp(what, "idle"))
		idle();
	else if (!strcmp(what, "held") && argc == 4)
		held((uint32_t)bench_number("TASKS", argv[2], 1u << 17),
		     (enum held_edge)bench_number("EDGE", argv[3], HELD_EDGES - 1));
	else if (!strcmp(what, "rounds"))
		rounds();
	else
		bench_die("%s: not one of init_close REPS, idle, held TASKS EDGE, rounds", what);
	return 0;
}
