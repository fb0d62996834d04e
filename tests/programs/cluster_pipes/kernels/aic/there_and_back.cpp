/* SPDX-License-Identifier: MIT */
/*
 * Sends a * w1 to the vector core, gets its answer back and multiplies that by
 * w2; (cluster, a, w1, w2, pipe out, pipe in, out)
 */
#include "../pipes.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const ChipTensor &a = tensor(args, 1), &out = tensor(args, 6);
	two_way pipe(nullptr, 0, 0x10000);
	right<half, DEPTH, WIDTH> w1(DEPTH, WIDTH), w2(DEPTH, WIDTH);

	load_weight(w1, tensor(args, 2), 0x0);
	load_weight(w2, tensor(args, 3), 0x2000);
	for (int i = 0; i < bands(a); i++) {
		const int n = band_rows(a, i);
		product p(n, WIDTH);
		mat<half, BAND, DEPTH> answer(n, DEPTH);
		left<half, BAND, DEPTH> l(n, DEPTH);

		multiply_band(p, a, i, w1);
		TPUSH(p, pipe);
		TPOP(answer, pipe);
		TASSIGN(l, 0x0);
		popped(PIPE_MTE1);
		hand_over(PIPE_M, PIPE_MTE1);
		TMOV(l, answer);
		done_with_slot();
		TFREE(pipe);
		TMATMUL(p, l, w2);
		hand_over(PIPE_M, PIPE_FIX);
		TSTORE(window<float>(out, i * BAND, 0, n, WIDTH), p);
	}
}
