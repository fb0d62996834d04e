/* SPDX-License-Identifier: MIT */
/* Views of memory, tiles and windows of tiles: the operations that make handles. Section 8.5. */
#include "verify.h"

static const char *axis(int k)
{
	return k ? "column" : "row";
}

/* The nth operand of @group. */
static struct pto_value *nth(const struct verify *v, unsigned int group, unsigned int n)
{
	return (pto_operand(v->op, group) + n)->value;
}

int verify_make_view(struct verify *v)
{
	const struct pto_type *p = v->op->operand[0].value->type, *t = v->op->result[0].type;
	unsigned int shape = pto_group_count(v->op, 1), strides = pto_group_count(v->op, 2);
	int64_t n;

	if (t->kind != PTO_T_VIEW)
		return bad(v, NULL, "expects a !pto.tensor_view result");
	if (t->rank > 5)
		return bad(v, NULL, "expects at most 5 dimensions, not %u", t->rank);
	if (shape != strides)
		return bad(v, NULL, "has %u shape values but %u strides", shape, strides);
	if (shape != t->rank && t->rank != 1)
		return bad(v, "write one dimension per shape value: <?x?xf32>",
			   "has %u shape values for rank %u", shape, t->rank);
	if (!shape || shape > 5)
		return bad(v, NULL, "expects 1 to 5 shape values, not %u", shape);
	if (class_bit(p) != class_bit(t))
		return bad(v, NULL, "expects the pointer's element type %s to equal the view's %s",
			   elem_text(p), elem_text(t));
	while (shape--)
		if (pto_const_int(nth(v, 1, shape), &n) && n < 0)
			return bad(v, NULL, "has a negative size %lld", (long long)n);
	return 0;
}

/* Offset and size in one dimension of a partition. */
static int partition_dim(struct verify *v, unsigned int k)
{
	const struct pto_type *from = v->op->operand[0].value->type, *to = v->op->result[0].type;
	int64_t offset = 0, size = 0;
	bool know_offset = pto_const_int(nth(v, 1, k), &offset);
	bool know_size = pto_const_int(nth(v, 2, k), &size);

	if (offset < 0)
		return bad(v, NULL, "has a negative offset %lld in dimension %u", (long long)offset,
			   k);
	if (size < 0)
		return bad(v, NULL, "has a negative size %lld in dimension %u", (long long)size, k);
	if (know_size && k < to->rank && to->dim[k] != PTO_DYNAMIC && to->dim[k] != size)
		return bad(v, "the result type repeats the sizes",
			   "has size %lld in dimension %u, but its type says %lld", (long long)size,
			   k, (long long)to->dim[k]);
	if (know_offset && know_size && k < from->rank && from->dim[k] != PTO_DYNAMIC &&
	    offset > from->dim[k] - size)
		return bad(v, NULL,
			   "goes beyond dimension %u: offset %lld plus size %lld exceeds %lld",
			   k, (long long)offset, (long long)size, (long long)from->dim[k]);
	return 0;
}

int verify_partition(struct verify *v)
{
	const struct pto_type *from = v->op->operand[0].value->type, *to = v->op->result[0].type;
	unsigned int offsets = pto_group_count(v->op, 1), sizes = pto_group_count(v->op, 2), k;

	if (to->kind != PTO_T_PART)
		return bad(v, NULL, "expects a !pto.partition_tensor_view result");
	if (offsets != sizes)
		return bad(v, NULL, "has %u offsets but %u sizes", offsets, sizes);
	if (!offsets || (from->rank > 1 && offsets != from->rank))
		return bad(v, "write one offset and one size per dimension",
			   "has %u offsets for rank %u", offsets, from->rank);
	if (class_bit(from) != class_bit(to))
		return bad(v, NULL, "expects source and result to have one element type");
	for (k = 0; k < offsets; k++)
		if (partition_dim(v, k))
			return -EINVAL;
	return 0;
}

static int valid_operand(struct verify *v, const struct pto_type *t, int k)
{
	const struct pto_use *u = pto_operand(v->op, (unsigned int)k + 1);
	const char *name = k ? "valid_col" : "valid_row", *key = k ? "v_col" : "v_row";
	int64_t n;

	if (t->valid[k] == PTO_DYNAMIC && !u)
		return bad(v, "write valid_row = %n valid_col = %n, or static extents",
			   "%s operand is required because result type %s is ?", name, key);
	if (t->valid[k] != PTO_DYNAMIC && u)
		return bad(v, "write ? in the type, or leave the operand out",
			   "%s operand must be absent because result type %s is %lld", name, key,
			   (long long)t->valid[k]);
	if (u && pto_const_int(u->value, &n) && (n < 0 || n > t->dim[k]))
		return bad(v, "0 to the size of the tile", "%s %lld is not within 0 to %lld", name,
			   (long long)n, (long long)t->dim[k]);
	return 0;
}

