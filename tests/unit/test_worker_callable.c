/* SPDX-License-Identifier: MIT */
/* Callables as bytes: building, loading, identity. */
#include <elf.h>

#include "base/hash.h"
#include "worker_fixture.h"

static struct simpler_core_callable *core_new(const char *directions, const void *binary, size_t n)
{
	int32_t signature[48];
	struct simpler_core_callable *c;
	size_t count = signature_of(directions, signature);

	assert_int_equal(simpler_core_callable_build(signature, count, binary, n, &c, NULL), 0);
	return c;
}

/* An orchestration of 5 bytes with kernels of 10 and 20. */
static struct simpler_chip_callable *chip_new(void)
{
	int32_t signature[] = { SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_SCALAR };
	struct simpler_core_callable *k10 = core_new("io", "0123456789", 10);
	struct simpler_core_callable *k20 = core_new("b", "abcdefghijklmnopqrst", 20);
	struct simpler_chip_child children[] = { { 4, k10 }, { 2, k20 } };
	struct simpler_chip_spec spec = {
		.signature = signature, .sig_count = 3, .func_name = "f", .config_name = "g",
		.binary = "orch!", .binary_bytes = 5, .children = children, .child_count = 2,
	};
	struct simpler_chip_callable *c;

	assert_int_equal(simpler_chip_callable_build(&spec, &c, NULL), 0);
	simpler_core_callable_put(k10);
	simpler_core_callable_put(k20);
	return c;
}

static void core_bytes_have_the_specified_layout(void **state)
{
	struct simpler_core_callable *c = core_new("ios", "\1\2\3", 3);
	size_t size;
	const unsigned char *b = simpler_core_callable_bytes(c, &size);

	(void)state;
	assert_int_equal(size, 192 + 3);
	assert_int_equal(*(const int32_t *)(b + 0), SIMPLER_DIR_IN);
	assert_int_equal(*(const int32_t *)(b + 4), SIMPLER_DIR_OUT);
	assert_int_equal(*(const int32_t *)(b + 128), 3);
	assert_int_equal(*(const uint32_t *)(b + 132), 3);
	assert_int_equal(*(const uint64_t *)(b + 136), 0);
	assert_memory_equal(b + 192, "\1\2\3", 3);
	assert_int_equal(simpler_core_callable_sig(c, 1), SIMPLER_DIR_OUT);
	assert_int_equal(simpler_core_callable_sig(c, 3), SIMPLER_ERR_INDEX);
	simpler_core_callable_put(c);
}

static void children_lie_at_multiples_of_64(void **state)
{
	struct simpler_chip_callable *c = chip_new();
	struct simpler_core_callable *child;
	size_t size, n, i;
	const unsigned char *b = simpler_chip_callable_bytes(c, &size);
	uint32_t offset;
	int32_t id;

	(void)state;
	assert_int_equal(simpler_chip_callable_child_count(c), 2);
	for (i = 0; i < 2; i++) {
		assert_int_equal(simpler_chip_callable_child_offset(c, i, &offset), 0);
		assert_int_equal(offset % 64, 0);
		assert_int_equal(simpler_chip_callable_child_func_id(c, i, &id), 0);
		assert_int_equal(id, i ? 2 : 4);
		assert_memory_equal(b + 9376 + offset + 192, i ? "abcde" : "01234", 5);
	}
	assert_int_equal(size, 9376 + offset + 192 + 20);
	assert_memory_equal(b + 9376, "orch!", 5);
	assert_int_equal(simpler_chip_callable_child(c, 1, &child), 0);
	assert_memory_equal(simpler_core_callable_binary(child, &n), "abcdefghijklmnopqrst", 20);
	assert_int_equal(n, 20);
	assert_int_equal(simpler_chip_callable_child(c, 2, &child), SIMPLER_ERR_INDEX);
	simpler_core_callable_put(child);
	simpler_chip_callable_put(c);
}

static void equal_inputs_give_equal_bytes(void **state)
{
	struct simpler_chip_callable *a = chip_new(), *b = chip_new();
	size_t na, nb;
	const void *pa = simpler_chip_callable_bytes(a, &na),
		   *pb = simpler_chip_callable_bytes(b, &nb);

	(void)state;
	assert_int_equal(na, nb);
	assert_memory_equal(pa, pb, na);
	assert_true(simpler_chip_callable_hash(a) == simpler_chip_callable_hash(b));
	assert_true(simpler_chip_callable_image_hash(a) == simpler_chip_callable_image_hash(b));
	assert_true(simpler_chip_callable_hash(a) == hash_fnv1a64(HASH_FNV1A64_INIT, pa, na));
	simpler_chip_callable_put(a);
	simpler_chip_callable_put(b);
}

