/* SPDX-License-Identifier: MIT */
/*
 * Values that loops carry and branches merge: where they are, and the copies that bring them there
 * (decisions.md D27). Copies that happen together are a parallel assignment: a buffer is not
 * overwritten before what is in it has been copied, and a cycle goes through one more buffer.
 */
#include "gen.h"
#include "machine.h"
#include "memref.h"

/* ---- Copies ---- */

static bool can_copy(struct memrefs *m, const struct ir_node *value, const struct ir_memref *from,
		     const struct ir_memref *to, struct span span)
{
	if (from->space == MS_VEC && to->space == MS_VEC)
		return true;
	diag_hint(m->px, diag_add(m->px, DIAG_COMPILE, span,
				  "Tile '%s' in %s cannot be copied into the buffer in %s in which it is carried",
				  gen_written_name(m->px, value), enum_name(EN_MEMORY_SPACE, from->space),
				  enum_name(EN_MEMORY_SPACE, to->space)),
		  "Give the value to pl.yield_() that was made in place, or load the tile again in each iteration");
	return false;
}

struct ir_node *memref_copy(struct memrefs *m, struct ir_node *value, struct ir_memref *buffer,
			    struct span span)
{
	struct op_use use = { .px = m->px, .op = op_find("block.vec_move"), .span = span };
	struct ir_memref *from = memref_of(m, value);
	struct ir_node *var;

	if (!buffer)
		buffer = memref_new(m, from->space, value->type, span);
	if (!can_copy(m, value, from, buffer, span))
		return value;
	list_push(m->px, &use.args, value);
	var = ir_var(m->px, px_printf(m->px, "_m%u", m->next_move++), value->type, span);
	var = memref_put(m, var, buffer);
	list_push(m->px, m->out, ir_assign(m->px, var, op_call(&use), span));
	return var;
}

/* Whether another value that is still to be copied is in buffer @i. */
static bool is_source(const struct memrefs *m, const struct ir_list *values,
		      struct ir_memref **buffers, const bool *todo, uint32_t i)
{
	uint32_t j;

	for (j = 0; j < values->n; j++)
		if (j != i && todo[j] && memref_of(m, values->at[j]) == buffers[i])
			return true;
	return false;
}

/* Copies one value whose buffer nobody waits for; false when there is only a cycle left. */
static bool move_one(struct memrefs *m, struct ir_list *values, struct ir_memref **buffers,
		     bool *todo, struct span span)
{
	uint32_t i;

	for (i = 0; i < values->n; i++) {
		if (!todo[i] || is_source(m, values, buffers, todo, i))
			continue;
		values->at[i] = memref_copy(m, values->at[i], buffers[i], span);
		todo[i] = false;
		return true;
	}
	return false;
}

void memref_move_all(struct memrefs *m, struct ir_list *values, struct ir_memref **buffers,
		     struct span span)
{
	bool *todo = px_alloc(m->px, values->n + 1, sizeof(*todo));
	uint32_t i, left = 0;

	for (i = 0; i < values->n; i++) {
		todo[i] = buffers[i] && buffers[i]->space != MS_DDR &&
			  memref_of(m, values->at[i]) &&
			  memref_of(m, values->at[i]) != buffers[i];
		left += todo[i];
	}
	while (left && !m->px->n_errors) {
		if (move_one(m, values, buffers, todo, span)) {
			left--;
			continue;
		}
		for (i = 0; !todo[i]; i++)
			;
		values->at[i] = memref_copy(m, values->at[i], NULL, span);
	}
}

/* ---- Where values are made ---- */

/* The statement of @body that defines @var; NULL: another body does. */
static struct ir_node *definition_in(struct px *px, struct ir_node *body, const struct ir_node *var)
{
	struct ir_list stmts = ir_flat(px, body);
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		struct ir_node *s = stmts.at[i];

		if ((s->kind == IR_ASSIGN && IR_AS(s, assign)->var == var) ||
		    (s->kind == IR_IF && list_has(&IR_AS(s, if)->return_vars, var)) ||
		    (s->kind == IR_FOR && list_has(&IR_AS(s, for)->return_vars, var)) ||
		    (s->kind == IR_WHILE && list_has(&IR_AS(s, while)->return_vars, var)))
			return s;
	}
	return NULL;
}

/* Each argument of @value that is in @buffer may be overwritten by the result. */
static bool in_place(struct memrefs *m, const struct ir_node *var, const struct ir_call *call,
		     const struct ir_memref *buffer)
{
	const struct ir_type *type = type_with_memref(m->px, var->type, buffer);
	uint32_t i;

	for (i = 0; i < call->args.n; i++)
		if (call->args.at[i] && ir_is_var(call->args.at[i]) &&
		    memref_of(m, call->args.at[i]) == buffer &&
		    !machine_may_share(m->px, call, i, type))
			return false;
	return true;
}

