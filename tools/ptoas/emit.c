/* SPDX-License-Identifier: MIT */
/* C++ of a module: prelude, declarations, functions with callees before their callers. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"

void emit_begin(struct emit *e)
{
	unsigned int i;

	for (i = 0; i < e->indent; i++)
		pto_text_str(e->out, "  ");
}

void emit_line(struct emit *e, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	emit_begin(e);
	pto_text_str(e->out, line);
	pto_text_char(e->out, '\n');
}

void emit_fail(struct emit *e, const struct pto_op *op, const char *what)
{
	if (!e->ret)
		e->ret = pto_op_error(e->d, e->m, op, NULL, "%s", what);
}

/* ---- Operations ---------------------------------------------------------------------------- */

static bool query(struct emit *e, struct pto_op *op)
{
	static const struct {
		uint16_t code;
		const char *call;
	} calls[] = {
		{ PTO_OP_GET_BLOCK_IDX, "get_block_idx()" },
		{ PTO_OP_GET_BLOCK_NUM, "get_block_num()" },
		{ PTO_OP_GET_SUBBLOCK_IDX, "get_subblockid()" },
		{ PTO_OP_GET_SUBBLOCK_NUM, "get_subblockdim()" },
	};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].code == op->info->code) {
			emit_define(e, &op->result[0]);
			emit_add(e, " = %s;\n", calls[i].call);
			return true;
		}
	return false;
}

static void view_dim(struct emit *e, struct pto_op *op)
{
	const struct pto_op *view = op->operand[0].value->def;
	const struct pto_use *shape = view && view->info->code == PTO_OP_MAKE_TENSOR_VIEW ?
				      pto_operand(view, 1) : NULL;
	int64_t i;

	if (!shape || !pto_const_int(op->operand[1].value, &i) || i < 0 ||
	    i >= (int64_t)pto_group_count(view, 1)) {
		emit_fail(e, op, "needs a view of this function and a constant dimension");
		return;
	}
	emit_define(e, &op->result[0]);
	emit_add(e, " = %s;\n", emit_int(e, shape[i].value).text);
}

static void print(struct emit *e, struct pto_op *op)
{
	const struct pto_attr *format = pto_attr_find(op, "format");
	const char *s = format && format->text->size ? format->text->text : "%f";

	emit_begin(e);
	emit_add(e, "cce::printf(\"");
	for (; *s; s++) {
		if (*s == '\n')
			emit_add(e, "\\n");
		else if (*s == '"' || *s == '\\')
			emit_add(e, "\\%c", *s);
		else
			pto_text_char(e->out, *s);
	}
	emit_add(e, "\", %s);\n", emit_name(e, op->operand[0].value).text);
}

static bool array_op(struct emit *e, struct pto_op *op)
{
	const struct pto_type *t = op->n_results ? op->result[0].type : NULL;
	struct pto_use *u = op->operand;

	switch (pto_code(op)) {
	case PTO_OP_DECLARE_EVENTID_ARRAY:
		emit_line(e, "PTOAS_EventIdArray<%lld> %s;", (long long)t->count,
			  emit_name(e, &op->result[0]).text);
		return true;
	case PTO_OP_DECLARE_LOCAL_ARRAY:
		emit_line(e, "%s %s[%lld] = {};", pto_elem_info((enum pto_elem)t->elem)->cxx,
			  emit_name(e, &op->result[0]).text, (long long)t->count);
		return true;
	case PTO_OP_EVENTID_ARRAY_GET:
	case PTO_OP_LOCAL_ARRAY_GET:
		emit_define(e, &op->result[0]);
		emit_add(e, " = %s[%s];\n", emit_name(e, u[0].value).text,
			 emit_int(e, u[1].value).text);
		return true;
	case PTO_OP_EVENTID_ARRAY_SET:
	case PTO_OP_LOCAL_ARRAY_SET:
		emit_line(e, "%s[%s] = %s;", emit_name(e, u[0].value).text,
			  emit_int(e, u[1].value).text, emit_name(e, u[2].value).text);
		return true;
	default:
		return false;
	}
}

