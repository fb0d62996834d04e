/* SPDX-License-Identifier: MIT */
/* run, submit, and run handles (worker-api §11). */
#include <stdlib.h>

#include "rts/error.h"
#include "worker/worker.h"

/* ---- objects ---- */

/*
 * A run on the stack has no references: simpler_worker_run() keeps it until it is
 * done, or takes it out of its slot.
 */
static void run_init(struct simpler_run *r, struct simpler_worker *w, uint32_t refs)
{
	atomic_init(&r->refs, refs);
	atomic_init(&r->done, false);
	r->waited = false;
	r->worker = w;
	r->code = 0;
	r->error.code = 0;
}

void run_get(struct simpler_run *r)
{
	/* relaxed: the caller holds a reference already, which orders everything */
	atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
}

void run_put(struct simpler_run *r)
{
	struct simpler_worker *w = r->worker;

	/* relaxed: 0 is set before the run is shared and never changes */
	if (!atomic_load_explicit(&r->refs, memory_order_relaxed))
		return;
	/* acq_rel: pairs with itself; the last put sees what the others did before theirs */
	if (atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1)
		return;
	free(r);
	worker_put(w);
}

struct simpler_run *simpler_run_get(struct simpler_run *r)
{
	run_get(r);
	return r;
}

void simpler_run_put(struct simpler_run *r)
{
	if (r)
		run_put(r);
}

static bool run_is_done(const struct simpler_run *r)
{
	/* acquire: pairs with the release in run_finish() */
	return atomic_load_explicit(&r->done, memory_order_acquire);
}

/* ---- waiting ---- */

/* Locked before and after. Retires the run if it has ended; 0 when it has. */
static int run_wait_locked(struct simpler_worker *w, struct simpler_run *r,
			   const struct rts_wait *wait)
{
	int rc;

	r->waited = true;
	while (!run_is_done(r)) {
		pthread_mutex_unlock(&w->lock);
		rc = rts_stream_wait(w->lane.stream, r->seqno, wait);
		pthread_mutex_lock(&w->lock);
		lane_reap_locked(w);
		if (rc == SIMPLER_ERR_DEVICE_LOST)
			lane_lost_locked(w);
		else if (rc && !run_is_done(r))
			return rc;
	}
	return 0;
}

static int wait_error(const struct simpler_run *r, int rc, struct simpler_error *e)
{
	return err_set(e, rc, "waiting for run %llu: %s; the run goes on",
		       (unsigned long long)r->seqno, simpler_error_description(rc));
}

int simpler_run_wait(struct simpler_run *r, const struct simpler_wait *wait)
{
	struct simpler_worker *w;
	struct worker_lease lease;
	struct simpler_error e;
	struct rts_wait until;
	int rc;

	if (!r)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	w = r->worker;
	rc = rts_wait_init(&until, wait);
	if (rc) {
		err_set(&e, rc, "timeout %lld ns is negative", (long long)wait->timeout_ns);
		return worker_failed(w, &e);
	}
	if (!run_is_done(r)) {
		pthread_mutex_lock(&w->lock);
		lease_join_locked(w, &lease);
		rc = run_wait_locked(w, r, &until);
		lease_end(w, &lease);
	} else if (r->code == SIMPLER_ERR_DEVICE_LOST) {
		pthread_mutex_lock(&w->lock);
		w->lane.poison_unseen = false;
		pthread_mutex_unlock(&w->lock);
	}
	if (rc) {
		wait_error(r, rc, &e);
		return worker_failed(w, &e);
	}
	return r->code ? worker_failed(w, &r->error) : 0;
}

bool simpler_run_done(struct simpler_run *r)
{
	struct simpler_worker *w = r->worker;

	if (run_is_done(r))
		return true;
	if (pthread_mutex_trylock(&w->lock))
		return run_is_done(r);
	lane_reap_locked(w);
	pthread_mutex_unlock(&w->lock);
	return run_is_done(r);
}

struct simpler_error *simpler_run_error(struct simpler_run *r, struct simpler_error *error)
{
	if (simpler_run_done(r) && r->code)
		*error = r->error;
	else
		err_clear(error);
	return error;
}

void simpler_run_get_stats(struct simpler_run *r, struct simpler_run_stats *stats)
{
	if (simpler_run_done(r))
		*stats = r->stats;
	else
		*stats = (struct simpler_run_stats){ 0 };
}

/* ---- run and submit ---- */

