/* SPDX-License-Identifier: MIT */
/* Interpreter: arithmetic of scalars, extents, and the way to an operator. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp_value.h"

/* ---- Scalars ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t int_div(unsigned int dtype, bool remainder, int64_t a, int64_t b)
{
	int64_t q;

	if (!dtype_is_signed(dtype))
		q = (int64_t)((uint64_t)a / (uint64_t)b);
	else if (b == -1)
		q = (int64_t)-(uint64_t)a;
	else
		q = floor_div(a, b);
	return remainder ? (int64_t)((uint64_t)a - (uint64_t)q * (uint64_t)b) : q;
}

static int64_t int_pow(int64_t a, int64_t b)
{
	uint64_t r = 1, base = (uint64_t)a;

	for (; b > 0; b >>= 1, base *= base)
		if (b & 1)
			r *= base;
	return (int64_t)r;
}

static int64_t shift_left(int64_t a, int64_t b)
{
	return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}

static int64_t shift_right(unsigned int dtype, int64_t a, int64_t b)
{
	if (dtype_is_signed(dtype))
		return a >> (b < 0 || b > 63 ? 63 : b);
	return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a >> b);
}

static int order_int(unsigned int dtype, int64_t a, int64_t b)
{
	if (dtype_is_signed(dtype))
		return (a > b) - (a < b);
	return ((uint64_t)a > (uint64_t)b) - ((uint64_t)a < (uint64_t)b);
}

static int64_t arith_int(enum ir_kind kind, unsigned int dtype, int64_t a, int64_t b)
{
	int order = order_int(dtype, a, b);

	switch (kind) {
	case IR_ADD:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case IR_SUB:
		return (int64_t)((uint64_t)a - (uint64_t)b);
	case IR_MUL:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case IR_FLOOR_DIV:
	case IR_FLOOR_MOD:
		return int_div(dtype, kind == IR_FLOOR_MOD, a, b);
	case IR_MIN:
		return order < 0 ? a : b;
	case IR_MAX:
		return order > 0 ? a : b;
	case IR_POW:
		return int_pow(a, b);
	case IR_EQ:
		return a == b;
	case IR_NE:
		return a != b;
	case IR_LT:
		return order < 0;
	case IR_LE:
		return order <= 0;
	case IR_GT:
		return order > 0;
	case IR_GE:
		return order >= 0;
	case IR_AND:
		return a && b;
	case IR_OR:
		return a || b;
	case IR_XOR:
		return !a != !b;
	case IR_BIT_AND:
		return a & b;
	case IR_BIT_OR:
		return a | b;
	case IR_BIT_XOR:
		return a ^ b;
	case IR_BIT_SHL:
		return shift_left(a, b);
	default:
		return shift_right(dtype, a, b);
	}
}

/* False: it is a comparison, whose result is in *truth. */
static bool arith_float(enum ir_kind kind, double a, double b, double *v, bool *truth)
{
	switch (kind) {
	case IR_ADD:
		*v = a + b;
		return true;
	case IR_SUB:
		*v = a - b;
		return true;
	case IR_MUL:
		*v = a * b;
		return true;
	case IR_FLOAT_DIV:
		*v = a / b;
		return true;
	case IR_FLOOR_DIV:
		*v = floor(a / b);
		return true;
	case IR_FLOOR_MOD:
		*v = fmod(a, b);
		*v += *v != 0 && (*v < 0) != (b < 0) ? b : 0;
		return true;
	case IR_MIN:
		*v = a < b ? a : b;
		return true;
	case IR_MAX:
		*v = a > b ? a : b;
		return true;
	case IR_POW:
		*v = pow(a, b);
		return true;
	case IR_EQ:
		*truth = a == b;
		return false;
	case IR_NE:
		*truth = a != b;
		return false;
	case IR_LT:
		*truth = a < b;
		return false;
	case IR_LE:
		*truth = a <= b;
		return false;
	case IR_GT:
		*truth = a > b;
		return false;
	default:
		*truth = kind == IR_GE ? a >= b : kind == IR_AND ? a != 0 && b != 0 : a != 0 || b != 0;
		return false;
	}
}

/* Operands of this expression are computed in this type. */
static unsigned int common_type(const struct ir_node *expr, unsigned int a, unsigned int b)
{
	if (expr->kind == IR_FLOAT_DIV)
		return expr->type->dtype;
	return a == b ? a : a == DT_BOOL ? b : b == DT_BOOL ? a : dtype_promote(a, b);
}

