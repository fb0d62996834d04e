/* SPDX-License-Identifier: MIT */
/* What the files of the verifier share. */
#ifndef PYPTO_VERIFY_H
#define PYPTO_VERIFY_H

#include "pass.h"
#include "walk.h"

#define PROPERTIES	8

struct verify {
	struct px *px;
	struct var_map defined;
	unsigned int violations[PROPERTIES];	/* by number of the property */
	unsigned int report;	/* enum property: those whose violations become mistakes */
};

void violation(struct verify *v, enum property property, const struct ir_node *node,
	       const char *what, const char *name);
/* verify_memory.c: tile operators, memory references, addresses, grouping. */
void verify_memory(struct verify *v, const struct ir_function *f);
/* verify_uses.c: definitions before uses, calls of functions, what is returned. */
void verify_uses(struct verify *v, const struct ir_program *program, const struct ir_function *f);

#endif
