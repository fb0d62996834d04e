/* SPDX-License-Identifier: MIT */
/*
 * Cases of worker-api.md §22 that a level-2 Worker in C can meet, on a2a3sim.
 * Exceptions appear as error classes.  Cases about Python objects, hardware and
 * other levels are elsewhere; what needs a failing chip is in tests/unit.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "simpler/simpler.h"

#define BYTES 64		/* of the usual buffer: sixteen floats */

enum operation { NOTHING = 0, ADD_ONE = 1, FAIL = 2, WAIT_AND_ADD = 3 };

static const struct simpler_copy whole;

/* ---- helpers ---- */

static void *read_object(const char *folder, const char *name, size_t *size)
{
	const char *dir = getenv("SIMPLER_BUILD_DIR");
	char path[512];
	FILE *file;
	void *data;

	if (!dir)
		fail_msg("SIMPLER_BUILD_DIR is not set: it names the folder with the test kernels");
	snprintf(path, sizeof(path), "%s/tests/conformance/%s/%s-a2a3sim.so", dir, folder, name);
	file = fopen(path, "rb");
	if (!file)
		fail_msg("cannot open %s", path);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	data = malloc(*size);
	assert_int_equal(fread(data, 1, *size, file), *size);
	fclose(file);
	return data;
}

static struct simpler_core_callable *kernel(const char *name)
{
	struct simpler_core_callable *k;
	size_t size;
	void *object = read_object("kernels", name, &size);

	assert_int_equal(simpler_core_callable_build(NULL, 0, object, size, &k, NULL), 0);
	free(object);
	return k;
}

/* The test orchestration under a signature; @salt, behind the object, makes the content different. */
static struct simpler_chip_callable *program(const int32_t *signature, size_t count, char salt)
{
	struct simpler_core_callable *add = kernel("add_one"), *wait = kernel("wait_word");
	struct simpler_chip_child children[] = { { 0, add }, { 1, wait } };
	struct simpler_chip_callable *c;
	size_t size;
	void *object = read_object("orch", "worker", &size);
	struct simpler_chip_spec spec = {
		.signature = signature, .sig_count = count,
		.func_name = "aicpu_orchestration_entry", .children = children, .child_count = 2,
	};
	char *salted = malloc(size + 1);

	memcpy(salted, object, size);
	salted[size] = salt;
	spec.binary = salted;
	spec.binary_bytes = size + 1;
	assert_int_equal(simpler_chip_callable_build(&spec, &c, NULL), 0);
	free(salted);
	free(object);
	simpler_core_callable_put(add);
	simpler_core_callable_put(wait);
	return c;
}

static const int32_t one_inout[] = { SIMPLER_DIR_INOUT, SIMPLER_DIR_SCALAR };
static const int32_t with_gate[] = { SIMPLER_DIR_INOUT, SIMPLER_DIR_IN, SIMPLER_DIR_SCALAR };

static struct simpler_worker *worker_new(void)
{
	struct simpler_worker *w;

	assert_int_equal(simpler_worker_create(2, &w), 0);
	assert_int_equal(simpler_worker_set_platform(w, "a2a3sim"), 0);
	assert_int_equal(simpler_worker_set_runtime(w, "tensormap_and_ringbuffer"), 0);
	return w;
}

static struct simpler_worker *ready(void)
{
	struct simpler_worker *w = worker_new();

	assert_int_equal(simpler_worker_init(w, NULL), 0);
	return w;
}

static void end(struct simpler_worker *w)
{
	assert_int_equal(simpler_worker_destroy(w), 0);
}

static struct simpler_callable_handle registered(struct simpler_worker *w, const int32_t *signature,
						 size_t count)
{
	struct simpler_chip_callable *c = program(signature, count, 0);
	struct simpler_callable_handle h;
	struct simpler_error e;

	if (simpler_worker_register(w, c, &h))
		fail_msg("%s", simpler_worker_last_error(w, &e)->text);
	simpler_chip_callable_put(c);
	return h;
}

