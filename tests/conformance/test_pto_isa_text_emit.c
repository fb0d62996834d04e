/* SPDX-License-Identifier: MIT */
/* Numbered cases of the assembler's back half: planning, reserved buffers, synchronisation, C++. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/ptoas/ptoas.h"

#define TILE	"!pto.tile_buf<vec, 64x32xf32>"	/* 8192 bytes */
#define VIEW	"!pto.partition_tensor_view<64x32xf32>"
#define HEAD \
	"%c0 = arith.constant 0 : index\n" \
	"%c1 = arith.constant 1 : index\n" \
	"%c4 = arith.constant 4 : index\n" \
	"%c32 = arith.constant 32 : index\n" \
	"%c64 = arith.constant 64 : index\n" \
	"%w = pto.make_tensor_view %p, shape = [%c64, %c32], strides = [%c32, %c1] : " \
	"!pto.tensor_view<?x?xf32>\n" \
	"%v = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c64, %c32] : " \
	"!pto.tensor_view<?x?xf32> -> " VIEW "\n" \
	"%u = pto.make_tensor_view %r, shape = [%c64, %c32], strides = [%c32, %c1] : " \
	"!pto.tensor_view<?x?xf32>\n" \
	"%o = pto.partition_view %u, offsets = [%c0, %c0], sizes = [%c64, %c32] : " \
	"!pto.tensor_view<?x?xf32> -> " VIEW "\n"
#define FUNC(body)	"module {\nfunc.func @k(%p: !pto.ptr<f32>, %r: !pto.ptr<f32>) {\n" HEAD \
			body "return\n}\n}\n"

struct result {
	struct pto_text cpp;
	struct pto_diags diags;
	int ret;
};

static struct result assemble(const char *text, const struct pto_options *given)
{
	struct pto_options o = given ? *given : (struct pto_options){ .level = PTO_LEVEL2 };
	struct result r = { .ret = -1 };
	struct pto_module *m;

	pto_diags_init(&r.diags);
	m = pto_parse("case.pto", text, strlen(text), &o, &r.diags);
	if (m && !pto_verify(m, &o, &r.diags) && !pto_run_passes(m, &o, &r.diags, NULL))
		r.ret = pto_emit_cpp(m, &o, &r.diags, &r.cpp);
	pto_module_free(m);
	return r;
}

static void result_end(struct result *r)
{
	pto_text_free(&r->cpp);
	pto_diags_fini(&r->diags);
}

/* Behind @from, @what; fails the test when it is not there. */
static const char *after(const struct result *r, const char *from, const char *what)
{
	const char *at = strstr(from, what);

	if (!at) {
		pto_diags_print(&r->diags, stderr);
		fail_msg("'%s' is missing in\n%s", what, from);
	}
	return at + strlen(what);
}

static const char *body(const struct result *r, const char *name)
{
	if (r->ret)
		pto_diags_print(&r->diags, stderr);
	assert_int_equal(r->ret, 0);
	return after(r, r->cpp.data, name);
}

/* ---- Emission ------------------------------------------------------------------------------ */

static void isa_case_44_destination_comes_first_in_the_call(void **state)
{
	struct result r = assemble(FUNC(
		"%a = pto.alloc_tile : " TILE "\n%b = pto.alloc_tile : " TILE "\n"
		"%d = pto.alloc_tile : " TILE "\n"
		"pto.tload ins(%v : " VIEW ") outs(%a : " TILE ")\n"
		"pto.tload ins(%v : " VIEW ") outs(%b : " TILE ")\n"
		"pto.tmul ins(%a, %b : " TILE ", " TILE ") outs(%d : " TILE ")\n"
		"pto.tstore ins(%d : " TILE ") outs(%o : " VIEW ")\n"), NULL);
	char third[16], call[32];
	const char *at = body(&r, "AICORE void k(");

	(void)state;
	at = after(&r, after(&r, after(&r, at, "CompactMode::Null> "), "CompactMode::Null> "),
		   "CompactMode::Null> ");
	snprintf(third, sizeof(third), "%.*s", (int)strcspn(at, ";"), at);
	snprintf(call, sizeof(call), "TMUL(%s, ", third);
	after(&r, at, call);
	result_end(&r);
}

static void isa_case_45_qualifiers_and_order_of_functions(void **state)
{
	struct result r = assemble(FUNC(""), NULL);
	const char *at;

	(void)state;
	after(&r, body(&r, "using namespace pto;"), "\n__global__ AICORE void k(");
	result_end(&r);
	r = assemble("module {\nfunc.func @user() {\nfunc.call @helper() : () -> ()\nreturn\n}\n"
		     "func.func private @helper() {\nreturn\n}\n}\n", NULL);
	at = after(&r, body(&r, "using namespace pto;"), "\nstatic AICORE void helper(");
	after(&r, at, "\nAICORE void user(");
	result_end(&r);
}

