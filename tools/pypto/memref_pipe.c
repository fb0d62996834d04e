/* SPDX-License-Identifier: MIT */
/*
 * Popped tiles are in a slot of their pipe, not in a buffer of the kernel: nothing else is made
 * there. Slots are freed in the order of the pops (decisions D32), so a tile that is still needed
 * when a loop or a branch pops from the same pipe, or when all slots are taken, is copied.
 */
#include <string.h>

#include "gen.h"
#include "memref.h"

struct held_scan {
	struct px *px;
	const struct ir_node *pipe;
	struct ir_list aliases;		/* the popped tile, and what shares its slot */
	unsigned int pops;		/* of the pipe */
	bool used, freed;
};

static bool has_alias(const struct held_scan *s, const struct ir_list *nodes)
{
	uint32_t i;

	for (i = 0; i < nodes->n; i++)
		if (list_has(&s->aliases, nodes->at[i]))
			return true;
	return false;
}

static bool is_alias(const struct held_scan *s, const struct ir_node *value)
{
	const struct ir_call *call;

	if (value->kind == IR_CALL) {
		call = IR_AS(value, call);
		return memref_shares(call) >= 0 && (uint32_t)memref_shares(call) < call->args.n &&
		       list_has(&s->aliases, call->args.at[memref_shares(call)]);
	}
	if (value->kind == IR_MAKE_TUPLE)
		return has_alias(s, &IR_AS(value, tuple)->elements);
	if (value->kind == IR_GET_ITEM)
		return list_has(&s->aliases, IR_AS(value, item)->tuple);
	return list_has(&s->aliases, value);
}

static bool scan_held(void *data, struct ir_node *node)
{
	struct held_scan *s = data;
	const struct ir_call *call = IR_AS(node, call);

	s->used |= list_has(&s->aliases, node);
	if (node->kind == IR_ASSIGN && is_alias(s, IR_AS(node, assign)->value))
		list_push(s->px, &s->aliases, IR_AS(node, assign)->var);
	if (node->kind != IR_CALL || !call->op)
		return true;
	s->pops += call->op->rule == rule_tpop && call->args.at[0] == s->pipe;
	s->freed |= !strcmp(call->op->name, "pipe.tfree") &&
		    list_has(&s->aliases, call->args.at[0]);
	return true;
}

/* Whether the tile that statement @i of @stmts pops cannot stay in its slot. */
static bool is_held(struct px *px, const struct ir_list *stmts, uint32_t i)
{
	struct held_scan s = { .px = px, .pipe = gen_pop_of(stmts->at[i])->args.at[0] };
	bool nested = false, held = false;
	uint32_t k;

	list_push(px, &s.aliases, IR_AS(stmts->at[i], assign)->var);
	for (k = i + 1; k < stmts->n; k++) {
		unsigned int before = s.pops;

		s.used = false;
		ir_walk(stmts->at[k], scan_held, &s);
		nested |= s.pops != before && stmts->at[k]->kind != IR_ASSIGN &&
			  stmts->at[k]->kind != IR_EVAL;
		held |= s.used && (nested || s.pops >= PIPE_SLOTS);
	}
	return held && !s.freed;
}

/* @value popped into its slot; what stands for it. */
static struct ir_node *put_slot(struct memrefs *m, struct ir_node *var, struct ir_node *value)
{
	struct ir_memref *slot = memref_new(m, memref_space(m, IR_AS(value, call)), var->type,
					    var->span);

	var_map_set(&m->slots, &slot->node, var);
	var = memref_put(m, var, slot);
	list_push(m->px, m->out, ir_assign(m->px, var, value, value->span));
	return var;
}

static void copy_out(struct memrefs *m, const struct ir_assign *s, struct ir_node *value)
{
	struct op_use use = { .px = m->px, .op = op_find("block.vec_move"), .span = s->node.span };
	struct ir_node *raw, *copy, *var;
	struct ir_memref *buffer;

	raw = ir_var(m->px, px_printf(m->px, "_m%u", m->next_move++), s->var->type, s->var->span);
	raw = put_slot(m, raw, value);
	list_push(m->px, &use.args, raw);
	copy = op_call(&use);
	buffer = memref_granted(m, &s->node, s->var, copy);
	if (!buffer)
		buffer = memref_new(m, MS_VEC, s->var->type, s->var->span);
	var = memref_put(m, s->var, buffer);
	list_push(m->px, m->out, ir_assign(m->px, var, copy, s->node.span));
}

static void refuse(struct memrefs *m, const struct ir_assign *s)
{
	diag_hint(m->px, diag_add(m->px, DIAG_COMPILE, s->node.span,
				  "Tile '%s' cannot stay in its slot while more tiles are popped from the same pipe",
				  gen_written_name(m->px, s->var)),
		  "Move it to Left or Right first, or give it a pipe of its own");
}

bool memref_pop(struct memrefs *m, const struct ir_list *stmts, uint32_t i)
{
	const struct ir_assign *s = IR_AS(stmts->at[i], assign);
	struct ir_node *value;
	bool held;

	if (!gen_pop_of(stmts->at[i]))
		return false;
	value = ir_subst(&m->now, s->value);
	held = is_held(m->px, stmts, i);
	if (held && !m->cube) {
		copy_out(m, s, value);
		return true;
	}
	if (held)
		refuse(m, s);
	put_slot(m, s->var, value);
	return true;
}
