/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "rts/transport.h"

static const struct rts_platform rts_platforms[] = {
	{ "a2a3", "a2a3", SIMPLER_HW_ARCH_A2A3, false, &rts_accel, 4 },
	{ "a2a3sim", "a2a3", SIMPLER_HW_ARCH_A2A3, true, &rts_inproc, 4 },
	{ "a5", "a5", SIMPLER_HW_ARCH_A5, false, &rts_accel, 5 },
	{ "a5sim", "a5", SIMPLER_HW_ARCH_A5, true, &rts_inproc, 5 },
};

const struct rts_platform *rts_platform_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(rts_platforms) / sizeof(rts_platforms[0]); i++)
		if (!strcmp(rts_platforms[i].name, name))
			return &rts_platforms[i];
	return NULL;
}
