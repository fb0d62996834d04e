// SPDX-License-Identifier: MIT
/* Submission of tasks (chip-runtime §7.8, §8.3, §10.1). */
#include <stdio.h>
#include <string.h>

#include "base/run_code.h"
#include "chip/sched.h"
#include "chip/submit.h"

#define MAX_PIPES	(1 << 20)	/* of one run */
#define MAX_DEPS	(1u << 20)	/* explicit ones of one task: sixteen windows of 65536 */

/* ---- checks: everything that can be refused is refused before anything changes ---- */

static bool check_counts(struct chip *c, const struct pto_core_args *args)
{
	if (__builtin_expect(!args->error && c->rt.scope_depth &&
			     args->tensor_count <= PTO_TASK_TENSORS &&
			     args->scalar_count <= PTO_TASK_SCALARS &&
			     (!args->dep_count || (args->deps && args->dep_count <= MAX_DEPS)), 1))
		return true;
	if (args->error)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "%s", args->error);
	else if (!c->rt.scope_depth)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "submit outside any scope");
	else if (args->tensor_count > PTO_TASK_TENSORS)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "%u tensor arguments, max %d",
			       args->tensor_count, PTO_TASK_TENSORS);
	else if (args->scalar_count > PTO_TASK_SCALARS)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "%u scalar arguments, max %d",
			       args->scalar_count, PTO_TASK_SCALARS);
	else if (args->dep_count && !args->deps)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "%u explicit dependences at a null pointer",
			       args->dep_count);
	else
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "%u explicit dependences, max %u",
			       args->dep_count, MAX_DEPS);
	return false;
}

static bool check_create(struct chip *c, uint32_t i, const struct pto_create_info *ci)
{
	if (!ci || ci->ndims > PTO_MAX_DIMS || !chip_dtype_bytes(ci->dtype))
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "argument %u: new tensor with %u dimensions of element type %u", i,
			       ci ? ci->ndims : 0, ci ? ci->dtype : 0);
	return !chip_is_fatal(c);
}

static bool check_tensor(struct chip *c, uint32_t i, uint8_t tag, const struct pto_tensor *t)
{
	uint8_t kind = tag < PTO_ARG_CLUSTER ? PTO_KIND_TENSOR :
		       tag == PTO_ARG_CLUSTER ? PTO_KIND_CLUSTER : PTO_KIND_PIPE;

	if (__builtin_expect(t && t->kind == kind && t->addr && t->ndims <= PTO_MAX_DIMS &&
			     t->dtype < PTO_DTYPE_COUNT, 1))
		return true;
	if (!t)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "argument %u is a null tensor", i);
	else if (t->kind != kind)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "argument %u: a tensor of kind %u where kind %u is needed (0 data, 1 cluster, 2 pipe)",
			       i, t->kind, kind);
	else if (kind == PTO_KIND_TENSOR &&
		 (t->ndims > PTO_MAX_DIMS || !chip_dtype_bytes(t->dtype)))
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "argument %u: tensor with %u dimensions of element type %u", i,
			       t->ndims, t->dtype);
	else if (kind == PTO_KIND_TENSOR && !t->addr && t->extent_elem &&
		 tag != PTO_ARG_OUTPUT_LAZY)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "argument %u is read but has no buffer: nothing wrote it yet", i);
	return !chip_is_fatal(c);
}

/* What one pass over the arguments tells the later steps. */
struct summary {
	uint32_t seen;			/* bit per enum pto_arg_tag */
	uint32_t pipes;
	uint64_t heap;			/* bytes of the buffers that the task itself creates */
};

static uint64_t aligned_output(uint64_t at)
{
	return (at + CHIP_OUTPUT_ALIGN - 1) & ~(uint64_t)(CHIP_OUTPUT_ALIGN - 1);
}

/* Lazily allocated outputs count once settle_lazy() has dealt with those that live elsewhere. */
static bool add_output(struct chip *c, struct summary *sum, uint32_t i, uint64_t bytes)
{
	uint64_t total = aligned_output(sum->heap);

	if (bytes > UINT64_MAX / 4 || __builtin_add_overflow(total, bytes, &sum->heap)) {
		chip_fail_orch(c, SIMPLER_RUN_HEAP_RING_DEADLOCK, "argument %u: its size overflows", i);
		return false;
	}
	return true;
}

