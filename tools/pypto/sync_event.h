/* SPDX-License-Identifier: MIT */
/*
 * Event numbers, given while a function is written in order. A number is free again when its wait
 * has passed; those are preferred for which the setting pipe is known to come after that wait, so
 * that the flag is not set a second time before it has been taken. Each ordered pair of pipes has
 * eight numbers; where all are taken, the flag is set right before its wait, and if they still are,
 * a barrier of all pipes takes the place of both.
 */
#ifndef PYPTO_SYNC_EVENT_H
#define PYPTO_SYNC_EVENT_H

#include "../ptoas/ops.h"
#include "ir.h"

#define EVENT_IDS	8

struct event_pair {
	uint8_t src, dst, id;
	bool late;		/* no number was free behind the producer: set before the wait */
	/* Of each two pipes the numbers whose last wait the setting pipe had come after. */
	uint8_t knows[PTO_PIPES][PTO_PIPES];
};

enum sync_mark_kind { MARK_SET, MARK_WAIT, MARK_BARRIER };

struct sync_mark {
	struct sync_mark *next;
	enum sync_mark_kind kind;
	struct event_pair *pair;	/* of a set and its wait */
	uint8_t pipe;			/* of a barrier */
};

struct sync_events {
	struct px *px;
	uint8_t open[PTO_PIPES][PTO_PIPES];			/* set, not waited for */
	uint16_t later[PTO_PIPES][PTO_PIPES][EVENT_IDS];	/* pipes that come after the wait */
};

void sync_events_init(struct sync_events *e, struct px *px);
/* What holds on both of two paths. */
void sync_events_join(struct sync_events *e, const struct sync_events *other);
/* A barrier of one pipe that sync_write_marks() made. */
bool sync_is_barrier(const struct ir_node *stmt);
/* Appends the statements for @marks to @out. */
void sync_write_marks(struct sync_events *e, const struct sync_mark *marks, struct span span,
		      struct ir_list *out);

#endif
