/* SPDX-License-Identifier: MIT */
/* Runs: staging, results, the pipeline of two, failures, waiting. */
#include <pthread.h>
#include <stdatomic.h>

#include "worker_fixture.h"

static float *data_of(const struct simpler_buffer *b)
{
	return simpler_buffer_data(b);
}

static void store_at(const struct simpler_hw_tensor *t, uint64_t element, float value)
{
	((float *)(uintptr_t)t->addr)[t->start_offset + element] = value;
}

static float load_at(const struct simpler_hw_tensor *t, uint64_t element)
{
	return ((const float *)(uintptr_t)t->addr)[t->start_offset + element];
}

/* Writes twice the first operand's first element into the second operand's first element. */
static void kernel_double_first(const struct simpler_hw_launch *l)
{
	const struct simpler_hw_tensor *t = (void *)(uintptr_t)l->tensors;

	store_at(&t[1], 0, 2 * load_at(&t[0], 0));
}

static void device_tensors_are_passed_through(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "bs");
	struct simpler_buffer *b = device_buffer(w, 4096);
	struct simpler_task_args *a = args_new();

	(void)state;
	args_add(a, b, 8, 16, SIMPLER_TAG_INOUT);
	simpler_task_args_add_scalar(a, 77);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	assert_int_equal(fake.launches, 1);
	assert_int_equal(fake.copies, 0);
	assert_int_equal(fake.last_launch.tensor_count, 1);
	assert_int_equal(fake.last_launch.scalar_count, 1);
	assert_int_equal(fake.last_launch.bytes, sizeof(struct simpler_hw_launch));
	assert_int_equal(fake.last_launch.dep_mode, SIMPLER_HW_DEPS_SEQUENTIAL);
	assert_int_equal(fake.last_scalars[0], 77);
	assert_int_equal(fake.last_tensors[0].addr, simpler_buffer_address(b));
	assert_int_equal(fake.last_tensors[0].bytes, 4096);
	assert_int_equal(fake.last_tensors[0].start_offset, 8);
	assert_int_equal(fake.last_tensors[0].extent, 16);
	assert_int_equal(fake.last_tensors[0].shapes[0], 16);
	assert_int_equal(fake.last_tensors[0].strides[0], 1);
	assert_int_equal(fake.last_tensors[0].address_space, 1);
	assert_true(fake.last_tensors[0].owner == UINT64_MAX);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void run_without_deadline_rings_no_doorbell(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	int before = fake.doorbells;

	(void)state;
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, NULL), 0);
	assert_int_equal(fake.doorbells, before);
	worker_end(w);
}

static void host_output_keeps_what_no_kernel_wrote(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "io");
	struct simpler_buffer *in = host_buffer(w, 64), *out = host_buffer(w, 64);
	struct simpler_task_args *a = args_new();

	(void)state;
	fake.kernel = kernel_double_first;
	data_of(in)[0] = 21;
	data_of(out)[0] = 1;
	data_of(out)[1] = 5;
	args_add(a, in, 0, 16, SIMPLER_TAG_INPUT);
	args_add(a, out, 0, 16, SIMPLER_TAG_OUTPUT_EXISTING);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	assert_true(data_of(out)[0] == 42);
	assert_true(data_of(out)[1] == 5);
	assert_int_equal(fake.copies, 3);	/* in, out, out back; IN is not copied back */
	simpler_task_args_destroy(a);
	simpler_buffer_put(in);
	simpler_buffer_put(out);
	worker_end(w);
}

