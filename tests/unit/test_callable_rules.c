/* SPDX-License-Identifier: MIT */
/* The two readers of callable bytes, worker/ and chip/, agree on what they accept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "callable_build.h"
#include "chip/callable_bytes.h"
#include "simpler/callable.h"

#define MUTATIONS 20000

static struct callable_bytes *parsed;	/* what the chip read last */

static bool chip_accepts(const struct blob *b)
{
	return !callable_bytes_read(b->bytes, b->size, parsed, NULL);
}

static int worker_reads(const struct blob *b, struct simpler_error *e)
{
	struct simpler_chip_callable *c;
	int rc = simpler_chip_callable_from_bytes(b->bytes, b->size, &c, e);

	if (!rc)
		simpler_chip_callable_put(c);
	return rc;
}

/* Where the last kernel ends that the chip has read; what follows it the chip ignores. */
static size_t parsed_end(void)
{
	size_t end = sizeof(parsed->head) + parsed->head.binary_size;
	uint32_t i;

	for (i = 0; i < parsed->child_count; i++)
		if (parsed->child[i].offset + parsed->child[i].bytes > end)
			end = parsed->child[i].offset + parsed->child[i].bytes;
	return end;
}

/* Returns whether both accepted. */
static bool agree(const struct blob *b, const char *what, unsigned long number)
{
	bool chip = chip_accepts(b);
	bool expected = chip && parsed_end() == b->size;
	struct simpler_error e = { .code = 0 };
	bool worker = !worker_reads(b, &e);

	if (worker != expected)
		fail_msg("%s %lu: the worker %s (%s), the chip %s", what, number,
			 worker ? "accepts" : "refuses", e.text, chip ? "accepts" : "refuses");
	return worker;
}

/* Kernels that are small, so that most bytes are headers. */
static struct blob small_callable(void)
{
	struct blob o = { (unsigned char *)"orchestration", 13 }, b = callable_new(o);

	callable_add(&b, 7, (struct blob){ (unsigned char *)"k", 1 });
	callable_add(&b, 1023, (struct blob){ (unsigned char *)"another kernel", 14 });
	callable_name(&b, "entry", "config");
	memcpy(blob_head(&b)->signature, (int32_t[]){ 1, 2, 0 }, 12);
	blob_head(&b)->sig_count = 3;
	memcpy(blob_child(&b, 0)->signature, (int32_t[]){ 0, 1 }, 8);
	blob_child(&b, 0)->sig_count = 2;
	return b;
}

static void every_byte_of_the_headers_is_judged_alike(void **state)
{
	static const unsigned char values[] = { 0, 1, 64, 127, 255 };
	struct blob b = small_callable();
	size_t i, v;

	(void)state;
	assert_true(agree(&b, "intact", 0));
	for (i = 0; i < b.size; i++)
		for (v = 0; v < sizeof(values); v++) {
			unsigned char old = b.bytes[i];

			b.bytes[i] = values[v];
			agree(&b, "byte", i);
			b.bytes[i] = old;
		}
	free(b.bytes);
}

/* Words that mean something, at places that mean something. */
static size_t field(uint64_t *random, const struct blob *b)
{
	static const size_t fields[] = {
		offsetof(struct simpler_hw_chip_callable, sig_count),
		offsetof(struct simpler_hw_chip_callable, binary_size),
		offsetof(struct simpler_hw_chip_callable, func_name_len),
		offsetof(struct simpler_hw_chip_callable, config_name_len),
		offsetof(struct simpler_hw_chip_callable, child_count),
		offsetof(struct simpler_hw_chip_callable, child_func_ids),
		offsetof(struct simpler_hw_chip_callable, child_func_ids[1]),
		offsetof(struct simpler_hw_chip_callable, child_offsets),
		offsetof(struct simpler_hw_chip_callable, child_offsets[1]),
		offsetof(struct simpler_hw_chip_callable, reserved),
	};
	const size_t known = sizeof(fields) / sizeof(fields[0]);
	size_t pick = next_random(random) % (known + 4);

	if (pick < known)
		return fields[pick];
	/* a word of one of the kernels' headers, or of the signature */
	if (pick < known + 3)
		return sizeof(struct simpler_hw_chip_callable) + 64 +
		       next_random(random) % ((b->size - sizeof(struct simpler_hw_chip_callable) - 64) / 4) * 4;
	return next_random(random) % 8 * 4;
}

