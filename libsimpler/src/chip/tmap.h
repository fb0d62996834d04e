/* SPDX-License-Identifier: MIT */
/*
 * Tensor map: which live accesses does a tensor view overlap?
 *
 * Accesses ("entries") are kept per buffer, that is per range of memory.  The
 * range is [addr, addr + size) of the tensors seen; tensors whose ranges
 * overlap share one buffer object even if their addresses differ, so identity
 * is the byte range (decisions D25).  A buffer keeps reads and writes apart.
 * Up to TMAP_INLINE regions of a kind are an array of lists: accesses of one
 * dense region in a row share a list.  More regions form an index
 * (tmap_index.c) that is hashed by position, so that the cost of a lookup does
 * not grow with the number of entries elsewhere in the buffer.
 *
 *	b = tmap_buffer(m, t);
 *	for (e = tmap_first(&it, m, b, t, TMAP_WRITE); e; e = tmap_next(&it))
 *		... e->owner, it.kind; tmap_remove(m, e) is allowed here
 *	...
 *	e->tensor = t; e->owner = task; e->access = TMAP_WRITE;
 *	err = tmap_insert(m, b, e);
 *
 * Nothing here locks: all calls on one map are serialised by the caller.
 *
 * Spec: chip-runtime §10, decisions D1, D25.
 */
#ifndef CHIP_TMAP_H
#define CHIP_TMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pto_runtime_abi.h"

/* Kinds of access, also as a mask. */
#define TMAP_READ	1u
#define TMAP_WRITE	2u
#define TMAP_ANY	(TMAP_READ | TMAP_WRITE)

#define TMAP_INLINE	8	/* regions of a kind without an index */
#define TMAP_GEOM_DIMS	(PTO_MAX_DIMS + 1)
#define TMAP_GRID_DIMS	4

/* How a view overlaps an entry (chip-runtime §10.2). */
enum tmap_kind {
	TMAP_OTHER = 1,
	TMAP_COVERED = 2,	/* the view contains the entry, and is not of a newer version */
};

struct tmap_buffer;
struct tmap_index;

/**
 * struct tmap_entry - one live access; embedded in the caller's task record.
 * @tensor: the accessed view; set by the caller, lives as long as the entry is in the map
 * @owner:  the caller's task record; not interpreted
 * @access: TMAP_READ or TMAP_WRITE; set by the caller
 *
 * The address is stable while the entry is in the map.  Initialise with
 * tmap_entry_init() (or zero bytes).
 */
struct tmap_entry {
	const struct pto_tensor *tensor;
	void *owner;
	/* private */
	struct tmap_buffer *buffer;	/* NULL: not in the map */
	uint64_t lo, hi;		/* bytes from the first to past the last one touched */
	struct tmap_entry *next;	/* of the list */
	struct tmap_entry **link;	/* where the list points to this entry */
	uint32_t hash;			/* in an index */
	uint8_t access;
	uint8_t class;			/* in an index */
	uint8_t version;		/* TMAP_VERSION_FAR: look into the tensor */
	bool dense;			/* every byte of [lo, hi) is touched */
};
_Static_assert(sizeof(struct tmap_entry) == 64, "one cache line");

#define TMAP_VERSION_FAR 255

/* Private from here to the functions. */

/* A range of memory with live accesses; [0] reads, [1] writes. */
struct tmap_buffer {
	uint64_t lo, hi;		/* hi == 0: retired */
	struct tmap_index *index[2];	/* NULL: entry[] holds all of the kind */
	uint32_t count[2];
	uint64_t addr;			/* first base address under which it is found */
	struct tmap_buffer *queued;	/* next in the queue of perhaps unused buffers */
	uint8_t present;		/* TMAP_* kinds with entries */
	bool in_queue;
	uint8_t lists[2];		/* in use of entry[] */
	uint32_t alias_count;
	struct tmap_entry *entry[2][TMAP_INLINE];
	/* place in the set ordered by address (tmap_order.c) */
	struct tmap_buffer *up, *child[2];
	struct tmap_buffer *before, *after;
	uint32_t priority;
	struct tmap_alias *aliases;	/* further base addresses */
} __attribute__((aligned(64)));

struct tmap_slot {
	uint64_t addr;
	struct tmap_buffer *buffer;	/* NULL: free slot */
};

#define TMAP_SPARE_SIZES 32

