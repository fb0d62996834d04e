/* SPDX-License-Identifier: MIT */
/* The module of a function: buffers and control flow. */
#include <errno.h>
#include <string.h>

#include "../ptoas/hazard_access.h"
#include "machine.h"
#include "ops.h"

static void build_body(struct machine *mc, struct ir_node *body);

/* ---- Values ---- */

struct pto_value *machine_arg(struct machine *mc, const struct pto_type *type)
{
	struct pto_value *v = arena_zalloc(&mc->m->arena, 1, sizeof(*v));

	if (!v || !type) {
		mc->m->no_memory = true;
		return NULL;
	}
	v->type = type;
	v->block = mc->func->op->region[0].first;
	return v;
}

static struct pto_value *alloc(struct machine *mc, const struct pto_type *type, int64_t addr)
{
	struct pto_op *at = NULL, *op;

	if (addr >= 0)
		at = pto_const_before(mc->m, mc->func->op->region[0].first->first, PTO_I64, addr);
	op = pto_op_new(mc->m, PTO_OP_ALLOC_TILE,
			(struct pto_op_shape){ .operands = at != NULL, .results = 1 },
			(struct pto_loc){ .at = PTO_NO_PLACE });
	if (!op || !type || (addr >= 0 && !at)) {
		mc->m->no_memory = true;
		return NULL;
	}
	op->result[0].type = type;
	if (!at) {
		pto_insert_before(mc->func->op->region[0].first->first, op);
		return &op->result[0];
	}
	pto_set_operand(op, 0, &at->result[0]);
	pto_insert_after(at, op);
	return &op->result[0];
}

static struct pto_value *tensor_value(struct machine *mc, const struct ir_type *type)
{
	static const struct ir_node all;
	struct pto_type part = { .kind = PTO_T_PART, .elem = PTO_F32, .rank = 2,
				 .dim = { PTO_DYNAMIC, PTO_DYNAMIC } };
	const struct ir_node *key = mc->one_tensor ? &all : &type->memref->node;
	struct pto_value *v = var_map_get(&mc->values, key);

	if (!v) {
		v = machine_arg(mc, pto_type_get(mc->m, &part));
		var_map_set(&mc->values, key, v);
	}
	return v;
}

/* Where the buffer is, or would be, one behind the other. */
static int64_t address(struct machine *mc, const struct ir_memref *m)
{
	enum pto_space space = machine_space(m->space);
	int64_t align = pto_alignment(space), at;
	void *known = var_map_get(&mc->places, &m->node);

	if (m->addr >= 0 || mc->view == MACHINE_BUFFERS)
		return m->addr;
	if (known)
		return (int64_t)(intptr_t)known - 1;
	at = (mc->end[space] + align - 1) / align * align;
	if (m->size > (uint64_t)pto_capacity(space, mc->arch) ||
	    at + (int64_t)m->size > pto_capacity(space, mc->arch)) {
		mc->full = true;
		return -1;
	}
	mc->end[space] = at + (int64_t)m->size;
	var_map_set(&mc->places, &m->node, (void *)(intptr_t)(at + 1));
	return at;
}

struct pto_value *machine_value(struct machine *mc, const struct ir_node *var)
{
	const struct ir_type *type = var->type;
	const struct ir_node *key;
	struct pto_value *v;

	if (!type->memref)
		return NULL;
	if (type->memref->space == MS_DDR)
		return tensor_value(mc, type);
	key = mc->view == MACHINE_BUFFERS ? &type->memref->node : var;
	v = var_map_get(&mc->values, key);
	if (!v) {
		v = alloc(mc, machine_tile(mc, type), address(mc, type->memref));
		var_map_set(&mc->values, key, v);
	}
	return v;
}

/* ---- Operations ---- */

static struct pto_loc place_of(struct machine *mc, const struct span *span)
{
	struct pto_src_loc *src = arena_zalloc(&mc->m->arena, 1, sizeof(*src));

	if (!src || !span->line)
		return (struct pto_loc){ .at = PTO_NO_PLACE };
	src->file = pto_intern_text(mc->m, span->file ? span->file : "-");
	src->line = span->line;
	src->col = span->col;
	return (struct pto_loc){ .at = PTO_NO_PLACE, .src = src };
}

static void add(struct machine *mc, struct pto_op *op)
{
	if (!op) {
		mc->m->no_memory = true;
		return;
	}
	if (mc->stmt)
		op->loc = place_of(mc, &mc->stmt->span);
	if (mc->block == mc->func->op->region[0].first)
		pto_insert_before(mc->last, op);
	else
		pto_append(mc->block, op);
	if (mc->stmt)
		var_map_set(&mc->stmts, (struct ir_node *)op, mc->stmt);
}

struct ir_node *machine_stmt(const struct machine *mc, const struct pto_op *op)
{
	return var_map_get(&mc->stmts, (const struct ir_node *)op);
}

