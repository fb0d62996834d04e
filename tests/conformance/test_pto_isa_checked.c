// SPDX-License-Identifier: MIT
/* SIMPLER_CHECK=1: what a kernel does wrong ends the run with instruction, operand and line (pto-isa §3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chip_fixture.h"
#include "simpler/error.h"

#define ELEMENTS 1024
#define NO_PROGRESS_MS 60000	/* only ends what must not happen */

enum {
	LEAVE_NOTHING = 0, LEAVE_FLAG_BEFORE = 1, LEAVE_FLAG_AFTER = 2, LEAVE_LOAD = 3,
	ROW_LATER = 4, ELEMENT_EARLIER = 5, READ_ONLY = 6, TWO_READ_ONLY = 7,
	FLAG_STAYS = 8, FLAG_IS_AWAITED = 9
};

static struct chip_fixture f;
static float x[ELEMENTS];

static void open_chip(const char *checked)
{
	if (checked)
		setenv("SIMPLER_CHECK", checked, 1);
	else
		unsetenv("SIMPLER_CHECK");
	memset(x, 0, sizeof(x));
	fixture_open_variant(&f, NO_PROGRESS_MS);
	fixture_load(&f, "checked", "add_one_tiled,keeps_flag");
	fixture_tensor(&f, 0, x, 0, 4, ELEMENTS);
}

static void close_chip(void)
{
	fixture_close(&f);
	unsetenv("SIMPLER_CHECK");
}

static void adds_one(unsigned long long leave_out)
{
	float before = x[ELEMENTS - 1];

	if (fixture_run(&f, 1, leave_out))
		fail_msg("run: %s", f.status.text);
	assert_true(x[ELEMENTS - 1] == before + 1);
}

static void right_kernels_run_in_checked_mode_again_and_again(void **state)
{
	(void)state;
	open_chip("1");
	for (int i = 0; i < 20; i++)
		adds_one(LEAVE_NOTHING);
	close_chip();
}

static void missing_flags_are_reported_with_both_places(void **state)
{
	(void)state;
	open_chip("1");
	fixture_run(&f, 1, (unsigned long long)LEAVE_FLAG_BEFORE);
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "add_one_tiled.cpp:26: TADDS on PIPE_V reads src0");
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "TLOAD on PIPE_MTE2 writes (add_one_tiled.cpp:21)");
	adds_one(LEAVE_NOTHING);
	fixture_run(&f, 1, (unsigned long long)LEAVE_FLAG_AFTER);
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "TSTORE on PIPE_MTE3 reads src0");
	adds_one(LEAVE_NOTHING);
	close_chip();
}

static void unwritten_tiles_are_reported_in_every_run(void **state)
{
	(void)state;
	open_chip("1");
	for (int i = 0; i < 2; i++) {
		adds_one(LEAVE_NOTHING);
		fixture_run(&f, 1, (unsigned long long)LEAVE_LOAD);
		fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "element (0, 0) of src0 was never written");
	}
	close_chip();
}

static void transfers_outside_of_the_operands_are_reported_with_a_hint_for_the_kernel(void **state)
{
	(void)state;
	open_chip("1");
	fixture_run(&f, 1, (unsigned long long)ROW_LATER);
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "add_one_tiled.cpp:21: TLOAD: bytes 256 to 4351");
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "args[0]");
	assert_non_null(strstr(f.status.hint, "correct the kernel"));
	adds_one(LEAVE_NOTHING);
	fixture_run(&f, 1, (unsigned long long)ELEMENT_EARLIER);
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "TLOAD: bytes -4 to 4091 of src0");
	adds_one(LEAVE_NOTHING);
	close_chip();
}

static void stores_to_inputs_are_reported(void **state)
{
	(void)state;
	open_chip("1");
	for (unsigned long long what = READ_ONLY; what <= TWO_READ_ONLY; what++) {
		fixture_run(&f, 1, what);
		fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS,
			       "TSTORE: dst is args[0], which the task has as an input");
		adds_one(LEAVE_NOTHING);
	}
	close_chip();
}

static void flags_that_nobody_waits_for_are_reported_when_the_kernel_returns(void **state)
{
	(void)state;
	open_chip("1");
	for (int i = 0; i < 2; i++) {
		if (fixture_run(&f, 1, (unsigned long long)FLAG_IS_AWAITED))
			fail_msg("run: %s", f.status.text);
		fixture_run(&f, 1, (unsigned long long)FLAG_STAYS);
		fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "kernel keeps_flag block 0: keeps_flag.cpp:7: "
			       "set_flag(PIPE_V, PIPE_MTE3, 3): nothing waits for the event before the kernel returns");
		adds_one(LEAVE_NOTHING);
	}
	close_chip();
	open_chip(NULL);
	if (fixture_run(&f, 1, (unsigned long long)FLAG_STAYS))
		fail_msg("run: %s", f.status.text);
	close_chip();
}

static void without_checked_mode_flags_cost_nothing_and_are_not_missed(void **state)
{
	(void)state;
	open_chip(NULL);
	adds_one(LEAVE_FLAG_BEFORE);
	adds_one(LEAVE_FLAG_AFTER);
	close_chip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_kernels_run_in_checked_mode_again_and_again),
		cmocka_unit_test(missing_flags_are_reported_with_both_places),
		cmocka_unit_test(unwritten_tiles_are_reported_in_every_run),
		cmocka_unit_test(transfers_outside_of_the_operands_are_reported_with_a_hint_for_the_kernel),
		cmocka_unit_test(stores_to_inputs_are_reported),
		cmocka_unit_test(flags_that_nobody_waits_for_are_reported_when_the_kernel_returns),
		cmocka_unit_test(without_checked_mode_flags_cost_nothing_and_are_not_missed),
	};

	return chip_run_suite("checked mode", tests, NULL, NULL);
}
