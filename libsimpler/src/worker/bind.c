/* SPDX-License-Identifier: MIT */
/*
 * From a request to commands (worker-api §9.2, §9.5, §11.1; chip-runtime §3.2).
 *
 * HOST tensors get a span each in the slot's staging buffer.  All of them are
 * copied in, outputs too, so that bytes which no kernel writes keep the caller's
 * content (decisions D21); those that the signature does not declare IN are
 * copied back by commands of the launch's batch, which the chip skips when the
 * launch failed.  DEVICE tensors are passed through.
 */
#include <string.h>

#include "base/log.h"
#include "rts/error.h"
#include "worker/worker.h"

static const struct simpler_task_args no_args;

static const struct simpler_task_args *request_args(const struct bind_request *rq)
{
	return rq->args ? rq->args : &no_args;
}

static bool is_host(const struct simpler_tensor *t)
{
	return t->buffer.address_space == SIMPLER_SPACE_HOST;
}

/* Direction of operand @i; without a signature everything may be written. */
static int direction(const struct callable_entry *entry, size_t i)
{
	return i < entry->tensor_count ? chip_header(entry->callable)->signature[i]
				       : SIMPLER_DIR_INOUT;
}

static uint64_t host_bytes(const struct simpler_tensor *t)
{
	return simpler_tensor_extent(t) * simpler_dtype_size(t->dtype);
}

static uint64_t staging_span(const struct simpler_tensor *t)
{
	return (host_bytes(t) + WORKER_STAGING_ALIGN - 1) & ~(uint64_t)(WORKER_STAGING_ALIGN - 1);
}

/* ---- checks ---- */

static int check_counts(const struct callable_entry *entry, const struct simpler_task_args *a,
			struct simpler_error *e)
{
	if (a->tensor_count > SIMPLER_HW_MAX_TENSORS)
		return err_set(e, SIMPLER_ERR_ARG_LIMIT, "%zu tensors, a run can take %u",
			       a->tensor_count, SIMPLER_HW_MAX_TENSORS);
	if (a->scalar_count > SIMPLER_HW_MAX_SCALARS)
		return err_set(e, SIMPLER_ERR_ARG_LIMIT, "%zu scalars, a run can take %u",
			       a->scalar_count, SIMPLER_HW_MAX_SCALARS);
	if (!entry->sig_count)
		return 0;
	if (a->tensor_count != entry->tensor_count)
		return err_set(e, SIMPLER_ERR_ARG_COUNT,
			       "%zu tensors were passed, the signature of '%s' has %u",
			       a->tensor_count, simpler_chip_callable_func_name(entry->callable),
			       entry->tensor_count);
	/* signatures that list tensors only are common; they leave scalars open */
	if (entry->scalar_count && a->scalar_count != entry->scalar_count)
		return err_set(e, SIMPLER_ERR_ARG_COUNT,
			       "%zu scalars were passed, the signature of '%s' has %u",
			       a->scalar_count, simpler_chip_callable_func_name(entry->callable),
			       entry->scalar_count);
	return 0;
}

/* Before anything else is looked at: this runtime has no host side that could read the tensor. */
static int check_host_controls(const struct simpler_task_args *a, struct simpler_error *e)
{
	size_t i;

	for (i = 0; i < a->tensor_count; i++)
		if (is_host(&a->tensors[i]) && a->tensors[i].transfer == SIMPLER_TRANSFER_NONE)
			return err_set(e, SIMPLER_ERR_ARG_TRANSFER,
				       "argument %zu: a HOST tensor with transfer NONE needs the "
				       "host_build_graph runtime", i);
	return 0;
}

static int check_host_tensor(struct bind_request *rq, size_t i, const struct simpler_tensor *t,
			     struct simpler_error *e)
{
	bool back = direction(rq->entry, i) != SIMPLER_DIR_IN;

