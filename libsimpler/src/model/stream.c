// SPDX-License-Identifier: MIT
/* Streams: rings of commands and their execution in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/context.h"

#define NORMAL_PRIORITY 1u

static size_t ring_bytes(uint32_t entries)
{
	return sizeof(struct simpler_hw_ring) + (size_t)entries * SIMPLER_HW_CMD_BYTES;
}

static bool ring_entries_ok(uint32_t entries)
{
	return entries >= SIMPLER_HW_RING_MIN_ENTRIES && entries <= SIMPLER_HW_RING_MAX_ENTRIES &&
	       !(entries & (entries - 1));
}

/* Counts the stream and numbers it; false: there are too many. */
static bool count_stream(struct model *m, uint32_t *id)
{
	bool room;

	pthread_mutex_lock(&m->mutex);
	room = m->streams < m->regs.max_streams;
	if (room)
		m->streams++;
	*id = m->stream_serial++;
	pthread_mutex_unlock(&m->mutex);
	return room;
}

static int new_stream(struct model_context *c, struct simpler_hw_ring *ring, uint32_t entries,
		      struct model_stream **out)
{
	struct model_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->context = c;
	s->ring = ring;
	s->entries = entries;
	if (!count_stream(c->model, &s->id)) {
		free(s);
		return -ENOSPC;
	}
	*out = s;
	return 0;
}

/* Behind those of higher priority. */
static void link_stream(struct model_stream *s, uint32_t priority)
{
	struct model_context *c = s->context;
	struct model_stream **link = &c->streams;

	s->priority = priority;
	pthread_mutex_lock(&c->mutex);
	while (*link && (*link)->priority > priority)
		link = &(*link)->next;
	s->next = *link;
	*link = s;
	pthread_mutex_unlock(&c->mutex);
}

int model_stream_create(struct model_context *c, uint32_t entries, struct model_stream **out)
{
	struct simpler_hw_ring *ring;
	int rc;

	if (!ring_entries_ok(entries))
		return -EINVAL;
	ring = aligned_alloc(64, ring_bytes(entries));
	if (!ring)
		return -ENOMEM;
	memset(ring, 0, ring_bytes(entries));
	rc = new_stream(c, ring, entries, out);
	if (rc)
		free(ring);
	else
		link_stream(*out, NORMAL_PRIORITY);
	return rc;
}

int model_stream_create_at(struct model_context *c, struct simpler_hw_ring *ring, uint32_t entries,
			   uint32_t id, uint32_t priority, struct model_stream **out)
{
	int rc;

	if (!ring_entries_ok(entries) || (uintptr_t)ring % 64)
		return -EINVAL;
	rc = new_stream(c, ring, entries, out);
	if (rc)
		return rc;
	(*out)->id = id;
	(*out)->foreign = true;
	ring->consumer = 0;
	ring->error = 0;
	ring->error_seqno = 0;
	ring_store64(&ring->completed, 0);
	ring_store(&ring->state, SIMPLER_HW_STREAM_READY);
	link_stream(*out, priority);
	return 0;
}

void stream_free(struct model_stream *s)
{
	struct model *m = s->context->model;

	pthread_mutex_lock(&m->mutex);
	m->streams--;
	pthread_mutex_unlock(&m->mutex);
	if (!s->foreign)
		free(s->ring);
	free(s);
}

static void unlink_stream(struct model_stream *s)
{
	struct model_context *c = s->context;
	struct model_stream **link = &c->streams;

	pthread_mutex_lock(&c->mutex);
	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	pthread_mutex_unlock(&c->mutex);
}

int model_stream_destroy(struct model_stream *s)
{
	struct model_context *c = s->context;
	uint64_t deadline = clock_mono_ns() + 2 * (uint64_t)c->engine.no_progress_ms * 1000000;

	/* release: pairs with the acquire in run_stream() */
	atomic_store_explicit(&s->dying, true, memory_order_release);
	while (!context_claim(c)) {
		/* acquire: pairs with the release in context_notify() */
		uint32_t seen = atomic_load_explicit(&c->event, memory_order_acquire);

		atomic_fetch_add(&c->sleepers, 1);
		context_sleep(c, seen, clock_mono_ns() + 1000000);
		atomic_fetch_sub(&c->sleepers, 1);
		if (clock_passed(deadline)) {
			atomic_store_explicit(&s->dying, false, memory_order_release);
			return -EBUSY;
		}
	}
	if (c->launching == s) {
		/* a thread left it half-way; finish it here */
		context_end_launch(c);
	}
	unlink_stream(s);
	context_release(c);
	stream_free(s);
	return 0;
}

struct simpler_hw_ring *model_stream_ring(struct model_stream *s)
{
	return s->ring;
}

static struct simpler_hw_cmd *command_at(struct model_stream *s, uint32_t index)
{
	struct simpler_hw_cmd *first = (struct simpler_hw_cmd *)(s->ring + 1);

	return &first[index & (s->entries - 1)];
}

static void note_failure(struct model_stream *s, const struct simpler_hw_cmd *cmd, int rc)
{
	s->failed_batch = cmd->batch;
	if (!s->ring->error) {
		s->ring->error_seqno = s->completed + 1;
		__atomic_store_n(&s->ring->error, rc, __ATOMIC_RELEASE);
	}
}

