/* SPDX-License-Identifier: MIT */
/* Inside the hazard checker; the public entry is pto_check_hazards() (ptoas.h). */
#ifndef PTOAS_HAZARD_H
#define PTOAS_HAZARD_H

#include "diag.h"
#include "hazard_flow.h"
#include "ptoas.h"

struct hz_event {
	uint8_t src, dst;
	int64_t id;
	const struct pto_value *dynamic;	/* an id only known when it runs */
	struct pto_op *first;			/* for messages */
};

/*
 * What holds at one place of the program. Per cell the states in which its last access may be, one
 * per path that differs; a state is a set of bits: pipes that may rely on the access being
 * complete, and events that tell so once they are set. Only the least sets are kept. No access yet:
 * all bits.
 */
struct hz_state {
	uint64_t *bits;		/* per cell HZ_STATES sets of h->words words */
	uint8_t *n;		/* per cell: how many of them */
	uint8_t *status;	/* per event: enum hz_status */
	bool seen;
};

#define HZ_STATES	4	/* more are merged, which may only find too much */

enum hz_status { HZ_CLEAR, HZ_SET, HZ_MAYBE };

struct hazard {
	struct pto_module *m;
	struct pto_diags *d;
	struct pto_access a;
	struct flow f;
	struct hz_event *events;
	uint32_t n_events, event_room;
	uint32_t words;		/* of one set of pipes and events */
	bool report;
	bool no_memory;
};

/* hazard_state.c */
struct hz_state hz_state_new(const struct hazard *h);
void hz_state_free(struct hz_state *s);
void hz_copy(const struct hazard *h, struct hz_state *to, const struct hz_state *from);
/* Adds to @to what holds on another path. Return: whether @to changed. */
bool hz_join(const struct hazard *h, struct hz_state *to, const struct hz_state *from);
void hz_run(struct hazard *h, struct hz_state *s, struct pto_op *op);
int hz_find_events(struct hazard *h);

/* hazard_clobber.c: contents that another buffer's write destroys before they are read */
int hz_check_clobber(struct hazard *h);
/* hazard_space.c: buffers beyond the end of their space */
void hz_check_capacity(struct hazard *h, struct pto_op *func);

#endif
