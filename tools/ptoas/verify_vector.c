/* SPDX-License-Identifier: MIT */
/* Shapes, layouts and types of vector and cube instructions. Sections 4 and 8.6. */
#include <string.h>

#include "verify.h"

#define T_(e)	(1u << PTO_##e)

/* "src0, src1, and dst", as the pinned messages name the operands. */
static const char *tiles_text(const struct verify *v)
{
	unsigned int i, tiles = 0;

	for (i = 0; i < v->n_in; i++)
		tiles += v->in[i]->kind == PTO_T_TILE;
	return tiles == 1 ? "src and dst" : tiles == 2 ? "src0, src1, and dst" :
	       tiles == 3 ? "src0, src1, src2, and dst" : "dst";
}

static int row_major(struct verify *v)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < v->n_in; i++)
		ok &= is_row_major(v->in[i]);
	for (i = 0; i < v->n_out; i++)
		ok &= is_row_major(v->out[i]);
	if (ok)
		return 0;
	return bad(v, "reinterpret a column as a row: pto.treshape",
		   "expects %s to use row-major layout", tiles_text(v));
}

static int equal_valid(struct verify *v)
{
	unsigned int i;

	for (i = 0; i < v->n_in; i++)
		if (!same_valid(v->in[i], v->out[0]))
			return bad(v, "make the valid shapes of sources and destination equal",
				   "expects %s to have the same valid_shape", tiles_text(v));
	return 0;
}

int verify_same(struct verify *v)
{
	return row_major(v) || equal_valid(v) ? -EINVAL : 0;
}

int verify_expands(struct verify *v)
{
	enum pto_space space = pto_type_space(v->out[0]);

	if (space != PTO_SPACE_VEC && space != PTO_SPACE_MAT)
		return bad(v, NULL, "expects dst to be in the vec or mat address space");
	return space == PTO_SPACE_VEC ? row_major(v) : 0;
}

/* ---- Reductions and broadcasts --------------------------------------------------------------- */

int verify_rowred(struct verify *v)
{
	const struct pto_type *src = v->in[0], *dst = v->out[0];

	if (src->kind != PTO_T_TILE || dst->kind != PTO_T_TILE)
		return 0;
	if (!src->valid[0] || !src->valid[1])
		return bad(v, NULL, "expects src to have a non-zero valid shape");
	if (!is_row_major(src))
		return bad(v, NULL, "expects src to use row-major layout");
	if (dst->blayout == PTO_COL_MAJOR && dst->dim[1] != 1)
		return bad(v, "use a row-major tile, or a column-major one with one column",
			   "expects dst to be row-major or to have one column");
	if (!dims_agree(dst->valid[1], 1))
		return bad(v, "the result of a row reduction is one column",
			   "expects dst to have valid column 1, not %lld",
			   (long long)dst->valid[1]);
	if (!dims_agree(src->valid[0], dst->valid[0]))
		return bad(v, NULL, "expects src and dst to have the same valid rows");
	return 0;
}

int verify_colred(struct verify *v)
{
	const struct pto_type *src = v->in[0], *dst = v->out[0];

	if (v->op->info->code == PTO_OP_TCOLSUM &&
	    (v->n_tmp != 0) != (pto_attr_find(v->op, "isBinary") != NULL))
		return bad(v, NULL, "expects tmp and isBinary together or neither");
	if (row_major(v))
		return -EINVAL;
	if (src->kind != PTO_T_TILE || dst->kind != PTO_T_TILE)
		return 0;
	if (!dims_agree(dst->valid[0], 1))
		return bad(v, "the result of a column reduction is one row",
			   "expects dst to have valid row 1, not %lld", (long long)dst->valid[0]);
	if (!dims_agree(src->valid[1], dst->valid[1]))
		return bad(v, NULL, "expects src and dst to have the same valid columns");
	return 0;
}

int verify_rowexpand(struct verify *v)
{
	if (v->in[0]->kind == PTO_T_TILE && v->out[0]->kind == PTO_T_TILE &&
	    !dims_agree(v->in[0]->valid[0], v->out[0]->valid[0]))
		return bad(v, NULL, "expects src and dst to have the same valid rows");
	return 0;
}

