// SPDX-License-Identifier: MIT
/*
 * Tensor map: buffers and the ways to them (interface: tmap.h).
 *
 * A hash table leads from base addresses to buffers.  The buffers' ranges are
 * disjoint: where a new tensor's range overlaps existing buffers, those that
 * have entries are merged into one, which then has several base addresses, and
 * those without are retired.  So overlapping tensors of different base
 * addresses cost something only where they exist.
 *
 * Buffers that lose their last entry stay, because most of them are used again
 * at once; a queue remembers them, and making new buffers retires the oldest.
 * Buffer memory is never given back before tmap_fini(), so a stale pointer to a
 * buffer is still a pointer to some buffer, and its range tells whether it is
 * the right one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chip/tmap_priv.h"

#define SLOTS_LOG2_MIN	8
#define QUEUE_LIMIT	1024	/* buffers without entries that are kept, about */
#define ALIASES_MIN	64	/* base addresses a buffer may always have */

/* Memory of buffers and aliases. */
struct tmap_slab {
	struct tmap_slab *next;
	struct tmap_buffer buffers[31];
	struct tmap_alias aliases[62];
};

/* ---- base addresses ------------------------------------------------------- */

static uint32_t slot_mask(const struct tmap *m)
{
	return (uint32_t)((1ull << (64 - m->slot_shift)) - 1);
}

static uint32_t slot_home(const struct tmap *m, uint64_t addr)
{
	return addr * 0x9E3779B97F4A7C15ull >> m->slot_shift;
}

/* The slot of @addr, or the free one where it belongs. */
static struct tmap_slot *slot_of(const struct tmap *m, uint64_t addr)
{
	uint32_t i = slot_home(m, addr);

	while (m->slots[i].buffer && m->slots[i].addr != addr)
		i = (i + 1) & slot_mask(m);
	return &m->slots[i];
}

static void slot_put(struct tmap *m, uint64_t addr, struct tmap_buffer *b)
{
	struct tmap_slot *s = slot_of(m, addr);

	m->slot_count += !s->buffer;
	s->addr = addr;
	s->buffer = b;
}

/* Frees the slot of @addr and closes the gap in the probe sequence. */
static void slot_erase(struct tmap *m, uint64_t addr)
{
	uint32_t mask = slot_mask(m);
	uint32_t gap = slot_of(m, addr) - m->slots, i = gap;

	for (;;) {
		uint32_t home;

		i = (i + 1) & mask;
		if (!m->slots[i].buffer)
			break;
		home = slot_home(m, m->slots[i].addr);
		if (((i - home) & mask) < ((i - gap) & mask))
			continue;	/* must not move before its home */
		m->slots[gap] = m->slots[i];
		gap = i;
	}
	m->slots[gap].buffer = NULL;
	m->slot_count--;
}

/* Makes sure that one more address fits. */
static int slots_reserve(struct tmap *m)
{
	uint32_t old_mask = slot_mask(m), i;
	struct tmap_slot *old = m->slots;

	if (m->slot_count * 4 <= old_mask)
		return 0;
	m->slots = calloc(2 * ((size_t)old_mask + 1), sizeof(*m->slots));
	if (!m->slots) {
		m->slots = old;
		return -ENOMEM;
	}
	m->slot_shift--;
	m->slot_count = 0;
	for (i = 0; i <= old_mask; i++)
		if (old[i].buffer)
			slot_put(m, old[i].addr, old[i].buffer);
	free(old);
	return 0;
}

/* ---- memory --------------------------------------------------------------- */

static void free_buffer(struct tmap *m, struct tmap_buffer *b)
{
	b->queued = m->free_buffers;
	m->free_buffers = b;
}

static void free_alias(struct tmap *m, struct tmap_alias *a)
{
	a->next = m->free_aliases;
	m->free_aliases = a;
}

/* Makes sure that a buffer and an alias can be taken. */
static int objects_reserve(struct tmap *m)
{
	struct tmap_slab *s;
	size_t i;

	if (m->free_buffers && m->free_aliases)
		return 0;
	s = aligned_alloc(64, (sizeof(*s) + 63) & ~(size_t)63);
	if (!s)
		return -ENOMEM;
	memset(s, 0, sizeof(*s));
	s->next = m->slabs;
	m->slabs = s;
	for (i = sizeof(s->buffers) / sizeof(s->buffers[0]); i--;)
		free_buffer(m, &s->buffers[i]);
	for (i = sizeof(s->aliases) / sizeof(s->aliases[0]); i--;)
		free_alias(m, &s->aliases[i]);
	return 0;
}