static bool check_args(struct chip *c, const struct pto_core_args *args, struct summary *sum)
{
	*sum = (struct summary){ 0 };
	if (!check_counts(c, args))
		return false;
	for (uint32_t i = 0; i < args->tensor_count; i++) {
		uint8_t tag = args->tags[i];

		if (tag > PTO_ARG_PIPE_OUT) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
				       "argument %u has the unknown kind %u", i, tag);
			return false;
		}
		sum->seen |= 1u << tag;
		if (tag != PTO_ARG_OUTPUT) {
			if (!check_tensor(c, i, tag, args->refs[i].tensor))
				return false;
			sum->pipes += tag >= PTO_ARG_PIPE_IN;
		} else if (!check_create(c, i, args->refs[i].create) ||
			   !add_output(c, sum, i, create_info_bytes(args->refs[i].create))) {
			return false;
		}
	}
	return true;
}

static void list_kernels(const struct chip *c, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < c->callable->kernel_count && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%d", i ? ", " : "",
					 c->callable->kernels[i].func_id);
}

static const struct chip_kernel *find_kernel(struct chip *c, int32_t id)
{
	const struct chip_kernel *k = chip_callable_kernel(c->callable, id);
	char known[256];

	if (!k) {
		list_kernels(c, known, sizeof(known));
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "func_id %d is not defined; this callable has: %s",
			       id, known[0] ? known : "no kernels");
	}
	return k;
}

struct kernels {
	const struct chip_kernel *of[CHIP_SLOTS];
	uint8_t mask;
	uint8_t count;
	uint8_t shape;
	bool may_block;
};

static bool resolve_kernels(struct chip *c, const struct pto_mixed_kernels *mk, struct kernels *k)
{
	int32_t ids[CHIP_SLOTS] = { mk->aic, mk->aiv0, mk->aiv1 };

	if (ids[CHIP_AIC] == PTO_NO_KERNEL && ids[CHIP_AIV0] == PTO_NO_KERNEL) {
		ids[CHIP_AIV0] = ids[CHIP_AIV1];
		ids[CHIP_AIV1] = PTO_NO_KERNEL;
	}
	for (int slot = 0; slot < CHIP_SLOTS; slot++) {
		if (ids[slot] == PTO_NO_KERNEL)
			continue;
		k->of[slot] = find_kernel(c, ids[slot]);
		if (!k->of[slot])
			return false;
		k->mask |= (uint8_t)(1u << slot);
		k->count++;
		k->may_block |= k->of[slot]->may_block;
	}
	if (!k->mask)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "a task without a kernel; use rt_submit_dummy_task for pure dependences");
	k->shape = k->count > 1 ? CHIP_SHAPE_MIX :
		   k->mask == 1u << CHIP_AIC ? CHIP_SHAPE_AIC : CHIP_SHAPE_AIV;
	return k->mask != 0;
}

static bool check_blocks(struct chip *c, const struct pto_core_args *args, uint8_t shape)
{
	int32_t limit = (int32_t)c->config.clusters * (shape == CHIP_SHAPE_AIV ? 2 : 1);

	if (args->block_num == 1)
		return true;
	if (args->block_num < 1)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "block_num %d is below 1", args->block_num);
	else if (args->block_num > INT32_MAX / (int32_t)CHIP_SLOTS)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "block_num %d is too large", args->block_num);
	else if ((args->flags & PTO_ARGS_SYNC_START) && args->block_num > 1 &&
		 args->block_num > limit)
		chip_fail_orch(c, SIMPLER_RUN_REQUIRE_SYNC_START_INVALID,
			       "require_sync_start block_num=%d > limit=%d (deadlock guaranteed)",
			       args->block_num, limit);
	return !chip_is_fatal(c);
}

static bool has_predicate(const struct pto_core_args *args)
{
	const struct pto_predicate *p = args->predicate;

	return p && p->op != PTO_PRED_NONE && p->tensor && p->tensor->addr;
}

static bool check_predicate(struct chip *c, const struct pto_core_args *args)
{
	const struct pto_predicate *p = args->predicate;

	if (!p || !has_predicate(args))
		return true;
	if (p->op > PTO_PRED_LE || p->ndims > PTO_MAX_DIMS || p->ndims > p->tensor->ndims ||
	    !chip_dtype_bytes(p->tensor->dtype)) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "predicate with operation %u on %u indices of a %u-dimensional tensor",
			       p->op, p->ndims, p->tensor->ndims);
		return false;
	}
	for (uint32_t d = 0; d < p->ndims; d++)
		if (p->indices[d] >= p->tensor->shapes[d]) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
				       "predicate index %u of dimension %u is outside its extent %u",
				       p->indices[d], d, p->tensor->shapes[d]);
			return false;
		}
	return true;
}

