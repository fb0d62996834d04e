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

/* Registers of 32 bytes, or pairs of registers that functions return without a warning. */
#if !defined(__x86_64__) || defined(__AVX__)
#define PTO_TURN_BLOCKS 1
#else
#define PTO_TURN_BLOCKS 0
#endif

#if PTO_TURN_BLOCKS
namespace turn_ {

typedef uint32_t words __attribute__((vector_size(32)));

#define PTO_PAIR(a, b, ...)	__builtin_shufflevector(a, b, __VA_ARGS__)

/* Four words of each of two rows, the low ones of each half, then the high ones. */
inline words low(words a, words b) { return PTO_PAIR(a, b, 0, 8, 1, 9, 4, 12, 5, 13); }
inline words high(words a, words b) { return PTO_PAIR(a, b, 2, 10, 3, 11, 6, 14, 7, 15); }
inline words low2(words a, words b) { return PTO_PAIR(a, b, 0, 1, 8, 9, 4, 5, 12, 13); }
inline words high2(words a, words b) { return PTO_PAIR(a, b, 2, 3, 10, 11, 6, 7, 14, 15); }
inline words low4(words a, words b) { return PTO_PAIR(a, b, 0, 1, 2, 3, 8, 9, 10, 11); }
inline words high4(words a, words b) { return PTO_PAIR(a, b, 4, 5, 6, 7, 12, 13, 14, 15); }

#undef PTO_PAIR

inline words load(const uint32_t *s)
{
	words w;

	memcpy(&w, s, sizeof(w));
	return w;
}

/* Columns 0 to 3 of the low half, and of the high half, of four rows. */
struct quad {
	words c0, c1, c2, c3;

	quad(const uint32_t *s, ptrdiff_t pitch)
	{
		const words a = load(s), b = load(s + pitch), c = load(s + 2 * pitch),
			    d = load(s + 3 * pitch);
		const words ab = low(a, b), cd = low(c, d), ab2 = high(a, b), cd2 = high(c, d);

		c0 = low2(ab, cd);
		c1 = high2(ab, cd);
		c2 = low2(ab2, cd2);
		c3 = high2(ab2, cd2);
	}
};

inline void store(uint32_t *d, ptrdiff_t pitch, int column, words top, words bottom)
{
	const words left = low4(top, bottom), right = high4(top, bottom);

	memcpy(d + column * pitch, &left, sizeof(left));
	memcpy(d + (column + 4) * pitch, &right, sizeof(right));
}

/* Eight rows of eight words become columns. */
inline void block8(uint32_t *d, ptrdiff_t d_pitch, const uint32_t *s, ptrdiff_t s_pitch)
{
	const quad top(s, s_pitch), bottom(s + 4 * s_pitch, s_pitch);

	store(d, d_pitch, 0, top.c0, bottom.c0);
	store(d, d_pitch, 1, top.c1, bottom.c1);
	store(d, d_pitch, 2, top.c2, bottom.c2);
	store(d, d_pitch, 3, top.c3, bottom.c3);
}

/*
 * The part of @rows x @cols words that whole blocks of eight cover.  Four blocks below one another
 * fill each line of the destination that they touch before it is given up.
 */
inline void blocks(uint32_t *d, ptrdiff_t d_pitch, const uint32_t *s, ptrdiff_t s_pitch, int rows,
		   int cols)
{
	for (int top = 0; top < rows; top += 32)
		for (int c = 0; c < cols; c += 8)
			for (int r = top; r < rows && r < top + 32; r += 8)
				block8(d + c * d_pitch + r, d_pitch, s + r * s_pitch + c, s_pitch);
}

template <typename D, typename S>
inline constexpr bool in_words = sizeof(typename D::DType) == 4 && !D::isBoxedLayout &&
				 D::isRowMajor && !S::isBoxedLayout && S::isRowMajor;

} // namespace turn_
#endif

/* d[c, r] = src[r, c] over src's valid region */
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TTRANS(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TTRANS", checking_::VECTOR, checking_::APART,
		  checking_::part(d, src.GetValidCol(), src.GetValidRow(), checking_::WRITE),
		  checking_::in(src));
	static_assert(sizeof(typename D::DType) == sizeof(typename S::DType),
		      "[PTO][SA] element sizes must be equal");

	if (src.GetValidCol() > D::Rows || src.GetValidRow() > D::Cols)
		core_::fail(
			"TTRANS: the transposed %d x %d elements do not fit into the %d x %d tile",
			src.GetValidRow(), src.GetValidCol(), D::Rows, D::Cols);
	const int rows = src.GetValidRow(), cols = src.GetValidCol();
	int turned_rows = 0, turned_cols = 0;

#if PTO_TURN_BLOCKS
	if constexpr (turn_::in_words<D, S>) {
		turned_rows = rows > 0 ? rows & ~7 : 0;
		turned_cols = cols > 0 ? cols & ~7 : 0;
		turn_::blocks(reinterpret_cast<uint32_t *>(d.data()), D::RowStride,
			      reinterpret_cast<const uint32_t *>(src.data()), S::RowStride,
			      turned_rows, turned_cols);
	}
#endif
	const auto to = copy_::transposed(copy_::raw_view(d));

	copy_::region(copy_::move_bits(), to, 0, turned_cols, copy_::raw_view(src), 0, turned_cols,
		      turned_rows, cols - turned_cols);
	copy_::region(copy_::move_bits(), to, turned_rows, 0, copy_::raw_view(src), turned_rows, 0,
		      rows - turned_rows, cols);
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
