// SPDX-License-Identifier: GPL-2.0-only
/* Buffers: BO_CREATE, BO_MMAP_OFFSET, BO_INFO, page tables, quotas */
#include <linux/mman.h>
#include <linux/prandom.h>
#include <linux/uaccess.h>

#include "fixture.h"
#include "simpler_drv.h"

#define MIB2	(2ull << 20)

static struct drm_simpler_bo_info info_of(struct fixture *f, u32 handle)
{
	struct drm_simpler_bo_info arg = { .handle = handle };

	KUNIT_ASSERT_EQ(f->test, fixture_call(f, DRM_IOCTL_SIMPLER_BO_INFO, &arg), 0L);
	return arg;
}

static unsigned long map(struct fixture *f, u32 handle, u64 size)
{
	struct drm_simpler_bo_mmap_offset arg = { .handle = handle };

	KUNIT_ASSERT_EQ(f->test, fixture_call(f, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, &arg), 0L);
	return kunit_vm_mmap(f->test, f->file, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			     arg.offset);
}

static void sizes_are_rounded_up_to_pages(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = fixture_bo(f, 1, 0);

	KUNIT_EXPECT_EQ(test, bo.size, (u64)PAGE_SIZE);
	KUNIT_EXPECT_NE(test, bo.handle, 0u);
	KUNIT_EXPECT_EQ(test, bo.device_address % PAGE_SIZE, 0ull);
	KUNIT_EXPECT_GE(test, bo.device_address, SIMPLER_HW_VA_MIN);
	bo = fixture_bo(f, PAGE_SIZE + 1, DRM_SIMPLER_BO_HOST);
	KUNIT_EXPECT_EQ(test, bo.size, (u64)2 * PAGE_SIZE);
}

static void info_repeats_what_create_said(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 flags = DRM_SIMPLER_BO_HOST | DRM_SIMPLER_BO_WC;
	struct drm_simpler_bo_create bo = fixture_bo(f, 3 * PAGE_SIZE, flags);
	struct drm_simpler_bo_info info = info_of(f, bo.handle);

	KUNIT_EXPECT_EQ(test, info.size, bo.size);
	KUNIT_EXPECT_EQ(test, info.device_address, bo.device_address);
	KUNIT_EXPECT_EQ(test, info.flags, flags);
}

static void big_buffers_are_aligned_for_blocks(struct kunit *test)
{
	struct drm_simpler_bo_create bo = fixture_bo(test->priv, MIB2, DRM_SIMPLER_BO_HOST);

	KUNIT_EXPECT_EQ(test, bo.device_address % MIB2, 0ull);
}

static void buffers_have_different_addresses(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create a = fixture_bo(f, 4 * PAGE_SIZE, 0);
	struct drm_simpler_bo_create b = fixture_bo(f, 4 * PAGE_SIZE, DRM_SIMPLER_BO_HOST);

	KUNIT_EXPECT_TRUE(test, a.device_address + a.size <= b.device_address ||
			  b.device_address + b.size <= a.device_address);
}

static void bad_creations_are_refused(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create valid = { .size = PAGE_SIZE };
	u64 used = fixture_memory(f, f->file).used;

	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_CREATE, valid, -EINVAL, size = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_CREATE, valid, -EINVAL, flags = 1u << 5);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_CREATE, valid, -EINVAL, flags = 1u << 31);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_CREATE, valid, -EINVAL,
			flags = DRM_SIMPLER_BO_WC);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_CREATE, valid, -EINVAL,
			flags = DRM_SIMPLER_BO_HOST | DRM_SIMPLER_BO_CONTIGUOUS);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_CREATE, valid, -EINVAL,
			flags = DRM_SIMPLER_BO_IMPORTED);
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).used, used);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_BO_CREATE, valid);
}

static void sizes_at_the_limits_are_refused_without_using_memory(struct kunit *test)
{
	static const u64 sizes[] = { FAKE_BYTES, 1ull << 39, 1ull << 62, ~0ull - 4095, ~0ull };
	struct fixture *f = test->priv;
	u64 used = fixture_memory(f, f->file).used;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct drm_simpler_bo_create arg = { .size = sizes[i] };
		long ret = fixture_call(f, DRM_IOCTL_SIMPLER_BO_CREATE, &arg);

		KUNIT_EXPECT_TRUE_MSG(test, ret == -EINVAL || ret == -ENOSPC || ret == -EDQUOT,
				      "size %#llx: %ld", sizes[i], ret);
	}
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).used, used);
	fixture_bo(f, PAGE_SIZE, 0);
}

