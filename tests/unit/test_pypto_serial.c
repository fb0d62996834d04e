/* SPDX-License-Identifier: MIT */
/* Programs as bytes: what is written is read back; bytes of any other origin do no harm. */
#include <msgpack.h>

#include "../../tools/pypto/equal.h"
#include "../../tools/pypto/print.h"
#include "../../tools/pypto/serial.h"
#include "pypto_fixture.h"

static void assert_refused(struct px *px, const void *bytes, size_t size, const char *what)
{
	struct ir_node *node;
	const char *why = NULL;

	assert_int_equal(ir_deserialize(px, bytes, size, &node, &why), -EBADMSG);
	assert_non_null(why);
	if (what && !strstr(why, what))
		fail_msg("'%s' does not say '%s'", why, what);
	assert_null(px->diags);
}

static void refused_node(struct px *px, struct ir_node *node, const char *what)
{
	const void *bytes;
	size_t size;

	ir_serialize(px, node, &bytes, &size);
	assert_refused(px, bytes, size, what);
}

static struct ir_node *read_back(struct px *px, const struct ir_node *node)
{
	struct ir_node *again;
	const char *why = NULL;
	const void *bytes;
	size_t size;

	ir_serialize(px, node, &bytes, &size);
	if (ir_deserialize(px, bytes, size, &again, &why))
		fail_msg("refused: %s", why);
	return again;
}

/* ---- What is written is read ---- */

static void round_trip(struct px *px)
{
	struct ir_node *again;
	const char *why;
	struct made m;

	make_program(px, &m);
	again = read_back(px, &m.program->node);
	assert_true(ir_equal(px, &m.program->node, again, false, &why));
	assert_int_equal(ir_hash(px, &m.program->node), ir_hash(px, again));
	assert_string_equal(ir_print(px, &m.program->node, "pl"), ir_print(px, again, "pl"));
	assert_int_equal(program_find(IR_AS(again, program), "main")->body->span.line, 2);
}

static void program_returns_from_its_bytes(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, round_trip(&px));
	px_fini(&px);
}

/* Loops inside each other, far more than the library's own reader follows. */
static void deep(struct px *px)
{
	struct ir_node *body = ir_values(px, IR_RETURN, (struct ir_list){ 0 }, AT(1)), *again;
	struct ir_list params = nodes(px, 1, ir_var(px, "o", matrix(px, TY_TENSOR, 1, 1), AT(1)));
	struct ir_function *f;
	int i;

	for (i = 0; i < 300; i++) {
		struct ir_for *loop = ir_new(px, IR_FOR, AT(1), NULL);

		loop->loop_var = ir_var(px, "i", type_scalar(px, DT_INDEX), AT(1));
		loop->start = loop->stop = number(px, 0);
		loop->step = number(px, 1);
		loop->body = body;
		body = &loop->node;
	}
	f = function_of(px, "f", FN_INCORE, params, nodes(px, 1, body));
	f->n_returns = 0;
	again = read_back(px, &f->node);
	assert_true(ir_equal(px, &f->node, again, false, NULL));
}

static void loops_inside_each_other_are_read_back(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, deep(&px));
	px_fini(&px);
}

/* A pass goes on with buffers that it finds by identity. */
static void buffers_stay_shared(struct px *px)
{
	struct ir_memref *m = ir_memref(px, MS_VEC, -1, 1024, 3, AT(1));
	struct made made;
	struct ir_node *again;
	struct ir_function *k;
	struct ir_list stmts;

	make_program(px, &made);
	made.t->type = type_with_memref(px, made.t->type, m);
	made.loop->iter_args.at[0]->type = type_with_memref(px, made.t->type, m);
	again = read_back(px, &made.program->node);
	k = program_find(IR_AS(again, program), "k");
	stmts = ir_stmts(&k->body);
	assert_non_null(IR_AS(stmts.at[0], assign)->var->type->memref);
	assert_ptr_equal(IR_AS(stmts.at[0], assign)->var->type->memref,
			 IR_AS(stmts.at[1], for)->iter_args.at[0]->type->memref);
	assert_string_equal(IR_AS(stmts.at[0], assign)->var->type->memref->name, "mem_vec_3");
}

static void variables_in_one_buffer_are_so_again(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, buffers_stay_shared(&px));
	px_fini(&px);
}

/* ---- Bytes of any origin ---- */

static void all_prefixes(struct px *px)
{
	const void *bytes;
	struct made m;
	size_t size, i;
	void *copy;

	make_program(px, &m);
	ir_serialize(px, &m.program->node, &bytes, &size);
	for (i = 0; i < size; i++) {
		copy = malloc(i + 1);	/* a sanitizer sees what is read behind the end */
		memcpy(copy, bytes, i);
		assert_refused(px, copy, i, "not MessagePack, or cut off");
		free(copy);
	}
}

static void bytes_that_are_cut_off_are_refused(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, all_prefixes(&px));
	px_fini(&px);
}

