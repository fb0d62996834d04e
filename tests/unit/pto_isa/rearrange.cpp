// SPDX-License-Identifier: MIT
/* Rearrangement of rows, random words, histograms (pto-isa §4.1, §4.14). */
#include "element.hpp"
#include "fake_core.hpp"

using namespace check;

namespace {

using movable = type_list<float, half, bfloat16_t, int8_t, uint8_t, int16_t, int32_t>;

template <typename T>
void concatenates(context &t)
{
	Part<T, 8, 64> a(7, 19), b(7, 33), d(7, 52);
	Tile<TileType::Vec, int32_t, 8, 8, BLayout::RowMajor, 7, 1> na, nb, nd;
	place at;

	covers(t, "TCONCAT", d);
	at.put(a), at.put(b), at.put(d), at.put(na), at.put(nb), at.put(nd);
	fill(t, a), fill(t, b), fill(t, d);
	auto before = copy_of(d);

	TCONCAT(d, a, b);
	for (int r = 0; r < 7; r++)
		for (int c = 0; c < 52; c++)
			t.expect(raw(now(d, r, c)) ==
					 raw(c < 19 ? now(a, r, c) : now(b, r, c - 19)),
				 "TCONCAT %s (%d, %d)", type_name<T>(), r, c);
	untouched(t, "TCONCAT", d, before, 7, 52);
	for (int r = 0; r < 7; r++)
		na.SetElement(r, 0, r * 3), nb.SetElement(r, 0, 33 - r);
	before = copy_of(d);
	TCONCAT(d, nd, a, b, na, nb);
	for (int r = 0; r < 7; r++) {
		const int ca = r * 3, cb = 33 - r;

		t.expect(now(nd, r, 0) == ca + cb, "TCONCAT: count of row %d", r);
		for (int c = 0; c < 64; c++)
			t.expect(raw(now(d, r, c)) == raw(c < ca	? now(a, r, c)
							  : c < ca + cb ? now(b, r, c - ca)
									: before[r * 64 + c]),
				 "TCONCAT by counts %s (%d, %d)", type_name<T>(), r, c);
	}
	const auto same = copy_of(d);

	TCONCAT(d, a, b, na, nb);
	t.expect(!memcmp(same.data(), d.data(), sizeof(T) * 512), "both index forms agree");
}
template <typename... T>
void concatenates_all(context &t, type_list<T...>)
{
	(concatenates<T>(t), ...);
}

template <typename D, typename S>
void packs(context &t, int rows, int cols)
{
	Part<S, 8, 64> s(rows, cols);
	Part<D, 8, 64> d(rows, cols);
	place at;

	covers(t, "TPACK", s);
	at.put(s), at.put(d);
	fill(t, s), fill(t, d);
	const auto before = copy_of(d);

	TPACK(d, s);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			t.expect(raw(now(d, r, c)) == (raw(now(s, r, c)) &
						       ((uint64_t(1) << (8 * sizeof(D))) - 1)),
				 "TPACK (%d, %d)", r, c);
	untouched(t, "TPACK", d, before, rows, cols);
}

template <typename T>
void interleaves(context &t, int rows, int n)
{
	using P = Part<T, 8, 64>;
	P s0(rows, n), s1(rows, n), d0(rows, n), d1(rows, n), e0(rows, n), e1(rows, n);
	place at;

	covers(t, "TINTERLEAVE", s0), covers(t, "TDEINTERLEAVE", s0);
	at.put(s0), at.put(s1), at.put(d0), at.put(d1), at.put(e0), at.put(e1);
	fill(t, s0), fill(t, s1), fill(t, d0);
	const auto before = copy_of(d0);

	TINTERLEAVE(d1, d0, s1, s0);
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < 2 * n; i++)
			t.expect(raw(i < n ? now(d0, r, i) : now(d1, r, i - n)) ==
					 raw(i % 2 ? now(s1, r, i / 2) : now(s0, r, i / 2)),
				 "TINTERLEAVE row %d element %d", r, i);
	untouched(t, "TINTERLEAVE", d0, before, rows, n);
	TDEINTERLEAVE(e1, e0, d1, d0);
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < n; i++)
			t.expect(raw(now(e0, r, i)) == raw(now(s0, r, i)) &&
					 raw(now(e1, r, i)) == raw(now(s1, r, i)),
				 "TDEINTERLEAVE row %d element %d", r, i);
	TDEINTERLEAVE(e1, e0, s0);
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < n / 2; i++)
			t.expect(raw(now(e0, r, i)) == raw(now(s0, r, 2 * i)) &&
					 raw(now(e1, r, i)) == raw(now(s0, r, 2 * i + 1)),
				 "one-source TDEINTERLEAVE row %d element %d", r, i);
}
template <typename... T>
void interleaves_all(context &t, type_list<T...>)
{
	((interleaves<T>(t, 8, 64), interleaves<T>(t, 5, 51), interleaves<T>(t, 1, 1)), ...);
}

/* The high and low word of a product, by schoolbook halves. */
void product(uint32_t a, uint32_t b, uint32_t &hi, uint32_t &lo)
{
	const uint32_t al = a & 0xffff, ah = a >> 16, bl = b & 0xffff, bh = b >> 16;
	const uint64_t mid = uint64_t(ah) * bl + (uint64_t(al) * bl >> 16);
	const uint64_t mid2 = uint64_t(al) * bh + (mid & 0xffff);

	hi = uint32_t(uint64_t(ah) * bh + (mid >> 16) + (mid2 >> 16));
	lo = a * b;
}

