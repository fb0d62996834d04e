/* SPDX-License-Identifier: GPL-2.0-only */
/* Events for listeners of the netlink family. None of these waits; any context but an interrupt. */
#ifndef SIMPLER_NOTIFY_H
#define SIMPLER_NOTIFY_H

#include <linux/types.h>

struct simpler_ctx;
struct simpler_device;

int simpler_netlink_init(void);
void simpler_netlink_fini(void);

void simpler_netlink_health(struct simpler_device *sdev);
void simpler_netlink_ban(struct simpler_ctx *ctx);
void simpler_netlink_reset(struct simpler_device *sdev, int result);
void simpler_netlink_memory(struct simpler_device *sdev);
void simpler_netlink_hotplug(struct simpler_device *sdev, bool added);

#endif /* SIMPLER_NOTIFY_H */
