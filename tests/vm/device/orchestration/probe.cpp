// SPDX-License-Identifier: MIT
// One task: tensor 0 is uint64[], the scalars go to the kernel.
#include "pto_orchestration_api.h"

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &)
{
	return PTO2OrchestrationConfig{};
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	CoreTaskArgs a;

	a.add_inout(args.tensor(0).ref());
	for (int i = 0; i < 3; i++)
		a.add_scalar(args.scalar(i));
	rt_submit_aiv_task(0, a);
}
