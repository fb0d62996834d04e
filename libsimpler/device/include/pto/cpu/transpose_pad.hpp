/* SPDX-License-Identifier: MIT */
/*
 * Transposition and padding: TTRANS, TFILLPAD and its variants.
 *
 * Spec: pto-isa §4.10, §12 cases 31 and 32.
 */
#ifndef PTO_CPU_TRANSPOSE_PAD_HPP
#define PTO_CPU_TRANSPOSE_PAD_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"

namespace pto {
namespace pad_ {

/* Pads the box outside rows x cols; of a window only the part inside its valid region. */
template <typename D>
inline void rest(D &d, int rows, int cols)
{
	using T = typename D::DType;
	static_assert(D::PadVal != PadValue::Null,
		      "[PTO][SA] TFILLPAD needs a destination with a pad value");
	const T v = pad_element<T>(D::PadVal);

	if (!d.IsWindow()) {
		copy_::fill_outside(d, rows, cols, v);
		return;
	}
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = r < rows ? cols : 0; c < d.GetValidCol(); c++)
			d.data()[D::Offset(r, c)] = v;
}

template <typename D, typename S>
inline void fill(D &d, const S &src)
{
	static_assert(sizeof(typename D::DType) == sizeof(typename S::DType),
		      "[PTO][SA] element sizes must be equal");
	const int rows = src.GetValidRow(), cols = src.GetValidCol();

	if (d.GetValidRow() <= 0 || d.GetValidCol() <= 0)
		return;
	if (rows > D::Rows || cols > D::Cols)
		core_::fail("TFILLPAD: %d x %d valid elements do not fit into the %d x %d tile",
			   rows, cols, D::Rows, D::Cols);
	if (static_cast<const void *>(d.data()) != static_cast<const void *>(src.data()))
		copy_::region(copy_::move_bits(), copy_::raw_view(d), 0, 0, copy_::raw_view(src), 0, 0,
			     rows, cols);
	rest(d, rows, cols);
}

} // namespace pad_

/* d[c, r] = src[r, c] over src's valid region */
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TTRANS(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TTRANS", checking_::VECTOR, 0,
		  checking_::part(d, src.GetValidCol(), src.GetValidRow(), checking_::WRITE),
		  checking_::in(src));
	static_assert(sizeof(typename D::DType) == sizeof(typename S::DType),
		      "[PTO][SA] element sizes must be equal");

	if (src.GetValidCol() > D::Rows || src.GetValidRow() > D::Cols)
		core_::fail(
			"TTRANS: the transposed %d x %d elements do not fit into the %d x %d tile",
			src.GetValidRow(), src.GetValidCol(), D::Rows, D::Cols);
	copy_::region(copy_::move_bits(), copy_::transposed(copy_::raw_view(d)), 0, 0,
		     copy_::raw_view(src), 0, 0, src.GetValidRow(), src.GetValidCol());
	return {};
}

/* Every element of d's box: src's where src is valid, else the pad value. */
template <TFillPadMode Mode = TFillPadMode::Normal, typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TFILLPAD(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TFILLPAD", checking_::pipe_of_fill<D>(), 0, checking_::box(d), checking_::in(src));
	static_assert(Mode == TFillPadMode::Expand || (D::Rows == S::Rows && D::Cols == S::Cols),
		      "[PTO][SA] TFILLPAD needs tiles of one size");
	pad_::fill(d, src);
	return {};
}
/* Source and destination share their memory; only the pad area is written. */
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TFILLPAD_INPLACE(D &d, const S &src, PTO_EXTRA)
{
	return TFILLPAD<TFillPadMode::InPlace>(d, src, PTO_EXTRA_ARGS);
}
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TFILLPAD_EXPAND(D &d, const S &src, PTO_EXTRA)
{
	static_assert(D::Rows >= S::Rows && D::Cols >= S::Cols,
		      "[PTO][SA] TFILLPAD_EXPAND needs a larger destination");
	return TFILLPAD<TFillPadMode::Expand>(d, src, PTO_EXTRA_ARGS);
}

} // namespace pto

#endif
