// SPDX-License-Identifier: MIT
#include "base/lock.h"

#include <limits.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/futex.h"

#define SPINS	100	/* about the length of a critical section of the scheduler */

void lock_take_slow(struct lock *l)
{
	for (int i = 0; i < SPINS; i++) {
		uint32_t free = 0;

		/* acquire: pairs with the release in lock_give(); the look before it orders nothing */
		if (atomic_load_explicit(&l->state, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong_explicit(&l->state, &free, 1, memory_order_acquire,
							    memory_order_relaxed))
			return;
		cpu_relax();
	}
	/* acquire: as above; 2 makes the holder wake us */
	while (atomic_exchange_explicit(&l->state, 2, memory_order_acquire))
		futex_wait(&l->state, 2, CLOCK_NEVER, 0);
}

void lock_give_slow(struct lock *l)
{
	futex_wake(&l->state, 1, 0);
}

void event_post(struct event *e)
{
	/* relaxed: the lock orders what the event is about */
	atomic_fetch_add_explicit(&e->count, 1, memory_order_relaxed);
	futex_wake(&e->count, INT_MAX, 0);
}

void event_wait(struct event *e, struct lock *l, uint64_t deadline_ns)
{
	/* relaxed: read under the lock, so no post between this and the sleep is missed */
	uint32_t seen = atomic_load_explicit(&e->count, memory_order_relaxed);

	lock_give(l);
	futex_wait(&e->count, seen, deadline_ns, 0);
	lock_take(l);
}
