/* SPDX-License-Identifier: MIT */
/* What the files with type rules share. */
#ifndef PYPTO_RULES_H
#define PYPTO_RULES_H

#include "ops.h"

/* Adds a mistake "The operator X ..." at the call; gives NULL. */
const struct ir_type *rule_error(struct op_use *use, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static inline const struct ir_type *arg_type(const struct op_use *use, unsigned int i)
{
	return use->args.at[i]->type;
}

/* A list argument's elements. */
static inline const struct ir_list *arg_list(const struct op_use *use, unsigned int i)
{
	return &IR_AS(use->args.at[i], tuple)->elements;
}

/* Broadcast of two shapes into *out; false with a mistake. */
bool rule_broadcast(struct op_use *use, const struct ir_list *a, const struct ir_list *b,
		    struct ir_list *out);
/* The scalar argument @i becomes one of @dtype: a literal or a cast; false with a mistake. */
bool rule_take_scalar(struct op_use *use, unsigned int i, unsigned int dtype);
/* A fresh type of @like's kind. */
struct ir_type *rule_type(struct op_use *use, const struct ir_type *like, struct ir_list shape,
			  unsigned int dtype);
void rule_layout(struct ir_type *type, enum tile_layout blayout, enum tile_layout slayout,
		 unsigned int fractal);
struct ir_node *rule_one(struct op_use *use);	/* the extent 1 */

/* rules_memory.c: the type of the product of arguments @l and @r, and what goes with it */
const struct ir_type *rule_product(struct op_use *use, unsigned int l, unsigned int r);
const struct ir_type *rule_check_acc(struct op_use *use, const struct ir_type *type);
const struct ir_type *rule_check_bias(struct op_use *use, unsigned int i,
				      const struct ir_type *type);

/*
 * rules_mx.c: whether the element type of a tile may be in @space, where scales get their layout;
 * false with a mistake.
 */
bool rule_place(struct op_use *use, struct ir_type *type, int64_t space);
/*
 * Whether tile 0, rows and columns exchanged if it is moved @across, fills the boxes of @type where
 * they are of eight-bit floats; false with a mistake.
 */
bool rule_keeps_boxes(struct op_use *use, const struct ir_type *type, bool across);
/* Eight-bit floats become other floats, and floats become them; false with a mistake. */
bool rule_converts(struct op_use *use, unsigned int from, unsigned int to);

#endif
