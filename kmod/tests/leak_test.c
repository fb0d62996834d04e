// SPDX-License-Identifier: GPL-2.0-only
/* Last of all suites: nothing is left of the others. */
#include <kunit/test.h>
#include <linux/debugfs.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "simpler_drv.h"

/* kmemleak leaves alone what is younger than five seconds. */
#define OLD_ENOUGH	(10 * HZ)

static struct file *open_debugfs(struct vfsmount *mount, const char *name)
{
	struct path path = { .mnt = mount, .dentry = debugfs_lookup(name, NULL) };
	struct file *file;

	if (!path.dentry)
		return ERR_PTR(-ENOENT);
	file = dentry_open(&path, O_RDWR, current_cred());
	dput(path.dentry);
	return file;
}

static ssize_t order_scan(struct kunit *test, struct file *file)
{
	unsigned long order = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					    MAP_ANONYMOUS | MAP_PRIVATE, 0);
	loff_t position = 0;

	KUNIT_ASSERT_LT(test, order, (unsigned long)TASK_SIZE);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)order, "scan", 4), 0);
	return file->f_op->write(file, (const char __user *)order, 4, &position);
}

/* What kmemleak finds it writes into the log, which fails the test in scripts/kunit-run. */
static void no_memory_leaked(struct kunit *test)
{
	struct vfsmount *mount = kern_mount(get_fs_type("debugfs"));
	struct file *file;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mount);
	file = open_debugfs(mount, "kmemleak");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	schedule_timeout_uninterruptible(OLD_ENOUGH);
	KUNIT_EXPECT_EQ(test, order_scan(test, file), (ssize_t)4);
	__fput_sync(file);
	kern_unmount(mount);
}

static void no_device_is_left(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, list_empty(&simpler_devices));
}

static struct kunit_case leak_cases[] = {
	KUNIT_CASE(no_device_is_left),
	KUNIT_CASE_SLOW(no_memory_leaked),
	{}
};

static struct kunit_suite leak_suite = {
	.name = "simpler_leak",
	.test_cases = leak_cases,
};
kunit_test_suite(leak_suite);
