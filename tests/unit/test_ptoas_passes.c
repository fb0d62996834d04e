/* SPDX-License-Identifier: MIT */
/* Level check, event lowering, layout inference; diagnostics as text and as JSON. */
#define _GNU_SOURCE
#include "../../tools/ptoas/passes.h"
#include "ptoas_fixture.h"

#define A3	PTO_ARCH_A3
#define A5	PTO_ARCH_A5

static int run(struct program *p, int (*pass)(struct pto_pass_ctx *c), enum pto_level level)
{
	struct pto_pass_ctx c = {
		.module = p->m, .options = &p->options, .diags = &p->diags,
		.arch = p->options.arch, .level = level,
	};

	if (program_verify(p))
		program_show(p);
	assert_int_equal(p->diags.errors, 0);
	return pass(&c);
}

static const struct {
	const char *event;
	const char *pipe;
} events[] = {	/* section 9.4 */
	{ "TLOAD", "PIPE_MTE2" }, { "TSTORE_VEC", "PIPE_MTE3" }, { "TSTORE_ACC", "PIPE_FIX" },
	{ "TMOV_M2S", "PIPE_FIX" }, { "TMOV_V2M", "PIPE_FIX" }, { "TMOV_M2L", "PIPE_MTE1" },
	{ "TMOV_M2B", "PIPE_MTE1" }, { "TMOV_M2V", "PIPE_V" }, { "TVEC", "PIPE_V" },
	{ "TVECWAIT_EVENT", "PIPE_V" }, { "TMATMUL", "PIPE_M" },
};

static void events_become_flags_of_their_pipes(void **state)
{
	struct program p;
	char body[400], want[200], *text;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(body, sizeof(body),
			 "    pto.record_event[#pto.pipe_event_type<%s>, "
			 "#pto.pipe_event_type<TLOAD>, "
			 "#pto.event<EVENT_ID2>]\n"
			 "    pto.wait_event[#pto.pipe_event_type<%s>, "
			 "#pto.pipe_event_type<TLOAD>, "
			 "#pto.event<EVENT_ID2>]\n"
			 "    pto.barrier_sync[#pto.sync_op_type<%s>]\n", events[i].event,
			 events[i].event, events[i].event);
		program_body(&p, A3, body);
		assert_int_equal(run(&p, pass_lower_events, PTO_LEVEL2), 0);
		snprintf(want, sizeof(want),
			 "    pto.set_flag[<%s>, <PIPE_MTE2>, <EVENT_ID2>]\n"
			 "    pto.wait_flag[<%s>, <PIPE_MTE2>, <EVENT_ID2>]\n"
			 "    pto.barrier <%s>\n", events[i].pipe, events[i].pipe, events[i].pipe);
		text = program_print(&p);
		assert_non_null(strstr(text, want));
		free(text);
		program_end(&p);
	}
}

static void vector_barriers_are_dropped_on_a5(void **state)
{
	struct program p;
	char *text;

	(void)state;
	program_body(&p, A5, "    pto.barrier_sync[#pto.sync_op_type<TVEC>]\n"
			     "    pto.barrier_sync[#pto.sync_op_type<TLOAD>]\n");
	assert_int_equal(run(&p, pass_lower_events, PTO_LEVEL2), 0);
	text = program_print(&p);
	assert_null(strstr(text, "PIPE_V"));
	assert_non_null(strstr(text, "pto.barrier <PIPE_MTE2>"));
	free(text);
	program_end(&p);
}

static const struct {
	const char *shape, *strides, *given, *want;	/* want NULL: a mismatch */
} layouts[] = {	/* section 9.5 */
	{ "%c16, %c8", "%c8, %c1", "", "nd" },
	{ "%c8, %c16", "%c1, %c8", "", "dn" },
	{ "%c16, %c16, %c16", "%c16, %c16, %c1", "", "nd" },	/* neither: nd */
	{ "%c64, %c1", "%c1, %c64", "", "dn" },			/* a column */
	{ "%c1, %c64", "%c64, %c1", "", "nd" },			/* a row */
	{ "%c64, %c1", "%c1, %c64", "nd", "nd" },		/* ambiguous: what is given wins */
	{ "%n, %c16", "%c16, %c1", "", "nd" },			/* dynamic */
	{ "%n, %c16", "%c16, %c1", "dn", "dn" },
	{ "%c16, %c8, %c8", "%c64, %c8, %c1", "", "nz" },	/* boxes of 16 rows, 512 bytes */
	{ "%c16, %c8, %c8", "%c64, %c16, %c1", "", "nd" },	/* gaps: no layout holds */
	{ "%c1, %c8, %c8, %c16", "%c64, %c8, %c16, %c1", "", "nd" },
	{ "%c16, %c8", "%c8, %c1", "dn", NULL },
	{ "%c8, %c16", "%c1, %c8", "nd", NULL },
};