int verify_colexpand(struct verify *v)
{
	if (v->in[0]->kind == PTO_T_TILE && v->out[0]->kind == PTO_T_TILE &&
	    !dims_agree(v->in[0]->valid[1], v->out[0]->valid[1]))
		return bad(v, NULL, "expects src and dst to have the same valid columns");
	return 0;
}

/* The per-row vector: one column, or 32 bytes of columns. */
static bool is_row_vector(const struct pto_type *t, const struct pto_type *dst)
{
	int64_t wide = 256 / pto_elem_info((enum pto_elem)t->elem)->bits;

	return dims_agree(t->valid[0], dst->valid[0]) &&
	       (dims_agree(t->valid[1], 1) ||
		(t->blayout == PTO_ROW_MAJOR && dims_agree(t->valid[1], wide)));
}

int verify_rowbin(struct verify *v)
{
	const struct pto_type *a = v->in[0], *b = v->in[1], *dst = v->out[0];

	if (a->kind != PTO_T_TILE || b->kind != PTO_T_TILE || dst->kind != PTO_T_TILE)
		return 0;
	if (!is_row_major(dst))
		return bad(v, NULL, "expects dst to use row-major layout");
	if ((same_valid(a, dst) && is_row_vector(b, dst)) ||
	    (same_valid(b, dst) && is_row_vector(a, dst)))
		return 0;
	return bad(v, "one source has dst's valid shape, the other one column of as many rows",
		   "expects one source with dst's valid_shape and one row vector");
}

int verify_colbin(struct verify *v)
{
	const struct pto_type *a = v->in[0], *b = v->in[1], *dst = v->out[0];

	if (row_major(v))
		return -EINVAL;
	if (!same_valid(a, dst))
		return bad(v, NULL, "expects src0 and dst to have the same valid_shape");
	if (b->kind == PTO_T_TILE && dst->kind == PTO_T_TILE &&
	    !dims_agree(b->valid[1], dst->valid[1]))
		return bad(v, NULL, "expects src1 and dst to have the same valid columns");
	return 0;
}

int verify_part(struct verify *v)
{
	unsigned int i, k;

	if (row_major(v) || v->out[0]->kind != PTO_T_TILE)
		return row_major(v);
	for (i = 0; i < v->n_in; i++)
		for (k = 0; k < 2 && v->in[i]->kind == PTO_T_TILE; k++)
			if (v->in[i]->valid[k] != PTO_DYNAMIC &&
			    v->out[0]->valid[k] != PTO_DYNAMIC &&
			    v->in[i]->valid[k] > v->out[0]->valid[k])
				return bad(v, NULL, "expects src%u to be valid only where dst is",
					   i);
	return 0;
}

int verify_concat(struct verify *v)
{
	const struct pto_type *a = v->in[0], *b = v->in[1], *dst = v->out[0];

	if (a->kind != PTO_T_TILE || b->kind != PTO_T_TILE || dst->kind != PTO_T_TILE)
		return 0;
	if (!dims_agree(a->valid[0], b->valid[0]) || !dims_agree(a->valid[0], dst->valid[0]))
		return bad(v, NULL, "expects src0, src1, and dst to have the same valid rows");
	if (a->valid[1] != PTO_DYNAMIC && b->valid[1] != PTO_DYNAMIC &&
	    a->valid[1] + b->valid[1] > dst->dim[1])
		return bad(v, "make dst wider", "expects %lld and %lld columns to fit dst's %lld",
			   (long long)a->valid[1], (long long)b->valid[1], (long long)dst->dim[1]);
	return 0;
}

/* ---- Matrix ---------------------------------------------------------------------------------- */

static int inner_sizes(struct verify *v, const struct pto_type *a, const struct pto_type *b)
{
	const struct pto_type *c = v->out[0];

	if (a->kind != PTO_T_TILE || b->kind != PTO_T_TILE || c->kind != PTO_T_TILE)
		return 0;
	if (a->dim[1] != b->dim[0])
		return bad(v, "a is MxK, b is KxN",
			   "expects the inner sizes to agree: a is %lldx%lld, b is %lldx%lld",
			   (long long)a->dim[0], (long long)a->dim[1], (long long)b->dim[0],
			   (long long)b->dim[1]);
	if (a->dim[0] != c->dim[0] || b->dim[1] != c->dim[1])
		return bad(v, "dst is MxN", "expects dst to be %lldx%lld, not %lldx%lld",
			   (long long)a->dim[0], (long long)b->dim[1], (long long)c->dim[0],
			   (long long)c->dim[1]);
	if (!dims_agree(a->valid[1], b->valid[0]))
		return bad(v, NULL, "expects the valid inner sizes to agree");
	return 0;
}

