/* SPDX-License-Identifier: MIT */
/*
 * Global memory: a view and a window of it become one GlobalTensor where an instruction uses them.
 * Offsets are computed in 64 bits. Dimensions stand right-aligned among five. A view from elsewhere
 * (an argument, a loop, a branch) is a GlobalTensor already, with all extents dynamic.
 */
#include <stdio.h>
#include <string.h>

#include "emit.h"

#define DIMS	5

/* A number that is known, a variable, or what member @of a variable says of dimension @n. */
struct extent {
	struct pto_value *v;
	const char *of;
	int64_t n;
};

struct tensor {
	struct pto_value *base;
	const struct pto_type *elem;
	struct extent shape[DIMS], stride[DIMS];
	struct { struct extent offset, stride; } at[DIMS];
	unsigned int rank, n_at;
	int64_t layout;
	bool object;		/* base is a GlobalTensor, not a pointer */
	bool ok;
};

static struct extent value_extent(struct pto_value *v)
{
	struct extent x = { .v = v };

	if (pto_const_int(v, &x.n))
		x.v = NULL;
	return x;
}

static struct extent known(int64_t n)
{
	return (struct extent){ .n = n };
}

/* Row-major strides of static dimensions. */
static void dense(struct tensor *t, const struct pto_type *type)
{
	int64_t stride = 1;
	unsigned int i;

	t->rank = type->rank;
	for (i = type->rank; i-- > 0;) {
		t->ok &= type->dim[i] != PTO_DYNAMIC;
		t->shape[i] = known(type->dim[i]);
		t->stride[i] = known(stride);
		t->ok &= !__builtin_mul_overflow(stride, type->dim[i], &stride);
	}
}

static void read_view(struct tensor *t, struct pto_op *op)
{
	const struct pto_use *shape = pto_operand(op, 1), *stride = pto_operand(op, 2);
	unsigned int i;

	t->rank = pto_group_count(op, 1);
	t->ok = t->rank <= DIMS && pto_group_count(op, 2) == t->rank;
	for (i = 0; t->ok && i < t->rank; i++) {
		t->shape[i] = value_extent(shape[i].value);
		t->stride[i] = value_extent(stride[i].value);
	}
	t->layout = pto_attr_int(op, "layout", 0);
}

static struct tensor read_tensor(struct pto_value *v);

static void read_partition(struct tensor *t, struct pto_op *op)
{
	const struct pto_use *offset = pto_operand(op, 1), *size = pto_operand(op, 2);
	unsigned int n = pto_group_count(op, 1), i;

	*t = read_tensor(op->operand[0].value);
	t->ok &= n == t->rank && pto_group_count(op, 2) == n && t->n_at + n <= DIMS;
	for (i = 0; t->ok && i < n; i++) {
		t->at[t->n_at].offset = value_extent(offset[i].value);
		t->at[t->n_at++].stride = t->stride[i];
		t->shape[i] = op->result[0].type->dim[i] == PTO_DYNAMIC ?
			      value_extent(size[i].value) : known(op->result[0].type->dim[i]);
	}
}

/* What a GlobalTensor that was made elsewhere says of itself. */
static void read_object(struct tensor *t, struct pto_value *v)
{
	const struct pto_type *type = v->type;
	int64_t lead = DIMS - (int64_t)type->rank;
	unsigned int i;

	t->ok = type->rank <= DIMS;
	t->object = true;
	t->rank = type->rank;
	for (i = 0; t->ok && i < type->rank; i++) {
		t->shape[i] = (struct extent){ v, "GetShape", lead + i };
		if (type->dim[i] != PTO_DYNAMIC)
			t->shape[i] = known(type->dim[i]);
		t->stride[i] = (struct extent){ v, "GetStride", lead + i };
	}
}

static struct tensor read_tensor(struct pto_value *v)
{
	struct tensor t = { .base = v, .ok = true };
	const struct pto_op *def = v->def;

	if (def && def->info->code == PTO_OP_PARTITION_VIEW) {
		read_partition(&t, v->def);
	} else if (def && def->info->code == PTO_OP_MAKE_TENSOR_VIEW) {
		read_view(&t, v->def);
		t.base = def->operand[0].value;
	} else if (v->type->kind == PTO_T_MEMREF) {
		t.ok = v->type->rank <= DIMS;
		if (t.ok)
			dense(&t, v->type);
	} else if (pto_is_view(v->type)) {
		read_object(&t, v);
	} else {
		t.ok = v->type->kind == PTO_T_PTR;
		t.rank = 1;
		t.shape[0] = t.stride[0] = known(1);
	}
	t.elem = t.base->type->kind == PTO_T_PTR ? t.base->type->inner : t.base->type;
	return t;
}

