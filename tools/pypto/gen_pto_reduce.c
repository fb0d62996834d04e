/* SPDX-License-Identifier: MIT */
/*
 * Reductions and exchanges of axes in .pto text: section 4.5. A column is also a row: the sum of
 * its rows is itself, the sum of its one column that of the row, and its transpose is the row.
 */
#include <string.h>

#include "gen_pto.h"

static struct pto_tile *as_row(struct pto_gen *g, struct pto_tile *t)
{
	return pto_is_column(t) ? pto_row(g, t) : t;
}

static void copy_line(struct pto_gen *g, struct pto_tile *in, struct pto_tile *out)
{
	in = as_row(g, in);
	pto_emit(g, "pto.tmov", &in, 1, as_row(g, out));
}

/* Row reductions have a scratch tile like their source. A column is its own. */
static void put_row_reduce(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *ins[2], *out = pto_tile_of(g, var);

	ins[0] = pto_tile_of(g, call->args.at[0]);
	pto_size(g, out);
	if (pto_is_column(ins[0])) {
		copy_line(g, ins[0], out);
		return;
	}
	ins[1] = call->args.n > 1 && call->args.at[1] ? pto_tile_of(g, call->args.at[1]) :
		 pto_scratch(g, ins[0]->type, MS_VEC);
	pto_emit(g, call->op->instr, ins, 2, out);
}

/* A column is reduced as the row that it is too. */
static void put_col_reduce(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *ins[2], *out = pto_tile_of(g, var);
	bool column;

	ins[0] = pto_tile_of(g, call->args.at[0]);
	column = pto_is_column(ins[0]);
	pto_size(g, out);
	ins[0] = as_row(g, ins[0]);
	ins[1] = column ? pto_scratch(g, ins[0]->type, MS_VEC) : NULL;
	pto_emit(g, column ? px_printf(g->px, "pto.trow%s", call->op->instr + strlen("pto.tcol")) :
		 call->op->instr, ins, column ? 2 : 1, out);
}

static void put_transpose(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *ins[2], *out = pto_tile_of(g, var);

	ins[0] = pto_tile_of(g, call->args.at[0]);
	pto_size(g, out);
	if (pto_dim(&out->type->shape, 0) == 1 || pto_dim(&out->type->shape, 1) == 1) {
		copy_line(g, ins[0], out);
		return;
	}
	ins[1] = pto_scratch(g, out->type, MS_VEC);
	pto_emit(g, call->op->instr, ins, 2, out);
}

/* Sums and the like along an axis: by rows or by columns. */
static void put_reduce(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *ins[2], *to, *out = NULL;
	const char *what = call->op->name + strlen("block.");
	int64_t axis = call_attr(call, "axis"), n = call->args.at[0]->type->shape.n, rows, columns;
	struct ir_type *type;
	bool by_row;

	axis += axis < 0 ? n : 0;
	by_row = axis == n - 1;
	ins[0] = pto_tile_of(g, call->args.at[0]);
	if (pto_is_column(ins[0]) && by_row) {
		copy_line(g, ins[0], pto_tile_of(g, var));
		return;
	}
	by_row |= pto_is_column(ins[0]);
	ins[0] = as_row(g, ins[0]);
	rows = by_row ? pto_dim(&ins[0]->type->shape, 1) : 1;
	columns = by_row ? 1 : pto_dim(&ins[0]->type->shape, 0);
	type = pto_type_like(g, ins[0]->type, rows, columns, ins[0]->type->dtype);
	type->view.blayout = by_row && rows > 1 ? TL_COL_MAJOR : TL_ROW_MAJOR;
	if (var->type->kind == TY_TILE)
		out = pto_tile_of(g, var);
	to = out && !pto_is_column(out) == (rows == 1) ? out : pto_scratch(g, type, MS_VEC);
	ins[1] = pto_scratch(g, ins[0]->type, MS_VEC);
	pto_emit(g, px_printf(g->px, "pto.t%s%s", by_row ? "row" : "col", what), ins,
		 by_row ? 2 : 1, to);
	cce_settle(g);
	if (out && to != out) {
		struct pto_tile *row = pto_row(g, to);

		pto_emit(g, "pto.tmov", &row, 1, pto_is_column(out) ? pto_row(g, out) : out);
	}
	if (!out)
		pto_get_element(g, var, to, pto_index(g, 0));
}

bool pto_reduction(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	if (!op_is(call->op, "block"))
		return false;
	if (call->op->rule == rule_row_reduce)
		put_row_reduce(g, var, call);
	else if (call->op->rule == rule_col_reduce)
		put_col_reduce(g, var, call);
	else if (call->op->rule == rule_reduce)
		put_reduce(g, var, call);
	else if (call->op->rule == rule_transpose)
		put_transpose(g, var, call);
	else
		return false;
	return true;
}
