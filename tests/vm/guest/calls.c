// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "calls.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#define PAGE 4096u

static void fill_dev_query(const struct scene *s, union arguments *a)
{
	a->dev_query.type = DRM_SIMPLER_QUERY_CONTEXT;
	a->dev_query.size = sizeof(struct drm_simpler_context_info);
	a->dev_query.pointer = (uintptr_t)s->memory;
}

static void fill_bo_create(const struct scene *s, union arguments *a)
{
	(void)s;
	a->bo_create.size = PAGE;
}

static void fill_bo_mmap_offset(const struct scene *s, union arguments *a)
{
	a->bo_mmap_offset.handle = s->bo.handle;
}

static void fill_bo_info(const struct scene *s, union arguments *a)
{
	a->bo_info.handle = s->bo.handle;
}

static void fill_host_map(const struct scene *s, union arguments *a)
{
	a->host_map.address = (uintptr_t)s->memory;
	a->host_map.size = PAGE;
}

static void fill_host_unmap(const struct scene *s, union arguments *a)
{
	a->host_unmap.device_address = s->pinned;
}

static void fill_stream_create(const struct scene *s, union arguments *a)
{
	(void)s;
	a->stream_create.priority = DRM_SIMPLER_PRIORITY_NORMAL;
	a->stream_create.entries = 16;
}

static void fill_stream_destroy(const struct scene *s, union arguments *a)
{
	a->stream_destroy.stream = s->stream;
}

static void fill_stream_state(const struct scene *s, union arguments *a)
{
	a->stream_state.stream = s->stream;
}

static void fill_submit(const struct scene *s, union arguments *a)
{
	a->submit.stream = s->stream;
	a->submit.commands = (struct drm_simpler_array){ sizeof(s->commands[0]), 2,
							 (uintptr_t)s->commands };
	a->submit.syncs = (struct drm_simpler_array){ sizeof(s->syncs[0]), 1,
						      (uintptr_t)s->syncs };
}

static void fill_wait_seqno(const struct scene *s, union arguments *a)
{
	a->wait_seqno.stream = s->stream;
	a->wait_seqno.seqno = 1;
}

