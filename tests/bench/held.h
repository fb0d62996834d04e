/* SPDX-License-Identifier: MIT */
/* What host, orchestration and kernel of the memory measurement share.  C and C++. */
#ifndef BENCH_HELD_H
#define BENCH_HELD_H

#include <stdint.h>

#define HELD_CELL_BYTES 64u

/* What a task that waits has. */
enum held_edge {
	HELD_TENSOR,		/* the gate as INPUT */
	HELD_TENSOR_AND_OWN,	/* the gate as INPUT, a cell of its own as INOUT */
	HELD_EXPLICIT,		/* an explicit dependence, a cell of its own as NO_DEP */
	HELD_EXPLICIT_AND_OWN,	/* an explicit dependence, a cell of its own as INOUT */
	HELD_EDGES
};

/* First cell: the task that holds all others back, and who waits for whom. */
struct held_gate {
	uint32_t submitted;	/* orchestration to host: tasks that have been submitted */
	uint32_t started;	/* kernel to host */
	uint32_t released;	/* host to chip: the task completes */
	uint32_t unused[13];
};

#endif /* BENCH_HELD_H */
