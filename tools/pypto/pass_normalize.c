/* SPDX-License-Identifier: MIT */
/* NormalizeStmtStructure, section 7.1: every body is a SeqStmts of OpStmts and control flow. */
#include "pass.h"
#include "walk.h"

static bool is_simple(const struct ir_node *s)
{
	return s->kind == IR_ASSIGN || s->kind == IR_EVAL;
}

static struct ir_node *sequence(struct px *px, enum ir_kind kind, struct ir_list stmts,
				struct span span)
{
	struct ir_seq *seq = ir_new(px, kind, span, NULL);

	seq->stmts = stmts;
	return &seq->node;
}

struct ir_node *pass_grouped(struct px *px, struct ir_node *body, void *unused)
{
	struct ir_list stmts = ir_flat(px, body), out = { 0 }, run;
	uint32_t i = 0;

	(void)unused;
	while (i < stmts.n) {
		struct ir_node *s = stmts.at[i];

		if (!is_simple(s)) {
			list_push(px, &out, pass_bodies(px, s, pass_grouped, NULL));
			i++;
			continue;
		}
		run = (struct ir_list){ 0 };
		for (; i < stmts.n && is_simple(stmts.at[i]); i++)
			list_push(px, &run, stmts.at[i]);
		list_push(px, &out, sequence(px, IR_OPS, run, s->span));
	}
	return sequence(px, IR_SEQ, out, body->span);
}

static struct ir_function *normalize(struct px *px, struct ir_function *old, void *data)
{
	struct ir_function *f = ir_copy(px, &old->node);

	f->body = pass_grouped(px, old->body, data);
	return f;
}

struct ir_program *pass_normalize_structure(struct px *px, struct ir_program *program,
					    const struct pass_options *options)
{
	(void)options;
	return pass_each(px, program, normalize, NULL);
}
