// SPDX-License-Identifier: MIT
/* User-mode streams of the library: submitting is storing to memory. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "rts/rts.h"

#define SUBMISSIONS	10000u
#define WARM_UP		100u
#define DEPTH		32u

static int teardown(void **state)
{
	(void)state;
	guest_unmap_all();
	guest_await_counter(0, "contexts", 0);
	return 0;
}

/* A stream of the library on a context of its own. */
struct user {
	struct simpler_device *device;
	struct simpler_context *context;
	struct simpler_stream *stream;
};

static struct user open_user(void)
{
	struct user u;

	assert_int_equal(rts_device_open(&rts_accel, rts_platform_find("a2a3"), 0, &u.device), 0);
	assert_int_equal(simpler_context_create(u.device, &u.context), 0);
	assert_int_equal(simpler_stream_create(u.context, &u.stream), 0);
	return u;
}

static void close_user(struct user *u)
{
	assert_int_equal(simpler_stream_destroy(u->stream), 0);
	assert_int_equal(simpler_context_destroy(u->context), 0);
	assert_int_equal(simpler_device_close(u->device), 0);
}

/* Each of them has a doorbell of its own, and at most DEPTH are under way. */
static void submit(struct simpler_stream *s, uint32_t count, uint64_t *seqno)
{
	const struct simpler_hw_cmd nop = { .opcode = SIMPLER_HW_OP_NOP };

	for (uint32_t i = 0; i < count; i++) {
		while (rts_stream_completed(s) + DEPTH < *seqno)
			__builtin_ia32_pause();
		assert_int_equal(rts_stream_queue(s, &nop, seqno), 0);
		rts_stream_doorbell(s);
	}
}

static void stop_here(void)
{
	syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
}

/* The first section shows that the tracer counts right. */
static int submit_between_stops(void *arg)
{
	struct rts_wait wait = { .deadline_ns = guest_deadline() };
	struct user u = open_user();
	uint64_t seqno = 0;

	(void)arg;
	submit(u.stream, WARM_UP, &seqno);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	stop_here();
	for (int i = 0; i < 3; i++)
		getppid();
	stop_here();
	submit(u.stream, SUBMISSIONS, &seqno);
	stop_here();
	assert_int_equal(seqno, WARM_UP + SUBMISSIONS);
	assert_int_equal(rts_stream_wait(u.stream, seqno, &wait), 0);
	close_user(&u);
	return 0;
}

static int next_stop(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status))
		fail_msg("the child ended with status %#x", status);
	return WSTOPSIG(status);
}

/* System calls of the child from one stop_here() to the next, without those of stop_here(). */
static uint32_t calls_until_stop(pid_t pid)
{
	uint32_t stops = 0;
	int signo;

	for (;;) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		signo = next_stop(pid);
		if (signo == SIGSTOP)
			break;
		assert_int_equal(signo, SIGTRAP | 0x80);
		stops++;
	}
	/* on the way in and on the way out: getpid(), gettid(), tgkill() */
	return stops / 2 - 3;
}

static void submitting_makes_no_system_call(void **state)
{
	pid_t pid = guest_fork(submit_between_stops, NULL);
	uint32_t calls;

	(void)state;
	assert_int_equal(next_stop(pid), SIGSTOP);
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD), 0);
	assert_int_equal(calls_until_stop(pid), 3);
	calls = calls_until_stop(pid);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	assert_int_equal(guest_reap(pid), 0);
	print_message("note %u system calls in %u submissions\n", calls, SUBMISSIONS);
	assert_int_equal(calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(submitting_makes_no_system_call, teardown),
	};

	return cmocka_run_group_tests_name("user_stream", tests, NULL, NULL);
}
