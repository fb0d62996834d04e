/* SPDX-License-Identifier: MIT */
/* Pushes the product of every block_num-th band; (cluster, a, w, pipe out) */
#include "pipes.h"

template <TileSplitAxis Split>
inline void produce(int64_t *args)
{
	const ChipTensor &a = tensor(args, 1);
	one_way pipe(nullptr, 0, 0);
	right<half, DEPTH, WIDTH> w(DEPTH, WIDTH);

	load_weight(w, tensor(args, 2), 0x0);
	for (int i = get_block_idx(args); i < bands(a); i += get_block_num(args)) {
		product p(band_rows(a, i), WIDTH);

		multiply_band(p, a, i, w);
		TPUSH<one_way, product, Split>(pipe, p);
	}
}
