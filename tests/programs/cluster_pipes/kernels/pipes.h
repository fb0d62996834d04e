/* SPDX-License-Identifier: MIT */
/*
 * Pipes between tasks of a cluster group.  Cluster and pipe arguments take a
 * place in the argument words; what a kernel does with a pipe is in its code.
 */
#ifndef CLUSTER_PIPES_PIPES_H
#define CLUSTER_PIPES_PIPES_H

#include "../../common/device/pipe_tiles.h"

using namespace prog;

/* One-way, eight slots; two-way, four slots in each direction. */
using one_way = TPipe<0, DIR_C2V, TILE_BYTES, SLOTS>;
using two_way = TPipe<1, DIR_BOTH, TILE_BYTES, SLOTS / 2>;

#endif
