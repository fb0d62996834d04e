/* SPDX-License-Identifier: MIT */
/* Statements, functions and programs as text. */
#include <string.h>

#include "print.h"
#include "walk.h"

static void print_stmt(struct printer *p, const struct ir_node *s, const struct ir_list *results);

static void start_line(struct printer *p)
{
	unsigned int i;

	for (i = 0; i < p->indent; i++)
		text_put(&p->out, "    ");
}

/* @results: what the yield at the end of this body defines */
static void print_body(struct printer *p, const struct ir_node *body, const struct ir_list *results)
{
	size_t before = p->out.n;

	p->indent++;
	if (body)
		print_stmt(p, body, results);
	if (p->out.n == before) {
		start_line(p);
		text_put(&p->out, "pass\n");
	}
	p->indent--;
}

/* It has no annotation. */
static bool is_nested_tuple(const struct ir_type *type)
{
	uint32_t i;

	for (i = 0; i < type->n_items; i++)
		if (type->items[i]->kind == TY_TUPLE)
			return true;
	return false;
}

static void print_typed_name(struct printer *p, const struct ir_node *var)
{
	print_expr(p, var);
	if (is_nested_tuple(var->type))
		return;
	text_put(&p->out, ": ");
	print_type(p, var->type);
}

static void print_assign(struct printer *p, const struct ir_assign *s)
{
	start_line(p);
	print_typed_name(p, s->var);
	text_put(&p->out, " = ");
	print_expr(p, s->value);
	text_put(&p->out, "\n");
}

static void print_yield(struct printer *p, const struct ir_values *s, const struct ir_list *results)
{
	uint32_t n = results ? results->n : 0, i;

	start_line(p);
	if (n == 1) {
		print_typed_name(p, results->at[0]);
	} else {
		for (i = 0; i < n; i++) {
			text_put(&p->out, i ? ", " : "");
			print_expr(p, results->at[i]);
		}
	}
	text_printf(&p->out, "%s%s.yield_(", n ? " = " : "", p->prefix);
	print_list(p, &s->values);
	text_put(&p->out, ")\n");
}

static void print_tuple_of(struct printer *p, const struct ir_list *list, bool inits)
{
	uint32_t i;

	text_put(&p->out, "(");
	for (i = 0; i < list->n; i++) {
		text_put(&p->out, i ? ", " : "");
		print_expr(p, inits ? IR_AS(list->at[i], var)->init : list->at[i]);
	}
	text_put(&p->out, list->n == 1 ? ",)" : ")");
}

static void print_for(struct printer *p, const struct ir_for *s)
{
	static const char *const names[] = { "range", "parallel", "unroll" };

	start_line(p);
	text_put(&p->out, "for ");
	print_expr(p, s->loop_var);
	if (s->iter_args.n) {
		text_put(&p->out, ", ");
		print_tuple_of(p, &s->iter_args, false);
	}
	text_printf(&p->out, " in %s.%s(", p->prefix, names[s->for_kind]);
	print_expr(p, s->start);
	text_put(&p->out, ", ");
	print_expr(p, s->stop);
	text_put(&p->out, ", ");
	print_expr(p, s->step);
	if (s->iter_args.n) {
		text_put(&p->out, ", init_values=");
		print_tuple_of(p, &s->iter_args, true);
	}
	if (s->chunk)
		text_printf(&p->out, ", chunk=%lld%s", (long long)s->chunk,
			    s->iter_args.n ? ", chunk_policy='leading_full'" : "");
	text_put(&p->out, "):\n");
	print_body(p, s->body, &s->return_vars);
}

static void print_while(struct printer *p, const struct ir_while *s)
{
	start_line(p);
	if (!s->iter_args.n) {
		text_put(&p->out, "while ");
		print_expr(p, s->condition);
		text_put(&p->out, ":\n");
		print_body(p, s->body, NULL);
		return;
	}
	text_put(&p->out, "for ");
	print_tuple_of(p, &s->iter_args, false);
	text_printf(&p->out, " in %s.while_(init_values=", p->prefix);
	print_tuple_of(p, &s->iter_args, true);
	text_put(&p->out, "):\n");
	p->indent++;
	start_line(p);
	p->indent--;
	text_printf(&p->out, "%s.cond(", p->prefix);
	print_expr(p, s->condition);
	text_put(&p->out, ")\n");
	print_body(p, s->body, &s->return_vars);
}

