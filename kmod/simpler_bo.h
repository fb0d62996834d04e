/* SPDX-License-Identifier: GPL-2.0-only */
/* Buffers: GEM objects in device memory (here) and in host memory (the shmem helper). */
#ifndef SIMPLER_BO_H
#define SIMPLER_BO_H

#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>

#include "simpler_mem.h"

struct simpler_account;
struct simpler_ctx;

#define SIMPLER_BO_RING		BIT(31)	/* internal flag: a ring, stores stay in order */

/* A buffer in device memory. */
struct simpler_bo {
	struct drm_gem_object base;
	u32 flags;			/* DRM_SIMPLER_BO_* */
	struct simpler_account *account;	/* of the file that asked for it, referenced */
	struct simpler_extent extent;
	struct page *dummy;		/* what a mapping shows once the device is gone */
};

/* A buffer in host memory, ours or imported. */
struct simpler_host_bo {
	struct drm_gem_shmem_object base;
	u32 flags;
};

extern const struct drm_gem_object_funcs simpler_bo_funcs;
extern const struct drm_gem_object_funcs simpler_host_bo_funcs;

static inline bool simpler_is_device_bo(const struct drm_gem_object *object)
{
	return object->funcs == &simpler_bo_funcs;
}

static inline struct simpler_bo *to_simpler_bo(struct drm_gem_object *object)
{
	return container_of(object, struct simpler_bo, base);
}

static inline struct simpler_host_bo *to_simpler_host_bo(struct drm_gem_object *object)
{
	return container_of(to_drm_gem_shmem_obj(object), struct simpler_host_bo, base);
}

/** simpler_bo_create - a zeroed buffer in device memory, charged to the file, or ERR_PTR */
struct simpler_bo *simpler_bo_create(struct simpler_ctx *ctx, u64 bytes, u32 flags);

/* driver hook: the shmem helper needs an object, also for an import */
struct drm_gem_object *simpler_gem_create_object(struct drm_device *drm, size_t size);

/* simpler_bo_map.c: object functions; a handle is a mapping */
int simpler_bo_open(struct drm_gem_object *object, struct drm_file *file);
void simpler_bo_close(struct drm_gem_object *object, struct drm_file *file);

/** simpler_bo_address - of an object that the file has a handle of; 0: none any more */
u64 simpler_bo_address(struct drm_gem_object *object, struct drm_file *file);

int simpler_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int simpler_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);
int simpler_ioctl_bo_info(struct drm_device *drm, void *data, struct drm_file *file);

/* simpler_mmap.c */
#define SIMPLER_DOORBELL_OFFSET	BIT_ULL(56)
int simpler_mmap(struct file *filp, struct vm_area_struct *vma);
int simpler_bo_mmap(struct drm_gem_object *object, struct vm_area_struct *vma);

#endif /* SIMPLER_BO_H */
