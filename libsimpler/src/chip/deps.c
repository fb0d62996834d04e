// SPDX-License-Identifier: MIT
/*
 * Dependence inference (chip-runtime §10, decision D1).
 *
 * The map holds the accesses of tasks that have not completed; completed ones
 * order nothing and are taken out.  Sequential mode enters readers too and
 * orders every pair of overlapping accesses of which one writes; raw mode is
 * the reference's weaker rule.
 */
#include <errno.h>

#include "base/clock.h"
#include "base/run_code.h"
#include "chip/sched.h"
#include "chip/submit.h"

struct wiring {
	struct chip *c;
	struct chip_task *task;
	uint64_t serial;
	uint32_t producers;
	bool failed;
};

bool deps_lookup_id(struct chip *c, uint64_t id, const char *what, struct chip_task **t)
{
	uint32_t ring = (uint32_t)(id >> 32);
	uint32_t local = (uint32_t)id;

	if (ring >= CHIP_RINGS || !chip_ring_submitted(&c->rings[ring], local)) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "%s names task %u:%u, which was never submitted",
			       what, ring, local);
		return false;
	}
	*t = (struct chip_task *)chip_ring_task(&c->rings[ring], local);
	return true;
}

/* A completed task without a record whose scope is open: it counts, but there is nothing to wait for. */
static bool deps_is_held(const struct chip *c, uint64_t id)
{
	const struct chip_ring *r = &c->rings[id >> 32];

	return (uint32_t)id - r->alive < r->next - r->alive &&
	       r->slots[(uint32_t)id & (r->window - 1)] != CHIP_SLOT_GONE;
}

static void add_edge(struct wiring *w, struct chip_task *producer)
{
	struct chip_edge *e = sched_edge(w->c);

	if (!e) {
		chip_fail_orch(w->c, SIMPLER_RUN_HOST_MEMORY, "no host memory for dependences");
		w->failed = true;
		return;
	}
	e->consumer = w->task;
	e->next = producer->consumers;
	producer->consumers = e;
	w->task->waits++;
}

/* Each producer counts once, whatever the number of ways it is reached; flags are OR-ed. */
static void add_producer(struct wiring *w, struct chip_task *producer, unsigned int flags)
{
	unsigned int known = producer->mark >> 2 == w->serial ? (unsigned int)producer->mark & 3 : 0;
	unsigned int fresh = flags & ~known;

	if (producer == w->task)
		return;
	if (producer->mark >> 2 != w->serial)
		w->producers++;
	producer->mark = w->serial << 2 | known | flags;
	if (fresh & PTO_DEP_RETAIN) {
		producer->refs++;
		w->task->retained[w->task->retained_count++] = producer;
	}
	if ((fresh & PTO_DEP_WAIT) && producer->state != CHIP_COMPLETED)
		add_edge(w, producer);
}

static bool named_before(const struct pto_core_args *args, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (args->deps[k] == args->deps[i])
			return true;
	return false;
}

static bool wire_explicit(struct wiring *w, const struct pto_core_args *args)
{
	for (uint32_t i = 0; i < args->dep_count; i++) {
		unsigned int flags = args->dep_kinds ? args->dep_kinds[i] & 3u :
						       PTO_DEP_WAIT | PTO_DEP_RETAIN;
		struct chip_task *producer;

		if (!deps_lookup_id(w->c, args->deps[i], "an explicit dependency", &producer))
			return false;
		if (producer == w->task) {
			chip_fail_orch(w->c, SIMPLER_RUN_INVALID_ARGS,
				       "an explicit dependency names task %u:%u, which is the task itself and was never submitted",
				       (unsigned int)(args->deps[i] >> 32), (unsigned int)args->deps[i]);
			return false;
		}
		if (producer && !producer->base.consumed && flags)
			add_producer(w, producer, flags);
		else if (!producer && deps_is_held(w->c, args->deps[i]))
			w->producers += !named_before(args, i);
	}
	return true;
}

static inline bool has_creator(const struct wiring *w, const struct pto_tensor *t)
{
	return t->owner_task_id != PTO_NO_TASK && t->owner_task_id != w->task->base.id;
}

static bool wire_creator(struct wiring *w, const struct pto_tensor *t)
{
	struct chip_task *creator;

	if (!deps_lookup_id(w->c, t->owner_task_id, "a tensor's owner", &creator))
		return false;
	if (creator && !creator->base.consumed)
		add_producer(w, creator, PTO_DEP_WAIT | PTO_DEP_RETAIN);
	return true;
}

