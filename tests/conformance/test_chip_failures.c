// SPDX-License-Identifier: MIT
/* Every way a run can fail: code, message, and that the chip works afterwards (chip-runtime §15). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chip/chip.h"
#include "chip_script.h"
#include "model/context.h"
#include "simpler/error.h"

#define ELEMENTS 1024

static struct chip_fixture f;
static float x[ELEMENTS];

/*
 * Opened inside each test: cmocka installs signal handlers of its own around a
 * test, and those installed last get a kernel's fault.
 */
static void open_watched(uint32_t no_progress_ms)
{
	memset(x, 0, sizeof(x));
	fixture_open_variant(&f, no_progress_ms);
	fixture_load(&f, "failures", "add_one,crash,endless,push,pop,abuse");
	fixture_tensor(&f, 0, x, 0, 4, ELEMENTS);
}

static void open_chip(void)
{
	open_watched(FIXTURE_WATCHDOG_MS);
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

static void chip_case_34_scope_deadlock(void **state)
{
	(void)state;
	open_chip();
	rings(4, 0, 0);
	assert_int_equal(fixture_run(&f, 2, 1ull, 8ull), SIMPLER_RUN_SCOPE_DEADLOCK);
	fixture_expect(&f, 1, "one open scope (depth ");
	works_afterwards();
	fixture_close(&f);
}

static void chip_case_35_heap_deadlock(void **state)
{
	(void)state;
	open_chip();
	rings(0, 1024, 0);
	fixture_run(&f, 2, 2ull, 32768ull);
	fixture_expect(&f, SIMPLER_RUN_HEAP_RING_DEADLOCK, "outputs of 32768 bytes exceed the heap of ring");
	works_afterwards();
	fixture_close(&f);
}

static void chip_case_35_flow_control_deadlock(void **state)
{
	(void)state;
	open_chip();
	rings(4, 0, 0);
	fixture_run(&f, 2, 3ull, 8ull);
	fixture_expect(&f, SIMPLER_RUN_FLOW_CONTROL_DEADLOCK, "belongs to an open scope");
	works_afterwards();
	fixture_close(&f);
}

static void chip_case_35_dependency_pool_overflow(void **state)
{
	(void)state;
	open_chip();
	rings(0, 0, 4);
	fixture_run(&f, 2, 16ull, 128ull);
	fixture_expect(&f, SIMPLER_RUN_DEP_POOL_OVERFLOW, "needs 64 pool entries");
	works_afterwards();
	fixture_close(&f);
}

static void chip_case_38_calls_after_a_reported_fatal_do_nothing(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 1, 10ull);
	fixture_expect(&f, SIMPLER_RUN_EXPLICIT_ORCH_FATAL, "reported on purpose, value 77");
	assert_int_equal(f.status.tasks_submitted, 0);
	for (int i = 0; i < 6; i++)
		assert_true(x[i] == 1.0f);
	assert_true(x[6] == 42.0f);
	works_afterwards();
	fixture_close(&f);
}

static void a_reported_fatal_has_the_code_it_names(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 2, 18ull, 150ull);
	fixture_expect(&f, 150, "of its own code");
	fixture_run(&f, 2, 18ull, 0ull);
	fixture_expect(&f, SIMPLER_RUN_EXPLICIT_ORCH_FATAL, "of its own code");
	fixture_run(&f, 2, 18ull, (uint64_t)-3);
	fixture_expect(&f, SIMPLER_RUN_EXPLICIT_ORCH_FATAL, "of its own code");
	works_afterwards();
	fixture_close(&f);
}

static void ignore_chip(struct chip *c)
{
	(void)c;
}

static void ignore_work(struct chip *c, const struct chip_task *t)
{
	(void)c;
	(void)t;
}