static void handles_that_do_not_exist_are_not_found(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = fixture_bo(f, PAGE_SIZE, 0);
	struct drm_simpler_bo_info info = { .handle = bo.handle };
	struct drm_simpler_bo_mmap_offset offset = { .handle = bo.handle };

	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_BO_INFO, info);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_INFO, info, -ENOENT, handle = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_INFO, info, -ENOENT, handle = ~0u);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, offset, -ENOENT, handle = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, offset, -EINVAL, pad = 1);
	fixture_close_handle(f, bo.handle);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_INFO, info, -ENOENT, handle = bo.handle);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, offset, -ENOENT, handle = bo.handle);
}

static void a_buffer_without_mmap_has_no_offset(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = fixture_bo(f, PAGE_SIZE, DRM_SIMPLER_BO_NO_MMAP);
	struct drm_simpler_bo_mmap_offset valid = { .handle = bo.handle };

	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, valid, -EACCES, pad = 0);
}

static void expect_shared(struct fixture *f, u32 flags)
{
	struct drm_simpler_bo_create bo = fixture_bo(f, 2 * PAGE_SIZE, flags);
	unsigned long user = map(f, bo.handle, bo.size);
	u64 value = 0x1122334455667788;
	u64 *device;

	KUNIT_ASSERT_LT(f->test, user, (unsigned long)TASK_SIZE);
	fixture_stream(f);
	device = fixture_device_word(f, bo.device_address + PAGE_SIZE + 8, true);
	KUNIT_ASSERT_NOT_NULL(f->test, device);
	KUNIT_EXPECT_EQ(f->test, *device, 0ull);
	KUNIT_ASSERT_EQ(f->test, copy_to_user((void __user *)(user + PAGE_SIZE + 8), &value, 8), 0);
	KUNIT_EXPECT_EQ(f->test, *device, value);
}

static void user_and_device_see_the_same_device_memory(struct kunit *test)
{
	expect_shared(test->priv, 0);
}

static void user_and_device_see_the_same_host_memory(struct kunit *test)
{
	expect_shared(test->priv, DRM_SIMPLER_BO_HOST);
}

static void a_closed_handle_is_out_of_the_page_tables(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = fixture_bo(f, PAGE_SIZE, 0);

	fixture_stream(f);
	KUNIT_EXPECT_NOT_NULL(test, fixture_device_word(f, bo.device_address, true));
	KUNIT_EXPECT_NULL(test, fixture_device_word(f, bo.device_address + PAGE_SIZE, true));
	fixture_close_handle(f, bo.handle);
	KUNIT_EXPECT_NULL(test, fixture_device_word(f, bo.device_address, false));
	KUNIT_EXPECT_GT(test, fake_device_counts(f->fake).maps_changed, 0u);
}

static void memory_is_zero_before_another_file_sees_it(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = fixture_bo(f, MIB2 / 2, 0);
	struct file *other = fixture_open(f), *first = f->file;
	u32 bytes = bo.size, i, dirty = 0;

	fixture_stream(f);
	for (i = 0; i < bytes; i += PAGE_SIZE)
		*fixture_device_word(f, bo.device_address + i, true) = ~0ull;
	fixture_close_handle(f, bo.handle);
	f->file = other;
	bo = fixture_bo(f, bytes, 0);
	fixture_stream(f);
	for (i = 0; i < bytes; i += PAGE_SIZE)
		dirty += !!*fixture_device_word(f, bo.device_address + i, false);
	KUNIT_EXPECT_EQ(test, dirty, 0u);
	f->file = first;
	fixture_close(other);
}

static void files_do_not_share_handles_or_addresses(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct file *other = fixture_open(f), *first = f->file;
	struct drm_simpler_bo_create bo = fixture_bo(f, PAGE_SIZE, 0);
	struct drm_simpler_bo_info info = { .handle = bo.handle };

	KUNIT_EXPECT_EQ(test, fixture_call_on(f, other, DRM_IOCTL_SIMPLER_BO_INFO, &info),
			(long)-ENOENT);
	fixture_stream(f);
	f->file = other;
	fixture_stream(f);
	KUNIT_EXPECT_NULL(test, fixture_device_word(f, bo.device_address, false));
	f->file = first;
	KUNIT_EXPECT_NOT_NULL(test, fixture_device_word(f, bo.device_address, false));
	fixture_close(other);
}

static void running_out_of_memory_leaves_what_there_was(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 used = fixture_memory(f, f->file).used, full;
	struct file *other = fixture_open(f);
	struct drm_simpler_bo_create arg;
	long ret;

	do {
		arg = (struct drm_simpler_bo_create) { .size = MIB2 / 8 };
		ret = fixture_call_on(f, other, DRM_IOCTL_SIMPLER_BO_CREATE, &arg);
	} while (!ret);
	KUNIT_EXPECT_TRUE(test, ret == -ENOSPC || ret == -EDQUOT);
	full = fixture_memory(f, f->file).used;
	KUNIT_EXPECT_GT(test, full, used);
	KUNIT_EXPECT_LE(test, fixture_memory(f, other).file_used,
			fixture_memory(f, other).file_quota);
	fixture_close(other);
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).used, used);
}

