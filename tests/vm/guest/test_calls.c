// SPDX-License-Identifier: MIT
/* Arguments that are wrong in one place, at every place: the stated errno, and no effect. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "calls.h"

#define PAGE		4096ull
#define SPACE		(1ull << SIMPLER_HW_VA_BITS)
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static struct scene scene;

static int setup(void **state)
{
	(void)state;
	scene = scene_open(0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scene_close(&scene);
	guest_await_counter(0, "contexts", 0);
	return 0;
}

static union arguments valid(const struct call *c)
{
	union arguments a = { { 0 } };

	c->fill(&scene, &a);
	return a;
}

static const struct call *find(const char *name)
{
	for (unsigned int i = 0; i < call_count; i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	fail_msg("no call %s", name);
	return NULL;
}

static void expect(const char *what, uint64_t value, int rc, int expected)
{
	if (rc != expected)
		fail_msg("%s = %#llx: %d instead of %d", what, (unsigned long long)value, rc,
			 expected);
}

/* ---- members that must be zero, unknown flags and numbers ---- */

static void set_each_bit(const struct call *c, const struct member *m)
{
	for (unsigned int bit = 0; bit < 8 * m->bytes; bit++) {
		union arguments a = valid(c);
		uint64_t value = 1ull << bit;

		if (m->role == CHOICE && value < m->limit)
			continue;
		call_set(&a, m, value);
		expect(m->name, value, call_once(scene.fd, c->request, &a), -EINVAL);
	}
}

static void every_bit_that_is_not_defined_is_refused(void **state)
{
	uint64_t used = guest_memory(scene.fd).file_used;
	unsigned int members = 0;

	(void)state;
	for (unsigned int i = 0; i < call_count; i++)
		for (const struct member *m = calls[i].members; m->name; m++) {
			if (m->role != RESERVED && m->role != CHOICE)
				continue;
			set_each_bit(&calls[i], m);
			members++;
		}
	assert_true(members >= 10);
	assert_int_equal(guest_memory(scene.fd).file_used, used);
	assert_int_equal(guest_state(scene.fd, scene.stream).submitted, 0);
}

static void every_reserved_bit_of_a_command_is_refused(void **state)
{
	static const struct {
		uint8_t opcode;
		unsigned int first;	/* word that is reserved with all that follow */
	} forms[] = {
		{ SIMPLER_HW_OP_NOP, 0 }, { SIMPLER_HW_OP_FENCE, 2 }, { SIMPLER_HW_OP_WAIT, 2 },
		{ SIMPLER_HW_OP_COPY, 3 }, { SIMPLER_HW_OP_FILL, 4 }, { SIMPLER_HW_OP_LAUNCH, 2 },
		{ SIMPLER_HW_OP_UPLOAD, 4 }, { SIMPLER_HW_OP_UNLOAD, 1 },
		{ SIMPLER_HW_OP_BARRIER, 0 },
	};

	(void)state;
	for (unsigned int f = 0; f < COUNT(forms); f++)
		for (unsigned int bit = 64 * forms[f].first; bit < 7 * 64; bit++) {
			struct simpler_hw_cmd cmd = { .opcode = forms[f].opcode };

			cmd.words[bit / 64] = 1ull << bit % 64;
			expect("bit of a command", bit,
			       guest_submit(scene.fd, scene.stream, &cmd, 1, NULL), -EINVAL);
		}
	for (unsigned int opcode = SIMPLER_HW_OP_BARRIER + 1; opcode < 256; opcode++) {
		struct simpler_hw_cmd cmd = { .opcode = (uint8_t)opcode };

		expect("opcode", opcode, guest_submit(scene.fd, scene.stream, &cmd, 1, NULL),
		       -EINVAL);
	}
	assert_int_equal(guest_state(scene.fd, scene.stream).submitted, 0);
}

/* ---- sizes, offsets, counts ---- */

struct bad {
	const char *call, *member;
	uint64_t value;
	int expected;
};

static void try_each(const struct bad *bad, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct call *c = find(bad[i].call);
		union arguments a = valid(c);
		const struct member *m = c->members;

		while (m->name && strcmp(strchr(m->name, '.') + 1, bad[i].member))
			m++;
		assert_non_null(m->name);
		call_set(&a, m, bad[i].value);
		expect(m->name, bad[i].value, call_once(scene.fd, c->request, &a),
		       -bad[i].expected);
	}
}

