/* SPDX-License-Identifier: MIT */
/*
 * Kernels for several pipes. A kernel's text holds the number of the pipe that each of its
 * parameters is, so one that gets different pipes of a cluster is copied: calls of one copy have
 * pipes with the same kernel at the other end, and no two pipes of a cluster.
 */
#include "gen_pipe.h"
#include "pass.h"

struct copies {
	struct px *px;
	struct pipe_ends *s;
	unsigned int number[PIPE_ENDS];		/* of the copy for an end's call; 0: the kernel */
	const struct ir_function *copy[PIPE_ENDS];
	struct var_map calls;			/* call -> the one of a copy */
};

static bool differ(const struct pipe_end *a, const struct pipe_end *b)
{
	return a->callee == b->callee && a->param == b->param && a->pipe && b->pipe &&
	       a->pipe != b->pipe && a->cluster == b->cluster;
}

static bool needs_copies(const struct pipe_ends *s, const struct ir_function *callee)
{
	unsigned int i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < i; k++)
			if (s->at[i].callee == callee && differ(&s->at[i], &s->at[k]))
				return true;
	return false;
}

/* The other end of @e's pipe; NULL: there is none. */
static const struct pipe_end *peer_of(const struct pipe_ends *s, const struct pipe_end *e)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		if (s->at[i].pipe == e->pipe && s->at[i].direction != e->direction)
			return &s->at[i];
	return NULL;
}

static bool same_peer(const struct pipe_ends *s, const struct pipe_end *a,
		      const struct pipe_end *b)
{
	const struct pipe_end *p = peer_of(s, a), *q = peer_of(s, b);

	return p && q && p->callee == q->callee && p->param == q->param;
}

/* Whether two calls of a kernel can call the same copy. */
static bool agree(const struct pipe_ends *s, const struct ir_call *a, const struct ir_call *b)
{
	unsigned int i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->n; k++)
			if (s->at[i].call == a && s->at[k].call == b &&
			    s->at[i].param == s->at[k].param &&
			    (differ(&s->at[i], &s->at[k]) ||
			     !same_peer(s, &s->at[i], &s->at[k])))
				return false;
	return true;
}

static bool fits(const struct copies *c, unsigned int i, unsigned int number)
{
	unsigned int k;

	for (k = 0; k < i; k++)
		if (c->s->at[k].callee == c->s->at[i].callee && c->number[k] == number &&
		    !agree(c->s, c->s->at[k].call, c->s->at[i].call))
			return false;
	return true;
}

/* Which copy the call of end @i calls. */
static unsigned int number_of(const struct copies *c, unsigned int i)
{
	unsigned int number = 0;

	if (i && c->s->at[i - 1].call == c->s->at[i].call)
		return c->number[i - 1];
	if (!needs_copies(c->s, c->s->at[i].callee))
		return 0;
	while (!fits(c, i, number))
		number++;
	return number;
}

static struct ir_function *new_copy(struct px *px, struct ir_program *program,
				    const struct ir_function *f)
{
	struct ir_function *copy = ir_copy(px, &f->node);
	struct ir_list functions = { 0 };
	struct var_map map = { .px = px };
	unsigned int n = 1;
	uint32_t i;

	copy->params = (struct ir_list){ 0 };
	for (i = 0; i < f->params.n; i++) {
		struct ir_node *param = ir_copy(px, f->params.at[i]);

		param->type = ir_subst_type(&map, param->type);
		var_map_set(&map, f->params.at[i], param);
		list_push(px, &copy->params, param);
	}
	copy->body = ir_clone_stmt(&map, f->body);
	do
		copy->name = px_printf(px, "%s_%u", f->name, n++);
	while (program_find(program, copy->name));
	for (i = 0; i < program->functions.n; i++) {
		list_push(px, &functions, program->functions.at[i]);
		if (program->functions.at[i] == &f->node)
			list_push(px, &functions, &copy->node);
	}
	program->functions = functions;
	return copy;
}

static void put_call(struct copies *c, struct ir_program *program, unsigned int i)
{
	const struct pipe_end *e = &c->s->at[i];
	struct ir_call *call = ir_copy(c->px, &e->call->node);
	unsigned int k;

	for (k = 0; k < i && (c->s->at[k].callee != e->callee || c->number[k] != c->number[i]); k++)
		;
	c->copy[i] = k < i ? c->copy[k] : new_copy(c->px, program, e->callee);
	call->callee = c->copy[i]->name;
	var_map_set(&c->calls, &e->call->node, call);
}

static struct ir_node *rewrite(struct copies *c, struct ir_node *stmt)
{
	struct ir_node *copy = ir_copy(c->px, stmt);
	const struct ir_field *field;
	uint32_t i;

	for (field = ir_kind_info[stmt->kind].fields; field->name; field++) {
		struct ir_node **one = ir_field_at(copy, field);
		struct ir_list *list = ir_field_at(copy, field), fresh = { 0 };

		if (field->kind == FK_EXPR && *one && var_map_get(&c->calls, *one))
			*one = var_map_get(&c->calls, *one);
		if (field->kind == FK_STMT && *one)
			*one = rewrite(c, *one);
		if (field->kind != FK_STMTS)
			continue;
		for (i = 0; i < list->n; i++)
			list_push(c->px, &fresh, rewrite(c, list->at[i]));
		*list = fresh;
	}
	return copy;
}

static struct ir_function *rewrite_orch(struct px *px, struct ir_function *f, void *data)
{
	struct copies *c = data;
	struct ir_function *copy;

	if (f != c->s->o->f)
		return f;
	copy = ir_copy(px, &f->node);
	copy->body = rewrite(c, f->body);
	return copy;
}

static bool has_pipes(const struct ir_program *program)
{
	uint32_t i;

	for (i = 0; i < program->functions.n; i++)
		if (gen_has_pipes(IR_AS(program->functions.at[i], function)))
			return true;
	return false;
}

struct ir_program *gen_copy_kernels(struct px *px, struct ir_program *program)
{
	const struct ir_function *orch = has_pipes(program) ? gen_orchestration_of(px, program) :
							      NULL;
	struct copies c = { .px = px, .calls = { .px = px } };
	unsigned int i;

	c.s = orch && !px->n_errors ? pipe_ends_of(px, program, orch) : NULL;
	if (!c.s || px->n_errors)
		return program;
	for (i = 0; i < c.s->n; i++)
		c.number[i] = number_of(&c, i);
	for (i = 0; i < c.s->n && !c.number[i]; i++)
		;
	if (i == c.s->n)
		return program;
	program = ir_copy(px, &program->node);
	for (i = 0; i < c.s->n; i++)
		if (c.number[i])
			put_call(&c, program, i);
	return pass_each(px, program, rewrite_orch, &c);
}
