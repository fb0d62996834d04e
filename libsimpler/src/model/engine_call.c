// SPDX-License-Identifier: MIT
/* Calls of foreign code, orchestrations and kernels: arguments, guard, faults, cost. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/run_code.h"
#include "model/engine.h"

/* ---- orchestration ---- */

void engine_orchestrate(void *arg)
{
	struct engine *e = arg;
	const struct chip_callable *callable = e->chip.callable;

	text_set(engine_self(), (struct text_range){ callable->text_lo, callable->text_hi });
	chip_orchestrate(&e->chip);
}

static const char *fault_name(const struct guard_fault *f)
{
	const char *name = strsignal(f->signo);

	return name ? name : "unknown signal";
}

/* An address outside is one of a library, or where a wild jump led. */
static const char *pc_name(uintptr_t pc, uintptr_t lo, uintptr_t hi, char buf[64])
{
	if (pc >= lo && pc < hi)
		snprintf(buf, 64, "offset 0x%llx of its code", (unsigned long long)(pc - lo));
	else
		snprintf(buf, 64, "pc 0x%llx outside its code", (unsigned long long)pc);
	return buf;
}

void engine_report_orchestration(struct engine *e, const struct guard_fault *f)
{
	struct chip *c = &e->chip;
	char where[64];

	if (f->code == GUARD_CODE_INTERRUPT) {
		c->failure.sub_class = 5;
		chip_fail_sched(c, SIMPLER_RUN_SCHEDULER_TIMEOUT, NULL,
				"sub_class=S5: the orchestration made no progress for %u ms",
				e->no_progress_ms);
	} else {
		e->fault_signo = f->signo;
		c->failure.address = f->addr;
		c->failure.pc = f->pc;
		chip_fail_orch(c, SIMPLER_RUN_KERNEL_FAULT,
			       "the orchestration crashed: %s at address 0x%llx, %s", fault_name(f),
			       (unsigned long long)f->addr,
			       pc_name(f->pc, c->callable->text_lo, c->callable->text_hi, where));
	}
}

/* ---- kernels ---- */

static void fill_args(struct chip_core *core, int64_t *args)
{
	struct chip_task *t = core->task;
	uint32_t n = t->tensor_count;

	if (t->flags & CHIP_TASK_ORDERED) {
		uint32_t total = n + t->scalar_count;

		for (uint32_t i = 0; i < total; i++)
			args[i] = t->order[i] & 0x80 ? (int64_t)t->scalars[t->order[i] & 0x7f] :
						       (int64_t)(uintptr_t)&t->tensors[t->order[i]];
	} else {
		for (uint32_t i = 0; i < n; i++)
			args[i] = (int64_t)(uintptr_t)&t->tensors[i];
		for (uint32_t i = 0; i < t->scalar_count; i++)
			args[n + i] = (int64_t)t->scalars[i];
	}
}

