/* SPDX-License-Identifier: MIT */
/* Types and expressions as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "print.h"

/* ---- Types ---- */

static void print_dtype(struct printer *p, unsigned int dtype)
{
	text_printf(&p->out, "%s.%s", p->prefix, dtype_name(dtype));
}

static void print_shape(struct printer *p, const struct ir_list *shape)
{
	text_put(&p->out, "[");
	print_list(p, shape);
	text_put(&p->out, "]");
}

static void print_memref(struct printer *p, const struct ir_memref *m)
{
	text_printf(&p->out, ", %s.MemRef(%s.MemorySpace.%s, %lld, %llu, %llu)", p->prefix,
		    p->prefix, enum_name(EN_MEMORY_SPACE, m->space), (long long)m->addr,
		    (unsigned long long)m->size, (unsigned long long)m->id);
}

static const char *view_comma(const char **separator)
{
	const char *now = *separator;

	*separator = ", ";
	return now;
}

static void print_view(struct printer *p, const struct tile_view *v)
{
	const char *sep = "";

	if (!v->valid.n && v->blayout == TL_ROW_MAJOR && v->slayout == TL_NONE_BOX &&
	    v->fractal == 512 && !v->pad)
		return;
	text_printf(&p->out, ", %s.TileView(", p->prefix);
	if (v->valid.n) {
		text_printf(&p->out, "%svalid_shape=", view_comma(&sep));
		print_shape(p, &v->valid);
	}
	if (v->blayout != TL_ROW_MAJOR)
		text_printf(&p->out, "%sblayout=%s.TileLayout.%s", view_comma(&sep), p->prefix,
			    enum_name(EN_TILE_LAYOUT, v->blayout));
	if (v->slayout != TL_NONE_BOX)
		text_printf(&p->out, "%sslayout=%s.TileLayout.%s", view_comma(&sep), p->prefix,
			    enum_name(EN_TILE_LAYOUT, v->slayout));
	if (v->fractal != 512)
		text_printf(&p->out, "%sfractal=%u", view_comma(&sep), v->fractal);
	if (v->pad)
		text_printf(&p->out, "%spad=%s.TilePad.%s", view_comma(&sep), p->prefix,
			    enum_name(EN_TILE_PAD, v->pad));
	text_put(&p->out, ")");
}

static void print_shaped(struct printer *p, const char *name, const struct ir_type *type)
{
	text_printf(&p->out, "%s.%s[", p->prefix, name);
	print_shape(p, &type->shape);
	text_put(&p->out, ", ");
	print_dtype(p, type->dtype);
	if (type->kind == TY_TENSOR && type->layout)
		text_printf(&p->out, ", %s.%s", p->prefix,
			    enum_name(EN_TENSOR_LAYOUT, type->layout));
	if (type->kind == TY_TILE)
		print_view(p, &type->view);
	if (type->memref)
		print_memref(p, type->memref);
	text_put(&p->out, "]");
}

static void print_tuple_type(struct printer *p, const struct ir_type *type)
{
	uint32_t i;

	text_put(&p->out, "tuple[");
	for (i = 0; i < type->n_items; i++) {
		text_put(&p->out, i ? ", " : "");
		print_type(p, type->items[i]);
	}
	text_put(&p->out, "]");
}

void print_type(struct printer *p, const struct ir_type *type)
{
	switch (type->kind) {
	case TY_SCALAR:
		text_printf(&p->out, "%s.Scalar[", p->prefix);
		print_dtype(p, type->dtype);
		text_put(&p->out, "]");
		break;
	case TY_TENSOR:
		print_shaped(p, "Tensor", type);
		break;
	case TY_TILE:
		print_shaped(p, "Tile", type);
		break;
	case TY_PIPE:
		print_shaped(p, "Pipe", type);
		break;
	case TY_TUPLE:
		print_tuple_type(p, type);
		break;
	case TY_CLUSTER:
		text_printf(&p->out, "%s.Cluster", p->prefix);
		break;
	case TY_MEMREF:
		text_printf(&p->out, "%s.MemRefType", p->prefix);
		break;
	default:
		text_printf(&p->out, "%s.Unknown", p->prefix);
	}
}

/* ---- Constants ---- */

