// SPDX-License-Identifier: MIT
/* A launch from its descriptor to its status. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/run_code.h"
#include "chip/pipe.h"
#include "chip/sched.h"
#include "chip/submit.h"

/* ---- cores ---- */

struct arena_size { uint32_t a2a3, a5; };

/* Bytes per memory (pto-isa §2.2); UB is never below 512 KiB on the host. */
static const struct arena_size arena_sizes[PTO_ARENA_COUNT] = {
	[PTO_ARENA_UB] = { 512u << 10, 512u << 10 },
	[PTO_ARENA_L1] = { 512u << 10, 512u << 10 },
	[PTO_ARENA_L0A] = { 64u << 10, 64u << 10 },
	[PTO_ARENA_L0B] = { 64u << 10, 64u << 10 },
	[PTO_ARENA_L0C] = { 128u << 10, 256u << 10 },
	[PTO_ARENA_BIAS] = { 1u << 10, 4u << 10 },
	[PTO_ARENA_SCALING] = { 2u << 10, 4u << 10 },
	[PTO_ARENA_SCALE_LEFT] = { 0, 4u << 10 },
	[PTO_ARENA_SCALE_RIGHT] = { 0, 4u << 10 },
};

static uint32_t arena_bytes(const struct chip *c, int arena)
{
	return c->config.arch == SIMPLER_HW_ARCH_A5 ? arena_sizes[arena].a5 : arena_sizes[arena].a2a3;
}

static size_t core_arena_bytes(const struct chip *c)
{
	size_t total = 0;

	for (int a = 0; a < PTO_ARENA_COUNT; a++)
		total += arena_bytes(c, a);
	return (total + 4095) & ~(size_t)4095;
}

static void init_core(struct chip *c, uint32_t id)
{
	struct chip_core *core = &c->cores[id];
	uint32_t n = c->config.clusters;
	uint8_t *at = c->arenas + id * core_arena_bytes(c);

	core->chip = c;
	core->pub.core_id = id;
	core->pub.is_aic = id < n;
	core->pub.cluster_id = id < n ? id : (id - n) / 2;
	core->pub.lane = id < n ? 0 : (id - n) % 2;
	core->free_word = &c->free[id < n ? CHIP_AIC : core->pub.lane ? CHIP_AIV1 : CHIP_AIV0];
	core->free_bit = 1ull << core->pub.cluster_id;
	core->pub.arch = c->config.arch == SIMPLER_HW_ARCH_A5 ? 3510 : 2201;
	for (int a = 0; a < PTO_ARENA_COUNT; a++) {
		core->pub.arena[a] = at;
		core->pub.arena_bytes[a] = arena_bytes(c, a);
		at += arena_bytes(c, a);
	}
	core->local.async = (struct pto_async_ctx){
		.count = &core->async_count, .error = &core->async_error,
		.entries = core->async_entries, .capacity = PTO_ASYNC_CONDITIONS,
	};
}

static int init_cores(struct chip *c)
{
	uint32_t count = c->config.clusters * CHIP_CORES_PER_CLUSTER;

	c->cores = calloc(count, sizeof(*c->cores));
	c->arenas_bytes = count * core_arena_bytes(c);
	c->arenas = mmap(NULL, c->arenas_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->arenas == MAP_FAILED)
		c->arenas = NULL;
	if (!c->cores || !c->arenas)
		return -ENOMEM;
	for (uint32_t id = 0; id < count; id++)
		init_core(c, id);
	return 0;
}

int chip_init(struct chip *c, const struct chip_config *config)
{
	int rc;

	memset(c, 0, sizeof(*c));
	c->config = *config;
	c->rt.ops = &chip_orch_ops;
	lock_init(&c->lock);
	atomic_init(&c->fatal, false);
	queue_init(&c->dummies);
	c->orch_node = calloc(2, sizeof(*c->orch_node));
	c->light_node = c->orch_node ? c->orch_node + 1 : NULL;
	if (c->light_node)
		c->light_node->block_num = 1;
	rc = tmap_init(&c->tmap, CHIP_TMAP_LIMIT);
	if (!rc)
		rc = c->orch_node ? init_cores(c) : -ENOMEM;
	if (rc)
		chip_fini(c);
	else
		sched_reset(c);
	return rc;
}

