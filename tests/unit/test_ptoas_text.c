/* SPDX-License-Identifier: MIT */
/* Every way to write an operation, and the one in which it is printed. Spec pto-isa.md 8. */
#define _GNU_SOURCE
#include "ptoas_fixture.h"

#define A3	PTO_ARCH_A3
#define A5	PTO_ARCH_A5
#define TILE	"!pto.tile_buf<vec, 16x16xf32>"

/* A body whose last line is printed as @printed; @before stands above it. */
static const struct {
	enum pto_arch arch;
	const char *before, *line, *printed;
} forms[] = {
	/* types: long, short, abbreviated; left tiles follow the architecture (case 50) */
	{ A3, "", "%t = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, "
		  "v_row=16, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>",
	  "%t = pto.alloc_tile : " TILE },
	{ A3, "", "%t = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, ...>",
	  "%t = pto.alloc_tile : " TILE },
	{ A3, "", "%t = pto.alloc_tile valid_row = %n valid_col = %c16 : !pto.tile_buf<loc=acc, "
		  "dtype=f32, rows=16, cols=16, v_row=?, v_col=-1, blayout=col_major, "
		  "slayout=row_major, fractal=1024, pad=3, compact=2>",
	  "%t = pto.alloc_tile valid_row = %n valid_col = %c16 : !pto.tile_buf<acc, 16x16xf32, "
	  "valid=?x?, blayout=col_major, slayout=row_major, fractal=1024, pad=3, compact=2>" },
	/* a pad of its own: 2^32 and the bits of 1.0 */
	{ A3, "", "%t = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f16, rows=16, cols=16, v_row=16, "
		  "v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=4294982656>",
	  "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf16, pad=4294982656>" },
	{ A3, "", "%t = pto.alloc_tile : !pto.tile_buf<left, 16x16xf16, blayout=col_major>",
	  "%t = pto.alloc_tile : !pto.tile_buf<left, 16x16xf16>" },
	{ A5, "", "%t = pto.alloc_tile : !pto.tile_buf<left, 16x16xf16, blayout=row_major>",
	  "%t = pto.alloc_tile : !pto.tile_buf<left, 16x16xf16, blayout=col_major>" },
	{ A3, "", "%t = pto.alloc_tile : !pto.tile_buf<vec, 0x16xf32>",
	  "%t = pto.alloc_tile : !pto.tile_buf<vec, 0x16xf32>" },
	{ A3, "", "%t = pto.alloc_tile addr = %l : " TILE,
	 "%t = pto.alloc_tile addr = %l : " TILE },
	{ A3, "", "%m = pto.alloc_multi_tile valid_row = %n valid_col = %n : !pto.multi_tile_buf<"
		  "!pto.tile_buf<vec, 16x16xf32, valid=?x?>, count=2>",
	  "%m = pto.alloc_multi_tile valid_row = %n valid_col = %n : !pto.multi_tile_buf<"
	  "tile_buf<vec, 16x16xf32, valid=?x?>, count=2>" },
	/* both spellings of operand types */
	{ A3, "%t = pto.alloc_tile : " TILE "\n",
	  "pto.tadd ins(%t : " TILE ", %t : " TILE ") outs(%t : " TILE ")",
	  "pto.tadd ins(%t, %t : " TILE ", " TILE ") outs(%t : " TILE ")" },
	{ A3, "%t = pto.alloc_tile : " TILE "\n",
	  "pto.tadd ins(%t : !pto.tile_buf<...>, %t : !pto.tile_buf<...>) outs(%t : "
	  "!pto.tile_buf<...>)",
	  "pto.tadd ins(%t, %t : " TILE ", " TILE ") outs(%t : " TILE ")" },
	{ A3, "%t = pto.alloc_tile : " TILE "\n",
	  "\"pto.tadd\"(%t, %t, %t) : (" TILE ", " TILE ", " TILE ") -> ()",
	  "pto.tadd ins(%t, %t : " TILE ", " TILE ") outs(%t : " TILE ")" },
	{ A3, "%t = pto.alloc_tile : " TILE "\n",
	  "pto.textract ins(%t[%c0, %c1] : " TILE ") outs(%t : " TILE ")",
	  "pto.textract ins(%t, %c0, %c1 : " TILE ", index, index) outs(%t : " TILE ")" },
	{ A3, "%t = pto.alloc_tile : " TILE "\n", "pto.tassign ins(%t, %l)",
	  "pto.tassign ins(%t, %l : " TILE ", i64)" },
	{ A3, "%t = pto.alloc_tile : " TILE "\n",
	  "pto.tprint ins(%t | !pto.partition_tensor_view<MxNxdtype>)",
	  "pto.tprint ins(%t : " TILE ")" },
	/* attributes in every place and spelling */
	{ A3,
	 "%t = pto.alloc_tile : " TILE "\n%m = pto.alloc_tile : !pto.tile_buf<vec, 16x32xi8>\n",
	  "pto.tcmps ins(%t, %one {cmpMode = #pto<cmp gt>} : " TILE ", f32) "
	  "outs(%m : !pto.tile_buf<vec, 16x32xi8>)",
	  "pto.tcmps ins(%t, %one {cmpMode = #pto.cmp<gt>} : " TILE ", f32) "
	  "outs(%m : !pto.tile_buf<vec, 16x32xi8>)" },
	{ A3,
	 "%t = pto.alloc_tile : " TILE "\n%m = pto.alloc_tile : !pto.tile_buf<vec, 16x32xi8>\n",
	  "pto.tcmps ins(%t, %one : " TILE ", f32) outs(%m : !pto.tile_buf<vec, 16x32xi8>) "
	  "{cmpMode = <le>}",
	  "pto.tcmps ins(%t, %one {cmpMode = #pto.cmp<le>} : " TILE ", f32) "
	  "outs(%m : !pto.tile_buf<vec, 16x32xi8>)" },
	{ A3, "%t = pto.alloc_tile : " TILE "\n",
	  "pto.tgather ins(%t, {maskPattern = #pto.mask_pattern<P0101>} : " TILE ", \"row\") "
	  "outs(%t : "
	  TILE ")",
	  "pto.tgather ins(%t, {maskPattern = #pto.mask_pattern<P0101>} : " TILE ", \"row\") "
	  "outs(%t : "
	  TILE ")" },
	{ A3, "%t = pto.alloc_tile : !pto.tile_buf<vec, 1x16xi32>\n",
	  "pto.tci ins(%i : i32) outs(%t : !pto.tile_buf<vec, 1x16xi32>) {descending = true}",
	  "pto.tci ins(%i {descending = true} : i32) outs(%t : !pto.tile_buf<vec, 1x16xi32>)" },
	{ A3, "%t = pto.alloc_tile : " TILE "\n",
	  "\"pto.ttri\"(%i, %t) {upperOrLower = 1 : i32} : (i32, " TILE ") -> ()",
	  "pto.ttri ins(%i {upperOrLower = 1 : i32} : i32) outs(%t : " TILE ")" },
	{ A3, "", "pto.set_flag[#pto.pipe<PIPE_MTE2>, #pto<pipe PIPE_V>, <EVENT_ID3>]",
	  "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]" },
	{ A3, "",
	 "\"pto.set_flag\"() {src_pipe = 4 : i64, dst_pipe = #pto.pipe<PIPE_V>, event_id = "
		  "#pto.event<EVENT_ID3>} : () -> ()",
	  "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]" },
	{ A3, "", "pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 2 : i32}",
	  "pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 2 : i32}" },
	{ A3, "", "pto.sync.wait <PIPE_FIX>, %n", "pto.sync.wait <PIPE_FIX>, %n" },
	{ A3, "", "pto.syncall() mode = #pto.sync_all_mode<hard>, "
		  "core_type = #pto.sync_core_type<mix>",
	  "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>" },
	{ A3, "", "pto.cmo.cacheinvalid %pf single_cache_line : !pto.ptr<f32>",
	  "pto.cmo.cacheinvalid %pf single_cache_line : !pto.ptr<f32>" },
	{ A3, "", "pto.cmo.cacheinvalid all #pto.address_space<gm>",
	  "pto.cmo.cacheinvalid all #pto.address_space<gm>" },
	/* other spellings of names (section 1, case 59) */
	{ A3, "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xi32>\n"
	      "%q = pto.make_tensor_view %pi, shape = [%c16, %c16], strides = [%c16, %c1] : "
	      "!pto.tensor_view<?x?xi32>\n",
	  "pto.tmscatter ins(%t, %t : !pto.tile_buf<vec, 16x16xi32>, !pto.tile_buf<vec, "
	  "16x16xi32>) "
	  "outs(%q : !pto.tensor_view<?x?xi32>)",
	  "pto.mscatter ins(%t, %t : !pto.tile_buf<vec, 16x16xi32>, !pto.tile_buf<vec, 16x16xi32>) "
	  "outs(%q : !pto.tensor_view<?x?xi32>)" },
	{ A3,
	 "%t = pto.alloc_tile : " TILE "\n%m = pto.alloc_tile : !pto.tile_buf<vec, 16x32xui8>\n",
	  "pto.tselc ins(%m, %t, %t, %one : !pto.tile_buf<vec, 16x32xui8>, " TILE ", " TILE
	  ", f32) outs(%t : " TILE ")",
	  "pto.tsels ins(%m, %t, %t, %one : !pto.tile_buf<vec, 16x32xui8>, " TILE ", " TILE
	  ", f32) outs(%t : " TILE ")" },
	/* views: newline is space, the comma may be absent */
	{ A3, "", "%v = pto.make_tensor_view %pf, shape = [%n, %c16]\n strides = [%c16, %c1]\n"
		  " {layout = #pto.layout<nd>}\n : !pto.tensor_view<?x?xf32>",
	  "%v = pto.make_tensor_view %pf, shape = [%n, %c16], strides = [%c16, %c1] "
	  "{layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>" },
	/* scalars */
	{ A3, "", "%x = arith.constant 0xff : i32", "%x = arith.constant 255 : i32" },
	{ A3, "", "%x = arith.constant -1 : i8", "%x = arith.constant -1 : i8" },
	{ A3, "", "%x = arith.constant 1.5e-3 : f16", "%x = arith.constant 1.5e-3 : f16" },
	{ A3, "", "%x = arith.constant 0x7F800000 : f32", "%x = arith.constant 0x7F800000 : f32" },
	{ A3, "", "%x = arith.constant dense<0> : vector<4xi16>",
	  "%x = arith.constant dense<0> : vector<4xi16>" },
	{ A3, "", "%x = arith.constant false", "%x = arith.constant false" },
	{ A3, "", "%x = \"arith.cmpi\"(%n, %n) {predicate = 2 : i64} : (index, index) -> i1",
	  "%x = arith.cmpi slt, %n, %n : index" },
	{ A3, "", "%x:2 = arith.mulsi_extended %i, %i : i32",
	  "%0, %1 = arith.mulsi_extended %i, %i : i32" },
	{ A3, "", "%x, %y = arith.addui_extended %i, %i : i32, i1",
	  "%x, %y = arith.addui_extended %i, %i : i32, i1" },
	{ A3, "", "%x = pto.load_scalar %pf[%n] : !pto.ptr<f32> -> f32",
	  "%x = pto.load_scalar %pf[%n] : !pto.ptr<f32> -> f32" },
	{ A3, "", "pto.store_scalar %f, %pf[%n] : !pto.ptr<f32>, f32",
	  "pto.store_scalar %f, %pf[%n] : !pto.ptr<f32>, f32" },
	/* places */
	{ A3, "", "pto.trap loc(\"a b.py\":12:3)", "pto.trap loc(\"a b.py\":12:3)" },
	{ A3, "", "pto.trap loc(unknown)", "pto.trap loc(unknown)" },
	{ A3, "", "pto.trap // remark", "pto.trap" },
	{ A3, "", "pto.print ins(\"a\\\"b\\n\\09\", %f : f32)",
	  "pto.print ins(\"a\\\"b\\0A\\09\", %f : f32)" },
};

