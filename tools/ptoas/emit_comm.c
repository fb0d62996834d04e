/* SPDX-License-Identifier: MIT */
/*
 * Signals and transfers between chips: direct ones, and those of an engine, which give an event.
 * Handles are objects; what a session is made of means nothing on the host. Section 6.
 */
#include "emit.h"

static bool direct(struct emit *e, struct pto_op *op)
{
	struct pto_use *u = op->operand;
	struct emit_name a, b;

	switch (pto_code(op)) {
	case PTO_OP_COMM_TNOTIFY:
		a = emit_global(e, op, u[0].value);
		emit_line(e, "pto::comm::TNOTIFY(%s, %s, pto::comm::NotifyOp::%s);", a.text,
			  emit_name(e, u[1].value).text,
			  pto_attr_int(op, "notifyOp", 0) ? "AtomicAdd" : "Set");
		return true;
	case PTO_OP_COMM_TWAIT:
		a = emit_global(e, op, u[0].value);
		emit_line(e, "pto::comm::TWAIT(%s, %s, pto::comm::WaitCmp::%s);", a.text,
			  emit_name(e, u[1].value).text, pto_attr_int(op, "cmp", 0) ? "GE" : "EQ");
		return true;
	case PTO_OP_COMM_TPUT:
	case PTO_OP_COMM_TGET:
		a = emit_global(e, op, u[0].value);
		b = emit_global(e, op, u[1].value);
		emit_line(e, "pto::comm::%s(%s, %s, %s);",
			  op->info->code == PTO_OP_COMM_TGET ? "TGET" :
			  pto_attr_int(op, "atomicType", 0) ? "TPUT<AtomicType::AtomicAdd>" :
			  "TPUT", a.text, b.text, emit_name(e, u[2].value).text);
		return true;
	default:
		return false;
	}
}

/* ---- Transfers of an engine ----------------------------------------------------------------- */

/* "TYPE v(a, b)" of all operands */
static void make_handle(struct emit *e, struct pto_op *op)
{
	unsigned int i;

	emit_define(e, &op->result[0]);
	for (i = 0; i < op->n_operands; i++)
		emit_add(e, "%s%s", i ? ", " : "(", emit_name(e, op->operand[i].value).text);
	emit_add(e, "%s;\n", op->n_operands ? ")" : "");
}

/* The session among the operands, or one that says nothing. */
static struct emit_name session_name(struct emit *e, struct pto_op *op)
{
	struct emit_name none = { "pto::comm::AsyncSession{}" };
	unsigned int i;

	for (i = 0; i < op->n_operands; i++)
		if (op->operand[i].value->type->kind == PTO_T_ASYNC_SESSION)
			return emit_name(e, op->operand[i].value);
	return none;
}

static void transfer(struct emit *e, struct pto_op *op, const char *call)
{
	struct emit_name to, from;

	if (op->n_operands < 2 || !pto_is_global(op->operand[0].value->type) ||
	    !pto_is_global(op->operand[1].value->type)) {
		emit_fail(e, op, "expects where to and where from in global memory");
		return;
	}
	to = emit_global(e, op, op->operand[0].value);
	from = emit_global(e, op, op->operand[1].value);
	emit_begin(e);
	emit_add(e, "const auto %s = ", emit_name(e, &op->result[0]).text);
	emit_add(e, "pto::comm::%s(%s, %s, %s);\n", call, to.text, from.text,
		 session_name(e, op).text);
}

/* Wait or Test of the event among the operands; whether it is over, where the text asks. */
static void ask_event(struct emit *e, struct pto_op *op, const char *call)
{
	unsigned int i = 0;

	while (i < op->n_operands && op->operand[i].value->type->kind != PTO_T_ASYNC_EVENT)
		i++;
	if (i == op->n_operands) {
		emit_fail(e, op, "expects a !pto.async_event");
		return;
	}
	emit_begin(e);
	if (op->n_results)
		emit_add(e, "const bool %s = ", emit_name(e, &op->result[0]).text);
	emit_add(e, "%s.%s(", emit_name(e, op->operand[i].value).text, call);
	emit_add(e, "%s);\n", session_name(e, op).text);
}

/* All of several events; those of pipes are flags in this text and have no handle. */
static void wait_all(struct emit *e, struct pto_op *op)
{
	unsigned int i;

	for (i = 0; i < op->n_operands; i++) {
		if (op->operand[i].value->type->kind != PTO_T_ASYNC_EVENT) {
			emit_fail(e, op, "waits for something that is no !pto.async_event");
			return;
		}
		emit_line(e, "%s.Wait(pto::comm::AsyncSession{});",
			  emit_name(e, op->operand[i].value).text);
	}
}

bool emit_comm(struct emit *e, struct pto_op *op)
{
	switch (pto_code(op)) {
	case PTO_OP_BUILD_ASYNC_SESSION:
	case PTO_OP_MAKE_PREFETCH_CTX:
	case PTO_OP_GET_PREFETCH_SESSION:
		make_handle(e, op);
		return true;
	case PTO_OP_TPREFETCH_ASYNC: /* a hint; its event has happened */
		if (op->n_results)
			emit_line(e, "const pto::comm::AsyncEvent %s{};",
				  emit_name(e, &op->result[0]).text);
		return true;
	case PTO_OP_TPUT_ASYNC:
		transfer(e, op, "TPUT_ASYNC");
		return true;
	case PTO_OP_TGET_ASYNC:
		transfer(e, op, "TGET_ASYNC");
		return true;
	case PTO_OP_WAIT_ASYNC_EVENT:
	case PTO_OP_COMM_WAIT_ASYNC_EVENT:
		ask_event(e, op, "Wait");
		return true;
	case PTO_OP_TEST_ASYNC_EVENT:
		ask_event(e, op, "Test");
		return true;
	case PTO_OP_TSYNC:
		wait_all(e, op);
		return true;
	default:
		return direct(e, op);
	}
}
