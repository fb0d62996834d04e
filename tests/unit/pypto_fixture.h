/* SPDX-License-Identifier: MIT */
/* A program made node by node, for tests of the PyPTO compiler: no Python is involved. */
#ifndef PYPTO_FIXTURE_H
#define PYPTO_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/pypto/blockops.h"
#include "../../tools/pypto/ops.h"
#include "../../tools/pypto/pass.h"
#include "../../tools/pypto/walk.h"

#define AT(at)	((struct span){ .file = "made.py", .line = (at), .col = 1 })

/* Runs @call with an escape for a shortage of memory, which the test does not expect. */
#define guarded(px, call)	do {			\
		int rc_;				\
		px_guard(px, rc_, ((call), 0), 1);	\
		assert_int_equal(rc_, 0);		\
	} while (0)

/* Row @i of a table of tests, in a context of its own. */
static inline void guarded_row(void (*test)(struct px *px, size_t i), size_t i)
{
	struct px px;

	px_init(&px);
	guarded(&px, test(&px, i));
	px_fini(&px);
}

/* A list of @n nodes. */
static inline struct ir_list nodes(struct px *px, unsigned int n, ...)
{
	struct ir_list list = { 0 };
	va_list ap;

	va_start(ap, n);
	while (n--)
		list_push(px, &list, va_arg(ap, struct ir_node *));
	va_end(ap);
	return list;
}

static inline struct ir_node *number(struct px *px, int64_t value)
{
	return ir_int(px, value, DT_INDEX, AT(1));
}

static inline struct ir_node *tuple_of(struct px *px, struct ir_list elements)
{
	return block_list(px, &elements, AT(1));
}

static inline struct ir_node *pair_of(struct px *px, int64_t a, int64_t b)
{
	return tuple_of(px, nodes(px, 2, number(px, a), number(px, b)));
}

static inline const struct ir_type *matrix(struct px *px, enum type_kind kind, int64_t rows,
					   int64_t cols)
{
	return type_shaped(px, kind, nodes(px, 2, number(px, rows), number(px, cols)), DT_FP32);
}

/* The call of an operator; NULL with a mistake. */
static inline struct ir_node *call_of(struct px *px, const char *op, struct ir_list args)
{
	struct op_use use = { .px = px, .op = op_find(op), .span = AT(2), .args = args };

	assert_non_null(use.op);
	return op_call(&use);
}

/* @name = @value, appended to @stmts; the variable */
static inline struct ir_node *let(struct px *px, struct ir_list *stmts, const char *name,
				  struct ir_node *value)
{
	struct ir_node *var = ir_var(px, name, value->type, AT(3));

	list_push(px, stmts, ir_assign(px, var, value, AT(3)));
	return var;
}

static inline struct ir_node *yield_of(struct px *px, struct ir_node *value)
{
	return ir_values(px, IR_YIELD, nodes(px, 1, value), AT(4));
}

/* What the tests change. */
struct made {
	struct ir_program *program;
	struct ir_function *kernel, *main;
	struct ir_node *a, *n, *o;	/* parameters of the kernel */
	struct ir_node *t;		/* the tile that is loaded */
	struct ir_for *loop;
	struct ir_if *branch;
	struct ir_call *call;		/* of the kernel, in main */
};

static inline struct ir_function *function_of(struct px *px, const char *name,
					      enum function_type type, struct ir_list params,
					      struct ir_list stmts)
{
	struct ir_function *f = ir_new(px, IR_FUNCTION, AT(1), NULL);
	const struct ir_type **types = px_alloc(px, 1, sizeof(*types));

	f->name = px_intern(px, name);
	f->func_type = type;
	f->params = params;
	f->directions = px_alloc(px, params.n, 1);
	f->directions[params.n - 1] = DIR_INOUT;
	types[0] = params.at[params.n - 1]->type;
	f->return_types = types;
	f->n_returns = 1;
	f->body = ir_body(px, stmts, AT(2));
	return f;
}

