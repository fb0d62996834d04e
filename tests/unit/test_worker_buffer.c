/* SPDX-License-Identifier: MIT */
/* Buffers, copies, wrapped storage. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker_fixture.h"

static void expect_copy_to(struct simpler_worker *w, struct simpler_buffer *dst,
			   struct simpler_buffer *src, const struct simpler_copy *c, int code)
{
	int before = fake.copies;

	assert_int_equal(simpler_worker_copy_to(w, dst, src, c), code);
	if (code)
		assert_int_equal(fake.copies, before);
}

static void allocations_have_their_own_identity(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *a = device_buffer(w, 64), *b = device_buffer(w, 64);
	struct simpler_identity ia = simpler_buffer_identity(a), ib = simpler_buffer_identity(b);

	(void)state;
	assert_int_equal(simpler_buffer_nbytes(a), 64);
	assert_int_equal(simpler_buffer_space(a), SIMPLER_SPACE_DEVICE);
	assert_int_equal(simpler_buffer_backend(a), SIMPLER_BACKEND_DEVICE_MALLOC);
	assert_int_equal(simpler_buffer_address(a) % 1024, 0);
	assert_memory_equal(ia.owner, ib.owner, 8);
	assert_false(simpler_identity_equal(&ia, &ib));
	assert_int_equal(ia.generation, 1);
	assert_null(simpler_buffer_data(a));
	simpler_buffer_put(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void sizes_and_device_memory_have_limits(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *b;

	(void)state;
	assert_int_equal(simpler_worker_malloc(w, 0, &b), SIMPLER_ERR_BUFFER_SIZE);
	assert_int_equal(simpler_worker_malloc(w, 1ull << 40, &b), SIMPLER_ERR_DEVICE_MEMORY);
	expect_error(w, SIMPLER_ERR_DEVICE_MEMORY, "1099511627776 bytes");
	assert_int_equal(simpler_worker_create_buffer(w, 0, &b), SIMPLER_ERR_BUFFER_SIZE);
	assert_int_equal(simpler_worker_create_buffer(w, UINT64_MAX, &b), SIMPLER_ERR_BUFFER_SIZE);
	assert_int_equal(simpler_worker_wrap_host(w, NULL, 8, SIMPLER_ACCESS_READ, &b),
			 SIMPLER_ERR_INVALID_ARGUMENT);
	worker_end(w);
}

static void host_memory_must_be_a_range_of_addresses(void **state)
{
	struct simpler_worker *w = worker_ready();
	void *end = (void *)(UINTPTR_MAX - 7);
	struct simpler_buffer *b;

	(void)state;
	assert_int_equal(simpler_worker_wrap_host(w, end, 16, SIMPLER_ACCESS_READ, &b),
			 SIMPLER_ERR_WRAP_RANGE);
	expect_error(w, SIMPLER_ERR_WRAP_RANGE, "16 bytes at 0xfffffffffffffff8");
	assert_int_equal(simpler_worker_wrap_host(w, end, 4, 9, &b), SIMPLER_ERR_INVALID_ARGUMENT);
	worker_end(w);
}

static void a_failed_copy_names_addresses_and_size(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *d = device_buffer(w, 64), *h;
	struct simpler_error e;
	char address[32];

	(void)state;
	/* the fake chip cannot reach address 1 */
	assert_int_equal(simpler_worker_wrap_host(w, (void *)1, 48, SIMPLER_ACCESS_READWRITE, &h),
			 0);
	snprintf(address, sizeof(address), "chip's 0x%llx",
		 (unsigned long long)simpler_buffer_address(d));
	assert_int_equal(simpler_worker_copy_to(w, d, h, NULL), SIMPLER_ERR_INVALID_ARGUMENT);
	expect_error(w, SIMPLER_ERR_INVALID_ARGUMENT, "copy of 48 bytes from the host's 0x1 to");
	expect_error(w, SIMPLER_ERR_INVALID_ARGUMENT, address);
	assert_non_null(strstr(simpler_worker_last_error(w, &e)->hint, "read"));
	assert_int_equal(simpler_worker_copy_from(w, h, d, NULL), SIMPLER_ERR_INVALID_ARGUMENT);
	expect_error(w, SIMPLER_ERR_INVALID_ARGUMENT, "copy of 48 bytes to the host's 0x1 from");
	simpler_buffer_put(h);
	simpler_buffer_put(d);
	worker_end(w);
}

