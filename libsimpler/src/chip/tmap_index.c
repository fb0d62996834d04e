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
 * Entries with boxes of similar size form a class.  Its cells are as large as
 * the boxes: exactly, for views that lie on the grid of their own shape, else
 * the next power of two; smaller boxes join them until cells become crowded.
 * So an entry reaches into at most one further cell per dimension and is
 * stored once, under the cell of its first corner.  64 neighbouring cells are a block.  A hash leads from class and block to a group
 * of 64 buckets and a word that tells which of them are in use: a lookup takes
 * one step per block, not per cell, and empty space is cheap.
 *
 * A lookup goes through the blocks of each class that can hold overlapping
 * boxes; classes know the extreme cells ever used and whether any entry crosses
 * a border.  Where that would be more blocks than there are entries, all
 * entries are scanned instead.  Everything found is tested exactly, so boxes
 * only have to be large enough.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chip/tmap_priv.h"

#define MAX_GRIDS	4
#define MAX_CLASSES	32
#define MAX_EXACT	12	/* classes up to which more with cells of any size are made */
#define CROWDED		4	/* entries of a cell from which on smaller ones get a class */
#define FIRST_CLASSES	4
#define GROUPS_LOG2_MAX	20
#define FILTER_LOG2	4	/* of the filter words of a group */
#define FILTER_STEPS	16	/* down a chain to see whether a filter bit can go */
#define HASH_BITS	26	/* of a block; 6 more for the cell in it */
#define NO_GRID		0xff
#define ANY_SIZE	64	/* as log2: not a power of two */
#define CATCH_ALL	0	/* class of what fits into no other */
#define CATCH_ALL_LOG2	62

struct grid {
	uint32_t ndims;
	uint8_t log2[TMAP_GRID_DIMS];	/* of the stride, or ANY_SIZE */
	int64_t stride[TMAP_GRID_DIMS];	/* bytes; the last is 1 */
	int64_t top[TMAP_GRID_DIMS];	/* largest coordinate, but of the first dimension */
	uint64_t origin;		/* address with coordinates 0 */
};

/* Size of cells per dimension. */
struct shape {
	int64_t size[TMAP_GRID_DIMS];
	uint8_t log2[TMAP_GRID_DIMS];	/* or ANY_SIZE */
};

struct class {
	struct shape cell;
	uint8_t grid;
	uint8_t bits[TMAP_GRID_DIMS];	/* log2 of the cells of a block; 6 in all */
	bool crosses[TMAP_GRID_DIMS];	/* some entry reaches into the next cell */
	uint32_t count;
	uint32_t seed;			/* puts blocks of different classes into different groups */
	int64_t blocks[TMAP_GRID_DIMS];	/* in the grid, but in the first dimension */
	int64_t min[TMAP_GRID_DIMS];	/* cells used so far */
	int64_t max[TMAP_GRID_DIMS];
};

/*
 * 64 buckets.  Many blocks may share them; a filter word is shared by fewer.
 * Bit n is clear if no entry of such a block is in bucket n.
 */
struct group {
	uint64_t filter[1 << FILTER_LOG2];
	struct tmap_entry *bucket[64];
};

struct tmap_index {
	struct group *groups;
	uint32_t log2;			/* of the number of groups */
	uint32_t used;			/* buckets that are not empty */
	bool stale;			/* some filter bits are set in vain */
	uint32_t count;
	uint8_t grid_count;
	uint8_t class_count;
	uint8_t class_capacity;
	struct class *classes;
	struct tmap_index *next_free;
	struct grid grids[MAX_GRIDS];
};

/* ---- memory --------------------------------------------------------------- */

static struct group *take_table(struct tmap *m, uint32_t log2)
{
	void **spare = m->spare[log2];

	if (!spare)
		return calloc(1u << log2, sizeof(struct group));
	m->spare[log2] = *spare;
	m->spare_count[log2]--;
	*spare = NULL;
	return (struct group *)spare;
}

/* Takes back an empty table; few of the large ones are kept. */
static void give_table(struct tmap *m, struct group *groups, uint32_t log2)
{
	void **spare = (void **)groups;

	if (m->spare_count[log2] && m->spare_count[log2] >= 1024u >> log2) {
		free(groups);
		return;
	}
	*spare = m->spare[log2];
	m->spare[log2] = spare;
	m->spare_count[log2]++;
}

