/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "callable_build.h"
#include "chip/callable_bytes.h"

#define HEAD(field) offsetof(struct simpler_hw_chip_callable, field)
#define CORE(field) offsetof(struct simpler_hw_core_callable, field)

/* A 32-bit word, the value it is set to, and what the message must say. */
static const struct {
	int child; /* -1: the callable's header */
	size_t offset;
	uint32_t value;
	int code;
	const char *text;
} malformed[] = {
	{ -1, HEAD(sig_count), 0xffffffff, -EINVAL, "chip signature: count -1 is not 0 to 256" },
	{ -1, HEAD(sig_count), 257, -EINVAL, "chip signature: count 257 is not 0 to 256" },
	{ -1, HEAD(sig_count), 1, -EINVAL, "chip signature: byte 0 is 0x02 instead of zero" },
	{ -1, HEAD(signature), 4, -EINVAL, "entry 0 has direction 4" },
	{ -1, HEAD(signature), 0, -EINVAL, "entry 1 is a tensor after a scalar" },
	{ -1, HEAD(signature[200]), 1, -EINVAL, "chip signature: byte 788" },
	{ -1, HEAD(binary_size), 0, -EINVAL, "orchestration binary of 0 bytes" },
	{ -1, HEAD(binary_size), 0xfffffff0, -EINVAL, "orchestration binary of 4294967280 bytes" },
	{ -1, HEAD(func_name_len), 64, -EINVAL, "func_name: length 64" },
	{ -1, HEAD(func_name_len), 7, -EINVAL, "func_name: byte 0 is 0x79 instead of zero" },
	{ -1, HEAD(func_name_len), 9, -EINVAL, "func_name: byte 8 of 9 is 0x00" },
	{ -1, HEAD(func_name[60]), 0x01000000, -EINVAL,
	  "func_name: byte 55 is 0x01 instead of zero" },
	{ -1, HEAD(config_name_len), 1, -EINVAL, "config_name: byte 0 of 1 is 0x00" },
	{ -1, HEAD(config_name_len), 0xffffffff, -EINVAL, "config_name: length 4294967295" },
	{ -1, HEAD(reserved), 1, -EINVAL, "reserved bytes of the callable: byte 0" },
	{ -1, HEAD(child_count), 1025, -EINVAL, "child_count 1025 is not 0 to 1024" },
	{ -1, HEAD(child_count), 0x80000000, -EINVAL, "child_count -2147483648" },
	{ -1, HEAD(child_count), 1, -EINVAL, "unused child_func_ids: byte 0 is 0x02" },
	{ -1, HEAD(child_count), 3, -EINVAL,
	  "child 2 (func_id 0): offset 0x0 is inside the orchestration" },
	{ -1, HEAD(child_offsets[9]), 64, -EINVAL, "unused child_offsets: byte 28" },
	{ -1, HEAD(child_func_ids), 1024, -EINVAL,
	  "child 0 (func_id 1024): func_id is not 0 to 1023" },
	{ -1, HEAD(child_func_ids), 0xffffffff, -EINVAL, "child 0 (func_id -1)" },
	{ -1, HEAD(child_func_ids), 2, -EEXIST, "same func_id 2" },
	{ -1, HEAD(child_offsets), 0xffffffc0, -EINVAL,
	  "child 0 (func_id 7): header at offset 0xffffffc0 is beyond" },
	{ 0, CORE(sig_count), 33, -EINVAL,
	  "child 0 (func_id 7): core signature: count 33 is not 0 to 32" },
	{ 0, CORE(sig_count), 2, -EINVAL, "core signature: byte 0 is 0x02" },
	{ 0, CORE(signature), 0x100, -EINVAL, "core signature: entry 0 has direction 256" },
	{ 1, CORE(binary_size), 0, -EINVAL, "child 1 (func_id 2): binary of 0x0 bytes" },
	{ 1, CORE(binary_size), 0x7fffffff, -EINVAL,
	  "child 1 (func_id 2): binary of 0x7fffffff bytes" },
	{ 0, CORE(resolved_addr), 0x10, -EINVAL, "resolved_addr 0x10 instead of zero" },
	{ 0, CORE(reserved[44]), 1, -EINVAL, "reserved bytes: byte 44" },
};

