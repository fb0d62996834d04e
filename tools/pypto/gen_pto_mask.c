/* SPDX-License-Identifier: MIT */
/*
 * Masks: tiles of BOOL. What comparisons write and selections read is one bit per element, lowest
 * first, each row behind the one before by a byte per element, padded to 32; every mask is that.
 * Bytes, one per element, are in memory only: loads pack them, stores unpack them. Numbers become
 * masks by a comparison with zero, masks become numbers by a selection of ones and zeros.
 */
#include <string.h>

#include "gen_pto.h"

static struct pto_tile *line_of(struct pto_gen *g, struct pto_tile *t)
{
	return pto_is_column(t) ? pto_row(g, t) : t;
}

/* The type of numbers beside the elements of @t, in whole lines of 32. */
static struct ir_type *type_beside(struct pto_gen *g, const struct ir_type *t, unsigned int dtype)
{
	bool column = pto_dim(&t->shape, 0) == 1 && pto_dim(&t->shape, 1) != 1;
	int64_t rows = pto_dim(&t->shape, 1), columns = pto_dim(&t->shape, 0);
	struct ir_type *type;

	if (column)
		rows = (rows + 31) / 32 * 32;
	else
		columns = (columns + 31) / 32 * 32;
	type = pto_type_like(g, t, rows, columns, dtype);
	type->view.blayout = column ? TL_COL_MAJOR : TL_ROW_MAJOR;
	if (!shape_equal(&type->shape, &t->shape) || t->view.valid.n)
		type->view.valid = t->view.valid.n ? t->view.valid : t->shape;
	return type;
}

/* ---- Masks and numbers ---- */

static struct pto_value number(struct pto_gen *g, unsigned int dtype, int value)
{
	return pto_expr(g, dtype_is_float(dtype) ? ir_float(g->px, value, dtype, g->at) :
			   ir_int(g->px, value, dtype, g->at));
}

static void fill(struct pto_gen *g, const struct pto_tile *t, struct pto_value v)
{
	if (g->cxx)
		pto_line(g, "TEXPANDS(%s, %s);", t->v.name, v.name);
	else
		pto_line(g, "pto.texpands ins(%s : %s) outs(%s : %s)", v.name, v.type, t->v.name,
			 t->v.type);
	cce_settle(g);
}

static struct pto_tile *few_words(struct pto_gen *g, const struct pto_tile *like)
{
	struct ir_type *type = pto_type_like(g, like->type, 1, 8, DT_UINT32);

	type->view.blayout = TL_ROW_MAJOR;
	return pto_scratch(g, type, MS_VEC);
}

static bool one_buffer(const struct pto_tile *a, const struct pto_tile *b)
{
	return a == b || (a->memref && a->memref == b->memref);
}

/* The destination, or a tile like it where that is what is read. */
static struct pto_tile *apart(struct pto_gen *g, struct pto_tile *to, const struct pto_tile *from)
{
	return one_buffer(to, from) ? pto_scratch(g, to->type, MS_VEC) : to;
}

static void arrive(struct pto_gen *g, struct pto_tile *made, struct pto_tile *to)
{
	if (made == to)
		return;
	cce_settle(g);
	pto_emit(g, "pto.tmov", &made, 1, to);
}

/* Elements that selections and comparisons have on every platform */
static bool is_plain(unsigned int dtype)
{
	return dtype == DT_FP32 || dtype == DT_FP16 || dtype == DT_INT16 || dtype == DT_INT32;
}

static unsigned int plain_for(unsigned int dtype)
{
	return dtype == DT_INT8 || dtype == DT_UINT8 ? DT_FP16 : DT_FP32;
}

static void unpack(struct pto_gen *g, struct pto_tile *mask, struct pto_tile *to)
{
	unsigned int dtype = to->type->dtype;
	struct pto_value zero = number(g, dtype, 0);
	struct pto_tile *made = apart(g, to, mask), *ones = pto_scratch(g, to->type, MS_VEC);
	struct pto_tile *tmp = few_words(g, to);

	fill(g, ones, number(g, dtype, 1));
	if (g->cxx)
		pto_line(g, "TSELS(%s, %s, %s, %s, %s);", made->v.name, mask->v.name, ones->v.name,
			 tmp->v.name, zero.name);
	else
		pto_line(g, "pto.tsels ins(%s, %s, %s, %s : %s, %s, %s, %s) outs(%s : %s)",
			 mask->v.name, ones->v.name, tmp->v.name, zero.name, mask->v.type,
			 ones->v.type, tmp->v.type, zero.type, made->v.name, made->v.type);
	arrive(g, made, to);
}

