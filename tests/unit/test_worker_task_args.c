/* SPDX-License-Identifier: MIT */
/* Argument lists and their blobs. */
#include "worker_fixture.h"

struct fixture {
	struct simpler_worker *worker;
	struct simpler_buffer *device, *host, *read_only;
	struct simpler_task_args *args;
	struct simpler_error error;
};

static float constant[16];

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fake_reset();
	f->worker = worker_ready();
	f->device = device_buffer(f->worker, 64);
	f->host = host_buffer(f->worker, 64);
	simpler_worker_wrap_host(f->worker, constant, 64, SIMPLER_ACCESS_READ, &f->read_only);
	f->args = args_new();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	simpler_task_args_destroy(f->args);
	simpler_buffer_put(f->device);
	simpler_buffer_put(f->host);
	simpler_buffer_put(f->read_only);
	worker_end(f->worker);
	free(f);
	return 0;
}

static int add(struct fixture *f, struct simpler_buffer *b, int tag, int transfer)
{
	struct simpler_tensor t = view_of(b, 0, 4);

	return simpler_task_args_add_tensor(f->args, &t, tag, transfer, &f->error);
}

static void tensors_come_before_scalars(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(simpler_task_args_add_scalar(f->args, 1), 0);
	assert_int_equal(add(f, f->device, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_DEFAULT),
			 SIMPLER_ERR_ARG_ORDER);
	simpler_task_args_clear(f->args);
	assert_int_equal(add(f, f->device, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_DEFAULT), 0);
}

/* So that no run has an operand of 0 bytes, to which chip-runtime §3.2 would give address 0. */
static void a_tensor_without_elements_gets_into_no_list(void **state)
{
	struct fixture *f = *state;
	struct simpler_tensor t = view_of(f->host, 0, 4);
	struct simpler_task_args *decoded;
	unsigned char blob[256];
	size_t size;

	assert_int_equal(simpler_tensor_init_dense(&t, f->host, SIMPLER_INT32, 2,
						   (uint32_t[]){ 4, 0 }, &f->error),
			 SIMPLER_ERR_TENSOR);
	assert_int_equal(add(f, f->host, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_DEFAULT), 0);
	size = simpler_task_args_blob_size(f->args);
	assert_int_equal(simpler_task_args_encode(f->args, blob, sizeof(blob), &f->error), 0);
	memset(blob + 8 + offsetof(struct simpler_tensor, shapes), 0, sizeof(t.shapes));
	assert_int_equal(simpler_task_args_decode(blob, size, &decoded, &f->error),
			 SIMPLER_ERR_TENSOR);
	assert_non_null(strstr(f->error.text, "shape[0] is 0"));
	memset(t.shapes, 0, sizeof(t.shapes));
	assert_int_equal(simpler_task_args_add_tensor(f->args, &t, SIMPLER_TAG_INPUT,
						      SIMPLER_TRANSFER_DEFAULT, &f->error),
			 SIMPLER_ERR_TENSOR);
	assert_int_equal(simpler_task_args_tensor_count(f->args), 1);
}

static void indices_out_of_range_are_refused(void **state)
{
	struct fixture *f = *state;
	struct simpler_tensor t;
	uint64_t v;

	assert_int_equal(simpler_task_args_tensor(f->args, 0, &t), SIMPLER_ERR_INDEX);
	assert_int_equal(simpler_task_args_scalar(f->args, 0, &v), SIMPLER_ERR_INDEX);
	assert_int_equal(simpler_task_args_tag(f->args, 0), SIMPLER_ERR_INDEX);
	assert_int_equal(simpler_task_args_transfer(f->args, 0), SIMPLER_ERR_INDEX);
	assert_int_equal(simpler_task_args_set_tag(f->args, 0, 0), SIMPLER_ERR_INDEX);
}

