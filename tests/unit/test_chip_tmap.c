// SPDX-License-Identifier: MIT
/*
 * Tensor map.  The random tests compare its answers with the sets of bytes
 * that the views touch, on memory small enough to have them as bitmaps.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chip/tmap.h"

#define BASE 0x7f5500000000ull

static struct tmap map;

static int setup(void **state)
{
	(void)state;
	return tmap_init(&map, 1u << 20);
}

static int teardown(void **state)
{
	(void)state;
	tmap_fini(&map);
	return 0;
}

/* ---- tensors -------------------------------------------------------------- */

static uint32_t elem_bytes(uint8_t dtype)
{
	static const uint8_t bytes[PTO_DTYPE_COUNT] = {
		4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1
	};

	return bytes[dtype];
}

/* Fills in what follows from shape and strides. */
static struct pto_tensor finish(struct pto_tensor t)
{
	uint64_t packed = 1;
	uint32_t i;

	t.extent_elem = 1;
	t.is_contiguous = true;
	for (i = t.ndims; i--; packed *= t.shapes[i]) {
		if (!t.shapes[i])
			t.extent_elem = 0;
		if (t.extent_elem)
			t.extent_elem += (uint64_t)(t.shapes[i] - 1) * t.strides[i];
		t.is_contiguous &= t.shapes[i] == 1 || t.strides[i] == packed;
	}
	for (i = 0; i < t.ndims; i++)
		if (!t.shapes[i])
			t.extent_elem = 0;
	return t;
}

static struct pto_tensor make(uint64_t addr, uint8_t dtype, uint32_t ndims, const uint32_t *shape)
{
	struct pto_tensor t = {
		.addr = addr, .owner_task_id = PTO_NO_TASK, .ndims = ndims, .dtype = dtype
	};
	uint64_t n = 1;
	uint32_t i;

	for (i = ndims; i--; n *= shape[i]) {
		t.shapes[i] = shape[i];
		t.strides[i] = n;
	}
	t.size = n * elem_bytes(dtype);
	return finish(t);
}

static struct pto_tensor make_2d(uint64_t addr, uint32_t rows, uint32_t cols)
{
	return make(addr, PTO_FLOAT32, 2, (uint32_t[]){ rows, cols });
}

/* Elements start, start + step, … of one dimension. */
static struct pto_tensor slice(struct pto_tensor t, uint32_t dim, uint32_t start, uint32_t n,
			       uint32_t step)
{
	t.start_offset += (uint64_t)start * t.strides[dim];
	t.shapes[dim] = n;
	t.strides[dim] *= step;
	return finish(t);
}

static struct pto_tensor transpose(struct pto_tensor t, uint32_t a, uint32_t b)
{
	uint32_t n = t.shapes[a], s = t.strides[a];

	t.shapes[a] = t.shapes[b];
	t.strides[a] = t.strides[b];
	t.shapes[b] = n;
	t.strides[b] = s;
	return finish(t);
}

static struct pto_tensor rows_of(struct pto_tensor t, uint32_t first, uint32_t end)
{
	return slice(t, 0, first, end - first, 1);
}

static struct pto_tensor tile_of(struct pto_tensor t, uint32_t y, uint32_t x, uint32_t h,
				 uint32_t w)
{
	return slice(slice(t, 0, y, h, 1), 1, x, w, 1);
}

/* ---- accesses ------------------------------------------------------------- */

struct access {
	struct tmap_entry entry;
	struct pto_tensor tensor;
	bool in;		/* the map should hold it */
	bool seen;
	enum tmap_kind kind;
};

static void insert(struct access *a, struct pto_tensor t, uint8_t access)
{
	memset(a, 0, sizeof(*a));
	a->tensor = t;
	a->entry.tensor = &a->tensor;
	a->entry.owner = a;
	a->entry.access = access;
	assert_int_equal(tmap_insert(&map, tmap_buffer(&map, &t), &a->entry), 0);
	a->in = true;
}

static void drop(struct access *a)
{
	tmap_remove(&map, &a->entry);
	a->in = false;
}

/* Marks the accesses that a view overlaps; returns their number. */
static uint32_t look(struct pto_tensor t, uint32_t mask)
{
	struct tmap_iter it;
	struct tmap_entry *e;
	uint32_t n = 0;

	for (e = tmap_first(&it, &map, tmap_buffer(&map, &t), &t, mask); e; e = tmap_next(&it)) {
		struct access *a = e->owner;

		assert_ptr_equal(&a->entry, e);
		assert_true(a->in);
		assert_false(a->seen);
		a->seen = true;
		a->kind = it.kind;
		n++;
	}
	return n;
}

/* How a view overlaps the only access in the map; 0 = not at all. */
static uint32_t relation(struct pto_tensor entry, struct pto_tensor view)
{
	struct access a;
	uint32_t n;

	insert(&a, entry, TMAP_WRITE);
	n = look(view, TMAP_ANY);
	drop(&a);
	assert_int_equal(n, a.seen);
	return n ? a.kind : 0;
}

/* ---- conformance ---------------------------------------------------------- */

