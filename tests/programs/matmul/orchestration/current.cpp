/* SPDX-License-Identifier: MIT */
/*
 * c = a * b in tiles of 64 x 128.  K is cut in chunks of 256: the first one
 * writes the tile, the others make a part that a vector task adds to it.
 * Arguments: a, b, c
 */
#include "pto_orchestration_api.h"

enum { MATMUL, ADD };
constexpr uint32_t M = 64, N = 128, K = 256;

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 3 };
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void multiply_tile(const ChipTensor &a, const ChipTensor &b, const ChipTensor &tile)
{
	TensorCreateInfo part(tile.shapes, 2, DataType::FLOAT32);

	for (uint32_t k = 0; k < a.shapes[1]; k += K) {
		const uint32_t depth = least(K, a.shapes[1] - k);
		ChipTensor ak = a.view({ a.shapes[0], depth }, { 0, k });
		ChipTensor bk = b.view({ depth, b.shapes[1] }, { k, 0 });

		PTO2_SCOPE()
		{
			CoreTaskArgs mul, add;

			mul.add_input(ak, bk);
			if (k == 0)
				mul.add_output(tile);
			else
				mul.add_output(part);
			TaskOutputTensors made = rt_submit_aic_task(MATMUL, mul);

			if (k == 0)
				continue;
			add.add_input(made.get_ref(0));
			add.add_inout(tile);
			rt_submit_aiv_task(ADD, add);
		}
	}
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const ChipTensor &a = args.tensor(0).ref(), &b = args.tensor(1).ref();
	const ChipTensor &c = args.tensor(2).ref();

	for (uint32_t i = 0; i < c.shapes[0]; i += M)
		for (uint32_t j = 0; j < c.shapes[1]; j += N) {
			const uint32_t m = least(M, c.shapes[0] - i), n = least(N, c.shapes[1] - j);
			ChipTensor tile = c.view({ m, n }, { i, j });

			multiply_tile(a.view({ m, a.shapes[1] }, { i, 0 }),
				      b.view({ b.shapes[0], n }, { 0, j }), tile);
		}
}
