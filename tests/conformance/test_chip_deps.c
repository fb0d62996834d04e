// SPDX-License-Identifier: MIT
/*
 * Dependence inference on runs (chip-runtime §10, decisions D1, D25; cases 11
 * to 22): which tasks wait for which, in the default mode and in the
 * reference's weaker one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chip_script.h"
#include "simpler/error.h"

#define HUNDRED_THOUSAND "100000"

static void raw_mode(bool on)
{
	script_chip.launch.dep_mode = on ? SIMPLER_HW_DEPS_RAW : SIMPLER_HW_DEPS_SEQUENTIAL;
}

static void rings(uint64_t window, uint64_t heap, uint64_t pool)
{
	for (int r = 0; r < 4; r++) {
		script_chip.launch.ring_window[r] = window;
		script_chip.launch.ring_heap[r] = heap;
		script_chip.launch.ring_dep_pool[r] = pool;
	}
}

/* Every test begins with the default mode and sizes. */
static int defaults(void **state)
{
	(void)state;
	raw_mode(false);
	rings(0, 0, 0);
	return 0;
}

static void pair(bool edge, const char *a_tag, const char *a_view, const char *b_tag,
		 const char *b_view)
{
	char a[64], b[64];

	snprintf(a, sizeof(a), "%s:%s", a_tag, a_view);
	snprintf(b, sizeof(b), "%s:%s", b_tag, b_view);
	(edge ? script_edge : script_no_edge)("", a, b);
}

/* ---- kinds of arguments ---- */

static const char *const tags[] = { "in", "io", "out", "nd" };

static bool is_tag(const char *tag, const char *one, const char *other)
{
	return !strcmp(tag, one) || !strcmp(tag, other);
}

static void all_pairs_of_kinds(bool (*edge)(const char *first, const char *second))
{
	for (int a = 0; a < 4; a++)
		for (int b = 0; b < 4; b++)
			pair(edge(tags[a], tags[b]), tags[a], "x", tags[b], "x[5:9]");
}

static bool sequential_edge(const char *first, const char *second)
{
	if (!strcmp(first, "nd") || !strcmp(second, "nd"))
		return false;
	return strcmp(first, "in") || strcmp(second, "in");
}

static void every_pair_with_a_write_is_ordered(void **state)
{
	(void)state;
	all_pairs_of_kinds(sequential_edge);
}

static bool raw_edge(const char *first, const char *second)
{
	return is_tag(first, "io", "out") && is_tag(second, "in", "io");
}

static void raw_mode_orders_reads_and_inouts_behind_writes_only(void **state)
{
	(void)state;
	raw_mode(true);
	all_pairs_of_kinds(raw_edge);
}

/* ---- views ---- */

struct views {
	const char *a, *b;
	bool overlap;
};

static const struct views views[] = {
	{ "x[0:128]", "x[128:256]", false },	/* case 11 */
	{ "x[0:192]", "x[64:256]", true },	/* case 12 */
	{ "x[64:192]", "x[0:256]", true },	/* case 13 */
	{ "x", "x[255]", true },
	{ "x[255]", "x", true },
	{ "x[0]", "x[1]", false },
	{ "x[0:256,0:2]", "x[0:256,2:4]", false },
	{ "x[0:256,0:2]", "x[0:256,1:3]", true },
	{ "x[0:256,0:1]", "x[100]", true },
	{ "x[0:256,3:4]", "x[100,0:3]", false },
	{ "x[0:128,0:2]", "x[64:256,2:4]", false },
	{ "x[0:128,0:2]", "x[127:256,1:4]", true },
	{ "x'", "x[7]", true },
	{ "x[0:8]'", "x[8:16]'", false },
	{ "x[0:8]=", "x[8:16]=", false },
	{ "x[0:8]=", "x[7:16]", true },
	{ "x[0:8]~", "x[4:9]", true },
	{ "x[0:8]~", "x[8:9]", false },
	{ "x", "y", false },
	{ "a[0:128]", "x[128:256]", true },	/* a: another address, rows 128 on of x */
	{ "a[0:64]", "x[192:256]", false },
	{ "x[0:129]", "a", true },
	{ "x[0:128]", "a", false },
	{ "b", "x[0:10]", true },		/* b: rows 5 to 14, taken by view */
	{ "b", "x[0:5]", false },
	{ "b[9]", "x[14]", true },
	{ "b[9]", "x[13]", false },
};

