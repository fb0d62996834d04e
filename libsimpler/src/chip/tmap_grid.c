// SPDX-License-Identifier: MIT
/* Grids of a tensor map index: coordinates of views; see tmap_index.h. */
#include "chip/tmap_index.h"

void tmap_grid_init(struct grid *grid, const struct tmap_geom *g, uint64_t origin)
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

bool tmap_grid_box(const struct grid *grid, const struct tmap_geom *g, struct tmap_box *box)
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
