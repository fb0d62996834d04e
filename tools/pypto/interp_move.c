/* SPDX-License-Identifier: MIT */
/* Interpreter: movement, views and shapes; sections 4.3, 4.7, 4.8. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interp_value.h"

/* D28: a region must lie inside. */
static int check_region(struct op_run *r, const struct iv *v, const int64_t *offset,
			const int64_t *extent)
{
	int i;

	for (i = 0; i < v->rank; i++) {
		if (offset[i] >= 0 && extent[i] >= 0 && offset[i] <= v->shape[i] - extent[i])
			continue;
		interp_error(r->fr, r->call->node.span,
			     "Reaches outside: offset %lld, extent %lld, but dimension %d has %lld",
			     (long long)offset[i], (long long)extent[i], i, (long long)v->shape[i]);
		return -EINVAL;
	}
	return 0;
}

/* The region as a view. */
static struct iv *region(struct op_run *r, const struct iv *v, const int64_t *offset,
			 const int64_t *extent)
{
	struct iv *w;
	int i;

	if (check_region(r, v, offset, extent))
		return NULL;
	w = iv_view(r->in, v);
	for (i = 0; i < w->rank; i++) {
		w->offset += offset[i] * w->stride[i] * (int64_t)interp_item_size(w->dtype);
		w->shape[i] = w->valid[i] = extent[i];
	}
	return w;
}

/* The view without its first dimensions, which are 1, so that @rank are left. */
static void drop_leading(struct iv *v, uint32_t rank)
{
	uint32_t skip = v->rank - rank;

	memmove(v->shape, v->shape + skip, rank * sizeof(*v->shape));
	memmove(v->stride, v->stride + skip, rank * sizeof(*v->stride));
	memmove(v->valid, v->valid + skip, rank * sizeof(*v->valid));
	v->rank = rank;
}

/* Elements of @from to @to, which have equal extents. */
static void copy_elements(struct op_run *r, const struct iv *from, struct iv *to)
{
	union cell *cells = cells_of(r->in, from, to->dtype, to->rank, to->shape);

	cells_put(to, cells);
	free(cells);
}

static int same_rank(struct op_run *r, const struct iv *tensor, uint32_t n)
{
	if (tensor->rank == n)
		return 0;
	interp_error(r->fr, r->call->node.span, "%u offsets for %u dimensions", n, tensor->rank);
	return -EINVAL;
}

static struct iv *run_load(struct op_run *r)
{
	int64_t offset[INTERP_MAX_RANK], extent[INTERP_MAX_RANK], zero[INTERP_MAX_RANK] = { 0 };
	struct iv *v = interp_result(r->fr, &r->call->node), *from = NULL, *to;

	if (!v || same_rank(r, r->args[0], run_list(r, 1, offset)))
		return iv_unref(v), NULL;
	run_list(r, r->args[3] ? 3 : 2, extent);
	from = region(r, r->args[0], offset, extent);
	if (!from)
		return iv_unref(v), NULL;
	drop_leading(from, v->rank);
	to = region(r, v, zero, from->shape);
	if (to)
		copy_elements(r, from, to);
	iv_unref(from);
	iv_unref(to);
	return to ? v : (iv_unref(v), NULL);
}

/* D4: what is valid is written, at most the region of the call. */
static struct iv *run_store(struct op_run *r)
{
	int64_t offset[INTERP_MAX_RANK], extent[INTERP_MAX_RANK], zero[INTERP_MAX_RANK] = { 0 };
	struct iv *tile = r->args[0], *tensor = r->args[3], *from, *to;
	uint32_t n = run_list(r, 2, extent), skip, i;

	if (same_rank(r, tensor, run_list(r, 1, offset)))
		return NULL;
	skip = n - tile->rank;
	for (i = skip; i < n; i++)
		if (extent[i] > tile->valid[i - skip])
			extent[i] = tile->valid[i - skip];
	to = region(r, tensor, offset, extent);
	from = to ? region(r, tile, zero, extent + skip) : NULL;
	if (from) {
		drop_leading(to, tile->rank);
		copy_elements(r, from, to);
	}
	iv_unref(to);
	iv_unref(from);
	return from ? iv_ref(tensor) : NULL;
}

