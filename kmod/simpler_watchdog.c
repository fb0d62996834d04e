// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog looks at the device's heartbeat, and at everything an interrupt should
 * have told: a lost one costs a period, never a hang.
 */
#include "simpler_drv.h"
#include "simpler_stream.h"

#define PERIOD_MS	200u
#define ORPHAN_TICKS	3u

static void check_heartbeat(struct simpler_device *sdev)
{
	u64 now = simpler_read(sdev->regs->heartbeat);
	unsigned long limit = msecs_to_jiffies(simpler_heartbeat_timeout_ms);

	if (now != sdev->heartbeat) {
		sdev->heartbeat = now;
		sdev->heartbeat_seen = jiffies;
	} else if (time_after(jiffies, sdev->heartbeat_seen + limit)) {
		sdev->heartbeat_seen = jiffies;
		simpler_reset_request(sdev, "its heart stands still");
	}
}

static bool has_work(struct simpler_stream *stream)
{
	struct simpler_hw_ring *ring = stream->ring;

	return simpler_read(ring->producer) != (u32)READ_ONCE(stream->seen);
}

/*
 * A ring says that its context is banned, and no fault record has told so for some
 * time: it was lost, because the fault ring was full, or user space wrote into the ring.
 */
static bool is_orphan(struct simpler_stream *stream)
{
	if (simpler_read(stream->ring->state) != SIMPLER_HW_STREAM_BANNED)
		return false;
	return ++stream->orphan_ticks == ORPHAN_TICKS;
}

struct sample {
	bool busy;
	bool orphan;
	u32 hw_stream;
	u64 seqno;
};

static struct sample look_at(struct simpler_ctx *ctx)
{
	struct simpler_stream *stream;
	struct sample sample = {};
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&ctx->streams, id, stream) {
		if (READ_ONCE(stream->end_error))
			continue;
		sample.busy |= has_work(stream);
		if (!is_orphan(stream))
			continue;
		sample.orphan = true;
		sample.hw_stream = stream->hw_id;
		sample.seqno = simpler_read(stream->ring->error_seqno);
	}
	rcu_read_unlock();
	return sample;
}

static void ban_orphan(struct simpler_ctx *ctx, const struct sample *sample)
{
	struct drm_simpler_fault fault = {
		.code = SIMPLER_HW_FAULT_HARDWARE,
		.stream = sample->hw_stream,
		.core = SIMPLER_NO_ID,
		.func_id = SIMPLER_NO_ID,
		.seqno = sample->seqno,
		.task = U64_MAX,
	};

	simpler_ctx_ban(ctx, &fault);
}

/* For fdinfo, a context is busy while a stream of it has work; sampled. */
static void check_contexts(struct simpler_device *sdev)
{
	struct simpler_ctx *ctx;

	mutex_lock(&sdev->contexts_lock);
	list_for_each_entry(ctx, &sdev->contexts, link) {
		struct sample sample;

		if (ctx->state != DRM_SIMPLER_CONTEXT_READY)
			continue;
		sample = look_at(ctx);
		if (sample.busy)
			atomic64_add((u64)PERIOD_MS * NSEC_PER_MSEC, &ctx->busy_ns);
		if (sample.orphan)
			ban_orphan(ctx, &sample);
	}
	mutex_unlock(&sdev->contexts_lock);
}

void simpler_watchdog_work(struct work_struct *work)
{
	struct simpler_device *sdev = container_of(to_delayed_work(work), struct simpler_device,
						   watchdog);
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return;
	if (!READ_ONCE(sdev->wedged) && !READ_ONCE(sdev->resetting)) {
		check_heartbeat(sdev);
		if (simpler_poll_all(sdev))
			simpler_counter_add(sdev, SIMPLER_COUNTER_LOST_IRQS);
		check_contexts(sdev);
	}
	drm_dev_exit(idx);
	if (READ_ONCE(sdev->watchdog_on))
		queue_delayed_work(sdev->submit_wq, &sdev->watchdog,
				   msecs_to_jiffies(PERIOD_MS));
}

void simpler_watchdog_start(struct simpler_device *sdev)
{
	sdev->heartbeat_seen = jiffies;
	WRITE_ONCE(sdev->watchdog_on, true);
	queue_delayed_work(sdev->submit_wq, &sdev->watchdog, msecs_to_jiffies(PERIOD_MS));
}

void simpler_watchdog_stop(struct simpler_device *sdev)
{
	WRITE_ONCE(sdev->watchdog_on, false);
	cancel_delayed_work_sync(&sdev->watchdog);
}
