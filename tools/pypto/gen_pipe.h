/* SPDX-License-Identifier: MIT */
/* The pipe arguments of an orchestration's calls. */
#ifndef PYPTO_GEN_PIPE_H
#define PYPTO_GEN_PIPE_H

#include "gen_orch.h"

#define PIPE_ENDS	64

/* One pipe argument of one call. */
struct pipe_end {
	const struct ir_call *call;
	const struct ir_function *callee;
	const struct entity *pipe, *cluster;
	uint32_t param;
	uint8_t direction;
};

struct pipe_ends {
	struct orch *o;
	struct pipe_end at[PIPE_ENDS];	/* those of a call stand together */
	unsigned int n;
	bool too_many;
};

/* Those of @f, which is the Orchestration function; NULL with mistakes. */
struct pipe_ends *pipe_ends_of(struct px *px, const struct ir_program *program,
			       const struct ir_function *f);

#endif