static bool prints_as(size_t i)
{
	char *body = NULL, *printed, *line;
	struct program p;
	size_t lines = 0, k;
	bool ok;

	assert_true(asprintf(&body, "%s%s\n", forms[i].before, forms[i].line) > 0);
	for (k = 0; forms[i].before[k]; k++)
		lines += forms[i].before[k] == '\n';
	program_body(&p, forms[i].arch, body);
	if (!p.m) {
		program_show(&p);
		program_end(&p);
		free(body);
		return false;
	}
	printed = program_print(&p);
	line = text_line(printed, BODY_HEAD_LINES + (unsigned int)lines + 1);
	ok = !strcmp(line, forms[i].printed);
	if (!ok)
		print_error("wrote:  %s\nwanted: %s\nhave:   %s\n", forms[i].line,
			    forms[i].printed, line);
	free(line);
	free(printed);
	free(body);
	program_end(&p);
	return ok;
}

static void each_form_is_printed_in_its_normal_form(void **state)
{
	unsigned int failures = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		failures += !prints_as(i);
	assert_int_equal(failures, 0);
}

/* A printed program parses to a program that is printed alike. */
static void assert_fixed_point(const char *text)
{
	struct program p, q;
	char *first, *second;

	program_parse(&p, PTO_ARCH_A3, text);
	if (!p.m)
		program_show(&p);
	assert_non_null(p.m);
	first = program_print(&p);
	program_parse(&q, PTO_ARCH_A3, first);
	if (!q.m)
		program_show(&q);
	assert_non_null(q.m);
	second = program_print(&q);
	assert_string_equal(first, second);
	free(first);
	free(second);
	program_end(&p);
	program_end(&q);
}

