/* SPDX-License-Identifier: MIT */
/* Whether a node that came from outside is one that the compiler could have made itself. */
#ifndef PYPTO_FORM_H
#define PYPTO_FORM_H

#include "ir.h"

/**
 * ir_form() - what is wrong with @node, whose children are right
 *
 * Looks at the fields, at the types of operands, and at operators' rules, as far as the node alone
 * shows them. What needs the whole function (definitions before uses, calls of functions, yields)
 * is the verifier's.
 *
 * Return: NULL, or text in the arena of @px.
 */
const char *ir_form(struct px *px, const struct ir_node *node);
const char *ir_form_type(struct px *px, const struct ir_type *type);

#endif
