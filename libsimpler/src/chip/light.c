// SPDX-License-Identifier: MIT
/*
 * Light tasks: submitted, run and completed within one call.
 *
 * Most tasks of a launch that one thread executes are ready when they are
 * submitted, run at once, and own no buffer.  Such a task needs no record: its
 * operands are the caller's, which outlive the call, and all that remains of it
 * is its id.  A mark takes its slot until the scope ends, so that the window
 * counts it like any other task.
 *
 * A kernel that asks for deferred completion turns its task into an ordinary
 * one after the fact.
 */
#include "chip/sched.h"
#include "chip/submit.h"

#define LIGHT_TAGS	(1u << PTO_ARG_INPUT | 1u << PTO_ARG_INOUT | 1u << PTO_ARG_OUTPUT_EXISTING | \
			 1u << PTO_ARG_NO_DEP)

bool light_fits(const struct chip *c, const struct pto_core_args *args, uint32_t seen)
{
	return c->config.inline_tasks && !(seen & ~LIGHT_TAGS) && args->block_num == 1 &&
	       !args->predicate && !args->dep_count && args->timing_slot < 0 &&
	       !c->launch.diagnostics;
}

/* Nothing that has not completed stands in the way. */
static bool is_free_to_run(struct chip *c, const struct pto_core_args *args)
{
	bool live = tmap_live(&c->tmap) != 0;

	if (c->manual_depth)
		return true;
	for (uint32_t i = 0; i < args->tensor_count; i++) {
		const struct pto_tensor *t = args->refs[i].tensor;

		if (t->owner_task_id != PTO_NO_TASK && !deps_is_done(c, t->owner_task_id))
			return false;
		if (live && !t->manual_dep && deps_overlaps(c, t, args->tags[i]))
			return false;
	}
	return true;
}

/* Takes the next id of the scope's ring; the window has room. */
static void leave_mark(struct chip *c, struct chip_scope *s, struct chip_ring *r)
{
	r->slots[r->next & (r->window - 1)] = CHIP_SLOT_LIGHT(s - c->scopes);
	if (!s->has_light)
		s->light_first = r->next;
	s->has_light = true;
	s->light_last = r->next++;
	s->tasks++;
	c->open_tasks++;
	c->submitted++;
	c->completed++;
}

enum light_result light_run(struct chip *c, const struct pto_core_args *args, uint8_t shape,
			    const struct chip_kernel *kernel, struct chip_core **deferred,
			    uint64_t *id)
{
	struct chip_scope *s = scope_current(c);
	struct chip_ring *r = &c->rings[s->ring];
	struct chip_core *core;

	if (s->tasks >= r->window - 1 || c->open_tasks >= c->open_task_limit ||
	    !chip_ring_has_slot(r) || c->config.ops->prefer_queue_kernel(c, kernel) ||
	    !is_free_to_run(c, args))
		return LIGHT_NOT;
	*id = (uint64_t)r->index << 32 | r->next;
	c->light_node->base.id = *id;
	core = sched_light_core(c, shape, kernel);
	if (!core)
		return LIGHT_NOT;
	core->light = args;
	chip_unlock(c);
	c->config.ops->call_kernel(c, core);
	chip_lock(c);
	c->inline_blocks++;
	if (__builtin_expect(core->async_count || core->async_error, 0)) {
		*deferred = core;
		return LIGHT_DEFERRED;
	}
	sched_light_done(c, core);
	leave_mark(c, s, r);
	return LIGHT_DONE;
}
