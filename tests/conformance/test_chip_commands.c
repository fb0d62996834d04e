// SPDX-License-Identifier: MIT
/*
 * Commands as the device sees them, well and badly formed (uapi/simpler_hw.h):
 * a bad one is an error of its stream, and nothing else suffers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "chip_fixture.h"
#include "simpler/error.h"

#define ELEMENTS 64

static struct chip_fixture f;
static float x[ELEMENTS];
static unsigned char *hole;	/* a page without access behind one with it */

/* Inside each test: cmocka's own signal handlers would get the page faults otherwise. */
static void open_chip_with(uint32_t no_progress_ms)
{
	memset(x, 0, sizeof(x));
	fixture_open_variant(&f, no_progress_ms);
	fixture_load(&f, "failures", "add_one,crash,endless,push,pop,abuse");
	fixture_tensor(&f, 0, x, 0, 4, ELEMENTS);
	hole = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(hole, MAP_FAILED);
	assert_int_equal(mprotect(hole + 4096, 4096, PROT_NONE), 0);
	hole += 4096;
}

static void open_chip(void)
{
	open_chip_with(FIXTURE_WATCHDOG_MS);
}

static void close_chip(void)
{
	munmap(hole - 4096, 8192);
	fixture_close(&f);
}

static void works_afterwards(void)
{
	x[5] = 1;
	if (fixture_run(&f, 2, 1ull, 100ull))
		fail_msg("run after a bad command: %s", f.status.text);
	assert_true(x[5] == 101.0f);
}

/* What a command gives on a stream of its own. */
static int error_of(struct simpler_hw_cmd cmd)
{
	struct chip_fixture own = f;
	int error;

	assert_int_equal(model_stream_create(f.context, 4, &own.stream), 0);
	own.seqno = 0;
	own.entries = 4;
	fixture_command(&own, cmd);
	error = model_stream_ring(own.stream)->error;
	assert_int_equal(model_stream_ring(own.stream)->error_seqno, error ? 1 : 0);
	/* the stream itself goes on */
	fixture_command(&own, (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_NOP });
	assert_int_equal(model_stream_destroy(own.stream), 0);
	return error;
}

static uint64_t at(const void *p)
{
	return (uintptr_t)p;
}

/* A command of each kind that succeeds. */
static struct simpler_hw_cmd good(uint8_t opcode)
{
	static uint64_t word, data[2];
	struct simpler_hw_cmd cmd = { .opcode = opcode };

	word = 5;
	switch (opcode) {
	case SIMPLER_HW_OP_FENCE:
		cmd.fence.addr = at(&word);
		break;
	case SIMPLER_HW_OP_WAIT:
		cmd.wait.addr = at(&word);
		cmd.wait.value = 5;
		break;
	case SIMPLER_HW_OP_COPY:
		cmd.copy.dst = at(&data[0]);
		cmd.copy.src = at(&data[1]);
		cmd.copy.bytes = 8;
		break;
	case SIMPLER_HW_OP_FILL:
		cmd.fill.dst = at(data);
		cmd.fill.bytes = 16;
		cmd.fill.width = 8;
		break;
	case SIMPLER_HW_OP_LAUNCH:
		f.launch = (struct simpler_hw_launch){
			.bytes = sizeof(f.launch), .tensor_count = 1, .scalar_count = 1,
			.tensors = at(f.tensors), .scalars = at(f.scalars), .status = at(&f.status),
		};
		f.scalars[0] = 0;
		cmd.launch.desc = at(&f.launch);
		cmd.launch.desc_bytes = sizeof(f.launch);
		cmd.launch.slot = f.slot;
		break;
	default:
		break;
	}
	return cmd;
}

static const uint8_t opcodes[] = {
	SIMPLER_HW_OP_NOP, SIMPLER_HW_OP_FENCE, SIMPLER_HW_OP_WAIT, SIMPLER_HW_OP_COPY,
	SIMPLER_HW_OP_FILL, SIMPLER_HW_OP_LAUNCH, SIMPLER_HW_OP_BARRIER,
};

