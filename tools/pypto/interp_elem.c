/* SPDX-License-Identifier: MIT */
/* Interpreter: element-wise operators, section 4.4, and expansions, which are broadcasts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp_value.h"

enum elem {
	EL_ADD, EL_SUB, EL_MUL, EL_DIV, EL_REM, EL_MAX, EL_MIN, EL_LRELU, EL_AND, EL_OR, EL_XOR,
	EL_SHL, EL_SHR, EL_ADDC, EL_SUBC, EL_NEG, EL_EXP, EL_RECIP, EL_SQRT, EL_RSQRT, EL_LOG,
	EL_ABS, EL_RELU, EL_NOT
};

/* ---- Two operands ---- */

static double pair_float(int code, double a, double b)
{
	double r;

	switch (code) {
	case EL_ADD:
		return a + b;
	case EL_SUB:
		return a - b;
	case EL_MUL:
		return a * b;
	case EL_DIV:
		return a / b;
	case EL_MAX:
		return a < b ? b : a;	/* the first of two that are not ordered, as on the chip */
	case EL_MIN:
		return b < a ? b : a;
	case EL_LRELU:
		return a > 0 ? a : a * b;
	default:	/* EL_REM: the sign is the divisor's */
		r = fmod(a, b);
		return r != 0 && (r < 0) != (b < 0) ? r + b : r;
	}
}

