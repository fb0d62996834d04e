/* SPDX-License-Identifier: MIT */
/* Both ends of a pipe: who belongs together, what they must agree on, what is emitted. */
#define _GNU_SOURCE
#include "ptoas_fixture.h"

#define ACC	"!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
#define VEC	"!pto.tile_buf<vec, 16x16xf32>"
#define RESERVE	"%b = pto.reserve_buffer {name = \"s\", size = 8192, location = " \
		"#pto.address_space<vec>, auto = true} -> i32\n"
#define IMPORT	"%b = pto.import_reserved_buffer {name = \"s\", peer_func = @vec} -> i32\n"
#define CUBE(body)	"func.func @cube() attributes {pto.kernel_kind = " \
			"#pto.kernel_kind<cube>} {\n%a = pto.alloc_tile : " ACC "\n" body \
			"return\n}\n"
#define VECTOR(body)	"func.func @vec() attributes {pto.kernel_kind = " \
			"#pto.kernel_kind<vector>} {\n" body "return\n}\n"
#define MODULE(body)	"module attributes {pto.target_arch = \"a5\"} {\n" body "}\n"
#define AIC(attrs)	"pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024" attrs "} " \
			"(c2v_consumer_buf = %b : i32)\n"
#define AIV(attrs)	"pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024" attrs "} " \
			"(c2v_consumer_buf = %b : i32)\n"
#define PUSH(split)	"pto.tpush_to_aiv(%a : " ACC ") {split = " split "}\n"
#define POP(split)	"%t = pto.tpop_from_aic {split = " split "} -> " VEC "\n" \
			"pto.tfree_from_aic {split = " split "}\n"

/* The first error of the passes, or the C++ when there is none; to be freed. */
static char *assemble(const char *text)
{
	struct program p;

	program_parse(&p, PTO_ARCH_A5, text);
	return program_emit(&p);
}

static void expect(const char *text, const char *what)
{
	char *got = assemble(text);

	if (!strstr(got, what))
		fail_msg("expected '%s' in\n%s", what, got);
	free(got);
}

static void both_ends_of_a_pipe_get_the_same_type(void **state)
{
	char *got = assemble(MODULE(CUBE(IMPORT AIC("") PUSH("0")) VECTOR(RESERVE AIV("") POP("0"))));
	const char *type = "TPipe<0, Direction::DIR_C2V, 1024, 8, 2, true>(nullptr, 0, 0)";
	const char *first = strstr(got, type);

	(void)state;
	if (!first || !strstr(first + 1, type))
		fail_msg("expected '%s' twice in\n%s", type, got);
	free(got);
}

static void what_one_end_says_holds_for_the_other(void **state)
{
	(void)state;
	expect(MODULE(CUBE(IMPORT AIC("") PUSH("0"))
		      VECTOR(RESERVE AIV(", flag_base = 6 : i32") POP("0"))),
	       "TPipe<6, Direction::DIR_C2V, 1024, 8, 2, true>(nullptr, 0, 0);\n  TPUSH<");
	expect(MODULE(CUBE(IMPORT AIC(", flag_base = 4 : i32") PUSH("0"))
		      VECTOR(RESERVE AIV(", flag_base = 6 : i32") POP("0"))),
	       "has flag_base = 4, its peer 6");
}

static void vector_to_cube_takes_flag_two_beside_the_other_direction(void **state)
{
	static const char text[] = MODULE(
		CUBE(IMPORT AIC(", id = 0 : i32") PUSH("0")
		     "%c = pto.reserve_buffer {name = \"r\", size = 8192, location = "
		     "#pto.address_space<mat>, auto = true} -> i32\n"
		     "pto.aic_initialize_pipe {dir_mask = 2, slot_size = 1024, id = 1 : i32} "
		     "(v2c_consumer_buf = %c : i32)\n")
		VECTOR(RESERVE AIV(", id = 0 : i32") POP("0")
		       "%c = pto.import_reserved_buffer {name = \"r\", peer_func = @cube} -> i32\n"
		       "pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024, id = 1 : i32} "
		       "(v2c_consumer_buf = %c : i32)\n"));

	(void)state;
	expect(text, "pipe1 = TPipe<6, Direction::DIR_V2C, 1024, 8, 2, ");
}

static void an_end_without_its_peer_is_refused(void **state)
{
	static const char message[] = "requires a complete peer init pair when local_addr comes "
				      "from pto.reserve_buffer or pto.import_reserved_buffer";

	(void)state;
	expect(MODULE(CUBE("") VECTOR(RESERVE AIV("") POP("0"))), message);
	expect(MODULE(CUBE(IMPORT AIC("") PUSH("0")) VECTOR(RESERVE)), message);
}

static void a_local_buffer_of_unknown_origin_needs_flags(void **state)
{
	static const char message[] = "requires local_addr to come from pto.reserve_buffer or "
				      "pto.import_reserved_buffer when 'flag_base' is not explicit";
#define ZERO	"%b = arith.constant 0 : i32\n"

	(void)state;
	expect(MODULE(CUBE(ZERO AIC("") PUSH("0"))), message);
	expect(MODULE(CUBE(ZERO AIC(", flag_base = 2 : i32") PUSH("0"))), "TPipe<2, ");
}

static void splits_of_both_ends_and_of_nosplit_must_agree(void **state)
{
	(void)state;
	expect(MODULE(CUBE(IMPORT AIC(", nosplit = false") PUSH("0")) VECTOR(RESERVE AIV("") POP("0"))),
	       "explicit 'nosplit = false' conflicts with downstream users that require split = 0");
	expect(MODULE(CUBE(IMPORT AIC(", nosplit = true") PUSH("1")) VECTOR(RESERVE AIV("") POP("1"))),
	       "explicit 'nosplit = true' conflicts with downstream users that require split = 1 "
	       "or 2");
	expect(MODULE(CUBE(IMPORT AIC("") PUSH("1")) VECTOR(RESERVE AIV("") POP("0"))),
	       "conflicting pipe split usage across peer pipe init ops");
}

static void a_slot_is_freed_behind_a_wait_for_its_reader(void **state)
{
	struct program p;
	char *got;

	(void)state;
	program_parse(&p, PTO_ARCH_A5,
		      MODULE(VECTOR("%d = pto.alloc_tile : " VEC "\n%b = arith.constant 0 : i32\n"
				    AIV(", flag_base = 0 : i32") "%t = pto.tpop_from_aic {split = 0} -> " VEC
				    "\npto.texp ins(%t : " VEC ") outs(%d : " VEC ")\n"
				    "pto.tfree_from_aic {split = 0}\n")));
	p.options.insert_sync = true;
	got = program_emit(&p);
	if (!strstr(got, "    set_flag(PIPE_V, PIPE_S, EVENT_ID0);\n"
			 "    wait_flag(PIPE_V, PIPE_S, EVENT_ID0);\n    TFREE<"))
		fail_msg("no wait for the reader in\n%s", got);
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_of_a_pipe_get_the_same_type),
		cmocka_unit_test(what_one_end_says_holds_for_the_other),
		cmocka_unit_test(vector_to_cube_takes_flag_two_beside_the_other_direction),
		cmocka_unit_test(an_end_without_its_peer_is_refused),
		cmocka_unit_test(a_local_buffer_of_unknown_origin_needs_flags),
		cmocka_unit_test(splits_of_both_ends_and_of_nosplit_must_agree),
		cmocka_unit_test(a_slot_is_freed_behind_a_wait_for_its_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
