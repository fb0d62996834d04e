/* SPDX-License-Identifier: MIT */
/* Interpreter: reductions and matrix products, sections 4.5, 4.6, 4.8. Sums are rounded once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp_value.h"

enum reduction { RE_SUM, RE_MAX, RE_MIN };

static union cell reduce_step(int code, unsigned int dtype, union cell a, union cell b)
{
	bool is_float = dtype_is_float(dtype), first;

	if (code == RE_SUM) {
		if (is_float)
			a.f += b.f;
		else
			a.i = (int64_t)((uint64_t)a.i + (uint64_t)b.i);
		return a;
	}
	if (is_float)
		first = isnan(a.f) || (code == RE_MAX ? a.f >= b.f : a.f <= b.f);
	else if (dtype_is_signed(dtype))
		first = code == RE_MAX ? a.i >= b.i : a.i <= b.i;
	else
		first = code == RE_MAX ? (uint64_t)a.i >= (uint64_t)b.i : (uint64_t)a.i <= (uint64_t)b.i;
	return first ? a : b;
}

/* What lies along @axis at @index, of which valid elements count. */
static union cell reduce_line(int code, const struct iv *x, int64_t *index, uint32_t axis)
{
	union cell sum = { 0 };

	for (index[axis] = 0; index[axis] < x->valid[axis]; index[axis]++) {
		union cell c = cell_read(x->dtype, iv_at(x, index));

		sum = index[axis] ? reduce_step(code, x->dtype, sum, c) : c;
	}
	index[axis] = 0;
	return sum;
}

static struct iv *reduce(struct op_run *r, int64_t axis)
{
	const struct iv *x = r->args[0];
	int64_t index[INTERP_MAX_RANK] = { 0 }, shape[INTERP_MAX_RANK], k = 0;
	struct iv *v;
	union cell *out;

	axis += axis < 0 ? x->rank : 0;
	memcpy(shape, x->shape, sizeof(shape));
	shape[axis] = 1;
	out = iv_alloc(r->in, (size_t)iv_count(x), sizeof(*out));
	if (iv_count(x)) {
		do {
			out[k++] = reduce_line(r->code, x, index, (uint32_t)axis);
		} while (index_next(index, x->rank, shape));
	}
	if (r->call->node.type->kind == TY_SCALAR) {
		v = iv_scalar(r->in, x->dtype, out[0]);
	} else {
		v = interp_result(r->fr, &r->call->node);
		if (v)
			cells_put(v, out);
	}
	free(out);
	return v;
}

static struct iv *run_reduce(struct op_run *r)
{
	return reduce(r, run_attr(r, "axis", -1));
}

static struct iv *run_col_reduce(struct op_run *r)
{
	return reduce(r, -2);
}

/* ---- Products ---- */

/* Two matrices, perhaps transposed, as numbers. */
struct operand {
	union cell *cells;
	int64_t rows, cols;
	bool transposed;
};

static int64_t at(const struct operand *o, int64_t row, int64_t col)
{
	return o->transposed ? col * o->rows + row : row * o->cols + col;
}

static void multiply(const struct operand *a, const struct operand *b, bool is_float,
		     int64_t depth, union cell *out)
{
	int64_t i, j, k;

	for (i = 0; i < a->rows; i++) {
		for (j = 0; j < b->cols; j++) {
			union cell sum = { 0 };

			for (k = 0; k < depth; k++) {
				union cell x = a->cells[at(a, i, k)], y = b->cells[at(b, k, j)];

				if (is_float)
					sum.f += x.f * y.f;
				else
					sum.i = (int64_t)((uint64_t)sum.i +
							  (uint64_t)x.i * (uint64_t)y.i);
			}
			out[i * b->cols + j] = sum;
		}
	}
}

/* @base + product, element by element; @base may be broadcast. */
static void add_base(struct op_run *r, struct iv *v, union cell *out, const struct iv *base)
{
	union cell *c = cells_of(r->in, base, v->dtype, v->rank, v->shape);
	int64_t i, n = iv_count(v);

	for (i = 0; i < n; i++) {
		if (dtype_is_float(v->dtype))
			out[i].f += c[i].f;
		else
			out[i].i += c[i].i;
	}
	free(c);
}

/* Code: number of the left operand; the one before it is the accumulator; a bias is last. */
static struct iv *run_matmul(struct op_run *r)
{
	const struct iv *l = r->args[r->code], *m = r->args[r->code + 1];
	struct iv *v = interp_result(r->fr, &r->call->node);
	struct operand a, b;
	union cell *out;

	if (!v)
		return NULL;
	a = (struct operand){ cells_of(r->in, l, v->dtype, 2, l->shape), l->shape[0], l->shape[1],
			      false };
	b = (struct operand){ cells_of(r->in, m, v->dtype, 2, m->shape), m->shape[0], m->shape[1],
			      false };
	out = iv_alloc(r->in, (size_t)iv_count(v), sizeof(*out));
	multiply(&a, &b, dtype_is_float(v->dtype), l->valid[1] < m->valid[0] ? l->valid[1] :
		 m->valid[0], out);
	if (r->code)
		add_base(r, v, out, r->args[0]);
	else if (r->args[2])
		add_base(r, v, out, r->args[2]);
	cells_put(v, out);
	free(a.cells);
	free(b.cells);
	free(out);
	return v;
}

/* Elements of @x times their scales: 32 of them along dimension @k share one. */
static struct operand scaled(struct op_run *r, const struct iv *x, const struct iv *scales, int k)
{
	union cell *c = cells_of(r->in, x, DT_FP64, 2, x->shape);
	union cell *s = cells_of(r->in, scales, DT_FP64, 2, scales->shape);
	int64_t index[2] = { 0 }, i = 0;

