/* SPDX-License-Identifier: MIT */
/*
 * A transport without a chip behind it: copies, fills and fences are executed,
 * uploads and launches answer what a test wants, and every call can be made to
 * fail.  One instance per process; fake_reset() before each test.
 */
#ifndef TESTS_UNIT_FAKE_CHIP_H
#define TESTS_UNIT_FAKE_CHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "rts/transport.h"

/* What is alive; all zero when nothing leaks. */
struct fake_live {
	_Atomic int devices, contexts, streams, memory, shared, mappings;
};

struct fake_chip {
	struct fake_live live;
	/* the n-th call that can run out of memory fails, counted from 1; 0 none */
	int fail_at;
	_Atomic int calls;		/* of such calls */
	bool absent;			/* open says -ENODEV */
	bool busy_stream;		/* a stream cannot be stopped */
	bool busy_context;
	bool lost;			/* waits say -ENODEV, nothing is executed any more */
	_Atomic bool stall;		/* no commands are taken at all */
	bool hold;			/* launches do not begin; see fake_release() */
	bool ban_next;			/* the next launch bans the context */
	int fail_memory_free;		/* errno of the next memory_free, 0 none */
	int refuse_upload;		/* status code of uploads, 0 none */
	int upload_error;		/* errno of refused uploads; 0: -EINVAL */
	/* run code and text of the next launches, in order; afterwards success */
	int codes[8];
	int code_count;
	const char *text;
	void (*on_open)(void *arg);	/* called while a chip is opened */
	void *on_open_arg;
	/* called for each launch that succeeds; may read and write operands */
	void (*kernel)(const struct simpler_hw_launch *l);
	struct simpler_hw_launch last_launch;
	struct simpler_hw_tensor last_tensors[8];
	uint64_t last_scalars[8];
	uint32_t last_slot;
	uint32_t upload_slots[128];
	int uploads, unloads, launches, copies, doorbells, waits;
};

extern struct fake_chip fake;
extern const struct rts_transport fake_transport;

void fake_reset(void);
/* Held launches go on. */
void fake_release(void);
/* The chip disappears: every waiter is told. */
void fake_lose(void);
/* Waits until @n threads are inside wait_seqno. */
void fake_await_waiters(int n);
bool fake_nothing_alive(void);

#endif /* TESTS_UNIT_FAKE_CHIP_H */
