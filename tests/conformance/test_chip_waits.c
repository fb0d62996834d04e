// SPDX-License-Identifier: MIT
/*
 * Waiting for commands (model.h): interrupts, deadlines, several streams and
 * threads, and the end of streams and contexts while something is under way.
 *
 * Deadlines that must pass are in the past already, or guard against what must
 * not happen; nothing here depends on how long anything takes.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "chip_script.h"
#include "simpler/error.h"

#define FOREVER_NS 20000000000ll	/* ends what must not happen */

static struct chip_fixture *const f = &script_chip;

/* A second stream of the script's context. */
static struct chip_fixture other;

static void open_other(void)
{
	other = script_chip;
	other.seqno = 0;
	assert_int_equal(model_stream_create(f->context, 64, &other.stream), 0);
}

static void close_other(void)
{
	assert_int_equal(model_stream_destroy(other.stream), 0);
}

static struct simpler_hw_cmd set_word(uint64_t *word, uint64_t value)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_FENCE,
					.fence = { .addr = (uintptr_t)word, .value = value } };
}

static struct simpler_hw_cmd wait_word(uint64_t *word, uint64_t value)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_WAIT,
					.wait = { .addr = (uintptr_t)word, .value = value } };
}

static uint64_t read_word(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* ---- deadlines ---- */

static void a_wait_without_work_ends_at_its_deadline(void **state)
{
	struct model_wait past = { .deadline_ns = 1 };

	(void)state;
	assert_int_equal(model_wait_seqno(f->stream, f->seqno, &past), 0);
	assert_int_equal(model_wait_seqno(f->stream, f->seqno + 1, &past), -ETIMEDOUT);
	assert_int_equal(fixture_wait(f, 1000), 0);
}

static void a_deadline_passes_while_a_run_goes_on(void **state)
{
	(void)state;
	script_begin("hold A");
	assert_int_equal(fixture_wait(f, 0), -ETIMEDOUT);
	assert_int_equal(fixture_wait(f, 1000000), -ETIMEDOUT);
	assert_int_equal(fixture_wait(f, 1000000), -ETIMEDOUT);
	script_release();
	assert_int_equal(fixture_wait(f, FOREVER_NS), 0);
	assert_int_equal(f->status.code, 0);
	script_ok("stamp A");
}

static void a_deadline_passes_while_a_stream_waits_for_a_value(void **state)
{
	uint64_t word = 0;

	(void)state;
	fixture_push(f, wait_word(&word, 3));
	assert_int_equal(fixture_wait(f, 1000000), -ETIMEDOUT);
	__atomic_store_n(&word, 2, __ATOMIC_RELEASE);
	assert_int_equal(fixture_wait(f, 1000000), -ETIMEDOUT);
	__atomic_store_n(&word, 3, __ATOMIC_RELEASE);
	assert_int_equal(fixture_wait(f, FOREVER_NS), 0);
	script_ok("stamp A");
}

/* ---- interrupts ---- */

static bool count_down(void *arg)
{
	int *left = arg;

	return --*left < 0;
}

static int interrupted_wait(int after)
{
	struct model_wait wait = { .deadline_ns = INT64_MAX, .interrupted = count_down, .arg = &after };

	return model_wait_seqno(f->stream, f->seqno, &wait);
}

static void an_interrupted_wait_can_be_repeated(void **state)
{
	(void)state;
	script_begin("hold A; stamp B dep:A");
	assert_int_equal(interrupted_wait(0), -EINTR);
	assert_int_equal(interrupted_wait(0), -EINTR);
	assert_int_equal(interrupted_wait(5), -EINTR);
	script_release();
	assert_int_equal(fixture_wait(f, -1), 0);
	assert_int_equal(f->status.code, 0);
	script_order("AB");
	script_ok("stamp A");
}

static void an_interrupted_run_goes_on_without_a_waiter(void **state)
{
	const struct simpler_hw_ring *ring = model_stream_ring(f->stream);

	(void)state;
	script_begin("hold A; stamp B dep:A");
	assert_int_equal(interrupted_wait(0), -EINTR);
	script_release();
	while (read_word((const uint64_t *)&ring->completed) < f->seqno)
		sched_yield();
	assert_int_equal(f->status.code, 0);
	script_order("AB");
}

static void a_long_orchestration_is_interrupted(void **state)
{
	(void)state;
	/* held tasks fill no window; the orchestration waits for an element at its end */
	script_begin("repeat 20000 [scope; stamp B io:x; end]; hold A out:x; get D x[0]");
	assert_int_equal(interrupted_wait(3), -EINTR);
	assert_int_equal(interrupted_wait(1), -EINTR);
	script_release();
	assert_int_equal(fixture_wait(f, -1), 0);
	assert_int_equal(f->status.code, 0);
	assert_int_equal(f->status.tasks_completed, 20001);
	script_order("BAD");
}

static void an_interrupt_while_a_stream_waits_for_a_value(void **state)
{
	uint64_t word = 0;

	(void)state;
	fixture_push(f, wait_word(&word, 1));
	assert_int_equal(interrupted_wait(0), -EINTR);
	assert_int_equal(interrupted_wait(2), -EINTR);
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	assert_int_equal(fixture_wait(f, -1), 0);
	script_ok("stamp A");
}

/* ---- several streams ---- */

static void streams_wait_for_each_other(void **state)
{
	uint64_t ping = 0, pong = 0;

	(void)state;
	open_other();
	for (uint64_t i = 1; i <= 20; i++) {
		fixture_push(f, set_word(&ping, i));
		fixture_push(f, wait_word(&pong, i));
		fixture_push(&other, wait_word(&ping, i));
		fixture_push(&other, set_word(&pong, i));
	}
	assert_int_equal(fixture_wait(f, -1), 0);
	assert_int_equal(fixture_wait(&other, -1), 0);
	assert_int_equal(ping, 20);
	assert_int_equal(pong, 20);
	/* the same, waiting with a deadline and for the other one only */
	for (uint64_t i = 21; i <= 40; i++) {
		fixture_push(f, set_word(&ping, i));
		fixture_push(&other, wait_word(&ping, i));
	}
	model_doorbell(f->stream);
	assert_int_equal(fixture_wait(&other, FOREVER_NS), 0);
	assert_int_equal(fixture_wait(f, FOREVER_NS), 0);
	close_other();
}

static void a_run_waits_for_another_streams_fence(void **state)
{
	uint64_t word = 0;

	(void)state;
	open_other();
	fixture_push(f, wait_word(&word, 1));
	script_begin("fill B out:x");
	fixture_push(f, set_word(&word, 2));
	fixture_push(&other, set_word(&word, 1));
	fixture_push(&other, wait_word(&word, 2));
	assert_int_equal(fixture_wait(&other, -1), 0);
	assert_int_equal(f->status.code, 0);
	assert_true(script_x[0][0] == 1.0f);
	assert_int_equal(fixture_wait(f, -1), 0);
	close_other();
}

static void a_stream_ends_while_another_waits_for_a_value(void **state)
{
	uint64_t word = 0;

	(void)state;
	open_other();
	fixture_push(f, wait_word(&word, 1));
	model_doorbell(f->stream);
	/* by now the chip may be looking at the value again and again */
	assert_int_equal(fixture_wait(f, 5000000), -ETIMEDOUT);
	close_other();
	open_other();
	fixture_push(&other, set_word(&word, 1));
	assert_int_equal(fixture_wait(&other, -1), 0);
	assert_int_equal(fixture_wait(f, -1), 0);
	close_other();
}

static void a_stream_ends_that_waits_for_a_value(void **state)
{
	uint64_t word = 0;

	(void)state;
	open_other();
	fixture_push(&other, wait_word(&word, 1));
	fixture_push(&other, set_word(&word, 5));
	model_doorbell(other.stream);
	assert_int_equal(fixture_wait(&other, 1000000), -ETIMEDOUT);
	close_other();
	assert_int_equal(read_word(&word), 0);
	script_ok("stamp A");
}

static void a_stream_ends_whose_launch_was_left_half_way(void **state)
{
	struct model_stream *mine = f->stream;
	uint64_t mine_seqno = f->seqno;

	(void)state;
	open_other();
	/* the script runs on the other stream, which is destroyed in the middle of it */
	f->stream = other.stream;
	f->seqno = 0;
	script_begin("hold A; get D x[0]; stamp B dep:A");
	assert_int_equal(interrupted_wait(0), -EINTR);
	script_release();
	assert_int_equal(model_stream_destroy(other.stream), 0);
	f->stream = mine;
	f->seqno = mine_seqno;
	script_ok("stamp A");
}

/* ---- several threads ---- */

#define THREADS 6
#define ROUNDS	50

struct waiter {
	pthread_t thread;
	struct model_stream *stream;
	uint64_t seqno;
	bool deadline;
	int result;
};

static void *wait_once(void *arg)
{
	struct waiter *w = arg;
	struct model_wait wait = { .deadline_ns = INT64_MAX };

	if (w->deadline)
		wait.deadline_ns = (int64_t)clock_mono_ns() + FOREVER_NS;
	w->result = model_wait_seqno(w->stream, w->seqno, &wait);
	return NULL;
}

static void start_waiters(struct waiter *w, int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(pthread_create(&w[i].thread, NULL, wait_once, &w[i]), 0);
}

static void join_waiters(struct waiter *w, int n)
{
	for (int i = 0; i < n; i++) {
		pthread_join(w[i].thread, NULL);
		assert_int_equal(w[i].result, 0);
	}
}

static void many_threads_wait_for_one_run(void **state)
{
	struct waiter w[THREADS];

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		script_begin("hold A; stamp B dep:A");
		for (int i = 0; i < THREADS; i++)
			w[i] = (struct waiter){ .stream = f->stream, .seqno = f->seqno,
						.deadline = i % 2 };
		start_waiters(w, THREADS);
		script_release();
		join_waiters(w, THREADS);
		assert_int_equal(f->status.code, 0);
		script_order("AB");
	}
}

