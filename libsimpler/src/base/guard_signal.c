/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/guard_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define PRIVATE_FIRST	(SIGRTMIN + 5)

static const int guard_faults[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
#ifdef __aarch64__
	SIGTRAP,
#endif
};

#define FAULTS	(sizeof(guard_faults) / sizeof(guard_faults[0]))

static struct sigaction guard_before[FAULTS];	/* what the faults went to; stable once installed */
static _Atomic int guard_private;		/* the private signal; stays set for stragglers */
static unsigned int guard_users;		/* guard_lock */

_Static_assert(offsetof(struct guard_frame, sp) == 0,
	       "the assembler expects the save area's address first");

#if defined(__x86_64__)
#define FLAG_DIRECTION	0x400
#define FLAG_ALIGN	0x40000

static NO_SANITIZE uintptr_t context_pc(const ucontext_t *uc)
{
	return (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
}

static NO_SANITIZE uintptr_t context_sp(const ucontext_t *uc)
{
	return (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
}

/*
 * The calling convention promises a forward direction; the ended call may have left it otherwise.
 */
static NO_SANITIZE void context_resume_at(ucontext_t *uc, const void *pc, void *sp)
{
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)pc;
	uc->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)sp;
	uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)(FLAG_DIRECTION | FLAG_ALIGN);
}
#elif defined(__aarch64__)
#define PSTATE_BTYPE	UINT64_C(0xc00)

static NO_SANITIZE uintptr_t context_pc(const ucontext_t *uc)
{
	return uc->uc_mcontext.pc;
}

static NO_SANITIZE uintptr_t context_sp(const ucontext_t *uc)
{
	return uc->uc_mcontext.sp;
}

static NO_SANITIZE void context_resume_at(ucontext_t *uc, const void *pc, void *sp)
{
	uc->uc_mcontext.pc = (uintptr_t)pc;
	uc->uc_mcontext.sp = (uintptr_t)sp;
	uc->uc_mcontext.pstate &= ~PSTATE_BTYPE;
}
#endif

NO_SANITIZE int guard_signal(void)
{
	/* relaxed: pairs with the store in guard_private_install(); a number that orders nothing */
	return atomic_load_explicit(&guard_private, memory_order_relaxed);
}

/*
 * Was the interrupted code itself a signal handler on the alternate stack? It cannot be abandoned:
 * the signals it blocked would stay blocked.
 */
static NO_SANITIZE bool context_in_handler(const ucontext_t *uc)
{
	uintptr_t low = (uintptr_t)uc->uc_stack.ss_sp;
	uintptr_t sp = context_sp(uc);

	return !(uc->uc_stack.ss_flags & SS_DISABLE) && sp > low &&
	       sp <= low + uc->uc_stack.ss_size;
}

/* Let the interrupted thread continue at the end of call @f. */
static NO_SANITIZE void guard_end(struct guard_thread *t, struct guard_frame *f, ucontext_t *uc,
				  int signo, int code, uintptr_t addr)
{
	f->fault.signo = signo;
	f->fault.code = code;
	f->fault.addr = addr;
	f->fault.pc = context_pc(uc);
	f->fault.sp = context_sp(uc);
	context_resume_at(uc, guard_exit, f->sp);
	f->sp = NULL;
	t->top = f;
}

/* The innermost armed call, if it may be abandoned. */
static NO_SANITIZE struct guard_frame *guard_armed(struct guard_thread *t)
{
	struct guard_frame *f = t->top;

	while (f && !f->sp && !f->held)
		f = f->prev;
	return f && !f->held ? f : NULL;
}

/*
 * From the CPU, or raised by this process (raise(), abort()); a signal somebody else sent is not a
 * fault.
 */
static NO_SANITIZE bool guard_is_fault(const siginfo_t *info)
{
	return info->si_code > 0 || (info->si_code == SI_TKILL && info->si_pid == getpid());
}

static NO_SANITIZE bool guard_catch(int signo, const siginfo_t *info, ucontext_t *uc)
{
	struct guard_thread *t = guard_current();
	struct guard_frame *f = t ? guard_armed(t) : NULL;
	uintptr_t addr = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;

	if (!f || !guard_is_fault(info) || context_in_handler(uc))
		return false;
	guard_end(t, f, uc, signo, info->si_code, addr);
	return true;
}

/* A fault happens again when the handler returns; a signal that was sent has to be sent again. */
static void guard_default(int signo, const siginfo_t *info)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };

	sigaction(signo, &dfl, NULL);
	if (info->si_code <= 0)
		syscall(SYS_tgkill, getpid(), gettid(), signo);
}