	if (!simpler_tensor_contiguous(t))
		return err_set(e, SIMPLER_ERR_TENSOR,
			       "argument %zu: a HOST tensor must be contiguous", i);
	if (back && rq->entry->sig_count && t->buffer.access == SIMPLER_ACCESS_READ)
		return err_set(e, SIMPLER_ERR_BUFFER_GRANT,
			       "argument %zu: the callable writes it, its buffer grants READ only",
			       i);
	rq->staging += staging_span(t);
	rq->copies += back ? 2 : 1;
	return 0;
}

static int check_tensor(struct simpler_worker *w, struct bind_request *rq, size_t i,
			struct simpler_error *e)
{
	const struct simpler_tensor *t = &request_args(rq)->tensors[i];
	struct simpler_buffer *b = buffers_find(w, &t->buffer, e);

	if (!b)
		return e->code;
	if (is_host(t))
		return check_host_tensor(rq, i, t, e);
	return b->kind == BUFFER_WRAP ? buffers_check_wrap(w, b, e) : 0;
}

/* Two copies on the chip cannot keep an alias of one host range. */
static int check_host_alias(const struct bind_request *rq, struct simpler_error *e)
{
	const struct simpler_task_args *a = request_args(rq);
	size_t i, j;

	for (i = 0; i < a->tensor_count; i++) {
		if (!is_host(&a->tensors[i]))
			continue;
		for (j = i + 1; j < a->tensor_count; j++)
			if (is_host(&a->tensors[j]) &&
			    (direction(rq->entry, i) != SIMPLER_DIR_IN ||
			     direction(rq->entry, j) != SIMPLER_DIR_IN) &&
			    simpler_tensor_overlap(&a->tensors[i], &a->tensors[j]))
				return err_set(e, SIMPLER_ERR_ARG_OVERLAP,
					       "arguments %zu and %zu have overlapping bytes of "
					       "one host buffer and one of them is written", i, j);
	}
	return 0;
}

static int check_tensors(struct simpler_worker *w, struct bind_request *rq, struct simpler_error *e)
{
	const struct simpler_task_args *a = request_args(rq);
	size_t i;
	int rc = check_host_controls(a, e);

	rq->staging = 0;
	rq->copies = 0;
	if (!rc)
		rc = task_args_check(a, e);
	for (i = 0; i < a->tensor_count && !rc; i++)
		rc = check_tensor(w, rq, i, e);
	if (!rc && rq->copies > 1)
		rc = check_host_alias(rq, e);
	return rc;
}

struct diagnostic {
	uint32_t bit;
	const char *field;
};

static const struct diagnostic diagnostics[] = {
	{ SIMPLER_HW_DIAG_SWIMLANE, "enable_chip_swimlane" },
	{ SIMPLER_HW_DIAG_DUMP, "enable_dump_args" },
	{ SIMPLER_HW_DIAG_PMU, "enable_pmu" },
	{ SIMPLER_HW_DIAG_DEP_GEN, "enable_dep_gen" },
	{ SIMPLER_HW_DIAG_SCOPE_STATS, "enable_scope_stats" },
};

/* Once per Worker and kind. Locked. */
static void warn_diagnostics(struct simpler_worker *w, uint32_t wanted)
{
	uint32_t fresh = wanted & ~w->diagnostics_warned;
	size_t i;

	if (!fresh)
		return;
	w->diagnostics_warned |= fresh;
	for (i = 0; i < sizeof(diagnostics) / sizeof(diagnostics[0]); i++)
		if (fresh & diagnostics[i].bit)
			log_warn("CallConfig.%s is set, but this build does not record it: no file "
				 "is written", diagnostics[i].field);
}

static int check_config(struct simpler_worker *w, struct bind_request *rq, struct simpler_error *e)
{
	const struct simpler_call_config *c = rq->config;
	int rc;

	rq->diagnostics = 0;
	if (!c)
		return 0;
	rc = simpler_call_config_validate(c, e);
	if (rc)
		return rc;
	if (c->aicpu_thread_num == 1 || c->aicpu_thread_num > w->platform->max_control_threads)
		return err_set(e, SIMPLER_ERR_CONFIG_THREADS,
			       "aicpu_thread_num is %d, must be 0 (auto) or in range [2, %d]",
			       c->aicpu_thread_num, w->platform->max_control_threads);
	rq->diagnostics = config_diagnostics(c);
	warn_diagnostics(w, rq->diagnostics);
	return 0;
}

