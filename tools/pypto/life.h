/* SPDX-License-Identifier: MIT */
/*
 * When the variables of a function in SSA form are used. Statements are numbered in order, those of
 * a body behind the statement they belong to; a use inside a loop of what was defined outside of it
 * counts at the loop's end too, because the next iteration uses it again.
 */
#ifndef PYPTO_LIFE_H
#define PYPTO_LIFE_H

#include "walk.h"

struct life_loop;
struct life_var {
	const struct ir_node *var;
	uint32_t def;
	uint32_t *uses;			/* places, not in order */
	uint32_t n_uses;
	struct life_loop *loop;		/* around its definition; NULL: none */
};

struct life {
	struct px *px;
	struct var_map vars;		/* variable -> struct life_var */
	struct ir_list order;		/* variables as they are defined */
	struct var_map starts, ends;	/* statement -> its place, and the last one inside, + 1 */
	uint32_t clock;
	struct life_loop *loop;
};

void life_of(struct px *px, const struct ir_function *f, struct life *life);
const struct life_var *life_find(const struct life *life, const struct ir_node *var);
/* Whether @var is used behind place @after and not behind @to. */
bool life_used(const struct life *life, const struct ir_node *var, uint32_t after, uint32_t to);
uint32_t life_last(const struct life_var *var);		/* its definition when it has no use */
uint32_t life_start(const struct life *life, const struct ir_node *stmt);
uint32_t life_end(const struct life *life, const struct ir_node *stmt);

#endif
