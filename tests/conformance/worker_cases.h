/* SPDX-License-Identifier: MIT */
/* What the cases of worker-api.md share: Workers on a2a3sim, the test program, runs that wait. */
#ifndef TESTS_WORKER_CASES_H
#define TESTS_WORKER_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "object_file.h"
#include "simpler/simpler.h"

#define BYTES 64		/* of the usual buffer: sixteen floats */

enum operation { NOTHING = 0, ADD_ONE = 1, FAIL = 2, WAIT_AND_ADD = 3 };

/* ---- helpers ---- */

static inline struct simpler_core_callable *kernel(const char *name)
{
	struct simpler_core_callable *k;
	size_t size;
	void *object = object_read("kernels", name, "a2a3sim", &size);

	assert_int_equal(simpler_core_callable_build(NULL, 0, object, size, &k, NULL), 0);
	free(object);
	return k;
}

/* What a program is made of; kernels get func_ids 0, 1, … */
struct program_parts {
	const char *orchestration;
	const char *const *kernels;
	size_t kernel_count;
	const int32_t *signature;
	size_t sig_count;
	char salt;			/* makes the content different */
};

static inline struct simpler_chip_callable *program_of(const struct program_parts *p)
{
	struct simpler_core_callable *cores[8];
	struct simpler_chip_child children[8];
	struct simpler_chip_callable *c;
	size_t size, i;
	void *object = object_read("orch", p->orchestration, "a2a3sim", &size);
	struct simpler_chip_spec spec = {
		.signature = p->signature, .sig_count = p->sig_count,
		.func_name = "aicpu_orchestration_entry", .children = children,
		.child_count = p->kernel_count,
	};
	char *salted = malloc(size + 1);

	for (i = 0; i < p->kernel_count; i++) {
		cores[i] = kernel(p->kernels[i]);
		children[i] = (struct simpler_chip_child){ (int32_t)i, cores[i] };
	}
	memcpy(salted, object, size);
	salted[size] = p->salt;
	spec.binary = salted;
	spec.binary_bytes = size + 1;
	assert_int_equal(simpler_chip_callable_build(&spec, &c, NULL), 0);
	free(salted);
	free(object);
	for (i = 0; i < p->kernel_count; i++)
		simpler_core_callable_put(cores[i]);
	return c;
}

/* The test orchestration under a signature; @salt makes the content different. */
static inline struct simpler_chip_callable *program(const int32_t *signature, size_t count,
						    char salt)
{
	static const char *const kernels[] = { "add_one", "wait_word" };
	struct program_parts parts = {
		.orchestration = "worker", .kernels = kernels, .kernel_count = 2,
		.signature = signature, .sig_count = count, .salt = salt,
	};

	return program_of(&parts);
}

static const int32_t one_inout[] = { SIMPLER_DIR_INOUT, SIMPLER_DIR_SCALAR };
static const int32_t with_gate[] = { SIMPLER_DIR_INOUT, SIMPLER_DIR_IN, SIMPLER_DIR_SCALAR };

static inline struct simpler_worker *worker_new(void)
{
	struct simpler_worker *w;

	assert_int_equal(simpler_worker_create(2, &w), 0);
	assert_int_equal(simpler_worker_set_platform(w, "a2a3sim"), 0);
	assert_int_equal(simpler_worker_set_runtime(w, "tensormap_and_ringbuffer"), 0);
	return w;
}

static inline struct simpler_worker *ready(void)
{
	struct simpler_worker *w = worker_new();

	assert_int_equal(simpler_worker_init(w, NULL), 0);
	return w;
}

static inline void end(struct simpler_worker *w)
{
	assert_int_equal(simpler_worker_destroy(w), 0);
}

/* Takes over the reference. */
static inline struct simpler_callable_handle registered_program(struct simpler_worker *w,
								struct simpler_chip_callable *c)
{
	struct simpler_callable_handle h;
	struct simpler_error e;

	if (simpler_worker_register(w, c, &h))
		fail_msg("%s", simpler_worker_last_error(w, &e)->text);
	simpler_chip_callable_put(c);
	return h;
}

static inline struct simpler_callable_handle registered(struct simpler_worker *w,
							const int32_t *signature, size_t count)
{
	return registered_program(w, program(signature, count, 0));
}