static struct iv *swapped(struct op_run *r, const struct iv *v, int a, int b)
{
	struct iv *w = iv_view(r->in, v);

	w->shape[a] = v->shape[b];
	w->shape[b] = v->shape[a];
	w->stride[a] = v->stride[b];
	w->stride[b] = v->stride[a];
	return w;
}

static struct iv *run_move(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node), *from;

	if (!v)
		return NULL;
	from = run_attr(r, "transpose", 0) ? swapped(r, r->args[0], 0, 1) : iv_ref(r->args[0]);
	copy_elements(r, from, v);
	iv_unref(from);
	return v;
}

static struct iv *run_transpose(struct op_run *r)
{
	int64_t a = run_attr(r, "axis1", 0), b = run_attr(r, "axis2", 1), n = r->args[0]->rank;
	struct iv *v = interp_result(r->fr, &r->call->node), *from;

	if (!v)
		return NULL;
	from = swapped(r, r->args[0], (int)(a < 0 ? a + n : a), (int)(b < 0 ? b + n : b));
	copy_elements(r, from, v);
	iv_unref(from);
	return v;
}

/* Undefined contents. */
static struct iv *run_create(struct op_run *r)
{
	return interp_result(r->fr, &r->call->node);
}

/* ---- Padding ---- */

static union cell pad_value(const struct op_run *r, unsigned int dtype)
{
	bool is_float = dtype_is_float(dtype), is_signed = dtype_is_signed(dtype);
	const struct ir_attr *pad = call_attr_at(r->call, "pad");
	unsigned int bits = dtype_info(dtype)->bits;

	if (!pad || (pad->kind == AT_ENUM && pad->i < 2))
		return (union cell){ .i = 0 };
	if (pad->kind == AT_FLOAT)
		return cell_convert(DT_FP64, dtype, (union cell){ .f = pad->f }, MODE_OF_TYPES);
	if (pad->kind != AT_ENUM)
		return cell_convert(DT_INT64, dtype, (union cell){ .i = pad->i }, MODE_OF_TYPES);
	if (is_float)
		return (union cell){ .f = pad->i == 2 ? __builtin_inf() : -__builtin_inf() };
	if (pad->i == 2)
		return (union cell){ .i = (int64_t)(UINT64_MAX >> (64 - bits + is_signed)) };
	return (union cell){ .i = is_signed ? -1 - (int64_t)(UINT64_MAX >> (65 - bits)) : 0 };
}

static struct iv *run_fillpad(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	int64_t index[INTERP_MAX_RANK] = { 0 };
	const struct iv *src = r->args[0];
	union cell pad;
	int i;

	if (!v)
		return NULL;
	pad = pad_value(r, v->dtype);
	copy_elements(r, src, v);
	if (!iv_count(v))
		return v;
	do {
		for (i = 0; i < v->rank && index[i] < src->valid[i]; i++)
			;
		if (i < v->rank)
			cell_write(v->dtype, iv_at(v, index), pad);
	} while (index_next(index, v->rank, v->shape));
	return v;
}

/* ---- Views ---- */

/*
 * A region of a tensor is the tensor's memory; of a tile that has a buffer, a part of that; of
 * another tile, a copy.
 */
static struct iv *run_slice(struct op_run *r)
{
	int64_t shape[INTERP_MAX_RANK], offset[INTERP_MAX_RANK];
	struct iv *from, *v;

	run_list(r, 1, shape);
	if (same_rank(r, r->args[0], run_list(r, 2, offset)))
		return NULL;
	from = region(r, r->args[0], offset, shape);
	if (!from || from->kind == TY_TENSOR)
		return from;
	v = interp_result(r->fr, &r->call->node);
	if (v && r->call->args.at[0]->type->memref) {
		memcpy(from->valid, v->valid, sizeof(v->valid));
		iv_unref(v);
		return from;
	}
	if (v)
		copy_elements(r, from, v);
	iv_unref(from);
	return v;
}

