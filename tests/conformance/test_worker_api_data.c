/* SPDX-License-Identifier: MIT */
/*
 * Cases of worker-api.md §22 that a level-2 Worker in C can meet, on a2a3sim:
 * buffers, copies, tensors, arguments, configuration.
 * Exceptions appear as error classes.  Cases about Python objects, hardware and
 * other levels are elsewhere; what needs a failing chip is in tests/unit.
 */
#include "worker_cases.h"

/* ---- buffers and copies ---- */

static void worker_case_19_malloc_identities(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *a = device(w), *b = device(w);
	struct simpler_identity ia = simpler_buffer_identity(a), ib = simpler_buffer_identity(b);

	(void)state;
	assert_int_equal(simpler_buffer_nbytes(a), 64);
	assert_int_equal(simpler_buffer_space(a), SIMPLER_SPACE_DEVICE);
	assert_false(simpler_identity_equal(&ia, &ib));
	assert_memory_equal(ia.owner, ib.owner, 8);
	end(w);
	simpler_buffer_put(a);
	simpler_buffer_put(b);
}

static void worker_case_20_freed_buffers_stay_refused(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *b = device(w), *src = host(w, 64), *other;
	uint64_t address = simpler_buffer_address(b);
	int i;

	(void)state;
	assert_int_equal(simpler_worker_free(w, b), 0);
	expect_class(simpler_worker_free(w, b), VALUE);
	for (i = 0; i < 16; i++) {
		other = device(w);
		if (simpler_buffer_address(other) == address)
			i = 16;
		simpler_buffer_put(other);
	}
	expect_class(simpler_worker_copy_to(w, b, src, NULL), VALUE);
	end(w);
	simpler_buffer_put(b);
	simpler_buffer_put(src);
}

static void worker_case_21_22_23_24_copies(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *dev = device(w), *src = host(w, 64), *dst = host(w, 64),
			      *eight = host(w, 8);
	unsigned char *s = simpler_buffer_data(src), *d = simpler_buffer_data(dst), raw[64];
	struct simpler_copy c = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 64; i++)
		s[i] = (unsigned char)i;
	assert_int_equal(simpler_worker_copy_to(w, dev, src, NULL), 0);
	assert_int_equal(simpler_worker_copy_from(w, dst, dev, NULL), 0);
	assert_memory_equal(s, d, 64);
	/* 22: bytes 32 to 47 only */
	c = (struct simpler_copy){ .dst_offset = 32, .nbytes = 16, .flags = SIMPLER_COPY_NBYTES };
	assert_int_equal(simpler_worker_copy_to(w, dev, src, &c), 0);
	assert_int_equal(simpler_worker_copy_from_raw(w, raw, 64, dev, NULL), 0);
	for (i = 0; i < 64; i++)
		assert_int_equal(raw[i], i >= 32 && i < 48 ? i - 32 : i);
	/* 23: the rest of the host side */
	memset(simpler_buffer_data(eight), 0xee, 8);
	c = (struct simpler_copy){ .src_offset = 6 };
	assert_int_equal(simpler_worker_copy_to(w, dev, eight, &c), 0);
	assert_int_equal(simpler_worker_copy_from_raw(w, raw, 64, dev, NULL), 0);
	assert_int_equal(raw[1], 0xee);
	assert_int_equal(raw[2], 2);
	c.src_offset = 9;
	expect_class(simpler_worker_copy_to(w, dev, eight, &c), VALUE);
	/* 24: bounds */
	c = (struct simpler_copy){ .dst_offset = 56, .nbytes = 16, .flags = SIMPLER_COPY_NBYTES };
	expect_class(simpler_worker_copy_to(w, dev, src, &c), VALUE);
	c = (struct simpler_copy){ .dst_offset = 64, .flags = SIMPLER_COPY_NBYTES };
	assert_int_equal(simpler_worker_copy_to(w, dev, src, &c), 0);
	c.dst_offset = 65;
	expect_class(simpler_worker_copy_to(w, dev, src, &c), VALUE);
	c.dst_offset = -1;
	expect_class(simpler_worker_copy_to(w, dev, src, &c), VALUE);
	/* 26: a host buffer as destination */
	expect_class(simpler_worker_copy_to(w, src, src, NULL), VALUE);
	end(w);
	simpler_buffer_put(dev);
	simpler_buffer_put(src);
	simpler_buffer_put(dst);
	simpler_buffer_put(eight);
}

