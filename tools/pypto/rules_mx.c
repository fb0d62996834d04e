/* SPDX-License-Identifier: MIT */
/*
 * Floats of eight bits: which operators take them, tiles of scales, and products with scales;
 * sections 3.2, 3.3, 4.6.
 */
#include <stdarg.h>
#include <stdio.h>

#include "rules.h"

#define GROUP	32	/* elements along K that share a scale */
#define K_STEP	64	/* the machine takes them in pairs of groups */

/* ---- Which operators take them ---- */

typedef const struct ir_type *rule_fn(struct op_use *use);

static bool one_of(rule_fn *rule, rule_fn *const *rules, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rules[i] == rule)
			return true;
	return false;
}

/* Elements are only brought from place to place. */
static bool only_moves(rule_fn *rule)
{
	static rule_fn *const rules[] = {
		rule_load, rule_store, rule_move, rule_extract, rule_reshape, rule_slice,
		rule_create_tile, rule_create_tensor, rule_dim, rule_assemble,
	};

	return one_of(rule, rules, sizeof(rules) / sizeof(rules[0]));
}

static bool is_product(rule_fn *rule)
{
	static rule_fn *const rules[] = {
		rule_matmul, rule_matmul_acc, rule_matmul_bias, rule_batch_matmul,
		rule_tensor_matmul, rule_matmul_mx, rule_matmul_mx_acc, rule_matmul_mx_bias,
	};

	return one_of(rule, rules, sizeof(rules) / sizeof(rules[0]));
}

static bool is_mx_product(rule_fn *rule)
{
	return rule == rule_matmul_mx || rule == rule_matmul_mx_acc || rule == rule_matmul_mx_bias;
}