int bind_check(struct simpler_worker *w, struct bind_request *rq, struct simpler_error *e)
{
	int rc;

	rq->entry = callables_find(w, rq->handle, e);
	if (!rq->entry)
		return e->code;
	rc = check_config(w, rq, e);
	if (!rc)
		rc = check_counts(rq->entry, request_args(rq), e);
	return rc ? rc : check_tensors(w, rq, e);
}

/* ---- commit ---- */

/* The new buffer first: a failure leaves the old one as it is (worker-api §13). */
static int staging_reserve(struct simpler_worker *w, struct lane_slot *slot, uint64_t bytes,
			   struct simpler_error *e)
{
	uint64_t addr;
	int rc;

	if (bytes <= slot->staging_bytes)
		return 0;
	rc = simpler_context_malloc(w->context, bytes, &addr);
	if (rc)
		return err_set(e, rc, "cannot stage %llu bytes of HOST tensors: %s",
			       (unsigned long long)bytes, simpler_error_description(rc));
	if (slot->staging)
		simpler_context_free(w->context, slot->staging);
	slot->staging = addr;
	slot->staging_bytes = bytes;
	return 0;
}

static void fill_tensor(struct simpler_hw_tensor *to, const struct simpler_tensor *t,
			const struct simpler_buffer *b)
{
	*to = (struct simpler_hw_tensor){
		.addr = b->address,
		.bytes = b->desc.nbytes,
		.owner = UINT64_MAX,
		.start_offset = t->byte_offset / simpler_dtype_size(t->dtype),
		.ndims = t->ndims,
		.dtype = t->dtype,
		.is_contiguous = simpler_tensor_contiguous(t),
		.address_space = SIMPLER_SPACE_DEVICE,
		.extent = simpler_tensor_extent(t),
	};
	memcpy(to->shapes, t->shapes, sizeof(to->shapes));
	memcpy(to->strides, t->strides, sizeof(to->strides));
}

/*
 * What the chip sees of a HOST tensor is its span, and only that.  A span is never empty, so that
 * no two tensors share an address: simpler_tensor_check() refuses tensors without elements.
 */
static void fill_staged(struct simpler_hw_tensor *to, const struct simpler_tensor *t,
			const struct simpler_buffer *b, uint64_t span)
{
	fill_tensor(to, t, b);
	to->addr = span;
	to->bytes = host_bytes(t);
	to->start_offset = 0;
}

static void push_copy(struct simpler_stream *s, uint32_t batch, uint64_t dst, uint64_t src,
		      uint64_t bytes)
{
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_COPY,
		.batch = batch,
		.copy = { .dst = dst, .src = src, .bytes = bytes },
	};

	rts_stream_push(s, &cmd);
}

static void fill_tensors(struct simpler_worker *w, struct lane_slot *slot,
			 const struct bind_request *rq, uint32_t batch)
{
	const struct simpler_task_args *a = request_args(rq);
	uint64_t span = slot->staging;
	size_t i;

	for (i = 0; i < a->tensor_count; i++) {
		const struct simpler_tensor *t = &a->tensors[i];
		struct simpler_buffer *b = buffers_find(w, &t->buffer, NULL);

		slot->uses[i] = b;
		b->uses++;
		if (!is_host(t)) {
			fill_tensor(&slot->tensors[i], t, b);
			continue;
		}
		fill_staged(&slot->tensors[i], t, b, span);
		push_copy(w->lane.stream, batch, span, b->address + t->byte_offset, host_bytes(t));
		span += staging_span(t);
	}
	slot->use_count = (uint32_t)a->tensor_count;
}

