/* SPDX-License-Identifier: MIT */
/*
 * Cases of worker-api.md §22 that a level-2 Worker in C can meet, on a2a3sim:
 * lifecycle, callables, runs, wrapped storage.
 * Exceptions appear as error classes.  Cases about Python objects, hardware and
 * other levels are elsewhere; what needs a failing chip is in tests/unit.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker_cases.h"

/* ---- lifecycle ---- */

static void worker_case_02_level_1_fails_init(void **state)
{
	struct simpler_worker *w;

	(void)state;
	assert_int_equal(simpler_worker_create(1, &w), 0);
	expect_class(simpler_worker_init(w, NULL), VALUE);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_FAILED);
	expect_class(simpler_worker_init(w, NULL), RUNTIME);
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	end(w);
}

static void worker_case_03_init_twice_and_use_after_close(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *b;

	(void)state;
	expect_class(simpler_worker_init(w, NULL), RUNTIME);
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	expect_class(simpler_worker_init(w, NULL), RUNTIME);
	expect_class(simpler_worker_malloc(w, 16, &b), RUNTIME);
	expect_class(simpler_worker_run(w, &f, NULL, NULL, NULL), RUNTIME);
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	end(w);
}

static void worker_case_04_nothing_works_before_init(void **state)
{
	struct simpler_worker *w = worker_new();
	struct simpler_buffer *b;

	(void)state;
	expect_class(simpler_worker_malloc(w, 16, &b), RUNTIME);
	assert_int_equal(simpler_worker_init(w, NULL), 0);
	assert_int_equal(simpler_worker_malloc(w, 16, &b), 0);
	end(w);
	simpler_buffer_put(b);
}

static void worker_case_05_bad_prewarm_leaves_the_worker_usable(void **state)
{
	struct simpler_call_config c;
	struct simpler_init_options o = { .prewarm = &c };
	struct simpler_worker *w = worker_new();

	(void)state;
	simpler_call_config_init(&c);
	simpler_ring_set_all(c.runtime_env.ring_heap, 512);
	expect_class(simpler_worker_init(w, &o), VALUE);
	simpler_ring_set_all(c.runtime_env.ring_heap, 1 << 20);
	assert_int_equal(simpler_worker_init(w, &o), 0);
	end(w);
}

static bool close_and_stop(void *arg)
{
	int *rc = ((void **)arg)[1];

	*rc = simpler_worker_close(((void **)arg)[0], NULL);
	return true;
}

static void worker_case_07_close_inside_an_operation_of_the_thread(void **state)
{
	struct held h = held_run();
	int rc = 0;
	void *arg[2] = { h.w, &rc };
	/* with a deadline the waiting thread leaves the execution to others and asks the check */
	struct simpler_wait wait = { INT64_C(3600000000000), close_and_stop, arg };

	(void)state;
	assert_int_equal(simpler_run_wait(h.run, &wait), SIMPLER_ERR_INTERRUPTED);
	expect_class(rc, RUNTIME);
	assert_int_equal(simpler_worker_get_state(h.w), SIMPLER_WORKER_READY);
	open_gate(h.gate);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	held_end(&h);
}

static void worker_case_08_close_times_out_and_can_be_repeated(void **state)
{
	struct held h = held_run();
	struct simpler_wait soon = { .timeout_ns = 20000000 };

	(void)state;
	expect_class(simpler_worker_close(h.w, &soon), TIMEOUT);
	open_gate(h.gate);
	assert_int_equal(simpler_worker_close(h.w, NULL), 0);
	assert_true(simpler_run_done(h.run));
	held_end(&h);
}

/* ---- callables ---- */

static void worker_case_10_same_content_twice(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle a = registered(w, one_inout, 2);
	struct simpler_callable_handle b = registered(w, one_inout, 2);
	struct simpler_buffer *x = device(w);
	char hashid[SIMPLER_HASHID_BYTES];

	(void)state;
	assert_memory_equal(a.digest, b.digest, SIMPLER_DIGEST_BYTES);
	simpler_hashid_format(a.digest, hashid);
	assert_int_equal(strncmp(hashid, "sha256:", 7), 0);
	assert_int_equal(strspn(hashid + 7, "0123456789abcdef"), 64);
	assert_int_equal(simpler_worker_unregister(w, &a), 0);
	assert_int_equal(run(w, &b, x, ADD_ONE), 0);
	assert_true(first(w, x) == 1);
	end(w);
	simpler_buffer_put(x);
}