#define NAMES "alias a 128; view b x[5:15];"

static void views_in_both_ways(const struct views *v, const char *first, const char *second)
{
	char a[64], b[64];

	for (int swap = 0; swap < 2; swap++) {
		snprintf(a, sizeof(a), "%s:%s", first, swap ? v->b : v->a);
		snprintf(b, sizeof(b), "%s:%s", second, swap ? v->a : v->b);
		(v->overlap ? script_edge : script_no_edge)(NAMES, a, b);
	}
}

static void views_are_ordered_exactly_where_their_bytes_overlap(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		views_in_both_ways(&views[i], "out", "in");
		views_in_both_ways(&views[i], "in", "out");
		views_in_both_ways(&views[i], "io", "io");
		views_in_both_ways(&views[i], "out", "out");
	}
}

static void raw_mode_has_the_same_overlaps(void **state)
{
	(void)state;
	raw_mode(true);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		views_in_both_ways(&views[i], "out", "in");
		views_in_both_ways(&views[i], "io", "io");
	}
}

static void chip_case_11_disjoint_rows_have_no_edge(void **state)
{
	(void)state;
	script_no_edge("", "out:x[0:128]", "in:x[128:256]");
	raw_mode(true);
	script_no_edge("", "out:x[0:128]", "in:x[128:256]");
}

static void chip_case_12_a_reader_of_part_waits_and_leaves_the_rest(void **state)
{
	(void)state;
	script_edge("", "out:x[0:192]", "in:x[64:256]");
	/* not covered: later readers of what B also read still wait for A itself */
	script_ok("hold A out:x[0:192]; stamp B io:x[64:256]; stamp D in:x[0:64]; release C");
	script_order("AB");
	script_order("CB");
	script_order("CD");
}

static void chip_case_13_a_covering_inout_takes_the_producers_place(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		script_edge("", "out:x[64:192]", "io:x[0:256]");
		script_ok("stamp A out:x[64:192]; hold B io:x[0:256]; stamp D in:x[64:192]; release C");
		script_order("ABD");
		script_order("CD");
		script_ok("hold A out:x[64:192]; stamp B io:x[0:256]; stamp D in:x[64:192]; release C");
		script_order("ABD");
		script_order("CB");
	}
}

static void chip_case_13_the_buffers_creator_stays_a_producer(void **state)
{
	(void)state;
	script_ok("hold A new:a; stamp B io:a; stamp D in:a; release C");
	script_order("ABD");
	script_order("CB");
	script_ok("manual; hold A new:a; end; stamp B io:a!; stamp D in:a!; release C");
	script_order("AB");
	script_order("CB");
	script_order("CD");
}

/* Twenty readers or writers of the first rows, one of them held; then @last on the whole. */
static void twenty(const char *tag, const char *last, int held)
{
	char text[2048];
	int used = 0;

	for (int i = 0; i < 20; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%s %d %s:x[%d];",
				 i == held ? "hold" : "stamp", 26 + i, tag, i);
	script_ok("%s stamp B %s:x; release C", text, last);
	script_order("CB");
}

static void chip_case_14_all_of_twenty_producers_are_found(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		for (int held = 0; held < 20; held++)
			twenty("out", "in", held);
	}
}

static void chip_case_14_all_of_twenty_readers_are_found(void **state)
{
	(void)state;
	for (int held = 0; held < 20; held++)
		twenty("in", "out", held);
}

static void chip_case_15_a_newer_version_depends_without_covering(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		script_edge("", "out:x@0", "in:x@1");
		script_edge("", "out:x@1", "in:x@0");
		script_edge("", "io:x@7", "io:x@8");
		/* versions do not make disjoint rows overlap */
		script_no_edge("", "out:x[0:5]@0", "in:x[5:9]@1");
	}
}

