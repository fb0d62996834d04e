// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "model/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/run_code.h"

#define POLL_SLEEP_NS		50000	/* between polls of deferred completions */
#define INTERRUPT_POLLS		256u	/* submits or blocks between interrupt checks */
#define EXTERNAL_WAIT_NS	10000000

static _Thread_local struct engine_thread *self_thread;

__attribute__((noinline)) struct engine_thread *engine_self(void)
{
	struct engine_thread *t = self_thread;

	__asm__ volatile("" : "+r"(t));
	return t;
}

static void engine_loop(void *arg) __attribute__((noreturn));

/* ---- switching ---- */

static void after_switch(struct engine *e)
{
	struct engine_thread *t = engine_self();

	if (t->retire) {
		fiber_pool_put(&e->pool, t->retire);
		t->retire = NULL;
	}
}

/* Lock held on both sides. */
static void switch_to(struct engine *e, struct fiber *target, bool retire)
{
	struct engine_thread *t = engine_self();
	struct fiber *from = t->current;

	t->current = target;
	t->retire = retire ? from : NULL;
	fiber_switch(from, target);
	after_switch(e);
}

/* Leaves the current stack as it is and continues the loop on another; false: out of memory. */
static bool park(struct engine *e, struct fiber **strand)
{
	struct engine_thread *t = engine_self();
	struct fiber *loop = fiber_pool_get(&e->pool, engine_loop, e);
	struct guard_frame *chain;
	struct text_range text;

	if (!loop)
		return false;
	text = text_get(t);
	*strand = t->current;
	chain = guard_suspend();
	switch_to(e, loop, false);
	guard_resume(chain);
	text_set(engine_self(), text);
	return true;
}

static void wake_idle(struct engine *e)
{
	if (e->idle)
		event_post(&e->work);
}

/* ---- chip_executor_ops ---- */

static void park_orchestrator(struct chip *c)
{
	struct engine *e = engine_of(c);

	e->orch_runnable = false;
	if (!park(e, &e->orch_fiber))
		chip_fail_orch(c, SIMPLER_RUN_FLOW_CONTROL_DEADLOCK,
			       "no memory for a stack while the orchestration waits");
}

/* Runnable all the time, but behind what is queued (see step()). */
static void yield_orchestrator(struct chip *c)
{
	struct engine *e = engine_of(c);

	e->orch_runnable = true;
	if (!park(e, &e->orch_fiber))
		e->orch_runnable = false;
}

static void resume_orchestrator(struct chip *c)
{
	struct engine *e = engine_of(c);

	e->orch_runnable = true;
	wake_idle(e);
}

static void park_core(struct chip *c, struct chip_core *core)
{
	struct engine *e = engine_of(c);
	struct fiber **strand = &core->strand;

	core->state = CHIP_CORE_PARKED;
	core->was_parked = true;
	c->parked++;
	engine_self()->core = NULL;
	if (!park(e, strand)) {
		chip_fail_sched(c, SIMPLER_RUN_KERNEL_FAULT, core,
				"no memory for a stack while kernel %s waits", core->kernel->name);
		chip_unlock(c);
		guard_release();
		c->config.ops->abandon_kernel(c, core);
	}
	engine_self()->core = core;
	core->state = CHIP_CORE_RUNNING;
	core->waits_for = NULL;
	c->parked--;
}

static void resume_core(struct chip *c, struct chip_core *core)
{
	struct engine *e = engine_of(c);

	core->next = NULL;
	*e->resumed_tail = core;
	e->resumed_tail = &core->next;
	wake_idle(e);
}

static struct chip_core *pop_resumed(struct engine *e)
{
	struct chip_core *core = e->resumed;

	e->resumed = core->next;
	if (!e->resumed)
		e->resumed_tail = &e->resumed;
	core->next = NULL;
	return core;
}

static bool is_long(const struct chip_task *t)
{
	for (int slot = 0; slot < CHIP_SLOTS; slot++)
		if (t->kernels[slot] && t->kernels[slot]->cost_ns >= ENGINE_PARALLEL_NS)
			return true;
	return false;
}

static bool is_cohort(const struct chip_task *t)
{
	return t->flags & CHIP_TASK_SYNC_START;
}

