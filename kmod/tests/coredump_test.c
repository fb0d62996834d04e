// SPDX-License-Identifier: GPL-2.0-only
/* What is left of a banned context to look at later: its devcoredump. */
#include <linux/device.h>
#include <linux/kernfs.h>
#include <linux/sysfs.h>

#include "fixture.h"
#include "simpler_drv.h"

/* The dump of a device, which sysfs has a link to; NULL: none. The caller puts it. */
static struct device *dump_of(struct device *dev)
{
	struct kernfs_node *link = kernfs_find_and_get(dev->kobj.sd, "devcoredump");
	struct kobject *kobj;

	if (!link)
		return NULL;
	kobj = link->symlink.target_kn->priv;
	kernfs_put(link);
	return get_device(kobj_to_dev(kobj));
}

static const struct bin_attribute *data_of(struct device *dump)
{
	return dump->class->dev_groups[0]->bin_attrs[0];
}

/* The text of a dump, which goes by being written to: as a tool does that has saved it. */
static const char *drop_dump(struct kunit *test, struct device *dump)
{
	char *text = (char *)kunit_kzalloc(test, SZ_16K, GFP_KERNEL);
	const struct bin_attribute *data = data_of(dump);

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_GT(test, data->read(NULL, &dump->kobj, (void *)data, text, 0, SZ_16K - 1),
			(ssize_t)0);
	data->write(NULL, &dump->kobj, (void *)data, text, 0, 1);
	KUNIT_EXPECT_TRUE(test, fixture_until(!device_is_registered(dump)));
	return text;
}

static const char *take_dump(struct kunit *test, struct device *dev)
{
	struct device *dump;
	const char *text;

	KUNIT_ASSERT_TRUE(test, fixture_until((dump = dump_of(dev))));
	text = drop_dump(test, dump);
	put_device(dump);
	return text;
}

static struct simpler_hw_cmd bad_fence(u32 batch)
{
	return (struct simpler_hw_cmd) {
		.opcode = SIMPLER_HW_OP_FENCE, .batch = batch,
		.fence = { .addr = SIMPLER_HW_VA_MIN + (1ull << 33), .value = 77 },
	};
}

static void expect_has(struct kunit *test, const char *text, const char *part)
{
	KUNIT_EXPECT_TRUE_MSG(test, strstr(text, part), "no \"%s\" in:\n%s", part, text);
}

static void a_ban_leaves_its_fault_and_commands(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd commands[] = { bad_fence(5), { .opcode = SIMPLER_HW_OP_NOP } };
	u32 stream = fixture_stream(f);
	const char *text;
	char part[80];

	KUNIT_ASSERT_EQ(test, fixture_submit(f, stream, commands, 2, NULL), 0L);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, stream, 2), (long)-EIO);
	text = take_dump(test, f->fake->parent);
	expect_has(test, text, "simpler device fake\n");
	snprintf(part, sizeof(part), "context %u pid %d\n", fixture_context(f, f->file).id,
		 task_tgid_nr(current));
	expect_has(test, text, part);
	snprintf(part, sizeof(part), "fault %u flags %#x ", SIMPLER_HW_FAULT_PAGE,
		 SIMPLER_HW_FAULT_WRITE);
	expect_has(test, text, part);
	snprintf(part, sizeof(part), "address %#llx ", commands[0].fence.addr);
	expect_has(test, text, part);
}

static void a_dump_has_what_was_not_completed(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd commands[] = { bad_fence(5), { .opcode = SIMPLER_HW_OP_NOP } };
	struct drm_simpler_stream_create create = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 16, .timeout_ms = 100,
	};
	const char *text;
	char part[80];

	fake_device_set(f->fake, &(struct fake_faults) { .hung = true });
	KUNIT_ASSERT_EQ(test, fixture_call(f, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create), 0L);
	KUNIT_ASSERT_EQ(test, fixture_submit(f, create.stream, commands, 2, NULL), 0L);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, create.stream, 2), (long)-EIO);
	text = take_dump(test, f->fake->parent);
	expect_has(test, text, ": 0 of 2 commands completed\n");
	snprintf(part, sizeof(part), "op %u flags 0x0 batch 5: %#llx 0x4d ", SIMPLER_HW_OP_FENCE,
		 commands[0].fence.addr);
	expect_has(test, text, part);
}

static void a_dump_outlives_its_device(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct simpler_hw_cmd commands[] = { bad_fence(5), { .opcode = SIMPLER_HW_OP_NOP } };
	u32 stream = fixture_stream(f);
	struct device *dump;

	KUNIT_ASSERT_EQ(test, fixture_submit(f, stream, commands, 2, NULL), 0L);
	KUNIT_EXPECT_EQ(test, fixture_wait(f, stream, 2), (long)-EIO);
	KUNIT_ASSERT_TRUE(test, fixture_until((dump = dump_of(f->fake->parent))));
	fake_device_unbind(f->fake);
	expect_has(test, drop_dump(test, dump), "simpler device fake\n");
	put_device(dump);
}

static struct kunit_case coredump_cases[] = {
	KUNIT_CASE(a_ban_leaves_its_fault_and_commands),
	KUNIT_CASE(a_dump_has_what_was_not_completed),
	KUNIT_CASE(a_dump_outlives_its_device),
	{}
};

FIXTURE_SUITE("simpler_coredump", coredump_cases);
