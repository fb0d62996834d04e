/* SPDX-License-Identifier: MIT */
/*
 * Cases of pto-isa.md section 12 about the text, the verifier and the command.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/ptoas_fixture.h"

#define A3	PTO_ARCH_A3
#define A5	PTO_ARCH_A5
#define TILE	"!pto.tile_buf<vec, 16x16xf32>"
#define ANY	"!pto.tile_buf<...>"

static void assert_accepts(enum pto_arch arch, const char *body)
{
	struct program p;

	program_body(&p, arch, body);
	if (program_verify(&p))
		program_show(&p);
	assert_int_equal(p.diags.errors, 0);
	program_end(&p);
}

static void assert_refuses(const char *text, const char *message)
{
	struct program p;

	program_parse(&p, A3, text);
	assert_int_not_equal(program_verify(&p), 0);
	assert_non_null(strstr(program_error(&p), message));
	program_end(&p);
}

/* ---- The text -------------------------------------------------------------------------------- */

static const char mul_kernel[] =
	"module {\n"
	"  func.func @mul_kernel_2d(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, "
	"%arg2: !pto.ptr<f32>) {\n"
	"    %c32 = arith.constant 32 : index\n"
	"    %c1 = arith.constant 1 : index\n"
	"    %c0 = arith.constant 0 : index\n"
	"    %3 = pto.make_tensor_view %arg0, shape = [%c32, %c32], strides = [%c32, %c1]\n"
	"         : !pto.tensor_view<?x?xf32>\n"
	"    %5 = pto.make_tensor_view %arg2, shape = [%c32, %c32], strides = [%c32, %c1]\n"
	"         : !pto.tensor_view<?x?xf32>\n"
	"    %0 = pto.alloc_tile : !pto.tile_buf<vec, 32x32xf32>\n"
	"    %2 = pto.alloc_tile : !pto.tile_buf<vec, 32x32xf32>\n"
	"    %6 = pto.partition_view %3, offsets = [%c0, %c0], sizes = [%c32, %c32]\n"
	"         : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>\n"
	"    pto.tload ins(%6 : !pto.partition_tensor_view<32x32xf32>) outs(%0 : "
	"!pto.tile_buf<vec, 32x32xf32>)\n"
	"    pto.tmul ins(%0 : !pto.tile_buf<vec, 32x32xf32>, %0 : !pto.tile_buf<vec, 32x32xf32>) "
	"outs(%2 : !pto.tile_buf<vec, 32x32xf32>)\n"
	"    %8 = pto.partition_view %5, offsets = [%c0, %c0], sizes = [%c32, %c32]\n"
	"         : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>\n"
	"    pto.tstore ins(%2 : !pto.tile_buf<vec, 32x32xf32>) outs(%8 : "
	"!pto.partition_tensor_view<32x32xf32>)\n"
	"    return\n  }\n}\n";

static void case_44_requirement_text_is_accepted_with_the_destination_last(void **state)
{
	struct program p;
	const struct pto_op *op;

	(void)state;
	program_parse(&p, A3, mul_kernel);
	if (program_verify(&p))
		program_show(&p);
	assert_int_equal(p.diags.errors, 0);
	op = p.m->first->op->region[0].first->first;
	while (op->info->code != PTO_OP_TMUL)
		op = op->next;
	assert_string_equal(op->info->cxx, "TMUL");
	assert_string_equal(op->operand[2].value->name->text, "2");
	assert_int_equal(op->operand[2].role, PTO_ROLE_WRITE);
	program_end(&p);
}

static void case_46_entry_function_with_a_result_is_refused(void **state)
{
	(void)state;
	assert_refuses("module {\n  func.func @a() -> i32 attributes {pto.entry} {\n"
		       "    %x = arith.constant 1 : i32\n    return %x : i32\n  }\n}\n",
		       "PTO entry functions must return void");
	assert_refuses("module {\n  func.func @only() -> i32 {\n"
		       "    %x = arith.constant 1 : i32\n    return %x : i32\n  }\n}\n",
		       "PTO entry functions must return void");
}

static int run_level(struct program *p, enum pto_level level)
{
	p->options.level = level;
	return pto_run_passes(p->m, &p->options, &p->diags, NULL);
}

