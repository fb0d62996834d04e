// SPDX-License-Identifier: GPL-2.0-only
/* Registers, reset, interrupts and life of the fake device. */
#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "fake_device.h"

#define TICK	(HZ / 20)	/* the interface wants a heartbeat every 100 ms */

void *fake_memory(struct fake_device *fake, u64 phys, u64 bytes)
{
	u64 end = FAKE_MEMORY_BASE + fake->regs->memory_bytes;

	if (phys < FAKE_MEMORY_BASE || phys > end || bytes > end - phys)
		return NULL;
	return fake->memory + phys;
}

/* ---- interrupts, faults, health ---- */

/*
 * The thread does not sleep between reading sdev and returning from the call, and
 * fake_device_unbind() clears it before it sleeps again: enough on one CPU without
 * preemption, which is what KUnit runs on here.
 */
void fake_device_interrupt(struct fake_device *fake, u32 vector)
{
	unsigned long flags;

	if (READ_ONCE(fake->faults.lose_interrupts))
		return;
	WRITE_ONCE(fake->regs->irq_count, fake->regs->irq_count + 1);
	local_irq_save(flags);
	if (READ_ONCE(fake->sdev))
		simpler_device_irq(fake->sdev, vector);
	local_irq_restore(flags);
}

void fake_fault(struct fake_device *fake, const struct simpler_hw_fault *fault)
{
	struct simpler_hw_regs *regs = fake->regs;
	u32 entries = READ_ONCE(regs->fault_entries);
	struct simpler_hw_fault *ring = fake_memory(fake, READ_ONCE(regs->fault_ring),
						    (u64)entries * sizeof(*ring));
	/* acquire: pairs with the driver's release of fault_consumer, once it has the record */
	u32 consumer = smp_load_acquire(&regs->fault_consumer);

	if (!ring || fake->fault_producer - consumer >= entries) {
		WRITE_ONCE(regs->fault_dropped, regs->fault_dropped + 1);
	} else {
		ring[fake->fault_producer++ & (entries - 1)] = *fault;
		/* release: pairs with the driver's acquire of fault_producer */
		smp_store_release(&regs->fault_producer, fake->fault_producer);
	}
	fake_device_interrupt(fake, 0);
}

void fake_device_health(struct fake_device *fake, u32 health)
{
	mutex_lock(&fake->lock);
	WRITE_ONCE(fake->regs->health, health);
	WRITE_ONCE(fake->regs->health_events, fake->regs->health_events + 1);
	fake_device_interrupt(fake, 0);
	mutex_unlock(&fake->lock);
}

/* ---- registers ---- */

static void describe(struct fake_device *fake)
{
	u32 generation = fake->regs->generation;

	*fake->regs = (struct simpler_hw_regs) {
		.magic = SIMPLER_HW_MAGIC,
		.version_major = SIMPLER_HW_VERSION_MAJOR,
		.version_minor = SIMPLER_HW_VERSION_MINOR,
		.arch = SIMPLER_HW_ARCH_A2A3,
		.cluster_count = 4,
		.memory_bytes = FAKE_BYTES - FAKE_MEMORY_BASE,
		.features = SIMPLER_HW_FEATURE_TRB | SIMPLER_HW_FEATURE_USER_QUEUE |
			    SIMPLER_HW_FEATURE_MMU,
		.health = SIMPLER_HW_HEALTH_OK,
		.generation = generation,
		.max_contexts = FAKE_CONTEXTS,
		.max_streams = FAKE_STREAMS,
		.counter_hz = NSEC_PER_SEC,
		.counter = 1,
		.temperature_mc = 45000,
		.power_mw = 90000,
		.memory_base = FAKE_MEMORY_BASE,
		.doorbell_offset = FAKE_DOORBELL_OFFSET,
		.doorbell_base = FAKE_DOORBELL_BASE,
		.doorbell_vectors = FAKE_VECTORS,
		.irq_vectors = FAKE_VECTORS,
	};
}

static void forget_everything(struct fake_device *fake)
{
	memset(fake->contexts, 0, sizeof(fake->contexts));
	memset(fake->streams, 0, sizeof(fake->streams));
	fake->admin = NULL;
	fake->suspended = false;
	fake->fault_producer = 0;
}

static void reset(struct fake_device *fake)
{
	WRITE_ONCE(fake->regs->reset_status, 1);
	WRITE_ONCE(fake->regs->status, 0);
	if (fake->faults.refuse_reset)
		return;
	forget_everything(fake);
	fake->counts.resets++;
	fake->faults.dead = false;
	fake->regs->generation++;
	describe(fake);
	fake_device_interrupt(fake, 0);
}

static void control(struct fake_device *fake)
{
	struct simpler_hw_regs *regs = fake->regs;

	if (READ_ONCE(regs->reset_control) == SIMPLER_HW_RESET_DEVICE) {
		if (!READ_ONCE(regs->reset_status))
			reset(fake);
		return;
	}
	if (fake->faults.dead)
		return;
	if (!(READ_ONCE(regs->control) & SIMPLER_HW_CONTROL_ENABLE)) {
		fake->admin = NULL;
		WRITE_ONCE(regs->status, 0);
	} else if (!fake->admin) {
		bool good = !fake->faults.refuse_enable && !fake_admin_enable(fake);

		/* release: pairs with the driver's acquire of status; the rings are set up */
		smp_store_release(&regs->status, good ? SIMPLER_HW_STATUS_ENABLED :
							SIMPLER_HW_STATUS_REFUSED);
		fake_device_interrupt(fake, 0);
	}
}