static void pack(struct pto_gen *g, struct pto_tile *from, struct pto_tile *mask)
{
	struct pto_value zero = number(g, from->type->dtype, 0);
	struct pto_tile *made = apart(g, mask, from);

	if (g->cxx)
		pto_line(g, "TCMPS(%s, %s, %s, CmpMode::NE);", made->v.name, from->v.name,
			 zero.name);
	else
		pto_line(g, "pto.tcmps ins(%s, %s{cmpMode = #pto<cmp ne>} : %s, %s) outs(%s : %s)",
			 from->v.name, zero.name, from->v.type, zero.type, made->v.name,
			 made->v.type);
	arrive(g, made, mask);
}

static struct pto_tile *like_in(struct pto_gen *g, const struct pto_tile *t, unsigned int dtype)
{
	struct ir_type *type = type_copy(g->px, t->type);

	type->dtype = (uint8_t)dtype;
	return pto_scratch(g, type, MS_VEC);
}

bool pto_mask_convert(struct pto_gen *g, struct pto_tile *from, struct pto_tile *to)
{
	unsigned int a = from->type->dtype, b = to->type->dtype;
	struct pto_tile *between;

	if (a != DT_BOOL && b != DT_BOOL)
		return false;
	if (a == b) {
		pto_emit(g, "pto.tmov", &from, 1, to);
	} else if (b == DT_BOOL && (is_plain(a) && a != DT_INT32)) {
		pack(g, from, to);
	} else if (b == DT_BOOL) {	/* chips compare INT32 for equality only */
		between = like_in(g, from, plain_for(a));
		pto_convert(g, from, between, PTO_MODE_OF_TYPES);
		cce_settle(g);
		pack(g, between, to);
	} else if (is_plain(b)) {
		unpack(g, from, to);
	} else {
		between = like_in(g, to, plain_for(b));
		unpack(g, from, between);
		cce_settle(g);
		pto_convert(g, between, to, PTO_MODE_OF_TYPES);
	}
	return true;
}

/* ---- Memory: a byte per element ---- */

void pto_mask_settle(struct pto_gen *g)
{
	if (g->cxx)
		pto_line(g, "pipe_barrier(PIPE_ALL);");
}

struct pto_tile *pto_mask_bytes(struct pto_gen *g, const struct pto_tile *mask)
{
	pto_mask_settle(g);
	return pto_scratch(g, type_beside(g, mask->type, DT_INT8), MS_VEC);
}

void pto_mask_loaded(struct pto_gen *g, struct pto_tile *bytes, struct pto_tile *mask)
{
	struct pto_tile *numbers = pto_scratch(g, type_beside(g, mask->type, DT_FP16), MS_VEC);

	pto_mask_settle(g);
	numbers = line_of(g, numbers);
	pto_convert(g, line_of(g, bytes), numbers, PTO_MODE_OF_TYPES);
	cce_settle(g);
	pack(g, numbers, line_of(g, mask));
	pto_mask_settle(g);
}

struct pto_tile *pto_mask_stored(struct pto_gen *g, struct pto_tile *mask)
{
	struct pto_tile *bytes = pto_mask_bytes(g, mask);
	struct pto_tile *numbers = pto_scratch(g, type_beside(g, mask->type, DT_FP16), MS_VEC);

	numbers = line_of(g, numbers);
	unpack(g, line_of(g, mask), numbers);
	cce_settle(g);
	pto_convert(g, numbers, line_of(g, bytes), PTO_MODE_OF_TYPES);
	pto_mask_settle(g);
	return bytes;
}

/* ---- Operators on masks ---- */

struct pto_tile *pto_mask_fit(struct pto_gen *g, struct pto_tile *mask, const struct pto_tile *out)
{
	struct pto_tile *numbers, *wide, *made, like = *out;
	struct ir_type *type = type_copy(g->px, out->type);

	if (pto_same_extents(mask, out))
		return line_of(g, mask);
	numbers = like_in(g, mask, DT_FP32);
	unpack(g, line_of(g, mask), line_of(g, numbers));
	cce_settle(g);
	type->dtype = DT_FP32;
	like.type = type;
	wide = pto_spread(g, numbers, &like);
	made = like_in(g, out, DT_BOOL);
	pack(g, line_of(g, wide), line_of(g, made));
	cce_settle(g);
	return line_of(g, made);
}

static void pair(struct pto_gen *g, const char *instr, struct pto_tile *a, struct pto_tile *b,
		 struct pto_tile *to)
{
	struct pto_tile *ins[] = { a, b, NULL };
	bool scratch = !strcmp(instr, "pto.txor");

