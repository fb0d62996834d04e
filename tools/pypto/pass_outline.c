/* SPDX-License-Identifier: MIT */
/*
 * OutlineIncoreScopes, section 7.4 and decisions.md D6. Works on SSA form: what a region uses and
 * does not define is an input, what it defines and is used outside is an output. A parameter into
 * which the region stores becomes InOut, or Out when one store covers it and nothing reads it.
 */
#include <string.h>

#include "gen.h"
#include "outline.h"

/* ---- What a region uses and defines ---- */

static void by_name(struct px *px, struct ir_list *list, struct ir_node *var)
{
	uint32_t i;

	list_push(px, list, var);
	for (i = list->n - 1; i && strcmp(IR_AS(list->at[i - 1], var)->name,
					  IR_AS(var, var)->name) > 0; i--)
		list->at[i] = list->at[i - 1];
	list->at[i] = var;
}

static void region_define(struct region *r, struct ir_node *var)
{
	if (var_map_get(&r->defined, var))
		return;
	var_map_set(&r->defined, var, var);
	by_name(r->px, &r->defs, var);
}

static void region_define_list(struct region *r, const struct ir_list *vars)
{
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		var_map_set(&r->defined, vars->at[i], vars->at[i]);
}

static bool find_defs(void *data, struct ir_node *node)
{
	struct region *r = data;

	switch (node->kind) {
	case IR_ASSIGN:
		region_define(r, IR_AS(node, assign)->var);
		break;
	case IR_FOR:
		var_map_set(&r->defined, IR_AS(node, for)->loop_var, IR_AS(node, for)->loop_var);
		region_define_list(r, &IR_AS(node, for)->iter_args);
		for (uint32_t i = 0; i < IR_AS(node, for)->return_vars.n; i++)
			region_define(r, IR_AS(node, for)->return_vars.at[i]);
		break;
	case IR_WHILE:
		region_define_list(r, &IR_AS(node, while)->iter_args);
		for (uint32_t i = 0; i < IR_AS(node, while)->return_vars.n; i++)
			region_define(r, IR_AS(node, while)->return_vars.at[i]);
		break;
	case IR_IF:
		for (uint32_t i = 0; i < IR_AS(node, if)->return_vars.n; i++)
			region_define(r, IR_AS(node, if)->return_vars.at[i]);
		break;
	}
	return node->kind >= IR_ASSIGN;
}

bool outline_find_uses(void *data, struct ir_node *node)
{
	struct region *r = data;

	if (!ir_is_var(node) || var_map_get(&r->defined, node) || var_map_get(&r->used, node) ||
	    IR_AS(node, var)->dynamic)
		return true;
	var_map_set(&r->used, node, node);
	by_name(r->px, &r->uses, node);
	return true;
}

/* Uses of each variable below @stmt, added to @counts; a definition is no use. */
static bool count_use(void *counts, struct ir_node *node)
{
	if (ir_is_var(node))
		var_map_set(counts, node,
			    (void *)((uintptr_t)var_map_get(counts, node) + 1));
	if (node->kind != IR_ASSIGN)
		return true;
	ir_walk(IR_AS(node, assign)->value, count_use, counts);
	return false;
}

void outline_region(struct outline *o, struct region *r, struct ir_node *body)
{
	struct var_map inside = { .px = o->px };
	uint32_t i;

	*r = (struct region){ .px = o->px, .body = body, .span = body->span,
			      .defined = { .px = o->px }, .used = { .px = o->px },
			      .same = { .px = o->px } };
	ir_walk(body, count_use, &inside);
	ir_walk(body, find_defs, r);
	ir_walk(body, outline_find_uses, r);
	for (i = 0; i < r->defs.n; i++)	/* used outside too */
		if (var_map_get(&o->uses, r->defs.at[i]) != var_map_get(&inside, r->defs.at[i]))
			list_push(o->px, &r->outputs, r->defs.at[i]);
}

/* ---- The new function ---- */