static struct simpler_buffer *device(struct simpler_worker *w)
{
	struct simpler_buffer *b;

	assert_int_equal(simpler_worker_malloc(w, BYTES, &b), 0);
	return b;
}

static struct simpler_buffer *host(struct simpler_worker *w, uint64_t bytes)
{
	struct simpler_buffer *b;

	assert_int_equal(simpler_worker_create_buffer(w, bytes, &b), 0);
	return b;
}

static int tensor_code(const struct simpler_buffer *b, uint64_t offset, uint32_t n, uint64_t stride)
{
	struct simpler_view v = {
		.dtype = SIMPLER_FLOAT32, .ndims = 1, .byte_offset = offset,
		.shapes = (const uint64_t[]){ n }, .strides = (const uint64_t[]){ stride },
	};
	struct simpler_tensor t;

	return simpler_tensor_init(&t, b, &v, NULL);
}

static void add(struct simpler_task_args *a, struct simpler_buffer *b, uint64_t offset, uint32_t n,
		int tag)
{
	struct simpler_view v = {
		.dtype = SIMPLER_FLOAT32, .ndims = 1, .byte_offset = offset,
		.shapes = (const uint64_t[]){ n },
	};
	struct simpler_tensor t;

	assert_int_equal(simpler_tensor_init(&t, b, &v, NULL), 0);
	assert_int_equal(simpler_task_args_add_tensor(a, &t, tag, SIMPLER_TRANSFER_DEFAULT, NULL), 0);
}

