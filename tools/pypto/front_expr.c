/* SPDX-License-Identifier: MIT */
/* Expressions: section 3.7; scalar typing: decisions.md D8. */
#include <string.h>

#include "front.h"

static const struct {
	const char *python;	/* what ast calls it */
	uint8_t kind;
	const char *word;	/* in messages */
} binaries[] = {
	{ "Add", IR_ADD, "add" }, { "Sub", IR_SUB, "sub" }, { "Mult", IR_MUL, "mul" },
	{ "Div", IR_FLOAT_DIV, "div" }, { "FloorDiv", IR_FLOOR_DIV, "floordiv" },
	{ "Mod", IR_FLOOR_MOD, "mod" }, { "Pow", IR_POW, "pow" }, { "BitAnd", IR_BIT_AND, "and_" },
	{ "BitOr", IR_BIT_OR, "or_" }, { "BitXor", IR_BIT_XOR, "xor" },
	{ "LShift", IR_BIT_SHL, "shl" }, { "RShift", IR_BIT_SHR, "shr" }, { "Eq", IR_EQ, "eq" },
	{ "NotEq", IR_NE, "ne" }, { "Lt", IR_LT, "lt" }, { "LtE", IR_LE, "le" },
	{ "Gt", IR_GT, "gt" }, { "GtE", IR_GE, "ge" }, { "And", IR_AND, "and" },
	{ "Or", IR_OR, "or" }, { "min", IR_MIN, "min" }, { "max", IR_MAX, "max" },
};

#define N_BINARIES	(sizeof(binaries) / sizeof(binaries[0]))

static size_t binary_find(const char *python)
{
	size_t i;

	for (i = 0; i < N_BINARIES && strcmp(binaries[i].python, python); i++)
		;
	return i;
}

static const char *binary_word(enum ir_kind kind)
{
	size_t i;

	for (i = 0; i < N_BINARIES; i++)
		if (binaries[i].kind == kind)
			return binaries[i].word;
	return "operator";
}

/* ---- Scalars ---- */

static bool is_comparison(enum ir_kind kind)
{
	return kind >= IR_EQ && kind <= IR_GE;
}

static bool is_logical(enum ir_kind kind)
{
	return kind >= IR_AND && kind <= IR_XOR;
}

static bool is_bits(enum ir_kind kind)
{
	return kind >= IR_BIT_AND && kind <= IR_BIT_SHR;
}

/* A literal in another element type, or NULL when the value does not fit. */
static struct ir_node *literal_as(struct front *f, struct ir_node *e, unsigned int dtype)
{
	if (e->kind == IR_CONST_FLOAT)
		return dtype_is_float(dtype) ?
			ir_float(f->px, IR_AS(e, float)->value, dtype, e->span) : NULL;
	if (e->kind != IR_CONST_INT)
		return NULL;
	if (dtype_is_float(dtype))
		return ir_float(f->px, (double)IR_AS(e, const)->value, dtype, e->span);
	if (!dtype_holds(dtype, IR_AS(e, const)->value))
		return NULL;
	return ir_int(f->px, IR_AS(e, const)->value, dtype, e->span);
}

/* A literal without a type of its own (pl.const gives it one) takes the type of the other side. */
static bool is_bare(const struct ir_node *e)
{
	return (e->kind == IR_CONST_INT && e->type->dtype == DT_INDEX) ||
	       (e->kind == IR_CONST_FLOAT && e->type->dtype == DT_FP32);
}

static void literals_meet(struct front *f, struct ir_node **left, struct ir_node **right)
{
	struct ir_node *taken;

	if (ir_is_const(*left) == ir_is_const(*right))
		return;
	if (is_bare(*left)) {
		taken = literal_as(f, *left, (*right)->type->dtype);
		*left = taken ? taken : *left;
	} else if (is_bare(*right)) {
		taken = literal_as(f, *right, (*left)->type->dtype);
		*right = taken ? taken : *right;
	}
}

static bool same_width(unsigned int a, unsigned int b)
{
	return a == b || ((a == DT_INDEX || a == DT_INT64) && (b == DT_INDEX || b == DT_INT64));
}

