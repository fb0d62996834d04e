/* SPDX-License-Identifier: MIT */
/* Printer: IR as the Python text that the front end reads back. spec pypto.md section 6. */
#ifndef PYPTO_PRINT_H
#define PYPTO_PRINT_H

#include "ir.h"

/**
 * ir_print() - text of a program, function, statement or expression
 * @prefix: name of pypto.language in the text, "pl"
 *
 * Return: text in the arena of @px.
 */
const char *ir_print(struct px *px, const struct ir_node *node, const char *prefix);
const char *ir_print_type(struct px *px, const struct ir_type *type, const char *prefix);

/* ---- Shared by the files of the printer ---- */

struct printer {
	struct px *px;
	struct text out;
	const char *prefix;
	unsigned int indent;
	bool in_program;
};

void print_type(struct printer *p, const struct ir_type *type);
void print_expr(struct printer *p, const struct ir_node *e);
void print_list(struct printer *p, const struct ir_list *list);

#endif
