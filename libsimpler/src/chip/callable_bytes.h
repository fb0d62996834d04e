/* SPDX-License-Identifier: MIT */
/*
 * Reading of callable bytes: every field checked, nothing loaded.
 *
 * Spec: worker-api §4.2, §4.3; chip-runtime §2.3.
 */
#ifndef SIMPLER_CHIP_CALLABLE_BYTES_H
#define SIMPLER_CHIP_CALLABLE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "simpler_hw.h"

/* A kernel; @offset and @bytes place its binary in the callable bytes. */
struct callable_child {
	int32_t func_id;
	uint32_t index;			/* in the header's arrays */
	size_t offset;
	size_t bytes;
};

struct callable_bytes {
	struct simpler_hw_chip_callable head;	/* a copy; the bytes may change under a reader */
	int32_t tensor_count;		/* entries of the signature before the scalars */
	uint32_t child_count;
	struct callable_child child[SIMPLER_HW_MAX_CHILDREN];	/* ascending func_id */
};

/**
 * callable_bytes_read - check callable bytes
 * @bytes: struct simpler_hw_chip_callable and its storage, at any alignment
 * @size: bytes available; what follows the last child is ignored
 * @out: filled on success; large, not for a fiber's stack
 * @err: names the field, its value and its place; may be NULL
 *
 * The orchestration's binary starts right after the header. Thread safe.
 * Return: 0, -EINVAL, or -EEXIST when a func_id occurs twice.
 */
int callable_bytes_read(const void *bytes, size_t size, struct callable_bytes *out,
			struct error_record *err);

#endif /* SIMPLER_CHIP_CALLABLE_BYTES_H */
