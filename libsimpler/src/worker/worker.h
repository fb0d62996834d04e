/* SPDX-License-Identifier: MIT */
/*
 * The Worker from the inside.
 *
 *   worker.c	lifecycle: create, configure, init, close
 *   lease.c	admission of operations, error records
 *   register.c	callables: handles, slots, installation
 *   buffer*.c	buffers, and the table of the live ones
 *   copy.c	copies between host and device buffers
 *   bind.c	arguments to launch descriptor and staging plan
 *   lane.c	the pipeline of two runs: admission, submission, retirement
 *   run.c	public run, submit and run handles
 *
 * Locking.  worker.lock guards everything in struct simpler_worker, the buffers
 * in its table and the run states, unless a field says otherwise.  It is held
 * for short, bounded work only: never while waiting for the chip.  An operation
 * is inside a lease from its first to its last touch of the chip, so that close
 * can wait for it without holding a lock.
 *
 * Waiting.  Registrations of callables take turns (the flag registering; waiters
 * sleep on changed).  Whoever has the turn may wait for the chip, which may be
 * busy with a run that another thread executes; so that wait, and the one for the
 * turn, end by the caller's deadline or interrupt (decisions D33, D35).  What was
 * begun then stays in its slot for the next registration.  Ending a registration
 * neither needs the turn nor waits.
 *
 * Memory.  The struct lives until the last reference is put: the creator's, and
 * one per buffer, run and location.  Those outlive close.
 */
#ifndef SIMPLER_WORKER_WORKER_H
#define SIMPLER_WORKER_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include "base/shm.h"
#include "rts/rts.h"
#include "simpler/worker.h"
#include "worker/call_config.h"
#include "worker/callable.h"
#include "worker/task_args.h"

#define WORKER_DEPTH		2u		/* runs in flight */
#define WORKER_ERROR_RECORDS	8u
#define WORKER_STAGING_ALIGN	1024u
/* Commands of the largest run: copies in and out of every tensor, launch, proof. */
#define LANE_RUN_ENTRIES	(2 * SIMPLER_HW_MAX_TENSORS + 2)
#define WORKER_CLOSE_TIMEOUT_NS	INT64_C(10000000000)
#define WORKER_CANCEL_TIMEOUT_NS INT64_C(60000000000)

/* One operation in progress; lives on the stack of its thread. */
struct worker_lease {
	struct list node;
	pthread_t thread;
};

struct worker_error_record {
	pthread_t thread;
	uint64_t serial;		/* 0: unused */
	struct simpler_error error;
};

enum callable_state {
	CALLABLE_FREE = 0,
	CALLABLE_KNOWN,			/* registered before init, not on the chip yet */
	CALLABLE_INSTALLING,		/* the chip has not answered yet */
	CALLABLE_INSTALLED,
};

/* What an UPLOAD command in the install stream uses. */
struct callable_upload {
	struct simpler_hw_status *status;	/* shared with the chip */
	uint64_t addr, bytes;			/* mapping of the callable's bytes */
	uint64_t seqno;
};

/* A callable slot; its index is the slot number on the chip. */
struct callable_entry {
	struct simpler_chip_callable *callable;	/* our reference */
	uint8_t digest[SIMPLER_DIGEST_BYTES];
	enum callable_state state;
	uint32_t handles;
	struct callable_upload upload;		/* INSTALLING */
	uint64_t last_seqno;			/* of a run that uses it */
	uint64_t free_after;			/* FREE: empty once the lane has passed this */
	uint32_t sig_count;
	uint32_t tensor_count;			/* tensors and scalars of the signature */
	uint32_t scalar_count;
};

/* What a struct simpler_callable_handle names; its id is serial << 32 | index. */
struct callable_handle {
	uint64_t id;				/* 0: free */
	uint32_t entry;
};

struct worker_callables {
	struct callable_entry entries[SIMPLER_HW_CALLABLE_SLOTS];
	struct callable_handle *handles;
	uint32_t handle_capacity;
	uint32_t next_serial;
	uint64_t owner;				/* random; marks this Worker's handles */
};

enum buffer_kind {
	BUFFER_DETACHED = 0,			/* made from a descriptor; owns nothing */
	BUFFER_DEVICE,				/* simpler_worker_malloc() */
	BUFFER_SHM,				/* simpler_worker_create_buffer() */
	BUFFER_HOST,				/* simpler_worker_wrap_host() */
	BUFFER_WRAP,				/* simpler_buffer_wrap() */
};

