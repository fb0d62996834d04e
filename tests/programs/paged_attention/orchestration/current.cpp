/* SPDX-License-Identifier: MIT */
/*
 * One decoding step with a paged key-value cache, for a batch of sequences of
 * different lengths.  The lengths are computed by a task and read here, as is
 * the table that says in which block of the cache a sequence's tokens are.
 *
 * Tensors: q [batch * heads, dim], new k and new v [batch, kv heads * dim],
 * k and v caches [blocks * block size, kv heads * dim], block table
 * [batch, blocks per sequence], past lengths [batch], out as q.
 * Scalars: heads, kv heads, block size, scale
 */
#include "pto_orchestration_api.h"

enum { LENGTHS, APPEND, QK, SOFTMAX_PART, PV, UPDATE };

namespace {

struct attention {
	const ChipTensor &q, &new_k, &new_v, &k_cache, &v_cache, &table, &out;
	uint32_t heads, kv_heads, block_size, dim;
	float scale;

	explicit attention(const ChipTaskArgs &args)
		: q(args.tensor(0).ref()), new_k(args.tensor(1).ref()),
		  new_v(args.tensor(2).ref()), k_cache(args.tensor(3).ref()),
		  v_cache(args.tensor(4).ref()), table(args.tensor(5).ref()),
		  out(args.tensor(7).ref()), heads(static_cast<uint32_t>(args.scalar(0))),
		  kv_heads(static_cast<uint32_t>(args.scalar(1))),
		  block_size(static_cast<uint32_t>(args.scalar(2))), dim(q.shapes[1]),
		  scale(from_u64<float>(args.scalar(3)))
	{
	}

	/* First row in the cache of a sequence's block. */
	uint32_t block_row(uint32_t seq, uint32_t block) const
	{
		return get_tensor_data<uint32_t>(table, 2, { seq, block }) * block_size;
	}

	void append(uint32_t seq, uint32_t tokens) const
	{
		const uint32_t width = new_k.shapes[1], token = tokens - 1;
		const uint32_t row = block_row(seq, token / block_size) + token % block_size;
		ChipTensor k = new_k.view({ 1u, width }, { seq, 0u });
		ChipTensor v = new_v.view({ 1u, width }, { seq, 0u });
		ChipTensor k_slot = k_cache.view({ 1u, width }, { row, 0u });
		ChipTensor v_slot = v_cache.view({ 1u, width }, { row, 0u });
		CoreTaskArgs args;

		args.add_input(k, v);
		args.add_output(k_slot, v_slot);
		rt_submit_aiv_task(APPEND, args);
	}

	TaskOutputTensors product(int32_t kernel, const ChipTensor &a, const ChipTensor &b,
				  uint32_t cols) const
	{
		TensorCreateInfo result({ a.shapes[0], cols }, 2, DataType::FLOAT32);
		CoreTaskArgs args;

		args.add_input(a, b);
		args.add_output(result);
		return rt_submit_aic_task(kernel, args);
	}

	TaskOutputTensors softmax_part(const ChipTensor &scores) const
	{
		TensorCreateInfo p(scores.shapes, 2, q.dtype);
		TensorCreateInfo per_head({ scores.shapes[0] }, 1, DataType::FLOAT32);
		CoreTaskArgs args;

		args.add_input(scores);
		args.add_output(p, per_head, per_head);
		args.add_scalar(scale);
		return rt_submit_aiv_task(SOFTMAX_PART, args);
	}

	/* Attention of the query heads that use kv head @head to @tokens tokens. */
	void group(uint32_t seq, uint32_t head, uint32_t tokens) const
	{
		const uint32_t size = heads / kv_heads;
		const uint32_t blocks = (tokens + block_size - 1) / block_size;
		ChipTensor query = q.view({ size, dim }, { seq * heads + head * size, 0u });
		ChipTensor result = out.view({ size, dim }, { seq * heads + head * size, 0u });
		TensorCreateInfo per_head({ size }, 1), sum({ size, dim }, 2);
		TaskOutputTensors running = alloc_tensors(per_head, per_head, sum);

		for (uint32_t b = 0; b < blocks && !rt_is_fatal(); b++) {
			const uint32_t row = block_row(seq, b);
			const uint32_t n = b + 1 < blocks ? block_size : tokens - b * block_size;
			ChipTensor k = k_cache.view({ n, dim }, { row, head * dim });
			ChipTensor v = v_cache.view({ n, dim }, { row, head * dim });

			PTO2_SCOPE()
			{
				TaskOutputTensors scores = product(QK, query, k, n);
				TaskOutputTensors soft = softmax_part(scores.get_ref(0));
				TaskOutputTensors part = product(PV, soft.get_ref(0), v, dim);
				CoreTaskArgs args;

				args.add_input(soft.get_ref(1), soft.get_ref(2), part.get_ref(0));
				args.add_inout(running.get_ref(0), running.get_ref(1),
					       running.get_ref(2));
				args.add_output(result);
				args.add_scalar(b == 0, b + 1 == blocks);
				rt_submit_aiv_task(UPDATE, args);
			}
		}
	}
};

} // namespace

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 12 };
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const attention a(args);
	const ChipTensor &past = args.tensor(6).ref();
	TensorCreateInfo total(past.shapes, 1, DataType::INT32);
	CoreTaskArgs count;

	count.add_input(past);
	count.add_output(total);
	TaskOutputTensors lengths = rt_submit_aiv_task(LENGTHS, count);

	for (uint32_t seq = 0; seq < past.shapes[0] && !rt_is_fatal(); seq++) {
		PTO2_SCOPE()
		{
			/* waits for the task that computes it */
			const uint32_t tokens =
				get_tensor_data<uint32_t>(lengths.get_ref(0), 1, { seq });

			a.append(seq, tokens);
			for (uint32_t head = 0; head < a.kv_heads; head++)
				PTO2_SCOPE()
				{
					a.group(seq, head, tokens);
				}
		}
	}
}
