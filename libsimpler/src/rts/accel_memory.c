/* SPDX-License-Identifier: MIT */
/* Device memory, shared memory and mappings of host memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "rts/accel.h"

/* A buffer object: of device memory by its device address, of shared memory by its host address. */
struct accel_buffer {
	uint64_t addr;
	uint64_t bytes;
	uint32_t handle;
	bool shared;
};

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct accel_buffer *)a)->addr;
	uint64_t y = ((const struct accel_buffer *)b)->addr;

	return x < y ? -1 : x > y;
}

static int no_memory(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT ? -ENOMEM : rc == -EIO ? -ENODEV : rc;
}

static void close_handle(struct accel_context *c, uint32_t handle)
{
	struct drm_gem_close close = { .handle = handle };

	accel_ioctl(c->fd, DRM_IOCTL_GEM_CLOSE, &close);
}

static int create(struct accel_context *c, struct drm_simpler_bo_create *bo)
{
	return no_memory(accel_ioctl(c->fd, DRM_IOCTL_SIMPLER_BO_CREATE, bo));
}

static bool enter(struct accel_context *c, struct accel_buffer *b)
{
	bool ok;

	pthread_mutex_lock(&c->lock);
	ok = tsearch(b, &c->buffers, by_address);
	pthread_mutex_unlock(&c->lock);
	return ok;
}

/* Takes the buffer out of the tree; NULL: there is none of this kind. */
static struct accel_buffer *take(struct accel_context *c, uint64_t addr, bool shared)
{
	struct accel_buffer key = { .addr = addr };
	struct accel_buffer **found, *b = NULL;

	pthread_mutex_lock(&c->lock);
	found = tfind(&key, &c->buffers, by_address);
	if (found && (*found)->shared == shared) {
		b = *found;
		tdelete(b, &c->buffers, by_address);
	}
	pthread_mutex_unlock(&c->lock);
	return b;
}

void accel_memory_drop(struct accel_context *c)
{
	while (c->buffers) {
		struct accel_buffer *b = *(struct accel_buffer **)c->buffers;

		tdelete(b, &c->buffers, by_address);
		if (b->shared)
			munmap((void *)(uintptr_t)b->addr, b->bytes);
		free(b);
	}
}

/* ---- device memory ---- */

int accel_memory_alloc(void *context, uint64_t bytes, uint64_t *addr)
{
	struct drm_simpler_bo_create bo = { .size = bytes, .flags = DRM_SIMPLER_BO_NO_MMAP };
	struct accel_context *c = context;
	struct accel_buffer *b = malloc(sizeof(*b));
	int rc = b ? create(c, &bo) : -ENOMEM;

	if (rc) {
		free(b);
		return rc;
	}
	*b = (struct accel_buffer){ .addr = bo.device_address, .bytes = bo.size,
				    .handle = bo.handle };
	if (!enter(c, b)) {
		close_handle(c, bo.handle);
		free(b);
		return -ENOMEM;
	}
	*addr = bo.device_address;
	return 0;
}

int accel_memory_free(void *context, uint64_t addr)
{
	struct accel_buffer *b = take(context, addr, false);

	if (!b)
		return -ENOENT;
	close_handle(context, b->handle);
	free(b);
	return 0;
}

void accel_memory_usage(void *context, uint64_t *context_bytes, uint64_t *chip_bytes)
{
	struct drm_simpler_memory_info info = { 0 };
	struct drm_simpler_dev_query q = {
		.type = DRM_SIMPLER_QUERY_MEMORY, .size = sizeof(info),
		.pointer = (uint64_t)(uintptr_t)&info,
	};
	struct accel_context *c = context;

	accel_ioctl(c->fd, DRM_IOCTL_SIMPLER_DEV_QUERY, &q);
	*context_bytes = info.file_used;
	/* what others use is told to the privileged only */
	*chip_bytes = info.used > info.file_used ? info.used : info.file_used;
}

/* ---- memory of both sides ---- */

static void *map(struct accel_context *c, const struct drm_simpler_bo_create *bo)
{
	struct drm_simpler_bo_mmap_offset at = { .handle = bo->handle };
	void *p;

	if (accel_ioctl(c->fd, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, &at))
		return NULL;
	p = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, (off_t)at.offset);
	return p == MAP_FAILED ? NULL : p;
}

int accel_shared_alloc(void *context, uint64_t bytes, void **host, uint64_t *addr)
{
	struct drm_simpler_bo_create bo = { .size = bytes, .flags = DRM_SIMPLER_BO_HOST };
	struct accel_context *c = context;
	struct accel_buffer *b = malloc(sizeof(*b));
	int rc = b ? create(c, &bo) : -ENOMEM;
	void *p;

	if (rc) {
		free(b);
		return rc;
	}
	p = map(c, &bo);
	*b = (struct accel_buffer){ .addr = (uintptr_t)p, .bytes = bo.size, .handle = bo.handle,
				    .shared = true };
	if (p && enter(c, b)) {
		*host = p;
		*addr = bo.device_address;
		return 0;
	}
	if (p)
		munmap(p, bo.size);
	close_handle(c, bo.handle);
	free(b);
	return -ENOMEM;
}

void accel_shared_free(void *context, void *host, uint64_t bytes)
{
	struct accel_buffer *b = take(context, (uintptr_t)host, true);

	(void)bytes;
	if (!b)
		return;
	munmap(host, b->bytes);
	close_handle(context, b->handle);
	free(b);
}

/* ---- host memory ---- */

/* Memory that cannot be written, such as constants, is mapped for reading. */
int accel_host_map(void *context, const void *host, uint64_t bytes, uint64_t *addr)
{
	struct accel_context *c = context;
	uint64_t page = c->device->info.page_bytes;
	uint64_t start = (uintptr_t)host & ~(page - 1);
	uint64_t end = ((uintptr_t)host + bytes + page - 1) & ~(page - 1);
	struct drm_simpler_host_map m = { .address = start, .size = end - start };
	int rc = accel_ioctl(c->fd, DRM_IOCTL_SIMPLER_HOST_MAP, &m);

	if (rc == -EFAULT) {
		m = (struct drm_simpler_host_map){ .address = start, .size = end - start,
						   .flags = DRM_SIMPLER_HOST_READ_ONLY };
		rc = accel_ioctl(c->fd, DRM_IOCTL_SIMPLER_HOST_MAP, &m);
	}
	if (rc)
		return rc == -EPERM ? -ENOMEM : no_memory(rc);
	*addr = m.device_address + ((uintptr_t)host - start);
	return 0;
}

void accel_host_unmap(void *context, uint64_t addr, uint64_t bytes)
{
	struct accel_context *c = context;
	struct drm_simpler_host_unmap m = {
		.device_address = addr & ~((uint64_t)c->device->info.page_bytes - 1),
	};

	(void)bytes;
	accel_ioctl(c->fd, DRM_IOCTL_SIMPLER_HOST_UNMAP, &m);
}