void philox(uint32_t (&x)[4], uint32_t k0, uint32_t k1, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		uint32_t h0, l0, h1, l1;

		product(x[0], 0xd2511f53, h0, l0);
		product(x[2], 0xcd9e8d57, h1, l1);
		const uint32_t y[4] = {h1 ^ x[1] ^ k0, l1, h0 ^ x[3] ^ k1, l0};

		memcpy(x, y, sizeof(x));
		k0 += 0x9e3779b9, k1 += 0xbb67ae85;
	}
}

template <int Rounds, typename T>
void randoms(context &t, int rows, int cols)
{
	Part<T, 8, 64> d(rows, cols);
	const uint32_t key[2] = {uint32_t(t.next()), uint32_t(t.next())};
	const uint32_t start[4] = {0xfffffffe, 0xffffffff, 7, 9};
	uint32_t block[4] = {};
	place at;
	int n = 0;

	covers(t, "TRANDOM", d);
	at.put(d);
	fill(t, d);
	const auto before = copy_of(d);

	TRANDOM<Rounds>(d, key, start);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++, n++) {
			if (n % 4 == 0) {
				const unsigned __int128 low =
					((unsigned __int128)start[3] << 96 |
					 (unsigned __int128)start[2] << 64 |
					 (unsigned __int128)start[1] << 32 | start[0]) +
					unsigned(n / 4);

				for (int i = 0; i < 4; i++)
					block[i] = uint32_t(low >> (32 * i));
				philox(block, key[0], key[1], Rounds);
			}
			t.expect(uint32_t(now(d, r, c)) == block[n % 4], "TRANDOM (%d, %d)", r, c);
		}
	untouched(t, "TRANDOM", d, before, rows, cols);
}

template <HistByte Byte, typename T>
void counts(context &t, int rows, int cols)
{
	Part<T, 8, 64> s(rows, cols);
	Part<uint32_t, 8, 256> d(rows, 256);
	place at;

	covers(t, "THISTOGRAM", s);
	at.put(s), at.put(d);
	fill(t, s), fill(t, d);
	THISTOGRAM<Byte>(d, s, s);
	for (int r = 0; r < rows; r++)
		for (int bin = 0; bin < 256; bin++) {
			uint32_t want = 0;

			for (int c = 0; c < cols; c++)
				want += (raw(now(s, r, c)) >> (8 * int(Byte)) & 255) <=
					unsigned(bin);
			t.expect(now(d, r, bin) == want, "THISTOGRAM row %d bin %d: %u, not %u", r,
				 bin, now(d, r, bin), want);
		}
}

} // namespace

CHECK(tconcat_puts_rows_side_by_side) { concatenates_all(t, movable()); }
CHECK(tconcat_refuses_what_does_not_fit)
{
	fake_core core;
	Full<float, 1, 32> a, b, d;

	TASSIGN(a, 0), TASSIGN(b, 256), TASSIGN(d, 512);
	t.expect(core.fails([&] { TCONCAT(d, a, b); }) && strstr(core.text, "32 and 32"), "%s",
		 core.text);
}
CHECK(tpack_keeps_the_low_bytes)
{
	packs<uint16_t, uint32_t>(t, 8, 64);
	packs<int8_t, int32_t>(t, 5, 51);
	packs<uint8_t, uint16_t>(t, 7, 33);
	packs<int16_t, float>(t, 1, 1);
}
CHECK(tinterleave_and_tdeinterleave_are_inverse) { interleaves_all(t, movable()); }
CHECK(trandom_is_philox_with_a_counter_of_128_bits)
{
	randoms<10, uint32_t>(t, 8, 64);
	randoms<7, uint32_t>(t, 5, 51);
	randoms<10, int32_t>(t, 3, 3);
}
CHECK(trandom_gives_the_published_words)
{
	Full<uint32_t, 1, 8> d;
	place at;

	at.put(d);
	/* known answers of Philox-4x32-10 (Random123) */
	TRANDOM<10>(d, TRandomKey{{0, 0}}, TRandomCounter{{0, 0, 0, 0}});
	t.expect(d.data()[0] == 0x6627e8d5 && d.data()[1] == 0xe169c58d &&
			 d.data()[2] == 0xbc57ac4c && d.data()[3] == 0x9b00dbd8,
		 "%08x %08x %08x %08x", d.data()[0], d.data()[1], d.data()[2], d.data()[3]);
	TRANDOM<10>(d, TRandomKey{{0xffffffff, 0xffffffff}},
		    TRandomCounter{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}});
	t.expect(d.data()[0] == 0x408f276d && d.data()[1] == 0x41c83b0e, "%08x %08x", d.data()[0],
		 d.data()[1]);
}
CHECK(thistogram_counts_up)
{
	counts<HistByte::BYTE_0, uint16_t>(t, 8, 64);
	counts<HistByte::BYTE_1, uint16_t>(t, 5, 51);
	counts<HistByte::BYTE_3, uint32_t>(t, 3, 7);
	counts<HistByte::BYTE_2, uint32_t>(t, 1, 64);
}

#include "exports.hpp"
