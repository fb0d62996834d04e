// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults, hangs, resets, a wedged device, removal. Deadlines of many seconds cost
 * nothing: time is virtual.
 */
#include <linux/ktime.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "fixture.h"
#include "simpler_drv.h"

static const struct simpler_hw_cmd nop = { .opcode = SIMPLER_HW_OP_NOP };

static struct simpler_hw_cmd fence(u64 addr, u64 value)
{
	return (struct simpler_hw_cmd) {
		.opcode = SIMPLER_HW_OP_FENCE, .fence = { .addr = addr, .value = value },
	};
}

static struct simpler_hw_cmd endless(u64 addr)
{
	return (struct simpler_hw_cmd) {
		.opcode = SIMPLER_HW_OP_WAIT, .wait = { .addr = addr, .value = ~0ull },
	};
}

static u32 stream_on(struct fixture *f, struct file *file, u32 timeout_ms)
{
	struct drm_simpler_stream_create arg = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 16, .timeout_ms = timeout_ms,
	};

	KUNIT_ASSERT_EQ(f->test,
			fixture_call_on(f, file, DRM_IOCTL_SIMPLER_STREAM_CREATE, &arg), 0);
	return arg.stream;
}

static void expect_works(struct fixture *f, struct file *file, u32 stream)
{
	u64 seqno = 0;

	KUNIT_EXPECT_EQ(f->test, fixture_submit_on(f, file, stream, &nop, 1, NULL, 0, &seqno), 0L);
	KUNIT_EXPECT_EQ(f->test, fixture_wait_on(f, file, stream, seqno), 0L);
}

/* Submit to the file of the fixture something that signals a new syncobj. */
static u32 submit_signalling(struct fixture *f, u32 stream, const struct simpler_hw_cmd *command)
{
	struct drm_simpler_sync sync = { DRM_SIMPLER_SYNC_SIGNAL, fixture_syncobj(f), 0 };

	KUNIT_ASSERT_EQ(f->test,
			fixture_submit_on(f, f->file, stream, command, 1, &sync, 1, NULL), 0);
	return sync.handle;
}

static long syncobj_wait(struct fixture *f, u32 handle)
{
	struct drm_syncobj_wait arg = {
		.handles = fixture_put(f, 8 * PAGE_SIZE, &handle, sizeof(handle)),
		.timeout_nsec = ktime_get_ns() + 3600ull * NSEC_PER_SEC,
		.count_handles = 1,
	};

	return fixture_call(f, DRM_IOCTL_SYNCOBJ_WAIT, &arg);
}

/* ---- faults ---- */

static void a_page_fault_bans_its_context_with_a_record(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd bad = fence(SIMPLER_HW_VA_MIN + (1ull << 33), 1);
	u32 stream = fixture_stream(f), handle;
	struct drm_simpler_context_info info;

	handle = submit_signalling(f, stream, &bad);
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle), 0L);
	KUNIT_EXPECT_TRUE(test, fixture_until(fixture_context(f, f->file).state ==
					      DRM_SIMPLER_CONTEXT_BANNED));
	info = fixture_context(f, f->file);
	KUNIT_EXPECT_EQ(test, info.faults, 1u);
	KUNIT_EXPECT_EQ(test, info.fault.code, SIMPLER_HW_FAULT_PAGE);
	KUNIT_EXPECT_EQ(test, info.fault.flags, SIMPLER_HW_FAULT_WRITE);
	KUNIT_EXPECT_EQ(test, info.fault.address, bad.fence.addr);
	KUNIT_EXPECT_EQ(test, info.fault.seqno, 1ull);
	KUNIT_EXPECT_EQ(test, info.fault.task, ~0ull);
}

static void a_banned_context_refuses_work_but_answers(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd bad = fence(SIMPLER_HW_VA_MIN + (1ull << 33), 1);
	struct drm_simpler_stream_state state = { .stream = fixture_stream(f) };
	struct drm_simpler_stream_destroy destroy = { .stream = state.stream };
	struct drm_simpler_stream_create create = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 16,
	};

	KUNIT_ASSERT_EQ(test, fixture_submit(f, state.stream, &bad, 1, NULL), 0L);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, state.stream, 2), (long)-EIO);
	KUNIT_EXPECT_EQ(test, fixture_submit(f, state.stream, &nop, 1, NULL), (long)-EIO);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, create, -EIO, pad = 0);
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_STATE, &state), 0L);
	KUNIT_EXPECT_EQ(test, state.context_state, DRM_SIMPLER_CONTEXT_BANNED);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_STREAM_DESTROY, destroy);
}

