/* SPDX-License-Identifier: MIT */
/* scores = q * transpose(k); (q [group, dim], k [tokens, dim], scores [group, tokens]) */
#include "sizes.h"

template <typename T>
inline void qk(int64_t *args)
{
	using namespace prog;
	const ChipTensor &q = tensor(args, 0), &k = tensor(args, 1), &scores = tensor(args, 2);
	const int m = rows(q), dim = cols(q), n = rows(k);
	mat<T, GROUP, DIM> q1(m, dim);
	mat_t<T, DIM, BLOCK> k1(dim, n);
	left<T, GROUP, DIM> q0(m, dim);
	right<T, DIM, BLOCK> k0(dim, n);
	acc<GROUP, BLOCK> s(m, n);

	TASSIGN(q1, 0x0);
	TASSIGN(k1, 0x4000);
	TASSIGN(q0, 0x0);
	TASSIGN(k0, 0x0);
	TASSIGN(s, 0x0);
	TLOAD(q1, whole<T>(q));
	TLOAD(k1, transposed<T>(k));
	hand_over(PIPE_MTE2, PIPE_MTE1);
	TMOV(q0, q1);
	TMOV(k0, k1);
	hand_over(PIPE_MTE1, PIPE_M);
	TMATMUL(s, q0, k0);
	hand_over(PIPE_M, PIPE_FIX);
	TSTORE(whole<float>(scores), s);
}
