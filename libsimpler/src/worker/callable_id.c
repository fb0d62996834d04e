/* SPDX-License-Identifier: MIT */
/* Identity of callables: content hashes, digest, hashid (worker-api §4.3, §4.4). */
#include <string.h>

#include "base/hash.h"
#include "worker/callable.h"
#include "worker/elf.h"

#define HASHID_PREFIX "sha256:"
#define DESCRIPTOR_SCHEMA 1u

uint64_t simpler_chip_callable_hash(const struct simpler_chip_callable *c)
{
	return hash_fnv1a64(HASH_FNV1A64_INIT, c->blob.bytes, c->blob.size);
}

uint64_t simpler_chip_callable_image_hash(const struct simpler_chip_callable *c)
{
	const struct simpler_hw_chip_callable *h = chip_header(c);
	const unsigned char *storage = (const unsigned char *)(h + 1);
	uint64_t hash = hash_fnv1a64(HASH_FNV1A64_INIT, &h->child_count, sizeof(h->child_count));
	int32_t i;

	for (i = 0; i < h->child_count; i++) {
		const struct simpler_hw_core_callable *child =
			(const void *)(storage + h->child_offsets[i]);

		hash = hash_fnv1a64(hash, &h->child_func_ids[i], sizeof(h->child_func_ids[i]));
		hash = hash_fnv1a64(hash, &child->binary_size, sizeof(child->binary_size));
		hash = hash_fnv1a64(hash, child + 1, child->binary_size);
	}
	return hash;
}

uint64_t simpler_chip_callable_hid(const struct simpler_chip_callable *c)
{
	const unsigned char *id;
	uint64_t hid = 0;
	size_t size, i;
	const void *binary = simpler_chip_callable_binary(c, &size);

	if (elf_build_id(binary, size, &id) < sizeof(hid))
		return hash_fnv1a64(HASH_FNV1A64_INIT, binary, size);
	for (i = 0; i < sizeof(hid); i++)
		hid = hid << 8 | id[i];
	return hid;
}

static void put_u32(struct hash_sha256 *h, uint32_t v)
{
	hash_sha256_update(h, &v, sizeof(v));
}

static void put_bytes(struct hash_sha256 *h, const void *bytes, size_t size)
{
	put_u32(h, (uint32_t)size);
	hash_sha256_update(h, bytes, size);
}

static void signature_digest(const struct simpler_chip_callable *c,
			     uint8_t digest[SIMPLER_DIGEST_BYTES])
{
	const struct simpler_hw_chip_callable *header = chip_header(c);
	struct hash_sha256 h;
	int32_t i;

	hash_sha256_init(&h);
	put_u32(&h, DESCRIPTOR_SCHEMA);
	put_u32(&h, (uint32_t)header->sig_count);
	for (i = 0; i < header->sig_count; i++)
		put_u32(&h, (uint32_t)header->signature[i]);
	hash_sha256_final(&h, digest);
}

void simpler_chip_callable_digest(const struct simpler_chip_callable *c, const char *arch,
				  const char *platform, const char *runtime,
				  uint8_t digest[SIMPLER_DIGEST_BYTES])
{
	uint8_t part[SIMPLER_DIGEST_BYTES];
	struct hash_sha256 h;

	hash_sha256_init(&h);
	put_u32(&h, DESCRIPTOR_SCHEMA);
	put_u32(&h, SIMPLER_KIND_CHIP_CALLABLE);
	put_bytes(&h, arch, strlen(arch));
	put_bytes(&h, platform, strlen(platform));
	put_bytes(&h, runtime, strlen(runtime));
	hash_sha256(c->blob.bytes, c->blob.size, part);
	put_bytes(&h, part, sizeof(part));
	signature_digest(c, part);
	put_bytes(&h, part, sizeof(part));
	hash_sha256_final(&h, digest);
}

void simpler_hashid_format(const uint8_t digest[SIMPLER_DIGEST_BYTES],
			   char text[SIMPLER_HASHID_BYTES])
{
	memcpy(text, HASHID_PREFIX, strlen(HASHID_PREFIX));
	hash_sha256_hex(digest, text + strlen(HASHID_PREFIX));
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int simpler_hashid_parse(const char *text, uint8_t digest[SIMPLER_DIGEST_BYTES])
{
	uint8_t parsed[SIMPLER_DIGEST_BYTES];
	const char *digits;
	size_t i;

	if (!text || !digest)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	digits = text + strlen(HASHID_PREFIX);
	if (strnlen(text, SIMPLER_HASHID_BYTES) != SIMPLER_HASHID_BYTES - 1 ||
	    strncmp(text, HASHID_PREFIX, strlen(HASHID_PREFIX)))
		return SIMPLER_ERR_HASHID_FORMAT;
	for (i = 0; i < sizeof(parsed); i++) {
		int high = hex_digit(digits[2 * i]), low = hex_digit(digits[2 * i + 1]);

		if (high < 0 || low < 0)
			return SIMPLER_ERR_HASHID_FORMAT;
		parsed[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(digest, parsed, sizeof(parsed));
	return 0;
}
