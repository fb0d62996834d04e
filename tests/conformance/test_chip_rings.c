// SPDX-License-Identifier: MIT
/*
 * Ring resources (chip-runtime §11; cases 1 to 9): the bookkeeping itself, and
 * runs that have to wait for a resource and go on.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chip/ring.h"
#include "chip_script.h"
#include "simpler/error.h"

#define MIB (1ull << 20)

static struct chip_heap heap;

static void empty_heap(uint64_t bytes)
{
	chip_heap_init(&heap, bytes);
}

static void takes(uint64_t bytes, uint64_t at, uint64_t top)
{
	uint64_t offset = ~0ull;

	assert_int_equal(chip_heap_alloc(&heap, bytes, &offset), 0);
	assert_int_equal(offset, at);
	assert_int_equal(heap.top, top);
}

static void has_no_room_for(uint64_t bytes)
{
	struct chip_heap before = heap;
	uint64_t offset;

	assert_int_equal(chip_heap_alloc(&heap, bytes, &offset), -ENOSPC);
	assert_memory_equal(&heap, &before, sizeof(heap));
}

static void frees_up_to(uint64_t end)
{
	chip_heap_release(&heap, end, heap.epoch);
}

static void chip_case_01_requests_are_rounded_up_to_64(void **state)
{
	(void)state;
	empty_heap(4096);
	takes(100, 0, 128);
	takes(1, 128, 192);
	takes(33, 192, 256);
	takes(64, 256, 320);
}

static void chip_case_02_tasks_without_bytes_take_slots_and_no_heap(void **state)
{
	struct chip_ring ring = { 0 };
	struct chip_ring_task tasks[5];

	(void)state;
	assert_int_equal(chip_ring_configure(&ring, 0, 16, 4096, 4), 0);
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t offset = ~0ull;

		assert_int_equal(chip_heap_alloc(&ring.heap, 0, &offset), 0);
		assert_int_equal(offset, 0);
		assert_true(chip_ring_has_slot(&ring));
		chip_ring_publish(&ring, &tasks[i]);
		assert_int_equal(tasks[i].id, i);
		assert_ptr_equal(ring.slots[i & 15], &tasks[i]);
		assert_ptr_equal(chip_ring_task(&ring, i), &tasks[i]);
	}
	assert_int_equal(ring.heap.top, 0);
	ring.next = 0;	/* the tasks are not the ring's */
	chip_ring_fini(&ring);
}

static void chip_case_03_a_window_has_one_live_task_less_than_slots(void **state)
{
	struct chip_ring ring = { .window = 16 };

	(void)state;
	for (ring.next = 0; ring.next < 15; ring.next++)
		assert_true(chip_ring_has_slot(&ring));
	assert_false(chip_ring_has_slot(&ring));
	ring.strict = true;
	assert_true(chip_ring_has_slot(&ring));
	ring.next = 16;
	assert_false(chip_ring_has_slot(&ring));
	/* numbers that have wrapped */
	ring.strict = false;
	ring.alive = UINT32_MAX - 3;
	ring.next = ring.alive + 15;
	assert_false(chip_ring_has_slot(&ring));
	ring.alive++;
	assert_true(chip_ring_has_slot(&ring));
}

static void chip_case_04_an_exact_fit_is_taken_and_more_is_refused(void **state)
{
	uint64_t offset;

	(void)state;
	empty_heap(4096);
	takes(4096, 0, 4096);
	has_no_room_for(64);
	empty_heap(4096);
	assert_int_equal(chip_heap_alloc(&heap, 8192, &offset), -E2BIG);
	assert_int_equal(chip_heap_alloc(&heap, UINT64_MAX, &offset), -E2BIG);
	assert_int_equal(chip_heap_alloc(&heap, UINT64_MAX - 63, &offset), -E2BIG);
	takes(4096, 0, 4096);
}

static void chip_case_04_a_run_that_needs_more_ends_with_code_2(void **state)
{
	(void)state;
	script_chip.launch.ring_heap[0] = 4096;
	script_ok("alloc a 256");
	script_fails(SIMPLER_RUN_HEAP_RING_DEADLOCK, "waiting for heap space", "alloc a 256; alloc b 1");
	script_fails(SIMPLER_RUN_HEAP_RING_DEADLOCK,
		     "outputs of 8192 bytes exceed the heap of ring 0 (4096 bytes); raise ring_heap[0]",
		     "alloc a 512");
	script_ok("alloc a 256");
}

static void chip_case_05_wrapping_needs_a_tail_beyond_the_request(void **state)
{
	(void)state;
	empty_heap(4096);
	takes(64, 0, 64);
	takes(64, 64, 128);
	takes(3968, 128, 4096);
	frees_up_to(64);
	has_no_room_for(64);
	frees_up_to(128);
	takes(64, 0, 64);
}

