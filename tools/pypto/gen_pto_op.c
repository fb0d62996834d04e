/* SPDX-License-Identifier: MIT */
/*
 * Operators on tiles in .pto text: section 10.4. Element-wise operands are brought into the
 * result's shape and element type first, columns are seen as rows (D5), and scratch tiles are
 * added where the machine needs them (D12).
 */
#include <stdio.h>
#include <string.h>

#include "gen_pto.h"
#include "instr.h"

/* ---- Lines ---- */

/* "pto.tmatmul.acc" -> "TMATMUL_ACC" */
static const char *cxx_name(struct pto_gen *g, const char *instr)
{
	char *name = px_printf(g->px, "%s", gen_upper(g->px, instr + strlen("pto."))), *dot;

	if (!strncmp(name, "TMATMUL.MX", 10))
		return "TMATMUL_MX";
	while ((dot = strchr(name, '.')) != NULL)
		*dot = '_';
	return name;
}

static void put_op(struct pto_gen *g, const char *instr, const char *names, const char *attr,
		   const char *types, const struct pto_tile *out)
{
	if (g->cxx)
		pto_line(g, "%s(%s%s%s%s);", cxx_name(g, instr), out->v.name, *names ? ", " : "",
			 names, attr);
	else
		pto_line(g, "%s ins(%s%s : %s) outs(%s : %s)", instr, names, attr, types,
			 out->v.name, out->v.type);
}

struct operands {
	struct text names, types;
};

static void add_operand(struct pto_gen *g, struct operands *o, const char *name, const char *type)
{
	o->names.px = o->types.px = g->px;
	text_printf(&o->names, "%s%s", o->names.n ? ", " : "", name);
	text_printf(&o->types, "%s%s", o->types.n ? ", " : "", type);
}

static void add_tile(struct pto_gen *g, struct operands *o, const struct pto_tile *t)
{
	add_operand(g, o, t->v.name, t->v.type);
}

static void add_scalar(struct pto_gen *g, struct operands *o, const struct ir_node *e)
{
	struct pto_value v = pto_expr(g, e);

	add_operand(g, o, v.name, v.type);
}

void pto_emit(struct pto_gen *g, const char *instr, struct pto_tile **ins, unsigned int n,
	      const struct pto_tile *out)
{
	struct operands o = { 0 };
	unsigned int i;

	for (i = 0; i < n; i++)
		add_tile(g, &o, ins[i]);
	put_op(g, instr, text_str(&o.names), "", text_str(&o.types), out);
}

/* ---- Element-wise ---- */

bool pto_is_elementwise(const struct px_op *op)
{
	static const struct ir_type *(*const rules[])(struct op_use *) = {
		rule_binary, rule_binary_int, rule_shift, rule_scalar, rule_scalar_int,
		rule_ternary, rule_add_scalar_tile, rule_sel, rule_cmp, rule_cmps, rule_not_bits,
		rule_cast,
	};
	size_t i;

	if (!op_is(op, "block") || !strncmp(op->name, "block.part", 10))
		return false;
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (op->rule == rules[i])
			return true;
	return op->rule == rule_same && strcmp(op->name, "block.row_expand") &&
	       strcmp(op->name, "block.vec_move");
}

bool pto_same_extents(const struct pto_tile *a, const struct pto_tile *b)
{
	return pto_dim(&a->type->shape, 0) == pto_dim(&b->type->shape, 0) &&
	       pto_dim(&a->type->shape, 1) == pto_dim(&b->type->shape, 1);
}

struct pto_tile *pto_spread(struct pto_gen *g, struct pto_tile *t, const struct pto_tile *like)
{
	int64_t rows = pto_dim(&like->type->shape, 1), columns = pto_dim(&like->type->shape, 0);
	struct ir_type *type;
	struct pto_tile *wide;

	if (pto_dim(&t->type->shape, 0) == 1 && columns > 1) {
		type = pto_type_like(g, like->type, pto_dim(&t->type->shape, 1), columns,
				     t->type->dtype);
		if (pto_dim(&t->type->shape, 1) == rows)
			type->view.valid = like->type->view.valid;
		wide = pto_scratch(g, type, MS_VEC);
		pto_emit(g, "pto.trowexpand", &t, 1, wide);
		cce_settle(g);
		t = wide;
	}
	if (pto_dim(&t->type->shape, 1) == 1 && rows > 1) {
		type = pto_type_like(g, like->type, rows, columns, t->type->dtype);
		type->view.valid = like->type->view.valid;
		wide = pto_scratch(g, type, MS_VEC);
		t = pto_is_column(t) ? pto_row(g, t) : t;
		pto_emit(g, "pto.tcolexpand", &t, 1, wide);
		cce_settle(g);
		t = wide;
	}
	return t;
}

