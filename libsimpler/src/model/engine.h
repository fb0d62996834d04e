/* SPDX-License-Identifier: MIT */
/*
 * Engine: executes the launches of one context.
 *
 * Logical cores are virtual.  Threads run the engine loop on fibers: take a
 * placed core, call its kernel on the current stack, report the end.  A kernel
 * (or the orchestration) that must wait keeps the stack it is on; the thread
 * continues the loop on a fresh one, and whoever finds the kernel resumable
 * switches to its stack and gives up its own.  So a kernel that never waits
 * never pays for a stack.
 *
 * One thread, the owner, drives a launch: the thread that waits for it, or a
 * pool thread of the context.  Others join only when kernels are long enough
 * (ENGINE_PARALLEL_NS) to be worth the traffic between caches.  While the owner
 * is alone the chip's lock is not taken (see chip.h).
 *
 * Blocks of a sync-start cohort may wait for each other in memory, which no
 * hook shows.  When such a launch makes no progress while blocks of a cohort
 * have not started, the monitor calls a thread for each of them, whatever the
 * number of threads is set to; kernels that needed it once get them at once.
 *
 * Every fiber switch is made with the chip's lock held and returns with it
 * held.  Nothing thread-local is kept across one: engine_self() is called anew.
 *
 * Hangs: when no thread can run anything and nothing outside can change that,
 * the launch fails at once (chip_deadlock).  A kernel or orchestration that
 * does not return is ended by the monitor thread after the no-progress time.
 */
#ifndef SIMPLER_MODEL_ENGINE_H
#define SIMPLER_MODEL_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/fiber.h"
#include "base/guard.h"
#include "chip/chip.h"
#include "model/model.h"

#define ENGINE_STACK_BYTES	(512u << 10)
#define ENGINE_IDLE_STACKS	64u
#define ENGINE_PARALLEL_NS	1000u	/* kernels at least this long are run by several threads */
#define ENGINE_MAX_THREADS	256u

/* Low bits of engine.signals; above them the serial of the launch they are meant for. */
#define ENGINE_SIG_WATCHDOG	(1u << 0)
#define ENGINE_SIG_TENSOR_WAIT	(1u << 1)
#define ENGINE_SIG_BITS		8

/* Code in which the monitor may end a guarded call; written by its thread, a hint for the monitor. */
struct engine_text {
	_Atomic uintptr_t lo, hi;
};

/* Per OS thread that is inside an engine. */
struct engine_thread {
	struct engine *engine;
	struct fiber_thread native;
	struct fiber *current;
	struct fiber *retire;		/* fiber left for good, pooled after the switch */
	struct chip_core *core;		/* whose block this thread executes */
	struct guard_thread *guard;
	struct engine_text text;
	uint32_t calls;			/* of kernels, for sampling */
	bool owner;
};

struct engine {
	struct chip chip;
	struct model_context *context;
	uint32_t threads;		/* that may execute at once */
	uint32_t no_progress_ms;
	struct fiber_pool pool;		/* chip lock */

	/* chip lock */
	struct fiber *orch_fiber;	/* parked or not yet started */
	bool orch_runnable;
	struct chip_core *resumed, **resumed_tail;
	uint32_t inside;		/* threads in the loop */
	uint32_t idle;			/* of these, asleep on @work */
	struct event work;
	const struct model_wait *wait;	/* of the owner: interrupt check */
	uint32_t polls;
	bool leaving;			/* the owner's thread is wanted back */

	int fault_signo;		/* of the crash that ended the launch; 0 none */

	/* blocks of sync-start cohorts that have not started; written under the chip lock */
	_Atomic uint32_t cohort_open;
	_Atomic bool cohort_called;	/* threads were called for them in this launch */

	_Atomic uint64_t signals;	/* ENGINE_SIG_*, set by the monitor, handled in the loop */
	_Atomic uint64_t serial;	/* of the launch */
	_Atomic bool linking;		/* the dynamic linker is at work */
	_Atomic bool abort;		/* the context is being destroyed */
	_Atomic bool active;		/* a launch is being executed */
	_Atomic bool lost;		/* a kernel could not be ended: the context is unusable */

