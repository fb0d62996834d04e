/* SPDX-License-Identifier: MIT */
/*
 * One run as loops over tiles. The last two dimensions are cut into blocks, the others are counted
 * one by one; a block at an edge is a tile with a smaller valid region. The tensors that are
 * written go through the loops as carried values.
 */
#include <string.h>

#include "../ptoas/hazard_access.h"
#include "blockops.h"

#define MAX_DIMS	8
#define SQUARE		64

/* A tensor that the run writes: the state of it that is current. */
struct target {
	struct target *next;
	struct ir_node *var;		/* the result in the program */
	struct ir_node *state;
	struct ir_list at;		/* where in it the run's region begins; empty: 0 */
};

struct tiles {
	struct blockops *b;
	const struct block_run *run;
	struct target *targets, **end;
	uint32_t rank;
	int64_t block[MAX_DIMS];	/* extents of a tile */
	struct ir_list at, valid;	/* of the tile at hand, by dimension */
	struct var_map tile;		/* tensor -> its tile */
};

static const struct ir_call *call_of(const struct ir_node *s)
{
	return IR_AS(IR_AS(s, assign)->value, call);
}

/* ---- Sizes ---- */

static unsigned int bits_of(unsigned int dtype)
{
	return (dtype_info(dtype)->bits + 7) / 8 * 8;
}

/* The widest and the narrowest element in the run, in bytes. */
static void widths(const struct tiles *t, int64_t *most, int64_t *least)
{
	uint32_t i, k;

	*most = 1;
	*least = 8;
	for (i = 0; i < t->run->n; i++) {
		const struct ir_call *call = call_of(t->run->stmts[i]);

		for (k = 0; k <= call->args.n; k++) {
			const struct ir_type *type = k < call->args.n ? call->args.at[k]->type :
						     call->node.type;
			int64_t bytes = type->kind == TY_TENSOR ? bits_of(type->dtype) / 8 : 0;

			if (!bytes)
				continue;
			*most = bytes > *most ? bytes : *most;
			*least = bytes < *least ? bytes : *least;
		}
	}
}

/* Elements of a tile, so that all of the run are in the buffer together, and room is left. */
static int64_t budget(const struct tiles *t, int64_t width)
{
	int64_t bytes = pto_capacity(PTO_SPACE_VEC, (enum pto_arch)t->b->arch) / 4 * 3;

	return bytes / ((int64_t)t->run->n + 3) / width;
}

/* At most @most, and a divisor of @extent where one is not much smaller. */
static int64_t block_of(int64_t extent, int64_t most)
{
	int64_t n;

	if (extent >= 0 && extent <= most)
		return extent ? extent : 1;
	for (n = most; extent > 0 && n > most / 2; n--)
		if (extent % n == 0)
			return n;
	return most;
}

/* Whether rows and something that is counted tile by tile are exchanged. */
static bool swaps_rows(const struct tiles *t)
{
	uint32_t i, a, b;

	for (i = 0; i < t->run->n; i++) {
		const struct ir_call *call = call_of(t->run->stmts[i]);

		if (call->op->rule != rule_transpose)
			continue;
		block_swap(call, &a, &b);
		if (a + 2 < t->rank || b + 2 < t->rank)
			return true;
	}
	return false;
}

/* Tiles that are read across: both extents are whole units. */
static void square_blocks(struct tiles *t, int64_t unit)
{
	uint32_t d;

	if (swaps_rows(t))
		return;	/* row by row */

	for (d = t->rank - 2; d < t->rank; d++) {
		int64_t extent = dim_value(t->run->shape->at[d]);

		t->block[d] = extent < 0 || extent > SQUARE ? SQUARE :
			      (extent + unit - 1) / unit * unit;
	}
}

static const struct ir_call *product_of(const struct block_run *run)
{
	const struct ir_call *call = call_of(run->stmts[0]);

	return call->op->rule == rule_tensor_matmul ? call : NULL;
}

static bool choose_blocks(struct tiles *t)
{
	const struct ir_call *product = product_of(t->run);
	const struct ir_list *shape = t->run->shape;
	int64_t most, least, room, columns, unit;
	uint32_t i;

	for (i = 0; i < t->rank; i++)
		t->block[i] = 1;
	if (product) {
		block_product_sizes(product, t->block);
		return true;
	}
	widths(t, &most, &least);
	room = budget(t, most);
	unit = 32 / least;
	columns = dim_value(shape->at[t->rank - 1]);
	if (t->run->rows && (columns < 0 || (columns + unit - 1) / unit * unit > room)) {
		diag_hint(t->b->px, diag_add(t->b->px, DIAG_COMPILE, t->run->span,
					     "A row of %s is too long for a tile",
					     shape_text(t->b->px, shape)),
			  "Reduce parts of the rows, with tile operators inside pl.incore()");
		return false;
	}
	columns = block_of(columns, room / unit * unit < LONG_ROW || t->run->rows ?
				    room / unit * unit : LONG_ROW);
	t->block[t->rank - 1] = (columns + unit - 1) / unit * unit;
	if (t->run->swaps) {
		square_blocks(t, unit);
		return true;
	}
	if (t->rank > 1)
		t->block[t->rank - 2] = block_of(dim_value(shape->at[t->rank - 2]),
						 room / t->block[t->rank - 1] ?
						 room / t->block[t->rank - 1] : 1);
	return true;
}

