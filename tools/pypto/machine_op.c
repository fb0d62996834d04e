/* SPDX-License-Identifier: MIT */
/* Calls as instructions: which operands they have. */
#include <string.h>

#include "machine.h"
#include "ops.h"

struct operands {
	struct machine *mc;
	struct pto_value *at[16];
	uint8_t group[16];
	unsigned int n;
};

static enum pto_elem elem_of(struct machine *mc, unsigned int dtype)
{
	const struct dtype_info *info = dtype_info(dtype);
	const struct pto_name *name = info->mlir ? pto_intern_text(mc->m, info->mlir) : NULL;

	if (dtype == DT_BOOL || (!(name && name->elem) && info->bits <= 8))
		return PTO_I8;
	if (name && name->elem)
		return name->elem;
	return info->bits <= 16 ? PTO_I16 : info->bits <= 32 ? PTO_I32 : PTO_I64;
}

static int64_t extent(const struct ir_node *dim)
{
	return dim->kind == IR_CONST_INT ? IR_AS(dim, const)->value : PTO_DYNAMIC;
}

const struct pto_type *machine_tile(struct machine *mc, const struct ir_type *type)
{
	static const uint8_t boxes[] = { [TL_NONE_BOX] = PTO_NONE_BOX,
					 [TL_ROW_MAJOR] = PTO_BOX_ROW_MAJOR,
					 [TL_COL_MAJOR] = PTO_BOX_COL_MAJOR };
	enum pto_space space = machine_space(type->memref ? type->memref->space : MS_VEC);
	struct pto_type t = {
		.kind = PTO_T_TILE, .elem = (uint8_t)elem_of(mc, type->dtype), .rank = 2,
		.space = space < PTO_SPACES ? (uint8_t)space : PTO_SPACE_SCALING,
		.blayout = type->view.blayout == TL_COL_MAJOR ? PTO_COL_MAJOR : PTO_ROW_MAJOR,
		.slayout = boxes[type->view.slayout], .fractal = type->view.fractal,
		.dim = { 1, 1 },
	};
	uint32_t i, n = type->shape.n;

	if (n)
		t.dim[1] = extent(type->shape.at[n - 1]);
	for (i = 0; i + 1 < n; i++)
		t.dim[0] *= extent(type->shape.at[i]) < 0 ? -1 : extent(type->shape.at[i]);
	if (t.dim[0] < 0)
		t.dim[0] = PTO_DYNAMIC;
	t.valid[0] = t.dim[0];
	t.valid[1] = t.dim[1];
	return pto_type_get(mc->m, &t);
}

static void put(struct operands *o, unsigned int group, struct pto_value *v)
{
	if (!v || o->n == sizeof(o->at) / sizeof(o->at[0]))
		return;
	o->at[o->n] = v;
	o->group[o->n++] = (uint8_t)group;
}

static void put_scalar(struct operands *o, unsigned int group, enum pto_elem elem)
{
	put(o, group, machine_arg(o->mc, pto_scalar(o->mc->m, elem)));
}

static void put_node(struct operands *o, unsigned int group, const struct ir_node *arg)
{
	switch (arg->type->kind) {
	case TY_TILE:
	case TY_TENSOR:
		put(o, group, machine_value(o->mc, arg));
		break;
	case TY_SCALAR:
		put_scalar(o, group, elem_of(o->mc, arg->type->dtype));
		break;
	}
}

/* Arguments from @from on, lists left out. */
static void put_rest(struct operands *o, const struct ir_call *call, uint32_t from)
{
	uint32_t i;

	for (i = from; i < call->args.n; i++)
		if (call->args.at[i] && call->args.at[i]->kind != IR_MAKE_TUPLE)
			put_node(o, 0, call->args.at[i]);
}

static bool is_op(const struct ir_call *call, const char *name)
{
	return !strcmp(call->op->name + 6, name);	/* behind "block." */
}

/* The operands of the instruction, where they are not the arguments and then the result. */
static void put_operands(struct operands *o, const struct ir_call *call, struct ir_node *result)
{
	const struct ir_list *args = &call->args;

	if (call->op->rule == rule_store || call->op->rule == rule_mscatter) {
		put_node(o, 0, args->at[0]);
		if (call->op->rule == rule_mscatter)
			put_node(o, 0, args->at[1]);
		put_node(o, 1, args->at[call->op->rule == rule_store ? 3 : 2]);
		return;
	}
	if (is_op(call, "getval")) {
		put_node(o, 0, args->at[0]);
		put_node(o, 1, args->at[1]);
		return;
	}
	if (is_op(call, "setval")) {
		put_node(o, 0, args->at[1]);
		put_node(o, 0, args->at[2]);
		put_node(o, 1, args->at[0]);
		return;
	}
	put_rest(o, call, is_op(call, "expands") || is_op(call, "col_expand") ||
		 is_op(call, "scatter"));
	if (is_op(call, "mrgsort") && call_attr(call, "block_len"))
		put_scalar(o, 0, PTO_I32);
	if (result)
		put_node(o, 1, result);
}

