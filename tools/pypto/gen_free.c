/* SPDX-License-Identifier: MIT */
/*
 * When the slots of popped tiles are freed: behind the last statement that uses the tile or a
 * view of it, in the order of the pops (section 15.3, decisions D32).
 */
#include <string.h>

#include "gen.h"

struct use_scan {
	const struct ir_node *var;
	const struct ir_memref *memref;
	bool used, freed;
};

static bool find_use(void *data, struct ir_node *node)
{
	struct use_scan *s = data;
	const struct ir_call *call = IR_AS(node, call);

	if (node == s->var ||
	    (ir_is_var(node) && s->memref && node->type && node->type->memref == s->memref))
		s->used = true;
	if (node->kind == IR_CALL && call->op && !strcmp(call->op->name, "pipe.tfree") &&
	    call->args.at[0] == s->var)
		s->freed = true;
	return true;
}

const struct ir_call *gen_pop_of(const struct ir_node *stmt)
{
	const struct ir_assign *a = IR_AS(stmt, assign);
	const struct ir_call *call;

	if (stmt->kind != IR_ASSIGN || a->value->kind != IR_CALL)
		return NULL;
	call = IR_AS(a->value, call);
	return call->op && call->op->rule == rule_tpop ? call : NULL;
}

/*
 * The statement of @stmts behind which the tile popped by statement @i is not needed; -1: freed
 * by hand.
 */
static int64_t last_use(const struct ir_list *stmts, uint32_t i)
{
	struct use_scan s = { .var = IR_AS(stmts->at[i], assign)->var };
	uint32_t k, last = i;

	s.memref = s.var->type->memref;
	for (k = i + 1; k < stmts->n; k++) {
		s.used = false;
		ir_walk(stmts->at[k], find_use, &s);
		last = s.used ? k : last;
	}
	return s.freed ? -1 : (int64_t)last;
}

void gen_frees(struct px *px, const struct ir_list *stmts, struct ir_list *frees)
{
	uint32_t i;

	for (i = 0; i < stmts->n; i++) {
		const struct ir_call *pop = gen_pop_of(stmts->at[i]);
		int64_t last = pop ? last_use(stmts, i) : -1, k;

		if (last < 0)
			continue;
		/* not before the tiles that were popped earlier from the same pipe */
		for (k = stmts->n - 1; k > last; k--)
			if (list_has(&frees[k], pop->args.at[0]))
				last = k;
		list_push(px, &frees[last], pop->args.at[0]);
	}
}
