// SPDX-License-Identifier: MIT
/* Blocks, MIX tasks, cohorts, predicates, early resolve and cluster groups (chip-runtime §5, §13; cases 41 to 48). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chip_script.h"
#include "simpler/error.h"

#define WORDS	65536
#define CLUSTERS 8

/* The numbers of orch/blocks.cpp. */
enum {
	WIDTHS, BLOCKS, COHORT_AMONG_OTHERS, PREDICATE, NULL_PREDICATES, EARLY, MANY_EARLY, GROUP,
	GROUPS_IN_TURN, USE_AFTER_RELEASE, CONNECTED, GROUP_BEHIND_A_FULL_WINDOW, PINNED_COHORT, MEETING,
	APART, TWO_PRODUCERS
};
enum { AIC, AIV, MIX, AIC_AIV1, AIV_PAIR, AIC_AIV0, LONE_AIV1 };
enum { FLOAT32 = 0, INT32 = 2, INT16 = 3, INT8 = 4, UINT8 = 5, INT64 = 7, UINT16 = 9 };

/* What a block tells (kernels/where.cpp). */
struct row {
	int32_t calls, block_num, cluster, sub_block, core, start, end, unused;
};

static struct chip_fixture f;
static int32_t words[WORDS];
static struct row *const rows = (struct row *)(words + 16);
static float x[64], y[64];
static uint64_t gate[8];

static int setup(void **state)
{
	(void)state;
	fixture_open_variant(&f, FIXTURE_WATCHDOG_MS);
	fixture_load(&f, "blocks",
		     "where,set_word,set_behind,copy,group_push,group_pop,meet,group_push_more");
	fixture_tensor(&f, 0, words, INT32, 4, WORDS);
	fixture_tensor(&f, 1, x, FLOAT32, 4, 64);
	fixture_tensor(&f, 2, gate, UINT8, 1, sizeof(gate));
	fixture_tensor(&f, 3, y, FLOAT32, 4, 64);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_close(&f);
	return 0;
}

static int run(uint64_t what, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	memset(words, 0, sizeof(words));
	return fixture_run(&f, 6, what, a, b, c, d, e);
}

static void ok(uint64_t what, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	if (run(what, a, b, c, d, e))
		fail_msg("case %d (%d, %d, %d): %s", (int)what, (int)a, (int)b, (int)c, f.status.text);
}

static void refused(int code, const char *part, uint64_t what, uint64_t a, uint64_t b, uint64_t c)
{
	run(what, a, b, c, 0, 0);
	fixture_expect(&f, code, part);
	ok(BLOCKS, AIV, 3, 0, 0, 0);
}

/* ---- control threads ---- */

static void chip_case_41_control_threads_are_2_to_the_architectures_maximum(void **state)
{
	uint32_t most = chip_variant.arch == SIMPLER_HW_ARCH_A5 ? 5 : 4;
	char text[64];

	(void)state;
	snprintf(text, sizeof(text), "must be 0 (auto) or in range [2, %u]", most);
	for (uint32_t n = 0; n < 8; n++) {
		f.launch.control_threads = n;
		run(BLOCKS, AIV, 16, 1, 0, 0);
		if (n == 1 || n > most)
			fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, text);
		else	/* the cohort needs every vector core, whoever schedules them */
			assert_int_equal(f.status.code, 0);
	}
	f.launch.control_threads = 0;
	ok(BLOCKS, MIX, 8, 1, 0, 0);
}

/* ---- blocks and MIX ---- */

static const uint8_t places[] = {
	[AIC] = 1, [AIV] = 6, [MIX] = 7, [AIC_AIV1] = 5, [AIV_PAIR] = 6, [AIC_AIV0] = 3, [LONE_AIV1] = 6,
};

static bool runs_anywhere(int shape)
{
	return shape == AIV || shape == LONE_AIV1;
}

