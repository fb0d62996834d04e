// SPDX-License-Identifier: MIT
/* Contexts: ownership of the executor, waiting, the thread pool. */
#include "model/context.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/env.h"
#include "base/futex.h"
#include "base/log.h"

#define NO_PROGRESS_DEFAULT_MS	10000u
#define VALUE_POLL_NS		200000	/* a stream that waits for a value is looked at this often */
#define INTERRUPT_POLL_NS	100000000
#define DESTROY_GRACE_NS	2000000000ull

/* ---- ownership ---- */

bool context_claim(struct model_context *c)
{
	uint32_t nobody = 0;

	/* acquire: pairs with the release in context_release(): the new owner sees what the last one did */
	return atomic_load_explicit(&c->owner, memory_order_relaxed) == 0 &&
	       atomic_compare_exchange_strong_explicit(&c->owner, &nobody, 1, memory_order_acquire,
						       memory_order_relaxed);
}

void context_notify(struct model_context *c)
{
	/* seq_cst: either the sleeper's check sees what happened before this, or it is counted here */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&c->sleepers, memory_order_relaxed)) {
		/* release: pairs with the acquire load of event before a sleeper's check */
		atomic_fetch_add_explicit(&c->event, 1, memory_order_release);
		futex_wake(&c->event, INT_MAX, 0);
	}
}

void context_release(struct model_context *c)
{
	/* release: pairs with the acquire in context_claim() */
	atomic_store_explicit(&c->owner, 0, memory_order_release);
	context_notify(c);
	/* relaxed: after the fence in context_notify(); pairs with the one in model_doorbell() */
	if (atomic_load_explicit(&c->rung, memory_order_relaxed))
		context_kick(c);
}

int context_sleep(struct model_context *c, uint32_t seen, uint64_t deadline_ns)
{
	return futex_wait(&c->event, seen, deadline_ns, FUTEX_WAIT_EINTR);
}

/* ---- pool ---- */

/* Claims, or leaves word with the owner, whose release then calls the pool again. */
static bool claim_or_ring(struct model_context *c)
{
	if (context_claim(c))
		return true;
	/* seq_cst: as in model_doorbell() */
	atomic_store_explicit(&c->rung, true, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	return context_claim(c);
}

/*
 * While a stream waits for a value the ownership is given up between looks:
 * other threads may need it, to end a stream for example.
 */
static void process_all(struct model_context *c)
{
	bool blocked = true;

	while (blocked && claim_or_ring(c)) {
		uint32_t seen;

		blocked = false;
		/* relaxed: the claim, or the fence in context_release(), orders it with the doorbell */
		atomic_store_explicit(&c->rung, false, memory_order_relaxed);
		atomic_thread_fence(memory_order_seq_cst);
		stream_process(c, NULL, 0, NULL, &blocked);
		context_release(c);
		/* acquire: pairs with the release in context_notify() */
		seen = atomic_load_explicit(&c->event, memory_order_acquire);
		blocked &= !atomic_load_explicit(&c->destroying, memory_order_relaxed);
		if (blocked) {
			atomic_fetch_add(&c->sleepers, 1);
			context_sleep(c, seen, clock_mono_ns() + VALUE_POLL_NS);
			atomic_fetch_sub(&c->sleepers, 1);
		}
	}
}

static uint32_t pool_capacity(const struct engine *e)
{
	uint32_t n = e->threads + e->chip.config.clusters * CHIP_CORES_PER_CLUSTER;

	return n < ENGINE_MAX_THREADS ? n : ENGINE_MAX_THREADS - 1;
}

static void *pool_main(void *arg)
{
	struct model_context *c = arg;

	pthread_mutex_lock(&c->mutex);
	while (!c->stop) {
		if (c->helpers_wanted) {
			c->helpers_wanted--;
			pthread_mutex_unlock(&c->mutex);
			engine_help(&c->engine);
			pthread_mutex_lock(&c->mutex);
		} else if (c->exec_wanted) {
			c->exec_wanted = false;
			pthread_mutex_unlock(&c->mutex);
			process_all(c);
			pthread_mutex_lock(&c->mutex);
		} else {
			c->pool_idle++;
			pthread_cond_wait(&c->pool_work, &c->mutex);
			c->pool_idle--;
		}
	}
	pthread_mutex_unlock(&c->mutex);
	return NULL;
}

/* Signals of the application are for its own threads.  c->mutex held. */
static void add_pool_thread(struct model_context *c)
{
	sigset_t all, old;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&c->pool[c->pool_count], NULL, pool_main, c) == 0)
		c->pool_count++;
	else if (!c->pool_count)
		log_error("no thread for asynchronous execution; runs make progress only while somebody waits for them");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* c->mutex held; one more piece of work is pending. */
