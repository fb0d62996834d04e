// SPDX-License-Identifier: MIT
/* Element access from the orchestration (chip-runtime §7.7, decision D18; cases 49 and 50). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chip_script.h"
#include "simpler/error.h"

static void raw_mode(bool on)
{
	script_chip.launch.dep_mode = on ? SIMPLER_HW_DEPS_RAW : SIMPLER_HW_DEPS_SEQUENTIAL;
}

static int clean(void **state)
{
	(void)state;
	raw_mode(false);
	for (int i = 0; i < SCRIPT_ROWS; i++)
		script_x[i][0] = script_y[i][0] = (float)(100 + i);
	return 0;
}

static void chip_case_49_an_untouched_operand_is_read_at_once(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		script_ok("hold A out:y; get D x[3]; release C");
		script_order("DC");
		assert_int_equal(script_value('D'), 103);
		/* nor does anything else in the same tensor matter */
		script_ok("hold A out:x[0:10]; get D x[10]; get E x[10:20,0]; release C");
		script_order("DEC");
		assert_int_equal(script_value('D'), 110);
	}
}

static void chip_case_49_a_tasks_output_is_read_after_the_task(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		script_ok("hold A io:x; fill F io:x; release C; get D x[9]");
		script_order("AFD");
		script_order("CD");
		assert_int_equal(script_value('D'), 5);
		script_ok("hold A new:a; release C; get D a[0]");
		script_order("CD");
		script_ok("hold A new:a; fill F out:a; release C; get D a[255]; get E a[0]");
		script_order("FDE");
		assert_int_equal(script_value('E'), 5);
		script_ok("hold A out:x[0:10]; hold B out:x[10:20]; release C; get D x[5:15]; get E x[15]");
		script_order("CDE");
	}
}

static void readers_do_not_delay_a_read(void **state)
{
	(void)state;
	script_ok("hold A in:x; get D x[0]; release C");
	script_order("DC");
	raw_mode(true);
	script_ok("hold A in:x; get D x[0]; release C");
	script_order("DC");
}

static void every_producer_of_the_element_is_waited_for(void **state)
{
	(void)state;
	raw_mode(true);
	/* two writers without an edge between them */
	script_ok("hold A out:x; stamp B out:x; release C; get D x[0]");
	script_order("CD");
	script_ok("stamp B out:x; hold A out:x; release C; get D x[0]");
	script_order("CD");
}

static void chip_case_50_a_write_reaches_the_operand(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		clean(NULL);
		script_ok("set D x[3]; get E x[3]; get F x[4]");
		assert_int_equal(script_value('E'), 7);
		assert_int_equal(script_value('F'), 104);
		assert_true(script_x[3][0] == 7.0f && script_x[4][0] == 104.0f);
		script_ok("set D x[3]; assign B in:x out:y; get E y[3]; fill F out:x; set G x[0]");
		assert_int_equal(script_value('E'), 7);
		assert_true(script_x[0][0] == 7.0f && script_x[1][0] == 5.0f);
	}
}

static void a_write_waits_for_writers_and_readers(void **state)
{
	(void)state;
	script_ok("hold A out:x; release C; set D x[0]");
	script_order("CD");
	script_ok("hold A in:x; release C; set D x[0]");
	script_order("CD");
	script_ok("hold A in:x[1:9]; set D x[0]; release C");
	script_order("DC");
	script_ok("hold A out:x; increment B io:x; assign E in:x out:y; release C; set D x[0]");
	script_order("BED");
	assert_true(script_y[0][0] != 7.0f && script_x[0][0] == 7.0f);
}

static void raw_mode_writes_wait_for_writers_only(void **state)
{
	(void)state;
	raw_mode(true);
	script_ok("hold A io:x; release C; set D x[0]");
	script_order("CD");
	script_ok("hold A in:x; set D x[0]; release C");
	script_order("DC");
}

/* Shown by what never ends: B gets the data of A and would keep it for ever. */
static void a_write_waits_for_those_that_read_what_was_written(void **state)
{
	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		raw_mode(raw);
		script_fails(SIMPLER_RUN_SCHEDULER_TIMEOUT, "waiting for the producers of an element",
			     "hold A out:x; keep B in:x; release C; set D x[0]; mark E");
		assert_int_equal(script_start('E'), 0);
		assert_int_not_equal(script_start('B'), 0);
	}
}

static void an_access_that_waits_for_ever_names_what_it_waits_for(void **state)
{
	(void)state;
	script_fails(SIMPLER_RUN_SCHEDULER_TIMEOUT, "waiting for the producers of an element",
		     "keep A out:x; get D x[0]; mark E");
	assert_int_equal(script_start('E'), 0);
	script_ok("stamp A out:x; get D x[0]");
}

static void a_declared_tensor_without_memory_reads_as_zero(void **state)
{
	(void)state;
	script_ok("make a 16; get D a; fill B out:a; get E a");
	assert_int_equal(script_value('D'), 0);
	assert_int_equal(script_value('E'), 1);
}

static void in_a_manual_scope_only_the_creator_is_waited_for(void **state)
{
	(void)state;
	script_ok("manual; hold A new:a; release C; get D a[0]; end");
	script_order("CD");
	script_ok("manual; hold A out:x; get D x[0]; release C; end");
	script_order("DC");
}

static int checked_mode(void **state)
{
	script_teardown(state);
	setenv("SIMPLER_CHECK", "1", 1);
	return script_setup(state);
}

static int unchecked_mode(void **state)
{
	script_teardown(state);
	unsetenv("SIMPLER_CHECK");
	return script_setup(state);
}

static void checked_mode_refuses_a_manual_read_of_an_unfinished_tensor(void **state)
{
	(void)state;
	script_fails(SIMPLER_RUN_INVALID_ARGS,
		     "get_tensor_data in a MANUAL scope on a tensor whose producer has not finished",
		     "manual; hold A new:a; get D a[0]; release C; end");
	script_ok("manual; stamp A new:a; end; get D a[0]; manual; get E a[0]; end");
}

#define TEST(name) cmocka_unit_test_setup(name, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(chip_case_49_an_untouched_operand_is_read_at_once),
		TEST(chip_case_49_a_tasks_output_is_read_after_the_task),
		TEST(readers_do_not_delay_a_read),
		TEST(every_producer_of_the_element_is_waited_for),
		TEST(chip_case_50_a_write_reaches_the_operand),
		TEST(a_write_waits_for_writers_and_readers),
		TEST(raw_mode_writes_wait_for_writers_only),
		cmocka_unit_test_setup_teardown(a_write_waits_for_those_that_read_what_was_written,
						script_short_watchdog, script_long_watchdog),
		cmocka_unit_test_setup_teardown(an_access_that_waits_for_ever_names_what_it_waits_for,
						script_short_watchdog, script_long_watchdog),
		TEST(a_declared_tensor_without_memory_reads_as_zero),
		TEST(in_a_manual_scope_only_the_creator_is_waited_for),
		cmocka_unit_test_setup_teardown(checked_mode_refuses_a_manual_read_of_an_unfinished_tensor,
						checked_mode, unchecked_mode),
	};

	return chip_run_suite("element access", tests, script_setup, script_teardown);
}
