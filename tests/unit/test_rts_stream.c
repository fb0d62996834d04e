/* SPDX-License-Identifier: MIT */
/* Devices, contexts, streams and events, on the fake chip. */
#include "rts/rts.h"
#include "worker_fixture.h"

struct fixture {
	struct simpler_device *device;
	struct simpler_context *context;
	struct simpler_stream *a, *b;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fake_reset();
	assert_int_equal(
		rts_device_open(&fake_transport, rts_platform_find("a5sim"), 2, &f->device), 0);
	assert_int_equal(simpler_context_create(f->device, &f->context), 0);
	assert_int_equal(simpler_stream_create(f->context, &f->a), 0);
	assert_int_equal(rts_stream_create(f->context, 4, &f->b), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(simpler_stream_destroy(f->a), 0);
	assert_int_equal(simpler_stream_destroy(f->b), 0);
	assert_int_equal(simpler_context_destroy(f->context), 0);
	assert_int_equal(simpler_device_close(f->device), 0);
	assert_true(fake_nothing_alive() || fake.live.mappings);
	free(f);
	return 0;
}

static void device_tells_about_itself(void **state)
{
	struct fixture *f = *state;
	struct simpler_device_info info;

	simpler_device_get_info(f->device, &info);
	assert_string_equal(info.platform, "a5sim");
	assert_string_equal(info.arch, "a5");
	assert_int_equal(info.device_id, 2);
	assert_int_equal(info.cluster_count, 8);
	assert_int_equal(info.generation, 3);
}

static void unknown_platforms_and_missing_hardware(void **state)
{
	struct simpler_device *d;
	struct simpler_error e;

	(void)state;
	assert_int_equal(simpler_device_open("x", 0, &d, &e), SIMPLER_ERR_PLATFORM_UNKNOWN);
	assert_int_equal(simpler_device_open(NULL, 0, &d, &e), SIMPLER_ERR_PLATFORM_UNKNOWN);
	assert_int_equal(simpler_device_open("a5", 0, &d, &e), SIMPLER_ERR_NO_DEVICE);
	assert_int_equal(simpler_device_open("a5sim", -1, &d, &e), SIMPLER_ERR_INVALID_ARGUMENT);
}

static void parents_with_children_are_not_destroyed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(simpler_device_close(f->device), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_context_destroy(f->context), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_device_close(NULL), 0);
	assert_int_equal(simpler_context_destroy(NULL), 0);
	assert_int_equal(simpler_stream_destroy(NULL), 0);
}

static void commands_move_and_fill_memory(void **state)
{
	struct fixture *f = *state;
	uint64_t x, y;
	char out[16] = "";

	assert_int_equal(simpler_context_malloc(f->context, 0, &x), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_context_malloc(f->context, 64, &x), 0);
	assert_int_equal(simpler_context_malloc(f->context, 64, &y), 0);
	assert_int_equal(simpler_stream_copy_to_device(f->a, x, "abcd", 4), 0);
	assert_int_equal(simpler_stream_copy_on_device(f->a, y, x, 4), 0);
	assert_int_equal(simpler_stream_fill(f->a, y + 4, 4, 0x7a79, 2), 0);
	assert_int_equal(simpler_stream_copy_from_device(f->a, out, y, 8), 0);
	assert_int_equal(simpler_stream_synchronize(f->a, NULL), 0);
	assert_string_equal(out, "abcdyzyz");
	assert_int_equal(simpler_stream_fill(f->a, y, 3, 0, 2), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_stream_fill(f->a, y, 3, 0, 3), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_context_free(f->context, x), 0);
	assert_int_equal(simpler_context_free(f->context, y), 0);
}

static void full_ring_waits_for_the_chip_and_indices_wrap(void **state)
{
	struct fixture *f = *state;
	uint64_t x;
	int i;

	assert_int_equal(simpler_context_malloc(f->context, 64, &x), 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(simpler_stream_fill(f->b, x, 8, (uint64_t)i, 8), 0);
	assert_int_equal(simpler_stream_synchronize(f->b, NULL), 0);
	assert_int_equal(*(uint64_t *)(uintptr_t)x, 999);
	assert_int_equal(rts_stream_room(f->b), 4);
	simpler_context_free(f->context, x);
}

static void first_failed_command_is_told_by_synchronize(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(simpler_stream_copy_on_device(f->a, 1, 1, 8), 0);
	assert_int_equal(simpler_stream_synchronize(f->a, NULL), SIMPLER_ERR_INVALID_ARGUMENT);
}

static void single_commands_report_each_their_own_failure(void **state)
{
	struct fixture *f = *state;
	struct simpler_hw_cmd bad = { .opcode = SIMPLER_HW_OP_COPY, .copy = { .dst = 1, .src = 1, .bytes = 8 } };
	struct simpler_hw_cmd good = { .opcode = SIMPLER_HW_OP_NOP };
	int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(rts_stream_run(f->b, &bad), SIMPLER_ERR_INVALID_ARGUMENT);
		assert_int_equal(rts_stream_run(f->b, &good), 0);
	}
}

