/* SPDX-License-Identifier: MIT */
#ifndef SIMPLER_BASE_CPU_H
#define SIMPLER_BASE_CPU_H

/**
 * cpu_count() - how many CPUs the calling thread may run on (its affinity, so containers and
 * taskset count)
 *
 * Return: at least 1.
 */
unsigned int cpu_count(void);

/* Inside spin loops: tells the CPU that this is one. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#define CPU_CACHE_LINE	64

#endif
