/* SPDX-License-Identifier: MIT */
/*
 * Internals of the model: device, contexts, ownership of a context's executor.
 *
 * At most one thread at a time executes a context's commands, the owner.  It is
 * either a thread that waits for a sequence number or a pool thread that a
 * doorbell woke.  Ownership is one word (context.owner); everything only the
 * owner touches needs no lock, since taking it acquires and giving it up
 * releases.
 */
#ifndef SIMPLER_MODEL_CONTEXT_H
#define SIMPLER_MODEL_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "model/engine.h"
#include "model/model.h"

#define MODEL_FAULT_ENTRIES	64u

struct model_allocation {
	uint64_t addr;
	uint64_t bytes;
	struct model_context *context;
};

struct model {
	struct simpler_hw_regs regs;
	struct model_config config;
	pthread_mutex_t mutex;		/* everything below */
	void *allocations;		/* tsearch tree of struct model_allocation, by address */
	uint64_t memory_used;
	uint32_t contexts;
	uint32_t context_serial;
	uint32_t stream_serial;
	uint32_t streams;
	struct simpler_hw_fault faults[MODEL_FAULT_ENTRIES];
};

struct model_stream {
	struct model_stream *next;
	struct model_context *context;
	struct simpler_hw_ring *ring;	/* header and commands, shared with the producer */
	uint32_t entries;
	uint32_t id;
	uint32_t priority;		/* as in simpler_hw_admin; the list is sorted by it */
	bool foreign;			/* the ring's memory belongs to the creator */
	_Atomic bool dying;		/* no further command is started */
	/* the owner's */
	bool interrupt;			/* the command being executed asks for one */
	uint32_t consumer;
	uint64_t completed;
	uint32_t failed_batch;		/* its later commands are skipped; 0 none */
	bool begun;			/* @command waits for a value, or its launch was left half-way */
	struct simpler_hw_cmd command;
};

struct model_context {
	struct model *model;
	struct engine engine;
	uint32_t id;
	uint64_t memory_used;		/* model->mutex */

	_Atomic uint32_t owner;		/* 0 free, 1 taken */
	_Atomic uint32_t event;		/* bumped when a waiter may go on */
	_Atomic uint32_t sleepers;	/* threads waiting for that */
	_Atomic bool rung;		/* a doorbell since commands were last looked for */
	_Atomic bool destroying;

	/* the owner's */
	struct model_stream *launching;	/* its launch is under way (interrupted wait) */
	struct simpler_hw_launch launch;
	uint64_t launch_start_ns;
	struct chip_callable *callables[SIMPLER_HW_CALLABLE_SLOTS];
	struct model_counters counters;	/* without thread_wakes */
	_Atomic uint64_t thread_wakes;
	bool faulted, banned;		/* with model_config.events: @fault is set; it was reported */
	struct simpler_hw_fault fault;

	pthread_mutex_t mutex;		/* everything below */
	struct model_stream *streams;
	pthread_cond_t pool_work;
	pthread_t *pool;
	uint32_t pool_count;
	uint32_t pool_idle;
	uint32_t helpers_wanted;
	bool exec_wanted;
	bool stop;
};

/* ---- ownership and waiting (context.c) ---- */
bool context_claim(struct model_context *c);
void context_release(struct model_context *c);
/* Lets waiters look again. */
void context_notify(struct model_context *c);
/* Asks a pool thread to execute what the streams hold. */
void context_kick(struct model_context *c);
/* Sleeps until context_notify(), @deadline or a signal; @seen is context.event read before the check. */
int context_sleep(struct model_context *c, uint32_t seen, uint64_t deadline_ns);

/* ---- commands (stream.c, command.c) ---- */

/*
 * Executes commands.  With @target only that stream, until @seqno is completed;
 * otherwise all streams until none can go on.  Owner only.  0, or -EINTR as
 * engine_drive(); *blocked: a stream waits for a value.
 */
int stream_process(struct model_context *c, struct model_stream *target, uint64_t seqno,
		   const struct model_wait *wait, bool *blocked);

/* Ends the launch that a thread left half-way.  Owner only, and nobody comes to help any more. */
void context_end_launch(struct model_context *c);

/* What else than success (0) or failure (negative) can become of a command. */
#define COMMAND_LATER	1	/* it waits for a value */
#define COMMAND_LEFT	2	/* the thread left a launch half-way, see engine_drive() */
int command_execute(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		    const struct model_wait *wait);

/* Frees a stream that nobody executes or uses. */
void stream_free(struct model_stream *s);

/* Frees what a context allocated and did not free (model.c). */
void model_memory_drop(struct model_context *c);

void model_fault(struct model_stream *s, uint32_t code, uint64_t address);
/* The same with what is known of a run: @f gets stream, context and time. */
void model_fault_record(struct model_stream *s, struct simpler_hw_fault *f);

/* Ring words are shared with the producer (see simpler_hw.h for the order protocol). */
static inline uint32_t ring_load(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void ring_store(__u32 *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline uint64_t ring_load64(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void ring_store64(__u64 *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

#endif /* SIMPLER_MODEL_CONTEXT_H */
