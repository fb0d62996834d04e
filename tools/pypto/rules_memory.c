/* SPDX-License-Identifier: MIT */
/* Type rules of movement, shape, matrix, tensor and pipe operators: sections 4.3, 4.6-4.8, 15.3. */
#include <string.h>

#include "rules.h"

static bool same_length(struct op_use *use, unsigned int a, unsigned int b)
{
	if (arg_list(use, a)->n == arg_list(use, b)->n)
		return true;
	rule_error(use, "requires as many offsets as extents, but got %u and %u",
		   arg_list(use, a)->n, arg_list(use, b)->n);
	return false;
}

/* D28: a constant offset outside of the tensor is a mistake. */
static bool inside(struct op_use *use, const struct ir_list *offsets, const struct ir_list *extents,
		   const struct ir_list *shape)
{
	uint32_t i;

	if (offsets->n != shape->n) {
		rule_error(use, "requires %u offsets for %s, but got %u", shape->n,
			   shape_text(use->px, shape), offsets->n);
		return false;
	}
	for (i = 0; i < shape->n; i++) {
		int64_t at = dim_value(offsets->at[i]), n = dim_value(extents->at[i]);
		int64_t room = dim_value(shape->at[i]);

		if (extents->at[i]->kind == IR_CONST_INT && n < 0) {
			rule_error(use, "requires extents that are not negative, but got %s",
				   shape_text(use->px, extents));
			return false;
		}
		if (offsets->at[i]->kind == IR_CONST_INT &&
		    (at < 0 || (room >= 0 && n > room - at))) {
			rule_error(use, "reaches outside of %s: offset %lld, extent %lld in dimension %u",
				   shape_text(use->px, shape), (long long)at, (long long)n, i);
			return false;
		}
	}
	return true;
}

/* Tiles have at least one element. */
static bool not_empty(struct op_use *use, const struct ir_list *shape)
{
	uint32_t i;

	for (i = 0; i < shape->n; i++) {
		if (shape->at[i]->kind != IR_CONST_INT || dim_value(shape->at[i]) > 0)
			continue;
		rule_error(use, "requires positive extents, but got %s",
			   shape_text(use->px, shape));
		return false;
	}
	return true;
}

/* D13: the last two extents of a region make the tile, the others are 1. */
static bool region_shape(struct op_use *use, const struct ir_list *extents, struct ir_list *out)
{
	uint32_t i, skip = extents->n > 2 ? extents->n - 2 : 0;

	for (i = 0; i < skip; i++) {
		if (dim_value(extents->at[i]) == 1)
			continue;
		rule_error(use, "requires all but the last two extents to be 1, but got %s",
			   shape_text(use->px, extents));
		return false;
	}
	for (i = skip; i < extents->n; i++)
		list_push(use->px, out, extents->at[i]);
	return true;
}

static bool valid_fits(struct op_use *use, const struct ir_list *valid, const struct ir_list *shape)
{
	uint32_t i;

	if (valid->n != shape->n) {
		rule_error(use, "requires %u valid extents, but got %u", shape->n, valid->n);
		return false;
	}
	for (i = 0; i < valid->n; i++) {
		int64_t v = dim_value(valid->at[i]), n = dim_value(shape->at[i]);

		if (valid->at[i]->kind == IR_CONST_INT && (v < 0 || (n >= 0 && v > n))) {
			rule_error(use, "requires valid extents within the tile, but got %s of %s",
				   shape_text(use->px, valid), shape_text(use->px, shape));
			return false;
		}
	}
	return true;
}

static void tile_layout(struct ir_type *type, int64_t space)
{
	switch (space) {
	case MS_MAT:
	case MS_LEFT:
		rule_layout(type, TL_COL_MAJOR, TL_ROW_MAJOR, 512);
		break;
	case MS_RIGHT:
		rule_layout(type, TL_ROW_MAJOR, TL_COL_MAJOR, 512);
		break;
	case MS_ACC:
		rule_layout(type, TL_COL_MAJOR, TL_ROW_MAJOR, 1024);
		break;
	default:
		if (type->shape.n > 1 && dim_value(type->shape.at[type->shape.n - 1]) == 1)
			type->view.blayout = TL_COL_MAJOR;
	}
}