static void staged_views_of_one_buffer_get_spans_of_1024(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "ii");
	struct simpler_buffer *b = host_buffer(w, 8192);
	struct simpler_task_args *a = args_new();

	(void)state;
	data_of(b)[300] = 3;
	args_add(a, b, 0, 257, SIMPLER_TAG_INPUT);	/* 1028 bytes: two units */
	args_add(a, b, 300, 4, SIMPLER_TAG_INPUT);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	assert_int_equal(fake.last_tensors[1].addr - fake.last_tensors[0].addr, 2048);
	assert_int_equal(fake.last_tensors[0].bytes, 1028);
	assert_int_equal(fake.last_tensors[1].start_offset, 0);
	assert_true(load_at(&fake.last_tensors[1], 0) == 3);
	assert_int_equal(simpler_worker_retained_temp_addr(w, 0), fake.last_tensors[0].addr);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void failed_run_leaves_host_tensors_alone(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_buffer *b = host_buffer(w, 64);
	struct simpler_task_args *a = args_new();
	struct simpler_error e;

	(void)state;
	data_of(b)[0] = 9;
	fake.codes[0] = SIMPLER_RUN_HEAP_RING_DEADLOCK;
	fake.code_count = 1;
	fake.text = "heap of ring 0 is full";
	args_add(a, b, 0, 16, SIMPLER_TAG_INOUT);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), -2);
	assert_int_equal(fake.copies, 1);
	assert_true(data_of(b)[0] == 9);
	expect_error(w, -2, "run failed with code -2");
	expect_error(w, -2, "heap of ring 0 is full");
	simpler_worker_last_error(w, &e);
	assert_int_equal(e.core, 7);
	assert_int_equal(e.func_id, 3);
	assert_int_equal(e.task, 42);
	assert_int_equal(e.phase, SIMPLER_PHASE_EXECUTE);
	assert_int_equal(e.chip, 0);
	assert_string_equal(e.name, "HEAP_RING_DEADLOCK");
	assert_true(e.hint[0]);
	/* the code belonged to that run */
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void unreachable_host_memory_fails_the_run_both_ways(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_buffer *b;
	struct simpler_task_args *a = args_new();

	(void)state;
	/* the fake chip cannot reach address 1 */
	assert_int_equal(simpler_worker_wrap_host(w, (void *)1, 64, SIMPLER_ACCESS_READWRITE, &b),
			 0);
	args_add(a, b, 0, 16, SIMPLER_TAG_INOUT);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), SIMPLER_ERR_INVALID_ARGUMENT);
	expect_error(w, SIMPLER_ERR_INVALID_ARGUMENT, "not accessible");
	assert_int_equal(fake.launches, 0);
	/* an older failure on the stream does not hide it */
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_buffer_close(b, NULL), 0);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void staging_keeps_its_address_until_more_is_needed(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "i");
	struct simpler_buffer *b = host_buffer(w, 1 << 16);
	struct simpler_task_args *a = args_new();
	uint64_t first;

	(void)state;
	args_add(a, b, 0, 4096, SIMPLER_TAG_INPUT);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	first = simpler_worker_retained_temp_addr(w, 0);
	simpler_task_args_clear(a);
	args_add(a, b, 0, 16, SIMPLER_TAG_INPUT);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	assert_int_equal(simpler_worker_retained_temp_addr(w, 0), first);
	/* growth that fails keeps the old buffer, and the next small run works */
	simpler_task_args_clear(a);
	args_add(a, b, 0, 16384, SIMPLER_TAG_INPUT);
	fake.fail_at = fake.calls + 1;
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), SIMPLER_ERR_DEVICE_MEMORY);
	expect_error(w, SIMPLER_ERR_DEVICE_MEMORY, "65536 bytes");
	assert_int_equal(simpler_worker_retained_temp_addr(w, 0), first);
	simpler_task_args_clear(a);
	args_add(a, b, 0, 16, SIMPLER_TAG_INPUT);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void config_overrides_environment_overrides_default(void **state)
{
	struct simpler_call_config c;
	struct simpler_worker *w;
	struct simpler_callable_handle f;

	(void)state;
	setenv("PTO2_RING_HEAP", "4096,8192,16384,32768", 1);
	setenv("PTO2_RING_TASK_WINDOW", "1,2", 1);
	setenv("SIMPLER_DEPS", "raw", 1);
	w = worker_ready();
	unsetenv("PTO2_RING_HEAP");
	unsetenv("PTO2_RING_TASK_WINDOW");
	unsetenv("SIMPLER_DEPS");
	f = registered(w, "");
	simpler_call_config_init(&c);
	c.runtime_env.ring_heap[1] = 65536;
	c.deps = SIMPLER_DEPS_SEQUENTIAL;
	c.aicpu_thread_num = 3;
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, NULL), 0);
	assert_int_equal(fake.last_launch.ring_heap[0], 4096);
	assert_int_equal(fake.last_launch.ring_heap[3], 32768);
	assert_int_equal(fake.last_launch.ring_window[0], 0);
	assert_int_equal(fake.last_launch.dep_mode, SIMPLER_HW_DEPS_RAW);
	assert_int_equal(simpler_worker_run(w, &f, NULL, &c, NULL), 0);
	assert_int_equal(fake.last_launch.ring_heap[0], 4096);
	assert_int_equal(fake.last_launch.ring_heap[1], 65536);
	assert_int_equal(fake.last_launch.dep_mode, SIMPLER_HW_DEPS_SEQUENTIAL);
	assert_int_equal(fake.last_launch.control_threads, 3);
	c.aicpu_thread_num = 5;
	assert_int_equal(simpler_worker_run(w, &f, NULL, &c, NULL), SIMPLER_ERR_CONFIG_THREADS);
	expect_error(w, SIMPLER_ERR_CONFIG_THREADS, "must be 0 (auto) or in range [2, 4]");
	worker_end(w);
}

