/* SPDX-License-Identifier: MIT */
/*
 * Generated contents and printing: TCI, TTRI, TPRINT.
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
namespace generate {

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

} // namespace generate

/* start, start + 1, ... or descending, over the valid region in row order */
template <typename D, typename T, int Descending, typename... W>
PTO_INST RecordEvent TCI(D &d, T start, const W &...)
{
	using E = typename D::DType;
	uint64_t v = uint64_t(start);

	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++, v += Descending ? ~uint64_t(0) : 1)
			d.data()[D::Offset(r, c)] = E(v);
	return {};
}
template <typename D, typename T, typename... W>
PTO_INST RecordEvent TCI(D &d, T start, const W &...w)
{
	return TCI<D, T, 0>(d, start, w...);
}

/* Lower: 1 where c <= r + diag; upper: 1 where c >= r + diag; else 0. */
template <typename D, int Upper, typename... W>
PTO_INST RecordEvent TTRI(D &d, int64_t diag, const W &...)
{
	using E = typename D::DType;

	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			d.data()[D::Offset(r, c)] =
				(Upper ? c >= r + diag : c <= r + diag) ? E(1) : E(0);
	return {};
}

/* Prints the valid region, one line per row. */
template <PrintFormat Format = PrintFormat::Width8_Precision4, typename T, typename... W>
PTO_INST RecordEvent TPRINT(const T &t, const W &...)
{
	generate::print(t, Format == PrintFormat::Width10_Precision6 ? 10 : 8,
			Format == PrintFormat::Width10_Precision6  ? 6
			: Format == PrintFormat::Width8_Precision2 ? 2
								   : 4);
	return {};
}

} // namespace pto

#endif
