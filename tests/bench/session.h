/* SPDX-License-Identifier: MIT */
/* A Worker on the simulated chip, and callables from the objects beside the program. */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "simpler/simpler.h"

#define SESSION_PLATFORM "a2a3sim"

/* All of these end the program when something fails. */

/* A READY Worker; simpler_worker_destroy() it. */
struct simpler_worker *session_worker(void);

/*
 * Registers orchestration/@orchestration with kernels/@kernels[i] as func_id i;
 * the list ends with NULL.  The callable takes @tensors INOUT tensors, @scalars.
 */
struct simpler_callable_handle session_register(struct simpler_worker *w,
						const char *orchestration,
						const char *const *kernels, uint32_t tensors,
						uint32_t scalars);

/* Device memory as a dense tensor of @words 32-bit words, added to @args as INOUT. */
struct simpler_buffer *session_words(struct simpler_worker *w, struct simpler_task_args *args,
				     uint64_t words);

/* Ends the program with the Worker's last error when @rc is one. */
void session_must(struct simpler_worker *w, const char *what, int rc);

#endif /* BENCH_SESSION_H */
