/* SPDX-License-Identifier: MIT */
/*
 * Passes over a program: spec pypto.md section 7. A pass never changes nodes; it gives a new
 * program that shares what stayed the same. What a pass needs and gives is its row in pass.c;
 * pass_run() refuses a program that lacks what the pass needs, and verifies what the pass says it
 * gives.
 */
#ifndef PYPTO_PASS_H
#define PYPTO_PASS_H

#include "ir.h"

enum property {
	PROP_TYPE_CHECKED = 1 << 0, PROP_SSA = 1 << 1, PROP_NO_NESTED_CALLS = 1 << 2,
	PROP_SPLIT_INCORE = 1 << 3, PROP_BLOCK_OPS = 1 << 4, PROP_MEMREFS = 1 << 5,
	PROP_NORMALIZED = 1 << 6, PROP_ADDRESSES = 1 << 7
};

enum pass_flag {
	PASS_CCE_ONLY = 1,	/* not for the .pto back end */
	PASS_APART = 2,		/* in no strategy; to be run by name */
	PASS_TO_TILES = 4,	/* not for programs that are written in tiles throughout */
};

struct pass_options {
	bool verify;
	int arch;	/* 0: a2a3, 1: a5 */
};

#define PASS_CHECK_VARIABLES	256

/* What the hazard checker looks at after a pass. */
enum pass_check {
	CHECK_NONE, CHECK_MEMORY = 1, CHECK_SYNC = 2, CHECK_ALL = 3,
	CHECK_AUTHORED = 4,	/* synchronisation in the program's text */
};

struct px_pass {
	const char *name;	/* "ConvertToSSA" */
	const char *snake;	/* "convert_to_ssa" */
	const char *doc;
	/* NULL with mistakes in @px */
	struct ir_program *(*run)(struct px *px, struct ir_program *program,
				  const struct pass_options *options);
	unsigned int needs, gives, destroys;	/* enum property */
	int flags;				/* enum pass_flag */
	int check;				/* enum pass_check */
};

const struct px_pass *pass_at(size_t i);		/* in order; NULL behind the last */
const char *pass_properties(const struct px_pass *pass);

/**
 * pass_run() - @node (a program, or a function alone) after the pass named @name or its snake name
 *
 * Return: 0; -ENOENT: no such pass; -EINVAL: mistakes are in px->diags.
 */
int pass_run(struct px *px, const char *name, struct ir_node *node,
	     const struct pass_options *options, struct ir_node **result);

/* ---- For passes ---- */

/* A program with each function replaced by what @rewrite makes of it. */
struct ir_program *pass_each(struct px *px, struct ir_program *program,
			     struct ir_function *(*rewrite)(struct px *px, struct ir_function *f,
							    void *data), void *data);

/* A copy of @stmt with each body replaced by what @rewrite makes of it. */
struct ir_node *pass_bodies(struct px *px, struct ir_node *stmt,
			    struct ir_node *(*rewrite)(struct px *px, struct ir_node *body,
						       void *data), void *data);
/* @body as a SeqStmts whose runs of Assign and Eval are grouped in OpStmts; all inside it too. */
struct ir_node *pass_grouped(struct px *px, struct ir_node *body, void *unused);

/* ---- Verifier (verify.c) ---- */

/* Adds a mistake for each violation of @properties. Return: 0, or -EINVAL. */
int ir_verify(struct px *px, const struct ir_program *program, unsigned int properties);
/* Which of the properties that can be checked the program has. */
unsigned int ir_properties(struct px *px, const struct ir_program *program);

/* A call of an operator that computes on tensors. */
bool ir_computes(const struct ir_node *value);

/**
 * pass_check() - adds a mistake for each hazard in a kernel of @program (decisions.md D30)
 *
 * Memory: a variable is read after another one's write to its buffer. Synchronisation: only of
 * kernels that have any. Once addresses are there, the assembler's hazard checker sees each
 * variable as a buffer of its own, too, in kernels of up to PASS_CHECK_VARIABLES.
 *
 * Return: 0, -EINVAL, or -ENOMEM.
 */
int pass_check(struct px *px, const struct px_pass *pass, const struct ir_program *program,
	       int arch);

/* check_values.c: whether each tile is in its buffer where it is read. Return: 0, or -EINVAL. */
int pass_check_values(struct px *px, const struct px_pass *pass, const struct ir_function *f);

/* platform.c: a mistake for each call in a kernel that @arch has no instruction for. */
void platform_check(struct px *px, const struct ir_program *program, int arch);

/* Whether a function has synchronisation of its own. */
bool pass_has_sync(const struct ir_function *f);

/* ---- The passes, one file each ---- */

#define PASS(fn)	struct ir_program *fn(struct px *px, struct ir_program *program, \
					      const struct pass_options *options)
PASS(pass_unroll_loops);
PASS(pass_convert_to_ssa);
PASS(pass_flatten_calls);
PASS(pass_split_chunks);
PASS(pass_interchange_chunks);
PASS(pass_run_verifier);
PASS(pass_outline_incore);
PASS(pass_block_ops);
PASS(pass_init_memref);
PASS(pass_reuse_memory);
PASS(pass_add_sync);
PASS(pass_allocate_addresses);
PASS(pass_normalize_structure);
PASS(pass_flatten_single);

#endif
