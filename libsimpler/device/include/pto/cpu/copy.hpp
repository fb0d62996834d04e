/* SPDX-License-Identifier: MIT */
/*
 * Copies a rectangle between two element arrays of any layout.  Both sides are
 * walked in blocks inside which their offsets are affine; the inner loop is a
 * span where both sides are contiguous in the same direction.
 */
#ifndef PTO_CPU_COPY_HPP
#define PTO_CPU_COPY_HPP

#include <cstddef>
#include <cstring>

#include "pto/common/pto_tile.hpp"
#include "pto/cpu/simd.hpp"

namespace pto {
namespace copy_ {

/*
 * An element array of any layout.  Blocks of 2^row_bits x 2^col_bits elements
 * are affine inside; the layout is a value, not a type, so that the loops are
 * compiled once per element type.
 */
template <typename E>
struct view {
	E *p;
	int row_bits, col_bits;
	ptrdiff_t rs, cs; /* steps inside a block */
	ptrdiff_t box_row, box_col; /* steps from block to block */

	E *at(int r, int c) const
	{
		return p + (r >> row_bits) * box_row + (c >> col_bits) * box_col +
		       (r & ((1 << row_bits) - 1)) * rs + (c & ((1 << col_bits) - 1)) * cs;
	}
};

constexpr int UNBOUNDED_BITS = 30;

using layout_::bits_of;

/* A tile's box, its elements as type @E of the same size. */
template <typename E, typename T>
inline view<E> tile_as(const T &t)
{
	using M = typename T::Map;
	static_assert(sizeof(E) == sizeof(typename T::DType),
		      "[PTO][SA] element sizes must be equal");

	return {reinterpret_cast<E *>(t.data()),
		bits_of(M::block_rows),
		bits_of(M::block_cols),
		M::row_step,
		M::col_step,
		ptrdiff_t(M::boxed && M::block_rows < T::Rows ? M::offset(M::block_rows, 0) : 0),
		ptrdiff_t(M::boxed && M::block_cols < T::Cols ? M::offset(0, M::block_cols) : 0)};
}
template <typename T>
inline view<typename T::DType> tile_view(const T &t)
{
	return tile_as<typename T::DType>(t);
}
/* For moves of bits: all elements of one size are the same. */
template <typename T>
using raw_t = typename simd_::int_of_bytes<sizeof(T)>::u;
template <typename T>
inline view<raw_t<typename T::DType>> raw_view(const T &t)
{
	return tile_as<raw_t<typename T::DType>>(t);
}

/* A plain strided matrix. */
template <typename E>
inline view<E> strided(E *p, ptrdiff_t rs, ptrdiff_t cs)
{
	return {p, UNBOUNDED_BITS, UNBOUNDED_BITS, rs, cs, 0, 0};
}

/* The same elements with rows and columns exchanged. */
template <typename E>
inline view<E> transposed(const view<E> &v)
{
	return {v.p, v.col_bits, v.row_bits, v.cs, v.rs, v.box_col, v.box_row};
}

/* Moves the bits; both elements have the same size. */
struct move_bits {
	template <typename D, typename S>
	static void one(D *d, const S *s)
	{
		static_assert(sizeof(D) == sizeof(S), "[PTO][SA] element sizes must be equal");
		__builtin_memcpy(static_cast<void *>(d), s, sizeof(D));
	}
	template <typename D, typename S>
	static void span(size_t n, D *d, const S *s)
	{
		__builtin_memmove(static_cast<void *>(d), s, n * sizeof(D));
	}

	/* @rows spans of @n elements; those of a box are moved without a call. */
	template <typename D, typename S>
	static void spans(int rows, size_t n, D *d, ptrdiff_t d_step, const S *s, ptrdiff_t s_step)
	{
		if (n * sizeof(D) == 32)
			for (int r = 0; r < rows; r++)
				__builtin_memcpy(static_cast<void *>(d + r * d_step),
						 s + r * s_step, 32);
		else
			for (int r = 0; r < rows; r++)
				span(n, d + r * d_step, s + r * s_step);
	}