static bool handle(struct emit *e, struct pto_op *op)
{
	switch (pto_code(op)) {
	case PTO_OP_MAKE_TENSOR_VIEW:
	case PTO_OP_PARTITION_VIEW:
		return true; /* emitted where it is used */
	case PTO_OP_ALLOC_TILE:
		emit_alloc(e, op);
		return true;
	case PTO_OP_ALLOC_MULTI_TILE:
		emit_alloc_multi(e, op);
		return true;
	case PTO_OP_TRESHAPE:
	case PTO_OP_BITCAST:
	case PTO_OP_TASSIGN:
	case PTO_OP_MULTI_TILE_GET:
		emit_tile_view(e, op);
		return true;
	case PTO_OP_SUBVIEW:
	case PTO_OP_SUBSET:
		emit_subview(e, op);
		return true;
	case PTO_OP_SET_VALIDSHAPE:
		emit_line(e, "%s.SetValidShape(%s, %s);", emit_name(e, op->operand[0].value).text,
			  emit_int(e, op->operand[1].value).text,
			  emit_int(e, op->operand[2].value).text);
		return true;
	case PTO_OP_ADDPTR:
		emit_define(e, &op->result[0]);
		emit_add(e, " = %s + %s;%s\n", emit_name(e, op->operand[0].value).text,
			 emit_int(e, op->operand[1].value).text,
			 e->o && e->o->emit_addptr_trace ? " // addptr" : "");
		return true;
	case PTO_OP_GET_TENSOR_VIEW_DIM:
		view_dim(e, op);
		return true;
	case PTO_OP_PRINT:
		print(e, op);
		return true;
	case PTO_OP_TRAP:
		emit_line(e, "trap();");
		return true;
	default:
		return false;
	}
}

void emit_op(struct emit *e, struct pto_op *op)
{
	if (e->ret || handle(e, op) || emit_flow(e, op) || emit_sync(e, op) || emit_pipe(e, op) ||
	    emit_arith(e, op) || emit_tile_op(e, op) || query(e, op) || array_op(e, op) ||
	    emit_comm(e, op))
		return;
	emit_fail(e, op, "cannot be emitted");
}

void emit_block(struct emit *e, const struct pto_block *b)
{
	pto_for_each_op(op, b)
		emit_op(e, op);
}

/* ---- Functions ----------------------------------------------------------------------------- */

static void prelude(struct emit *e)
{
	pto_text_str(e->out,
"#include \"pto/pto-inst.hpp\"\n"
"using namespace pto;\n\n"
"enum class PTOAutoSyncTailMode : int { kBarrierAll = 0, kSetWaitMte3ToSEvent0 = 1 };\n"
"static AICORE inline void ptoas_auto_sync_tail(PTOAutoSyncTailMode mode)\n"
"{\n"
"  if (mode == PTOAutoSyncTailMode::kBarrierAll) {\n"
"    pipe_barrier(PIPE_ALL);\n"
"  } else {\n"
"    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);\n"
"    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);\n"
"  }\n"
"}\n");
	emit_arith_helpers(e);
}

static bool is_entry(const struct emit *e, const struct pto_func *f)
{
	unsigned int bodies = 0;

	if (pto_attr_find(f->op, "pto.entry") || pto_attr_find(f->op, "hacc.entry"))
		return true;
	pto_for_each_func(g, e->m)
		bodies += pto_func_has_body(g);
	return bodies == 1;
}

static void signature(struct emit *e, const struct pto_func *f)
{
	struct pto_block *b = f->op->region[0].first;
	uint32_t i;

	if (f->result)
		emit_type(e, f->result);
	else
		emit_add(e, "void");
	emit_add(e, " %s(", f->name->text);
	for (i = 0; i < f->n_args; i++) {
		emit_add(e, "%s", i ? ", " : "");
		if (f->arg_types[i]->kind == PTO_T_MEMREF && pto_is_local(f->arg_types[i]))
			emit_fail(e, f->op, "has an on-chip memref as an argument, which says no "
				  "layout; use a !pto.tile_buf");
		emit_type(e, f->arg_types[i]);
		if (b)
			emit_add(e, " %s", emit_name(e, &b->args[i]).text);
	}
	emit_add(e, ")");
}

