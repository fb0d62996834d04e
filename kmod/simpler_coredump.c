// SPDX-License-Identifier: GPL-2.0-only
/*
 * devcoredump of a banned context: its fault and the last commands of its streams.
 * What is there at the moment of the ban is copied at once; writing it out may wait for
 * memory and is done elsewhere.  While one dump waits, others are dropped.
 */
#include <linux/devcoredump.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "simpler_drv.h"
#include "simpler_stream.h"

#define DUMP_STREAMS	4
#define DUMP_COMMANDS	16
#define DUMP_BYTES	SZ_16K

struct simpler_dump {
	u32 context;
	pid_t pid;
	struct drm_simpler_fault fault;
	u32 stream_count;
	struct {
		u32 hw_id;
		u64 produced;
		u64 completed;
		u32 count;
		struct simpler_hw_cmd commands[DUMP_COMMANDS];
	} streams[DUMP_STREAMS];
};

/* The commands around the one that was to be completed next. */
static void copy_stream(struct simpler_dump *dump, struct simpler_stream *stream)
{
	typeof(dump->streams[0]) *copy = &dump->streams[dump->stream_count++];
	u64 first = READ_ONCE(stream->seen);
	u32 pending = simpler_read(stream->ring->producer) - (u32)first;
	u32 i;

	copy->hw_id = stream->hw_id;
	copy->completed = first;
	copy->produced = first + pending;
	copy->count = min3(pending, (u32)DUMP_COMMANDS, stream->entries);
	for (i = 0; i < copy->count; i++)
		simpler_copy_words(&copy->commands[i],
				   &stream->commands[(first + i) & (stream->entries - 1)],
				   SIMPLER_HW_CMD_BYTES);
}

void simpler_coredump(struct simpler_ctx *ctx, const struct drm_simpler_fault *fault)
{
	struct simpler_device *sdev = ctx->sdev;
	struct simpler_stream *stream;
	struct simpler_dump *dump;
	unsigned long id;
	int idx;

	if (!IS_ENABLED(CONFIG_DEV_COREDUMP) || READ_ONCE(sdev->dump))
		return;
	dump = kzalloc(sizeof(*dump), GFP_NOWAIT | __GFP_NOWARN);
	if (!dump)
		return;
	dump->context = ctx->id;
	dump->pid = ctx->pid;
	dump->fault = *fault;
	if (drm_dev_enter(&sdev->drm, &idx)) {
		rcu_read_lock();
		xa_for_each(&ctx->streams, id, stream)
			if (dump->stream_count < DUMP_STREAMS && !READ_ONCE(stream->end_error))
				copy_stream(dump, stream);
		rcu_read_unlock();
		drm_dev_exit(idx);
	}
	/* the work takes it; nobody else sets it: bans are made under contexts_lock */
	WRITE_ONCE(sdev->dump, dump);
	queue_work(system_unbound_wq, &sdev->dump_work);
}

static void print_commands(struct drm_printer *p, const struct simpler_hw_cmd *commands, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		drm_printf(p, "    op %u flags %#x batch %u: %#llx %#llx %#llx %#llx\n",
			   commands[i].opcode, commands[i].flags, commands[i].batch,
			   commands[i].words[0], commands[i].words[1], commands[i].words[2],
			   commands[i].words[3]);
}

static void print_dump(struct drm_printer *p, struct simpler_device *sdev,
		       const struct simpler_dump *dump)
{
	const struct drm_simpler_fault *fault = &dump->fault;
	u32 i;

	drm_printf(p, "simpler device %s\ncontext %u pid %d\n", sdev->name, dump->context,
		   dump->pid);
	drm_printf(p, "fault %u flags %#x stream %u command %llu task %#llx core %#x kernel %#x\n",
		   fault->code, fault->flags, fault->stream, fault->seqno, fault->task,
		   fault->core, fault->func_id);
	drm_printf(p, "address %#llx pc %#llx time %llu\n", fault->address, fault->pc,
		   fault->timestamp);
	for (i = 0; i < dump->stream_count; i++) {
		drm_printf(p, "  stream %u: %llu of %llu commands completed\n",
			   dump->streams[i].hw_id, dump->streams[i].completed,
			   dump->streams[i].produced);
		print_commands(p, dump->streams[i].commands, dump->streams[i].count);
	}
}

void simpler_coredump_work(struct work_struct *work)
{
	struct simpler_device *sdev = container_of(work, struct simpler_device, dump_work);
	struct drm_print_iterator iterator = { .remain = DUMP_BYTES - 1 };
	struct drm_printer p;
	void *text = vzalloc(DUMP_BYTES);

	if (text) {
		iterator.data = text;
		p = drm_coredump_printer(&iterator);
		print_dump(&p, sdev, sdev->dump);
		/* frees the text, after it was read or after five minutes */
		dev_coredumpv(sdev->drm.dev, text, strlen(text), GFP_KERNEL);
	}
	kfree(sdev->dump);
	WRITE_ONCE(sdev->dump, NULL);
}

void simpler_coredump_fini(struct simpler_device *sdev)
{
	if (cancel_work_sync(&sdev->dump_work)) {
		kfree(sdev->dump);
		sdev->dump = NULL;
	}
}
