/* SPDX-License-Identifier: MIT */
/*
 * Python's operators on tiles and tensors: sections 3.7 and 4.1, decisions.md D8, D9. A number on
 * the left is spread over a tile where the operator does not commute; what no instruction does is
 * made of several, over operands that have got names.
 */
#include <stdlib.h>
#include <string.h>

#include "front.h"

bool front_is_data(const struct ir_node *e)
{
	return type_is_data(e->type);
}

static const char *space_of(const struct ir_node *e)
{
	return e->type->kind == TY_TENSOR ? "tensor" : "block";
}

/* ---- Operands that stand in several places ---- */

static unsigned int more(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

unsigned int front_hidden_number(const char *name)
{
	size_t digits = strncmp(name, "_v", 2) ? 0 : strspn(name + 2, "0123456789");
	bool hidden = digits && digits < 10 && (!name[2 + digits] || name[2 + digits] == '_');

	return hidden ? (unsigned int)atoi(name + 2) + 1 : 0;
}

static unsigned int numbers_in(const struct py_node *node);

static unsigned int numbers_of(const struct py_list *list)
{
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; i < list->n; i++)
		n = more(n, numbers_in(list->at[i]));
	return n;
}

static unsigned int numbers_in(const struct py_node *node)
{
	unsigned int n = node && node->name ? front_hidden_number(node->name) : 0;

	if (!node)
		return 0;
	n = more(more(n, numbers_in(node->x)), more(numbers_in(node->y), numbers_in(node->z)));
	n = more(more(n, numbers_of(&node->args)), numbers_of(&node->keywords));
	return more(more(n, numbers_of(&node->body)), numbers_of(&node->orelse));
}

unsigned int front_hidden_start(const struct front *f, const struct py_node *def)
{
	unsigned int n = numbers_in(def);
	uint32_t i;

	for (i = 0; i < f->dynamics.n; i++)
		n = more(n, front_hidden_number(IR_AS(f->dynamics.at[i], var)->name));
	return n;
}

struct ir_node *front_named(struct front *f, struct ir_node *e)
{
	struct ir_node *var;

	if (!e || ir_is_var(e) || ir_is_const(e))
		return e;
	var = ir_var(f->px, px_printf(f->px, "_v%u", f->n_hidden++), e->type, e->span);
	front_emit(f, ir_assign(f->px, var, e, e->span));
	return var;
}

/* ---- Calls ---- */

static struct ir_node *call_one(struct front *f, const char *name, struct ir_node *x,
				struct span span)
{
	struct ir_list args = { 0 };

	list_push(f->px, &args, x);
	return front_apply(f, op_find_pl(space_of(x), name), args, NULL, 0, span);
}

/* @c may be missing. */
static struct ir_node *call_three(struct front *f, const struct px_op *op, struct ir_node *a,
				  struct ir_node *b, struct ir_node *c, struct span span)
{
	struct ir_list args = { 0 };

	list_push(f->px, &args, a);
	list_push(f->px, &args, b);
	if (c)
		list_push(f->px, &args, c);
	return front_apply(f, op, args, NULL, 0, span);
}

static struct ir_node *call_two(struct front *f, const struct px_op *op, struct ir_node *a,
				struct ir_node *b, struct span span)
{
	return call_three(f, op, a, b, NULL, span);
}

struct ir_node *front_spread(struct front *f, struct ir_node *like, struct ir_node *scalar,
			     struct span span)
{
	return call_two(f, op_find_pl(space_of(like), "expands"), like, scalar, span);
}

static bool commutes(const struct px_op *op)
{
	static const char *const names[] = { "add", "mul", "maximum", "minimum", "and_", "or_", "xor" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(op->pl, names[i]))
			return true;
	return false;
}

bool front_takes_pair(const struct px_op *op)
{
	return (op->rule == rule_binary || op->rule == rule_binary_int || op->rule == rule_shift) &&
	       strncmp(op->pl, "part", 4) && strcmp(op->pl, "prelu");
}

struct ir_node *front_pair(struct front *f, const struct px_op *op, struct ir_node *left,
			   struct ir_node *right, struct span span)
{
	bool first = left->type->kind == TY_SCALAR, second = right->type->kind == TY_SCALAR;

	if (front_misplaced(f, op, span))
		return NULL;
	if (first && commutes(op))
		return front_pair(f, op, right, left, span);
	if (second && op->scalar)
		return call_two(f, op_find(op->scalar), left, right, span);
	if (first) {
		right = front_named(f, right);
		left = front_spread(f, right, left, span);
	}
	if (second) {
		left = front_named(f, left);
		right = front_spread(f, left, right, span);
	}
	return left && right ? call_two(f, op, left, right, span) : NULL;
}

/* ---- Operators made of several ---- */

/* front_pair() of operands that may be missing, by the operator's name. */
static struct ir_node *pair(struct front *f, const char *name, struct ir_node *a, struct ir_node *b,
			    struct span span)
{
	if (!a || !b)
		return NULL;
	return front_pair(f, op_find_pl(space_of(front_is_data(a) ? a : b), name), a, b, span);
}