/* Both sides in the wider type; 0 or -1 with a mistake. */
static int widen(struct front *f, enum ir_kind kind, struct ir_node **left, struct ir_node **right,
		 struct span span, unsigned int *dtype)
{
	unsigned int a = (*left)->type->dtype, b = (*right)->type->dtype;

	if (a == DT_BOOL || b == DT_BOOL || dtype_is_float(a) != dtype_is_float(b)) {
		if (a == b && (kind == IR_EQ || kind == IR_NE)) {
			*dtype = a;
			return 0;
		}
		diag_hint(f->px,
			  diag_add(f->px, DIAG_TYPE, span,
				   "Operator '%s' requires same numeric dtype category, got %s and %s",
				   binary_word(kind), dtype_name(a), dtype_name(b)),
			  "Convert one side with pl.cast(value, dtype)");
		return -1;
	}
	*dtype = dtype_info(b)->bits > dtype_info(a)->bits ? b : a;
	if (!same_width(a, *dtype))
		*left = ir_cast(f->px, *left, *dtype, (*left)->span);
	if (!same_width(b, *dtype))
		*right = ir_cast(f->px, *right, *dtype, (*right)->span);
	return 0;
}

static bool zero_divisor(const struct ir_node *e)
{
	return e->kind == IR_CONST_INT && !IR_AS(e, const)->value;
}

/* Of constants that have no value in @dtype; a shift by more bits than there are is one too. */
static bool is_too_large(enum ir_kind kind, const struct ir_node *left, const struct ir_node *right,
			 unsigned int dtype)
{
	int64_t count;

	if (right->kind != IR_CONST_INT)
		return false;
	count = IR_AS(right, const)->value;
	if ((kind == IR_BIT_SHL || kind == IR_BIT_SHR) && (count < 0 || count >= dtype_info(dtype)->bits))
		return true;
	return left->kind == IR_CONST_INT && (kind == IR_ADD || kind == IR_SUB || kind == IR_MUL ||
					      kind == IR_POW || kind == IR_BIT_SHL);
}

static struct ir_node *scalar_arith(struct front *f, enum ir_kind kind, struct ir_node *left,
				    struct ir_node *right, struct span span);

/* A number is true unless it is 0. */
static struct ir_node *truth(struct front *f, struct ir_node *x)
{
	unsigned int dtype = x->type->dtype;

	if (dtype == DT_BOOL)
		return x;
	return scalar_arith(f, IR_NE, x, dtype_is_float(dtype) ?
			    ir_float(f->px, 0, dtype, x->span) : ir_int(f->px, 0, dtype, x->span),
			    x->span);
}

struct ir_node *front_condition(struct front *f, const struct py_node *node)
{
	struct ir_node *x = front_value(f, node);

	if (!x)
		return NULL;
	if (x->type->kind == TY_SCALAR)
		return truth(f, x);
	diag_add(f->px, DIAG_TYPE, node->span, "A condition must be a scalar, got %s",
		 type_text(f->px, x->type));
	return NULL;
}

static struct ir_node *scalar_arith(struct front *f, enum ir_kind kind, struct ir_node *left,
				    struct ir_node *right, struct span span)
{
	struct ir_node *folded;
	unsigned int dtype;

	if (is_logical(kind))
		return ir_binary(f->px, kind, truth(f, left), truth(f, right), DT_BOOL, span);
	literals_meet(f, &left, &right);
	if (widen(f, kind, &left, &right, span, &dtype))
		return NULL;
	if (is_bits(kind) && !dtype_is_int(dtype)) {
		diag_add(f->px, DIAG_TYPE, span, "Operator '%s' requires integers, got %s",
			 binary_word(kind), dtype_name(dtype));
		return NULL;
	}
	if ((kind == IR_FLOOR_DIV || kind == IR_FLOOR_MOD) && zero_divisor(right)) {
		diag_add(f->px, DIAG_TYPE, span, "Division by zero");
		return NULL;
	}
	folded = ir_fold(f->px, kind, left, right, dtype, span);
	if (folded)
		return folded;
	if (is_too_large(kind, left, right, dtype)) {
		diag_hint(f->px, diag_add(f->px, DIAG_TYPE, span,
					  "The value of this expression does not fit into %s",
					  dtype_name(dtype)),
			  "Constants are at most 9223372036854775807, shifts less than the number of bits");
		return NULL;
	}
	if (kind == IR_FLOAT_DIV && dtype_is_int(dtype)) {
		diag_hint(f->px, diag_add(f->px, DIAG_TYPE, span,
					  "Operator '/' on integers has no exact type here"),
			  "Use // for integers, or pl.cast(value, pl.FP32) first");
		return NULL;
	}
	return ir_binary(f->px, kind, left, right, is_comparison(kind) ? DT_BOOL : dtype, span);
}

