/* SPDX-License-Identifier: MIT */
/*
 * Which tensor each variable of an orchestration is. A carried value starts as its initial
 * value; when the body hands on something else, it becomes an entity of its own and the analysis
 * starts again, so that at the end as few variables as possible are assigned.
 */
#include <errno.h>
#include <string.h>

#include "gen_orch.h"

static bool is_handle(const struct ir_node *e)
{
	uint8_t kind = e->type ? e->type->kind : TY_UNKNOWN;

	return kind == TY_TENSOR || kind == TY_PIPE || kind == TY_CLUSTER;
}

struct entity *orch_entity(struct orch *o, const struct ir_node *e)
{
	struct entity *x = var_map_get(&o->of, e);

	while (x && x->kind != OE_VIEW && x->base)
		x = x->base;
	return x;
}

static struct block *common(struct block *a, struct block *b)
{
	while (a != b) {
		if (a->depth >= b->depth)
			a = a->up;
		else
			b = b->up;
	}
	return a;
}

static struct entity *entity_new(struct orch *o, enum entity_kind kind, const struct ir_node *def,
				 struct block *home)
{
	struct entity *e = px_new(o->px, struct entity);

	e->kind = (uint8_t)kind;
	e->def = def;
	e->home = e->reach = home;
	e->before = o->entities;
	o->entities = e;
	var_map_set(&o->of, def, e);
	return e;
}

/* ---- Uses ---- */

static void touch(struct entity *e, struct block *b)
{
	for (; e; e = e->base)
		e->reach = common(e->reach, b);
}

/* A task or a view that needs memory which is already there. */
static void need_memory(struct entity *e, struct block *b)
{
	e->keep |= !e->used;
	e->used = true;
	e->need = e->need ? common(e->need, b) : b;
}

static void give_memory(struct entity *e, struct block *b)
{
	if (!e->used)
		e->first_out = b;
	e->used = true;
}

static void mark_written(struct orch *o, struct entity *e)
{
	for (; e; e = e->base) {
		e->written = true;
		o->merged_written |= e->kind == OE_MERGED;
	}
}

static void mark_read(struct entity *e)
{
	for (; e; e = e->base)
		e->read = true;
}

static struct entity *use(struct orch *o, const struct ir_node *value, struct block *b)
{
	struct entity *e = ir_is_var(value) ? orch_entity(o, value) : NULL;

	touch(e, b);
	return e;
}

static void use_argument(struct orch *o, const struct ir_function *callee, uint32_t i,
			 const struct ir_node *arg, struct block *b)
{
	struct entity *e = use(o, arg, b);
	uint8_t direction = callee->directions[i];

	if (!e || e->def->type->kind != TY_TENSOR)
		return;
	if (direction == DIR_OUT)
		give_memory(e, b);
	else
		need_memory(e, b);
	if (direction != DIR_OUT)
		mark_read(e);
	if (direction == DIR_OUT || direction == DIR_INOUT)
		mark_written(o, e);
}

/* ---- Definitions ---- */

static bool is_whole(const struct ir_call *view)
{
	const struct ir_list *offsets = &IR_AS(view->args.at[2], tuple)->elements;
	uint32_t i;

	for (i = 0; i < offsets->n; i++)
		if (offsets->at[i]->kind != IR_CONST_INT || IR_AS(offsets->at[i], const)->value)
			return false;
	return shape_equal(&view->node.type->shape, &view->args.at[0]->type->shape);
}

static void alias(struct orch *o, const struct ir_node *var, struct entity *e)
{
	if (e)
		var_map_set(&o->of, var, e);
}

/* What the result of a call of a kernel is: one of its arguments. */
static struct entity *result_of(struct orch *o, const struct ir_call *call, uint32_t i)
{
	const struct ir_function *callee = program_find(o->program, call->callee);
	int p = -1;
	uint32_t k;

	if (!callee)
		return NULL;
	if (callee->n_returns) {
		p = gen_returned_param(o->px, o->program, callee, i);
	} else {
		for (k = 0; k < callee->params.n; k++)
			if (callee->directions[k] == DIR_PIPE_OUT)
				p = (int)k;
	}
	if (p >= 0 && (uint32_t)p < call->args.n)
		return orch_entity(o, call->args.at[p]);
	return NULL;
}

static void define_view(struct orch *o, const struct ir_node *var, const struct ir_call *call,
			struct block *b)
{
	struct entity *base = use(o, call->args.at[0], b), *e;

	if (base)
		need_memory(base, b);
	if (base && !strcmp(call->op->name, "tensor.view") && is_whole(call)) {
		alias(o, var, base);
		return;
	}
	e = entity_new(o, OE_VIEW, var, b);
	e->call = call;
	e->base = base;
}

