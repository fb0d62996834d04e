/* SPDX-License-Identifier: MIT */
/* Create, configure, init, close. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "worker_fixture.h"

static void wrong_level_fails_init_and_only_close_is_left(void **state)
{
	struct simpler_worker *w;

	(void)state;
	assert_int_equal(worker_create_with_transport(1, &fake_transport, &w), 0);
	assert_int_equal(simpler_worker_level(w), 1);
	assert_int_equal(simpler_worker_init(w, NULL), SIMPLER_ERR_LEVEL);
	expect_error(w, SIMPLER_ERR_LEVEL, "level 1 not supported");
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_FAILED);
	assert_int_equal(simpler_worker_init(w, NULL), SIMPLER_ERR_STARTUP_FAILED);
	worker_end(w);
}

static void expect_init(const char *platform, const char *runtime, int code, const char *text)
{
	struct simpler_worker *w;

	assert_int_equal(simpler_worker_create(2, &w), 0);
	assert_int_equal(simpler_worker_set_platform(w, platform), 0);
	assert_int_equal(simpler_worker_set_runtime(w, runtime), 0);
	assert_int_equal(simpler_worker_init(w, NULL), code);
	expect_error(w, code, text);
	assert_int_equal(simpler_worker_destroy(w), 0);
}

static void names_are_checked_by_init(void **state)
{
	const char *trb = "tensormap_and_ringbuffer";

	(void)state;
	expect_init(NULL, trb, SIMPLER_ERR_PLATFORM_MISSING, "platform");
	expect_init("a7", trb, SIMPLER_ERR_PLATFORM_UNKNOWN, "'a7'");
	expect_init("a2a3sim", NULL, SIMPLER_ERR_RUNTIME_MISSING, "runtime");
	expect_init("a2a3sim", "x", SIMPLER_ERR_RUNTIME_UNKNOWN, "'x'");
	expect_init("a2a3sim", "host_build_graph", SIMPLER_ERR_UNSUPPORTED, "host_build_graph");
	expect_init("a2a3", trb, SIMPLER_ERR_NO_DEVICE, "no such chip");
	expect_init("a5", trb, SIMPLER_ERR_NO_DEVICE, "a5");
}

static void open_gives_a_ready_worker_or_one_that_tells_why_not(void **state)
{
	struct simpler_worker *w;

	(void)state;
	assert_int_equal(simpler_worker_open("a2a3sim", "tensormap_and_ringbuffer", 0, &w), 0);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_READY);
	assert_int_equal(simpler_worker_destroy(w), 0);
	assert_int_equal(simpler_worker_open("a2a3sim", "x", 0, &w), SIMPLER_ERR_RUNTIME_UNKNOWN);
	expect_error(w, SIMPLER_ERR_RUNTIME_UNKNOWN, "'x'");
	assert_int_equal(simpler_worker_destroy(w), 0);
}

static void states_refuse_what_they_do_not_allow(void **state)
{
	struct simpler_worker *w = worker_new();
	struct simpler_callable_handle h = { 0 };
	struct simpler_buffer *b;

	(void)state;
	assert_int_equal(simpler_worker_malloc(w, 16, &b), SIMPLER_ERR_INVALID_STATE);
	expect_error(w, SIMPLER_ERR_INVALID_STATE, "the Worker is NEW, this needs READY");
	assert_int_equal(simpler_worker_init(w, NULL), 0);
	assert_int_equal(simpler_worker_init(w, NULL), SIMPLER_ERR_INVALID_STATE);
	expect_error(w, SIMPLER_ERR_INVALID_STATE, "already initialized");
	assert_int_equal(simpler_worker_set_device_id(w, 1), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	assert_int_equal(simpler_worker_init(w, NULL), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_worker_malloc(w, 16, &b), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_worker_run(w, &h, NULL, NULL, NULL), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_worker_unregister(w, &h), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	worker_end(w);
}

static void bad_init_options_leave_the_worker_new(void **state)
{
	struct simpler_call_config c;
	struct simpler_init_options o = { .prewarm = &c };
	struct simpler_worker *w = worker_new();

	(void)state;
	simpler_call_config_init(&c);
	c.runtime_env.ring_heap[2] = 512;
	assert_int_equal(simpler_worker_init(w, &o), SIMPLER_ERR_CONFIG_RING);
	o = (struct simpler_init_options){ .flags = SIMPLER_INIT_BORROW };
	assert_int_equal(simpler_worker_init(w, &o), SIMPLER_ERR_INVALID_ARGUMENT);
	o.borrowed_context_generation = 1;
	assert_int_equal(simpler_worker_init(w, &o), SIMPLER_ERR_OPTION_CONFLICT);
	expect_error(w, SIMPLER_ERR_OPTION_CONFLICT, "simulated");
	o.flags = 4;
	assert_int_equal(simpler_worker_init(w, &o), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_NEW);
	assert_int_equal(fake.calls, 0);
	assert_int_equal(simpler_worker_init(w, NULL), 0);
	worker_end(w);
}

static void options_that_exclude_each_other_are_refused(void **state)
{
	struct simpler_init_options o = {
		.flags = SIMPLER_INIT_BORROW, .borrowed_context_generation = 1,
	};
	struct simpler_worker *w = worker_new();

	(void)state;
	assert_int_equal(simpler_worker_set_workspace_budget(w, 4096), SIMPLER_ERR_OPTION_CONFLICT);
	assert_int_equal(simpler_worker_set_workspace_budget(w, 100), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_worker_set_enable_sdma(w, true), 0);
	assert_int_equal(simpler_worker_init(w, &o), SIMPLER_ERR_OPTION_CONFLICT);
	expect_error(w, SIMPLER_ERR_OPTION_CONFLICT, "enable_sdma");
	assert_int_equal(simpler_worker_init(w, NULL), SIMPLER_ERR_OPTION_UNSUPPORTED);
	worker_end(w);
}

static void absent_chip_fails_init(void **state)
{
	struct simpler_worker *w = worker_new();

	(void)state;
	assert_int_equal(simpler_worker_set_device_id(w, 3), 0);
	fake.absent = true;
	assert_int_equal(simpler_worker_init(w, NULL), SIMPLER_ERR_NO_DEVICE);
	expect_error(w, SIMPLER_ERR_NO_DEVICE, "a2a3sim 3");
	worker_end(w);
}

static void every_allocation_failure_of_init_is_rolled_back(void **state)
{
	int n;

	(void)state;
	for (n = 1;; n++) {
		struct simpler_worker *w = worker_new();
		int rc;

		registered(w, "i");
		fake.fail_at = fake.calls + n;
		rc = simpler_worker_init(w, NULL);
		fake.fail_at = 0;
		if (rc) {
			assert_int_equal(rc, SIMPLER_ERR_NO_MEMORY);
			assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_FAILED);
			assert_true(fake_nothing_alive());
		}
		worker_end(w);
		if (!rc)
			break;
	}
	assert_true(n > 7);
}

/* ---- close ---- */