struct simpler_buffer {
	_Atomic uint32_t refs;
	enum buffer_kind kind;
	struct simpler_worker *worker;		/* NULL: detached */
	struct simpler_buffer_desc desc;	/* constant once the buffer is in use */
	uint64_t address;			/* device: as is; host: as the chip sees it */
	/* guarded by worker->lock */
	bool live;				/* in the table: usable by operations */
	bool listed;				/* the Worker still has to release something */
	bool closed;
	bool unproven;				/* a run may still touch it */
	uint32_t uses;				/* runs and copies in flight */
	uint32_t pins;
	uint64_t last_seqno;			/* of a run that uses it */
	void *data;				/* host memory; NULL once unmapped */
	uint64_t checked_epoch;			/* WRAP: no overlap with allocations up to here */
	struct shm shm;
	struct list node;			/* worker_buffers.all, when listed */
	struct simpler_buffer *next;		/* hash chain, when live */
};

struct worker_buffers {
	struct list all;			/* listed buffers; each holds a reference */
	struct simpler_buffer **hash;
	uint32_t mask;
	uint32_t count;
	uint64_t next_id;
	uint64_t epoch;				/* incremented by every device allocation */
};

struct simpler_location {
	_Atomic uint32_t refs;
	struct simpler_worker *worker;
	pid_t pid;
};

struct simpler_run {
	_Atomic uint32_t refs;			/* 0: on the stack of simpler_worker_run() */
	_Atomic bool done;			/* published after all that follows */
	bool waited;				/* someone saw, or will see, the outcome */
	struct simpler_worker *worker;
	uint64_t seqno;
	int code;
	struct simpler_run_stats stats;
	struct simpler_error error;		/* valid if code is not 0 */
};

/* One of the two places of the pipeline. */
struct lane_slot {
	struct simpler_hw_launch *launch;	/* shared with the chip, as the pointers below */
	struct simpler_hw_status *status;
	struct simpler_hw_tensor *tensors;
	uint64_t *scalars;
	uint64_t *copied;			/* run id, once all copies have been made */
	uint64_t launch_addr;
	uint64_t copied_addr;
	uint64_t staging;			/* device address, 0 none */
	uint64_t staging_bytes;
	struct simpler_run *run;		/* NULL: nobody is interested any more */
	struct callable_entry *entry;
	uint64_t first_seqno;
	uint64_t seqno;				/* of the last command */
	bool diagnostics;
	bool copies;				/* the run has HOST tensors */
	uint32_t use_count;
	struct simpler_buffer *uses[SIMPLER_HW_MAX_TENSORS];
};

struct worker_lane {
	struct simpler_stream *stream;		/* runs; NULL unless open */
	struct lane_slot slots[WORKER_DEPTH];
	uint32_t oldest;
	uint32_t in_flight;
	uint64_t next_run_id;
	bool poisoned;
	bool poison_unseen;			/* no waiter has been told */
	struct simpler_error cause;
	void *shared;				/* memory of the slots' descriptors */
	uint64_t shared_bytes;
};

struct worker_config {
	char *platform;
	char *runtime;
	int32_t device_id;
	bool enable_sdma;
	uint64_t workspace_budget;
};

struct simpler_worker {
	_Atomic uint32_t refs;
	int level;
	pthread_mutex_t lock;
	pthread_cond_t changed;			/* state, registering, leases (while draining) */
	bool registering;			/* a registration has the turn */
	enum simpler_worker_state state;
	pthread_t init_thread;
	bool cancel_init;
	bool closing;				/* a thread runs close */
	bool torn_down;				/* nothing is left to release */
	uint32_t drains;			/* threads that wait for leases to end */
	int close_code;				/* outcome of the last close */
	struct simpler_error close_error;
	struct list leases;
	struct worker_config config;
	struct config_defaults defaults;
	const struct rts_platform *platform;
	const struct rts_transport *transport;	/* test seam: overrides the platform's */
	uint32_t hw_runtime;			/* SIMPLER_HW_RUNTIME_* */
	uint8_t owner[8];			/* random, minted by init */
	struct simpler_device *device;
	struct simpler_context *context;
	struct simpler_stream *control;		/* copies */
	struct simpler_stream *install;		/* installation of callables */
	struct worker_callables callables;
	struct worker_buffers buffers;
	struct worker_lane lane;
	uint32_t diagnostics_warned;		/* SIMPLER_HW_DIAG_* that were asked for */
	uint64_t error_serial;
	struct worker_error_record errors[WORKER_ERROR_RECORDS];
};

/* ---- worker.c ---- */

/** worker_create_with_transport - simpler_worker_create() with another transport, for tests */
int worker_create_with_transport(int level, const struct rts_transport *transport,
				 struct simpler_worker **out);
void worker_get(struct simpler_worker *w);
void worker_put(struct simpler_worker *w);

/* ---- lease.c ---- */

