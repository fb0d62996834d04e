/* SPDX-License-Identifier: MIT */
/*
 * Tensors: strided windows of a buffer (worker-api §5.1, §6).  A plain value
 * that holds the buffer's descriptor; it owns nothing and may outlive the
 * buffer, which makes later submits fail.  All functions are thread safe.
 */
#ifndef SIMPLER_TENSOR_H
#define SIMPLER_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/buffer.h"
#include "simpler/dtype.h"
#include "simpler/export.h"

SIMPLER_BEGIN_DECLS

#define SIMPLER_MAX_DIMS 5

/* What travels, 144 bytes, little-endian. */
struct simpler_tensor {
	struct simpler_buffer_desc buffer;
	uint64_t byte_offset;
	uint32_t ndims;
	uint32_t shapes[SIMPLER_MAX_DIMS];
	uint32_t strides[SIMPLER_MAX_DIMS];	/* in elements */
	uint8_t dtype;			/* enum simpler_dtype */
	uint8_t transfer;		/* inside an argument blob; zero elsewhere */
	uint8_t padding[2];
};
SIMPLER_STATIC_ASSERT(sizeof(struct simpler_tensor) == 144, "tensor layout");
SIMPLER_STATIC_ASSERT(offsetof(struct simpler_tensor, ndims) == 96, "tensor layout");
SIMPLER_STATIC_ASSERT(offsetof(struct simpler_tensor, dtype) == 140, "tensor layout");

/* Where in its buffer a view lies, and its form. */
struct simpler_view {
	int dtype;			/* enum simpler_dtype */
	uint32_t ndims;			/* 1..5 */
	const uint64_t *shapes;		/* @ndims entries, each >= 1 */
	const uint64_t *strides;	/* in elements, each >= 1; NULL: row-major */
	uint64_t byte_offset;		/* multiple of the element size */
};

/**
 * simpler_tensor_init - describe a view of a buffer
 * @t: filled on success
 * @buffer: the buffer; not kept
 * @view: element type, shape, strides, offset
 * @error: filled on failure; may be NULL
 *
 * Allocates and transfers nothing.  Returns 0, SIMPLER_ERR_TENSOR (text starts
 * with "invalid Tensor:"), SIMPLER_ERR_BUFFER_RELEASED, SIMPLER_ERR_LOCATION_DEAD.
 */
SIMPLER_API int simpler_tensor_init(struct simpler_tensor *t, const struct simpler_buffer *buffer,
				    const struct simpler_view *view, struct simpler_error *error);

/**
 * simpler_tensor_init_dense - the common case: row-major, from the first byte
 * @shapes: @ndims sizes
 */
SIMPLER_API int simpler_tensor_init_dense(struct simpler_tensor *t,
					  const struct simpler_buffer *buffer, int dtype,
					  uint32_t ndims, const uint32_t *shapes,
					  struct simpler_error *error);

/**
 * simpler_tensor_check - validate a tensor that was received
 *
 * Returns 0, SIMPLER_ERR_BUFFER_DESCRIPTOR or SIMPLER_ERR_TENSOR.
 */
SIMPLER_API int simpler_tensor_check(const struct simpler_tensor *t, struct simpler_error *error);

/* Elements from the first to the last one touched; of a valid tensor. */
SIMPLER_API uint64_t simpler_tensor_extent(const struct simpler_tensor *t);
/* Number of elements of a valid tensor. */
SIMPLER_API uint64_t simpler_tensor_numel(const struct simpler_tensor *t);
/* Strides are row-major in every dimension larger than 1. */
SIMPLER_API bool simpler_tensor_contiguous(const struct simpler_tensor *t);

enum simpler_overlap {
	SIMPLER_OVERLAP_NONE = 0,
	SIMPLER_OVERLAP_PARTIAL = 1,
	SIMPLER_OVERLAP_COVERED = 2	/* the second view lies fully inside the first */
};

/** simpler_tensor_overlap - do two valid views touch common bytes (§6) */
SIMPLER_API enum simpler_overlap simpler_tensor_overlap(const struct simpler_tensor *reference,
							const struct simpler_tensor *view);

SIMPLER_END_DECLS

#endif /* SIMPLER_TENSOR_H */
