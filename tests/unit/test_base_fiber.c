/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>

#include "base/fiber.h"
#include "base/sanitize.h"

#define STACK	((size_t)64 << 10)

/* The seam: the guard page cannot be made. */
static bool mprotect_fails;

NO_SANITIZE int mprotect(void *addr, size_t len, int prot)
{
	if (mprotect_fails) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_mprotect, addr, len, prot);
}

struct pair {
	struct fiber_thread thread;
	struct fiber *home;
	struct fiber *fiber;
	int calls;
	double sum;
	size_t frames;
	uintptr_t last_pc;
	_Unwind_Reason_Code unwind;
};

static void pair_init(struct pair *p, void (*entry)(void *))
{
	memset(p, 0, sizeof(*p));
	p->home = fiber_thread_init(&p->thread);
	p->fiber = fiber_create(STACK, entry, p);
	assert_non_null(p->fiber);
}

static void pair_enter(struct pair *p)
{
	fiber_switch(p->home, p->fiber);
}

static void count_for_ever(void *arg)
{
	struct pair *p = arg;
	double local = 0.5;
	int turn;

	for (turn = 1;; turn++) {
		local += turn;
		p->calls = turn;
		p->sum = local;
		fiber_switch(p->fiber, p->home);
	}
}

static void fiber_keeps_its_locals_over_switches(void **state)
{
	struct pair p;
	int i;

	(void)state;
	pair_init(&p, count_for_ever);
	for (i = 0; i < 100; i++)
		pair_enter(&p);
	assert_int_equal(p.calls, 100);
	assert_true(p.sum == 0.5 + 5050);
	fiber_destroy(p.fiber);
}

static void add_ten(void *arg)
{
	struct pair *p = arg;

	for (;;) {
		p->calls += 10;
		fiber_switch(p->fiber, p->home);
	}
}

static void reset_fiber_starts_anew_with_another_entry(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, count_for_ever);
	pair_enter(&p);
	pair_enter(&p);
	fiber_reset(p.fiber, add_ten, &p);
	pair_enter(&p);
	assert_int_equal(p.calls, 12);
	fiber_reset(p.fiber, count_for_ever, &p);
	pair_enter(&p);
	assert_int_equal(p.calls, 1);
	fiber_destroy(p.fiber);
}

/* A frame full of red zones is abandoned; the next user of the stack must not trip over them. */
static void __attribute__((noinline)) fill(volatile char *buf, size_t n, struct pair *p)
{
	size_t i;

	for (i = 0; i < n; i++)
		buf[i] = (char)i;
	if (p)
		fiber_switch(p->fiber, p->home);
}

static void park_with_arrays(void *arg)
{
	char a[100], b[200], c[300];

	fill(a, sizeof(a), NULL);
	fill(b, sizeof(b), NULL);
	fill(c, sizeof(c), arg);
}

static void park_with_one_large_array(void *arg)
{
	char all[8192];

	fill(all, sizeof(all), arg);
}

static void abandoned_frames_do_not_disturb_the_next_ones(void **state)
{
	struct pair p;
	int i;

	(void)state;
	pair_init(&p, park_with_arrays);
	for (i = 0; i < 20; i++) {
		pair_enter(&p);
		fiber_reset(p.fiber, i % 2 ? park_with_arrays : park_with_one_large_array, &p);
	}
	fiber_destroy(p.fiber);
	pair_init(&p, park_with_one_large_array);	/* most likely at the same address */
	pair_enter(&p);
	fiber_destroy(p.fiber);
}

static void switch_to_itself_continues(void **state)
{
	struct fiber_thread t;
	struct fiber *self = fiber_thread_init(&t);

	(void)state;
	fiber_switch(self, self);
	assert_false(fiber_guard_hit(self, &t));
}

static _Thread_local int thread_number;

static __attribute__((noinline)) int current_thread_number(void)
{
	__asm__ volatile("" ::: "memory");
	return thread_number;
}

struct migration {
	struct fiber *fiber;
	struct fiber *home;		/* of the thread the fiber is on */
	sem_t turn[2];
	int seen[100];
	int count;
};

