/* SPDX-License-Identifier: MIT */
#ifndef SIMPLER_WORKER_TASK_ARGS_H
#define SIMPLER_WORKER_TASK_ARGS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "simpler/task_args.h"

struct simpler_task_args {
	struct simpler_tensor *tensors;	/* byte 141 holds the transfer request */
	uint8_t *tags;			/* enum simpler_tag */
	uint64_t *scalars;
	size_t tensor_count;
	size_t tensor_capacity;
	size_t scalar_count;
	size_t scalar_capacity;
	/* grants and overlaps are known to be good; cleared by every change */
	_Atomic bool checked;
};

/**
 * task_args_check - grants by tag, overlap of writers with later entries (§9.5)
 *
 * The result is remembered until the arguments change.  SIMPLER_ERR_BUFFER_GRANT,
 * SIMPLER_ERR_ARG_TRANSFER, SIMPLER_ERR_ARG_OVERLAP.
 */
int task_args_check(const struct simpler_task_args *a, struct simpler_error *error);

#endif /* SIMPLER_WORKER_TASK_ARGS_H */