struct ir_node *front_convert(struct front *f, struct ir_node *value, const struct ir_type *type,
			      struct span at)
{
	unsigned int have = value->type->dtype, want = type->dtype;
	struct ir_node *literal;
	bool wider;

	if (have == want)
		return value;
	literal = literal_as(f, value, want);
	if (literal)
		return literal;
	wider = dtype_info(want)->bits >= dtype_info(have)->bits && have != DT_BOOL &&
		want != DT_BOOL;
	if (wider && ((dtype_is_signed(have) && dtype_is_signed(want)) ||
		      (dtype_is_float(have) && want == DT_FP32)))
		return ir_cast(f->px, value, want, at);
	diag_hint(f->px, diag_add(f->px, DIAG_TYPE, at, "Cannot use a %s value as %s",
				  dtype_name(have), dtype_name(want)),
		  "Convert it with pl.cast(value, pl.%s)", dtype_name(want));
	return NULL;
}

struct ir_node *front_arith(struct front *f, enum ir_kind kind, struct ir_node *left,
			    struct ir_node *right, struct span span)
{
	if (front_is_data(left) || front_is_data(right))
		return front_data_binary(f, kind, binary_word(kind), left, right, span);
	if (left->type->kind == TY_SCALAR && right->type->kind == TY_SCALAR)
		return scalar_arith(f, kind, left, right, span);
	diag_add(f->px, DIAG_TYPE, span, "Operator '%s' is not defined for %s and %s",
		 binary_word(kind), type_kind_name(left->type), type_kind_name(right->type));
	return NULL;
}

/* ---- Forms ---- */

static struct ir_node *binary(struct front *f, const struct py_node *node,
			      const struct py_node *x, const struct py_node *y)
{
	struct ir_node *left = front_value(f, x), *right = front_value(f, y);
	size_t i = binary_find(node->name);

	if (!left || !right)
		return NULL;
	if (i < N_BINARIES)
		return front_arith(f, binaries[i].kind, left, right, node->span);
	diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, node->span, "Unsupported operator: %s",
				  node->name),
		  "Operators are + - * / // %% ** & | ^ << >> and the comparisons");
	return NULL;
}

static struct ir_node *compare(struct front *f, const struct py_node *node)
{
	if (node->args.n == 1)
		return binary(f, node, node->x, node->args.at[0]);
	diag_hint(f->px, diag_add(f->px, DIAG_SYNTAX, node->span,
				  "Only simple comparisons supported"),
		  "Write two comparisons joined by 'and'");
	return NULL;
}

static struct ir_node *bool_op(struct front *f, const struct py_node *node)
{
	struct ir_node *all = front_value(f, node->args.at[0]), *next;
	size_t kind = binary_find(node->name);
	uint32_t i;

	for (i = 1; i < node->args.n; i++) {
		next = front_value(f, node->args.at[i]);
		if (!all || !next)
			return NULL;
		all = front_arith(f, binaries[kind].kind, all, next, node->span);
	}
	return all;
}

static struct ir_node *unary_node(struct front *f, enum ir_kind kind, struct ir_node *x,
				  unsigned int dtype, struct span span)
{
	struct ir_unary *n = ir_new(f->px, kind, span, type_scalar(f->px, dtype));

	n->operand = x;
	return &n->node;
}

static struct ir_node *negate(struct front *f, struct ir_node *x, struct span span)
{
	if (x->kind == IR_CONST_INT && IR_AS(x, const)->value != INT64_MIN)
		return ir_int(f->px, -IR_AS(x, const)->value, x->type->dtype, span);
	if (x->kind == IR_CONST_FLOAT)
		return ir_float(f->px, -IR_AS(x, float)->value, x->type->dtype, span);
	return unary_node(f, IR_NEG, x, x->type->dtype, span);
}

