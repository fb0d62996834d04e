/* SPDX-License-Identifier: MIT */
/*
 * Ring resources of one scope depth (chip-runtime §11): task ids and slots, the
 * heap that intermediate buffers come from, and the memory of task records.
 * All three are given out in submission order and taken back in the same order.
 *
 * Pure bookkeeping: nothing here waits, locks or knows what a task is beyond
 * struct chip_ring_task.  Callers serialise.
 */
#ifndef SIMPLER_CHIP_RING_H
#define SIMPLER_CHIP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHIP_HEAP_GRAIN		64u	/* heap requests are rounded up to this */
#define CHIP_OUTPUT_ALIGN	1024u	/* outputs of one task start at multiples of this */
#define CHIP_WINDOW_MIN		4u
#define CHIP_HEAP_MIN		1024u
#define CHIP_DEP_POOL_MIN	4u
#define CHIP_WINDOW_DEFAULT	16384u
#define CHIP_HEAP_DEFAULT	268435456u
#define CHIP_DEP_POOL_DEFAULT	16384u

/*
 * Heap ring: bytes between tail and top are in use.  @epoch counts rebases; a
 * release that was noted before a rebase is ignored after it.
 */
struct chip_heap {
	uint64_t size;
	uint64_t top;
	uint64_t tail;
	uint64_t high_water;	/* bytes from the start that were ever given out */
	uint32_t epoch;
};

void chip_heap_init(struct chip_heap *h, uint64_t size);

/**
 * chip_heap_alloc - take a block
 * @bytes: rounded up to CHIP_HEAP_GRAIN; 0 takes nothing and returns the top
 * @offset: start of the block
 *
 * Returns 0 or -ENOSPC; -E2BIG when no state of the ring could serve it.
 */
int chip_heap_alloc(struct chip_heap *h, uint64_t bytes, uint64_t *offset);

/* Largest contiguous request that would succeed now (not counting a rebase). */
uint64_t chip_heap_available(const struct chip_heap *h);

/* Moves the tail to @end, the end of the newest retired block taken in @epoch. */
void chip_heap_release(struct chip_heap *h, uint64_t end, uint32_t epoch);

/* Memory of task records: chunks that fill from the front and empty in the same order. */
struct chip_chunk {
	struct chip_chunk *next;	/* free list */
	uint32_t used;
	uint32_t live;			/* records not yet returned */
	uint32_t bytes;
	uint32_t reserved;
	_Alignas(64) unsigned char data[];
};

/* What the ring must know of a task; first member of struct chip_task. */
struct chip_ring_task {
	uint64_t id;			/* ring << 32 | local */
	uint64_t heap_end;
	struct chip_chunk *chunk;
	uint32_t heap_epoch;
	bool consumed;			/* completed and no longer referenced */
	uint8_t depth;			/* of its scope */
};

/*
 * A task that completed inside its own submit and owns nothing has no record
 * (light.c); its slot holds one of these marks instead of an address: held by
 * the open scope of the given depth, or free to retire.
 */
#define CHIP_SLOT_LIGHT(depth)	((struct chip_ring_task *)(((uintptr_t)(depth) << 2) | 1))
#define CHIP_SLOT_GONE		((struct chip_ring_task *)(uintptr_t)3)

static inline bool chip_slot_is_mark(const struct chip_ring_task *t)
{
	return (uintptr_t)t & 1;
}

struct chip_ring {
	uint32_t index;
	uint32_t next;			/* local id of the next task */
	uint32_t alive;			/* oldest task not yet retired */
	uint32_t window;		/* power of two */
	uint32_t dep_pool;
	uint32_t dep_used;
	bool strict;			/* all window slots usable (host_build_graph) */
	struct chip_ring_task **slots;	/* window entries in use of slot_capacity */
	uint64_t slot_capacity;
	struct chip_heap heap;
	unsigned char *heap_base;	/* heap.size bytes in use of heap_capacity */
	uint64_t heap_capacity;
	struct chip_chunk *chunk;	/* being filled */
	struct chip_chunk *free_chunks;
	uint32_t free_count;
};

/**
 * chip_ring_configure - set sizes, growing the slot table and heap when needed
 *
 * New memory is obtained before old memory is given up, so a failure leaves the
 * ring as it was (chip-runtime §3.6).  The ring must be empty.
 *
 * Returns 0 or -ENOMEM.
 */
int chip_ring_configure(struct chip_ring *r, uint32_t index, uint32_t window, uint64_t heap,
			uint32_t dep_pool);
void chip_ring_fini(struct chip_ring *r);

/* Forgets all tasks, keeps memory, and erases what the last run left in the heap (decision D21). */
void chip_ring_reset(struct chip_ring *r);

static inline bool chip_ring_has_slot(const struct chip_ring *r)
{
	uint32_t live = r->next - r->alive;

	return live + (r->strict ? 0 : 1) < r->window;
}

/* Maps heap memory on first use.  Returns 0 or -ENOMEM. */
int chip_ring_map_heap(struct chip_ring *r);

/* Takes a record of @bytes; NULL when out of memory. */
void *chip_ring_record(struct chip_ring *r, uint32_t bytes, struct chip_chunk **chunk);

/* Publishes @t under the next id.  The window must have a slot. */
static inline void chip_ring_publish(struct chip_ring *r, struct chip_ring_task *t)
{
	t->id = (uint64_t)r->index << 32 | r->next;
	t->consumed = false;
	r->slots[r->next & (r->window - 1)] = t;
	r->next++;
}

/* The live task with this local id, or NULL when nothing is left of it or it was never submitted. */
static inline struct chip_ring_task *chip_ring_task(const struct chip_ring *r, uint32_t local)
{
	struct chip_ring_task *t;

	if ((uint32_t)(local - r->alive) >= (uint32_t)(r->next - r->alive))
		return NULL;
	t = r->slots[local & (r->window - 1)];
	return chip_slot_is_mark(t) ? NULL : t;
}

static inline bool chip_ring_submitted(const struct chip_ring *r, uint32_t local)
{
	return local < r->next;
}

/* Gives back the memory of a retired task's record. */
void chip_ring_put_record(struct chip_ring *r, struct chip_chunk *chunk);

#endif /* SIMPLER_CHIP_RING_H */
