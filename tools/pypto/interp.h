/* SPDX-License-Identifier: MIT */
/*
 * Interpreter of IR at every stage: what a program means, without a chip. It runs what the front
 * end gives and what each pass makes of it, so that a pass can be checked by running the program
 * before and after. Kernels run one after the other, in the order of their calls; kernels that are
 * connected by pipes run as fibers. spec pypto.md sections 4, 5, 7, 15; decisions.md D1, D4, D7,
 * D9, D10, D28.
 *
 * Once buffers have been assigned, tiles live in these buffers: a tile that a later one overwrites
 * too early is seen. Memory that nobody has written is filled with ones: not a number.
 */
#ifndef PYPTO_INTERP_H
#define PYPTO_INTERP_H

#include "ir.h"

#define INTERP_MAX_RANK	8

/* A value that goes into a function or comes out of it. */
struct interp_value {
	uint8_t kind;			/* TY_SCALAR or TY_TENSOR */
	uint8_t dtype;
	uint8_t rank;
	int64_t shape[INTERP_MAX_RANK];
	union {
		double f;
		int64_t i;
	};				/* of a scalar: f for floats, else i */
	void *at;			/* of a tensor: elements in row-major order */
	int64_t argument;		/* of a result: the argument that it is; -1: it is new */
};

struct interp_options {
	uint64_t max_steps;		/* statements; 0: no bound */
	int64_t block_num;		/* of a BlockInCore function that is run by itself; 0: 1 */
};

/**
 * interp_run() - runs a function
 * @px: gets the mistakes, and the memory of the results
 * @program: where functions that it calls are found; NULL: nowhere
 * @args: one per parameter, besides blockdim and block_id of a BlockInCore function; tensors that
 *	the function writes are written in place, the memory is the caller's
 * @results: set to what the function returns; new tensors live as long as @px
 *
 * Context: one thread per @px. Return: 0; -EINVAL: mistakes are in px->diags; -ENOMEM.
 */
int interp_run(struct px *px, const struct ir_program *program, const struct ir_function *function,
	       const struct interp_value *args, uint32_t n_args, const struct interp_options *options,
	       struct interp_value **results, uint32_t *n_results);

/* Bytes of an element of that type as the interpreter stores it; 0: it cannot. */
unsigned int interp_item_size(unsigned int dtype);

#endif
