/* SPDX-License-Identifier: MIT */
/* Values of the interpreter: memory, views, elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp_value.h"

/* ---- Memory ---- */

void *iv_alloc(struct interp *in, size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		longjmp(*in->px->escape, 1);
	return p;
}

struct iv_mem *mem_new(struct interp *in, size_t size)
{
	struct iv_mem *mem = iv_alloc(in, 1, sizeof(*mem));

	mem->refs = 1;
	mem->next = in->memory;
	mem->link = &in->memory;
	if (mem->next)
		mem->next->link = &mem->next;
	in->memory = mem;
	mem->at = iv_alloc(in, size, 1);
	mem->size = size;
	memset(mem->at, 0xff, size);
	return mem;
}

void mem_drop(struct iv_mem *mem)
{
	if (!mem || --mem->refs)
		return;
	*mem->link = mem->next;
	if (mem->next)
		mem->next->link = mem->link;
	if (!mem->borrowed)
		free(mem->at);
	free(mem);
}

/* ---- Values ---- */

struct iv *iv_new(struct interp *in, enum type_kind kind, unsigned int dtype)
{
	struct iv *v = iv_alloc(in, 1, sizeof(*v));

	v->refs = 1;
	v->kind = kind;
	v->dtype = dtype;
	v->next = in->values;
	v->link = &in->values;
	if (v->next)
		v->next->link = &v->next;
	in->values = v;
	return v;
}

struct iv *iv_ref(struct iv *v)
{
	v->refs++;
	return v;
}

void iv_unref(struct iv *v)
{
	uint32_t i;

	if (!v || --v->refs)
		return;
	*v->link = v->next;
	if (v->next)
		v->next->link = v->link;
	for (i = 0; i < v->n_items; i++)
		iv_unref(v->items[i]);
	free(v->items);
	mem_drop(v->mem);
	free(v);
}

/* After a failure references are not balanced, so that everything goes at once. */
void interp_free_all(struct interp *in)
{
	while (in->values) {
		struct iv *v = in->values;

		in->values = v->next;
		free(v->items);
		free(v);
	}
	while (in->memory) {
		struct iv_mem *mem = in->memory;

		in->memory = mem->next;
		if (!mem->borrowed)
			free(mem->at);
		free(mem);
	}
}

struct iv *iv_scalar(struct interp *in, unsigned int dtype, union cell cell)
{
	struct iv *v = iv_new(in, TY_SCALAR, dtype);

	v->cell = cell_fit(dtype, cell);
	return v;
}

struct iv *iv_int(struct interp *in, unsigned int dtype, int64_t value)
{
	return iv_scalar(in, dtype, (union cell){ .i = value });
}

void iv_contiguous_strides(struct iv *v)
{
	int64_t step = 1;
	int i;

	for (i = v->rank - 1; i >= 0; i--) {
		v->stride[i] = step;
		step *= v->shape[i];
	}
}

int64_t iv_count(const struct iv *v)
{
	int64_t n = 1;
	int i;

	for (i = 0; i < v->rank; i++)
		n *= v->shape[i];
	return n;
}

bool iv_contiguous(const struct iv *v)
{
	int64_t step = 1;
	int i;

	for (i = v->rank - 1; i >= 0; i--) {
		if (v->shape[i] != 1 && v->stride[i] != step)
			return false;
		step *= v->shape[i];
	}
	return true;
}

struct iv *iv_array(struct interp *in, enum type_kind kind, unsigned int dtype, uint32_t rank,
		    const int64_t *shape)
{
	struct iv *v = iv_new(in, kind, dtype);

	v->rank = rank;
	memcpy(v->shape, shape, rank * sizeof(*shape));
	memcpy(v->valid, shape, rank * sizeof(*shape));
	iv_contiguous_strides(v);
	v->mem = mem_new(in, (size_t)iv_count(v) * interp_item_size(dtype));
	return v;
}