static void fill_rings(__u64 to[SIMPLER_RINGS], const uint64_t defaults[SIMPLER_RINGS],
		       const uint64_t *given)
{
	int i;

	for (i = 0; i < SIMPLER_RINGS; i++)
		to[i] = given && given[i] ? given[i] : defaults[i];
}

static void fill_launch(struct simpler_worker *w, struct lane_slot *slot,
			const struct bind_request *rq)
{
	const struct simpler_task_args *a = request_args(rq);
	const struct simpler_call_config *c = rq->config;
	const struct simpler_runtime_env *env = c ? &c->runtime_env : NULL;
	const struct simpler_runtime_env *d = &w->defaults.env;
	struct simpler_hw_launch *l = slot->launch;
	uint32_t deps = c && c->deps ? c->deps : w->defaults.deps;

	l->tensor_count = (uint32_t)a->tensor_count;
	l->scalar_count = (uint32_t)a->scalar_count;
	l->control_threads = c ? (uint32_t)c->aicpu_thread_num : 0;
	l->dep_mode = deps == SIMPLER_DEPS_RAW ? SIMPLER_HW_DEPS_RAW : SIMPLER_HW_DEPS_SEQUENTIAL;
	l->diagnostics = rq->diagnostics;
	fill_rings(l->ring_window, d->ring_task_window, env ? env->ring_task_window : NULL);
	fill_rings(l->ring_heap, d->ring_heap, env ? env->ring_heap : NULL);
	fill_rings(l->ring_dep_pool, d->ring_dep_pool, env ? env->ring_dep_pool : NULL);
	if (a->scalar_count)
		memcpy(slot->scalars, a->scalars, a->scalar_count * sizeof(*a->scalars));
}

static void push_launch(struct simpler_worker *w, struct lane_slot *slot,
			const struct bind_request *rq, uint32_t batch)
{
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_LAUNCH,
		.batch = batch,
		.launch = {
			.desc = slot->launch_addr,
			.desc_bytes = sizeof(*slot->launch),
			.slot = (uint32_t)(rq->entry - w->callables.entries),
		},
	};

	rts_stream_push(w->lane.stream, &cmd);
}

/* Skipped by the chip, as the copies are, after the first command of the batch that fails. */
static void push_proof(struct simpler_worker *w, const struct lane_slot *slot, uint32_t batch)
{
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_FENCE,
		.batch = batch,
		.fence = { .addr = slot->copied_addr, .value = slot->launch->run_id },
	};

	rts_stream_push(w->lane.stream, &cmd);
}

static void push_copies_back(struct simpler_worker *w, struct lane_slot *slot,
			     const struct bind_request *rq, uint32_t batch)
{
	const struct simpler_task_args *a = request_args(rq);
	size_t i;

	for (i = 0; i < a->tensor_count; i++) {
		const struct simpler_tensor *t = &a->tensors[i];

		if (is_host(t) && direction(rq->entry, i) != SIMPLER_DIR_IN &&
		    t->buffer.access != SIMPLER_ACCESS_READ)
			push_copy(w->lane.stream, batch, slot->uses[i]->address + t->byte_offset,
				  slot->tensors[i].addr, slot->tensors[i].bytes);
	}
}

int bind_commit(struct simpler_worker *w, struct lane_slot *slot, const struct bind_request *rq,
		struct simpler_error *e)
{
	uint32_t batch;
	int rc = staging_reserve(w, slot, rq->staging, e);

	if (rc)
		return rc;
	slot->launch->run_id = ++w->lane.next_run_id;
	batch = (uint32_t)slot->launch->run_id | 1u << 31;	/* never 0 */
	fill_launch(w, slot, rq);
	fill_tensors(w, slot, rq, batch);
	push_launch(w, slot, rq, batch);
	if (rq->copies) {
		push_copies_back(w, slot, rq, batch);
		push_proof(w, slot, batch);
	}
	slot->copies = rq->copies;
	slot->entry = rq->entry;
	slot->diagnostics = rq->diagnostics;
	return 0;
}
