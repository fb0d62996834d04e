// SPDX-License-Identifier: MIT
/* Scheduler: ready queues, placement on logical cores, completion. */
#include "chip/sched.h"

#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "base/run_code.h"
#include "chip/pipe.h"

#define EDGES_PER_SLAB	1024u

struct edge_slab {
	struct edge_slab *next;
	struct chip_edge edges[EDGES_PER_SLAB];
};

static uint64_t all_clusters(const struct chip *c)
{
	return (1ull << c->config.clusters) - 1;
}

void sched_reset(struct chip *c)
{
	for (int tier = 0; tier < 2; tier++)
		for (int shape = 0; shape < 3; shape++)
			queue_init(&c->ready[tier][shape]);
	c->placed = NULL;
	c->placed_tail = &c->placed;
	for (int slot = 0; slot < CHIP_SLOTS; slot++)
		c->free[slot] = all_clusters(c);
	c->light_core[0] = c->light_core[1] = NULL;
	c->queued = 0;
	c->reserved = 0;
	c->running = 0;
	c->parked = 0;
	queue_init(&c->linked);
	c->linking = false;
}

/* ---- edges ---- */

struct chip_edge *sched_edge(struct chip *c)
{
	struct chip_edge *e = c->free_edges;

	if (!e) {
		struct edge_slab *slab = malloc(sizeof(*slab));

		if (!slab)
			return NULL;
		slab->next = c->edge_slabs;
		c->edge_slabs = slab;
		for (uint32_t i = 0; i < EDGES_PER_SLAB; i++)
			slab->edges[i].next = i + 1 < EDGES_PER_SLAB ? &slab->edges[i + 1] : NULL;
		e = slab->edges;
	}
	c->free_edges = e->next;
	return e;
}

void sched_free_edges(struct chip *c)
{
	struct edge_slab *slab = c->edge_slabs;

	while (slab) {
		struct edge_slab *next = slab->next;

		free(slab);
		slab = next;
	}
	c->edge_slabs = NULL;
	c->free_edges = NULL;
}

static void put_edge(struct chip *c, struct chip_edge *e)
{
	e->next = c->free_edges;
	c->free_edges = e;
}

/* ---- retirement ---- */

void sched_wake_orchestrator(struct chip *c)
{
	switch (c->orch_wait) {
	case CHIP_ORCH_SLOT:
	case CHIP_ORCH_HEAP:
	case CHIP_ORCH_DEP_POOL:
	case CHIP_ORCH_TMAP:
	case CHIP_ORCH_CLUSTER:
		c->config.ops->resume_orchestrator(c);
		break;
	default:
		break;
	}
}

/* Retires consumed tasks in submission order (chip-runtime §12). */
void sched_advance(struct chip *c, struct chip_ring *r)
{
	uint32_t before = r->alive;

	while (r->alive != r->next) {
		struct chip_ring_task *t = r->slots[r->alive & (r->window - 1)];

		if (chip_slot_is_mark(t)) {
			if (t != CHIP_SLOT_GONE)
				break;
			r->alive++;
			continue;
		}
		if (!t->consumed)
			break;
		chip_heap_release(&r->heap, t->heap_end, t->heap_epoch);
		chip_ring_put_record(r, t->chunk);
		r->alive++;
	}
	if (r->alive != before)
		sched_wake_orchestrator(c);
}

static void consume(struct chip *c, struct chip_task *t)
{
	struct chip_ring *r = &c->rings[t->base.id >> 32];

	if (t->flags & CHIP_TASK_CLUSTER)
		cluster_release(c, t);
	t->base.consumed = true;
	if ((uint32_t)t->base.id == r->alive)
		sched_advance(c, r);
}

void sched_unref(struct chip *c, struct chip_task *t)
{
	if (--t->refs == 0 && t->state == CHIP_COMPLETED)
		consume(c, t);
}

static void notify_consumer(struct chip *c, struct chip_task *consumer)
{
	if (consumer == c->orch_node) {
		if (--c->orch_waits == 0 && c->orch_wait == CHIP_ORCH_TENSOR)
			c->config.ops->resume_orchestrator(c);
		return;
	}
	if (--consumer->waits == 0)
		sched_data_ready(c, consumer);
}

