// SPDX-License-Identifier: GPL-2.0-only
#include <linux/log2.h>
#include <linux/slab.h>

#include <drm/drm_vma_manager.h>

#include "simpler_bo.h"
#include "simpler_drv.h"
#include "simpler_stream.h"
#include "simpler_trace.h"

#define MAX_TIMEOUT_MS	600000u

struct waiter {
	struct list_head link;		/* stream->waiters */
	u64 seqno;
};

static void stream_release(struct kref *ref)
{
	struct simpler_stream *stream = container_of(ref, struct simpler_stream, ref);

	if (stream->ring_bo)
		drm_gem_object_put(&stream->ring_bo->base);
	mutex_destroy(&stream->submit_lock);
	kfree_rcu(stream, rcu);
}

void simpler_stream_put(struct simpler_stream *stream)
{
	kref_put(&stream->ref, stream_release);
}

struct simpler_stream *simpler_stream_get(struct simpler_ctx *ctx, u32 id)
{
	struct simpler_stream *stream;

	rcu_read_lock();
	stream = xa_load(&ctx->streams, id);
	if (stream && !kref_get_unless_zero(&stream->ref))
		stream = NULL;
	rcu_read_unlock();
	return stream;
}

/* ---- completions ----------------------------------------------------------- */

static u64 read_completed(struct simpler_stream *stream)
{
	u64 completed = simpler_read(stream->ring->completed);

	/* pairs with the device's release of completed: results are older than it */
	dma_rmb();
	return completed;
}

/* The lowest sequence number somebody waits for; 0 none. */
static u64 next_target(struct simpler_stream *stream)
{
	struct simpler_fence *fence;
	struct waiter *waiter;
	u64 target = U64_MAX;

	lockdep_assert_held(&stream->lock);
	fence = list_first_entry_or_null(&stream->fences, struct simpler_fence, link);
	if (fence)
		target = fence->seqno;
	list_for_each_entry(waiter, &stream->waiters, link)
		if (waiter->seqno > stream->seen)
			target = min(target, waiter->seqno);
	return target == U64_MAX ? 0 : target;
}

/* Why the job of a fence failed, if it is the one with the stream's first failure. */
static int job_error(struct simpler_stream *stream, struct simpler_fence *fence)
{
	u64 seqno = simpler_read(stream->ring->error_seqno);
	s32 error = simpler_read(stream->ring->error);

	if (seqno < fence->first || seqno > fence->seqno || !error)
		return 0;
	return error < 0 && error >= -MAX_ERRNO ? error : -EIO;
}

static void signal_fences(struct simpler_stream *stream)
{
	struct simpler_fence *fence, *next;

	list_for_each_entry_safe(fence, next, &stream->fences, link) {
		int error;

		if (fence->seqno > stream->seen)
			break;
		list_del_init(&fence->link);
		error = job_error(stream, fence);
		if (error)
			dma_fence_set_error(&fence->base, error);
		trace_simpler_complete(stream->sdev, stream->hw_id, fence->seqno, error);
		dma_fence_signal(&fence->base);
		dma_fence_put(&fence->base);	/* the list's reference */
	}
}

/* A device cannot have completed what it was not given. */
static bool plausible(struct simpler_stream *stream, u64 completed)
{
	if (stream->user || completed <= stream->produced)
		return true;
	simpler_reset_request(stream->sdev, "it completed commands that it was not given");
	return false;
}

/*
 * Each round that follows another one retires at least one target, also if user
 * space owns the ring and changes its words all the time.
 */
static bool poll_locked(struct simpler_stream *stream)
{
	u64 completed = read_completed(stream);
	bool found = false;
	u64 target;

	do {
		if (!plausible(stream, completed))
			return found;
		if (completed > stream->seen) {
			stream->seen = completed;
			found = true;
		}
		signal_fences(stream);
		target = next_target(stream);
		simpler_write(stream->ring->irq_seqno, target);
		/* pairs with the device's barrier between completed and irq_seqno */
		mb();
		completed = read_completed(stream);
	} while (target && completed >= target);
	return found;
}

bool simpler_stream_poll(struct simpler_stream *stream)
{
	unsigned long flags;
	bool found = false;

	spin_lock_irqsave(&stream->lock, flags);
	if (!stream->end_error)
		found = poll_locked(stream);
	spin_unlock_irqrestore(&stream->lock, flags);
	if (found)
		wake_up_all(&stream->wait);
	return found;
}

