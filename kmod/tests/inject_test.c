// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation, copy and named failure point of an operation fails once, in turn:
 * the call must say so, use up nothing, and succeed when it is repeated.
 */
#include <kunit/device.h>
#include <linux/debugfs.h>
#include <linux/mman.h>
#include <linux/sched.h>

#include "fixture.h"
#include "simpler_drv.h"

#define MOST_FAILURES	2000	/* an operation that has more never ends */

/* A variable behind a file that debugfs_create_*() made. */
static void *debugfs_variable(const char *folder, struct dentry *root, const char *name)
{
	struct dentry *parent = debugfs_lookup(folder, root), *file;
	void *variable = NULL;

	if (!parent)
		return NULL;
	file = debugfs_lookup(name, parent);
	if (file)
		variable = d_inode(file)->i_private;
	dput(file);
	dput(parent);
	return variable;
}

/* Let allocations that may sleep fail too, and do not dump a stack each time. */
static void prepare(struct kunit *test, const char *folder, struct dentry *root)
{
	bool *ignore = debugfs_variable(folder, root, "ignore-gfp-wait");
	u32 *min_order = debugfs_variable(folder, root, "min-order");
	unsigned long *verbose = debugfs_variable(folder, root, "verbose");

	KUNIT_ASSERT_NOT_NULL_MSG(test, verbose, "%s", folder);
	*verbose = 0;
	if (ignore)
		*ignore = false;
	if (min_order)
		*min_order = 0;
}

static int inject_init(struct kunit *test)
{
	static const char * const folders[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	static const char * const points[] = {
		"fail_memory", "fail_table", "fail_admin", "fail_submit",
	};
	int ret = fixture_init(test);
	struct fixture *f = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(folders); i++)
		prepare(test, folders[i], NULL);
	for (i = 0; i < ARRAY_SIZE(points); i++)
		prepare(test, points[i], f->drm->debugfs_root);
	return ret;
}

/* @op on a file of its own, with its @nth step failing; *reached: there was such a step. */
static int fail_step(struct fixture *f, int (*op)(struct fixture *f), u32 nth, bool *reached)
{
	struct drm_simpler_memory_info before, after;
	struct file *first = f->file;
	int ret;

	f->file = fixture_open(f);
	op(f);	/* what stays for the life of the file: page tables, the context */
	before = fixture_memory(f, f->file);
	WRITE_ONCE(current->fail_nth, nth);
	ret = op(f);
	*reached = !READ_ONCE(current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);
	after = fixture_memory(f, f->file);
	/* -EFAULT: it was done, but the result could not be told; it ends with the file */
	if (ret != -EFAULT) {
		KUNIT_EXPECT_EQ_MSG(f->test, after.used, before.used, "step %u: %d", nth, ret);
		KUNIT_EXPECT_EQ_MSG(f->test, after.file_pinned, before.file_pinned,
				    "step %u: %d", nth, ret);
	}
	fixture_close(f->file);
	f->file = first;
	return ret;
}

/* Run @op with its first, second, ... step failing until none is left to fail. */
static void fail_each_step(struct fixture *f, int (*op)(struct fixture *f))
{
	u64 used = fixture_memory(f, f->file).used;
	u32 nth, failures = 0;
	bool reached = true;
	int ret = 0;

	for (nth = 1; reached && nth < MOST_FAILURES; nth++) {
		ret = fail_step(f, op, nth, &reached);
		failures += !!ret;
		KUNIT_EXPECT_TRUE_MSG(f->test, !ret || ret == -ENOMEM || ret == -EFAULT ||
				      ret == -ENOSPC || ret == -EAGAIN || ret == -EINVAL,
				      "step %u: %d", nth, ret);
		KUNIT_EXPECT_EQ_MSG(f->test, fixture_memory(f, f->file).used, used,
				    "step %u: %d", nth, ret);
	}
	KUNIT_EXPECT_FALSE(f->test, reached);
	KUNIT_EXPECT_EQ(f->test, ret, 0);
	KUNIT_EXPECT_GT(f->test, failures, 0u);
}

/*
 * One call with its argument already in user memory, so that only the call itself can
 * fail; what it made is undone by @undo, which cannot.
 */
