// SPDX-License-Identifier: GPL-2.0-only
/* Buffers that are shared: between files, from other exporters, with other devices. */
#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/mman.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fixture.h"
#include "simpler_drv.h"

#define MAGIC 0x1234567890abcdefull

static int export(struct fixture *f, struct file *file, u32 handle)
{
	struct drm_prime_handle arg = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };

	KUNIT_ASSERT_EQ(f->test, fixture_call_on(f, file, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg), 0L);
	return arg.fd;
}

static u32 import(struct fixture *f, struct file *file, int fd)
{
	struct drm_prime_handle arg = { .fd = fd };

	KUNIT_ASSERT_EQ(f->test, fixture_call_on(f, file, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg), 0L);
	return arg.handle;
}

static struct drm_simpler_bo_info info_of(struct fixture *f, struct file *file, u32 handle)
{
	struct drm_simpler_bo_info arg = { .handle = handle };

	KUNIT_ASSERT_EQ(f->test, fixture_call_on(f, file, DRM_IOCTL_SIMPLER_BO_INFO, &arg), 0L);
	return arg;
}

/* The last reference of a file that a descriptor held goes with delayed work. */
static void close_now(int fd)
{
	close_fd(fd);
	flush_delayed_fput();
}

static void a_buffer_can_be_in_two_files(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct file *other = fixture_open(f);
	struct drm_simpler_bo_create bo = fixture_bo(f, 4 * PAGE_SIZE, 0);
	int fd = export(f, f->file, bo.handle);
	struct drm_simpler_bo_info info = info_of(f, other, import(f, other, fd));

	KUNIT_EXPECT_EQ(test, info.size, 4 * PAGE_SIZE);
	KUNIT_EXPECT_NE(test, info.device_address, 0ull);
	KUNIT_EXPECT_EQ(test, info.flags & DRM_SIMPLER_BO_IMPORTED, 0);
	close_now(fd);
	fixture_close(other);
}

static void a_shared_buffer_lives_as_long_as_one_of_its_handles(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct file *other = fixture_open(f);
	struct drm_simpler_bo_create bo = fixture_bo(f, PAGE_SIZE, 0);
	u64 before;
	int fd;

	/* the first buffer of a file brings a table that stays */
	fixture_close_handle(f, bo.handle);
	before = f->fake->sdev->mem.used;
	bo = fixture_bo(f, 64 * PAGE_SIZE, 0);
	fd = export(f, f->file, bo.handle);
	import(f, other, fd);
	close_now(fd);
	fixture_close_handle(f, bo.handle);
	KUNIT_EXPECT_GE(test, f->fake->sdev->mem.used, before + 64 * PAGE_SIZE);
	/* who asked for it is charged for it */
	KUNIT_EXPECT_GE(test, fixture_memory(f, f->file).file_used, 64 * PAGE_SIZE);
	fixture_close(other);
	KUNIT_EXPECT_TRUE(test, fixture_until((flush_delayed_fput(),
					       f->fake->sdev->mem.used <= before)));
	KUNIT_EXPECT_EQ(test, fixture_memory(f, f->file).file_used, 0ull);
}

static void importing_again_gives_the_same_handle(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = fixture_bo(f, PAGE_SIZE, DRM_SIMPLER_BO_HOST);
	int fd = export(f, f->file, bo.handle);

	KUNIT_EXPECT_EQ(test, import(f, f->file, fd), bo.handle);
	KUNIT_EXPECT_EQ(test, info_of(f, f->file, bo.handle).device_address, bo.device_address);
	close_now(fd);
}

static unsigned long map_descriptor(int fd)
{
	struct file *file = fget(fd);
	unsigned long at = vm_mmap(file, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);

	fput(file);
	return at;
}

static u64 user_word(struct fixture *f, unsigned long at)
{
	u64 word;

	fixture_get(f, at, &word, sizeof(word));
	return word;
}

static void mappings_of_a_descriptor_show_the_buffer(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 flags[] = { 0, DRM_SIMPLER_BO_HOST };
	unsigned int i;

	fixture_stream(f);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		struct drm_simpler_bo_create bo = fixture_bo(f, PAGE_SIZE, flags[i]);
		int fd = export(f, f->file, bo.handle);
		unsigned long at = map_descriptor(fd);
		u64 *word = fixture_device_word(f, bo.device_address, true);

		KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
		KUNIT_ASSERT_NOT_NULL(test, word);
		*word = MAGIC + i;
		KUNIT_EXPECT_EQ(test, user_word(f, at), MAGIC + i);
		vm_munmap(at, PAGE_SIZE);
		close_now(fd);
	}
}

/* Like those of the node: nothing of a device that is gone is seen, and nobody gets SIGBUS. */
static void mappings_of_a_descriptor_outlive_the_device(struct kunit *test)
{
	struct fixture *f = test->priv;
	int fd = export(f, f->file, fixture_bo(f, PAGE_SIZE, 0).handle);
	unsigned long at = map_descriptor(fd);
	u64 word = MAGIC;

	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, &word, sizeof(word)), 0ul);
	KUNIT_EXPECT_EQ(test, user_word(f, at), MAGIC);
	fake_device_unbind(f->fake);
	KUNIT_EXPECT_EQ(test, user_word(f, at), 0ull);
	KUNIT_EXPECT_EQ(test, copy_to_user((void __user *)at, &word, sizeof(word)), 0ul);
	KUNIT_EXPECT_EQ(test, user_word(f, at), MAGIC);
	vm_munmap(at, PAGE_SIZE);
	close_now(fd);
}