/* <function>_incore_<k>, with the next k that no function of the author's has. */
static const char *free_name(struct outline *o)
{
	const char *name;

	do {
		name = px_printf(o->px, "%s_incore_%u", o->parent->name, o->next++);
	} while (program_find(o->program, name) || program_find(o->out, name));
	return px_intern(o->px, name);
}

/* ---- Symbolic extents ---- */

/* Whether @extent is an extent of a tensor of @vars, in which a kernel finds it. */
static bool stands_alone(const struct ir_list *vars, const struct ir_node *extent)
{
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		if (vars->at[i]->type->kind == TY_TENSOR &&
		    list_has(&vars->at[i]->type->shape, extent))
			return true;
	return false;
}

static bool find_extent(void *data, struct ir_node *node)
{
	struct region *r = data;

	if (ir_is_var(node) && IR_AS(node, var)->dynamic && !list_has(&r->uses, node) &&
	    !stands_alone(&r->uses, node) && !stands_alone(&r->outputs, node))
		by_name(r->px, &r->uses, node);
	return true;
}

/* What the region needs to know of symbolic extents that its tensors do not tell is passed as well. */
static void pass_extents(struct region *r)
{
	struct ir_list uses = list_copy(r->px, &r->uses);
	uint32_t i, k;

	for (i = 0; i < uses.n; i++)
		for (k = 0; k < uses.at[i]->type->shape.n; k++)
			ir_walk(uses.at[i]->type->shape.at[k], find_extent, r);
	for (i = 0; i < r->views.n; i++)
		ir_walk(r->views.at[i], find_extent, r);
	ir_walk(r->body, find_extent, r);
}

struct name_search {
	const char *name;
	bool found;
};

static bool search_name(void *data, struct ir_node *node)
{
	struct name_search *s = data;

	s->found |= ir_is_var(node) && !strcmp(IR_AS(node, var)->name, s->name);
	return !s->found;
}

/* A name for what the function knows as the symbolic extent @name, as that of a first version. */
static const char *free_extent(struct outline *o, const char *name)
{
	struct name_search s = { 0 };
	unsigned int n = 0;

	do {
		s = (struct name_search){ .name = px_printf(o->px, "%s_%u", name, n++) };
		ir_walk(&o->parent->node, search_name, &s);
	} while (s.found);
	return px_intern(o->px, s.name);
}

/* @var of the parent, or what is the same tensor, in the new function. */
static struct ir_node *inner_var(const struct region *r, const struct var_map *map,
				 struct ir_node *var)
{
	struct ir_node *same;

	while ((same = var_map_get(&r->same, var)))
		var = same;
	return var_map_get(map, var);
}

/* Of what is the same tensor: in the new function, too, as far as that has it already. */
static void map_same(const struct region *r, struct var_map *map)
{
	uint32_t i;

	for (i = 0; i < r->same.room; i++) {
		const struct ir_node *var = r->same.slots[i].key;
		struct ir_node *inner = var ? inner_var(r, map, r->same.slots[i].value) : NULL;

		if (inner)
			var_map_set(map, var, inner);
	}
}

static struct ir_node *inner_param(struct outline *o, struct var_map *map, struct ir_node *var)
{
	const char *name = IR_AS(var, var)->name;
	struct ir_node *param = ir_var(o->px, IR_AS(var, var)->dynamic ? free_extent(o, name) : name,
				       ir_subst_type(map, var->type), var->span);

	var_map_set(map, var, param);
	return param;
}

static struct ir_function *new_function(struct outline *o, struct region *r)
{
	struct ir_function *f = ir_new(o->px, IR_FUNCTION, r->span, NULL);
	const struct ir_list *outputs = &r->outputs;
	struct var_map map = { .px = o->px };
	struct ir_list stmts = { 0 };
	uint32_t *order, i;

