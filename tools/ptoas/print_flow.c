/* SPDX-License-Identifier: MIT */
/* Operations with a syntax of their own, the other way round. */
#include <string.h>

#include "print.h"

static void result_types(struct printer *p, const struct pto_op *op, bool always)
{
	unsigned int i;

	if (!op->n_results && !always)
		return;
	pto_text_str(p->out, op->n_results == 1 ? " -> " : " -> (");
	for (i = 0; i < op->n_results; i++) {
		pto_text_str(p->out, i ? ", " : "");
		pto_print_type(op->result[i].type, p->out);
	}
	if (op->n_results != 1)
		pto_text_char(p->out, ')');
}

/* Loops and branches write their results between parentheses. */
static void result_list(struct printer *p, const struct pto_op *op)
{
	if (op->n_results != 1) {
		result_types(p, op, false);
		return;
	}
	pto_text_str(p->out, " -> (");
	pto_print_type(op->result[0].type, p->out);
	pto_text_char(p->out, ')');
}

static void operand_types(struct printer *p, const struct pto_op *op)
{
	unsigned int i;

	pto_text_char(p->out, '(');
	for (i = 0; i < op->n_operands; i++) {
		pto_text_str(p->out, i ? ", " : "");
		pto_print_type(op->operand[i].value->type, p->out);
	}
	pto_text_char(p->out, ')');
}

/* "(%x = %init, ...)" */
static void inits(struct printer *p, const struct pto_op *op, unsigned int first,
		  const struct pto_value *args)
{
	unsigned int i;

	pto_text_char(p->out, '(');
	for (i = first; i < op->n_operands; i++) {
		pto_text_str(p->out, i > first ? ", " : "");
		print_value(p, &args[i - first]);
		pto_text_str(p->out, " = ");
		print_value(p, op->operand[i].value);
	}
	pto_text_char(p->out, ')');
}

static void print_for(struct printer *p, const struct pto_op *op)
{
	const struct pto_block *body = op->region[0].first;
	const struct pto_type *t = op->operand[0].value->type;

	pto_text_char(p->out, ' ');
	print_value(p, &body->args[0]);
	pto_text_str(p->out, " = ");
	print_operands(p, op, 0);
	pto_text_str(p->out, " to ");
	print_operands(p, op, 1);
	pto_text_str(p->out, " step ");
	print_operands(p, op, 2);
	if (op->n_operands > 3) {
		pto_text_str(p->out, " iter_args");
		inits(p, op, 3, body->args + 1);
	}
	result_list(p, op);
	if (!pto_is_index(t)) {
		pto_text_str(p->out, " : ");
		pto_print_type(t, p->out);
	}
	pto_text_char(p->out, ' ');
	print_region(p, &op->region[0], false);
	print_attrs(p, op, "");
}

static void print_if(struct printer *p, const struct pto_op *op)
{
	pto_text_char(p->out, ' ');
	print_operands(p, op, 0);
	result_list(p, op);
	pto_text_char(p->out, ' ');
	print_region(p, &op->region[0], true);
	if (op->region[1].first) {
		pto_text_str(p->out, " else ");
		print_region(p, &op->region[1], true);
	}
	print_attrs(p, op, "");
}

static void print_while(struct printer *p, const struct pto_op *op)
{
	pto_text_char(p->out, ' ');
	if (op->n_operands) {
		inits(p, op, 0, op->region[0].first->args);
		pto_text_char(p->out, ' ');
	}
	pto_text_str(p->out, ": ");
	operand_types(p, op);
	result_types(p, op, true);
	pto_text_char(p->out, ' ');
	print_region(p, &op->region[0], false);
	pto_text_str(p->out, " do ");
	print_region(p, &op->region[1], true);
}

static void print_exec(struct printer *p, const struct pto_op *op)
{
	result_types(p, op, false);
	pto_text_char(p->out, ' ');
	print_region(p, &op->region[0], true);
}

