/* SPDX-License-Identifier: MIT */
/*
 * Chip runtime: what runs on the control CPUs of a chip.
 *
 * A struct chip executes one launch at a time.  The orchestration submits tasks
 * (submit.c); dependences are inferred from the tensors (deps.c over tmap.c);
 * tasks whose producers are done wait in ready queues for logical cores
 * (sched.c); the executor, which owns threads and stacks and is not part of
 * this folder, takes one placed core after the other, calls the kernel and
 * reports its end.
 *
 *   submit ──▶ waiting ──▶ ready ──▶ placed on a core ──▶ running ⇄ parked
 *                                                            │
 *   consumed ◀── scope closed, consumers done ◀── completed ◀┘
 *
 * Locking.  All state of a chip is guarded by one lock, and the lock is biased:
 * as long as a single thread executes the launch (chip->shared is false), it is
 * not taken at all.  The executor sets chip->shared before it lets a second
 * thread in, and clears it after the last one has left, holding the lock both
 * times.  So the common case, many short tasks,
 * pays for no atomic read-modify-write, and long kernels, which do run in
 * parallel, pay little relative to their length.
 *
 * Rejected: per-task locks and lock-free ready queues, as the reference has
 * them.  They cost two to four contended cache lines a task, which is more than
 * a whole submit costs here, and they are what makes parallel execution of
 * short tasks slower than serial execution in other runtimes.
 */
#ifndef SIMPLER_CHIP_CHIP_H
#define SIMPLER_CHIP_CHIP_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/lock.h"
#include "chip/callable.h"
#include "chip/ring.h"
#include "chip/tmap.h"
#include "pto_runtime_abi.h"
#include "simpler_hw.h"

#define CHIP_RINGS		4u
#define CHIP_MAX_CLUSTERS	36u
#define CHIP_CORES_PER_CLUSTER	3u
#define CHIP_MAX_SCOPES		64u	/* open at once, the root included */
#define CHIP_TMAP_LIMIT		65536u
#define CHIP_BACKLOG		512u	/* open tasks beyond which a lone thread runs some before it submits more */
#define CHIP_INLINE_PRODUCERS	64u	/* beyond these a task takes dependency pool entries */

/* Subtask slots of a task. */
enum chip_slot { CHIP_AIC = 0, CHIP_AIV0 = 1, CHIP_AIV1 = 2, CHIP_SLOTS = 3 };

enum chip_shape { CHIP_SHAPE_AIC = 0, CHIP_SHAPE_AIV = 1, CHIP_SHAPE_MIX = 2, CHIP_SHAPE_DUMMY = 3 };

enum chip_task_state {
	CHIP_WAITING = 0,	/* for producers */
	CHIP_READY,		/* in a queue, or partly placed */
	CHIP_COMPLETED,
};

/* Bits of chip_task.flags. */
#define CHIP_TASK_SYNC_START	(1u << 0)
#define CHIP_TASK_PREDICATE	(1u << 1)
#define CHIP_TASK_CLUSTER	(1u << 2)	/* the hidden task that holds allocated clusters */
#define CHIP_TASK_PINNED	(1u << 3)	/* runs on clusters of a group */
#define CHIP_TASK_ORDERED	(1u << 4)	/* kernel arguments follow @order */
#define CHIP_TASK_PIPED		(1u << 5)	/* has pipe arguments */
#define CHIP_TASK_MANUAL	(1u << 6)	/* submitted in a MANUAL scope */

struct chip_task;

/* One entry of a producer's consumer list. */
struct chip_edge {
	struct chip_edge *next;
	struct chip_task *consumer;
};

struct chip_async_wait;

/*
 * Task record; its variable part (tensors, map entries, retained producers,
 * scalars, argument order, predicate) lies behind it in the same allocation.
 */
