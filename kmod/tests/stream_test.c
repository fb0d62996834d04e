// SPDX-License-Identifier: GPL-2.0-only
/* STREAM_CREATE, STREAM_DESTROY, STREAM_STATE, WAIT_SEQNO; streams fed by user space */
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "fixture.h"
#include "simpler_drv.h"

#define VALID								\
	((struct drm_simpler_stream_create) {				\
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 16,	\
	})

static struct drm_simpler_stream_state state_of(struct fixture *f, u32 stream)
{
	struct drm_simpler_stream_state arg = { .stream = stream };

	KUNIT_ASSERT_EQ(f->test, fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_STATE, &arg), 0L);
	return arg;
}

static long destroy(struct fixture *f, u32 stream)
{
	struct drm_simpler_stream_destroy arg = { .stream = stream };

	return fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_DESTROY, &arg);
}

static void a_new_stream_is_ready_and_empty(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_stream_state state = state_of(f, fixture_stream(f));

	KUNIT_EXPECT_EQ(test, state.context_state, DRM_SIMPLER_CONTEXT_READY);
	KUNIT_EXPECT_EQ(test, state.submitted, 0ull);
	KUNIT_EXPECT_EQ(test, state.completed, 0ull);
	KUNIT_EXPECT_EQ(test, state.error, 0);
	KUNIT_EXPECT_EQ(test, state.error_seqno, 0ull);
}

static void bad_streams_are_refused(struct kunit *test)
{
	struct fixture *f = test->priv;

	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, flags = 2);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, priority = 3);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, priority = ~0u);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, entries = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, entries = 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, entries = 2);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, entries = 24);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL,
			entries = 2 * SIMPLER_HW_RING_MAX_ENTRIES);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, entries = 1u << 31);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, timeout_ms = 600001);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, timeout_ms = ~0u);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EINVAL, pad = 1);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).streams_created, 0u);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID);
}

static void a_user_mode_stream_has_no_timeout(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_stream_create user = VALID;

	user.flags = DRM_SIMPLER_STREAM_USER;
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, user, -EINVAL, timeout_ms = 1);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, user);
}

static void high_priority_needs_the_capability(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct cred *cred = prepare_creds();
	const struct cred *old;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_clear(cred->cap_effective);
	old = override_creds(cred);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, -EACCES,
			priority = DRM_SIMPLER_PRIORITY_HIGH);
	revert_creds(old);
	put_cred(cred);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID, 0,
			priority = DRM_SIMPLER_PRIORITY_HIGH);
}

static void a_destroyed_stream_is_not_found(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_stream_destroy arg = { .stream = fixture_stream(f) };
	struct drm_simpler_stream_state state = { .stream = arg.stream };

	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_DESTROY, arg, -EINVAL, pad = 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_DESTROY, arg, -ENOENT, stream = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_DESTROY, arg, -ENOENT, stream = ~0u);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_STREAM_STATE, state);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_STREAM_DESTROY, arg);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_DESTROY, arg, -ENOENT, pad = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_STREAM_STATE, state, -ENOENT, error = 0);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).streams_destroyed, 1u);
}

static void streams_of_other_files_are_not_found(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_stream_state state = { .stream = fixture_stream(f) };
	struct file *other = fixture_open(f);

	KUNIT_EXPECT_EQ(test, fixture_call_on(f, other, DRM_IOCTL_SIMPLER_STREAM_STATE, &state),
			(long)-ENOENT);
	fixture_close(other);
}

static void a_file_has_a_limited_number_of_streams(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 created = 0, first = 0;
	long ret;

	for (;;) {
		struct drm_simpler_stream_create arg = VALID;

		ret = fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, &arg);
		if (ret)
			break;
		first = first ?: arg.stream;
		created++;
	}
	KUNIT_EXPECT_EQ(test, created, min(FAKE_STREAMS, simpler_max_file_streams));
	KUNIT_EXPECT_TRUE(test, ret == -EDQUOT || ret == -ENOSPC);
	KUNIT_EXPECT_EQ(test, destroy(f, first), 0L);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, VALID);
}