static void set_table(struct tmap_index *ix, struct group *groups, uint32_t log2)
{
	ix->groups = groups;
	ix->log2 = log2;
	ix->used = 0;
	ix->stale = false;
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

static void keep_index(struct tmap *m, struct tmap_index *ix)
{
	ix->next_free = m->free_indexes;
	m->free_indexes = ix;
}

static void give_index(struct tmap *m, struct tmap_index *ix)
{
	if (ix->stale)
		memset(ix->groups, 0, sizeof(*ix->groups) << ix->log2);
	give_table(m, ix->groups, ix->log2);
	keep_index(m, ix);
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
			free(take_table(m, i));
	}
}

/* ---- arithmetic ----------------------------------------------------------- */

static uint32_t ceil_log2(uint64_t n)
{
	return n > 1 ? 64 - __builtin_clzll(n - 1) : 0;
}

static uint8_t exact_log2(uint64_t n)
{
	return n & (n - 1) ? ANY_SIZE : ceil_log2(n);
}

/* a / b rounded down; b > 0, and 1 << @log2 if that is not ANY_SIZE */
static inline int64_t floor_div(int64_t a, int64_t b, uint8_t log2)
{
	if (log2 != ANY_SIZE)
		return a >> log2;
	if (a < 0)
		return -1 - (-1 - a) / b;
	if ((uint64_t)(a | b) >> 32 == 0)
		return (uint32_t)a / (uint32_t)b;	/* much faster on many machines */
	return a / b;
}

static int64_t min_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- grids ---------------------------------------------------------------- */

/* Makes a grid of the strides of @g. */
static void grid_init(struct grid *grid, const struct tmap_geom *g, uint64_t origin)
{
	uint32_t i, n = g->ndims < TMAP_GRID_DIMS ? g->ndims : TMAP_GRID_DIMS;

	grid->ndims = n;
	grid->origin = origin;
	for (i = 0; i < n; i++) {
		int64_t s = i + 1 < n ? (int64_t)g->dim[g->ndims - 1 - i].stride : 1;

		grid->stride[i] = s;
		grid->log2[i] = exact_log2(s);
		grid->top[i] = i ? (grid->stride[i - 1] - 1) / s : 0;
	}
}

/* Coordinates of an address, into @at and @copy. */
static void grid_split(const struct grid *grid, uint64_t addr, int64_t *at, int64_t *copy)
{
	int64_t rest = (int64_t)(addr - grid->origin);
	uint32_t i;

	for (i = 0; i + 1 < grid->ndims; i++) {
		int64_t c = floor_div(rest, grid->stride[i], grid->log2[i]);

		at[i] = copy[i] = c;
		rest -= c * grid->stride[i];
	}
	at[i] = copy[i] = rest;
}

/* Box of a range of bytes; returns whether it holds nothing but the range. */
static bool box_of_range(const struct grid *grid, const struct tmap_geom *g, struct tmap_box *box)
{
	bool tight = true;
	uint32_t i = 0;

	grid_split(grid, g->lo, box->lo, box->lo);
	grid_split(grid, g->hi - 1, box->hi, box->hi);
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
static bool add_runs(const struct grid *grid, const struct tmap_geom *g, int64_t *at)
{
	uint32_t last = grid->ndims - 1, d = last, taken = last, i;
	bool tight = true;

	at[last] += g->dim[0].n - 1;
	for (i = 1; i < g->ndims; i++) {
		int64_t s = g->dim[i].stride, steps = 1;

		while (d && grid->stride[d - 1] <= s)
			d--;
		if (grid->stride[d] != s) {
			while (s % grid->stride[d])
				d++;
			steps = s / grid->stride[d];
			tight &= (d < last ? steps : s / (int64_t)g->dim[0].n) <= 4;
		}
		tight &= d < taken || d == last;
		taken = d;
		at[d] += (g->dim[i].n - 1) * steps;
	}
	return tight;
}

/* Do coordinates stay below the next larger stride, so that they are those of the last byte? */
static bool no_carry(const struct grid *grid, const int64_t *at)
{
	int64_t tail = 0;
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
		grid_split(grid, g->lo, box->lo, box->hi);
		tight = add_runs(grid, g, box->hi);
		if (no_carry(grid, box->hi))
			return tight;
	}
	return box_of_range(grid, g, box) && g->ndims == 1;
}