struct chip_task {
	struct chip_ring_task base;	/* must stay first */
	uint8_t state;			/* enum chip_task_state */
	uint8_t shape;			/* enum chip_shape */
	uint8_t flags;			/* CHIP_TASK_* */
	uint8_t tensor_count;
	uint8_t scalar_count;
	uint8_t entry_count;
	int8_t timing_slot;
	uint8_t kernel_mask;		/* bit per enum chip_slot */
	uint32_t waits;			/* producers not completed, +1 while being wired */
	uint32_t pipe_waits;		/* pipe producers whose data is not ready */
	uint32_t refs;			/* open scope + consumers that retain it */
	uint32_t retained_count;
	uint32_t spill;			/* dependency pool entries held */
	int32_t block_num;
	int32_t next_block;		/* first block not yet placed */
	int32_t subtasks_left;		/* kernel returns outstanding */
	uint64_t mark;			/* serial of the last submit that named it as producer */
	const struct chip_kernel *kernels[CHIP_SLOTS];
	struct chip_edge *consumers;
	struct chip_task *queue_next;
	struct chip_task *scope_next;
	struct chip_group *group;	/* PINNED, CLUSTER */
	struct tmap_entry *entries;
	struct chip_task **retained;
	uint64_t *scalars;
	uint8_t *order;
	struct pto_predicate *predicate;
	uint64_t *pipe_ids;		/* PIPED: [0] = count, then id << 1 | is_out */
	_Alignas(64) struct pto_tensor tensors[];
};

struct chip_queue {
	struct chip_task *head;
	struct chip_task **tail;
};

enum chip_core_state {
	CHIP_CORE_FREE = 0,
	CHIP_CORE_PLACED,	/* has a block that has not started */
	CHIP_CORE_RUNNING,
	CHIP_CORE_PARKED,	/* its block waits for a condition */
};

/* A logical core and the block on it. */
struct chip_core {
	struct pto_core pub;		/* must stay first: kernels get its address */
	struct chip *chip;
	struct chip_task *task;
	const struct chip_kernel *kernel;
	const struct pto_core_args *light;	/* operands of a task without a record, else NULL */
	uint64_t *free_word, free_bit;	/* its bit in chip.free */
	struct chip_core *next;		/* placed list, pipe waiters, resume list */
	struct fiber *strand;		/* PARKED: the stack its block waits on; the executor's */
	struct pto_local_context local;
	struct pto_global_context global;
	uint8_t state;			/* enum chip_core_state */
	uint8_t slot;			/* enum chip_slot */
	bool light_bound;		/* was bound for a light task last, which left nothing behind */
	bool was_parked;		/* its block had to wait at least once */
	bool abandoned;			/* its block was given up because the launch had failed */
	void (*at_return)(void);	/* the kernel asked for a call when it has returned, else NULL */
	const char *waits_for;		/* PARKED: static text, e.g. "pop from an empty pipe" */
	uint64_t wait_detail;		/* PARKED: pipe key */
	uint32_t async_count;
	int32_t async_error;
	struct pto_async_condition async_entries[PTO_ASYNC_CONDITIONS];
};

/* Clusters handed out by one allocate_cluster. */
struct chip_group {
	struct chip_group *next;
	uint64_t mask;			/* clusters */
	uint32_t count;
	uint32_t id;
	struct chip_queue ready;	/* pinned tasks */
};

/* State of a pipe tensor: orders the members of a group that it connects. */
struct chip_pipe_link {
	uint32_t group;			/* id of the cluster group of its first end; 0 none yet */
	bool ready;			/* the producer's data dependences are met */
	struct chip_edge *waiting;	/* consumers submitted or ready before that */
};

struct chip_scope {
	uint64_t serial;
	uint8_t mode;			/* enum pto_scope_mode */
	uint8_t ring;
	uint32_t first;			/* local id that its ring gave next when it was opened */
	uint32_t tasks;			/* its own, on its ring */
	uint32_t light_first, light_last;	/* range of local ids with marks of this scope */
	bool has_light;
	struct chip_task *list;
};

/* What the orchestrator waits for while it is suspended. */
enum chip_orch_wait {
	CHIP_ORCH_RUNNING = 0,
	CHIP_ORCH_SLOT,
	CHIP_ORCH_HEAP,
	CHIP_ORCH_DEP_POOL,
	CHIP_ORCH_TMAP,
	CHIP_ORCH_CLUSTER,
	CHIP_ORCH_TENSOR,
	CHIP_ORCH_DONE,
};