static void contexts_of_the_device_run_out_without_leaks(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_stream_create arg;
	struct file *files[FAKE_CONTEXTS + 1];
	u32 i, made = 0;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		files[i] = fixture_open(f);
		arg = VALID;
		made += !fixture_call_on(f, files[i], DRM_IOCTL_SIMPLER_STREAM_CREATE, &arg);
	}
	KUNIT_EXPECT_EQ(test, made, FAKE_CONTEXTS);
	fixture_close(files[0]);
	arg = VALID;
	KUNIT_EXPECT_EQ(test, fixture_call_on(f, files[FAKE_CONTEXTS],
					      DRM_IOCTL_SIMPLER_STREAM_CREATE, &arg), 0L);
	for (i = 1; i < ARRAY_SIZE(files); i++)
		fixture_close(files[i]);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).contexts_destroyed, FAKE_CONTEXTS + 1);
}

static void bad_waits_are_refused(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_wait_seqno wait = { .stream = fixture_stream(f) };

	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_WAIT_SEQNO, wait);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_WAIT_SEQNO, wait, -EINVAL, flags = 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_WAIT_SEQNO, wait, -ENOENT, stream = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_WAIT_SEQNO, wait, -ETIME, seqno = 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_WAIT_SEQNO, wait, -ETIME, seqno = ~0ull);
}

static void a_wait_ends_at_its_deadline(struct kunit *test)
{
	struct fixture *f = test->priv;
	s64 deadline = ktime_get_ns() + 3 * NSEC_PER_SEC;
	struct drm_simpler_wait_seqno wait = {
		.stream = fixture_stream(f), .seqno = 1, .deadline_ns = deadline,
	};

	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_WAIT_SEQNO, &wait), (long)-ETIME);
	KUNIT_EXPECT_GE(test, (s64)ktime_get_ns(), deadline);
}

/* ---- streams of user space ---- */

struct user_stream {
	struct drm_simpler_stream_create arg;
	unsigned long ring;
	unsigned long doorbell;
};

static struct user_stream user_stream(struct fixture *f)
{
	struct user_stream s = { .arg = VALID };

	s.arg.flags = DRM_SIMPLER_STREAM_USER;
	KUNIT_ASSERT_EQ(f->test, fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, &s.arg), 0L);
	s.ring = kunit_vm_mmap(f->test, f->file, 0, s.arg.ring_size, PROT_READ | PROT_WRITE,
			       MAP_SHARED, s.arg.ring_offset);
	s.doorbell = kunit_vm_mmap(f->test, f->file, 0, s.arg.doorbell_size,
				   PROT_READ | PROT_WRITE, MAP_SHARED, s.arg.doorbell_offset);
	KUNIT_ASSERT_LT(f->test, s.ring, (unsigned long)TASK_SIZE);
	KUNIT_ASSERT_LT(f->test, s.doorbell, (unsigned long)TASK_SIZE);
	return s;
}

static void publish(struct fixture *f, struct user_stream *s, u32 slot,
		    const struct simpler_hw_cmd *cmd, u32 producer)
{
	unsigned long at = s->ring + sizeof(struct simpler_hw_ring) + slot * sizeof(*cmd);

	KUNIT_ASSERT_EQ(f->test, copy_to_user((void __user *)at, cmd, sizeof(*cmd)), 0ul);
	KUNIT_ASSERT_EQ(f->test, put_user(producer, (u32 __user *)s->ring), 0);
	KUNIT_ASSERT_EQ(f->test, put_user(s->arg.doorbell_value,
		(u32 __user *)(s->doorbell + s->arg.doorbell_position)), 0);
}

