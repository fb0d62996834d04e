/* SPDX-License-Identifier: MIT */
/*
 * Arguments of a run: tensors with tags and transfer requests, then scalars
 * (worker-api §9).  A submit copies them; later changes do not touch the run.
 *
 * An object may be read (submitted, too) by several threads at once; changes
 * need exclusive access.
 */
#ifndef SIMPLER_TASK_ARGS_H
#define SIMPLER_TASK_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "simpler/error.h"
#include "simpler/export.h"
#include "simpler/tensor.h"

SIMPLER_BEGIN_DECLS

/* What the run does with a tensor (TensorArgType). */
enum simpler_tag {
	SIMPLER_TAG_INPUT = 0,
	SIMPLER_TAG_OUTPUT = 1,
	SIMPLER_TAG_INOUT = 2,
	SIMPLER_TAG_OUTPUT_EXISTING = 3,
	SIMPLER_TAG_NO_DEP = 4
};

/* How a tensor reaches the chip (TensorTransfer). */
enum simpler_transfer {
	SIMPLER_TRANSFER_DEFAULT = -1,	/* H2D for HOST, NONE for DEVICE tensors */
	SIMPLER_TRANSFER_NONE = 0,
	SIMPLER_TRANSFER_H2D = 1,
	SIMPLER_TRANSFER_D2H = 2	/* reserved; refused */
};

struct simpler_task_args;

/** simpler_task_args_create - an empty list; SIMPLER_ERR_NO_MEMORY */
SIMPLER_API int simpler_task_args_create(struct simpler_task_args **out);
/* Accepts NULL. */
SIMPLER_API void simpler_task_args_destroy(struct simpler_task_args *a);
/* Removes all entries and keeps the memory. */
SIMPLER_API void simpler_task_args_clear(struct simpler_task_args *a);

/**
 * simpler_task_args_add_tensor - append a tensor; all tensors precede all scalars
 * @t: copied
 * @tag: enum simpler_tag; needs the matching grant of the buffer
 * @transfer: enum simpler_transfer
 *
 * Returns 0, SIMPLER_ERR_ARG_ORDER, SIMPLER_ERR_ARG_TAG, SIMPLER_ERR_ARG_TRANSFER,
 * SIMPLER_ERR_BUFFER_GRANT, SIMPLER_ERR_TENSOR, SIMPLER_ERR_BUFFER_DESCRIPTOR,
 * SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_task_args_add_tensor(struct simpler_task_args *a,
					     const struct simpler_tensor *t, int tag, int transfer,
					     struct simpler_error *error);

/** simpler_task_args_add_scalar - append a 64-bit word; SIMPLER_ERR_NO_MEMORY */
SIMPLER_API int simpler_task_args_add_scalar(struct simpler_task_args *a, uint64_t value);
/* A float in the low 32 bits; a double in all 64; a signed number modulo 2^64. */
SIMPLER_API int simpler_task_args_add_float(struct simpler_task_args *a, float value);
SIMPLER_API int simpler_task_args_add_double(struct simpler_task_args *a, double value);
SIMPLER_API int simpler_task_args_add_int(struct simpler_task_args *a, int64_t value);

SIMPLER_API size_t simpler_task_args_tensor_count(const struct simpler_task_args *a);
SIMPLER_API size_t simpler_task_args_scalar_count(const struct simpler_task_args *a);

/* The following return SIMPLER_ERR_INDEX when @i is out of range. */
SIMPLER_API int simpler_task_args_tensor(const struct simpler_task_args *a, size_t i,
					 struct simpler_tensor *t);
SIMPLER_API int simpler_task_args_scalar(const struct simpler_task_args *a, size_t i,
					 uint64_t *value);
/* The tag (>= 0) of tensor @i. */
SIMPLER_API int simpler_task_args_tag(const struct simpler_task_args *a, size_t i);
/* The effective transfer request (>= 0) of tensor @i. */
SIMPLER_API int simpler_task_args_transfer(const struct simpler_task_args *a, size_t i);
/* Grants are checked again at submit.  SIMPLER_ERR_ARG_TAG for an unknown tag. */
SIMPLER_API int simpler_task_args_set_tag(struct simpler_task_args *a, size_t i, int tag);

/**
 * simpler_task_args_blob_size - bytes that simpler_task_args_encode() writes
 *
 * 8 + 144 per tensor + 8 per scalar (§9.4).
 */
SIMPLER_API size_t simpler_task_args_blob_size(const struct simpler_task_args *a);

/** simpler_task_args_encode - write the blob; SIMPLER_ERR_BLOB if @capacity is too small */
SIMPLER_API int simpler_task_args_encode(const struct simpler_task_args *a, void *blob,
					 size_t capacity, struct simpler_error *error);

/**
 * simpler_task_args_decode - read a blob
 *
 * Tags do not travel; every tensor becomes an INPUT.  Returns 0,
 * SIMPLER_ERR_BLOB (sizes), SIMPLER_ERR_TENSOR, SIMPLER_ERR_BUFFER_DESCRIPTOR,
 * SIMPLER_ERR_ARG_TRANSFER, SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_task_args_decode(const void *blob, size_t capacity,
					 struct simpler_task_args **out,
					 struct simpler_error *error);

SIMPLER_END_DECLS

#endif /* SIMPLER_TASK_ARGS_H */
