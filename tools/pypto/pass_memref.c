/* SPDX-License-Identifier: MIT */
/*
 * InitMemRef, section 7.6 and decisions.md D27. Every variable of a tensor or tile type gets a
 * memory reference; results that are another value's storage share it. What loops and branches hand
 * on is in one buffer: made there where that is proved safe, else copied there.
 */
#include <string.h>

#include "gen.h"
#include "memref.h"
#include "pass.h"

/* ---- Buffers ---- */

struct ir_memref *memref_new(struct memrefs *m, enum memory_space space,
			     const struct ir_type *type, struct span span)
{
	struct ir_memref *buffer = ir_memref(m->px, space, -1, type_bytes(type), m->next_id++,
					     span);

	if (space != MS_DDR)
		list_push(m->px, &m->allocs, &buffer->node);
	return buffer;
}

struct ir_memref *memref_of(const struct memrefs *m, const struct ir_node *value)
{
	return var_map_get(&m->of, value);
}

struct ir_node *memref_put(struct memrefs *m, struct ir_node *var, struct ir_memref *buffer)
{
	struct ir_list *members = var_map_get(&m->members, &buffer->node);
	struct ir_node *copy = ir_copy(m->px, var);

	copy->type = type_with_memref(m->px, ir_subst_type(&m->now, var->type), buffer);
	if (!members)
		members = px_new(m->px, struct ir_list);
	list_push(m->px, members, var);
	var_map_set(&m->members, &buffer->node, members);
	var_map_set(&m->of, var, buffer);
	var_map_set(&m->of, copy, buffer);
	var_map_set(&m->now, var, copy);
	return copy;
}

static bool used_behind(const struct memrefs *m, const struct ir_node *var, uint32_t after,
			uint32_t to)
{
	const struct memref_branch *b;

	for (b = m->branch; b && after < to; b = b->outer) {
		if (life_used(&m->life, var, after, b->end < to ? b->end : to))
			return true;
		after = b->if_end;
	}
	return after < to && life_used(&m->life, var, after, to);
}

bool memref_free(const struct memrefs *m, const struct ir_memref *buffer, uint32_t after,
		 uint32_t to)
{
	const struct ir_list *members = var_map_get(&m->members, &buffer->node);
	uint32_t i;

	for (i = 0; members && i < members->n; i++)
		if (used_behind(m, members->at[i], after, to))
			return false;
	return true;
}

/* ---- Operators ---- */

int memref_shares(const struct ir_call *call)
{
	static const struct {
		const char *op;
		int arg;
	} table[] = {
		{ "block.reshape", 0 }, { "block.view", 0 }, { "tensor.reshape", 0 },
		{ "tensor.view", 0 }, { "tensor.assemble", 0 }, { "block.store", 3 },
		{ "block.l0c_store", 3 }, { "block.mscatter", 2 }, { "block.scatter", 0 },
		{ "block.matmul_acc", 0 }, { "block.gemv_acc", 0 }, { "block.matmul_mx_acc", 0 },
	};
	size_t i;

	for (i = 0; call->op && i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(call->op->name, table[i].op))
			return table[i].arg;
	return -1;
}

/* It changes the buffer that it shares: the old contents are gone. */
static bool overwrites(const struct ir_call *call)
{
	return memref_shares(call) == 0 && (call->op->rule == rule_matmul_acc ||
					    call->op->rule == rule_matmul_mx_acc ||
					    call->op->rule == rule_scatter);
}

static bool is_product(const struct px_op *op)
{
	return op->rule == rule_matmul || op->rule == rule_matmul_acc ||
	       op->rule == rule_matmul_bias || op->rule == rule_matmul_mx ||
	       op->rule == rule_matmul_mx_acc || op->rule == rule_matmul_mx_bias ||
	       op->rule == rule_batch_matmul;
}

enum memory_space memref_space(const struct memrefs *m, const struct ir_call *call)
{
	uint32_t i;

	if (!call->op || !op_is(call->op, "block"))
		return call->op && call->op->rule == rule_tpop ? m->cube ? MS_MAT : MS_VEC : MS_DDR;
	for (i = 0; i < call->n_attrs; i++)
		if (!strcmp(call->attrs[i].key, "target_memory"))
			return call->attrs[i].i;
	return is_product(call->op) ? MS_ACC : MS_VEC;
}

