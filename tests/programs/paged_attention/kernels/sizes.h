/* SPDX-License-Identifier: MIT */
/* Boxes of the attention kernels; what they hold is given by the tensors. */
#ifndef PAGED_ATTENTION_SIZES_H
#define PAGED_ATTENTION_SIZES_H

#include "../../common/device/matrix.h"

constexpr int GROUP = 16;	/* query heads that share a key head */
constexpr int DIM = 128;	/* of a head */
constexpr int BLOCK = 128;	/* tokens of a cache block */

#endif