	pass_extents(r);
	f->func_type = FN_INCORE;
	f->directions = px_alloc(o->px, r->uses.n + 1, 1);	/* DIR_IN */
	f->params = list_copy(o->px, &r->uses);
	order = ir_def_order(o->px, &r->uses);
	for (i = 0; i < r->uses.n; i++)
		f->params.at[order[i]] = inner_param(o, &map, r->uses.at[order[i]]);
	for (i = 0; i < r->views.n; i++) {
		map_same(r, &map);
		list_push(o->px, &stmts, ir_clone_stmt(&map, r->views.at[i]));
	}
	map_same(r, &map);
	list_push(o->px, &stmts, ir_clone_stmt(&map, r->body));
	f->return_types = px_alloc(o->px, outputs->n + 1, sizeof(const struct ir_type *));
	for (i = 0; i < outputs->n; i++)
		f->return_types[i] = ir_subst_type(&map, outputs->at[i]->type);
	f->n_returns = outputs->n;
	if (outputs->n)
		list_push(o->px, &stmts, ir_values(o->px, IR_RETURN, ir_subst_list(&map, outputs),
						   r->span));
	f->body = ir_body(o->px, stmts, r->span);
	tensor_directions(o->px, o->program, f, true);
	return f;
}

static struct ir_call *new_call(struct outline *o, const struct ir_function *f,
				const struct ir_list *args, const struct ir_list *outputs,
				struct span span)
{
	const struct ir_type **types = px_alloc(o->px, outputs->n + 1,
						sizeof(const struct ir_type *));
	struct ir_call *call = ir_new(o->px, IR_CALL, span, NULL);
	uint32_t i;

	for (i = 0; i < outputs->n; i++)
		types[i] = outputs->at[i]->type;
	call->callee = f->name;
	call->args = list_copy(o->px, args);
	call->node.type = outputs->n == 1 ? types[0] : type_tuple(o->px, types, outputs->n);
	return call;
}

static void put_call(struct outline *o, struct ir_call *call, const struct ir_list *outputs,
		     struct ir_list *stmts)
{
	struct ir_node *whole;
	struct ir_eval *eval;
	uint32_t i;

	if (!outputs->n) {
		eval = ir_new(o->px, IR_EVAL, call->node.span, NULL);
		eval->expr = &call->node;
		list_push(o->px, stmts, &eval->node);
		return;
	}
	if (outputs->n == 1) {
		list_push(o->px, stmts, ir_assign(o->px, outputs->at[0], &call->node,
						  call->node.span));
		return;
	}
	whole = ir_var(o->px, px_printf(o->px, "ret_%u", o->next), call->node.type,
		       call->node.span);
	list_push(o->px, stmts, ir_assign(o->px, whole, &call->node, call->node.span));
	for (i = 0; i < outputs->n; i++) {
		struct ir_item *item = ir_new(o->px, IR_GET_ITEM, call->node.span,
					      outputs->at[i]->type);

		item->tuple = whole;
		item->index = i;
		list_push(o->px, stmts, ir_assign(o->px, outputs->at[i], &item->node,
						  call->node.span));
	}
}

/*
 * Whether @tensor, which the region merges, can be a tensor of its own after it: a copy serves when
 * nothing stores into the tensors of the parent that it may be, or into it.
 */
static bool is_copied(struct outline *o, const struct region *r, struct ir_node *tensor)
{
	struct var_map sources = { .px = o->px };
	bool outer = false, stored = false;
	size_t i;

	tensor_sources(&o->roots, tensor, &sources);
	for (i = 0; i < sources.room; i++) {
		const struct ir_node *root = sources.slots[i].key;

		outer |= root && !var_map_get(&r->defined, root);
		stored |= root && var_map_get(&o->written, root);
	}
	return !outer || !stored;
}

/* Values that no kernel hands on: a mistake. */
static bool value_stays(struct outline *o, const struct region *r)
{
	const char *what, *hint;
	uint32_t i;

	for (i = 0; i < r->outputs.n; i++) {
		struct ir_node *var = r->outputs.at[i], *root = tensor_root(&o->roots, var);

		if (var->type->kind == TY_TILE) {
			what = "Tile";
			hint = "Store it into a tensor with pl.store()";
		} else if (var->type->kind == TY_SCALAR) {
			what = "Scalar";
			hint = "Store its tile into a tensor, and read that with pl.tensor.read()";
		} else if (var->type->kind != TY_TENSOR || !var_map_get(&r->defined, root) ||
			   !tensor_is_chosen(&o->roots, root)) {
			continue;
		} else if (tensor_is_part(&o->roots, root)) {
			what = "View";
			hint = "Make the view before the region, or once more after it";
		} else if (!is_copied(o, r, var)) {
			what = "Merged tensor";
			hint = "Write into one tensor, or split the region";
		} else {
			continue;
		}
		diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, r->span,
					  "%s '%s' is used after the pl.incore() region that makes it",
					  what, gen_written_name(o->px, var)),
			  "%s", hint);
		return true;
	}
	return false;
}