static void chip_case_11_disjoint_rows_no_dependency(void **state)
{
	struct pto_tensor t = make_2d(BASE, 256, 1);

	(void)state;
	assert_int_equal(relation(rows_of(t, 0, 128), rows_of(t, 128, 256)), 0);
}

static void chip_case_12_partial_overlap_is_not_covered(void **state)
{
	struct pto_tensor t = make_2d(BASE, 256, 1);

	(void)state;
	assert_int_equal(relation(rows_of(t, 0, 192), rows_of(t, 64, 256)), TMAP_OTHER);
}

static void chip_case_13_covering_writer_replaces_the_entry(void **state)
{
	struct pto_tensor t = make_2d(BASE, 256, 1), all = rows_of(t, 0, 256);
	struct access producer, writer;
	struct tmap_iter it;
	struct tmap_entry *e;

	(void)state;
	insert(&producer, rows_of(t, 64, 192), TMAP_WRITE);
	e = tmap_first(&it, &map, tmap_buffer(&map, &all), &all, TMAP_WRITE);
	assert_ptr_equal(e, &producer.entry);
	assert_int_equal(it.kind, TMAP_COVERED);
	drop(&producer);
	assert_null(tmap_next(&it));
	insert(&writer, all, TMAP_WRITE);
	assert_int_equal(look(rows_of(t, 100, 101), TMAP_WRITE), 1);
	assert_true(writer.seen);
}

static void chip_case_14_all_20_producers_of_a_region_are_found(void **state)
{
	struct pto_tensor t = make_2d(BASE, 16, 16);
	struct access producers[20];
	int i;

	(void)state;
	for (i = 0; i < 20; i++)
		insert(&producers[i], t, TMAP_WRITE);
	assert_int_equal(look(t, TMAP_WRITE), 20);
}

static void chip_case_15_newer_version_is_other(void **state)
{
	struct pto_tensor old = make_2d(BASE, 4, 4), new = old;

	(void)state;
	new.version = 1;
	assert_int_equal(relation(old, new), TMAP_OTHER);
	assert_int_equal(relation(new, old), TMAP_COVERED);
	old.version = 1000;
	new.version = 1001;
	assert_int_equal(relation(old, new), TMAP_OTHER);
	new.version = 1000;
	assert_int_equal(relation(old, new), TMAP_COVERED);
}

static void chip_case_16_removing_one_entry_leaves_those_of_other_owners(void **state)
{
	struct pto_tensor t = make_2d(BASE, 4, 4);
	struct access ring0, ring1;

	(void)state;
	insert(&ring0, t, TMAP_WRITE);
	insert(&ring1, t, TMAP_WRITE);
	drop(&ring0);
	assert_int_equal(look(t, TMAP_ANY), 1);
	assert_true(ring1.seen);
}

static void chip_case_17_readers_are_found_only_when_asked_for(void **state)
{
	struct pto_tensor t = make_2d(BASE, 4, 4);
	struct access reader;

	(void)state;
	insert(&reader, t, TMAP_READ);
	assert_int_equal(look(t, TMAP_WRITE), 0);
	assert_int_equal(look(t, TMAP_ANY), 1);
}

static void view_that_contains_the_entry_covers_it(void **state)
{
	struct pto_tensor t = make_2d(BASE, 512, 1), m = make_2d(BASE, 32, 32);

	(void)state;
	assert_int_equal(relation(rows_of(t, 0, 256), t), TMAP_COVERED);
	assert_int_equal(relation(t, rows_of(t, 0, 256)), TMAP_OTHER);
	assert_int_equal(relation(t, t), TMAP_COVERED);
	assert_int_equal(relation(tile_of(m, 3, 4, 5, 6), tile_of(m, 3, 3, 6, 7)), TMAP_COVERED);
	assert_int_equal(relation(tile_of(m, 3, 3, 6, 7), tile_of(m, 3, 4, 5, 6)), TMAP_OTHER);
	assert_int_equal(relation(tile_of(m, 5, 3, 1, 7), tile_of(m, 3, 3, 6, 7)), TMAP_COVERED);
}

/* ---- geometry ------------------------------------------------------------- */

static void tiles_in_the_same_rows_are_apart(void **state)
{
	struct pto_tensor m = make_2d(BASE, 64, 64);

	(void)state;
	assert_int_equal(relation(tile_of(m, 0, 0, 8, 8), tile_of(m, 0, 8, 8, 8)), 0);
	assert_int_equal(relation(tile_of(m, 0, 0, 8, 8), tile_of(m, 7, 7, 8, 8)), TMAP_OTHER);
}

static void tile_and_row_are_compared_exactly(void **state)
{
	struct pto_tensor m = make_2d(BASE, 64, 64);
	struct pto_tensor row_end = tile_of(m, 3, 8, 1, 56);

	(void)state;
	assert_int_equal(relation(tile_of(m, 0, 0, 8, 8), row_end), 0);
	assert_int_equal(relation(tile_of(m, 0, 0, 8, 9), row_end), TMAP_OTHER);
}

static void interleaved_columns_are_apart(void **state)
{
	struct pto_tensor m = make_2d(BASE, 16, 16);
	struct pto_tensor even = slice(m, 1, 0, 8, 2), odd = slice(m, 1, 1, 8, 2);

	(void)state;
	assert_int_equal(relation(even, odd), 0);
	assert_int_equal(relation(even, transpose(even, 0, 1)), TMAP_COVERED);
	assert_int_equal(relation(even, m), TMAP_COVERED);
}

