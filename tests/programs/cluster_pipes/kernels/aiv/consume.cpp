/* SPDX-License-Identifier: MIT */
#include "../consume.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	consume<TileSplitAxis::TILE_NO_SPLIT, 1>(args);
}