static void injected_fault(struct engine *e)
{
	/* relaxed, all of them: armed by a test before the launch, which orders it */
	uint32_t what = atomic_load_explicit(&e->inject, memory_order_relaxed);

	if (what != MODEL_INJECT_KERNEL_CRASH && what != MODEL_INJECT_KERNEL_ENDLESS)
		return;
	if (atomic_load_explicit(&e->inject_after, memory_order_relaxed)) {
		atomic_fetch_sub_explicit(&e->inject_after, 1, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&e->inject, MODEL_INJECT_NONE, memory_order_relaxed);
	if (what == MODEL_INJECT_KERNEL_CRASH)
		__builtin_trap();
	for (;;)
		__asm__ volatile("" ::: "memory");
}

/* Operands of a task that has no record: its submit waits for the call (light.c). */
static void fill_light_args(const struct pto_core_args *light, int64_t *args)
{
	uint32_t n = light->tensor_count;

	if (light->flags & PTO_ARGS_ORDERED) {
		uint32_t total = n + light->scalar_count;

		for (uint32_t i = 0; i < total; i++)
			args[i] = light->order[i] & 0x80 ? (int64_t)light->scalars[light->order[i] & 0x7f] :
				  (int64_t)(uintptr_t)light->refs[light->order[i]].tensor;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		args[i] = (int64_t)(uintptr_t)light->refs[i].tensor;
	for (uint32_t i = 0; i < light->scalar_count; i++)
		args[n + i] = (int64_t)light->scalars[i];
}

static void call_kernel(void *arg)
{
	struct chip_core *core = arg;
	struct engine *e = engine_of(core->chip);
	int64_t args[PTO_KERNEL_ARGS];

	if (core->light)
		fill_light_args(core->light, args);
	else
		fill_args(core, args);
	args[PTO_LOCAL_CONTEXT] = (int64_t)(uintptr_t)&core->local;
	args[PTO_GLOBAL_CONTEXT] = (int64_t)(uintptr_t)&core->global;
	/* relaxed: see injected_fault() */
	if (__builtin_expect(atomic_load_explicit(&e->inject, memory_order_relaxed), 0)) {
		/* an injected endless loop is in the engine's text, not the kernel's */
		text_set(engine_self(), (struct text_range){ 0, UINTPTR_MAX });
		injected_fault(e);
	}
	core->kernel->fn(args);
	if (__builtin_expect(core->at_return != NULL, 0))
		core->at_return();
}

static void report_kernel_fault(struct engine *e, struct chip_core *core,
				const struct guard_fault *f, bool overflow)
{
	struct chip *c = &e->chip;
	char task[24], where[64];

	if (chip_is_fatal(c) && c->failure.sched_code)
		return;
	chip_task_name(core->task->base.id, task);
	if (f->code == GUARD_CODE_INTERRUPT) {
		c->failure.sub_class = 1;
		chip_fail_sched(c, SIMPLER_RUN_SCHEDULER_TIMEOUT, core,
				"sub_class=S1: no progress for %u ms: kernel %s (func_id %d), task %s block %d on core %u does not return",
				e->no_progress_ms, core->kernel->name, core->kernel->func_id, task,
				core->pub.block_idx, core->pub.core_id);
		return;
	}
	e->fault_signo = f->signo;
	c->failure.address = f->addr;
	c->failure.pc = f->pc;
	chip_fail_sched(c, SIMPLER_RUN_KERNEL_FAULT, core,
			"kernel %s (func_id %d) crashed in task %s block %d on core %u: %s%s at address 0x%llx, %s",
			core->kernel->name, core->kernel->func_id, task, core->pub.block_idx,
			core->pub.core_id, fault_name(f), overflow ? " (stack overflow)" : "",
			(unsigned long long)f->addr,
			pc_name(f->pc, core->kernel->text_lo, core->kernel->text_hi, where));
}

static uint64_t now_ns(void)
{
	return clock_mono_ns();
}

/* One block in 64 is measured, and the first ones of every kernel. */
static bool want_sample(const struct engine *e, struct engine_thread *t,
			const struct chip_core *core)
{
	/* relaxed: a count; a few samples more or less do not matter */
	return e->threads > 1 &&
	       (atomic_load_explicit(&core->kernel->samples, memory_order_relaxed) < 4 ||
		(++t->calls & 63) == 0);
}

static void note_cost(struct chip_core *core, uint64_t ns)
{
	struct chip_kernel *k = (struct chip_kernel *)core->kernel;
	uint32_t cost = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
	uint32_t samples;

	if (core->was_parked)
		return;
	/* relaxed: written under the lock only */
	samples = atomic_load_explicit(&k->samples, memory_order_relaxed);
	/* falls at once and rises slowly: being descheduled does not make a kernel long */
	if (!samples || cost < k->cost_ns)
		k->cost_ns = cost;
	else
		k->cost_ns += (cost - k->cost_ns < k->cost_ns / 4 + 8 ? cost - k->cost_ns :
							 k->cost_ns / 4 + 8);
	if (samples < UINT32_MAX)
		atomic_store_explicit(&k->samples, samples + 1, memory_order_relaxed);
}

static int report_call(struct engine *e, struct chip_core *core, int rc,
		       const struct guard_fault *fault, uint64_t start)
{
	struct chip *c = &e->chip;

	chip_lock(c);
	if (core->abandoned)
		core->abandoned = false;	/* the launch had failed before */
	else if (rc > 0)
		report_kernel_fault(e, core, fault, fiber_guard_hit(engine_self()->current,
								    (void *)fault->addr));
	else if (rc < 0)
		chip_fail_sched(c, SIMPLER_RUN_KERNEL_FAULT, core, "no memory to guard a call");
	else
		note_cost(core, now_ns() - start);
	chip_unlock(c);
	return rc ? 1 : 0;
}

/*
 * The lock is not held.  The call may be nested in the orchestration's (inline
 * execution), so the text range announced for the monitor is put back.
 */
int engine_call_kernel(struct chip *c, struct chip_core *core)
{
	struct engine *e = engine_of(c);
	struct engine_thread *t = engine_self();
	struct text_range outer = text_get(t);
	struct guard_fault fault;
	bool sample = want_sample(e, t, core);
	uint64_t start = sample ? now_ns() : 0;
	int rc;

	core->was_parked = false;
	core->at_return = NULL;
	t->core = core;
	text_set(t, (struct text_range){ core->kernel->text_lo, core->kernel->text_hi });
	rc = guard_call(call_kernel, core, &fault);
	t = engine_self();
	t->core = NULL;
	text_set(t, outer);
	return rc || sample ? report_call(e, core, rc, &fault, start) : 0;
}