static void element_types_of_different_sizes_compare_in_bytes(void **state)
{
	struct pto_tensor words = make(BASE, PTO_FLOAT32, 1, (uint32_t[]){ 16 });
	struct pto_tensor bytes = make(BASE, PTO_INT8, 1, (uint32_t[]){ 64 });

	(void)state;
	words = slice(words, 0, 0, 4, 1);
	assert_int_equal(relation(slice(bytes, 0, 16, 16, 1), words), 0);
	assert_int_equal(relation(slice(bytes, 0, 15, 16, 1), words), TMAP_OTHER);
	assert_int_equal(relation(slice(bytes, 0, 15, 1, 1), words), TMAP_COVERED);
}

static void view_without_elements_overlaps_nothing(void **state)
{
	struct pto_tensor t = make_2d(BASE, 8, 8), empty = tile_of(t, 2, 2, 0, 4);
	struct access a, b;

	(void)state;
	insert(&a, t, TMAP_WRITE);
	assert_int_equal(look(empty, TMAP_ANY), 0);
	insert(&b, empty, TMAP_WRITE);
	assert_int_equal(tmap_live(&map), 1);
	assert_int_equal(look(t, TMAP_ANY), 1);
	drop(&b);
	assert_int_equal(tmap_live(&map), 1);
}

/* ---- life of entries and buffers ------------------------------------------ */

static void removing_twice_is_harmless(void **state)
{
	struct pto_tensor t = make_2d(BASE, 64, 64);
	struct access many[40];
	int i;

	(void)state;
	for (i = 0; i < 40; i++)
		insert(&many[i], t, i & 1 ? TMAP_READ : TMAP_WRITE);
	for (i = 0; i < 40; i++) {
		drop(&many[i]);
		drop(&many[i]);
		assert_int_equal(tmap_live(&map), 39 - i);
	}
}

static void insert_beyond_the_limit_is_refused(void **state)
{
	struct pto_tensor t = make_2d(BASE, 8, 8);
	struct access a[3];
	struct tmap_buffer *b;

	(void)state;
	map.limit = 2;
	insert(&a[0], t, TMAP_WRITE);
	insert(&a[1], t, TMAP_READ);
	a[2] = a[1];
	tmap_entry_init(&a[2].entry);
	b = tmap_buffer(&map, &t);
	assert_int_equal(tmap_insert(&map, b, &a[2].entry), -ENOSPC);
	tmap_remove(&map, &a[2].entry);
	assert_int_equal(tmap_live(&map), 2);
	drop(&a[0]);
	assert_int_equal(tmap_insert(&map, b, &a[2].entry), 0);
}

static void buffers_vanish_after_their_last_entry(void **state)
{
	struct access a;
	uint64_t i;

	(void)state;
	for (i = 0; i < 300000; i++) {
		insert(&a, make_2d(BASE + i * 4096, 32, 32), TMAP_WRITE);
		drop(&a);
		assert_true(map.buffer_count < 10000);
	}
}

/* A ring heap gives out ranges that overlap those of earlier rounds. */
static void reused_memory_does_not_join_dead_buffers(void **state)
{
	struct access window[16] = { 0 };
	uint64_t at = 0, i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		uint32_t rows = 1 + i * 7 % 61;
		struct access *a = &window[i % 16];

		if (at + rows * 64 > 1 << 17)
			at = 0;
		drop(a);
		insert(a, make_2d(BASE + at, rows, 16), TMAP_WRITE);
		assert_int_equal(a->entry.buffer->hi - a->entry.buffer->lo, rows * 64);
		at += rows * 64;
	}
}

static void reset_forgets_everything(void **state)
{
	struct pto_tensor t = make_2d(BASE, 1024, 64);
	struct access *many = calloc(2000, sizeof(*many));
	int round, i;

	(void)state;
	assert_non_null(many);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 1000; i++)
			insert(&many[i], rows_of(t, i, i + 1), TMAP_WRITE);
		for (i = 1000; i < 2000; i++)
			insert(&many[i], make_2d(BASE + (uint64_t)i * 1000000, 8, 8), TMAP_READ);
		tmap_reset(&map);
		assert_int_equal(tmap_live(&map), 0);
		assert_int_equal(map.buffer_count, 0);
		assert_int_equal(map.slot_count, 0);
		assert_int_equal(look(t, TMAP_ANY), 0);
	}
	free(many);
}

static void index_goes_with_its_last_entry_even_during_a_walk(void **state)
{
	struct pto_tensor t = make_2d(BASE, 64, 64);
	struct access many[100];
	struct tmap_iter it;
	struct tmap_buffer *b = tmap_buffer(&map, &t);
	struct tmap_entry *e;
	int i, n = 0;

	(void)state;
	for (i = 0; i < 100; i++)
		insert(&many[i], tile_of(t, i % 60, i % 50, 4, 4), i & 1 ? TMAP_READ : TMAP_WRITE);
	for (e = tmap_first(&it, &map, b, &t, TMAP_ANY); e; e = tmap_next(&it)) {
		tmap_remove(&map, e);
		n++;
	}
	assert_int_equal(n, 100);
	assert_int_equal(tmap_live(&map), 0);
	assert_int_equal(look(t, TMAP_ANY), 0);
}

