/* SPDX-License-Identifier: MIT */
/*
 * Serialised programs of the PyPTO compiler as an attacker would write them. What is accepted can be
 * written, read and printed, means the same when it has been written and read again, and can be
 * taken through all passes and generators: a mistake may be found there, a crash may not. The last
 * byte chooses architecture and back end, so that plain files are seeds.
 *
 * `make fuzz` builds and runs it; seeds are what tests/fuzz/pypto_seeds.py writes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../tools/pypto/equal.h"
#include "../../tools/pypto/gen.h"
#include "../../tools/pypto/pass.h"
#include "../../tools/pypto/print.h"
#include "../../tools/pypto/serial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(struct px *px, const struct ir_node *node)
{
	const void *bytes;
	struct ir_node *again;
	const char *why = NULL;
	size_t size;

	ir_serialize(px, node, &bytes, &size);
	if (ir_deserialize(px, bytes, size, &again, &why) || !ir_equal(px, node, again, true, &why)) {
		fprintf(stderr, "not the same when read again: %s\n%s", why,
			ir_print(px, node, "pl"));
		abort();
	}
	if (ir_hash(px, node) != ir_hash(px, again))
		abort();
}

static void generate_all(struct px *px, const struct ir_program *program, int choice)
{
	enum gen_arch arch = choice & 1 ? ARCH_A5 : ARCH_A2A3;
	const struct ir_function *orch = gen_orchestration_of(px, program);
	uint32_t i;

	for (i = 0; i < program->functions.n && !px->n_errors; i++) {
		const struct ir_function *f = IR_AS(program->functions.at[i], function);

		if (f->func_type != FN_INCORE && f->func_type != FN_BLOCK_INCORE)
			continue;
		if (choice & 2)
			gen_cce(px, program, f, arch);
		else
			gen_pto(px, program, f, arch);
	}
	if (orch && !px->n_errors)
		gen_orchestration(px, program, orch);
}

static int use(struct px *px, const uint8_t *data, size_t size)
{
	struct pass_options options = { .verify = true, .arch = data[size - 1] & 1 };
	const struct px_pass *pass;
	struct ir_node *node;
	const char *why;
	size_t i;

	if (ir_deserialize(px, data, size, &node, &why))
		return why ? 0 : -1;
	check_round_trip(px, node);
	ir_print(px, node, "pl");
	if (node->kind != IR_PROGRAM)
		return 0;
	for (i = 0; (pass = pass_at(i)); i++)
		if (!(pass->flags & PASS_APART) &&
		    (!(pass->flags & PASS_CCE_ONLY) || data[size - 1] & 2) &&
		    pass_run(px, pass->name, node, &options, &node))
			return px->n_errors ? 0 : -1;
	generate_all(px, IR_AS(node, program), data[size - 1]);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct px px;
	int rc;

	if (!size)
		return 0;
	px_init(&px);
	px_guard(&px, rc, use(&px, data, size), 0);
	px_fini(&px);
	if (rc)
		abort();	/* refused without a reason */
	return 0;
}