static void chip_case_16_a_retired_task_of_one_ring_hides_no_other(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		script_ok("stamp A out:x[0:128]; scope; hold B out:x[128:256]; end;"
			  "get E x[0]; stamp D in:x[0:128]; stamp F in:x; release C wait:D");
		script_order("ADC");
		script_order("BF");
		script_order("CF");
		script_ok("scope; stamp A out:x[0:128]; end; scope; hold B out:x[128:256]; end;"
			  "stamp F in:x; release C");
		script_order("CF");
	}
}

static void chip_case_17_raw_mode_leaves_a_writer_beside_readers(void **state)
{
	(void)state;
	raw_mode(true);
	script_no_edge("", "in:x", "io:x");
	script_edge("", "in:x", "io:x dep:A");
	/* two readers, each with an explicit edge to the writer, still overlap */
	script_ok("hold A in:x; stamp D in:x; stamp B io:x dep:A dep:D; release C wait:D");
	script_order("DCB");
}

static void chip_case_17_the_default_mode_orders_the_writer_and_keeps_readers_parallel(void **state)
{
	(void)state;
	script_edge("", "in:x", "io:x");
	script_edge("", "in:x", "out:x");
	script_no_edge("", "in:x", "in:x");
	script_ok("hold A in:x; stamp D in:x; stamp B io:x; stamp E in:x; release C wait:D");
	script_order("DCB");
	script_order("BE");
}

static void chip_case_18_raw_mode_orders_inout_but_not_outputs_behind_writers(void **state)
{
	(void)state;
	raw_mode(true);
	script_edge("", "io:x", "io:x");
	script_no_edge("", "io:x", "out:x");
	script_no_edge("", "out:x", "out:x");
	script_edge("", "new:a", "out:a");
	/* the later reader waits for both writers */
	script_ok("hold A io:x; stamp B out:x; stamp D in:x; release C wait:B");
	script_order("BCD");
	script_ok("stamp A io:x; hold B out:x; stamp D in:x; release C wait:A");
	script_order("BD");
	script_order("CD");
}

static void chip_case_18_the_default_mode_orders_all_writers(void **state)
{
	(void)state;
	script_edge("", "io:x", "io:x");
	script_edge("", "io:x", "out:x");
	script_edge("", "out:x", "out:x");
	script_edge("", "new:a", "out:a");
	script_ok("hold A io:x; stamp B out:x; stamp D in:x; release C");
	script_order("ABD");
	script_order("CB");
}

/* ---- explicit dependences ---- */

/* Tasks 26 to 26 + n - 1, of which @held completes late. */
static void producers(char *text, size_t size, int n, int held)
{
	int used = snprintf(text, size, "stamp Z;");

	for (int i = 0; i < n; i++)
		used += snprintf(text + used, size - (size_t)used, "%s %d;",
				 i == held ? "hold" : "stamp", 26 + i);
}

static void chip_case_19_a_producer_named_twice_counts_once(void **state)
{
	char text[4096];

	(void)state;
	rings(0, 0, 4);
	/* 64 producers need no pool entry, however often they are named */
	producers(text, sizeof(text), 64, 63);
	script_ok("%s stamp B wait:26-89 dep:26-89; release C", text);
	script_order("CB");
	/* four more fill the pool of 4; a fifth would not fit */
	producers(text, sizeof(text), 68, 67);
	script_ok("%s stamp B dep:26-93 wait:26-93 none:26-93; release C", text);
	script_order("CB");
	producers(text, sizeof(text), 69, -1);
	script_fails(SIMPLER_RUN_DEP_POOL_OVERFLOW, "a task with 69 producers needs 5 pool entries",
		     "hold A; %s stamp B dep:26-94; release C", text);
}

static void chip_case_19_the_65th_producer_is_waited_for(void **state)
{
	char text[8192];

	(void)state;
	for (int held = 62; held < 67; held++) {
		producers(text, sizeof(text), 200, held);
		script_ok("%s stamp B wait:26-225 dep:26-225; release C", text);
		script_order("CB");
	}
}