const struct ir_type *rule_load(struct op_use *use)
{
	const struct ir_type *tensor = arg_type(use, 0);
	int64_t space = op_attr(use, "target_memory")->i;
	struct ir_list shape = { 0 }, valid = { 0 };
	struct ir_type *type;

	if (space != MS_VEC && space != MS_MAT)
		return rule_error(use, "can load into Vec or Mat, not %s",
				  enum_name(EN_MEMORY_SPACE, space));
	if (tensor->dtype == DT_BOOL && space != MS_VEC)
		return rule_error(use, "can load masks of BOOL into Vec only, not %s",
				  enum_name(EN_MEMORY_SPACE, space));
	if (!same_length(use, 1, 2) || !region_shape(use, arg_list(use, 2), &shape) ||
	    !not_empty(use, &shape))
		return NULL;
	if (!inside(use, arg_list(use, 1), use->args.n > 3 ? arg_list(use, 3) : arg_list(use, 2),
		    &tensor->shape))
		return NULL;
	type = (struct ir_type *)type_shaped(use->px, TY_TILE, shape, tensor->dtype);
	if (use->args.n > 3) {
		if (!region_shape(use, arg_list(use, 3), &valid) ||
		    !valid_fits(use, &valid, &shape))
			return NULL;
		if (!shape_equal(&valid, &shape))
			type->view.valid = valid;
	}
	tile_layout(type, space);
	return rule_place(use, type, space) ? type : NULL;
}

/* D4: of the region @extents only what is valid of the tile is written. */
static struct ir_list written_extents(struct op_use *use, const struct ir_list *extents,
				      const struct ir_list *valid)
{
	struct ir_list out = list_copy(use->px, extents);
	uint32_t i, skip = extents->n - valid->n;

	for (i = skip; i < extents->n; i++) {
		struct ir_node *v = valid->at[i - skip];

		if (v->kind != IR_CONST_INT || dim_value(v) < dim_value(out.at[i]))
			out.at[i] = v;
	}
	return out;
}

const struct ir_type *rule_store(struct op_use *use)
{
	const struct ir_type *tile = arg_type(use, 0), *tensor = arg_type(use, 3);
	const struct ir_list *have = tile->view.valid.n ? &tile->view.valid : &tile->shape;
	struct ir_list shape = { 0 }, written;
	uint32_t i;

	if (!same_length(use, 1, 2) || !region_shape(use, arg_list(use, 2), &shape))
		return NULL;
	written = written_extents(use, arg_list(use, 2), shape.n == have->n ? have : &shape);
	if (!inside(use, arg_list(use, 1), &written, &tensor->shape))
		return NULL;
	if (tile->dtype != tensor->dtype &&
	    ((strcmp(use->op->name, "block.l0c_store") && tile->view.fractal != 1024) ||
	     dtype_is_small(tensor->dtype)))
		return rule_error(use, "cannot store %s elements into a %s tensor",
				  dtype_name(tile->dtype), dtype_name(tensor->dtype));
	for (i = 0; i < shape.n && shape.n == have->n; i++)
		if (dim_value(shape.at[i]) > dim_value(tile->shape.at[i]) &&
		    dim_value(tile->shape.at[i]) >= 0)
			break;
	if (shape.n != have->n || i < shape.n)
		return rule_error(use, "cannot store a region %s from a tile %s",
				  shape_text(use->px, &shape), shape_text(use->px, have));
	return tensor;
}