/* ---- Tiles ---- */

/* Whether dimension @d of the run is dimension @d - skipped of @tensor, and not of extent one. */
static bool spans_dim(const struct tiles *t, const struct ir_list *shape, uint32_t d)
{
	uint32_t skip = t->rank - shape->n;

	return d >= skip && (dim_value(shape->at[d - skip]) != 1 ||
			     dim_value(t->run->shape->at[d]) == 1);
}

struct rect {
	struct ir_list at, extents, valid;
	bool part;			/* valid is smaller */
};

/* The tile's rectangle in a tensor of @shape. */
static struct rect rect_in(struct tiles *t, const struct ir_list *shape, struct span span)
{
	uint32_t skip = t->rank - shape->n, i;
	struct px *px = t->b->px;
	struct rect r = { .part = false };

	for (i = 0; i < shape->n; i++) {
		bool whole = spans_dim(t, shape, i + skip);
		struct ir_node *one = block_index(px, 1, span);
		struct ir_node *extent = block_index(px, t->block[i + skip], span);

		list_push(px, &r.at, whole ? t->at.at[i + skip] : block_index(px, 0, span));
		list_push(px, &r.extents, whole ? extent : one);
		list_push(px, &r.valid, whole ? t->valid.at[i + skip] : one);
		r.part |= whole && !dim_equal(t->valid.at[i + skip], extent);
	}
	return r;
}

static struct ir_node *load_tile(struct tiles *t, struct ir_node *tensor, struct span span)
{
	struct block_region region = block_region_of(t->b, tensor);
	struct rect r = rect_in(t, &tensor->type->shape, span);
	struct ir_list args = { 0 };

	r.at = block_offsets(t->b, &region, &r.at, span);
	list_push(t->b->px, &args, region.base);
	list_push(t->b->px, &args, block_list(t->b->px, &r.at, span));
	list_push(t->b->px, &args, block_list(t->b->px, &r.extents, span));
	if (r.part)
		list_push(t->b->px, &args, block_list(t->b->px, &r.valid, span));
	return block_emit(t->b, "block.load", args, NULL, 0, span);
}

static struct ir_node *tile_of(struct tiles *t, struct ir_node *tensor, struct span span)
{
	struct ir_node *tile = var_map_get(&t->tile, tensor);

	if (!tile) {
		tile = load_tile(t, tensor, span);
		if (tile)
			var_map_set(&t->tile, tensor, tile);
	}
	return tile;
}

/* ---- Statements ---- */

static void store_tile(struct tiles *t, struct target *target, struct ir_node *tile,
		       const struct ir_list *shape, struct span span)
{
	struct block_region region = { .offsets = target->at };
	struct rect r = rect_in(t, shape, span);
	struct ir_list args = { 0 };

	r.at = block_offsets(t->b, &region, &r.at, span);
	list_push(t->b->px, &args, tile);
	list_push(t->b->px, &args, block_list(t->b->px, &r.at, span));
	list_push(t->b->px, &args, block_list(t->b->px, &r.valid, span));
	list_push(t->b->px, &args, target->state);
	target->state = block_emit(t->b, "block.store", args, NULL, 0, span);
}

static struct ir_node *cast_tile(struct tiles *t, struct ir_node *tile, unsigned int dtype,
				 struct span span)
{
	struct ir_attr attr = { .key = "target_type", .kind = AT_DTYPE, .i = dtype };
	struct ir_list args = { 0 };

	if (!tile || tile->type->dtype == dtype)
		return tile;
	list_push(t->b->px, &args, tile);
	return block_emit(t->b, "block.cast", args, &attr, 1, span);
}

/* "tensor.add_scalar" is "block.adds". */
static const char *block_name(struct px *px, const char *name)
{
	const char *tail = name + strlen("tensor.");
	size_t n = strlen(tail);

	if (n > 7 && !strcmp(tail + n - 7, "_scalar"))
		return px_printf(px, "block.%.*ss", (int)(n - 7), tail);
	return px_printf(px, "block.%s", tail);
}

