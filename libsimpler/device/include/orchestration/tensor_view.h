/* SPDX-License-Identifier: MIT */
/*
 * Views: tensors that share the buffer of another one.  The buffer of a tensor
 * that was only declared is created here, in the original, so that both mean
 * the same memory (decisions D2).
 *
 * Spec: chip-runtime §6.2.
 */
#ifndef PTO_ORCHESTRATION_TENSOR_VIEW_H
#define PTO_ORCHESTRATION_TENSOR_VIEW_H

#include "tensor_make.h"

namespace pto_orch __attribute__((visibility("hidden")))
{
/* Makes sure that @t has a buffer to share; false after INVALID_ARGS. */
inline bool has_buffer(const ChipTensor &t, const char *func) noexcept
{
	if (__builtin_expect(t.kind != PTO_KIND_TENSOR, 0)) {
		invalid(func, "a %s has no memory to make a view of",
			t.kind == PTO_KIND_PIPE ? "pipe" : "cluster");
		return false;
	}
	if (__builtin_expect(!t.buffer.addr, 0) && t.home_scope && runtime())
		runtime()->ops->materialize(runtime(), raw(t));
	return true;
}

/* Brings what follows from shapes and strides up to date. */
inline ChipTensor finish_view(ChipTensor t)
{
	t.extent_cache = extent_of(t);
	t.is_contiguous = is_packed(t);
	return t;
}
} /* namespace pto_orch */

/**
 * ChipTensor::view() - rectangle of a tensor
 * @sizes: extents of the view, one per dimension
 * @offsets: where it starts, one per dimension
 * @manual: leave the view out of dependence inference; what the tensor itself
 *	says holds for its views too
 *
 * Offset plus extent must not exceed the tensor in any dimension; a view with an
 * extent of zero is empty whatever its offsets.
 */
inline ChipTensor ChipTensor::view(const pto_orch::dims &sizes, const pto_orch::dims &offsets,
				   bool manual) const
{
	uint32_t offset[PTO_MAX_DIMS];
	bool empty = false;

	if (!pto_orch::has_buffer(*this, "view"))
		return ChipTensor();
	ChipTensor t = *this;

	if (!sizes.copy(ndims, t.shapes, "view", "shape") ||
	    !offsets.copy(ndims, offset, "view", "offset"))
		return ChipTensor();
	t.manual_dep |= manual;
	for (uint32_t d = 0; d < ndims; d++)
		empty |= !t.shapes[d];
	for (uint32_t d = 0; d < ndims && !empty; d++) {
		if (__builtin_expect(static_cast<uint64_t>(offset[d]) + t.shapes[d] > shapes[d],
				     0)) {
			pto_orch::invalid("view",
					  "dimension %u: offset %u + shape %u exceed the tensor's %u",
					  d, offset[d], t.shapes[d], shapes[d]);
			return ChipTensor();
		}
		t.start_offset += static_cast<uint64_t>(offset[d]) * strides[d];
	}
	return pto_orch::finish_view(t);
}

/* Exchanges dimensions @x and @y. */
inline ChipTensor ChipTensor::transpose(uint32_t x, uint32_t y) const
{
	if (x >= ndims || y >= ndims) {
		pto_orch::invalid("transpose", "dimensions %u and %u of a tensor of %u", x, y,
				  ndims);
		return ChipTensor();
	}
	if (!pto_orch::has_buffer(*this, "transpose"))
		return ChipTensor();
	ChipTensor t = *this;

	t.shapes[x] = shapes[y];
	t.shapes[y] = shapes[x];
	t.strides[x] = strides[y];
	t.strides[y] = strides[x];
	return pto_orch::finish_view(t);
}

/* Dimension d of the result is dimension @order[d] of the tensor. */
inline ChipTensor ChipTensor::permute(const pto_orch::dims &order) const
{
	uint32_t from[PTO_MAX_DIMS], seen = 0;

	if (!order.copy(ndims, from, "permute", "order") || !pto_orch::has_buffer(*this, "permute"))
		return ChipTensor();
	ChipTensor t = *this;

	for (uint32_t d = 0; d < ndims; d++) {
		if (from[d] >= ndims || (seen & 1u << from[d])) {
			pto_orch::invalid("permute",
					  "order[%u] = %u: not a permutation of %u dimensions", d,
					  from[d], ndims);
			return ChipTensor();
		}
		seen |= 1u << from[d];
		t.shapes[d] = shapes[from[d]];
		t.strides[d] = strides[from[d]];
	}
	return pto_orch::finish_view(t);
}

/* Every @step-th index of dimension @dim from @start up to, not including, @end. */
inline ChipTensor ChipTensor::slice(uint32_t dim, int64_t start, int64_t end, int64_t step) const
{
	if (dim >= ndims) {
		pto_orch::invalid("slice", "dimension %u of a tensor of %u", dim, ndims);
		return ChipTensor();
	}
	if (start < 0 || end < start || end > shapes[dim] || step < 1 || step > UINT32_MAX ||
	    static_cast<uint64_t>(step) * strides[dim] > UINT32_MAX) {
		pto_orch::invalid("slice", "%lld..%lld step %lld of dimension %u with extent %u",
				  static_cast<long long>(start), static_cast<long long>(end),
				  static_cast<long long>(step), dim, shapes[dim]);
		return ChipTensor();
	}
	if (!pto_orch::has_buffer(*this, "slice"))
		return ChipTensor();
	ChipTensor t = *this;

	t.shapes[dim] = static_cast<uint32_t>((end - start + step - 1) / step);
	t.strides[dim] = static_cast<uint32_t>(strides[dim] * step);
	if (t.shapes[dim])
		t.start_offset += static_cast<uint64_t>(start) * strides[dim];
	return pto_orch::finish_view(t);
}

/* Same elements under another shape; only of a contiguous tensor. */
inline ChipTensor ChipTensor::reshape(const pto_orch::dims &sizes, uint32_t n) const
{
	uint64_t bytes;

	if (!is_contiguous) {
		pto_orch::invalid("reshape", "the tensor is not contiguous");
		return ChipTensor();
	}
	if (!pto_orch::has_buffer(*this, "reshape"))
		return ChipTensor();
	ChipTensor t = *this;

	if (!sizes.copy(n, t.shapes, "reshape", "shape"))
		return ChipTensor();
	t.ndims = n;
	for (uint32_t d = n; d < PTO_MAX_DIMS; d++)
		t.shapes[d] = t.strides[d] = 0;
	if (!pto_orch::packed_bytes(t.shapes, n, dtype, &bytes) || bytes != nbytes() ||
	    !pto_orch::set_packed_strides(&t)) {
		pto_orch::invalid("reshape", "the shape does not have the tensor's %llu elements",
				  static_cast<unsigned long long>(numel()));
		return ChipTensor();
	}
	return pto_orch::finish_view(t);
}

#endif /* PTO_ORCHESTRATION_TENSOR_VIEW_H */