static void worker_case_11_sixty_four_callables(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle h[65];
	struct simpler_chip_callable *c;
	int i, rc = 0;

	(void)state;
	for (i = 0; i < 65; i++) {
		c = program(one_inout, 2, (char)i);
		rc = simpler_worker_register(w, c, &h[i]);
		simpler_chip_callable_put(c);
		if (rc)
			break;
	}
	assert_int_equal(i, 64);
	expect_class(rc, RUNTIME);
	assert_int_equal(simpler_worker_unregister(w, &h[2]), 0);
	c = program(one_inout, 2, 99);
	assert_int_equal(simpler_worker_register(w, c, &h[2]), 0);
	simpler_chip_callable_put(c);
	end(w);
}

static void worker_case_12_foreign_and_stale_handles(void **state)
{
	struct simpler_worker *w1 = ready(), *w2 = ready();
	struct simpler_callable_handle h = registered(w1, one_inout, 2), none = { 0 };

	(void)state;
	expect_class(simpler_worker_run(w2, &h, NULL, NULL, NULL), KEY);
	expect_class(simpler_worker_run(w1, &none, NULL, NULL, NULL), KEY);
	assert_int_equal(simpler_worker_unregister(w1, &h), 0);
	expect_class(simpler_worker_unregister(w1, &h), KEY);
	end(w1);
	end(w2);
}

static void worker_case_13_only_chip_callables_at_level_2(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle h;

	(void)state;
	expect_class(simpler_worker_register(w, NULL, &h), TYPE);
	end(w);
}

static void worker_case_14_register_after_init(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *x = device(w);
	struct simpler_callable_handle h = registered(w, one_inout, 2);

	(void)state;
	assert_int_equal(run(w, &h, x, ADD_ONE), 0);
	assert_true(first(w, x) == 1);
	end(w);
	simpler_buffer_put(x);
}

static struct simpler_chip_callable *callable_of_case_15(void)
{
	static const int32_t s[] = { SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_SCALAR };
	struct simpler_chip_spec spec = {
		.signature = s, .sig_count = 3, .func_name = "f", .binary = "\x01\x02",
		.binary_bytes = 2,
	};
	struct simpler_chip_callable *c;

	assert_int_equal(simpler_chip_callable_build(&spec, &c, NULL), 0);
	return c;
}

static void worker_case_15_serialized_bytes(void **state)
{
	struct simpler_chip_callable *c = callable_of_case_15();
	size_t size, binary;
	const unsigned char *b = simpler_chip_callable_bytes(c, &size);

	(void)state;
	simpler_chip_callable_binary(c, &binary);
	assert_int_equal(simpler_chip_callable_sig_count(c), 3);
	assert_int_equal(simpler_chip_callable_scalar_count(c), 1);
	assert_int_equal(binary, 2);
	assert_int_equal(b[9376], 1);
	assert_int_equal(*(const uint32_t *)(b + 1028), 2);
	assert_int_equal(*(const int32_t *)(b + 1024), 3);
	assert_int_equal(*(const int32_t *)(b + 9292), 0);
	simpler_chip_callable_put(c);
}

static void worker_case_16_from_bytes_gives_the_same_digest(void **state)
{
	struct simpler_chip_callable *c = callable_of_case_15(), *d;
	uint8_t dc[SIMPLER_DIGEST_BYTES], dd[SIMPLER_DIGEST_BYTES];
	size_t size;
	const void *b = simpler_chip_callable_bytes(c, &size);

	(void)state;
	assert_int_equal(simpler_chip_callable_from_bytes(b, size, &d, NULL), 0);
	assert_int_equal(simpler_chip_callable_scalar_count(d), 1);
	simpler_chip_callable_digest(c, "a2a3", "a2a3sim", "tensormap_and_ringbuffer", dc);
	simpler_chip_callable_digest(d, "a2a3", "a2a3sim", "tensormap_and_ringbuffer", dd);
	assert_memory_equal(dc, dd, sizeof(dc));
	simpler_chip_callable_put(c);
	simpler_chip_callable_put(d);
}

