/* SPDX-License-Identifier: MIT */
/*
 * Fibers: stacks that one thread leaves and the same or another thread enters later.
 *
 * fiber_switch() is the only switch point. It saves what the C calling convention calls
 * callee-saved and nothing else: the signal mask stays with the thread, and so do the floating
 * point control words (mxcsr and the x87 control word, FPCR on aarch64), because no code that parks
 * may have changed them.
 *
 * Thread-local storage does not move with a fiber. After fiber_switch() returns, the caller may be
 * on another OS thread, while compilers keep addresses of thread-local objects in registers across
 * calls. So nothing that is thread-local may be held over a switch: no &errno, no pointer to a
 * _Thread_local object, no pthread_self(), no mutex, no C++ exception being handled. Read
 * thread-local objects through a function that is not inlined, and call it again after every
 * switch.
 *
 * Every fiber has its own mapping: guard pages, above them the stack, lazily committed, and at the
 * top the struct itself. An OS thread must end on its own native stack.
 *
 * AddressSanitizer and ThreadSanitizer are told of every switch when the library is built with
 * them.
 */
#ifndef SIMPLER_BASE_FIBER_H
#define SIMPLER_BASE_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FIBER_STACK_MIN	((size_t)32 << 10)

/*
 * All fields are private to fiber.c; the struct is complete only so that a thread's own can be
 * embedded.
 */
struct fiber {
	void *sp; /* saved stack pointer; must stay first, the assembler uses it */
	void (*entry)(void *arg);
	void *arg;
	struct fiber *next;		/* in a fiber_pool */
	char *map; /* lowest byte: the guard pages; NULL for a thread's own stack */
	size_t map_bytes;
	const void *stack_low; /* bounds of the usable stack, as the sanitizers want them */
	size_t stack_bytes;
	struct fiber *came_from; /* who switched here last: its bounds are learnt on arrival */
	void *asan_fake_stack;
	void *tsan_fiber;
	unsigned int valgrind_stack;	/* number of the stack at valgrind, if that is known */
};

/* Stands for the native stack of an OS thread. */
struct fiber_thread {
	struct fiber fiber;
};

/**
 * fiber_create() - make a fiber that runs entry(arg) when it is first switched to
 * @stack_bytes: usable stack, rounded up to whole pages and to at least FIBER_STACK_MIN
 * @entry: must never return (the process is aborted with a message if it does)
 * @arg: passed to @entry
 *
 * Context: any thread; takes no lock, makes two or three system calls.
 * Return: the fiber, or NULL with errno ENOMEM.
 */
struct fiber *fiber_create(size_t stack_bytes, void (*entry)(void *arg), void *arg);

/**
 * fiber_reset() - let a fiber that is not running start anew on the stack it has
 *
 * What was on the stack is abandoned: nothing is unwound, no destructor runs.
 */
void fiber_reset(struct fiber *f, void (*entry)(void *arg), void *arg);

/**
 * fiber_destroy() - unmap a fiber that is not running; NULL is allowed
 */
void fiber_destroy(struct fiber *f);

/**
 * fiber_thread_init() - make a fiber out of the stack the calling thread is running on
 * @t: caller's storage; must live as long as anybody may switch to it
 *
 * Nothing needs to be released. Return: the fiber in @t.
 */
struct fiber *fiber_thread_init(struct fiber_thread *t);

/**
 * fiber_switch() - leave @from, which is the fiber the caller runs on, and continue @to
 *
 * Returns when somebody switches back to @from, perhaps on another OS thread (see the head comment
 * for what that forbids). Whoever switches to a fiber must have a happens-before edge from the
 * switch that left it: hand fibers over through a lock or a release/acquire pair. fiber_switch()
 * orders nothing by itself.
 */
void fiber_switch(struct fiber *from, struct fiber *to);

/**
 * fiber_guard_hit() - is @addr in the guard pages of @f, that is: was this fault a stack overflow
 *
 * Async-signal-safe. False for a thread's own stack.
 */
bool fiber_guard_hit(const struct fiber *f, const void *addr);

/*
 * A bounded stock of fibers with one stack size. Not thread-safe: one per thread, or under the
 * owner's lock. A fiber may be put into another pool than the one it came from when both have the
 * same stack size.
 */
struct fiber_pool {
	struct fiber *free;
	size_t stack_bytes;
	unsigned int count;		/* fibers in @free */
	unsigned int max;		/* put destroys what would exceed this */
};

/** fiber_pool_init() - empty pool that keeps at most @max idle fibers of @stack_bytes */
void fiber_pool_init(struct fiber_pool *p, size_t stack_bytes, unsigned int max);
/** fiber_pool_get() - a pooled or new fiber, reset to entry(arg). Return: NULL with errno ENOMEM */
struct fiber *fiber_pool_get(struct fiber_pool *p, void (*entry)(void *arg), void *arg);
/** fiber_pool_put() - give back a fiber that is not running; NULL is allowed */
void fiber_pool_put(struct fiber_pool *p, struct fiber *f);
/**
 * fiber_pool_trim() - destroy idle fibers until at most @keep are left (0: also the end of the
 * pool)
 */
void fiber_pool_trim(struct fiber_pool *p, unsigned int keep);

#ifdef __cplusplus
}
#endif
#endif
