/* SPDX-License-Identifier: MIT */
/*
 * Walks the valid region of tiles in contiguous spans: the whole region when it
 * is one, row by row or box by box otherwise.  Tiles whose layouts differ go
 * through small row buffers.
 */
#ifndef PTO_CPU_SPANS_HPP
#define PTO_CPU_SPANS_HPP

#include <cstddef>

#include "pto/common/pto_tile.hpp"

namespace pto {
namespace spans_ {

template <typename T>
constexpr bool is_rows = T::isRowMajor && !T::isBoxedLayout;

template <typename A, typename B>
constexpr bool same_layout =
	A::BFractal == B::BFractal &&A::SFractal == B::SFractal &&A::Rows == B::Rows &&A::Cols ==
	B::Cols &&A::InnerRows == B::InnerRows &&A::InnerCols == B::InnerCols;

constexpr int CHUNK = 64;

template <typename F, typename D, typename... S>
inline void by_rows(const F &f, const D &d, const S &...s)
{
	const int rows = d.GetValidRow(), cols = d.GetValidCol();

	if constexpr (((S::Cols == D::Cols) && ...)) {
		if (cols == D::Cols) {
			f(size_t(rows) * cols, d.data(), s.data()...);
			return;
		}
	}
	for (int r = 0; r < rows; r++)
		f(size_t(cols), d.data() + size_t(r) * D::Cols,
		  (s.data() + size_t(r) * S::Cols)...);
}

/* Spans of one layout shared by all operands that is not plain rows. */
template <typename F, typename D, typename... S>
inline void by_boxes(const F &f, const D &d, const S &...s)
{
	using M = typename D::Map;
	const int rows = d.GetValidRow(), cols = d.GetValidCol();

	if (rows == D::Rows && cols == D::Cols && D::Extent == size_t(D::Numel)) {
		f(size_t(D::Numel), d.data(), s.data()...);
		return;
	}
	if constexpr (M::col_step == 1) {
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < cols; c += M::block_cols) {
				const size_t o = M::offset(r, c);

				f(size_t(cols - c < M::block_cols ? cols - c : M::block_cols),
				  d.data() + o, (s.data() + o)...);
			}
	} else {
		for (int c = 0; c < cols; c++)
			for (int r = 0; r < rows; r += M::block_rows) {
				const size_t o = M::offset(r, c);

				f(size_t(rows - r < M::block_rows ? rows - r : M::block_rows),
				  d.data() + o, (s.data() + o)...);
			}
	}
}

/* A piece of a row, copied out of its layout and, for the destination, back. */
template <typename T>
struct row_piece {
	using E = typename T::DType;
	E buf[CHUNK];

	E *read(const T &t, int r, int c, int n)
	{
		for (int i = 0; i < n; i++)
			buf[i] = t.data()[T::Offset(r, c + i)];
		return buf;
	}
	void write(const T &t, int r, int c, int n) const
	{
		for (int i = 0; i < n; i++)
			t.data()[T::Offset(r, c + i)] = buf[i];
	}
};

template <typename F, typename D, typename... S>
inline void by_pieces(const F &f, const D &d, const S &...s)
{
	const int rows = d.GetValidRow(), cols = d.GetValidCol();

	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c += CHUNK) {
			const int n = cols - c < CHUNK ? cols - c : CHUNK;
			row_piece<D> out;

			f(size_t(n), out.read(d, r, c, n), row_piece<S>().read(s, r, c, n)...);
			out.write(d, r, c, n);
		}
}

/* f(count, destination, sources...) for each span of the destination's valid region. */
template <typename F, typename D, typename... S>
inline void run(const F &f, const D &d, const S &...s)
{
	if (d.GetValidRow() <= 0 || d.GetValidCol() <= 0)
		return;
	if constexpr (is_rows<D> && (is_rows<S> && ...))
		by_rows(f, d, s...);
	else if constexpr ((same_layout<D, S> && ...))
		by_boxes(f, d, s...);
	else
		by_pieces(f, d, s...);
}

} // namespace spans_
} // namespace pto

#endif
