/* SPDX-License-Identifier: MIT */
/* One task per band of 16 rows.  Arguments: x, out */
#include "pto_orchestration_api.h"

constexpr uint32_t BAND = 16;

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 2 };
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const ChipTensor &x = args.tensor(0).ref(), &out = args.tensor(1).ref();

	for (uint32_t row = 0; row < x.shapes[0]; row += BAND) {
		const int64_t end = row + BAND < x.shapes[0] ? row + BAND : x.shapes[0];
		ChipTensor from = x.slice(0, row, end), to = out.slice(0, row, end);
		CoreTaskArgs task;

		task.add_input(from);
		task.add_output(to);
		rt_submit_aiv_task(0, task);
	}
}