/* ---- record ---- */

/* A lazily allocated output lives with the task when its home is the current scope, else at home. */
static bool settle_lazy(struct chip *c, const struct pto_core_args *args)
{
	for (uint32_t i = 0; i < args->tensor_count; i++) {
		struct pto_tensor *t = args->refs[i].tensor;

		if (args->tags[i] != PTO_ARG_OUTPUT_LAZY || t->addr || !t->size)
			continue;
		if (t->home_depth == c->rt.scope_depth && t->home_scope == c->rt.scope_serial)
			continue;
		if (!tensor_materialize(c, t))
			return false;
	}
	return true;
}

/* The same tensor may be named twice; it gets one buffer. */
static uint64_t lazy_bytes(const struct pto_tensor *t)
{
	return t->addr ? 0 : t->size;
}

static bool measure_lazy(struct chip *c, const struct pto_core_args *args, struct summary *sum)
{
	if (!settle_lazy(c, args))
		return false;
	for (uint32_t i = 0; i < args->tensor_count; i++)
		if (args->tags[i] == PTO_ARG_OUTPUT_LAZY && lazy_bytes(args->refs[i].tensor) &&
		    !add_output(c, sum, i, lazy_bytes(args->refs[i].tensor)))
			return false;
	return true;
}

/* Created outputs come first in the block, as check_args() counted them, then lazy ones. */
static void copy_with_outputs(struct chip_task *t, const struct pto_core_args *args, uint64_t block)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < args->tensor_count; i++) {
		if (args->tags[i] != PTO_ARG_OUTPUT)
			continue;
		at = aligned_output(at);
		tensor_from_create(&t->tensors[i], args->refs[i].create, block + at, t->base.id);
		at += t->tensors[i].size;
	}
	for (uint32_t i = 0; i < args->tensor_count; i++) {
		struct pto_tensor *user = args->refs[i].tensor;

		if (args->tags[i] == PTO_ARG_OUTPUT)
			continue;
		if (args->tags[i] == PTO_ARG_OUTPUT_LAZY && lazy_bytes(user)) {
			at = aligned_output(at);
			user->addr = block + at;
			user->owner_task_id = t->base.id;
			at += user->size;
		}
		t->tensors[i] = *user;
	}
}

static void copy_tensors(struct chip_task *t, const struct pto_core_args *args)
{
	for (uint32_t i = 0; i < args->tensor_count; i++)
		t->tensors[i] = *args->refs[i].tensor;
}

/* What the kernels of the task may not write, for checked mode. */
static void mark_inputs(struct chip_task *t, const struct pto_core_args *args)
{
	for (uint32_t i = 0; i < args->tensor_count; i++)
		t->tensors[i].read_only = args->tags[i] == PTO_ARG_INPUT;
}

static void copy_predicate(struct chip_task *t, const struct pto_core_args *args)
{
	struct pto_tensor *operand = (struct pto_tensor *)(t->predicate + 1);

	*operand = *args->predicate->tensor;
	*t->predicate = *args->predicate;
	t->predicate->tensor = operand;
	t->flags |= CHIP_TASK_PREDICATE;
}

static struct chip_task *build(struct chip *c, const struct pto_core_args *args,
			       struct summary *sum)
{
	bool predicated = args->predicate && has_predicate(args);
	struct record_shape shape = {
		.tensors = args->tensor_count,
		.entries = args->tensor_count + predicated,
		.retained = args->tensor_count + args->dep_count + predicated,
		.scalars = args->scalar_count,
		.pipes = sum->pipes,
		.predicate = predicated,
	};
	struct chip_task *t;
	uint64_t block;

	if (args->flags & PTO_ARGS_ORDERED)
		shape.order = args->tensor_count + args->scalar_count;
	if (sum->seen & 1u << PTO_ARG_OUTPUT_LAZY && !measure_lazy(c, args, sum))
		return NULL;
	t = task_create(c, scope_current(c), &shape, sum->heap, &block);
	if (!t)
		return NULL;
	if (sum->seen & (1u << PTO_ARG_OUTPUT | 1u << PTO_ARG_OUTPUT_LAZY))
		copy_with_outputs(t, args, block);
	else
		copy_tensors(t, args);
	if (__builtin_expect(c->config.checked, 0))
		mark_inputs(t, args);
	for (uint32_t i = 0; i < args->scalar_count; i++)
		t->scalars[i] = args->scalars[i];
	if (shape.order) {
		memcpy(t->order, args->order, shape.order);
		t->flags |= CHIP_TASK_ORDERED;
	}
	t->timing_slot = args->timing_slot;
	if (c->manual_depth)
		t->flags |= CHIP_TASK_MANUAL;
	if (shape.predicate)
		copy_predicate(t, args);
	return t;
}

