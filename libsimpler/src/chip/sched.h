/* SPDX-License-Identifier: MIT */
/* Internals shared by the files that move tasks through their states.  Lock held throughout. */
#ifndef SIMPLER_CHIP_SCHED_H
#define SIMPLER_CHIP_SCHED_H

#include "chip/chip.h"

/* Prepares the scheduler for a launch / frees what it allocated. */
void sched_reset(struct chip *c);

struct chip_edge *sched_edge(struct chip *c);	/* NULL: out of memory */
void sched_free_edges(struct chip *c);		/* all slabs; no edge may be in use */

/* All data producers of @t are done: queue it, or complete it when it has no kernel to run. */
void sched_data_ready(struct chip *c, struct chip_task *t);

/* Runs all blocks of a ready task on the calling (orchestrator's) stack; false: not possible now. */
bool sched_run_inline(struct chip *c, struct chip_task *t);

/* Marks @t completed and releases its consumers and producers. */
void sched_complete(struct chip *c, struct chip_task *t);

/* Drops one reference; the task is consumed at zero once it is completed. */
void sched_unref(struct chip *c, struct chip_task *t);

/* Retires what is consumed at the old end of a ring. */
void sched_advance(struct chip *c, struct chip_ring *r);

/* Light tasks (light.c): takes the core that the block of task @id runs on, NULL: none is free. */
struct chip_core *sched_light_core(struct chip *c, uint8_t shape, const struct chip_kernel *kernel,
				   uint64_t id);
void sched_light_done(struct chip *c, struct chip_core *core);

/* Something the orchestrator may be waiting for became available. */
void sched_wake_orchestrator(struct chip *c);

static inline void queue_init(struct chip_queue *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

static inline void queue_push(struct chip_queue *q, struct chip_task *t)
{
	t->queue_next = NULL;
	*q->tail = t;
	q->tail = &t->queue_next;
}

static inline struct chip_task *queue_pop(struct chip_queue *q)
{
	struct chip_task *t = q->head;

	q->head = t->queue_next;
	if (!q->head)
		q->tail = &q->head;
	return t;
}

static inline bool has_kernels(const struct chip_task *t)
{
	return t->shape != CHIP_SHAPE_DUMMY;
}

/* Deferred completion (async.c): true when the subtask's end must wait for conditions. */
bool async_defer(struct chip *c, struct chip_core *core);

/* What the first open condition waits for, as part of a report; bytes written or wanted. */
size_t async_describe(const struct chip *c, char *buf, size_t size);
void async_reset(struct chip *c);

/* Cluster groups (cluster.c). */
void cluster_release(struct chip *c, struct chip_task *t);
void cluster_grab(struct chip *c);	/* gives idle clusters to a waiting allocate_cluster */
void cluster_links_ready(struct chip *c, struct chip_task *t);	/* its pipes have data coming */
int cluster_wire_pipes(struct chip *c, struct chip_task *t);
void cluster_reset(struct chip *c);

#endif /* SIMPLER_CHIP_SCHED_H */
