/* SPDX-License-Identifier: MIT */
/* Vector half, one per lane: the upper or the lower rows of each band; (a, w, out) */
#include "../pipe.h"

using share = vec<float, BAND / 2, WIDTH>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	constexpr TileSplitAxis split = TileSplitAxis::TILE_UP_DOWN;
	const ChipTensor &out = tensor(args, 2);
	const int first = get_sub_block_id(args) * BAND / 2;
	pipe_t8 pipe(nullptr, 0x0, 0);

	for (int i = get_block_idx(args); i < bands(out); i += get_block_num(args)) {
		int n = band_rows(out, i) - first;

		n = n < 0 ? 0 : n < BAND / 2 ? n : BAND / 2;
		share x(n, WIDTH);

		TPOP<pipe_t8, share, split>(pipe, x);
		popped(PIPE_V);
		silu(x, 0x10000);
		hand_over(PIPE_V, PIPE_MTE3);
		TSTORE(window<float>(out, i * BAND + first, 0, n, WIDTH), x);
		done_with_slot();
		TFREE<pipe_t8, split>(pipe);
	}
}
