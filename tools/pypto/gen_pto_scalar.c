/* SPDX-License-Identifier: MIT */
/* Constants and scalar expressions of .pto text: sections 10.2 and 10.5, decisions D8 and D9. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_pto.h"

const char *pto_dtype(struct pto_gen *g, unsigned int dtype, struct span span)
{
	const struct dtype_info *info = dtype_info(dtype);

	if (dtype == DT_BOOL)
		return "i8";
	if (info && info->mlir)
		return info->mlir;
	diag_add(g->px, DIAG_COMPILE, span, "Invalid DataType value: %s cannot be generated",
		 dtype_name(dtype));
	return "f32";
}

/* Scalars have no sign of their own: operations have. */
const char *pto_scalar_type(struct pto_gen *g, unsigned int dtype, struct span span)
{
	const char *type = pto_dtype(g, dtype, span);

	if (dtype == DT_BOOL)
		return "i1";
	return type[0] == 'u' ? type + 1 : type;
}

static const char *known(struct pto_gen *g, const char *key, const char *name)
{
	const void *at = px_intern(g->px, key);
	const char *have = var_map_get(&g->known, at);

	if (have)
		return have;
	var_map_set(&g->known, at, (void *)name);
	return NULL;
}

struct pto_value pto_constant(struct pto_gen *g, int64_t value, const char *type)
{
	bool index = !strcmp(type, "index");
	const char *sign = value < 0 ? "n" : "";
	unsigned long long size = value < 0 ? -(unsigned long long)value :
				  (unsigned long long)value;
	const char *name = index ? px_printf(g->px, "%%c%s%llu", sign, size) :
				   px_printf(g->px, "%%c%s%llu_%s", sign, size, type);

	if (g->cxx)
		return (struct pto_value){ value == INT64_MIN ? "INT64_MIN" :
					   px_printf(g->px, "%lld", (long long)value), type };
	if (!known(g, name, name))
		text_printf(&g->constants, "    %s = arith.constant %lld : %s\n", name,
			    (long long)value, type);
	return (struct pto_value){ name, type };
}

const char *pto_index(struct pto_gen *g, int64_t value)
{
	return pto_constant(g, value, "index").name;
}

/* Six decimals, or as many digits as say the value exactly. */
static const char *float_text(struct px *px, double value, unsigned int dtype)
{
	char text[64];
	int digits;

	if (isnan(value) || isinf(value))
		return px_printf(px, "0x%llX", (unsigned long long)gen_float_bits(value, dtype));
	for (digits = 6; digits < 17; digits++) {
		snprintf(text, sizeof(text), "%.*e", digits, value);
		if (gen_float_bits(strtod(text, NULL), dtype) == gen_float_bits(value, dtype))
			break;
	}
	return px_printf(px, "%s", text);
}

struct pto_value pto_float(struct pto_gen *g, double value, unsigned int dtype)
{
	const char *type = pto_scalar_type(g, dtype, g->at);
	const char *text = float_text(g->px, value, dtype);
	const char *name = g->n_floats ? px_printf(g->px, "%%cst_%u", g->n_floats) : "%cst";
	const char *have;

	if (g->cxx)
		return (struct pto_value){ gen_float_text(g->px, value, dtype), type };
	have = known(g, px_printf(g->px, "%s : %s", text, type), name);

	if (have)
		return (struct pto_value){ have, type };
	g->n_floats++;
	text_printf(&g->constants, "    %s = arith.constant %s : %s\n", name, text, type);
	return (struct pto_value){ name, type };
}

static struct pto_value boolean(struct pto_gen *g, bool value)
{
	const char *name = pto_temp(g);

	pto_line(g, "%s = arith.constant %s : i1", name, value ? "true" : "false");
	return (struct pto_value){ name, "i1" };
}

/* ---- Operations ---- */

static struct pto_value make(struct pto_gen *g, const char *op, const char *operands,
			     const char *type)
{
	const char *name = pto_temp(g);

	pto_line(g, "%s = %s %s : %s", name, op, operands, type);
	return (struct pto_value){ name, type };
}

static struct pto_value pair(struct pto_gen *g, const char *op, const char *a, const char *b,
			     const char *type)
{
	return make(g, op, px_printf(g->px, "%s, %s", a, b), type);
}

static struct pto_value convert(struct pto_gen *g, const char *op, struct pto_value v,
				const char *type)
{
	const char *name = pto_temp(g);

	pto_line(g, "%s = %s %s : %s to %s", name, op, v.name, v.type, type);
	return (struct pto_value){ name, type };
}

