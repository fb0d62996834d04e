// SPDX-License-Identifier: MIT
// One vector task on tensor 0, told by scalar 0 what to leave out; 6 and 7: the tensor is an input,
// of one block or of two; 8 and 9: a kernel that sets a flag, without and with a wait
#include "pto_orchestration_api.h"

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	CoreTaskArgs a;

	const uint64_t what = args.scalar(0);

	if (what != 6 && what != 7)
		a.add_inout(args.tensor(0).ref());
	else
		a.add_input(args.tensor(0).ref());
	a.add_scalar(what < 8 ? what : what - 8);
	if (what == 7)
		a.launch_spec.set_block_num(2);
	rt_submit_aiv_task(what < 8 ? 0 : 1, a);
}
