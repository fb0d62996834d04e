// SPDX-License-Identifier: MIT
/* The driver's calls on a real (emulated) device, by one well-behaved process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "guest.h"

static int setup(void **state)
{
	*state = (void *)(intptr_t)guest_open(0);
	return 0;
}

/* Nothing may be left of a test's file on the device. */
static int teardown(void **state)
{
	guest_unmap_all();
	close((int)(intptr_t)*state);
	guest_await_counter(0, "contexts", 0);
	assert_int_equal(guest_counter(0, "executors"), 0);
	assert_int_equal(guest_counter(0, "streams"), 0);
	return 0;
}

#define FILE_OF(state) ((int)(intptr_t)*(state))

static void device_is_described(void **state)
{
	struct drm_simpler_device_info info = { 0 };
	struct drm_simpler_dev_query q = { .type = DRM_SIMPLER_QUERY_DEVICE, .size = sizeof(info),
					   .pointer = (uintptr_t)&info };

	assert_int_equal(guest_ioctl(FILE_OF(state), DRM_IOCTL_SIMPLER_DEV_QUERY, &q), 0);
	assert_int_equal(info.arch, SIMPLER_HW_ARCH_A2A3);
	assert_true(info.memory_bytes > 200u << 20);
	assert_true(info.flags & DRM_SIMPLER_DEVICE_USER_STREAMS);
	assert_int_equal(info.page_bytes, 4096);
}

static void jobs_reach_device_and_host_memory(void **state)
{
	int fd = FILE_OF(state);
	struct guest_bo device = guest_bo(fd, 1 << 20, 0);
	struct guest_bo host = guest_bo(fd, 1 << 20, DRM_SIMPLER_BO_HOST);
	uint32_t stream = guest_stream(fd);
	struct simpler_hw_cmd cmds[] = {
		guest_fill(device.address, device.size, 77),
		guest_copy(host.address, device.address, device.size),
	};
	uint64_t seqno = 0;

	assert_int_equal(device.data[5], 0);
	assert_int_equal(guest_submit(fd, stream, cmds, 2, &seqno), 0);
	assert_int_equal(guest_wait(fd, stream, seqno), 0);
	assert_int_equal(device.data[device.size / 8 - 1], 77);
	for (uint64_t i = 0; i < host.size / 8; i++)
		assert_int_equal(host.data[i], 77);
}

static void pinned_pages_of_the_process_are_reached(void **state)
{
	int fd = FILE_OF(state);
	uint64_t *mine = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_simpler_host_map map = { .address = (uintptr_t)mine, .size = 64 << 10 };
	struct drm_simpler_host_unmap unmap;
	uint32_t stream = guest_stream(fd);
	struct simpler_hw_cmd cmd;
	uint64_t seqno = 0;

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_HOST_MAP, &map), 0);
	assert_int_equal(guest_memory(fd).file_pinned, 64 << 10);
	cmd = guest_fill(map.device_address, 64 << 10, 9);
	assert_int_equal(guest_submit(fd, stream, &cmd, 1, &seqno), 0);
	assert_int_equal(guest_wait(fd, stream, seqno), 0);
	assert_int_equal(mine[0], 9);
	assert_int_equal(mine[8191], 9);
	unmap = (struct drm_simpler_host_unmap){ .device_address = map.device_address };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_HOST_UNMAP, &unmap), 0);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_HOST_UNMAP, &unmap), -ENOENT);
	assert_int_equal(guest_memory(fd).file_pinned, 0);
	munmap(mine, 64 << 10);
}

static void freed_memory_is_zero_for_the_next_owner(void **state)
{
	int fd = FILE_OF(state);

	for (int round = 0; round < 3; round++) {
		struct guest_bo bo = guest_bo(fd, 4 << 20, 0);

		for (uint64_t i = 0; i < bo.size / 8; i += 512) {
			assert_int_equal(bo.data[i], 0);
			bo.data[i] = ~0ull;
		}
		guest_bo_close(fd, &bo);
	}
}

