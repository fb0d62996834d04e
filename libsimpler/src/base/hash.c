/* SPDX-License-Identifier: MIT */
/* SHA-256 after FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1, 5.3.3 and 6.2. */
#include "base/hash.h"

#include <string.h>

static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static const uint32_t sha256_h0[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static inline uint32_t rotr(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static inline uint32_t load_be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void store_be32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 24);
	p[1] = (unsigned char)(v >> 16);
	p[2] = (unsigned char)(v >> 8);
	p[3] = (unsigned char)v;
}

/* The message schedule (6.2.2 step 1). */
static void sha256_schedule(uint32_t w[64], const unsigned char *block)
{
	uint32_t s0, s1;
	int t;

	for (t = 0; t < 16; t++)
		w[t] = load_be32(block + 4 * t);
	for (; t < 64; t++) {
		s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
		s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
		w[t] = s1 + w[t - 7] + s0 + w[t - 16];
	}
}

/* v holds the working variables a to h of the standard. */
static void sha256_block(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64], v[8], t1, t2;
	int t, i;

	sha256_schedule(w, block);
	memcpy(v, state, sizeof(v));
	for (t = 0; t < 64; t++) {
		t1 = v[7] + (rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha256_k[t] + w[t];
		t2 = (rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		state[i] += v[i];
}

void hash_sha256_init(struct hash_sha256 *h)
{
	memcpy(h->state, sha256_h0, sizeof(h->state));
	h->total = 0;
}

void hash_sha256_update(struct hash_sha256 *h, const void *data, size_t size)
{
	size_t used = h->total % sizeof(h->block);
	const unsigned char *p = data;
	size_t part;

	h->total += size;
	while (size) {
		if (!used && size >= sizeof(h->block)) {
			sha256_block(h->state, p);
			part = sizeof(h->block);
		} else {
			part = sizeof(h->block) - used < size ? sizeof(h->block) - used : size;
			memcpy(h->block + used, p, part);
			used += part;
			if (used == sizeof(h->block)) {
				sha256_block(h->state, h->block);
				used = 0;
			}
		}
		p += part;
		size -= part;
	}
}

void hash_sha256_final(struct hash_sha256 *h, unsigned char digest[HASH_SHA256_BYTES])
{
	static const unsigned char pad[64] = { 0x80 };
	uint64_t bits = h->total * 8;
	size_t used = h->total % 64;
	unsigned char length[8];
	int i;

	hash_sha256_update(h, pad, used < 56 ? 56 - used : 120 - used);
	store_be32(length, (uint32_t)(bits >> 32));
	store_be32(length + 4, (uint32_t)bits);
	hash_sha256_update(h, length, sizeof(length));
	for (i = 0; i < 8; i++)
		store_be32(digest + 4 * i, h->state[i]);
}

void hash_sha256(const void *data, size_t size, unsigned char digest[HASH_SHA256_BYTES])
{
	struct hash_sha256 h;

	hash_sha256_init(&h);
	hash_sha256_update(&h, data, size);
	hash_sha256_final(&h, digest);
}

void hash_sha256_hex(const unsigned char digest[HASH_SHA256_BYTES],
		     char text[2 * HASH_SHA256_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";
	int i;

	for (i = 0; i < HASH_SHA256_BYTES; i++) {
		text[2 * i] = digits[digest[i] >> 4];
		text[2 * i + 1] = digits[digest[i] & 15];
	}
	text[2 * HASH_SHA256_BYTES] = '\0';
}
