// SPDX-License-Identifier: MIT
/*
 * The rings of a cluster's pipes (pto-isa §5), driven by one thread: what a core would wait for is
 * done by the executor's park_core(), step by step, until the core is resumed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chip/pipe.h"

#define SLOT	64u

static struct chip *chip;
static struct chip_core cube, lane[2];
static const struct pto_pipe two_slots = {
	.flag_id = 1, .dir_mask = PTO_PIPE_C2V, .slot_num = 2, .local_slot_num = 2,
	.slot_bytes = SLOT,
};

static struct {
	struct chip_core *core;	/* whose wait it is */
	const char *what;
	int count, resumed;
	void (*others)(void);	/* what the other cores do meanwhile */
} parked;

static void park_core(struct chip *c, struct chip_core *core)
{
	assert_ptr_equal(c, chip);
	parked.core = core;
	parked.count++;
	parked.what = core->waits_for;
	assert_non_null(parked.others);
	parked.resumed = 0;
	parked.others();
	assert_int_equal(parked.resumed, 1);
}

static void resume_core(struct chip *c, struct chip_core *core)
{
	assert_ptr_equal(c, chip);
	assert_ptr_equal(core, parked.core);
	parked.resumed++;
}

static int setup(void **state)
{
	static const struct chip_executor_ops ops = {
		.park_core = park_core, .resume_core = resume_core,
	};

	(void)state;
	chip = calloc(1, sizeof(*chip));
	assert_non_null(chip);
	chip->config.ops = &ops;
	memset(&parked, 0, sizeof(parked));
	cube = lane[0] = lane[1] = (struct chip_core){ .chip = chip };
	lane[1].pub.lane = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	chip_pipes_clear(chip, 0);
	free(chip);
	return 0;
}

static void push(uint32_t lanes, char value)
{
	memset(chip_push_begin(&cube, &two_slots, PTO_PIPE_C2V, lanes), value, SLOT);
	chip_push_end(&cube, &two_slots, PTO_PIPE_C2V, lanes);
}

static void pop_is(struct chip_core *core, uint32_t lanes, char value)
{
	const uint8_t *slot = chip_pop_begin(core, &two_slots, PTO_PIPE_C2V, lanes);

	for (unsigned int i = 0; i < SLOT; i++)
		assert_int_equal(slot[i], value);
}

static void give_back(struct chip_core *core, uint32_t lanes)
{
	chip_pop_free(core, &two_slots, PTO_PIPE_C2V, lanes);
}

static void pop_then_free(void)
{
	pop_is(&lane[0], 1, 'a');
	assert_int_equal(parked.resumed, 0);
	give_back(&lane[0], 1);
}

static void isa_case_42_the_third_push_waits_for_the_first_free(void **state)
{
	(void)state;
	push(1, 'a');
	push(1, 'b');
	assert_null(parked.core);
	parked.others = pop_then_free;
	push(1, 'c');
	assert_int_equal(parked.count, 1);
	assert_ptr_equal(parked.core, &cube);
	assert_string_equal(parked.what, "push to a full pipe");
	pop_is(&lane[0], 1, 'b');
	pop_is(&lane[0], 1, 'c');
}

static void both_lanes_pop_then_free(void)
{
	pop_is(&lane[0], 2, 'a');
	pop_is(&lane[1], 2, 'a');
	give_back(&lane[1], 2); /* wakes the cube; its wait goes on, since lane 0 has its half */
}

static void the_other_lane_frees(void)
{
	give_back(&lane[0], 2);
}

static void first_one_lane_then_the_other(void)
{
	both_lanes_pop_then_free();
	parked.others = the_other_lane_frees;
}

static void isa_case_43_a_slot_is_used_again_when_both_lanes_have_freed_it(void **state)
{
	(void)state;
	push(2, 'a');
	push(2, 'b');
	assert_null(parked.core);
	parked.others = first_one_lane_then_the_other;
	push(2, 'c');
	assert_int_equal(parked.count, 2);
	for (int l = 0; l < 2; l++) {
		pop_is(&lane[l], 2, 'b');
		pop_is(&lane[l], 2, 'c');
	}
}

static void one_push(void)
{
	push(1, 'x');
}

static void a_pop_waits_for_the_push(void **state)
{
	(void)state;
	parked.others = one_push;
	pop_is(&lane[0], 1, 'x');
	assert_ptr_equal(parked.core, &lane[0]);
	assert_string_equal(parked.what, "pop from an empty pipe");
}

static void what_nobody_popped_is_counted_when_a_cluster_is_released(void **state)
{
	(void)state;
	push(1, 'a');
	push(1, 'b');
	pop_is(&lane[0], 1, 'a');
	give_back(&lane[0], 1);
	assert_int_equal(chip_pipes_clear(chip, 0), 1);
	assert_int_equal(chip_pipes_clear(chip, 0), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(isa_case_42_the_third_push_waits_for_the_first_free,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			isa_case_43_a_slot_is_used_again_when_both_lanes_have_freed_it, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_pop_waits_for_the_push, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_nobody_popped_is_counted_when_a_cluster_is_released, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
