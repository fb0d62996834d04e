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
_Static_assert(PTO_ARG_PIPE_OUT < 32, "a kind of argument is the number of a bit");

/* The one kernel of @mk and the cores it runs on; NULL: several, none, or an unknown one. */
static const struct chip_kernel *only_kernel(const struct chip *c,
					     const struct pto_mixed_kernels *mk, uint8_t *shape)
{
	int32_t id = mk->aiv0 != PTO_NO_KERNEL ? mk->aiv0 : mk->aiv1;

	*shape = CHIP_SHAPE_AIV;
	if (mk->aic != PTO_NO_KERNEL) {
		*shape = CHIP_SHAPE_AIC;
		if (id != PTO_NO_KERNEL)
			return NULL;
		id = mk->aic;
	} else if (mk->aiv0 != PTO_NO_KERNEL && mk->aiv1 != PTO_NO_KERNEL) {
		return NULL;
	}
	return chip_callable_kernel(c->callable, id);
}

/* Nothing but operands; what is wrong with other values is said by the ordinary way. */
static bool is_plain(const struct pto_core_args *args)
{
	return !args->error && args->block_num == 1 && !args->predicate && !args->dep_count &&
	       args->timing_slot < 0 && args->tensor_count <= PTO_TASK_TENSORS &&
	       args->scalar_count <= PTO_TASK_SCALARS;
}

/* A correct operand that nothing incomplete stands in the way of. */
static bool is_ready(struct chip *c, const struct pto_tensor *t, uint8_t tag, bool live)
{
	if (tag > PTO_ARG_PIPE_OUT || !(LIGHT_TAGS >> tag & 1) || !t || t->kind != PTO_KIND_TENSOR ||
	    !t->addr || t->ndims > PTO_MAX_DIMS || t->dtype >= PTO_DTYPE_COUNT)
		return false;
	if (c->manual_depth)
		return true;
	if (t->owner_task_id != PTO_NO_TASK && !deps_is_done(c, t->owner_task_id))
		return false;
	return !live || t->manual_dep || !deps_overlaps(c, t, tag);
}

static bool are_ready(struct chip *c, const struct pto_core_args *args)
{
	bool live = tmap_live(&c->tmap) != 0;

	for (uint32_t i = 0; i < args->tensor_count; i++)
		if (!is_ready(c, args->refs[i].tensor, args->tags[i], live))
			return false;
	return true;
}

/* Takes the next id of the scope's ring; the window has room. */
static void leave_mark(struct chip *c, struct chip_scope *s, struct chip_ring *r)
{
	r->slots[r->next & (r->window - 1)] = CHIP_SLOT_LIGHT(c->rt.scope_depth - 1);
	if (!s->has_light)
		s->light_first = r->next;
	s->has_light = true;
	s->light_last = r->next++;
	s->tasks++;
	c->open_tasks++;
	c->submitted++;
	c->completed++;
}

enum light_result light_submit(struct chip *c, const struct pto_mixed_kernels *mk,
			       const struct pto_core_args *args, struct light *l)
{
	struct chip_scope *s = scope_current(c);
	struct chip_ring *r;

	l->kernel = only_kernel(c, mk, &l->shape);
	if (!c->config.inline_tasks || c->launch.diagnostics || !l->kernel ||
	    l->kernel->may_block || !s || !is_plain(args))
		return LIGHT_NOT;
	r = &c->rings[s->ring];
	if (s->tasks >= r->window - 1 || c->open_tasks >= c->open_task_limit ||
	    !chip_ring_has_slot(r) || c->config.ops->prefer_queue_kernel(c, l->kernel) ||
	    !are_ready(c, args))
		return LIGHT_NOT;
	l->id = (uint64_t)r->index << 32 | r->next;
	l->core = sched_light_core(c, l->shape, l->kernel, l->id);
	if (!l->core)
		return LIGHT_NOT;
	l->core->light = args;
	chip_unlock(c);
	c->config.ops->call_kernel(c, l->core);
	chip_lock(c);
	c->inline_blocks++;
	if (__builtin_expect(l->core->async_count || l->core->async_error, 0))
		return LIGHT_DEFERRED;
	sched_light_done(c, l->core);
	leave_mark(c, s, r);
	return LIGHT_DONE;
}