static void wake_pool(struct model_context *c)
{
	if (c->pool_idle)
		pthread_cond_signal(&c->pool_work);
	else if (c->pool_count < c->engine.threads && !c->stop)
		add_pool_thread(c);
	/* relaxed: a count */
	atomic_fetch_add_explicit(&c->thread_wakes, 1, memory_order_relaxed);
}

void context_kick(struct model_context *c)
{
	pthread_mutex_lock(&c->mutex);
	if (!c->exec_wanted) {
		c->exec_wanted = true;
		wake_pool(c);
	}
	pthread_mutex_unlock(&c->mutex);
}

void model_want_help(struct model_context *c)
{
	pthread_mutex_lock(&c->mutex);
	if (c->helpers_wanted + 1 < c->engine.threads) {
		c->helpers_wanted++;
		wake_pool(c);
	}
	pthread_mutex_unlock(&c->mutex);
}

/* Never more than there are logical cores beyond the engine's own threads. */
void model_want_cohort(struct model_context *c, uint32_t count)
{
	uint32_t limit = pool_capacity(&c->engine);

	pthread_mutex_lock(&c->mutex);
	if (c->helpers_wanted < count)
		c->helpers_wanted = count;
	for (uint32_t ready = c->pool_idle; ready < count && c->pool_count < limit && !c->stop; ready++)
		add_pool_thread(c);
	pthread_cond_broadcast(&c->pool_work);
	pthread_mutex_unlock(&c->mutex);
}

/* ---- life ---- */

static uint32_t env_or(const char *name, uint32_t given, uint32_t fallback, uint32_t max)
{
	const char *text = getenv(name);
	uint64_t value;

	if (given)
		return given;
	if (!text || !*text)
		return fallback;
	if (env_parse_u64(text, &value) || !value || value > max) {
		log_warn("%s=%s is not a number in [1, %u]; using %u", name, text, max, fallback);
		return fallback;
	}
	return (uint32_t)value;
}

/* chip-runtime §3.3: set means that the text starts with 1, t or T. */
static bool env_serial(void)
{
	const char *text = getenv("SIMPLER_TMR_SERIAL_ORCH_SCHED_ENABLE");

	return text && (*text == '1' || *text == 't' || *text == 'T');
}

static int init_engine(struct model_context *c)
{
	const struct model_config *mc = &c->model->config;
	struct chip_config config = {
		.arch = mc->arch,
		.clusters = c->model->regs.cluster_count,
		.checked = env_flag("SIMPLER_CHECK", false),
		.serial = env_serial(),
		.inline_tasks = env_flag("SIMPLER_ENGINE_INLINE", true) && !env_serial(),
	};
	uint32_t threads = env_or("SIMPLER_ENGINE_THREADS", mc->engine_threads, cpu_count(),
				  ENGINE_MAX_THREADS - 1);
	uint32_t ms = env_or("SIMPLER_SCHEDULER_TIMEOUT_MS", mc->no_progress_ms,
			     NO_PROGRESS_DEFAULT_MS, INT32_MAX);

	return engine_init(&c->engine, c, &config, threads, ms);
}

static int enroll(struct model_context *c)
{
	struct model *m = c->model;
	int rc = 0;

	pthread_mutex_lock(&m->mutex);
	if (m->contexts >= m->regs.max_contexts)
		rc = -ENOSPC;
	else
		m->contexts++;
	c->id = m->context_serial++;
	pthread_mutex_unlock(&m->mutex);
	return rc;
}

static void withdraw(struct model_context *c)
{
	pthread_mutex_lock(&c->model->mutex);
	c->model->contexts--;
	pthread_mutex_unlock(&c->model->mutex);
}

