/* SPDX-License-Identifier: MIT */
/*
 * Conversions of tiles: by one instruction, or by several, of which one rounds, by the author's
 * mode, and the others pass values on exactly. FP16 holds integers up to 2048 only: what goes
 * by way of it to 8 bits is cut to them first. Wide integers that become floats narrower than FP32
 * are rounded to FP32 first, in the interpreter, too.
 */
#include <string.h>

#include "gen_pto.h"
#include "instr.h"

static const char *const round_names[] = {
	"NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD"
};

static void put_cvt(struct pto_gen *g, const struct pto_tile *from, const struct pto_tile *to,
		    int64_t mode)
{
	if (g->cxx)
		pto_line(g, "TCVT(%s, %s, RoundMode::CAST_%s);", to->v.name, from->v.name,
			 round_names[mode]);
	else
		pto_line(g, "pto.tcvt ins(%s{rmode = #pto<round_mode %s>} : %s) outs(%s : %s)",
		 from->v.name, round_names[mode], from->v.type, to->v.name, to->v.type);
}

static bool is_direct(struct pto_gen *g, unsigned int from, unsigned int to)
{
	return from == to || instr_converts(pto_dtype(g, from, g->at), pto_dtype(g, to, g->at),
					    g->arch);
}

/* The type to go to first where the machine does not convert directly; DT_NONE: there is no way. */
static unsigned int through(unsigned int from, unsigned int to)
{
	static const struct { uint8_t from, to, by; } table[] = {
		{ DT_BF16, DT_FP16, DT_FP32 }, { DT_FP16, DT_BF16, DT_FP32 },
		{ DT_BF16, DT_INT16, DT_FP32 }, { DT_INT16, DT_BF16, DT_FP32 },
		{ DT_INT32, DT_BF16, DT_FP32 }, { DT_INT8, DT_FP32, DT_FP16 },
		{ DT_UINT8, DT_FP32, DT_FP16 }, { DT_INT8, DT_BF16, DT_FP16 },
		{ DT_UINT8, DT_BF16, DT_FP16 }, { DT_UINT16, DT_BF16, DT_FP32 },
		{ DT_INT16, DT_INT32, DT_FP32 }, { DT_INT8, DT_INT32, DT_FP16 },
		{ DT_UINT16, DT_INT32, DT_FP32 }, { DT_UINT16, DT_UINT32, DT_FP32 },
		{ DT_INT8, DT_INT16, DT_FP16 }, { DT_UINT8, DT_INT32, DT_FP16 },
		{ DT_UINT8, DT_INT16, DT_FP16 }, { DT_UINT8, DT_UINT16, DT_FP16 },
		{ DT_UINT8, DT_UINT32, DT_FP16 }, { DT_UINT8, DT_INT64, DT_INT32 },
		{ DT_INT8, DT_INT64, DT_INT32 }, { DT_UINT16, DT_INT64, DT_FP32 },
		{ DT_FP32, DT_INT8, DT_INT16 }, { DT_INT64, DT_FP16, DT_FP32 },
		{ DT_INT64, DT_INT16, DT_INT32 }, { DT_INT16, DT_INT64, DT_FP32 },
		{ DT_FP16, DT_INT64, DT_FP32 }, { DT_BF16, DT_INT64, DT_FP32 },
		{ DT_INT64, DT_BF16, DT_FP32 }, { DT_FP32, DT_UINT8, DT_INT16 },
		{ DT_BF16, DT_INT8, DT_FP32 }, { DT_BF16, DT_UINT8, DT_FP32 },
		{ DT_BF16, DT_UINT16, DT_FP32 }, { DT_INT16, DT_INT8, DT_FP16 },
		{ DT_INT16, DT_UINT8, DT_FP16 }, { DT_INT32, DT_INT8, DT_INT16 },
		{ DT_INT32, DT_UINT8, DT_INT16 }, { DT_UINT32, DT_INT8, DT_INT16 },
		{ DT_UINT32, DT_UINT8, DT_INT16 }, { DT_UINT16, DT_INT8, DT_FP32 },
		{ DT_UINT16, DT_UINT8, DT_FP32 },
	};
	size_t i;

	if ((dtype_is_small(from) && to != DT_FP32) || (dtype_is_small(to) && from != DT_FP32))
		return DT_FP32;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].from == from && table[i].to == to)
			return table[i].by;
	return DT_NONE;
}

/* What one instruction makes of @from on the way to @to; DT_NONE: there is no way. */
static unsigned int next_type(struct pto_gen *g, unsigned int from, unsigned int to)
{
	unsigned int by;

	if (is_direct(g, from, to))
		return to;
	by = through(from, to);
	if (by == DT_NONE || is_direct(g, from, by))
		return by;
	by = through(from, by);
	return by != DT_NONE && is_direct(g, from, by) ? by : DT_NONE;
}

