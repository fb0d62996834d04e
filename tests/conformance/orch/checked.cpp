// SPDX-License-Identifier: MIT
// One vector task on tensor 0, told by scalar 0 what to leave out.
#include "pto_orchestration_api.h"

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	CoreTaskArgs a;

	a.add_inout(args.tensor(0).ref());
	a.add_scalar(args.scalar(0));
	rt_submit_aiv_task(0, a);
}
