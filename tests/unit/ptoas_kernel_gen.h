/* SPDX-License-Identifier: MIT */
/*
 * Random kernels with loops and branches, and an interpreter that runs one path of a program on
 * a machine of pipes and finds races by vector clocks. It shares nothing with the checker but the
 * table of instructions.
 */
#ifndef TESTS_PTOAS_KERNEL_GEN_H
#define TESTS_PTOAS_KERNEL_GEN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/ptoas/ops.h"
#include "../../tools/ptoas/ptoas.h"

#define GEN_TILES	10
#define GEN_PARAMS	3
#define GEN_VIEW	"!pto.partition_tensor_view<16x16xf32>"
#define GEN_TILE	"!pto.tile_buf<vec, 16x16xf32>"

struct kernel_gen {
	struct pto_text text;
	uint64_t seed;
	unsigned int names, ops;
};

static inline uint32_t gen_below(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33) % below;
}

static inline void gen_instruction(struct kernel_gen *g)
{
	unsigned int a = gen_below(&g->seed, GEN_TILES), b = gen_below(&g->seed, GEN_TILES);
	unsigned int d = gen_below(&g->seed, GEN_TILES), v = gen_below(&g->seed, GEN_PARAMS);
	struct pto_text *t = &g->text;

	g->ops++;
	switch (gen_below(&g->seed, 6)) {
	case 0:
	case 1:
		pto_text_printf(t, "pto.tload ins(%%v%u : " GEN_VIEW ") outs(%%t%u : " GEN_TILE
				")\n", v, d);
		break;
	case 2:
		pto_text_printf(t, "pto.tstore ins(%%t%u : " GEN_TILE ") outs(%%v%u : " GEN_VIEW
				")\n", a, v);
		break;
	case 3:
		pto_text_printf(t, "%%s%u = pto.tgetval ins(%%t%u, %%c0 : " GEN_TILE
				", index) outs : f32\n", g->names++, a);
		break;
	case 4:
		pto_text_printf(t, "pto.texp ins(%%t%u : " GEN_TILE ") outs(%%t%u : " GEN_TILE
				")\n", a, d);
		break;
	default:
		pto_text_printf(t, "pto.tadd ins(%%t%u, %%t%u : " GEN_TILE ", " GEN_TILE
				") outs(%%t%u : " GEN_TILE ")\n", a, b, d);
	}
}

static inline void gen_block(struct kernel_gen *g, unsigned int depth)
{
	unsigned int n = 1 + gen_below(&g->seed, depth ? 5 : 12), i;

	for (i = 0; i < n && g->ops < 60; i++) {
		unsigned int kind = depth < 3 ? gen_below(&g->seed, 8) : 7;

		if (kind == 0) {
			pto_text_printf(&g->text, "scf.for %%i%u = %%c0 to %%c%u step %%c1 {\n",
					g->names++, gen_below(&g->seed, 4));
			gen_block(g, depth + 1);
			pto_text_str(&g->text, "}\n");
		} else if (kind == 1) {
			pto_text_printf(&g->text, "scf.if %%b%u {\n", gen_below(&g->seed, 2));
			gen_block(g, depth + 1);
			if (gen_below(&g->seed, 2)) {
				pto_text_str(&g->text, "} else {\n");
				gen_block(g, depth + 1);
			}
			pto_text_str(&g->text, "}\n");
		} else {
			gen_instruction(g);
		}
	}
}

/* Text of kernel number @seed; pto_text_free() it. */
static inline struct pto_text gen_kernel(uint64_t seed)
{
	struct kernel_gen g = { .seed = seed * 77 + 5 };
	struct pto_text *t = &g.text;
	unsigned int i;

	pto_text_str(t, "module {\nfunc.func @k(%p0: !pto.ptr<f32>, %p1: !pto.ptr<f32>, "
			"%p2: !pto.ptr<f32>, %b0: i1, %b1: i1) {\n");
	for (i = 0; i < 4; i++)
		pto_text_printf(t, "%%c%u = arith.constant %u : index\n", i, i);
	pto_text_str(t, "%c16 = arith.constant 16 : index\n");
	for (i = 0; i < GEN_PARAMS; i++)
		pto_text_printf(t, "%%w%u = pto.make_tensor_view %%p%u, shape = [%%c16, %%c16], "
				"strides = [%%c16, %%c1] : !pto.tensor_view<?x?xf32>\n"
				"%%v%u = pto.partition_view %%w%u, offsets = [%%c0, %%c0], sizes = "
				"[%%c16, %%c16] : !pto.tensor_view<?x?xf32> -> " GEN_VIEW "\n",
				i, i, i, i);
	for (i = 0; i < GEN_TILES; i++)
		pto_text_printf(t, "%%t%u = pto.alloc_tile : " GEN_TILE "\n", i);
	gen_block(&g, 0);
	pto_text_str(t, "return\n}\n}\n");
	return g.text;
}

/* ---- The machine ---------------------------------------------------------------------- */

#define MACHINE_EVENTS	1024	/* pipes, pipes, ids */
#define MACHINE_LOG	4096

struct access_log {
	const struct pto_op *op;
	const struct pto_value *gm;	/* NULL: on the chip */
	int64_t base, end;
	uint32_t when;			/* on its pipe */
	uint8_t pipe;
	bool write;
};