static inline struct simpler_buffer *device(struct simpler_worker *w)
{
	struct simpler_buffer *b;

	assert_int_equal(simpler_worker_malloc(w, BYTES, &b), 0);
	return b;
}

static inline struct simpler_buffer *host(struct simpler_worker *w, uint64_t bytes)
{
	struct simpler_buffer *b;

	assert_int_equal(simpler_worker_create_buffer(w, bytes, &b), 0);
	return b;
}

static inline int tensor_code(const struct simpler_buffer *b, uint64_t offset, uint32_t n, uint64_t stride)
{
	struct simpler_view v = {
		.dtype = SIMPLER_FLOAT32, .ndims = 1, .byte_offset = offset,
		.shapes = (const uint64_t[]){ n }, .strides = (const uint64_t[]){ stride },
	};
	struct simpler_tensor t;

	return simpler_tensor_init(&t, b, &v, NULL);
}

static inline void add(struct simpler_task_args *a, struct simpler_buffer *b, uint64_t offset, uint32_t n,
		int tag)
{
	struct simpler_view v = {
		.dtype = SIMPLER_FLOAT32, .ndims = 1, .byte_offset = offset,
		.shapes = (const uint64_t[]){ n },
	};
	struct simpler_tensor t;

	assert_int_equal(simpler_tensor_init(&t, b, &v, NULL), 0);
	assert_int_equal(simpler_task_args_add_tensor(a, &t, tag, SIMPLER_TRANSFER_DEFAULT, NULL),
			 0);
}

/* Arguments for one operation on all of @b, with a gate or not. */
static inline struct simpler_task_args *arguments(struct simpler_buffer *b, struct simpler_buffer *gate,
					   enum operation op)
{
	struct simpler_task_args *a;

	assert_int_equal(simpler_task_args_create(&a), 0);
	add(a, b, 0, BYTES / 4, SIMPLER_TAG_INOUT);
	if (gate)
		add(a, gate, 0, 1, SIMPLER_TAG_INPUT);
	assert_int_equal(simpler_task_args_add_scalar(a, op), 0);
	return a;
}

static inline int run(struct simpler_worker *w, const struct simpler_callable_handle *f,
	       struct simpler_buffer *b, enum operation op)
{
	struct simpler_task_args *a = arguments(b, NULL, op);
	int rc = simpler_worker_run(w, f, a, NULL, NULL);

	simpler_task_args_destroy(a);
	return rc;
}

static inline float first(struct simpler_worker *w, struct simpler_buffer *b)
{
	float out[BYTES / 4];

	assert_int_equal(simpler_worker_copy_from_raw(w, out, BYTES, b, NULL), 0);
	return out[0];
}

/* On the simulator the chip's memory is the process's. */
static inline void open_gate(struct simpler_buffer *gate)
{
	uint32_t *word = (uint32_t *)(uintptr_t)simpler_buffer_address(gate);

	/* release: pairs with the acquire in the kernel wait_word */
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
}

#define expect_class(code, class) \
	assert_int_equal(simpler_error_class(code), SIMPLER_CLASS_##class)

static inline void expect_text(struct simpler_worker *w, const char *part)
{
	struct simpler_error e;

	simpler_worker_last_error(w, &e);
	if (!strstr(e.text, part))
		fail_msg("'%s' is not in '%s'", part, e.text);
}

/* A run that is held by its gate, for cases about runs in flight. */
struct held {
	struct simpler_worker *w;
	struct simpler_callable_handle f;
	struct simpler_buffer *x, *gate;
	struct simpler_task_args *args;
	struct simpler_run *run;
};

static inline struct held held_run(void)
{
	struct held h = { .w = ready() };

	h.f = registered(h.w, with_gate, 3);
	h.x = device(h.w);
	h.gate = device(h.w);
	h.args = arguments(h.x, h.gate, WAIT_AND_ADD);
	assert_int_equal(simpler_worker_submit(h.w, &h.f, h.args, NULL, NULL, &h.run), 0);
	return h;
}

static inline void held_end(struct held *h)
{
	simpler_run_put(h->run);
	simpler_task_args_destroy(h->args);
	end(h->w);
	simpler_buffer_put(h->x);
	simpler_buffer_put(h->gate);
}

#endif /* TESTS_WORKER_CASES_H */
