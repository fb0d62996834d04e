/* SPDX-License-Identifier: MIT */
/*
 * Random programs: built operation by operation from the instruction table, printed, parsed and
 * printed again. The two prints are equal, and the parsed program has what the built one had.
 */
#define _GNU_SOURCE
#include "ptoas_fixture.h"

#define PROGRAMS	400
#define MAX_VALUES	400

struct gen {
	struct pto_module *m;
	struct pto_value *values[MAX_VALUES];
	unsigned int n_values;
	uint64_t seed;
};

static uint32_t rnd(struct gen *g, uint32_t below)
{
	g->seed = g->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(g->seed >> 33) % below;
}

static const struct pto_type *random_tile(struct gen *g)
{
	static const uint16_t fractals[] = { 512, 1024, 32, 16 };
	struct pto_type t = { .kind = PTO_T_TILE, .rank = 2 };
	unsigned int k;

	t.elem = (uint8_t)(PTO_I8 + rnd(g, PTO_ELEMS - PTO_I8));
	t.space = (uint8_t)(PTO_SPACE_MAT + rnd(g, PTO_SPACES - PTO_SPACE_MAT));
	for (k = 0; k < 2; k++) {
		t.dim[k] = rnd(g, 100);
		t.valid[k] = rnd(g, 3) ? t.dim[k] : rnd(g, 2) ? PTO_DYNAMIC :
			     (int64_t)rnd(g, (uint32_t)t.dim[k] + 1);
	}
	/* the parser decides the layout of left tiles by itself */
	t.blayout = t.space == PTO_SPACE_LEFT ? PTO_ROW_MAJOR : (uint8_t)rnd(g, 2);
	t.slayout = (uint8_t)rnd(g, 3);
	t.fractal = fractals[rnd(g, 4)];
	t.pad = (uint8_t)rnd(g, 4);
	t.compact = (uint8_t)rnd(g, 3);
	return pto_type_get(g->m, &t);
}

static const struct pto_type *random_type(struct gen *g)
{
	struct pto_type t = { .kind = PTO_T_PART };
	unsigned int k;

	switch (rnd(g, 6)) {
	case 0:
	case 1:
		return random_tile(g);
	case 2:
		t.kind = rnd(g, 2) ? PTO_T_VIEW : PTO_T_PART;
		t.rank = (uint8_t)(1 + rnd(g, 5));
		for (k = 0; k < t.rank; k++)
			t.dim[k] = rnd(g, 3) ? rnd(g, 1000) : PTO_DYNAMIC;
		t.elem = (uint8_t)(PTO_I8 + rnd(g, PTO_ELEMS - PTO_I8));
		return pto_type_get(g->m, &t);
	case 3:
		t.kind = PTO_T_MEMREF;
		t.rank = (uint8_t)(1 + rnd(g, 3));
		for (k = 0; k < t.rank; k++)
			t.dim[k] = rnd(g, 50);
		t.elem = PTO_F32;
		t.space = (uint8_t)rnd(g, PTO_SPACES);
		return pto_type_get(g->m, &t);
	case 4:
		t.kind = PTO_T_VECTOR;
		t.rank = 1;
		t.dim[0] = 4;
		t.elem = PTO_I16;
		return pto_type_get(g->m, &t);
	}
	return pto_scalar(g->m, (enum pto_elem)(PTO_INDEX + rnd(g, PTO_F8E4M3FN - PTO_INDEX)));
}

/* A name, perhaps one that others have too; the printer must keep values apart. */
static struct pto_name *random_name(struct gen *g)
{
	char text[16];

	if (!rnd(g, 3))
		return NULL;
	snprintf(text, sizeof(text), rnd(g, 2) ? "v%u" : "%u", rnd(g, 40));
	return pto_intern_text(g->m, text);
}

static void keep(struct gen *g, struct pto_value *v)
{
	if (g->n_values < MAX_VALUES)
		g->values[g->n_values++] = v;
}

static struct pto_value *pick(struct gen *g)
{
	return g->values[rnd(g, g->n_values)];
}

