// SPDX-License-Identifier: GPL-2.0-only
/* HOST_MAP, HOST_UNMAP: user memory pinned and mapped into the device's address space */
#include <linux/cred.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>

#include "fixture.h"

#define BYTES	(4 * PAGE_SIZE)

static unsigned long user_memory(struct kunit *test, unsigned long prot)
{
	unsigned long at = kunit_vm_mmap(test, NULL, 0, BYTES, prot,
					 MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_LT(test, at, (unsigned long)TASK_SIZE);
	return at;
}

static struct drm_simpler_host_map valid_map(struct kunit *test)
{
	return (struct drm_simpler_host_map) {
		.address = user_memory(test, PROT_READ | PROT_WRITE), .size = BYTES,
	};
}

static long unmap(struct fixture *f, u64 device_address)
{
	struct drm_simpler_host_unmap arg = { .device_address = device_address };

	return fixture_call(f, DRM_IOCTL_SIMPLER_HOST_UNMAP, &arg);
}

static void the_device_reads_and_writes_the_callers_pages(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_host_map arg = valid_map(test);
	u64 value = 0x5152535455565758, *device;
	void __user *user = u64_to_user_ptr(arg.address + 3 * PAGE_SIZE + 16);

	KUNIT_ASSERT_EQ(test, copy_to_user(user, &value, 8), 0ul);
	KUNIT_ASSERT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_HOST_MAP, &arg), 0L);
	KUNIT_EXPECT_EQ(test, arg.device_address % PAGE_SIZE, 0ull);
	fixture_stream(f);
	device = fixture_device_word(f, arg.device_address + 3 * PAGE_SIZE + 16, true);
	KUNIT_ASSERT_NOT_NULL(test, device);
	KUNIT_EXPECT_EQ(test, *device, value);
	*device = 7;
	KUNIT_ASSERT_EQ(test, copy_from_user(&value, user, 8), 0ul);
	KUNIT_EXPECT_EQ(test, value, 7ull);
	KUNIT_EXPECT_NULL(test, fixture_device_word(f, arg.device_address + BYTES, false));
}

static void a_read_only_mapping_cannot_be_written(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_host_map arg = {
		.address = user_memory(test, PROT_READ), .size = BYTES,
		.flags = DRM_SIMPLER_HOST_READ_ONLY,
	};

	KUNIT_ASSERT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_HOST_MAP, &arg), 0L);
	fixture_stream(f);
	KUNIT_EXPECT_NOT_NULL(test, fixture_device_word(f, arg.device_address, false));
	KUNIT_EXPECT_NULL(test, fixture_device_word(f, arg.device_address, true));
}

static void pages_without_write_permission_need_the_flag(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_host_map valid = {
		.address = user_memory(test, PROT_READ), .size = BYTES,
		.flags = DRM_SIMPLER_HOST_READ_ONLY,
	};

	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid, -EFAULT, flags = 0);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid);
}

static void bad_mappings_are_refused(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_host_map valid = valid_map(test);

	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid, -EINVAL, size = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid, -EINVAL, size = 8);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid, -EINVAL, size = BYTES - 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid, -EINVAL, address += 8);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid, -EINVAL, flags = 2);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid, -EINVAL, pad = 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid, -EINVAL, size = ~0ull - 4095);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid, -EFAULT, address = PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).file_pinned, 0ull);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_HOST_MAP, valid);
}

static void a_hole_in_the_range_pins_nothing(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_host_map arg = valid_map(test);

	KUNIT_ASSERT_EQ(test, vm_munmap(arg.address + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_HOST_MAP, &arg), (long)-EFAULT);
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).file_pinned, 0ull);
}

