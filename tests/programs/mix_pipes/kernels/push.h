/* SPDX-License-Identifier: MIT */
/* Cube half: pushes the product of each band; (a, w, out) */
#include "pipe.h"

template <TileSplitAxis Split>
inline void push(int64_t *args)
{
	const ChipTensor &a = tensor(args, 0);
	pipe_t8 pipe(nullptr, 0, 0);
	right<half, DEPTH, WIDTH> w(DEPTH, WIDTH);

	load_weight(w, tensor(args, 1), 0x0);
	for (int i = get_block_idx(args); i < bands(a); i += get_block_num(args)) {
		product p(band_rows(a, i), WIDTH);

		multiply_band(p, a, i, w);
		TPUSH<pipe_t8, product, Split>(pipe, p);
	}
}