struct iv *iv_view(struct interp *in, const struct iv *v)
{
	struct iv *w = iv_new(in, v->kind, v->dtype), *next = w->next, **link = w->link;

	*w = *v;
	w->next = next;
	w->link = link;
	w->refs = 1;
	w->argument = 0;
	w->mem->refs++;
	return w;
}

struct iv *iv_tuple(struct interp *in, struct iv **items, uint32_t n)
{
	struct iv *v = iv_new(in, TY_TUPLE, 0);

	v->items = iv_alloc(in, n, sizeof(struct iv *));
	v->n_items = n;
	if (n)
		memcpy(v->items, items, n * sizeof(struct iv *));
	return v;
}

/* ---- Element types ---- */

/* Binary floats that C has no type for: bits of fraction and exponent, and how the largest ends. */
struct small_float {
	uint8_t dtype, fraction, exponent;
	bool finite;	/* no infinity: the largest exponent is for numbers too */
};
static const struct small_float small_floats[] = {
	{ DT_FP16, 10, 5, false }, { DT_BF16, 7, 8, false }, { DT_FP8E5M2, 2, 5, false },
	{ DT_FP8E4M3FN, 3, 4, true },
};

static const struct small_float *small_float(unsigned int dtype)
{
	size_t i;

	for (i = 0; i < sizeof(small_floats) / sizeof(small_floats[0]); i++)
		if (small_floats[i].dtype == dtype)
			return &small_floats[i];
	return NULL;
}

unsigned int interp_item_size(unsigned int dtype)
{
	const struct dtype_info *info = dtype_info(dtype);

	if (!info || info->bits == 4 || dtype == DT_HF8)
		return 0;
	return (info->bits + 7) / 8;
}

double round_by(double v, int mode)
{
	double whole = trunc(v);

	switch (mode) {
	case 2:
		return round(v);
	case 3:
		return floor(v);
	case 4:
		return ceil(v);
	case 5:
		return whole;
	case 6:	/* nearest, ties to odd, as the instruction does */
		if (fabs(v - whole) != 0.5)
			return nearbyint(v);
		return fmod(whole, 2) != 0 ? whole : whole + (v < 0 ? -1 : 1);
	default:
		return nearbyint(v);
	}
}

/* Digits and range of a float type. */
struct precision {
	int digits, least;	/* exponent of the smallest normal number */
	double largest;
};

static struct precision precision_of(unsigned int dtype)
{
	const struct small_float *s = small_float(dtype);
	struct precision p = { 24, -126, 0x1.fffffep127 };
	int bias;

	if (!s)
		return p;
	bias = (1 << (s->exponent - 1)) - 1;
	p.digits = s->fraction + 1;
	p.least = 1 - bias;
	p.largest = s->finite ? ldexp(2 - ldexp(2, -s->fraction), bias + 1) :
		    ldexp(2 - ldexp(1, -s->fraction), bias);
	return p;
}

static double round_float(unsigned int dtype, double v, int mode)
{
	struct precision p;
	int exponent, quantum;
	double r;

	if (dtype == DT_FP8E4M3FN && isinf(v))
		return NAN;
	if (dtype == DT_FP64 || dtype == DT_FP8E8M0 || v == 0 || !isfinite(v))
		return v;	/* scales come from memory only, and stay what they are */
	if (dtype == DT_FP32 && mode < 3 && mode != 2)
		return (float)v;
	p = precision_of(dtype);
	frexp(v, &exponent);
	quantum = exponent - p.digits;
	if (quantum < p.least - p.digits + 1)
		quantum = p.least - p.digits + 1;
	r = ldexp(round_by(ldexp(v, -quantum), mode), quantum);
	if (fabs(r) <= p.largest)
		return r;
	if (mode == 5 || (mode == 3 && v > 0) || (mode == 4 && v < 0))
		return copysign(p.largest, v);
	return dtype == DT_FP8E4M3FN ? NAN : copysign(INFINITY, v);
}

