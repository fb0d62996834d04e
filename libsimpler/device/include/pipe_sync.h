/* SPDX-License-Identifier: MIT */
/*
 * pipe_sync(): everything that earlier instructions of this kernel wrote is
 * visible to later ones and to tasks that depend on this one.  A simulated
 * core executes in order, so only the compiler has to be held back; on
 * hardware the barrier is the instruction.
 *
 * Spec: decisions D19.
 */
#ifndef PTO_PIPE_SYNC_H
#define PTO_PIPE_SYNC_H

#include "pto_qualifiers.h"

static inline __aicore__ void pipe_sync(void)
{
#if defined(__CCE_AICORE__)
	pipe_barrier(PIPE_ALL);
#else
	__asm__ __volatile__("" : : : "memory");
#endif
}

#endif /* PTO_PIPE_SYNC_H */
