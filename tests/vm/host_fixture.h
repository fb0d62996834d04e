/* SPDX-License-Identifier: MIT */
/* Setup of the tests that play the driver: a running device, and what most of them need. */
#ifndef TESTS_VM_HOST_FIXTURE_H
#define TESTS_VM_HOST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sanitize.h"
#include "host_driver.h"

struct fixture {
	struct drv_host host;
	struct drv_chip chip;
	struct drv_context context;
	struct drv_stream stream;
};

/* One chip, enabled, with context 0 and stream 0. */
static inline int fixture_setup(void **state)
{
	static struct fixture f;

	drv_host_start(&f.host, 1);
	drv_connect(&f.chip, &f.host, 0);
	assert_int_equal(drv_enable(&f.chip), SIMPLER_HW_STATUS_ENABLED);
	drv_context_create(&f.context, &f.chip, 0);
	assert_int_equal(drv_stream_create(&f.stream, &f.context, 0), 0);
	*state = &f;
	return 0;
}

/* After every test nothing may be left of what it made. */
static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	drv_disconnect(&f->chip);
	drv_await_counter(&f->host, 0, "contexts", 0);
	assert_int_equal(drv_counter(&f->host, 0, "executors"), 0);
	assert_int_equal(drv_counter(&f->host, 0, "streams"), 0);
	drv_host_stop(&f->host);
	return 0;
}

/* Executors map memory where sanitizers keep theirs. */
static void needs_a_build_without_sanitizers(void **state)
{
	(void)state;
	skip();
}

#define host_run(name, tests) \
	(SANITIZE_ADDRESS || SANITIZE_THREAD ? \
	 cmocka_run_group_tests_name(name, host_skipped, NULL, NULL) : \
	 cmocka_run_group_tests_name(name, tests, NULL, NULL))

static const struct CMUnitTest host_skipped[] = {
	cmocka_unit_test(needs_a_build_without_sanitizers),
};

#define host_test(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif /* TESTS_VM_HOST_FIXTURE_H */
