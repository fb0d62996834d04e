/* SPDX-License-Identifier: MIT */
/* Loops and branches: section 3.6. */
#include <errno.h>
#include <string.h>

#include "front.h"

static int syntax(struct front *f, struct span span, const char *message, const char *hint)
{
	struct diag *diag = diag_add(f->px, DIAG_SYNTAX, span, "%s", message);

	if (hint)
		diag_hint(f->px, diag, "%s", hint);
	return -EINVAL;
}

/* ---- Header of a for ---- */

struct loop_head {
	const struct py_node *node, *call;
	const struct py_node *var;	/* NULL: pl.while_ */
	const struct py_node *carried;	/* tuple of names, or NULL */
	const struct py_node *inits;
	int kind;			/* enum for_kind, -1: while_ */
	struct ir_node *bound[3];
	int64_t chunk;
	bool policy;			/* chunk_policy is written out */
};

static int loop_kind(struct front *f, struct loop_head *h)
{
	static const struct { const char *name; int kind; } kinds[] = {
		{ "range", FOR_SEQUENTIAL }, { "parallel", FOR_PARALLEL }, { "unroll", FOR_UNROLL },
		{ "while_", -1 }
	};
	size_t i;

	h->call = h->node->y;
	for (i = 0; h->call->kind == PY_CALL && i < 4; i++) {
		if (!is_pl(f, h->call->x, kinds[i].name))
			continue;
		h->kind = kinds[i].kind;
		return 0;
	}
	return syntax(f, h->node->y->span,
		      "For loop must use pl.range(), pl.parallel(), pl.unroll(), or pl.while_()",
		      "for i in pl.range(n):");
}

static bool same_name(const struct py_node *a, const struct py_node *b)
{
	return a->kind == PY_NAME && b->kind == PY_NAME && !strcmp(a->name, b->name);
}

static int loop_target(struct front *f, struct loop_head *h)
{
	const struct py_node *t = h->node->x;

	if (h->kind < 0) {
		h->carried = t;
		if (t->kind == PY_TUPLE)
			return 0;
		return syntax(f, t->span, "For loop target must be a tuple when init_values is provided",
			      "for (x,) in pl.while_(init_values=(x0,)):");
	}
	if (t->kind == PY_NAME) {
		h->var = t;
		return 0;
	}
	if (t->kind == PY_TUPLE && t->args.n == 2 && t->args.at[0]->kind == PY_NAME &&
	    t->args.at[1]->kind == PY_TUPLE) {
		h->var = t->args.at[0];
		h->carried = t->args.at[1];
		return 0;
	}
	return syntax(f, t->span,
		      "For loop target must be a simple name or: (loop_var, (iter_args...))", NULL);
}

/* Two of the names are the same one. */
static int repeated_name(struct front *f, const struct py_node *var, const struct py_list *names)
{
	uint32_t i, j;

	for (i = 0; i < names->n; i++) {
		const struct py_node *name = names->at[i];

		for (j = 0; j < i && !same_name(names->at[j], name); j++)
			;
		if (j == i && !(var && same_name(var, name)))
			continue;
		diag_hint(f->px, diag_add(f->px, DIAG_SYNTAX, name->span,
					  "Name '%s' stands twice among those of the loop",
					  name->name),
			  "Each carried value needs a name of its own");
		return -EINVAL;
	}
	return 0;
}

static int loop_policy(struct front *f, struct loop_head *h, const struct py_node *kw)
{
	struct py_value value = { 0 };
	const char *why = NULL;

	h->policy = true;
	if (!f->scope->eval(f->scope, f->px, kw->x, &value, &why) && value.kind == VAL_STR &&
	    !strcmp(value.s, "leading_full"))
		return 0;
	diag_hint(f->px, value.kind == VAL_STR ?
		  diag_add(f->px, DIAG_SYNTAX, kw->x->span, "Unknown chunk_policy: '%s'", value.s) :
		  diag_add(f->px, DIAG_SYNTAX, kw->x->span, "chunk_policy must be a string"),
		  "There is one policy: chunk_policy=\"leading_full\"");
	return -EINVAL;
}

static int loop_chunk(struct front *f, struct loop_head *h, const struct py_node *kw)
{
	struct ir_node *value = front_value(f, kw->x);

	if (!value)
		return -EINVAL;
	if (value->kind != IR_CONST_INT || IR_AS(value, const)->value < 1)
		return syntax(f, kw->span, "chunk must be a positive integer constant", NULL);
	h->chunk = IR_AS(value, const)->value;
	return 0;
}