static void case_47_levels_decide_about_addresses(void **state)
{
	struct program p;

	(void)state;
	program_body(&p, A3, "    %t = pto.alloc_tile addr = %l : " TILE "\n");
	assert_int_equal(program_verify(&p), 0);
	assert_int_not_equal(run_level(&p, PTO_LEVEL2), 0);
	assert_string_equal(program_error(&p),
			    "'pto.alloc_tile' op unexpected 'addr' operand: only "
					       "supported when --pto-level=level3");
	program_end(&p);
	program_body(&p, A3, "    %t = pto.alloc_tile : " TILE "\n");
	assert_int_equal(program_verify(&p), 0);
	assert_int_not_equal(run_level(&p, PTO_LEVEL3), 0);
	assert_string_equal(program_error(&p),
			    "'pto.alloc_tile' op requires 'addr' operand when --pto-level=level3");
	program_end(&p);
}

static void case_48_dynamic_extent_needs_its_operand(void **state)
{
	struct program p;

	(void)state;
	program_body(&p, A3,
		     "    %t = pto.alloc_tile valid_col = %n : !pto.tile_buf<loc=vec, dtype=f32, "
			     "rows=16, cols=16, v_row=?, v_col=?, blayout=row_major, "
			     "slayout=none_box, "
			     "fractal=512, pad=0>\n");
	assert_int_not_equal(program_verify(&p), 0);
	assert_non_null(strstr(program_error(&p),
			       "valid_row operand is required because result type "
						  "v_row is ?"));
	program_end(&p);
}

static void case_50_left_tiles_follow_the_architecture(void **state)
{
	static const char body[] =
		"    %t = pto.alloc_tile : !pto.tile_buf<left, 16x16xf16, blayout=col_major, "
		"slayout=row_major>\n"
		"    %u = pto.alloc_tile : !pto.tile_buf<left, 16x16xf16, blayout=row_major, "
		"slayout=row_major>\n";
	struct program p;
	const struct pto_op *op;
	int arch;

	(void)state;
	for (arch = A3; arch <= A5; arch++) {
		program_body(&p, (enum pto_arch)arch, body);
		assert_non_null(p.m);
		op = p.m->first->op->region[0].first->last->prev;
		assert_int_equal(op->result[0].type->blayout,
				 arch == A5 ? PTO_COL_MAJOR : PTO_ROW_MAJOR);
		assert_ptr_equal(op->result[0].type, op->prev->result[0].type);
		program_end(&p);
	}
}

static void case_56_comparison_mode_stands_inside_ins(void **state)
{
	(void)state;
	assert_accepts(A3, "    %t = pto.alloc_tile : " TILE "\n"
			   "    %m = pto.alloc_tile : !pto.tile_buf<vec, 16x32xi8>\n"
			   "    pto.tcmps ins(%t, %f {cmpMode = #pto<cmp gt>} : " ANY ", f32) "
			   "outs(%m : "
			   ANY ")\n");
}

static void case_57_mask_pattern_stands_inside_ins(void **state)
{
	(void)state;
	assert_accepts(A3, "    %t = pto.alloc_tile : " TILE "\n"
			   "    pto.tgather ins(%t, {maskPattern = #pto.mask_pattern<P0010>} : " ANY
			   ") outs(%t : " ANY ")\n");
}