struct ir_memref *memref_granted(struct memrefs *m, const struct ir_node *stmt,
				 const struct ir_node *var, const struct ir_node *value)
{
	const struct memref_wish *wish = var_map_get(&m->wishes, var);
	const struct ir_call *call;

	if (!wish || type_bytes(var->type) != wish->buffer->size ||
	    !memref_free(m, wish->buffer, life_end(&m->life, stmt), wish->yield))
		return NULL;
	if (!value)
		return wish->buffer;	/* of a branch, whose values have wishes of their own */
	call = value->kind == IR_CALL ? IR_AS(value, call) : NULL;
	if (!call || !call->op || memref_shares(call) >= 0 ||
	    memref_space(m, call) != wish->buffer->space || !in_place(m, var, call, wish->buffer))
		return NULL;
	return wish->buffer;
}

static uint32_t index_of(const struct ir_list *list, const struct ir_node *node)
{
	uint32_t i;

	for (i = 0; list->at[i] != node; i++)
		;
	return i;
}

/* Whose storage @value shares, which @def, no if, defines: what a loop starts with, or an argument. */
static struct ir_node *shared_source(struct ir_node *def, const struct ir_node *value)
{
	const struct ir_list *results, *args;
	const struct ir_call *call;

	if (def->kind == IR_ASSIGN) {
		call = IR_AS(def, assign)->value->kind == IR_CALL ?
		       IR_AS(IR_AS(def, assign)->value, call) : NULL;
		return call && memref_shares(call) >= 0 ? call->args.at[memref_shares(call)] : NULL;
	}
	results = def->kind == IR_FOR ? &IR_AS(def, for)->return_vars : &IR_AS(def, while)->return_vars;
	args = def->kind == IR_FOR ? &IR_AS(def, for)->iter_args : &IR_AS(def, while)->iter_args;
	return IR_AS(args->at[index_of(results, value)], var)->init;
}

static void wish_value(struct memrefs *m, struct ir_node *body, struct ir_node *value,
		       struct ir_memref *buffer, uint32_t yield);

/* What the branches yield unchanged is the merged value already. */
static void wish_branches(struct memrefs *m, struct ir_node *body, const struct ir_if *s,
			  uint32_t i, struct ir_memref *buffer, uint32_t yield)
{
	const struct ir_values *a = ir_last(s->then_body, IR_YIELD);
	const struct ir_values *b = s->else_body ? ir_last(s->else_body, IR_YIELD) : NULL;

	if (a)
		wish_value(m, body, a->values.at[i], buffer, yield);
	if (b)
		wish_value(m, body, b->values.at[i], buffer, yield);
}

/*
 * Asks for @value to be made in @buffer, where it is to be at place @yield, and for the values of
 * the same body whose storage it shares.
 */
static void wish_value(struct memrefs *m, struct ir_node *body, struct ir_node *value,
		       struct ir_memref *buffer, uint32_t yield)
{
	struct ir_node *def = definition_in(m->px, body, value);
	struct memref_wish *wish;

	if (!def || var_map_get(&m->wishes, value))
		return;
	wish = px_new(m->px, struct memref_wish);
	wish->buffer = buffer;
	wish->yield = yield;
	var_map_set(&m->wishes, value, wish);
	if (buffer->space == MS_VEC)	/* can be copied where it is needed */
		return;
	if (def->kind == IR_IF) {
		wish_branches(m, body, IR_AS(def, if), index_of(&IR_AS(def, if)->return_vars, value),
			      buffer, yield);
	} else if (shared_source(def, value)) {
		wish_value(m, body, shared_source(def, value), buffer, yield);
	}
}

/* Asks for the values that @body yields to be made in @buffers. */
static void wish(struct memrefs *m, struct ir_node *body, struct ir_memref **buffers)
{
	const struct ir_values *yield = body ? ir_last(body, IR_YIELD) : NULL;
	uint32_t i;

	for (i = 0; yield && i < yield->values.n; i++)
		if (buffers[i] && buffers[i]->space != MS_DDR)
			wish_value(m, body, yield->values.at[i], buffers[i],
				   life_end(&m->life, &yield->node));
}

/* ---- Loops ---- */

