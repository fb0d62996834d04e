/* SPDX-License-Identifier: MIT */
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
 * stored once, under the cell of its first corner.  64 neighbouring cells are a
 * block.  A hash leads from class and block to a group of 64 buckets and a word
 * that tells which of them are in use: a lookup takes one step per block, not
 * per cell, and empty space is cheap.
 *
 * A lookup goes through the blocks of each class that can hold overlapping
 * boxes; classes know the extreme cells ever used and whether any entry crosses
 * a border.  Where that would be more blocks than there are entries, all
 * entries are scanned instead.  Everything found is tested exactly, so boxes
 * only have to be large enough.
 */
#ifndef CHIP_TMAP_INDEX_H
#define CHIP_TMAP_INDEX_H

#include "chip/tmap_priv.h"

#define MAX_GRIDS	4
#define MAX_CLASSES	32
#define FILTER_LOG2	4	/* of the filter words of a group */
#define FILTER_STEPS	16	/* down a chain to see whether a filter bit can go */
#define HASH_BITS	26	/* of a block; 6 more for the cell in it */
#define ANY_SIZE	64	/* as log2: not a power of two */
#define CATCH_ALL	0	/* class of what fits into no other */

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

/* ---- arithmetic ----------------------------------------------------------- */

static inline uint32_t ceil_log2(uint64_t n)
{
	return n > 1 ? 64 - __builtin_clzll(n - 1) : 0;
}

static inline uint8_t exact_log2(uint64_t n)
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

static inline int64_t min_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t max_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- tmap_grid.c ---------------------------------------------------------- */

/* Makes a grid of the strides of @g. */
void tmap_grid_init(struct grid *grid, const struct tmap_geom *g, uint64_t origin);

/* Box that holds all of a view; returns whether it is about as small as the view. */
bool tmap_grid_box(const struct grid *grid, const struct tmap_geom *g, struct tmap_box *box);

/* ---- tmap_class.c --------------------------------------------------------- */

/* Makes the class CATCH_ALL of an index with grid 0. */
void tmap_class_init_catch_all(struct tmap_index *ix);

/*
 * The class for a box: of its own size if there is one, or one with larger
 * cells as long as that serves, so that regions of many sizes do not mean many
 * classes to look through.
 */
uint32_t tmap_class_of(struct tmap_index *ix, uint32_t grid, const struct tmap_box *box);

/* Cell of the first corner of a box. */
void tmap_class_cell(const struct class *c, uint32_t ndims, const struct tmap_box *box,
		     int64_t *cell);

/* Hash of a cell: of its block, and its place in that in the low 6 bits. */
uint32_t tmap_class_hash(const struct class *c, uint32_t ndims, const int64_t *cell);

/* Registers a box with a class. */
void tmap_class_add(struct class *c, uint32_t ndims, const struct tmap_box *box,
		    const int64_t *cell);

/* ---- places in the table -------------------------------------------------- */

/* Hash of a block, with the low 6 bits 0; different for the first 2^26 blocks of a class. */
static inline uint32_t hash_block(const struct class *c, uint32_t ndims, const int64_t *block)
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

static inline uint32_t group_of(const struct tmap_index *ix, uint32_t hash)
{
	return hash >> 6 & ((1u << ix->log2) - 1);
}

/* Cells are rotated within their group, else the first cell of blocks would be crowded. */
static inline uint32_t rotation_of(uint32_t hash)
{
	return hash >> 26;
}

static inline uint32_t bucket_of(uint32_t hash)
{
	return (hash + rotation_of(hash)) & 63;
}

static inline struct tmap_entry **chain_of(const struct tmap_index *ix, uint32_t hash)
{
	return &ix->groups[group_of(ix, hash)].bucket[bucket_of(hash)];
}

static inline uint64_t *filter_of(const struct tmap_index *ix, uint32_t hash)
{
	uint32_t word = hash >> (6 + ix->log2) & ((1u << FILTER_LOG2) - 1);

	return &ix->groups[group_of(ix, hash)].filter[word];
}

#endif /* CHIP_TMAP_INDEX_H */