/* ---- classes -------------------------------------------------------------- */

/* Cells for a box: of its own size if it lies on the grid of that size and @exact is allowed. */
static void shape_of(const struct grid *grid, const struct tmap_box *box, bool exact,
		     struct shape *shape)
{
	uint32_t i;

	for (i = 0; i < grid->ndims; i++) {
		int64_t n = box->hi[i] - box->lo[i] + 1;
		uint32_t log2 = exact_log2(n);

		if (log2 == ANY_SIZE && (!exact || (i && n == grid->top[i] + 1) ||
					 floor_div(box->lo[i], n, log2) * n != box->lo[i])) {
			log2 = ceil_log2(n);
			n = (int64_t)(1ull << log2);
		}
		shape->size[i] = n;
		shape->log2[i] = log2;
	}
}

static bool shape_equals(const struct shape *a, const struct shape *b, uint32_t ndims)
{
	uint32_t i;

	for (i = 0; i < ndims; i++)
		if (a->size[i] != b->size[i])
			return false;
	return true;
}

/* Shares the bits of a block out among the dimensions that have more than one cell. */
static void set_blocks(struct class *c, const struct grid *grid)
{
	uint32_t left = 6, i;

	for (i = grid->ndims; --i;) {
		int64_t cells = floor_div(grid->top[i], c->cell.size[i], c->cell.log2[i]) + 1;
		uint32_t bits = ceil_log2(cells);

		bits = bits < left / (i + 1) ? bits : left / (i + 1);
		c->bits[i] = bits;
		c->blocks[i] = ((cells - 1) >> bits) + 1;
		left -= bits;
	}
	c->bits[0] = left;
}

static void class_init(struct class *c, const struct grid *grid, uint32_t grid_id,
		       const struct shape *shape)
{
	uint32_t i;

	memset(c, 0, sizeof(*c));
	c->cell = *shape;
	c->grid = grid_id;
	set_blocks(c, grid);
	for (i = 0; i < grid->ndims; i++) {
		c->seed = (c->seed + (uint32_t)c->cell.size[i]) * 0x9E3779B1u;
		c->min[i] = INT64_MAX;
		c->max[i] = INT64_MIN;
	}
}

static uint32_t find_class(const struct tmap_index *ix, uint32_t grid, const struct shape *shape)
{
	uint32_t i, ndims = ix->grids[grid].ndims;

	for (i = 1; i < ix->class_count; i++)
		if (ix->classes[i].grid == grid &&
		    shape_equals(&ix->classes[i].cell, shape, ndims))
			return i;
	return CATCH_ALL;
}

/* The number of a class that is not in use, MAX_CLASSES if there is none. */
static uint32_t free_class(struct tmap_index *ix)
{
	uint32_t i;

	for (i = 1; i < ix->class_count; i++)
		if (!ix->classes[i].count)
			return i;
	if (i == ix->class_capacity && i < MAX_CLASSES) {
		struct class *more = realloc(ix->classes, 2 * i * sizeof(*more));

		if (more) {
			ix->classes = more;
			ix->class_capacity = 2 * i;
		}
	}
	return i < ix->class_capacity ? i : MAX_CLASSES;
}

/* Hash of a block, with the low 6 bits 0; different for the first 2^26 blocks of a class. */
static uint32_t hash_block(const struct class *c, uint32_t ndims, const int64_t *block)
{
	const uint32_t mask = (1u << HASH_BITS) - 1;
	uint64_t n = block[0];
	uint32_t h, i;

	for (i = 1; i < ndims; i++)
		n = n * c->blocks[i] + block[i];
	h = (uint32_t)n * 0x9E3779B1u & mask;
	h ^= h >> 13;
	h = h * 0x85EBCA6Bu & mask;
	return (h ^ h >> 11 ^ c->seed) << 6;
}

/* Cell of the first corner of a box. */
static void cell_of(const struct class *c, uint32_t ndims, const struct tmap_box *box,
		    int64_t *cell)
{
	uint32_t i;

	for (i = 0; i < ndims; i++)
		cell[i] = floor_div(box->lo[i], c->cell.size[i], c->cell.log2[i]);
}