static void print_switch(struct printer *p, const struct pto_op *op)
{
	const struct pto_attr *cases = pto_attr_find(op, "cases");
	unsigned int i;

	pto_text_char(p->out, ' ');
	print_operands(p, op, 0);
	result_types(p, op, false);
	for (i = 1; i < op->n_regions; i++) {
		pto_text_char(p->out, '\n');
		print_indent(p);
		pto_text_str(p->out, "case ");
		if (cases && cases->kind == PTO_ATTR_ARRAY && i <= cases->count)
			pto_text_int(p->out, cases->list[i - 1].i);
		pto_text_char(p->out, ' ');
		print_region(p, &op->region[i], true);
	}
	pto_text_char(p->out, '\n');
	print_indent(p);
	pto_text_str(p->out, "default ");
	print_region(p, &op->region[0], true);
}

static void print_target(struct printer *p, const struct pto_op *op, unsigned int which,
			 unsigned int group)
{
	const char *sep = "";
	unsigned int i;

	print_name(p, '^', op->succ[which]->label);
	if (!pto_group_count(op, group))
		return;
	pto_text_char(p->out, '(');
	print_operands(p, op, group);
	pto_text_str(p->out, " : ");
	for (i = 0; i < op->n_operands; i++) {
		if (op->operand[i].group != group)
			continue;
		pto_text_str(p->out, sep);
		pto_print_type(op->operand[i].value->type, p->out);
		sep = ", ";
	}
	pto_text_char(p->out, ')');
}

static void print_br(struct printer *p, const struct pto_op *op)
{
	pto_text_char(p->out, ' ');
	print_target(p, op, 0, 0);
}

static void print_cond_br(struct printer *p, const struct pto_op *op)
{
	pto_text_char(p->out, ' ');
	print_operands(p, op, 0);
	pto_text_str(p->out, ", ");
	print_target(p, op, 0, 1);
	pto_text_str(p->out, ", ");
	print_target(p, op, 1, 2);
}

static void print_call(struct printer *p, const struct pto_op *op)
{
	const struct pto_attr *callee = pto_attr_find(op, "callee");

	pto_text_char(p->out, ' ');
	if (callee)
		print_attr(p, callee, false);
	pto_text_char(p->out, '(');
	print_operands(p, op, 0);
	pto_text_str(p->out, ") : ");
	operand_types(p, op);
	result_types(p, op, true);
}

static void print_const(struct printer *p, const struct pto_op *op)
{
	const struct pto_attr *value = pto_attr_find(op, "value");

	if (op->n_attrs > 1)
		print_attrs(p, op, "@value.");
	pto_text_char(p->out, ' ');
	if (value)
		print_attr(p, value, true);
}

static void print_pipe(struct printer *p, const struct pto_op *op)
{
	static const char *const names[] = { "gm_slot_buffer", "c2v_consumer_buf",
					     "v2c_consumer_buf" };
	unsigned int i;

	print_attrs(p, op, "");
	pto_text_str(p->out, " (");
	for (i = 0; i < op->n_operands; i++) {
		pto_text_str(p->out, i ? ", " : "");
		pto_text_str(p->out, names[op->operand[i].group % 3]);
		pto_text_str(p->out, " = ");
		print_value(p, op->operand[i].value);
		pto_text_str(p->out, " : ");
		pto_print_type(op->operand[i].value->type, p->out);
	}
	pto_text_char(p->out, ')');
	result_types(p, op, false);
}

static const struct {
	const char *name;
	void (*print)(struct printer *p, const struct pto_op *op);
} customs[] = {
	{ "for", print_for }, { "if", print_if }, { "while", print_while }, { "exec", print_exec },
	{ "switch", print_switch }, { "br", print_br }, { "cond_br", print_cond_br },
	{ "call", print_call }, { "const", print_const }, { "pipe", print_pipe },
};

void print_custom(struct printer *p, const struct pto_op *op, const char *which)
{
	size_t i;

	for (i = 0; i < sizeof(customs) / sizeof(customs[0]); i++)
		if (!strcmp(customs[i].name, which))
			customs[i].print(p, op);
}