static void freed_buffers_stay_dead_even_at_the_same_address(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *src = host_buffer(w, 64), *dead = device_buffer(w, 64);
	struct simpler_buffer *again;

	(void)state;
	assert_int_equal(simpler_worker_free(w, dead), 0);
	assert_true(simpler_buffer_closed(dead));
	assert_int_equal(simpler_worker_free(w, dead), SIMPLER_ERR_BUFFER_NOT_LIVE);
	expect_error(w, SIMPLER_ERR_BUFFER_NOT_LIVE, "not a live device allocation");
	again = device_buffer(w, 64);
	expect_copy_to(w, dead, src, NULL, SIMPLER_ERR_BUFFER_NOT_LIVE);
	expect_copy_to(w, again, src, NULL, 0);
	simpler_buffer_put(src);
	simpler_buffer_put(dead);
	simpler_buffer_put(again);
	worker_end(w);
}

static void refused_native_free_leaves_the_buffer_usable(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *b = device_buffer(w, 8);
	char back[8];

	(void)state;
	assert_int_equal(simpler_worker_copy_to_raw(w, b, "12345678", 8, NULL), 0);
	fake.fail_memory_free = -5;
	assert_int_equal(simpler_worker_free(w, b), SIMPLER_ERR_SYSTEM);
	expect_error(w, SIMPLER_ERR_SYSTEM, "the chip refused to free the memory at 0x");
	assert_false(simpler_buffer_closed(b));
	assert_int_equal(simpler_worker_copy_from_raw(w, back, 8, b, NULL), 0);
	assert_memory_equal(back, "12345678", 8);
	assert_int_equal(simpler_worker_free(w, b), 0);
	assert_int_equal(fake.live.memory, 0);
	assert_int_equal(simpler_worker_free(w, b), SIMPLER_ERR_BUFFER_NOT_LIVE);
	simpler_buffer_put(b);
	worker_end(w);
}

static void handle_dropped_without_free_lives_until_close(void **state)
{
	struct simpler_worker *w = worker_ready();

	(void)state;
	simpler_buffer_put(device_buffer(w, 64));
	simpler_buffer_put(host_buffer(w, 64));
	assert_int_equal(fake.live.memory, 1);
	worker_end(w);
}

static void many_buffers_are_found(void **state)
{
	struct simpler_worker *w = worker_ready();
	static struct simpler_buffer *b[1000];
	int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		b[i] = device_buffer(w, 8);
	for (i = 0; i < 1000; i += 2)
		assert_int_equal(simpler_worker_free(w, b[i]), 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(simpler_worker_copy_to_raw(w, b[i], "12345678", 8, NULL),
				 i % 2 ? 0 : SIMPLER_ERR_BUFFER_NOT_LIVE);
	for (i = 0; i < 1000; i++)
		simpler_buffer_put(b[i]);
	worker_end(w);
}

/* ---- copies ---- */

static void copies_move_the_named_bytes_only(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *dev = device_buffer(w, 64), *host = host_buffer(w, 64);
	struct simpler_copy part = { .dst_offset = 32, .nbytes = 16, .flags = SIMPLER_COPY_NBYTES };
	unsigned char *h = simpler_buffer_data(host), raw[64];
	int i;

	(void)state;
	for (i = 0; i < 64; i++)
		h[i] = (unsigned char)i;
	assert_int_equal(simpler_worker_copy_to(w, dev, host, &part), 0);
	assert_int_equal(simpler_worker_copy_from_raw(w, raw, 64, dev, NULL), 0);
	for (i = 0; i < 64; i++)
		assert_int_equal(raw[i], i >= 32 && i < 48 ? i - 32 : 0);
	/* without a length: the rest of the host side */
	assert_int_equal(simpler_worker_copy_to_raw(w, dev, "abcdefgh", 8,
						    &(struct simpler_copy){ .src_offset = 6 }), 0);
	assert_int_equal(simpler_worker_copy_from(w, host, dev, NULL), 0);
	assert_memory_equal(h, "gh\0", 3);
	simpler_buffer_put(dev);
	simpler_buffer_put(host);
	worker_end(w);
}

static void copies_out_of_bounds_reach_nothing(void **state)
{
	static const struct {
		int64_t dst, src, n;
		int code;
	} cases[] = {
		{ 56, 0, 16, SIMPLER_ERR_BUFFER_BOUNDS },
		{ 64, 0, 0, 0 },
		{ 65, 0, 0, SIMPLER_ERR_BUFFER_BOUNDS },
		{ -1, 0, 4, SIMPLER_ERR_BUFFER_BOUNDS },
		{ 0, -1, 4, SIMPLER_ERR_BUFFER_BOUNDS },
		{ 0, 0, -1, SIMPLER_ERR_BUFFER_BOUNDS },
		{ 0, 63, 2, SIMPLER_ERR_BUFFER_BOUNDS },
		{ 0, 65, 0, SIMPLER_ERR_BUFFER_BOUNDS },
		{ INT64_MAX, 0, 1, SIMPLER_ERR_BUFFER_BOUNDS },
		{ 1, 0, INT64_MAX, SIMPLER_ERR_BUFFER_BOUNDS },
	};
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *dev = device_buffer(w, 64), *host = host_buffer(w, 64);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct simpler_copy c = {
			cases[i].dst, cases[i].src, cases[i].n, SIMPLER_COPY_NBYTES, 0, NULL,
		};

		expect_copy_to(w, dev, host, &c, cases[i].code);
	}
	assert_int_equal(fake.copies, 0);
	simpler_buffer_put(dev);
	simpler_buffer_put(host);
	worker_end(w);
}

