/* SPDX-License-Identifier: MIT */
/*
 * tensor.matmul on tiles: one block of the result is a sum over blocks of the inner extent, in the
 * accumulator. Blocks at an edge are tiles with a smaller valid region.
 */
#include "blockops.h"

enum { ROWS, COLUMNS, DEPTH };

struct product {
	struct blockops *b;
	const struct ir_call *call;
	struct span span;
	struct ir_list lead;		/* of the block at hand: all but the last two dimensions */
	int64_t block[3];
	struct ir_node *at[3], *valid[3];
};

static struct ir_node *dim_of(const struct ir_type *type, bool trans, unsigned int i)
{
	return type->shape.at[type->shape.n - 2 + (trans ? 1 - i : i)];
}

static int64_t block_size(const struct ir_node *extent, int64_t unit, int64_t most)
{
	int64_t n = extent->kind == IR_CONST_INT ? IR_AS(extent, const)->value : most;

	return n >= most ? most : (n + unit - 1) / unit * unit;
}

/* Extents that the matrix buffers take, of which all operands and the result fit. */
static void choose(struct product *p)
{
	const struct ir_type *a = p->call->args.at[0]->type, *out = p->call->node.type;
	int64_t bytes = (dtype_info(a->dtype)->bits + 7) / 8, unit = bytes > 1 ? 16 : 32;

	p->block[ROWS] = block_size(dim_of(out, false, 0), unit, 128);
	p->block[COLUMNS] = block_size(dim_of(out, false, 1), unit, 128);
	p->block[DEPTH] = block_size(dim_of(a, call_attr(p->call, "a_trans"), 1), unit,
				     bytes > 2 ? 64 : 128);
}

bool block_product_possible(struct blockops *b, const struct ir_call *call, struct span span)
{
	const struct ir_type *l = call->args.at[0]->type, *r = call->args.at[1]->type;
	const char *what = NULL, *hint = NULL;

	if (l->shape.n < 2 || r->shape.n < 2) {
		what = "a vector";
		hint = "Make it a matrix of one row or column with pl.reshape()";
	} else if (call_attr(call, "c_matrix_nz")) {
		what = "c_matrix_nz=True";
		hint = "Leave c_matrix_nz out; the product is in plain layout";
	} else if (!dtype_is_float(l->dtype) && call->node.type->dtype != DT_INT32) {
		what = px_printf(b->px, "a product of %s kept in %s", dtype_name(l->dtype),
				 dtype_name(call->node.type->dtype));
		hint = "Products of integers are INT32: say out_dtype=pl.INT32";
	}
	if (what)
		diag_hint(b->px, diag_add(b->px, DIAG_COMPILE, span,
					  "pl.matmul() on tensors is not generated for %s", what),
			  "%s", hint);
	return !what;
}

void block_product_sizes(const struct ir_call *call, int64_t *block)
{
	struct product p = { .call = call };
	uint32_t rank = call->node.type->shape.n;

	choose(&p);
	block[rank - 2] = p.block[ROWS];
	block[rank - 1] = p.block[COLUMNS];
}

/* ---- Operands ---- */

static struct ir_node *load_block(struct product *p, unsigned int i, unsigned int row,
				  unsigned int column)
{
	struct ir_node *tensor = p->call->args.at[i];
	struct block_region region = block_region_of(p->b, tensor);
	struct ir_attr space = { .key = "target_memory", .kind = AT_ENUM,
				 .class = EN_MEMORY_SPACE, .i = MS_MAT };
	struct ir_list at = { 0 }, shape = { 0 }, valid = { 0 }, args = { 0 };
	uint32_t lead = tensor->type->shape.n - 2, skip = p->lead.n - lead, d;
	struct px *px = p->b->px;
	unsigned int dims[] = { row, column };

	for (d = 0; d < lead; d++) {
		const struct ir_node *extent = tensor->type->shape.at[d];
		bool one = extent->kind == IR_CONST_INT && IR_AS(extent, const)->value == 1;

		list_push(px, &at, one ? block_index(px, 0, p->span) : p->lead.at[d + skip]);
		list_push(px, &shape, block_index(px, 1, p->span));
		list_push(px, &valid, block_index(px, 1, p->span));
	}
	for (d = 0; d < 2; d++) {
		list_push(px, &at, p->at[dims[d]]);
		list_push(px, &shape, block_index(px, p->block[dims[d]], p->span));
		list_push(px, &valid, p->valid[dims[d]]);
	}
	at = block_offsets(p->b, &region, &at, p->span);
	list_push(px, &args, region.base);
	list_push(px, &args, block_list(px, &at, p->span));
	list_push(px, &args, block_list(px, &shape, p->span));
	if (!shape_equal(&shape, &valid))
		list_push(px, &args, block_list(px, &valid, p->span));
	return block_emit(p->b, "block.load", args, &space, 1, p->span);
}