static uint32_t hash_cell(const struct class *c, uint32_t ndims, const int64_t *cell)
{
	int64_t block[TMAP_GRID_DIMS] = { 0 };
	uint32_t i, inner = 0;

	for (i = 0; i < ndims; i++) {
		block[i] = cell[i] >> c->bits[i];
		inner = inner << c->bits[i] | (cell[i] & ((1u << c->bits[i]) - 1));
	}
	return hash_block(c, ndims, block) | inner;
}

/* Registers a box with a class. */
static void class_add(struct class *c, uint32_t ndims, const struct tmap_box *box,
		      const int64_t *cell)
{
	uint32_t i;

	for (i = 0; i < ndims; i++) {
		c->crosses[i] |= box->hi[i] >= (cell[i] + 1) * c->cell.size[i];
		c->min[i] = min_of(c->min[i], cell[i]);
		c->max[i] = max_of(c->max[i], cell[i]);
	}
	c->count++;
}

/* ---- table ---------------------------------------------------------------- */

static uint32_t group_of(const struct tmap_index *ix, uint32_t hash)
{
	return hash >> 6 & ((1u << ix->log2) - 1);
}

/* Cells are rotated within their group, else the first cell of blocks would be crowded. */
static uint32_t rotation_of(uint32_t hash)
{
	return hash >> 26;
}

static uint32_t bucket_of(uint32_t hash)
{
	return (hash + rotation_of(hash)) & 63;
}

static struct tmap_entry **chain_of(const struct tmap_index *ix, uint32_t hash)
{
	return &ix->groups[group_of(ix, hash)].bucket[bucket_of(hash)];
}

static uint64_t *filter_of(const struct tmap_index *ix, uint32_t hash)
{
	uint32_t word = hash >> (6 + ix->log2) & ((1u << FILTER_LOG2) - 1);

	return &ix->groups[group_of(ix, hash)].filter[word];
}

static void link_entry(struct tmap_index *ix, struct tmap_entry *e)
{
	struct tmap_entry **head = chain_of(ix, e->hash);

	*filter_of(ix, e->hash) |= 1ull << bucket_of(e->hash);
	ix->used += !*head;
	tmap_link(head, e);
}

/* Clears the filter bit of @hash if no entry in the chain needs it. */
static void clear_filter(struct tmap_index *ix, const struct tmap_entry *chain, uint32_t hash)
{
	uint64_t *filter = filter_of(ix, hash);
	uint32_t steps;

	for (steps = 0; chain; chain = chain->next) {
		if (filter_of(ix, chain->hash) == filter)
			return;
		if (++steps == FILTER_STEPS) {
			ix->stale = true;
			return;
		}
	}
	*filter &= ~(1ull << bucket_of(hash));
}

static void unlink_entry(struct tmap_index *ix, struct tmap_entry *e)
{
	struct tmap_entry **head = chain_of(ix, e->hash);

	*e->link = e->next;
	if (e->next)
		e->next->link = e->link;
	ix->used -= !*head;
	clear_filter(ix, *head, e->hash);
	ix->classes[e->class].count--;
	ix->count--;
}

/* Takes all entries out; returns them as a list. */
static struct tmap_entry *take_all(struct tmap_index *ix)
{
	struct tmap_entry *list = NULL, *e;
	uint32_t i, j;

	for (i = 0; i < 1u << ix->log2; i++) {
		for (j = 0; j < 64; j++) {
			while ((e = ix->groups[i].bucket[j])) {
				unlink_entry(ix, e);
				e->next = list;
				list = e;
			}
		}
	}
	return list;
}

static void resize(struct tmap *m, struct tmap_index *ix, uint32_t log2)
{
	struct group *old = ix->groups, *groups = take_table(m, log2);
	uint32_t i, j, old_log2 = ix->log2;
	struct tmap_entry *e, *next;

	if (!groups)
		return;		/* longer chains will do */
	set_table(ix, groups, log2);
	for (i = 0; i < 1u << old_log2; i++) {
		for (j = 0; j < 64; j++) {
			for (e = old[i].bucket[j]; e; e = next) {
				next = e->next;
				link_entry(ix, e);
			}
		}
		memset(&old[i], 0, sizeof(old[i]));
	}
	give_table(m, old, old_log2);
}

