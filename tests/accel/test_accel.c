// SPDX-License-Identifier: MIT
/* The transport to the driver, on a driver that this process plays. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fake_driver.h"
#include "rts/rts.h"

#define NODE_A2A3	0
#define NODE_A5		2
#define NODE_A2A3_LAST	3

struct fixture {
	struct simpler_device *device;
	struct simpler_context *context;
	struct simpler_stream *stream;
};

static int open_all(struct fixture *f)
{
	assert_int_equal(rts_device_open(&rts_accel, rts_platform_find("a2a3"), 0, &f->device), 0);
	assert_int_equal(simpler_context_create(f->device, &f->context), 0);
	return simpler_stream_create(f->context, &f->stream);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	unsetenv("SIMPLER_STREAM_MODE");
	fake_reset();
	*state = f;
	return open_all(f);
}

static int setup_kernel_mode(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fake_reset();
	fake.user_streams = false;
	*state = f;
	return open_all(f);
}

/* Nothing that the library took from the driver may be left. */
static int teardown(void **state)
{
	struct fixture *f = *state;

	fake.fail_request = 0;
	assert_int_equal(simpler_stream_destroy(f->stream), 0);
	assert_int_equal(simpler_context_destroy(f->context), 0);
	assert_int_equal(simpler_device_close(f->device), 0);
	assert_int_equal(fake.open_files, 0);
	assert_int_equal(fake.host_maps, 0);
	for (unsigned int i = 0; i < FAKE_STREAMS; i++)
		assert_false(fake.streams[i].live);
	free(f);
	return 0;
}

/* ---- finding chips ---- */

static int open_and_close(const char *platform, int32_t id)
{
	struct simpler_device *d;
	int rc = rts_device_open(&rts_accel, rts_platform_find(platform), id, &d);

	if (!rc)
		assert_int_equal(simpler_device_close(d), 0);
	assert_int_equal(fake.open_files, 0);
	return rc;
}

static void chips_are_counted_among_those_of_their_architecture(void **state)
{
	(void)state;
	fake_reset();
	assert_int_equal(open_and_close("a2a3", 0), 0);
	assert_int_equal(open_and_close("a2a3", 1), 0);
	assert_int_equal(open_and_close("a2a3", 2), SIMPLER_ERR_NO_DEVICE);
	assert_int_equal(open_and_close("a5", 0), 0);
	assert_int_equal(open_and_close("a5", 1), SIMPLER_ERR_NO_DEVICE);
	fake.nodes[NODE_A2A3].there = false;
	assert_int_equal(open_and_close("a2a3", 0), 0);
	assert_int_equal(open_and_close("a2a3", 1), SIMPLER_ERR_NO_DEVICE);
}

static void nodes_that_cannot_be_opened_are_passed_over(void **state)
{
	(void)state;
	fake_reset();
	fake.nodes[NODE_A2A3].open_error = EACCES;
	assert_int_equal(open_and_close("a2a3", 0), 0);
	assert_int_equal(open_and_close("a2a3", 1), SIMPLER_ERR_NO_DEVICE);
	fake.nodes[NODE_A2A3_LAST].open_error = EACCES;
	assert_int_equal(open_and_close("a2a3", 0), SIMPLER_ERR_NO_DEVICE);
}

static void a_device_tells_what_the_driver_says(void **state)
{
	struct fixture *f = *state;
	struct simpler_device_info info;

	simpler_device_get_info(f->device, &info);
	assert_string_equal(info.arch, "a2a3");
	assert_int_equal(info.cluster_count, 8);
	assert_int_equal(info.generation, 7);
}

/* ---- memory ---- */

static void device_memory_is_a_buffer(void **state)
{
	struct fixture *f = *state;
	uint32_t before = fake.buffers;
	uint64_t address, mine, all;

	assert_int_equal(simpler_context_malloc(f->context, 5000, &address), 0);
	assert_int_equal(fake.buffers, before + 1);
	assert_int_equal(simpler_context_free(f->context, address + 4096),
			 SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_context_free(f->context, address), 0);
	assert_int_equal(fake.buffers, before);
	assert_int_equal(simpler_context_free(f->context, address), SIMPLER_ERR_INVALID_ARGUMENT);
	simpler_context_memory(f->context, &mine, &all);
	assert_int_equal(mine, 4096);
	assert_int_equal(all, 12288);
}

