/* SPDX-License-Identifier: MIT */
/*
 * What the instructions of a function touch: storage by space and address, as cells.
 *
 * A cell is one storage range accessed from one pipe in one way (read or write). Two accesses of
 * one cell need no distinction: whoever waits for the later one has waited for the earlier one.
 * Shared by the synchronisation pass and the hazard checker; spec pto-isa.md 9.9.
 */
#ifndef PTOAS_HAZARD_ACCESS_H
#define PTOAS_HAZARD_ACCESS_H

#include <errno.h>

#include "ops.h"

/* How much is known about where storage is. */
enum pto_place {
	PTO_PLACE_ADDR,		/* bytes [base, end) of the space */
	PTO_PLACE_ROOT,		/* only that it is root's own */
	PTO_PLACE_ANY,		/* anywhere in the space */
};

struct pto_span {
	uint8_t space;			/* enum pto_space */
	uint8_t place;			/* enum pto_place */
	bool part;			/* not the whole buffer: a window of it */
	int64_t base, end;
	const struct pto_value *root;	/* the buffer; NULL: unknown */
};

#define PTO_MAX_SPANS	16

/**
 * pto_spans_of() - storage that @v may name, through views, loops and branches
 *
 * Return: number of spans written to @out (at most PTO_MAX_SPANS). A value with more possible
 * buffers than that gives one span of place PTO_PLACE_ANY.
 */
unsigned int pto_spans_of(const struct pto_value *v, struct pto_span *out);
bool pto_spans_meet(const struct pto_span *a, const struct pto_span *b);
/* Bytes of a space that the planner and the checker count with (section 2.2). */
int64_t pto_capacity(enum pto_space space, enum pto_arch arch);
/* Sizes and addresses are multiples of this. */
int64_t pto_alignment(enum pto_space space);

struct pto_cell {
	struct pto_span span;
	uint8_t pipe;			/* enum pto_pipe */
	bool write;
	uint32_t n_ops, room;
	struct pto_op **ops;		/* that touch it, in program order */
	uint32_t chain;			/* next of the hash bucket, + 1 */
};

/* Cells of one operation; operation.id is its index. */
struct pto_touch {
	struct pto_op *op;
	uint32_t first, n;		/* of pto_access.touched */
};

#define PTO_POPS	64	/* more than a pipe has slots */

/* A pop whose slot waits for its free. */
struct pto_popped {
	struct pto_op *op;
	bool freed;
};

struct pto_access {
	enum pto_arch arch;
	struct pto_cell *cells;
	uint32_t n_cells, cell_room;
	struct pto_touch *ops;		/* every operation below the function, in program order */
	uint32_t n_ops, op_room;
	uint32_t *touched;
	uint32_t n_touched, touched_room;
	struct pto_popped popped[PTO_POPS];	/* the last ones, in a ring */
	uint32_t n_popped;
	uint64_t *conflicts;		/* n_cells rows of words words */
	uint32_t words;
	uint32_t buckets[512];
	bool no_memory;
};

/**
 * pto_access_init() - cells of everything below @func; sets op->id
 *
 * Return: 0 or -ENOMEM. pto_access_fini() in both cases.
 */
int pto_access_init(struct pto_access *a, struct pto_op *func, enum pto_arch arch);
void pto_access_fini(struct pto_access *a);

static inline const struct pto_touch *pto_touch_of(const struct pto_access *a,
						   const struct pto_op *op)
{
	return &a->ops[op->id];
}

/* Cells that conflict with @cell: same bytes, at least one write. */
static inline const uint64_t *pto_conflicts(const struct pto_access *a, uint32_t cell)
{
	return a->conflicts + (size_t)cell * a->words;
}

/* Whether the pipe completes instructions in order by itself: no barrier is needed between two. */
static inline bool pto_in_order(enum pto_pipe pipe, enum pto_arch arch)
{
	return pipe == PTO_PIPE_S || (pipe == PTO_PIPE_V && arch == PTO_ARCH_A5);
}

/* A call of a function of this module or another: its instructions are not seen. */
static inline bool pto_is_call(const struct pto_op *op)
{
	return op->info->code == PTO_OP_CALL;
}

#endif