static void print_if(struct printer *p, const struct ir_if *s)
{
	start_line(p);
	text_put(&p->out, "if ");
	print_expr(p, s->condition);
	text_put(&p->out, ":\n");
	print_body(p, s->then_body, &s->return_vars);
	if (!s->else_body)
		return;
	start_line(p);
	text_put(&p->out, "else:\n");
	print_body(p, s->else_body, &s->return_vars);
}

static void print_return(struct printer *p, const struct ir_values *s)
{
	start_line(p);
	text_put(&p->out, s->values.n ? "return " : "return");
	print_list(p, &s->values);
	text_put(&p->out, "\n");
}

static void print_seq(struct printer *p, const struct ir_list *stmts, const struct ir_list *results)
{
	uint32_t i;

	for (i = 0; i < stmts->n; i++)
		print_stmt(p, stmts->at[i], results);
}

static void print_stmt(struct printer *p, const struct ir_node *s, const struct ir_list *results)
{
	switch (s->kind) {
	case IR_ASSIGN:
		print_assign(p, IR_AS(s, assign));
		break;
	case IR_IF:
		print_if(p, IR_AS(s, if));
		break;
	case IR_FOR:
		print_for(p, IR_AS(s, for));
		break;
	case IR_WHILE:
		print_while(p, IR_AS(s, while));
		break;
	case IR_SCOPE:
		start_line(p);
		text_printf(&p->out, "with %s.incore():\n", p->prefix);
		print_body(p, IR_AS(s, scope)->body, NULL);
		break;
	case IR_YIELD:
		print_yield(p, IR_AS(s, values), results);
		break;
	case IR_RETURN:
		print_return(p, IR_AS(s, values));
		break;
	case IR_EVAL:
		start_line(p);
		print_expr(p, IR_AS(s, eval)->expr);
		text_put(&p->out, "\n");
		break;
	default:
		print_seq(p, &IR_AS(s, seq)->stmts, results);
	}
}

/* ---- Functions and programs ---- */

static void print_param(struct printer *p, const struct ir_function *f, uint32_t i)
{
	static const char *const wrap[] = { NULL, "Out", "InOut", "PIPE_IN", "PIPE_OUT" };
	const struct ir_node *var = f->params.at[i];
	struct ir_type *tile;

	print_expr(p, var);
	text_put(&p->out, ": ");
	if (!wrap[f->directions[i]]) {
		print_type(p, var->type);
		return;
	}
	text_printf(&p->out, "%s.%s[", p->prefix, wrap[f->directions[i]]);
	if (var->type->kind == TY_PIPE) {
		tile = type_copy(p->px, type_shaped(p->px, TY_TILE, var->type->shape,
						    var->type->dtype));
		print_type(p, tile);
	} else {
		print_type(p, var->type);
	}
	text_put(&p->out, "]");
}

static void print_function(struct printer *p, const struct ir_function *f)
{
	struct ir_type returns = { .kind = TY_TUPLE, .items = f->return_types,
				   .n_items = f->n_returns };
	uint32_t i;

	start_line(p);
	text_printf(&p->out, "@%s.function", p->prefix);
	if (f->func_type != FN_OPAQUE)
		text_printf(&p->out, "(type=%s.FunctionType.%s)", p->prefix,
			    enum_name(EN_FUNCTION_TYPE, f->func_type));
	text_put(&p->out, "\n");
	start_line(p);
	text_printf(&p->out, "def %s(%s", f->name, p->in_program ? "self" : "");
	for (i = 0; i < f->params.n; i++) {
		text_put(&p->out, i || p->in_program ? ", " : "");
		print_param(p, f, i);
	}
	text_put(&p->out, ")");
	if (f->n_returns) {
		text_put(&p->out, " -> ");
		print_type(p, f->n_returns == 1 ? f->return_types[0] : &returns);
	}
	text_put(&p->out, ":\n");
	print_body(p, f->body, NULL);
}

