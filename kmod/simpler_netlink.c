// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <net/genetlink.h>

#include "simpler_drv.h"
#include "simpler_notify.h"
#include "simpler_netlink.h"

enum group { GROUP_HEALTH, GROUP_RESET, GROUP_MEMORY, GROUP_HOTPLUG };

static struct genl_family family;

static const struct genl_multicast_group groups[] = {
	[GROUP_HEALTH] = { .name = SIMPLER_NL_GROUP_HEALTH },
	[GROUP_RESET] = { .name = SIMPLER_NL_GROUP_RESET },
	[GROUP_MEMORY] = { .name = SIMPLER_NL_GROUP_MEMORY },
	[GROUP_HOTPLUG] = { .name = SIMPLER_NL_GROUP_HOTPLUG },
};

static u32 device_id(struct simpler_device *sdev)
{
	return sdev->drm.accel ? sdev->drm.accel->index : SIMPLER_NO_ID;
}

static int put_u64(struct sk_buff *skb, int attribute, u64 value)
{
	return nla_put_u64_64bit(skb, attribute, value, SIMPLER_NL_ATTR_PAD);
}

static int put_name_of(struct sk_buff *skb, struct simpler_device *sdev)
{
	return nla_put_u32(skb, SIMPLER_NL_ATTR_DEVICE_ID, device_id(sdev)) ?:
	       nla_put_string(skb, SIMPLER_NL_ATTR_DEVICE_NAME, sdev->name);
}

static int put_health(struct sk_buff *skb, struct simpler_device *sdev)
{
	u32 temperature = 0, power = 0;
	int idx;

	if (drm_dev_enter(&sdev->drm, &idx)) {
		temperature = simpler_read(sdev->regs->temperature_mc);
		power = simpler_read(sdev->regs->power_mw);
		drm_dev_exit(idx);
	}
	return nla_put_u32(skb, SIMPLER_NL_ATTR_HEALTH, READ_ONCE(sdev->health)) ?:
	       nla_put_u8(skb, SIMPLER_NL_ATTR_WEDGED, READ_ONCE(sdev->wedged)) ?:
	       nla_put_u32(skb, SIMPLER_NL_ATTR_TEMPERATURE, temperature) ?:
	       nla_put_u32(skb, SIMPLER_NL_ATTR_POWER, power) ?:
	       put_u64(skb, SIMPLER_NL_ATTR_ECC_CORRECTED,
		       simpler_counter_read(sdev, SIMPLER_COUNTER_ECC_CORRECTED)) ?:
	       put_u64(skb, SIMPLER_NL_ATTR_ECC_UNCORRECTED,
		       simpler_counter_read(sdev, SIMPLER_COUNTER_ECC_UNCORRECTED));
}

static int put_memory(struct sk_buff *skb, struct simpler_device *sdev)
{
	return put_u64(skb, SIMPLER_NL_ATTR_MEMORY_TOTAL, sdev->memory_bytes) ?:
	       put_u64(skb, SIMPLER_NL_ATTR_MEMORY_USED, READ_ONCE(sdev->mem.used));
}

static int put_resets(struct sk_buff *skb, struct simpler_device *sdev)
{
	u32 generation = 0;
	int idx;

	if (drm_dev_enter(&sdev->drm, &idx)) {
		generation = simpler_read(sdev->regs->generation);
		drm_dev_exit(idx);
	}
	return nla_put_u32(skb, SIMPLER_NL_ATTR_GENERATION, generation) ?:
	       nla_put_u32(skb, SIMPLER_NL_ATTR_RESETS, READ_ONCE(sdev->resets));
}

/* ---- events ------------------------------------------------------------------- */

struct event {
	struct sk_buff *skb;
	void *header;
};

static int event_begin(struct event *event, struct simpler_device *sdev, u8 command)
{
	event->skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_NOWAIT | __GFP_NOWARN);
	if (!event->skb)
		return -ENOMEM;
	event->header = genlmsg_put(event->skb, 0, 0, &family, 0, command);
	if (event->header && !put_name_of(event->skb, sdev))
		return 0;
	nlmsg_free(event->skb);
	return -EMSGSIZE;
}

/* Nobody listening is no error; what does not fit is lost like what is not read in time. */
static void event_end(struct event *event, enum group group, int ret)
{
	if (ret) {
		nlmsg_free(event->skb);
		return;
	}
	genlmsg_end(event->skb, event->header);
	genlmsg_multicast(&family, event->skb, 0, group, GFP_NOWAIT | __GFP_NOWARN);
}

void simpler_netlink_health(struct simpler_device *sdev)
{
	struct event event;

	if (!event_begin(&event, sdev, SIMPLER_NL_CMD_HEALTH_EVENT))
		event_end(&event, GROUP_HEALTH, put_health(event.skb, sdev));
}

