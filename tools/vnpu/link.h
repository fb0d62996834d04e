/* SPDX-License-Identifier: MIT */
/*
 * What the device process and the executor of one context share.
 *
 * The executor runs code of the guest, so nothing in here can be trusted by the
 * device process: it copies, then checks.  Each side wakes the other through an
 * eventfd.  There is one request at a time; its serial is written last, and
 * answered by the same serial.
 */
#ifndef SIMPLER_VNPU_LINK_H
#define SIMPLER_VNPU_LINK_H

#include <stdatomic.h>
#include <stdint.h>

#include "simpler_hw.h"

#define VNPU_MAX_STREAMS	1024u
#define VNPU_MAX_CONTEXTS	64u
/* One mapping each; the kernel's default limit of a process is 65530. */
#define VNPU_MAX_RUNS		60000u

/* File descriptors of an executor. */
enum vnpu_fd {
	VNPU_FD_LINK = 3,
	VNPU_FD_DEVICE,			/* BAR2 */
	VNPU_FD_HOST,			/* guest RAM, or /dev/null */
	VNPU_FD_WAKE,			/* eventfd towards the executor */
	VNPU_FD_TELL,			/* eventfd towards the device */
	VNPU_FD_LISTENER,		/* socket on which the notification descriptor is sent */
	VNPU_FD_COUNT,
};

enum vnpu_op {
	VNPU_OP_HELLO,			/* asked by starting the executor */
	VNPU_OP_STREAM_CREATE,
	VNPU_OP_STREAM_DESTROY,
	VNPU_OP_MAP,
	VNPU_OP_PAUSE,
	VNPU_OP_RESUME,
};

#define VNPU_RUN_WRITE	(1u << 0)
#define VNPU_RUN_HOST	(1u << 1)

/* Pages that are contiguous both in device-virtual addresses and in their file. */
struct vnpu_run {
	uint64_t va;
	uint64_t bytes;
	uint64_t offset;		/* in BAR2 or guest RAM */
	uint64_t flags;			/* VNPU_RUN_* */
};

struct vnpu_request {
	uint32_t op;			/* enum vnpu_op */
	uint32_t stream;
	uint32_t entries;
	uint32_t run_count;
	uint32_t priority;
	uint32_t reserved;
	uint64_t ring;			/* offset in BAR2 */
	uint64_t addr;			/* MAP: the range that the runs replace */
	uint64_t bytes;
};

struct vnpu_link {
	/* written by the device */
	_Atomic uint32_t serial;
	uint32_t arch;
	uint32_t device_id;
	uint32_t reserved;
	struct vnpu_request request;

	/* written by the executor */
	_Alignas(64) _Atomic uint32_t answered;
	int32_t result;
	_Atomic uint32_t faulted;
	uint32_t reserved1;
	struct simpler_hw_fault fault;
	_Atomic uint64_t interrupts[VNPU_MAX_STREAMS / 64];

	/* written by the device */
	_Alignas(4096) struct vnpu_run runs[VNPU_MAX_RUNS];
};

/** executor_main - life of an executor process; its descriptors are open */
int executor_main(void);

/**
 * sandbox_enter - give up whatever kernels do not need
 *
 * Afterwards the calling process cannot open files, reach other processes or
 * the network, or start programs; its mappings of VNPU_FD_DEVICE and
 * VNPU_FD_HOST are decided by the device process, to which a notification
 * descriptor is sent on VNPU_FD_LISTENER.  Call it on the only thread.
 *
 * Returns 0 or a negative errno.
 */
int sandbox_enter(void);

#endif /* SIMPLER_VNPU_LINK_H */
