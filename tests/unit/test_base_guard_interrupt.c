/* SPDX-License-Identifier: MIT */
/*
 * Calls that are ended by another thread, and calls that move to another thread with their fiber.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fiber.h"
#include "base/guard.h"
#include "base/sanitize.h"

/*
 * An endless kernel, which sets *flag to 1 first, and a short one; both lie between spin and
 * spin_end.
 */
void spin(void *flag);
void spin_a_little(void *unused);
extern const char spin_end[];

__asm__(
	"	.text\n"
	"	.type	spin, %function\n"
	"	.hidden	spin\n"
	"	.globl	spin\n"
	"spin:\n"
#if defined(__x86_64__)
	"	movl	$1, (%rdi)\n"
	"1:	pause\n"
	"	jmp	1b\n"
#elif defined(__aarch64__)
	"	mov	w1, #1\n"
	"	str	w1, [x0]\n"
	"1:	yield\n"
	"	b	1b\n"
#endif
	"	.type	spin_a_little, %function\n"
	"	.hidden	spin_a_little\n"
	"	.globl	spin_a_little\n"
	"spin_a_little:\n"
#if defined(__x86_64__)
	"	movl	$300, %eax\n"
	"2:	decl	%eax\n"
	"	jnz	2b\n"
	"	ret\n"
#elif defined(__aarch64__)
	"	mov	w1, #300\n"
	"2:	subs	w1, w1, #1\n"
	"	b.ne	2b\n"
	"	ret\n"
#endif
	"	.hidden	spin_end\n"
	"	.globl	spin_end\n"
	"spin_end:\n"
	"	nop\n");

#define SPIN_LO	((uintptr_t)spin)
#define SPIN_HI	((uintptr_t)spin_end)

static void crash(void *arg)
{
	(void)arg;
	raise(SIGSEGV);
}

/* A thread with a guarded call to end, and what it reports. */
struct target {
	pthread_t thread;
	void (*body)(struct target *);
	sem_t ready;			/* self and ticket are set */
	sem_t go;
	struct guard_thread *self;
	uint64_t ticket;
	uint64_t ticket_afterwards;
	_Atomic int spinning;
	int result;
	int inner_result;
	struct guard_fault fault;
	int pipe[2];
};

static void *target_main(void *arg)
{
	struct target *t = arg;

	if (!guard_thread_init())
		t->body(t);
	return NULL;
}

static void target_start(struct target *t, void (*body)(struct target *))
{
	*t = (struct target){ .body = body };
	assert_int_equal(sem_init(&t->ready, 0, 0), 0);
	assert_int_equal(sem_init(&t->go, 0, 0), 0);
	assert_int_equal(pthread_create(&t->thread, NULL, target_main, t), 0);
	assert_int_equal(sem_wait(&t->ready), 0);
}

static void target_join(struct target *t)
{
	assert_int_equal(pthread_join(t->thread, NULL), 0);
	sem_destroy(&t->ready);
	sem_destroy(&t->go);
}

static void target_announce(struct target *t)
{
	t->self = guard_self();
	t->ticket = guard_ticket();
	sem_post(&t->ready);
}

static void await_spinning(struct target *t)
{
	while (!atomic_load(&t->spinning))
		sched_yield();
}

static enum guard_outcome await_outcome(struct guard_thread *self, uint64_t ticket)
{
	enum guard_outcome outcome;

	while ((outcome = guard_outcome(self, ticket)) == GUARD_PENDING)
		sched_yield();
	return outcome;
}

static enum guard_outcome ask(struct guard_thread *self, uint64_t ticket, uintptr_t lo,
			      uintptr_t hi, unsigned int flags)
{
	assert_int_equal(guard_interrupt(self, ticket, lo, hi, flags), 0);
	return await_outcome(self, ticket);
}

static void announce_and_spin(void *arg)
{
	struct target *t = arg;

	target_announce(t);
	spin(&t->spinning);
}

static void spin_once(struct target *t)
{
	t->result = guard_call(announce_and_spin, t, &t->fault);
}