/* A copy that does not exist, between a value and nothing. */
static void pretend(struct machine *mc, const struct ir_node *var, bool write)
{
	struct pto_value *v;
	struct pto_op *op;

	if (mc->view != MACHINE_VALUES || var->type->kind != TY_TILE || !ir_is_var(var))
		return;
	v = machine_value(mc, var);
	op = pto_op_new(mc->m, PTO_OP_TMOV, (struct pto_op_shape){ .operands = 2 },
			(struct pto_loc){ .at = PTO_NO_PLACE });
	if (!v || !op || !mc->dummy) {
		mc->m->no_memory = true;
		return;
	}
	op->operand[1].group = 1;
	pto_set_operand(op, 0, write ? mc->dummy : v);
	pto_set_operand(op, 1, write ? v : mc->dummy);
	pto_op_bind(op);
	add(mc, op);
}

static void pretend_list(struct machine *mc, const struct ir_list *vars, bool write)
{
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		pretend(mc, vars->at[i], write);
}

static bool is_alias(const struct ir_node *value)
{
	const struct ir_call *call = IR_AS(value, call);

	return ir_is_var(value) ||
	       (value->kind == IR_CALL && call->op &&
		(!strcmp(call->op->name, "block.reshape") || !strcmp(call->op->name, "block.view")));
}

static void build_assign(struct machine *mc, const struct ir_assign *s)
{
	struct ir_node *value = s->value;
	struct pto_op *op;

	if (s->var->type->kind == TY_TILE && is_alias(value)) {
		if (mc->view == MACHINE_VALUES)
			var_map_set(&mc->values, s->var,
				    machine_value(mc, ir_is_var(value) ? value :
						  IR_AS(value, call)->args.at[0]));
		return;
	}
	if (value->kind != IR_CALL)
		return;
	if (IR_AS(value, call)->op && !strcmp(IR_AS(value, call)->op->name, "block.scatter"))
		pretend(mc, IR_AS(value, call)->args.at[0], false);
	op = machine_call(mc, IR_AS(value, call), s->var);
	if (op)
		add(mc, op);
}

static struct pto_op *region_op(struct machine *mc, enum pto_opcode code, unsigned int regions)
{
	struct pto_op *op = pto_op_new(mc->m, code, (struct pto_op_shape){ .regions = regions },
				       (struct pto_loc){ .at = PTO_NO_PLACE });

	add(mc, op);
	return op;
}

static void build_region(struct machine *mc, struct pto_op *op, unsigned int region,
			 struct ir_node *body, const struct ir_list *start)
{
	struct pto_block *outer = mc->block;
	struct ir_node *stmt = mc->stmt;

	mc->block = op ? pto_block_new(mc->m, &op->region[region], 0) : NULL;
	if (mc->block) {
		mc->stmt = NULL;
		if (start)
			pretend_list(mc, start, true);
		if (body)
			build_body(mc, body);
	}
	mc->block = outer;
	mc->stmt = stmt;
}

/* A tensor that is another one in the next iteration, or one of two. */
static void note_mixed(struct machine *mc, const struct ir_node *a, const struct ir_node *b)
{
	if (a->type->kind == TY_TENSOR && a->type->memref && b->type->memref &&
	    a->type->memref != b->type->memref)
		mc->mixed = true;
}

static void note_yield(struct machine *mc, struct ir_node *body, const struct ir_list *results)
{
	struct ir_list stmts = ir_flat(mc->px, body);
	const struct ir_node *last = stmts.n ? stmts.at[stmts.n - 1] : NULL;
	uint32_t i;

	if (!last || last->kind != IR_YIELD)
		return;
	for (i = 0; i < results->n && i < IR_AS(last, values)->values.n; i++)
		note_mixed(mc, IR_AS(last, values)->values.at[i], results->at[i]);
}

/* A while loop is like a counted one: its condition touches no buffer. */
static void build_loop(struct machine *mc, const struct ir_list *iter_args, struct ir_node *body,
		       const struct ir_list *results)
{
	struct pto_op *op;
	uint32_t i;

	for (i = 0; i < iter_args->n; i++)
		pretend(mc, IR_AS(iter_args->at[i], var)->init, false);
	op = region_op(mc, PTO_OP_FOR, 1);
	build_region(mc, op, 0, body, iter_args);
	note_yield(mc, body, iter_args);
	pretend_list(mc, results, true);
}

static void build_if(struct machine *mc, const struct ir_if *s)
{
	struct pto_op *op = region_op(mc, PTO_OP_IF, 2);

	build_region(mc, op, 0, s->then_body, NULL);
	build_region(mc, op, 1, s->else_body, NULL);
	note_yield(mc, s->then_body, &s->return_vars);
	if (s->else_body)
		note_yield(mc, s->else_body, &s->return_vars);
	pretend_list(mc, &s->return_vars, true);
}

