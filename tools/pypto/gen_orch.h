/* SPDX-License-Identifier: MIT */
/*
 * Inside the orchestration generator. An entity is what one C++ variable of type Tensor stands
 * for; the alias analysis (gen_orch_alias.c) says which entity each IR variable is, so that
 * names decide nothing (decisions D14, D17, D27).
 */
#ifndef PYPTO_GEN_ORCH_H
#define PYPTO_GEN_ORCH_H

#include "gen.h"

struct block {
	struct block *up;
	struct ir_node *stmt;	/* of the block above that contains this one */
	unsigned int depth;
};

enum entity_kind {
	OE_PARAM,	/* of the orchestration function */
	OE_CREATE,	/* pl.create_tensor(), allocate_cluster() and create_pipe() */
	OE_VIEW,	/* slice or reshape of @base */
	OE_MERGED	/* carried by a loop or chosen by a branch: assigned when it runs */
};

struct entity {
	struct entity *before;
	struct entity *base;	/* of a view; of what a branch makes: the returned tensor that it is */
	const struct ir_node *def;	/* the variable that introduces it */
	const struct ir_call *call;	/* what made it */
	struct block *home, *reach;	/* where it is made; the block around all uses */
	struct block *first_out;	/* where a task gives it memory first */
	struct block *need;	/* the block around all that needs its memory to be there */
	struct block *ring;	/* carried out of a loop in this block, in which it is made */
	struct entity *from[2];	/* of a merged one: what it may be */
	const char *name;	/* in C++ */
	const char *pointer;	/* of an external one: "arg_x_ptr" */
	uint8_t kind;		/* enum entity_kind */
	bool external, declared;
	bool used, keep;	/* @keep: it must have memory from the start */
	bool written, read;	/* by some task, itself or in part */
};

struct orch {
	struct gen_cxx g;
	struct px *px;
	const struct ir_program *program;
	const struct ir_function *f;
	struct ir_list called;		/* position: func_id */
	struct entity *entities;	/* the last one */
	struct var_map of;		/* IR variable -> entity */
	struct var_map tuples;		/* variable -> the tuple it was made as */
	struct var_map merged;		/* iter args and results that are entities of their own */
	struct var_map hoisted;		/* statement -> first entity declared before it */
	struct var_map hoisted_next;	/* entity -> next one */
	struct ir_list extents;
	struct entity **results;	/* returned ones that have a slot */
	uint32_t n_results;
	struct ir_list carried;		/* merged variables of the loops around */
	unsigned int n_tasks;
	bool merged_written;		/* a task writes a merged tensor */
	bool narrows, uses_rings;
};

/* Fills @o->of, what each entity needs, and @o->results. Return: 0, or -EINVAL with mistakes. */
int orch_alias(struct orch *o);
/* Entity of an expression; NULL when it is none. */
struct entity *orch_entity(struct orch *o, const struct ir_node *e);

/* After the alias analysis; NULL with mistakes. */
struct orch *orch_new(struct px *px, const struct ir_program *program, const struct ir_function *f);

/* gen_orch_task.c: the lines of one submit */
void orch_task(struct orch *o, const struct ir_call *call);

/* gen_orch.c: names, shapes and statements */
void orch_take_entity(struct orch *o, struct entity *e, const char *prefix);
const char *orch_scalar_name(struct orch *o, const struct ir_node *var);
void orch_shape_line(struct orch *o, const char *name, const char *what,
		     const struct ir_list *list);
bool orch_check_shape(struct orch *o, const struct entity *e, const struct ir_list *shape);
void orch_body(struct orch *o, struct ir_node *body, const struct ir_list *results);

/* gen_orch.c: "{32, 64}", "DataType::FLOAT32", "int64_t" */
const char *orch_list(struct orch *o, const struct ir_list *list);
const char *orch_dtype(struct orch *o, const struct ir_node *of);
const char *orch_c_type(struct orch *o, const struct ir_node *of);

#endif