static void fit_table(struct tmap *m, struct tmap_index *ix)
{
	uint32_t size = 64u << ix->log2;

	if (ix->used > size / 2 && ix->log2 < GROUPS_LOG2_MAX)
		resize(m, ix, ix->log2 + 2);
	else if (ix->used < size / 32 && ix->log2)
		resize(m, ix, ix->log2 > 2 ? ix->log2 - 2 : 0);
}

/* Are there few entries in the cell, and does the box not reach into the next as the first? */
static bool suits_class(const struct tmap_index *ix, const struct class *c,
			const struct tmap_box *box)
{
	uint32_t i, hash, same = 0, steps = 0, ndims = ix->grids[c->grid].ndims;
	const struct tmap_entry *e;
	int64_t cell[TMAP_GRID_DIMS];

	cell_of(c, ndims, box, cell);
	for (i = 0; i < ndims; i++)
		if (!c->crosses[i] && box->hi[i] >= (cell[i] + 1) * c->cell.size[i])
			return false;
	hash = hash_cell(c, ndims, cell);
	for (e = *chain_of(ix, hash); e && steps < FILTER_STEPS; e = e->next, steps++)
		same += e->hash == hash;
	return same < CROWDED && steps < FILTER_STEPS;
}

/* About log2 of the volume of a cell, from 1; 0 if it is too small for @shape. */
static uint32_t class_volume(const struct class *c, uint32_t ndims, const struct shape *shape)
{
	uint32_t i, volume = 1;

	for (i = 0; i < ndims; i++) {
		if (c->cell.size[i] < shape->size[i])
			return 0;
		volume += ceil_log2(c->cell.size[i]);
	}
	return volume;
}

/* The class with the largest cells that suits, or CATCH_ALL. */
static uint32_t wider_class(const struct tmap_index *ix, uint32_t grid,
			    const struct shape *shape, const struct tmap_box *box)
{
	uint32_t i, best = CATCH_ALL, best_volume = 0;

	for (i = 1; i < ix->class_count; i++) {
		const struct class *c = &ix->classes[i];
		uint32_t volume;

		if (c->grid != grid || !c->count)
			continue;
		volume = class_volume(c, ix->grids[grid].ndims, shape);
		if (volume > best_volume && suits_class(ix, c, box)) {
			best = i;
			best_volume = volume;
		}
	}
	return best;
}

static bool fills_cell(const struct grid *grid, const struct shape *shape,
		       const struct tmap_box *box)
{
	uint32_t i;

	for (i = 0; i < grid->ndims; i++)
		if (box->hi[i] - box->lo[i] + 1 != shape->size[i])
			return false;
	return true;
}

/*
 * The class for a box: of its own size if there is one, or one with larger
 * cells as long as that serves, so that regions of many sizes do not mean many
 * classes to look through.
 */
static uint32_t class_of(struct tmap_index *ix, uint32_t grid, const struct tmap_box *box)
{
	struct shape shape;
	uint32_t own, wider;

	shape_of(&ix->grids[grid], box, ix->class_count < MAX_EXACT, &shape);
	own = find_class(ix, grid, &shape);
	if (own != CATCH_ALL && fills_cell(&ix->grids[grid], &shape, box))
		return own;
	wider = wider_class(ix, grid, &shape, box);
	if (wider != CATCH_ALL)
		return wider;
	if (own != CATCH_ALL)
		return own;
	own = free_class(ix);
	if (own == MAX_CLASSES)
		return CATCH_ALL;
	if (own == ix->class_count)
		ix->class_count++;
	class_init(&ix->classes[own], &ix->grids[grid], grid, &shape);
	return own;
}