void simpler_stream_fail(struct simpler_stream *stream, int error)
{
	struct simpler_fence *fence, *next;
	unsigned long flags;

	spin_lock_irqsave(&stream->lock, flags);
	if (!stream->end_error)
		stream->end_error = error;
	list_for_each_entry_safe(fence, next, &stream->fences, link) {
		list_del_init(&fence->link);
		dma_fence_set_error(&fence->base, error);
		trace_simpler_complete(stream->sdev, stream->hw_id, fence->seqno, error);
		dma_fence_signal(&fence->base);
		dma_fence_put(&fence->base);	/* the list's reference */
	}
	spin_unlock_irqrestore(&stream->lock, flags);
	wake_up_all(&stream->wait);
}

/* ---- creation and end -------------------------------------------------------- */

static int check_create(const struct drm_simpler_stream_create *args)
{
	bool user = args->flags & DRM_SIMPLER_STREAM_USER;

	if (args->flags & ~DRM_SIMPLER_STREAM_USER || args->pad)
		return -EINVAL;
	if (args->entries < SIMPLER_HW_RING_MIN_ENTRIES ||
	    args->entries > SIMPLER_HW_RING_MAX_ENTRIES || !is_power_of_2(args->entries))
		return -EINVAL;
	if (args->priority > DRM_SIMPLER_PRIORITY_HIGH)
		return -EINVAL;
	if (args->timeout_ms > MAX_TIMEOUT_MS || (user && args->timeout_ms))
		return -EINVAL;
	if (!(simpler_priority_mask() & BIT(args->priority)))
		return -EACCES;
	return 0;
}

static struct simpler_stream *stream_alloc(struct simpler_ctx *ctx,
					   const struct drm_simpler_stream_create *args)
{
	struct simpler_stream *stream = kzalloc(sizeof(*stream), GFP_KERNEL);

	if (!stream)
		return NULL;
	kref_init(&stream->ref);
	stream->ctx = ctx;
	stream->sdev = ctx->sdev;
	stream->hw_id = SIMPLER_NO_ID;
	stream->entries = args->entries;
	stream->priority = args->priority;
	stream->user = args->flags & DRM_SIMPLER_STREAM_USER;
	INIT_LIST_HEAD(&stream->vector_link);
	spin_lock_init(&stream->lock);
	INIT_LIST_HEAD(&stream->waiters);
	INIT_LIST_HEAD(&stream->fences);
	init_waitqueue_head(&stream->wait);
	init_waitqueue_head(&stream->jobs_wait);
	mutex_init(&stream->submit_lock);
	stream->fence_context = dma_fence_context_alloc(1);
	return stream;
}

static int create_ring(struct simpler_stream *stream)
{
	struct simpler_device *sdev = stream->sdev;
	u64 bytes = PAGE_ALIGN(sizeof(struct simpler_hw_ring) +
			       (u64)stream->entries * SIMPLER_HW_CMD_BYTES);
	struct simpler_bo *bo;
	u64 run;

	bo = simpler_bo_create(stream->ctx, bytes, DRM_SIMPLER_BO_CONTIGUOUS | SIMPLER_BO_RING);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	stream->ring_bo = bo;
	stream->ring = simpler_mem_ptr(sdev, simpler_mem_run(sdev, &bo->extent, 0, &run));
	stream->commands = (void *)(stream->ring + 1);
	return 0;
}

static int create_on_device(struct simpler_stream *stream)
{
	u64 ring = (void *)stream->ring - stream->sdev->res.memory;
	struct simpler_hw_admin command = {
		.opcode = SIMPLER_HW_ADMIN_STREAM_CREATE,
		.context = stream->ctx->id,
		.stream = {
			.stream = stream->hw_id,
			.entries = stream->entries,
			.ring = ring,
			.priority = stream->priority,
		},
	};
	int ret = simpler_admin_exec(stream->sdev, stream->ctx, &command);

	return ret == -ESTALE ? -EIO : ret;
}

static void destroy_on_device(struct simpler_stream *stream)
{
	struct simpler_hw_admin command = {
		.opcode = SIMPLER_HW_ADMIN_STREAM_DESTROY,
		.context = stream->ctx->id,
		.stream = { .stream = stream->hw_id },
	};
	int ret = simpler_admin_exec(stream->sdev, stream->ctx, &command);

	if (ret && ret != -ESTALE && ret != -ENODEV && ret != -ENOENT)
		simpler_reset_wait(stream->sdev, "a stream could not be destroyed");
}

static void listen(struct simpler_stream *stream)
{
	struct simpler_device *sdev = stream->sdev;
	struct simpler_vector *vector =
		&sdev->vectors[1 + stream->hw_id % (sdev->irq_vectors - 1)];

	spin_lock_irq(&vector->lock);
	list_add_tail(&stream->vector_link, &vector->streams);
	spin_unlock_irq(&vector->lock);
}

static void stop_listening(struct simpler_stream *stream)
{
	struct simpler_device *sdev = stream->sdev;
	struct simpler_vector *vector =
		&sdev->vectors[1 + stream->hw_id % (sdev->irq_vectors - 1)];

	spin_lock_irq(&vector->lock);
	list_del_init(&stream->vector_link);
	spin_unlock_irq(&vector->lock);
}