static int bias_row(struct verify *v, const struct pto_type *bias)
{
	const struct pto_type *c = v->out[0];

	if (bias->kind != PTO_T_TILE)
		return 0;
	if (bias->dim[0] != 1 || bias->dim[1] != c->dim[1])
		return bad(v, NULL, "expects bias to be 1x%lld", (long long)c->dim[1]);
	if (class_bit(bias) != class_bit(c))
		return bad(v, NULL, "expects bias to have dst's element type %s", elem_text(c));
	return 0;
}

static bool triple(const struct verify *v, const struct pto_type *a, const struct pto_type *b)
{
	uint32_t ab = class_bit(a), c = class_bit(v->out[0]);

	if (v->arch == PTO_ARCH_A5 && c == T_(F32) &&
	    ((ab == T_(F8E4M3FN) && class_bit(b) == ab) || (ab == T_(HIF8) && class_bit(b) == ab)))
		return true;
	if (ab != class_bit(b))
		return false;
	return (c == T_(I32) && ab == T_(I8)) || (c == T_(F32) &&
						  (ab & (T_(F16) | T_(BF16) | T_(F32))));
}

int verify_matmul(struct verify *v)
{
	bool acc = v->in[0]->space == PTO_SPACE_ACC;
	const struct pto_type *a = v->in[acc], *b = v->in[acc + 1];

	if (!triple(v, a, b))
		return bad(v,
			   "i8 by i8 into i32; f16, bf16 or f32 by the same into f32",
			   "does not multiply %s by %s into %s", elem_text(a), elem_text(b),
			   elem_text(v->out[0]));
	if (inner_sizes(v, a, b))
		return -EINVAL;
	if (acc &&
	    (!same_shape(v->in[0], v->out[0]) || class_bit(v->in[0]) != class_bit(v->out[0])))
		return bad(v, NULL,
			   "expects the accumulator and dst to have the same type and shape");
	return v->n_in == acc + 3u ? bias_row(v, v->in[2]) : 0;
}

int verify_mx(struct verify *v)
{
	bool acc = v->in[0]->space == PTO_SPACE_ACC;
	const struct pto_type *a = v->in[acc], *b = v->in[acc + 2];
	uint32_t fp8 = T_(F8E4M3FN), fp4 = T_(F4E2M1X2);

	if (class_bit(a) != class_bit(b) || !(class_bit(a) & (fp8 | fp4)))
		return bad(v, NULL, "expects both operands to be fp8, or both fp4");
	if (class_bit(v->out[0]) != T_(F32))
		return bad(v, NULL, "expects dst element type f32");
	if (class_bit(v->in[acc + 1]) != T_(F8E8M0) || class_bit(v->in[acc + 3]) != T_(F8E8M0))
		return bad(v, NULL, "expects scale element type !pto.f8E8M0");
	if (a->kind == PTO_T_TILE && a->dim[1] % 64)
		return bad(v, "one scale covers 32 elements", "expects K to be a multiple of 64");
	if (inner_sizes(v, a, b))
		return -EINVAL;
	return v->n_in == acc + 5u ? bias_row(v, v->in[4]) : 0;
}

int verify_trans(struct verify *v)
{
	const struct pto_type *src = v->in[0], *dst = v->out[0];

	if (src->kind != PTO_T_TILE || dst->kind != PTO_T_TILE)
		return 0;
	if (!dims_agree(src->valid[0], dst->valid[1]) || !dims_agree(src->valid[1], dst->valid[0]))
		return bad(v, "dst has src's columns as rows",
			   "expects dst's valid_shape to be src's with rows and columns swapped");
	return 0;
}

/* ---- Conversion and comparison --------------------------------------------------------------- */