/* What the chip runtime needs of the executor. */
struct chip_executor_ops {
	/* Suspends the orchestration until chip->orch_wait says it may go on.  Lock held before and after. */
	void (*park_orchestrator)(struct chip *c);
	/* Lets what is queued run first.  Lock held before and after. */
	void (*yield_orchestrator)(struct chip *c);
	/* The orchestration may go on.  Lock held. */
	void (*resume_orchestrator)(struct chip *c);
	/* Suspends the calling block.  Lock held before and after. */
	void (*park_core)(struct chip *c, struct chip_core *core);
	/* A parked block may go on.  Lock held. */
	void (*resume_core)(struct chip *c, struct chip_core *core);
	/* Calls core->kernel on the calling stack; 0, or 1 when it crashed (already reported).  Lock not held. */
	int (*call_kernel)(struct chip *c, struct chip_core *core);
	/* @t is queued and could be helped with; NULL: some other state changed.  Lock held. */
	void (*work_ready)(struct chip *c, const struct chip_task *t);
	/* The core the calling thread executes a block of; NULL outside kernels. */
	struct chip_core *(*self)(void);
	/* Should @t, which could run at once, be queued for other threads instead?  Lock held. */
	bool (*prefer_queue)(struct chip *c, const struct chip_task *t);
	/* The same for a task of one kernel that has no record yet. */
	bool (*prefer_queue_kernel)(struct chip *c, const struct chip_kernel *k);
	/* Ends the calling block's kernel without returning to it. */
	void (*abandon_kernel)(struct chip *c, struct chip_core *core) __attribute__((noreturn));
};

/* Failure of a launch; orchestrator codes win over scheduler codes, each first writer wins. */
struct chip_failure {
	int32_t orch_code;
	int32_t sched_code;
	int32_t sub_class;
	int32_t core;
	int32_t func_id;
	uint32_t phase;
	uint64_t task;
	uint64_t address;
	uint64_t pc;
	char text[1024];
};

struct chip_config {
	uint32_t arch;			/* SIMPLER_HW_ARCH_* */
	uint32_t clusters;		/* <= CHIP_MAX_CLUSTERS */
	bool checked;			/* SIMPLER_CHECK=1 */
	bool serial;			/* SIMPLER_TMR_SERIAL_ORCH_SCHED_ENABLE: orchestrate first, then execute */
	bool inline_tasks;		/* run ready tasks on the orchestrator's stack */
	const struct chip_executor_ops *ops;
	const struct pto_core_ops *core_ops;	/* given to kernels */
	void *executor;
};

struct chip {
	struct PTO2Runtime rt;		/* must stay first: orchestrations get its address */
	struct chip_config config;
	struct lock lock;
	bool shared;			/* more than one thread executes; see the head comment */

	/* the launch */
	const struct chip_callable *callable;
	struct simpler_hw_launch launch;
	struct chip_failure failure;
	atomic_bool fatal;		/* a code is latched */
	uint32_t dep_mode;
	struct chip_ring rings[CHIP_RINGS];
	struct tmap tmap;
	struct chip_scope scopes[CHIP_MAX_SCOPES];	/* [0, rt.scope_depth) are open */
	uint32_t manual_depth;		/* open MANUAL scopes */
	bool linking;			/* sched_data_ready() is running */
	struct chip_queue linked;	/* tasks that it still has to look at */
	uint32_t open_tasks;		/* held by open scopes */
	uint32_t open_task_limit;
	uint64_t scope_serial;
	uint64_t submit_serial;
	uint64_t launches;		/* ended so far; tells equal tasks of different launches apart */
	uint64_t submitted;
	uint64_t completed;
	_Atomic uint64_t progress;	/* bumped by every finished block; read by the watchdog */

	/* orchestrator */
	bool in_op;			/* inside a call of the function table */
	enum chip_orch_wait orch_wait;
	uint32_t orch_waits;		/* producers that an element access waits for */
	uint64_t orch_request;		/* bytes, slots or clusters it waits for */
	struct chip_task *light_node;	/* stands for a task without a record while its kernel runs */
	struct chip_task *orch_node;	/* stands for the orchestrator in consumer lists */
	_Atomic uint64_t orch_wait_start_ns;	/* of an element access, 0 none; read by the watchdog */

	/* scheduler */
	struct chip_queue dummies;	/* to complete in the loop of sched_complete() */
	bool completing;
	struct chip_queue ready[2][3];	/* [0] sync-start cohorts, [1] others; by shape */
	uint32_t queued;		/* tasks in ready queues, those of groups included */
	struct chip_core *placed;	/* FIFO of cores to start */
	struct chip_core **placed_tail;
	uint64_t free[CHIP_SLOTS];	/* bit per cluster */
	uint64_t reserved;		/* clusters held by groups */
	struct chip_core *light_core[2];	/* last used by a light task of a vector, cube kernel */
	uint32_t cluster_cursor;	/* where the search for a free core starts */
	uint32_t running;		/* cores executing or parked */
	uint32_t parked;
	struct chip_group *groups;
	uint32_t group_serial;
	struct chip_pipe_link *links;	/* by pipe id */
	uint32_t link_room;
	struct chip_async_wait *async_waits;
	uint8_t *arenas;		/* on-chip memories of all cores, committed lazily */
	size_t arenas_bytes;
	struct chip_core *cores;	/* clusters * 3: AIC [0,N), AIV [N,3N) */
	struct chip_pipe_state *pipes[CHIP_MAX_CLUSTERS];
	struct chip_edge *free_edges;
	void *edge_slabs;

