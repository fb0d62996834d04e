/* SPDX-License-Identifier: MIT */
/* Finding and opening chips; contexts. */
#define _GNU_SOURCE
#include "rts/accel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"

#define CLASS_DIR	"/sys/class/accel"
#define MAX_NODES	1024u

int accel_ioctl(int fd, unsigned long request, void *argument)
{
	int rc;

	do {
		rc = ioctl(fd, request, argument);
	} while (rc < 0 && (errno == EINTR || errno == EAGAIN));
	return rc < 0 ? -errno : 0;
}

static int query(int fd, uint32_t type, void *to, uint32_t size)
{
	struct drm_simpler_dev_query q = {
		.type = type, .size = size, .pointer = (uint64_t)(uintptr_t)to,
	};

	memset(to, 0, size);
	return accel_ioctl(fd, DRM_IOCTL_SIMPLER_DEV_QUERY, &q);
}

/* ---- finding the node ---- */

static bool is_ours(int fd)
{
	char name[32] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	return !accel_ioctl(fd, DRM_IOCTL_VERSION, &version) &&
	       !strcmp(name, SIMPLER_ACCEL_DRIVER_NAME) &&
	       version.version_major == SIMPLER_ACCEL_VERSION_MAJOR;
}

/* Opens node @number if it is a chip of that architecture; else a negative errno. */
static int open_node(struct accel_device *d, unsigned int number, uint32_t arch)
{
	int rc;

	snprintf(d->path, sizeof(d->path), "/dev/accel/accel%u", number);
	d->fd = open(d->path, O_RDWR | O_CLOEXEC);
	if (d->fd < 0)
		return -errno;
	rc = is_ours(d->fd) ? query(d->fd, DRM_SIMPLER_QUERY_DEVICE, &d->info, sizeof(d->info)) :
			      -ENODEV;
	if (!rc && d->info.arch != arch)
		rc = -ENODEV;
	if (rc) {
		close(d->fd);
		d->fd = -1;
	}
	return rc;
}

static int node_numbers(unsigned int *numbers)
{
	DIR *dir = opendir(CLASS_DIR);
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)) && count < (int)MAX_NODES)
		if (sscanf(entry->d_name, "accel%u", &numbers[count]) == 1)
			count++;
	if (dir)
		closedir(dir);
	return count;
}

static int by_number(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

/* Chip @device_id is the one with so many of its architecture before it. */
static int find(struct accel_device *d, uint32_t arch, int32_t device_id)
{
	unsigned int numbers[MAX_NODES];
	int count = node_numbers(numbers);

	qsort(numbers, (size_t)count, sizeof(numbers[0]), by_number);
	for (int i = 0; i < count; i++) {
		int node = open_node(d, numbers[i], arch);

		if (node == -EACCES || node == -EPERM)
			log_warn("no permission to open %s; be in the group that owns it", d->path);
		if (node)
			continue;
		if (!device_id--)
			return 0;
		close(d->fd);
		d->fd = -1;
	}
	return -ENODEV;
}

/* ---- devices ---- */

static void fill_regs(struct accel_device *d)
{
	const struct drm_simpler_device_info *i = &d->info;

	d->regs = (struct simpler_hw_regs){
		.magic = SIMPLER_HW_MAGIC,
		.version_major = (uint16_t)(i->hw_version >> 16),
		.version_minor = (uint16_t)i->hw_version,
		.arch = i->arch,
		.cluster_count = i->cluster_count,
		.memory_bytes = i->memory_bytes,
		.features = i->hw_features,
		.max_contexts = i->max_contexts,
		.max_streams = i->max_streams,
		.counter_hz = i->counter_hz,
	};
}

static int accel_open(uint32_t arch, int32_t device_id, void **device)
{
	struct accel_device *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	rc = find(d, arch, device_id);
	if (rc) {
		free(d);
		return rc;
	}
	fill_regs(d);
	*device = d;
	return 0;
}

static void accel_close(void *device)
{
	struct accel_device *d = device;

	close(d->fd);
	free(d);
}

/* Asks again for what changes; a chip that is gone is a dead one. */
static const struct simpler_hw_regs *accel_regs(void *device)
{
	struct accel_device *d = device;
	struct drm_simpler_health_info h;
	uint32_t health = SIMPLER_HW_HEALTH_DEAD;

	if (!query(d->fd, DRM_SIMPLER_QUERY_HEALTH, &h, sizeof(h))) {
		health = h.flags & DRM_SIMPLER_HEALTH_WEDGED ? SIMPLER_HW_HEALTH_DEAD : h.health;
		/* relaxed: snapshots for simpler_device_get_info(), which order nothing */
		__atomic_store_n(&d->regs.generation, h.generation, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&d->regs.health, health, __ATOMIC_RELAXED);
	return &d->regs;
}

/* ---- contexts ---- */

static int accel_context_create(void *device, void **context)
{
	struct accel_context *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	c->device = device;
	c->fd = open(c->device->path, O_RDWR | O_CLOEXEC);
	if (c->fd < 0) {
		rc = -errno;
		free(c);
		return rc == -ENXIO || rc == -ENOENT ? -ENODEV : rc;
	}
	pthread_mutex_init(&c->lock, NULL);
	*context = c;
	return 0;
}

static int accel_context_destroy(void *context)
{
	struct accel_context *c = context;

	accel_memory_drop(c);
	close(c->fd);
	pthread_mutex_destroy(&c->lock);
	free(c);
	return 0;
}

const struct rts_transport rts_accel = {
	.name = "accel",
	.open = accel_open,
	.close = accel_close,
	.regs = accel_regs,
	.context_create = accel_context_create,
	.context_destroy = accel_context_destroy,
	.memory_alloc = accel_memory_alloc,
	.memory_free = accel_memory_free,
	.memory_usage = accel_memory_usage,
	.shared_alloc = accel_shared_alloc,
	.shared_free = accel_shared_free,
	.host_map = accel_host_map,
	.host_unmap = accel_host_unmap,
	.stream_create = accel_stream_create,
	.stream_destroy = accel_stream_destroy,
	.stream_ring = accel_stream_ring,
	.doorbell = accel_doorbell,
	.wait_seqno = accel_wait_seqno,
};