static void note_threads(void *arg)
{
	struct migration *m = arg;

	for (;;) {
		m->seen[m->count++] = current_thread_number();
		fiber_switch(m->fiber, m->home);
	}
}

static void migrate_half(struct migration *m, int number)
{
	struct fiber_thread t;
	struct fiber *home = fiber_thread_init(&t);
	int i;

	thread_number = number;
	for (i = 0; i < 50; i++) {
		sem_wait(&m->turn[number]);
		m->home = home;
		fiber_switch(home, m->fiber);
		assert_int_equal(current_thread_number(), number);
		sem_post(&m->turn[!number]);
	}
}

static void *migrate_other(void *arg)
{
	migrate_half(arg, 1);
	return NULL;
}

static void fiber_runs_on_two_threads_in_turn(void **state)
{
	struct migration m = { 0 };
	pthread_t other;
	int i;

	(void)state;
	sem_init(&m.turn[0], 0, 1);
	sem_init(&m.turn[1], 0, 0);
	m.fiber = fiber_create(STACK, note_threads, &m);
	assert_non_null(m.fiber);
	assert_int_equal(pthread_create(&other, NULL, migrate_other, &m), 0);
	migrate_half(&m, 0);
	pthread_join(other, NULL);
	assert_int_equal(m.count, 100);
	for (i = 0; i < 100; i++)
		assert_int_equal(m.seen[i], i % 2);
	fiber_destroy(m.fiber);
	sem_destroy(&m.turn[0]);
	sem_destroy(&m.turn[1]);
}

static void impossible_stack_size_gives_enomem(void **state)
{
	(void)state;
	errno = 0;
	assert_null(fiber_create(SIZE_MAX, add_ten, NULL));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(fiber_create(SIZE_MAX / 4, add_ten, NULL));
	assert_int_equal(errno, ENOMEM);
}

static size_t count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	size_t lines = 0;
	int c;

	assert_non_null(maps);
	while ((c = fgetc(maps)) != EOF)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

static size_t resident_pages(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	size_t total, resident;

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%zu %zu", &total, &resident), 2);
	fclose(statm);
	return resident;
}

static void failing_guard_page_gives_enomem_and_leaves_no_mapping(void **state)
{
	size_t before;
	int i;

	(void)state;
	before = count_mappings();
	for (i = 0; i < 50; i++) {
		mprotect_fails = true;
		errno = 0;
		assert_null(fiber_create(STACK, add_ten, NULL));
		mprotect_fails = false;
		assert_int_equal(errno, ENOMEM);
	}
	assert_in_range(count_mappings(), 1, before + 3);
}

static void create_and_destroy(int times)
{
	struct pair p;

	while (times-- > 0) {
		pair_init(&p, add_ten);
		pair_enter(&p);
		fiber_destroy(p.fiber);
	}
}

static void ten_thousand_fibers_leave_mappings_and_memory_flat(void **state)
{
	size_t maps, pages;

	(void)state;
	create_and_destroy(200);
	maps = count_mappings();
	pages = resident_pages();
	/* TSan resets the shadow of each mapping, which takes milliseconds; 1000 leaks show as well */
	create_and_destroy(SANITIZE_THREAD ? 1000 : 10000);
	assert_in_range(count_mappings(), 1, maps + 100);
	/*
	 * a leak of one page per fiber would be 10000 pages; the sanitizers' own bookkeeping is not
	 * ours
	 */
	if (!SANITIZE_ADDRESS && !SANITIZE_THREAD)
		assert_in_range(resident_pages(), 1, pages + 256);
}

static void guard_page_is_recognised_below_the_stack_only(void **state)
{
	struct fiber *f = fiber_create(1, add_ten, NULL);
	char *low;

	(void)state;
	assert_non_null(f);
	low = (char *)f->stack_low;
	assert_true(fiber_guard_hit(f, low - 1));
	assert_true(fiber_guard_hit(f, f->map));
	assert_false(fiber_guard_hit(f, low));
	assert_false(fiber_guard_hit(f, f->map - 1));
	assert_true(f->stack_bytes >= FIBER_STACK_MIN);
	fiber_destroy(f);
	fiber_destroy(NULL);
}

