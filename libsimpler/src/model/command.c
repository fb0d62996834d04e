// SPDX-License-Identifier: MIT
/* Commands: a table of checked handlers. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/guard.h"
#include "base/run_code.h"
#include "base/sanitize.h"
#include "model/context.h"

typedef int (*command_fn)(struct model_stream *s, const struct simpler_hw_cmd *cmd,
			  const struct model_wait *wait);

/* Words of the union a command may use; the rest must be zero. */
struct command {
	command_fn run;
	uint8_t words;
	uint8_t flags;
};

static int run_nop(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		   const struct model_wait *wait)
{
	(void)s;
	(void)cmd;
	(void)wait;
	return 0;
}

/* ---- ranges ---- */

#define PAGE_BYTES 4096u

struct range {
	uint64_t addr;
	uint64_t bytes;
	bool write;
};

/* Uninstrumented: a fault inside a sanitizer's own code would leave its locks taken. */
NO_SANITIZE static void touch(uint64_t addr, bool write)
{
	/* relaxed: adds nothing; the access is only there to fault */
	if (write)
		__atomic_fetch_or((unsigned char *)(uintptr_t)addr, 0, __ATOMIC_RELAXED);
	else
		(void)*(const volatile char *)(uintptr_t)addr;
}

NO_SANITIZE static void do_touch(void *arg)
{
	const struct range *r = arg;

	for (uint64_t at = 0; at < r->bytes; at += PAGE_BYTES)
		touch(r->addr + at, r->write);
	touch(r->addr + r->bytes - 1, r->write);
}

/* May [@addr, @addr + @bytes) be accessed?  0, -EINVAL (no such range) or -EFAULT. */
static int check_range(struct model_stream *s, uint64_t addr, uint64_t bytes, uint64_t align,
		       bool write)
{
	struct range r = { addr, bytes, write };
	struct guard_fault fault = { 0 };
	uint64_t end;
	int rc;

	if (!bytes)
		return 0;
	if (addr % align || __builtin_add_overflow(addr, bytes, &end))
		return -EINVAL;
	rc = addr ? guard_call(do_touch, &r, &fault) : 1;
	if (rc > 0) {
		model_fault(s, SIMPLER_HW_FAULT_PAGE, fault.addr);
		return -EFAULT;
	}
	return rc;
}

/* A status that cannot be written refuses its command before anything happens. */
static int check_status(struct model_stream *s, uint64_t addr)
{
	return addr ? check_range(s, addr, sizeof(struct simpler_hw_status),
				  _Alignof(struct simpler_hw_status), true) : 0;
}

/* ---- memory accesses on behalf of the producer: a bad address is its fault, not ours ---- */

struct access {
	const struct simpler_hw_cmd *cmd;
	uint64_t value;
};

static void do_fence(void *arg)
{
	struct access *a = arg;

	ring_store64((__u64 *)(uintptr_t)a->cmd->fence.addr, a->cmd->fence.value);
}

static void do_load(void *arg)
{
	struct access *a = arg;

	a->value = ring_load64((const __u64 *)(uintptr_t)a->cmd->wait.addr);
}

static void do_copy(void *arg)
{
	const struct simpler_hw_cmd *cmd = ((struct access *)arg)->cmd;

	memcpy((void *)(uintptr_t)cmd->copy.dst, (const void *)(uintptr_t)cmd->copy.src,
	       cmd->copy.bytes);
}

static void do_fill(void *arg)
{
	const struct simpler_hw_cmd *cmd = ((struct access *)arg)->cmd;
	unsigned char *at = (unsigned char *)(uintptr_t)cmd->fill.dst;

	if (cmd->fill.width == 1) {
		memset(at, (int)cmd->fill.pattern, cmd->fill.bytes);
		return;
	}
	for (uint64_t done = 0; done < cmd->fill.bytes; done += cmd->fill.width)
		memcpy(at + done, &cmd->fill.pattern, cmd->fill.width);
}

static int guarded(struct model_stream *s, void (*fn)(void *), struct access *a)
{
	struct guard_fault fault;
	int rc = guard_call(fn, a, &fault);

	if (rc > 0) {
		model_fault(s, SIMPLER_HW_FAULT_PAGE, fault.addr);
		return -EFAULT;
	}
	return rc;
}