static void sizes_of_memory_are_checked_at_their_limits(void **state)
{
	const uint64_t memory = guest_memory(scene.fd).total;
	const struct bad bad[] = {
		{ "BO_CREATE", "size", 0, EINVAL },
		{ "BO_CREATE", "size", 1, 0 },
		{ "BO_CREATE", "size", PAGE + 1, 0 },
		{ "BO_CREATE", "size", memory, EDQUOT },
		{ "BO_CREATE", "size", memory + 1, ENOSPC },
		{ "BO_CREATE", "size", SPACE, ENOSPC },
		{ "BO_CREATE", "size", SPACE + 1, ENOSPC },
		{ "BO_CREATE", "size", ~0ull - PAGE + 2, ENOSPC },
		{ "BO_CREATE", "size", ~0ull, ENOSPC },
		{ "HOST_MAP", "size", 0, EINVAL },
		{ "HOST_MAP", "size", 1, EINVAL },
		{ "HOST_MAP", "size", PAGE - 1, EINVAL },
		{ "HOST_MAP", "size", 1ull << 62, EFAULT },
		{ "HOST_MAP", "size", ~0ull - PAGE + 1, EINVAL },
		{ "HOST_MAP", "size", ~0ull, EINVAL },
		{ "HOST_MAP", "address", 1, EINVAL },
		{ "HOST_MAP", "address", 0, EFAULT },
		{ "HOST_MAP", "address", ~0ull - PAGE + 1, EINVAL },
		{ "HOST_MAP", "address", 1ull << 63, EFAULT },
		{ "HOST_MAP", "address", (uintptr_t)scene.memory + PAGE, EFAULT },
		{ "HOST_UNMAP", "device_address", 0, ENOENT },
		{ "HOST_UNMAP", "device_address", 1, ENOENT },
		{ "HOST_UNMAP", "device_address", scene.pinned + 1, ENOENT },
		{ "HOST_UNMAP", "device_address", scene.bo.address, ENOENT },
		{ "HOST_UNMAP", "device_address", ~0ull, ENOENT },
	};

	(void)state;
	try_each(bad, COUNT(bad));
}

static void counts_of_streams_are_checked_at_their_limits(void **state)
{
	static const struct bad bad[] = {
		{ "STREAM_CREATE", "entries", 0, EINVAL },
		{ "STREAM_CREATE", "entries", 1, EINVAL },
		{ "STREAM_CREATE", "entries", SIMPLER_HW_RING_MIN_ENTRIES - 1, EINVAL },
		{ "STREAM_CREATE", "entries", SIMPLER_HW_RING_MIN_ENTRIES, 0 },
		{ "STREAM_CREATE", "entries", SIMPLER_HW_RING_MIN_ENTRIES + 1, EINVAL },
		{ "STREAM_CREATE", "entries", SIMPLER_HW_RING_MAX_ENTRIES, 0 },
		{ "STREAM_CREATE", "entries", SIMPLER_HW_RING_MAX_ENTRIES + 1, EINVAL },
		{ "STREAM_CREATE", "entries", 2 * SIMPLER_HW_RING_MAX_ENTRIES, EINVAL },
		{ "STREAM_CREATE", "entries", 1u << 31, EINVAL },
		{ "STREAM_CREATE", "entries", ~0u, EINVAL },
		{ "STREAM_CREATE", "timeout_ms", 1, 0 },
		{ "STREAM_CREATE", "timeout_ms", 600000, 0 },
		{ "STREAM_CREATE", "timeout_ms", 600001, EINVAL },
		{ "STREAM_CREATE", "timeout_ms", ~0u, EINVAL },
		{ "SUBMIT", "commands.count", 0, EINVAL },
		{ "SUBMIT", "commands.count", 65, EINVAL },
		{ "SUBMIT", "commands.count", ~0u, EINVAL },
		{ "SUBMIT", "commands.stride", 0, EINVAL },
		{ "SUBMIT", "commands.stride", 63, EINVAL },
		{ "SUBMIT", "commands.stride", 1u << 31, E2BIG },
		{ "SUBMIT", "commands.array", 0, EFAULT },
		{ "SUBMIT", "commands.array", ~0ull, EFAULT },
		{ "SUBMIT", "commands.array", 1ull << 63, EFAULT },
		{ "SUBMIT", "syncs.count", ~0u, EINVAL },
		{ "SUBMIT", "syncs.stride", 15, EINVAL },
		{ "SUBMIT", "syncs.array", 0, EFAULT },
		{ "SUBMIT", "syncs.array", ~0ull - 7, EFAULT },
		{ "WAIT_SEQNO", "seqno", 0, 0 },
		{ "WAIT_SEQNO", "seqno", ~0ull, ETIME },
		{ "WAIT_SEQNO", "deadline_ns", ~0ull, ETIME },
		{ "WAIT_SEQNO", "deadline_ns", 1ull << 63, ETIME },
		{ "DEV_QUERY", "size", 0, 0 },
		{ "DEV_QUERY", "size", ~0u, 0 },
		{ "DEV_QUERY", "pointer", 0, 0 },
		{ "DEV_QUERY", "pointer", 1, EFAULT },
		{ "DEV_QUERY", "pointer", ~0ull, EFAULT },
		{ "DEV_QUERY", "type", ~0u, EINVAL },
	};

	(void)state;
	try_each(bad, COUNT(bad));
}