struct tmap {
	struct tmap_slot *slots;	/* base address -> buffer, linear probing */
	uint32_t slot_shift;		/* 64 - log2 of the number of slots */
	uint32_t slot_count;		/* in use */
	uint32_t live;
	uint32_t limit;
	struct tmap_buffer *root, *first, *last, *finger;	/* tmap_order.c */
	struct tmap_buffer *queue_head, **queue_tail;
	uint32_t queue_length;
	uint32_t buffer_count;
	struct tmap_buffer *free_buffers;	/* linked by @queued */
	struct tmap_alias *free_aliases;
	struct tmap_slab *slabs;
	struct tmap_index *free_indexes;
	void **spare[TMAP_SPARE_SIZES];		/* zeroed bucket arrays by log2 of their size */
	uint32_t spare_count[TMAP_SPARE_SIZES];
};

/* A view as nested runs of bytes, smallest stride first; that is 1. */
struct tmap_geom {
	uint64_t lo, hi;
	uint32_t ndims;
	struct { uint64_t n, stride; } dim[TMAP_GEOM_DIMS];
};

/* Coordinates of a view in a grid, both ends included; the first may be negative. */
struct tmap_box {
	int64_t lo[TMAP_GRID_DIMS], hi[TMAP_GRID_DIMS];
};

/* Walk through an index (tmap_index.c). */
struct tmap_walk {
	struct tmap_entry *next;	/* rest of the current chain */
	uint64_t bits;			/* chains of the block that are left */
	uint32_t hash;			/* of the entries wanted from the chain */
	uint32_t block_hash;
	uint32_t group;			/* of buckets, of the block */
	uint8_t side;
	uint8_t class;			/* being visited */
	uint8_t grid;			/* of which @view is the position */
	uint8_t ndims;			/* of the grid; 0: no class begun */
	bool scan;			/* visits all groups */
	struct tmap_box view;
	struct tmap_box cells;		/* of the class */
	int64_t block[TMAP_GRID_DIMS];	/* of cells */
};

struct tmap_iter {
	enum tmap_kind kind;		/* of the entry returned last */
	/* private */
	uint32_t left;			/* lists not visited yet */
	struct tmap_entry *const *lists;
	struct tmap_entry *next;	/* rest of a list */
	uint64_t lo, hi;
	struct tmap_buffer *buffer;
	const struct pto_tensor *tensor;
	uint8_t todo;			/* TMAP_* kinds not begun */
	uint8_t mask;
	bool spread;			/* goes on in the following buffers */
	bool dense;
	bool walking;			/* @walk is active */
	bool has_geom;			/* @geom is valid */
	struct tmap_geom geom;
	struct tmap_walk walk;
};

/* Out-of-line parts of the functions below. */
struct tmap_buffer *tmap_buffer_slow(struct tmap *m, const struct pto_tensor *t);
int tmap_insert_slow(struct tmap *m, struct tmap_buffer *b, struct tmap_entry *e);
void tmap_remove_indexed(struct tmap *m, struct tmap_buffer *b, struct tmap_entry *e);
bool tmap_match_slow(struct tmap_iter *it, const struct tmap_entry *e);
void tmap_walk_begin(struct tmap_iter *it, uint8_t side);
struct tmap_entry *tmap_walk_next(struct tmap_iter *it);
struct tmap_entry *tmap_first_slow(struct tmap_iter *it, struct tmap *m);
bool tmap_next_buffer(struct tmap_iter *it);

#define tmap_likely(x)	 __builtin_expect(!!(x), 1)
#define tmap_unlikely(x) __builtin_expect(!!(x), 0)

/* log2 of the element bytes of each dtype, two bits each (chip-runtime §6.1). */
#define TMAP_SHIFT(dtype, log2) ((uint32_t)(log2) << (2 * (dtype)))
static inline uint32_t tmap_elem_shift(uint8_t dtype)
{
	const uint32_t table =
		TMAP_SHIFT(PTO_FLOAT32, 2) | TMAP_SHIFT(PTO_FLOAT16, 1) |
		TMAP_SHIFT(PTO_INT32, 2) | TMAP_SHIFT(PTO_INT16, 1) |
		TMAP_SHIFT(PTO_BFLOAT16, 1) | TMAP_SHIFT(PTO_INT64, 3) |
		TMAP_SHIFT(PTO_UINT64, 3) | TMAP_SHIFT(PTO_UINT16, 1) |
		TMAP_SHIFT(PTO_UINT32, 2);

	return table >> (2 * (dtype & 15)) & 3;
}

static inline uint64_t tmap_lo(const struct pto_tensor *t)
{
	return t->addr + (t->start_offset << tmap_elem_shift(t->dtype));
}