/* ---- overlapping buffers -------------------------------------------------- */

static void overlapping_buffers_of_different_addresses_are_found(void **state)
{
	struct pto_tensor big = make_2d(BASE, 64, 16), inner = make_2d(BASE + 640, 2, 16);
	struct access a, b, c;

	(void)state;
	insert(&a, big, TMAP_WRITE);
	assert_int_equal(look(inner, TMAP_ANY), 1);
	insert(&b, inner, TMAP_WRITE);
	a.seen = false;
	assert_int_equal(look(rows_of(big, 0, 10), TMAP_ANY), 1);
	assert_true(a.seen);
	a.seen = false;
	assert_int_equal(look(rows_of(big, 10, 11), TMAP_ANY), 2);
	drop(&a);
	drop(&b);
	insert(&c, inner, TMAP_WRITE);
	assert_int_equal(look(rows_of(big, 11, 12), TMAP_ANY), 1);
	assert_int_equal(c.kind, TMAP_OTHER);
}

static void buffer_that_spans_others_joins_them(void **state)
{
	struct access parts[40], extra;
	int i;

	(void)state;
	for (i = 0; i < 40; i++)
		insert(&parts[i], make_2d(BASE + i * 256, 4, 16), i % 3 ? TMAP_WRITE : TMAP_READ);
	insert(&extra, rows_of(make_2d(BASE + 256, 8, 16), 0, 1), TMAP_READ);
	assert_int_equal(look(make_2d(BASE + 128, 100, 16), TMAP_ANY), 27);
	for (i = 0; i < 40; i++)
		parts[i].seen = false;
	extra.seen = false;
	assert_int_equal(look(make_2d(BASE + 5 * 256, 4, 16), TMAP_ANY), 1);
	assert_true(parts[5].seen);
	for (i = 0; i < 40; i++)
		drop(&parts[i]);
	drop(&extra);
	assert_int_equal(tmap_live(&map), 0);
}

static void stale_buffer_pointer_is_looked_up_again(void **state)
{
	struct pto_tensor first = make_2d(BASE, 4, 16), second = make_2d(BASE + 128, 4, 16);
	struct tmap_buffer *hint = tmap_buffer(&map, &first);
	struct access a = { .tensor = first }, b;
	struct tmap_iter it;

	(void)state;
	insert(&b, second, TMAP_WRITE);	/* retires the unused first buffer */
	assert_ptr_equal(tmap_first(&it, &map, hint, &first, TMAP_ANY), &b.entry);
	assert_null(tmap_next(&it));
	a.entry = (struct tmap_entry){ .tensor = &a.tensor, .owner = &a, .access = TMAP_WRITE };
	assert_int_equal(tmap_insert(&map, hint, &a.entry), 0);
	a.in = true;
	assert_int_equal(look(second, TMAP_ANY), 2);
}

/* The second buffer is retired by the ones made after it; both of those overlap its range. */
static void stale_buffer_pointer_finds_entries_of_several_buffers(void **state)
{
	struct pto_tensor wide = make_2d(BASE, 16, 16);
	struct tmap_buffer *hint = tmap_buffer(&map, &wide);
	struct access a, b, c;
	struct tmap_iter it;
	struct tmap_entry *e;
	int n = 0;

	(void)state;
	insert(&a, make_2d(BASE + 64, 2, 16), TMAP_WRITE);
	insert(&b, make_2d(BASE + 512, 2, 16), TMAP_READ);
	insert(&c, make_2d(BASE + 4096, 2, 16), TMAP_READ);
	for (e = tmap_first(&it, &map, hint, &wide, TMAP_ANY); e; e = tmap_next(&it), n++)
		((struct access *)e->owner)->seen = true;
	assert_int_equal(n, 2);
	assert_true(a.seen && b.seen);
}

/* Two buffers with many tiles each, then one tensor that spans both. */
static void indexes_of_joined_buffers_are_joined(void **state)
{
	struct pto_tensor low = make_2d(BASE, 32, 32), high = make_2d(BASE + 8192, 32, 32);
	struct access tiles[2][64];
	int i;

	(void)state;
	for (i = 0; i < 64; i++) {
		insert(&tiles[0][i], tile_of(low, i / 8 * 4, i % 8 * 4, 4, 4), TMAP_WRITE);
		insert(&tiles[1][i], tile_of(high, i / 8 * 4, i % 8 * 4, 4, 4), TMAP_WRITE);
	}
	assert_int_equal(look(make_2d(BASE + 2048, 64, 32), TMAP_ANY), 64);
	for (i = 0; i < 64; i++) {
		assert_int_equal(tiles[0][i].seen, i >= 32);
		assert_int_equal(tiles[1][i].seen, i < 32);
		tiles[0][i].seen = tiles[1][i].seen = false;
	}
	for (i = 0; i < 64; i++) {
		assert_int_equal(look(tiles[0][i].tensor, TMAP_ANY), 1);
		assert_int_equal(look(tiles[1][i].tensor, TMAP_ANY), 1);
		drop(&tiles[0][i]);
		drop(&tiles[1][i]);
	}
	assert_int_equal(tmap_live(&map), 0);
}

