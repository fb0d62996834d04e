/* SPDX-License-Identifier: MIT */
/* Lifecycle of a Worker (worker-api §2, §3). */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "rts/error.h"
#include "worker/worker.h"

#define CONTROL_ENTRIES 64u
#define INSTALL_ENTRIES (4 * SIMPLER_HW_CALLABLE_SLOTS)	/* never full, see register.c */
#define MIN_WORKSPACE_BUDGET 1024u

/* ---- object ---- */

static void worker_init_locks(struct simpler_worker *w)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &attr);
	pthread_condattr_destroy(&attr);
}

int worker_create_with_transport(int level, const struct rts_transport *transport,
				 struct simpler_worker **out)
{
	struct simpler_worker *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return SIMPLER_ERR_NO_MEMORY;
	rc = callables_init(&w->callables);
	if (rc) {
		free(w);
		return rc;
	}
	atomic_init(&w->refs, 1);
	w->level = level;
	w->transport = transport;
	list_init(&w->leases);
	list_init(&w->buffers.all);
	worker_init_locks(w);
	*out = w;
	return 0;
}

int simpler_worker_create(int level, struct simpler_worker **out)
{
	if (!out)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return worker_create_with_transport(level, NULL, out);
}

void worker_get(struct simpler_worker *w)
{
	/* relaxed: the caller holds a reference already, which orders everything */
	atomic_fetch_add_explicit(&w->refs, 1, memory_order_relaxed);
}

void worker_put(struct simpler_worker *w)
{
	/* acq_rel: pairs with itself; the last put sees what the others did before theirs */
	if (atomic_fetch_sub_explicit(&w->refs, 1, memory_order_acq_rel) != 1)
		return;
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w->config.platform);
	free(w->config.runtime);
	free(w);
}

/* The lock of a Worker that the caller may only read. */
static enum simpler_worker_state state_get(struct simpler_worker *w)
{
	enum simpler_worker_state state;

	pthread_mutex_lock(&w->lock);
	state = w->state;
	pthread_mutex_unlock(&w->lock);
	return state;
}

enum simpler_worker_state simpler_worker_get_state(const struct simpler_worker *w)
{
	return state_get((struct simpler_worker *)w);
}

int simpler_worker_level(const struct simpler_worker *w)
{
	return w->level;
}

/* ---- configuration ---- */

static bool any_callable(const struct simpler_worker *w)
{
	unsigned int i;

	for (i = 0; i < SIMPLER_HW_CALLABLE_SLOTS; i++)
		if (w->callables.entries[i].state != CALLABLE_FREE)
			return true;
	return false;
}

/* Locks on success. */
static int config_begin(struct simpler_worker *w)
{
	struct simpler_error e;

	if (!w)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	pthread_mutex_lock(&w->lock);
	if (w->state == SIMPLER_WORKER_NEW)
		return 0;
	pthread_mutex_unlock(&w->lock);
	err_set(&e, SIMPLER_ERR_INVALID_STATE, "a Worker can be configured before init only");
	return worker_failed(w, &e);
}

/* Platform and runtime are part of a callable's identity, so they come first. */
static int config_set_name(struct simpler_worker *w, char **field, const char *value)
{
	struct simpler_error e;
	char *copy = value ? strdup(value) : NULL;
	int rc;

	if (value && !copy) {
		err_set(&e, SIMPLER_ERR_NO_MEMORY, "no memory for '%s'", value);
		return worker_failed(w, &e);
	}
	rc = config_begin(w);
	if (rc) {
		free(copy);
		return rc;
	}
	if (any_callable(w)) {
		pthread_mutex_unlock(&w->lock);
		free(copy);
		err_set(&e, SIMPLER_ERR_INVALID_STATE,
			"platform and runtime must be set before callables are registered");
		return worker_failed(w, &e);
	}
	free(*field);
	*field = copy;
	pthread_mutex_unlock(&w->lock);
	return 0;
}

int simpler_worker_set_platform(struct simpler_worker *w, const char *platform)
{
	if (!w)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return config_set_name(w, &w->config.platform, platform);
}

int simpler_worker_set_runtime(struct simpler_worker *w, const char *runtime)
{
	if (!w)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return config_set_name(w, &w->config.runtime, runtime);
}