static void chip_case_37_an_orchestrator_code_outranks_a_schedulers(void **state)
{
	static const struct chip_executor_ops ops = {
		.resume_orchestrator = ignore_chip, .work_ready = ignore_work,
	};
	struct chip_config config = { .arch = SIMPLER_HW_ARCH_A2A3, .clusters = 8, .ops = &ops };
	struct chip *c = calloc(1, sizeof(*c));

	(void)state;
	assert_int_equal(chip_init(c, &config), 0);
	chip_fail_sched(c, SIMPLER_RUN_SCHEDULER_TIMEOUT, NULL, "the scheduler's text");
	chip_fail_orch(c, SIMPLER_RUN_EXPLICIT_ORCH_FATAL, "the orchestrator's text");
	chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "a later text");
	chip_fail_sched(c, SIMPLER_RUN_KERNEL_FAULT, NULL, "a later text");
	assert_int_equal(chip_end(c, &f.status), SIMPLER_RUN_EXPLICIT_ORCH_FATAL);
	fixture_expect(&f, SIMPLER_RUN_EXPLICIT_ORCH_FATAL, "the orchestrator's text");
	assert_int_equal(f.status.orch_code, SIMPLER_RUN_EXPLICIT_ORCH_FATAL);
	assert_int_equal(f.status.sched_code, SIMPLER_RUN_SCHEDULER_TIMEOUT);
	assert_int_equal(f.status.phase, SIMPLER_HW_PHASE_ORCHESTRATE);
	chip_fini(c);
	free(c);
}

static void more_open_tasks_than_slots(void **state)
{
	(void)state;
	open_chip();
	f.context->engine.chip.open_task_override = 20;
	fixture_run(&f, 2, 1ull, 21ull);
	fixture_expect(&f, SIMPLER_RUN_SCOPE_TASKS_OVERFLOW, "open scopes hold ");
	assert_int_equal(fixture_run(&f, 2, 1ull, 20ull), 0);
	f.context->engine.chip.open_task_override = 0;
	works_afterwards();
	fixture_close(&f);
}

static void more_live_accesses_than_the_tensor_map_holds(void **state)
{
	(void)state;
	open_chip();
	f.launch.dep_mode = SIMPLER_HW_DEPS_SEQUENTIAL;
	fixture_run(&f, 2, 19ull, 2049ull);
	fixture_expect(&f, SIMPLER_RUN_TENSORMAP_OVERFLOW, "nothing that runs can free the request of 1");
	works_afterwards();
	/* one short of the limit it is the waiting tasks that end the run */
	fixture_run(&f, 2, 19ull, 2047ull);
	fixture_expect(&f, SIMPLER_RUN_SCHEDULER_TIMEOUT, "pop from an empty pipe");
	works_afterwards();
	fixture_close(&f);
}

static void completion_slab(uint64_t how, int code, const char *part)
{
	fixture_run(&f, 2, 20ull, how);
	fixture_expect(&f, code, part);
	assert_int_equal(f.status.func_id, 5);
	works_afterwards();
}

static void misuse_of_the_completion_slab(void **state)
{
	(void)state;
	open_chip();
	for (uint64_t how = 0; how < 4; how++)
		completion_slab(how, SIMPLER_RUN_ASYNC_COMPLETION_INVALID, "completion condition 0 is not valid");
	completion_slab(4, SIMPLER_RUN_ASYNC_WAIT_OVERFLOW, "more than 64 completion conditions");
	completion_slab(5, SIMPLER_RUN_ASYNC_REGISTRATION_FAILED, "registered 65 completion conditions, at most 64 are allowed");
	completion_slab(6, SIMPLER_RUN_ASYNC_REGISTRATION_FAILED, "completion condition");
	completion_slab(7, SIMPLER_RUN_ASYNC_REGISTRATION_FAILED, "completion condition");
	completion_slab(9, SIMPLER_RUN_ASYNC_COMPLETION_INVALID, "0x1000, which is not readable memory");
	for (uint64_t how = 10; how < 14; how++)
		completion_slab(how, SIMPLER_RUN_ASYNC_REGISTRATION_FAILED, "kernel abuse");
	assert_int_equal(fixture_run(&f, 2, 20ull, 8ull), 0);
	fixture_close(&f);
}

static void predicate_whose_operand_has_no_memory(void **state)
{
	(void)state;
	open_chip();
	fixture_run(&f, 2, 22ull, 0ull);
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "the operand of its predicate at 0x1000 is not readable memory");
	works_afterwards();
	fixture_close(&f);
}

