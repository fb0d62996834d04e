// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT: all that can fail is done on a job that nobody knows (prepare); from the
 * marked line on nothing fails any more.
 */
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_syncobj.h>

#include "simpler_drv.h"
#include "simpler_inject.h"
#include "simpler_stream.h"
#include "simpler_submit.h"
#include "simpler_trace.h"

/* What a job will signal. */
struct signal {
	struct drm_syncobj *syncobj;		/* referenced */
	struct dma_fence_chain *chain;		/* for a timeline, owned until used */
	u64 point;
};

struct submission {
	struct simpler_job *job;		/* until pushed */
	bool job_inited;
	struct signal *signals;
	u32 signal_count;
};

/*
 * copy_array - copy extensible elements from user memory
 *
 * Return: memory of count * bytes for kvfree(), or ERR_PTR: -EINVAL stride below @bytes,
 * -E2BIG unknown tail not zero or stride beyond a page, -EFAULT, -ENOMEM.
 */
static void *copy_array(const struct drm_simpler_array *in, size_t bytes)
{
	void __user *from = u64_to_user_ptr(in->array);
	void *copy;
	u32 i;
	int ret = 0;

	if (in->stride < bytes)
		return ERR_PTR(-EINVAL);
	/* a limit to what is looked through */
	if (in->stride > PAGE_SIZE)
		return ERR_PTR(-E2BIG);
	copy = kvmalloc_array(in->count, bytes, GFP_KERNEL);
	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (in->stride == bytes)
		ret = copy_from_user(copy, from, in->count * bytes) ? -EFAULT : 0;
	else
		for (i = 0; i < in->count && !ret; i++)
			ret = copy_struct_from_user(copy + i * bytes, bytes,
						    from + (u64)i * in->stride, in->stride);
	if (ret) {
		kvfree(copy);
		return ERR_PTR(ret);
	}
	return copy;
}

static int wait_for(struct submission *sub, struct drm_file *file,
		    const struct drm_simpler_sync *sync)
{
	struct dma_fence *fence;
	int ret;

	ret = drm_syncobj_find_fence(file, sync->handle, sync->point, 0, &fence);
	if (ret)
		return ret;
	return drm_sched_job_add_dependency(&sub->job->base, fence);	/* consumes it */
}

static int prepare_signal(struct submission *sub, struct drm_file *file,
			  const struct drm_simpler_sync *sync)
{
	struct signal *signal = &sub->signals[sub->signal_count];

	signal->syncobj = drm_syncobj_find(file, sync->handle);
	if (!signal->syncobj)
		return -ENOENT;
	sub->signal_count++;
	signal->point = sync->point;
	if (!(sync->flags & DRM_SIMPLER_SYNC_TIMELINE))
		return 0;
	signal->chain = dma_fence_chain_alloc();
	return signal->chain ? 0 : -ENOMEM;
}

static int check_sync(const struct drm_simpler_sync *sync)
{
	bool timeline = sync->flags & DRM_SIMPLER_SYNC_TIMELINE;

	if (sync->flags & ~(DRM_SIMPLER_SYNC_SIGNAL | DRM_SIMPLER_SYNC_TIMELINE))
		return -EINVAL;
	return timeline == !!sync->point ? 0 : -EINVAL;
}

static int prepare_sync(struct submission *sub, struct drm_file *file,
			const struct drm_simpler_sync *sync)
{
	int ret = check_sync(sync);

	if (ret)
		return ret;
	if (sync->flags & DRM_SIMPLER_SYNC_SIGNAL)
		return prepare_signal(sub, file, sync);
	return wait_for(sub, file, sync);
}

static int prepare_syncs(struct submission *sub, struct drm_file *file,
			 const struct drm_simpler_array *in)
{
	struct drm_simpler_sync *syncs;
	u32 i;
	int ret = 0;

	if (!in->count)
		return 0;
	syncs = copy_array(in, sizeof(*syncs));
	if (IS_ERR(syncs))
		return PTR_ERR(syncs);
	sub->signals = kvcalloc(in->count, sizeof(*sub->signals), GFP_KERNEL);
	if (!sub->signals)
		ret = -ENOMEM;
	for (i = 0; i < in->count && !ret; i++)
		ret = prepare_sync(sub, file, &syncs[i]);
	kvfree(syncs);
	return ret;
}

static int prepare_commands(struct simpler_job *job, const struct drm_simpler_array *in)
{
	u32 i;
	int ret = 0;

	job->commands = copy_array(in, sizeof(*job->commands));
	if (IS_ERR(job->commands)) {
		ret = PTR_ERR(job->commands);
		job->commands = NULL;
	}
	for (i = 0; i < in->count && !ret; i++)
		ret = simpler_check_command(&job->commands[i]);
	return ret;
}