static const struct ir_type *refuse(struct op_use *use, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static const struct ir_type *refuse(struct op_use *use, const char *hint, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_hint(use->px, diag_add(use->px, DIAG_OPERATION, use->span, "The operator %s %s",
				    use->op->name, text), "%s", hint);
	return NULL;
}

/* Tiles of scales lie in boxes, which views of tiles do not know. */
static bool is_view_of_scales(const struct op_use *use, const struct ir_type *type)
{
	return type->kind == TY_TILE && type->dtype == DT_FP8E8M0 &&
	       (use->op->rule == rule_reshape || use->op->rule == rule_slice);
}

bool rule_takes(struct op_use *use, const struct ir_type *type)
{
	bool scale = type->dtype == DT_FP8E8M0;

	if (is_view_of_scales(use, type))
		return refuse(use, "Load the part from the tensor, or copy it with pl.extract()",
			      "does not take a tile of FP8E8M0 scales"), false;
	if (!type_is_data(type) || !dtype_is_small(type->dtype) ||
	    only_moves(use->op->rule) || is_mx_product(use->op->rule) ||
	    (!scale && (use->op->rule == rule_cast || is_product(use->op->rule))))
		return true;
	refuse(use, scale ? "FP8E8M0 elements are the scales of pl.matmul_mx(); a tensor of UINT8 has them as numbers" :
	       "Convert them with pl.cast(x, pl.FP32), and the result back",
	       "does not take %s elements", dtype_name(type->dtype));
	return false;
}

bool rule_converts(struct op_use *use, unsigned int from, unsigned int to)
{
	unsigned int other = dtype_is_small(from) ? to : from;

	if ((!dtype_is_small(from) && !dtype_is_small(to)) || dtype_is_small(other) ||
	    other == DT_FP32 || other == DT_FP16 || other == DT_BF16)
		return true;
	refuse(use, "Go by way of FP32: pl.cast(pl.cast(x, pl.FP32), ...)",
	       "does not convert %s to %s", dtype_name(from), dtype_name(to));
	return false;
}

/* ---- Tiles of scales ---- */

static bool fills(const struct ir_type *type, int64_t rows, int64_t columns)
{
	return type->shape.n == 2 && dim_value(type->shape.at[0]) > 0 &&
	       dim_value(type->shape.at[0]) % rows == 0 &&
	       dim_value(type->shape.at[1]) > 0 && dim_value(type->shape.at[1]) % columns == 0;
}

/* Scales of left operands lie in boxes of 16 x 2, of right ones in boxes of 2 x 16. */
static bool scale_layout(struct op_use *use, struct ir_type *type, int64_t space)
{
	bool left = space != MS_RIGHT_SCALE && fills(type, 16, 2);
	bool right = space != MS_LEFT_SCALE && fills(type, 2, 16);

	if (space != MS_MAT && space != MS_LEFT_SCALE && space != MS_RIGHT_SCALE)
		return refuse(use, "Load them into Mat, and move them to LeftScale or RightScale",
			      "cannot put FP8E8M0 scales into %s",
			      enum_name(EN_MEMORY_SPACE, space)), false;
	if (!left && !right)
		return refuse(use, "Give the tile whole boxes, and say which part is valid: valid_shapes=[...]",
			      "requires scales in boxes of %s for %s, but got %s",
			      space == MS_LEFT_SCALE ? "16 x 2" : space == MS_RIGHT_SCALE ? "2 x 16" :
			      "16 x 2 or 2 x 16", enum_name(EN_MEMORY_SPACE, space),
			      shape_text(use->px, &type->shape)), false;
	if (left)
		rule_layout(type, TL_ROW_MAJOR, TL_ROW_MAJOR, 32);
	else
		rule_layout(type, TL_COL_MAJOR, TL_COL_MAJOR, 32);
	return true;
}

bool rule_place(struct op_use *use, struct ir_type *type, int64_t space)
{
	if (type->dtype == DT_FP8E8M0)
		return scale_layout(use, type, space);
	if (space == MS_LEFT_SCALE || space == MS_RIGHT_SCALE)
		return refuse(use, "Declare the tensor of scales pl.FP8E8M0: arrays of bytes are taken for it",
			      "cannot put %s elements into %s, which holds scales of FP8E8M0",
			      dtype_name(type->dtype), enum_name(EN_MEMORY_SPACE, space)), false;
	return true;
}

static int64_t filled(const struct ir_type *type, uint32_t from_end)
{
	int64_t n = dim_value(type->shape.at[type->shape.n - 1 - from_end]);
	int64_t unit = type_unit(type, from_end);

	return (n + unit - 1) / unit * unit;
}

bool rule_keeps_boxes(struct op_use *use, const struct ir_type *type, bool across)
{
	const struct ir_type *from = arg_type(use, 0);

	if (!dtype_is_small(from->dtype) || from->shape.n != 2 ||
	    type->view.slayout == TL_NONE_BOX || from->view.slayout == TL_NONE_BOX ||
	    (filled(type, across) == filled(from, 0) && filled(type, !across) == filled(from, 1)))
		return true;
	refuse(use, "Load it with extents that are multiples of 32, and say which are valid: valid_shapes=[...]",
	       "cannot put a tile %s of %s into %s%s, whose boxes it does not fill",
	       shape_text(use->px, &from->shape), dtype_name(from->dtype),
	       enum_name(EN_MEMORY_SPACE, op_attr(use, "target_memory")->i),
	       across ? " transposed" : "");
	return false;
}

/* ---- Products with scales ---- */

static bool is_operand(unsigned int dtype)
{
	return dtype == DT_FP8E4M3FN || dtype == DT_FP8E5M2;
}

static bool check_scale(struct op_use *use, unsigned int i, int64_t rows, int64_t columns)
{
	const struct ir_type *scale = arg_type(use, i);

	if (scale->dtype != DT_FP8E8M0)
		return refuse(use, "Declare the tensor of scales pl.FP8E8M0: arrays of bytes are taken for it",
			      "requires scales of FP8E8M0, but got %s",
			      dtype_name(scale->dtype)), false;
	if (scale->shape.n == 2 && dim_value(scale->shape.at[0]) == rows &&
	    dim_value(scale->shape.at[1]) == columns)
		return true;
	return refuse(use, "There is one scale for 32 elements along K: [M, K / 32] on the left, [K / 32, N] on the right",
		      "requires scales [%lld, %lld] for an operand %s, but got %s",
		      (long long)rows, (long long)columns,
		      shape_text(use->px, &arg_type(use, i - 1)->shape),
		      shape_text(use->px, &scale->shape)), false;
}

/* Operand @l, its scales, the other operand and its scales. */
static const struct ir_type *product_mx(struct op_use *use, unsigned int l)
{
	const struct ir_type *a = arg_type(use, l), *b = arg_type(use, l + 2);
	const struct ir_type *type;
	int64_t k;

	if (!is_operand(a->dtype) || !is_operand(b->dtype))
		return refuse(use, "Operands are FP8E4M3FN or FP8E5M2, in any mixture; pl.cast() makes them from FP32",
			      "does not multiply %s by %s", dtype_name(a->dtype),
			      dtype_name(b->dtype));
	type = rule_product(use, l, l + 2);
	if (!type)
		return NULL;
	k = dim_value(a->shape.at[1]);
	if (k < 0 || k % K_STEP)
		return refuse(use, "Give the tiles more columns and rows, and say which are valid: valid_shapes=[...]",
			      "requires an inner extent that is a multiple of %d, but got %s and %s",
			      K_STEP, shape_text(use->px, &a->shape), shape_text(use->px, &b->shape));
	if (!check_scale(use, l + 1, dim_value(a->shape.at[0]), k / GROUP) ||
	    !check_scale(use, l + 3, k / GROUP, dim_value(b->shape.at[1])))
		return NULL;
	return type;
}

const struct ir_type *rule_matmul_mx(struct op_use *use)
{
	return product_mx(use, 0);
}

const struct ir_type *rule_matmul_mx_acc(struct op_use *use)
{
	return rule_check_acc(use, product_mx(use, 1));
}

const struct ir_type *rule_matmul_mx_bias(struct op_use *use)
{
	return rule_check_bias(use, 4, product_mx(use, 0));
}
