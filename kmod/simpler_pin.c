// SPDX-License-Identifier: GPL-2.0-only
/*
 * HOST_MAP: memory of the caller, pinned for as long as the device may reach it.
 * The device is given DMA addresses of pages; it never sees a user pointer.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "simpler_drv.h"
#include "simpler_trace.h"

static u64 bytes_of(const struct simpler_mapping *mapping)
{
	return (u64)mapping->page_count << PAGE_SHIFT;
}

static enum dma_data_direction direction(const struct simpler_mapping *mapping)
{
	return mapping->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

static int account(struct simpler_mapping *mapping)
{
	int ret = account_locked_vm(current->mm, mapping->page_count, true);

	if (ret)
		return -EPERM;
	mapping->owner = current->mm;
	mmgrab(mapping->owner);
	return 0;
}

static void unaccount(struct simpler_mapping *mapping)
{
	account_locked_vm(mapping->owner, mapping->page_count, false);
	mmdrop(mapping->owner);
}

static void unpin(struct simpler_mapping *mapping, unsigned long count)
{
	unpin_user_pages_dirty_lock(mapping->pages, count, mapping->writable);
	kvfree(mapping->pages);
}

static int pin(struct simpler_mapping *mapping, u64 address)
{
	unsigned int flags = FOLL_LONGTERM | (mapping->writable ? FOLL_WRITE : 0);
	unsigned long done = 0;

	mapping->pages = kvmalloc_array(mapping->page_count, sizeof(*mapping->pages), GFP_KERNEL);
	if (!mapping->pages)
		return -ENOMEM;
	while (done < mapping->page_count) {
		int count = min_t(unsigned long, mapping->page_count - done, INT_MAX);

		count = pin_user_pages_fast(address + done * PAGE_SIZE, count, flags,
					    mapping->pages + done);
		if (count <= 0) {
			unpin(mapping, done);
			return count ? count : -EFAULT;
		}
		done += count;
	}
	return 0;
}

static int map_dma(struct simpler_device *sdev, struct simpler_mapping *mapping)
{
	int ret;

	ret = sg_alloc_table_from_pages(&mapping->table, mapping->pages, mapping->page_count, 0,
					bytes_of(mapping), GFP_KERNEL);
	if (ret)
		return ret;
	ret = dma_map_sgtable(sdev->drm.dev, &mapping->table, direction(mapping), 0);
	if (ret)
		sg_free_table(&mapping->table);
	return ret;
}

static void unmap_dma(struct simpler_device *sdev, struct simpler_mapping *mapping)
{
	dma_unmap_sgtable(sdev->drm.dev, &mapping->table, direction(mapping), 0);
	sg_free_table(&mapping->table);
}

/* Pages in hand, reachable for the device's bus; undone by release_pages_of(). */
static int take_pages(struct simpler_ctx *ctx, struct simpler_mapping *mapping, u64 address)
{
	int ret;

	ret = account(mapping);
	if (ret)
		return ret;
	ret = pin(mapping, address);
	if (ret)
		goto unaccount;
	ret = map_dma(ctx->sdev, mapping);
	if (ret)
		goto unpin;
	atomic64_add(bytes_of(mapping), &ctx->pinned_bytes);
	return 0;

unpin:
	unpin(mapping, mapping->page_count);
unaccount:
	unaccount(mapping);
	return ret;
}

static void release_pages_of(struct simpler_ctx *ctx, struct simpler_mapping *mapping)
{
	atomic64_sub(bytes_of(mapping), &ctx->pinned_bytes);
	unmap_dma(ctx->sdev, mapping);
	unpin(mapping, mapping->page_count);
	unaccount(mapping);
}

