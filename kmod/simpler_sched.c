// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs.  One scheduler with one entity per kernel-mode stream: the order of jobs is
 * the order of SUBMIT, and a job's credits are its commands, so that a running job
 * always has its slots in the ring.
 */
#include <linux/iopoll.h>
#include <linux/slab.h>

#include "simpler_drv.h"
#include "simpler_features.h"
#include "simpler_stream.h"
#include "simpler_trace.h"

/* Between completing a command and giving back its slot the device does nothing else. */
#define ROOM_TIMEOUT_US	100000

#ifdef SIMPLER_HAVE_SCHED_STAT_RESET
#define STAT_RECOVERED	DRM_GPU_SCHED_STAT_RESET
#else
#define STAT_RECOVERED	DRM_GPU_SCHED_STAT_NOMINAL
#endif

static struct simpler_job *to_simpler_job(struct drm_sched_job *base)
{
	return container_of(base, struct simpler_job, base);
}

static u32 free_slots(struct simpler_stream *stream)
{
	u32 used = (u32)stream->produced - simpler_read(stream->ring->consumer);

	/* pairs with the device's release of consumer: it has read the slots before */
	dma_rmb();
	return used > stream->entries ? 0 : stream->entries - used;
}

static void write_commands(struct simpler_stream *stream, const struct simpler_job *job)
{
	u32 i;

	for (i = 0; i < job->count; i++) {
		u32 slot = (stream->produced + i) & (stream->entries - 1);

		simpler_copy_words(&stream->commands[slot], &job->commands[i],
				   SIMPLER_HW_CMD_BYTES);
	}
}

/* From here on the job counts as run; 0, or why it must not. */
static int commit(struct simpler_stream *stream, struct simpler_job *job)
{
	struct simpler_fence *fence = job->fence;
	int ret;

	spin_lock_irq(&stream->lock);
	ret = stream->end_error;
	if (!ret) {
		simpler_fence_init(fence, stream, job->seqno - job->count + 1, job->seqno);
		job->fence = NULL;
		job->running = dma_fence_get(&fence->base);
		list_add_tail(&fence->link, &stream->fences);
		stream->produced += job->count;
	}
	spin_unlock_irq(&stream->lock);
	return ret;
}

static int publish(struct simpler_stream *stream, struct simpler_job *job)
{
	u32 room;
	int ret = READ_ONCE(stream->end_error);

	if (ret)
		return ret;	/* what is queued ends without a look at the ring */
	if (job->seqno - job->count != stream->produced)
		return -ECANCELED;	/* an earlier job was never run: the stream is ending */
	ret = read_poll_timeout(free_slots, room, room >= job->count, 1, ROOM_TIMEOUT_US, false,
				stream);
	if (ret) {
		/* The ring of an ended stream means nothing: no reason for another reset. */
		if (!READ_ONCE(stream->end_error))
			simpler_reset_request(stream->sdev,
					      "it does not give back slots of a ring");
		return -EIO;
	}
	write_commands(stream, job);
	ret = commit(stream, job);
	if (ret)
		return ret;
	/* pairs with the device's acquire of producer: the commands are older */
	dma_wmb();
	simpler_write(stream->ring->producer, (u32)stream->produced);
	simpler_doorbell(stream->sdev, simpler_stream_doorbell(stream->sdev, stream->hw_id));
	/* sets irq_seqno; the device may have been faster */
	simpler_stream_poll(stream);
	return 0;
}

static struct dma_fence *run_job(struct drm_sched_job *base)
{
	struct simpler_job *job = to_simpler_job(base);
	struct simpler_stream *stream = job->stream;
	int idx, ret;

	if (!drm_dev_enter(&stream->sdev->drm, &idx))
		return ERR_PTR(-ENODEV);
	ret = publish(stream, job);
	trace_simpler_run(stream->sdev, stream->hw_id, job->seqno, job->count, ret);
	drm_dev_exit(idx);
	return ret ? ERR_PTR(ret) : dma_fence_get(job->running);
}

static void ban_for_timeout(struct simpler_job *job)
{
	struct simpler_stream *stream = job->stream;
	struct simpler_device *sdev = stream->sdev;
	struct drm_simpler_fault fault = {
		.code = SIMPLER_HW_FAULT_WATCHDOG,
		.stream = stream->hw_id,
		.core = SIMPLER_NO_ID,
		.func_id = SIMPLER_NO_ID,
		.seqno = READ_ONCE(stream->seen) + 1,
		.task = U64_MAX,
	};

	simpler_counter_add(sdev, SIMPLER_COUNTER_TIMEOUTS);
	mutex_lock(&sdev->contexts_lock);
	simpler_ctx_ban(stream->ctx, &fault);
	mutex_unlock(&sdev->contexts_lock);
}

