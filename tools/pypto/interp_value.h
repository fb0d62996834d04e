/* SPDX-License-Identifier: MIT */
/* Values of the interpreter, and what its files share. */
#ifndef PYPTO_INTERP_VALUE_H
#define PYPTO_INTERP_VALUE_H

#include "base/fiber.h"
#include "interp.h"
#include "ops.h"
#include "walk.h"

/* Elements; also the buffers of a kernel. */
struct iv_mem {
	struct iv_mem *next, **link;	/* in interp.memory */
	unsigned int refs;
	bool borrowed;			/* the caller's: not freed */
	size_t size;
	uint8_t *at;
};

union cell {
	double f;	/* of floats */
	int64_t i;	/* of all others */
};

struct iv_pipe {
	struct iv_pipe *next;		/* in interp.pipes */
	struct span span;		/* where it is made */
	int64_t pushes, pops;
	struct iv *cluster;		/* of the first kernel that it connects */
	struct pipe_slot {
		struct pipe_slot *next;
		struct iv *tile;
		int64_t block;
	} *head, **end;
};

/* One value, immutable; what its memory holds is not. */
struct iv {
	struct iv *next, **link;	/* in interp.values */
	unsigned int refs;
	uint8_t kind;			/* enum type_kind */
	uint8_t dtype;
	uint8_t rank;
	int32_t argument;		/* of the function that was run: number + 1 */
	union cell cell;		/* of a scalar */
	struct iv_mem *mem;
	int64_t offset;			/* bytes */
	int64_t shape[INTERP_MAX_RANK], stride[INTERP_MAX_RANK];	/* elements */
	int64_t valid[INTERP_MAX_RANK];	/* of a tile */
	struct iv **items;		/* of a tuple */
	uint32_t n_items;
	struct iv_pipe *pipe;
};

struct onchip {
	struct onchip *next;
	uint8_t space;
	int64_t id;		/* -1: the whole space, by address */
	struct iv_mem *mem;
};

struct interp;
/* One running function. */
struct frame {
	struct interp *in;
	const struct ir_function *f;
	struct var_map vars;		/* variable -> struct iv, one reference each */
	struct onchip *buffers;
	int64_t block, blocks;
	struct iv **out;		/* what it yielded or returned last */
	uint32_t n_out;
};

/* A kernel that is connected by pipes. */
struct member {
	struct member *next;
	struct interp *in;
	struct frame frame;
	struct fiber *fiber;
	jmp_buf *escape;
	bool done;
	struct ir_node *waits_at;	/* the pop */
};

struct interp {
	struct px *px;
	const struct ir_program *program;
	struct interp_options options;
	uint64_t steps;
	struct iv *values;
	struct iv_mem *memory;
	struct var_map ops;		/* struct px_op -> struct op_entry */
	struct member *members, *running;
	struct iv_pipe *pipes;
	struct fiber_thread thread;
	unsigned int depth;
};

/* ---- Values ---- */

void *iv_alloc(struct interp *in, size_t count, size_t size);	/* malloc(), or the px's escape */
struct iv *iv_ref(struct iv *v);
void iv_unref(struct iv *v);		/* NULL is allowed */
struct iv *iv_new(struct interp *in, enum type_kind kind, unsigned int dtype);
struct iv *iv_scalar(struct interp *in, unsigned int dtype, union cell cell);
struct iv *iv_int(struct interp *in, unsigned int dtype, int64_t value);
/* New memory, not written yet: all bits one. */
struct iv *iv_array(struct interp *in, enum type_kind kind, unsigned int dtype, uint32_t rank,
		    const int64_t *shape);
/* The same memory. */
struct iv *iv_view(struct interp *in, const struct iv *v);
struct iv *iv_tuple(struct interp *in, struct iv **items, uint32_t n);	/* takes the references */
struct iv_mem *mem_new(struct interp *in, size_t size);
void mem_drop(struct iv_mem *mem);
int64_t iv_count(const struct iv *v);
bool iv_contiguous(const struct iv *v);
void iv_contiguous_strides(struct iv *v);
void interp_free_all(struct interp *in);

/* ---- Elements ---- */

/* @cell in the form of @dtype: rounded, or cut to its bits. */
union cell cell_fit(unsigned int dtype, union cell cell);
/* To a whole number; @mode: rounding of section 3.3, from 1 on */
double round_by(double v, int mode);
/* No mode was given: nearest, ties to even among floats, away from zero to integers (D10). */
#define MODE_OF_TYPES	(-1)
/* From one type to another; @mode: rounding of section 3.3, or MODE_OF_TYPES */
union cell cell_convert(unsigned int from, unsigned int to, union cell cell, int mode);
union cell cell_read(unsigned int dtype, const void *at);
void cell_write(unsigned int dtype, void *at, union cell cell);
/* Elements in row-major order of @shape, to which the value is broadcast, as cells of @dtype. */
union cell *cells_of(struct interp *in, const struct iv *v, unsigned int dtype, uint32_t rank,
		     const int64_t *shape);
/* Writes cells of the value's type, row-major; they are cut or rounded. */
void cells_put(struct iv *v, const union cell *cells);
/* The address of an element. */
void *iv_at(const struct iv *v, const int64_t *index);
/* The next index in row-major order; false behind the last. */
bool index_next(int64_t *index, uint32_t rank, const int64_t *shape);

/* ---- Evaluation ---- */

/* NULL with a mistake in the px. */
struct iv *interp_eval(struct frame *fr, struct ir_node *expr);
int interp_index(struct frame *fr, struct ir_node *expr, int64_t *value);
/* A new tile or tensor of an expression's type. */
struct iv *interp_result(struct frame *fr, const struct ir_node *expr);
int interp_type_shape(struct frame *fr, const struct ir_type *type, struct span span,
		      int64_t *shape, int64_t *valid);
struct iv *interp_call_op(struct frame *fr, struct ir_call *call);
struct iv *interp_arith(struct frame *fr, struct ir_node *expr);
void *interp_error(struct frame *fr, struct span span, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Gives up the processor until a pipe has something; false: it never will. */
bool interp_wait(struct frame *fr, struct ir_node *at);
bool function_has_pipes(const struct ir_function *f);

/* ---- Variables (interp_bind.c) ---- */

/* All take the references that they are given. */
void interp_set_var(struct frame *fr, const struct ir_node *var, struct iv *v);
int interp_bind(struct frame *fr, struct ir_node *var, struct iv *v);
/* D7: all at once, so that a swap is one. */
int interp_bind_all(struct frame *fr, const struct ir_list *vars, struct iv **values);

/* ---- Operators ---- */

struct op_run {
	struct frame *fr;
	struct interp *in;
	struct ir_call *call;
	int code;
	struct iv *args[OP_MAX_PARAMS];	/* NULL: absent */
};
struct op_entry {
	const char *name;
	struct iv *(*run)(struct op_run *r);
	int code;
};
const struct op_entry *interp_ops_elem(void);	/* end with a NULL name */
const struct op_entry *interp_ops_move(void);
const struct op_entry *interp_ops_reduce(void);
const struct op_entry *interp_ops_gather(void);
const struct op_entry *interp_ops_chip(void);

/* The integers of a list argument; their number. */
uint32_t run_list(const struct op_run *r, unsigned int arg, int64_t *out);
int64_t run_attr(const struct op_run *r, const char *key, int64_t preset);
struct iv *run_nothing(struct op_run *r);

#endif
