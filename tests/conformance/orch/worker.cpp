// SPDX-License-Identifier: MIT
/*
 * What the Worker's tests run; scalar 0 says what to do with tensor 0 (float).
 * Tensor 1 of operation 3 is the gate: one word that the host sets to 1.
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
	default:	// 0: submits nothing
		break;
	}
}