static void case_59_both_names_of_an_operation_are_one(void **state)
{
	static const struct {
		const char *name, *cxx;
	} names[] = {
		{ "pto.tmscatter", "MSCATTER" }, { "pto.mscatter", "MSCATTER" },
		{ "pto.tstore.fp", "TSTORE_FP" }, { "pto.tstore_fp", "TSTORE_FP" },
		{ "pto.tselc", "TSELS" }, { "pto.tsels", "TSELS" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(pto_op_info(pto_op_find(names[i].name,
							    strlen(names[i].name)))->cxx,
				    names[i].cxx);
	assert_accepts(A3, "    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xi32>\n"
			   "    %v = pto.make_tensor_view %pi, shape = [%c16, %c16], strides = "
			   "[%c16, %c1] "
			   ": !pto.tensor_view<?x?xi32>\n"
			   "    pto.tmscatter ins(%t, %t : " ANY ", " ANY ") outs(%v : "
			   "!pto.tensor_view<?x?xi32>)\n"
			   "    pto.mscatter ins(%t, %t : " ANY ", " ANY ") outs(%v : "
			   "!pto.tensor_view<?x?xi32>)\n");
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Path of the program. */
static const char *command(char path[PATH_MAX])
{
	const char *build = getenv("SIMPLER_BUILD_DIR");

	snprintf(path, PATH_MAX, "%s/ptoas", build ? build : "build");
	assert_int_equal(access(path, X_OK), 0);
	return path;
}

/* Runs the program on @text; its exit status, and standard error in @errors. */
static int run_command(const char *text, char *const argv[], char errors[4096])
{
	char in[] = "/tmp/ptoas-in-XXXXXX", err[] = "/tmp/ptoas-err-XXXXXX";
	int in_fd = mkstemp(in), err_fd = mkstemp(err), status;
	ssize_t n;
	pid_t pid;

	assert_true(in_fd >= 0 && err_fd >= 0);
	assert_int_equal(write(in_fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(lseek(in_fd, 0, SEEK_SET), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(in_fd, 0);
		dup2(null, 1);
		dup2(err_fd, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	n = pread(err_fd, errors, 4095, 0);
	assert_true(n >= 0);
	errors[n] = '\0';
	close(in_fd);
	close(err_fd);
	unlink(in);
	unlink(err);
	return WEXITSTATUS(status);
}

static void assert_command(const char *text, const char *option, int status, const char *message)
{
	char path[PATH_MAX], errors[4096];
	char *argv[] = { path, (char *)(uintptr_t)option, NULL };

	command(path);
	assert_int_equal(run_command(text, argv, errors), status);
	if (message && !strstr(errors, message))
		fail_msg("wanted: %s\nhave:   %s", message, errors);
}

static void case_44_command_accepts_the_requirement_text(void **state)
{
	(void)state;
	assert_command(mul_kernel, NULL, 0, NULL);
}

static void case_49_unknown_architecture_is_an_option_error(void **state)
{
	(void)state;
	assert_command(mul_kernel, "--pto-arch=a7", 1,
		       "Error: invalid --pto-arch='a7'. Expected 'a3' or 'a5'.");
	assert_command(mul_kernel, "--pto-level=level4", 1,
		       "Error: invalid --pto-level='level4'. Expected 'level1', 'level2', or "
		       "'level3'.");
	assert_command(mul_kernel, "--pto-arch=A5", 0, NULL);
}

static void errors_end_with_the_line_of_their_stage(void **state)
{
	(void)state;
	assert_command("module {\n  pto.tfoo\n}\n", NULL, 1, "Error: Failed to parse MLIR.");
	assert_command("PTOBC", NULL, 1, "Error: Failed to parse MLIR.");
	assert_command(mul_kernel, "--pto-level=level3", 1, "Error: Pass execution failed.");
	assert_command("", "/nonexistent/file.pto", 1, "Error: Could not open input file: ");
	assert_command("module {\n  pto.tfoo\n}\n", "--json-diagnostics", 1,
		       "\"severity\": \"error\"");
}

static void case_60_failed_input_leaves_no_output(void **state)
{
	char path[PATH_MAX], errors[4096], out[] = "/tmp/ptoas-out-XXXXXX";
	char *argv[] = { path, "-o", out, NULL };
	int fd;

	(void)state;
	command(path);
	fd = mkstemp(out);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(run_command("module {\n  func.func @a() {\n  }\n}\n", argv, errors), 1);
	assert_int_not_equal(access(out, F_OK), 0);
	assert_int_equal(run_command(mul_kernel, argv, errors), 0);
	assert_int_equal(access(out, R_OK), 0);
	unlink(out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_44_requirement_text_is_accepted_with_the_destination_last),
		cmocka_unit_test(case_46_entry_function_with_a_result_is_refused),
		cmocka_unit_test(case_47_levels_decide_about_addresses),
		cmocka_unit_test(case_48_dynamic_extent_needs_its_operand),
		cmocka_unit_test(case_50_left_tiles_follow_the_architecture),
		cmocka_unit_test(case_56_comparison_mode_stands_inside_ins),
		cmocka_unit_test(case_57_mask_pattern_stands_inside_ins),
		cmocka_unit_test(case_59_both_names_of_an_operation_are_one),
		cmocka_unit_test(case_44_command_accepts_the_requirement_text),
		cmocka_unit_test(case_49_unknown_architecture_is_an_option_error),
		cmocka_unit_test(errors_end_with_the_line_of_their_stage),
		cmocka_unit_test(case_60_failed_input_leaves_no_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