static void sizes_of_host_buffers_are_checked_at_their_limits(void **state)
{
	static const struct {
		uint64_t size;
		int expected;
	} sizes[] = {
		{ 0, -EINVAL }, { 1, 0 }, { 1ull << 34, -ENOMEM }, { SPACE, -ENOMEM },
		{ SPACE + 1, -ENOSPC }, { ~0ull - PAGE + 2, -ENOSPC }, { ~0ull, -ENOSPC },
	};

	(void)state;
	for (unsigned int i = 0; i < COUNT(sizes); i++) {
		struct drm_simpler_bo_create create = { .size = sizes[i].size,
							.flags = DRM_SIMPLER_BO_HOST };

		expect("size of a host buffer", sizes[i].size,
		       call_once(scene.fd, DRM_IOCTL_SIMPLER_BO_CREATE, &create),
		       sizes[i].expected);
	}
}

static void no_more_can_be_pinned_than_there_is(void **state)
{
	static const struct {
		uint64_t size;
		int expected;
	} sizes[] = {
		{ 1ull << 34, -ENOMEM }, { SPACE, -ENOMEM }, { SPACE + PAGE, -ENOSPC },
	};

	(void)state;
	for (unsigned int i = 0; i < COUNT(sizes); i++) {
		struct drm_simpler_host_map map = { .address = 1 << 16, .size = sizes[i].size };

		expect("size of a mapping", map.size,
		       call_once(scene.fd, DRM_IOCTL_SIMPLER_HOST_MAP, &map), sizes[i].expected);
	}
	assert_int_equal(guest_memory(scene.fd).file_pinned, PAGE);
}

/* ---- handles ---- */

static void handles_of_others_and_closed_ones_are_unknown(void **state)
{
	const uint32_t buffers[] = { 0, scene.closed_bo + 1000, scene.foreign_bo, ~0u };
	const uint32_t streams[] = { 0, scene.stream + 100, ~0u };
	uint32_t gone = guest_stream(scene.fd);
	struct guest_bo bo = guest_bo(scene.fd, PAGE, 0);

	(void)state;
	assert_int_equal(guest_stream_destroy(scene.fd, gone), 0);
	guest_bo_close(scene.fd, &bo);
	for (unsigned int i = 0; i <= COUNT(buffers); i++) {
		uint32_t handle = i < COUNT(buffers) ? buffers[i] : bo.handle;
		const struct bad bad[] = {
			{ "BO_MMAP_OFFSET", "handle", handle, ENOENT },
			{ "BO_INFO", "handle", handle, ENOENT },
		};

		try_each(bad, COUNT(bad));
	}
	for (unsigned int i = 0; i <= COUNT(streams); i++) {
		uint32_t stream = i < COUNT(streams) ? streams[i] : gone;
		const struct bad bad[] = {
			{ "STREAM_DESTROY", "stream", stream, ENOENT },
			{ "STREAM_STATE", "stream", stream, ENOENT },
			{ "SUBMIT", "stream", stream, ENOENT },
			{ "WAIT_SEQNO", "stream", stream, ENOENT },
		};

		try_each(bad, COUNT(bad));
	}
}

