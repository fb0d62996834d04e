/* SPDX-License-Identifier: MIT */
/*
 * Softmax of one block without its division:
 * (scores [group, tokens], p of the same shape, best [group], sum [group], scale)
 * best = max of scale * scores, p = exp(scale * scores - best), sum = sum of p
 * as rounded.
 */
#include "sizes.h"

template <typename T>
inline void softmax_part(int64_t *args)
{
	using namespace prog;
	const ChipTensor &scores = tensor(args, 0);
	const int m = rows(scores), n = cols(scores);
	vec<float, GROUP, BLOCK> s(m, n), scratch(m, n);
	vec<T, GROUP, BLOCK> p(m, n);
	column<float, GROUP> best(m), sum(m);

	TASSIGN(s, 0x0);
	TASSIGN(scratch, 0x2000);
	TASSIGN(p, 0x4000);
	TASSIGN(best, 0x5000);
	TASSIGN(sum, 0x5100);
	TLOAD(s, whole<float>(scores));
	hand_over(PIPE_MTE2, PIPE_V);
	TMULS(s, s, scalar<float>(args, 4));
	TROWMAX(best, s, scratch);
	TROWEXPANDSUB(s, s, best);
	TEXP(s, s);
	TCVT(p, s, RoundMode::CAST_RINT);
	TCVT(s, p, RoundMode::CAST_NONE);
	TROWSUM(sum, s, scratch);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(whole<T>(tensor(args, 1)), p);
	TSTORE(whole<float>(tensor(args, 2)), best);
	TSTORE(whole<float>(tensor(args, 3)), sum);
}
