/* SPDX-License-Identifier: MIT */
/*
 * Streams: the producer side of the ring protocol of simpler_hw.h, whose step
 * numbers the comments use.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "rts/rts.h"

#define STREAM_ENTRIES 256

int rts_wait_init(struct rts_wait *to, const struct simpler_wait *from)
{
	int64_t now;

	*to = (struct rts_wait){ .deadline_ns = INT64_MAX };
	if (!from)
		return 0;
	if (from->timeout_ns < 0)
		return SIMPLER_ERR_TIMEOUT_VALUE;
	to->interrupted = from->interrupted;
	to->arg = from->arg;
	if (from->timeout_ns == SIMPLER_FOREVER)
		return 0;
	now = (int64_t)clock_mono_ns();
	if (__builtin_add_overflow(now, from->timeout_ns, &to->deadline_ns))
		to->deadline_ns = INT64_MAX;
	return 0;
}

static int stream_map(struct simpler_stream *s, uint32_t entries)
{
	struct simpler_context *c = s->context;
	int rc = rts_fence_create(c, &s->fence);

	if (rc)
		return rc;
	rc = c->ops->stream_create(c->priv, entries, &s->priv);
	if (rc) {
		rts_fence_put(s->fence);
		return rts_code(rc);
	}
	s->fence->stream = s;
	s->ring = c->ops->stream_ring(s->priv);
	s->cmds = (struct simpler_hw_cmd *)(s->ring + 1);
	s->entries = entries;
	return 0;
}

int rts_stream_create(struct simpler_context *c, uint32_t entries, struct simpler_stream **out)
{
	struct simpler_stream *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return SIMPLER_ERR_NO_MEMORY;
	s->context = c;
	s->ops = c->ops;
	rc = stream_map(s, entries);
	if (rc) {
		free(s);
		return rc;
	}
	pthread_mutex_init(&s->lock, NULL);
	/* relaxed: ordering matters only when the count drops, see simpler_context_destroy() */
	atomic_fetch_add_explicit(&c->children, 1, memory_order_relaxed);
	*out = s;
	return 0;
}

int simpler_stream_create(struct simpler_context *c, struct simpler_stream **out)
{
	if (!c || !out)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return rts_stream_create(c, STREAM_ENTRIES, out);
}

/* ---- what commands in the ring still use ---- */

/* A mapping of host memory for a copy, or a reference to the fence of a wait. */
struct stream_use {
	struct stream_use *next;
	struct rts_fence *fence;	/* NULL: a mapping */
	uint64_t addr, bytes;		/* of the mapping */
	uint64_t seqno;			/* of the command */
};

static void use_end(struct simpler_stream *s, struct stream_use *u)
{
	if (u->fence)
		rts_fence_put(u->fence);
	else
		s->ops->host_unmap(s->context->priv, u->addr, u->bytes);
	free(u);
}

/* Ends the uses of commands up to @completed; the stream's lock is held, or it is unused. */
static void uses_end(struct simpler_stream *s, uint64_t completed)
{
	struct stream_use **link = &s->uses, *u;

	while ((u = *link)) {
		if (u->seqno > completed) {
			link = &u->next;
			continue;
		}
		*link = u->next;
		use_end(s, u);
	}
}

int simpler_stream_destroy(struct simpler_stream *s)
{
	int rc;

	if (!s)
		return 0;
	rc = rts_fence_end(s->fence, s);
	if (rc)
		return rc;
	uses_end(s, UINT64_MAX);
	rts_fence_put(s->fence);
	/* release: pairs with the acquire in simpler_context_destroy() */
	atomic_fetch_sub_explicit(&s->context->children, 1, memory_order_release);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return 0;
}

uint32_t rts_stream_room(const struct simpler_stream *s)
{
	/* acquire (step 1): pairs with the device's release of consumer (step 9) */
	uint32_t consumer = __atomic_load_n(&s->ring->consumer, __ATOMIC_ACQUIRE);

	return s->entries - ((uint32_t)s->queued - consumer);
}

void rts_stream_push(struct simpler_stream *s, const struct simpler_hw_cmd *cmd)
{
	s->cmds[s->queued & (s->entries - 1)] = *cmd;
	s->queued++;
}

uint64_t rts_stream_publish(struct simpler_stream *s)
{
	/* release (step 3): pairs with the device's acquire of producer (step 4) */
	__atomic_store_n(&s->ring->producer, (uint32_t)s->queued, __ATOMIC_RELEASE);
	return s->queued;
}