static struct pto_tile *converted(struct pto_gen *g, struct pto_tile *t, unsigned int dtype)
{
	struct ir_type *type = type_copy(g->px, t->type);
	struct pto_tile *other;

	type->dtype = (uint8_t)dtype;
	other = pto_scratch(g, type, t->space);
	pto_convert(g, pto_is_column(t) ? pto_row(g, t) : t,
		    pto_is_column(other) ? pto_row(g, other) : other, PTO_MODE_OF_TYPES);
	cce_settle(g);
	return other;
}

/* An operand in the shape and, unless @dtype is DT_NONE, the element type of the operation. */
static struct pto_tile *fit(struct pto_gen *g, struct pto_tile *t, const struct pto_tile *like,
			    unsigned int dtype)
{
	if (t->type->dtype == DT_BOOL && dtype == DT_BOOL)
		return pto_mask_fit(g, t, like);
	if (t->type->dtype == DT_BOOL && dtype != DT_NONE)
		t = converted(g, t, dtype);
	if (!pto_same_extents(t, like))
		t = pto_spread(g, t, like);
	if (dtype != DT_NONE && t->type->dtype != dtype)
		t = converted(g, t, dtype);
	return pto_is_column(t) ? pto_row(g, t) : t;
}

unsigned int pto_compute_dtype(const struct ir_call *call, const struct ir_type *result)
{
	unsigned int dtype = DT_NONE;
	uint32_t i;

	if (call->op->rule == rule_cast)
		return DT_NONE;
	if (result->dtype != DT_BOOL || call->op->rule == rule_sel)
		return result->dtype;
	for (i = 0; i < call->args.n; i++)
		if (call->args.at[i] && call->args.at[i]->type->kind == TY_TILE)
			dtype = dtype == DT_NONE ? call->args.at[i]->type->dtype :
				dtype_promote(dtype, call->args.at[i]->type->dtype);
	return dtype;
}

/* ---- Scratch ---- */

/* Rows and columns of the tile that an instruction needs besides its operands (pto-isa 4.15). */
static struct pto_tile *scratch_for(struct pto_gen *g, const struct px_op *op,
				    const struct pto_tile *out)
{
	int64_t rows = pto_dim(&out->type->shape, 1), columns = pto_dim(&out->type->shape, 0);
	struct ir_type *type = pto_type_like(g, out->type, rows, columns, out->type->dtype);

	if (!strcmp(op->name, "block.sel") || !strcmp(op->name, "block.selc"))
		type = pto_type_like(g, out->type, 1, 8, DT_UINT32);
	else if (!strcmp(op->name, "block.prelu"))
		type = pto_type_like(g, out->type, rows + 1, (columns + 31) / 32 * 32, DT_UINT8);
	else if (!strcmp(op->name, "block.rem"))
		type = pto_type_like(g, out->type, 1,
				     (columns + 2 * ((columns + 63) / 64) + 7) / 8 * 8,
				     out->type->dtype);
	else if (!strcmp(op->name, "block.rems"))
		type = pto_type_like(g, out->type, 1, (columns + 7) / 8 * 8, out->type->dtype);
	else
		type->view.valid = out->type->view.valid;
	type->view.blayout = TL_ROW_MAJOR;
	return pto_scratch(g, type, MS_VEC);
}

static unsigned int given_operands(const struct px_op *op)
{
	struct op_param params[OP_MAX_PARAMS];
	unsigned int n = op_params(op, params), i, out = 0;

	for (i = 0; i < n; i++)
		out += params[i].kind != '@' && strcmp(params[i].name, "tmp");
	return out;
}

/* ---- Comparisons ---- */

