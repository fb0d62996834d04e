// SPDX-License-Identifier: MIT
/*
 * Tensor map when memory runs out.  The sources are compiled into this file
 * with an allocator that fails once, at a chosen call; each round lets a later
 * one fail until a whole round passes without.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int calls_left;			/* until an allocation fails */

static int must_fail(void)
{
	return calls_left-- == 0;
}

#define malloc(bytes)		(must_fail() ? NULL : (malloc)(bytes))
#define calloc(n, bytes)	(must_fail() ? NULL : (calloc)(n, bytes))
#define realloc(p, bytes)	(must_fail() ? NULL : (realloc)(p, bytes))
#define aligned_alloc(a, bytes)	(must_fail() ? NULL : (aligned_alloc)(a, bytes))
#include "chip/tmap.c"
#include "chip/tmap_class.c"
#include "chip/tmap_index.c"
#undef malloc
#undef calloc
#undef realloc
#undef aligned_alloc

#define BASE 0x7f5500000000ull
#define ENTRIES 1600

struct access {
	struct tmap_entry entry;
	struct pto_tensor tensor;
	bool in;
	bool seen;
};

static struct access accesses[ENTRIES];

/* A tile of a matrix of 64 columns. */
static struct pto_tensor tile(uint64_t addr, uint32_t rows, uint32_t y, uint32_t x, uint32_t h,
			      uint32_t w)
{
	return (struct pto_tensor) {
		.addr = addr, .size = rows * 256ull, .start_offset = y * 64ull + x, .ndims = 2,
		.shapes = { h, w }, .strides = { 64, 1 }, .is_contiguous = w == 64,
		.extent_elem = (h - 1) * 64ull + w,
	};
}

/*
 * Tiles of shapes of all kinds in one matrix, then of two others, which the
 * last ones join, and entries of hundreds of further buffers.
 */
static struct pto_tensor tensor_of(uint32_t i)
{
	if (i < 600)
		return tile(BASE, 256, i % 250, i % 40, 1 + i % 5, 1 + i % 23);
	if (i < 900)
		return tile(BASE + (i % 2 << 20), 256, i % 128, i / 2 % 8 * 8, 1, 8);
	if (i < 910)
		return tile(BASE + 40 * 256, 4096, i, 0, 2, 64);
	return tile(BASE + (uint64_t)i * (1 << 22), 16, 0, 0, 16, 64);
}

static bool add(struct tmap *m, struct access *a)
{
	struct tmap_buffer *b = tmap_buffer(m, &a->tensor);
	int err;

	if (!b)
		return false;
	err = tmap_insert(m, b, &a->entry);
	assert_true(err == 0 || err == -ENOMEM);
	return !err;
}

/* What is in the map is found, by the whole of the first two matrices and by itself. */
static void check(struct tmap *m, uint32_t first, uint32_t end)
{
	struct tmap_iter it;
	struct tmap_entry *e;
	uint32_t i;

	for (i = first; i < end; i++) {
		struct pto_tensor *t = &accesses[i].tensor;
		struct tmap_buffer *b = tmap_buffer(m, t);
		bool found = false;

		if (!b)
			continue;	/* the one failure of the round */
		for (e = tmap_first(&it, m, b, t, TMAP_ANY); e; e = tmap_next(&it)) {
			assert_true(((struct access *)e->owner)->in);
			found |= e == &accesses[i].entry;
		}
		assert_int_equal(found, accesses[i].in);
	}
}

/* Returns whether no allocation has failed. */
static bool round_with_failure_at(int call)
{
	uint32_t i, live = 0;
	struct tmap m;

	calls_left = call;
	if (tmap_init(&m, ENTRIES)) {
		tmap_fini(&m);
		return false;
	}
	memset(accesses, 0, sizeof(accesses));
	for (i = 0; i < ENTRIES; i++) {
		struct access *a = &accesses[i];

		a->tensor = tensor_of(i);
		a->entry.tensor = &a->tensor;
		a->entry.owner = a;
		a->entry.access = i % 3 ? TMAP_WRITE : TMAP_READ;
		a->in = add(&m, a);
		if (!a->in)
			check(&m, i < 20 ? 0 : i - 20, i + 1);
		if (!a->in)
			a->in = add(&m, a);	/* memory is there again */
		assert_true(a->in);
		live += a->in;
		assert_int_equal(tmap_live(&m), live);
	}
	check(&m, 0, ENTRIES);
	for (i = 0; i < ENTRIES; i++)
		tmap_remove(&m, &accesses[i].entry);
	assert_int_equal(tmap_live(&m), 0);
	tmap_fini(&m);
	return calls_left >= 0;
}

static void failed_allocation_loses_nothing(void **state)
{
	int call = 0;

	(void)state;
	while (!round_with_failure_at(call))
		call++;
	assert_true(call > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failed_allocation_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
