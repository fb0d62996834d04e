/* SPDX-License-Identifier: MIT */
/*
 * Callables: a kernel (core callable), and an orchestration with its kernels
 * (chip callable).  Both are immutable values around the byte layouts of
 * worker-api §4.3, and reference counted.  Equal inputs give equal bytes.
 *
 * All functions are thread safe; put must not race with other uses by the owner
 * of the reference that is dropped.
 */
#ifndef SIMPLER_CALLABLE_H
#define SIMPLER_CALLABLE_H

#include <stddef.h>
#include <stdint.h>

#include "simpler/error.h"
#include "simpler/export.h"

SIMPLER_BEGIN_DECLS

/* Direction of an operand in a signature (ArgDirection). */
enum simpler_direction {
	SIMPLER_DIR_SCALAR = 0,
	SIMPLER_DIR_IN = 1,
	SIMPLER_DIR_OUT = 2,
	SIMPLER_DIR_INOUT = 3
};

#define SIMPLER_CORE_MAX_TENSORS	32
#define SIMPLER_CORE_MAX_SCALARS	16
#define SIMPLER_CHIP_MAX_TENSORS	256
#define SIMPLER_CHIP_MAX_SCALARS	128
#define SIMPLER_CHIP_MAX_CHILDREN	1024
#define SIMPLER_FUNC_ID_MAX		1023
#define SIMPLER_SYMBOL_MAX		63	/* bytes of func_name and config_name */
#define SIMPLER_DIGEST_BYTES		32
#define SIMPLER_HASHID_BYTES		72	/* "sha256:" + 64 digits + NUL */

struct simpler_core_callable;
struct simpler_chip_callable;

/**
 * simpler_core_callable_build - make a kernel
 * @signature: directions of the operands (enum simpler_direction)
 * @sig_count: entries of @signature; at most 32 in all, of which 16 scalars
 * @binary: kernel object; copied
 * @binary_bytes: size, 1 to 2^32 - 1
 * @out: the kernel, with one reference
 * @error: filled on failure; may be NULL
 *
 * Returns 0, SIMPLER_ERR_SIGNATURE, SIMPLER_ERR_TENSOR_LIMIT,
 * SIMPLER_ERR_SCALAR_LIMIT, SIMPLER_ERR_CALLABLE_SIZE, SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_core_callable_build(const int32_t *signature, size_t sig_count,
					    const void *binary, size_t binary_bytes,
					    struct simpler_core_callable **out,
					    struct simpler_error *error);

/**
 * simpler_core_callable_from_bytes - inverse of simpler_core_callable_bytes()
 *
 * All fields are checked, as the chip does it when the kernel is registered;
 * SIMPLER_ERR_CALLABLE_BYTES says which is wrong.
 */
SIMPLER_API int simpler_core_callable_from_bytes(const void *bytes, size_t size,
						 struct simpler_core_callable **out,
						 struct simpler_error *error);

SIMPLER_API struct simpler_core_callable *
simpler_core_callable_get(struct simpler_core_callable *c);
/* Accepts NULL. */
SIMPLER_API void simpler_core_callable_put(struct simpler_core_callable *c);

/* The serialized form; lives as long as the callable. */
SIMPLER_API const void *simpler_core_callable_bytes(const struct simpler_core_callable *c,
						    size_t *size);
SIMPLER_API size_t simpler_core_callable_sig_count(const struct simpler_core_callable *c);
/* Direction @i, or SIMPLER_ERR_INDEX. */
SIMPLER_API int simpler_core_callable_sig(const struct simpler_core_callable *c, size_t i);
SIMPLER_API const void *simpler_core_callable_binary(const struct simpler_core_callable *c,
						     size_t *size);

struct simpler_chip_child {
	int32_t func_id;		/* the id that the orchestration submits, 0 to 1023 */
	const struct simpler_core_callable *callable;
};

/* Inputs of simpler_chip_callable_build(); everything is copied. */
struct simpler_chip_spec {
	const int32_t *signature;	/* tensors first, then scalars */
	size_t sig_count;
	const char *func_name;		/* exported orchestration symbol; longer than 63: cut */
	const char *config_name;	/* NULL or "": none */
	const void *binary;		/* orchestration object */
	size_t binary_bytes;
	const struct simpler_chip_child *children;
	size_t child_count;
};

/**
 * simpler_chip_callable_build - make an orchestration with its kernels
 * @spec: the parts
 * @out: the callable, with one reference
 * @error: filled on failure; may be NULL
 *
 * Returns 0, SIMPLER_ERR_SIGNATURE, SIMPLER_ERR_TENSOR_LIMIT (more than 256
 * tensors), SIMPLER_ERR_SCALAR_LIMIT (128), SIMPLER_ERR_CHILD_LIMIT (1024),
 * SIMPLER_ERR_CHILD_DUPLICATE, SIMPLER_ERR_CALLABLE_SIZE (an empty binary, or
 * more than 2^32 - 1 bytes in all), SIMPLER_ERR_INVALID_ARGUMENT (a func_id, or
 * a name with blanks or control characters), SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_chip_callable_build(const struct simpler_chip_spec *spec,
					    struct simpler_chip_callable **out,
					    struct simpler_error *error);

/**
 * simpler_chip_callable_from_bytes - inverse of simpler_chip_callable_bytes()
 *
 * All fields, offsets and kernels are checked, as the chip does it when the
 * callable is registered; SIMPLER_ERR_CALLABLE_BYTES says which is wrong.
 */