static bool is_index(const char *type)
{
	return !strcmp(type, "index");
}

static unsigned int bits_of(const char *type)
{
	return is_index(type) ? 64 : (unsigned int)strtoul(strpbrk(type, "0123456789"), NULL, 10);
}

const char *pto_as(struct pto_gen *g, struct pto_value v, const char *type)
{
	if (g->cxx || !strcmp(v.type, type))
		return v.name;
	if (is_index(type) || is_index(v.type))
		return convert(g, "arith.index_cast", v, type).name;
	return convert(g, bits_of(type) < bits_of(v.type) ? "arith.trunci" : "arith.extsi", v,
		       type).name;
}

const char *pto_index_expr(struct pto_gen *g, const struct ir_node *e)
{
	if (g->cxx)
		return gen_expr(g->cxx, e);
	if (e->kind == IR_CONST_INT)
		return pto_index(g, IR_AS(e, const)->value);
	return pto_as(g, pto_expr(g, e), "index");
}

struct arith_op {
	const char *sint, *uint, *real;
};

static const struct arith_op arith[IR_KINDS] = {
	[IR_ADD] = { "arith.addi", "arith.addi", "arith.addf" },
	[IR_SUB] = { "arith.subi", "arith.subi", "arith.subf" },
	[IR_MUL] = { "arith.muli", "arith.muli", "arith.mulf" },
	[IR_FLOAT_DIV] = { NULL, NULL, "arith.divf" },
	[IR_FLOOR_DIV] = { "arith.floordivsi", "arith.divui", NULL },
	[IR_FLOOR_MOD] = { NULL, "arith.remui", NULL },
	[IR_MIN] = { "arith.minsi", "arith.minui", "arith.minimumf" },
	[IR_MAX] = { "arith.maxsi", "arith.maxui", "arith.maximumf" },
	[IR_AND] = { "arith.andi", "arith.andi", NULL },
	[IR_OR] = { "arith.ori", "arith.ori", NULL },
	[IR_XOR] = { "arith.xori", "arith.xori", NULL },
	[IR_BIT_AND] = { "arith.andi", "arith.andi", NULL },
	[IR_BIT_OR] = { "arith.ori", "arith.ori", NULL },
	[IR_BIT_XOR] = { "arith.xori", "arith.xori", NULL },
	[IR_BIT_SHL] = { "arith.shli", "arith.shli", NULL },
	[IR_BIT_SHR] = { "arith.shrsi", "arith.shrui", NULL },
	[IR_EQ] = { "eq", "eq", "oeq" }, [IR_NE] = { "ne", "ne", "une" },
	[IR_LT] = { "slt", "ult", "olt" }, [IR_LE] = { "sle", "ule", "ole" },
	[IR_GT] = { "sgt", "ugt", "ogt" }, [IR_GE] = { "sge", "uge", "oge" },
};

static bool is_compare(const struct ir_node *e)
{
	return e->kind >= IR_EQ && e->kind <= IR_GE;
}

/* The element type in which the operands meet. */
static unsigned int operand_dtype(const struct ir_node *e)
{
	unsigned int a = IR_AS(e, binary)->left->type->dtype;
	unsigned int b = IR_AS(e, binary)->right->type->dtype;

	if (!is_compare(e))
		return e->type->dtype;
	return a == b ? a : dtype_promote(a, b);
}

static const char *select_op(const struct ir_node *e, unsigned int dtype)
{
	const struct arith_op *op = &arith[e->kind];

	if (dtype_is_float(dtype))
		return op->real;
	return dtype_is_signed(dtype) || dtype == DT_INDEX ? op->sint : op->uint;
}

static struct pto_value floor_mod(struct pto_gen *g, const char *a, const char *b, const char *type)
{
	struct pto_value q = pair(g, "arith.floordivsi", a, b, type);
	struct pto_value whole = pair(g, "arith.muli", q.name, b, type);

	return pair(g, "arith.subi", a, whole.name, type);
}

/* @x to the power of @n, which is not negative, by squares. */
static struct pto_value power(struct pto_gen *g, const char *x, int64_t n, const char *type)
{
	struct pto_value square = { x, type }, result = pto_constant(g, 1, type);
	bool first = true;

