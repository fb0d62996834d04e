/* SPDX-License-Identifier: MIT */
/* What passes gave, in the eyes of the assembler's hazard checker. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../ptoas/sync.h"
#include "machine.h"
#include "ops.h"
#include "pass.h"

static bool find_system(void *data, struct ir_node *node)
{
	if (node->kind == IR_CALL && IR_AS(node, call)->op &&
	    op_is(IR_AS(node, call)->op, "system"))
		*(bool *)data = true;
	return true;
}

static bool check_event(void *data, struct ir_node *node)
{
	const struct ir_call *call = IR_AS(node, call);

	if (node->kind != IR_CALL || !call->op || strncmp(call->op->name, "system.sync_", 12))
		return true;
	if (call_attr(call, "event_id") < 0 || call_attr(call, "event_id") > 7)
		diag_add(data, DIAG_COMPILE, node->span,
			 "event_id %lld is none of the hardware's: each pair of pipes has 0 to 7",
			 (long long)call_attr(call, "event_id"));
	return true;
}

static bool events_possible(struct px *px, const struct ir_function *f)
{
	unsigned int before = px->n_errors;

	ir_walk(f->body, check_event, px);
	return px->n_errors == before;
}

bool pass_has_sync(const struct ir_function *f)
{
	bool found = false;

	ir_walk(f->body, find_system, &found);
	return found;
}

/* The place "file:line:col" of a diagnostic, in the file of @f. */
static struct span place_of(const struct ir_function *f, const char *origin)
{
	struct span span = f->node.span;
	const char *col = origin ? strrchr(origin, ':') : NULL, *line = col;

	while (line && line > origin && line[-1] != ':')
		line--;
	if (!line || line == origin)
		return span;
	span.line = span.end_line = (uint32_t)strtoul(line, NULL, 10);
	span.col = (uint32_t)strtoul(col + 1, NULL, 10);
	span.end_col = span.col + 1;
	return span;
}

static void report(struct px *px, const struct px_pass *pass, const struct ir_function *f,
		   const struct pto_diags *d)
{
	const struct pto_diag *e;

	for (e = d->first; e; e = e->next)
		if (e->severity == PTO_ERROR)
			diag_add(px, DIAG_COMPILE, f->node.span,
				 "Internal error: pass %s gave a program with a hazard in function '%s': %s%s%s",
				 pass->name, f->name, e->text, e->origin ? " at " : "",
				 e->origin ? e->origin : "");
}

/* Synchronisation in the text is its author's. */
static void report_authored(struct px *px, const struct ir_function *f, const struct pto_diags *d)
{
	const struct pto_diag *e;

	for (e = d->first; e; e = e->next)
		if (e->severity == PTO_ERROR)
			diag_hint(px, diag_add(px, DIAG_COMPILE, place_of(f, e->origin),
					       "The synchronisation in function '%s' is not enough: %s",
					       f->name, e->text),
				  "Leave pl.system calls out, and the compiler inserts them");
}

/*
 * Memory: the assembler adds the synchronisation, so that all that can be wrong is where the
 * variables are. Synchronisation: the program's own.
 */
static int complete(struct pto_pass_ctx *c, struct pto_op *func)
{
	struct sync s = { .c = c };
	int rc = sync_decide(&s, func);

	if (!rc)
		rc = sync_write(&s);
	sync_fini(&s);
	return rc;
}

static void free_diags(void *d)
{
	pto_diags_fini(d);
}

static int check_function(struct px *px, const struct px_pass *pass, const struct ir_function *f,
			  int arch, enum machine_view view)
{
	bool authored = view == MACHINE_BUFFERS && (pass->check & CHECK_AUTHORED);
	struct pto_options options = { .arch_given = true, .arch = (enum pto_arch)arch };
	struct pto_pass_ctx c = { .options = &options, .arch = (enum pto_arch)arch };
	struct pto_diags *d = px_new(px, struct pto_diags);
	struct machine mc;
	int rc = machine_build(&mc, px, f, (enum pto_arch)arch, view);

	pto_diags_init(d);
	px_own(px, free_diags, d);
	c.module = mc.m;
	c.diags = d;
	if (!rc && !mc.full) {
		if (view == MACHINE_VALUES)
			rc = complete(&c, mc.func->op);
		rc = rc ? rc : pto_check_hazards(mc.m, &options, d);
		if (rc == -EINVAL && authored)
			report_authored(px, f, d);
		else if (rc == -EINVAL)
			report(px, pass, f, d);
	}
	px_release(px, d);
	machine_fini(&mc);
	return rc;
}

static bool count_variable(void *data, struct ir_node *node)
{
	*(uint32_t *)data += node->kind == IR_ASSIGN;
	return node->kind >= IR_ASSIGN;
}

static uint32_t variables(const struct ir_function *f)
{
	uint32_t n = 0;

	ir_walk(f->body, count_variable, &n);
	return n;
}

static bool is_kernel(const struct ir_function *f)
{
	return f->func_type == FN_INCORE || f->func_type == FN_BLOCK_INCORE;
}

int pass_check(struct px *px, const struct px_pass *pass, const struct ir_program *program,
	       int arch)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < program->functions.n && !rc; i++) {
		const struct ir_function *f = IR_AS(program->functions.at[i], function);

		if (!is_kernel(f))
			continue;
		if ((pass->check & CHECK_AUTHORED) && !events_possible(px, f))
			return -EINVAL;
		if (pass->check & CHECK_MEMORY)
			rc = pass_check_values(px, pass, f);
		if (!rc && pass->check == CHECK_ALL && variables(f) <= PASS_CHECK_VARIABLES)
			rc = check_function(px, pass, f, arch, MACHINE_VALUES);
		if (!rc && (pass->check & (CHECK_SYNC | CHECK_AUTHORED)) && pass_has_sync(f))
			rc = check_function(px, pass, f, arch, MACHINE_BUFFERS);
	}
	return rc;
}
