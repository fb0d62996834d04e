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
namespace copy {

/* A tile's box. */
template <typename T>
struct tile_view {
	using E = typename T::DType;
	using M = typename T::Map;
	E *p;
	static constexpr int block_rows = M::block_rows, block_cols = M::block_cols;
	static constexpr ptrdiff_t rs = M::row_step, cs = M::col_step;

	explicit tile_view(const T &t) : p(t.data()) {}
	E *at(int r, int c) const { return p + M::offset(r, c); }
};

/* A plain strided matrix. */
template <typename Elem>
struct strided_view {
	using E = Elem;
	E *p;
	ptrdiff_t rs, cs;
	static constexpr int block_rows = layout::UNBOUNDED, block_cols = layout::UNBOUNDED;

	E *at(int r, int c) const { return p + r * rs + c * cs; }
};

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
		const size_t bytes = n * sizeof(D);

		if (bytes == 32)
			__builtin_memcpy(static_cast<void *>(d), s, 32);
		else if (bytes == 64)
			__builtin_memcpy(static_cast<void *>(d), s, 64);
		else
			__builtin_memmove(static_cast<void *>(d), s, bytes);
	}

	/* Transposes 8 x 8: s[i * s_step + j] to d[j * d_step + i]. */
	template <typename D, typename S>
	static constexpr bool has_tile8 = sizeof(D) <= 4;
	template <typename D, typename S>
	static void tile8(D *d, ptrdiff_t d_step, const S *s, ptrdiff_t s_step)
	{
		using V = simd::vec<typename simd::int_of_bytes<sizeof(D)>::u, 8>;
		V v[8];

		PTO_UNROLL for (int i = 0; i < 8; i++)
			__builtin_memcpy(&v[i], s + i * s_step, sizeof(V));
		if constexpr (sizeof(V) == 32)
			simd::transpose8_wide(v);
		else
			simd::transpose8(v);
		PTO_UNROLL for (int i = 0; i < 8; i++)
			__builtin_memcpy(static_cast<void *>(d + i * d_step), &v[i], sizeof(V));
	}
};

template <typename Move, typename D, typename S, typename = void>
struct tiles : std::false_type {};
template <typename Move, typename D, typename S>
struct tiles<Move, D, S, std::enable_if_t<Move::template has_tile8<D, S>>> : std::true_type {};

constexpr int least(int a, int b)
{
	return a < b ? a : b;
}
/* Elements from position @at to the end of its block of @block. */
constexpr int left_in(int at, int block)
{
	return block == layout::UNBOUNDED ? block : block - at % block;
}

/* s[i * s_step + j] to d[j * d_step + i], i < n, j < m; tiles at the edges overlap their neighbours. */
template <typename Move, typename D, typename S>
inline void transpose(const Move &move, D *d, ptrdiff_t d_step, S *s, ptrdiff_t s_step, int n, int m)
{
	if constexpr (tiles<Move, D, S>::value) {
		if (n >= 8 && m >= 8) {
			for (int i = 0; i < n; i += 8) {
				const int at = least(i, n - 8);

				for (int j = 0; j < m; j += 8) {
					const int to = least(j, m - 8);

					move.tile8(d + to * d_step + at, d_step, s + at * s_step + to, s_step);
				}
			}
			return;
		}
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			move.one(d + j * d_step + i, s + i * s_step + j);
}

template <typename Move, typename D, typename S>
inline void block(const Move &move, D *d, ptrdiff_t drs, ptrdiff_t dcs, S *s, ptrdiff_t srs, ptrdiff_t scs, int rows,
		  int cols)
{
	if (dcs == 1 && scs == 1) {
		if (drs == cols && srs == cols) {
			move.span(size_t(rows) * cols, d, s);
			return;
		}
		for (int r = 0; r < rows; r++)
			move.span(size_t(cols), d + r * drs, s + r * srs);
	} else if (drs == 1 && srs == 1) {
		if (dcs == rows && scs == rows) {
			move.span(size_t(rows) * cols, d, s);
			return;
		}
		for (int c = 0; c < cols; c++)
			move.span(size_t(rows), d + c * dcs, s + c * scs);
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

/* d[dr + i, dc + j] = move(s[sr + i, sc + j]) for a rectangle of rows x cols. */
template <typename Move, typename DV, typename SV>
inline __attribute__((noinline)) void region(const Move &move, const DV &d, int dr, int dc, const SV &s, int sr, int sc,
					     int rows, int cols)
{
	for (int r = 0, nr; r < rows; r += nr) {
		nr = least(rows - r, least(left_in(dr + r, DV::block_rows), left_in(sr + r, SV::block_rows)));
		for (int c = 0, nc; c < cols; c += nc) {
			nc = least(cols - c, least(left_in(dc + c, DV::block_cols), left_in(sc + c, SV::block_cols)));
			block(move, d.at(dr + r, dc + c), d.rs, d.cs, s.at(sr + r, sc + c), s.rs, s.cs, nr, nc);
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
			simd::fill(t.data() + size_t(i) * pitch + used, size_t(pitch - used), value);
		simd::fill(t.data() + size_t(lines) * pitch, size_t(total - lines) * pitch, value);
	} else {
		for (int r = 0; r < T::Rows; r++)
			for (int c = r < rows ? cols : 0; c < T::Cols; c++)
				t.data()[M::offset(r, c)] = value;
	}
}

} // namespace copy
} // namespace pto

#endif