	for (; n; n >>= 1) {
		if (n & 1)
			result = first ? square :
				 pair(g, "arith.muli", result.name, square.name, type);
		first &= !(n & 1);
		if (n > 1)
			square = pair(g, "arith.muli", square.name, square.name, type);
	}
	return result;
}

static struct pto_value cast_to(struct pto_gen *g, struct pto_value v, unsigned int from,
				unsigned int to);

static const char *operand(struct pto_gen *g, const struct ir_node *e, unsigned int dtype)
{
	const char *type = pto_scalar_type(g, dtype, e->span);

	if (e->kind == IR_CONST_INT && !dtype_is_float(dtype))
		return pto_constant(g, IR_AS(e, const)->value, type).name;
	if (dtype_is_float(dtype) && !dtype_is_float(e->type->dtype))
		return cast_to(g, pto_expr(g, e), e->type->dtype, dtype).name;
	return pto_as(g, pto_expr(g, e), type);
}

static struct pto_value binary(struct pto_gen *g, const struct ir_node *e)
{
	const struct ir_binary *b = IR_AS(e, binary);
	unsigned int dtype = operand_dtype(e);
	const char *type = pto_scalar_type(g, dtype, e->span), *op = select_op(e, dtype);
	const char *x = operand(g, b->left, dtype), *y = operand(g, b->right, dtype);
	bool plain = gen_is_nonnegative(b->left, &g->nonnegative) &&
		     gen_is_nonnegative(b->right, &g->nonnegative);

	if (is_compare(e)) {
		struct pto_value v = { pto_temp(g), "i1" };

		pto_line(g, "%s = arith.%s %s, %s, %s : %s", v.name,
			 dtype_is_float(dtype) ? "cmpf" : "cmpi", op, x, y, type);
		return v;
	}
	if (dtype_is_int(dtype) && plain && e->kind == IR_FLOOR_DIV)
		return pair(g, "arith.divsi", x, y, type);
	if (dtype_is_int(dtype) && plain && e->kind == IR_FLOOR_MOD)
		return pair(g, "arith.remsi", x, y, type);
	if (e->kind == IR_FLOOR_MOD && !op && dtype_is_int(dtype))
		return floor_mod(g, x, y, type);
	if (e->kind == IR_POW && dtype_is_int(dtype) && b->right->kind == IR_CONST_INT &&
	    IR_AS(b->right, const)->value >= 0)
		return power(g, x, IR_AS(b->right, const)->value, type);
	if (op)
		return pair(g, op, x, y, type);
	pto_mistake(g, e, "Compute it in the orchestration and pass it as a parameter",
		    "%s of %s scalars cannot be generated in a kernel", ir_kind_info[e->kind].name,
		    dtype_name(dtype));
	return (struct pto_value){ x, type };
}

/* ---- Casts ---- */

static struct pto_value int_to_float(struct pto_gen *g, struct pto_value v, unsigned int from,
				     const char *type)
{
	if (is_index(v.type))
		v = convert(g, "arith.index_cast", v, "i64");
	return convert(g, dtype_is_signed(from) || from == DT_INDEX ? "arith.sitofp" :
		       "arith.uitofp", v, type);
}

/* To the nearest, ties away from zero (D10): the truncated value, one further when half is left. */
static struct pto_value float_to_int(struct pto_gen *g, struct pto_value v, unsigned int from,
				     unsigned int to)
{
	const char *type = to == DT_INDEX ? "i64" : pto_scalar_type(g, to, g->at);
	struct pto_value t = convert(g, "arith.fptosi", v, type);
	struct pto_value back = convert(g, "arith.sitofp", t, v.type);
	struct pto_value rest = pair(g, "arith.subf", v.name, back.name, v.type);
	struct pto_value up = { pto_temp(g), "i1" }, down = { pto_temp(g), "i1" }, r;
	const char *half = pto_float(g, 0.5, from).name, *minus = pto_float(g, -0.5, from).name;
	const char *one = pto_constant(g, 1, type).name, *zero = pto_constant(g, 0, type).name;
	const char *add, *sub;

	pto_line(g, "%s = arith.cmpf oge, %s, %s : %s", up.name, rest.name, half, v.type);
	pto_line(g, "%s = arith.cmpf ole, %s, %s : %s", down.name, rest.name, minus, v.type);
	add = make(g, "arith.select", px_printf(g->px, "%s, %s, %s", up.name, one, zero), type).name;
	sub = make(g, "arith.select", px_printf(g->px, "%s, %s, %s", down.name, one, zero),
		   type).name;
	r = pair(g, "arith.addi", t.name, add, type);
	r = pair(g, "arith.subi", r.name, sub, type);
	return to == DT_INDEX ? convert(g, "arith.index_cast", r, "index") : r;
}

