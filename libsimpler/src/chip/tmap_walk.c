// SPDX-License-Identifier: MIT
/* Walk through a tensor map index; see tmap_index.h. */
#include "chip/tmap_index.h"

#define NO_GRID		0xff

void tmap_walk_begin(struct tmap_iter *it, uint8_t side)
{
	struct tmap_walk *w = &it->walk;

	if (!it->has_geom) {
		tmap_geom_init(&it->geom, it->tensor);
		it->has_geom = true;
	}
	it->walking = true;
	w->next = NULL;
	w->bits = 0;
	w->side = side;
	w->class = UINT8_MAX;	/* the next is CATCH_ALL */
	w->grid = NO_GRID;
	w->ndims = 0;
	w->scan = false;
}

/* Finds the cells of a class to visit; false if there are none. */
static bool enter_class(struct tmap_iter *it, const struct tmap_index *ix, uint32_t id)
{
	const struct class *c = &ix->classes[id];
	struct tmap_walk *w = &it->walk;
	uint64_t volume = 1;
	uint32_t i;

	if (!c->count)
		return false;
	if (w->grid != c->grid) {
		w->grid = c->grid;
		w->ndims = ix->grids[c->grid].ndims;
		tmap_grid_box(&ix->grids[c->grid], &it->geom, &w->view);
	}
	for (i = 0; i < w->ndims; i++) {
		int64_t lo = floor_div(w->view.lo[i], c->cell.size[i], c->cell.log2[i]);
		int64_t hi = floor_div(w->view.hi[i], c->cell.size[i], c->cell.log2[i]);

		lo = max_of(lo - c->crosses[i], c->min[i]);
		hi = min_of(hi, c->max[i]);
		if (lo > hi)
			return false;
		w->cells.lo[i] = lo;
		w->cells.hi[i] = hi;
		w->block[i] = lo >> c->bits[i];
		volume *= (hi >> c->bits[i]) - w->block[i] + 1;	/* at most the bytes there are */
	}
	w->scan = volume > ix->count + (1ull << ix->log2);
	return true;
}

/* The cells of the block that are wanted, as bits. */
static uint64_t wanted(const struct tmap_walk *w, const struct class *c)
{
	/* a bit every 2^i bits */
	static const uint64_t every[6] = {
		UINT64_MAX, 0x5555555555555555, 0x1111111111111111,
		0x0101010101010101, 0x0001000100010001, 0x0000000100000001,
	};
	uint64_t mask = UINT64_MAX;
	uint32_t i = w->ndims, below = 0;	/* bits of the dimensions after i */

	while (i--) {
		uint32_t bits = c->bits[i];
		int64_t first = w->block[i] * (1 << bits), last = first + (1 << bits) - 1;
		uint32_t lo = (max_of(w->cells.lo[i], first) - first) << below;
		uint32_t n = (min_of(w->cells.hi[i], last) - first + 1) << below;

		if (n - lo < 1u << (below + bits)) {
			uint64_t ones = ((1ull << (n - lo)) - 1) << lo;

			/* the same for each coordinate of the larger dimensions */
			mask &= below + bits < 6 ? ones * every[below + bits] : ones;
		}
		below += bits;
	}
	return mask;
}

static void enter_block(struct tmap_walk *w, const struct tmap_index *ix)
{
	const struct class *c = &ix->classes[w->class];
	uint64_t bits;
	uint32_t rotation;

	w->block_hash = hash_block(c, w->ndims, w->block);
	w->group = group_of(ix, w->block_hash);
	w->bits = wanted(w, c);
	if (!(w->bits & (w->bits - 1)))
		return;		/* one cell: its bucket tells as much as the filter */
	bits = *filter_of(ix, w->block_hash);
	rotation = rotation_of(w->block_hash);
	w->bits &= bits >> rotation | bits << (-rotation & 63);
}

/* Steps to the next block of the class; false at the end. */
static bool next_block(struct tmap_walk *w, const struct class *c)
{
	uint32_t i = w->ndims;

	while (i--) {
		if (w->block[i] < w->cells.hi[i] >> c->bits[i]) {
			w->block[i]++;
			return true;
		}
		w->block[i] = w->cells.lo[i] >> c->bits[i];
	}
	return false;
}

/* Goes to the next group of buckets with any in use; a scan takes all classes that are left. */
static bool next_group(struct tmap_walk *w, const struct tmap_index *ix)
{
	while (++w->group < 1u << ix->log2) {
		uint32_t i;

		for (i = 0; i < 1u << FILTER_LOG2; i++)
			w->bits |= ix->groups[w->group].filter[i];
		if (w->bits)
			return true;
	}
	return false;
}

/* Finds further chains; false if there are none. */
static bool next_chains(struct tmap_iter *it, const struct tmap_index *ix)
{
	struct tmap_walk *w = &it->walk;

	while (!w->bits) {
		if (w->scan)
			return next_group(w, ix);
		if (!w->ndims || !next_block(w, &ix->classes[w->class])) {
			do {
				if (++w->class >= ix->class_count)
					return false;
			} while (!enter_class(it, ix, w->class));
			if (w->scan) {
				w->group = UINT32_MAX;	/* before the first */
				w->block_hash = 0;
				continue;
			}
		}
		enter_block(w, ix);
	}
	return true;
}

struct tmap_entry *tmap_walk_next(struct tmap_iter *it)
{
	const struct tmap_index *ix = it->buffer->index[it->walk.side];
	struct tmap_walk *w = &it->walk;
	struct tmap_entry *e;

	it->walking = false;
	if (!ix)
		return NULL;	/* the last entry has been removed */
	for (;;) {
		while ((e = w->next)) {
			w->next = e->next;
			if (w->scan ? e->class < w->class
				    : e->hash != w->hash || e->class != w->class)
				continue;
			if (!tmap_match(it, e))
				continue;
			it->walking = true;
			return e;
		}
		if (!w->bits && !next_chains(it, ix))
			return NULL;
		w->hash = w->block_hash | __builtin_ctzll(w->bits);
		w->next = ix->groups[w->group].bucket[w->scan ? w->hash & 63
							      : bucket_of(w->hash)];
		w->bits &= w->bits - 1;
	}
}