/* cmocka installs its own handlers around each test and fixture, so ours go in within the test. */
static void with_guard(void **state)
{
	void (*test)(void **) = *(void (**)(void **))state;

	assert_int_equal(guard_process_init(), 0);
	test(state);
	guard_process_fini();
}

#define guard_test(name)	{ #name, with_guard, NULL, NULL, (void *)(name) }

static void endless_loop_in_the_given_text_is_ended(void **state)
{
	struct target t;

	(void)state;
	target_start(&t, spin_once);
	await_spinning(&t);
	assert_true(guard_ticket_active(t.self, t.ticket));
	assert_int_equal(ask(t.self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_ENDED);
	target_join(&t);
	assert_int_equal(t.result, 1);
	assert_int_equal(t.fault.signo, guard_signal());
	assert_int_equal(t.fault.code, GUARD_CODE_INTERRUPT);
	assert_in_range(t.fault.pc, SPIN_LO, SPIN_HI - 1);
	assert_false(guard_ticket_active(t.self, t.ticket));
}

static void call_outside_the_given_text_goes_on(void **state)
{
	struct target t;
	int i;

	(void)state;
	target_start(&t, spin_once);
	await_spinning(&t);
	for (i = 0; i < 10; i++) {
		assert_int_equal(ask(t.self, t.ticket, SPIN_HI, UINTPTR_MAX, 0), GUARD_OUTSIDE);
		assert_int_equal(ask(t.self, t.ticket, 0, SPIN_LO, 0), GUARD_OUTSIDE);
		assert_true(guard_ticket_active(t.self, t.ticket));
	}
	assert_int_equal(ask(t.self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_ENDED);
	target_join(&t);
	assert_int_equal(t.result, 1);
}

static void spin_a_second_time(void *arg)
{
	struct target *t = arg;

	target_announce(t);
	sem_wait(&t->go);
	spin(&t->spinning);
}

static void return_then_spin(struct target *t)
{
	t->inner_result = guard_call((void (*)(void *))target_announce, t, NULL);
	sem_wait(&t->go);
	t->result = guard_call(spin_a_second_time, t, &t->fault);
}

static void late_ticket_does_not_touch_the_next_call(void **state)
{
	uint64_t old_ticket;
	struct target t;

	(void)state;
	target_start(&t, return_then_spin);
	old_ticket = t.ticket;
	sem_post(&t.go);
	sem_wait(&t.ready);
	assert_true(t.ticket != old_ticket);
	sem_post(&t.go);
	await_spinning(&t);
	assert_int_equal(ask(t.self, old_ticket, SPIN_LO, SPIN_HI, 0), GUARD_GONE);
	assert_int_equal(guard_outcome(t.self, t.ticket), GUARD_NONE);
	assert_true(guard_ticket_active(t.self, t.ticket));
	assert_int_equal(ask(t.self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_ENDED);
	target_join(&t);
	assert_int_equal(t.inner_result, 0);
	assert_int_equal(t.result, 1);
}

static void spin_inner(void *arg)
{
	struct target *t = arg;

	spin(&t->spinning);
}

static void announce_and_nest(void *arg)
{
	struct target *t = arg;

	target_announce(t);
	t->inner_result = 7 + guard_call(spin_inner, t, NULL);
}

static void spin_nested(struct target *t)
{
	t->result = guard_call(announce_and_nest, t, &t->fault);
	t->ticket_afterwards = guard_ticket();
}

static void ticket_of_an_outer_call_ends_the_inner_ones_too(void **state)
{
	struct target t;

	(void)state;
	target_start(&t, spin_nested);
	await_spinning(&t);
	assert_int_equal(ask(t.self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_ENDED);
	target_join(&t);
	assert_int_equal(t.result, 1);
	assert_int_equal(t.inner_result, 0);
	assert_int_equal(t.ticket_afterwards, 0);
}

static void hold_then_spin(void *arg)
{
	struct target *t = arg;

	guard_hold();
	guard_hold();
	guard_release();
	target_announce(t);
	while (sem_trywait(&t->go))
		sched_yield();
	guard_release();
	spin(&t->spinning);
}

static void spin_after_hold(struct target *t)
{
	t->result = guard_call(hold_then_spin, t, &t->fault);
}

static void held_call_is_not_ended_even_by_force(void **state)
{
	struct target t;
	int i;

	(void)state;
	target_start(&t, spin_after_hold);
	for (i = 0; i < 20; i++)
		assert_int_equal(ask(t.self, t.ticket, 0, UINTPTR_MAX, GUARD_FORCE), GUARD_OUTSIDE);
	sem_post(&t.go);
	await_spinning(&t);
	assert_int_equal(ask(t.self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_ENDED);
	target_join(&t);
	assert_int_equal(t.result, 1);
}

static void read_for_ever(void *arg)
{
	struct target *t = arg;
	char c;

	target_announce(t);
	while (read(t->pipe[0], &c, 1) != 0)
		;
}

static void block_in_read(struct target *t)
{
	if (!pipe(t->pipe))
		t->result = guard_call(read_for_ever, t, &t->fault);
}

static void force_ends_a_call_that_sleeps_in_a_library(void **state)
{
	struct target t;

	/* the header forbids it: TSan would lose what its interceptor was doing */
	if (SANITIZE_THREAD)
		skip();
	(void)state;
	assert_int_equal(guard_process_init(), 0);
	target_start(&t, block_in_read);
	assert_int_equal(ask(t.self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_OUTSIDE);
	assert_int_equal(ask(t.self, t.ticket, 0, 0, GUARD_FORCE), GUARD_ENDED);
	target_join(&t);
	assert_int_equal(t.result, 1);
	close(t.pipe[0]);
	close(t.pipe[1]);
	guard_process_fini();
}

static void announce_and_return(struct target *t)
{
	t->result = guard_call((void (*)(void *))target_announce, t, NULL);
}

static void impossible_requests_are_refused_with_a_reason(void **state)
{
	uint64_t first_ticket;
	struct target t;

	(void)state;
	target_start(&t, announce_and_return);
	target_join(&t);
	assert_int_equal(guard_interrupt(t.self, t.ticket, 0, UINTPTR_MAX, GUARD_FORCE), -ESRCH);
	assert_int_equal(guard_interrupt(t.self, 0, 0, UINTPTR_MAX, GUARD_FORCE), -EINVAL);
	assert_int_equal(guard_outcome(t.self, t.ticket), GUARD_NONE);
	first_ticket = t.ticket;
	target_start(&t, announce_and_return);
	target_join(&t);
	assert_true(t.ticket != first_ticket);
}

static void request_without_handlers_is_refused(void **state)
{
	struct target t;

	(void)state;
	target_start(&t, announce_and_return);
	target_join(&t);
	assert_int_equal(guard_interrupt(t.self, t.ticket, 0, UINTPTR_MAX, GUARD_FORCE), -EINVAL);
}

static void private_mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, guard_signal());
	pthread_sigmask(how, &set, NULL);
}

static void announce_and_wait(void *arg)
{
	struct target *t = arg;

	target_announce(t);
	sem_wait(&t->go);
}

static void wait_with_signal_blocked(struct target *t)
{
	private_mask(SIG_BLOCK);
	t->result = guard_call(announce_and_wait, t, NULL);
	t->inner_result = 5;
	private_mask(SIG_UNBLOCK);
	t->inner_result = 6;
	sem_post(&t->ready);
	sem_wait(&t->go);
}

static void signal_that_comes_after_the_call_does_nothing(void **state)
{
	struct target t;

	(void)state;
	target_start(&t, wait_with_signal_blocked);
	assert_int_equal(guard_interrupt(t.self, t.ticket, 0, UINTPTR_MAX, GUARD_FORCE), 0);
	assert_int_equal(guard_outcome(t.self, t.ticket), GUARD_PENDING);
	assert_int_equal(guard_interrupt(t.self, t.ticket, 0, UINTPTR_MAX, GUARD_FORCE), -EBUSY);
	sem_post(&t.go);
	sem_wait(&t.ready);
	assert_int_equal(guard_outcome(t.self, t.ticket), GUARD_GONE);
	sem_post(&t.go);
	target_join(&t);
	assert_int_equal(t.result, 0);
	assert_int_equal(t.inner_result, 6);
}

static void end_with_signal_blocked(struct target *t)
{
	private_mask(SIG_BLOCK);
	t->result = guard_call(announce_and_wait, t, NULL);
}

static void request_that_a_thread_never_answers_is_gone_with_it(void **state)
{
	struct target t;

	(void)state;
	target_start(&t, end_with_signal_blocked);
	assert_int_equal(guard_interrupt(t.self, t.ticket, 0, UINTPTR_MAX, GUARD_FORCE), 0);
	sem_post(&t.go);
	target_join(&t);
	assert_int_equal(guard_outcome(t.self, t.ticket), GUARD_GONE);
}

static void wait_blocked_then_unblock(struct target *t)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, guard_signal());
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	t->result = guard_call(announce_and_wait, t, NULL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	t->inner_result = 8;
}

/* The default action of a real-time signal would end the process. */
static void request_pending_at_the_end_of_the_guard_is_dropped(void **state)
{
	struct target t;

	(void)state;
	assert_int_equal(guard_process_init(), 0);
	target_start(&t, wait_blocked_then_unblock);
	assert_int_equal(guard_interrupt(t.self, t.ticket, 0, UINTPTR_MAX, GUARD_FORCE), 0);
	guard_process_fini();
	assert_int_equal(guard_outcome(t.self, t.ticket), GUARD_NONE);
	sem_post(&t.go);
	target_join(&t);
	assert_int_equal(t.result, 0);
	assert_int_equal(t.inner_result, 8);
}

static void stray_signals_do_nothing(void **state)
{
	struct target t;

	(void)state;
	target_start(&t, spin_once);
	await_spinning(&t);
	assert_int_equal(pthread_kill(t.thread, guard_signal()), 0);
	assert_int_equal(pthread_kill(pthread_self(), guard_signal()), 0);
	assert_int_equal(ask(t.self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_ENDED);
	target_join(&t);
}

static void interrupt_oneself(void *arg)
{
	enum guard_outcome *outcome = arg;

	*outcome = ask(guard_self(), guard_ticket(), 0, UINTPTR_MAX, GUARD_FORCE);
}

static void request_to_oneself_never_hits_its_own_lock(void **state)
{
	enum guard_outcome outcome = GUARD_NONE;

	(void)state;
	assert_int_equal(guard_call(interrupt_oneself, &outcome, NULL), 0);
	assert_int_equal(outcome, GUARD_OUTSIDE);
}

/* A guarded call on a fiber that parks on one thread and goes on on another. */
struct traveller {
	struct fiber *fiber;
	struct fiber *home;		/* of the thread the fiber is on */
	void (*rest)(void *arg);
	void *rest_arg;
	struct guard_frame *chain;
	sem_t parked;
	struct target second;		/* the thread that continues it */
	int result;
	struct guard_fault fault;
	struct guard_thread *first_self;
	uint64_t ticket;
	bool done;
};

static void travel(void *arg)
{
	struct traveller *t = arg;

	t->first_self = guard_self();
	t->ticket = guard_ticket();
	t->chain = guard_suspend();
	fiber_switch(t->fiber, t->home);
	guard_resume(t->chain);
	t->second.self = guard_self();
	t->second.ticket = guard_ticket();
	t->rest(t->rest_arg);
}

static void travel_guarded(void *arg)
{
	struct traveller *t = arg;

	t->result = guard_call(travel, t, &t->fault);
	t->done = true;
	fiber_switch(t->fiber, t->home);
}

static void traveller_start(struct traveller *t, void (*rest)(void *), void *rest_arg)
{
	struct fiber_thread thread;

	*t = (struct traveller){ .rest = rest, .rest_arg = rest_arg };
	assert_int_equal(guard_thread_init(), 0);
	t->home = fiber_thread_init(&thread);
	t->fiber = fiber_create((size_t)64 << 10, travel_guarded, t);
	assert_non_null(t->fiber);
	fiber_switch(t->home, t->fiber);
	assert_false(t->done);
	assert_non_null(t->chain);
	assert_int_equal(guard_ticket(), 0);
	assert_null(guard_suspend());
}

static void *traveller_second_thread(void *arg)
{
	struct traveller *t = arg;
	struct fiber_thread thread;

	if (guard_thread_init())
		return NULL;
	t->home = fiber_thread_init(&thread);
	fiber_switch(t->home, t->fiber);
	/* the thread's own calls work as before */
	return guard_ticket() == 0 && guard_call(crash, NULL, NULL) == 1 ? t : NULL;
}

static void parked_call_is_caught_on_the_thread_that_resumes_it(void **state)
{
	struct traveller t;
	pthread_t second;
	void *result;

	(void)state;
	guard_resume(NULL);
	traveller_start(&t, crash, NULL);
	assert_int_equal(guard_call(crash, NULL, NULL), 1);
	assert_int_equal(pthread_create(&second, NULL, traveller_second_thread, &t), 0);
	pthread_join(second, &result);
	assert_ptr_equal(result, &t);
	assert_true(t.done);
	assert_int_equal(t.result, 1);
	assert_int_equal(t.fault.signo, SIGSEGV);
	assert_ptr_not_equal(t.second.self, t.first_self);
	assert_int_equal(t.second.ticket, t.ticket);
	fiber_destroy(t.fiber);
}

static void spin_away(void *arg)
{
	struct target *t = arg;

	sem_post(&t->ready);
	spin(&t->spinning);
}

static void moved_call_is_gone_here_and_is_ended_there(void **state)
{
	struct traveller t;
	pthread_t second;

	(void)state;
	traveller_start(&t, spin_away, &t.second);
	assert_int_equal(sem_init(&t.second.ready, 0, 0), 0);
	assert_int_equal(ask(t.first_self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_GONE);
	assert_int_equal(pthread_create(&second, NULL, traveller_second_thread, &t), 0);
	sem_wait(&t.second.ready);
	await_spinning(&t.second);
	assert_int_equal(ask(t.first_self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_GONE);
	assert_int_equal(ask(t.second.self, t.ticket, SPIN_LO, SPIN_HI, 0), GUARD_ENDED);
	pthread_join(second, NULL);
	assert_int_equal(t.result, 1);
	fiber_destroy(t.fiber);
	sem_destroy(&t.second.ready);
}

/* In a child the main thread has another number, and the other threads are gone. */
static void *end_the_main_thread(void *arg)
{
	struct target *t = arg;

	await_spinning(t);
	return (void *)(uintptr_t)ask(t->self, t->ticket, SPIN_LO, SPIN_HI, 0);
}

static void announce_start_watcher_and_spin(void *arg)
{
	struct target *t = arg;

	t->self = guard_self();
	t->ticket = guard_ticket();
	if (!pthread_create(&t->thread, NULL, end_the_main_thread, t))
		spin(&t->spinning);
}

static int child_is_interruptible(struct target *other)
{
	struct target t = { 0 };
	void *outcome = NULL;

	if (guard_interrupt(other->self, other->ticket, 0, UINTPTR_MAX, GUARD_FORCE) != -ESRCH)
		return 2;
	if (guard_call(announce_start_watcher_and_spin, &t, NULL) != 1)
		return 3;
	pthread_join(t.thread, &outcome);
	return outcome == (void *)(uintptr_t)GUARD_ENDED ? 0 : 4;
}

static void guard_works_in_a_forked_child(void **state)
{
	struct target other;
	int status;
	pid_t child;

	(void)state;
	if (SANITIZE_THREAD)	/* refuses threads in the child of a process with threads */
		skip();
	assert_int_equal(guard_process_init(), 0);
	assert_int_equal(guard_thread_init(), 0);
	target_start(&other, spin_once);
	await_spinning(&other);
	child = fork();
	if (!child)
		_exit(child_is_interruptible(&other));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(ask(other.self, other.ticket, SPIN_LO, SPIN_HI, 0), GUARD_ENDED);
	target_join(&other);
	guard_process_fini();
}

static void *thread_with_one_call(void *arg)
{
	struct target *t = arg;

	t->result = guard_call((void (*)(void *))target_announce, t, NULL);
	return NULL;
}

static void records_of_ended_threads_are_used_again(void **state)
{
	struct target t = { 0 };
	struct guard_thread *seen[4] = { NULL };
	uint64_t last = 0;
	int i, j;

	(void)state;
	assert_int_equal(sem_init(&t.ready, 0, 0), 0);
	for (i = 0; i < 200; i++) {
		assert_int_equal(pthread_create(&t.thread, NULL, thread_with_one_call, &t), 0);
		pthread_join(t.thread, NULL);
		assert_true(t.ticket != last);
		last = t.ticket;
		for (j = 0; seen[j] && seen[j] != t.self; j++)
			assert_in_range(j, 0, 2);
		seen[j] = t.self;
	}
	sem_destroy(&t.ready);
}

struct storm {
	pthread_t thread;
	struct guard_thread *_Atomic self;
	_Atomic uint64_t ticket;	/* of some call of the thread, perhaps the current one */
	atomic_bool stop;
	unsigned long calls;
	unsigned long ended;
};

static void publish_ticket_and_spin(void *arg)
{
	struct storm *s = arg;

	atomic_store(&s->ticket, guard_ticket());
	spin_a_little(NULL);
}

static void *call_without_pause(void *arg)
{
	struct storm *s = arg;
	struct guard_fault fault;

	if (guard_thread_init())
		return NULL;
	atomic_store(&s->self, guard_self());
	for (; !atomic_load(&s->stop); s->calls++)
		s->ended += guard_call(publish_ticket_and_spin, s, &fault) == 1;
	return s;
}

/*
 * Requests race with calls that return: none is lost, none ends two calls, none ends the wrong one.
 */
static void as_many_calls_end_as_requests_say_so(void **state)
{
	unsigned long outcomes[GUARD_GONE + 1] = { 0 }, i;
	struct storm s = { 0 };
	uint64_t ticket;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&s.thread, NULL, call_without_pause, &s), 0);
	while (!atomic_load(&s.self) || !atomic_load(&s.ticket))
		sched_yield();
	/* On a busy machine every one of them may come when its call has returned. */
	for (i = 0; i < 300 || !outcomes[GUARD_ENDED]; i++) {
		ticket = atomic_load(&s.ticket);
		outcomes[ask(s.self, ticket, SPIN_LO, SPIN_HI, 0)]++;
		if (i >= 300)
			sched_yield();
	}
	atomic_store(&s.stop, true);
	pthread_join(s.thread, &result);
	assert_ptr_equal(result, &s);
	assert_int_equal(outcomes[GUARD_NONE] + outcomes[GUARD_PENDING], 0);
	assert_int_equal(outcomes[GUARD_ENDED], s.ended);
	assert_in_range(s.ended, 1, s.calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		guard_test(endless_loop_in_the_given_text_is_ended),
		guard_test(call_outside_the_given_text_goes_on),
		guard_test(late_ticket_does_not_touch_the_next_call),
		guard_test(ticket_of_an_outer_call_ends_the_inner_ones_too),
		guard_test(held_call_is_not_ended_even_by_force),
		cmocka_unit_test(force_ends_a_call_that_sleeps_in_a_library),
		guard_test(impossible_requests_are_refused_with_a_reason),
		cmocka_unit_test(request_without_handlers_is_refused),
		guard_test(signal_that_comes_after_the_call_does_nothing),
		guard_test(request_that_a_thread_never_answers_is_gone_with_it),
		cmocka_unit_test(request_pending_at_the_end_of_the_guard_is_dropped),
		guard_test(stray_signals_do_nothing),
		guard_test(request_to_oneself_never_hits_its_own_lock),
		guard_test(parked_call_is_caught_on_the_thread_that_resumes_it),
		guard_test(moved_call_is_gone_here_and_is_ended_there),
		cmocka_unit_test(guard_works_in_a_forked_child),
		guard_test(as_many_calls_end_as_requests_say_so),
		guard_test(records_of_ended_threads_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