static void errors_of_allocation_are_told_apart(void **state)
{
	static const struct {
		int error;
		bool memory;
	} cases[] = { { ENOSPC, true }, { EDQUOT, true }, { ENOMEM, true }, { EIO, false } };
	struct fixture *f = *state;
	uint64_t address;

	fake.fail_request = DRM_IOCTL_SIMPLER_BO_CREATE;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int rc;

		fake.fail_errno = cases[i].error;
		rc = simpler_context_malloc(f->context, 4096, &address);
		if (cases[i].memory)
			assert_true(rc == SIMPLER_ERR_NO_MEMORY || rc == SIMPLER_ERR_DEVICE_MEMORY);
		else
			assert_int_equal(rc, SIMPLER_ERR_DEVICE_LOST);
	}
}

static void memory_that_cannot_be_written_is_mapped_for_reading(void **state)
{
	struct fixture *f = *state;
	const void *host = "constant";
	uint64_t address;

	fake.read_only = true;
	assert_int_equal(rts_accel.host_map(f->context->priv, host, 9, &address), 0);
	assert_int_equal(address, (uintptr_t)host);
	assert_int_equal(fake.host_map_flags, DRM_SIMPLER_HOST_READ_ONLY);
	rts_accel.host_unmap(f->context->priv, address, 9);
	assert_int_equal(fake.host_maps, 0);
}

static void too_much_pinned_memory_is_no_memory(void **state)
{
	struct fixture *f = *state;
	uint64_t address = 0;

	fake.fail_request = DRM_IOCTL_SIMPLER_HOST_MAP;
	fake.fail_errno = EPERM;
	assert_int_equal(rts_accel.host_map(f->context->priv, &address, 8, &address), -ENOMEM);
}

/* ---- streams ---- */

static void round_trip(struct fixture *f)
{
	uint64_t in[64], out[64] = { 0 }, address;

	for (uint64_t i = 0; i < 64; i++)
		in[i] = i * i;
	assert_int_equal(simpler_context_malloc(f->context, sizeof(in), &address), 0);
	assert_int_equal(simpler_stream_copy_to_device(f->stream, address, in, sizeof(in)), 0);
	assert_int_equal(simpler_stream_copy_from_device(f->stream, out, address, sizeof(out)), 0);
	assert_int_equal(simpler_stream_synchronize(f->stream, NULL), 0);
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(simpler_context_free(f->context, address), 0);
}

static void a_user_mode_stream_submits_nothing_through_the_kernel(void **state)
{
	round_trip(*state);
	assert_int_equal(fake.submits, 0);
	assert_true(fake.streams[1].user);
	assert_true(fake.waits > 0);
}

static void without_user_mode_streams_the_kernel_submits(void **state)
{
	round_trip(*state);
	assert_false(fake.streams[1].user);
	assert_true(fake.submits > 0);
}

static void the_environment_can_ask_for_kernel_mode(void **state)
{
	struct fixture *f = *state;
	struct simpler_stream *s;

	setenv("SIMPLER_STREAM_MODE", "kernel", 1);
	assert_int_equal(simpler_stream_create(f->context, &s), 0);
	unsetenv("SIMPLER_STREAM_MODE");
	assert_true(fake.streams[1].user);
	assert_false(fake.streams[2].user);
	assert_int_equal(simpler_stream_destroy(s), 0);
}

/* More than the ring holds, and more than one call may carry. */
static void many_commands_are_submitted_once_and_in_order(void **state)
{
	struct fixture *f = *state;
	struct simpler_stream *s;
	uint64_t word = 0, seqno = 0;

	assert_int_equal(rts_stream_create(f->context, 16, &s), 0);
	for (uint64_t i = 1; i <= 100; i++) {
		struct simpler_hw_cmd cmd = { .opcode = SIMPLER_HW_OP_FENCE,
					      .fence = { .addr = (uintptr_t)&word, .value = i } };

		assert_int_equal(rts_stream_queue(s, &cmd, &seqno), 0);
		if (i % 7 == 0)
			rts_stream_doorbell(s);
	}
	assert_int_equal(seqno, 100);
	assert_int_equal(simpler_stream_synchronize(s, NULL), 0);
	assert_int_equal(word, 100);
	assert_int_equal(fake.streams[2].completed, seqno);
	assert_true(fake.streams[2].user || fake.largest_submit <= FAKE_MAX_COMMANDS);
	assert_int_equal(simpler_stream_destroy(s), 0);
}

static void calls_that_signals_interrupt_are_repeated(void **state)
{
	struct fixture *f = *state;

	fake.interrupt_every = 2;
	for (int i = 0; i < 20; i++)
		round_trip(f);
	fake.interrupt_every = 0;
}