static struct pto_attr random_attr(struct gen *g)
{
	static const char *const texts[] = { "", "plain", "quote\"", "back\\slash", "line\n",
					    "\xff" };
	struct pto_attr a = { .kind = PTO_ATTR_UNIT };
	size_t n = 0;

	switch (rnd(g, 6)) {
	case 0:
		a.kind = PTO_ATTR_BOOL;
		a.i = rnd(g, 2);
		break;
	case 1:
		a.kind = PTO_ATTR_INT;
		a.i = (int64_t)rnd(g, 1000) - 500;
		a.type = rnd(g, 2) ? NULL : pto_scalar(g->m, rnd(g, 2) ? PTO_I32 : PTO_INDEX);
		break;
	case 2:
		a.kind = PTO_ATTR_FLOAT;
		a.f = (double)(int)rnd(g, 20000) / 7 * (rnd(g, 2) ? 1e20 : -1e-20);
		a.type = rnd(g, 2) ? NULL : pto_scalar(g->m, PTO_F32);
		break;
	case 3:
		a.kind = PTO_ATTR_STRING;
		a.text = pto_intern_text(g->m, texts[rnd(g, 6)]);
		break;
	case 4:
		a.kind = PTO_ATTR_ENUM;
		a.of = (uint8_t)(1 + rnd(g, PTO_ATTR_ENUMS - 1));
		a.i = rnd(g, 16);
		if (!pto_attr_enum_value((enum pto_attr_enum)a.of, a.i, &n))
			a.i = 0;
		break;
	}
	return a;
}

/* One operation of the ins/outs form with operands that its signature takes, if luck finds some. */
static bool try_op(struct gen *g, struct pto_block *b, enum pto_opcode code)
{
	unsigned int ins = rnd(g, 6), outs = rnd(g, 3), i;
	struct pto_op_shape shape = { .operands = ins + outs };
	struct pto_op *op = pto_op_new(g->m, code, shape, (struct pto_loc){ .at = PTO_NO_PLACE });

	for (i = 0; i < ins + outs; i++) {
		pto_set_operand(op, i, pick(g));
		op->operand[i].group = i >= ins;
	}
	pto_append(b, op);
	if (pto_op_bind(op)) {
		pto_remove(op);
		return false;
	}
	while (rnd(g, 2)) {
		struct pto_attr a = random_attr(g);
		char name[16];

		snprintf(name, sizeof(name), rnd(g, 4) ? "x.a%u" : "odd %u", rnd(g, 9));
		a.name = pto_intern_text(g->m, name);
		assert_int_equal(pto_set_attr(g->m, op, a), 0);
	}
	return true;
}

static void random_const(struct gen *g, struct pto_block *b)
{
	struct pto_op_shape shape = { .results = 1, .attrs = 1 };
	struct pto_op *op = pto_op_new(g->m, PTO_OP_CONSTANT, shape,
				       (struct pto_loc){ .at = PTO_NO_PLACE });

	op->result[0].type = pto_scalar(g->m, rnd(g, 2) ? PTO_I32 : PTO_INDEX);
	op->result[0].name = random_name(g);
	op->attr[0] = (struct pto_attr){ .name = pto_intern_text(g->m, "value"),
					 .kind = PTO_ATTR_INT, .i = rnd(g, 100),
					 .type = op->result[0].type };
	pto_append(b, op);
	keep(g, &op->result[0]);
}

static void fill_block(struct gen *g, struct pto_block *b, unsigned int depth);

static void random_loop(struct gen *g, struct pto_block *b, unsigned int depth)
{
	struct pto_op_shape shape = { .operands = 3, .regions = 1 };
	struct pto_op *op = pto_op_new(g->m, PTO_OP_FOR, shape,
				       (struct pto_loc){ .at = PTO_NO_PLACE });
	unsigned int before = g->n_values, i;
	struct pto_block *body;

	for (i = 0; i < 3; i++) {
		pto_set_operand(op, i, g->values[0]); /* an index */
		op->operand[i].group = (uint8_t)i;
	}
	pto_append(b, op);
	body = pto_block_new(g->m, &op->region[0], 1);
	body->args[0].type = pto_scalar(g->m, PTO_INDEX);
	body->args[0].name = random_name(g);
	keep(g, &body->args[0]);
	fill_block(g, body, depth + 1);
	pto_append(body, pto_op_new(g->m, PTO_OP_YIELD, (struct pto_op_shape){ 0 },
				    (struct pto_loc){ .at = PTO_NO_PLACE }));
	g->n_values = before;
}

