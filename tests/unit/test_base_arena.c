/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/sanitize.h"

static void allocations_are_aligned_and_do_not_overlap(void **state)
{
	struct arena a;
	unsigned char *p[64];
	size_t i, j, align;

	(void)state;
	arena_init(&a, 256, 0);
	for (i = 0; i < 64; i++) {
		align = (size_t)1 << (i % 8);
		p[i] = arena_alloc(&a, i, align);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % align, 0);
		memset(p[i], (int)i, i);
	}
	for (i = 0; i < 64; i++)
		for (j = 0; j < i; j++)
			assert_int_equal(p[i][j], i);
	arena_fini(&a);
}

static void request_above_the_chunk_size_gets_its_own_chunk(void **state)
{
	struct arena a;
	char *large;

	(void)state;
	arena_init(&a, 128, 0);
	large = arena_alloc(&a, 100000, 64);
	assert_non_null(large);
	memset(large, 1, 100000);
	assert_int_equal((uintptr_t)large % 64, 0);
	arena_fini(&a);
}

static void sizes_that_overflow_are_refused(void **state)
{
	volatile size_t huge = SIZE_MAX;
	struct arena a;

	(void)state;
	arena_init(&a, 0, 0);
	assert_null(arena_alloc(&a, huge, 16));
	assert_null(arena_alloc(&a, huge - 16, 1));
	assert_null(arena_zalloc(&a, huge / 2, 3));
	assert_null(arena_memdup(&a, "", huge - 40));
	assert_non_null(arena_alloc(&a, 1, 1));
	arena_fini(&a);
}

static void memory_that_is_short_gives_null_and_harms_nothing(void **state)
{
	volatile size_t huge = SIZE_MAX / 4;
	struct arena a;
	char *before, *after;

	(void)state;
	if (SANITIZE_ADDRESS || SANITIZE_THREAD) /* they abort on sizes that malloc() refuses */
		skip();
	arena_init(&a, 64, 0);
	before = arena_strdup(&a, "before");
	assert_null(arena_alloc(&a, huge, 8));
	assert_null(arena_zalloc(&a, huge, 1));
	after = arena_strdup(&a, "after");
	assert_string_equal(before, "before");
	assert_string_equal(after, "after");
	arena_fini(&a);
}

static void reset_keeps_chunks_up_to_the_bound(void **state)
{
	struct arena a;
	void *first;
	int i;

	(void)state;
	arena_init(&a, 1024, 2048);
	first = arena_alloc(&a, 1000, 1);
	for (i = 0; i < 9; i++)
		assert_non_null(arena_alloc(&a, 1000, 1));
	arena_reset(&a);
	assert_in_range(a.spare_bytes, 1024, 2048);
	assert_null(a.used);
	assert_non_null(first);
	for (i = 0; i < 2; i++)
		assert_non_null(arena_alloc(&a, 1000, 1));
	assert_int_equal(a.spare_bytes, 0);
	arena_fini(&a);
	assert_null(a.used);
	assert_null(a.spare);
	assert_non_null(arena_alloc(&a, 1, 1));
	arena_fini(&a);
}

static void arena_without_bound_frees_everything_at_reset(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a, 0, 0);
	assert_non_null(arena_alloc(&a, 10, 1));
	arena_reset(&a);
	assert_null(a.spare);
	assert_null(a.used);
	arena_fini(&a);
}

static void pool_keeps_chunks_of_an_ended_arena_for_the_next_one(void **state)
{
	struct arena_pool pool = ARENA_POOL(3000);
	struct arena a, b;
	int i;

	(void)state;
	arena_init(&a, 1024, 0);
	a.pool = &pool;
	for (i = 0; i < 5; i++)
		assert_non_null(arena_alloc(&a, 1000, 1));
	arena_fini(&a);
	assert_null(a.used);
	assert_null(a.spare);
	assert_in_range(pool.spare_bytes, 2048, 3000);

	arena_init(&b, 1024, 0);
	b.pool = &pool;
	assert_non_null(arena_alloc(&b, 5000, 1)); /* larger than any of them */
	assert_in_range(pool.spare_bytes, 2048, 3000);
	assert_non_null(arena_alloc(&b, 1000, 1));
	assert_in_range(pool.spare_bytes, 1024, 2047);
	arena_fini(&b);
	assert_in_range(pool.spare_bytes, 2048, 3000);
	arena_pool_drain(&pool);
	assert_null(pool.spare);
	assert_int_equal(pool.spare_bytes, 0);
}

