// SPDX-License-Identifier: GPL-2.0-only
/* Last of all suites: nothing is left of the others. */
#include <kunit/test.h>
#include <linux/sched.h>

#include "simpler_drv.h"

/* kmemleak scans by itself, a minute after the start and every ten minutes; time is virtual. */
static void nothing_leaked(struct kunit *test)
{
	schedule_timeout_uninterruptible(25 * 60 * HZ);
	KUNIT_EXPECT_TRUE(test, list_empty(&simpler_devices));
}

static struct kunit_case leak_cases[] = {
	KUNIT_CASE(nothing_leaked),
	{}
};

static struct kunit_suite leak_suite = {
	.name = "simpler_leak",
	.test_cases = leak_cases,
};
kunit_test_suite(leak_suite);