static int run_fence(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		     const struct model_wait *wait)
{
	struct access a = { .cmd = cmd };
	int rc;

	(void)wait;
	if (!cmd->fence.addr || cmd->fence.addr % 8)
		return -EINVAL;
	rc = check_range(s, cmd->fence.addr, sizeof(uint64_t), 8, true);
	if (!rc)
		rc = guarded(s, do_fence, &a);
	s->interrupt = !rc && cmd->flags & SIMPLER_HW_CMD_IRQ;
	return rc;
}

static int run_wait(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		    const struct model_wait *wait)
{
	struct access a = { .cmd = cmd };
	int rc;

	(void)wait;
	if (!cmd->wait.addr || cmd->wait.addr % 8)
		return -EINVAL;
	rc = check_range(s, cmd->wait.addr, sizeof(uint64_t), 8, false);
	if (!rc)
		rc = guarded(s, do_load, &a);
	if (rc)
		return rc;
	return a.value >= cmd->wait.value ? 0 : COMMAND_LATER;
}

static bool overlap(uint64_t a, uint64_t b, uint64_t bytes)
{
	return a < b + bytes && b < a + bytes;
}

static int run_copy(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		    const struct model_wait *wait)
{
	struct access a = { .cmd = cmd };
	uint64_t end;
	int rc;

	(void)wait;
	if (!cmd->copy.bytes)
		return 0;
	if (!cmd->copy.dst || !cmd->copy.src ||
	    __builtin_add_overflow(cmd->copy.dst, cmd->copy.bytes, &end) ||
	    __builtin_add_overflow(cmd->copy.src, cmd->copy.bytes, &end) ||
	    overlap(cmd->copy.dst, cmd->copy.src, cmd->copy.bytes))
		return -EINVAL;
	rc = check_range(s, cmd->copy.src, cmd->copy.bytes, 1, false);
	if (!rc)
		rc = check_range(s, cmd->copy.dst, cmd->copy.bytes, 1, true);
	return rc ? rc : guarded(s, do_copy, &a);
}

static int run_fill(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		    const struct model_wait *wait)
{
	struct access a = { .cmd = cmd };
	uint32_t w = cmd->fill.width;
	uint64_t end;
	int rc;

	(void)wait;
	if ((w != 1 && w != 2 && w != 4 && w != 8) || cmd->fill.bytes % w || cmd->fill.reserved ||
	    (cmd->fill.bytes && !cmd->fill.dst) ||
	    __builtin_add_overflow(cmd->fill.dst, cmd->fill.bytes, &end))
		return -EINVAL;
	rc = check_range(s, cmd->fill.dst, cmd->fill.bytes, 1, true);
	return rc || !cmd->fill.bytes ? rc : guarded(s, do_fill, &a);
}

/* ---- callables ---- */

static void report(struct simpler_hw_status *status, const struct error_record *err, int code,
		   uint32_t phase)
{
	if (!status)
		return;
	memset(status, 0, offsetof(struct simpler_hw_status, text));
	status->bytes = sizeof(*status);
	status->code = code;
	status->core = status->func_id = -1;
	status->task = PTO_NO_TASK;
	status->phase = phase;
	snprintf(status->text, sizeof(status->text), "%s", err->text);
	snprintf(status->hint, sizeof(status->hint), "%s", err->hint);
}

static int check_upload(struct model_stream *s, const struct simpler_hw_cmd *cmd,
			struct error_record *err)
{
	uint32_t slot = cmd->upload.slot;
	int rc;

	if (slot >= SIMPLER_HW_CALLABLE_SLOTS || s->context->callables[slot])
		return error_set(err, -EINVAL, "upload into slot %u, which is %s", slot,
				 slot >= SIMPLER_HW_CALLABLE_SLOTS ? "out of range" : "taken");
	rc = cmd->upload.addr ? check_range(s, cmd->upload.addr, cmd->upload.bytes, 1, false) : -EINVAL;
	if (rc)
		error_set(err, rc, "callable of %llu bytes at 0x%llx: not readable memory",
			  (unsigned long long)cmd->upload.bytes, (unsigned long long)cmd->upload.addr);
	return rc;
}

