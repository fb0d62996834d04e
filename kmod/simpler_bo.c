// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>

#include "simpler_bo.h"
#include "simpler_drv.h"

#define CREATE_FLAGS	(DRM_SIMPLER_BO_HOST | DRM_SIMPLER_BO_WC | DRM_SIMPLER_BO_NO_MMAP | \
			 DRM_SIMPLER_BO_CONTIGUOUS)

static void bo_free(struct drm_gem_object *object)
{
	struct simpler_bo *bo = to_simpler_bo(object);

	drm_gem_object_release(object);
	simpler_mem_free(to_simpler_device(object->dev), &bo->extent);
	if (bo->account)
		simpler_account_uncharge(bo->account, object->size);
	if (bo->dummy)
		__free_page(bo->dummy);
	kfree(bo);
}

const struct drm_gem_object_funcs simpler_bo_funcs = {
	.free = bo_free,
	.open = simpler_bo_open,
	.close = simpler_bo_close,
	.mmap = simpler_bo_mmap,
};

static int host_bo_mmap(struct drm_gem_object *object, struct vm_area_struct *vma)
{
	if (to_simpler_host_bo(object)->flags & DRM_SIMPLER_BO_NO_MMAP)
		return -EACCES;
	return drm_gem_shmem_object_mmap(object, vma);
}

const struct drm_gem_object_funcs simpler_host_bo_funcs = {
	.free = drm_gem_shmem_object_free,
	.open = simpler_bo_open,
	.close = simpler_bo_close,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = host_bo_mmap,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

struct drm_gem_object *simpler_gem_create_object(struct drm_device *drm, size_t size)
{
	struct simpler_host_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->flags = DRM_SIMPLER_BO_HOST;
	bo->base.base.funcs = &simpler_host_bo_funcs;
	return &bo->base.base;
}

/* On failure the object is freed by its last reference, with what it got so far. */
static int fill(struct simpler_bo *bo, struct simpler_ctx *ctx)
{
	u32 flags = bo->flags & DRM_SIMPLER_BO_CONTIGUOUS ? SIMPLER_MEM_CONTIGUOUS : 0;
	int ret;

	ret = simpler_account_charge(ctx->sdev, ctx->account, bo->base.size);
	if (ret)
		return ret;
	bo->account = ctx->account;
	return simpler_mem_alloc(ctx->sdev, bo->base.size, flags, &bo->extent);
}

struct simpler_bo *simpler_bo_create(struct simpler_ctx *ctx, u64 bytes, u32 flags)
{
	struct simpler_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	int ret;

	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->flags = flags;
	bo->base.funcs = &simpler_bo_funcs;
	drm_gem_private_object_init(&ctx->sdev->drm, &bo->base, bytes);
	ret = fill(bo, ctx);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	return bo;
}

static struct drm_gem_object *host_bo_create(struct simpler_device *sdev, u64 bytes, u32 flags)
{
	struct drm_gem_shmem_object *shmem = drm_gem_shmem_create(&sdev->drm, bytes);

	if (IS_ERR(shmem))
		return ERR_CAST(shmem);
	shmem->map_wc = flags & DRM_SIMPLER_BO_WC;
	to_simpler_host_bo(&shmem->base)->flags = flags;
	return &shmem->base;
}

static struct drm_gem_object *create_object(struct simpler_ctx *ctx, u64 bytes, u32 flags)
{
	struct simpler_bo *bo;

	if (flags & DRM_SIMPLER_BO_HOST)
		return host_bo_create(ctx->sdev, bytes, flags);
	bo = simpler_bo_create(ctx, bytes, flags);
	return IS_ERR(bo) ? ERR_CAST(bo) : &bo->base;
}

static int check_create(struct simpler_device *sdev, const struct drm_simpler_bo_create *args)
{
	u32 flags = args->flags;

	if (flags & ~CREATE_FLAGS || !args->size)
		return -EINVAL;
	if (args->size > BIT_ULL(SIMPLER_HW_VA_BITS))
		return -ENOSPC;
	if (flags & DRM_SIMPLER_BO_HOST) {
		if (flags & DRM_SIMPLER_BO_CONTIGUOUS)
			return -EINVAL;
		return simpler_exceeds_ram(args->size) ? -ENOMEM : 0;
	}
	if (flags & DRM_SIMPLER_BO_WC)
		return -EINVAL;
	return args->size > sdev->memory_bytes ? -ENOSPC : 0;
}

int simpler_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct simpler_device *sdev = to_simpler_device(drm);
	struct drm_simpler_bo_create *args = data;
	struct drm_gem_object *object;
	u64 bytes = round_up(args->size, PAGE_SIZE);
	int ret = check_create(sdev, args);

	if (!ret)
		ret = simpler_check_usable(sdev);
	if (ret)
		return ret;
	object = create_object(to_simpler_ctx(file), bytes, args->flags);
	if (IS_ERR(object))
		return PTR_ERR(object);
	ret = drm_gem_handle_create(file, object, &args->handle);
	if (!ret) {
		args->size = bytes;
		args->device_address = simpler_bo_address(object, file);
	}
	drm_gem_object_put(object);	/* the handle has its own reference */
	return ret;
}

static u32 flags_of(struct drm_gem_object *object)
{
	if (simpler_is_device_bo(object))
		return to_simpler_bo(object)->flags;
	return to_simpler_host_bo(object)->flags |
	       (object->import_attach ? DRM_SIMPLER_BO_IMPORTED : 0);
}

int simpler_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_simpler_bo_mmap_offset *args = data;
	struct drm_gem_object *object;
	u32 flags;
	int ret;

	if (args->pad)
		return -EINVAL;
	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	flags = flags_of(object);
	if (flags & DRM_SIMPLER_BO_NO_MMAP)
		ret = -EACCES;
	else if (flags & DRM_SIMPLER_BO_IMPORTED)
		ret = -EINVAL;
	else
		ret = drm_gem_create_mmap_offset(object);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&object->vma_node);
	drm_gem_object_put(object);
	return ret;
}

int simpler_ioctl_bo_info(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_simpler_bo_info *args = data;
	struct drm_gem_object *object = drm_gem_object_lookup(file, args->handle);

	if (!object)
		return -ENOENT;
	args->flags = flags_of(object);
	args->size = object->size;
	args->device_address = simpler_bo_address(object, file);
	drm_gem_object_put(object);
	return 0;
}
