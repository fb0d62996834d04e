/* SPDX-License-Identifier: MIT */
/*
 * Wait on a 32-bit word with an absolute deadline. Waiting and waking order nothing: the word
 * itself, an atomic, does.
 */
#ifndef SIMPLER_BASE_FUTEX_H
#define SIMPLER_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Flags; waiter and waker must agree on FUTEX_WORD_SHARED */
#define FUTEX_WORD_SHARED	1u	/* the word is in memory shared with other processes */
#define FUTEX_WAIT_EINTR	2u	/* a signal ends the wait with -EINTR */

/**
 * futex_wait() - sleep while *@word is @expected
 * @deadline_ns: CLOCK_MONOTONIC, CLOCK_NEVER for none
 *
 * Return: 0 woken (perhaps for no reason: check the word), -EAGAIN *@word was not @expected,
 * -ETIMEDOUT, -EINTR only with FUTEX_WAIT_EINTR.
 */
int futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns, unsigned int flags);

/** futex_wake() - wake up to @count waiters (INT_MAX: all). Return: number woken */
int futex_wake(_Atomic uint32_t *word, int count, unsigned int flags);

#endif
