/* SPDX-License-Identifier: MIT */
/*
 * What the level of the command line allows: who assigns addresses. Section 9.2.
 * Needs a verified module; changes nothing.
 */
#include "passes.h"

static int check_alloc(struct pto_pass_ctx *c, struct pto_op *op)
{
	bool addr = pto_operand(op, 0) != NULL;

	if (addr == (c->level == PTO_LEVEL3))
		return 0;
	if (!addr)
		return pto_op_error(c->diags, c->module, op, "write addr = %address",
				    "requires 'addr' operand when --pto-level=level3");
	return pto_op_error(c->diags, c->module, op, "drop the operand, or pass --pto-level=level3",
			    "unexpected 'addr' operand: only supported when --pto-level=level3");
}

/* The two messages have no place in the reference's form; the place is added. */
static int check_tassign(struct pto_pass_ctx *c, struct pto_op *op)
{
	if (c->level != PTO_LEVEL3)
		pto_diag(c->diags, c->module, PTO_ERROR, op->loc, NULL,
			 "pto.tassign is only supported when --pto-level=level3.");
	else if (c->options->insert_sync)
		pto_diag(c->diags, c->module, PTO_ERROR, op->loc, NULL,
			 "pto.tassign requires --enable-insert-sync to be disabled.");
	else
		return 0;
	return -EINVAL;
}

static int check_op(struct pto_op *op, void *arg)
{
	struct pto_pass_ctx *c = arg;

	switch (pto_code(op)) {
	case PTO_OP_ALLOC_TILE:
	case PTO_OP_ALLOC_MULTI_TILE:
		check_alloc(c, op);
		break;
	case PTO_OP_TASSIGN:
		check_tassign(c, op);
		break;
	case PTO_OP_RESERVE_BUFFER:
		if (!pto_attr_int(op, "auto", 0) && c->level != PTO_LEVEL3)
			pto_op_error(c->diags, c->module, op, "write auto = true",
				     "unexpected 'base': only supported when --pto-level=level3");
		break;
	default:
		break;
	}
	return 0;
}

int pass_check_level(struct pto_pass_ctx *c)
{
	unsigned int before = c->diags->errors;

	pto_for_each_func(f, c->module)
		pto_walk(f->op, check_op, c);
	return c->diags->errors > before ? -EINVAL : 0;
}