int simpler_worker_set_device_id(struct simpler_worker *w, int32_t device_id)
{
	int rc = config_begin(w);

	if (rc)
		return rc;
	w->config.device_id = device_id;
	pthread_mutex_unlock(&w->lock);
	return 0;
}

int simpler_worker_set_enable_sdma(struct simpler_worker *w, bool enable)
{
	int rc = config_begin(w);

	if (rc)
		return rc;
	w->config.enable_sdma = enable;
	pthread_mutex_unlock(&w->lock);
	return 0;
}

/* Locked. */
static int budget_check(const struct simpler_worker *w, uint64_t bytes, struct simpler_error *e)
{
	const struct rts_platform *p =
		w->config.platform ? rts_platform_find(w->config.platform) : NULL;

	if (bytes < MIN_WORKSPACE_BUDGET)
		return err_set(e, SIMPLER_ERR_INVALID_ARGUMENT,
			       "a workspace budget of %llu bytes is below %u",
			       (unsigned long long)bytes, MIN_WORKSPACE_BUDGET);
	if (w->level != 2 || (p && p->simulated))
		return err_set(e, SIMPLER_ERR_OPTION_CONFLICT,
			       "a workspace budget exists on hardware platforms at level 2 only");
	return 0;
}

int simpler_worker_set_workspace_budget(struct simpler_worker *w, uint64_t bytes)
{
	struct simpler_error e;
	int rc = config_begin(w);

	if (rc)
		return rc;
	rc = budget_check(w, bytes, &e);
	if (!rc)
		w->config.workspace_budget = bytes;
	pthread_mutex_unlock(&w->lock);
	return rc ? worker_failed(w, &e) : 0;
}

/* ---- init ---- */

/* The options alone; a failure leaves the Worker NEW. */
static int init_check_borrow(struct simpler_worker *w, const struct simpler_init_options *o,
			     struct simpler_error *e)
{
	const struct rts_platform *p =
		w->config.platform ? rts_platform_find(w->config.platform) : NULL;

	if (!o->borrowed_context_generation)
		return err_set(e, SIMPLER_ERR_INVALID_ARGUMENT, "borrowed_context_generation is 0");
	if (w->level != 2)
		return err_set(e, SIMPLER_ERR_OPTION_CONFLICT,
			       "a context can be borrowed at level 2 only, not at level %d",
			       w->level);
	if (w->config.enable_sdma || w->config.workspace_budget)
		return err_set(e, SIMPLER_ERR_OPTION_CONFLICT,
			       "a borrowed context excludes %s",
			       w->config.enable_sdma ? "enable_sdma" : "a workspace budget");
	if (p && p->simulated)
		return err_set(e, SIMPLER_ERR_OPTION_CONFLICT,
			       "platform %s is simulated and has no context to borrow", p->name);
	return 0;
}

static int init_check_options(struct simpler_worker *w, const struct simpler_init_options *o,
			      struct simpler_error *e)
{
	int rc = 0;

	if (!o)
		return 0;
	if (o->reserved || o->flags & ~SIMPLER_INIT_BORROW)
		return err_set(e, SIMPLER_ERR_INVALID_ARGUMENT, "unknown init flags 0x%x",
			       o->flags);
	if (o->prewarm)
		rc = config_runtime_env_check(&o->prewarm->runtime_env, e);
	if (!rc && o->flags & SIMPLER_INIT_BORROW)
		rc = init_check_borrow(w, o, e);
	return rc;
}

static int init_check_state(const struct simpler_worker *w, struct simpler_error *e)
{
	switch (w->state) {
	case SIMPLER_WORKER_NEW:
		return 0;
	case SIMPLER_WORKER_INITIALIZING:
		return err_set(e, SIMPLER_ERR_INVALID_STATE, "init is already in progress");
	case SIMPLER_WORKER_READY:
		return err_set(e, SIMPLER_ERR_INVALID_STATE, "the Worker is already initialized");
	case SIMPLER_WORKER_FAILED:
		return err_set(e, SIMPLER_ERR_STARTUP_FAILED,
			       "startup failed, close and create a new Worker");
	case SIMPLER_WORKER_CLOSED:
		break;
	}
	return err_set(e, SIMPLER_ERR_INVALID_STATE, "the Worker is closed, create a new Worker");
}

