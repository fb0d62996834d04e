/* SPDX-License-Identifier: MIT */
/* Annotations: section 3.4. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "front.h"

const char *pl_name(const struct front *f, const struct py_node *node)
{
	if (node->kind == PY_ATTRIBUTE && node->x->kind == PY_NAME &&
	    !strcmp(node->x->name, f->scope->prefix))
		return node->name;
	return NULL;
}

bool is_pl(const struct front *f, const struct py_node *node, const char *name)
{
	const char *have = node ? pl_name(f, node) : NULL;

	return have && !strcmp(have, name);
}

static int type_error(struct front *f, const struct py_node *node, const char *fmt, const char *arg)
{
	char text[160];

	snprintf(text, sizeof(text), fmt, arg);
	diag_add(f->px, DIAG_TYPE, node->span, "%s", text);
	return -EINVAL;
}

int front_dtype(struct front *f, const struct py_node *node, unsigned int *dtype)
{
	const char *name = pl_name(f, node);
	const struct dtype_info *info = name ? dtype_find(name) : NULL;
	struct py_value value = { 0 };
	const char *why;

	if (info) {
		*dtype = info->code;
		return 0;
	}
	if (!name && !f->scope->eval(f->scope, f->px, node, &value, &why) &&
	    value.kind == VAL_DTYPE) {
		*dtype = (unsigned int)value.i;
		return 0;
	}
	name = name ? name : node->name;
	diag_hint(f->px, diag_add(f->px, DIAG_TYPE, node->span, "Unknown dtype: %s",
				  name ? name : "expression"),
		  "Use one of pl.FP32, pl.FP16, pl.BF16, pl.INT8, pl.INT16, pl.INT32, pl.INT64, pl.UINT8, pl.UINT16, pl.UINT32, pl.UINT64, pl.BOOL");
	return -EINVAL;
}

int front_scalar_dtype(struct front *f, const struct py_node *node, unsigned int *dtype)
{
	if (front_dtype(f, node, dtype))
		return -EINVAL;
	if (!dtype_is_small(*dtype))
		return 0;
	diag_hint(f->px, diag_add(f->px, DIAG_TYPE, node->span,
				  "There are no scalars of %s, only tensors and tiles",
				  dtype_name(*dtype)),
		  "Use pl.FP32");
	return -EINVAL;
}

/* ---- Shapes ---- */

static const char *const value_names[] = {
	[VAL_NONE] = "NoneType", [VAL_BOOL] = "bool", [VAL_INT] = "int", [VAL_HUGE] = "int",
	[VAL_FLOAT] = "float", [VAL_STR] = "str", [VAL_DTYPE] = "DataType", [VAL_ENUM] = "enum",
	[VAL_DYNAMIC] = "DynVar", [VAL_LIST] = "list", [VAL_FUNCTION] = "Function",
	[VAL_INLINE] = "InlineFunction",
};

static const char *value_name(const struct py_value *value)
{
	return value->kind == VAL_OTHER ? value->s : value_names[value->kind];
}

static struct ir_node *dim_of_value(struct front *f, const struct py_node *node,
				    const struct py_value *value, const char *shape, uint32_t at)
{
	if (value->kind == VAL_DYNAMIC)
		return front_dynamic(f, value->s, node->span);
	if (value->kind == VAL_INT && value->i >= 0)
		return ir_int(f->px, value->i, DT_INDEX, node->span);
	if (value->kind == VAL_INT)
		diag_add(f->px, DIAG_TYPE, node->span, "Extent %lld of a shape is negative",
			 (long long)value->i);
	else
		diag_add(f->px, DIAG_TYPE, node->span,
			 "Shape %s%s%selement %u must be int or pl.dynamic(), got %s",
			 *shape ? "'" : "", shape, *shape ? "' " : "", at, value_name(value));
	return NULL;
}

static struct ir_node *annotation_dim(struct front *f, const struct py_node *node, uint32_t at)
{
	struct py_value value = { 0 };
	const char *why = NULL;
	int rc = f->scope->eval(f->scope, f->px, node, &value, &why);
	struct binding *b;

	if (!rc)
		return dim_of_value(f, node, &value, node->kind == PY_NAME ? node->name : "", at);
	if (node->kind != PY_NAME)
		return front_value(f, node);
	b = bind_find(f, node->name);
	if (b->state == BIND_BROKEN)
		return NULL;
	if (b->state == BIND_OK && b->node->type->kind == TY_SCALAR &&
	    dtype_is_int(b->node->type->dtype))
		return b->node;
	type_error(f, node, "Unknown shape variable: %s", node->name);
	return NULL;
}

