// SPDX-License-Identifier: MIT
/*
 * Monitor: one thread per engine that watches progress while a launch runs.
 *
 * It never touches the chip's state, which may be in use without a lock.  It
 * compares progress counters, sets a signal bit that the engine loop handles,
 * and ends guarded calls that do not return.  While nothing runs it sleeps on
 * monitor_state without waking up.
 */
#include "model/engine.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/log.h"

#define MONITOR_AWAKE		0u
#define MONITOR_ASLEEP		1u
#define MONITOR_STOP		2u

#define IDLE_TICKS		10u	/* without a launch before the monitor sleeps */
#define FORCE_AFTER		100u	/* tries before a call is ended wherever it is */
#define LOST_AFTER		400u	/* tries before the context is given up */
#define TRY_NS			10000000
#define COHORT_NS		1000000	/* between looks at a cohort that has not started as a whole */
#define TENSOR_WAIT_NS		15000000000ull
#define LINKING_MS		30000u	/* at least: the process never loads again when this is cut short */

struct watch {
	uint64_t serial;		/* of the launch being watched */
	uint64_t progress;
	uint64_t since_ns;
	uint32_t tries;
};

static uint64_t tick_ns(const struct engine *e)
{
	uint64_t ns = (uint64_t)e->no_progress_ms * 1000000 / 8;

	return ns > 100000000 ? 100000000 : ns < 1000000 ? 1000000 : ns;
}

/* relaxed: a hint; blocks that start meanwhile make threads come for nothing */
static uint32_t cohort_open(const struct engine *e)
{
	return atomic_load_explicit(&e->cohort_open, memory_order_relaxed);
}

/* A block that runs may wait for one that has not started. */
static void call_cohort(struct engine *e)
{
	uint32_t open = cohort_open(e);

	if (!open)
		return;
	/* relaxed: read by threads that end a block of the cohort, some time later */
	atomic_store_explicit(&e->cohort_called, true, memory_order_relaxed);
	model_want_cohort(e->context, open);
}

/* Waits for a tick, or until the monitor is told to stop. */
static void wait_tick(struct engine *e, uint64_t ns)
{
	futex_wait(&e->monitor_state, MONITOR_AWAKE, clock_mono_ns() + ns, 0);
}

static void interrupt_calls(struct engine *e, bool force)
{
	pthread_mutex_lock(&e->roster_mutex);
	for (uint32_t i = 0; i < e->roster_count; i++) {
		struct engine_thread *t = e->roster[i];
		uint64_t ticket = guard_active(t->guard);
		/* relaxed: hints; a call that has gone on meanwhile has another ticket */
		uintptr_t lo = atomic_load_explicit(&t->text.lo, memory_order_relaxed);
		uintptr_t hi = atomic_load_explicit(&t->text.hi, memory_order_relaxed);

		if (ticket)
			guard_interrupt(t->guard, ticket, lo, hi, force ? GUARD_FORCE : 0);
	}
	pthread_mutex_unlock(&e->roster_mutex);
}

static void raise_signal(struct engine *e, const struct watch *w, uint32_t bit)
{
	/* release: pairs with the exchange in handle_signals() */
	atomic_store_explicit(&e->signals, w->serial << ENGINE_SIG_BITS | bit, memory_order_release);
}

/* First the loop is asked; if it does not come round, the calls are ended. */
static void fire(struct engine *e, struct watch *w)
{
	raise_signal(e, w, ENGINE_SIG_WATCHDOG);
	interrupt_calls(e, w->tries > FORCE_AFTER);
	if (++w->tries == LOST_AFTER) {
		log_error("a kernel could not be ended; the context is unusable from now on");
		/* release: pairs with the acquire in model.c */
		atomic_store_explicit(&e->lost, true, memory_order_release);
	}
}

static void check_tensor_wait(struct engine *e, const struct watch *w, uint64_t now)
{
	/* relaxed: a time stamp, only compared */
	uint64_t start = atomic_load_explicit(&e->chip.orch_wait_start_ns, memory_order_relaxed);

	/* slow is not dead: the clock starts again with every block that ends */
	if (start && now - (start > w->since_ns ? start : w->since_ns) > TENSOR_WAIT_NS)
		raise_signal(e, w, ENGINE_SIG_TENSOR_WAIT);
}