static bool find_cube(void *data, struct ir_node *node)
{
	const struct ir_call *call = IR_AS(node, call);

	if (node->kind != IR_CALL || !call->op || !op_is(call->op, "block"))
		return true;
	if (is_product(call->op) ||
	    (call_attr(call, "target_memory") >= MS_MAT && call->op->rule != rule_full))
		*(bool *)data = true;
	return true;
}

/* ---- Statements ---- */

static void put_assign(struct memrefs *m, struct ir_node *var, struct ir_node *value,
		       struct span span)
{
	list_push(m->px, m->out, ir_assign(m->px, var, value, span));
}

/* A bias goes into its own buffer first (decisions.md D11). */
static struct ir_call *with_bias(struct memrefs *m, struct ir_call *call)
{
	uint32_t last = call->args.n - 1;
	const struct ir_memref *from = memref_of(m, call->args.at[last]);
	struct ir_attr space = { .key = "target_memory", .kind = AT_ENUM,
				 .class = EN_MEMORY_SPACE, .i = MS_BIAS };
	struct op_use use = { .px = m->px, .op = op_find("block.move"), .span = call->node.span,
			      .attrs = &space, .n_attrs = 1 };
	struct ir_node *move, *var;

	if ((call->op->rule != rule_matmul_bias && call->op->rule != rule_matmul_mx_bias) ||
	    !from || from->space == MS_BIAS)
		return call;
	list_push(m->px, &use.args, call->args.at[last]);
	move = op_call(&use);
	var = ir_var(m->px, px_printf(m->px, "_m%u", m->next_move++), move->type, use.span);
	var = memref_put(m, var, memref_new(m, MS_BIAS, move->type, use.span));
	put_assign(m, var, move, use.span);
	call = ir_copy(m->px, &call->node);
	call->args = list_copy(m->px, &call->args);
	call->args.at[last] = var;
	return call;
}

/* Where the operands of a product are, behind the accumulator: each in its own memory. */
struct product_place {
	uint8_t space;
	const char *what;
};

static const struct product_place plain_places[] = {
	{ MS_LEFT, "left operand" }, { MS_RIGHT, "right operand" }, { 0 }
};
static const struct product_place mx_places[] = {
	{ MS_LEFT, "left operand" }, { MS_LEFT_SCALE, "left scales" },
	{ MS_RIGHT, "right operand" }, { MS_RIGHT_SCALE, "right scales" }, { 0 }
};

static const struct {
	const struct ir_type *(*rule)(struct op_use *use);
	const struct product_place *places;
	uint32_t first;
} products[] = {
	{ rule_matmul, plain_places, 0 }, { rule_matmul_acc, plain_places, 1 },
	{ rule_matmul_bias, plain_places, 0 }, { rule_matmul_mx, mx_places, 0 },
	{ rule_matmul_mx_acc, mx_places, 1 }, { rule_matmul_mx_bias, mx_places, 0 },
};

static void check_operands(struct memrefs *m, const struct ir_call *call)
{
	const struct product_place *places;
	uint32_t p = 0, i;

	while (p < sizeof(products) / sizeof(products[0]) && products[p].rule != call->op->rule)
		p++;
	if (p == sizeof(products) / sizeof(products[0]))
		return;
	places = products[p].places;
	for (i = 0; places[i].what; i++) {
		const struct ir_memref *at = memref_of(m, call->args.at[products[p].first + i]);
		const char *space = enum_name(EN_MEMORY_SPACE, places[i].space);

		if (at && at->space != places[i].space)
			diag_hint(m->px, diag_add(m->px, DIAG_OPERATION, call->node.span,
						  "pl.%s() needs its %s in %s, not in %s",
						  call->op->pl, places[i].what, space,
						  enum_name(EN_MEMORY_SPACE, at->space)),
				  "Move it there: pl.move(..., target_memory=pl.MemorySpace.%s)",
				  space);
	}
}

/* Another argument is in the buffer that the call changes. */
static bool reads_itself(const struct memrefs *m, const struct ir_call *call)
{
	uint32_t i;

	for (i = 1; i < call->args.n; i++)
		if (call->args.at[i] && memref_of(m, call->args.at[i]) == memref_of(m, call->args.at[0]))
			return true;
	return false;
}

