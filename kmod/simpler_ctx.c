// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: what an open file is to the device.
 *
 *   NONE --first stream--> READY --fault, time-out--> BANNED
 *                            |                          |
 *                            +------ device reset ------+--> LOST
 *
 * A banned or lost context stays so until its file is closed: what its commands
 * have half done is not known, so nothing of it is run again.
 */
#include <linux/pid.h>
#include <linux/slab.h>

#include "simpler_drv.h"
#include "simpler_notify.h"
#include "simpler_stream.h"
#include "simpler_trace.h"

int simpler_ctx_open(struct drm_device *drm, struct drm_file *file)
{
	struct simpler_device *sdev = to_simpler_device(drm);
	struct simpler_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);

	if (!ctx)
		return -ENOMEM;
	ctx->account = kzalloc(sizeof(*ctx->account), GFP_KERNEL);
	if (!ctx->account) {
		kfree(ctx);
		return -ENOMEM;
	}
	kref_init(&ctx->account->ref);
	ctx->sdev = sdev;
	ctx->file = file;
	ctx->pid = task_tgid_nr(current);
	ctx->id = SIMPLER_NO_ID;
	mutex_init(&ctx->lock);
	simpler_vm_init(&ctx->vm);
	INIT_LIST_HEAD(&ctx->link);
	xa_init_flags(&ctx->streams, XA_FLAGS_ALLOC1);
	file->driver_priv = ctx;
	atomic_inc(&sdev->open_count);
	return 0;
}

int simpler_ctx_error(struct simpler_ctx *ctx)
{
	u32 state = READ_ONCE(ctx->state);

	if (state == DRM_SIMPLER_CONTEXT_BANNED || state == DRM_SIMPLER_CONTEXT_LOST)
		return -EIO;
	return simpler_check_usable(ctx->sdev);
}

static int create_on_device(struct simpler_ctx *ctx)
{
	struct simpler_device *sdev = ctx->sdev;
	struct simpler_hw_admin command = {
		.opcode = SIMPLER_HW_ADMIN_CONTEXT_CREATE,
		.context = ctx->id,
		.context_create = { .page_table = ctx->vm.root->phys },
	};
	int ret;

	mutex_lock(&sdev->contexts_lock);
	ret = simpler_admin_exec(sdev, NULL, &command);
	if (!ret) {
		ctx->generation = simpler_read(sdev->regs->generation);
		WRITE_ONCE(ctx->state, DRM_SIMPLER_CONTEXT_READY);
		list_add_tail(&ctx->link, &sdev->contexts);
	} else {
		xa_erase(&sdev->context_ids, ctx->id);
		ctx->id = SIMPLER_NO_ID;
	}
	mutex_unlock(&sdev->contexts_lock);
	return ret;
}

/* The context exists on the device, or is made to. ctx->lock held, drm_dev_enter()ed */
int simpler_ctx_ready(struct simpler_ctx *ctx)
{
	struct simpler_device *sdev = ctx->sdev;
	struct xa_limit limit = XA_LIMIT(0, sdev->max_contexts - 1);
	int ret = simpler_ctx_error(ctx);

	lockdep_assert_held(&ctx->lock);
	if (ret || ctx->state == DRM_SIMPLER_CONTEXT_READY)
		return ret;
	ret = simpler_vm_root(sdev, &ctx->vm);
	if (ret)
		return ret;
	ret = xa_alloc(&sdev->context_ids, &ctx->id, ctx, limit, GFP_KERNEL);
	if (ret)
		return ret == -EBUSY ? -ENOSPC : ret;
	return create_on_device(ctx);
}

static void account_release(struct kref *ref)
{
	kfree(container_of(ref, struct simpler_account, ref));
}

int simpler_account_charge(struct simpler_device *sdev, struct simpler_account *account,
			   u64 bytes)
{
	if (atomic64_add_return(bytes, &account->bytes) > simpler_file_quota(sdev)) {
		atomic64_sub(bytes, &account->bytes);
		return -EDQUOT;
	}
	kref_get(&account->ref);
	return 0;
}

void simpler_account_uncharge(struct simpler_account *account, u64 bytes)
{
	atomic64_sub(bytes, &account->bytes);
	kref_put(&account->ref, account_release);
}

static int map_changed(struct simpler_ctx *ctx, u64 addr, u64 bytes)
{
	struct simpler_hw_admin command = {
		.opcode = SIMPLER_HW_ADMIN_MAP_CHANGED,
		.context = ctx->id,
		.map = { .addr = addr, .bytes = bytes },
	};

	lockdep_assert_held(&ctx->lock);
	/* Nobody walks the tables: not yet, not any more, or the device forgot the context. */
	if (ctx->closing || ctx->id == SIMPLER_NO_ID)
		return 0;
	return simpler_admin_exec(ctx->sdev, ctx, &command);
}

int simpler_ctx_announce(struct simpler_ctx *ctx, u64 addr, u64 bytes)
{
	int ret = map_changed(ctx, addr, bytes);

	return ret == -ESTALE ? -EIO : ret;
}

