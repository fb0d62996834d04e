// SPDX-License-Identifier: GPL-2.0-only
/* What monitoring reads: fdinfo, attributes, sensors */
#include <linux/device.h>
#include <linux/seq_file.h>

#include "fixture.h"
#include "simpler_drv.h"

static char *fdinfo(struct fixture *f, struct file *file)
{
	struct seq_file m = { .size = PAGE_SIZE, .file = file };

	m.buf = kunit_kzalloc(f->test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(f->test, m.buf);
	KUNIT_ASSERT_NOT_NULL(f->test, file->f_op->show_fdinfo);
	file->f_op->show_fdinfo(&m, file);
	KUNIT_ASSERT_LT(f->test, m.count, (size_t)PAGE_SIZE);
	return m.buf;
}

/* The number behind "key:"; -1 when there is none. */
static s64 value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? (s64)simple_strtoull(skip_spaces(at + strlen(key)), NULL, 10) : -1;
}

static void fdinfo_names_driver_and_client(struct kunit *test)
{
	struct fixture *f = test->priv;
	char *text = fdinfo(f, f->file);

	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "drm-driver:\tsimpler\n"));
	KUNIT_EXPECT_GE(test, value_of(text, "drm-client-id:"), 0ll);
}

static void fdinfo_counts_the_memory_of_the_file(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct drm_simpler_bo_create bo = fixture_bo(f, 64 * PAGE_SIZE, 0);
	struct file *other = fixture_open(f);

	KUNIT_EXPECT_NOT_NULL(test, strstr(fdinfo(f, f->file), "drm-total-"));
	KUNIT_EXPECT_STRNEQ(test, fdinfo(f, f->file), fdinfo(f, other));
	fixture_close_handle(f, bo.handle);
	fixture_close(other);
}

static void fdinfo_counts_busy_time(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 at = fixture_bo(f, PAGE_SIZE, 0).device_address, seqno = 0;
	struct simpler_hw_cmd command = {
		.opcode = SIMPLER_HW_OP_WAIT, .wait = { .addr = at, .value = 1 },
	};
	u32 stream = fixture_stream(f);
	s64 before = value_of(fdinfo(f, f->file), "drm-engine-npu:");

	KUNIT_ASSERT_GE(test, before, 0ll);
	KUNIT_ASSERT_EQ(test, fixture_submit(f, stream, &command, 1, &seqno), 0L);
	schedule_timeout_uninterruptible(HZ / 2);
	*fixture_device_word(f, at, true) = 1;
	KUNIT_ASSERT_EQ(test, fixture_wait(f, stream, seqno), 0L);
	KUNIT_EXPECT_GE(test, value_of(fdinfo(f, f->file), "drm-engine-npu:"),
			before + (s64)(400 * NSEC_PER_MSEC));
}

/* ---- attributes ---- */

static struct device_attribute *attribute_of(const struct attribute_group *const *groups,
					     const char *name)
{
	struct attribute **attribute;

	for (; groups && *groups; groups++)
		for (attribute = (*groups)->attrs; *attribute; attribute++)
			if (!strcmp((*attribute)->name, name))
				return container_of(*attribute, struct device_attribute, attr);
	return NULL;
}

/* Reads it as sysfs does, into a page of the test's. */
static const char *show(struct kunit *test, struct device *dev,
			const struct attribute_group *const *groups, const char *name)
{
	struct device_attribute *attribute = attribute_of(groups, name);
	char *page = (char *)kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_NOT_NULL_MSG(test, attribute, "no attribute %s", name);
	KUNIT_ASSERT_GT(test, attribute->show(dev, attribute, page), 0L);
	return page;
}

/* The device as its bus shows it: the driver's own part is what probe() adds. */
static const char *show_own(struct fixture *f, const char *name)
{
	dev_set_drvdata(f->fake->parent, f->fake->sdev);
	return show(f->test, f->fake->parent, simpler_sysfs_groups, name);
}

