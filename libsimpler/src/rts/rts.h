/* SPDX-License-Identifier: MIT */
/*
 * Run-time services from the inside: what the Worker builds on.  The public face
 * is simpler/rts.h.
 *
 * A stream is a ring of simpler_hw.h; this side is its producer.  Functions
 * named rts_stream_* expect the caller to serialise producers of one stream;
 * the public functions do that with the stream's own lock.
 *
 * Lives.  A stream is destroyed whenever its owner wants; an event recorded on
 * it may still be asked, and another stream may have a WAIT for it in its ring.
 * What these two need is struct rts_fence, which is counted: the stream holds a
 * reference, each event to that of its latest recording, and each WAIT command
 * one until the waiting stream has passed it.  Destroying the stream ends all
 * of its commands, so the fence then counts as passed: its word takes the
 * largest value, which lets WAIT commands go on.
 */
#ifndef SIMPLER_RTS_RTS_H
#define SIMPLER_RTS_RTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rts/transport.h"
#include "simpler/rts.h"
#include "simpler_hw.h"

struct simpler_device {
	const struct rts_transport *ops;
	const struct rts_platform *platform;
	void *priv;
	const struct simpler_hw_regs *regs;
	int32_t id;
	_Atomic uint32_t children;	/* contexts */
};

struct simpler_context {
	struct simpler_device *device;
	const struct rts_transport *ops;
	void *priv;
	_Atomic uint32_t children;	/* streams and events */
};

struct simpler_stream {
	struct simpler_context *context;
	const struct rts_transport *ops;
	void *priv;
	struct simpler_hw_ring *ring;
	struct simpler_hw_cmd *cmds;
	uint32_t entries;
	uint64_t queued;		/* commands written; published or about to be */
	pthread_mutex_t lock;		/* producer side, of the public functions */
	struct rts_fence *fence;	/* words that FENCE commands of this stream write */
	uint64_t fence_value;		/* last value of the events' timeline that is queued */
	uint64_t proof;			/* serial of rts_stream_run() */
	struct stream_use *uses;	/* host memory and fences of queued commands; lock */
};

#define RTS_FENCE_TIMELINE	0	/* word that grows with every recording */
#define RTS_FENCE_PROOF		1	/* word of rts_stream_run() */

/* Memory shared with the chip, in which other streams see how far a stream is. */
struct rts_fence {
	_Atomic uint32_t refs;
	struct simpler_context *context;
	uint64_t *words;
	uint64_t addr;			/* as the chip sees @words */
	pthread_mutex_t lock;
	struct simpler_stream *stream;	/* NULL once destroyed; lock */
};

/* A place in a stream. */
struct rts_recording {
	struct rts_fence *fence;	/* NULL: none */
	uint64_t seqno;
	uint64_t value;			/* of the timeline's word */
};

struct simpler_event {
	struct simpler_context *context;
	pthread_mutex_t lock;
	struct rts_recording at;	/* the latest; lock */
};

/** rts_code - public code of a transport's errno */
int rts_code(int err);

/** rts_wait_init - turn a relative wait into a deadline; SIMPLER_ERR_TIMEOUT_VALUE */
int rts_wait_init(struct rts_wait *to, const struct simpler_wait *from);

/** rts_device_open - simpler_device_open() over a given transport */
int rts_device_open(const struct rts_transport *ops, const struct rts_platform *platform,
		    int32_t device_id, struct simpler_device **out);

int rts_stream_create(struct simpler_context *c, uint32_t entries, struct simpler_stream **out);

/* Commands that fit now. */
uint32_t rts_stream_room(const struct simpler_stream *s);
/* Writes one command behind the others; needs room. The chip sees it after rts_stream_publish(). */
void rts_stream_push(struct simpler_stream *s, const struct simpler_hw_cmd *cmd);
/* Hands the written commands over and returns the sequence number of the last one. */
uint64_t rts_stream_publish(struct simpler_stream *s);
/* Tells the chip; not needed when the caller waits at once and without a deadline. */
void rts_stream_doorbell(struct simpler_stream *s);

uint64_t rts_stream_completed(const struct simpler_stream *s);
/* True once the context of the stream has faulted: later commands are aborted. */
bool rts_stream_banned(const struct simpler_stream *s);
/*
 * Code of the stream's first failed command if it is in [first, last], else 0; of
 * completed commands, but not for launches, whose status tells more.
 */
int rts_stream_error(const struct simpler_stream *s, uint64_t first, uint64_t last);

/*
 * Queues one command under the stream's lock; waits only when the ring is full.  No
 * doorbell.  0 with the command's sequence number, or SIMPLER_ERR_DEVICE_LOST.
 */
int rts_stream_queue(struct simpler_stream *s, const struct simpler_hw_cmd *cmd, uint64_t *seqno);

/** rts_stream_wait - 0, SIMPLER_ERR_TIMEOUT, _INTERRUPTED, _DEVICE_LOST */
int rts_stream_wait(struct simpler_stream *s, uint64_t seqno, const struct rts_wait *wait);

/** rts_stream_run - queue one command, wait for it, return its outcome; one at a time per stream */
int rts_stream_run(struct simpler_stream *s, const struct simpler_hw_cmd *cmd);

/* With one reference. SIMPLER_ERR_NO_MEMORY */
int rts_fence_create(struct simpler_context *c, struct rts_fence **out);
struct rts_fence *rts_fence_get(struct rts_fence *f);
/* Accepts NULL. */
void rts_fence_put(struct rts_fence *f);
/* Ends the transport's stream, and with it all recordings; on failure nothing has changed. */
int rts_fence_end(struct rts_fence *f, struct simpler_stream *s);
/* Queues the command behind which @at lies; @at->fence is a reference of the caller's. */
int rts_stream_record(struct simpler_stream *s, struct rts_recording *at);
/* Holds later commands of @s back until @at has been passed. */
int rts_stream_await(struct simpler_stream *s, const struct rts_recording *at);

#endif /* SIMPLER_RTS_RTS_H */
