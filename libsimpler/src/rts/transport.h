/* SPDX-License-Identifier: MIT */
/*
 * Transport: how commands and memory reach a chip.  "inproc" is the simulated
 * chip of src/model, "accel" a chip behind the kernel driver; tests bring their own.  Above this table everything speaks
 * simpler_hw.h only.
 *
 * Calls return 0 or a negative errno.  Any call may be made from any thread; a
 * destroy does not race with other uses of the same object.
 */
#ifndef SIMPLER_RTS_TRANSPORT_H
#define SIMPLER_RTS_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "simpler_hw.h"

struct rts_wait {
	int64_t deadline_ns;		/* CLOCK_MONOTONIC; INT64_MAX: none */
	bool (*interrupted)(void *arg);	/* may be NULL */
	void *arg;
};

struct rts_transport {
	const char *name;

	/* -ENODEV no such chip, -ENOMEM */
	int (*open)(uint32_t arch, int32_t device_id, void **device);
	void (*close)(void *device);
	const struct simpler_hw_regs *(*regs)(void *device);

	int (*context_create)(void *device, void **context);
	int (*context_destroy)(void *context);	/* -EBUSY: a run could not be stopped */

	/* Device memory: zeroed, aligned to 1024. -ENOMEM; -ENOENT */
	int (*memory_alloc)(void *context, uint64_t bytes, uint64_t *addr);
	int (*memory_free)(void *context, uint64_t addr);
	void (*memory_usage)(void *context, uint64_t *context_bytes, uint64_t *chip_bytes);

	/* Zeroed memory that host and chip share coherently, 64-byte aligned. */
	int (*shared_alloc)(void *context, uint64_t bytes, void **host, uint64_t *addr);
	void (*shared_free)(void *context, void *host, uint64_t bytes);

	/* Makes existing host memory reachable for the chip at @addr. */
	int (*host_map)(void *context, const void *host, uint64_t bytes, uint64_t *addr);
	void (*host_unmap)(void *context, uint64_t addr, uint64_t bytes);

	int (*stream_create)(void *context, uint32_t entries, void **stream);	/* -ENOSPC */
	int (*stream_destroy)(void *stream);					/* -EBUSY */
	struct simpler_hw_ring *(*stream_ring)(void *stream);
	void (*doorbell)(void *stream);
	/*
	 * Waits until the stream completed @seqno commands; without a deadline the
	 * doorbell need not have been rung. -ETIMEDOUT, -EINTR, -ENODEV
	 */
	int (*wait_seqno)(void *stream, uint64_t seqno, const struct rts_wait *wait);
};

extern const struct rts_transport rts_inproc;
extern const struct rts_transport rts_accel;

/* What a platform name stands for. */
struct rts_platform {
	const char *name;			/* "a2a3sim" */
	const char *arch_name;			/* "a2a3" */
	uint32_t arch;				/* SIMPLER_HW_ARCH_* */
	bool simulated;
	const struct rts_transport *transport;	/* NULL: not in this build */
	int32_t max_control_threads;
};

/** rts_platform_find - NULL for an unknown name */
const struct rts_platform *rts_platform_find(const char *name);

#endif /* SIMPLER_RTS_TRANSPORT_H */
