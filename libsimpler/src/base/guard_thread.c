/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/guard_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* Room for our handler and for one we chain to, beyond what the kernel stores. */
#define STACK_NEEDED	((size_t)16 << 10)
#define STACK_MADE	((size_t)128 << 10)
#define RECORDS_MAX	0xffff

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;
struct list guard_live = LIST_INIT(guard_live);
static struct list guard_idle = LIST_INIT(guard_idle);
static unsigned int guard_records;

static pthread_once_t guard_once = PTHREAD_ONCE_INIT;
static pthread_key_t guard_key;
static int guard_once_error;

/* initial-exec: the handlers read it, and the general model may allocate at first use. */
static _Thread_local struct guard_thread *guard_tls __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) NO_SANITIZE struct guard_thread *guard_current(void)
{
	__asm__ volatile("" ::: "memory"); /* not pure: a caller must not reuse an earlier result */
	return guard_tls;
}

static size_t guard_stack_minimum(void)
{
	size_t kernel = getauxval(AT_MINSIGSTKSZ);

	return (kernel ? kernel : 4096) + STACK_NEEDED;
}

static int guard_stack_install(struct guard_thread *t)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = STACK_MADE + page;
	stack_t stack = { 0 };
	char *map;

	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (map == MAP_FAILED)
		return -ENOMEM;
	stack.ss_sp = map + page;
	stack.ss_size = STACK_MADE;
	if (mprotect(map, page, PROT_NONE) || sigaltstack(&stack, NULL)) {
		munmap(map, bytes);
		return -ENOMEM;
	}
	t->stack = map;
	t->stack_bytes = bytes;
	return 0;
}

/*
 * An alternate stack that is there and large enough (a sanitizer's, an interpreter's) is used as it
 * is.
 */
static int guard_stack_init(struct guard_thread *t)
{
	t->stack = NULL;
	if (sigaltstack(NULL, &t->stack_before))
		return -ENOMEM;
	if (!(t->stack_before.ss_flags & SS_DISABLE) &&
	    t->stack_before.ss_size >= guard_stack_minimum())
		return 0;
	t->stack_before.ss_flags &= SS_DISABLE;
	return guard_stack_install(t);
}

static void guard_stack_fini(struct guard_thread *t)
{
	stack_t now;

	if (!t->stack)
		return;
	if (!sigaltstack(NULL, &now) && (char *)now.ss_sp > (char *)t->stack &&
	    (char *)now.ss_sp < (char *)t->stack + t->stack_bytes)
		sigaltstack(&t->stack_before, NULL);
	munmap(t->stack, t->stack_bytes);
	t->stack = NULL;
}

/* The record's thread is gone: a request that no handler has answered never will be. */
static void guard_record_retire_locked(struct guard_thread *t)
{
	int pending = GUARD_PENDING;

	t->tid = 0;
	/*
	 * acq_rel: takes the place of the handler's verdict, see guard_answer(); relaxed: failure
	 * needs nothing
	 */
	atomic_compare_exchange_strong_explicit(&t->outcome, &pending, GUARD_GONE,
						memory_order_acq_rel, memory_order_relaxed);
	list_del(&t->link);
	list_add_tail(&guard_idle, &t->link);
}

static void guard_thread_exit(void *arg)
{
	struct guard_thread *t = arg;

	guard_tls = NULL;
	pthread_mutex_lock(&guard_lock);
	guard_stack_fini(t);
	guard_record_retire_locked(t);
	pthread_mutex_unlock(&guard_lock);
}

static void guard_fork_prepare(void)
{
	pthread_mutex_lock(&guard_lock);
}

static void guard_fork_parent(void)
{
	pthread_mutex_unlock(&guard_lock);
}

/* Of all threads only the caller lives on in the child, under another number. */
static void guard_fork_child(void)
{
	struct guard_thread *self = guard_current();
	struct list *pos, *next;
	struct guard_thread *t;

	for (pos = guard_live.next; pos != &guard_live; pos = next) {
		next = pos->next;
		t = list_entry(pos, struct guard_thread, link);
		if (t == self) {
			t->tid = gettid();
			continue;
		}
		if (t->stack)
			munmap(t->stack, t->stack_bytes);
		t->stack = NULL;
		guard_record_retire_locked(t);
	}
	pthread_mutex_unlock(&guard_lock);
}

static void guard_once_init(void)
{
	guard_once_error = pthread_key_create(&guard_key, guard_thread_exit);
	if (!guard_once_error)
		guard_once_error =
			pthread_atfork(guard_fork_prepare, guard_fork_parent, guard_fork_child);
}

static struct guard_thread *guard_record_new_locked(void)
{
	struct guard_thread *t;

	if (guard_records == RECORDS_MAX)
		return NULL;
	t = aligned_alloc(_Alignof(struct guard_thread), sizeof(*t));
	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	list_init(&t->link);
	t->serial = (uint64_t)++guard_records << 48;
	return t;
}

/* A record is used again with its serial going on, so tickets stay unique. */
static struct guard_thread *guard_record_get(void)
{
	struct guard_thread *t;
	struct list *node;

	pthread_mutex_lock(&guard_lock);
	node = list_pop_head(&guard_idle);
	t = node ? list_entry(node, struct guard_thread, link) : guard_record_new_locked();
	if (t) {
		t->tid = gettid();
		t->top = NULL;
		list_add_tail(&guard_live, &t->link);
	}
	pthread_mutex_unlock(&guard_lock);
	return t;
}

static void guard_record_put(struct guard_thread *t)
{
	pthread_mutex_lock(&guard_lock);
	guard_record_retire_locked(t);
	pthread_mutex_unlock(&guard_lock);
}

static void guard_unblock(void)
{
	sigset_t set;

	if (!guard_signal())
		return;
	sigemptyset(&set);
	sigaddset(&set, guard_signal());
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int guard_thread_setup(void)
{
	struct guard_thread *t;

	pthread_once(&guard_once, guard_once_init);
	if (guard_once_error)
		return -ENOMEM;
	t = guard_record_get();
	if (!t)
		return -ENOMEM;
	if (guard_stack_init(t))
		goto put_record;
	if (pthread_setspecific(guard_key, t))
		goto fini_stack;
	guard_tls = t;
	guard_unblock();
	return 0;

fini_stack:
	guard_stack_fini(t);
put_record:
	guard_record_put(t);
	return -ENOMEM;
}

int guard_thread_init(void)
{
	return guard_current() ? 0 : guard_thread_setup();
}

struct guard_thread *guard_self(void)
{
	return guard_current();
}
