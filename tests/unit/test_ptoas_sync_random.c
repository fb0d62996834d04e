/* SPDX-License-Identifier: MIT */
/*
 * Random kernels through planner and synchronisation: the checker finds nothing, nor does a machine
 * that runs some paths; and what removing a flag or a barrier breaks, the checker finds.
 * SIMPLER_PTOAS_PROGRAMS: how many programs, 300 unless told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptoas_kernel_gen.h"

#define PATHS	4

struct outcome {
	unsigned int programs, syncs, greedy, instructions;
	unsigned int removed, matter, found;
};

static unsigned int programs(void)
{
	const char *n = getenv("SIMPLER_PTOAS_PROGRAMS");

	return n ? (unsigned int)atoi(n) : 300;
}

static struct pto_module *assemble(const struct pto_text *t, struct pto_options *o,
				   struct pto_diags *d)
{
	struct pto_module *m = pto_parse("random.pto", t->data, t->size, o, d);

	if (m && !pto_verify(m, o, d) && !pto_run_passes(m, o, d, NULL))
		return m;
	pto_diags_print(d, stderr);
	fail_msg("a random kernel does not assemble");
	return NULL;
}

static void show(struct pto_module *m, struct pto_diags *d, unsigned int i)
{
	struct pto_text t = { 0 };

	pto_print(m, &t);
	pto_diags_print(d, stderr);
	fprintf(stderr, "kernel %u:\n%s", i, t.data);
	pto_text_free(&t);
}

static unsigned int faults_of(const struct pto_module *m)
{
	unsigned int faults = 0, path;

	for (path = 0; path < PATHS; path++)
		faults += machine_faults(m, path * 1234567 + 1);
	return faults;
}

static bool checker_finds(struct pto_module *m, const struct pto_options *o)
{
	struct pto_diags d;
	int ret;

	pto_diags_init(&d);
	ret = pto_check_hazards(m, o, &d);
	pto_diags_fini(&d);
	return ret != 0;
}

struct counts {
	unsigned int syncs, instructions;
	struct pto_op *found[512];
	unsigned int n;
};

static int count(struct pto_op *op, void *arg)
{
	struct counts *c = arg;

	if (op->info->code == PTO_OP_WAIT_FLAG || op->info->code == PTO_OP_BARRIER) {
		c->syncs++;
		if (c->n < 512)
			c->found[c->n++] = op;
	}
	c->instructions += pto_op_pipes(op, PTO_ARCH_A3) != 0;
	return 0;
}

/*
 * What an inserter needs that looks at one operand after the other and knows no chains: a wait for
 * every pipe that uses the same buffer elsewhere in a way that conflicts.
 */
static int greedy(struct pto_op *op, void *arg)
{
	unsigned int pipes = pto_op_pipes(op, PTO_ARCH_A3), i, *n = arg;

	for (i = 0; pipes && i < op->n_operands; i++) {
		unsigned int others = 0;

		pto_for_each_use(u, op->operand[i].value)
			if (op->operand[i].role != PTO_ROLE_VALUE && u->op != op &&
			    !(u->role == PTO_ROLE_READ && op->operand[i].role == PTO_ROLE_READ))
				others |= pto_op_pipes(u->op, PTO_ARCH_A3);
		*n += (unsigned int)__builtin_popcount(others);
	}
	return 0;
}

/* Takes @op out, for a wait also the set in front of it of the same event, and puts both back. */
static void mutate(struct pto_module *m, struct pto_op *op, const struct pto_options *o,
		   struct outcome *r)
{
	struct pto_op *at = op->next, *set = op->prev, *behind = NULL;

	while (op->info->code == PTO_OP_WAIT_FLAG && set &&
	       (set->info->code != PTO_OP_SET_FLAG || machine_event(set) != machine_event(op)))
		set = set->prev;
	if (op->info->code == PTO_OP_BARRIER)
		set = NULL;
	if (set && set->prev) {
		behind = set->prev;
		pto_remove(set);
	}
	pto_remove(op);
	r->removed++;
	if (faults_of(m)) {
		r->matter++;
		r->found += checker_finds(m, o);
	}
	pto_insert_before(at, op);
	if (behind)
		pto_insert_after(behind, set);
}

static void run_one(unsigned int i, struct outcome *r)
{
	struct pto_options o = { .level = PTO_LEVEL2, .insert_sync = true, .arch_given = true,
				 .arch = i % 4 == 3 ? PTO_ARCH_A5 : PTO_ARCH_A3 };
	struct pto_text text = gen_kernel(i);
	struct counts c = { 0 };
	struct pto_diags d;
	struct pto_module *m;
	unsigned int k;

	pto_diags_init(&d);
	m = assemble(&text, &o, &d);
	m->arch = PTO_ARCH_A3;
	pto_walk(m->first->op, greedy, &r->greedy);
	m->arch = o.arch;
	if (pto_check_hazards(m, &o, &d)) {
		show(m, &d, i);
		fail_msg("the checker finds hazards in kernel %u", i);
	}
	if (o.arch == PTO_ARCH_A3 && faults_of(m)) {
		show(m, &d, i);
		fail_msg("the machine finds faults in kernel %u", i);
	}
	pto_walk(m->first->op, count, &c);
	r->programs++;
	r->syncs += c.syncs;
	r->instructions += c.instructions;
	for (k = 0; o.arch == PTO_ARCH_A3 && i % 4 == 0 && k < c.n; k++)
		mutate(m, c.found[k], &o, r);
	assert_false(checker_finds(m, &o));
	pto_module_free(m);
	pto_diags_fini(&d);
	pto_text_free(&text);
}

static void test_random_kernels_have_no_hazards_and_removed_waits_are_found(void **state)
{
	struct outcome r = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < programs(); i++)
		run_one(i, &r);
	print_message("%u programs, %u instructions: %u waits and barriers, one by one %u; "
		      "%u removed, %u matter, %u found\n", r.programs, r.instructions, r.syncs,
		      r.greedy, r.removed, r.matter, r.found);
	assert_true(2 * r.syncs <= r.greedy);
	assert_true(r.matter > r.removed / 4);
	assert_int_equal(r.found, r.matter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_kernels_have_no_hazards_and_removed_waits_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