/* ---- runs ---- */

static void worker_case_41_snapshot_and_repeated_wait(void **state)
{
	struct held h = held_run();

	(void)state;
	simpler_task_args_clear(h.args);
	open_gate(h.gate);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	assert_true(simpler_run_done(h.run));
	assert_true(first(h.w, h.x) == 1);
	held_end(&h);
}

static void worker_case_42_timeouts(void **state)
{
	struct held h = held_run();
	struct simpler_wait negative = { .timeout_ns = -1 }, zero = { .timeout_ns = 0 };

	(void)state;
	expect_class(simpler_run_wait(h.run, &negative), VALUE);
	expect_class(simpler_run_wait(h.run, &zero), TIMEOUT);
	assert_false(simpler_run_done(h.run));
	open_gate(h.gate);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	assert_true(first(h.w, h.x) == 1);
	held_end(&h);
}

static void worker_case_43_failed_run_is_alone(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *x = host(w, BYTES);
	float *data = simpler_buffer_data(x);

	(void)state;
	data[0] = 5;
	assert_int_equal(run(w, &f, x, FAIL), -SIMPLER_RUN_EXPLICIT_ORCH_FATAL);
	expect_text(w, "run failed with code -9");
	expect_text(w, "told to fail");
	assert_true(data[0] == 5);
	assert_int_equal(run(w, &f, x, ADD_ONE), 0);
	assert_true(data[0] == 6 && data[15] == 1);
	end(w);
	simpler_buffer_put(x);
}

static void *waiter(void *run)
{
	return (void *)(intptr_t)simpler_run_wait(run, NULL);
}

static void worker_case_44_three_waiters(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *x = device(w);
	struct simpler_task_args *a = arguments(x, NULL, FAIL);
	struct simpler_run *r;
	pthread_t t[3];
	void *rc;
	int i;

	(void)state;
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r), 0);
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, waiter, r);
	for (i = 0; i < 3; i++) {
		pthread_join(t[i], &rc);
		assert_int_equal((int)(intptr_t)rc, -SIMPLER_RUN_EXPLICIT_ORCH_FATAL);
	}
	simpler_run_put(r);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(x);
}

static void worker_case_45_free_in_flight(void **state)
{
	struct held h = held_run();

	(void)state;
	expect_class(simpler_worker_free(h.w, h.x), RUNTIME);
	open_gate(h.gate);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	assert_true(first(h.w, h.x) == 1);
	assert_int_equal(simpler_worker_free(h.w, h.x), 0);
	held_end(&h);
}

static void worker_case_49_nothing_to_borrow_on_a_simulator(void **state)
{
	struct simpler_init_options o = { .flags = SIMPLER_INIT_BORROW };
	struct simpler_worker *w = worker_new();

	(void)state;
	expect_class(simpler_worker_init(w, &o), VALUE);
	o.borrowed_context_generation = 7;
	expect_class(simpler_worker_init(w, &o), VALUE);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_NEW);
	end(w);
}

/* ---- wrapped storage ---- */

static _Alignas(64) float storage[16];

static uint64_t storage_at(size_t offset)
{
	return (uint64_t)(uintptr_t)storage + offset;
}

static void worker_case_53_bad_wraps(void **state)
{
	struct simpler_worker *w = ready();
	const enum simpler_access rw = SIMPLER_ACCESS_READWRITE;
	struct simpler_location *l;
	struct simpler_buffer *a, *b;

	(void)state;
	assert_int_equal(simpler_worker_location(w, &l), 0);
	expect_class(simpler_buffer_wrap(0, 8, l, rw, &a, NULL), VALUE);
	expect_class(simpler_buffer_wrap(storage_at(0), 0, l, rw, &a, NULL), VALUE);
	expect_class(simpler_buffer_wrap(UINT64_MAX - 7, 16, l, rw, &a, NULL), VALUE);
	assert_int_equal(simpler_buffer_wrap(storage_at(0), 32, l, rw, &a, NULL), 0);
	expect_class(simpler_buffer_wrap(storage_at(31), 8, l, rw, &b, NULL), VALUE);
	end(w);
	simpler_buffer_put(a);
	simpler_location_put(l);
}

