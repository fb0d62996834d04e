// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/slab.h>

#include "simpler_stream.h"

static struct simpler_fence *to_simpler_fence(struct dma_fence *fence)
{
	return container_of(fence, struct simpler_fence, base);
}

static const char *driver_name(struct dma_fence *fence)
{
	return "simpler";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return to_simpler_fence(fence)->timeline;
}

static void fence_release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
	.release = fence_release,
};

/*
 * A fence may be kept for as long as somebody likes, in a syncobj or a sync file, and
 * calls into this module until then: it holds the module, and has its own lock and
 * name because the stream may be gone.
 */
struct simpler_fence *simpler_fence_create(struct simpler_stream *stream)
{
	struct simpler_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return NULL;
	__module_get(THIS_MODULE);
	spin_lock_init(&fence->lock);
	INIT_LIST_HEAD(&fence->link);
	snprintf(fence->timeline, sizeof(fence->timeline), "stream%u", stream->hw_id);
	return fence;
}

void simpler_fence_init(struct simpler_fence *fence, struct simpler_stream *stream, u64 first,
			u64 seqno)
{
	fence->first = first;
	fence->seqno = seqno;
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, stream->fence_context, seqno);
}

void simpler_fence_free_unused(struct simpler_fence *fence)
{
	kfree(fence);
	module_put(THIS_MODULE);
}