static void chain_of_ten_thousand_pipes(void **state)
{
	(void)state;
	open_chip();
	if (fixture_run(&f, 2, 23ull, 10000ull))
		fail_msg("%s", f.status.text);
	assert_int_equal(f.status.tasks_completed, 10002);
	fixture_close(&f);
}

static void chip_case_42_cohort_wider_than_the_chip(void **state)
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
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "func_id 99 is not defined; this callable has: 0, 1, 2, 3, 4, 5");
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

static void kernel_that_throws(void **state)
{
	(void)state;
	open_chip();
	crash(5, "Aborted");
	fixture_close(&f);
}

static void kernel_that_jumps_to_nowhere(void **state)
{
	(void)state;
	open_chip();
	crash(6, "Segmentation fault at address 0x40");
	fixture_close(&f);
}

static void one_of_many_blocks_that_crashes(void **state)
{
	(void)state;
	open_chip();
	for (uint64_t kind = 0; kind < 4; kind++) {
		fixture_run(&f, 2, 21ull, kind);
		fixture_expect(&f, SIMPLER_RUN_KERNEL_FAULT, "kernel crash");
		assert_int_equal(f.status.func_id, 1);
		works_afterwards();
	}
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
	open_watched(FIXTURE_SHORT_MS);
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
	open_watched(FIXTURE_SHORT_MS);
	fixture_run(&f, 1, 14ull);
	fixture_expect(&f, SIMPLER_RUN_SCHEDULER_TIMEOUT, "sub_class=S5");
	works_afterwards();
	fixture_close(&f);
}

