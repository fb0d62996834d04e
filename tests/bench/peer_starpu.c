// SPDX-License-Identifier: MIT
/*
 * StarPU: one data handle per cell, one task per task with a buffer per access,
 * dependences inferred from them (sequential data consistency, the default).
 */
#include <starpu.h>

#include "bench.h"

static struct bench *bench;
static starpu_data_handle_t *handles;

static void body(void *buffers[], void *arg)
{
	(void)buffers;
	if (!bench_empty(bench))
		bench_task(bench, (uint32_t)(uintptr_t)arg);
}

/* By the number of accesses; the last one writes.  Entry 0: one access, which only reads. */
static struct starpu_codelet codelets[GRAPH_ACCESSES + 1];

static void make_codelets(void)
{
	for (uint32_t n = 0; n <= GRAPH_ACCESSES; n++) {
		struct starpu_codelet *c = &codelets[n];

		starpu_codelet_init(c);
		c->cpu_funcs[0] = body;
		c->nbuffers = n ? (int)n : 1;
		for (uint32_t k = 0; k < GRAPH_ACCESSES; k++)
			c->modes[k] = k + 1 == n ? STARPU_RW : STARPU_R;
	}
}

static void start(struct bench *b)
{
	struct starpu_conf conf;

	bench = b;
	make_codelets();
	starpu_conf_init(&conf);
	conf.ncpus = (int)b->threads;
	if (starpu_init(&conf))
		bench_die("starpu_init failed");
	handles = bench_alloc(b->slots, sizeof(*handles), 64);
	for (uint32_t i = 0; i < b->slots; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)&b->cells[i],
					      sizeof(b->cells[i]));
}

static void submit(const struct bench *b, uint32_t i)
{
	struct starpu_task *task = starpu_task_create();
	struct graph_access a[GRAPH_ACCESSES];
	uint32_t n = graph_accesses(b->kind, i, b->slots - 1, a);

	task->cl = &codelets[a[n - 1].write ? n : 0];
	task->cl_arg = (void *)(uintptr_t)i;
	for (uint32_t k = 0; k < n; k++)
		task->handles[k] = handles[a[k].slot];
	if (starpu_task_submit(task))
		bench_die("starpu_task_submit failed at task %u", i);
}

static void run(struct bench *b)
{
	for (uint32_t i = 0; i < b->tasks; i++)
		submit(b, i);
	starpu_task_wait_for_all();
}

static void stop(struct bench *b)
{
	for (uint32_t i = 0; i < b->slots; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	free(handles);
}

int main(int argc, char **argv)
{
	return bench_main(argc, argv, &(struct bench_contender){ .start = start, .run = run,
								 .stop = stop });
}