/* Arguments for one operation on all of @b, with a gate or not. */
static struct simpler_task_args *arguments(struct simpler_buffer *b, struct simpler_buffer *gate,
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

static int run(struct simpler_worker *w, const struct simpler_callable_handle *f,
	       struct simpler_buffer *b, enum operation op)
{
	struct simpler_task_args *a = arguments(b, NULL, op);
	int rc = simpler_worker_run(w, f, a, NULL, NULL);

	simpler_task_args_destroy(a);
	return rc;
}

static float first(struct simpler_worker *w, struct simpler_buffer *b)
{
	float out[BYTES / 4];

	assert_int_equal(simpler_worker_copy_from_raw(w, out, BYTES, b, NULL), 0);
	return out[0];
}

/* On the simulator the chip's memory is the process's. */
static void open_gate(struct simpler_buffer *gate)
{
	uint32_t *word = (uint32_t *)(uintptr_t)simpler_buffer_address(gate);

	/* release: pairs with the acquire in the kernel wait_word */
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
}

#define expect_class(code, class) \
	assert_int_equal(simpler_error_class(code), SIMPLER_CLASS_##class)

static void expect_text(struct simpler_worker *w, const char *part)
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

static struct held held_run(void)
{
	struct held h = { .w = ready() };

	h.f = registered(h.w, with_gate, 3);
	h.x = device(h.w);
	h.gate = device(h.w);
	h.args = arguments(h.x, h.gate, WAIT_AND_ADD);
	assert_int_equal(simpler_worker_submit(h.w, &h.f, h.args, NULL, NULL, &h.run), 0);
	return h;
}

static void held_end(struct held *h)
{
	simpler_run_put(h->run);
	simpler_task_args_destroy(h->args);
	end(h->w);
	simpler_buffer_put(h->x);
	simpler_buffer_put(h->gate);
}

/* ---- lifecycle ---- */

static void case_02_level_1_fails_init(void **state)
{
	struct simpler_worker *w;

	(void)state;
	assert_int_equal(simpler_worker_create(1, &w), 0);
	expect_class(simpler_worker_init(w, NULL), VALUE);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_FAILED);
	expect_class(simpler_worker_init(w, NULL), RUNTIME);
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	end(w);
}

static void case_03_init_twice_and_use_after_close(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *b;

	(void)state;
	expect_class(simpler_worker_init(w, NULL), RUNTIME);
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	expect_class(simpler_worker_init(w, NULL), RUNTIME);
	expect_class(simpler_worker_malloc(w, 16, &b), RUNTIME);
	expect_class(simpler_worker_run(w, &f, NULL, NULL, NULL), RUNTIME);
	assert_int_equal(simpler_worker_close(w, NULL), 0);
	end(w);
}

static void case_04_nothing_works_before_init(void **state)
{
	struct simpler_worker *w = worker_new();
	struct simpler_buffer *b;

	(void)state;
	expect_class(simpler_worker_malloc(w, 16, &b), RUNTIME);
	assert_int_equal(simpler_worker_init(w, NULL), 0);
	assert_int_equal(simpler_worker_malloc(w, 16, &b), 0);
	end(w);
	simpler_buffer_put(b);
}

static void case_05_bad_prewarm_leaves_the_worker_usable(void **state)
{
	struct simpler_call_config c;
	struct simpler_init_options o = { .prewarm = &c };
	struct simpler_worker *w = worker_new();

	(void)state;
	simpler_call_config_init(&c);
	simpler_ring_set_all(c.runtime_env.ring_heap, 512);
	expect_class(simpler_worker_init(w, &o), VALUE);
	simpler_ring_set_all(c.runtime_env.ring_heap, 1 << 20);
	assert_int_equal(simpler_worker_init(w, &o), 0);
	end(w);
}

static bool close_and_stop(void *arg)
{
	int *rc = ((void **)arg)[1];

	*rc = simpler_worker_close(((void **)arg)[0], NULL);
	return true;
}

static void case_07_close_inside_an_operation_of_the_thread(void **state)
{
	struct held h = held_run();
	int rc = 0;
	void *arg[2] = { h.w, &rc };
	/* with a deadline the waiting thread leaves the execution to others, so that the check is asked */
	struct simpler_wait wait = { INT64_C(3600000000000), close_and_stop, arg };

	(void)state;
	assert_int_equal(simpler_run_wait(h.run, &wait), SIMPLER_ERR_INTERRUPTED);
	expect_class(rc, RUNTIME);
	assert_int_equal(simpler_worker_get_state(h.w), SIMPLER_WORKER_READY);
	open_gate(h.gate);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	held_end(&h);
}

static void case_08_close_times_out_and_can_be_repeated(void **state)
{
	struct held h = held_run();
	struct simpler_wait soon = { .timeout_ns = 20000000 };

	(void)state;
	expect_class(simpler_worker_close(h.w, &soon), TIMEOUT);
	open_gate(h.gate);
	assert_int_equal(simpler_worker_close(h.w, NULL), 0);
	assert_true(simpler_run_done(h.run));
	held_end(&h);
}

/* ---- callables ---- */

static void case_10_same_content_twice(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle a = registered(w, one_inout, 2);
	struct simpler_callable_handle b = registered(w, one_inout, 2);
	struct simpler_buffer *x = device(w);
	char hashid[SIMPLER_HASHID_BYTES];

	(void)state;
	assert_memory_equal(a.digest, b.digest, SIMPLER_DIGEST_BYTES);
	simpler_hashid_format(a.digest, hashid);
	assert_int_equal(strncmp(hashid, "sha256:", 7), 0);
	assert_int_equal(strspn(hashid + 7, "0123456789abcdef"), 64);
	assert_int_equal(simpler_worker_unregister(w, &a), 0);
	assert_int_equal(run(w, &b, x, ADD_ONE), 0);
	assert_true(first(w, x) == 1);
	end(w);
	simpler_buffer_put(x);
}

static void case_11_sixty_four_callables(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle h[65];
	struct simpler_chip_callable *c;
	int i, rc = 0;

	(void)state;
	for (i = 0; i < 65; i++) {
		c = program(one_inout, 2, (char)i);
		rc = simpler_worker_register(w, c, &h[i]);
		simpler_chip_callable_put(c);
		if (rc)
			break;
	}
	assert_int_equal(i, 64);
	expect_class(rc, RUNTIME);
	assert_int_equal(simpler_worker_unregister(w, &h[2]), 0);
	c = program(one_inout, 2, 99);
	assert_int_equal(simpler_worker_register(w, c, &h[2]), 0);
	simpler_chip_callable_put(c);
	end(w);
}

static void case_12_foreign_and_stale_handles(void **state)
{
	struct simpler_worker *w1 = ready(), *w2 = ready();
	struct simpler_callable_handle h = registered(w1, one_inout, 2), none = { 0 };

	(void)state;
	expect_class(simpler_worker_run(w2, &h, NULL, NULL, NULL), KEY);
	expect_class(simpler_worker_run(w1, &none, NULL, NULL, NULL), KEY);
	assert_int_equal(simpler_worker_unregister(w1, &h), 0);
	expect_class(simpler_worker_unregister(w1, &h), KEY);
	end(w1);
	end(w2);
}

static void case_13_only_chip_callables_at_level_2(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle h;

	(void)state;
	expect_class(simpler_worker_register(w, NULL, &h), TYPE);
	end(w);
}

static void case_14_register_after_init(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *x = device(w);
	struct simpler_callable_handle h = registered(w, one_inout, 2);

	(void)state;
	assert_int_equal(run(w, &h, x, ADD_ONE), 0);
	assert_true(first(w, x) == 1);
	end(w);
	simpler_buffer_put(x);
}

static struct simpler_chip_callable *case_15_callable(void)
{
	static const int32_t s[] = { SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_SCALAR };
	struct simpler_chip_spec spec = {
		.signature = s, .sig_count = 3, .func_name = "f", .binary = "\x01\x02",
		.binary_bytes = 2,
	};
	struct simpler_chip_callable *c;

	assert_int_equal(simpler_chip_callable_build(&spec, &c, NULL), 0);
	return c;
}

static void case_15_serialized_bytes(void **state)
{
	struct simpler_chip_callable *c = case_15_callable();
	size_t size, binary;
	const unsigned char *b = simpler_chip_callable_bytes(c, &size);

	(void)state;
	simpler_chip_callable_binary(c, &binary);
	assert_int_equal(simpler_chip_callable_sig_count(c), 3);
	assert_int_equal(simpler_chip_callable_scalar_count(c), 1);
	assert_int_equal(binary, 2);
	assert_int_equal(b[9376], 1);
	assert_int_equal(*(const uint32_t *)(b + 1028), 2);
	assert_int_equal(*(const int32_t *)(b + 1024), 3);
	assert_int_equal(*(const int32_t *)(b + 9292), 0);
	simpler_chip_callable_put(c);
}

static void case_16_from_bytes_gives_the_same_digest(void **state)
{
	struct simpler_chip_callable *c = case_15_callable(), *d;
	uint8_t dc[SIMPLER_DIGEST_BYTES], dd[SIMPLER_DIGEST_BYTES];
	size_t size;
	const void *b = simpler_chip_callable_bytes(c, &size);

	(void)state;
	assert_int_equal(simpler_chip_callable_from_bytes(b, size, &d, NULL), 0);
	assert_int_equal(simpler_chip_callable_scalar_count(d), 1);
	simpler_chip_callable_digest(c, "a2a3", "a2a3sim", "tensormap_and_ringbuffer", dc);
	simpler_chip_callable_digest(d, "a2a3", "a2a3sim", "tensormap_and_ringbuffer", dd);
	assert_memory_equal(dc, dd, sizeof(dc));
	simpler_chip_callable_put(c);
	simpler_chip_callable_put(d);
}

/* ---- buffers and copies ---- */

static void case_19_malloc_identities(void **state)
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

static void case_20_freed_buffers_stay_refused(void **state)
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

static void case_21_to_24_copies(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *dev = device(w), *src = host(w, 64), *dst = host(w, 64), *eight = host(w, 8);
	unsigned char *s = simpler_buffer_data(src), *d = simpler_buffer_data(dst), raw[64];
	struct simpler_copy c = whole;
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

static void case_25_forged_interior_buffer(void **state)
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

static void case_27_shared_memory_with_a_live_view(void **state)
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

static void case_28_29_tensor_validation(void **state)
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

static void case_30_serialized_tensor(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *b = device(w);
	struct simpler_tensor t;
	unsigned char raw[144];

	(void)state;
	assert_int_equal(simpler_tensor_init_dense(&t, b, SIMPLER_INT32, 1, (uint32_t[]){ 16 }, NULL), 0);
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

static void case_31_order_and_indices(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_buffer *b = device(w);
	struct simpler_task_args *a;
	struct simpler_tensor t;

	(void)state;
	assert_int_equal(simpler_task_args_create(&a), 0);
	expect_class(simpler_task_args_tensor(a, 0, &t), INDEX);
	assert_int_equal(simpler_task_args_add_scalar(a, 1), 0);
	assert_int_equal(simpler_tensor_init_dense(&t, b, SIMPLER_INT32, 1, (uint32_t[]){ 16 }, NULL), 0);
	expect_class(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INPUT, -1, NULL), RUNTIME);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(b);
}

static void case_32_scalars(void **state)
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

static void case_33_blob(void **state)
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

static void case_34_transfer_defaults(void **state)
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
	expect_class(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INPUT, SIMPLER_TRANSFER_H2D, NULL),
		     VALUE);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(dev);
	simpler_buffer_put(h);
}