static void print_double(struct text *out, double value)
{
	char text[40];
	int digits;

	if (isinf(value)) {
		text_put(out, value < 0 ? "-1e999" : "1e999");
		return;
	}
	for (digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (fabs(value) < 1e15 && value == floor(value))
		snprintf(text, sizeof(text), "%.1f", value);
	text_put(out, text);
	if (!strpbrk(text, ".e"))
		text_put(out, ".0");
}

/* A constant that is written without its element type. */
static bool is_bare(const struct ir_node *e)
{
	if (e->kind == IR_CONST_INT)
		return e->type->dtype == DT_INDEX || e->type->dtype == DT_INT64;
	return e->kind == IR_CONST_FLOAT && e->type->dtype == DT_FP32;
}

static void print_int_const(struct printer *p, const struct ir_node *e)
{
	long long value = IR_AS(e, const)->value;

	if (is_bare(e)) {
		text_printf(&p->out, "%lld", value);
		return;
	}
	text_printf(&p->out, "%s.const(%lld, ", p->prefix, value);
	print_dtype(p, e->type->dtype);
	text_put(&p->out, ")");
}

static void print_float_const(struct printer *p, const struct ir_node *e)
{
	bool bare = is_bare(e);

	if (!bare)
		text_printf(&p->out, "%s.const(", p->prefix);
	print_double(&p->out, IR_AS(e, float)->value);
	if (bare)
		return;
	text_put(&p->out, ", ");
	print_dtype(p, e->type->dtype);
	text_put(&p->out, ")");
}

/* ---- Operators ---- */

enum { PREC_NOT = 3, PREC_COMPARE = 4, PREC_UNARY = 11, PREC_POW = 12, PREC_ATOM = 20 };

static const struct symbol {
	const char *text;	/* NULL: written as a call */
	int prec;
} symbols[IR_KINDS] = {
	[IR_OR] = { "or", 1 }, [IR_AND] = { "and", 2 },
	[IR_EQ] = { "==", 4 }, [IR_NE] = { "!=", 4 }, [IR_LT] = { "<", 4 }, [IR_LE] = { "<=", 4 },
	[IR_GT] = { ">", 4 }, [IR_GE] = { ">=", 4 },
	[IR_BIT_OR] = { "|", 5 }, [IR_BIT_XOR] = { "^", 6 }, [IR_BIT_AND] = { "&", 7 },
	[IR_BIT_SHL] = { "<<", 8 }, [IR_BIT_SHR] = { ">>", 8 },
	[IR_ADD] = { "+", 9 }, [IR_SUB] = { "-", 9 },
	[IR_MUL] = { "*", 10 }, [IR_FLOAT_DIV] = { "/", 10 }, [IR_FLOOR_DIV] = { "//", 10 },
	[IR_FLOOR_MOD] = { "%", 10 }, [IR_POW] = { "**", 12 }, [IR_XOR] = { "!=", 4 },
	[IR_NEG] = { "-", PREC_UNARY }, [IR_BIT_NOT] = { "~", PREC_UNARY },
	[IR_NOT] = { "not ", PREC_NOT },
};

static int precedence(const struct ir_node *e)
{
	if (symbols[e->kind].text)
		return symbols[e->kind].prec;
	if (is_bare(e) && (e->kind == IR_CONST_FLOAT ? signbit(IR_AS(e, float)->value) != 0 :
						       IR_AS(e, const)->value < 0))
		return PREC_UNARY;
	return PREC_ATOM;
}

static void print_operand(struct printer *p, const struct ir_node *e, bool parens)
{
	text_put(&p->out, parens ? "(" : "");
	print_expr(p, e);
	text_put(&p->out, parens ? ")" : "");
}

static void print_binary(struct printer *p, const struct ir_node *e)
{
	const struct ir_binary *b = IR_AS(e, binary);
	const struct symbol *s = &symbols[e->kind];
	bool right_first = e->kind == IR_POW, none = s->prec == PREC_COMPARE;

	if (!s->text) {
		text_put(&p->out, e->kind == IR_MIN ? "min(" : "max(");
		print_expr(p, b->left);
		text_put(&p->out, ", ");
		print_expr(p, b->right);
		text_put(&p->out, ")");
		return;
	}
	print_operand(p, b->left, precedence(b->left) < s->prec ||
		      ((right_first || none) && precedence(b->left) == s->prec));
	text_printf(&p->out, " %s ", s->text);
	print_operand(p, b->right, precedence(b->right) < s->prec ||
		      (!right_first && precedence(b->right) == s->prec));
}

static void print_unary(struct printer *p, const struct ir_node *e)
{
	const struct ir_node *x = IR_AS(e, unary)->operand;

	if (symbols[e->kind].text) {
		text_put(&p->out, symbols[e->kind].text);
		print_operand(p, x, precedence(x) < symbols[e->kind].prec);
		return;
	}
	if (e->kind == IR_ABS)
		text_put(&p->out, "abs(");
	else
		text_printf(&p->out, "%s.cast(", p->prefix);
	print_expr(p, x);
	if (e->kind == IR_CAST) {
		text_put(&p->out, ", ");
		print_dtype(p, e->type->dtype);
	}
	text_put(&p->out, ")");
}

/* ---- Calls ---- */

static void print_attr(struct printer *p, const struct ir_attr *attr)
{
	switch (attr->kind) {
	case AT_BOOL:
		text_put(&p->out, attr->i ? "True" : "False");
		break;
	case AT_INT:
		text_printf(&p->out, "%lld", (long long)attr->i);
		break;
	case AT_FLOAT:
		print_double(&p->out, attr->f);
		break;
	case AT_DTYPE:
		print_dtype(p, (unsigned int)attr->i);
		break;
	case AT_ENUM:
		text_printf(&p->out, "%s.%s.%s", p->prefix, enum_class_name(attr->class),
			    enum_name(attr->class, attr->i));
		break;
	default:
		text_printf(&p->out, "'%s'", attr->s);
	}
}

static const char *call_name(struct printer *p, const struct ir_call *call)
{
	const char *name = call->op->pl;
	size_t n = strlen(name);

	if (n > 7 && !strcmp(name + n - 7, "_scalar"))
		return px_printf(p->px, "%.*s", (int)(n - 7), name);
	return name;
}

/* Arguments stand by position until an attribute or a gap precedes one in the row. */
static void print_op_args(struct printer *p, const struct ir_call *call)
{
	struct op_param params[OP_MAX_PARAMS];
	unsigned int n = op_params(call->op, params), i, at = 0;
	bool by_name = false;
	const char *sep = "";

	for (i = 0; i < n && at < call->args.n; i++) {
		const struct ir_node *arg;

		if (params[i].kind == '@') {
			by_name = true;
			continue;
		}
		arg = call->args.at[at++];
		by_name |= !arg;
		if (!arg)
			continue;
		text_put(&p->out, sep);
		if (by_name)
			text_printf(&p->out, "%s=", params[i].name);
		print_expr(p, arg);
		sep = ", ";
	}
	for (i = 0; i < call->n_attrs; i++) {
		text_printf(&p->out, "%s%s=", sep, call->attrs[i].key);
		print_attr(p, &call->attrs[i]);
		sep = ", ";
	}
}

static void print_call(struct printer *p, const struct ir_node *e)
{
	const struct ir_call *call = IR_AS(e, call);

	if (call->op) {
		text_printf(&p->out, "%s.%s(", p->prefix, call_name(p, call));
		print_op_args(p, call);
	} else {
		text_printf(&p->out, "%s%s(", p->in_program ? "self." : "", call->callee);
		print_list(p, &call->args);
		if (call->blockdim) {
			text_printf(&p->out, "%sblockdim=", call->args.n ? ", " : "");
			print_expr(p, call->blockdim);
		}
	}
	text_put(&p->out, ")");
}

void print_list(struct printer *p, const struct ir_list *list)
{
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		text_put(&p->out, i ? ", " : "");
		print_expr(p, list->at[i]);
	}
}

