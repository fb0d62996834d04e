// SPDX-License-Identifier: MIT
/* Task records and the buffers they own: slot, heap block, lifetime. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/run_code.h"
#include "chip/sched.h"
#include "chip/submit.h"

bool orch_wait(struct chip *c, enum chip_orch_wait why, uint64_t request)
{
	if (chip_is_fatal(c))
		return false;
	c->orch_wait = why;
	c->orch_request = request;
	c->config.ops->park_orchestrator(c);
	c->orch_wait = CHIP_ORCH_RUNNING;
	return !chip_is_fatal(c);
}

static uint32_t round8(uint32_t n)
{
	return (n + 7) & ~7u;
}

static uint32_t record_bytes(const struct record_shape *s)
{
	return (uint32_t)sizeof(struct chip_task) + s->tensors * (uint32_t)sizeof(struct pto_tensor) +
	       s->entries * (uint32_t)sizeof(struct tmap_entry) + s->retained * 8 +
	       s->scalars * 8 + (s->pipes ? (s->pipes + 1) * 8 : 0) + round8(s->order) +
	       (s->predicate ? (uint32_t)(sizeof(struct pto_predicate) +
					  sizeof(struct pto_tensor)) : 0);
}

/* Lays the variable part out behind the tensors, in falling order of alignment. */
static void lay_out(struct chip_task *t, const struct record_shape *s)
{
	unsigned char *at = (unsigned char *)&t->tensors[s->tensors];

	t->entries = (struct tmap_entry *)at;
	at += s->entries * sizeof(*t->entries);
	if (s->predicate) {
		t->predicate = (struct pto_predicate *)at;
		at += sizeof(*t->predicate) + sizeof(struct pto_tensor);
	} else {
		t->predicate = NULL;
	}
	t->retained = (struct chip_task **)at;
	at += s->retained * 8;
	t->scalars = (uint64_t *)at;
	at += s->scalars * 8;
	t->pipe_ids = (uint64_t *)at;
	if (s->pipes)
		at += (s->pipes + 1) * 8;
	t->order = at;
}

/* The fields from @state to @mark, and the pointers that are not laid out. */
static void init_fixed(struct chip_task *t, const struct record_shape *s)
{
	static const struct chip_task blank = {
		.state = CHIP_WAITING, .shape = CHIP_SHAPE_DUMMY, .timing_slot = -1,
		.waits = 1, .refs = 1, .block_num = 1,
	};

	memcpy(&t->state, &blank.state,
	       offsetof(struct chip_task, kernels) - offsetof(struct chip_task, state));
	t->tensor_count = (uint8_t)s->tensors;
	t->scalar_count = (uint8_t)s->scalars;
	t->consumers = NULL;
	t->group = NULL;
}

static bool refuse_slot(struct chip *c, const struct chip_scope *scope, const struct chip_ring *r)
{
	if (scope->tasks >= r->window - 1)
		chip_fail_orch(c, SIMPLER_RUN_SCOPE_DEADLOCK,
			       "one open scope (depth %u) holds %u tasks, all that a window of %u allows; "
			       "close scopes earlier or raise ring_task_window[%u]",
			       (unsigned int)(scope - c->scopes), scope->tasks, r->window, r->index);
	else
		chip_fail_orch(c, SIMPLER_RUN_SCOPE_TASKS_OVERFLOW,
			       "open scopes hold %u tasks, all windows together have %u slots",
			       c->open_tasks, c->open_task_limit);
	return false;
}

/* Its oldest task belongs to a scope that is open, so nothing of the ring can retire. */
static bool is_stuck(const struct chip *c, const struct chip_ring *r)
{
	const struct chip_ring_task *t = r->slots[r->alive & (r->window - 1)];
	const struct chip_scope *s;

	if (r->alive == r->next || chip_slot_is_mark(t))
		return r->alive != r->next && t != CHIP_SLOT_GONE;
	s = &c->scopes[t->depth];
	return t->depth < c->rt.scope_depth && s->ring == r->index &&
	       r->alive - s->first < r->next - s->first;
}

/* Suspends the orchestrator, which alone could close a scope, unless waiting is in vain (decision D24). */
static bool wait_ring(struct chip *c, const struct chip_ring *r, enum chip_orch_wait why,
		      uint64_t request)
{
	char report[800];
	int code = why == CHIP_ORCH_HEAP ? SIMPLER_RUN_HEAP_RING_DEADLOCK :
					   SIMPLER_RUN_FLOW_CONTROL_DEADLOCK;

	if (!is_stuck(c, r))
		return orch_wait(c, why, request);
	c->orch_wait = why;
	chip_describe_stall(c, report, sizeof(report));
	c->orch_wait = CHIP_ORCH_RUNNING;
	chip_fail_orch(c, code, "request of %llu: the oldest task of ring %u belongs to an open scope; %s",
		       (unsigned long long)request, r->index, report);
	return false;
}

