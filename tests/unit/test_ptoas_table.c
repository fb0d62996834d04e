/* SPDX-License-Identifier: MIT */
/* The table of instruction facts is well formed and says what sections 3.7, 4, 9.9 say (D30). */
#define _GNU_SOURCE
#include "ptoas_fixture.h"

#define A3	PTO_ARCH_A3
#define A5	PTO_ARCH_A5
#define P(p)	PTO_PIPE(p)
#define T(type)	"!pto.tile_buf<" type ">"

static void every_operation_is_found_by_its_name(void **state)
{
	enum pto_opcode code;
	const char *alias;
	size_t i;

	(void)state;
	for (i = 1; i < PTO_OPCODES; i++) {
		const struct pto_opinfo *info = pto_op_info((enum pto_opcode)i);

		assert_int_equal(pto_op_find(info->name, strlen(info->name)), i);
		assert_int_equal(info->code, i);
	}
	for (i = 0; (alias = pto_op_alias(i, &code)); i++)
		assert_int_equal(pto_op_find(alias, strlen(alias)), code);
	assert_int_equal(pto_op_find("pto.tfoo", 8), PTO_OP_NONE);
}

static void every_attribute_list_names_known_kinds(void **state)
{
	size_t i;

	(void)state;
	for (i = 1; i < PTO_OPCODES; i++) {
		const char *s = pto_op_info((enum pto_opcode)i)->attrs;

		while (*s && strcmp(s, "*")) {
			size_t name = strcspn(s, ": "), kind = strcspn(s + name + 1, " !");

			assert_int_equal(s[name], ':');
			if (kind == 1)
				assert_non_null(strchr("ibusya*", s[name + 1]));
			else
				assert_int_not_equal(pto_attr_enum_by_name(s + name + 1, kind),
						     PTO_A_NONE);
			s += name + 1 + kind;
			s += *s == '!';
			s += *s == ' ';
		}
	}
}

static void instructions_have_pipes_on_both_architectures(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 1; i < PTO_OPCODES; i++) {
		const struct pto_opinfo *info = pto_op_info((enum pto_opcode)i);

		assert_int_equal(info->pipes[A3] != 0, info->pipes[A5] != 0);
		for (k = 0; info->cxx && info->cxx[k]; k++)
			assert_true((info->cxx[k] >= 'A' && info->cxx[k] <= 'Z') ||
				    (info->cxx[k] >= '0' && info->cxx[k] <= '9') ||
				    info->cxx[k] == '_');
	}
}

/* The operation with a program of its own; the last but the return. */
static struct pto_op *last_op(struct program *p)
{
	struct pto_block *b = p->m->first->op->region[0].last;

	return b->last->prev;
}

static const struct {
	const char *tiles, *line;
	unsigned int a3, a5;
} pipes[] = {
	{ T("vec, 16x16xf32") "|" T("vec, 16x16xf32"), "tmov", P(V), P(V) },
	{ T("acc, 16x16xf32") "|" T("vec, 16x16xf32"), "tmov", P(FIX), P(FIX) },
	{ T("mat, 16x16xf16") "|" T("left, 16x16xf16"), "tmov", P(MTE1), P(MTE1) },
	{ T("mat, 16x16xf16") "|" T("scaling, 16x16xf16"), "tmov", P(MTE1) | P(FIX),
	 P(MTE1) | P(FIX) },
	{ T("mat, 16x2x!pto.f8E8M0") "|"
	  T("scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32"), "tmov", P(MTE1), P(MTE1) },
	{ T("vec, 16x16xf16") "|" T("mat, 16x16xf16"), "tmov", P(FIX) | P(V), P(FIX) | P(V) },
	{ T("vec, 16x16xf16") "|" T("vec, 16x16xf16"), "texp", P(V), P(V) },
	{ T("mat, 16x16xf16") "|" T("mat, 16x16xf16, pad=1"), "tfillpad", P(MTE2) | P(V),
	 P(MTE2) | P(V) },
	{ T("vec, 16x16xf16") "|" T("vec, 16x16xf16, pad=1"), "tfillpad", P(V), P(V) },
};

static void pipe_of_a_move_follows_the_address_spaces(void **state)
{
	struct program p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pipes) / sizeof(pipes[0]); i++) {
		const char *bar = strchr(pipes[i].tiles, '|');
		char *body;

		assert_true(asprintf(&body, "    %%t = pto.alloc_tile : %.*s\n"
				     "    %%u = pto.alloc_tile : %s\n"
				     "    pto.%s ins(%%t : !pto.tile_buf<...>) outs(%%u : "
				     "!pto.tile_buf<...>)\n",
				     (int)(bar - pipes[i].tiles), pipes[i].tiles, bar + 1,
				     pipes[i].line) > 0);
		program_body(&p, A3, body);
		assert_non_null(p.m);
		assert_int_equal(pto_op_pipes(last_op(&p), A3), pipes[i].a3);
		assert_int_equal(pto_op_pipes(last_op(&p), A5), pipes[i].a5);
		program_end(&p);
		free(body);
	}
}

/* Parses "%a, %b, %c = tiles; line" and returns the operation. */
static struct pto_op *op_of(struct program *p, const char *body)
{
	program_body(p, A3, body);
	if (!p->m)
		program_show(p);
	assert_non_null(p->m);
	return last_op(p);
}

#define THREE	"    %a = pto.alloc_tile : " T("vec, 16x16xf32") "\n" \
		"    %c = pto.alloc_tile : " T("vec, 16x16xf32") "\n" \
		"    %d = pto.alloc_tile : " T("vec, 16x16xf32") "\n" \
		"    %h = pto.alloc_tile : " T("vec, 16x16xf16") "\n" \
		"    %w = pto.alloc_tile : " T("vec, 16x16xi32") "\n" \
		"    %q = pto.alloc_tile : " T("vec, 16x1xf32, blayout=col_major") "\n" \
		"    %m = pto.alloc_tile : " T("vec, 16x32xi8") "\n"