static struct simpler_job *job_alloc(struct simpler_stream *stream, u32 count)
{
	struct simpler_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return NULL;
	job->stream = stream;
	job->count = count;
	spin_lock_irq(&stream->lock);
	stream->jobs++;
	spin_unlock_irq(&stream->lock);
	return job;
}

static int prepare(struct submission *sub, struct simpler_stream *stream, struct drm_file *file,
		   const struct drm_simpler_submit *args)
{
	struct simpler_job *job;
	int ret;

	if (simpler_inject(SIMPLER_FAIL_SUBMIT))
		return -EAGAIN;
	job = job_alloc(stream, args->commands.count);
	if (!job)
		return -ENOMEM;
	sub->job = job;
	ret = prepare_commands(job, &args->commands);
	if (ret)
		return ret;
	job->fence = simpler_fence_create(stream);
	if (!job->fence)
		return -ENOMEM;
	ret = simpler_job_init(job, stream, file);
	if (ret)
		return ret;
	sub->job_inited = true;
	return prepare_syncs(sub, file, &args->syncs);
}

static void publish_signal(struct signal *signal, struct dma_fence *fence)
{
	if (!signal->chain) {
		drm_syncobj_replace_fence(signal->syncobj, fence);
		return;
	}
	drm_syncobj_add_point(signal->syncobj, signal->chain, fence, signal->point);
	signal->chain = NULL;		/* the syncobj has it */
}

/* submit_lock held: jobs get their sequence numbers in the order in which they are queued. */
static void push(struct submission *sub, struct simpler_stream *stream,
		 struct drm_simpler_submit *args)
{
	struct simpler_job *job = sub->job;
	struct dma_fence *finished;
	u32 i;

	stream->submitted += job->count;
	job->seqno = stream->submitted;
	args->seqno = job->seqno;
	trace_simpler_submit(stream->sdev, stream->hw_id, job->seqno, job->count);
	/* ---- nothing fails from here on ---- */
	drm_sched_job_arm(&job->base);
	finished = &job->base.s_fence->finished;
	for (i = 0; i < sub->signal_count; i++)
		publish_signal(&sub->signals[i], finished);
	sub->job = NULL;	/* the scheduler's, and perhaps freed once it is pushed */
	drm_sched_entity_push_job(&job->base);
}

static void cleanup(struct submission *sub)
{
	u32 i;

	for (i = 0; i < sub->signal_count; i++) {
		dma_fence_chain_free(sub->signals[i].chain);
		drm_syncobj_put(sub->signals[i].syncobj);
	}
	kvfree(sub->signals);
	if (!sub->job)
		return;
	if (sub->job_inited)
		drm_sched_job_cleanup(&sub->job->base);
	simpler_job_free(sub->job);
}

static int submit_locked(struct simpler_stream *stream, struct drm_file *file,
			 struct drm_simpler_submit *args)
{
	struct submission sub = {};
	int ret;

	lockdep_assert_held(&stream->submit_lock);
	/* The scheduler is there until the stream is dead. */
	if (stream->dead)
		return -ENOENT;
	ret = prepare(&sub, stream, file, args);
	if (!ret)
		ret = simpler_ctx_error(stream->ctx);
	if (!ret)
		push(&sub, stream, args);
	cleanup(&sub);
	return ret;
}

static int submit(struct simpler_stream *stream, struct drm_file *file,
		  struct drm_simpler_submit *args)
{
	int ret;

	if (stream->user)
		return -EPERM;
	if (args->commands.count > stream->entries)
		return -EINVAL;
	ret = mutex_lock_interruptible(&stream->submit_lock);
	if (ret)
		return ret;
	ret = submit_locked(stream, file, args);
	mutex_unlock(&stream->submit_lock);
	return ret;
}

int simpler_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct simpler_ctx *ctx = to_simpler_ctx(file);
	struct drm_simpler_submit *args = data;
	struct simpler_stream *stream;
	int ret;

	if (args->flags || args->pad || !args->commands.count ||
	    args->commands.count > SIMPLER_MAX_COMMANDS || args->syncs.count > SIMPLER_MAX_SYNCS)
		return -EINVAL;
	stream = simpler_stream_get(ctx, args->stream);
	if (!stream)
		return -ENOENT;
	ret = simpler_ctx_error(ctx);
	if (!ret)
		ret = submit(stream, file, args);
	args->generation = READ_ONCE(ctx->generation);
	simpler_stream_put(stream);
	return ret;
}
