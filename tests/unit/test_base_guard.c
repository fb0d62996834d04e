/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>

#include "base/fiber.h"
#include "base/guard.h"
#include "base/sanitize.h"

#define PAGE	((size_t)4096)

/* Faults in assembler: no compiler and no sanitizer has an opinion about it. */
static void store_to(void *addr)
{
#if defined(__x86_64__)
	__asm__ volatile("movl $1, (%0)" : : "r"(addr) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("str wzr, [%0]" : : "r"(addr) : "memory");
#endif
}

static void divide_by_zero(void *arg)
{
	(void)arg;
#if defined(__x86_64__)
	__asm__ volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx"
			 :
			 :
			 : "eax", "ecx", "edx", "cc");
#else
	raise(SIGFPE);
#endif
}

static void illegal_instruction(void *arg)
{
	(void)arg;
#if defined(__x86_64__)
	__asm__ volatile("ud2");
#elif defined(__aarch64__)
	__asm__ volatile(".inst 0");
#endif
}

static void overflow_stack(void *arg)
{
	(void)arg;
#if defined(__x86_64__)
	__asm__ volatile("1: subq $1024, %%rsp; movq $0, (%%rsp); jmp 1b" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("1: sub sp, sp, #1024; str xzr, [sp]; b 1b" : : : "memory");
#endif
}

static void call_abort(void *arg)
{
	(void)arg;
	abort();
}

static void set_flag(void *arg)
{
	*(int *)arg = 1;
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

static void returning_call_gives_zero(void **state)
{
	struct guard_fault fault = { .signo = 77 };
	int flag = 0;

	(void)state;
	assert_int_equal(guard_call(set_flag, &flag, &fault), 0);
	assert_int_equal(flag, 1);
	assert_int_equal(fault.signo, 77);
	assert_int_equal(guard_ticket(), 0);
}

static void store_to_unmapped_address_is_reported_with_the_address(void **state)
{
	struct guard_fault fault;
	char *page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		memset(&fault, 0, sizeof(fault));
		assert_int_equal(guard_call(store_to, page + 16, &fault), 1);
		assert_int_equal(fault.signo, SIGSEGV);
		assert_int_equal(fault.code, SEGV_ACCERR);
		assert_int_equal(fault.addr, (uintptr_t)page + 16);
		assert_in_range(fault.pc, (uintptr_t)store_to, (uintptr_t)store_to + 128);
	}
	assert_int_equal(guard_call(store_to, page, NULL), 1);
	munmap(page, PAGE);
}

static void page_beyond_the_end_of_a_file_is_a_bus_error(void **state)
{
	struct guard_fault fault;
	int fd = memfd_create("empty", 0);
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(guard_call(store_to, page, &fault), 1);
	assert_int_equal(fault.signo, SIGBUS);
	assert_int_equal(fault.addr, (uintptr_t)page);
	munmap(page, PAGE);
	close(fd);
}

static void division_by_zero_and_illegal_instructions_are_caught(void **state)
{
	struct guard_fault fault;

	(void)state;
	assert_int_equal(guard_call(divide_by_zero, NULL, &fault), 1);
	assert_int_equal(fault.signo, SIGFPE);
	assert_int_equal(guard_call(illegal_instruction, NULL, &fault), 1);
	assert_int_equal(fault.signo, SIGILL);
	assert_in_range(fault.pc, (uintptr_t)illegal_instruction,
			(uintptr_t)illegal_instruction + 128);
}

static void *abort_in_guarded_call(void *arg)
{
	struct guard_fault fault;
	int i;

	for (i = 0; i < 2; i++) {
		if (guard_call(call_abort, NULL, &fault) != 1 || fault.signo != SIGABRT)
			return NULL;
	}
	return arg;
}

/* abort() takes a lock in libc: a caught one must leave it free, for this thread and for others. */
static void abort_is_caught_again_and_again_and_on_other_threads(void **state)
{
	pthread_t thread;
	void *result;
	int i;

	for (i = 0; i < 3; i++) {
		assert_ptr_equal(abort_in_guarded_call(&result), &result);
		assert_int_equal(pthread_create(&thread, NULL, abort_in_guarded_call, state), 0);
		pthread_join(thread, &result);
		assert_ptr_equal(result, state);
	}
}

static void *overflow_native_stack(void *arg)
{
	struct guard_fault fault;

	if (guard_call(overflow_stack, NULL, &fault) != 1)
		return NULL;
	return fault.signo == SIGSEGV || fault.signo == SIGBUS ? arg : NULL;
}

static void stack_overflow_of_a_thread_is_caught(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;
	void *result;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)256 << 10);
	assert_int_equal(pthread_create(&thread, &attr, overflow_native_stack, state), 0);
	pthread_join(thread, &result);
	assert_ptr_equal(result, state);
	pthread_attr_destroy(&attr);
}

