// SPDX-License-Identifier: GPL-2.0-only
/* DEV_QUERY */
#include "fixture.h"

static long ask(struct fixture *f, u32 type, u64 pointer, u32 *size)
{
	struct drm_simpler_dev_query arg = { .type = type, .size = *size, .pointer = pointer };
	long ret = fixture_call(f, DRM_IOCTL_SIMPLER_DEV_QUERY, &arg);

	*size = arg.size;
	return ret;
}

static void device_info_is_what_the_registers_say(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_device_info info = { 0 };
	u64 at = fixture_put(f, PAGE_SIZE, &info, sizeof(info));
	u32 size = sizeof(info);

	KUNIT_ASSERT_EQ(test, ask(f, DRM_SIMPLER_QUERY_DEVICE, at, &size), 0L);
	fixture_get(f, at, &info, sizeof(info));
	KUNIT_EXPECT_EQ(test, info.hw_version,
			SIMPLER_HW_VERSION_MAJOR << 16 | SIMPLER_HW_VERSION_MINOR);
	KUNIT_EXPECT_EQ(test, info.arch, SIMPLER_HW_ARCH_A2A3);
	KUNIT_EXPECT_EQ(test, info.cluster_count, 4u);
	KUNIT_EXPECT_EQ(test, info.memory_bytes, (u64)FAKE_BYTES - FAKE_MEMORY_BASE);
	KUNIT_EXPECT_EQ(test, info.page_bytes, SIMPLER_HW_PAGE_BYTES);
	KUNIT_EXPECT_EQ(test, info.max_contexts, FAKE_CONTEXTS);
	KUNIT_EXPECT_EQ(test, info.max_streams, FAKE_STREAMS);
	KUNIT_EXPECT_GE(test, info.va_start, SIMPLER_HW_VA_MIN);
	KUNIT_EXPECT_LE(test, info.va_end, 1ull << SIMPLER_HW_VA_BITS);
	KUNIT_EXPECT_EQ(test, info.flags & DRM_SIMPLER_DEVICE_USER_STREAMS,
			DRM_SIMPLER_DEVICE_USER_STREAMS);
}

static void every_type_tells_its_size_without_a_pointer(struct kunit *test)
{
	static const u32 sizes[] = {
		[DRM_SIMPLER_QUERY_DEVICE] = sizeof(struct drm_simpler_device_info),
		[DRM_SIMPLER_QUERY_MEMORY] = sizeof(struct drm_simpler_memory_info),
		[DRM_SIMPLER_QUERY_HEALTH] = sizeof(struct drm_simpler_health_info),
		[DRM_SIMPLER_QUERY_CONTEXT] = sizeof(struct drm_simpler_context_info),
		[DRM_SIMPLER_QUERY_TIME] = sizeof(struct drm_simpler_time_info),
	};
	u32 type, size;

	for (type = 0; type < ARRAY_SIZE(sizes); type++) {
		size = 0;
		KUNIT_EXPECT_EQ(test, ask(test->priv, type, 0, &size), 0L);
		KUNIT_EXPECT_EQ(test, size, sizes[type]);
	}
}

static void a_short_result_is_cut_and_a_long_one_says_how_much(struct kunit *test)
{
	struct fixture *f = test->priv;
	u8 bytes[128];
	u64 at;
	u32 size = 4;

	memset(bytes, 0xee, sizeof(bytes));
	at = fixture_put(f, PAGE_SIZE, bytes, sizeof(bytes));
	KUNIT_EXPECT_EQ(test, ask(f, DRM_SIMPLER_QUERY_HEALTH, at, &size), 0L);
	KUNIT_EXPECT_EQ(test, size, 4u);
	fixture_get(f, at, bytes, sizeof(bytes));
	KUNIT_EXPECT_EQ(test, bytes[3], 0);
	KUNIT_EXPECT_EQ(test, bytes[4], 0xee);
	size = sizeof(bytes);
	KUNIT_EXPECT_EQ(test, ask(f, DRM_SIMPLER_QUERY_HEALTH, at, &size), 0L);
	KUNIT_EXPECT_EQ(test, size, (u32)sizeof(struct drm_simpler_health_info));
}

static void bad_queries_are_refused(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_dev_query valid = {
		.type = DRM_SIMPLER_QUERY_HEALTH, .size = sizeof(struct drm_simpler_health_info),
		.pointer = f->scratch + PAGE_SIZE,
	};

	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_DEV_QUERY, valid);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_DEV_QUERY, valid, -EINVAL, type = 5);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_DEV_QUERY, valid, -EINVAL, type = ~0u);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_DEV_QUERY, valid, -EFAULT, pointer = 8);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_DEV_QUERY, valid, -EFAULT, pointer = ~0ull);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_DEV_QUERY, valid, -EFAULT,
			pointer = f->scratch + SCRATCH_BYTES - 8);
}

static void the_context_appears_with_the_first_stream(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_context_info info = fixture_context(f, f->file);

	KUNIT_EXPECT_EQ(test, info.state, DRM_SIMPLER_CONTEXT_NONE);
	KUNIT_EXPECT_EQ(test, info.id, ~0u);
	fixture_stream(f);
	info = fixture_context(f, f->file);
	KUNIT_EXPECT_EQ(test, info.state, DRM_SIMPLER_CONTEXT_READY);
	KUNIT_EXPECT_LT(test, info.id, FAKE_CONTEXTS);
	KUNIT_EXPECT_EQ(test, info.faults, 0u);
	KUNIT_EXPECT_EQ(test, info.fault.code, 0u);
}

static void device_time_lies_between_two_host_times(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_time_info info = { 0 };
	u64 at = fixture_put(f, PAGE_SIZE, &info, sizeof(info));
	u32 size = sizeof(info);

	KUNIT_ASSERT_EQ(test, ask(f, DRM_SIMPLER_QUERY_TIME, at, &size), 0L);
	fixture_get(f, at, &info, sizeof(info));
	KUNIT_EXPECT_LE(test, info.host_before, info.host_after);
	KUNIT_EXPECT_GT(test, info.host_before, 0ull);
	KUNIT_EXPECT_GT(test, info.device_counter, 0ull);
}

static void calls_without_a_number_are_refused(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_LT(test, f->file->f_op->unlocked_ioctl(f->file,
			DRM_IOW(DRM_COMMAND_BASE + DRM_SIMPLER_WAIT_SEQNO + 1, u64),
			f->scratch), 0);
	KUNIT_EXPECT_EQ(test, f->file->f_op->unlocked_ioctl(f->file,
			DRM_IOCTL_SIMPLER_BO_CREATE, 8), (long)-EFAULT);
}

static struct kunit_case query_cases[] = {
	KUNIT_CASE(device_info_is_what_the_registers_say),
	KUNIT_CASE(every_type_tells_its_size_without_a_pointer),
	KUNIT_CASE(a_short_result_is_cut_and_a_long_one_says_how_much),
	KUNIT_CASE(bad_queries_are_refused),
	KUNIT_CASE(the_context_appears_with_the_first_stream),
	KUNIT_CASE(device_time_lies_between_two_host_times),
	KUNIT_CASE(calls_without_a_number_are_refused),
	{}
};

FIXTURE_SUITE("simpler_query", query_cases);