static struct ir_node *unary(struct front *f, const struct py_node *node)
{
	struct ir_node *x = front_value(f, node->x);

	if (!x)
		return NULL;
	if (front_is_data(x))
		return front_data_unary(f, node->name, x, node->span);
	if (!strcmp(node->name, "USub") && x->type->kind == TY_SCALAR && x->type->dtype != DT_BOOL)
		return negate(f, x, node->span);
	if (!strcmp(node->name, "UAdd") && x->type->kind == TY_SCALAR)
		return x;
	if (!strcmp(node->name, "Not") && x->type->kind == TY_SCALAR)
		return unary_node(f, IR_NOT, truth(f, x), DT_BOOL, node->span);
	if (!strcmp(node->name, "Invert") && x->type->kind == TY_SCALAR &&
	    dtype_is_int(x->type->dtype))
		return unary_node(f, IR_BIT_NOT, x, x->type->dtype, node->span);
	diag_add(f->px, DIAG_TYPE, node->span, "Operator '%s' is not defined for %s", node->name,
		 type_text(f->px, x->type));
	return NULL;
}

static struct ir_node *list_of(struct front *f, const struct py_node *node)
{
	struct ir_tuple *tuple = ir_new(f->px, IR_MAKE_TUPLE, node->span, NULL);
	const struct ir_type **types;
	bool good = true;
	uint32_t i;

	types = px_alloc(f->px, node->args.n + 1, sizeof(const struct ir_type *));
	for (i = 0; i < node->args.n; i++) {
		struct ir_node *e = front_value(f, node->args.at[i]);

		good &= e != NULL;
		if (!e)
			continue;
		types[i] = e->type;
		list_push(f->px, &tuple->elements, e);
	}
	tuple->node.type = type_tuple(f->px, types, node->args.n);
	return good ? &tuple->node : NULL;
}

static struct ir_node *subscript(struct front *f, const struct py_node *node)
{
	struct ir_node *x = front_value(f, node->x), *index;
	struct ir_item *item;
	int64_t i;

	if (!x)
		return NULL;
	index = front_value(f, node->y);
	if (!index)
		return NULL;
	if (x->type->kind != TY_TUPLE || index->kind != IR_CONST_INT) {
		diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, node->span,
					  "Unsupported subscript of %s", type_kind_name(x->type)),
			  "Use pl.slice() for tensors and tiles, pl.tensor.read() for an element");
		return NULL;
	}
	i = IR_AS(index, const)->value;
	i += i < 0 ? x->type->n_items : 0;
	if (i < 0 || i >= x->type->n_items) {
		diag_add(f->px, DIAG_TYPE, node->span, "Index %lld is outside of a tuple of %u",
			 (long long)IR_AS(index, const)->value, x->type->n_items);
		return NULL;
	}
	if (x->kind == IR_MAKE_TUPLE)
		return IR_AS(x, tuple)->elements.at[i];
	item = ir_new(f->px, IR_GET_ITEM, node->span, x->type->items[i]);
	item->tuple = x;
	item->index = i;
	return &item->node;
}

/* An attribute chain that Python can evaluate: a number in a module or a configuration object. */
static struct ir_node *attribute(struct front *f, const struct py_node *node)
{
	struct py_value value = { 0 };
	const char *why = NULL;

	if (!f->scope->eval(f->scope, f->px, node, &value, &why))
		return value_node(f, &value, node->span, node->name);
	if (node->x->kind == PY_NAME && bind_find(f, node->x->name)) {
		diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, node->span,
					  "'%s' has no attribute '%s' here", node->x->name,
					  node->name),
			  strcmp(node->name, "shape") ? "Operators are called as pl.name(value)" :
			  "pl.dim(tensor, axis) is an extent of a tensor");
		return NULL;
	}
	diag_add(f->px, DIAG_UNDEFINED, node->span, "Undefined attribute '%s'%s%s", node->name,
		 why ? ": " : "", why ? why : "");
	return NULL;
}