void print_expr(struct printer *p, const struct ir_node *e)
{
	switch (e->kind) {
	case IR_VAR:
	case IR_ITER_ARG:
		text_put(&p->out, IR_AS(e, var)->name);
		break;
	case IR_MEMREF:
		text_put(&p->out, IR_AS(e, memref)->name);
		break;
	case IR_CONST_INT:
		print_int_const(p, e);
		break;
	case IR_CONST_FLOAT:
		print_float_const(p, e);
		break;
	case IR_CONST_BOOL:
		text_put(&p->out, IR_AS(e, const)->value ? "True" : "False");
		break;
	case IR_CALL:
		print_call(p, e);
		break;
	case IR_MAKE_TUPLE:
		text_put(&p->out, "[");
		print_list(p, &IR_AS(e, tuple)->elements);
		text_put(&p->out, "]");
		break;
	case IR_GET_ITEM:
		print_expr(p, IR_AS(e, item)->tuple);
		text_printf(&p->out, "[%lld]", (long long)IR_AS(e, item)->index);
		break;
	default:
		if (ir_is_binary(e))
			print_binary(p, e);
		else
			print_unary(p, e);
	}
}

/* ---- For messages ---- */

const char *ir_print_type(struct px *px, const struct ir_type *type, const char *prefix)
{
	struct printer p = { .px = px, .out = { .px = px }, .prefix = prefix };

	print_type(&p, type);
	return text_str(&p.out);
}

const char *type_text(struct px *px, const struct ir_type *type)
{
	return ir_print_type(px, type, "pl");
}

const char *shape_text(struct px *px, const struct ir_list *shape)
{
	struct printer p = { .px = px, .out = { .px = px }, .prefix = "pl" };

	print_shape(&p, shape);
	return text_str(&p.out);
}
