/* SPDX-License-Identifier: MIT */
/*
 * On a5 the vector core moves rows: a move between two column-major tiles is written as the move of
 * their row-major reinterpretations. Section 9.3, pass 5.
 */
#include "passes.h"

static bool moves_columns(const struct pto_op *op)
{
	const struct pto_type *to, *from;

	if (op->info->code != PTO_OP_TMOV || op->n_operands != 2)
		return false;
	from = op->operand[0].value->type;
	to = op->operand[1].value->type;
	return pto_is_tile(from) && pto_is_tile(to) && from->space == PTO_SPACE_VEC &&
	       to->space == PTO_SPACE_VEC && from->blayout == PTO_COL_MAJOR &&
	       to->blayout == PTO_COL_MAJOR && from->slayout == PTO_NONE_BOX &&
	       to->slayout == PTO_NONE_BOX;
}

/* @v with rows for columns, in front of @op; the same bytes. */
static struct pto_value *as_rows(struct pto_module *m, struct pto_op *op, struct pto_value *v)
{
	struct pto_op *view = pto_op_new(m, PTO_OP_TRESHAPE,
					 (struct pto_op_shape){ .operands = 1, .results = 1 },
					 op->loc);
	struct pto_type t = *v->type;

	if (!view)
		return NULL;
	t.blayout = PTO_ROW_MAJOR;
	t.dim[0] = v->type->dim[1];
	t.dim[1] = v->type->dim[0];
	t.valid[0] = v->type->valid[1];
	t.valid[1] = v->type->valid[0];
	pto_set_operand(view, 0, v);
	view->result[0].type = pto_type_get(m, &t);
	pto_insert_before(op, view);
	return view->result[0].type && !pto_op_bind(view) ? &view->result[0] : NULL;
}

static int rewrite(struct pto_op *op, void *arg)
{
	struct pto_pass_ctx *c = arg;
	unsigned int i;

	if (!moves_columns(op))
		return 0;
	for (i = 0; i < 2; i++) {
		struct pto_value *v = as_rows(c->module, op, op->operand[i].value);

		if (!v)
			return -ENOMEM;
		pto_set_operand(op, i, v);
	}
	return 0;
}

int pass_rewrite_moves(struct pto_pass_ctx *c)
{
	int ret = 0;

	pto_for_each_func(f, c->module)
		ret = ret ? ret : pto_walk(f->op, rewrite, c);
	return ret;
}

bool rewrite_moves_wanted(const struct pto_pass_ctx *c)
{
	return c->arch == PTO_ARCH_A5;
}