static int options_check(const struct simpler_run_options *o, struct rts_wait *wait,
			 struct simpler_error *e)
{
	int rc = rts_wait_init(wait, o ? o->wait : NULL);

	if (rc)
		return err_set(e, rc, "timeout %lld ns is negative",
			       (long long)o->wait->timeout_ns);
	if (!o)
		return 0;
	if (o->reserved || o->flags & ~SIMPLER_RUN_CALLER_STREAM)
		return err_set(e, SIMPLER_ERR_INVALID_ARGUMENT, "unknown run flags 0x%x", o->flags);
	if (!(o->flags & SIMPLER_RUN_CALLER_STREAM))
		return 0;
	if (!o->caller_stream)
		return err_set(e, SIMPLER_ERR_INVALID_ARGUMENT, "caller_stream is 0");
	return err_set(e, SIMPLER_ERR_UNSUPPORTED,
		       "caller streams exist on hardware platforms only");
}

/* Takes a run that is no longer waited for out of its slot; locked. */
static void run_detach_locked(struct simpler_worker *w, struct simpler_run *r)
{
	unsigned int i;

	for (i = 0; i < WORKER_DEPTH; i++)
		if (w->lane.slots[i].run == r)
			w->lane.slots[i].run = NULL;
}

/* Locked before and after; unlocked meanwhile, because a doorbell may be a system call. */
static void doorbell(struct simpler_worker *w)
{
	pthread_mutex_unlock(&w->lock);
	rts_stream_doorbell(w->lane.stream);
	pthread_mutex_lock(&w->lock);
}

/* Submits and waits; the run is over or detached afterwards. Locked before and after. */
static int run_locked(struct simpler_worker *w, struct bind_request *rq, struct simpler_run *r,
		      const struct rts_wait *wait, struct simpler_error *e)
{
	int rc = lane_submit(w, rq, r, wait, e);

	if (rc)
		return rc;
	/* without a deadline the wait itself executes the run if nobody else does */
	if (wait->deadline_ns != INT64_MAX)
		doorbell(w);
	rc = run_wait_locked(w, r, wait);
	if (!rc)
		return r->code;
	run_detach_locked(w, r);
	doorbell(w);
	return wait_error(r, rc, e);
}

int simpler_worker_run(struct simpler_worker *w, const struct simpler_callable_handle *handle,
		       const struct simpler_task_args *args,
		       const struct simpler_call_config *config,
		       const struct simpler_run_options *options)
{
	struct bind_request rq = { .handle = handle, .args = args, .config = config };
	struct worker_lease lease;
	struct simpler_error e;
	struct simpler_run r;
	struct rts_wait wait;
	int rc;

	if (worker_if_null(w, handle))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = options_check(options, &wait, &e);
	if (rc)
		return worker_failed(w, &e);
	rc = lease_begin(w, &lease, &e);
	if (rc)
		return worker_failed(w, &e);
	run_init(&r, w, 0);
	rc = run_locked(w, &rq, &r, &wait, &e);
	lease_end(w, &lease);
	if (!rc)
		return 0;
	return worker_failed(w, r.code ? &r.error : &e);
}

static struct simpler_run *run_create(struct simpler_worker *w)
{
	struct simpler_run *r = malloc(sizeof(*r));

	if (!r)
		return NULL;
	worker_get(w);
	run_init(r, w, 2);	/* the caller's and the slot's */
	return r;
}

int simpler_worker_submit(struct simpler_worker *w, const struct simpler_callable_handle *handle,
			  const struct simpler_task_args *args,
			  const struct simpler_call_config *config,
			  const struct simpler_run_options *options, struct simpler_run **out)
{
	struct bind_request rq = { .handle = handle, .args = args, .config = config };
	struct worker_lease lease;
	struct simpler_error e;
	struct simpler_run *r;
	struct rts_wait wait;
	int rc;

	if (worker_if_null(w, handle) || worker_if_null(w, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = options_check(options, &wait, &e);
	if (rc)
		return worker_failed(w, &e);
	rc = lease_begin(w, &lease, &e);
	if (rc)
		return worker_failed(w, &e);
	r = run_create(w);
	if (r)
		rc = lane_submit(w, &rq, r, &wait, &e);
	else
		rc = err_set(&e, SIMPLER_ERR_NO_MEMORY, "no memory for a run handle");
	if (!rc)
		doorbell(w);
	else if (r)
		run_put(r);
	lease_end(w, &lease);
	if (!rc) {
		*out = r;
		return 0;
	}
	simpler_run_put(r);
	return worker_failed(w, &e);
}
