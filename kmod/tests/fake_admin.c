// SPDX-License-Identifier: GPL-2.0-only
/* The admin ring of the fake device: every command is checked as simpler_hw.h says. */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "fake_device.h"

static struct fake_context *find_context(struct fake_device *fake, u32 number)
{
	struct fake_context *context = &fake->contexts[number];

	return number < FAKE_CONTEXTS && context->live ? context : NULL;
}

static int context_create(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	u64 root = cmd->context_create.page_table;

	if (cmd->context >= FAKE_CONTEXTS || root % SIMPLER_HW_PAGE_BYTES ||
	    !fake_memory(fake, root, SIMPLER_HW_PAGE_BYTES))
		return -EINVAL;
	if (find_context(fake, cmd->context))
		return -EEXIST;
	fake->contexts[cmd->context] = (struct fake_context) { .live = true, .root = root };
	fake->counts.contexts_created++;
	return 0;
}

static int context_destroy(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	u32 i;

	if (!find_context(fake, cmd->context))
		return -ENOENT;
	for (i = 0; i < FAKE_STREAMS; i++)
		if (fake->streams[i].context == cmd->context)
			fake->streams[i].live = false;
	fake->contexts[cmd->context].live = false;
	fake->counts.contexts_destroyed++;
	return 0;
}

static int context_stop(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	if (!find_context(fake, cmd->context))
		return -ENOENT;
	fake_context_ban(fake, cmd->context);
	return 0;
}

static int stream_create(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	u32 entries = cmd->stream.entries;
	struct simpler_hw_ring *ring;

	if (cmd->stream.stream >= FAKE_STREAMS || cmd->stream.priority > 2 ||
	    entries < SIMPLER_HW_RING_MIN_ENTRIES || entries > SIMPLER_HW_RING_MAX_ENTRIES ||
	    !is_power_of_2(entries) || cmd->stream.ring % 64)
		return -EINVAL;
	ring = fake_memory(fake, cmd->stream.ring,
			   sizeof(*ring) + (u64)entries * SIMPLER_HW_CMD_BYTES);
	if (!ring)
		return -EINVAL;
	if (!find_context(fake, cmd->context))
		return -ENOENT;
	if (fake->streams[cmd->stream.stream].live)
		return -EEXIST;
	fake->streams[cmd->stream.stream] = (struct fake_stream) {
		.live = true, .context = cmd->context, .entries = entries,
		.priority = cmd->stream.priority, .ring = ring,
	};
	fake->counts.streams_created++;
	return 0;
}

static int stream_destroy(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	u32 number = cmd->stream.stream;

	if (cmd->stream.entries || cmd->stream.ring || cmd->stream.priority)
		return -EINVAL;
	if (number >= FAKE_STREAMS || !fake->streams[number].live ||
	    fake->streams[number].context != cmd->context)
		return -ENOENT;
	fake->streams[number].live = false;
	fake->counts.streams_destroyed++;
	return 0;
}

static int map_changed(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	if ((cmd->map.addr | cmd->map.bytes) % SIMPLER_HW_PAGE_BYTES)
		return -EINVAL;
	if (!find_context(fake, cmd->context))
		return -ENOENT;
	fake->counts.maps_changed++;
	return 0;
}

static int clear(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	void *at = fake_memory(fake, cmd->clear.addr, cmd->clear.bytes);

	if (!at || (cmd->clear.addr | cmd->clear.bytes) % 8)
		return -EINVAL;
	memset(at, 0, cmd->clear.bytes);
	fake->counts.clears++;
	return 0;
}

static int suspend(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	fake->suspended = true;
	fake->counts.suspends++;
	return 0;
}

static int resume(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	fake->suspended = false;
	return 0;
}

struct command {
	int (*run)(struct fake_device *fake, const struct simpler_hw_admin *cmd);
	u8 words;			/* used; the rest must be zero */
	bool context;			/* names one */
};

static const struct command commands[] = {
	{ context_create, 1, true }, { context_destroy, 0, true }, { context_stop, 0, true },
	{ stream_create, 3, true }, { stream_destroy, 3, true }, { map_changed, 2, true },
	{ clear, 2, false }, { suspend, 0, false }, { resume, 0, false },
};

static int execute(struct fake_device *fake, const struct simpler_hw_admin *cmd)
{
	u32 index = cmd->opcode - SIMPLER_HW_ADMIN_CONTEXT_CREATE;
	struct fake_faults *faults = &fake->faults;
	u32 i;

	if (faults->refuse_opcode == cmd->opcode) {
		if (!faults->refuse_after)
			return faults->refuse_error;
		faults->refuse_after--;
	}
	if (index >= ARRAY_SIZE(commands) || cmd->flags || cmd->reserved ||
	    (!commands[index].context && cmd->context))
		return -EINVAL;
	for (i = commands[index].words; i < 7; i++)
		if (cmd->words[i])
			return -EINVAL;
	return commands[index].run(fake, cmd);
}

/* ---- the ring; step numbers as in simpler_hw.h ---- */

static void complete_command(struct fake_device *fake, int rc)
{
	struct simpler_hw_ring *ring = fake->admin;

	fake->admin_consumer++;
	fake->admin_completed++;
	if (rc && !READ_ONCE(ring->error)) {
		WRITE_ONCE(ring->error_seqno, fake->admin_completed);
		WRITE_ONCE(ring->error, rc);
	}
	/* release (step 8): pairs with the driver's acquire (step 10) */
	smp_store_release(&ring->completed, fake->admin_completed);
	/* release (step 9): pairs with the driver's acquire (step 1) */
	smp_store_release(&ring->consumer, fake->admin_consumer);
	fake_device_interrupt(fake, 0);
}

void fake_admin_run(struct fake_device *fake)
{
	while (fake->admin) {
		const struct simpler_hw_admin *slots = (const void *)(fake->admin + 1);
		struct simpler_hw_admin cmd;

		/* acquire (step 4): pairs with the driver's release (step 3) */
		if (smp_load_acquire(&fake->admin->producer) == fake->admin_consumer)
			return;
		cmd = slots[fake->admin_consumer & (fake->admin_entries - 1)];
		complete_command(fake, execute(fake, &cmd));
	}
}

int fake_admin_enable(struct fake_device *fake)
{
	struct simpler_hw_regs *regs = fake->regs;
	u32 entries = READ_ONCE(regs->admin_entries);
	u32 faults = READ_ONCE(regs->fault_entries);
	struct simpler_hw_ring *ring;

	if (!is_power_of_2(entries) || entries < SIMPLER_HW_RING_MIN_ENTRIES ||
	    !is_power_of_2(faults) ||
	    !fake_memory(fake, regs->fault_ring, (u64)faults * sizeof(struct simpler_hw_fault)))
		return -EINVAL;
	ring = fake_memory(fake, READ_ONCE(regs->admin_ring),
			   sizeof(*ring) + (u64)entries * SIMPLER_HW_CMD_BYTES);
	if (!ring)
		return -EINVAL;
	fake->admin = ring;
	fake->admin_entries = entries;
	fake->admin_consumer = 0;
	fake->admin_completed = 0;
	fake->fault_producer = 0;
	WRITE_ONCE(regs->fault_producer, 0);
	WRITE_ONCE(ring->consumer, 0);
	WRITE_ONCE(ring->completed, 0);
	return 0;
}
