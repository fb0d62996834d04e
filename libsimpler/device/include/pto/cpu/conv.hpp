/* SPDX-License-Identifier: MIT */
/*
 * Convolution: loading feature maps and filters, TIMG2COL and the instructions
 * that set its registers.
 *
 * The matrix of TIMG2COL has a row per output pixel, in row order, and columns
 * ordered by C1, filter row, filter column and C0.  The registers belong to the
 * ConvTile on the host, so that SETFMATRIX and its kin only have to accept it.
 *
 * Spec: pto-isa §3.5, §4.8.
 */
#ifndef PTO_CPU_CONV_HPP
#define PTO_CPU_CONV_HPP

#include "pto/common/conv_tile.hpp"
#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"

namespace pto {
namespace conv_ {

/* Five dimensions of a tensor, densely into the tile. */
template <typename T, typename G>
inline void load(T &t, const G &g)
{
	using E = typename T::DType;
	static_assert(sizeof(E) == sizeof(typename G::RawDType),
		      "[PTO][SA] element sizes must be equal");
	size_t total = 1;

	for (int d = 0; d < 5; d++) {
		if (g.GetShape(d) > t.GetShape(d))
			core_::fail("TLOAD: extent %lld of dimension %d is more than the tile's %d",
				   static_cast<long long>(g.GetShape(d)), d, t.GetShape(d));
		total *= size_t(t.GetShape(d));
	}
	if (!t.data())
		core_::fail("TLOAD: the tile has no memory; TASSIGN it first");
	if (total > T::Extent)
		core_::fail("TLOAD: %zu elements do not fit into the tile's buffer of %zu", total,
			   T::Extent);
	for (int64_t n = 0; n < g.GetShape(0); n++)
		for (int64_t c1 = 0; c1 < g.GetShape(1); c1++)
			for (int64_t h = 0; h < g.GetShape(2); h++) {
				const int64_t row = (n * t.GetShape(1) + c1) * t.GetShape(2) + h;
				const auto *from = g.data() + n * g.GetStride(0) +
						   c1 * g.GetStride(1) + h * g.GetStride(2);
				const int64_t pitch = t.GetShape(4);

				copy_::region(copy_::move_bits(),
					     copy_::strided(t.data() + row * t.GetShape(3) * pitch,
							   pitch, 1),
					     0, 0,
					     copy_::strided(from, ptrdiff_t(g.GetStride(3)),
							   ptrdiff_t(g.GetStride(4))),
					     0, 0, int(g.GetShape(3)), int(g.GetShape(4)));
			}
}

/* What one output pixel and filter element look at, or null outside the map. */
template <typename S>
inline const typename S::DType *pixel(const S &src, int c1, int y, int x)
{
	const ConvParams &p = src.params;

	if (y < 0 || y >= p.fmap_h || x < 0 || x >= p.fmap_w)
		return nullptr;
	return src.data() +
	       ((size_t(c1) * src.GetShape(2) + y) * src.GetShape(3) + x) * src.GetShape(4);
}

/* Columns [first, first + count) of the row of output pixel (oh, ow). */
template <typename D, typename S>
inline void row(D &dst, int r, const S &src, int oh, int ow, int first, int count)
{
	using E = typename S::DType;
	const ConvParams &p = src.params;
	const int c0 = src.GetShape(4);
	int k = 0;

	for (int c1 = 0; c1 < src.GetShape(1); c1++)
		for (int fy = 0; fy < p.filter_h; fy++)
			for (int fx = 0; fx < p.filter_w; fx++, k += c0) {
				if (k + c0 <= first || k >= first + count)
					continue;
				const E *from = pixel(
					src, c1, oh * p.stride_h - p.pad_top + fy * p.dilation_h,
					ow * p.stride_w - p.pad_left + fx * p.dilation_w);

				for (int i = 0; i < c0; i++)
					if (k + i >= first && k + i < first + count)
						copy_::move_bits::one(
							dst.data() + D::Offset(r, k + i - first),
							from ? from + i : &src.pad_value);
			}
}

template <typename D, typename S>
inline void img2col(D &dst, const S &src, int pos_m, int pos_k)
{
	static_assert(sizeof(typename D::DType) == sizeof(typename S::DType),
		      "[PTO][SA] element sizes must be equal");
	const ConvParams &p = src.params;
	const int rows = p.out_h() * p.out_w(), out_w = p.out_w();
	const int cols = src.GetShape(1) * p.filter_h * p.filter_w * src.GetShape(4);

	if (!dst.data() || !src.data())
		core_::fail("TIMG2COL: a tile has no memory; TASSIGN it first");
	if (pos_m < 0 || pos_k < 0 || pos_m + dst.GetValidRow() > rows ||
	    pos_k + dst.GetValidCol() > cols)
		core_::fail("TIMG2COL: %d x %d elements at (%d, %d) are not within the %d x %d "
			   "matrix",
			   dst.GetValidRow(), dst.GetValidCol(), pos_m, pos_k, rows, cols);
	int oh = pos_m / out_w, ow = pos_m % out_w;

	for (int r = 0; r < dst.GetValidRow(); r++) {
		row(dst, r, src, oh, ow, pos_k, dst.GetValidCol());
		if (++ow == out_w) {
			ow = 0;
			oh++;
		}
	}
}

} // namespace conv_

template <typename T, typename G, PTO_EXTRA_T, std::enable_if_t<is_conv_tile_v<T>, int> = 0>
PTO_INST RecordEvent TLOAD(T &dst, const G &src, PTO_EXTRA)
{
	PTO_CHECK("TLOAD", checking_::MTE2, 0, checking_::buffer(dst, checking_::WRITE),
		  checking_::memory(checking_::tensor_of(src), checking_::READ));
	conv_::load(dst, src);
	return {};
}

/* The window at (pos_m, pos_k) of the matrix of input patches. */
template <typename D, typename S, SetFmatrixMode Mode = SetFmatrixMode::FMATRIX_A_AUTO, PTO_EXTRA_T>
PTO_INST RecordEvent TIMG2COL(D &dst, const S &src, int pos_m = 0, int pos_k = 0, PTO_EXTRA)
{
	PTO_CHECK("TIMG2COL", checking_::MTE1, 0, checking_::out(dst),
		  checking_::buffer(src, checking_::READ));
	conv_::img2col(dst, src, pos_m, pos_k);
	return {};
}
template <SetFmatrixMode Mode = SetFmatrixMode::FMATRIX_A_MANUAL, typename T, typename... W>
PTO_INST RecordEvent SETFMATRIX(const T &, const W &...)
{
	static_assert(is_conv_tile_v<T>, "[PTO][SA] SETFMATRIX takes a ConvTile");
	return {};
}
template <SetFmatrixMode Mode = SetFmatrixMode::FMATRIX_A_MANUAL, typename T, typename... W>
PTO_INST RecordEvent SET_IMG2COL_RPT(const T &, const W &...)
{
	static_assert(is_conv_tile_v<T>, "[PTO][SA] SET_IMG2COL_RPT takes a ConvTile");
	return {};
}
template <SetFmatrixMode Mode = SetFmatrixMode::FMATRIX_A_MANUAL, typename T, typename... W>
PTO_INST RecordEvent SET_IMG2COL_PADDING(const T &, const W &...)
{
	static_assert(is_conv_tile_v<T>, "[PTO][SA] SET_IMG2COL_PADDING takes a ConvTile");
	return {};
}

} // namespace pto

#endif