/* From here on the lock is real; it is taken because the caller "holds" it. */
static void share_lock(struct engine *e)
{
	if (e->chip.shared)
		return;
	lock_take(&e->chip.lock);
	e->chip.shared = true;
}

/* Other threads can join at any time from now on; kernels known to need them get them at once. */
static void cohort_ready(struct engine *e, const struct chip_task *t)
{
	uint32_t calls = (uint32_t)__builtin_popcount(t->kernel_mask) * (uint32_t)t->block_num;
	bool meets = false;

	for (int slot = 0; slot < CHIP_SLOTS; slot++)
		meets |= t->kernels[slot] && t->kernels[slot]->meets;
	share_lock(e);
	/* relaxed: a hint for the monitor */
	atomic_fetch_add_explicit(&e->cohort_open, calls, memory_order_relaxed);
	if (meets)
		model_want_cohort(e->context, calls - 1);
}

static void work_ready(struct chip *c, const struct chip_task *t)
{
	struct engine *e = engine_of(c);

	if (t && is_cohort(t))
		cohort_ready(e, t);
	if (e->idle) {
		event_post(&e->work);
		return;
	}
	if (!t || e->inside >= e->threads || !is_long(t) ||
	    (c->config.serial && c->orch_wait == CHIP_ORCH_RUNNING))
		return;
	share_lock(e);
	model_want_help(e->context);
}

static bool interrupted(struct engine *e)
{
	return e->wait && e->wait->interrupted && e->wait->interrupted(e->wait->arg);
}

/* The owner is wanted back: what is left is queued, and the orchestration yields at its next wait. */
static bool wants_to_leave(struct engine *e)
{
	if (!e->wait || (!e->leaving && ++e->polls % INTERRUPT_POLLS))
		return false;
	if (e->leaving || interrupted(e))
		e->leaving = true;
	return e->leaving;
}

/* Armed: blocks have to come by run_core(). */
static bool loses_completions(const struct engine *e)
{
	/* relaxed: armed by a test before the launch, which orders it */
	return atomic_load_explicit(&e->inject, memory_order_relaxed) == MODEL_INJECT_LOST_COMPLETION;
}

static bool prefer_queue(struct chip *c, const struct chip_task *t)
{
	struct engine *e = engine_of(c);

	return is_cohort(t) || (e->threads > 1 && is_long(t)) || loses_completions(e) || wants_to_leave(e);
}

static bool prefer_queue_kernel(struct chip *c, const struct chip_kernel *k)
{
	struct engine *e = engine_of(c);

	return (e->threads > 1 && k->cost_ns >= ENGINE_PARALLEL_NS) || loses_completions(e) ||
	       wants_to_leave(e);
}

static struct chip_core *current_core(void)
{
	struct engine_thread *t = engine_self();

	return t ? t->core : NULL;
}

/* A trap is what the guard turns into the end of the call. */
__attribute__((noreturn)) static void abandon_kernel(struct chip *c, struct chip_core *core)
{
	(void)c;
	(void)core;
	__builtin_trap();
}

static const struct chip_executor_ops executor_ops = {
	.park_orchestrator = park_orchestrator,
	.yield_orchestrator = yield_orchestrator,
	.resume_orchestrator = resume_orchestrator,
	.park_core = park_core,
	.resume_core = resume_core,
	.call_kernel = engine_call_kernel,
	.work_ready = work_ready,
	.self = current_core,
	.prefer_queue = prefer_queue,
	.prefer_queue_kernel = prefer_queue_kernel,
	.abandon_kernel = abandon_kernel,
};
/* ---- what runs on the stacks ---- */

static void orchestrator_main(void *arg)
{
	struct engine *e = arg;
	struct guard_fault fault;
	int rc;

	after_switch(e);
	chip_unlock(&e->chip);
	rc = guard_call(engine_orchestrate, e, &fault);
	if (rc) {
		/* it may have crashed inside a call of the table, which holds the lock */
		if (!e->chip.in_op)
			chip_lock(&e->chip);
		e->chip.in_op = false;
		if (rc > 0)
			engine_report_orchestration(e, &fault);
		else
			chip_fail_orch(&e->chip, SIMPLER_RUN_KERNEL_FAULT, "no memory to guard a call");
		chip_orchestrator_lost(&e->chip);
	} else {
		chip_lock(&e->chip);
	}
	engine_loop(e);
}

