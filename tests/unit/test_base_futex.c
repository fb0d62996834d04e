/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/sanitize.h"

static void word_that_differs_is_reported_at_once(void **state)
{
	_Atomic uint32_t word = 5;

	(void)state;
	assert_int_equal(futex_wait(&word, 4, CLOCK_NEVER, 0), -EAGAIN);
}

static void deadline_in_the_past_times_out(void **state)
{
	_Atomic uint32_t word = 5;

	(void)state;
	assert_int_equal(futex_wait(&word, 5, clock_mono_ns(), 0), -ETIMEDOUT);
	assert_int_equal(futex_wait(&word, 5, 0, 0), -ETIMEDOUT);
}

static void deadline_is_absolute_on_the_monotonic_clock(void **state)
{
	uint64_t deadline = clock_deadline(2000000);
	_Atomic uint32_t word = 5;

	(void)state;
	assert_int_equal(futex_wait(&word, 5, deadline, 0), -ETIMEDOUT);
	assert_true(clock_mono_ns() >= deadline);
}

static void nobody_waiting_is_woken(void **state)
{
	_Atomic uint32_t word = 0;

	(void)state;
	assert_int_equal(futex_wake(&word, INT_MAX, 0), 0);
	assert_int_equal(futex_wake(&word, INT_MAX, FUTEX_WORD_SHARED), 0);
	assert_int_equal(futex_wake((_Atomic uint32_t *)((char *)&word + 1), 1, 0), 0);
}

struct waiter {
	_Atomic uint32_t word;
	int last;
};

static void *wait_for_change(void *arg)
{
	struct waiter *w = arg;

	while (!atomic_load(&w->word))
		w->last = futex_wait(&w->word, 0, CLOCK_NEVER, 0);
	return NULL;
}

static void waiter_continues_after_a_wake(void **state)
{
	struct waiter w = { 0 };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_change, &w), 0);
	atomic_store(&w.word, 1);
	futex_wake(&w.word, 1, 0);
	pthread_join(thread, NULL);
	assert_true(w.last == 0 || w.last == -EAGAIN);
}

static void wake_reaches_waiters_in_another_process(void **state)
{
	_Atomic uint32_t *word =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t child;

	(void)state;
	child = fork();
	if (!child) {
		while (!atomic_load(word))
			futex_wait(word, 0, CLOCK_NEVER, FUTEX_WORD_SHARED);
		_exit(0);
	}
	while (!futex_wake(word, 1, FUTEX_WORD_SHARED))	/* until the child does wait */
		sched_yield();
	atomic_store(word, 1);
	futex_wake(word, INT_MAX, FUTEX_WORD_SHARED);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	munmap((void *)word, 4096);
}

static atomic_int signals;

static void count_signal(int signo)
{
	(void)signo;
	atomic_fetch_add(&signals, 1);
}

struct pest {
	pthread_t victim;
	_Atomic uint32_t word;
	atomic_bool stop;
	int wake_after;			/* signals; 0: never */
};

/* Signals the waiter again and again, and wakes it when it has had enough of them. */
static void *send_signals(void *arg)
{
	struct pest *p = arg;
	int sent = 0;

	while (!atomic_load(&p->stop)) {
		pthread_kill(p->victim, SIGUSR1);
		/*
		 * TSan keeps signals from the handler while the waiter is in no interceptor of its
		 * own
		 */
		if (SANITIZE_THREAD)
			atomic_store(&signals, ++sent);
		if (p->wake_after && atomic_load(&signals) >= p->wake_after) {
			atomic_store(&p->word, 1);
			futex_wake(&p->word, 1, 0);
		}
		sched_yield();
	}
	return NULL;
}

static int wait_under_signals(struct pest *p, unsigned int flags)
{
	struct sigaction act = { .sa_handler = count_signal }, before;
	pthread_t thread;
	int ret = 0;

	atomic_store(&signals, 0);
	p->victim = pthread_self();
	assert_int_equal(sigaction(SIGUSR1, &act, &before), 0);
	assert_int_equal(pthread_create(&thread, NULL, send_signals, p), 0);
	while (!ret && !atomic_load(&p->word))
		ret = futex_wait(&p->word, 0, CLOCK_NEVER, flags);
	atomic_store(&p->stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
	return ret;
}

static void signal_ends_the_wait_only_on_request(void **state)
{
	struct pest asked = { 0 }, not_asked = { .wake_after = 20 };
	int ret;

	(void)state;
	assert_int_equal(wait_under_signals(&asked, FUTEX_WAIT_EINTR), -EINTR);
	ret = wait_under_signals(&not_asked, 0);
	assert_true(ret == 0 || ret == -EAGAIN);
	assert_int_equal(atomic_load(&not_asked.word), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(word_that_differs_is_reported_at_once),
		cmocka_unit_test(deadline_in_the_past_times_out),
		cmocka_unit_test(deadline_is_absolute_on_the_monotonic_clock),
		cmocka_unit_test(nobody_waiting_is_woken),
		cmocka_unit_test(waiter_continues_after_a_wake),
		cmocka_unit_test(wake_reaches_waiters_in_another_process),
		cmocka_unit_test(signal_ends_the_wait_only_on_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
