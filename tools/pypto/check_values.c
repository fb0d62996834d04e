/* SPDX-License-Identifier: MIT */
/*
 * Whether every tile is still in its buffer where it is read: one walk over a kernel, which knows
 * of each memory reference whose value is in it. In a loop, what the body writes is unknown at its
 * head except for what the loop carries; where branches meet, what differs is unknown. It shares
 * nothing with the passes that it judges, and takes time in proportion to the kernel.
 */
#include <errno.h>
#include <string.h>

#include "machine.h"
#include "memref.h"
#include "pass.h"

/* A change of what is in a buffer, so that it can be taken back. */
struct change {
	struct change *next;
	const struct ir_node *buffer, *before;
};

struct values {
	struct px *px;
	const struct px_pass *pass;
	const struct ir_function *f;
	struct var_map holds;		/* memory reference -> the value in it */
	struct var_map roots;		/* variable -> the one whose value it is */
	struct change *log;
	const struct ir_values *yield;	/* the last one met */
	bool bad;
};

static const struct ir_node nobody;	/* what is in the buffer is unknown */

static void values_body(struct values *v, struct ir_node *body);

static const struct ir_node *buffer_of(const struct ir_node *var)
{
	const struct ir_memref *m = ir_is_var(var) && var->type->kind == TY_TILE ?
				    var->type->memref : NULL;

	return m ? &m->node : NULL;
}

static const struct ir_node *root_of(const struct values *v, const struct ir_node *var)
{
	const struct ir_node *root = var_map_get(&v->roots, var);

	return root ? root : var;
}

static void put(struct values *v, const struct ir_node *buffer, const struct ir_node *value)
{
	struct change *c = px_new(v->px, struct change);

	*c = (struct change){ v->log, buffer, var_map_get(&v->holds, buffer) };
	v->log = c;
	var_map_set(&v->holds, buffer, (void *)value);
}

static void write(struct values *v, const struct ir_node *var)
{
	if (buffer_of(var))
		put(v, buffer_of(var), root_of(v, var));
}

static void write_list(struct values *v, const struct ir_list *vars)
{
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		write(v, vars->at[i]);
}

static void complain(struct values *v, const struct ir_node *at, const char *what,
		     const struct ir_node *var)
{
	v->bad = true;
	diag_add(v->px, DIAG_COMPILE, at->span,
		 "Internal error: pass %s gave a program in whose function '%s' tile '%s' %s",
		 v->pass->name, v->f->name, IR_AS(var, var)->name, what);
}

static void read(struct values *v, const struct ir_node *at, const struct ir_node *var)
{
	const struct ir_node *buffer = buffer_of(var);

	if (buffer && var_map_get(&v->holds, buffer) != root_of(v, var))
		complain(v, at, "is read after its buffer was written again", var);
}

/* ---- Operators ---- */

static bool is_scratch(const struct px_op *op, uint32_t i)
{
	struct op_param params[OP_MAX_PARAMS];
	unsigned int n, k, at = 0;

	if (!strstr(op->params, " tmp"))
		return false;
	n = op_params(op, params);
	for (k = 0; k < n; k++) {
		if (params[k].kind == '@')
			continue;
		if (at++ == i)
			return !strcmp(params[k].name, "tmp");
	}
	return false;
}

static void values_call(struct values *v, const struct ir_node *at, const struct ir_call *call,
			const struct ir_node *var)
{
	int shares = memref_shares(call);
	uint32_t i;

	for (i = 0; i < call->args.n; i++) {
		const struct ir_node *arg = call->args.at[i];

		if (!arg || !buffer_of(arg))
			continue;
		if (is_scratch(call->op, i)) {
			put(v, buffer_of(arg), &nobody);
			continue;
		}
		read(v, at, arg);
		if (var && buffer_of(arg) == buffer_of(var) && (int)i != shares &&
		    !machine_may_share(v->px, call, i, var->type))
			complain(v, at, "is overwritten while it is read", arg);
	}
}

/* The result is the argument's value itself. */
static const struct ir_node *same_value(const struct ir_node *value)
{
	const struct ir_call *call = IR_AS(value, call);

	if (ir_is_var(value))
		return value;
	if (value->kind == IR_CALL && call->op && (call->op->rule == rule_reshape ||
						   call->op->rule == rule_slice))
		return call->args.at[0];
	return NULL;
}

static void values_assign(struct values *v, const struct ir_assign *s)
{
	const struct ir_node *same = same_value(s->value);

	if (same && buffer_of(s->var)) {
		var_map_set(&v->roots, s->var, (void *)root_of(v, same));
		if (buffer_of(same) != buffer_of(s->var))
			complain(v, &s->node, "has another buffer than what it is", s->var);
		return;
	}
	if (s->value->kind == IR_CALL && IR_AS(s->value, call)->op)
		values_call(v, &s->node, IR_AS(s->value, call), s->var);
	write(v, s->var);
}

/* ---- Loops and branches ---- */

