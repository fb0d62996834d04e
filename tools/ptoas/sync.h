/* SPDX-License-Identifier: MIT */
/*
 * Insertion of flags and barriers (section 9.9, decisions D28, D30, D31).
 *
 * Block by block. In one block every operation has a position, a nested one counting as one
 * instruction on all of its pipes; per pair of pipes it is known up to which position the one may
 * rely on the other. A wait is only put where a conflict is not implied, latest source first, which
 * leaves out what a chain of others gives. Both halves of a pair stand in the same block, hence on
 * every path or on none. A loop's body is run a second time, behind itself: what is missing then is
 * carried, and becomes a pair that is set before the loop and waited for behind it.
 */
#ifndef PTOAS_SYNC_H
#define PTOAS_SYNC_H

#include "hazard_access.h"
#include "pass.h"

struct sync_pair {
	struct pto_op *after, *before;	/* set behind the one, wait in front of the other */
	struct pto_op *loop;		/* carried by this loop; NULL: within an iteration */
	uint8_t src, dst, id;
};

struct sync_barrier {
	struct pto_op *before;
	struct pto_op *loop;		/* what it orders is carried by this loop; NULL: is not */
	uint8_t pipe;
};

struct sync {
	struct pto_pass_ctx *c;
	struct pto_access a;
	uint32_t *in, *out;		/* by op->id: order of beginning and end */
	uint32_t *last;			/* by op->id: last operation inside, or itself */
	uint32_t clock;
	struct sync_pair *pairs;
	uint32_t n_pairs, pair_room;
	struct sync_barrier *barriers;
	uint32_t n_barriers, barrier_room;
	bool no_ids;		/* the caller numbers the pairs */
	bool no_memory;
};

/* Per pipe, the pipes all of whose instructions inside an operation it may rely on behind it. */
struct sync_summary {
	uint16_t knows[PTO_PIPES];
};

/* sync_ids.c */
void sync_add_barrier(struct sync *s, struct pto_op *before, struct pto_op *loop,
		      unsigned int pipe);
/* Records a pair with a free event id. Return: false when all ids of the two pipes are taken. */
bool sync_add_pair(struct sync *s, struct sync_pair p);
int sync_write(struct sync *s);

/**
 * sync_decide() - the pairs and barriers that @func needs; nothing is written
 * @s: zeroed but for c (of which arch is used) and no_ids; sync_fini() in all cases
 *
 * Return: 0 or -ENOMEM.
 */
int sync_decide(struct sync *s, struct pto_op *func);
void sync_fini(struct sync *s);

/* sync_block.c: decides on everything inside @r */
void sync_region(struct sync *s, struct pto_region *r, struct sync_summary *sum);

/**
 * pass_insert_sync() - flags and barriers for every conflict, and the tail of each function
 *
 * A function that has flags or barriers of its author's is not completed, but checked. The tail is
 * attribute "pto.auto_sync_tail" of the function: a full barrier before each return.
 */
int pass_insert_sync(struct pto_pass_ctx *c);
bool insert_sync_wanted(const struct pto_pass_ctx *c);

#endif
