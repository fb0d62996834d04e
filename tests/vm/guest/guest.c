// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "guest.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define CONTROL		"/dev/ttyS1"
#define LINE_BYTES	512

int guest_ioctl(int fd, unsigned long request, void *arg)
{
	int rc;

	do {
		rc = ioctl(fd, request, arg);
	} while (rc < 0 && (errno == EINTR || errno == EAGAIN));
	return rc < 0 ? -errno : 0;
}

int guest_open(int index)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/accel/accel%d", index);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	return fd;
}

/* DRM makes a node a moment before it can be opened. */
static bool can_be_opened(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	else if (errno != ENODEV && errno != ENOENT && errno != ENXIO)
		fail_msg("%s: %s", path, strerror(errno));
	return fd >= 0;
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

int64_t guest_deadline(void)
{
	return now() + GUEST_WAIT_NS;
}

void guest_await_chip(int index, bool there)
{
	int64_t until = guest_deadline();
	char path[32];

	snprintf(path, sizeof(path), "/dev/accel/accel%d", index);
	while (there ? !can_be_opened(path) : !access(path, F_OK)) {
		if (now() > until)
			fail_msg("%s did not %s", path, there ? "come" : "go");
		usleep(1000);
	}
}

/* ---- buffers ---- */

/* A mapping keeps its file open, so a test's end has to find them all. */
#define MAX_MAPPINGS 256
static struct {
	void *at;
	uint64_t size;
} mappings[MAX_MAPPINGS];
static unsigned int mapping_count;

static void remember(void *at, uint64_t size)
{
	assert_true(mapping_count < MAX_MAPPINGS);
	mappings[mapping_count].at = at;
	mappings[mapping_count++].size = size;
}

static void forget(const volatile void *at)
{
	for (unsigned int i = 0; i < mapping_count; i++)
		if (mappings[i].at == at) {
			munmap(mappings[i].at, mappings[i].size);
			mappings[i] = mappings[--mapping_count];
			return;
		}
}

void guest_unmap_all(void)
{
	while (mapping_count)
		forget(mappings[0].at);
}

struct guest_bo guest_bo(int fd, uint64_t size, uint32_t flags)
{
	struct drm_simpler_bo_create create = { .size = size, .flags = flags };
	struct drm_simpler_bo_mmap_offset at = { 0 };
	struct guest_bo bo = { 0 };
	void *p;

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_BO_CREATE, &create), 0);
	bo = (struct guest_bo){ .handle = create.handle, .size = create.size,
				.address = create.device_address };
	if (flags & DRM_SIMPLER_BO_NO_MMAP)
		return bo;
	at.handle = bo.handle;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, &at), 0);
	p = mmap(NULL, bo.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at.offset);
	assert_ptr_not_equal(p, MAP_FAILED);
	remember(p, bo.size);
	bo.data = p;
	return bo;
}

void guest_bo_close(int fd, struct guest_bo *bo)
{
	struct drm_gem_close close = { .handle = bo->handle };

	if (bo->data)
		forget(bo->data);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &close), 0);
}

/* ---- streams ---- */

uint32_t guest_stream(int fd)
{
	struct drm_simpler_stream_create create = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 64,
	};

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create), 0);
	return create.stream;
}

int guest_stream_destroy(int fd, uint32_t stream)
{
	struct drm_simpler_stream_destroy destroy = { .stream = stream };

	return guest_ioctl(fd, DRM_IOCTL_SIMPLER_STREAM_DESTROY, &destroy);
}

int guest_submit(int fd, uint32_t stream, const struct simpler_hw_cmd *cmds, uint32_t count,
		 uint64_t *seqno)
{
	struct drm_simpler_submit submit = {
		.stream = stream,
		.commands = { .stride = sizeof(*cmds), .count = count,
			      .array = (uintptr_t)cmds },
	};
	int rc = guest_ioctl(fd, DRM_IOCTL_SIMPLER_SUBMIT, &submit);

	if (!rc && seqno)
		*seqno = submit.seqno;
	return rc;
}

int guest_wait(int fd, uint32_t stream, uint64_t seqno)
{
	struct drm_simpler_wait_seqno wait = {
		.stream = stream, .seqno = seqno, .deadline_ns = guest_deadline(),
	};

	return guest_ioctl(fd, DRM_IOCTL_SIMPLER_WAIT_SEQNO, &wait);
}

struct drm_simpler_stream_state guest_state(int fd, uint32_t stream)
{
	struct drm_simpler_stream_state state = { .stream = stream };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_STREAM_STATE, &state), 0);
	return state;
}

static void query(int fd, uint32_t type, void *to, uint32_t size)
{
	struct drm_simpler_dev_query q = { .type = type, .size = size, .pointer = (uintptr_t)to };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_DEV_QUERY, &q), 0);
}

struct drm_simpler_context_info guest_context(int fd)
{
	struct drm_simpler_context_info info;

	query(fd, DRM_SIMPLER_QUERY_CONTEXT, &info, sizeof(info));
	return info;
}

struct drm_simpler_health_info guest_health(int fd)
{
	struct drm_simpler_health_info info;

	query(fd, DRM_SIMPLER_QUERY_HEALTH, &info, sizeof(info));
	return info;
}

struct drm_simpler_memory_info guest_memory(int fd)
{
	struct drm_simpler_memory_info info;

	query(fd, DRM_SIMPLER_QUERY_MEMORY, &info, sizeof(info));
	return info;
}

