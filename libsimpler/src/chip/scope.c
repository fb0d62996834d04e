// SPDX-License-Identifier: MIT
/* Scopes: lifetimes of tasks and of the buffers they own (chip-runtime §12). */
#include "base/run_code.h"
#include "chip/sched.h"
#include "chip/submit.h"

void scope_begin(struct chip *c, int mode)
{
	struct chip_scope *s;

	if (c->rt.scope_depth >= CHIP_MAX_SCOPES) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "scope depth %u exceeds the limit of %u",
			       c->rt.scope_depth + 1, CHIP_MAX_SCOPES);
		return;
	}
	if (mode != PTO_SCOPE_AUTO && mode != PTO_SCOPE_MANUAL) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "scope mode %d is neither AUTO (0) nor MANUAL (1)",
			       mode);
		return;
	}
	if (mode == PTO_SCOPE_AUTO && c->manual_depth) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "an AUTO scope inside a MANUAL scope");
		return;
	}
	s = scope_at(c, c->rt.scope_depth);
	s->serial = ++c->scope_serial;
	s->mode = (uint8_t)mode;
	s->ring = (uint8_t)(c->rt.scope_depth < CHIP_RINGS ? c->rt.scope_depth : CHIP_RINGS - 1);
	s->first = c->rings[s->ring].next;
	s->tasks = 0;
	s->list = NULL;
	s->has_light = false;
	c->manual_depth += mode == PTO_SCOPE_MANUAL;
	c->rt.scope_depth++;
	c->rt.scope_serial = s->serial;
}

/* Marks of deeper scopes that shared the ring are gone already; those of outer ones stay. */
static void drop_marks(struct chip *c, const struct chip_scope *s)
{
	struct chip_ring *r = &c->rings[s->ring];
	const struct chip_ring_task *mine = CHIP_SLOT_LIGHT(s - c->scopes);

	for (uint32_t local = s->light_first; local != s->light_last + 1; local++) {
		struct chip_ring_task **slot = &r->slots[local & (r->window - 1)];

		if (*slot == mine)
			*slot = CHIP_SLOT_GONE;
	}
	sched_advance(c, r);
}

static void close_innermost(struct chip *c)
{
	struct chip_scope *s = scope_at(c, --c->rt.scope_depth);
	struct chip_task *t = s->list;

	c->manual_depth -= s->mode == PTO_SCOPE_MANUAL;
	c->open_tasks -= s->tasks;
	c->rt.scope_serial = c->rt.scope_depth ? scope_current(c)->serial : 0;
	while (t) {
		struct chip_task *next = t->scope_next;

		sched_unref(c, t);
		t = next;
	}
	if (s->has_light)
		drop_marks(c, s);
}

void scope_end(struct chip *c)
{
	if (c->rt.scope_depth <= 1) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "scope_end without a scope_begin");
		return;
	}
	close_innermost(c);
}

void scope_end_all(struct chip *c)
{
	while (c->rt.scope_depth)
		close_innermost(c);
}