static unsigned int common_dtype(const struct ir_node *a, const struct ir_node *b)
{
	if (!front_is_data(b))
		return a->type->dtype;
	return front_is_data(a) ? dtype_promote(a->type->dtype, b->type->dtype) : b->type->dtype;
}

/*
 * Division of integers goes towards zero, the remainder has the divisor's sign. What is missing to
 * the floor is the difference of the two remainders, which is 0 or the divisor: nothing overflows.
 */
static struct ir_node *floor_divide(struct front *f, struct ir_node *a, struct ir_node *b,
				    struct span span)
{
	unsigned int dtype = common_dtype(a, b);
	struct ir_node *q, *left;

	if (!dtype_is_int(dtype)) {
		diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, span,
					  "Operator '//' is not defined for %s elements",
					  dtype_name(dtype)),
			  "Use pl.cast(a / b, pl.INT32, mode='floor'), or pl.rem() for the remainder");
		return NULL;
	}
	b = front_named(f, b);
	if (!front_is_data(a))
		a = front_spread(f, b, a, span);
	a = front_named(f, a);
	q = pair(f, "div", a, b, span);
	if (!q || !dtype_is_signed(dtype))
		return q;
	q = front_named(f, q);
	left = pair(f, "sub", a, pair(f, "mul", q, b, span), span);
	left = pair(f, "sub", pair(f, "rem", a, b, span), left, span);
	return pair(f, "sub", q, pair(f, "div", left, b, span), span);
}

#define MAX_POWER	8

/* A small whole exponent, or 0. */
static unsigned int whole_power(const struct ir_node *e)
{
	double value = e->kind == IR_CONST_INT ? (double)IR_AS(e, const)->value :
		       e->kind == IR_CONST_FLOAT ? IR_AS(e, float)->value : 0;
	unsigned int n;

	for (n = 1; n <= MAX_POWER; n++)
		if (value == n)
			return n;
	return 0;
}

static struct ir_node *power(struct front *f, struct ir_node *a, struct ir_node *b,
			     struct span span)
{
	unsigned int n = front_is_data(b) ? 0 : whole_power(b);
	struct ir_node *x;

	if (!n) {
		diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, span,
					  "Operator '**' on tiles and tensors takes a constant exponent, 1 to %d",
					  MAX_POWER),
			  "For positive a use pl.exp(pl.log(a) * b); pl.sqrt(a) is a ** 0.5");
		return NULL;
	}
	x = front_named(f, a);
	for (a = x; a && n > 1; n--)
		a = pair(f, "mul", a, x, span);
	return a;
}

/* ---- What is refused ---- */

static struct ir_node *compare_refused(struct front *f, enum ir_kind kind, struct ir_node *left,
				       struct ir_node *right, struct span span)
{
	static const char *const names[] = { "eq", "ne", "lt", "le", "gt", "ge" };
	static const char *const turned[] = { "eq", "ne", "gt", "ge", "lt", "le" };
	bool first = !front_is_data(left), second = !front_is_data(right);
	struct diag *diag = diag_add(f->px, DIAG_OPERATION, span,
				     "Operator '%s' is not defined for %s and %s", names[kind - IR_EQ],
				     type_kind_name(left->type), type_kind_name(right->type));

	if (left->type->kind == TY_TENSOR || right->type->kind == TY_TENSOR)
		diag_hint(f->px, diag,
			  "Compare tiles, with pl.cmp() inside an InCore function or 'with pl.incore():'");
	else if (first || second)
		diag_hint(f->px, diag, "Use pl.cmps(tile, number, cmp_type='%s')",
			  (first ? turned : names)[kind - IR_EQ]);
	else
		diag_hint(f->px, diag, "Use pl.cmp(a, b, cmp_type='%s')", names[kind - IR_EQ]);
	return NULL;
}

static struct ir_node *refused(struct front *f, const char *word, struct ir_node *left,
			       struct ir_node *right, const char *hint, struct span span)
{
	diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, span,
				  "Operator '%s' is not defined for %s and %s", word,
				  type_kind_name(left->type), type_kind_name(right->type)),
		  "%s", hint);
	return NULL;
}

/* ---- Entry points ---- */

static bool is_operand(const struct ir_node *e)
{
	return front_is_data(e) || e->type->kind == TY_SCALAR;
}

struct ir_node *front_data_binary(struct front *f, enum ir_kind kind, const char *word,
				  struct ir_node *left, struct ir_node *right, struct span span)
{
	static const struct { uint8_t kind; const char *name; } ops[] = {
		{ IR_ADD, "add" }, { IR_SUB, "sub" }, { IR_MUL, "mul" }, { IR_FLOAT_DIV, "div" },
		{ IR_FLOOR_MOD, "rem" }, { IR_MIN, "minimum" }, { IR_MAX, "maximum" },
		{ IR_BIT_AND, "and_" }, { IR_BIT_OR, "or_" }, { IR_BIT_XOR, "xor" },
		{ IR_BIT_SHL, "shl" }, { IR_BIT_SHR, "shr" },
	};
	size_t i;