static void transfer_defaults_follow_the_space(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(add(f, f->host, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_DEFAULT), 0);
	assert_int_equal(add(f, f->device, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_DEFAULT), 0);
	assert_int_equal(simpler_task_args_transfer(f->args, 0), SIMPLER_TRANSFER_H2D);
	assert_int_equal(simpler_task_args_transfer(f->args, 1), SIMPLER_TRANSFER_NONE);
	assert_int_equal(add(f, f->device, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_H2D),
			 SIMPLER_ERR_ARG_TRANSFER);
	assert_int_equal(add(f, f->host, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_D2H),
			 SIMPLER_ERR_ARG_TRANSFER);
	assert_int_equal(add(f, f->host, SIMPLER_TAG_INPUT, 77), SIMPLER_ERR_ARG_TRANSFER);
	assert_int_equal(add(f, f->host, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_NONE), 0);
	assert_int_equal(simpler_task_args_tensor_count(f->args), 3);
}

static void tags_need_their_grant_when_added(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(add(f, f->read_only, SIMPLER_TAG_OUTPUT_EXISTING, -1),
			 SIMPLER_ERR_BUFFER_GRANT);
	assert_non_null(strstr(f->error.text, "not granted by the buffer"));
	assert_int_equal(add(f, f->read_only, SIMPLER_TAG_INOUT, -1), SIMPLER_ERR_BUFFER_GRANT);
	assert_int_equal(add(f, f->read_only, SIMPLER_TAG_INPUT, -1), 0);
	assert_int_equal(add(f, f->read_only, SIMPLER_TAG_NO_DEP, -1), 0);
	assert_int_equal(add(f, f->read_only, 5, -1), SIMPLER_ERR_ARG_TAG);
	assert_int_equal(add(f, f->read_only, -1, -1), SIMPLER_ERR_ARG_TAG);
}

static void tags_are_checked_again_at_submit(void **state)
{
	struct fixture *f = *state;
	struct simpler_callable_handle h = registered(f->worker, "i");
	int before;

	assert_int_equal(add(f, f->read_only, SIMPLER_TAG_INPUT, -1), 0);
	assert_int_equal(simpler_worker_run(f->worker, &h, f->args, NULL, NULL), 0);
	assert_int_equal(simpler_task_args_set_tag(f->args, 0, 9), SIMPLER_ERR_ARG_TAG);
	assert_int_equal(simpler_task_args_set_tag(f->args, 0, SIMPLER_TAG_INOUT), 0);
	before = fake.copies;
	assert_int_equal(simpler_worker_run(f->worker, &h, f->args, NULL, NULL),
			 SIMPLER_ERR_BUFFER_GRANT);
	expect_error(f->worker, SIMPLER_ERR_BUFFER_GRANT, "does not grant");
	assert_int_equal(fake.copies, before);
}

static void readers_before_a_writer_are_not_compared(void **state)
{
	struct fixture *f = *state;
	struct simpler_callable_handle h = registered(f->worker, "");

	assert_int_equal(add(f, f->device, SIMPLER_TAG_INPUT, -1), 0);
	assert_int_equal(add(f, f->device, SIMPLER_TAG_OUTPUT_EXISTING, -1), 0);
	assert_int_equal(simpler_worker_run(f->worker, &h, f->args, NULL, NULL), 0);
	assert_int_equal(simpler_task_args_set_tag(f->args, 0, SIMPLER_TAG_NO_DEP), 0);
	assert_int_equal(simpler_worker_run(f->worker, &h, f->args, NULL, NULL), 0);
	assert_int_equal(simpler_task_args_set_tag(f->args, 0, SIMPLER_TAG_OUTPUT), 0);
	assert_int_equal(simpler_worker_run(f->worker, &h, f->args, NULL, NULL),
			 SIMPLER_ERR_ARG_OVERLAP);
}

static void scalars_keep_their_bits(void **state)
{
	struct fixture *f = *state;
	uint64_t v;

	simpler_task_args_add_float(f->args, 1.0f);
	simpler_task_args_add_double(f->args, 1.0);
	simpler_task_args_add_int(f->args, -1);
	simpler_task_args_scalar(f->args, 0, &v);
	assert_true(v == 0x3f800000);
	simpler_task_args_scalar(f->args, 1, &v);
	assert_true(v == 0x3ff0000000000000);
	simpler_task_args_scalar(f->args, 2, &v);
	assert_true(v == UINT64_MAX);
}