struct on_fiber {
	struct fiber_thread thread;
	struct fiber *home;
	struct fiber *fiber;
	struct guard_fault fault;
	int result;
};

static void overflow_on_fiber(void *arg)
{
	struct on_fiber *o = arg;

	for (;;) {
		o->result = guard_call(overflow_stack, NULL, &o->fault);
		fiber_switch(o->fiber, o->home);
	}
}

static void stack_overflow_of_a_fiber_hits_its_guard_page(void **state)
{
	struct on_fiber o = { 0 };
	int i;

	(void)state;
	o.home = fiber_thread_init(&o.thread);
	o.fiber = fiber_create((size_t)64 << 10, overflow_on_fiber, &o);
	for (i = 0; i < 3; i++) {
		o.result = 0;
		fiber_switch(o.home, o.fiber);
		assert_int_equal(o.result, 1);
		assert_int_equal(o.fault.signo, SIGSEGV);
		assert_true(fiber_guard_hit(o.fiber, (void *)o.fault.addr));
	}
	fiber_destroy(o.fiber);
}

struct nest {
	struct guard_fault inner_fault;
	int inner;
	uint64_t outer_ticket;
	uint64_t inner_ticket;
};

static void crash_inside(void *arg)
{
	struct nest *n = arg;

	n->inner_ticket = guard_ticket();
	store_to(NULL);
}

static void call_crash_then_crash(void *arg)
{
	struct nest *n = arg;

	n->outer_ticket = guard_ticket();
	n->inner = guard_call(crash_inside, n, &n->inner_fault);
	assert_int_equal(guard_ticket(), n->outer_ticket);
	call_abort(NULL);
}

static void nested_calls_end_one_by_one(void **state)
{
	struct guard_fault fault;
	struct nest n = { 0 };

	(void)state;
	assert_int_equal(guard_call(call_crash_then_crash, &n, &fault), 1);
	assert_int_equal(n.inner, 1);
	assert_int_equal(n.inner_fault.signo, SIGSEGV);
	assert_int_equal(fault.signo, SIGABRT);
	assert_true(n.outer_ticket && n.inner_ticket && n.outer_ticket != n.inner_ticket);
	assert_int_equal(guard_ticket(), 0);
}

static void raise_signal(void *arg)
{
	raise(*(int *)arg);
}

static void signals_that_a_thread_raises_itself_are_caught(void **state)
{
	int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct guard_fault fault;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		assert_int_equal(guard_call(raise_signal, &signals[i], &fault), 1);
		assert_int_equal(fault.signo, signals[i]);
		assert_int_equal(fault.addr, 0);
	}
}

static void spoil_float_state(void *arg)
{
	(void)arg;
	fesetround(FE_UPWARD);
#if defined(__x86_64__)
	__asm__ volatile("fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1; std" : : : "memory");
#endif
	store_to(NULL);
}

/* Rounding, exception masks and flushing of small numbers, of the vector unit where there are two. */
static unsigned int float_control(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_stmxcsr();
#else
	return (unsigned int)fegetround();
#endif
}

static void ended_call_leaves_float_state_and_direction_as_they_were(void **state)
{
	volatile long double one = 1.0L;
	unsigned int control = float_control();
	char from[64], to[64];
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(guard_call(spoil_float_state, NULL, NULL), 1);
	assert_int_equal(fegetround(), FE_TONEAREST);
	assert_int_equal(float_control(), control);
	assert_true(one + one == 2.0L);
	memset(from, 7, sizeof(from));
#if defined(__x86_64__)
	{
		char *s = from, *d = to;
		size_t n = sizeof(to);

		__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
	}
#else
	memcpy(to, from, sizeof(to));
#endif
	assert_memory_equal(from, to, sizeof(to));
}