/* Which live accesses an argument must be ordered behind. */
static uint32_t ordered_behind(const struct chip *c, uint8_t tag)
{
	bool raw = c->dep_mode == SIMPLER_HW_DEPS_RAW;

	switch (tag) {
	case PTO_ARG_INPUT: return TMAP_WRITE;
	case PTO_ARG_INOUT: return raw ? TMAP_WRITE : TMAP_ANY;
	case PTO_ARG_OUTPUT_EXISTING:
	case PTO_ARG_OUTPUT_LAZY: return raw ? 0 : TMAP_ANY;
	default: return 0;
	}
}

/*
 * In raw mode nothing is ordered behind readers but writes of the orchestration
 * itself, and these see only readers that had something to wait for
 * (chip-runtime §7.7).
 */
static bool has_live_producer(struct chip *c, const struct pto_tensor *t)
{
	return (t->owner_task_id != PTO_NO_TASK && !deps_is_done(c, t->owner_task_id)) ||
	       deps_overlaps(c, t, PTO_ARG_INPUT);
}

/* What an argument leaves in the map; 0 = nothing. */
static uint8_t leaves_behind(struct chip *c, uint8_t tag, const struct pto_tensor *t)
{
	switch (tag) {
	case PTO_ARG_INPUT:
		return c->dep_mode != SIMPLER_HW_DEPS_RAW || has_live_producer(c, t) ? TMAP_READ : 0;
	case PTO_ARG_INOUT:
	case PTO_ARG_OUTPUT_EXISTING:
	case PTO_ARG_OUTPUT_LAZY: return TMAP_WRITE;
	default: return 0;
	}
}

/* A writer that covers an access it waits for takes its place: later tasks wait for the writer. */
static bool wire_overlaps(struct wiring *w, const struct pto_tensor *t, uint8_t tag)
{
	uint32_t mask = ordered_behind(w->c, tag);
	bool replaces = tag != PTO_ARG_INPUT;
	struct tmap *m = &w->c->tmap;
	struct tmap_buffer *b;
	struct tmap_entry *e;
	struct tmap_iter it;

	if (!mask)
		return true;
	b = tmap_buffer(m, t);
	if (!b) {
		chip_fail_orch(w->c, SIMPLER_RUN_HOST_MEMORY, "no host memory for the tensor map");
		return false;
	}
	for (e = tmap_first(&it, m, b, t, mask); e; e = tmap_next(&it)) {
		struct chip_task *owner = e->owner;

		if (owner == w->task)
			continue;
		add_producer(w, owner, PTO_DEP_WAIT);
		if (replaces && it.kind == TMAP_COVERED)
			tmap_remove(m, e);
	}
	return true;
}

bool deps_is_done(struct chip *c, uint64_t id)
{
	uint32_t ring = (uint32_t)(id >> 32);
	const struct chip_task *t;

	if (ring >= CHIP_RINGS || !chip_ring_submitted(&c->rings[ring], (uint32_t)id))
		return false;
	t = (const struct chip_task *)chip_ring_task(&c->rings[ring], (uint32_t)id);
	return !t || t->state == CHIP_COMPLETED;
}

bool deps_overlaps(struct chip *c, const struct pto_tensor *t, uint8_t tag)
{
	uint32_t mask = ordered_behind(c, tag);
	struct tmap_buffer *b;
	struct tmap_iter it;

	if (!mask)
		return false;
	b = tmap_buffer(&c->tmap, t);
	return !b || tmap_first(&it, &c->tmap, b, t, mask);
}

static bool take_spill(struct chip *c, struct chip_task *t, uint32_t producers)
{
	struct chip_ring *r = &c->rings[t->base.id >> 32];
	uint32_t spill = producers - CHIP_INLINE_PRODUCERS;

	if (spill > r->dep_pool) {
		chip_fail_orch(c, SIMPLER_RUN_DEP_POOL_OVERFLOW,
			       "a task with %u producers needs %u pool entries, ring %u has %u; raise ring_dep_pool[%u]",
			       producers, spill, r->index, r->dep_pool, r->index);
		return false;
	}
	while (r->dep_used + spill > r->dep_pool)
		if (!orch_wait(c, CHIP_ORCH_DEP_POOL, spill))
			return false;
	r->dep_used += spill;
	t->spill = spill;
	return true;
}

/* The operand of a predicate is read when the task becomes ready. */
static bool wire_predicate(struct wiring *w, const struct pto_tensor *operand)
{
	if (has_creator(w, operand) && !wire_creator(w, operand))
		return false;
	return operand->manual_dep || wire_overlaps(w, operand, PTO_ARG_INPUT);
}