static int closure_shape(struct front *f, const struct py_node *node, struct ir_list *shape)
{
	struct py_value value = { 0 };
	const char *why = NULL, *name = node->name ? node->name : "expression";
	struct ir_node *dim;
	uint32_t i;

	if (f->scope->eval(f->scope, f->px, node, &value, &why))
		return type_error(f, node, "Unknown shape variable: %s", name);
	if (value.kind != VAL_LIST) {
		diag_add(f->px, DIAG_TYPE, node->span, "Shape '%s' must be a list or tuple, got %s",
			 name, value_name(&value));
		return -EINVAL;
	}
	for (i = 0; i < value.n; i++) {
		dim = dim_of_value(f, node, &value.items[i], name, i);
		if (!dim)
			return -EINVAL;
		list_push(f->px, shape, dim);
	}
	return 0;
}

static int annotation_shape(struct front *f, const struct py_node *node, struct ir_list *shape)
{
	uint32_t i;

	if (node->kind != PY_LIST && node->kind != PY_TUPLE)
		return closure_shape(f, node, shape);
	for (i = 0; i < node->args.n; i++) {
		struct ir_node *dim = annotation_dim(f, node->args.at[i], i);

		if (!dim)
			return -EINVAL;
		list_push(f->px, shape, dim);
	}
	return 0;
}

/* ---- Types ---- */

static bool literal_int(const struct py_node *node, int64_t *value)
{
	bool minus = node->kind == PY_UNARY && !strcmp(node->name, "USub");

	if (minus)
		node = node->x;
	*value = minus ? -node->i : node->i;
	return node->kind == PY_INT && !node->huge;
}

static int annotation_memref(struct front *f, const struct py_node *node, struct ir_type *type)
{
	const struct py_node *space = node->args.n == 4 ? node->args.at[0] : NULL;
	int64_t value[4] = { -1 };
	unsigned int i;

	if (!space || space->kind != PY_ATTRIBUTE || !is_pl(f, space->x, "MemorySpace"))
		return type_error(f, node, "%s takes a pl.MemorySpace, an address, a size and an id",
				  "pl.MemRef");
	value[0] = enum_find(EN_MEMORY_SPACE, space->name);
	if (value[0] < 0)
		return type_error(f, space, "Unknown memory space: %s", space->name);
	for (i = 1; i < 4; i++)
		if (!literal_int(node->args.at[i], &value[i]))
			return type_error(f, node->args.at[i], "%s takes integer literals",
					  "pl.MemRef");
	if (value[2] < 0 || value[3] < 0)
		return type_error(f, node, "Size and id of %s must not be negative", "pl.MemRef");
	type->memref = front_memref(f, value[0], value[1], value[2], value[3], node->span);
	return 0;
}

static int annotation_extra(struct front *f, const struct py_node *node, struct ir_type *type)
{
	const char *name = pl_name(f, node);
	int64_t layout;

	if (node->kind == PY_CALL && is_pl(f, node->x, "MemRef"))
		return annotation_memref(f, node, type);
	if (node->kind == PY_CALL && (is_pl(f, node->x, "TileView") || is_pl(f, node->x, "TensorView")))
		return 0;	/* what the operators say about the tile is what counts */
	if (type->kind == TY_TILE)
		return type_error(f, node, "Tile 3rd argument must be pl.MemRef(...)%s", "");
	layout = name ? enum_find(EN_TENSOR_LAYOUT, name) : -1;
	if (layout < 0 && node->kind == PY_ATTRIBUTE && is_pl(f, node->x, "TensorLayout"))
		layout = enum_find(EN_TENSOR_LAYOUT, node->name);
	if (layout < 0)
		return type_error(f, node, "Unknown layout: %s", node->name ? node->name : "?");
	type->layout = (uint8_t)layout;
	return 0;
}

static int shaped(struct front *f, const struct py_node *node, const struct py_list *items,
		  enum type_kind kind, struct annotation *out)
{
	struct ir_list shape = { 0 };
	struct ir_type *type;
	unsigned int dtype;
	uint32_t i;

	if (items->n < 2)
		return type_error(f, node, "%s takes a shape and an element type",
				  kind == TY_TILE ? "pl.Tile" : "pl.Tensor");
	if (annotation_shape(f, items->at[0], &shape) || front_dtype(f, items->at[1], &dtype))
		return -EINVAL;
	type = (struct ir_type *)type_shaped(f->px, kind, shape, dtype);
	for (i = 2; i < items->n; i++)
		if (annotation_extra(f, items->at[i], type))
			return -EINVAL;
	out->type = type;
	return 0;
}

static int scalar(struct front *f, const struct py_node *dtype_node, struct annotation *out)
{
	unsigned int dtype;

	if (front_scalar_dtype(f, dtype_node, &dtype))
		return -EINVAL;
	out->type = type_scalar(f->px, dtype);
	return 0;
}