bool block_swap(const struct ir_call *call, uint32_t *first, uint32_t *second)
{
	int64_t n = call->node.type->shape.n, a = call_attr(call, "axis1");
	int64_t b = call_attr(call, "axis2");

	a = a < 0 ? a + n : a;
	b = b < 0 ? b + n : b;
	if (first) {
		*first = (uint32_t)a;
		*second = (uint32_t)b;
	}
	return (a < n - 2 && b < n - 1) || (b < n - 2 && a < n - 1) || (a >= n - 2 && b >= n - 2);
}

/* The tile of @tensor whose dimensions @a and @b are the run's @b and @a. */
static struct ir_node *load_across(struct tiles *t, struct ir_node *tensor, uint32_t a, uint32_t b,
				   struct span span)
{
	struct tiles other = *t;
	struct block_run run = *t->run;
	uint32_t i;

	other.run = &run;
	run.shape = &tensor->type->shape;
	other.at = list_copy(t->b->px, &t->at);
	other.valid = list_copy(t->b->px, &t->valid);
	for (i = 0; i < t->rank; i++) {
		uint32_t from = i == a ? b : i == b ? a : i;

		other.at.at[i] = t->at.at[from];
		other.valid.at[i] = t->valid.at[from];
		other.block[i] = t->block[from];
	}
	return load_tile(&other, tensor, span);
}

static struct ir_node *compute_transpose(struct tiles *t, const struct ir_call *call,
					 struct span span)
{
	struct ir_attr axes[] = { { .key = "axis1", .kind = AT_INT, .i = 0 },
				  { .key = "axis2", .kind = AT_INT, .i = 1 } };
	struct ir_list args = { 0 };
	struct ir_node *tile;
	unsigned int dtype;
	uint32_t a, b;

	block_swap(call, &a, &b);
	tile = load_across(t, call->args.at[0], a, b, span);
	if (!tile || a + 2 < t->rank || b + 2 < t->rank)
		return tile;
	dtype = tile->type->dtype;
	tile = cast_tile(t, tile, dtype == DT_BOOL ? DT_FP32 : dtype, span);
	list_push(t->b->px, &args, tile);
	tile = block_emit(t->b, "block.transpose", args, axes, 2, span);
	return cast_tile(t, tile, dtype, span);
}

static struct ir_node *compute(struct tiles *t, const struct ir_call *call, struct span span)
{
	struct ir_list args = { 0 };
	bool rows = call->op->rule == rule_row_reduce;
	uint32_t i;

	if (call->op->rule == rule_transpose)
		return compute_transpose(t, call, span);
	if (call->op->rule == rule_tensor_matmul)
		return block_product(t->b, call, &t->at, &t->valid, span);
	if (call->op->rule == rule_cast && call->args.at[0]->type->dtype == call->node.type->dtype)
		return tile_of(t, call->args.at[0], span);
	for (i = 0; i < call->args.n; i++) {
		struct ir_node *arg = call->args.at[i];

		if (arg->type->kind == TY_TENSOR)
			arg = tile_of(t, arg, span);
		else
			arg = ir_subst(&t->b->now, arg);
		if (arg && call->op->rule == rule_exp)
			arg = cast_tile(t, arg, call->node.type->dtype, span);
		if (!arg)
			return NULL;
		list_push(t->b->px, &args, arg);
	}
	return block_emit(t->b, block_name(t->b->px, call->op->name), args, call->attrs,
			  rows ? 0 : call->n_attrs, span);
}

static void write_block(struct tiles *t)
{
	struct target *target = t->targets;
	uint32_t i;

	t->tile = (struct var_map){ .px = t->b->px };
	for (i = 0; i < t->run->n && !t->b->px->n_errors; i++) {
		const struct ir_node *s = t->run->stmts[i];
		const struct ir_call *call = call_of(s);
		struct ir_node *var = IR_AS(s, assign)->var, *tile;
		const struct ir_list *shape = &call->node.type->shape;

		if (call->op->rule == rule_assemble) {
			tile = tile_of(t, call->args.at[1], s->span);
			shape = &call->args.at[1]->type->shape;
		} else {
			tile = compute(t, call, s->span);
			if (tile)
				var_map_set(&t->tile, var, tile);
		}
		if (tile && target && target->var == var) {
			store_tile(t, target, tile, shape, s->span);
			target = target->next;
		}
	}
}

/* ---- Loops ---- */

static void write_dim(struct tiles *t, uint32_t d);

static struct ir_list states(struct tiles *t)
{
	struct ir_list out = { 0 };
	struct target *target;

	for (target = t->targets; target; target = target->next)
		list_push(t->b->px, &out, target->state);
	return out;
}

/* Carried values that start as the states at hand, which they become. */
static struct ir_list carry(struct tiles *t)
{
	struct ir_list out = { 0 };
	struct target *target;

	for (target = t->targets; target; target = target->next) {
		struct ir_var *arg = ir_new(t->b->px, IR_ITER_ARG, t->run->span,
					    target->state->type);

		arg->name = px_intern(t->b->px, px_printf(t->b->px, "_c%u", t->b->next++));
		arg->init = target->state;
		target->state = &arg->node;
		list_push(t->b->px, &out, &arg->node);
	}
	return out;
}

