// SPDX-License-Identifier: MIT
/* A process that is killed in the middle of its work leaves nothing behind. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define PIN_BYTES	(256ull << 10)
#define PROGRAM		"/build/programs/paged_attention/run"

/* What a file of the driver can hold, wherever it is counted. */
struct totals {
	uint64_t memory;			/* device memory in use, the driver says */
	uint64_t pins;				/* pages that are pinned now, of all drivers */
	uint64_t users;				/* of the module: open files, mappings */
	uint64_t contexts, executors, streams;	/* on the device, which is outside */
	uint64_t locked;			/* by this process */
};

/* Asking for a refresh brings together what the processors have counted. */
static uint64_t pinned_pages(void)
{
	FILE *refresh = fopen("/proc/sys/vm/stat_refresh", "r");
	char none[1];

	assert_non_null(refresh);
	assert_int_equal(fread(none, 1, 1, refresh), 0);
	fclose(refresh);
	return guest_file_number("/proc/vmstat", "nr_foll_pin_acquired") -
	       guest_file_number("/proc/vmstat", "nr_foll_pin_released");
}

static uint64_t module_users(void)
{
	FILE *f = fopen("/sys/module/simpler/refcnt", "r");
	unsigned long long count = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llu", &count), 1);
	fclose(f);
	return count;
}

static struct totals totals(int fd)
{
	return (struct totals){
		.memory = guest_memory(fd).used,
		.pins = pinned_pages(),
		.users = module_users(),
		.contexts = guest_counter(0, "contexts"),
		.executors = guest_counter(0, "executors"),
		.streams = guest_counter(0, "streams"),
		.locked = guest_file_number("/proc/self/status", "VmLck"),
	};
}

/* Closing a file ends when its process has; the device is told a moment later. */
static void assert_nothing_left(int fd, const struct totals *before)
{
	struct totals after;

	guest_await_counter(0, "contexts", before->contexts);
	guest_await_counter(0, "executors", before->executors);
	after = totals(fd);
	assert_int_equal(after.memory, before->memory);
	assert_int_equal(after.pins, before->pins);
	assert_int_equal(after.users, before->users);
	assert_int_equal(after.contexts, before->contexts);
	assert_int_equal(after.executors, before->executors);
	assert_int_equal(after.streams, before->streams);
	assert_int_equal(after.locked, before->locked);
}

static uint64_t pin(int fd, void *at, uint64_t bytes)
{
	struct drm_simpler_host_map map = { .address = (uintptr_t)at, .size = bytes };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_HOST_MAP, &map), 0);
	return map.device_address;
}

static void *memory(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

/* One of everything, and a command under way on streams of both kinds. */
static void hold_one_of_each(int fd)
{
	struct guest_bo device = guest_bo(fd, 1 << 20, 0);
	struct guest_bo word = guest_bo(fd, 4096, DRM_SIMPLER_BO_HOST);
	struct simpler_hw_cmd wait = guest_wait_word(word.address);
	struct simpler_hw_cmd fill = guest_fill(pin(fd, memory(PIN_BYTES), PIN_BYTES), 4096, 1);
	struct guest_user_stream user;
	uint32_t kernel = guest_stream(fd);
	uint64_t seqno = 0;

	guest_bo(fd, 3 << 20, DRM_SIMPLER_BO_NO_MMAP);
	guest_bo(fd, 1 << 20, DRM_SIMPLER_BO_HOST | DRM_SIMPLER_BO_WC);
	device.data[1] = 1;
	assert_int_equal(guest_submit(fd, kernel, &fill, 1, &seqno), 0);
	assert_int_equal(guest_wait(fd, kernel, seqno), 0);
	assert_int_equal(guest_submit(fd, kernel, &wait, 1, NULL), 0);
	assert_int_equal(guest_user_stream(fd, 64, &user), 0);
	guest_user_push(&user, &wait);
	guest_user_push(&user, &fill);
	guest_user_ring(&user);
}

static int hold_and_die(void *arg)
{
	(void)arg;
	hold_one_of_each(guest_open(0));
	raise(SIGKILL);
	return 0;
}

static void what_a_killed_process_held_comes_back(void **state)
{
	int fd = guest_open(0);
	struct totals before = totals(fd);

	(void)state;
	for (int round = 0; round < 3; round++) {
		assert_int_equal(guest_child(hold_and_die, NULL), -SIGKILL);
		assert_nothing_left(fd, &before);
	}
	guest_works(fd);
	close(fd);
}

/* Comes by every call, again and again, until it is killed. */
static int churn(void *arg)
{
	_Atomic uint32_t *steps = arg;

	for (;;) {
		int fd = guest_open(0);
		void *mine = memory(PIN_BYTES);
		struct drm_simpler_host_unmap unmap = { .device_address = pin(fd, mine, PIN_BYTES) };
		struct guest_user_stream user;

		++*steps;
		guest_works(fd);
		++*steps;
		assert_int_equal(guest_user_stream(fd, 16, &user), 0);
		guest_user_push(&user, &(struct simpler_hw_cmd){ 0 });
		guest_user_ring(&user);
		guest_user_stream_unmap(&user);
		++*steps;
		assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_HOST_UNMAP, &unmap), 0);
		munmap(mine, PIN_BYTES);
		++*steps;
		close(fd);
	}
	return 0;
}