static int tuple_of(struct front *f, const struct py_node *node, struct annotation *out)
{
	struct py_list one = { (struct py_node **)&node->y, 1 };
	const struct py_list *items = node->y->kind == PY_TUPLE ? &node->y->args : &one;
	const struct ir_type **types = px_alloc(f->px, items->n, sizeof(const struct ir_type *));
	struct annotation item;
	uint32_t i;

	for (i = 0; i < items->n; i++) {
		if (front_annotation(f, items->at[i], false, &item))
			return -EINVAL;
		if (item.type->kind == TY_TUPLE)
			return type_error(f, items->at[i], "Nested tuple types are not supported%s",
					  "");
		types[i] = item.type;
	}
	out->type = type_tuple(f->px, types, items->n);
	return 0;
}

static const struct wrapper {
	const char *name;
	uint8_t direction;
} wrappers[] = {
	{ "Out", DIR_OUT }, { "InOut", DIR_INOUT }, { "PIPE_IN", DIR_PIPE_IN },
	{ "PIPE_OUT", DIR_PIPE_OUT }, { "PipeIn", DIR_PIPE_IN }, { "PipeOut", DIR_PIPE_OUT },
	{ NULL, 0 }
};

static int wrapped(struct front *f, const struct py_node *node, const struct wrapper *w, bool param,
		   struct annotation *out)
{
	struct ir_type *pipe;

	if (!param)
		return type_error(f, node, "pl.%s is for parameters only, outermost", w->name);
	if (front_annotation(f, node->y, false, out))
		return -EINVAL;
	out->direction = w->direction;
	if (w->direction >= DIR_PIPE_IN) {
		if (out->type->kind != TY_TILE)
			return type_error(f, node, "pl.%s carries tiles: pl.Tile[[r, c], dtype]",
					  w->name);
		pipe = type_copy(f->px, type_shaped(f->px, TY_PIPE, out->type->shape,
						    out->type->dtype));
		out->type = pipe;
		return 0;
	}
	if (out->type->kind != TY_SCALAR)
		return 0;
	diag_hint(f->px, diag_add(f->px, DIAG_TYPE, node->span,
				  "Scalar parameters cannot have %s direction", w->name),
		  "Only Tensor and Tile parameters support %s direction", w->name);
	return -EINVAL;
}

static int subscripted(struct front *f, const struct py_node *node, bool param,
		       struct annotation *out)
{
	const char *name = pl_name(f, node->x);
	struct py_list one = { (struct py_node **)&node->y, 1 };
	const struct py_list *items = node->y->kind == PY_TUPLE ? &node->y->args : &one;
	const struct wrapper *w;

	if (node->x->kind == PY_NAME && !strcmp(node->x->name, "tuple"))
		return tuple_of(f, node, out);
	if (!name)
		return type_error(f, node, "Unknown type annotation%s", "");
	for (w = wrappers; w->name; w++)
		if (!strcmp(name, w->name))
			return wrapped(f, node, w, param, out);
	if (!strcmp(name, "Scalar"))
		return scalar(f, node->y, out);
	if (!strcmp(name, "Tensor"))
		return shaped(f, node, items, TY_TENSOR, out);
	if (!strcmp(name, "Tile"))
		return shaped(f, node, items, TY_TILE, out);
	if (!strcmp(name, "Pipe"))
		return shaped(f, node, items, TY_PIPE, out);
	return type_error(f, node, "Unknown type annotation: pl.%s", name);
}

int front_annotation(struct front *f, const struct py_node *node, bool param,
		     struct annotation *out)
{
	struct ir_list one = { 0 };
	const char *name = pl_name(f, node);

	*out = (struct annotation){ .direction = DIR_IN };
	if (node->kind == PY_SUBSCRIPT)
		return subscripted(f, node, param, out);
	if (node->kind == PY_CALL && is_pl(f, node->x, "Tensor"))
		return shaped(f, node, &node->args, TY_TENSOR, out);
	if (node->kind == PY_CALL && is_pl(f, node->x, "Tile"))
		return shaped(f, node, &node->args, TY_TILE, out);
	if (name && !strcmp(name, "Cluster")) {
		list_push(f->px, &one, ir_int(f->px, 1, DT_INDEX, node->span));
		out->type = type_shaped(f->px, TY_CLUSTER, one, DT_INT32);
		return 0;
	}
	if (name && (!strcmp(name, "MemRefType") || !strcmp(name, "Unknown"))) {
		out->type = type_unknown();
		return 0;
	}
	if (name && !dtype_find(name)) {
		diag_hint(f->px, diag_add(f->px, DIAG_TYPE, node->span,
					  "Incomplete type annotation: pl.%s", name),
			  "Write pl.Tensor[[64], pl.FP32], pl.Scalar[pl.INT64] or pl.INT64");
		return -EINVAL;
	}
	return scalar(f, node, out);
}
