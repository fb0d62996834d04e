// SPDX-License-Identifier: MIT
/* Failure latches and the report of a stall. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "chip/chip.h"
#include "chip/pipe.h"
#include "chip/sched.h"

#define WAITING_TASKS	4	/* named in a report */

const char *chip_task_name(uint64_t id, char buf[24])
{
	if (id == PTO_NO_TASK)
		snprintf(buf, 24, "none");
	else
		snprintf(buf, 24, "%u:%u", (unsigned int)(id >> 32), (unsigned int)id);
	return buf;
}

static void latch(struct chip *c, const char *text)
{
	struct chip_failure *f = &c->failure;

	if (!f->text[0])
		snprintf(f->text, sizeof(f->text), "%s", text);
	/* relaxed: see chip_is_fatal() */
	atomic_store_explicit(&c->fatal, true, memory_order_relaxed);
	if (c->orch_wait != CHIP_ORCH_RUNNING && c->orch_wait != CHIP_ORCH_DONE)
		c->config.ops->resume_orchestrator(c);
	c->config.ops->work_ready(c, NULL);
}

void chip_vfail_orch(struct chip *c, int code, const char *fmt, va_list ap)
{
	struct chip_failure *f = &c->failure;
	char text[sizeof(f->text)];

	vsnprintf(text, sizeof(text), fmt, ap);
	/* an orchestrator code outranks what a scheduler reported before it */
	if (!f->orch_code) {
		f->orch_code = code;
		f->phase = SIMPLER_HW_PHASE_ORCHESTRATE;
		f->text[0] = '\0';
	}
	latch(c, text);
}

void chip_fail_orch(struct chip *c, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	chip_vfail_orch(c, code, fmt, ap);
	va_end(ap);
}

static void fail_sched(struct chip *c, int code, const struct chip_culprit *who, const char *fmt,
		       va_list ap)
{
	struct chip_failure *f = &c->failure;
	char text[sizeof(f->text)];

	vsnprintf(text, sizeof(text), fmt, ap);
	if (!f->sched_code) {
		f->sched_code = code;
		if (!f->orch_code)
			f->phase = SIMPLER_HW_PHASE_EXECUTE;
		f->core = who->core;
		f->func_id = who->func_id;
		f->task = who->task;
	}
	latch(c, text);
}

struct chip_culprit chip_culprit(const struct chip_core *core)
{
	if (!core || !core->task)
		return (struct chip_culprit){ -1, -1, PTO_NO_TASK };
	return (struct chip_culprit){ (int32_t)core->pub.core_id, core->kernel->func_id,
				      core->task->base.id };
}

void chip_fail_sched_at(struct chip *c, int code, const struct chip_culprit *who,
			const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail_sched(c, code, who, fmt, ap);
	va_end(ap);
}

void chip_fail_sched(struct chip *c, int code, const struct chip_core *core, const char *fmt, ...)
{
	struct chip_culprit who = chip_culprit(core);
	va_list ap;

	va_start(ap, fmt);
	fail_sched(c, code, &who, fmt, ap);
	va_end(ap);
}

static const char *const orch_waits[] = {
	[CHIP_ORCH_RUNNING] = "running",
	[CHIP_ORCH_SLOT] = "waiting for a task slot",
	[CHIP_ORCH_HEAP] = "waiting for heap space",
	[CHIP_ORCH_DEP_POOL] = "waiting for dependency pool entries",
	[CHIP_ORCH_TMAP] = "waiting for tensor map entries",
	[CHIP_ORCH_CLUSTER] = "waiting for free clusters",
	[CHIP_ORCH_TENSOR] = "waiting for the producers of an element",
	[CHIP_ORCH_DONE] = "done",
};

static int describe_core(const struct chip_core *core, char *buf, size_t size)
{
	char name[24];
	const char *state = core->waits_for ? core->waits_for :
			    core->state == CHIP_CORE_PLACED ? "waiting to start" : "running";

	return snprintf(buf, size, "; core %u (%s%s of cluster %u): task %s block %d/%d kernel %s, %s",
			core->pub.core_id, core->pub.is_aic ? "AIC" : "AIV",
			core->pub.is_aic ? "" : core->pub.lane ? "1" : "0", core->pub.cluster_id,
			chip_task_name(core->task->base.id, name), core->pub.block_idx,
			core->pub.block_num, core->kernel->name, state);
}

static const char *first_kernel(const struct chip_task *t)
{
	for (int slot = 0; slot < CHIP_SLOTS; slot++)
		if (t->kernels[slot])
			return t->kernels[slot]->name;
	return "none";
}

/* A task that is on no core. */
static size_t describe_task(const struct chip_task *t, char *buf, size_t size)
{
	char name[24];
	int used = snprintf(buf, size, "; task %s (kernel %s)", chip_task_name(t->base.id, name),
			    first_kernel(t));

	if ((size_t)used >= size)
		return (size_t)used;
	if (t->state == CHIP_READY)
		return (size_t)used + (size_t)snprintf(buf + used, size - (size_t)used,
						       " is ready but no core is free for it");
	return (size_t)used + (size_t)snprintf(buf + used, size - (size_t)used,
					       " waits for %u tasks and %u pipes", t->waits,
					       t->pipe_waits);
}

/* The oldest ones; those with a block on a core are described with the core. */
static size_t describe_waiting(const struct chip *c, char *buf, size_t size)
{
	size_t used = 0;
	int left = WAITING_TASKS;

	for (uint32_t r = 0; r < CHIP_RINGS; r++)
		for (uint32_t i = c->rings[r].alive; i != c->rings[r].next; i++) {
			const void *slot = c->rings[r].slots[i & (c->rings[r].window - 1)];
			const struct chip_task *t = slot;

			if (chip_slot_is_mark(slot) || t->state == CHIP_COMPLETED || !t->kernel_mask ||
			    (t->state == CHIP_READY && t->next_block))
				continue;
			if (!left-- || used >= size)
				return used;
			used += describe_task(t, buf + used, size - used);
		}
	return used;
}

void chip_describe_stall(const struct chip *c, char *buf, size_t size)
{
	uint32_t cores = c->config.clusters * CHIP_CORES_PER_CLUSTER;
	size_t used;

	used = (size_t)snprintf(buf, size, "orchestrator %s; %llu of %llu tasks completed",
				orch_waits[c->orch_wait], (unsigned long long)c->completed,
				(unsigned long long)c->submitted);
	for (uint32_t i = 0; i < cores && used < size; i++)
		if (c->cores[i].state != CHIP_CORE_FREE)
			used += (size_t)describe_core(&c->cores[i], buf + used, size - used);
	if (used < size)
		used += async_describe(c, buf + used, size - used);
	if (used < size)
		used += describe_waiting(c, buf + used, size - used);
	for (uint32_t r = 0; r < CHIP_RINGS && used < size; r++) {
		const struct chip_ring *ring = &c->rings[r];

		if (ring->next != ring->alive)
			used += (size_t)snprintf(buf + used, size - used,
				"; ring %u: %u of %u slots, heap %llu of %llu bytes free", r,
				ring->next - ring->alive, ring->window,
				(unsigned long long)chip_heap_available(&ring->heap),
				(unsigned long long)ring->heap.size);
	}
}
