/* SPDX-License-Identifier: MIT */
/*
 * Pipes between the kernels of a cluster, in .pto text: section 15. The direction follows from
 * the core that this kernel runs on. A popped tile's slot is freed behind its last use, in order
 * of the pops (D32).
 */
#include <string.h>

#include "gen_pto.h"

int64_t pto_slot_bytes(const struct ir_type *pipe)
{
	return pto_dim(&pipe->shape, 1) * pto_dim(&pipe->shape, 0) *
	       ((dtype_info(pipe->dtype)->bits + 7) / 8);
}

/* "tpop" and the side it comes from, for this core. */
static const char *pipe_op(struct pto_gen *g, const char *verb)
{
	bool push = !strcmp(verb, "tpush");

	return px_printf(g->px, "pto.%s_%s_%s", verb, push ? "to" : "from",
			 g->core == CORE_CUBE ? "aiv" : "aic");
}

/* Memory of a consumer for tiles that arrive through its pipe @p; 0: it is the producer. */
static int64_t local_bytes(struct pto_gen *g, uint32_t p)
{
	int64_t slots = g->arch == ARCH_A5 ? 2 : PIPE_SLOTS;

	if (g->f->directions[p] != DIR_PIPE_IN)
		return 0;
	return slots * pto_slot_bytes(g->f->params.at[p]->type);
}

/* Memory that the assembler places; a function has one such buffer for all its pipes. */
struct arrivals {
	const char *buffer;
	int64_t bytes;		/* of the pipes before */
};

static int64_t aligned(int64_t bytes)
{
	return (bytes + 255) / 256 * 256;
}

static void reserve(struct pto_gen *g, struct arrivals *a, uint32_t first)
{
	int64_t bytes = 0;
	uint32_t p;

	for (p = 0; p < g->f->params.n; p++)
		if (local_bytes(g, p))
			bytes = aligned(bytes) + local_bytes(g, p);
	a->buffer = pto_temp(g);
	pto_line(g, "%s = pto.reserve_buffer {name = \"pipe%u\", size = %lld, location = #pto.address_space<%s>, auto = true} -> i32",
		 a->buffer, gen_pipe_number(g->px, g->program, g->f, first), (long long)bytes,
		 g->core == CORE_CUBE ? "mat" : "vec");
}

/* Where popped tiles arrive. */
static const char *local_buffer(struct pto_gen *g, struct arrivals *a, uint32_t p)
{
	const char *offset, *at;

	if (!local_bytes(g, p))
		return pto_constant(g, 0, "i32").name;
	offset = pto_constant(g, aligned(a->bytes), "i32").name;
	if (!a->buffer)
		reserve(g, a, p);
	at = pto_temp(g);
	pto_line(g, "%s = arith.addi %s, %s : i32", at, a->buffer, offset);
	a->bytes = aligned(a->bytes) + local_bytes(g, p);
	return at;
}

static void put_pipe(struct pto_gen *g, struct arrivals *a, uint32_t p)
{
	const struct ir_node *var = g->f->params.at[p];
	bool pops = g->f->directions[p] == DIR_PIPE_IN;
	bool to_vector = pops == (g->core == CORE_VECTOR);
	unsigned int number = gen_pipe_number(g->px, g->program, g->f, p);
	int64_t bytes = pto_slot_bytes(var->type);
	const char *local = local_buffer(g, a, p);
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
	struct arrivals a = { 0 };
	uint32_t p;

	for (p = 0; p < g->f->params.n; p++)
		if (g->f->params.at[p]->type->kind == TY_PIPE)
			put_pipe(g, &a, p);
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
