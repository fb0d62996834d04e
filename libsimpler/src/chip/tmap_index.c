// SPDX-License-Identifier: MIT
/*
 * Index of the entries of one kind in one buffer.
 *
 * A grid turns byte positions into coordinates: dividing by its strides from
 * the largest down, as a row-major matrix does.  In the grid of its own strides
 * a tile of a matrix is a box, and so is every tile of the same matrix.  Grid 0
 * has the single stride 1; others are made from the strides of the views that
 * come, up to MAX_GRIDS, and a view goes to a grid in which its box is tight.
 *
 * Entries whose boxes are of similar size, up to a power of two per dimension,
 * form a class.  Its cells have that power of two as their size, so an entry
 * reaches into at most one further cell per dimension and is stored once, under
 * the cell of its first corner, in a hash table of all classes.  A lookup goes
 * through the cells of each class that can hold overlapping boxes; classes know
 * the extreme cells ever used and whether any entry crosses a border.
 *
 * Where that would be more cells than there are entries, all entries are
 * scanned instead.  Everything found is tested exactly, so boxes only have to
 * be large enough.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chip/tmap_priv.h"

#define MAX_GRIDS	4
#define MAX_CLASSES	32
#define FIRST_CLASSES	4
#define BUCKETS_LOG2	5	/* of a new index */
#define BUCKETS_LOG2_MAX 28
#define NO_GRID		0xff
#define CATCH_ALL	0	/* class of what fits into no other; level 63 */

struct grid {
	uint32_t ndims;
	uint8_t log2[TMAP_GRID_DIMS];		/* of the stride; 64 if not a power of two */
	uint64_t stride[TMAP_GRID_DIMS];	/* bytes; the last is 1 */
	uint64_t top[TMAP_GRID_DIMS];		/* largest coordinate, but of the first dimension */
	uint64_t bias;				/* added to addresses: the first buffer starts a cell */
};

struct class {
	uint64_t key;				/* grid and levels, a byte each */
	uint32_t count;
	uint8_t crosses[TMAP_GRID_DIMS];	/* entries reach into the next cell */
	uint64_t min[TMAP_GRID_DIMS];		/* cells used so far */
	uint64_t max[TMAP_GRID_DIMS];
};

struct tmap_index {
	struct tmap_entry **buckets;
	uint32_t log2;				/* of the number of buckets */
	uint32_t used;				/* buckets that are not empty */
	uint32_t count;
	uint8_t grid_count;
	uint8_t class_count;
	uint8_t class_capacity;
	struct class *classes;
	struct tmap_index *next_free;
	struct grid grids[MAX_GRIDS];
};

/* ---- memory --------------------------------------------------------------- */

static struct tmap_entry **take_buckets(struct tmap *m, uint32_t log2)
{
	void **spare = m->spare[log2];

	if (!spare)
		return calloc(1u << log2, sizeof(struct tmap_entry *));
	m->spare[log2] = *spare;
	m->spare_count[log2]--;
	*spare = NULL;
	return (struct tmap_entry **)spare;
}

/* Takes back an array of empty buckets; few of the large ones are kept. */
static void give_buckets(struct tmap *m, struct tmap_entry **buckets, uint32_t log2)
{
	void **spare = (void **)buckets;

	if (m->spare_count[log2] && m->spare_count[log2] >= 0x10000u >> log2) {
		free(buckets);
		return;
	}
	*spare = m->spare[log2];
	m->spare[log2] = spare;
	m->spare_count[log2]++;
}

static struct tmap_index *alloc_index(void)
{
	struct tmap_index *ix = malloc(sizeof(*ix));

	if (!ix)
		return NULL;
	ix->class_capacity = FIRST_CLASSES;
	ix->classes = malloc(FIRST_CLASSES * sizeof(*ix->classes));
	if (!ix->classes) {
		free(ix);
		return NULL;
	}
	return ix;
}

static void give_index(struct tmap *m, struct tmap_index *ix)
{
	give_buckets(m, ix->buckets, ix->log2);
	ix->next_free = m->free_indexes;
	m->free_indexes = ix;
}

void tmap_index_free_spares(struct tmap *m)
{
	struct tmap_index *ix;
	uint32_t i;

	while ((ix = m->free_indexes)) {
		m->free_indexes = ix->next_free;
		free(ix->classes);
		free(ix);
	}
	for (i = 0; i < TMAP_SPARE_SIZES; i++) {
		while (m->spare[i])
			free(take_buckets(m, i));
	}
}

