/* SPDX-License-Identifier: MIT */
/*
 * Many tasks that all wait for one, which a host thread releases.  Arguments:
 * cells, the first of which is a struct held_gate; tasks, what they wait by
 * (enum held_edge).
 */
#include "../held.h"

#include "pto_orchestration_api.h"

enum { EMPTY, HOLD };

constexpr uint32_t SCOPE = 1000, CELL_WORDS = HELD_CELL_BYTES / 4;

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 3 };
}

static ChipTensor cell(const ChipTensor &cells, uint32_t i)
{
	return cells.view({ CELL_WORDS }, { i * CELL_WORDS });
}

static void submit_waiting(const ChipTensor &cells, const ChipTensor &gate, PTO2TaskId holder,
			   uint32_t i, uint64_t edge)
{
	ChipTensor mine = cell(cells, i + 1);
	CoreTaskArgs args;

	if (edge == HELD_EXPLICIT || edge == HELD_EXPLICIT_AND_OWN)
		args.set_dependencies(&holder, 1);
	else
		args.add_input(gate);
	if (edge == HELD_EXPLICIT)
		args.add_no_dep(mine);
	else if (edge != HELD_TENSOR)
		args.add_inout(mine);
	rt_submit_aiv_task(EMPTY, args);
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const ChipTensor &cells = args.tensor(0).ref();
	const uint32_t tasks = static_cast<uint32_t>(args.scalar(0));
	ChipTensor gate = cell(cells, 0);
	CoreTaskArgs hold;
	PTO2TaskId holder;

	hold.add_inout(gate);
	holder = rt_submit_aiv_task(HOLD, hold).task_id();
	for (uint32_t first = 0; first < tasks; first += SCOPE) {
		PTO2_SCOPE()
		{
			for (uint32_t i = first; i < tasks && i < first + SCOPE; i++)
				submit_waiting(cells, gate, holder, i, args.scalar(1));
		}
	}
	/* release: pairs with the host's acquire, which then reads the clock and the memory */
	__atomic_store_n(&reinterpret_cast<struct held_gate *>(cells.buffer.addr)->submitted, tasks,
			 __ATOMIC_RELEASE);
}