static int resolve_runtime(struct simpler_worker *w, struct simpler_error *e)
{
	const char *runtime = w->config.runtime;

	if (!runtime)
		return err_set(e, SIMPLER_ERR_RUNTIME_MISSING, "runtime");
	if (!strcmp(runtime, "host_build_graph"))
		return err_set(e, SIMPLER_ERR_UNSUPPORTED,
			       "runtime host_build_graph is not supported by this build");
	if (strcmp(runtime, "tensormap_and_ringbuffer"))
		return err_set(e, SIMPLER_ERR_RUNTIME_UNKNOWN, "unknown runtime '%s'", runtime);
	w->hw_runtime = SIMPLER_HW_RUNTIME_TRB;
	return 0;
}

static int resolve_platform(struct simpler_worker *w, struct simpler_error *e)
{
	const char *platform = w->config.platform;

	if (!platform)
		return err_set(e, SIMPLER_ERR_PLATFORM_MISSING, "platform");
	w->platform = rts_platform_find(platform);
	if (!w->platform)
		return err_set(e, SIMPLER_ERR_PLATFORM_UNKNOWN, "unknown platform '%s'", platform);
	if (w->config.enable_sdma && w->platform->simulated)
		return err_set(e, SIMPLER_ERR_OPTION_UNSUPPORTED,
			       "enable_sdma: %s has no asynchronous copy engine", platform);
	if (w->config.device_id < 0)
		return err_set(e, SIMPLER_ERR_INVALID_ARGUMENT, "device_id %d is negative",
			       w->config.device_id);
	if (!w->transport)
		w->transport = w->platform->transport;
	if (!w->transport)
		return err_set(e, SIMPLER_ERR_NO_DEVICE,
			       "no device: this build has no transport to %s hardware", platform);
	return 0;
}

static int init_resolve(struct simpler_worker *w, struct simpler_error *e)
{
	int rc;

	if (w->level != 2)
		return err_set(e, SIMPLER_ERR_LEVEL, "level %d not supported", w->level);
	rc = resolve_platform(w, e);
	return rc ? rc : resolve_runtime(w, e);
}

static int init_open(struct simpler_worker *w, struct simpler_error *e)
{
	const char *step = "the chip";
	int rc = rts_device_open(w->transport, w->platform, w->config.device_id, &w->device);

	if (!rc) {
		step = "a context";
		rc = simpler_context_create(w->device, &w->context);
	}
	if (!rc) {
		step = "the control stream";
		rc = rts_stream_create(w->context, CONTROL_ENTRIES, &w->control);
	}
	if (!rc) {
		step = "the install stream";
		rc = rts_stream_create(w->context, INSTALL_ENTRIES, &w->install);
	}
	if (!rc) {
		step = "the run lane";
		rc = lane_open(w);
	}
	if (rc)
		err_set(e, rc, "cannot open %s of %s %d: %s", step, w->platform->name,
			w->config.device_id, simpler_error_description(rc));
	return rc;
}

static bool init_cancelled(void *worker)
{
	struct simpler_worker *w = worker;
	bool cancelled;

	pthread_mutex_lock(&w->lock);
	cancelled = w->cancel_init;
	pthread_mutex_unlock(&w->lock);
	return cancelled;
}

/* Runs in state INITIALIZING, where this thread alone uses what is not listed under the lock. */
static int init_start(struct simpler_worker *w, struct simpler_error *e)
{
	const struct rts_wait wait = {
		.deadline_ns = INT64_MAX, .interrupted = init_cancelled, .arg = w,
	};
	int rc = init_resolve(w, e);

	if (!rc)
		rc = init_open(w, e);
	if (!rc)
		rc = callables_install_all(w, &wait, e);
	if ((!rc || rc == SIMPLER_ERR_INTERRUPTED) && init_cancelled(w))
		rc = err_set(e, SIMPLER_ERR_INIT_CANCELLED, "init was cancelled by close");
	return rc;
}

static int worker_teardown(struct simpler_worker *w, struct simpler_error *e);

