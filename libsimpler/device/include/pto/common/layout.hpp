/* SPDX-License-Identifier: MIT */
/*
 * Offset arithmetic of tile layouts.  A layout is affine inside blocks of
 * block_rows x block_cols elements: moving one row adds row_step, one column
 * adds col_step.  Instructions walk blocks, so that no element access needs a
 * division.
 *
 * Spec: pto-isa §3.4 (boxes, offset of an element).
 */
#ifndef PTO_COMMON_LAYOUT_HPP
#define PTO_COMMON_LAYOUT_HPP

#include <cstddef>

#include "pto/common/constants.hpp"

namespace pto {
namespace layout_ {

constexpr int UNBOUNDED = 1 << 30;

/* Bits needed to count to @block. */
constexpr int bits_of(int block)
{
	int n = 0;

	while ((1 << n) < block)
		n++;
	return n;
}

/* Rows and columns of the inner box in elements of @bits. */
constexpr int inner_rows(SLayout s, int fractal, int bits)
{
	if (s == SLayout::NoneBox)
		return 1;
	if (fractal == 1024)
		return 16;
	if (fractal == 32)
		return s == SLayout::RowMajor ? 16 : 2;
	return s == SLayout::RowMajor ? 16 : 256 / bits;
}

constexpr int inner_cols(SLayout s, int fractal, int bits)
{
	if (s == SLayout::NoneBox)
		return 1;
	if (fractal == 1024)
		return 16;
	if (fractal == 32)
		return s == SLayout::RowMajor ? 2 : 16;
	return s == SLayout::RowMajor ? 256 / bits : 16;
}

template <BLayout B, SLayout S, int Rows, int Cols, int InnerRows, int InnerCols>
struct map {
	static constexpr bool boxed = S != SLayout::NoneBox;
	static constexpr bool outer_row = B == BLayout::RowMajor;
	static constexpr bool inner_row = S == SLayout::RowMajor;

	static constexpr int block_rows =
		!boxed || (inner_row && !outer_row) ? UNBOUNDED : InnerRows;
	static constexpr int block_cols =
		!boxed || (!inner_row && outer_row) ? UNBOUNDED : InnerCols;
	static constexpr ptrdiff_t row_step =
		boxed ? (inner_row ? InnerCols : 1) : (outer_row ? Cols : 1);
	static constexpr ptrdiff_t col_step =
		boxed ? (inner_row ? 1 : InnerRows) : (outer_row ? 1 : Rows);

	static constexpr size_t offset(int r, int c)
	{
		if constexpr (!boxed) {
			return outer_row ? size_t(r) * Cols + c : size_t(c) * Rows + r;
		} else {
			const size_t sr = unsigned(r) / InnerRows, ir = unsigned(r) % InnerRows;
			const size_t sc = unsigned(c) / InnerCols, ic = unsigned(c) % InnerCols;
			const size_t box =
				outer_row ? sr * Cols * InnerRows + sc * InnerRows * InnerCols
					  : sc * Rows * InnerCols + sr * InnerRows * InnerCols;

			return box + (inner_row ? ir * InnerCols + ic : ic * InnerRows + ir);
		}
	}
};

} // namespace layout_
} // namespace pto

#endif