int tmap_init(struct tmap *m, uint32_t entry_limit)
{
	memset(m, 0, sizeof(*m));
	m->limit = entry_limit;
	m->slot_shift = 64 - SLOTS_LOG2_MIN;
	m->queue_tail = &m->queue_head;
	m->slots = calloc(1u << SLOTS_LOG2_MIN, sizeof(*m->slots));
	return m->slots ? 0 : -ENOMEM;
}

void tmap_fini(struct tmap *m)
{
	struct tmap_slab *s;

	if (!m->slots)
		return;
	tmap_reset(m);
	tmap_index_free_spares(m);
	while ((s = m->slabs)) {
		m->slabs = s->next;
		free(s);
	}
	free(m->slots);
	m->slots = NULL;
}

/* ---- buffers -------------------------------------------------------------- */

static void drop_aliases(struct tmap *m, struct tmap_buffer *b)
{
	struct tmap_alias *a;

	while ((a = b->aliases)) {
		b->aliases = a->next;
		slot_erase(m, a->addr);
		free_alias(m, a);
	}
	b->alias_count = 0;
}

/* Takes a buffer without entries out of the map. */
static void retire(struct tmap *m, struct tmap_buffer *b)
{
	drop_aliases(m, b);
	slot_erase(m, b->addr);
	tmap_order_erase(m, b);
	m->buffer_count--;
	b->lo = UINT64_MAX;
	b->hi = 0;
	if (!b->in_queue)
		free_buffer(m, b);
}

/* Looks at the oldest of the buffers that once lost their last entry. */
static void trim_queue(struct tmap *m)
{
	struct tmap_buffer *b = m->queue_head;

	m->queue_head = b->queued;
	if (!m->queue_head)
		m->queue_tail = &m->queue_head;
	m->queue_length--;
	b->in_queue = false;
	if (!b->hi)
		free_buffer(m, b);
	else if (!b->present)
		retire(m, b);
}

/* Gives @b one more base address; needs slots_reserve() and objects_reserve(). */
static void add_address(struct tmap *m, struct tmap_buffer *b, uint64_t addr)
{
	struct tmap_alias *a = m->free_aliases;

	m->free_aliases = a->next;
	a->addr = addr;
	a->next = b->aliases;
	b->aliases = a;
	b->alias_count++;
	slot_put(m, addr, b);
}

static struct tmap_buffer *create(struct tmap *m, uint64_t addr, uint64_t hi,
				  struct tmap_buffer *after)
{
	struct tmap_buffer *b = m->free_buffers;

	m->free_buffers = b->queued;
	b->lo = addr;
	b->hi = hi;
	b->addr = addr;
	slot_put(m, addr, b);
	tmap_order_insert(m, b, after);
	m->buffer_count++;
	return b;
}

/* Prepares @b for @n more regions of a kind. */
static int make_room(struct tmap *m, struct tmap_buffer *b, uint32_t side, uint32_t n)
{
	if (b->index[side] || b->lists[side] + n <= TMAP_INLINE)
		return 0;
	return tmap_index_create(m, b, side);
}

/* Adds an entry for which there is room. */
static void add_entry(struct tmap *m, struct tmap_buffer *b, struct tmap_entry *e)
{
	uint32_t side = e->access >> 1;

	e->buffer = b;
	b->count[side]++;
	b->present |= e->access;
	if (b->index[side])
		tmap_index_add(m, b, e);
	else
		tmap_insert_inline(b, e);
}

/* Needs an index at @to if @from has one, else room for the lists of @from. */
static void move_entries(struct tmap *m, struct tmap_buffer *to, struct tmap_buffer *from,
			 uint32_t side)
{
	struct tmap_entry *e, *next;
	uint32_t i;

	if (from->index[side])
		tmap_index_move(m, to, from, side);
	for (i = 0; i < from->lists[side]; i++) {
		for (e = from->entry[side][i]; e; e = next) {
			next = e->next;
			add_entry(m, to, e);
		}
	}
	from->lists[side] = 0;
	from->count[side] = 0;
}

static int make_room_for(struct tmap *m, struct tmap_buffer *to, struct tmap_buffer *from,
			 uint32_t side)
{
	return make_room(m, to, side, from->index[side] ? TMAP_INLINE + 1 : from->lists[side]);
}

