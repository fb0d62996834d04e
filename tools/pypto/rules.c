/* SPDX-License-Identifier: MIT */
/* Type rules of element-wise operators, reductions and expansions: sections 4.2, 4.4, 4.5. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rules.h"

const struct ir_type *rule_error(struct op_use *use, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_add(use->px, DIAG_OPERATION, use->span, "The operator %s %s", use->op->name, text);
	return NULL;
}

struct ir_node *rule_one(struct op_use *use)
{
	return ir_int(use->px, 1, DT_INDEX, use->span);
}

struct ir_type *rule_type(struct op_use *use, const struct ir_type *like, struct ir_list shape,
			  unsigned int dtype)
{
	return (struct ir_type *)type_shaped(use->px, like->kind, shape, dtype);
}

void rule_layout(struct ir_type *type, enum tile_layout blayout, enum tile_layout slayout,
		 unsigned int fractal)
{
	type->view.blayout = blayout;
	type->view.slayout = slayout;
	type->view.fractal = fractal;
}

bool rule_broadcast(struct op_use *use, const struct ir_list *a, const struct ir_list *b,
		    struct ir_list *out)
{
	uint32_t n = a->n > b->n ? a->n : b->n, i;

	for (i = 0; i < n; i++) {
		struct ir_node *x = i + a->n < n ? NULL : a->at[i + a->n - n];
		struct ir_node *y = i + b->n < n ? NULL : b->at[i + b->n - n];

		if (!x || (y && dim_value(x) == 1)) {
			list_push(use->px, out, y);
		} else if (!y || dim_value(y) == 1 || dim_equal(x, y)) {
			list_push(use->px, out, x);
		} else {
			rule_error(use, "requires compatible shapes, but got %s and %s",
				   shape_text(use->px, a), shape_text(use->px, b));
			return false;
		}
	}
	return true;
}

static bool literal_take(struct op_use *use, unsigned int i, unsigned int dtype)
{
	struct ir_node *arg = use->args.at[i];
	int64_t value = IR_AS(arg, const)->value;

	if (arg->kind == IR_CONST_FLOAT) {
		use->args.at[i] = ir_float(use->px, IR_AS(arg, float)->value, dtype, arg->span);
		return true;
	}
	if (dtype_is_float(dtype)) {
		use->args.at[i] = ir_float(use->px, (double)value, dtype, arg->span);
		return true;
	}
	if (!dtype_holds(dtype, value)) {
		rule_error(use, "cannot take %lld, which does not fit into %s", (long long)value,
			   dtype_name(dtype));
		return false;
	}
	use->args.at[i] = ir_int(use->px, value, dtype, arg->span);
	return true;
}

bool rule_take_scalar(struct op_use *use, unsigned int i, unsigned int dtype)
{
	struct ir_node *arg = use->args.at[i];
	unsigned int have = arg->type->dtype;

	if (have == dtype)
		return true;
	if (have == DT_BOOL || dtype == DT_BOOL ||
	    (dtype_is_float(have) && !dtype_is_float(dtype))) {
		rule_error(use, "cannot take a %s scalar with %s elements", dtype_name(have),
			   dtype_name(dtype));
		if (dtype_is_float(have))
			diag_hint(use->px, diag_last(use->px),
				  "Convert the elements with pl.cast(x, pl.%s), or the scalar with pl.cast(s, pl.%s)",
				  dtype_name(have), dtype_name(dtype));
		return false;
	}
	use->args = list_copy(use->px, &use->args);
	if (ir_is_const(arg))
		return literal_take(use, i, dtype);
	use->args.at[i] = ir_cast(use->px, arg, dtype, arg->span);
	return true;
}

static bool need_int(struct op_use *use, const struct ir_type *type)
{
	if (dtype_is_int(type->dtype))
		return true;
	rule_error(use, "requires integer tile dtype, but got %s", dtype_name(type->dtype));
	diag_hint(use->px, diag_last(use->px), type->dtype == DT_BOOL ?
		  "Masks go with masks: compare the other operand, or pl.cast() it to pl.BOOL" :
		  "Bits are those of integers: convert the values with pl.cast(x, pl.INT32)");
	return false;
}

/* D4: both operands must be valid in the same region when they have the same shape. */
static bool valid_agree(struct op_use *use, const struct ir_type *a, const struct ir_type *b)
{
	const struct ir_list *va = a->view.valid.n ? &a->view.valid : &a->shape;
	const struct ir_list *vb = b->view.valid.n ? &b->view.valid : &b->shape;

	if (!shape_equal(&a->shape, &b->shape) || shape_equal(va, vb) ||
	    !strncmp(use->op->name, "block.part", 10))
		return true;
	rule_error(use, "requires equal valid regions, but got %s and %s",
		   shape_text(use->px, va), shape_text(use->px, vb));
	return false;
}

