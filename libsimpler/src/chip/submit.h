/* SPDX-License-Identifier: MIT */
/* Internals shared by the files behind the orchestration's function table.  Lock held throughout. */
#ifndef SIMPLER_CHIP_SUBMIT_H
#define SIMPLER_CHIP_SUBMIT_H

#include "chip/chip.h"

/* Scope at nesting @depth (0 = root). */
static inline struct chip_scope *scope_at(struct chip *c, uint32_t depth)
{
	return &c->scopes[depth];
}

static inline struct chip_scope *scope_current(struct chip *c)
{
	return c->rt.scope_depth ? scope_at(c, c->rt.scope_depth - 1) : NULL;
}

/* Opens/closes a scope; a failed check latches INVALID_ARGS. */
void scope_begin(struct chip *c, int mode);
void scope_end(struct chip *c);
/* Closes everything that is open, the root scope included. */
void scope_end_all(struct chip *c);

/*
 * Suspends the orchestrator until @why may have been resolved; false when the
 * launch has failed (also by a deadlock found meanwhile).  @request is for the
 * report.
 */
bool orch_wait(struct chip *c, enum chip_orch_wait why, uint64_t request);

/*
 * A task record in @scope with room for the counts given, a slot and a heap
 * block of @heap bytes; waits for what is short.  NULL: the launch has failed.
 */
struct record_shape {
	uint32_t tensors;
	uint32_t entries;
	uint32_t retained;
	uint32_t scalars;
	uint32_t order;
	uint32_t pipes;
	bool predicate;
};
struct chip_task *task_create(struct chip *c, struct chip_scope *scope,
			      const struct record_shape *shape, uint64_t heap,
			      uint64_t *heap_addr);

/* Gives @t its buffer from the ring of its home scope (decision D2); false: failed. */
bool tensor_materialize(struct chip *c, struct pto_tensor *t);

/* Builds the descriptor of a new buffer at @addr owned by @owner. */
void tensor_from_create(struct pto_tensor *t, const struct pto_create_info *ci, uint64_t addr,
			uint64_t owner);
uint64_t create_info_bytes(const struct pto_create_info *ci);

/* ---- dependences (deps.c) ---- */

/* Finds the task behind an id; false and INVALID_ARGS when the id never existed.  *t NULL: retired. */
bool deps_lookup_id(struct chip *c, uint64_t id, const char *what, struct chip_task **t);

/* Wires @t behind its producers; t->waits counts them.  false: the launch has failed. */
bool deps_wire(struct chip *c, struct chip_task *t, const struct pto_core_args *args, bool manual);

/* Enters the accesses of @t, which does not run at once.  false: the launch has failed. */
bool deps_publish(struct chip *c, struct chip_task *t, const struct pto_core_args *args);

/* Lets the orchestrator wait until every producer (and reader) of an element is done. */
bool deps_wait_element(struct chip *c, const struct pto_tensor *element, bool readers_too);

/* True when the task of this id has completed. */
bool deps_is_done(struct chip *c, uint64_t id);

/* Would an argument of kind @tag have to wait for a live access? */
bool deps_overlaps(struct chip *c, const struct pto_tensor *t, uint8_t tag);

/* ---- light tasks (light.c) ---- */

enum light_result {
	LIGHT_NOT,		/* nothing happened: go the ordinary way, which also names errors */
	LIGHT_DONE,		/* run and completed under @id */
	LIGHT_DEFERRED,		/* run, but @core holds completion conditions: it needs a record */
};

struct light {
	const struct chip_kernel *kernel;
	uint8_t shape;		/* CHIP_SHAPE_AIC or CHIP_SHAPE_AIV */
	uint64_t id;
	struct chip_core *core;
};

/* Submits and runs a task that can do without a record; @l is filled unless the result is LIGHT_NOT. */
enum light_result light_submit(struct chip *c, const struct pto_mixed_kernels *mk,
			       const struct pto_core_args *args, struct light *l);

/* ---- the function table ---- */
void submit_task(struct chip *c, const struct pto_mixed_kernels *mk,
		 const struct pto_core_args *args, struct pto_task_outputs *out);
void submit_alloc(struct chip *c, const struct pto_core_args *args, struct pto_task_outputs *out);
uint64_t element_get(struct chip *c, const struct pto_tensor *t, uint32_t ndims,
		     const uint32_t *indices, uint32_t elem_bytes);
void element_set(struct chip *c, const struct pto_tensor *t, uint32_t ndims,
		 const uint32_t *indices, uint32_t elem_bytes, uint64_t value);
void cluster_allocate(struct chip *c, int32_t count, struct pto_tensor *cid);

extern const struct PTO2RuntimeOps chip_orch_ops;

#endif /* SIMPLER_CHIP_SUBMIT_H */
