/* SPDX-License-Identifier: GPL-2.0-only */
/* The admin ring: commands of the driver to the device, one at a time. */
#ifndef SIMPLER_ADMIN_H
#define SIMPLER_ADMIN_H

#include <linux/mutex.h>
#include <linux/wait.h>

#include "simpler_hw.h"
#include "simpler_mem.h"

#define SIMPLER_ADMIN_ENTRIES	16u

struct simpler_ctx;
struct simpler_device;

struct simpler_admin {
	struct mutex lock;		/* protects the fields below, held during a reset */
	struct simpler_extent extent;
	struct simpler_hw_ring *ring;
	struct simpler_hw_admin *commands;
	u64 seqno;			/* commands given */
	bool dead;			/* a command was not answered; until the next reset */
	wait_queue_head_t wait;
};

int simpler_admin_init(struct simpler_device *sdev);

/* simpler_admin_restart - empty ring, as the device expects after a reset; lock held */
void simpler_admin_restart(struct simpler_device *sdev);

/**
 * simpler_admin_exec - have the device execute one command
 * @sdev: the device
 * @ctx: whose command it is; NULL for one of the driver
 * @command: copied into the ring
 *
 * Waits, uninterruptibly but not for ever.  A device that does not answer is reset
 * (requested here, not awaited).
 *
 * Return: 0, what the device said, -ENODEV it is gone, -EIO it does not answer,
 * -ESTALE it has been reset since @ctx was created, and knows nothing of it.
 */
int simpler_admin_exec(struct simpler_device *sdev, struct simpler_ctx *ctx,
		       const struct simpler_hw_admin *command);

#endif /* SIMPLER_ADMIN_H */