static void isa_case_56_comparison_mode_is_the_last_argument(void **state)
{
	struct result r = assemble(FUNC(
		"%f = arith.constant 3.0 : f32\n%a = pto.alloc_tile : " TILE "\n"
		"%d = pto.alloc_tile : !pto.tile_buf<vec, 64x32xi8>\n"
		"pto.tcmps ins(%a, %f {cmpMode = #pto<cmp gt>} : " TILE ", f32) "
		"outs(%d : !pto.tile_buf<vec, 64x32xi8>)\n"), NULL);
	const char *at = after(&r, body(&r, "void k("), "TCMPS(");

	(void)state;
	assert_non_null(strstr(at, ", CmpMode::GT);"));
	assert_true(strstr(at, ", CmpMode::GT);") < strchr(at, '\n'));
	result_end(&r);
}

static void isa_case_57_mask_pattern_is_a_template_argument(void **state)
{
	struct result r = assemble(FUNC(
		"%a = pto.alloc_tile : " TILE "\n%d = pto.alloc_tile : " TILE "\n"
		"pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0010>} : " TILE ") "
		"outs(%d : " TILE ")\n"), NULL);
	const char *at = after(&r, body(&r, "void k("), "TGATHER<");

	(void)state;
	after(&r, at, ", MaskPattern::P0010>(");
	result_end(&r);
}

/* ---- Memory -------------------------------------------------------------------------------- */

/* @n tiles that are all filled before the first is stored. */
static char *live_together(unsigned int n)
{
	struct pto_text t = { 0 };
	unsigned int i;

	pto_text_str(&t, "module {\nfunc.func @k(%p: !pto.ptr<f32>, %r: !pto.ptr<f32>) {\n" HEAD);
	for (i = 0; i < n; i++)
		pto_text_printf(&t, "%%t%u = pto.alloc_tile : " TILE "\n"
				"pto.tload ins(%%v : " VIEW ") outs(%%t%u : " TILE ")\n", i, i);
	for (i = 0; i < n; i++)
		pto_text_printf(&t, "pto.tstore ins(%%t%u : " TILE ") outs(%%o : " VIEW ")\n", i);
	pto_text_str(&t, "return\n}\n}\n");
	return t.data;
}

static void isa_case_51_too_many_live_tiles_overflow(void **state)
{
	char *text = live_together(24);
	struct result r = assemble(text, NULL);

	(void)state;
	after(&r, body(&r, "void k("), ", 188416);");
	result_end(&r);
	free(text);
	text = live_together(25);
	r = assemble(text, NULL);
	assert_int_not_equal(r.ret, 0);
	assert_int_equal(r.diags.errors, 1);
	assert_string_equal(r.diags.first->text, "vec overflow, requires 1638400 bits while "
			    "1572864 bits avaliable!");
	result_end(&r);
	free(text);
}

static void isa_case_52_addresses_follow_the_lifetimes(void **state)
{
	struct result r = assemble(FUNC(
		"%a = pto.alloc_tile : " TILE "\n%b = pto.alloc_tile : " TILE "\n"
		"pto.tload ins(%v : " VIEW ") outs(%a : " TILE ")\n"
		"pto.tstore ins(%a : " TILE ") outs(%o : " VIEW ")\n"
		"pto.tload ins(%v : " VIEW ") outs(%b : " TILE ")\n"
		"pto.tstore ins(%b : " TILE ") outs(%o : " VIEW ")\n"), NULL);
	char *text = live_together(2);
	const char *at = body(&r, "void k(");

	(void)state;
	after(&r, after(&r, at, ", 0);"), ", 0);");
	result_end(&r);
	r = assemble(text, NULL);
	after(&r, after(&r, body(&r, "void k("), ", 0);"), ", 8192);");
	result_end(&r);
	free(text);
}

static void isa_case_53_reserved_buffer_gets_the_lowest_hole(void **state)
{
	struct result r = assemble(FUNC(
		"%a = pto.alloc_tile : " TILE "\n"
		"pto.tload ins(%v : " VIEW ") outs(%a : " TILE ")\n"
		"%x = pto.reserve_buffer {name = \"n\", size = 8192, location = "
		"#pto.address_space<vec>, auto = true} -> i32\n"), NULL);

	(void)state;
	after(&r, after(&r, body(&r, "void k("), ", 0);"), "const int32_t");
	after(&r, body(&r, "void k("), " = 8192;");
	result_end(&r);
}

/* ---- Synchronisation ----------------------------------------------------------------------- */

