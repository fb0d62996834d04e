/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"

static void fnv1a64_matches_published_values(void **state)
{
	uint64_t half;

	(void)state;
	assert_true(hash_fnv1a64(HASH_FNV1A64_INIT, "", 0) == UINT64_C(0xcbf29ce484222325));
	assert_true(hash_fnv1a64(HASH_FNV1A64_INIT, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(hash_fnv1a64(HASH_FNV1A64_INIT, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	half = hash_fnv1a64(HASH_FNV1A64_INIT, "foo", 3);
	assert_true(hash_fnv1a64(half, "bar", 3) == UINT64_C(0x85944171f73967e8));
	assert_true(hash_fnv1a64(HASH_GRAPH_KEY_INIT, "", 0) == UINT64_C(1469598103934665603));
}

static void assert_sha256(const void *data, size_t size, const char *expected)
{
	unsigned char digest[HASH_SHA256_BYTES];
	char text[2 * HASH_SHA256_BYTES + 1];

	hash_sha256(data, size, digest);
	hash_sha256_hex(digest, text);
	assert_string_equal(text, expected);
}

static void sha256_matches_the_examples_of_the_standard(void **state)
{
	(void)state;
	assert_sha256("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_sha256("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
		      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	assert_sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklm"
		      "nopqklmnopqrlmnopqrs"
		      "mnopqrstnopqrstu",
		      112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static void sha256_of_a_million_letters_in_uneven_parts(void **state)
{
	unsigned char digest[HASH_SHA256_BYTES];
	char text[2 * HASH_SHA256_BYTES + 1], letters[997];
	struct hash_sha256 h;
	size_t left, part;

	(void)state;
	memset(letters, 'a', sizeof(letters));
	hash_sha256_init(&h);
	for (left = 1000000; left; left -= part) {
		part = left < sizeof(letters) ? left : sizeof(letters);
		hash_sha256_update(&h, letters, part);
	}
	hash_sha256_final(&h, digest);
	hash_sha256_hex(digest, text);
	assert_string_equal(text,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/*
 * Padding needs a second block from 56 bytes on: all lengths around a block, whole and byte by
 * byte.
 */
static void sha256_does_not_depend_on_how_the_data_is_cut(void **state)
{
	unsigned char whole[HASH_SHA256_BYTES], bytes[HASH_SHA256_BYTES], data[200];
	struct hash_sha256 h;
	size_t size, i;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
	for (size = 0; size <= sizeof(data); size++) {
		hash_sha256(data, size, whole);
		hash_sha256_init(&h);
		for (i = 0; i < size; i++)
			hash_sha256_update(&h, data + i, 1);
		hash_sha256_final(&h, bytes);
		assert_memory_equal(whole, bytes, sizeof(whole));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fnv1a64_matches_published_values),
		cmocka_unit_test(sha256_matches_the_examples_of_the_standard),
		cmocka_unit_test(sha256_of_a_million_letters_in_uneven_parts),
		cmocka_unit_test(sha256_does_not_depend_on_how_the_data_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