static void chip_case_06_the_gap_before_the_tail_is_never_filled(void **state)
{
	(void)state;
	empty_heap(4096);
	takes(4032, 0, 4032);
	takes(64, 4032, 4096);
	frees_up_to(4032);
	takes(128, 0, 128);
	has_no_room_for(3904);
	takes(3840, 128, 3968);
}

static void chip_case_07_an_empty_heap_starts_again_at_0(void **state)
{
	uint32_t epoch;

	(void)state;
	empty_heap(4096);
	takes(3008, 0, 3008);
	frees_up_to(3008);
	epoch = heap.epoch;
	takes(3000, 0, 3008);
	/* a task without bytes from before, which retires only now */
	chip_heap_release(&heap, 3008, epoch);
	assert_int_equal(heap.tail, 0);
	has_no_room_for(3000);
	frees_up_to(3008);
	takes(3000, 0, 3008);
}

static void chip_case_08_available_is_the_larger_gap(void **state)
{
	(void)state;
	empty_heap(4096);
	assert_int_equal(chip_heap_available(&heap), 4096);
	takes(3008, 0, 3008);
	frees_up_to(1024);
	assert_int_equal(chip_heap_available(&heap), 1088);
	takes(1088, 3008, 4096);
	assert_int_equal(chip_heap_available(&heap), 1024);
	frees_up_to(4096);
	assert_int_equal(chip_heap_available(&heap), 4096);
}

/* ---- random sequences against a map of bytes ---- */

#define GRAINS	64
#define HEAP	(GRAINS * CHIP_HEAP_GRAIN)

struct block {
	uint64_t start, end;	/* grains */
	uint64_t heap_end;
	uint32_t epoch;
};

static uint32_t seed = 12345;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void occupy(uint8_t *used, const struct block *b)
{
	for (uint64_t g = b->start; g < b->end; g++) {
		assert_int_equal(used[g], 0);
		used[g] = 1;
	}
}

static void vacate(uint8_t *used, const struct block *b)
{
	memset(used + b->start, 0, b->end - b->start);
}

static void live_blocks_never_overlap(void **state)
{
	static struct block blocks[256];
	uint32_t first = 0, next = 0;
	uint8_t used[GRAINS] = { 0 };

	(void)state;
	empty_heap(HEAP);
	for (int step = 0; step < 200000; step++) {
		struct block *b = &blocks[next % 256];
		uint64_t bytes = random_below(4) ? random_below(HEAP / 3) : random_below(HEAP + 1);
		uint64_t offset;

		if (next - first < 256 && random_below(5) < 3 &&
		    !chip_heap_alloc(&heap, bytes, &offset)) {
			*b = (struct block){ offset / 64, (offset + bytes + 63) / 64, heap.top,
					     heap.epoch };
			assert_true(b->end <= GRAINS);
			occupy(used, b);
			next++;
		} else if (first != next) {
			b = &blocks[first++ % 256];
			vacate(used, b);
			chip_heap_release(&heap, b->heap_end, b->epoch);
		}
	}
	assert_true(next > 10000);
}

static void an_empty_heap_serves_every_request_that_fits(void **state)
{
	(void)state;
	empty_heap(HEAP);
	for (int step = 0; step < 10000; step++) {
		uint64_t offset;

		assert_int_equal(chip_heap_alloc(&heap, 1 + random_below(HEAP), &offset), 0);
		frees_up_to(heap.top);
	}
}

/* ---- runs ---- */

static void rings(uint64_t window, uint64_t heap_bytes, uint64_t pool)
{
	for (int r = 0; r < 4; r++) {
		script_chip.launch.ring_window[r] = window;
		script_chip.launch.ring_heap[r] = heap_bytes;
		script_chip.launch.ring_dep_pool[r] = pool;
	}
}

static int default_rings(void **state)
{
	(void)state;
	rings(0, 0, 0);
	return 0;
}

static void chip_case_09_scopes_of_one_depth_share_a_small_heap(void **state)
{
	(void)state;
	rings(0, 256 * MIB, 0);
	script_chip.launch.ring_heap[1] = 3 * MIB / 2;
	script_ok("scope; alloc a 65536; fill 42 out:a; assign B in:a out:x; end;"
		  "scope; alloc a 65536; fill 42 out:a; assign D in:a out:y; end");
	assert_true(script_x[0][0] == 42.0f && script_x[255][3] == 42.0f);
	assert_true(script_y[0][0] == 42.0f && script_y[255][3] == 42.0f);
}

static void a_submit_waits_for_a_slot(void **state)
{
	(void)state;
	rings(4, 0, 0);
	script_ok("scope; hold A; stamp B; release C; end; scope; stamp D; mark E; end");
	script_order("CE");
	/* and again and again, each time by one task */
	script_ok("repeat 100 [scope; stamp A io:x; stamp B io:x; end]; scope; hold A; release C; end;"
		  "repeat 100 [scope; stamp D io:x; end]");
	script_order("CD");
	assert_int_equal(script_chip.status.tasks_completed, 302);
}

