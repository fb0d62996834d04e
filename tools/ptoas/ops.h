/* SPDX-License-Identifier: MIT */
/*
 * Facts about instructions, read from ops.def: the one table that parser, printer, verifier,
 * planner, synchronisation, hazard checker and emitter share (spec decisions.md D30).
 */
#ifndef PTOAS_OPS_H
#define PTOAS_OPS_H

#include "ir.h"

/* Pipes as a mask; the bit is the value of attribute "pipe". */
#define PTO_PIPE(p)	(1u << PTO_PIPE_##p)
enum pto_pipe {
	PTO_PIPE_S, PTO_PIPE_V, PTO_PIPE_M, PTO_PIPE_MTE1, PTO_PIPE_MTE2, PTO_PIPE_MTE3,
	PTO_PIPE_ALL, PTO_PIPE_MTE4, PTO_PIPE_MTE5, PTO_PIPE_V2, PTO_PIPE_FIX, PTO_PIPES
};

enum pto_op_flag {
	PTO_F_INPLACE = 1 << 0,	/* a destination may take a source's buffer, see pto_may_share() */
	PTO_F_A5 = 1 << 1,	/* only on a5 */
	PTO_F_ATTR_IN = 1 << 2,	/* attributes are printed inside ins(...) */
	PTO_F_PURE = 1 << 3,	/* no effect besides its results: may be merged or dropped */
	PTO_F_TERM = 1 << 4,	/* ends a block */
	PTO_F_VIEW = 1 << 5,	/* the result is operand 0's storage */
	PTO_F_SYNC = 1 << 6,	/* authored synchronisation: never moved, merged or dropped (D31) */
	PTO_F_ALT_IO = 1 << 7,	/* the ins/outs form is accepted too */
	PTO_F_PIPE_USER = 1 << 8,	/* needs a section or a function with kernel_kind */
	PTO_F_INTERNAL = 1 << 9,	/* made by passes */
	PTO_F_SCALAR = 1 << 10,	/* reads or writes memory element by element on pipe S */
};

/* Which verifier function applies beyond kinds and types (verify_rules.c). */
enum pto_rule {
	PTO_RULE_NONE, PTO_RULE_SAME, PTO_RULE_ROWRED, PTO_RULE_COLRED, PTO_RULE_ROWEXPAND,
	PTO_RULE_COLEXPAND, PTO_RULE_ROWBIN, PTO_RULE_COLBIN, PTO_RULE_MATMUL, PTO_RULE_MX,
	PTO_RULE_TRANS, PTO_RULE_CVT, PTO_RULE_CMP, PTO_RULE_SEL, PTO_RULE_LOAD, PTO_RULE_STORE,
	PTO_RULE_STORE_FP, PTO_RULE_MOV, PTO_RULE_MOV_FP, PTO_RULE_EXTRACT, PTO_RULE_INSERT,
	PTO_RULE_FILLPAD, PTO_RULE_GATHER, PTO_RULE_SCATTER, PTO_RULE_MGATHER, PTO_RULE_SORT,
	PTO_RULE_MRGSORT, PTO_RULE_CI, PTO_RULE_PART, PTO_RULE_CONCAT, PTO_RULE_QUANT,
	PTO_RULE_EXPANDS, PTO_RULE_MAKE_VIEW, PTO_RULE_PARTITION, PTO_RULE_ALLOC, PTO_RULE_RESHAPE,
	PTO_RULE_BITCAST, PTO_RULE_SUBSET, PTO_RULE_VALIDSHAPE, PTO_RULE_GETVAL, PTO_RULE_PTR,
	PTO_RULE_PIPE_INIT, PTO_RULE_PIPE_USE, PTO_RULE_RESERVE, PTO_RULE_SYNC_SET,
	PTO_RULE_TASSIGN, PTO_RULE_MULTI_GET, PTO_RULE_ARITH, PTO_RULE_CAST, PTO_RULE_SELECT,
	PTO_RULE_FOR, PTO_RULE_IF, PTO_RULE_WHILE, PTO_RULE_SWITCH, PTO_RULE_CALL, PTO_RULE_RETURN,
	PTO_RULE_RANDOM, PTO_RULE_FFTS, PTO_RULE_SCALE_ADDR, PTO_RULES
};