static void long_names_are_cut_at_63_bytes(void **state)
{
	char name[100];
	struct simpler_chip_spec spec = { .func_name = name, .binary = "o", .binary_bytes = 1 };
	struct simpler_chip_callable *c;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[99] = '\0';
	assert_int_equal(simpler_chip_callable_build(&spec, &c, NULL), 0);
	assert_int_equal(strlen(simpler_chip_callable_func_name(c)), 63);
	assert_string_equal(simpler_chip_callable_config_name(c), "");
	simpler_chip_callable_put(c);
}

static void expect_build(const int32_t *signature, size_t count, int code, const char *text)
{
	struct simpler_chip_spec spec = {
		.signature = signature, .sig_count = count, .func_name = "f",
		.binary = "o", .binary_bytes = 1,
	};
	struct simpler_chip_callable *c;
	struct simpler_error e;
	int rc = simpler_chip_callable_build(&spec, &c, &e);

	assert_int_equal(rc, code);
	if (!rc) {
		simpler_chip_callable_put(c);
		return;
	}
	assert_int_equal(e.code, code);
	if (!strstr(e.text, text))
		fail_msg("'%s' is not in '%s'", text, e.text);
}

static void chip_signature_limits(void **state)
{
	int32_t s[400];
	int i;

	(void)state;
	for (i = 0; i < 400; i++)
		s[i] = SIMPLER_DIR_IN;
	expect_build(s, 256, 0, "");
	expect_build(s, 257, SIMPLER_ERR_TENSOR_LIMIT,
		     "requested tensor count 257 exceeds supported tensor count 256");
	for (i = 0; i < 400; i++)
		s[i] = SIMPLER_DIR_SCALAR;
	expect_build(s, 128, 0, "");
	expect_build(s, 129, SIMPLER_ERR_SCALAR_LIMIT, "requested scalar count 129");
	for (i = 0; i < 200; i++)
		s[i] = SIMPLER_DIR_IN;
	expect_build(s, 300, SIMPLER_ERR_SIGNATURE, "300 entries");
	s[1] = SIMPLER_DIR_SCALAR;
	expect_build(s, 3, SIMPLER_ERR_SIGNATURE, "signature[2] is a tensor after a scalar");
	s[1] = 9;
	expect_build(s, 3, SIMPLER_ERR_SIGNATURE, "signature[1] is 9");
}

static void core_signature_limits(void **state)
{
	int32_t s[64] = { 0 };
	struct simpler_core_callable *c;
	struct simpler_error e;
	int i;

	(void)state;
	assert_int_equal(simpler_core_callable_build(s, 17, "k", 1, &c, &e),
			 SIMPLER_ERR_SCALAR_LIMIT);
	for (i = 0; i < 64; i++)
		s[i] = SIMPLER_DIR_IN;
	assert_int_equal(simpler_core_callable_build(s, 33, "k", 1, &c, &e),
			 SIMPLER_ERR_TENSOR_LIMIT);
	assert_non_null(strstr(e.text, "33"));
	assert_int_equal(simpler_core_callable_build(s, 1, NULL, 4, &c, &e),
			 SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_core_callable_build(s, 32, "", 0, &c, &e),
			 SIMPLER_ERR_CALLABLE_SIZE);
	assert_non_null(strstr(e.text, "the binary has 0 bytes"));
	assert_int_equal(simpler_core_callable_build(s, 32, "k", 1, &c, &e), 0);
	simpler_core_callable_put(c);
}

static void children_must_have_different_ids_of_0_to_1023(void **state)
{
	struct simpler_core_callable *k = core_new("i", "k", 1);
	struct simpler_chip_child children[] = { { 7, k }, { 7, k } };
	struct simpler_chip_spec spec = {
		.func_name = "f", .binary = "o", .binary_bytes = 1,
		.children = children, .child_count = 2,
	};
	struct simpler_chip_callable *c;
	struct simpler_error e;

	(void)state;
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), SIMPLER_ERR_CHILD_DUPLICATE);
	assert_non_null(strstr(e.text, "func_id 7"));
	children[1].func_id = -1;
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), SIMPLER_ERR_INVALID_ARGUMENT);
	children[1].func_id = 1024;
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_non_null(strstr(e.text, "func_id 1024 of children[1] is not 0 to 1023"));
	children[1].func_id = 1023;
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), 0);
	simpler_chip_callable_put(c);
	children[1] = (struct simpler_chip_child){ 8, NULL };
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), SIMPLER_ERR_INVALID_ARGUMENT);
	spec.child_count = 1025;
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), SIMPLER_ERR_CHILD_LIMIT);
	spec.func_name = NULL;
	spec.child_count = 0;
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), SIMPLER_ERR_INVALID_ARGUMENT);
	simpler_core_callable_put(k);
}