static void complete_one(struct chip *c, struct chip_task *t)
{
	struct chip_edge *e = t->consumers;

	t->state = CHIP_COMPLETED;
	t->consumers = NULL;
	c->completed++;
	for (uint32_t i = 0; i < t->entry_count; i++)
		tmap_remove(&c->tmap, &t->entries[i]);
	if (t->spill)
		c->rings[t->base.id >> 32].dep_used -= t->spill;
	while (e) {
		struct chip_edge *next = e->next;
		struct chip_task *consumer = e->consumer;

		put_edge(c, e);
		notify_consumer(c, consumer);
		e = next;
	}
	for (uint32_t i = 0; i < t->retained_count; i++)
		sched_unref(c, t->retained[i]);
	if (!t->refs)
		consume(c, t);
	if (c->orch_wait == CHIP_ORCH_DEP_POOL || c->orch_wait == CHIP_ORCH_TMAP)
		sched_wake_orchestrator(c);
}

/*
 * Completion can cascade through dummy tasks; they are queued and completed in
 * a loop here, so that a chain of any length needs no stack.
 */
void sched_complete(struct chip *c, struct chip_task *t)
{
	if (c->completing) {
		queue_push(&c->dummies, t);
		return;
	}
	c->completing = true;
	complete_one(c, t);
	while (c->dummies.head)
		complete_one(c, queue_pop(&c->dummies));
	c->completing = false;
}

/* ---- readiness ---- */

struct operand {
	const unsigned char *at;
	uint32_t size;
	int64_t value;
};

static void read_operand(void *arg)
{
	struct operand *o = arg;
	int64_t v = 0;

	memcpy(&v, o->at, o->size);
	o->value = o->size < 8 ?
		(int64_t)((uint64_t)v << (64 - 8 * o->size)) >> (64 - 8 * o->size) : v;
}

/* false: the launch has failed.  No kernel need have touched the address before. */
static bool predicate_value(struct chip *c, const struct chip_task *task, int64_t *value)
{
	const struct pto_predicate *p = task->predicate;
	const struct pto_tensor *t = p->tensor;
	struct operand o = { .size = chip_dtype_bytes(t->dtype) };
	uint64_t index = t->start_offset;
	struct guard_fault fault;
	char name[24];

	for (uint32_t d = 0; d < p->ndims; d++)
		index += (uint64_t)p->indices[d] * t->strides[d];
	o.at = (const unsigned char *)(uintptr_t)t->addr + index * o.size;
	if (guard_call(read_operand, &o, &fault)) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "task %s: the operand of its predicate at %p is not readable memory",
			       chip_task_name(task->base.id, name), (const void *)o.at);
		return false;
	}
	*value = o.value;
	return true;
}

static bool compare(const struct pto_predicate *p, int64_t v)
{
	switch (p->op) {
	case PTO_PRED_EQ: return v == p->target;
	case PTO_PRED_NE: return v != p->target;
	case PTO_PRED_GT: return v > p->target;
	case PTO_PRED_LT: return v < p->target;
	case PTO_PRED_GE: return v >= p->target;
	case PTO_PRED_LE: return v <= p->target;
	default: return true;
	}
}

static void make_ready(struct chip *c, struct chip_task *t)
{
	int64_t v = 0;

	if (t->flags & CHIP_TASK_PIPED) {
		cluster_links_ready(c, t);
		if (t->pipe_waits)
			return;
	}
	if (t->flags & CHIP_TASK_PREDICATE && !predicate_value(c, t, &v))
		return;
	if (!has_kernels(t) ||
	    (t->flags & CHIP_TASK_PREDICATE && !compare(t->predicate, v))) {
		sched_complete(c, t);
		return;
	}
	t->state = CHIP_READY;
	c->queued++;
	if (t->flags & CHIP_TASK_PINNED)
		queue_push(&t->group->ready, t);
	else
		queue_push(&c->ready[!(t->flags & CHIP_TASK_SYNC_START)][t->shape], t);
	c->config.ops->work_ready(c, t);
}