static void a_submit_waits_for_heap(void **state)
{
	(void)state;
	rings(0, 4096, 0);
	script_ok("scope; hold A new:a; release C; end; scope; alloc a 256; mark D; end");
	script_order("CD");
	script_ok("scope; hold A new:a; release C; end;"
		  "repeat 100 [scope; stamp D new:b; end; scope; alloc c 100; end]; mark E");
	script_order("CD");
	script_order("CE");
}

static void a_submit_waits_for_dependency_pool_entries(void **state)
{
	char text[2048];
	int used;

	(void)state;
	rings(0, 0, 4);
	/* B needs all four, D three: it waits until B has completed */
	used = snprintf(text, sizeof(text), "hold A;");
	for (int i = 26; i < 93; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "stamp %d;", i);
	script_ok("%s stamp B dep:A dep:26-92; release C; stamp D dep:26-92; mark E", text);
	script_order("CBE");
}

#define THIRTY_ONE(s) s s s s s s s s s s s s s s s s s s s s s s s s s s s s s s s

static void a_submit_waits_for_tensor_map_entries(void **state)
{
	(void)state;
	/* 65536 at most, of which the tasks that wait for A hold 65534 */
	script_ok("hold A; release C; many 2114 stamp B wait:A " THIRTY_ONE("in:x[7] ") ";"
		  "many 10 stamp D wait:A " THIRTY_ONE("in:x[8] ") "; mark E; stamp F out:x");
	script_order("CB");
	script_order("CD");
	script_order("BF");
	script_order("DF");
	assert_int_equal(script_chip.status.tasks_completed, 2127);
}

static void data_survives_the_recycling_of_slots_and_heap(void **state)
{
	(void)state;
	rings(4, 8192, 4);
	for (int i = 0; i < 3; i++) {
		memset(script_x, 0, sizeof(script_x));
		script_ok("repeat 1000 [scope; make a 256; assign A in:x out:a; increment B io:a; end;"
			  "scope; increment C io:x[0:100]; make b 200; assign D in:x[0:200] out:b; end;"
			  "scope; increment E io:x; end]");
		assert_true(script_x[0][0] == 2000.0f && script_x[99][3] == 2000.0f);
		assert_true(script_x[100][0] == 1000.0f && script_x[255][3] == 1000.0f);
	}
}

static void results_pass_through_recycled_buffers(void **state)
{
	(void)state;
	rings(8, 3 * 4096, 4);
	memset(script_x, 0, sizeof(script_x));
	script_ok("repeat 1000 [scope; make a 256; assign A in:x out:a; increment B io:a;"
		  "scope; make b 256; assign C in:a out:b; increment D io:b;"
		  "scope; make c 256; assign E in:b out:c; increment F io:c; assign G in:c out:x; end; end; end]");
	assert_true(script_x[0][0] == 3000.0f && script_x[255][3] == 3000.0f);
}

#define RUN(name) cmocka_unit_test_setup(name, default_rings)

int main(void)
{
	const struct CMUnitTest bookkeeping[] = {
		cmocka_unit_test(chip_case_01_requests_are_rounded_up_to_64),
		cmocka_unit_test(chip_case_02_tasks_without_bytes_take_slots_and_no_heap),
		cmocka_unit_test(chip_case_03_a_window_has_one_live_task_less_than_slots),
		cmocka_unit_test(chip_case_04_an_exact_fit_is_taken_and_more_is_refused),
		cmocka_unit_test(chip_case_05_wrapping_needs_a_tail_beyond_the_request),
		cmocka_unit_test(chip_case_06_the_gap_before_the_tail_is_never_filled),
		cmocka_unit_test(chip_case_07_an_empty_heap_starts_again_at_0),
		cmocka_unit_test(chip_case_08_available_is_the_larger_gap),
		cmocka_unit_test(live_blocks_never_overlap),
		cmocka_unit_test(an_empty_heap_serves_every_request_that_fits),
	};
	const struct CMUnitTest runs[] = {
		RUN(chip_case_04_a_run_that_needs_more_ends_with_code_2),
		RUN(chip_case_09_scopes_of_one_depth_share_a_small_heap),
		RUN(a_submit_waits_for_a_slot),
		RUN(a_submit_waits_for_heap),
		RUN(a_submit_waits_for_dependency_pool_entries),
		RUN(a_submit_waits_for_tensor_map_entries),
		RUN(data_survives_the_recycling_of_slots_and_heap),
		RUN(results_pass_through_recycled_buffers),
	};
	int failures = cmocka_run_group_tests_name("ring bookkeeping", bookkeeping, NULL, NULL);

	return failures + chip_run_suite("rings", runs, script_setup, script_teardown);
}