/* Block (@row, @column) of operand @i, which may be stored the other way round. */
static struct ir_node *operand(struct product *p, unsigned int i, unsigned int row,
			       unsigned int column)
{
	bool trans = call_attr(p->call, i ? "b_trans" : "a_trans");
	struct ir_node *tile = trans ? load_block(p, i, column, row) :
				       load_block(p, i, row, column);
	struct ir_attr attrs[] = {
		{ .key = "target_memory", .kind = AT_ENUM, .class = EN_MEMORY_SPACE,
		  .i = i ? MS_RIGHT : MS_LEFT },
		{ .key = "transpose", .kind = AT_BOOL, .i = trans },
	};
	struct ir_list args = { 0 };

	if (!tile)
		return NULL;
	list_push(p->b->px, &args, tile);
	return block_emit(p->b, "block.move", args, attrs, 2, p->span);
}

/* @acc, or nothing when it is NULL, plus the product of the blocks at hand. */
static struct ir_node *add_product(struct product *p, struct ir_node *acc)
{
	struct ir_node *l = operand(p, 0, ROWS, DEPTH), *r;
	struct ir_list args = { 0 };

	r = l ? operand(p, 1, DEPTH, COLUMNS) : NULL;
	if (!r)
		return NULL;
	if (acc)
		list_push(p->b->px, &args, acc);
	list_push(p->b->px, &args, l);
	list_push(p->b->px, &args, r);
	return block_emit(p->b, acc ? "block.matmul_acc" : "block.matmul", args, NULL, 0, p->span);
}

/* ---- The sum ---- */

static struct ir_node *smaller(struct product *p, struct ir_node *left)
{
	struct px *px = p->b->px;
	struct ir_node *var = block_var(p->b, "n", type_scalar(px, DT_INDEX), p->span);
	struct ir_node *most = block_index(px, p->block[DEPTH], p->span);

	list_push(px, p->b->out, ir_assign(px, var, ir_binary(px, IR_MIN, left, most, DT_INDEX,
							      p->span), p->span));
	return var;
}

static struct ir_node *add_rest(struct product *p, struct ir_node *extent, struct ir_node *first)
{
	struct px *px = p->b->px;
	struct ir_for *loop = ir_new(px, IR_FOR, p->span, NULL);
	struct ir_var *acc = ir_new(px, IR_ITER_ARG, p->span, first->type);
	struct ir_list body = { 0 }, *outer = p->b->out, yields = { 0 };
	struct ir_node *next, *result;

	acc->name = px_intern(px, px_printf(px, "_c%u", p->b->next++));
	acc->init = first;
	loop->loop_var = block_var(p->b, "k", type_scalar(px, DT_INDEX), p->span);
	loop->start = block_index(px, p->block[DEPTH], p->span);
	loop->stop = extent;
	loop->step = loop->start;
	list_push(px, &loop->iter_args, &acc->node);
	p->b->out = &body;
	p->at[DEPTH] = loop->loop_var;
	p->valid[DEPTH] = loop->start;
	if (extent->kind != IR_CONST_INT || IR_AS(extent, const)->value % p->block[DEPTH])
		p->valid[DEPTH] = smaller(p, ir_binary(px, IR_SUB, extent, loop->loop_var, DT_INDEX,
						       p->span));
	next = add_product(p, &acc->node);
	p->b->out = outer;
	if (!next)
		return NULL;
	list_push(px, &yields, next);
	list_push(px, &body, ir_values(px, IR_YIELD, yields, p->span));
	loop->body = ir_body(px, body, p->span);
	result = block_var(p->b, "r", first->type, p->span);
	list_push(px, &loop->return_vars, result);
	list_push(px, p->b->out, &loop->node);
	return result;
}

struct ir_node *block_product(struct blockops *b, const struct ir_call *call,
			      const struct ir_list *at, const struct ir_list *valid,
			      struct span span)
{
	struct product p = { .b = b, .call = call, .span = span };
	struct ir_node *extent = ir_subst(&b->now, dim_of(call->args.at[0]->type,
							  call_attr(call, "a_trans"), 1));
	struct ir_node *acc;
	uint32_t i;

	choose(&p);
	for (i = 0; i + 2 < at->n; i++)
		list_push(b->px, &p.lead, at->at[i]);
	for (i = 0; i < 2; i++) {
		p.at[i] = at->at[at->n - 2 + i];
		p.valid[i] = valid->at[at->n - 2 + i];
	}
	p.at[DEPTH] = block_index(b->px, 0, span);
	p.valid[DEPTH] = extent;
	if (extent->kind != IR_CONST_INT)
		p.valid[DEPTH] = smaller(&p, extent);
	else if (IR_AS(extent, const)->value > p.block[DEPTH])
		p.valid[DEPTH] = block_index(b->px, p.block[DEPTH], span);
	acc = add_product(&p, NULL);
	if (!acc || (extent->kind == IR_CONST_INT &&
		     IR_AS(extent, const)->value <= p.block[DEPTH]))
		return acc;
	return add_rest(&p, extent, acc);
}
