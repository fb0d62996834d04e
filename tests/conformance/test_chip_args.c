// SPDX-License-Identifier: MIT
/*
 * Argument lists of tasks and what kernels receive (chip-runtime §6 to §9;
 * cases 23 to 32), in the current and in the older APIs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "chip_fixture.h"
#include "simpler/error.h"

/* As in kernels/words.hpp. */
struct words_record {
	int64_t args[64];
	int64_t count;
	int64_t position[32];
	int64_t address[32];
	int64_t elements[32];
	int64_t block_idx, block_num, sub_block_id, workspace, calls;
};

/* The numbers of orch/args.cpp and orch/args_older.cpp. */
enum {
	TENSORS_AND_SCALARS, TENSOR_BEHIND_SCALAR, NULL_DEPENDENCIES, DEPENDENCIES_TWICE,
	COLLECTED_DEPENDENCIES, TIMING_SLOTS, SCALAR_WORDS, SCALARS_FROM_NOWHERE, CLEARED, FIRST_ERROR,
	NO_KERNEL, SECOND_LANE, BLOCKS, WRONG_ALLOCATIONS, CREATED, MISSING_RESULT, SCOPES,
	WRONG_VIEWS, WRONG_PREDICATES, WRONG_ELEMENTS, OTHER_KINDS, ENTRY_OPERANDS
};
enum {
	OLD_TENSOR_SCALAR_TENSOR, OLD_SCALARS_BETWEEN, OLD_DECLARED, OLD_UNWRITTEN, OLD_MANY,
	OLD_COLLECTOR, OLD_WRONG_COUNTS, OLD_BLOCKS, OLD_SCOPES
};

enum { FLOAT32 = 0, INT64 = 7 };

static struct chip_fixture f;
static struct words_record record;
static float a[64], b[64];
static int64_t results[64];

static int setup(const char *orchestration)
{
	fixture_open_variant(&f, FIXTURE_WATCHDOG_MS);
	fixture_load(&f, orchestration, "words,words_at");
	fixture_tensor(&f, 0, &record, INT64, 8, sizeof(record) / 8);
	fixture_tensor(&f, 1, a, FLOAT32, 4, 64);
	fixture_tensor(&f, 2, b, FLOAT32, 4, 64);
	fixture_tensor(&f, 3, results, INT64, 8, 64);
	return 0;
}

static int setup_current(void **state)
{
	(void)state;
	return setup("args");
}

static int setup_older(void **state)
{
	(void)state;
	return setup("args_older");
}

static int teardown(void **state)
{
	(void)state;
	fixture_close(&f);
	return 0;
}

/* Which arguments of the next run's kernels are descriptors to look at. */
static void positions(int count, const int *at)
{
	record.count = count;
	for (int i = 0; i < count; i++)
		record.position[i] = at ? at[i] : i;
}

static int run(uint64_t what, uint64_t n, uint64_t m)
{
	memset(record.args, 0, sizeof(record.args));
	memset(results, 0, sizeof(results));
	record.calls = 0;
	fixture_run(&f, 3, what, n, m);
	record.count = 0;
	return f.status.code;
}

static void ok(uint64_t what, uint64_t n, uint64_t m)
{
	if (run(what, n, m))
		fail_msg("case %llu (%lld, %lld): %s", (unsigned long long)what, (long long)n,
			 (long long)m, f.status.text);
}

/* The chip works as before after every refusal, in the same API. */
static void refused(uint64_t what, uint64_t n, uint64_t m, const char *part)
{
	run(what, n, m);
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, part);
	assert_int_equal(f.status.orch_code, SIMPLER_RUN_INVALID_ARGS);
	assert_string_not_equal(f.status.hint, "");
	ok(TENSORS_AND_SCALARS, 2, 1);
	assert_int_equal(record.calls, 1);
}

/* ---- current API ---- */

static void chip_case_23_a_tensor_behind_a_scalar_is_refused(void **state)
{
	(void)state;
	refused(TENSOR_BEHIND_SCALAR, 0, 0, "all tensors must be added before any scalars");
	run(TENSOR_BEHIND_SCALAR, 0, 0);
	assert_int_equal(results[0], 1);
	assert_int_equal(record.calls, 0);
}

static void chip_case_24_more_than_32_tensors_or_16_scalars_are_refused(void **state)
{
	(void)state;
	refused(TENSORS_AND_SCALARS, 33, 0, "Too many tensor args (max 32)");
	refused(TENSORS_AND_SCALARS, 1, 17, "Too many scalar args (max 16)");
	refused(TENSORS_AND_SCALARS, 33, 17, "Too many tensor args (max 32)");
	ok(TENSORS_AND_SCALARS, 32, 16);
}

