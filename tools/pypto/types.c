/* SPDX-License-Identifier: MIT */
/* Element types, enumerations and types of values: sections 3.2, 3.3, 4.2. */
#include <string.h>

#include "ir.h"

static const struct dtype_info dtypes[] = {
#define DTYPE(name, code, bits, c, mlir) { #name, c, mlir, code, bits },
#include "dtypes.def"
#undef DTYPE
};

#define N_DTYPES	(sizeof(dtypes) / sizeof(dtypes[0]))

const struct dtype_info *dtype_at(size_t i)
{
	return i < N_DTYPES ? &dtypes[i] : NULL;
}

const struct dtype_info *dtype_info(unsigned int code)
{
	size_t i;

	for (i = 0; i < N_DTYPES; i++)
		if (dtypes[i].code == code)
			return &dtypes[i];
	return NULL;
}

const struct dtype_info *dtype_find(const char *name)
{
	size_t i;

	for (i = 0; i < N_DTYPES; i++)
		if (!strcmp(dtypes[i].name, name))
			return &dtypes[i];
	return NULL;
}

bool dtype_is_code(int64_t number)
{
	return number >= 0 && number <= UINT8_MAX && dtype_info((unsigned int)number);
}

const char *dtype_name(unsigned int code)
{
	const struct dtype_info *info = dtype_info(code);

	return info ? info->name : "UNKNOWN";
}

bool dtype_is_float(unsigned int code)
{
	return code >= 0x30 && code < 0x50;
}

bool dtype_is_signed(unsigned int code)
{
	return code >= 0x10 && code < 0x20;
}

bool dtype_is_small(unsigned int code)
{
	return code == DT_FP8E4M3FN || code == DT_FP8E5M2 || code == DT_FP8E8M0;
}

bool dtype_is_int(unsigned int code)
{
	return code >= 0x10 && code < 0x30;
}

unsigned int dtype_promote(unsigned int a, unsigned int b)
{
	unsigned int bits_a, bits_b;

	if (a == b || dtype_is_float(a) != dtype_is_float(b))
		return a == b || dtype_is_float(a) ? a : b;
	bits_a = dtype_info(a)->bits;
	bits_b = dtype_info(b)->bits;
	if (bits_a != bits_b)
		return bits_a > bits_b ? a : b;
	return dtype_is_signed(b) && !dtype_is_signed(a) && !dtype_is_float(a) ? b : a;
}

bool dtype_holds(unsigned int code, int64_t value)
{
	unsigned int bits = dtype_info(code)->bits;

	if (!dtype_is_int(code))
		return code == DT_BOOL && (value == 0 || value == 1);
	if (dtype_is_signed(code))
		return bits >= 64 || (value >= -(INT64_C(1) << (bits - 1)) &&
				      value < INT64_C(1) << (bits - 1));
	return value >= 0 && (bits >= 64 || value < INT64_C(1) << bits);
}

/* ---- Enumerations ---- */

static const struct enum_class {
	const char *name;
	const char *members[ENUM_MEMBERS];
} enums[EN_CLASSES] = {
	[EN_MEMORY_SPACE] = { "MemorySpace",
			      { "DDR", "Vec", "Mat", "Left", "Right", "Acc", "Bias", NULL,
				"LeftScale", "RightScale" } },
	[EN_TENSOR_LAYOUT] = { "TensorLayout", { "ND", "DN", "NZ" } },
	[EN_TILE_LAYOUT] = { "TileLayout", { "none_box", "row_major", "col_major" } },
	[EN_TILE_PAD] = { "TilePad", { "null", "zero", "max", "min" } },
	[EN_FUNCTION_TYPE] = { "FunctionType",
			       { "Opaque", "Orchestration", "InCore", NULL, NULL, NULL, NULL, NULL,
				 NULL, "BlockInCore" } },
	[EN_DIRECTION] = { "ParamDirection", { "In", "Out", "InOut", "PipeIn", "PipeOut" } },
	[EN_FOR_KIND] = { "ForKind", { "Sequential", "Parallel", "Unroll" } },
	[EN_PIPE_TYPE] = { "PipeType",
			   { "MTE1", "MTE2", "MTE3", "M", "V", "S", "FIX", "ALL" } },
	[EN_CORE_TYPE] = { "CoreType", { "CUBE", "VECTOR" } },
	[EN_ROUND_MODE] = { "RoundMode",
			    { "none", "rint", "round", "floor", "ceil", "trunc", "odd" } },
	[EN_CMP_TYPE] = { "CmpType", { "eq", "ne", "lt", "le", "gt", "ge" } },
};

const char *enum_class_name(enum px_enum class)
{
	return enums[class].name;
}

const char *enum_name(enum px_enum class, int64_t value)
{
	return value >= 0 && value < ENUM_MEMBERS ? enums[class].members[value] : NULL;
}

int64_t enum_find(enum px_enum class, const char *name)
{
	int64_t i;

	for (i = 0; i < ENUM_MEMBERS; i++)
		if (enums[class].members[i] && !strcmp(enums[class].members[i], name))
			return i;
	return -1;
}

/* ---- Types ---- */

static const struct ir_type unknown = { .kind = TY_UNKNOWN };

const struct ir_type *type_unknown(void)
{
	return &unknown;
}

struct ir_type *type_copy(struct px *px, const struct ir_type *type)
{
	struct ir_type *copy = px_new(px, struct ir_type);

	*copy = *type;
	return copy;
}

const struct ir_type *type_scalar(struct px *px, unsigned int dtype)
{
	struct ir_type *type = px_new(px, struct ir_type);

	type->kind = TY_SCALAR;
	type->dtype = dtype;
	return type;
}

