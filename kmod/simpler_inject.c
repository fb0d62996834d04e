// SPDX-License-Identifier: GPL-2.0-only
#include <linux/debugfs.h>
#include <linux/fault-inject.h>

#include "simpler_inject.h"

static const char * const names[SIMPLER_FAIL_POINTS] = {
	[SIMPLER_FAIL_MEMORY] = "fail_memory",
	[SIMPLER_FAIL_TABLE] = "fail_table",
	[SIMPLER_FAIL_ADMIN] = "fail_admin",
	[SIMPLER_FAIL_SUBMIT] = "fail_submit",
};

static struct fault_attr attributes[SIMPLER_FAIL_POINTS] = {
	[0 ... SIMPLER_FAIL_POINTS - 1] = FAULT_ATTR_INITIALIZER,
};

bool simpler_inject(enum simpler_fail point)
{
	return should_fail(&attributes[point], 1);
}

void simpler_inject_debugfs(struct dentry *root)
{
	int i;

	for (i = 0; i < SIMPLER_FAIL_POINTS; i++)
		fault_create_debugfs_attr(names[i], root, &attributes[i]);
}