/* Whatever is accepted is a program that can be used. Return: as ir_deserialize(). */
static int use_bytes(struct px *px, const uint8_t *bytes, size_t size)
{
	struct pass_options options = { .verify = true };
	const struct px_pass *pass;
	const char *why = NULL;
	struct ir_node *node;
	size_t i;

	if (ir_deserialize(px, bytes, size, &node, &why)) {
		assert_non_null(why);
		return -EBADMSG;
	}
	read_back(px, node);
	ir_print(px, node, "pl");
	for (i = 0; (pass = pass_at(i)); i++)
		if (pass_run(px, pass->name, node, &options, &node)) {
			assert_true(px->n_errors > 0);
			break;
		}
	return 0;
}

static int use_flipped(const uint8_t *bytes, size_t size)
{
	struct px px;
	int rc;

	px_init(&px);
	px_guard(&px, rc, use_bytes(&px, bytes, size), -ENOMEM);
	px_fini(&px);
	assert_int_not_equal(rc, -ENOMEM);
	return rc;
}

static void all_flips(struct px *px)
{
	unsigned int refused = 0;
	const void *bytes;
	uint8_t *copy;
	struct made m;
	size_t size, i;

	make_program(px, &m);
	ir_serialize(px, &m.program->node, &bytes, &size);
	copy = malloc(size);
	memcpy(copy, bytes, size);
	assert_int_equal(use_flipped(copy, size), 0);
	for (i = 0; i < size; i++) {
		copy[i] ^= (uint8_t)(1 << i % 8);
		refused += use_flipped(copy, size) == -EBADMSG;
		copy[i] = ((const uint8_t *)bytes)[i];
	}
	free(copy);
	assert_true(refused > size / 4);	/* a name or a place may be another one */
}

static void flipped_bits_do_no_harm(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, all_flips(&px));
	px_fini(&px);
}

static void put_str(msgpack_packer *pk, const char *s)
{
	msgpack_pack_str(pk, strlen(s));
	msgpack_pack_str_body(pk, s, strlen(s));
}

static int append(void *data, const char *bytes, size_t n)
{
	text_bytes(data, bytes, n);
	return 0;
}

static void many_levels(struct px *px)
{
	struct text t = { .px = px };
	int i;

	for (i = 0; i < 1000000; i++)
		text_bytes(&t, "\x91", 1);	/* an array of one element */
	text_bytes(&t, "\xc0", 1);
	assert_refused(px, t.at, t.n, "too deep");
}

static void containers_without_end_are_refused(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, many_levels(&px));
	/* an array of four thousand million elements, of which there are none */
	guarded(&px, assert_refused(&px, "\xdd\xff\xff\xff\xff", 5, "cut off"));
	guarded(&px, assert_refused(&px, "\xdf\xff\xff\xff\xff", 5, "cut off"));
	guarded(&px, assert_refused(&px, "\xdb\xff\xff\xff\xff", 5, "cut off"));
	guarded(&px, assert_refused(&px, "\xc0\xc0", 2, "behind the end"));
	px_fini(&px);
}

/* A node whose second operand is the node with this number. */
static void binary_of_refs(struct px *px, struct text *t, int id, int left, int right)
{
	msgpack_packer pk;
	int refs[2] = { left, right }, i;

	(void)px;
	msgpack_packer_init(&pk, t, append);
	msgpack_pack_map(&pk, 3);
	put_str(&pk, "id");
	msgpack_pack_int(&pk, id);
	put_str(&pk, "type");
	put_str(&pk, "Add");
	put_str(&pk, "fields");
	msgpack_pack_map(&pk, 4);
	put_str(&pk, "type");
	msgpack_pack_map(&pk, 2);
	put_str(&pk, "type_kind");
	put_str(&pk, "ScalarType");
	put_str(&pk, "dtype");
	msgpack_pack_int(&pk, DT_INDEX);
	put_str(&pk, "span");
	msgpack_pack_map(&pk, 5);
	put_str(&pk, "filename");
	put_str(&pk, "x");
	for (i = 0; i < 4; i++) {
		static const char *const keys[] = { "begin_line", "begin_column", "end_line",
						    "end_column" };

		put_str(&pk, keys[i]);
		msgpack_pack_int(&pk, 1);
	}
	for (i = 0; i < 2; i++) {
		put_str(&pk, i ? "right" : "left");
		if (refs[i] < 0)
			continue;	/* the caller writes it */
		msgpack_pack_map(&pk, 1);
		put_str(&pk, "ref");
		msgpack_pack_int(&pk, refs[i]);
	}
}

static void node_inside_itself_is_refused(void **state)
{
	struct text t;
	struct px px;

	(void)state;
	px_init(&px);
	t = (struct text){ .px = &px };
	guarded(&px, binary_of_refs(&px, &t, 0, 0, 0));
	guarded(&px, assert_refused(&px, t.at, t.n, "unknown id in 'ref'"));
	px_fini(&px);
}

/* x0 + x0 of which each is x1 + x1, of which each ...: 2^60 nodes when all are visited */
static void repetitions(struct px *px)
{
	struct ir_node *x = number(px, 1);
	int i;

	for (i = 0; i < 60; i++)
		x = ir_binary(px, IR_ADD, x, x, DT_INDEX, AT(1));
	refused_node(px, x, "too many repetitions");
}