static bool wait_slot(struct chip *c, const struct chip_scope *scope, struct chip_ring *r)
{
	if (scope->tasks >= r->window - 1 || c->open_tasks >= c->open_task_limit)
		return refuse_slot(c, scope, r);
	while (!chip_ring_has_slot(r))
		if (!wait_ring(c, r, CHIP_ORCH_SLOT, 1))
			return false;
	return true;
}

static bool wait_heap(struct chip *c, struct chip_ring *r, uint64_t bytes, uint64_t *offset)
{
	int rc;

	if (chip_ring_map_heap(r)) {
		chip_fail_orch(c, SIMPLER_RUN_HOST_MEMORY, "no host memory for a heap of %llu bytes",
			       (unsigned long long)r->heap.size);
		return false;
	}
	while ((rc = chip_heap_alloc(&r->heap, bytes, offset)) == -ENOSPC)
		if (!wait_ring(c, r, CHIP_ORCH_HEAP, bytes))
			return false;
	if (rc)
		chip_fail_orch(c, SIMPLER_RUN_HEAP_RING_DEADLOCK,
			       "outputs of %llu bytes exceed the heap of ring %u (%llu bytes); raise ring_heap[%u]",
			       (unsigned long long)bytes, r->index, (unsigned long long)r->heap.size, r->index);
	return !rc;
}

struct chip_task *task_create(struct chip *c, struct chip_scope *scope,
			      const struct record_shape *shape, uint64_t heap, uint64_t *heap_addr)
{
	struct chip_ring *r = &c->rings[scope->ring];
	struct chip_chunk *chunk;
	struct chip_task *t;
	uint64_t offset = 0;
	uint32_t bytes;

	if (!wait_slot(c, scope, r) || (heap && !wait_heap(c, r, heap, &offset)))
		return NULL;
	bytes = record_bytes(shape);
	t = chip_ring_record(r, bytes, &chunk);
	if (!t) {
		chip_fail_orch(c, SIMPLER_RUN_HOST_MEMORY, "no host memory for a task record of %u bytes", bytes);
		return NULL;
	}
	init_fixed(t, shape);
	lay_out(t, shape);
	t->base.chunk = chunk;
	t->base.heap_end = r->heap.top;
	t->base.heap_epoch = r->heap.epoch;
	t->base.depth = (uint8_t)(scope - c->scopes);
	chip_ring_publish(r, &t->base);
	t->scope_next = scope->list;
	scope->list = t;
	scope->tasks++;
	c->open_tasks++;
	c->submitted++;
	*heap_addr = (uint64_t)(uintptr_t)r->heap_base + offset;
	return t;
}

uint64_t create_info_bytes(const struct pto_create_info *ci)
{
	uint64_t n = chip_dtype_bytes(ci->dtype);

	for (uint32_t d = 0; d < ci->ndims; d++)
		if (__builtin_mul_overflow(n, ci->shapes[d], &n))
			return UINT64_MAX;
	return n;
}

static void fill_initial(uint64_t addr, uint64_t bytes, uint64_t value, uint32_t width)
{
	unsigned char *at = (unsigned char *)(uintptr_t)addr;

	for (uint64_t done = 0; done < bytes; done += width)
		memcpy(at + done, &value, width);
}

void tensor_from_create(struct pto_tensor *t, const struct pto_create_info *ci, uint64_t addr,
			uint64_t owner)
{
	uint64_t stride = 1;

	memset(t, 0, sizeof(*t));
	t->addr = addr;
	t->size = create_info_bytes(ci);
	t->owner_task_id = owner;
	t->ndims = ci->ndims;
	t->dtype = ci->dtype;
	t->manual_dep = ci->manual_dep;
	t->is_contiguous = true;
	t->address_space = 1;
	for (uint32_t d = ci->ndims; d-- > 0;) {
		t->shapes[d] = ci->shapes[d];
		t->strides[d] = (uint32_t)stride;
		stride *= ci->shapes[d];
	}
	t->extent_elem = stride;
	if (ci->has_initial)
		fill_initial(addr, t->size, ci->initial, chip_dtype_bytes(ci->dtype));
}

static struct chip_scope *home_scope(struct chip *c, const struct pto_tensor *t)
{
	struct chip_scope *s;

	if (!t->home_depth || t->home_depth > c->rt.scope_depth)
		return NULL;
	s = scope_at(c, t->home_depth - 1u);
	return s->serial == t->home_scope ? s : NULL;
}

bool tensor_materialize(struct chip *c, struct pto_tensor *t)
{
	static const struct record_shape plain;
	struct chip_scope *home = home_scope(c, t);
	struct chip_task *owner;
	uint64_t addr;

	if (!home) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "a tensor without a buffer is used outside the scope that declared it");
		return false;
	}
	owner = task_create(c, home, &plain, t->size, &addr);
	if (!owner)
		return false;
	t->addr = addr;
	t->owner_task_id = owner->base.id;
	sched_complete(c, owner);
	return true;
}
