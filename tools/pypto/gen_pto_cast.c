/* SPDX-License-Identifier: MIT */
/*
 * Conversions of tiles: by one instruction, or by the fewest whose result is the same. Which
 * instructions a platform has, the assembler's table says. FP16 holds integers up to 2048 only: what
 * goes by way of it to 8 bits is cut to them first. Wide integers that become floats narrower than
 * FP32 are rounded to FP32 first, in the interpreter, too.
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

/* ---- Ways ---- */

/*
 * A state on the way from one type to another: what the elements' type is, and which integers it
 * may hold. Without a range it is the float that was given, or an integer rounded to FP32.
 */
struct cast_state {
	uint8_t type, range;	/* range: an integer type or DT_NONE */
	uint8_t before;		/* number of the state that it was made of */
	bool low_byte;		/* which is cut to its low byte first */
};

#define MAX_STATES	160	/* types by ranges */
#define MAX_STEPS	8

struct cast_way {
	struct cast_state steps[MAX_STEPS];
	unsigned int n;		/* 0: there is none */
};

struct cast_search {
	struct pto_gen *g;
	unsigned int from, to;
	struct cast_state states[MAX_STATES];
	unsigned int n;
};

static unsigned int bits_of(unsigned int dtype)
{
	return dtype_info(dtype)->bits;
}

static bool contains(unsigned int whole, unsigned int range)
{
	if (dtype_is_signed(whole) == dtype_is_signed(range))
		return bits_of(whole) >= bits_of(range);
	return dtype_is_signed(whole) && bits_of(whole) > bits_of(range);
}

/* Whether a float has all integers of a type. */
static bool holds_integers(unsigned int dtype, unsigned int range)
{
	unsigned int digits = dtype == DT_FP32 ? 24 : dtype == DT_FP16 ? 11 : dtype == DT_BF16 ? 8 : 0;

	return digits >= bits_of(range) - dtype_is_signed(range);
}

/* The range of an integer of state @s in the integer type @type, if the target still follows. */
static bool range_in(const struct cast_search *w, const struct cast_state *s, unsigned int type,
		     uint8_t *range)
{
	bool low_bits = dtype_is_int(w->to) && bits_of(type) >= bits_of(w->to);

	if (s->range != DT_NONE && contains(type, s->range)) {
		*range = s->range;
		return true;
	}
	*range = (uint8_t)type;
	return low_bits && (s->range != DT_NONE || dtype_is_float(w->from));
}

/* The same in the float type @type. */
static bool range_in_float(const struct cast_search *w, const struct cast_state *s,
			   unsigned int type, struct cast_state *next)
{
	next->range = s->range;
	if (s->range == DT_NONE)	/* the float that was given, which has to stay as it is */
		return dtype_is_float(w->from) && type == DT_FP32;
	if (holds_integers(type, s->range))
		return true;
	if (type == DT_FP16 && dtype_is_int(s->type) && bits_of(s->type) == 16 &&
	    dtype_is_int(w->to) && bits_of(w->to) == 8) {
		next->range = DT_UINT8;
		next->low_byte = true;
		return true;
	}
	next->range = DT_NONE;
	return type == DT_FP32 && dtype_is_float(w->to);
}

static bool is_known(const struct cast_search *w, const struct cast_state *s)
{
	unsigned int i;

	for (i = 0; i < w->n; i++)
		if (w->states[i].type == s->type && w->states[i].range == s->range)
			return true;
	return w->n == MAX_STATES;
}

/* Adds what one instruction makes of state @at. */
static void add_steps(struct cast_search *w, unsigned int at)
{
	static const uint8_t between[] = {
		DT_FP16, DT_FP32, DT_INT16, DT_INT32, DT_INT64, DT_INT8, DT_UINT16, DT_UINT32,
		DT_UINT64, DT_UINT8
	};
	const struct cast_state *s = &w->states[at];
	size_t i;

	for (i = 0; i < sizeof(between); i++) {
		struct cast_state next = { .type = between[i], .before = (uint8_t)at };

		if (next.type == s->type || !is_direct(w->g, s->type, next.type))
			continue;
		if (dtype_is_float(next.type) ? range_in_float(w, s, next.type, &next) :
		    range_in(w, s, next.type, &next.range))
			if (!is_known(w, &next))
				w->states[w->n++] = next;
	}
}

