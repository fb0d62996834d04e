/* SPDX-License-Identifier: MIT */
/* Cases of pto-isa.md section 12 about the text and the verifier. */
#define _GNU_SOURCE
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

static void isa_case_44_requirement_text_is_accepted_with_the_destination_last(void **state)
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

static void isa_case_46_entry_function_with_a_result_is_refused(void **state)
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

static void isa_case_47_levels_decide_about_addresses(void **state)
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

static void isa_case_48_dynamic_extent_needs_its_operand(void **state)
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

static void isa_case_50_left_tiles_follow_the_architecture(void **state)
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

static void isa_case_56_comparison_mode_stands_inside_ins(void **state)
{
	(void)state;
	assert_accepts(A3, "    %t = pto.alloc_tile : " TILE "\n"
			   "    %m = pto.alloc_tile : !pto.tile_buf<vec, 16x32xi8>\n"
			   "    pto.tcmps ins(%t, %f {cmpMode = #pto<cmp gt>} : " ANY ", f32) "
			   "outs(%m : "
			   ANY ")\n");
}

static void isa_case_57_mask_pattern_stands_inside_ins(void **state)
{
	(void)state;
	assert_accepts(A3, "    %t = pto.alloc_tile : " TILE "\n"
			   "    pto.tgather ins(%t, {maskPattern = #pto.mask_pattern<P0010>} : " ANY
			   ") outs(%t : " ANY ")\n");
}

static void isa_case_59_both_names_of_an_operation_are_one(void **state)
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(isa_case_44_requirement_text_is_accepted_with_the_destination_last),
		cmocka_unit_test(isa_case_46_entry_function_with_a_result_is_refused),
		cmocka_unit_test(isa_case_47_levels_decide_about_addresses),
		cmocka_unit_test(isa_case_48_dynamic_extent_needs_its_operand),
		cmocka_unit_test(isa_case_50_left_tiles_follow_the_architecture),
		cmocka_unit_test(isa_case_56_comparison_mode_stands_inside_ins),
		cmocka_unit_test(isa_case_57_mask_pattern_stands_inside_ins),
		cmocka_unit_test(isa_case_59_both_names_of_an_operation_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