/* Moves the dimensions to the right end; what is missing in front has one element. */
static void align_right(struct tensor *t)
{
	unsigned int lead = DIMS - t->rank, i;

	memmove(t->shape + lead, t->shape, t->rank * sizeof(t->shape[0]));
	memmove(t->stride + lead, t->stride, t->rank * sizeof(t->stride[0]));
	for (i = lead; i-- > 0;) {
		const struct extent *s = &t->shape[i + 1], *d = &t->stride[i + 1];

		t->shape[i] = known(1);
		t->stride[i] = !s->v && !d->v ? known(s->n * d->n) : known(1);
	}
}

static void extents(struct emit *e, const char *what, unsigned int n, const struct extent *x,
		    bool dynamic)
{
	unsigned int i;

	emit_begin(e);
	emit_add(e, "using GT%s_%u = pto::%s<", what, n, what);
	for (i = 0; i < DIMS; i++)
		emit_add(e, "%s%lld", i ? ", " : "",
			 x[i].v || dynamic ? -1LL : (long long)x[i].n);
	emit_add(e, ">;\n");
}

static void number(struct emit *e, const struct extent *x)
{
	if (x->of)
		emit_add(e, "%s.%s(%lld)", emit_name(e, x->v).text, x->of, (long long)x->n);
	else if (x->v)
		emit_add(e, "(int64_t)%s", emit_name(e, x->v).text);
	else
		emit_add(e, "%lld", (long long)x->n);
}

/* "GTShape_3(v1, v2)": the dynamic ones */
static void arguments(struct emit *e, const char *what, unsigned int n, const struct extent *x,
		      bool dynamic)
{
	const char *sep = "";
	unsigned int i;

	emit_add(e, ", GT%s_%u(", what, n);
	for (i = 0; i < DIMS; i++) {
		if (!x[i].v && !dynamic)
			continue;
		emit_add(e, "%s", sep);
		number(e, &x[i]);
		sep = ", ";
	}
	emit_add(e, ")");
}

static void pointer(struct emit *e, const struct tensor *t)
{
	unsigned int i;

	emit_add(e, "%s%s", emit_name(e, t->base).text, t->object ? ".data()" : "");
	for (i = 0; i < t->n_at; i++) {
		if (!t->at[i].offset.v && !t->at[i].offset.n)
			continue;
		emit_add(e, " + ");
		number(e, &t->at[i].offset);
		emit_add(e, " * ");
		number(e, &t->at[i].stride);
	}
}

static const char *layout_name(int64_t layout)
{
	static const char *const names[] = { "ND", "DN", "NZ", "MX_A_ZZ", "MX_B_NN" };

	return names[layout >= 0 && layout < 5 ? layout : 0];
}

/* @dynamic: with the type that every view has where it is passed on. */
static struct emit_name declare(struct emit *e, struct tensor *t, bool dynamic)
{
	struct emit_name name;
	unsigned int n = ++e->views;

	snprintf(name.text, sizeof(name.text), "g%u", n);
	align_right(t);
	extents(e, "Shape", n, t->shape, dynamic);
	extents(e, "Stride", n, t->stride, dynamic);
	emit_line(e, "constexpr pto::Layout GT_%u_layout = pto::Layout::%s;", n,
		  layout_name(t->layout));
	emit_begin(e);
	emit_add(e, "using GT_%u = GlobalTensor<", n);
	pto_text_str(e->out, pto_elem_info((enum pto_elem)t->elem->elem)->cxx);
	emit_add(e, ", GTShape_%u, GTStride_%u, GT_%u_layout>;\n", n, n, n);
	emit_begin(e);
	emit_add(e, "GT_%u %s(", n, name.text);
	pointer(e, t);
	arguments(e, "Shape", n, t->shape, dynamic);
	arguments(e, "Stride", n, t->stride, dynamic);
	emit_add(e, ");\n");
	return name;
}

struct emit_name emit_global(struct emit *e, struct pto_op *op, struct pto_value *v)
{
	struct tensor t = read_tensor(v);

	if (!t.ok) {
		emit_fail(e, op, "uses a view that has no five dimensions with known strides");
		return emit_name(e, v);
	}
	t.layout = pto_attr_int(op, "layout", t.layout);
	return declare(e, &t, false);
}

static bool is_made_here(const struct pto_value *v)
{
	return v->def && (v->def->info->code == PTO_OP_MAKE_TENSOR_VIEW ||
			  v->def->info->code == PTO_OP_PARTITION_VIEW);
}

struct emit_name emit_passed(struct emit *e, struct pto_op *op, struct pto_value *v)
{
	struct tensor t;

	if (!pto_is_view(v->type) || !is_made_here(v))
		return emit_name(e, v);
	t = read_tensor(v);
	if (!t.ok || t.layout) {
		emit_fail(e, op, "passes on a view that is not of layout nd; make it where it is "
			  "used");
		return emit_name(e, v);
	}
	return declare(e, &t, true);
}
