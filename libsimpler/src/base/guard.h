/* SPDX-License-Identifier: MIT */
/*
 * Guarded calls: foreign code (kernels, orchestration functions) is called so that a crash in it
 * becomes a return value, and so that another thread can end it.
 *
 * Arming costs a few nanoseconds: the assembler stub saves the callee-saved registers on the stack
 * and its stack pointer in a frame that the thread's record points to. A signal handler that
 * decides to end the call rewrites the interrupted context, so that the return from the signal
 * continues at the exit of the stub. Nothing is unwound: destructors of abandoned C++ frames do not
 * run, locks and heap objects they hold are lost.
 *
 * What is caught: SIGSEGV, SIGBUS, SIGFPE, SIGILL (on aarch64 also SIGTRAP, which __builtin_trap()
 * raises there) when the CPU reports them or the thread raises them; abort(), also by an uncaught
 * C++ exception (exceptions do not pass guard_call(); they end in std::terminate()). glibc's
 * abort() releases its lock before it raises SIGABRT (up to 2.40) or raises before it takes the
 * lock (2.41), so a caught abort() leaves nothing behind. Signals that other processes send are
 * never taken for faults. All other faults go to the handler that was installed before.
 *
 * The ladder of use: guard_process_init() once per user of the library, guard_thread_init() on each
 * thread, guard_call() as often as wanted.
 *
 * Fibers: the armed calls of a thread form a chain. A fiber that parks inside a guarded call takes
 * the chain with it by guard_suspend(), and the thread that continues the fiber attaches it by
 * guard_resume().
 *
 * Interrupts: each guarded call has a ticket, unique in the process for ever. guard_interrupt()
 * names thread and ticket, so a late signal can never end another call than the one that was meant.
 */
#ifndef SIMPLER_BASE_GUARD_H
#define SIMPLER_BASE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* si_code in struct guard_fault when guard_interrupt() ended the call. */
#define GUARD_CODE_INTERRUPT	(-1000)

/**
 * struct guard_fault - why a guarded call was ended
 * @signo: the signal; guard_signal() for an interrupt
 * @code: si_code of the signal, or GUARD_CODE_INTERRUPT
 * @addr: faulting address (SIGSEGV, SIGBUS), address of the instruction (SIGFPE, SIGILL), else 0
 * @pc: where the call was when it ended
 * @sp: its stack pointer there
 */
struct guard_fault {
	int signo;
	int code;
	uintptr_t addr;
	uintptr_t pc;
	uintptr_t sp;
};

/* A thread's record, the token for guard_interrupt(). Its memory is never given back. */
struct guard_thread;
struct guard_frame;	/* an armed call, on the stack of guard_call() */

/**
 * guard_process_init() - install the handlers; counted, pair with guard_process_fini()
 *
 * The private signal is the first real-time signal from SIGRTMIN + 5 upwards that nobody handles.
 *
 * Context: any thread.
 * Return: 0, -EBUSY when every real-time signal is in use, or a negative code of sigaction().
 */
int guard_process_init(void);

/**
 * guard_process_fini() - undo one guard_process_init(); no thread may be inside a guarded call at
 * the last one
 *
 * The last one restores the previous handlers where ours are still installed.
 */
void guard_process_fini(void);

/** guard_signal() - number of the private signal, 0 before guard_process_init() */
int guard_signal(void);

/**
 * guard_thread_init() - prepare the calling thread: its record, and an alternate signal stack
 * unless it has one
 *
 * Idempotent and cheap. All is released when the thread ends. The private signal is unblocked.
 * Return: 0 or -ENOMEM.
 */
int guard_thread_init(void);

/**
 * guard_self() - the calling thread's record, NULL before guard_thread_init(). Look it up after
 * each fiber switch.
 */
struct guard_thread *guard_self(void);

/** guard_ticket() - ticket of the innermost guarded call the caller is in, 0 when in none */
uint64_t guard_ticket(void);

