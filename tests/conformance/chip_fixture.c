// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "chip_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

#define RING_ENTRIES	64u
#define MAX_KERNELS	16

void fixture_open(struct chip_fixture *f, uint32_t arch, uint32_t threads, uint32_t no_progress_ms)
{
	struct model_config config = { .arch = arch, .engine_threads = threads,
				       .no_progress_ms = no_progress_ms };

	memset(f, 0, sizeof(*f));
	f->arch = arch;
	assert_int_equal(model_open(&config, &f->model), 0);
	assert_int_equal(model_context_create(f->model, &f->context), 0);
	f->entries = RING_ENTRIES;
	assert_int_equal(model_stream_create(f->context, RING_ENTRIES, &f->stream), 0);
	f->launch.bytes = sizeof(f->launch);
}

struct chip_variant chip_variant = { .arch = SIMPLER_HW_ARCH_A2A3 };

void fixture_open_variant(struct chip_fixture *f, uint32_t no_progress_ms)
{
	if (chip_variant.threads)
		setenv("SIMPLER_ENGINE_INLINE", chip_variant.inline_tasks ? "1" : "0", 1);
	fixture_open(f, chip_variant.arch, chip_variant.threads, no_progress_ms);
}

static int run_variant(const char *name, const struct CMUnitTest *tests, size_t count,
		       int (*setup)(void **state), int (*teardown)(void **state))
{
	char title[96], how[48] = "";

	if (chip_variant.threads)
		snprintf(how, sizeof(how), ", %u threads, %s", chip_variant.threads,
			 chip_variant.inline_tasks ? "inline" : "queued");
	snprintf(title, sizeof(title), "%s on %s%s", name,
		 chip_variant.arch == SIMPLER_HW_ARCH_A5 ? "a5sim" : "a2a3sim", how);
	return _cmocka_run_group_tests(title, tests, count, setup, teardown);
}

int chip_run_variants(const char *name, const struct CMUnitTest *tests, size_t count,
		      int (*setup)(void **state), int (*teardown)(void **state))
{
	static const uint32_t threads[] = { 1, 2, 8 };
	bool given = getenv("SIMPLER_ENGINE_THREADS");
	int failures = 0;

	for (uint32_t arch = SIMPLER_HW_ARCH_A2A3; arch <= SIMPLER_HW_ARCH_A5; arch++)
		for (uint32_t i = 0; i < (given ? 1 : 6); i++) {
			chip_variant = (struct chip_variant){ arch, given ? 0 : threads[i / 2],
							      i % 2 };
			failures += run_variant(name, tests, count, setup, teardown);
		}
	return failures;
}

void fixture_close(struct chip_fixture *f)
{
	assert_int_equal(model_stream_destroy(f->stream), 0);
	assert_int_equal(model_context_destroy(f->context), 0);
	model_close(f->model);
}

void fixture_push(struct chip_fixture *f, struct simpler_hw_cmd cmd)
{
	struct simpler_hw_ring *ring = model_stream_ring(f->stream);
	struct simpler_hw_cmd *slots = (struct simpler_hw_cmd *)(ring + 1);

	slots[ring->producer & (f->entries - 1)] = cmd;
	__atomic_store_n(&ring->producer, ring->producer + 1, __ATOMIC_RELEASE);
	f->seqno++;
}

int fixture_wait(struct chip_fixture *f, int64_t timeout_ns)
{
	struct model_wait wait = { .deadline_ns = INT64_MAX };

	if (timeout_ns >= 0)
		wait.deadline_ns = (int64_t)clock_mono_ns() + timeout_ns;
	return model_wait_seqno(f->stream, f->seqno, &wait);
}

void fixture_command(struct chip_fixture *f, struct simpler_hw_cmd cmd)
{
	fixture_push(f, cmd);
	assert_int_equal(fixture_wait(f, -1), 0);
}

static void *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	void *data;

	if (!file)
		fail_msg("cannot open %s", path);
	fseek(file, 0, SEEK_END);
	*bytes = (size_t)ftell(file);
	rewind(file);
	data = malloc(*bytes);
	assert_int_equal(fread(data, 1, *bytes, file), *bytes);
	fclose(file);
	return data;
}

static uint32_t round64(size_t n)
{
	return (uint32_t)((n + 63) & ~(size_t)63);
}

static void name(char *to, uint32_t *len, const char *symbol)
{
	*len = (uint32_t)strlen(symbol);
	memcpy(to, symbol, *len + 1);
}

