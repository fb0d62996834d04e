// SPDX-License-Identifier: GPL-2.0-only
#include <linux/jiffies.h>

#include "simpler_drv.h"
#include "simpler_inject.h"
#include "simpler_trace.h"

/* A waiter looks by itself this often: an interrupt may get lost. */
#define POLL_MS	10

static void admin_fini(struct drm_device *drm, void *arg)
{
	struct simpler_device *sdev = arg;

	simpler_mem_free(sdev, &sdev->admin.extent);
	mutex_destroy(&sdev->admin.lock);
}

int simpler_admin_init(struct simpler_device *sdev)
{
	struct simpler_admin *admin = &sdev->admin;
	u64 bytes = PAGE_ALIGN(sizeof(struct simpler_hw_ring) +
			       SIMPLER_ADMIN_ENTRIES * SIMPLER_HW_CMD_BYTES);
	u64 run;
	int ret;

	ret = simpler_mem_alloc(sdev, bytes, SIMPLER_MEM_CONTIGUOUS | SIMPLER_MEM_DIRTY,
				&admin->extent);
	if (ret)
		return ret;
	mutex_init(&admin->lock);
	init_waitqueue_head(&admin->wait);
	admin->ring = simpler_mem_ptr(sdev, simpler_mem_run(sdev, &admin->extent, 0, &run));
	admin->commands = (void *)(admin->ring + 1);
	return drmm_add_action_or_reset(&sdev->drm, admin_fini, sdev);
}

void simpler_admin_restart(struct simpler_device *sdev)
{
	struct simpler_admin *admin = &sdev->admin;

	simpler_zero_words(admin->ring, sizeof(*admin->ring));
	admin->seqno = 0;
	admin->dead = false;
}

/* Steps 2, 3 and 5 of the ring protocol. */
static void publish(struct simpler_device *sdev, const struct simpler_hw_admin *command)
{
	struct simpler_admin *admin = &sdev->admin;
	u32 slot = admin->seqno % SIMPLER_ADMIN_ENTRIES;

	simpler_copy_words(&admin->commands[slot], command, sizeof(*command));
	admin->seqno++;
	simpler_write(admin->ring->irq_seqno, admin->seqno);
	/* pairs with the device's read barrier between producer and the command */
	dma_wmb();
	simpler_write(admin->ring->producer, (u32)admin->seqno);
	simpler_doorbell(sdev, 0);
}

static bool done(struct simpler_device *sdev)
{
	return simpler_read(sdev->admin.ring->completed) >= sdev->admin.seqno;
}

static int await(struct simpler_device *sdev)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(simpler_admin_timeout_ms);

	while (!wait_event_timeout(sdev->admin.wait, done(sdev) || READ_ONCE(sdev->gone),
				   msecs_to_jiffies(POLL_MS))) {
		if (READ_ONCE(sdev->resetting) || time_after(jiffies, deadline))
			return -EIO;
	}
	return done(sdev) ? 0 : -ENODEV;
}

/* What the device said of the command that it has just completed. */
static int verdict(struct simpler_admin *admin)
{
	s32 error;

	/* pairs with the device's release of completed: its error is older */
	dma_rmb();
	error = simpler_read(admin->ring->error);
	if (!error)
		return 0;
	simpler_write(admin->ring->error, 0);
	simpler_write(admin->ring->error_seqno, 0);
	return error < 0 && error >= -MAX_ERRNO ? error : -EIO;
}

static int exec_locked(struct simpler_device *sdev, struct simpler_ctx *ctx,
		       const struct simpler_hw_admin *command)
{
	struct simpler_admin *admin = &sdev->admin;
	int ret;

	lockdep_assert_held(&admin->lock);
	if (ctx && ctx->state == DRM_SIMPLER_CONTEXT_LOST)
		return -ESTALE;
	if (admin->dead)
		return -EIO;
	if (simpler_inject(SIMPLER_FAIL_ADMIN))
		return -EINVAL;
	publish(sdev, command);
	ret = await(sdev);
	if (!ret)
		return verdict(admin);
	/* It may execute the command yet; only a reset makes that impossible. */
	admin->dead = true;
	if (ret == -EIO)
		simpler_reset_request(sdev, "an admin command was not answered");
	return ret;
}

int simpler_admin_exec(struct simpler_device *sdev, struct simpler_ctx *ctx,
		       const struct simpler_hw_admin *command)
{
	int idx, ret;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return -ENODEV;
	mutex_lock(&sdev->admin.lock);
	ret = exec_locked(sdev, ctx, command);
	mutex_unlock(&sdev->admin.lock);
	trace_simpler_admin(sdev, command->opcode, command->context, ret);
	drm_dev_exit(idx);
	return ret;
}
