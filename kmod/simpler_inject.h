/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Named failure points, set through debugfs (fail_memory, ...) with the attributes of
 * Documentation/fault-injection; nothing without CONFIG_FAULT_INJECTION_DEBUG_FS.
 */
#ifndef SIMPLER_INJECT_H
#define SIMPLER_INJECT_H

#include <linux/types.h>

struct dentry;

enum simpler_fail {
	SIMPLER_FAIL_MEMORY,	/* no device memory: -ENOSPC */
	SIMPLER_FAIL_TABLE,	/* no page table: -ENOMEM */
	SIMPLER_FAIL_ADMIN,	/* the device refuses an admin command: -EINVAL */
	SIMPLER_FAIL_SUBMIT,	/* SUBMIT: -EAGAIN, before anything was published */
	SIMPLER_FAIL_POINTS,
};

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
bool simpler_inject(enum simpler_fail point);
void simpler_inject_debugfs(struct dentry *root);
#else
static inline bool simpler_inject(enum simpler_fail point)
{
	return false;
}

static inline void simpler_inject_debugfs(struct dentry *root)
{
}
#endif

#endif /* SIMPLER_INJECT_H */