/* ---- grids ---------------------------------------------------------------- */

static uint32_t ceil_log2(uint64_t n_minus_1)
{
	return n_minus_1 ? 64 - __builtin_clzll(n_minus_1) : 0;
}

/* Makes a grid of the strides of @g; the first row begins at @addr. */
static void grid_init(struct grid *grid, const struct tmap_geom *g, uint64_t addr)
{
	uint32_t i, n = g->ndims < TMAP_GRID_DIMS ? g->ndims : TMAP_GRID_DIMS;
	uint64_t period;

	grid->ndims = n;
	for (i = 0; i < n; i++) {
		uint64_t s = i + 1 < n ? g->dim[i].stride : 1;

		grid->stride[i] = s;
		grid->log2[i] = s & (s - 1) ? 64 : ceil_log2(s - 1);
		grid->top[i] = i ? (grid->stride[i - 1] - 1) / s : 0;
	}
	/* aligned to cells of up to 2^16 rows, or as far as numbers go */
	period = n == 1 ? 1ull << 40 : grid->stride[0];
	if (n > 1 && period < 1ull << 40)
		period <<= 16;
	grid->bias = addr % period ? period - addr % period : 0;
}

static void grid_split(const struct grid *grid, uint64_t addr, uint64_t *at)
{
	uint64_t rest = addr + grid->bias;
	uint32_t i;

	for (i = 0; i + 1 < grid->ndims; i++) {
		at[i] = grid->log2[i] < 64 ? rest >> grid->log2[i] : rest / grid->stride[i];
		rest -= at[i] * grid->stride[i];
	}
	at[i] = rest;
}

/* Box of a range of bytes; returns whether it holds nothing but the range. */
static bool box_of_range(const struct grid *grid, const struct tmap_geom *g, struct tmap_box *box)
{
	bool tight = true;
	uint32_t i = 0;

	grid_split(grid, g->lo, box->lo);
	grid_split(grid, g->hi - 1, box->hi);
	while (i < grid->ndims && box->lo[i] == box->hi[i])
		i++;
	for (i++; i < grid->ndims; i++) {
		tight &= box->lo[i] == 0 && box->hi[i] == grid->top[i];
		box->lo[i] = 0;
		box->hi[i] = grid->top[i];
	}
	return tight;
}

/*
 * Adds the runs of @g to the dimensions of the grid they follow.  Returns
 * whether the box will be nearly as small as the view.
 */
static bool add_runs(const struct grid *grid, const struct tmap_geom *g, uint64_t *at)
{
	uint64_t run = g->dim[g->ndims - 1].n;
	uint32_t i, d, taken = 0;
	bool tight = true;

	for (i = 0; i < g->ndims; i++) {
		uint64_t s = g->dim[i].stride, steps = 1, gap;

		for (d = 0; grid->stride[d] != s; d++) {
			if (grid->stride[d] < s && s % grid->stride[d] == 0) {
				steps = s / grid->stride[d];
				break;
			}
		}
		gap = d + 1 < grid->ndims ? steps : s / run;
		if (i + 1 < g->ndims && (gap > 4 || taken & 1u << d))
			tight = false;
		taken |= 1u << d;
		at[d] += (g->dim[i].n - 1) * steps;
	}
	return tight;
}

/* Do coordinates stay below the next larger stride, so that they are those of the last byte? */
static bool no_carry(const struct grid *grid, const uint64_t *at)
{
	uint64_t tail = 0;
	uint32_t i;

	for (i = grid->ndims - 1; i; i--) {
		tail += at[i] * grid->stride[i];
		if (tail >= grid->stride[i - 1])
			return false;
	}
	return true;
}

/* Box that holds all of a view; returns whether it is about as small as the view. */
static bool box_of_view(const struct grid *grid, const struct tmap_geom *g, struct tmap_box *box)
{
	bool tight;

	if (g->ndims > 1 && grid->ndims > 1) {
		grid_split(grid, g->lo, box->lo);
		memcpy(box->hi, box->lo, sizeof(box->hi));
		tight = add_runs(grid, g, box->hi);
		if (no_carry(grid, box->hi))
			return tight;
	}
	return box_of_range(grid, g, box) && g->ndims == 1;
}

/* ---- classes -------------------------------------------------------------- */

static uint32_t key_level(uint64_t key, uint32_t dim)
{
	return key >> (8 * dim + 8) & 0xff;
}

