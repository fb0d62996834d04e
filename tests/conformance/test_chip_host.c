/* SPDX-License-Identifier: MIT */
/*
 * Cases of chip-runtime.md §20 about the host's share in a run: ring sizes from the environment
 * and from the run, their checks, and what is copied to the chip and back.
 */
#include "base/log.h"
#include "worker_cases.h"

#define DEPTHS 4	/* scopes of depth 0 to 3 allocate from rings 0 to 3 */

/* ---- ring sizes ---- */

/* The warnings of one init. */
static char warnings[2048];

static void keep_warnings(void *unused, int level, const char *line, size_t len)
{
	size_t used = strlen(warnings);

	(void)unused;
	if (level >= SIMPLER_LOG_WARN && used + len < sizeof(warnings))
		memcpy(warnings + used, line, len);
}

static struct simpler_worker *ready_with(const char *heap)
{
	struct simpler_worker *w;

	memset(warnings, 0, sizeof(warnings));
	setenv("PTO2_RING_HEAP", heap, 1);
	log_set_sink(keep_warnings, NULL);
	w = ready();
	log_set_sink(NULL, NULL);
	unsetenv("PTO2_RING_HEAP");
	return w;
}

/* A run that makes one output of @bytes at scope depth @depth. */
static int make_output(struct simpler_worker *w, const struct simpler_callable_handle *f,
		       uint64_t depth, uint64_t bytes, const struct simpler_call_config *config)
{
	struct simpler_task_args *a;
	int rc;

	assert_int_equal(simpler_task_args_create(&a), 0);
	simpler_task_args_add_scalar(a, 4);
	simpler_task_args_add_scalar(a, depth);
	simpler_task_args_add_scalar(a, bytes);
	rc = simpler_worker_run(w, f, a, config, NULL);
	simpler_task_args_destroy(a);
	return rc;
}

/* The ring of each depth takes an output of its size and refuses one that is larger. */
static void expect_heaps(struct simpler_worker *w, const struct simpler_callable_handle *f,
			 const uint64_t heaps[DEPTHS], const struct simpler_call_config *config)
{
	uint64_t d;

	for (d = 0; d < DEPTHS; d++) {
		assert_int_equal(make_output(w, f, d, heaps[d], config), 0);
		assert_int_equal(make_output(w, f, d, heaps[d] + 1024, config),
				 -SIMPLER_RUN_HEAP_RING_DEADLOCK);
	}
}

static void chip_case_39_a_list_of_three_is_ignored_with_a_warning(void **state)
{
	struct simpler_worker *w = ready_with("1024,2048,4096");
	struct simpler_callable_handle f = registered(w, NULL, 0);

	(void)state;
	if (!strstr(warnings, "PTO2_RING_HEAP=1024,2048,4096 is ignored"))
		fail_msg("no warning, only '%s'", warnings);
	assert_int_equal(make_output(w, &f, 0, 1 << 20, NULL), 0);
	end(w);
}

static void chip_case_39_four_values_apply_per_ring_and_a_run_overrides_one(void **state)
{
	const uint64_t heaps[DEPTHS] = { 4096, 8192, 16384, 32768 };
	const uint64_t overridden[DEPTHS] = { 4096, 2097152, 16384, 32768 };
	struct simpler_worker *w = ready_with("4096,8192,16384,32768");
	struct simpler_callable_handle f = registered(w, NULL, 0);
	struct simpler_call_config c;

	(void)state;
	assert_string_equal(warnings, "");
	expect_heaps(w, &f, heaps, NULL);
	simpler_call_config_init(&c);
	c.runtime_env.ring_heap[1] = 2097152;
	expect_heaps(w, &f, overridden, &c);
	expect_heaps(w, &f, heaps, NULL);
	end(w);
}

/* ---- what a submit refuses ---- */

static void expect_refusal(struct simpler_worker *w, const struct simpler_callable_handle *f,
			   const struct simpler_call_config *c, const char *text)
{
	struct simpler_run *r;

	expect_class(simpler_worker_submit(w, f, NULL, c, NULL, &r), VALUE);
	expect_text(w, text);
}