static void injected_faults_end_the_run(void **state)
{
	(void)state;
	open_watched(FIXTURE_SHORT_MS);
	model_inject(f.context, MODEL_INJECT_LOST_COMPLETION, 3);
	fixture_run(&f, 2, 1ull, 10ull);
	fixture_expect(&f, SIMPLER_RUN_SCHEDULER_TIMEOUT, "its completion was lost");
	assert_int_equal(f.status.sub_class, 1);
	assert_int_equal(f.status.tasks_completed, 3);
	assert_int_equal(f.status.func_id, 0);
	assert_int_equal(f.status.task, 3);
	works_afterwards();
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

/* ---- told as scripts ---- */

static void rings_of_scripts(uint64_t window, uint64_t heap)
{
	for (int r = 0; r < 4; r++) {
		script_chip.launch.ring_window[r] = window;
		script_chip.launch.ring_heap[r] = heap;
	}
}

/* Task A never completes, so only a decision from the rings' state can end these before the watchdog. */
static void chip_case_36_behind_a_task_of_an_open_scope_a_submit_fails_at_once(void **state)
{
	(void)state;
	script_setup(NULL);
	rings_of_scripts(0, 4096);
	script_fails(SIMPLER_RUN_HEAP_RING_DEADLOCK, "the oldest task of ring 0 belongs to an open scope",
		     "keep A; alloc a 256; alloc b 256");
	script_fails(SIMPLER_RUN_HEAP_RING_DEADLOCK, "the oldest task of ring 1 belongs to an open scope",
		     "keep A; scope; stamp B; alloc a 256; alloc b 256; end");
	rings_of_scripts(4, 0);
	script_fails(SIMPLER_RUN_FLOW_CONTROL_DEADLOCK, "the oldest task of ring 3 belongs to an open scope",
		     "keep A; scope; scope; scope; stamp B; stamp D; scope; stamp E; stamp F; end; end; end; end");
	script_fails(SIMPLER_RUN_FLOW_CONTROL_DEADLOCK, "the oldest task of ring 3 belongs to an open scope",
		     "keep A; scope; scope; scope; hold B; stamp D; scope; stamp E; stamp F; end; end; end; end");
	script_fails(SIMPLER_RUN_SCOPE_DEADLOCK, "one open scope (depth ",
		     "scope; keep A; stamp B; stamp D; stamp E; end");
	script_ok("scope; scope; scope; stamp B; stamp D; end; scope; stamp E; stamp F; end; end; end");
	script_teardown(NULL);
}

static void chip_case_36_behind_a_running_task_of_a_closed_scope_a_submit_waits(void **state)
{
	(void)state;
	script_setup(NULL);
	rings_of_scripts(4, 4096);
	script_ok("scope; hold A new:a; release C; end; scope; alloc b 256; mark D; end");
	script_order("CD");
	script_ok("scope; scope; scope; scope; hold A; release C; end; stamp B; stamp D; mark E;"
		  "end; end; end");
	script_order("CE");
	script_teardown(NULL);
	/* for ever, if that is how it is */
	script_watchdog_ms = FIXTURE_SHORT_MS;
	script_setup(NULL);
	rings_of_scripts(4, 4096);
	script_fails(SIMPLER_RUN_SCHEDULER_TIMEOUT, "waiting for heap space",
		     "scope; keep A new:a; end; scope; alloc b 256; end");
	script_fails(SIMPLER_RUN_SCHEDULER_TIMEOUT, "waiting for a task slot",
		     "scope; keep A; stamp B; stamp D; end; scope; stamp E; end");
	script_ok("stamp A");
	script_teardown(NULL);
	script_watchdog_ms = FIXTURE_WATCHDOG_MS;
}

static void tasks_that_wait_for_ever_are_stall_class_4(void **state)
{
	(void)state;
	script_watchdog_ms = FIXTURE_SHORT_MS;
	script_setup(NULL);
	script_fails(SIMPLER_RUN_SCHEDULER_TIMEOUT, "sub_class=S4", "keep A; stamp B wait:A");
	assert_int_equal(script_chip.status.sub_class, 4);
	assert_non_null(strstr(script_chip.status.text, " waits until the word at 0x"));
	assert_non_null(strstr(script_chip.status.text, "(kernel stamp) waits for 1 tasks and 0 pipes"));
	assert_int_equal(script_chip.status.tasks_submitted, 2);
	assert_int_equal(script_chip.status.tasks_completed, 0);
	script_ok("stamp A");
	script_teardown(NULL);
	script_watchdog_ms = FIXTURE_WATCHDOG_MS;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orchestration_that_submits_nothing_completes),
		cmocka_unit_test(pipe_longer_than_its_slots),
		cmocka_unit_test(chip_case_34_scope_deadlock),
		cmocka_unit_test(chip_case_35_heap_deadlock),
		cmocka_unit_test(chip_case_35_flow_control_deadlock),
		cmocka_unit_test(chip_case_35_dependency_pool_overflow),
		cmocka_unit_test(chip_case_36_behind_a_task_of_an_open_scope_a_submit_fails_at_once),
		cmocka_unit_test(chip_case_36_behind_a_running_task_of_a_closed_scope_a_submit_waits),
		cmocka_unit_test(chip_case_37_an_orchestrator_code_outranks_a_schedulers),
		cmocka_unit_test(chip_case_38_calls_after_a_reported_fatal_do_nothing),
		cmocka_unit_test(a_reported_fatal_has_the_code_it_names),
		cmocka_unit_test(more_open_tasks_than_slots),
		cmocka_unit_test(more_live_accesses_than_the_tensor_map_holds),
		cmocka_unit_test(misuse_of_the_completion_slab),
		cmocka_unit_test(tasks_that_wait_for_ever_are_stall_class_4),
		cmocka_unit_test(chip_case_42_cohort_wider_than_the_chip),
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
		cmocka_unit_test(kernel_that_throws),
		cmocka_unit_test(kernel_that_jumps_to_nowhere),
		cmocka_unit_test(one_of_many_blocks_that_crashes),
		cmocka_unit_test(orchestration_that_crashes),
		cmocka_unit_test(endless_kernel_ends_by_watchdog),
		cmocka_unit_test(endless_orchestration_ends_by_watchdog),
		cmocka_unit_test(injected_faults_end_the_run),
		cmocka_unit_test(predicate_whose_operand_has_no_memory),
		cmocka_unit_test(chain_of_ten_thousand_pipes),
	};

	return chip_run_suite("failures", tests, NULL, NULL);
}