static void build_stmt(struct machine *mc, struct ir_node *s)
{
	struct pto_op *op;

	mc->stmt = s;
	switch (s->kind) {
	case IR_ASSIGN:
		build_assign(mc, IR_AS(s, assign));
		break;
	case IR_EVAL:
		if (IR_AS(s, eval)->expr->kind != IR_CALL)
			break;
		op = machine_call(mc, IR_AS(IR_AS(s, eval)->expr, call), NULL);
		if (op)
			add(mc, op);
		break;
	case IR_YIELD:
		pretend_list(mc, &IR_AS(s, values)->values, false);
		break;
	case IR_FOR:
		build_loop(mc, &IR_AS(s, for)->iter_args, IR_AS(s, for)->body,
			   &IR_AS(s, for)->return_vars);
		break;
	case IR_WHILE:
		build_loop(mc, &IR_AS(s, while)->iter_args, IR_AS(s, while)->body,
			   &IR_AS(s, while)->return_vars);
		break;
	case IR_IF:
		build_if(mc, IR_AS(s, if));
		break;
	}
	mc->stmt = NULL;
}

static void build_body(struct machine *mc, struct ir_node *body)
{
	struct ir_list stmts = ir_flat(mc->px, body);
	uint32_t i;

	for (i = 0; i < stmts.n && !mc->m->no_memory; i++)
		build_stmt(mc, stmts.at[i]);
}

/* ---- Module ---- */

static void free_module(void *m)
{
	pto_module_free(m);
}

static int start(struct machine *mc, const char *name)
{
	struct pto_type tile = { .kind = PTO_T_TILE, .elem = PTO_F32, .rank = 2,
				 .space = PTO_SPACE_VEC, .fractal = 512, .dim = { 8, 8 },
				 .valid = { 8, 8 } };
	struct pto_func *f;

	mc->m = pto_module_new(name);
	if (!mc->m)
		return -ENOMEM;
	px_own(mc->px, free_module, mc->m);
	mc->m->arch = mc->arch;
	f = mc->func = arena_zalloc(&mc->m->arena, 1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->module = mc->m;
	f->op = pto_op_new(mc->m, PTO_OP_FUNC, (struct pto_op_shape){ .regions = 1 },
			   (struct pto_loc){ .at = PTO_NO_PLACE });
	mc->last = pto_op_new(mc->m, PTO_OP_RETURN, (struct pto_op_shape){ 0 },
			      (struct pto_loc){ .at = PTO_NO_PLACE });
	f->name = pto_intern_text(mc->m, name);
	if (!f->op || !mc->last || !f->name)
		return -ENOMEM;
	mc->block = pto_block_new(mc->m, &f->op->region[0], 0);
	if (!mc->block)
		return -ENOMEM;
	pto_append(mc->block, mc->last);
	mc->m->first = mc->m->last = f;
	if (mc->view == MACHINE_VALUES)
		mc->dummy = alloc(mc, pto_type_get(mc->m, &tile), -1);
	return 0;
}

int machine_build(struct machine *mc, struct px *px, const struct ir_function *f,
		  enum pto_arch arch, enum machine_view view)
{
	bool one_tensor = false;

	for (;;) {
		*mc = (struct machine){ .px = px, .arch = arch, .view = view,
					.values = { .px = px }, .stmts = { .px = px },
					.places = { .px = px }, .one_tensor = one_tensor };
		if (start(mc, f->name))
			return -ENOMEM;
		build_body(mc, f->body);
		if (mc->m->no_memory)
			return -ENOMEM;
		if (!mc->mixed || one_tensor)
			return 0;
		one_tensor = true;
		machine_fini(mc);
	}
}

void machine_fini(struct machine *mc)
{
	if (mc->m)
		px_release(mc->px, mc->m);
	mc->m = NULL;
}

bool machine_may_share(struct px *px, const struct ir_call *call, unsigned int arg,
		       const struct ir_type *type)
{
	struct machine mc = { .px = px, .view = MACHINE_VALUES, .values = { .px = px },
			      .stmts = { .px = px }, .places = { .px = px } };
	struct ir_node *result = ir_var(px, "result", type, call->node.span);
	struct pto_op *op = NULL;
	bool may, reads = false;
	unsigned int i, out = UINT32_MAX;

	if (start(&mc, "share"))
		px_no_memory(px);
	op = machine_call(&mc, call, result);
	if (mc.m->no_memory)
		px_no_memory(px);
	for (i = 0; op && i < op->n_operands; i++)
		if (op->operand[i].value == machine_value(&mc, result))
			out = i;
	may = out != UINT32_MAX;
	for (i = 0; may && i < op->n_operands; i++) {	/* it may be several operands */
		if (op->operand[i].value != machine_value(&mc, call->args.at[arg]))
			continue;
		reads = true;
		may = pto_may_share(op, i, out);
	}
	may = may && reads;
	machine_fini(&mc);
	return may;
}