/* Where the table does not know the form: everything that is not the result is read. */
static void set_roles(struct pto_op *op)
{
	unsigned int i;

	for (i = 0; i < op->n_operands; i++) {
		const struct pto_type *t = op->operand[i].value->type;
		bool buffer = pto_is_local(t) || pto_is_global(t);

		op->operand[i].role = !buffer ? PTO_ROLE_VALUE :
				      op->operand[i].group ? PTO_ROLE_WRITE : PTO_ROLE_READ;
		op->operand[i].apart = true;
	}
}

/*
 * Roles of the operands. A scratch tile that the language leaves out stands in while they are
 * looked up; it is nobody's buffer.
 */
static void bind(struct machine *mc, struct pto_op *op)
{
	static const struct pto_type scratch = { .kind = PTO_T_TILE, .elem = PTO_I8, .rank = 2,
						 .space = PTO_SPACE_VEC };
	struct pto_value *v;
	unsigned int i;

	if (!pto_op_bind(op))
		return;
	v = machine_arg(mc, pto_type_get(mc->m, &scratch));
	if (!v || pto_add_operand(mc->m, op, 0, v) || pto_op_bind(op))
		set_roles(op);
	for (i = 0; i < op->n_operands; i++)
		if (op->operand[i].value == v)
			op->operand[i].role = PTO_ROLE_VALUE;
}

static struct pto_op *instruction(struct machine *mc, enum pto_opcode code,
				  const struct operands *o)
{
	struct pto_op *op = pto_op_new(mc->m, code, (struct pto_op_shape){ .operands = o->n },
				       (struct pto_loc){ .at = PTO_NO_PLACE });
	unsigned int i;

	for (i = 0; op && i < o->n; i++) {
		op->operand[i].group = o->group[i];
		pto_set_operand(op, i, o->at[i]);
	}
	if (op)
		bind(mc, op);
	return op;
}

/*
 * A store from an accumulator is one of pipe FIX in one chapter, of MTE3 in another: it counts as
 * both (D30).
 */
static void both_pipes(struct machine *mc, struct pto_op *op)
{
	struct pto_opinfo *info;

	if (op->info->code != PTO_OP_TSTORE ||
	    pto_type_space(op->operand[0].value->type) != PTO_SPACE_ACC)
		return;
	info = px_new(mc->px, struct pto_opinfo);
	*info = *op->info;
	info->pipes[PTO_ARCH_A3] = PTO_PIPE(FIX) | PTO_PIPE(MTE3);
	info->pipes[PTO_ARCH_A5] = PTO_PIPE(FIX) | PTO_PIPE(MTE3);
	op->info = info;
}

static struct pto_op *flag_op(struct machine *mc, const struct ir_call *call, enum pto_opcode code)
{
	struct pto_op *op = pto_op_new(mc->m, code, (struct pto_op_shape){ 0 },
				       (struct pto_loc){ .at = PTO_NO_PLACE });

	if (!op)
		return NULL;
	pto_set_attr_enum(mc->m, op, "src_pipe", PTO_A_PIPE,
			  machine_pipe(call_attr(call, "set_pipe")));
	pto_set_attr_enum(mc->m, op, "dst_pipe", PTO_A_PIPE,
			  machine_pipe(call_attr(call, "wait_pipe")));
	pto_set_attr_enum(mc->m, op, "event_id", PTO_A_EVENT, call_attr(call, "event_id"));
	return op;
}

static struct pto_op *barrier_op(struct machine *mc, const char *name)
{
	static const struct {
		const char *name;
		enum pto_pipe pipe;
	} table[] = {
		{ "bar_v", PTO_PIPE_V }, { "bar_m", PTO_PIPE_M }, { "bar_all", PTO_PIPE_ALL },
		{ "bar_mte1", PTO_PIPE_MTE1 }, { "bar_mte2", PTO_PIPE_MTE2 },
		{ "bar_mte3", PTO_PIPE_MTE3 }, { "bar_fix", PTO_PIPE_FIX },
	};
	struct pto_op *op = pto_op_new(mc->m, PTO_OP_BARRIER, (struct pto_op_shape){ 0 },
				       (struct pto_loc){ .at = PTO_NO_PLACE });
	size_t i;