/* Locks the Worker and admits the operation; on failure the Worker is not locked. */
int lease_begin(struct simpler_worker *w, struct worker_lease *l, struct simpler_error *e);
/* Ends the operation; the Worker is locked before and not afterwards. */
void lease_end(struct simpler_worker *w, struct worker_lease *l);
/* Admits without a check of the state; the Worker is locked. */
void lease_join_locked(struct simpler_worker *w, struct worker_lease *l);
/* Is the calling thread inside an operation; the Worker is locked. */
bool lease_held_locked(struct simpler_worker *w);
/* SIMPLER_ERR_INVALID_STATE unless READY. */
int worker_check_ready_locked(struct simpler_worker *w, struct simpler_error *e);
/* Waits for worker.changed; SIMPLER_ERR_TIMEOUT, _INTERRUPTED, or 0 to look again. */
int worker_wait_changed_locked(struct simpler_worker *w, const struct rts_wait *wait);
/* Remembers a failure for simpler_worker_last_error(); returns its code. Not locked. */
int worker_failed(struct simpler_worker *w, const struct simpler_error *e);

/*
 * True when @w or @argument is NULL, which the Worker, if there is one, remembers; the public
 * function then returns SIMPLER_ERR_INVALID_ARGUMENT.
 */
#define worker_if_null(w, argument) \
	(!(w) || (!(argument) && worker_null(w, __func__, #argument)))
bool worker_null(struct simpler_worker *w, const char *function, const char *argument);

/* ---- register.c ---- */

int callables_init(struct worker_callables *c);
/* Installs what was registered before init. Not locked; the state is INITIALIZING. */
int callables_install_all(struct simpler_worker *w, const struct rts_wait *wait,
			  struct simpler_error *e);
/* Releases what unanswered UPLOAD commands used; the streams are gone, the context is not. */
void callables_abandon(struct simpler_worker *w);
void callables_fini(struct worker_callables *c);
/* The entry that @handle names, or NULL with an error. Locked. */
struct callable_entry *callables_find(struct simpler_worker *w,
				      const struct simpler_callable_handle *handle,
				      struct simpler_error *e);

/* ---- buffer.c, buffer_table.c ---- */

/* The live buffer that @desc describes exactly, or NULL with an error. Locked. */
struct simpler_buffer *buffers_find(struct simpler_worker *w,
				    const struct simpler_buffer_desc *desc,
				    struct simpler_error *e);
/* WRAP buffers must not overlap device allocations; SIMPLER_ERR_WRAP_OVERLAP. Locked. */
int buffers_check_wrap(struct simpler_worker *w, struct simpler_buffer *b, struct simpler_error *e);
/* Ends the life of all buffers; returns the first failure. Call again to repeat what failed. */
int buffers_release_all(struct simpler_worker *w, struct simpler_error *e);
void buffers_fini(struct worker_buffers *t);

/* ---- bind.c ---- */

/* One submit, checked but not yet begun. */
struct bind_request {
	const struct simpler_callable_handle *handle;
	const struct simpler_task_args *args;		/* may be NULL */
	const struct simpler_call_config *config;	/* may be NULL */
	/* set by bind_check() */
	struct callable_entry *entry;
	uint32_t diagnostics;
	uint64_t staging;				/* bytes needed */
	uint32_t copies;				/* COPY commands needed */
};

/* All checks that need the Worker; changes nothing. Locked. */
int bind_check(struct simpler_worker *w, struct bind_request *rq, struct simpler_error *e);
/*
 * Fills the slot's descriptors and writes the commands of the run into the ring,
 * unpublished.  Fails only before anything is written. Locked.
 */
int bind_commit(struct simpler_worker *w, struct lane_slot *slot, const struct bind_request *rq,
		struct simpler_error *e);

/* ---- lane.c ---- */

int lane_open(struct simpler_worker *w);
/* Drops the memory of the slots; the stream is gone. */
void lane_close(struct simpler_worker *w);
/*
 * Checks a request, waits for room, submits it; @run gets its sequence number.
 * Locked before and after, but not while waiting.
 */
int lane_submit(struct simpler_worker *w, struct bind_request *rq, struct simpler_run *run,
		const struct rts_wait *wait, struct simpler_error *e);
/* Retires what has ended. Locked. */
void lane_reap_locked(struct simpler_worker *w);
/* The chip is gone: fails all runs in flight and refuses new ones. Locked. */
void lane_lost_locked(struct simpler_worker *w);
/* Waits until nothing is in flight. Locked before and after, but not while waiting. */
int lane_drain(struct simpler_worker *w, const struct rts_wait *wait);

/* ---- run.c ---- */

void run_get(struct simpler_run *r);
void run_put(struct simpler_run *r);

#endif /* SIMPLER_WORKER_WORKER_H */
