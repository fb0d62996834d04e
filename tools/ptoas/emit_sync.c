/* SPDX-License-Identifier: MIT */
/* Flags, barriers, cross-core synchronisation, cache maintenance, pipes. */
#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "pipe.h"

static const char *pipe_of(const struct pto_op *op, const char *name)
{
	int64_t p = pto_attr_int(op, name, PTO_PIPE_ALL);

	return pto_pipe_name((enum pto_pipe)(p >= 0 && p < PTO_PIPES ? p : PTO_PIPE_ALL));
}

static void flag(struct emit *e, struct pto_op *op, const char *call)
{
	emit_line(e, "%s(%s, %s, EVENT_ID%lld);", call, pipe_of(op, "src_pipe"),
		  pipe_of(op, "dst_pipe"), (long long)pto_attr_int(op, "event_id", 0));
}

static void dynamic_flag(struct emit *e, struct pto_op *op, const char *call)
{
	emit_line(e, "%s(%s, %s, (event_t)%s);", call, pipe_of(op, "src_pipe"),
		  pipe_of(op, "dst_pipe"), emit_name(e, op->operand[0].value).text);
}

/* The event of a cross-core operation: an attribute or an operand. */
static struct emit_name event_id(struct emit *e, struct pto_op *op, const char *attr)
{
	struct emit_name n;

	if (op->n_operands)
		return emit_name(e, op->operand[0].value);
	snprintf(n.text, sizeof(n.text), "%lld", (long long)pto_attr_int(op, attr, 0));
	return n;
}

static int find_ffts(struct pto_op *op, void *arg)
{
	(void)arg;
	return op->info->code == PTO_OP_SET_FFTS;
}

static void cross_core(struct emit *e, struct pto_op *op, bool set)
{
	struct emit_name id = event_id(e, op, "event_id");
	int64_t mode = pto_attr_int(op, "ffts_mode", 2);

	if (e->arch == PTO_ARCH_A5) {
		emit_line(e, "%s(%s, %s);", set ? "set_intra_block" : "wait_intra_block",
			  pipe_of(op, "pipe"), id.text);
		return;
	}
	if (!pto_walk(e->func->op, find_ffts, NULL)) {
		emit_fail(e, op, "A3 inter-core sync requires explicit set_ffts in the same "
			  "function");
		return;
	}
	if (!set)
		emit_line(e, "wait_flag_dev(%s);", id.text);
	else if (mode == 2)
		emit_line(e, "ffts_cross_core_sync(%s, getFFTSMsg(FFTS_MODE_VAL, %s));",
			  pipe_of(op, "pipe"), id.text);
	else
		emit_line(e, "ffts_cross_core_sync(%s, getFFTSMsg(%lld, %s));",
			  pipe_of(op, "pipe"), (long long)mode, id.text);
}

static void buffer_token(struct emit *e, struct pto_op *op, const char *call)
{
	static const char *const pipes[] = { "PIPE_MTE2", "PIPE_FIX", "PIPE_MTE3", "PIPE_MTE1",
					     "PIPE_FIX", "PIPE_MTE1", "PIPE_V", "PIPE_FIX",
					     "PIPE_M", "PIPE_V", "PIPE_V" };
	int64_t type = pto_attr_int(op, "op_type", 0);

	emit_line(e, "%s(%s, %s, %lld);", call, pipes[type >= 0 && type < 11 ? type : 0],
		  event_id(e, op, "buf_id").text, (long long)pto_attr_int(op, "mode", 0));
}

static void sync_all(struct emit *e, struct pto_op *op)
{
	static const char *const cores[] = { "Mix", "AICOnly", "AIVOnly" };
	int64_t core = pto_attr_int(op, "core_type", 0);
	unsigned int i;

	emit_begin(e);
	emit_add(e, "SYNCALL<SyncAllMode::%s, SyncCoreType::%s>(",
		 pto_attr_int(op, "mode", 0) ? "Soft" : "Hard",
		 cores[core >= 0 && core < 3 ? core : 0]);
	for (i = 0; i < op->n_operands; i++)
		emit_add(e, "%s%s", i ? ", " : "", emit_name(e, op->operand[i].value).text);
	emit_add(e, ");\n");
}