void simpler_netlink_ban(struct simpler_ctx *ctx)
{
	struct event event;
	int ret;

	if (event_begin(&event, ctx->sdev, SIMPLER_NL_CMD_BAN_EVENT))
		return;
	ret = nla_put_u32(event.skb, SIMPLER_NL_ATTR_CONTEXT_ID, ctx->id) ?:
	      nla_put_u32(event.skb, SIMPLER_NL_ATTR_PID, ctx->pid) ?:
	      nla_put_u32(event.skb, SIMPLER_NL_ATTR_FAULT_CODE, ctx->fault.code) ?:
	      put_u64(event.skb, SIMPLER_NL_ATTR_FAULT_ADDRESS, ctx->fault.address);
	event_end(&event, GROUP_HEALTH, ret);
}

void simpler_netlink_reset(struct simpler_device *sdev, int result)
{
	struct event event;
	int ret;

	if (event_begin(&event, sdev, SIMPLER_NL_CMD_RESET_EVENT))
		return;
	ret = put_resets(event.skb, sdev) ?:
	      nla_put_s32(event.skb, SIMPLER_NL_ATTR_RESULT, result) ?:
	      nla_put_string(event.skb, SIMPLER_NL_ATTR_REASON, sdev->reset_reason);
	event_end(&event, GROUP_RESET, ret);
}

void simpler_netlink_memory(struct simpler_device *sdev)
{
	struct event event;
	int ret;

	if (event_begin(&event, sdev, SIMPLER_NL_CMD_MEMORY_EVENT))
		return;
	ret = put_memory(event.skb, sdev) ?:
	      nla_put_u8(event.skb, SIMPLER_NL_ATTR_PRESSURE, READ_ONCE(sdev->mem.pressure));
	event_end(&event, GROUP_MEMORY, ret);
}

void simpler_netlink_hotplug(struct simpler_device *sdev, bool added)
{
	u8 command = added ? SIMPLER_NL_CMD_ADD_EVENT : SIMPLER_NL_CMD_REMOVE_EVENT;
	struct event event;

	if (!event_begin(&event, sdev, command))
		event_end(&event, GROUP_HOTPLUG,
			  nla_put_u32(event.skb, SIMPLER_NL_ATTR_ARCH, sdev->arch));
}

/* ---- dumps -------------------------------------------------------------------- */

/*
 * Each dump counts its messages and goes on, in the next call, with the one that did
 * not fit; what changes in between may be seen twice or not at all.
 */
struct dump {
	struct sk_buff *skb;
	struct netlink_callback *callback;
	long next;		/* message to be sent */
	long index;		/* message looked at */
};

typedef int (*fill_fn)(struct sk_buff *skb, struct simpler_device *sdev, void *arg);

