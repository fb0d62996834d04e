/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/cpu.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#define CPU_MASK_MAX	(1 << 16)

/* -1: the kernel's mask is larger than @cpus bits (EINVAL), or memory is short. */
static int cpu_count_in(int cpus)
{
	cpu_set_t *set = CPU_ALLOC(cpus);
	size_t bytes = CPU_ALLOC_SIZE(cpus);
	int count = -1;

	if (!set)
		return -1;
	if (!sched_getaffinity(0, bytes, set))
		count = CPU_COUNT_S(bytes, set);
	CPU_FREE(set);
	return count;
}

unsigned int cpu_count(void)
{
	int cpus, count;

	for (cpus = 1024; cpus <= CPU_MASK_MAX; cpus *= 2) {
		count = cpu_count_in(cpus);
		if (count > 0)
			return (unsigned int)count;
	}
	count = (int)sysconf(_SC_NPROCESSORS_ONLN);
	return count > 0 ? (unsigned int)count : 1;
}