	bool manual_warned;
	bool fail_next_growth;		/* fault injection */
	uint32_t open_task_override;	/* tests: limit of open tasks; 0 = the sum of the windows */
	uint64_t inline_blocks, parks, blocks;
};

int chip_init(struct chip *c, const struct chip_config *config);
void chip_fini(struct chip *c);

/* ---- launch (launch.c) ---- */

/**
 * chip_begin - prepare a launch
 * @callable: loaded callable; must stay loaded until chip_end
 * @launch: copied; the operand arrays must live until chip_end
 *
 * Returns 0, or a negative code with @err filled; the chip is then unchanged
 * apart from larger arenas.
 */
int chip_begin(struct chip *c, const struct chip_callable *callable,
	       const struct simpler_hw_launch *launch, struct error_record *err);

/* Runs config check, root scope and entry on the calling stack.  Lock not held. */
void chip_orchestrate(struct chip *c);

/* The orchestration's stack is gone (crash or watchdog): closes what it left open.  Lock held. */
void chip_orchestrator_lost(struct chip *c);

/* True when nothing is left to do: orchestration over and all tasks completed, or failed and quiet. */
bool chip_finished(const struct chip *c);

/* Ends a launch: fills @status, resets all state.  Returns the run code (0 = success). */
int chip_end(struct chip *c, struct simpler_hw_status *status);

/* ---- executor's side of the scheduler (sched.c) ---- */

/* The next core to start, or NULL.  Lock held. */
struct chip_core *chip_take(struct chip *c);

/* The block on @core ended.  Lock held. */
void chip_block_done(struct chip *c, struct chip_core *core);

/* Nothing can run and nothing will change by itself: latches the fitting deadlock code.  Lock held. */
void chip_deadlock(struct chip *c);

/* The watchdog of @ms has fired. */
void chip_no_progress(struct chip *c, uint32_t ms);

/* Polls deferred completions; true when one completed.  @c->async_waits says whether any is open.  Lock held. */
bool chip_poll_async(struct chip *c);

/* ---- failures (status.c) ---- */

void chip_fail_orch(struct chip *c, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Whom a failure names; -1, -1, PTO_NO_TASK: nobody. */
struct chip_culprit {
	int32_t core;
	int32_t func_id;
	uint64_t task;
};

/* What runs on @core, which may be NULL. */
struct chip_culprit chip_culprit(const struct chip_core *core);

void chip_fail_sched_at(struct chip *c, int code, const struct chip_culprit *who,
			const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void chip_fail_sched(struct chip *c, int code, const struct chip_core *core, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void chip_vfail_orch(struct chip *c, int code, const char *fmt, va_list ap);

/* Relaxed: only a hint to stop early; the code itself is read under the lock. */
static inline bool chip_is_fatal(const struct chip *c)
{
	return atomic_load_explicit(&c->fatal, memory_order_relaxed);
}

/* Describes every parked block and what the orchestrator waits for.  Lock held. */
void chip_describe_stall(const struct chip *c, char *buf, size_t size);

/* "0x1_00000003": ring and local number of a task, for messages. */
const char *chip_task_name(uint64_t id, char buf[24]);

/* Bytes of an element; 0 for unknown types. */
static inline uint32_t chip_dtype_bytes(uint8_t dtype)
{
	static const uint8_t bytes[PTO_DTYPE_COUNT] = {
		4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1
	};

	return dtype < PTO_DTYPE_COUNT ? bytes[dtype] : 0;
}

static inline void chip_lock(struct chip *c)
{
	if (c->shared)
		lock_take(&c->lock);
}

static inline void chip_unlock(struct chip *c)
{
	if (c->shared)
		lock_give(&c->lock);
}

#endif /* SIMPLER_CHIP_CHIP_H */