static bool lose_completion(struct engine *e)
{
	if (!loses_completions(e))
		return false;
	/* relaxed: as above */
	if (atomic_load_explicit(&e->inject_after, memory_order_relaxed)) {
		atomic_fetch_sub_explicit(&e->inject_after, 1, memory_order_relaxed);
		return false;
	}
	atomic_store_explicit(&e->inject, MODEL_INJECT_NONE, memory_order_relaxed);
	return true;
}

static void run_core(struct engine *e, struct chip_core *core)
{
	struct chip *c = &e->chip;
	bool cohort = is_cohort(core->task);

	/* relaxed, both: hints of and for the monitor */
	if (cohort)
		atomic_fetch_sub_explicit(&e->cohort_open, 1, memory_order_relaxed);
	chip_unlock(c);
	engine_call_kernel(c, core);
	chip_lock(c);
	if (cohort && atomic_load_explicit(&e->cohort_called, memory_order_relaxed))
		((struct chip_kernel *)core->kernel)->meets = true;	/* as its cost, the scheduler's */
	if (lose_completion(e))
		core->waits_for = "its completion was lost";
	else
		chip_block_done(c, core);
}

/* ---- the loop ---- */

static void handle_signals(struct engine *e)
{
	struct chip *c = &e->chip;
	/* acq_rel: pairs with the release in the monitor; takes the bits exactly once */
	uint64_t bits = atomic_exchange_explicit(&e->signals, 0, memory_order_acq_rel);
	char report[800];

	/* relaxed: only this side writes it */
	if (chip_is_fatal(c) ||
	    bits >> ENGINE_SIG_BITS != atomic_load_explicit(&e->serial, memory_order_relaxed))
		return;
	if (bits & ENGINE_SIG_TENSOR_WAIT && c->orch_wait == CHIP_ORCH_TENSOR) {
		chip_describe_stall(c, report, sizeof(report));
		chip_fail_orch(c, SIMPLER_RUN_TENSOR_WAIT_TIMEOUT, "an element access waited too long: %s",
			       report);
	}
	if (bits & ENGINE_SIG_WATCHDOG)
		chip_no_progress(c, e->no_progress_ms);
}

static bool may_leave(const struct engine *e, const struct engine_thread *t)
{
	if (t->owner)
		return e->leaving || (chip_finished(&e->chip) && e->inside == 1);
	return chip_finished(&e->chip);
}

/* Sleeps for a short time without the lock. */
static void doze(struct engine *e)
{
	struct timespec ts = { .tv_nsec = POLL_SLEEP_NS };

	chip_unlock(&e->chip);
	nanosleep(&ts, NULL);
	chip_lock(&e->chip);
}

/* The chip's lock is really held: shared is true. */
static void sleep_for_work(struct engine *e, uint64_t timeout_ns)
{
	e->idle++;
	event_wait(&e->work, &e->chip.lock, clock_mono_ns() + timeout_ns);
	e->idle--;
}

static bool injected_stall(const struct engine *e)
{
	for (uint32_t i = 0; i < e->chip.config.clusters * CHIP_CORES_PER_CLUSTER; i++)
		if (e->chip.cores[i].state == CHIP_CORE_RUNNING && e->chip.cores[i].waits_for)
			return true;
	return false;
}

static void idle(struct engine *e)
{
	struct chip *c = &e->chip;
	bool alone = e->inside - e->idle == 1;

	if (engine_self()->owner && interrupted(e)) {
		e->leaving = true;
		return;
	}
	if (alone && !chip_finished(c) && !c->async_waits && !injected_stall(e)) {
		if (!chip_is_fatal(c))
			chip_deadlock(c);
		return;
	}
	if (c->shared)
		sleep_for_work(e, c->async_waits ? POLL_SLEEP_NS : EXTERNAL_WAIT_NS);
	else
		doze(e);
}