static uint64_t class_key(const struct grid *grid, uint32_t grid_id, const struct tmap_box *box)
{
	uint64_t key = grid_id;
	uint32_t i;

	for (i = 0; i < grid->ndims; i++)
		key |= (uint64_t)ceil_log2(box->hi[i] - box->lo[i]) << (8 * i + 8);
	return key;
}

/* Can entries of class key @key be stored in a class of key @wide? */
static bool key_includes(uint64_t wide, uint64_t key)
{
	uint32_t i;

	if ((wide ^ key) & 0xff)
		return false;
	for (i = 0; i < TMAP_GRID_DIMS; i++)
		if (key_level(wide, i) < key_level(key, i))
			return false;
	return true;
}

static void class_init(struct class *c, uint64_t key)
{
	memset(c, 0, sizeof(*c));
	memset(c->min, 0xff, sizeof(c->min));
	c->key = key;
}

/* A class for @key when there is none of exactly that key. */
static uint32_t add_class(struct tmap_index *ix, uint64_t key)
{
	uint32_t i;

	for (i = 1; i < ix->class_count; i++)
		if (!ix->classes[i].count)
			break;
	if (i == ix->class_capacity && i < MAX_CLASSES) {
		struct class *more = realloc(ix->classes, 2 * i * sizeof(*more));

		if (more) {
			ix->classes = more;
			ix->class_capacity = 2 * i;
		}
	}
	if (i < ix->class_capacity) {
		if (i == ix->class_count)
			ix->class_count++;
		class_init(&ix->classes[i], key);
		return i;
	}
	while (--i && !key_includes(ix->classes[i].key, key))
		;
	return i;	/* CATCH_ALL if none includes it */
}

static uint32_t find_class(struct tmap_index *ix, uint64_t key)
{
	uint32_t i;

	for (i = 1; i < ix->class_count; i++) {
		if (ix->classes[i].key != key)
			continue;
		if (!ix->classes[i].count)
			class_init(&ix->classes[i], key);
		return i;
	}
	return add_class(ix, key);
}

static uint32_t hash_cell(uint64_t key, const uint64_t *cell, uint32_t ndims)
{
	uint64_t h = key * 0xBF58476D1CE4E5B9ull;
	uint32_t i;

	for (i = 0; i < ndims; i++) {
		h = (h ^ cell[i]) * 0x9E3779B97F4A7C15ull;
		h ^= h >> 32;
	}
	return h;
}

/* Registers a box with a class; returns the hash of its cell. */
static uint32_t class_add(struct class *c, const struct grid *grid, const struct tmap_box *box)
{
	uint64_t cell[TMAP_GRID_DIMS];
	uint32_t i;

	for (i = 0; i < grid->ndims; i++) {
		uint32_t level = key_level(c->key, i);

		cell[i] = box->lo[i] >> level;
		c->crosses[i] |= cell[i] != box->hi[i] >> level;
		c->min[i] = cell[i] < c->min[i] ? cell[i] : c->min[i];
		c->max[i] = cell[i] > c->max[i] ? cell[i] : c->max[i];
	}
	c->count++;
	return hash_cell(c->key, cell, grid->ndims);
}

/* ---- table ---------------------------------------------------------------- */

static void link_entry(struct tmap_index *ix, struct tmap_entry *e)
{
	struct tmap_entry **head = &ix->buckets[e->hash & ((1u << ix->log2) - 1)];

	ix->used += !*head;
	e->next = *head;
	if (e->next)
		e->next->link = &e->next;
	e->link = head;
	*head = e;
}

static void unlink_entry(struct tmap_index *ix, struct tmap_entry *e)
{
	uintptr_t offset = (uintptr_t)e->link - (uintptr_t)ix->buckets;

	*e->link = e->next;
	if (e->next)
		e->next->link = e->link;
	else if (offset < sizeof(*ix->buckets) << ix->log2)
		ix->used--;
}

static void resize(struct tmap *m, struct tmap_index *ix, uint32_t log2)
{
	struct tmap_entry **old = ix->buckets, **buckets, *e, *next;
	uint32_t i, old_log2 = ix->log2;

	buckets = take_buckets(m, log2);
	if (!buckets)
		return;		/* longer chains will do */
	ix->buckets = buckets;
	ix->log2 = log2;
	ix->used = 0;
	for (i = 0; i < 1u << old_log2; i++) {
		for (e = old[i]; e; e = next) {
			next = e->next;
			link_entry(ix, e);
		}
		old[i] = NULL;
	}
	give_buckets(m, old, old_log2);
}

