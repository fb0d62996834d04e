/* SPDX-License-Identifier: MIT */
/*
 * Cluster groups of separate tasks; each part has its own panel of rows.
 * Tensors: a, w1, w2, factor [1], factor of part 2 [1], out.  Scalars: rows of
 * a panel, groups of part 3, blocks of part 4
 */
#include "pto_orchestration_api.h"

enum { PRODUCE, CONSUME, PRODUCE_SPLIT, CONSUME_SPLIT, DOUBLE_IT, THERE_AND_BACK, RELU_BACK };

namespace {

struct panels {
	const ChipTensor &a, &w1, &w2, &factor, &slow_factor, &out;
	uint32_t rows, next = 0;

	explicit panels(const ChipTaskArgs &args)
		: a(args.tensor(0).ref()), w1(args.tensor(1).ref()), w2(args.tensor(2).ref()),
		  factor(args.tensor(3).ref()), slow_factor(args.tensor(4).ref()),
		  out(args.tensor(5).ref()), rows(static_cast<uint32_t>(args.scalar(0)))
	{
	}

	ChipTensor take(const ChipTensor &t, uint32_t index, uint32_t height) const
	{
		return t.view({ height, t.shapes[1] }, { index * rows, 0u });
	}

	void produce(const ChipTensor &cid, const ChipTensor &from, const ChipTensor &pipe,
		     int64_t blocks = 1, int32_t kernel = PRODUCE) const
	{
		CoreTaskArgs task;

		task.add_cluster(cid);
		task.add_input(from, w1);
		task.add_pipe_out(pipe);
		task.launch_spec.set_block_num(blocks);
		rt_submit_aic_task(kernel, task);
	}

	void consume(const ChipTensor &cid, const ChipTensor &pipe, const ChipTensor &by,
		     const ChipTensor &to, int64_t blocks = 1, bool both_lanes = false) const
	{
		CoreTaskArgs task;

		task.add_cluster(cid);
		task.add_pipe_in(pipe);
		task.add_input(by);
		task.add_output(to);
		task.launch_spec.set_block_num(blocks);
		if (both_lanes)
			rt_submit_task({ INVALID_KERNEL_ID, CONSUME_SPLIT, CONSUME_SPLIT }, task);
		else
			rt_submit_aiv_task(CONSUME, task);
	}

	/* Part 0: the producer pushes more tiles than the pipe holds before anybody pops. */
	void producer_first()
	{
		ChipTensor from = take(a, next, rows), to = take(out, next, rows);

		next++;
		PTO2_SCOPE()
		{
			ChipTensor cid = rt_allocate_cluster();
			ChipTensor pipe = make_pipe({ 1 }, 1);

			produce(cid, from, pipe);
			consume(cid, pipe, factor, to);
		}
	}

	/* Part 1: the order of the calls does not matter. */
	void consumer_first()
	{
		ChipTensor from = take(a, next, rows), to = take(out, next, rows);

		next++;
		PTO2_SCOPE()
		{
			ChipTensor cid = rt_allocate_cluster();
			ChipTensor pipe = make_pipe({ 1 }, 1);

			consume(cid, pipe, factor, to);
			produce(cid, from, pipe);
		}
	}

	/* Part 2: the consumers wait for data of other tasks while the producer fills the pipe. */
	void consumer_waits_for_data()
	{
		ChipTensor from = take(a, next, rows), to = take(out, next, rows);

		next++;
		PTO2_SCOPE()
		{
			ChipTensor cid = rt_allocate_cluster();
			ChipTensor pipe = make_pipe({ 1 }, 1);

			produce(cid, from, pipe, 1, PRODUCE_SPLIT);
			for (int i = 0; i < 5; i++) {
				CoreTaskArgs task;

				task.add_inout(slow_factor);
				rt_submit_aiv_task(DOUBLE_IT, task);
			}
			consume(cid, pipe, slow_factor, to, 1, true);
		}
	}

	/* Part 3: more groups than clusters, each connected both ways. */
	void groups_in_a_loop(uint64_t groups)
	{
		for (uint64_t g = 0; g < groups; g++, next++) {
			PTO2_SCOPE()
			{
				ChipTensor from = take(a, next, rows), to = take(out, next, rows);
				ChipTensor cid = rt_allocate_cluster();
				ChipTensor there = make_pipe({ 1 }, 1), back = make_pipe({ 1 }, 1);
				CoreTaskArgs cube, vector;

				cube.add_cluster(cid);
				cube.add_input(from, w1, w2);
				cube.add_pipe_out(there);
				cube.add_pipe_in(back);
				cube.add_output(to);
				rt_submit_aic_task(THERE_AND_BACK, cube);
				vector.add_cluster(cid);
				vector.add_pipe_in(there);
				vector.add_pipe_out(back);
				vector.add_input(from);
				rt_submit_aiv_task(RELU_BACK, vector);
			}
		}
	}

	/* Part 4: block k of both tasks runs on cluster k. */
	void blocks_on_clusters(uint32_t blocks)
	{
		ChipTensor from = take(a, next, rows * blocks), to = take(out, next, rows * blocks);

		next += blocks;
		PTO2_SCOPE()
		{
			ChipTensor cid = rt_allocate_cluster(blocks);
			ChipTensor pipe = make_pipe({ 1 }, 1);

			produce(cid, from, pipe, blocks);
			consume(cid, pipe, factor, to, blocks);
		}
	}
};

} // namespace

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 9 };
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	panels p(args);

	p.producer_first();
	p.consumer_first();
	p.consumer_waits_for_data();
	p.groups_in_a_loop(args.scalar(1));
	p.blocks_on_clusters(static_cast<uint32_t>(args.scalar(2)));
}
