/* SPDX-License-Identifier: MIT */
/* What only one of the platforms has, section 14: said where an author asks for it. */
#include "ops.h"
#include "pass.h"
#include "walk.h"

static bool has_small(const struct ir_call *call)
{
	uint32_t i;

	for (i = 0; i < call->args.n; i++)
		if (call->args.at[i] && call->args.at[i]->type->kind == TY_TILE &&
		    dtype_is_small(call->args.at[i]->type->dtype))
			return true;
	return call->node.type->kind == TY_TILE && dtype_is_small(call->node.type->dtype);
}

/* What a2a3 lacks for the call; NULL: nothing. */
static const char *missing(const struct ir_call *call)
{
	const struct ir_attr *space = call_attr_at(call, "target_memory");

	if (call->op->rule == rule_matmul_mx || call->op->rule == rule_matmul_mx_acc ||
	    call->op->rule == rule_matmul_mx_bias)
		return "products with scales";
	if (space && (space->i == MS_LEFT_SCALE || space->i == MS_RIGHT_SCALE))
		return "memory for scales";
	return has_small(call) ? "eight-bit floats" : NULL;
}

static bool check_call(void *data, struct ir_node *node)
{
	const struct ir_call *call = IR_AS(node, call);
	const char *what = node->kind == IR_CALL && call->op ? missing(call) : NULL;

	if (what)
		diag_hint(data, diag_add(data, DIAG_OPERATION, node->span,
					 "pl.%s() is not possible on a2a3, which has no %s",
					 call->op->pl, what),
			  "Compile the program for a5 or a5sim");
	return true;
}

void platform_check(struct px *px, const struct ir_program *program, int arch)
{
	uint32_t i;

	for (i = 0; i < program->functions.n && !arch; i++) {
		const struct ir_function *f = IR_AS(program->functions.at[i], function);

		if (f->func_type == FN_INCORE || f->func_type == FN_BLOCK_INCORE)
			ir_walk(f->body, check_call, px);
	}
}
