// SPDX-License-Identifier: MIT
/* oneTBB task_group: tasks without data or dependences, for the independent graph only. */
#include <memory>

#include <tbb/global_control.h>
#include <tbb/task_group.h>

#include "bench.h"

static std::unique_ptr<tbb::global_control> limit;

static void start(struct bench *b)
{
	if (b->kind != GRAPH_INDEPENDENT || b->slots < b->tasks)
		bench_die("a task_group has no dependences: independent tasks, each with a cell");
	limit = std::make_unique<tbb::global_control>(
		tbb::global_control::max_allowed_parallelism, b->threads);
}

static void run(struct bench *b)
{
	tbb::task_group group;

	for (uint32_t i = 0; i < b->tasks; i++)
		group.run([b, i] {
			if (!bench_empty(b))
				bench_task(b, i);
		});
	group.wait();
}

static void stop(struct bench *)
{
	limit.reset();
}

int main(int argc, char **argv)
{
	static const struct bench_contender contender = { start, run, nullptr, stop };

	return bench_main(argc, argv, &contender);
}
