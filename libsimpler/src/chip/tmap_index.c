// SPDX-License-Identifier: MIT
/* Index of a tensor map: memory, hash table, coming and going; see tmap_index.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chip/tmap_index.h"

#define FIRST_CLASSES	4
#define GROUPS_LOG2_MAX	20

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

/* ---- table ---------------------------------------------------------------- */

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

/* ---- entries -------------------------------------------------------------- */

static void store(struct tmap *m, struct tmap_index *ix, struct tmap_entry *e,
		  const struct tmap_geom *g, uint32_t grid, struct tmap_box *box)
{
	int64_t cell[TMAP_GRID_DIMS];
	struct class *c;
	uint32_t ndims;

	e->class = tmap_class_of(ix, grid, box);
	c = &ix->classes[e->class];
	if (c->grid != grid)	/* CATCH_ALL */
		tmap_grid_box(&ix->grids[c->grid], g, box);
	ndims = ix->grids[c->grid].ndims;
	tmap_class_cell(c, ndims, box, cell);
	tmap_class_add(c, ndims, box, cell);
	e->hash = tmap_class_hash(c, ndims, cell);
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
		if (tmap_grid_box(&ix->grids[i], g, box))
			return i;
	tmap_grid_box(&ix->grids[0], g, box);
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

	tmap_grid_init(&ix->grids[id], g, origin);
	if (!tmap_grid_box(&ix->grids[id], g, &own))
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
	tmap_grid_init(&ix->grids[0], &bytes, b->addr);
	tmap_class_init_catch_all(ix);
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
