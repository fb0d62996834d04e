/* SPDX-License-Identifier: MIT */
/*
 * Page tables of a context (simpler_hw.h, "device-virtual addresses"), as the
 * device reads them.  They are memory of the guest: every entry is read once
 * and checked before it is used.
 */
#ifndef SIMPLER_VNPU_PAGETABLE_H
#define SIMPLER_VNPU_PAGETABLE_H

#include <stdint.h>

#include "link.h"

/* What addresses may refer to. */
struct pagetable_memory {
	const unsigned char *bar;	/* device-physical 0 */
	uint64_t base, bytes;		/* device memory */
	uint64_t host_bytes;		/* DMA addresses are below */
};

#define PAGETABLE_MAX_VISITS (1u << 24)

/**
 * pagetable_walk - list what [@addr, @addr + @bytes) is mapped to
 * @root: device-physical address of the root table
 * @addr: page aligned
 * @bytes: multiple of the page size
 * @runs: filled, ascending and merged
 * @max: room in @runs
 *
 * Entries that are not valid, or that refer to something the device does not
 * have, map nothing; so does what lies outside of the address space.
 *
 * Returns the number of runs, -EINVAL (the range is not aligned, wraps, or the
 * root is no page of device memory) or -E2BIG (more runs than fit, or more than
 * PAGETABLE_MAX_VISITS entries looked at).
 */
int pagetable_walk(const struct pagetable_memory *memory, uint64_t root, uint64_t addr,
		   uint64_t bytes, struct vnpu_run *runs, uint32_t max);

/* True if @addr is the aligned start of a page of device memory. */
int pagetable_is_page(const struct pagetable_memory *memory, uint64_t addr);

#endif /* SIMPLER_VNPU_PAGETABLE_H */
