/* SPDX-License-Identifier: MIT */
/*
 * Front end: from the Python tree to IR. spec pypto.md section 3, decisions.md D3, D6, D8, D13-D15.
 *
 * A mistake is recorded where it is found and the statement is given up; the names it would have
 * assigned are marked broken, and whatever uses a broken name is silent, so that several
 * independent mistakes are reported in one run, each once.
 *
 * Names and variables: assigning to a name uses the variable that had this name and exactly this
 * type before, else a new variable. So a name that is assigned in both branches of an if, or before
 * and in a loop, is one variable there; ConvertToSSA works on variables alone.
 */
#ifndef PYPTO_FRONT_H
#define PYPTO_FRONT_H

#include "ops.h"
#include "syntax.h"
#include "walk.h"

/*
 * MAYBE: assigned on some ways only; INNER: assigned in a body that has ended (strict_ssa); LOOP: a
 * variable that had a value before the loop that counted in it, which has ended
 */
enum binding_state { BIND_NONE, BIND_OK, BIND_BROKEN, BIND_MAYBE, BIND_INNER, BIND_LOOP };
struct binding {
	const char *name;
	struct ir_node *node;
	struct ir_node *root;		/* parameter whose memory node is, NULL: none */
	uint8_t state;
	struct span span;		/* where it got this value */
	uint64_t set_at;		/* front.clock at that moment */
	const char *why;		/* of BIND_MAYBE */
	struct ir_list variables;	/* all that have had this name */
};

/* What a binding was before a change, to go back at the end of a branch. */
struct change {
	struct binding *binding, before;
};

struct loop_frame {
	struct loop_frame *outer;
	uint64_t started_at;
	struct ir_list used;	/* struct binding *: read in the body, with a value from outside */
};

/* The body whose yield is expected. */
struct yield_site {
	const struct py_node *stmt;	/* the yield that was found, or NULL */
	struct ir_list values;
	const struct py_node *targets;	/* left of it, or NULL */
	const struct ir_type *annotation;
};

struct front {
	struct px *px;
	struct py_scope *scope;
	struct ir_program *program;	/* NULL for a free function */
	struct ir_function *func;
	const struct py_node *def;
	uint8_t flags;
	struct var_map names;		/* interned name -> struct binding */
	struct var_map roots;		/* call -> parameter whose memory its value is */
	struct var_map assigned;	/* binding -> how often the text assigns it */
	struct var_map changing;	/* variables that may get another value: themselves */
	struct ir_list extents;		/* struct front_extent *: of these, what is bound here */
	struct ir_list dynamics;	/* shared by the functions of a program */
	struct ir_list memrefs;
	struct change *changes;
	size_t n_changes, change_room;
	uint64_t clock;
	struct loop_frame *loop;
	struct ir_list *stmts;		/* where statements are put */
	struct yield_site *yield;
	unsigned int depth;		/* of loops and branches */
	unsigned int incore;		/* inside pl.incore() */
	const char *inline_prefix;	/* of the names of the inline function being expanded */
	struct py_scope *inline_scope;
	struct ir_node *inline_value;
	unsigned int n_inlined, n_hidden;
	unsigned int inline_depth;
	bool returned;
};

/* ---- Names (front_scope.c) ---- */

struct binding *bind_find(struct front *f, const char *name);
void bind_set(struct front *f, const char *name, struct ir_node *node, struct span span);
void bind_break(struct front *f, const char *name, struct span span);
/* The loop variable @name has no value behind its loop. */
void bind_forget(struct front *f, const char *name);
void bind_counted(struct front *f, const char *name, struct span loop);	/* BIND_LOOP */
/* The parameter whose memory @value is, itself if that is it; NULL: none, or more than one. */
struct ir_node *bind_root(struct front *f, const struct ir_node *value);
/* Values inside a branch or loop; see front_scope.c. */
size_t bind_mark(struct front *f);
void bind_rollback(struct front *f, size_t mark);
struct change *bind_changes(struct front *f, size_t mark, size_t *n);
void bind_join(struct front *f, const struct change *then_end, size_t n, size_t mark);
void bind_end_body(struct front *f, size_t mark);
void bind_end_loop(struct front *f, size_t mark, struct span span);
/* Value of a name in DSL or Python scope; NULL with a mistake, or silently when broken. */
struct ir_node *name_value(struct front *f, const struct py_node *name);
struct ir_node *value_node(struct front *f, const struct py_value *value, struct span span,
			   const char *name);
struct ir_node *front_dynamic(struct front *f, const char *name, struct span span);
struct ir_memref *front_memref(struct front *f, int64_t space, int64_t addr, uint64_t size,
			       uint64_t id, struct span span);
bool front_in_kernel(const struct front *f);
/* The parameter of direction In that a write to @value would change, or NULL (front_op.c). */
const struct ir_node *front_read_only(struct front *f, const struct ir_node *value);
void front_read_only_hint(struct front *f, struct diag *diag, const struct ir_node *param);

/* ---- Extents that may change (front_extent.c) ---- */