/* A task can make others ready through pipes; a chain of any length needs no stack. */
void sched_data_ready(struct chip *c, struct chip_task *t)
{
	if (c->linking) {
		queue_push(&c->linked, t);
		return;
	}
	c->linking = true;
	make_ready(c, t);
	while (c->linked.head)
		make_ready(c, queue_pop(&c->linked));
	c->linking = false;
}

/* ---- placement ---- */

static struct chip_core *core_at(struct chip *c, uint32_t cluster, enum chip_slot slot)
{
	uint32_t n = c->config.clusters;

	return &c->cores[slot == CHIP_AIC ? cluster : n + 2 * cluster + (slot == CHIP_AIV1)];
}

/* Tells tasks that run at the same time apart; ring numbers end far below bit 48. */
static uint64_t task_cookie(const struct chip *c, uint64_t id)
{
	return (id + 1) ^ c->launches << 48;
}

static void bind_core(const struct chip *c, struct chip_core *core, struct chip_task *t,
		      enum chip_slot kernel_slot, int32_t block)
{
	bool together = t->flags & CHIP_TASK_PINNED || t->shape == CHIP_SHAPE_MIX;
	uint32_t sub = together ? core->pub.lane : 0;

	core->task = t;
	core->light_bound = false;
	core->slot = (uint8_t)kernel_slot;
	core->kernel = t->kernels[kernel_slot];
	core->waits_for = NULL;
	core->async_count = 0;
	core->async_error = 0;
	core->abandoned = false;
	core->pub.block_idx = block;
	core->pub.block_num = t->block_num;
	core->pub.sub_block_id = sub;
	core->pub.sub_block_dim = (t->kernel_mask & 6) == 6 ? 2 : 1;
	core->pub.task_cookie = task_cookie(c, t->base.id);
	core->local.block_idx = block;
	core->local.block_num = t->block_num;
	core->local.async.task_token = t->base.id;
	core->global.sub_block_id = (int32_t)sub;
}

static void place(struct chip *c, struct chip_task *t, uint32_t cluster, enum chip_slot core_slot,
		  enum chip_slot kernel_slot, int32_t block)
{
	struct chip_core *core = core_at(c, cluster, core_slot);

	bind_core(c, core, t, kernel_slot, block);
	core->state = CHIP_CORE_PLACED;
	core->next = NULL;
	*c->placed_tail = core;
	c->placed_tail = &core->next;
	c->free[core_slot] &= ~(1ull << cluster);
	c->running++;
}

/* Clusters of @among on which one block of @t could start. */
static uint64_t fitting(const struct chip *c, const struct chip_task *t, uint64_t among)
{
	switch (t->shape) {
	case CHIP_SHAPE_AIC:
		return among & c->free[CHIP_AIC];
	case CHIP_SHAPE_AIV:
		return among & (c->free[CHIP_AIV0] | c->free[CHIP_AIV1]);
	default:
		for (int slot = 0; slot < CHIP_SLOTS; slot++)
			if (t->kernel_mask & (1u << slot))
				among &= c->free[slot];
		return among;
	}
}

static void place_block(struct chip *c, struct chip_task *t, uint32_t cluster)
{
	int32_t block = t->next_block++;

	if (t->shape == CHIP_SHAPE_AIV) {
		bool lane0 = c->free[CHIP_AIV0] >> cluster & 1;

		place(c, t, cluster, lane0 ? CHIP_AIV0 : CHIP_AIV1, CHIP_AIV0, block);
		return;
	}
	for (int slot = 0; slot < CHIP_SLOTS; slot++)
		if (t->kernel_mask & (1u << slot))
			place(c, t, cluster, (enum chip_slot)slot, (enum chip_slot)slot, block);
}

