/* SPDX-License-Identifier: MIT */
/*
 * Tensors of a kernel that a loop exchanges or that branches choose between (D27). A tensor of a
 * kernel is one place; so what a loop carries is copied into a buffer of its own, in which each
 * trip leaves what it hands on, and branches leave their values in one. That is refused when
 * something is stored, from then on, into one of the tensors that it may be: it would have to reach
 * the tensor itself.
 */
#include "blockops.h"
#include "gen.h"
#include "outline.h"

struct carry {
	struct px *px;
	struct tensor_roots roots;
	struct var_map written;		/* tensors that something stores into, in whole or in part */
	struct var_map made;		/* variable -> the value that it is assigned */
	struct var_map uses;		/* variable -> how often it is used */
	const struct frame *frame;	/* of the statement at hand */
	unsigned int next;
};

/* Statement @at of @stmts, the body of @loop if that is not NULL. */
struct frame {
	const struct frame *up;
	const struct ir_list *stmts;
	uint32_t at;
	struct ir_node *loop;
};

/* ---- Copies ---- */

static struct ir_node *emit(struct carry *c, struct ir_node *call, struct ir_list *out)
{
	struct ir_node *var;

	if (!call)
		return NULL;
	var = ir_var(c->px, px_printf(c->px, "_k%u", c->next++), call->type, call->span);
	list_push(c->px, out, ir_assign(c->px, var, call, call->span));
	return var;
}

/* A new tensor with the elements of @value. */
static struct ir_node *copied(struct carry *c, struct ir_node *value, struct span span,
			      struct ir_list *out)
{
	return emit(c, op_copy(c->px, value, span), out);
}

static struct ir_node *created(struct carry *c, const struct ir_type *like, struct span span,
			       struct ir_list *out)
{
	struct ir_attr type = { .key = "dtype", .kind = AT_DTYPE, .i = like->dtype };
	struct op_use use = { .px = c->px, .op = op_find("tensor.create"), .span = span,
			      .attrs = &type, .n_attrs = 1 };

	list_push(c->px, &use.args, block_list(c->px, &like->shape, span));
	return emit(c, op_call(&use), out);
}

/* @target with the elements of @value. */
static struct ir_node *filled(struct carry *c, struct ir_node *target, struct ir_node *value,
			      struct span span, struct ir_list *out)
{
	struct op_use use = { .px = c->px, .op = op_find("tensor.assemble"), .span = span };
	struct ir_list zeros = { 0 };
	uint32_t i;

	for (i = 0; i < value->type->shape.n; i++)
		list_push(c->px, &zeros, block_index(c->px, 0, span));
	list_push(c->px, &use.args, target);
	list_push(c->px, &use.args, value);
	list_push(c->px, &use.args, block_list(c->px, &zeros, span));
	return emit(c, op_call(&use), out);
}

/* ---- What may be copied ---- */

static void note_def(void *set, struct ir_node *var)
{
	var_map_set(set, var, var);
}

static bool note_defs(void *set, struct ir_node *node)
{
	if (node->kind >= IR_ASSIGN)
		ir_defs(node, note_def, set);
	return node->kind >= IR_ASSIGN;
}

static bool uses_one_of(void *data, struct ir_node *node)
{
	if (var_map_get(((void **)data)[0], node))
		((void **)data)[1] = node;
	return true;
}

/* Whether an extent of @type is computed in @inside. */
static bool varies(const struct ir_type *type, struct var_map *inside)
{
	void *data[] = { inside, NULL };
	uint32_t i;

	for (i = 0; i < type->shape.n; i++)
		ir_walk(type->shape.at[i], uses_one_of, data);
	return data[1] != NULL;
}

/* All that is written from the merge at hand on: in it, after it, and in the next trips around it. */
static struct var_map written_from(struct carry *c, struct ir_node *merge)
{
	struct var_map set = { .px = c->px };
	const struct frame *f;
	uint32_t i;

	tensor_written(&c->roots, merge, &set);
	for (f = c->frame; f; f = f->up) {
		if (f->loop)
			tensor_written(&c->roots, f->loop, &set);
		for (i = f->at + 1; !f->loop && i < f->stmts->n; i++)
			tensor_written(&c->roots, f->stmts->at[i], &set);
	}
	return set;
}

/* A result of an operator that only the merge uses. */
static bool is_private(struct carry *c, const struct ir_node *root)
{
	const struct ir_node *value = var_map_get(&c->made, root);

	return value && ir_computes(value) && (uintptr_t)var_map_get(&c->uses, root) == 1;
}