static void synchronisations_are_checked(void **state)
{
	static const struct {
		uint32_t flags, handle;		/* 0: the one that exists */
		uint64_t point;
		int expected;
	} syncs[] = {
		{ DRM_SIMPLER_SYNC_SIGNAL, 77, 0, -ENOENT },
		{ 0, 77, 0, -ENOENT },
		{ DRM_SIMPLER_SYNC_SIGNAL, 0, 1, -EINVAL },
		{ DRM_SIMPLER_SYNC_SIGNAL | DRM_SIMPLER_SYNC_TIMELINE, 0, 0, -EINVAL },
		{ 1u << 2, 0, 0, -EINVAL },
		{ 1u << 31, 0, 0, -EINVAL },
	};

	(void)state;
	for (unsigned int i = 0; i < COUNT(syncs); i++) {
		union arguments a = valid(find("SUBMIT"));

		scene.syncs[0] = (struct drm_simpler_sync){
			syncs[i].flags, syncs[i].handle ? syncs[i].handle : scene.syncobj,
			syncs[i].point };
		expect("sync", i, call_once(scene.fd, DRM_IOCTL_SIMPLER_SUBMIT, &a),
		       syncs[i].expected);
	}
	assert_int_equal(guest_state(scene.fd, scene.stream).submitted, 0);
}

static void streams_of_the_wrong_kind_are_refused(void **state)
{
	struct drm_simpler_stream_create create = {
		.flags = DRM_SIMPLER_STREAM_USER, .priority = DRM_SIMPLER_PRIORITY_NORMAL,
		.entries = 16, .timeout_ms = 1,
	};
	const struct bad bad[] = { { "SUBMIT", "stream", scene.user_stream, EPERM } };

	(void)state;
	try_each(bad, COUNT(bad));
	assert_int_equal(call_once(scene.fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create), -EINVAL);
}

static void numbers_that_are_no_call_are_refused(void **state)
{
	unsigned char nothing[4096] = { 0 };

	(void)state;
	for (unsigned int nr = DRM_COMMAND_BASE + DRM_SIMPLER_WAIT_SEQNO + 1; nr < DRM_COMMAND_END;
	     nr++)
		for (unsigned int dir = 0; dir < 4; dir++)
			expect("number of a call", nr,
			       call_once(scene.fd, _IOC(dir, DRM_IOCTL_BASE, nr, 64), nothing),
			       -EINVAL);
}

/* The DRM core extends what is shorter with zeroes, and drops what is longer. */
static void arguments_may_be_shorter_or_longer_than_known(void **state)
{
	unsigned char room[16384];

	(void)state;
	for (unsigned int i = 0; i < call_count; i++) {
		unsigned int nr = _IOC_NR(calls[i].request);

		for (unsigned int size = 0; size < 16384; size = size * 2 + 1) {
			unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE, nr,
						     size);
			union arguments a = valid(&calls[i]);
			int rc;

			memset(room, 0xff, sizeof(room));
			memcpy(room, &a, sizeof(a));
			rc = call_once(scene.fd, request, room);
			if (!call_may_return(&calls[i], rc))
				fail_msg("%s with %u bytes: %d", calls[i].name, size, rc);
			for (unsigned int k = size; k < sizeof(room); k++)
				assert_int_equal(room[k],
						 k < sizeof(a) ? a.bytes[k] : 0xff);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(every_bit_that_is_not_defined_is_refused),
		TEST(every_reserved_bit_of_a_command_is_refused),
		TEST(sizes_of_memory_are_checked_at_their_limits),
		TEST(counts_of_streams_are_checked_at_their_limits),
		TEST(sizes_of_host_buffers_are_checked_at_their_limits),
		TEST(no_more_can_be_pinned_than_there_is),
		TEST(handles_of_others_and_closed_ones_are_unknown),
		TEST(synchronisations_are_checked),
		TEST(streams_of_the_wrong_kind_are_refused),
		TEST(numbers_that_are_no_call_are_refused),
		TEST(arguments_may_be_shorter_or_longer_than_known),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