static void guard_chain(int signo, siginfo_t *info, void *context)
{
	const struct sigaction *before = NULL;
	sigset_t mask;
	size_t i;

	for (i = 0; i < FAULTS; i++)
		if (guard_faults[i] == signo)
			before = &guard_before[i];
	if (before->sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN) {
		guard_default(signo, info);
		return;
	}
	pthread_sigmask(SIG_BLOCK, &before->sa_mask, &mask);
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(signo, info, context);
	else
		before->sa_handler(signo);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void guard_fault_handler(int signo, siginfo_t *info, void *context)
{
	if (!guard_catch(signo, info, context))
		guard_chain(signo, info, context);
}

/* The call the request is for, unless there is a held one at or above it. */
static NO_SANITIZE enum guard_outcome guard_find(struct guard_thread *t, struct guard_frame **found)
{
	enum guard_outcome outcome = GUARD_ENDED;
	struct guard_frame *f;

	for (f = t->top; f; f = f->prev) {
		if (f->held)
			outcome = GUARD_OUTSIDE;
		if (f->ticket == t->ticket)
			break;
	}
	*found = f;
	if (!f)
		return GUARD_GONE;
	return f->sp ? outcome : GUARD_OUTSIDE;
}

static NO_SANITIZE enum guard_outcome guard_judge(struct guard_thread *t, ucontext_t *uc)
{
	uintptr_t pc = context_pc(uc);
	enum guard_outcome outcome;
	struct guard_frame *f;

	outcome = guard_find(t, &f);
	if (outcome != GUARD_ENDED)
		return outcome;
	if (context_in_handler(uc))
		return GUARD_OUTSIDE;
	if (!(t->flags & GUARD_FORCE) && (pc < t->text_lo || pc >= t->text_hi))
		return GUARD_OUTSIDE;
	guard_end(t, f, uc, guard_signal(), GUARD_CODE_INTERRUPT, 0);
	return GUARD_ENDED;
}

/* A signal without a pending request (somebody else's, or a straggler) is dropped. */
static NO_SANITIZE void guard_private_handler(int signo, siginfo_t *info, void *context)
{
	struct guard_thread *t = guard_current();

	(void)signo;
	if (!t || info->si_code != SI_TKILL)
		return;
	/*
	 * acquire: pairs with the release in guard_request_locked(); the fields of the request are
	 * visible
	 */
	if (atomic_load_explicit(&t->outcome, memory_order_acquire) != GUARD_PENDING)
		return;
	/*
	 * release: pairs with the acquire in guard_request_locked(); the fields may be overwritten
	 * from here on
	 */
	atomic_store_explicit(&t->outcome, guard_judge(t, context), memory_order_release);
}

/*
 * ThreadSanitizer delays asynchronous signals until the thread enters one of its interceptors,
 * which a thread in an endless loop never does. So in its builds the private signal is installed
 * behind its back, by the sigaction() of libc itself; the handler is not instrumented.
 */
static int guard_private_sigaction(int signo, const struct sigaction *act, struct sigaction *old)
{
#if SANITIZE_THREAD
	int (*real)(int, const struct sigaction *, struct sigaction *) = NULL;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	if (libc) {
		*(void **)&real = dlsym(libc, "sigaction");
		dlclose(libc);
	}
	if (real)
		return real(signo, act, old);
#endif
	return sigaction(signo, act, old);
}

static int guard_private_install(void)
{
	struct sigaction act = { .sa_sigaction = guard_private_handler,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	struct sigaction old;
	int signo;

	sigfillset(&act.sa_mask);
	for (signo = PRIVATE_FIRST; signo <= SIGRTMAX; signo++) {
		if (guard_private_sigaction(signo, NULL, &old) || (old.sa_flags & SA_SIGINFO) ||
		    old.sa_handler != SIG_DFL)
			continue;
		if (guard_private_sigaction(signo, &act, NULL))
			return -errno;
		/* relaxed: pairs with guard_signal() */
		atomic_store_explicit(&guard_private, signo, memory_order_relaxed);
		return 0;
	}
	return -EBUSY;
}

/*
 * Ignoring first throws away signals that are still on their way; the default would end the
 * process.
 */
static void guard_private_remove(void)
{
	struct sigaction act = { .sa_handler = SIG_IGN };
	struct guard_thread *t;
	int pending;

	guard_private_sigaction(guard_signal(), &act, NULL);
	list_for_each_entry(t, &guard_live, link) {
		pending = GUARD_PENDING;
		/*
		 * acq_rel: in place of the verdict of guard_private_handler(); relaxed: failure
		 * needs nothing
		 */
		atomic_compare_exchange_strong_explicit(&t->outcome, &pending, GUARD_NONE,
							memory_order_acq_rel, memory_order_relaxed);
	}
	act.sa_handler = SIG_DFL;
	guard_private_sigaction(guard_signal(), &act, NULL);
	/* relaxed: pairs with guard_signal() */
	atomic_store_explicit(&guard_private, 0, memory_order_relaxed);
}

static void guard_faults_remove(size_t count)
{
	struct sigaction now;

	while (count-- > 0)
		if (!sigaction(guard_faults[count], NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
		    now.sa_sigaction == guard_fault_handler)
			sigaction(guard_faults[count], &guard_before[count], NULL);
}

/* What was there is stored before ours is installed, since a fault may come at any moment. */
static int guard_faults_install(void)
{
	struct sigaction act = {.sa_sigaction = guard_fault_handler,
				.sa_flags = SA_SIGINFO | SA_ONSTACK};
	size_t i;
	int err;

	sigemptyset(&act.sa_mask);
	sigaddset(&act.sa_mask, guard_signal());
	for (i = 0; i < FAULTS; i++) {
		if (sigaction(guard_faults[i], NULL, &guard_before[i]) ||
		    sigaction(guard_faults[i], &act, NULL)) {
			err = -errno;
			guard_faults_remove(i);
			return err;
		}
	}
	return 0;
}

static int guard_install(void)
{
	int err;

	err = guard_private_install();
	if (err)
		return err;
	err = guard_faults_install();
	if (err)
		guard_private_remove();
	return err;
}

int guard_process_init(void)
{
	int err = 0;

	pthread_mutex_lock(&guard_lock);
	if (!guard_users)
		err = guard_install();
	if (!err)
		guard_users++;
	pthread_mutex_unlock(&guard_lock);
	return err;
}

void guard_process_fini(void)
{
	pthread_mutex_lock(&guard_lock);
	if (guard_users && --guard_users == 0) {
		guard_faults_remove(FAULTS);
		guard_private_remove();
	}
	pthread_mutex_unlock(&guard_lock);
}
