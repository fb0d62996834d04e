// SPDX-License-Identifier: MIT
#include "chip/pipe.h"

#include <stdlib.h>

#include "base/guard.h"
#include "base/run_code.h"

static uint64_t pipe_key(const struct pto_pipe *p)
{
	return (uint64_t)p->flag_id << 56 | (uint64_t)p->dir_mask << 48 |
	       (uint64_t)p->slot_num << 40 | (uint64_t)p->local_slot_num << 32 | p->slot_bytes;
}

static struct chip_pipe_state *pipe_get(struct chip *c, const struct chip_core *core,
					const struct pto_pipe *p)
{
	struct chip_pipe_state **head = &c->pipes[core->pub.cluster_id];
	uint64_t key = pipe_key(p);
	struct chip_pipe_state *s;

	for (s = *head; s; s = s->next)
		if (s->key == key)
			return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->key = key;
	s->slot_num = p->slot_num;
	s->slot_bytes = p->slot_bytes;
	s->next = *head;
	*head = s;
	return s;
}

static uint8_t *slot_memory(struct chip_pipe_state *s, struct chip_pipe_ring *r,
			    const struct pto_pipe *p, uint64_t counter)
{
	size_t stride = ((size_t)s->slot_bytes + 63) & ~(size_t)63;

	if (p->gm_slots)
		return p->gm_slots + (counter % s->slot_num) * s->slot_bytes;
	if (!r->slots) {
		r->slots = aligned_alloc(64, stride * s->slot_num);
		if (!r->slots)
			return NULL;
		__builtin_memset(r->slots, 0, stride * s->slot_num);
	}
	return r->slots + (counter % s->slot_num) * stride;
}

static uint64_t lesser(const uint64_t *v, uint32_t lanes)
{
	return lanes == 2 && v[1] < v[0] ? v[1] : v[0];
}

/* Index into the lane counters for the side that is split (the AIV side). */
static uint32_t lane_of(const struct chip_core *core, uint32_t lanes)
{
	return lanes == 2 ? core->pub.lane : 0;
}

static void wake_waiters(struct chip *c, struct chip_pipe_state *s)
{
	while (s->waiters) {
		struct chip_core *core = s->waiters;

		s->waiters = core->next;
		core->next = NULL;
		c->config.ops->resume_core(c, core);
	}
}

static void wait_for(struct chip *c, struct chip_pipe_state *s, struct chip_core *core,
		     const char *what)
{
	core->waits_for = what;
	core->wait_detail = s->key;
	core->next = s->waiters;
	s->waiters = core;
	c->parks++;
	c->config.ops->park_core(c, core);
}

/*
 * Common entry of the four operations: takes the lock and finds the pipe.  Does
 * not return when the run has failed: the kernel ends here.
 */
static struct chip_pipe_state *enter(struct chip_core *core, const struct pto_pipe *p)
{
	struct chip_pipe_state *s = NULL;
	struct chip *c = core->chip;

	guard_hold();
	chip_lock(c);
	if (!chip_is_fatal(c)) {
		if (!p->slot_num || !p->slot_bytes)
			chip_fail_sched(c, SIMPLER_RUN_INVALID_ARGS, core,
					"kernel %s: a pipe of %u slots of %u bytes",
					core->kernel->name, p->slot_num, p->slot_bytes);
		else
			s = pipe_get(c, core, p);
	}
	if (!s && !chip_is_fatal(c))
		chip_fail_sched(c, SIMPLER_RUN_HOST_MEMORY, core, "kernel %s: no memory for a pipe",
				core->kernel->name);
	if (!s)
		chip_abandon(core);
	return s;
}

static void leave(struct chip *c)
{
	chip_unlock(c);
	guard_release();
}

void chip_abandon(struct chip_core *core)
{
	struct chip *c = core->chip;

	core->abandoned = true;
	leave(c);
	c->config.ops->abandon_kernel(c, core);
}

/* A parked core is only resumed with its run alive; failed runs discard it. */
static uint8_t *finish_begin(struct chip_core *core, struct chip_pipe_state *s,
			     struct chip_pipe_ring *r, const struct pto_pipe *p, uint64_t *counter)
{
	uint8_t *slot = slot_memory(s, r, p, *counter);

	if (!slot) {
		chip_fail_sched(core->chip, SIMPLER_RUN_HOST_MEMORY, core,
				"kernel %s: no memory for %u pipe slots of %u bytes",
				core->kernel->name, s->slot_num, s->slot_bytes);
		chip_abandon(core);
	}
	++*counter;
	leave(core->chip);
	return slot;
}

/* C2V has one producer and @lanes consumers, V2C the reverse. */
static uint32_t producers(enum pto_pipe_dir dir, uint32_t lanes)
{
	return dir == PTO_PIPE_V2C ? lanes : 1;
}

static uint32_t consumers(enum pto_pipe_dir dir, uint32_t lanes)
{
	return dir == PTO_PIPE_C2V ? lanes : 1;
}