static uint32_t room_for(const struct chip *c, const struct chip_task *t, uint64_t among)
{
	if (t->shape == CHIP_SHAPE_AIV)
		return (uint32_t)__builtin_popcountll(among & c->free[CHIP_AIV0]) +
		       (uint32_t)__builtin_popcountll(among & c->free[CHIP_AIV1]);
	return (uint32_t)__builtin_popcountll(fitting(c, t, among));
}

/* All blocks of a cohort start together or not at all. */
static bool place_cohort(struct chip *c, struct chip_queue *q, uint64_t among)
{
	struct chip_task *t = q->head;

	if (room_for(c, t, among) < (uint32_t)t->block_num)
		return false;
	queue_pop(q);
	c->queued--;
	while (t->next_block < t->block_num)
		place_block(c, t, (uint32_t)__builtin_ctzll(fitting(c, t, among)));
	return true;
}

static bool place_head(struct chip *c, struct chip_queue *q, uint64_t among)
{
	struct chip_task *t = q->head;
	uint64_t where = fitting(c, t, among);

	if (!where)
		return false;
	place_block(c, t, (uint32_t)__builtin_ctzll(where));
	if (t->next_block == t->block_num) {
		queue_pop(q);
		c->queued--;
	}
	return true;
}

/* Block k of a task runs on cluster k of its group. */
static bool place_pinned_block(struct chip *c, const struct chip_group *g, struct chip_task *t)
{
	uint64_t mask = g->mask;
	uint64_t where;

	if (g->count > 1)
		for (int32_t k = 0; k < t->next_block; k++)
			mask &= mask - 1;
	where = fitting(c, t, mask & -mask);
	if (where)
		place_block(c, t, (uint32_t)__builtin_ctzll(where));
	return where != 0;
}

/* Is there room for all blocks at once?  pin_to_group() knows that there can be. */
static bool cohort_fits(const struct chip *c, const struct chip_group *g, const struct chip_task *t)
{
	return g->count > 1 ? fitting(c, t, g->mask) == g->mask :
			      room_for(c, t, g->mask) >= (uint32_t)t->block_num;
}

/*
 * Pinned tasks; one that does not fit now does not hold up those behind it,
 * which may be what frees the core it needs.
 */
static bool place_pinned(struct chip *c, struct chip_group *g)
{
	struct chip_task **link = &g->ready.head;

	for (struct chip_task *t = *link; t; link = &t->queue_next, t = *link) {
		bool cohort = t->flags & CHIP_TASK_SYNC_START;

		if (cohort && !cohort_fits(c, g, t))
			continue;
		if (!place_pinned_block(c, g, t))
			continue;
		while (cohort && t->next_block < t->block_num)
			place_pinned_block(c, g, t);
		if (t->next_block == t->block_num) {
			*link = t->queue_next;
			if (!*link)
				g->ready.tail = link;
			c->queued--;
		}
		return true;
	}
	return false;
}

/* Places the next block (or cohort) of any queue; cohorts first, then wide before narrow. */
static bool place_some(struct chip *c)
{
	static const uint8_t order[3] = { CHIP_SHAPE_MIX, CHIP_SHAPE_AIC, CHIP_SHAPE_AIV };
	uint64_t among = all_clusters(c) & ~c->reserved;

	for (int i = 0; i < 3; i++)
		if (c->ready[0][order[i]].head && place_cohort(c, &c->ready[0][order[i]], among))
			return true;
	for (struct chip_group *g = c->groups; g; g = g->next)
		if (g->ready.head && place_pinned(c, g))
			return true;
	for (int i = 0; i < 3; i++)
		if (c->ready[1][order[i]].head && place_head(c, &c->ready[1][order[i]], among))
			return true;
	return false;
}

struct chip_core *chip_take(struct chip *c)
{
	struct chip_core *core;

	if (chip_is_fatal(c))
		return NULL;
	if (!c->placed && !place_some(c))
		return NULL;
	core = c->placed;
	c->placed = core->next;
	if (!c->placed)
		c->placed_tail = &c->placed;
	core->next = NULL;
	core->state = CHIP_CORE_RUNNING;
	return core;
}

/* ---- ends of blocks ---- */

