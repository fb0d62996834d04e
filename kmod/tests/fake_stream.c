// SPDX-License-Identifier: GPL-2.0-only
/* Streams and page tables of the fake device. */
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "fake_device.h"

#define NOT_YET	1	/* a WAIT whose condition does not hold */

/* ---- page tables ---- */

static u32 index_of(u64 va, u32 level)
{
	return (va >> (SIMPLER_HW_PAGE_SHIFT + 9 * level)) & (SIMPLER_HW_PT_ENTRIES - 1);
}

static void *target(struct fake_device *fake, u64 entry, u64 offset)
{
	u64 at = (entry & SIMPLER_HW_PTE_ADDR) + offset;

	if (entry & SIMPLER_HW_PTE_HOST)
		return phys_to_virt(at);	/* a DMA address is a physical address here */
	return fake_memory(fake, at, 1);
}

void *fake_translate(struct fake_device *fake, u32 context, u64 va, bool write)
{
	u64 table = fake->contexts[context].root;
	u32 level = SIMPLER_HW_PT_LEVELS;
	u64 entry, span;
	u64 *entries;

	if (va < SIMPLER_HW_VA_MIN || va >> SIMPLER_HW_VA_BITS)
		return NULL;
	do {
		level--;
		entries = fake_memory(fake, table, SIMPLER_HW_PAGE_BYTES);
		if (!entries || table % SIMPLER_HW_PAGE_BYTES)
			return NULL;
		entry = READ_ONCE(entries[index_of(va, level)]);
		if (!(entry & SIMPLER_HW_PTE_VALID))
			return NULL;
		table = entry & SIMPLER_HW_PTE_ADDR;
	} while (level && !(level == 1 && entry & SIMPLER_HW_PTE_BLOCK));
	if (write && !(entry & SIMPLER_HW_PTE_WRITE))
		return NULL;
	span = 1ull << (SIMPLER_HW_PAGE_SHIFT + 9 * level);
	return target(fake, entry, va & (span - 1));
}

/* ---- faults ---- */

void fake_context_ban(struct fake_device *fake, u32 context)
{
	u32 i;

	fake->contexts[context].stopped = true;
	for (i = 0; i < FAKE_STREAMS; i++)
		if (fake->streams[i].live && fake->streams[i].context == context)
			WRITE_ONCE(fake->streams[i].ring->state, SIMPLER_HW_STREAM_BANNED);
}

static int fault(struct fake_device *fake, struct fake_stream *stream, u32 code, u64 address,
		 u32 flags)
{
	struct simpler_hw_fault record = {
		.code = code, .flags = flags, .context = stream->context,
		.stream = stream - fake->streams, .seqno = stream->completed + 1, .task = ~0ull,
		.core = ~0u, .func_id = ~0u, .address = address,
	};

	fake_context_ban(fake, stream->context);
	fake_fault(fake, &record);
	return -EFAULT;
}

/* ---- commands ---- */

static u64 *word(struct fake_device *fake, struct fake_stream *stream, u64 va, bool write)
{
	u64 *at = va % 8 ? NULL : fake_translate(fake, stream->context, va, write);

	if (!at)
		fault(fake, stream, SIMPLER_HW_FAULT_PAGE, va, write ? SIMPLER_HW_FAULT_WRITE : 0);
	return at;
}

static int copy_page_wise(struct fake_device *fake, struct fake_stream *stream,
			  const struct simpler_hw_cmd *cmd)
{
	u64 dst = cmd->copy.dst, src = cmd->copy.src, left = cmd->copy.bytes;

	while (left) {
		u64 step = min3(left, SIMPLER_HW_PAGE_BYTES - dst % SIMPLER_HW_PAGE_BYTES,
				SIMPLER_HW_PAGE_BYTES - src % SIMPLER_HW_PAGE_BYTES);
		void *from = fake_translate(fake, stream->context, src, false);
		void *to = fake_translate(fake, stream->context, dst, true);

		if (!from)
			return fault(fake, stream, SIMPLER_HW_FAULT_PAGE, src, 0);
		if (!to)
			return fault(fake, stream, SIMPLER_HW_FAULT_PAGE, dst,
				     SIMPLER_HW_FAULT_WRITE);
		memcpy(to, from, step);
		dst += step;
		src += step;
		left -= step;
	}
	return 0;
}