const struct ir_type *rule_move(struct op_use *use)
{
	const struct ir_type *src = arg_type(use, 0);
	struct ir_type *type = rule_type(use, src, list_copy(use->px, &src->shape), src->dtype);
	int64_t space = op_attr(use, "target_memory")->i;
	uint8_t swap;

	if (space == MS_DDR)
		return rule_error(use, "cannot move to DDR; pl.store() writes to a tensor");
	type->view = src->view;
	if (space == MS_VEC || space == MS_BIAS)
		rule_layout(type, TL_ROW_MAJOR, TL_NONE_BOX, 512);
	tile_layout(type, space);
	if (!op_attr(use, "transpose")->i)
		return rule_place(use, type, space) && rule_keeps_boxes(use, type, false) ? type : NULL;
	if (type->shape.n != 2)
		return rule_error(use, "can transpose two dimensions only, but got %s",
				  shape_text(use->px, &src->shape));
	type->shape.at[0] = src->shape.at[1];
	type->shape.at[1] = src->shape.at[0];
	if (src->view.valid.n) {
		type->view.valid = list_copy(use->px, &src->view.valid);
		type->view.valid.at[0] = src->view.valid.at[1];
		type->view.valid.at[1] = src->view.valid.at[0];
	}
	if (!rule_place(use, type, space) || !rule_keeps_boxes(use, type, true))
		return NULL;
	if (space == MS_LEFT || space == MS_RIGHT || type->dtype == DT_FP8E8M0)
		return type;
	swap = type->view.blayout;
	if (type->view.slayout != TL_NONE_BOX) {
		type->view.blayout = type->view.slayout;
		type->view.slayout = swap;
	} else {
		type->view.blayout = swap == TL_ROW_MAJOR ? TL_COL_MAJOR : TL_ROW_MAJOR;
	}
	return type;
}

const struct ir_type *rule_create_tile(struct op_use *use)
{
	struct ir_type *type = (struct ir_type *)type_shaped(use->px, TY_TILE, *arg_list(use, 0),
							     op_attr(use, "dtype")->i);
	int64_t space = op_attr(use, "target_memory")->i;

	if (type->dtype == DT_BOOL && space != MS_VEC)
		return rule_error(use, "can make masks of BOOL in Vec only, not in %s",
				  enum_name(EN_MEMORY_SPACE, space));
	tile_layout(type, space);
	return rule_place(use, type, op_attr(use, "target_memory")->i) ? type : NULL;
}

const struct ir_type *rule_full(struct op_use *use)
{
	struct ir_type *type = (struct ir_type *)type_shaped(use->px, TY_TILE, *arg_list(use, 0),
							     op_attr(use, "dtype")->i);

	tile_layout(type, MS_VEC);
	return rule_take_scalar(use, 1, type->dtype) ? type : NULL;
}

const struct ir_type *rule_block_idx(struct op_use *use)
{
	return type_scalar(use->px, DT_UINT64);
}

const struct ir_type *rule_alloc(struct op_use *use)
{
	struct ir_type *type = px_new(use->px, struct ir_type);

	type->kind = TY_MEMREF;
	return type;
}

const struct ir_type *rule_extract(struct op_use *use)
{
	const struct ir_type *src = arg_type(use, 0);
	struct ir_type *type = rule_type(use, src, *arg_list(use, 3), src->dtype);
	struct ir_list at = { 0 };

	list_push(use->px, &at, use->args.at[1]);
	list_push(use->px, &at, use->args.at[2]);
	if (!inside(use, &at, arg_list(use, 3), &src->shape))
		return NULL;
	tile_layout(type, op_attr(use, "target_memory")->i);
	return rule_place(use, type, op_attr(use, "target_memory")->i) ? type : NULL;
}

/* ---- Shape ---- */

/* Whether the rectangle lies in the part of the tile that is valid; also true where all is. */
static bool is_valid_part(struct op_use *use, const struct ir_type *src)
{
	const struct ir_list *valid = &src->view.valid, *at = arg_list(use, 2);
	const struct ir_list *sizes = arg_list(use, 1);
	uint32_t d;

	for (d = 0; d < valid->n && d < at->n; d++) {
		int64_t n = dim_value(valid->at[d]), offset = dim_value(at->at[d]);

		if (dim_value(sizes->at[d]) == dim_value(src->shape.at[d]) &&
		    n == dim_value(src->shape.at[d]))
			continue;
		if (n < 0 || offset < 0 || dim_value(sizes->at[d]) < 0 ||
		    offset + dim_value(sizes->at[d]) > n)
			return false;
	}
	return true;
}

