// SPDX-License-Identifier: GPL-2.0-only
#include <linux/capability.h>
#include <linux/ktime.h>
#include <linux/uaccess.h>

#include "simpler_drv.h"
#include "simpler_submit.h"

u32 simpler_priority_mask(void)
{
	u32 mask = BIT(DRM_SIMPLER_PRIORITY_LOW) | BIT(DRM_SIMPLER_PRIORITY_NORMAL);

	return capable(CAP_SYS_NICE) ? mask | BIT(DRM_SIMPLER_PRIORITY_HIGH) : mask;
}

u64 simpler_file_quota(struct simpler_device *sdev)
{
	return div_u64(sdev->memory_bytes, 100) * min(READ_ONCE(simpler_file_memory_percent), 100u);
}

bool simpler_user_streams_possible(struct simpler_device *sdev)
{
	return simpler_user_streams && sdev->res.doorbell_page && sdev->res.memory_phys &&
	       sdev->features & SIMPLER_HW_FEATURE_USER_QUEUE;
}

static void fill_device(struct simpler_ctx *ctx, void *result)
{
	struct simpler_device *sdev = ctx->sdev;

	*(struct drm_simpler_device_info *)result = (struct drm_simpler_device_info) {
		.hw_version = sdev->hw_version,
		.arch = sdev->arch,
		.hw_features = sdev->features,
		.cluster_count = sdev->cluster_count,
		.flags = simpler_user_streams_possible(sdev) ?
			  DRM_SIMPLER_DEVICE_USER_STREAMS : 0,
		.va_start = SIMPLER_HW_VA_MIN,
		.va_end = BIT_ULL(SIMPLER_HW_VA_BITS),
		.memory_bytes = sdev->memory_bytes,
		.page_bytes = PAGE_SIZE,
		.counter_hz = sdev->counter_hz,
		.max_contexts = sdev->max_contexts,
		.max_streams = sdev->max_streams,
		.max_file_streams = simpler_max_file_streams,
		.priority_mask = simpler_priority_mask(),
		.max_commands = SIMPLER_MAX_COMMANDS,
		.max_syncs = SIMPLER_MAX_SYNCS,
	};
}

static void fill_memory(struct simpler_ctx *ctx, void *result)
{
	struct simpler_device *sdev = ctx->sdev;

	*(struct drm_simpler_memory_info *)result = (struct drm_simpler_memory_info) {
		.total = sdev->memory_bytes,
		/* How much others use is a side channel. */
		.used = perfmon_capable() ? READ_ONCE(sdev->mem.used) : 0,
		.file_used = simpler_ctx_bytes(ctx),
		.file_quota = simpler_file_quota(sdev),
		.file_pinned = atomic64_read(&ctx->pinned_bytes),
		.page_bytes = PAGE_SIZE,
	};
}

static void fill_health(struct simpler_ctx *ctx, void *result)
{
	struct simpler_device *sdev = ctx->sdev;
	struct simpler_hw_regs *regs = sdev->regs;

	*(struct drm_simpler_health_info *)result = (struct drm_simpler_health_info) {
		.health = simpler_read(regs->health),
		.flags = READ_ONCE(sdev->wedged) ? DRM_SIMPLER_HEALTH_WEDGED : 0,
		.generation = simpler_read(regs->generation),
		.resets = READ_ONCE(sdev->resets),
		.ecc_corrected = simpler_read(regs->ecc_corrected),
		.ecc_uncorrected = simpler_read(regs->ecc_uncorrected),
		.temperature_mc = simpler_read(regs->temperature_mc),
		.power_mw = simpler_read(regs->power_mw),
	};
}

static void fill_context(struct simpler_ctx *ctx, void *result)
{
	struct drm_simpler_context_info *info = result;

	mutex_lock(&ctx->sdev->contexts_lock);
	*info = (struct drm_simpler_context_info) {
		.state = ctx->state,
		.id = ctx->id,
		.generation = ctx->generation,
		.faults = ctx->faults,
		.fault = ctx->fault,
	};
	mutex_unlock(&ctx->sdev->contexts_lock);
}

static void fill_time(struct simpler_ctx *ctx, void *result)
{
	struct drm_simpler_time_info *info = result;

	info->host_before = ktime_get_ns();
	info->device_counter = simpler_read(ctx->sdev->regs->counter);
	info->host_after = ktime_get_ns();
}

static const struct {
	u32 bytes;
	void (*fill)(struct simpler_ctx *ctx, void *result);
} queries[] = {
	[DRM_SIMPLER_QUERY_DEVICE] = { sizeof(struct drm_simpler_device_info), fill_device },
	[DRM_SIMPLER_QUERY_MEMORY] = { sizeof(struct drm_simpler_memory_info), fill_memory },
	[DRM_SIMPLER_QUERY_HEALTH] = { sizeof(struct drm_simpler_health_info), fill_health },
	[DRM_SIMPLER_QUERY_CONTEXT] = { sizeof(struct drm_simpler_context_info), fill_context },
	[DRM_SIMPLER_QUERY_TIME] = { sizeof(struct drm_simpler_time_info), fill_time },
};

static int fill(struct simpler_ctx *ctx, u32 type, void *result)
{
	int idx;

	if (!drm_dev_enter(&ctx->sdev->drm, &idx))
		return -ENODEV;
	queries[type].fill(ctx, result);
	drm_dev_exit(idx);
	return 0;
}

int simpler_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_simpler_dev_query *args = data;
	u64 result[16] = {};
	int ret;

	if (args->type >= ARRAY_SIZE(queries))
		return -EINVAL;
	BUILD_BUG_ON(sizeof(struct drm_simpler_device_info) > sizeof(result));
	BUILD_BUG_ON(sizeof(struct drm_simpler_context_info) > sizeof(result));
	if (!args->pointer) {
		args->size = queries[args->type].bytes;
		return 0;
	}
	ret = fill(to_simpler_ctx(file), args->type, result);
	if (ret)
		return ret;
	args->size = min(args->size, queries[args->type].bytes);
	return copy_to_user(u64_to_user_ptr(args->pointer), result, args->size) ? -EFAULT : 0;
}
