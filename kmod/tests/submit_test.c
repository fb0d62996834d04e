// SPDX-License-Identifier: GPL-2.0-only
/* SUBMIT and its synchronisation objects */
#include <linux/ktime.h>

#include "fixture.h"

#define NOP	{ .opcode = SIMPLER_HW_OP_NOP }

static const struct simpler_hw_cmd nop = NOP;

static struct simpler_hw_cmd fence(u64 addr, u64 value)
{
	return (struct simpler_hw_cmd) {
		.opcode = SIMPLER_HW_OP_FENCE, .fence = { .addr = addr, .value = value },
	};
}

static struct simpler_hw_cmd wait_for(u64 addr, u64 value)
{
	return (struct simpler_hw_cmd) {
		.opcode = SIMPLER_HW_OP_WAIT, .wait = { .addr = addr, .value = value },
	};
}

static void commands_run_in_order(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address, seqno = 0;
	struct simpler_hw_cmd commands[] = {
		fence(at, 1), fence(at + 8, 2), nop,
		{ .opcode = SIMPLER_HW_OP_COPY, .copy = { at + 16, at, 16 } },
		fence(at, 3),
	};
	u32 stream = fixture_stream(f);

	KUNIT_ASSERT_EQ(test, fixture_submit(f, stream, commands, 5, &seqno), 0L);
	KUNIT_EXPECT_EQ(test, seqno, 5ull);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, stream, seqno), 0L);
	KUNIT_EXPECT_EQ(test, *fixture_device_word(f, at, false), 3ull);
	KUNIT_EXPECT_EQ(test, *fixture_device_word(f, at + 16, false), 1ull);
	KUNIT_EXPECT_EQ(test, *fixture_device_word(f, at + 24, false), 2ull);
}

static void sequence_numbers_go_on_beyond_the_ring(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd commands[7] = { NOP, NOP, NOP, NOP, NOP, NOP, NOP };
	u32 stream = fixture_stream(f), i;
	u64 seqno = 0;

	for (i = 1; i <= 20; i++) {
		KUNIT_ASSERT_EQ(test, fixture_submit(f, stream, commands, 7, &seqno), 0L);
		KUNIT_EXPECT_EQ(test, seqno, 7ull * i);
	}
	KUNIT_EXPECT_EQ(test, fixture_wait(f, stream, seqno), 0L);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).commands, 140u);
}

static void a_job_may_fill_the_ring_but_not_more(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd commands[17] = { 0 };
	u32 stream = fixture_stream(f);
	u64 seqno = 0;

	KUNIT_EXPECT_EQ(test, fixture_submit(f, stream, commands, 17, NULL), (long)-EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_submit(f, stream, commands, 16, &seqno), 0L);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, stream, seqno), 0L);
}

static struct drm_simpler_submit valid_submit(struct fixture *f, u32 stream)
{
	struct drm_simpler_sync sync = { DRM_SIMPLER_SYNC_SIGNAL, fixture_syncobj(f), 0 };

	return (struct drm_simpler_submit) {
		.stream = stream,
		.commands = { sizeof(nop), 1, fixture_put(f, PAGE_SIZE, &nop, sizeof(nop)) },
		.syncs = { sizeof(sync), 1, fixture_put(f, 2 * PAGE_SIZE, &sync, sizeof(sync)) },
	};
}

static void bad_submissions_are_refused(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_submit valid = valid_submit(f, fixture_stream(f));

	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EINVAL, flags = 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EINVAL, pad = 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -ENOENT, stream = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -ENOENT, stream = ~0u);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EINVAL, commands.count = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EINVAL, commands.count = ~0u);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EINVAL, commands.stride = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EINVAL, syncs.stride = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EINVAL, syncs.count = ~0u);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EFAULT, commands.array = 8);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EFAULT, commands.array = ~0ull - 7);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -EFAULT, syncs.array = 8);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).commands, 0u);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, valid.stream, 1), 0L);
}