static void layouts_of_views_follow_shapes_and_strides(void **state)
{
	struct program p;
	char body[400], dims[16], want[64], *text;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		dims[0] = '\0';
		for (k = 0; layouts[i].shape[k]; k++)
			if (layouts[i].shape[k] == '%')
				strcat(dims, "?x");
		snprintf(body, sizeof(body),
			 "    %%v = pto.make_tensor_view %%pf, shape = [%s], strides = [%s]%s%s%s "
			 ": "
			 "!pto.tensor_view<%sf32>\n", layouts[i].shape, layouts[i].strides,
			 *layouts[i].given ? " {layout = #pto.layout<" : "", layouts[i].given,
			 *layouts[i].given ? ">}" : "", dims);
		program_body(&p, A3, body);
		assert_int_equal(run(&p, pass_infer_layout, PTO_LEVEL2) != 0, !layouts[i].want);
		if (layouts[i].want) {
			snprintf(want, sizeof(want), "{layout = #pto.layout<%s>}", layouts[i].want);
			text = program_print(&p);
			if (!strstr(text, want))
				fail_msg("wanted %s in\n%s", want, text);
			free(text);
		} else {
			assert_non_null(strstr(program_error(&p),
					       "layout mismatch: user-specified layout="));
		}
		program_end(&p);
	}
}

static void blocked_views_are_nz(void **state)
{
	struct program p;
	char *text;

	(void)state;
	/* 16 rows of 32 bytes, contiguous: one box after another */
	program_body(&p, A3,
		     "    %v = pto.make_tensor_view %pf, shape = [%c1, %c1, %c16, %c8, %c8], "
			     "strides = [%c64, %c64, %c64, %c8, %c1] : "
			     "!pto.tensor_view<?x?x?x?x?xf32>\n");
	assert_int_equal(run(&p, pass_infer_layout, PTO_LEVEL2), 0);
	text = program_print(&p);
	assert_non_null(strstr(text, "#pto.layout<nz>"));
	free(text);
	program_end(&p);
}

static void column_loaded_into_a_row_major_tile_is_nd(void **state)
{
	struct program p;
	char *text;

	(void)state;
	program_body(&p, A3, "    %v = pto.make_tensor_view %pf, shape = [%c16, %c1], "
			     "strides = [%c1, %c16] : !pto.tensor_view<?x?xf32>\n"
			     "    %q = pto.partition_view %v, offsets = [%c0, %c0], sizes = "
			     "[%c16, %c1] : "
			     "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x1xf32>\n"
			     "    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x8xf32, valid=16x1>\n"
			     "    pto.tload ins(%q : !pto.partition_tensor_view<16x1xf32>) "
			     "outs(%t : "
			     "!pto.tile_buf<...>)\n");
	assert_int_equal(run(&p, pass_infer_layout, PTO_LEVEL2), 0);
	text = program_print(&p);
	assert_non_null(strstr(text, "#pto.layout<nd>"));
	free(text);
	program_end(&p);
}

static void diagnostics_show_line_caret_origin_and_hint(void **state)
{
	struct program p;
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	program_body(&p, A3, "\t%x = arith.addf %n, %n : index loc(\"user.py\":7:9)\n");
	assert_int_not_equal(program_verify(&p), 0);
	out = open_memstream(&text, &size);
	pto_diags_print(&p.diags, out);
	fclose(out);
	assert_string_equal(text,
			    "t.pto:10:7: error: 'arith.addf' op expects float operands\n"
			    "  \t%x = arith.addf %n, %n : index loc(\"user.py\":7:9)\n"
			    "  \t     ^~~~~~~~~~\n"
			    "  from: user.py:7:9\n");
	free(text);
	program_end(&p);
	program_body(&p, A3, "    %x = arith.addi %y, %n : index\n");
	out = open_memstream(&text, &size);
	pto_diags_print(&p.diags, out);
	fclose(out);
	assert_string_equal(text, "t.pto:10:21: error: use of undefined value %y\n"
				  "      %x = arith.addi %y, %n : index\n"
				  "                      ^~\n"
				  "  hint: define it above, in this region or one around it\n");
	free(text);
	program_end(&p);
}