static void step(struct engine *e)
{
	struct chip *c = &e->chip;
	struct chip_core *core;

	/* relaxed: hints; the exchange in handle_signals() acquires, abort orders nothing */
	if (atomic_load_explicit(&e->signals, memory_order_relaxed))
		handle_signals(e);
	if (atomic_load_explicit(&e->abort, memory_order_relaxed) && !chip_is_fatal(c))
		chip_fail_sched(c, SIMPLER_RUN_SCHEDULER_TIMEOUT, NULL,
				"the context is being destroyed");
	if (e->resumed && !chip_is_fatal(c)) {
		switch_to(e, pop_resumed(e)->strand, true);
		return;
	}
	core = chip_take(c);
	if (core) {
		run_core(e, core);
		return;
	}
	if (e->orch_runnable) {
		struct fiber *f = e->orch_fiber;

		e->orch_runnable = false;
		e->orch_fiber = NULL;
		switch_to(e, f, true);
		return;
	}
	if (c->async_waits && chip_poll_async(c))
		return;
	idle(e);
}

static void engine_loop(void *arg)
{
	struct engine *e = arg;

	after_switch(e);
	for (;;) {
		struct engine_thread *t = engine_self();

		if (may_leave(e, t))
			switch_to(e, &t->native.fiber, true);
		else
			step(e);
	}
}

/* ---- entering and leaving ---- */

static int enter(struct engine *e, struct engine_thread *t, bool owner)
{
	int rc = guard_thread_init();

	if (rc)
		return rc;
	t->engine = e;
	t->owner = owner;
	t->core = NULL;
	t->calls = 0;
	t->retire = NULL;
	t->guard = guard_self();
	atomic_init(&t->text.lo, 0);
	atomic_init(&t->text.hi, 0);
	t->current = fiber_thread_init(&t->native);
	self_thread = t;
	monitor_enroll(e, t);
	return 0;
}

static void leave(struct engine *e, struct engine_thread *t)
{
	monitor_withdraw(e, t);
	self_thread = NULL;
}

int engine_start(struct engine *e)
{
	e->orch_fiber = fiber_pool_get(&e->pool, orchestrator_main, e);
	if (!e->orch_fiber)
		return -ENOMEM;
	e->orch_runnable = true;
	e->fault_signo = 0;
	/* relaxed: as serial */
	atomic_store_explicit(&e->cohort_open, 0, memory_order_relaxed);
	atomic_store_explicit(&e->cohort_called, false, memory_order_relaxed);
	e->resumed = NULL;
	e->resumed_tail = &e->resumed;
	/* relaxed: the monitor reads it after it has seen active */
	atomic_fetch_add_explicit(&e->serial, 1, memory_order_relaxed);
	/* seq_cst: pairs with the monitor's check between announcing its sleep and sleeping */
	atomic_store(&e->active, true);
	monitor_wake(e);
	return 0;
}

/* Parked blocks of a failed launch are given up with their stacks. */
static void discard_parked(struct engine *e)
{
	struct chip *c = &e->chip;

	for (uint32_t i = 0; i < c->config.clusters * CHIP_CORES_PER_CLUSTER; i++) {
		struct chip_core *core = &c->cores[i];

		if (core->state == CHIP_CORE_PARKED)
			fiber_pool_put(&e->pool, core->strand);
		core->strand = NULL;
	}
	e->resumed = NULL;
	e->resumed_tail = &e->resumed;
	c->parked = 0;
}

/* The last thread leaves: the lock is biased again. */
static void bias_lock(struct engine *e)
{
	if (!e->chip.shared)
		return;
	e->chip.shared = false;
	lock_give(&e->chip.lock);
}

int engine_drive(struct engine *e, const struct model_wait *wait)
{
	struct engine_thread thread;
	struct fiber *first;
	int rc = enter(e, &thread, true);

	if (rc)
		return rc;
	chip_lock(&e->chip);
	e->wait = wait;
	e->leaving = false;
	e->inside++;
	first = e->orch_runnable ? e->orch_fiber : fiber_pool_get(&e->pool, engine_loop, e);
	if (first == e->orch_fiber) {
		e->orch_runnable = false;
		e->orch_fiber = NULL;
	}
	if (first) {
		struct engine_thread *t = engine_self();

		t->current = first;
		fiber_switch(&t->native.fiber, first);
		after_switch(e);
		engine_self()->current = &engine_self()->native.fiber;
	}
	e->inside--;
	e->wait = NULL;
	leave(e, &thread);
	if (!first || !chip_finished(&e->chip)) {
		chip_unlock(&e->chip);
		return first ? -EINTR : -ENOMEM;
	}
	discard_parked(e);
	bias_lock(e);
	/* release: the monitor's acquire sees a finished launch */
	atomic_store_explicit(&e->active, false, memory_order_release);
	return 0;
}

