/* SPDX-License-Identifier: MIT */
/* Lines of the emitted C++, and what cannot be emitted. */
#define _GNU_SOURCE
#include "ptoas_fixture.h"

#define A3	PTO_ARCH_A3
#define A5	PTO_ARCH_A5
#define T	"!pto.tile_buf<vec, 16x16xf32>"
#define TILES	"    %a = pto.alloc_tile : " T "\n    %d = pto.alloc_tile : " T "\n"
#define COL	"!pto.tile_buf<vec, 64x8xf32, blayout=col_major>"
#define COL_OPEN "!pto.tile_buf<vec, 64x8xf32, valid=?x?, blayout=col_major>"
#define UNARY(op, attrs) \
	TILES "    pto." op " ins(%a : " T ") outs(%d : " T ")" attrs "\n"
#define LEFT	"!pto.tile_buf<left, 16x16xf16, blayout=row_major, slayout=row_major>"
#define RIGHT	"!pto.tile_buf<right, 16x16xf16, slayout=col_major>"
#define ACC	"!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"

static const struct {
	enum pto_arch arch;
	const char *body, *line;
} lines[] = {
	{ A3, UNARY("texp", " {precisionType = #pto<exp_precision high_precision>}"),
	  "TEXP<ExpAlgorithm::HIGH_PRECISION>(v" },
	{ A3, UNARY("tlog", " {precisionType = #pto<log_precision high_precision>}"),
	  "TLOG<LogAlgorithm::HIGH_PRECISION>(v" },
	{ A3, UNARY("tsqrt", " {precisionType = #pto<sqrt_precision default>}"),
	  "TSQRT<SqrtAlgorithm::DEFAULT>(v" },
	{ A3, UNARY("trsqrt", " {precisionType = #pto<rsqrt_precision high_precision>}"),
	  "TRSQRT<RsqrtAlgorithm::HIGH_PRECISION>(v" },
	{ A3, UNARY("trecip", " {precisionType = #pto<recip_precision high_precision>}"),
	  "TRECIP<RecipAlgorithm::HIGH_PRECISION>(v" },
	{ A3, TILES "    pto.tdiv ins(%a, %d : " T ", " T ") outs(%d : " T ") "
	  "{precisionType = #pto<div_precision high_precision>}\n",
	  "TDIV<DivAlgorithm::HIGH_PRECISION>(v" },
	{ A3, UNARY("texp", ""), "  TEXP(v" },
	{ A3, "    %x = pto.alloc_tile : " LEFT "\n    %y = pto.alloc_tile : " RIGHT "\n"
	  "    %c = pto.alloc_tile : " ACC "\n"
	  "    pto.tgemv ins(%x, %y : " LEFT ", " RIGHT ") outs(%c : " ACC ") "
	  "{accPhase = #pto<acc_phase partial>}\n", "TGEMV<AccPhase::Partial>(v" },
	{ A3, "    %t = memref.alloc() : memref<4x8x16xf32, #pto.address_space<vec>>\n",
	  "Tile<TileType::Vec, float, 32, 16, BLayout::RowMajor, 32, 16, SLayout::NoneBox, 512, " },
	{ A5, "    %t = memref.alloc() : memref<16x16xf16, #pto.address_space<left>>\n",
	  "Tile<TileType::Left, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, " },
	{ A5, "    %x = pto.alloc_tile : " COL "\n    %y = pto.alloc_tile : " COL "\n"
	  "    pto.tmov ins(%x : " COL ") outs(%y : " COL ")\n",
	  "Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, 8, 64, SLayout::NoneBox, 512, " },
	{ A5, "    %x = pto.alloc_tile valid_row = %n valid_col = %n : " COL_OPEN "\n"
	  "    %y = pto.alloc_tile : " COL "\n"
	  "    pto.tmov ins(%x : " COL_OPEN ") outs(%y : " COL ")\n",
	  ".GetValidCol(), v" },
	{ A3, "    %s = pto.build_async_session(%pf : !pto.ptr<f32>) -> !pto.async_session\n"
	  "    %e = pto.tget_async(%pf, %pf, %s : !pto.ptr<f32>, !pto.ptr<f32>, "
	  "!pto.async_session) -> !pto.async_event\n"
	  "    %t = pto.test_async_event(%e, %s : !pto.async_event, !pto.async_session) -> i1\n",
	  ".Test(v" },
};

static const struct {
	const char *body, *message;
} refusals[] = {
	{ "    cf.br ^bb1\n  ^bb1:\n", "has blocks with jumps between them" },
	{ "    %t = memref.alloc() : memref<16x?xf32, #pto.address_space<vec>>\n",
	  "needs constant dimensions" },
	{ "    %t = memref.alloc() : memref<16x16xf32>\n",
	  "global memory cannot be allocated in a kernel" },
	{ "    pto.tsync ins(%i0 : i32)\n", "waits for something that is no !pto.async_event" },
};

/* C++ of a body, or its first error; to be freed. */
static char *emit(enum pto_arch arch, const char *body)
{
	struct program p;

	program_body(&p, arch, body);
	return program_emit(&p);
}

static void expect(enum pto_arch arch, const char *body, const char *what)
{
	char *got = emit(arch, body);

	if (!strstr(got, what))
		fail_msg("expected '%s' from\n%s\ngot\n%s", what, body,
			 strstr(got, "void k(") ? strstr(got, "void k(") : got);
	free(got);
}

