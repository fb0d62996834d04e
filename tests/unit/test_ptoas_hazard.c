/* SPDX-License-Identifier: MIT */
/* What the checker of final programs reports, and what it accepts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/ptoas/hazard_access.h"
#include "../../tools/ptoas/ptoas.h"

#define T	"!pto.tile_buf<vec, 16x16xf32>"
#define P	"!pto.partition_tensor_view<16x16xf32>"
#define HEAD \
	"module {\nfunc.func @k(%p: !pto.ptr<f32>, %b: i1, %n: index) {\n" \
	"%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n" \
	"%c16 = arith.constant 16 : index\n" \
	"%a0 = arith.constant 0 : i64\n%a512 = arith.constant 512 : i64\n" \
	"%a1024 = arith.constant 1024 : i64\n%high = arith.constant 196096 : i64\n" \
	"%w = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : " \
	"!pto.tensor_view<?x?xf32>\n" \
	"%v = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c16, %c16] : " \
	"!pto.tensor_view<?x?xf32> -> " P "\n"
#define TILES \
	"%x = pto.alloc_tile addr = %a0 : " T "\n%y = pto.alloc_tile addr = %a1024 : " T "\n"
#define LOAD_X	"pto.tload ins(%v : " P ") outs(%x : " T ")\n"
#define LOAD_Z	"pto.tload ins(%v : " P ") outs(%z : " T ")\n"
#define EXP_XY	"pto.texp ins(%x : " T ") outs(%y : " T ")\n"
#define SET	"pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
#define WAIT	"pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
#define BACK_SET	"pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]\n"
#define BACK_WAIT	"pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]\n"
#define LOOP	"scf.for %i = %c0 to %n step %c1 {\n"
#define END	"return\n}\n}\n"

/* The first thing that is found, or "" for nothing; @errors of them. */
static const char *check_on(enum pto_arch arch, const char *text, unsigned int *errors)
{
	struct pto_options o = { .level = PTO_LEVEL3, .arch_given = true, .arch = arch };
	static char first[512];
	struct pto_module *m;
	struct pto_diags d;
	int ret;

	pto_diags_init(&d);
	m = pto_parse("hazard.pto", text, strlen(text), &o, &d);
	if (!m || pto_verify(m, &o, &d)) {
		pto_diags_print(&d, stderr);
		fail_msg("the test's program is wrong");
	}
	ret = pto_check_hazards(m, &o, &d);
	assert_int_equal(ret != 0, d.errors != 0);
	snprintf(first, sizeof(first), "%s", d.first ? d.first->text : "");
	*errors = d.errors;
	pto_module_free(m);
	pto_diags_fini(&d);
	return first;
}

static const char *check(const char *text, unsigned int *errors)
{
	return check_on(PTO_ARCH_A3, text, errors);
}

static void accepts(const char *text)
{
	unsigned int errors;

	assert_string_equal(check(text, &errors), "");
}

static void finds(const char *text, const char *what)
{
	unsigned int errors;
	const char *first = check(text, &errors);

	if (!strstr(first, what))
		fail_msg("'%s' does not say '%s'", first, what);
}

static void a_flag_pair_orders_two_pipes(void **state)
{
	(void)state;
	accepts(HEAD TILES LOAD_X SET WAIT EXP_XY END);
	finds(HEAD TILES LOAD_X EXP_XY END, "reads vec from PIPE_V without waiting for the write "
	      "by 'pto.tload' on PIPE_MTE2");
	finds(HEAD TILES SET LOAD_X WAIT EXP_XY END, "without waiting");
}

static void a_full_barrier_orders_everything(void **state)
{
	(void)state;
	accepts(HEAD TILES LOAD_X "pto.barrier <PIPE_ALL>\n" EXP_XY END);
	finds(HEAD TILES LOAD_X "pto.barrier <PIPE_MTE2>\n" EXP_XY END, "without waiting");
}

static void one_pipe_needs_a_barrier_on_a3(void **state)
{
	(void)state;
	finds(HEAD TILES LOAD_X SET WAIT EXP_XY EXP_XY END, "writes vec from PIPE_V without "
	      "waiting for the write");
	accepts(HEAD TILES LOAD_X SET WAIT EXP_XY "pto.barrier <PIPE_V>\n" EXP_XY END);
}

