/* SPDX-License-Identifier: MIT */
/*
 * Moves between tiles: TMOV, TEXTRACT, TINSERT.
 *
 * Spec: pto-isa §4.1.
 */
#ifndef PTO_CPU_MOVE_HPP
#define PTO_CPU_MOVE_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/fixpipe.hpp"

namespace pto {
namespace move {

/* Moves rows x cols elements; an accumulator source, or a type change, converts. */
template <bool Relu, typename D, typename S>
inline void window(D &dst, int dr, int dc, const S &src, int sr, int sc, int rows, int cols)
{
	using DE = typename D::DType;
	using SE = typename S::DType;
	constexpr bool plain =
		std::is_same_v<DE, SE> || (sizeof(DE) == sizeof(SE) && S::Loc != TileType::Acc);

	if (!dst.data() || !src.data())
		core::fail("a tile has no memory; TASSIGN it first");
	if constexpr (plain && !Relu)
		copy::region(copy::move_bits(), copy::raw_view(dst), dr, dc, copy::raw_view(src),
			     sr, sc, rows, cols);
	else
		copy::region(fixpipe::convert<DE, SE, Relu>{nullptr}, copy::tile_view(dst), dr, dc,
			     copy::tile_view(src), sr, sc, rows, cols);
}

template <bool Relu, typename D, typename S>
inline void whole(D &dst, const S &src)
{
	if (core::checked() &&
	    (dst.GetValidRow() != src.GetValidRow() || dst.GetValidCol() != src.GetValidCol()))
		core::fail("TMOV: valid regions differ: destination %d x %d, source %d x %d",
			   dst.GetValidRow(), dst.GetValidCol(), src.GetValidRow(),
			   src.GetValidCol());
	window<Relu>(dst, 0, 0, src, 0, 0, dst.GetValidRow(), dst.GetValidCol());
}

inline __attribute__((noinline, cold)) void out_of_bounds(const char *op, int64_t row, int64_t col,
							  int rows, int cols, int in_rows,
							  int in_cols)
{
	core::fail("%s: %d x %d elements at (%lld, %lld) are not within %d x %d", op, rows, cols,
		   static_cast<long long>(row), static_cast<long long>(col), in_rows, in_cols);
}

template <bool Relu, typename D, typename S>
inline void extract(D &dst, const S &src, int64_t row, int64_t col)
{
	if (row < 0 || col < 0 || row + dst.GetValidRow() > src.GetValidRow() ||
	    col + dst.GetValidCol() > src.GetValidCol())
		out_of_bounds("TEXTRACT", row, col, dst.GetValidRow(), dst.GetValidCol(),
			      src.GetValidRow(), src.GetValidCol());
	window<Relu>(dst, 0, 0, src, int(row), int(col), dst.GetValidRow(), dst.GetValidCol());
}

template <bool Relu, typename D, typename S>
inline void insert(D &dst, const S &src, int64_t row, int64_t col)
{
	if (row < 0 || col < 0 || row + src.GetValidRow() > D::Rows ||
	    col + src.GetValidCol() > D::Cols)
		out_of_bounds("TINSERT", row, col, src.GetValidRow(), src.GetValidCol(), D::Rows,
			      D::Cols);
	window<Relu>(dst, int(row), int(col), src, 0, 0, src.GetValidRow(), src.GetValidCol());
}

} // namespace move

template <typename D, typename S, typename... W,
	  std::enable_if_t<is_tile_data_v<D> && is_tile_data_v<S>, int> = 0>
PTO_INST RecordEvent TMOV(D &dst, const S &src, const W &...)
{
	move::whole<false>(dst, src);
	return {};
}
template <typename D, typename S, ReluPreMode Relu, typename... W>
PTO_INST RecordEvent TMOV(D &dst, const S &src, const W &...)
{
	move::whole<Relu == ReluPreMode::NormalRelu>(dst, src);
	return {};
}
template <typename D, typename S, AccToVecMode Mode, ReluPreMode Relu = ReluPreMode::NoRelu,
	  typename... W>
PTO_INST RecordEvent TMOV(D &dst, const S &src, const W &...)
{
	move::whole<Relu == ReluPreMode::NormalRelu>(dst, src);
	return {};
}

/* dst[i, j] = src[i + row, j + col] over dst's valid region. */
template <typename D, typename S, typename... W,
	  std::enable_if_t<is_tile_data_v<D> && is_tile_data_v<S>, int> = 0>
PTO_INST RecordEvent TEXTRACT(D &dst, const S &src, int64_t row, int64_t col, const W &...)
{
	move::extract<false>(dst, src, row, col);
	return {};
}
template <typename D, typename S, ReluPreMode Relu, typename... W>
PTO_INST RecordEvent TEXTRACT(D &dst, const S &src, int64_t row, int64_t col, const W &...)
{
	move::extract<Relu == ReluPreMode::NormalRelu>(dst, src, row, col);
	return {};
}

/* Writes src's valid region at (row, col) of dst; the rest of dst is unchanged. */
template <typename D, typename S, typename... W,
	  std::enable_if_t<is_tile_data_v<D> && is_tile_data_v<S>, int> = 0>
PTO_INST RecordEvent TINSERT(D &dst, const S &src, int64_t row, int64_t col, const W &...)
{
	move::insert<false>(dst, src, row, col);
	return {};
}
template <typename D, typename S, ReluPreMode Relu, typename... W>
PTO_INST RecordEvent TINSERT(D &dst, const S &src, int64_t row, int64_t col, const W &...)
{
	move::insert<Relu == ReluPreMode::NormalRelu>(dst, src, row, col);
	return {};
}

} // namespace pto

#endif