static int call(struct fixture *f, unsigned int cmd, void *arg, unsigned int undo_cmd,
		void (*fill_undo)(const void *arg, void *undo))
{
	u32 nth = READ_ONCE(current->fail_nth), left;
	u8 undo[64] = { 0 };
	int ret;

	WRITE_ONCE(current->fail_nth, 0);
	fixture_put(f, 0, arg, _IOC_SIZE(cmd));
	WRITE_ONCE(current->fail_nth, nth);
	ret = f->file->f_op->unlocked_ioctl(f->file, cmd, f->scratch);
	left = READ_ONCE(current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);
	fixture_get(f, f->scratch, arg, _IOC_SIZE(cmd));
	if (!ret && undo_cmd) {
		fill_undo(arg, undo);
		KUNIT_EXPECT_EQ(f->test, fixture_call(f, undo_cmd, undo), 0L);
	}
	WRITE_ONCE(current->fail_nth, left);
	return ret;
}

static void undo_bo(const void *arg, void *undo)
{
	((struct drm_gem_close *)undo)->handle = ((struct drm_simpler_bo_create *)arg)->handle;
}

static void undo_map(const void *arg, void *undo)
{
	((struct drm_simpler_host_unmap *)undo)->device_address =
		((struct drm_simpler_host_map *)arg)->device_address;
}

static void undo_stream(const void *arg, void *undo)
{
	((struct drm_simpler_stream_destroy *)undo)->stream =
		((struct drm_simpler_stream_create *)arg)->stream;
}

static int create_device_bo(struct fixture *f)
{
	struct drm_simpler_bo_create arg = { .size = 8 * PAGE_SIZE };

	return call(f, DRM_IOCTL_SIMPLER_BO_CREATE, &arg, DRM_IOCTL_GEM_CLOSE, undo_bo);
}

static int create_host_bo(struct fixture *f)
{
	struct drm_simpler_bo_create arg = { .size = 8 * PAGE_SIZE, .flags = DRM_SIMPLER_BO_HOST };

	return call(f, DRM_IOCTL_SIMPLER_BO_CREATE, &arg, DRM_IOCTL_GEM_CLOSE, undo_bo);
}

static int map_host(struct fixture *f)
{
	struct drm_simpler_host_map arg = {
		.address = f->scratch + 8 * PAGE_SIZE, .size = 4 * PAGE_SIZE,
	};

	return call(f, DRM_IOCTL_SIMPLER_HOST_MAP, &arg, DRM_IOCTL_SIMPLER_HOST_UNMAP, undo_map);
}

static int create_stream(struct fixture *f, u32 flags)
{
	struct drm_simpler_stream_create arg = {
		.flags = flags, .priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 16,
	};

	return call(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, &arg, DRM_IOCTL_SIMPLER_STREAM_DESTROY,
		    undo_stream);
}

static int create_kernel_stream(struct fixture *f)
{
	return create_stream(f, 0);
}

static int create_user_stream(struct fixture *f)
{
	return create_stream(f, DRM_SIMPLER_STREAM_USER);
}

/* ---- the tests ---- */

static void opening_a_file(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct file *file = ERR_PTR(-ENOMEM);
	u64 used = fixture_memory(f, f->file).used;
	u32 nth;

	for (nth = 1; IS_ERR(file) && nth < MOST_FAILURES; nth++) {
		WRITE_ONCE(current->fail_nth, nth);
		file = mock_drm_getfile(f->drm->accel, O_RDWR);
		WRITE_ONCE(current->fail_nth, 0);
		if (IS_ERR(file))
			KUNIT_EXPECT_EQ(test, PTR_ERR(file), (long)-ENOMEM);
	}
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_GT(test, nth, 2u);
	atomic_inc(&f->drm->open_count);
	fixture_close(file);
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).used, used);
}

static void creating_a_buffer_in_device_memory(struct kunit *test)
{
	fail_each_step(test->priv, create_device_bo);
}

static void creating_a_buffer_in_host_memory(struct kunit *test)
{
	fail_each_step(test->priv, create_host_bo);
}

static void mapping_memory_of_the_caller(struct kunit *test)
{
	fail_each_step(test->priv, map_host);
}

static void creating_a_kernel_mode_stream(struct kunit *test)
{
	fail_each_step(test->priv, create_kernel_stream);
}

