/* SPDX-License-Identifier: MIT */
/*
 * The same in the older API.  Words: the eight tensors of current.cpp, heads,
 * kv heads, block size, scale, then batch, dim, rows of the caches, blocks per
 * sequence, element type.
 */
#include <string.h>

#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(uint64_t *args, int arg_count)
{
	(void)args;
	(void)arg_count;
	return PTO2OrchestrationConfig{
		.expected_arg_count = 17,
	};
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(PTO2Runtime *rt,
								      uint64_t *args, int arg_count)
{
	(void)arg_count;
	uint64_t heads = args[8], kv_heads = args[9], block_size = args[10];
	uint64_t batch = args[12], dim = args[13], width = kv_heads * dim;
	DataType dtype = static_cast<DataType>(args[16]);
	uint64_t size = heads / kv_heads;

	uint64_t q_shapes[2] = { batch * heads, dim }, new_shapes[2] = { batch, width };
	uint64_t cache_shapes[2] = { args[14], width }, table_shapes[2] = { batch, args[15] };
	uint64_t past_shapes[1] = { batch };
	Tensor ext_q = make_tensor_external((void *)args[0], q_shapes, 2, dtype);
	Tensor ext_new_k = make_tensor_external((void *)args[1], new_shapes, 2, dtype);
	Tensor ext_new_v = make_tensor_external((void *)args[2], new_shapes, 2, dtype);
	Tensor ext_k = make_tensor_external((void *)args[3], cache_shapes, 2, dtype);
	Tensor ext_v = make_tensor_external((void *)args[4], cache_shapes, 2, dtype);
	Tensor ext_table = make_tensor_external((void *)args[5], table_shapes, 2, DataType::INT32);
	Tensor ext_past = make_tensor_external((void *)args[6], past_shapes, 1, DataType::INT32);
	Tensor ext_out = make_tensor_external((void *)args[7], q_shapes, 2, DataType::FLOAT32);
	float scale;

	memcpy(&scale, &args[11], sizeof(scale));
	Tensor total = make_tensor(past_shapes, 1, DataType::INT32);
	PTOParam params_t0[] = {
		make_input_param(ext_past),
		make_output_param(total),
	};
	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, params_t0, 2);

	for (uint64_t seq = 0; seq < batch; seq += 1) {
		PTO2_SCOPE(rt)
		{
			uint32_t seq_index[1] = { static_cast<uint32_t>(seq) };
			uint64_t tokens = get_tensor_data<int32_t>(rt, total, 1, seq_index);
			uint64_t blocks = (tokens + block_size - 1) / block_size;
			uint32_t last[2] = { static_cast<uint32_t>(seq),
					     static_cast<uint32_t>((tokens - 1) / block_size) };
			uint64_t slot = get_tensor_data<int32_t>(rt, ext_table, 2, last) * block_size +
					(tokens - 1) % block_size;
			Tensor new_k = ext_new_k.view({ 1, width }, { seq, 0 });
			Tensor new_v = ext_new_v.view({ 1, width }, { seq, 0 });
			Tensor k_slot = ext_k.view({ 1, width }, { slot, 0 });
			Tensor v_slot = ext_v.view({ 1, width }, { slot, 0 });
			PTOParam params_t1[] = {
				make_input_param(new_k),
				make_input_param(new_v),
				make_output_param(k_slot),
				make_output_param(v_slot),
			};
			pto2_rt_submit_task(rt, 1, PTO2_WORKER_VECTOR, params_t1, 4);

			for (uint64_t head = 0; head < kv_heads; head += 1) {
				PTO2_SCOPE(rt)
				{
					uint64_t row = seq * heads + head * size;
					uint64_t o_shapes[2] = { size, dim }, per_head[1] = { size };
					Tensor query = ext_q.view({ size, dim }, { row, 0 });
					Tensor out = ext_out.view({ size, dim }, { row, 0 });
					Tensor best = make_tensor(per_head, 1);
					Tensor sum = make_tensor(per_head, 1);
					Tensor o = make_tensor(o_shapes, 2);

					for (uint64_t b = 0; b < blocks; b += 1) {
						PTO2_SCOPE(rt)
						{
							uint32_t at[2] = { static_cast<uint32_t>(seq),
									   static_cast<uint32_t>(b) };
							uint64_t n = b + 1 < blocks ? block_size :
										      tokens - b * block_size;
							uint64_t from = get_tensor_data<int32_t>(
										rt, ext_table, 2, at) *
									block_size;
							Tensor k = ext_k.view({ n, dim }, { from, head * dim });
							Tensor v = ext_v.view({ n, dim }, { from, head * dim });
							uint64_t s_shapes[2] = { size, n };

							Tensor s = make_tensor(s_shapes, 2);
							PTOParam params_t2[] = {
								make_input_param(query),
								make_input_param(k),
								make_output_param(s),
							};
							pto2_rt_submit_task(rt, 2, PTO2_WORKER_CUBE,
									    params_t2, 3);

							Tensor p = make_tensor(s_shapes, 2, dtype);
							Tensor part_best = make_tensor(per_head, 1);
							Tensor part_sum = make_tensor(per_head, 1);
							PTOParam params_t3[] = {
								make_input_param(s),
								make_output_param(p),
								make_output_param(part_best),
								make_output_param(part_sum),
								make_scalar_param(float_to_u64(scale)),
							};
							pto2_rt_submit_task(rt, 3, PTO2_WORKER_VECTOR,
									    params_t3, 5);

							Tensor part = make_tensor(o_shapes, 2);
							PTOParam params_t4[] = {
								make_input_param(p),
								make_input_param(v),
								make_output_param(part),
							};
							pto2_rt_submit_task(rt, 4, PTO2_WORKER_CUBE,
									    params_t4, 3);

							PTOParam params_t5[] = {
								make_input_param(part_best),
								make_input_param(part_sum),
								make_input_param(part),
								b ? make_inout_param(best) : make_output_param(best),
								b ? make_inout_param(sum) : make_output_param(sum),
								b ? make_inout_param(o) : make_output_param(o),
								make_output_param(out),
								make_scalar_param(b == 0),
								make_scalar_param(b + 1 == blocks),
							};
							pto2_rt_submit_task(rt, 5, PTO2_WORKER_VECTOR,
									    params_t5, 9);
						}
					}
				}
			}
		}
	}
}

} // extern "C"