#define MAX_STEPS	4

bool pto_converts_to(struct pto_gen *g, unsigned int from, unsigned int to)
{
	unsigned int n;

	for (n = 0; n < MAX_STEPS && from != to && from != DT_NONE; n++)
		from = next_type(g, from, to);
	return from == to;
}

/* D10: without a mode the nearest; of two, the even float or the integer away from zero. */
static int64_t round_mode(unsigned int from, unsigned int to, int64_t mode)
{
	if (mode != PTO_MODE_OF_TYPES)
		return mode;
	return dtype_is_float(from) && dtype_is_float(to) ? 1 : 2;
}

int64_t pto_cast_mode(const struct ir_call *call)
{
	uint32_t i;

	for (i = 0; i < call->n_attrs; i++)
		if (!strcmp(call->attrs[i].key, "mode"))
			return call->attrs[i].i;
	return PTO_MODE_OF_TYPES;
}

/* What both convert to and from; between integers an integer, which keeps the low bits. */
static const char *ways(struct pto_gen *g, unsigned int from, unsigned int to)
{
	static const uint8_t all[] = { DT_INT32, DT_INT16, DT_FP32, DT_FP16, DT_INT32, DT_INT16 };
	size_t i;

	for (i = dtype_is_int(from) && dtype_is_int(to) ? 0 : 2; i < sizeof(all); i++)
		if (all[i] != from && all[i] != to && pto_converts_to(g, from, all[i]) &&
		    pto_converts_to(g, all[i], to))
			return px_printf(g->px, "Go by way of a type that holds the values: pl.cast(pl.cast(x, pl.%s), pl.%s)",
					 dtype_name(all[i]), dtype_name(to));
	return "Choose other element types";
}

static void refuse(struct pto_gen *g, unsigned int from, unsigned int to)
{
	const struct span at = g->call && g->call->node.span.line ? g->call->node.span : g->at;

	diag_hint(g->px, diag_add(g->px, DIAG_OPERATION, at,
				  "%s elements are not converted to %s on %s", dtype_name(from),
				  dtype_name(to), pto_platform(g)),
		  "%s", ways(g, from, to));
}

/* 16-bit integers on their way to 8 bits: FP16 holds what is left of them. */
static void put_low_byte(struct pto_gen *g, const struct pto_tile *from, const struct pto_tile *to)
{
	struct pto_value byte = pto_expr(g, ir_int(g->px, 0xff, to->type->dtype, g->at));

	if (g->cxx)
		pto_line(g, "TANDS(%s, %s, %s);", to->v.name, from->v.name, byte.name);
	else
		pto_line(g, "pto.tands ins(%s, %s : %s, %s) outs(%s : %s)", from->v.name, byte.name,
			 from->v.type, byte.type, to->v.name, to->v.type);
	cce_settle(g);
}

static struct pto_tile *between(struct pto_gen *g, const struct pto_tile *to, unsigned int dtype)
{
	struct ir_type *type = type_copy(g->px, to->type);

	type->dtype = (uint8_t)dtype;
	return pto_scratch(g, type, to->space);
}

/* By as many as it takes; the mode is for steps among floats and the one that leaves them. */
static void put_steps(struct pto_gen *g, struct pto_tile *from, struct pto_tile *to, int64_t mode)
{
	unsigned int a = from->type->dtype, b = to->type->dtype, by;
	struct pto_tile *step, *low, *const given = from;

	for (; (by = next_type(g, a, b)) != b; a = by, from = step) {
		if (a == DT_INT16 && dtype_info(b)->bits == 8) {
			low = from == given ? between(g, to, a) : from;
			put_low_byte(g, from, low);
			from = low;
		}
		step = between(g, to, by);
		put_cvt(g, from, step, round_mode(a, by, mode));
		cce_settle(g);
		if (!dtype_is_float(a) || !dtype_is_float(by))
			mode = PTO_MODE_OF_TYPES;
	}
	put_cvt(g, from, to, round_mode(a, b, mode));
}

void pto_convert(struct pto_gen *g, struct pto_tile *from, struct pto_tile *to, int64_t mode)
{
	unsigned int a = from->type->dtype, b = to->type->dtype;

	if (pto_mask_convert(g, from, to))
		return;
	if (!pto_converts_to(g, a, b))
		refuse(g, a, b);
	else if (a == b && (mode == PTO_MODE_OF_TYPES || a != DT_FP32))
		pto_emit(g, "pto.tmov", &from, 1, to);
	else
		put_steps(g, from, to, mode);
}
