/* SPDX-License-Identifier: MIT */
/*
 * Layouts of tensor views from their shapes and strides. Section 9.5.
 * Needs a verified module; afterwards every make_tensor_view has attribute "layout".
 */
#include "passes.h"

enum { ND, DN, NZ };	/* values of the attribute */

#define DIMS	5

/* Shape and strides right-aligned to five dimensions. */
struct geometry {
	int64_t shape[DIMS], stride[DIMS];
	unsigned int elem_bytes;
};

static bool read_geometry(const struct pto_op *op, struct geometry *g)
{
	unsigned int n = pto_group_count(op, 1), i;
	const struct pto_use *shape = pto_operand(op, 1), *stride = pto_operand(op, 2);
	int k;

	for (i = 0; i < DIMS; i++)
		g->shape[i] = 1;
	for (i = 0; i < n; i++)
		if (!pto_const_int(shape[i].value, &g->shape[DIMS - n + i]) ||
		    !pto_const_int(stride[i].value, &g->stride[DIMS - n + i]))
			return false;
	for (k = DIMS - 1 - (int)n; k >= 0; k--)
		if (__builtin_mul_overflow(g->shape[k + 1], g->stride[k + 1], &g->stride[k]))
			return false;
	g->elem_bytes = pto_elem_info((enum pto_elem)op->result[0].type->elem)->bits / 8;
	return true;
}

static bool is_nz(const struct geometry *g)
{
	int64_t box;

	return g->shape[2] == 16 && g->stride[4] == 1 && g->stride[3] == g->shape[4] &&
	       !__builtin_mul_overflow(g->shape[2] * g->elem_bytes, g->shape[3],
				       &box) && box == 512;
}

/* Whether @inner is the dimension that runs without gaps, @outer the other one. */
static bool runs(const struct geometry *g, int outer, int inner)
{
	int64_t rows = g->shape[outer], cols = g->shape[inner];

	return (cols == 1 || g->stride[inner] == 1) &&
	       (rows == 1 || (cols == 1 && g->stride[outer] == 1) || g->stride[outer] == cols);
}

/* The layout of a column depends on the tile that it is loaded into. */
static int layout_of_load(const struct pto_op *op)
{
	pto_for_each_use(part, &op->result[0]) {
		if (part->op->info->code != PTO_OP_PARTITION_VIEW)
			continue;
		pto_for_each_use(u, &part->op->result[0]) {
			const struct pto_use *out = pto_operand(u->op, 1);

			if (u->op->info->code == PTO_OP_TLOAD && out &&
			    out->value->type->kind == PTO_T_TILE &&
			    out->value->type->space == PTO_SPACE_VEC)
				return out->value->type->blayout == PTO_ROW_MAJOR ? ND : DN;
		}
	}
	return -1;
}

/* *@sure: no other layout describes the same memory. */
static int infer(const struct pto_op *op, bool *sure)
{
	struct geometry g = { .elem_bytes = 0 };
	bool nd, dn;
	int tile;

	*sure = false;
	if (!read_geometry(op, &g))
		return ND;
	*sure = true;
	if (is_nz(&g))
		return NZ;
	nd = runs(&g, 3, 4);
	dn = runs(&g, 4, 3);
	if (nd != dn)
		return nd ? ND : DN;
	*sure = false;
	if (!nd || g.shape[4] != 1 || g.shape[3] == 1)
		return ND;
	tile = layout_of_load(op);
	return tile < 0 ? DN : tile;
}

static int infer_view(struct pto_op *op, void *arg)
{
	static const char *const names[] = { "nd", "dn", "nz" };
	struct pto_pass_ctx *c = arg;
	const struct pto_attr *given;
	bool sure;
	int layout;

	if (op->info->code != PTO_OP_MAKE_TENSOR_VIEW)
		return 0;
	layout = infer(op, &sure);
	given = pto_attr_find(op, "layout");
	if (!given)
		return pto_set_attr_enum(c->module, op, "layout", PTO_A_LAYOUT, layout);
	if (!sure || given->i > NZ || given->i == layout)
		return 0;
	return pto_op_error(c->diags, c->module, op, "drop the layout, or change the strides",
			    "layout mismatch: user-specified layout=%s but inferred=%s",
			    names[given->i], names[layout]);
}

int pass_infer_layout(struct pto_pass_ctx *c)
{
	int ret = 0;

	pto_for_each_func(f, c->module)
		if (pto_walk(f->op, infer_view, c))
			ret = -EINVAL;
	return ret;
}

bool infer_layout_wanted(const struct pto_pass_ctx *c)
{
	return !c->options->no_infer_layout;
}
