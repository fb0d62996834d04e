/* SPDX-License-Identifier: MIT */
/*
 * FNV-1a with 64 bits, for tables and keys, and SHA-256 (FIPS 180-4), for the identity of
 * callables.
 */
#ifndef SIMPLER_BASE_HASH_H
#define SIMPLER_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_FNV1A64_INIT	UINT64_C(14695981039346656037)
/*
 * Start value of graph keys (spec chip-runtime.md, rt_submit_graph): one digit shorter than FNV's
 * own.
 */
#define HASH_GRAPH_KEY_INIT	UINT64_C(1469598103934665603)
#define HASH_FNV1A64_PRIME	UINT64_C(1099511628211)

/* Continue @hash (first one of the start values) with @size bytes. */
static inline uint64_t hash_fnv1a64(uint64_t hash, const void *data, size_t size)
{
	const unsigned char *p = (const unsigned char *)data;
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ p[i]) * HASH_FNV1A64_PRIME;
	return hash;
}

#define HASH_SHA256_BYTES	32

struct hash_sha256 {
	uint32_t state[8];
	uint64_t total;			/* bytes so far */
	unsigned char block[64];	/* the last total % 64 of them */
};

void hash_sha256_init(struct hash_sha256 *h);
void hash_sha256_update(struct hash_sha256 *h, const void *data, size_t size);
/* Writes the digest; @h must be initialised again before further use. */
void hash_sha256_final(struct hash_sha256 *h, unsigned char digest[HASH_SHA256_BYTES]);
/* All three for one buffer. */
void hash_sha256(const void *data, size_t size, unsigned char digest[HASH_SHA256_BYTES]);
/* 64 lower-case hexadecimal digits and a terminator. */
void hash_sha256_hex(const unsigned char digest[HASH_SHA256_BYTES],
		     char text[2 * HASH_SHA256_BYTES + 1]);

#endif
