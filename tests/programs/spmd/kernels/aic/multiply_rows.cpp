/* SPDX-License-Identifier: MIT */
/* Block b writes rows 16 b to 16 b + 15 of a * w; (a, w, out), 64 columns */
#include "../../../common/device/matrix.h"
#include "intrinsic.h"

using namespace prog;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const int row = get_block_idx(args) * 16;
	mat<half, 16, 64> a1(16, 64);
	mat<half, 64, 64> w1(64, 64);
	left<half, 16, 64> a0(16, 64);
	right<half, 64, 64> w0(64, 64);
	acc<16, 64> p(16, 64);

	TASSIGN(a1, 0x0);
	TASSIGN(w1, 0x1000);
	TASSIGN(a0, 0x0);
	TASSIGN(w0, 0x0);
	TASSIGN(p, 0x0);
	TLOAD(a1, window<half>(tensor(args, 0), row, 0, 16, 64));
	TLOAD(w1, whole<half>(tensor(args, 1)));
	hand_over(PIPE_MTE2, PIPE_MTE1);
	TMOV(a0, a1);
	TMOV(w0, w1);
	hand_over(PIPE_MTE1, PIPE_M);
	TMATMUL(p, a0, w0);
	hand_over(PIPE_M, PIPE_FIX);
	TSTORE(window<float>(tensor(args, 2), row, 0, 16, 64), p);
}
