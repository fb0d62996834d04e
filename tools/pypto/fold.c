/* SPDX-License-Identifier: MIT */
/* Arithmetic of integer constants, so that extents and offsets stay constants. */
#include "ir.h"

static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

struct ir_node *ir_fold(struct px *px, enum ir_kind kind, const struct ir_node *left,
			const struct ir_node *right, unsigned int dtype, struct span span)
{
	int64_t a, b, v;
	bool over = false;

	if (left->kind != IR_CONST_INT || right->kind != IR_CONST_INT)
		return NULL;
	a = IR_AS(left, const)->value;
	b = IR_AS(right, const)->value;
	switch (kind) {
	case IR_ADD:
		over = __builtin_add_overflow(a, b, &v);
		break;
	case IR_SUB:
		over = __builtin_sub_overflow(a, b, &v);
		break;
	case IR_MUL:
		over = __builtin_mul_overflow(a, b, &v);
		break;
	case IR_FLOOR_DIV:
	case IR_FLOOR_MOD:
		if (!b || b == -1)
			return NULL;
		v = kind == IR_FLOOR_DIV ? floor_div(a, b) : a - floor_div(a, b) * b;
		break;
	case IR_MIN:
		v = a < b ? a : b;
		break;
	case IR_MAX:
		v = a > b ? a : b;
		break;
	default:
		return NULL;
	}
	return over || !dtype_holds(dtype, v) ? NULL : ir_int(px, v, dtype, span);
}
