// SPDX-License-Identifier: MIT
/* Submission of tasks (chip-runtime §7.8, §8.3, §10.1). */
#include <stdio.h>
#include <string.h>

#include "base/run_code.h"
#include "chip/sched.h"
#include "chip/submit.h"

/* ---- checks: everything that can be refused is refused before anything changes ---- */

static bool check_counts(struct chip *c, const struct pto_core_args *args)
{
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
	return !chip_is_fatal(c);
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
	uint8_t kind = tag == PTO_ARG_CLUSTER ? PTO_KIND_CLUSTER :
		       tag == PTO_ARG_PIPE_IN || tag == PTO_ARG_PIPE_OUT ? PTO_KIND_PIPE :
		       PTO_KIND_TENSOR;

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

static bool check_args(struct chip *c, const struct pto_core_args *args)
{
	if (!check_counts(c, args))
		return false;
	for (uint32_t i = 0; i < args->tensor_count; i++) {
		uint8_t tag = args->tags[i];

		if (tag > PTO_ARG_PIPE_OUT) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "argument %u has the unknown kind %u",
				       i, tag);
			return false;
		}
		if (tag == PTO_ARG_OUTPUT ? !check_create(c, i, args->refs[i].create) :
					    !check_tensor(c, i, tag, args->refs[i].tensor))
			return false;
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
	uint8_t shape;
};

static bool resolve_kernels(struct chip *c, const struct pto_mixed_kernels *mk, struct kernels *k)
{
	int32_t ids[CHIP_SLOTS] = { mk->aic, mk->aiv0, mk->aiv1 };

	if (ids[CHIP_AIC] == PTO_NO_KERNEL && ids[CHIP_AIV0] == PTO_NO_KERNEL) {
		ids[CHIP_AIV0] = ids[CHIP_AIV1];
		ids[CHIP_AIV1] = PTO_NO_KERNEL;
	}
	k->mask = 0;
	for (int slot = 0; slot < CHIP_SLOTS; slot++) {
		k->of[slot] = NULL;
		if (ids[slot] == PTO_NO_KERNEL)
			continue;
		k->of[slot] = find_kernel(c, ids[slot]);
		if (!k->of[slot])
			return false;
		k->mask |= (uint8_t)(1u << slot);
	}
	if (!k->mask)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "a task without a kernel; use rt_submit_dummy_task for pure dependences");
	k->shape = k->mask & (k->mask - 1) ? CHIP_SHAPE_MIX :
		   k->mask == 1u << CHIP_AIC ? CHIP_SHAPE_AIC : CHIP_SHAPE_AIV;
	return k->mask != 0;
}

static bool check_blocks(struct chip *c, const struct pto_core_args *args, uint8_t shape)
{
	int32_t limit = (int32_t)c->config.clusters * (shape == CHIP_SHAPE_AIV ? 2 : 1);

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

	if (!has_predicate(args))
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

static uint64_t own_output_bytes(const struct pto_core_args *args, uint32_t i)
{
	if (args->tags[i] == PTO_ARG_OUTPUT)
		return create_info_bytes(args->refs[i].create);
	if (args->tags[i] == PTO_ARG_OUTPUT_LAZY && !args->refs[i].tensor->addr)
		return args->refs[i].tensor->size;
	return 0;
}

/* The same tensor may be named twice; it gets one buffer. */
static bool measure_outputs(struct chip *c, const struct pto_core_args *args, uint64_t *bytes)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < args->tensor_count; i++) {
		uint64_t n = own_output_bytes(args, i);

		if (!n)
			continue;
		total = (total + CHIP_OUTPUT_ALIGN - 1) & ~(uint64_t)(CHIP_OUTPUT_ALIGN - 1);
		if (n > UINT64_MAX / 4 || __builtin_add_overflow(total, n, &total)) {
			chip_fail_orch(c, SIMPLER_RUN_HEAP_RING_DEADLOCK, "argument %u: its size overflows", i);
			return false;
		}
	}
	*bytes = total;
	return true;
}