/* Whether a loop that starts at @at may change the buffer of @init. */
static bool may_take(struct memrefs *m, const struct ir_list *iter_args, uint32_t i, uint32_t at)
{
	struct ir_node *init = IR_AS(iter_args->at[i], var)->init;
	const struct life_var *v = life_find(&m->life, init);
	uint32_t j;

	if (memref_is_slot(m, memref_of(m, init)))
		return false;
	for (j = 0; j < i; j++)
		if (memref_of(m, IR_AS(iter_args->at[j], var)->init) == memref_of(m, init))
			return false;
	return v && memref_free(m, memref_of(m, init), at, UINT32_MAX);
}

static struct ir_memref **carried(struct memrefs *m, const struct ir_list *iter_args,
				  struct ir_list *new, uint32_t at)
{
	struct ir_memref **buffers = px_alloc(m->px, iter_args->n + 1, sizeof(*buffers));
	uint32_t i;

	*new = (struct ir_list){ 0 };
	for (i = 0; i < iter_args->n; i++) {
		struct ir_var *arg = ir_copy(m->px, iter_args->at[i]);
		struct ir_node *init = ir_subst(&m->now, arg->init);

		if (memref_needed(arg->node.type)) {
			if (arg->node.type->kind == TY_TILE && memref_of(m, init) &&
			    !may_take(m, iter_args, i, at))
				init = memref_copy(m, init, NULL, arg->node.span);
			buffers[i] = memref_of(m, init);
		}
		arg->init = init;
		list_push(m->px, new, &arg->node);
	}
	for (i = 0; i < iter_args->n; i++) {
		struct ir_var *arg = IR_AS(new->at[i], var), *typed;

		if (!buffers[i]) {
			var_map_set(&m->now, iter_args->at[i], arg);
			continue;
		}
		typed = IR_AS(memref_put(m, iter_args->at[i], buffers[i]), var);
		typed->init = arg->init;
		new->at[i] = &typed->node;
	}
	return buffers;
}

static struct ir_list results(struct memrefs *m, const struct ir_list *vars,
			      struct ir_memref **buffers)
{
	struct ir_list out = { 0 };
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		list_push(m->px, &out, buffers[i] ? memref_put(m, vars->at[i], buffers[i]) :
			  vars->at[i]);
	return out;
}

void memref_for(struct memrefs *m, struct ir_for *s)
{
	struct ir_for *loop = ir_copy(m->px, &s->node);
	struct ir_memref **buffers;

	loop->start = ir_subst(&m->now, s->start);
	loop->stop = ir_subst(&m->now, s->stop);
	loop->step = ir_subst(&m->now, s->step);
	buffers = carried(m, &s->iter_args, &loop->iter_args,
			  life_start(&m->life, &s->node));
	wish(m, s->body, buffers);
	loop->body = memref_body(m, s->body, buffers);
	loop->return_vars = results(m, &s->return_vars, buffers);
	list_push(m->px, m->out, &loop->node);
}

void memref_while(struct memrefs *m, struct ir_while *s)
{
	struct ir_while *loop = ir_copy(m->px, &s->node);
	struct ir_memref **buffers = carried(m, &s->iter_args, &loop->iter_args,
					     life_start(&m->life, &s->node));

	loop->condition = ir_subst(&m->now, s->condition);
	wish(m, s->body, buffers);
	loop->body = memref_body(m, s->body, buffers);
	loop->return_vars = results(m, &s->return_vars, buffers);
	list_push(m->px, m->out, &loop->node);
}

/* ---- Branches ---- */

/* The space that the merged value is in: that of the first branch's. */
static enum memory_space merged_space(struct memrefs *m, const struct ir_if *s, uint32_t i)
{
	const struct ir_values *yield = ir_last(s->then_body, IR_YIELD);
	struct ir_node *value = yield->values.at[i], *def;

	if (memref_of(m, value))
		return memref_of(m, value)->space;
	def = definition_in(m->px, s->then_body, value);
	if (def && def->kind == IR_ASSIGN && IR_AS(def, assign)->value->kind == IR_CALL) {
		struct ir_call *call = IR_AS(IR_AS(def, assign)->value, call);
		int shares = memref_shares(call);

		if (shares >= 0 && memref_of(m, call->args.at[shares]))
			return memref_of(m, call->args.at[shares])->space;
		return memref_space(m, call);
	}
	return MS_VEC;
}

/* The buffer of @value when result @i of an if may take it: nobody needs it behind the if. */
static struct ir_memref *taken(struct memrefs *m, const struct ir_if *s, uint32_t i,
			       struct ir_node *value, struct ir_memref **buffers)
{
	struct ir_memref *buffer = memref_of(m, value);
	uint32_t j;