static void a_file_has_its_share_of_memory_only(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct file *other = fixture_open(f);
	struct drm_simpler_bo_create bo = { 0 }, more = { .size = PAGE_SIZE };
	u64 share;

	simpler_file_memory_percent = 10;
	share = round_down(fixture_memory(f, f->file).file_quota, PAGE_SIZE);
	KUNIT_EXPECT_LT(test, share, fixture_memory(f, f->file).total / 9);
	bo.size = share;
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_BO_CREATE, &bo), 0L);
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_BO_CREATE, &more), (long)-EDQUOT);
	more.size = share;
	KUNIT_EXPECT_EQ(test, fixture_call_on(f, other, DRM_IOCTL_SIMPLER_BO_CREATE, &more), 0L);
	fixture_close_handle(f, bo.handle);
	more.size = PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_BO_CREATE, &more), 0L);
	simpler_file_memory_percent = 100;
	fixture_close(other);
}

/* First and last word of a buffer, as the device finds them. */
static bool is_mapped(struct fixture *f, const struct drm_simpler_bo_create *bo)
{
	return fixture_device_word(f, bo->device_address, true) &&
	       fixture_device_word(f, bo->device_address + bo->size - 8, true);
}

static void page_tables_follow_buffers_that_come_and_go(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create live[24] = { 0 };
	struct rnd_state random;
	u32 step, i, wrong = 0;
	u64 used;

	fixture_stream(f);
	used = fixture_memory(f, f->file).used;
	prandom_seed_state(&random, 20);
	for (step = 0; step < 400; step++) {
		struct drm_simpler_bo_create *bo = &live[prandom_u32_state(&random) % 24];
		u32 pages = 1 + prandom_u32_state(&random) % 12;

		if (bo->handle) {
			fixture_close_handle(f, bo->handle);
			wrong += !!fixture_device_word(f, bo->device_address, false);
			bo->handle = 0;
		} else {
			*bo = fixture_bo(f, pages * PAGE_SIZE,
					 step % 3 ? 0 : DRM_SIMPLER_BO_HOST);
		}
		for (i = 0; i < ARRAY_SIZE(live); i++)
			wrong += live[i].handle && !is_mapped(f, &live[i]);
	}
	for (i = 0; i < ARRAY_SIZE(live); i++)
		if (live[i].handle)
			fixture_close_handle(f, live[i].handle);
	KUNIT_EXPECT_EQ(test, wrong, 0u);
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).used, used);
}

static void a_block_of_two_mebibytes_is_one_entry(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 tables, used;
	struct drm_simpler_bo_create bo;

	fixture_stream(f);
	used = fixture_memory(f, f->file).used;
	bo = fixture_bo(f, MIB2, DRM_SIMPLER_BO_CONTIGUOUS);
	tables = fixture_memory(f, f->file).used - used - MIB2;
	KUNIT_EXPECT_TRUE(test, is_mapped(f, &bo));
	KUNIT_EXPECT_EQ(test, bo.device_address % MIB2, 0ull);
	KUNIT_EXPECT_EQ(test, tables, (u64)PAGE_SIZE);	/* of level 1; none of level 0 */
	fixture_close_handle(f, bo.handle);
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).used, used);
}

static struct kunit_case bo_cases[] = {
	KUNIT_CASE(page_tables_follow_buffers_that_come_and_go),
	KUNIT_CASE(a_block_of_two_mebibytes_is_one_entry),
	KUNIT_CASE(sizes_are_rounded_up_to_pages),
	KUNIT_CASE(info_repeats_what_create_said),
	KUNIT_CASE(big_buffers_are_aligned_for_blocks),
	KUNIT_CASE(buffers_have_different_addresses),
	KUNIT_CASE(bad_creations_are_refused),
	KUNIT_CASE(sizes_at_the_limits_are_refused_without_using_memory),
	KUNIT_CASE(handles_that_do_not_exist_are_not_found),
	KUNIT_CASE(a_buffer_without_mmap_has_no_offset),
	KUNIT_CASE(user_and_device_see_the_same_device_memory),
	KUNIT_CASE(user_and_device_see_the_same_host_memory),
	KUNIT_CASE(a_closed_handle_is_out_of_the_page_tables),
	KUNIT_CASE(memory_is_zero_before_another_file_sees_it),
	KUNIT_CASE(files_do_not_share_handles_or_addresses),
	KUNIT_CASE(running_out_of_memory_leaves_what_there_was),
	KUNIT_CASE(a_file_has_its_share_of_memory_only),
	{}
};

FIXTURE_SUITE("simpler_bo", bo_cases);