/* Red zones of abandoned frames: a sanitizer must not see them in what runs there next. */
static __attribute__((noinline)) void crash_deep(volatile char *above, int depth)
{
	volatile char buf[100];
	size_t i;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = above ? above[i] : 1;
	if (depth)
		crash_deep(buf, depth - 1);
	else
		store_to(NULL);
	above = buf;
	__asm__ volatile("" : : "r"(above) : "memory");
}

static void crash_ten_deep(void *arg)
{
	(void)arg;
	crash_deep(NULL, 10);
}

static __attribute__((noinline)) void use_much_stack(void *arg)
{
	volatile char buf[4096];
	size_t i;

	(void)arg;
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = 1;
}

static void stack_of_an_abandoned_call_can_be_used_again(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 20; i++) {
		assert_int_equal(guard_call(crash_ten_deep, NULL, NULL), 1);
		use_much_stack(NULL);
		assert_int_equal(guard_call(use_much_stack, NULL, NULL), 0);
	}
}

static void many_abandoned_calls_exhaust_nothing(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 20000; i++)
		assert_int_equal(guard_call(crash_ten_deep, NULL, NULL), 1);
}

static struct _Unwind_Exception exception;
static _Unwind_Reason_Code raised;

static void raise_exception(void *arg)
{
	(void)arg;
	raised = _Unwind_RaiseException(&exception);
}

/* The C++ runtime then calls std::terminate(), which ends in abort(). */
static void exceptions_do_not_pass_a_guarded_call(void **state)
{
	(void)state;
	assert_int_equal(guard_call(raise_exception, NULL, NULL), 0);
#if defined(__x86_64__)	/* libgcc before 14 returns garbage on aarch64 */
	assert_int_equal(raised, _URC_FATAL_PHASE1_ERROR);
#endif
}

static char *protected_page;
static volatile sig_atomic_t repairs;

static void repair_page(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	if (info->si_addr == protected_page &&
	    !mprotect(protected_page, PAGE, PROT_READ | PROT_WRITE))
		repairs++;
}

static void store_held(void *arg)
{
	guard_hold();
	store_to(arg);
	guard_release();
}

static void protect_page(void)
{
	assert_int_equal(mprotect(protected_page, PAGE, PROT_NONE), 0);
}

static void faults_outside_calls_and_in_held_ones_go_to_the_previous_handler(void **state)
{
	struct sigaction act = { .sa_sigaction = repair_page, .sa_flags = SA_SIGINFO };
	struct sigaction before, now;

	(void)state;
	protected_page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	repairs = 0;
	assert_int_equal(sigaction(SIGSEGV, &act, &before), 0);
	assert_int_equal(guard_process_init(), 0);
	store_to(protected_page);
	assert_int_equal(repairs, 1);
	protect_page();
	assert_int_equal(guard_call(store_to, protected_page, NULL), 1);
	assert_int_equal(repairs, 1);
	assert_int_equal(guard_call(store_held, protected_page, NULL), 0);
	assert_int_equal(repairs, 2);
	protect_page();
	guard_process_fini();
	store_to(protected_page);
	assert_int_equal(repairs, 3);
	assert_int_equal(sigaction(SIGSEGV, &before, &now), 0);
	assert_ptr_equal(now.sa_sigaction, repair_page);
	munmap(protected_page, PAGE);
}

static volatile sig_atomic_t plain_calls;

static void count_plain(int signo)
{
	plain_calls += signo == SIGFPE;
}

static void previous_handler_without_siginfo_is_called_too(void **state)
{
	struct sigaction act = { .sa_handler = count_plain }, before;

	(void)state;
	plain_calls = 0;
	assert_int_equal(sigaction(SIGFPE, &act, &before), 0);
	assert_int_equal(guard_process_init(), 0);
	raise(SIGFPE);
	assert_int_equal(plain_calls, 1);
	guard_process_fini();
	assert_int_equal(sigaction(SIGFPE, &before, NULL), 0);
}

