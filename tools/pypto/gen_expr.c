/* SPDX-License-Identifier: MIT */
/* Scalar expressions as C++: sections 9.3, 9.4 and 11. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

void gen_line(struct gen_cxx *g, const char *fmt, ...)
{
	char small[512], *text = small;
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n >= (int)sizeof(small)) {
		text = px_alloc(g->px, (size_t)n + 1, 1);
		vsnprintf(text, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	va_end(ap);
	text_printf(&g->out, "%*s%s\n", *text ? (int)(4 * g->indent) : 0, "", text);
}

/* ---- Literals ---- */

static uint64_t round_shift(uint64_t value, unsigned int shift)
{
	uint64_t half, rest;

	if (shift > 63)
		return 0;
	half = (uint64_t)1 << (shift - 1);
	rest = value & (2 * half - 1);
	value >>= shift;
	return value + (rest > half || (rest == half && (value & 1)));
}

/* Bits of @value as a float of @exponent and @mantissa bits, to nearest, ties to even. */
static uint64_t small_float(double value, int exponent, int mantissa)
{
	int bias = (1 << (exponent - 1)) - 1, e;
	uint64_t sign = signbit(value) ? (uint64_t)1 << (exponent + mantissa) : 0, bits;
	uint64_t infinity = (((uint64_t)1 << exponent) - 1) << mantissa;

	if (isnan(value))
		return infinity | (uint64_t)1 << (mantissa - 1);
	if (isinf(value) || value == 0)
		return sign | (value == 0 ? 0 : infinity);
	bits = (uint64_t)ldexp(frexp(fabs(value), &e), 53);
	e += bias - 1;
	if (e < 1)
		bits = round_shift(bits, (unsigned int)(53 - mantissa - e));
	else
		bits = round_shift(bits, (unsigned int)(52 - mantissa)) +
		       ((uint64_t)(e - 1) << mantissa);
	return sign | (bits > infinity ? infinity : bits);
}

