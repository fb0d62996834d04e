/* SPDX-License-Identifier: MIT */
/*
 * Making tensors: over existing memory, as a declaration whose memory comes
 * with the first need, and as a request for a new buffer (TensorCreateInfo).
 * A wrong argument ends the run with INVALID_ARGS and yields an empty tensor.
 *
 * Spec: chip-runtime §7.4, §8.2, decisions D2.
 */
#ifndef PTO_ORCHESTRATION_TENSOR_MAKE_H
#define PTO_ORCHESTRATION_TENSOR_MAKE_H

#include "../tensor.h"
#include "dims.h"

namespace pto_orch __attribute__((visibility("hidden")))
{
inline struct pto_tensor *raw(const ChipTensor &t)
{
	return reinterpret_cast<struct pto_tensor *>(const_cast<ChipTensor *>(&t));
}

/* Elements from the first to the last one touched; 0 if there are none. */
inline uint64_t extent_of(const ChipTensor &t)
{
	uint64_t last = 0;

	for (uint32_t d = 0; d < t.ndims; d++) {
		if (!t.shapes[d])
			return 0;
		last += static_cast<uint64_t>(t.shapes[d] - 1) * t.strides[d];
	}
	return last + 1;
}

/* Row-major without gaps; the stride of an extent of one does not matter. */
inline bool is_packed(const ChipTensor &t)
{
	uint64_t packed = 1;

	if (!t.extent_cache)
		return true;
	for (uint32_t d = t.ndims; d-- > 0;) {
		if (t.shapes[d] == 1)
			continue;
		if (t.strides[d] != packed)
			return false;
		packed *= t.shapes[d];
	}
	return true;
}

/* Number of elements; false if their bytes are more than 64 bits can count. */
inline bool count_elements(const uint32_t *shapes, uint32_t ndims, DataType dtype, uint64_t *count)
{
	uint64_t n = 1, bytes;
	bool overflow = false, empty = false;

	for (uint32_t d = 0; d < ndims; d++) {
		overflow |= __builtin_mul_overflow(n, static_cast<uint64_t>(shapes[d]), &n);
		empty |= !shapes[d];
	}
	overflow |= __builtin_mul_overflow(n, static_cast<uint64_t>(get_element_size(dtype)),
					   &bytes);
	*count = empty ? 0 : n;
	return empty || !overflow;
}

/* Sets the strides of a row-major tensor; false if one has more than 32 bits. */
inline bool set_packed_strides(ChipTensor *t)
{
	uint64_t stride = 1;

	for (uint32_t d = t->ndims; d-- > 0;) {
		if (stride > UINT32_MAX)
			return false;
		t->strides[d] = static_cast<uint32_t>(stride);
		stride *= t->shapes[d] ? t->shapes[d] : 1;
	}
	return true;
}

inline bool check_dtype(DataType dtype, const char *func)
{
	if (__builtin_expect(get_element_size(dtype) != 0, 1))
		return true;
	invalid(func, "element type %u is unknown", static_cast<unsigned>(dtype));
	return false;
}

/* Makes @t a row-major tensor at @addr; leaves it empty after INVALID_ARGS. */
inline void make_packed(ChipTensor *t, uint64_t addr, const dims &shapes, uint32_t ndims,
			DataType dtype, const char *func) noexcept
{
	if (!check_dtype(dtype, func) || !shapes.copy(ndims, t->shapes, func, "shape"))
		return;
	t->ndims = ndims;
	t->dtype = dtype;
	if (__builtin_expect(!count_elements(t->shapes, ndims, dtype, &t->extent_cache) ||
				     !set_packed_strides(t), 0)) {
		invalid(func, "the shape has too many elements: a stride needs more than 32 bits");
		*t = ChipTensor();
		return;
	}
	t->buffer.addr = addr;
	t->buffer.size = t->extent_cache * get_element_size(dtype);
}

/* Records which scope owns the buffer that @t will get. */
inline void set_home(ChipTensor *t)
{
	const PTO2Runtime *rt = runtime();

	if (!rt)
		return;
	t->home_depth = static_cast<uint16_t>(rt->scope_depth);
	t->home_scope = rt->scope_serial;
}

inline uint64_t address_of(const void *p)
{
	return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(p));
}
} /* namespace pto_orch */

/**
 * make_tensor_external() - row-major tensor over existing memory
 * @addr: address of the first element
 * @shapes: @ndims extents; braces, array, pointer or container of any integers
 * @ndims: 0 to 5
 * @dtype: element type
 * @manual_dep: leave the tensor out of dependence inference
 * @version: views of different versions always depend on each other
 * @space: where the memory lies
 *
 * The memory stays the caller's.  Return: the tensor; an empty one after
 * INVALID_ARGS.
 */
inline ChipTensor make_tensor_external(const void *addr, const pto_orch::dims &shapes,
				       uint32_t ndims, DataType dtype = DataType::FLOAT32,
				       bool manual_dep = false, int32_t version = 0,
				       AddressSpace space = AddressSpace::HOST)
{
	ChipTensor t;

	pto_orch::make_packed(&t, pto_orch::address_of(addr), shapes, ndims, dtype,
			      "make_tensor_external");
	t.manual_dep = manual_dep;
	t.version = version;
	t.address_space = space;
	return t;
}