static void case_35_grants(void **state)
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
	expect_class(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_OUTPUT_EXISTING, -1, NULL), VALUE);
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

static void case_36_overlap(void **state)
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

static void case_37_trb_refuses_host_controls(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *h = host(w, 64);
	struct simpler_task_args *a;
	struct simpler_tensor t;

	(void)state;
	assert_int_equal(simpler_task_args_create(&a), 0);
	simpler_tensor_init_dense(&t, h, SIMPLER_FLOAT32, 1, (uint32_t[]){ 16 }, NULL);
	assert_int_equal(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INOUT, SIMPLER_TRANSFER_NONE, NULL), 0);
	simpler_task_args_add_scalar(a, ADD_ONE);
	expect_class(simpler_worker_run(w, &f, a, NULL, NULL), VALUE);
	assert_int_equal(simpler_worker_retained_temp_addr(w, 0), 0);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(h);
}

/* ---- configuration ---- */

static void case_38_39_call_config(void **state)
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

/* ---- runs ---- */

static void case_41_snapshot_and_repeated_wait(void **state)
{
	struct held h = held_run();

	(void)state;
	simpler_task_args_clear(h.args);
	open_gate(h.gate);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	assert_true(simpler_run_done(h.run));
	assert_true(first(h.w, h.x) == 1);
	held_end(&h);
}