static int loop_keywords(struct front *f, struct loop_head *h)
{
	uint32_t i;

	for (i = 0; i < h->call->keywords.n; i++) {
		const struct py_node *kw = h->call->keywords.at[i];

		if (!strcmp(kw->name, "init_values")) {
			h->inits = kw->x;
		} else if (!strcmp(kw->name, "chunk") && h->kind >= 0) {
			if (loop_chunk(f, h, kw))
				return -EINVAL;
		} else if (!strcmp(kw->name, "chunk_policy") && h->kind >= 0) {
			if (loop_policy(f, h, kw))
				return -EINVAL;
		} else {
			diag_add(f->px, DIAG_SYNTAX, kw->span,
				 "Unknown keyword argument '%s' in %s()", kw->name,
				 h->call->x->name);
			return -EINVAL;
		}
	}
	if (h->policy && !h->chunk)
		return syntax(f, h->call->span, "chunk_policy needs chunk",
			      "chunk=4, chunk_policy=\"leading_full\"");
	/* with the policy written out it is the text of a loop after ConvertToSSA */
	if (h->chunk && h->inits && !h->policy)
		return syntax(f, h->call->span, "chunk cannot be combined with init_values", NULL);
	if (h->kind < 0 && !h->inits)
		return syntax(f, h->call->span, "pl.while_() requires init_values", NULL);
	if (h->inits && !h->carried)
		return syntax(f, h->node->x->span,
			      "For loop target must be a tuple when init_values is provided",
			      "for i, (acc,) in pl.range(n, init_values=(acc0,)):");
	if (h->carried && repeated_name(f, h->var, &h->carried->args))
		return -EINVAL;
	if (h->inits && h->inits->kind != PY_TUPLE && h->inits->kind != PY_LIST)
		return syntax(f, h->inits->span, "init_values must be a tuple of values", NULL);
	if (h->kind == FOR_UNROLL && h->inits && !h->chunk)
		return syntax(f, h->call->span, "pl.unroll() takes no init_values", NULL);
	return 0;
}

static int loop_bounds(struct front *f, struct loop_head *h)
{
	const struct py_list *args = &h->call->args;
	struct ir_node *given[3] = { NULL };
	int64_t trips;
	uint32_t i;

	if (!args->n || args->n > 3) {
		diag_add(f->px, DIAG_SYNTAX, h->call->span,
			 args->n ? "pl.%s() takes at most 3 arguments (start, stop, step)" :
			 "pl.%s() requires at least 1 argument (stop)", h->call->x->name);
		return -EINVAL;
	}
	for (i = 0; i < args->n; i++) {
		given[i] = front_value(f, args->at[i]);
		if (!given[i])
			return -EINVAL;
		if (given[i]->type->kind != TY_SCALAR || !dtype_is_int(given[i]->type->dtype)) {
			diag_add(f->px, DIAG_TYPE, args->at[i]->span,
				 "Bounds of pl.%s() must be integers, got %s", h->call->x->name,
				 type_text(f->px, given[i]->type));
			return -EINVAL;
		}
	}
	h->bound[0] = args->n > 1 ? given[0] : ir_int(f->px, 0, DT_INDEX, h->call->span);
	h->bound[1] = args->n > 1 ? given[1] : given[0];
	h->bound[2] = args->n > 2 ? given[2] : ir_int(f->px, 1, DT_INDEX, h->call->span);
	if (h->bound[2]->kind == IR_CONST_INT && !IR_AS(h->bound[2], const)->value)
		return syntax(f, args->at[2]->span, "The step of a loop must not be zero", NULL);
	if (ir_trips(h->bound[0], h->bound[1], h->bound[2], &trips) == -ERANGE)
		return syntax(f, h->call->span,
			      "The bounds of a loop must not be more than 2^63 - 1 apart", NULL);
	for (i = 0; h->kind == FOR_UNROLL && i < 3; i++)
		if (h->bound[i]->kind != IR_CONST_INT)
			return syntax(f, h->call->span, "pl.unroll() requires constant bounds", NULL);
	return 0;
}

/* ---- Carried values ---- */

/* A name means the loop's own variable inside, and is no longer the one it was outside. */
static void bind_own(struct front *f, const struct py_node *name, struct ir_node *var)
{
	struct ir_node *root = NULL;
	struct binding *b;

	if (var->kind == IR_ITER_ARG)	/* what it is on the first trip */
		root = bind_root(f, IR_AS(var, var)->init);
	bind_set(f, name->name, var, name->span);
	b = bind_find(f, name->name);
	b->variables = (struct ir_list){ 0 };
	bind_variable(f, b, var, 0);
	if (var->kind == IR_ITER_ARG)
		b->root = root;
}