	/* monitor.c */
	pthread_t monitor;
	bool monitor_running;
	_Atomic uint32_t monitor_state;
	pthread_mutex_t roster_mutex;
	struct engine_thread *roster[ENGINE_MAX_THREADS];	/* roster_mutex */
	uint32_t roster_count;

	/* fault injection (model_inject) */
	_Atomic uint32_t inject;	/* enum model_inject */
	_Atomic uint32_t inject_after;
};

int engine_init(struct engine *e, struct model_context *context, const struct chip_config *config,
		uint32_t threads, uint32_t no_progress_ms);
void engine_fini(struct engine *e);

/*
 * engine_drive - execute the launch that chip_begin() prepared
 *
 * engine_start() makes it runnable; engine_drive() returns 0 when it is over,
 * -EINTR when @wait's interrupt check wants the thread back: then any thread
 * may go on with engine_drive(); -ENOMEM when there is no stack to go on with.
 * After 0, chip_end() follows.
 */
int engine_start(struct engine *e);
int engine_drive(struct engine *e, const struct model_wait *wait);

/*
 * Fails a launch that engine_drive() had no memory for.  true: it is over, chip_end() follows;
 * false: other threads are still inside, call engine_drive() again.
 */
bool engine_give_up(struct engine *e);

/* Joins the launch of another thread until there is nothing left to do. */
void engine_help(struct engine *e);

/*
 * Foreign code outside a launch (constructors and destructors of objects): between the two calls the
 * monitor ends guarded calls of the calling thread that last longer than the no-progress time.  No
 * launch may begin in between; nothing is watched when one is under way.  engine_linking() tells the
 * engine @arg that the dynamic linker begins or ends; it is given more time.
 */
bool engine_watch_begin(struct engine *e, struct engine_thread *t);
void engine_watch_end(struct engine *e, struct engine_thread *t);
void engine_linking(void *arg, bool begins);

static inline struct engine *engine_of(const struct chip *c)
{
	return c->config.executor;
}

struct text_range {
	uintptr_t lo, hi;
};

static inline struct text_range text_get(const struct engine_thread *t)
{
	/* relaxed: own words, which the monitor reads as hints */
	return (struct text_range){
		atomic_load_explicit(&t->text.lo, memory_order_relaxed),
		atomic_load_explicit(&t->text.hi, memory_order_relaxed),
	};
}

static inline void text_set(struct engine_thread *t, struct text_range text)
{
	/* relaxed: as in text_get() */
	atomic_store_explicit(&t->text.lo, text.lo, memory_order_relaxed);
	atomic_store_explicit(&t->text.hi, text.hi, memory_order_relaxed);
}

/* The calling thread's state; never inlined, so that it is looked up anew after each switch. */
struct engine_thread *engine_self(void);

/* engine_call.c: calls core->kernel with the guard armed; faults are reported.  Lock not held. */
int engine_call_kernel(struct chip *c, struct chip_core *core);

/* The orchestration, to be called under the guard; and what to report when that was ended. */
void engine_orchestrate(void *arg);
void engine_report_orchestration(struct engine *e, const struct guard_fault *f);

/* core_ops.c: the table given to kernels. */
extern const struct pto_core_ops engine_core_ops;
extern const struct pto_core_ops engine_core_ops_checked;

/* monitor.c */
int monitor_start(struct engine *e);
void monitor_stop(struct engine *e);
void monitor_wake(struct engine *e);
void monitor_enroll(struct engine *e, struct engine_thread *t);
void monitor_withdraw(struct engine *e, struct engine_thread *t);

/* context.c: asks the context's pool for one more thread. */
void model_want_help(struct model_context *c);
/* The same for @count threads beyond the engine's number. */
void model_want_cohort(struct model_context *c, uint32_t count);

#endif /* SIMPLER_MODEL_ENGINE_H */
