/* SPDX-License-Identifier: MIT */
/*
 * Views at the borders of regions. Inside of a kernel two parameters are two tensors: what is
 * loaded from one does not wait for what is stored into the other. So a region that writes a tensor
 * gets it once, and repeats the views of it that it uses; a view made inside a region and used
 * after it is made in front of it; and assemble() gets a copy of what is a view of its target.
 */
#include "gen.h"
#include "outline.h"

static const struct ir_call *call_in(const struct ir_node *s)
{
	const struct ir_node *value = s && s->kind == IR_ASSIGN ? IR_AS(s, assign)->value : NULL;

	return value && value->kind == IR_CALL && IR_AS(value, call)->op ? IR_AS(value, call) :
	       NULL;
}

static bool is_tensor_view(const struct ir_node *s)
{
	const struct ir_call *call = call_in(s);

	return call && call->node.type->kind == TY_TENSOR &&
	       (call->op->rule == rule_slice || call->op->rule == rule_reshape);
}

/* ---- Copies ---- */

struct copies {
	struct tensor_roots roots;
	unsigned int next;
};

/* "_y0 = cast(source); x = assemble(x, _y0)" */
static struct ir_node *with_copy(struct copies *c, struct ir_node *s, struct ir_list *out)
{
	struct px *px = c->roots.px;
	const struct ir_call *call = call_in(s);
	struct ir_node *source = call->args.at[1], *made, *var;
	struct ir_call *with = ir_copy(px, IR_AS(s, assign)->value);

	made = op_copy(px, source, s->span);
	if (!made)
		return s;
	var = ir_var(px, px_printf(px, "_y%u", c->next++), made->type, s->span);
	list_push(px, out, ir_assign(px, var, made, s->span));
	with->args = list_copy(px, &call->args);
	with->args.at[1] = var;
	return ir_assign(px, IR_AS(s, assign)->var, &with->node, s->span);
}

static struct ir_node *copy_sources(struct px *px, struct ir_node *body, void *data)
{
	struct ir_list stmts = ir_flat(px, body), out = { 0 };
	struct copies *c = data;
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		struct ir_node *s = stmts.at[i];
		const struct ir_call *call = call_in(s);

		if (s->kind != IR_ASSIGN)
			s = pass_bodies(px, s, copy_sources, data);
		else if (call && call->op->rule == rule_assemble &&
			 tensor_overlap(&c->roots, call->args.at[0], call->args.at[1], true))
			s = with_copy(c, s, &out);
		list_push(px, &out, s);
	}
	return ir_body(px, out, body->span);
}

static bool has_assemble(void *found, struct ir_node *node)
{
	if (node->kind == IR_CALL && IR_AS(node, call)->op &&
	    IR_AS(node, call)->op->rule == rule_assemble)
		*(bool *)found = true;
	return true;
}

struct ir_node *outline_copies(struct px *px, const struct ir_program *program,
			       const struct ir_function *f)
{
	struct copies c = { .next = 0 };
	bool found = false;

	ir_walk(f->body, has_assemble, &found);
	if (!found)
		return f->body;
	c.roots = tensor_roots(px, program, f);
	return copy_sources(px, f->body, &c);
}

/* ---- Runs ---- */

/* The tensor of the parent that @var is in the run; NULL: a new one. */
static struct ir_node *outside(const struct outline_run *run, struct ir_node *var)
{
	struct ir_node *outer = var_map_get(&run->outer, var);

	return !outer ? var : outer == var ? NULL : outer;
}

void outline_join(struct outline *o, struct outline_run *run, struct ir_node *s)
{
	const struct ir_call *call = call_in(s);
	int written = tensor_written_arg(call->op);
	struct ir_node *var = IR_AS(s, assign)->var, *outer;
	uint32_t i;

	for (i = 0; i < call->args.n; i++) {
		if (call->args.at[i]->type->kind != TY_TENSOR)
			continue;
		outer = outside(run, call->args.at[i]);
		if (outer)
			var_map_set((int)i == written ? &run->written : &run->used, outer, outer);
	}
	outer = written < 0 ? NULL : outside(run, call->args.at[written]);
	var_map_set(&run->outer, var, outer ? outer : var);
	list_push(o->px, &run->stmts, s);
}

/* Whether another tensor of @set may be @tensor. */
static bool meets(struct outline *o, const struct var_map *set, struct ir_node *tensor)
{
	size_t i;

	for (i = 0; i < set->room; i++)
		if (set->slots[i].key && set->slots[i].value != tensor &&
		    tensor_overlap(&o->roots, set->slots[i].value, tensor, true))
			return true;
	return false;
}

bool outline_conflict(struct outline *o, struct outline_run *run, const struct ir_node *s)
{
	const struct ir_call *call = call_in(s);
	int written = tensor_written_arg(call->op);
	struct ir_node *outer;
	uint32_t i;

	if (!run->written.n && written < 0)
		return false;
	for (i = 0; i < call->args.n; i++) {
		if (call->args.at[i]->type->kind != TY_TENSOR)
			continue;
		outer = outside(run, call->args.at[i]);
		if (outer && (meets(o, &run->written, outer) ||
			      ((int)i == written && meets(o, &run->used, outer))))
			return true;
	}
	return false;
}

/* ---- Views that leave a region ---- */

static bool is_inner(const struct region *r, const struct ir_node *var)
{
	return var_map_get(&r->defined, var) != NULL;
}

static bool has_inner(void *data, struct ir_node *node)
{
	struct region *r = ((void **)data)[0];

	if (ir_is_var(node) && is_inner(r, node))
		((void **)data)[1] = node;
	return true;
}