/* A result is a variable like any other afterwards: it may be assigned again. */
static void bind_result(struct front *f, const char *name, struct ir_node *var, struct span span)
{
	bind_set(f, name, var, span);
	bind_variable(f, bind_find(f, name), var, 0);
}

static int make_iter_args(struct front *f, const struct loop_head *h, struct ir_list *iter_args)
{
	struct ir_node *value;
	struct ir_var *arg;
	uint32_t i;

	if (!h->carried)
		return 0;
	if (!h->inits)
		return syntax(f, h->node->x->span, "Carried values require init_values", NULL);
	if (h->carried->args.n != h->inits->args.n) {
		diag_add(f->px, DIAG_SYNTAX, h->carried->span,
			 "Mismatch: %u iter_args but %u init_values", h->carried->args.n,
			 h->inits->args.n);
		return -EINVAL;
	}
	for (i = 0; i < h->inits->args.n; i++) {
		value = front_value(f, h->inits->args.at[i]);
		if (!value)
			return -EINVAL;
		if (h->carried->args.at[i]->kind != PY_NAME)
			return syntax(f, h->carried->args.at[i]->span,
				      "A carried value must be a simple name", NULL);
		arg = ir_new(f->px, IR_ITER_ARG, h->carried->args.at[i]->span, value->type);
		arg->name = bind_find(f, h->carried->args.at[i]->name)->name;
		arg->init = value;
		list_push(f->px, iter_args, &arg->node);
	}
	return 0;
}

static int check_yield(struct front *f, struct yield_site *site, const struct ir_list *want,
		       struct span span)
{
	uint32_t i;

	if (site->values.n != want->n) {
		diag_add(f->px, DIAG_SYNTAX, site->stmt ? site->stmt->span : span,
			 "Mismatch: %u iter_args but %u yielded values", want->n, site->values.n);
		return -EINVAL;
	}
	for (i = 0; i < want->n; i++) {
		const struct ir_type *type = want->at[i]->type;

		if (type->kind == TY_SCALAR && site->values.at[i]->type->kind == TY_SCALAR) {
			site->values.at[i] = front_convert(f, site->values.at[i], type,
							    site->stmt->span);
			if (!site->values.at[i])
				return -EINVAL;
		} else if (!type_compatible(site->values.at[i]->type, type) ||
			   !shape_equal(&site->values.at[i]->type->view.valid, &type->view.valid)) {
			diag_add(f->px, DIAG_TYPE, site->stmt->span,
				 "Carried value '%s' is %s, but %s is yielded",
				 IR_AS(want->at[i], var)->name, type_text(f->px, type),
				 type_text(f->px, site->values.at[i]->type));
			return -EINVAL;
		}
	}
	return 0;
}

/* After the loop, the names left of the yield and those of the carried values mean the results. */
static struct ir_list bind_results(struct front *f, const struct loop_head *h,
				   const struct yield_site *site, const struct ir_list *iter_args)
{
	const struct py_node *t = site->targets;
	struct ir_list results = { 0 };
	uint32_t i;

	for (i = 0; i < iter_args->n; i++) {
		const struct py_node *carried = h->carried->args.at[i];
		const struct py_node *name = !t ? NULL : t->kind == PY_TUPLE ? t->args.at[i] : t;
		const char *text = name ? bind_find(f, name->name)->name :
				   px_printf(f->px, "%s_out", IR_AS(iter_args->at[i], var)->name);
		struct ir_node *var = ir_var(f->px, text, iter_args->at[i]->type,
					     name ? name->span : carried->span);

		list_push(f->px, &results, var);
		bind_set(f, carried->name, var, carried->span);
		bind_result(f, name ? name->name : px_printf(f->px, "%s_out", carried->name), var,
			    name ? name->span : carried->span);
	}
	return results;
}

static void save_variables(struct front *f, const struct loop_head *h, struct ir_list *saved)
{
	uint32_t i;

	for (i = 0; h->carried && i < h->carried->args.n; i++)
		saved[i] = bind_find(f, h->carried->args.at[i]->name)->variables;
	if (h->var)
		saved[i] = bind_find(f, h->var->name)->variables;
}