static void return_outputs(const struct chip_task *t, const struct pto_core_args *args,
			   bool outputs, struct pto_task_outputs *out)
{
	out->task_id = t->base.id;
	out->tensors = t->tensors;
	if (!outputs)
		return;
	for (uint32_t i = 0; i < args->tensor_count; i++)
		if (args->tags[i] == PTO_ARG_OUTPUT)
			out->index[out->count++] = (uint8_t)i;
}

/* ---- submit ---- */

static bool may_run_inline(struct chip *c, const struct chip_task *t, const struct kernels *k)
{
	return k->mask && !k->may_block && c->config.inline_tasks &&
	       !(t->flags & (CHIP_TASK_PINNED | CHIP_TASK_PIPED | CHIP_TASK_PREDICATE)) &&
	       !c->config.ops->prefer_queue(c, t);
}

/*
 * Blocks that were left to the queue, and completion conditions, make a task
 * outlive its submit: then later tasks have to find its accesses.  It is held
 * until they can.
 */
static void run_now(struct chip *c, struct chip_task *t, const struct pto_core_args *args)
{
	t->subtasks_left++;
	sched_run_inline(c, t);
	if (chip_is_fatal(c) || (t->subtasks_left > 1 && !deps_publish(c, t, args)))
		return;
	if (--t->subtasks_left == 0)
		sched_complete(c, t);
}

static void dispatch(struct chip *c, struct chip_task *t, const struct pto_core_args *args,
		     const struct kernels *k)
{
	/* the hold taken while wiring is dropped last: completions during a wait must not start it */
	if (t->waits == 1 && may_run_inline(c, t, k)) {
		t->waits = 0;
		run_now(c, t, args);
		return;
	}
	if (!deps_publish(c, t, args))
		return;
	if (t->flags & CHIP_TASK_PIPED && cluster_wire_pipes(c, t))
		return;
	if (--t->waits == 0)
		sched_data_ready(c, t);
}

static bool pin_to_group(struct chip *c, struct chip_task *t, const struct pto_core_args *args,
			 uint32_t pipes)
{
	for (uint32_t i = 0; i < args->tensor_count; i++) {
		struct chip_group *g = c->groups;
		const struct pto_tensor *cid = &t->tensors[i];

		if (args->tags[i] != PTO_ARG_CLUSTER)
			continue;
		while (g && g->id != cid->start_offset)
			g = g->next;
		if (!g) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
				       "argument %u: its clusters were released when their scope ended", i);
			return false;
		}
		if (t->group && t->group != g) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "a task with two different cluster ids");
			return false;
		}
		if (g->count > 1 && t->block_num != (int32_t)g->count) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
				       "%u allocated clusters, but a task of %d blocks; they must be equal",
				       g->count, t->block_num);
			return false;
		}
		if (g->count == 1 && t->flags & CHIP_TASK_SYNC_START &&
		    t->block_num > (t->shape == CHIP_SHAPE_AIV ? 2 : 1)) {
			chip_fail_orch(c, SIMPLER_RUN_REQUIRE_SYNC_START_INVALID,
				       "require_sync_start block_num=%d on one allocated cluster (deadlock guaranteed)",
				       t->block_num);
			return false;
		}
		t->group = g;
		t->flags |= CHIP_TASK_PINNED;
	}
	if (pipes) {
		if (!t->group) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
				       "pipe arguments without a cluster argument");
			return false;
		}
		t->flags |= CHIP_TASK_PIPED;
	}
	return true;
}

/* Pipes are told apart by their version, which the headers number from 1 in every run. */
static bool note_pipes(struct chip *c, struct chip_task *t, const struct pto_core_args *args)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < args->tensor_count; i++) {
		bool out = args->tags[i] == PTO_ARG_PIPE_OUT;
		int32_t id = t->tensors[i].version;

		if (!out && args->tags[i] != PTO_ARG_PIPE_IN)
			continue;
		if (id < 1 || id > MAX_PIPES) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
				       "argument %u: pipe number %d is outside 1 to %d", i, id, MAX_PIPES);
			return false;
		}
		t->pipe_ids[++n] = (uint64_t)id << 1 | out;
	}
	t->pipe_ids[0] = n;
	return true;
}

