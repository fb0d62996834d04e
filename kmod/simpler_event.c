// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the device reports on its own account: faults and changes of health.
 *
 * Life of a fault: the device writes a record and raises vector 0; this work copies
 * it, bans the context it names, and gives the slot back.  A storm costs one line in
 * the log per context, because the first record bans it.
 */
#include "simpler_drv.h"
#include "simpler_notify.h"
#include "simpler_trace.h"

static void copy_fault(struct simpler_device *sdev, struct simpler_hw_fault *record)
{
	u32 slot = sdev->fault_consumer % SIMPLER_FAULT_RING_ENTRIES;

	simpler_copy_words(record, &sdev->faults[slot], sizeof(*record));
}

static void to_user(const struct simpler_hw_fault *record, struct drm_simpler_fault *fault)
{
	*fault = (struct drm_simpler_fault) {
		.code = record->code,
		.flags = record->flags,
		.stream = record->stream,
		.core = record->core,
		.func_id = record->func_id,
		.seqno = record->seqno,
		.task = record->task,
		.address = record->address,
		.pc = record->pc,
		.timestamp = record->timestamp,
	};
}

static void handle_fault(struct simpler_device *sdev)
{
	struct simpler_hw_fault record;
	struct drm_simpler_fault fault;
	struct simpler_ctx *ctx;

	copy_fault(sdev, &record);
	if (!record.code)
		return;		/* not a record: the device has counted what it did not write */
	to_user(&record, &fault);
	simpler_counter_add(sdev, SIMPLER_COUNTER_FAULTS);
	trace_simpler_fault(sdev, record.context, &fault);
	mutex_lock(&sdev->contexts_lock);
	ctx = xa_load(&sdev->context_ids, record.context);
	if (ctx)
		simpler_ctx_ban(ctx, &fault);
	else
		drm_dbg(&sdev->drm, "fault %u of context %u, which is closed\n", record.code,
			record.context);
	mutex_unlock(&sdev->contexts_lock);
}

static void handle_faults(struct simpler_device *sdev)
{
	struct simpler_hw_regs *regs = sdev->regs;
	u32 producer = simpler_read(regs->fault_producer);

	if (producer - sdev->fault_consumer > SIMPLER_FAULT_RING_ENTRIES) {
		simpler_reset_request(sdev, "its fault ring holds more than it can");
		return;
	}
	/* pairs with the device's release of fault_producer: the records are older */
	dma_rmb();
	while (sdev->fault_consumer != producer && !READ_ONCE(sdev->gone)) {
		handle_fault(sdev);
		WRITE_ONCE(sdev->fault_consumer, sdev->fault_consumer + 1);
		/* pairs with the device's acquire of fault_consumer: the slot has been read */
		dma_wmb();
		simpler_write(regs->fault_consumer, sdev->fault_consumer);
	}
}

static void handle_health(struct simpler_device *sdev)
{
	struct simpler_hw_regs *regs = sdev->regs;
	u32 events = simpler_read(regs->health_events);
	u32 health = simpler_read(regs->health);

	if (events == sdev->health_events && health == sdev->health)
		return;
	if (health != sdev->health)
		drm_notice(&sdev->drm, "health changed from %u to %u\n", sdev->health, health);
	WRITE_ONCE(sdev->health_events, events);
	WRITE_ONCE(sdev->health, health);
	simpler_netlink_health(sdev);
	if (health == SIMPLER_HW_HEALTH_DEAD)
		simpler_reset_request(sdev, "it reports that it is dead");
}

void simpler_event_work(struct work_struct *work)
{
	struct simpler_device *sdev = container_of(work, struct simpler_device, event_work);
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return;
	handle_faults(sdev);
	handle_health(sdev);
	drm_dev_exit(idx);
}
