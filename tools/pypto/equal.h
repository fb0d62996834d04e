/* SPDX-License-Identifier: MIT */
/* Structural equality and hash of IR: section 5.4. */
#ifndef PYPTO_EQUAL_H
#define PYPTO_EQUAL_H

#include "ir.h"

/**
 * ir_equal() - whether two nodes say the same, whatever their names and places
 * @auto_mapping: free variables are paired on first meeting; otherwise they must be the same node
 * @why: NULL, or where the path to the first difference and its reason is put, in the arena
 */
bool ir_equal(struct px *px, const struct ir_node *a, const struct ir_node *b, bool auto_mapping,
	      const char **why);

/* Equal nodes have equal hashes. */
uint64_t ir_hash(struct px *px, const struct ir_node *node);

#endif
