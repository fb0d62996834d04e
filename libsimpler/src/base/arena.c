/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sanitize.h"

#define ARENA_CHUNK_DEFAULT	((size_t)64 << 10)
#define HUGE_PAGE		((size_t)2 << 20)
#define ARENA_ALIGN_ANY		_Alignof(max_align_t)

struct arena_chunk {
	struct arena_chunk *next;
	size_t bytes;			/* of data */
	_Alignas(max_align_t) char data[];
};

void arena_init(struct arena *a, size_t chunk_bytes, size_t keep_bytes)
{
	*a = (struct arena){
		.chunk_bytes = chunk_bytes ? chunk_bytes : ARENA_CHUNK_DEFAULT,
		.keep_bytes = keep_bytes,
	};
}

static void arena_free_chunk(struct arena_chunk *c)
{
	sanitize_unpoison(c->data, c->bytes);
	free(c);
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *c;

	while ((c = a->used)) {
		a->used = c->next;
		if (c->bytes > a->keep_bytes - a->spare_bytes) {
			arena_free_chunk(c);
			continue;
		}
		sanitize_poison(c->data, c->bytes);
		a->spare_bytes += c->bytes;
		c->next = a->spare;
		a->spare = c;
	}
	a->cur = NULL;
	a->end = NULL;
}

/* Chunks at @spare that the pool has room for move there. */
static void pool_give(struct arena_pool *pool, struct arena_chunk **spare)
{
	struct arena_chunk *c;

	pthread_mutex_lock(&pool->lock);
	while ((c = *spare) && c->bytes <= pool->keep_bytes - pool->spare_bytes) {
		*spare = c->next;
		sanitize_poison(c->data, c->bytes);
		pool->spare_bytes += c->bytes;
		c->next = pool->spare;
		pool->spare = c;
	}
	pthread_mutex_unlock(&pool->lock);
}

static void free_chunks(struct arena_chunk *c)
{
	struct arena_chunk *next;

	for (; c; c = next) {
		next = c->next;
		arena_free_chunk(c);
	}
}

void arena_fini(struct arena *a)
{
	if (a->pool) {
		pool_give(a->pool, &a->used);
		pool_give(a->pool, &a->spare);
	}
	arena_reset(a);
	free_chunks(a->spare);
	a->spare = NULL;
	a->spare_bytes = 0;
}

void arena_pool_drain(struct arena_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	free_chunks(pool->spare);
	pool->spare = NULL;
	pool->spare_bytes = 0;
	pthread_mutex_unlock(&pool->lock);
}

/*
 * The first of the chunks at @link with room for @bytes, unless that is more than @most;
 * *@spare_bytes falls by its size.
 */
static struct arena_chunk *take_chunk(struct arena_chunk **link, size_t bytes, size_t most,
				      size_t *spare_bytes)
{
	struct arena_chunk *c;

	for (; (c = *link); link = &c->next) {
		if (c->bytes < bytes || c->bytes > most)
			continue;
		*link = c->next;
		*spare_bytes -= c->bytes;
		return c;
	}
	return NULL;
}

static struct arena_chunk *arena_take_spare(struct arena *a, size_t bytes, size_t wanted)
{
	struct arena_chunk *c = take_chunk(&a->spare, bytes, SIZE_MAX, &a->spare_bytes);
	size_t most = a->grows ? 2 * wanted : SIZE_MAX;

	if (c || !a->pool)
		return c;
	pthread_mutex_lock(&a->pool->lock);
	c = take_chunk(&a->pool->spare, bytes, most, &a->pool->spare_bytes);
	pthread_mutex_unlock(&a->pool->lock);
	return c;
}

/* Whole huge pages, which cost one page fault each; *@bytes grows to what they hold. */
static struct arena_chunk *allocate_huge(size_t *bytes)
{
	size_t all = (sizeof(struct arena_chunk) + *bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	struct arena_chunk *c = aligned_alloc(HUGE_PAGE, all);

	if (!c)
		return NULL;
	madvise(c, all, MADV_HUGEPAGE); /* advice: small pages do as well */
	*bytes = all - sizeof(*c);
	return c;
}

static struct arena_chunk *arena_new_chunk(size_t bytes)
{
	struct arena_chunk *c;

	if (bytes > PTRDIFF_MAX - sizeof(*c))
		return NULL;
	c = sizeof(*c) + bytes < HUGE_PAGE ? malloc(sizeof(*c) + bytes) : allocate_huge(&bytes);
	if (!c)
		return NULL;
	c->bytes = bytes;
	sanitize_poison(c->data, bytes);
	return c;
}

/*
 * Bytes of the next chunk, if no allocation needs more. An arena that grows takes four times what
 * the newest has, and whole huge pages as soon as at least half of one is wanted.
 */
static size_t next_chunk_bytes(const struct arena *a)
{
	size_t bytes = a->grows && a->used ? 4 * a->used->bytes : 0;

	if (bytes >= HUGE_PAGE / 2)
		bytes = HUGE_PAGE - sizeof(struct arena_chunk);
	return bytes > a->chunk_bytes ? bytes : a->chunk_bytes;
}

/* A chunk with room for @bytes becomes the one that is filled. */
static int arena_grow(struct arena *a, size_t bytes)
{
	size_t wanted = next_chunk_bytes(a);
	struct arena_chunk *c;

	if (wanted < bytes)
		wanted = bytes;
	c = arena_take_spare(a, bytes, wanted);
	if (!c)
		c = arena_new_chunk(wanted);
	if (!c)
		return -1;
	c->next = a->used;
	a->used = c;
	a->cur = c->data;
	a->end = c->data + c->bytes;
	return 0;
}

static char *arena_fit(struct arena *a, size_t size, size_t align)
{
	uintptr_t p = ((uintptr_t)a->cur + align - 1) & ~(uintptr_t)(align - 1);

	if (!a->cur || p > (uintptr_t)a->end || size > (uintptr_t)a->end - p)
		return NULL;
	return (char *)p;
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
	char *p = arena_fit(a, size, align);

	if (!p) {
		if (size > SIZE_MAX - align || arena_grow(a, size + align))
			return NULL;
		p = arena_fit(a, size, align);
	}
	a->cur = p + size;
	sanitize_unpoison(p, size);
	return p;
}

void *arena_zalloc(struct arena *a, size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	p = arena_alloc(a, bytes, ARENA_ALIGN_ANY);
	if (p)
		memset(p, 0, bytes);
	return p;
}

void *arena_memdup(struct arena *a, const void *src, size_t size)
{
	void *p = arena_alloc(a, size, ARENA_ALIGN_ANY);

	if (p && size)
		memcpy(p, src, size);
	return p;
}

char *arena_strdup(struct arena *a, const char *text)
{
	size_t size = strlen(text) + 1;
	char *p = arena_alloc(a, size, 1);

	if (p)
		memcpy(p, text, size);
	return p;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *p;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		return NULL;
	p = arena_alloc(a, (size_t)len + 1, 1);
	if (p)
		vsnprintf(p, (size_t)len + 1, fmt, ap);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}