static const char *compare_text(struct pto_gen *g, const struct ir_call *call)
{
	static const char *const names[] = { "eq", "ne", "lt", "le", "gt", "ge" };
	const char *name;

	if (call->op->rule != rule_cmp && call->op->rule != rule_cmps)
		return "";
	name = names[call_attr(call, "cmp_type")];
	return g->cxx ? px_printf(g->px, ", CmpMode::%s", gen_upper(g->px, name)) :
			px_printf(g->px, "{cmpMode = #pto<cmp %s>}", name);
}

static void put_elementwise(struct pto_gen *g, const struct ir_node *var,
			    const struct ir_call *call)
{
	struct pto_tile *out = pto_tile_of(g, var), *to = pto_is_column(out) ? pto_row(g,
										       out) : out;
	unsigned int dtype = pto_compute_dtype(call, var->type), n = given_operands(call->op), i;
	struct operands o = { 0 };

	pto_size(g, out);
	for (i = 0; i < n && i < call->args.n; i++) {
		const struct ir_node *arg = call->args.at[i];
		bool mask = call->op->rule == rule_sel && !i;

		if (arg->type->kind == TY_TILE)
			add_tile(g, &o, fit(g, pto_tile_of(g, arg), out, mask ? DT_BOOL : dtype));
		else
			add_scalar(g, &o, arg);
	}
	if (call->op->rule == rule_cast) {
		struct pto_tile *from = pto_tile_of(g, call->args.at[0]);

		from = pto_is_column(from) ? pto_row(g, from) : from;
		pto_convert(g, from, to, pto_cast_mode(call));
		return;
	}
	if (call->args.n > n && call->args.at[n])
		add_tile(g, &o, pto_tile_of(g, call->args.at[n]));
	else if (instr_needs_scratch(call->op->instr))
		add_tile(g, &o, scratch_for(g, call->op, to));
	put_op(g, call->op->instr, text_str(&o.names), compare_text(g, call), text_str(&o.types),
	       to);
}

/* ---- The others ---- */

static void put_tiles(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *out = pto_tile_of(g, var);
	struct operands o = { 0 };
	uint32_t i;

	pto_size(g, out);
	for (i = 0; i < call->args.n; i++) {
		if (!call->args.at[i])
			continue;
		if (call->args.at[i]->type->kind == TY_TILE)
			add_tile(g, &o, pto_tile_of(g, call->args.at[i]));
		else if (call->args.at[i]->type->kind == TY_SCALAR)
			add_scalar(g, &o, call->args.at[i]);
	}
	put_op(g, call->op->instr, text_str(&o.names), "", text_str(&o.types), out);
}

static void put_first(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *in = pto_tile_of(g, call->args.at[0]), *out = pto_tile_of(g, var);

	pto_size(g, out);
	pto_emit(g, call->op->instr, &in, 1, out);
}

/* A handle of @of, here, with another type. */
static struct pto_tile seen_as(struct pto_gen *g, struct pto_tile *of, struct ir_type *type)
{
	return (struct pto_tile){ .v = pto_alias(g, of, type), .type = type, .space = of->space };
}

/* Everything is filled, then what is valid is copied over it. */
static void fill_and_copy(struct pto_gen *g, struct pto_tile *in, struct pto_tile *out,
			  const struct ir_attr *pad)
{
	double value = pad->kind == AT_FLOAT ? pad->f : (double)pad->i;
	struct ir_type *type = type_copy(g->px, out->type), *part = type_copy(g->px, out->type);
	struct pto_tile *whole, valid;
	struct operands o = { 0 };

	part->view.valid = in->type->view.valid;
	whole = pto_scratch(g, type, MS_VEC);
	add_scalar(g, &o, dtype_is_float(type->dtype) ?
		   ir_float(g->px, value, type->dtype, g->at) :
		   ir_int(g->px, (int64_t)value, type->dtype, g->at));
	put_op(g, "pto.texpands", text_str(&o.names), "", text_str(&o.types), whole);
	valid = seen_as(g, whole, part);
	pto_size(g, &valid);
	cce_settle(g);
	pto_emit(g, "pto.tmov", &in, 1, &valid);
	cce_settle(g);
	pto_emit(g, "pto.tmov", &whole, 1, out);
}