static bool note_dynamic(void *data, struct ir_node *node)
{
	struct ir_list *found = ((void **)data)[1];
	uint32_t i;

	if (node->kind != IR_VAR || !IR_AS(node, var)->dynamic)
		return true;
	for (i = 0; i < found->n; i++)
		if (!strcmp(IR_AS(found->at[i], var)->name, IR_AS(node, var)->name))
			return true;
	list_push(((void **)data)[0], found, node);
	return true;
}

/* Those of what @f returns. */
static void note_returns(const struct ir_function *f, void *data)
{
	uint32_t i, k;

	for (i = 0; i < f->n_returns; i++)
		for (k = 0; k < f->return_types[i]->shape.n; k++)
			ir_walk(f->return_types[i]->shape.at[k], note_dynamic, data);
}

/* Symbolic extents are names of the enclosing module. */
static void print_dynamics(struct printer *p, const struct ir_node *node)
{
	struct ir_list found = { 0 };
	void *data[] = { p->px, &found };
	uint32_t i;

	ir_walk((struct ir_node *)node, note_dynamic, data);
	if (node->kind == IR_FUNCTION)
		note_returns(IR_AS(node, function), data);
	for (i = 0; node->kind == IR_PROGRAM && i < IR_AS(node, program)->functions.n; i++)
		note_returns(IR_AS(IR_AS(node, program)->functions.at[i], function), data);
	for (i = 0; i < found.n; i++)
		text_printf(&p->out, "%s = %s.dynamic(\"%s\")\n", IR_AS(found.at[i], var)->name,
			    p->prefix, IR_AS(found.at[i], var)->name);
}

struct call_order {
	const struct ir_program *program;
	struct px *px;
	struct ir_list done, open;
	bool cycle;
};

static void order_visit(struct call_order *o, struct ir_function *f);

static bool order_call(void *data, struct ir_node *node)
{
	struct call_order *o = data;
	struct ir_function *f;

	if (node->kind != IR_CALL || IR_AS(node, call)->op)
		return true;
	f = program_find(o->program, IR_AS(node, call)->callee);
	if (f)
		order_visit(o, f);
	return true;
}

static void order_visit(struct call_order *o, struct ir_function *f)
{
	if (list_has(&o->done, &f->node))
		return;
	if (list_has(&o->open, &f->node)) {
		o->cycle = true;
		return;
	}
	list_push(o->px, &o->open, &f->node);
	if (f->body)
		ir_walk(f->body, order_call, o);
	list_push(o->px, &o->done, &f->node);
}

static struct ir_list callee_first(struct px *px, const struct ir_program *program)
{
	struct call_order o = { .program = program, .px = px };
	uint32_t i;

	for (i = 0; i < program->functions.n; i++)
		order_visit(&o, IR_AS(program->functions.at[i], function));
	return o.cycle ? program->functions : o.done;
}

static void print_program(struct printer *p, const struct ir_program *program)
{
	const char *name = *program->name ? program->name : "Program";
	struct ir_list functions = callee_first(p->px, program);
	uint32_t i;

	text_printf(&p->out, "# pypto.program: %s\n", name);
	if (!strcmp(p->prefix, "pl"))
		text_put(&p->out, "import pypto.language as pl\n\n");
	else
		text_printf(&p->out, "from pypto import language as %s\n\n", p->prefix);
	print_dynamics(p, &program->node);
	text_printf(&p->out, "@%s.program\nclass %s:\n", p->prefix, name);
	p->in_program = true;
	p->indent++;
	for (i = 0; i < functions.n; i++) {
		text_put(&p->out, i ? "\n" : "");
		print_function(p, IR_AS(functions.at[i], function));
	}
	p->indent--;
}

const char *ir_print(struct px *px, const struct ir_node *node, const char *prefix)
{
	struct printer p = { .px = px, .out = { .px = px }, .prefix = prefix };

	if (node->kind == IR_PROGRAM) {
		print_program(&p, IR_AS(node, program));
	} else if (node->kind == IR_FUNCTION) {
		print_dynamics(&p, node);
		print_function(&p, IR_AS(node, function));
	} else if (node->kind >= IR_ASSIGN) {
		print_stmt(&p, node, NULL);
	} else {
		print_expr(&p, node);
	}
	return text_str(&p.out);
}
