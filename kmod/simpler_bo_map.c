// SPDX-License-Identifier: GPL-2.0-only
/*
 * A handle of a buffer is its mapping in the address space of the file: made when
 * the first handle is, whether by BO_CREATE or by PRIME_FD_TO_HANDLE, and undone with
 * the last one.
 */
#include <linux/slab.h>

#include "simpler_bo.h"
#include "simpler_drv.h"
#include "simpler_trace.h"

static unsigned long key_of(struct drm_gem_object *object)
{
	/* Objects are at least pointer aligned; xarrays are flattest for small steps. */
	return (unsigned long)object / sizeof(void *);
}

static int enter(struct simpler_ctx *ctx, struct simpler_mapping *mapping)
{
	struct drm_gem_object *object = mapping->object;
	struct sg_table *table;

	if (simpler_is_device_bo(object))
		return simpler_vm_map_extent(ctx->sdev, &ctx->vm, mapping->node.start,
					     &to_simpler_bo(object)->extent);
	table = drm_gem_shmem_get_pages_sgt(to_drm_gem_shmem_obj(object));
	if (IS_ERR(table))
		return PTR_ERR(table);
	return simpler_vm_map_sgt(ctx->sdev, &ctx->vm, mapping->node.start, object->size, table,
				  true);
}

static void leave(struct simpler_ctx *ctx, struct simpler_mapping *mapping)
{
	u64 addr = mapping->node.start, bytes = mapping->node.size;

	simpler_vm_unmap(&ctx->vm, addr, bytes);
	simpler_ctx_sync(ctx, addr, bytes);
	simpler_vm_free_dead(ctx->sdev, &ctx->vm);
	drm_mm_remove_node(&mapping->node);
}

static int place(struct simpler_ctx *ctx, struct simpler_mapping *mapping)
{
	int ret;

	ret = simpler_vm_reserve(&ctx->vm, &mapping->node, mapping->object->size);
	if (ret)
		return ret;
	ret = enter(ctx, mapping);
	if (!ret)
		ret = simpler_ctx_announce(ctx, mapping->node.start, mapping->node.size);
	if (ret)
		leave(ctx, mapping);
	return ret;
}

static int map_object(struct simpler_ctx *ctx, struct simpler_mapping *mapping)
{
	int ret;

	ret = place(ctx, mapping);
	if (ret)
		return ret;
	ret = xa_err(xa_store(&ctx->vm.objects, key_of(mapping->object), mapping, GFP_KERNEL));
	if (ret) {
		leave(ctx, mapping);
		return ret;
	}
	drm_gem_object_get(mapping->object);	/* put by unmap_object() */
	return 0;
}

static int create_mapping(struct simpler_ctx *ctx, struct drm_gem_object *object)
{
	struct simpler_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	int ret;

	if (!mapping)
		return -ENOMEM;
	mapping->object = object;
	mapping->handles = 1;
	ret = map_object(ctx, mapping);
	if (ret)
		kfree(mapping);
	else
		trace_simpler_map(ctx->sdev, ctx->id, mapping->node.start, object->size);
	return ret;
}

int simpler_bo_open(struct drm_gem_object *object, struct drm_file *file)
{
	struct simpler_ctx *ctx = to_simpler_ctx(file);
	struct simpler_mapping *mapping;
	int ret = 0;

	mutex_lock(&ctx->lock);
	mapping = xa_load(&ctx->vm.objects, key_of(object));
	if (mapping)
		mapping->handles++;
	else
		ret = create_mapping(ctx, object);
	mutex_unlock(&ctx->lock);
	return ret;
}

static void unmap_object(struct simpler_ctx *ctx, struct simpler_mapping *mapping)
{
	trace_simpler_unmap(ctx->sdev, ctx->id, mapping->node.start, mapping->node.size);
	xa_erase(&ctx->vm.objects, key_of(mapping->object));
	leave(ctx, mapping);
	drm_gem_object_put(mapping->object);
	kfree(mapping);
}

void simpler_bo_close(struct drm_gem_object *object, struct drm_file *file)
{
	struct simpler_ctx *ctx = to_simpler_ctx(file);
	struct simpler_mapping *mapping;

	mutex_lock(&ctx->lock);
	mapping = xa_load(&ctx->vm.objects, key_of(object));
	/* none: another thread closed a handle that was just being made */
	if (mapping && !--mapping->handles)
		unmap_object(ctx, mapping);
	mutex_unlock(&ctx->lock);
}

u64 simpler_bo_address(struct drm_gem_object *object, struct drm_file *file)
{
	struct simpler_ctx *ctx = to_simpler_ctx(file);
	struct simpler_mapping *mapping;
	u64 addr;

	mutex_lock(&ctx->lock);
	mapping = xa_load(&ctx->vm.objects, key_of(object));
	addr = mapping ? mapping->node.start : 0;
	mutex_unlock(&ctx->lock);
	return addr;
}