/* Section 4.9: what a source converts to, on a2a3 and in addition on a5. */
static const struct {
	uint32_t from, to, a5;
} conversions[] = {
	{ T_(F32), T_(F16) | T_(BF16) | T_(F32) | T_(I16) | T_(I32) | T_(I64),
	  T_(F8E4M3FN) | T_(HIF8) },
	{ T_(F16), T_(F32) | T_(I32) | T_(I16) | T_(I8) | T_(I4), T_(HIF8) },
	{ T_(BF16), T_(F32) | T_(I32), T_(F16) | T_(F4E2M1X2) },
	{ T_(I16), T_(F16) | T_(F32), T_(I8) | T_(I32) },
	{ T_(I32), T_(F32) | T_(I16) | T_(I64) | T_(F16), T_(I16) | T_(I8) },
	{ T_(I64), T_(F32) | T_(I32), 0 },
	{ T_(I8), T_(F16), T_(I16) | T_(I32) },
	{ T_(I4), T_(F16), 0 },
	{ T_(F8E4M3FN), 0, T_(F32) },
	{ T_(HIF8), 0, T_(F32) },
	{ T_(F4E2M1X2), 0, T_(BF16) },
};

bool pto_converts(enum pto_elem from, enum pto_elem to, enum pto_arch arch)
{
	uint32_t source = 1u << pto_elem_info(from)->class, all = 0;
	size_t i;

	for (i = 0; i < sizeof(conversions) / sizeof(conversions[0]); i++)
		if (conversions[i].from == source)
			all = conversions[i].to | (arch == PTO_ARCH_A5 ? conversions[i].a5 : 0);
	return all & 1u << pto_elem_info(to)->class;
}

int verify_cvt(struct verify *v)
{
	const struct pto_type *src = v->in[0], *dst = v->out[0];

	if (!pto_converts((enum pto_elem)src->elem, (enum pto_elem)dst->elem, v->arch))
		return bad(v, "convert by way of f32 or f16", "does not convert %s to %s on %s",
			   elem_text(src), elem_text(dst), v->arch == PTO_ARCH_A5 ? "A5" : "A2/A3");
	if (!same_shape(src, dst))
		return bad(v, NULL, "expects src and dst to have compatible shapes");
	if (!same_valid(src, dst))
		return bad(v, NULL, "expects src and dst to have the same valid_shape");
	return 0;
}

int verify_cmp(struct verify *v)
{
	uint32_t mask = v->arch == PTO_ARCH_A5 ? T_(I8) | T_(I16) | T_(I32) : T_(I8);

	if (!(mask & class_bit(v->out[0])))
		return bad(v, "the mask is packed, one bit per element",
			   "expects dst element type i8, not %s", elem_text(v->out[0]));
	if (row_major(v))
		return -EINVAL;
	if (v->n_in == 2 && v->in[1]->kind == PTO_T_TILE && !same_valid(v->in[0], v->in[1]))
		return bad(v, NULL, "expects src0 and src1 to have the same valid_shape");
	if (v->in[0]->kind == PTO_T_TILE && v->out[0]->kind == PTO_T_TILE &&
	    !dims_agree(v->in[0]->valid[0], v->out[0]->valid[0]))
		return bad(v, NULL, "expects src and dst to have the same valid rows");
	return 0;
}

int verify_sel(struct verify *v)
{
	unsigned int i;

	if (row_major(v))
		return -EINVAL;
	for (i = 1; i < v->n_in; i++)
		if (!same_valid(v->in[i], v->out[0]))
			return bad(v, NULL,
				   "expects sources and dst to have the same valid_shape");
	return 0;
}

/* ---- Gather, sort, generate ------------------------------------------------------------------ */

static int gather_compare(struct verify *v)
{
	uint32_t src = class_bit(v->in[0]);
	bool eq = pto_attr_int(v->op, "cmpMode", 0) == 0;

	if (src & (T_(F16) | T_(F32)) || (src == T_(I32) && (eq || v->arch == PTO_ARCH_A5)))
		return 0;
	return bad(v, NULL, "expects A2/A3 compare-form tgather src element type to be f16/f32, "
			    "or i32 when cmpMode=eq");
}

int verify_gather(struct verify *v)
{
	uint32_t types = T_(I16) | T_(I32) | T_(F16) | T_(F32);
	bool mask = pto_attr_find(v->op, "maskPattern") != NULL;

	if (v->n_out == 2)
		return gather_compare(v);
	if (v->n_in == 1 && !mask)
		return bad(v, "give an index tile and a scratch tile, or maskPattern",
			   "expects maskPattern when there is no index tile");
	if (v->n_in == 1)
		return 0;
	if (mask)
		return bad(v, NULL, "expects no maskPattern when there is an index tile");
	if (v->arch == PTO_ARCH_A5)
		types |= T_(I8);
	else if (class_bit(v->in[1]) != T_(I32))
		return bad(v, NULL, "expects A2/A3 tgather index element type i32");
	if (!in_mask(v->in[0], types))
		return bad(v, NULL, "does not gather %s", elem_text(v->in[0]));
	return 0;
}