int verify_alloc(struct verify *v)
{
	const struct pto_type *t = v->op->result[0].type;
	const struct pto_use *addr = pto_operand(v->op, 0);
	bool multi = v->op->info->code == PTO_OP_ALLOC_MULTI_TILE;

	if (t->kind != (multi ? PTO_T_MULTI_TILE : PTO_T_TILE))
		return bad(v, NULL, multi ? "expects a !pto.multi_tile_buf result" :
				    "expects a !pto.tile_buf result");
	t = multi ? t->inner : t;
	if (t->space == PTO_SPACE_GM)
		return bad(v, "global memory is reached through pto.make_tensor_view",
			   "cannot allocate a tile in gm");
	if (multi && t->space != PTO_SPACE_VEC && t->space != PTO_SPACE_MAT &&
	    t->space != PTO_SPACE_ACC)
		return bad(v, NULL, "expects slots in vec, mat or acc");
	if (!t->dim[0] || !t->dim[1])
		return bad(v, NULL, "expects rows and columns to be positive");
	if (addr && addr->value->type->elem != PTO_I64 && addr->value->type->elem != PTO_INDEX)
		return bad(v, NULL, "expects addr to be an i64");
	return valid_operand(v, t, 0) || valid_operand(v, t, 1) ? -EINVAL : 0;
}

int verify_multi_get(struct verify *v)
{
	const struct pto_type *from = v->op->operand[0].value->type, *to = v->op->result[0].type;
	int64_t slot;

	if (from->kind != PTO_T_MULTI_TILE)
		return bad(v, NULL, "expects a !pto.multi_tile_buf");
	if (from->inner != to)
		return bad(v, NULL, "expects the result to have the type of a slot");
	if (pto_const_int(v->op->operand[1].value, &slot) && (slot < 0 || slot >= from->count))
		return bad(v, NULL, "slot %lld is not within 0 to %lld", (long long)slot,
			   (long long)from->count - 1);
	return 0;
}

/* ---- Other views of a tile ------------------------------------------------------------------- */

int verify_reshape(struct verify *v)
{
	const struct pto_type *a = v->op->operand[0].value->type;
	const struct pto_type *b = v->op->n_results ? v->op->result[0].type :
				   v->op->operand[1].value->type;

	if (a->kind != PTO_T_TILE || b->kind != PTO_T_TILE)
		return 0;
	if (a->space != b->space)
		return bad(v, "move it: pto.tmov",
			   "expects source and result in one address space");
	if (pto_type_bytes(a) != pto_type_bytes(b))
		return bad(v, NULL, "expects %lld bytes, but the result has %lld",
			   (long long)pto_type_bytes(a), (long long)pto_type_bytes(b));
	if ((a->slayout == PTO_NONE_BOX) != (b->slayout == PTO_NONE_BOX))
		return bad(v, NULL, "expects source and result both boxed or both not");
	return 0;
}

int verify_bitcast(struct verify *v)
{
	const struct pto_type *a = v->op->operand[0].value->type, *b = v->op->result[0].type;

	if (!pto_is_local(a) || !pto_is_local(b))
		return bad(v, NULL, "expects tiles");
	if (pto_type_space(a) != pto_type_space(b))
		return bad(v, NULL, "expects source and result in one address space");
	if (pto_type_bytes(a) != pto_type_bytes(b))
		return bad(v, NULL, "expects %lld bytes, but the result has %lld",
			   (long long)pto_type_bytes(a), (long long)pto_type_bytes(b));
	return 0;
}

/* Rows or columns of the inner box; 1 without boxes. Section 3.4. */
static int64_t box(const struct pto_type *t, int k)
{
	int64_t c0 = 256 / pto_elem_info((enum pto_elem)t->elem)->bits;
	bool along = (t->slayout == PTO_BOX_ROW_MAJOR) == (k == 1);

	if (t->slayout == PTO_NONE_BOX)
		return 1;
	if (t->fractal == 1024)
		return 16;
	if (t->fractal == 32)
		return along ? 2 : 16;
	return along ? c0 : 16;
}

static int window_dim(struct verify *v, const struct pto_type *t, int64_t size, int k)
{
	int64_t offset;

	if (size <= 0 || size > t->dim[k])
		return bad(v, NULL, "%s size %lld is not within 1 to %lld", axis(k),
			   (long long)size,
			   (long long)t->dim[k]);
	if (!pto_const_int(nth(v, 1, (unsigned int)k), &offset))
		return 0;
	if (offset < 0 || offset > t->dim[k] - size)
		return bad(v, NULL, "%s offset %lld plus size %lld exceeds %lld", axis(k),
			   (long long)offset, (long long)size, (long long)t->dim[k]);
	if (offset % box(t, k))
		return bad(v, "offsets into a boxed tile step over whole boxes",
			   "%s offset %lld is not a multiple of the inner box %lld", axis(k),
			   (long long)offset, (long long)box(t, k));
	return 0;
}