static void worker_case_25_forged_interior_buffer(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *dev = device(w), *src = host(w, 32), *forged;
	uint64_t inside = simpler_buffer_address(dev) + 32;
	struct simpler_buffer_desc d;

	(void)state;
	assert_int_equal(simpler_buffer_descriptor(dev, &d, NULL), 0);
	memcpy(d.body, &inside, sizeof(inside));
	d.nbytes = 32;
	assert_int_equal(simpler_buffer_from_descriptor(&d, &forged, NULL), 0);
	expect_class(simpler_worker_copy_to(w, forged, src, NULL), VALUE);
	end(w);
	simpler_buffer_put(forged);
	simpler_buffer_put(dev);
	simpler_buffer_put(src);
}

static void worker_case_27_shared_memory_with_a_live_view(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *b;
	void *view;

	(void)state;
	expect_class(simpler_worker_create_buffer(w, 0, &b), VALUE);
	b = host(w, 64);
	assert_int_equal(simpler_buffer_pin(b, &view), 0);
	expect_class(simpler_buffer_close(b, NULL), BUFFER);
	assert_true(simpler_buffer_unlinked(b));
	expect_class(tensor_code(b, 0, 16, 1), VALUE);
	simpler_buffer_unpin(b);
	assert_int_equal(simpler_buffer_close(b, NULL), 0);
	assert_int_equal(simpler_buffer_close(b, NULL), 0);
	end(w);
	simpler_buffer_put(b);
}

/* ---- tensors and arguments ---- */

static void worker_case_28_29_tensor_validation(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *b = device(w);
	struct simpler_tensor t;
	const uint32_t six[6] = { 1, 1, 1, 1, 1, 1 };

	(void)state;
	assert_int_equal(tensor_code(b, 0, 16, 1), 0);
	expect_class(tensor_code(b, 0, 17, 1), VALUE);
	expect_class(tensor_code(b, 2, 4, 1), VALUE);
	expect_class(tensor_code(b, 4, 16, 1), VALUE);
	expect_class(simpler_tensor_init_dense(&t, b, SIMPLER_FLOAT32, 6, six, NULL), VALUE);
	expect_class(tensor_code(b, 0, 4, 0), VALUE);
	expect_class(tensor_code(b, 0, 0, 1), VALUE);
	assert_int_equal(tensor_code(b, 0, 4, 5), 0);
	expect_class(tensor_code(b, 0, 4, 6), VALUE);
	end(w);
	simpler_buffer_put(b);
}

static void worker_case_30_serialized_tensor(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *b = device(w);
	struct simpler_tensor t;
	unsigned char raw[144];

	(void)state;
	assert_int_equal(simpler_tensor_init_dense(&t, b, SIMPLER_INT32, 1, (uint32_t[]){16}, NULL),
			 0);
	assert_int_equal(sizeof(t), 144);
	memcpy(raw, &t, 144);
	assert_int_equal(raw[0], 0x42);
	assert_int_equal(raw[1], 0x53);
	assert_int_equal(raw[24], 1);
	assert_int_equal(raw[96], 1);
	assert_int_equal(raw[140], SIMPLER_INT32);
	memset(raw + 24, 0, 4);
	memcpy(&t, raw, 144);
	expect_class(simpler_tensor_check(&t, NULL), VALUE);
	end(w);
	simpler_buffer_put(b);
}

