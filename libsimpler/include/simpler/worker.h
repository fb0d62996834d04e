/* SPDX-License-Identifier: MIT */
/*
 * Worker: registers callables and runs them on a chip (worker-api §2 to §13).
 *
 *	struct simpler_worker *w;
 *	struct simpler_buffer *x;
 *	struct simpler_callable_handle f;
 *	struct simpler_tensor t;
 *	struct simpler_task_args *args;
 *	simpler_worker_open("a2a3sim", "tensormap_and_ringbuffer", 0, &w);
 *	simpler_worker_register(w, callable, &f);
 *	simpler_worker_malloc(w, 4096, &x);
 *	simpler_tensor_init_dense(&t, x, SIMPLER_FLOAT32, 1, (uint32_t[]){ 1024 }, NULL);
 *	simpler_task_args_create(&args);
 *	simpler_task_args_add_tensor(args, &t, SIMPLER_TAG_INOUT, SIMPLER_TRANSFER_DEFAULT, NULL);
 *	if (simpler_worker_run(w, &f, args, NULL, NULL))
 *		print_it(simpler_worker_last_error(w, &error));
 *	simpler_worker_destroy(w);
 *
 * Threads: all functions may be called from any thread, except that
 * simpler_worker_destroy() must be the caller's last use of the Worker, and
 * setters must not race with each other.  The library creates no threads for a
 * Worker; a thread that waits for a run executes it when nobody else does.
 * A Worker must not be used in a child process after fork.
 *
 * Every operation other than creation, setters, registration and close needs a
 * Worker that init made READY, else SIMPLER_ERR_INVALID_STATE.
 */
#ifndef SIMPLER_WORKER_H
#define SIMPLER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/buffer.h"
#include "simpler/call_config.h"
#include "simpler/callable.h"
#include "simpler/error.h"
#include "simpler/export.h"
#include "simpler/task_args.h"
#include "simpler/wait.h"

SIMPLER_BEGIN_DECLS

struct simpler_worker;
struct simpler_run;

enum simpler_worker_state {
	SIMPLER_WORKER_NEW = 0,
	SIMPLER_WORKER_INITIALIZING = 1,
	SIMPLER_WORKER_READY = 2,
	SIMPLER_WORKER_FAILED = 3,
	SIMPLER_WORKER_CLOSED = 4
};

/* ---- lifecycle ------------------------------------------------------------ */

/**
 * simpler_worker_create - a Worker in state NEW
 * @level: 2 is one chip; checked by simpler_worker_init()
 * @out: the Worker
 *
 * Returns 0, SIMPLER_ERR_NO_MEMORY or SIMPLER_ERR_SYSTEM.
 */
SIMPLER_API int simpler_worker_create(int level, struct simpler_worker **out);

/*
 * Configuration, in state NEW (else SIMPLER_ERR_INVALID_STATE).  Values are
 * checked by simpler_worker_init().
 */
/* "a2a3", "a2a3sim", "a5" or "a5sim"; copied. */
SIMPLER_API int simpler_worker_set_platform(struct simpler_worker *w, const char *platform);
/* "tensormap_and_ringbuffer"; "host_build_graph" is known, but not in this build. Copied. */
SIMPLER_API int simpler_worker_set_runtime(struct simpler_worker *w, const char *runtime);
/* Which chip; default 0. */
SIMPLER_API int simpler_worker_set_device_id(struct simpler_worker *w, int32_t device_id);
/* Provision the asynchronous copy engine's workspace; default false. */
SIMPLER_API int simpler_worker_set_enable_sdma(struct simpler_worker *w, bool enable);
/*
 * Budget of program workspace in bytes (hardware, level 2).  Checked at once:
 * SIMPLER_ERR_INVALID_ARGUMENT below 1024, SIMPLER_ERR_OPTION_CONFLICT on a
 * simulator platform or at another level.
 */
SIMPLER_API int simpler_worker_set_workspace_budget(struct simpler_worker *w, uint64_t bytes);

