/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/region.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic unsigned int live;

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t bytes)
{
	size_t page = page_bytes();

	return (bytes + page - 1) & ~(page - 1);
}

static int guard(char *map, size_t inner)
{
	return mprotect(map, REGION_GUARD_BYTES, PROT_NONE) ||
	       mprotect(map + REGION_GUARD_BYTES + inner, REGION_GUARD_BYTES, PROT_NONE);
}

/* Without guards when there are too many regions, or no mappings are left for them. */
static char *map_all(size_t inner)
{
	size_t bytes = inner + 2 * REGION_GUARD_BYTES;
	char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	/* relaxed: a count that orders nothing */
	if (atomic_fetch_add_explicit(&live, 1, memory_order_relaxed) < REGION_GUARDED_MAX &&
	    guard(map, inner))
		mprotect(map, bytes, PROT_READ | PROT_WRITE);
	return map;
}

void *region_map(size_t bytes, size_t align)
{
	size_t inner;
	char *map;

	if (bytes > PTRDIFF_MAX - 4 * REGION_GUARD_BYTES)
		return NULL;
	inner = round_up(bytes);
	map = map_all(inner);
	if (!map)
		return NULL;
	return map + REGION_GUARD_BYTES + ((inner - bytes) & ~(align - 1));
}

void region_unmap(void *data, size_t bytes)
{
	size_t page = page_bytes();
	char *first = (char *)((uintptr_t)data & ~(uintptr_t)(page - 1));

	if (!data)
		return;
	/*
	 * A hole may need a mapping more than there were; where none is left the pages stay, empty.
	 */
	if (munmap(first - REGION_GUARD_BYTES, round_up(bytes) + 2 * REGION_GUARD_BYTES))
		madvise(first, round_up(bytes), MADV_DONTNEED);
	/* relaxed: a count that orders nothing */
	atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
}