/* ---- refusals: nothing reaches the chip ---- */

static void refused(struct simpler_worker *w, const struct simpler_callable_handle *f,
		    const struct simpler_task_args *a, int code, const char *text)
{
	int before = fake.launches, copies = fake.copies;

	assert_int_equal(simpler_worker_run(w, f, a, NULL, NULL), code);
	expect_error(w, code, text);
	assert_int_equal(fake.launches, before);
	assert_int_equal(fake.copies, copies);
}

static void argument_counts_must_match_the_signature(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "ios");
	struct simpler_buffer *b = device_buffer(w, 64);
	struct simpler_task_args *a = args_new();

	(void)state;
	refused(w, &f, NULL, SIMPLER_ERR_ARG_COUNT,
		"0 tensors were passed, the signature of 'entry' has 2");
	args_add(a, b, 0, 8, SIMPLER_TAG_INPUT);
	args_add(a, b, 8, 8, SIMPLER_TAG_OUTPUT_EXISTING);
	refused(w, &f, a, SIMPLER_ERR_ARG_COUNT,
		"0 scalars were passed, the signature of 'entry' has 1");
	simpler_task_args_add_scalar(a, 1);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void more_arguments_than_a_run_takes_are_refused(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_buffer *b = device_buffer(w, 4 * 300);
	struct simpler_task_args *a = args_new();
	int i;

	(void)state;
	for (i = 0; i < 257; i++)
		args_add(a, b, (uint64_t)i, 1, SIMPLER_TAG_INPUT);
	refused(w, &f, a, SIMPLER_ERR_ARG_LIMIT, "257 tensors, a run can take 256");
	simpler_task_args_clear(a);
	for (i = 0; i < 129; i++)
		simpler_task_args_add_scalar(a, 0);
	refused(w, &f, a, SIMPLER_ERR_ARG_LIMIT, "129 scalars, a run can take 128");
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void full_run_of_256_host_tensors_fits_the_ring(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_buffer *b = host_buffer(w, 4 * 256);
	struct simpler_task_args *a = args_new();
	struct simpler_run *r[3];
	int i;

	(void)state;
	for (i = 0; i < 256; i++)
		args_add(a, b, (uint64_t)i, 1, SIMPLER_TAG_INOUT);
	fake.hold = true;
	for (i = 0; i < 2; i++)
		assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r[i]), 0);
	fake_release();
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r[2]), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(simpler_run_wait(r[i], NULL), 0);
		simpler_run_put(r[i]);
	}
	assert_int_equal(fake.copies, 3 * 512);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void released_buffers_are_refused_at_submit(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_buffer *b = device_buffer(w, 64);
	struct simpler_task_args *a = args_new();

	(void)state;
	args_add(a, b, 0, 16, SIMPLER_TAG_INOUT);
	assert_int_equal(simpler_worker_free(w, b), 0);
	refused(w, &f, a, SIMPLER_ERR_BUFFER_NOT_LIVE, "not a live device allocation");
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void buffers_of_another_worker_are_refused(void **state)
{
	struct simpler_worker *w = worker_ready(), *other = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_buffer *b = device_buffer(other, 64);
	struct simpler_task_args *a = args_new();

	(void)state;
	args_add(a, b, 0, 16, SIMPLER_TAG_INOUT);
	refused(w, &f, a, SIMPLER_ERR_BUFFER_FOREIGN, "UNSUPPORTED_ENDPOINT_RELATION");
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	assert_int_equal(simpler_worker_destroy(other), 0);
	worker_end(w);
}

static void edited_descriptors_are_refused(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_buffer *b = device_buffer(w, 64);
	struct simpler_task_args *a = args_new();
	struct simpler_tensor t = view_of(b, 0, 16);

	(void)state;
	t.buffer.nbytes = 4096;
	t.shapes[0] = 1024;
	assert_int_equal(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INOUT,
						      SIMPLER_TRANSFER_DEFAULT, NULL), 0);
	refused(w, &f, a, SIMPLER_ERR_BUFFER_NOT_LIVE, "descriptor");
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void overlapping_writers_are_refused_and_disjoint_ones_are_not(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "bb");
	struct simpler_buffer *b = device_buffer(w, 128);
	struct simpler_task_args *a = args_new();

	(void)state;
	args_add(a, b, 0, 16, SIMPLER_TAG_OUTPUT_EXISTING);
	args_add(a, b, 8, 16, SIMPLER_TAG_OUTPUT_EXISTING);
	refused(w, &f, a, SIMPLER_ERR_ARG_OVERLAP, "overlapping bytes");
	assert_int_equal(simpler_task_args_set_tag(a, 0, SIMPLER_TAG_INPUT), 0);
	assert_int_equal(simpler_task_args_set_tag(a, 1, SIMPLER_TAG_INPUT), 0);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	simpler_task_args_clear(a);
	args_add(a, b, 0, 16, SIMPLER_TAG_OUTPUT_EXISTING);
	args_add(a, b, 16, 16, SIMPLER_TAG_OUTPUT_EXISTING);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void host_aliases_with_a_writing_signature_are_refused(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "io");
	struct simpler_buffer *b = host_buffer(w, 128);
	struct simpler_task_args *a = args_new();

	(void)state;
	args_add(a, b, 0, 16, SIMPLER_TAG_INPUT);
	args_add(a, b, 8, 16, SIMPLER_TAG_INPUT);
	refused(w, &f, a, SIMPLER_ERR_ARG_OVERLAP, "host buffer");
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void host_controls_need_the_other_runtime(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "i");
	struct simpler_buffer *b = host_buffer(w, 128);
	struct simpler_task_args *a = args_new();
	struct simpler_tensor t = view_of(b, 0, 4);
	int before;

	(void)state;
	assert_int_equal(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INPUT,
						      SIMPLER_TRANSFER_NONE, NULL), 0);
	before = fake.calls;
	refused(w, &f, a, SIMPLER_ERR_ARG_TRANSFER, "host_build_graph");
	assert_int_equal(fake.calls, before);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void strided_host_tensors_are_refused_and_strided_device_tensors_are_not(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "i");
	struct simpler_buffer *b[2] = { host_buffer(w, 128), device_buffer(w, 128) };
	struct simpler_task_args *a = args_new();
	uint64_t shapes[1] = { 4 }, strides[1] = { 2 };
	struct simpler_view v = {
		.dtype = SIMPLER_FLOAT32, .ndims = 1, .shapes = shapes, .strides = strides,
	};
	struct simpler_tensor t;

	(void)state;
	assert_int_equal(simpler_tensor_init(&t, b[0], &v, NULL), 0);
	simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_DEFAULT, NULL);
	refused(w, &f, a, SIMPLER_ERR_TENSOR, "contiguous");
	simpler_task_args_clear(a);
	assert_int_equal(simpler_tensor_init(&t, b[1], &v, NULL), 0);
	simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_DEFAULT, NULL);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	assert_int_equal(fake.last_tensors[0].extent, 7);
	assert_false(fake.last_tensors[0].is_contiguous);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b[0]);
	simpler_buffer_put(b[1]);
	worker_end(w);
}

