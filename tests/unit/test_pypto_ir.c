/* SPDX-License-Identifier: MIT */
/* Nodes, types, comparison, hash and text of the PyPTO compiler's core. */
#include <math.h>

#include "../../tools/pypto/equal.h"
#include "../../tools/pypto/print.h"
#include "pypto_fixture.h"

/* A test of one function with a context of its own. */
#define TEST(name)								\
	static void name##_in(struct px *px);					\
	static void name(void **state)						\
	{									\
		struct px px;							\
										\
		(void)state;							\
		px_init(&px);							\
		guarded(&px, name##_in(&px));					\
		px_fini(&px);							\
	}									\
	static void name##_in(struct px *px)

static int64_t value_of(const struct ir_node *n)
{
	return IR_AS(n, const)->value;
}

/* ---- Construction ---- */

TEST(equal_names_are_one_string)
{
	char text[] = "tile";

	assert_ptr_equal(px_intern(px, "tile"), px_intern(px, text));
	assert_ptr_equal(px_intern_n(px, "tilesmore", 4), px_intern(px, text));
	assert_ptr_not_equal(px_intern(px, "tile"), px_intern(px, "tile_"));
}

TEST(body_of_one_statement_is_bare_and_sequences_are_spliced)
{
	struct ir_node *x = ir_var(px, "x", type_scalar(px, DT_INDEX), AT(1));
	struct ir_node *a = ir_assign(px, x, number(px, 1), AT(1));
	struct ir_node *b = ir_assign(px, x, number(px, 2), AT(1));
	struct ir_node *inner = ir_body(px, nodes(px, 2, a, b), AT(1)), *body;

	assert_ptr_equal(ir_body(px, nodes(px, 1, a), AT(1)), a);
	assert_int_equal(inner->kind, IR_SEQ);
	body = ir_body(px, nodes(px, 2, inner, a), AT(1));
	assert_int_equal(ir_stmts(&body).n, 3);
	assert_ptr_equal(ir_stmts(&body).at[1], b);
	assert_int_equal(ir_body(px, (struct ir_list){ 0 }, AT(1))->kind, IR_SEQ);
}

TEST(lists_keep_their_order_while_they_grow)
{
	struct ir_list list = { 0 }, copy;
	uint32_t i;

	for (i = 0; i < 100; i++)
		list_push(px, &list, number(px, i));
	copy = list_copy(px, &list);
	list_push(px, &list, number(px, 100));
	assert_int_equal(copy.n, 100);
	for (i = 0; i < 100; i++)
		assert_int_equal(value_of(copy.at[i]), i);
	assert_true(list_has(&copy, list.at[99]));
	assert_false(list_has(&copy, list.at[100]));
}

TEST(functions_of_a_program_are_ordered_and_have_one_name_each)
{
	struct made m;

	make_program(px, &m);
	assert_ptr_equal(program_find(m.program, "k"), m.kernel);
	assert_null(program_find(m.program, "kk"));
	assert_int_equal(program_add(px, m.program, m.kernel), -EEXIST);
	assert_int_equal(m.program->functions.n, 2);
	program_add(px, m.program, function_of(px, "a", FN_INCORE, nodes(px, 1, m.o),
					       nodes(px, 1, yield_of(px, m.o))));
	assert_string_equal(IR_AS(m.program->functions.at[0], function)->name, "a");
}

TEST(memory_reference_is_named_by_space_and_id)
{
	assert_string_equal(ir_memref(px, MS_LEFT, 0, 512, 7, AT(1))->name, "mem_left_7");
}

/* ---- Types ---- */

static void promotion_is_that_of_the_specification(void **state)
{
	static const struct {
		unsigned int a, b, result;
	} rows[] = {
		{ DT_FP16, DT_BF16, DT_FP16 }, { DT_INT32, DT_FP16, DT_FP16 },
		{ DT_FP16, DT_INT64, DT_FP16 }, { DT_INT8, DT_INT32, DT_INT32 },
		{ DT_UINT32, DT_INT32, DT_INT32 }, { DT_INT32, DT_UINT32, DT_INT32 },
		{ DT_UINT64, DT_INT32, DT_UINT64 }, { DT_FP32, DT_FP32, DT_FP32 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(dtype_promote(rows[i].a, rows[i].b), rows[i].result);
}

static void element_types_hold_their_range(void **state)
{
	(void)state;
	assert_true(dtype_holds(DT_INT8, -128));
	assert_false(dtype_holds(DT_INT8, 128));
	assert_true(dtype_holds(DT_UINT8, 255));
	assert_false(dtype_holds(DT_UINT8, -1));
	assert_true(dtype_holds(DT_INT64, INT64_MIN));
	assert_true(dtype_holds(DT_BOOL, 1));
	assert_false(dtype_holds(DT_BOOL, 2));
	assert_false(dtype_holds(DT_FP32, 1));
}

TEST(bytes_of_a_type_are_0_when_unknown_or_too_many)
{
	struct ir_node *n = ir_var(px, "n", type_scalar(px, DT_INDEX), AT(1));
	struct ir_list shape = nodes(px, 2, number(px, 3), n);

	assert_int_equal(type_bytes(matrix(px, TY_TILE, 16, 32)), 2048);
	assert_int_equal(type_bytes(type_shaped(px, TY_TILE, shape, DT_FP32)), 0);
	assert_int_equal(type_bytes(matrix(px, TY_TENSOR, INT64_MAX, INT64_MAX)), 0);
}

/* ---- Folding and substitution ---- */

static const struct fold_row {
	enum ir_kind kind;
	int64_t a, b, result;
	bool none;
} fold_rows[] = {
	{ IR_ADD, 2, 3, 5, false }, { IR_SUB, 2, 3, -1, false }, { IR_MUL, -4, 3, -12, false },
	{ IR_FLOOR_DIV, -7, 2, -4, false }, { IR_FLOOR_MOD, -7, 2, 1, false },
	{ IR_FLOOR_DIV, 7, -2, -4, false }, { IR_FLOOR_MOD, 7, -2, -1, false },
	{ IR_MIN, 2, 3, 2, false }, { IR_MAX, 2, 3, 3, false },
	{ IR_FLOOR_DIV, 1, 0, 0, true }, { IR_FLOOR_MOD, 1, 0, 0, true },
	{ IR_FLOOR_DIV, INT64_MIN, -1, 0, true }, { IR_ADD, INT64_MAX, 1, 0, true },
	{ IR_SUB, INT64_MIN, 1, 0, true }, { IR_MUL, INT64_MAX, 2, 0, true },
	{ IR_POW, 2, 3, 8, false }, { IR_POW, -1, 3, -1, false }, { IR_POW, 0, 0, 1, false },
	{ IR_POW, 2, 63, 0, true }, { IR_POW, 2, -1, 0, true },
	{ IR_BIT_SHL, 3, 2, 12, false }, { IR_BIT_SHL, 1, 63, 0, true }, { IR_BIT_SHR, -8, 1, -4, false },
};

TEST(constants_fold_by_floor_and_never_overflow)
{
	size_t i;

	for (i = 0; i < sizeof(fold_rows) / sizeof(fold_rows[0]); i++) {
		const struct fold_row *r = &fold_rows[i];
		struct ir_node *v = ir_fold(px, r->kind, number(px, r->a), number(px, r->b),
					    DT_INDEX, AT(1));

		if (!v != r->none || (v && value_of(v) != r->result))
			fail_msg("row %zu", i);
	}
	assert_null(ir_fold(px, IR_ADD, ir_int(px, 100, DT_INT8, AT(1)),
			    ir_int(px, 100, DT_INT8, AT(1)), DT_INT8, AT(1)));
}

TEST(substitution_folds_and_shares_what_stays)
{
	struct ir_node *x = ir_var(px, "x", type_scalar(px, DT_INDEX), AT(1));
	struct ir_node *y = ir_var(px, "y", type_scalar(px, DT_INDEX), AT(1));
	struct ir_node *left = ir_binary(px, IR_MUL, y, number(px, 2), DT_INDEX, AT(1));
	struct ir_node *right = ir_binary(px, IR_ADD, x, number(px, 2), DT_INDEX, AT(1));
	struct ir_node *sum = ir_binary(px, IR_ADD, left, right, DT_INDEX, AT(1)), *out;
	struct var_map map = { .px = px };

	assert_ptr_equal(ir_subst(&map, sum), sum);
	var_map_set(&map, x, number(px, 5));
	out = ir_subst(&map, sum);
	assert_ptr_equal(IR_AS(out, binary)->left, left);
	assert_int_equal(value_of(IR_AS(out, binary)->right), 7);
	assert_ptr_equal(IR_AS(sum, binary)->right, right);
}

TEST(clone_has_variables_of_its_own)
{
	struct var_map map = { .px = px };
	struct ir_for *copy;
	struct made m;

	make_program(px, &m);
	copy = IR_AS(ir_clone_stmt(&map, &m.loop->node), for);
	assert_ptr_not_equal(copy->loop_var, m.loop->loop_var);
	assert_ptr_equal(var_map_get(&map, m.loop->loop_var), copy->loop_var);
	assert_ptr_equal(IR_AS(copy->iter_args.at[0], var)->init, m.t);
	assert_true(ir_equal(px, &copy->node, &m.loop->node, false, NULL));
}

static bool collect(void *data, struct ir_node *node)
{
	struct text *t = data;

	if (ir_is_var(node))
		text_printf(t, "%s ", IR_AS(node, var)->name);
	return true;
}

TEST(walk_is_in_order_of_execution)
{
	struct text t = { .px = px };
	struct made m;

	make_program(px, &m);
	ir_walk(&m.loop->node, collect, &t);
	assert_string_equal(text_str(&t), "i c t c t u u r ");
}

/* ---- Comparison and hash ---- */

static void rename_all(struct made *m)
{
	IR_AS(m->t, var)->name = "other";
	m->t->span.line = 77;
	IR_AS(m->loop->loop_var, var)->name = "j";
}

TEST(names_and_places_do_not_matter)
{
	struct made a, b;

	make_program(px, &a);
	make_program(px, &b);
	rename_all(&b);
	assert_true(ir_equal(px, &a.program->node, &b.program->node, false, NULL));
	assert_int_equal(ir_hash(px, &a.program->node), ir_hash(px, &b.program->node));
}

TEST(grouping_of_statements_does_not_matter)
{
	struct made a, b;
	struct ir_node *grouped;

	make_program(px, &a);
	make_program(px, &b);
	grouped = pass_grouped(px, b.kernel->body, NULL);
	assert_int_equal(grouped->kind, IR_SEQ);
	assert_int_equal(IR_AS(grouped, seq)->stmts.at[0]->kind, IR_OPS);
	b.kernel->body = grouped;
	assert_true(ir_equal(px, &a.program->node, &b.program->node, false, NULL));
	assert_int_equal(ir_hash(px, &a.program->node), ir_hash(px, &b.program->node));
}

static void other_number(struct px *px, struct made *m)
{
	m->loop->stop = number(px, 3);
}

static void other_kind(struct px *px, struct made *m)
{
	(void)px;
	m->loop->for_kind = FOR_PARALLEL;
}

static void other_variable(struct px *px, struct made *m)
{
	m->branch->else_body = yield_of(px, m->t);
}

static void other_shape(struct px *px, struct made *m)
{
	m->a->type = matrix(px, TY_TENSOR, 64, 16);
}

static void other_function(struct px *px, struct made *m)
{
	(void)px;
	m->call->callee = "kk";
}

static void other_keyword(struct px *px, struct made *m)
{
	struct ir_list stmts = ir_stmts(&m->kernel->body);

	(void)px;
	IR_AS(IR_AS(stmts.at[0], assign)->value, call)->attrs[0].i = MS_MAT;
}

static void no_else(struct px *px, struct made *m)
{
	(void)px;
	m->branch->else_body = NULL;
}

static const struct {
	void (*change)(struct px *px, struct made *m);
	const char *why;
} changes[] = {
	{ other_number, "the numbers differ" }, { other_kind, "the kinds differ" },
	{ other_variable, "different variables are used" },
	{ other_shape, "the numbers differ" }, { other_function, "different functions are called" },
	{ other_keyword, "the values of a keyword differ" }, { no_else, "one side lacks it" },
};

TEST(first_difference_is_told)
{
	struct made a, b;
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		make_program(px, &a);
		make_program(px, &b);
		changes[i].change(px, &b);
		assert_false(ir_equal(px, &a.program->node, &b.program->node, false, &why));
		if (!strstr(why, changes[i].why))
			fail_msg("%zu: '%s' does not say '%s'", i, why, changes[i].why);
		assert_int_not_equal(ir_hash(px, &a.program->node), ir_hash(px, &b.program->node));
	}
}

TEST(free_variables_are_paired_only_on_request)
{
	struct ir_node *x = ir_var(px, "x", type_scalar(px, DT_INDEX), AT(1));
	struct ir_node *y = ir_var(px, "y", type_scalar(px, DT_INDEX), AT(1));
	struct ir_node *xx = ir_binary(px, IR_ADD, x, x, DT_INDEX, AT(1));
	struct ir_node *yy = ir_binary(px, IR_ADD, y, y, DT_INDEX, AT(1));
	struct ir_node *xy = ir_binary(px, IR_ADD, x, y, DT_INDEX, AT(1));

	assert_false(ir_equal(px, xx, yy, false, NULL));
	assert_true(ir_equal(px, xx, yy, true, NULL));
	assert_false(ir_equal(px, xx, xy, true, NULL));
	assert_false(ir_equal(px, xy, xx, true, NULL));
	assert_int_equal(ir_hash(px, xx), ir_hash(px, yy));
}

TEST(floats_are_compared_by_bits)
{
	struct ir_node *zero = ir_float(px, 0.0, DT_FP32, AT(1));
	struct ir_node *minus = ir_float(px, -0.0, DT_FP32, AT(1));
	struct ir_node *none = ir_float(px, NAN, DT_FP32, AT(1));

	assert_false(ir_equal(px, zero, minus, false, NULL));
	assert_true(ir_equal(px, none, ir_float(px, NAN, DT_FP32, AT(1)), false, NULL));
}

/* ---- Text ---- */

static void prints(struct px *px, struct ir_node *e, const char *text)
{
	assert_string_equal(ir_print(px, e, "pl"), text);
}

TEST(parentheses_are_only_where_they_are_needed)
{
	struct ir_node *a = ir_var(px, "a", type_scalar(px, DT_INDEX), AT(1));
	struct ir_node *b = ir_var(px, "b", type_scalar(px, DT_INDEX), AT(1));
	struct ir_node *sum = ir_binary(px, IR_ADD, a, b, DT_INDEX, AT(1));
	struct ir_node *power = ir_binary(px, IR_POW, a, b, DT_INDEX, AT(1));
	struct ir_node *less = ir_binary(px, IR_LT, a, b, DT_BOOL, AT(1));

	prints(px, ir_binary(px, IR_SUB, sum, sum, DT_INDEX, AT(1)), "a + b - (a + b)");
	prints(px, ir_binary(px, IR_MUL, sum, b, DT_INDEX, AT(1)), "(a + b) * b");
	prints(px, ir_binary(px, IR_POW, power, power, DT_INDEX, AT(1)), "(a ** b) ** a ** b");
	prints(px, ir_binary(px, IR_EQ, less, less, DT_BOOL, AT(1)), "(a < b) == (a < b)");
	prints(px, ir_binary(px, IR_MIN, sum, b, DT_INDEX, AT(1)), "min(a + b, b)");
	prints(px, ir_binary(px, IR_POW, number(px, -2), b, DT_INDEX, AT(1)), "(-2) ** b");
}

TEST(negative_base_of_a_power_is_one_number)
{
	struct ir_node *x = ir_var(px, "x", type_scalar(px, DT_FP32), AT(1));
	struct ir_node *bare = ir_float(px, -1.5, DT_FP32, AT(1));
	struct ir_node *half = ir_float(px, -1.5, DT_FP16, AT(1));

	prints(px, ir_binary(px, IR_POW, bare, x, DT_FP32, AT(1)), "(-1.5) ** x");
	prints(px, ir_binary(px, IR_POW, half, x, DT_FP32, AT(1)), "pl.const(-1.5, pl.FP16) ** x");
}

TEST(constants_show_their_element_type_unless_it_is_the_default)
{
	prints(px, ir_int(px, 42, DT_INT64, AT(1)), "42");
	prints(px, ir_int(px, 42, DT_INT32, AT(1)), "pl.const(42, pl.INT32)");
	prints(px, ir_float(px, 2, DT_FP32, AT(1)), "2.0");
	prints(px, ir_float(px, 0.1, DT_FP32, AT(1)), "0.1");
	prints(px, ir_float(px, 1e30, DT_BF16, AT(1)), "pl.const(1e+30, pl.BF16)");
	prints(px, ir_bool(px, true, AT(1)), "True");
}

TEST(program_is_printed_with_any_prefix)
{
	struct made m;
	const char *text;

	make_program(px, &m);
	text = ir_print(px, &m.program->node, "P");
	assert_non_null(strstr(text, "from pypto import language as P\n"));
	assert_non_null(strstr(text, "for i, (c,) in P.range(0, 2, 1, init_values=(t,)):") ?:
			strstr(text, "for i, (c,) in P.range(2, init_values=(t,)):"));
	assert_non_null(strstr(text, "        y1: P.Tensor[[32, 16], P.FP32] = self.k(x, n, y)\n"));
	assert_null(strstr(text, "pl."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_names_are_one_string),
		cmocka_unit_test(body_of_one_statement_is_bare_and_sequences_are_spliced),
		cmocka_unit_test(lists_keep_their_order_while_they_grow),
		cmocka_unit_test(functions_of_a_program_are_ordered_and_have_one_name_each),
		cmocka_unit_test(memory_reference_is_named_by_space_and_id),
		cmocka_unit_test(promotion_is_that_of_the_specification),
		cmocka_unit_test(element_types_hold_their_range),
		cmocka_unit_test(bytes_of_a_type_are_0_when_unknown_or_too_many),
		cmocka_unit_test(constants_fold_by_floor_and_never_overflow),
		cmocka_unit_test(substitution_folds_and_shares_what_stays),
		cmocka_unit_test(clone_has_variables_of_its_own),
		cmocka_unit_test(walk_is_in_order_of_execution),
		cmocka_unit_test(names_and_places_do_not_matter),
		cmocka_unit_test(grouping_of_statements_does_not_matter),
		cmocka_unit_test(first_difference_is_told),
		cmocka_unit_test(free_variables_are_paired_only_on_request),
		cmocka_unit_test(floats_are_compared_by_bits),
		cmocka_unit_test(parentheses_are_only_where_they_are_needed),
		cmocka_unit_test(negative_base_of_a_power_is_one_number),
		cmocka_unit_test(constants_show_their_element_type_unless_it_is_the_default),
		cmocka_unit_test(program_is_printed_with_any_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
