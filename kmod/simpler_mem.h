/* SPDX-License-Identifier: GPL-2.0-only */
/* Device memory: who owns which bytes of it. */
#ifndef SIMPLER_MEM_H
#define SIMPLER_MEM_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "simpler_buddy.h"

struct simpler_device;

struct simpler_mem {
	struct mutex lock;		/* protects the fields below */
	struct simpler_buddy_mm mm;
	struct list_head reserved;	/* what is not memory: the register page */
	u64 used;
	bool pressure;			/* listeners have been told that memory is short */
};

/* A piece of device memory, in one or more runs. Zeroed: owns nothing. */
struct simpler_extent {
	struct list_head blocks;
	u64 bytes;
};

#define SIMPLER_MEM_CONTIGUOUS	BIT(0)
#define SIMPLER_MEM_DIRTY	BIT(1)	/* the driver overwrites it all itself */

int simpler_mem_init(struct simpler_device *sdev);

/**
 * simpler_mem_alloc - take device memory, zeroed unless SIMPLER_MEM_DIRTY
 * @sdev: the device
 * @bytes: a multiple of the page size, not 0
 * @flags: SIMPLER_MEM_*
 * @extent: result; owned nothing before
 *
 * Return: 0, -ENOSPC, -ENOMEM, or an error of simpler_admin_exec().
 */
int simpler_mem_alloc(struct simpler_device *sdev, u64 bytes, u32 flags,
		      struct simpler_extent *extent);

/** simpler_mem_free - give it back; the device does not use it any more. Owning nothing is fine. */
void simpler_mem_free(struct simpler_device *sdev, struct simpler_extent *extent);

/**
 * simpler_mem_run - the run that holds an offset
 * @sdev: the device
 * @extent: of device memory
 * @offset: below extent->bytes
 * @bytes: result, how much of the run follows
 *
 * Return: device-physical address of the byte at @offset.
 */
u64 simpler_mem_run(struct simpler_device *sdev, const struct simpler_extent *extent, u64 offset,
		    u64 *bytes);

/** simpler_mem_ptr - where the driver sees a device-physical address of its own memory */
void *simpler_mem_ptr(struct simpler_device *sdev, u64 phys);

#endif /* SIMPLER_MEM_H */
