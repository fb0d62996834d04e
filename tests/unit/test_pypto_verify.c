/* SPDX-License-Identifier: MIT */
/* What the verifier and the hazard checker find, and what the pass manager refuses. */
#include "../../tools/pypto/equal.h"
#include "../../tools/pypto/serial.h"
#include "pypto_fixture.h"

static bool says(const struct px *px, const char *what)
{
	const struct diag *d;

	for (d = px->diags; d; d = d->next)
		if (strstr(d->message, what))
			return true;
	return false;
}

/* The made program after the passes up to the one named @last. */
static struct ir_program *after(struct px *px, struct made *m, const char *last)
{
	struct pass_options options = { .verify = true };
	struct ir_node *node;
	size_t i;

	make_program(px, m);
	node = &m->program->node;
	for (i = 0; pass_at(i); i++) {
		if (pass_run(px, pass_at(i)->name, node, &options, &node))
			fail_msg("%s: %s", pass_at(i)->name, px->diags->message);
		if (!strcmp(pass_at(i)->name, last))
			break;
	}
	assert_non_null(pass_at(i));
	return IR_AS(node, program);
}

/* ---- Rules of the verifier ---- */

static void assigned_twice(struct px *px, struct made *m)
{
	struct ir_list stmts = list_copy(px, &IR_AS(m->kernel->body, seq)->stmts);

	stmts.at[stmts.n - 1] = stmts.at[0];
	m->kernel->body = ir_body(px, stmts, AT(1));
}

static void loop_without_yield(struct px *px, struct made *m)
{
	(void)px;
	m->loop->body = ir_stmts(&m->loop->body).at[0];
}

static void branch_without_yield(struct px *px, struct made *m)
{
	(void)px;
	m->branch->else_body = NULL;
}

static void yield_of_two(struct px *px, struct made *m)
{
	m->branch->else_body = ir_values(px, IR_YIELD, nodes(px, 2, m->t, m->t), AT(1));
}

static void yield_of_another_type(struct px *px, struct made *m)
{
	m->branch->else_body = yield_of(px, m->n);
}

static void yield_without_a_value(struct px *px, struct made *m)
{
	m->branch->else_body = yield_of(px, NULL);
}

static void two_carried_one_result(struct px *px, struct made *m)
{
	list_push(px, &m->loop->iter_args, ir_copy(px, m->loop->iter_args.at[0]));
}

static void carried_of_another_type(struct px *px, struct made *m)
{
	(void)px;
	IR_AS(m->loop->iter_args.at[0], var)->init = m->n;
}

static void bound_that_is_a_tile(struct px *px, struct made *m)
{
	(void)px;
	m->loop->stop = m->t;
}

static void condition_that_is_a_tile(struct px *px, struct made *m)
{
	(void)px;
	m->branch->condition = m->t;
}

static void nested_call(struct px *px, struct made *m)
{
	struct ir_list stmts = ir_stmts(&m->kernel->body);
	struct ir_node *t = IR_AS(stmts.at[0], assign)->value;

	IR_AS(stmts.at[0], assign)->value = call_of(px, "block.exp", nodes(px, 1, t));
}

static void region(struct px *px, struct made *m)
{
	struct ir_scope *scope = ir_new(px, IR_SCOPE, AT(5), NULL);

	scope->body = ir_stmts(&m->loop->body).at[0];
	m->loop->body = ir_body(px, nodes(px, 2, scope, ir_stmts(&m->loop->body).at[1]), AT(5));
}

static void used_too_early(struct px *px, struct made *m)
{
	struct ir_list stmts = list_copy(px, &IR_AS(m->kernel->body, seq)->stmts);
	struct ir_node *first = stmts.at[0];

	stmts.at[0] = stmts.at[1];
	stmts.at[1] = first;
	m->kernel->body = ir_body(px, stmts, AT(1));
}

static void too_many_arguments(struct px *px, struct made *m)
{
	list_push(px, &m->call->args, number(px, 1));
}

static void argument_of_another_type(struct px *px, struct made *m)
{
	m->call->args.at[0] = number(px, 1);
}

static void call_of_another_type(struct px *px, struct made *m)
{
	m->call->node.type = type_scalar(px, DT_FP32);
}

