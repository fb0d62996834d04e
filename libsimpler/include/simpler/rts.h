/* SPDX-License-Identifier: MIT */
/*
 * Run-time services: devices, contexts, device memory, streams, events.
 *
 * A device is one chip, opened by this process.  A context is an address space
 * on it with its own memory and streams; a failure in one context does not
 * touch another.  Commands of a stream execute in order, streams run
 * concurrently, events order them.
 *
 * Threads: all functions may be called from any thread, except that destroying
 * an object must not race with other uses of it.  Children are destroyed before
 * their parents; destroying a parent that has children is refused with
 * SIMPLER_ERR_INVALID_STATE.
 */
#ifndef SIMPLER_RTS_H
#define SIMPLER_RTS_H

#include <stddef.h>
#include <stdint.h>

#include "simpler/error.h"
#include "simpler/export.h"
#include "simpler/wait.h"

SIMPLER_BEGIN_DECLS

struct simpler_device;
struct simpler_context;
struct simpler_stream;
struct simpler_event;

struct simpler_device_info {
	char platform[16];		/* "a2a3sim", … */
	char arch[16];			/* "a2a3" or "a5" */
	int32_t device_id;
	uint32_t cluster_count;		/* 1 AIC and 2 AIV cores each */
	uint64_t memory_bytes;
	uint64_t features;		/* SIMPLER_HW_FEATURE_* */
	uint32_t health;		/* SIMPLER_HW_HEALTH_* */
	uint32_t generation;		/* incremented by every reset */
};

/**
 * simpler_device_open - open a chip
 * @platform: "a2a3sim" or "a5sim" (simulated in this process), "a2a3" or "a5"
 * @device_id: which chip, >= 0
 * @out: the device
 * @error: filled on failure; may be NULL
 *
 * Returns 0, SIMPLER_ERR_PLATFORM_UNKNOWN, SIMPLER_ERR_INVALID_ARGUMENT,
 * SIMPLER_ERR_NO_DEVICE, SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_device_open(const char *platform, int32_t device_id,
				    struct simpler_device **out, struct simpler_error *error);

/** simpler_device_close - accepts NULL; SIMPLER_ERR_INVALID_STATE while contexts exist */
SIMPLER_API int simpler_device_close(struct simpler_device *d);
SIMPLER_API void simpler_device_get_info(const struct simpler_device *d,
					 struct simpler_device_info *info);

/** simpler_context_create - a new address space; SIMPLER_ERR_NO_MEMORY, SIMPLER_ERR_DEVICE_LOST */
SIMPLER_API int simpler_context_create(struct simpler_device *d, struct simpler_context **out);

/**
 * simpler_context_destroy - stop what runs, release memory
 *
 * Accepts NULL.  Returns 0, or SIMPLER_ERR_INVALID_STATE: streams exist, or a
 * run could not be stopped; the context stays and the call can be repeated.
 */
SIMPLER_API int simpler_context_destroy(struct simpler_context *c);

/**
 * simpler_context_malloc - allocate zeroed device memory
 * @bytes: size, > 0
 * @address: device address, aligned to 1024
 *
 * Returns 0, SIMPLER_ERR_INVALID_ARGUMENT (0 bytes) or SIMPLER_ERR_DEVICE_MEMORY.
 */
SIMPLER_API int simpler_context_malloc(struct simpler_context *c, uint64_t bytes,
				       uint64_t *address);
/* SIMPLER_ERR_INVALID_ARGUMENT when @address is not the start of an allocation. */
SIMPLER_API int simpler_context_free(struct simpler_context *c, uint64_t address);
/* Device memory in use by this context and by all contexts of the chip, in bytes. */
SIMPLER_API void simpler_context_memory(struct simpler_context *c, uint64_t *context_bytes,
					uint64_t *chip_bytes);

/** simpler_stream_create - SIMPLER_ERR_NO_MEMORY, or _INVALID_STATE when there are too many */
SIMPLER_API int simpler_stream_create(struct simpler_context *c, struct simpler_stream **out);
/* Aborts commands that have not started and waits for the one that executes.  Accepts NULL. */
SIMPLER_API int simpler_stream_destroy(struct simpler_stream *s);

/*
 * Asynchronous commands: they return once queued.  Host memory must stay valid
 * until the stream has passed the command.  When the queue is full they wait for
 * the device.  SIMPLER_ERR_DEVICE_LOST when the context is gone.
 */
SIMPLER_API int simpler_stream_copy_to_device(struct simpler_stream *s, uint64_t dst,
					      const void *src, uint64_t bytes);
SIMPLER_API int simpler_stream_copy_from_device(struct simpler_stream *s, void *dst, uint64_t src,
						uint64_t bytes);
SIMPLER_API int simpler_stream_copy_on_device(struct simpler_stream *s, uint64_t dst, uint64_t src,
					      uint64_t bytes);
/* @width is 1, 2, 4 or 8 bytes of @pattern; @bytes is a multiple of it. */
SIMPLER_API int simpler_stream_fill(struct simpler_stream *s, uint64_t dst, uint64_t bytes,
				    uint64_t pattern, uint32_t width);

/**
 * simpler_stream_synchronize - wait until all commands queued so far have ended
 *
 * Returns 0, SIMPLER_ERR_TIMEOUT, SIMPLER_ERR_INTERRUPTED, SIMPLER_ERR_TIMEOUT_VALUE,
 * SIMPLER_ERR_DEVICE_LOST, or the code of the first command that failed.
 */
SIMPLER_API int simpler_stream_synchronize(struct simpler_stream *s,
					   const struct simpler_wait *wait);

/** simpler_event_create - an event that nothing has recorded counts as passed */
SIMPLER_API int simpler_event_create(struct simpler_context *c, struct simpler_event **out);
/* Accepts NULL.  Commands that wait for it go on to do so. */
SIMPLER_API void simpler_event_destroy(struct simpler_event *e);
/*
 * Passes when all commands queued on @s so far have ended, which destroying @s
 * makes them.  SIMPLER_ERR_INVALID_ARGUMENT when @s is of another context.
 */
SIMPLER_API int simpler_event_record(struct simpler_event *e, struct simpler_stream *s);
/* Later commands of @s wait for the latest recording of @e; both are of one context. */
SIMPLER_API int simpler_stream_wait_event(struct simpler_stream *s, struct simpler_event *e);
/* 1 passed, 0 not yet. */
SIMPLER_API int simpler_event_query(const struct simpler_event *e);
/* Waits on the recorded stream, which must not be destroyed meanwhile. */
SIMPLER_API int simpler_event_synchronize(struct simpler_event *e, const struct simpler_wait *wait);

SIMPLER_END_DECLS

#endif /* SIMPLER_RTS_H */