static struct iv *eval_binary(struct frame *fr, struct ir_node *expr, struct iv *l, struct iv *r)
{
	unsigned int dtype = common_type(expr, l->dtype, r->dtype), to = expr->type->dtype;
	union cell a = cell_convert(l->dtype, dtype, l->cell, MODE_OF_TYPES);
	union cell b = cell_convert(r->dtype, dtype, r->cell, MODE_OF_TYPES), c = { 0 };
	bool truth = false;

	if (dtype_is_float(dtype)) {
		if (!arith_float(expr->kind, a.f, b.f, &c.f, &truth))
			return iv_int(fr->in, DT_BOOL, truth);
		return iv_scalar(fr->in, to, cell_convert(dtype, to, c, MODE_OF_TYPES));
	}
	if ((expr->kind == IR_FLOOR_DIV || expr->kind == IR_FLOOR_MOD) && !b.i)
		return interp_error(fr, expr->span, "Division by zero");
	c.i = arith_int(expr->kind, dtype, a.i, b.i);
	return iv_scalar(fr->in, to, c);
}

static struct iv *eval_unary(struct frame *fr, struct ir_node *expr, struct iv *v)
{
	bool is_float = dtype_is_float(v->dtype);
	union cell c = v->cell;

	switch (expr->kind) {
	case IR_ABS:
		if (is_float)
			c.f = fabs(c.f);
		else if (dtype_is_signed(v->dtype) && c.i < 0)
			c.i = (int64_t)-(uint64_t)c.i;
		break;
	case IR_NEG:
		if (is_float)
			c.f = -c.f;
		else
			c.i = (int64_t)-(uint64_t)c.i;
		break;
	case IR_NOT:
		return iv_int(fr->in, DT_BOOL, is_float ? c.f == 0 : c.i == 0);
	case IR_BIT_NOT:
		c.i = ~c.i;
		break;
	default:	/* IR_CAST */
		c = cell_convert(v->dtype, expr->type->dtype, c, MODE_OF_TYPES);
		break;
	}
	return iv_scalar(fr->in, expr->type->dtype, c);
}

static struct iv *eval_operands(struct frame *fr, struct ir_node *expr)
{
	bool binary = ir_is_binary(expr);
	struct iv *l = interp_eval(fr, binary ? IR_AS(expr, binary)->left :
				   IR_AS(expr, unary)->operand);
	struct iv *r = l && binary ? interp_eval(fr, IR_AS(expr, binary)->right) : NULL, *v = NULL;

	if (l && (r || !binary)) {
		if (l->kind != TY_SCALAR || (r && r->kind != TY_SCALAR))
			interp_error(fr, expr->span, "Operand of %s is not a scalar",
				     ir_kind_info[expr->kind].name);
		else
			v = binary ? eval_binary(fr, expr, l, r) : eval_unary(fr, expr, l);
	}
	iv_unref(l);
	iv_unref(r);
	return v;
}

struct iv *interp_arith(struct frame *fr, struct ir_node *expr)
{
	switch (expr->kind) {
	case IR_CONST_INT:
	case IR_CONST_BOOL:
		return iv_int(fr->in, expr->type->dtype, IR_AS(expr, const)->value);
	case IR_CONST_FLOAT:
		return iv_scalar(fr->in, expr->type->dtype,
				 (union cell){ .f = IR_AS(expr, float)->value });
	default:
		if (ir_is_binary(expr) || ir_is_unary(expr))
			return eval_operands(fr, expr);
		return interp_error(fr, expr->span, "A %s has no value", ir_kind_info[expr->kind].name);
	}
}

int interp_index(struct frame *fr, struct ir_node *expr, int64_t *value)
{
	struct iv *v;

	if (expr->kind == IR_CONST_INT) {
		*value = IR_AS(expr, const)->value;
		return 0;
	}
	v = interp_eval(fr, expr);
	if (!v)
		return -EINVAL;
	if (v->kind != TY_SCALAR || dtype_is_float(v->dtype)) {
		iv_unref(v);
		interp_error(fr, expr->span, "An integer is needed here");
		return -EINVAL;
	}
	*value = v->cell.i;
	iv_unref(v);
	return 0;
}

/* ---- Extents ---- */

