/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "machine.h"
#include "ops.h"
#include "sync_event.h"

void sync_events_init(struct sync_events *e, struct px *px)
{
	memset(e, 0, sizeof(*e));
	memset(e->later, 0xFF, sizeof(e->later));
	e->px = px;
}

void sync_events_join(struct sync_events *e, const struct sync_events *other)
{
	unsigned int p, q, id;

	for (p = 0; p < PTO_PIPES; p++)
		for (q = 0; q < PTO_PIPES; q++)
			for (id = 0; id < EVENT_IDS; id++)
				e->later[p][q][id] &= other->later[p][q][id];
}

/* ---- Statements ---- */

static void write_call(struct sync_events *e, const char *name, struct ir_attr *attrs, uint32_t n,
		       struct span span, struct ir_list *out)
{
	struct op_use use = { .px = e->px, .op = op_find(name), .span = span, .attrs = attrs,
			      .n_attrs = n };
	struct ir_eval *s = ir_new(e->px, IR_EVAL, span, NULL);

	s->expr = op_call(&use);
	list_push(e->px, out, &s->node);
}

static struct ir_attr pipe_attr(const char *key, unsigned int pipe)
{
	return (struct ir_attr){ .key = key, .kind = AT_ENUM, .class = EN_PIPE_TYPE,
				 .i = machine_pipe_type((enum pto_pipe)pipe) };
}

static void write_flag(struct sync_events *e, const struct event_pair *pair, const char *name,
		       struct span span, struct ir_list *out)
{
	struct ir_attr attrs[] = {
		pipe_attr("set_pipe", pair->src), pipe_attr("wait_pipe", pair->dst),
		{ .key = "event_id", .kind = AT_INT, .i = pair->id },
	};

	write_call(e, name, attrs, 3, span, out);
}

static void write_barrier(struct sync_events *e, unsigned int pipe, struct span span,
			  struct ir_list *out)
{
	static const char *const names[PTO_PIPES] = {
		[PTO_PIPE_V] = "system.bar_v", [PTO_PIPE_M] = "system.bar_m",
		[PTO_PIPE_MTE1] = "system.bar_mte1", [PTO_PIPE_MTE2] = "system.bar_mte2",
		[PTO_PIPE_MTE3] = "system.bar_mte3", [PTO_PIPE_FIX] = "system.bar_fix",
	};

	write_call(e, names[pipe] ? names[pipe] : "system.bar_all", NULL, 0, span, out);
	if (!names[pipe])
		memset(e->later, 0xFF, sizeof(e->later));
}

bool sync_is_barrier(const struct ir_node *stmt)
{
	const char *name = IR_AS(IR_AS(stmt, eval)->expr, call)->callee;

	return !strncmp(name, "system.bar_", 11) && strcmp(name, "system.bar_all") != 0;
}

/* ---- Numbers ---- */

static unsigned int safe_ids(const struct sync_events *e, const struct event_pair *pair)
{
	const uint16_t *later = e->later[pair->src % PTO_PIPES][pair->dst % PTO_PIPES];
	unsigned int id, safe = 0;

	for (id = 0; id < EVENT_IDS; id++)
		safe |= (later[id] >> pair->src & 1u) << id;
	return safe & ~(unsigned int)e->open[pair->src][pair->dst];
}

static bool all_open(const struct sync_events *e, const struct event_pair *pair)
{
	return e->open[pair->src][pair->dst] == (1u << EVENT_IDS) - 1;
}

static void set(struct sync_events *e, struct event_pair *pair, struct span span,
		struct ir_list *out)
{
	unsigned int ids = safe_ids(e, pair), p, q, id;

	if (all_open(e, pair)) {
		pair->late = true;
		return;
	}
	if (!ids)
		ids = ~(unsigned int)e->open[pair->src][pair->dst];
	pair->id = (uint8_t)__builtin_ctz(ids);
	e->open[pair->src][pair->dst] |= (uint8_t)(1u << pair->id);
	for (p = 0; p < PTO_PIPES; p++)
		for (q = 0; q < PTO_PIPES; q++)
			for (id = 0; id < EVENT_IDS; id++)
				pair->knows[p][q] |= (e->later[p][q][id] >> pair->src & 1) << id;
	write_flag(e, pair, "system.sync_src", span, out);
}

static void wait(struct sync_events *e, struct event_pair *pair, struct span span,
		 struct ir_list *out)
{
	unsigned int p, q, id;

	if (pair->late && all_open(e, pair)) {
		write_barrier(e, PTO_PIPE_ALL, span, out);
		return;
	}
	if (pair->late)
		set(e, pair, span, out);
	for (p = 0; p < PTO_PIPES; p++)
		for (q = 0; q < PTO_PIPES; q++)
			for (id = 0; id < EVENT_IDS; id++)
				if (pair->knows[p][q] >> id & 1)
					e->later[p][q][id] |= (uint16_t)(1u << pair->dst);
	e->open[pair->src][pair->dst] &= (uint8_t)~(1u << pair->id);
	e->later[pair->src][pair->dst][pair->id] = (uint16_t)(1u << pair->dst);
	write_flag(e, pair, "system.sync_dst", span, out);
}

void sync_write_marks(struct sync_events *e, const struct sync_mark *marks, struct span span,
		      struct ir_list *out)
{
	for (; marks; marks = marks->next) {
		switch (marks->kind) {
		case MARK_SET:
			set(e, marks->pair, span, out);
			break;
		case MARK_WAIT:
			wait(e, marks->pair, span, out);
			break;
		case MARK_BARRIER:
			write_barrier(e, marks->pipe, span, out);
			break;
		}
	}
}
