/* SPDX-License-Identifier: MIT */
/* The pipe between the halves of a block; each block takes every block_num-th band. */
#ifndef MIX_PIPES_PIPE_H
#define MIX_PIPES_PIPE_H

#include "../../common/device/pipe_tiles.h"

using namespace prog;

using pipe_t8 = TPipe<0, DIR_C2V, TILE_BYTES, SLOTS>;

#endif
