/* SPDX-License-Identifier: MIT */
/* The registry's table, its look-ups, and the checks that all calls of operators share. */
#include <stdlib.h>
#include <string.h>

#include "ops.h"

static const struct px_op ops[] = {
#define OP(name, pl, params, scalar, rule, instr, doc)	\
	{ name, pl, params, scalar, rule_##rule, instr, doc },
#include "ops.def"
#undef OP
};

#define N_OPS	(sizeof(ops) / sizeof(ops[0]))

const struct px_op *op_at(size_t i)
{
	return i < N_OPS ? &ops[i] : NULL;
}

const struct px_op *op_find(const char *name)
{
	size_t i;

	for (i = 0; i < N_OPS; i++)
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	return NULL;
}

bool op_is(const struct px_op *op, const char *space)
{
	size_t n = strlen(space);

	return !strncmp(op->name, space, n) && op->name[n] == '.';
}

bool op_is_void(const struct px_op *op)
{
	return op->rule == rule_nothing || op->rule == rule_setval || op->rule == rule_tpush;
}

static const char *pl_tail(const char *pl)
{
	const char *dot = strrchr(pl, '.');

	return dot ? dot + 1 : pl;
}

const struct px_op *op_find_pl(const char *space, const char *name)
{
	size_t i;

	for (i = 0; i < N_OPS; i++)
		if (ops[i].pl && op_is(&ops[i], space) && !strcmp(pl_tail(ops[i].pl), name))
			return &ops[i];
	return NULL;
}

/* ---- Parameters ---- */

static const char *param_parse(const char *p, struct op_param *param)
{
	size_t name, preset;

	memset(param, 0, sizeof(*param));
	param->kind = *p++;
	if (param->kind == '@')
		param->attr = *p++;
	p += strspn(p, " ");
	name = strcspn(p, "?=,");
	memcpy(param->name, p, name);
	p += name;
	if (*p == '?') {
		param->optional = true;
		p++;
	} else if (*p == '=') {
		preset = strcspn(++p, ",");
		memcpy(param->preset, p, preset);
		p += preset;
	}
	p += strspn(p, ", ");
	return p;
}

unsigned int op_params(const struct px_op *op, struct op_param *params)
{
	const char *p = op->params;
	unsigned int n = 0;

	while (*p && n < OP_MAX_PARAMS)
		p = param_parse(p, &params[n++]);
	return n;
}

/* ---- Attributes ---- */

static bool attr_from_name(struct ir_attr *attr, enum px_enum class)
{
	int64_t value;

	if (attr->kind == AT_STR && (value = enum_find(class, attr->s)) >= 0) {
		attr->kind = AT_INT;
		attr->i = value;
	}
	return attr->kind == AT_INT && enum_name(class, attr->i);
}

static bool attr_is_enum(const struct ir_attr *attr, enum px_enum class)
{
	return attr->kind == AT_ENUM && attr->class == class;
}

/* A number is a value to fill with, a name one of the kinds of padding. */
static bool attr_is_pad(struct ir_attr *attr)
{
	if (attr->kind == AT_STR) {
		attr->i = enum_find(EN_TILE_PAD, attr->s);
		attr->kind = AT_ENUM;
		attr->class = EN_TILE_PAD;
		return attr->i >= 0;
	}
	return attr_is_enum(attr, EN_TILE_PAD) || attr->kind == AT_FLOAT || attr->kind == AT_INT;
}

static const char *const attr_wants[128] = {
	['d'] = "an element type", ['D'] = "an element type or None",
	['m'] = "a pl.MemorySpace", ['b'] = "True or False", ['i'] = "an integer constant",
	['n'] = "an integer constant or None", ['p'] = "a pl.PipeType",
	['r'] = "one of none, rint, round, floor, ceil, trunc, odd",
	['c'] = "0 to 5 or one of eq, ne, lt, le, gt, ge",
	['f'] = "zero, max, min or a number",
};

static bool attr_fits(struct ir_attr *attr, char want)
{
	switch (want) {
	case 'd':
	case 'D':
		return attr->kind == AT_DTYPE;
	case 'm':
		return attr_is_enum(attr, EN_MEMORY_SPACE);
	case 'p':
		return attr_is_enum(attr, EN_PIPE_TYPE);
	case 'b':
		return attr->kind == AT_BOOL;
	case 'r':
		return attr_from_name(attr, EN_ROUND_MODE);
	case 'c':
		return attr_from_name(attr, EN_CMP_TYPE);
	case 'f':
		return attr_is_pad(attr);
	default:
		return attr->kind == AT_INT;
	}
}

/* The preset of a parameter as an attribute; false when there is none. */
static bool attr_preset(const struct op_param *param, struct ir_attr *attr)
{
	const char *text = param->preset;

	if (!*text || !strcmp(text, "None"))
		return false;
	attr->kind = AT_STR;
	attr->s = text;
	switch (param->attr) {
	case 'd':
		attr->kind = AT_DTYPE;
		attr->i = dtype_find(text)->code;
		break;
	case 'm':
		attr->kind = AT_ENUM;
		attr->class = EN_MEMORY_SPACE;
		attr->i = enum_find(EN_MEMORY_SPACE, text);
		break;
	case 'b':
		attr->kind = AT_BOOL;
		attr->i = !strcmp(text, "True");
		break;
	case 'i':
		attr->kind = AT_INT;
		attr->i = strtoll(text, NULL, 10);
		break;
	}
	return attr_fits(attr, param->attr);
}

static struct ir_attr *attr_given(const struct op_use *use, const char *key)
{
	uint32_t i;

	for (i = 0; i < use->n_attrs; i++)
		if (!strcmp(use->attrs[i].key, key))
			return &use->attrs[i];
	return NULL;
}

const struct ir_attr *op_attr(const struct op_use *use, const char *key)
{
	return attr_given(use, key);
}

const struct ir_attr *call_attr_at(const struct ir_call *call, const char *key)
{
	uint32_t i;

	for (i = 0; i < call->n_attrs; i++)
		if (!strcmp(call->attrs[i].key, key))
			return &call->attrs[i];
	return NULL;
}

int64_t call_attr(const struct ir_call *call, const char *key)
{
	const struct ir_attr *attr = call_attr_at(call, key);

	return attr ? attr->i : 0;
}

struct ir_node *call_dim(const struct ir_call *call)
{
	const struct ir_list *shape;
	int64_t axis;

	if (!call->op || call->op->rule != rule_dim)
		return NULL;
	shape = &call->args.at[0]->type->shape;
	axis = call_attr(call, "axis");
	return shape->at[axis < 0 ? axis + shape->n : axis];
}

static bool attrs_known(struct op_use *use, const struct op_param *params, unsigned int n)
{
	uint32_t i;
	unsigned int j;

	for (i = 0; i < use->n_attrs; i++) {
		for (j = 0; j < n && strcmp(params[j].name, use->attrs[i].key); j++)
			;
		if (j == n || params[j].kind != '@') {
			diag_add(use->px, DIAG_OPERATION, use->span,
				 "Unknown kwarg '%s' for operator '%s'", use->attrs[i].key,
				 use->op->name);
			return false;
		}
	}
	return true;
}

/* Puts the attributes into the order of the row, with presets for those that were not given. */
static bool attrs_complete(struct op_use *use, const struct op_param *params, unsigned int n)
{
	struct ir_attr *all = px_alloc(use->px, n + 1, sizeof(*all)), *given;
	uint32_t count = 0;
	unsigned int i;

	if (!attrs_known(use, params, n))
		return false;
	for (i = 0; i < n; i++) {
		if (params[i].kind != '@')
			continue;
		given = attr_given(use, params[i].name);
		if (given)
			all[count] = *given;
		all[count].key = px_intern(use->px, params[i].name);
		if (given && !attr_fits(&all[count], params[i].attr)) {
			diag_add(use->px, DIAG_OPERATION, use->span,
				 "Keyword '%s' of operator '%s' must be %s", params[i].name,
				 use->op->name, attr_wants[(int)params[i].attr]);
			return false;
		}
		if (given || attr_preset(&params[i], &all[count])) {
			all[count].s = all[count].kind == AT_STR ? all[count].s : NULL;
			count++;
		} else if (!*params[i].preset) {
			diag_add(use->px, DIAG_OPERATION, use->span,
				 "The operator %s requires keyword '%s', %s", use->op->name,
				 params[i].name, attr_wants[(int)params[i].attr]);
			return false;
		}
	}
	use->attrs = all;
	use->n_attrs = count;
	return true;
}

/* ---- Arguments ---- */

static bool is_int_scalar(const struct ir_node *arg)
{
	return arg->type->kind == TY_SCALAR && dtype_is_int(arg->type->dtype);
}

static bool is_index_list(const struct ir_node *arg, bool constant)
{
	const struct ir_tuple *list = IR_AS(arg, tuple);
	uint32_t i;

	if (arg->kind != IR_MAKE_TUPLE || !list->elements.n)
		return false;
	for (i = 0; i < list->elements.n; i++) {
		const struct ir_node *e = list->elements.at[i];

		if (!is_int_scalar(e))
			return false;
		if (constant && (e->kind != IR_CONST_INT || IR_AS(e, const)->value <= 0))
			return false;
	}
	return true;
}

static const char *arg_problem(const struct ir_node *arg, char kind)
{
	const struct ir_type *type = arg->type;

	switch (kind) {
	case 't':
		return type->kind == TY_TILE ? NULL : "a TileType";
	case 'x':
		return type->kind == TY_TENSOR ? NULL : "a TensorType";
	case 'a':
		return type_is_data(type) ? NULL :
		       "a TensorType or TileType";
	case 's':
		return type->kind == TY_SCALAR ? NULL : "a ScalarType";
	case 'i':
		return is_int_scalar(arg) ? NULL : "an integer ScalarType";
	case 'l':
		return is_index_list(arg, false) ? NULL : "a list of one or more integers";
	case 'n':
		return is_index_list(arg, true) ? NULL : "a list of one or more positive integer constants";
	case 'p':
		return type->kind == TY_PIPE ? NULL : "a PipeType";
	default:
		return type->kind == TY_CLUSTER ? NULL : "a ClusterType";
	}
}

static const char *ordinal(unsigned int i)
{
	static const char *const names[] = { "first", "second", "third", "fourth", "fifth",
					     "sixth", "seventh", "eighth" };

	return names[i];
}

static bool args_fit(struct op_use *use, const struct op_param *params, unsigned int n)
{
	unsigned int i, at = 0;

	for (i = 0; i < n; i++) {
		const char *want;
		const struct ir_node *arg;

		if (params[i].kind == '@')
			continue;
		arg = at < use->args.n ? use->args.at[at] : NULL;
		at++;
		if (!arg)
			continue;
		want = arg_problem(arg, params[i].kind);
		if (!want)
			continue;
		diag_add(use->px, DIAG_OPERATION, use->span,
			 "The operator %s requires %s argument to be %s, but got %s",
			 use->op->name, ordinal(at - 1), want,
			 arg->kind == IR_MAKE_TUPLE ?
			 shape_text(use->px, &IR_AS(arg, tuple)->elements) :
			 params[i].kind == 'i' && arg->type->kind == TY_SCALAR ?
			 dtype_name(arg->type->dtype) : type_kind_name(arg->type));
		return false;
	}
	return true;
}

static bool args_count(struct op_use *use, const struct op_param *params, unsigned int n)
{
	unsigned int i, least = 0, most = 0, given = 0;

	for (i = 0; i < n; i++) {
		if (params[i].kind == '@')
			continue;
		least += !params[i].optional;
		given += most >= use->args.n || use->args.at[most] || params[i].optional ? 0 : 1;
		most++;
	}
	if (use->args.n >= least && use->args.n <= most && !given)
		return true;
	if (least == most)
		diag_add(use->px, DIAG_OPERATION, use->span,
			 "The operator %s requires exactly %u argument%s, but got %u",
			 use->op->name, most, most == 1 ? "" : "s", use->args.n);
	else
		diag_add(use->px, DIAG_OPERATION, use->span,
			 "The operator %s requires %u to %u arguments, but got %u", use->op->name,
			 least, most, use->args.n);
	return false;
}

static bool args_taken(struct op_use *use)
{
	uint32_t i;

	for (i = 0; i < use->args.n; i++)
		if (use->args.at[i] && !rule_takes(use, use->args.at[i]->type))
			return false;
	return rule_takes_masks(use);
}

struct ir_node *op_call(struct op_use *use)
{
	struct op_param params[OP_MAX_PARAMS];
	unsigned int n = op_params(use->op, params);
	const struct ir_type *type;
	struct ir_call *call;

	if (!args_count(use, params, n) || !args_fit(use, params, n) ||
	    !attrs_complete(use, params, n))
		return NULL;
	while (use->args.n && !use->args.at[use->args.n - 1])
		use->args.n--;
	if (!args_taken(use))
		return NULL;
	type = use->op->rule(use);
	if (!type || !rule_takes(use, type))
		return NULL;
	call = ir_new(use->px, IR_CALL, use->span, type);
	call->op = use->op;
	call->callee = use->op->name;
	call->args = use->args;
	call->attrs = use->attrs;
	call->n_attrs = use->n_attrs;
	return &call->node;
}

struct ir_node *op_recall(struct px *px, const struct ir_call *call, struct ir_list args)
{
	struct ir_call *copy = ir_copy(px, &call->node);
	struct op_use use = { .px = px, .op = call->op, .span = call->node.span, .args = args,
			      .attrs = call->attrs, .n_attrs = call->n_attrs };

	copy->args = args;
	if (call->op)
		copy->node.type = call->op->rule(&use);
	return copy->node.type ? &copy->node : NULL;
}

struct ir_node *op_copy(struct px *px, struct ir_node *tensor, struct span span)
{
	struct ir_attr type = { .key = "target_type", .kind = AT_DTYPE, .i = tensor->type->dtype };
	struct op_use copy = { .px = px, .op = op_find("tensor.cast"), .span = span,
			       .attrs = &type, .n_attrs = 1 };

	list_push(px, &copy.args, tensor);
	return op_call(&copy);
}