static bool slice_tile(struct op_use *use, const struct ir_type *src, struct ir_type *type)
{
	const struct ir_list *sizes = &type->shape, *of = &src->shape;

	if (!is_valid_part(use, src)) {
		rule_error(use, "cannot slice a tile beyond its valid part %s; fill the rest first, with pl.fillpad()",
			   shape_text(use->px, &src->view.valid));
		return false;
	}
	if (sizes->n == 2 && dim_value(sizes->at[1]) == 1 && dim_value(of->at[1]) != 1 &&
	    dim_value(sizes->at[0]) != 1) {
		rule_error(use, "cannot make a tile of one column of a tile %s; load the column from the tensor, or reduce the rows",
			   shape_text(use->px, of));
		return false;
	}
	type->view = src->view;
	type->view.valid.n = 0;
	return true;
}

const struct ir_type *rule_slice(struct op_use *use)
{
	const struct ir_type *src = arg_type(use, 0);
	struct ir_type *type;

	if (!same_length(use, 2, 1) ||
	    !inside(use, arg_list(use, 2), arg_list(use, 1), &src->shape))
		return NULL;
	type = rule_type(use, src, *arg_list(use, 1), src->dtype);
	if (type->kind == TY_TILE && !slice_tile(use, src, type))
		return NULL;
	return type;
}

static bool elements(const struct ir_list *shape, int64_t *n)
{
	uint32_t i;

	for (*n = 1, i = 0; i < shape->n; i++)
		if (dim_value(shape->at[i]) < 0 ||
		    __builtin_mul_overflow(*n, dim_value(shape->at[i]), n))
			return false;
	return true;
}

const struct ir_type *rule_reshape(struct op_use *use)
{
	const struct ir_type *src = arg_type(use, 0);
	struct ir_type *type = rule_type(use, src, *arg_list(use, 1), src->dtype);
	const char *what = src->kind == TY_TILE ? "tile" : "tensor";
	int64_t from, to;
	uint32_t i;

	for (i = 0; src->kind == TY_TILE && i < type->shape.n; i++)
		if (dim_value(type->shape.at[i]) < 0)
			return rule_error(use, "requires constant extents for a tile, but got %s",
					  shape_text(use->px, &type->shape));
	if (elements(&src->shape, &from) && elements(&type->shape, &to) && from != to)
		return rule_error(use, "cannot reshape %s of size %lld into %s", what,
				  (long long)from, shape_text(use->px, &type->shape));
	if (src->view.valid.n)
		return rule_error(use, "cannot reshape a tile that is valid in part, %s",
				  shape_text(use->px, &src->view.valid));
	if (type->kind == TY_TILE)
		tile_layout(type, MS_VEC);
	return type;
}

static bool axis_of(struct op_use *use, const char *key, int64_t n, int64_t *axis)
{
	*axis = op_attr(use, key)->i;
	if (*axis < -n || *axis >= n) {
		rule_error(use, "has no axis %lld: there are %lld dimensions", (long long)*axis,
			   (long long)n);
		return false;
	}
	*axis += *axis < 0 ? n : 0;
	return true;
}

static void list_swap(struct op_use *use, struct ir_list *list, int64_t a, int64_t b)
{
	struct ir_node *first;

	if (!list->n)
		return;
	*list = list_copy(use->px, list);
	first = list->at[a];
	list->at[a] = list->at[b];
	list->at[b] = first;
}

const struct ir_type *rule_transpose(struct op_use *use)
{
	struct ir_type *type = type_copy(use->px, arg_type(use, 0));
	int64_t a, b;

	if (!axis_of(use, "axis1", type->shape.n, &a) || !axis_of(use, "axis2", type->shape.n, &b))
		return NULL;
	if (a == b)
		return rule_error(use, "requires two different axes, but got %lld twice",
				  (long long)a);
	type->memref = NULL;
	list_swap(use, &type->shape, a, b);
	list_swap(use, &type->view.valid, a, b);
	return type;
}

/* ---- Matrix ---- */