static void a_loop_needs_the_way_back(void **state)
{
	(void)state;
	finds(HEAD TILES LOOP LOAD_X SET WAIT EXP_XY "}\n" END, "an earlier iteration");
	accepts(HEAD TILES BACK_SET LOOP BACK_WAIT "pto.barrier <PIPE_MTE2>\n" LOAD_X SET WAIT
		"pto.barrier <PIPE_V>\n" EXP_XY BACK_SET "}\n" BACK_WAIT END);
}

static void flags_must_be_set_once_on_every_path(void **state)
{
	(void)state;
	finds(HEAD TILES WAIT END, "which is never set");
	finds(HEAD TILES "scf.if %b {\n" SET "}\n" WAIT END, "which is not on every path set");
	finds(HEAD TILES SET SET WAIT END, "while it is pending");
	finds(HEAD TILES SET END, "leaves event 0 from PIPE_MTE2 to PIPE_V set");
	finds(HEAD TILES LOOP SET "}\n" WAIT END, "while it is, on some path, pending");
}

static void a_wait_in_one_branch_does_not_count_behind_it(void **state)
{
	(void)state;
	finds(HEAD TILES LOAD_X SET "scf.if %b {\n" WAIT "} else {\n" WAIT "pto.barrier <PIPE_V>\n"
	      LOAD_X "}\n" EXP_XY END, "without waiting");
	accepts(HEAD TILES LOAD_X SET "scf.if %b {\n" WAIT "} else {\n" WAIT "}\n" EXP_XY END);
}

static void paths_that_are_safe_each_are_safe_together(void **state)
{
	(void)state;
	accepts(HEAD TILES LOAD_X "scf.if %b {\n" SET WAIT "} else {\npto.barrier <PIPE_ALL>\n}\n"
		EXP_XY END);
}

static void overlapping_buffers_in_use_together_are_found(void **state)
{
	(void)state;
	finds(HEAD TILES "%z = pto.alloc_tile addr = %a512 : " T "\n" LOAD_X
	      "pto.barrier <PIPE_ALL>\n" LOAD_Z "pto.barrier <PIPE_ALL>\n" EXP_XY END,
	      "reads a vec buffer at 0 whose contents 'pto.tload' has overwritten");
	accepts(HEAD TILES "%z = pto.alloc_tile addr = %a0 : " T "\n" LOAD_Z
		"pto.barrier <PIPE_ALL>\n" EXP_XY END);
}

#define POPS \
	"pto.section.vector {\n" \
	"pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} " \
	"(gm_slot_buffer = %p : !pto.ptr<f32>)\n" \
	"%s = pto.tpop_from_aic {split = 0} -> " T "\n" \
	"%t = pto.tpop_from_aic {split = 0} -> " T "\n" SET WAIT
#define FREE	"pto.tfree_from_aic {split = 0}\n"
#define READ(t)	"pto.texp ins(" t " : " T ") outs(%y : " T ")\n"
#define READ_DONE \
	"pto.set_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>]\n" \
	"pto.wait_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>]\n"
#define IN_ORDER	"pto.barrier <PIPE_V>\n"

static void a_slot_is_given_back_when_its_reader_is_done(void **state)
{
	(void)state;
	finds(HEAD TILES POPS READ("%s") FREE "}\n" END,
	      "'pto.tfree_from_aic' op writes vec from PIPE_S without waiting for the");
	accepts(HEAD TILES POPS READ("%s") READ_DONE FREE "}\n" END);
}

static void the_slot_given_back_is_the_oldest(void **state)
{
	(void)state;
	accepts(HEAD TILES POPS READ("%s") READ_DONE IN_ORDER READ("%t") FREE "}\n" END);
	finds(HEAD TILES POPS READ("%s") READ_DONE IN_ORDER READ("%t") FREE FREE "}\n" END,
	      "'pto.tfree_from_aic' op writes vec from PIPE_S without waiting for the");
	finds(HEAD TILES POPS READ("%t") "scf.if %b {\n" FREE "}\n}\n" END,
	      "'pto.tfree_from_aic' op writes vec from PIPE_S without waiting for the");
}

#define SCALES_L \
	"!pto.tile_buf<scaling, 16x2x!pto.f8E8M0, blayout=row_major, slayout=row_major, fractal=32>"
#define SCALES_R \
	"!pto.tile_buf<scaling, 2x16x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>"