/* ---- loading ---- */

static int load(const void *bytes, size_t size, struct simpler_error *e)
{
	struct simpler_chip_callable *c;
	int rc = simpler_chip_callable_from_bytes(bytes, size, &c, e);

	if (!rc)
		simpler_chip_callable_put(c);
	return rc;
}

static void loading_inverts_building(void **state)
{
	struct simpler_chip_callable *a = chip_new(), *b;
	uint8_t da[32], db[32];
	size_t n;
	const void *bytes = simpler_chip_callable_bytes(a, &n);

	(void)state;
	assert_int_equal(simpler_chip_callable_from_bytes(bytes, n, &b, NULL), 0);
	simpler_chip_callable_digest(a, "a5", "a5sim", "tensormap_and_ringbuffer", da);
	simpler_chip_callable_digest(b, "a5", "a5sim", "tensormap_and_ringbuffer", db);
	assert_memory_equal(da, db, 32);
	simpler_chip_callable_digest(b, "a2a3", "a2a3sim", "tensormap_and_ringbuffer", db);
	assert_memory_not_equal(da, db, 32);
	assert_int_equal(simpler_chip_callable_scalar_count(b), 1);
	simpler_chip_callable_put(a);
	simpler_chip_callable_put(b);
}

static void names_have_no_blanks_and_no_control_characters(void **state)
{
	struct simpler_chip_spec spec = { .func_name = "my entry", .binary = "o", .binary_bytes = 1 };
	struct simpler_chip_callable *c;
	struct simpler_error e;

	(void)state;
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_non_null(strstr(e.text, "func_name: byte 2 is 0x20"));
	spec.func_name = "entry";
	spec.config_name = "conf\x7fig";
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_non_null(strstr(e.text, "config_name: byte 4 is 0x7f"));
	spec.config_name = "c\xc3\xb6nfig";
	assert_int_equal(simpler_chip_callable_build(&spec, &c, &e), 0);
	simpler_chip_callable_put(c);
}

static void truncated_and_extended_bytes_are_refused(void **state)
{
	struct simpler_chip_callable *a = chip_new();
	struct simpler_error e;
	size_t n, i;
	const void *bytes = simpler_chip_callable_bytes(a, &n);
	unsigned char *copy = calloc(1, n + 1);

	(void)state;
	memcpy(copy, bytes, n);
	for (i = 0; i < n; i++) {
		assert_int_equal(load(copy, i, &e), SIMPLER_ERR_CALLABLE_BYTES);
		assert_true(!strncmp(e.text, "corrupt callable bytes", 22));
	}
	assert_int_equal(load(copy, n, &e), 0);
	assert_int_equal(load(copy, n + 1, &e), SIMPLER_ERR_CALLABLE_BYTES);
	free(copy);
	simpler_chip_callable_put(a);
}