static void attributes_tell_what_the_device_is(struct kunit *test)
{
	struct fixture *f = test->priv;
	char text[32];

	KUNIT_EXPECT_STREQ(test, show_own(f, "arch"), "a2a3\n");
	KUNIT_EXPECT_STREQ(test, show_own(f, "health"), "ok\n");
	snprintf(text, sizeof(text), "%u\n", f->fake->regs->cluster_count);
	KUNIT_EXPECT_STREQ(test, show_own(f, "clusters"), text);
	snprintf(text, sizeof(text), "%u.%u\n", SIMPLER_HW_VERSION_MAJOR,
		 SIMPLER_HW_VERSION_MINOR);
	KUNIT_EXPECT_STREQ(test, show_own(f, "hw_version"), text);
}

static void attributes_count_files_contexts_and_streams(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct file *other = fixture_open(f);

	KUNIT_EXPECT_STREQ(test, show_own(f, "contexts"), "0\n");
	fixture_stream(f);
	fixture_stream(f);
	KUNIT_EXPECT_STREQ(test, show_own(f, "contexts"), "1\n");
	KUNIT_EXPECT_STREQ(test, show_own(f, "streams"), "2\n");
	KUNIT_EXPECT_STREQ(test, show_own(f, "files"), "2\n");
	fixture_close(other);
}

static void attributes_show_errors_and_health(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->fake->regs->ecc_corrected = 5;
	f->fake->regs->ecc_uncorrected = 2;
	fake_device_health(f->fake, SIMPLER_HW_HEALTH_DEGRADED);
	KUNIT_EXPECT_TRUE(test, fixture_until(!strcmp(show_own(f, "health"), "degraded\n")));
	KUNIT_EXPECT_STREQ(test, show_own(f, "ecc_corrected"), "5\n");
	KUNIT_EXPECT_STREQ(test, show_own(f, "ecc_uncorrected"), "2\n");
}

static void a_reset_can_be_asked_for(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct device_attribute *reset = attribute_of(simpler_sysfs_groups, "reset_device");
	u32 before = fake_device_counts(f->fake).resets;

	dev_set_drvdata(f->fake->parent, f->fake->sdev);
	KUNIT_ASSERT_NOT_NULL(test, reset);
	KUNIT_EXPECT_EQ(test, reset->store(f->fake->parent, reset, "0", 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, reset->store(f->fake->parent, reset, "now", 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).resets, before);
	KUNIT_EXPECT_EQ(test, reset->store(f->fake->parent, reset, "1", 1), 1);
	KUNIT_EXPECT_EQ(test, fake_device_counts(f->fake).resets, before + 1);
	KUNIT_EXPECT_STREQ(test, show_own(f, "resets"), "1\n");
}

/* ---- sensors ---- */

static int is_sensor(struct device *dev, void *data)
{
	return dev->class && !strcmp(dev->class->name, "hwmon");
}

static void sensors_follow_the_registers(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct device *sensor = device_find_child(f->fake->parent, NULL, is_sensor);

	KUNIT_ASSERT_NOT_NULL(test, sensor);
	f->fake->regs->temperature_mc = 54321;
	f->fake->regs->power_mw = 77;
	KUNIT_EXPECT_STREQ(test, show(test, sensor, sensor->groups, "temp1_input"), "54321\n");
	KUNIT_EXPECT_STREQ(test, show(test, sensor, sensor->groups, "power1_input"), "77000\n");
	put_device(sensor);
}

static struct kunit_case report_cases[] = {
	KUNIT_CASE(fdinfo_names_driver_and_client),
	KUNIT_CASE(fdinfo_counts_the_memory_of_the_file),
	KUNIT_CASE(fdinfo_counts_busy_time),
	KUNIT_CASE(attributes_tell_what_the_device_is),
	KUNIT_CASE(attributes_count_files_contexts_and_streams),
	KUNIT_CASE(attributes_show_errors_and_health),
	KUNIT_CASE(a_reset_can_be_asked_for),
	KUNIT_CASE(sensors_follow_the_registers),
	{}
};

FIXTURE_SUITE("simpler_report", report_cases);
