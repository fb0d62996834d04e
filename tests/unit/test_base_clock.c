/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static void deadlines_saturate_instead_of_wrapping(void **state)
{
	(void)state;
	assert_true(clock_deadline_from(100, 5) == 105);
	assert_true(clock_deadline_from(100, 0) == 100);
	assert_true(clock_deadline_from(100, -1) == CLOCK_NEVER);
	assert_true(clock_deadline_from(UINT64_MAX - 10, 10) == UINT64_MAX);
	assert_true(clock_deadline_from(UINT64_MAX - 10, 11) == CLOCK_NEVER);
	assert_true(clock_deadline_from(UINT64_MAX - 10, INT64_MAX) == CLOCK_NEVER);
	assert_true(clock_deadline(-5) == CLOCK_NEVER);
	assert_true(clock_deadline(INT64_MAX) > (uint64_t)INT64_MAX);
}

static void passed_and_remaining_agree(void **state)
{
	uint64_t now = clock_mono_ns();

	(void)state;
	assert_true(now > 0);
	assert_true(clock_passed(now));
	assert_true(clock_passed(0));
	assert_false(clock_passed(CLOCK_NEVER));
	assert_false(clock_passed(clock_deadline(INT64_C(3600000000000))));
	assert_int_equal(clock_remaining(now), 0);
	assert_true(clock_remaining(CLOCK_NEVER) == INT64_MAX);
	assert_true(clock_remaining(CLOCK_NEVER - 1) == INT64_MAX);
	assert_in_range(clock_remaining(clock_deadline(INT64_C(3600000000000))), 1,
			INT64_C(3600000000000));
}

static void poll_timeout_is_rounded_up(void **state)
{
	(void)state;
	assert_int_equal(clock_remaining_poll_ms(CLOCK_NEVER), -1);
	assert_int_equal(clock_remaining_poll_ms(0), 0);
	assert_int_equal(clock_remaining_poll_ms(CLOCK_NEVER - 1), INT32_MAX);
	assert_in_range(clock_remaining_poll_ms(clock_deadline(INT64_C(3600000000000))), 1,
			3600000);
}

static void seconds_become_nanoseconds(void **state)
{
	(void)state;
	assert_true(clock_timeout_from_seconds(1.5) == 1500000000);
	assert_true(clock_timeout_from_seconds(0) == 0);
	assert_true(clock_timeout_from_seconds(-3) == 0);
	assert_true(clock_timeout_from_seconds((double)INFINITY) == INT64_MAX);
	assert_true(clock_timeout_from_seconds(1e300) == INT64_MAX);
	assert_true(clock_timeout_from_seconds((double)NAN) == -1);
}

static void timespec_splits_the_nanoseconds(void **state)
{
	struct timespec ts = clock_to_timespec(UINT64_C(12345678901234));

	(void)state;
	assert_int_equal(ts.tv_sec, 12345);
	assert_int_equal(ts.tv_nsec, 678901234);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadlines_saturate_instead_of_wrapping),
		cmocka_unit_test(passed_and_remaining_agree),
		cmocka_unit_test(poll_timeout_is_rounded_up),
		cmocka_unit_test(seconds_become_nanoseconds),
		cmocka_unit_test(timespec_splits_the_nanoseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
