/* SPDX-License-Identifier: MIT */
/*
 * The tensor descriptor as kernels and orchestrations see it: struct
 * pto_tensor of the binary interface under the names of existing sources.  A
 * kernel gets addresses of descriptors in its argument words, never addresses
 * of data, and must not keep them after it returned.
 *
 * Spec: chip-runtime §6.1, §6.2, §9.
 */
#ifndef PTO_TENSOR_H
#define PTO_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include "pto_qualifiers.h"
#include "pto_runtime_abi.h"

enum class DataType : uint8_t {
	FLOAT32 = PTO_FLOAT32,
	FLOAT16 = PTO_FLOAT16,
	INT32 = PTO_INT32,
	INT16 = PTO_INT16,
	INT8 = PTO_INT8,
	UINT8 = PTO_UINT8,
	BFLOAT16 = PTO_BFLOAT16,
	INT64 = PTO_INT64,
	UINT64 = PTO_UINT64,
	UINT16 = PTO_UINT16,
	UINT32 = PTO_UINT32,
	BOOL = PTO_BOOL,
	FP8E4M3FN = PTO_FP8E4M3FN,
	FP8E8M0 = PTO_FP8E8M0,
	FP4E2M1 = PTO_FP4E2M1,
};

enum class AddressSpace : uint8_t { HOST = 0, DEVICE = 1 };

/**
 * get_element_size() - bytes of one element
 * @dtype: element type
 *
 * Return: the size, 0 for a value that is no element type.
 */
constexpr uint32_t get_element_size(DataType dtype)
{
	constexpr uint8_t bytes[PTO_DTYPE_COUNT] = { 4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1 };

	return static_cast<uint8_t>(dtype) < PTO_DTYPE_COUNT ? bytes[static_cast<uint8_t>(dtype)] :
							       0;
}

namespace pto_orch __attribute__((visibility("hidden")))
{
class dims;
}

/**
 * struct ChipTensor - descriptor of a tensor or of a view of one
 * @buffer: backing memory; address 0: none yet
 * @owner_task_id: task that created the buffer, all ones: none
 * @start_offset: elements from the start of the buffer to the first element
 * @shapes: extents; old name @repeats
 * @strides: elements from one index to the next
 * @extent_cache: elements from the first to the last one touched, 0 if empty
 * @kind: enum pto_tensor_kind; pipes and clusters have no memory
 * @home_depth: of a tensor without a buffer: depth of the scope that owns it
 * @home_scope: of the same: serial number of that scope
 *
 * view(), transpose(), permute(), slice() and reshape() share the buffer of the
 * tensor they are called on and exist in orchestrations only.  Called on a
 * tensor without a buffer they first give it one, also if it is const, hence
 * the mutable members (decisions D2).  A wrong argument ends the run with
 * INVALID_ARGS and yields an empty tensor.
 */
struct ChipTensor {
	struct Buffer {
		uint64_t addr;
		uint64_t size; /* bytes */
	};

	mutable Buffer buffer = { 0, 0 };
	mutable uint64_t owner_task_id = PTO_NO_TASK;
	uint64_t start_offset = 0;
	int32_t version = 0;
	uint32_t ndims = 0;
	DataType dtype = DataType::FLOAT32;
	bool manual_dep = false;
	bool is_contiguous = true;
	AddressSpace address_space = AddressSpace::HOST;
	union {
		uint32_t shapes[PTO_MAX_DIMS] = {};
		uint32_t repeats[PTO_MAX_DIMS];
	};
	uint64_t extent_cache = 0;
	uint32_t strides[PTO_MAX_DIMS] = {};
	uint8_t kind = PTO_KIND_TENSOR;
	bool read_only = false;
	uint16_t home_depth = 0;
	uint64_t home_scope = 0;
	uint64_t reserved1[3] = {};

	/* Number of elements; 1 for a tensor without dimensions. */
	uint64_t numel() const
	{
		uint64_t n = 1;

		for (uint32_t d = 0; d < ndims; d++)
			n *= shapes[d];
		return n;
	}

	uint64_t extent_elem() const { return extent_cache; }
	uint64_t nbytes() const { return numel() * get_element_size(dtype); }
	bool is_device_memory() const { return address_space == AddressSpace::DEVICE; }

	/* Address of the first element, start_offset included. */
	template <typename T> __gm__ T *data_as() const
	{
		return reinterpret_cast<__gm__ T *>(static_cast<uintptr_t>(buffer.addr)) +
		       start_offset;
	}

	/**
	 * compute_flat_offset() - where an element lies in the buffer
	 * @indices: one index per dimension
	 * @n: number of indices; further dimensions count as index 0
	 *
	 * Return: elements from the start of the buffer, start_offset included.
	 */
	template <typename I> uint64_t compute_flat_offset(const I *indices, uint32_t n) const
	{
		uint64_t offset = start_offset;

		for (uint32_t d = 0; d < n && d < ndims; d++)
			offset += static_cast<uint64_t>(indices[d]) * strides[d];
		return offset;
	}

	/* Defined by orchestration/tensor_view.h, which documents them. */
	ChipTensor view(const pto_orch::dims &shapes, const pto_orch::dims &offsets,
			bool manual_dep = false) const;
	ChipTensor transpose(uint32_t x, uint32_t y) const;
	ChipTensor permute(const pto_orch::dims &order) const;
	ChipTensor slice(uint32_t dim, int64_t start, int64_t end, int64_t step = 1) const;
	ChipTensor reshape(const pto_orch::dims &shapes, uint32_t ndims) const;
};

using Tensor = ChipTensor;

#define PTO_SAME_PLACE(field, abi_field)                                               \
	static_assert(offsetof(ChipTensor, field) == offsetof(struct pto_tensor, abi_field) && \
			      sizeof(ChipTensor::field) == sizeof(pto_tensor::abi_field),      \
		      "ChipTensor differs from struct pto_tensor")
static_assert(sizeof(ChipTensor) == sizeof(struct pto_tensor), "tensor descriptor size");
static_assert(offsetof(ChipTensor, buffer) == offsetof(struct pto_tensor, addr) &&
		      offsetof(ChipTensor::Buffer, size) == offsetof(struct pto_tensor, size),
	      "ChipTensor differs from struct pto_tensor");
PTO_SAME_PLACE(owner_task_id, owner_task_id);
PTO_SAME_PLACE(start_offset, start_offset);
PTO_SAME_PLACE(version, version);
PTO_SAME_PLACE(ndims, ndims);
PTO_SAME_PLACE(dtype, dtype);
PTO_SAME_PLACE(manual_dep, manual_dep);
PTO_SAME_PLACE(is_contiguous, is_contiguous);
PTO_SAME_PLACE(address_space, address_space);
PTO_SAME_PLACE(shapes, shapes);
PTO_SAME_PLACE(repeats, shapes);
PTO_SAME_PLACE(extent_cache, extent_elem);
PTO_SAME_PLACE(strides, strides);
PTO_SAME_PLACE(kind, kind);
PTO_SAME_PLACE(home_depth, home_depth);
PTO_SAME_PLACE(home_scope, home_scope);
#undef PTO_SAME_PLACE

#endif /* PTO_TENSOR_H */