static int64_t cut_int(unsigned int dtype, int64_t v)
{
	unsigned int bits = dtype_info(dtype)->bits;

	if (dtype == DT_BOOL)
		return v != 0;
	if (bits == 64)
		return v;
	if (dtype_is_signed(dtype))
		return (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
	return v & (int64_t)(((uint64_t)1 << bits) - 1);
}

union cell cell_fit(unsigned int dtype, union cell cell)
{
	if (dtype_is_float(dtype))
		cell.f = round_float(dtype, cell.f, MODE_OF_TYPES);
	else
		cell.i = cut_int(dtype, cell.i);
	return cell;
}

/*
 * Without a mode the nearest, of two that away from zero; mode none (0) leaves rounding to what
 * follows, which cuts. What is outside of the type's range keeps the low bits of its 64, as
 * on the chip.
 */
static int64_t int_of(unsigned int dtype, double v, int mode)
{
	if (dtype == DT_BOOL)
		return v != 0;
	v = round_by(v, mode < 0 ? 2 : mode ? mode : 5);
	if (isnan(v))
		return 0;
	if (dtype == DT_UINT64 && v >= 0x1p63 && v < 0x1p64)
		return (int64_t)(uint64_t)v;
	return cut_int(dtype, v >= 0x1p63 || v < -0x1p63 ? INT64_MIN : (int64_t)v);
}

static double float_of(unsigned int dtype, int64_t v)
{
	return dtype == DT_UINT64 ? (double)(uint64_t)v : (double)v;
}

union cell cell_convert(unsigned int from, unsigned int to, union cell cell, int mode)
{
	union cell out;

	if (dtype_is_float(to)) {
		out.f = dtype_is_float(from) ? cell.f : float_of(from, cell.i);
		if (!dtype_is_float(from) && to != DT_FP64)	/* the way of chips */
			out.f = (float)out.f;
		out.f = round_float(to, out.f, dtype_is_float(from) ? mode : MODE_OF_TYPES);
	} else {
		out.i = dtype_is_float(from) ? int_of(to, cell.f, mode) : cut_int(to, cell.i);
	}
	return out;
}

/* ---- Elements in memory ---- */

/* A power of two: its exponent, from -127 on; the last one is not a number. */
static double unpack_scale(uint32_t bits)
{
	return bits == 0xff ? NAN : ldexp(1, (int)bits - 127);
}

static uint32_t pack_scale(double v)
{
	int exponent;

	frexp(v, &exponent);
	return isfinite(v) && v > 0 ? (uint32_t)(exponent + 126) : 0xff;
}

static double unpack(const struct small_float *s, uint32_t bits)
{
	uint32_t exponent = bits >> s->fraction & ((1u << s->exponent) - 1);
	uint32_t fraction = bits & ((1u << s->fraction) - 1);
	bool negative = bits >> (s->fraction + s->exponent) & 1;
	int bias = (1 << (s->exponent - 1)) - 1;
	bool top = exponent == (1u << s->exponent) - 1;
	double v;

	if (top && (!s->finite || fraction == (1u << s->fraction) - 1))
		v = fraction ? NAN : INFINITY;
	else if (exponent)
		v = ldexp(1 + ldexp(fraction, -s->fraction), (int)exponent - bias);
	else
		v = ldexp(fraction, 1 - bias - s->fraction);
	return negative ? -v : v;
}

/* @v is representable. */
static uint32_t pack(const struct small_float *s, double v)
{
	uint32_t sign = signbit(v) ? 1u << (s->fraction + s->exponent) : 0;
	uint32_t top = ((1u << s->exponent) - 1) << s->fraction;
	int bias = (1 << (s->exponent - 1)) - 1, exponent;
	double m;

	v = fabs(v);
	if (isnan(v))
		return sign | top | (s->finite ? (1u << s->fraction) - 1 : 1u << (s->fraction - 1));
	if (isinf(v))
		return sign | top;
	if (v == 0)
		return sign;
	m = frexp(v, &exponent);
	if (exponent - 1 < 1 - bias)
		return sign | (uint32_t)ldexp(v, bias - 1 + s->fraction);
	return sign | (uint32_t)(exponent - 1 + bias) << s->fraction |
	       (uint32_t)ldexp(2 * m - 1, s->fraction);
}

static int64_t read_int(const void *at, unsigned int size, bool is_signed)
{
	uint64_t v = 0;

	memcpy(&v, at, size);
	if (is_signed && size < 8)
		return (int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size);
	return (int64_t)v;
}

union cell cell_read(unsigned int dtype, const void *at)
{
	const struct small_float *s;
	union cell c = { 0 };
	float f;

	if (!dtype_is_float(dtype)) {
		c.i = read_int(at, interp_item_size(dtype), dtype_is_signed(dtype));
		if (dtype == DT_BOOL)
			c.i = c.i != 0;
	} else if (dtype == DT_FP32) {
		memcpy(&f, at, sizeof(f));
		c.f = f;
	} else if (dtype == DT_FP64) {
		memcpy(&c.f, at, sizeof(c.f));
	} else if (dtype == DT_FP8E8M0) {
		c.f = unpack_scale((uint32_t)read_int(at, 1, false));
	} else {
		s = small_float(dtype);
		c.f = unpack(s, (uint32_t)read_int(at, interp_item_size(dtype), false));
	}
	return c;
}

void cell_write(unsigned int dtype, void *at, union cell cell)
{
	uint32_t bits;
	float f;

	if (!dtype_is_float(dtype)) {
		memcpy(at, &cell.i, interp_item_size(dtype));
	} else if (dtype == DT_FP32) {
		f = (float)cell.f;
		memcpy(at, &f, sizeof(f));
	} else if (dtype == DT_FP64) {
		memcpy(at, &cell.f, sizeof(cell.f));
	} else {
		bits = dtype == DT_FP8E8M0 ? pack_scale(cell.f) : pack(small_float(dtype), cell.f);
		memcpy(at, &bits, interp_item_size(dtype));
	}
}

void *iv_at(const struct iv *v, const int64_t *index)
{
	int64_t at = 0;
	int i;

	for (i = 0; i < v->rank; i++)
		at += index[i] * v->stride[i];
	return v->mem->at + v->offset + at * (int64_t)interp_item_size(v->dtype);
}

bool index_next(int64_t *index, uint32_t rank, const int64_t *shape)
{
	while (rank--) {
		if (++index[rank] < shape[rank])
			return true;
		index[rank] = 0;
	}
	return false;
}

union cell *cells_of(struct interp *in, const struct iv *v, unsigned int dtype, uint32_t rank,
		     const int64_t *shape)
{
	int64_t index[INTERP_MAX_RANK] = { 0 }, own[INTERP_MAX_RANK] = { 0 }, n = 1, k = 0;
	uint32_t i, skip = v->kind == TY_SCALAR ? rank : rank - v->rank;
	union cell *cells;

	for (i = 0; i < rank; i++)
		n *= shape[i];
	cells = iv_alloc(in, (size_t)n, sizeof(*cells));
	if (!n)
		return cells;
	do {
		union cell c = v->cell;

		for (i = skip; i < rank; i++)
			own[i - skip] = v->shape[i - skip] == 1 ? 0 : index[i];
		if (v->kind != TY_SCALAR)
			c = cell_read(v->dtype, iv_at(v, own));
		cells[k++] = v->dtype == dtype ? c :
			     cell_convert(v->dtype, dtype, c, MODE_OF_TYPES);
	} while (index_next(index, rank, shape));
	return cells;
}

void cells_put(struct iv *v, const union cell *cells)
{
	int64_t index[INTERP_MAX_RANK] = { 0 }, k = 0;

	if (!iv_count(v))
		return;
	do {
		cell_write(v->dtype, iv_at(v, index), cell_fit(v->dtype, cells[k++]));
	} while (index_next(index, v->rank, v->shape));
}
