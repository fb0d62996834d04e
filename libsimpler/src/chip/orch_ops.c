// SPDX-License-Identifier: MIT
/* The function table of the orchestration: lock, refuse after a failure, call. */
#include <stdio.h>

#include "base/log.h"
#include "base/run_code.h"
#include "chip/sched.h"
#include "chip/submit.h"

static struct chip *chip_of(struct PTO2Runtime *rt)
{
	return (struct chip *)rt;
}

/* Returns false after a failure; the lock is held only on true. */
static bool enter(struct chip *c)
{
	if (chip_is_fatal(c))
		return false;
	chip_lock(c);
	c->in_op = true;
	return true;
}

static void leave(struct chip *c)
{
	c->in_op = false;
	chip_unlock(c);
}

static void empty(struct pto_task_outputs *out)
{
	out->task_id = PTO_NO_TASK;
	out->tensors = NULL;
	out->count = 0;
}

static void op_submit_task(struct PTO2Runtime *rt, const struct pto_mixed_kernels *mk,
			   const struct pto_core_args *args, struct pto_task_outputs *out)
{
	struct chip *c = chip_of(rt);

	empty(out);
	if (!enter(c))
		return;
	submit_task(c, mk, args, out);
	/* while they are few their records are still in the cache when they run */
	if (c->queued && !c->shared && !c->config.serial && c->submitted - c->completed >= CHIP_BACKLOG)
		c->config.ops->yield_orchestrator(c);
	leave(c);
}

static void op_submit_dummy(struct PTO2Runtime *rt, const struct pto_core_args *args,
			    struct pto_task_outputs *out)
{
	op_submit_task(rt, NULL, args, out);
}

static void op_alloc_tensors(struct PTO2Runtime *rt, const struct pto_core_args *args,
			     struct pto_task_outputs *out)
{
	struct chip *c = chip_of(rt);

	empty(out);
	if (!enter(c))
		return;
	submit_alloc(c, args, out);
	leave(c);
}

static void op_scope_begin(struct PTO2Runtime *rt, int mode)
{
	struct chip *c = chip_of(rt);

	if (!enter(c))
		return;
	scope_begin(c, mode);
	leave(c);
}

static void op_scope_end(struct PTO2Runtime *rt)
{
	struct chip *c = chip_of(rt);

	if (!enter(c))
		return;
	scope_end(c);
	leave(c);
}

/* The executor itself notes the end of the orchestration; the call is kept for sources that make it. */
static void op_orchestration_done(struct PTO2Runtime *rt)
{
	(void)rt;
}

static bool op_is_fatal(struct PTO2Runtime *rt)
{
	return chip_is_fatal(chip_of(rt));
}

static void op_report_fatal(struct PTO2Runtime *rt, int code, const char *func, const char *fmt, ...)
{
	struct chip *c = chip_of(rt);
	char text[512];
	va_list ap;

	if (!enter(c))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (code > 0 && code <= SIMPLER_RUN_CODE_MAX)
		chip_fail_orch(c, code, "%s: %s", func, text);
	else
		chip_fail_orch(c, SIMPLER_RUN_EXPLICIT_ORCH_FATAL, "%s: code %d: %s", func, code, text);
	leave(c);
}

static void op_invalid_args(struct PTO2Runtime *rt, const char *func, const char *fmt, ...)
{
	struct chip *c = chip_of(rt);
	char text[512];
	va_list ap;

	if (!enter(c))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "%s: %s", func, text);
	leave(c);
}

static void device_log(int level, const char *func, const char *fmt, va_list ap)
{
	char text[1024];

	if (level < log_get_level())
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	log_device(level, func, "orchestration", 0, "%s", text);
}

#define LOG_OP(name, level)								\
	static void op_log_##name(struct PTO2Runtime *rt, const char *func, const char *fmt, ...) \
	{										\
		va_list ap;								\
											\
		(void)rt;								\
		va_start(ap, fmt);							\
		device_log(level, func, fmt, ap);					\
		va_end(ap);								\
	}
LOG_OP(error, LOG_LEVEL_ERROR)
LOG_OP(warn, LOG_LEVEL_WARN)
LOG_OP(timing, LOG_LEVEL_TIMING)
LOG_OP(info, LOG_LEVEL_INFO)
LOG_OP(debug, LOG_LEVEL_DEBUG)

static uint64_t op_get_tensor_data(struct PTO2Runtime *rt, const struct pto_tensor *t,
				   uint32_t ndims, const uint32_t *indices, uint32_t elem_bytes)
{
	struct chip *c = chip_of(rt);
	uint64_t v;

	if (!enter(c))
		return 0;
	v = element_get(c, t, ndims, indices, elem_bytes);
	leave(c);
	return v;
}

static void op_set_tensor_data(struct PTO2Runtime *rt, const struct pto_tensor *t, uint32_t ndims,
			       const uint32_t *indices, uint32_t elem_bytes, uint64_t value)
{
	struct chip *c = chip_of(rt);

	if (!enter(c))
		return;
	element_set(c, t, ndims, indices, elem_bytes, value);
	leave(c);
}

static int32_t op_cluster_count(struct PTO2Runtime *rt)
{
	return (int32_t)chip_of(rt)->config.clusters;
}

static int32_t op_aiv_count(struct PTO2Runtime *rt)
{
	return 2 * (int32_t)chip_of(rt)->config.clusters;
}

static void op_allocate_cluster(struct PTO2Runtime *rt, int32_t count, struct pto_tensor *cid)
{
	struct chip *c = chip_of(rt);

	*cid = (struct pto_tensor){ .kind = PTO_KIND_CLUSTER, .owner_task_id = PTO_NO_TASK };
	if (!enter(c))
		return;
	cluster_allocate(c, count, cid);
	leave(c);
}

static void op_materialize(struct PTO2Runtime *rt, struct pto_tensor *t)
{
	struct chip *c = chip_of(rt);

	if (!enter(c))
		return;
	if (!t->addr && t->kind == PTO_KIND_TENSOR)
		tensor_materialize(c, t);
	leave(c);
}

const struct PTO2RuntimeOps chip_orch_ops = {
	.submit_task = op_submit_task,
	.scope_begin = op_scope_begin,
	.scope_end = op_scope_end,
	.orchestration_done = op_orchestration_done,
	.is_fatal = op_is_fatal,
	.report_fatal = op_report_fatal,
	.log_error = op_log_error,
	.log_warn = op_log_warn,
	.log_timing = op_log_timing,
	.log_info = op_log_info,
	.log_debug = op_log_debug,
	.get_tensor_data = op_get_tensor_data,
	.set_tensor_data = op_set_tensor_data,
	.alloc_tensors = op_alloc_tensors,
	.submit_dummy_task = op_submit_dummy,
	.available_cluster_count = op_cluster_count,
	.available_aiv_count = op_aiv_count,
	.allocate_cluster = op_allocate_cluster,
	.materialize = op_materialize,
	.invalid_args = op_invalid_args,
};