static int forget(struct pto_op *op, void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < op->n_results; i++)
		op->result[i].id = 0;
	for (i = 0; i < op->n_regions; i++)
		pto_for_each_block(b, &op->region[i])
			for (uint32_t k = 0; k < b->n_args; k++)
				b->args[k].id = 0;
	return 0;
}

static void function(struct emit *e, struct pto_func *f)
{
	bool entry = is_entry(e, f);

	e->func = f;
	forget(f->op, NULL);
	pto_walk(f->op, forget, NULL);
	if (entry && f->result)
		emit_fail(e, f->op, "PTO entry functions must return void");
	emit_add(e, "\n%sAICORE ", entry ? "__global__ " : f->is_private ? "static " : "");
	signature(e, f);
	emit_add(e, " {\n");
	e->indent = 1;
	emit_op(e, f->op);
	e->indent = 0;
	emit_add(e, "}\n");
}

static void declaration(struct emit *e, const struct pto_func *f)
{
	emit_add(e, "\nextern ");
	signature(e, f);
	emit_add(e, ";\n");
}

/* ---- Order --------------------------------------------------------------------------------- */

enum mark { NEW, OPEN, DONE };

struct order {
	struct emit *e;
	struct pto_func **funcs;
	uint8_t *mark;
	unsigned int n;
	bool cycle;
};

static void visit(struct order *o, unsigned int i);

static int visit_call(struct pto_op *op, void *arg)
{
	const struct pto_attr *callee = pto_attr_find(op, "callee");
	struct order *o = arg;
	unsigned int i;

	if (op->info->code != PTO_OP_CALL || !callee)
		return 0;
	for (i = 0; i < o->n; i++)
		if (o->funcs[i]->name == callee->text)
			visit(o, i);
	return o->cycle;
}

static void visit(struct order *o, unsigned int i)
{
	if (o->mark[i] == OPEN)
		o->cycle = true;
	if (o->mark[i] != NEW)
		return;
	o->mark[i] = OPEN;
	pto_walk(o->funcs[i]->op, visit_call, o);
	o->mark[i] = DONE;
	if (!o->cycle)
		function(o->e, o->funcs[i]);
}

static int functions(struct emit *e)
{
	struct order o = { .e = e };
	unsigned int i;

	pto_for_each_func(f, e->m)
		o.n++;
	o.funcs = calloc(o.n + 1u, sizeof(struct pto_func *));
	o.mark = calloc(o.n + 1u, 1);
	if (!o.funcs || !o.mark) {
		free(o.funcs);
		free(o.mark);
		return -ENOMEM;
	}
	o.n = 0;
	pto_for_each_func(f, e->m) {
		if (pto_func_has_body(f))
			o.funcs[o.n++] = f;
		else
			declaration(e, f);
	}
	for (i = 0; i < o.n && !e->ret; i++)
		visit(&o, i);
	if (o.cycle && !e->ret) {
		pto_diag(e->d, e->m, PTO_ERROR, (struct pto_loc){ .at = PTO_NO_PLACE },
			 "functions must not call each other in a circle",
			 "Failed to order emitted functions for C++ emission.");
		e->ret = -EINVAL;
	}
	free(o.funcs);
	free(o.mark);
	return e->ret;
}

int pto_emit_cpp(struct pto_module *m, const struct pto_options *o, struct pto_diags *d,
		 struct pto_text *out)
{
	struct emit e = {
		.m = m, .d = d, .o = o, .out = out,
		.arch = o && o->arch_given ? o->arch : m->arch,
	};
	int ret;

	prelude(&e);
	ret = functions(&e);
	return ret ? ret : out->no_memory ? -ENOMEM : 0;
}