static void copy_tensors(struct chip_task *t, const struct pto_core_args *args, uint64_t block)
{
	uint64_t at = block;

	for (uint32_t i = 0; i < args->tensor_count; i++) {
		uint64_t n = own_output_bytes(args, i);

		if (args->tags[i] != PTO_ARG_OUTPUT) {
			struct pto_tensor *user = args->refs[i].tensor;

			if (n) {
				at = (at - block + CHIP_OUTPUT_ALIGN - 1) / CHIP_OUTPUT_ALIGN *
				     CHIP_OUTPUT_ALIGN + block;
				user->addr = at;
				user->owner_task_id = t->base.id;
				at += n;
			}
			t->tensors[i] = *user;
			continue;
		}
		at = (at - block + CHIP_OUTPUT_ALIGN - 1) / CHIP_OUTPUT_ALIGN * CHIP_OUTPUT_ALIGN +
		     block;
		tensor_from_create(&t->tensors[i], args->refs[i].create, at, t->base.id);
		at += n;
	}
}

static void copy_predicate(struct chip_task *t, const struct pto_core_args *args)
{
	struct pto_tensor *operand;

	if (!has_predicate(args))
		return;
	operand = (struct pto_tensor *)(t->predicate + 1);
	*operand = *args->predicate->tensor;
	*t->predicate = *args->predicate;
	t->predicate->tensor = operand;
	t->flags |= CHIP_TASK_PREDICATE;
}

static uint32_t count_pipes(const struct pto_core_args *args)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < args->tensor_count; i++)
		n += args->tags[i] == PTO_ARG_PIPE_IN || args->tags[i] == PTO_ARG_PIPE_OUT;
	return n;
}

static struct chip_task *build(struct chip *c, const struct pto_core_args *args)
{
	struct record_shape shape = {
		.tensors = args->tensor_count,
		.entries = args->tensor_count,
		.retained = args->tensor_count + args->dep_count,
		.scalars = args->scalar_count,
		.order = args->flags & PTO_ARGS_ORDERED ? args->tensor_count + args->scalar_count : 0,
		.predicate = has_predicate(args),
	};
	struct chip_task *t;
	uint64_t bytes, block;

	if (!settle_lazy(c, args) || !measure_outputs(c, args, &bytes))
		return NULL;
	shape.pipes = count_pipes(args);
	t = task_create(c, scope_current(c), &shape, bytes, &block);
	if (!t)
		return NULL;
	copy_tensors(t, args, block);
	for (uint32_t i = 0; i < args->scalar_count; i++)
		t->scalars[i] = args->scalars[i];
	if (shape.order) {
		memcpy(t->order, args->order, shape.order);
		t->flags |= CHIP_TASK_ORDERED;
	}
	t->timing_slot = args->timing_slot;
	if (c->manual_depth)
		t->flags |= CHIP_TASK_MANUAL;
	copy_predicate(t, args);
	return t;
}

static void return_outputs(const struct chip_task *t, const struct pto_core_args *args,
			   struct pto_task_outputs *out)
{
	out->task_id = t->base.id;
	out->tensors = t->tensors;
	for (uint32_t i = 0; i < args->tensor_count; i++)
		if (args->tags[i] == PTO_ARG_OUTPUT)
			out->index[out->count++] = (uint8_t)i;
}

/* ---- submit ---- */

static bool may_run_inline(const struct chip *c, const struct chip_task *t)
{
	if (!c->config.inline_tasks || t->shape == CHIP_SHAPE_DUMMY ||
	    (t->flags & (CHIP_TASK_PINNED | CHIP_TASK_PIPED | CHIP_TASK_PREDICATE)))
		return false;
	for (int slot = 0; slot < CHIP_SLOTS; slot++)
		if (t->kernels[slot] && t->kernels[slot]->may_block)
			return false;
	return !c->config.ops->prefer_queue((struct chip *)c, t);
}