static void copies_check_spaces_grants_and_flags(void **state)
{
	static char constant[64];
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *dev = device_buffer(w, 64), *host = host_buffer(w, 64), *ro;
	struct simpler_copy flags = { .flags = 2 };

	(void)state;
	assert_int_equal(simpler_worker_wrap_host(w, constant, 64, SIMPLER_ACCESS_READ, &ro), 0);
	expect_copy_to(w, host, host, NULL, SIMPLER_ERR_BUFFER_SPACE);
	expect_copy_to(w, dev, dev, NULL, SIMPLER_ERR_BUFFER_SPACE);
	expect_copy_to(w, dev, host, &flags, SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_worker_copy_from(w, ro, dev, NULL), SIMPLER_ERR_BUFFER_GRANT);
	expect_error(w, SIMPLER_ERR_BUFFER_GRANT, "needs WRITE");
	expect_copy_to(w, dev, ro, NULL, 0);
	simpler_buffer_put(dev);
	simpler_buffer_put(host);
	simpler_buffer_put(ro);
	worker_end(w);
}

static void forged_interior_handles_are_refused(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *dev = device_buffer(w, 64), *host = host_buffer(w, 32), *forged;
	struct simpler_buffer_desc d;
	uint64_t inside = simpler_buffer_address(dev) + 32;

	(void)state;
	assert_int_equal(simpler_buffer_descriptor(dev, &d, NULL), 0);
	memcpy(d.body, &inside, 8);
	d.nbytes = 32;
	assert_int_equal(simpler_buffer_from_descriptor(&d, &forged, NULL), 0);
	expect_copy_to(w, forged, host, NULL, SIMPLER_ERR_BUFFER_NOT_LIVE);
	assert_int_equal(simpler_worker_free(w, forged), SIMPLER_ERR_BUFFER_NOT_LIVE);
	assert_int_equal(simpler_buffer_close(forged, NULL), 0);
	simpler_buffer_put(forged);
	/* an honest copy of the descriptor names the allocation */
	simpler_buffer_descriptor(dev, &d, NULL);
	assert_int_equal(simpler_buffer_from_descriptor(&d, &forged, NULL), 0);
	expect_copy_to(w, forged, host, NULL, 0);
	assert_int_equal(simpler_worker_free(w, forged), 0);
	simpler_buffer_put(forged);
	simpler_buffer_put(dev);
	simpler_buffer_put(host);
	worker_end(w);
}

static void failed_copies_are_reported_every_time(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *dev = device_buffer(w, 64);
	int i;

	(void)state;
	for (i = 0; i < 3; i++)	/* the fake chip cannot reach address 1 */
		assert_int_equal(simpler_worker_copy_to_raw(w, dev, (void *)1, 8, NULL),
				 SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_worker_copy_to_raw(w, dev, "12345678", 8, NULL), 0);
	simpler_buffer_put(dev);
	worker_end(w);
}

static void *copy_thread(void *arg)
{
	void **p = arg;
	static char out[64];

	return (void *)(intptr_t)simpler_worker_copy_from_raw(p[0], out, 64, p[1], NULL);
}

