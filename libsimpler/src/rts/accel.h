/* SPDX-License-Identifier: MIT */
/*
 * Transport to a chip behind the kernel driver: what its files share.
 *
 * A context of rts is an open file of the node, since the driver gives each one
 * an address space of its own.  Streams are user-mode streams, whose ring and
 * doorbell are mapped here; where the driver refuses those, a stream's ring is a
 * copy in this process, and SUBMIT carries its commands over (accel_submit.c).
 */
#ifndef SIMPLER_RTS_ACCEL_H
#define SIMPLER_RTS_ACCEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "rts/transport.h"
#include "simpler_accel.h"

#define ACCEL_PATH_BYTES 64

struct accel_device {
	char path[ACCEL_PATH_BYTES];
	int fd;				/* for questions only */
	struct drm_simpler_device_info info;
	struct simpler_hw_regs regs;	/* as far as the driver tells */
};

struct accel_context {
	struct accel_device *device;
	int fd;
	pthread_mutex_t lock;		/* the tree */
	void *buffers;			/* tsearch: struct accel_buffer by address */
};

struct accel_stream {
	struct accel_context *context;
	struct simpler_hw_ring *ring;	/* what rts writes to */
	size_t ring_bytes;
	uint32_t id;
	uint32_t entries;
	volatile uint32_t *doorbell;	/* NULL: kernel-mode stream */
	void *doorbell_page;
	uint32_t doorbell_bytes;
	uint32_t doorbell_value;
	struct accel_submitter *submitter;	/* of a kernel-mode stream */
};

/* ioctl() of the driver, repeated after a signal; 0 or a negative errno. */
int accel_ioctl(int fd, unsigned long request, void *argument);

/* accel_memory.c */
int accel_memory_alloc(void *context, uint64_t bytes, uint64_t *addr);
int accel_memory_free(void *context, uint64_t addr);
void accel_memory_usage(void *context, uint64_t *context_bytes, uint64_t *chip_bytes);
int accel_shared_alloc(void *context, uint64_t bytes, void **host, uint64_t *addr);
void accel_shared_free(void *context, void *host, uint64_t bytes);
int accel_host_map(void *context, const void *host, uint64_t bytes, uint64_t *addr);
void accel_host_unmap(void *context, uint64_t addr, uint64_t bytes);
/* Forgets what is left; closing the file frees it. */
void accel_memory_drop(struct accel_context *c);

/* accel_stream.c */
int accel_stream_create(void *context, uint32_t entries, void **stream);
int accel_stream_destroy(void *stream);
struct simpler_hw_ring *accel_stream_ring(void *stream);
void accel_doorbell(void *stream);
int accel_wait_seqno(void *stream, uint64_t seqno, const struct rts_wait *wait);
/* One WAIT_SEQNO; 0, -ETIME, -EINTR, -ENODEV (the context is banned, lost, or the chip is gone). */
int accel_wait_once(struct accel_stream *s, uint64_t seqno, int64_t deadline_ns,
		    uint64_t *completed);

/* accel_submit.c: kernel-mode streams */
int accel_submitter_open(struct accel_stream *s);
void accel_submitter_close(struct accel_stream *s);
/* Brings back how far the stream is. */
void accel_submitter_refresh(struct accel_stream *s);
/* Hands over what was written since the last time. */
void accel_submitter_kick(struct accel_stream *s);

#endif /* SIMPLER_RTS_ACCEL_H */
