// SPDX-License-Identifier: MIT
/*
 * How long intermediate tensors live (chip-runtime §8.3, §12, decision D2; case
 * 33), in the current and in the older API.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "chip_script.h"
#include "simpler/error.h"

static int clean(void **state)
{
	(void)state;
	memset(script_x, 0, sizeof(script_x));
	memset(script_y, 0, sizeof(script_y));
	memset(script_chip.launch.ring_heap, 0, sizeof(script_chip.launch.ring_heap));
	return 0;
}

/* Rows [from, to) of x hold @value. */
static void x_has(int from, int to, float value)
{
	for (int row = from; row < to; row++)
		for (int column = 0; column < SCRIPT_COLUMNS; column++)
			if (script_x[row][column] != value)
				fail_msg("x[%d][%d] is %g, not %g", row, column,
					 (double)script_x[row][column], (double)value);
}

/* Scopes that would reuse a buffer which was given back too early. */
#define SCRIBBLE "repeat 4 [scope; make z 16; fill Z out:z; scope; make z 16; fill Z out:z; end; end];"

static void a_tensor_first_written_in_an_inner_scope_lives_in_its_own(void **state)
{
	(void)state;
	script_ok("make a 16; scope; fill H out:a; end;" SCRIBBLE "assign C in:a out:x[0:16]");
	x_has(0, 16, 7);
	script_ok("scope; make a 16; scope; scope; scope; scope; fill I out:a; end; end; end; end;"
		  SCRIBBLE "scope; assign C in:a out:x[0:16]; end; end");
	x_has(0, 16, 8);
	script_ok("make a 16; scope; fill H out:a; end; repeat 5 [scope; increment B io:a; end;" "scope; make z 16; fill Z out:z; end];"
		  "assign C in:a out:x[0:16]");
	x_has(0, 16, 12);
}

static void views_of_a_tensor_without_buffer_share_the_one_it_gets(void **state)
{
	(void)state;
	script_ok("make a 16; view b a[0:8]; view c a[8:16]; fill B out:b; fill D out:c;"
		  "assign E in:a out:x[0:16]");
	x_has(0, 8, 1);
	x_has(8, 16, 3);
	/* taken and written far inside, read outside */
	script_ok("make a 16; scope; scope; view b a[4:8]; fill F out:b; end; end;" SCRIBBLE
		  "fill G out:a[0:4]; fill H out:a[8:16]; assign E in:a out:x[0:16]");
	x_has(0, 4, 6);
	x_has(4, 8, 5);
	x_has(8, 16, 7);
	/* also when the whole was written first */
	script_ok("make a 16; fill B out:a; view b a[0:8]; increment C io:b; assign E in:a out:x[0:16]");
	x_has(0, 8, 2);
	x_has(8, 16, 1);
}

static void views_keep_dependences_with_the_whole(void **state)
{
	(void)state;
	script_ok("make a 16; view b a[0:8]; hold A out:b; stamp B in:a; release C");
	script_order("AB");
	script_order("CB");
	script_ok("make a 16; view b a[0:8]; view c a[8:16]; hold A out:b; stamp B out:c; get D c[0];"
		  "release C");
	script_order("BDC");
}

static void a_tensor_lives_until_its_scope_ends_whatever_else_is_made(void **state)
{
	(void)state;
	script_ok("scope; make a 16; fill B out:a; make b 16; fill C out:b;" SCRIBBLE
		  "assign D in:a out:x[0:16]; assign E in:b out:x[16:32]; end;"
		  "scope; make c 16; fill F out:c; end");
	x_has(0, 16, 1);
	x_has(16, 32, 2);
}

static void a_pending_reader_keeps_the_buffer_of_a_closed_scope(void **state)
{
	(void)state;
	script_ok("scope; make a 16; fill B out:a; hold A out:x; increment C io:x; assign D in:a out:x; end;"
		  SCRIBBLE "release E");
	x_has(0, 16, 1);
}

static void a_tensor_used_after_its_scope_without_ever_a_buffer_is_refused(void **state)
{
	(void)state;
	script_fails(SIMPLER_RUN_INVALID_ARGS, "outside the scope that declared it",
		     "scope; make a 16; end; fill B out:a");
	script_fails(SIMPLER_RUN_INVALID_ARGS, "outside the scope that declared it",
		     "scope; make a 16; end; scope; view b a[0:4]; end");
	script_ok("scope; make a 16; fill B out:a; end");
}

