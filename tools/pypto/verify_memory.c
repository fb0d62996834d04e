/* SPDX-License-Identifier: MIT */
/* Verifier of what the passes on kernels give: sections 5.3 and 7.6 to 7.8. */
#include "ops.h"
#include "verify.h"

bool ir_computes(const struct ir_node *value)
{
	const struct px_op *op = value->kind == IR_CALL ? IR_AS(value, call)->op : NULL;

	return op && op_is(op, "tensor") && op->rule != rule_create_tensor &&
	       op->rule != rule_read && op->rule != rule_slice && op->rule != rule_dim &&
	       op->rule != rule_reshape;
}

static void need_memref(struct verify *v, const struct ir_node *var)
{
	if (var->kind == IR_MEMREF) {
		if (IR_AS(var, memref)->addr < 0)
			violation(v, PROP_ADDRESSES, var, "MemRef has no valid address allocated",
				  IR_AS(var, memref)->name);
		return;
	}
	if ((var->type->kind != TY_TENSOR && var->type->kind != TY_TILE))
		return;
	if (!var->type->memref)
		violation(v, PROP_MEMREFS, var, "The variable has no memory reference",
			  IR_AS(var, var)->name);
	else if (var->type->memref->space != MS_DDR && var->type->memref->addr < 0)
		violation(v, PROP_ADDRESSES, var,
			  "The MemRef of the variable has no valid address allocated (addr=-1)",
			  IR_AS(var, var)->name);
}

static void need_memrefs(struct verify *v, const struct ir_list *vars)
{
	uint32_t i;

	for (i = 0; i < vars->n; i++)
		need_memref(v, vars->at[i]);
}

static bool visit_kernel(void *data, struct ir_node *node)
{
	struct verify *v = data;

	switch (node->kind) {
	case IR_ASSIGN:
		need_memref(v, IR_AS(node, assign)->var);
		if (ir_computes(IR_AS(node, assign)->value))
			violation(v, PROP_BLOCK_OPS, node, "An operator on tensors in a kernel",
				  IR_AS(IR_AS(node, assign)->value, call)->callee);
		break;
	case IR_FOR:
		need_memrefs(v, &IR_AS(node, for)->iter_args);
		need_memrefs(v, &IR_AS(node, for)->return_vars);
		break;
	case IR_WHILE:
		need_memrefs(v, &IR_AS(node, while)->iter_args);
		need_memrefs(v, &IR_AS(node, while)->return_vars);
		break;
	case IR_IF:
		need_memrefs(v, &IR_AS(node, if)->return_vars);
		break;
	}
	return node->kind >= IR_ASSIGN;
}

/* ---- Grouping ---- */

static void check_body(struct verify *v, struct ir_node *body)
{
	uint32_t i;

	if (body->kind != IR_SEQ) {
		violation(v, PROP_NORMALIZED, body, "A body is not a sequence", NULL);
		return;
	}
	for (i = 0; i < IR_AS(body, seq)->stmts.n; i++)
		if (IR_AS(body, seq)->stmts.at[i]->kind == IR_ASSIGN ||
		    IR_AS(body, seq)->stmts.at[i]->kind == IR_EVAL)
			violation(v, PROP_NORMALIZED, IR_AS(body, seq)->stmts.at[i],
				  "A statement stands outside of a group", NULL);
}

static bool visit_bodies(void *data, struct ir_node *node)
{
	const struct ir_field *field;

	for (field = ir_kind_info[node->kind].fields; field->name; field++) {
		struct ir_node **at = ir_field_at(node, field);

		if (field->kind == FK_STMT && *at)
			check_body(data, *at);
	}
	return node->kind >= IR_ASSIGN;
}

void verify_memory(struct verify *v, const struct ir_function *f)
{
	check_body(v, f->body);
	ir_walk(f->body, visit_bodies, v);
	if (f->func_type != FN_INCORE && f->func_type != FN_BLOCK_INCORE)
		return;
	need_memrefs(v, &f->params);
	ir_walk(f->body, visit_kernel, v);
}
