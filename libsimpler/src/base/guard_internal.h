/* SPDX-License-Identifier: MIT */
/*
 * What the three files of the guard share: guard.c (calls and interrupts), guard_signal.c
 * (handlers), guard_thread.c (a thread's record and alternate stack).
 *
 * Protocol of an interrupt. The requester, under guard_lock, writes the request fields of the
 * target's record, then outcome = GUARD_PENDING (release), then sends the signal. The handler on
 * the target reads outcome (acquire), decides, and writes its verdict to outcome (release), after
 * which the requester may write the fields again. All else in a record is touched by its own thread
 * and that thread's handlers only, except tid and the lists (guard_lock) and active (a snapshot for
 * others).
 */
#ifndef SIMPLER_BASE_GUARD_INTERNAL_H
#define SIMPLER_BASE_GUARD_INTERNAL_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/guard.h"
#include "base/list.h"
#include "base/sanitize.h"

struct guard_frame {
	void *sp; /* save area of guard_enter() while armed, else NULL; must stay first */
	struct guard_frame *prev;
	uint64_t ticket;
	unsigned int held;
	struct guard_fault fault;
#if SANITIZE_THREAD
	jmp_buf jmp;			/* only so that TSan forgets the abandoned frames */
#endif
};

struct guard_thread {
	struct list link; /* in guard_live or guard_idle; first: leak checkers follow it */
	struct guard_frame *top;	/* innermost call */
	uint64_t serial; /* of the last ticket; the upper 16 bits are the record's own */
	_Atomic uint64_t active;	/* ticket of top */

	_Alignas(64) _Atomic int outcome;
	uint64_t ticket;		/* the request */
	uintptr_t text_lo;
	uintptr_t text_hi;
	unsigned int flags;

	pid_t tid;			/* 0: the thread has ended */
	void *stack; /* alternate stack made by us, with its guard page; NULL: the thread's own */
	size_t stack_bytes;
	stack_t stack_before;
};

/* Protects the lists of records, tid, requests, and the installation of handlers. */
extern pthread_mutex_t guard_lock __attribute__((visibility("hidden")));
extern struct list guard_live __attribute__((visibility("hidden")));

/*
 * Of the calling thread, looked up anew at each call: fibers move between threads. NULL before
 * guard_thread_init().
 */
struct guard_thread *guard_current(void) __attribute__((visibility("hidden")));

/* In guard_<processor>.S */
int guard_enter(struct guard_frame *frame, void (*fn)(void *arg), void *arg);
extern const char guard_exit[];

#endif
