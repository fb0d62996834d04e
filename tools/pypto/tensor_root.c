/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "gen.h"
#include "tensor_root.h"

struct tensor_source {
	struct tensor_source *next;
	struct ir_node *root;
	const struct ir_node *merge;	/* body of the loop, or branch, that takes it; NULL: a part */
	unsigned int way;		/* in which way through @merge */
};

struct ir_node *tensor_root(const struct tensor_roots *r, struct ir_node *value)
{
	struct ir_node *root = ir_is_var(value) ? var_map_get(&r->of, value) : NULL;

	return root ? root : value;
}

bool tensor_is_chosen(const struct tensor_roots *r, const struct ir_node *root)
{
	return var_map_get(&r->chosen, root) != NULL;
}

bool tensor_reshaped(const struct ir_node *a, const struct ir_node *b)
{
	const struct ir_list *x = &a->type->shape, *y = &b->type->shape;
	uint32_t i;

	for (i = 0; x->n == y->n && i < x->n; i++) {
		bool known = x->at[i]->kind == IR_CONST_INT;

		if (known != (y->at[i]->kind == IR_CONST_INT) ||
		    (known && !dim_equal(x->at[i], y->at[i])))
			return true;
	}
	return x->n != y->n;
}

static void set_root(struct tensor_roots *r, struct ir_node *var, struct ir_node *root)
{
	var_map_set(&r->of, var, root);
	if (root == var)
		var_map_set(&r->born, var, (void *)++r->next);
}

/* What @root may be; NULL: it is not chosen. */
static const struct tensor_source *sources_of(const struct tensor_roots *r,
					      const struct ir_node *root)
{
	struct tensor_source *const *first = var_map_get(&r->chosen, root);

	return first ? *first : NULL;
}

static void choose(struct tensor_roots *r, struct ir_node *var, struct ir_node *source,
		   const struct ir_node *merge, unsigned int way)
{
	struct tensor_source **first = var_map_get(&r->chosen, var), *s;

	if (!first) {
		first = px_new(r->px, struct tensor_source *);
		var_map_set(&r->chosen, var, first);
	}
	for (s = *first; s; s = s->next)
		if (s->root == source && s->merge == merge && s->way == way)
			return;
	s = px_new(r->px, struct tensor_source);
	*s = (struct tensor_source){ .next = *first, .root = source, .merge = merge, .way = way };
	*first = s;
}

/* The sources are found again; what is chosen stays so. */
static void forget_sources(struct tensor_roots *r)
{
	size_t i;

	for (i = 0; i < r->chosen.room; i++)
		if (r->chosen.slots[i].key)
			*(struct tensor_source **)r->chosen.slots[i].value = NULL;
}

/* ---- Values ---- */

static bool is_part(const struct ir_call *view)
{
	const struct ir_list *at = &IR_AS(view->args.at[2], tuple)->elements;
	uint32_t i;

	for (i = 0; i < at->n; i++)
		if (at->at[i]->kind != IR_CONST_INT || IR_AS(at->at[i], const)->value)
			return true;
	return !shape_equal(&view->node.type->shape, &view->args.at[0]->type->shape);
}

/* Result @i of a call: the argument that the callee returns, or something new. */
static struct ir_node *result_root(struct tensor_roots *r, const struct ir_call *call, uint32_t i,
				   struct ir_node *var)
{
	const struct ir_function *callee = program_find(r->program, call->callee);
	int p = callee && i < callee->n_returns ? gen_returned_param(r->px, r->program, callee, i) : -1;

	return p >= 0 && (uint32_t)p < call->args.n ? tensor_root(r, call->args.at[p]) : var;
}

int tensor_written_arg(const struct px_op *op)
{
	return op->rule == rule_store ? 3 : op->rule == rule_mscatter ? 2 :
	       op->rule == rule_assemble ? 0 : -1;
}

static bool is_view(const struct px_op *op)
{
	return op->rule == rule_slice || op->rule == rule_reshape;
}

