/* SPDX-License-Identifier: MIT */
/* The same in the older API.  Words: a, b, c, m, k, n */
#include <algorithm>

#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(uint64_t *args, int arg_count)
{
	(void)args;
	(void)arg_count;
	return PTO2OrchestrationConfig{
		.expected_arg_count = 6,
	};
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(PTO2Runtime *rt,
								      uint64_t *args, int arg_count)
{
	(void)arg_count;
	uint64_t rows = args[3], depth = args[4], cols = args[5];
	uint64_t a_shapes[2] = { rows, depth }, b_shapes[2] = { depth, cols };
	uint64_t c_shapes[2] = { rows, cols };
	Tensor ext_a = make_tensor_external((void *)args[0], a_shapes, 2, DataType::FLOAT16);
	Tensor ext_b = make_tensor_external((void *)args[1], b_shapes, 2, DataType::FLOAT16);
	Tensor ext_c = make_tensor_external((void *)args[2], c_shapes, 2, DataType::FLOAT32);

	for (uint64_t i = 0; i < rows; i += 64) {
		PTO2_SCOPE(rt)
		{
			for (uint64_t j = 0; j < cols; j += 128) {
				PTO2_SCOPE(rt)
				{
					uint64_t m = std::min<uint64_t>(64, rows - i);
					uint64_t n = std::min<uint64_t>(128, cols - j);
					Tensor tile = ext_c.view({ m, n }, { i, j });

					for (uint64_t k = 0; k < depth; k += 256) {
						PTO2_SCOPE(rt)
						{
							uint64_t d = std::min<uint64_t>(256, depth - k);
							Tensor a = ext_a.view({ m, d }, { i, k });
							Tensor b = ext_b.view({ d, n }, { k, j });
							Tensor part = make_tensor(tile.shapes, 2);
							PTOParam params_t0[] = {
								make_input_param(a),
								make_input_param(b),
								make_output_param(k ? part : tile),
							};
							pto2_rt_submit_task(rt, 0, PTO2_WORKER_CUBE,
									    params_t0, 3);
							if (!k)
								continue;
							PTOParam params_t1[] = {
								make_input_param(part),
								make_inout_param(tile),
							};
							pto2_rt_submit_task(rt, 1, PTO2_WORKER_VECTOR,
									    params_t1, 2);
						}
					}
				}
			}
		}
	}
}

} // extern "C"