static void note_progress(struct chip *c)
{
	c->blocks++;
	/* relaxed: the watchdog only compares values; one writer at a time under the lock */
	atomic_store_explicit(&c->progress, c->blocks, memory_order_relaxed);
}

static void free_core(struct chip *c, struct chip_core *core)
{
	*core->free_word |= core->free_bit;
	c->running--;
	core->state = CHIP_CORE_FREE;
	core->task = NULL;
	if (c->orch_wait == CHIP_ORCH_CLUSTER)
		cluster_grab(c);
}

void chip_block_done(struct chip *c, struct chip_core *core)
{
	struct chip_task *t = core->task;
	bool deferred = core->async_count || core->async_error ? async_defer(c, core) : false;

	note_progress(c);
	free_core(c, core);
	if (!deferred && --t->subtasks_left == 0 && !chip_is_fatal(c))
		sched_complete(c, t);
}

/*
 * Inline execution.  While one thread executes the launch, a task that is ready
 * when it is submitted runs at once on the orchestrator's stack: its operands
 * are still in the cache, and it needs no map entry, queue or consumer list.
 * Kernels that may suspend are excluded, since they would suspend the
 * orchestration with them.
 */
static bool run_inline_block(struct chip *c, struct chip_task *t, uint32_t cluster, int32_t block)
{
	for (uint32_t left = t->kernel_mask; left; left &= left - 1) {
		struct chip_core *core;
		int slot = __builtin_ctz(left);
		enum chip_slot where = (enum chip_slot)slot;

		if (t->shape == CHIP_SHAPE_AIV && !(c->free[CHIP_AIV0] >> cluster & 1))
			where = CHIP_AIV1;
		core = core_at(c, cluster, where);
		bind_core(c, core, t, (enum chip_slot)slot, block);
		core->state = CHIP_CORE_RUNNING;
		c->free[where] &= ~(1ull << cluster);
		c->running++;
		chip_unlock(c);
		c->config.ops->call_kernel(c, core);
		chip_lock(c);
		c->inline_blocks++;
		chip_block_done(c, core);
		if (chip_is_fatal(c))
			return false;
	}
	return true;
}

/* A free core, bound to the node that stands for light tasks. */
static struct chip_core *bind_light(struct chip *c, bool cube)
{
	uint64_t lane0 = c->free[cube ? CHIP_AIC : CHIP_AIV0] & ~c->reserved;
	uint64_t lane1 = cube ? 0 : c->free[CHIP_AIV1] & ~c->reserved;
	enum chip_slot slot = cube ? CHIP_AIC : lane0 ? CHIP_AIV0 : CHIP_AIV1;
	uint64_t where = lane0 ? lane0 : lane1;
	struct chip_core *core;

	if (!where)
		return NULL;
	core = core_at(c, (uint32_t)__builtin_ctzll(where), slot);
	bind_core(c, core, c->light_node, cube ? CHIP_AIC : CHIP_AIV0, 0);
	core->light_bound = true;
	c->light_core[cube] = core;
	return core;
}

/* One block of one kernel for a task without a record: mostly on the core of the one before. */
struct chip_core *sched_light_core(struct chip *c, uint8_t shape, const struct chip_kernel *kernel,
				   uint64_t id)
{
	bool cube = shape == CHIP_SHAPE_AIC;
	struct chip_core *core = c->light_core[cube];

	if (__builtin_expect(!core || !core->light_bound ||
			     !(*core->free_word & ~c->reserved & core->free_bit), 0)) {
		core = bind_light(c, cube);
		if (!core)
			return NULL;
	}
	*core->free_word &= ~core->free_bit;
	c->running++;
	c->light_node->base.id = id;
	core->task = c->light_node;
	core->kernel = kernel;
	core->state = CHIP_CORE_RUNNING;
	core->pub.task_cookie = task_cookie(c, id);
	core->local.async.task_token = id;
	return core;
}

void sched_light_done(struct chip *c, struct chip_core *core)
{
	core->light = NULL;
	note_progress(c);
	free_core(c, core);
}