static int check_valid(struct frame *fr, struct span span, const int64_t *shape,
		       const int64_t *valid, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (valid[i] >= 0 && valid[i] <= shape[i])
			continue;
		interp_error(fr, span, "A valid extent is %lld; the tile has %lld in dimension %u",
			     (long long)valid[i], (long long)shape[i], i);
		return -EINVAL;
	}
	return 0;
}

int interp_type_shape(struct frame *fr, const struct ir_type *type, struct span span,
		      int64_t *shape, int64_t *valid)
{
	bool whole = type->view.valid.n != type->shape.n;
	uint32_t i;

	if (type->shape.n > INTERP_MAX_RANK) {
		interp_error(fr, span, "%u dimensions are too many; %u are possible", type->shape.n,
			     INTERP_MAX_RANK);
		return -EINVAL;
	}
	for (i = 0; i < type->shape.n; i++) {
		if (interp_index(fr, type->shape.at[i], &shape[i]))
			return -EINVAL;
		if (shape[i] < 0 || shape[i] > (int64_t)1 << 32) {
			interp_error(fr, span, "Extent %u is %lld", i, (long long)shape[i]);
			return -EINVAL;
		}
		valid[i] = shape[i];
		if (!whole && interp_index(fr, type->view.valid.at[i], &valid[i]))
			return -EINVAL;
	}
	return check_valid(fr, span, shape, valid, type->shape.n);
}

struct iv *interp_result(struct frame *fr, const struct ir_node *expr)
{
	int64_t shape[INTERP_MAX_RANK], valid[INTERP_MAX_RANK];
	const struct ir_type *type = expr->type;
	struct iv *v;

	if (!interp_item_size(type->dtype))
		return interp_error(fr, expr->span, "Elements of %s cannot be interpreted",
				    dtype_name(type->dtype));
	if (interp_type_shape(fr, type, expr->span, shape, valid))
		return NULL;
	v = iv_array(fr->in, type->kind, type->dtype, type->shape.n, shape);
	memcpy(v->valid, valid, type->shape.n * sizeof(*valid));
	return v;
}

/* ---- Operators ---- */

uint32_t run_list(const struct op_run *r, unsigned int arg, int64_t *out)
{
	const struct iv *list = r->args[arg];
	uint32_t i;

	for (i = 0; list && i < list->n_items && i < INTERP_MAX_RANK; i++)
		out[i] = list->items[i]->cell.i;
	return i;
}

int64_t run_attr(const struct op_run *r, const char *key, int64_t preset)
{
	uint32_t i;

	for (i = 0; i < r->call->n_attrs; i++)
		if (!strcmp(r->call->attrs[i].key, key))
			return r->call->attrs[i].i;
	return preset;
}

struct iv *run_nothing(struct op_run *r)
{
	return iv_tuple(r->in, NULL, 0);
}

static const struct op_entry *find_entry(struct interp *in, const struct px_op *op)
{
	const struct op_entry *tables[] = { interp_ops_elem(), interp_ops_move(),
					    interp_ops_reduce(), interp_ops_gather(),
					    interp_ops_chip() };
	const struct op_entry *e = var_map_get(&in->ops, (const struct ir_node *)op);
	size_t i;

	for (i = 0; !e && i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (e = tables[i]; e->name && strcmp(e->name, op->name); e++)
			;
		e = e->name ? e : NULL;
	}
	if (e)
		var_map_set(&in->ops, (const struct ir_node *)op, (void *)e);
	return e;
}

struct iv *interp_call_op(struct frame *fr, struct ir_call *call)
{
	const struct op_entry *entry = find_entry(fr->in, call->op);
	struct op_run r = { .fr = fr, .in = fr->in, .call = call };
	struct iv *v = NULL;
	bool good = true;
	uint32_t i;

	if (!entry)
		return interp_error(fr, call->node.span, "Operator %s cannot be interpreted",
				    call->op->name);
	r.code = entry->code;
	for (i = 0; i < call->args.n && i < OP_MAX_PARAMS && good; i++) {
		r.args[i] = call->args.at[i] ? interp_eval(fr, call->args.at[i]) : NULL;
		good = !call->args.at[i] || r.args[i];
	}
	if (good)
		v = entry->run(&r);
	for (i = 0; i < OP_MAX_PARAMS; i++)
		iv_unref(r.args[i]);
	return v;
}
