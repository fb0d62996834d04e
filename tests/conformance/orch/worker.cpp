// SPDX-License-Identifier: MIT
/*
 * What the Worker's tests run; scalar 0 says what to do with tensor 0 (float).
 * Tensor 1 of operation 3 is the gate: one word that the host sets to 1.
 * Operation 4 makes one output of scalar 2 bytes in scalar 1 nested scopes.
 */
#include "pto_orchestration_api.h"

enum { ADD_ONE = 0, WAIT_WORD = 1 };

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &)
{
	return PTO2OrchestrationConfig{};
}

static void submit(int kernel, const ChipTensor &x, const ChipTensor *gate)
{
	CoreTaskArgs a;

	a.add_inout(x);
	if (gate)
		a.add_input(*gate);
	rt_submit_aiv_task(kernel, a);
}

static void output_at_depth(uint64_t depth, uint64_t bytes)
{
	uint32_t shape[1] = {static_cast<uint32_t>(bytes / 4)};
	TensorCreateInfo info(shape, 1);
	CoreTaskArgs a;

	if (depth) {
		PTO2_SCOPE() {
			output_at_depth(depth - 1, bytes);
		}
		return;
	}
	a.add_output(info);
	rt_submit_aiv_task(ADD_ONE, a);
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	switch (args.scalar(0)) {
	case 1:
		submit(ADD_ONE, args.tensor(0).ref(), nullptr);
		break;
	case 2:
		rt_report_fatal(9, "told to fail");
		break;
	case 3:
		submit(WAIT_WORD, args.tensor(0).ref(), &args.tensor(1).ref());
		submit(ADD_ONE, args.tensor(0).ref(), nullptr);
		break;
	case 4:
		output_at_depth(args.scalar(1), args.scalar(2));
		break;
	default:	// 0: submits nothing
		break;
	}
}
