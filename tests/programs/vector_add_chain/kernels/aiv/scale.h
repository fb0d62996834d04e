/* SPDX-License-Identifier: MIT */
/* out = a * s, at most 32 x 128 */
#include "../../../common/device/matrix.h"

inline void scale(const ChipTensor &a, const ChipTensor &out, float s)
{
	prog::vec<float, 32, 128> x(prog::rows(a), prog::cols(a));

	TASSIGN(x, 0x0);
	TLOAD(x, prog::whole<float>(a));
	prog::hand_over(PIPE_MTE2, PIPE_V);
	TMULS(x, x, s);
	prog::hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(prog::whole<float>(out), x);
}
