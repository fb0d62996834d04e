/* SPDX-License-Identifier: MIT */
/* What the files of OutlineIncoreScopes share. */
#ifndef PYPTO_OUTLINE_H
#define PYPTO_OUTLINE_H

#include "ops.h"
#include "pass.h"
#include "tensor_root.h"
#include "walk.h"

struct outline {
	struct px *px;
	const struct ir_program *source;	/* as the pass got it */
	struct ir_program *program, *out;	/* without calls that are no tasks; the result */
	struct ir_function *parent;
	struct tensor_roots roots;	/* of the parent */
	struct var_map written;		/* tensors that it writes, and what these may be */
	struct var_map uses;		/* variable -> how often the parent uses it */
	struct var_map made;		/* variable -> its AssignStmt in the parent */
	struct var_map order;		/* variable -> its number in order of definition, from 1 */
	uintptr_t n_made;
	unsigned int next;
};

/* What a region uses, defines and hands on. */
struct region {
	struct px *px;
	struct ir_node *body;
	struct span span;
	struct var_map defined, used;
	struct ir_list defs, uses;	/* ordered by name */
	struct ir_list outputs;		/* defined inside and used outside */
	struct ir_list views;		/* AssignStmts of the parent that the region repeats */
	struct var_map same;		/* variable -> the one whose tensor it is in the region */
};

/* Fills @r for @body. */
void outline_region(struct outline *o, struct region *r, struct ir_node *body);
/* Adds what @expr uses to the region's uses; for ir_walk(). */
bool outline_find_uses(void *region, struct ir_node *expr);

/*
 * outline_call.c: @program without calls among its Opaque and Orchestration functions: the body of
 * the function that is called stands for the call, and the function is left out. An Orchestration
 * function that has got the body of an Opaque one is Opaque. Mistakes are in px->diags.
 */
struct ir_program *outline_calls(struct px *px, struct ir_program *program);

/*
 * outline_return.c: the body of @f, in SSA form, with a region in front of its return that copies
 * each returned tensor of which only the run decides which one it is.
 */
struct ir_node *outline_returns(struct px *px, const struct ir_program *program,
				const struct ir_function *f);

/* outline_view.c: the body of @f, in which what is assembled into a tensor is no view of it. */
struct ir_node *outline_copies(struct px *px, const struct ir_program *program,
			       const struct ir_function *f);
/* Operators on tensors that become one region. */
struct outline_run {
	struct ir_list stmts;
	struct var_map outer;		/* what it makes -> the parent's tensor that it is stored in */
	struct var_map written, used;	/* tensors of the parent */
};

void outline_join(struct outline *o, struct outline_run *run, struct ir_node *s);
/* Whether statement @s accesses by another view what @run writes, or the reverse. */
bool outline_conflict(struct outline *o, struct outline_run *run, const struct ir_node *s);
/* Moves views that outlive the region in front of it, to @stmts. */
void outline_hoist(struct outline *o, struct region *r, struct ir_list *stmts);
/*
 * Makes tensors of which one is a view of the other, and that the region's function @f writes, one
 * parameter. Return: whether the region has changed, so that @f must be made again.
 */
bool outline_sink(struct outline *o, struct region *r, const struct ir_function *f);

#endif