static void many_addresses_in_one_buffer_stay_bounded(void **state)
{
	struct access all;
	uint64_t i;

	(void)state;
	insert(&all, make_2d(BASE, 1 << 14, 16), TMAP_WRITE);
	for (i = 0; i < 1 << 14; i++) {
		all.seen = false;
		assert_int_equal(look(make_2d(BASE + i * 64, 1, 16), TMAP_ANY), 1);
		assert_true(map.slot_count < 200);
	}
}

/* ---- random sequences against bitmaps ------------------------------------- */

#define SPAN 8192			/* bytes of memory the random views lie in */
#define MAX_LIVE 600

struct bytes {
	uint64_t bits[SPAN / 64];
};

struct model {
	struct access access;
	struct bytes bytes;
};

static uint64_t random_state;

static uint32_t rnd(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 20) % n;
}

static void bytes_of(const struct pto_tensor *t, struct bytes *b)
{
	uint32_t i[PTO_MAX_DIMS] = { 0 }, d, k, size = elem_bytes(t->dtype);

	memset(b, 0, sizeof(*b));
	if (!t->extent_elem)
		return;
	for (;;) {
		uint64_t at = t->start_offset;

		for (d = 0; d < t->ndims; d++)
			at += (uint64_t)i[d] * t->strides[d];
		at = at * size + (t->addr - BASE);
		for (k = 0; k < size; k++, at++) {
			assert_true(at < SPAN);
			b->bits[at / 64] |= 1ull << at % 64;
		}
		for (d = t->ndims; d && ++i[d - 1] == t->shapes[d - 1]; d--)
			i[d - 1] = 0;
		if (!d)
			return;
	}
}

