/* SPDX-License-Identifier: MIT */
/* Packing of buffers: what is used at the same time is apart, and little room is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../tools/ptoas/plan.h"

#define ITEMS	60

static uint32_t below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33) % n;
}

static uint32_t random_items(struct plan_item *items, uint64_t seed)
{
	uint32_t n = 1 + below(&seed, ITEMS), i;

	for (i = 0; i < n; i++) {
		items[i].first = below(&seed, 200);
		items[i].last = items[i].first + below(&seed, below(&seed, 4) ? 20 : 150);
		items[i].size = 32 * (1 + (int64_t)below(&seed, below(&seed, 2) ? 16 : 512));
	}
	return n;
}

static void assert_apart(const struct plan_item *items, uint32_t n, int64_t use)
{
	uint32_t i, j;

	for (i = 0; i < n; i++) {
		assert_true(items[i].offset >= 0 && items[i].offset % 32 == 0);
		assert_true(items[i].offset + items[i].size <= use);
		for (j = 0; j < i; j++)
			assert_true(items[i].last < items[j].first ||
				    items[j].last < items[i].first ||
				    items[i].offset + items[i].size <= items[j].offset ||
				    items[j].offset + items[j].size <= items[i].offset);
	}
}

static void random_lifetimes_need_at_most_a_tenth_more_than_the_bound(void **state)
{
	const char *given = getenv("SIMPLER_PTOAS_PROGRAMS");
	unsigned int count = given ? (unsigned int)atoi(given) : 400, k;
	struct plan_item items[ITEMS];
	double sum = 0, most = 0;

	(void)state;
	for (k = 0; k < count; k++) {
		uint32_t n = random_items(items, k);
		int64_t bound = plan_bound(items, n), use = plan_pack(items, n, 32);
		double ratio = (double)use / (double)bound;

		assert_true(use >= bound);
		assert_apart(items, n, use);
		sum += ratio;
		most = ratio > most ? ratio : most;
	}
	print_message("use over lower bound: %.4f on average, %.4f at most\n", sum / count, most);
	assert_true(sum / count <= 1.1);
}

static void buffers_used_one_after_the_other_share_their_bytes(void **state)
{
	struct plan_item items[30];
	unsigned int i;

	(void)state;
	for (i = 0; i < 30; i++)
		items[i] = (struct plan_item){ .size = 8192, .first = 2 * i, .last = 2 * i + 1 };
	assert_int_equal(plan_pack(items, 30, 32), 8192);
	assert_int_equal(items[0].offset, 0);
	assert_int_equal(items[1].offset, 0);
}

static void buffers_in_use_together_fill_the_space_in_order(void **state)
{
	struct plan_item items[24];
	unsigned int i;

	(void)state;
	for (i = 0; i < 24; i++)
		items[i] = (struct plan_item){ .size = 8192, .first = i, .last = 100 };
	assert_int_equal(plan_pack(items, 24, 32), 196608);
	assert_int_equal(items[23].offset, 188416);
}

static void a_buffer_that_ends_where_another_begins_keeps_its_bytes(void **state)
{
	struct plan_item items[2] = {
		{ .size = 64, .first = 0, .last = 5 }, { .size = 64, .first = 5, .last = 9 },
	};

	(void)state;
	assert_int_equal(plan_pack(items, 2, 32), 128);
	assert_int_not_equal(items[0].offset, items[1].offset);
}

static void nothing_to_plan_uses_nothing(void **state)
{
	(void)state;
	assert_int_equal(plan_pack(NULL, 0, 32), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lifetimes_need_at_most_a_tenth_more_than_the_bound),
		cmocka_unit_test(buffers_used_one_after_the_other_share_their_bytes),
		cmocka_unit_test(buffers_in_use_together_fill_the_space_in_order),
		cmocka_unit_test(a_buffer_that_ends_where_another_begins_keeps_its_bytes),
		cmocka_unit_test(nothing_to_plan_uses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
