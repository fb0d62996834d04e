/* SPDX-License-Identifier: MIT */
/*
 * Tasks of many blocks.  Tensors: x [rows, 64], scaled as x, sum [1, 64];
 * a [16 * cube blocks, 64], w [64, 64], product as a; then for tasks whose
 * blocks start together: scaled, product and wide for as many blocks as the
 * device holds
 */
#include "pto_orchestration_api.h"

enum { SCALE_ROW, SUM_ROWS, MULTIPLY_ROWS, WIDEN_ROWS };

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 9 };
}

static void set_blocks(CoreTaskArgs &task, int64_t n, bool together)
{
#if __NPU_ARCH__ == 3510
	task.launch_spec.set_core_num(n);
#else
	task.launch_spec.set_block_num(n);
#endif
	task.launch_spec.set_require_sync_start(together);
}

static void scale_rows(const ChipTensor &x, const ChipTensor &out, int64_t blocks, bool together)
{
	CoreTaskArgs task;

	task.add_input(x);
	task.add_output(out);
	set_blocks(task, blocks, together);
	rt_submit_aiv_task(SCALE_ROW, task);
}

static void multiply_rows(const ChipTensor &a, const ChipTensor &w, const ChipTensor &out,
			  int64_t blocks, bool together)
{
	CoreTaskArgs task;

	task.add_input(a, w);
	task.add_output(out);
	set_blocks(task, blocks, together);
	rt_submit_aic_task(MULTIPLY_ROWS, task);
}

/* Cube and vector cores of all clusters at once. */
static void mixed(const ChipTensor &a, const ChipTensor &w, const ChipTensor &out,
		  const ChipTensor &wide)
{
	CoreTaskArgs task;

	task.add_input(a, w);
	task.add_output(out, wide);
	set_blocks(task, rt_available_cluster_count(), true);
	rt_submit_task({ MULTIPLY_ROWS, WIDEN_ROWS, WIDEN_ROWS }, task);
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const ChipTensor &x = args.tensor(0).ref(), &scaled = args.tensor(1).ref();
	const ChipTensor &a = args.tensor(3).ref(), &w = args.tensor(4).ref();
	const ChipTensor &product = args.tensor(5).ref();
	CoreTaskArgs sum;

	scale_rows(x, scaled, x.shapes[0], false);
	multiply_rows(a, w, product, a.shapes[0] / 16, false);
	sum.add_input(scaled);
	sum.add_output(args.tensor(2).ref());
	rt_submit_aiv_task(SUM_ROWS, sum);
	scale_rows(x, args.tensor(6).ref(), rt_available_aiv_count(), true);
	multiply_rows(a, w, args.tensor(7).ref(), rt_available_cluster_count(), true);
	mixed(a, w, args.tensor(7).ref(), args.tensor(8).ref());
}