static const char control_flow[] =
	"module @m attributes {pto.target_arch = \"a2a3\", \"odd name\" = [1, 2.5, \"x\", {k}]} {\n"
	"  func.func private @ext(!pto.ptr<f32>, i32) -> i32\n"
	"  func.func @k(%p: !pto.ptr<f32> {pto.x}, %n: index, %b: i1) attributes {pto.entry} {\n"
	"    %c0 = arith.constant 0 : index\n"
	"    %c1 = arith.constant 1 : index\n"
	"    %z = arith.constant 0.0 : f32\n"
	"    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z, %y = %z) -> (f32, f32) {\n"
	"      %s = arith.addf %x, %y : f32\n"
	"      scf.yield %y, %s : f32, f32\n"
	"    }\n"
	"    scf.for %i = %c0 to %n step %c1 {\n"
	"      scf.if %b {\n"
	"        pto.trap\n"
	"      } else {\n"
	"        pto.trap\n"
	"      }\n"
	"    }\n"
	"    %q = scf.if %b -> (f32) {\n"
	"      scf.yield %r#0 : f32\n"
	"    } else {\n"
	"      scf.yield %r#1 : f32\n"
	"    }\n"
	"    %w = scf.while (%a = %c0) : (index) -> index {\n"
	"      %t = arith.cmpi slt, %a, %n : index\n"
	"      scf.condition(%t) %a : index\n"
	"    } do {\n"
	"    ^bb0(%d: index):\n"
	"      %e = arith.addi %d, %c1 : index\n"
	"      scf.yield %e : index\n"
	"    }\n"
	"    %sw = scf.index_switch %w -> f32\n"
	"    case 2 { scf.yield %z : f32 }\n"
	"    case -5 { scf.yield %q : f32 }\n"
	"    default { scf.yield %z : f32 }\n"
	"    %ex = scf.execute_region -> f32 {\n"
	"      cf.cond_br %b, ^one(%sw : f32), ^two\n"
	"    ^one(%u: f32):\n"
	"      scf.yield %u : f32\n"
	"    ^two:\n"
	"      scf.yield %z : f32\n"
	"    }\n"
	"    %i32 = arith.constant 7 : i32\n"
	"    %call = func.call @ext(%p, %i32) : (!pto.ptr<f32>, i32) -> i32\n"
	"    pto.section.vector {\n"
	"      %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>\n"
	"      pto.tpush_to_aic(%t : !pto.tile_buf<vec, 16x16xf32>) {split = 0}\n"
	"    }\n"
	"    func.return\n"
	"  }\n"
	"}\n";