bool emit_sync(struct emit *e, struct pto_op *op)
{
	switch (pto_code(op)) {
	case PTO_OP_SET_FLAG:
		flag(e, op, "set_flag");
		return true;
	case PTO_OP_WAIT_FLAG:
		flag(e, op, "wait_flag");
		return true;
	case PTO_OP_SET_FLAG_DYN:
		dynamic_flag(e, op, "set_flag");
		return true;
	case PTO_OP_WAIT_FLAG_DYN:
		dynamic_flag(e, op, "wait_flag");
		return true;
	case PTO_OP_BARRIER:
		emit_line(e, "pipe_barrier(%s);", pipe_of(op, "pipe"));
		return true;
	case PTO_OP_SYNC_SET:
	case PTO_OP_SYNC_WAIT:
		cross_core(e, op, op->info->code == PTO_OP_SYNC_SET);
		return true;
	case PTO_OP_SET_FFTS:
		emit_line(e, "set_ffts_base_addr((uint64_t)%s);",
			  emit_name(e, op->operand[0].value).text);
		return true;
	case PTO_OP_GET_BUF:
		buffer_token(e, op, "get_buf");
		return true;
	case PTO_OP_RLS_BUF:
		buffer_token(e, op, "rls_buf");
		return true;
	case PTO_OP_SYNCALL:
		sync_all(e, op);
		return true;
	case PTO_OP_FENCE:
		emit_line(e, "dsb(%s);", pto_attr_int(op, "scope", 0) == 1 ? "DSB_UB" :
			  pto_attr_int(op, "scope", 0) == 0 ? "DSB_DDR" : "DSB_ALL");
		return true;
	case PTO_OP_CACHEINVALID:
		if (op->n_operands && op->operand[0].value->type->kind == PTO_T_PTR)
			emit_line(e, "dcci(%s, SINGLE_CACHE_LINE);",
				  emit_name(e, op->operand[0].value).text);
		else
			emit_line(e, "dcci((__gm__ void*)0, ENTIRE_DATA_CACHE);");
		return true;
	default:
		return false;
	}
}

void emit_tail(struct emit *e)
{
	const struct pto_attr *tail = pto_attr_find(e->func->op, "pto.auto_sync_tail");

	if (tail && tail->kind == PTO_ATTR_STRING)
		emit_line(e, "ptoas_auto_sync_tail(PTOAutoSyncTailMode::%s);",
			  !strcmp(tail->text->text, "mte3-to-s-event0") ? "kSetWaitMte3ToSEvent0" :
			  "kBarrierAll");
}

/* ---- Pipes --------------------------------------------------------------------------------- */

static void init(struct emit *e, struct pto_op *op)
{
	static const char *const names[] = { "?", "DIR_C2V", "DIR_V2C", "DIR_BOTH" };
	struct pipe_facts p = pipe_facts_of(e->m, op, e->arch);
	const struct pto_use *gm = pto_operand(op, 0), *c2v = pto_operand(op, 1);
	const struct pto_use *v2c = pto_operand(op, 2);

	emit_begin(e);
	emit_add(e, "auto pipe%lld = TPipe<%lld, Direction::%s%s, %lld, %lld, %lld, %s>(",
		 (long long)pto_attr_int(op, "id", 0), (long long)p.flag_base, names[p.dir & 3],
		 e->arch == PTO_ARCH_A5 && gm && p.dir != 3 ? "_GM" : "", (long long)p.slot_bytes,
		 (long long)p.slots, (long long)p.local_slots, p.nosplit ? "true" : "false");
	emit_add(e, "%s, ", gm ? emit_name(e, gm->value).text : "nullptr");
	emit_add(e, "%s, ", c2v ? emit_int(e, c2v->value).text : "0");
	emit_add(e, "%s);\n", v2c ? emit_int(e, v2c->value).text : "0");
}

static const char *split_name(const struct pto_op *op)
{
	int64_t s = pipe_split(op);

	return s == 1 ? "TILE_UP_DOWN" : s == 2 ? "TILE_LEFT_RIGHT" : "TILE_NO_SPLIT";
}

static void transfer(struct emit *e, struct pto_op *op, const char *call, struct pto_value *tile)
{
	long long id = (long long)pto_attr_int(op, "id", 0);
	struct emit_name t = emit_name(e, tile);

	emit_line(e, "%s<decltype(pipe%lld), decltype(%s), TileSplitAxis::%s>(pipe%lld, %s);", call,
		  id, t.text, split_name(op), id, t.text);
}

bool emit_pipe(struct emit *e, struct pto_op *op)
{
	long long id = (long long)pto_attr_int(op, "id", 0);

	switch (pto_code(op)) {
	case PTO_OP_AIC_INITIALIZE_PIPE:
	case PTO_OP_AIV_INITIALIZE_PIPE:
		init(e, op);
		return true;
	case PTO_OP_TPUSH_TO_AIV:
	case PTO_OP_TPUSH_TO_AIC:
		transfer(e, op, "TPUSH", op->operand[0].value);
		return true;
	case PTO_OP_TPOP_FROM_AIC:
	case PTO_OP_TPOP_FROM_AIV:
		emit_declare_tile(e, &op->result[0], pto_operand(op, 0), pto_operand(op, 1));
		transfer(e, op, "TPOP", &op->result[0]);
		return true;
	case PTO_OP_TFREE_FROM_AIC:
	case PTO_OP_TFREE_FROM_AIV:
		emit_line(e, "TFREE<decltype(pipe%lld), TileSplitAxis::%s>(pipe%lld);", id,
			  split_name(op), id);
		return true;
	default:
		return false;
	}
}