void simpler_ctx_sync(struct simpler_ctx *ctx, u64 addr, u64 bytes)
{
	int ret = map_changed(ctx, addr, bytes);

	if (ret && ret != -ESTALE && ret != -ENODEV)
		simpler_reset_wait(ctx->sdev, "a mapping could not be removed");
}

void simpler_ctx_end_fences(struct simpler_ctx *ctx, int error)
{
	struct simpler_stream *stream;
	unsigned long id;
	int idx;

	/* Streams are freed after a grace period and taken out of the xarray before. */
	rcu_read_lock();
	xa_for_each(&ctx->streams, id, stream) {
		/* What has completed before the end has completed well. */
		if (ctx->state == DRM_SIMPLER_CONTEXT_BANNED &&
		    drm_dev_enter(&ctx->sdev->drm, &idx)) {
			simpler_stream_poll(stream);
			drm_dev_exit(idx);
		}
		simpler_stream_fail(stream, error);
	}
	rcu_read_unlock();
}

static int stop_on_device(struct simpler_ctx *ctx)
{
	struct simpler_hw_admin command = {
		.opcode = SIMPLER_HW_ADMIN_CONTEXT_STOP,
		.context = ctx->id,
	};

	return simpler_admin_exec(ctx->sdev, ctx, &command);
}

/*
 * Not in a path that allocates.  Fences complete when the device has let go of the
 * context's memory; if it does not, the reset that follows completes them.
 */
void simpler_ctx_ban(struct simpler_ctx *ctx, const struct drm_simpler_fault *fault)
{
	struct simpler_device *sdev = ctx->sdev;
	int ret;

	lockdep_assert_held(&sdev->contexts_lock);
	ctx->faults++;
	if (ctx->state != DRM_SIMPLER_CONTEXT_READY)
		return;
	ctx->fault = *fault;
	WRITE_ONCE(ctx->state, DRM_SIMPLER_CONTEXT_BANNED);
	simpler_counter_add(sdev, SIMPLER_COUNTER_BANS);
	trace_simpler_ban(sdev, ctx->id, fault->code, fault->address);
	drm_notice(&sdev->drm,
		   "context %u of process %d is banned: fault %u, stream %u, command %llu, address %#llx\n",
		   ctx->id, ctx->pid, fault->code, fault->stream, fault->seqno, fault->address);
	simpler_coredump(ctx, fault);
	ret = stop_on_device(ctx);
	if (ret && ret != -ESTALE && ret != -ENODEV)
		simpler_reset_request(sdev, "a context could not be stopped");
	else
		simpler_ctx_end_fences(ctx, -EIO);
	simpler_netlink_ban(ctx);
}

void simpler_ctx_lose_all(struct simpler_device *sdev)
{
	struct simpler_ctx *ctx;

	lockdep_assert_held(&sdev->contexts_lock);
	list_for_each_entry(ctx, &sdev->contexts, link)
		WRITE_ONCE(ctx->state, DRM_SIMPLER_CONTEXT_LOST);
}

static void destroy_on_device(struct simpler_ctx *ctx)
{
	struct simpler_device *sdev = ctx->sdev;
	struct simpler_hw_admin command = {
		.opcode = SIMPLER_HW_ADMIN_CONTEXT_DESTROY,
		.context = ctx->id,
	};
	int ret = simpler_admin_exec(sdev, ctx, &command);

	if (ret && ret != -ESTALE && ret != -ENODEV)
		simpler_reset_wait(sdev, "a context could not be destroyed");
	mutex_lock(&sdev->contexts_lock);
	list_del_init(&ctx->link);
	xa_erase(&sdev->context_ids, ctx->id);
	mutex_unlock(&sdev->contexts_lock);
}

/*
 * The file goes: first the streams, then the context, so that the mappings which the
 * DRM core takes down next are used by nobody and cost the device nothing.
 */
void simpler_ctx_stop(struct simpler_ctx *ctx)
{
	struct simpler_stream *stream;
	unsigned long id;

	xa_for_each(&ctx->streams, id, stream)
		simpler_stream_end(stream);
	mutex_lock(&ctx->lock);
	if (ctx->id != SIMPLER_NO_ID)
		destroy_on_device(ctx);
	ctx->closing = true;
	mutex_unlock(&ctx->lock);
}

void simpler_ctx_close(struct drm_device *drm, struct drm_file *file)
{
	struct simpler_ctx *ctx = to_simpler_ctx(file);
	struct simpler_mapping *mapping;
	unsigned long index;

	mutex_lock(&ctx->lock);
	xa_for_each(&ctx->vm.pins, index, mapping)
		simpler_pin_release(ctx, mapping);
	simpler_vm_fini(ctx->sdev, &ctx->vm);
	mutex_unlock(&ctx->lock);
	atomic_dec(&ctx->sdev->open_count);
	xa_destroy(&ctx->streams);
	if (ctx->dummy)
		__free_page(ctx->dummy);
	mutex_destroy(&ctx->lock);
	kref_put(&ctx->account->ref, account_release);
	kfree(ctx);
}