/* Options of simpler_worker_init(); zero is the default. */
struct simpler_init_options {
	/* runtime_env of the first runs, to prepare for; NULL none */
	const struct simpler_call_config *prewarm;
	/* SIMPLER_INIT_BORROW: use the calling thread's current context, named by this token */
	uint64_t borrowed_context_generation;
	uint32_t flags;			/* SIMPLER_INIT_* */
	uint32_t reserved;		/* zero */
};
#define SIMPLER_INIT_BORROW (1u << 0)

/**
 * simpler_worker_init - make a Worker READY
 * @w: a Worker in state NEW
 * @options: NULL for the defaults
 *
 * Opens the chip, creates a context and installs the callables registered so
 * far.  Reads PTO2_RING_TASK_WINDOW, PTO2_RING_HEAP, PTO2_RING_DEP_POOL and
 * SIMPLER_DEPS.  Failures of @options leave the Worker NEW; later ones make it
 * FAILED, and only close is left.
 *
 * Returns 0, SIMPLER_ERR_INVALID_STATE, SIMPLER_ERR_STARTUP_FAILED,
 * SIMPLER_ERR_CONFIG_RING, SIMPLER_ERR_OPTION_CONFLICT, SIMPLER_ERR_INVALID_ARGUMENT,
 * SIMPLER_ERR_LEVEL, SIMPLER_ERR_PLATFORM_MISSING, SIMPLER_ERR_PLATFORM_UNKNOWN,
 * SIMPLER_ERR_RUNTIME_MISSING, SIMPLER_ERR_RUNTIME_UNKNOWN, SIMPLER_ERR_UNSUPPORTED,
 * SIMPLER_ERR_OPTION_UNSUPPORTED, SIMPLER_ERR_NO_DEVICE, SIMPLER_ERR_REGISTER_FAILED,
 * SIMPLER_ERR_INIT_CANCELLED, SIMPLER_ERR_DEVICE_MEMORY, SIMPLER_ERR_NO_MEMORY,
 * or a run code when the chip cannot load a callable.
 */
SIMPLER_API int simpler_worker_init(struct simpler_worker *w,
				    const struct simpler_init_options *options);

/**
 * simpler_worker_open - create, configure and initialize a Worker of one chip
 * @platform: as of simpler_worker_set_platform()
 * @runtime: as of simpler_worker_set_runtime()
 * @device_id: which chip
 * @out: the Worker; after a failure too, so that simpler_worker_last_error()
 *	tells the reason, and NULL when there was no memory for one.  End it with
 *	simpler_worker_destroy() in every case.
 *
 * Returns what simpler_worker_create() and simpler_worker_init() return.
 */
SIMPLER_API int simpler_worker_open(const char *platform, const char *runtime, int32_t device_id,
				    struct simpler_worker **out);

/**
 * simpler_worker_close - end a Worker
 * @w: any state
 * @wait: time for running operations and runs to end; NULL: 10 s
 *
 * Refuses new operations, waits for the running ones, then releases everything
 * the Worker owns: runs, buffers, callables, context, chip.  Buffers that are
 * pinned stay mapped and make it return SIMPLER_ERR_BUFFER_EXPORTED.  After a
 * failure the Worker is CLOSED and a later call releases what is left; after
 * success further calls return 0.  Concurrent calls get the same result.
 *
 * Returns 0, SIMPLER_ERR_REENTRY (called inside an operation of the same thread;
 * nothing changed), SIMPLER_ERR_TIMEOUT (nothing was released),
 * SIMPLER_ERR_INTERRUPTED, SIMPLER_ERR_TIMEOUT_VALUE, SIMPLER_ERR_BUFFER_EXPORTED,
 * SIMPLER_ERR_SYSTEM, SIMPLER_ERR_INVALID_STATE (close during init), or the error
 * of a run that nobody waited for and that poisoned the Worker.
 */
SIMPLER_API int simpler_worker_close(struct simpler_worker *w, const struct simpler_wait *wait);

/**
 * simpler_worker_destroy - close, then drop the caller's reference
 * @w: accepts NULL
 *
 * On failure of the close nothing is dropped, and the call can be repeated.
 * Buffers and runs that the caller still holds stay readable.
 */
SIMPLER_API int simpler_worker_destroy(struct simpler_worker *w);