/* Equals tmap_lo() for a tensor without elements. */
static inline uint64_t tmap_hi(const struct pto_tensor *t)
{
	return t->addr + ((t->start_offset + t->extent_elem) << tmap_elem_shift(t->dtype));
}

static inline bool tmap_newer(const struct pto_tensor *t, const struct tmap_entry *e)
{
	if (tmap_likely(e->version != TMAP_VERSION_FAR))
		return t->version > e->version;
	return t->version > e->tensor->version;
}

/* Does the iterator's view overlap @e?  Sets its kind. */
static inline bool tmap_match(struct tmap_iter *it, const struct tmap_entry *e)
{
	bool contains = it->lo <= e->lo && e->hi <= it->hi;

	if (e->hi <= it->lo || it->hi <= e->lo)
		return false;
	if (!it->dense || !(e->dense || contains))
		return tmap_match_slow(it, e);
	it->kind = contains && !tmap_newer(it->tensor, e) ? TMAP_COVERED : TMAP_OTHER;
	return true;
}

/**
 * tmap_init() - make an empty map.
 * @entry_limit: entries that may be live at once; one more is refused with -ENOSPC
 *
 * Return: 0 or -ENOMEM.  The map may be kept between runs, see tmap_reset().
 */
int tmap_init(struct tmap *m, uint32_t entry_limit);

/**
 * tmap_reset() - forget every entry and buffer, keep the memory for the next run.
 *
 * The entries themselves are not touched: their memory may be gone already,
 * and those that are used again need tmap_entry_init().  Costs as much as
 * there are buffers left, not what the map once held.
 */
void tmap_reset(struct tmap *m);

/** tmap_fini() - free the memory; entries are forgotten as by tmap_reset(). */
void tmap_fini(struct tmap *m);

/** tmap_live() - entries in the map. */
static inline uint32_t tmap_live(const struct tmap *m)
{
	return m->live;
}

/**
 * tmap_buffer() - the buffer a tensor lies in, made if need be.
 * @t: addr != 0, lies within [addr, addr + size)
 *
 * The result is a hint that stays usable until tmap_reset(): tmap_first() and
 * tmap_insert() look the tensor up again if the buffer has been retired or
 * merged with an overlapping one since.
 *
 * Return: the buffer, NULL if memory ran out.
 */
static inline struct tmap_buffer *tmap_buffer(struct tmap *m, const struct pto_tensor *t)
{
	const struct tmap_slot *s =
		&m->slots[t->addr * 0x9E3779B97F4A7C15ull >> m->slot_shift];

	if (tmap_likely(s->addr == t->addr && s->buffer && t->addr + t->size == s->buffer->hi))
		return s->buffer;
	return tmap_buffer_slow(m, t);
}

/**
 * tmap_next() - the next overlapping entry, NULL at the end.
 *
 * The entry returned last may be removed before the call, no other one; nothing
 * may be inserted and no other buffer looked up while a walk goes on.  @it->kind
 * tells how the view overlaps the entry.
 */
static inline struct tmap_entry *tmap_next(struct tmap_iter *it)
{
	for (;;) {
		struct tmap_entry *e;
		uint8_t side;

		for (;;) {
			bool first = !it->next;

			if (first && !it->left)
				break;
			e = first ? it->lists[--it->left] : it->next;
			it->next = e->next;
			if (tmap_match(it, e))
				return e;
			/* one region a list: what the first does not overlap, none does */
			it->next = NULL;
		}
		if (tmap_unlikely(it->walking)) {
			e = tmap_walk_next(it);
			if (e)
				return e;
		}
		if (!it->todo) {
			if (tmap_likely(!it->spread) || !tmap_next_buffer(it))
				return NULL;
			continue;
		}
		side = it->todo >> 1;
		it->todo &= TMAP_READ & -side;
		if (tmap_unlikely(it->buffer->index[side])) {
			tmap_walk_begin(it, side);
		} else {
			it->lists = it->buffer->entry[side];
			it->left = it->buffer->lists[side];
		}
	}
}

/**
 * tmap_first() - begin to visit the live entries that overlap a view.
 * @b:    result of tmap_buffer() for @t
 * @t:    the view; a view without elements overlaps nothing; lives as long as the walk
 * @mask: TMAP_* kinds of entries wanted; writes come before reads, else in no order
 *
 * Overlap is decided exactly on bytes unless the two views have many different
 * strides (tmap_view.c); then an overlap may be reported where there is none.
 * A view of a newer version than the entry's never covers it.
 *
 * Return: the first entry, NULL if there is none.
 */