static void writing_a_read_only_host_buffer_is_refused(void **state)
{
	static float memory[4];
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "o");
	struct simpler_buffer *b;
	struct simpler_task_args *a = args_new();

	(void)state;
	assert_int_equal(simpler_worker_wrap_host(w, memory, 16, SIMPLER_ACCESS_READ, &b), 0);
	args_add(a, b, 0, 4, SIMPLER_TAG_INPUT);
	refused(w, &f, a, SIMPLER_ERR_BUFFER_GRANT, "READ only");
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void caller_streams_and_bad_options_are_refused(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_run_options o = { .flags = SIMPLER_RUN_CALLER_STREAM };
	struct simpler_wait past = { .timeout_ns = -1 };

	(void)state;
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, &o), SIMPLER_ERR_INVALID_ARGUMENT);
	o.caller_stream = 1;
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, &o), SIMPLER_ERR_UNSUPPORTED);
	o.flags = 8;
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, &o), SIMPLER_ERR_INVALID_ARGUMENT);
	o = (struct simpler_run_options){ .wait = &past };
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, &o), SIMPLER_ERR_TIMEOUT_VALUE);
	worker_end(w);
}

/* ---- submit and waiting ---- */

static void submit_snapshots_its_arguments(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "bs");
	struct simpler_buffer *b = device_buffer(w, 64);
	struct simpler_task_args *a = args_new();
	struct simpler_run *r;

	(void)state;
	fake.hold = true;
	args_add(a, b, 0, 16, SIMPLER_TAG_INOUT);
	simpler_task_args_add_scalar(a, 5);
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r), 0);
	simpler_task_args_destroy(a);
	assert_false(simpler_run_done(r));
	fake_release();
	assert_int_equal(simpler_run_wait(r, NULL), 0);
	assert_int_equal(simpler_run_wait(r, NULL), 0);
	assert_true(simpler_run_done(r));
	assert_int_equal(fake.last_scalars[0], 5);
	assert_int_equal(fake.last_tensors[0].addr, simpler_buffer_address(b));
	simpler_run_put(r);
	simpler_buffer_put(b);
	worker_end(w);
}