static void store(struct tmap *m, struct tmap_index *ix, struct tmap_entry *e,
		  const struct tmap_geom *g, uint32_t grid, struct tmap_box *box)
{
	int64_t cell[TMAP_GRID_DIMS];
	struct class *c;
	uint32_t ndims;

	e->class = class_of(ix, grid, box);
	c = &ix->classes[e->class];
	if (c->grid != grid)	/* CATCH_ALL */
		box_of_view(&ix->grids[c->grid], g, box);
	ndims = ix->grids[c->grid].ndims;
	cell_of(c, ndims, box, cell);
	class_add(c, ndims, box, cell);
	e->hash = hash_cell(c, ndims, cell);
	link_entry(ix, e);
	ix->count++;
	fit_table(m, ix);
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

/* Puts every entry where it belongs now that there is one more grid. */
static void store_again(struct tmap *m, struct tmap_index *ix)
{
	struct tmap_entry *list = take_all(ix), *e;

	while ((e = list)) {
		struct tmap_geom g;
		struct tmap_box box;
		uint32_t grid;

		list = e->next;
		tmap_geom_init(&g, e->tensor);
		grid = find_grid(ix, &g, &box);
		store(m, ix, e, &g, grid, &box);
	}
}

/* Makes a grid of the strides of @g if its box is tight in that. */
static uint32_t add_grid(struct tmap *m, struct tmap_index *ix, const struct tmap_geom *g,
			 uint64_t origin, struct tmap_box *box)
{
	uint32_t id = ix->grid_count;
	struct tmap_box own;

	grid_init(&ix->grids[id], g, origin);
	if (!box_of_view(&ix->grids[id], g, &own))
		return 0;
	*box = own;
	ix->grid_count++;
	store_again(m, ix);
	return id;
}

/* ---- interface ------------------------------------------------------------ */

int tmap_index_create(struct tmap *m, struct tmap_buffer *b, uint32_t side)
{
	static const struct tmap_geom bytes = { .ndims = 1, .dim[0] = { 1, 1 } };
	static const struct shape all = {
		{ 1ll << CATCH_ALL_LOG2 }, { CATCH_ALL_LOG2 }
	};
	struct tmap_index *ix = m->free_indexes;
	struct tmap_entry *e, *next;
	struct group *groups;
	uint32_t i;

	if (ix)
		m->free_indexes = ix->next_free;
	else if (!(ix = alloc_index()))
		return -ENOMEM;
	groups = take_table(m, 0);
	if (!groups) {
		keep_index(m, ix);
		return -ENOMEM;
	}
	set_table(ix, groups, 0);
	ix->count = 0;
	ix->grid_count = 1;
	ix->class_count = 1;
	grid_init(&ix->grids[0], &bytes, b->addr);
	class_init(&ix->classes[CATCH_ALL], &ix->grids[0], 0, &all);
	b->index[side] = ix;
	for (i = 0; i < b->lists[side]; i++) {
		for (e = b->entry[side][i]; e; e = next) {
			next = e->next;
			tmap_index_add(m, b, e);
		}
	}
	b->lists[side] = 0;
	return 0;
}

void tmap_index_add(struct tmap *m, struct tmap_buffer *b, struct tmap_entry *e)
{
	struct tmap_index *ix = b->index[e->access >> 1];
	struct tmap_geom g;
	struct tmap_box box;
	uint32_t grid;

	tmap_geom_init(&g, e->tensor);
	grid = find_grid(ix, &g, &box);
	if (!grid && g.ndims > 1 && ix->grid_count < MAX_GRIDS)
		grid = add_grid(m, ix, &g, e->tensor->addr, &box);
	store(m, ix, e, &g, grid, &box);
}

void tmap_remove_indexed(struct tmap *m, struct tmap_buffer *b, struct tmap_entry *e)
{
	uint32_t side = e->access >> 1;
	struct tmap_index *ix = b->index[side];

	unlink_entry(ix, e);
	if (ix->count)
		return;
	b->index[side] = NULL;
	give_index(m, ix);
}

void tmap_index_move(struct tmap *m, struct tmap_buffer *to, struct tmap_buffer *from,
		     uint32_t side)
{
	struct tmap_index *ix = from->index[side];
	struct tmap_entry *list = take_all(ix), *e;

	while ((e = list)) {
		list = e->next;
		e->buffer = to;
		to->count[side]++;
		to->present |= e->access;
		tmap_index_add(m, to, e);
	}
	from->count[side] = 0;
	from->index[side] = NULL;
	give_index(m, ix);
}

void tmap_index_drop(struct tmap *m, struct tmap_buffer *b, uint32_t side)
{
	struct tmap_index *ix = b->index[side];

	ix->stale = true;	/* not emptied one by one */
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
		box_of_view(&ix->grids[c->grid], &it->geom, &w->view);
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
	bits = *filter_of(ix, w->block_hash);
	rotation = rotation_of(w->block_hash);
	w->bits = (bits >> rotation | bits << (-rotation & 63)) & wanted(w, c);
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
