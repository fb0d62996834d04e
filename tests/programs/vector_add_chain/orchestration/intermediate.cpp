/* SPDX-License-Identifier: MIT */
/*
 * The same in the generation between: collecting PTOParam objects, the runtime
 * passed along, 32-bit shapes, two more words for the entry.
 * Words: x, y, out, steps, factor, rows, columns
 */
#include <string.h>

#include "pto_orchestration_api.h"

enum { ADD, SCALE };

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(uint64_t *args, int arg_count)
{
	(void)args;
	(void)arg_count;
	return PTO2OrchestrationConfig{ .expected_arg_count = 7 };
}

static Tensor step(PTO2Runtime *rt, const Tensor &v, const Tensor &y, Tensor out, uint64_t factor)
{
	Tensor sum = make_tensor(y.shapes, 2, DataType::FLOAT32);
	PTOParam add, scale;

	add.add_input(v);
	add.add_input(y);
	add.add_output(sum);
	pto2_rt_submit_aiv_task(rt, ADD, add);
	scale.add_input(sum);
	scale.add_scalar(factor);
	scale.add_output(out);
	pto2_rt_submit_aiv_task(rt, SCALE, scale);
	return out;
}

extern "C" void aicpu_orchestration_entry(PTO2Runtime *rt, uint64_t *args, int arg_count,
					  int orch_thread_num, int orch_thread_index)
{
	(void)arg_count;
	(void)orch_thread_num;
	(void)orch_thread_index;
	uint32_t shapes[2] = { static_cast<uint32_t>(args[5]), static_cast<uint32_t>(args[6]) };
	Tensor x = make_tensor_external(reinterpret_cast<void *>(args[0]), shapes, 2);
	Tensor y = make_tensor_external(reinterpret_cast<void *>(args[1]), shapes, 2);
	Tensor out = make_tensor_external(reinterpret_cast<void *>(args[2]), shapes, 2);

	for (uint32_t row = 0; row < shapes[0]; row += 32) {
		PTO2_SCOPE_GUARD(rt);
		uint32_t band[2] = { shapes[0] - row < 32 ? shapes[0] - row : 32, shapes[1] };
		uint32_t offsets[2] = { row, 0 };
		Tensor v = x.view(band, offsets), yb = y.view(band, offsets);

		for (uint64_t i = 0; i + 1 < args[3]; i++)
			v = step(rt, v, yb, make_tensor(band, 2, DataType::FLOAT32), args[4]);
		step(rt, v, yb, out.view(band, offsets), args[4]);
	}
}