static void well_formed_commands_succeed(void **state)
{
	(void)state;
	open_chip();
	for (size_t i = 0; i < sizeof(opcodes); i++)
		assert_int_equal(error_of(good(opcodes[i])), 0);
	works_afterwards();
	close_chip();
}

static void reserved_bits_and_words_are_refused(void **state)
{
	static const int words[] = { 0, 2, 2, 3, 4, 2, 4, 1, 0 };

	(void)state;
	open_chip();
	for (uint8_t op = 0; op <= SIMPLER_HW_OP_BARRIER; op++) {
		struct simpler_hw_cmd cmd = good(op);

		for (int bit = 0; bit < 16; bit++) {
			cmd.reserved = (uint16_t)(1u << bit);
			assert_int_equal(error_of(cmd), -EINVAL);
		}
		cmd.reserved = 0;
		for (int bit = 2; bit < 8; bit++) {
			cmd.flags = (uint8_t)(1u << bit);
			assert_int_equal(error_of(cmd), -EINVAL);
		}
		cmd.flags = SIMPLER_HW_CMD_IRQ;
		if (op != SIMPLER_HW_OP_FENCE)
			assert_int_equal(error_of(cmd), -EINVAL);
		cmd.flags = 0;
		for (int word = words[op]; word < 7; word++) {
			cmd.words[word] = 1ull << 63;
			assert_int_equal(error_of(cmd), -EINVAL);
			cmd.words[word] = 0;
		}
	}
	works_afterwards();
	close_chip();
}

static void unknown_opcodes_are_refused(void **state)
{
	(void)state;
	open_chip();
	for (int op = SIMPLER_HW_OP_BARRIER + 1; op < 256; op++)
		assert_int_equal(error_of((struct simpler_hw_cmd){ .opcode = (uint8_t)op }), -EINVAL);
	works_afterwards();
	close_chip();
}

static void faults_are_recorded_until_the_ring_is_full(void **state)
{
	const struct simpler_hw_regs *regs;
	const struct simpler_hw_fault *faults;

	(void)state;
	open_chip();
	regs = model_regs(f.model);
	faults = (const void *)(uintptr_t)regs->fault_ring;
	assert_int_equal(regs->fault_producer, 0);
	assert_int_equal(error_of((struct simpler_hw_cmd){ .opcode = 77 }), -EINVAL);
	assert_int_equal(regs->fault_producer, 1);
	assert_int_equal(faults[0].code, SIMPLER_HW_FAULT_BAD_COMMAND);
	assert_int_equal(faults[0].address, 77);
	assert_int_equal(faults[0].seqno, 1);
	error_of((struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_FENCE, .fence.addr = at(hole) });
	assert_int_equal(faults[1].code, SIMPLER_HW_FAULT_PAGE);
	assert_int_equal(faults[1].address, at(hole));
	for (uint32_t i = 2; i < regs->fault_entries + 10; i++)
		error_of((struct simpler_hw_cmd){ .opcode = 99 });
	assert_int_equal(regs->fault_producer, regs->fault_entries);
	assert_int_equal(regs->fault_dropped, 10);
	works_afterwards();
	close_chip();
}

/* ---- memory commands ---- */

static struct simpler_hw_cmd fence(uint64_t addr)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_FENCE, .fence = { .addr = addr, .value = 7 } };
}

static struct simpler_hw_cmd wait_for(uint64_t addr, uint64_t value)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_WAIT, .wait = { .addr = addr, .value = value } };
}

static struct simpler_hw_cmd copy(uint64_t dst, uint64_t src, uint64_t bytes)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_COPY, .copy = { .dst = dst, .src = src, .bytes = bytes } };
}