static void longer_elements_must_be_zero_beyond_what_is_known(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_submit valid = valid_submit(f, fixture_stream(f));
	u8 long_command[2 * sizeof(nop)] = { 0 };

	valid.commands.stride = sizeof(long_command);
	valid.commands.array = fixture_put(f, PAGE_SIZE, long_command, sizeof(long_command));
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid);
	long_command[sizeof(nop)] = 1;
	fixture_put(f, PAGE_SIZE, long_command, sizeof(long_command));
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -E2BIG, pad = 0);
	long_command[sizeof(nop)] = 0;
	long_command[sizeof(long_command) - 1] = 1;
	fixture_put(f, PAGE_SIZE, long_command, sizeof(long_command));
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -E2BIG, pad = 0);
}

static void elements_end_at_a_page(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_submit valid = valid_submit(f, fixture_stream(f));

	/* all of the scratch area behind the command is zero */
	valid.commands.stride = PAGE_SIZE;
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -E2BIG,
			commands.stride = PAGE_SIZE + sizeof(u64));
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_SUBMIT, valid, -E2BIG, commands.stride = U32_MAX);
}

#define BAD_COMMAND(_f, _stream, ...)						\
	do {									\
		struct simpler_hw_cmd _cmd = __VA_ARGS__;			\
		KUNIT_EXPECT_EQ_MSG((_f)->test,					\
				    fixture_submit(_f, _stream, &_cmd, 1, NULL),	\
				    (long)-EINVAL, "%s", #__VA_ARGS__);		\
	} while (0)

static void malformed_commands_are_refused(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address;
	u32 stream = fixture_stream(f);

	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_BARRIER + 1 });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_ADMIN_CONTEXT_CREATE });
	BAD_COMMAND(f, stream, { .opcode = 255 });
	BAD_COMMAND(f, stream, { .flags = 4 });
	BAD_COMMAND(f, stream, { .reserved = 1 });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_NOP, .words[6] = 1 });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_BARRIER, .words[0] = 1 });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_FENCE, .fence = { at, 1, { 1 } } });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_WAIT, .wait = { at, 0, { 0, 0, 1 } } });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_COPY, .copy = { at, at + 64, 8, { 1 } } });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_FILL,
				 .fill = { .dst = at, .bytes = 8, .width = 8, .reserved = 1 } });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_LAUNCH,
				 .launch = { at, sizeof(struct simpler_hw_launch), 0, { 1 } } });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_UPLOAD,
				 .upload = { .addr = at, .bytes = 64, .reserved = 1 } });
	BAD_COMMAND(f, stream, { .opcode = SIMPLER_HW_OP_UNLOAD, .unload = { .reserved = 1 } });
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).commands, 0u);
	KUNIT_EXPECT_EQ(test, fixture_context(f, f->file).state, DRM_SIMPLER_CONTEXT_READY);
}

static void one_bad_command_submits_none(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd commands[3] = { NOP, NOP, { .opcode = 200 } };
	u32 stream = fixture_stream(f);
	u64 seqno = 0;

	KUNIT_EXPECT_EQ(test, fixture_submit(f, stream, commands, 3, NULL), (long)-EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_submit(f, stream, commands, 2, &seqno), 0L);
	KUNIT_EXPECT_EQ(test, seqno, 2ull);
}

/* ---- synchronisation ---- */

static long syncobj_wait(struct fixture *f, u32 handle, u64 point, s64 timeout_ns)
{
	struct drm_syncobj_timeline_wait arg = {
		.handles = fixture_put(f, 8 * PAGE_SIZE, &handle, sizeof(handle)),
		.points = fixture_put(f, 9 * PAGE_SIZE, &point, sizeof(point)),
		.timeout_nsec = ktime_get_ns() + timeout_ns,
		.count_handles = 1,
	};

	return fixture_call(f, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &arg);
}

