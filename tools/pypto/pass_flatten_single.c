/* SPDX-License-Identifier: MIT */
/* FlattenSingleStmt, section 7.1: a sequence or a group of one statement is that statement. */
#include "pass.h"

static struct ir_node *bare(struct px *px, struct ir_node *stmt, void *unused)
{
	struct ir_list stmts, out = { 0 };
	struct ir_seq *copy;
	uint32_t i;

	if (stmt->kind != IR_SEQ && stmt->kind != IR_OPS)
		return pass_bodies(px, stmt, bare, unused);
	stmts = IR_AS(stmt, seq)->stmts;
	for (i = 0; i < stmts.n; i++)
		list_push(px, &out, bare(px, stmts.at[i], unused));
	if (out.n == 1)
		return out.at[0];
	copy = ir_copy(px, stmt);
	copy->stmts = out;
	return &copy->node;
}

static struct ir_function *flatten(struct px *px, struct ir_function *old, void *data)
{
	struct ir_function *f = ir_copy(px, &old->node);

	f->body = bare(px, old->body, data);
	return f;
}

struct ir_program *pass_flatten_single(struct px *px, struct ir_program *program,
				       const struct pass_options *options)
{
	(void)options;
	return pass_each(px, program, flatten, NULL);
}
