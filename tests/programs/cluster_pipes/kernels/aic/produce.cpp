/* SPDX-License-Identifier: MIT */
#include "../produce.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	produce<TileSplitAxis::TILE_NO_SPLIT>(args);
}