static void ignored_signal_that_was_sent_stays_ignored(void **state)
{
	struct sigaction act = { .sa_handler = SIG_IGN }, before;

	(void)state;
	assert_int_equal(sigaction(SIGFPE, &act, &before), 0);
	assert_int_equal(guard_process_init(), 0);
	assert_int_equal(raise(SIGFPE), 0);
	guard_process_fini();
	assert_int_equal(sigaction(SIGFPE, &before, NULL), 0);
}

static void handlers_stay_until_the_last_user_is_gone(void **state)
{
	struct sigaction before, now;

	(void)state;
	assert_int_equal(sigaction(SIGILL, NULL, &before), 0);
	assert_int_equal(guard_process_init(), 0);
	assert_int_equal(guard_process_init(), 0);
	assert_true(guard_signal() >= SIGRTMIN + 5);
	guard_process_fini();
	assert_int_equal(guard_call(illegal_instruction, NULL, NULL), 1);
	guard_process_fini();
	assert_int_equal(guard_signal(), 0);
	assert_int_equal(sigaction(SIGILL, NULL, &now), 0);
	assert_ptr_equal(now.sa_sigaction, before.sa_sigaction);
	guard_process_fini();
	assert_int_equal(guard_process_init(), 0);
	assert_int_equal(guard_call(illegal_instruction, NULL, NULL), 1);
	guard_process_fini();
}

static void newer_handler_of_somebody_else_is_left_alone(void **state)
{
	struct sigaction act = { .sa_handler = count_plain }, now, before;

	(void)state;
	assert_int_equal(sigaction(SIGFPE, NULL, &before), 0);
	assert_int_equal(guard_process_init(), 0);
	assert_int_equal(sigaction(SIGFPE, &act, NULL), 0);
	guard_process_fini();
	assert_int_equal(sigaction(SIGFPE, &before, &now), 0);
	assert_ptr_equal(now.sa_handler, count_plain);
}

static void private_signal_avoids_those_in_use(void **state)
{
	struct sigaction act = { .sa_handler = count_plain }, dfl = { .sa_handler = SIG_DFL };
	int signo;

	(void)state;
	for (signo = SIGRTMIN + 5; signo < SIGRTMAX; signo++)
		assert_int_equal(sigaction(signo, &act, NULL), 0);
	assert_int_equal(guard_process_init(), 0);
	assert_int_equal(guard_signal(), SIGRTMAX);
	guard_process_fini();
	assert_int_equal(sigaction(SIGRTMAX, &act, NULL), 0);
	assert_int_equal(guard_process_init(), -EBUSY);
	for (signo = SIGRTMIN + 5; signo <= SIGRTMAX; signo++)
		assert_int_equal(sigaction(signo, &dfl, NULL), 0);
}

static void kill_self(void *arg)
{
	kill(getpid(), *(int *)arg);
}

static void default_signals(void)
{
	signal(SIGSEGV, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
}

static int wait_signal(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void fault_outside_a_call_still_kills_by_default(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child) {
		default_signals();
		if (!guard_process_init())
			store_to(NULL);
		_exit(0);
	}
	assert_int_equal(wait_signal(child), SIGSEGV);
}

static void signal_from_outside_is_no_fault_of_the_call(void **state)
{
	int signo = SIGABRT;
	pid_t child = fork();

	(void)state;
	if (!child) {
		default_signals();
		if (!guard_process_init())
			guard_call(kill_self, &signo, NULL);
		_exit(0);
	}
	assert_int_equal(wait_signal(child), SIGABRT);
}

static void abort_outside_a_call_still_kills(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child) {
		default_signals();
		if (!guard_process_init() && guard_call(call_abort, NULL, NULL) == 1)
			abort();
		_exit(0);
	}
	assert_int_equal(wait_signal(child), SIGABRT);
}

/* Seam: the alternate stack cannot be made. Sanitizers come here too, before they are ready. */
static int sigaltstack_calls_until_failure = -1;

NO_SANITIZE int sigaltstack(const stack_t *stack, stack_t *before)
{
	if (sigaltstack_calls_until_failure >= 0 && sigaltstack_calls_until_failure-- == 0) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_sigaltstack, stack, before);
}

