/* SPDX-License-Identifier: MIT */
/*
 * TPUSH/TPOP pipes between the cores of a cluster (chip-runtime §13.3, pto-isa
 * §5).  A pipe lives from its first use to the end of the run, or until the
 * cluster group that used it releases the cluster.
 */
#ifndef SIMPLER_CHIP_PIPE_H
#define SIMPLER_CHIP_PIPE_H

#include "chip/chip.h"

/* Who pushes on a lane of a pipe. */
struct chip_pipe_end {
	const struct chip_kernel *kernel;	/* NULL: nobody has */
	const struct chip_core *core;
	uint64_t task_cookie;
	int32_t block_idx;
};

/*
 * One direction of a pipe.  Counters only grow; slot = counter % slot_num.
 * Lane counters beyond the first are used by split transfers only.
 */
struct chip_pipe_ring {
	uint8_t *slots;			/* own memory when the kernels give none */
	uint64_t begun[2];		/* pushes begun, per producing lane */
	uint64_t committed[2];		/* pushes ended */
	uint64_t popped[2];		/* pops begun, per consuming lane */
	uint64_t freed[2];
	struct chip_pipe_end pusher[2];	/* per producing lane */
	uint8_t lanes;			/* of the last transfer */
};

struct chip_pipe_state {
	struct chip_pipe_state *next;
	uint64_t key;			/* flag, direction mask, slots, local slots, bytes */
	uint32_t slot_num;
	uint32_t slot_bytes;
	struct chip_pipe_ring ring[2];	/* C2V, V2C */
	struct chip_core *waiters;
};

/* Implementations of the pto_core_ops of the same name; called on a kernel's stack, lock not held. */
uint8_t *chip_push_begin(struct chip_core *core, const struct pto_pipe *p, enum pto_pipe_dir dir,
			 uint32_t lanes);
void chip_push_end(struct chip_core *core, const struct pto_pipe *p, enum pto_pipe_dir dir,
		   uint32_t lanes);
uint8_t *chip_pop_begin(struct chip_core *core, const struct pto_pipe *p, enum pto_pipe_dir dir,
			uint32_t lanes);
void chip_pop_free(struct chip_core *core, const struct pto_pipe *p, enum pto_pipe_dir dir,
		   uint32_t lanes);

/* Leaves the runtime and ends the calling kernel; its run has failed.  Lock and guard held. */
void chip_abandon(struct chip_core *core) __attribute__((noreturn));

/* Drops the pipes of a cluster; returns how many pushed slots nobody popped.  Lock held. */
uint32_t chip_pipes_clear(struct chip *c, uint32_t cluster);

#endif /* SIMPLER_CHIP_PIPE_H */