static int fill(struct fake_device *fake, struct fake_stream *stream,
		const struct simpler_hw_cmd *cmd)
{
	u64 i;

	for (i = 0; i < cmd->fill.bytes; i++) {
		u8 *to = fake_translate(fake, stream->context, cmd->fill.dst + i, true);

		if (!to)
			return fault(fake, stream, SIMPLER_HW_FAULT_PAGE, cmd->fill.dst + i,
				     SIMPLER_HW_FAULT_WRITE);
		*to = cmd->fill.pattern >> (i % cmd->fill.width * 8);
	}
	return 0;
}

static int execute(struct fake_device *fake, struct fake_stream *stream,
		   const struct simpler_hw_cmd *cmd)
{
	u64 *at;

	switch (cmd->opcode) {
	case SIMPLER_HW_OP_NOP:
	case SIMPLER_HW_OP_BARRIER:
	case SIMPLER_HW_OP_UPLOAD:
	case SIMPLER_HW_OP_UNLOAD:
		return 0;
	case SIMPLER_HW_OP_FENCE:
		at = word(fake, stream, cmd->fence.addr, true);
		if (at)
			WRITE_ONCE(*at, cmd->fence.value);
		return at ? 0 : -EFAULT;
	case SIMPLER_HW_OP_WAIT:
		at = word(fake, stream, cmd->wait.addr, false);
		if (at)
			return READ_ONCE(*at) >= cmd->wait.value ? 0 : NOT_YET;
		return -EFAULT;
	case SIMPLER_HW_OP_COPY:
		return copy_page_wise(fake, stream, cmd);
	case SIMPLER_HW_OP_FILL:
		return fill(fake, stream, cmd);
	case SIMPLER_HW_OP_LAUNCH:
		return -fake->faults.launch_code;
	default:
		return fault(fake, stream, SIMPLER_HW_FAULT_BAD_COMMAND, 0, 0);
	}
}

static void complete_command(struct fake_device *fake, struct fake_stream *stream, int rc)
{
	struct simpler_hw_ring *ring = stream->ring;

	stream->consumer++;
	stream->completed++;
	fake->counts.commands++;
	if (rc && !READ_ONCE(ring->error)) {
		WRITE_ONCE(ring->error_seqno, stream->completed);
		WRITE_ONCE(ring->error, rc);
	}
	/* release (step 8): pairs with the driver's acquire (step 10) */
	smp_store_release(&ring->completed, stream->completed + fake->faults.skew);
	/* release (step 9): pairs with the producer's acquire (step 1) */
	smp_store_release(&ring->consumer, stream->consumer);
}

static void announce(struct fake_device *fake, struct fake_stream *stream, bool asked)
{
	u64 wanted;

	smp_mb(); /* completed before irq_seqno; the waiter does it the other way round */
	wanted = READ_ONCE(stream->ring->irq_seqno);
	if (wanted && wanted != stream->announced && stream->completed >= wanted) {
		stream->announced = wanted;
		asked = true;
	}
	if (asked)
		fake_device_interrupt(fake, 1 + (stream - fake->streams) % (FAKE_VECTORS - 1));
}

static int run_one(struct fake_device *fake, struct fake_stream *stream,
		   const struct simpler_hw_cmd *cmd)
{
	int rc = 0;

	if (!cmd->batch || cmd->batch != stream->failed_batch ||
	    cmd->flags & SIMPLER_HW_CMD_ALWAYS)
		rc = execute(fake, stream, cmd);
	if (rc < 0)
		stream->failed_batch = cmd->batch;
	return rc;
}

void fake_stream_run(struct fake_device *fake, struct fake_stream *stream)
{
	const struct simpler_hw_cmd *slots = (const void *)(stream->ring + 1);

	while (!fake->contexts[stream->context].stopped) {
		/* acquire (step 4): pairs with the producer's release (step 3) */
		u32 producer = smp_load_acquire(&stream->ring->producer);
		struct simpler_hw_cmd cmd;
		int rc;

		if (producer == stream->consumer)
			return;
		if (producer - stream->consumer > stream->entries) {
			fault(fake, stream, SIMPLER_HW_FAULT_BAD_COMMAND, producer, 0);
			return;
		}
		cmd = slots[stream->consumer & (stream->entries - 1)];
		rc = run_one(fake, stream, &cmd);
		if (rc == NOT_YET)
			return;
		complete_command(fake, stream, rc);
		announce(fake, stream, cmd.opcode == SIMPLER_HW_OP_FENCE &&
					       cmd.flags & SIMPLER_HW_CMD_IRQ);
	}
}