/* Whether tasks of a closed scope keep their buffers shows in what the heap still has. */
#define BUFFER	(SCRIPT_ROWS * SCRIPT_COLUMNS * 4)

static void consumer_keeps_the_buffer(const char *deps, bool keeps)
{
	rings(0, 2 * BUFFER, 0);
	if (keeps) {
		/* the second new buffer is that of A, once B has completed */
		script_ok("scope; stamp A new:a; manual; hold B %s; end; end; release C;"
			  "scope; alloc b 256; alloc c 128; mark D; end", deps);
		script_order("CD");
	} else {
		script_ok("scope; stamp A new:a; manual; hold B %s; end; end;"
			  "scope; alloc b 256; alloc c 128; mark D; end; release C", deps);
		script_order("DC");
	}
}

static void chip_case_19_flags_of_one_producer_add_up(void **state)
{
	(void)state;
	consumer_keeps_the_buffer("wait:A ret:A", true);
	consumer_keeps_the_buffer("wait:A dep:A", true);
	consumer_keeps_the_buffer("ret:A", true);
	consumer_keeps_the_buffer("wait:A", false);
	consumer_keeps_the_buffer("none:A", false);
	rings(0, 0, 0);
	script_edge("", "", "ret:A wait:A");
	script_edge("", "", "wait:A ret:A none:A");
}

static const char *const uses[] = { "in:a", "io:a", "nd:a", "in:a!", "in:a[3]" };

static void a_buffer_lives_until_its_last_reader_has_completed(void **state)
{
	(void)state;
	rings(0, 2 * BUFFER, 0);
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		script_ok("scope; stamp A new:a; hold B %s; end; release C;"
			  "scope; alloc b 256; alloc c 128; mark D; end", uses[i]);
		script_order("CD");
	}
}

/* As above, but nothing ever lets B complete: the buffer must never be given out again. */
static void a_buffer_is_not_reused_under_a_reader(void **state)
{
	(void)state;
	rings(0, 2 * BUFFER, 0);
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		script_fails(SIMPLER_RUN_SCHEDULER_TIMEOUT, "waiting for heap space",
			     "scope; stamp A new:a; get E a[0]; hold B %s; end;"
			     "scope; alloc b 256; alloc c 128; mark D; end", uses[i]);
}

static void explicit_kinds_wait_or_keep(void **state)
{
	(void)state;
	script_edge("", "", "dep:A");
	script_edge("", "", "wait:A");
	script_no_edge("", "", "ret:A");
	script_no_edge("", "", "none:A");
}

static void chip_case_20_an_invalid_or_unknown_id_is_refused(void **state)
{
	(void)state;
	script_fails(SIMPLER_RUN_INVALID_ARGS, "never submitted", "stamp A; stamp B dep:?");
	script_fails(SIMPLER_RUN_INVALID_ARGS, "names task 0:123456, which was never submitted",
		     "stamp A; stamp B wait:+");
	script_fails(SIMPLER_RUN_INVALID_ARGS, "which is the task itself", "stamp A; stamp B dep:=");
	script_ok("stamp A; stamp B dep:A");
	script_ok("stamp A; stamp B; stamp D dep:=");
}

static void chip_case_20_a_completed_or_retired_id_is_no_wait(void **state)
{
	(void)state;
	script_ok("stamp A out:x; get D x[0]; stamp B dep:A; release C wait:B");
	script_ok("scope; stamp A out:x; end; get D x[0]; stamp B dep:A; hold E; stamp F wait:A;"
		  "release C wait:F");
	/* the slot is in use again */
	rings(4, 0, 0);
	script_ok("scope; stamp A out:x; end; scope; stamp D; stamp E; end; scope; stamp F; stamp G; end;"
		  "scope; hold H; stamp B dep:A; release C wait:B; end");
	script_order("BC");
}