static void chip_case_40_bad_ring_sizes_are_refused_by_submit(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, NULL, 0);
	struct simpler_call_config c;

	(void)state;
	simpler_call_config_init(&c);
	simpler_ring_set_all(c.runtime_env.ring_task_window, 6);
	expect_refusal(w, &f, &c, "ring_task_window must be a power of 2 in [4, INT32_MAX]");
	simpler_call_config_init(&c);
	simpler_ring_set_all(c.runtime_env.ring_heap, 512);
	expect_refusal(w, &f, &c, "ring_heap must be >= 1024 (bytes per ring)");
	simpler_call_config_init(&c);
	simpler_ring_set_all(c.runtime_env.ring_dep_pool, 3);
	expect_refusal(w, &f, &c, "ring_dep_pool must be in [4, INT32_MAX]");
	end(w);
}

static void chip_case_40_diagnostics_need_a_place_for_their_output(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, NULL, 0);
	struct simpler_call_config c;

	(void)state;
	simpler_call_config_init(&c);
	c.enable_dump_args = 1;
	expect_refusal(w, &f, &c, "output_prefix is empty");
	c.enable_dump_args = 0;
	c.enable_pmu = 2;
	expect_refusal(w, &f, &c, "output_prefix is empty");
	end(w);
}

/* ---- copies ---- */

static const int32_t one_in[] = { SIMPLER_DIR_IN, SIMPLER_DIR_SCALAR };
static const int32_t one_out[] = { SIMPLER_DIR_OUT, SIMPLER_DIR_SCALAR };

static void chip_case_51_a_device_tensor_is_used_in_place(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *x = device(w);

	(void)state;
	assert_int_equal(run(w, &f, x, ADD_ONE), 0);
	assert_int_equal(simpler_worker_retained_temp_addr(w, 0), 0);
	assert_true(*(float *)(uintptr_t)simpler_buffer_address(x) == 1);
	end(w);
	simpler_buffer_put(x);
}

static void chip_case_51_an_in_tensor_is_not_copied_back(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_in, 2);
	struct simpler_buffer *x = host(w, BYTES);
	float *data = simpler_buffer_data(x);
	const float *staged;

	(void)state;
	data[0] = 7;
	assert_int_equal(run(w, &f, x, ADD_ONE), 0);
	staged = (float *)(uintptr_t)simpler_worker_retained_temp_addr(w, 0);
	assert_true(staged[0] == 8);
	assert_true(data[0] == 7);
	end(w);
	simpler_buffer_put(x);
}

/*
 * The case says that OUT tensors are not uploaded.  They are, on purpose: bytes that no kernel
 * writes keep the caller's content (decisions D21), which on a chip with memory of its own takes
 * an upload.  So a run that writes nothing changes nothing, and the chip starts from the content.
 */
static void chip_case_51_an_out_tensor_keeps_what_no_kernel_wrote(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_out, 2);
	struct simpler_buffer *x = host(w, BYTES);
	float *data = simpler_buffer_data(x);

	(void)state;
	data[0] = 7;
	data[15] = 9;
	assert_int_equal(run(w, &f, x, NOTHING), 0);
	assert_true(data[0] == 7 && data[15] == 9);
	assert_int_equal(run(w, &f, x, ADD_ONE), 0);
	assert_true(data[0] == 8 && data[15] == 10);
	end(w);
	simpler_buffer_put(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chip_case_39_a_list_of_three_is_ignored_with_a_warning),
		cmocka_unit_test(chip_case_39_four_values_apply_per_ring_and_a_run_overrides_one),
		cmocka_unit_test(chip_case_40_bad_ring_sizes_are_refused_by_submit),
		cmocka_unit_test(chip_case_40_diagnostics_need_a_place_for_their_output),
		cmocka_unit_test(chip_case_51_a_device_tensor_is_used_in_place),
		cmocka_unit_test(chip_case_51_an_in_tensor_is_not_copied_back),
		cmocka_unit_test(chip_case_51_an_out_tensor_keeps_what_no_kernel_wrote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
