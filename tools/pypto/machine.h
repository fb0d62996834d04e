/* SPDX-License-Identifier: MIT */
/*
 * A function of the IR in the assembler's terms: the same control flow, and for each operator the
 * instruction that it becomes, with its buffers. It exists for the assembler's tables and analyses
 * (decisions.md D30): which pipes an instruction runs on, what it reads and writes, which conflicts
 * need synchronisation, whether a program has hazards. It is not what is generated.
 */
#ifndef PYPTO_MACHINE_H
#define PYPTO_MACHINE_H

#include "../ptoas/ops.h"
#include "../ptoas/ptoas.h"
#include "ir.h"
#include "walk.h"

enum machine_view {
	/* One buffer per memory reference. */
	MACHINE_BUFFERS,
	/*
	 * One buffer per variable, at the address of its memory reference: what a variable holds
	 * is lost when another one's instruction writes there. Values that go into and come out of
	 * loops and branches are read and written by copies that do not exist. Memory references
	 * without an address get one here.
	 */
	MACHINE_VALUES,
};

struct machine {
	struct px *px;
	struct pto_module *m;
	enum pto_arch arch;
	enum machine_view view;
	struct pto_func *func;
	struct pto_block *block;	/* where operations go */
	struct pto_op *last;		/* the return at the end of the function */
	struct pto_value *dummy;	/* source and target of copies that do not exist */
	struct var_map values;		/* variable or memory reference -> struct pto_value */
	struct var_map places;		/* memory reference -> address + 1 */
	struct var_map stmts;		/* struct pto_op -> statement */
	struct ir_node *stmt;		/* at hand */
	bool one_tensor;		/* tensors are mixed: all count as one */
	bool mixed;			/* found on the way: do it again with one_tensor */
	bool full;			/* buffers without an address did not fit */
	int64_t end[PTO_MEMORIES];	/* of buffers without an address */
};

/**
 * machine_build() - @f, which has memory references, as a module
 *
 * Return: 0 or -ENOMEM. machine_fini() in both cases.
 */
int machine_build(struct machine *mc, struct px *px, const struct ir_function *f,
		  enum pto_arch arch, enum machine_view view);
void machine_fini(struct machine *mc);
/* The statement that @op stands for; NULL: none. */
struct ir_node *machine_stmt(const struct machine *mc, const struct pto_op *op);

/**
 * machine_may_share() - whether @call's result, of @type, may be in the buffer of argument @arg
 *
 * Both have memory references in their types.
 */
bool machine_may_share(struct px *px, const struct ir_call *call, unsigned int arg,
		       const struct ir_type *type);

/* machine_op.c: the instruction of a call; NULL: it has none. @result: what it gives, or NULL. */
struct pto_op *machine_call(struct machine *mc, const struct ir_call *call,
			    struct ir_node *result);
const struct pto_type *machine_tile(struct machine *mc, const struct ir_type *type);
/* The value behind a tile or tensor variable. */
struct pto_value *machine_value(struct machine *mc, const struct ir_node *var);
struct pto_value *machine_arg(struct machine *mc, const struct pto_type *type);
enum pto_space machine_space(enum memory_space space);
enum pto_pipe machine_pipe(int64_t pipe_type);	/* of enum PipeType */
int64_t machine_pipe_type(enum pto_pipe pipe);

#endif