static void init_publish(struct simpler_worker *w, int rc)
{
	pthread_mutex_lock(&w->lock);
	w->state = rc ? SIMPLER_WORKER_FAILED : SIMPLER_WORKER_READY;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static int init_claim(struct simpler_worker *w, const struct simpler_init_options *options,
		      struct simpler_error *e)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	rc = init_check_options(w, options, e);
	if (!rc)
		rc = init_check_state(w, e);
	if (!rc && getentropy(w->owner, sizeof(w->owner)))
		rc = err_set(e, SIMPLER_ERR_SYSTEM, "no random numbers for the Worker's identity");
	if (!rc) {
		w->state = SIMPLER_WORKER_INITIALIZING;
		w->init_thread = pthread_self();
	}
	pthread_mutex_unlock(&w->lock);
	return rc;
}

int simpler_worker_init(struct simpler_worker *w, const struct simpler_init_options *options)
{
	struct simpler_error e, later;
	int rc;

	if (!w)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = init_claim(w, options, &e);
	if (rc)
		return worker_failed(w, &e);
	config_defaults_read(&w->defaults);
	rc = init_start(w, &e);
	if (rc)
		worker_teardown(w, &later);	/* close repeats what fails here */
	init_publish(w, rc);
	return rc ? worker_failed(w, &e) : 0;
}

int simpler_worker_open(const char *platform, const char *runtime, int32_t device_id,
			struct simpler_worker **out)
{
	int rc;

	if (!out)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	*out = NULL;
	rc = simpler_worker_create(2, out);
	if (!rc)
		rc = simpler_worker_set_platform(*out, platform);
	if (!rc)
		rc = simpler_worker_set_runtime(*out, runtime);
	if (!rc)
		rc = simpler_worker_set_device_id(*out, device_id);
	return rc ? rc : simpler_worker_init(*out, NULL);
}

/* ---- teardown ---- */

/* Destroys a stream; on failure it stays and can be destroyed later. */
static int teardown_stream(struct simpler_worker *w, struct simpler_stream **field,
			   struct simpler_error *e)
{
	struct simpler_stream *s = *field;
	int rc;

	/* readers look at the field under the lock only */
	pthread_mutex_lock(&w->lock);
	*field = NULL;
	pthread_mutex_unlock(&w->lock);
	rc = simpler_stream_destroy(s);
	if (!rc)
		return 0;
	pthread_mutex_lock(&w->lock);
	*field = s;
	pthread_mutex_unlock(&w->lock);
	return err_set(e, rc, "the chip could not stop a stream: %s",
		       simpler_error_description(rc));
}

/*
 * Stop, declare dead, release (decisions D34).  What failed stays, with all that
 * depends on it, and is repeated by the next call.
 */
static int worker_teardown(struct simpler_worker *w, struct simpler_error *e)
{
	int rc, first;

	rc = teardown_stream(w, &w->lane.stream, e);
	if (!rc)
		rc = teardown_stream(w, &w->control, e);
	if (!rc)
		rc = teardown_stream(w, &w->install, e);
	if (rc)
		return rc;
	callables_abandon(w);
	first = buffers_release_all(w, e);
	if (w->context) {
		lane_close(w);
		rc = simpler_context_destroy(w->context);
		if (rc && !first)
			first = err_set(e, rc, "the chip could not end the context: %s",
					simpler_error_description(rc));
		if (rc)
			return first;
		w->context = NULL;
	}
	callables_fini(&w->callables);
	simpler_device_close(w->device);	/* has no contexts any more, so it cannot refuse */
	w->device = NULL;
	if (!first)
		buffers_fini(&w->buffers);
	return first;
}

/* ---- close ---- */

/* INITIALIZING: asks init to stop and waits for it. Locked before and after. */
static int close_cancel_init(struct simpler_worker *w, struct simpler_error *e)
{
	struct rts_wait wait = { .deadline_ns = INT64_MAX };

	if (pthread_equal(w->init_thread, pthread_self()))
		return err_set(e, SIMPLER_ERR_INVALID_STATE,
			       "close inside init of the same thread");
	w->cancel_init = true;
	wait.deadline_ns = (int64_t)clock_deadline(WORKER_CANCEL_TIMEOUT_NS);
	while (w->state == SIMPLER_WORKER_INITIALIZING)
		if (worker_wait_changed_locked(w, &wait))
			return err_set(e, SIMPLER_ERR_INVALID_STATE,
				       "init did not stop within 60 seconds");
	return 0;
}

/* Another thread closes: its outcome is ours. Locked before and after. */
static int close_join(struct simpler_worker *w, const struct rts_wait *wait,
		      struct simpler_error *e)
{
	int rc;