static struct pto_value to_bool(struct pto_gen *g, struct pto_value v, unsigned int from)
{
	struct pto_value r = { pto_temp(g), "i1" };
	const char *zero = dtype_is_float(from) ? pto_float(g, 0, from).name :
						  pto_constant(g, 0, v.type).name;

	pto_line(g, "%s = arith.%s, %s, %s : %s", r.name,
		 dtype_is_float(from) ? "cmpf une" : "cmpi ne", v.name, zero, v.type);
	return r;
}

static struct pto_value cast_to(struct pto_gen *g, struct pto_value v, unsigned int from,
				unsigned int to)
{
	const char *type = pto_scalar_type(g, to, g->at);

	if (to == DT_BOOL)
		return from == DT_BOOL ? v : to_bool(g, v, from);
	if (from == DT_BOOL) {
		v = convert(g, "arith.extui", v, "i32");
		from = DT_INT32;
	}
	if (dtype_is_float(from) && dtype_is_float(to)) {
		if (!strcmp(v.type, type))
			return v;
		if (bits_of(type) == bits_of(v.type))
			v = convert(g, "arith.extf", v, "f32");
		return convert(g, bits_of(type) < bits_of(v.type) ? "arith.truncf" : "arith.extf",
			       v, type);
	}
	if (dtype_is_float(to))
		return int_to_float(g, v, from, type);
	if (dtype_is_float(from))
		return float_to_int(g, v, from, to);
	if (!strcmp(v.type, type))
		return v;
	if (is_index(type) && bits_of(v.type) < 64 && !dtype_is_signed(from))
		v = convert(g, "arith.extui", v, "i64");
	if (!is_index(type) && !is_index(v.type) && bits_of(type) > bits_of(v.type) &&
	    !dtype_is_signed(from))
		return convert(g, "arith.extui", v, type);
	return (struct pto_value){ pto_as(g, v, type), type };
}

static struct pto_value unary(struct pto_gen *g, const struct ir_node *e)
{
	const struct ir_node *x = IR_AS(e, unary)->operand;
	struct pto_value v = pto_expr(g, x), all;
	bool real = dtype_is_float(e->type->dtype);

	switch (e->kind) {
	case IR_CAST:
		return cast_to(g, v, x->type->dtype, e->type->dtype);
	case IR_NEG:
		if (real)
			return make(g, "arith.negf", v.name, v.type);
		return pair(g, "arith.subi", pto_constant(g, 0, v.type).name, v.name, v.type);
	case IR_ABS:
		if (is_index(v.type))
			v = (struct pto_value){ pto_as(g, v, "i64"), "i64" };
		return make(g, real ? "math.absf" : "math.absi", v.name, v.type);
	case IR_NOT:
		all = boolean(g, true);
		return pair(g, "arith.xori", cast_to(g, v, x->type->dtype, DT_BOOL).name, all.name,
			    "i1");
	default:
		return pair(g, "arith.xori", v.name, pto_constant(g, -1, v.type).name, v.type);
	}
}

struct pto_value pto_expr(struct pto_gen *g, const struct ir_node *e)
{
	const struct pto_value *have;
	const char *type;

	if (g->cxx)
		return (struct pto_value){ gen_expr(g->cxx, e), "" };
	if (ir_is_var(e)) {
		have = var_map_get(&g->values, e);
		if (have)
			return *have;
		pto_mistake(g, e, NULL, "Internal error: '%s' has no value here",
			    gen_written_name(g->px, e));
		return (struct pto_value){ "%0", "index" };
	}
	if (ir_is_binary(e))
		return binary(g, e);
	if (ir_is_unary(e))
		return unary(g, e);
	type = pto_scalar_type(g, e->type ? e->type->dtype : DT_INDEX, e->span);
	switch (e->kind) {
	case IR_CONST_INT:
		return pto_constant(g, IR_AS(e, const)->value, type);
	case IR_CONST_BOOL:
		return boolean(g, IR_AS(e, const)->value);
	case IR_CONST_FLOAT:
		return pto_float(g, IR_AS(e, float)->value, e->type->dtype);
	default:
		pto_mistake(g, e, NULL, "%s cannot be generated as a value",
			    ir_kind_info[e->kind].name);
		return (struct pto_value){ "%0", type };
	}
}
