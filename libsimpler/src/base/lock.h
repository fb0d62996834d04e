/* SPDX-License-Identifier: MIT */
/*
 * A lock and a condition for code that runs on fibers.
 *
 * A pthread mutex belongs to the thread that took it, and the sanitizers hold
 * callers to that; here a fiber may take the lock and another fiber of the same
 * thread may give it back, and who holds it is the callers' business.  Short
 * critical sections only: a waiter spins a little, then sleeps.
 */
#ifndef SIMPLER_BASE_LOCK_H
#define SIMPLER_BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lock {
	_Atomic uint32_t state;		/* 0 free, 1 taken, 2 taken and somebody sleeps */
};

void lock_take_slow(struct lock *l);
void lock_give_slow(struct lock *l);

static inline void lock_init(struct lock *l)
{
	atomic_init(&l->state, 0);
}

static inline void lock_take(struct lock *l)
{
	uint32_t free = 0;

	/* acquire: pairs with the release in lock_give() */
	if (!atomic_compare_exchange_strong_explicit(&l->state, &free, 1, memory_order_acquire,
						     memory_order_relaxed))
		lock_take_slow(l);
}

static inline void lock_give(struct lock *l)
{
	/* release: pairs with the acquires in lock_take() and lock_take_slow() */
	if (atomic_exchange_explicit(&l->state, 0, memory_order_release) == 2)
		lock_give_slow(l);
}

/* A counter of events; whoever waits for one reads it under the lock it then gives up. */
struct event {
	_Atomic uint32_t count;
};

static inline void event_init(struct event *e)
{
	atomic_init(&e->count, 0);
}

/* Lock held: wakes everybody who waits. */
void event_post(struct event *e);

/*
 * Lock held before and after, given up in between: sleeps until event_post() or
 * @deadline_ns (CLOCK_MONOTONIC).  Returns early for no reason at times.
 */
void event_wait(struct event *e, struct lock *l, uint64_t deadline_ns);

#endif /* SIMPLER_BASE_LOCK_H */