static void diagnostics_are_json_when_asked(void **state)
{
	struct program p;
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	program_body(&p, A3, "    %x = arith.addf %n, %n : index loc(\"a\\\"\\n.py\":7:9)\n");
	assert_int_not_equal(program_verify(&p), 0);
	out = open_memstream(&text, &size);
	pto_diags_print_json(&p.diags, out);
	fclose(out);
	assert_string_equal(text,
			    "[\n  {\"severity\": \"error\", \"file\": \"t.pto\", \"line\": 10, "
			    "\"column\": 10, "
			    "\"message\": \"'arith.addf' op expects float operands\", \"source\": "
			    "\"    %x = arith.addf %n, %n : index "
			    "loc(\\\"a\\\\\\\"\\\\n.py\\\":7:9)\", "
			    "\"origin\": \"a\\\"\\u000a.py:7:9\"}\n]\n");
	free(text);
	program_end(&p);
	pto_diags_init(&p.diags);
	out = open_memstream(&text, &size);
	pto_diags_print_json(&p.diags, out);
	fclose(out);
	assert_string_equal(text, "[\n]\n");
	free(text);
	pto_diags_fini(&p.diags);
}

#define CARRIED	"!pto.tile_buf<vec, 8x64xf32>"
#define LOOP(body) \
	"    %s = pto.alloc_tile : " CARRIED "\n" \
	"    %last:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %s, %y = %s) -> (" CARRIED ", " \
	CARRIED ") {\n" body "    }\n"
#define YIELD(a, b)	"      scf.yield " a ", " b " : " CARRIED ", " CARRIED "\n"
#define BODY_TILE	"      %t = pto.alloc_tile : " CARRIED "\n"

static void expect_buffers(const char *body, const char *type)
{
	struct program p;
	char *text;

	program_body(&p, A3, body);
	assert_int_equal(run(&p, pass_alternate_buffers, PTO_LEVEL2), 0);
	assert_int_equal(program_verify(&p), 0);
	text = program_print(&p);
	if (type ? !strstr(text, type) : !!strstr(text, "multi_tile"))
		fail_msg("expected %s in\n%s", type ? type : "no multi_tile", text);
	free(text);
	program_end(&p);
}

static void as_many_buffers_as_iterations_need_a_carried_tile(void **state)
{
	(void)state;
	expect_buffers(LOOP(BODY_TILE YIELD("%x", "%y")), NULL);
	expect_buffers(LOOP(BODY_TILE YIELD("%t", "%s")), "count=2>");
	expect_buffers(LOOP(BODY_TILE YIELD("%t", "%x")), "count=3>");
	expect_buffers(LOOP(BODY_TILE
			    "      %z = arith.select %b, %t, %s : " CARRIED "\n"
			    YIELD("%z", "%s")), "count=2>");
}

static void a_tile_carried_without_end_is_refused(void **state)
{
	struct program p;

	(void)state;
	program_body(&p, A3, LOOP(BODY_TILE
				  "      %z = arith.select %b, %t, %x : " CARRIED "\n"
				  YIELD("%z", "%s")));
	assert_int_not_equal(run(&p, pass_alternate_buffers, PTO_LEVEL2), 0);
	assert_non_null(strstr(program_error(&p), "may be carried through more iterations"));
	program_end(&p);
	program_body(&p, A3, LOOP("      %t = pto.alloc_tile valid_row = %k valid_col = %k : "
				  "!pto.tile_buf<vec, 8x64xf32, valid=?x?>\n"
				  "      %u = pto.bitcast %t : !pto.tile_buf<vec, 8x64xf32, valid=?x?>"
				  " -> " CARRIED "\n" YIELD("%u", "%s")));
	assert_int_not_equal(run(&p, pass_alternate_buffers, PTO_LEVEL2), 0);
	assert_non_null(strstr(program_error(&p), "its valid shape varies"));
	program_end(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_become_flags_of_their_pipes),
		cmocka_unit_test(vector_barriers_are_dropped_on_a5),
		cmocka_unit_test(layouts_of_views_follow_shapes_and_strides),
		cmocka_unit_test(blocked_views_are_nz),
		cmocka_unit_test(column_loaded_into_a_row_major_tile_is_nd),
		cmocka_unit_test(as_many_buffers_as_iterations_need_a_carried_tile),
		cmocka_unit_test(a_tile_carried_without_end_is_refused),
		cmocka_unit_test(diagnostics_show_line_caret_origin_and_hint),
		cmocka_unit_test(diagnostics_are_json_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