const struct ir_type *rule_product(struct op_use *use, unsigned int l, unsigned int r)
{
	const struct ir_type *a = arg_type(use, l), *b = arg_type(use, r);
	struct ir_list shape = { 0 }, valid = { 0 };
	struct ir_type *type;

	if (a->shape.n != 2 || b->shape.n != 2)
		return rule_error(use, "requires two dimensions, but got %s and %s",
				  shape_text(use->px, &a->shape), shape_text(use->px, &b->shape));
	if (!dim_equal(a->shape.at[1], b->shape.at[0]))
		return rule_error(use, "requires equal inner extents, but got %s and %s",
				  shape_text(use->px, &a->shape), shape_text(use->px, &b->shape));
	if (dim_value(b->shape.at[0]) == 1 && dim_value(a->shape.at[0]) != 1) {
		rule_error(use, "requires an inner extent of more than 1, but got %s and %s",
			   shape_text(use->px, &a->shape), shape_text(use->px, &b->shape));
		diag_hint(use->px, diag_last(use->px),
			  "Load both with an inner extent of 16 and say that 1 is valid: valid_shapes=[...]");
		return NULL;
	}
	list_push(use->px, &shape, a->shape.at[0]);
	list_push(use->px, &shape, b->shape.at[1]);
	type = (struct ir_type *)type_shaped(use->px, TY_TILE, shape,
					     dtype_is_float(a->dtype) ? DT_FP32 : DT_INT32);
	rule_layout(type, TL_COL_MAJOR, TL_ROW_MAJOR, 1024);
	/* D4: valid rows of one, valid columns of the other */
	list_push(use->px, &valid, a->view.valid.n ? a->view.valid.at[0] : shape.at[0]);
	list_push(use->px, &valid, b->view.valid.n ? b->view.valid.at[1] : shape.at[1]);
	if (!shape_equal(&valid, &shape))
		type->view.valid = valid;
	return type;
}

static const struct ir_type *product_equal(struct op_use *use, unsigned int l, unsigned int r)
{
	const struct ir_type *a = arg_type(use, l), *b = arg_type(use, r);

	if (a->dtype != b->dtype)
		return rule_error(use, "requires equal element types, but got %s and %s",
				  dtype_name(a->dtype), dtype_name(b->dtype));
	if (dtype_is_float(a->dtype) || a->dtype == DT_INT8 || a->dtype == DT_UINT8)
		return rule_product(use, l, r);
	rule_error(use, "multiplies FP16, BF16, FP32 or INT8 elements, but got %s",
		   dtype_name(a->dtype));
	diag_hint(use->px, diag_last(use->px), "Convert both operands first, with pl.cast() on tensors or in Vec");
	return NULL;
}

const struct ir_type *rule_check_acc(struct op_use *use, const struct ir_type *type)
{
	if (type && !shape_equal(&type->shape, &arg_type(use, 0)->shape))
		return rule_error(use, "requires an accumulator %s, but got %s",
				  shape_text(use->px, &type->shape),
				  shape_text(use->px, &arg_type(use, 0)->shape));
	if (type && type->dtype != arg_type(use, 0)->dtype)
		return rule_error(use, "requires an accumulator of %s, but got %s",
				  dtype_name(type->dtype), dtype_name(arg_type(use, 0)->dtype));
	return type;
}

const struct ir_type *rule_check_bias(struct op_use *use, unsigned int i,
				      const struct ir_type *type)
{
	const struct ir_type *bias = arg_type(use, i);

	if (!type)
		return NULL;
	if (bias->shape.n != 2 || dim_value(bias->shape.at[0]) != 1 ||
	    !dim_equal(bias->shape.at[1], type->shape.at[1]) || bias->dtype != type->dtype)
		return rule_error(use, "requires a bias [1, N] of %s for a product %s, but got %s of %s",
				  dtype_name(type->dtype), shape_text(use->px, &type->shape),
				  shape_text(use->px, &bias->shape), dtype_name(bias->dtype));
	return type;
}

const struct ir_type *rule_matmul(struct op_use *use)
{
	return product_equal(use, 0, 1);
}

const struct ir_type *rule_matmul_acc(struct op_use *use)
{
	return rule_check_acc(use, product_equal(use, 1, 2));
}

const struct ir_type *rule_matmul_bias(struct op_use *use)
{
	return rule_check_bias(use, 2, product_equal(use, 0, 1));
}

/* [..., M, K] times [..., K, N], leading extents broadcast. */
static bool batched(struct op_use *use, const struct ir_list *a, const struct ir_list *b,
		    struct ir_list *out)
{
	struct ir_list x = { a->at, a->n - 2 }, y = { b->at, b->n - 2 };

