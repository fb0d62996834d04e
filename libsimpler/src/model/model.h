/* SPDX-License-Identifier: MIT */
/*
 * Device model: a simulated chip inside the process.
 *
 * It implements uapi/simpler_hw.h.  Device addresses are host addresses and
 * there is no MMU.  A model belongs to whoever opened it; contexts own their
 * streams and callables and a private executor; a failed run ends that run
 * only.  The caller writes commands into a stream's ring itself, exactly as it
 * would for hardware, and then either rings the doorbell or waits: a thread
 * that waits executes the commands itself when nobody else does.
 *
 * Threads: any function may be called from any thread, except that a ring has
 * one producer at a time and destroy calls must not race with other uses of the
 * same object.
 */
#ifndef SIMPLER_MODEL_MODEL_H
#define SIMPLER_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler_hw.h"

struct model;
struct model_context;
struct model_stream;

/*
 * What a chip tells that is served to somebody else (tools/vnpu).  Called by the
 * thread that executes the commands; must not call back into the model.
 */
struct model_events {
	/* the context has ended: its streams are banned and what failed is completed; once */
	void (*fault)(void *arg, const struct simpler_hw_fault *fault);
	/* a FENCE asked for it, or completed has reached irq_seqno */
	void (*interrupt)(void *arg, uint32_t stream);
};

struct model_config {
	uint32_t arch;			/* SIMPLER_HW_ARCH_* */
	uint32_t device_id;
	uint64_t memory_bytes;		/* device memory; 0 = 64 GiB (committed lazily) */
	uint32_t engine_threads;	/* 0 = SIMPLER_ENGINE_THREADS, else the CPU count */
	uint32_t no_progress_ms;	/* 0 = SIMPLER_SCHEDULER_TIMEOUT_MS, else 10000 */
	const struct model_events *events;	/* given: a fault ends its context; may be NULL */
	void *events_arg;
};

/**
 * model_open - power on a simulated chip
 * @config: what to simulate
 * @out: the chip
 *
 * Returns 0, -EINVAL (unknown architecture) or -ENOMEM.
 */
int model_open(const struct model_config *config, struct model **out);

/** model_close - power off; all contexts must have been destroyed */
void model_close(struct model *m);

/** model_regs - the chip's register page; valid until model_close */
const struct simpler_hw_regs *model_regs(struct model *m);

int model_context_create(struct model *m, struct model_context **out);

/**
 * model_context_destroy - abort what runs, drop callables and streams
 *
 * Returns 0, or -EBUSY when a run could not be stopped; the context then stays
 * and the call can be repeated.
 */
int model_context_destroy(struct model_context *c);

/**
 * model_memory_alloc - allocate zeroed device memory
 * @bytes: size, > 0
 * @addr: device (= host) address, aligned to 1024
 *
 * Returns 0 or -ENOMEM (device memory or host memory is exhausted).
 */
int model_memory_alloc(struct model_context *c, uint64_t bytes, uint64_t *addr);

/* Returns 0 or -ENOENT when @addr is not the start of a live allocation. */
int model_memory_free(struct model_context *c, uint64_t addr);

/* Bytes of the chip's memory in use by this context and by all contexts. */
void model_memory_usage(struct model_context *c, uint64_t *context_bytes, uint64_t *chip_bytes);

/**
 * model_stream_create - create a stream
 * @entries: ring size, a power of two in SIMPLER_HW_RING_{MIN,MAX}_ENTRIES
 *
 * Returns 0, -EINVAL, -ENOSPC (too many streams) or -ENOMEM.
 */
int model_stream_create(struct model_context *c, uint32_t entries, struct model_stream **out);

/**
 * model_stream_create_at - create a stream over ring memory of the caller
 * @ring: header and commands, 64-byte aligned; outlives the stream, may be written at any time
 * @entries: as for model_stream_create()
 * @id: what faults and interrupts of the stream are reported with
 * @priority: as in STREAM_CREATE: between any two commands of the context's other streams, those
 *	that are ready in one of higher priority are executed; own streams have the middle one
 *
 * The device's words of the header are initialised.  Returns as model_stream_create().
 */
int model_stream_create_at(struct model_context *c, struct simpler_hw_ring *ring, uint32_t entries,
			   uint32_t id, uint32_t priority, struct model_stream **out);

/* Commands that have not started are aborted; waits for the one that executes. Returns 0/-EBUSY. */
int model_stream_destroy(struct model_stream *s);

/** model_stream_ring - ring header; the commands follow it; lives as long as the stream */
struct simpler_hw_ring *model_stream_ring(struct model_stream *s);

/**
 * model_doorbell - tell the device that the stream's producer index moved
 *
 * Wakes an engine thread when nobody executes the context's commands.  Not
 * needed when the caller waits for the commands at once.
 */
void model_doorbell(struct model_stream *s);

/**
 * model_context_pause - let no command start, once the one that executes has ended
 * @deadline_ns: CLOCK_MONOTONIC
 *
 * Returns 0, or -ETIMEDOUT: nothing is paused.  After 0 model_context_resume() follows before
 * anything else is done with the context.
 */
int model_context_pause(struct model_context *c, uint64_t deadline_ns);
void model_context_resume(struct model_context *c);

struct model_wait {
	int64_t deadline_ns;		/* CLOCK_MONOTONIC; INT64_MAX = none */
	/* polled between blocks and after signals; true ends the wait with -EINTR; may be NULL */
	bool (*interrupted)(void *arg);
	void *arg;
};

/**
 * model_wait_seqno - wait until a stream has completed @seqno commands
 * @s: stream
 * @seqno: sequence number of the awaited command
 * @w: deadline and interrupt check
 *
 * Without a deadline the calling thread executes the context's commands itself
 * if no other thread does, so that an idle chip costs no wake-up.
 *
 * Returns 0, -ETIMEDOUT, -EINTR (work goes on; wait again) or -ENODEV (the
 * context is being destroyed, or the stream is banned).
 */
int model_wait_seqno(struct model_stream *s, uint64_t seqno, const struct model_wait *w);

/* ---- fault injection and counters, for tests and tools ---- */

enum model_inject {
	MODEL_INJECT_NONE = 0,
	MODEL_INJECT_KERNEL_CRASH,	/* the next block executes an illegal instruction */
	MODEL_INJECT_KERNEL_ENDLESS,	/* the next block never returns */
	MODEL_INJECT_LOST_COMPLETION,	/* the next block's completion is not noticed */
	MODEL_INJECT_ALLOC_FAILURE,	/* the next growth of a runtime arena fails */
};

/* Arms one fault; it hits the @after-th next opportunity (0 = the very next). */
void model_inject(struct model_context *c, enum model_inject what, uint32_t after);

struct model_counters {
	uint64_t runs;
	uint64_t failed_runs;
	uint64_t tasks;
	uint64_t blocks;
	uint64_t parks;			/* blocks that had to wait for a condition */
	uint64_t inline_blocks;		/* executed on the orchestrator's stack */
	uint64_t thread_wakes;
};
void model_get_counters(struct model_context *c, struct model_counters *out);

#endif /* SIMPLER_MODEL_MODEL_H */