static void handed_over(struct values *v, const struct ir_node *at, const struct ir_node *value,
			const struct ir_node *to)
{
	if (!buffer_of(to) || !ir_is_var(value))
		return;
	read(v, at, value);
	if (buffer_of(value) != buffer_of(to))
		complain(v, at, "is not in the buffer in which it is handed on", value);
}

static void yielded(struct values *v, const struct ir_list *to)
{
	uint32_t i;

	for (i = 0; v->yield && i < to->n && i < v->yield->values.n; i++)
		handed_over(v, &v->yield->node, v->yield->values.at[i], to->at[i]);
}

static bool forget(void *data, struct ir_node *node)
{
	struct values *v = data;
	const struct ir_list *lists[2] = { NULL, NULL };
	uint32_t i, k;

	if (node->kind == IR_ASSIGN && buffer_of(IR_AS(node, assign)->var) &&
	    !same_value(IR_AS(node, assign)->value))
		put(v, buffer_of(IR_AS(node, assign)->var), &nobody);
	if (node->kind == IR_FOR) {
		lists[0] = &IR_AS(node, for)->iter_args;
		lists[1] = &IR_AS(node, for)->return_vars;
	} else if (node->kind == IR_WHILE) {
		lists[0] = &IR_AS(node, while)->iter_args;
		lists[1] = &IR_AS(node, while)->return_vars;
	} else if (node->kind == IR_IF) {
		lists[0] = &IR_AS(node, if)->return_vars;
	}
	for (k = 0; k < 2; k++)
		for (i = 0; lists[k] && i < lists[k]->n; i++)
			if (buffer_of(lists[k]->at[i]))
				put(v, buffer_of(lists[k]->at[i]), &nobody);
	return node->kind >= IR_ASSIGN;
}

static void values_loop(struct values *v, const struct ir_node *s, const struct ir_list *iter_args,
			struct ir_node *body, const struct ir_list *results)
{
	uint32_t i;

	for (i = 0; i < iter_args->n; i++)
		handed_over(v, s, IR_AS(iter_args->at[i], var)->init, iter_args->at[i]);
	ir_walk(body, forget, v);
	write_list(v, iter_args);
	v->yield = NULL;
	values_body(v, body);
	yielded(v, iter_args);
	ir_walk(body, forget, v);
	write_list(v, results);
}

/* Takes back the changes down to @end; what was there before is known again. */
static struct change *take_back(struct values *v, struct change *end)
{
	struct change *c, *undone = NULL;

	while (v->log != end) {
		c = px_new(v->px, struct change);
		*c = (struct change){ undone, v->log->buffer,
				      var_map_get(&v->holds, v->log->buffer) };
		undone = c;
		var_map_set(&v->holds, v->log->buffer, (void *)v->log->before);
		v->log = v->log->next;
	}
	return undone;
}

static void values_if(struct values *v, const struct ir_if *s)
{
	struct change *start = v->log, *c;

	v->yield = NULL;
	values_body(v, s->then_body);
	yielded(v, &s->return_vars);
	c = take_back(v, start);
	v->yield = NULL;
	if (s->else_body) {
		values_body(v, s->else_body);
		yielded(v, &s->return_vars);
	}
	/* a buffer that one of the branches wrote */
	for (; c; c = c->next)
		put(v, c->buffer, &nobody);
	for (c = v->log; c != start; c = c->next)
		var_map_set(&v->holds, c->buffer, (void *)&nobody);
	write_list(v, &s->return_vars);
}

static void values_stmt(struct values *v, struct ir_node *s)
{
	switch (s->kind) {
	case IR_ASSIGN:
		values_assign(v, IR_AS(s, assign));
		break;
	case IR_EVAL:
		if (IR_AS(s, eval)->expr->kind == IR_CALL &&
		    IR_AS(IR_AS(s, eval)->expr, call)->op)
			values_call(v, s, IR_AS(IR_AS(s, eval)->expr, call), NULL);
		break;
	case IR_FOR:
		values_loop(v, s, &IR_AS(s, for)->iter_args, IR_AS(s, for)->body,
			    &IR_AS(s, for)->return_vars);
		break;
	case IR_WHILE:
		values_loop(v, s, &IR_AS(s, while)->iter_args, IR_AS(s, while)->body,
			    &IR_AS(s, while)->return_vars);
		break;
	case IR_IF:
		values_if(v, IR_AS(s, if));
		break;
	case IR_YIELD:
		v->yield = IR_AS(s, values);
		break;
	}
}

static void values_body(struct values *v, struct ir_node *body)
{
	struct ir_list stmts = ir_flat(v->px, body);
	uint32_t i;

	for (i = 0; i < stmts.n && !v->bad; i++)
		values_stmt(v, stmts.at[i]);
}

int pass_check_values(struct px *px, const struct px_pass *pass, const struct ir_function *f)
{
	struct values v = { .px = px, .pass = pass, .f = f, .holds = { .px = px },
			    .roots = { .px = px } };

	values_body(&v, f->body);
	return v.bad ? -EINVAL : 0;
}
