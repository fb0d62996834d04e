// SPDX-License-Identifier: MIT
// args: x (float[1024]), what to leave out: 0 nothing, 1 and 2 a flag, 3 the load;
// 4 and 5 nothing, but x is taken to start a row later or an element earlier; x[i] += 1
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

extern "C" __global__ AICORE void kernel_entry(__gm__ int64_t *args)
{
	using Memory = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
	auto *t = reinterpret_cast<ChipTensor *>(args[0]);
	const int64_t out = args[1];
	Memory x(t->data_as<float>() + (out == 4 ? 64 : out == 5 ? -1 : 0));
	Tile<TileType::Vec, float, 16, 64> in, sum;

	TASSIGN(in, 0);
	TASSIGN(sum, 0x1000);
	if (out != 3)
		TLOAD(in, x);
	if (out != 1) {
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	}
	TADDS(sum, in, 1.0f);
	if (out != 2) {
		set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	}
	TSTORE(x, sum);
}
