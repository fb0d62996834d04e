// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "fake_driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLASS_DIR	"/sys/class/accel"
#define FIRST_FD	3000
#define MAX_FDS		64
#define RING_OFFSET	(1ull << 40)
#define DOORBELL_OFFSET	(1ull << 41)
#define PAGE		4096u

struct fake_driver fake;

/* Calls come from the threads of kernel-mode streams, too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int nodes_of_fds[MAX_FDS];	/* node + 1 */
static struct {
	uint64_t size;
	void *memory;			/* where the device finds it */
	int fd;				/* what it can be mapped from again */
} buffers[FAKE_BUFFERS];

void fake_reset(void)
{
	fake = (struct fake_driver){
		.nodes = {
			{ .there = true, .arch = SIMPLER_HW_ARCH_A2A3 },
			{ .there = true, .foreign = true },
			{ .there = true, .arch = SIMPLER_HW_ARCH_A5 },
			{ .there = true, .arch = SIMPLER_HW_ARCH_A2A3 },
		},
		.user_streams = true,
	};
}

/* ---- files ---- */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

static int node_of(int fd)
{
	return fd >= FIRST_FD && fd < FIRST_FD + MAX_FDS ? nodes_of_fds[fd - FIRST_FD] - 1 : -1;
}

static int open_node(unsigned int node)
{
	int fd;

	if (node >= FAKE_NODES || !fake.nodes[node].there || fake.gone) {
		errno = ENOENT;
		return -1;
	}
	if (fake.nodes[node].open_error) {
		errno = fake.nodes[node].open_error;
		return -1;
	}
	for (fd = 0; nodes_of_fds[fd]; fd++)
		if (fd == MAX_FDS - 1)
			abort();
	nodes_of_fds[fd] = (int)node + 1;
	fake.open_files++;
	return FIRST_FD + fd;
}

int __wrap_open(const char *path, int flags, ...)
{
	unsigned int node;
	va_list args;
	int mode;

	if (sscanf(path, "/dev/accel/accel%u", &node) == 1)
		return open_node(node);
	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return __real_open(path, flags, mode);
}

int __wrap_close(int fd)
{
	if (node_of(fd) < 0)
		return __real_close(fd);
	nodes_of_fds[fd - FIRST_FD] = 0;
	fake.open_files--;
	return 0;
}

static char folder[] = "/tmp/fake-accel-XXXXXX";

static const char *class_entry(unsigned int node)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s/accel%u", folder, node);
	return name;
}

void fake_end(void)
{
	for (unsigned int i = 0; i < FAKE_NODES; i++)
		rmdir(class_entry(i));
	rmdir(folder);
}

/* A folder that looks as the class's does. */
DIR *__wrap_opendir(const char *path)
{
	static bool made;

	if (strcmp(path, CLASS_DIR))
		return __real_opendir(path);
	made = made || mkdtemp(folder);
	for (unsigned int i = FAKE_NODES; i--;)
		if (fake.nodes[i].there)
			mkdir(class_entry(i), 0700);
		else
			rmdir(class_entry(i));
	return __real_opendir(folder);
}

/* ---- memory ---- */

void *__real_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);