	return rule_broadcast(use, &x, &y, out);
}

const struct ir_type *rule_batch_matmul(struct op_use *use)
{
	const struct ir_type *a = arg_type(use, 0), *b = arg_type(use, 1);
	struct ir_list shape = { 0 };

	if (a->shape.n < 2 || b->shape.n < 2 ||
	    !dim_equal(a->shape.at[a->shape.n - 1], b->shape.at[b->shape.n - 2]))
		return rule_error(use, "requires equal inner extents, but got %s and %s",
				  shape_text(use->px, &a->shape), shape_text(use->px, &b->shape));
	if (a->shape.n == 2 && b->shape.n == 2)
		return rule_matmul(use);
	if (!batched(use, &a->shape, &b->shape, &shape))
		return NULL;
	list_push(use->px, &shape, a->shape.at[a->shape.n - 2]);
	list_push(use->px, &shape, b->shape.at[b->shape.n - 1]);
	return rule_type(use, a, shape, dtype_is_float(a->dtype) ? DT_FP32 : DT_INT32);
}

/* The last two extents, exchanged when the operand is transposed. */
static struct ir_node *matrix_dim(const struct ir_type *t, bool trans, unsigned int i)
{
	return t->shape.at[t->shape.n - 2 + (trans ? 1 - i : i)];
}

const struct ir_type *rule_tensor_matmul(struct op_use *use)
{
	const struct ir_type *a = arg_type(use, 0), *b = arg_type(use, 1);
	const struct ir_attr *out = op_attr(use, "out_dtype");
	bool ta = op_attr(use, "a_trans")->i, tb = op_attr(use, "b_trans")->i;
	struct ir_list shape = { 0 };
	struct ir_node *ka, *kb;
	unsigned int dtype;

	if (!a->shape.n || !b->shape.n)
		return rule_error(use, "requires at least one dimension");
	ka = a->shape.n == 1 ? a->shape.at[0] : matrix_dim(a, ta, 1);
	kb = b->shape.n == 1 ? b->shape.at[0] : matrix_dim(b, tb, 0);
	if (!dim_equal(ka, kb))
		return rule_error(use, "requires equal inner extents, but got %s and %s",
				  shape_text(use->px, &a->shape), shape_text(use->px, &b->shape));
	if (a->shape.n > 1 && b->shape.n > 1 && !batched(use, &a->shape, &b->shape, &shape))
		return NULL;
	if (a->shape.n > 1)
		list_push(use->px, &shape, matrix_dim(a, ta, 0));
	if (b->shape.n > 1)
		list_push(use->px, &shape, matrix_dim(b, tb, 1));
	dtype = out ? (unsigned int)out->i : dtype_promote(a->dtype, b->dtype);
	if (dtype_is_small(dtype))
		return rule_error(use, "gives no %s elements; say out_dtype=pl.FP32",
				  dtype_name(dtype));
	return rule_type(use, a, shape, dtype);
}

/* ---- Tensors ---- */

const struct ir_type *rule_create_tensor(struct op_use *use)
{
	const struct ir_list *shape = arg_list(use, 0);
	int64_t bytes = 8;
	uint32_t i;

	for (i = 0; i < shape->n; i++)
		if (shape->at[i]->kind == IR_CONST_INT &&
		    (dim_value(shape->at[i]) < 0 ||
		     __builtin_mul_overflow(bytes, dim_value(shape->at[i]), &bytes)))
			return rule_error(use, "cannot make a tensor of shape %s",
					  shape_text(use->px, shape));
	return type_shaped(use->px, TY_TENSOR, *arg_list(use, 0), op_attr(use, "dtype")->i);
}

const struct ir_type *rule_read(struct op_use *use)
{
	const struct ir_type *t = arg_type(use, 0);
	struct ir_list ones = { 0 };
	uint32_t i;

	for (i = 0; i < t->shape.n; i++)
		list_push(use->px, &ones, rule_one(use));
	if (!inside(use, arg_list(use, 1), &ones, &t->shape))
		return NULL;
	return type_scalar(use->px, t->dtype);
}

