/* SPDX-License-Identifier: MIT */
/*
 * Arena: many allocations, one end. Chunks come from malloc(); a reset keeps chunks up to a bound
 * for the next use. Not thread-safe. Under AddressSanitizer the free part of each chunk is
 * poisoned.
 *
 * A pool keeps chunks of arenas that have ended for those that follow: returned to the system,
 * each page would cost a fault again. Arenas of several threads may share one.
 */
#ifndef SIMPLER_BASE_ARENA_H
#define SIMPLER_BASE_ARENA_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena_pool {
	pthread_mutex_t lock;		/* protects what follows, but keep_bytes */
	struct arena_chunk *spare;
	size_t spare_bytes;
	size_t keep_bytes;		/* no more than this is kept */
};

#define ARENA_POOL(bytes)	{ .lock = PTHREAD_MUTEX_INITIALIZER, .keep_bytes = (bytes) }

struct arena {
	char *cur;			/* next free byte of the newest chunk */
	char *end;
	struct arena_chunk *used;	/* newest first */
	struct arena_chunk *spare;
	size_t chunk_bytes;
	size_t keep_bytes;
	size_t spare_bytes;
	/* set after arena_init(): */
	struct arena_pool *pool;	/* or NULL; outlives the arena */
	bool grows;			/* chunks become larger, up to a huge page, the more there are */
};

/**
 * arena_init() - empty arena; allocates nothing
 * @chunk_bytes: size of a chunk (0: 64 KiB); a larger request gets a chunk of its own
 * @keep_bytes: how much memory arena_reset() keeps for reuse
 */
void arena_init(struct arena *a, size_t chunk_bytes, size_t keep_bytes);

/** arena_reset() - all allocations end; chunks are kept up to keep_bytes, the rest is freed */
void arena_reset(struct arena *a);

/**
 * arena_fini() - all allocations end, and all memory is freed or goes to the pool; the arena is as
 * after arena_init(), of that pool, and grows as it did
 */
void arena_fini(struct arena *a);

/** arena_pool_drain() - frees what the pool keeps */
void arena_pool_drain(struct arena_pool *pool);

/**
 * arena_alloc() - @size bytes, aligned to @align (a power of two), contents undefined
 *
 * Size 0 gives a valid address too. Return: NULL when memory is short or the size overflows.
 */
void *arena_alloc(struct arena *a, size_t size, size_t align)
	__attribute__((malloc, alloc_size(2), alloc_align(3)));

/**
 * arena_zalloc() - zeroed memory for @count objects of @size bytes, aligned for any type; NULL as
 * above
 */
void *arena_zalloc(struct arena *a, size_t count, size_t size)
	__attribute__((malloc, alloc_size(2, 3)));

/** arena_memdup() - copy of @size bytes, aligned for any type; NULL as above */
void *arena_memdup(struct arena *a, const void *src, size_t size);

/** arena_strdup() - copy of a string; NULL as above */
char *arena_strdup(struct arena *a, const char *text);

/** arena_printf() - formatted string in the arena; NULL as above */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

#define arena_new(a, type)	((type *)arena_zalloc((a), 1, sizeof(type)))

#endif
