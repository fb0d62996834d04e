/* SPDX-License-Identifier: MIT */
/* What the files about buffers share; the rest of the Worker uses worker.h only. */
#ifndef SIMPLER_WORKER_BUFFER_H
#define SIMPLER_WORKER_BUFFER_H

#include "worker/worker.h"

/* ---- buffer_table.c, locked ---- */

/* Makes the buffer usable; the table takes a reference. SIMPLER_ERR_NO_MEMORY */
int buffers_add(struct simpler_worker *w, struct simpler_buffer *b);
/* Operations do not find the buffer any more. */
void buffers_revoke(struct simpler_worker *w, struct simpler_buffer *b);
/* Nothing is left to be released; the caller puts the table's reference once it has unlocked. */
void buffers_unlist(struct simpler_buffer *b);
/* A live buffer of @kind, other than @b, that shares device addresses with it, or NULL. */
struct simpler_buffer *buffers_find_overlap(struct simpler_worker *w,
					    const struct simpler_buffer *b, enum buffer_kind kind);

/* ---- buffer.c ---- */

/* Without descriptor; holds a reference to @w unless that is NULL. NULL: memory is short. */
struct simpler_buffer *buffer_create(struct simpler_worker *w, enum buffer_kind kind);
void buffer_set_desc(struct simpler_buffer *b, enum simpler_address_space space,
		     enum simpler_access access, enum simpler_backend backend, uint64_t nbytes);
void buffer_set_address(struct simpler_buffer *b, uint64_t address);
/* Locked; only READY Workers mint identities. */
void buffer_set_identity(struct simpler_worker *w, struct simpler_buffer *b);

#endif /* SIMPLER_WORKER_BUFFER_H */
