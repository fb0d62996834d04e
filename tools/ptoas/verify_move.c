/* SPDX-License-Identifier: MIT */
/* Loads, stores, moves, and the views and tiles they work on. Sections 4.1, 8.5, 8.6. */
#include "verify.h"

#define T_(e)	(1u << PTO_##e)
#define A3_LOAD	(T_(I8) | T_(I16) | T_(I32) | T_(I64) | T_(F16) | T_(BF16) | T_(F32))

static bool in_space(const struct pto_type *t, enum pto_space s)
{
	return pto_type_space(t) == s;
}

static unsigned int elem_bits(const struct pto_type *t)
{
	return pto_elem_info((enum pto_elem)t->elem)->bits;
}

/* ---- Load and store -------------------------------------------------------------------------- */

static int vec_types(struct verify *v, const struct pto_type *tile)
{
	if (v->arch == PTO_ARCH_A5 || !in_space(tile, PTO_SPACE_VEC) || in_mask(tile, A3_LOAD))
		return 0;
	return bad(v, NULL, "expects element type i8/i16/i32/i64/f16/bf16/f32 on A2/A3, not %s",
		   elem_text(tile));
}

/* The padding of a tile's type (enum pto_pad) that a constant stands for; -1: none. */
static int64_t pad_of(const struct pto_value *v)
{
	const struct pto_attr *a = v->def && pto_code(v->def) == PTO_OP_CONSTANT ?
				   pto_attr_find(v->def, "value") : NULL;
	int bits = pto_elem_info((enum pto_elem)v->type->elem)->bits;

	if (a && a->kind == PTO_ATTR_FLOAT)
		return a->f == 0 ? PTO_PAD_ZERO : !__builtin_isinf(a->f) ? -1 : a->f > 0 ? PTO_PAD_MAX :
		       PTO_PAD_MIN;
	if (!a || a->kind != PTO_ATTR_INT)
		return -1;
	if (!a->i)
		return PTO_PAD_ZERO;
	return a->i == INT64_MAX >> (64 - bits) ? PTO_PAD_MAX :
	       a->i == INT64_MIN >> (64 - bits) ? PTO_PAD_MIN : -1;
}

static bool is_full(const struct pto_type *t)
{
	return t->kind == PTO_T_TILE && t->valid[0] == t->dim[0] && t->valid[1] == t->dim[1];
}

/* Groups of "pad_value = %x", "left_padding_num = %x" and so on, in the order of the text. */
enum { LOAD_PAD_VALUE = 2, LOAD_LEFT, LOAD_RIGHT };
enum { MODE_NULL, MODE_FIRST, MODE_VALUE };	/* attribute padmode */

static int no_padding_num(struct verify *v, unsigned int group, const char *name)
{
	const struct pto_use *u = pto_operand(v->op, group);
	int64_t n;

	if (!u || (pto_const_int(u->value, &n) && !n))
		return 0;
	return bad(v, "load into a window of the tile (pto.subview) and pad with pto.tfillpad",
		   "takes no %s other than 0", name);
}

/* A load pads as its tile's type says; what asks for something else must not pass unseen. */
static int load_padding(struct verify *v, const struct pto_type *dst)
{
	const struct pto_use *value = pto_operand(v->op, LOAD_PAD_VALUE);
	int64_t mode = pto_attr_int(v->op, "pad_mode", MODE_NULL);

	if (mode == MODE_FIRST && !is_full(dst))
		return bad(v, "give the tile's type a pad, or use pto.tfillpad",
			   "cannot pad with the first element");
	if (mode == MODE_VALUE && !value)
		return bad(v, "write pad_value = %x : type", "requires pad_value for this pad_mode");
	if (value && mode != MODE_VALUE)
		return bad(v, "write pad_mode = #pto<padmode PadValue>",
			   "takes pad_value only with pad_mode PadValue");
	if (value && !is_full(dst) && dst->pad != pad_of(value->value))
		return bad(v, "write pad=1 for 0, pad=2 for the largest, pad=3 for the smallest "
			   "value; others: pto.tfillpad",
			   "expects pad_value to be a constant that is the pad of dst's type");
	return no_padding_num(v, LOAD_LEFT, "left_padding_num") ||
	       no_padding_num(v, LOAD_RIGHT, "right_padding_num") ? -EINVAL : 0;
}

