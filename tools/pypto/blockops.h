/* SPDX-License-Identifier: MIT */
/* What the files of ConvertTensorToBlockOps share. */
#ifndef PYPTO_BLOCKOPS_H
#define PYPTO_BLOCKOPS_H

#include "ops.h"
#include "pass.h"
#include "tensor_root.h"
#include "walk.h"

/* A region of a tensor: where it begins in @base. Tensors that are no slices are their own base. */
struct block_region {
	struct ir_node *base;
	struct ir_list offsets;		/* empty: all zero */
};

/* A parameter that a kernel got for a result of an operator. */
struct block_output {
	struct block_output *next;
	struct ir_node *param;
};

struct blockops {
	struct px *px;
	struct ir_function *f;		/* the new one */
	int arch;
	struct tensor_roots roots;
	struct var_map now;		/* variable -> what stands for it */
	struct var_map regions;		/* slice -> struct block_region */
	struct var_map uses;		/* variable -> number of uses */
	struct ir_list *out;		/* where statements go */
	struct block_output *outputs, **outputs_end;
	unsigned int next;		/* number of the next name */
};

/* Statements of one run: operators on tensors of the same shape. */
struct block_run {
	const struct ir_node **stmts;
	uint32_t n;
	const struct ir_list *shape;
	bool rows;			/* has values with one column: rows stay whole */
	bool swaps;			/* has a transpose(): tiles are read across */
	struct span span;
};

/* A call appended as an assignment; its variable. NULL with a mistake. */
struct ir_node *block_emit(struct blockops *b, const char *op, struct ir_list args,
			   struct ir_attr *attrs, uint32_t n_attrs, struct span span);
struct ir_node *block_var(struct blockops *b, const char *prefix, const struct ir_type *type,
			  struct span span);
struct ir_node *block_list(struct px *px, const struct ir_list *list, struct span span);
struct ir_node *block_index(struct px *px, int64_t value, struct span span);
struct block_region block_region_of(struct blockops *b, struct ir_node *tensor);
/* Offsets @at inside the region @r. */
struct ir_list block_offsets(struct blockops *b, const struct block_region *r,
			     const struct ir_list *at, struct span span);
/* The new parameter that holds @var. */
struct ir_node *block_output(struct blockops *b, struct ir_node *var);

/*
 * The two dimensions that a transpose() exchanges; false when one is along the rows of a tile and
 * the other counts tiles, which no load can do.
 */
bool block_swap(const struct ir_call *call, uint32_t *first, uint32_t *second);

/*
 * blockops_carry.c: the body of kernel @f, in which tensors that loops and branches merge are in
 * buffers of their own.
 */
struct ir_node *block_carry(struct px *px, const struct ir_program *program,
			    const struct ir_function *f);

/* blockops_matmul.c: tensor.matmul; false with a mistake when there are no tiles for it. */
bool block_product_possible(struct blockops *b, const struct ir_call *call, struct span span);
/* Extents of the blocks of its result: the last two of @block. */
void block_product_sizes(const struct ir_call *call, int64_t *block);
/* The block of the product that begins at @at, appended; NULL with a mistake. */
struct ir_node *block_product(struct blockops *b, const struct ir_call *call,
			      const struct ir_list *at, const struct ir_list *valid,
			      struct span span);

/* blockops_run.c: the run as loops over tiles, appended. */
void block_write_run(struct blockops *b, const struct block_run *run);

#endif
