/* SPDX-License-Identifier: MIT */
/* Streams: user-mode where the driver permits, else kernel-mode; waiting. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/log.h"
#include "rts/accel.h"

#define INTERRUPT_POLL_NS	100000000	/* between calls of an interrupt check */
#define SPINS			100u		/* looks before the kernel is asked */

/* ---- creating ---- */

static int create(struct accel_stream *s, uint32_t flags, struct drm_simpler_stream_create *out)
{
	*out = (struct drm_simpler_stream_create){
		.flags = flags, .priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = s->entries,
	};
	return accel_ioctl(s->context->fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, out);
}

static void *map(const struct accel_stream *s, uint64_t offset, uint64_t bytes, int prot)
{
	void *p = mmap(NULL, bytes, prot, MAP_SHARED, s->context->fd, (off_t)offset);

	return p == MAP_FAILED ? NULL : p;
}

static void unmap(struct accel_stream *s)
{
	if (s->ring)
		munmap(s->ring, s->ring_bytes);
	if (s->doorbell_page)
		munmap(s->doorbell_page, s->doorbell_bytes);
}

static void destroy(struct accel_stream *s)
{
	struct drm_simpler_stream_destroy d = { .stream = s->id };

	accel_ioctl(s->context->fd, DRM_IOCTL_SIMPLER_STREAM_DESTROY, &d);
}

static int open_user(struct accel_stream *s)
{
	struct drm_simpler_stream_create made;
	int rc = create(s, DRM_SIMPLER_STREAM_USER, &made);

	if (rc)
		return rc;
	s->id = made.stream;
	s->ring_bytes = made.ring_size;
	s->ring = map(s, made.ring_offset, made.ring_size, PROT_READ | PROT_WRITE);
	s->doorbell_bytes = made.doorbell_size;
	s->doorbell_page = map(s, made.doorbell_offset, made.doorbell_size, PROT_READ | PROT_WRITE);
	if (!s->ring || !s->doorbell_page) {
		unmap(s);
		destroy(s);
		return -ENOMEM;
	}
	s->doorbell_value = made.doorbell_value;
	s->doorbell = (volatile uint32_t *)((char *)s->doorbell_page + made.doorbell_position);
	return 0;
}

static int open_kernel(struct accel_stream *s)
{
	struct drm_simpler_stream_create made;
	int rc = create(s, 0, &made);

	if (rc)
		return rc;
	s->id = made.stream;
	rc = accel_submitter_open(s);
	if (rc)
		destroy(s);
	return rc;
}

/* SIMPLER_STREAM_MODE=kernel is for measuring and for finding out whose fault something is. */
static bool want_user(const struct accel_stream *s)
{
	const char *mode = getenv("SIMPLER_STREAM_MODE");

	return s->context->device->info.flags & DRM_SIMPLER_DEVICE_USER_STREAMS &&
	       !(mode && !strcmp(mode, "kernel"));
}

int accel_stream_create(void *context, uint32_t entries, void **stream)
{
	struct accel_stream *s = calloc(1, sizeof(*s));
	int rc = -EOPNOTSUPP;

	if (!s)
		return -ENOMEM;
	s->context = context;
	s->entries = entries;
	if (want_user(s))
		rc = open_user(s);
	if (rc == -EOPNOTSUPP)
		rc = open_kernel(s);
	if (rc) {
		free(s);
		return rc == -EDQUOT ? -ENOSPC : rc == -EIO ? -ENODEV : rc;
	}
	*stream = s;
	return 0;
}

int accel_stream_destroy(void *stream)
{
	struct accel_stream *s = stream;

	destroy(s);
	if (s->submitter)
		accel_submitter_close(s);
	else
		unmap(s);
	free(s);
	return 0;
}

struct simpler_hw_ring *accel_stream_ring(void *stream)
{
	return ((struct accel_stream *)stream)->ring;
}

/* ---- using ---- */

void accel_doorbell(void *stream)
{
	struct accel_stream *s = stream;

	if (!s->doorbell) {
		accel_submitter_kick(s);
		return;
	}
	/* seq_cst: step 5 after step 3, also where the doorbell is not ordinary memory */
	atomic_thread_fence(memory_order_seq_cst);
	*s->doorbell = s->doorbell_value;
}

static bool reached(const struct accel_stream *s, uint64_t seqno)
{
	/* acquire (step 10): pairs with the device's release of completed (step 8) */
	return __atomic_load_n(&s->ring->completed, __ATOMIC_ACQUIRE) >= seqno;
}

static bool reached_soon(const struct accel_stream *s, uint64_t seqno)
{
	for (uint32_t i = 0; i < SPINS; i++) {
		if (reached(s, seqno))
			return true;
		cpu_relax();
	}
	return false;
}

int accel_wait_once(struct accel_stream *s, uint64_t seqno, int64_t deadline_ns,
		    uint64_t *completed)
{
	struct drm_simpler_wait_seqno w = {
		.stream = s->id, .seqno = seqno, .deadline_ns = deadline_ns,
	};

	if (ioctl(s->context->fd, DRM_IOCTL_SIMPLER_WAIT_SEQNO, &w) < 0)
		return errno == EIO ? -ENODEV : -errno;
	*completed = w.completed;
	return 0;
}

static bool interrupted(const struct rts_wait *w)
{
	return w->interrupted && w->interrupted(w->arg);
}

/* The device does not write to a ring whose context was lost in a reset. */
static int lost(struct accel_stream *s, uint64_t seqno)
{
	if (s->submitter)
		accel_submitter_refresh(s);
	if (reached(s, seqno))
		return 0;
	/* relaxed: as the readers in stream.c, nothing is ordered by it */
	__atomic_store_n(&s->ring->state, SIMPLER_HW_STREAM_BANNED, __ATOMIC_RELAXED);
	return -ENODEV;
}

static int wait_step(struct accel_stream *s, uint64_t seqno, const struct rts_wait *w)
{
	int64_t now = (int64_t)clock_mono_ns();
	int64_t until = w->deadline_ns;
	uint64_t completed;
	int rc;

	if (w->interrupted && until > now + INTERRUPT_POLL_NS)
		until = now + INTERRUPT_POLL_NS;
	rc = accel_wait_once(s, seqno, until, &completed);
	if (rc == -ENODEV)
		return lost(s, seqno);
	if (rc && rc != -ETIME && rc != -EINTR && rc != -EAGAIN)
		return rc;
	if (!rc && s->submitter)
		accel_submitter_refresh(s);
	if (reached(s, seqno))
		return 0;
	if (interrupted(w))
		return -EINTR;
	return (int64_t)clock_mono_ns() >= w->deadline_ns ? -ETIMEDOUT : -EAGAIN;
}

int accel_wait_seqno(void *stream, uint64_t seqno, const struct rts_wait *wait)
{
	struct accel_stream *s = stream;
	int rc;

	if (reached(s, seqno))
		return 0;
	accel_doorbell(s);
	if (reached_soon(s, seqno))
		return 0;
	do {
		rc = wait_step(s, seqno, wait);
	} while (rc == -EAGAIN);
	return rc;
}