static struct simpler_hw_cmd fill(uint64_t dst, uint64_t bytes, uint64_t pattern, uint32_t width)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_FILL,
					.fill = { .dst = dst, .bytes = bytes, .pattern = pattern, .width = width } };
}

static void fences_and_waits_check_their_address(void **state)
{
	uint64_t word = 0;

	(void)state;
	open_chip();
	assert_int_equal(error_of(fence(at(&word))), 0);
	assert_int_equal(word, 7);
	assert_int_equal(error_of(fence(0)), -EINVAL);
	assert_int_equal(error_of(fence(at(&word) + 4)), -EINVAL);
	assert_int_equal(error_of(fence(at(hole))), -EFAULT);
	assert_int_equal(error_of(fence(UINT64_MAX - 7)), -EINVAL);
	assert_int_equal(error_of(wait_for(0, 0)), -EINVAL);
	assert_int_equal(error_of(wait_for(at(&word) + 1, 0)), -EINVAL);
	assert_int_equal(error_of(wait_for(at(hole), 0)), -EFAULT);
	assert_int_equal(error_of(wait_for(at(&word), 7)), 0);
	works_afterwards();
	close_chip();
}

static void copies_check_their_ranges(void **state)
{
	static char from[256], to[256];

	(void)state;
	open_chip();
	memset(from, 'a', sizeof(from));
	assert_int_equal(error_of(copy(at(to), at(from), 200)), 0);
	assert_memory_equal(to, from, 200);
	assert_int_equal(to[200], 0);
	assert_int_equal(error_of(copy(0, 0, 0)), 0);
	assert_int_equal(error_of(copy(0, at(from), 1)), -EINVAL);
	assert_int_equal(error_of(copy(at(to), 0, 1)), -EINVAL);
	assert_int_equal(error_of(copy(at(to), at(to) + 10, 11)), -EINVAL);
	assert_int_equal(error_of(copy(at(to) + 10, at(to), 11)), -EINVAL);
	assert_int_equal(error_of(copy(at(to) + 10, at(to), 10)), 0);
	assert_int_equal(error_of(copy(at(to), at(from), UINT64_MAX)), -EINVAL);
	assert_int_equal(error_of(copy(UINT64_MAX - 5, at(from), 10)), -EINVAL);
	assert_int_equal(error_of(copy(at(to), at(hole), 1)), -EFAULT);
	assert_int_equal(error_of(copy(at(hole) - 100, at(from), 200)), -EFAULT);
	assert_int_equal(error_of(copy(1ull << 62, at(from), 1)), -EFAULT);
	works_afterwards();
	close_chip();
}

static void fills_repeat_patterns_of_every_width(void **state)
{
	static unsigned char to[80];
	uint64_t pattern = 0x1122334455667788;

	(void)state;
	open_chip();
	for (uint32_t width = 1; width <= 8; width *= 2) {
		memset(to, 0, sizeof(to));
		assert_int_equal(error_of(fill(at(to), 64, pattern, width)), 0);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(to[i], (unsigned char)(pattern >> 8 * (i % width)));
		assert_int_equal(to[64], 0);
		if (width > 1)
			assert_int_equal(error_of(fill(at(to), 63, pattern, width)), -EINVAL);
	}
	assert_int_equal(error_of(fill(0, 0, pattern, 8)), 0);
	assert_int_equal(error_of(fill(0, 8, pattern, 8)), -EINVAL);
	assert_int_equal(error_of(fill(at(to), 64, pattern, 0)), -EINVAL);
	assert_int_equal(error_of(fill(at(to), 63, pattern, 3)), -EINVAL);
	assert_int_equal(error_of(fill(at(to), UINT64_MAX - 7, pattern, 8)), -EINVAL);
	assert_int_equal(error_of(fill(at(hole), 64, pattern, 8)), -EFAULT);
	assert_int_equal(error_of(fill(at(hole) - 8, 64, pattern, 1)), -EFAULT);
	works_afterwards();
	close_chip();
}