static void chunks_of_a_growing_arena_become_larger_up_to_a_huge_page(void **state)
{
	const size_t huge_page = (size_t)2 << 20;
	struct arena_pool pool = ARENA_POOL(64 << 20);
	struct arena a, small;
	size_t bytes, last = 0, n_huge = 0;
	int i, n_chunks = 0;
	char *p, *end = NULL;

	(void)state;
	arena_init(&a, 1024, 0);
	a.pool = &pool;
	a.grows = true;
	for (i = 0; i < 10000; i++) {
		p = arena_alloc(&a, 1000, 1);
		assert_non_null(p);
		memset(p, i, 1000);
		if (a.end == end)
			continue;
		end = a.end;
		n_chunks++;
		bytes = (size_t)(a.end - p);
		assert_true(bytes > 3 * last || bytes > huge_page - 64);
		assert_true(bytes <= huge_page);
		n_huge += bytes > huge_page - 64;
		last = bytes;
	}
	assert_int_equal(n_huge, 5);
	assert_in_range(n_chunks, 8, 12);
	arena_fini(&a);
	assert_true(pool.spare_bytes > 10000 * 1000);

	arena_init(&small, 1024, 0);
	small.pool = &pool;
	small.grows = true;
	assert_non_null(arena_alloc(&small, 8, 8)); /* leaves the large ones to arenas that fill them */
	assert_int_equal(small.end - small.cur, 1024 - 8);
	arena_fini(&small);
	arena_pool_drain(&pool);
}

static void *use_the_pool(void *pool)
{
	struct arena a;
	int i, j;

	for (i = 0; i < 200; i++) {
		arena_init(&a, 256, 0);
		a.pool = pool;
		for (j = 0; j < 10; j++)
			memset(arena_alloc(&a, 200, 8), j, 200);
		arena_fini(&a);
	}
	return NULL;
}

static void threads_share_a_pool(void **state)
{
	struct arena_pool pool = ARENA_POOL(4096);
	pthread_t threads[4];
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_the_pool, &pool), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_in_range(pool.spare_bytes, 256, 4096);
	arena_pool_drain(&pool);
}

static void reused_memory_is_zeroed_on_request(void **state)
{
	struct arena a;
	unsigned char *p;
	int i;

	(void)state;
	arena_init(&a, 512, 4096);
	p = arena_alloc(&a, 256, 1);
	memset(p, 0xff, 256);
	arena_reset(&a);
	p = arena_zalloc(&a, 16, 16);
	for (i = 0; i < 256; i++)
		assert_int_equal(p[i], 0);
	assert_int_equal((uintptr_t)arena_new(&a, long double) % _Alignof(max_align_t), 0);
	arena_fini(&a);
}

static void strings_and_blocks_are_copied(void **state)
{
	struct arena a;
	int values[3] = { 1, 2, 3 };
	int *copy;

	(void)state;
	arena_init(&a, 32, 0);
	assert_string_equal(arena_strdup(&a, "a string longer than the chunk of this arena"),
			    "a string longer than the chunk of this arena");
	assert_string_equal(arena_printf(&a, "%s-%d", "part", 12), "part-12");
	assert_string_equal(arena_printf(&a, "%s", ""), "");
	copy = arena_memdup(&a, values, sizeof(values));
	values[1] = 9;
	assert_int_equal(copy[1], 2);
	assert_non_null(arena_memdup(&a, NULL, 0));
	arena_fini(&a);
}

static void memory_after_reset_is_poisoned_for_the_sanitizer(void **state)
{
	struct arena a;
	char *p;

	(void)state;
	arena_init(&a, 4096, 4096);
	p = arena_alloc(&a, 64, 16);
#if SANITIZE_ADDRESS
	assert_null(__asan_region_is_poisoned(p, 64));
	assert_ptr_equal(__asan_region_is_poisoned(p, 65), p + 64);
	arena_reset(&a);
	assert_ptr_equal(__asan_region_is_poisoned(p, 64), p);
#else
	assert_non_null(p);
#endif
	arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocations_are_aligned_and_do_not_overlap),
		cmocka_unit_test(request_above_the_chunk_size_gets_its_own_chunk),
		cmocka_unit_test(sizes_that_overflow_are_refused),
		cmocka_unit_test(memory_that_is_short_gives_null_and_harms_nothing),
		cmocka_unit_test(reset_keeps_chunks_up_to_the_bound),
		cmocka_unit_test(arena_without_bound_frees_everything_at_reset),
		cmocka_unit_test(pool_keeps_chunks_of_an_ended_arena_for_the_next_one),
		cmocka_unit_test(chunks_of_a_growing_arena_become_larger_up_to_a_huge_page),
		cmocka_unit_test(threads_share_a_pool),
		cmocka_unit_test(reused_memory_is_zeroed_on_request),
		cmocka_unit_test(strings_and_blocks_are_copied),
		cmocka_unit_test(memory_after_reset_is_poisoned_for_the_sanitizer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
