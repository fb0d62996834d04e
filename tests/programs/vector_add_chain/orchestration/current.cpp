/* SPDX-License-Identifier: MIT */
/* For bands of rows: out = f(f(...f(x))), f(v) = (v + y) * factor.  Arguments: x, y, out; steps, factor */
#include "pto_orchestration_api.h"

enum { ADD, SCALE };
constexpr uint32_t BAND = 32;

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 5 };
}

static TaskOutputTensors add(const ChipTensor &v, const ChipTensor &y)
{
	TensorCreateInfo sum(y.shapes, 2);
	CoreTaskArgs args;

	args.add_input(v, y);
	args.add_output(sum);
	return rt_submit_aiv_task(ADD, args);
}

static void chain(const ChipTensor &x, const ChipTensor &y, const ChipTensor &out, uint64_t steps,
		  float factor)
{
	TensorCreateInfo scaled(y.shapes, 2);
	const ChipTensor *v = &x;

	for (uint64_t i = 0; i < steps; i++) {
		TaskOutputTensors sum = add(*v, y), made;
		CoreTaskArgs args;

		args.add_input(sum.get_ref(0));
		if (i + 1 < steps)
			args.add_output(scaled);
		else
			args.add_output(out);
		args.add_scalar(factor);
		made = rt_submit_aiv_task(SCALE, args);
		if (i + 1 < steps)
			v = &made.get_ref(0);
	}
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const ChipTensor &x = args.tensor(0).ref(), &y = args.tensor(1).ref();
	const ChipTensor &out = args.tensor(2).ref();

	for (uint32_t row = 0; row < x.shapes[0]; row += BAND) {
		const uint32_t left = x.shapes[0] - row, rows = left < BAND ? left : BAND;

		PTO2_SCOPE()
		{
			ChipTensor xb = x.view({ rows, x.shapes[1] }, { row, 0 });
			ChipTensor yb = y.view({ rows, x.shapes[1] }, { row, 0 });
			ChipTensor ob = out.view({ rows, x.shapes[1] }, { row, 0 });

			chain(xb, yb, ob, args.scalar(0), from_u64<float>(args.scalar(1)));
		}
	}
}