static struct iv *run_extract(struct op_run *r)
{
	int64_t offset[2] = { r->args[1]->cell.i, r->args[2]->cell.i }, shape[INTERP_MAX_RANK];
	struct iv *v = interp_result(r->fr, &r->call->node), *from;

	if (!v || same_rank(r, r->args[0], run_list(r, 3, shape)))
		return iv_unref(v), NULL;
	from = region(r, r->args[0], offset, shape);
	if (!from)
		return iv_unref(v), NULL;
	copy_elements(r, from, v);
	iv_unref(from);
	return v;
}

static struct iv *reshaped_view(struct op_run *r, const struct iv *x, const struct iv *like)
{
	struct iv *w = iv_view(r->in, x);

	w->rank = like->rank;
	memcpy(w->shape, like->shape, sizeof(w->shape));
	memcpy(w->valid, like->valid, sizeof(w->valid));
	iv_contiguous_strides(w);
	return w;
}

static struct iv *run_reshape(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node), *w;
	const struct iv *x = r->args[0];

	if (!v)
		return NULL;
	if (iv_count(v) != iv_count(x)) {
		interp_error(r->fr, r->call->node.span, "cannot reshape %lld elements into %lld",
			     (long long)iv_count(x), (long long)iv_count(v));
		return iv_unref(v), NULL;
	}
	if (!iv_contiguous(x)) {
		interp_error(r->fr, r->call->node.span,
			     "cannot reshape a view whose rows are not adjacent");
		return iv_unref(v), NULL;
	}
	w = reshaped_view(r, x, v);
	iv_unref(v);
	return w;
}

/* The target's memory, with the source in it. */
static struct iv *run_assemble(struct op_run *r)
{
	int64_t offset[INTERP_MAX_RANK];
	struct iv *to;

	if (same_rank(r, r->args[0], run_list(r, 2, offset)) ||
	    same_rank(r, r->args[1], r->args[0]->rank))
		return NULL;
	to = region(r, r->args[0], offset, r->args[1]->shape);
	if (!to)
		return NULL;
	copy_elements(r, r->args[1], to);
	iv_unref(to);
	return iv_ref(r->args[0]);
}

static struct iv *run_read(struct op_run *r)
{
	int64_t index[INTERP_MAX_RANK], ones[INTERP_MAX_RANK];
	int i;

	for (i = 0; i < INTERP_MAX_RANK; i++)
		ones[i] = 1;
	if (same_rank(r, r->args[0], run_list(r, 1, index)) ||
	    check_region(r, r->args[0], index, ones))
		return NULL;
	return iv_scalar(r->in, r->args[0]->dtype,
			 cell_read(r->args[0]->dtype, iv_at(r->args[0], index)));
}

static struct iv *run_dim(struct op_run *r)
{
	int64_t axis = run_attr(r, "axis", 0);

	return iv_int(r->in, DT_INDEX, r->args[0]->shape[axis < 0 ? axis + r->args[0]->rank : axis]);
}

const struct op_entry *interp_ops_move(void)
{
	static const struct op_entry ops[] = {
		{ "block.load", run_load, 0 }, { "block.store", run_store, 0 },
		{ "block.l0c_store", run_store, 0 }, { "block.move", run_move, 0 },
		{ "block.vec_move", run_move, 0 }, { "block.create_tile", run_create, 0 },
		{ "block.fillpad", run_fillpad, 0 }, { "block.view", run_slice, 0 },
		{ "block.reshape", run_reshape, 0 }, { "block.transpose", run_transpose, 0 },
		{ "block.extract", run_extract, 0 }, { "tensor.create", run_create, 0 },
		{ "tensor.view", run_slice, 0 }, { "tensor.reshape", run_reshape, 0 },
		{ "tensor.transpose", run_transpose, 0 }, { "tensor.assemble", run_assemble, 0 },
		{ "tensor.read", run_read, 0 }, { "tensor.dim", run_dim, 0 },
		{ NULL, NULL, 0 }
	};

	return ops;
}
