/* SPDX-License-Identifier: MIT */
#include "../push.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	push<TileSplitAxis::TILE_UP_DOWN>(args);
}