/* ---- The parent ---- */

/* Outputs that are states of views which the region repeats are those views of the parent. */
static void put_views(struct outline *o, struct region *r, struct ir_list *stmts)
{
	struct ir_list left = { 0 };
	uint32_t i;

	for (i = 0; i < r->outputs.n; i++) {
		struct ir_node *var = r->outputs.at[i], *root = tensor_root(&o->roots, var);

		if (var->type->kind == TY_TENSOR && tensor_is_chosen(&o->roots, root) &&
		    list_has(&r->views, var_map_get(&o->made, root)))
			list_push(o->px, stmts, ir_assign(o->px, var, root, r->span));
		else
			list_push(o->px, &left, var);
	}
	r->outputs = left;
}

static void outline_scope(struct outline *o, struct ir_scope *scope, struct ir_list *stmts)
{
	struct ir_list views = { 0 };
	struct ir_function *f;
	struct region r;

	outline_region(o, &r, scope->body);
	r.span = scope->node.span;
	outline_hoist(o, &r, stmts);
	if (value_stays(o, &r))
		return;
	f = new_function(o, &r);
	while (outline_sink(o, &r, f))
		f = new_function(o, &r);
	if (r.views.n) {
		put_views(o, &r, &views);
		f = new_function(o, &r);
	}
	f->name = free_name(o);
	put_call(o, new_call(o, f, &r.uses, &r.outputs, r.span), &r.outputs, stmts);
	for (uint32_t i = 0; i < views.n; i++)
		list_push(o->px, stmts, views.at[i]);
	if (program_add(o->px, o->out, f))
		diag_add(o->px, DIAG_COMPILE, r.span, "Duplicate function name \"%s\"", f->name);
}

static struct ir_node *outline_body(struct outline *o, struct ir_node *body);

static void outline_stmt(struct outline *o, struct ir_node *s, struct ir_list *stmts)
{
	const struct ir_field *field;
	struct ir_node *copy;
	uint32_t i;

	if (s->kind == IR_SCOPE) {
		outline_scope(o, IR_AS(s, scope), stmts);
		return;
	}
	if (s->kind == IR_SEQ || s->kind == IR_OPS) {
		for (i = 0; i < IR_AS(s, seq)->stmts.n; i++)
			outline_stmt(o, IR_AS(s, seq)->stmts.at[i], stmts);
		return;
	}
	copy = ir_copy(o->px, s);
	for (field = ir_kind_info[s->kind].fields; field->name; field++) {
		struct ir_node **at = ir_field_at(copy, field);

		if (field->kind == FK_STMT && *at)
			*at = outline_body(o, *at);
	}
	list_push(o->px, stmts, copy);
}

static struct ir_node *outline_body(struct outline *o, struct ir_node *body)
{
	struct ir_list stmts = { 0 };

	outline_stmt(o, body, &stmts);
	return ir_body(o->px, stmts, body->span);
}

/* ---- Tensor arithmetic outside of regions (D6) ---- */

static bool computes(const struct ir_node *s)
{
	return s->kind == IR_ASSIGN && ir_computes(IR_AS(s, assign)->value);
}

/* Products are computed on the cube core, everything else on vector cores. */
static bool is_product(const struct ir_node *s)
{
	return IR_AS(IR_AS(s, assign)->value, call)->op->rule == rule_tensor_matmul;
}

/* Each run of operators on tensors becomes a region, each product one of its own. */
static struct ir_node *gather_body(struct px *px, struct ir_node *body, void *outline)
{
	struct ir_list stmts = ir_stmts(&body), out = { 0 };
	struct outline_run run;
	struct ir_scope *scope;
	uint32_t i = 0;

