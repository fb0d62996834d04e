/* SPDX-License-Identifier: MIT */
/* out = silu(popped bands) * factor; (cluster, pipe in, factor [1], out) */
#include "pipes.h"

/* @lanes: vector cores that share a band by rows. */
template <TileSplitAxis Split, int Lanes>
inline void consume(int64_t *args)
{
	using share = vec<float, BAND / Lanes, WIDTH>;
	const ChipTensor &out = tensor(args, 3);
	const float factor = *tensor(args, 2).data_as<float>();
	const int first = Lanes == 2 ? get_sub_block_id(args) * BAND / 2 : 0;
	one_way pipe(nullptr, 0x0, 0);

	for (int i = get_block_idx(args); i < bands(out); i += get_block_num(args)) {
		int n = band_rows(out, i) - first;

		n = n < 0 ? 0 : n < BAND / Lanes ? n : BAND / Lanes;
		share x(n, WIDTH);

		TPOP<one_way, share, Split>(pipe, x);
		popped(PIPE_V);
		silu(x, 0x10000);
		TMULS(x, x, factor);
		hand_over(PIPE_V, PIPE_MTE3);
		TSTORE(window<float>(out, i * BAND + first, 0, n, WIDTH), x);
		done_with_slot();
		TFREE<one_way, Split>(pipe);
	}
}