static void fill_block(struct gen *g, struct pto_block *b, unsigned int depth)
{
	unsigned int n = 5 + rnd(g, 30), i, tries;

	for (i = 0; i < n; i++) {
		uint32_t what = rnd(g, 12);
		enum pto_opcode code;

		if (!what && depth < 4) {
			random_loop(g, b, depth);
		} else if (what < 3) {
			random_const(g, b);
		} else {
			do
				code = (enum pto_opcode)(1 + rnd(g, PTO_OPCODES - 1));
			while (strncmp(pto_op_info(code)->format, "io", 2));
			for (tries = 0; tries < 50 && !try_op(g, b, code); tries++)
				;
		}
	}
}

static void random_func(struct gen *g)
{
	struct pto_func *f = arena_new(&g->m->arena, struct pto_func);
	struct pto_block *b;
	unsigned int i;

	f->module = g->m;
	f->op = pto_op_new(g->m, PTO_OP_FUNC, (struct pto_op_shape){ .regions = 1 },
			   (struct pto_loc){ .at = PTO_NO_PLACE });
	f->name = pto_intern_text(g->m, "random");
	g->m->first = g->m->last = f;
	f->n_args = 24;
	f->arg_types = arena_zalloc(&g->m->arena, f->n_args, sizeof(*f->arg_types));
	b = pto_block_new(g->m, &f->op->region[0], f->n_args);
	for (i = 0; i < f->n_args; i++) {
		f->arg_types[i] = i ? random_type(g) : pto_scalar(g->m, PTO_INDEX);
		b->args[i].type = f->arg_types[i];
		b->args[i].name = random_name(g);
		keep(g, &b->args[i]);
	}
	fill_block(g, b, 0);
	pto_append(b, pto_op_new(g->m, PTO_OP_RETURN, (struct pto_op_shape){ 0 },
				 (struct pto_loc){ .at = PTO_NO_PLACE }));
}

static int count_ops(struct pto_op *op, void *arg)
{
	unsigned int *n = arg;

	n[op->info->code]++;
	return 0;
}

static void check_program(uint64_t seed, unsigned int seen[PTO_OPCODES])
{
	static const struct pto_options o = { .arch_given = true, .arch = PTO_ARCH_A3 };
	unsigned int built[PTO_OPCODES] = { 0 }, parsed[PTO_OPCODES] = { 0 }, i;
	struct gen g = { .m = pto_module_new("random"), .seed = seed };
	struct pto_text first = { 0 }, second = { 0 };
	struct pto_module *again;
	struct pto_diags d;

	pto_diags_init(&d);
	random_func(&g);
	pto_print(g.m, &first);
	again = pto_parse("print", first.data, first.size, &o, &d);
	if (!again) {
		pto_diags_print(&d, stderr);
		fail_msg("seed %llu: the print does not parse", (unsigned long long)seed);
	}
	pto_print(again, &second);
	assert_string_equal(first.data, second.data);
	pto_walk(g.m->first->op, count_ops, built);
	pto_walk(again->first->op, count_ops, parsed);
	assert_memory_equal(built, parsed, sizeof(built));
	for (i = 0; i < PTO_OPCODES; i++)
		seen[i] += built[i];
	pto_module_free(g.m);
	pto_module_free(again);
	pto_text_free(&first);
	pto_text_free(&second);
	pto_diags_fini(&d);
}

static void printed_random_programs_parse_to_the_same_print(void **state)
{
	unsigned int seen[PTO_OPCODES] = { 0 }, kinds = 0, i;

	(void)state;
	for (i = 0; i < PROGRAMS; i++)
		check_program(i + 1, seen);
	for (i = 0; i < PTO_OPCODES; i++)
		kinds += seen[i] > 0;
	/* most instructions were found operands for: the generator has not gone blind */
	assert_true(kinds > 90);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(printed_random_programs_parse_to_the_same_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