static void chip_case_25_null_dependencies_are_refused_unless_there_are_none(void **state)
{
	(void)state;
	refused(NULL_DEPENDENCIES, 4, 0, "set_dependencies: n is negative, or ids is null and n is not 0");
	refused(NULL_DEPENDENCIES, (uint64_t)-1, 0, "set_dependencies");
	ok(NULL_DEPENDENCIES, 0, 0);
	assert_int_equal(record.calls, 1);
}

static void dependencies_can_be_set_once(void **state)
{
	(void)state;
	refused(DEPENDENCIES_TWICE, 0, 0, "set_dependencies: dependencies are already set");
	run(DEPENDENCIES_TWICE, 0, 0);
	assert_int_equal(results[0], 0);
	assert_int_equal(results[1], 1);
	ok(COLLECTED_DEPENDENCIES, 4, 0);
	assert_int_equal(record.calls, 2);
	refused(COLLECTED_DEPENDENCIES, 5, 0, "Too many dependencies (max 4)");
}

static void chip_case_26_timing_slots_are_0_to_15(void **state)
{
	(void)state;
	ok(TIMING_SLOTS, 0, 0);
	assert_int_equal(results[0], 0);
	assert_int_equal(results[1], 15);
	assert_int_equal(results[2], 1);
	assert_int_equal(results[3], 0);
	assert_int_equal(results[4], -1);
	assert_int_equal(results[5], 1);
	assert_int_equal(record.calls, 1);
	ok(TIMING_SLOTS, 15, 0);
	refused(TIMING_SLOTS, 16, 0, "task_timing_slot out of range (valid: 0..15)");
}

static void chip_case_27_scalars_are_bit_patterns_with_zeros_above(void **state)
{
	static const int64_t expected[] = {
		0xffffffff, 0x80000000, 7, 0x3f800000, 0x3ff0000000000000, 1, 0xff, 6, -1, -1, 5, 2, 3,
	};

	(void)state;
	ok(SCALAR_WORDS, 0, 0);
	assert_memory_equal(record.args + 1, expected, sizeof(expected));
	assert_int_equal(results[0], 0x3f800000);
	assert_int_equal(results[1], 0xffffffff);
	assert_int_equal(results[2], 1);
	assert_int_equal(results[3], 0x3fc00000);
	refused(SCALARS_FROM_NOWHERE, 0, 0, "copy_scalars_from: range outside the source's scalars");
}

static void check_tensors_and_scalars(int tensors, int scalars)
{
	positions(tensors, NULL);
	ok(TENSORS_AND_SCALARS, (uint64_t)tensors, (uint64_t)scalars);
	assert_int_equal(record.calls, 1);
	assert_int_equal(record.address[0], (intptr_t)&record);
	for (int i = 1; i < tensors; i++) {
		assert_int_equal(record.address[i], (intptr_t)&a[i]);
		assert_int_equal(record.elements[i], i);
	}
	for (int i = 0; i < scalars; i++)
		assert_int_equal(record.args[tensors + i], 1000 + i);
	assert_int_not_equal(record.args[48], 0);
	assert_int_not_equal(record.args[49], 0);
	assert_int_equal(record.block_idx, 0);
	assert_int_equal(record.block_num, 1);
	assert_int_equal(record.sub_block_id, 0);
	assert_int_equal(record.workspace, 0);
}

static void chip_case_28_kernels_get_descriptors_then_scalars_then_contexts(void **state)
{
	static const int counts[][2] = { {1, 0}, {2, 1}, {1, 16}, {17, 3}, {32, 0}, {32, 16} };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		check_tensors_and_scalars(counts[i][0], counts[i][1]);
}

static void cleared_arguments_start_anew(void **state)
{
	static const int at[] = { 1 };

	(void)state;
	positions(1, at);
	ok(CLEARED, 0, 0);
	assert_int_equal(record.address[0], (intptr_t)b);
	assert_int_equal(record.args[2], 6);
	assert_int_equal(record.block_num, 1);
	assert_int_equal(record.calls, 1);
}

static void the_first_error_of_a_list_is_reported(void **state)
{
	(void)state;
	refused(FIRST_ERROR, 0, 0, "the first of two");
}

static void a_task_needs_a_kernel(void **state)
{
	(void)state;
	refused(NO_KERNEL, 0, 0, "no kernel");
	ok(SECOND_LANE, 0, 0);
	assert_int_equal(record.calls, 1);
	assert_int_equal(record.sub_block_id, 0);
}

