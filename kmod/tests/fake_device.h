/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device for tests: memory with a register page, and a thread that plays the other
 * side of simpler_hw.h.  Tests make it slow, wrong or dead through struct fake_faults.
 *
 * The thread and the tests share the structure under @lock; what the driver writes
 * (registers, rings, page tables) is read the way a device reads it.
 */
#ifndef SIMPLER_FAKE_DEVICE_H
#define SIMPLER_FAKE_DEVICE_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "simpler_hw_access.h"

struct device;
struct kunit;
struct task_struct;

#define FAKE_ORDER		10u	/* 4 MiB, the largest run the page allocator has */
#define FAKE_BYTES		(PAGE_SIZE << FAKE_ORDER)
#define FAKE_MEMORY_BASE	0x10000ull
#define FAKE_CONTEXTS		8u
#define FAKE_STREAMS		16u
#define FAKE_VECTORS		4u
#define FAKE_DOORBELL_BASE	0x10000u
#define FAKE_DOORBELL_OFFSET	12u

struct fake_context {
	bool live;
	bool stopped;
	u64 root;			/* device-physical */
};

struct fake_stream {
	bool live;
	u32 context;
	u32 entries;
	u32 priority;
	struct simpler_hw_ring *ring;
	u32 consumer;
	u64 completed;
	u64 announced;			/* irq_seqno that has been answered */
	u32 failed_batch;
};

/* How the device misbehaves. All zero: it does not. */
struct fake_faults {
	bool dead;			/* does nothing, not even rise its heartbeat */
	bool deaf;			/* leaves the admin ring alone */
	bool hung;			/* leaves the streams alone */
	bool lose_interrupts;
	bool refuse_enable;
	bool refuse_reset;		/* a reset never ends */
	u32 refuse_opcode;		/* admin commands of this kind are refused, */
	int refuse_error;		/* with this error */
	u32 refuse_after;		/* once so many were obeyed */
	s32 launch_code;		/* how launches end */
	u64 skew;			/* added to the completed word of streams: a corrupt one */
};

struct fake_counts {
	u32 doorbells;
	u32 resets;
	u32 contexts_created;
	u32 contexts_destroyed;
	u32 streams_created;
	u32 streams_destroyed;
	u32 maps_changed;
	u32 clears;
	u32 suspends;
	u32 commands;			/* of streams */
	u32 isolations;
};

struct fake_device {
	struct kunit *test;
	struct device *parent;		/* of one binding */
	u32 fail_nth;			/* step of the next binding that fails; 0 when reached */
	struct simpler_resources res;
	struct simpler_device *sdev;	/* NULL: interrupts go nowhere */
	struct simpler_hw_regs *regs;
	void *memory;
	u32 *doorbell_page;

	struct task_struct *thread;
	wait_queue_head_t wake;
	atomic_t rung;

	struct mutex lock;		/* protects what follows */
	struct fake_faults faults;
	struct fake_counts counts;	/* since the last binding */
	struct fake_context contexts[FAKE_CONTEXTS];
	struct fake_stream streams[FAKE_STREAMS];
	struct simpler_hw_ring *admin;
	u32 admin_entries;
	u32 admin_consumer;
	u64 admin_completed;
	bool suspended;
	u32 fault_producer;
};

/* fake_device.c */
/** fake_device_start - a device and the thread that plays it; no driver on it yet */
struct fake_device *fake_device_start(struct kunit *test);
/** fake_device_bind - simpler_device_create() on it; the driver's error or 0 */
int fake_device_bind(struct fake_device *fake);
/** fake_device_unbind - simpler_device_destroy() and the end of its parent, if it was bound */
void fake_device_unbind(struct fake_device *fake);
/** fake_device_stop - unbind, end the thread, release everything */
void fake_device_stop(struct fake_device *fake);
/** fake_device_set - change how the device misbehaves, and wake it */
void fake_device_set(struct fake_device *fake, const struct fake_faults *faults);
/** fake_device_counts - a consistent copy */
struct fake_counts fake_device_counts(struct fake_device *fake);
/** fake_device_health - as if the device had noticed something */
void fake_device_health(struct fake_device *fake, u32 health);
void fake_device_interrupt(struct fake_device *fake, u32 vector);
/** fake_device_ring - a doorbell, as the driver rings it */
void fake_device_ring(void *cookie, u32 value);
/** fake_fault - write a record into the fault ring; @fake->lock held */
void fake_fault(struct fake_device *fake, const struct simpler_hw_fault *fault);
/** fake_memory - where a range of device-physical addresses is; NULL: not the driver's */
void *fake_memory(struct fake_device *fake, u64 phys, u64 bytes);

/* fake_admin.c */
int fake_admin_enable(struct fake_device *fake);
void fake_admin_run(struct fake_device *fake);

/* fake_stream.c */
void fake_stream_run(struct fake_device *fake, struct fake_stream *stream);
void fake_context_ban(struct fake_device *fake, u32 context);
/** fake_translate - walk the page tables; NULL: no such mapping */
void *fake_translate(struct fake_device *fake, u32 context, u64 va, bool write);

#endif /* SIMPLER_FAKE_DEVICE_H */