static inline struct tmap_entry *tmap_first(struct tmap_iter *it, struct tmap *m,
					    struct tmap_buffer *b, const struct pto_tensor *t,
					    uint32_t mask)
{
	it->lo = tmap_lo(t);
	it->hi = tmap_hi(t);
	if (tmap_unlikely(it->lo >= it->hi))
		return NULL;
	it->left = 0;
	it->next = NULL;
	it->buffer = b;
	it->tensor = t;
	it->todo = mask & b->present;
	it->mask = mask;
	it->dense = t->is_contiguous;
	it->spread = false;
	it->walking = false;
	it->has_geom = false;
	if (tmap_unlikely(it->lo < b->lo || it->hi > b->hi))
		return tmap_first_slow(it, m);
	return tmap_next(it);
}

/** tmap_entry_init() - an entry that is not in the map. */
static inline void tmap_entry_init(struct tmap_entry *e)
{
	e->buffer = NULL;
}

/* Links @e behind the pointer @link. */
static inline void tmap_link(struct tmap_entry **link, struct tmap_entry *e)
{
	e->next = *link;
	e->link = link;
	if (e->next)
		e->next->link = &e->next;
	*link = e;
}

/* Adds to the array of its kind; false if that has no room. */
static inline bool tmap_insert_inline(struct tmap_buffer *b, struct tmap_entry *e)
{
	uint32_t side = e->access >> 1, n = b->lists[side];
	struct tmap_entry *last;

	if (n) {
		last = b->entry[side][n - 1];
		if (last->lo == e->lo && last->hi == e->hi && last->dense & e->dense) {
			tmap_link(&last->next, e);
			return true;
		}
		if (n == TMAP_INLINE)
			return false;
	}
	e->next = NULL;
	e->link = &b->entry[side][n];
	b->entry[side][n] = e;
	b->lists[side] = n + 1;
	return true;
}

/**
 * tmap_insert() - add a live access.
 * @b: result of tmap_buffer() for e->tensor
 * @e: tensor, owner and access set; not in the map
 *
 * An access without elements is accepted and left out.
 *
 * Return: 0, -ENOSPC at the limit of tmap_init(), -ENOMEM.
 */
static inline int tmap_insert(struct tmap *m, struct tmap_buffer *b, struct tmap_entry *e)
{
	const struct pto_tensor *t = e->tensor;
	uint32_t side = e->access >> 1;

	e->lo = tmap_lo(t);
	e->hi = tmap_hi(t);
	e->dense = t->is_contiguous;
	e->version = (uint32_t)t->version < TMAP_VERSION_FAR ? t->version : TMAP_VERSION_FAR;
	if (tmap_unlikely(e->lo < b->lo || e->hi > b->hi || e->lo >= e->hi || b->index[side] ||
			  m->live >= m->limit || !tmap_insert_inline(b, e)))
		return tmap_insert_slow(m, b, e);
	e->buffer = b;
	b->count[side]++;
	b->present |= e->access;
	m->live++;
	return 0;
}

/* Takes @e out of a list of the array; the last list takes the place of an empty one. */
static inline void tmap_remove_inline(struct tmap_buffer *b, struct tmap_entry *e)
{
	struct tmap_entry **lists = b->entry[e->access >> 1], **last;

	*e->link = e->next;
	if (e->next) {
		e->next->link = e->link;
	} else if (e->link >= lists && e->link < lists + TMAP_INLINE) {
		last = &lists[--b->lists[e->access >> 1]];
		if (last != e->link) {
			*e->link = *last;
			(*last)->link = e->link;
		}
	}
}

/** tmap_remove() - take an entry out; does nothing if it is not in the map. */
static inline void tmap_remove(struct tmap *m, struct tmap_entry *e)
{
	struct tmap_buffer *b = e->buffer;
	uint32_t side = e->access >> 1;

	if (!b)
		return;
	e->buffer = NULL;
	m->live--;
	if (tmap_unlikely(b->index[side]))
		tmap_remove_indexed(m, b, e);
	else
		tmap_remove_inline(b, e);
	if (--b->count[side])
		return;
	b->present &= ~e->access;
	if (!b->present && !b->in_queue) {
		b->in_queue = true;
		b->queued = NULL;
		*m->queue_tail = b;
		m->queue_tail = &b->queued;
		m->queue_length++;
	}
}

#endif /* CHIP_TMAP_H */
