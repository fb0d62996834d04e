/* SPDX-License-Identifier: MIT */
/* Kernels from tests/conformance/pto, assembled, compiled and run; results from plain C. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "../../tools/ptoas/emit_compile.h"
#include "pto_runtime_abi.h"

#define INCLUDE	"libsimpler/device/include"

static char cache[] = "/tmp/ptoas-run-XXXXXX";
static bool has_cache;

static char *read_text(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	char *text = calloc(1, 65536);

	assert_non_null(f);
	*size = fread(text, 1, 65535, f);
	fclose(f);
	return text;
}

static struct pto_tensor tensor_of(void *data, size_t size)
{
	return (struct pto_tensor){ .addr = (uint64_t)(uintptr_t)data, .size = size };
}

static int64_t bits_of(float f)
{
	int64_t bits = 0;

	memcpy(&bits, &f, sizeof(f));
	return bits;
}

static int compile_kernel(const char *name, const char *platform, bool cube, char *path,
			  struct pto_diags *d)
{
	struct simpler_kernel_source s = {
		.file = name, .platform = platform, .cube = cube, .include_dir = INCLUDE,
		.cache_dir = cache,
	};
	char *text = read_text(name, &s.size);
	int ret;

	if (!has_cache) {
		assert_non_null(mkdtemp(cache));
		has_cache = true;
	}
	s.text = text;
	ret = simpler_compile_kernel(&s, path, 4096, d);
	free(text);
	return ret;
}

static void run(const char *name, bool cube, int64_t *args)
{
	void (*entry)(int64_t *args);
	struct pto_diags d;
	char path[4096];
	void *so, *symbol;

	pto_diags_init(&d);
	if (compile_kernel(name, "a2a3sim", cube, path, &d)) {
		pto_diags_print(&d, stderr);
		fail_msg("%s does not compile", name);
	}
	pto_diags_fini(&d);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so)
		fail_msg("%s", dlerror());
	symbol = dlsym(so, "kernel_entry");
	assert_non_null(symbol);
	memcpy(&entry, &symbol, sizeof(entry));
	entry(args);
	/* not closed: the object has destructors of this thread's variables */
}

static void fill(float *a, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		a[i] = (float)((i * 37 + 11) % 101) / 16.0f - 3.0f;
}

static void assert_close(float got, double expected, const char *what, unsigned int i)
{
	if (!(fabs(got - expected) <= 1e-5 + 1e-5 * fabs(expected)))
		fail_msg("%s: element %u is %.9g, expected %.9g", what, i, got, expected);
}

static float a[64 * 64], b[64 * 64], out[64 * 64];

static void scale_doubles_every_element(void **state)
{
	struct pto_tensor ta = tensor_of(a, sizeof(a)), to = tensor_of(out, sizeof(out));
	int64_t args[] = { (int64_t)&ta, (int64_t)&to };
	unsigned int i;

	(void)state;
	fill(a, 4096);
	run("tests/conformance/pto/scale2.pto", false, args);
	for (i = 0; i < 4096; i++)
		assert_close(out[i], 2.0 * a[i], "scale2", i);
}

static void a_literal_pad_fills_what_the_source_leaves(void **state)
{
	struct pto_tensor ta = tensor_of(a, sizeof(a)), to = tensor_of(out, sizeof(out));
	int64_t args[] = { (int64_t)&ta, (int64_t)&to };
	unsigned int r, c;

	(void)state;
	fill(a, 200);
	run("tests/conformance/pto/pad.pto", false, args);
	for (r = 0; r < 16; r++)
		for (c = 0; c < 32; c++)
			assert_close(out[r * 32 + c], r < 10 && c < 20 ? a[r * 20 + c] : -1.5,
				     "pad", r * 32 + c);
}

/* @blocks trips of the outer loop, one of both branches. */
static void check_loop(int64_t blocks, bool flag)
{
	struct pto_tensor ta = tensor_of(a, sizeof(a)), to = tensor_of(out, sizeof(out));
	int64_t args[] = { (int64_t)&ta, (int64_t)&to, bits_of(1.5f), flag, blocks };
	unsigned int i;

	fill(a, 4096);
	memset(out, 0, sizeof(out));
	run("tests/conformance/pto/loop_branch.pto", false, args);
	for (i = 0; i < 4096; i++) {
		double expected = i / 1024 >= blocks ? 0 : flag ? 2.0 * a[i] + 1.5 : exp(a[i]);

		if (i || !blocks)
			assert_close(out[i], expected, "loop_branch", i);
	}
	if (blocks)
		assert_close(out[0], 16.0 * (double)blocks, "carried count", 0);
}

static void loops_run_no_one_and_many_times_with_either_branch(void **state)
{
	(void)state;
	check_loop(0, true);
	check_loop(1, true);
	check_loop(4, true);
	check_loop(0, false);
	check_loop(1, false);
	check_loop(4, false);
}

static void softmax_matches_its_formula(void **state)
{
	struct pto_tensor ta = tensor_of(a, sizeof(a)), to = tensor_of(out, sizeof(out));
	int64_t args[] = { (int64_t)&ta, (int64_t)&to };
	unsigned int r, c;

	(void)state;
	fill(a, 1024);
	run("tests/conformance/pto/softmax.pto", false, args);
	for (r = 0; r < 16; r++) {
		double most = a[r * 64], sum = 0;

		for (c = 0; c < 64; c++)
			most = fmax(most, a[r * 64 + c]);
		for (c = 0; c < 64; c++)
			sum += exp(a[r * 64 + c] - most);
		for (c = 0; c < 64; c++)
			assert_close(out[r * 64 + c], exp(a[r * 64 + c] - most) / sum, "softmax",
				     r * 64 + c);
	}
}

