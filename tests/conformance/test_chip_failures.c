// SPDX-License-Identifier: MIT
/* Every way a run can fail: code, message, and that the chip works afterwards (chip-runtime §15). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chip_fixture.h"
#include "simpler/error.h"

#define ELEMENTS 1024

static struct chip_fixture f;
static float x[ELEMENTS];

/*
 * Opened inside each test: cmocka installs signal handlers of its own around a
 * test, and those installed last get a kernel's fault.
 */
static void open_chip(void)
{
	memset(x, 0, sizeof(x));
	fixture_open(&f, SIMPLER_HW_ARCH_A2A3, 0, 300);
	fixture_load(&f, "failures", "add_one,crash,endless,push,pop");
	fixture_tensor(&f, 0, x, 0, 4, ELEMENTS);
}

/* The failure must not have cost anything: the next run is right. */
static void works_afterwards(void)
{
	struct simpler_hw_launch broken = f.launch;

	memset(f.launch.ring_window, 0, sizeof(f.launch.ring_window));
	memset(f.launch.ring_heap, 0, sizeof(f.launch.ring_heap));
	memset(f.launch.ring_dep_pool, 0, sizeof(f.launch.ring_dep_pool));
	x[5] = 1;
	if (fixture_run(&f, 2, 1ull, 100ull))
		fail_msg("run after a failure: %s", f.status.text);
	assert_int_equal(x[5], 101);
	f.launch = broken;
}

static void rings(uint64_t window, uint64_t heap, uint64_t pool)
{
	for (int r = 0; r < 4; r++) {
		f.launch.ring_window[r] = window;
		f.launch.ring_heap[r] = heap;
		f.launch.ring_dep_pool[r] = pool;
	}
}

static void orchestration_that_submits_nothing_completes(void **state)
{
	(void)state;
	open_chip();
	assert_int_equal(fixture_run(&f, 1, 0ull), 0);
	assert_int_equal(f.status.tasks_submitted, 0);
	fixture_close(&f);
}

static void case_34_scope_deadlock(void **state)
{
	(void)state;
	open_chip();
	rings(4, 0, 0);
	assert_int_equal(fixture_run(&f, 2, 1ull, 8ull), SIMPLER_RUN_SCOPE_DEADLOCK);
	fixture_expect(&f, 1, "SCOPE_DEADLOCK");
	works_afterwards();
	fixture_close(&f);
}

static void case_35_heap_deadlock(void **state)
{
	(void)state;
	open_chip();
	rings(0, 1024, 0);
	fixture_run(&f, 2, 2ull, 32768ull);
	fixture_expect(&f, SIMPLER_RUN_HEAP_RING_DEADLOCK, "HEAP_RING_DEADLOCK");
	works_afterwards();
	fixture_close(&f);
}

static void case_35_flow_control_deadlock(void **state)
{
	(void)state;
	open_chip();
	rings(4, 0, 0);
	fixture_run(&f, 2, 3ull, 8ull);
	fixture_expect(&f, SIMPLER_RUN_FLOW_CONTROL_DEADLOCK, "FLOW_CONTROL_DEADLOCK");
	works_afterwards();
	fixture_close(&f);
}

static void case_35_dependency_pool_overflow(void **state)
{
	(void)state;
	open_chip();
	rings(0, 0, 4);
	fixture_run(&f, 2, 16ull, 128ull);
	fixture_expect(&f, SIMPLER_RUN_DEP_POOL_OVERFLOW, "DEP_POOL_OVERFLOW");
	works_afterwards();
	fixture_close(&f);
}

static void case_38_reported_fatal(void **state)
{
	(void)state;
	open_chip();
	x[0] = 0;
	fixture_run(&f, 1, 10ull);
	fixture_expect(&f, SIMPLER_RUN_EXPLICIT_ORCH_FATAL, "reported on purpose, value 77");
	assert_int_equal(f.status.tasks_submitted, 0);
	assert_int_equal(x[0], 0);
	works_afterwards();
	fixture_close(&f);
}

static void case_42_cohort_wider_than_the_chip(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 2, 11ull, 1000ull);
	fixture_expect(&f, SIMPLER_RUN_REQUIRE_SYNC_START_INVALID,
		       "require_sync_start block_num=1000 > limit=16 (deadlock guaranteed)");
	works_afterwards();
	fixture_close(&f);
}

static void undefined_kernel_names_the_id_and_those_that_exist(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 2, 12ull, 99ull);
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "func_id 99 is not defined; this callable has: 0, 1, 2, 3, 4");
	works_afterwards();
	fixture_close(&f);
}

static void pop_without_push_is_a_deadlock_that_names_the_block(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 2, 6ull, 1ull);
	fixture_expect(&f, SIMPLER_RUN_SCHEDULER_TIMEOUT, "pop from an empty pipe");
	assert_int_equal(f.status.sub_class, 1);
	works_afterwards();
	fixture_close(&f);
}

static void pushes_beyond_the_slots_without_a_pop_are_a_deadlock(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 2, 7ull, 9ull);
	fixture_expect(&f, SIMPLER_RUN_SCHEDULER_TIMEOUT, "push to a full pipe");
	works_afterwards();
	fixture_close(&f);
}

static void more_clusters_than_exist(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 2, 8ull, 9ull);
	fixture_expect(&f, SIMPLER_RUN_CLUSTER_DEADLOCK, "9 clusters, the chip has 8");
	works_afterwards();
	fixture_close(&f);
}

