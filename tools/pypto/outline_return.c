/* SPDX-License-Identifier: MIT */
/*
 * Returned tensors that are chosen while an orchestration runs. A result has one place, which the
 * caller gives; a tensor that a loop exchanged, that a branch took from several that exist, or that
 * is part of another one or has another shape is copied there by a region in front of the return
 * (decisions.md).
 */
#include "blockops.h"
#include "outline.h"

/* ---- The copy ---- */

/* "_r0 = create(); with incore: _r1 = assemble(_r0, value)": _r1, or NULL with a mistake. */
static struct ir_node *copied(struct px *px, struct ir_node *value, uint32_t number,
			      struct ir_list *out)
{
	struct op_use create = { .px = px, .op = op_find("tensor.create"), .span = value->span };
	struct op_use assemble = { .px = px, .op = op_find("tensor.assemble"), .span = value->span };
	struct ir_attr dtype = { .key = "dtype", .kind = AT_DTYPE, .i = value->type->dtype };
	struct ir_list zeros = { 0 };
	struct ir_scope *scope = ir_new(px, IR_SCOPE, value->span, NULL);
	struct ir_node *call, *place, *var;
	uint32_t i;

	for (i = 0; i < value->type->shape.n; i++)
		list_push(px, &zeros, ir_int(px, 0, DT_INDEX, value->span));
	list_push(px, &create.args, block_list(px, &value->type->shape, value->span));
	create.attrs = &dtype;
	create.n_attrs = 1;
	call = op_call(&create);
	if (!call)
		return NULL;
	place = ir_var(px, px_printf(px, "_r%u", 2 * number), call->type, value->span);
	list_push(px, out, ir_assign(px, place, call, value->span));
	list_push(px, &assemble.args, place);
	list_push(px, &assemble.args, value);
	list_push(px, &assemble.args, block_list(px, &zeros, value->span));
	call = op_call(&assemble);
	if (!call)
		return NULL;
	var = ir_var(px, px_printf(px, "_r%u", 2 * number + 1), call->type, value->span);
	scope->body = ir_assign(px, var, call, value->span);
	list_push(px, out, &scope->node);
	return var;
}

/* ---- Returns ---- */

/* The place of a result is that of the tensor itself. */
static bool has_no_place(const struct tensor_roots *r, struct ir_node *value)
{
	struct ir_node *root = tensor_root(r, value);

	return value->type->kind == TY_TENSOR && value->type->shape.n &&
	       (tensor_is_chosen(r, root) || tensor_reshaped(value, root));
}

struct ir_node *outline_returns(struct px *px, const struct ir_program *program,
				const struct ir_function *f)
{
	struct tensor_roots r = tensor_roots(px, program, f);
	const struct ir_values *values = ir_last(f->body, IR_RETURN);
	struct ir_list stmts = ir_flat(px, f->body), out = { 0 }, list = { 0 };
	bool changed = false;
	uint32_t i;

	if (!values)
		return f->body;
	for (i = 0; i + 1 < stmts.n; i++)
		list_push(px, &out, stmts.at[i]);
	for (i = 0; i < values->values.n; i++) {
		struct ir_node *value = values->values.at[i], *copy = value;

		if (has_no_place(&r, value))
			copy = copied(px, value, i, &out);
		changed |= copy != value;
		list_push(px, &list, copy ? copy : value);
	}
	if (!changed)
		return f->body;
	list_push(px, &out, ir_values(px, IR_RETURN, list, values->node.span));
	return ir_body(px, out, f->body->span);
}