void rts_stream_doorbell(struct simpler_stream *s)
{
	s->ops->doorbell(s->priv);
}

uint64_t rts_stream_completed(const struct simpler_stream *s)
{
	/* acquire (step 10): pairs with the device's release of completed (step 8) */
	return __atomic_load_n(&s->ring->completed, __ATOMIC_ACQUIRE);
}

bool rts_stream_banned(const struct simpler_stream *s)
{
	/* relaxed: whoever acts on it also waits for completed, which orders the effects */
	return __atomic_load_n(&s->ring->state, __ATOMIC_RELAXED) != SIMPLER_HW_STREAM_READY;
}

int rts_stream_error(const struct simpler_stream *s, uint64_t first, uint64_t last)
{
	/* relaxed: the caller saw completed >= last by an acquire (step 10), paired with step 8 */
	int32_t error = __atomic_load_n(&s->ring->error, __ATOMIC_RELAXED);
	uint64_t seqno = __atomic_load_n(&s->ring->error_seqno, __ATOMIC_RELAXED);

	if (!error || seqno < first || seqno > last)
		return 0;
	return error <= SIMPLER_ERR_INTERNAL ? error : rts_code(error);
}

int rts_stream_wait(struct simpler_stream *s, uint64_t seqno, const struct rts_wait *wait)
{
	if (rts_stream_completed(s) >= seqno)
		return 0;
	return rts_code(s->ops->wait_seqno(s->priv, seqno, wait));
}

static const struct rts_wait stream_forever = { .deadline_ns = INT64_MAX };

/* Queues one command; the stream's lock is held, so that commands stay in call order. */
static int stream_enqueue_locked(struct simpler_stream *s, const struct simpler_hw_cmd *cmd,
				 uint64_t *seqno)
{
	int rc;

	if (!rts_stream_room(s)) {
		rc = rts_stream_wait(s, s->queued - s->entries + 1, &stream_forever);
		if (rc)
			return rc;
	}
	if (rts_stream_banned(s))
		return SIMPLER_ERR_DEVICE_LOST;
	rts_stream_push(s, cmd);
	*seqno = rts_stream_publish(s);
	return 0;
}

int rts_stream_queue(struct simpler_stream *s, const struct simpler_hw_cmd *cmd, uint64_t *seqno)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = stream_enqueue_locked(s, cmd, seqno);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/*
 * The command and a fence form a batch, and the chip skips the fence when the
 * command fails: the ring itself remembers only its first failure.
 */
static int stream_run_locked(struct simpler_stream *s, const struct simpler_hw_cmd *cmd)
{
	struct simpler_hw_cmd run = *cmd;
	struct simpler_hw_cmd proof = { .opcode = SIMPLER_HW_OP_FENCE };
	uint64_t *word = &s->fence->words[RTS_FENCE_PROOF];
	uint64_t seqno, last;
	int rc;

	run.batch = proof.batch = (uint32_t)++s->proof | 1u << 31;	/* never 0 */
	proof.fence.addr = s->fence->addr + RTS_FENCE_PROOF * sizeof(*word);
	proof.fence.value = s->proof;
	rc = stream_enqueue_locked(s, &run, &seqno);
	if (!rc)
		rc = stream_enqueue_locked(s, &proof, &last);
	if (!rc)
		rc = rts_stream_wait(s, last, &stream_forever);
	/* acquire: pairs with the device's release of the fence's value */
	if (rc || __atomic_load_n(word, __ATOMIC_ACQUIRE) == s->proof)
		return rc;
	if (rts_stream_banned(s))
		return SIMPLER_ERR_DEVICE_LOST;
	rc = rts_stream_error(s, seqno, seqno);
	return rc ? rc : SIMPLER_ERR_INVALID_ARGUMENT;
}

int rts_stream_run(struct simpler_stream *s, const struct simpler_hw_cmd *cmd)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = stream_run_locked(s, cmd);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static int stream_send(struct simpler_stream *s, const struct simpler_hw_cmd *cmd)
{
	uint64_t seqno;
	int rc = rts_stream_queue(s, cmd, &seqno);

	if (!rc)
		rts_stream_doorbell(s);
	return rc;
}

static int stream_copy(struct simpler_stream *s, uint64_t dst, uint64_t src, uint64_t bytes)
{
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_COPY,
		.copy = { .dst = dst, .src = src, .bytes = bytes },
	};

	return stream_send(s, &cmd);
}