static void corrupt_fields_are_named(void **state)
{
	static const struct {
		size_t offset;
		int32_t value;
		const char *text;
	} damage[] = {
		{ 0, 5, "signature[0] is 5" },
		{ 4 * 200, 1, "unused entries of a signature: byte 788 is 1" },
		{ 1024, -1, "sig_count of a chip callable is -1" },
		{ 1024, 257, "sig_count of a chip callable is 257" },
		{ 1028, 1 << 30, "the orchestration has 1073741824 bytes" },
		{ 1028, 0, "the orchestration has 0 bytes" },
		{ 1096, 64, "func_name has length 64" },
		{ 1096, 2, "func_name has length 2, but byte 1 is 0x00" },
		{ 9360, 0, "config_name: byte 0 is 103, not 0" },
		{ 1100, 2, "func_id 2 occurs twice" },
		{ 1100, -4, "func_id -4 is not 0 to 1023" },
		{ 1100, 1024, "func_id 1024 is not 0 to 1023" },
		{ 5196, 65, "kernel 0 lies at offset 65" },
		{ 5196, 0, "kernel 0 lies at offset 0" },
		{ 5196, 320, "lies at offset 320 and overlaps kernel" },
		{ 5200, 1 << 20, "kernel 1 lies at offset 1048576" },
		{ 9292, 3, "kernel 2 lies at offset 0" },
		{ 9292, 1, "unused child_func_ids: byte 0 is 2" },
		{ 9292, 1025, "child_count is 1025" },
		{ 9364, 1, "reserved bytes of the header: byte 0 is 1" },
		{ 9372, 1, "reserved bytes of the header: byte 8 is 1" },
		{ 9376 + 64 + 128, 33, "sig_count of a core callable is 33" },
		{ 9376 + 64 + 132, 1 << 20, "a kernel has 1048576 binary bytes" },
		{ 9376 + 64 + 132, 0, "a kernel has 0 binary bytes" },
		{ 9376 + 64 + 136, 0x55, "a kernel has resolved_addr 0x55, not 0" },
		{ 9376 + 64 + 144, 1, "reserved bytes of a kernel: byte 0 is 1" },
		{ 9376 + 320 + 132, 19, "1 bytes follow the last kernel" },
	};
	struct simpler_chip_callable *a = chip_new();
	struct simpler_error e;
	size_t n, i;
	const void *bytes = simpler_chip_callable_bytes(a, &n);
	unsigned char *copy = malloc(n);

	(void)state;
	for (i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		memcpy(copy, bytes, n);
		memcpy(copy + damage[i].offset, &damage[i].value, 4);
		assert_true(load(copy, n, &e) < 0);
		if (!strstr(e.text, damage[i].text))
			fail_msg("'%s' is not in '%s'", damage[i].text, e.text);
	}
	free(copy);
	simpler_chip_callable_put(a);
}

/* Whatever loads can be read through every accessor. */
static void randomly_damaged_bytes_load_safely_or_not_at_all(void **state)
{
	struct simpler_chip_callable *a = chip_new(), *b;
	struct simpler_core_callable *child;
	size_t n, i, k;
	const void *bytes = simpler_chip_callable_bytes(a, &n);
	unsigned char *copy = malloc(n);
	uint64_t random = 88172645463325252u;

	(void)state;
	for (i = 0; i < 20000; i++) {
		memcpy(copy, bytes, n);
		for (k = 0; k < 1 + i % 4; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			copy[random % n] ^= (unsigned char)(random >> 32);
		}
		if (simpler_chip_callable_from_bytes(copy, n, &b, NULL))
			continue;
		simpler_chip_callable_image_hash(b);
		simpler_chip_callable_hid(b);
		for (k = 0; k < simpler_chip_callable_child_count(b); k++) {
			assert_int_equal(simpler_chip_callable_child(b, k, &child), 0);
			simpler_core_callable_put(child);
		}
		simpler_chip_callable_put(b);
	}
	free(copy);
	simpler_chip_callable_put(a);
}

static void core_bytes_load_and_extra_bytes_do_not(void **state)
{
	struct simpler_core_callable *c = core_new("i", "xyz", 3), *d;
	size_t n;
	const void *bytes = simpler_core_callable_bytes(c, &n);
	struct simpler_error e;

	(void)state;
	assert_int_equal(simpler_core_callable_from_bytes(bytes, n, &d, &e), 0);
	simpler_core_callable_put(d);
	assert_int_equal(simpler_core_callable_from_bytes(bytes, n - 1, &d, &e),
			 SIMPLER_ERR_CALLABLE_BYTES);
	assert_int_equal(simpler_core_callable_from_bytes(bytes, 10, &d, &e),
			 SIMPLER_ERR_CALLABLE_BYTES);
	simpler_core_callable_put(c);
}

/* ---- identity ---- */

static void hashid_round_trips_and_rejects_other_forms(void **state)
{
	uint8_t digest[32], back[32];
	char text[SIMPLER_HASHID_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < 32; i++)
		digest[i] = (uint8_t)(i * 37);
	simpler_hashid_format(digest, text);
	assert_int_equal(strlen(text), 71);
	assert_int_equal(simpler_hashid_parse(text, back), 0);
	assert_memory_equal(digest, back, 32);
	text[10] = 'A';
	assert_int_equal(simpler_hashid_parse(text, back), SIMPLER_ERR_HASHID_FORMAT);
	simpler_hashid_format(digest, text);
	text[0] = 'S';
	assert_int_equal(simpler_hashid_parse(text, back), SIMPLER_ERR_HASHID_FORMAT);
	simpler_hashid_format(digest, text);
	text[70] = '\0';
	assert_int_equal(simpler_hashid_parse(text, back), SIMPLER_ERR_HASHID_FORMAT);
}