	if (scratch)
		ins[2] = pto_scratch(g, to->type, MS_VEC);
	pto_emit(g, instr, ins, scratch ? 3 : 2, to);
}

static void invert(struct pto_gen *g, const struct pto_tile *from, const struct pto_tile *to)
{
	const struct pto_tile *tmp = pto_scratch(g, to->type, MS_VEC);
	struct pto_value all = pto_constant(g, -1, "i8");

	if (g->cxx)
		pto_line(g, "TXORS(%s, %s, -1, %s);", to->v.name, from->v.name, tmp->v.name);
	else
		pto_line(g, "pto.txors ins(%s, %s, %s : %s, %s, %s) outs(%s : %s)", from->v.name,
			 all.name, tmp->v.name, from->v.type, all.type, tmp->v.type, to->v.name,
			 to->v.type);
}

/* False is less than true: of different bits, the one that is set is the larger. */
static void compare(struct pto_gen *g, int64_t how, struct pto_tile *a, struct pto_tile *b,
		    struct pto_tile *to)
{
	enum { EQ, NE, LT, LE, GT, GE };
	struct pto_tile *bits = pto_scratch(g, to->type, MS_VEC);

	pair(g, "pto.txor", a, b, bits);
	cce_settle(g);
	if (how == LT || how == GE)
		pair(g, "pto.tand", bits, b, bits);
	else if (how == GT || how == LE)
		pair(g, "pto.tand", bits, a, bits);
	if (how != EQ && how != NE)
		cce_settle(g);
	if (how == EQ || how == LE || how == GE)
		invert(g, bits, to);
	else
		pto_emit(g, "pto.tmov", &bits, 1, to);
}

static void select_bits(struct pto_gen *g, struct pto_tile *mask, struct pto_tile *a,
			struct pto_tile *b, struct pto_tile *to)
{
	struct pto_tile *bits = pto_scratch(g, to->type, MS_VEC);

	pair(g, "pto.txor", a, b, bits);
	cce_settle(g);
	pair(g, "pto.tand", bits, mask, bits);
	cce_settle(g);
	pair(g, "pto.txor", bits, b, to);
}

static void put_fill(struct pto_gen *g, const struct ir_node *value, struct pto_tile *to)
{
	struct pto_tile *numbers = line_of(g, pto_scratch(g, type_beside(g, to->type, DT_INT16),
							   MS_VEC));

	fill(g, numbers, pto_expr(g, ir_cast(g->px, (struct ir_node *)value, DT_INT16, g->at)));
	pack(g, numbers, line_of(g, to));
}

static const char *bits_instr(const struct px_op *op)
{
	static const struct { const char *name, *instr; } table[] = {
		{ "block.and", "pto.tand" }, { "block.minimum", "pto.tand" },
		{ "block.mul", "pto.tand" }, { "block.or", "pto.tor" },
		{ "block.maximum", "pto.tor" }, { "block.xor", "pto.txor" },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, op->name))
			return table[i].instr;
	return NULL;
}

static bool all_masks(const struct ir_call *call)
{
	uint32_t i;

	for (i = 0; i < call->args.n && i < 2; i++)
		if (call->args.at[i]->type->dtype != DT_BOOL)
			return false;
	return true;
}

bool pto_mask(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *out, *to, *in[3] = { NULL };
	bool fills, is_sel = call->op->rule == rule_sel;
	uint32_t i;

	if (!var || var->type->kind != TY_TILE || var->type->dtype != DT_BOOL ||
	    !op_is(call->op, "block"))
		return false;
	fills = !strcmp(call->op->name, "block.full") || !strcmp(call->op->name, "block.expands");
	if (!fills && !is_sel && call->op->rule != rule_not_bits && !bits_instr(call->op) &&
	    (call->op->rule != rule_cmp || !all_masks(call)))
		return false;
	out = pto_tile_of(g, var);
	to = line_of(g, out);
	pto_size(g, out);
	for (i = 0; !fills && i < call->args.n && i < (is_sel ? 3 : 2); i++)
		if (call->op->rule != rule_not_bits || !i)
			in[i] = pto_mask_fit(g, pto_tile_of(g, call->args.at[i]), out);
	if (fills)
		put_fill(g, call->args.at[1], out);
	else if (is_sel)
		select_bits(g, in[0], in[1], in[2], to);
	else if (call->op->rule == rule_not_bits)
		invert(g, in[0], to);
	else if (call->op->rule == rule_cmp)
		compare(g, call_attr(call, "cmp_type"), in[0], in[1], to);
	else
		pair(g, bits_instr(call->op), in[0], in[1], to);
	return true;
}