void *fixture_callable(const char *orch_path, const char *const *kernel_paths, uint32_t count,
		       uint64_t *bytes)
{
	struct simpler_hw_chip_callable *c;
	size_t orch_bytes, kernel_bytes[MAX_KERNELS];
	void *orch = read_file(orch_path, &orch_bytes);
	void *kernels[MAX_KERNELS];
	uint32_t used = round64(orch_bytes);

	assert_true(count <= MAX_KERNELS);
	for (uint32_t i = 0; i < count; i++) {
		kernels[i] = read_file(kernel_paths[i], &kernel_bytes[i]);
		used += (uint32_t)sizeof(struct simpler_hw_core_callable) + round64(kernel_bytes[i]);
	}
	c = calloc(1, sizeof(*c) + used);
	assert_non_null(c);
	c->binary_size = (uint32_t)orch_bytes;
	name(c->func_name, &c->func_name_len, "aicpu_orchestration_entry");
	name(c->config_name, &c->config_name_len, "aicpu_orchestration_config");
	c->child_count = (int32_t)count;
	memcpy(c + 1, orch, orch_bytes);
	free(orch);
	used = round64(orch_bytes);
	for (uint32_t i = 0; i < count; i++) {
		struct simpler_hw_core_callable *k = (void *)((char *)(c + 1) + used);

		c->child_func_ids[i] = (int32_t)i;
		c->child_offsets[i] = used;
		k->binary_size = (uint32_t)kernel_bytes[i];
		memcpy(k + 1, kernels[i], kernel_bytes[i]);
		free(kernels[i]);
		used += (uint32_t)sizeof(*k) + round64(kernel_bytes[i]);
	}
	*bytes = sizeof(*c) + used;
	return c;
}

static const char *build_dir(void)
{
	const char *dir = getenv("SIMPLER_BUILD_DIR");

	if (!dir)
		fail_msg("SIMPLER_BUILD_DIR is not set: it names the folder with the test kernels");
	return dir;
}

static char *so_path(const struct chip_fixture *f, const char *folder, const char *stem)
{
	char *path;

	assert_true(asprintf(&path, "%s/tests/conformance/%s/%s-%s.so", build_dir(), folder, stem,
			     f->arch == SIMPLER_HW_ARCH_A5 ? "a5sim" : "a2a3sim") > 0);
	return path;
}

void fixture_load(struct chip_fixture *f, const char *orch, const char *kernels)
{
	const char *paths[MAX_KERNELS];
	char *list = strdup(kernels), *rest = list, *stem;
	char *orch_path = so_path(f, "orch", orch);
	uint32_t count = 0;
	uint64_t bytes;
	void *callable;

	while ((stem = strsep(&rest, ",")))
		if (*stem)
			paths[count++] = so_path(f, "kernels", stem);
	callable = fixture_callable(orch_path, paths, count, &bytes);
	f->slot++;
	f->status.bytes = sizeof(f->status);
	fixture_command(f, (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_UPLOAD, .upload = {
		.addr = (uintptr_t)callable, .bytes = bytes, .status = (uintptr_t)&f->status,
		.slot = f->slot } });
	if (f->status.code)
		fail_msg("upload of %s: %s", orch, f->status.text);
	free(callable);
	for (uint32_t i = 0; i < count; i++)
		free((void *)paths[i]);
	free(orch_path);
	free(list);
}

void fixture_tensor(struct chip_fixture *f, uint32_t i, void *data, uint32_t dtype, uint32_t bytes,
		    uint32_t count)
{
	f->tensors[i] = (struct simpler_hw_tensor){
		.addr = (uintptr_t)data, .bytes = (uint64_t)bytes * count, .owner = ~0ull, .ndims = 1,
		.dtype = (uint8_t)dtype, .is_contiguous = 1, .address_space = 1,
		.shapes = { count }, .extent = count, .strides = { 1 },
	};
	if (f->launch.tensor_count <= i)
		f->launch.tensor_count = i + 1;
}

int fixture_run(struct chip_fixture *f, uint32_t count, ...)
{
	va_list ap;

	va_start(ap, count);
	for (uint32_t i = 0; i < count; i++)
		f->scalars[i] = va_arg(ap, uint64_t);
	va_end(ap);
	f->launch.scalar_count = count;
	return fixture_launch(f);
}

void fixture_begin(struct chip_fixture *f)
{
	f->launch.tensors = (uintptr_t)f->tensors;
	f->launch.scalars = (uintptr_t)f->scalars;
	f->launch.status = (uintptr_t)&f->status;
	memset(&f->status, 0xee, sizeof(f->status));
	fixture_push(f, (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_LAUNCH, .launch = {
		.desc = (uintptr_t)&f->launch, .desc_bytes = sizeof(f->launch), .slot = f->slot } });
}

int fixture_launch(struct chip_fixture *f)
{
	fixture_begin(f);
	assert_int_equal(fixture_wait(f, -1), 0);
	/* a refusal before the launch began leaves no status */
	if (f->status.bytes != sizeof(f->status))
		fail_msg("the launch left no status; the stream's error is %d at command %llu of %llu",
			 model_stream_ring(f->stream)->error,
			 (unsigned long long)model_stream_ring(f->stream)->error_seqno,
			 (unsigned long long)f->seqno);
	return f->status.code;
}

void fixture_expect(struct chip_fixture *f, int code, const char *part)
{
	if (f->status.code != code || (part && !strstr(f->status.text, part)))
		fail_msg("expected code %d with \"%s\", got code %d: %s", code, part ? part : "",
			 f->status.code, f->status.code ? f->status.text : "success");
}