/* ---- launches ---- */

/* A launch that must not start: the ring has an error and the status, where there is one, a text. */
static void bad_launch(struct simpler_hw_cmd cmd, int error, const char *part)
{
	memset(&f.status, 0, sizeof(f.status));
	assert_int_equal(error_of(cmd), error);
	if (part)
		fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, part);
	else
		assert_int_equal(f.status.code, 0);
	good(SIMPLER_HW_OP_LAUNCH);
	works_afterwards();
}

static void launches_check_their_descriptor(void **state)
{
	struct simpler_hw_cmd cmd;

	(void)state;
	open_chip();
	cmd = good(SIMPLER_HW_OP_LAUNCH);
	cmd.launch.desc = 0;
	bad_launch(cmd, -EINVAL, NULL);
	cmd.launch.desc = at(hole);
	bad_launch(cmd, -EFAULT, NULL);
	cmd.launch.desc = at(hole) - 64;	/* its end is missing */
	bad_launch(cmd, -EFAULT, NULL);
	cmd.launch.desc = at(&f.launch) + 4;
	bad_launch(cmd, -EINVAL, NULL);
	cmd.launch.desc = at(&f.launch);
	cmd.launch.desc_bytes = sizeof(f.launch) - 8;
	bad_launch(cmd, -EINVAL, NULL);
	cmd.launch.desc_bytes = 0;
	bad_launch(cmd, -EINVAL, NULL);
	cmd = good(SIMPLER_HW_OP_LAUNCH);
	f.launch.bytes = 8;
	bad_launch(cmd, -EINVAL, NULL);
	for (int i = 0; i < 4; i++) {
		f.launch.reserved[i] = 1;
		bad_launch(cmd, -EINVAL, "is not zero");
	}
	close_chip();
}

static void launches_name_a_loaded_callable(void **state)
{
	static const uint32_t slots[] = { 0, 63, 64, UINT32_MAX };
	struct simpler_hw_cmd cmd;

	(void)state;
	open_chip();
	cmd = good(SIMPLER_HW_OP_LAUNCH);
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "no callable in slot %u", slots[i]);
		cmd.launch.slot = slots[i];
		bad_launch(cmd, -ENOENT, text);
	}
	close_chip();
}

static void bad_operands(uint64_t tensors, uint32_t tensor_count, uint64_t scalars,
			 uint32_t scalar_count, int error, const char *part)
{
	struct simpler_hw_cmd cmd = good(SIMPLER_HW_OP_LAUNCH);

	f.launch.tensors = tensors;
	f.launch.tensor_count = tensor_count;
	f.launch.scalars = scalars;
	f.launch.scalar_count = scalar_count;
	memset(&f.status, 0, sizeof(f.status));
	assert_int_equal(error_of(cmd), error);
	if (!strstr(f.status.text, part) || !f.status.code)
		fail_msg("expected \"%s\", got code %d: %s", part, f.status.code, f.status.text);
	good(SIMPLER_HW_OP_LAUNCH);
	works_afterwards();
}

