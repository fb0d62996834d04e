/* SPDX-License-Identifier: MIT */
/* part = p * v; (p [group, tokens], v [tokens, dim], part [group, dim]) */
#include "sizes.h"

template <typename T>
inline void pv(int64_t *args)
{
	using namespace prog;
	const ChipTensor &p = tensor(args, 0), &v = tensor(args, 1), &part = tensor(args, 2);
	const int m = rows(p), n = cols(p), dim = cols(v);
	mat<T, GROUP, BLOCK> p1(m, n);
	mat<T, BLOCK, DIM> v1(n, dim);
	left<T, GROUP, BLOCK> p0(m, n);
	right<T, BLOCK, DIM> v0(n, dim);
	acc<GROUP, DIM> o(m, dim);

	TASSIGN(p1, 0x0);
	TASSIGN(v1, 0x4000);
	TASSIGN(p0, 0x0);
	TASSIGN(v0, 0x0);
	TASSIGN(o, 0x0);
	TLOAD(p1, whole<T>(p));
	TLOAD(v1, whole<T>(v));
	hand_over(PIPE_MTE2, PIPE_MTE1);
	TMOV(p0, p1);
	TMOV(v0, v1);
	hand_over(PIPE_MTE1, PIPE_M);
	TMATMUL(o, p0, v0);
	hand_over(PIPE_M, PIPE_FIX);
	TSTORE(whole<float>(part), o);
}