#define ANY	"!pto.tile_buf<...>"

static void outputs_share_buffers_only_where_the_instruction_allows(void **state)
{
	struct program p;
	struct pto_op *op;

	(void)state;
	op = op_of(&p, THREE "    pto.tadd ins(%a, %c : " ANY ", " ANY ") outs(%d : " ANY ")\n");
	assert_true(pto_may_share(op, 0, 2));
	assert_true(pto_may_share(op, 1, 2));
	assert_false(pto_may_share(op, 0, 1)); /* not an output */
	program_end(&p);
	/* the third source is read after the first write of the destination */
	op = op_of(&p,
		   THREE "    pto.taddc ins(%a, %c, %c : " ANY ", " ANY ", " ANY ") outs(%d : " ANY
		   ")\n");
	assert_true(pto_may_share(op, 0, 3));
	assert_false(pto_may_share(op, 2, 3));
	program_end(&p);
	op = op_of(&p, THREE "    pto.tcvt ins(%a : " ANY ") outs(%h : " ANY ")\n");
	assert_false(pto_may_share(op, 0, 1)); /* other width */
	program_end(&p);
	op = op_of(&p, THREE "    pto.tcvt ins(%a : " ANY ") outs(%w : " ANY ")\n");
	assert_true(pto_may_share(op, 0, 1));
	program_end(&p);
	op = op_of(&p,
		   THREE "    pto.trowexpandmul ins(%a, %q : " ANY ", " ANY ") outs(%d : "
		   ANY ")\n");
	assert_true(pto_may_share(op, 0, 2));
	assert_false(pto_may_share(op, 1, 2)); /* the vector */
	program_end(&p);
	op = op_of(&p, THREE "    pto.ttrans ins(%a, %c : " ANY ", " ANY ") outs(%d : " ANY ")\n");
	assert_false(pto_may_share(op, 0, 2));
	program_end(&p);
	op = op_of(&p, THREE "    pto.tsel ins(%m, %a, %c, %w : " ANY ", " ANY ", " ANY ", " ANY
			     ") outs(%d : " ANY ")\n");
	assert_false(pto_may_share(op, 0, 4)); /* mask */
	assert_true(pto_may_share(op, 1, 4));
	assert_false(pto_may_share(op, 3, 4)); /* scratch */
	program_end(&p);
}

static void roles_tell_reads_writes_scratch_and_handles_apart(void **state)
{
	struct program p;
	struct pto_op *op;

	(void)state;
	op = op_of(&p, THREE "    pto.trowsum ins(%a, %c : " ANY ", " ANY ") outs(%q : " ANY ")\n");
	assert_int_equal(op->operand[0].role, PTO_ROLE_READ);
	assert_int_equal(op->operand[1].role, PTO_ROLE_SCRATCH);
	assert_int_equal(op->operand[2].role, PTO_ROLE_WRITE);
	program_end(&p);
	op = op_of(&p, THREE "    pto.taxpy ins(%a, %f : " ANY ", f32) outs(%d : " ANY ")\n");
	assert_int_equal(op->operand[1].role, PTO_ROLE_VALUE);
	assert_int_equal(op->operand[2].role, PTO_ROLE_UPDATE);
	program_end(&p);
	op = op_of(&p, THREE "    %r = pto.treshape %a : " ANY " -> " T("vec, 1x256xf32") "\n");
	assert_int_equal(op->operand[0].role, PTO_ROLE_BIND);
	assert_ptr_equal(pto_root(&op->result[0]), op->operand[0].value);
	program_end(&p);
	op = op_of(&p, "    pto.store_scalar %f, %pf[%n] : !pto.ptr<f32>, f32\n");
	assert_int_equal(op->operand[0].role, PTO_ROLE_VALUE);
	assert_int_equal(op->operand[1].role, PTO_ROLE_UPDATE);
	assert_int_equal(op->operand[2].role, PTO_ROLE_VALUE);
	program_end(&p);
}

static void uses_follow_every_change_of_a_program(void **state)
{
	struct pto_value *n, *c8;
	struct program p;
	struct pto_op *op;

	(void)state;
	op = op_of(&p, "    %x = arith.addi %n, %n : index\n");
	n = op->operand[0].value;
	c8 = &p.m->first->op->region[0].first->first->result[0];
	assert_ptr_equal(n->uses->op, op);
	assert_ptr_equal(n->uses->next->op, op);
	assert_null(n->uses->next->next);
	pto_set_operand(op, 1, c8);
	assert_null(n->uses->next);
	assert_ptr_equal(c8->uses->op, op);
	assert_int_equal(pto_add_operand(p.m, op, 0, n), 0);
	assert_int_equal(op->n_operands, 3);
	assert_ptr_equal(op->operand[0].value, n);
	assert_ptr_equal(op->operand[1].value, n);
	assert_ptr_equal(op->operand[2].value, c8);
	pto_replace_all_uses(n, c8);
	assert_null(n->uses);
	assert_ptr_equal(op->operand[1].value, c8);
	pto_remove(op);
	assert_null(c8->uses);
	program_end(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_is_found_by_its_name),
		cmocka_unit_test(every_attribute_list_names_known_kinds),
		cmocka_unit_test(instructions_have_pipes_on_both_architectures),
		cmocka_unit_test(pipe_of_a_move_follows_the_address_spaces),
		cmocka_unit_test(outputs_share_buffers_only_where_the_instruction_allows),
		cmocka_unit_test(roles_tell_reads_writes_scratch_and_handles_apart),
		cmocka_unit_test(uses_follow_every_change_of_a_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