static void launches_check_their_operands(void **state)
{
	static struct simpler_hw_tensor odd[2];

	(void)state;
	open_chip();
	good(SIMPLER_HW_OP_LAUNCH);
	bad_operands(at(f.tensors), 257, at(f.scalars), 1, -SIMPLER_RUN_INVALID_ARGS,
		     "tensor count 257 exceeds 256");
	bad_operands(at(f.tensors), 1, at(f.scalars), 129, -SIMPLER_RUN_INVALID_ARGS,
		     "scalar count 129 exceeds 128");
	bad_operands(0, 1, at(f.scalars), 1, -EFAULT, "operands");
	bad_operands(at(hole), 1, at(f.scalars), 1, -EFAULT, "operands");
	bad_operands(at(hole) - 64, 1, at(f.scalars), 1, -EFAULT, "operands");
	bad_operands(at(f.tensors), 1, 0, 1, -EFAULT, "operands");
	bad_operands(at(f.tensors), 1, at(hole) - 8, 2, -EFAULT, "operands");
	bad_operands(at(f.tensors) + 4, 1, at(f.scalars), 1, -EINVAL, "operands");
	odd[0] = odd[1] = f.tensors[0];
	odd[1].ndims = 6;
	bad_operands(at(odd), 2, at(f.scalars), 1, -SIMPLER_RUN_INVALID_ARGS,
		     "operand 1 has an invalid rank or element type");
	odd[1].ndims = 1;
	odd[1].dtype = 15;
	bad_operands(at(odd), 2, at(f.scalars), 1, -SIMPLER_RUN_INVALID_ARGS,
		     "operand 1 has an invalid rank or element type");
	close_chip();
}

static void launches_check_their_ring_sizes(void **state)
{
	static const struct { int field; uint64_t value; const char *part; } bad[] = {
		{ 0, 6, "ring_task_window 6 must be a power of 2 in [4, INT32_MAX]" },
		{ 0, 2, "ring_task_window 2 must be a power of 2" },
		{ 0, 1ull << 31, "ring_task_window 2147483648 must be a power of 2" },
		{ 0, UINT64_MAX, "must be a power of 2" },
		{ 1, 512, "ring_heap 512 must be >= 1024 (bytes per ring)" },
		{ 1, (1ull << 46) + 1, "ring_heap 70368744177665 must be <= 2^46 (bytes per ring)" },
		{ 1, UINT64_MAX, "ring_heap" },
		{ 2, 3, "ring_dep_pool 3 must be in [4, INT32_MAX]" },
		{ 2, 1ull << 31, "ring_dep_pool 2147483648 must be in [4, INT32_MAX]" },
	};

	(void)state;
	open_chip();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (int ring = 0; ring < 4; ring++) {
			struct simpler_hw_cmd cmd = good(SIMPLER_HW_OP_LAUNCH);
			__u64 *fields[] = { f.launch.ring_window, f.launch.ring_heap,
					    f.launch.ring_dep_pool };

			fields[bad[i].field][ring] = bad[i].value;
			assert_int_equal(error_of(cmd), -SIMPLER_RUN_INVALID_ARGS);
			fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, bad[i].part);
			good(SIMPLER_HW_OP_LAUNCH);
			works_afterwards();
		}
	close_chip();
}

static void launches_check_runtime_and_mode(void **state)
{
	struct simpler_hw_cmd cmd;

	(void)state;
	open_chip();
	cmd = good(SIMPLER_HW_OP_LAUNCH);
	f.launch.runtime = 9;
	bad_launch(cmd, -SIMPLER_RUN_INVALID_ARGS, "runtime 9 is not supported");
	f.launch.dep_mode = 2;
	bad_launch(cmd, -SIMPLER_RUN_INVALID_ARGS, "dependence mode 2 is unknown");
	close_chip();
}

static void a_launch_needs_no_status_but_a_good_one(void **state)
{
	struct simpler_hw_cmd cmd;

	(void)state;
	open_chip();
	cmd = good(SIMPLER_HW_OP_LAUNCH);
	f.launch.status = 0;
	assert_int_equal(error_of(cmd), 0);
	f.launch.status = at(hole);
	assert_int_equal(error_of(cmd), -EFAULT);
	f.launch.status = at(&f.status) + 4;
	assert_int_equal(error_of(cmd), -EINVAL);
	f.launch.status = at(hole) - 8;
	assert_int_equal(error_of(cmd), -EFAULT);
	good(SIMPLER_HW_OP_LAUNCH);
	works_afterwards();
	close_chip();
}

/* ---- callables ---- */