void chip_fini(struct chip *c)
{
	cluster_reset(c);
	async_reset(c);
	tmap_fini(&c->tmap);
	for (uint32_t r = 0; r < CHIP_RINGS; r++)
		chip_ring_fini(&c->rings[r]);
	sched_free_edges(c);
	if (c->arenas)
		munmap(c->arenas, c->arenas_bytes);
	free(c->cores);
	free(c->orch_node);
	free(c->links);
}

/* ---- begin ---- */

static int bad_launch(struct error_record *err, const char *what, uint64_t value, const char *rule)
{
	return error_set_named(err, SIMPLER_RUN_INVALID_ARGS, "INVALID_ARGS", "launch: %s %llu %s", what,
			       (unsigned long long)value, rule);
}

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

static int check_rings(const struct simpler_hw_launch *l, struct error_record *err)
{
	for (uint32_t r = 0; r < CHIP_RINGS; r++) {
		uint64_t window = or_default(l->ring_window[r], CHIP_WINDOW_DEFAULT);
		uint64_t heap = or_default(l->ring_heap[r], CHIP_HEAP_DEFAULT);
		uint64_t pool = or_default(l->ring_dep_pool[r], CHIP_DEP_POOL_DEFAULT);

		if (window < CHIP_WINDOW_MIN || window > INT32_MAX || window & (window - 1))
			return bad_launch(err, "ring_task_window", window,
					  "must be a power of 2 in [4, INT32_MAX]");
		if (heap < CHIP_HEAP_MIN)
			return bad_launch(err, "ring_heap", heap, "must be >= 1024 (bytes per ring)");
		if (heap > 1ull << 46)
			return bad_launch(err, "ring_heap", heap, "must be <= 2^46 (bytes per ring)");
		if (pool < CHIP_DEP_POOL_MIN || pool > INT32_MAX)
			return bad_launch(err, "ring_dep_pool", pool, "must be in [4, INT32_MAX]");
	}
	return 0;
}

static int check_operands(const struct chip_callable *callable, const struct simpler_hw_launch *l,
			  struct error_record *err)
{
	const struct simpler_hw_tensor *t = (const void *)(uintptr_t)l->tensors;

	if (l->tensor_count > PTO_ENTRY_TENSORS)
		return bad_launch(err, "tensor count", l->tensor_count, "exceeds 256");
	if (l->scalar_count > PTO_ENTRY_SCALARS)
		return bad_launch(err, "scalar count", l->scalar_count, "exceeds 128");
	if (callable->sig_count &&
	    l->tensor_count + l->scalar_count < (uint32_t)callable->sig_count)
		return bad_launch(err, "operand count", l->tensor_count + l->scalar_count,
				  "is below the callable's signature");
	for (uint32_t i = 0; i < l->tensor_count; i++)
		if (t[i].ndims > PTO_MAX_DIMS || !chip_dtype_bytes(t[i].dtype))
			return bad_launch(err, "operand", i, "has an invalid rank or element type");
	return 0;
}

static int check_launch(const struct chip *c, const struct chip_callable *callable,
			const struct simpler_hw_launch *l, struct error_record *err)
{
	uint32_t max_threads = c->config.arch == SIMPLER_HW_ARCH_A5 ? 5 : 4;
	int rc;

	if (l->runtime != SIMPLER_HW_RUNTIME_TRB)
		return bad_launch(err, "runtime", l->runtime, "is not supported by this chip");
	if (l->dep_mode > SIMPLER_HW_DEPS_RAW)
		return bad_launch(err, "dependence mode", l->dep_mode, "is unknown");
	if (l->control_threads && (l->control_threads < 2 || l->control_threads > max_threads)) {
		error_set_named(err, SIMPLER_RUN_INVALID_ARGS, "INVALID_ARGS",
				"aicpu_thread_num %u must be 0 (auto) or in range [2, %u]",
				l->control_threads, max_threads);
		return SIMPLER_RUN_INVALID_ARGS;
	}
	rc = check_rings(l, err);
	return rc ? rc : check_operands(callable, l, err);
}

