/* SPDX-License-Identifier: MIT */
/* Element types: what the instructions of a platform compute with, told at the operator. */
#include <string.h>

#include "gen_pto.h"
#include "instr.h"

/* ---- What an operator is computed with ---- */

static bool is_line(const struct ir_type *type)
{
	return pto_dim(&type->shape, 0) == 1 || pto_dim(&type->shape, 1) == 1;
}

static bool fills_with_number(const struct ir_call *call)
{
	const struct ir_attr *pad = call_attr_at(call, "pad");

	return call->op->rule == rule_fill &&
	       (pad->kind == AT_FLOAT ? pad->f != 0 : pad->kind == AT_INT && pad->i != 0);
}

/* The instruction whose tiles have all the element type @dtype; NULL: there is none. */
static const char *instr_of(struct pto_gen *g, const struct ir_node *var,
			    const struct ir_call *call, unsigned int *dtype)
{
	const char *what = call->op->name + strlen("block.");

	if (pto_is_elementwise(call->op)) {
		*dtype = pto_compute_dtype(call, var->type);
		return *dtype != DT_NONE && *dtype != DT_BOOL ? call->op->instr : NULL;
	}
	if (!op_is(call->op, "block") || !call->args.n || call->op->rule == rule_sels)
		return NULL;
	*dtype = call->args.at[0]->type->dtype;
	if (call->op->rule == rule_reduce)
		return px_printf(g->px, "pto.trow%s", what);
	if (fills_with_number(call))
		return "pto.texpands";
	if (call->op->rule == rule_full || call->op->rule == rule_ci)
		*dtype = var->type->dtype;
	if (call->op->rule == rule_transpose && is_line(var->type))
		return NULL;
	return call->op->instr;
}

/* What the table of instructions does not say by types alone. */
static bool takes(const char *instr, unsigned int dtype, const char *elem, enum gen_arch arch)
{
	if (!strcmp(instr, "pto.tgather"))
		return (dtype_info(dtype)->bits == 8 ? arch == ARCH_A5 :
			dtype_info(dtype)->bits < 64) && dtype != DT_BF16;
	return instr_takes(instr, elem, arch);
}

static bool instr_fits(struct pto_gen *g, const char *instr, unsigned int dtype)
{
	return takes(instr, dtype, pto_dtype(g, dtype, g->at), g->arch);
}

const char *pto_platform(const struct pto_gen *g)
{
	return g->arch == ARCH_A5 ? "a5" : "a2a3";
}

static bool indices_fit(struct pto_gen *g, const struct ir_call *call)
{
	unsigned int dtype;

	if (strcmp(call->op->name, "block.gather") || g->arch == ARCH_A5)
		return true;
	dtype = call->args.at[1]->type->dtype;
	if (dtype_info(dtype)->bits == 32)
		return true;
	diag_hint(g->px, diag_add(g->px, DIAG_OPERATION,
				  call->node.span.line ? call->node.span : g->at,
				  "pl.gather() takes INT32 indices on %s, but got %s", pto_platform(g),
				  dtype_name(dtype)),
		  "Convert them with pl.cast(indices, pl.INT32)");
	return false;
}

/* A vector of one value per row or column has the tile's type, and as many valid values. */
static bool vector_fits(struct pto_gen *g, const struct ir_call *call)
{
	bool row = call->op->rule == rule_row_expand;
	const struct ir_type *a, *b;
	const struct ir_node *x, *y;
	const struct span at = call->node.span.line ? call->node.span : g->at;
	uint32_t i = row ? 0 : 1;

	if (!row && call->op->rule != rule_col_expand)
		return true;
	a = call->args.at[0]->type;
	b = call->args.at[1]->type;
	x = a->view.valid.n ? a->view.valid.at[i] : a->shape.at[i];
	y = b->view.valid.n ? b->view.valid.at[i] : b->shape.at[i];
	if (a->dtype == b->dtype && dim_equal(x, y))
		return true;
	if (a->dtype != b->dtype)
		diag_hint(g->px, diag_add(g->px, DIAG_OPERATION, at,
					  "pl.%s() takes a vector with the tile's elements, %s, but got %s",
					  call->op->pl, dtype_name(a->dtype), dtype_name(b->dtype)),
			  "Convert one of them with pl.cast()");
	else
		diag_hint(g->px, diag_add(g->px, DIAG_OPERATION, at,
					  "pl.%s() takes a vector that is valid as far as the tile, which is not so here",
					  call->op->pl),
			  "Load both with the same valid_shapes, or fill the tile with pl.fillpad()");
	return false;
}

bool pto_types_fit(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	static const uint8_t all[] = { DT_INT8, DT_INT16, DT_INT32, DT_FP16, DT_BF16, DT_FP32 };
	struct text good = { .px = g->px };
	const char *instr;
	unsigned int dtype, i;

	instr = instr_of(g, var, call, &dtype);
	if (!instr || instr_fits(g, instr, dtype))
		return indices_fit(g, call) && vector_fits(g, call);
	for (i = 0; i < sizeof(all); i++)
		if (instr_fits(g, instr, all[i]))
			text_printf(&good, "%s%s", good.n ? ", " : "", dtype_name(all[i]));
	diag_hint(g->px, diag_add(g->px, DIAG_OPERATION,
				  call->node.span.line ? call->node.span : g->at,
				  "pl.%s() does not compute with %s elements on %s, only with %s",
				  call->op->pl, dtype_name(dtype), pto_platform(g), text_str(&good)),
		  "Convert the operands with pl.cast(), and the result back");
	return false;
}