/* The type of an element-wise result of two operands; keeps what @a says about its layout. */
static const struct ir_type *pair_type(struct op_use *use, const struct ir_type *a,
				       const struct ir_type *b, unsigned int dtype)
{
	struct ir_list shape = { 0 };
	struct ir_type *type;

	if (!rule_broadcast(use, &a->shape, &b->shape, &shape) || !valid_agree(use, a, b))
		return NULL;
	type = rule_type(use, a, shape, dtype);
	if (shape_equal(&shape, &a->shape))
		type->view = a->view;
	else if (shape_equal(&shape, &b->shape))
		type->view = b->view;
	return type;
}

static const struct ir_type *with_dtype(struct op_use *use, const struct ir_type *like,
					unsigned int dtype)
{
	struct ir_type *type = rule_type(use, like, like->shape, dtype);

	type->view = like->view;
	return type;
}

const struct ir_type *rule_same(struct op_use *use)
{
	return with_dtype(use, arg_type(use, 0), arg_type(use, 0)->dtype);
}

const struct ir_type *rule_to_first(struct op_use *use)
{
	return rule_same(use);
}

const struct ir_type *rule_nothing(struct op_use *use)
{
	return type_tuple(use->px, NULL, 0);
}

const struct ir_type *rule_binary(struct op_use *use)
{
	const struct ir_type *a = arg_type(use, 0), *b = arg_type(use, 1);

	return pair_type(use, a, b, dtype_promote(a->dtype, b->dtype));
}

const struct ir_type *rule_binary_int(struct op_use *use)
{
	if (arg_type(use, 0)->dtype == DT_BOOL && arg_type(use, 1)->dtype == DT_BOOL)
		return rule_binary(use);
	if (!need_int(use, arg_type(use, 0)) || !need_int(use, arg_type(use, 1)))
		return NULL;
	return rule_binary(use);
}

const struct ir_type *rule_shift(struct op_use *use)
{
	const struct ir_type *a = arg_type(use, 0), *b = arg_type(use, 1);

	if (!need_int(use, a) || !need_int(use, b))
		return NULL;
	return pair_type(use, a, b, a->dtype);
}

const struct ir_type *rule_scalar(struct op_use *use)
{
	return rule_take_scalar(use, 1, arg_type(use, 0)->dtype) ? rule_same(use) : NULL;
}

const struct ir_type *rule_tensor_scalar(struct op_use *use)
{
	return rule_scalar(use);
}

/* The machine takes the count modulo the width, or not; nobody means that. */
static bool shift_fits(struct op_use *use)
{
	const struct ir_node *count = use->args.at[1];
	unsigned int bits = dtype_info(arg_type(use, 0)->dtype)->bits;

	if (strncmp(use->op->pl, "sh", 2) || count->kind != IR_CONST_INT ||
	    (uint64_t)IR_AS(count, const)->value < bits)
		return true;
	diag_hint(use->px, diag_add(use->px, DIAG_OPERATION, use->span,
				    "pl.%s() cannot shift %s elements by %lld bits", use->op->pl,
				    dtype_name(arg_type(use, 0)->dtype),
				    (long long)IR_AS(count, const)->value),
		  "Shift by 0 to %u bits", bits - 1);
	return false;
}

const struct ir_type *rule_scalar_int(struct op_use *use)
{
	return need_int(use, arg_type(use, 0)) && shift_fits(use) ? rule_scalar(use) : NULL;
}