static bool finished_meanwhile(struct simpler_job *job)
{
	int idx;

	if (drm_dev_enter(&job->stream->sdev->drm, &idx)) {
		simpler_stream_poll(job->stream);
		drm_dev_exit(idx);
	}
	return job->running && dma_fence_is_signaled(job->running);
}

/* On sdev->wq, after timeout_ms of a job at the head. */
static enum drm_gpu_sched_stat timedout_job(struct drm_sched_job *base)
{
	struct simpler_job *job = to_simpler_job(base);
	struct drm_gpu_scheduler *sched = base->sched;

	/* Puts the job back on the list of running ones, without its callback. */
	drm_sched_stop(sched, base);
	if (!finished_meanwhile(job))
		ban_for_timeout(job);
#ifdef SIMPLER_HAVE_SCHED_START_ERRNO
	drm_sched_start(sched, 0);
#else
	drm_sched_start(sched);
#endif
	return STAT_RECOVERED;
}

void simpler_job_free(struct simpler_job *job)
{
	struct simpler_stream *stream = job->stream;

	if (job->fence)
		simpler_fence_free_unused(job->fence);
	dma_fence_put(job->running);
	kvfree(job->commands);
	kfree(job);
	/* Under the lock: who waits for the last job frees the stream. */
	spin_lock_irq(&stream->lock);
	if (!--stream->jobs)
		wake_up(&stream->jobs_wait);
	spin_unlock_irq(&stream->lock);
}

static void free_job(struct drm_sched_job *base)
{
	drm_sched_job_cleanup(base);
	simpler_job_free(to_simpler_job(base));
}

static const struct drm_sched_backend_ops sched_ops = {
	.run_job = run_job,
	.timedout_job = timedout_job,
	.free_job = free_job,
};

static int init_scheduler(struct simpler_stream *stream, u32 timeout_ms)
{
	struct simpler_device *sdev = stream->sdev;
	long timeout = msecs_to_jiffies(timeout_ms ? timeout_ms : simpler_job_timeout_ms);
#ifdef SIMPLER_HAVE_SCHED_INIT_ARGS
	const struct drm_sched_init_args args = {
		.ops = &sched_ops,
		.submit_wq = sdev->submit_wq,
		.timeout_wq = sdev->wq,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = stream->entries,
		.timeout = timeout,
		.name = sdev->name,
		.dev = sdev->drm.dev,
	};

	return drm_sched_init(&stream->sched, &args);
#else
	return drm_sched_init(&stream->sched, &sched_ops, sdev->submit_wq,
			      DRM_SCHED_PRIORITY_COUNT, stream->entries, 0, timeout, sdev->wq,
			      NULL, sdev->name, sdev->drm.dev);
#endif
}

int simpler_sched_init(struct simpler_stream *stream, u32 timeout_ms)
{
	struct drm_gpu_scheduler *sched = &stream->sched;
	int ret;

	ret = init_scheduler(stream, timeout_ms);
	if (ret)
		return ret;
	ret = drm_sched_entity_init(&stream->entity, DRM_SCHED_PRIORITY_NORMAL, &sched, 1, NULL);
	if (ret) {
		drm_sched_fini(sched);
		return ret;
	}
	stream->has_sched = true;
	return 0;
}

/*
 * The stream has ended on the device: what runs has been completed with an error, and
 * what is queued ends as soon as what it waits for does, which all fences do.
 */
void simpler_sched_fini(struct simpler_stream *stream)
{
	drm_sched_entity_destroy(&stream->entity);
	spin_lock_irq(&stream->lock);
	wait_event_lock_irq(stream->jobs_wait, !stream->jobs, stream->lock);
	spin_unlock_irq(&stream->lock);
	drm_sched_fini(&stream->sched);
	stream->has_sched = false;
}

int simpler_job_init(struct simpler_job *job, struct simpler_stream *stream,
		     struct drm_file *file)
{
#ifdef SIMPLER_HAVE_SCHED_JOB_CLIENT
	return drm_sched_job_init(&job->base, &stream->entity, job->count, stream,
				  file->client_id);
#else
	return drm_sched_job_init(&job->base, &stream->entity, job->count, stream);
#endif
}
