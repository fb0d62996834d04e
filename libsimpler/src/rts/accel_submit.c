/* SPDX-License-Identifier: MIT */
/*
 * Kernel-mode streams: rts writes commands into a ring of this process, which
 * nobody else sees; a kick hands them to the driver, and a thread brings back
 * how far the stream is, so that the ring looks as a device would keep it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/log.h"
#include "rts/accel.h"

#define COLLECT_NS	100000000	/* the thread looks whether it is to end */

struct accel_submitter {
	pthread_mutex_t lock;		/* kicks */
	uint32_t taken;			/* commands handed over, as the ring's indices count */
	_Atomic uint32_t queued;	/* bumped when there is more; the thread sleeps on it */
	_Atomic uint64_t last;		/* sequence number of the last command handed over */
	_Atomic bool stop;
	pthread_t thread;
};

/* ---- handing over ---- */

static int submit(struct accel_stream *s, const struct simpler_hw_cmd *first, uint32_t count)
{
	struct drm_simpler_submit job = {
		.stream = s->id,
		.commands = { .stride = sizeof(*first), .count = count,
			      .array = (uint64_t)(uintptr_t)first },
	};

	return accel_ioctl(s->context->fd, DRM_IOCTL_SIMPLER_SUBMIT, &job);
}

static void ban(struct accel_stream *s)
{
	/* release: pairs with the acquire in whoever looks why nothing completes */
	__atomic_store_n(&s->ring->state, SIMPLER_HW_STREAM_BANNED, __ATOMIC_RELEASE);
}

/* Commands up to the ring's end, then those from its start. */
static int hand_over(struct accel_stream *s, uint32_t producer)
{
	const struct simpler_hw_cmd *ring = (const struct simpler_hw_cmd *)(s->ring + 1);
	struct accel_submitter *t = s->submitter;
	uint32_t most = s->context->device->info.max_commands;

	while (t->taken != producer) {
		uint32_t at = t->taken & (s->entries - 1);
		uint32_t count = producer - t->taken;
		int rc;

		if (count > s->entries - at)
			count = s->entries - at;
		if (count > most)
			count = most;
		rc = submit(s, &ring[at], count);
		if (rc)
			return rc;
		t->taken += count;
		/* release: pairs with the thread's acquire; what is submitted can be waited for */
		atomic_fetch_add_explicit(&t->last, count, memory_order_release);
	}
	return 0;
}

void accel_submitter_kick(struct accel_stream *s)
{
	struct accel_submitter *t = s->submitter;
	/* acquire (step 4): pairs with the release of rts_stream_publish() (step 3) */
	uint32_t producer = __atomic_load_n(&s->ring->producer, __ATOMIC_ACQUIRE);
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	/* a later kick may have been faster */
	if (producer - t->taken <= s->entries)
		rc = hand_over(s, producer);
	pthread_mutex_unlock(&t->lock);
	if (rc) {
		log_error("the driver refused commands of stream %u: %s", s->id, strerror(-rc));
		ban(s);
	}
	/* release: pairs with the acquire before the thread sleeps */
	atomic_fetch_add_explicit(&t->queued, 1, memory_order_release);
	futex_wake(&t->queued, INT_MAX, 0);
}

/* ---- bringing back ---- */

static void publish(struct accel_stream *s, const struct drm_simpler_stream_state *state)
{
	struct simpler_hw_ring *ring = s->ring;

	if (state->error) {
		/* relaxed: the release of completed orders them */
		__atomic_store_n(&ring->error_seqno, state->error_seqno, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->error, state->error, __ATOMIC_RELAXED);
	}
	/* release (steps 8 and 9): pair with the acquires of rts (steps 10 and 1) */
	__atomic_store_n(&ring->completed, state->completed, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->consumer, (uint32_t)state->completed, __ATOMIC_RELEASE);
}

void accel_submitter_refresh(struct accel_stream *s)
{
	struct drm_simpler_stream_state state = { .stream = s->id };
	struct accel_submitter *t = s->submitter;

	pthread_mutex_lock(&t->lock);
	if (!accel_ioctl(s->context->fd, DRM_IOCTL_SIMPLER_STREAM_STATE, &state) &&
	    state.completed > __atomic_load_n(&s->ring->completed, __ATOMIC_RELAXED))
		publish(s, &state);
	pthread_mutex_unlock(&t->lock);
}

static void collect(struct accel_stream *s, uint64_t completed)
{
	int64_t until = (int64_t)clock_mono_ns() + COLLECT_NS;
	uint64_t now;
	int rc = accel_wait_once(s, completed + 1, until, &now);

	if (!rc || rc == -ENODEV)
		accel_submitter_refresh(s);
	if (rc == -ENODEV)
		ban(s);
}

static bool is_banned(const struct accel_stream *s)
{
	/* acquire: pairs with the release in ban() */
	return __atomic_load_n(&s->ring->state, __ATOMIC_ACQUIRE) == SIMPLER_HW_STREAM_BANNED;
}

static void *collector_main(void *arg)
{
	struct accel_stream *s = arg;
	struct accel_submitter *t = s->submitter;

	/* acquire: pairs with the release in accel_submitter_close() */
	while (!atomic_load_explicit(&t->stop, memory_order_acquire)) {
		/* acquire: pairs with the release in accel_submitter_kick() */
		uint32_t seen = atomic_load_explicit(&t->queued, memory_order_acquire);
		/* relaxed: a waiter may have brought it back; then there is less to wait for */
		uint64_t completed = __atomic_load_n(&s->ring->completed, __ATOMIC_RELAXED);

		/* acquire: pairs with the release in hand_over() */
		if (!is_banned(s) &&
		    completed < atomic_load_explicit(&t->last, memory_order_acquire))
			collect(s, completed);
		else if (!atomic_load_explicit(&t->stop, memory_order_acquire))
			futex_wait(&t->queued, seen, CLOCK_NEVER, 0);
	}
	return NULL;
}

/* ---- life ---- */

/* Signals of the application are for its own threads. */
static int start_thread(struct accel_stream *s)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->submitter->thread, NULL, collector_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

int accel_submitter_open(struct accel_stream *s)
{
	struct accel_submitter *t = calloc(1, sizeof(*t));
	size_t bytes = sizeof(*s->ring) + s->entries * sizeof(struct simpler_hw_cmd);
	int rc = -ENOMEM;

	s->ring = t ? aligned_alloc(64, bytes) : NULL;
	if (!s->ring)
		goto free_submitter;
	memset(s->ring, 0, bytes);
	pthread_mutex_init(&t->lock, NULL);
	s->submitter = t;
	rc = start_thread(s);
	if (!rc)
		return 0;
	pthread_mutex_destroy(&t->lock);
	free(s->ring);
	s->ring = NULL;
free_submitter:
	free(t);
	s->submitter = NULL;
	return rc;
}

void accel_submitter_close(struct accel_stream *s)
{
	struct accel_submitter *t = s->submitter;

	/* release: pairs with the acquires in collector_main() */
	atomic_store_explicit(&t->stop, true, memory_order_release);
	atomic_fetch_add_explicit(&t->queued, 1, memory_order_release);
	futex_wake(&t->queued, INT_MAX, 0);
	pthread_join(t->thread, NULL);
	pthread_mutex_destroy(&t->lock);
	free(s->ring);
	free(t);
}
