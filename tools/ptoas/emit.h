/* SPDX-License-Identifier: MIT */
/* Inside emission (section 9.10): one writer per module, one function per kind of operation. */
#ifndef PTOAS_EMIT_H
#define PTOAS_EMIT_H

#include <errno.h>

#include "diag.h"
#include "ops.h"
#include "ptoas.h"

struct emit {
	struct pto_module *m;
	struct pto_diags *d;
	const struct pto_options *o;
	enum pto_arch arch;
	struct pto_text *out;
	struct pto_func *func;
	unsigned int indent;
	unsigned int names, views;	/* numbers given so far */
	int ret;			/* first failure */
};

/* emit.c: a line of its own, indented */
void emit_line(struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void emit_begin(struct emit *e);	/* only the indent of a line */
#define emit_add(e, ...)	pto_text_printf((e)->out, __VA_ARGS__)
/* "'pto.OP' op MESSAGE": nothing more is emitted. */
void emit_fail(struct emit *e, const struct pto_op *op, const char *what);
void emit_op(struct emit *e, struct pto_op *op);
void emit_block(struct emit *e, const struct pto_block *b);

/* emit_value.c */
struct emit_name {
	char text[32];
};

/* "v7": the variable of a value, given a number when it is first asked for */
struct emit_name emit_name(struct emit *e, struct pto_value *v);
/* The literal of an integer constant, else its variable. */
struct emit_name emit_int(struct emit *e, struct pto_value *v);
void emit_type(struct emit *e, const struct pto_type *t);
/* Tile type with valid extents @vr, @vc (-1: known when it runs) in @rows x @cols elements. */
void emit_tile_type(struct emit *e, const struct pto_type *t, int64_t rows, int64_t cols,
		    int64_t vr, int64_t vc);
/* "const T v7 = " or, for what @define says not, nothing yet */
void emit_define(struct emit *e, struct pto_value *v);
void emit_constant(struct emit *e, struct pto_op *op);

/* emit_tile.c */
void emit_alloc(struct emit *e, struct pto_op *op);
void emit_alloc_multi(struct emit *e, struct pto_op *op);
void emit_tile_view(struct emit *e, struct pto_op *op);
void emit_subview(struct emit *e, struct pto_op *op);
void emit_declare_tile(struct emit *e, struct pto_value *v, const struct pto_use *vr,
		       const struct pto_use *vc);

/* emit_view.c: declares a GlobalTensor for global operand @v; its variable */
struct emit_name emit_global(struct emit *e, struct pto_op *op, struct pto_value *v);
/*
 * The variable of @v where it is passed on: to a call, a loop, a branch. A view made here is
 * declared for that, so this comes before the line that uses it.
 */
struct emit_name emit_passed(struct emit *e, struct pto_op *op, struct pto_value *v);

/* emit_tile_op.c */
bool emit_tile_op(struct emit *e, struct pto_op *op);
const char *emit_enum(const struct pto_attr *a, char *text, size_t size);

/* emit_arith.c */
bool emit_arith(struct emit *e, struct pto_op *op);
void emit_arith_helpers(struct emit *e);

/* emit_flow.c */
bool emit_flow(struct emit *e, struct pto_op *op);

/* emit_sync.c: flags, barriers, cross-core synchronisation, pipes */
bool emit_sync(struct emit *e, struct pto_op *op);
bool emit_pipe(struct emit *e, struct pto_op *op);
void emit_tail(struct emit *e);

/* emit_comm.c */
bool emit_comm(struct emit *e, struct pto_op *op);

#endif