int verify_load(struct verify *v)
{
	const struct pto_type *src = v->in[0], *dst = v->out[0];
	int64_t from = static_count(src), to = static_count(dst);

	if (!in_space(dst, PTO_SPACE_VEC) && !in_space(dst, PTO_SPACE_MAT) &&
	    !in_space(dst, PTO_SPACE_SCALING))
		return bad(v, "load into mat, then move: pto.tmov or pto.textract",
			   "expects dst to be in the vec or mat address space");
	if (elem_bits(src) != elem_bits(dst))
		return bad(v, "load first, then convert: pto.tcvt",
			   "expects src and dst elements of one size, not %s and %s",
			   elem_text(src), elem_text(dst));
	if (vec_types(v, dst) || (v->op->info->code == PTO_OP_TLOAD && load_padding(v, dst)))
		return -EINVAL;
	if (from >= 0 && to >= 0 && from != to)
		return bad(v, "give the tile the valid shape of what is loaded",
			   "expects src static element count %lld to match dst's valid %lld",
			   (long long)from, (long long)to);
	return 0;
}

static int store_acc(struct verify *v, const struct pto_type *src, const struct pto_type *dst)
{
	uint32_t to = T_(I32) | T_(F32) | T_(F16) | T_(BF16);

	if (!in_mask(src, T_(I32) | T_(F32)))
		return bad(v, NULL, "expects acc src element type i32/f32, not %s", elem_text(src));
	if (v->n_in == 2) {
		to = class_bit(src) == T_(I32) ? T_(I8) | T_(F16) : T_(I8);
		if (v->arch == PTO_ARCH_A5)
			to |= T_(BF16) | T_(F32);
	}
	if (!in_mask(dst, to))
		return bad(v, NULL, "does not store an acc tile of %s as %s", elem_text(src),
			   elem_text(dst));
	return 0;
}

int verify_store(struct verify *v)
{
	const struct pto_type *src = v->in[0], *dst = v->out[0];
	int64_t from = static_count(src), to = static_count(dst);

	if (in_space(src, PTO_SPACE_ACC)) {
		if (store_acc(v, src, dst))
			return -EINVAL;
	} else if (in_space(src, PTO_SPACE_VEC) ||
		   (in_space(src, PTO_SPACE_MAT) && v->arch == PTO_ARCH_A3)) {
		if (elem_bits(src) != elem_bits(dst))
			return bad(v, "convert first: pto.tcvt",
				   "expects src and dst elements of one size, not %s and %s",
				   elem_text(src), elem_text(dst));
		if (vec_types(v, src))
			return -EINVAL;
	} else {
		return bad(v, NULL, "expects src to be in the vec%s or acc address space",
			   v->arch == PTO_ARCH_A3 ? ", mat" : "");
	}
	if (from >= 0 && to >= 0 && from != to)
		return bad(v, "store a partition view of the tile's valid shape",
			   "expects dst static element count %lld to match src's valid %lld",
			   (long long)to, (long long)from);
	return 0;
}

int verify_store_fp(struct verify *v)
{
	if (!in_space(v->in[0], PTO_SPACE_ACC))
		return bad(v, NULL, "expects src to be in the acc address space");
	if (!in_space(v->in[1], PTO_SPACE_SCALING))
		return bad(v, NULL, "expects fp to be in the scaling address space");
	return 0;
}

/* ---- Moves ----------------------------------------------------------------------------------- */

/* Pairs of spaces, with the architectures that have them (bit 0: a3, bit 1: a5). */
struct pair {
	enum pto_space src, dst;
	unsigned int arch;
};

#define BOTH	3u
#define ONLY_A5	2u

static bool has_pair(const struct pair *pairs, size_t n, enum pto_space src, enum pto_space dst,
		     enum pto_arch arch)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (src == pairs[i].src && dst == pairs[i].dst && (pairs[i].arch & 1u << arch))
			return true;
	return false;
}

#define ALLOWED(v, pairs, src, dst) \
	(pto_is_local(src) && pto_is_local(dst) && \
	 has_pair((pairs), sizeof(pairs) / sizeof((pairs)[0]), pto_type_space(src), \
		  pto_type_space(dst), (v)->arch))

static int bad_pair(struct verify *v, const struct pto_type *src, const struct pto_type *dst)
{
	return bad(v, NULL, "does not move from %s to %s on %s",
		   pto_space_name(pto_type_space(src)), pto_space_name(pto_type_space(dst)),
		   v->arch == PTO_ARCH_A5 ? "A5" : "A2/A3");
}

