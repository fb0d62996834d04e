/* SPDX-License-Identifier: MIT */
/*
 * Events, and the fence memory that they share with streams (rts.h).
 *
 * A recording is a place in a stream.  The memory in which that place shows
 * belongs to the stream, to events recorded there and to streams that wait for
 * such an event, so that none of them depends on the others' lives.
 */
#include <stdlib.h>

#include "rts/rts.h"

/* ---- fences ---- */

int rts_fence_create(struct simpler_context *c, struct rts_fence **out)
{
	struct rts_fence *f = calloc(1, sizeof(*f));
	void *words;
	int rc;

	if (!f)
		return SIMPLER_ERR_NO_MEMORY;
	rc = c->ops->shared_alloc(c->priv, SIMPLER_HW_CMD_BYTES, &words, &f->addr);
	if (rc) {
		free(f);
		return rts_code(rc);
	}
	atomic_init(&f->refs, 1);
	pthread_mutex_init(&f->lock, NULL);
	f->context = c;
	f->words = words;
	*out = f;
	return 0;
}

struct rts_fence *rts_fence_get(struct rts_fence *f)
{
	/* relaxed: the caller holds a reference already, which orders everything */
	atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
	return f;
}

void rts_fence_put(struct rts_fence *f)
{
	/* acq_rel: pairs with itself; the last put sees what the others did before theirs */
	if (!f || atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) != 1)
		return;
	f->context->ops->shared_free(f->context->priv, f->words, SIMPLER_HW_CMD_BYTES);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int rts_fence_end(struct rts_fence *f, struct simpler_stream *s)
{
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = rts_code(s->ops->stream_destroy(s->priv));
	if (!rc) {
		f->stream = NULL;
		/* release: pairs with the device's read of the word for a WAIT command */
		__atomic_store_n(&f->words[RTS_FENCE_TIMELINE], UINT64_MAX, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

/* ---- events ---- */

int simpler_event_create(struct simpler_context *c, struct simpler_event **out)
{
	struct simpler_event *e;

	if (!c || !out)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	e = calloc(1, sizeof(*e));
	if (!e)
		return SIMPLER_ERR_NO_MEMORY;
	e->context = c;
	pthread_mutex_init(&e->lock, NULL);
	/* relaxed: ordering matters only when the count drops, see simpler_context_destroy() */
	atomic_fetch_add_explicit(&c->children, 1, memory_order_relaxed);
	*out = e;
	return 0;
}

void simpler_event_destroy(struct simpler_event *e)
{
	if (!e)
		return;
	rts_fence_put(e->at.fence);
	/* release: pairs with the acquire in simpler_context_destroy() */
	atomic_fetch_sub_explicit(&e->context->children, 1, memory_order_release);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

int simpler_event_record(struct simpler_event *e, struct simpler_stream *s)
{
	struct rts_recording at, old;
	int rc;

	if (!e || !s || e->context != s->context)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = rts_stream_record(s, &at);
	if (rc)
		return rc;
	pthread_mutex_lock(&e->lock);
	old = e->at;
	e->at = at;
	pthread_mutex_unlock(&e->lock);
	rts_fence_put(old.fence);
	return 0;
}

/* The latest recording with a reference to its fence, which is NULL if there is none. */
static struct rts_recording event_get(const struct simpler_event *e)
{
	struct simpler_event *locked = (struct simpler_event *)e;
	struct rts_recording at;

	pthread_mutex_lock(&locked->lock);
	at = e->at;
	if (at.fence)
		rts_fence_get(at.fence);
	pthread_mutex_unlock(&locked->lock);
	return at;
}

int simpler_stream_wait_event(struct simpler_stream *s, struct simpler_event *e)
{
	struct rts_recording at;
	int rc = 0;

	if (!s || !e)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	at = event_get(e);
	if (e->context != s->context)
		rc = SIMPLER_ERR_INVALID_ARGUMENT;
	else if (at.fence && at.fence != s->fence)
		rc = rts_stream_await(s, &at);
	rts_fence_put(at.fence);
	return rc;
}

int simpler_event_query(const struct simpler_event *e)
{
	const struct simpler_stream *s;
	struct rts_recording at;
	int passed;

	if (!e)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	at = event_get(e);
	if (!at.fence)
		return 1;
	pthread_mutex_lock(&at.fence->lock);
	s = at.fence->stream;
	passed = !s || rts_stream_completed(s) >= at.seqno;
	pthread_mutex_unlock(&at.fence->lock);
	rts_fence_put(at.fence);
	return passed;
}

int simpler_event_synchronize(struct simpler_event *e, const struct simpler_wait *wait)
{
	struct simpler_stream *s = NULL;
	struct rts_recording at;
	struct rts_wait w;
	int rc = rts_wait_init(&w, wait);

	if (!e)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	at = event_get(e);
	if (at.fence) {
		pthread_mutex_lock(&at.fence->lock);
		s = at.fence->stream;
		pthread_mutex_unlock(&at.fence->lock);
	}
	/* the stream may not be destroyed during this wait, see simpler/rts.h */
	if (!rc && s)
		rc = rts_stream_wait(s, at.seqno, &w);
	rts_fence_put(at.fence);
	return rc;
}