/* Queues a command together with what it uses; on failure @u remains the caller's. */
static int enqueue_using(struct simpler_stream *s, const struct simpler_hw_cmd *cmd,
			 struct stream_use *u)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	uses_end(s, rts_stream_completed(s));
	rc = stream_enqueue_locked(s, cmd, &u->seqno);
	if (!rc) {
		u->next = s->uses;
		s->uses = u;
	}
	pthread_mutex_unlock(&s->lock);
	if (!rc)
		rts_stream_doorbell(s);
	return rc;
}

static int copy_host(struct simpler_stream *s, const void *host, uint64_t device, uint64_t bytes,
		     bool to_device)
{
	struct stream_use *u = calloc(1, sizeof(*u));
	struct simpler_hw_cmd cmd = { .opcode = SIMPLER_HW_OP_COPY, .copy = { .bytes = bytes } };
	int rc = u ? rts_code(s->ops->host_map(s->context->priv, host, bytes, &u->addr)) :
		     SIMPLER_ERR_NO_MEMORY;

	if (rc) {
		free(u);
		return rc;
	}
	u->bytes = bytes;
	cmd.copy.dst = to_device ? device : u->addr;
	cmd.copy.src = to_device ? u->addr : device;
	rc = enqueue_using(s, &cmd, u);
	if (rc)
		use_end(s, u);
	return rc;
}

int simpler_stream_copy_to_device(struct simpler_stream *s, uint64_t dst, const void *src,
				  uint64_t bytes)
{
	if (!s)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return copy_host(s, src, dst, bytes, true);
}

int simpler_stream_copy_from_device(struct simpler_stream *s, void *dst, uint64_t src,
				    uint64_t bytes)
{
	if (!s)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return copy_host(s, dst, src, bytes, false);
}

int simpler_stream_copy_on_device(struct simpler_stream *s, uint64_t dst, uint64_t src,
				  uint64_t bytes)
{
	if (!s)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return stream_copy(s, dst, src, bytes);
}

int simpler_stream_fill(struct simpler_stream *s, uint64_t dst, uint64_t bytes, uint64_t pattern,
			uint32_t width)
{
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_FILL,
		.fill = { .dst = dst, .bytes = bytes, .pattern = pattern, .width = width },
	};

	if (!s)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if ((width != 1 && width != 2 && width != 4 && width != 8) || bytes % width)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return stream_send(s, &cmd);
}

int simpler_stream_synchronize(struct simpler_stream *s, const struct simpler_wait *wait)
{
	struct rts_wait w;
	uint64_t seqno;
	int rc = rts_wait_init(&w, wait);

	if (!s)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (rc)
		return rc;
	pthread_mutex_lock(&s->lock);
	seqno = s->queued;
	pthread_mutex_unlock(&s->lock);
	rc = rts_stream_wait(s, seqno, &w);
	if (rc)
		return rc;
	rc = rts_stream_error(s, 1, seqno);
	return !rc && rts_stream_banned(s) ? SIMPLER_ERR_DEVICE_LOST : rc;
}

/* ---- for events ---- */

int rts_stream_record(struct simpler_stream *s, struct rts_recording *at)
{
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_FENCE,
		.fence = { .addr = s->fence->addr + RTS_FENCE_TIMELINE * sizeof(uint64_t) },
	};
	int rc;

	pthread_mutex_lock(&s->lock);
	cmd.fence.value = s->fence_value + 1;
	rc = stream_enqueue_locked(s, &cmd, &at->seqno);
	if (!rc)
		at->value = ++s->fence_value;
	pthread_mutex_unlock(&s->lock);
	if (rc)
		return rc;
	rts_stream_doorbell(s);
	at->fence = rts_fence_get(s->fence);
	return 0;
}

int rts_stream_await(struct simpler_stream *s, const struct rts_recording *at)
{
	struct stream_use *u = calloc(1, sizeof(*u));
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_WAIT,
		.wait = {
			.addr = at->fence->addr + RTS_FENCE_TIMELINE * sizeof(uint64_t),
			.value = at->value,
		},
	};
	int rc;

	if (!u)
		return SIMPLER_ERR_NO_MEMORY;
	u->fence = rts_fence_get(at->fence);
	rc = enqueue_using(s, &cmd, u);
	if (rc)
		use_end(s, u);
	return rc;
}
