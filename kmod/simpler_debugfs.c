// SPDX-License-Identifier: GPL-2.0-only
#include <linux/seq_file.h>

#include <drm/drm_debugfs.h>

#include "simpler_drv.h"
#include "simpler_inject.h"
#include "simpler_stream.h"

static struct simpler_device *of(struct seq_file *m)
{
	struct drm_debugfs_entry *entry = m->private;

	return to_simpler_device(entry->dev);
}

static void show_streams_of(struct seq_file *m, struct simpler_ctx *ctx)
{
	struct simpler_stream *stream;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&ctx->streams, id, stream)
		seq_printf(m, "  stream %u %s entries %u given %llu completed %llu end %d\n",
			   stream->hw_id, stream->user ? "user" : "kernel", stream->entries,
			   READ_ONCE(stream->submitted), READ_ONCE(stream->seen),
			   READ_ONCE(stream->end_error));
	rcu_read_unlock();
}

static int contexts_show(struct seq_file *m, void *unused)
{
	struct simpler_device *sdev = of(m);
	struct simpler_ctx *ctx;

	mutex_lock(&sdev->contexts_lock);
	list_for_each_entry(ctx, &sdev->contexts, link) {
		seq_printf(m, "context %u pid %d state %u memory %lld pinned %lld faults %u\n",
			   ctx->id, ctx->pid, ctx->state,
			   (s64)simpler_ctx_bytes(ctx),
			   (s64)atomic64_read(&ctx->pinned_bytes), ctx->faults);
		show_streams_of(m, ctx);
	}
	mutex_unlock(&sdev->contexts_lock);
	return 0;
}

static int memory_show(struct seq_file *m, void *unused)
{
	struct simpler_device *sdev = of(m);

	mutex_lock(&sdev->mem.lock);
	seq_printf(m, "base %#llx bytes %llu used %llu available to the allocator %llu\n",
		   sdev->memory_base, sdev->memory_bytes, sdev->mem.used, sdev->mem.mm.avail);
	mutex_unlock(&sdev->mem.lock);
	return 0;
}

static int counters_show(struct seq_file *m, void *unused)
{
	struct simpler_device *sdev = of(m);
	enum simpler_counter counter;

	for (counter = 0; counter < SIMPLER_COUNTERS; counter++)
		seq_printf(m, "%s %llu\n", simpler_counter_name(counter),
			   simpler_counter_read(sdev, counter));
	return 0;
}

static const struct drm_debugfs_info files[] = {
	{ "contexts", contexts_show },
	{ "memory", memory_show },
	{ "counters", counters_show },
};

void simpler_debugfs_init(struct simpler_device *sdev)
{
	drm_debugfs_add_files(&sdev->drm, files, ARRAY_SIZE(files));
	simpler_inject_debugfs(sdev->drm.debugfs_root);
}