static void a_task_needs_a_block(void **state)
{
	(void)state;
	refused(BLOCKS, 0, 0, "block_num is 0, must be 1 or more");
	refused(BLOCKS, (uint64_t)-5, 0, "block_num is -5, must be 1 or more");
	refused(BLOCKS, 1ull << 32, 0, "block_num is 4294967296");
	refused(BLOCKS, INT32_MAX, 0, "block_num 2147483647 is too large");
	ok(BLOCKS, 1, 0);
}

static void allocations_take_new_outputs_only(void **state)
{
	(void)state;
	refused(WRONG_ALLOCATIONS, 0, 0, "alloc_tensors");
	refused(WRONG_ALLOCATIONS, 1, 0, "alloc_tensors");
	refused(WRONG_ALLOCATIONS, 3, 0, "alloc_tensors");
	ok(WRONG_ALLOCATIONS, 2, 0);
	assert_int_equal(results[0], 1);
}

static void created_tensors_are_returned_in_order(void **state)
{
	static const int at[] = { 1, 2, 3 };

	(void)state;
	positions(3, at);
	ok(CREATED, 0, 0);
	assert_int_equal(results[0], 2);
	assert_int_equal(results[1], 1024);
	assert_int_equal(results[2], 700);
	assert_int_equal(results[3], -3);
	assert_int_equal(results[4], 1);
	assert_int_equal(results[5], 2);
	assert_int_equal(results[6], -3);
	assert_int_equal(results[7], 1400);
	assert_int_equal(record.address[0], results[8]);
	assert_int_equal(record.address[1], results[8] + 1024);
	assert_int_equal(record.address[2], (intptr_t)b);
	assert_int_equal(results[9], 0);
	assert_int_equal(results[10], 0);
	refused(MISSING_RESULT, 0, 0, "get_ref: tensor 0 of 0");
}

static void scopes_must_match(void **state)
{
	(void)state;
	refused(SCOPES, 0, 0, "scope_end without a scope_begin");
	ok(SCOPES, 63, 0);	/* open ones end with the run */
	refused(SCOPES, 64, 0, "scope depth 65 exceeds the limit of 64");
	ok(SCOPES, 1, 0);
}

static void views_stay_inside_their_tensor(void **state)
{
	static const char *const texts[] = {
		"dimension 1: offset 4 + shape 5 exceed the tensor's 8", "the tensor is not contiguous",
		"the shape does not have the tensor's 64 elements", "dimension 2 of a tensor of 2",
		"order[1] = 0: not a permutation of 2 dimensions", "0..9 step 1 of a dimension with extent 8",
		"0..8 step 0", "6 dimensions, at most 5 are possible", "element type 15 is unknown",
		"stride[0] is 0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refused(WRONG_VIEWS, i, 0, texts[i]);
	ok(WRONG_VIEWS, 10, 0);
	assert_int_equal(results[0], 0);
	refused(WRONG_VIEWS, 11, 0, "too many elements");
}

static void predicates_name_an_element(void **state)
{
	(void)state;
	refused(WRONG_PREDICATES, 0, 0, "predicate index 8 of dimension 0 is outside its extent 8");
	refused(WRONG_PREDICATES, 1, 0, "predicate");
	refused(WRONG_PREDICATES, 2, 0, "predicate with operation 9");
	ok(WRONG_PREDICATES, 3, 0);
}

static void element_accesses_are_checked(void **state)
{
	(void)state;
	refused(WRONG_ELEMENTS, 0, 0, "index 64 of dimension 0 is outside its extent 64");
	refused(WRONG_ELEMENTS, 1, 0, "2 indices for a tensor of 1 dimensions");
	refused(WRONG_ELEMENTS, 2, 0, "a value of 8 bytes for element type 0 of 4 bytes");
	refused(WRONG_ELEMENTS, 3, 0, "index 64 of dimension 0 is outside its extent 64");
	refused(WRONG_ELEMENTS, 4, 0, "set_tensor_data of a tensor without a buffer");
	ok(WRONG_ELEMENTS, 5, 0);
}

static void pipes_and_clusters_are_no_data(void **state)
{
	(void)state;
	refused(OTHER_KINDS, 0, 0, "a cluster or pipe is added with");
	refused(OTHER_KINDS, 1, 0, "a cluster or pipe is added with");
	refused(OTHER_KINDS, 2, 0, "add_cluster takes a result of rt_allocate_cluster");
	refused(OTHER_KINDS, 3, 0, "pipe arguments without a cluster argument");
}

static void entry_operands_are_numbered_separately(void **state)
{
	(void)state;
	ok(ENTRY_OPERANDS, 0, 0);
	assert_int_equal(results[0], 4);
	assert_int_equal(results[1], 3);
	assert_int_equal(results[2], 64);
	refused(ENTRY_OPERANDS, 1, 0, "tensor 99 of 4");
	refused(ENTRY_OPERANDS, 2, 0, "scalar 99 of 3");
}

/* ---- operands of the run ---- */

static void expect_three(uint32_t tensors, uint32_t scalars, bool enough)
{
	f.launch.tensor_count = tensors;
	results[0] = -1;
	f.tensors[0] = f.tensors[3];
	fixture_run(&f, scalars, 1ull, 2ull, 3ull, 4ull);
	if (enough) {
		assert_int_equal(f.status.code, 0);
		assert_int_equal(results[0], tensors * 100 + scalars);
	} else {
		fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, "the orchestration expects 3 arguments");
		assert_int_equal(results[0], -1);
		assert_int_equal(f.status.tasks_submitted, 0);
	}
}

