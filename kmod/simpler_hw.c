// SPDX-License-Identifier: GPL-2.0-only
/* Register page, doorbell, interrupts. */
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "simpler_drv.h"
#include "simpler_stream.h"

#define START_TIMEOUT_US	2000000
#define RESET_TIMEOUT_US	5000000
#define POLL_US			1000

void simpler_doorbell(struct simpler_device *sdev, u32 vector)
{
	/* The doorbell is another page than the ring: the index must be out before. */
	wmb();
	sdev->res.doorbell(sdev->res.cookie, sdev->doorbell_base | vector);
}

static int check_identity(struct simpler_device *sdev)
{
	struct simpler_hw_regs *regs = sdev->regs;
	u32 major = simpler_read(regs->version_major);

	if (sdev->res.memory_bytes < PAGE_SIZE || simpler_read(regs->magic) != SIMPLER_HW_MAGIC)
		return -ENODEV;
	if (major == SIMPLER_HW_VERSION_MAJOR && simpler_read(regs->version_minor) >= 1)
		return 0;
	drm_err(&sdev->drm, "device interface %u.%u is not known; this driver knows %u.1 and later\n",
		major, simpler_read(regs->version_minor), SIMPLER_HW_VERSION_MAJOR);
	return -ENODEV;
}

static void read_constants(struct simpler_device *sdev)
{
	struct simpler_hw_regs *regs = sdev->regs;

	sdev->arch = simpler_read(regs->arch);
	sdev->hw_version = simpler_read(regs->version_major) << 16 |
			   simpler_read(regs->version_minor);
	sdev->features = simpler_read(regs->features);
	sdev->cluster_count = simpler_read(regs->cluster_count);
	sdev->counter_hz = simpler_read(regs->counter_hz);
	sdev->memory_base = simpler_read(regs->memory_base);
	sdev->memory_bytes = round_down(simpler_read(regs->memory_bytes), SIMPLER_HW_PAGE_BYTES);
	sdev->max_contexts = simpler_read(regs->max_contexts);
	sdev->max_streams = simpler_read(regs->max_streams);
	sdev->doorbell_offset = simpler_read(regs->doorbell_offset);
	sdev->doorbell_base = simpler_read(regs->doorbell_base);
	sdev->doorbell_vectors = simpler_read(regs->doorbell_vectors);
	sdev->irq_vectors = simpler_read(regs->irq_vectors);
	sdev->health_events = simpler_read(regs->health_events);
	sdev->health = simpler_read(regs->health);
	sdev->heartbeat = simpler_read(regs->heartbeat);
}

static int refuse(struct simpler_device *sdev, const char *reg, u64 value)
{
	drm_err(&sdev->drm, "register %s has the impossible value %#llx\n", reg, value);
	return -EINVAL;
}

/* Registers are input: nothing of them is used before it was looked at here. */
static int check_constants(struct simpler_device *sdev)
{
	u64 room = sdev->res.memory_bytes;

	if (!IS_ALIGNED(sdev->memory_base, SIMPLER_HW_PAGE_BYTES) ||
	    sdev->memory_base < PAGE_SIZE || sdev->memory_base >= room)
		return refuse(sdev, "memory_base", sdev->memory_base);
	if (!sdev->memory_bytes || sdev->memory_bytes > room - sdev->memory_base)
		return refuse(sdev, "memory_bytes", sdev->memory_bytes);
	if (!sdev->max_contexts || !sdev->max_streams)
		return refuse(sdev, "max_contexts or max_streams", 0);
	if (!sdev->counter_hz)
		return refuse(sdev, "counter_hz", 0);
	if (sdev->doorbell_vectors < 2)
		return refuse(sdev, "doorbell_vectors", sdev->doorbell_vectors);
	if (sdev->irq_vectors < 2 || sdev->irq_vectors > SIMPLER_MAX_VECTORS)
		return refuse(sdev, "irq_vectors", sdev->irq_vectors);
	if (!(sdev->features & SIMPLER_HW_FEATURE_MMU))
		return refuse(sdev, "features (no MMU)", sdev->features);
	return 0;
}

static int create_vectors(struct simpler_device *sdev)
{
	unsigned int i;

	sdev->vectors = drmm_kcalloc(&sdev->drm, sdev->irq_vectors, sizeof(*sdev->vectors),
				     GFP_KERNEL);
	if (!sdev->vectors)
		return -ENOMEM;
	for (i = 0; i < sdev->irq_vectors; i++) {
		spin_lock_init(&sdev->vectors[i].lock);
		INIT_LIST_HEAD(&sdev->vectors[i].streams);
	}
	return 0;
}

static void fault_ring_fini(struct drm_device *drm, void *arg)
{
	struct simpler_device *sdev = arg;

	simpler_mem_free(sdev, &sdev->fault_extent);
}

static int create_fault_ring(struct simpler_device *sdev)
{
	u64 bytes = PAGE_ALIGN(SIMPLER_FAULT_RING_ENTRIES * sizeof(struct simpler_hw_fault));
	u64 run;
	int ret;

	ret = simpler_mem_alloc(sdev, bytes, SIMPLER_MEM_CONTIGUOUS, &sdev->fault_extent);
	if (ret)
		return ret;
	sdev->faults = simpler_mem_ptr(sdev, simpler_mem_run(sdev, &sdev->fault_extent, 0, &run));
	return drmm_add_action_or_reset(&sdev->drm, fault_ring_fini, sdev);
}