SIMPLER_API enum simpler_worker_state simpler_worker_get_state(const struct simpler_worker *w);
SIMPLER_API int simpler_worker_level(const struct simpler_worker *w);

/**
 * simpler_worker_last_error - record of the last failed call
 * @error: filled; code 0 when nothing has failed yet
 *
 * The calling thread's last failure at @w if it is remembered (the last eight
 * threads are), else the latest of any thread.  Returns @error.
 */
SIMPLER_API struct simpler_error *simpler_worker_last_error(struct simpler_worker *w,
							    struct simpler_error *error);

/**
 * simpler_worker_location - names the chip for simpler_buffer_wrap()
 * @out: with one reference
 *
 * Performs no device call.  Returns 0 or SIMPLER_ERR_INVALID_STATE.
 */
SIMPLER_API int simpler_worker_location(struct simpler_worker *w, struct simpler_location **out);

/* Device memory that the Worker's context has committed, in bytes; 0 unless READY. */
SIMPLER_API uint64_t simpler_worker_committed_memory(struct simpler_worker *w);
/* Device address of the staging buffer of pipeline slot 0 or 1; 0 if none (§13). */
SIMPLER_API uint64_t simpler_worker_retained_temp_addr(struct simpler_worker *w, unsigned int slot);

/* ---- callables ------------------------------------------------------------ */

/**
 * simpler_worker_register - make a callable known
 * @w: NEW or READY (an INITIALIZING Worker is waited for)
 * @callable: a reference is taken
 * @out: names the registration
 *
 * The same content registered twice gives two handles and is installed once.
 * The chip may install only between runs; simpler_worker_register_wait() bounds
 * the time for that.
 *
 * Returns 0, SIMPLER_ERR_CAPACITY (64 different callables), SIMPLER_ERR_REGISTER_FAILED,
 * SIMPLER_ERR_INVALID_STATE, SIMPLER_ERR_NO_MEMORY, SIMPLER_ERR_DEVICE_LOST, or a run
 * code when the chip cannot load the callable (for example a missing symbol).
 */
SIMPLER_API int simpler_worker_register(struct simpler_worker *w,
					struct simpler_chip_callable *callable,
					struct simpler_callable_handle *out);

/**
 * simpler_worker_register_wait - simpler_worker_register() with an end to its patience
 * @wait: time for other registrations, for init and for the chip; NULL: forever
 *
 * Also returns SIMPLER_ERR_TIMEOUT, SIMPLER_ERR_INTERRUPTED (the call can be
 * repeated, and goes on where it was) and SIMPLER_ERR_TIMEOUT_VALUE.
 */
SIMPLER_API int simpler_worker_register_wait(struct simpler_worker *w,
					     struct simpler_chip_callable *callable,
					     const struct simpler_wait *wait,
					     struct simpler_callable_handle *out);

/**
 * simpler_worker_unregister - end a registration
 *
 * The last one of a content frees its slot.  Waits for nothing but init: the
 * kernels stay on the chip until the runs that use them have ended.
 * Returns 0, SIMPLER_ERR_HANDLE_NOT_LIVE, SIMPLER_ERR_HANDLE_MUTATED,
 * SIMPLER_ERR_HANDLE_NAMESPACE, SIMPLER_ERR_INVALID_STATE.
 */
SIMPLER_API int simpler_worker_unregister(struct simpler_worker *w,
					  const struct simpler_callable_handle *handle);

/* ---- memory --------------------------------------------------------------- */

/**
 * simpler_worker_malloc - allocate zeroed device memory
 * @size: bytes, > 0
 * @out: with one reference
 *
 * Level 2 only (SIMPLER_ERR_LEVEL_OPERATION).  Returns 0, SIMPLER_ERR_BUFFER_SIZE,
 * SIMPLER_ERR_DEVICE_MEMORY, SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_worker_malloc(struct simpler_worker *w, uint64_t size,
				      struct simpler_buffer **out);

/**
 * simpler_worker_free - release device memory; the handle remains the caller's
 *
 * Returns 0, SIMPLER_ERR_BUFFER_NOT_LIVE (freed before, or of another Worker),
 * SIMPLER_ERR_BUFFER_BORROWED (wrapped), SIMPLER_ERR_BUFFER_SPACE (host memory),
 * SIMPLER_ERR_BUFFER_IN_USE, SIMPLER_ERR_BUFFER_UNPROVEN, or the code of the chip's
 * refusal.  After a failure the buffer is as usable as before.
 */