static void chip_case_21_a_manual_scope_has_explicit_edges_only(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		script_ok("manual; hold A out:x; stamp B in:x; release C wait:B; end");
		script_order("BC");
		script_ok("manual; hold A new:a; stamp B in:a; release C wait:B; end");
		script_order("BC");
		script_ok("manual; hold A out:x; stamp B in:x dep:A; release C; end");
		script_order("CB");
		/* nor do tasks outside see what those inside do */
		script_ok("manual; hold A out:x; end; stamp B in:x; release C wait:B");
		script_ok("hold A out:x; manual; stamp B in:x; release C wait:B; end");
	}
}

static void chip_case_22_auto_inside_manual_is_refused(void **state)
{
	(void)state;
	script_fails(SIMPLER_RUN_INVALID_ARGS, "an AUTO scope inside a MANUAL scope",
		     "manual; scope; end; end");
	script_fails(SIMPLER_RUN_INVALID_ARGS, "an AUTO scope inside a MANUAL scope",
		     "scope; manual; manual; end; scope; end; end; end");
	script_ok("manual; manual; hold A out:x; stamp B in:x; end; release C wait:B; end; scope; end");
	/* automatic edges are back afterwards */
	script_ok("manual; end; hold A out:x; stamp B in:x; release C");
	script_order("CB");
}

/* ---- creators, manual_dep ---- */

static void a_buffers_creator_is_waited_for_by_every_kind(void **state)
{
	static const char *const uses[] = { "in:a", "io:a", "out:a", "nd:a", "in:a!", "in:a[7:9]" };

	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
			script_edge("", "new:a", uses[i]);
	}
	script_no_edge("", "new:a new:b", "in:x");
}

static void manual_dep_leaves_a_tensor_out(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		script_no_edge("", "out:x!", "in:x");
		script_no_edge("", "out:x", "in:x!");
		script_no_edge("", "io:x!", "io:x!");
	}
}

static void one_edge_is_enough_among_many_arguments(void **state)
{
	(void)state;
	script_edge("", "in:y out:x[0:5] in:x[200]", "in:x[5:9] in:y in:x[4] nd:x");
	script_no_edge("", "in:y out:x[0:5] in:x[200]", "in:x[5:9] in:y in:x[200] nd:x");
	script_no_edge("", "", "in:x out:x io:x");	/* no edge to itself */
}

static void edges_reach_through_tasks_without_kernels(void **state)
{
	(void)state;
	script_ok("hold A out:x; dummy D in:x out:y; stamp B in:y; release C");
	script_order("CB");
	script_ok("hold A; dummy D dep:A; dummy E dep:D; stamp B dep:E; release C");
	script_order("CB");
}

static void a_dummy_completes_with_its_producers(void **state)
{
	(void)state;
	script_ok("hold A out:x; dummy D in:y out:y; stamp B in:y; release C wait:B");
	script_order("BC");
}

/* ---- predicates ---- */

static void a_predicates_operand_is_read_like_an_input(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		script_y[0][0] = 1;
		script_edge("", "io:y", "if:y");
		script_edge("", "new:a new:b io:y", "in:a if:y");
		script_no_edge("", "io:y[5:9]", "if:y[0:5]");
		/* a buffer that only the predicate names; what it holds is what B is told */
		script_ok("hold A new:a; fill D out:a; stamp B if:a; release C");
		script_order("CDB");
	}
}

static void a_writer_waits_for_predicates_that_read_what_it_overwrites(void **state)
{
	(void)state;
	script_y[0][0] = 1;
	script_ok("hold A; stamp B wait:A if:y; fill D out:y; release C");
	script_order("CBD");
	/* B does not run, but what follows it is ordered as if it did */
	script_y[0][0] = 0;
	script_ok("hold A; stamp B wait:A if:y io:x; fill D out:y; stamp E in:x; release C");
	assert_int_equal(script_start('B'), 0);
	script_order("CD");
	script_order("CE");
}

/* ---- reused slots ---- */

static void a_reused_slot_keeps_its_newer_accesses(void **state)
{
	(void)state;
	rings(4, 0, 0);
	/* task 3 takes the slot of some retired writer of x */
	script_ok("scope; stamp A out:x; stamp D out:x; end; scope; stamp E out:x; hold F out:x; end;"
		  "scope; stamp B in:x; end; scope; release C; end");
	script_order("CB");
}

