/* SPDX-License-Identifier: MIT */
/*
 * Pipes between the kernels of a cluster, in .pto text: section 15. The direction follows from
 * the core that this kernel runs on. A popped tile's slot is freed behind its last use, in order
 * of the pops (D32).
 */
#include <string.h>

#include "gen_pto.h"

static int64_t slot_bytes(const struct ir_type *pipe)
{
	return pto_dim(&pipe->shape, 1) * pto_dim(&pipe->shape, 0) *
	       (dtype_info(pipe->dtype)->bits + 7) / 8;
}

/* "tpop" and the side it comes from, for this core. */
static const char *pipe_op(struct pto_gen *g, const char *verb)
{
	bool push = !strcmp(verb, "tpush");

	return px_printf(g->px, "pto.%s_%s_%s", verb, push ? "to" : "from",
			 g->core == CORE_CUBE ? "aiv" : "aic");
}

/* Where popped tiles arrive: memory of the consumer that the assembler places. */
static const char *local_buffer(struct pto_gen *g, unsigned int number, int64_t bytes, bool pops)
{
	const char *zero = pto_constant(g, 0, "i32").name, *buffer, *at;
	int64_t slots = g->arch == ARCH_A5 ? 2 : PIPE_SLOTS;

	if (!pops)
		return zero;
	buffer = pto_temp(g);
	pto_line(g, "%s = pto.reserve_buffer {name = \"pipe%u\", size = %lld, location = #pto.address_space<%s>, auto = true} -> i32",
		 buffer, number, (long long)(slots * bytes), g->core == CORE_CUBE ? "mat" : "vec");
	at = pto_temp(g);
	pto_line(g, "%s = arith.addi %s, %s : i32", at, buffer, zero);
	return at;
}

static void put_pipe(struct pto_gen *g, uint32_t p)
{
	const struct ir_node *var = g->f->params.at[p];
	bool pops = g->f->directions[p] == DIR_PIPE_IN;
	bool to_vector = pops == (g->core == CORE_VECTOR);
	unsigned int number = gen_pipe_number(g->px, g->program, g->f, p);
	int64_t bytes = slot_bytes(var->type);
	const char *local = local_buffer(g, number, bytes, pops);
	struct text buffers = { .px = g->px };

	if (g->arch == ARCH_A2A3)
		text_printf(&buffers, "gm_slot_buffer = %s : !pto.ptr<f32>, ", g->gm_slots);
	text_printf(&buffers, "%s = %s : i32", to_vector ? "c2v_consumer_buf" : "v2c_consumer_buf",
		    local);
	pto_line(g, "pto.%s_initialize_pipe {id = %u, dir_mask = %d, slot_size = %lld, slot_num = %d, flag_base = %u, nosplit = true} (%s)",
		 g->core == CORE_CUBE ? "aic" : "aiv", number, to_vector ? 1 : 2, (long long)bytes,
		 PIPE_SLOTS, 2 * number, text_str(&buffers));
	var_map_set(&g->pipes, var, px_printf(g->px, "%u", number));
}

void pto_pipes(struct pto_gen *g)
{
	uint32_t p;

	for (p = 0; p < g->f->params.n; p++)
		if (g->f->params.at[p]->type->kind == TY_PIPE)
			put_pipe(g, p);
}

/* ---- Uses ---- */

static const char *number_of(struct pto_gen *g, const struct ir_node *pipe)
{
	const char *number = var_map_get(&g->pipes, pipe);

	if (number)
		return number;
	pto_mistake(g, pipe, "Use the pipe parameter itself",
		    "A kernel works on its own pipe parameters; this is none of them");
	return "0";
}

static void put_pop(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *t = px_new(g->px, struct pto_tile);

	t->type = var->type;
	t->memref = var->type->memref;
	t->space = g->core == CORE_CUBE ? MS_MAT : MS_VEC;
	t->sized = true;
	t->v = (struct pto_value){ pto_temp(g), pto_tile_type(g, var->type, t->space) };
	var_map_set(&g->tiles, var, t);
	pto_line(g, "%s = %s {split = 0, id = %s} -> %s", t->v.name, pipe_op(g, "tpop"),
		 number_of(g, call->args.at[0]), t->v.type);
}

void pto_free(struct pto_gen *g, const struct ir_node *pipe)
{
	pto_line(g, "%s {split = 0, id = %s}", pipe_op(g, "tfree"), number_of(g, pipe));
}

bool pto_pipe(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *t;

	if (call->op->rule == rule_tpop) {
		put_pop(g, var, call);
	} else if (call->op->rule == rule_tpush) {
		t = pto_tile_of(g, call->args.at[0]);
		pto_line(g, "%s(%s : %s) {split = 0, id = %s}", pipe_op(g, "tpush"), t->v.name,
			 t->v.type, number_of(g, call->args.at[1]));
	} else if (!strcmp(call->op->name, "pipe.tfree")) {
		pto_free(g, call->args.at[1]);
	} else {
		return false;
	}
	return true;
}