static inline struct ir_for *loop_of(struct px *px, struct made *m)
{
	struct ir_for *loop = ir_new(px, IR_FOR, AT(4), NULL);
	struct ir_var *carried = ir_new(px, IR_ITER_ARG, AT(4), m->t->type);
	struct ir_list body = { 0 };

	carried->name = "c";
	carried->init = m->t;
	loop->loop_var = ir_var(px, "i", type_scalar(px, DT_INDEX), AT(4));
	loop->start = number(px, 0);
	loop->stop = number(px, 2);
	loop->step = number(px, 1);
	loop->iter_args = nodes(px, 1, carried);
	list_push(px, &body, yield_of(px, let(px, &body, "u", call_of(px, "block.add",
						nodes(px, 2, carried, m->t)))));
	loop->body = ir_body(px, body, AT(5));
	loop->return_vars = nodes(px, 1, ir_var(px, "r", m->t->type, AT(4)));
	return loop;
}

static inline struct ir_if *branch_of(struct px *px, struct made *m)
{
	struct ir_if *branch = ir_new(px, IR_IF, AT(6), NULL);
	struct ir_node *r = m->loop->return_vars.at[0];
	struct ir_list body = { 0 };

	branch->condition = ir_binary(px, IR_GT, m->n, ir_int(px, 2, DT_INT64, AT(6)), DT_BOOL,
				      AT(6));
	list_push(px, &body, yield_of(px, let(px, &body, "v", call_of(px, "block.exp",
								      nodes(px, 1, r)))));
	branch->then_body = ir_body(px, body, AT(7));
	branch->else_body = yield_of(px, r);
	branch->return_vars = nodes(px, 1, ir_var(px, "w", r->type, AT(6)));
	return branch;
}

static inline struct ir_function *kernel_of(struct px *px, struct made *m)
{
	struct ir_list stmts = { 0 };
	struct ir_node *last;

	m->a = ir_var(px, "a", matrix(px, TY_TENSOR, 32, 16), AT(1));
	m->n = ir_var(px, "n", type_scalar(px, DT_INT64), AT(1));
	m->o = ir_var(px, "o", matrix(px, TY_TENSOR, 32, 16), AT(1));
	m->t = let(px, &stmts, "t", call_of(px, "block.load", nodes(px, 3, m->a, pair_of(px, 0, 0),
								    pair_of(px, 16, 16))));
	m->loop = loop_of(px, m);
	list_push(px, &stmts, &m->loop->node);
	m->branch = branch_of(px, m);
	list_push(px, &stmts, &m->branch->node);
	last = let(px, &stmts, "o1", call_of(px, "block.store",
					     nodes(px, 4, m->branch->return_vars.at[0],
						   pair_of(px, 16, 0), pair_of(px, 16, 16), m->o)));
	list_push(px, &stmts, ir_values(px, IR_RETURN, nodes(px, 1, last), AT(9)));
	return function_of(px, "k", FN_INCORE, nodes(px, 3, m->a, m->n, m->o), stmts);
}

static inline struct ir_function *main_of(struct px *px, struct made *m)
{
	struct ir_node *x = ir_var(px, "x", m->a->type, AT(10)), *last;
	struct ir_node *n = ir_var(px, "n", m->n->type, AT(10));
	struct ir_node *y = ir_var(px, "y", m->o->type, AT(10));
	struct ir_list stmts = { 0 };

	m->call = ir_new(px, IR_CALL, AT(11), m->o->type);
	m->call->callee = m->kernel->name;
	m->call->args = nodes(px, 3, x, n, y);
	last = let(px, &stmts, "y1", &m->call->node);
	list_push(px, &stmts, ir_values(px, IR_RETURN, nodes(px, 1, last), AT(12)));
	return function_of(px, "main", FN_ORCHESTRATION, nodes(px, 3, x, n, y), stmts);
}

/*
 * k loads a tile, adds it to itself twice in a loop, takes exp() of it when n > 2, and stores it;
 * main calls k.
 */
static inline void make_program(struct px *px, struct made *m)
{
	m->program = ir_new(px, IR_PROGRAM, AT(1), NULL);
	m->program->name = "Made";
	m->kernel = kernel_of(px, m);
	program_add(px, m->program, m->kernel);
	m->main = main_of(px, m);
	program_add(px, m->program, m->main);
}

#endif