static struct simpler_hw_cmd upload(const void *bytes, uint64_t size, uint32_t slot)
{
	memset(&f.status, 0, sizeof(f.status));
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_UPLOAD, .upload = {
		.addr = at(bytes), .bytes = size, .status = at(&f.status), .slot = slot } };
}

static void bad_upload(struct simpler_hw_cmd cmd, int error, const char *part)
{
	int got = error_of(cmd);

	if (error ? got != error : !got)
		fail_msg("upload: error %d, expected %d: %s", got, error, f.status.text);
	if (part && cmd.upload.status)
		fixture_expect(&f, SIMPLER_RUN_INVALID_ARGS, part);
}

static char *path_of(const char *folder, const char *stem)
{
	char *path;

	assert_true(asprintf(&path, "%s/tests/conformance/%s/%s-%s.so", getenv("SIMPLER_BUILD_DIR"),
			     folder, stem, f.arch == SIMPLER_HW_ARCH_A5 ? "a5sim" : "a2a3sim") > 0);
	return path;
}

static void *callable_with(const char *stem, uint64_t *bytes)
{
	char *orch = path_of("orch", "expects_three"), *kernel = path_of("kernels", stem);
	const char *kernels[1] = { kernel };
	void *c = fixture_callable(orch, kernels, 1, bytes);

	free(orch);
	free(kernel);
	return c;
}

static void *callable(uint64_t *bytes)
{
	return callable_with("add_one", bytes);
}

static void a_constructor_that_does_not_return_is_ended(void **state)
{
	uint64_t bytes;
	void *c;

	(void)state;
	open_chip_with(FIXTURE_SHORT_MS);
	c = callable_with("stuck", &bytes);
	bad_upload(upload(c, bytes, 9), -ELIBBAD, "does not return");
	works_afterwards();
	free(c);
	close_chip();
}

static void the_dynamic_linker_is_not_interrupted(void **state)
{
	uint64_t bytes;
	void *c;

	(void)state;
	open_chip_with(FIXTURE_SHORT_MS);
	c = callable_with("slow_link", &bytes);
	assert_int_equal(error_of(upload(c, bytes, 9)), 0);
	works_afterwards();
	free(c);
	close_chip();
}

static void uploads_check_address_and_slot(void **state)
{
	uint64_t bytes;
	void *c;
	struct simpler_hw_cmd cmd;

	(void)state;
	open_chip();
	c = callable(&bytes);
	bad_upload(upload(NULL, bytes, 9), -EINVAL, "");
	bad_upload(upload(c, bytes, 64), -EINVAL, "upload into slot 64, which is out of range");
	bad_upload(upload(c, bytes, f.slot), -EINVAL, "which is taken");
	bad_upload(upload(hole, bytes, 9), -EFAULT, "");
	bad_upload(upload(hole - 4096, 9376, 9), -EFAULT, "");
	bad_upload(upload(c, UINT64_MAX, 9), -EINVAL, "");
	bad_upload(upload((char *)c + 4, bytes - 4, 9), 0, "");
	cmd = upload(c, bytes, 9);
	cmd.upload.reserved = 1;
	bad_upload(cmd, -EINVAL, NULL);
	cmd = upload(c, bytes, 9);
	cmd.upload.status = at(hole);
	bad_upload(cmd, -EFAULT, NULL);
	cmd = upload(c, bytes, 9);
	cmd.upload.status = 0;
	assert_int_equal(error_of(cmd), 0);
	assert_int_equal(error_of((struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_UNLOAD,
							   .unload.slot = 9 }), 0);
	works_afterwards();
	free(c);
	close_chip();
}

static void truncated_callables_are_refused(void **state)
{
	uint64_t bytes;
	unsigned char *c;

	(void)state;
	open_chip();
	c = callable(&bytes);
	for (uint64_t size = 0; size + 64 < bytes; size += size < 9500 ? 1171 : 4999) {
		/* exactly as long as told, so that a sanitizer sees reads beyond */
		unsigned char *copy = malloc(size ? size : 1);

		memcpy(copy, c, size);
		bad_upload(upload(copy, size, 9), 0, "");
		assert_string_not_equal(f.status.text, "");
		free(copy);
	}
	works_afterwards();
	free(c);
	close_chip();
}