static void return_of_two(struct px *px, struct made *m)
{
	struct ir_list stmts = ir_stmts(&m->kernel->body);

	list_push(px, &IR_AS(stmts.at[stmts.n - 1], values)->values, m->o);
}

static void return_of_another_type(struct px *px, struct made *m)
{
	struct ir_list stmts = ir_stmts(&m->kernel->body);

	(void)px;
	IR_AS(stmts.at[stmts.n - 1], values)->values.at[0] = m->n;
}

static void no_memory_reference(struct px *px, struct made *m)
{
	(void)px;
	(void)m;
}

static const struct {
	void (*damage)(struct px *px, struct made *m);
	unsigned int property;
	const char *what;
} rules[] = {
	{ assigned_twice, PROP_SSA, "MULTIPLE_ASSIGNMENT: t" },
	{ loop_without_yield, PROP_SSA, "MISSING_YIELD" },
	{ branch_without_yield, PROP_SSA, "MISSING_YIELD" },
	{ yield_of_two, PROP_TYPE_CHECKED, "Numbers of yielded values and results differ" },
	{ yield_of_another_type, PROP_TYPE_CHECKED, "A yielded value has another type" },
	{ yield_without_a_value, PROP_SSA, "A body yields no value for a result" },
	{ two_carried_one_result, PROP_TYPE_CHECKED, "Numbers of carried values and results" },
	{ carried_of_another_type, PROP_TYPE_CHECKED, "A carried value has another type" },
	{ bound_that_is_a_tile, PROP_TYPE_CHECKED, "A loop bound must be a scalar" },
	{ condition_that_is_a_tile, PROP_TYPE_CHECKED, "A condition must be a scalar" },
	{ nested_call, PROP_NO_NESTED_CALLS, "A call stands inside another expression" },
	{ region, PROP_SPLIT_INCORE, "InCore ScopeStmt found" },
	{ used_too_early, PROP_TYPE_CHECKED, "A variable is used before it is defined: t" },
	{ too_many_arguments, PROP_TYPE_CHECKED, "another number of arguments than" },
	{ argument_of_another_type, PROP_TYPE_CHECKED, "An argument has another type" },
	{ call_of_another_type, PROP_TYPE_CHECKED, "A call has another type than the function" },
	{ return_of_two, PROP_TYPE_CHECKED, "Numbers of returned values and return types" },
	{ return_of_another_type, PROP_TYPE_CHECKED, "A returned value has another type" },
	{ no_memory_reference, PROP_MEMREFS, "The variable has no memory reference: a" },
};

static void one_rule(struct px *px, size_t i)
{
	struct made m;

	make_program(px, &m);
	assert_int_equal(ir_verify(px, m.program, PROP_TYPE_CHECKED | PROP_SSA |
				   PROP_NO_NESTED_CALLS | PROP_SPLIT_INCORE), 0);
	rules[i].damage(px, &m);
	assert_false(ir_properties(px, m.program) & rules[i].property);
	assert_null(px->diags);
	assert_int_equal(ir_verify(px, m.program, rules[i].property), -EINVAL);
	assert_true(says(px, "IR Verification Report"));
	if (!says(px, rules[i].what))
		fail_msg("'%s' is not said, but '%s'", rules[i].what,
			 px->diags->next ? px->diags->next->message : "nothing");
}

static void each_rule_is_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		guarded_row(one_rule, i);
}

/* ---- The hazard checker ---- */

static bool share(void *data, struct ir_node *node)
{
	const struct ir_memref **first = data;
	struct ir_node *var = node->kind == IR_ASSIGN ? IR_AS(node, assign)->var : NULL;

	if (!var || var->type->kind != TY_TILE)
		return node->kind >= IR_ASSIGN;
	if (*first)
		((struct ir_type *)var->type)->memref = *first;
	else
		*first = var->type->memref;
	return false;
}

/* u is made in the buffer of t, which the next iteration reads. */
static void two_in_one(struct px *px)
{
	const struct ir_memref *first = NULL;
	struct px_pass pass = { .name = "Test", .check = CHECK_MEMORY };
	struct ir_program *p;
	struct made m;

	p = after(px, &m, "InitMemRef");
	assert_int_equal(pass_check(px, &pass, p, 0), 0);
	ir_walk(program_find(p, "k")->body, share, &first);
	assert_int_equal(pass_check(px, &pass, p, 0), -EINVAL);
	assert_true(says(px, "Internal error: pass Test gave a program in whose function 'k' tile"));
}