/* The call's arguments; one that is overwritten and needed later is copied first. */
static struct ir_node *safe_call(struct memrefs *m, const struct ir_assign *s)
{
	struct ir_call *call = IR_AS(ir_subst(&m->now, s->value), call);
	const struct ir_memref *buffer = call->args.n ? memref_of(m, call->args.at[0]) : NULL;
	uint32_t at = life_start(&m->life, &s->node);
	struct ir_node *copy;

	check_operands(m, call);
	if (call->args.n)
		call = with_bias(m, call);
	if (!overwrites(call) || !buffer ||
	    (!reads_itself(m, call) && memref_free(m, buffer, at, UINT32_MAX)))
		return &call->node;
	if (buffer->space != MS_VEC) {
		diag_hint(m->px, diag_add(m->px, DIAG_COMPILE, call->node.span,
					  "The accumulator '%s' is used after pl.%s() has added to it",
					  gen_written_name(m->px, call->args.at[0]), call->op->pl),
			  "Store it first, or compute the product again");
		return &call->node;
	}
	copy = memref_copy(m, call->args.at[0], NULL, call->node.span);
	call = ir_copy(m->px, &call->node);
	call->args = list_copy(m->px, &call->args);
	call->args.at[0] = copy;
	return &call->node;
}

static struct ir_memref *result_buffer(struct memrefs *m, const struct ir_assign *s,
				       struct ir_node *value)
{
	const struct ir_call *call = value->kind == IR_CALL ? IR_AS(value, call) : NULL;
	struct ir_memref *granted = memref_granted(m, &s->node, s->var, value);
	int shares = call ? memref_shares(call) : -1;

	if (ir_is_var(value))
		return memref_of(m, value);
	if (shares >= 0 && (uint32_t)shares < call->args.n)
		return memref_of(m, call->args.at[shares]);
	if (granted)
		return granted;
	return memref_new(m, call ? memref_space(m, call) : MS_DDR, s->var->type, s->var->span);
}

/* An element of a tuple made in this function is the value that it was made of. */
static struct ir_node *known_element(const struct memrefs *m, const struct ir_node *value)
{
	const struct ir_node *tuple;

	if (value->kind != IR_GET_ITEM)
		return NULL;
	tuple = var_map_get(&m->tuples, IR_AS(value, item)->tuple);
	return tuple ? IR_AS(tuple, tuple)->elements.at[IR_AS(value, item)->index] : NULL;
}

static struct ir_node *assigned(struct memrefs *m, const struct ir_assign *s)
{
	struct ir_node *element = known_element(m, s->value);

	if (element)
		return ir_subst(&m->now, element);
	return s->value->kind == IR_CALL && IR_AS(s->value, call)->op ? safe_call(m, s) :
	       ir_subst(&m->now, s->value);
}

/* The elements have types with memory references now; so does the tuple. */
static void memref_tuple(struct memrefs *m, const struct ir_assign *s)
{
	struct ir_tuple *tuple = ir_copy(m->px, ir_subst(&m->now, s->value));
	const struct ir_type **types = px_alloc(m->px, tuple->elements.n + 1,
						sizeof(const struct ir_type *));
	struct ir_node *var = ir_copy(m->px, s->var);
	uint32_t i;

	for (i = 0; i < tuple->elements.n; i++)
		types[i] = tuple->elements.at[i]->type;
	tuple->node.type = var->type = type_tuple(m->px, types, tuple->elements.n);
	var_map_set(&m->now, s->var, var);
	var_map_set(&m->tuples, s->var, s->value);
	put_assign(m, var, &tuple->node, s->node.span);
}

static void memref_assign(struct memrefs *m, const struct ir_assign *s)
{
	struct ir_memref *buffer;
	struct ir_node *value;

	if (s->value->kind == IR_MAKE_TUPLE) {
		memref_tuple(m, s);
		return;
	}
	if (!memref_needed(s->var->type)) {
		put_assign(m, s->var, ir_subst(&m->now, s->value), s->node.span);
		return;
	}
	value = assigned(m, s);
	buffer = result_buffer(m, s, value);
	if (!buffer)	/* after a mistake */
		buffer = memref_new(m, MS_DDR, s->var->type, s->var->span);
	put_assign(m, memref_put(m, s->var, buffer), value, s->node.span);
}

