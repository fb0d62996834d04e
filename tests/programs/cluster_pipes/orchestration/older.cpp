/* SPDX-License-Identifier: MIT */
/*
 * The same in the older API.  Words: a, w1, w2, factor, factor of part 2, out,
 * rows of a panel, groups of part 3, blocks of part 4, panels, depth, width
 */
#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(uint64_t *args, int arg_count)
{
	(void)args;
	(void)arg_count;
	return PTO2OrchestrationConfig{
		.expected_arg_count = 12,
	};
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(PTO2Runtime *rt,
								      uint64_t *args, int arg_count)
{
	(void)arg_count;
	uint64_t rows = args[6], groups = args[7], blocks = args[8];
	uint64_t depth = args[10], width = args[11];
	uint64_t a_shapes[2] = { rows * args[9], depth }, w_shapes[2] = { depth, width };
	uint64_t out_shapes[2] = { rows * args[9], width };
	uint64_t factor_shapes[1] = { 1 }, p_shapes[1] = { 1 };
	Tensor ext_a = make_tensor_external((void *)args[0], a_shapes, 2, DataType::FLOAT16);
	Tensor ext_w1 = make_tensor_external((void *)args[1], w_shapes, 2, DataType::FLOAT16);
	Tensor ext_w2 = make_tensor_external((void *)args[2], w_shapes, 2, DataType::FLOAT16);
	Tensor ext_factor = make_tensor_external((void *)args[3], factor_shapes, 1);
	Tensor ext_slow = make_tensor_external((void *)args[4], factor_shapes, 1);
	Tensor ext_out = make_tensor_external((void *)args[5], out_shapes, 2);
	uint64_t a_panel[2] = { rows, depth }, out_panel[2] = { rows, width };

	/* parts 0 and 1: the producer first, the consumer first */
	for (uint64_t part = 0; part < 2; part += 1) {
		PTO2_SCOPE(rt)
		{
			uint64_t offsets[2] = { part * rows, 0 };
			Tensor from = ext_a.view(a_panel, offsets);
			Tensor to = ext_out.view(out_panel, offsets);
			Tensor cid = pto2_rt_allocate_cluster(rt, 1);
			Tensor p = make_pipe(p_shapes, 1, DataType::INT8);
			PTOParam produce[] = {
				make_cluster_param(cid),
				make_input_param(from),
				make_input_param(ext_w1),
				make_pipe_out_param(p),
			};
			PTOParam consume[] = {
				make_cluster_param(cid),
				make_pipe_in_param(p),
				make_input_param(ext_factor),
				make_output_param(to),
			};

			if (part)
				pto2_rt_submit_task(rt, 1, PTO2_WORKER_VECTOR, consume, 4);
			pto2_rt_submit_task(rt, 0, PTO2_WORKER_CUBE, produce, 4);
			if (!part)
				pto2_rt_submit_task(rt, 1, PTO2_WORKER_VECTOR, consume, 4);
		}
	}
	/* part 2: the consumers wait for data while the producer fills the pipe */
	PTO2_SCOPE(rt)
	{
		uint64_t offsets[2] = { 2 * rows, 0 };
		Tensor from = ext_a.view(a_panel, offsets);
		Tensor to = ext_out.view(out_panel, offsets);
		Tensor cid = pto2_rt_allocate_cluster(rt, 1);
		Tensor p = make_pipe(p_shapes, 1, DataType::INT8);
		PTOParam produce[] = {
			make_cluster_param(cid),
			make_input_param(from),
			make_input_param(ext_w1),
			make_pipe_out_param(p),
		};
		pto2_rt_submit_task(rt, 2, PTO2_WORKER_CUBE, produce, 4);
		for (int64_t i = 0; i < 5; i += 1) {
			PTO2_SCOPE(rt)
			{
				PTOParam params[] = {
					make_inout_param(ext_slow),
				};
				pto2_rt_submit_task(rt, 4, PTO2_WORKER_VECTOR, params, 1);
			}
		}
		PTOParam consume[] = {
			make_cluster_param(cid),
			make_pipe_in_param(p),
			make_input_param(ext_slow),
			make_output_param(to),
		};
		pto2_rt_submit_task(rt, MixedKernels{ -1, 3, 3 }, consume, 4);
	}
	/* part 3: more groups than clusters, each connected both ways */
	for (uint64_t g = 0; g < groups; g += 1) {
		PTO2_SCOPE(rt)
		{
			uint64_t offsets[2] = { (3 + g) * rows, 0 };
			Tensor from = ext_a.view(a_panel, offsets);
			Tensor to = ext_out.view(out_panel, offsets);
			Tensor cid = pto2_rt_allocate_cluster(rt, 1);
			Tensor there = make_pipe(p_shapes, 1, DataType::INT8);
			Tensor back = make_pipe(p_shapes, 1, DataType::INT8);
			PTOParam cube[] = {
				make_cluster_param(cid),
				make_input_param(from),
				make_input_param(ext_w1),
				make_input_param(ext_w2),
				make_pipe_out_param(there),
				make_pipe_in_param(back),
				make_output_param(to),
			};
			pto2_rt_submit_task(rt, 5, PTO2_WORKER_CUBE, cube, 7);
			PTOParam vector[] = {
				make_cluster_param(cid),
				make_pipe_in_param(there),
				make_pipe_out_param(back),
				make_input_param(from),
			};
			pto2_rt_submit_task(rt, 6, PTO2_WORKER_VECTOR, vector, 4);
		}
	}
	/* part 4: block k of both tasks runs on cluster k */
	PTO2_SCOPE(rt)
	{
		uint64_t offsets[2] = { (3 + groups) * rows, 0 };
		uint64_t from_shapes[2] = { blocks * rows, depth };
		uint64_t to_shapes[2] = { blocks * rows, width };
		Tensor from = ext_a.view(from_shapes, offsets);
		Tensor to = ext_out.view(to_shapes, offsets);
		Tensor cid = pto2_rt_allocate_cluster(rt, blocks);
		Tensor p = make_pipe(p_shapes, 1, DataType::INT8);
		PTOParam produce[] = {
			make_cluster_param(cid),
			make_input_param(from),
			make_input_param(ext_w1),
			make_pipe_out_param(p),
		};
		pto2_rt_submit_block_task(rt, 0, PTO2_WORKER_CUBE, produce, 4, blocks);
		PTOParam consume[] = {
			make_cluster_param(cid),
			make_pipe_in_param(p),
			make_input_param(ext_factor),
			make_output_param(to),
		};
		pto2_rt_submit_block_task(rt, 1, PTO2_WORKER_VECTOR, consume, 4, blocks);
	}
}

} // extern "C"