static void operations_become_their_calls(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		expect(lines[i].arch, lines[i].body, lines[i].line);
}

static void what_has_no_c_plus_plus_is_refused_with_its_reason(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		expect(A3, refusals[i].body, refusals[i].message);
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void equal_operations_become_one_where_the_first_is_always_passed(void **state)
{
	char *got = emit(A3, "    %x = arith.muli %n, %c8 : index\n"
			 "    %y = arith.muli %n, %c8 : index\n"
			 "    %z = arith.addi %x, %y : index\n"
			 "    scf.if %b {\n      %u = arith.divsi %z, %c8 : index\n"
			 "      pto.store_scalar %i0, %pi[%u] : !pto.ptr<i32>, i32\n    }\n"
			 "    scf.if %b {\n      %u = arith.divsi %z, %c8 : index\n"
			 "      %v = arith.muli %n, %c8 : index\n"
			 "      %w = arith.addi %u, %v : index\n"
			 "      pto.store_scalar %i0, %pi[%w] : !pto.ptr<i32>, i32\n    }\n");
	const char *body = strstr(got, "void k(");

	(void)state;
	assert_non_null(body);
	assert_int_equal(count(body, "(uint64_t)v4 * "), 1);
	assert_int_equal(count(body, " / "), 2);
	free(got);
}

static void tiles_stay_apart_since_each_has_its_own_valid_shape(void **state)
{
	char *got = emit(A3, "    %t = pto.alloc_tile : " T "\n"
			 "    %x = pto.subview %t[%c0, %c0] sizes [8, 8] : " T
			 " -> !pto.tile_buf<vec, 8x8xf32>\n"
			 "    %y = pto.subview %t[%c0, %c0] sizes [8, 8] : " T
			 " -> !pto.tile_buf<vec, 8x8xf32>\n");

	(void)state;
	assert_int_equal(count(got, "TSUBVIEW("), 2);
	free(got);
}

static void the_generic_form_of_functions_reads_like_the_other(void **state)
{
	static const char generic[] =
		"\"builtin.module\"() ({\n"
		"  \"func.func\"() <{function_type = (!pto.ptr<f32>, index) -> (), sym_name = "
		"\"k\"}> ({\n"
		"  ^bb0(%p: !pto.ptr<f32>, %n: index):\n"
		"    %0 = \"arith.constant\"() {value = 1.0 : f32} : () -> f32\n"
		"    \"pto.store_scalar\"(%0, %p, %n) : (f32, !pto.ptr<f32>, index) -> ()\n"
		"    \"func.return\"() : () -> ()\n"
		"  }) {pto.entry} : () -> ()\n"
		"  \"func.func\"() ({\n  }) {function_type = (i32) -> i32, sym_name = \"e\", "
		"sym_visibility = \"private\"} : () -> ()\n"
		"}) {pto.target_arch = \"a5\"} : () -> ()\n";
	static const char plain[] =
		"module attributes {pto.target_arch = \"a5\"} {\n"
		"  func.func @k(%p: !pto.ptr<f32>, %n: index) attributes {pto.entry} {\n"
		"    %0 = arith.constant 1.0 : f32\n"
		"    pto.store_scalar %0, %p[%n] : !pto.ptr<f32>, f32\n    return\n  }\n"
		"  func.func private @e(i32) -> i32\n}\n";
	struct program p;
	char *text;

	(void)state;
	program_parse(&p, A5, generic);
	if (program_verify(&p))
		program_show(&p);
	assert_int_equal(p.diags.errors, 0);
	text = program_print(&p);
	assert_string_equal(text, plain);
	free(text);
	program_end(&p);
}

static void generic_functions_with_contradictions_are_refused(void **state)
{
	static const char *const texts[][2] = {
		{ "\"func.func\"() ({}) {sym_name = \"k\"} : () -> ()",
		  "a function needs sym_name and function_type" },
		{ "\"func.func\"() ({\n^bb0(%a: i32):\n\"func.return\"() : () -> ()\n}) "
		  "{sym_name = \"k\", function_type = () -> ()} : () -> ()",
		  "the first block has 1 arguments, the function 0" },
		{ "\"func.func\"() ({\n^bb0(%a: i32):\n\"func.return\"() : () -> ()\n}) "
		  "{sym_name = \"k\", function_type = (i64) -> ()} : () -> ()",
		  "argument 0 of the first block has another type" },
		{ "\"func.call\"() : () -> ()", "expected a function" },
	};
	struct program p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		program_parse(&p, A3, texts[i][0]);
		assert_null(p.m);
		if (!strstr(program_error(&p), texts[i][1]))
			fail_msg("expected '%s', got '%s'", texts[i][1], program_error(&p));
		program_end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_become_their_calls),
		cmocka_unit_test(what_has_no_c_plus_plus_is_refused_with_its_reason),
		cmocka_unit_test(equal_operations_become_one_where_the_first_is_always_passed),
		cmocka_unit_test(tiles_stay_apart_since_each_has_its_own_valid_shape),
		cmocka_unit_test(the_generic_form_of_functions_reads_like_the_other),
		cmocka_unit_test(generic_functions_with_contradictions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