static void timeline_syncobjs_order_jobs(void **state)
{
	int fd = FILE_OF(state);
	struct guest_bo bo = guest_bo(fd, 4096, DRM_SIMPLER_BO_HOST);
	uint32_t first = guest_stream(fd), second = guest_stream(fd), syncobj;
	struct simpler_hw_cmd wait = guest_wait_word(bo.address);
	struct simpler_hw_cmd fill = guest_fill(bo.address + 64, 8, 5);
	struct drm_simpler_sync signal = { .flags = DRM_SIMPLER_SYNC_SIGNAL |
						    DRM_SIMPLER_SYNC_TIMELINE, .point = 3 };
	struct drm_simpler_sync after = { .flags = DRM_SIMPLER_SYNC_TIMELINE, .point = 3 };
	struct drm_simpler_submit a = { .stream = first,
		.commands = { sizeof(wait), 1, (uintptr_t)&wait },
		.syncs = { sizeof(signal), 1, (uintptr_t)&signal } };
	struct drm_simpler_submit b = { .stream = second,
		.commands = { sizeof(fill), 1, (uintptr_t)&fill },
		.syncs = { sizeof(after), 1, (uintptr_t)&after } };
	uint64_t point = 3;

	assert_int_equal(drmSyncobjCreate(fd, 0, &syncobj), 0);
	signal.handle = after.handle = syncobj;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_SUBMIT, &a), 0);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_SUBMIT, &b), 0);
	assert_int_equal(bo.data[8], 0);
	bo.data[0] = 1;
	assert_int_equal(guest_wait(fd, second, b.seqno), 0);
	assert_int_equal(bo.data[8], 5);
	assert_int_equal(drmSyncobjTimelineWait(fd, &syncobj, &point, 1, guest_deadline(), 0, NULL),
			 0);
	assert_int_equal(drmSyncobjDestroy(fd, syncobj), 0);
}

static void buffers_are_shared_by_prime(void **state)
{
	int fd = FILE_OF(state), other = guest_open(0), prime;
	struct guest_bo bo = guest_bo(fd, 8192, 0);
	struct drm_simpler_bo_info info = { 0 };
	uint32_t handle, stream = guest_stream(other);
	struct simpler_hw_cmd cmd;
	uint64_t seqno = 0;

	assert_int_equal(drmPrimeHandleToFD(fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &prime), 0);
	assert_int_equal(drmPrimeFDToHandle(other, prime, &handle), 0);
	info.handle = handle;
	assert_int_equal(guest_ioctl(other, DRM_IOCTL_SIMPLER_BO_INFO, &info), 0);
	cmd = guest_fill(info.device_address, 8192, 11);
	assert_int_equal(guest_submit(other, stream, &cmd, 1, &seqno), 0);
	assert_int_equal(guest_wait(other, stream, seqno), 0);
	assert_int_equal(bo.data[1023], 11);
	close(prime);
	close(other);
	assert_int_equal(bo.data[1023], 11);
}

static void bad_submissions_are_refused_and_use_up_nothing(void **state)
{
	int fd = FILE_OF(state);
	uint32_t stream = guest_stream(fd);
	struct simpler_hw_cmd nop = { 0 }, bad = { .opcode = 99 }, reserved = { .reserved = 1 };
	struct drm_simpler_submit s = { .stream = stream,
					.commands = { sizeof(nop), 1, (uintptr_t)&nop } };
	struct drm_simpler_submit t;
	uint64_t before = 0, after = 0;

	assert_int_equal(guest_submit(fd, stream, &nop, 1, &before), 0);
	assert_int_equal(guest_submit(fd, stream, &bad, 1, NULL), -EINVAL);
	assert_int_equal(guest_submit(fd, stream, &reserved, 1, NULL), -EINVAL);
	assert_int_equal(guest_submit(fd, stream, &nop, 0, NULL), -EINVAL);
	assert_int_equal(guest_submit(fd, stream, &nop, 1u << 30, NULL), -EINVAL);
	assert_int_equal(guest_submit(fd, stream + 100, &nop, 1, NULL), -ENOENT);
	assert_int_equal(guest_submit(fd, stream, NULL, 1, NULL), -EFAULT);
	t = s;
	t.flags = 1;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_SUBMIT, &t), -EINVAL);
	t = s;
	t.pad = 1;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_SUBMIT, &t), -EINVAL);
	assert_int_equal(guest_submit(fd, stream, &nop, 1, &after), 0);
	assert_int_equal(after, before + 1);
	assert_int_equal(guest_wait(fd, stream, after), 0);
}

static void files_are_opened_and_closed_in_storms(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		int fds[8];

		for (int i = 0; i < 8; i++)
			fds[i] = guest_open(0);
		guest_stream(fds[round % 8]);
		for (int i = 0; i < 8; i++)
			close(fds[i]);
	}
}

static void all_memory_can_be_used_and_comes_back(void **state)
{
	int fd = FILE_OF(state), rc = 0;
	struct drm_simpler_bo_create create;
	int count = 0;

	while (!rc && count < 1000) {
		create = (struct drm_simpler_bo_create){ .size = 8 << 20,
							 .flags = DRM_SIMPLER_BO_NO_MMAP };
		rc = guest_ioctl(fd, DRM_IOCTL_SIMPLER_BO_CREATE, &create);
		count += !rc;
	}
	assert_true(rc == -ENOSPC || rc == -EDQUOT);
	assert_true(count >= 10);
	close(fd);
	*state = (void *)(intptr_t)(fd = guest_open(0));
	assert_int_equal(guest_memory(fd).file_used, 0);
	guest_works(fd);
}

static void set_share(const char *percent)
{
	int fd = open("/sys/module/simpler/parameters/file_memory_percent", O_WRONLY);

	assert_int_equal(write(fd, percent, strlen(percent)), (ssize_t)strlen(percent));
	close(fd);
}