static void chip_case_32_too_few_operands_fail_before_the_entry(void **state)
{
	struct simpler_hw_tensor first = f.tensors[0];
	uint32_t slot = f.slot;

	(void)state;
	fixture_load(&f, "expects_three", "words");
	expect_three(1, 0, false);
	expect_three(1, 1, false);
	expect_three(2, 0, false);
	expect_three(2, 1, true);
	expect_three(1, 2, true);
	expect_three(1, 4, true);
	expect_three(4, 0, true);
	f.tensors[0] = first;
	f.launch.tensor_count = 4;
	f.slot = slot;
	ok(TENSORS_AND_SCALARS, 2, 1);
}

/* ---- older APIs ---- */

static void old_refused(uint64_t what, uint64_t n, uint64_t m, const char *part)
{
	run(what, n, m);
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, part);
	ok(OLD_TENSOR_SCALAR_TENSOR, 0, 0);
	assert_int_equal(record.calls, 1);
}

static void chip_case_29_kernel_arguments_follow_the_order_of_parameters(void **state)
{
	static const int at[] = { 0, 2 };
	static const int between[] = { 1, 4, 5 };

	(void)state;
	positions(2, at);
	ok(OLD_TENSOR_SCALAR_TENSOR, 0, 0);
	assert_int_equal(record.address[0], (intptr_t)&record);
	assert_int_equal(record.args[1], 7);
	assert_int_equal(record.address[1], (intptr_t)b);
	for (uint64_t worker = 0; worker < 4; worker++) {
		positions(3, between);
		ok(OLD_SCALARS_BETWEEN, worker, 0);
		assert_int_equal(record.calls, 1);
		assert_int_equal(record.address[0], (intptr_t)a);
		assert_int_equal(record.args[2], 0x3fc00000);
		assert_int_equal(record.args[3], 0xffffffff);
		assert_int_equal(record.address[1], (intptr_t)b);
		assert_int_equal(record.address[2], (intptr_t)a);
		assert_int_equal(record.args[6], 9);
		assert_int_not_equal(record.args[48], 0);
	}
}

static void chip_case_30_a_declared_output_has_its_address_after_the_submit(void **state)
{
	static const int at[] = { 1, 2, 3 };

	(void)state;
	positions(3, at);
	ok(OLD_DECLARED, 0, 0);
	assert_int_equal(results[0], 0);
	assert_int_not_equal(results[1], 0);
	/* both in the task's block, the second at a multiple of 1024 */
	assert_int_equal(results[2] - results[1], 1024);
	assert_int_equal(results[3], 1);
	assert_int_equal(results[4], 0);
	assert_int_equal(record.address[0], results[1]);
	assert_int_equal(record.address[1], results[2]);
	assert_int_equal(record.address[2], results[1]);
	assert_int_equal(record.elements[1], 300);
}

static void chip_case_31_an_input_without_memory_is_refused(void **state)
{
	(void)state;
	old_refused(OLD_UNWRITTEN, 0, 0, "make_input_param: the tensor has no memory yet");
	old_refused(OLD_UNWRITTEN, 1, 0, "make_inout_param: the tensor has no memory yet");
}

static void older_tasks_take_32_tensors_and_16_scalars(void **state)
{
	(void)state;
	ok(OLD_MANY, 32, 16);
	assert_int_equal(results[0], 48);
	for (int i = 0; i < 16; i++)
		assert_int_equal(record.args[1 + 2 * i], 1000 + i);
	assert_int_not_equal(record.args[47], 0);
	old_refused(OLD_MANY, 33, 0, "Too many tensor args (max 32)");
	old_refused(OLD_MANY, 1, 17, "Too many scalar args (max 16)");
	old_refused(OLD_WRONG_COUNTS, 3, 0, "the number of parameters is negative, or there are none");
	old_refused(OLD_WRONG_COUNTS, (uint64_t)-1, 0, "the number of parameters is negative");
}