static void scan_call(struct orch *o, const struct ir_call *call, struct block *b)
{
	const struct ir_function *callee = program_find(o->program, call->callee);
	uint32_t i;

	for (i = 0; callee && i < call->args.n && i < callee->params.n; i++)
		use_argument(o, callee, i, call->args.at[i], b);
}

static void scan_operator(struct orch *o, const struct ir_node *var, const struct ir_call *call,
			  struct block *b)
{
	static const char *const makers[] = { "tensor.create", "cluster.allocate", "pipe.create" };
	struct entity *e;
	size_t i;

	for (i = 0; i < 3; i++) {
		if (strcmp(call->op->name, makers[i]))
			continue;
		entity_new(o, OE_CREATE, var, b)->call = call;
		return;
	}
	if (!strcmp(call->op->name, "tensor.view") || !strcmp(call->op->name, "tensor.reshape")) {
		define_view(o, var, call, b);
	} else if (call->args.n) {
		e = use(o, call->args.at[0], b);
		if (e && !strcmp(call->op->name, "tensor.read"))
			need_memory(e, b);
		mark_read(e);
	}
}

static void scan_assign(struct orch *o, const struct ir_assign *a, struct block *b)
{
	const struct ir_node *value = gen_element(&o->tuples, a);
	const struct ir_call *call = IR_AS(value, call);
	const struct ir_item *item = IR_AS(value, item);
	const struct ir_call *tuple;

	if (ir_is_var(value)) {
		if (is_handle(value))
			alias(o, a->var, use(o, value, b));
		return;
	}
	if (value->kind == IR_GET_ITEM) {
		tuple = var_map_get(&o->of, item->tuple);
		if (tuple && is_handle(a->var))
			alias(o, a->var, result_of(o, tuple, (uint32_t)item->index));
		return;
	}
	if (value->kind != IR_CALL)
		return;
	if (call->op) {
		scan_operator(o, a->var, call, b);
		return;
	}
	scan_call(o, call, b);
	if (a->var->type->kind == TY_TUPLE)
		var_map_set(&o->of, a->var, (void *)call);
	else if (is_handle(a->var))
		alias(o, a->var, result_of(o, call, 0));
}

/* ---- Control flow ---- */

static void scan_body(struct orch *o, struct ir_node *body, struct block *b);

static struct block *block_new(struct orch *o, struct block *up, struct ir_node *stmt)
{
	struct block *b = px_new(o->px, struct block);

	b->up = up;
	b->stmt = stmt;
	b->depth = up ? up->depth + 1 : 0;
	return b;
}

static void mark_merged(struct orch *o, const struct ir_node *var)
{
	var_map_set(&o->merged, var, (void *)var);
}

static bool is_inside(const struct block *b, const struct ir_node *stmt)
{
	for (; b; b = b->up)
		if (b->stmt == stmt)
			return true;
	return false;
}

/*
 * Tensors made in the body of loop @stmt that reach the next trip take turns in several buffers
 * (D27).
 */
static void mark_ring(struct entity *e, const struct ir_node *stmt, struct block *b)
{
	if (!e || !is_inside(e->home, stmt) || (e->ring && e->ring->depth <= b->depth))
		return;
	if (e->kind == OE_CREATE || e->kind == OE_MERGED)
		e->ring = b;
	mark_ring(e->base, stmt, b);
	mark_ring(e->from[0], stmt, b);
	mark_ring(e->from[1], stmt, b);
}

static void carry(struct orch *o, const struct ir_node *arg, struct entity *e,
		  const struct ir_node *stmt, struct block *inner)
{
	struct entity *m = orch_entity(o, arg);

	if (!e || !m)
		return;
	m->from[1] = e;
	need_memory(e, inner);
	mark_ring(e, stmt, inner->up);
}

static void scan_loop(struct orch *o, struct ir_node *stmt, const struct ir_list *args,
		      const struct ir_list *results, struct ir_node *body, struct block *b)
{
	const struct ir_values *yield = ir_last(body, IR_YIELD);
	struct block *inner = block_new(o, b, stmt);
	struct entity *e;
	uint32_t i;

	for (i = 0; i < args->n; i++) {
		if (!is_handle(args->at[i]))
			continue;
		e = use(o, IR_AS(args->at[i], var)->init, b);
		if (e && var_map_get(&o->merged, args->at[i])) {
			need_memory(e, b);
			entity_new(o, OE_MERGED, args->at[i], b)->from[0] = e;
		} else {
			alias(o, args->at[i], e);
		}
	}
	scan_body(o, body, inner);
	for (i = 0; i < args->n; i++) {
		if (!is_handle(args->at[i]))
			continue;
		e = yield ? use(o, yield->values.at[i], inner) : NULL;
		if (e != orch_entity(o, args->at[i])) {
			if (!var_map_get(&o->merged, args->at[i]))
				mark_merged(o, args->at[i]);
			else
				carry(o, args->at[i], e, stmt, inner);
		}
		alias(o, results->at[i], orch_entity(o, args->at[i]));
	}
}

