/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams.  A stream's completions are found by simpler_stream_poll(), from an
 * interrupt, the watchdog or a waiter; whoever wants to hear of sequence number n
 * is in @waiters or has a fence in @fences, and irq_seqno of the ring is the lowest
 * of those.
 */
#ifndef SIMPLER_STREAM_H
#define SIMPLER_STREAM_H

#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <drm/gpu_scheduler.h>

#include "simpler_hw.h"

struct drm_device;
struct drm_file;
struct simpler_bo;
struct simpler_ctx;
struct simpler_device;

struct simpler_stream {
	struct kref ref;
	struct simpler_ctx *ctx;		/* valid until @dead */
	struct simpler_device *sdev;
	u32 id;					/* in the file */
	u32 hw_id;
	u32 entries;
	u32 priority;
	bool user;
	bool dead;				/* destroyed; under @submit_lock */

	struct simpler_bo *ring_bo;		/* referenced */
	struct simpler_hw_ring *ring;
	struct simpler_hw_cmd *commands;

	struct list_head vector_link;
	spinlock_t lock;			/* protects the next group */
	struct list_head waiters;
	struct list_head fences;
	u64 seen;				/* completed, when last looked at */
	u32 orphan_ticks;			/* of the watchdog: banned without a fault record */
	int end_error;				/* no more completions come; why */
	wait_queue_head_t wait;

	struct drm_gpu_scheduler sched;		/* kernel-mode streams */
	struct drm_sched_entity entity;
	bool has_sched;
	struct mutex submit_lock;		/* order of jobs; protects @submitted, @dead */
	u64 submitted;				/* sequence number of the last job */
	u64 produced;				/* commands in the ring; run_job only */
	u64 fence_context;
	wait_queue_head_t jobs_wait;
	u32 jobs;				/* allocated and not freed; under @lock */
	struct rcu_head rcu;
};

/* Signals once the stream completed @seqno. */
struct simpler_fence {
	struct dma_fence base;
	spinlock_t lock;			/* of @base; the stream may be gone before */
	struct list_head link;			/* stream->fences */
	u64 first;				/* of the job's commands */
	u64 seqno;
	char timeline[24];
};

int simpler_ioctl_stream_create(struct drm_device *drm, void *data, struct drm_file *file);
int simpler_ioctl_stream_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int simpler_ioctl_stream_state(struct drm_device *drm, void *data, struct drm_file *file);
int simpler_ioctl_wait_seqno(struct drm_device *drm, void *data, struct drm_file *file);

/** simpler_stream_get - the file's stream, referenced; NULL unknown */
struct simpler_stream *simpler_stream_get(struct simpler_ctx *ctx, u32 id);
void simpler_stream_put(struct simpler_stream *stream);

/** simpler_stream_end - take one out of the file and end it; what it waits for is bounded */
void simpler_stream_end(struct simpler_stream *stream);

/** simpler_stream_poll - look for completions; true: there were some. drm_dev_enter()ed */
bool simpler_stream_poll(struct simpler_stream *stream);

/** simpler_stream_fail - no more completions come: complete all fences, wake waiters */
void simpler_stream_fail(struct simpler_stream *stream, int error);

/* simpler_fence.c */
struct simpler_fence *simpler_fence_create(struct simpler_stream *stream);
void simpler_fence_init(struct simpler_fence *fence, struct simpler_stream *stream, u64 first,
			u64 seqno);
void simpler_fence_free_unused(struct simpler_fence *fence);

/* simpler_sched.c */
struct simpler_job {
	struct drm_sched_job base;
	struct simpler_stream *stream;		/* counted in stream->jobs */
	struct simpler_hw_cmd *commands;
	u32 count;
	u64 seqno;				/* of the last command */
	struct simpler_fence *fence;		/* until run_job passes it on */
	struct dma_fence *running;		/* referenced, from then on */
};

int simpler_sched_init(struct simpler_stream *stream, u32 timeout_ms);
void simpler_sched_fini(struct simpler_stream *stream);
int simpler_job_init(struct simpler_job *job, struct simpler_stream *stream,
		     struct drm_file *file);
void simpler_job_free(struct simpler_job *job);

#endif /* SIMPLER_STREAM_H */