/* One block: every kernel of it once, together on one cluster; a lone AIV kernel on either lane. */
static void check_block(int shape, const struct row *block, int count)
{
	int calls = 0, cluster = -1;

	for (int place = 0; place < 3; place++) {
		const struct row *r = &block[place];

		if (!r->calls)
			continue;
		assert_true(places[shape] >> place & 1);
		calls += r->calls;
		assert_int_equal(r->block_num, count);
		assert_in_range(r->cluster, 0, CLUSTERS - 1);
		assert_int_equal(r->core, place == 0 ? r->cluster : CLUSTERS + 2 * r->cluster + place - 1);
		assert_int_equal(r->sub_block, place == 2 && !runs_anywhere(shape));
		if (cluster >= 0)
			assert_int_equal(r->cluster, cluster);
		cluster = r->cluster;
	}
	assert_int_equal(calls, runs_anywhere(shape) ? 1 : __builtin_popcount(places[shape]));
}

static void check_blocks(int shape, int count, bool together)
{
	ok(BLOCKS, (uint64_t)shape, (uint64_t)count, together, 0, 0);
	for (int block = 0; block < count; block++)
		check_block(shape, &rows[3 * block], count);
	for (int place = 0; place < 3; place++)
		assert_int_equal(rows[3 * count + place].calls, 0);
}

static void chip_case_42_widths_are_8_clusters_and_16_vector_cores(void **state)
{
	(void)state;
	ok(WIDTHS, 0, 0, 0, 0, 0);
	assert_int_equal(words[16], 8);
	assert_int_equal(words[17], 16);
}

static void chip_case_42_a_cohort_may_have_as_many_blocks_as_there_are_places(void **state)
{
	(void)state;
	for (int shape = AIC; shape <= LONE_AIV1; shape++) {
		int most = runs_anywhere(shape) ? 16 : 8;
		char text[80];

		for (int n = 1; n <= most; n++)
			check_blocks(shape, n, true);
		snprintf(text, sizeof(text), "require_sync_start block_num=%d > limit=%d (deadlock guaranteed)",
			 most + 1, most);
		refused(SIMPLER_RUN_REQUIRE_SYNC_START_INVALID, text, BLOCKS, (uint64_t)shape,
			(uint64_t)most + 1, 1);
	}
}

static void chip_case_42_a_cohort_starts_with_nothing_in_between(void **state)
{
	int first = 1 << 30, last = 0;

	(void)state;
	ok(COHORT_AMONG_OTHERS, 0, 0, 0, 0, 0);
	for (int block = 0; block < 16; block++) {
		check_block(AIV, &rows[90 + 3 * block], 16);
		for (int place = 1; place < 3; place++)
			if (rows[90 + 3 * block + place].calls) {
				int start = rows[90 + 3 * block + place].start;

				first = start < first ? start : first;
				last = start > last ? start : last;
			}
	}
	/* each block ticks twice; where threads overlap, the order of ticks says nothing */
	if (chip_variant.threads == 1)
		assert_int_equal(last - first, 2 * 15);
}