static void creating_a_user_mode_stream(struct kunit *test)
{
	fail_each_step(test->priv, create_user_stream);
}

static void a_refused_submission_takes_no_number(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd nop = { .opcode = SIMPLER_HW_OP_NOP };
	struct drm_simpler_sync sync = {
		DRM_SIMPLER_SYNC_SIGNAL | DRM_SIMPLER_SYNC_TIMELINE, fixture_syncobj(f), 1,
	};
	struct drm_simpler_submit valid = {
		.stream = fixture_stream(f), .commands = { sizeof(nop), 1 },
		.syncs = { sizeof(sync), 1 },
	}, arg;
	u32 nth, failures = 0;
	int ret = -ENOMEM;

	valid.commands.array = fixture_put(f, PAGE_SIZE, &nop, sizeof(nop));
	valid.syncs.array = fixture_put(f, 2 * PAGE_SIZE, &sync, sizeof(sync));
	for (nth = 1; ret && nth < MOST_FAILURES; nth++) {
		arg = valid;
		WRITE_ONCE(current->fail_nth, nth);
		ret = call(f, DRM_IOCTL_SIMPLER_SUBMIT, &arg, 0, NULL);
		WRITE_ONCE(current->fail_nth, 0);
		failures += !!ret;
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GT(test, failures, 2u);
	KUNIT_EXPECT_EQ(test, arg.seqno, 1ull);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, valid.stream, 1), 0L);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).commands, 1u);
}

/*
 * How many steps the DRM core takes to allocate a device.  They are left out: in 6.12 it
 * follows an error pointer when the device of a minor cannot be allocated.
 */
static u32 steps_of_the_core(struct kunit *test)
{
	static const struct drm_driver driver = {
		.driver_features = DRIVER_COMPUTE_ACCEL | DRIVER_GEM | DRIVER_SYNCOBJ |
				   DRIVER_SYNCOBJ_TIMELINE,
		.name = "core", .desc = "the core alone",
	};
	struct device *parent = kunit_device_register(test, "simpler-core");
	void *drm;
	u32 steps;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, parent);
	WRITE_ONCE(current->fail_nth, MOST_FAILURES);
	drm = __devm_drm_dev_alloc(parent, &driver, sizeof(struct simpler_device),
				   offsetof(struct simpler_device, drm));
	steps = MOST_FAILURES - READ_ONCE(current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(drm));
	kunit_device_unregister(test, parent);
	return steps;
}

static void binding_the_driver(struct kunit *test)
{
	struct fixture *f = test->priv;
	/* how often pages are needed depends on what slabs have left: count objects only */
	bool *no_pages = debugfs_variable("fail_page_alloc", NULL, "ignore-gfp-wait");
	u32 first, nth, failures = 0;
	int ret = -ENOMEM;

	fixture_close(f->file);
	f->file = NULL;
	fake_device_unbind(f->fake);
	drm_dev_put(f->drm);
	f->drm = NULL;
	KUNIT_ASSERT_NOT_NULL(test, no_pages);
	*no_pages = true;
	first = steps_of_the_core(test) + 1;
	for (nth = first; nth < first + MOST_FAILURES; nth++) {
		f->fake->fail_nth = nth;
		ret = fake_device_bind(f->fake);
		fake_device_unbind(f->fake);
		failures += !!ret;
		if (f->fake->fail_nth)
			break;
	}
	f->fake->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GT(test, failures, 10u);
}

static struct kunit_case inject_cases[] = {
	KUNIT_CASE(opening_a_file),
	KUNIT_CASE(creating_a_buffer_in_device_memory),
	KUNIT_CASE(creating_a_buffer_in_host_memory),
	KUNIT_CASE(mapping_memory_of_the_caller),
	KUNIT_CASE(creating_a_kernel_mode_stream),
	KUNIT_CASE(creating_a_user_mode_stream),
	KUNIT_CASE(a_refused_submission_takes_no_number),
	KUNIT_CASE(binding_the_driver),
	{}
};

static struct kunit_suite inject_suite = {
	.name = "simpler_inject",
	.init = inject_init,
	.exit = fixture_exit,
	.test_cases = inject_cases,
};
kunit_test_suite(inject_suite);