static void dispatch(struct chip *c, struct chip_task *t, const struct pto_core_args *args)
{
	/* the hold taken while wiring is dropped last: completions during a wait must not start it */
	if (t->waits == 1 && may_run_inline(c, t)) {
		t->waits = 0;
		sched_run_inline(c, t);
		return;
	}
	if (!deps_publish(c, t, args))
		return;
	if (t->flags & CHIP_TASK_PIPED && cluster_wire_pipes(c, t))
		return;
	if (--t->waits == 0)
		sched_data_ready(c, t);
}

static bool pin_to_group(struct chip *c, struct chip_task *t, const struct pto_core_args *args)
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
		t->group = g;
		t->flags |= CHIP_TASK_PINNED;
	}
	if (count_pipes(args)) {
		if (!t->group) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
				       "pipe arguments without a cluster argument");
			return false;
		}
		t->flags |= CHIP_TASK_PIPED;
	}
	return true;
}

static void note_pipes(struct chip *c, struct chip_task *t, const struct pto_core_args *args)
{
	uint32_t n = 0;

	if (!(t->flags & CHIP_TASK_PIPED))
		return;
	for (uint32_t i = 0; i < args->tensor_count; i++) {
		bool out = args->tags[i] == PTO_ARG_PIPE_OUT;

		if (!out && args->tags[i] != PTO_ARG_PIPE_IN)
			continue;
		if (!args->refs[i].tensor->start_offset)
			args->refs[i].tensor->start_offset = ++c->pipe_serial;
		t->tensors[i].start_offset = args->refs[i].tensor->start_offset;
		t->pipe_ids[++n] = t->tensors[i].start_offset << 1 | out;
	}
	t->pipe_ids[0] = n;
}

static bool needs_pinning(const struct pto_core_args *args)
{
	for (uint32_t i = 0; i < args->tensor_count; i++)
		if (args->tags[i] >= PTO_ARG_CLUSTER)
			return true;
	return false;
}

void submit_task(struct chip *c, const struct pto_mixed_kernels *mk,
		 const struct pto_core_args *args, struct pto_task_outputs *out)
{
	struct kernels k = { .shape = CHIP_SHAPE_DUMMY };
	struct chip_task *t;

	if (!check_args(c, args) || (mk && !resolve_kernels(c, mk, &k)) ||
	    (mk && !check_blocks(c, args, k.shape)) || !check_predicate(c, args))
		return;
	t = build(c, args);
	if (!t)
		return;
	t->shape = k.shape;
	t->kernel_mask = k.mask;
	for (int slot = 0; slot < CHIP_SLOTS; slot++)
		t->kernels[slot] = k.of[slot];
	if (mk) {
		t->block_num = args->block_num;
		t->subtasks_left = args->block_num * __builtin_popcount(k.mask);
		if ((args->flags & PTO_ARGS_SYNC_START) && args->block_num > 1)
			t->flags |= CHIP_TASK_SYNC_START;
		if (needs_pinning(args)) {
			if (!pin_to_group(c, t, args))
				return;
			note_pipes(c, t, args);
		}
	}
	if (!deps_wire(c, t, args, c->manual_depth != 0))
		return;
	dispatch(c, t, args);
	if (!chip_is_fatal(c))
		return_outputs(t, args, out);
}

void submit_alloc(struct chip *c, const struct pto_core_args *args, struct pto_task_outputs *out)
{
	struct chip_task *t;

	if (!check_args(c, args))
		return;
	if (!args->tensor_count || args->scalar_count) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "alloc_tensors takes at least one output and no scalars, got %u and %u",
			       args->tensor_count, args->scalar_count);
		return;
	}
	for (uint32_t i = 0; i < args->tensor_count; i++)
		if (args->tags[i] != PTO_ARG_OUTPUT) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
				       "alloc_tensors: argument %u is not a new output", i);
			return;
		}
	t = build(c, args);
	if (!t)
		return;
	t->waits = 0;
	sched_complete(c, t);
	return_outputs(t, args, out);
}