static void worker_case_54_56_wrapped_storage(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, with_gate, 3);
	struct simpler_buffer *source, *again, *gate = device(w);
	struct simpler_task_args *a;
	struct simpler_location *l;
	struct simpler_run *r;

	(void)state;
	storage[0] = 3;
	assert_int_equal(simpler_worker_location(w, &l), 0);
	assert_int_equal(
		simpler_buffer_wrap(storage_at(0), 64, l, SIMPLER_ACCESS_READWRITE, &source, NULL),
		0);
	a = arguments(source, gate, WAIT_AND_ADD);
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r), 0);
	expect_class(simpler_buffer_close(source, NULL), RUNTIME);
	open_gate(gate);
	assert_int_equal(simpler_run_wait(r, NULL), 0);
	assert_true(storage[0] == 4);
	expect_class(simpler_worker_free(w, source), VALUE);
	expect_class(simpler_worker_copy_to_raw(w, source, "x", 1, NULL), VALUE);
	assert_int_equal(simpler_buffer_close(source, NULL), 0);
	assert_int_equal(
		simpler_buffer_wrap(storage_at(0), 64, l, SIMPLER_ACCESS_READWRITE, &again, NULL),
		0);
	expect_class(simpler_worker_run(w, &f, a, NULL, NULL), VALUE);
	simpler_run_put(r);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(source);
	simpler_buffer_put(again);
	simpler_buffer_put(gate);
	simpler_location_put(l);
}

static void worker_case_55_locations_of_others(void **state)
{
	struct simpler_worker *w1 = ready(), *w2 = ready();
	struct simpler_callable_handle f = registered(w2, one_inout, 2);
	struct simpler_location *l;
	struct simpler_buffer *b, *late;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(simpler_worker_location(w1, &l), 0);
	assert_int_equal(
		simpler_buffer_wrap(storage_at(0), 64, l, SIMPLER_ACCESS_READWRITE, &b, NULL), 0);
	expect_class(run(w2, &f, b, ADD_ONE), VALUE);
	pid = fork();
	if (!pid)
		_exit(simpler_error_class(simpler_buffer_wrap(storage_at(0), 8, l,
							      SIMPLER_ACCESS_READ, &late, NULL)) !=
		      SIMPLER_CLASS_VALUE);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end(w1);
	expect_class(simpler_buffer_wrap(storage_at(0), 8, l, SIMPLER_ACCESS_READ, &late, NULL),
		     VALUE);
	end(w2);
	simpler_buffer_put(b);
	simpler_location_put(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worker_case_02_level_1_fails_init),
		cmocka_unit_test(worker_case_03_init_twice_and_use_after_close),
		cmocka_unit_test(worker_case_04_nothing_works_before_init),
		cmocka_unit_test(worker_case_05_bad_prewarm_leaves_the_worker_usable),
		cmocka_unit_test(worker_case_07_close_inside_an_operation_of_the_thread),
		cmocka_unit_test(worker_case_08_close_times_out_and_can_be_repeated),
		cmocka_unit_test(worker_case_10_same_content_twice),
		cmocka_unit_test(worker_case_11_sixty_four_callables),
		cmocka_unit_test(worker_case_12_foreign_and_stale_handles),
		cmocka_unit_test(worker_case_13_only_chip_callables_at_level_2),
		cmocka_unit_test(worker_case_14_register_after_init),
		cmocka_unit_test(worker_case_15_serialized_bytes),
		cmocka_unit_test(worker_case_16_from_bytes_gives_the_same_digest),
		cmocka_unit_test(worker_case_41_snapshot_and_repeated_wait),
		cmocka_unit_test(worker_case_42_timeouts),
		cmocka_unit_test(worker_case_43_failed_run_is_alone),
		cmocka_unit_test(worker_case_44_three_waiters),
		cmocka_unit_test(worker_case_45_free_in_flight),
		cmocka_unit_test(worker_case_49_nothing_to_borrow_on_a_simulator),
		cmocka_unit_test(worker_case_53_bad_wraps),
		cmocka_unit_test(worker_case_54_56_wrapped_storage),
		cmocka_unit_test(worker_case_55_locations_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