SIMPLER_API int simpler_worker_free(struct simpler_worker *w, struct simpler_buffer *buffer);

/**
 * simpler_worker_create_buffer - shared host memory, zeroed
 *
 * Released by simpler_buffer_close().  What a process leaves that was killed is
 * removed when another process of the same user first calls this.  Returns 0, SIMPLER_ERR_BUFFER_SIZE,
 * SIMPLER_ERR_SYSTEM, SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_worker_create_buffer(struct simpler_worker *w, uint64_t nbytes,
					     struct simpler_buffer **out);

/**
 * simpler_worker_wrap_host - use the caller's own host memory in tensors
 * @data: first byte; must stay valid until simpler_buffer_close() succeeded
 * @nbytes: size, > 0
 * @access: SIMPLER_ACCESS_READ for memory that must not be written
 *
 * Returns 0, SIMPLER_ERR_BUFFER_SIZE, SIMPLER_ERR_WRAP_RANGE (the end is beyond 2^64),
 * SIMPLER_ERR_INVALID_ARGUMENT (access, NULL), SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_worker_wrap_host(struct simpler_worker *w, void *data, uint64_t nbytes,
					 enum simpler_access access, struct simpler_buffer **out);

/* Offsets and length of a copy, in bytes; signed, so that negative values can be refused. */
struct simpler_copy {
	int64_t dst_offset;
	int64_t src_offset;
	int64_t nbytes;		/* with SIMPLER_COPY_NBYTES; else the rest of the host side */
	uint32_t flags;
	uint32_t reserved;	/* zero */
	/* time for runs in flight that use the buffers to end; NULL: forever */
	const struct simpler_wait *wait;
};
#define SIMPLER_COPY_NBYTES (1u << 0)

/**
 * simpler_worker_copy_to - copy host memory to a device buffer
 * @dst: a live device allocation of @w; runs in flight that use it end first
 * @src: a HOST buffer of @w
 * @copy: NULL: the whole host buffer, to offset 0
 *
 * Returns when the bytes have arrived.  Returns 0, SIMPLER_ERR_BUFFER_SPACE,
 * SIMPLER_ERR_BUFFER_NOT_LIVE, SIMPLER_ERR_BUFFER_BORROWED, SIMPLER_ERR_BUFFER_GRANT,
 * SIMPLER_ERR_BUFFER_BOUNDS, SIMPLER_ERR_INVALID_ARGUMENT (memory that cannot be
 * accessed, unknown flags), SIMPLER_ERR_TIMEOUT, SIMPLER_ERR_INTERRUPTED,
 * SIMPLER_ERR_TIMEOUT_VALUE, SIMPLER_ERR_DEVICE_LOST.
 */
SIMPLER_API int simpler_worker_copy_to(struct simpler_worker *w, struct simpler_buffer *dst,
				       struct simpler_buffer *src,
				       const struct simpler_copy *copy);
/* The other direction: @dst is the HOST buffer. */
SIMPLER_API int simpler_worker_copy_from(struct simpler_worker *w, struct simpler_buffer *dst,
					 struct simpler_buffer *src,
					 const struct simpler_copy *copy);

/**
 * simpler_worker_copy_to_raw - copy plain memory to a device buffer
 * @src: host memory
 * @src_bytes: its size; the default length is @src_bytes - src_offset
 */
SIMPLER_API int simpler_worker_copy_to_raw(struct simpler_worker *w, struct simpler_buffer *dst,
					   const void *src, uint64_t src_bytes,
					   const struct simpler_copy *copy);
SIMPLER_API int simpler_worker_copy_from_raw(struct simpler_worker *w, void *dst,
					     uint64_t dst_bytes, struct simpler_buffer *src,
					     const struct simpler_copy *copy);

