/* SPDX-License-Identifier: MIT */
/*
 * memref.alloc of on-chip memory becomes alloc_tile: planned, synchronised and emitted like any
 * tile. A memref says no layout: it gets the one that its space's instructions want.
 * Sections 8.2, 8.3.
 */
#include "passes.h"

/* The layout that section 8.3 calls canonical. */
static void canonical_layout(struct pto_type *t, enum pto_arch arch)
{
	t->fractal = 512;
	switch (t->space) {
	case PTO_SPACE_MAT:
		t->blayout = PTO_COL_MAJOR;
		t->slayout = PTO_BOX_ROW_MAJOR;
		break;
	case PTO_SPACE_LEFT:
		t->blayout = arch == PTO_ARCH_A5 ? PTO_COL_MAJOR : PTO_ROW_MAJOR;
		t->slayout = PTO_BOX_ROW_MAJOR;
		break;
	case PTO_SPACE_RIGHT:
		t->slayout = PTO_BOX_COL_MAJOR;
		break;
	case PTO_SPACE_ACC:
		t->blayout = PTO_COL_MAJOR;
		t->slayout = PTO_BOX_ROW_MAJOR;
		t->fractal = 1024;
		break;
	default:
		break;
	}
}

static bool tile_type(const struct pto_type *memref, enum pto_arch arch, struct pto_type *t)
{
	int64_t rows = 1;
	unsigned int i;

	*t = (struct pto_type){ .kind = PTO_T_TILE, .elem = memref->elem, .rank = 2,
				.space = memref->space };
	if (!memref->rank)
		return false;
	for (i = 0; i < memref->rank; i++)
		if (memref->dim[i] < 0)
			return false;
	for (i = 0; i + 1 < memref->rank; i++)
		if (__builtin_mul_overflow(rows, memref->dim[i], &rows))
			return false;
	t->dim[0] = t->valid[0] = rows;
	t->dim[1] = t->valid[1] = memref->dim[memref->rank - 1];
	canonical_layout(t, arch);
	return true;
}

/* The type is only changed where an instruction uses it. */
static bool passed_on(const struct pto_value *v)
{
	pto_for_each_use(u, v)
		if (u->op->n_regions || pto_has(u->op, PTO_F_TERM) ||
		    u->op->info->code == PTO_OP_CALL || u->op->info->code == PTO_OP_SELECT)
			return true;
	return false;
}

static int lower(struct pto_op *op, void *arg)
{
	struct pto_pass_ctx *c = arg;
	struct pto_type type;
	struct pto_op *alloc;

	if (op->info->code != PTO_OP_MEMREF_ALLOC)
		return 0;
	if (!pto_is_local(op->result[0].type))
		return pto_op_error(c->diags, c->module, op, "pass it to the kernel",
				    "global memory cannot be allocated in a kernel");
	if (!tile_type(op->result[0].type, c->arch, &type) || passed_on(&op->result[0]))
		return pto_op_error(c->diags, c->module, op, "use pto.alloc_tile",
				    "needs constant dimensions, and uses by instructions alone");
	alloc = pto_op_new(c->module, PTO_OP_ALLOC_TILE, (struct pto_op_shape){ .results = 1 },
			   op->loc);
	if (!alloc)
		return -ENOMEM;
	alloc->result[0].type = pto_type_get(c->module, &type);
	alloc->result[0].name = op->result[0].name;
	pto_insert_before(op, alloc);
	pto_replace_all_uses(&op->result[0], &alloc->result[0]);
	pto_remove(op);
	return alloc->result[0].type ? 0 : -ENOMEM;
}

int pass_lower_memrefs(struct pto_pass_ctx *c)
{
	int ret = 0;

	pto_for_each_func(f, c->module)
		ret = ret ? ret : pto_walk(f->op, lower, c);
	return ret;
}
