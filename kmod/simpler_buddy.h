/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's buddy allocator, under the name it has in this kernel. */
#ifndef SIMPLER_BUDDY_H
#define SIMPLER_BUDDY_H

#include "simpler_features.h"

#ifdef SIMPLER_HAVE_GPU_BUDDY
#include <linux/gpu_buddy.h>
#define simpler_buddy_mm		gpu_buddy
#define simpler_buddy_block		gpu_buddy_block
#define simpler_buddy_init		gpu_buddy_init
#define simpler_buddy_fini		gpu_buddy_fini
#define simpler_buddy_alloc		gpu_buddy_alloc_blocks
#define simpler_buddy_free		gpu_buddy_free_list
#define simpler_buddy_offset		gpu_buddy_block_offset
#define simpler_buddy_size		gpu_buddy_block_size
#define SIMPLER_BUDDY_RANGE		GPU_BUDDY_RANGE_ALLOCATION
#define SIMPLER_BUDDY_CONTIGUOUS	GPU_BUDDY_CONTIGUOUS_ALLOCATION
#else
#include <drm/drm_buddy.h>
#define simpler_buddy_mm		drm_buddy
#define simpler_buddy_block		drm_buddy_block
#define simpler_buddy_init		drm_buddy_init
#define simpler_buddy_fini		drm_buddy_fini
#define simpler_buddy_alloc		drm_buddy_alloc_blocks
#define simpler_buddy_free		drm_buddy_free_list
#define simpler_buddy_offset		drm_buddy_block_offset
#define simpler_buddy_size		drm_buddy_block_size
#define SIMPLER_BUDDY_RANGE		DRM_BUDDY_RANGE_ALLOCATION
#define SIMPLER_BUDDY_CONTIGUOUS	DRM_BUDDY_CONTIGUOUS_ALLOCATION
#endif

#endif /* SIMPLER_BUDDY_H */