int verify_scatter(struct verify *v)
{
	unsigned int elem, index;

	if (v->n_in == 1)
		return pto_attr_find(v->op, "maskPattern") ? 0 :
		       bad(v, NULL, "expects maskPattern when there is no index tile");
	elem = pto_elem_info((enum pto_elem)v->in[0]->elem)->bits;
	index = pto_elem_info((enum pto_elem)v->in[1]->elem)->bits;
	if (index != (elem == 8 ? 16 : elem))
		return bad(v, "8- and 16-bit elements take i16 indices, 32-bit elements i32",
			   "expects index element type i%u for %s", elem == 8 ? 16 : elem,
			   elem_text(v->in[0]));
	return 0;
}

int verify_mgather(struct verify *v)
{
	const struct pto_type *view = v->op->info->code == PTO_OP_MGATHER ? v->in[0] : v->out[0];
	const struct pto_type *tile = v->op->info->code == PTO_OP_MGATHER ? v->out[0] : v->in[0];

	if (class_bit(view) != class_bit(tile))
		return bad(v, NULL, "expects tile and memory to have one element type");
	if (class_bit(v->in[1]) != T_(I32))
		return bad(v, NULL, "expects index element type i32");
	return 0;
}

int verify_sort(struct verify *v)
{
	const struct pto_type *src = v->in[0], *dst = v->out[0];

	if (!in_mask(src, T_(F16) | T_(F32)))
		return bad(v, NULL, "expects src element type f16/f32, not %s", elem_text(src));
	if (class_bit(dst) != class_bit(src))
		return bad(v, NULL, "expects src and dst to have one element type");
	if (class_bit(v->in[1]) != T_(I32))
		return bad(v, NULL, "expects idx element type ui32");
	return 0;
}

int verify_mrgsort(struct verify *v)
{
	const struct pto_type *vec = v->n_out == 2 ? v->out[1] : NULL;

	if (!vec)
		return 0;
	if (vec->elem != PTO_I16 || vec->rank != 1 || vec->dim[0] != 4)
		return bad(v, NULL, "expects the second output to be vector<4xi16>");
	return 0;
}

int verify_ci(struct verify *v)
{
	if (class_bit(v->in[0]) != class_bit(v->out[0]))
		return bad(v, NULL, "expects the start value to have dst's element type %s",
			   elem_text(v->out[0]));
	if (v->out[0]->kind == PTO_T_TILE && !dims_agree(v->out[0]->valid[0], 1))
		return bad(v, NULL, "expects dst to have one row");
	return 0;
}

int verify_random(struct verify *v)
{
	int64_t rounds = pto_attr_int(v->op, "rounds", 10);

	if (rounds != 7 && rounds != 10)
		return bad(v, NULL, "expects rounds to be 7 or 10, not %lld", (long long)rounds);
	if (class_bit(v->out[0]) != T_(I32))
		return bad(v, NULL, "expects dst element type i32 or ui32");
	return 0;
}

int verify_quant(struct verify *v)
{
	bool asym = pto_attr_int(v->op, "quant_type", 0) == 1;
	const struct pto_type *dst = v->out[0];

	if (asym && v->n_in < 3)
		return bad(v, NULL, "INT8_ASYM quantization requires an offset operand");
	if (!asym && v->n_in > 2)
		return bad(v, NULL, "INT8_SYM quantization must not have an offset operand");
	if (class_bit(v->in[0]) != T_(F32))
		return bad(v, NULL, "expects src element type f32, not %s", elem_text(v->in[0]));
	if (asym ? dst->elem != PTO_UI8 : dst->elem != PTO_I8 && dst->elem != PTO_SI8)
		return bad(v, NULL, "expects dst element type %s for %s quantization",
			   asym ? "ui8" : "i8", asym ? "INT8_ASYM" : "INT8_SYM");
	return 0;
}