int simpler_hw_init(struct simpler_device *sdev)
{
	int ret;

	sdev->regs = sdev->res.memory;
	ret = check_identity(sdev);
	if (ret)
		return ret;
	read_constants(sdev);
	ret = check_constants(sdev);
	if (!ret)
		ret = create_vectors(sdev);
	if (!ret)
		ret = simpler_mem_init(sdev);
	if (!ret)
		ret = simpler_admin_init(sdev);
	if (!ret)
		ret = create_fault_ring(sdev);
	return ret;
}

static u64 phys_of(struct simpler_device *sdev, void *ptr)
{
	return ptr - sdev->res.memory;
}

/* Hand the rings to the device and let it run them. admin.lock held, or nobody else there yet. */
int simpler_hw_start(struct simpler_device *sdev)
{
	struct simpler_hw_regs *regs = sdev->regs;
	u32 status;
	int ret;

	simpler_admin_restart(sdev);
	simpler_write(regs->admin_ring, phys_of(sdev, sdev->admin.ring));
	simpler_write(regs->admin_entries, SIMPLER_ADMIN_ENTRIES);
	simpler_write(regs->fault_ring, phys_of(sdev, sdev->faults));
	simpler_write(regs->fault_entries, SIMPLER_FAULT_RING_ENTRIES);
	sdev->fault_consumer = simpler_read(regs->fault_producer);
	simpler_write(regs->fault_consumer, sdev->fault_consumer);
	/* pairs with the device's read barrier after it saw ENABLE */
	dma_wmb();
	simpler_write(regs->control, SIMPLER_HW_CONTROL_ENABLE);
	simpler_doorbell(sdev, 0);
	ret = read_poll_timeout(simpler_read, status, status, POLL_US, START_TIMEOUT_US, false,
				regs->status);
	if (ret || !(status & SIMPLER_HW_STATUS_ENABLED)) {
		drm_err(&sdev->drm, "the device does not start: status %#x\n", status);
		simpler_write(regs->control, 0);
		simpler_doorbell(sdev, 0);
		return -EIO;
	}
	return 0;
}

static bool stopped(struct simpler_hw_regs *regs)
{
	return !(simpler_read(regs->status) & SIMPLER_HW_STATUS_ENABLED);
}

void simpler_hw_stop(struct simpler_device *sdev)
{
	bool done;

	simpler_write(sdev->regs->control, 0);
	simpler_doorbell(sdev, 0);
	read_poll_timeout(stopped, done, done, POLL_US, START_TIMEOUT_US, false, sdev->regs);
}

static bool reset_ended(struct simpler_hw_regs *regs, u32 before)
{
	return simpler_read(regs->generation) != before && !simpler_read(regs->reset_status);
}

/* All contexts end; the rings must be handed over again. */
int simpler_hw_reset(struct simpler_device *sdev)
{
	struct simpler_hw_regs *regs = sdev->regs;
	u32 before = simpler_read(regs->generation);
	bool ended;

	simpler_write(regs->control, 0);
	simpler_write(regs->reset_control, SIMPLER_HW_RESET_DEVICE);
	simpler_doorbell(sdev, 0);
	if (read_poll_timeout(reset_ended, ended, ended || READ_ONCE(sdev->gone), POLL_US,
			      RESET_TIMEOUT_US, false, regs, before)) {
		drm_err(&sdev->drm, "a reset does not end: status %#x\n",
			simpler_read(regs->reset_status));
		return -EIO;
	}
	simpler_write(regs->reset_control, SIMPLER_HW_RESET_NONE);
	return ended ? 0 : -ENODEV;
}

/* Completions of the streams of one vector; true if there were any. */
static bool poll_vector(struct simpler_vector *vector)
{
	struct simpler_stream *stream;
	unsigned long flags;
	bool found = false;

	spin_lock_irqsave(&vector->lock, flags);
	list_for_each_entry(stream, &vector->streams, vector_link)
		found |= simpler_stream_poll(stream);
	spin_unlock_irqrestore(&vector->lock, flags);
	return found;
}

static void poll_device(struct simpler_device *sdev)
{
	struct simpler_hw_regs *regs = sdev->regs;

	wake_up(&sdev->admin.wait);
	if (simpler_read(regs->fault_producer) != READ_ONCE(sdev->fault_consumer) ||
	    simpler_read(regs->health_events) != READ_ONCE(sdev->health_events) ||
	    simpler_read(regs->health) != READ_ONCE(sdev->health))
		queue_work(sdev->wq, &sdev->event_work);
}

void simpler_device_irq(struct simpler_device *sdev, unsigned int vector)
{
	int idx;

	if (vector >= sdev->irq_vectors || !drm_dev_enter(&sdev->drm, &idx))
		return;
	if (vector)
		poll_vector(&sdev->vectors[vector]);
	else
		poll_device(sdev);
	drm_dev_exit(idx);
}

bool simpler_poll_all(struct simpler_device *sdev)
{
	bool found = false;
	unsigned int i;

	poll_device(sdev);
	for (i = 1; i < sdev->irq_vectors; i++)
		found |= poll_vector(&sdev->vectors[i]);
	return found;
}