static void matmul_accumulates_over_four_blocks(void **state)
{
	struct pto_tensor ta = tensor_of(a, sizeof(a)), tb = tensor_of(b, sizeof(b));
	struct pto_tensor to = tensor_of(out, sizeof(out));
	int64_t args[] = { (int64_t)&ta, (int64_t)&tb, (int64_t)&to };
	unsigned int r, c, k;

	(void)state;
	fill(a, 1024);
	fill(b, 1024);
	run("tests/conformance/pto/matmul.pto", true, args);
	for (r = 0; r < 16; r++)
		for (c = 0; c < 16; c++) {
			double sum = 0;

			for (k = 0; k < 64; k++)
				sum += (double)a[r * 64 + k] * b[k * 16 + c];
			if (fabs(out[r * 16 + c] - sum) > 1e-3)
				fail_msg("matmul: (%u, %u) is %g, expected %g", r, c,
					 out[r * 16 + c], sum);
		}
}

static void windows_conversions_and_while_loops_give_their_values(void **state)
{
	struct pto_tensor ta = tensor_of(a, sizeof(a)), to = tensor_of(out, sizeof(out));
	int64_t args[] = { (int64_t)&ta, (int64_t)&to, 100, bits_of(-1.25f) };
	unsigned int i;

	(void)state;
	fill(a, 1024);
	run("tests/conformance/pto/mixed.pto", false, args);
	assert_close(out[0], 6, "halvings of 100", 0);
	for (i = 1; i < 1024; i++) {
		double whole = trunc(fmax(a[i], -1.25));

		assert_close(out[i], i / 64 < 8 && i % 64 < 32 ? 2 * whole : whole, "mixed", i);
	}
}

static void check_carried(int64_t n)
{
	struct pto_tensor ta = tensor_of(a, sizeof(a)), to = tensor_of(out, sizeof(out));
	int64_t args[] = { (int64_t)&ta, (int64_t)&to, n };
	unsigned int i;

	fill(a, 4096);
	memset(out, 0, sizeof(out));
	run("tests/conformance/pto/alternate.pto", false, args);
	for (i = 0; i < 512; i++)
		assert_close(out[i], n % 2 ? a[i + 512] + 2.0 * a[i] : a[i] + 2.0 * a[i + 512],
			     "swapped pair", i);
	for (i = 1024; i < 4096; i++)
		assert_close(out[i], i / 512 < n ? (double)a[i] + a[i - 512] + a[i - 1024] : 0,
			     "carried tiles", i);
}

static void tiles_carried_from_a_loop_body_alternate_between_buffers(void **state)
{
	(void)state;
	check_carried(2);
	check_carried(3);
	check_carried(8);
}

static void check_views(bool flag)
{
	struct pto_tensor ta = tensor_of(a, sizeof(a)), to = tensor_of(out, sizeof(out));
	int64_t args[] = { (int64_t)&ta, (int64_t)&to, flag };
	unsigned int i;

	ta.ndims = 2;
	ta.shapes[0] = ta.shapes[1] = ta.strides[0] = 64;
	ta.strides[1] = 1;
	fill(a, 4096);
	memset(out, 0, sizeof(out));
	run("tests/conformance/pto/views.pto", false, args);
	for (i = 0; i < 512; i++) {
		assert_close(out[i], exp(a[1536 + i]), "the last row block", i);
		assert_close(out[512 + i], flag ? exp(a[512 + i]) : 0, "the selected view", i);
		assert_close(out[1024 + i], out[i], "transferred", i);
	}
}

static void views_pass_through_calls_loops_and_branches(void **state)
{
	(void)state;
	check_views(true);
	check_views(false);
}

static void the_cache_tells_platforms_apart_and_compiles_once(void **state)
{
	const char *name = "tests/conformance/pto/scale2.pto";
	char first[4096], again[4096], other[4096];
	struct stat before, after;
	struct pto_diags d;

	(void)state;
	pto_diags_init(&d);
	assert_int_equal(compile_kernel(name, "a2a3sim", false, first, &d), 0);
	assert_int_equal(stat(first, &before), 0);
	assert_int_equal(compile_kernel(name, "a2a3sim", false, again, &d), 0);
	assert_string_equal(first, again);
	assert_int_equal(stat(first, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(compile_kernel(name, "a5sim", false, other, &d), 0);
	assert_string_not_equal(first, other);
	assert_int_not_equal(compile_kernel(name, "a9sim", false, other, &d), 0);
	assert_string_equal(d.first->text, "unknown platform 'a9sim'");
	pto_diags_fini(&d);
}

static int remove_cache(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", cache);
	return has_cache ? system(command) : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scale_doubles_every_element),
		cmocka_unit_test(a_literal_pad_fills_what_the_source_leaves),
		cmocka_unit_test(loops_run_no_one_and_many_times_with_either_branch),
		cmocka_unit_test(softmax_matches_its_formula),
		cmocka_unit_test(matmul_accumulates_over_four_blocks),
		cmocka_unit_test(windows_conversions_and_while_loops_give_their_values),
		cmocka_unit_test(tiles_carried_from_a_loop_body_alternate_between_buffers),
		cmocka_unit_test(views_pass_through_calls_loops_and_branches),
		cmocka_unit_test(the_cache_tells_platforms_apart_and_compiles_once),
	};

	return cmocka_run_group_tests(tests, NULL, remove_cache);
}
