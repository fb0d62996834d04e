// SPDX-License-Identifier: MIT
#include "chip/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_BYTES	(64u << 10)
#define FREE_CHUNKS_MAX	64u
#define EAGER_REBASE	(1u << 20)	/* an empty heap restarts at 0 beyond this, to stay in cache */
#define ZERO_BY_HAND	(256u << 10)	/* larger leftovers are dropped page-wise */

void chip_heap_init(struct chip_heap *h, uint64_t size)
{
	*h = (struct chip_heap){ .size = size };
}

static uint64_t take(struct chip_heap *h, uint64_t start, uint64_t bytes)
{
	h->top = start + bytes;
	if (h->top > h->high_water)
		h->high_water = h->top;
	return start;
}

static void rebase(struct chip_heap *h)
{
	h->top = h->tail = 0;
	h->epoch++;
}

int chip_heap_alloc(struct chip_heap *h, uint64_t bytes, uint64_t *offset)
{
	if (bytes > h->size)
		return -E2BIG;
	bytes = (bytes + CHIP_HEAP_GRAIN - 1) & ~(uint64_t)(CHIP_HEAP_GRAIN - 1);
	if (bytes > h->size)
		return -E2BIG;
	if (!bytes) {
		*offset = h->top;
		return 0;
	}
	if (h->top == h->tail && h->top + bytes > EAGER_REBASE)
		rebase(h);
	if (h->top >= h->tail) {
		if (h->size - h->top >= bytes) {
			*offset = take(h, h->top, bytes);
			return 0;
		}
		if (h->tail > bytes) {
			*offset = take(h, 0, bytes);
			return 0;
		}
		if (h->top != h->tail)
			return -ENOSPC;
		rebase(h);
		*offset = take(h, 0, bytes);
		return 0;
	}
	/* strict: an exact fit would make a full ring look empty */
	if (h->tail - h->top <= bytes)
		return -ENOSPC;
	*offset = take(h, h->top, bytes);
	return 0;
}

uint64_t chip_heap_available(const struct chip_heap *h)
{
	uint64_t end, front;

	if (h->top == h->tail)
		return h->size;
	if (h->top < h->tail)
		return h->tail - h->top;
	end = h->size - h->top;
	front = h->tail;
	return end > front ? end : front;
}

void chip_heap_release(struct chip_heap *h, uint64_t end, uint32_t epoch)
{
	if (epoch == h->epoch)
		h->tail = end;
}

static void *map_lazily(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int grow_slots(struct chip_ring *r, uint64_t window)
{
	struct chip_ring_task **slots;

	if (window <= r->slot_capacity)
		return 0;
	slots = map_lazily(window * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (r->slots)
		munmap(r->slots, r->slot_capacity * sizeof(*slots));
	r->slots = slots;
	r->slot_capacity = window;
	return 0;
}

static int grow_heap(struct chip_ring *r, uint64_t bytes)
{
	void *base;

	if (bytes <= r->heap_capacity)
		return 0;
	base = map_lazily(bytes);
	if (!base)
		return -ENOMEM;
	if (r->heap_base)
		munmap(r->heap_base, r->heap_capacity);
	r->heap_base = base;
	r->heap_capacity = bytes;
	return 0;
}

int chip_ring_configure(struct chip_ring *r, uint32_t index, uint32_t window, uint64_t heap,
			uint32_t dep_pool)
{
	int rc = grow_slots(r, window);

	/* an unmapped heap is mapped at its first use, with the size of that run */
	if (!rc && r->heap_base)
		rc = grow_heap(r, heap);
	if (rc)
		return rc;
	r->index = index;
	r->window = window;
	r->dep_pool = dep_pool;
	if (heap != r->heap.size)
		chip_heap_init(&r->heap, heap);
	return 0;
}

int chip_ring_map_heap(struct chip_ring *r)
{
	return r->heap_base ? 0 : grow_heap(r, r->heap.size);
}
static void free_chunk_list(struct chip_chunk *c)
{
	while (c) {
		struct chip_chunk *next = c->next;

		free(c);
		c = next;
	}
}

static void erase_heap(struct chip_ring *r)
{
	uint64_t used = r->heap.high_water;

	if (!r->heap_base || !used)
		return;
	if (used <= ZERO_BY_HAND)
		memset(r->heap_base, 0, used);
	else
		madvise(r->heap_base, used, MADV_DONTNEED);
}

void chip_ring_reset(struct chip_ring *r)
{
	for (uint32_t local = r->alive; local != r->next; local++) {
		struct chip_ring_task *t = r->slots[local & (r->window - 1)];

		if (!chip_slot_is_mark(t))
			chip_ring_put_record(r, t->chunk);
	}
	r->next = r->alive = 0;
	r->dep_used = 0;
	erase_heap(r);
	chip_heap_init(&r->heap, r->heap.size);
}

void chip_ring_fini(struct chip_ring *r)
{
	if (r->slots) {
		chip_ring_reset(r);
		munmap(r->slots, r->slot_capacity * sizeof(*r->slots));
	}
	if (r->heap_base)
		munmap(r->heap_base, r->heap_capacity);
	free(r->chunk);
	free_chunk_list(r->free_chunks);
	*r = (struct chip_ring){ 0 };
}

static struct chip_chunk *new_chunk(struct chip_ring *r, uint32_t record)
{
	uint32_t head = (uint32_t)offsetof(struct chip_chunk, data);
	uint32_t bytes = record + head > CHUNK_BYTES ? record + head : CHUNK_BYTES;
	struct chip_chunk *c = r->free_chunks;

	if (c && bytes == CHUNK_BYTES) {
		r->free_chunks = c->next;
		r->free_count--;
	} else {
		c = aligned_alloc(64, bytes);
		if (!c)
			return NULL;
		c->bytes = bytes - head;
	}
	c->next = NULL;
	c->used = c->live = 0;
	return c;
}

static void retire_chunk(struct chip_ring *r, struct chip_chunk *chunk)
{
	if (r->free_count >= FREE_CHUNKS_MAX || chunk->bytes > CHUNK_BYTES) {
		free(chunk);
		return;
	}
	chunk->next = r->free_chunks;
	r->free_chunks = chunk;
	r->free_count++;
}

void *chip_ring_record(struct chip_ring *r, uint32_t bytes, struct chip_chunk **chunk)
{
	struct chip_chunk *c = r->chunk;
	void *record;

	bytes = (bytes + 63) & ~63u;
	if (!c || c->bytes - c->used < bytes) {
		struct chip_chunk *full = c;

		c = new_chunk(r, bytes);
		if (!c)
			return NULL;
		r->chunk = c;
		if (full && !full->live)
			retire_chunk(r, full);
	}
	record = c->data + c->used;
	c->used += bytes;
	c->live++;
	*chunk = c;
	return record;
}

void chip_ring_put_record(struct chip_ring *r, struct chip_chunk *chunk)
{
	if (--chunk->live)
		return;
	if (chunk == r->chunk) {
		chunk->used = 0;
		return;
	}
	retire_chunk(r, chunk);
}
