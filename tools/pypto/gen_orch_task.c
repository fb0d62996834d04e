/* SPDX-License-Identifier: MIT */
/* One submit of an orchestration: sections 9.3 and 15.6. */
#include "gen_orch.h"

#define MAX_TENSORS	32
#define MAX_SCALARS	16

static const char *tensor_entry(const struct ir_node *param, uint8_t direction)
{
	if (direction == DIR_PIPE_IN)
		return "make_pipe_in_param";
	if (direction == DIR_PIPE_OUT)
		return "make_pipe_out_param";
	if (param->type->kind == TY_CLUSTER)
		return "make_cluster_param";
	return direction == DIR_OUT ? "make_output_param" :
	       direction == DIR_INOUT ? "make_inout_param" : "make_input_param";
}

static const char *integer_text(struct orch *o, const struct ir_node *e)
{
	unsigned int dtype = e->type->dtype;

	if (dtype == DT_INT64 || dtype == DT_INDEX)
		return px_printf(o->px, "(uint64_t)%s", gen_expr(&o->g, e));
	if (dtype == DT_UINT64)
		return gen_expr(&o->g, e);
	return px_printf(o->px, "(uint64_t)static_cast<%s>(%s)", orch_c_type(o, e),
			 gen_expr(&o->g, e));
}

static const char *scalar_text(struct orch *o, const struct ir_node *e)
{
	unsigned int dtype = e->type->dtype;
	const char *text;

	if (e->kind == IR_CONST_BOOL)
		return IR_AS(e, const)->value ? "(uint64_t)1" : "(uint64_t)0";
	if (e->kind == IR_CONST_INT)
		return integer_text(o, e);
	if (e->kind == IR_CONST_FLOAT && dtype != DT_FP32)
		return px_printf(o->px, "(uint64_t)0x%llx",
				 (unsigned long long)gen_float_bits(IR_AS(e, float)->value, dtype));
	text = gen_expr(&o->g, e);
	if (dtype == DT_FP32)
		return px_printf(o->px, "float_to_u64(%s)", text);
	if (dtype == DT_FP64)
		return px_printf(o->px, "to_u64(%s)", text);
	return ir_is_var(e) ? text : px_printf(o->px, "static_cast<uint64_t>(%s)", text);
}

static const char *entry_text(struct orch *o, const struct ir_function *callee, uint32_t i,
			      const struct ir_node *arg)
{
	const struct ir_node *param = callee->params.at[i];
	struct entity *e = ir_is_var(arg) ? orch_entity(o, arg) : NULL;

	if (arg->type->kind == TY_SCALAR)
		return px_printf(o->px, "make_scalar_param(%s)", scalar_text(o, arg));
	if (!e || !e->name) {
		diag_add(o->px, DIAG_COMPILE, arg->span,
			 "Internal error: argument '%s' of '%s' stands for no tensor",
			 gen_written_name(o->px, param), callee->name);
		return "";
	}
	if (arg->type->kind == TY_CLUSTER)
		return px_printf(o->px, "make_cluster_param(%s)", e->name);
	return px_printf(o->px, "%s(%s)", tensor_entry(param, callee->directions[i]), e->name);
}

static void check_count(struct orch *o, const struct ir_call *call)
{
	unsigned int tensors = 0, scalars = 0;
	uint32_t i;

	for (i = 0; i < call->args.n; i++) {
		if (call->args.at[i]->type->kind == TY_SCALAR)
			scalars++;
		else
			tensors++;
	}
	if (tensors <= MAX_TENSORS && scalars <= MAX_SCALARS)
		return;
	diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, call->node.span,
				  "Function '%s' is called with %u tensors and %u scalars; a task has at most %d and %d",
				  call->callee, tensors, scalars, MAX_TENSORS, MAX_SCALARS),
		  "Combine tensors, and read them by slices");
}

static void submit(struct orch *o, const struct ir_call *call, const struct ir_function *callee,
		   const char *params, uint32_t id)
{
	const char *worker = gen_core(o->px, callee) == CORE_CUBE ? "PTO2_WORKER_CUBE" :
								    "PTO2_WORKER_VECTOR";

	if (callee->func_type == FN_BLOCK_INCORE && call->blockdim)
		gen_line(&o->g, "pto2_rt_submit_block_task(rt, %u, %s, %s, %u, %s);", id, worker,
			 params, call->args.n, gen_expr(&o->g, call->blockdim));
	else
		gen_line(&o->g, "pto2_rt_submit_task(rt, %u, %s, %s, %u);", id, worker, params,
			 call->args.n);
}

void orch_task(struct orch *o, const struct ir_call *call)
{
	const struct ir_function *callee = program_find(o->program, call->callee);
	const char *params = px_printf(o->px, "params_t%u", o->n_tasks);
	uint32_t id, i;

	for (id = 0; id < o->called.n && o->called.at[id] != &callee->node; id++)
		;
	if (callee->func_type != FN_INCORE && callee->func_type != FN_BLOCK_INCORE) {
		diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, call->node.span,
					  "Function '%s' is called from an orchestration but is no kernel",
					  callee->name),
			  "Mark it with type=pl.FunctionType.InCore");
		return;
	}
	check_count(o, call);
	gen_line(&o->g, "%s", "");
	gen_line(&o->g, "// Task %u: %s", o->n_tasks++, call->callee);
	if (!call->args.n) {
		submit(o, call, callee, "nullptr", id);
		return;
	}
	gen_line(&o->g, "PTOParam %s[] = {", params);
	o->g.indent++;
	for (i = 0; i < call->args.n; i++)
		gen_line(&o->g, "%s,", entry_text(o, callee, i, call->args.at[i]));
	o->g.indent--;
	gen_line(&o->g, "};");
	submit(o, call, callee, params, id);
}
