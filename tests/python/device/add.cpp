// SPDX-License-Identifier: MIT
// out = a + b; (a, b, out), vectors of at most 1024 floats
#include <pto/pto-inst.hpp>
#include "tensor.h"

using namespace pto;

using vector = GlobalTensor<float, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>>;
using tile = Tile<TileType::Vec, float, 1, 1024, BLayout::RowMajor, 1, DYNAMIC>;

static vector argument(int64_t *args, int i)
{
	auto *t = reinterpret_cast<const ChipTensor *>(args[i]);

	return vector(t->data_as<float>(), vector::Shape(t->shapes[0]), vector::Stride());
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const int n = int(reinterpret_cast<const ChipTensor *>(args[0])->shapes[0]);
	vector a = argument(args, 0), b = argument(args, 1), out = argument(args, 2);
	tile x(n), y(n);

	TASSIGN(x, 0x0);
	TASSIGN(y, 0x1000);
	TLOAD(x, a);
	TLOAD(y, b);
	TADD(x, x, y);
	TSTORE(out, x);
}