static void a_fault_leaves_other_files_alone(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd bad = fence(SIMPLER_HW_VA_MIN + (1ull << 33), 1);
	struct file *other = fixture_open(f);
	u32 stream = fixture_stream(f), theirs = stream_on(f, other, 0);

	KUNIT_ASSERT_EQ(test, fixture_submit(f, stream, &bad, 1, NULL), 0L);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, stream, 2), (long)-EIO);
	expect_works(f, other, theirs);
	KUNIT_EXPECT_EQ(test, fixture_context(f, other).faults, 0u);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).resets, 0u);
	fixture_close(other);
}

static void a_storm_of_faults_of_nobody_is_survived(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_fault fault = {
		.code = SIMPLER_HW_FAULT_PAGE, .context = ~0u, .stream = ~0u, .task = ~0ull,
	};
	u32 stream = fixture_stream(f), i;

	mutex_lock(&f->fake->lock);
	for (i = 0; i < 3000; i++) {
		fault.context = i % 3 ? i : ~0u - i;
		if (fault.context < FAKE_CONTEXTS)
			fault.context = FAKE_CONTEXTS;
		fake_fault(f->fake, &fault);
	}
	mutex_unlock(&f->fake->lock);
	expect_works(f, f->file, stream);
	KUNIT_EXPECT_EQ(test, fixture_context(f, f->file).faults, 0u);
	KUNIT_EXPECT_TRUE(test, fixture_until(f->fake->regs->fault_consumer ==
					      f->fake->regs->fault_producer));
}

static void an_impossible_fault_producer_resets_the_device(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct file *other;

	fixture_stream(f);
	mutex_lock(&f->fake->lock);
	f->fake->fault_producer = 0x80000000;
	WRITE_ONCE(f->fake->regs->fault_producer, f->fake->fault_producer);
	fake_device_interrupt(f->fake, 0);
	mutex_unlock(&f->fake->lock);
	KUNIT_EXPECT_TRUE(test, fixture_until(fixture_health(f).resets == 1));
	other = fixture_open(f);
	expect_works(f, other, stream_on(f, other, 0));
	fixture_close(other);
}

/* ---- hangs ---- */

static void a_job_beyond_its_timeout_bans_its_context(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address;
	struct simpler_hw_cmd command = endless(at);
	struct file *other = fixture_open(f);
	u32 stream = stream_on(f, f->file, 500), theirs = stream_on(f, other, 0), handle;
	u64 before = ktime_get_ns();

	handle = submit_signalling(f, stream, &command);
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle), 0L);
	KUNIT_EXPECT_GE(test, ktime_get_ns() - before, 500 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, fixture_context(f, f->file).state, DRM_SIMPLER_CONTEXT_BANNED);
	KUNIT_EXPECT_EQ(test, fixture_context(f, f->file).fault.code, SIMPLER_HW_FAULT_WATCHDOG);
	expect_works(f, other, theirs);
	fixture_close(other);
}

static void lost_interrupts_delay_but_do_not_lose(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct fake_faults faults = { .lose_interrupts = true };
	u32 stream = fixture_stream(f), handle;

	fake_device_set(f->fake, &faults);
	handle = submit_signalling(f, stream, &nop);
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle), 0L);
	expect_works(f, f->file, stream);
	KUNIT_EXPECT_EQ(test, fixture_context(f, f->file).state, DRM_SIMPLER_CONTEXT_READY);
}

static void spurious_interrupts_do_nothing(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 stream = fixture_stream(f), i;

	mutex_lock(&f->fake->lock);
	for (i = 0; i < 1000; i++)
		fake_device_interrupt(f->fake, i % (FAKE_VECTORS + 2));
	mutex_unlock(&f->fake->lock);
	expect_works(f, f->file, stream);
}

static void a_completion_from_the_future_does_no_harm(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct fake_faults faults = { .skew = 1ull << 40 };
	u32 stream = fixture_stream(f), handle;

	fake_device_set(f->fake, &faults);
	handle = submit_signalling(f, stream, &nop);
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle), 0L);
	fake_device_set(f->fake, &(struct fake_faults) { 0 });
}

/* ---- resets ---- */