/* What a tile is filled with is part of the destination's type. */
static void put_fillpad(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *in = pto_tile_of(g, call->args.at[0]), *out = pto_tile_of(g, var), padded;
	const struct ir_attr *pad = call_attr_at(call, "pad");
	struct ir_type *type;

	pto_size(g, out);
	if (pad->kind != AT_ENUM && (pad->kind == AT_FLOAT ? pad->f != 0 : pad->i != 0)) {
		fill_and_copy(g, in, out, pad);
		return;
	}
	type = type_copy(g->px, out->type);
	type->view.pad = pad->kind == AT_ENUM && pad->i ? (uint8_t)pad->i : TILE_PAD_ZERO;
	padded = seen_as(g, out, type);
	pto_emit(g, call->op->instr, &in, 1, &padded);
}

/* The vector spread over the target's shape: the target itself is not read. */
static void put_col_expand(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *in = pto_tile_of(g, call->args.at[1]), *out = pto_tile_of(g, var);

	pto_size(g, out);
	in = pto_is_column(in) ? pto_row(g, in) : in;
	pto_emit(g, call->op->instr, &in, 1, out);
}

static void put_fill(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *out = pto_tile_of(g, var), *to = pto_is_column(out) ? pto_row(g,
										       out) : out;
	struct operands o = { 0 };

	pto_size(g, out);
	add_scalar(g, &o, call->args.at[1]);
	put_op(g, call->op->instr, text_str(&o.names), "", text_str(&o.types), to);
}

/* D11: the bias goes through the bias buffer. */
static void put_bias(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *ins[3], *bias = pto_tile_of(g, call->args.at[2]), *out = pto_tile_of(g,
											      var);
	struct ir_type *type = pto_type_like(g, bias->type, 1, pto_dim(&bias->type->shape, 0),
					     bias->type->dtype);

	type->view.blayout = TL_ROW_MAJOR;
	type->view.slayout = TL_NONE_BOX;
	type->view.fractal = 512;
	ins[0] = pto_tile_of(g, call->args.at[0]);
	ins[1] = pto_tile_of(g, call->args.at[1]);
	ins[2] = bias;
	if (bias->space != MS_BIAS) {
		ins[2] = pto_scratch(g, type, MS_BIAS);
		pto_emit(g, "pto.tmov", &bias, 1, ins[2]);
		if (g->cxx)
			pto_line(g, "pipe_barrier(PIPE_ALL);");
	}
	pto_emit(g, call->op->instr, ins, 3, out);
}

static void put_sels(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *out = pto_tile_of(g, var), *to = pto_is_column(out) ? pto_row(g,
										       out) : out;
	struct pto_value mode = pto_expr(g, call->args.at[2]);
	const char *name = g->cxx ? px_printf(g->px, "%s != 0", mode.name) : pto_temp(g);
	unsigned int i;

	pto_size(g, out);
	if (!g->cxx)
		pto_line(g, "%s = arith.cmpi ne, %s, %s : %s", name, mode.name,
			 pto_constant(g, 0, mode.type).name, mode.type);
	for (i = 0; i < 2; i++) {
		struct pto_tile *in;

		pto_line(g, i ? "} else {" : g->cxx ? "if (%s) {" : "scf.if %s {", name);
		g->indent++;
		in = fit(g, pto_tile_of(g, call->args.at[i]), out, var->type->dtype);
		pto_emit(g, "pto.tmov", &in, 1, to);
		g->indent--;
	}
	pto_line(g, "}");
}

void pto_get_element(struct pto_gen *g, const struct ir_node *var, const struct pto_tile *t,
		     const char *at)
{
	const char *type = pto_scalar_type(g, var->type->dtype, var->span), *name;

	if (g->cxx) {
		name = gen_take_name(&g->cxx->names, gen_base_name(g->px, IR_AS(var, var)->name));
		pto_line(g, "pipe_barrier(PIPE_ALL);");
		pto_line(g, "%s %s = %s.GetValue(%s);", gen_c_type(g->cxx, var->type, var->span),
			 name, t->v.name, at);
	} else {
		name = pto_temp(g);
		pto_line(g, "%s = pto.tgetval ins(%s, %s : %s, index) outs : %s", name, t->v.name,
			 at, t->v.type, type);
	}
	pto_bind(g, var, name, type);
}

static void put_getval(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *t = pto_tile_of(g, call->args.at[0]);

	pto_get_element(g, var, t, pto_index_expr(g, call->args.at[1]));
}