static void fit_table(struct tmap *m, struct tmap_index *ix)
{
	uint32_t size = 1u << ix->log2;

	if (ix->used > size - size / 4 && ix->log2 < BUCKETS_LOG2_MAX)
		resize(m, ix, ix->log2 + 2);
	else if (ix->used < size / 16 && ix->log2 > BUCKETS_LOG2)
		resize(m, ix, ix->log2 - 2);
}

/* Takes the entries of grid 0 out of the table; returns them as a list. */
static struct tmap_entry *take_grid_0(struct tmap_index *ix)
{
	struct tmap_entry *list = NULL, *e, *next;
	uint32_t i;

	for (i = 0; i < 1u << ix->log2; i++) {
		for (e = ix->buckets[i]; e; e = next) {
			next = e->next;
			if (ix->classes[e->slot].key & 0xff)
				continue;
			unlink_entry(ix, e);
			ix->classes[e->slot].count--;
			ix->count--;
			e->next = list;
			list = e;
		}
	}
	return list;
}

/* A grid in which the box of @g is tight, or grid 0. */
static uint32_t find_grid(const struct tmap_index *ix, const struct tmap_geom *g,
			  struct tmap_box *box)
{
	uint32_t i;

	for (i = 1; i < ix->grid_count; i++)
		if (box_of_view(&ix->grids[i], g, box))
			return i;
	box_of_view(&ix->grids[0], g, box);
	return 0;
}

static void place(struct tmap *m, struct tmap_index *ix, struct tmap_entry *e)
{
	struct tmap_geom g;
	struct tmap_box box;
	struct class *c;
	uint32_t grid;

	tmap_geom_init(&g, e->tensor);
	grid = find_grid(ix, &g, &box);
	e->slot = find_class(ix, class_key(&ix->grids[grid], grid, &box));
	c = &ix->classes[e->slot];
	if (e->slot == CATCH_ALL && grid)
		box_of_view(&ix->grids[0], &g, &box);
	e->hash = class_add(c, &ix->grids[c->key & 0xff], &box);
	link_entry(ix, e);
	ix->count++;
	fit_table(m, ix);
}

/* Makes a grid for the strides of @g if there is none; moves to it what suits it better. */
static void offer_grid(struct tmap *m, struct tmap_index *ix, const struct tmap_geom *g,
		       uint64_t addr)
{
	struct tmap_entry *e, *next;
	struct tmap_box box;

	if (g->ndims == 1 || ix->grid_count == MAX_GRIDS || find_grid(ix, g, &box))
		return;
	grid_init(&ix->grids[ix->grid_count], g, addr);
	if (!box_of_view(&ix->grids[ix->grid_count], g, &box))
		return;
	ix->grid_count++;
	for (e = take_grid_0(ix); e; e = next) {
		next = e->next;
		place(m, ix, e);
	}
}

/* ---- interface ------------------------------------------------------------ */

int tmap_index_create(struct tmap *m, struct tmap_buffer *b, uint32_t side)
{
	static const struct tmap_geom bytes = { .ndims = 1, .dim[0] = { 1, 1 } };
	struct tmap_index *ix = m->free_indexes;
	uint32_t i;

	if (ix)
		m->free_indexes = ix->next_free;
	else if (!(ix = alloc_index()))
		return -ENOMEM;
	ix->log2 = BUCKETS_LOG2;
	ix->buckets = take_buckets(m, ix->log2);
	if (!ix->buckets) {
		ix->next_free = m->free_indexes;
		m->free_indexes = ix;
		return -ENOMEM;
	}
	ix->used = 0;
	ix->count = 0;
	ix->grid_count = 1;
	ix->class_count = 1;
	grid_init(&ix->grids[0], &bytes, b->addr);
	class_init(&ix->classes[CATCH_ALL], 63 << 8);
	b->index[side] = ix;
	for (i = 0; i < b->count[side]; i++)
		tmap_index_add(m, b, b->entry[side][i]);
	return 0;
}

void tmap_index_add(struct tmap *m, struct tmap_buffer *b, struct tmap_entry *e)
{
	struct tmap_index *ix = b->index[e->access >> 1];
	struct tmap_geom g;

	if (!e->dense) {
		tmap_geom_init(&g, e->tensor);
		offer_grid(m, ix, &g, e->tensor->addr);
	}
	place(m, ix, e);
}