static void user_space_submits_by_itself(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct user_stream s = user_stream(f);
	struct simpler_hw_cmd nop = { .opcode = SIMPLER_HW_OP_NOP };

	publish(f, &s, 0, &nop, 1);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, s.arg.stream, 1), 0L);
	KUNIT_EXPECT_EQ(test, state_of(f, s.arg.stream).completed, 1ull);
	KUNIT_EXPECT_EQ(test, f->fake->doorbell_page[FAKE_DOORBELL_OFFSET / 4],
			s.arg.doorbell_value);
}

static void submit_is_refused_for_user_streams(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct user_stream s = user_stream(f);
	struct simpler_hw_cmd nop = { .opcode = SIMPLER_HW_OP_NOP };

	KUNIT_EXPECT_EQ(test, fixture_submit(f, s.arg.stream, &nop, 1, NULL), (long)-EPERM);
}

static void a_hostile_ring_bans_its_context_only(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct file *other = fixture_open(f);
	struct drm_simpler_stream_create arg = VALID;
	struct user_stream s = user_stream(f);
	struct simpler_hw_cmd nop = { .opcode = SIMPLER_HW_OP_NOP };
	u64 seqno = 0;

	KUNIT_ASSERT_EQ(test, fixture_call_on(f, other, DRM_IOCTL_SIMPLER_STREAM_CREATE, &arg), 0L);
	publish(f, &s, 0, &nop, 1000);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, s.arg.stream, 1000), (long)-EIO);
	KUNIT_EXPECT_EQ(test, fixture_context(f, f->file).state, DRM_SIMPLER_CONTEXT_BANNED);
	KUNIT_EXPECT_EQ(test, fixture_submit_on(f, other, arg.stream, &nop, 1, NULL, 0, &seqno), 0);
	KUNIT_EXPECT_EQ(test, fixture_wait_on(f, other, arg.stream, seqno), 0L);
	fixture_close(other);
}

static void offsets_of_other_files_cannot_be_mapped(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct user_stream s = user_stream(f);
	struct file *other = fixture_open(f);
	unsigned long at = vm_mmap(other, 0, s.arg.ring_size, PROT_READ | PROT_WRITE, MAP_SHARED,
				   s.arg.ring_offset);

	KUNIT_EXPECT_TRUE(test, IS_ERR_VALUE(at));
	fixture_close(other);
}

static void a_doorbell_mapping_is_one_page(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct user_stream s = user_stream(f);
	unsigned long at = vm_mmap(f->file, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
				   s.arg.doorbell_offset);

	KUNIT_EXPECT_TRUE(test, IS_ERR_VALUE(at));
	at = vm_mmap(f->file, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		     s.arg.doorbell_offset);
	KUNIT_EXPECT_TRUE(test, IS_ERR_VALUE(at));
}

static struct kunit_case stream_cases[] = {
	KUNIT_CASE(a_new_stream_is_ready_and_empty),
	KUNIT_CASE(bad_streams_are_refused),
	KUNIT_CASE(a_user_mode_stream_has_no_timeout),
	KUNIT_CASE(high_priority_needs_the_capability),
	KUNIT_CASE(a_destroyed_stream_is_not_found),
	KUNIT_CASE(streams_of_other_files_are_not_found),
	KUNIT_CASE(a_file_has_a_limited_number_of_streams),
	KUNIT_CASE(contexts_of_the_device_run_out_without_leaks),
	KUNIT_CASE(bad_waits_are_refused),
	KUNIT_CASE(a_wait_ends_at_its_deadline),
	KUNIT_CASE(user_space_submits_by_itself),
	KUNIT_CASE(submit_is_refused_for_user_streams),
	KUNIT_CASE(a_hostile_ring_bans_its_context_only),
	KUNIT_CASE(offsets_of_other_files_cannot_be_mapped),
	KUNIT_CASE(a_doorbell_mapping_is_one_page),
	{}
};

FIXTURE_SUITE("simpler_stream", stream_cases);
