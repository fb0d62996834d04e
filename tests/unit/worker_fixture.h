/* SPDX-License-Identifier: MIT */
/* A level-2 Worker on the fake chip, and short forms of what its tests do over and over. */
#ifndef TESTS_UNIT_WORKER_FIXTURE_H
#define TESTS_UNIT_WORKER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_chip.h"
#include "simpler/simpler.h"
#include "worker/worker.h"

static inline struct simpler_worker *worker_new(void)
{
	struct simpler_worker *w;

	assert_int_equal(worker_create_with_transport(2, &fake_transport, &w), 0);
	assert_int_equal(simpler_worker_set_platform(w, "a2a3sim"), 0);
	assert_int_equal(simpler_worker_set_runtime(w, "tensormap_and_ringbuffer"), 0);
	return w;
}

static inline struct simpler_worker *worker_ready(void)
{
	struct simpler_worker *w = worker_new();

	assert_int_equal(simpler_worker_init(w, NULL), 0);
	return w;
}

/* @directions: one letter each: i IN, o OUT, b INOUT, s SCALAR */
static inline size_t signature_of(const char *directions, int32_t *out)
{
	size_t n = strlen(directions), i;

	for (i = 0; i < n; i++)
		out[i] = directions[i] == 'i' ? SIMPLER_DIR_IN :
			 directions[i] == 'o' ? SIMPLER_DIR_OUT :
			 directions[i] == 'b' ? SIMPLER_DIR_INOUT : SIMPLER_DIR_SCALAR;
	return n;
}

static inline struct simpler_chip_callable *callable_new(const char *directions, uint32_t content)
{
	int32_t signature[256];
	struct simpler_chip_spec spec = {
		.signature = signature,
		.sig_count = signature_of(directions, signature),
		.func_name = "entry",
		.binary = &content,
		.binary_bytes = sizeof(content),
	};
	struct simpler_chip_callable *c;

	assert_int_equal(simpler_chip_callable_build(&spec, &c, NULL), 0);
	return c;
}

static inline struct simpler_callable_handle registered(struct simpler_worker *w,
							const char *directions)
{
	struct simpler_chip_callable *c = callable_new(directions, 1);
	struct simpler_callable_handle h;

	assert_int_equal(simpler_worker_register(w, c, &h), 0);
	simpler_chip_callable_put(c);
	return h;
}

static inline struct simpler_buffer *device_buffer(struct simpler_worker *w, uint64_t bytes)
{
	struct simpler_buffer *b;

	assert_int_equal(simpler_worker_malloc(w, bytes, &b), 0);
	return b;
}

static inline struct simpler_buffer *host_buffer(struct simpler_worker *w, uint64_t bytes)
{
	struct simpler_buffer *b;

	assert_int_equal(simpler_worker_create_buffer(w, bytes, &b), 0);
	return b;
}

/* One-dimensional FLOAT32 view of @count elements from element @first on. */
static inline struct simpler_tensor view_of(const struct simpler_buffer *b, uint64_t first,
					    uint64_t count)
{
	struct simpler_view v = {
		.dtype = SIMPLER_FLOAT32, .ndims = 1, .shapes = &count, .byte_offset = 4 * first,
	};
	struct simpler_tensor t;

	assert_int_equal(simpler_tensor_init(&t, b, &v, NULL), 0);
	return t;
}

static inline struct simpler_task_args *args_new(void)
{
	struct simpler_task_args *a;

	assert_int_equal(simpler_task_args_create(&a), 0);
	return a;
}

static inline void args_add(struct simpler_task_args *a, const struct simpler_buffer *b,
			    uint64_t first, uint64_t count, int tag)
{
	struct simpler_tensor t = view_of(b, first, count);

	assert_int_equal(simpler_task_args_add_tensor(a, &t, tag, SIMPLER_TRANSFER_DEFAULT, NULL),
			 0);
}

static inline void worker_end(struct simpler_worker *w)
{
	assert_int_equal(simpler_worker_destroy(w), 0);
	assert_true(fake_nothing_alive());
}

/* The last error of @w has @code and its text contains @part. */
static inline void expect_error(struct simpler_worker *w, int code, const char *part)
{
	struct simpler_error e;

	simpler_worker_last_error(w, &e);
	assert_int_equal(e.code, code);
	assert_string_equal(e.name, simpler_error_name(code));
	if (!strstr(e.text, part))
		fail_msg("'%s' is not in '%s'", part, e.text);
}

static inline int reset_chip(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

#define chip_test(fn) cmocka_unit_test_setup(fn, reset_chip)

#endif /* TESTS_UNIT_WORKER_FIXTURE_H */