/* ---- ends ---- */

static void queue_nop(struct fixture *f, int expected)
{
	struct simpler_hw_cmd nop = { .opcode = SIMPLER_HW_OP_NOP };
	uint64_t seqno;

	assert_int_equal(rts_stream_queue(f->stream, &nop, &seqno), expected);
}

static void a_deadline_that_passes_is_a_timeout(void **state)
{
	struct fixture *f = *state;
	struct rts_wait wait = { .deadline_ns = (int64_t)clock_mono_ns() };

	assert_int_equal(rts_stream_wait(f->stream, 1000, &wait), SIMPLER_ERR_TIMEOUT);
	round_trip(f);
}

static bool yes(void *arg)
{
	(void)arg;
	return true;
}

static void an_interrupt_check_ends_a_wait(void **state)
{
	struct fixture *f = *state;
	struct rts_wait wait = { .deadline_ns = INT64_MAX, .interrupted = yes };

	assert_int_equal(rts_stream_wait(f->stream, 1000, &wait), SIMPLER_ERR_INTERRUPTED);
}

static void a_banned_context_is_a_lost_device(void **state)
{
	struct fixture *f = *state;
	struct rts_wait wait = { .deadline_ns = INT64_MAX };

	round_trip(f);
	fake.banned = true;
	queue_nop(f, 0);
	rts_stream_doorbell(f->stream);
	assert_int_equal(rts_stream_wait(f->stream, 1000, &wait), SIMPLER_ERR_DEVICE_LOST);
	assert_true(rts_stream_banned(f->stream));
	queue_nop(f, SIMPLER_ERR_DEVICE_LOST);
	fake.banned = false;
}

static void a_chip_that_is_gone_is_a_lost_device(void **state)
{
	struct fixture *f = *state;
	struct simpler_context *other;
	struct rts_wait wait = { .deadline_ns = INT64_MAX };

	fake.gone = true;
	assert_int_equal(rts_stream_wait(f->stream, 1000, &wait), SIMPLER_ERR_DEVICE_LOST);
	assert_int_equal(simpler_context_create(f->device, &other), SIMPLER_ERR_DEVICE_LOST);
	assert_int_equal(rts_accel.regs(f->device->priv)->health, SIMPLER_HW_HEALTH_DEAD);
	fake.gone = false;
}

static void streams_that_cannot_be_had_are_told(void **state)
{
	static const struct {
		int error, code;
	} cases[] = {
		{ EDQUOT, SIMPLER_ERR_INVALID_STATE }, { ENOSPC, SIMPLER_ERR_INVALID_STATE },
		{ EIO, SIMPLER_ERR_DEVICE_LOST }, { ENOMEM, SIMPLER_ERR_NO_MEMORY },
	};
	struct fixture *f = *state;
	struct simpler_stream *s;

	fake.fail_request = DRM_IOCTL_SIMPLER_STREAM_CREATE;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake.fail_errno = cases[i].error;
		assert_int_equal(simpler_stream_create(f->context, &s), cases[i].code);
	}
}

static int end(void **state)
{
	(void)state;
	fake_end();
	return 0;
}

#define BOTH(name) \
	{ #name "_in_user_mode", name, setup, teardown, NULL }, \
	{ #name "_in_kernel_mode", name, setup_kernel_mode, teardown, NULL }
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chips_are_counted_among_those_of_their_architecture),
		cmocka_unit_test(nodes_that_cannot_be_opened_are_passed_over),
		TEST(a_device_tells_what_the_driver_says),
		TEST(device_memory_is_a_buffer),
		TEST(errors_of_allocation_are_told_apart),
		TEST(memory_that_cannot_be_written_is_mapped_for_reading),
		TEST(too_much_pinned_memory_is_no_memory),
		TEST(a_user_mode_stream_submits_nothing_through_the_kernel),
		cmocka_unit_test_setup_teardown(without_user_mode_streams_the_kernel_submits,
						setup_kernel_mode, teardown),
		TEST(the_environment_can_ask_for_kernel_mode),
		BOTH(many_commands_are_submitted_once_and_in_order),
		BOTH(calls_that_signals_interrupt_are_repeated),
		BOTH(a_deadline_that_passes_is_a_timeout),
		BOTH(an_interrupt_check_ends_a_wait),
		BOTH(a_banned_context_is_a_lost_device),
		BOTH(a_chip_that_is_gone_is_a_lost_device),
		TEST(streams_that_cannot_be_had_are_told),
	};

	return cmocka_run_group_tests_name("accel", tests, NULL, end);
}