	if (!buffer || buffer->space == MS_VEC || buffer->space == MS_DDR ||
	    memref_is_slot(m, buffer) ||
	    buffer->size != type_bytes(s->return_vars.at[i]->type) ||
	    !memref_free(m, buffer, life_end(&m->life, &s->node), UINT32_MAX))
		return NULL;
	for (j = 0; j < i; j++)
		if (buffers[j] == buffer)
			return NULL;
	return buffer;
}

static struct ir_memref *stays(struct memrefs *m, const struct ir_if *s, const struct ir_if *at,
			       uint32_t i, uint32_t j, struct ir_memref **buffers);

/* The same for the value from outside of @body that @value, which it yields, shares storage with. */
static struct ir_memref *outer_taken(struct memrefs *m, const struct ir_if *s, uint32_t i,
				     struct ir_node *body, struct ir_node *value,
				     struct ir_memref **buffers)
{
	struct ir_node *def;

	while (value && !memref_of(m, value)) {
		def = definition_in(m->px, body, value);
		if (!def)
			return NULL;
		if (def->kind == IR_IF)
			return stays(m, s, IR_AS(def, if), i,
				     index_of(&IR_AS(def, if)->return_vars, value), buffers);
		value = shared_source(def, value);
	}
	return value ? taken(m, s, i, value, buffers) : NULL;
}

/*
 * Tiles outside of Vec cannot be copied: one that a branch of @at, which is @s or inside of it,
 * hands on or adds to stays where it is, and the other branch makes its own there. NULL: there is
 * none for result @i of @s, which is result @j of @at.
 */
static struct ir_memref *stays(struct memrefs *m, const struct ir_if *s, const struct ir_if *at,
			       uint32_t i, uint32_t j, struct ir_memref **buffers)
{
	const struct ir_values *a = ir_last(at->then_body, IR_YIELD);
	const struct ir_values *b = at->else_body ? ir_last(at->else_body, IR_YIELD) : NULL;
	struct ir_memref *buffer;

	buffer = b ? outer_taken(m, s, i, at->else_body, b->values.at[j], buffers) : NULL;
	return buffer ? buffer : outer_taken(m, s, i, at->then_body, a->values.at[j], buffers);
}

static struct ir_memref **merged(struct memrefs *m, const struct ir_if *s)
{
	struct ir_memref **buffers = px_alloc(m->px, s->return_vars.n + 1, sizeof(*buffers));
	uint32_t i;

	for (i = 0; i < s->return_vars.n; i++) {
		struct ir_node *var = s->return_vars.at[i];

		if (var->type->kind != TY_TILE)
			continue;
		buffers[i] = memref_granted(m, &s->node, var, NULL);
		if (!buffers[i])
			buffers[i] = stays(m, s, s, i, i, buffers);
		if (!buffers[i])
			buffers[i] = memref_new(m, merged_space(m, s, i), var->type, var->span);
	}
	return buffers;
}

/* A merged tensor is the one that the first branch yields. */
static void merge_tensors(struct memrefs *m, const struct ir_if *s, const struct ir_if *new,
			  struct ir_memref **buffers)
{
	const struct ir_values *yield = ir_last(new->then_body, IR_YIELD);
	uint32_t i;

	for (i = 0; i < s->return_vars.n; i++)
		if (s->return_vars.at[i]->type->kind == TY_TENSOR)
			buffers[i] = memref_of(m, yield->values.at[i]);
}

static struct ir_node *branch(struct memrefs *m, const struct ir_if *s, struct ir_node *body,
			      struct ir_memref **buffers)
{
	struct ir_list stmts = ir_flat(m->px, body);
	struct memref_branch here = {
		.outer = m->branch, .if_end = life_end(&m->life, &s->node),
		.end = stmts.n ? life_end(&m->life, stmts.at[stmts.n - 1]) : 0,
	};
	struct ir_node *out;

	wish(m, body, buffers);
	m->branch = &here;
	out = memref_body(m, body, buffers);
	m->branch = here.outer;
	return out;
}

void memref_if(struct memrefs *m, struct ir_if *s)
{
	struct ir_if *new = ir_copy(m->px, &s->node);
	struct ir_memref **buffers = merged(m, s);

	new->condition = ir_subst(&m->now, s->condition);
	new->then_body = branch(m, s, s->then_body, buffers);
	if (s->else_body)
		new->else_body = branch(m, s, s->else_body, buffers);
	merge_tensors(m, s, new, buffers);
	new->return_vars = results(m, &s->return_vars, buffers);
	list_push(m->px, m->out, &new->node);
}