uint64_t gen_float_bits(double value, unsigned int dtype)
{
	uint64_t bits;

	if (dtype == DT_FP16)
		return small_float(value, 5, 10);
	if (dtype == DT_BF16)
		return small_float(value, 8, 7);
	if (dtype == DT_FP32)
		return small_float(value, 8, 23);
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static bool reads_back(const char *text, double value, unsigned int dtype)
{
	return dtype == DT_FP64 ? strtod(text, NULL) == value :
				  (double)strtof(text, NULL) == (double)(float)value;
}

/* Six decimals if they say it exactly, else the shortest text that does. */
const char *gen_float_text(struct px *px, double value, unsigned int dtype)
{
	const char *suffix = dtype == DT_FP64 ? "" : "f";
	char text[64];
	int digits;

	if (isnan(value))
		return px_printf(px, "__builtin_nan%s(\"\")", suffix);
	if (isinf(value) || (dtype != DT_FP64 && isinf((float)value)))
		return px_printf(px, "%s__builtin_inf%s()", value < 0 ? "-" : "", suffix);
	if (fabs(value) < 1e15) {
		snprintf(text, sizeof(text), "%.6f", value);
		if (reads_back(text, value, dtype))
			return px_printf(px, "%s%s", text, suffix);
	}
	for (digits = 1; digits < 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (reads_back(text, value, dtype))
			break;
	}
	if (digits == 17)
		snprintf(text, sizeof(text), "%.17g", value);
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
	return px_printf(px, "%s%s", text, suffix);
}

static const char *int_text(struct gen_cxx *g, const struct ir_node *e)
{
	int64_t value = IR_AS(e, const)->value;

	if (value == INT64_MIN && e->type->dtype != DT_UINT64)
		return "INT64_MIN";
	if (e->type->dtype == DT_UINT64 && value < 0)
		return px_printf(g->px, "%lluULL", (unsigned long long)value);
	return px_printf(g->px, "%lld", (long long)value);
}

const char *gen_c_type(struct gen_cxx *g, const struct ir_type *type, struct span span)
{
	const struct dtype_info *info = dtype_info(type->dtype);

	if (info && info->c_name)
		return info->c_name;
	diag_add(g->px, DIAG_COMPILE, span, "Values of type %s cannot be generated",
		 dtype_name(type->dtype));
	return "int";
}

/* ---- Operators ---- */

static const char *const symbols[IR_KINDS] = {
	[IR_ADD] = "+", [IR_SUB] = "-", [IR_MUL] = "*", [IR_FLOAT_DIV] = "/", [IR_EQ] = "==",
	[IR_NE] = "!=", [IR_LT] = "<", [IR_LE] = "<=", [IR_GT] = ">", [IR_GE] = ">=",
	[IR_AND] = "&&", [IR_OR] = "||", [IR_XOR] = "!=", [IR_BIT_AND] = "&", [IR_BIT_OR] = "|",
	[IR_BIT_XOR] = "^", [IR_BIT_SHL] = "<<", [IR_BIT_SHR] = ">>",
};

static bool is_arithmetic(const struct ir_node *e)
{
	return e->kind == IR_ADD || e->kind == IR_SUB || e->kind == IR_MUL ||
	       e->kind == IR_BIT_SHL;
}

/* Integers narrower than int are computed as int and cut. */
static const char *cut(struct gen_cxx *g, const struct ir_node *e, const char *text)
{
	unsigned int dtype = e->type->dtype;

	if (!dtype_is_int(dtype) || dtype_info(dtype)->bits >= 32)
		return text;
	return px_printf(g->px, "static_cast<%s>%s", gen_c_type(g, e->type, e->span), text);
}

static const char *floor_text(struct gen_cxx *g, const struct ir_node *e, const char *l,
			      const char *r)
{
	const struct ir_binary *b = IR_AS(e, binary);
	bool div = e->kind == IR_FLOOR_DIV;

	if (dtype_is_int(e->type->dtype) && gen_is_nonnegative(b->left, &g->nonnegative) &&
	    gen_is_nonnegative(b->right, &g->nonnegative) && b->right->kind == IR_CONST_INT)
		return px_printf(g->px, "(%s %s %s)", l, div ? "/" : "%", r);
	g->uses_floor = true;
	return px_printf(g->px, "%s<%s>(%s, %s)", div ? "floor_div" : "floor_mod",
			 gen_c_type(g, e->type, e->span), l, r);
}

static const char *as_type(struct gen_cxx *g, const struct ir_node *e, const struct ir_type *type)
{
	if (e->type->dtype == type->dtype)
		return gen_expr(g, e);
	return px_printf(g->px, "static_cast<%s>(%s)", gen_c_type(g, type, e->span),
			 gen_expr(g, e));
}

static const char *binary_text(struct gen_cxx *g, const struct ir_node *e)
{
	const struct ir_binary *b = IR_AS(e, binary);
	const char *l, *r, *type = gen_c_type(g, e->type, e->span);

	if (e->kind == IR_FLOAT_DIV)
		return px_printf(g->px, "(%s / %s)", as_type(g, b->left, e->type),
				 as_type(g, b->right, e->type));
	l = gen_expr(g, b->left);
	r = gen_expr(g, b->right);
	switch (e->kind) {
	case IR_FLOOR_DIV:
	case IR_FLOOR_MOD:
		return floor_text(g, e, l, r);
	case IR_MIN:
	case IR_MAX:
		g->uses_algorithm = true;
		return px_printf(g->px, "std::%s<%s>(%s, %s)", e->kind == IR_MIN ? "min" : "max",
				 type, l, r);
	case IR_POW:
		g->uses_math = true;
		if (dtype_is_float(e->type->dtype))
			return px_printf(g->px, "static_cast<%s>(std::pow(%s, %s))", type, l, r);
		g->uses_floor = true;
		return px_printf(g->px, "int_pow<%s>(%s, %s)", type, l, r);
	default:
		l = px_printf(g->px, "(%s %s %s)", l, symbols[e->kind], r);
		return is_arithmetic(e) ? cut(g, e, l) : l;
	}
}

static const char *cast_text(struct gen_cxx *g, const struct ir_node *e)
{
	const struct ir_node *x = IR_AS(e, unary)->operand;
	const char *type = gen_c_type(g, e->type, e->span), *text = gen_expr(g, x);

	if (!dtype_is_float(x->type->dtype) || !dtype_is_int(e->type->dtype))
		return px_printf(g->px, "static_cast<%s>(%s)", type, text);
	g->uses_math = true;
	return px_printf(g->px, "static_cast<%s>(std::round(%s))", type, text);
}

static const char *unary_text(struct gen_cxx *g, const struct ir_node *e)
{
	const char *x;

	if (e->kind == IR_CAST)
		return cast_text(g, e);
	x = gen_expr(g, IR_AS(e, unary)->operand);
	if (*x == '-')	/* a constant: there is no -- */
		x = px_printf(g->px, "(%s)", x);
	switch (e->kind) {
	case IR_ABS:
		return cut(g, e, px_printf(g->px, "(%s < 0 ? -%s : %s)", x, x, x));
	case IR_NOT:
		return px_printf(g->px, "(!%s)", x);
	case IR_BIT_NOT:
		return cut(g, e, px_printf(g->px, "(~%s)", x));
	default:
		return cut(g, e, px_printf(g->px, "(-%s)", x));
	}
}

/* Half floats are no numbers on the control CPU: variables hold their bits. */
static bool is_half_work(const struct ir_node *e)
{
	const struct ir_node *x = e;

	if (ir_is_binary(e))
		x = IR_AS(e, binary)->left;
	else if (ir_is_unary(e))
		x = IR_AS(e, unary)->operand;
	return (ir_is_binary(e) || ir_is_unary(e)) &&
	       ((dtype_is_float(x->type->dtype) && dtype_info(x->type->dtype)->bits < 32) ||
		(dtype_is_float(e->type->dtype) && dtype_info(e->type->dtype)->bits < 32));
}

const char *gen_expr(struct gen_cxx *g, const struct ir_node *e)
{
	const char *name;

	if (ir_is_var(e)) {
		name = var_map_get(&g->vars, e);
		if (name)
			return name;
		diag_add(g->px, DIAG_COMPILE, e->span, "Internal error: '%s' has no value here",
			 gen_written_name(g->px, e));
		return "0";
	}
	if (!g->has_half && is_half_work(e))
		diag_hint(g->px, diag_add(g->px, DIAG_COMPILE, e->span,
					  "Scalars of %s cannot be computed with",
					  dtype_name(DT_FP16)),
			  "Compute in pl.FP32, or with tiles");
	if (ir_is_binary(e))
		return binary_text(g, e);
	if (ir_is_unary(e))
		return unary_text(g, e);
	switch (e->kind) {
	case IR_CONST_INT:
		return int_text(g, e);
	case IR_CONST_BOOL:
		return IR_AS(e, const)->value ? "true" : "false";
	case IR_CONST_FLOAT:
		if (g->has_half && dtype_info(e->type->dtype)->bits == 16)
			return px_printf(g->px, "static_cast<%s>(%s)", gen_c_type(g, e->type, e->span),
					 gen_float_text(g->px, IR_AS(e, float)->value, DT_FP32));
		return gen_float_text(g->px, IR_AS(e, float)->value, e->type->dtype);
	default:
		diag_add(g->px, DIAG_COMPILE, e->span, "%s cannot be generated as an expression",
			 ir_kind_info[e->kind].name);
		return "0";
	}
}

void gen_expr_helpers(struct gen_cxx *g, struct text *out)
{
	if (g->uses_floor)
		text_put(out,
"// Quotient rounded down, its remainder, and powers; of equal types\n"
"template <typename T> static inline T floor_div(T a, T b) {\n"
"    T q = static_cast<T>(a / b);\n"
"    return static_cast<T>(q * b != a && (a < 0) != (b < 0) ? q - 1 : q);\n"
"}\n\n"
"template <typename T> static inline T floor_mod(T a, T b) {\n"
"    return static_cast<T>(a - floor_div<T>(a, b) * b);\n"
"}\n\n"
"template <typename T> static inline T int_pow(T a, T n) {\n"
"    T r = 1;\n"
"    for (T i = 0; i < n; i++) {\n"
"        r = static_cast<T>(r * a);\n"
"    }\n"
"    return r;\n"
"}\n\n");
	if (g->uses_trips)
		text_put(out,
"// Number of values of range(start, stop, step)\n"
"static inline int64_t range_trips(int64_t start, int64_t stop, int64_t step) {\n"
"    if (step > 0) {\n"
"        return start < stop ? (stop - start - 1) / step + 1 : 0;\n"
"    }\n"
"    return step < 0 && start > stop ? (stop - start + 1) / step + 1 : 0;\n"
"}\n\n");
}