static void list_has_no_capacity_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct simpler_tensor t;
	uint64_t v;
	int i;

	for (i = 0; i < 1000; i++)
		assert_int_equal(add(f, f->device, SIMPLER_TAG_INPUT, -1), 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(simpler_task_args_add_scalar(f->args, (uint64_t)i), 0);
	assert_int_equal(simpler_task_args_tensor(f->args, 999, &t), 0);
	assert_int_equal(simpler_task_args_scalar(f->args, 999, &v), 0);
	assert_int_equal(v, 999);
}

/* ---- blob ---- */

static void blob_round_trips(void **state)
{
	struct fixture *f = *state;
	struct simpler_task_args *back;
	struct simpler_tensor t, expected = view_of(f->host, 0, 4);
	unsigned char blob[304];
	uint64_t v;

	add(f, f->host, SIMPLER_TAG_INOUT, -1);
	add(f, f->device, SIMPLER_TAG_INPUT, -1);
	simpler_task_args_add_scalar(f->args, 0x1122334455667788);
	assert_int_equal(simpler_task_args_blob_size(f->args), 304);
	assert_int_equal(simpler_task_args_encode(f->args, blob, 303, &f->error), SIMPLER_ERR_BLOB);
	assert_int_equal(simpler_task_args_encode(f->args, blob, 304, &f->error), 0);
	assert_int_equal(blob[8], 0x42);
	assert_int_equal(blob[9], 0x53);
	assert_int_equal(blob[8 + 141], SIMPLER_TRANSFER_H2D);
	assert_int_equal(simpler_task_args_decode(blob, 304, &back, &f->error), 0);
	assert_int_equal(simpler_task_args_tensor_count(back), 2);
	assert_int_equal(simpler_task_args_transfer(back, 0), SIMPLER_TRANSFER_H2D);
	assert_int_equal(simpler_task_args_tag(back, 0), SIMPLER_TAG_INPUT);
	simpler_task_args_tensor(back, 0, &t);
	assert_memory_equal(&t, &expected, sizeof(t));
	simpler_task_args_scalar(back, 0, &v);
	assert_true(v == 0x1122334455667788);
	simpler_task_args_destroy(back);
}

static void expect_decode(struct fixture *f, const void *blob, size_t size, int code)
{
	struct simpler_task_args *back;

	assert_int_equal(simpler_task_args_decode(blob, size, &back, &f->error), code);
	assert_int_equal(f->error.code, code);
}

static void malformed_blobs_are_refused(void **state)
{
	struct fixture *f = *state;
	unsigned char blob[304], bad[304];
	size_t i;

	add(f, f->host, SIMPLER_TAG_INOUT, -1);
	add(f, f->device, SIMPLER_TAG_INPUT, -1);
	simpler_task_args_add_scalar(f->args, 1);
	simpler_task_args_encode(f->args, blob, 304, &f->error);
	for (i = 0; i < 304; i++)
		expect_decode(f, blob, i, SIMPLER_ERR_BLOB);
	memcpy(bad, blob, 304);
	memset(bad, 0xff, 4);
	expect_decode(f, bad, 304, SIMPLER_ERR_BLOB);
	memset(bad, 0x7f, 4);
	expect_decode(f, bad, 304, SIMPLER_ERR_BLOB);
	memcpy(bad, blob, 304);
	bad[8 + 141] = 2;
	expect_decode(f, bad, 304, SIMPLER_ERR_ARG_TRANSFER);
	memcpy(bad, blob, 304);
	memset(bad + 8 + 24, 0, 4);
	expect_decode(f, bad, 304, SIMPLER_ERR_BUFFER_DESCRIPTOR);
	memcpy(bad, blob, 304);
	bad[8 + 96] = 6;
	expect_decode(f, bad, 304, SIMPLER_ERR_TENSOR);
}

#define args_test(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		args_test(tensors_come_before_scalars),
		args_test(a_tensor_without_elements_gets_into_no_list),
		args_test(indices_out_of_range_are_refused),
		args_test(transfer_defaults_follow_the_space),
		args_test(tags_need_their_grant_when_added),
		args_test(tags_are_checked_again_at_submit),
		args_test(readers_before_a_writer_are_not_compared),
		args_test(scalars_keep_their_bits),
		args_test(list_has_no_capacity_of_its_own),
		args_test(blob_round_trips),
		args_test(malformed_blobs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
