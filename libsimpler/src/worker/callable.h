/* SPDX-License-Identifier: MIT */
/*
 * Callables as bytes.  The immutable blob that both kinds share, and the checks
 * that building and loading have in common.
 */
#ifndef SIMPLER_WORKER_CALLABLE_H
#define SIMPLER_WORKER_CALLABLE_H

#include <stdatomic.h>

#include "rts/rts.h"
#include "simpler/callable.h"

/* Header of either kind; the serialized form follows, aligned to 64. */
struct callable_blob {
	_Atomic uint32_t refs;
	size_t size;
	_Alignas(SIMPLER_HW_CALLABLE_ALIGN) unsigned char bytes[];
};

struct simpler_core_callable {
	struct callable_blob blob;
};

struct simpler_chip_callable {
	struct callable_blob blob;
};

/* Zeroed, with one reference; NULL when memory is short. */
struct callable_blob *callable_blob_create(size_t size);
void callable_blob_get(struct callable_blob *b);
void callable_blob_put(struct callable_blob *b);

/* Limits of one kind of signature. */
struct signature_rule {
	const char *kind;		/* for messages */
	size_t entries;
	size_t tensors;
	size_t scalars;
	int ordered;			/* tensors first */
};

extern const struct signature_rule signature_core;
extern const struct signature_rule signature_chip;

/** signature_check - SIMPLER_ERR_SIGNATURE, _TENSOR_LIMIT, _SCALAR_LIMIT */
int signature_check(const struct signature_rule *rule, const int32_t *signature, size_t count,
		    struct simpler_error *error);

/** symbol_length - bytes of @name, up to @len, before the first that no symbol has */
size_t symbol_length(const char *name, size_t len);

size_t signature_scalars(const int32_t *signature, size_t count);

static inline const struct simpler_hw_core_callable *
core_header(const struct simpler_core_callable *c)
{
	return (const struct simpler_hw_core_callable *)c->blob.bytes;
}

static inline const struct simpler_hw_chip_callable *
chip_header(const struct simpler_chip_callable *c)
{
	return (const struct simpler_hw_chip_callable *)c->blob.bytes;
}

/**
 * core_bytes_check - validate a serialized kernel
 * @bytes: aligned to 8
 * @size: bytes available
 * @used: bytes that the kernel takes
 *
 * SIMPLER_ERR_CALLABLE_BYTES and the codes of signature_check().
 */
int core_bytes_check(const unsigned char *bytes, size_t size, size_t *used,
		     struct simpler_error *error);

/** chip_bytes_check - validate a serialized chip callable, @size bytes, aligned to 64 */
int chip_bytes_check(const unsigned char *bytes, size_t size, struct simpler_error *error);

#endif /* SIMPLER_WORKER_CALLABLE_H */