const struct ir_type *rule_ternary(struct op_use *use)
{
	const struct ir_type *a = rule_binary(use), *c = arg_type(use, 2);

	return a ? pair_type(use, a, c, dtype_promote(a->dtype, c->dtype)) : NULL;
}

const struct ir_type *rule_add_scalar_tile(struct op_use *use)
{
	const struct ir_type *a = arg_type(use, 0), *c = arg_type(use, 2);

	if (!rule_take_scalar(use, 1, a->dtype))
		return NULL;
	return pair_type(use, a, c, dtype_promote(a->dtype, c->dtype));
}

const struct ir_type *rule_sel(struct op_use *use)
{
	const struct ir_type *mask = arg_type(use, 0), *a = arg_type(use, 1), *b = arg_type(use, 2);
	const struct ir_type *type = pair_type(use, a, b, dtype_promote(a->dtype, b->dtype));
	struct ir_list shape = { 0 };

	if (mask->dtype != DT_BOOL) {
		rule_error(use, "requires a mask of BOOL first, but got %s",
			   dtype_name(mask->dtype));
		diag_hint(use->px, diag_last(use->px),
			  "Compare, as pl.cmps(x, 0, cmp_type='ne') does, or pl.cast(x, pl.BOOL)");
		return NULL;
	}
	if (!type || !rule_broadcast(use, &mask->shape, &type->shape, &shape))
		return NULL;
	if (!shape_equal(&shape, &type->shape))
		return rule_error(use, "requires a mask that fits %s, but got %s",
				  shape_text(use->px, &type->shape),
				  shape_text(use->px, &mask->shape));
	return valid_agree(use, mask, type) ? type : NULL;
}

const struct ir_type *rule_sels(struct op_use *use)
{
	return rule_binary(use);
}

const struct ir_type *rule_cmp(struct op_use *use)
{
	return pair_type(use, arg_type(use, 0), arg_type(use, 1), DT_BOOL);
}

const struct ir_type *rule_cmps(struct op_use *use)
{
	if (!rule_take_scalar(use, 1, arg_type(use, 0)->dtype))
		return NULL;
	return with_dtype(use, arg_type(use, 0), DT_BOOL);
}

const struct ir_type *rule_not_bits(struct op_use *use)
{
	unsigned int dtype = arg_type(use, 0)->dtype;

	if (dtype != DT_INT16 && dtype != DT_UINT16 && dtype != DT_BOOL)
		return rule_error(use, "requires INT16, UINT16 or BOOL elements, but got %s",
				  dtype_name(dtype));
	return rule_same(use);
}

const struct ir_type *rule_cast(struct op_use *use)
{
	unsigned int from = arg_type(use, 0)->dtype;
	unsigned int to = (unsigned int)op_attr(use, "target_type")->i;

	if (!rule_converts(use, from, to))
		return NULL;
	return with_dtype(use, arg_type(use, 0), to);
}

const struct ir_type *rule_exp(struct op_use *use)
{
	unsigned int dtype = arg_type(use, 0)->dtype;

	return with_dtype(use, arg_type(use, 0), dtype_is_float(dtype) ? dtype : DT_FP32);
}

/* A number to fill with must be one of the elements'. */
static bool pad_fits(struct op_use *use)
{
	const struct ir_attr *pad = op_attr(use, "pad");
	unsigned int dtype = arg_type(use, 0)->dtype;
	double value = pad->kind == AT_FLOAT ? pad->f : (double)pad->i;

	if (pad->kind == AT_ENUM || dtype_is_float(dtype) ||
	    (value >= -0x1p63 && value < 0x1p63 && value == (double)(int64_t)value &&
	     (dtype == DT_BOOL ? !value : dtype_holds(dtype, (int64_t)value))))
		return true;
	rule_error(use, "cannot fill %s elements with %g", dtype_name(dtype), value);
	return false;
}

const struct ir_type *rule_fill(struct op_use *use)
{
	struct ir_type *type;

	if (!pad_fits(use))
		return NULL;
	type = type_copy(use->px, rule_same(use));
	type->view.valid.n = 0;
	type->view.pad = 0;	/* a whole tile like any other: what it was filled with is the call's */
	return type;
}

/* ---- Reductions ---- */

