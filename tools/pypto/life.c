/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "life.h"

struct life_loop {
	struct life_loop *outer;
	struct ir_list used;	/* defined outside */
};

static void life_stmt(struct life *l, struct ir_node *s);

static void put_place(struct life *l, struct var_map *map, const struct ir_node *stmt)
{
	var_map_set(map, stmt, (void *)(uintptr_t)(l->clock + 1));
}

uint32_t life_start(const struct life *life, const struct ir_node *stmt)
{
	return (uint32_t)(uintptr_t)var_map_get(&life->starts, stmt) - 1;
}

uint32_t life_end(const struct life *life, const struct ir_node *stmt)
{
	return (uint32_t)(uintptr_t)var_map_get(&life->ends, stmt) - 1;
}

const struct life_var *life_find(const struct life *life, const struct ir_node *var)
{
	return var_map_get(&life->vars, var);
}

static struct life_var *define(struct life *l, const struct ir_node *var)
{
	struct life_var *v = px_new(l->px, struct life_var);

	v->var = var;
	v->def = l->clock;
	v->loop = l->loop;
	var_map_set(&l->vars, var, v);
	list_push(l->px, &l->order, (struct ir_node *)var);
	return v;
}

static void define_list(struct life *l, const struct ir_list *vars)
{
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		define(l, vars->at[i]);
}

static void add_use(struct life *l, struct life_var *v)
{
	uint32_t *more;

	if (v->n_uses && v->uses[v->n_uses - 1] == l->clock)
		return;
	if (!(v->n_uses & (v->n_uses - 1))) {
		more = px_alloc(l->px, v->n_uses ? 2 * v->n_uses : 1, sizeof(*more));
		if (v->n_uses)
			memcpy(more, v->uses, v->n_uses * sizeof(*more));
		v->uses = more;
	}
	v->uses[v->n_uses++] = l->clock;
}

/* The outermost loop around here that does not hold the definition too. */
static struct life_loop *loop_between(const struct life *l, const struct life_var *v)
{
	struct life_loop *loop = l->loop, *found = NULL;

	for (; loop && loop != v->loop; loop = loop->outer)
		found = loop;
	return found;
}

static bool use(void *data, struct ir_node *node)
{
	struct life *l = data;
	struct life_var *v = ir_is_var(node) ? var_map_get(&l->vars, node) : NULL;
	struct life_loop *loop;

	if (!v)
		return true;
	add_use(l, v);
	loop = loop_between(l, v);
	if (loop && !list_has(&loop->used, node))
		list_push(l->px, &loop->used, node);
	return true;
}

static void use_expr(struct life *l, struct ir_node *expr)
{
	if (expr)
		ir_walk(expr, use, l);
}

static void use_list(struct life *l, const struct ir_list *list)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		use_expr(l, list->at[i]);
}

static void life_body(struct life *l, struct ir_node *body)
{
	struct ir_list stmts = ir_flat(l->px, body);
	uint32_t i;

	for (i = 0; i < stmts.n; i++)
		life_stmt(l, stmts.at[i]);
}

static void use_inits(struct life *l, const struct ir_list *iter_args)
{
	uint32_t i;

	for (i = 0; i < iter_args->n; i++)
		use_expr(l, IR_AS(iter_args->at[i], var)->init);
}

static void life_loop(struct life *l, struct ir_node *var, const struct ir_list *iter_args,
		      struct ir_node *condition, struct ir_node *body)
{
	struct life_loop loop = { .outer = l->loop };

	use_inits(l, iter_args);
	l->loop = &loop;
	if (var)
		define(l, var);
	define_list(l, iter_args);
	use_expr(l, condition);
	life_body(l, body);
	l->loop = loop.outer;
	l->clock++;
	use_list(l, &loop.used);
}

static void life_stmt(struct life *l, struct ir_node *s)
{
	l->clock++;
	put_place(l, &l->starts, s);
	switch (s->kind) {
	case IR_ASSIGN:
		use_expr(l, IR_AS(s, assign)->value);
		define(l, IR_AS(s, assign)->var);
		break;
	case IR_EVAL:
		use_expr(l, IR_AS(s, eval)->expr);
		break;
	case IR_YIELD:
	case IR_RETURN:
		use_list(l, &IR_AS(s, values)->values);
		break;
	case IR_FOR:
		use_expr(l, IR_AS(s, for)->start);
		use_expr(l, IR_AS(s, for)->stop);
		use_expr(l, IR_AS(s, for)->step);
		life_loop(l, IR_AS(s, for)->loop_var, &IR_AS(s, for)->iter_args, NULL,
			  IR_AS(s, for)->body);
		define_list(l, &IR_AS(s, for)->return_vars);
		break;
	case IR_WHILE:
		life_loop(l, NULL, &IR_AS(s, while)->iter_args, IR_AS(s, while)->condition,
			  IR_AS(s, while)->body);
		define_list(l, &IR_AS(s, while)->return_vars);
		break;
	case IR_IF:
		use_expr(l, IR_AS(s, if)->condition);
		life_body(l, IR_AS(s, if)->then_body);
		life_body(l, IR_AS(s, if)->else_body);
		l->clock++;
		define_list(l, &IR_AS(s, if)->return_vars);
		break;
	case IR_SCOPE:
		life_body(l, IR_AS(s, scope)->body);
		break;
	}
	put_place(l, &l->ends, s);
}

void life_of(struct px *px, const struct ir_function *f, struct life *life)
{
	*life = (struct life){ .px = px, .vars = { .px = px }, .starts = { .px = px },
			       .ends = { .px = px } };
	define_list(life, &f->params);
	life_body(life, f->body);
}

bool life_used(const struct life *life, const struct ir_node *var, uint32_t after, uint32_t to)
{
	const struct life_var *v = life_find(life, var);
	uint32_t i;

	for (i = 0; v && i < v->n_uses; i++)
		if (v->uses[i] > after && v->uses[i] <= to)
			return true;
	return false;
}

uint32_t life_last(const struct life_var *var)
{
	uint32_t i, last = var->def;

	for (i = 0; i < var->n_uses; i++)
		last = var->uses[i] > last ? var->uses[i] : last;
	return last;
}