static void each_malformed_field_is_named(void **state)
{
	struct callable_bytes *out = malloc(sizeof(*out));
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		struct blob b = callable_full();
		unsigned char *base = b.bytes;
		struct error_record err;

		error_clear(&err);
		if (malformed[i].child >= 0)
			base = (unsigned char *)blob_child(&b, malformed[i].child);
		memcpy(base + malformed[i].offset, &malformed[i].value, 4);
		assert_int_equal(callable_bytes_read(b.bytes, b.size, out, &err),
				 malformed[i].code);
		if (!strstr(err.text, malformed[i].text))
			fail_msg("case %zu: '%s' lacks '%s'", i, err.text, malformed[i].text);
		free(b.bytes);
	}
	free(out);
}

static void expect_bytes_refusal(const struct blob *b, const char *text)
{
	struct callable_bytes *out = malloc(sizeof(*out));
	struct error_record err;

	error_clear(&err);
	assert_int_equal(callable_bytes_read(b->bytes, b->size, out, &err), -EINVAL);
	if (!strstr(err.text, text))
		fail_msg("'%s' lacks '%s'", err.text, text);
	free(out);
}

static void children_may_not_overlap_or_be_misaligned(void **state)
{
	struct blob b = callable_full();

	(void)state;
	blob_head(&b)->child_offsets[1] += 16;
	expect_bytes_refusal(&b, "child 1 (func_id 2): offset");
	blob_head(&b)->child_offsets[1] = blob_head(&b)->child_offsets[0];
	expect_bytes_refusal(&b, "overlaps child");
	free(b.bytes);
}

static void signatures_may_not_exceed_the_limits(void **state)
{
	struct blob b = callable_full();
	int i;

	(void)state;
	for (i = 0; i < 32; i++)
		blob_child(&b, 0)->signature[i] = i < 15;
	blob_child(&b, 0)->sig_count = 32;
	expect_bytes_refusal(&b, "15 tensors and 17 scalars exceed the supported 32 and 16");
	memset(blob_head(&b)->signature, 0, sizeof(blob_head(&b)->signature));
	blob_head(&b)->sig_count = 129;
	expect_bytes_refusal(&b, "0 tensors and 129 scalars exceed the supported 256 and 128");
	free(b.bytes);
}

static void largest_counts_are_accepted(void **state)
{
	struct blob tiny = { (unsigned char *)"x", 1 }, b = callable_new(tiny);
	struct callable_bytes *out = malloc(sizeof(*out));
	struct error_record err;
	int i;

	(void)state;
	for (i = 0; i < 1024; i++)
		callable_add(&b, 1023 - i, tiny);
	for (i = 0; i < 256; i++)
		blob_head(&b)->signature[i] = SIMPLER_HW_SIG_IN;
	blob_head(&b)->sig_count = 256;
	error_clear(&err);
	assert_int_equal(callable_bytes_read(b.bytes, b.size, out, &err), 0);
	assert_int_equal(out->tensor_count, 256);
	assert_int_equal(out->child_count, 1024);
	assert_int_equal(out->child[0].func_id, 0);
	assert_int_equal(out->child[0].index, 1023);
	free(out);
	free(b.bytes);
}

static void every_truncation_is_refused(void **state)
{
	struct callable_bytes *out = malloc(sizeof(*out));
	struct blob b = callable_full();
	struct error_record err;
	size_t size;

	(void)state;
	for (size = 0; size < b.size; size += size < 10000 && size > 64 ? 97 : 1 + size / 40) {
		struct blob cut = blob_copy(b.bytes, size);

		error_clear(&err);
		assert_int_equal(callable_bytes_read(cut.bytes, cut.size, out, &err), -EINVAL);
		free(cut.bytes);
	}
	free(out);
	free(b.bytes);
}

/* Each damaged header is refused, or read as something consistent. */
static void flipped_bits_of_the_headers_are_handled(void **state)
{
	struct callable_bytes *out = malloc(sizeof(*out));
	struct blob b = callable_full();
	unsigned int refused = 0;
	size_t bit;

	(void)state;
	for (bit = 0; bit < sizeof(struct simpler_hw_chip_callable) * 8; bit += 11) {
		blob_flip(&b, bit);
		if (callable_bytes_read(b.bytes, b.size, out, NULL))
			refused++;
		else
			assert_true(out->child[1].offset + out->child[1].bytes <= b.size);
		blob_flip(&b, bit);
	}
	assert_true(refused > 6000);
	free(out);
	free(b.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_malformed_field_is_named),
		cmocka_unit_test(children_may_not_overlap_or_be_misaligned),
		cmocka_unit_test(signatures_may_not_exceed_the_limits),
		cmocka_unit_test(largest_counts_are_accepted),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(flipped_bits_of_the_headers_are_handled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
