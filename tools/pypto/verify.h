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

/* Section 5.3. */
enum verify_code {
	VERIFY_NO_CODE, VERIFY_MULTIPLE_ASSIGNMENT = 1, VERIFY_MISSING_YIELD = 3,
	VERIFY_KIND = 101, VERIFY_DTYPE, VERIFY_RANK, VERIFY_EXTENT, VERIFY_COUNT
};

/* What tells @is from @wanted first; VERIFY_NO_CODE: they are compatible. */
enum verify_code type_mismatch(const struct ir_type *is, const struct ir_type *wanted);
/* The same, but only extents that are numbers in both count. */
enum verify_code type_misfit(const struct ir_type *is, const struct ir_type *wanted);
/* A violation whose code @mismatch is, if that is one. */
void violation_type(struct verify *v, const struct ir_node *node, const char *what,
		    const char *name, enum verify_code mismatch, const struct ir_type *is,
		    const struct ir_type *wanted);
/* A violation with a code of its own. */
void violation_code(struct verify *v, enum property property, const struct ir_node *node,
		    enum verify_code code, const char *what, const char *name);
void violation(struct verify *v, enum property property, const struct ir_node *node,
	       const char *what, const char *name);
/* verify_memory.c: tile operators, memory references, addresses, grouping. */
void verify_memory(struct verify *v, const struct ir_function *f);
/* verify_uses.c: definitions before uses, calls of functions, what is returned. */
void verify_uses(struct verify *v, const struct ir_program *program, const struct ir_function *f);

#endif
