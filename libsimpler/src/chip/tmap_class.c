// SPDX-License-Identifier: MIT
/* Classes of a tensor map index: boxes of similar size; see tmap_index.h. */
#include <stdlib.h>
#include <string.h>

#include "chip/tmap_index.h"

#define MAX_EXACT	12	/* classes up to which more with cells of any size are made */
#define CROWDED		4	/* entries of a cell from which on smaller ones get a class */
#define CATCH_ALL_LOG2	62

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

void tmap_class_init_catch_all(struct tmap_index *ix)
{
	static const struct shape all = {
		{ 1ll << CATCH_ALL_LOG2 }, { CATCH_ALL_LOG2 }
	};

	ix->class_count = 1;
	class_init(&ix->classes[CATCH_ALL], &ix->grids[0], 0, &all);
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

void tmap_class_cell(const struct class *c, uint32_t ndims, const struct tmap_box *box,
		     int64_t *cell)
{
	uint32_t i;

	for (i = 0; i < ndims; i++)
		cell[i] = floor_div(box->lo[i], c->cell.size[i], c->cell.log2[i]);
}

uint32_t tmap_class_hash(const struct class *c, uint32_t ndims, const int64_t *cell)
{
	int64_t block[TMAP_GRID_DIMS] = { 0 };
	uint32_t i, inner = 0;

	for (i = 0; i < ndims; i++) {
		block[i] = cell[i] >> c->bits[i];
		inner = inner << c->bits[i] | (cell[i] & ((1u << c->bits[i]) - 1));
	}
	return hash_block(c, ndims, block) | inner;
}

void tmap_class_add(struct class *c, uint32_t ndims, const struct tmap_box *box,
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

/* Are there few entries in the cell, and does the box not reach into the next as the first? */
static bool suits_class(const struct tmap_index *ix, const struct class *c,
			const struct tmap_box *box)
{
	uint32_t i, hash, same = 0, steps = 0, ndims = ix->grids[c->grid].ndims;
	const struct tmap_entry *e;
	int64_t cell[TMAP_GRID_DIMS];

	tmap_class_cell(c, ndims, box, cell);
	for (i = 0; i < ndims; i++)
		if (!c->crosses[i] && box->hi[i] >= (cell[i] + 1) * c->cell.size[i])
			return false;
	hash = tmap_class_hash(c, ndims, cell);
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

uint32_t tmap_class_of(struct tmap_index *ix, uint32_t grid, const struct tmap_box *box)
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