SIMPLER_API int simpler_chip_callable_from_bytes(const void *bytes, size_t size,
						 struct simpler_chip_callable **out,
						 struct simpler_error *error);

SIMPLER_API struct simpler_chip_callable *
simpler_chip_callable_get(struct simpler_chip_callable *c);
/* Accepts NULL. */
SIMPLER_API void simpler_chip_callable_put(struct simpler_chip_callable *c);

/* The serialized form; lives as long as the callable. */
SIMPLER_API const void *simpler_chip_callable_bytes(const struct simpler_chip_callable *c,
						    size_t *size);
SIMPLER_API size_t simpler_chip_callable_sig_count(const struct simpler_chip_callable *c);
SIMPLER_API size_t simpler_chip_callable_scalar_count(const struct simpler_chip_callable *c);
/* Direction @i, or SIMPLER_ERR_INDEX. */
SIMPLER_API int simpler_chip_callable_sig(const struct simpler_chip_callable *c, size_t i);
SIMPLER_API const char *simpler_chip_callable_func_name(const struct simpler_chip_callable *c);
SIMPLER_API const char *simpler_chip_callable_config_name(const struct simpler_chip_callable *c);
SIMPLER_API const void *simpler_chip_callable_binary(const struct simpler_chip_callable *c,
						     size_t *size);
SIMPLER_API size_t simpler_chip_callable_child_count(const struct simpler_chip_callable *c);
/* The next three return SIMPLER_ERR_INDEX when @i is out of range. */
SIMPLER_API int simpler_chip_callable_child_func_id(const struct simpler_chip_callable *c,
						    size_t i, int32_t *func_id);
/* Offset of the child's header in the storage that starts at byte 9376. */
SIMPLER_API int simpler_chip_callable_child_offset(const struct simpler_chip_callable *c,
						   size_t i, uint32_t *offset);
/* A copy of the child with its own reference. */
SIMPLER_API int simpler_chip_callable_child(const struct simpler_chip_callable *c, size_t i,
					    struct simpler_core_callable **out);

/* FNV-1a-64 over all bytes. */
SIMPLER_API uint64_t simpler_chip_callable_hash(const struct simpler_chip_callable *c);
/* FNV-1a-64 over child_count and, per child, func_id, binary size and binary. */
SIMPLER_API uint64_t simpler_chip_callable_image_hash(const struct simpler_chip_callable *c);
/*
 * "hid" of trace records: the first 8 bytes of the orchestration object's ELF
 * build id, read as a big-endian number (so that its hexadecimal form is a
 * prefix of the printed build id); FNV-1a-64 of the object when it has none.
 */
SIMPLER_API uint64_t simpler_chip_callable_hid(const struct simpler_chip_callable *c);

/**
 * simpler_chip_callable_digest - identity of a callable on a platform (§4.4)
 * @c: the callable
 * @arch: "a2a3" or "a5"
 * @platform: "a2a3", "a2a3sim", "a5" or "a5sim"
 * @runtime: "tensormap_and_ringbuffer" (this build has no other), "host_build_graph"
 * @digest: SHA-256 of the canonical descriptor
 */
SIMPLER_API void simpler_chip_callable_digest(const struct simpler_chip_callable *c,
					      const char *arch, const char *platform,
					      const char *runtime,
					      uint8_t digest[SIMPLER_DIGEST_BYTES]);

/** simpler_hashid_format - write "sha256:<64 hex digits>" */
SIMPLER_API void simpler_hashid_format(const uint8_t digest[SIMPLER_DIGEST_BYTES],
				       char text[SIMPLER_HASHID_BYTES]);

/** simpler_hashid_parse - inverse; SIMPLER_ERR_HASHID_FORMAT for anything else */
SIMPLER_API int simpler_hashid_parse(const char *text, uint8_t digest[SIMPLER_DIGEST_BYTES]);

enum simpler_callable_kind {
	SIMPLER_KIND_CHIP_CALLABLE = 1,
	SIMPLER_KIND_PYTHON_SERIALIZED = 2,
	SIMPLER_KIND_PYTHON_IMPORT = 3
};

enum simpler_callable_namespace {
	SIMPLER_LOCAL_CHIP = 1,
	SIMPLER_LOCAL_PYTHON = 2,
	SIMPLER_REMOTE_TASK_DISPATCHER = 3
};

/*
 * Names one registration at one Worker.  A value without lifetime: a handle that
 * is stale, of another Worker or made by hand is refused.
 */
struct simpler_callable_handle {
	uint64_t owner;			/* private */
	uint64_t id;			/* private */
	uint32_t kind;			/* enum simpler_callable_kind */
	uint32_t target_namespace;	/* enum simpler_callable_namespace */
	uint8_t digest[SIMPLER_DIGEST_BYTES];
};

SIMPLER_END_DECLS

#endif /* SIMPLER_CALLABLE_H */