static void damaged_callables_are_refused_or_harmless(void **state)
{
	uint64_t bytes;
	unsigned char *c;
	uint32_t seed = 1;

	(void)state;
	open_chip();
	c = callable(&bytes);
	for (int i = 0; i < 300; i++) {
		uint64_t at_byte = i < 100 ? sizeof(struct simpler_hw_chip_callable) + (uint64_t)i : 0;
		unsigned char old;
		int rc;

		seed = seed * 1664525 + 1013904223;
		if (i >= 100)	/* the header: sizes, names, children */
			at_byte = (uint64_t)(seed >> 8) % 9376;
		old = c[at_byte];
		c[at_byte] ^= (unsigned char)(1u << (seed >> 4 & 7));
		rc = error_of(upload(c, bytes, 9));
		if (!rc)
			error_of((struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_UNLOAD, .unload.slot = 9 });
		else
			assert_string_not_equal(f.status.text, "");
		c[at_byte] = old;
	}
	works_afterwards();
	free(c);
	close_chip();
}

static void slots_are_emptied_and_used_again(void **state)
{
	struct simpler_hw_cmd unload = { .opcode = SIMPLER_HW_OP_UNLOAD };
	uint64_t bytes;
	void *c;

	(void)state;
	open_chip();
	c = callable(&bytes);
	unload.unload.slot = 64;
	assert_int_equal(error_of(unload), -ENOENT);
	unload.unload.slot = 9;
	assert_int_equal(error_of(unload), -ENOENT);
	for (int i = 0; i < 5; i++) {
		for (uint32_t slot = 2; slot < 64; slot += 20) {
			assert_int_equal(error_of(upload(c, bytes, slot)), 0);
			unload.unload.slot = slot;
			assert_int_equal(error_of(unload), 0);
			assert_int_equal(error_of(unload), -ENOENT);
		}
	}
	works_afterwards();
	free(c);
	close_chip();
}

/* ---- streams ---- */

static void a_failed_command_ends_its_batch(void **state)
{
	uint64_t words[4] = { 0 };
	struct simpler_hw_cmd bad = { .opcode = 99, .batch = 7 }, cmd;

	(void)state;
	open_chip();
	fixture_push(&f, bad);
	for (int i = 0; i < 4; i++) {
		cmd = fence(at(&words[i]));
		cmd.batch = i == 2 ? 8 : i == 3 ? 0 : 7;
		cmd.flags = i == 1 ? SIMPLER_HW_CMD_ALWAYS : 0;
		fixture_push(&f, cmd);
	}
	assert_int_equal(fixture_wait(&f, -1), 0);
	assert_int_equal(words[0], 0);
	assert_int_equal(words[1], 7);
	assert_int_equal(words[2], 7);
	assert_int_equal(words[3], 7);
	assert_int_equal(model_stream_ring(f.stream)->error, -EINVAL);
	/* a failed run does the same, and is remembered as the first failure it was not */
	words[0] = 0;
	cmd = good(SIMPLER_HW_OP_LAUNCH);
	f.scalars[0] = 10;	/* rt_report_fatal */
	cmd.batch = 11;
	fixture_push(&f, cmd);
	cmd = fence(at(&words[0]));
	cmd.batch = 11;
	fixture_push(&f, cmd);
	assert_int_equal(fixture_wait(&f, -1), 0);
	assert_int_equal(f.status.code, SIMPLER_RUN_EXPLICIT_ORCH_FATAL);
	assert_int_equal(words[0], 0);
	works_afterwards();
	close_chip();
}