static bool overlap(const struct bytes *a, const struct bytes *b)
{
	int i;

	for (i = 0; i < SPAN / 64; i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

static bool contains(const struct bytes *a, const struct bytes *b)
{
	int i;

	for (i = 0; i < SPAN / 64; i++)
		if (b->bits[i] & ~a->bits[i])
			return false;
	return true;
}

/* Is the element-wise containment test of the specification applicable and true? */
static bool must_cover(const struct pto_tensor *view, const struct pto_tensor *entry)
{
	uint64_t a = view->start_offset, b = entry->start_offset;
	uint32_t d;

	if (view->addr != entry->addr || view->dtype != entry->dtype ||
	    view->ndims != entry->ndims || view->version > entry->version ||
	    memcmp(view->strides, entry->strides, sizeof(view->strides)))
		return false;
	for (d = 0; d < view->ndims; d++) {
		uint64_t ca = a / view->strides[d], cb = b / view->strides[d];

		if (d && view->strides[d - 1] % view->strides[d])
			return false;
		if (d && ca + view->shapes[d] > view->strides[d - 1] / view->strides[d])
			return false;
		a %= view->strides[d];
		b %= view->strides[d];
		if (cb < ca || cb + entry->shapes[d] > ca + view->shapes[d])
			return false;
	}
	return true;
}

enum family { ROWS, TILES, RANGES, ANYTHING };

/* A packed parent tensor at one of a few addresses; all lie within SPAN. */
static struct pto_tensor random_parent(enum family family)
{
	static const uint8_t dtypes[] = { PTO_FLOAT32, PTO_FLOAT16, PTO_INT8, PTO_INT64 };
	uint32_t shape[PTO_MAX_DIMS], ndims = 1 + rnd(PTO_MAX_DIMS), i;
	uint64_t n = 1, addr = BASE;
	uint8_t dtype = PTO_FLOAT32;

	if (family == RANGES)
		return make(addr, dtype, 1, (uint32_t[]){ 1024 });
	if (family != ANYTHING)
		return make_2d(addr, 32, 36);
	dtype = dtypes[rnd(4)];
	for (i = 0; i < ndims; i++) {
		shape[i] = 1 + rnd(9);
		while (n * shape[i] > 400)
			shape[i] = (shape[i] + 1) / 2;
		n *= shape[i];
	}
	if (rnd(3) == 0)
		addr += rnd(4000);
	return make(addr, dtype, ndims, shape);
}

static struct pto_tensor random_reshape(struct pto_tensor t)
{
	uint32_t n = t.extent_elem, d, i;

	if (!t.is_contiguous || !n)
		return t;
	for (d = 2; d < 7; d++) {
		if (n % d)
			continue;
		t.ndims = 2;
		t.shapes[0] = n / d;
		t.shapes[1] = d;
		t.strides[0] = d;
		t.strides[1] = 1;
		for (i = 2; i < PTO_MAX_DIMS; i++)
			t.shapes[i] = t.strides[i] = 0;
		return finish(t);
	}
	return t;
}

static struct pto_tensor random_view(enum family family)
{
	struct pto_tensor t = random_parent(family);
	uint32_t steps = rnd(5), y = rnd(32), x = rnd(20), few = !rnd(5);
	uint32_t h = rnd(12), w = 1 + rnd(16);

	switch (family) {
	case ROWS:
		return rows_of(t, y, y + 1 + rnd(few ? 32 - y : 1));
	case TILES:
		return few ? tile_of(t, x, y % 20, h, w) : tile_of(t, y / 4 * 4, x % 6 * 6, 4, 6);
	case RANGES:
		return slice(t, 0, y * 28 + x, 1 + (few ? h * 8 : w), 1);
	default:
		break;
	}
	while (steps--) {
		uint32_t d = rnd(t.ndims), n = t.shapes[d], step = 1 + rnd(3);

		if (rnd(4) == 0) {
			t = transpose(t, d, (d + step) % t.ndims);
		} else if (rnd(6) == 0) {
			t = random_reshape(t);
		} else if (n) {
			uint32_t start = rnd(n), room = (n - start + step - 1) / step;

			t = slice(t, d, start, rnd(20) ? 1 + rnd(room) : 0, step);
		}
	}
	t.version = rnd(5) ? 0 : (int32_t)rnd(3);
	return t;
}

static struct model models[MAX_LIVE];

/* One lookup; compares with the bitmaps.  Removes covered entries if @replace. */
static void check_lookup(struct pto_tensor t, uint32_t mask, bool replace)
{
	struct bytes bytes;
	struct tmap_iter it;
	struct tmap_entry *e;
	int i;

	bytes_of(&t, &bytes);
	for (i = 0; i < MAX_LIVE; i++)
		models[i].access.seen = false;
	for (e = tmap_first(&it, &map, tmap_buffer(&map, &t), &t, mask); e; e = tmap_next(&it)) {
		struct access *a = e->owner;
		struct model *m = (struct model *)a;

		assert_true(a->in);
		assert_false(a->seen);
		assert_true(e->access & mask);
		a->seen = true;
		assert_true(overlap(&bytes, &m->bytes));
		if (it.kind == TMAP_COVERED)
			assert_true(contains(&bytes, &m->bytes) && t.version <= a->tensor.version);
		else
			assert_false(must_cover(&t, &a->tensor));
		if (replace && it.kind == TMAP_COVERED)
			tmap_remove(&map, e);
	}
	for (i = 0; i < MAX_LIVE; i++) {
		struct access *a = &models[i].access;

		if (!a->in)
			continue;
		if (!a->seen && a->entry.access & mask)
			assert_false(overlap(&bytes, &models[i].bytes));
		a->in = !!a->entry.buffer || !a->tensor.extent_elem;
	}
}

static void run_sequence(uint64_t seed, enum family family, uint32_t live_limit, int steps)
{
	random_state = seed * 0x9E3779B97F4A7C15ull + 1;
	memset(models, 0, sizeof(models));
	while (steps--) {
		struct model *m = &models[rnd(live_limit)];
		uint8_t access = rnd(2) ? TMAP_READ : TMAP_WRITE;
		struct pto_tensor t = random_view(family == ANYTHING && !rnd(3) ? rnd(4) : family);

		if (m->access.in)
			drop(&m->access);
		check_lookup(t, access == TMAP_READ ? TMAP_WRITE : TMAP_ANY, rnd(4) == 0);
		insert(&m->access, t, access);
		bytes_of(&t, &m->bytes);
	}
	tmap_reset(&map);
}

static void random_rows_agree_with_bitmaps(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++)
		run_sequence(seed, ROWS, 10 + seed * 6, 300);
}

static void random_tiles_agree_with_bitmaps(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++)
		run_sequence(seed, TILES, 10 + seed * 6, 300);
}

static void random_ranges_agree_with_bitmaps(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++)
		run_sequence(seed, RANGES, 10 + seed * 6, 300);
}

static void random_views_agree_with_bitmaps(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 600; seed++)
		run_sequence(seed, ANYTHING, 4 + seed % 200 * 2, 120);
	run_sequence(1, ANYTHING, MAX_LIVE, 5000);
}

/* ---- size ----------------------------------------------------------------- */

/* Every region is found, and only it, whatever the tiling of the buffer. */
static void check_tiling(struct pto_tensor t, uint32_t h, uint32_t w)
{
	uint32_t ny = t.shapes[0] / h, nx = t.shapes[1] / w, i;
	struct access *tiles = calloc(ny * nx, sizeof(*tiles));

	assert_non_null(tiles);
	for (i = 0; i < ny * nx; i++)
		insert(&tiles[i], tile_of(t, i / nx * h, i % nx * w, h, w), TMAP_WRITE);
	for (i = 0; i < ny * nx; i += 7) {
		assert_int_equal(look(tiles[i].tensor, TMAP_ANY), 1);
		assert_int_equal(tiles[i].kind, TMAP_COVERED);
		tiles[i].seen = false;
	}
	assert_int_equal(look(tile_of(t, h / 2, nx > 1 ? w / 2 : 0, h, w), TMAP_ANY),
			 (h > 1 ? 2 : 1) * (nx > 1 ? 2 : 1));
	for (i = 0; i < ny * nx; i++)
		tiles[i].seen = false;
	assert_int_equal(look(t, TMAP_ANY), ny * nx);
	for (i = 0; i < ny * nx; i++)
		drop(&tiles[i]);
	free(tiles);
}