static void memref_yield(struct memrefs *m, const struct ir_values *s, struct ir_memref **buffers)
{
	struct ir_list values = { 0 };
	uint32_t i;

	for (i = 0; i < s->values.n; i++)
		list_push(m->px, &values, ir_subst(&m->now, s->values.at[i]));
	if (buffers)
		memref_move_all(m, &values, buffers, s->node.span);
	list_push(m->px, m->out, ir_values(m->px, IR_YIELD, values, s->node.span));
}

static void memref_stmt(struct memrefs *m, struct ir_node *s, struct ir_memref **buffers)
{
	struct ir_list values;
	struct ir_eval *eval;

	switch (s->kind) {
	case IR_ASSIGN:
		memref_assign(m, IR_AS(s, assign));
		break;
	case IR_EVAL:
		eval = ir_copy(m->px, s);
		eval->expr = ir_subst(&m->now, eval->expr);
		list_push(m->px, m->out, &eval->node);
		break;
	case IR_FOR:
		memref_for(m, IR_AS(s, for));
		break;
	case IR_WHILE:
		memref_while(m, IR_AS(s, while));
		break;
	case IR_IF:
		memref_if(m, IR_AS(s, if));
		break;
	case IR_YIELD:
		memref_yield(m, IR_AS(s, values), buffers);
		break;
	default:
		values = ir_subst_list(&m->now, &IR_AS(s, values)->values);
		list_push(m->px, m->out, ir_values(m->px, s->kind, values, s->span));
	}
}

struct ir_node *memref_body(struct memrefs *m, struct ir_node *body, struct ir_memref **buffers)
{
	struct ir_list stmts = ir_flat(m->px, body), out = { 0 }, *outer = m->out;
	uint32_t i;

	m->out = &out;
	for (i = 0; i < stmts.n; i++)
		if (!memref_pop(m, &stmts, i))
			memref_stmt(m, stmts.at[i], buffers);
	m->out = outer;
	return ir_body(m->px, out, body->span);
}

/* ---- Functions ---- */

static struct ir_attr int_attr(const char *key, int64_t value)
{
	return (struct ir_attr){ .key = key, .kind = AT_INT, .i = value };
}

static struct ir_node *alloc_stmt(struct px *px, struct ir_memref *buffer)
{
	struct ir_attr attrs[] = {
		{ .key = "space", .kind = AT_ENUM, .class = EN_MEMORY_SPACE, .i = buffer->space },
		int_attr("addr", buffer->addr), int_attr("size", (int64_t)buffer->size),
		int_attr("id", (int64_t)buffer->id),
	};
	struct op_use use = { .px = px, .op = op_find("block.alloc"), .span = buffer->node.span,
			      .attrs = attrs, .n_attrs = 4 };

	return ir_assign(px, &buffer->node, op_call(&use), buffer->node.span);
}

static struct ir_function *init_function(struct px *px, struct ir_function *old, void *data)
{
	struct memrefs m = { .px = px, .program = data, .f = old, .now = { .px = px },
			     .of = { .px = px }, .wishes = { .px = px }, .members = { .px = px },
			     .slots = { .px = px }, .tuples = { .px = px } };
	struct ir_function *f = ir_copy(px, &old->node);
	struct ir_list stmts = { 0 };
	struct ir_node *body;
	uint32_t i;

	life_of(px, old, &m.life);
	ir_walk(old->body, find_cube, &m.cube);
	f->params = (struct ir_list){ 0 };
	for (i = 0; i < old->params.n; i++) {
		struct ir_node *p = old->params.at[i];

		list_push(px, &f->params, !memref_needed(p->type) ? p :
			  memref_put(&m, p, memref_new(&m, MS_DDR, p->type, p->span)));
	}
	body = memref_body(&m, old->body, NULL);
	for (i = 0; i < m.allocs.n; i++)
		list_push(px, &stmts, alloc_stmt(px, IR_AS(m.allocs.at[i], memref)));
	list_push(px, &stmts, body);
	f->body = pass_grouped(px, ir_body(px, stmts, body->span), NULL);
	return f;
}

struct ir_program *pass_init_memref(struct px *px, struct ir_program *program,
				    const struct pass_options *options)
{
	platform_check(px, program, options->arch);
	program = gen_copy_kernels(px, program);
	return pass_each(px, program, init_function, program);
}