static void restore_variables(struct front *f, const struct loop_head *h,
			      const struct ir_list *saved)
{
	uint32_t i;

	for (i = 0; h->carried && i < h->carried->args.n; i++) {
		struct binding *b = bind_find(f, h->carried->args.at[i]->name);

		b->variables = list_copy(f->px, &saved[i]);
		if (b->state == BIND_OK)
			bind_variable(f, b, b->node, 0);
	}
	if (h->var)
		bind_find(f, h->var->name)->variables = saved[i];
}

/* Computed before every round: what needs statements of its own cannot stand there. */
static struct ir_node *loop_condition(struct front *f, const struct py_node *node)
{
	uint32_t before = f->stmts->n;
	unsigned int inlined = f->n_inlined;
	struct ir_node *condition = front_condition(f, node);

	if (!condition || f->stmts->n == before)
		return condition;
	diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, node->span,
				  "The condition of a while loop cannot call an %s",
				  f->n_inlined == inlined ? "operator" : "inline function"),
		  "Compute it before the loop and again at the end of the body");
	return NULL;
}

static int while_condition(struct front *f, const struct loop_head *h, struct ir_node **condition,
			   struct py_list *rest)
{
	const struct py_list *body = &h->node->body;
	const struct py_node *first = body->n ? body->at[0] : NULL;

	if (!first || first->kind != PY_EXPR || first->x->kind != PY_CALL ||
	    !is_pl(f, first->x->x, "cond") || first->x->args.n != 1)
		return syntax(f, first ? first->span : h->node->span,
			      "First statement in pl.while_() body must be pl.cond(condition)", NULL);
	*rest = (struct py_list){ body->at + 1, body->n - 1 };
	*condition = loop_condition(f, first->x->args.at[0]);
	return *condition ? 0 : -EINVAL;
}

static struct ir_node *loop_node(struct front *f, const struct loop_head *h, struct ir_node *var,
				 struct ir_node *condition, struct ir_list iter_args,
				 struct ir_node *body, struct ir_list results)
{
	struct ir_while *w;
	struct ir_for *loop;

	if (h->kind < 0) {
		w = ir_new(f->px, IR_WHILE, h->node->span, NULL);
		w->condition = condition;
		w->iter_args = iter_args;
		w->body = body;
		w->return_vars = results;
		return &w->node;
	}
	loop = ir_new(f->px, IR_FOR, h->node->span, NULL);
	loop->loop_var = var;
	loop->start = h->bound[0];
	loop->stop = h->bound[1];
	loop->step = h->bound[2];
	loop->iter_args = iter_args;
	loop->body = body;
	loop->return_vars = results;
	loop->for_kind = h->kind;
	loop->chunk = h->chunk;
	return &loop->node;
}

static int loop_body(struct front *f, struct loop_head *h, const struct ir_list *iter_args)
{
	struct loop_frame frame = { .outer = f->loop };
	struct yield_site site = { 0 };
	struct ir_node *condition = NULL, *var = NULL, *body;
	struct py_list stmts = h->node->body;
	unsigned int errors = f->px->n_errors;
	size_t mark;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < iter_args->n; i++)
		bind_own(f, h->carried->args.at[i], iter_args->at[i]);
	if (h->var) {
		var = ir_var(f->px, bind_find(f, h->var->name)->name,
			     type_scalar(f->px, DT_INDEX), h->var->span);
		bind_own(f, h->var, var);
		if (h->kind == FOR_UNROLL)
			front_changes(f, var);
	}
	frame.started_at = f->clock + 1;
	f->loop = &frame;
	mark = bind_mark(f);
	front_extents_loop(f, &stmts);
	if (h->kind < 0)
		rc = while_condition(f, h, &condition, &stmts);
	body = front_block(f, &stmts, h->node->span, &site);
	bind_end_body(f, mark);
	bind_end_loop(f, mark, h->node->span);
	f->loop = frame.outer;
	if (!rc && f->px->n_errors == errors)
		rc = check_yield(f, &site, iter_args, h->node->span);
	if (rc || f->px->n_errors != errors) {
		for (i = 0; i < iter_args->n; i++)
			bind_break(f, h->carried->args.at[i]->name, h->node->span);
		for (i = 0; site.targets && site.targets->kind == PY_TUPLE &&
		     i < site.targets->args.n; i++)
			bind_break(f, site.targets->args.at[i]->name, h->node->span);
		if (site.targets && site.targets->kind == PY_NAME)
			bind_break(f, site.targets->name, h->node->span);
		return -EINVAL;
	}
	front_emit(f, loop_node(f, h, var, condition, *iter_args, body,
				bind_results(f, h, &site, iter_args)));
	return 0;
}