static struct ir_list leave(struct tiles *t)
{
	struct ir_list out = { 0 };
	struct target *target;

	for (target = t->targets; target; target = target->next) {
		target->state = block_var(t->b, "r", target->state->type, t->run->span);
		list_push(t->b->px, &out, target->state);
	}
	return out;
}

static void loop_dim(struct tiles *t, uint32_t d)
{
	struct ir_for *loop = ir_new(t->b->px, IR_FOR, t->run->span, NULL);
	struct ir_list body = { 0 }, *outer = t->b->out, yields;
	struct px *px = t->b->px;
	struct ir_node *extent = t->run->shape->at[d], *left, *valid;
	int64_t block = t->block[d];

	loop->loop_var = block_var(t->b, "i", type_scalar(px, DT_INDEX), t->run->span);
	loop->start = block_index(px, 0, t->run->span);
	loop->stop = extent;
	loop->step = block_index(px, block, t->run->span);
	loop->iter_args = carry(t);
	t->b->out = &body;
	t->at.at[d] = loop->loop_var;
	t->valid.at[d] = block_index(px, block, t->run->span);
	if (block > 1 && (dim_value(extent) < 0 || dim_value(extent) % block)) {
		left = ir_binary(px, IR_SUB, extent, loop->loop_var, DT_INDEX, t->run->span);
		valid = block_var(t->b, "n", type_scalar(px, DT_INDEX), t->run->span);
		list_push(px, &body, ir_assign(px, valid,
					       ir_binary(px, IR_MIN, left, t->valid.at[d], DT_INDEX,
							 t->run->span), t->run->span));
		t->valid.at[d] = valid;
	}
	write_dim(t, d + 1);
	yields = states(t);
	list_push(px, &body, ir_values(px, IR_YIELD, yields, t->run->span));
	t->b->out = outer;
	loop->body = ir_body(px, body, t->run->span);
	loop->return_vars = leave(t);
	list_push(px, t->b->out, &loop->node);
}

static void write_dim(struct tiles *t, uint32_t d)
{
	struct ir_node *extent;

	if (d == t->rank) {
		write_block(t);
		return;
	}
	extent = t->run->shape->at[d];
	if (dim_value(extent) < 0 || dim_value(extent) > t->block[d]) {
		loop_dim(t, d);
		return;
	}
	t->at.at[d] = block_index(t->b->px, 0, t->run->span);
	t->valid.at[d] = extent;
	write_dim(t, d + 1);
}

/* ---- What is written ---- */

static uint32_t uses_in_run(const struct block_run *run, const struct ir_node *var)
{
	uint32_t i, k, n = 0;

	for (i = 0; i < run->n; i++)
		for (k = 0; k < call_of(run->stmts[i])->args.n; k++)
			n += call_of(run->stmts[i])->args.at[k] == var;
	return n;
}

static void add_target(struct tiles *t, const struct ir_assign *s)
{
	const struct ir_call *call = IR_AS(s->value, call);
	struct target *target;

	if (call->op->rule != rule_assemble &&
	    (uintptr_t)var_map_get(&t->b->uses, s->var) == uses_in_run(t->run, s->var))
		return;
	target = px_new(t->b->px, struct target);
	target->var = s->var;
	if (call->op->rule == rule_assemble) {
		struct block_region region = block_region_of(t->b, call->args.at[0]);
		struct ir_list at = ir_subst_list(&t->b->now,
						  &IR_AS(call->args.at[2], tuple)->elements);

		target->state = region.base;
		target->at = block_offsets(t->b, &region, &at, s->node.span);
	} else {
		target->state = block_output(t->b, s->var);
	}
	*t->end = target;
	t->end = &target->next;
}

void block_write_run(struct blockops *b, const struct block_run *run)
{
	struct tiles t = { .b = b, .run = run, .rank = run->shape->n };
	struct target *target;
	uint32_t i;

	t.end = &t.targets;
	if (product_of(run) && !block_product_possible(b, product_of(run), run->span))
		return;
	if (!t.rank || t.rank > MAX_DIMS) {
		diag_add(b->px, DIAG_COMPILE, run->span, "Tensors of %u dimensions are not computed with",
			 t.rank);
		return;
	}
	for (i = 0; i < run->n; i++)
		add_target(&t, IR_AS(run->stmts[i], assign));
	if (b->px->n_errors || !choose_blocks(&t))
		return;
	for (i = 0; i < t.rank; i++) {
		list_push(b->px, &t.at, NULL);
		list_push(b->px, &t.valid, NULL);
	}
	write_dim(&t, 0);
	for (target = t.targets; target; target = target->next)
		var_map_set(&b->now, target->var, target->state);
}
