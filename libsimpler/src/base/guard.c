/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/guard_internal.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#if SANITIZE_ADDRESS
#include <sanitizer/asan_interface.h>
#endif

_Unwind_Reason_Code
guard_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
		  struct _Unwind_Exception *exception, struct _Unwind_Context *context)
	__attribute__((visibility("hidden")));

/*
 * No exception passes: the search ends with an error, and the C++ runtime calls std::terminate().
 */
_Unwind_Reason_Code guard_personality(int version, _Unwind_Action actions,
				      _Unwind_Exception_Class class,
				      struct _Unwind_Exception *exception,
				      struct _Unwind_Context *context)
{
	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	return actions & _UA_SEARCH_PHASE ? _URC_FATAL_PHASE1_ERROR : _URC_FATAL_PHASE2_ERROR;
}

/*
 * The chain is read by handlers of the same thread, so each change is one store of top after all
 * else; the fences keep the compiler from reordering around it.
 */
static inline void guard_set_top(struct guard_thread *t, struct guard_frame *top)
{
	/* seq_cst signal fence: pairs with guard_catch() and guard_judge() on this thread */
	atomic_signal_fence(memory_order_seq_cst);
	t->top = top;
	atomic_signal_fence(memory_order_seq_cst);
	/* relaxed: pairs with guard_ticket_active(), a snapshot */
	atomic_store_explicit(&t->active, top ? top->ticket : 0, memory_order_relaxed);
}

#if SANITIZE_THREAD
/*
 * longjmp() (TSan does not see _longjmp) to where we are makes TSan drop the shadow of the frames
 * that were abandoned.
 */
static __attribute__((noinline)) int guard_run(struct guard_frame *frame, void (*fn)(void *arg),
					       void *arg)
{
	if (_setjmp(frame->jmp))
		return 1;
	if (guard_enter(frame, fn, arg))
		longjmp(frame->jmp, 1);
	return 0;
}
#else
static inline int guard_run(struct guard_frame *frame, void (*fn)(void *arg), void *arg)
{
	return guard_enter(frame, fn, arg);
}
#endif

/*
 * The abandoned frames lie between where the call was and its own frame; ASan still has their red
 * zones.
 */
static void guard_forget_stack(const struct guard_frame *frame)
{
#if SANITIZE_ADDRESS
	uintptr_t low = frame->fault.sp & ~(uintptr_t)15;
	uintptr_t high = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15;

	if (low < high && high - low < (uintptr_t)1 << 30)
		__asan_unpoison_memory_region((void *)low, high - low);
	__asan_handle_no_return();
#else
	(void)frame;
#endif
}

static __attribute__((noinline, cold)) void guard_ended(const struct guard_frame *frame,
							struct guard_fault *fault)
{
	guard_forget_stack(frame);
	if (fault)
		*fault = frame->fault;
}

static __attribute__((noinline, cold)) struct guard_thread *guard_first_use(void)
{
	return guard_thread_init() ? NULL : guard_current();
}

int guard_call(void (*fn)(void *arg), void *arg, struct guard_fault *fault)
{
	struct guard_thread *t = guard_current();
	struct guard_frame frame;
	int ended;

	if (__builtin_expect(!t, 0)) {
		t = guard_first_use();
		if (!t)
			return -ENOMEM;
	}
	frame.sp = NULL;
	frame.prev = t->top;
	frame.ticket = ++t->serial;
	frame.held = 0;
	guard_set_top(t, &frame);
	ended = guard_run(&frame, fn, arg);
	guard_set_top(guard_current(), frame.prev);	/* perhaps another thread's than before */
	if (__builtin_expect(ended, 0))
		guard_ended(&frame, fault);
	return ended;
}

uint64_t guard_ticket(void)
{
	struct guard_thread *t = guard_current();

	return t && t->top ? t->top->ticket : 0;
}

struct guard_frame *guard_suspend(void)
{
	struct guard_thread *t = guard_current();
	struct guard_frame *chain = t ? t->top : NULL;

	if (chain)
		guard_set_top(t, NULL);
	return chain;
}

void guard_resume(struct guard_frame *chain)
{
	struct guard_thread *t = guard_current();

	if (!chain)
		return;
	assert(t && !t->top);
	guard_set_top(t, chain);
}

void guard_hold(void)
{
	struct guard_thread *t = guard_current();

	if (t && t->top)
		t->top->held++;
	/* seq_cst signal fence: pairs with guard_armed() and guard_find() on this thread */
	atomic_signal_fence(memory_order_seq_cst);
}

void guard_release(void)
{
	struct guard_thread *t = guard_current();

	/* seq_cst signal fence: pairs with guard_armed() and guard_find() on this thread */
	atomic_signal_fence(memory_order_seq_cst);
	if (!t || !t->top)
		return;
	assert(t->top->held);
	t->top->held--;
}

static int guard_request_locked(struct guard_thread *t, uint64_t ticket, uintptr_t text_lo,
				uintptr_t text_hi, unsigned int flags)
{
	int signo = guard_signal();
	int err;

	if (!signo || !ticket)
		return -EINVAL;
	if (!t->tid)
		return -ESRCH;
	/*
	 * acquire: pairs with the release in guard_private_handler(); it has finished with the
	 * fields
	 */
	if (atomic_load_explicit(&t->outcome, memory_order_acquire) == GUARD_PENDING)
		return -EBUSY;
	t->ticket = ticket;
	t->text_lo = text_lo;
	t->text_hi = text_hi;
	t->flags = flags;
	/* release: pairs with the acquire in guard_private_handler(); the request is complete */
	atomic_store_explicit(&t->outcome, GUARD_PENDING, memory_order_release);
	if (!syscall(SYS_tgkill, getpid(), t->tid, signo))
		return 0;
	err = -errno;
	/*
	 * relaxed: no signal went out, nobody else looks; the lock orders it for the next requester
	 */
	atomic_store_explicit(&t->outcome, GUARD_NONE, memory_order_relaxed);
	return err;
}

int guard_interrupt(struct guard_thread *t, uint64_t ticket, uintptr_t text_lo, uintptr_t text_hi,
		    unsigned int flags)
{
	int err;

	guard_hold();	/* the caller may be in a guarded call itself, and holds the lock now */
	pthread_mutex_lock(&guard_lock);
	err = guard_request_locked(t, ticket, text_lo, text_hi, flags);
	pthread_mutex_unlock(&guard_lock);
	guard_release();
	return err;
}

enum guard_outcome guard_outcome(struct guard_thread *t, uint64_t ticket)
{
	enum guard_outcome outcome = GUARD_NONE;

	guard_hold();
	pthread_mutex_lock(&guard_lock);
	if (t->ticket == ticket)
		/*
		 * acquire: pairs with the release in guard_private_handler(); what it did is done
		 */
		outcome =
			(enum guard_outcome)atomic_load_explicit(&t->outcome, memory_order_acquire);
	pthread_mutex_unlock(&guard_lock);
	guard_release();
	return outcome;
}

uint64_t guard_active(const struct guard_thread *t)
{
	/* relaxed: pairs with guard_set_top(), a snapshot */
	return atomic_load_explicit(&t->active, memory_order_relaxed);
}

bool guard_ticket_active(const struct guard_thread *t, uint64_t ticket)
{
	/* relaxed: pairs with guard_set_top(); a snapshot that orders nothing */
	return ticket && atomic_load_explicit(&t->active, memory_order_relaxed) == ticket;
}