static void bad_synchronisation_is_refused(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 stream = fixture_stream(f), handle = fixture_syncobj(f), i;
	const struct { struct drm_simpler_sync sync; long error; } cases[] = {
		{ { 4, handle, 0 }, -EINVAL },
		{ { ~0u, handle, 0 }, -EINVAL },
		{ { DRM_SIMPLER_SYNC_SIGNAL, 0, 0 }, -ENOENT },
		{ { DRM_SIMPLER_SYNC_SIGNAL, ~0u, 0 }, -ENOENT },
		{ { 0, ~0u, 0 }, -ENOENT },
		{ { DRM_SIMPLER_SYNC_SIGNAL, handle, 1 }, -EINVAL },
		{ { DRM_SIMPLER_SYNC_SIGNAL | DRM_SIMPLER_SYNC_TIMELINE, handle, 0 }, -EINVAL },
		{ { DRM_SIMPLER_SYNC_TIMELINE, handle, 0 }, -EINVAL },
		{ { 0, handle, 0 }, -EINVAL },	/* nothing will ever signal it */
	};

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, fixture_submit_on(f, f->file, stream, &nop, 1,
							    &cases[i].sync, 1, NULL),
				    cases[i].error, "case %u", i);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).commands, 0u);
}

static void an_out_fence_signals_when_the_last_command_completed(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address;
	struct simpler_hw_cmd command = wait_for(at, 1);
	u32 stream = fixture_stream(f), handle = fixture_syncobj(f);
	struct drm_simpler_sync sync = { DRM_SIMPLER_SYNC_SIGNAL, handle, 0 };

	KUNIT_ASSERT_EQ(test,
			fixture_submit_on(f, f->file, stream, &command, 1, &sync, 1, NULL), 0);
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle, 0, NSEC_PER_SEC / 2), (long)-ETIME);
	*fixture_device_word(f, at, true) = 1;
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle, 0, NSEC_PER_SEC), 0L);
}

static void a_job_waits_for_the_fence_of_another_stream(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address, seqno = 0;
	struct simpler_hw_cmd first = wait_for(at, 1), second = fence(at + 8, 5);
	u32 a = fixture_stream(f), b = fixture_stream(f), handle = fixture_syncobj(f);
	struct drm_simpler_sync out = { DRM_SIMPLER_SYNC_SIGNAL, handle, 0 }, in = { 0, handle, 0 };

	KUNIT_ASSERT_EQ(test, fixture_submit_on(f, f->file, a, &first, 1, &out, 1, NULL), 0L);
	KUNIT_ASSERT_EQ(test, fixture_submit_on(f, f->file, b, &second, 1, &in, 1, &seqno), 0L);
	schedule_timeout_uninterruptible(HZ / 2);
	KUNIT_EXPECT_EQ(test, *fixture_device_word(f, at + 8, false), 0ull);
	*fixture_device_word(f, at, true) = 1;
	KUNIT_EXPECT_EQ(test, fixture_wait(f, b, seqno), 0L);
	KUNIT_EXPECT_EQ(test, *fixture_device_word(f, at + 8, false), 5ull);
}

static void timeline_points_signal_in_order(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address;
	u32 stream = fixture_stream(f), handle = fixture_syncobj(f), i;

	for (i = 1; i <= 3; i++) {
		struct simpler_hw_cmd command = wait_for(at, i);
		struct drm_simpler_sync sync = {
			DRM_SIMPLER_SYNC_SIGNAL | DRM_SIMPLER_SYNC_TIMELINE, handle, i,
		};

		KUNIT_ASSERT_EQ(test, fixture_submit_on(f, f->file, stream, &command, 1, &sync, 1,
							NULL), 0L);
	}
	*fixture_device_word(f, at, true) = 2;
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle, 2, NSEC_PER_SEC), 0L);
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle, 3, NSEC_PER_SEC / 2), (long)-ETIME);
	*fixture_device_word(f, at, true) = 3;
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle, 3, NSEC_PER_SEC), 0L);
}