static struct ir_node *other(struct front *f, const struct py_node *node)
{
	static const char *const hints[][2] = {
		{ "IfExp", "Use an if statement, or pl.min, pl.max, pl.sel" },
		{ "Lambda", "Write a @pl.inline function" },
		{ "ListComp", "Write the list out, or build it in Python outside of the function" },
		{ "JoinedStr", "Strings have no place in a kernel" },
		{ "NamedExpr", "Assign in a statement of its own" },
		{ "Starred", "Write the elements out" },
		{ "SetComp", "Build it in Python outside of the function" },
		{ "DictComp", "Build it in Python outside of the function" },
		{ "GeneratorExp", "Write the elements out, or a for loop over pl.range()" },
		{ "Dict", "Keep it in Python outside of the function, and its numbers in names" },
		{ "Set", "Keep it in Python outside of the function, and its numbers in names" },
		{ "Slice", "Use pl.slice(x, shape, offset)" },
		{ "Yield", "Use return, or pl.yield_() at the end of a loop" },
		{ "YieldFrom", "Use return, or pl.yield_() at the end of a loop" },
		{ "Await", "Tasks wait for what they read by themselves" },
		{ "complex", "Keep the real and the imaginary part in tensors of their own" },
		{ "bytes", "Keep data in tensors" },
		{ "ellipsis", "Leave it out" },
	};
	struct diag *diag = diag_add(f->px, DIAG_UNSUPPORTED, node->span,
				     "Unsupported expression type: %s", node->name);
	size_t i;

	for (i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (!strcmp(hints[i][0], node->name))
			diag_hint(f->px, diag, "%s", hints[i][1]);
	return NULL;
}

static struct ir_node *integer(struct front *f, const struct py_node *node)
{
	if (!node->huge)
		return ir_int(f->px, node->i, DT_INDEX, node->span);
	diag_hint(f->px, diag_add(f->px, DIAG_TYPE, node->span,
				  "Integer literal does not fit into 64 bits"),
		  "Constants are at most 9223372036854775807");
	return NULL;
}

struct ir_node *front_expr(struct front *f, const struct py_node *node)
{
	switch (node->kind) {
	case PY_NAME:
		return name_value(f, node);
	case PY_INT:
		return integer(f, node);
	case PY_FLOAT:
		return ir_float(f->px, node->f, DT_FP32, node->span);
	case PY_BOOL:
		return ir_bool(f->px, node->i, node->span);
	case PY_CALL:
		return front_call(f, node);
	case PY_BINARY:
		return binary(f, node, node->x, node->y);
	case PY_COMPARE:
		return compare(f, node);
	case PY_BOOL_OP:
		return bool_op(f, node);
	case PY_UNARY:
		return unary(f, node);
	case PY_LIST:
	case PY_TUPLE:
		return list_of(f, node);
	case PY_SUBSCRIPT:
		return subscript(f, node);
	case PY_ATTRIBUTE:
		return attribute(f, node);
	case PY_STR:
		diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, node->span,
					  "Unsupported expression type: string"),
			  "Strings have no place in a kernel");
		return NULL;
	case PY_NONE:
		diag_hint(f->px, diag_add(f->px, DIAG_UNSUPPORTED, node->span,
					  "Unsupported expression type: None"),
			  "Leave the argument or the assignment out");
		return NULL;
	default:
		return other(f, node);
	}
}

struct ir_node *front_value(struct front *f, const struct py_node *node)
{
	struct ir_node *e = front_expr(f, node);
	const struct px_op *op = e && e->kind == IR_CALL ? IR_AS(e, call)->op : NULL;
	struct diag *diag;

	if (!e || e->type->kind != TY_TUPLE || e->type->n_items || e->kind == IR_MAKE_TUPLE)
		return e;
	diag = diag_add(f->px, DIAG_TYPE, node->span, "'%s' gives no value",
			e->kind == IR_CALL ? IR_AS(e, call)->callee : "expression");
	if (op)
		diag_hint(f->px, diag, op->rule == rule_setval ?
			  "pl.%s() changes its tile: write it as a statement, and go on with the tile" :
			  "Write pl.%s() as a statement", op->pl);
	return NULL;
}