/*
 * Whether a copy of @tensor does as well as the tensor itself: nothing stores, from the statement
 * @merge on, into what it may be of things made outside of @inside and used elsewhere.
 */
static bool is_copyable(struct carry *c, struct ir_node *tensor, struct ir_node *merge,
			const struct var_map *inside)
{
	struct var_map sources = { .px = c->px }, later = { .px = NULL };
	const struct ir_node *root;
	size_t i;

	tensor_sources(&c->roots, tensor, &sources);
	for (i = 0; i < sources.room; i++) {
		root = sources.slots[i].key;
		if (!root || !var_map_get(&c->written, root) || var_map_get(inside, root) ||
		    is_private(c, root))
			continue;
		if (!later.px)
			later = written_from(c, merge);
		if (var_map_get(&later, root))
			return false;
	}
	return true;
}

static bool is_tensor(const struct ir_node *var)
{
	return var->type->kind == TY_TENSOR;
}

/* @var is several tensors, into which something stores. */
static void refuse(struct carry *c, const struct ir_node *var)
{
	diag_hint(c->px, diag_add(c->px, DIAG_COMPILE, var->span,
				  "'%s' is a different tensor in different ways through the kernel",
				  gen_written_name(c->px, var)),
		  "Write into one tensor, or split the kernel");
}

/* ---- Statements ---- */

static struct ir_node *carry_body(struct carry *c, struct ir_node *body, struct ir_node *loop);

/* The body with other values at its end, which the statements @more compute. */
static struct ir_node *with_yield(struct carry *c, struct ir_node *body, struct ir_list more,
				  struct ir_list values)
{
	struct ir_list stmts = ir_flat(c->px, body), out = { 0 };
	uint32_t i;

	for (i = 0; i + 1 < stmts.n; i++)
		list_push(c->px, &out, stmts.at[i]);
	for (i = 0; i < more.n; i++)
		list_push(c->px, &out, more.at[i]);
	list_push(c->px, &out, ir_values(c->px, IR_YIELD, values, stmts.at[stmts.n - 1]->span));
	return ir_body(c->px, out, body->span);
}

/* Whether @value is another carried tensor of those that @copied marks, which change at once. */
static bool is_exchanged(struct carry *c, const struct ir_list *args, const bool *marked,
			 uint32_t i, struct ir_node *value)
{
	uint32_t k;

	for (k = 0; k < args->n; k++)
		if (k != i && marked[k] && tensor_overlap(&c->roots, value, args->at[k], true))
			return true;
	return false;
}

static struct ir_node *carry_loop(struct carry *c, struct ir_node *loop,
				  const struct ir_list *args, struct ir_node *body,
				  struct ir_list *out)
{
	const struct ir_values *yield = ir_last(body, IR_YIELD);
	struct var_map inside = { .px = c->px };
	struct ir_list more = { 0 }, values;
	bool *marked = px_alloc(c->px, args->n + 1, sizeof(*marked)), any = false;
	uint32_t i;

	ir_walk(loop, note_defs, &inside);
	for (i = 0; yield && i < args->n; i++) {
		struct ir_node *arg = args->at[i];

		marked[i] = is_tensor(arg) && tensor_is_chosen(&c->roots, arg) &&
			    !varies(arg->type, &inside) && is_copyable(c, arg, loop, &inside);
		any |= marked[i];
		if (is_tensor(arg) && tensor_is_chosen(&c->roots, arg) && !marked[i])
			refuse(c, arg);
	}
	body = carry_body(c, body, body);
	if (!any || c->px->n_errors)
		return body;
	values = list_copy(c->px, &ir_last(body, IR_YIELD)->values);
	for (i = 0; i < args->n; i++) {
		struct ir_var *arg = IR_AS(args->at[i], var);

		if (!marked[i])
			continue;
		arg->init = copied(c, arg->init, arg->node.span, out);
		if (is_exchanged(c, args, marked, i, yield->values.at[i]))
			values.at[i] = copied(c, values.at[i], arg->node.span, &more);
	}
	for (i = 0; i < args->n && !c->px->n_errors; i++)
		if (marked[i])
			values.at[i] = filled(c, args->at[i], values.at[i], args->at[i]->span,
					      &more);
	return with_yield(c, body, more, values);
}