static void clusters_that_the_own_scope_holds(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 1, 9ull);
	fixture_expect(&f, SIMPLER_RUN_CLUSTER_DEADLOCK, "waiting for free clusters");
	works_afterwards();
	fixture_close(&f);
}

static void element_of_a_producer_that_never_completes(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 2, 17ull, 1ull);
	fixture_expect(&f, SIMPLER_RUN_TENSOR_WAIT_TIMEOUT, "pop from an empty pipe");
	works_afterwards();
	fixture_close(&f);
}

static void crash(uint64_t kind, const char *text)
{
	fixture_run(&f, 2, 4ull, kind);
	fixture_expect(&f, SIMPLER_RUN_KERNEL_FAULT, text);
	assert_int_equal(f.status.func_id, 1);
	works_afterwards();
}

static void kernel_that_stores_to_a_wild_address(void **state)
{
	(void)state;
	open_chip();
	crash(0, "Segmentation fault at address 0x40");
	assert_int_equal(f.status.code, 0);
	fixture_close(&f);
}

static void kernel_that_divides_by_zero(void **state)
{
	(void)state;
	open_chip();
	crash(1, "Floating point exception");
	fixture_close(&f);
}

static void kernel_that_executes_an_illegal_instruction(void **state)
{
	(void)state;
	open_chip();
	crash(2, "Illegal instruction");
	fixture_close(&f);
}

static void kernel_that_aborts(void **state)
{
	(void)state;
	open_chip();
	crash(3, "Aborted");
	crash(3, "Aborted");
	fixture_close(&f);
}

static void kernel_that_overflows_its_stack(void **state)
{
	(void)state;
	open_chip();
	crash(4, "stack overflow");
	fixture_close(&f);
}

static void orchestration_that_crashes(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 2, 13ull, 16ull);
	fixture_expect(&f, SIMPLER_RUN_KERNEL_FAULT, "the orchestration crashed: Segmentation fault at address 0x10");
	works_afterwards();
	fixture_close(&f);
}

static void endless_kernel_ends_by_watchdog(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 1, 5ull);
	fixture_expect(&f, SIMPLER_RUN_SCHEDULER_TIMEOUT, "does not return");
	assert_int_equal(f.status.sub_class, 1);
	assert_int_equal(f.status.func_id, 2);
	works_afterwards();
	fixture_close(&f);
}

static void endless_orchestration_ends_by_watchdog(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 1, 14ull);
	fixture_expect(&f, SIMPLER_RUN_SCHEDULER_TIMEOUT, "sub_class=S5");
	works_afterwards();
	fixture_close(&f);
}

static void injected_lost_completion_ends_by_watchdog(void **state)
{
	(void)state;
	open_chip();
	model_inject(f.context, MODEL_INJECT_KERNEL_ENDLESS, 3);
	fixture_run(&f, 2, 1ull, 10ull);
	fixture_expect(&f, SIMPLER_RUN_SCHEDULER_TIMEOUT, "sub_class=S1");
	works_afterwards();
	model_inject(f.context, MODEL_INJECT_KERNEL_CRASH, 3);
	fixture_run(&f, 2, 1ull, 10ull);
	fixture_expect(&f, SIMPLER_RUN_KERNEL_FAULT, "Illegal instruction");
	works_afterwards();
	fixture_close(&f);
}

static void pipe_longer_than_its_slots(void **state)
{
	int32_t *sum = (int32_t *)&x[0];

	(void)state;
	open_chip();
	*sum = 0;
	if (fixture_run(&f, 2, 15ull, 100ull))
		fail_msg("%s", f.status.text);
	assert_int_equal(*sum, 5050);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orchestration_that_submits_nothing_completes),
		cmocka_unit_test(pipe_longer_than_its_slots),
		cmocka_unit_test(case_34_scope_deadlock),
		cmocka_unit_test(case_35_heap_deadlock),
		cmocka_unit_test(case_35_flow_control_deadlock),
		cmocka_unit_test(case_35_dependency_pool_overflow),
		cmocka_unit_test(case_38_reported_fatal),
		cmocka_unit_test(case_42_cohort_wider_than_the_chip),
		cmocka_unit_test(undefined_kernel_names_the_id_and_those_that_exist),
		cmocka_unit_test(pop_without_push_is_a_deadlock_that_names_the_block),
		cmocka_unit_test(pushes_beyond_the_slots_without_a_pop_are_a_deadlock),
		cmocka_unit_test(more_clusters_than_exist),
		cmocka_unit_test(clusters_that_the_own_scope_holds),
		cmocka_unit_test(element_of_a_producer_that_never_completes),
		cmocka_unit_test(kernel_that_stores_to_a_wild_address),
		cmocka_unit_test(kernel_that_divides_by_zero),
		cmocka_unit_test(kernel_that_executes_an_illegal_instruction),
		cmocka_unit_test(kernel_that_aborts),
		cmocka_unit_test(kernel_that_overflows_its_stack),
		cmocka_unit_test(orchestration_that_crashes),
		cmocka_unit_test(endless_kernel_ends_by_watchdog),
		cmocka_unit_test(endless_orchestration_ends_by_watchdog),
		cmocka_unit_test(injected_lost_completion_ends_by_watchdog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