/* The canonical descriptor of §4.4, written out by hand. */
static void digest_is_the_hash_of_the_canonical_descriptor(void **state)
{
	struct simpler_chip_callable *c = chip_new();
	uint8_t expected[32], digest[32], bytes_hash[32], sig_hash[32];
	uint32_t signature[] = { 1, 3, 1, 2, 0 };
	unsigned char d[256], *p = d;
	size_t n;
	const void *bytes = simpler_chip_callable_bytes(c, &n);

#define PUT(data, size) (memcpy(p, data, size), p += (size))
#define PUT_U32(v) do { uint32_t word = (v); PUT(&word, 4); } while (0)
	(void)state;
	hash_sha256(bytes, n, bytes_hash);
	hash_sha256(signature, sizeof(signature), sig_hash);
	PUT_U32(1);
	PUT_U32(1);
	PUT_U32(2);
	PUT("a5", 2);
	PUT_U32(5);
	PUT("a5sim", 5);
	PUT_U32(24);
	PUT("tensormap_and_ringbuffer", 24);
	PUT_U32(32);
	PUT(bytes_hash, 32);
	PUT_U32(32);
	PUT(sig_hash, 32);
	hash_sha256(d, (size_t)(p - d), expected);
	simpler_chip_callable_digest(c, "a5", "a5sim", "tensormap_and_ringbuffer", digest);
	assert_memory_equal(digest, expected, 32);
	simpler_chip_callable_put(c);
}

static struct simpler_chip_callable *chip_of_object(const void *object, size_t size)
{
	struct simpler_chip_spec spec = {
		.func_name = "f", .binary = object, .binary_bytes = size,
	};
	struct simpler_chip_callable *c;

	assert_int_equal(simpler_chip_callable_build(&spec, &c, NULL), 0);
	return c;
}

static void hid_is_the_build_id_or_a_hash(void **state)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Phdr p;
		Elf64_Nhdr n;
		char name[4];
		unsigned char id[20];
	} elf = {
		.h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
		       .e_phoff = sizeof(Elf64_Ehdr), .e_phnum = 1,
		       .e_phentsize = sizeof(Elf64_Phdr) },
		.p = { .p_type = PT_NOTE, .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
		       .p_filesz = sizeof(Elf64_Nhdr) + 24 },
		.n = { .n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID },
		.name = "GNU",
		.id = { 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 0x11 },
	};
	struct simpler_chip_callable *c = chip_of_object(&elf, sizeof(elf));

	(void)state;
	assert_true(simpler_chip_callable_hid(c) == 0x123456789abcdef0u);
	simpler_chip_callable_put(c);
	elf.p.p_filesz = 1000;	/* beyond the object */
	c = chip_of_object(&elf, sizeof(elf));
	assert_true(simpler_chip_callable_hid(c) ==
		    hash_fnv1a64(HASH_FNV1A64_INIT, &elf, sizeof(elf)));
	simpler_chip_callable_put(c);
	elf.p.p_filesz = sizeof(Elf64_Nhdr) + 24;
	elf.n.n_descsz = 0xffffffff;
	c = chip_of_object(&elf, sizeof(elf));
	assert_true(simpler_chip_callable_hid(c) ==
		    hash_fnv1a64(HASH_FNV1A64_INIT, &elf, sizeof(elf)));
	simpler_chip_callable_put(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(core_bytes_have_the_specified_layout),
		cmocka_unit_test(children_lie_at_multiples_of_64),
		cmocka_unit_test(equal_inputs_give_equal_bytes),
		cmocka_unit_test(long_names_are_cut_at_63_bytes),
		cmocka_unit_test(chip_signature_limits),
		cmocka_unit_test(core_signature_limits),
		cmocka_unit_test(children_must_have_different_ids_of_0_to_1023),
		cmocka_unit_test(loading_inverts_building),
		cmocka_unit_test(names_have_no_blanks_and_no_control_characters),
		cmocka_unit_test(truncated_and_extended_bytes_are_refused),
		cmocka_unit_test(corrupt_fields_are_named),
		cmocka_unit_test(randomly_damaged_bytes_load_safely_or_not_at_all),
		cmocka_unit_test(core_bytes_load_and_extra_bytes_do_not),
		cmocka_unit_test(hashid_round_trips_and_rejects_other_forms),
		cmocka_unit_test(digest_is_the_hash_of_the_canonical_descriptor),
		cmocka_unit_test(hid_is_the_build_id_or_a_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
