// SPDX-License-Identifier: GPL-2.0-only
/* What monitoring reads: fdinfo */
#include <linux/seq_file.h>

#include "fixture.h"

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

static struct kunit_case report_cases[] = {
	KUNIT_CASE(fdinfo_names_driver_and_client),
	KUNIT_CASE(fdinfo_counts_the_memory_of_the_file),
	KUNIT_CASE(fdinfo_counts_busy_time),
	{}
};

FIXTURE_SUITE("simpler_report", report_cases);
