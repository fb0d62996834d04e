/* SPDX-License-Identifier: MIT */
/* Cases of pto-isa.md section 12 that the command shows: exit status, standard error, C++. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COMPLETE \
	"!pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32, v_row=32, v_col=32, " \
	"blayout=row_major, slayout=none_box, fractal=512, pad=0>"
#define TENSOR	"!pto.tensor_view<?x?xf32>"
#define PART	"!pto.partition_tensor_view<32x32xf32>"
#define TILE	"!pto.tile_buf<vec, 16x16xf32>"

/* The requirement's mul_kernel_2d with its types written out. */
static const char mul_kernel[] =
	"module {\n"
	"  func.func @mul_kernel_2d(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, "
	"%arg2: !pto.ptr<f32>) {\n"
	"    %c32 = arith.constant 32 : index\n"
	"    %c1 = arith.constant 1 : index\n"
	"    %c0 = arith.constant 0 : index\n\n"
	"    %3 = pto.make_tensor_view %arg0, shape = [%c32, %c32], strides = [%c32, %c1]\n"
	"         : " TENSOR "\n"
	"    %4 = pto.make_tensor_view %arg1, shape = [%c32, %c32], strides = [%c32, %c1]\n"
	"         : " TENSOR "\n"
	"    %5 = pto.make_tensor_view %arg2, shape = [%c32, %c32], strides = [%c32, %c1]\n"
	"         : " TENSOR "\n\n"
	"    %0 = pto.alloc_tile : " COMPLETE "\n"
	"    %1 = pto.alloc_tile : " COMPLETE "\n"
	"    %2 = pto.alloc_tile : " COMPLETE "\n\n"
	"    %6 = pto.partition_view %3, offsets = [%c0, %c0], sizes = [%c32, %c32]\n"
	"         : " TENSOR " -> " PART "\n"
	"    pto.tload ins(%6 : " PART ") outs(%0 : " COMPLETE ")\n\n"
	"    %7 = pto.partition_view %4, offsets = [%c0, %c0], sizes = [%c32, %c32]\n"
	"         : " TENSOR " -> " PART "\n"
	"    pto.tload ins(%7 : " PART ") outs(%1 : " COMPLETE ")\n\n"
	"    pto.tmul ins(%0 : " COMPLETE ", %1 : " COMPLETE ") outs(%2 : " COMPLETE ")\n\n"
	"    %8 = pto.partition_view %5, offsets = [%c0, %c0], sizes = [%c32, %c32]\n"
	"         : " TENSOR " -> " PART "\n"
	"    pto.tstore ins(%2 : " COMPLETE ") outs(%8 : " PART ")\n\n"
	"    return\n  }\n}\n";

static char out[65536], err[65536];

static void read_back(char *to, int fd)
{
	ssize_t n = pread(fd, to, sizeof(out) - 1, 0);

	assert_true(n >= 0);
	to[n] = '\0';
	close(fd);
}