static void repetitions_that_multiply_are_refused(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, repetitions(&px));
	px_fini(&px);
}

/* ---- Nodes that the compiler never makes ---- */

static void wrong_condition(struct px *px, struct made *m)
{
	(void)px;
	m->branch->condition = m->t;
}

static void wrong_bound(struct px *px, struct made *m)
{
	m->loop->stop = ir_float(px, 2.0, DT_FP32, AT(1));
}

static void no_step(struct px *px, struct made *m)
{
	m->loop->step = number(px, 0);
}

static void function_in_a_body(struct px *px, struct made *m)
{
	(void)px;
	m->branch->else_body = &m->main->node;
}

static void expression_in_a_body(struct px *px, struct made *m)
{
	(void)px;
	m->branch->else_body = m->t;
}

static void constant_as_variable(struct px *px, struct made *m)
{
	m->branch->return_vars = nodes(px, 1, number(px, 1));
}

static void variable_as_carried(struct px *px, struct made *m)
{
	m->loop->iter_args = nodes(px, 1, ir_var(px, "z", m->t->type, AT(1)));
}

static void too_few_arguments(struct px *px, struct made *m)
{
	struct ir_list stmts = ir_stmts(&m->kernel->body);

	(void)px;
	IR_AS(IR_AS(stmts.at[0], assign)->value, call)->args.n = 1;
}

static void wrong_argument(struct px *px, struct made *m)
{
	struct ir_list stmts = ir_stmts(&m->kernel->body);

	IR_AS(IR_AS(stmts.at[0], assign)->value, call)->args = nodes(px, 3, m->n, pair_of(px, 0, 0),
								     pair_of(px, 16, 16));
}

static void wrong_result(struct px *px, struct made *m)
{
	struct ir_list stmts = ir_stmts(&m->kernel->body);

	IR_AS(stmts.at[0], assign)->value->type = matrix(px, TY_TILE, 8, 8);
}

static void number_that_does_not_fit(struct px *px, struct made *m)
{
	m->branch->condition = ir_binary(px, IR_GT, m->n, ir_int(px, 300, DT_INT8, AT(6)), DT_BOOL,
					 AT(6));
}

static void negative_extent(struct px *px, struct made *m)
{
	m->a->type = matrix(px, TY_TENSOR, -32, 16);
}

static void use_of_a_stranger(struct px *px, struct made *m)
{
	m->branch->else_body = yield_of(px, ir_var(px, "z", m->t->type, AT(1)));
}

static void call_with_too_few(struct px *px, struct made *m)
{
	(void)px;
	m->call->args.n = 2;
}

static const struct {
	void (*damage)(struct px *px, struct made *m);
	const char *what;
} damages[] = {
	{ wrong_condition, "'condition' of IfStmt must be a scalar" },
	{ wrong_bound, "'bounds' of ForStmt must be integers" },
	{ no_step, "'step' of ForStmt must be another number than 0" },
	{ function_in_a_body, "'else_body' of IfStmt must be a statement" },
	{ expression_in_a_body, "'else_body' of IfStmt must be a statement" },
	{ constant_as_variable, "'return_vars' of IfStmt must be a list of variables" },
	{ variable_as_carried, "'iter_args' of ForStmt must be a list of variables" },
	{ too_few_arguments, "The operator block.load requires" },
	{ wrong_argument, "The operator block.load requires first argument to be a TensorType" },
	{ wrong_result, "a call of block.load gives" },
	{ number_that_does_not_fit, "'value' of ConstInt must be one of its element type" },
	{ negative_extent, "extent -32 is negative" },
	{ use_of_a_stranger, "A variable is used before it is defined: z" },
	{ call_with_too_few, "A call has another number of arguments than the function: k" },
};

static void one_damage(struct px *px, size_t i)
{
	struct made m;

	make_program(px, &m);
	damages[i].damage(px, &m);
	refused_node(px, &m.program->node, damages[i].what);
}

static void nodes_that_no_compiler_makes_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++)
		guarded_row(one_damage, i);
}

static void same_name_twice(struct px *px)
{
	struct made m;

	make_program(px, &m);
	list_push(px, &m.program->functions, ir_copy(px, &m.kernel->node));
	refused_node(px, &m.program->node, "duplicate function name 'k'");
}

static void functions_of_one_name_are_refused(void **state)
{
	struct px px;

	(void)state;
	px_init(&px);
	guarded(&px, same_name_twice(&px));
	px_fini(&px);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(program_returns_from_its_bytes),
		cmocka_unit_test(loops_inside_each_other_are_read_back),
		cmocka_unit_test(variables_in_one_buffer_are_so_again),
		cmocka_unit_test(bytes_that_are_cut_off_are_refused),
		cmocka_unit_test(flipped_bits_do_no_harm),
		cmocka_unit_test(containers_without_end_are_refused),
		cmocka_unit_test(node_inside_itself_is_refused),
		cmocka_unit_test(repetitions_that_multiply_are_refused),
		cmocka_unit_test(nodes_that_no_compiler_makes_are_refused),
		cmocka_unit_test(functions_of_one_name_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
