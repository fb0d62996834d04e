/* SPDX-License-Identifier: MIT */
/*
 * Which tensor each tensor variable of a function in SSA form is a state of. Stores, views of the
 * whole, carried values and calls that return an argument keep the tensor; a part, a value that a
 * loop exchanges or that a branch takes from several is a root of its own, chosen while the
 * function runs.
 */
#ifndef PYPTO_TENSOR_ROOT_H
#define PYPTO_TENSOR_ROOT_H

#include "ops.h"
#include "walk.h"

struct tensor_roots {
	struct px *px;
	const struct ir_program *program;
	struct var_map of;		/* tensor -> its root */
	struct var_map chosen;		/* root -> list of struct tensor_source: what it may be (part of) */
	struct var_map born;		/* root -> its number in order of definition, from 1 */
	struct var_map tuples;		/* variable -> what made the tuple */
	uintptr_t next;
};

struct tensor_roots tensor_roots(struct px *px, const struct ir_program *program,
				 const struct ir_function *f);
/* The root of @value; itself for a parameter, a new tensor and a chosen one. */
struct ir_node *tensor_root(const struct tensor_roots *r, struct ir_node *value);
bool tensor_is_chosen(const struct tensor_roots *r, const struct ir_node *root);
bool tensor_is_part(const struct tensor_roots *r, const struct ir_node *root);
/* Whether one is a reshape() of the other; extents that are computed may be equal. */
bool tensor_reshaped(const struct ir_node *a, const struct ir_node *b);
/* Whether both are views of one tensor; with @maybe, whether loops or branches may make them so. */
bool tensor_overlap(const struct tensor_roots *r, struct ir_node *a, struct ir_node *b, bool maybe);
/* Adds to @set the root of @tensor and all that it is or may be a part of. */
void tensor_sources(const struct tensor_roots *r, struct ir_node *tensor, struct var_map *set);
/* Adds to @set the sources of all that @body writes. */
void tensor_written(const struct tensor_roots *r, struct ir_node *body, struct var_map *set);
/* The argument that an operator writes; -1: none. */
int tensor_written_arg(const struct px_op *op);

/*
 * Parameters of @f that are In and that something in it writes become InOut; with @outs Out, where
 * one store covers the tensor and nothing reads it.
 */
void tensor_directions(struct px *px, const struct ir_program *program, struct ir_function *f,
		       bool outs);

#endif