	while (i < stmts.n) {
		struct ir_node *s = stmts.at[i];

		if (!computes(s)) {
			list_push(px, &out, s->kind == IR_SCOPE || s->kind == IR_ASSIGN ? s :
				  pass_bodies(px, s, gather_body, outline));
			i++;
			continue;
		}
		run = (struct outline_run){ .outer = { .px = px }, .written = { .px = px },
					    .used = { .px = px } };
		do {
			outline_join(outline, &run, stmts.at[i++]);
		} while (!is_product(s) && i < stmts.n && computes(stmts.at[i]) &&
			 !is_product(stmts.at[i]) &&
			 !outline_conflict(outline, &run, stmts.at[i]));
		scope = ir_new(px, IR_SCOPE, s->span, NULL);
		scope->body = ir_body(px, run.stmts, s->span);
		list_push(px, &out, &scope->node);
	}
	return ir_body(px, out, body->span);
}

/* The regions at the top of @body that are not in @old. */
static struct ir_node *outline_added(struct outline *o, struct ir_node *body, struct ir_node *old)
{
	struct ir_list stmts = ir_flat(o->px, body), known = ir_flat(o->px, old), out = { 0 };
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		if (stmts.at[i]->kind == IR_SCOPE && !list_has(&known, stmts.at[i]))
			outline_scope(o, IR_AS(stmts.at[i], scope), &out);
		else
			list_push(o->px, &out, stmts.at[i]);
	}
	return ir_body(o->px, out, body->span);
}

static void number(void *data, struct ir_node *var)
{
	struct outline *o = data;

	var_map_set(&o->order, var, (void *)++o->n_made);
}

static bool note_made(void *data, struct ir_node *node)
{
	struct outline *o = data;

	if (node->kind < IR_ASSIGN)
		return false;
	if (node->kind == IR_ASSIGN)
		var_map_set(&o->made, IR_AS(node, assign)->var, node);
	ir_defs(node, number, o);
	return true;
}

/*
 * A kernel that returns one of several parameters: its callers would have to know which, to store
 * into it.
 */
static void check_returns(struct px *px, const struct ir_program *program,
			  const struct ir_function *f)
{
	const struct ir_values *values = ir_last(f->body, IR_RETURN);
	struct tensor_roots roots = tensor_roots(px, program, f);
	uint32_t i, k;

	for (i = 0; values && i < values->values.n; i++) {
		struct ir_node *value = values->values.at[i], *root = tensor_root(&roots, value);
		struct var_map sources = { .px = px };

		if (!tensor_is_chosen(&roots, root) || tensor_is_part(&roots, root))
			continue;
		tensor_sources(&roots, value, &sources);
		for (k = 0; k < f->params.n && !var_map_get(&sources, f->params.at[k]); k++)
			;
		if (k < f->params.n)
			diag_hint(px, diag_add(px, DIAG_COMPILE, values->node.span,
					       "'%s' is a different tensor in different ways through the kernel",
					       gen_written_name(px, value)),
				  "Return one parameter, or write into a tensor that the caller gives");
	}
}

static void outline_function(struct outline *o, struct ir_function *old)
{
	const struct ir_program *program = o->program;
	const struct ir_function *source = program_find(o->source, old->name);
	struct ir_function *f = ir_copy(o->px, &old->node);

	if (old->func_type == FN_INCORE || old->func_type == FN_BLOCK_INCORE)
		check_returns(o->px, program, old);
	if (old->func_type == FN_OPAQUE || old->func_type == FN_ORCHESTRATION)
		f->body = outline_returns(o->px, program, old);
	if (old->func_type == FN_OPAQUE)
		f->body = outline_copies(o->px, program, f);
	o->uses = o->made = o->order = (struct var_map){ .px = o->px };
	o->n_made = 0;
	o->roots = tensor_roots(o->px, program, f);
	o->written = (struct var_map){ .px = o->px };
	tensor_written(&o->roots, f->body, &o->written);
	ir_walk(f->body, note_made, o);
	if (old->func_type == FN_OPAQUE)
		f->body = gather_body(o->px, f->body, o);
	o->parent = ir_copy(o->px, &f->node);
	o->next = 0;
	ir_walk(f->body, count_use, &o->uses);
	if (old->func_type == FN_OPAQUE)
		f->body = outline_body(o, f->body);
	else if (f->body != old->body)
		f->body = outline_added(o, f->body, old->body);
	if (o->next || source->func_type == FN_ORCHESTRATION)
		f->func_type = FN_ORCHESTRATION;
	program_add(o->px, o->out, f);
}