static void a_dead_device_is_reset_and_all_fences_complete(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address;
	struct simpler_hw_cmd command = endless(at);
	struct fake_faults faults = { .dead = true };
	u32 generation = fixture_health(f).generation;
	u32 stream = stream_on(f, f->file, 600000);
	u32 handle = submit_signalling(f, stream, &command);

	fake_device_set(f->fake, &faults);
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle), 0L);
	KUNIT_EXPECT_TRUE(test, fixture_until(fixture_health(f).resets == 1));
	KUNIT_EXPECT_EQ(test, fixture_health(f).generation, generation + 1);
	KUNIT_EXPECT_EQ(test, fixture_health(f).flags, 0u);
	KUNIT_EXPECT_EQ(test, fixture_context(f, f->file).state, DRM_SIMPLER_CONTEXT_LOST);
	KUNIT_EXPECT_EQ(test, fixture_submit(f, stream, &nop, 1, NULL), (long)-EIO);
}

static void a_new_file_works_after_a_reset(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct fake_faults faults = { .dead = true };
	struct file *other;
	u32 stream = fixture_stream(f);

	fake_device_set(f->fake, &faults);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, stream, 1), (long)-EIO);
	KUNIT_EXPECT_TRUE(test, fixture_until(fixture_health(f).resets == 1));
	other = fixture_open(f);
	expect_works(f, other, stream_on(f, other, 0));
	fixture_close(other);
}

static void a_device_that_ignores_the_admin_ring_is_reset(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct fake_faults faults = { .deaf = true };
	struct drm_simpler_stream_create arg = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 16,
	};

	fake_device_set(f->fake, &faults);
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, &arg), (long)-EIO);
	fake_device_set(f->fake, &(struct fake_faults) { 0 });
	KUNIT_EXPECT_TRUE(test, fixture_until(fixture_health(f).resets == 1));
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).resets, 1u);
}

static void a_device_that_says_it_is_dead_is_reset(struct kunit *test)
{
	struct fixture *f = test->priv;

	fake_device_health(f->fake, SIMPLER_HW_HEALTH_DEAD);
	KUNIT_EXPECT_TRUE(test, fixture_until(fixture_health(f).resets == 1));
	KUNIT_EXPECT_EQ(test, fixture_health(f).health, SIMPLER_HW_HEALTH_OK);
	expect_works(f, f->file, fixture_stream(f));
}

static void degraded_health_is_told_without_a_reset(struct kunit *test)
{
	struct fixture *f = test->priv;

	fake_device_health(f->fake, SIMPLER_HW_HEALTH_DEGRADED);
	KUNIT_EXPECT_EQ(test, fixture_health(f).health, SIMPLER_HW_HEALTH_DEGRADED);
	expect_works(f, f->file, fixture_stream(f));
	KUNIT_EXPECT_EQ(test, fixture_health(f).resets, 0u);
}

static void a_device_that_cannot_be_reset_is_wedged_and_isolated(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct fake_faults faults = { .dead = true, .refuse_reset = true };
	struct drm_simpler_bo_create bo = { .size = PAGE_SIZE };
	struct drm_simpler_stream_destroy destroy = { .stream = fixture_stream(f) };
	u32 handle = submit_signalling(f, destroy.stream, &nop);

	fake_device_set(f->fake, &faults);
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle), 0L);
	KUNIT_EXPECT_TRUE(test, fixture_until(fixture_health(f).flags &
					      DRM_SIMPLER_HEALTH_WEDGED));
	KUNIT_EXPECT_GE(test, fake_device_counts(f->fake).isolations, 1u);
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_BO_CREATE, &bo), (long)-EIO);
	KUNIT_EXPECT_EQ(test, fixture_submit(f, destroy.stream, &nop, 1, NULL), (long)-EIO);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_STREAM_DESTROY, destroy);
}

static void suspend_and_resume_keep_contexts(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 stream = fixture_stream(f), generation = fixture_health(f).generation;

	KUNIT_EXPECT_EQ(test, simpler_device_suspend(f->fake->sdev), 0);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).suspends, 1u);
	simpler_device_resume(f->fake->sdev);
	expect_works(f, f->file, stream);
	KUNIT_EXPECT_EQ(test, fixture_health(f).generation, generation);
}

/* ---- removal ---- */

