/* SPDX-License-Identifier: MIT */
/* Visitors and rewriters that follow the field table. */
#ifndef PYPTO_WALK_H
#define PYPTO_WALK_H

#include "ir.h"

/**
 * ir_walk() - calls @visit for @node and all below it, parents first, in order of execution
 *
 * Extents in the types of variables that are defined on the way are visited too. The visitor says
 * whether to go below the node.
 */
void ir_walk(struct ir_node *node, bool (*visit)(void *data, struct ir_node *node), void *data);

/* Calls @define for each variable that @stmt itself defines, not the statements below it. */
void ir_defs(struct ir_node *stmt, void (*define)(void *data, struct ir_node *var), void *data);

/* The statements of a body in order; SeqStmts and OpStmts are opened. */
struct ir_list ir_flat(struct px *px, struct ir_node *body);

/* A call by which a function of @program calls itself, maybe through others; NULL: there is none. */
const struct ir_call *ir_recursion(struct px *px, const struct ir_program *program);

/* The functions of @program that one of its functions calls. */
struct ir_list ir_called(struct px *px, const struct ir_program *program);

/* From variable to what stands for it. */
struct var_map {
	struct px *px;
	struct map_slot {
		const struct ir_node *key;
		void *value;
	} *slots;
	size_t n, room;
};
void var_map_set(struct var_map *map, const struct ir_node *key, void *value);
void *var_map_get(const struct var_map *map, const struct ir_node *key);	/* NULL: absent */

/*
 * @expr with the variables of @map replaced; shared where nothing changes. What becomes an element
 * of a tuple that is written out is that element.
 */
struct ir_node *ir_subst(struct var_map *map, struct ir_node *expr);
struct ir_list ir_subst_list(struct var_map *map, const struct ir_list *list);
/* The same in the extents of a type. */
const struct ir_type *ir_subst_type(struct var_map *map, const struct ir_type *type);
/*
 * The positions of @vars in the order in which they become known: scalars first, which the types
 * of the others may name.
 */
uint32_t *ir_def_order(struct px *px, const struct ir_list *vars);
/*
 * Statements with every definition inside copied, so that the result can stand beside the original;
 * @map gets the new variables.
 */
struct ir_node *ir_clone_stmt(struct var_map *map, struct ir_node *stmt);

/* What stands for a statement in a clone: @stmt gives it, a SeqStmts for several; NULL: a copy. */
struct ir_replace {
	struct ir_node *(*stmt)(void *data, struct var_map *map, struct ir_node *stmt);
	void *data;
};
struct ir_node *ir_clone_replaced(struct var_map *map, struct ir_node *stmt,
				  const struct ir_replace *replace);

#endif
