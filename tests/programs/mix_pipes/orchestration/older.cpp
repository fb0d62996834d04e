/* SPDX-License-Identifier: MIT */
/*
 * One MIX task per panel of rows, in the last generation that passes the
 * runtime.  Words: a, w, out, cube kernel, vector kernel, lanes, panels, rows,
 * columns of a, columns of out
 */
#include "pto_orchestration_api.h"

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(uint64_t *args, int arg_count)
{
	(void)args;
	(void)arg_count;
	return PTO2OrchestrationConfig{ .expected_arg_count = 10 };
}

extern "C" void aicpu_orchestration_entry(PTO2Runtime *rt, uint64_t *args, int arg_count)
{
	(void)arg_count;
	uint64_t rows = args[7], depth = args[8], width = args[9], panels = args[6];
	uint64_t a_shapes[2] = { rows, depth }, w_shapes[2] = { depth, width };
	uint64_t out_shapes[2] = { rows, width };
	Tensor ext_a = make_tensor_external((void *)args[0], a_shapes, 2, DataType::FLOAT16);
	Tensor ext_w = make_tensor_external((void *)args[1], w_shapes, 2, DataType::FLOAT16);
	Tensor ext_out = make_tensor_external((void *)args[2], out_shapes, 2, DataType::FLOAT32);
	int32_t vector = static_cast<int32_t>(args[4]);
	MixedKernels mk{ static_cast<int32_t>(args[3]), vector,
			 args[5] == 2 ? vector : INVALID_KERNEL_ID };
	uint64_t step = ((rows + panels - 1) / panels + 31) / 32 * 32;

	for (uint64_t row = 0; row < rows; row += step) {
		PTO2_SCOPE(rt)
		{
			uint64_t n = rows - row < step ? rows - row : step;
			Tensor a = ext_a.view({ n, depth }, { row, 0 });
			Tensor out = ext_out.view({ n, width }, { row, 0 });
			PTOParam params_t0[] = {
				make_input_param(a),
				make_input_param(ext_w),
				make_output_param(out),
			};
			pto2_rt_submit_task(rt, mk, params_t0, 3);
		}
	}
}
