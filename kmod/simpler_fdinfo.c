// SPDX-License-Identifier: GPL-2.0-only
/* The keys of Documentation/gpu/drm-usage-stats.rst. */
#include "simpler_bo.h"
#include "simpler_drv.h"

struct usage {
	u64 device;
	u64 device_shared;
	u64 host;
	u64 host_shared;
};

static int add_object(int id, void *ptr, void *data)
{
	struct drm_gem_object *object = ptr;
	struct usage *usage = data;
	bool shared;

	if (!object)
		return 0;	/* a handle that is being made */
	shared = drm_gem_object_is_shared_for_memory_stats(object);
	if (simpler_is_device_bo(object)) {
		usage->device += object->size;
		usage->device_shared += shared ? object->size : 0;
	} else {
		usage->host += object->size;
		usage->host_shared += shared ? object->size : 0;
	}
	return 0;
}

static void show_region(struct drm_printer *p, const char *region, u64 total, u64 shared)
{
	/* Buffers are never evicted: all of it is resident. */
	drm_printf(p, "drm-total-%s:\t%llu KiB\n", region, total >> 10);
	drm_printf(p, "drm-resident-%s:\t%llu KiB\n", region, total >> 10);
	drm_printf(p, "drm-shared-%s:\t%llu KiB\n", region, shared >> 10);
}

void simpler_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct simpler_ctx *ctx = to_simpler_ctx(file);
	struct usage usage = {};

	spin_lock(&file->table_lock);
	idr_for_each(&file->object_idr, add_object, &usage);
	spin_unlock(&file->table_lock);
	drm_printf(p, "drm-engine-npu:\t%lld ns\n", (s64)atomic64_read(&ctx->busy_ns));
	show_region(p, "device", usage.device, usage.device_shared);
	show_region(p, "host", usage.host, usage.host_shared);
	drm_printf(p, "simpler-charged-device:\t%lld KiB\n",
		   (s64)simpler_ctx_bytes(ctx) >> 10);
	drm_printf(p, "simpler-pinned-host:\t%lld KiB\n",
		   (s64)atomic64_read(&ctx->pinned_bytes) >> 10);
	drm_printf(p, "simpler-context:\t%d\n", (int)ctx->id);
	drm_printf(p, "simpler-context-state:\t%u\n", READ_ONCE(ctx->state));
	drm_printf(p, "simpler-streams:\t%d\n", atomic_read(&ctx->stream_count));
}