/* A value that a branch hands on lives as long as what it becomes. */
static void hand_on(struct entity *e, struct block *b)
{
	if (!e)
		return;
	touch(e, b);
	need_memory(e, b);
}

static void scan_if(struct orch *o, struct ir_node *stmt, struct block *b)
{
	const struct ir_if *s = IR_AS(stmt, if);
	const struct ir_values *then = ir_last(s->then_body, IR_YIELD);
	const struct ir_values *other = s->else_body ? ir_last(s->else_body, IR_YIELD) : NULL;
	struct entity *x, *y, *merged;
	uint32_t i;

	scan_body(o, s->then_body, block_new(o, b, stmt));
	if (s->else_body)
		scan_body(o, s->else_body, block_new(o, b, stmt));
	for (i = 0; then && other && i < s->return_vars.n; i++) {
		if (!is_handle(s->return_vars.at[i]))
			continue;
		x = orch_entity(o, then->values.at[i]);
		y = orch_entity(o, other->values.at[i]);
		if (x == y && x) {
			touch(x, b);
			alias(o, s->return_vars.at[i], x);
			continue;
		}
		hand_on(x, b);
		hand_on(y, b);
		mark_merged(o, s->return_vars.at[i]);
		merged = entity_new(o, OE_MERGED, s->return_vars.at[i], b);
		merged->call = (const void *)stmt;
		merged->from[0] = x;
		merged->from[1] = y;
	}
}

static void scan_stmt(struct orch *o, struct ir_node *stmt, struct block *b)
{
	struct ir_for *loop = IR_AS(stmt, for);
	struct ir_while *w = IR_AS(stmt, while);

	switch (stmt->kind) {
	case IR_ASSIGN:
		scan_assign(o, IR_AS(stmt, assign), b);
		break;
	case IR_EVAL:
		if (IR_AS(stmt, eval)->expr->kind == IR_CALL)
			scan_call(o, IR_AS(IR_AS(stmt, eval)->expr, call), b);
		break;
	case IR_FOR:
		scan_loop(o, stmt, &loop->iter_args, &loop->return_vars, loop->body, b);
		break;
	case IR_WHILE:
		scan_loop(o, stmt, &w->iter_args, &w->return_vars, w->body, b);
		break;
	case IR_IF:
		scan_if(o, stmt, b);
		break;
	case IR_SCOPE:
		scan_body(o, IR_AS(stmt, scope)->body, b);
		break;
	case IR_OPS:
	case IR_SEQ:
		scan_body(o, stmt, b);
		break;
	}
}

static void scan_body(struct orch *o, struct ir_node *body, struct block *b)
{
	struct ir_list stmts = body->kind == IR_OPS ? IR_AS(body, seq)->stmts : ir_stmts(&body);
	uint32_t i;

	for (i = 0; i < stmts.n; i++)
		scan_stmt(o, stmts.at[i], b);
}

static void scan_once(struct orch *o, struct block *top)
{
	uint32_t i;

	o->of = (struct var_map){ .px = o->px };
	o->entities = NULL;
	o->merged_written = false;
	for (i = 0; i < o->f->params.n; i++)
		if (is_handle(o->f->params.at[i]))
			entity_new(o, OE_PARAM, o->f->params.at[i], top)->external = true;
	scan_body(o, o->f->body, top);
}

/* ---- Results ---- */

/* Tensors that the branches of one statement create are one tensor when one of them is returned. */
static bool unify(struct orch *o, struct entity *e)
{
	const struct ir_if *s = (const void *)e->call;
	struct ir_node *bodies[2];
	unsigned int k;
	uint32_t i;

	if (!s)
		return false;
	bodies[0] = s->then_body;
	bodies[1] = s->else_body;
	for (i = 0; s->return_vars.at[i] != e->def; i++)
		;
	for (k = 0; k < 2; k++) {
		struct entity *x = orch_entity(o, ir_last(bodies[k], IR_YIELD)->values.at[i]);

		if (x == e)
			continue;
		if (!x || x->external || !is_inside(x->home, &s->node) ||
		    (x->kind == OE_MERGED ? !unify(o, x) : x->kind != OE_CREATE))
			return false;
		x->base = e;
	}
	return true;
}

static bool returnable(struct orch *o, struct entity **e)
{
	if ((*e)->kind == OE_VIEW && !strcmp((*e)->call->op->name, "tensor.reshape"))
		*e = (*e)->base;
	if (*e && (*e)->kind == OE_CREATE && (*e)->def->type->kind == TY_TENSOR)
		return true;
	return *e && ((*e)->kind == OE_PARAM || ((*e)->kind == OE_MERGED && unify(o, *e)));
}