static void the_collecting_parameter_keeps_the_order_too(void **state)
{
	static const int at[] = { 0, 3, 4 };

	(void)state;
	for (uint64_t cube = 0; cube < 2; cube++) {
		positions(3, at);
		ok(OLD_COLLECTOR, cube, 0);
		assert_int_equal(record.address[0], (intptr_t)&record);
		assert_int_equal(record.args[1], 3);
		assert_int_equal(record.args[2], 0x3fc00000);
		assert_int_equal(record.address[1], (intptr_t)a);
		assert_int_equal(record.address[2], (intptr_t)b);
		assert_int_equal(record.args[5], 0xffffffff);
	}
}

static void older_tasks_need_a_block(void **state)
{
	(void)state;
	ok(OLD_BLOCKS, 1, 0);
	assert_int_equal(record.block_num, 1);
	old_refused(OLD_BLOCKS, 0, 0, "block_num is 0, must be 1 or more");
}

static void older_scopes_nest(void **state)
{
	(void)state;
	ok(OLD_SCOPES, 0, 0);
	assert_int_equal(results[0], 4);
	assert_int_equal(results[1], 2);
	assert_int_equal(results[2], 1);
	assert_int_equal(results[63], 7);
}

static void chip_case_32_too_few_words_fail_before_the_older_entry(void **state)
{
	(void)state;
	memset(results, 0, sizeof(results));
	fixture_run(&f, 2, (uint64_t)OLD_SCOPES, 0ull);
	fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS,
		       "the orchestration expects 7 arguments, the run has 6");
	assert_int_equal(results[63], 0);
	assert_int_equal(fixture_run(&f, 4, (uint64_t)OLD_SCOPES, 0ull, 0ull, 0ull), 0);
	assert_int_equal(results[63], 8);
}

int main(void)
{
	const struct CMUnitTest current[] = {
		cmocka_unit_test(chip_case_23_a_tensor_behind_a_scalar_is_refused),
		cmocka_unit_test(chip_case_24_more_than_32_tensors_or_16_scalars_are_refused),
		cmocka_unit_test(chip_case_25_null_dependencies_are_refused_unless_there_are_none),
		cmocka_unit_test(dependencies_can_be_set_once),
		cmocka_unit_test(chip_case_26_timing_slots_are_0_to_15),
		cmocka_unit_test(chip_case_27_scalars_are_bit_patterns_with_zeros_above),
		cmocka_unit_test(chip_case_28_kernels_get_descriptors_then_scalars_then_contexts),
		cmocka_unit_test(cleared_arguments_start_anew),
		cmocka_unit_test(the_first_error_of_a_list_is_reported),
		cmocka_unit_test(a_task_needs_a_kernel),
		cmocka_unit_test(a_task_needs_a_block),
		cmocka_unit_test(allocations_take_new_outputs_only),
		cmocka_unit_test(created_tensors_are_returned_in_order),
		cmocka_unit_test(scopes_must_match),
		cmocka_unit_test(views_stay_inside_their_tensor),
		cmocka_unit_test(predicates_name_an_element),
		cmocka_unit_test(element_accesses_are_checked),
		cmocka_unit_test(pipes_and_clusters_are_no_data),
		cmocka_unit_test(entry_operands_are_numbered_separately),
		cmocka_unit_test(chip_case_32_too_few_operands_fail_before_the_entry),
	};
	const struct CMUnitTest older[] = {
		cmocka_unit_test(chip_case_29_kernel_arguments_follow_the_order_of_parameters),
		cmocka_unit_test(chip_case_30_a_declared_output_has_its_address_after_the_submit),
		cmocka_unit_test(chip_case_31_an_input_without_memory_is_refused),
		cmocka_unit_test(older_tasks_take_32_tensors_and_16_scalars),
		cmocka_unit_test(the_collecting_parameter_keeps_the_order_too),
		cmocka_unit_test(older_tasks_need_a_block),
		cmocka_unit_test(older_scopes_nest),
		cmocka_unit_test(chip_case_32_too_few_words_fail_before_the_older_entry),
	};

	return chip_run_suite("arguments", current, setup_current, teardown) +
	       chip_run_suite("arguments, older APIs", older, setup_older, teardown);
}