#define ONE_TILE \
	"%a = pto.alloc_tile : " TILE "\n" \
	"pto.tload ins(%v : " VIEW ") outs(%a : " TILE ")\n" \
	"pto.tadd ins(%a, %a : " TILE ", " TILE ") outs(%a : " TILE ")\n" \
	"pto.tstore ins(%a : " TILE ") outs(%o : " VIEW ")\n"

static void isa_case_54_flags_between_load_add_and_store(void **state)
{
	static const char *const order[] = {
		"TLOAD(", "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID",
		"wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID", "TADD(",
		"set_flag(PIPE_V, PIPE_MTE3, EVENT_ID",
		"wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID", "TSTORE(",
		"ptoas_auto_sync_tail(PTOAutoSyncTailMode::kBarrierAll);",
	};
	struct pto_options o = { .level = PTO_LEVEL2, .insert_sync = true };
	struct result r = assemble(FUNC(ONE_TILE), &o);
	const char *at = body(&r, "void k(");
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		at = after(&r, at, order[i]);
	assert_null(strchr(at, '('));	/* the tail is the last call */
	result_end(&r);
	r = assemble(FUNC(ONE_TILE), NULL);
	at = body(&r, "void k(");
	assert_null(strstr(at, "_flag("));
	assert_null(strstr(at, "ptoas_auto_sync_tail("));
	result_end(&r);
}

#define LEFT	"!pto.tile_buf<left, 16x16xf16, blayout=row_major, slayout=row_major>"
#define RIGHT	"!pto.tile_buf<right, 16x16xf16, blayout=row_major, slayout=col_major>"
#define ACC	"!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
#define MAT	"!pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>"

static void isa_case_55_reload_in_a_loop_waits_for_the_matmul_before(void **state)
{
	struct pto_options o = { .level = PTO_LEVEL2, .insert_sync = true };
	struct result r = assemble(FUNC(
		"%m = pto.alloc_tile : " MAT "\n%l = pto.alloc_tile : " LEFT "\n"
		"%x = pto.alloc_tile : " RIGHT "\n%acc = pto.alloc_tile : " ACC "\n"
		"scf.for %i = %c0 to %c4 step %c1 {\n"
		"pto.tmov ins(%m : " MAT ") outs(%l : " LEFT ")\n"
		"pto.tmatmul ins(%l, %x : " LEFT ", " RIGHT ") outs(%acc : " ACC ")\n}\n"), &o);
	const char *at = body(&r, "void k("), *loop = after(&r, at, "for (");

	(void)state;
	assert_true(after(&r, at, "set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);") < loop);
	at = after(&r, loop, "wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);");
	at = after(&r, after(&r, at, "TMATMUL("), "set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);");
	at = after(&r, after(&r, at, "}"), "wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);");
	after(&r, at, "ptoas_auto_sync_tail");
	result_end(&r);
}

/* ---- Pipes --------------------------------------------------------------------------------- */

static void isa_case_58_mixed_splits_are_refused(void **state)
{
	struct pto_options o = { .arch_given = true, .arch = PTO_ARCH_A5, .level = PTO_LEVEL2 };
	struct result r = assemble(
		"module {\nfunc.func @k() attributes {pto.kernel_kind = "
		"#pto.kernel_kind<cube>} {\n%z = arith.constant 0 : i32\n"
		"pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} "
		"(c2v_consumer_buf = %z : i32)\n"
		"%a = pto.alloc_tile : " ACC "\n"
		"pto.tpush_to_aiv(%a : " ACC ") {split = 0}\n"
		"pto.tpush_to_aiv(%a : " ACC ") {split = 1}\nreturn\n}\n}\n", &o);

	(void)state;
	assert_int_not_equal(r.ret, 0);
	assert_non_null(strstr(r.diags.first->text,
			       "conflicting pipe split usage across peer pipe init ops"));
	result_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(isa_case_44_destination_comes_first_in_the_call),
		cmocka_unit_test(isa_case_45_qualifiers_and_order_of_functions),
		cmocka_unit_test(isa_case_51_too_many_live_tiles_overflow),
		cmocka_unit_test(isa_case_52_addresses_follow_the_lifetimes),
		cmocka_unit_test(isa_case_53_reserved_buffer_gets_the_lowest_hole),
		cmocka_unit_test(isa_case_54_flags_between_load_add_and_store),
		cmocka_unit_test(isa_case_55_reload_in_a_loop_waits_for_the_matmul_before),
		cmocka_unit_test(isa_case_56_comparison_mode_is_the_last_argument),
		cmocka_unit_test(isa_case_57_mask_pattern_is_a_template_argument),
		cmocka_unit_test(isa_case_58_mixed_splits_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