/* Whatever the number of threads: blocks that start together may wait for each other in memory. */
static void blocks_of_a_cohort_may_meet_in_memory(void **state)
{
	static const struct { uint64_t mix, blocks, turns; } meetings[] = {
		{ 0, 2, 1 }, { 0, 16, 1 }, { 1, 8, 1 }, { 0, 3, 5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(meetings) / sizeof(meetings[0]); i++) {
		uint64_t kernels = meetings[i].blocks * (meetings[i].mix ? 3 : 1);

		ok(MEETING, meetings[i].mix, meetings[i].blocks, meetings[i].turns, 0, 0);
		assert_int_equal(words[1], kernels * meetings[i].turns);
	}
	ok(BLOCKS, MIX, 8, 1, 0, 0);
}

static void chip_case_43_a_hundred_blocks_run_exactly_once(void **state)
{
	(void)state;
	check_blocks(AIV, 100, false);
	check_blocks(AIC, 100, false);
	check_blocks(AIV, 2500, false);
}

static void chip_case_44_kernels_of_a_mix_block_share_its_cluster(void **state)
{
	(void)state;
	for (int shape = MIX; shape <= LONE_AIV1; shape++) {
		check_blocks(shape, 1, false);
		check_blocks(shape, 8, false);
		check_blocks(shape, 100, false);
	}
}

/* ---- predicates ---- */

static void gated(uint64_t value, int op, int64_t target, int dtype, bool runs)
{
	x[0] = 42;
	y[0] = 0;
	memset(gate, 0x55, sizeof(gate));
	ok(PREDICATE, value, (uint64_t)op, (uint64_t)target, (uint64_t)dtype, 3);
	if (y[0] != (runs ? 999.0f : 42.0f) || x[0] != y[0])
		fail_msg("value %lld operation %d target %lld type %d: x %g, y %g", (long long)value, op,
			 (long long)target, dtype, (double)x[0], (double)y[0]);
}

static void chip_case_45_a_false_predicate_leaves_the_output_alone(void **state)
{
	(void)state;
	gated(0, 3, 0, INT32, false);
	gated(1, 3, 0, INT32, true);
}

static void chip_case_45_every_comparison(void **state)
{
	/* of -1, 0 and 1 with 0: NONE, EQ, NE, GT, LT, GE, LE */
	static const bool runs[7][3] = {
		{ true, true, true }, { false, true, false }, { true, false, true },
		{ false, false, true }, { true, false, false }, { false, true, true },
		{ true, true, false },
	};

	(void)state;
	for (int op = 0; op < 7; op++)
		for (int v = -1; v <= 1; v++)
			gated((uint64_t)(int64_t)v, op, 0, INT32, runs[op][v + 1]);
}

static void chip_case_45_the_operand_has_its_own_width_and_sign(void **state)
{
	(void)state;
	gated(0x80, 1, -128, INT8, true);
	gated(0x8000, 1, INT16_MIN, INT16, true);
	gated(0x80000000, 1, INT32_MIN, INT32, true);
	gated(1ull << 63, 1, INT64_MIN, INT64, true);
	gated(0x7f, 1, 127, UINT8, true);
	gated(0xffff, 1, -1, UINT16, true);
	gated(1ull << 40, 1, 0, INT32, true);	/* only four bytes count */
	gated(1ull << 40, 1, 1ll << 40, INT64, true);
}

static void chip_case_45_a_null_operand_is_no_predicate(void **state)
{
	(void)state;
	for (uint64_t how = 0; how < 2; how++) {
		x[0] = 42;
		ok(NULL_PREDICATES, how, 0, 0, 0, 0);
		assert_true(x[0] == 999.0f);
	}
}

/* ---- dummies and early resolve ---- */

static void chip_case_46_dummies_order_and_use_no_core(void **state)
{
	struct model_counters before, after;

	(void)state;
	script_setup(NULL);
	model_get_counters(script_chip.context, &before);
	script_ok("hold A out:x;"
		  "dummy 26 in:x; dummy 27 in:x; dummy 28 in:x; dummy 29 in:x; dummy 30 in:x; dummy 31 in:x;"
		  "dummy 32 in:x; dummy 33 in:x; dummy 34 in:x; dummy 35 in:x; dummy 36 in:x; dummy 37 in:x;"
		  "dummy 38 in:x; dummy 39 in:x; dummy 40 in:x; dummy 41 in:x; dummy 42 in:x; dummy 43 in:x;"
		  "stamp B dep:26-43; release C");
	script_order("AB");
	script_order("CB");
	model_get_counters(script_chip.context, &after);
	assert_int_equal(after.blocks - before.blocks, 3);
	assert_int_equal(after.tasks - before.tasks, 21);
	script_teardown(NULL);
}

static int last_end(const struct row *r, int blocks)
{
	int last = 0;

	for (int i = 0; i < 3 * blocks; i++)
		last = r[i].end > last ? r[i].end : last;
	return last;
}

/*
 * Cases 47 and 48 set a flag that this chip accepts and ignores: it stages nothing early (see
 * Documentation/decisions.md).  What the flag must never change, the order of starts and one
 * execution of each block, is checked with it and without it.
 */
static void chip_case_47_a_consumer_starts_behind_its_producers_last_block(void **state)
{
	(void)state;
	for (uint64_t flags = 0; flags < 4; flags++) {
		int end;

		ok(EARLY, flags & 1, flags >> 1, 16, 0, 0);
		end = last_end(rows, 16);
		for (int block = 0; block < 16; block++) {
			const struct row *consumer = &rows[96 + 3 * block];

			check_block(AIV, &rows[3 * block], 16);
			check_block(AIV, consumer, 16);
			for (int place = 1; place < 3; place++)
				if (consumer[place].calls) {
					assert_true(consumer[place].start > end);
					assert_true(consumer[place].start > last_end(&rows[48], 1));
				}
		}
	}
}

static void chip_case_48_more_early_candidates_than_a_queue_holds_run_once_each(void **state)
{
	(void)state;
	ok(MANY_EARLY, 600, 0, 0, 0, 0);
	for (int task = 0; task < 1200; task++)
		check_block(AIV, &rows[3 * task], 1);
	for (int pair = 0; pair < 600; pair++)
		assert_true(last_end(&rows[6 * pair], 1) < last_end(&rows[6 * pair + 3], 1));
}

/* ---- cluster groups ---- */

static void group_members_run_on_their_own_clusters(void **state)
{
	(void)state;
	for (int clusters = 1; clusters <= 7; clusters++) {
		uint32_t owned = 0;

		ok(GROUP, (uint64_t)clusters, 4, (uint64_t)clusters, 1, 0);
		for (int block = 0; block < clusters; block++)
			owned |= 1u << rows[3 * block].cluster;
		assert_int_equal(__builtin_popcount(owned), clusters);
		for (int task = 0; task < 4; task++)
			for (int block = 0; block < clusters; block++)
				for (int shape = 0; shape < 2; shape++) {
					const struct row *r = &rows[48 * task + 3 * block + shape];

					/* one of the two vector cores */
					if (shape && !r->calls)
						r++;
					assert_int_equal(r->calls, 1);
					assert_int_equal(r->cluster, rows[3 * block].cluster);
				}
		/* all others elsewhere */
		for (int i = 0; i < 3 * 40; i++)
			if (rows[48 * 4 + i].calls)
				assert_false(owned >> rows[48 * 4 + i].cluster & 1);
	}
}

static void an_allocation_waits_for_the_clusters_of_closed_scopes(void **state)
{
	(void)state;
	for (int clusters = 1; clusters <= 8; clusters++) {
		ok(GROUPS_IN_TURN, 20, (uint64_t)clusters, 0, 0, 0);
		for (int turn = 0; turn < 20; turn++)
			for (int block = 0; block < clusters; block++)
				assert_int_equal(rows[24 * turn + 3 * block].calls, 1);
	}
}

static void an_allocation_that_waited_for_a_slot_looks_again(void **state)
{
	(void)state;
	for (int tasks = 1; tasks <= 6; tasks++)
		for (int clusters = 1; clusters <= 8; clusters++) {
			uint32_t owned = 0;

			f.launch.ring_window[1] = f.launch.ring_window[2] = 4;
			ok(GROUP_BEHIND_A_FULL_WINDOW, (uint64_t)tasks, (uint64_t)clusters, 0, 0, 0);
			f.launch.ring_window[1] = f.launch.ring_window[2] = 0;
			for (int block = 0; block < clusters; block++) {
				const struct row *r = &rows[48 * tasks + 3 * block];

				for (int place = 0; place < 3; place++)
					assert_int_equal(r[place].calls, 1);
				owned |= 1u << r->cluster;
			}
			assert_int_equal(__builtin_popcount(owned), clusters);
		}
}

static void a_cohort_on_allocated_clusters(void **state)
{
	(void)state;
	for (int clusters = 1; clusters <= 8; clusters++) {
		ok(PINNED_COHORT, (uint64_t)clusters, (uint64_t)clusters, 0, 0, 0);
		for (int block = 0; block < clusters; block++)
			assert_int_equal(rows[3 * block + 1].calls + rows[3 * block + 2].calls, 1);
		ok(PINNED_COHORT, (uint64_t)clusters, (uint64_t)clusters, 1, 0, 0);
		for (int block = 0; block < clusters; block++)
			assert_int_equal(rows[3 * block].calls + rows[3 * block + 1].calls, 2);
	}
	ok(PINNED_COHORT, 1, 2, 0, 0, 0);
	refused(SIMPLER_RUN_REQUIRE_SYNC_START_INVALID, "block_num=3 on one allocated cluster",
		PINNED_COHORT, 1, 3, 0);
	refused(SIMPLER_RUN_REQUIRE_SYNC_START_INVALID, "block_num=2 on one allocated cluster",
		PINNED_COHORT, 1, 2, 1);
}

static void group_rules_are_checked(void **state)
{
	(void)state;
	refused(SIMPLER_RUN_INVALID_ARGS, "3 allocated clusters, but a task of 2 blocks; they must be equal",
		GROUP, 3, 1, 2);
	refused(SIMPLER_RUN_INVALID_ARGS, "clusters, must be 1 or more", GROUP, 0, 1, 1);
	refused(SIMPLER_RUN_CLUSTER_DEADLOCK, "9 clusters, the chip has 8", GROUP, 9, 1, 9);
	refused(SIMPLER_RUN_INVALID_ARGS, "connects tasks on different allocations of clusters",
		APART, 0, 0, 0);
	refused(SIMPLER_RUN_INVALID_ARGS, "its clusters were released when their scope ended",
		USE_AFTER_RELEASE, 0, 0, 0);
	/* the plain blocks of the last task have nowhere to go until the scope ends, which it does */
	ok(GROUP, 8, 1, 8, 0, 0);
}

static void tasks_of_a_group_talk_through_a_pipe(void **state)
{
	(void)state;
	for (uint64_t order = 0; order < 2; order++)
		for (uint64_t clusters = 1; clusters <= 8; clusters += 7)
			for (uint64_t pushes = 1; pushes <= 100; pushes += 33) {
				ok(CONNECTED, pushes, clusters, order, 3, 0);
				for (uint64_t block = 0; block < clusters; block++)
					assert_int_equal(words[block], 3 * pushes * (pushes + 1) / 2);
			}
}

static void a_pipe_has_one_producer_at_a_time(void **state)
{
	(void)state;
	ok(TWO_PRODUCERS, 3, 1, 0, 0, 0);
	assert_int_equal(words[0], 2 * (1 + 2 + 3) + (1 + 2 + 3 + 4 + 5 + 6));
	/* cmocka took the signals that end a kernel when the test began; a new chip takes them back */
	teardown(state);
	setup(state);
	refused(SIMPLER_RUN_INVALID_ARGS,
		"kernels group_push and group_push_more both push on lane 0 of the pipe with flag 0",
		TWO_PRODUCERS, 3, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chip_case_41_control_threads_are_2_to_the_architectures_maximum),
		cmocka_unit_test(chip_case_42_widths_are_8_clusters_and_16_vector_cores),
		cmocka_unit_test(chip_case_42_a_cohort_may_have_as_many_blocks_as_there_are_places),
		cmocka_unit_test(chip_case_42_a_cohort_starts_with_nothing_in_between),
		cmocka_unit_test(blocks_of_a_cohort_may_meet_in_memory),
		cmocka_unit_test(chip_case_43_a_hundred_blocks_run_exactly_once),
		cmocka_unit_test(chip_case_44_kernels_of_a_mix_block_share_its_cluster),
		cmocka_unit_test(chip_case_45_a_false_predicate_leaves_the_output_alone),
		cmocka_unit_test(chip_case_45_every_comparison),
		cmocka_unit_test(chip_case_45_the_operand_has_its_own_width_and_sign),
		cmocka_unit_test(chip_case_45_a_null_operand_is_no_predicate),
		cmocka_unit_test(chip_case_46_dummies_order_and_use_no_core),
		cmocka_unit_test(chip_case_47_a_consumer_starts_behind_its_producers_last_block),
		cmocka_unit_test(chip_case_48_more_early_candidates_than_a_queue_holds_run_once_each),
		cmocka_unit_test(group_members_run_on_their_own_clusters),
		cmocka_unit_test(an_allocation_waits_for_the_clusters_of_closed_scopes),
		cmocka_unit_test(group_rules_are_checked),
		cmocka_unit_test(an_allocation_that_waited_for_a_slot_looks_again),
		cmocka_unit_test(a_cohort_on_allocated_clusters),
		cmocka_unit_test(tasks_of_a_group_talk_through_a_pipe),
		cmocka_unit_test(a_pipe_has_one_producer_at_a_time),
	};

	return chip_run_suite("blocks", tests, setup, teardown);
}