/* ---- Directions of the author's functions ---- */

struct directions {
	struct outline *o;
	struct var_map done;
	const struct ir_function *f;
	struct tensor_roots roots;	/* of @f */
};

static void find_directions(struct directions *d, struct ir_function *f);

static bool visit_callee(void *data, struct ir_node *node)
{
	struct directions *d = data;
	struct ir_function *callee;

	if (node->kind != IR_CALL || IR_AS(node, call)->op)
		return true;
	callee = program_find(d->o->out, IR_AS(node, call)->callee);
	if (callee)
		find_directions(d, callee);
	return true;
}

static void read_only(struct directions *d, const struct ir_node *param,
		      const struct ir_function *callee, struct span span)
{
	struct px *px = d->o->px;
	const char *name = gen_written_name(px, param);
	const char *writer = program_find(d->o->source, callee->name) ?
			     px_printf(px, "function '%s'", callee->name) : "this region";

	diag_hint(px, diag_add(px, DIAG_TYPE, span,
			       "Parameter '%s' of '%s' is read-only, but %s writes to it", name,
			       d->f->name, writer),
		  "Declare it %s: pl.Out[...] (only written) or pl.InOut[...]", name);
}

/* What an Opaque function writes, its caller may declare as read only. */
static bool visit_written(void *data, struct ir_node *node)
{
	struct directions *d = data;
	const struct ir_call *call = IR_AS(node, call);
	const struct ir_function *callee =
		node->kind == IR_CALL && !call->op ? program_find(d->o->out, call->callee) : NULL;
	uint32_t i, p;

	for (i = 0; callee && i < call->args.n; i++) {
		struct ir_node *root = tensor_root(&d->roots, call->args.at[i]);

		if (callee->directions[i] != DIR_OUT && callee->directions[i] != DIR_INOUT)
			continue;
		for (p = 0; p < d->f->params.n && d->f->params.at[p] != root; p++)
			;
		if (p < d->f->params.n && d->f->directions[p] == DIR_IN)
			read_only(d, root, callee, node->span);
	}
	return true;
}

/* Those of @f, behind those of the functions that it calls. */
static void find_directions(struct directions *d, struct ir_function *f)
{
	const struct ir_function *old = program_find(d->o->source, f->name);

	if (var_map_get(&d->done, &f->node) || !f->body)
		return;
	var_map_set(&d->done, &f->node, f);
	ir_walk(f->body, visit_callee, d);
	if (old && old->func_type == FN_OPAQUE) {
		tensor_directions(d->o->px, d->o->out, f, false);
	} else if (old && old->func_type == FN_ORCHESTRATION) {
		d->f = f;
		d->roots = tensor_roots(d->o->px, d->o->out, f);
		ir_walk(f->body, visit_written, d);
	}
}

struct ir_program *pass_outline_incore(struct px *px, struct ir_program *program,
				       const struct pass_options *options)
{
	struct outline o = { .px = px, .source = program, .program = outline_calls(px, program),
			     .out = ir_copy(px, &program->node) };
	struct directions d = { .o = &o, .done = { .px = px } };
	uint32_t i;

	(void)options;
	o.out->functions = (struct ir_list){ 0 };
	for (i = 0; i < o.program->functions.n; i++)
		outline_function(&o, IR_AS(o.program->functions.at[i], function));
	for (i = 0; i < o.out->functions.n; i++)
		find_directions(&d, IR_AS(o.out->functions.at[i], function));
	return px->n_errors ? NULL : o.out;
}
