// SPDX-License-Identifier: MIT
/* Services of a core for the kernel that runs on it (pto_core_ops). */
#include <stdarg.h>
#include <stdio.h>

#include "base/guard.h"
#include "base/log.h"
#include "base/run_code.h"
#include "chip/pipe.h"
#include "model/engine.h"

static struct chip_core *calling_core(void)
{
	struct engine_thread *t = engine_self();

	return t ? t->core : NULL;
}

static struct pto_core *op_self(void)
{
	struct chip_core *core = calling_core();

	return core ? &core->pub : NULL;
}

static uint8_t *op_push_begin(const struct pto_pipe *p, enum pto_pipe_dir dir, uint32_t lanes)
{
	return chip_push_begin(calling_core(), p, dir, lanes);
}

static void op_push_end(const struct pto_pipe *p, enum pto_pipe_dir dir, uint32_t lanes)
{
	chip_push_end(calling_core(), p, dir, lanes);
}

static uint8_t *op_pop_begin(const struct pto_pipe *p, enum pto_pipe_dir dir, uint32_t lanes)
{
	return chip_pop_begin(calling_core(), p, dir, lanes);
}

static void op_pop_free(const struct pto_pipe *p, enum pto_pipe_dir dir, uint32_t lanes)
{
	chip_pop_free(calling_core(), p, dir, lanes);
}

static void op_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
static void op_fail(int code, const char *fmt, ...)
{
	struct chip_core *core = calling_core();
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	guard_hold();
	chip_lock(core->chip);
	if (code > 0 && code <= SIMPLER_RUN_CODE_MAX)
		chip_fail_sched(core->chip, code, core, "kernel %s block %d: %s",
				core->kernel->name, core->pub.block_idx, text);
	else
		chip_fail_sched(core->chip, SIMPLER_RUN_KERNEL_FAULT, core,
				"kernel %s block %d: code %d: %s", core->kernel->name,
				core->pub.block_idx, code, text);
	chip_abandon(core);
}

static void op_log(int level, const char *fmt, ...)
{
	struct chip_core *core = calling_core();
	char text[1024];
	va_list ap;

	if (level < log_get_level())
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	guard_hold();
	log_device(level, core ? core->kernel->name : "kernel", "kernel", 0, "%s", text);
	guard_release();
}

/* Neither a small number nor the bits of a floating-point number. */
static bool may_be_address(uint64_t scalar)
{
	return scalar >> 32 && !(scalar >> 48);
}

static uint32_t op_extents(struct pto_extent *out, bool *open)
{
	const struct chip_core *core = calling_core();
	const struct pto_core_args *light = core->light;
	const struct chip_task *t = core->task;
	uint32_t tensors = light ? light->tensor_count : t->tensor_count;
	uint32_t scalars = light ? light->scalar_count : t->scalar_count;
	bool ordered = light ? light->flags & PTO_ARGS_ORDERED : t->flags & CHIP_TASK_ORDERED;
	const uint8_t *order = light ? light->order : t->order;
	uint32_t n = 0;

	*open = false;
	for (uint32_t i = 0; i < scalars; i++)
		*open |= may_be_address(light ? light->scalars[i] : t->scalars[i]);
	for (uint32_t i = 0; i < tensors + (ordered ? scalars : 0); i++) {
		uint32_t which = ordered ? order[i] : i;
		const struct pto_tensor *operand;

		if (which & 0x80)
			continue;
		operand = light ? light->refs[which].tensor : &t->tensors[which];
		if (operand->kind == PTO_KIND_TENSOR && operand->addr)
			out[n++] = (struct pto_extent){
				tmap_lo(operand), tmap_hi(operand), i,
				light ? light->tags[which] == PTO_ARG_INPUT : operand->read_only };
	}
	return n;
}

static void op_at_return(void (*fn)(void))
{
	calling_core()->at_return = fn;
}

#define CORE_OPS(with_checks) {			\
	.bytes = sizeof(struct pto_core_ops),	\
	.self = op_self,			\
	.push_begin = op_push_begin,		\
	.push_end = op_push_end,		\
	.pop_begin = op_pop_begin,		\
	.pop_free = op_pop_free,		\
	.fail = op_fail,			\
	.log = op_log,				\
	.checked = with_checks,			\
	.extents = op_extents,			\
	.at_return = op_at_return,		\
}

const struct pto_core_ops engine_core_ops = CORE_OPS(false);
const struct pto_core_ops engine_core_ops_checked = CORE_OPS(true);