static bool close_inside(void *arg)
{
	struct simpler_worker *w = ((void **)arg)[0];

	*(int *)((void **)arg)[1] = simpler_worker_close(w, NULL);
	return true;
}

static void close_inside_an_operation_of_the_same_thread_is_refused(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	int rc = 0;
	void *arg[2] = { w, &rc };
	struct simpler_wait wait = { SIMPLER_FOREVER, close_inside, arg };
	struct simpler_run_options o = { .wait = &wait };

	(void)state;
	fake.hold = true;
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, &o), SIMPLER_ERR_INTERRUPTED);
	assert_int_equal(rc, SIMPLER_ERR_REENTRY);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_READY);
	fake_release();
	worker_end(w);
}

static void *run_thread(void *arg)
{
	void **p = arg;

	return (void *)(intptr_t)simpler_worker_run(p[0], p[1], NULL, NULL, NULL);
}

static bool stop_now(void *arg)
{
	(void)arg;
	return true;
}

static void close_waits_for_operations_of_other_threads(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_wait now = { .timeout_ns = 0 }, stop = { SIMPLER_FOREVER, stop_now, NULL };
	void *arg[2] = { w, &f }, *rc;
	pthread_t t;

	(void)state;
	fake.hold = true;
	pthread_create(&t, NULL, run_thread, arg);
	fake_await_waiters(1);
	assert_int_equal(simpler_worker_close(w, &now), SIMPLER_ERR_TIMEOUT);
	expect_error(w, SIMPLER_ERR_TIMEOUT, "nothing was released");
	assert_int_equal(simpler_worker_close(w, &stop), SIMPLER_ERR_INTERRUPTED);
	now.timeout_ns = -5;
	assert_int_equal(simpler_worker_close(w, &now), SIMPLER_ERR_TIMEOUT_VALUE);
	assert_int_equal(fake.live.streams, 3);
	fake_release();
	worker_end(w);
	pthread_join(t, &rc);
	assert_null(rc);
}

