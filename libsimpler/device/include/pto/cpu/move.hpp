/* SPDX-License-Identifier: MIT */
/*
 * Moves between tiles: TMOV, TEXTRACT, TINSERT.
 *
 * Spec: pto-isa §4.1.
 */
#ifndef PTO_CPU_MOVE_HPP
#define PTO_CPU_MOVE_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/blocked_tensor.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/fixpipe.hpp"

namespace pto {
namespace move_ {

/* True for a tile of quantisation parameters. */
template <typename T, bool = is_tile_data_v<T>>
inline constexpr bool is_params_v = false;
template <typename T>
inline constexpr bool is_params_v<T, true> = T::Loc == TileType::Scaling;

/* Moves rows x cols elements; an accumulator source, or a type change, converts. */
template <bool Relu, typename D, typename S>
inline void window(D &dst, int dr, int dc, const S &src, int sr, int sc, int rows, int cols,
		   const fixpipe_::quant *q = nullptr)
{
	using DE = typename D::DType;
	using SE = typename S::DType;
	constexpr bool plain =
		std::is_same_v<DE, SE> || (sizeof(DE) == sizeof(SE) && S::Loc != TileType::Acc);

	if (!dst.data() || !src.data())
		core_::fail("a tile has no memory; TASSIGN it first");
	if constexpr (is_packed_v<DE>)
		blocked_::move_codes(dst, dr, dc, src, sr, sc, rows, cols);
	else if constexpr (plain && !Relu)
		copy_::region(copy_::move_bits(), copy_::raw_view(dst), dr, dc, copy_::raw_view(src),
			     sr, sc, rows, cols);
	else
		copy_::region(fixpipe_::convert<DE, SE, Relu>{q}, copy_::tile_view(dst), dr, dc,
			     copy_::tile_view(src), sr, sc, rows, cols);
}

template <bool Relu, typename D, typename S>
inline void whole(D &dst, const S &src, const fixpipe_::quant *q = nullptr)
{
	if (core_::checked() &&
	    (dst.GetValidRow() != src.GetValidRow() || dst.GetValidCol() != src.GetValidCol()))
		checking_::fail_here("TMOV: valid regions differ: destination %d x %d, source %d x %d",
			   dst.GetValidRow(), dst.GetValidCol(), src.GetValidRow(),
			   src.GetValidCol());
	window<Relu>(dst, 0, 0, src, 0, 0, dst.GetValidRow(), dst.GetValidCol(), q);
}

inline __attribute__((noinline, cold)) void out_of_bounds(const char *op, int64_t row, int64_t col,
							  int rows, int cols, int in_rows,
							  int in_cols)
{
	checking_::fail_here("%s: %d x %d elements at (%lld, %lld) are not within %d x %d", op, rows, cols,
		   static_cast<long long>(row), static_cast<long long>(col), in_rows, in_cols);
}

template <typename D, typename S>
inline void check_extract(const char *op, const D &dst, const S &src, int64_t row, int64_t col)
{
	if (row < 0 || col < 0 || row + dst.GetValidRow() > src.GetValidRow() ||
	    col + dst.GetValidCol() > src.GetValidCol())
		out_of_bounds(op, row, col, dst.GetValidRow(), dst.GetValidCol(), src.GetValidRow(),
			      src.GetValidCol());
}

template <bool Relu, typename D, typename S>
inline void extract(D &dst, const S &src, int64_t row, int64_t col)
{
	check_extract("TEXTRACT", dst, src, row, col);
	window<Relu>(dst, 0, 0, src, int(row), int(col), dst.GetValidRow(), dst.GetValidCol());
}

template <typename D, typename S>
inline void check_insert(const char *op, const D &, const S &src, int64_t row, int64_t col)
{
	if (row < 0 || col < 0 || row + src.GetValidRow() > D::Rows ||
	    col + src.GetValidCol() > D::Cols)
		out_of_bounds(op, row, col, src.GetValidRow(), src.GetValidCol(), D::Rows, D::Cols);
}

template <bool Relu, typename D, typename S>
inline void insert(D &dst, const S &src, int64_t row, int64_t col)
{
	check_insert("TINSERT", dst, src, row, col);
	window<Relu>(dst, int(row), int(col), src, 0, 0, src.GetValidRow(), src.GetValidCol());
}

} // namespace move_

/* A 64-bit scalar after the tiles is a quantisation parameter (see fixpipe_::quant). */
template <
	typename D, typename S, PTO_EXTRA_T,
	std::enable_if_t<is_tile_data_v<D> && is_tile_data_v<S> && !move_::is_params_v<W1>, int> = 0>
PTO_INST RecordEvent TMOV(D &dst, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TMOV", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::out(dst), checking_::in(src));
	const fixpipe_::quant q(w1, w2, w3, w4);

	move_::whole<false>(dst, src, q.pointer());
	return {};
}
template <typename D, typename S, ReluPreMode Relu, PTO_EXTRA_T>
PTO_INST RecordEvent TMOV(D &dst, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TMOV", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::out(dst), checking_::in(src));
	const fixpipe_::quant q(w1, w2, w3, w4);

	move_::whole<Relu == ReluPreMode::NormalRelu>(dst, src, q.pointer());
	return {};
}
template <typename D, typename S, AccToVecMode Mode, ReluPreMode Relu = ReluPreMode::NoRelu,
	  PTO_EXTRA_T>
PTO_INST RecordEvent TMOV(D &dst, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TMOV", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::out(dst), checking_::in(src));
	const fixpipe_::quant q(w1, w2, w3, w4);

	move_::whole<Relu == ReluPreMode::NormalRelu>(dst, src, q.pointer());
	return {};
}

/* dst[i, j] = src[i + row, j + col] over dst's valid region. */
template <typename D, typename S, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<D> && is_tile_data_v<S>, int> = 0>
PTO_INST RecordEvent TEXTRACT(D &dst, const S &src, int64_t row, int64_t col, PTO_EXTRA)
{
	PTO_CHECK("TEXTRACT", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::out(dst),
		  checking_::window_of(src, row, col, dst.GetValidRow(), dst.GetValidCol()));
	move_::extract<false>(dst, src, row, col);
	return {};
}
template <typename D, typename S, ReluPreMode Relu, PTO_EXTRA_T>
PTO_INST RecordEvent TEXTRACT(D &dst, const S &src, int64_t row, int64_t col, PTO_EXTRA)
{
	PTO_CHECK("TEXTRACT", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::out(dst),
		  checking_::window_of(src, row, col, dst.GetValidRow(), dst.GetValidCol()));
	move_::extract<Relu == ReluPreMode::NormalRelu>(dst, src, row, col);
	return {};
}

/* Writes src's valid region at (row, col) of dst; the rest of dst is unchanged. */
template <typename D, typename S, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<D> && is_tile_data_v<S>, int> = 0>
PTO_INST RecordEvent TINSERT(D &dst, const S &src, int64_t row, int64_t col, PTO_EXTRA)
{
	PTO_CHECK("TINSERT", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::window_to(dst, row, col, src.GetValidRow(), src.GetValidCol()),
		  checking_::in(src));
	move_::insert<false>(dst, src, row, col);
	return {};
}
template <typename D, typename S, ReluPreMode Relu, PTO_EXTRA_T>
PTO_INST RecordEvent TINSERT(D &dst, const S &src, int64_t row, int64_t col, PTO_EXTRA)
{
	PTO_CHECK("TINSERT", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::window_to(dst, row, col, src.GetValidRow(), src.GetValidCol()),
		  checking_::in(src));
	move_::insert<Relu == ReluPreMode::NormalRelu>(dst, src, row, col);
	return {};
}

} // namespace pto

#endif
