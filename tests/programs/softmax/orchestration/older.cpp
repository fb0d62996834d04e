/* SPDX-License-Identifier: MIT */
/* One task per band of 16 rows.  Words: x, out, rows, columns */
#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(uint64_t *args, int arg_count)
{
	(void)args;
	(void)arg_count;
	return PTO2OrchestrationConfig{
		.expected_arg_count = 4,
	};
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(PTO2Runtime *rt,
								      uint64_t *args, int arg_count)
{
	(void)arg_count;
	uint64_t shapes[2] = { args[2], args[3] };
	Tensor ext_x = make_tensor_external(reinterpret_cast<void *>(args[0]), shapes, 2,
					    DataType::FLOAT32);
	Tensor ext_out = make_tensor_external(reinterpret_cast<void *>(args[1]), shapes, 2,
					      DataType::FLOAT32);

	for (uint64_t row = 0; row < args[2]; row += 16) {
		PTO2_SCOPE(rt)
		{
			uint64_t band_shapes[2] = { args[2] - row < 16 ? args[2] - row : 16, args[3] };
			uint64_t band_offsets[2] = { row, 0 };
			Tensor from = ext_x.view(band_shapes, band_offsets);
			Tensor to = ext_out.view(band_shapes, band_offsets);
			PTOParam params_t0[] = {
				make_input_param(from),
				make_output_param(to),
			};
			pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, params_t0, 2);
		}
	}
}

} // extern "C"