#define M(type, member, role, limit) \
	{ #type "." #member, offsetof(struct drm_simpler_##type, member), \
	  sizeof(((struct drm_simpler_##type *)0)->member), role, limit }

const struct call calls[] = {
	{ "DEV_QUERY", DRM_IOCTL_SIMPLER_DEV_QUERY, fill_dev_query,
	  { M(dev_query, type, CHOICE, DRM_SIMPLER_QUERY_TIME + 1), M(dev_query, size, SIZE, 0),
	    M(dev_query, pointer, ADDRESS, 0) },
	  { EINVAL, EFAULT } },
	{ "BO_CREATE", DRM_IOCTL_SIMPLER_BO_CREATE, fill_bo_create,
	  { M(bo_create, size, SIZE, 0),
	    M(bo_create, flags, CHOICE, DRM_SIMPLER_BO_IMPORTED),
	    M(bo_create, handle, RESULT, 0), M(bo_create, device_address, RESULT, 0) },
	  { EINVAL, ENOSPC, EDQUOT, ENOMEM } },
	{ "BO_MMAP_OFFSET", DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, fill_bo_mmap_offset,
	  { M(bo_mmap_offset, handle, HANDLE, 0), M(bo_mmap_offset, pad, RESERVED, 0),
	    M(bo_mmap_offset, offset, RESULT, 0) },
	  { EINVAL, ENOENT, EACCES } },
	{ "BO_INFO", DRM_IOCTL_SIMPLER_BO_INFO, fill_bo_info,
	  { M(bo_info, handle, HANDLE, 0), M(bo_info, flags, RESULT, 0),
	    M(bo_info, size, RESULT, 0), M(bo_info, device_address, RESULT, 0) },
	  { ENOENT } },
	{ "HOST_MAP", DRM_IOCTL_SIMPLER_HOST_MAP, fill_host_map,
	  { M(host_map, address, ADDRESS, 0), M(host_map, size, SIZE, 0),
	    M(host_map, flags, CHOICE, DRM_SIMPLER_HOST_READ_ONLY << 1),
	    M(host_map, pad, RESERVED, 0), M(host_map, device_address, RESULT, 0) },
	  { EINVAL, EFAULT, EPERM, EOPNOTSUPP, ENOSPC, ENOMEM } },
	{ "HOST_UNMAP", DRM_IOCTL_SIMPLER_HOST_UNMAP, fill_host_unmap,
	  { M(host_unmap, device_address, ADDRESS, 0), M(host_unmap, flags, RESERVED, 0),
	    M(host_unmap, pad, RESERVED, 0) },
	  { EINVAL, ENOENT } },
	{ "STREAM_CREATE", DRM_IOCTL_SIMPLER_STREAM_CREATE, fill_stream_create,
	  { M(stream_create, flags, CHOICE, DRM_SIMPLER_STREAM_USER << 1),
	    M(stream_create, priority, CHOICE, DRM_SIMPLER_PRIORITY_HIGH + 1),
	    M(stream_create, entries, SIZE, 0), M(stream_create, timeout_ms, SIZE, 0),
	    M(stream_create, stream, RESULT, 0), M(stream_create, ring_offset, RESULT, 0),
	    M(stream_create, pad, RESERVED, 0) },
	  { EINVAL, EACCES, EOPNOTSUPP, EDQUOT, ENOSPC, ENOMEM } },
	{ "STREAM_DESTROY", DRM_IOCTL_SIMPLER_STREAM_DESTROY, fill_stream_destroy,
	  { M(stream_destroy, stream, HANDLE, 0), M(stream_destroy, pad, RESERVED, 0) },
	  { EINVAL, ENOENT } },
	{ "STREAM_STATE", DRM_IOCTL_SIMPLER_STREAM_STATE, fill_stream_state,
	  { M(stream_state, stream, HANDLE, 0), M(stream_state, completed, RESULT, 0) },
	  { ENOENT } },
	{ "SUBMIT", DRM_IOCTL_SIMPLER_SUBMIT, fill_submit,
	  { M(submit, stream, HANDLE, 0), M(submit, flags, RESERVED, 0),
	    M(submit, commands.stride, SIZE, 0), M(submit, commands.count, SIZE, 0),
	    M(submit, commands.array, ADDRESS, 0), M(submit, syncs.stride, SIZE, 0),
	    M(submit, syncs.count, SIZE, 0), M(submit, syncs.array, ADDRESS, 0),
	    M(submit, seqno, RESULT, 0), M(submit, pad, RESERVED, 0) },
	  { EINVAL, ENOENT, EPERM, E2BIG, EFAULT, ENOMEM, EAGAIN } },
	{ "WAIT_SEQNO", DRM_IOCTL_SIMPLER_WAIT_SEQNO, fill_wait_seqno,
	  { M(wait_seqno, stream, HANDLE, 0), M(wait_seqno, flags, RESERVED, 0),
	    M(wait_seqno, seqno, SIZE, 0), M(wait_seqno, deadline_ns, SIZE, 0),
	    M(wait_seqno, completed, RESULT, 0) },
	  { EINVAL, ENOENT, ETIME, ECANCELED } },
};

const unsigned int call_count = sizeof(calls) / sizeof(calls[0]);

/* ---- a file with everything in it ---- */

static void *two_pages(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	p[0] = p[PAGE] = 1;
	assert_int_equal(mprotect(p + PAGE, PAGE, PROT_READ), 0);
	return p;
}

static uint32_t closed_handle(int fd)
{
	struct guest_bo bo = guest_bo(fd, PAGE, DRM_SIMPLER_BO_NO_MMAP);

	guest_bo_close(fd, &bo);
	return bo.handle;
}

/* One that only another file has. */
static uint32_t foreign_handle(int chip)
{
	int fd = guest_open(chip);
	uint32_t handle = 0;

	for (int i = 0; i < 64; i++)
		handle = guest_bo(fd, PAGE, DRM_SIMPLER_BO_NO_MMAP).handle;
	close(fd);
	return handle;
}

static uint32_t make_user_stream(int fd)
{
	struct drm_simpler_stream_create create = {
		.flags = DRM_SIMPLER_STREAM_USER, .priority = DRM_SIMPLER_PRIORITY_NORMAL,
		.entries = 16,
	};

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create), 0);
	return create.stream;
}

struct scene scene_open(int chip)
{
	struct scene s = { .fd = guest_open(chip), .foreign_bo = foreign_handle(chip) };
	struct drm_simpler_host_map map = { .size = PAGE };

	s.closed_bo = closed_handle(s.fd);
	s.bo = guest_bo(s.fd, 4 * PAGE, 0);
	s.stream = guest_stream(s.fd);
	s.user_stream = make_user_stream(s.fd);
	assert_int_equal(drmSyncobjCreate(s.fd, 0, &s.syncobj), 0);
	s.memory = two_pages();
	map.address = (uintptr_t)s.memory;
	assert_int_equal(guest_ioctl(s.fd, DRM_IOCTL_SIMPLER_HOST_MAP, &map), 0);
	s.pinned = map.device_address;
	s.commands[0] = guest_fill(s.bo.address, PAGE, 3);
	s.commands[1] = guest_copy(s.bo.address + PAGE, s.bo.address, PAGE);
	s.syncs[0] = (struct drm_simpler_sync){ .flags = DRM_SIMPLER_SYNC_SIGNAL,
						.handle = s.syncobj };
	return s;
}

void scene_close(struct scene *s)
{
	guest_unmap_all();
	munmap(s->memory, 2 * PAGE);
	close(s->fd);
}

/* ---- calling ---- */

int call_once(int fd, unsigned long request, void *arguments)
{
	return ioctl(fd, request, arguments) < 0 ? -errno : 0;
}

uint64_t call_get(const union arguments *a, const struct member *m)
{
	uint64_t value = 0;

	memcpy(&value, a->bytes + m->offset, m->bytes);
	return value;
}

void call_set(union arguments *a, const struct member *m, uint64_t value)
{
	memcpy(a->bytes + m->offset, &value, m->bytes);
}

bool call_may_return(const struct call *c, int rc)
{
	if (!rc || rc == -EIO || rc == -ENODEV || rc == -EINTR)
		return true;
	for (unsigned int i = 0; i < CALL_ERRORS && c->errors[i]; i++)
		if (rc == -c->errors[i])
			return true;
	return false;
}
