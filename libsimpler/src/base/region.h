/* SPDX-License-Identifier: MIT */
/*
 * Regions: zeroed memory on pages of its own, with inaccessible pages before and after it, so that
 * code that runs past either end faults instead of changing what lies there. For memory that
 * foreign code writes.
 *
 * A process can have about 65000 mappings (vm.max_map_count), of which a guarded region is up to
 * three: beyond REGION_GUARDED_MAX live regions further ones are laid out alike, but without guards.
 *
 * Thread-safe.
 */
#ifndef SIMPLER_BASE_REGION_H
#define SIMPLER_BASE_REGION_H

#include <stddef.h>

#define REGION_GUARD_BYTES	((size_t)64 << 10)	/* on either side; costs address space only */
#define REGION_GUARDED_MAX	16384u

/**
 * region_map() - a new region
 * @bytes: not 0; a multiple of @align if the end is to be guarded to the byte
 * @align: of the first byte; a power of two, at most a page
 *
 * The region ends at the upper guard, up to @align - 1 bytes before it.
 * Return: its first byte, NULL when memory or mappings are short
 */
void *region_map(size_t bytes, size_t align);

/** region_unmap() - give back what region_map() returned for the same @bytes; accepts NULL */
void region_unmap(void *data, size_t bytes);

#endif