static int64_t divide(bool is_signed, bool remainder, int64_t a, int64_t b)
{
	int64_t r;

	if (!b)
		return 0;
	if (!is_signed)
		return (int64_t)(remainder ? (uint64_t)a % (uint64_t)b : (uint64_t)a / (uint64_t)b);
	if (b == -1)
		return remainder ? 0 : (int64_t)-(uint64_t)a;
	r = a % b;
	if (!remainder)
		return a / b;
	return r && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t shift(bool is_signed, bool left, int64_t a, int64_t b)
{
	if (b < 0 || b > 63)
		return !left && is_signed && a < 0 ? -1 : 0;
	if (left)
		return (int64_t)((uint64_t)a << b);
	return is_signed ? a >> b : (int64_t)((uint64_t)a >> b);
}

static bool less(bool is_signed, int64_t a, int64_t b)
{
	return is_signed ? a < b : (uint64_t)a < (uint64_t)b;
}

static int64_t pair_int(int code, bool is_signed, int64_t a, int64_t b)
{
	switch (code) {
	case EL_ADD:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case EL_SUB:
		return (int64_t)((uint64_t)a - (uint64_t)b);
	case EL_MUL:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case EL_DIV:
	case EL_REM:
		return divide(is_signed, code == EL_REM, a, b);
	case EL_MAX:
		return less(is_signed, a, b) ? b : a;
	case EL_MIN:
		return less(is_signed, b, a) ? b : a;
	case EL_LRELU:
		return less(is_signed, 0, a) ? a : (int64_t)((uint64_t)a * (uint64_t)b);
	case EL_AND:
		return a & b;
	case EL_OR:
		return a | b;
	case EL_XOR:
		return a ^ b;
	default:
		return shift(is_signed, code == EL_SHL, a, b);
	}
}

/* a = a (op) b in elements of @dtype */
static void apply_pair(int code, unsigned int dtype, union cell *a, const union cell *b, int64_t n)
{
	bool is_float = dtype_is_float(dtype), is_signed = dtype_is_signed(dtype);
	int64_t i;

	for (i = 0; i < n; i++) {
		if (is_float)
			a[i].f = pair_float(code, a[i].f, b[i].f);
		else
			a[i].i = pair_int(code, is_signed, a[i].i, b[i].i);
		a[i] = cell_fit(dtype, a[i]);
	}
}

static struct iv *run_pair(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	union cell *a, *b;

	if (!v)
		return NULL;
	a = cells_of(r->in, r->args[0], v->dtype, v->rank, v->shape);
	b = cells_of(r->in, r->args[1], v->dtype, v->rank, v->shape);
	apply_pair(r->code, v->dtype, a, b, iv_count(v));
	cells_put(v, a);
	free(a);
	free(b);
	return v;
}

/* a + b + c and a - b + c */
static struct iv *run_triple(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	union cell *a, *b, *c;

	if (!v)
		return NULL;
	a = cells_of(r->in, r->args[0], v->dtype, v->rank, v->shape);
	b = cells_of(r->in, r->args[1], v->dtype, v->rank, v->shape);
	c = cells_of(r->in, r->args[2], v->dtype, v->rank, v->shape);
	apply_pair(r->code == EL_ADDC ? EL_ADD : EL_SUB, v->dtype, a, b, iv_count(v));
	apply_pair(EL_ADD, v->dtype, a, c, iv_count(v));
	cells_put(v, a);
	free(a);
	free(b);
	free(c);
	return v;
}

/* ---- One operand ---- */

static double one_float(int code, double a)
{
	switch (code) {
	case EL_NEG:
		return -a;
	case EL_EXP:
		return exp(a);
	case EL_RECIP:
		return 1 / a;
	case EL_SQRT:
		return sqrt(a);
	case EL_RSQRT:
		return 1 / sqrt(a);
	case EL_LOG:
		return log(a);
	case EL_ABS:
		return fabs(a);
	default:	/* EL_RELU */
		return a > 0 || isnan(a) ? a : 0;
	}
}

static int64_t one_int(int code, bool is_signed, int64_t a)
{
	switch (code) {
	case EL_NEG:
		return (int64_t)-(uint64_t)a;
	case EL_ABS:
		return is_signed && a < 0 ? (int64_t)-(uint64_t)a : a;
	case EL_RELU:
		return is_signed && a < 0 ? 0 : a;
	case EL_NOT:
		return ~a;
	default:	/* through a float, which has all values of small integers */
		return (int64_t)one_float(code, is_signed ? (double)a : (double)(uint64_t)a);
	}
}

static struct iv *run_one(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	int64_t i, n;
	union cell *a;

	if (!v)
		return NULL;
	a = cells_of(r->in, r->args[0], v->dtype, v->rank, v->shape);
	n = iv_count(v);
	for (i = 0; i < n; i++) {
		if (dtype_is_float(v->dtype))
			a[i].f = one_float(r->code, a[i].f);
		else
			a[i].i = one_int(r->code, dtype_is_signed(v->dtype), a[i].i) &
				 (v->dtype == DT_BOOL ? 1 : -1);
	}
	cells_put(v, a);
	free(a);
	return v;
}

static struct iv *run_cast(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	const struct iv *x = r->args[0];
	int mode = (int)run_attr(r, "mode", MODE_OF_TYPES);
	int64_t i, n;
	union cell *a;

	if (!v)
		return NULL;
	a = cells_of(r->in, x, x->dtype, v->rank, v->shape);
	n = iv_count(v);
	for (i = 0; i < n; i++)
		a[i] = cell_convert(x->dtype, v->dtype, a[i], mode);
	/* with a mode, whole numbers */
	for (i = 0; i < n && x->dtype == DT_FP32 && v->dtype == DT_FP32 && mode > 0; i++)
		a[i].f = round_by(a[i].f, mode);
	cells_put(v, a);
	free(a);
	return v;
}

/* ---- Choices ---- */

static bool compare(int64_t type, int order, bool unordered)
{
	switch (type) {
	case 0:
		return !unordered && !order;
	case 1:
		return unordered || order;
	case 2:
		return !unordered && order < 0;
	case 3:
		return !unordered && order <= 0;
	case 4:
		return !unordered && order > 0;
	default:
		return !unordered && order >= 0;
	}
}

static int order_of(unsigned int dtype, union cell a, union cell b)
{
	if (dtype_is_float(dtype))
		return (a.f > b.f) - (a.f < b.f);
	return less(dtype_is_signed(dtype), b.i, a.i) - less(dtype_is_signed(dtype), a.i, b.i);
}

static struct iv *run_cmp(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	unsigned int ta = r->args[0]->dtype, tb = r->args[1]->dtype;
	unsigned int dtype = ta == tb ? ta : dtype_promote(ta, tb);
	int64_t type = run_attr(r, "cmp_type", 0), i, n;
	union cell *a, *b;

	if (!v)
		return NULL;
	a = cells_of(r->in, r->args[0], dtype, v->rank, v->shape);
	b = cells_of(r->in, r->args[1], dtype, v->rank, v->shape);
	n = iv_count(v);
	for (i = 0; i < n; i++) {
		bool unordered = dtype_is_float(dtype) && (isnan(a[i].f) || isnan(b[i].f));

		a[i].i = compare(type, order_of(dtype, a[i], b[i]), unordered);
	}
	cells_put(v, a);
	free(a);
	free(b);
	return v;
}

static struct iv *run_sel(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	union cell *mask, *a, *b;
	int64_t i, n;

	if (!v)
		return NULL;
	mask = cells_of(r->in, r->args[0], DT_BOOL, v->rank, v->shape);
	a = cells_of(r->in, r->args[1], v->dtype, v->rank, v->shape);
	b = cells_of(r->in, r->args[2], v->dtype, v->rank, v->shape);
	n = iv_count(v);
	for (i = 0; i < n; i++)
		a[i] = mask[i].i ? a[i] : b[i];
	cells_put(v, a);
	free(mask);
	free(a);
	free(b);
	return v;
}

/* The operand @which of the call, in the form of the result. */
static struct iv *copy_of(struct op_run *r, unsigned int which)
{
	struct iv *v = interp_result(r->fr, &r->call->node);
	union cell *a;

	if (!v)
		return NULL;
	a = cells_of(r->in, r->args[which], v->dtype, v->rank, v->shape);
	cells_put(v, a);
	free(a);
	return v;
}

static struct iv *run_sels(struct op_run *r)
{
	return copy_of(r, r->args[2]->cell.i ? 0 : 1);
}

/* expands, full, col_expand: the value of operand @code everywhere */
static struct iv *run_spread(struct op_run *r)
{
	return copy_of(r, (unsigned int)r->code);
}

/* The first element of each row. */
static struct iv *run_row_expand(struct op_run *r)
{
	struct iv *first = iv_view(r->in, r->args[0]), *old = r->args[0];

	first->shape[first->rank - 1] = 1;
	r->args[0] = first;
	iv_unref(old);
	return copy_of(r, 0);
}

const struct op_entry *interp_ops_elem(void)
{
	static const struct op_entry ops[] = {
		{ "block.add", run_pair, EL_ADD }, { "block.sub", run_pair, EL_SUB },
		{ "block.mul", run_pair, EL_MUL }, { "block.div", run_pair, EL_DIV },
		{ "block.rem", run_pair, EL_REM }, { "block.maximum", run_pair, EL_MAX },
		{ "block.minimum", run_pair, EL_MIN }, { "block.adds", run_pair, EL_ADD },
		{ "block.subs", run_pair, EL_SUB }, { "block.muls", run_pair, EL_MUL },
		{ "block.divs", run_pair, EL_DIV }, { "block.rems", run_pair, EL_REM },
		{ "block.maxs", run_pair, EL_MAX }, { "block.mins", run_pair, EL_MIN },
		{ "block.lrelu", run_pair, EL_LRELU }, { "block.prelu", run_pair, EL_LRELU },
		{ "block.and", run_pair, EL_AND }, { "block.or", run_pair, EL_OR },
		{ "block.xor", run_pair, EL_XOR }, { "block.shl", run_pair, EL_SHL },
		{ "block.shr", run_pair, EL_SHR }, { "block.ands", run_pair, EL_AND },
		{ "block.ors", run_pair, EL_OR }, { "block.xors", run_pair, EL_XOR },
		{ "block.shls", run_pair, EL_SHL }, { "block.shrs", run_pair, EL_SHR },
		{ "block.row_expand_add", run_pair, EL_ADD },
		{ "block.row_expand_sub", run_pair, EL_SUB },
		{ "block.row_expand_mul", run_pair, EL_MUL },
		{ "block.row_expand_div", run_pair, EL_DIV },
		{ "block.col_expand_mul", run_pair, EL_MUL },
		{ "block.col_expand_div", run_pair, EL_DIV },
		{ "block.col_expand_sub", run_pair, EL_SUB },
		{ "block.addc", run_triple, EL_ADDC }, { "block.subc", run_triple, EL_SUBC },
		{ "block.addsc", run_triple, EL_ADDC }, { "block.subsc", run_triple, EL_SUBC },
		{ "block.neg", run_one, EL_NEG }, { "block.exp", run_one, EL_EXP },
		{ "block.recip", run_one, EL_RECIP }, { "block.sqrt", run_one, EL_SQRT },
		{ "block.rsqrt", run_one, EL_RSQRT }, { "block.log", run_one, EL_LOG },
		{ "block.abs", run_one, EL_ABS }, { "block.relu", run_one, EL_RELU },
		{ "block.not", run_one, EL_NOT }, { "block.cast", run_cast, 0 },
		{ "block.cmp", run_cmp, 0 }, { "block.cmps", run_cmp, 0 },
		{ "block.sel", run_sel, 0 }, { "block.selc", run_sel, 0 },
		{ "block.sels", run_sels, 0 }, { "block.expands", run_spread, 1 },
		{ "block.full", run_spread, 1 }, { "block.col_expand", run_spread, 1 },
		{ "block.row_expand", run_row_expand, 0 },
		{ "tensor.add", run_pair, EL_ADD }, { "tensor.sub", run_pair, EL_SUB },
		{ "tensor.mul", run_pair, EL_MUL }, { "tensor.div", run_pair, EL_DIV },
		{ "tensor.add_scalar", run_pair, EL_ADD },
		{ "tensor.sub_scalar", run_pair, EL_SUB },
		{ "tensor.mul_scalar", run_pair, EL_MUL },
		{ "tensor.div_scalar", run_pair, EL_DIV },
		{ "tensor.maximum", run_pair, EL_MAX }, { "tensor.minimum", run_pair, EL_MIN },
		{ "tensor.rem", run_pair, EL_REM }, { "tensor.and", run_pair, EL_AND },
		{ "tensor.or", run_pair, EL_OR }, { "tensor.xor", run_pair, EL_XOR },
		{ "tensor.shl", run_pair, EL_SHL }, { "tensor.shr", run_pair, EL_SHR },
		{ "tensor.neg", run_one, EL_NEG }, { "tensor.abs", run_one, EL_ABS },
		{ "tensor.relu", run_one, EL_RELU }, { "tensor.recip", run_one, EL_RECIP },
		{ "tensor.sqrt", run_one, EL_SQRT }, { "tensor.rsqrt", run_one, EL_RSQRT },
		{ "tensor.log", run_one, EL_LOG }, { "tensor.not", run_one, EL_NOT },
		{ "tensor.expands", run_spread, 1 }, { "tensor.exp", run_one, EL_EXP },
		{ "tensor.cast", run_cast, 0 },
		{ NULL, NULL, 0 }
	};

	return ops;
}
