/* SPDX-License-Identifier: MIT */
/*
 * Buffers: storage that tensors name (worker-api §5, §7, §8).
 *
 * struct simpler_buffer is a reference counted handle of storage that a Worker
 * made or knows.  Dropping the last reference does not release the storage:
 * device memory is released by simpler_worker_free(), shared memory and
 * registrations of foreign storage by simpler_buffer_close(), and all of it at
 * the latest by simpler_worker_close().
 *
 * All functions are thread safe.
 */
#ifndef SIMPLER_BUFFER_H
#define SIMPLER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/error.h"
#include "simpler/export.h"

SIMPLER_BEGIN_DECLS

enum simpler_address_space {
	SIMPLER_SPACE_HOST = 0,
	SIMPLER_SPACE_DEVICE = 1
};

enum simpler_access {
	SIMPLER_ACCESS_READ = 0,
	SIMPLER_ACCESS_WRITE = 1,
	SIMPLER_ACCESS_READWRITE = 2
};

enum simpler_backend {
	SIMPLER_BACKEND_FORK_SHM = 0,		/* host memory, by address */
	SIMPLER_BACKEND_POSIX_SHM = 1,		/* host memory, by name */
	SIMPLER_BACKEND_VMM_WINDOW = 2,		/* device memory, window of a domain */
	SIMPLER_BACKEND_REMOTE_SIDECAR = 3,	/* behind a remote peer */
	SIMPLER_BACKEND_DEVICE_MALLOC = 4,	/* device memory, by address */
	SIMPLER_BACKEND_FORK_COW = 5		/* host memory, by address, read only */
};

#define SIMPLER_DESC_MAGIC		0x5342u
#define SIMPLER_DESC_BODY_BYTES		32

/* Equality uses the first three fields only. */
struct simpler_identity {
	uint8_t owner[8];		/* random per Worker incarnation */
	uint64_t buffer_id;		/* unique per owner */
	uint32_t generation;		/* from 1 */
	uint8_t padding[12];
};
SIMPLER_STATIC_ASSERT(sizeof(struct simpler_identity) == 32, "identity layout");

/* BufferDescriptor: what travels (little-endian). */
struct simpler_buffer_desc {
	uint16_t magic;			/* SIMPLER_DESC_MAGIC */
	uint8_t address_space;		/* enum simpler_address_space */
	uint8_t access;			/* enum simpler_access */
	uint8_t backend;		/* enum simpler_backend */
	uint8_t padding0[3];
	struct simpler_identity identity;
	uint64_t nbytes;
	uint32_t owner_path_id;		/* diagnostic */
	uint16_t body_len;
	uint8_t padding1[2];
	uint8_t body[SIMPLER_DESC_BODY_BYTES];	/* address, or name of shared memory */
};
SIMPLER_STATIC_ASSERT(sizeof(struct simpler_buffer_desc) == 88, "descriptor layout");

struct simpler_buffer;
struct simpler_location;

/** simpler_identity_equal - owner, buffer id and generation are equal */
SIMPLER_API bool simpler_identity_equal(const struct simpler_identity *a,
					const struct simpler_identity *b);

/**
 * simpler_buffer_desc_check - validate a descriptor (§5.2)
 *
 * Returns 0 or SIMPLER_ERR_BUFFER_DESCRIPTOR; @error (may be NULL) says which
 * field is wrong.
 */
SIMPLER_API int simpler_buffer_desc_check(const struct simpler_buffer_desc *desc,
					  struct simpler_error *error);

/**
 * simpler_buffer_wrap - register device storage that the caller owns (§8.1)
 * @address: device address, not 0
 * @nbytes: size, not 0
 * @location: from simpler_worker_location(); names the chip the storage is on
 * @access: what runs may do with it
 * @out: handle, with one reference
 * @error: filled on failure; may be NULL
 *
 * The storage must stay valid until simpler_buffer_close() succeeded.
 * Returns 0, SIMPLER_ERR_WRAP_RANGE, SIMPLER_ERR_INVALID_ARGUMENT (access),
 * SIMPLER_ERR_WRAP_OVERLAP (another live registration), SIMPLER_ERR_LOCATION_PROCESS,
 * SIMPLER_ERR_LOCATION_DEAD, SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_buffer_wrap(uint64_t address, uint64_t nbytes,
				    struct simpler_location *location,
				    enum simpler_access access, struct simpler_buffer **out,
				    struct simpler_error *error);

/**
 * simpler_buffer_from_descriptor - a handle for a descriptor that was received
 *
 * The handle owns nothing; every use is checked against the Worker's live
 * buffers.  Returns 0, SIMPLER_ERR_BUFFER_DESCRIPTOR, SIMPLER_ERR_NO_MEMORY.
 */
