/* SPDX-License-Identifier: MIT */
/*
 * Every code that a run can fail with (chip-runtime §15), seen through a Worker: the code, the
 * text, the hint, operands untouched, and a Worker that works afterwards (decisions D23).
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/run_code.h"
#include "model/context.h"
#include "worker/worker.h"
#include "worker_cases.h"

#define ELEMENTS 1024

/* A failing run: what orch/failures.cpp is told, under which rings. */
struct failure {
	int code;
	uint64_t operation, value;
	uint64_t window, heap, pool;	/* 0: default */
	uint64_t open_tasks;		/* limit set in the chip; 0: its own */
	const char *part;		/* of the text */
};

static const struct failure failures[] = {
	{ .code = SIMPLER_RUN_SCOPE_DEADLOCK, .operation = 1, .value = 8, .window = 4,
	  .part = "SCOPE_DEADLOCK" },
	{ .code = SIMPLER_RUN_HEAP_RING_DEADLOCK, .operation = 2, .value = 32768, .heap = 1024,
	  .part = "HEAP_RING_DEADLOCK" },
	{ .code = SIMPLER_RUN_FLOW_CONTROL_DEADLOCK, .operation = 3, .value = 8, .window = 4,
	  .part = "FLOW_CONTROL_DEADLOCK" },
	{ .code = SIMPLER_RUN_DEP_POOL_OVERFLOW, .operation = 16, .value = 128, .pool = 4,
	  .part = "DEP_POOL_OVERFLOW" },
	{ .code = SIMPLER_RUN_INVALID_ARGS, .operation = 12, .value = 99,
	  .part = "func_id 99 is not defined" },
	{ .code = SIMPLER_RUN_REQUIRE_SYNC_START_INVALID, .operation = 11, .value = 1000,
	  .part = "block_num=1000" },
	{ .code = SIMPLER_RUN_TENSOR_WAIT_TIMEOUT, .operation = 17, .value = 1,
	  .part = "pop from an empty pipe" },
	{ .code = SIMPLER_RUN_EXPLICIT_ORCH_FATAL, .operation = 18, .value = 9,
	  .part = "of its own code" },
	/* numbers that are no code of a run count as 9, and the text tells them */
	{ .code = SIMPLER_RUN_EXPLICIT_ORCH_FATAL, .operation = 18, .value = 5000,
	  .part = "5000" },
	{ .code = SIMPLER_RUN_EXPLICIT_ORCH_FATAL, .operation = 18, .value = (uint64_t)-3,
	  .part = "-3" },
	{ .code = SIMPLER_RUN_SCOPE_TASKS_OVERFLOW, .operation = 1, .value = 21, .open_tasks = 20,
	  .part = "SCOPE_TASKS_OVERFLOW" },
	{ .code = SIMPLER_RUN_TENSORMAP_OVERFLOW, .operation = 19, .value = 2049,
	  .part = "TENSORMAP_OVERFLOW" },
	{ .code = SIMPLER_RUN_CLUSTER_DEADLOCK, .operation = 8, .value = 99,
	  .part = "CLUSTER_DEADLOCK" },
	{ .code = SIMPLER_RUN_SCHEDULER_TIMEOUT, .operation = 6, .value = 1,
	  .part = "pop from an empty pipe" },
	{ .code = SIMPLER_RUN_ASYNC_COMPLETION_INVALID, .operation = 20, .value = 0,
	  .part = "ASYNC_COMPLETION_INVALID" },
	{ .code = SIMPLER_RUN_ASYNC_WAIT_OVERFLOW, .operation = 20, .value = 4,
	  .part = "ASYNC_WAIT_OVERFLOW" },
	{ .code = SIMPLER_RUN_ASYNC_REGISTRATION_FAILED, .operation = 20, .value = 6,
	  .part = "ASYNC_REGISTRATION_FAILED" },
	/* only the other runtime raises it by itself */
	{ .code = SIMPLER_RUN_READY_QUEUE_OVERFLOW, .operation = 18,
	  .value = SIMPLER_RUN_READY_QUEUE_OVERFLOW, .part = "READY_QUEUE_OVERFLOW" },
	{ .code = SIMPLER_RUN_KERNEL_FAULT, .operation = 4, .value = 2,
	  .part = "Illegal instruction" },
};
#define FAILURES (sizeof(failures) / sizeof(failures[0]))

struct session {
	struct simpler_worker *w;
	struct simpler_callable_handle f;
	struct simpler_buffer *x;
	float *data;
};

/*
 * Inside each test: cmocka installs signal handlers of its own around a test, and those installed
 * last get a kernel's fault.
 */
static struct session session_open(void)
{
	static const char *const kernels[] = { "add_one", "crash", "endless", "push", "pop",
					       "abuse" };
	static const int32_t signature[] = { SIMPLER_DIR_INOUT };
	struct program_parts parts = {
		.orchestration = "failures", .kernels = kernels, .kernel_count = 6,
		.signature = signature, .sig_count = 1,
	};
	struct session s = { .w = ready() };

	s.f = registered_program(s.w, program_of(&parts));
	s.x = host(s.w, ELEMENTS * sizeof(float));
	s.data = simpler_buffer_data(s.x);
	return s;
}

static void session_close(struct session *s)
{
	end(s->w);
	simpler_buffer_put(s->x);
}

static struct simpler_task_args *operands(struct session *s, uint64_t operation, uint64_t value)
{
	struct simpler_task_args *a;

