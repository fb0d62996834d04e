// SPDX-License-Identifier: MIT
/* What goes wrong in one file stays there; what goes wrong with the chip ends in errors. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "guest.h"

static int teardown(void **state)
{
	(void)state;
	guest_unmap_all();
	guest_await_counter(0, "contexts", 0);
	assert_int_equal(guest_counter(0, "executors"), 0);
	return 0;
}

/* A job that never ends by itself, and where its fence goes. */
static uint32_t endless(int fd, uint64_t *seqno)
{
	struct guest_bo bo = guest_bo(fd, 4096, DRM_SIMPLER_BO_HOST);
	struct simpler_hw_cmd cmd = guest_wait_word(bo.address);
	uint32_t stream = guest_stream(fd);

	assert_int_equal(guest_submit(fd, stream, &cmd, 1, seqno), 0);
	return stream;
}

static void a_page_fault_bans_its_file_only(void **state)
{
	int bad = guest_open(0), good = guest_open(0);
	struct simpler_hw_cmd cmd = guest_fill(SIMPLER_HW_VA_MIN + (1ull << 37), 8, 1);
	struct drm_simpler_context_info info;
	uint32_t stream = guest_stream(bad);
	uint64_t seqno = 0;

	(void)state;
	guest_works(good);
	assert_int_equal(guest_submit(bad, stream, &cmd, 1, &seqno), 0);
	guest_wait(bad, stream, seqno);
	/* the record comes by interrupt: the next wait sees the ban */
	assert_int_equal(guest_wait(bad, stream, seqno + 1), -EIO);
	info = guest_context(bad);
	assert_int_equal(info.state, DRM_SIMPLER_CONTEXT_BANNED);
	assert_int_equal(info.fault.code, SIMPLER_HW_FAULT_PAGE);
	assert_int_equal(info.fault.address, cmd.fill.dst);
	assert_int_equal(guest_submit(bad, stream, &cmd, 1, &seqno), -EIO);
	guest_works(good);
	close(bad);
	guest_works(good);
	close(good);
}

static void the_buffers_of_another_file_are_not_there(void **state)
{
	int a = guest_open(0), b = guest_open(0);
	struct guest_bo secret[64];
	struct simpler_hw_cmd cmd;
	uint32_t stream = guest_stream(b);
	uint64_t seqno = 0;

	(void)state;
	for (int i = 0; i < 64; i++) {
		secret[i] = guest_bo(a, 4096, 0);
		secret[i].data[0] = 4242;
	}
	cmd = guest_fill(secret[63].address, 8, 1);
	assert_int_equal(guest_submit(b, stream, &cmd, 1, &seqno), 0);
	assert_int_equal(guest_wait(b, stream, seqno + 1), -EIO);
	assert_int_equal(guest_context(b).state, DRM_SIMPLER_CONTEXT_BANNED);
	assert_int_equal(secret[63].data[0], 4242);
	guest_works(a);
	close(a);
	close(b);
}

static void handles_mean_nothing_in_another_file(void **state)
{
	int a = guest_open(0), b = guest_open(0);
	struct guest_bo bo = guest_bo(a, 4096, 0);
	struct drm_simpler_bo_mmap_offset at = { .handle = bo.handle };
	struct drm_simpler_bo_info info = { .handle = bo.handle };
	uint32_t stream = guest_stream(a);
	struct simpler_hw_cmd nop = { 0 };

	(void)state;
	assert_int_equal(guest_ioctl(b, DRM_IOCTL_SIMPLER_BO_INFO, &info), -ENOENT);
	assert_int_equal(guest_ioctl(b, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, &at), -ENOENT);
	at.handle = bo.handle;
	assert_int_equal(guest_ioctl(a, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, &at), 0);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ, MAP_SHARED, b, (off_t)at.offset), MAP_FAILED);
	assert_int_equal(guest_submit(b, stream, &nop, 1, NULL), -ENOENT);
	close(a);
	close(b);
}

static int work_ten_times(void *arg)
{
	int fd = guest_open(0);

	(void)arg;
	for (int k = 0; k < 10; k++)
		guest_works(fd);
	return 0;
}

static void four_processes_work_at_once(void **state)
{
	pid_t pids[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		pids[i] = guest_fork(work_ten_times, NULL);
	for (int i = 0; i < 4; i++)
		assert_int_equal(guest_reap(pids[i]), 0);
}

static void a_job_that_runs_too_long_bans_its_file(void **state)
{
	int bad = guest_open(0), good = guest_open(0);
	struct guest_bo bo = guest_bo(bad, 4096, DRM_SIMPLER_BO_HOST);
	struct drm_simpler_stream_create create = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 64, .timeout_ms = 500,
	};
	struct simpler_hw_cmd cmd = guest_wait_word(bo.address);
	uint64_t seqno = 0;

	(void)state;
	assert_int_equal(guest_ioctl(bad, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create), 0);
	assert_int_equal(guest_submit(bad, create.stream, &cmd, 1, &seqno), 0);
	assert_int_equal(guest_wait(bad, create.stream, seqno), -EIO);
	assert_int_equal(guest_context(bad).state, DRM_SIMPLER_CONTEXT_BANNED);
	guest_works(good);
	close(bad);
	close(good);
}