static int dump_one(struct dump *dump, u8 command, struct simpler_device *sdev, fill_fn fill,
		    void *arg)
{
	void *header;

	if (dump->index++ < dump->next)
		return 0;
	header = genlmsg_put(dump->skb, NETLINK_CB(dump->callback->skb).portid,
			     dump->callback->nlh->nlmsg_seq, &family, NLM_F_MULTI, command);
	if (!header)
		return -EMSGSIZE;
	if (put_name_of(dump->skb, sdev) || fill(dump->skb, sdev, arg)) {
		genlmsg_cancel(dump->skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(dump->skb, header);
	dump->next++;
	return 0;
}

static int dump_devices(struct sk_buff *skb, struct netlink_callback *callback,
			int (*device)(struct dump *dump, struct simpler_device *sdev))
{
	struct dump dump = { .skb = skb, .callback = callback, .next = callback->args[0] };
	struct simpler_device *sdev;

	mutex_lock(&simpler_devices_lock);
	list_for_each_entry(sdev, &simpler_devices, link)
		if (device(&dump, sdev))
			break;
	mutex_unlock(&simpler_devices_lock);
	callback->args[0] = dump.next;
	return skb->len;
}

static int fill_device(struct sk_buff *skb, struct simpler_device *sdev, void *arg)
{
	return nla_put_u32(skb, SIMPLER_NL_ATTR_ARCH, sdev->arch) ?:
	       put_health(skb, sdev) ?: put_resets(skb, sdev) ?: put_memory(skb, sdev);
}

static int dump_device(struct dump *dump, struct simpler_device *sdev)
{
	return dump_one(dump, SIMPLER_NL_CMD_DEVICE_GET, sdev, fill_device, NULL);
}

static int device_get_dump(struct sk_buff *skb, struct netlink_callback *callback)
{
	return dump_devices(skb, callback, dump_device);
}

static int fill_context(struct sk_buff *skb, struct simpler_device *sdev, void *arg)
{
	struct simpler_ctx *ctx = arg;

	return nla_put_u32(skb, SIMPLER_NL_ATTR_CONTEXT_ID, ctx->id) ?:
	       nla_put_u32(skb, SIMPLER_NL_ATTR_CONTEXT_STATE, READ_ONCE(ctx->state)) ?:
	       nla_put_u32(skb, SIMPLER_NL_ATTR_PID, ctx->pid) ?:
	       nla_put_u32(skb, SIMPLER_NL_ATTR_STREAMS, atomic_read(&ctx->stream_count)) ?:
	       put_u64(skb, SIMPLER_NL_ATTR_MEMORY_USED, simpler_ctx_bytes(ctx)) ?:
	       put_u64(skb, SIMPLER_NL_ATTR_PINNED, atomic64_read(&ctx->pinned_bytes));
}

static int dump_contexts(struct dump *dump, struct simpler_device *sdev)
{
	struct simpler_ctx *ctx;
	int ret = 0;

	mutex_lock(&sdev->contexts_lock);
	list_for_each_entry(ctx, &sdev->contexts, link) {
		ret = dump_one(dump, SIMPLER_NL_CMD_CONTEXT_GET, sdev, fill_context, ctx);
		if (ret)
			break;
	}
	mutex_unlock(&sdev->contexts_lock);
	return ret;
}

static int context_get_dump(struct sk_buff *skb, struct netlink_callback *callback)
{
	return dump_devices(skb, callback, dump_contexts);
}

static int fill_counter(struct sk_buff *skb, struct simpler_device *sdev, void *arg)
{
	enum simpler_counter counter = *(enum simpler_counter *)arg;

	return nla_put_u32(skb, SIMPLER_NL_ATTR_COUNTER_ID, counter) ?:
	       nla_put_string(skb, SIMPLER_NL_ATTR_COUNTER_NAME, simpler_counter_name(counter)) ?:
	       put_u64(skb, SIMPLER_NL_ATTR_COUNTER_VALUE, simpler_counter_read(sdev, counter));
}

static int dump_counters(struct dump *dump, struct simpler_device *sdev)
{
	enum simpler_counter counter;
	int ret = 0;

	for (counter = 0; counter < SIMPLER_COUNTERS && !ret; counter++)
		ret = dump_one(dump, SIMPLER_NL_CMD_COUNTER_GET, sdev, fill_counter, &counter);
	return ret;
}

static int counter_get_dump(struct sk_buff *skb, struct netlink_callback *callback)
{
	return dump_devices(skb, callback, dump_counters);
}

static int clear_counter(u32 device, u32 counter)
{
	struct simpler_device *sdev;
	int ret = -ENODEV;

	mutex_lock(&simpler_devices_lock);
	list_for_each_entry(sdev, &simpler_devices, link) {
		if (device_id(sdev) != device)
			continue;
		simpler_counter_clear(sdev, counter);
		ret = 0;
		break;
	}
	mutex_unlock(&simpler_devices_lock);
	return ret;
}

static int counter_clear_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 counter;

	if (GENL_REQ_ATTR_CHECK(info, SIMPLER_NL_ATTR_DEVICE_ID) ||
	    GENL_REQ_ATTR_CHECK(info, SIMPLER_NL_ATTR_COUNTER_ID))
		return -EINVAL;
	counter = nla_get_u32(info->attrs[SIMPLER_NL_ATTR_COUNTER_ID]);
	if (counter >= SIMPLER_COUNTERS) {
		NL_SET_BAD_ATTR(info->extack, info->attrs[SIMPLER_NL_ATTR_COUNTER_ID]);
		return -EINVAL;
	}
	return clear_counter(nla_get_u32(info->attrs[SIMPLER_NL_ATTR_DEVICE_ID]), counter);
}

static const struct nla_policy clear_policy[] = {
	[SIMPLER_NL_ATTR_DEVICE_ID] = { .type = NLA_U32 },
	[SIMPLER_NL_ATTR_COUNTER_ID] = { .type = NLA_U32 },
};

static const struct genl_split_ops operations[] = {
	{
		.cmd = SIMPLER_NL_CMD_DEVICE_GET,
		.dumpit = device_get_dump,
		.flags = GENL_CMD_CAP_DUMP,
	}, {
		.cmd = SIMPLER_NL_CMD_CONTEXT_GET,
		.dumpit = context_get_dump,
		.flags = GENL_CMD_CAP_DUMP | GENL_ADMIN_PERM,
	}, {
		.cmd = SIMPLER_NL_CMD_COUNTER_GET,
		.dumpit = counter_get_dump,
		.flags = GENL_CMD_CAP_DUMP,
	}, {
		.cmd = SIMPLER_NL_CMD_COUNTER_CLEAR,
		.doit = counter_clear_doit,
		.policy = clear_policy,
		.maxattr = ARRAY_SIZE(clear_policy) - 1,
		.flags = GENL_CMD_CAP_DO | GENL_ADMIN_PERM,
	},
};

static struct genl_family family __ro_after_init = {
	.name = SIMPLER_NL_FAMILY,
	.version = SIMPLER_NL_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,
	.split_ops = operations,
	.n_split_ops = ARRAY_SIZE(operations),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int simpler_netlink_init(void)
{
	return genl_register_family(&family);
}

void simpler_netlink_fini(void)
{
	genl_unregister_family(&family);
}