SIMPLER_API int simpler_buffer_from_descriptor(const struct simpler_buffer_desc *desc,
					       struct simpler_buffer **out,
					       struct simpler_error *error);

/**
 * simpler_buffer_close - end the use of shared memory or of foreign storage
 * @b: handle from simpler_worker_create_buffer(), simpler_worker_wrap_host() or
 *	simpler_buffer_wrap()
 * @error: filled on failure; may be NULL
 *
 * New tensors of the buffer are refused from the first accepted call on, even if
 * a release step fails.  Shared memory is unmapped, then its name is removed;
 * the second is always attempted, and a later call repeats what failed.  Foreign
 * storage is only forgotten, never freed.  Idempotent.
 *
 * Returns 0, SIMPLER_ERR_BUFFER_IN_USE, SIMPLER_ERR_BUFFER_UNPROVEN,
 * SIMPLER_ERR_BUFFER_EXPORTED (see simpler_buffer_pin()),
 * SIMPLER_ERR_INVALID_ARGUMENT (device memory: use simpler_worker_free()),
 * SIMPLER_ERR_SYSTEM.
 */
SIMPLER_API int simpler_buffer_close(struct simpler_buffer *b, struct simpler_error *error);

SIMPLER_API struct simpler_buffer *simpler_buffer_get(struct simpler_buffer *b);
/* Accepts NULL. */
SIMPLER_API void simpler_buffer_put(struct simpler_buffer *b);

/**
 * simpler_buffer_pin - keep host memory mapped while a view of it exists
 * @b: a HOST buffer
 * @data: its first byte
 *
 * Pairs with simpler_buffer_unpin(); in between simpler_buffer_close() and
 * simpler_worker_close() leave the mapping alone and return
 * SIMPLER_ERR_BUFFER_EXPORTED.  Returns 0, SIMPLER_ERR_BUFFER_SPACE or
 * SIMPLER_ERR_BUFFER_RELEASED.
 */
SIMPLER_API int simpler_buffer_pin(struct simpler_buffer *b, void **data);
SIMPLER_API void simpler_buffer_unpin(struct simpler_buffer *b);

/* Readers; they work on closed buffers as well. */
SIMPLER_API struct simpler_identity simpler_buffer_identity(const struct simpler_buffer *b);
SIMPLER_API enum simpler_address_space simpler_buffer_space(const struct simpler_buffer *b);
SIMPLER_API enum simpler_access simpler_buffer_access(const struct simpler_buffer *b);
SIMPLER_API enum simpler_backend simpler_buffer_backend(const struct simpler_buffer *b);
SIMPLER_API uint64_t simpler_buffer_nbytes(const struct simpler_buffer *b);
/* First byte of a HOST buffer; NULL for DEVICE buffers and after the memory was unmapped. */
SIMPLER_API void *simpler_buffer_data(const struct simpler_buffer *b);
/* Device address of a DEVICE buffer, 0 for others.  Not a handle: diagnostics, own kernels. */
SIMPLER_API uint64_t simpler_buffer_address(const struct simpler_buffer *b);
/* Name of the shared memory object without the leading slash, "" for other buffers. */
SIMPLER_API const char *simpler_buffer_shm_name(const struct simpler_buffer *b);
SIMPLER_API bool simpler_buffer_closed(const struct simpler_buffer *b);
SIMPLER_API bool simpler_buffer_unlinked(const struct simpler_buffer *b);

/**
 * simpler_buffer_descriptor - what names this buffer in tensors and messages
 *
 * Returns 0, SIMPLER_ERR_BUFFER_RELEASED, or SIMPLER_ERR_LOCATION_DEAD for
 * wrapped storage of a Worker that was closed.
 */
SIMPLER_API int simpler_buffer_descriptor(const struct simpler_buffer *b,
					  struct simpler_buffer_desc *desc,
					  struct simpler_error *error);

/* A location outlives its Worker; it is then refused. */
SIMPLER_API struct simpler_location *simpler_location_get(struct simpler_location *l);
/* Accepts NULL. */
SIMPLER_API void simpler_location_put(struct simpler_location *l);

SIMPLER_END_DECLS

#endif /* SIMPLER_BUFFER_H */
