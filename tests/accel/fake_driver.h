/* SPDX-License-Identifier: MIT */
/*
 * A driver in this process: nodes, buffers, streams and the commands that move memory.
 * Device addresses are host addresses.  Commands of user-mode streams are executed when
 * somebody waits, those of kernel-mode streams when they are submitted.
 */
#ifndef TESTS_ACCEL_FAKE_DRIVER_H
#define TESTS_ACCEL_FAKE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "simpler_accel.h"
#include "simpler_hw.h"

#define FAKE_NODES	4u
#define FAKE_STREAMS	8u
#define FAKE_BUFFERS	32u
#define FAKE_MAX_COMMANDS 5u

struct fake_node {
	bool there;
	bool foreign;			/* another driver's */
	uint32_t arch;
	int open_error;			/* positive errno */
};

struct fake_stream {
	bool live, user;
	uint32_t entries;
	struct simpler_hw_ring *ring;	/* user-mode */
	uint64_t submitted, completed;
};

struct fake_driver {
	struct fake_node nodes[FAKE_NODES];
	struct fake_stream streams[FAKE_STREAMS];
	bool user_streams;		/* they can be created */
	bool read_only;			/* HOST_MAP finds pages that cannot be written */
	_Atomic uint32_t interrupt_every;	/* so many calls: the next one ends with EINTR or EAGAIN */
	_Atomic int fail_errno;			/* what call @fail_request ends with */
	_Atomic unsigned long fail_request;
	_Atomic bool banned, gone;
	/* what has happened */
	uint32_t calls, waits, submits, host_maps, open_files, buffers, largest_submit;
	uint32_t host_map_flags;	/* of the latest */
};

extern struct fake_driver fake;

/* Two chips of a2a3 around one of a5 and a node of another driver; everything works. */
void fake_reset(void);
/* Before the process ends: what is in /tmp. */
void fake_end(void);

#endif /* TESTS_ACCEL_FAKE_DRIVER_H */