static void find_result(struct orch *o, const struct ir_node *value, struct span span)
{
	struct entity *e = ir_is_var(value) ? orch_entity(o, value) : NULL;

	if (!e || !returnable(o, &e)) {
		diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, span,
					  "The returned value is not one tensor that is known before the function runs"),
			  "Let a kernel write the result into one tensor made by pl.create_tensor()");
		return;
	}
	if (e->external)
		return;
	e->external = true;
	if (strncmp(IR_AS(value, var)->name, "_t", 2))
		e->def = value;
	o->results[o->n_results++] = e;
}

/* ---- What holds of an entity holds of those that it is, or is part of ---- */

/* @of lives as long as @e, in memory, and is accessed with it. Return: whether that is news. */
static bool spread_to(struct entity *of, const struct entity *e)
{
	struct entity old;

	if (!of)
		return false;
	old = *of;
	of->reach = common(of->reach, e->reach);
	of->need = of->need ? common(of->need, e->reach) : e->reach;
	of->read |= e->read;
	of->written |= e->written;
	return of->reach != old.reach || of->need != old.need || of->read != old.read ||
	       of->written != old.written;
}

/* Ends, as each round but the last widens something; carried values may come from themselves. */
static void spread_all(struct orch *o)
{
	struct entity *e;
	bool news;

	do {
		news = false;
		for (e = o->entities; e; e = e->before) {
			news |= spread_to(e->base, e);
			news |= spread_to(e->from[0], e);
			news |= spread_to(e->from[1], e);
		}
	} while (news);
	for (e = o->entities; e; e = e->before) {
		if (e->need && e->first_out && common(e->first_out, e->need) != e->first_out)
			e->keep = true;
		if (e->ring)
			e->ring = common(e->ring, e->reach);
	}
}

/*
 * Entities that are needed outside of the block that makes them are declared before its
 * statement.
 */
static void hoist(struct orch *o)
{
	struct entity *e;
	struct block *b, *reach;

	for (e = o->entities; e; e = e->before) {
		reach = e->ring ? e->ring : e->reach;
		if (e->kind != OE_CREATE || e->external || e->base || reach == e->home)
			continue;
		for (b = e->home; b->up != reach; b = b->up)
			;
		var_map_set(&o->hoisted_next, e->def, var_map_get(&o->hoisted, b->stmt));
		var_map_set(&o->hoisted, b->stmt, e);
	}
}

/* ---- What kernels return ---- */

struct result_check {
	struct orch *o;
	struct ir_list done;	/* functions */
};

/* A result is the argument that the kernel returns: there is no other tensor that it could be. */
static void check_results(struct orch *o, const struct ir_function *callee)
{
	const struct ir_values *values = ir_last(callee->body, IR_RETURN);
	uint32_t i;

	for (i = 0; values && i < callee->n_returns && i < values->values.n; i++) {
		if (callee->return_types[i]->kind != TY_TENSOR ||
		    gen_returned_param(o->px, o->program, callee, i) >= 0)
			continue;
		diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, values->node.span,
					  "Function '%s' must return one of its parameters, whole and the same in every run",
					  callee->name),
			  "Return the tensor that it writes; the caller takes parts with pl.slice()");
	}
}

static bool visit_result(void *data, struct ir_node *node)
{
	struct result_check *c = data;
	const struct ir_call *call = node->kind == IR_ASSIGN ?
				     IR_AS(IR_AS(node, assign)->value, call) : NULL;
	struct ir_function *callee;

	if (!call || call->node.kind != IR_CALL || call->op)
		return true;
	callee = program_find(c->o->program, call->callee);
	if (callee && !list_has(&c->done, &callee->node)) {
		list_push(c->o->px, &c->done, &callee->node);
		check_results(c->o, callee);
	}
	return true;
}

int orch_alias(struct orch *o)
{
	struct result_check check = { .o = o };
	const struct ir_values *values = ir_last(o->f->body, IR_RETURN);
	struct block *top = block_new(o, NULL, NULL);
	size_t before;
	uint32_t i;

	do {
		before = o->merged.n;
		scan_once(o, top);
	} while (o->merged.n != before);
	ir_walk(o->f->body, visit_result, &check);
	if (o->px->n_errors)
		return -EINVAL;
	o->results = px_alloc(o->px, o->f->n_returns + 1 + (values ? values->values.n : 0),
			      sizeof(struct entity *));
	for (i = 0; values && i < values->values.n; i++)
		find_result(o, values->values.at[i], values->node.span);
	spread_all(o);
	hoist(o);
	return o->px->n_errors ? -EINVAL : 0;
}
