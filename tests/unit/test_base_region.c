/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/region.h"
#include "base/sanitize.h"

#define MANY	(REGION_GUARDED_MAX + 2000u)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* What /proc/self/maps says about the page of @addr, e.g. "rw-p"; "" when it is not mapped. */
static const char *access_of(const void *addr)
{
	static char access[8];
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long low, high;
	char line[512];

	assert_non_null(f);
	access[0] = '\0';
	while (fgets(line, sizeof(line), f)) {
		char found[8];

		if (sscanf(line, "%lx-%lx %7s", &low, &high, found) == 3 &&
		    (uintptr_t)addr >= low && (uintptr_t)addr < high)
			memcpy(access, found, sizeof(access));
	}
	fclose(f);
	return access;
}

static void expect_guarded(const char *p, size_t bytes)
{
	uintptr_t page = page_bytes(), low = (uintptr_t)p & ~(page - 1);
	uintptr_t high = ((uintptr_t)p + bytes + page - 1) & ~(page - 1);

	assert_string_equal(access_of(p), "rw-p");
	assert_string_equal(access_of(p + bytes - 1), "rw-p");
	assert_string_equal(access_of((void *)(low - 1)), "---p");
	assert_string_equal(access_of((void *)(low - REGION_GUARD_BYTES)), "---p");
	assert_string_equal(access_of((void *)high), "---p");
	assert_string_equal(access_of((void *)(high + REGION_GUARD_BYTES - 1)), "---p");
}

static void a_region_is_zeroed_aligned_and_between_guards(void **state)
{
	static const size_t sizes[] = { 1, 100, 1024, 4095, 4096, 4097, 5 << 10, 1 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *p = region_map(sizes[i], 1024);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 1024, 0);
		for (size_t b = 0; b < sizes[i]; b++)
			assert_int_equal(p[b], 0);
		memset(p, 0x5a, sizes[i]);
		expect_guarded(p, sizes[i]);
		region_unmap(p, sizes[i]);
		assert_string_not_equal(access_of(p), "rw-p");
	}
}

static void a_multiple_of_the_alignment_ends_at_the_guard(void **state)
{
	char *p = region_map(3 << 10, 1024);

	(void)state;
	assert_int_equal(((uintptr_t)p + (3 << 10)) % page_bytes(), 0);
	assert_string_equal(access_of(p + (3 << 10)), "---p");
	region_unmap(p, 3 << 10);
}

static void more_regions_than_have_guards_work_alike(void **state)
{
	unsigned int i;
	char **p;

	(void)state;
	if (SANITIZE_THREAD)
		skip();	/* TSan has a mapping of its own for each of ours, and ends the process */
	p = calloc(MANY, sizeof(*p));
	assert_non_null(p);
	for (i = 0; i < MANY; i++) {
		p[i] = region_map(1024, 1024);
		assert_non_null(p[i]);
		assert_int_equal(p[i][1023], 0);
		p[i][0] = (char)i;
	}
	expect_guarded(p[REGION_GUARDED_MAX - 1], 1024);
	assert_string_equal(access_of(p[MANY - 1] + 1024), "rw-p");
	for (i = 0; i < MANY; i += 2)
		region_unmap(p[i], 1024);
	for (i = 1; i < MANY; i += 2) {
		assert_int_equal(p[i][0], (char)i);
		region_unmap(p[i], 1024);
	}
	free(p);
	p = region_map(1024, 1024);
	expect_guarded((char *)p, 1024);
	region_unmap(p, 1024);
}

static void sizes_beyond_the_address_space_are_refused(void **state)
{
	(void)state;
	assert_null(region_map(SIZE_MAX, 1024));
	assert_null(region_map(PTRDIFF_MAX, 1024));
	assert_null(region_map((size_t)1 << 50, 1024));
	region_unmap(NULL, 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_region_is_zeroed_aligned_and_between_guards),
		cmocka_unit_test(a_multiple_of_the_alignment_ends_at_the_guard),
		cmocka_unit_test(more_regions_than_have_guards_work_alike),
		cmocka_unit_test(sizes_beyond_the_address_space_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