static void call_root(struct tensor_roots *r, struct ir_node *var, const struct ir_call *call)
{
	int written = call->op ? tensor_written_arg(call->op) : -1;

	if (!call->op) {
		set_root(r, var, result_root(r, call, 0, var));
	} else if (call->op->rule == rule_slice && is_part(call)) {
		choose(r, var, tensor_root(r, call->args.at[0]), NULL, 0);
		set_root(r, var, var);
	} else if (is_view(call->op)) {
		set_root(r, var, tensor_root(r, call->args.at[0]));
	} else {
		set_root(r, var, written < 0 ? var : tensor_root(r, call->args.at[written]));
	}
}

static void assign_root(struct tensor_roots *r, const struct ir_assign *s)
{
	struct ir_node *value = gen_element(&r->tuples, s);
	const struct ir_node *made;

	if (s->var->type->kind == TY_TUPLE)
		var_map_set(&r->tuples, s->var, s->value);
	if (s->var->type->kind != TY_TENSOR)
		return;
	if (value->kind == IR_CALL) {
		call_root(r, s->var, IR_AS(value, call));
	} else if (value->kind == IR_GET_ITEM) {
		made = var_map_get(&r->tuples, IR_AS(value, item)->tuple);
		set_root(r, s->var, made && made->kind == IR_CALL ?
			 result_root(r, IR_AS(made, call), (uint32_t)IR_AS(value, item)->index,
				     s->var) : s->var);
	} else {
		set_root(r, s->var, tensor_root(r, value));
	}
}

/* ---- Statements ---- */

static void find_roots(struct tensor_roots *r, struct ir_node *body);

static void loop_roots(struct tensor_roots *r, const struct ir_list *args,
		       const struct ir_list *results, struct ir_node *body)
{
	const struct ir_values *yield = ir_last(body, IR_YIELD);
	uint32_t i;

	for (i = 0; i < args->n; i++)
		if (args->at[i]->type->kind == TY_TENSOR)
			set_root(r, args->at[i], tensor_is_chosen(r, args->at[i]) ? args->at[i] :
				 tensor_root(r, IR_AS(args->at[i], var)->init));
	find_roots(r, body);
	for (i = 0; yield && i < args->n; i++) {
		struct ir_node *arg = args->at[i], *next = yield->values.at[i];

		if (arg->type->kind != TY_TENSOR)
			continue;
		if (tensor_root(r, next) != tensor_root(r, arg)) {
			choose(r, arg, tensor_root(r, IR_AS(arg, var)->init), body, 0);
			choose(r, arg, tensor_root(r, next), body, 1);
		}
		set_root(r, results->at[i], tensor_root(r, arg));
	}
}

static bool is_made_after(const struct tensor_roots *r, const struct ir_node *root, uintptr_t number)
{
	return (uintptr_t)var_map_get(&r->born, root) > number && !tensor_is_chosen(r, root);
}

/* Whether value @i of a branch is what an earlier one is: they cannot be two new tensors. */
static bool is_repeated(const struct tensor_roots *r, const struct ir_list *values, uint32_t i)
{
	uint32_t k;

	for (k = 0; k < i; k++)
		if (tensor_root(r, values->at[k]) == tensor_root(r, values->at[i]))
			return true;
	return false;
}

static void if_roots(struct tensor_roots *r, const struct ir_if *s)
{
	const struct ir_values *a, *b;
	uintptr_t before = r->next;
	uint32_t i;

	find_roots(r, s->then_body);
	if (!s->else_body)
		return;
	find_roots(r, s->else_body);
	a = ir_last(s->then_body, IR_YIELD);
	b = ir_last(s->else_body, IR_YIELD);
	for (i = 0; a && b && i < s->return_vars.n; i++) {
		struct ir_node *var = s->return_vars.at[i];
		struct ir_node *x = tensor_root(r, a->values.at[i]);
		struct ir_node *y = tensor_root(r, b->values.at[i]);

		if (var->type->kind != TY_TENSOR)
			continue;
		if (x != y && (!is_made_after(r, x, before) || !is_made_after(r, y, before) ||
			       is_repeated(r, &a->values, i) || is_repeated(r, &b->values, i))) {
			choose(r, var, x, &s->node, 0);
			choose(r, var, y, &s->node, 1);
		}
		set_root(r, var, x == y ? x : var);	/* each branch makes it: one tensor */
	}
}