static void teardown_that_fails_is_repeated_by_the_next_close(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *b = device_buffer(w, 64);

	(void)state;
	fake.busy_stream = true;
	assert_int_equal(simpler_worker_close(w, NULL), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_CLOSED);
	assert_int_equal(fake.live.memory, 1);	/* the chip may still touch it */
	fake.busy_stream = false;
	fake.busy_context = true;
	assert_int_equal(simpler_worker_close(w, NULL), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(fake.live.memory, 0);
	assert_int_equal(fake.live.contexts, 1);
	fake.busy_context = false;
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	simpler_buffer_put(b);
	worker_end(w);
}

static void *close_thread(void *arg)
{
	return (void *)(intptr_t)simpler_worker_close(arg, NULL);
}

static void concurrent_closes_share_one_outcome(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_run *r;
	pthread_t t[3];
	void *rc;
	int i;

	(void)state;
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r), 0);
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, close_thread, w);
	fake_await_waiters(1);
	fake_release();
	for (i = 0; i < 3; i++) {
		pthread_join(t[i], &rc);
		assert_null(rc);
	}
	assert_int_equal(simpler_run_wait(r, NULL), 0);
	simpler_run_put(r);
	worker_end(w);
}

/* ---- things that happen during init ---- */

struct during_init {
	struct simpler_worker *w;
	pthread_t thread;
	int code;
};

static void close_by_init_thread(void *arg)
{
	struct during_init *d = arg;

	d->code = simpler_worker_close(d->w, NULL);
	assert_int_equal(simpler_worker_init(d->w, NULL), SIMPLER_ERR_INVALID_STATE);
	expect_error(d->w, SIMPLER_ERR_INVALID_STATE, "already in progress");
}

static void close_inside_init_of_the_same_thread_is_refused(void **state)
{
	struct during_init d = { .w = worker_new() };

	(void)state;
	fake.on_open = close_by_init_thread;
	fake.on_open_arg = &d;
	assert_int_equal(simpler_worker_init(d.w, NULL), 0);
	assert_int_equal(d.code, SIMPLER_ERR_INVALID_STATE);
	worker_end(d.w);
}

static void *close_other(void *arg)
{
	struct during_init *d = arg;

	d->code = simpler_worker_close(d->w, NULL);
	return NULL;
}

static bool cancelled(struct simpler_worker *w)
{
	bool yes;

	pthread_mutex_lock(&w->lock);
	yes = w->cancel_init;
	pthread_mutex_unlock(&w->lock);
	return yes;
}

static void close_by_other_thread(void *arg)
{
	struct during_init *d = arg;

	pthread_create(&d->thread, NULL, close_other, d);
	while (!cancelled(d->w))
		sched_yield();
}

static void close_by_another_thread_cancels_init(void **state)
{
	struct during_init d = { .w = worker_new() };

	(void)state;
	fake.on_open = close_by_other_thread;
	fake.on_open_arg = &d;
	assert_int_equal(simpler_worker_init(d.w, NULL), SIMPLER_ERR_INIT_CANCELLED);
	pthread_join(d.thread, NULL);
	assert_int_equal(d.code, 0);
	assert_int_equal(simpler_worker_get_state(d.w), SIMPLER_WORKER_CLOSED);
	worker_end(d.w);
}

/* Asked while the registration waits. */
static bool note_waiting(void *waiting)
{
	/* release: pairs with the acquire in register_by_other_thread() */
	atomic_store_explicit((_Atomic bool *)waiting, true, memory_order_release);
	return false;
}

static _Atomic bool registration_waits;

