/* SPDX-License-Identifier: MIT */
/* The same in the older API.  Words: x, y, out, steps, factor, rows, columns */
#include <string.h>

#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(uint64_t *args, int arg_count)
{
	(void)args;
	(void)arg_count;
	return PTO2OrchestrationConfig{
		.expected_arg_count = 7,
	};
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(PTO2Runtime *rt,
								      uint64_t *args, int arg_count)
{
	(void)arg_count;
	uint64_t ext_shapes[2] = { args[5], args[6] };
	Tensor ext_x = make_tensor_external(reinterpret_cast<void *>(args[0]), ext_shapes, 2);
	Tensor ext_y = make_tensor_external(reinterpret_cast<void *>(args[1]), ext_shapes, 2);
	Tensor ext_out = make_tensor_external(reinterpret_cast<void *>(args[2]), ext_shapes, 2);
	int64_t steps = static_cast<int64_t>(args[3]);
	int64_t height = static_cast<int64_t>(args[5]);
	float factor;

	memcpy(&factor, &args[4], sizeof(factor));
	for (int64_t row = 0; row < height; row += 32) {
		PTO2_SCOPE(rt)
		{
			uint64_t shapes[2] = { static_cast<uint64_t>(height - row < 32 ? height - row : 32),
					       args[6] };
			uint64_t offsets[2] = { static_cast<uint64_t>(row), 0 };
			Tensor v = ext_x.view(shapes, offsets);
			Tensor y = ext_y.view(shapes, offsets);
			Tensor out = ext_out.view(shapes, offsets);

			for (int64_t i = 0; i < steps; i += 1) {
				Tensor sum = make_tensor(shapes, 2, DataType::FLOAT32);
				PTOParam params_t0[] = {
					make_input_param(v),
					make_input_param(y),
					make_output_param(sum),
				};
				pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, params_t0, 3);

				Tensor scaled = make_tensor(shapes, 2, DataType::FLOAT32);
				if (i == steps - 1)
					scaled = out;
				PTOParam params_t1[] = {
					make_input_param(sum),
					make_scalar_param(float_to_u64(factor)),
					make_output_param(scaled),
				};
				pto2_rt_submit_task(rt, 1, PTO2_WORKER_VECTOR, params_t1, 3);
				v = scaled;
			}
		}
	}
}

} // extern "C"
