// SPDX-License-Identifier: MIT
/*
 * Threads of one process on one file.  Numbers, handles and addresses can be guessed: what
 * one thread makes another may undo before the call that makes it has returned.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "guest.h"

#define ROUNDS	150u
#define GUESSES	4u

/* What the threads of a test share; a thread does not fail the test, it tells. */
struct race {
	int fd;
	_Atomic bool stop;
	_Atomic uint64_t rounds;	/* of the other threads */
	_Atomic uint64_t undone;	/* what they took away */
	_Atomic uint64_t address;	/* the last one that was given out */
	_Atomic int wrong;		/* an error that none of the calls may return */
	struct guest_bo bo;
	struct guest_user_stream ring;
};

static void end_of_call(struct race *r, int rc, const int *allowed)
{
	for (; *allowed; allowed++)
		if (rc == *allowed)
			return;
	if (rc)
		r->wrong = rc;
}
#define MAY_BE(...)	((const int[]){ __VA_ARGS__, 0 })

static void start(struct race *r, pthread_t *thread, void *(*fn)(void *))
{
	assert_int_equal(pthread_create(thread, NULL, fn, r), 0);
}

static void finish(struct race *r, const pthread_t *threads, unsigned int count)
{
	r->stop = true;
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(r->wrong, 0);
}

static int teardown(void **state)
{
	(void)state;
	guest_unmap_all();
	guest_await_counter(0, "contexts", 0);
	assert_int_equal(guest_counter(0, "executors"), 0);
	assert_int_equal(guest_counter(0, "streams"), 0);
	return 0;
}

/* ---- streams ---- */

static void *destroy_streams(void *arg)
{
	struct race *r = arg;

	for (; !r->stop; r->rounds++)
		for (uint32_t id = 1; id <= GUESSES; id++) {
			struct drm_simpler_stream_destroy d = { .stream = id };
			int rc = guest_ioctl(r->fd, DRM_IOCTL_SIMPLER_STREAM_DESTROY, &d);

			end_of_call(r, rc, MAY_BE(-ENOENT));
			r->undone += !rc;
		}
	return NULL;
}

static void *use_streams(void *arg)
{
	static const struct simpler_hw_cmd nop;
	struct race *r = arg;

	for (; !r->stop; r->rounds++)
		for (uint32_t id = 1; id <= GUESSES; id++) {
			struct drm_simpler_wait_seqno w = { .stream = id, .seqno = 1 };
			struct drm_simpler_stream_state s = { .stream = id };
			int rc = guest_submit(r->fd, id, &nop, 1, NULL);

			end_of_call(r, rc, MAY_BE(-ENOENT, -EPERM));
			rc = guest_ioctl(r->fd, DRM_IOCTL_SIMPLER_WAIT_SEQNO, &w);
			end_of_call(r, rc, MAY_BE(-ENOENT, -ETIME, -ECANCELED));
			rc = guest_ioctl(r->fd, DRM_IOCTL_SIMPLER_STREAM_STATE, &s);
			end_of_call(r, rc, MAY_BE(-ENOENT));
		}
	return NULL;
}

static uint64_t streams_of(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return guest_file_number(path, "simpler-streams");
}

static void streams_can_be_destroyed_while_they_are_made(void **state)
{
	struct race r = { .fd = guest_open(0) };
	pthread_t threads[2];
	uint64_t made = 0;

	(void)state;
	start(&r, &threads[0], destroy_streams);
	start(&r, &threads[1], use_streams);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct drm_simpler_stream_create create = {
			.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 64,
			.flags = i % 2 ? DRM_SIMPLER_STREAM_USER : 0,
		};
		int rc = guest_ioctl(r.fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create);

		end_of_call(&r, rc, MAY_BE(-EDQUOT));
		made += !rc;
	}
	finish(&r, threads, 2);
	assert_true(r.undone > 0);
	assert_int_equal(streams_of(r.fd), made - r.undone);
	for (uint32_t id = 1; id <= ROUNDS; id++)
		r.undone += !guest_stream_destroy(r.fd, id);
	assert_int_equal(made, r.undone);
	assert_int_equal(streams_of(r.fd), 0);
	guest_works(r.fd);
	close(r.fd);
}

/* ---- buffers and pins ---- */

static void *close_buffers(void *arg)
{
	struct race *r = arg;

	for (; !r->stop; r->rounds++)
		for (uint32_t handle = 1; handle <= GUESSES; handle++) {
			struct drm_gem_close c = { .handle = handle };

			end_of_call(r, guest_ioctl(r->fd, DRM_IOCTL_GEM_CLOSE, &c),
				    MAY_BE(-EINVAL));
		}
	return NULL;
}

static void *unmap_pins(void *arg)
{
	struct race *r = arg;

	for (; !r->stop; r->rounds++) {
		struct drm_simpler_host_unmap u = { .device_address = r->address };
		int rc = guest_ioctl(r->fd, DRM_IOCTL_SIMPLER_HOST_UNMAP, &u);

		end_of_call(r, rc, MAY_BE(-ENOENT));
		r->undone += !rc;
	}
	return NULL;
}

