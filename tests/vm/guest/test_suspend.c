// SPDX-License-Identifier: MIT
/*
 * Suspend and resume of the driver.  The kernel's test mode suspends all devices and resumes
 * them at once; it waits for some seconds in between unless it is told how many.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"

#define DELAY "/sys/module/suspend/parameters/pm_test_delay"

/* 0 or a negative errno. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static int suspend(void)
{
	return put("/sys/power/state", "freeze");
}

static int group_setup(void **state)
{
	(void)state;
	put(DELAY, "0");
	return put("/sys/power/pm_test", "devices");
}

static int group_teardown(void **state)
{
	(void)state;
	return put("/sys/power/pm_test", "none");
}

static int teardown(void **state)
{
	(void)state;
	guest_unmap_all();
	guest_await_counter(0, "contexts", 0);
	return 0;
}

static void files_and_memory_survive_a_suspend(void **state)
{
	int fd = guest_open(0);
	struct guest_bo device = guest_bo(fd, 1 << 20, 0);
	struct guest_bo host = guest_bo(fd, 1 << 20, DRM_SIMPLER_BO_HOST);
	uint32_t stream = guest_stream(fd), generation = guest_health(fd).generation;
	struct simpler_hw_cmd cmds[] = {
		guest_fill(device.address, device.size, 5),
		guest_copy(host.address, device.address, device.size),
	};
	struct guest_user_stream user;
	uint64_t seqno = 0;

	(void)state;
	assert_int_equal(guest_user_stream(fd, 16, &user), 0);
	assert_int_equal(guest_submit(fd, stream, &cmds[0], 1, &seqno), 0);
	assert_int_equal(guest_wait(fd, stream, seqno), 0);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(suspend(), 0);
		assert_int_equal(guest_context(fd).state, DRM_SIMPLER_CONTEXT_READY);
		assert_int_equal(guest_health(fd).generation, generation);
	}
	assert_int_equal(guest_submit(fd, stream, &cmds[1], 1, &seqno), 0);
	assert_int_equal(guest_wait(fd, stream, seqno), 0);
	assert_int_equal(host.data[host.size / 8 - 1], 5);
	cmds[0].fill.pattern = 6;
	guest_user_push(&user, &cmds[0]);
	guest_user_ring(&user);
	assert_int_equal(guest_wait(fd, user.stream, 1), 0);
	assert_int_equal(device.data[0], 6);
	close(fd);
}

static int work_and_count(void *arg)
{
	_Atomic uint32_t *rounds = arg;
	int fd = guest_open(0);

	for (;;) {
		guest_works(fd);
		++*rounds;
	}
	return 0;
}

static void await_rounds(_Atomic uint32_t *rounds, uint32_t count)
{
	int64_t until = guest_deadline();

	while (*rounds < count) {
		if (guest_deadline() - until > GUEST_WAIT_NS)
			fail_msg("a process is at round %u, not %u", *rounds, count);
		sched_yield();
	}
}

static void a_working_process_goes_on_after_a_suspend(void **state)
{
	_Atomic uint32_t *rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = guest_fork(work_and_count, (void *)rounds);

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		await_rounds(rounds, *rounds + 2);
		assert_int_equal(suspend(), 0);
	}
	await_rounds(rounds, *rounds + 2);
	kill(pid, SIGKILL);
	assert_int_equal(guest_reap(pid), -SIGKILL);
	munmap((void *)rounds, 4096);
}

static void a_job_in_the_middle_goes_on_after_a_suspend(void **state)
{
	int fd = guest_open(0);
	struct guest_bo word = guest_bo(fd, 4096, DRM_SIMPLER_BO_HOST);
	struct simpler_hw_cmd cmd = guest_wait_word(word.address);
	uint32_t stream = guest_stream(fd);
	uint64_t seqno = 0;

	(void)state;
	assert_int_equal(guest_submit(fd, stream, &cmd, 1, &seqno), 0);
	assert_int_equal(suspend(), 0);
	assert_int_equal(guest_state(fd, stream).completed, 0);
	word.data[0] = 1;
	assert_int_equal(guest_wait(fd, stream, seqno), 0);
	assert_int_equal(guest_context(fd).state, DRM_SIMPLER_CONTEXT_READY);
	close(fd);
}

static void a_chip_that_died_during_a_suspend_is_reset(void **state)
{
	int fd = guest_open(0), fresh;
	uint32_t stream = guest_stream(fd), generation = guest_health(fd).generation;
	int64_t until = guest_deadline();

	(void)state;
	assert_int_equal(guest_state(fd, stream).completed, 0);
	guest_control("0 dead");
	suspend();
	while (guest_health(fd).generation == generation)
		if (guest_deadline() - until > GUEST_WAIT_NS)
			fail_msg("no reset");
	assert_int_equal(guest_context(fd).state, DRM_SIMPLER_CONTEXT_LOST);
	close(fd);
	fresh = guest_open(0);
	guest_works(fresh);
	close(fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
		TEST(files_and_memory_survive_a_suspend),
		TEST(a_working_process_goes_on_after_a_suspend),
		TEST(a_job_in_the_middle_goes_on_after_a_suspend),
		TEST(a_chip_that_died_during_a_suspend_is_reset),
	};

	return cmocka_run_group_tests_name("suspend", tests, group_setup, group_teardown);
}