	do {
		int64_t row = k ? index[0] : index[0] / 32, col = k ? index[1] / 32 : index[1];

		c[i++].f *= s[row * scales->shape[1] + col].f;
	} while (index_next(index, 2, x->shape));
	free(s);
	return (struct operand){ c, x->shape[0], x->shape[1], false };
}

/* Code: as run_matmul(); each operand has its scales behind it. */
static struct iv *run_matmul_mx(struct op_run *r)
{
	const struct iv *l = r->args[r->code], *m = r->args[r->code + 2];
	struct iv *v = interp_result(r->fr, &r->call->node);
	struct operand a, b;
	union cell *out;

	if (!v)
		return NULL;
	a = scaled(r, l, r->args[r->code + 1], 1);
	b = scaled(r, m, r->args[r->code + 3], 0);
	out = iv_alloc(r->in, (size_t)iv_count(v), sizeof(*out));
	multiply(&a, &b, true, l->valid[1] < m->valid[0] ? l->valid[1] : m->valid[0], out);
	if (r->code)
		add_base(r, v, out, r->args[0]);
	else if (r->args[4])
		add_base(r, v, out, r->args[4]);
	cells_put(v, out);
	free(a.cells);
	free(b.cells);
	free(out);
	return v;
}

/* One matrix of a stack: leading extents are broadcast. */
static struct operand matrix_at(struct op_run *r, const struct iv *x, unsigned int dtype,
				const int64_t *lead, uint32_t n_lead, bool transposed)
{
	struct iv *w = iv_view(r->in, x);
	uint32_t own = x->rank - 2, i;
	struct operand o = { .transposed = transposed };

	for (i = 0; i < own; i++)
		if (x->shape[i] != 1)
			w->offset += lead[i + n_lead - own] * x->stride[i] *
				     (int64_t)interp_item_size(x->dtype);
	w->rank = 2;
	for (i = 0; i < 2; i++) {
		w->shape[i] = x->shape[own + i];
		w->stride[i] = x->stride[own + i];
	}
	o.cells = cells_of(r->in, w, dtype, 2, w->shape);
	o.rows = w->shape[transposed];
	o.cols = w->shape[!transposed];
	iv_unref(w);
	return o;
}

/* A vector as a matrix of one row or column. */
static struct iv *as_matrix(struct op_run *r, struct iv *x, bool left)
{
	struct iv *w;

	if (x->rank != 1)
		return iv_ref(x);
	w = iv_view(r->in, x);
	w->rank = 2;
	w->shape[left] = x->shape[0];
	w->shape[!left] = 1;
	w->stride[left] = x->stride[0];
	w->stride[!left] = 0;
	return w;
}

static void multiply_stack(struct op_run *r, struct iv *v, const struct iv *a, const struct iv *b)
{
	uint32_t n_lead = (a->rank > b->rank ? a->rank : b->rank) - 2, i;
	bool ta = run_attr(r, "a_trans", 0), tb = run_attr(r, "b_trans", 0);
	unsigned int wide = dtype_is_float(v->dtype) ? DT_FP64 : DT_INT64;
	union cell *out = iv_alloc(r->in, (size_t)iv_count(v), sizeof(*out));
	int64_t lead[INTERP_MAX_RANK] = { 0 }, shape[INTERP_MAX_RANK], done = 0;

	for (i = 0; i < n_lead; i++)
		shape[i] = v->shape[i];
	do {
		struct operand x = matrix_at(r, a, wide, lead, n_lead, ta && r->args[0]->rank > 1);
		struct operand y = matrix_at(r, b, wide, lead, n_lead, tb && r->args[1]->rank > 1);

		multiply(&x, &y, wide == DT_FP64, x.cols, out + done);
		done += x.rows * y.cols;
		free(x.cells);
		free(y.cells);
	} while (index_next(lead, n_lead, shape));
	cells_put(v, out);
	free(out);
}

static struct iv *run_stack(struct op_run *r)
{
	struct iv *v = interp_result(r->fr, &r->call->node), *a, *b;

	if (!v || !iv_count(v))
		return v;
	a = as_matrix(r, r->args[0], true);
	b = as_matrix(r, r->args[1], false);
	multiply_stack(r, v, a, b);
	iv_unref(a);
	iv_unref(b);
	return v;
}

const struct op_entry *interp_ops_reduce(void)
{
	static const struct op_entry ops[] = {
		{ "block.row_sum", run_reduce, RE_SUM }, { "block.row_max", run_reduce, RE_MAX },
		{ "block.row_min", run_reduce, RE_MIN }, { "block.col_sum", run_col_reduce, RE_SUM },
		{ "block.col_max", run_col_reduce, RE_MAX },
		{ "block.col_min", run_col_reduce, RE_MIN }, { "block.sum", run_reduce, RE_SUM },
		{ "block.max", run_reduce, RE_MAX }, { "block.min", run_reduce, RE_MIN },
		{ "tensor.row_sum", run_reduce, RE_SUM }, { "tensor.row_max", run_reduce, RE_MAX },
		{ "block.matmul", run_matmul, 0 }, { "block.gemv", run_matmul, 0 },
		{ "block.matmul_bias", run_matmul, 0 }, { "block.gemv_bias", run_matmul, 0 },
		{ "block.matmul_acc", run_matmul, 1 }, { "block.gemv_acc", run_matmul, 1 },
		{ "block.matmul_mx", run_matmul_mx, 0 }, { "block.matmul_mx_bias", run_matmul_mx, 0 },
		{ "block.matmul_mx_acc", run_matmul_mx, 1 },
		{ "block.batch_matmul", run_stack, 0 }, { "tensor.matmul", run_stack, 0 },
		{ NULL, NULL, 0 }
	};

	return ops;
}