static bool is_tensor_tag(uint8_t tag)
{
	return tag <= PTO_ARG_OUTPUT_LAZY && tag != PTO_ARG_OUTPUT;
}

bool deps_wire(struct chip *c, struct chip_task *t, const struct pto_core_args *args, bool manual)
{
	struct wiring w = { .c = c, .task = t, .serial = ++c->submit_serial };
	bool live = tmap_live(&c->tmap) != 0;

	if (args->dep_count && !wire_explicit(&w, args))
		return false;
	/* a cluster's holder is kept alive even where automatic edges are off */
	for (uint32_t i = 0; i < args->tensor_count; i++) {
		const struct pto_tensor *tensor = &t->tensors[i];
		uint8_t tag = args->tags[i];

		if (tag == PTO_ARG_CLUSTER) {
			if (has_creator(&w, tensor) && !wire_creator(&w, tensor))
				return false;
			continue;
		}
		if (manual || !is_tensor_tag(tag))
			continue;
		if (has_creator(&w, tensor) && !wire_creator(&w, tensor))
			return false;
		if (live && !tensor->manual_dep && !wire_overlaps(&w, tensor, tag))
			return false;
	}
	if (t->predicate && !manual && !wire_predicate(&w, t->predicate->tensor))
		return false;
	return !w.failed && (w.producers <= CHIP_INLINE_PRODUCERS ||
			      take_spill(c, t, w.producers));
}

static bool insert(struct chip *c, struct tmap_entry *e)
{
	struct tmap_buffer *b;
	int rc;

	for (;;) {
		b = tmap_buffer(&c->tmap, e->tensor);
		rc = b ? tmap_insert(&c->tmap, b, e) : -ENOMEM;
		if (rc != -ENOSPC)
			break;
		if (!orch_wait(c, CHIP_ORCH_TMAP, 1))
			return false;
	}
	if (rc)
		chip_fail_orch(c, SIMPLER_RUN_HOST_MEMORY, "no host memory for the tensor map");
	return !rc;
}

static bool publish(struct chip *c, struct chip_task *t, const struct pto_tensor *tensor,
		    uint8_t tag)
{
	uint8_t access = tensor->manual_dep ? 0 : leaves_behind(c, tag, tensor);
	struct tmap_entry *e = &t->entries[t->entry_count];

	if (!access)
		return true;
	tmap_entry_init(e);
	e->tensor = tensor;
	e->owner = t;
	e->access = access;
	t->entry_count++;
	return insert(c, e);
}

bool deps_publish(struct chip *c, struct chip_task *t, const struct pto_core_args *args)
{
	if (t->flags & CHIP_TASK_MANUAL)
		return true;
	for (uint32_t i = 0; i < args->tensor_count; i++)
		if (!publish(c, t, &t->tensors[i], args->tags[i]))
			return false;
	return !t->predicate || publish(c, t, t->predicate->tensor, PTO_ARG_INPUT);
}

static bool wait_producers(struct chip *c)
{
	bool ok = true;

	/* relaxed: a time stamp that the watchdog compares */
	atomic_store_explicit(&c->orch_wait_start_ns, clock_mono_ns(), memory_order_relaxed);
	while (ok && c->orch_waits)
		ok = orch_wait(c, CHIP_ORCH_TENSOR, c->orch_waits);
	atomic_store_explicit(&c->orch_wait_start_ns, 0, memory_order_relaxed);
	return ok;
}

bool deps_wait_element(struct chip *c, const struct pto_tensor *element, bool readers_too)
{
	struct wiring w = { .c = c, .task = c->orch_node, .serial = ++c->submit_serial };
	struct tmap_buffer *b;
	struct tmap_entry *e;
	struct tmap_iter it;

	c->orch_node->waits = 0;
	c->orch_node->retained_count = 0;
	if (element->owner_task_id != PTO_NO_TASK) {
		struct chip_task *creator;

		if (!deps_lookup_id(c, element->owner_task_id, "a tensor's owner", &creator))
			return false;
		if (creator)
			add_producer(&w, creator, PTO_DEP_WAIT);
	}
	b = tmap_live(&c->tmap) ? tmap_buffer(&c->tmap, element) : NULL;
	if (b)
		for (e = tmap_first(&it, &c->tmap, b, element, readers_too ? TMAP_ANY : TMAP_WRITE);
		     e; e = tmap_next(&it))
			add_producer(&w, e->owner, PTO_DEP_WAIT);
	if (w.failed)
		return false;
	c->orch_waits = c->orch_node->waits;
	return !c->orch_waits || wait_producers(c);
}