static int run_upload(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		      const struct model_wait *wait)
{
	struct model_context *c = s->context;
	struct simpler_hw_status *status = (void *)(uintptr_t)cmd->upload.status;
	const struct chip_config *config = &c->engine.chip.config;
	const struct chip_target target = { .arch = config->arch, .core_ops = config->core_ops,
					    .linking = engine_linking, .arg = &c->engine };
	struct chip_callable *callable;
	struct error_record err;
	struct engine_thread watched;
	bool watch;
	int rc;

	(void)wait;
	rc = cmd->upload.reserved ? -EINVAL : check_status(s, cmd->upload.status);
	if (rc)
		return rc;
	error_clear(&err);
	rc = check_upload(s, cmd, &err);
	watch = engine_watch_begin(&c->engine, &watched);
	if (!rc)
		rc = chip_callable_load((const void *)(uintptr_t)cmd->upload.addr, cmd->upload.bytes,
					&target, &callable, &err);
	if (watch)
		engine_watch_end(&c->engine, &watched);
	report(status, &err, rc ? SIMPLER_RUN_INVALID_ARGS : 0, SIMPLER_HW_PHASE_PREPARE);
	if (!rc)
		c->callables[cmd->upload.slot] = callable;
	return rc;
}

static int run_unload(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		      const struct model_wait *wait)
{
	struct model_context *c = s->context;
	struct engine_thread watched;
	bool watch;

	(void)wait;
	if (cmd->unload.slot >= SIMPLER_HW_CALLABLE_SLOTS || cmd->unload.reserved ||
	    !c->callables[cmd->unload.slot])
		return -ENOENT;
	watch = engine_watch_begin(&c->engine, &watched);
	chip_callable_unload(c->callables[cmd->unload.slot]);
	if (watch)
		engine_watch_end(&c->engine, &watched);
	c->callables[cmd->unload.slot] = NULL;
	return 0;
}

/* Copies the descriptor; without one, or without a status it names, there is nobody to report to. */
static int read_launch(struct model_stream *s, const struct simpler_hw_cmd *cmd)
{
	struct simpler_hw_launch *l = &s->context->launch;
	int rc;

	if (!cmd->launch.desc || cmd->launch.desc % _Alignof(struct simpler_hw_launch) ||
	    cmd->launch.desc_bytes != sizeof(*l))
		return -EINVAL;
	rc = check_range(s, cmd->launch.desc, sizeof(*l), 1, false);
	if (rc)
		return rc;
	*l = *(const struct simpler_hw_launch *)(uintptr_t)cmd->launch.desc;
	return l->bytes == sizeof(*l) ? check_status(s, l->status) : -EINVAL;
}

/* Counts beyond the limits are chip_begin()'s to refuse. */
static int check_arrays(struct model_stream *s, const struct simpler_hw_launch *l,
			struct error_record *err)
{
	int rc = 0;

	if (l->tensor_count <= SIMPLER_HW_MAX_TENSORS)
		rc = check_range(s, l->tensors, l->tensor_count * sizeof(struct simpler_hw_tensor),
				 _Alignof(struct simpler_hw_tensor), false);
	if (!rc && l->scalar_count <= SIMPLER_HW_MAX_SCALARS)
		rc = check_range(s, l->scalars, l->scalar_count * sizeof(uint64_t), sizeof(uint64_t),
				 false);
	if (rc)
		error_set(err, rc, "launch: the operands (%u tensors at 0x%llx, %u scalars at 0x%llx) are not readable memory",
			  l->tensor_count, (unsigned long long)l->tensors, l->scalar_count,
			  (unsigned long long)l->scalars);
	return rc;
}

static int check_launch(struct model_stream *s, const struct simpler_hw_cmd *cmd,
			struct error_record *err)
{
	const struct model_context *c = s->context;

	if (cmd->launch.slot >= SIMPLER_HW_CALLABLE_SLOTS || !c->callables[cmd->launch.slot])
		return error_set(err, -ENOENT, "no callable in slot %u", cmd->launch.slot);
	for (int i = 0; i < 4; i++)
		if (c->launch.reserved[i])
			return error_set(err, -EINVAL, "launch descriptor: reserved word %d is not zero", i);
	return check_arrays(s, &c->launch, err);
}