static void find_roots(struct tensor_roots *r, struct ir_node *body)
{
	struct ir_list stmts = ir_flat(r->px, body);
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		struct ir_node *s = stmts.at[i];

		if (s->kind == IR_ASSIGN)
			assign_root(r, IR_AS(s, assign));
		else if (s->kind == IR_FOR)
			loop_roots(r, &IR_AS(s, for)->iter_args, &IR_AS(s, for)->return_vars,
				   IR_AS(s, for)->body);
		else if (s->kind == IR_WHILE)
			loop_roots(r, &IR_AS(s, while)->iter_args, &IR_AS(s, while)->return_vars,
				   IR_AS(s, while)->body);
		else if (s->kind == IR_IF)
			if_roots(r, IR_AS(s, if));
		else if (s->kind == IR_SCOPE)
			find_roots(r, IR_AS(s, scope)->body);
	}
}

struct tensor_roots tensor_roots(struct px *px, const struct ir_program *program,
				 const struct ir_function *f)
{
	struct tensor_roots r = { .px = px, .program = program, .of = { .px = px },
				  .chosen = { .px = px }, .born = { .px = px },
				  .tuples = { .px = px } };
	size_t before;
	uint32_t i;

	do {	/* a carried value that is exchanged may change what others are */
		before = r.chosen.n;
		forget_sources(&r);
		for (i = 0; i < f->params.n; i++)
			set_root(&r, f->params.at[i], f->params.at[i]);
		find_roots(&r, f->body);
	} while (r.chosen.n != before);
	return r;
}

/* ---- Overlaps ---- */

void tensor_sources(const struct tensor_roots *r, struct ir_node *tensor, struct var_map *set)
{
	struct ir_node *root = tensor_root(r, tensor);
	const struct tensor_source *s;

	if (var_map_get(set, root))
		return;
	var_map_set(set, root, root);
	for (s = sources_of(r, root); s; s = s->next)
		tensor_sources(r, s->root, set);
}

/* What @root is a part of, whatever happens; itself when it is no part. */
static struct ir_node *whole_of(const struct tensor_roots *r, struct ir_node *root)
{
	const struct tensor_source *s = sources_of(r, root);

	for (; s && !s->merge; s = sources_of(r, root))
		root = s->root;
	return root;
}

struct pairs {
	const struct tensor_roots *r;
	struct var_map seen;		/* root -> var_map of those that it was compared with */
};

static bool is_new_pair(struct pairs *p, const struct ir_node *x, const struct ir_node *y)
{
	struct var_map *with = var_map_get(&p->seen, x);

	if (!with) {
		with = px_new(p->r->px, struct var_map);
		with->px = p->r->px;
		var_map_set(&p->seen, x, with);
	}
	if (var_map_get(with, y))
		return false;
	var_map_set(with, y, (void *)with);
	return true;
}

/*
 * Values that one loop carries, or one branch gives, are the same when they are in one of its ways;
 * of others the younger one is followed to what it may be.
 */
static bool may_meet(struct pairs *p, struct ir_node *x, struct ir_node *y)
{
	const struct tensor_source *s, *t;
	struct ir_node *older;

	x = whole_of(p->r, x);
	y = whole_of(p->r, y);
	s = sources_of(p->r, x);
	t = sources_of(p->r, y);
	if (x == y || (!s && !t))
		return x == y;
	if (!is_new_pair(p, x, y))
		return false;
	if (s && t && s->merge == t->merge) {
		for (; s; s = s->next)
			for (t = sources_of(p->r, y); t; t = t->next)
				if (s->way == t->way && may_meet(p, s->root, t->root))
					return true;
		return false;
	}
	older = y;
	if (!s || (t && (uintptr_t)var_map_get(&p->r->born, y) >
			(uintptr_t)var_map_get(&p->r->born, x))) {
		s = t;
		older = x;
	}
	for (; s; s = s->next)
		if (may_meet(p, s->root, older))
			return true;
	return false;
}