static void a_file_has_its_share_of_memory_only(void **state)
{
	struct drm_simpler_bo_create create = { .flags = DRM_SIMPLER_BO_NO_MMAP };
	int fd = FILE_OF(state), other = guest_open(0), rc, more, others;

	set_share("10");
	create.size = guest_memory(fd).file_quota & ~4095ull;
	rc = guest_ioctl(fd, DRM_IOCTL_SIMPLER_BO_CREATE, &create);
	others = guest_ioctl(other, DRM_IOCTL_SIMPLER_BO_CREATE, &create);
	create.size = 4096;
	more = guest_ioctl(fd, DRM_IOCTL_SIMPLER_BO_CREATE, &create);
	set_share("100");
	assert_int_equal(rc, 0);
	assert_int_equal(others, 0);
	assert_int_equal(more, -EDQUOT);
	close(other);
}

static void on_alarm(int signo)
{
	(void)signo;
}

static void calls_survive_a_storm_of_signals(void **state)
{
	struct sigaction act = { .sa_handler = on_alarm }, old;
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, none = { 0 };

	sigaction(SIGALRM, &act, &old);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 20; i++)
		guest_works(FILE_OF(state));
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &old, NULL);
}

static int work_in_child(void *arg)
{
	guest_works((int)(intptr_t)arg);
	return 0;
}

static void a_file_works_in_a_forked_child(void **state)
{
	guest_works(FILE_OF(state));
	assert_int_equal(guest_child(work_in_child, *state), 0);
	guest_works(FILE_OF(state));
}

static int receive_and_work(void *arg)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg((int)(intptr_t)arg, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		return 1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	guest_works(fd);
	return 0;
}

static void a_file_can_be_passed_to_another_process(void **state)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int fd = FILE_OF(state), ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	assert_int_equal(sendmsg(ends[0], &msg, 0), 1);
	assert_int_equal(guest_child(receive_and_work, (void *)(intptr_t)ends[1]), 0);
	close(ends[0]);
	close(ends[1]);
}

/* ---- functions that are not ours ---- */

#define PCI		"/sys/bus/pci/"
#define FOREIGN_BYTES	(1u << 20)	/* as scripts/vm has it */

static uint64_t attribute(const char *folder, const char *name)
{
	char path[300], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtoull(text, NULL, 0);
}

static bool is_bound(const char *folder)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/driver", folder);
	return !access(path, F_OK);
}

/* The function that has our numbers and no driver, as "0000:00:06.0" behind the last '/'. */
static void find_foreign(char *folder, size_t bytes)
{
	unsigned int found = 0;
	glob_t all;

	assert_int_equal(glob(PCI "devices/*", 0, NULL, &all), 0);
	for (size_t i = 0; i < all.gl_pathc; i++) {
		const char *path = all.gl_pathv[i];

		if (attribute(path, "vendor") != 0x1af4 || attribute(path, "device") != 0x1110 ||
		    is_bound(path))
			continue;
		snprintf(folder, bytes, "%s", path);
		found++;
	}
	globfree(&all);
	assert_int_equal(found, 1);
}

static void a_function_of_somebody_else_is_left_alone(void **state)
{
	int fd = open(PCI "drivers/simpler/bind", O_WRONLY);
	char folder[256], path[300];
	const char *name;
	volatile uint8_t *p;

	(void)state;
	assert_true(fd >= 0);
	find_foreign(folder, sizeof(folder));
	name = strrchr(folder, '/') + 1;
	assert_int_equal(write(fd, name, strlen(name)), -1);
	assert_int_equal(errno, ENODEV);
	close(fd);
	assert_false(is_bound(folder));
	assert_int_equal(attribute(folder, "enable"), 0);
	snprintf(path, sizeof(path), "%s/resource2", folder);
	fd = open(path, O_RDWR);
	p = mmap(NULL, FOREIGN_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	assert_ptr_not_equal(p, MAP_FAILED);
	for (uint32_t i = 0; i < FOREIGN_BYTES; i += 8)
		assert_int_equal(p[i], 0x5a);
	munmap((void *)p, FOREIGN_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(device_is_described),
		TEST(jobs_reach_device_and_host_memory),
		TEST(pinned_pages_of_the_process_are_reached),
		TEST(freed_memory_is_zero_for_the_next_owner),
		TEST(timeline_syncobjs_order_jobs),
		TEST(buffers_are_shared_by_prime),
		TEST(bad_submissions_are_refused_and_use_up_nothing),
		TEST(files_are_opened_and_closed_in_storms),
		TEST(all_memory_can_be_used_and_comes_back),
		TEST(a_file_has_its_share_of_memory_only),
		TEST(calls_survive_a_storm_of_signals),
		TEST(a_file_works_in_a_forked_child),
		TEST(a_file_can_be_passed_to_another_process),
		TEST(a_function_of_somebody_else_is_left_alone),
	};

	return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