static void worker_case_31_order_and_indices(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *b = device(w);
	struct simpler_task_args *a;
	struct simpler_tensor t;

	(void)state;
	assert_int_equal(simpler_task_args_create(&a), 0);
	expect_class(simpler_task_args_tensor(a, 0, &t), INDEX);
	assert_int_equal(simpler_task_args_add_scalar(a, 1), 0);
	assert_int_equal(simpler_tensor_init_dense(&t, b, SIMPLER_INT32, 1, (uint32_t[]){16}, NULL),
			 0);
	expect_class(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INPUT, -1, NULL), RUNTIME);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(b);
}

static void worker_case_32_scalars(void **state)
{
	struct simpler_task_args *a;
	uint64_t v[3];
	size_t i;

	(void)state;
	assert_int_equal(simpler_task_args_create(&a), 0);
	simpler_task_args_add_float(a, 1.0f);
	simpler_task_args_add_int(a, (int32_t)-1);
	simpler_task_args_add_double(a, 1.0);
	for (i = 0; i < 3; i++)
		assert_int_equal(simpler_task_args_scalar(a, i, &v[i]), 0);
	assert_true(v[0] == 0x3F800000 && v[1] == UINT64_MAX && v[2] == 0x3FF0000000000000);
	simpler_task_args_destroy(a);
}

static void worker_case_33_blob(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *b = device(w);
	struct simpler_task_args *a = arguments(b, b, NOTHING), *back;
	unsigned char blob[304];

	(void)state;
	assert_int_equal(simpler_task_args_blob_size(a), 304);
	expect_class(simpler_task_args_encode(a, blob, 303, NULL), RUNTIME);
	assert_int_equal(simpler_task_args_encode(a, blob, 304, NULL), 0);
	expect_class(simpler_task_args_decode(blob, 303, &back, NULL), RUNTIME);
	memset(blob, 0xff, 4);
	expect_class(simpler_task_args_decode(blob, 304, &back, NULL), RUNTIME);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(b);
}

static void worker_case_34_transfer_defaults(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *dev = device(w), *h = host(w, 64);
	struct simpler_task_args *a = arguments(h, dev, NOTHING);
	struct simpler_tensor t;

	(void)state;
	assert_int_equal(simpler_task_args_transfer(a, 0), SIMPLER_TRANSFER_H2D);
	assert_int_equal(simpler_task_args_transfer(a, 1), SIMPLER_TRANSFER_NONE);
	simpler_task_args_tensor(a, 1, &t);
	simpler_task_args_clear(a);
	expect_class(
		simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_H2D, NULL),
		VALUE);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(dev);
	simpler_buffer_put(h);
}

static void worker_case_35_grants(void **state)
{
	static float constant[16];
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *b;
	struct simpler_task_args *a;
	struct simpler_tensor t;

	(void)state;
	assert_int_equal(simpler_worker_wrap_host(w, constant, 64, SIMPLER_ACCESS_READ, &b), 0);
	assert_int_equal(simpler_task_args_create(&a), 0);
	simpler_tensor_init_dense(&t, b, SIMPLER_FLOAT32, 1, (uint32_t[]){ 16 }, NULL);
	expect_class(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_OUTPUT_EXISTING, -1, NULL),
		     VALUE);
	assert_int_equal(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INPUT, -1, NULL), 0);
	assert_int_equal(simpler_task_args_set_tag(a, 0, SIMPLER_TAG_INOUT), 0);
	assert_int_equal(simpler_task_args_add_scalar(a, ADD_ONE), 0);
	expect_class(simpler_worker_run(w, &f, a, NULL, NULL), VALUE);
	assert_int_equal(simpler_worker_retained_temp_addr(w, 0), 0);
	assert_true(constant[0] == 0);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(b);
}

static int overlap_code(struct simpler_worker *w, const struct simpler_callable_handle *f,
			struct simpler_buffer *b, uint64_t second, int tag)
{
	struct simpler_task_args *a;
	int rc;

	assert_int_equal(simpler_task_args_create(&a), 0);
	add(a, b, 0, 8, tag);
	add(a, b, second, 8, tag);
	simpler_task_args_add_scalar(a, NOTHING);
	rc = simpler_worker_run(w, f, a, NULL, NULL);
	simpler_task_args_destroy(a);
	return rc;
}