static void way_to(const struct cast_search *w, unsigned int at, struct cast_way *way)
{
	unsigned int i = at;

	way->steps[0] = (struct cast_state){ .type = (uint8_t)w->to };
	for (way->n = 1; i && way->n < MAX_STEPS; i = w->states[i].before)
		way->steps[way->n++] = w->states[i];
	if (i)
		way->n = 0;
}

/*
 * The shortest way whose result is that of one conversion: integers keep their low bits, and are
 * rounded to FP32 on their way to floats; floats are rounded once. The last step comes first.
 */
static void find_way(struct pto_gen *g, unsigned int from, unsigned int to, struct cast_way *way)
{
	struct cast_search w = { .g = g, .from = from, .to = to, .n = 1 };
	unsigned int i;

	way->n = 0;
	w.states[0].type = (uint8_t)from;
	w.states[0].range = (uint8_t)(dtype_is_int(from) ? from : DT_NONE);
	for (i = 0; i < w.n && !way->n; i++) {
		if (is_direct(g, w.states[i].type, to))
			way_to(&w, i, way);
		else
			add_steps(&w, i);
	}
}

/* ---- Text ---- */

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

static void refuse(struct pto_gen *g, unsigned int from, unsigned int to)
{
	const struct span at = g->call && g->call->node.span.line ? g->call->node.span : g->at;

	diag_hint(g->px, diag_add(g->px, DIAG_OPERATION, at,
				  "%s elements are not converted to %s on %s", dtype_name(from),
				  dtype_name(to), pto_platform(g)),
		  "Choose other element types");
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

/* The mode is for steps among floats and the one that leaves them. */
static void put_steps(struct pto_gen *g, struct pto_tile *from, struct pto_tile *to, int64_t mode,
		      const struct cast_way *way)
{
	struct pto_tile *step, *low, *const given = from;
	unsigned int i, a = from->type->dtype, b;

	for (i = way->n - 1; i; i--, a = b, from = step) {
		b = way->steps[i].type;
		if (way->steps[i].low_byte) {
			low = from == given ? between(g, to, a) : from;
			put_low_byte(g, from, low);
			from = low;
		}
		step = between(g, to, b);
		put_cvt(g, from, step, round_mode(a, b, mode));
		cce_settle(g);
		if (!dtype_is_float(a) || !dtype_is_float(b))
			mode = PTO_MODE_OF_TYPES;
	}
	put_cvt(g, from, to, round_mode(a, to->type->dtype, mode));
}

/* Integers of one width differ in what their bits mean. */
static void put_bits(struct pto_gen *g, struct pto_tile *from, struct pto_tile *to)
{
	struct ir_type *type = type_copy(g->px, from->type);
	struct pto_value bits;

	type->dtype = to->type->dtype;
	bits = pto_alias(g, from, type);
	if (g->cxx)
		pto_line(g, "TMOV(%s, %s);", to->v.name, bits.name);
	else
		pto_line(g, "pto.tmov ins(%s : %s) outs(%s : %s)", bits.name, bits.type, to->v.name,
			 to->v.type);
}

void pto_convert(struct pto_gen *g, struct pto_tile *from, struct pto_tile *to, int64_t mode)
{
	unsigned int a = from->type->dtype, b = to->type->dtype;
	struct cast_way way;

	if (pto_mask_convert(g, from, to))
		return;
	if (a == b && (mode == PTO_MODE_OF_TYPES || a != DT_FP32)) {
		pto_emit(g, "pto.tmov", &from, 1, to);
		return;
	}
	if (dtype_is_int(a) && dtype_is_int(b) && bits_of(a) == bits_of(b)) {
		put_bits(g, from, to);
		return;
	}
	find_way(g, a, b, &way);
	if (way.n)
		put_steps(g, from, to, mode, &way);
	else
		refuse(g, a, b);
}