static void control_flow_is_a_fixed_point_of_parsing_and_printing(void **state)
{
	struct program p;

	(void)state;
	assert_fixed_point(control_flow);
	program_parse(&p, PTO_ARCH_A3, control_flow);
	if (program_verify(&p))
		program_show(&p);
	assert_int_equal(p.diags.errors, 0);
	program_end(&p);
}

static void module_wrapper_may_be_missing(void **state)
{
	(void)state;
	assert_fixed_point("func.func @a() {\n  return\n}\nfunc.func @b() {\n  return\n}\n");
	assert_fixed_point("");
}

static void values_made_without_names_get_free_numbers(void **state)
{
	struct program p;
	struct pto_op *op;
	char *text;

	(void)state;
	program_body(&p, PTO_ARCH_A3, "    %0 = arith.addi %n, %n : index\n");
	assert_non_null(p.m);
	op = p.m->first->op->region[0].first->first;
	assert_non_null(pto_const_before(p.m, op, PTO_I64, 42));
	text = program_print(&p);
	assert_non_null(strstr(text, "%1 = arith.constant 42 : i64\n"));
	assert_non_null(strstr(text, "%0 = arith.addi %n, %n : index\n"));
	assert_fixed_point(text);
	free(text);
	program_end(&p);
}

static void architecture_comes_from_the_option_then_from_the_text(void **state)
{
	static const char a5[] = "module attributes {pto.target_arch = \"a5\"} {\n}\n";
	static const char other[] = "module attributes {pto.target_arch = \"a2a3\"} {\n}\n";
	struct pto_options o = { .arch_given = true, .arch = PTO_ARCH_A3 };
	struct pto_diags d;
	struct pto_module *m;

	(void)state;
	pto_diags_init(&d);
	m = pto_parse("t", a5, strlen(a5), NULL, &d);
	assert_int_equal(m->arch, PTO_ARCH_A5);
	pto_module_free(m);
	m = pto_parse("t", a5, strlen(a5), &o, &d);
	assert_int_equal(m->arch, PTO_ARCH_A3);
	pto_module_free(m);
	m = pto_parse("t", other, strlen(other), NULL, &d);
	assert_int_equal(m->arch, PTO_ARCH_A3);
	pto_module_free(m);
	pto_diags_fini(&d);
}

