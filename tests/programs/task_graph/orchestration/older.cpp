/* SPDX-License-Identifier: MIT */
/* Fan and diamond in the older API.  Words: x, fan, diamond, layers, rounds */
#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(uint64_t *args, int arg_count)
{
	(void)args;
	(void)arg_count;
	return PTO2OrchestrationConfig{
		.expected_arg_count = 5,
	};
}

static void affine(PTO2Runtime *rt, Tensor &in, Tensor &out, float factor, float addend)
{
	PTOParam params[] = {
		make_input_param(in),
		make_output_param(out),
		make_scalar_param(float_to_u64(factor)),
		make_scalar_param(float_to_u64(addend)),
	};
	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, params, 4);
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(PTO2Runtime *rt,
								      uint64_t *args, int arg_count)
{
	(void)arg_count;
	uint64_t row_shapes[2] = { 1, 64 }, fan_shapes[2] = { 64, 64 };
	Tensor x = make_tensor_external((void *)args[0], row_shapes, 2, DataType::FLOAT32);
	Tensor fan = make_tensor_external((void *)args[1], row_shapes, 2, DataType::FLOAT32);
	Tensor diamond = make_tensor_external((void *)args[2], row_shapes, 2, DataType::FLOAT32);

	affine(rt, x, fan, 1, 0);
	for (uint64_t layer = 0; layer < args[3]; layer += 1) {
		PTO2_SCOPE(rt)
		{
			/* its buffer comes with the first view and is shared by all of them */
			Tensor pieces = make_tensor(fan_shapes, 2, DataType::FLOAT32);

			for (uint64_t i = 0; i < 64; i += 1) {
				PTO2_SCOPE(rt)
				{
					uint64_t offsets[2] = { i, 0 };
					Tensor piece = pieces.view(row_shapes, offsets);

					affine(rt, fan, piece, 1.0f / 64, (float)i / 64);
				}
			}
			PTOParam params_t2[] = {
				make_input_param(pieces),
				make_output_param(fan),
			};
			pto2_rt_submit_task(rt, 3, PTO2_WORKER_VECTOR, params_t2, 2);
		}
	}

	affine(rt, x, diamond, 1, 1);
	for (uint64_t i = 0; i < args[4]; i += 1) {
		PTO2_SCOPE(rt)
		{
			Tensor left = make_tensor(row_shapes, 2, DataType::FLOAT32);
			affine(rt, diamond, left, 2, 1);
			Tensor right = make_tensor(row_shapes, 2, DataType::FLOAT32);
			affine(rt, diamond, right, 3, 2);
			PTOParam params_t6[] = {
				make_input_param(left),
				make_input_param(right),
				make_output_param(diamond),
			};
			pto2_rt_submit_task(rt, 2, PTO2_WORKER_VECTOR, params_t6, 3);
			affine(rt, diamond, diamond, 0.125f, 0);
		}
	}
}

} // extern "C"