static void thousands_of_regions_of_one_buffer_are_kept_apart(void **state)
{
	(void)state;
	check_tiling(make_2d(BASE, 4096, 64), 1, 64);
	check_tiling(make_2d(BASE, 4096, 50), 1, 50);
	check_tiling(make_2d(BASE, 4096, 64), 16, 16);
	check_tiling(make_2d(BASE, 3000, 90), 12, 18);
	check_tiling(make_2d(BASE, 300, 901), 3, 9);
}

static void check_many_of_one_region(struct pto_tensor region, struct pto_tensor whole)
{
	uint32_t n = 20000, i;
	struct access *many = calloc(n, sizeof(*many)), other;

	assert_non_null(many);
	insert(&other, rows_of(whole, 60, 61), TMAP_READ);
	for (i = 0; i < n; i++)
		insert(&many[i], region, TMAP_READ);
	assert_int_equal(look(whole, TMAP_WRITE), 0);
	assert_int_equal(look(whole, TMAP_ANY), n + 1);
	other.seen = false;
	for (i = 0; i < n; i++)
		many[i].seen = false;
	assert_int_equal(look(rows_of(whole, 59, 61), TMAP_ANY), 1);
	other.seen = false;
	for (i = 0; i < n; i += 2)
		drop(&many[n - 2 - i]);
	assert_int_equal(look(region, TMAP_ANY), n / 2);
	for (i = 0; i < n; i++)
		drop(&many[i]);
	assert_int_equal(look(region, TMAP_ANY), 0);
	assert_int_equal(look(whole, TMAP_ANY), 1);
	drop(&other);
	free(many);
}

static void many_readers_of_one_region_are_kept(void **state)
{
	struct pto_tensor t = make_2d(BASE, 64, 64);

	(void)state;
	check_many_of_one_region(rows_of(t, 3, 9), t);
	check_many_of_one_region(tile_of(t, 3, 9, 4, 4), t);
	check_many_of_one_region(tile_of(t, 3, 9, 4, 4), slice(t, 1, 9, 2, 1));
}

/* Few entries are left of many; the index becomes small again. */
static void entries_left_of_many_are_still_found(void **state)
{
	struct pto_tensor t = make_2d(BASE, 5000, 16);
	struct access *rows = calloc(5000, sizeof(*rows));
	int i, found = 0;

	(void)state;
	assert_non_null(rows);
	for (i = 0; i < 5000; i++)
		insert(&rows[i], rows_of(t, i, i + 1), TMAP_WRITE);
	for (i = 0; i < 5000; i++)
		if (i % 500)
			drop(&rows[i]);
	for (i = 100; i < 110; i++)
		insert(&rows[i], rows_of(t, i, i + 1), TMAP_WRITE);
	assert_int_equal(look(t, TMAP_ANY), 20);
	for (i = 0; i < 5000; i++)
		found += rows[i].seen;
	assert_int_equal(found, 20);
	free(rows);
}

/* More different shapes than the index has classes. */
static void any_number_of_shapes_is_accepted(void **state)
{
	struct pto_tensor t = make_2d(BASE, 256, 256);
	struct access *tiles = calloc(8 * 8 * 6, sizeof(*tiles));
	uint32_t i;

	(void)state;
	assert_non_null(tiles);
	for (i = 0; i < 8 * 8 * 6; i++)
		insert(&tiles[i], tile_of(t, 0, 0, 1 << i % 8, 1 << i / 8 % 8), TMAP_WRITE);
	assert_int_equal(look(tile_of(t, 0, 0, 1, 1), TMAP_ANY), 8 * 8 * 6);
	for (i = 0; i < 8 * 8 * 6; i++)
		tiles[i].seen = false;
	assert_int_equal(look(tile_of(t, 127, 127, 9, 9), TMAP_ANY), 6);
	free(tiles);
}

/* Hash buckets that hold many entries of several cells. */
static void crowded_buckets_let_go_of_all_entries(void **state)
{
	struct pto_tensor t = make_2d(BASE, 4096, 64);
	struct access (*cells)[20] = calloc(40, sizeof(*cells));
	int i, j;

	(void)state;
	assert_non_null(cells);
	for (j = 0; j < 20; j++)
		for (i = 0; i < 40; i++)
			insert(&cells[i][j], tile_of(t, i * 100, 4, 2, 8), TMAP_WRITE);
	for (i = 0; i < 40; i++) {
		for (j = 0; j < 20; j++)
			drop(&cells[i][j]);
		assert_int_equal(look(rows_of(t, i * 100, i * 100 + 100), TMAP_ANY), 0);
	}
	for (i = 0; i < 40; i++)
		insert(&cells[i][0], tile_of(t, i * 100, 4, 2, 8), TMAP_WRITE);
	assert_int_equal(look(t, TMAP_ANY), 40);
	free(cells);
}

static void several_large_buffers_may_be_busy_at_once(void **state)
{
	struct access *rows[3];
	int i, b;

	(void)state;
	for (b = 0; b < 3; b++) {
		rows[b] = calloc(10000, sizeof(*rows[b]));
		assert_non_null(rows[b]);
		for (i = 0; i < 10000; i++)
			insert(&rows[b][i], rows_of(make_2d(BASE + ((uint64_t)b << 32), 10000, 4),
						    i, i + 1), TMAP_WRITE);
	}
	for (b = 0; b < 3; b++) {
		assert_int_equal(look(rows[b][b * 77].tensor, TMAP_ANY), 1);
		for (i = 0; i < 10000; i++)
			drop(&rows[b][i]);
		free(rows[b]);
	}
}