static int begin_launch(struct model_stream *s, const struct simpler_hw_cmd *cmd)
{
	struct model_context *c = s->context;
	struct error_record err;
	int rc = read_launch(s, cmd);

	if (rc) {
		c->counters.failed_runs++;
		return rc;
	}
	error_clear(&err);
	rc = check_launch(s, cmd, &err);
	if (!rc)
		rc = chip_begin(&c->engine.chip, c->callables[cmd->launch.slot], &c->launch, &err);
	if (!rc && engine_start(&c->engine)) {
		chip_end(&c->engine.chip, NULL);
		rc = error_set(&err, -ENOMEM, "no memory for the orchestration's stack");
	}
	if (rc) {
		c->counters.failed_runs++;
		report((void *)(uintptr_t)c->launch.status, &err,
		       rc == -ENOMEM ? -ENOMEM : SIMPLER_RUN_INVALID_ARGS, SIMPLER_HW_PHASE_PREPARE);
		return rc;
	}
	c->launching = s;
	c->launch_start_ns = clock_mono_ns();
	return 0;
}

/* A stray access of a kernel is a page fault, all other crashes are the kernel's own. */
static void report_run(struct model_stream *s, int code, const struct simpler_hw_status *status)
{
	int signo = s->context->engine.fault_signo;
	struct simpler_hw_fault f = { .task = ~0ull, .core = ~0u, .func_id = ~0u };

	f.code = code == SIMPLER_RUN_SCHEDULER_TIMEOUT ? SIMPLER_HW_FAULT_WATCHDOG :
		 signo == SIGSEGV || signo == SIGBUS ? SIMPLER_HW_FAULT_PAGE :
						       SIMPLER_HW_FAULT_KERNEL;
	if (status) {
		f.task = status->task;
		f.core = (uint32_t)status->core;
		f.func_id = (uint32_t)status->func_id;
		f.address = status->address;
		f.pc = status->pc;
	}
	model_fault_record(s, &f);
}

static int end_launch(struct model_stream *s)
{
	struct model_context *c = s->context;
	struct simpler_hw_status *status = (void *)(uintptr_t)c->launch.status;
	int code;

	c->counters.runs++;
	c->counters.tasks += c->engine.chip.completed;
	code = chip_end(&c->engine.chip, status);
	c->launching = NULL;
	if (status) {
		status->start_ns = c->launch_start_ns;
		status->end_ns = clock_mono_ns();
	}
	if (code) {
		c->counters.failed_runs++;
		if (code == SIMPLER_RUN_KERNEL_FAULT || code == SIMPLER_RUN_SCHEDULER_TIMEOUT)
			report_run(s, code, status);
	}
	return code ? -code : 0;
}

static int run_launch(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		      const struct model_wait *wait)
{
	struct model_context *c = s->context;
	int rc;

	if (!c->launching) {
		rc = begin_launch(s, cmd);
		if (rc)
			return rc;
	}
	rc = engine_drive(&c->engine, wait);
	if (rc == -ENOMEM)
		return engine_give_up(&c->engine) ? end_launch(s) : COMMAND_LATER;
	return rc ? COMMAND_LEFT : end_launch(s);
}

static const struct command commands[] = {
	[SIMPLER_HW_OP_NOP] = { run_nop, 0, 0 },
	[SIMPLER_HW_OP_FENCE] = { run_fence, 2, SIMPLER_HW_CMD_IRQ },
	[SIMPLER_HW_OP_WAIT] = { run_wait, 2, 0 },
	[SIMPLER_HW_OP_COPY] = { run_copy, 3, 0 },
	[SIMPLER_HW_OP_FILL] = { run_fill, 4, 0 },
	[SIMPLER_HW_OP_LAUNCH] = { run_launch, 2, 0 },
	[SIMPLER_HW_OP_UPLOAD] = { run_upload, 4, 0 },
	[SIMPLER_HW_OP_UNLOAD] = { run_unload, 1, 0 },
	/* streams execute one command after the other, so a barrier has nothing to wait for */
	[SIMPLER_HW_OP_BARRIER] = { run_nop, 0, 0 },
};

static bool well_formed(const struct simpler_hw_cmd *cmd)
{
	const struct command *entry = &commands[cmd->opcode];

	if (cmd->reserved || cmd->flags & ~(entry->flags | SIMPLER_HW_CMD_ALWAYS))
		return false;
	for (int i = entry->words; i < 7; i++)
		if (cmd->words[i])
			return false;
	return true;
}

int command_execute(struct model_stream *s, const struct simpler_hw_cmd *cmd,
		    const struct model_wait *wait)
{
	if (cmd->opcode >= sizeof(commands) / sizeof(commands[0]) || !well_formed(cmd)) {
		model_fault(s, SIMPLER_HW_FAULT_BAD_COMMAND, cmd->opcode);
		return -EINVAL;
	}
	return commands[cmd->opcode].run(s, cmd, wait);
}