static void case_42_timeouts(void **state)
{
	struct held h = held_run();
	struct simpler_wait negative = { .timeout_ns = -1 }, zero = { .timeout_ns = 0 };

	(void)state;
	expect_class(simpler_run_wait(h.run, &negative), VALUE);
	expect_class(simpler_run_wait(h.run, &zero), TIMEOUT);
	assert_false(simpler_run_done(h.run));
	open_gate(h.gate);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	assert_true(first(h.w, h.x) == 1);
	held_end(&h);
}

static void case_43_failed_run_is_alone(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *x = host(w, BYTES);
	float *data = simpler_buffer_data(x);

	(void)state;
	data[0] = 5;
	assert_int_equal(run(w, &f, x, FAIL), -SIMPLER_RUN_EXPLICIT_ORCH_FATAL);
	expect_text(w, "run failed with code -9");
	expect_text(w, "told to fail");
	assert_true(data[0] == 5);
	assert_int_equal(run(w, &f, x, ADD_ONE), 0);
	assert_true(data[0] == 6 && data[15] == 1);
	end(w);
	simpler_buffer_put(x);
}

static void *waiter(void *run)
{
	return (void *)(intptr_t)simpler_run_wait(run, NULL);
}

static void case_44_three_waiters(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, one_inout, 2);
	struct simpler_buffer *x = device(w);
	struct simpler_task_args *a = arguments(x, NULL, FAIL);
	struct simpler_run *r;
	pthread_t t[3];
	void *rc;
	int i;

	(void)state;
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r), 0);
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, waiter, r);
	for (i = 0; i < 3; i++) {
		pthread_join(t[i], &rc);
		assert_int_equal((int)(intptr_t)rc, -SIMPLER_RUN_EXPLICIT_ORCH_FATAL);
	}
	simpler_run_put(r);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(x);
}