static void third_submit_waits_for_the_first(void **state)
{
	struct simpler_wait now = { .timeout_ns = 0 };
	struct simpler_run_options o = { .wait = &now };
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_run *r[3];

	(void)state;
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r[0]), 0);
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r[1]), 0);
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, &o, &r[2]), SIMPLER_ERR_TIMEOUT);
	fake_release();
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r[2]), 0);
	assert_true(simpler_run_done(r[0]));
	assert_int_equal(simpler_run_wait(r[2], NULL), 0);
	assert_true(simpler_run_done(r[1]));
	simpler_run_put(r[0]);
	simpler_run_put(r[1]);
	simpler_run_put(r[2]);
	worker_end(w);
}

static void run_with_diagnostics_is_alone_in_the_pipeline(void **state)
{
	struct simpler_wait now = { .timeout_ns = 0 };
	struct simpler_run_options o = { .wait = &now };
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_call_config c;
	struct simpler_run *r[2];

	(void)state;
	simpler_call_config_init(&c);
	c.enable_pmu = 2;
	simpler_call_config_set_prefix(&c, "/tmp/x", NULL);
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r[0]), 0);
	assert_int_equal(simpler_worker_submit(w, &f, NULL, &c, &o, &r[1]), SIMPLER_ERR_TIMEOUT);
	fake_release();
	assert_int_equal(simpler_worker_submit(w, &f, NULL, &c, NULL, &r[1]), 0);
	assert_int_equal(simpler_run_wait(r[1], NULL), 0);
	assert_int_equal(fake.last_launch.diagnostics, SIMPLER_HW_DIAG_PMU);
	simpler_run_put(r[0]);
	simpler_run_put(r[1]);
	worker_end(w);
}

static void timeout_of_zero_leaves_the_run_going(void **state)
{
	struct simpler_wait now = { .timeout_ns = 0 }, past = { .timeout_ns = -1 };
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_run *r;
	struct simpler_run_stats s;

	(void)state;
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r), 0);
	assert_int_equal(simpler_run_wait(r, &now), SIMPLER_ERR_TIMEOUT);
	assert_int_equal(simpler_run_wait(r, &past), SIMPLER_ERR_TIMEOUT_VALUE);
	assert_false(simpler_run_done(r));
	simpler_run_get_stats(r, &s);
	assert_int_equal(s.tasks_submitted, 0);
	fake_release();
	assert_int_equal(simpler_run_wait(r, NULL), 0);
	simpler_run_get_stats(r, &s);
	assert_int_equal(s.tasks_submitted, 5);
	assert_int_equal(simpler_run_wait(r, &now), 0);
	simpler_run_put(r);
	worker_end(w);
}