int model_context_create(struct model *m, struct model_context **out)
{
	struct model_context *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	c->model = m;
	rc = enroll(c);
	if (rc)
		goto free_context;
	rc = init_engine(c);
	if (rc)
		goto withdraw;
	rc = -ENOMEM;
	c->pool = calloc(pool_capacity(&c->engine), sizeof(*c->pool));
	if (!c->pool)
		goto fini_engine;
	pthread_mutex_init(&c->mutex, NULL);
	pthread_cond_init(&c->pool_work, NULL);
	*out = c;
	return 0;

fini_engine:
	engine_fini(&c->engine);
withdraw:
	withdraw(c);
free_context:
	free(c);
	return rc;
}

/* Becomes owner for good, ending a launch that is under way. */
static int seize(struct model_context *c)
{
	uint64_t deadline = clock_mono_ns() + DESTROY_GRACE_NS +
			    (uint64_t)c->engine.no_progress_ms * 1000000;

	/* release: pairs with the acquire in stream_process() and the waits */
	atomic_store_explicit(&c->destroying, true, memory_order_release);
	/* relaxed: a request; what follows is ordered by the claim */
	atomic_store_explicit(&c->engine.abort, true, memory_order_relaxed);
	context_notify(c);
	while (!context_claim(c)) {
		uint32_t seen = atomic_load_explicit(&c->event, memory_order_acquire);

		atomic_fetch_add(&c->sleepers, 1);
		context_sleep(c, seen, clock_mono_ns() + VALUE_POLL_NS);
		atomic_fetch_sub(&c->sleepers, 1);
		if (clock_passed(deadline)) {
			/* the caller may try again; until then the context works as before */
			atomic_store_explicit(&c->destroying, false, memory_order_release);
			atomic_store_explicit(&c->engine.abort, false, memory_order_relaxed);
			return -EBUSY;
		}
	}
	return 0;
}

static void stop_pool(struct model_context *c)
{
	pthread_mutex_lock(&c->mutex);
	c->stop = true;
	pthread_cond_broadcast(&c->pool_work);
	pthread_mutex_unlock(&c->mutex);
	for (uint32_t i = 0; i < c->pool_count; i++)
		pthread_join(c->pool[i], NULL);
}

void context_end_launch(struct model_context *c)
{
	while (engine_drive(&c->engine, NULL) && !engine_give_up(&c->engine))
		cpu_relax();
	chip_end(&c->engine.chip, NULL);
	c->launching = NULL;
}

int model_context_destroy(struct model_context *c)
{
	int rc = seize(c);

	if (rc)
		return rc;
	if (c->launching)
		context_end_launch(c);
	stop_pool(c);
	for (uint32_t i = 0; i < SIMPLER_HW_CALLABLE_SLOTS; i++)
		chip_callable_unload(c->callables[i]);
	while (c->streams) {
		struct model_stream *s = c->streams;

		c->streams = s->next;
		stream_free(s);
	}
	model_memory_drop(c);
	engine_fini(&c->engine);
	pthread_mutex_destroy(&c->mutex);
	pthread_cond_destroy(&c->pool_work);
	withdraw(c);
	free(c->pool);
	free(c);
	return 0;
}

int model_context_pause(struct model_context *c, uint64_t deadline_ns)
{
	while (!context_claim(c)) {
		/* acquire: pairs with the release in context_notify() */
		uint32_t seen = atomic_load_explicit(&c->event, memory_order_acquire);

		atomic_fetch_add(&c->sleepers, 1);
		context_sleep(c, seen, clock_mono_ns() + VALUE_POLL_NS);
		atomic_fetch_sub(&c->sleepers, 1);
		if (clock_passed(deadline_ns))
			return -ETIMEDOUT;
	}
	return 0;
}

void model_context_resume(struct model_context *c)
{
	/* relaxed: context_release() has the fence; what was rung meanwhile is looked at */
	atomic_store_explicit(&c->rung, true, memory_order_relaxed);
	context_release(c);
}

/* ---- waiting ---- */

void model_doorbell(struct model_stream *s)
{
	struct model_context *c = s->context;

	/* seq_cst: pairs with the fence after context_release() gives up: one side sees the other */
	atomic_store_explicit(&c->rung, true, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&c->owner, memory_order_relaxed) == 0)
		context_kick(c);
	context_notify(c);
}

static bool interrupted(const struct model_wait *w)
{
	return w->interrupted && w->interrupted(w->arg);
}