/* Counts what @body assigns, before it is parsed. */
void front_note_assigned(struct front *f, const struct py_list *body);
/* @var gets the name of @b; the text has @own assignments that make it. */
void bind_variable(struct front *f, struct binding *b, struct ir_node *var, unsigned int own);
/* Types that are made from here on do not name @var. */
void front_changes(struct front *f, const struct ir_node *var);
/* @expr, or the hidden variable that keeps the value that it has here. */
struct ir_node *front_extent(struct front *f, struct ir_node *expr);
bool extents_name(const struct ir_list *extents, const struct ir_node *var);
/* Whether extents of @type, which come from @args, may change: they are bound in @args then. */
bool front_bind_extents(struct front *f, const struct ir_type *type, struct ir_list *args);
/* @var, or what the body of a loop assigns, has another value from here on. */
void front_extents_assigned(struct front *f, const struct ir_node *var);
void front_extents_loop(struct front *f, const struct py_list *body);

/* ---- Annotations (front_type.c) ---- */

struct annotation {
	const struct ir_type *type;
	uint8_t direction;
};
bool is_pl(const struct front *f, const struct py_node *node, const char *name);
/* Name after pl. ("load"), or NULL. */
const char *pl_name(const struct front *f, const struct py_node *node);
int front_annotation(struct front *f, const struct py_node *node, bool param,
		     struct annotation *out);
int front_dtype(struct front *f, const struct py_node *node, unsigned int *dtype);
/* The same for a scalar, which not every element type has. */
int front_scalar_dtype(struct front *f, const struct py_node *node, unsigned int *dtype);

/* ---- Expressions (front_expr.c, front_op.c, front_call.c) ---- */

struct ir_node *front_expr(struct front *f, const struct py_node *node);
/* front_expr(), which must give a value. */
struct ir_node *front_value(struct front *f, const struct py_node *node);
/* The same, as a BOOL scalar; NULL with a mistake. */
struct ir_node *front_condition(struct front *f, const struct py_node *node);
struct ir_node *front_call(struct front *f, const struct py_node *node);
struct ir_node *front_pl_call(struct front *f, const struct py_node *node, const char *space,
			      const char *name);
struct ir_node *front_arith(struct front *f, enum ir_kind kind, struct ir_node *left,
			    struct ir_node *right, struct span span);
/* Operator @op applied to ready arguments. */
struct ir_node *front_apply(struct front *f, const struct px_op *op, struct ir_list args,
			    struct ir_attr *attrs, uint32_t n_attrs, struct span span);
/* A scalar as @type where the value is preserved (D8); NULL with a mistake at @at. */
struct ir_node *front_convert(struct front *f, struct ir_node *value, const struct ir_type *type,
			      struct span at);
bool front_accepts(const struct ir_type *have, const struct ir_type *want);
/* Whether @op cannot stand here, with a mistake. */
bool front_misplaced(struct front *f, const struct px_op *op, struct span span);
struct ir_node *front_inline(struct front *f, const struct py_node *call,
			     const struct py_value *value);
int front_return(struct front *f, const struct py_node *node);
void front_signature(struct front *f, const struct py_node *def);

/* ---- Operators on tiles and tensors (front_data.c) ---- */

bool front_is_data(const struct ir_node *e);
/* Python's operator, @word in messages, with a tile or tensor on at least one side. */
struct ir_node *front_data_binary(struct front *f, enum ir_kind kind, const char *word,
				  struct ir_node *left, struct ir_node *right, struct span span);
/* @python: USub, UAdd, Invert or Not */
struct ir_node *front_data_unary(struct front *f, const char *python, struct ir_node *x,
				 struct span span);
struct ir_node *front_data_abs(struct front *f, struct ir_node *x, struct span span);
/* Whether @op is one on two tiles or tensors, so that a number may stand for either. */
bool front_takes_pair(const struct px_op *op);
/* @op on two operands, of which one may be a scalar. */
struct ir_node *front_pair(struct front *f, const struct px_op *op, struct ir_node *left,
			   struct ir_node *right, struct span span);
/* Whether the rows of the tensor @x are reduced in parts. */
bool front_is_long(const struct ir_node *x);
/* Tensor operator @op, row_sum or row_max, along the last axis, in parts where no tile holds a row. */
struct ir_node *front_reduce_rows(struct front *f, const struct px_op *op, struct ir_node *x,
				  struct span span);
/* @e as something that can stand in several places: a hidden variable, unless it is a name. */
struct ir_node *front_named(struct front *f, struct ir_node *e);
/*
 * Hidden variables are _v0, _v1 and so on, or _v0_n where they keep a value of n. One more than the
 * number in such a name; 0: another name.
 */
unsigned int front_hidden_number(const char *name);
/* The first number of hidden variables whose name, and those that follow, @def does not use. */
unsigned int front_hidden_start(const struct front *f, const struct py_node *def);
/* A tile or tensor like @like, full of @scalar. */
struct ir_node *front_spread(struct front *f, struct ir_node *like, struct ir_node *scalar,
			     struct span span);

/* ---- Statements (front_stmt.c, front_loop.c) ---- */

void front_body(struct front *f, const struct py_list *body);
void front_emit(struct front *f, struct ir_node *stmt);
int front_for(struct front *f, const struct py_node *node);
int front_while(struct front *f, const struct py_node *node);
int front_if(struct front *f, const struct py_node *node);
/* Parses @body into a statement of its own. */
struct ir_node *front_block(struct front *f, const struct py_list *body, struct span span,
			    struct yield_site *site);
struct ir_node *front_assign_name(struct front *f, const struct py_node *target,
				  struct ir_node *value, const struct ir_type *annotation);

#endif