/* The block that pushed last has not returned. */
static bool is_running(const struct chip_pipe_end *e)
{
	return (e->core->state == CHIP_CORE_RUNNING || e->core->state == CHIP_CORE_PARKED) &&
	       e->core->kernel == e->kernel && e->core->pub.task_cookie == e->task_cookie &&
	       e->core->pub.block_idx == e->block_idx;
}

/*
 * A lane has one producer.  Another kernel may follow when the former has returned and all that
 * it pushed was popped: pipes outlive the tasks that use them.
 */
static void take_lane(struct chip_core *core, const struct pto_pipe *p, struct chip_pipe_ring *r,
		      uint32_t lane, uint32_t takers)
{
	struct chip_pipe_end *e = &r->pusher[lane];

	if (e->kernel && e->kernel != core->kernel &&
	    (is_running(e) || r->committed[lane] > lesser(r->popped, takers))) {
		chip_fail_sched(core->chip, SIMPLER_RUN_INVALID_ARGS, core,
				"kernels %s and %s both push on lane %u of the pipe with flag %u in "
				"cluster %u; give each producer a pipe of its own",
				e->kernel->name, core->kernel->name, lane, p->flag_id,
				core->pub.cluster_id);
		chip_abandon(core);
	}
	*e = (struct chip_pipe_end){ core->kernel, core, core->pub.task_cookie,
				     core->pub.block_idx };
}

uint8_t *chip_push_begin(struct chip_core *core, const struct pto_pipe *p, enum pto_pipe_dir dir,
			 uint32_t lanes)
{
	struct chip_pipe_state *s = enter(core, p);
	struct chip_pipe_ring *r = &s->ring[dir == PTO_PIPE_V2C];
	uint32_t me = lane_of(core, producers(dir, lanes));

	take_lane(core, p, r, me, consumers(dir, lanes));
	r->lanes = (uint8_t)lanes;
	while (r->begun[me] - lesser(r->freed, consumers(dir, lanes)) >= s->slot_num)
		wait_for(core->chip, s, core, "push to a full pipe");
	return finish_begin(core, s, r, p, &r->begun[me]);
}

void chip_push_end(struct chip_core *core, const struct pto_pipe *p, enum pto_pipe_dir dir,
		   uint32_t lanes)
{
	struct chip_pipe_state *s = enter(core, p);
	struct chip_pipe_ring *r = &s->ring[dir == PTO_PIPE_V2C];

	r->committed[lane_of(core, producers(dir, lanes))]++;
	wake_waiters(core->chip, s);
	leave(core->chip);
}

uint8_t *chip_pop_begin(struct chip_core *core, const struct pto_pipe *p, enum pto_pipe_dir dir,
			uint32_t lanes)
{
	struct chip_pipe_state *s = enter(core, p);
	struct chip_pipe_ring *r = &s->ring[dir == PTO_PIPE_V2C];
	uint32_t me = lane_of(core, consumers(dir, lanes));

	r->lanes = (uint8_t)lanes;
	while (r->popped[me] >= lesser(r->committed, producers(dir, lanes)))
		wait_for(core->chip, s, core, "pop from an empty pipe");
	return finish_begin(core, s, r, p, &r->popped[me]);
}

void chip_pop_free(struct chip_core *core, const struct pto_pipe *p, enum pto_pipe_dir dir,
		   uint32_t lanes)
{
	struct chip_pipe_state *s = enter(core, p);
	struct chip_pipe_ring *r = &s->ring[dir == PTO_PIPE_V2C];
	uint32_t me = lane_of(core, consumers(dir, lanes));

	if (r->freed[me] >= r->popped[me]) {
		chip_fail_sched(core->chip, SIMPLER_RUN_INVALID_ARGS, core,
				"kernel %s: frees a pipe slot that it has not popped",
				core->kernel->name);
		chip_abandon(core);
	}
	r->freed[me]++;
	wake_waiters(core->chip, s);
	leave(core->chip);
}

static uint32_t undrained(const struct chip_pipe_ring *r)
{
	/* lanes applies to one side only; the other side's second counters stay 0 */
	uint64_t pushed = r->committed[0] > r->committed[1] ? r->committed[0] : r->committed[1];
	uint64_t freed = r->lanes == 2 && r->freed[1] ? lesser(r->freed, 2) : r->freed[0];

	return pushed > freed ? (uint32_t)(pushed - freed) : 0;
}

uint32_t chip_pipes_clear(struct chip *c, uint32_t cluster)
{
	struct chip_pipe_state *s = c->pipes[cluster];
	uint32_t left = 0;

	c->pipes[cluster] = NULL;
	while (s) {
		struct chip_pipe_state *next = s->next;

		for (int d = 0; d < 2; d++) {
			left += undrained(&s->ring[d]);
			free(s->ring[d].slots);
		}
		free(s);
		s = next;
	}
	return left;
}
