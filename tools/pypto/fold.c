/* SPDX-License-Identifier: MIT */
/* Arithmetic of integer constants, so that extents and offsets stay constants. */
#include <errno.h>

#include "ir.h"

static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

/* @a to the power @b. Return: whether it does not fit. */
static bool power(int64_t a, int64_t b, int64_t *v)
{
	if (b < 0)
		return true;
	*v = 1;
	if (a == 0 || a == 1 || a == -1) {
		*v = !b ? 1 : a == -1 && b % 2 == 0 ? 1 : a;
		return false;
	}
	for (; b; b--)
		if (__builtin_mul_overflow(*v, a, v))
			return true;
	return false;
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
	case IR_POW:
		over = power(a, b, &v);
		break;
	case IR_BIT_SHL:
		over = b < 0 || b > 62 || __builtin_mul_overflow(a, (int64_t)1 << b, &v);
		break;
	case IR_BIT_SHR:
		over = b < 0 || b > 63;
		v = over ? 0 : a >> b;
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

int ir_trips(const struct ir_node *start, const struct ir_node *stop, const struct ir_node *step,
	     int64_t *trips)
{
	int64_t from, to, by, distance;

	*trips = 0;
	if (start->kind != IR_CONST_INT || stop->kind != IR_CONST_INT ||
	    step->kind != IR_CONST_INT || !IR_AS(step, const)->value)
		return -EINVAL;
	from = IR_AS(start, const)->value;
	to = IR_AS(stop, const)->value;
	by = IR_AS(step, const)->value;
	if (by > 0 ? from >= to : from <= to)
		return 0;
	if (__builtin_sub_overflow(to, from, &distance))
		return -ERANGE;
	*trips = (distance + (by > 0 ? -1 : 1)) / by + 1;
	return 0;
}