static const struct pair moves[] = {
	{ PTO_SPACE_MAT, PTO_SPACE_LEFT, BOTH }, { PTO_SPACE_MAT, PTO_SPACE_RIGHT, BOTH },
	{ PTO_SPACE_MAT, PTO_SPACE_BIAS, BOTH }, { PTO_SPACE_MAT, PTO_SPACE_SCALING, BOTH },
	{ PTO_SPACE_VEC, PTO_SPACE_VEC, BOTH }, { PTO_SPACE_ACC, PTO_SPACE_MAT, BOTH },
	{ PTO_SPACE_ACC, PTO_SPACE_VEC, BOTH }, { PTO_SPACE_VEC, PTO_SPACE_MAT, ONLY_A5 },
};

bool pto_moves(enum pto_space from, enum pto_space to, enum pto_arch arch)
{
	return has_pair(moves, sizeof(moves) / sizeof(moves[0]), from, to, arch);
}

int verify_mov(struct verify *v)
{
	const struct pto_type *src = v->in[0], *dst = v->out[0];
	int64_t mode = pto_attr_int(v->op, "accToVecMode", 0);

	if (!ALLOWED(v, moves, src, dst))
		return bad_pair(v, src, dst);
	if (v->n_in > 1 && pto_is_local(v->in[1]) && !in_space(v->in[1], PTO_SPACE_SCALING))
		return bad(v, NULL, "expects fp to be in the scaling address space");
	if (v->n_in > 1 && !in_space(src, PTO_SPACE_ACC))
		return bad(v, NULL, "expects src to be in the acc address space when it quantizes");
	if (mode < 2 && !same_shape(src, dst))
		return bad(v, "move a window: pto.textract",
			   "expects src and dst to have compatible shapes");
	if (!in_space(src, PTO_SPACE_ACC) && elem_bits(src) != elem_bits(dst))
		return bad(v, "convert: pto.tcvt", "expects src and dst elements of one size");
	return 0;
}

int verify_mov_fp(struct verify *v)
{
	const struct pto_type *dst = v->out[0];

	if (verify_store_fp(v))
		return -EINVAL;
	if (!in_space(dst, PTO_SPACE_MAT) &&
	    (v->arch == PTO_ARCH_A3 || !in_space(dst, PTO_SPACE_VEC)))
		return bad_pair(v, v->in[0], dst);
	return 0;
}

int verify_scale_addr(struct verify *v)
{
	if (!in_space(v->out[0], PTO_SPACE_SCALING))
		return bad(v, NULL, "expects dst to be in the scaling address space");
	return 0;
}

static bool is_nd(const struct pto_type *t)
{
	return t->kind != PTO_T_TILE || (t->blayout == PTO_ROW_MAJOR && t->slayout == PTO_NONE_BOX);
}

/* Constant offsets: the window [offset, offset + part) lies within @whole. */
static int window(struct verify *v, const struct pto_type *part, const struct pto_type *whole,
		  unsigned int first_index, const char *what)
{
	int64_t offset, extent;
	int k;

	if (part->kind != PTO_T_TILE || whole->kind != PTO_T_TILE)
		return 0;
	for (k = 0; k < 2; k++) {
		if (!pto_const_int(v->op->operand[first_index + (unsigned int)k].value, &offset))
			continue;
		extent = part->valid[k] == PTO_DYNAMIC ? 0 : part->valid[k];
		if (offset < 0)
			return bad(v, NULL, "expects the %s offset %lld not to be negative",
				   k ? "column" : "row", (long long)offset);
		if (whole->valid[k] != PTO_DYNAMIC && offset > whole->valid[k] - extent)
			return bad(v, "the window must lie within the tile",
				   "expects %s offset %lld plus %lld to be within %s's %lld",
				   k ? "column" : "row", (long long)offset, (long long)extent, what,
				   (long long)whole->valid[k]);
	}
	return 0;
}