static void leave(struct simpler_ctx *ctx, struct simpler_mapping *mapping)
{
	u64 addr = mapping->node.start, bytes = mapping->node.size;

	lockdep_assert_held(&ctx->lock);
	simpler_vm_unmap(&ctx->vm, addr, bytes);
	simpler_ctx_sync(ctx, addr, bytes);
	simpler_vm_free_dead(ctx->sdev, &ctx->vm);
	drm_mm_remove_node(&mapping->node);
}

static int enter(struct simpler_ctx *ctx, struct simpler_mapping *mapping)
{
	u64 bytes = bytes_of(mapping);
	int ret;

	lockdep_assert_held(&ctx->lock);
	ret = simpler_vm_reserve(&ctx->vm, &mapping->node, bytes);
	if (ret)
		return ret;
	ret = simpler_vm_map_sgt(ctx->sdev, &ctx->vm, mapping->node.start, bytes,
				 &mapping->table, mapping->writable);
	if (!ret)
		ret = simpler_ctx_announce(ctx, mapping->node.start, bytes);
	if (!ret)
		ret = xa_err(xa_store(&ctx->vm.pins, mapping->node.start >> PAGE_SHIFT, mapping,
				      GFP_KERNEL));
	if (ret)
		leave(ctx, mapping);
	return ret;
}

static int host_map(struct simpler_ctx *ctx, struct drm_simpler_host_map *args)
{
	struct simpler_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	int ret;

	if (!mapping)
		return -ENOMEM;
	mapping->page_count = args->size >> PAGE_SHIFT;
	mapping->writable = !(args->flags & DRM_SIMPLER_HOST_READ_ONLY);
	ret = take_pages(ctx, mapping, args->address);
	if (ret)
		goto free;
	mutex_lock(&ctx->lock);
	ret = enter(ctx, mapping);
	args->device_address = mapping->node.start;
	mutex_unlock(&ctx->lock);
	if (ret)
		goto release;
	trace_simpler_map(ctx->sdev, ctx->id, args->device_address, args->size);
	return 0;

release:
	release_pages_of(ctx, mapping);
free:
	kfree(mapping);
	return ret;
}

int simpler_ioctl_host_map(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_simpler_host_map *args = data;
	u64 end;
	int ret;

	if (args->pad || args->flags & ~DRM_SIMPLER_HOST_READ_ONLY || !args->size)
		return -EINVAL;
	if (!PAGE_ALIGNED(args->address) || !PAGE_ALIGNED(args->size) ||
	    check_add_overflow(args->address, args->size, &end) || end > ULONG_MAX)
		return -EINVAL;
	if (!access_ok(u64_to_user_ptr(args->address), args->size))
		return -EFAULT;
	if (args->size > BIT_ULL(SIMPLER_HW_VA_BITS))
		return -ENOSPC;
	if (simpler_exceeds_ram(args->size))
		return -ENOMEM;
	ret = simpler_check_usable(to_simpler_device(drm));
	return ret ? ret : host_map(to_simpler_ctx(file), args);
}

void simpler_pin_release(struct simpler_ctx *ctx, struct simpler_mapping *mapping)
{
	trace_simpler_unmap(ctx->sdev, ctx->id, mapping->node.start, mapping->node.size);
	xa_erase(&ctx->vm.pins, mapping->node.start >> PAGE_SHIFT);
	leave(ctx, mapping);
	release_pages_of(ctx, mapping);
	kfree(mapping);
}

int simpler_ioctl_host_unmap(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct simpler_ctx *ctx = to_simpler_ctx(file);
	struct drm_simpler_host_unmap *args = data;
	struct simpler_mapping *mapping = NULL;

	if (args->pad || args->flags)
		return -EINVAL;
	mutex_lock(&ctx->lock);
	if (PAGE_ALIGNED(args->device_address))
		mapping = xa_load(&ctx->vm.pins, args->device_address >> PAGE_SHIFT);
	if (mapping)
		simpler_pin_release(ctx, mapping);
	mutex_unlock(&ctx->lock);
	return mapping ? 0 : -ENOENT;
}