static void damaged_words_are_judged_alike(void **state)
{
	static const uint32_t values[] = { 0, 1, 2, 3, 13, 14, 64, 128, 256, 320, 1023, 1024,
					   0x7fffffff, 0xffffffff };
	struct blob b = small_callable();
	unsigned int accepted = 0;
	uint64_t random = 7;
	unsigned long n;

	(void)state;
	for (n = 0; n < MUTATIONS; n++) {
		struct blob m = blob_copy(b.bytes, b.size);
		unsigned int k;

		for (k = 0; k <= n % 3; k++) {
			size_t at = field(&random, &m);

			memcpy(m.bytes + at, &values[next_random(&random) % 14], 4);
		}
		accepted += agree(&m, "mutation", n);
		free(m.bytes);
	}
	assert_in_range(accepted, 100, MUTATIONS - 100);
	free(b.bytes);
}

static void kernels_may_lie_in_any_order(void **state)
{
	struct blob b = small_callable();
	uint32_t first = blob_head(&b)->child_offsets[0];

	(void)state;
	blob_head(&b)->child_offsets[0] = blob_head(&b)->child_offsets[1];
	blob_head(&b)->child_offsets[1] = first;
	assert_true(agree(&b, "swapped", 0));
	free(b.bytes);
}

static void truncated_and_extended_bytes_are_judged_alike(void **state)
{
	struct blob b = small_callable();
	struct simpler_error e;
	size_t size;

	(void)state;
	for (size = 0; size < b.size; size += size < 9000 ? 61 : 1) {
		struct blob cut = blob_copy(b.bytes, size);

		assert_false(agree(&cut, "size", size));
		assert_false(chip_accepts(&cut));
		free(cut.bytes);
	}
	/* the one difference: a file has a length, an upload may be longer than what it holds */
	blob_append(&b, 64);
	assert_true(chip_accepts(&b));
	assert_int_equal(worker_reads(&b, &e), SIMPLER_ERR_CALLABLE_BYTES);
	assert_non_null(strstr(e.text, "bytes follow the last kernel"));
	free(b.bytes);
}

static void what_the_worker_builds_the_chip_accepts(void **state)
{
	int32_t s[256];
	struct simpler_core_callable *k;
	struct simpler_chip_child child = { .func_id = SIMPLER_FUNC_ID_MAX };
	struct simpler_chip_spec spec = {
		.signature = s, .func_name = "a_name_that_is_longer_than_sixty_three_bytes_and_is_"
		"cut_off_before_its_end", .binary = "o", .binary_bytes = 1,
		.children = &child, .child_count = 1,
	};
	struct simpler_chip_callable *c;
	struct blob b;
	int i;

	(void)state;
	for (i = 0; i < 256; i++)
		s[i] = 1 + i % 3;
	assert_int_equal(simpler_core_callable_build(s, 32, "k", 1, &k, NULL), 0);
	child.callable = k;
	for (spec.sig_count = 0; spec.sig_count <= 256; spec.sig_count += 64) {
		assert_int_equal(simpler_chip_callable_build(&spec, &c, NULL), 0);
		b.bytes = (unsigned char *)simpler_chip_callable_bytes(c, &b.size);
		assert_true(agree(&b, "built with entries", spec.sig_count));
		simpler_chip_callable_put(c);
	}
	simpler_core_callable_put(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_of_the_headers_is_judged_alike),
		cmocka_unit_test(damaged_words_are_judged_alike),
		cmocka_unit_test(kernels_may_lie_in_any_order),
		cmocka_unit_test(truncated_and_extended_bytes_are_judged_alike),
		cmocka_unit_test(what_the_worker_builds_the_chip_accepts),
	};
	int rc;

	parsed = malloc(sizeof(*parsed));
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	free(parsed);
	return rc;
}
