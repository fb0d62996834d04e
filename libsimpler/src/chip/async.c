// SPDX-License-Identifier: MIT
/* Deferred completion: a subtask ends when its kernel has returned and its conditions hold (chip-runtime §9). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "base/run_code.h"
#include "chip/sched.h"

#define ENGINE_LAST	3	/* CCU */
#define TYPE_COUNTER	0
#define TYPE_EVENT	1

struct chip_async_wait {
	struct chip_async_wait *next;
	struct chip_task *task;
	struct chip_culprit who;	/* registered the conditions */
	uint32_t open;
	uint32_t count;
	struct pto_async_condition conditions[];
};

static bool is_valid(const struct pto_async_condition *cond)
{
	return (cond->type == TYPE_COUNTER || cond->type == TYPE_EVENT) &&
	       cond->engine <= ENGINE_LAST && cond->addr && cond->addr % 4 == 0;
}

static uint32_t first_invalid(const struct chip_core *core)
{
	uint32_t i = 0;

	while (i < core->async_count && is_valid(&core->async_entries[i]))
		i++;
	return i;
}

static int check(const struct chip_core *core)
{
	/* the word is the kernel's to write: anything but a code of this kind is misuse */
	if (core->async_error)
		return core->async_error >= SIMPLER_RUN_ASYNC_COMPLETION_INVALID &&
		       core->async_error <= SIMPLER_RUN_ASYNC_REGISTRATION_FAILED ?
			       core->async_error : SIMPLER_RUN_ASYNC_REGISTRATION_FAILED;
	if (core->async_count > PTO_ASYNC_CONDITIONS)
		return SIMPLER_RUN_ASYNC_REGISTRATION_FAILED;
	return first_invalid(core) < core->async_count ? SIMPLER_RUN_ASYNC_COMPLETION_INVALID : 0;
}

static void refuse_first_invalid(struct chip *c, struct chip_core *core, int code)
{
	uint32_t i = first_invalid(core);
	const struct pto_async_condition *cond = &core->async_entries[i];

	chip_fail_sched(c, code, core, "kernel %s: completion condition %u is not valid: address 0x%llx, engine %d, type %d",
			core->kernel->name, i, (unsigned long long)cond->addr, (int)cond->engine,
			(int)cond->type);
}

static void refuse(struct chip *c, struct chip_core *core, int code)
{
	const char *kernel = core->kernel->name;

	if (core->async_error == SIMPLER_RUN_ASYNC_WAIT_OVERFLOW)
		chip_fail_sched(c, code, core, "kernel %s registered more than %d completion conditions",
				kernel, PTO_ASYNC_CONDITIONS);
	else if (core->async_error)
		chip_fail_sched(c, code, core, "kernel %s set the error word of its completion conditions to %d",
				kernel, core->async_error);
	else if (core->async_count > PTO_ASYNC_CONDITIONS)
		chip_fail_sched(c, code, core, "kernel %s registered %u completion conditions, at most %d are allowed",
				kernel, core->async_count, PTO_ASYNC_CONDITIONS);
	else
		refuse_first_invalid(c, core, code);
}

bool async_defer(struct chip *c, struct chip_core *core)
{
	struct chip_async_wait *w;
	int code = check(core);

	if (code) {
		refuse(c, core, code);
		return false;
	}
	w = malloc(sizeof(*w) + core->async_count * sizeof(w->conditions[0]));
	if (!w) {
		chip_fail_sched(c, SIMPLER_RUN_HOST_MEMORY, core,
				"no host memory for %u completion conditions", core->async_count);
		return false;
	}
	w->task = core->task;
	w->who = chip_culprit(core);
	w->count = w->open = core->async_count;
	memcpy(w->conditions, core->async_entries, w->count * sizeof(w->conditions[0]));
	w->next = c->async_waits;
	c->async_waits = w;
	return true;
}

static bool holds(const struct pto_async_condition *cond)
{
	const _Atomic uint32_t *word = (const _Atomic uint32_t *)(uintptr_t)cond->addr;

	/* acquire: pairs with the release of whoever signals, so that its data is seen */
	return atomic_load_explicit(word, memory_order_acquire) >= (uint32_t)cond->expected_value;
}

/* The addresses are the kernel's word only, and their memory may go away: guarded. */
static void all_hold(void *arg)
{
	struct chip_async_wait *w = arg;

	while (w->open && holds(&w->conditions[w->open - 1]))
		w->open--;
}

/* Looks at the conditions of @w; true: none is open. */
static bool look(struct chip *c, struct chip_async_wait *w)
{
	struct guard_fault fault;
	int rc = guard_call(all_hold, w, &fault);

	if (rc)
		chip_fail_sched_at(c, SIMPLER_RUN_ASYNC_COMPLETION_INVALID, &w->who,
				   "func_id %d waits for a completion condition at 0x%llx, which is not readable memory",
				   w->who.func_id,
				   (unsigned long long)w->conditions[w->open - 1].addr);
	return !rc && !w->open;
}

bool chip_poll_async(struct chip *c)
{
	struct chip_async_wait **link = &c->async_waits;
	bool any = false;

	while (*link && !chip_is_fatal(c)) {
		struct chip_async_wait *w = *link;

		if (!look(c, w)) {
			link = &w->next;
			continue;
		}
		*link = w->next;
		if (--w->task->subtasks_left == 0)
			sched_complete(c, w->task);
		free(w);
		any = true;
		link = &c->async_waits;
	}
	return any;
}

size_t async_describe(const struct chip *c, char *buf, size_t size)
{
	const struct chip_async_wait *w = c->async_waits;
	const struct pto_async_condition *cond;
	char name[24];

	if (!w)
		return 0;
	cond = &w->conditions[w->open - 1];
	return (size_t)snprintf(buf, size, "; task %s of func_id %d waits until the word at 0x%llx is at least %u",
				chip_task_name(w->task->base.id, name), w->who.func_id,
				(unsigned long long)cond->addr, (uint32_t)cond->expected_value);
}

void async_reset(struct chip *c)
{
	while (c->async_waits) {
		struct chip_async_wait *w = c->async_waits;

		c->async_waits = w->next;
		free(w);
	}
}