static bool always(void *arg)
{
	++*(int *)arg;
	return true;
}

static void interrupted_run_goes_on_and_its_buffers_stay_in_use(void **state)
{
	int asked = 0;
	struct simpler_wait wait = { SIMPLER_FOREVER, always, &asked };
	struct simpler_run_options o = { .wait = &wait };
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_buffer *b = device_buffer(w, 64);
	struct simpler_task_args *a = args_new();

	(void)state;
	args_add(a, b, 0, 16, SIMPLER_TAG_INOUT);
	fake.hold = true;
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, &o), SIMPLER_ERR_INTERRUPTED);
	assert_true(asked > 0);
	assert_int_equal(simpler_worker_free(w, b), SIMPLER_ERR_BUFFER_IN_USE);
	expect_error(w, SIMPLER_ERR_BUFFER_IN_USE, "still referenced by an in-flight run");
	fake_release();
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	assert_int_equal(simpler_worker_free(w, b), 0);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

struct waiter {
	pthread_t thread;
	struct simpler_run *run;
	int code;
	struct simpler_error error;
};

static void *wait_thread(void *arg)
{
	struct waiter *t = arg;

	t->code = simpler_run_wait(t->run, NULL);
	simpler_run_error(t->run, &t->error);
	return NULL;
}

static void all_waiters_get_the_same_failure(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct waiter t[3] = { 0 };
	struct simpler_run *r;
	int i;

	(void)state;
	fake.hold = true;
	fake.codes[0] = SIMPLER_RUN_EXPLICIT_ORCH_FATAL;
	fake.code_count = 1;
	fake.text = "the author says no";
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r), 0);
	for (i = 0; i < 3; i++) {
		t[i].run = r;
		pthread_create(&t[i].thread, NULL, wait_thread, &t[i]);
	}
	fake_await_waiters(3);
	fake_release();
	for (i = 0; i < 3; i++) {
		pthread_join(t[i].thread, NULL);
		assert_int_equal(t[i].code, -SIMPLER_RUN_EXPLICIT_ORCH_FATAL);
		assert_non_null(strstr(t[i].error.text, "the author says no"));
	}
	simpler_run_put(r);
	worker_end(w);
}

static void abandoned_runs_are_waited_for_by_close(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_wait now = { .timeout_ns = 0 };
	struct simpler_run *r;

	(void)state;
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r), 0);
	simpler_run_put(r);
	assert_int_equal(simpler_worker_close(w, &now), SIMPLER_ERR_TIMEOUT);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_CLOSED);
	assert_int_equal(fake.live.streams, 3);
	fake_release();
	worker_end(w);
	assert_int_equal(fake.launches, 1);
}

static void run_handle_outlives_its_worker(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_error e;
	struct simpler_run *r;

	(void)state;
	fake.codes[0] = SIMPLER_RUN_INVALID_ARGS;
	fake.code_count = 1;
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r), 0);
	worker_end(w);
	assert_true(simpler_run_done(r));
	assert_int_equal(simpler_run_wait(r, NULL), -5);
	assert_string_equal(simpler_run_error(r, &e)->name, "INVALID_ARGS");
	simpler_run_put(r);
}

/* ---- losing the chip ---- */

static void lost_chip_poisons_the_lane_and_keeps_the_buffers(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_buffer *b = device_buffer(w, 64);
	struct simpler_task_args *a = args_new();
	struct simpler_run *r;

	(void)state;
	args_add(a, b, 0, 16, SIMPLER_TAG_INOUT);
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r), 0);
	fake_lose();
	assert_int_equal(simpler_run_wait(r, NULL), SIMPLER_ERR_DEVICE_LOST);
	assert_int_equal(simpler_run_wait(r, NULL), SIMPLER_ERR_DEVICE_LOST);
	assert_true(simpler_run_done(r));
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, NULL), SIMPLER_ERR_POISONED);
	expect_error(w, SIMPLER_ERR_POISONED, "chip run lane is poisoned");
	assert_int_equal(simpler_worker_free(w, b), SIMPLER_ERR_BUFFER_UNPROVEN);
	simpler_run_put(r);
	simpler_task_args_destroy(a);
	worker_end(w);
	assert_true(simpler_buffer_closed(b));
	simpler_buffer_put(b);
}

