// SPDX-License-Identifier: MIT
// What the Python tests run. Kernels: 0 add, 1 add_one, 2 endless, 3 gate, 4 crash.
#include "pto_orchestration_api.h"

enum { ADD, ADD_ONE, ENDLESS, GATE, CRASH };

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &)
{
	return PTO2OrchestrationConfig{};
}

// (a, b, out): out = a + b
extern "C" void vector_add(const ChipTaskArgs &args)
{
	CoreTaskArgs a;

	a.add_input(args.tensor(0).ref(), args.tensor(1).ref());
	a.add_output(args.tensor(2).ref());
	rt_submit_aiv_task(ADD, a);
}

// (x; times): x += times, one task after the other
extern "C" void count(const ChipTaskArgs &args)
{
	for (uint64_t i = 0; i < args.scalar(0); i++) {
		CoreTaskArgs a;

		a.add_inout(args.tensor(0).ref());
		rt_submit_aiv_task(ADD_ONE, a);
	}
}

// (x; times): the same, each task in a scope of its own
extern "C" void count_in_scopes(const ChipTaskArgs &args)
{
	for (uint64_t i = 0; i < args.scalar(0); i++) {
		PTO2_SCOPE()
		{
			CoreTaskArgs a;

			a.add_inout(args.tensor(0).ref());
			rt_submit_aiv_task(ADD_ONE, a);
		}
	}
}

static void submit_inout(int kernel, const ChipTaskArgs &args)
{
	CoreTaskArgs a;

	a.add_inout(args.tensor(0).ref());
	rt_submit_aiv_task(kernel, a);
}

// (x): never ends
extern "C" void endless(const ChipTaskArgs &args)
{
	submit_inout(ENDLESS, args);
}

// (x): a kernel that faults
extern "C" void crash(const ChipTaskArgs &args)
{
	submit_inout(CRASH, args);
}

// (x, gate): waits for the gate, then x += 1
extern "C" void gated(const ChipTaskArgs &args)
{
	CoreTaskArgs a;

	a.add_inout(args.tensor(0).ref());
	a.add_input(args.tensor(1).ref());
	rt_submit_aiv_task(GATE, a);
	submit_inout(ADD_ONE, args);
}

// (x; value): ends with the code that an orchestration reports itself
extern "C" void fatal(const ChipTaskArgs &args)
{
	(void)args;
	rt_report_fatal(9, "the orchestration was told to fail");
}

// (x; word): the float argument as it arrives
extern "C" void scalars(const ChipTaskArgs &args)
{
	if (from_u64<float>(args.scalar(0)) != 1.5f || args.scalar(1) != UINT64_MAX)
		rt_report_fatal(9, "the scalars differ");
}