#define SCALES(first, second, at) \
	"module {\nfunc.func @k() {\n%a = arith.constant 0 : i64\n%b = arith.constant " at \
	" : i64\n%m = pto.alloc_tile addr = %a : !pto.tile_buf<mat, 16x2x!pto.f8E8M0>\n" \
	"%n = pto.alloc_tile addr = %a : !pto.tile_buf<mat, 2x16x!pto.f8E8M0>\n" \
	"%x = pto.alloc_tile addr = %a : " first "\n%y = pto.alloc_tile addr = %b : " second "\n"
#define MOVE(from, shape, to, t) \
	"pto.tmov ins(" from " : !pto.tile_buf<mat, " shape "x!pto.f8E8M0>) outs(" to " : " t ")\n"

static void scales_of_left_and_right_operands_have_a_memory_each(void **state)
{
	unsigned int errors;

	(void)state;
	assert_string_equal(check_on(PTO_ARCH_A5, SCALES(SCALES_L, SCALES_R, "0")
				     MOVE("%m", "16x2", "%x", SCALES_L)
				     MOVE("%n", "2x16", "%y", SCALES_R) END, &errors), "");
	assert_non_null(strstr(check_on(PTO_ARCH_A5, SCALES(SCALES_L, SCALES_L, "0")
					MOVE("%m", "16x2", "%x", SCALES_L)
					MOVE("%m", "16x2", "%y", SCALES_L) END, &errors),
			       "writes left scaling"));
	assert_string_equal(check_on(PTO_ARCH_A5, SCALES(SCALES_L, SCALES_R, "4064") END, &errors),
			    "");
	assert_non_null(strstr(check_on(PTO_ARCH_A5, SCALES(SCALES_L, SCALES_R, "4096") END,
					&errors),
			       "occupies bytes 4096 to 4128 of right scaling, which has 4096"));
}

static void a_buffer_beyond_its_space_is_found(void **state)
{
	(void)state;
	finds(HEAD "%x = pto.alloc_tile addr = %high : " T "\n" LOAD_X END,
	      "occupies bytes 196096 to 197120 of vec, which has 196608");
}

/* Cells of a chain of @n tiles that take turns at two addresses. */
static unsigned int cells_of_chain(unsigned int n)
{
	struct pto_options o = { .level = PTO_LEVEL3 };
	static char text[1 << 17];
	struct pto_access a;
	unsigned int i, cells = 0;
	struct pto_module *m;
	struct pto_diags d;
	size_t at = (size_t)snprintf(text, sizeof(text), "%s", HEAD TILES LOAD_X
				     "%t0 = pto.alloc_tile addr = %a0 : " T "\n");

	for (i = 1; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "%%t%u = pto.alloc_tile addr = %%a%s : " T "\n"
				       "pto.texp ins(%%t%u : " T ") outs(%%t%u : " T ")\n", i,
				       i % 2 ? "1024" : "0", i - 1, i);
	at += (size_t)snprintf(text + at, sizeof(text) - at, END);
	assert_true(at < sizeof(text));
	pto_diags_init(&d);
	m = pto_parse("chain.pto", text, at, &o, &d);
	assert_non_null(m);
	pto_for_each_func(f, m) {
		assert_int_equal(pto_access_init(&a, f->op, PTO_ARCH_A3), 0);
		cells += a.n_cells;
		pto_access_fini(&a);
	}
	pto_module_free(m);
	pto_diags_fini(&d);
	return cells;
}

static void tiles_at_one_address_are_one_storage(void **state)
{
	(void)state;
	/* both addresses read and written by one pipe, one written by the load, memory read by it */
	assert_int_equal(cells_of_chain(4), 6);
	assert_int_equal(cells_of_chain(500), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flag_pair_orders_two_pipes),
		cmocka_unit_test(a_full_barrier_orders_everything),
		cmocka_unit_test(one_pipe_needs_a_barrier_on_a3),
		cmocka_unit_test(a_loop_needs_the_way_back),
		cmocka_unit_test(flags_must_be_set_once_on_every_path),
		cmocka_unit_test(a_wait_in_one_branch_does_not_count_behind_it),
		cmocka_unit_test(paths_that_are_safe_each_are_safe_together),
		cmocka_unit_test(overlapping_buffers_in_use_together_are_found),
		cmocka_unit_test(a_slot_is_given_back_when_its_reader_is_done),
		cmocka_unit_test(the_slot_given_back_is_the_oldest),
		cmocka_unit_test(a_buffer_beyond_its_space_is_found),
		cmocka_unit_test(scales_of_left_and_right_operands_have_a_memory_each),
		cmocka_unit_test(tiles_at_one_address_are_one_storage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