static void a_producer_index_beyond_the_ring_bans_the_stream(void **state)
{
	struct model_wait forever = { .deadline_ns = INT64_MAX };
	struct simpler_hw_ring *ring;
	struct model_stream *s;

	(void)state;
	open_chip();
	for (uint32_t beyond = 5; beyond; beyond = beyond == 5 ? 1u << 31 : beyond == 1u << 31 ? UINT32_MAX : 0) {
		assert_int_equal(model_stream_create(f.context, 4, &s), 0);
		ring = model_stream_ring(s);
		__atomic_store_n(&ring->producer, beyond, __ATOMIC_RELEASE);
		model_doorbell(s);
		assert_int_equal(model_wait_seqno(s, 1, &forever), -ENODEV);
		assert_int_equal(ring->state, SIMPLER_HW_STREAM_BANNED);
		assert_int_equal(ring->error, -EINVAL);
		assert_int_equal(ring->completed, 0);
		works_afterwards();
		assert_int_equal(model_stream_destroy(s), 0);
	}
	works_afterwards();
	close_chip();
}

static void stream_sizes_are_powers_of_two(void **state)
{
	struct model_stream *s;

	(void)state;
	open_chip();
	assert_int_equal(model_stream_create(f.context, 0, &s), -EINVAL);
	assert_int_equal(model_stream_create(f.context, 2, &s), -EINVAL);
	assert_int_equal(model_stream_create(f.context, 12, &s), -EINVAL);
	assert_int_equal(model_stream_create(f.context, 131072, &s), -EINVAL);
	assert_int_equal(model_stream_create(f.context, 65536, &s), 0);
	assert_int_equal(model_stream_destroy(s), 0);
	close_chip();
}

/* More commands than the ring has places, and more than once around. */
static void rings_go_round(void **state)
{
	uint64_t word = 0;

	(void)state;
	open_chip();
	for (int round = 0; round < 50; round++) {
		for (uint64_t i = 1; i <= 64; i++) {
			struct simpler_hw_cmd cmd = fence(at(&word));

			cmd.fence.value = 64 * (uint64_t)round + i;
			fixture_push(&f, cmd);
		}
		assert_int_equal(fixture_wait(&f, -1), 0);
		assert_int_equal(word, 64 * (round + 1));
	}
	assert_int_equal(model_stream_ring(f.stream)->error, 0);
	close_chip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(well_formed_commands_succeed),
		cmocka_unit_test(reserved_bits_and_words_are_refused),
		cmocka_unit_test(unknown_opcodes_are_refused),
		cmocka_unit_test(faults_are_recorded_until_the_ring_is_full),
		cmocka_unit_test(fences_and_waits_check_their_address),
		cmocka_unit_test(copies_check_their_ranges),
		cmocka_unit_test(fills_repeat_patterns_of_every_width),
		cmocka_unit_test(launches_check_their_descriptor),
		cmocka_unit_test(launches_name_a_loaded_callable),
		cmocka_unit_test(launches_check_their_operands),
		cmocka_unit_test(launches_check_their_ring_sizes),
		cmocka_unit_test(launches_check_runtime_and_mode),
		cmocka_unit_test(a_launch_needs_no_status_but_a_good_one),
		cmocka_unit_test(uploads_check_address_and_slot),
		cmocka_unit_test(a_constructor_that_does_not_return_is_ended),
		cmocka_unit_test(the_dynamic_linker_is_not_interrupted),
		cmocka_unit_test(truncated_callables_are_refused),
		cmocka_unit_test(damaged_callables_are_refused_or_harmless),
		cmocka_unit_test(slots_are_emptied_and_used_again),
		cmocka_unit_test(a_failed_command_ends_its_batch),
		cmocka_unit_test(a_producer_index_beyond_the_ring_bans_the_stream),
		cmocka_unit_test(stream_sizes_are_powers_of_two),
		cmocka_unit_test(rings_go_round),
	};

	return chip_run_suite("commands", tests, NULL, NULL);
}
