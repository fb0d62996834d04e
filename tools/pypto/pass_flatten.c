/* SPDX-License-Identifier: MIT */
/* FlattenCallExpr, section 7.3: a call is the whole right side of an assignment, or a statement. */
#include "pass.h"
#include "walk.h"

struct flatten {
	struct px *px;
	struct ir_list *out;	/* where the assignments go */
	unsigned int next;
};

static struct ir_node *flat(struct flatten *f, struct ir_node *e);
static struct ir_node *flat_body(struct flatten *f, struct ir_node *body);

static struct ir_list flat_list(struct flatten *f, const struct ir_list *list)
{
	struct ir_list out = { 0 };
	bool changed = false;
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		list_push(f->px, &out, list->at[i] ? flat(f, list->at[i]) : NULL);
		changed |= out.at[i] != list->at[i];
	}
	return changed ? out : *list;
}

/* The expression with all calls and elements of tuples below its top moved out. */
static struct ir_node *flat_inside(struct flatten *f, struct ir_node *e)
{
	struct ir_node *copy = NULL;
	const struct ir_field *field;

	if (ir_is_var(e))
		return e;
	for (field = ir_kind_info[e->kind].fields; field->name; field++) {
		void *at = ir_field_at(e, field);

		if (field->kind == FK_EXPR && *(struct ir_node **)at) {
			struct ir_node *new = flat(f, *(struct ir_node **)at);

			if (new == *(struct ir_node **)at)
				continue;
			copy = copy ? copy : ir_copy(f->px, e);
			*(struct ir_node **)ir_field_at(copy, field) = new;
		} else if (field->kind == FK_EXPRS) {
			struct ir_list new = flat_list(f, at);

			if (new.at == ((struct ir_list *)at)->at)
				continue;
			copy = copy ? copy : ir_copy(f->px, e);
			*(struct ir_list *)ir_field_at(copy, field) = new;
		}
	}
	return copy ? copy : e;
}

static struct ir_node *flat(struct flatten *f, struct ir_node *e)
{
	struct ir_node *inside = flat_inside(f, e), *var;

	if (e->kind != IR_CALL && e->kind != IR_GET_ITEM)
		return inside;
	var = ir_var(f->px, px_printf(f->px, "_t%u", f->next++), e->type, e->span);
	list_push(f->px, f->out, ir_assign(f->px, var, inside, e->span));
	return var;
}

static struct ir_node *flat_for(struct flatten *f, struct ir_for *old)
{
	struct ir_for *loop = ir_copy(f->px, &old->node);
	struct var_map map = { .px = f->px };
	uint32_t i;

	loop->start = flat(f, old->start);
	loop->stop = flat(f, old->stop);
	loop->step = flat(f, old->step);
	loop->iter_args = (struct ir_list){ 0 };
	for (i = 0; i < old->iter_args.n; i++) {
		struct ir_var *arg = IR_AS(old->iter_args.at[i], var);
		struct ir_node *init = flat(f, arg->init);

		if (init != arg->init) {
			arg = ir_copy(f->px, &arg->node);
			arg->init = init;
			var_map_set(&map, old->iter_args.at[i], arg);
		}
		list_push(f->px, &loop->iter_args, &arg->node);
	}
	loop->body = flat_body(f, map.n ? ir_clone_stmt(&map, old->body) : old->body);
	return &loop->node;
}

static struct ir_node *flat_while(struct flatten *f, struct ir_while *old)
{
	struct ir_while *loop = ir_copy(f->px, &old->node);
	struct ir_list before = { 0 }, *out = f->out;

	f->out = &before;
	flat(f, old->condition);
	f->out = out;
	if (before.n)
		diag_hint(f->px, diag_add(f->px, DIAG_COMPILE, old->condition->span,
					  "The condition of a while loop cannot call an operator"),
			  "Compute it before the loop and again at the end of the body");
	loop->body = flat_body(f, old->body);
	return &loop->node;
}

static struct ir_node *flat_if(struct flatten *f, struct ir_if *old)
{
	struct ir_if *s = ir_copy(f->px, &old->node);

	s->condition = flat(f, old->condition);
	s->then_body = flat_body(f, old->then_body);
	if (old->else_body)
		s->else_body = flat_body(f, old->else_body);
	return &s->node;
}

/* An operator whose value nobody takes: tiles and scalars have a name wherever they are made. */
static bool has_value(const struct ir_node *e)
{
	return e->kind == IR_CALL && IR_AS(e, call)->op &&
	       (e->type->kind == TY_TILE || e->type->kind == TY_SCALAR);
}

static struct ir_node *flat_eval(struct flatten *f, const struct ir_eval *old)
{
	struct ir_node *e = flat_inside(f, old->expr);
	struct ir_eval *eval;

	if (has_value(e))
		return ir_assign(f->px, ir_var(f->px, px_printf(f->px, "_t%u", f->next++), e->type,
					       e->span), e, old->node.span);
	eval = ir_copy(f->px, &old->node);
	eval->expr = e;
	return &eval->node;
}

static void flat_stmt(struct flatten *f, struct ir_node *s)
{
	struct ir_list list;
	struct ir_node *out;
	uint32_t i;

	switch (s->kind) {
	case IR_ASSIGN:
		out = flat_inside(f, IR_AS(s, assign)->value);
		out = ir_assign(f->px, IR_AS(s, assign)->var, out, s->span);
		break;
	case IR_FOR:
		out = flat_for(f, IR_AS(s, for));
		break;
	case IR_WHILE:
		out = flat_while(f, IR_AS(s, while));
		break;
	case IR_IF:
		out = flat_if(f, IR_AS(s, if));
		break;
	case IR_SCOPE:
		out = ir_copy(f->px, s);
		IR_AS(out, scope)->body = flat_body(f, IR_AS(s, scope)->body);
		break;
	case IR_YIELD:
	case IR_RETURN:
		list = flat_list(f, &IR_AS(s, values)->values);
		out = ir_values(f->px, s->kind, list, s->span);
		break;
	case IR_EVAL:
		out = flat_eval(f, IR_AS(s, eval));
		break;
	default:
		for (i = 0; i < IR_AS(s, seq)->stmts.n; i++)
			flat_stmt(f, IR_AS(s, seq)->stmts.at[i]);
		return;
	}
	list_push(f->px, f->out, out);
}

static struct ir_node *flat_body(struct flatten *f, struct ir_node *body)
{
	struct ir_list stmts = { 0 }, *out = f->out;

	f->out = &stmts;
	flat_stmt(f, body);
	f->out = out;
	return ir_body(f->px, stmts, body->span);
}

static struct ir_function *flat_function(struct px *px, struct ir_function *old, void *data)
{
	struct flatten f = { .px = px };
	struct ir_function *copy = ir_copy(px, &old->node);

	(void)data;
	copy->body = flat_body(&f, old->body);
	return copy;
}

struct ir_program *pass_flatten_calls(struct px *px, struct ir_program *program,
				      const struct pass_options *options)
{
	(void)options;
	return pass_each(px, program, flat_function, NULL);
}