/* ---- memory of somebody else ---- */

static struct sg_table *exporter_map(struct dma_buf_attachment *at, enum dma_data_direction dir)
{
	struct sg_table *table = kzalloc(sizeof(*table), GFP_KERNEL);

	if (!table)
		return ERR_PTR(-ENOMEM);
	if (sg_alloc_table(table, 1, GFP_KERNEL)) {
		kfree(table);
		return ERR_PTR(-ENOMEM);
	}
	sg_set_page(table->sgl, virt_to_page(at->dmabuf->priv), PAGE_SIZE, 0);
	if (dma_map_sgtable(at->dev, table, dir, 0)) {
		sg_free_table(table);
		kfree(table);
		return ERR_PTR(-EIO);
	}
	return table;
}

static void exporter_unmap(struct dma_buf_attachment *at, struct sg_table *table,
			   enum dma_data_direction dir)
{
	dma_unmap_sgtable(at->dev, table, dir, 0);
	sg_free_table(table);
	kfree(table);
}

static void exporter_release(struct dma_buf *buf)
{
	free_page((unsigned long)buf->priv);
}

static const struct dma_buf_ops exporter_ops = {
	.map_dma_buf = exporter_map,
	.unmap_dma_buf = exporter_unmap,
	.release = exporter_release,
};

/* A page with MAGIC in it. */
static int export_page(struct kunit *test)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	u64 *page = (u64 *)get_zeroed_page(GFP_KERNEL);
	struct dma_buf *buf;
	int fd;

	KUNIT_ASSERT_NOT_NULL(test, page);
	*page = MAGIC;
	info.ops = &exporter_ops;
	info.size = PAGE_SIZE;
	info.flags = O_RDWR;
	info.priv = page;
	buf = dma_buf_export(&info);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	fd = dma_buf_fd(buf, O_CLOEXEC);
	KUNIT_ASSERT_GE(test, fd, 0);
	return fd;
}

static void memory_of_another_exporter_is_reached(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_mmap_offset at = { 0 };
	struct drm_simpler_bo_info info;
	int fd = export_page(test);
	u64 *word;

	fixture_stream(f);
	at.handle = import(f, f->file, fd);
	info = info_of(f, f->file, at.handle);
	KUNIT_EXPECT_TRUE(test, info.flags & DRM_SIMPLER_BO_IMPORTED);
	KUNIT_EXPECT_EQ(test, info.size, PAGE_SIZE);
	word = fixture_device_word(f, info.device_address, true);
	KUNIT_ASSERT_NOT_NULL(test, word);
	KUNIT_EXPECT_EQ(test, *word, MAGIC);
	/* how it is mapped is the exporter's business */
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, &at), -EINVAL);
	fixture_close_handle(f, at.handle);
	close_now(fd);
}

static void what_is_no_buffer_cannot_be_imported(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_prime_handle arg = { .fd = 1000 };

	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg), (long)-EBADF);
	arg = (struct drm_prime_handle) { .handle = 1000 };
	KUNIT_EXPECT_EQ(test, fixture_call(f, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg), (long)-ENOENT);
}

/* ---- other devices ---- */

static long attach(struct kunit *test, int fd, struct device *dev)
{
	struct dma_buf *buf = dma_buf_get(fd);
	struct dma_buf_attachment *at;
	long ret;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	at = dma_buf_attach(buf, dev);
	ret = PTR_ERR_OR_ZERO(at);
	if (!ret)
		dma_buf_detach(buf, at);
	dma_buf_put(buf);
	return ret;
}

static void other_devices_attach_to_host_memory_only(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct device *dev = root_device_register("simpler-test-importer");
	int host = export(f, f->file, fixture_bo(f, PAGE_SIZE, DRM_SIMPLER_BO_HOST).handle);
	int device = export(f, f->file, fixture_bo(f, PAGE_SIZE, 0).handle);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	KUNIT_EXPECT_EQ(test, attach(test, host, dev), 0L);
	KUNIT_EXPECT_EQ(test, attach(test, device, dev), (long)-ENOSYS);
	close_now(host);
	close_now(device);
	root_device_unregister(dev);
}

static struct kunit_case prime_cases[] = {
	KUNIT_CASE(a_buffer_can_be_in_two_files),
	KUNIT_CASE(a_shared_buffer_lives_as_long_as_one_of_its_handles),
	KUNIT_CASE(importing_again_gives_the_same_handle),
	KUNIT_CASE(mappings_of_a_descriptor_show_the_buffer),
	KUNIT_CASE(mappings_of_a_descriptor_outlive_the_device),
	KUNIT_CASE(memory_of_another_exporter_is_reached),
	KUNIT_CASE(what_is_no_buffer_cannot_be_imported),
	KUNIT_CASE(other_devices_attach_to_host_memory_only),
	{}
};

FIXTURE_SUITE("simpler_prime", prime_cases);
