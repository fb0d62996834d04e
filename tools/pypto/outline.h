/* SPDX-License-Identifier: MIT */
/* What the files of OutlineIncoreScopes share. */
#ifndef PYPTO_OUTLINE_H
#define PYPTO_OUTLINE_H

#include "ops.h"
#include "pass.h"
#include "walk.h"

/*
 * outline_return.c: the body of @f, in SSA form, with a region in front of its return that copies
 * each returned tensor of which only the run decides which one it is.
 */
struct ir_node *outline_returns(struct px *px, const struct ir_program *program,
				const struct ir_function *f);

#endif
