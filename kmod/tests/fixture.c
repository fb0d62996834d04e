// SPDX-License-Identifier: GPL-2.0-only
#include <linux/file.h>
#include <linux/ktime.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "fixture.h"
#include "simpler_drv.h"

struct file *fixture_open(struct fixture *f)
{
	struct file *file = mock_drm_getfile(f->drm->accel, O_RDWR);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(f->test, file);
	atomic_inc(&f->drm->open_count);	/* as accel_open() does */
	return file;
}

void fixture_close(struct file *file)
{
	__fput_sync(file);
}

int fixture_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->test = test;
	test->priv = f;
	f->scratch = kunit_vm_mmap(test, NULL, 0, SCRATCH_BYTES, PROT_READ | PROT_WRITE,
				   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_LT(test, f->scratch, (unsigned long)TASK_SIZE);
	f->fake = fake_device_start(test);
	KUNIT_ASSERT_EQ(test, fake_device_bind(f->fake), 0);
	f->drm = &f->fake->sdev->drm;
	drm_dev_get(f->drm);
	f->file = fixture_open(f);
	return 0;
}

void fixture_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (!f || !f->fake)
		return;
	if (f->file)
		fixture_close(f->file);
	if (f->drm) {
		/* what the test mapped goes with its thread, which may still be ending */
		KUNIT_EXPECT_TRUE(test, fixture_until((flush_delayed_fput(),
						       !atomic_read(&f->drm->open_count))));
		fake_device_unbind(f->fake);
		drm_dev_put(f->drm);
	}
	fake_device_stop(f->fake);
	f->fake = NULL;
}

long fixture_call_on(struct fixture *f, struct file *file, unsigned int cmd, void *arg)
{
	long ret;

	KUNIT_ASSERT_EQ(f->test, copy_to_user((void __user *)f->scratch, arg, _IOC_SIZE(cmd)), 0);
	ret = file->f_op->unlocked_ioctl(file, cmd, f->scratch);
	KUNIT_ASSERT_EQ(f->test, copy_from_user(arg, (void __user *)f->scratch, _IOC_SIZE(cmd)), 0);
	return ret;
}

u64 fixture_put(struct fixture *f, u32 offset, const void *data, size_t bytes)
{
	unsigned long at = f->scratch + offset;

	KUNIT_ASSERT_LE(f->test, offset + bytes, (size_t)SCRATCH_BYTES);
	KUNIT_ASSERT_EQ(f->test, copy_to_user((void __user *)at, data, bytes), 0);
	return at;
}

void fixture_get(struct fixture *f, u64 address, void *data, size_t bytes)
{
	KUNIT_ASSERT_EQ(f->test, copy_from_user(data, u64_to_user_ptr(address), bytes), 0);
}

/* ---- things that most tests need ---- */

struct drm_simpler_bo_create fixture_bo(struct fixture *f, u64 size, u32 flags)
{
	struct drm_simpler_bo_create arg = { .size = size, .flags = flags };

	KUNIT_ASSERT_EQ(f->test, fixture_call(f, DRM_IOCTL_SIMPLER_BO_CREATE, &arg), 0);
	return arg;
}

u32 fixture_stream(struct fixture *f)
{
	struct drm_simpler_stream_create arg = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 16,
	};

	KUNIT_ASSERT_EQ(f->test, fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, &arg), 0);
	return arg.stream;
}

u32 fixture_syncobj(struct fixture *f)
{
	struct drm_syncobj_create arg = { 0 };

	KUNIT_ASSERT_EQ(f->test, fixture_call(f, DRM_IOCTL_SYNCOBJ_CREATE, &arg), 0);
	return arg.handle;
}

void fixture_close_handle(struct fixture *f, u32 handle)
{
	struct drm_gem_close arg = { .handle = handle };

	KUNIT_EXPECT_EQ(f->test, fixture_call(f, DRM_IOCTL_GEM_CLOSE, &arg), 0);
}

long fixture_submit_on(struct fixture *f, struct file *file, u32 stream,
		       const struct simpler_hw_cmd *commands, u32 count,
		       const struct drm_simpler_sync *syncs, u32 sync_count, u64 *seqno)
{
	struct drm_simpler_submit arg = {
		.stream = stream,
		.commands = { sizeof(*commands), count, 0 },
		.syncs = { sizeof(*syncs), sync_count, 0 },
	};
	long ret;

	arg.commands.array = fixture_put(f, PAGE_SIZE, commands, count * sizeof(*commands));
	arg.syncs.array = fixture_put(f, 4 * PAGE_SIZE, syncs, sync_count * sizeof(*syncs));
	ret = fixture_call_on(f, file, DRM_IOCTL_SIMPLER_SUBMIT, &arg);
	if (!ret && seqno)
		*seqno = arg.seqno;
	return ret;
}

long fixture_wait_on(struct fixture *f, struct file *file, u32 stream, u64 seqno)
{
	struct drm_simpler_wait_seqno arg = {
		.stream = stream, .seqno = seqno,
		.deadline_ns = ktime_get_ns() + 3600ull * NSEC_PER_SEC,
	};

	return fixture_call_on(f, file, DRM_IOCTL_SIMPLER_WAIT_SEQNO, &arg);
}

static void query(struct fixture *f, struct file *file, u32 type, void *data, u32 size)
{
	struct drm_simpler_dev_query arg = { .type = type, .size = size };

	arg.pointer = fixture_put(f, PAGE_SIZE, data, size);
	KUNIT_ASSERT_EQ(f->test, fixture_call_on(f, file, DRM_IOCTL_SIMPLER_DEV_QUERY, &arg), 0);
	KUNIT_ASSERT_EQ(f->test, arg.size, size);
	fixture_get(f, arg.pointer, data, size);
}

struct drm_simpler_context_info fixture_context(struct fixture *f, struct file *file)
{
	struct drm_simpler_context_info info = { 0 };

	query(f, file, DRM_SIMPLER_QUERY_CONTEXT, &info, sizeof(info));
	return info;
}

struct drm_simpler_health_info fixture_health(struct fixture *f)
{
	struct drm_simpler_health_info info = { 0 };

	query(f, f->file, DRM_SIMPLER_QUERY_HEALTH, &info, sizeof(info));
	return info;
}

struct drm_simpler_memory_info fixture_memory(struct fixture *f, struct file *file)
{
	struct drm_simpler_memory_info info = { 0 };

	query(f, file, DRM_SIMPLER_QUERY_MEMORY, &info, sizeof(info));
	return info;
}

u64 *fixture_device_word(struct fixture *f, u64 address, bool write)
{
	u32 id = fixture_context(f, f->file).id;
	u64 *at;

	KUNIT_ASSERT_LT(f->test, id, FAKE_CONTEXTS);
	mutex_lock(&f->fake->lock);
	at = fake_translate(f->fake, id, address, write);
	mutex_unlock(&f->fake->lock);
	return at;
}