static void *register_other(void *arg)
{
	struct simpler_wait wait = { SIMPLER_FOREVER, note_waiting, &registration_waits };
	struct during_init *d = arg;
	struct simpler_chip_callable *c = callable_new("", 1);
	struct simpler_callable_handle h;

	d->code = simpler_worker_register_wait(d->w, c, &wait, &h);
	simpler_chip_callable_put(c);
	return NULL;
}

static void register_by_other_thread(void *arg)
{
	struct during_init *d = arg;

	atomic_init(&registration_waits, false);
	pthread_create(&d->thread, NULL, register_other, d);
	/* acquire: pairs with the release in note_waiting() */
	while (!atomic_load_explicit(&registration_waits, memory_order_acquire))
		sched_yield();
}

static void register_during_init_waits_for_it(void **state)
{
	struct during_init d = { .w = worker_new() };

	(void)state;
	fake.on_open = register_by_other_thread;
	fake.on_open_arg = &d;
	assert_int_equal(simpler_worker_init(d.w, NULL), 0);
	pthread_join(d.thread, NULL);
	assert_int_equal(d.code, 0);
	assert_int_equal(fake.uploads, 1);
	worker_end(d.w);
}

static void worker_that_was_never_initialized_closes(void **state)
{
	struct simpler_worker *w = worker_new();

	(void)state;
	registered(w, "");
	assert_int_equal(simpler_worker_destroy(NULL), 0);
	worker_end(w);
}

static void errors_are_remembered_per_thread(void **state)
{
	struct simpler_worker *w = worker_new();
	struct simpler_buffer *b;
	struct simpler_error e;
	void *rc, *arg[2];
	struct simpler_callable_handle h = { 0 };
	pthread_t t;

	(void)state;
	simpler_worker_last_error(w, &e);
	assert_int_equal(e.code, 0);
	assert_int_equal(simpler_worker_init(w, NULL), 0);
	arg[0] = w;
	arg[1] = &h;
	pthread_create(&t, NULL, run_thread, arg);
	pthread_join(t, &rc);
	assert_int_equal((int)(intptr_t)rc, SIMPLER_ERR_HANDLE_NOT_LIVE);
	expect_error(w, SIMPLER_ERR_HANDLE_NOT_LIVE, "handle");	/* nothing of our own yet */
	assert_int_equal(simpler_worker_malloc(w, 0, &b), SIMPLER_ERR_BUFFER_SIZE);
	pthread_create(&t, NULL, run_thread, arg);
	pthread_join(t, &rc);
	expect_error(w, SIMPLER_ERR_BUFFER_SIZE, "0 bytes");
	worker_end(w);
}

static void introspection_tells_nothing_after_close(void **state)
{
	struct simpler_worker *w = worker_ready();

	(void)state;
	assert_int_equal(simpler_worker_committed_memory(w), 4096);
	assert_int_equal(simpler_worker_retained_temp_addr(w, 0), 0);
	assert_int_equal(simpler_worker_retained_temp_addr(w, 2), 0);
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	assert_int_equal(simpler_worker_committed_memory(w), 0);
	worker_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		chip_test(wrong_level_fails_init_and_only_close_is_left),
		chip_test(names_are_checked_by_init),
		chip_test(open_gives_a_ready_worker_or_one_that_tells_why_not),
		chip_test(states_refuse_what_they_do_not_allow),
		chip_test(bad_init_options_leave_the_worker_new),
		chip_test(options_that_exclude_each_other_are_refused),
		chip_test(absent_chip_fails_init),
		chip_test(every_allocation_failure_of_init_is_rolled_back),
		chip_test(close_inside_an_operation_of_the_same_thread_is_refused),
		chip_test(close_waits_for_operations_of_other_threads),
		chip_test(teardown_that_fails_is_repeated_by_the_next_close),
		chip_test(concurrent_closes_share_one_outcome),
		chip_test(close_inside_init_of_the_same_thread_is_refused),
		chip_test(close_by_another_thread_cancels_init),
		chip_test(register_during_init_waits_for_it),
		chip_test(worker_that_was_never_initialized_closes),
		chip_test(errors_are_remembered_per_thread),
		chip_test(introspection_tells_nothing_after_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