/* What the tensor @var is outside of the region; NULL: something that is made inside. */
static struct ir_node *outer_tensor(struct outline *o, const struct region *r, struct ir_node *var)
{
	struct ir_node *root = tensor_root(&o->roots, var);

	if (!is_inner(r, var))
		return var;
	return !is_inner(r, root) && shape_equal(&root->type->shape, &var->type->shape) ? root :
	       NULL;
}

/* The view @s as the parent can make it; NULL: it cannot. */
static struct ir_node *outer_view(struct outline *o, const struct region *r, struct ir_node *s)
{
	const struct ir_call *call = call_in(s);
	struct ir_node *base = outer_tensor(o, r, call->args.at[0]);
	void *data[] = { (void *)r, NULL };
	struct ir_call *view;
	uint32_t i;

	for (i = 1; i < call->args.n; i++)
		ir_walk(call->args.at[i], has_inner, data);
	if (!base || data[1])
		return NULL;
	view = ir_copy(o->px, IR_AS(s, assign)->value);
	view->args = list_copy(o->px, &call->args);
	view->args.at[0] = base;
	return ir_assign(o->px, IR_AS(s, assign)->var, &view->node, s->span);
}

/* Whether @var, or what the region stores into it, is used after the region. */
static bool leaves(struct outline *o, const struct region *r, struct ir_node *var)
{
	uint32_t i;

	for (i = 0; i < r->outputs.n; i++)
		if (r->outputs.at[i]->type->kind == TY_TENSOR &&
		    tensor_root(&o->roots, r->outputs.at[i]) == tensor_root(&o->roots, var))
			return true;
	return false;
}

/* Reshapes are made in front of a region in any case: kernels have none. */
void outline_hoist(struct outline *o, struct region *r, struct ir_list *stmts)
{
	struct ir_list old = ir_flat(o->px, r->body), body = { 0 };
	struct region rest;
	uint32_t i;

	for (i = 0; i < old.n; i++) {
		struct ir_node *s = old.at[i], *view = NULL;

		if (is_tensor_view(s) && (call_in(s)->op->rule == rule_reshape ||
					  leaves(o, r, IR_AS(s, assign)->var)))
			view = outer_view(o, r, s);
		if (!view) {
			list_push(o->px, &body, s);
			continue;
		}
		list_push(o->px, stmts, view);
		var_map_set(&o->made, IR_AS(s, assign)->var, view);
		var_map_set(&r->defined, IR_AS(s, assign)->var, NULL);	/* for those that follow */
	}
	if (body.n == old.n)
		return;
	outline_region(o, &rest, ir_body(o->px, body, r->span));
	rest.span = r->span;
	*r = rest;
}

/* ---- One parameter for one tensor ---- */

static void drop_use(struct region *r, const struct ir_node *var)
{
	struct ir_list uses = { 0 };
	uint32_t i;

	for (i = 0; i < r->uses.n; i++)
		if (r->uses.at[i] != var)
			list_push(r->px, &uses, r->uses.at[i]);
	r->uses = uses;
}

static uintptr_t number_of(struct outline *o, const struct ir_node *var)
{
	return (uintptr_t)var_map_get(&o->order, var);
}

/* The region repeats the view that @var is, from what the view was made of. */
static bool repeat_view(struct outline *o, struct region *r, struct ir_node *var)
{
	struct ir_node *root = tensor_root(&o->roots, var), *s = var_map_get(&o->made, root);
	uint32_t i;

	if (!is_tensor_view(s) || call_in(s)->op->rule != rule_slice)
		return false;
	drop_use(r, var);
	if (var != root)
		var_map_set(&r->same, var, root);
	if (list_has(&r->views, s))
		return true;
	drop_use(r, root);
	var_map_set(&r->used, root, root);
	ir_walk(IR_AS(s, assign)->value, outline_find_uses, r);
	list_push(r->px, &r->views, s);
	for (i = r->views.n - 1; i && number_of(o, IR_AS(r->views.at[i - 1], assign)->var) >
				      number_of(o, root); i--)
		r->views.at[i] = r->views.at[i - 1];
	r->views.at[i] = s;
	return true;
}

static void one_memory(struct outline *o, const struct region *r, const struct ir_node *a,
		       const struct ir_node *b, const char *is)
{
	diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, r->span,
				  "The region writes '%s', which %s the same memory as '%s'",
				  gen_written_name(o->px, a), is, gen_written_name(o->px, b)),
		  "Use one of them in this region, and the other in a region of its own");
}

static bool make_one(struct outline *o, struct region *r, struct ir_node *a, struct ir_node *b)
{
	if (tensor_root(&o->roots, a) == tensor_root(&o->roots, b) &&
	    shape_equal(&a->type->shape, &b->type->shape)) {
		bool newer = number_of(o, a) > number_of(o, b);

		var_map_set(&r->same, newer ? b : a, newer ? a : b);
		drop_use(r, newer ? b : a);
		return true;
	}
	if (repeat_view(o, r, a) || repeat_view(o, r, b))
		return true;
	one_memory(o, r, a, b, "is");
	return false;
}

bool outline_sink(struct outline *o, struct region *r, const struct ir_function *f)
{
	uint32_t i, k;

	for (i = 0; i < r->uses.n; i++) {
		struct ir_node *a = r->uses.at[i];

		if (a->type->kind != TY_TENSOR || f->directions[i] == DIR_IN)
			continue;
		for (k = 0; k < r->uses.n; k++) {
			struct ir_node *b = r->uses.at[k];

			if (k == i || b->type->kind != TY_TENSOR)
				continue;
			if (tensor_overlap(&o->roots, a, b, false))
				return make_one(o, r, a, b);
			if (tensor_overlap(&o->roots, a, b, true)) {
				one_memory(o, r, a, b, "may be");
				return false;
			}
		}
	}
	return false;
}