static void unmapping_is_whole_and_once(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_host_map map = valid_map(test);
	struct drm_simpler_host_unmap valid;

	KUNIT_ASSERT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_HOST_MAP, &map), 0L);
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).file_pinned, (u64)BYTES);
	valid = (struct drm_simpler_host_unmap) { .device_address = map.device_address };
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_UNMAP, valid, -EINVAL, flags = 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_UNMAP, valid, -EINVAL, pad = 1);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_UNMAP, valid, -ENOENT, device_address = 0);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_UNMAP, valid, -ENOENT,
			device_address += PAGE_SIZE);
	FIXTURE_ACCEPTED(f, DRM_IOCTL_SIMPLER_HOST_UNMAP, valid);
	FIXTURE_REFUSED(f, DRM_IOCTL_SIMPLER_HOST_UNMAP, valid, -ENOENT, pad = 0);
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).file_pinned, 0ull);
	fixture_stream(f);
	KUNIT_EXPECT_NULL(test, fixture_device_word(f, map.device_address, false));
}

static void a_buffer_is_not_a_host_mapping(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = fixture_bo(f, PAGE_SIZE, DRM_SIMPLER_BO_HOST);

	KUNIT_EXPECT_EQ(test, unmap(f, bo.device_address), (long)-ENOENT);
}

static void the_same_pages_can_be_mapped_twice(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_host_map a = valid_map(test), b = a;

	KUNIT_ASSERT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_HOST_MAP, &a), 0L);
	KUNIT_ASSERT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_HOST_MAP, &b), 0L);
	KUNIT_EXPECT_NE(test, a.device_address, b.device_address);
	KUNIT_EXPECT_EQ(test, unmap(f, a.device_address), 0L);
	fixture_stream(f);
	KUNIT_EXPECT_NOT_NULL(test, fixture_device_word(f, b.device_address, true));
}

/* The limit binds only who has no CAP_IPC_LOCK, so the test gives its capabilities away. */
static const struct cred *drop_capabilities(struct kunit *test)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_clear(cred->cap_effective);
	cap_clear(cred->cap_permitted);
	return override_creds(cred);
}

static void pinned_memory_counts_against_the_limit(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_host_map arg = valid_map(test);
	struct rlimit *limit = &current->signal->rlim[RLIMIT_MEMLOCK];
	struct rlimit before = *limit;
	const struct cred *old, *dropped;
	long ret;

	limit->rlim_cur = BYTES - PAGE_SIZE;
	old = drop_capabilities(test);
	ret = fixture_call(f, DRM_IOCTL_SIMPLER_HOST_MAP, &arg);
	KUNIT_EXPECT_EQ(test, ret, (long)-EPERM);
	limit->rlim_cur = BYTES;
	ret = fixture_call(f, DRM_IOCTL_SIMPLER_HOST_MAP, &arg);
	KUNIT_EXPECT_EQ(test, ret, 0L);
	dropped = current_cred();
	revert_creds(old);
	put_cred(dropped);
	*limit = before;
}

static void closing_the_file_unpins(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_host_map arg = valid_map(test);
	struct file *other = fixture_open(f);
	unsigned long locked = current->mm->locked_vm;

	KUNIT_ASSERT_EQ(test, fixture_call_on(f, other, DRM_IOCTL_SIMPLER_HOST_MAP, &arg), 0L);
	KUNIT_EXPECT_EQ(test, current->mm->locked_vm, locked + BYTES / PAGE_SIZE);
	fixture_close(other);
	KUNIT_EXPECT_EQ(test, current->mm->locked_vm, locked);
}

static struct kunit_case host_cases[] = {
	KUNIT_CASE(the_device_reads_and_writes_the_callers_pages),
	KUNIT_CASE(a_read_only_mapping_cannot_be_written),
	KUNIT_CASE(pages_without_write_permission_need_the_flag),
	KUNIT_CASE(bad_mappings_are_refused),
	KUNIT_CASE(a_hole_in_the_range_pins_nothing),
	KUNIT_CASE(unmapping_is_whole_and_once),
	KUNIT_CASE(a_buffer_is_not_a_host_mapping),
	KUNIT_CASE(the_same_pages_can_be_mapped_twice),
	KUNIT_CASE(pinned_memory_counts_against_the_limit),
	KUNIT_CASE(closing_the_file_unpins),
	{}
};

FIXTURE_SUITE("simpler_host", host_cases);