/* Its kernel has run and left completion conditions: the task gets the record it did without. */
static void submit_deferred(struct chip *c, const struct pto_core_args *args,
			    const struct light *l, struct pto_task_outputs *out)
{
	struct summary sum = { 0 };	/* it creates nothing */
	struct chip_task *t = build(c, args, &sum);

	l->core->light = NULL;
	/* its producers are done, but their buffers have to stay */
	if (!t || !deps_wire(c, t, args, c->manual_depth != 0))
		return;
	t->shape = l->shape;
	t->kernel_mask = 1u << (l->shape == CHIP_SHAPE_AIC ? CHIP_AIC : CHIP_AIV0);
	t->subtasks_left = 1;
	t->waits = 0;
	t->next_block = 1;
	t->state = CHIP_READY;
	l->core->task = t;
	l->core->light_bound = false;
	if (deps_publish(c, t, args))
		chip_block_done(c, l->core);
	out->task_id = t->base.id;
	out->tensors = t->tensors;
}

/* Runs the task without a record if it can; true: the submit is over. */
static bool submit_light(struct chip *c, const struct pto_mixed_kernels *mk,
			 const struct pto_core_args *args, struct pto_task_outputs *out)
{
	struct light l;

	switch (light_submit(c, mk, args, &l)) {
	case LIGHT_DONE:
		out->task_id = l.id;
		return true;
	case LIGHT_DEFERRED:
		submit_deferred(c, args, &l, out);
		return true;
	case LIGHT_NOT:
		break;
	}
	return false;
}

#define GROUP_TAGS (1u << PTO_ARG_CLUSTER | 1u << PTO_ARG_PIPE_IN | 1u << PTO_ARG_PIPE_OUT)

static void submit_recorded(struct chip *c, const struct pto_mixed_kernels *mk,
			    const struct pto_core_args *args, struct pto_task_outputs *out)
{
	struct kernels k = { .shape = CHIP_SHAPE_DUMMY };
	struct summary sum;
	struct chip_task *t;

	if (!check_args(c, args, &sum) || (mk && !resolve_kernels(c, mk, &k)) ||
	    (mk && !check_blocks(c, args, k.shape)) || !check_predicate(c, args))
		return;
	t = build(c, args, &sum);
	if (!t)
		return;
	t->shape = k.shape;
	t->kernel_mask = k.mask;
	for (int slot = 0; slot < CHIP_SLOTS; slot++)
		t->kernels[slot] = k.of[slot];
	if (mk) {
		t->block_num = args->block_num;
		t->subtasks_left = args->block_num * k.count;
		if (args->flags & PTO_ARGS_SYNC_START && args->block_num > 1)
			t->flags |= CHIP_TASK_SYNC_START;
	}
	if (sum.seen & GROUP_TAGS) {
		if (!pin_to_group(c, t, args, sum.pipes) ||
		    (sum.pipes && !note_pipes(c, t, args)))
			return;
	}
	if (!deps_wire(c, t, args, c->manual_depth != 0))
		return;
	dispatch(c, t, args, &k);
	if (!chip_is_fatal(c))
		return_outputs(t, args, sum.seen & 1u << PTO_ARG_OUTPUT, out);
}

/* @mk NULL: a dummy task. */
void submit_task(struct chip *c, const struct pto_mixed_kernels *mk,
		 const struct pto_core_args *args, struct pto_task_outputs *out)
{
	if (!mk || !submit_light(c, mk, args, out))
		submit_recorded(c, mk, args, out);
}

void submit_alloc(struct chip *c, const struct pto_core_args *args, struct pto_task_outputs *out)
{
	struct summary sum;
	struct chip_task *t;

	if (!check_args(c, args, &sum))
		return;
	if (!args->tensor_count || args->scalar_count) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "alloc_tensors takes at least one output and no scalars, got %u and %u",
			       args->tensor_count, args->scalar_count);
		return;
	}
	if (sum.seen != 1u << PTO_ARG_OUTPUT) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "alloc_tensors takes new outputs only (TensorCreateInfo)");
		return;
	}
	t = build(c, args, &sum);
	if (!t)
		return;
	t->waits = 0;
	sched_complete(c, t);
	return_outputs(t, args, true, out);
}