const struct ir_type *type_shaped(struct px *px, enum type_kind kind, struct ir_list shape,
				  unsigned int dtype)
{
	struct ir_type *type = px_new(px, struct ir_type);

	type->kind = kind;
	type->dtype = dtype;
	type->shape = shape;
	if (kind == TY_TILE) {
		type->view.blayout = TL_ROW_MAJOR;
		type->view.slayout = TL_NONE_BOX;
		type->view.fractal = 512;
	}
	return type;
}

const struct ir_type *type_tuple(struct px *px, const struct ir_type **items, uint32_t n)
{
	struct ir_type *type = px_new(px, struct ir_type);

	type->kind = TY_TUPLE;
	type->items = items;
	type->n_items = n;
	return type;
}

const struct ir_type *type_with_memref(struct px *px, const struct ir_type *type,
				       const struct ir_memref *memref)
{
	struct ir_type *copy = type_copy(px, type);

	copy->memref = memref;
	return copy;
}

const char *type_kind_name(const struct ir_type *type)
{
	static const char *const names[] = {
		[TY_UNKNOWN] = "UnknownType", [TY_SCALAR] = "ScalarType",
		[TY_TENSOR] = "TensorType", [TY_TILE] = "TileType", [TY_TUPLE] = "TupleType",
		[TY_MEMREF] = "MemRefType", [TY_PIPE] = "PipeType", [TY_CLUSTER] = "ClusterType",
	};

	return names[type->kind];
}

bool type_is_data(const struct ir_type *type)
{
	return type->kind == TY_TILE || type->kind == TY_TENSOR;
}

bool dim_equal(const struct ir_node *a, const struct ir_node *b)
{
	if (a == b)
		return true;
	if (!a || !b || a->kind != b->kind)
		return false;
	if (a->kind == IR_CONST_INT)
		return IR_AS(a, const)->value == IR_AS(b, const)->value;
	return ir_is_binary(a) && dim_equal(IR_AS(a, binary)->left, IR_AS(b, binary)->left) &&
	       dim_equal(IR_AS(a, binary)->right, IR_AS(b, binary)->right);
}

int64_t dim_value(const struct ir_node *dim)
{
	return dim->kind == IR_CONST_INT ? IR_AS(dim, const)->value : -1;
}

bool shape_is_constant(const struct ir_list *shape)
{
	uint32_t i;

	for (i = 0; i < shape->n; i++)
		if (shape->at[i]->kind != IR_CONST_INT)
			return false;
	return true;
}

bool shape_equal(const struct ir_list *a, const struct ir_list *b)
{
	uint32_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (!dim_equal(a->at[i], b->at[i]))
			return false;
	return true;
}

static bool items_all(const struct ir_type *a, const struct ir_type *b,
		      bool (*same)(const struct ir_type *, const struct ir_type *))
{
	uint32_t i;

	if (a->n_items != b->n_items)
		return false;
	for (i = 0; i < a->n_items; i++)
		if (!same(a->items[i], b->items[i]))
			return false;
	return true;
}

bool type_compatible(const struct ir_type *a, const struct ir_type *b)
{
	return a == b || (a->kind == b->kind && a->dtype == b->dtype &&
			  shape_equal(&a->shape, &b->shape) && items_all(a, b, type_compatible));
}

bool type_identical(const struct ir_type *a, const struct ir_type *b)
{
	return a == b || (type_compatible(a, b) && a->layout == b->layout &&
			  a->memref == b->memref && a->view.blayout == b->view.blayout &&
			  a->view.slayout == b->view.slayout && a->view.pad == b->view.pad &&
			  a->view.fractal == b->view.fractal &&
			  shape_equal(&a->view.valid, &b->view.valid) &&
			  items_all(a, b, type_identical));
}

int64_t type_unit(const struct ir_type *type, uint32_t from_end)
{
	unsigned int bits = dtype_info(type->dtype)->bits;
	const struct ir_node *rows = type->shape.n == 2 ? type->shape.at[0] : NULL;

	if (type->kind != TY_TILE || type->view.slayout == TL_NONE_BOX || !rows ||
	    type->view.fractal == 32)
		return 1;
	if (from_end == 1 && rows->kind == IR_CONST_INT && IR_AS(rows, const)->value == 1)
		return 1;
	/* their accumulators are not known by their type, so boxes are filled as they lie */
	if (dtype_is_small(type->dtype))
		return (type->view.slayout == TL_COL_MAJOR) == (from_end == 1) ? 32 : 16;
	return bits <= 8 || type->dtype == DT_INT32 ? 32 : 16;
}

uint64_t type_bytes(const struct ir_type *type)
{
	uint64_t bytes = (dtype_info(type->dtype)->bits + 7) / 8;
	bool mask = type->kind == TY_TILE && type->dtype == DT_BOOL;
	uint32_t i;

	for (i = 0; i < type->shape.n; i++) {
		const struct ir_node *dim = type->shape.at[i];
		uint64_t n = dim->kind == IR_CONST_INT ? (uint64_t)IR_AS(dim, const)->value : 0;
		uint64_t unit;

		if (mask && i + 1 == type->shape.n)
			n = (n + 31) / 32 * 32;	/* rows of masks are padded */
		unit = (uint64_t)type_unit(type, type->shape.n - 1 - i);
		n = (n + unit - 1) / unit * unit;
		if (dim->kind != IR_CONST_INT || __builtin_mul_overflow(bytes, n, &bytes))
			return 0;
	}
	return bytes;
}