static void copy_waits_for_runs_that_use_the_buffer_and_no_others(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_buffer *used = device_buffer(w, 64), *idle = device_buffer(w, 64);
	struct simpler_task_args *a = args_new();
	void *arg[2] = { w, used }, *rc;
	struct simpler_copy now = { .wait = &(struct simpler_wait){ .timeout_ns = 0 } };
	char out[64];
	struct simpler_run *r;
	pthread_t t;

	(void)state;
	args_add(a, used, 0, 16, SIMPLER_TAG_INOUT);
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r), 0);
	assert_int_equal(simpler_worker_copy_from_raw(w, out, 64, idle, NULL), 0);
	assert_int_equal(simpler_worker_copy_from_raw(w, out, 64, used, &now), SIMPLER_ERR_TIMEOUT);
	now.wait = &(struct simpler_wait){ .timeout_ns = -1 };
	assert_int_equal(simpler_worker_copy_from_raw(w, out, 64, used, &now),
			 SIMPLER_ERR_TIMEOUT_VALUE);
	pthread_create(&t, NULL, copy_thread, arg);
	fake_await_waiters(1);
	assert_int_equal(fake.launches, 0);
	fake_release();
	pthread_join(t, &rc);
	assert_null(rc);
	assert_int_equal(fake.launches, 1);
	simpler_run_put(r);
	simpler_task_args_destroy(a);
	simpler_buffer_put(used);
	simpler_buffer_put(idle);
	worker_end(w);
}

/* ---- shared memory ---- */

static bool shm_exists(const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/%s", name);
	fd = shm_open(path, O_RDONLY, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void host_buffer_is_named_shared_memory(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *b = host_buffer(w, 100);
	struct simpler_buffer_desc d;
	char name[33];

	(void)state;
	assert_int_equal(simpler_buffer_descriptor(b, &d, NULL), 0);
	assert_int_equal(simpler_buffer_desc_check(&d, NULL), 0);
	assert_int_equal(d.backend, SIMPLER_BACKEND_POSIX_SHM);
	memcpy(name, d.body, d.body_len);
	name[d.body_len] = '\0';
	assert_string_equal(name, simpler_buffer_shm_name(b));
	assert_true(shm_exists(name));
	assert_int_equal(((char *)simpler_buffer_data(b))[99], 0);
	assert_int_equal(simpler_buffer_close(b, NULL), 0);
	assert_false(shm_exists(name));
	assert_true(simpler_buffer_unlinked(b));
	assert_null(simpler_buffer_data(b));
	assert_int_equal(simpler_buffer_close(b, NULL), 0);
	simpler_buffer_put(b);
	worker_end(w);
}

static void live_view_keeps_the_mapping_but_not_the_name(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *b = host_buffer(w, 64);
	struct simpler_tensor t;
	struct simpler_error e;
	void *data;

	(void)state;
	assert_int_equal(simpler_buffer_pin(b, &data), 0);
	assert_int_equal(simpler_buffer_close(b, &e), SIMPLER_ERR_BUFFER_EXPORTED);
	assert_false(shm_exists(simpler_buffer_shm_name(b)));
	((char *)data)[0] = 1;
	assert_int_equal(simpler_tensor_init_dense(&t, b, SIMPLER_INT8, 1, (uint32_t[]){ 64 }, &e),
			 SIMPLER_ERR_BUFFER_RELEASED);
	assert_int_equal(simpler_buffer_pin(b, &data), SIMPLER_ERR_BUFFER_RELEASED);
	simpler_buffer_unpin(b);
	assert_int_equal(simpler_buffer_close(b, &e), 0);
	assert_int_equal(simpler_buffer_close(b, &e), 0);
	simpler_buffer_put(b);
	worker_end(w);
}

static void worker_close_leaves_pinned_memory_as_debt(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *b = host_buffer(w, 64);
	void *data;

	(void)state;
	assert_int_equal(simpler_buffer_pin(b, &data), 0);
	assert_int_equal(simpler_worker_close(w, NULL), SIMPLER_ERR_BUFFER_EXPORTED);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_CLOSED);
	assert_true(fake_nothing_alive());
	((char *)data)[63] = 1;
	assert_int_equal(simpler_worker_close(w, NULL), SIMPLER_ERR_BUFFER_EXPORTED);
	simpler_buffer_unpin(b);
	simpler_buffer_put(b);
	worker_end(w);
}

static void buffer_in_use_cannot_be_closed(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_buffer *b = host_buffer(w, 64);
	struct simpler_task_args *a = args_new();
	struct simpler_run *r;
	struct simpler_error e;

	(void)state;
	args_add(a, b, 0, 16, SIMPLER_TAG_INOUT);
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r), 0);
	assert_int_equal(simpler_buffer_close(b, &e), SIMPLER_ERR_BUFFER_IN_USE);
	assert_false(simpler_buffer_closed(b));
	fake_release();
	assert_int_equal(simpler_run_wait(r, NULL), 0);
	assert_int_equal(simpler_buffer_close(b, &e), 0);
	simpler_run_put(r);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	worker_end(w);
}