static void return_at_once(void *arg)
{
	(void)arg;
}

static void child_returns_from_entry(int err)
{
	struct pair p;

	dup2(err, STDERR_FILENO);
	signal(SIGABRT, SIG_DFL);
	p.home = fiber_thread_init(&p.thread);
	p.fiber = fiber_create(STACK, return_at_once, NULL);
	fiber_switch(p.home, p.fiber);
	_exit(0);
}

static void returning_entry_aborts_with_a_message(void **state)
{
	char text[200] = "";
	int fds[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (!child)
		child_returns_from_entry(fds[1]);
	close(fds[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "entry function returned"));
	close(fds[0]);
}

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *arg)
{
	struct pair *p = arg;

	if (_Unwind_GetIP(context))	/* 0: the undefined return address of the base itself */
		p->last_pc = _Unwind_GetIP(context);
	return ++p->frames > 50 ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

static void take_backtrace(void *arg)
{
	struct pair *p = arg;

	p->unwind = _Unwind_Backtrace(note_frame, p);
	fiber_switch(p->fiber, p->home);
}

void fiber_base(void);

static void backtrace_ends_at_the_base_of_the_fiber(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, take_backtrace);
	pair_enter(&p);
	assert_int_equal(p.unwind, _URC_END_OF_STACK);
	assert_in_range(p.frames, 2, 8);
	assert_in_range(p.last_pc, (uintptr_t)fiber_base, (uintptr_t)fiber_base + 32);
	fiber_destroy(p.fiber);
}

static void pool_reuses_up_to_its_bound_and_trims(void **state)
{
	struct fiber_pool pool;
	struct fiber *f[3];
	struct pair p;
	int i;

	(void)state;
	fiber_pool_init(&pool, STACK, 2);
	for (i = 0; i < 3; i++) {
		f[i] = fiber_pool_get(&pool, add_ten, NULL);
		assert_non_null(f[i]);
	}
	for (i = 0; i < 3; i++)
		fiber_pool_put(&pool, f[i]);
	fiber_pool_put(&pool, NULL);
	assert_int_equal(pool.count, 2);
	memset(&p, 0, sizeof(p));
	p.home = fiber_thread_init(&p.thread);
	p.fiber = fiber_pool_get(&pool, count_for_ever, &p);
	assert_ptr_equal(p.fiber, f[1]);
	assert_int_equal(pool.count, 1);
	pair_enter(&p);
	assert_int_equal(p.calls, 1);
	fiber_pool_put(&pool, p.fiber);
	fiber_pool_trim(&pool, 1);
	assert_int_equal(pool.count, 1);
	fiber_pool_trim(&pool, 0);
	assert_int_equal(pool.count, 0);
	assert_null(pool.free);
}

static void pool_reports_that_memory_is_short(void **state)
{
	struct fiber_pool pool;

	(void)state;
	fiber_pool_init(&pool, SIZE_MAX / 4, 2);
	errno = 0;
	assert_null(fiber_pool_get(&pool, add_ten, NULL));
	assert_int_equal(errno, ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fiber_keeps_its_locals_over_switches),
		cmocka_unit_test(reset_fiber_starts_anew_with_another_entry),
		cmocka_unit_test(abandoned_frames_do_not_disturb_the_next_ones),
		cmocka_unit_test(switch_to_itself_continues),
		cmocka_unit_test(fiber_runs_on_two_threads_in_turn),
		cmocka_unit_test(impossible_stack_size_gives_enomem),
		cmocka_unit_test(failing_guard_page_gives_enomem_and_leaves_no_mapping),
		cmocka_unit_test(ten_thousand_fibers_leave_mappings_and_memory_flat),
		cmocka_unit_test(guard_page_is_recognised_below_the_stack_only),
		cmocka_unit_test(returning_entry_aborts_with_a_message),
		cmocka_unit_test(backtrace_ends_at_the_base_of_the_fiber),
		cmocka_unit_test(pool_reuses_up_to_its_bound_and_trims),
		cmocka_unit_test(pool_reports_that_memory_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