static int configure_rings(struct chip *c, const struct simpler_hw_launch *l,
			   struct error_record *err)
{
	c->open_task_limit = 0;
	for (uint32_t r = 0; r < CHIP_RINGS; r++) {
		uint32_t window = (uint32_t)or_default(l->ring_window[r], CHIP_WINDOW_DEFAULT);
		uint64_t heap = or_default(l->ring_heap[r], CHIP_HEAP_DEFAULT);
		uint32_t pool = (uint32_t)or_default(l->ring_dep_pool[r], CHIP_DEP_POOL_DEFAULT);
		int rc;

		if (c->fail_next_growth && heap > c->rings[r].heap_capacity) {
			c->fail_next_growth = false;
			rc = -ENOMEM;
		} else {
			rc = chip_ring_configure(&c->rings[r], r, window, heap, pool);
		}
		if (rc)
			return error_set(err, rc, "no memory for ring %u: window %u, heap %llu bytes", r,
					 window, (unsigned long long)heap);
		if (__builtin_add_overflow(c->open_task_limit, window, &c->open_task_limit))
			c->open_task_limit = UINT32_MAX;
	}
	if (c->open_task_override)
		c->open_task_limit = c->open_task_override;
	return 0;
}

int chip_begin(struct chip *c, const struct chip_callable *callable,
	       const struct simpler_hw_launch *launch, struct error_record *err)
{
	int rc = check_launch(c, callable, launch, err);

	if (!rc)
		rc = configure_rings(c, launch, err);
	if (rc)
		return rc < 0 ? rc : -rc;
	c->callable = callable;
	c->launch = *launch;
	c->dep_mode = launch->dep_mode;
	c->rt.entry_tensors = (const struct pto_tensor *)(uintptr_t)launch->tensors;
	c->rt.entry_scalars = (const uint64_t *)(uintptr_t)launch->scalars;
	c->rt.entry_tensor_count = launch->tensor_count;
	c->rt.entry_scalar_count = launch->scalar_count;
	c->failure.orch_code = c->failure.sched_code = c->failure.sub_class = 0;
	c->failure.core = c->failure.func_id = -1;
	c->failure.task = PTO_NO_TASK;
	c->failure.address = c->failure.pc = 0;
	c->failure.phase = SIMPLER_HW_PHASE_ORCHESTRATE;
	c->failure.text[0] = '\0';
	c->orch_wait = CHIP_ORCH_RUNNING;
	return 0;
}

/* ---- orchestrate ---- */

/* One word per operand, as the older entry expects them (chip-runtime §8.1). */
static int entry_words(const struct chip *c, uint64_t *words)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->rt.entry_tensor_count; i++) {
		const struct pto_tensor *t = &c->rt.entry_tensors[i];

		words[n++] = t->addr + t->start_offset * chip_dtype_bytes(t->dtype);
	}
	for (uint32_t i = 0; i < c->rt.entry_scalar_count; i++)
		words[n++] = c->rt.entry_scalars[i];
	return (int)n;
}

void chip_orchestrate(struct chip *c)
{
	const struct chip_callable *callable = c->callable;
	uint64_t words[PTO_ENTRY_TENSORS + PTO_ENTRY_SCALARS];
	int count = entry_words(c, words);
	struct PTO2OrchestrationConfig config = { 0 };

	if (callable->bind)
		callable->bind(&c->rt);
	if (callable->config)
		config = callable->config(&c->rt, words, count);
	chip_lock(c);
	if (config.expected_arg_count > count) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "the orchestration expects %d arguments, the run has %d",
			       config.expected_arg_count, count);
	} else {
		scope_begin(c, PTO_SCOPE_AUTO);
		chip_unlock(c);
		callable->entry(&c->rt, words, count, 1, 0);
		chip_lock(c);
	}
	chip_orchestrator_lost(c);
	chip_unlock(c);
}