static uint64_t next_wakeup(const struct model_wait *w, bool blocked)
{
	uint64_t deadline = w->deadline_ns == INT64_MAX ? CLOCK_NEVER : (uint64_t)w->deadline_ns;
	uint64_t poll = blocked ? VALUE_POLL_NS : INTERRUPT_POLL_NS;
	uint64_t next = clock_mono_ns() + poll;

	return next < deadline ? next : deadline;
}

static bool reached(const struct model_stream *s, uint64_t seqno)
{
	return ring_load64(&s->ring->completed) >= seqno;
}

/* The calling thread executes commands; 1: it could not. */
static int help(struct model_stream *s, uint64_t seqno, const struct model_wait *w, bool *blocked)
{
	struct model_context *c = s->context;
	int rc;

	if (!context_claim(c))
		return 1;
	rc = stream_process(c, s, seqno, w, blocked);
	if (rc == -EINTR)
		/* relaxed: context_release() has the fence; a pool thread goes on with the launch */
		atomic_store_explicit(&c->rung, true, memory_order_relaxed);
	context_release(c);
	return rc;
}

/* Commands are there and nobody executes. */
static bool is_neglected(const struct model_stream *s)
{
	return !atomic_load(&s->context->owner) &&
	       ring_load(&s->ring->producer) != (uint32_t)ring_load64(&s->ring->completed);
}

static int sleep_or_stop(struct model_stream *s, uint64_t seqno, const struct model_wait *w,
			 bool blocked)
{
	struct model_context *c = s->context;
	/* acquire: pairs with the release in context_notify() */
	uint32_t seen = atomic_load_explicit(&c->event, memory_order_acquire);
	int rc = 0;

	/* seq_cst: counted before the check, see context_notify() */
	atomic_fetch_add(&c->sleepers, 1);
	if (!reached(s, seqno) && !(w->deadline_ns == INT64_MAX && !blocked && is_neglected(s)))
		rc = context_sleep(c, seen, next_wakeup(w, blocked));
	atomic_fetch_sub(&c->sleepers, 1);
	if (reached(s, seqno))
		return 0;
	if (interrupted(w))
		return -EINTR;
	(void)rc;
	return clock_passed(w->deadline_ns == INT64_MAX ? CLOCK_NEVER : (uint64_t)w->deadline_ns) ?
	       -ETIMEDOUT : 0;
}

int model_wait_seqno(struct model_stream *s, uint64_t seqno, const struct model_wait *w)
{
	struct model_context *c = s->context;
	bool blocked = false;
	int rc;

	/* whoever executes now may only care for another stream */
	if (w->deadline_ns != INT64_MAX && !reached(s, seqno))
		model_doorbell(s);
	while (!reached(s, seqno)) {
		/* acquire: pairs with the releases in seize() and the monitor */
		if (atomic_load_explicit(&c->destroying, memory_order_acquire) ||
		    atomic_load_explicit(&c->engine.lost, memory_order_acquire) ||
		    ring_load(&s->ring->state) == SIMPLER_HW_STREAM_BANNED)
			return -ENODEV;
		blocked = false;
		if (w->deadline_ns == INT64_MAX) {
			rc = help(s, seqno, w, &blocked);
			if (rc < 0 || (rc == 0 && reached(s, seqno)))
				return rc;
		}
		rc = sleep_or_stop(s, seqno, w, blocked);
		if (rc)
			return rc;
	}
	return 0;
}

void model_inject(struct model_context *c, enum model_inject what, uint32_t after)
{
	if (what == MODEL_INJECT_ALLOC_FAILURE) {
		c->engine.chip.fail_next_growth = true;
		return;
	}
	/* relaxed: tests arm before they launch */
	atomic_store_explicit(&c->engine.inject_after, after, memory_order_relaxed);
	atomic_store_explicit(&c->engine.inject, what, memory_order_relaxed);
}

void model_get_counters(struct model_context *c, struct model_counters *out)
{
	while (!context_claim(c))
		cpu_relax();
	*out = c->counters;
	/* relaxed: a count */
	out->thread_wakes = atomic_load_explicit(&c->thread_wakes, memory_order_relaxed);
	out->blocks = c->engine.chip.blocks;
	out->parks = c->engine.chip.parks;
	out->inline_blocks = c->engine.chip.inline_blocks;
	context_release(c);
}