/* ---- execution ------------------------------------------------------------ */

struct simpler_run_options {
	const struct simpler_wait *wait;	/* NULL: forever */
	uint64_t caller_stream;			/* with SIMPLER_RUN_CALLER_STREAM */
	uint32_t flags;				/* SIMPLER_RUN_* */
	uint32_t reserved;			/* zero */
};
#define SIMPLER_RUN_CALLER_STREAM (1u << 0)

/**
 * simpler_worker_run - run a callable and wait for it
 * @w: READY Worker
 * @handle: from simpler_worker_register()
 * @args: NULL: none
 * @config: NULL: defaults
 * @options: NULL: no deadline
 *
 * HOST tensors are copied to the chip before the run, and those that the
 * signature declares OUT or INOUT are copied back after a run that succeeded;
 * a failed run leaves them untouched.  If the wait ends early
 * (SIMPLER_ERR_TIMEOUT, SIMPLER_ERR_INTERRUPTED) the run goes on and HOST
 * buffers stay in use until it has ended.
 *
 * Returns 0, a run code, SIMPLER_ERR_HANDLE_*, SIMPLER_ERR_CONFIG*, SIMPLER_ERR_ARG_*,
 * SIMPLER_ERR_TENSOR, SIMPLER_ERR_BUFFER_* (worker-api §9.5), SIMPLER_ERR_DEVICE_MEMORY
 * (staging), SIMPLER_ERR_POISONED, SIMPLER_ERR_DEVICE_LOST, SIMPLER_ERR_TIMEOUT,
 * SIMPLER_ERR_INTERRUPTED.
 */
SIMPLER_API int simpler_worker_run(struct simpler_worker *w,
				   const struct simpler_callable_handle *handle,
				   const struct simpler_task_args *args,
				   const struct simpler_call_config *config,
				   const struct simpler_run_options *options);

/**
 * simpler_worker_submit - start a run
 * @out: handle, with one reference
 *
 * As simpler_worker_run(), but returns once the run is queued.  Two runs can be
 * in flight; a further submit waits for the oldest (by @options->wait).  Runs
 * execute in submission order.  Refused submits leave no trace.
 */
SIMPLER_API int simpler_worker_submit(struct simpler_worker *w,
				      const struct simpler_callable_handle *handle,
				      const struct simpler_task_args *args,
				      const struct simpler_call_config *config,
				      const struct simpler_run_options *options,
				      struct simpler_run **out);

/** simpler_run_done - true once the run has ended, well or badly; never blocks */
SIMPLER_API bool simpler_run_done(struct simpler_run *r);

/**
 * simpler_run_wait - wait for a run
 * @r: the run; any number of threads may wait, any number of times
 * @wait: NULL: forever
 *
 * Returns the run's outcome (always the same: 0, a run code, SIMPLER_ERR_DEVICE_LOST),
 * or SIMPLER_ERR_TIMEOUT, SIMPLER_ERR_INTERRUPTED, SIMPLER_ERR_TIMEOUT_VALUE,
 * SIMPLER_ERR_CONTEXT_REFUSED, which leave the run going.
 */
SIMPLER_API int simpler_run_wait(struct simpler_run *r, const struct simpler_wait *wait);

/** simpler_run_error - record of the outcome; code 0 after success or while running */
SIMPLER_API struct simpler_error *simpler_run_error(struct simpler_run *r,
						    struct simpler_error *error);

/* What the chip measured; zero while running. */
struct simpler_run_stats {
	uint64_t run_id;
	uint64_t tasks_submitted;
	uint64_t tasks_completed;
	uint64_t start_ns;		/* device clock */
	uint64_t end_ns;
};
SIMPLER_API void simpler_run_get_stats(struct simpler_run *r, struct simpler_run_stats *stats);

SIMPLER_API struct simpler_run *simpler_run_get(struct simpler_run *r);
/* Accepts NULL.  Dropping a run that has not ended is legal; close waits for it. */
SIMPLER_API void simpler_run_put(struct simpler_run *r);

SIMPLER_END_DECLS

#endif /* SIMPLER_WORKER_H */