/* Older form: the fifth argument is the version. */
template <typename I, typename = std::enable_if_t<std::is_integral<I>::value &&
						  !std::is_same<I, bool>::value>>
inline ChipTensor make_tensor_external(const void *addr, const pto_orch::dims &shapes,
				       uint32_t ndims, DataType dtype, I version)
{
	return make_tensor_external(addr, shapes, ndims, dtype, false,
				    static_cast<int32_t>(version));
}

/* Earliest form: @bytes bytes without a shape. */
inline ChipTensor make_tensor_external(const void *addr, uint64_t bytes)
{
	return make_tensor_external(addr, { bytes }, 1, DataType::UINT8);
}

/**
 * make_tensor_strided() - tensor over existing memory with strides of its own
 * @addr: address of the first element
 * @shapes: @ndims extents
 * @strides: elements from one index to the next, one per dimension, > 0
 * @ndims: 0 to 5
 * @dtype: element type
 * @manual_dep: leave the tensor out of dependence inference
 * @version: views of different versions always depend on each other
 * @space: where the memory lies
 */
inline ChipTensor make_tensor_strided(const void *addr, const pto_orch::dims &shapes,
				      const pto_orch::dims &strides, uint32_t ndims,
				      DataType dtype = DataType::FLOAT32, bool manual_dep = false,
				      int32_t version = 0, AddressSpace space = AddressSpace::HOST)
{
	ChipTensor t;

	pto_orch::make_packed(&t, pto_orch::address_of(addr), shapes, ndims, dtype,
			      "make_tensor_strided");
	if (t.ndims != ndims || !strides.copy(ndims, t.strides, "make_tensor_strided", "stride"))
		return ChipTensor();
	for (uint32_t d = 0; d < ndims; d++)
		if (!t.strides[d]) {
			pto_orch::invalid("make_tensor_strided", "stride[%u] is 0", d);
			return ChipTensor();
		}
	t.extent_cache = pto_orch::extent_of(t);
	t.buffer.size = t.extent_cache * get_element_size(dtype);
	t.is_contiguous = pto_orch::is_packed(t);
	t.manual_dep = manual_dep;
	t.version = version;
	t.address_space = space;
	return t;
}

/**
 * make_tensor() - declare an intermediate tensor
 * @shapes: @ndims extents; braces, array, pointer or container of any integers
 * @ndims: 0 to 5
 * @dtype: element type
 * @version: views of different versions always depend on each other
 *
 * It has no memory yet.  The first view of it or the first task that writes it
 * gives it a buffer, which lives until the scope of this declaration ends.
 */
inline ChipTensor make_tensor(const pto_orch::dims &shapes, uint32_t ndims,
			      DataType dtype = DataType::FLOAT32, int32_t version = 0)
{
	ChipTensor t;

	pto_orch::make_packed(&t, 0, shapes, ndims, dtype, "make_tensor");
	t.version = version;
	pto_orch::set_home(&t);
	return t;
}

/* Earliest form: @bytes bytes without a shape. */
inline ChipTensor make_tensor(uint64_t bytes)
{
	return make_tensor({ bytes }, 1, DataType::UINT8);
}

/**
 * class TensorCreateInfo - request for a new buffer
 *
 * For add_output() and alloc_tensors(); must live until the submit returns and
 * may be used for several.
 */
class TensorCreateInfo {
public:
	TensorCreateInfo(const pto_orch::dims &shapes, uint32_t ndims,
			 DataType dtype = DataType::FLOAT32, bool manual_dep = false)
		: info_{}
	{
		if (!pto_orch::check_dtype(dtype, "TensorCreateInfo") ||
		    !shapes.copy(ndims, info_.shapes, "TensorCreateInfo", "shape"))
			return;
		info_.ndims = ndims;
		info_.dtype = static_cast<uint8_t>(dtype);
		info_.manual_dep = manual_dep;

		uint64_t count;

		if (__builtin_expect(!pto_orch::count_elements(info_.shapes, ndims, dtype, &count),
				     0))
			pto_orch::invalid("TensorCreateInfo", "the shape has too many elements");
	}

	/**
	 * set_initial_value() - fill the new buffer
	 * @v: value of every element, of the tensor's element type
	 *
	 * Not under host_build_graph.
	 */
	template <typename T> void set_initial_value(T v)
	{
		info_.initial = to_u64(v);
		info_.has_initial = true;
	}

	uint64_t buffer_size_bytes() const
	{
		const DataType dtype = static_cast<DataType>(info_.dtype);
		uint64_t count = 0;

		pto_orch::count_elements(info_.shapes, info_.ndims, dtype, &count);
		return count * get_element_size(dtype);
	}

	const struct pto_create_info *raw() const { return &info_; }

private:
	struct pto_create_info info_;
};
static_assert(sizeof(TensorCreateInfo) == sizeof(struct pto_create_info), "create info size");

#endif /* PTO_ORCHESTRATION_TENSOR_MAKE_H */