/* Section 8.9: what subview may change. */
static int subview_type(struct verify *v, const struct pto_type *a, const struct pto_type *b,
			const struct pto_attr *sizes)
{
	int64_t n;
	int k;

	if (b->kind != PTO_T_TILE || a->elem != b->elem || a->space != b->space ||
	    a->blayout != b->blayout || a->slayout != b->slayout || a->fractal != b->fractal ||
	    a->compact != b->compact)
		return bad(v, NULL, "expects the result to differ from the tile only in its sizes");
	if (b->pad)
		return bad(v, NULL, "expects the result to have no pad value");
	for (k = 0; k < 2; k++) {
		const struct pto_use *valid = pto_operand(v->op, 2);
		bool known = !valid || pto_const_int(valid[k].value, &n);

		if (b->dim[k] != sizes->list[k].i)
			return bad(v, NULL, "has %s size %lld, but its type says %lld", axis(k),
				   (long long)sizes->list[k].i, (long long)b->dim[k]);
		if (valid && known == (b->valid[k] == PTO_DYNAMIC))
			return bad(v, "static where the operand is constant, else ?",
				   "expects valid %ss of the result type to be %s", axis(k),
				   known ? "static" : "?");
		if (valid && known && n != b->valid[k])
			return bad(v, NULL, "has %lld valid %ss, but its type says %lld",
				   (long long)n, axis(k), (long long)b->valid[k]);
	}
	return 0;
}

int verify_subset(struct verify *v)
{
	const struct pto_type *t = v->op->operand[0].value->type, *r = v->op->result[0].type;
	const struct pto_attr *sizes = pto_attr_find(v->op, "sizes");
	unsigned int valid = pto_group_count(v->op, 2);
	int k;

	if (t->kind != PTO_T_TILE || r->kind != PTO_T_TILE)
		return bad(v, NULL, "expects a tile");
	if (sizes->count != 2 || pto_group_count(v->op, 1) != 2 || (valid && valid != 2))
		return bad(v, "write %t[%row, %col] sizes [rows, cols]",
			   "expects two offsets and two sizes");
	for (k = 0; k < 2; k++)
		if (sizes->list[k].kind != PTO_ATTR_INT ||
		    window_dim(v, t, sizes->list[k].i, k))
			return -EINVAL;
	return v->op->info->code == PTO_OP_SUBVIEW ? subview_type(v, t, r, sizes) : 0;
}

int verify_validshape(struct verify *v)
{
	const struct pto_type *t = v->op->operand[0].value->type;
	int64_t n;
	int k;

	if (t->kind != PTO_T_TILE)
		return bad(v, NULL, "expects a tile");
	if (t->valid[0] != PTO_DYNAMIC || t->valid[1] != PTO_DYNAMIC)
		return bad(v, "write v_row=?, v_col=? in the tile's type",
			   "expects a tile with dynamic validShape (?, ?)");
	for (k = 0; k < 2; k++)
		if (pto_const_int(v->op->operand[k + 1].value, &n) && (n < 0 || n > t->dim[k]))
			return bad(v, NULL, "valid %ss %lld are not within 0 to %lld", axis(k),
				   (long long)n, (long long)t->dim[k]);
	return 0;
}

/* ---- Elements, pointers, addresses ----------------------------------------------------------- */

int verify_getval(struct verify *v)
{
	bool get = v->op->info->code == PTO_OP_TGETVAL;
	const struct pto_type *t = v->op->operand[get ? 0 : 2].value->type;
	const struct pto_type *x = get ? v->op->result[0].type : v->op->operand[1].value->type;
	int64_t at;

	if (pto_type_space(t) != PTO_SPACE_VEC)
		return bad(v, NULL, "expects a tile in the vec address space");
	if (x->kind != PTO_T_SCALAR || class_bit(x) != class_bit(t))
		return bad(v, NULL, "expects a value of the tile's element type %s", elem_text(t));
	if (t->kind == PTO_T_TILE && pto_const_int(v->op->operand[get ? 1 : 0].value, &at) &&
	    (at < 0 || at >= t->dim[0] * t->dim[1]))
		return bad(v, NULL, "element %lld is outside the tile of %lld elements",
			   (long long)at, (long long)(t->dim[0] * t->dim[1]));
	return 0;
}

int verify_ptr(struct verify *v)
{
	bool store = v->op->info->code == PTO_OP_STORE_SCALAR;
	const struct pto_type *p = v->op->operand[store].value->type;
	const struct pto_type *x = store ? v->op->operand[0].value->type : v->op->result[0].type;

	if (v->op->info->code == PTO_OP_ADDPTR)
		return p == x ? 0 : bad(v, NULL, "expects the result to have the pointer's type");
	if (x->kind != PTO_T_SCALAR || class_bit(x) != class_bit(p))
		return bad(v, NULL, "expects a value of the pointer's element type %s",
			   elem_text(p));
	return 0;
}

int verify_tassign(struct verify *v)
{
	if (v->op->n_results && v->op->result[0].type != v->op->operand[0].value->type)
		return bad(v, NULL, "expects the result to have the tile's type");
	return 0;
}