static void put_setval(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *t = pto_tile_of(g, call->args.at[0]);
	const char *at = pto_index_expr(g, call->args.at[1]);
	struct pto_value v = pto_expr(g, call->args.at[2]);
	const char *type = pto_scalar_type(g, t->type->dtype, g->at);

	(void)var;
	if (t->type->dtype != call->args.at[2]->type->dtype &&
	    call->args.at[2]->kind == IR_CONST_INT)
		v = dtype_is_float(t->type->dtype) ?
			pto_float(g, (double)IR_AS(call->args.at[2], const)->value,
				  t->type->dtype) :
			pto_constant(g, IR_AS(call->args.at[2], const)->value, type);
	if (g->cxx) {
		pto_line(g, "%s.SetValue(%s, %s);", t->v.name, at, v.name);
		return;
	}
	pto_line(g, "pto.tsetval ins(%s, %s : index, %s) outs(%s : %s)", at, v.name, v.type,
		 t->v.name, t->v.type);
}

static void put_ci(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *out = pto_tile_of(g, var);
	struct pto_value start = pto_expr(g, call->args.at[0]);

	pto_size(g, out);
	if (g->cxx) {
		const char *type = gen_c_type(g->cxx, var->type, var->span);

		pto_line(g, "TCI<decltype(%s), %s, %d>(%s, static_cast<%s>(%s));", out->v.name,
			 type, (int)call_attr(call, "descending"), out->v.name, type, start.name);
		return;
	}
	pto_line(g, "pto.tci ins(%s {descending = %s} : %s) outs(%s : %s)", start.name,
		 call_attr(call, "descending") ? "true" : "false", start.type, out->v.name,
		 out->v.type);
}

static void put_gather(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *ins[3], *out = pto_tile_of(g, var);
	bool bytes = !strcmp(call->op->name, "block.gatherb");

	pto_size(g, out);
	ins[0] = pto_tile_of(g, call->args.at[0]);
	ins[1] = pto_tile_of(g, call->args.at[1]);
	if (!bytes && !g->cxx)
		ins[2] = call->args.n > 2 && call->args.at[2] ? pto_tile_of(g, call->args.at[2]) :
			 pto_scratch(g, ins[1]->type, MS_VEC);
	pto_emit(g, call->op->instr, ins, bytes || g->cxx ? 2 : 3, out);
}

/* The result is the destination's own buffer. */
static void put_scatter(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *ins[2], *out = pto_tile_of(g, var);

	ins[0] = pto_tile_of(g, call->args.at[1]);
	ins[1] = pto_tile_of(g, call->args.at[2]);
	pto_emit(g, call->op->instr, ins, 2, out);
}

static void put_cxx_merge(struct pto_gen *g, const struct ir_call *call,
			  const struct pto_tile *out, const struct pto_tile *tmp)
{
	struct text types = { .px = g->px }, names = { .px = g->px };
	const char *counts = gen_take_name(&g->cxx->names, "executed");
	uint32_t i;

	for (i = 0; i < 4 && i < call->args.n; i++) {
		const char *name = call->args.at[i] ? pto_tile_of(g,
								  call->args.at[i])->v.name : NULL;

		if (!name)
			continue;
		text_printf(&types, ", decltype(%s)", name);
		text_printf(&names, ", %s", name);
	}
	pto_line(g, "MrgSortExecutedNumList %s;", counts);
	pto_line(g, "TMRGSORT<decltype(%s), decltype(%s)%s, %s>(%s, %s, %s%s);", out->v.name,
		 tmp->v.name, text_str(&types), call_attr(call, "exhausted") ? "true" : "false",
		 out->v.name, counts, tmp->v.name, text_str(&names));
}