/**
 * guard_call() - call fn(arg) so that a fault in it, or guard_interrupt(), only ends the call
 * @fn: may itself use guard_call(), and may switch fibers as described above
 * @arg: passed to @fn
 * @fault: filled when 1 is returned; may be NULL
 *
 * Return: 0 when @fn returned, 1 when it was ended, or -ENOMEM when the thread could not be
 * prepared (then @fn was not called).
 */
int guard_call(void (*fn)(void *arg), void *arg, struct guard_fault *fault);

/**
 * guard_suspend() - detach the chain of armed calls from the calling thread, because the fiber in
 * them parks
 *
 * Call it right before fiber_switch(). Until guard_resume() faults of this thread are not caught.
 * If the fiber is reset or destroyed instead of resumed, its chain is simply forgotten.
 * Return: the chain, NULL when there is none.
 */
struct guard_frame *guard_suspend(void);

/**
 * guard_resume() - attach a chain to the calling thread, which has none
 * @chain: of guard_suspend(); NULL is allowed and does nothing
 *
 * Call it right after fiber_switch() returned. The thread must have called guard_thread_init().
 */
void guard_resume(struct guard_frame *chain);

/*
 * guard_hold(), guard_release() - a section of the runtime inside a guarded call that must not be
 * abandoned (it holds a lock, or moves a queue). Interrupts do not end a held call (outcome
 * GUARD_OUTSIDE), and a fault in it is taken for what it is, a fault of the runtime, and goes to
 * the previous handler. Nests; costs about a nanosecond; nothing happens outside guarded calls.
 * Belongs to the innermost guarded call, so the fiber may move to another thread inside the
 * section.
 */
void guard_hold(void);
void guard_release(void);

enum guard_outcome {
	GUARD_NONE,		/* the last request to this thread was for another ticket */
	GUARD_PENDING, /* the signal has not been handled yet */
	GUARD_ENDED, /* the call was ended by this request */
	GUARD_OUTSIDE, /* the call goes on: it was outside the given text, or held; ask again */
	GUARD_GONE, /* the thread is not in that call: it returned, or parked and moved */
};

/* Flags of guard_interrupt() */
#define GUARD_FORCE	1u	/* end the call wherever it is, unless held; locks may be lost */

/**
 * guard_interrupt() - ask a guarded call of another thread (or of the caller itself) to end
 * @t: guard_self() of the thread the call is on
 * @ticket: guard_ticket() from within the call; an outer call of a nest takes the inner ones with
 *   it
 * @text_lo: the call ends only if it is executing in [@text_lo, @text_hi), a kernel's image;
 * @text_hi: that is where it can hold no lock of a library or of the runtime
 * @flags: 0 or GUARD_FORCE, which ignores the text range
 *
 * Poll guard_outcome(), and repeat the request while that is GUARD_OUTSIDE. A signal that arrives
 * after the call has returned does nothing.
 *
 * In a ThreadSanitizer build GUARD_FORCE must not be used on calls that are inside instrumented
 * code.
 *
 * Context: any thread, not from a signal handler.
 * Return: 0 the signal was sent, -ESRCH the thread has ended, -EBUSY an earlier request to this
 * thread is still pending, -EAGAIN the signal queue is full, -EINVAL no guard_process_init() or a
 * zero ticket.
 */
int guard_interrupt(struct guard_thread *t, uint64_t ticket, uintptr_t text_lo, uintptr_t text_hi,
		    unsigned int flags);

/** guard_outcome() - what became of the last request to @t, if it was for @ticket */
enum guard_outcome guard_outcome(struct guard_thread *t, uint64_t ticket);

/** guard_active() - ticket of the innermost guarded call @t is in right now (a snapshot), 0 none */
uint64_t guard_active(const struct guard_thread *t);

/** guard_ticket_active() - is @ticket the innermost guarded call of @t right now (a snapshot) */
bool guard_ticket_active(const struct guard_thread *t, uint64_t ticket);

#ifdef __cplusplus
}
#endif
#endif