static void carry_if(struct carry *c, struct ir_if *s, struct ir_list *out)
{
	const struct ir_values *then = ir_last(s->then_body, IR_YIELD);
	const struct ir_values *other = s->else_body ? ir_last(s->else_body, IR_YIELD) : NULL;
	struct ir_list more[2] = { { 0 }, { 0 } }, values[2];
	struct var_map inside = { .px = c->px };
	uint32_t i;

	ir_walk(&s->node, note_defs, &inside);
	s->then_body = carry_body(c, s->then_body, NULL);
	s->else_body = s->else_body ? carry_body(c, s->else_body, NULL) : NULL;
	if (!then || !other || c->px->n_errors)
		return;
	values[0] = list_copy(c->px, &ir_last(s->then_body, IR_YIELD)->values);
	values[1] = list_copy(c->px, &ir_last(s->else_body, IR_YIELD)->values);
	for (i = 0; i < s->return_vars.n && !c->px->n_errors; i++) {
		struct ir_node *var = s->return_vars.at[i], *buffer;
		struct ir_node *x = then->values.at[i], *y = other->values.at[i];

		if (!is_tensor(var) || tensor_root(&c->roots, x) == tensor_root(&c->roots, y))
			continue;
		if (varies(var->type, &inside) || !is_copyable(c, x, &s->node, &inside) ||
		    !is_copyable(c, y, &s->node, &inside)) {
			refuse(c, var);
			continue;
		}
		buffer = created(c, var->type, var->span, out);
		if (!buffer)
			return;
		values[0].at[i] = filled(c, buffer, values[0].at[i], var->span, &more[0]);
		values[1].at[i] = filled(c, buffer, values[1].at[i], var->span, &more[1]);
	}
	if (!more[0].n || c->px->n_errors)
		return;
	s->then_body = with_yield(c, s->then_body, more[0], values[0]);
	s->else_body = with_yield(c, s->else_body, more[1], values[1]);
}

static struct ir_node *carry_body(struct carry *c, struct ir_node *body, struct ir_node *loop)
{
	struct ir_list stmts = ir_flat(c->px, body), out = { 0 };
	struct frame frame = { c->frame, &stmts, 0, loop };
	uint32_t i;

	c->frame = &frame;
	for (i = 0; i < stmts.n && !c->px->n_errors; i++) {
		struct ir_node *s = stmts.at[i];

		frame.at = i;

		if (s->kind == IR_FOR)
			IR_AS(s, for)->body = carry_loop(c, s, &IR_AS(s, for)->iter_args,
							 IR_AS(s, for)->body, &out);
		else if (s->kind == IR_WHILE)
			IR_AS(s, while)->body = carry_loop(c, s, &IR_AS(s, while)->iter_args,
							   IR_AS(s, while)->body, &out);
		else if (s->kind == IR_IF)
			carry_if(c, IR_AS(s, if), &out);
		list_push(c->px, &out, s);
	}
	c->frame = frame.up;
	return ir_body(c->px, out, body->span);
}

static bool has_merge(void *found, struct ir_node *node)
{
	const struct ir_list *vars = node->kind == IR_FOR ? &IR_AS(node, for)->iter_args :
				     node->kind == IR_WHILE ? &IR_AS(node, while)->iter_args :
				     node->kind == IR_IF ? &IR_AS(node, if)->return_vars : NULL;
	uint32_t i;

	for (i = 0; vars && i < vars->n; i++)
		*(bool *)found |= is_tensor(vars->at[i]);
	return node->kind >= IR_ASSIGN;
}

static bool note_value(void *data, struct ir_node *node)
{
	struct carry *c = data;

	if (ir_is_var(node))
		var_map_set(&c->uses, node, (void *)((uintptr_t)var_map_get(&c->uses, node) + 1));
	if (node->kind != IR_ASSIGN)
		return true;
	var_map_set(&c->made, IR_AS(node, assign)->var, IR_AS(node, assign)->value);
	ir_walk(IR_AS(node, assign)->value, note_value, c);
	return false;
}

struct ir_node *block_carry(struct px *px, const struct ir_program *program,
			    const struct ir_function *f)
{
	struct carry c = { .px = px, .written = { .px = px }, .made = { .px = px },
			   .uses = { .px = px } };
	struct var_map map = { .px = px };
	struct ir_function *copy;
	bool found = false;

	ir_walk(f->body, has_merge, &found);
	if (!found)
		return f->body;
	copy = ir_copy(px, &f->node);
	copy->body = ir_clone_stmt(&map, f->body);	/* statements of our own, to be changed */
	c.roots = tensor_roots(px, program, copy);
	tensor_written(&c.roots, copy->body, &c.written);
	ir_walk(copy->body, note_value, &c);
	return carry_body(&c, copy->body, NULL);
}