/* The type with extent @axis one, and the same for the valid region. */
static struct ir_type *squeezed(struct op_use *use, uint32_t axis)
{
	const struct ir_type *src = arg_type(use, 0);
	struct ir_type *type = rule_type(use, src, list_copy(use->px, &src->shape), src->dtype);

	type->shape.at[axis] = rule_one(use);
	if (src->view.valid.n) {
		type->view.valid = list_copy(use->px, &src->view.valid);
		type->view.valid.at[axis] = rule_one(use);
		if (shape_equal(&type->view.valid, &type->shape))
			type->view.valid.n = 0;
	}
	return type;
}

static bool need_rank(struct op_use *use, uint32_t least)
{
	if (arg_type(use, 0)->shape.n >= least)
		return true;
	rule_error(use, "requires at least %u dimensions, but got %s", least,
		   shape_text(use->px, &arg_type(use, 0)->shape));
	return false;
}

/* The front end brings other axes to the end, and drops the one that is left. */
static bool last_and_kept(struct op_use *use)
{
	const struct ir_type *src = arg_type(use, 0);
	int64_t axis = op_attr(use, "axis")->i, n = src->shape.n;
	bool keep = op_attr(use, "keep_dim")->i;

	if (axis < -n || axis >= n)
		rule_error(use, "has no axis %lld: the tensor is %s", (long long)axis,
			   shape_text(use->px, &src->shape));
	else if ((axis != -1 && axis != n - 1) || !keep)
		rule_error(use,
			   "reduces the last axis and keeps it, but got axis=%lld, keep_dim=%s",
			   (long long)axis, keep ? "True" : "False");
	else
		return true;
	return false;
}

const struct ir_type *rule_row_reduce(struct op_use *use)
{
	struct ir_type *type;

	if (!need_rank(use, 2) ||
	    (arg_type(use, 0)->kind == TY_TENSOR && !last_and_kept(use)))
		return NULL;
	type = squeezed(use, arg_type(use, 0)->shape.n - 1);
	if (type->kind == TY_TILE)
		type->view.blayout = TL_COL_MAJOR;
	return type;
}

const struct ir_type *rule_col_reduce(struct op_use *use)
{
	return need_rank(use, 2) ? squeezed(use, arg_type(use, 0)->shape.n - 2) : NULL;
}

const struct ir_type *rule_reduce(struct op_use *use)
{
	struct ir_type *type;
	const struct ir_type *src = arg_type(use, 0);
	int64_t axis = op_attr(use, "axis")->i, n = src->shape.n;
	uint32_t i;

	if (axis < -n || axis >= n)
		return rule_error(use, "has no axis %lld: the tile is %s", (long long)axis,
				  shape_text(use->px, &src->shape));
	axis = axis < 0 ? axis + n : axis;
	type = squeezed(use, (uint32_t)axis);
	if (op_attr(use, "keepdim")->i)
		return type;
	if (n == 1)
		return type_scalar(use->px, src->dtype);
	for (i = (uint32_t)axis; i + 1 < type->shape.n; i++)
		type->shape.at[i] = type->shape.at[i + 1];
	type->shape.n--;
	type->view.valid.n = 0;
	return type;
}

static const struct ir_type *expand(struct op_use *use, uint32_t from_end, const char *what)
{
	const struct ir_type *a = arg_type(use, 0), *v = arg_type(use, 1);

	if (!need_rank(use, 2))
		return NULL;
	if (v->shape.n != a->shape.n || dim_value(v->shape.at[v->shape.n - from_end]) != 1 ||
	    !dim_equal(v->shape.at[v->shape.n - 3 + from_end],
		       a->shape.at[a->shape.n - 3 + from_end]))
		return rule_error(use, "requires one value per %s of %s, but got %s", what,
				  shape_text(use->px, &a->shape), shape_text(use->px, &v->shape));
	return with_dtype(use, a, dtype_promote(a->dtype, v->dtype));
}

const struct ir_type *rule_row_expand(struct op_use *use)
{
	return expand(use, 1, "row");
}

const struct ir_type *rule_col_expand(struct op_use *use)
{
	return expand(use, 2, "column");
}
