// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reset of the whole device.  All contexts are lost: what they had running cannot be
 * told from what they had not, so their fences fail and their files must be reopened.
 * A device that does not come back is wedged: it is kept from doing DMA, user space
 * is told, and everything but cleaning up returns -EIO.
 */
#include <linux/kobject.h>

#include "simpler_drv.h"
#include "simpler_features.h"
#include "simpler_notify.h"
#include "simpler_trace.h"

void simpler_reset_request(struct simpler_device *sdev, const char *reason)
{
	if (READ_ONCE(sdev->wedged) || READ_ONCE(sdev->gone))
		return;
	if (xchg(&sdev->resetting, true))
		return;
	sdev->reset_reason = reason;
	queue_work(sdev->wq, &sdev->reset_work);
	wake_up(&sdev->admin.wait);
}

void simpler_reset_wait(struct simpler_device *sdev, const char *reason)
{
	simpler_reset_request(sdev, reason);
	flush_work(&sdev->reset_work);
}

/* Results that are there already stay results. */
static void collect(struct simpler_device *sdev)
{
	simpler_poll_all(sdev);
	mutex_lock(&sdev->contexts_lock);
	mutex_lock(&sdev->admin.lock);
	simpler_ctx_lose_all(sdev);
}

static int restart(struct simpler_device *sdev)
{
	int ret = simpler_hw_reset(sdev);

	return ret ? ret : simpler_hw_start(sdev);
}

static void release(struct simpler_device *sdev)
{
	struct simpler_ctx *ctx;

	mutex_unlock(&sdev->admin.lock);
	list_for_each_entry(ctx, &sdev->contexts, link)
		simpler_ctx_end_fences(ctx, -EIO);
	mutex_unlock(&sdev->contexts_lock);
}

static void tell_wedged(struct simpler_device *sdev)
{
#ifdef SIMPLER_HAVE_WEDGED_EVENT_TASK
	drm_dev_wedged_event(&sdev->drm, DRM_WEDGE_RECOVERY_REBIND, NULL);
#elif defined(SIMPLER_HAVE_WEDGED_EVENT)
	drm_dev_wedged_event(&sdev->drm, DRM_WEDGE_RECOVERY_REBIND);
#else
	char *env[2] = { "WEDGED=rebind", NULL };

	kobject_uevent_env(&sdev->drm.accel->kdev->kobj, KOBJ_CHANGE, env);
#endif
}

static void wedge(struct simpler_device *sdev)
{
	WRITE_ONCE(sdev->wedged, true);
	simpler_counter_add(sdev, SIMPLER_COUNTER_RESETS_FAILED);
	if (sdev->res.isolate)
		sdev->res.isolate(sdev->res.cookie);
	drm_err(&sdev->drm, "the reset failed; unbind and bind the driver to try again\n");
}

static int reset(struct simpler_device *sdev)
{
	int ret;

	collect(sdev);
	ret = restart(sdev);
	if (ret)
		wedge(sdev);
	sdev->resets++;
	simpler_counter_add(sdev, SIMPLER_COUNTER_RESETS);
	sdev->heartbeat_seen = jiffies;
	WRITE_ONCE(sdev->health, simpler_read(sdev->regs->health));
	WRITE_ONCE(sdev->health_events, simpler_read(sdev->regs->health_events));
	WRITE_ONCE(sdev->resetting, false);
	release(sdev);
	return ret;
}

void simpler_reset_work(struct work_struct *work)
{
	struct simpler_device *sdev = container_of(work, struct simpler_device, reset_work);
	int idx, ret;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return;
	drm_warn(&sdev->drm, "resetting the device: %s\n", sdev->reset_reason);
	ret = reset(sdev);
	trace_simpler_reset(sdev, sdev->resets, ret);
	simpler_netlink_reset(sdev, ret);
	if (ret && ret != -ENODEV)
		tell_wedged(sdev);
	drm_dev_exit(idx);
}
