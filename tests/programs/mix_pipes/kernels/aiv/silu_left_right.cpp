/* SPDX-License-Identifier: MIT */
/* Vector half, one per lane: the left or the right columns of each band; (a, w, out) */
#include "../pipe.h"

using share = vec<float, BAND, WIDTH / 2>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	constexpr TileSplitAxis split = TileSplitAxis::TILE_LEFT_RIGHT;
	const ChipTensor &out = tensor(args, 2);
	const int first = get_sub_block_id(args) * WIDTH / 2;
	pipe_t8 pipe(nullptr, 0x0, 0);

	for (int i = get_block_idx(args); i < bands(out); i += get_block_num(args)) {
		const int n = band_rows(out, i);
		share x(n, WIDTH / 2);

		TPOP<pipe_t8, share, split>(pipe, x);
		popped(PIPE_V);
		silu(x, 0x10000);
		hand_over(PIPE_V, PIPE_MTE3);
		TSTORE(window<float>(out, i * BAND, first, n, WIDTH / 2), x);
		done_with_slot();
		TFREE<pipe_t8, split>(pipe);
	}
}