static uint64_t patience_ns(const struct engine *e)
{
	/* acquire: pairs with the release in engine_linking(); the serial is read after it */
	bool linking = atomic_load_explicit(&e->linking, memory_order_acquire);
	uint64_t ms = e->no_progress_ms;

	return (linking && ms < LINKING_MS ? LINKING_MS : ms) * 1000000;
}

static void observe(struct engine *e, struct watch *w)
{
	uint64_t now = clock_mono_ns(), patience = patience_ns(e);
	/* relaxed: only compared with its former value */
	uint64_t progress = atomic_load_explicit(&e->chip.progress, memory_order_relaxed);
	uint64_t serial = atomic_load_explicit(&e->serial, memory_order_relaxed);

	if (progress != w->progress || serial != w->serial) {
		*w = (struct watch){ .serial = serial, .progress = progress, .since_ns = now };
		return;
	}
	call_cohort(e);
	check_tensor_wait(e, w, now);
	if (now - w->since_ns >= patience)
		fire(e, w);
}

/* Goes to sleep unless a launch began meanwhile. */
static void sleep_until_launch(struct engine *e)
{
	uint32_t awake = MONITOR_AWAKE;

	/* seq_cst, here and in engine_start(): either the launch sees the sleep or this sees the launch */
	if (!atomic_compare_exchange_strong(&e->monitor_state, &awake, MONITOR_ASLEEP))
		return;
	if (atomic_load(&e->active)) {
		uint32_t asleep = MONITOR_ASLEEP;

		atomic_compare_exchange_strong(&e->monitor_state, &asleep, MONITOR_AWAKE);
		return;
	}
	while (atomic_load(&e->monitor_state) == MONITOR_ASLEEP)
		futex_wait(&e->monitor_state, MONITOR_ASLEEP, CLOCK_NEVER, 0);
}

static void *monitor_main(void *arg)
{
	struct engine *e = arg;
	struct watch w = { .since_ns = clock_mono_ns() };
	uint32_t idle = 0;

	while (atomic_load(&e->monitor_state) != MONITOR_STOP) {
		wait_tick(e, cohort_open(e) ? COHORT_NS : w.tries ? TRY_NS : tick_ns(e));
		/* acquire: pairs with the release at the end of engine_drive() */
		if (atomic_load_explicit(&e->active, memory_order_acquire)) {
			idle = 0;
			observe(e, &w);
			continue;
		}
		w = (struct watch){ .since_ns = clock_mono_ns() };
		if (++idle >= IDLE_TICKS) {
			sleep_until_launch(e);
			idle = 0;
			w.since_ns = clock_mono_ns();
		}
	}
	return NULL;
}

void monitor_wake(struct engine *e)
{
	uint32_t asleep = MONITOR_ASLEEP;

	if (!e->monitor_running) {
		monitor_start(e);
		return;
	}
	if (atomic_load(&e->monitor_state) == MONITOR_ASLEEP &&
	    atomic_compare_exchange_strong(&e->monitor_state, &asleep, MONITOR_AWAKE))
		futex_wake(&e->monitor_state, INT_MAX, 0);
}

int monitor_start(struct engine *e)
{
	atomic_store(&e->monitor_state, MONITOR_AWAKE);
	if (pthread_create(&e->monitor, NULL, monitor_main, e)) {
		log_warn("no thread for the watchdog: kernels that never return will not be ended");
		return -EAGAIN;
	}
	e->monitor_running = true;
	return 0;
}

void monitor_stop(struct engine *e)
{
	if (!e->monitor_running)
		return;
	atomic_store(&e->monitor_state, MONITOR_STOP);
	futex_wake(&e->monitor_state, INT_MAX, 0);
	pthread_join(e->monitor, NULL);
	e->monitor_running = false;
}

void monitor_enroll(struct engine *e, struct engine_thread *t)
{
	pthread_mutex_lock(&e->roster_mutex);
	e->roster[e->roster_count++] = t;
	pthread_mutex_unlock(&e->roster_mutex);
}

void monitor_withdraw(struct engine *e, struct engine_thread *t)
{
	pthread_mutex_lock(&e->roster_mutex);
	for (uint32_t i = 0; i < e->roster_count; i++)
		if (e->roster[i] == t) {
			e->roster[i] = e->roster[--e->roster_count];
			break;
		}
	pthread_mutex_unlock(&e->roster_mutex);
}