static void tile_that_is_overwritten_too_early_is_found(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, two_in_one(&px));
	px_fini(&px);
}

/* ---- The pass manager ---- */

static void unknown_name(struct px *px)
{
	struct pass_options options = { .verify = true };
	struct ir_node *node;
	struct made m;

	make_program(px, &m);
	assert_int_equal(pass_run(px, "NoSuchPass", &m.program->node, &options, &node), -ENOENT);
	assert_null(px->diags);
	assert_int_equal(pass_run(px, "convert_to_ssa", &m.program->node, &options, &node), 0);
}

static void unknown_pass_is_told_apart(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, unknown_name(&px));
	px_fini(&px);
}

static const struct {
	const char *pass, *what;
	void (*damage)(struct px *px, struct made *m);
} needs[] = {
	{ "UnrollLoops", "property TypeChecked", condition_that_is_a_tile },
	{ "ConvertToSSA", "property TypeChecked", return_of_two },
	{ "SplitChunkedLoops", "property SSAForm", assigned_twice },
	{ "OutlineIncoreScopes", "property SSAForm", branch_without_yield },
	{ "ConvertTensorToBlockOps", "property SplitIncoreOrch", region },
	{ "InitMemRef", "property SplitIncoreOrch", region },
	{ "BasicMemoryReuse", "property HasMemRefs", no_memory_reference },
	{ "InsertSync", "property HasMemRefs", no_memory_reference },
	{ "AllocateMemoryAddr", "property HasMemRefs", no_memory_reference },
};

static void one_need(struct px *px, size_t i)
{
	struct pass_options options = { .verify = true };
	struct ir_node *node = NULL;
	struct made m;

	make_program(px, &m);
	needs[i].damage(px, &m);
	assert_int_equal(pass_run(px, needs[i].pass, &m.program->node, &options, &node), -EINVAL);
	assert_null(node);
	if (!says(px, needs[i].what))
		fail_msg("%s: %s", needs[i].pass, px->diags->message);
}

static void pass_refuses_what_lacks_a_property(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		guarded_row(one_need, i);
}

/* Nodes are shared between programs: a pass makes new ones. */
static void input_stays(struct px *px)
{
	struct pass_options options = { .verify = true };
	struct ir_node *node, *next;
	const void *before, *behind;
	size_t i, n_before, n_behind;
	struct made m;

	make_program(px, &m);
	node = &m.program->node;
	for (i = 0; pass_at(i); i++) {
		ir_serialize(px, node, &before, &n_before);
		assert_int_equal(pass_run(px, pass_at(i)->name, node, &options, &next), 0);
		ir_serialize(px, node, &behind, &n_behind);
		if (n_before != n_behind || memcmp(before, behind, n_before))
			fail_msg("%s changes its input", pass_at(i)->name);
		node = next;
	}
}

static void passes_do_not_change_their_input(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, input_stays(&px));
	px_fini(&px);
}

static void all_properties(struct px *px)
{
	struct made m;
	unsigned int have = ir_properties(px, after(px, &m, "AllocateMemoryAddr"));

	assert_int_equal(have & (PROP_TYPE_CHECKED | PROP_SPLIT_INCORE | PROP_BLOCK_OPS |
				 PROP_MEMREFS | PROP_ADDRESSES),
			 PROP_TYPE_CHECKED | PROP_SPLIT_INCORE | PROP_BLOCK_OPS | PROP_MEMREFS |
			 PROP_ADDRESSES);
}

static void last_pass_gives_addresses_and_keeps_the_rest(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, all_properties(&px));
	px_fini(&px);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_is_checked),
		cmocka_unit_test(tile_that_is_overwritten_too_early_is_found),
		cmocka_unit_test(unknown_pass_is_told_apart),
		cmocka_unit_test(pass_refuses_what_lacks_a_property),
		cmocka_unit_test(passes_do_not_change_their_input),
		cmocka_unit_test(last_pass_gives_addresses_and_keeps_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