const struct ir_type *rule_dim(struct op_use *use)
{
	int64_t axis;

	if (!axis_of(use, "axis", arg_type(use, 0)->shape.n, &axis))
		return NULL;
	return type_scalar(use->px, DT_INDEX);
}

const struct ir_type *rule_assemble(struct op_use *use)
{
	if (!inside(use, arg_list(use, 2), &arg_type(use, 1)->shape, &arg_type(use, 0)->shape))
		return NULL;
	return arg_type(use, 0);
}

/* ---- Gathering and odds and ends ---- */

/* An element's number, row by row. */
static bool has_element(struct op_use *use)
{
	const struct ir_type *tile = arg_type(use, 0);
	int64_t at, n;

	if (use->args.at[1]->kind != IR_CONST_INT || !elements(&tile->shape, &n))
		return true;
	at = IR_AS(use->args.at[1], const)->value;
	if (at >= 0 && at < n)
		return true;
	rule_error(use, "has no element %lld: the tile %s has %lld", (long long)at,
		   shape_text(use->px, &tile->shape), (long long)n);
	return false;
}

static bool has_indices(struct op_use *use, unsigned int i)
{
	if (dtype_is_int(arg_type(use, i)->dtype))
		return true;
	rule_error(use, "requires indices that are integers, but got %s",
		   dtype_name(arg_type(use, i)->dtype));
	return false;
}

const struct ir_type *rule_getval(struct op_use *use)
{
	if (!has_element(use))
		return NULL;
	return type_scalar(use->px, arg_type(use, 0)->dtype);
}

const struct ir_type *rule_setval(struct op_use *use)
{
	return has_element(use) && rule_take_scalar(use, 2, arg_type(use, 0)->dtype) ?
	       rule_nothing(use) : NULL;
}

/* Indices are as wide as elements, and at least 16 bits. */
const struct ir_type *rule_scatter(struct op_use *use)
{
	unsigned int dtype = arg_type(use, 1)->dtype, index = arg_type(use, 2)->dtype;
	unsigned int bits = dtype_info(dtype)->bits < 16 ? 16 : dtype_info(dtype)->bits;

	if (!has_indices(use, 2))
		return NULL;
	if (arg_type(use, 0)->dtype != dtype)
		return rule_error(use, "requires elements of one type, but got %s and %s",
				  dtype_name(arg_type(use, 0)->dtype), dtype_name(dtype));
	if (dtype_info(index)->bits == bits)
		return rule_to_first(use);
	rule_error(use, "requires INT%u indices for %s elements, but got %s", bits,
		   dtype_name(dtype), dtype_name(index));
	diag_hint(use->px, diag_last(use->px), "Convert them with pl.cast(indices, pl.INT%u)", bits);
	return NULL;
}

const struct ir_type *rule_gather(struct op_use *use)
{
	if (!has_indices(use, 1))
		return NULL;
	return rule_type(use, arg_type(use, 0), arg_type(use, 1)->shape, arg_type(use, 0)->dtype);
}

static bool has_int32_indices(struct op_use *use)
{
	if (!has_indices(use, 1))
		return false;
	if (dtype_info(arg_type(use, 1)->dtype)->bits == 32)
		return true;
	rule_error(use, "requires INT32 indices, but got %s", dtype_name(arg_type(use, 1)->dtype));
	diag_hint(use->px, diag_last(use->px), "Convert them with pl.cast(indices, pl.INT32)");
	return false;
}

const struct ir_type *rule_mgather(struct op_use *use)
{
	if (!has_int32_indices(use))
		return NULL;
	return type_shaped(use->px, TY_TILE, arg_type(use, 1)->shape, arg_type(use, 0)->dtype);
}

const struct ir_type *rule_mscatter(struct op_use *use)
{
	if (!has_int32_indices(use))
		return NULL;
	if (arg_type(use, 0)->dtype != arg_type(use, 2)->dtype)
		return rule_error(use, "requires elements of one type, but got %s and %s",
				  dtype_name(arg_type(use, 0)->dtype),
				  dtype_name(arg_type(use, 2)->dtype));
	return arg_type(use, 2);
}