static void buffers_are_closed_or_freed_by_their_kind(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *dev = device_buffer(w, 64), *host = host_buffer(w, 64);
	struct simpler_error e;
	void *data;

	(void)state;
	assert_int_equal(simpler_buffer_close(dev, &e), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_worker_free(w, host), SIMPLER_ERR_BUFFER_SPACE);
	assert_int_equal(simpler_buffer_pin(dev, &data), SIMPLER_ERR_BUFFER_SPACE);
	simpler_buffer_put(dev);
	simpler_buffer_put(host);
	worker_end(w);
}

/* ---- wrapped storage ---- */

static struct simpler_location *location_of(struct simpler_worker *w)
{
	struct simpler_location *l;

	assert_int_equal(simpler_worker_location(w, &l), 0);
	return l;
}

static _Alignas(8) char storage[256];

static uint64_t at(size_t offset)
{
	return (uint64_t)(uintptr_t)storage + offset;
}

static void bad_ranges_and_overlaps_are_not_wrapped(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_location *l = location_of(w);
	struct simpler_buffer *a, *b;
	struct simpler_error e;
	const enum simpler_access rw = SIMPLER_ACCESS_READWRITE;

	(void)state;
	assert_int_equal(simpler_buffer_wrap(0, 8, l, rw, &a, &e), SIMPLER_ERR_WRAP_RANGE);
	assert_int_equal(simpler_buffer_wrap(8, 0, l, rw, &a, &e), SIMPLER_ERR_WRAP_RANGE);
	assert_int_equal(simpler_buffer_wrap(UINT64_MAX - 7, 16, l, rw, &a, &e),
			 SIMPLER_ERR_WRAP_RANGE);
	assert_int_equal(simpler_buffer_wrap(at(0), 8, l, 7, &a, &e), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_buffer_wrap(at(0), 128, l, rw, &a, &e), 0);
	assert_int_equal(simpler_buffer_wrap(at(127), 8, l, rw, &b, &e), SIMPLER_ERR_WRAP_OVERLAP);
	assert_non_null(strstr(e.text, "overlaps"));
	assert_int_equal(simpler_buffer_wrap(at(128), 8, l, rw, &b, &e), 0);
	assert_int_equal(simpler_worker_free(w, a), SIMPLER_ERR_BUFFER_BORROWED);
	assert_int_equal(simpler_worker_copy_to_raw(w, a, "x", 1, NULL),
			 SIMPLER_ERR_BUFFER_BORROWED);
	simpler_buffer_put(a);
	simpler_buffer_put(b);
	simpler_location_put(l);
	worker_end(w);
}

static void wrapped_storage_runs_until_closed(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "b");
	struct simpler_location *l = location_of(w);
	struct simpler_task_args *a = args_new();
	struct simpler_buffer *b, *again;
	struct simpler_run *r;
	struct simpler_error e;

	(void)state;
	assert_int_equal(simpler_buffer_wrap(at(0), 64, l, SIMPLER_ACCESS_READWRITE, &b, &e), 0);
	args_add(a, b, 0, 16, SIMPLER_TAG_INOUT);
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &f, a, NULL, NULL, &r), 0);
	assert_int_equal(simpler_buffer_close(b, &e), SIMPLER_ERR_BUFFER_IN_USE);
	assert_non_null(strstr(e.text, "in-flight"));
	fake_release();
	assert_int_equal(simpler_run_wait(r, NULL), 0);
	assert_int_equal(fake.last_tensors[0].addr, at(0));
	assert_int_equal(simpler_buffer_close(b, &e), 0);
	/* wrapping again gives a new identity; old arguments stay refused */
	assert_int_equal(simpler_buffer_wrap(at(0), 64, l, SIMPLER_ACCESS_READWRITE, &again, &e),
			 0);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), SIMPLER_ERR_BUFFER_NOT_LIVE);
	simpler_run_put(r);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	simpler_buffer_put(again);
	simpler_location_put(l);
	worker_end(w);
}