bool sched_run_inline(struct chip *c, struct chip_task *t)
{
	uint64_t among = all_clusters(c) & ~c->reserved;

	t->state = CHIP_READY;
	while (t->next_block < t->block_num) {
		uint64_t where = fitting(c, t, among);
		int32_t block = t->next_block;

		/* submit asked for the first block; long kernels show with it */
		if (!where || (block && c->config.ops->prefer_queue(c, t))) {
			c->queued++;
			queue_push(&c->ready[!(t->flags & CHIP_TASK_SYNC_START)][t->shape], t);
			c->config.ops->work_ready(c, t);
			return false;
		}
		t->next_block++;
		if (!run_inline_block(c, t, (uint32_t)__builtin_ctzll(where), block))
			break;
	}
	return true;
}

/* ---- stalls ---- */

static int orchestrator_deadlock_code(const struct chip *c)
{
	switch (c->orch_wait) {
	case CHIP_ORCH_SLOT: return SIMPLER_RUN_FLOW_CONTROL_DEADLOCK;
	case CHIP_ORCH_HEAP: return SIMPLER_RUN_HEAP_RING_DEADLOCK;
	case CHIP_ORCH_DEP_POOL: return SIMPLER_RUN_DEP_POOL_OVERFLOW;
	case CHIP_ORCH_TMAP: return SIMPLER_RUN_TENSORMAP_OVERFLOW;
	case CHIP_ORCH_CLUSTER: return SIMPLER_RUN_CLUSTER_DEADLOCK;
	case CHIP_ORCH_TENSOR: return SIMPLER_RUN_TENSOR_WAIT_TIMEOUT;
	default: return 0;
	}
}

/* Stall classes of chip-runtime §15.1. */
static int stall_class(const struct chip *c)
{
	if (c->running)
		return 1;
	if (c->queued)
		return 3;
	return c->completed < c->submitted ? 4 : 5;
}

static uint64_t oldest_open(const struct chip_ring *r)
{
	for (uint32_t i = r->alive; i != r->next; i++) {
		const struct chip_ring_task *t = r->slots[i & (r->window - 1)];

		if (!chip_slot_is_mark(t) && ((const struct chip_task *)t)->state != CHIP_COMPLETED)
			return t->id;
	}
	return PTO_NO_TASK;
}

/* Who is stuck: a block that has a core, else the oldest task that has not completed. */
static struct chip_culprit stuck(const struct chip *c)
{
	struct chip_culprit who = chip_culprit(NULL);
	uint32_t cores = c->config.clusters * CHIP_CORES_PER_CLUSTER;

	for (uint32_t i = 0; i < cores; i++)
		if (c->cores[i].state != CHIP_CORE_FREE)
			return chip_culprit(&c->cores[i]);
	for (uint32_t i = 0; i < CHIP_RINGS && who.task == PTO_NO_TASK; i++)
		who.task = oldest_open(&c->rings[i]);
	return who;
}

void chip_deadlock(struct chip *c)
{
	char report[sizeof(c->failure.text)];
	int code = orchestrator_deadlock_code(c);
	struct chip_culprit who;

	chip_describe_stall(c, report, sizeof(report));
	if (code) {
		chip_fail_orch(c, code, "deadlock, nothing that runs can free the request of %llu; %s",
			       (unsigned long long)c->orch_request, report);
		return;
	}
	who = stuck(c);
	c->failure.sub_class = stall_class(c);
	chip_fail_sched_at(c, SIMPLER_RUN_SCHEDULER_TIMEOUT, &who, "deadlock, sub_class=S%d: %s",
			   c->failure.sub_class, report);
}

void chip_no_progress(struct chip *c, uint32_t ms)
{
	char report[sizeof(c->failure.text)];
	struct chip_culprit who = stuck(c);

	chip_describe_stall(c, report, sizeof(report));
	c->failure.sub_class = stall_class(c);
	chip_fail_sched_at(c, SIMPLER_RUN_SCHEDULER_TIMEOUT, &who, "sub_class=S%d: no progress for %u ms: %s",
			   c->failure.sub_class, ms, report);
}
