/* SPDX-License-Identifier: MIT */
/*
 * out = a * b in single precision; (a, b, out) with half a of at most 64 x 256
 * and b of at most 256 x 128.  Goes through k in steps of 64, adding up in the
 * accumulator.
 */
#include "../../../common/device/matrix.h"

using namespace prog;

constexpr int M = 64, N = 128, K = 64;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const ChipTensor &a = tensor(args, 0), &b = tensor(args, 1);
	const int m = rows(a), n = cols(b), depth = cols(a);
	acc<M, N> sum(m, n);

	TASSIGN(sum, 0x0);
	for (int k = 0; k < depth; k += K) {
		const int step = depth - k < K ? depth - k : K;
		mat<half, M, K> a1(m, step);
		mat<half, K, N> b1(step, n);
		left<half, M, K> a0(m, step);
		right<half, K, N> b0(step, n);

		TASSIGN(a1, 0x0);
		TASSIGN(b1, 0x4000);
		TASSIGN(a0, 0x0);
		TASSIGN(b0, 0x0);
		TLOAD(a1, window<half>(a, 0, k, m, step));
		TLOAD(b1, window<half>(b, k, 0, step, n));
		hand_over(PIPE_MTE2, PIPE_MTE1);
		TMOV(a0, a1);
		TMOV(b0, b1);
		hand_over(PIPE_MTE1, PIPE_M);
		if (k == 0)
			TMATMUL(sum, a0, b0);
		else
			TMATMUL_ACC(sum, sum, a0, b0);
		hand_over(PIPE_M, PIPE_MTE1);
		hand_over(PIPE_MTE1, PIPE_MTE2);
	}
	hand_over(PIPE_M, PIPE_FIX);
	TSTORE(whole<float>(tensor(args, 2)), sum);
}