static void *map_shared(int fd, uint64_t bytes)
{
	void *p = __real_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int bo_create(struct drm_simpler_bo_create *a)
{
	uint32_t handle = 1;

	while (handle < FAKE_BUFFERS && buffers[handle].memory)
		handle++;
	if (handle == FAKE_BUFFERS)
		return -ENOSPC;
	a->size = (a->size + PAGE - 1) / PAGE * PAGE;
	buffers[handle].fd = memfd_create("fake buffer", MFD_CLOEXEC);
	if (buffers[handle].fd < 0 || ftruncate(buffers[handle].fd, (off_t)a->size))
		return -ENOMEM;
	buffers[handle].memory = map_shared(buffers[handle].fd, a->size);
	buffers[handle].size = a->size;
	a->handle = handle;
	a->device_address = (uintptr_t)buffers[handle].memory;
	fake.buffers++;
	return 0;
}

static int gem_close(const struct drm_gem_close *a)
{
	if (a->handle >= FAKE_BUFFERS || !buffers[a->handle].memory)
		return -EINVAL;
	munmap(buffers[a->handle].memory, buffers[a->handle].size);
	__real_close(buffers[a->handle].fd);
	buffers[a->handle].memory = NULL;
	fake.buffers--;
	return 0;
}

static int host_map(struct drm_simpler_host_map *a)
{
	if (fake.read_only && !(a->flags & DRM_SIMPLER_HOST_READ_ONLY))
		return -EFAULT;
	fake.host_maps++;
	fake.host_map_flags = a->flags;
	a->device_address = a->address;
	return 0;
}

/* ---- streams ---- */

static int stream_create(struct drm_simpler_stream_create *a)
{
	bool user = a->flags & DRM_SIMPLER_STREAM_USER;
	size_t bytes = sizeof(struct simpler_hw_ring) + a->entries * SIMPLER_HW_CMD_BYTES;
	uint32_t id = 1;

	if (user && !fake.user_streams)
		return -EOPNOTSUPP;
	while (id < FAKE_STREAMS && fake.streams[id].live)
		id++;
	if (id == FAKE_STREAMS)
		return -EDQUOT;
	fake.streams[id] = (struct fake_stream){ .live = true, .user = user,
						 .entries = a->entries };
	a->stream = id;
	if (!user)
		return 0;
	a->ring_size = (bytes + PAGE - 1) / PAGE * PAGE;
	a->ring_offset = RING_OFFSET + id * PAGE;
	a->doorbell_offset = DOORBELL_OFFSET;
	a->doorbell_size = PAGE;
	a->doorbell_position = 12;
	return 0;
}

static void execute(const struct simpler_hw_cmd *c)
{
	switch (c->opcode) {
	case SIMPLER_HW_OP_COPY:
		memcpy((void *)c->copy.dst, (void *)c->copy.src, c->copy.bytes);
		break;
	case SIMPLER_HW_OP_FILL:
		for (uint64_t i = 0; i < c->fill.bytes / c->fill.width; i++)
			memcpy((char *)c->fill.dst + i * c->fill.width, &c->fill.pattern,
			       c->fill.width);
		break;
	case SIMPLER_HW_OP_FENCE:
		__atomic_store_n((uint64_t *)c->fence.addr, c->fence.value, __ATOMIC_RELEASE);
		break;
	}
}

static void run_ring(struct fake_stream *s)
{
	const struct simpler_hw_cmd *cmds = (const struct simpler_hw_cmd *)(s->ring + 1);
	/* acquire (step 4): pairs with the library's release of producer (step 3) */
	uint32_t producer = __atomic_load_n(&s->ring->producer, __ATOMIC_ACQUIRE);

	while ((uint32_t)s->completed != producer)
		execute(&cmds[s->completed++ & (s->entries - 1)]);
	/* release (steps 8 and 9): pair with the library's acquires (steps 10 and 1) */
	__atomic_store_n(&s->ring->completed, s->completed, __ATOMIC_RELEASE);
	__atomic_store_n(&s->ring->consumer, (uint32_t)s->completed, __ATOMIC_RELEASE);
}

static struct fake_stream *find(uint32_t id)
{
	return id < FAKE_STREAMS && fake.streams[id].live ? &fake.streams[id] : NULL;
}

static int submit(struct drm_simpler_submit *a)
{
	const struct simpler_hw_cmd *cmds = (const struct simpler_hw_cmd *)a->commands.array;
	struct fake_stream *s = find(a->stream);

	if (!s)
		return -ENOENT;
	if (fake.banned)
		return -EIO;
	if (a->commands.count > FAKE_MAX_COMMANDS)
		return -EINVAL;
	for (uint32_t i = 0; i < a->commands.count; i++)
		execute(&cmds[i]);
	s->submitted += a->commands.count;
	s->completed = s->submitted;
	if (a->commands.count > fake.largest_submit)
		fake.largest_submit = a->commands.count;
	fake.submits++;
	a->seqno = s->submitted;
	return 0;
}

/* Does not sleep: what is not there now will not come. */
static int wait_seqno(struct drm_simpler_wait_seqno *a)
{
	struct fake_stream *s = find(a->stream);

	if (!s)
		return -ENOENT;
	fake.waits++;
	if (s->ring && !fake.banned)
		run_ring(s);
	if (s->completed < a->seqno)
		return fake.banned ? -EIO : -ETIME;
	a->completed = s->completed;
	return 0;
}

static int stream_state(struct drm_simpler_stream_state *a)
{
	struct fake_stream *s = find(a->stream);

	if (!s)
		return -ENOENT;
	a->submitted = s->submitted;
	a->completed = s->completed;
	return 0;
}

static int stream_destroy(const struct drm_simpler_stream_destroy *a)
{
	struct fake_stream *s = find(a->stream);

	if (!s)
		return -ENOENT;
	s->live = false;
	return 0;
}

/* ---- questions ---- */

static int version(int node, struct drm_version *a)
{
	const char *name = fake.nodes[node].foreign ? "other" : SIMPLER_ACCEL_DRIVER_NAME;

	a->version_major = SIMPLER_ACCEL_VERSION_MAJOR;
	strncpy(a->name, name, a->name_len);
	a->name_len = strlen(name);
	return 0;
}

static int query(int node, struct drm_simpler_dev_query *a)
{
	struct drm_simpler_device_info device = {
		.hw_version = 1 << 16 | 1, .arch = fake.nodes[node].arch, .cluster_count = 8,
		.flags = fake.user_streams ? DRM_SIMPLER_DEVICE_USER_STREAMS : 0,
		.page_bytes = PAGE, .max_commands = FAKE_MAX_COMMANDS, .memory_bytes = 1 << 30,
	};
	struct drm_simpler_health_info health = { .generation = 7 };
	struct drm_simpler_memory_info memory = { .file_used = 4096, .used = 12288 };
	const void *from[] = { &device, &memory, &health };
	const size_t sizes[] = { sizeof(device), sizeof(memory), sizeof(health) };

	if (a->type >= sizeof(sizes) / sizeof(sizes[0]))
		return -EINVAL;
	if (a->size > sizes[a->type])
		a->size = (uint32_t)sizes[a->type];
	memcpy((void *)a->pointer, from[a->type], a->size);
	return 0;
}

/* ---- what the library calls ---- */

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

static int call(int node, unsigned long request, void *a)
{
	if (fake.gone)
		return -ENODEV;
	if (fake.interrupt_every && ++fake.calls % fake.interrupt_every == 0)
		return fake.calls / fake.interrupt_every % 2 ? -EINTR : -EAGAIN;
	if (request == fake.fail_request)
		return -fake.fail_errno;
	switch (request) {
	case DRM_IOCTL_VERSION: return version(node, a);
	case DRM_IOCTL_GEM_CLOSE: return gem_close(a);
	case DRM_IOCTL_SIMPLER_DEV_QUERY: return query(node, a);
	case DRM_IOCTL_SIMPLER_BO_CREATE: return bo_create(a);
	case DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET:
		((struct drm_simpler_bo_mmap_offset *)a)->offset =
			((struct drm_simpler_bo_mmap_offset *)a)->handle * (uint64_t)PAGE;
		return 0;
	case DRM_IOCTL_SIMPLER_HOST_MAP: return host_map(a);
	case DRM_IOCTL_SIMPLER_HOST_UNMAP: return fake.host_maps-- ? 0 : -ENOENT;
	case DRM_IOCTL_SIMPLER_STREAM_CREATE: return stream_create(a);
	case DRM_IOCTL_SIMPLER_STREAM_DESTROY: return stream_destroy(a);
	case DRM_IOCTL_SIMPLER_STREAM_STATE: return stream_state(a);
	case DRM_IOCTL_SIMPLER_SUBMIT: return submit(a);
	case DRM_IOCTL_SIMPLER_WAIT_SEQNO: return wait_seqno(a);
	default: return -EINVAL;
	}
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *a;
	int rc;

	va_start(args, request);
	a = va_arg(args, void *);
	va_end(args);
	if (node_of(fd) < 0)
		return __real_ioctl(fd, request, a);
	pthread_mutex_lock(&lock);
	rc = call(node_of(fd), request, a);
	pthread_mutex_unlock(&lock);
	if (!rc)
		return 0;
	errno = -rc;
	return -1;
}

void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *p;

	if (node_of(fd) < 0)
		return __real_mmap(at, bytes, prot, flags, fd, offset);
	if ((uint64_t)offset < RING_OFFSET)
		return map_shared(buffers[offset / PAGE].fd, bytes) ?: MAP_FAILED;
	p = __real_mmap(NULL, bytes, prot, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if ((uint64_t)offset < DOORBELL_OFFSET)
		fake.streams[((uint64_t)offset - RING_OFFSET) / PAGE].ring = p;
	return p;
}