	if (!is_operand(left) || !is_operand(right))
		return refused(f, word, left, right,
			       "Tiles and tensors take a tile, a tensor or a number beside them", span);
	if (kind >= IR_EQ && kind <= IR_GE)
		return compare_refused(f, kind, left, right, span);
	if (kind == IR_FLOOR_DIV)
		return floor_divide(f, left, right, span);
	if (kind == IR_POW)
		return power(f, left, right, span);
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].kind == kind)
			return pair(f, ops[i].name, left, right, span);
	return refused(f, word, left, right,
		       "Use & and | for masks and the bits of integers, pl.sel(mask, a, b) to choose by a mask",
		       span);
}

/* All bits inverted: -x - 1, or ^ with all bits, where the instruction for it does not compute. */
static struct ir_node *invert(struct front *f, struct ir_node *x, struct span span)
{
	unsigned int dtype = x->type->dtype;

	if (dtype == DT_INT16 || dtype == DT_UINT16 || dtype == DT_BOOL)
		return call_one(f, "not_", x, span);
	if (dtype == DT_UINT8 || dtype == DT_UINT32)
		return pair(f, "xor", x, ir_int(f->px, dtype == DT_UINT8 ? UINT8_MAX : UINT32_MAX,
						DT_INDEX, span), span);
	if (dtype_is_int(dtype) && dtype_is_signed(dtype))
		return pair(f, "sub", call_one(f, "neg", x, span),
			    ir_int(f->px, 1, DT_INDEX, span), span);
	diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, span,
				  "Operator '~' is not defined for %s elements", dtype_name(dtype)),
		  dtype_is_int(dtype) ? "Use ^ with a number that has all bits set" :
		  "Bits are those of integers: convert the values with pl.cast(x, pl.INT32)");
	return NULL;
}

struct ir_node *front_data_unary(struct front *f, const char *python, struct ir_node *x,
				 struct span span)
{
	if (!strcmp(python, "USub"))
		return call_one(f, "neg", x, span);
	if (!strcmp(python, "UAdd"))
		return x;
	if (!strcmp(python, "Invert"))
		return invert(f, x, span);
	diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, span,
				  "Operator 'not' is not defined for %s", type_kind_name(x->type)),
		  "Use ~ to turn a mask over, or the bits of integers");
	return NULL;
}

struct ir_node *front_data_abs(struct front *f, struct ir_node *x, struct span span)
{
	unsigned int dtype = x->type->dtype;

	if (!dtype_is_int(dtype))
		return call_one(f, "abs", x, span);
	if (!dtype_is_signed(dtype))
		return x;
	x = front_named(f, x);
	return pair(f, "maximum", x, call_one(f, "neg", x, span), span);
}

/* ---- Rows that no tile holds ---- */

#define MOST_PARTS	64

static int64_t last_extent(const struct ir_node *x)
{
	const struct ir_list *shape = &x->type->shape;

	return shape->n ? dim_value(shape->at[shape->n - 1]) : -1;
}

bool front_is_long(const struct ir_node *x)
{
	int64_t n = x->type->kind == TY_TENSOR && x->type->shape.n > 1 ? last_extent(x) : 0;

	return n > LONG_ROW && n <= (int64_t)LONG_ROW * MOST_PARTS;
}

/* Columns @at to @at + @n of @x. */
static struct ir_node *columns_of(struct front *f, struct ir_node *x, int64_t at, int64_t n,
				  struct span span)
{
	struct ir_tuple *shape = ir_new(f->px, IR_MAKE_TUPLE, span, type_tuple(f->px, NULL, 0));
	struct ir_tuple *offset = ir_new(f->px, IR_MAKE_TUPLE, span, type_tuple(f->px, NULL, 0));
	uint32_t i, last = x->type->shape.n - 1;

	for (i = 0; i < last; i++) {
		list_push(f->px, &shape->elements, x->type->shape.at[i]);
		list_push(f->px, &offset->elements, ir_int(f->px, 0, DT_INDEX, span));
	}
	list_push(f->px, &shape->elements, ir_int(f->px, n, DT_INDEX, span));
	list_push(f->px, &offset->elements, ir_int(f->px, at, DT_INDEX, span));
	return call_three(f, op_find("tensor.view"), x, &shape->node, &offset->node, span);
}

struct ir_node *front_reduce_rows(struct front *f, const struct px_op *op, struct ir_node *x,
				  struct span span)
{
	int64_t n = last_extent(x), parts = (n + LONG_ROW - 1) / LONG_ROW;
	int64_t step = ((n + parts - 1) / parts + 31) / 32 * 32, at;
	const char *combine = strstr(op->name, "sum") ? "add" : "maximum";
	struct ir_node *all = NULL, *part;

	if (!front_is_long(x))
		return call_one(f, op->pl, x, span);
	x = front_named(f, x);
	for (at = 0; at < n; at += step) {
		part = columns_of(f, x, at, n - at < step ? n - at : step, span);
		part = part ? call_one(f, op->pl, front_named(f, part), span) : NULL;
		if (!part)
			return NULL;
		all = all ? pair(f, combine, all, front_named(f, part), span) : part;
		all = front_named(f, all);
	}
	return all;
}