int front_for(struct front *f, const struct py_node *node)
{
	struct loop_head h = { .node = node };
	struct ir_list iter_args = { 0 }, *saved;
	struct binding before = { 0 };
	int rc;

	if (node->orelse.n)
		return syntax(f, node->span, "A loop cannot have an else branch", NULL);
	if (loop_kind(f, &h) || loop_target(f, &h) || loop_keywords(f, &h) ||
	    (h.kind >= 0 && loop_bounds(f, &h)) || make_iter_args(f, &h, &iter_args))
		return -EINVAL;
	saved = px_alloc(f->px, iter_args.n + 1, sizeof(*saved));
	save_variables(f, &h, saved);
	if (h.var)
		before = *bind_find(f, h.var->name);
	rc = loop_body(f, &h, &iter_args);
	restore_variables(f, &h, saved);
	if (h.var && before.state == BIND_OK)
		bind_counted(f, h.var->name, h.var->span);
	else if (h.var)
		bind_forget(f, h.var->name);
	return rc;
}

/* while cond: names that the body assigns are carried by ConvertToSSA. */
int front_while(struct front *f, const struct py_node *node)
{
	struct loop_frame frame = { .outer = f->loop, .started_at = f->clock + 1 };
	struct ir_while *loop = ir_new(f->px, IR_WHILE, node->span, NULL);
	unsigned int errors = f->px->n_errors;
	size_t mark = bind_mark(f);

	if (node->orelse.n)
		return syntax(f, node->span, "A loop cannot have an else branch", NULL);
	f->loop = &frame;
	front_extents_loop(f, &node->body);
	loop->condition = loop_condition(f, node->x);
	loop->body = front_block(f, &node->body, node->span, NULL);
	bind_end_body(f, mark);
	bind_end_loop(f, mark, node->span);
	f->loop = frame.outer;
	if (f->px->n_errors != errors)
		return -EINVAL;
	front_emit(f, &loop->node);
	return 0;
}

/* ---- if ---- */

static int if_results(struct front *f, const struct py_node *node, struct ir_if *s,
		      const struct yield_site *then_site, const struct yield_site *else_site)
{
	const struct py_node *t = then_site->targets;
	uint32_t i;

	if (then_site->values.n != else_site->values.n) {
		diag_add(f->px, DIAG_SYNTAX, node->span,
			 "Mismatch: the branches yield %u and %u values", then_site->values.n,
			 else_site->values.n);
		return -EINVAL;
	}
	for (i = 0; i < then_site->values.n; i++) {
		const struct ir_type *a = then_site->values.at[i]->type;
		const struct ir_type *b = else_site->values.at[i]->type;
		const struct py_node *name = !t ? NULL : t->kind == PY_TUPLE ? t->args.at[i] : t;
		struct ir_node *var;

		if (!type_compatible(a, b) || !shape_equal(&a->view.valid, &b->view.valid)) {
			diag_add(f->px, DIAG_TYPE, else_site->stmt->span,
				 "The branches yield %s and %s", type_text(f->px, a),
				 type_text(f->px, b));
			return -EINVAL;
		}
		var = ir_var(f->px, name ? bind_find(f, name->name)->name :
			     px_printf(f->px, "_if_%u", i), a, name ? name->span : node->span);
		list_push(f->px, &s->return_vars, var);
		if (name)
			bind_result(f, name->name, var, name->span);
	}
	return 0;
}

int front_if(struct front *f, const struct py_node *node)
{
	struct yield_site then_site = { 0 }, else_site = { 0 };
	struct ir_if *s = ir_new(f->px, IR_IF, node->span, NULL);
	unsigned int errors = f->px->n_errors;
	struct change *then_end;
	size_t mark, n;

	s->condition = front_condition(f, node->x);
	mark = bind_mark(f);
	s->then_body = front_block(f, &node->body, node->span, &then_site);
	bind_end_body(f, mark);
	then_end = bind_changes(f, mark, &n);
	bind_rollback(f, mark);
	if (node->orelse.n)
		s->else_body = front_block(f, &node->orelse, node->span, &else_site);
	bind_end_body(f, mark);
	bind_join(f, then_end, n, mark);
	if (f->px->n_errors != errors)
		return -EINVAL;
	if (s->else_body && s->else_body->kind == IR_SEQ && !IR_AS(s->else_body, seq)->stmts.n)
		s->else_body = NULL;
	if (if_results(f, node, s, &then_site, &else_site))
		return -EINVAL;
	front_emit(f, &s->node);
	return 0;
}