static void await_steps(pid_t pid, _Atomic uint32_t *steps, uint32_t count)
{
	int64_t until = guest_deadline();

	while (*steps < count) {
		if (guest_deadline() - until > GUEST_WAIT_NS || waitpid(pid, NULL, WNOHANG))
			fail_msg("the child came to step %u of %u", *steps, count);
		sched_yield();
	}
}

/* Where it is when the signal comes differs from round to round. */
static void a_process_can_be_killed_at_any_moment(void **state)
{
	int fd = guest_open(0);
	struct totals before = totals(fd);
	_Atomic uint32_t *steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t rounds = (uint32_t)guest_setting("VM_KILLS", 8);

	(void)state;
	for (uint32_t round = 0; round < rounds; round++) {
		pid_t pid;

		*steps = 0;
		pid = guest_fork(churn, (void *)steps);
		await_steps(pid, steps, 1 + round % 8);
		kill(pid, SIGKILL);
		assert_int_equal(guest_reap(pid), -SIGKILL);
	}
	assert_nothing_left(fd, &before);
	munmap((void *)steps, 4096);
	close(fd);
}

static int become_program(void *arg)
{
	(void)arg;
	assert_non_null(freopen("/dev/null", "w", stdout));
	execl(PROGRAM, PROGRAM, "--platform", "a2a3", (char *)NULL);
	return 127;
}

/* True: it was killed. */
static int kill_at_work(uint64_t doorbells)
{
	uint64_t start = guest_counter(0, "doorbells");
	pid_t pid = guest_fork(become_program, NULL);

	while (guest_counter(0, "doorbells") < start + doorbells)
		if (waitpid(pid, NULL, WNOHANG))
			return 0;
	kill(pid, SIGKILL);
	return guest_reap(pid) == -SIGKILL;
}

static void a_program_is_killed_while_its_kernels_run(void **state)
{
	int fd = guest_open(0);
	struct totals before = totals(fd);
	int killed = 0;

	(void)state;
	for (int doorbells = 1; doorbells <= 8 && killed < 3; doorbells++) {
		killed += kill_at_work(8 + 3 * (uint64_t)doorbells);
		assert_nothing_left(fd, &before);
	}
	assert_int_equal(killed, 3);
	guest_works(fd);
	close(fd);
}

/* The pages are the killed process's, the file is not: they stay until the file is closed. */
static int map_and_die(void *arg)
{
	pin((int)(intptr_t)arg, memory(PIN_BYTES), PIN_BYTES);
	raise(SIGKILL);
	return 0;
}

static void pins_of_a_dead_process_go_with_the_file(void **state)
{
	int fd = guest_open(0), shared;
	struct totals before = totals(fd);

	(void)state;
	shared = guest_open(0);
	assert_int_equal(guest_child(map_and_die, (void *)(intptr_t)shared), -SIGKILL);
	assert_int_equal(guest_memory(shared).file_pinned, PIN_BYTES);
	assert_int_equal(pinned_pages() - before.pins, PIN_BYTES / 4096);
	guest_works(shared);
	close(shared);
	assert_nothing_left(fd, &before);
	close(fd);
}

static int pin_up_to_the_limit(void *arg)
{
	struct rlimit limit = { PIN_BYTES, PIN_BYTES };
	char *mine = memory(2 * PIN_BYTES);
	struct drm_simpler_host_map more = { .address = (uintptr_t)mine + PIN_BYTES,
					     .size = 4096 };
	int fd = (int)(intptr_t)arg;

	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	assert_int_equal(setuid(65534), 0);
	for (int round = 0; round < 3; round++) {
		struct drm_simpler_host_unmap unmap = { .device_address = pin(fd, mine, PIN_BYTES) };

		assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_HOST_MAP, &more), -EPERM);
		assert_int_equal(guest_file_number("/proc/self/status", "VmLck"), PIN_BYTES >> 10);
		assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_HOST_UNMAP, &unmap), 0);
		assert_int_equal(guest_file_number("/proc/self/status", "VmLck"), 0);
	}
	return 0;
}

static void pins_count_against_the_limit_of_the_process(void **state)
{
	int fd = guest_open(0);

	(void)state;
	assert_int_equal(guest_child(pin_up_to_the_limit, (void *)(intptr_t)fd), 0);
	assert_int_equal(guest_memory(fd).file_pinned, 0);
	close(fd);
}

static int teardown(void **state)
{
	(void)state;
	guest_unmap_all();
	guest_await_counter(0, "contexts", 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
		TEST(what_a_killed_process_held_comes_back),
		TEST(a_process_can_be_killed_at_any_moment),
		TEST(a_program_is_killed_while_its_kernels_run),
		TEST(pins_of_a_dead_process_go_with_the_file),
		TEST(pins_count_against_the_limit_of_the_process),
	};

	return cmocka_run_group_tests_name("killed", tests, NULL, NULL);
}