bool tensor_overlap(const struct tensor_roots *r, struct ir_node *a, struct ir_node *b, bool maybe)
{
	struct pairs p = { .r = r, .seen = { .px = r->px } };
	struct ir_node *x = tensor_root(r, a), *y = tensor_root(r, b);

	return maybe ? may_meet(&p, x, y) : whole_of(r, x) == whole_of(r, y);
}

bool tensor_is_part(const struct tensor_roots *r, const struct ir_node *root)
{
	const struct tensor_source *s = sources_of(r, root);

	return s && !s->merge;
}

/* ---- Directions ---- */

struct accesses {
	const struct tensor_roots *r;
	struct var_map read, written, covered;	/* root -> itself */
	bool nested;			/* in a loop or branch, where a write may not happen */
};

static bool covers(const struct ir_call *store)
{
	const struct ir_list *offsets = &IR_AS(store->args.at[1], tuple)->elements;
	const struct ir_list *shapes = &IR_AS(store->args.at[2], tuple)->elements;
	uint32_t i;

	for (i = 0; i < offsets->n; i++)
		if (offsets->at[i]->kind != IR_CONST_INT || IR_AS(offsets->at[i], const)->value)
			return false;
	return shape_equal(shapes, &store->node.type->shape) &&
	       !store->args.at[0]->type->view.valid.n;
}

static void find_operator(struct accesses *a, const struct ir_call *call)
{
	int written = tensor_written_arg(call->op);
	uint32_t i;

	if (is_view(call->op) || call->op->rule == rule_dim)
		return;
	for (i = 0; i < call->args.n; i++) {
		struct ir_node *arg = call->args.at[i];

		if (!arg || arg->type->kind != TY_TENSOR)
			continue;
		tensor_sources(a->r, arg, (int)i == written ? &a->written : &a->read);
		if ((int)i == written && call->op->rule == rule_store && covers(call) && !a->nested)
			var_map_set(&a->covered, tensor_root(a->r, arg), arg);
	}
}

static void find_call(struct accesses *a, const struct ir_call *call)
{
	const struct ir_function *callee = program_find(a->r->program, call->callee);
	uint32_t i;

	for (i = 0; callee && i < call->args.n; i++) {
		if (call->args.at[i]->type->kind != TY_TENSOR)
			continue;
		if (callee->directions[i] != DIR_OUT)
			tensor_sources(a->r, call->args.at[i], &a->read);
		if (callee->directions[i] != DIR_IN)
			tensor_sources(a->r, call->args.at[i], &a->written);
	}
}

static bool find_access(void *data, struct ir_node *node)
{
	if (node->kind == IR_CALL && IR_AS(node, call)->op)
		find_operator(data, IR_AS(node, call));
	else if (node->kind == IR_CALL)
		find_call(data, IR_AS(node, call));
	return true;
}

void tensor_written(const struct tensor_roots *r, struct ir_node *body, struct var_map *set)
{
	struct accesses a = { .r = r, .read = { .px = r->px }, .written = *set,
			      .covered = { .px = r->px } };

	ir_walk(body, find_access, &a);
	*set = a.written;
}

void tensor_directions(struct px *px, const struct ir_program *program, struct ir_function *f,
		       bool outs)
{
	struct tensor_roots roots = tensor_roots(px, program, f);
	struct accesses a = { .r = &roots, .read = { .px = px },
			      .written = { .px = px }, .covered = { .px = px } };
	struct ir_list stmts = ir_flat(px, f->body);
	uint8_t *directions = px_alloc(px, f->params.n + 1, 1);
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		a.nested = stmts.at[i]->kind != IR_ASSIGN && stmts.at[i]->kind != IR_EVAL;
		ir_walk(stmts.at[i], find_access, &a);
	}
	memcpy(directions, f->directions, f->params.n);
	for (i = 0; i < f->params.n; i++) {
		struct ir_node *param = f->params.at[i];

		if (directions[i] != DIR_IN || !var_map_get(&a.written, param))
			continue;
		directions[i] = outs && var_map_get(&a.covered, param) &&
				!var_map_get(&a.read, param) ? DIR_OUT : DIR_INOUT;
	}
	f->directions = directions;
}