static void reading_what_nobody_wrote_is_refused(void **state)
{
	(void)state;
	script_fails(SIMPLER_RUN_INVALID_ARGS, "", "make a 16; stamp B in:a");
	script_fails(SIMPLER_RUN_INVALID_ARGS, "", "make a 16; stamp B io:a");
	script_ok("make a 16; fill B out:a; stamp C in:a");
}

static void chip_case_33_a_hundred_times_32_mib_fit_into_256(void **state)
{
	(void)state;
	/* 2^21 rows of 16 bytes; most pages are never touched */
	script_ok("repeat 100 [scope; make a 2097152; fill B out:a[0:16]; assign D in:a[0:16] out:x[0:16]; end]");
	x_has(0, 16, 1);
	script_ok("repeat 100 [scope; make a 2097152; make b 2097152; fill B out:b[5:21];"
		  "scope; fill C out:a[0:16]; end; assign D in:b[5:21] out:x[0:16]; end]");
	x_has(0, 16, 1);
}

static void chip_case_33_scopes_without_end_exhaust_the_heap(void **state)
{
	(void)state;
	script_fails(SIMPLER_RUN_HEAP_RING_DEADLOCK, "belongs to an open scope",
		     "repeat 100 [make a 2097152; fill B out:a[0:16]]");
}

/* A new buffer and its neighbours do not share bytes, whatever their sizes. */
static void outputs_of_odd_sizes_do_not_overlap(void **state)
{
	(void)state;
	script_ok("make a 1; make b 3; make c 65; make d 64; fill B out:a; fill C out:b; fill D out:c;"
		  "fill E out:d; increment F io:a; increment F io:b; increment F io:c; increment F io:d;"
		  "assign G in:a out:x[0:1]; assign G in:b out:x[1:4]; assign G in:c out:x[4:69];"
		  "assign G in:d out:x[69:133]");
	x_has(0, 1, 2);
	x_has(1, 4, 3);
	x_has(4, 69, 4);
	x_has(69, 133, 5);
}

static void operands_keep_what_nobody_wrote(void **state)
{
	(void)state;
	memset(script_x, 0x3f, sizeof(script_x));
	memcpy(script_y, script_x, sizeof(script_x));
	script_ok("fill B out:x[10:20]; stamp C out:x");
	x_has(10, 20, 1);
	assert_memory_equal(script_x, script_y, 10 * sizeof(script_x[0]));
	assert_memory_equal(script_x[20], script_y, 236 * sizeof(script_x[0]));
}

/* Decision D21: not even of this chip's own last run. */
static void new_buffers_show_nothing_of_an_earlier_run(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		script_ok("scope; make a 256; make b 200000; stamp B out:a; assign C in:a out:x;"
			  "stamp D out:b; increment E io:x; fill F out:a; fill G out:b; end");
		x_has(0, 256, 1);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, clean)

static const struct CMUnitTest tests[] = {
	TEST(a_tensor_first_written_in_an_inner_scope_lives_in_its_own),
	TEST(views_of_a_tensor_without_buffer_share_the_one_it_gets),
	TEST(views_keep_dependences_with_the_whole),
	TEST(a_tensor_lives_until_its_scope_ends_whatever_else_is_made),
	TEST(a_pending_reader_keeps_the_buffer_of_a_closed_scope),
	TEST(a_tensor_used_after_its_scope_without_ever_a_buffer_is_refused),
	TEST(reading_what_nobody_wrote_is_refused),
	TEST(chip_case_33_a_hundred_times_32_mib_fit_into_256),
	TEST(chip_case_33_scopes_without_end_exhaust_the_heap),
	TEST(outputs_of_odd_sizes_do_not_overlap),
	TEST(operands_keep_what_nobody_wrote),
	TEST(new_buffers_show_nothing_of_an_earlier_run),
};

int main(void)
{
	return chip_run_suite("scopes", tests, script_setup, script_teardown) +
	       chip_run_suite("scopes, older API", tests, script_setup_older, script_teardown);
}
