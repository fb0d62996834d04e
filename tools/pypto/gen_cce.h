/* SPDX-License-Identifier: MIT */
/* Inside the CCE generator. */
#ifndef PYPTO_GEN_CCE_H
#define PYPTO_GEN_CCE_H

#include "gen_pto.h"

/* A parameter, or a region of one. */
struct cce_tensor {
	const char *name;	/* of the typed pointer */
	const char *global;	/* GlobalTensor with extents @window, or NULL */
	struct ir_list window;
	const char **offsets;	/* of a region */
	uint32_t rank;
	uint8_t dtype;
};

struct cce_tensor *cce_tensor_of(struct pto_gen *g, const struct ir_node *e);
const char *cce_global(struct pto_gen *g, const struct cce_tensor *t, const struct ir_list *sizes);

#endif
