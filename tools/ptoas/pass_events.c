/* SPDX-License-Identifier: MIT */
/*
 * record_event, wait_event and barrier_sync become set_flag, wait_flag and barrier. Section 9.4.
 * Needs a verified module. On a5 a barrier of the vector pipe is dropped: the hardware orders it.
 */
#include "passes.h"

/* By the value of pipe_event_type, which sync_op_type shares. */
static const enum pto_pipe pipe_of[] = {
	PTO_PIPE_MTE2,	/* TLOAD */
	PTO_PIPE_FIX,	/* TSTORE_ACC */
	PTO_PIPE_MTE3,	/* TSTORE_VEC */
	PTO_PIPE_MTE1,	/* TMOV_M2L */
	PTO_PIPE_FIX,	/* TMOV_M2S */
	PTO_PIPE_MTE1,	/* TMOV_M2B */
	PTO_PIPE_V,	/* TMOV_M2V */
	PTO_PIPE_FIX,	/* TMOV_V2M */
	PTO_PIPE_M,	/* TMATMUL */
	PTO_PIPE_V,	/* TVEC */
	PTO_PIPE_V,	/* TVECWAIT_EVENT */
};

static int replace(struct pto_pass_ctx *c, struct pto_op *op, enum pto_opcode code)
{
	struct pto_op *flag = pto_op_new(c->module, code, (struct pto_op_shape){ 0 }, op->loc);
	int64_t src = pto_attr_int(op, "src_op", 0), dst = pto_attr_int(op, "dst_op", 0);

	if (!flag ||
	    pto_set_attr_enum(c->module, flag, "src_pipe", PTO_A_PIPE, pipe_of[src]) ||
	    pto_set_attr_enum(c->module, flag, "dst_pipe", PTO_A_PIPE, pipe_of[dst]) ||
	    pto_set_attr_enum(c->module, flag, "event_id", PTO_A_EVENT,
			      pto_attr_int(op, "event_id", 0)))
		return -ENOMEM;
	pto_insert_before(op, flag);
	pto_remove(op);
	return 0;
}

static int replace_barrier(struct pto_pass_ctx *c, struct pto_op *op)
{
	enum pto_pipe pipe = pipe_of[pto_attr_int(op, "op_type", 0)];
	struct pto_op *barrier;

	if (c->arch != PTO_ARCH_A5 || pipe != PTO_PIPE_V) {
		barrier = pto_op_new(c->module, PTO_OP_BARRIER, (struct pto_op_shape){ 0 },
				     op->loc);
		if (!barrier || pto_set_attr_enum(c->module, barrier, "pipe", PTO_A_PIPE, pipe))
			return -ENOMEM;
		pto_insert_before(op, barrier);
	}
	pto_remove(op);
	return 0;
}

static int lower(struct pto_op *op, void *arg)
{
	switch (pto_code(op)) {
	case PTO_OP_RECORD_EVENT:
		return replace(arg, op, PTO_OP_SET_FLAG);
	case PTO_OP_WAIT_EVENT:
		return replace(arg, op, PTO_OP_WAIT_FLAG);
	case PTO_OP_BARRIER_SYNC:
		return replace_barrier(arg, op);
	default:
		return 0;
	}
}

int pass_lower_events(struct pto_pass_ctx *c)
{
	pto_for_each_func(f, c->module) {
		int ret = pto_walk(f->op, lower, c);

		if (ret)
			return ret;
	}
	return 0;
}