	while (w->closing) {
		rc = worker_wait_changed_locked(w, wait);
		if (rc)
			return err_set(e, rc, "another thread is still closing the Worker");
	}
	if (w->close_code)
		*e = w->close_error;
	return w->close_code;
}

/* Waits for operations, then for runs, by one deadline. Locked before and after. */
static int close_drain(struct simpler_worker *w, const struct rts_wait *wait,
		       struct simpler_error *e)
{
	int rc = 0;

	w->drains++;
	while (!list_empty(&w->leases) && !rc)
		rc = worker_wait_changed_locked(w, wait);
	w->drains--;
	if (!rc && w->lane.stream)
		rc = lane_drain(w, wait);
	if (rc)
		err_set(e, rc, "%s are still active; nothing was released, close again",
			list_empty(&w->leases) ? "runs" : "operations");
	return rc;
}

/* A loss that no waiter was told about must not vanish. Locked. */
static int close_unseen_error(struct simpler_worker *w, struct simpler_error *e)
{
	if (!w->lane.poison_unseen)
		return 0;
	w->lane.poison_unseen = false;
	*e = w->lane.cause;
	return e->code;
}

/* Locked before and after; unlocked while tearing down. */
static int close_attempt(struct simpler_worker *w, const struct rts_wait *wait,
			 struct simpler_error *e)
{
	int rc;

	w->state = SIMPLER_WORKER_CLOSED;
	pthread_cond_broadcast(&w->changed);
	rc = close_drain(w, wait, e);
	if (rc)
		return rc;
	pthread_mutex_unlock(&w->lock);
	rc = worker_teardown(w, e);
	pthread_mutex_lock(&w->lock);
	if (rc)
		return rc;
	w->torn_down = true;
	return close_unseen_error(w, e);
}

static int close_locked(struct simpler_worker *w, const struct rts_wait *wait,
			struct simpler_error *e)
{
	int rc;

	if (lease_held_locked(w))
		return err_set(e, SIMPLER_ERR_REENTRY,
			       "close was called inside an operation of the same thread");
	if (w->state == SIMPLER_WORKER_INITIALIZING) {
		rc = close_cancel_init(w, e);
		if (rc)
			return rc;
	}
	if (w->closing)
		return close_join(w, wait, e);
	if (w->torn_down)
		return 0;
	w->closing = true;
	rc = close_attempt(w, wait, e);
	w->closing = false;
	w->close_code = rc;
	if (rc)
		w->close_error = *e;
	pthread_cond_broadcast(&w->changed);
	return rc;
}

int simpler_worker_close(struct simpler_worker *w, const struct simpler_wait *wait)
{
	static const struct simpler_wait standard = { .timeout_ns = WORKER_CLOSE_TIMEOUT_NS };
	struct simpler_error e;
	struct rts_wait until;
	int rc = rts_wait_init(&until, wait ? wait : &standard);

	if (!w)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (rc) {
		err_set(&e, rc, "timeout %lld ns is negative", (long long)wait->timeout_ns);
		return worker_failed(w, &e);
	}
	pthread_mutex_lock(&w->lock);
	rc = close_locked(w, &until, &e);
	pthread_mutex_unlock(&w->lock);
	return rc ? worker_failed(w, &e) : 0;
}

int simpler_worker_destroy(struct simpler_worker *w)
{
	int rc;

	if (!w)
		return 0;
	rc = simpler_worker_close(w, NULL);
	if (rc)
		return rc;
	worker_put(w);
	return 0;
}

/* ---- introspection ---- */

uint64_t simpler_worker_committed_memory(struct simpler_worker *w)
{
	uint64_t mine = 0, all;

	pthread_mutex_lock(&w->lock);
	if (w->state == SIMPLER_WORKER_READY)
		simpler_context_memory(w->context, &mine, &all);
	pthread_mutex_unlock(&w->lock);
	return mine;
}

uint64_t simpler_worker_retained_temp_addr(struct simpler_worker *w, unsigned int slot)
{
	uint64_t addr = 0;

	pthread_mutex_lock(&w->lock);
	if (slot < WORKER_DEPTH)
		addr = w->lane.slots[slot].staging;
	pthread_mutex_unlock(&w->lock);
	return addr;
}