static int alloc_hw_id(struct simpler_stream *stream)
{
	struct simpler_device *sdev = stream->sdev;
	int ret = xa_alloc(&sdev->stream_ids, &stream->hw_id, stream,
			   XA_LIMIT(0, sdev->max_streams - 1), GFP_KERNEL);

	return ret == -EBUSY ? -ENOSPC : ret;
}

/* Takes a number in the file, under which nothing is found yet. */
static int reserve_id(struct simpler_stream *stream)
{
	return xa_alloc(&stream->ctx->streams, &stream->id, NULL, XA_LIMIT(1, U32_MAX),
			GFP_KERNEL);
}

static int stream_start(struct simpler_stream *stream, u32 timeout_ms)
{
	struct simpler_device *sdev = stream->sdev;
	int ret;

	ret = create_ring(stream);
	if (ret)
		return ret;
	ret = alloc_hw_id(stream);
	if (ret)
		return ret;
	ret = reserve_id(stream);
	if (ret)
		goto free_hw_id;
	ret = stream->user ? 0 : simpler_sched_init(stream, timeout_ms);
	if (ret)
		goto free_id;
	ret = create_on_device(stream);
	if (ret)
		goto fini_sched;
	listen(stream);
	return 0;

fini_sched:
	if (stream->has_sched)
		simpler_sched_fini(stream);
free_id:
	xa_erase(&stream->ctx->streams, stream->id);
free_hw_id:
	xa_erase(&sdev->stream_ids, stream->hw_id);
	return ret;
}

static int show_user(struct simpler_stream *stream, struct drm_simpler_stream_create *args,
		     struct drm_file *file)
{
	struct simpler_device *sdev = stream->sdev;
	struct drm_gem_object *object = &stream->ring_bo->base;
	int ret = drm_gem_create_mmap_offset(object);

	if (!ret)
		ret = drm_vma_node_allow(&object->vma_node, file);
	if (ret)
		return ret;
	WRITE_ONCE(stream->ctx->may_ring, true);
	args->ring_offset = drm_vma_node_offset_addr(&object->vma_node);
	args->ring_size = object->size;
	args->doorbell_offset = SIMPLER_DOORBELL_OFFSET;
	args->doorbell_size = PAGE_SIZE;
	args->doorbell_position = offset_in_page(sdev->doorbell_offset);
	args->doorbell_value = sdev->doorbell_base | simpler_stream_doorbell(sdev, stream->hw_id);
	return 0;
}

/* From here on other threads find the stream, and may destroy it. */
static int publish(struct simpler_stream *stream)
{
	/* allocates nothing, because the number is reserved */
	xa_store(&stream->ctx->streams, stream->id, stream, GFP_KERNEL);
	/* A ban or reset that came before has not seen this stream. */
	return simpler_ctx_error(stream->ctx);
}

static void tell(struct simpler_stream *stream, struct drm_simpler_stream_create *args)
{
	args->stream = stream->id;
	args->hw_stream = stream->hw_id;
	trace_simpler_stream(stream->sdev, stream->ctx->id, stream->hw_id, stream->entries,
			     stream->user);
}

/* ctx->lock held, drm_dev_enter()ed */
static int stream_create(struct simpler_ctx *ctx, struct drm_simpler_stream_create *args,
			 struct drm_file *file)
{
	struct simpler_stream *stream;
	int ret = simpler_ctx_ready(ctx);

	if (ret)
		return ret;
	if (atomic_read(&ctx->stream_count) >= simpler_max_file_streams)
		return -EDQUOT;
	stream = stream_alloc(ctx, args);
	if (!stream)
		return -ENOMEM;
	ret = stream_start(stream, args->timeout_ms);
	if (ret) {
		simpler_stream_put(stream);
		return ret;
	}
	atomic_inc(&ctx->stream_count);
	kref_get(&stream->ref);
	if (stream->user)
		ret = show_user(stream, args, file);
	if (!ret)
		ret = publish(stream);
	if (ret)
		simpler_stream_end(stream);
	else
		tell(stream, args);
	simpler_stream_put(stream);
	return ret;
}

static void clear_results(struct drm_simpler_stream_create *args)
{
	args->stream = 0;
	args->hw_stream = 0;
	args->ring_offset = 0;
	args->ring_size = 0;
	args->doorbell_offset = 0;
	args->doorbell_size = 0;
	args->doorbell_position = 0;
	args->doorbell_value = 0;
}