void guest_works(int fd)
{
	struct guest_bo bo = guest_bo(fd, 4096, DRM_SIMPLER_BO_HOST);
	uint32_t stream = guest_stream(fd);
	struct simpler_hw_cmd cmd = guest_fill(bo.address, 4096, 0x0123456789abcdef);
	uint64_t seqno = 0;

	assert_int_equal(guest_submit(fd, stream, &cmd, 1, &seqno), 0);
	assert_int_equal(guest_wait(fd, stream, seqno), 0);
	assert_int_equal(bo.data[0], 0x0123456789abcdef);
	assert_int_equal(bo.data[511], 0x0123456789abcdef);
	assert_int_equal(guest_stream_destroy(fd, stream), 0);
	guest_bo_close(fd, &bo);
}

/* ---- user-mode streams ---- */

static void *map_at(int fd, uint64_t offset, uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return NULL;
	remember(p, bytes);
	return p;
}

int guest_user_stream(int fd, uint32_t entries, struct guest_user_stream *s)
{
	struct drm_simpler_stream_create create = {
		.flags = DRM_SIMPLER_STREAM_USER, .priority = DRM_SIMPLER_PRIORITY_NORMAL,
		.entries = entries,
	};
	int rc = guest_ioctl(fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create);
	char *page;

	if (rc)
		return rc;
	s->ring = map_at(fd, create.ring_offset, create.ring_size);
	page = map_at(fd, create.doorbell_offset, create.doorbell_size);
	if (!s->ring || !page) {
		if (s->ring)
			forget(s->ring);
		return -ENODEV;		/* unplugged meanwhile */
	}
	s->stream = create.stream;
	s->entries = entries;
	s->ring_bytes = create.ring_size;
	s->commands = (volatile struct simpler_hw_cmd *)(s->ring + 1);
	s->doorbell = (volatile uint32_t *)(page + create.doorbell_position);
	s->doorbell_value = create.doorbell_value;
	return 0;
}

void guest_user_stream_unmap(struct guest_user_stream *s)
{
	forget(s->ring);
	forget((void *)((uintptr_t)s->doorbell & ~(uintptr_t)(SIMPLER_HW_PAGE_BYTES - 1)));
}

uint64_t guest_user_push(struct guest_user_stream *s, const struct simpler_hw_cmd *cmd)
{
	uint32_t producer = s->ring->producer;

	s->commands[producer & (s->entries - 1)] = *cmd;
	/* release (step 3): pairs with the device's acquire of producer (step 4) */
	__atomic_store_n(&s->ring->producer, producer + 1, __ATOMIC_RELEASE);
	return producer + 1;
}

void guest_user_ring(struct guest_user_stream *s)
{
	/* seq_cst: step 5 comes after step 3; pairs with the device's acquire (step 4) */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*s->doorbell = s->doorbell_value;
}

/* ---- the device outside ---- */

static int control_open(void)
{
	struct termios raw;
	int fd = open(CONTROL, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		fail_msg("%s: %s", CONTROL, strerror(errno));
	assert_int_equal(tcgetattr(fd, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(fd, TCSANOW, &raw), 0);
	return fd;
}

static void read_line(int fd, char *line)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	size_t n = 0;

	do {
		if (n == LINE_BYTES - 1 || poll(&ready, 1, 20000) != 1)
			fail_msg("no answer from the device's control socket");
		assert_int_equal(read(fd, line + n, 1), 1);
	} while (line[n++] != '\n');
	line[n - 1] = '\0';
}

const char *guest_control(const char *format, ...)
{
	static char line[LINE_BYTES];
	static int fd = -1;
	va_list args;
	size_t n;

	if (fd < 0)
		fd = control_open();
	va_start(args, format);
	n = (size_t)vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	line[n++] = '\n';
	assert_int_equal(write(fd, line, n), n);
	read_line(fd, line);
	if (strncmp(line, "ok", 2))
		fail_msg("control: %s", line);
	return line;
}

uint64_t guest_counter(int chip, const char *name)
{
	const char *at = strstr(guest_control("%d counters", chip), name);

	assert_non_null(at);
	return strtoull(at + strlen(name) + 1, NULL, 10);
}

void guest_await_counter(int chip, const char *name, uint64_t value)
{
	int64_t until = guest_deadline();

	while (guest_counter(chip, name) != value)
		if (now() > until)
			fail_msg("%s is %s, not %llu", name, guest_control("%d counters", chip),
				 (unsigned long long)value);
}

/* What fails in the child must not go on with the tests of its parent. */
pid_t guest_fork(int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();

	if (!pid) {
		setenv("CMOCKA_TEST_ABORT", "1", 1);
		_exit(fn(arg));
	}
	assert_true(pid > 0);
	return pid;
}

int guest_reap(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int guest_child(int (*fn)(void *arg), void *arg)
{
	return guest_reap(guest_fork(fn, arg));
}

/* ---- around a test ---- */

uint64_t guest_setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

uint64_t guest_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed * 0x2545f4914f6cdd1dull;
}

uint64_t guest_file_number(const char *path, const char *name)
{
	FILE *f = fopen(path, "r");
	size_t length = strlen(name);
	char line[LINE_BYTES];

	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, length) || !strchr(" \t:", line[length]))
			continue;
		fclose(f);
		return strtoull(line + length + strspn(line + length, " \t:"), NULL, 10);
	}
	fclose(f);
	fail_msg("%s: no %s", path, name);
	return 0;
}