static void case_45_free_in_flight(void **state)
{
	struct held h = held_run();

	(void)state;
	expect_class(simpler_worker_free(h.w, h.x), RUNTIME);
	open_gate(h.gate);
	assert_int_equal(simpler_run_wait(h.run, NULL), 0);
	assert_true(first(h.w, h.x) == 1);
	assert_int_equal(simpler_worker_free(h.w, h.x), 0);
	held_end(&h);
}

static void case_49_nothing_to_borrow_on_a_simulator(void **state)
{
	struct simpler_init_options o = { .flags = SIMPLER_INIT_BORROW };
	struct simpler_worker *w = worker_new();

	(void)state;
	expect_class(simpler_worker_init(w, &o), VALUE);
	o.borrowed_context_generation = 7;
	expect_class(simpler_worker_init(w, &o), VALUE);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_NEW);
	end(w);
}

/* ---- wrapped storage ---- */

static _Alignas(64) float storage[16];

static uint64_t storage_at(size_t offset)
{
	return (uint64_t)(uintptr_t)storage + offset;
}

static void case_53_bad_wraps(void **state)
{
	struct simpler_worker *w = ready();
	const enum simpler_access rw = SIMPLER_ACCESS_READWRITE;
	struct simpler_location *l;
	struct simpler_buffer *a, *b;

	(void)state;
	assert_int_equal(simpler_worker_location(w, &l), 0);
	expect_class(simpler_buffer_wrap(0, 8, l, rw, &a, NULL), VALUE);
	expect_class(simpler_buffer_wrap(storage_at(0), 0, l, rw, &a, NULL), VALUE);
	expect_class(simpler_buffer_wrap(UINT64_MAX - 7, 16, l, rw, &a, NULL), VALUE);
	assert_int_equal(simpler_buffer_wrap(storage_at(0), 32, l, rw, &a, NULL), 0);
	expect_class(simpler_buffer_wrap(storage_at(31), 8, l, rw, &b, NULL), VALUE);
	end(w);
	simpler_buffer_put(a);
	simpler_location_put(l);
}

static void case_54_56_wrapped_storage(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle f = registered(w, with_gate, 3);
	struct simpler_buffer *source, *again, *gate = device(w);
	struct simpler_task_args *a;
	struct simpler_location *l;
	struct simpler_run *r;

	(void)state;
	storage[0] = 3;
	assert_int_equal(simpler_worker_location(w, &l), 0);
	assert_int_equal(simpler_buffer_wrap(storage_at(0), 64, l, SIMPLER_ACCESS_READWRITE, &source, NULL), 0);
	a = arguments(source, gate, WAIT_AND_ADD);
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r), 0);
	expect_class(simpler_buffer_close(source, NULL), RUNTIME);
	open_gate(gate);
	assert_int_equal(simpler_run_wait(r, NULL), 0);
	assert_true(storage[0] == 4);
	expect_class(simpler_worker_free(w, source), VALUE);
	expect_class(simpler_worker_copy_to_raw(w, source, "x", 1, NULL), VALUE);
	assert_int_equal(simpler_buffer_close(source, NULL), 0);
	assert_int_equal(simpler_buffer_wrap(storage_at(0), 64, l, SIMPLER_ACCESS_READWRITE, &again, NULL), 0);
	expect_class(simpler_worker_run(w, &f, a, NULL, NULL), VALUE);
	simpler_run_put(r);
	simpler_task_args_destroy(a);
	end(w);
	simpler_buffer_put(source);
	simpler_buffer_put(again);
	simpler_buffer_put(gate);
	simpler_location_put(l);
}