static void a_wedged_device_does_not_keep_the_machine_awake(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct fake_faults faults = { .dead = true, .refuse_reset = true };

	fake_device_set(f->fake, &faults);
	KUNIT_ASSERT_TRUE(test, fixture_until(fixture_health(f).flags &
					      DRM_SIMPLER_HEALTH_WEDGED));
	KUNIT_EXPECT_EQ(test, simpler_device_suspend(f->fake->sdev), 0);
	simpler_device_resume(f->fake->sdev);
	KUNIT_EXPECT_TRUE(test, fixture_health(f).flags & DRM_SIMPLER_HEALTH_WEDGED);
}

static void calls_on_a_removed_device_say_so(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = { .size = PAGE_SIZE };
	struct drm_simpler_dev_query query = { .type = DRM_SIMPLER_QUERY_HEALTH };
	u32 stream = fixture_stream(f);

	fake_device_unbind(f->fake);
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_BO_CREATE, &bo), (long)-ENODEV);
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_DEV_QUERY, &query), (long)-ENODEV);
	KUNIT_EXPECT_EQ(test, fixture_submit(f, stream, &nop, 1, NULL), (long)-ENODEV);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, stream, 1), (long)-ENODEV);
}

static void removal_does_not_touch_memory_afterwards(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = fixture_bo(f, PAGE_SIZE, 0);
	u32 stream = fixture_stream(f);
	struct simpler_hw_cmd command = endless(bo.device_address);

	KUNIT_ASSERT_EQ(test, fixture_submit(f, stream, &command, 1, NULL), 0L);
	fake_device_unbind(f->fake);
	mutex_lock(&f->fake->lock);
	memset(f->fake->memory, 0xa5, FAKE_BYTES);
	mutex_unlock(&f->fake->lock);
	fixture_close(f->file);
	f->file = NULL;
	KUNIT_EXPECT_NULL(test, memchr_inv(f->fake->memory + PAGE_SIZE, 0xa5,
					   FAKE_BYTES - PAGE_SIZE));
}

static void a_dead_device_can_be_removed(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct fake_faults faults = { .dead = true, .deaf = true, .refuse_reset = true };

	fixture_stream(f);
	fake_device_set(f->fake, &faults);
	fake_device_unbind(f->fake);
	KUNIT_EXPECT_NULL(test, f->fake->sdev);
}

static void the_next_binding_starts_afresh(struct kunit *test)
{
	struct fixture *f = test->priv;

	fixture_stream(f);
	fake_device_unbind(f->fake);
	fixture_close(f->file);
	drm_dev_put(f->drm);
	KUNIT_ASSERT_EQ(test, fake_device_bind(f->fake), 0);
	f->drm = &f->fake->sdev->drm;
	drm_dev_get(f->drm);
	f->file = fixture_open(f);
	expect_works(f, f->file, fixture_stream(f));
}

static struct kunit_case recovery_cases[] = {
	KUNIT_CASE(a_page_fault_bans_its_context_with_a_record),
	KUNIT_CASE(a_banned_context_refuses_work_but_answers),
	KUNIT_CASE(a_fault_leaves_other_files_alone),
	KUNIT_CASE(a_storm_of_faults_of_nobody_is_survived),
	KUNIT_CASE(an_impossible_fault_producer_resets_the_device),
	KUNIT_CASE(a_job_beyond_its_timeout_bans_its_context),
	KUNIT_CASE(lost_interrupts_delay_but_do_not_lose),
	KUNIT_CASE(spurious_interrupts_do_nothing),
	KUNIT_CASE(a_completion_from_the_future_does_no_harm),
	KUNIT_CASE(a_dead_device_is_reset_and_all_fences_complete),
	KUNIT_CASE(a_new_file_works_after_a_reset),
	KUNIT_CASE(a_device_that_ignores_the_admin_ring_is_reset),
	KUNIT_CASE(a_device_that_says_it_is_dead_is_reset),
	KUNIT_CASE(degraded_health_is_told_without_a_reset),
	KUNIT_CASE(a_device_that_cannot_be_reset_is_wedged_and_isolated),
	KUNIT_CASE(suspend_and_resume_keep_contexts),
	KUNIT_CASE(a_wedged_device_does_not_keep_the_machine_awake),
	KUNIT_CASE(calls_on_a_removed_device_say_so),
	KUNIT_CASE(removal_does_not_touch_memory_afterwards),
	KUNIT_CASE(a_dead_device_can_be_removed),
	KUNIT_CASE(the_next_binding_starts_afresh),
	{}
};

FIXTURE_SUITE("simpler_recovery", recovery_cases);