struct pto_opinfo {
	const char *name;	/* "pto.tadd" */
	const char *format;	/* text form, see ops.def */
	const char *sig;	/* operands, see ops.def */
	const char *attrs;	/* attributes it takes, see ops.def */
	const char *cxx;	/* C++ instruction, NULL where emission is not a plain call */
	const char *order;	/* C++ argument order, NULL: outputs, then inputs, as written */
	uint32_t types[PTO_ARCHES];	/* element classes of "t" operands, as 1 << class; 0: any */
	uint16_t pipes[PTO_ARCHES];	/* 0: by location, or not on a pipe; ask pto_op_pipes() */
	uint16_t flags;
	uint16_t code;		/* enum pto_opcode */
	uint8_t rule;		/* enum pto_rule */
};

const struct pto_opinfo *pto_op_info(enum pto_opcode code);
/* By name or alias ("pto.tselc", "return"); PTO_OP_NONE when unknown. */
enum pto_opcode pto_op_find(const char *name, size_t size);

/* The other spellings, by number; NULL behind the last. */
const char *pto_op_alias(size_t i, enum pto_opcode *code);

/* Whether pto.tcvt converts tiles of @from to @to (spec pto-isa.md section 4.9). */
bool pto_converts(enum pto_elem from, enum pto_elem to, enum pto_arch arch);
/* Whether pto.tmov has a way between the spaces (section 4.5). */
bool pto_moves(enum pto_space from, enum pto_space to, enum pto_arch arch);

static inline enum pto_opcode pto_code(const struct pto_op *op)
{
	return (enum pto_opcode)op->info->code;
}

static inline bool pto_has(const struct pto_op *op, enum pto_op_flag flag)
{
	return op->info->flags & flag;
}

/**
 * pto_op_pipes() - pipes that @op may run on, as a mask; 0 when it runs on none
 *
 * More than one bit where the sources disagree: a checker assumes all of them, an inserter must
 * satisfy all of them (D30). Section 9.9, 3.7.
 */
unsigned int pto_op_pipes(const struct pto_op *op, enum pto_arch arch);
const char *pto_pipe_name(enum pto_pipe pipe);

/**
 * pto_may_share() - whether output @out may occupy exactly the buffer of input @in
 *
 * Both are operand numbers. True only for element-wise instructions, equal boxes and element sizes,
 * and an input that is not read after the output's first write (taddc's last source is).
 */
bool pto_may_share(const struct pto_op *op, unsigned int in, unsigned int out);

/* The instruction that needs a buffer is asynchronous: its use ends when its pipe is waited for. */
bool pto_ends_late(const struct pto_op *op, enum pto_arch arch);

/* ---- Signatures, for the parser and the verifier --------------------------------------------- */

/* One item of a signature. */
struct pto_sig_item {
	char kind;		/* letter, see ops.def */
	uint8_t role;		/* enum pto_role */
	bool apart;
};

/**
 * pto_sig_match() - item for each operand of @op, by the first alternative that fits
 * @items: one per operand
 *
 * Return: 0, or -EINVAL when none fits in number and kinds.
 */
int pto_sig_match(const struct pto_op *op, struct pto_sig_item *items);

#define PTO_MEMO_OPERANDS	6

/* Per operation the last match, which holds for all operands of the same groups and kinds. */
struct pto_sig_memo {
	struct {
		uint8_t n;		/* operands; 0: nothing yet */
		struct {
			uint8_t group, fits;
			struct pto_sig_item item;
		} operand[PTO_MEMO_OPERANDS];
	} op[PTO_OPCODES];
};

/* pto_sig_match() for one who matches many; @memo begins zeroed and serves one thread. */
int pto_sig_match_memo(struct pto_sig_memo *memo, const struct pto_op *op,
		       struct pto_sig_item *items);
/* What pto_op_bind() does, likewise. */
int pto_op_bind_memo(struct pto_sig_memo *memo, struct pto_op *op);

/* What the signature asks for, in words ("2 tiles in, 1 tile out"), into @text. */
void pto_sig_describe(const struct pto_opinfo *info, char *text, size_t size);

#define PTO_MAX_OPERANDS	1024

#endif