static void serve(struct fake_device *fake)
{
	u32 i;

	control(fake);
	if (fake->faults.dead || READ_ONCE(fake->regs->reset_status))
		return;
	WRITE_ONCE(fake->regs->heartbeat, fake->regs->heartbeat + 1);
	WRITE_ONCE(fake->regs->counter, ktime_get_ns());
	if (!fake->faults.deaf)
		fake_admin_run(fake);
	for (i = 0; i < FAKE_STREAMS && !fake->faults.hung && !fake->suspended; i++)
		if (fake->streams[i].live)
			fake_stream_run(fake, &fake->streams[i]);
}

void fake_device_ring(void *cookie, u32 value)
{
	struct fake_device *fake = cookie;

	atomic_inc(&fake->rung);
	wake_up(&fake->wake);
}

static void isolate(void *cookie)
{
	struct fake_device *fake = cookie;

	fake->counts.isolations++;
}

/* User space rings by storing to a page, which wakes nobody: the tick looks at it. */
static int thread_main(void *data)
{
	struct fake_device *fake = data;

	while (!kthread_should_stop()) {
		wait_event_timeout(fake->wake, atomic_read(&fake->rung) || kthread_should_stop(),
				   TICK);
		mutex_lock(&fake->lock);
		fake->counts.doorbells += atomic_xchg(&fake->rung, 0);
		serve(fake);
		mutex_unlock(&fake->lock);
	}
	return 0;
}

/* ---- life ---- */

static int create_parent(struct fake_device *fake)
{
	struct device *parent = kunit_device_register(fake->test, "simpler-fake");

	if (IS_ERR(parent))
		return PTR_ERR(parent);
	parent->dma_mask = &parent->coherent_dma_mask;
	fake->parent = parent;
	return dma_set_mask_and_coherent(parent, DMA_BIT_MASK(52));
}

static void remove_parent(struct fake_device *fake)
{
	if (fake->parent)
		kunit_device_unregister(fake->test, fake->parent);
	fake->parent = NULL;
}

int fake_device_bind(struct fake_device *fake)
{
	struct simpler_device *sdev;
	int ret = create_parent(fake);

	if (ret) {
		remove_parent(fake);
		return ret;
	}
	WRITE_ONCE(current->fail_nth, fake->fail_nth);
	sdev = simpler_device_create(fake->parent, &fake->res);
	fake->fail_nth = READ_ONCE(current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);
	if (IS_ERR(sdev)) {
		remove_parent(fake);
		return PTR_ERR(sdev);
	}
	WRITE_ONCE(fake->sdev, sdev);
	mutex_lock(&fake->lock);
	fake->counts = (struct fake_counts) { 0 };
	mutex_unlock(&fake->lock);
	return 0;
}

void fake_device_unbind(struct fake_device *fake)
{
	if (!fake->sdev)
		return;
	simpler_device_destroy(fake->sdev);
	WRITE_ONCE(fake->sdev, NULL);
	remove_parent(fake);
}

void fake_device_set(struct fake_device *fake, const struct fake_faults *faults)
{
	mutex_lock(&fake->lock);
	fake->faults = *faults;
	mutex_unlock(&fake->lock);
	fake_device_ring(fake, FAKE_DOORBELL_BASE);
}

struct fake_counts fake_device_counts(struct fake_device *fake)
{
	struct fake_counts counts;

	mutex_lock(&fake->lock);
	counts = fake->counts;
	mutex_unlock(&fake->lock);
	return counts;
}

static void describe_resources(struct fake_device *fake)
{
	fake->res = (struct simpler_resources) {
		.memory = fake->memory,
		.memory_bytes = FAKE_BYTES,
		.memory_phys = virt_to_phys(fake->memory),
		.doorbell = fake_device_ring,
		.isolate = isolate,
		.cookie = fake,
		.doorbell_page = virt_to_phys(fake->doorbell_page),
		.name = "fake",
	};
}

struct fake_device *fake_device_start(struct kunit *test)
{
	struct fake_device *fake = kzalloc(sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->test = test;
	mutex_init(&fake->lock);
	init_waitqueue_head(&fake->wake);
	fake->memory = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, FAKE_ORDER);
	KUNIT_ASSERT_NOT_NULL(test, fake->memory);
	fake->doorbell_page = (u32 *)get_zeroed_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->doorbell_page);
	fake->regs = fake->memory;
	describe(fake);
	describe_resources(fake);
	fake->thread = kthread_run(thread_main, fake, "fake-npu");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake->thread);
	return fake;
}

void fake_device_stop(struct fake_device *fake)
{
	fake_device_unbind(fake);
	kthread_stop(fake->thread);
	free_pages((unsigned long)fake->memory, FAKE_ORDER);
	free_page((unsigned long)fake->doorbell_page);
	kfree(fake);
}
