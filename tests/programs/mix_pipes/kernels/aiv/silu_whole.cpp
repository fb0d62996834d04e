/* SPDX-License-Identifier: MIT */
/* Vector half: whole bands.  A second lane takes no part in the transfer and sees zeros; (a, w, out) */
#include "../pipe.h"

using share = vec<float, BAND, WIDTH>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const ChipTensor &out = tensor(args, 2);
	pipe_t8 pipe(nullptr, 0x0, 0);

	for (int i = get_block_idx(args); i < bands(out); i += get_block_num(args)) {
		share x(band_rows(out, i), WIDTH);

		TPOP(x, pipe);
		popped(PIPE_V);
		silu(x, 0x10000);
		hand_over(PIPE_V, PIPE_MTE3);
		if (get_sub_block_id(args) == 0)
			TSTORE(window<float>(out, i * BAND, 0, band_rows(out, i), WIDTH), x);
		done_with_slot();
		TFREE(pipe);
	}
}
