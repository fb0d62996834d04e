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

/* What is certain at one place of the program, on every path to it. */
struct hz_state {
	uint64_t *known;	/* per pipe: cells whose accesses so far it may rely on */
	uint64_t *snap;		/* per event: cells that are complete once it is set */
	uint8_t *status;	/* per event: enum hz_status */
	bool seen;
};

enum hz_status { HZ_CLEAR, HZ_SET, HZ_MAYBE };

struct hazard {
	struct pto_module *m;
	struct pto_diags *d;
	struct pto_access a;
	struct flow f;
	struct hz_event *events;
	uint32_t n_events, event_room;
	uint64_t *on_pipe;	/* per pipe: cells accessed from it */
	size_t words;		/* of one state */
	bool report;
	bool no_memory;
};

/* hazard_state.c */
struct hz_state hz_state_new(const struct hazard *h);
void hz_state_free(struct hz_state *s);
void hz_copy(const struct hazard *h, struct hz_state *to, const struct hz_state *from);
/* Leaves in @to what is certain on both paths. Return: whether @to changed. */
bool hz_join(const struct hazard *h, struct hz_state *to, const struct hz_state *from);
void hz_run(struct hazard *h, struct hz_state *s, struct pto_op *op);
int hz_find_events(struct hazard *h);

/* hazard_clobber.c: contents that another buffer's write destroys before they are read */
int hz_check_clobber(struct hazard *h);
/* hazard_space.c: buffers beyond the end of their space */
void hz_check_capacity(struct hazard *h, struct pto_op *func);

#endif