static void regions_beyond_4_gib_are_kept_apart(void **state)
{
	struct pto_tensor t = make_2d(BASE, 64, 1500000001);
	struct access rows[64];
	uint32_t i;

	(void)state;
	for (i = 0; i < 64; i++)
		insert(&rows[i], rows_of(t, i, i + 1), TMAP_WRITE);
	for (i = 0; i < 64; i++)
		assert_int_equal(look(rows_of(t, i, i + 1), TMAP_ANY), 1);
	for (i = 0; i < 64; i++)
		rows[i].seen = false;
	assert_int_equal(look(tile_of(t, 30, 77, 3, 1000000007), TMAP_ANY), 3);
}

/* Rows of a reshaped part of a buffer need not begin where the buffer's rows do. */
static void tiles_that_wrap_around_the_rows_of_the_buffer_are_found(void **state)
{
	struct pto_tensor t = make_2d(BASE, 64, 8), part = t;
	struct access tiles[30];
	uint32_t i;

	(void)state;
	part.start_offset = 5;
	for (i = 0; i < 30; i++)
		insert(&tiles[i], tile_of(part, i * 2, 0, 2, 6), TMAP_WRITE);
	for (i = 0; i < 30; i++)
		assert_int_equal(look(tile_of(t, i * 2, 5, 1, 1), TMAP_ANY), 1);
	assert_int_equal(look(tile_of(t, 0, 3, 64, 2), TMAP_ANY), 0);
}

/* ---- odd descriptors ------------------------------------------------------ */

static void shape_that_contradicts_the_extent_is_taken_as_dense(void **state)
{
	struct pto_tensor t = make_2d(BASE, 16, 16), odd = slice(t, 1, 1, 8, 2);

	(void)state;
	odd.strides[0] = 1000;
	assert_int_equal(relation(slice(t, 1, 0, 8, 2), odd), TMAP_OTHER);
	odd.strides[0] = 0;
	assert_int_equal(relation(odd, t), TMAP_COVERED);
}

static void views_too_large_to_compare_overlap(void **state)
{
	struct pto_tensor t = make(BASE, PTO_INT8, 2, (uint32_t[]){ 2, 2 });

	(void)state;
	t.shapes[0] = 1u << 30;
	t.strides[0] = 1u << 29;
	t.size = 1ull << 60;
	t = finish(t);
	assert_int_equal(relation(t, slice(t, 0, 1, 1u << 29, 1)), TMAP_OTHER);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(chip_case_11_disjoint_rows_no_dependency),
		TEST(chip_case_12_partial_overlap_is_not_covered),
		TEST(chip_case_13_covering_writer_replaces_the_entry),
		TEST(chip_case_14_all_20_producers_of_a_region_are_found),
		TEST(chip_case_15_newer_version_is_other),
		TEST(chip_case_16_removing_one_entry_leaves_those_of_other_owners),
		TEST(chip_case_17_readers_are_found_only_when_asked_for),
		TEST(view_that_contains_the_entry_covers_it),
		TEST(tiles_in_the_same_rows_are_apart),
		TEST(tile_and_row_are_compared_exactly),
		TEST(interleaved_columns_are_apart),
		TEST(element_types_of_different_sizes_compare_in_bytes),
		TEST(view_without_elements_overlaps_nothing),
		TEST(removing_twice_is_harmless),
		TEST(insert_beyond_the_limit_is_refused),
		TEST(buffers_vanish_after_their_last_entry),
		TEST(reused_memory_does_not_join_dead_buffers),
		TEST(reset_forgets_everything),
		TEST(index_goes_with_its_last_entry_even_during_a_walk),
		TEST(overlapping_buffers_of_different_addresses_are_found),
		TEST(buffer_that_spans_others_joins_them),
		TEST(stale_buffer_pointer_is_looked_up_again),
		TEST(stale_buffer_pointer_finds_entries_of_several_buffers),
		TEST(indexes_of_joined_buffers_are_joined),
		TEST(many_addresses_in_one_buffer_stay_bounded),
		TEST(random_rows_agree_with_bitmaps),
		TEST(random_tiles_agree_with_bitmaps),
		TEST(random_ranges_agree_with_bitmaps),
		TEST(random_views_agree_with_bitmaps),
		TEST(thousands_of_regions_of_one_buffer_are_kept_apart),
		TEST(many_readers_of_one_region_are_kept),
		TEST(entries_left_of_many_are_still_found),
		TEST(any_number_of_shapes_is_accepted),
		TEST(crowded_buckets_let_go_of_all_entries),
		TEST(several_large_buffers_may_be_busy_at_once),
		TEST(regions_beyond_4_gib_are_kept_apart),
		TEST(tiles_that_wrap_around_the_rows_of_the_buffer_are_found),
		TEST(shape_that_contradicts_the_extent_is_taken_as_dense),
		TEST(views_too_large_to_compare_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
