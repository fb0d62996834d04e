// SPDX-License-Identifier: MIT
/*
 * Costs of the driver's calls, as ratios to an empty call on the same file and to
 * memcpy().  Inside an emulated machine only the ratios mean something.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

#define ROUNDS	2000u
#define ENTRIES	256u
#define COPY_BYTES (16u << 20)

struct user_stream {
	struct drm_simpler_stream_create made;
	struct simpler_hw_ring *ring;
	volatile uint32_t *doorbell;
	uint64_t queued;
};

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void print(const char *name, double value, const char *unit)
{
	printf("bench %-44s %10.3f %s\n", name, value, unit);
}

static double empty_call(int fd)
{
	struct drm_simpler_dev_query q = { .type = DRM_SIMPLER_QUERY_DEVICE };
	double start = now_us();

	for (uint32_t i = 0; i < ROUNDS; i++)
		guest_ioctl(fd, DRM_IOCTL_SIMPLER_DEV_QUERY, &q);
	return (now_us() - start) / ROUNDS;
}

/* @depth jobs, then a wait for the last: us for each job, submitting alone and all. */
static void submit_calls(int fd, uint32_t depth, double *submit, double *whole)
{
	uint32_t stream = guest_stream(fd);
	struct simpler_hw_cmd nop = { 0 };
	double start = now_us(), submitting = 0;
	uint64_t seqno = 0;

	for (uint32_t done = 0; done < ROUNDS / 4; done += depth) {
		double begin = now_us();

		for (uint32_t i = 0; i < depth; i++)
			assert_int_equal(guest_submit(fd, stream, &nop, 1, &seqno), 0);
		submitting += now_us() - begin;
		assert_int_equal(guest_wait(fd, stream, seqno), 0);
	}
	*submit = submitting / (ROUNDS / 4);
	*whole = (now_us() - start) / (ROUNDS / 4);
	guest_stream_destroy(fd, stream);
}

static void user_open(int fd, struct user_stream *s)
{
	void *page;

	*s = (struct user_stream){ .made = { .flags = DRM_SIMPLER_STREAM_USER, .entries = ENTRIES,
					     .priority = DRM_SIMPLER_PRIORITY_NORMAL } };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, &s->made), 0);
	s->ring = mmap(NULL, s->made.ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       (off_t)s->made.ring_offset);
	page = mmap(NULL, s->made.doorbell_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)s->made.doorbell_offset);
	assert_true(s->ring != MAP_FAILED && page != MAP_FAILED);
	s->doorbell = (volatile uint32_t *)((char *)page + s->made.doorbell_position);
}

static void user_submit(struct user_stream *s)
{
	struct simpler_hw_cmd *slots = (struct simpler_hw_cmd *)(s->ring + 1);

	slots[s->queued++ & (ENTRIES - 1)] = (struct simpler_hw_cmd){ 0 };
	/* release (step 3): pairs with the device's acquire (step 4) */
	__atomic_store_n(&s->ring->producer, (uint32_t)s->queued, __ATOMIC_RELEASE);
	*s->doorbell = s->made.doorbell_value;
}

static double user_calls(int fd)
{
	struct user_stream s;
	double total = 0;

	user_open(fd, &s);
	for (uint32_t done = 0; done < ROUNDS; done += ENTRIES / 2) {
		double start = now_us();

		for (uint32_t i = 0; i < ENTRIES / 2; i++)
			user_submit(&s);
		total += now_us() - start;
		assert_int_equal(guest_wait(fd, s.made.stream, s.queued), 0);
	}
	return total / (double)s.queued;
}

static void copies(int fd)
{
	struct guest_bo a = guest_bo(fd, COPY_BYTES, DRM_SIMPLER_BO_NO_MMAP);
	struct guest_bo b = guest_bo(fd, COPY_BYTES, DRM_SIMPLER_BO_HOST);
	struct simpler_hw_cmd cmd = guest_copy(a.address, b.address, COPY_BYTES);
	uint32_t stream = guest_stream(fd);
	char *mine = malloc(COPY_BYTES);
	double start, chip, cpu;
	uint64_t seqno = 0;

	memset((void *)b.data, 1, COPY_BYTES);
	memset(mine, 1, COPY_BYTES);
	start = now_us();
	assert_int_equal(guest_submit(fd, stream, &cmd, 1, &seqno), 0);
	assert_int_equal(guest_wait(fd, stream, seqno), 0);
	chip = now_us() - start;
	start = now_us();
	memcpy(mine, (void *)b.data, COPY_BYTES);
	cpu = now_us() - start;
	print("copy to the device, 16 MiB, to memcpy", cpu / chip, "x bandwidth");
	free(mine);
}

int main(void)
{
	static const uint32_t depths[] = { 1, 4, 16, 50 };
	int fd = guest_open(0);
	double empty = empty_call(fd), submit = 0, whole, user;

	print("empty call", empty, "us");
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		char name[48];

		submit_calls(fd, depths[i], &submit, &whole);
		snprintf(name, sizeof(name), "jobs per second, %u in flight", depths[i]);
		print(name, 1e6 / whole, "1/s");
	}
	user = user_calls(fd);
	print("SUBMIT to an empty call", submit / empty, "x");
	print("user-mode submit to SUBMIT", user / submit, "x");
	copies(fd);
	guest_unmap_all();
	close(fd);
	return 0;
}