static void put_mrgsort(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *out = pto_tile_of(g, var), *tmp;
	struct operands o = { 0 };
	const char *counts;
	uint32_t i;

	if (call->args.n < 2 || !call->args.at[1]) {
		add_tile(g, &o, pto_tile_of(g, call->args.at[0]));
		add_operand(g, &o, pto_constant(g, call_attr(call, "block_len"), "i32").name, "i32");
		put_op(g, call->op->instr, text_str(&o.names), "", text_str(&o.types), out);
		return;
	}
	for (i = 0; i < 4 && i < call->args.n; i++)
		if (call->args.at[i])
			add_tile(g, &o, pto_tile_of(g, call->args.at[i]));
	tmp = call->args.n > 4 && call->args.at[4] ? pto_tile_of(g, call->args.at[4]) :
	      pto_scratch(g, out->type, MS_VEC);
	add_tile(g, &o, tmp);
	if (g->cxx) {
		put_cxx_merge(g, call, out, tmp);
		return;
	}
	counts = pto_temp(g);
	pto_line(g, "%s = arith.constant dense<0> : vector<4xi16>", counts);
	pto_line(g, "pto.tmrgsort ins(%s {exhausted = %s} : %s) outs(%s, %s : %s, vector<4xi16>)",
		 text_str(&o.names), call_attr(call, "exhausted") ? "true" : "false",
		 text_str(&o.types), out->v.name, counts, out->v.type);
}

static void put_print(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *t = pto_tile_of(g, call->args.at[0]);

	(void)var;
	if (g->cxx)
		pto_line(g, "TPRINT(%s);", t->v.name);
	else
		pto_line(g, "pto.tprint ins(%s : %s)", t->v.name, t->v.type);
}

static void put_position(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	const char *name;

	if (g->cxx) {
		name = gen_take_name(&g->cxx->names, gen_base_name(g->px, IR_AS(var, var)->name));
		pto_line(g, "uint64_t %s = %s(args);", name,
			 !strcmp(call->op->name, "block.get_subblock_idx") ? "get_sub_block_id" :
			 call->op->name + strlen("block."));
	} else {
		name = pto_temp(g);
		pto_line(g, "%s = %s", name, call->op->instr);
	}
	var_map_set(&g->nonnegative, var, (void *)var);
	pto_bind(g, var, name, "i64");
}

static void put_nothing(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	(void)g;
	(void)var;
	(void)call;
}

/* Tiles are matrices, so a stack of products is one. */
static void put_batch(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *ins[2], *out;

	if (var->type->shape.n != 2) {
		pto_mistake(g, &call->node, "Multiply matrix by matrix: pl.load() one of each stack in a loop",
			    "No codegen registered for operation: %s of tiles with %u dimensions",
			    call->op->name, var->type->shape.n);
		return;
	}
	ins[0] = pto_tile_of(g, call->args.at[0]);
	ins[1] = pto_tile_of(g, call->args.at[1]);
	out = pto_tile_of(g, var);
	pto_size(g, out);
	pto_emit(g, "pto.tmatmul", ins, 2, out);
}

static const struct special {
	const char *name;
	void (*put)(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call);
} specials[] = {
	{ "block.alloc", put_nothing }, { "block.create_tile", put_nothing },
	{ "block.full", put_fill }, { "block.expands", put_fill },
	{ "block.fillpad", put_fillpad }, { "block.row_expand", put_first },
	{ "block.col_expand", put_col_expand },
	{ "block.matmul_bias", put_bias }, { "block.gemv_bias", put_bias },
	{ "block.matmul_mx_bias", put_tiles }, { "block.batch_matmul", put_batch },
	{ "block.sels", put_sels }, { "block.getval", put_getval }, { "block.setval", put_setval },
	{ "block.ci", put_ci }, { "block.gather", put_gather }, { "block.gatherb", put_gather },
	{ "block.scatter", put_scatter }, { "block.mrgsort", put_mrgsort },
	{ "block.print", put_print }, { "block.get_block_idx", put_position },
	{ "block.get_block_num", put_position }, { "block.get_subblock_idx", put_position },
};

void pto_operator(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	size_t i;

	g->scratch = g->scratch_base;
	g->call = call;
	if (pto_movement(g, var, call) || pto_pipe(g, var, call) || pto_mask(g, var, call) ||
	    !pto_types_fit(g, var, call) || pto_reduction(g, var, call))
		return;
	for (i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		if (strcmp(call->op->name, specials[i].name))
			continue;
		specials[i].put(g, var, call);
		return;
	}
	if (!strncmp(call->op->name, "system.", 7)) /* the assembler synchronises */
		return;
	if (!op_is(call->op, "block") || !call->op->instr)
		pto_mistake(g, &call->node, "Use operators that the back end has, or the other back end",
			    "No codegen registered for operation: %s", call->op->name);
	else if (pto_is_elementwise(call->op))
		put_elementwise(g, var, call);
	else
		put_tiles(g, var, call);
}