static void *init_thread_with_failures(void *arg)
{
	stack_t none = { .ss_flags = SS_DISABLE }, before;
	int *results = arg;

	sigaltstack(&none, &before);
	sigaltstack_calls_until_failure = 0;
	results[0] = guard_thread_init();
	sigaltstack_calls_until_failure = 1;
	results[1] = guard_call(set_flag, &results[4], NULL);
	sigaltstack_calls_until_failure = -1;
	results[2] = guard_thread_init();
	results[3] = guard_thread_init();
	return guard_self();
}

static void thread_without_alternate_stack_is_refused_and_can_retry(void **state)
{
	int results[5] = { 0 };
	pthread_t thread;
	void *self;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, init_thread_with_failures, results), 0);
	pthread_join(thread, &self);
	assert_int_equal(results[0], -ENOMEM);
	assert_int_equal(results[1], -ENOMEM);
	assert_int_equal(results[2], 0);
	assert_int_equal(results[3], 0);
	assert_int_equal(results[4], 0);
	assert_non_null(self);
}

static void *use_small_alternate_stack(void *arg)
{
	static char small[8192];
	stack_t stack = { .ss_sp = small, .ss_size = sizeof(small) }, now;

	sigaltstack(&stack, NULL);
	if (guard_thread_init() || sigaltstack(NULL, &now) || now.ss_sp == small)
		return NULL;
	return arg;
}

static void *use_large_alternate_stack(void *arg)
{
	static char large[1 << 17];
	stack_t stack = {.ss_sp = large, .ss_size = sizeof(large)}, none = {.ss_flags = SS_DISABLE},
		now;
	struct guard_fault fault;

	sigaltstack(&stack, NULL);
	if (guard_thread_init() || sigaltstack(NULL, &now) || now.ss_sp != large)
		arg = NULL;
	if (guard_call(store_to, NULL, &fault) != 1)
		arg = NULL;
	sigaltstack(&none, NULL);
	return arg;
}

static void alternate_stack_of_the_thread_is_kept_if_large_enough(void **state)
{
	pthread_t thread;
	void *result;

	/* a sanitizer's own stack would be lost, and unmapped by it at the end of the thread */
	if (SANITIZE_ADDRESS)
		skip();
	assert_int_equal(guard_process_init(), 0);
	assert_int_equal(pthread_create(&thread, NULL, use_small_alternate_stack, state), 0);
	pthread_join(thread, &result);
	assert_ptr_equal(result, state);
	assert_int_equal(pthread_create(&thread, NULL, use_large_alternate_stack, state), 0);
	pthread_join(thread, &result);
	assert_ptr_equal(result, state);
	guard_process_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		guard_test(returning_call_gives_zero),
		guard_test(store_to_unmapped_address_is_reported_with_the_address),
		guard_test(page_beyond_the_end_of_a_file_is_a_bus_error),
		guard_test(division_by_zero_and_illegal_instructions_are_caught),
		guard_test(abort_is_caught_again_and_again_and_on_other_threads),
		guard_test(stack_overflow_of_a_thread_is_caught),
		guard_test(stack_overflow_of_a_fiber_hits_its_guard_page),
		guard_test(nested_calls_end_one_by_one),
		guard_test(signals_that_a_thread_raises_itself_are_caught),
		guard_test(ended_call_leaves_float_state_and_direction_as_they_were),
		guard_test(stack_of_an_abandoned_call_can_be_used_again),
		guard_test(many_abandoned_calls_exhaust_nothing),
		guard_test(exceptions_do_not_pass_a_guarded_call),
		guard_test(thread_without_alternate_stack_is_refused_and_can_retry),
		cmocka_unit_test(alternate_stack_of_the_thread_is_kept_if_large_enough),
		cmocka_unit_test(faults_outside_calls_and_in_held_ones_go_to_the_previous_handler),
		cmocka_unit_test(previous_handler_without_siginfo_is_called_too),
		cmocka_unit_test(ignored_signal_that_was_sent_stays_ignored),
		cmocka_unit_test(handlers_stay_until_the_last_user_is_gone),
		cmocka_unit_test(newer_handler_of_somebody_else_is_left_alone),
		cmocka_unit_test(private_signal_avoids_those_in_use),
		cmocka_unit_test(fault_outside_a_call_still_kills_by_default),
		cmocka_unit_test(signal_from_outside_is_no_fault_of_the_call),
		cmocka_unit_test(abort_outside_a_call_still_kills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