void tmap_remove_indexed(struct tmap *m, struct tmap_entry *e)
{
	struct tmap_buffer *b = e->buffer;
	uint32_t side = e->access >> 1;
	struct tmap_index *ix = b->index[side];

	e->buffer = NULL;
	unlink_entry(ix, e);
	ix->classes[e->slot].count--;
	if (--ix->count)
		return;
	b->index[side] = NULL;
	give_index(m, ix);
}

void tmap_index_move(struct tmap *m, struct tmap_buffer *to, struct tmap_buffer *from,
		     uint32_t side)
{
	struct tmap_index *ix = from->index[side];
	struct tmap_entry *e;
	uint32_t i;

	for (i = 0; i < 1u << ix->log2; i++) {
		while ((e = ix->buckets[i])) {
			ix->buckets[i] = e->next;
			e->buffer = to;
			to->count[side]++;
			to->present |= e->access;
			tmap_index_add(m, to, e);
		}
	}
	from->count[side] = 0;
	from->index[side] = NULL;
	give_index(m, ix);
}

void tmap_index_drop(struct tmap *m, struct tmap_buffer *b, uint32_t side)
{
	struct tmap_index *ix = b->index[side];

	memset(ix->buckets, 0, sizeof(*ix->buckets) << ix->log2);
	b->index[side] = NULL;
	give_index(m, ix);
}

/* ---- walk ----------------------------------------------------------------- */

void tmap_walk_begin(struct tmap_iter *it, uint8_t side)
{
	struct tmap_walk *w = &it->walk;

	if (!it->has_geom) {
		tmap_geom_init(&it->geom, it->tensor);
		it->has_geom = true;
	}
	it->walking = true;
	w->next = NULL;
	w->side = side;
	w->class = UINT8_MAX;	/* the next is CATCH_ALL */
	w->grid = NO_GRID;
	w->ndims = 0;		/* no further cell */
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
	if (w->grid != (c->key & 0xff)) {
		w->grid = c->key & 0xff;
		w->ndims = ix->grids[w->grid].ndims;
		box_of_view(&ix->grids[w->grid], &it->geom, &w->view);
	}
	for (i = 0; i < w->ndims; i++) {
		uint32_t level = key_level(c->key, i);
		uint64_t lo = w->view.lo[i] >> level, hi = w->view.hi[i] >> level;

		lo -= lo && c->crosses[i];
		lo = lo > c->min[i] ? lo : c->min[i];
		hi = hi < c->max[i] ? hi : c->max[i];
		if (lo > hi)
			return false;
		w->cells.lo[i] = w->cell[i] = lo;
		w->cells.hi[i] = hi;
		if (__builtin_mul_overflow(volume, hi - lo + 1, &volume))
			volume = UINT64_MAX;
	}
	w->scan = volume > ix->count + (1ull << ix->log2);
	w->bucket = 0;
	return true;
}

/* Steps to the next cell of the class; false at the end. */
static bool next_cell(struct tmap_walk *w)
{
	uint32_t i = w->ndims;

	while (i--) {
		if (w->cell[i] < w->cells.hi[i]) {
			w->cell[i]++;
			return true;
		}
		w->cell[i] = w->cells.lo[i];
	}
	return false;
}

/* Sets the next chain to look at; false if there is none. */
static bool next_chain(struct tmap_iter *it, const struct tmap_index *ix)
{
	struct tmap_walk *w = &it->walk;

	if (w->scan) {
		if (w->bucket == 1u << ix->log2)
			return false;
		w->next = ix->buckets[w->bucket++];
		return true;
	}
	if (!w->ndims || !next_cell(w)) {
		do {
			if (++w->class >= ix->class_count)
				return false;
		} while (!enter_class(it, ix, w->class));
		if (w->scan)
			return true;
	}
	w->hash = hash_cell(ix->classes[w->class].key, w->cell, w->ndims);
	w->next = ix->buckets[w->hash & ((1u << ix->log2) - 1)];
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
	do {
		while ((e = w->next)) {
			w->next = e->next;
			/* a scan takes all classes that are left */
			if (w->scan ? e->slot < w->class
				    : e->hash != w->hash || e->slot != w->class)
				continue;
			if (!tmap_match(it, e))
				continue;
			it->walking = true;
			return e;
		}
	} while (next_chain(it, ix));
	return NULL;
}