static void event_holds_another_stream_back(void **state)
{
	struct fixture *f = *state;
	struct simpler_wait now = { .timeout_ns = 0 };
	struct simpler_event *e;
	struct simpler_hw_launch l = { 0 };
	struct simpler_hw_status status;
	struct simpler_hw_cmd launch = { .opcode = SIMPLER_HW_OP_LAUNCH };

	l.status = (uintptr_t)&status;
	launch.launch.desc = (uintptr_t)&l;
	fake.hold = true;
	assert_int_equal(simpler_event_create(f->context, &e), 0);
	assert_int_equal(simpler_event_query(e), 1);
	rts_stream_push(f->a, &launch);
	rts_stream_publish(f->a);
	assert_int_equal(simpler_event_record(e, f->a), 0);
	assert_int_equal(simpler_event_query(e), 0);
	assert_int_equal(simpler_stream_wait_event(f->b, e), 0);
	assert_int_equal(simpler_stream_synchronize(f->b, &now), SIMPLER_ERR_TIMEOUT);
	assert_int_equal(simpler_event_synchronize(e, &now), SIMPLER_ERR_TIMEOUT);
	fake_release();
	assert_int_equal(simpler_event_synchronize(e, NULL), 0);
	assert_int_equal(simpler_stream_synchronize(f->b, NULL), 0);
	assert_int_equal(simpler_event_query(e), 1);
	simpler_event_destroy(e);
	simpler_event_destroy(NULL);
}

static struct simpler_event *recorded(struct fixture *f, struct simpler_stream *s)
{
	struct simpler_event *e;

	assert_int_equal(simpler_event_create(f->context, &e), 0);
	assert_int_equal(simpler_event_record(e, s), 0);
	return e;
}

/* A launch that is held until fake_release(). */
static void hold(struct simpler_stream *s)
{
	static struct simpler_hw_launch l;
	static struct simpler_hw_status status;
	struct simpler_hw_cmd launch = { .opcode = SIMPLER_HW_OP_LAUNCH };

	l.status = (uintptr_t)&status;
	launch.launch.desc = (uintptr_t)&l;
	fake.hold = true;
	rts_stream_push(s, &launch);
	rts_stream_publish(s);
}

static void event_outlives_the_stream_it_was_recorded_on(void **state)
{
	struct fixture *f = *state;
	struct simpler_stream *s;
	struct simpler_event *e;

	assert_int_equal(simpler_stream_create(f->context, &s), 0);
	hold(s);
	e = recorded(f, s);
	assert_int_equal(simpler_event_query(e), 0);
	/* a refused end leaves the recording as it is */
	fake.busy_stream = true;
	assert_int_equal(simpler_stream_destroy(s), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_event_query(e), 0);
	fake.busy_stream = false;
	assert_int_equal(simpler_stream_destroy(s), 0);
	assert_int_equal(simpler_event_query(e), 1);
	assert_int_equal(simpler_event_synchronize(e, NULL), 0);
	assert_int_equal(simpler_stream_wait_event(f->a, e), 0);
	assert_int_equal(simpler_stream_synchronize(f->a, NULL), 0);
	fake_release();
	assert_int_equal(simpler_event_record(e, f->a), 0);
	assert_int_equal(simpler_event_synchronize(e, NULL), 0);
	simpler_event_destroy(e);
}

static void waiting_stream_goes_on_when_the_recorded_one_and_the_event_are_gone(void **state)
{
	struct simpler_wait now = { .timeout_ns = 0 };
	struct fixture *f = *state;
	struct simpler_stream *s;
	struct simpler_event *e;

	assert_int_equal(simpler_stream_create(f->context, &s), 0);
	hold(s);
	e = recorded(f, s);
	assert_int_equal(simpler_stream_wait_event(f->b, e), 0);
	simpler_event_destroy(e);
	assert_int_equal(simpler_stream_synchronize(f->b, &now), SIMPLER_ERR_TIMEOUT);
	assert_int_equal(simpler_stream_destroy(s), 0);
	assert_int_equal(simpler_stream_synchronize(f->b, NULL), 0);
	fake_release();
}

static void events_do_not_order_streams_of_different_contexts(void **state)
{
	struct fixture *f = *state;
	struct simpler_context *other;
	struct simpler_stream *s;
	struct simpler_event *e = recorded(f, f->a);

	assert_int_equal(simpler_context_create(f->device, &other), 0);
	assert_int_equal(simpler_stream_create(other, &s), 0);
	assert_int_equal(simpler_event_record(e, s), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_stream_wait_event(s, e), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_event_synchronize(e, NULL), 0);
	assert_int_equal(simpler_stream_destroy(s), 0);
	assert_int_equal(simpler_context_destroy(other), 0);
	simpler_event_destroy(e);
}

static void lost_chip_ends_waits(void **state)
{
	struct fixture *f = *state;
	struct simpler_wait bad = { .timeout_ns = -1 };

	assert_int_equal(simpler_stream_synchronize(f->a, &bad), SIMPLER_ERR_TIMEOUT_VALUE);
	fake_lose();
	assert_int_equal(simpler_stream_fill(f->a, 8, 0, 0, 8), 0);
	assert_int_equal(simpler_stream_synchronize(f->a, NULL), SIMPLER_ERR_DEVICE_LOST);
}

#define rts_test(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		rts_test(device_tells_about_itself),
		rts_test(unknown_platforms_and_missing_hardware),
		rts_test(parents_with_children_are_not_destroyed),
		rts_test(commands_move_and_fill_memory),
		rts_test(full_ring_waits_for_the_chip_and_indices_wrap),
		rts_test(first_failed_command_is_told_by_synchronize),
		rts_test(single_commands_report_each_their_own_failure),
		rts_test(event_holds_another_stream_back),
		rts_test(event_outlives_the_stream_it_was_recorded_on),
		rts_test(waiting_stream_goes_on_when_the_recorded_one_and_the_event_are_gone),
		rts_test(events_do_not_order_streams_of_different_contexts),
		rts_test(lost_chip_ends_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