static void case_55_locations_of_others(void **state)
{
	struct simpler_worker *w1 = ready(), *w2 = ready();
	struct simpler_callable_handle f = registered(w2, one_inout, 2);
	struct simpler_location *l;
	struct simpler_buffer *b, *late;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(simpler_worker_location(w1, &l), 0);
	assert_int_equal(simpler_buffer_wrap(storage_at(0), 64, l, SIMPLER_ACCESS_READWRITE, &b, NULL), 0);
	expect_class(run(w2, &f, b, ADD_ONE), VALUE);
	pid = fork();
	if (!pid)
		_exit(simpler_error_class(simpler_buffer_wrap(storage_at(0), 8, l, SIMPLER_ACCESS_READ,
							      &late, NULL)) != SIMPLER_CLASS_VALUE);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end(w1);
	expect_class(simpler_buffer_wrap(storage_at(0), 8, l, SIMPLER_ACCESS_READ, &late, NULL), VALUE);
	end(w2);
	simpler_buffer_put(b);
	simpler_location_put(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_02_level_1_fails_init),
		cmocka_unit_test(case_03_init_twice_and_use_after_close),
		cmocka_unit_test(case_04_nothing_works_before_init),
		cmocka_unit_test(case_05_bad_prewarm_leaves_the_worker_usable),
		cmocka_unit_test(case_07_close_inside_an_operation_of_the_thread),
		cmocka_unit_test(case_08_close_times_out_and_can_be_repeated),
		cmocka_unit_test(case_10_same_content_twice),
		cmocka_unit_test(case_11_sixty_four_callables),
		cmocka_unit_test(case_12_foreign_and_stale_handles),
		cmocka_unit_test(case_13_only_chip_callables_at_level_2),
		cmocka_unit_test(case_14_register_after_init),
		cmocka_unit_test(case_15_serialized_bytes),
		cmocka_unit_test(case_16_from_bytes_gives_the_same_digest),
		cmocka_unit_test(case_19_malloc_identities),
		cmocka_unit_test(case_20_freed_buffers_stay_refused),
		cmocka_unit_test(case_21_to_24_copies),
		cmocka_unit_test(case_25_forged_interior_buffer),
		cmocka_unit_test(case_27_shared_memory_with_a_live_view),
		cmocka_unit_test(case_28_29_tensor_validation),
		cmocka_unit_test(case_30_serialized_tensor),
		cmocka_unit_test(case_31_order_and_indices),
		cmocka_unit_test(case_32_scalars),
		cmocka_unit_test(case_33_blob),
		cmocka_unit_test(case_34_transfer_defaults),
		cmocka_unit_test(case_35_grants),
		cmocka_unit_test(case_36_overlap),
		cmocka_unit_test(case_37_trb_refuses_host_controls),
		cmocka_unit_test(case_38_39_call_config),
		cmocka_unit_test(case_41_snapshot_and_repeated_wait),
		cmocka_unit_test(case_42_timeouts),
		cmocka_unit_test(case_43_failed_run_is_alone),
		cmocka_unit_test(case_44_three_waiters),
		cmocka_unit_test(case_45_free_in_flight),
		cmocka_unit_test(case_49_nothing_to_borrow_on_a_simulator),
		cmocka_unit_test(case_53_bad_wraps),
		cmocka_unit_test(case_54_56_wrapped_storage),
		cmocka_unit_test(case_55_locations_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