static void many_tasks_go_through_a_small_window(void **state)
{
	(void)state;
	rings(4, 0, 0);
	for (int i = 0; i < 3; i++)
		script_ok("scope; stamp A io:x; stamp B io:x; end; scope; scope; stamp D in:x; end; end;"
			  "scope; hold E io:x; release C; stamp F in:x; end; scope; stamp G; end");
	script_order("ABDEF");
	script_order("CF");
}

static void a_hundred_thousand_tasks_become_ready_at_once(void **state)
{
	(void)state;
	rings(1 << 17, 0, 0);
	script_ok("hold A; many " HUNDRED_THOUSAND " stamp B wait:A; release C");
	assert_int_equal(script_chip.status.tasks_completed, 100002);
	script_order("AB");
	script_order("CB");
}

static void a_chain_of_a_hundred_thousand_dummies_completes(void **state)
{
	(void)state;
	rings(1 << 17, 0, 0);
	script_ok("hold A out:x; many " HUNDRED_THOUSAND " dummy D io:x; stamp B in:x; release C");
	script_order("AB");
	script_order("CB");
}

#define TEST(name) cmocka_unit_test_setup(name, defaults)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_pair_with_a_write_is_ordered),
		TEST(raw_mode_orders_reads_and_inouts_behind_writes_only),
		TEST(views_are_ordered_exactly_where_their_bytes_overlap),
		TEST(raw_mode_has_the_same_overlaps),
		TEST(chip_case_11_disjoint_rows_have_no_edge),
		TEST(chip_case_12_a_reader_of_part_waits_and_leaves_the_rest),
		TEST(chip_case_13_a_covering_inout_takes_the_producers_place),
		TEST(chip_case_13_the_buffers_creator_stays_a_producer),
		TEST(chip_case_14_all_of_twenty_producers_are_found),
		TEST(chip_case_14_all_of_twenty_readers_are_found),
		TEST(chip_case_15_a_newer_version_depends_without_covering),
		TEST(chip_case_16_a_retired_task_of_one_ring_hides_no_other),
		TEST(chip_case_17_raw_mode_leaves_a_writer_beside_readers),
		TEST(chip_case_17_the_default_mode_orders_the_writer_and_keeps_readers_parallel),
		TEST(chip_case_18_raw_mode_orders_inout_but_not_outputs_behind_writers),
		TEST(chip_case_18_the_default_mode_orders_all_writers),
		TEST(chip_case_19_a_producer_named_twice_counts_once),
		TEST(chip_case_19_the_65th_producer_is_waited_for),
		TEST(chip_case_19_flags_of_one_producer_add_up),
		TEST(a_buffer_lives_until_its_last_reader_has_completed),
		cmocka_unit_test_setup_teardown(a_buffer_is_not_reused_under_a_reader,
						script_short_watchdog, script_long_watchdog),
		TEST(explicit_kinds_wait_or_keep),
		TEST(chip_case_20_an_invalid_or_unknown_id_is_refused),
		TEST(chip_case_20_a_completed_or_retired_id_is_no_wait),
		TEST(chip_case_21_a_manual_scope_has_explicit_edges_only),
		TEST(chip_case_22_auto_inside_manual_is_refused),
		TEST(a_buffers_creator_is_waited_for_by_every_kind),
		TEST(manual_dep_leaves_a_tensor_out),
		TEST(one_edge_is_enough_among_many_arguments),
		TEST(edges_reach_through_tasks_without_kernels),
		TEST(a_dummy_completes_with_its_producers),
		TEST(a_predicates_operand_is_read_like_an_input),
		TEST(a_writer_waits_for_predicates_that_read_what_it_overwrites),
		TEST(a_reused_slot_keeps_its_newer_accesses),
		TEST(many_tasks_go_through_a_small_window),
		TEST(a_hundred_thousand_tasks_become_ready_at_once),
		TEST(a_chain_of_a_hundred_thousand_dummies_completes),
	};

	return chip_run_suite("dependences", tests, script_setup, script_teardown);
}
