/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing single elements from the orchestration.  Both wait for
 * the tasks that write the element, writing also for those that read it.
 *
 * Spec: chip-runtime §7.7, decisions D18.
 */
#ifndef PTO_ORCHESTRATION_ELEMENT_H
#define PTO_ORCHESTRATION_ELEMENT_H

#include "tensor_make.h"

namespace pto_orch __attribute__((visibility("hidden")))
{
inline bool is_signed_integer(DataType dtype)
{
	return dtype == DataType::INT8 || dtype == DataType::INT16 || dtype == DataType::INT32 ||
	       dtype == DataType::INT64;
}

/* A float of another width than the element would change its meaning, not its precision. */
template <typename T>
bool fits_element(PTO2Runtime *rt, const ChipTensor &t, const char *func)
{
	uint32_t bytes = get_element_size(t.dtype);

	if (!bytes || (std::is_floating_point<T>::value && sizeof(T) != bytes)) {
		invalid_on(rt, func,
			   "a value of %u bytes for element type %u of %u bytes; name the type "
			   "that matches, as in get_tensor_data<float>",
			   static_cast<unsigned>(sizeof(T)), static_cast<unsigned>(t.dtype), bytes);
		return false;
	}
	return true;
}

template <typename T>
T get_element(PTO2Runtime *rt, const ChipTensor &t, uint32_t ndims, const dims &indices)
{
	uint32_t index[PTO_MAX_DIMS] = {}, bytes = get_element_size(t.dtype);

	if (!fits_element<T>(rt, t, "get_tensor_data") ||
	    !indices.copy(ndims, index, "get_tensor_data", "index"))
		return T();
	uint64_t word = rt->ops->get_tensor_data(rt, raw(t), ndims, index, bytes);

	if (std::is_signed<T>::value && is_signed_integer(t.dtype) && bytes < sizeof(T)) {
		uint32_t unused = 64 - 8 * bytes;

		word = static_cast<uint64_t>(static_cast<int64_t>(word << unused) >> unused);
	}
	return from_u64<T>(word);
}

template <typename T>
void set_element(PTO2Runtime *rt, const ChipTensor &t, uint32_t ndims, const dims &indices, T v)
{
	uint32_t index[PTO_MAX_DIMS] = {}, bytes = get_element_size(t.dtype);
	uint64_t word = to_u64(v);

	if (!fits_element<T>(rt, t, "set_tensor_data") ||
	    !indices.copy(ndims, index, "set_tensor_data", "index"))
		return;
	if (std::is_signed<T>::value && std::is_integral<T>::value)
		word = static_cast<uint64_t>(static_cast<int64_t>(v));
	if (bytes < sizeof(word))
		word &= (1ULL << 8 * bytes) - 1;
	rt->ops->set_tensor_data(rt, raw(t), ndims, index, bytes, word);
}
} /* namespace pto_orch */

/**
 * get_tensor_data() - read one element
 * @t: tensor; address 0 reads as 0
 * @ndims: number of indices
 * @indices: one per dimension
 *
 * Blocks until every task that writes the element has completed.  Signed
 * integers keep their value in a wider T; the default T gives the bits.
 *
 * Return: the element; 0 after the run has failed.
 */
template <typename T = uint64_t>
inline T get_tensor_data(const ChipTensor &t, uint32_t ndims, const pto_orch::dims &indices)
{
	return pto_orch::get_element<T>(pto_orch::runtime(), t, ndims, indices);
}

template <typename T = uint64_t>
inline T get_tensor_data(PTO2Runtime *rt, const ChipTensor &t, uint32_t ndims,
			 const pto_orch::dims &indices)
{
	return pto_orch::get_element<T>(rt, t, ndims, indices);
}

/**
 * set_tensor_data() - write one element
 * @t: tensor
 * @ndims: number of indices
 * @indices: one per dimension
 * @v: value; of an integer the low bytes are taken
 *
 * Blocks until every task that writes the element, and those that read what
 * they wrote, have completed.
 */
template <typename T>
inline void set_tensor_data(const ChipTensor &t, uint32_t ndims, const pto_orch::dims &indices, T v)
{
	pto_orch::set_element<T>(pto_orch::runtime(), t, ndims, indices, v);
}

template <typename T>
inline void set_tensor_data(PTO2Runtime *rt, const ChipTensor &t, uint32_t ndims,
			    const pto_orch::dims &indices, T v)
{
	pto_orch::set_element<T>(rt, t, ndims, indices, v);
}

#endif /* PTO_ORCHESTRATION_ELEMENT_H */