bool engine_give_up(struct engine *e)
{
	struct chip *c = &e->chip;

	chip_lock(c);
	chip_fail_sched(c, SIMPLER_RUN_KERNEL_FAULT, NULL, "no memory for a stack to execute on");
	if (e->inside) {
		chip_unlock(c);
		return false;
	}
	if (e->orch_fiber) {
		fiber_pool_put(&e->pool, e->orch_fiber);
		e->orch_fiber = NULL;
		chip_orchestrator_lost(c);
	}
	e->orch_runnable = false;
	discard_parked(e);
	bias_lock(e);
	/* release: the monitor's acquire sees a finished launch */
	atomic_store_explicit(&e->active, false, memory_order_release);
	return true;
}

void engine_help(struct engine *e)
{
	struct engine_thread thread;
	struct fiber *first;

	if (enter(e, &thread, false))
		return;
	lock_take(&e->chip.lock);
	/* the launch may be over by now; without a shared lock nothing else may be touched */
	first = e->chip.shared ? fiber_pool_get(&e->pool, engine_loop, e) : NULL;
	if (first) {
		struct engine_thread *t = engine_self();

		e->inside++;
		t->current = first;
		fiber_switch(&t->native.fiber, first);
		after_switch(e);
		e->inside--;
		wake_idle(e);
	}
	lock_give(&e->chip.lock);
	leave(e, &thread);
}

/* ---- foreign code outside launches ---- */

bool engine_watch_begin(struct engine *e, struct engine_thread *t)
{
	if (atomic_load(&e->active) || guard_thread_init())
		return false;
	*t = (struct engine_thread){ .engine = e, .guard = guard_self() };
	/* which object's text is executed is not known here */
	text_set(t, (struct text_range){ 0, UINTPTR_MAX });
	monitor_enroll(e, t);
	/* relaxed: the monitor reads it after it has seen active */
	atomic_fetch_add_explicit(&e->serial, 1, memory_order_relaxed);
	/* seq_cst: as in engine_start() */
	atomic_store(&e->active, true);
	monitor_wake(e);
	return true;
}

void engine_linking(void *arg, bool begins)
{
	struct engine *e = arg;

	/* relaxed: no time is lost when the monitor sees it late */
	if (begins)
		atomic_store_explicit(&e->linking, true, memory_order_relaxed);
	/* relaxed: the monitor's clock starts again; ordered by the release below */
	atomic_fetch_add_explicit(&e->serial, 1, memory_order_relaxed);
	/* release: pairs with the acquire in observe(); who sees the end starts a new clock */
	if (!begins)
		atomic_store_explicit(&e->linking, false, memory_order_release);
}

void engine_watch_end(struct engine *e, struct engine_thread *t)
{
	monitor_withdraw(e, t);
	/* release: the monitor's acquire sees that nothing runs */
	atomic_store_explicit(&e->active, false, memory_order_release);
}

/* ---- life ---- */

int engine_init(struct engine *e, struct model_context *context, const struct chip_config *config,
		uint32_t threads, uint32_t no_progress_ms)
{
	struct chip_config with_ops = *config;
	int rc;

	memset(e, 0, sizeof(*e));
	e->context = context;
	e->threads = threads < ENGINE_MAX_THREADS ? threads : ENGINE_MAX_THREADS - 1;
	e->no_progress_ms = no_progress_ms;
	with_ops.ops = &executor_ops;
	with_ops.core_ops = config->checked ? &engine_core_ops_checked : &engine_core_ops;
	with_ops.executor = e;
	rc = guard_process_init();
	if (rc)
		return rc;
	rc = chip_init(&e->chip, &with_ops);
	if (rc) {
		guard_process_fini();
		return rc;
	}
	fiber_pool_init(&e->pool, ENGINE_STACK_BYTES, ENGINE_IDLE_STACKS);
	event_init(&e->work);
	pthread_mutex_init(&e->roster_mutex, NULL);
	e->resumed_tail = &e->resumed;
	return 0;
}

void engine_fini(struct engine *e)
{
	monitor_stop(e);
	fiber_pool_trim(&e->pool, 0);
	chip_fini(&e->chip);
	pthread_mutex_destroy(&e->roster_mutex);
	guard_process_fini();
}