const struct ir_type *rule_ci(struct op_use *use)
{
	unsigned int dtype = op_attr(use, "dtype")->i;

	if (!dtype_is_int(dtype))
		return rule_error(use, "makes integers, not %s", dtype_name(dtype));
	if (arg_list(use, 1)->n > 1 && dim_value(arg_list(use, 1)->at[0]) != 1)
		return rule_error(use, "makes one row, [1, n], not %s", shape_text(use->px, arg_list(use, 1)));
	if (!rule_take_scalar(use, 0, dtype))
		return NULL;
	return type_shaped(use->px, TY_TILE, *arg_list(use, 1), dtype);
}

/* Values and indices alternate in the result: two words per element. */
const struct ir_type *rule_sort32(struct op_use *use)
{
	const struct ir_type *src = arg_type(use, 0);
	struct ir_list shape = list_copy(use->px, &src->shape);
	int64_t n = dim_value(shape.at[shape.n - 1]);

	if (!has_indices(use, 1))
		return NULL;
	if (src->dtype != DT_FP16 && src->dtype != DT_FP32)
		return rule_error(use, "sorts FP16 or FP32 elements, but got %s",
				  dtype_name(src->dtype));
	if (n < 0 || n % 32)
		return rule_error(use, "requires a multiple of 32 columns, but got %s",
				  shape_text(use->px, &src->shape));
	shape.at[shape.n - 1] = ir_int(use->px, n * (src->dtype == DT_FP16 ? 4 : 2), DT_INDEX,
				       use->span);
	return rule_type(use, src, shape, src->dtype);
}

const struct ir_type *rule_mrgsort(struct op_use *use)
{
	const struct ir_type *src = arg_type(use, 0);
	struct ir_list shape = list_copy(use->px, &src->shape);
	int64_t columns = 0, n;
	uint32_t i;

	if (op_attr(use, "block_len"))
		return rule_type(use, src, shape, src->dtype);
	for (i = 0; i < use->args.n && i < 4; i++) {
		if (!use->args.at[i])
			continue;
		n = dim_value(arg_type(use, i)->shape.at[arg_type(use, i)->shape.n - 1]);
		columns += n;
	}
	if (use->args.n < 2)
		return rule_error(use, "requires block_len or two to four sorted tiles");
	shape.at[shape.n - 1] = ir_int(use->px, columns, DT_INDEX, use->span);
	return rule_type(use, src, shape, src->dtype);
}

/* ---- Clusters and pipes ---- */

const struct ir_type *rule_allocate_cluster(struct op_use *use)
{
	struct ir_list shape = { 0 };

	list_push(use->px, &shape, use->args.n ? use->args.at[0] : rule_one(use));
	if (shape.at[0]->kind == IR_CONST_INT && dim_value(shape.at[0]) < 1)
		return rule_error(use, "requires at least one cluster, but got %lld",
				  (long long)dim_value(shape.at[0]));
	return type_shaped(use->px, TY_CLUSTER, shape, DT_INT32);
}

const struct ir_type *rule_create_pipe(struct op_use *use)
{
	if (op_attr(use, "dtype")->i == DT_BOOL) {
		rule_error(use, "carries tiles of numbers, not of BOOL");
		diag_hint(use->px, diag_last(use->px),
			  "Push pl.cast(mask, pl.FP16), and pl.cast() what is popped to pl.BOOL");
		return NULL;
	}
	return type_shaped(use->px, TY_PIPE, *arg_list(use, 0), op_attr(use, "dtype")->i);
}

const struct ir_type *rule_tpush(struct op_use *use)
{
	const struct ir_type *tile = arg_type(use, 0), *pipe = arg_type(use, 1);

	if (tile->dtype != pipe->dtype || !shape_equal(&tile->shape, &pipe->shape))
		return rule_error(use, "requires a tile %s of %s, as the pipe carries, but got %s of %s",
				  shape_text(use->px, &pipe->shape), dtype_name(pipe->dtype),
				  shape_text(use->px, &tile->shape), dtype_name(tile->dtype));
	return rule_nothing(use);
}

const struct ir_type *rule_tpop(struct op_use *use)
{
	return type_shaped(use->px, TY_TILE, arg_type(use, 0)->shape, arg_type(use, 0)->dtype);
}