/* Somebody sleeps until this sequence number, or the command itself asked. */
static void interrupt(struct model_stream *s)
{
	const struct model_config *config = &s->context->model->config;
	uint64_t wanted;

	if (!config->events)
		return;
	/*
	 * seq_cst: completed was written before; pairs with the waiter's full barrier between
	 * writing irq_seqno and reading completed
	 */
	atomic_thread_fence(memory_order_seq_cst);
	wanted = __atomic_load_n(&s->ring->irq_seqno, __ATOMIC_RELAXED);
	if (s->interrupt || wanted == s->completed)
		config->events->interrupt(config->events_arg, s->id);
	s->interrupt = false;
}

static void complete(struct model_stream *s)
{
	s->consumer++;
	s->completed++;
	ring_store64(&s->ring->completed, s->completed);
	ring_store(&s->ring->consumer, s->consumer);
	interrupt(s);
	context_notify(s->context);
}

/* A chip that is served to others ends a context with its first fault. */
static void ban(struct model_context *c)
{
	const struct model_config *config = &c->model->config;

	if (c->banned)
		return;
	c->banned = true;
	pthread_mutex_lock(&c->mutex);
	for (struct model_stream *s = c->streams; s; s = s->next)
		ring_store(&s->ring->state, SIMPLER_HW_STREAM_BANNED);
	pthread_mutex_unlock(&c->mutex);
	config->events->fault(config->events_arg, &c->fault);
}

static bool skipped(const struct model_stream *s, const struct simpler_hw_cmd *cmd)
{
	return cmd->batch && cmd->batch == s->failed_batch && !(cmd->flags & SIMPLER_HW_CMD_ALWAYS);
}

/* A producer index that is further ahead than the ring is long comes from a broken producer. */
static bool hostile(struct model_stream *s, uint32_t producer)
{
	if (producer - s->consumer <= s->entries)
		return false;
	if (s->ring->state != SIMPLER_HW_STREAM_BANNED) {
		/* release, both: who sees the state (acquire in model_wait_seqno()) sees the error */
		__atomic_store_n(&s->ring->error, -EINVAL, __ATOMIC_RELEASE);
		ring_store(&s->ring->state, SIMPLER_HW_STREAM_BANNED);
		model_fault(s, SIMPLER_HW_FAULT_BAD_COMMAND, producer);
	}
	return true;
}

/* One command of @s: 0 done, -ENODATA none, COMMAND_LATER, COMMAND_LEFT. */
static int run_next(struct model_stream *s, const struct model_wait *wait)
{
	int rc = 0;

	/* one that has begun is not read again: the producer could have changed it */
	if (!s->begun) {
		uint32_t producer = ring_load(&s->ring->producer);

		if (producer == s->consumer || hostile(s, producer))
			return -ENODATA;
		s->command = *command_at(s, s->consumer);
	}
	if (!skipped(s, &s->command))
		rc = command_execute(s, &s->command, wait);
	s->begun = rc > 0;
	if (rc > 0)
		return rc;
	if (rc)
		note_failure(s, &s->command, rc);
	complete(s);
	return 0;
}

/* Until @seqno, or until nothing can go on. */
static int run_stream(struct model_stream *s, uint64_t seqno, const struct model_wait *wait,
		      bool *any, bool *blocked)
{
	while (s->completed < seqno) {
		int rc;

		/* acquire: pairs with the releases of the destroy functions */
		if (atomic_load_explicit(&s->dying, memory_order_acquire) ||
		    atomic_load_explicit(&s->context->destroying, memory_order_acquire))
			return 0;
		rc = s->context->banned ? -ENODATA : run_next(s, wait);
		if (s->context->faulted)
			ban(s->context);
		if (rc == -ENODATA)
			return 0;
		if (rc == COMMAND_LATER) {
			*blocked = true;
			return 0;
		}
		if (rc == COMMAND_LEFT)
			return -EINTR;
		*any = true;
	}
	return 0;
}

static struct model_stream *stream_after(struct model_context *c, struct model_stream *s)
{
	struct model_stream *next;

	pthread_mutex_lock(&c->mutex);
	next = s ? s->next : c->streams;
	pthread_mutex_unlock(&c->mutex);
	return next;
}

/* What @s may complete before streams of higher priority are looked at again. */
static uint64_t turn_of(struct model_context *c, struct model_stream *s, uint64_t seqno)
{
	struct model_stream *first = stream_after(c, NULL);

	if (first->priority == s->priority || seqno <= s->completed)
		return seqno;
	return s->completed + 1;
}

int stream_process(struct model_context *c, struct model_stream *target, uint64_t seqno,
		   const struct model_wait *wait, bool *blocked)
{
	struct model_stream *s;
	bool any = false;
	int rc;

	/*
	 * A launch that its thread left half-way comes first, even of a dying stream: the
	 * engine is taken.  acquire: pairs with the release in seize()
	 */
	if (c->launching && !atomic_load_explicit(&c->destroying, memory_order_acquire) &&
	    run_next(c->launching, wait) == COMMAND_LEFT)
		return -EINTR;
	if (target) {
		rc = run_stream(target, seqno, wait, &any, blocked);
		if (rc || target->completed >= seqno)
			return rc;
	}
	do {
		any = false;
		*blocked = false;
		for (s = stream_after(c, NULL); s; s = stream_after(c, s)) {
			uint64_t until = turn_of(c, s, s == target ? seqno : UINT64_MAX);

			rc = run_stream(s, until, wait, &any, blocked);
			if (rc || (target && target->completed >= seqno))
				return rc;
			if (any && until != UINT64_MAX)
				break;
		}
	} while (any);
	return 0;
}
