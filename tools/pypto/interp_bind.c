/* SPDX-License-Identifier: MIT */
/* Interpreter: variables, and the buffers of tiles once a pass has assigned them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interp_value.h"

void interp_set_var(struct frame *fr, const struct ir_node *var, struct iv *v)
{
	struct iv *old = var_map_get(&fr->vars, var);

	var_map_set(&fr->vars, var, v);
	iv_unref(old);
}

/* The memory of a buffer; tiles whose buffers have addresses share the whole space. */
static struct iv_mem *buffer_of(struct frame *fr, const struct ir_memref *m, size_t end)
{
	int64_t id = m->addr < 0 ? (int64_t)m->id : -1;
	struct onchip *b;
	size_t old;

	for (b = fr->buffers; b && (b->space != m->space || b->id != id); b = b->next)
		;
	if (!b) {
		b = px_new(fr->in->px, struct onchip);
		b->space = m->space;
		b->id = id;
		b->mem = mem_new(fr->in, end);
		b->next = fr->buffers;
		fr->buffers = b;
	}
	old = b->mem->size;
	if (old < end) {
		uint8_t *at = realloc(b->mem->at, end);

		if (!at)
			longjmp(*fr->in->px->escape, 1);
		memset(at + old, 0xff, end - old);
		b->mem->at = at;
		b->mem->size = end;
	}
	return b->mem;
}

/* A view into the buffer itself, as a part of a tile is. */
static bool is_inside(const struct iv *v, const struct ir_memref *m, int64_t offset)
{
	int64_t last = 0;
	int i;

	for (i = 0; i < v->rank; i++)
		last += (v->shape[i] - 1) * v->stride[i];
	return v->offset >= offset && m->size &&
	       v->offset + (last + 1) * interp_item_size(v->dtype) <= offset + (int64_t)m->size;
}

/* The tile @v, in the buffer @m. */
static struct iv *place(struct frame *fr, struct iv *v, const struct ir_memref *m, struct span span)
{
	size_t bytes = (size_t)iv_count(v) * interp_item_size(v->dtype);
	int64_t offset = m->addr < 0 ? 0 : m->addr;
	struct iv_mem *mem = buffer_of(fr, m, (size_t)offset + bytes);
	union cell *cells;
	struct iv *w;

	if (m->size && bytes > m->size)
		return interp_error(fr, span, "A tile of %zu bytes does not fit into buffer '%s' of %llu",
				    bytes, m->name, (unsigned long long)m->size);
	if (v->mem == mem && is_inside(v, m, offset))
		return iv_ref(v);
	cells = cells_of(fr->in, v, v->dtype, v->rank, v->shape);
	w = iv_view(fr->in, v);
	mem_drop(w->mem);
	w->mem = mem;
	mem->refs++;
	w->offset = offset;
	iv_contiguous_strides(w);
	cells_put(w, cells);
	free(cells);
	return w;
}

int interp_bind(struct frame *fr, struct ir_node *var, struct iv *v)
{
	const struct ir_memref *m = var->type ? var->type->memref : NULL;
	struct iv *placed;

	if (v->kind == TY_TILE && m && m->space != MS_DDR) {
		placed = place(fr, v, m, var->span);
		iv_unref(v);
		if (!placed)
			return -EINVAL;
		v = placed;
	}
	interp_set_var(fr, var, v);
	return 0;
}

/* A copy, when assigning one variable may overwrite what another one is to get. */
static struct iv *detached(struct frame *fr, struct iv *v)
{
	struct iv *copy;
	union cell *cells;

	if (v->kind != TY_TILE)
		return v;
	copy = iv_array(fr->in, TY_TILE, v->dtype, v->rank, v->shape);
	memcpy(copy->valid, v->valid, sizeof(v->valid));
	cells = cells_of(fr->in, v, v->dtype, v->rank, v->shape);
	cells_put(copy, cells);
	free(cells);
	iv_unref(v);
	return copy;
}

int interp_bind_all(struct frame *fr, const struct ir_list *vars, struct iv **values)
{
	bool buffers = false;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < vars->n; i++)
		buffers |= vars->at[i]->type && vars->at[i]->type->memref;
	for (i = 0; i < vars->n && buffers && vars->n > 1; i++)
		values[i] = detached(fr, values[i]);
	for (i = 0; i < vars->n; i++) {
		if (rc)
			iv_unref(values[i]);
		else
			rc = interp_bind(fr, vars->at[i], values[i]);
	}
	return rc;
}