void chip_orchestrator_lost(struct chip *c)
{
	/* after a failure nothing may be released: kernels may still be using it */
	if (!chip_is_fatal(c))
		scope_end_all(c);
	c->orch_wait = CHIP_ORCH_DONE;
	c->config.ops->work_ready(c, NULL);
}

bool chip_finished(const struct chip *c)
{
	if (c->orch_wait != CHIP_ORCH_DONE)
		return false;
	return chip_is_fatal(c) ? true : c->completed == c->submitted;
}

/* ---- end ---- */

static void reset(struct chip *c)
{
	for (uint32_t r = 0; r < CHIP_RINGS; r++)
		chip_ring_reset(&c->rings[r]);
	if (tmap_live(&c->tmap) || c->submit_serial)
		tmap_reset(&c->tmap);
	if (chip_is_fatal(c)) {
		for (uint32_t i = 0; i < c->config.clusters * CHIP_CORES_PER_CLUSTER; i++) {
			c->cores[i].state = CHIP_CORE_FREE;
			c->cores[i].task = NULL;
		}
		sched_free_edges(c);
		sched_reset(c);
		queue_init(&c->dummies);
		c->completing = false;
	}
	cluster_reset(c);
	async_reset(c);
	c->launches++;
	/* relaxed: the executor's hand-over orders the next launch after this one */
	atomic_store_explicit(&c->fatal, false, memory_order_relaxed);
	c->rt.scope_depth = 0;
	c->rt.scope_serial = 0;
	c->manual_depth = 0;
	c->open_tasks = 0;
	c->submitted = c->completed = 0;
	c->manual_warned = false;
	c->callable = NULL;
}

static int failure_code(const struct chip_failure *f)
{
	return f->orch_code ? f->orch_code : f->sched_code;
}

/* Kernels report their own mistakes with the code that orchestrations use. */
static const char *failure_hint(const struct chip_failure *f, int code)
{
	if (code == SIMPLER_RUN_INVALID_ARGS && !f->orch_code && f->func_id >= 0)
		return "the message names the kernel and what it did: correct the kernel, or what the "
		       "orchestration gives it";
	return run_code_hint(code);
}

static void log_failure(const struct chip *c, int code)
{
	const struct chip_failure *f = &c->failure;
	char task[24];

	log_error("PTO2 runtime failed: orch_error_code=%d sched_error_code=%d runtime_status=%d",
		  f->orch_code, f->sched_code, -code);
	log_error("error detail: %s: %s", run_code_name(code), f->text);
	log_error("error hint: %s", failure_hint(f, code));
	if (code == SIMPLER_RUN_SCHEDULER_TIMEOUT)
		log_error("PTO2 scheduler timeout sub_class=S%d (detail=%d) completed=%llu/%llu running=%u stuck_task_id=%s stuck_core=%d",
			  f->sub_class, f->sub_class, (unsigned long long)c->completed,
			  (unsigned long long)c->submitted, c->running,
			  chip_task_name(f->task, task), f->core);
}

static void fill_status(const struct chip *c, int code, struct simpler_hw_status *s)
{
	const struct chip_failure *f = &c->failure;

	s->bytes = sizeof(*s);
	s->code = code;
	s->orch_code = f->orch_code;
	s->sched_code = f->sched_code;
	s->sub_class = f->sub_class;
	s->core = f->core;
	s->func_id = f->func_id;
	s->phase = f->phase;
	s->task = f->task;
	s->address = f->address;
	s->pc = f->pc;
	s->tasks_submitted = c->submitted;
	s->tasks_completed = c->completed;
	s->text[0] = s->hint[0] = '\0';
	if (code) {
		snprintf(s->text, sizeof(s->text), "%s", f->text);
		snprintf(s->hint, sizeof(s->hint), "%s", failure_hint(f, code));
	}
}

int chip_end(struct chip *c, struct simpler_hw_status *status)
{
	int code = failure_code(&c->failure);

	if (code)
		log_failure(c, code);
	if (status)
		fill_status(c, code, status);
	reset(c);
	return code;
}