static void worker_case_36_overlap(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, with_gate, 3);
	struct simpler_buffer *b = device(w);

	(void)state;
	expect_class(overlap_code(w, &f, b, 16, SIMPLER_TAG_OUTPUT_EXISTING), VALUE);
	assert_int_equal(overlap_code(w, &f, b, 32, SIMPLER_TAG_OUTPUT_EXISTING), 0);
	assert_int_equal(overlap_code(w, &f, b, 16, SIMPLER_TAG_INPUT), 0);
	end(w);
	simpler_buffer_put(b);
}

static void worker_case_37_trb_refuses_host_controls(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *h = host(w, 64);
	struct simpler_task_args *a;
	struct simpler_tensor t;

	(void)state;
	assert_int_equal(simpler_task_args_create(&a), 0);
	simpler_tensor_init_dense(&t, h, SIMPLER_FLOAT32, 1, (uint32_t[]){ 16 }, NULL);
	assert_int_equal(
		simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INOUT, SIMPLER_TRANSFER_NONE, NULL),
		0);
	simpler_task_args_add_scalar(a, ADD_ONE);
	expect_class(simpler_worker_run(w, &f, a, NULL, NULL), VALUE);
	assert_int_equal(simpler_worker_retained_temp_addr(w, 0), 0);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(h);
}

/* ---- configuration ---- */

static void worker_case_38_39_call_config(void **state)
{
	struct simpler_call_config c;
	char text[1025];

	(void)state;
	assert_int_equal(SIMPLER_CALL_CONFIG_WIRE_BYTES, 1144);
	simpler_call_config_init(&c);
	c.enable_pmu = 2;
	expect_class(simpler_call_config_validate(&c, NULL), VALUE);
	assert_int_equal(simpler_call_config_set_prefix(&c, "out", NULL), 0);
	assert_int_equal(simpler_call_config_validate(&c, NULL), 0);
	memset(text, 'x', sizeof(text));
	text[1024] = '\0';
	expect_class(simpler_call_config_set_prefix(&c, text, NULL), VALUE);
	text[1023] = '\0';
	assert_int_equal(simpler_call_config_set_prefix(&c, text, NULL), 0);
	simpler_ring_set_all(c.runtime_env.ring_task_window, 8);
	assert_true(c.runtime_env.ring_task_window[3] == 8);
	c.runtime_env.ring_task_window[0] = 6;
	expect_class(simpler_call_config_validate(&c, NULL), VALUE);
	c.runtime_env.ring_task_window[0] = 4;
	c.runtime_env.ring_heap[0] = 1024;
	c.runtime_env.ring_dep_pool[0] = 4;
	assert_int_equal(simpler_call_config_validate(&c, NULL), 0);
	c.runtime_env.ring_heap[0] = 1023;
	expect_class(simpler_call_config_validate(&c, NULL), VALUE);
	c.runtime_env.ring_heap[0] = 0;
	c.runtime_env.ring_dep_pool[0] = 3;
	expect_class(simpler_call_config_validate(&c, NULL), VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worker_case_19_malloc_identities),
		cmocka_unit_test(worker_case_20_freed_buffers_stay_refused),
		cmocka_unit_test(worker_case_21_22_23_24_copies),
		cmocka_unit_test(worker_case_25_forged_interior_buffer),
		cmocka_unit_test(worker_case_27_shared_memory_with_a_live_view),
		cmocka_unit_test(worker_case_28_29_tensor_validation),
		cmocka_unit_test(worker_case_30_serialized_tensor),
		cmocka_unit_test(worker_case_31_order_and_indices),
		cmocka_unit_test(worker_case_32_scalars),
		cmocka_unit_test(worker_case_33_blob),
		cmocka_unit_test(worker_case_34_transfer_defaults),
		cmocka_unit_test(worker_case_35_grants),
		cmocka_unit_test(worker_case_36_overlap),
		cmocka_unit_test(worker_case_37_trb_refuses_host_controls),
		cmocka_unit_test(worker_case_38_39_call_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
