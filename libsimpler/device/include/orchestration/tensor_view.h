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

/* Ends a view: an empty tensor unless all went well. */
inline void finish_view(ChipTensor *t, bool ok)
{
	if (__builtin_expect(!ok, 0)) {
		*t = ChipTensor();
		return;
	}
	t->extent_cache = extent_of(*t);
	t->is_contiguous = is_packed(*t);
}

/* Says which dimension of the view @t at @offset leaves @of. */
__attribute__((noinline, cold)) inline void outside(const ChipTensor &t, const ChipTensor &of,
						    const uint32_t *offset)
{
	uint32_t d = 0;

	while (static_cast<uint64_t>(offset[d]) + t.shapes[d] <= of.shapes[d])
		d++;
	invalid("view", "dimension %u: offset %u + shape %u exceed the tensor's %u", d, offset[d],
		t.shapes[d], of.shapes[d]);
}

/*
 * Gives @t, a copy of @of with new sizes, the place @offset in it.  One pass, as views are made for
 * every task; the same as extent_of() and is_packed() afterwards.
 */
inline bool place_view(ChipTensor *t, const ChipTensor &of, const uint32_t *offset)
{
	uint64_t start = of.start_offset, last = 0, packed = 1;
	bool empty = false, inside = true, contiguous = true;

	for (uint32_t d = of.ndims; d-- > 0;) {
		const uint64_t n = t->shapes[d], stride = of.strides[d];

		empty |= !n;
		inside &= offset[d] + n <= of.shapes[d];
		start += offset[d] * stride;
		last += (n - 1) * stride;
		if (n != 1) {
			contiguous &= stride == packed;
			packed *= n;
		}
	}
	t->extent_cache = empty ? 0 : last + 1;
	t->is_contiguous = empty || contiguous;
	if (empty)
		return true;
	t->start_offset = start;
	if (__builtin_expect(!inside, 0))
		outside(*t, of, offset);
	return inside;
}

inline bool check_dimensions(const ChipTensor &t, uint32_t x, uint32_t y, const char *func)
{
	if (__builtin_expect(x < t.ndims && y < t.ndims, 1))
		return true;
	invalid(func, "dimension %u of a tensor of %u", x < t.ndims ? y : x, t.ndims);
	return false;
}

inline bool check_range(uint32_t extent, uint32_t stride, int64_t start, int64_t end, int64_t step)
{
	if (__builtin_expect(start >= 0 && end >= start && end <= extent && step >= 1 &&
				     step <= UINT32_MAX &&
				     static_cast<uint64_t>(step) * stride <= UINT32_MAX, 1))
		return true;
	invalid("slice", "%lld..%lld step %lld of a dimension with extent %u",
		static_cast<long long>(start), static_cast<long long>(end),
		static_cast<long long>(step), extent);
	return false;
}

inline bool permute_dimensions(ChipTensor *t, const ChipTensor &of, const uint32_t *from)
{
	uint32_t seen = 0;

	for (uint32_t d = 0; d < of.ndims; d++) {
		if (from[d] >= of.ndims || (seen & 1u << from[d])) {
			invalid("permute", "order[%u] = %u: not a permutation of %u dimensions", d,
				from[d], of.ndims);
			return false;
		}
		seen |= 1u << from[d];
		t->shapes[d] = of.shapes[from[d]];
		t->strides[d] = of.strides[from[d]];
	}
	return true;
}

/* Makes @t, of which the new shape is set, a row-major tensor of @elements. */
inline bool restride(ChipTensor *t, uint64_t elements)
{
	uint64_t count;

	if (!t->is_contiguous) {
		invalid("reshape", "the tensor is not contiguous");
		return false;
	}
	if (!count_elements(t->shapes, t->ndims, t->dtype, &count) || count != elements ||
	    !set_packed_strides(t)) {
		invalid("reshape", "the shape does not have the tensor's %llu elements",
			static_cast<unsigned long long>(elements));
		return false;
	}
	for (uint32_t d = t->ndims; d < PTO_MAX_DIMS; d++)
		t->shapes[d] = t->strides[d] = 0;
	return true;
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
	bool ok = pto_orch::has_buffer(*this, "view");
	ChipTensor t = *this;

	ok = ok && sizes.copy(ndims, t.shapes, "view", "shape") &&
	     offsets.copy(ndims, offset, "view", "offset") && pto_orch::place_view(&t, *this, offset);
	t.manual_dep |= manual;
	if (__builtin_expect(!ok, 0))
		t = ChipTensor();
	return t;
}

/* Exchanges dimensions @x and @y. */
inline ChipTensor ChipTensor::transpose(uint32_t x, uint32_t y) const
{
	bool ok = pto_orch::check_dimensions(*this, x, y, "transpose") &&
		  pto_orch::has_buffer(*this, "transpose");
	ChipTensor t = *this;

	if (ok) {
		t.shapes[x] = shapes[y];
		t.shapes[y] = shapes[x];
		t.strides[x] = strides[y];
		t.strides[y] = strides[x];
	}
	pto_orch::finish_view(&t, ok);
	return t;
}

/* Dimension d of the result is dimension @order[d] of the tensor. */
inline ChipTensor ChipTensor::permute(const pto_orch::dims &order) const
{
	uint32_t from[PTO_MAX_DIMS];
	bool ok = order.copy(ndims, from, "permute", "order") &&
		  pto_orch::has_buffer(*this, "permute");
	ChipTensor t = *this;

	ok = ok && pto_orch::permute_dimensions(&t, *this, from);
	pto_orch::finish_view(&t, ok);
	return t;
}

/* Every @step-th index of dimension @dim from @start up to, not including, @end. */
inline ChipTensor ChipTensor::slice(uint32_t dim, int64_t start, int64_t end, int64_t step) const
{
	bool ok = pto_orch::check_dimensions(*this, dim, dim, "slice") &&
		  pto_orch::check_range(shapes[dim], strides[dim], start, end, step) &&
		  pto_orch::has_buffer(*this, "slice");
	ChipTensor t = *this;

	if (ok) {
		t.shapes[dim] = static_cast<uint32_t>((end - start + step - 1) / step);
		t.strides[dim] = static_cast<uint32_t>(strides[dim] * step);
		if (t.shapes[dim])
			t.start_offset += static_cast<uint64_t>(start) * strides[dim];
	}
	pto_orch::finish_view(&t, ok);
	return t;
}

/* Same elements under another shape; only of a contiguous tensor. */
inline ChipTensor ChipTensor::reshape(const pto_orch::dims &sizes, uint32_t n) const
{
	bool ok = pto_orch::has_buffer(*this, "reshape");
	ChipTensor t = *this;

	ok = ok && sizes.copy(n, t.shapes, "reshape", "shape");
	t.ndims = ok ? n : 0;
	ok = ok && pto_orch::restride(&t, numel());
	pto_orch::finish_view(&t, ok);
	return t;
}

#endif /* PTO_ORCHESTRATION_TENSOR_VIEW_H */