/* Whoever waits with a deadline must not starve behind one who executes another stream. */
static void threads_wait_for_streams_of_their_own(void **state)
{
	static uint64_t words[THREADS];
	struct chip_fixture own[THREADS];
	struct waiter w[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		own[i] = script_chip;
		own[i].seqno = 0;
		assert_int_equal(model_stream_create(f->context, 64, &own[i].stream), 0);
	}
	for (int round = 1; round <= ROUNDS; round++) {
		script_begin("hold A");
		assert_int_equal(fixture_wait(f, 0), -ETIMEDOUT);
		for (int i = 0; i < THREADS; i++) {
			fixture_push(&own[i], set_word(&words[i], (uint64_t)round));
			w[i] = (struct waiter){ .stream = own[i].stream, .seqno = own[i].seqno,
						.deadline = i < THREADS - 1 };
		}
		start_waiters(w, THREADS);
		script_release();
		join_waiters(w, THREADS);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(read_word(&words[i]), round);
		assert_int_equal(fixture_wait(f, -1), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(model_stream_destroy(own[i].stream), 0);
}

/* The one who executes leaves as soon as its own stream is done; the other's commands are still there. */
static void a_waiter_with_a_deadline_takes_over_when_the_executing_thread_leaves(void **state)
{
	struct waiter w[2];
	uint64_t word;

	(void)state;
	open_other();
	for (int round = 0; round < ROUNDS; round++) {
		word = 0;
		script_begin("hold A");
		w[0] = (struct waiter){ .stream = f->stream, .seqno = f->seqno };
		start_waiters(w, 1);
		while (!script_start('A'))	/* the first thread is executing */
			sched_yield();
		fixture_push(&other, set_word(&word, 1));
		w[1] = (struct waiter){ .stream = other.stream, .seqno = other.seqno,
					.deadline = true };
		start_waiters(&w[1], 1);
		script_release();
		join_waiters(w, 2);
		assert_int_equal(read_word(&word), 1);
	}
	close_other();
}

static void doorbells_alone_are_enough(void **state)
{
	const struct simpler_hw_ring *ring = model_stream_ring(f->stream);

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		script_begin("stamp A io:x; stamp B io:x");
		model_doorbell(f->stream);
		while (read_word((const uint64_t *)&ring->completed) < f->seqno)
			sched_yield();
		assert_int_equal(f->status.code, 0);
		script_order("AB");
	}
}

/* ---- the end of a context ---- */

/* Ends what script_setup() began, without the stream, and begins anew. */
static void destroy_context(void)
{
	assert_int_equal(model_context_destroy(f->context), 0);
	model_close(f->model);
	script_setup(NULL);
	script_ok("stamp A; stamp B");
}

static void a_context_ends_while_a_run_waits(void **state)
{
	(void)state;
	script_begin("keep A; stamp B dep:A");
	model_doorbell(f->stream);
	while (!script_start('A'))
		sched_yield();
	destroy_context();
}

static void a_context_ends_after_an_interrupted_wait(void **state)
{
	(void)state;
	script_begin("keep A; get D x[0]; stamp B dep:A");
	assert_int_equal(interrupted_wait(0), -EINTR);
	destroy_context();
}

static void a_context_ends_with_commands_that_wait_for_a_value(void **state)
{
	static uint64_t word;

	(void)state;
	word = 0;
	fixture_push(f, wait_word(&word, 1));
	fixture_push(f, set_word(&word, 9));
	assert_int_equal(fixture_wait(f, 1000000), -ETIMEDOUT);
	destroy_context();
	assert_int_equal(word, 0);
}

static void a_context_ends_with_commands_that_nobody_looked_at(void **state)
{
	static uint64_t word;

	(void)state;
	word = 0;
	for (int i = 0; i < 40; i++)
		fixture_push(f, set_word(&word, 9));
	destroy_context();
	assert_int_equal(word, 0);
}

/* Waiting first and pushing later is legal: the wait ends once the command has run. */
static void a_wait_may_begin_before_its_command_is_there(void **state)
{
	struct waiter w;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		w = (struct waiter){ .stream = f->stream, .seqno = f->seqno + 1, .deadline = round % 2 };
		start_waiters(&w, 1);
		script_begin("stamp A");
		model_doorbell(f->stream);
		join_waiters(&w, 1);
		assert_int_equal(f->status.code, 0);
	}
}