struct machine {
	enum pto_arch arch;
	uint64_t seed;				/* which way branches go */
	uint32_t now[PTO_PIPES];		/* instructions issued */
	uint32_t known[PTO_PIPES][PTO_PIPES];
	uint32_t flag[MACHINE_EVENTS][PTO_PIPES];
	uint32_t pending[MACHINE_EVENTS];
	struct access_log log[MACHINE_LOG];
	unsigned int n_log;
	unsigned int races, bad_flags;
};

static inline void machine_touch(struct machine *x, const struct pto_op *op,
				 const struct pto_use *u, unsigned int pipe, uint32_t when)
{
	struct access_log a = { .op = op, .when = when, .pipe = (uint8_t)pipe,
				.write = u->role != PTO_ROLE_READ };
	const struct pto_value *v = u->value;
	unsigned int i;

	while (v->def && v->def->info->code != PTO_OP_ALLOC_TILE)
		v = v->def->operand[0].value;
	if (v->def) {
		pto_const_int(v->def->operand[0].value, &a.base);
		a.end = a.base + pto_type_bytes(v->type);
	} else {
		a.gm = v;
	}
	for (i = 0; i < x->n_log; i++) {
		const struct access_log *o = &x->log[i];

		if (o->op == op && o->when == when && o->pipe == a.pipe)
			continue;
		if (!(o->write || a.write) || o->gm != a.gm ||
		    (!a.gm && (o->base >= a.end || a.base >= o->end)))
			continue;
		if (o->pipe == pipe && pipe == PTO_PIPE_S)
			continue;
		x->races += x->known[pipe][o->pipe] < o->when;
	}
	if (x->n_log < MACHINE_LOG)
		x->log[x->n_log++] = a;
}

static inline unsigned int machine_event(const struct pto_op *op)
{
	return (unsigned int)((pto_attr_int(op, "src_pipe", 0) * PTO_PIPES +
			       pto_attr_int(op, "dst_pipe", 0)) * 8 +
			      pto_attr_int(op, "event_id", 0));
}

static inline void machine_flag(struct machine *x, const struct pto_op *op, bool set)
{
	unsigned int e = machine_event(op), i;
	int64_t src = pto_attr_int(op, "src_pipe", 0), dst = pto_attr_int(op, "dst_pipe", 0);

	if (set) {
		x->bad_flags += x->pending[e]++ != 0;
		memcpy(x->flag[e], x->known[src], sizeof(x->flag[e]));
		x->flag[e][src] = x->now[src];
		return;
	}
	if (!x->pending[e]) {
		x->bad_flags++;
		return;
	}
	x->pending[e]--;
	for (i = 0; i < PTO_PIPES; i++)
		if (x->known[dst][i] < x->flag[e][i])
			x->known[dst][i] = x->flag[e][i];
}

static inline void machine_barrier(struct machine *x, int64_t pipe)
{
	unsigned int p;

	if (pipe != PTO_PIPE_ALL) {
		x->known[pipe][pipe] = x->now[pipe];
		return;
	}
	for (p = 0; p < PTO_PIPES; p++)
		memcpy(x->known[p], x->now, sizeof(x->now));
}

static inline void machine_run(struct machine *x, const struct pto_block *b);

static inline void machine_nested(struct machine *x, const struct pto_op *op)
{
	int64_t trips = 0;

	if (op->info->code == PTO_OP_IF) {
		const struct pto_region *r = &op->region[gen_below(&x->seed, 2)];

		if (r->first)
			machine_run(x, r->first);
		return;
	}
	for (pto_const_int(op->operand[1].value, &trips); trips > 0; trips--)
		machine_run(x, op->region[0].first);
}

static inline void machine_step(struct machine *x, const struct pto_op *op)
{
	unsigned int pipes = pto_op_pipes(op, x->arch), p, i;

	for (p = 0; p < PTO_PIPES; p++) {
		if (!(pipes >> p & 1))
			continue;
		x->now[p]++;
		for (i = 0; i < op->n_operands; i++)
			if (op->operand[i].role != PTO_ROLE_VALUE &&
			    op->operand[i].role != PTO_ROLE_BIND)
				machine_touch(x, op, &op->operand[i], p, x->now[p]);
	}
}

static inline void machine_run(struct machine *x, const struct pto_block *b)
{
	pto_for_each_op(op, b) {
		switch (pto_code(op)) {
		case PTO_OP_FOR:
		case PTO_OP_IF:
			machine_nested(x, op);
			break;
		case PTO_OP_SET_FLAG:
		case PTO_OP_WAIT_FLAG:
			machine_flag(x, op, op->info->code == PTO_OP_SET_FLAG);
			break;
		case PTO_OP_BARRIER:
			machine_barrier(x, pto_attr_int(op, "pipe", 0));
			break;
		default:
			machine_step(x, op);
		}
	}
}

/* Races, and flags set twice, waited for in vain or left over, on path @seed of the function. */
static inline unsigned int machine_faults(const struct pto_module *m, uint64_t seed)
{
	struct machine *x = calloc(1, sizeof(*x));
	unsigned int faults, i;

	x->seed = seed;
	x->arch = m->arch;
	machine_run(x, m->first->op->region[0].first);
	for (i = 0; i < MACHINE_EVENTS; i++)
		x->bad_flags += x->pending[i];
	faults = x->races + x->bad_flags;
	free(x);
	return faults;
}

#endif