/* Moves everything from one buffer to another and retires the first. */
static int merge(struct tmap *m, struct tmap_buffer *to, struct tmap_buffer *from)
{
	struct tmap_alias *a;
	uint64_t addr = from->addr;

	if (make_room_for(m, to, from, 0) || make_room_for(m, to, from, 1) || objects_reserve(m))
		return -ENOMEM;
	move_entries(m, to, from, 0);
	move_entries(m, to, from, 1);
	from->present = 0;
	to->lo = to->lo < from->lo ? to->lo : from->lo;
	to->hi = to->hi > from->hi ? to->hi : from->hi;
	while ((a = from->aliases)) {
		from->aliases = a->next;
		a->next = to->aliases;
		to->aliases = a;
		to->alias_count++;
		slot_put(m, a->addr, to);
	}
	from->alias_count = 0;
	retire(m, from);
	add_address(m, to, addr);
	return 0;
}

static uint32_t entries_of(const struct tmap_buffer *b)
{
	return b->count[0] + b->count[1];
}

/*
 * Makes one buffer of all that overlap [lo, hi) and have entries, and retires
 * those without.  *@result is NULL if none is left.
 */
static int gather(struct tmap *m, uint64_t lo, uint64_t hi, struct tmap_buffer **result)
{
	struct tmap_buffer *b, *after, *keep = NULL;

	for (b = tmap_order_find(m, lo); b && b->lo < hi; b = after) {
		struct tmap_buffer *less = b;

		after = b->after;
		if (!b->present) {
			retire(m, b);
			continue;
		}
		if (!keep) {
			keep = b;
			continue;
		}
		if (entries_of(b) > entries_of(keep)) {
			less = keep;
			keep = b;
		}
		if (merge(m, keep, less))
			return -ENOMEM;
	}
	*result = keep;
	return 0;
}

struct tmap_buffer *tmap_buffer_slow(struct tmap *m, const struct pto_tensor *t)
{
	uint64_t lo = t->addr, hi = t->addr + t->size, end = tmap_hi(t);
	struct tmap_buffer *b = slot_of(m, lo)->buffer;

	hi = hi > end ? hi : end;
	hi = hi > lo ? hi : lo + 1;
	if (b && hi <= b->hi && (b->present || hi == b->hi))
		return b;
	if (slots_reserve(m) || gather(m, lo, hi, &b) || objects_reserve(m))
		return NULL;
	if (!b) {
		while (m->queue_length > QUEUE_LIMIT)
			trim_queue(m);
		return create(m, lo, hi, tmap_order_find(m, lo));
	}
	b->lo = b->lo < lo ? b->lo : lo;
	b->hi = b->hi > hi ? b->hi : hi;
	if (!slot_of(m, lo)->buffer) {
		if (b->alias_count > ALIASES_MIN + entries_of(b))
			drop_aliases(m, b);
		add_address(m, b, lo);
	}
	return b;
}

int tmap_insert_slow(struct tmap *m, struct tmap_buffer *b, struct tmap_entry *e)
{
	if (e->lo >= e->hi) {
		e->buffer = NULL;
		return 0;
	}
	if (m->live >= m->limit)
		return -ENOSPC;
	if (e->lo < b->lo || e->hi > b->hi)
		b = tmap_buffer_slow(m, e->tensor);
	if (!b || make_room(m, b, e->access >> 1, 1))
		return -ENOMEM;
	add_entry(m, b, e);
	m->live++;
	return 0;
}

/*
 * A view whose buffer was retired or merged after it had been looked up: visits
 * all buffers in its range.
 */
struct tmap_entry *tmap_first_slow(struct tmap_iter *it, struct tmap *m)
{
	it->buffer = tmap_order_find(m, it->lo);
	if (!it->buffer || it->buffer->lo >= it->hi)
		return NULL;
	it->todo = it->mask & it->buffer->present;
	it->spread = true;
	return tmap_next(it);
}

bool tmap_next_buffer(struct tmap_iter *it)
{
	struct tmap_buffer *b = it->buffer->after;

	if (!b || b->lo >= it->hi)
		return false;
	it->buffer = b;
	it->todo = it->mask & b->present;
	return true;
}

/* ---- reset ---------------------------------------------------------------- */

static void forget_entries(struct tmap *m, struct tmap_buffer *b)
{
	int side;

	for (side = 0; side < 2; side++) {
		if (b->index[side])
			tmap_index_drop(m, b, side);
		b->count[side] = 0;
		b->lists[side] = 0;
	}
	b->present = 0;
}

void tmap_reset(struct tmap *m)
{
	struct tmap_buffer *b;

	for (b = m->first; b; b = b->after)
		forget_entries(m, b);
	while (m->queue_head)
		trim_queue(m);
	while (m->first)
		retire(m, m->first);
	m->live = 0;
}
