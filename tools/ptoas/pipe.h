/* SPDX-License-Identifier: MIT */
/* Pipes between the cores of a cluster. Section 9.8. */
#ifndef PTOAS_PIPE_H
#define PTOAS_PIPE_H

#include "pass.h"

struct pipe_facts {
	int64_t dir, slot_bytes, slots, local_slots, flag_base;
	bool nosplit;
};

/* How the users of a pipe's end move tiles: as wholes, cut in two. */
struct pipe_splits {
	bool whole, cut;
};

struct pipe_splits pipe_splits_of(struct pto_module *m, struct pto_op *init);
/* What a pipe is, from its initialisation and its users; at most the defaults of the section. */
struct pipe_facts pipe_facts_of(struct pto_module *m, struct pto_op *init, enum pto_arch arch);
/* The initialisation that pipe user @op belongs to; NULL: none in its function. */
struct pto_op *pipe_init_of(struct pto_module *m, struct pto_op *op);
/* Split of a pipe user: 0 none, 1 up-down, 2 left-right. */
int64_t pipe_split(const struct pto_op *op);

/**
 * pass_check_pipes() - the rules of section 9.8
 *
 * Needs a verified module; changes nothing.
 */
int pass_check_pipes(struct pto_pass_ctx *c);

/**
 * pass_group_pipes() - finds the two ends of each pipe; gives both the same "flag_base"
 *
 * Needs reserve_buffer and import_reserved_buffer, which a later pass replaces.
 */
int pass_group_pipes(struct pto_pass_ctx *c);

#endif