static void a_context_ends_while_a_kernel_never_returns(void **state)
{
	struct chip_fixture own;
	static float x[16];

	(void)state;
	fixture_open_variant(&own, FIXTURE_SHORT_MS);
	fixture_load(&own, "failures", "add_one,crash,endless,push,pop,abuse");
	fixture_tensor(&own, 0, x, 0, 4, 16);
	own.launch.scalar_count = 1;
	own.scalars[0] = 5;
	fixture_begin(&own);
	model_doorbell(own.stream);
	assert_int_equal(fixture_wait(&own, 1000000), -ETIMEDOUT);
	assert_int_equal(model_context_destroy(own.context), 0);
	model_close(own.model);
	script_ok("stamp A");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_without_work_ends_at_its_deadline),
		cmocka_unit_test(a_deadline_passes_while_a_run_goes_on),
		cmocka_unit_test(a_deadline_passes_while_a_stream_waits_for_a_value),
		cmocka_unit_test(an_interrupted_wait_can_be_repeated),
		cmocka_unit_test(an_interrupted_run_goes_on_without_a_waiter),
		cmocka_unit_test(a_long_orchestration_is_interrupted),
		cmocka_unit_test(an_interrupt_while_a_stream_waits_for_a_value),
		cmocka_unit_test(streams_wait_for_each_other),
		cmocka_unit_test(a_run_waits_for_another_streams_fence),
		cmocka_unit_test(a_stream_ends_while_another_waits_for_a_value),
		cmocka_unit_test(a_stream_ends_that_waits_for_a_value),
		cmocka_unit_test(a_stream_ends_whose_launch_was_left_half_way),
		cmocka_unit_test(many_threads_wait_for_one_run),
		cmocka_unit_test(threads_wait_for_streams_of_their_own),
		cmocka_unit_test(a_waiter_with_a_deadline_takes_over_when_the_executing_thread_leaves),
		cmocka_unit_test(doorbells_alone_are_enough),
		cmocka_unit_test(a_context_ends_while_a_run_waits),
		cmocka_unit_test(a_context_ends_after_an_interrupted_wait),
		cmocka_unit_test(a_context_ends_with_commands_that_wait_for_a_value),
		cmocka_unit_test(a_context_ends_with_commands_that_nobody_looked_at),
		cmocka_unit_test(a_wait_may_begin_before_its_command_is_there),
		cmocka_unit_test(a_context_ends_while_a_kernel_never_returns),
	};

	return chip_run_suite("waits", tests, script_setup, script_teardown);
}