static void requirement_document_example_parses_as_it_is_printed_there(void **state)
{
	struct program p;

	(void)state;
	program_parse(&p, PTO_ARCH_A3,
		      "module {\n"
		      "  func.func @mul(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>) {\n"
		      "    %c32 = arith.constant 32 : index\n"
		      "    %c1 = arith.constant 1 : index\n"
		      "    %c0 = arith.constant 0 : index\n"
		      "    %3 = pto.make_tensor_view %arg0, shape = [%c32, %c32], strides = "
		      "[%c32, %c1]\n"
		      "         : !pto.tensor_view<?x?xf32>\n"
		      "    %0 = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=32, "
		      "cols=32, ...>\n"
		      "    %6 = pto.partition_view %3, offsets = [%c0, %c0], sizes = [%c32, %c32]\n"
		      "         : !pto.tensor_view<?x?xf32> -> "
		      "!pto.partition_tensor_view<32x32xf32>\n"
		      "    pto.tload ins(%6 : !pto.partition_tensor_view<32x32xf32>) outs(%0 : "
		      "!pto.tile_buf<...>)\n"
		      "    pto.tmul ins(%0 : !pto.tile_buf<...>, %0 : !pto.tile_buf<...>) outs(%0 "
		      ": "
		      "!pto.tile_buf<...>)\n"
		      "    return\n  }\n}\n");
	if (program_verify(&p))
		program_show(&p);
	assert_int_equal(p.diags.errors, 0);
	program_end(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_is_printed_in_its_normal_form),
		cmocka_unit_test(control_flow_is_a_fixed_point_of_parsing_and_printing),
		cmocka_unit_test(module_wrapper_may_be_missing),
		cmocka_unit_test(values_made_without_names_get_free_numbers),
		cmocka_unit_test(architecture_comes_from_the_option_then_from_the_text),
		cmocka_unit_test(requirement_document_example_parses_as_it_is_printed_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
