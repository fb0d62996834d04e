/* SPDX-License-Identifier: MIT */
/* What the older API can say of it.  Words: x, scaled, sum, a, w, product, rows of x, rows of a */
#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(uint64_t *args, int arg_count)
{
	(void)args;
	(void)arg_count;
	return PTO2OrchestrationConfig{
		.expected_arg_count = 8,
	};
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(PTO2Runtime *rt,
								      uint64_t *args, int arg_count)
{
	(void)arg_count;
	uint64_t x_shapes[2] = { args[6], 64 }, sum_shapes[2] = { 1, 64 };
	uint64_t a_shapes[2] = { args[7], 64 }, w_shapes[2] = { 64, 64 };
	Tensor x = make_tensor_external((void *)args[0], x_shapes, 2, DataType::FLOAT32);
	Tensor scaled = make_tensor_external((void *)args[1], x_shapes, 2, DataType::FLOAT32);
	Tensor sum = make_tensor_external((void *)args[2], sum_shapes, 2, DataType::FLOAT32);
	Tensor a = make_tensor_external((void *)args[3], a_shapes, 2, DataType::FLOAT16);
	Tensor w = make_tensor_external((void *)args[4], w_shapes, 2, DataType::FLOAT16);
	Tensor product = make_tensor_external((void *)args[5], a_shapes, 2, DataType::FLOAT32);

	PTOParam params_t0[] = {
		make_input_param(x),
		make_output_param(scaled),
	};
	pto2_rt_submit_block_task(rt, 0, PTO2_WORKER_VECTOR, params_t0, 2,
				  static_cast<int64_t>(args[6]));
	PTOParam params_t1[] = {
		make_input_param(a),
		make_input_param(w),
		make_output_param(product),
	};
	pto2_rt_submit_block_task(rt, 2, PTO2_WORKER_CUBE, params_t1, 3,
				  static_cast<int64_t>(args[7] / 16));
	PTOParam params_t2[] = {
		make_input_param(scaled),
		make_output_param(sum),
	};
	pto2_rt_submit_task(rt, 1, PTO2_WORKER_VECTOR, params_t2, 2);
}

} // extern "C"