static void loss_that_nobody_saw_is_reported_once_by_close(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	struct simpler_run *r;

	(void)state;
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, NULL, NULL, NULL, &r), 0);
	simpler_run_put(r);
	fake_lose();
	assert_int_equal(simpler_worker_close(w, NULL), SIMPLER_ERR_DEVICE_LOST);
	worker_end(w);
}

static void banned_context_ends_the_run_and_poisons_the_lane(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");

	(void)state;
	fake.ban_next = true;
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, NULL), SIMPLER_ERR_DEVICE_LOST);
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, NULL), SIMPLER_ERR_POISONED);
	worker_end(w);
}

static void chip_without_memory_for_a_run_says_so(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");

	(void)state;
	fake.codes[0] = -12;
	fake.code_count = 1;
	fake.text = "no arena";
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, NULL), SIMPLER_ERR_DEVICE_MEMORY);
	expect_error(w, SIMPLER_ERR_DEVICE_MEMORY, "no arena");
	assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, NULL), 0);
	worker_end(w);
}

/* ---- many threads ---- */

static void *run_thread(void *arg)
{
	struct simpler_worker *w = ((void **)arg)[0];
	struct simpler_callable_handle *f = ((void **)arg)[1];
	struct simpler_run *r;
	int i;

	for (i = 0; i < 200; i++) {
		if (simpler_worker_run(w, f, NULL, NULL, NULL))
			return arg;
		if (simpler_worker_submit(w, f, NULL, NULL, NULL, &r))
			return arg;
		if (i % 2 && simpler_run_wait(r, NULL))
			return arg;
		simpler_run_done(r);
		simpler_run_put(r);
	}
	return NULL;
}

static void threads_share_a_worker(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "");
	void *arg[2] = { w, &f };
	pthread_t t[4];
	void *failed;
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, run_thread, arg);
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], &failed);
		assert_null(failed);
	}
	worker_end(w);
	assert_int_equal(fake.launches, 4 * 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		chip_test(device_tensors_are_passed_through),
		chip_test(run_without_deadline_rings_no_doorbell),
		chip_test(host_output_keeps_what_no_kernel_wrote),
		chip_test(staged_views_of_one_buffer_get_spans_of_1024),
		chip_test(failed_run_leaves_host_tensors_alone),
		chip_test(unreachable_host_memory_fails_the_run_both_ways),
		chip_test(staging_keeps_its_address_until_more_is_needed),
		chip_test(config_overrides_environment_overrides_default),
		chip_test(argument_counts_must_match_the_signature),
		chip_test(more_arguments_than_a_run_takes_are_refused),
		chip_test(full_run_of_256_host_tensors_fits_the_ring),
		chip_test(released_buffers_are_refused_at_submit),
		chip_test(buffers_of_another_worker_are_refused),
		chip_test(edited_descriptors_are_refused),
		chip_test(overlapping_writers_are_refused_and_disjoint_ones_are_not),
		chip_test(host_aliases_with_a_writing_signature_are_refused),
		chip_test(host_controls_need_the_other_runtime),
		chip_test(strided_host_tensors_are_refused_and_strided_device_tensors_are_not),
		chip_test(writing_a_read_only_host_buffer_is_refused),
		chip_test(caller_streams_and_bad_options_are_refused),
		chip_test(submit_snapshots_its_arguments),
		chip_test(third_submit_waits_for_the_first),
		chip_test(run_with_diagnostics_is_alone_in_the_pipeline),
		chip_test(timeout_of_zero_leaves_the_run_going),
		chip_test(interrupted_run_goes_on_and_its_buffers_stay_in_use),
		chip_test(all_waiters_get_the_same_failure),
		chip_test(abandoned_runs_are_waited_for_by_close),
		chip_test(run_handle_outlives_its_worker),
		chip_test(lost_chip_poisons_the_lane_and_keeps_the_buffers),
		chip_test(loss_that_nobody_saw_is_reported_once_by_close),
		chip_test(banned_context_ends_the_run_and_poisons_the_lane),
		chip_test(chip_without_memory_for_a_run_says_so),
		chip_test(threads_share_a_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
