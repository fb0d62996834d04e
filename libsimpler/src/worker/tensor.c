/* SPDX-License-Identifier: MIT */
/* Tensor views as values: validation, extent, overlap (worker-api §6). */
#include "simpler/tensor.h"

#include <string.h>

#include "rts/error.h"

#define INVALID(...) err_set(error, SIMPLER_ERR_TENSOR, "invalid Tensor: " __VA_ARGS__)

/* Elements from the first to the last one; saturates. */
static uint64_t view_extent(uint32_t ndims, const uint32_t *shapes, const uint32_t *strides)
{
	unsigned __int128 extent = 1;
	uint32_t i;

	for (i = 0; i < ndims; i++)
		extent += (unsigned __int128)(shapes[i] - 1) * strides[i];
	return extent > UINT64_MAX ? UINT64_MAX : (uint64_t)extent;
}

uint64_t simpler_tensor_extent(const struct simpler_tensor *t)
{
	return view_extent(t->ndims, t->shapes, t->strides);
}

uint64_t simpler_tensor_numel(const struct simpler_tensor *t)
{
	uint64_t n = 1;
	uint32_t i;

	for (i = 0; i < t->ndims; i++)
		n *= t->shapes[i];
	return n;
}

bool simpler_tensor_contiguous(const struct simpler_tensor *t)
{
	uint64_t expected = 1;
	uint32_t i;

	for (i = t->ndims; i-- > 0;) {
		if (t->shapes[i] > 1 && t->strides[i] != expected)
			return false;
		expected *= t->shapes[i];
	}
	return true;
}

static int tensor_check_dims(const struct simpler_tensor *t, struct simpler_error *error)
{
	uint32_t i;

	if (t->ndims < 1 || t->ndims > SIMPLER_MAX_DIMS)
		return INVALID("%u dimensions, not 1 to %d", t->ndims, SIMPLER_MAX_DIMS);
	for (i = 0; i < t->ndims; i++) {
		if (!t->shapes[i])
			return INVALID("shape[%u] is 0", i);
		if (!t->strides[i])
			return INVALID("stride[%u] is 0", i);
	}
	for (i = t->ndims; i < SIMPLER_MAX_DIMS; i++)
		if (t->shapes[i] || t->strides[i])
			return INVALID("dimension %u is unused but has shape %u, stride %u", i,
				       t->shapes[i], t->strides[i]);
	return 0;
}

int simpler_tensor_check(const struct simpler_tensor *t, struct simpler_error *error)
{
	uint64_t elem, bytes, end;
	int rc;

	if (err_if_null(error, t))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = simpler_buffer_desc_check(&t->buffer, error);
	if (!rc && t->transfer)
		return INVALID("byte 141 is %u, not 0", t->transfer);
	if (!rc)
		rc = tensor_check_dims(t, error);
	if (rc)
		return rc;
	elem = simpler_dtype_size(t->dtype);
	if (!elem)
		return INVALID("unknown dtype %u", t->dtype);
	if (t->byte_offset % elem)
		return INVALID("byte_offset %llu is not a multiple of the %llu-byte element",
			       (unsigned long long)t->byte_offset, (unsigned long long)elem);
	if (__builtin_mul_overflow(simpler_tensor_extent(t), elem, &bytes) ||
	    __builtin_add_overflow(t->byte_offset, bytes, &end) || end > t->buffer.nbytes)
		return INVALID("the view ends beyond the buffer: byte_offset %llu, extent %llu "
			       "elements of %llu bytes, buffer %llu bytes",
			       (unsigned long long)t->byte_offset,
			       (unsigned long long)simpler_tensor_extent(t),
			       (unsigned long long)elem, (unsigned long long)t->buffer.nbytes);
	return 0;
}

static int tensor_set_dims(struct simpler_tensor *t, const struct simpler_view *v,
			   struct simpler_error *error)
{
	uint64_t dense = 1;
	uint32_t i;

	for (i = v->ndims; i-- > 0;) {
		uint64_t stride = v->strides ? v->strides[i] : dense;

		if (v->shapes[i] > UINT32_MAX)
			return INVALID("shape[%u] is %llu, at most %u", i,
				       (unsigned long long)v->shapes[i], UINT32_MAX);
		if (stride > UINT32_MAX)
			return INVALID("stride[%u] is %llu, at most %u", i,
				       (unsigned long long)stride, UINT32_MAX);
		t->shapes[i] = (uint32_t)v->shapes[i];
		t->strides[i] = (uint32_t)stride;
		if (__builtin_mul_overflow(dense, v->shapes[i], &dense))
			return INVALID("the number of elements exceeds 2^64");
	}
	return 0;
}