	assert_int_equal(simpler_task_args_create(&a), 0);
	add(a, s->x, 0, ELEMENTS, SIMPLER_TAG_INOUT);
	simpler_task_args_add_scalar(a, operation);
	simpler_task_args_add_scalar(a, value);
	return a;
}

/* The chip records open tasks in a list whose limit no setting can reach. */
static void limit_open_tasks(struct session *s, uint64_t limit)
{
	struct model_context *chip = s->w->context->priv;

	chip->engine.chip.open_task_override = limit;
}

static int run_failing(struct session *s, const struct failure *f)
{
	struct simpler_task_args *a = operands(s, f->operation, f->value);
	struct simpler_call_config c;
	int rc;

	simpler_call_config_init(&c);
	simpler_ring_set_all(c.runtime_env.ring_task_window, f->window);
	simpler_ring_set_all(c.runtime_env.ring_heap, f->heap);
	simpler_ring_set_all(c.runtime_env.ring_dep_pool, f->pool);
	limit_open_tasks(s, f->open_tasks);
	rc = simpler_worker_run(s->w, &s->f, a, &c, NULL);
	limit_open_tasks(s, 0);
	simpler_task_args_destroy(a);
	return rc;
}

static void expect_record(struct session *s, const struct failure *f)
{
	struct simpler_error e;
	char start[64];

	simpler_worker_last_error(s->w, &e);
	snprintf(start, sizeof(start), "run failed with code -%d (%s): ", f->code,
		 run_code_name(f->code));
	if (strncmp(e.text, start, strlen(start)) || !strstr(e.text, f->part))
		fail_msg("'%s' does not start with '%s' or lacks '%s'", e.text, start, f->part);
	assert_int_equal(e.code, -f->code);
	assert_string_equal(e.name, run_code_name(f->code));
	assert_string_equal(e.hint, run_code_hint(f->code));
}

/* Three tasks that add one: right, on all elements. */
static void expect_right_run(struct session *s)
{
	struct simpler_task_args *a = operands(s, 1, 3);
	struct simpler_error e;
	float before = s->data[0];

	if (simpler_worker_run(s->w, &s->f, a, NULL, NULL))
		fail_msg("the next run: %s", simpler_worker_last_error(s->w, &e)->text);
	for (int i = 0; i < ELEMENTS; i++)
		assert_true(s->data[i] == before + 3);
	simpler_task_args_destroy(a);
}

static void expect_failure(struct session *s, const struct failure *f)
{
	float before = s->data[0];
	int rc = run_failing(s, f);

	if (rc != -f->code)
		fail_msg("operation %llu gave %d instead of -%d", (unsigned long long)f->operation,
			 rc, f->code);
	expect_record(s, f);
	for (int i = 0; i < ELEMENTS; i++)
		assert_true(s->data[i] == before);
}

static void every_code_has_its_text_and_leaves_the_worker_usable(void **state)
{
	struct session s = session_open();

	(void)state;
	for (size_t i = 0; i < FAILURES; i++) {
		expect_failure(&s, &failures[i]);
		expect_right_run(&s);
	}
	session_close(&s);
}

static void limit_address_space(rlim_t more, struct rlimit *old)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages;
	struct rlimit limit;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	assert_int_equal(getrlimit(RLIMIT_AS, old), 0);
	limit = (struct rlimit){ pages * (rlim_t)sysconf(_SC_PAGESIZE) + more, old->rlim_max };
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

/* On a Worker that never used its heap; the others are refused when the heap has to grow. */
static void a_heap_that_the_host_has_no_memory_for(void **state)
{
	static const struct failure f = {
		.code = SIMPLER_RUN_HOST_MEMORY, .operation = 2, .value = 32768, .heap = 1ull << 46,
		.part = "no host memory for a heap of 70368744177664 bytes",
	};
	struct session s = session_open();
	struct rlimit old;

	(void)state;
	limit_address_space((rlim_t)1 << 40, &old);
	expect_failure(&s, &f);
	expect_right_run(&s);
	assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
	session_close(&s);
}

static void failures_in_a_row_do_not_add_up(void **state)
{
	struct session s = session_open();

	(void)state;
	for (size_t i = FAILURES; i-- > 0;)
		expect_failure(&s, &failures[i]);
	expect_right_run(&s);
	session_close(&s);
}

static void a_number_of_the_orchestrations_own_is_told_as_such(void **state)
{
	static const struct failure f = { .code = 77, .operation = 18, .value = 77,
					  .part = "(USER): " };
	struct session s = session_open();
	struct simpler_error e;

	(void)state;
	expect_failure(&s, &f);
	assert_non_null(strstr(simpler_worker_last_error(s.w, &e)->hint, "rt_report_fatal()"));
	expect_right_run(&s);
	session_close(&s);
}

static void every_code_of_this_runtime_is_in_the_table(void **state)
{
	(void)state;
	for (int code = 1; code <= SIMPLER_RUN_CODE_MAX; code++) {
		size_t i = 0;

		while (i < FAILURES && failures[i].code != code)
			i++;
		/* 6 is retired, HOST_MEMORY has a test of its own */
		assert_int_equal(i < FAILURES, run_code_find(code) && code != 6 && code != SIMPLER_RUN_HOST_MEMORY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_its_text_and_leaves_the_worker_usable),
		cmocka_unit_test(a_heap_that_the_host_has_no_memory_for),
		cmocka_unit_test(failures_in_a_row_do_not_add_up),
		cmocka_unit_test(a_number_of_the_orchestrations_own_is_told_as_such),
		cmocka_unit_test(every_code_of_this_runtime_is_in_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