static void a_failed_command_is_told_by_the_stream(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address, seqno = 0;
	struct simpler_hw_cmd commands[] = {
		{ .opcode = SIMPLER_HW_OP_LAUNCH, .batch = 1,
		  .launch = { at, sizeof(struct simpler_hw_launch), 0 } },
		{ .opcode = SIMPLER_HW_OP_FENCE, .batch = 1, .fence = { at, 1 } },
		{ .opcode = SIMPLER_HW_OP_FENCE, .batch = 1, .flags = SIMPLER_HW_CMD_ALWAYS,
		  .fence = { at + 8, 1 } },
	};
	struct drm_simpler_stream_state state = { .stream = fixture_stream(f) };
	struct fake_faults faults = { .launch_code = 42 };

	fake_device_set(f->fake, &faults);
	KUNIT_ASSERT_EQ(test, fixture_submit(f, state.stream, commands, 3, &seqno), 0L);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, state.stream, seqno), 0L);
	KUNIT_ASSERT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_STATE, &state), 0L);
	KUNIT_EXPECT_EQ(test, state.error, -42);
	KUNIT_EXPECT_EQ(test, state.error_seqno, 1ull);
	KUNIT_EXPECT_EQ(test, state.context_state, DRM_SIMPLER_CONTEXT_READY);
	KUNIT_EXPECT_EQ(test, *fixture_device_word(f, at, false), 0ull);
	KUNIT_EXPECT_EQ(test, *fixture_device_word(f, at + 8, false), 1ull);
}

static void destroying_a_stream_completes_what_waits(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address;
	struct simpler_hw_cmd command = wait_for(at, 1);
	u32 handle = fixture_syncobj(f);
	struct drm_simpler_sync sync = { DRM_SIMPLER_SYNC_SIGNAL, handle, 0 };
	struct drm_simpler_stream_destroy arg = { .stream = fixture_stream(f) };

	KUNIT_ASSERT_EQ(test,
			fixture_submit_on(f, f->file, arg.stream, &command, 1, &sync, 1, NULL), 0);
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_DESTROY, &arg), 0L);
	KUNIT_EXPECT_EQ(test, syncobj_wait(f, handle, 0, NSEC_PER_SEC), 0L);
}

static void closing_the_file_completes_what_waits(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address;
	struct simpler_hw_cmd command = wait_for(at, 1);
	u32 stream = fixture_stream(f), i;

	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, fixture_submit(f, stream, &command, 1, NULL), 0L);
	fixture_close(f->file);
	f->file = NULL;
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).contexts_destroyed, 1u);
}

static struct kunit_case submit_cases[] = {
	KUNIT_CASE(commands_run_in_order),
	KUNIT_CASE(sequence_numbers_go_on_beyond_the_ring),
	KUNIT_CASE(a_job_may_fill_the_ring_but_not_more),
	KUNIT_CASE(bad_submissions_are_refused),
	KUNIT_CASE(longer_elements_must_be_zero_beyond_what_is_known),
	KUNIT_CASE(elements_end_at_a_page),
	KUNIT_CASE(malformed_commands_are_refused),
	KUNIT_CASE(one_bad_command_submits_none),
	KUNIT_CASE(bad_synchronisation_is_refused),
	KUNIT_CASE(an_out_fence_signals_when_the_last_command_completed),
	KUNIT_CASE(a_job_waits_for_the_fence_of_another_stream),
	KUNIT_CASE(timeline_points_signal_in_order),
	KUNIT_CASE(a_failed_command_is_told_by_the_stream),
	KUNIT_CASE(destroying_a_stream_completes_what_waits),
	KUNIT_CASE(closing_the_file_completes_what_waits),
	{}
};

FIXTURE_SUITE("simpler_submit", submit_cases);