	/* Transposes 8 x 8: s[i * s_step + j] to d[j * d_step + i]. */
	template <typename D, typename S>
	static constexpr bool has_tile8 = sizeof(D) <= 4;
	template <typename D, typename S>
	PTO_SIMD static void tile8(D *d, ptrdiff_t d_step, const S *s, ptrdiff_t s_step)
	{
		using V = simd_::vec<typename simd_::int_of_bytes<sizeof(D)>::u, 8>;
		V v[8];

		PTO_UNROLL for (int i = 0; i < 8; i++)
			__builtin_memcpy(&v[i], s + i * s_step, sizeof(V));
		if constexpr (sizeof(V) == 32)
			simd_::transpose8_wide(v);
		else
			simd_::transpose8(v);
		PTO_UNROLL for (int i = 0; i < 8; i++)
			__builtin_memcpy(static_cast<void *>(d + i * d_step), &v[i], sizeof(V));
	}
};

template <typename Move, typename D, typename S, typename = void>
struct tiles : std::false_type {};
template <typename Move, typename D, typename S>
struct tiles<Move, D, S, std::enable_if_t<Move::template has_tile8<D, S>>> : std::true_type {};

constexpr int least(int a, int b) { return a < b ? a : b; }
/* Elements from position @at to the end of its block of 2^@bits. */
constexpr int left_in(int at, int bits) { return (1 << bits) - (at & ((1 << bits) - 1)); }

/*
 * s[i * s_step + j] to d[j * d_step + i], i < n, j < m, in tiles of 8 x 8 of which the last overlap
 * their neighbours.  Four tiles below one another come before the next columns, so that a line of
 * the destination is filled before it is given up.
 */
template <typename Move, typename D, typename S>
inline void transpose_tiles(const Move &move, D *d, ptrdiff_t d_step, S *s, ptrdiff_t s_step, int n,
			    int m)
{
	for (int top = 0; top < n; top += 32)
		for (int j = 0; j < m; j += 8) {
			const int to = least(j, m - 8);

			for (int i = top; i < n && i < top + 32; i += 8) {
				const int at = least(i, n - 8);

				move.tile8(d + to * d_step + at, d_step, s + at * s_step + to,
					   s_step);
			}
		}
}

template <typename Move, typename D, typename S>
inline void transpose(const Move &move, D *d, ptrdiff_t d_step, S *s, ptrdiff_t s_step, int n,
		      int m)
{
	if constexpr (tiles<Move, D, S>::value) {
		if (n >= 8 && m >= 8) {
			transpose_tiles(move, d, d_step, s, s_step, n, m);
			return;
		}
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			move.one(d + j * d_step + i, s + i * s_step + j);
}

template <typename Move, typename D, typename S>
inline void spans_of(const Move &move, int rows, size_t n, D *d, ptrdiff_t d_step, S *s,
		     ptrdiff_t s_step)
{
	if (d_step == ptrdiff_t(n) && s_step == ptrdiff_t(n)) {
		move.span(size_t(rows) * n, d, s);
	} else if constexpr (std::is_same_v<Move, move_bits>) {
		move.spans(rows, n, d, d_step, s, s_step);
	} else {
		for (int r = 0; r < rows; r++)
			move.span(n, d + r * d_step, s + r * s_step);
	}
}

template <typename Move, typename D, typename S>
inline void block(const Move &move, D *d, ptrdiff_t drs, ptrdiff_t dcs, S *s, ptrdiff_t srs,
		  ptrdiff_t scs, int rows, int cols)
{
	if (dcs == 1 && scs == 1) {
		spans_of(move, rows, size_t(cols), d, drs, s, srs);
	} else if (drs == 1 && srs == 1) {
		spans_of(move, cols, size_t(rows), d, dcs, s, scs);
	} else if (drs == 1 && scs == 1) {
		transpose(move, d, dcs, s, srs, rows, cols);
	} else if (dcs == 1 && srs == 1) {
		transpose(move, d, drs, s, scs, cols, rows);
	} else {
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < cols; c++)
				move.one(d + r * drs + c * dcs, s + r * srs + c * scs);
	}
}

/* Of many rows that blocks divide, so many at once: their lines are still near for the next block. */
constexpr int MANY_ROWS = 128, ROWS_AT_ONCE = 64;

/* d[dr + i, dc + j] = move(s[sr + i, sc + j]) for a rectangle of rows x cols. */
template <typename Move, typename D, typename S>
__attribute__((noinline)) void region(const Move &move, const view<D> &d, int dr, int dc,
				      const view<S> &s, int sr, int sc, int rows, int cols)
{
	for (int r = 0, nr; r < rows; r += nr) {
		nr = least(rows - r,
			   least(left_in(dr + r, d.row_bits), left_in(sr + r, s.row_bits)));
		if (nr > MANY_ROWS &&
		    (left_in(dc, d.col_bits) < cols || left_in(sc, s.col_bits) < cols))
			nr = least(nr, ROWS_AT_ONCE);
		for (int c = 0, nc; c < cols; c += nc) {
			nc = least(cols - c,
				   least(left_in(dc + c, d.col_bits), left_in(sc + c, s.col_bits)));
			block(move, d.at(dr + r, dc + c), d.rs, d.cs, s.at(sr + r, sc + c), s.rs,
			      s.cs, nr, nc);
		}
	}
}

/* Writes @value to the box of a tile outside rows x cols. */
template <typename T>
inline void fill_outside(const T &t, int rows, int cols, typename T::DType value)
{
	using M = typename T::Map;

	if (rows >= T::Rows && cols >= T::Cols)
		return;
	if constexpr (!T::isBoxedLayout) {
		const bool by_row = T::isRowMajor;
		const int lines = by_row ? rows : cols, used = by_row ? cols : rows;
		const int pitch = by_row ? T::Cols : T::Rows, total = by_row ? T::Rows : T::Cols;

		for (int i = 0; used < pitch && i < lines; i++)
			simd_::fill(t.data() + size_t(i) * pitch + used, size_t(pitch - used),
				   value);
		simd_::fill(t.data() + size_t(lines) * pitch, size_t(total - lines) * pitch, value);
	} else {
		for (int r = 0; r < T::Rows; r++)
			for (int c = r < rows ? cols : 0; c < T::Cols; c++)
				t.data()[M::offset(r, c)] = value;
	}
}

} // namespace copy_
} // namespace pto

#endif
