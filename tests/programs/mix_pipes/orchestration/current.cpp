/* SPDX-License-Identifier: MIT */
/* One MIX task of several blocks.  Tensors: a, w, out.  Scalars: cube kernel, vector kernel, lanes, blocks */
#include "pto_orchestration_api.h"

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 7 };
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const int32_t vector = static_cast<int32_t>(args.scalar(1));
	MixedKernels mk;
	CoreTaskArgs task;

	mk.aic_kernel_id = static_cast<int32_t>(args.scalar(0));
	mk.aiv0_kernel_id = vector;
	if (args.scalar(2) == 2)
		mk.aiv1_kernel_id = vector;
	task.add_input(args.tensor(0).ref(), args.tensor(1).ref());
	task.add_output(args.tensor(2).ref());
#if __NPU_ARCH__ == 3510
	task.launch_spec.set_core_num(static_cast<int64_t>(args.scalar(3)));
#else
	task.launch_spec.set_block_num(static_cast<int64_t>(args.scalar(3)));
#endif
	rt_submit_task(mk, task);
}