static void a_hung_executor_is_ended(void **state)
{
	int fd = guest_open(0), good;
	struct drm_simpler_stream_create create = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 64, .timeout_ms = 500,
	};
	struct simpler_hw_cmd nop = { 0 };
	uint64_t seqno = 0;

	(void)state;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create), 0);
	guest_control("0 hang");
	assert_int_equal(guest_submit(fd, create.stream, &nop, 1, &seqno), 0);
	assert_int_equal(guest_wait(fd, create.stream, seqno), -EIO);
	close(fd);
	good = guest_open(0);
	guest_works(good);
	close(good);
}

static void a_dead_chip_is_reset_and_fences_end(void **state)
{
	int fd = guest_open(0), fresh;
	uint32_t generation = guest_health(fd).generation, stream;
	uint64_t seqno = 0;

	(void)state;
	stream = endless(fd, &seqno);
	guest_control("0 dead");
	assert_int_equal(guest_wait(fd, stream, seqno), -EIO);
	assert_int_equal(guest_context(fd).state, DRM_SIMPLER_CONTEXT_LOST);
	assert_true(guest_health(fd).generation != generation);
	assert_int_equal(guest_health(fd).health, SIMPLER_HW_HEALTH_OK);
	fresh = guest_open(0);
	guest_works(fresh);
	close(fresh);
	close(fd);
}

static void lost_and_spurious_interrupts_do_no_harm(void **state)
{
	int fd = guest_open(0);

	(void)state;
	for (int v = 0; v < 16; v++)
		guest_control("0 spurious-irq %d", v);
	guest_works(fd);
	guest_control("0 lost-irq 5");
	guest_works(fd);
	guest_control("0 lost-irq 0");
	guest_works(fd);
	close(fd);
}

/* Opens files until one gets a context: a reset may still be under way. */
static int open_after_resets(void)
{
	struct drm_simpler_stream_create create = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 64,
	};
	int64_t until = guest_deadline();

	for (;;) {
		int fd = guest_open(0);

		create.stream = 0;
		if (!guest_ioctl(fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create))
			return fd;
		close(fd);
		if (guest_deadline() - until > GUEST_WAIT_NS)
			fail_msg("the chip does not come back");
	}
}

static void corrupt_completions_do_not_complete_jobs(void **state)
{
	int fd = guest_open(0), fresh;
	struct guest_bo bo = guest_bo(fd, 4096, DRM_SIMPLER_BO_HOST);
	struct simpler_hw_cmd cmd = guest_wait_word(bo.address);
	uint32_t stream = guest_stream(fd);
	uint64_t seqno = 0;

	(void)state;
	assert_int_equal(guest_submit(fd, stream, &cmd, 1, &seqno), 0);
	guest_control("0 corrupt-completion 1000000");
	/* it either goes on as if nothing had been, or loses its context; it does not complete */
	bo.data[0] = 1;
	guest_wait(fd, stream, seqno);
	assert_true(guest_state(fd, stream).completed <= seqno);
	close(fd);
	fresh = open_after_resets();
	guest_works(fresh);
	close(fresh);
}

static void error_counters_and_temperature_are_told(void **state)
{
	int fd = guest_open(1);
	uint64_t before = guest_health(fd).ecc_corrected;

	(void)state;
	guest_control("1 ecc 3");
	guest_control("1 thermal 91000");
	assert_int_equal(guest_health(fd).ecc_corrected, before + 3);
	assert_int_equal(guest_health(fd).temperature_mc, 91000);
	close(fd);
}

static void a_chip_is_unplugged_during_a_job_and_comes_back(void **state)
{
	int fd = guest_open(1), fresh;
	struct guest_bo bo = guest_bo(fd, 4096, 0);
	uint64_t seqno;
	uint32_t stream = endless(fd, &seqno);

	(void)state;
	guest_control("1 unplug");
	guest_await_chip(1, false);
	assert_true(guest_wait(fd, stream, seqno) < 0);
	/* the mapping shows something, and no signal comes */
	bo.data[0] = bo.data[1];
	assert_true(guest_stream_destroy(fd, stream) <= 0);
	guest_unmap_all();
	close(fd);
	guest_control("1 replug");
	guest_await_chip(1, true);
	fresh = guest_open(1);
	guest_works(fresh);
	close(fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
		TEST(a_page_fault_bans_its_file_only),
		TEST(the_buffers_of_another_file_are_not_there),
		TEST(handles_mean_nothing_in_another_file),
		TEST(four_processes_work_at_once),
		TEST(a_job_that_runs_too_long_bans_its_file),
		TEST(a_hung_executor_is_ended),
		TEST(a_dead_chip_is_reset_and_fences_end),
		TEST(lost_and_spurious_interrupts_do_no_harm),
		TEST(corrupt_completions_do_not_complete_jobs),
		TEST(error_counters_and_temperature_are_told),
		TEST(a_chip_is_unplugged_during_a_job_and_comes_back),
	};

	return cmocka_run_group_tests_name("isolation", tests, NULL, NULL);
}