/* A mapping that closing does not take away: it has its own reference. */
static void map_and_touch(struct race *r, uint32_t handle)
{
	struct drm_simpler_bo_mmap_offset at = { .handle = handle };
	int rc = guest_ioctl(r->fd, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, &at);
	volatile uint64_t *p;

	end_of_call(r, rc, MAY_BE(-ENOENT));
	if (rc)
		return;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, (off_t)at.offset);
	if (p == MAP_FAILED)
		return;		/* the handle was closed after all */
	*p = 1;
	munmap((void *)p, 4096);
}

static void buffers_can_be_closed_while_they_are_made(void **state)
{
	struct race r = { .fd = guest_open(0) };
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[2];

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	guest_stream(r.fd);
	start(&r, &threads[0], close_buffers);
	start(&r, &threads[1], unmap_pins);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct drm_simpler_bo_create create = {
			.size = 4096, .flags = i % 2 ? DRM_SIMPLER_BO_HOST : 0,
		};
		struct drm_simpler_host_map map = { .address = (uintptr_t)page, .size = 4096 };

		assert_int_equal(guest_ioctl(r.fd, DRM_IOCTL_SIMPLER_BO_CREATE, &create), 0);
		map_and_touch(&r, create.handle);
		assert_int_equal(guest_ioctl(r.fd, DRM_IOCTL_SIMPLER_HOST_MAP, &map), 0);
		r.address = map.device_address;
	}
	finish(&r, threads, 2);
	for (uint32_t handle = 1; handle <= ROUNDS; handle++) {
		struct drm_gem_close c = { .handle = handle };

		guest_ioctl(r.fd, DRM_IOCTL_GEM_CLOSE, &c);
	}
	assert_int_equal(guest_memory(r.fd).file_pinned, (ROUNDS - r.undone) * 4096);
	guest_works(r.fd);
	close(r.fd);
	munmap(page, 4096);
}

/* ---- removal ---- */

static void *touch_mappings(void *arg)
{
	struct race *r = arg;
	volatile uint64_t *data = r->bo.data;

	for (; !r->stop; r->rounds++) {
		data[r->rounds % 512] = r->rounds;
		(void)*r->ring.doorbell;
		(void)r->ring.ring->completed;
	}
	return NULL;
}

static void *map_and_unmap(void *arg)
{
	struct race *r = arg;

	for (; !r->stop; r->rounds++) {
		struct drm_simpler_bo_mmap_offset at = { .handle = r->bo.handle };
		volatile uint64_t *p = MAP_FAILED;

		if (!guest_ioctl(r->fd, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, &at))
			p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, r->fd, (off_t)at.offset);
		if (p == MAP_FAILED)
			continue;
		(void)*p;
		munmap((void *)p, 4096);
	}
	return NULL;
}

static void *pin_and_unpin(void *arg)
{
	static uint64_t page[512] __attribute__((aligned(4096)));
	struct race *r = arg;

	for (; !r->stop; r->rounds++) {
		struct drm_simpler_host_map map = { .address = (uintptr_t)page, .size = 4096 };
		struct drm_simpler_host_unmap u = { 0 };
		int rc = guest_ioctl(r->fd, DRM_IOCTL_SIMPLER_HOST_MAP, &map);

		end_of_call(r, rc, MAY_BE(-ENODEV));
		u.device_address = map.device_address;
		rc = rc ? 0 : guest_ioctl(r->fd, DRM_IOCTL_SIMPLER_HOST_UNMAP, &u);
		end_of_call(r, rc, MAY_BE(-ENODEV));
	}
	return NULL;
}

/* Threads that stand still fail the test; how long they take otherwise does not matter. */
static void await_rounds(struct race *r, uint64_t more)
{
	uint64_t until = r->rounds + more;
	unsigned int left = 1000000;

	while (r->rounds < until && left--)
		usleep(100);
	if (r->rounds < until)
		fail_msg("the threads stand still: %llu rounds are missing",
			 (unsigned long long)(until - r->rounds));
}

/* A page fault and a call of the same process meet when the chip goes. */
static void mappings_outlive_a_chip_that_is_taken_away(void **state)
{
	struct race r = { .fd = guest_open(1) };
	pthread_t threads[4];

	(void)state;
	r.bo = guest_bo(r.fd, 4096, 0);
	assert_int_equal(guest_user_stream(r.fd, 64, &r.ring), 0);
	start(&r, &threads[0], touch_mappings);
	start(&r, &threads[1], touch_mappings);
	start(&r, &threads[2], map_and_unmap);
	start(&r, &threads[3], pin_and_unpin);
	await_rounds(&r, 100);
	guest_control("1 unplug");
	guest_await_chip(1, false);
	await_rounds(&r, 1000);
	finish(&r, threads, 4);
	guest_unmap_all();
	close(r.fd);
	guest_control("1 replug");
	guest_await_chip(1, true);
	r.fd = guest_open(1);
	guest_works(r.fd);
	close(r.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(streams_can_be_destroyed_while_they_are_made, teardown),
		cmocka_unit_test_teardown(buffers_can_be_closed_while_they_are_made, teardown),
		cmocka_unit_test_teardown(mappings_outlive_a_chip_that_is_taken_away, teardown),
	};

	return cmocka_run_group_tests_name("races", tests, NULL, NULL);
}
