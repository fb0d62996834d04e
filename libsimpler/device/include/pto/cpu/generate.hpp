/* SPDX-License-Identifier: MIT */
/*
 * Generated contents, counting and printing: TCI, TTRI, TRANDOM, THISTOGRAM,
 * TPRINT; SYNCALL.
 *
 * Spec: pto-isa §4.14, §12 case 41.
 */
#ifndef PTO_CPU_GENERATE_HPP
#define PTO_CPU_GENERATE_HPP

#include <cinttypes>
#include <cstdio>

#include "pto/common/event.hpp"
#include "pto/cpu/spans.hpp"

namespace pto {
namespace generate_ {

/* Writes one element right-aligned and returns the characters used. */
template <typename T>
inline int print_element(char *to, size_t size, T v, int width, int precision)
{
	if constexpr (is_float_like_v<T>)
		return snprintf(to, size, " %*.*f", width, precision, double(float(v)));
	else if constexpr (std::is_signed_v<T>)
		return snprintf(to, size, " %*" PRId64, width, int64_t(v));
	else
		return snprintf(to, size, " %*" PRIu64, width, uint64_t(v));
}

template <typename T>
inline void print(const T &t, int width, int precision)
{
	printf("TPRINT %dx%d\n", t.GetValidRow(), t.GetValidCol());
	for (int r = 0; r < t.GetValidRow(); r++) {
		for (int c = 0; c < t.GetValidCol(); c++) {
			char text[64];

			print_element(text, sizeof(text), t.GetElement(r, c), width, precision);
			fputs(text + (c ? 0 : 1), stdout);
		}
		putchar('\n');
	}
}

/* One block of Philox-4x32: four words from a counter and a key. */
template <int Rounds>
inline void philox(const uint32_t (&counter)[4], uint32_t k0, uint32_t k1, uint32_t (&out)[4])
{
	uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];

	for (int i = 0; i < Rounds; i++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
		const uint64_t p0 = uint64_t(0xd2511f53u) * c0, p1 = uint64_t(0xcd9e8d57u) * c2;

		c0 = uint32_t(p1 >> 32) ^ c1 ^ k0;
		c1 = uint32_t(p1);
		c2 = uint32_t(p0 >> 32) ^ c3 ^ k1;
		c3 = uint32_t(p0);
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

/* The counter is a number of 128 bits, least significant word first. */
inline void advance(uint32_t (&counter)[4])
{
	for (uint32_t &word : counter)
		if (++word)
			return;
}

template <int Rounds, typename D, typename K, typename C>
inline void random(D &d, const K &key, const C &start)
{
	uint32_t counter[4], out[4];
	int left = 0;

	for (int i = 0; i < 4; i++)
		counter[i] = uint32_t(start[i]);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++) {
			if (!left) {
				philox<Rounds>(counter, uint32_t(key[0]), uint32_t(key[1]), out);
				advance(counter);
				left = 4;
			}
			d.data()[D::Offset(r, c)] = typename D::DType(out[4 - left--]);
		}
}

template <int Byte, typename D, typename S>
inline void histogram(D &d, const S &src)
{
	using E = typename S::DType;
	using Count = typename D::DType;
	static_assert(std::is_unsigned_v<E> && Byte < int(sizeof(E)),
		      "[PTO][SA] THISTOGRAM counts a byte of u16 or u32 elements");
	if (D::Cols < 256 || src.GetValidRow() > D::Rows)
		core_::fail("THISTOGRAM: %d rows of 256 bins do not fit into the %d x %d tile",
			   src.GetValidRow(), D::Rows, D::Cols);
	for (int r = 0; r < src.GetValidRow(); r++) {
		uint32_t bins[256] = {}, sum = 0;

		for (int c = 0; c < src.GetValidCol(); c++)
			bins[src.GetElement(r, c) >> (8 * Byte) & 255]++;
		for (int i = 0; i < 256; i++)
			d.data()[D::Offset(r, i)] = Count(sum += bins[i]);
	}
}

} // namespace generate_

/* Key and counter of TRANDOM; any type with the same subscripts serves as well. */
struct TRandomKey {
	uint32_t word[2];
	uint32_t operator[](int i) const { return word[i]; }
};
struct TRandomCounter {
	uint32_t word[4];
	uint32_t operator[](int i) const { return word[i]; }
};

/* start, start + 1, ... or descending, over the valid region in row order */
template <typename D, typename T, int Descending, PTO_EXTRA_T>
PTO_INST RecordEvent TCI(D &d, T start, PTO_EXTRA)
{
	PTO_CHECK("TCI", checking_::VECTOR, 0, checking_::out(d));
	using E = typename D::DType;
	uint64_t v = uint64_t(start);

	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++, v += Descending ? ~uint64_t(0) : 1)
			d.data()[D::Offset(r, c)] = E(v);
	return {};
}
template <typename D, typename T, PTO_EXTRA_T>
PTO_INST RecordEvent TCI(D &d, T start, PTO_EXTRA)
{
	return TCI<D, T, 0>(d, start, PTO_EXTRA_ARGS);
}

/* Lower: 1 where c <= r + diag; upper: 1 where c >= r + diag; else 0. */
template <typename D, int Upper, PTO_EXTRA_T>
PTO_INST RecordEvent TTRI(D &d, int64_t diag, PTO_EXTRA)
{
	PTO_CHECK("TTRI", checking_::VECTOR, 0, checking_::out(d));
	using E = typename D::DType;

	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			d.data()[D::Offset(r, c)] =
				(Upper ? c >= r + diag : c <= r + diag) ? E(1) : E(0);
	return {};
}

/* Random words by Philox-4x32 in row order, four from each value of the counter. */
template <int Rounds = 10, typename D, typename K, typename C, PTO_EXTRA_T>
PTO_INST RecordEvent TRANDOM(D &d, const K &key, const C &counter, PTO_EXTRA)
{
	PTO_CHECK("TRANDOM", checking_::VECTOR, 0, checking_::out(d));
	static_assert(Rounds == 7 || Rounds == 10, "[PTO][SA] TRANDOM has 7 or 10 rounds");
	static_assert(std::is_integral_v<typename D::DType> && sizeof(typename D::DType) == 4,
		      "[PTO][SA] TRANDOM gives 32-bit integers");
	generate_::random<Rounds>(d, key, counter);
	return {};
}

/* Per row: how many elements have a selected byte of at most 0, 1, ... 255. */
template <HistByte Byte, typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent THISTOGRAM(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("THISTOGRAM", checking_::VECTOR, checking_::APART,
		  checking_::part(d, src.GetValidRow(), 256, checking_::WRITE), checking_::in(src));
	generate_::histogram<int(Byte)>(d, src);
	return {};
}

/* A barrier of all cores; blocks of the simulated chip are ordered by their tasks. */
template <SyncAllMode Mode = SyncAllMode::Hard, SyncCoreType Core = SyncCoreType::Mix,
	  typename... W>
PTO_INST void SYNCALL(const W &...)
{}

/* Prints the valid region, one line per row. */
template <PrintFormat Format = PrintFormat::Width8_Precision4, typename T, PTO_EXTRA_T>
PTO_INST RecordEvent TPRINT(const T &t, PTO_EXTRA)
{
	PTO_CHECK("TPRINT", checking_::SCALAR, 0, checking_::printed(t));
	generate_::print(t, Format == PrintFormat::Width10_Precision6 ? 10 : 8,
			Format == PrintFormat::Width10_Precision6  ? 6
			: Format == PrintFormat::Width8_Precision2 ? 2
								   : 4);
	return {};
}

} // namespace pto

#endif