/* Runs the command on @text with up to three options; its exit status. */
static int ptoas(const char *text, const char *a, const char *b, const char *c)
{
	const char *build = getenv("SIMPLER_BUILD_DIR");
	int fd[3], status;
	char path[PATH_MAX];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/ptoas", build ? build : "build");
	assert_int_equal(access(path, X_OK), 0);
	for (int i = 0; i < 3; i++)
		assert_true((fd[i] = memfd_create("ptoas", MFD_CLOEXEC)) >= 0);
	assert_int_equal(write(fd[0], text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(lseek(fd[0], 0, SEEK_SET), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		for (int i = 0; i < 3; i++)
			dup2(fd[i], i);
		execl(path, path, a, b, c, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	read_back(out, fd[1]);
	read_back(err, fd[2]);
	close(fd[0]);
	return WEXITSTATUS(status);
}

static void has(const char *where, const char *what)
{
	if (!strstr(where, what))
		fail_msg("wanted: %s\nhave:   %s", what, where);
}

static void refused(const char *text, const char *option, const char *message)
{
	assert_int_equal(ptoas(text, option, NULL, NULL), 1);
	has(err, message);
	assert_string_equal(out, "");
}

static void accepted(const char *text, const char *option, const char *cxx)
{
	int status = ptoas(text, option, NULL, NULL);

	if (status)
		fail_msg("exit %d: %s", status, err);
	has(out, cxx);
}

/* Name of the @n-th tile, from 0, that the C++ declares. */
static void tile_name(char name[32], int n)
{
	const char *at = out;

	for (int i = 0; i <= n; i++) {
		at = strstr(at, "CompactMode::Null> ");
		assert_non_null(at);
		at += strlen("CompactMode::Null> ");
	}
	snprintf(name, 32, "%.*s", (int)strcspn(at, "; ("), at);
}

static void isa_case_44_the_requirements_kernel(void **state)
{
	char a[32], b[32], d[32], call[128];

	(void)state;
	accepted(mul_kernel, NULL, "TMUL(");
	tile_name(a, 0), tile_name(b, 1), tile_name(d, 2);
	snprintf(call, sizeof(call), "TMUL(%s, %s, %s);", d, a, b);
	has(out, call);
	snprintf(call, sizeof(call), "TLOAD(%s, ", a);
	has(strstr(out, call), "TLOAD(");
	snprintf(call, sizeof(call), ", %s);", d);
	has(strstr(out, "TSTORE("), call);
}

static void isa_case_46_entry_functions_return_nothing(void **state)
{
	(void)state;
	refused("module {\n  func.func @a() -> i32 attributes {pto.entry} {\n"
		"    %x = arith.constant 1 : i32\n    return %x : i32\n  }\n}\n",
		NULL, "PTO entry functions must return void");
}

static void isa_case_47_addresses_belong_to_level3(void **state)
{
	static const char with[] = "module {\n  func.func @k() {\n"
				   "    %l = arith.constant 0 : i64\n"
				   "    %t = pto.alloc_tile addr = %l : " TILE "\n"
				   "    return\n  }\n}\n";
	static const char without[] = "module {\n  func.func @k() {\n"
				      "    %t = pto.alloc_tile : " TILE "\n"
				      "    return\n  }\n}\n";

	(void)state;
	refused(with, "--pto-level=level2",
		"unexpected 'addr' operand: only supported when --pto-level=level3");
	refused(without, "--pto-level=level3", "requires 'addr' operand when --pto-level=level3");
	accepted(with, "--pto-level=level3", "void k(");
	accepted(without, "--pto-level=level2", "void k(");
}

static void isa_case_48_a_dynamic_extent_needs_its_operand(void **state)
{
	(void)state;
	refused("module {\n  func.func @k(%n: index) {\n"
		"    %t = pto.alloc_tile valid_col = %n : !pto.tile_buf<loc=vec, dtype=f32, "
		"rows=16, cols=16, v_row=?, v_col=?, blayout=row_major, slayout=none_box, "
		"fractal=512, pad=0>\n    return\n  }\n}\n",
		NULL, "valid_row operand is required because result type v_row is ?");
}

#define LEFT(module, layout) \
	"module " module "{\n  func.func @k() {\n" \
	"    %t = pto.alloc_tile : !pto.tile_buf<loc=left, dtype=f16, rows=16, cols=16, v_row=16, " \
	"v_col=16, blayout=" layout ", slayout=row_major, fractal=512, pad=0>\n" \
	"    return\n  }\n}\n"
#define EMITTED(layout) \
	"TileType::Left, half, 16, 16, BLayout::" layout ", 16, 16, SLayout::RowMajor"

static void isa_case_49_architectures(void **state)
{
	(void)state;
	refused(mul_kernel, "--pto-arch=a7",
		"Error: invalid --pto-arch='a7'. Expected 'a3' or 'a5'.");
	refused(mul_kernel, "--pto-level=level4",
		"Error: invalid --pto-level='level4'. Expected 'level1', 'level2', or 'level3'.");
	accepted(LEFT("attributes {pto.target_arch = \"a2a3\"} ", "col_major"), NULL,
		 EMITTED("RowMajor"));
	accepted(LEFT("attributes {pto.target_arch = \"a5\"} ", "row_major"), NULL,
		 EMITTED("ColMajor"));
	accepted(LEFT("attributes {pto.target_arch = \"a2a3\"} ", "row_major"), "--pto-arch=A5",
		 EMITTED("ColMajor"));
}

static void isa_case_50_left_tiles_are_emitted_as_the_architecture_has_them(void **state)
{
	(void)state;
	accepted(LEFT("", "col_major"), "--pto-arch=a3", EMITTED("RowMajor"));
	accepted(LEFT("", "row_major"), "--pto-arch=a3", EMITTED("RowMajor"));
	accepted(LEFT("", "row_major"), "--pto-arch=a5", EMITTED("ColMajor"));
	accepted(LEFT("", "col_major"), "--pto-arch=a5", EMITTED("ColMajor"));
}

static char *live_tiles(int n)
{
	char *text, *at;
	size_t room = 65536;

	text = at = malloc(room);
	assert_non_null(text);
	at += sprintf(at, "module {\n  func.func @k(%%f: f32) {\n");
	for (int i = 0; i < n; i++)
		at += sprintf(at, "    %%t%d = pto.alloc_tile : !pto.tile_buf<vec, 64x32xf32>\n"
			      "    pto.texpands ins(%%f : f32) outs(%%t%d : "
			      "!pto.tile_buf<vec, 64x32xf32>)\n", i, i);
	for (int i = 1; i < n; i++)
		at += sprintf(at, "    pto.tadd ins(%%t0, %%t%d : !pto.tile_buf<vec, 64x32xf32>, "
			      "!pto.tile_buf<vec, 64x32xf32>) outs(%%t0 : "
			      "!pto.tile_buf<vec, 64x32xf32>)\n", i);
	at += sprintf(at, "    return\n  }\n}\n");
	assert_true((size_t)(at - text) < room);
	return text;
}

static void isa_case_51_the_vector_buffer_holds_24_tiles_of_8_kilobytes(void **state)
{
	char *text = live_tiles(25);

	(void)state;
	refused(text, "--pto-arch=a3",
		"vec overflow, requires 1638400 bits while 1572864 bits avaliable!");
	free(text);
	text = live_tiles(24);
	accepted(text, "--pto-arch=a3", "TADD(");
	free(text);
}

static void isa_case_59_every_name_is_emitted(void **state)
{
	static const char kernel[] =
		"module {\n  func.func @k(%p: !pto.ptr<i32>, %q: !pto.ptr<f16>, %f: f32) {\n"
		"    %c1 = arith.constant 1 : index\n    %c16 = arith.constant 16 : index\n"
		"    %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : "
		"!pto.tensor_view<?x?xi32>\n"
		"    %w = pto.make_tensor_view %q, shape = [%c16, %c16], strides = [%c16, %c1] : "
		"!pto.tensor_view<?x?xf16>\n"
		"    %i = pto.alloc_tile : !pto.tile_buf<vec, 16x16xi32>\n"
		"    %t = pto.alloc_tile : " TILE "\n    %d = pto.alloc_tile : " TILE "\n"
		"    %m = pto.alloc_tile : !pto.tile_buf<vec, 16x32xi8>\n"
		"    %x = pto.alloc_tile : !pto.tile_buf<vec, 16x32xi8>\n"
		"    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, "
		"slayout=row_major, fractal=1024>\n"
		"    %s = pto.alloc_tile : !pto.tile_buf<scaling, 1x16xui64>\n"
		"    %s\n    return\n  }\n}\n";
	static const struct {
		const char *line, *cxx;
	} forms[] = {
		{ "pto.tmscatter ins(%i, %i : !pto.tile_buf<...>, !pto.tile_buf<...>) outs(%v : "
		  "!pto.tensor_view<?x?xi32>)", "MSCATTER" },
		{ "pto.mscatter ins(%i, %i : !pto.tile_buf<...>, !pto.tile_buf<...>) outs(%v : "
		  "!pto.tensor_view<?x?xi32>)", "MSCATTER" },
		{ "pto.tstore.fp ins(%a, %s : !pto.tile_buf<...>, !pto.tile_buf<...>) outs(%w : "
		  "!pto.tensor_view<?x?xf16>)", "TSTORE_FP" },
		{ "pto.tstore_fp ins(%a, %s : !pto.tile_buf<...>, !pto.tile_buf<...>) outs(%w : "
		  "!pto.tensor_view<?x?xf16>)", "TSTORE_FP" },
		{ "pto.tselc ins(%m, %t, %x, %f : !pto.tile_buf<...>, !pto.tile_buf<...>, "
		  "!pto.tile_buf<...>, f32) outs(%d : !pto.tile_buf<...>)", "TSELS" },
		{ "pto.tsels ins(%m, %t, %x, %f : !pto.tile_buf<...>, !pto.tile_buf<...>, "
		  "!pto.tile_buf<...>, f32) outs(%d : !pto.tile_buf<...>)", "TSELS" },
	};
	const char *place = strstr(kernel, "    %s\n");
	char text[8192], call[32];

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(text, sizeof(text), "%.*s    %s\n%s", (int)(place - kernel), kernel,
			 forms[i].line, place + strlen("    %s\n"));
		snprintf(call, sizeof(call), "\n  %s", forms[i].cxx);
		accepted(text, NULL, call);
	}
}

static void isa_case_60_a_failure_leaves_no_output(void **state)
{
	static const char no_return[] = "module {\n  func.func @a() {\n  }\n}\n";
	static const char unknown[] = "module {\n  pto.tfoo\n}\n";
	char file[] = "/tmp/ptoas-out-XXXXXX", *overflow = live_tiles(25);
	const char *const wrong[] = { no_return, unknown, overflow, "PTOBC" };
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(ptoas(mul_kernel, "-o", file, NULL), 0);
		assert_int_equal(access(file, R_OK), 0);
		assert_int_equal(ptoas(wrong[i], "-o", file, NULL), 1);
		assert_int_not_equal(access(file, F_OK), 0);
	}
	assert_int_equal(ptoas(mul_kernel, "-o", file, "--pto-arch=a7"), 1);
	assert_int_not_equal(access(file, F_OK), 0);
	free(overflow);
}

static void errors_end_with_the_line_of_their_stage(void **state)
{
	(void)state;
	refused("module {\n  pto.tfoo\n}\n", NULL, "Error: Failed to parse MLIR.");
	refused("PTOBC", NULL, "Error: Failed to parse MLIR.");
	refused(mul_kernel, "--pto-level=level3", "Error: Pass execution failed.");
	refused("", "/nonexistent/file.pto", "Error: Could not open input file: ");
	refused("module {\n  pto.tfoo\n}\n", "--json-diagnostics", "\"severity\": \"error\"");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(isa_case_44_the_requirements_kernel),
		cmocka_unit_test(isa_case_46_entry_functions_return_nothing),
		cmocka_unit_test(isa_case_47_addresses_belong_to_level3),
		cmocka_unit_test(isa_case_48_a_dynamic_extent_needs_its_operand),
		cmocka_unit_test(isa_case_49_architectures),
		cmocka_unit_test(isa_case_50_left_tiles_are_emitted_as_the_architecture_has_them),
		cmocka_unit_test(isa_case_51_the_vector_buffer_holds_24_tiles_of_8_kilobytes),
		cmocka_unit_test(isa_case_59_every_name_is_emitted),
		cmocka_unit_test(isa_case_60_a_failure_leaves_no_output),
		cmocka_unit_test(errors_end_with_the_line_of_their_stage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
