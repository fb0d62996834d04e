/* SPDX-License-Identifier: MIT */
/*
 * The operator registry: ops.def, one row per operator of the IR. Dispatch, type rules, argument
 * checks, the printer, the .pyi stubs and the language reference all read it. What an instruction
 * does on the machine (pipes, phases, in-place) is the assembler's table; a row names the
 * instruction. spec pypto.md section 4, decisions.md D30.
 */
#ifndef PYPTO_OPS_H
#define PYPTO_OPS_H

#include "ir.h"

struct op_use;
struct px_op {
	const char *name;	/* "block.add" */
	const char *pl;		/* "add"; "tensor.read": only by its namespace; NULL: IR only */
	const char *params;	/* see ops.def */
	const char *scalar;	/* operator when the second argument is a scalar, or NULL */
	const struct ir_type *(*rule)(struct op_use *use);
	const char *instr;	/* "pto.tadd", or NULL */
	const char *doc;
};

/* One parameter of an operator. */
struct op_param {
	char kind;		/* first letter; '@': an attribute */
	char attr;		/* its kind */
	bool optional;
	char name[24];
	char preset[24];	/* default of an attribute */
};
#define OP_MAX_PARAMS	8

/* Elements of a row that several operators on tiles at once still hold; longer ones go in parts. */
#define LONG_ROW	4096

const struct px_op *op_at(size_t i);		/* NULL behind the last */
const struct px_op *op_find(const char *name);	/* NULL when unknown */
/* By namespace ("block", "tensor", "system") and the name after pl. */
const struct px_op *op_find_pl(const char *space, const char *name);
unsigned int op_params(const struct px_op *op, struct op_param *params);
bool op_is(const struct px_op *op, const char *space);
bool op_is_void(const struct px_op *op);	/* it gives no value */

/* What a type rule sees, and what it may change: literals take the type of their place. */
struct op_use {
	struct px *px;
	const struct px_op *op;
	struct span span;
	struct ir_list args;
	struct ir_attr *attrs;
	uint32_t n_attrs;
};

/**
 * op_call() - checks arguments against the registry and makes the call
 * @use: arguments, one per parameter that is not an attribute (NULL: left out), and attributes that
 *	were given; the others get their presets
 *
 * Return: the call; NULL with a mistake in use->px.
 */
struct ir_node *op_call(struct op_use *use);
/* A call that makes a new tensor of the elements of @tensor; NULL with a mistake. */
struct ir_node *op_copy(struct px *px, struct ir_node *tensor, struct span span);
/* A copy of @call with other arguments, for passes. */
struct ir_node *op_recall(struct px *px, const struct ir_call *call, struct ir_list args);

/* Whether the operator takes elements of eight-bit floats; false with a mistake (rules_mx.c). */
bool rule_takes(struct op_use *use, const struct ir_type *type);
/* Whether the operator takes its operands of BOOL; false with a mistake. */
bool rule_takes_masks(struct op_use *use);

const struct ir_attr *op_attr(const struct op_use *use, const char *key);
/* An attribute of a call, NULL: it has none of this name; its number, 0: none. */
const struct ir_attr *call_attr_at(const struct ir_call *call, const char *key);
int64_t call_attr(const struct ir_call *call, const char *key);
/* The extent that a tensor.dim asks for; NULL for another operator, or a function. */
struct ir_node *call_dim(const struct ir_call *call);

/* Text for messages: "[4, 8]"; a type as the printer writes it. */
const char *shape_text(struct px *px, const struct ir_list *shape);
const char *type_text(struct px *px, const struct ir_type *type);

#define RULE(name)	const struct ir_type *rule_##name(struct op_use *use);
#include "rules.def"
#undef RULE

#endif