	for (i = 0; op && i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, name))
			pto_set_attr_enum(mc->m, op, "pipe", PTO_A_PIPE, table[i].pipe);
	return op;
}

static struct pto_op *system_op(struct machine *mc, const struct ir_call *call)
{
	const char *name = call->op->name + strlen("system.");

	if (mc->view == MACHINE_VALUES)
		return NULL;

	if (!strcmp(name, "sync_src"))
		return flag_op(mc, call, PTO_OP_SET_FLAG);
	if (!strcmp(name, "sync_dst"))
		return flag_op(mc, call, PTO_OP_WAIT_FLAG);
	return strncmp(name, "bar_", 4) ? NULL : barrier_op(mc, name);
}

static struct pto_op *pipe_op(struct machine *mc, const struct ir_call *call,
			      struct ir_node *result)
{
	struct operands o = { .mc = mc };
	bool push = call->op->rule == rule_tpush, pop = call->op->rule == rule_tpop;

	if (push || pop)
		put_node(&o, 0, push ? call->args.at[0] : result);
	put_scalar(&o, push || pop, PTO_I32);
	return instruction(mc, push ? PTO_OP_TPUSH : pop ? PTO_OP_TPOP : PTO_OP_TFREE, &o);
}

static struct pto_op *read_op(struct machine *mc, const struct ir_call *call)
{
	struct operands o = { .mc = mc };
	struct pto_op *op;

	put_node(&o, 0, call->args.at[0]);
	op = instruction(mc, PTO_OP_LOAD_SCALAR, &o);
	if (op)
		set_roles(op);
	return op;
}

/* The instruction that does the work of an operator which several instructions make up. */
static enum pto_opcode code_of(const struct ir_call *call)
{
	if (call->op->instr)
		return pto_op_find(call->op->instr, strlen(call->op->instr));
	if (call->op->rule == rule_reduce)
		return PTO_OP_TROWSUM;
	return call->op->rule == rule_batch_matmul ? PTO_OP_TMATMUL : PTO_OP_NONE;
}

struct pto_op *machine_call(struct machine *mc, const struct ir_call *call, struct ir_node *result)
{
	struct operands o = { .mc = mc };
	enum pto_opcode code;
	struct pto_op *op;

	if (!call->op)
		return NULL;
	if (op_is(call->op, "system"))
		return system_op(mc, call);
	if (op_is(call->op, "pipe") && call->op->rule != rule_create_pipe)
		return pipe_op(mc, call, result);
	if (call->op->rule == rule_read)
		return read_op(mc, call);
	if (!op_is(call->op, "block") || is_op(call, "reshape") || is_op(call, "view"))
		return NULL;
	code = code_of(call);
	if (code == PTO_OP_NONE || !strncmp(call->op->name, "block.get_", 10))
		return NULL;
	put_operands(&o, call, result);
	op = instruction(mc, code, &o);
	if (op)
		both_pipes(mc, op);
	return op;
}

enum pto_space machine_space(enum memory_space space)
{
	static const uint8_t spaces[] = {
		[MS_DDR] = PTO_SPACE_GM, [MS_VEC] = PTO_SPACE_VEC, [MS_MAT] = PTO_SPACE_MAT,
		[MS_LEFT] = PTO_SPACE_LEFT, [MS_RIGHT] = PTO_SPACE_RIGHT,
		[MS_ACC] = PTO_SPACE_ACC, [MS_BIAS] = PTO_SPACE_BIAS,
		[MS_LEFT_SCALE] = PTO_SPACE_SCALE_LEFT, [MS_RIGHT_SCALE] = PTO_SPACE_SCALE_RIGHT,
	};

	_Static_assert(sizeof(spaces) == MS_SPACES, "the assembler's memory for each");
	return spaces[space];
}

static const uint8_t pipes[] = { PTO_PIPE_MTE1, PTO_PIPE_MTE2, PTO_PIPE_MTE3, PTO_PIPE_M,
				 PTO_PIPE_V, PTO_PIPE_S, PTO_PIPE_FIX, PTO_PIPE_ALL };

enum pto_pipe machine_pipe(int64_t pipe_type)
{
	return pipes[pipe_type];
}

int64_t machine_pipe_type(enum pto_pipe pipe)
{
	size_t i;

	for (i = 0; i < sizeof(pipes); i++)
		if (pipes[i] == pipe)
			return (int64_t)i;
	return -1;
}