int simpler_tensor_init(struct simpler_tensor *t, const struct simpler_buffer *buffer,
			const struct simpler_view *v, struct simpler_error *error)
{
	struct simpler_tensor made = { 0 };
	int rc;

	if (err_if_null(error, t) || err_if_null(error, buffer) || err_if_null(error, v) ||
	    err_if_null(error, v->shapes))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = simpler_buffer_descriptor(buffer, &made.buffer, error);
	if (rc)
		return rc;
	if (v->ndims < 1 || v->ndims > SIMPLER_MAX_DIMS)
		return INVALID("%u dimensions, not 1 to %d", v->ndims, SIMPLER_MAX_DIMS);
	if (!simpler_dtype_size(v->dtype))
		return INVALID("unknown dtype %d", v->dtype);
	made.ndims = v->ndims;
	made.dtype = (uint8_t)v->dtype;
	made.byte_offset = v->byte_offset;
	rc = tensor_set_dims(&made, v, error);
	if (!rc)
		rc = simpler_tensor_check(&made, error);
	if (!rc)
		*t = made;
	return rc;
}

int simpler_tensor_init_dense(struct simpler_tensor *t, const struct simpler_buffer *buffer,
			      int dtype, uint32_t ndims, const uint32_t *shapes,
			      struct simpler_error *error)
{
	uint64_t wide[SIMPLER_MAX_DIMS] = { 0 };
	struct simpler_view v = { .dtype = dtype, .ndims = ndims, .shapes = wide };
	uint32_t i;

	if (err_if_null(error, shapes))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	for (i = 0; i < ndims && i < SIMPLER_MAX_DIMS; i++)
		wide[i] = shapes[i];
	return simpler_tensor_init(t, buffer, &v, error);
}

/* ---- overlap ---- */

static bool same_lattice(const struct simpler_tensor *a, const struct simpler_tensor *b)
{
	uint32_t i;

	if (a->dtype != b->dtype || a->ndims != b->ndims ||
	    memcmp(a->strides, b->strides, sizeof(a->strides)) || a->strides[a->ndims - 1] != 1)
		return false;
	for (i = 0; i + 1 < a->ndims; i++)
		if (a->strides[i] % a->strides[i + 1])
			return false;
	return true;
}

/* Size of dimension @i of the whole buffer seen as an array with the strides of @t. */
static uint64_t lattice_size(const struct simpler_tensor *t, uint32_t i)
{
	uint64_t outer = i ? t->strides[i - 1] : t->buffer.nbytes / simpler_dtype_size(t->dtype);

	return outer / t->strides[i];
}

/* Origin of the view as coordinates; false when the view wraps around a dimension. */
static bool lattice_origin(const struct simpler_tensor *t, uint64_t origin[SIMPLER_MAX_DIMS])
{
	uint64_t elem = simpler_dtype_size(t->dtype);
	uint64_t rest = t->byte_offset / elem;
	uint32_t i;

	if (t->byte_offset % elem || t->buffer.nbytes % ((uint64_t)t->strides[0] * elem))
		return false;
	for (i = 0; i < t->ndims; i++) {
		origin[i] = rest / t->strides[i];
		rest %= t->strides[i];
		if (origin[i] + t->shapes[i] > lattice_size(t, i))
			return false;
	}
	return true;
}

static enum simpler_overlap lattice_overlap(const struct simpler_tensor *a,
					    const struct simpler_tensor *b)
{
	uint64_t oa[SIMPLER_MAX_DIMS], ob[SIMPLER_MAX_DIMS];
	bool inside = true;
	uint32_t i;

	if (!same_lattice(a, b) || !lattice_origin(a, oa) || !lattice_origin(b, ob))
		return SIMPLER_OVERLAP_PARTIAL;
	for (i = 0; i < a->ndims; i++) {
		if (oa[i] + a->shapes[i] <= ob[i] || ob[i] + b->shapes[i] <= oa[i])
			return SIMPLER_OVERLAP_NONE;
		if (ob[i] < oa[i] || ob[i] + b->shapes[i] > oa[i] + a->shapes[i])
			inside = false;
	}
	return inside ? SIMPLER_OVERLAP_COVERED : SIMPLER_OVERLAP_PARTIAL;
}

static uint64_t view_end(const struct simpler_tensor *t)
{
	return t->byte_offset + simpler_tensor_extent(t) * simpler_dtype_size(t->dtype);
}

enum simpler_overlap simpler_tensor_overlap(const struct simpler_tensor *reference,
					    const struct simpler_tensor *view)
{
	if (!simpler_identity_equal(&reference->buffer.identity, &view->buffer.identity))
		return SIMPLER_OVERLAP_NONE;
	if (view_end(reference) <= view->byte_offset || view_end(view) <= reference->byte_offset)
		return SIMPLER_OVERLAP_NONE;
	return lattice_overlap(reference, view);
}