int simpler_ioctl_stream_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct simpler_device *sdev = to_simpler_device(drm);
	struct simpler_ctx *ctx = to_simpler_ctx(file);
	struct drm_simpler_stream_create *args = data;
	int idx, ret = check_create(args);

	if (ret)
		return ret;
	clear_results(args);
	if (args->flags & DRM_SIMPLER_STREAM_USER && !simpler_user_streams_possible(sdev))
		return -EOPNOTSUPP;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	mutex_lock(&ctx->lock);
	ret = stream_create(ctx, args, file);
	mutex_unlock(&ctx->lock);
	drm_dev_exit(idx);
	return ret;
}

/* True for the one caller that ends it. */
static bool claim_end(struct simpler_stream *stream)
{
	bool first;

	mutex_lock(&stream->submit_lock);
	first = !stream->dead;
	stream->dead = true;
	mutex_unlock(&stream->submit_lock);
	return first;
}

void simpler_stream_end(struct simpler_stream *stream)
{
	struct simpler_ctx *ctx = stream->ctx;

	if (!claim_end(stream))
		return;
	xa_erase(&ctx->streams, stream->id);
	destroy_on_device(stream);
	stop_listening(stream);
	simpler_stream_fail(stream, -ECANCELED);
	if (stream->has_sched)
		simpler_sched_fini(stream);
	xa_erase(&stream->sdev->stream_ids, stream->hw_id);
	drm_vma_node_revoke(&stream->ring_bo->base.vma_node, ctx->file);
	atomic_dec(&ctx->stream_count);
	simpler_stream_put(stream);	/* the one of creation */
}

int simpler_ioctl_stream_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_simpler_stream_destroy *args = data;
	struct simpler_stream *stream;

	if (args->pad)
		return -EINVAL;
	stream = simpler_stream_get(to_simpler_ctx(file), args->stream);
	if (!stream)
		return -ENOENT;
	simpler_stream_end(stream);
	simpler_stream_put(stream);
	return 0;
}

/* ---- state and waits ----------------------------------------------------------- */

static void read_state(struct simpler_stream *stream, struct drm_simpler_stream_state *args)
{
	struct simpler_device *sdev = stream->sdev;
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return;
	simpler_stream_poll(stream);
	args->error = simpler_read(stream->ring->error);
	args->error_seqno = simpler_read(stream->ring->error_seqno);
	args->generation = simpler_read(sdev->regs->generation);
	drm_dev_exit(idx);
}

int simpler_ioctl_stream_state(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct simpler_ctx *ctx = to_simpler_ctx(file);
	struct drm_simpler_stream_state *args = data;
	struct simpler_stream *stream = simpler_stream_get(ctx, args->stream);

	if (!stream)
		return -ENOENT;
	args->error = 0;
	args->error_seqno = 0;
	args->generation = 0;
	read_state(stream, args);
	args->context_state = READ_ONCE(ctx->state);
	args->submitted = READ_ONCE(stream->submitted);
	args->completed = READ_ONCE(stream->seen);
	simpler_stream_put(stream);
	return 0;
}

/* 0 goes on waiting, 1 done, else an error */
static int wait_state(struct simpler_stream *stream, u64 seqno)
{
	int end, idx;

	if (!drm_dev_enter(&stream->sdev->drm, &idx))
		return -ENODEV;
	simpler_stream_poll(stream);
	drm_dev_exit(idx);
	/* The end first: what completed before it has been seen before it. */
	end = READ_ONCE(stream->end_error);
	if (READ_ONCE(stream->seen) >= seqno)
		return 1;
	return end;
}

static int wait_until(struct simpler_stream *stream, u64 seqno, s64 deadline_ns)
{
	/* times are positive: the smallest deadline minus one would not fit */
	ktime_t left = deadline_ns == S64_MAX ? KTIME_MAX : max(deadline_ns, 0) - ktime_get();
	int state, ret;

	state = wait_state(stream, seqno);
	if (state)
		return state;
	if (left <= 0)
		return -ETIME;
	ret = wait_event_interruptible_hrtimeout(stream->wait,
						 (state = wait_state(stream, seqno)), left);
	return state ? state : ret;
}

int simpler_ioctl_wait_seqno(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_simpler_wait_seqno *args = data;
	struct waiter waiter = { .seqno = args->seqno };
	struct simpler_stream *stream;
	int ret;

	if (args->flags)
		return -EINVAL;
	stream = simpler_stream_get(to_simpler_ctx(file), args->stream);
	if (!stream)
		return -ENOENT;
	spin_lock_irq(&stream->lock);
	list_add_tail(&waiter.link, &stream->waiters);
	spin_unlock_irq(&stream->lock);
	ret = wait_until(stream, args->seqno, args->deadline_ns);
	spin_lock_irq(&stream->lock);
	list_del(&waiter.link);
	spin_unlock_irq(&stream->lock);
	if (ret > 0)
		args->completed = READ_ONCE(stream->seen);
	simpler_stream_put(stream);
	return ret > 0 ? 0 : ret;
}
