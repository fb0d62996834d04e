/* SPDX-License-Identifier: MIT */
/* Admission of operations (worker-api §3.3), waiting for state, records of failures. */
#include <time.h>

#include "base/clock.h"
#include "rts/error.h"
#include "worker/worker.h"

#define INTERRUPT_POLL_NS INT64_C(20000000)

static const char *const state_names[] = {
	[SIMPLER_WORKER_NEW] = "NEW",
	[SIMPLER_WORKER_INITIALIZING] = "INITIALIZING",
	[SIMPLER_WORKER_READY] = "READY",
	[SIMPLER_WORKER_FAILED] = "FAILED",
	[SIMPLER_WORKER_CLOSED] = "CLOSED",
};

int worker_check_ready_locked(struct simpler_worker *w, struct simpler_error *e)
{
	if (w->state == SIMPLER_WORKER_READY)
		return 0;
	err_set(e, SIMPLER_ERR_INVALID_STATE, "the Worker is %s, this needs READY",
		state_names[w->state]);
	if (w->state == SIMPLER_WORKER_FAILED)
		err_hint(e, "startup failed: close this Worker and create a new one");
	return SIMPLER_ERR_INVALID_STATE;
}

void lease_join_locked(struct simpler_worker *w, struct worker_lease *l)
{
	l->thread = pthread_self();
	list_add_tail(&w->leases, &l->node);
}

int lease_begin(struct simpler_worker *w, struct worker_lease *l, struct simpler_error *e)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	rc = worker_check_ready_locked(w, e);
	if (rc) {
		pthread_mutex_unlock(&w->lock);
		return rc;
	}
	lease_join_locked(w, l);
	return 0;
}

void lease_end(struct simpler_worker *w, struct worker_lease *l)
{
	list_del(&l->node);
	if (w->drains)
		pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

bool lease_held_locked(struct simpler_worker *w)
{
	struct worker_lease *l;

	list_for_each_entry(l, &w->leases, node)
		if (pthread_equal(l->thread, pthread_self()))
			return true;
	return false;
}

int worker_wait_changed_locked(struct simpler_worker *w, const struct rts_wait *wait)
{
	int64_t now = (int64_t)clock_mono_ns();
	int64_t until = wait->deadline_ns;
	struct timespec ts;

	if (now >= wait->deadline_ns)
		return SIMPLER_ERR_TIMEOUT;
	/* a condition variable cannot watch the check, so look at it now and then */
	if (wait->interrupted && until > now + INTERRUPT_POLL_NS)
		until = now + INTERRUPT_POLL_NS;
	ts = clock_to_timespec((uint64_t)until);
	pthread_cond_timedwait(&w->changed, &w->lock, &ts);
	if (!wait->interrupted)
		return 0;
	pthread_mutex_unlock(&w->lock);
	if (wait->interrupted(wait->arg)) {
		pthread_mutex_lock(&w->lock);
		return SIMPLER_ERR_INTERRUPTED;
	}
	pthread_mutex_lock(&w->lock);
	return 0;
}

/* The calling thread's record, else an unused one, else the oldest. */
static struct worker_error_record *record_choose(struct simpler_worker *w)
{
	struct worker_error_record *best = &w->errors[0];
	unsigned int i;

	for (i = 0; i < WORKER_ERROR_RECORDS; i++) {
		struct worker_error_record *r = &w->errors[i];

		if (r->serial && pthread_equal(r->thread, pthread_self()))
			return r;
		if (r->serial < best->serial)
			best = r;
	}
	return best;
}

bool worker_null(struct simpler_worker *w, const char *function, const char *argument)
{
	struct simpler_error e;

	err_null(&e, function, argument);
	worker_failed(w, &e);
	return true;
}

int worker_failed(struct simpler_worker *w, const struct simpler_error *e)
{
	struct worker_error_record *r;

	pthread_mutex_lock(&w->lock);
	r = record_choose(w);
	r->thread = pthread_self();
	r->serial = ++w->error_serial;
	r->error = *e;
	if (r->error.chip < 0 && w->level == 2)
		r->error.chip = w->config.device_id;
	pthread_mutex_unlock(&w->lock);
	return e->code;
}

struct simpler_error *simpler_worker_last_error(struct simpler_worker *w,
						struct simpler_error *error)
{
	const struct worker_error_record *best = &w->errors[0];
	unsigned int i;

	err_clear(error);
	pthread_mutex_lock(&w->lock);
	for (i = 0; i < WORKER_ERROR_RECORDS; i++) {
		const struct worker_error_record *r = &w->errors[i];

		if (r->serial && pthread_equal(r->thread, pthread_self())) {
			best = r;
			break;
		}
		if (r->serial > best->serial)
			best = r;
	}
	if (best->serial)
		*error = best->error;
	pthread_mutex_unlock(&w->lock);
	return error;
}
