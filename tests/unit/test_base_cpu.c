/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cpu.h"

/* Seam: a machine whose mask is large, or whose mask cannot be read. */
static size_t mask_bytes_wanted;

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	if (bytes < mask_bytes_wanted) {
		errno = EINVAL;
		return -1;
	}
	CPU_ZERO_S(bytes, set);
	return syscall(SYS_sched_getaffinity, pid, bytes, set) < 0 ? -1 : 0;
}

static void affinity_is_counted_and_not_the_machine(void **state)
{
	cpu_set_t before, one;
	int cpu;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(cpu_count(), CPU_COUNT(&before));
	for (cpu = 0; !CPU_ISSET(cpu, &before); cpu++)
		;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(cpu_count(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void large_masks_are_read_whole(void **state)
{
	unsigned int usual = cpu_count();

	(void)state;
	mask_bytes_wanted = 1024;
	assert_int_equal(cpu_count(), usual);
	mask_bytes_wanted = 0;
}

static void unreadable_mask_falls_back_to_the_online_cpus(void **state)
{
	(void)state;
	mask_bytes_wanted = SIZE_MAX;
	assert_int_equal(cpu_count(), sysconf(_SC_NPROCESSORS_ONLN));
	mask_bytes_wanted = 0;
	cpu_relax();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(affinity_is_counted_and_not_the_machine),
		cmocka_unit_test(large_masks_are_read_whole),
		cmocka_unit_test(unreadable_mask_falls_back_to_the_online_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