int verify_extract(struct verify *v)
{
	static const struct pair pairs[] = {
		{ PTO_SPACE_MAT, PTO_SPACE_LEFT, BOTH }, { PTO_SPACE_MAT, PTO_SPACE_RIGHT, BOTH },
		{ PTO_SPACE_MAT, PTO_SPACE_SCALING, BOTH }, { PTO_SPACE_ACC, PTO_SPACE_MAT, BOTH },
		{ PTO_SPACE_VEC, PTO_SPACE_VEC, BOTH }, { PTO_SPACE_VEC, PTO_SPACE_MAT, ONLY_A5 },
		{ PTO_SPACE_MAT, PTO_SPACE_BIAS, BOTH },
	};
	const struct pto_type *src = v->in[0], *dst = v->out[0];
	bool fp = v->op->info->code == PTO_OP_TEXTRACT_FP;

	if (fp ? verify_store_fp(v) : !ALLOWED(v, pairs, src, dst))
		return fp ? -EINVAL : bad_pair(v, src, dst);
	if (in_space(src, PTO_SPACE_VEC) && in_space(dst, PTO_SPACE_VEC) &&
	    v->arch == PTO_ARCH_A5 && (!is_nd(src) || !is_nd(dst)))
		return bad(v, NULL, "expects A5 vec->vec textract src/dst to use ND layout "
				    "(blayout=row_major, slayout=none_box)");
	if (!in_space(src, PTO_SPACE_ACC) && class_bit(src) != class_bit(dst))
		return bad(v, NULL, "expects src and dst to have one element type, not %s and %s",
			   elem_text(src), elem_text(dst));
	return window(v, dst, src, fp ? 2 : 1, "src");
}

int verify_insert(struct verify *v)
{
	static const struct pair a5[] = {
		{ PTO_SPACE_ACC, PTO_SPACE_MAT, BOTH }, { PTO_SPACE_VEC, PTO_SPACE_MAT, BOTH },
		{ PTO_SPACE_VEC, PTO_SPACE_VEC, BOTH },
	};
	const struct pto_type *src = v->in[0], *dst = v->out[0];
	bool fp = v->op->info->code == PTO_OP_TINSERT_FP;

	if (fp && verify_store_fp(v))
		return -EINVAL;
	if (v->arch == PTO_ARCH_A5 && !ALLOWED(v, a5, src, dst))
		return bad(v, NULL, "expects A5 tinsert to use a supported src/dst loc pair: "
				    "acc->mat, vec->mat, or vec->vec");
	if (v->arch == PTO_ARCH_A3 &&
	    (!in_space(src, PTO_SPACE_ACC) || !in_space(dst, PTO_SPACE_MAT)))
		return bad(v, NULL, "expects A2/A3 tinsert to go from acc to mat");
	if (v->arch == PTO_ARCH_A3 && !fp &&
	    (class_bit(src) != T_(F32) || !in_mask(dst, T_(F16) | T_(BF16))))
		return bad(v, NULL,
			   "expects A2/A3 tinsert element types to be src=f32, dst=f16/bf16");
	return window(v, src, dst, fp ? 2 : 1, "dst");
}

int verify_fillpad(struct verify *v)
{
	const struct pto_type *src = v->in[0], *dst = v->out[0];

	if (src->kind != PTO_T_TILE || dst->kind != PTO_T_TILE)
		return 0;
	if (dst->pad == PTO_PAD_NULL)
		return bad(v, "give dst's type pad=1 (zero), 2 (max), 3 (min) or 4294967296 + bits",
			   "expects dst to have a pad value");
	if (dst->pad >= PTO_PAD_CUSTOM && elem_bits(dst) < 32 &&
	    (dst->pad - PTO_PAD_CUSTOM) >> elem_bits(dst))
		return bad(v, "pad=4294967296 + the bits of an element",
			   "expects the pad of dst to be the bits of one %s element, not 0x%llx",
			   elem_text(dst), (unsigned long long)(dst->pad - PTO_PAD_CUSTOM));
	if (in_space(dst, PTO_SPACE_MAT) && dst->pad != PTO_PAD_ZERO)
		return bad(v, NULL, "expects a mat dst to be padded with zero");
	if (elem_bits(src) != elem_bits(dst))
		return bad(v, NULL, "expects src and dst elements of one size");
	if (v->op->info->code == PTO_OP_TFILLPAD_EXPAND ?
	    dst->dim[0] < src->dim[0] || dst->dim[1] < src->dim[1] : !same_shape(src, dst))
		return bad(v, "pto.tfillpad_expand pads into a larger tile",
			   "expects src and dst to have compatible shapes");
	return 0;
}