static void wrap_of_the_workers_own_memory_fails_at_submit(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle f = registered(w, "i");
	struct simpler_location *l = location_of(w);
	struct simpler_buffer *own = device_buffer(w, 1024), *b;
	struct simpler_task_args *a = args_new();
	struct simpler_error e;

	(void)state;
	assert_int_equal(simpler_buffer_wrap(simpler_buffer_address(own) + 1000, 64, l,
					     SIMPLER_ACCESS_READ, &b, &e), 0);
	args_add(a, b, 0, 4, SIMPLER_TAG_INPUT);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), SIMPLER_ERR_WRAP_OVERLAP);
	assert_int_equal(simpler_worker_free(w, own), 0);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	simpler_task_args_destroy(a);
	simpler_buffer_put(own);
	simpler_buffer_put(b);
	simpler_location_put(l);
	worker_end(w);
}

static void locations_die_with_their_worker(void **state)
{
	struct simpler_worker *w = worker_new();
	struct simpler_location *l;
	struct simpler_buffer *b, *late;
	struct simpler_buffer_desc d;
	struct simpler_error e;

	(void)state;
	assert_int_equal(simpler_worker_location(w, &l), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_worker_init(w, NULL), 0);
	l = location_of(w);
	assert_int_equal(simpler_buffer_wrap(at(0), 64, l, SIMPLER_ACCESS_READ, &b, &e), 0);
	worker_end(w);
	assert_int_equal(simpler_buffer_wrap(at(64), 64, l, SIMPLER_ACCESS_READ, &late, &e),
			 SIMPLER_ERR_LOCATION_DEAD);
	assert_non_null(strstr(e.text, "live device context"));
	assert_int_equal(simpler_buffer_descriptor(b, &d, &e), SIMPLER_ERR_LOCATION_DEAD);
	assert_int_equal(simpler_buffer_close(b, &e), 0);
	simpler_buffer_put(b);
	simpler_location_put(l);
}

static void locations_are_refused_in_a_child_even_when_locks_are_held(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_location *l = location_of(w);
	struct simpler_buffer *b;
	struct simpler_error e;
	int status;
	pid_t pid;

	(void)state;
	pthread_mutex_lock(&w->lock);	/* as another thread may, at the moment of the fork */
	pid = fork();
	if (!pid)
		_exit(simpler_buffer_wrap(at(0), 8, l, SIMPLER_ACCESS_READ, &b, &e) !=
		      SIMPLER_ERR_LOCATION_PROCESS || !strstr(e.text, "this process"));
	pthread_mutex_unlock(&w->lock);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	simpler_location_put(l);
	worker_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		chip_test(allocations_have_their_own_identity),
		chip_test(sizes_and_device_memory_have_limits),
		chip_test(host_memory_must_be_a_range_of_addresses),
		chip_test(a_failed_copy_names_addresses_and_size),
		chip_test(freed_buffers_stay_dead_even_at_the_same_address),
		chip_test(refused_native_free_leaves_the_buffer_usable),
		chip_test(handle_dropped_without_free_lives_until_close),
		chip_test(many_buffers_are_found),
		chip_test(copies_move_the_named_bytes_only),
		chip_test(copies_out_of_bounds_reach_nothing),
		chip_test(copies_check_spaces_grants_and_flags),
		chip_test(forged_interior_handles_are_refused),
		chip_test(failed_copies_are_reported_every_time),
		chip_test(copy_waits_for_runs_that_use_the_buffer_and_no_others),
		chip_test(host_buffer_is_named_shared_memory),
		chip_test(live_view_keeps_the_mapping_but_not_the_name),
		chip_test(worker_close_leaves_pinned_memory_as_debt),
		chip_test(buffer_in_use_cannot_be_closed),
		chip_test(buffers_are_closed_or_freed_by_their_kind),
		chip_test(bad_ranges_and_overlaps_are_not_wrapped),
		chip_test(wrapped_storage_runs_until_closed),
		chip_test(wrap_of_the_workers_own_memory_fails_at_submit),
		chip_test(locations_die_with_their_worker),
		chip_test(locations_are_refused_in_a_child_even_when_locks_are_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
