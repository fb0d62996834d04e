// SPDX-License-Identifier: MIT
// Kernels of scripts that work on data: arguments are a log word, then tensors
// of floats with one or two dimensions.
#include "log.hpp"

static inline float *element(const ChipTensor *t, uint32_t i)
{
	uint32_t columns = t->ndims == 2 ? t->shapes[1] : 1;
	uint64_t at = t->ndims == 2 ? static_cast<uint64_t>(i / columns) * t->strides[0] +
					      static_cast<uint64_t>(i % columns) * t->strides[1] :
				      static_cast<uint64_t>(i) * t->strides[0];

	return t->data_as<float>() + at;
}

static inline const ChipTensor *tensor_argument(int64_t *args, int i)
{
	return reinterpret_cast<const ChipTensor *>(args[i]);
}
