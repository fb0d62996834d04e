/* SPDX-License-Identifier: MIT */
/*
 * Submits a graph of graph.h.  Arguments: cells, records of checked tasks;
 * kind, tasks, cells - 1, what the tasks do, rounds of work.
 */
#include "../graph.h"

#include "pto_orchestration_api.h"

#include <algorithm>
#include <new>

enum { EMPTY, WORK, CHECK };

constexpr uint32_t MAX_SLOTS = 4096, SCOPE = 1000;
constexpr uint32_t CELL_WORDS = sizeof(struct graph_cell) / 4;
constexpr uint32_t RECORD_WORDS = sizeof(struct graph_record) / 4;

static ChipTensor views[MAX_SLOTS];

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 7 };
}

struct job {
	const ChipTensor &records;
	uint32_t mask;
	uint64_t rounds;
};

template <graph_kind kind, int what> static void submit_one(const job &j, uint32_t i)
{
	struct graph_access a[GRAPH_ACCESSES];
	uint32_t n = graph_accesses(kind, i, j.mask, a);
	ChipTensor record;
	CoreTaskArgs args;

	if (what == CHECK) {
		record = j.records.view({ RECORD_WORDS }, { i * RECORD_WORDS });
		args.add_no_dep(record);
	}
	for (uint32_t k = 0; k < n; k++) {
		if (a[k].write)
			args.add_inout(views[a[k].slot]);
		else
			args.add_input(views[a[k].slot]);
	}
	if (what == WORK)
		args.add_scalar(j.rounds);
	rt_submit_aiv_task(what, args);
}

template <graph_kind kind, int what> static void submit_all(const job &j, uint32_t tasks)
{
	for (uint32_t first = 0; first < tasks; first += SCOPE) {
		const uint32_t end = tasks - first < SCOPE ? tasks : first + SCOPE;

		PTO2_SCOPE()
		{
			for (uint32_t i = first; i < end; i++)
				submit_one<kind, what>(j, i);
		}
	}
}

template <graph_kind kind> static void submit_kind(const job &j, uint32_t tasks, uint64_t what)
{
	if (what == EMPTY)
		submit_all<kind, EMPTY>(j, tasks);
	else if (what == WORK)
		submit_all<kind, WORK>(j, tasks);
	else
		submit_all<kind, CHECK>(j, tasks);
}

/* Cells that the graph touches, as far as there are views. */
static uint32_t slots_used(uint64_t kind, uint32_t mask, uint32_t tasks)
{
	if (kind == GRAPH_CHAIN)
		return 1;
	return std::min({ mask + 1, MAX_SLOTS, tasks });
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const ChipTensor &cells = args.tensor(0).ref();
	const uint32_t tasks = static_cast<uint32_t>(args.scalar(1));
	const job j = { args.tensor(1).ref(), static_cast<uint32_t>(args.scalar(2)), args.scalar(4) };

	/* in place, as `auto v = t.view()` is; copying a tensor that was just written stalls the processor */
	for (uint32_t i = 0; i < slots_used(args.scalar(0), j.mask, tasks); i++)
		new (&views[i]) ChipTensor(cells.view({ CELL_WORDS }, { i * CELL_WORDS }));
	switch (args.scalar(0)) {
	case GRAPH_INDEPENDENT:
		return submit_kind<GRAPH_INDEPENDENT>(j, tasks, args.scalar(3));
	case GRAPH_CHAIN:
		return submit_kind<GRAPH_CHAIN>(j, tasks, args.scalar(3));
	case GRAPH_FANOUT64:
		return submit_kind<GRAPH_FANOUT64>(j, tasks, args.scalar(3));
	default:
		return submit_kind<GRAPH_RANDOM4>(j, tasks, args.scalar(3));
	}
}
