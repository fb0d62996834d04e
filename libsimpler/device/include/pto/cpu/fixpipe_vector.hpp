/* SPDX-License-Identifier: MIT */
/*
 * Quantisation out of the accumulator with one parameter per column: TSTORE_FP,
 * TMOV_FP, TEXTRACT_FP, TINSERT_FP and the forms of TMOV that name a Scaling
 * tile; SET_QUANT_SCALAR and SET_QUANT_VECTOR.
 *
 * A parameter is 64 bits: scale in bits 31..13 as the upper bits of a float,
 * offset in bits 45..37, bit 46 chooses -128..127 instead of 0..255.  It is
 * parameter number c, counted from the first column written, for column c.
 *
 * Spec: pto-isa §4.1, §4.12.
 */
#ifndef PTO_CPU_FIXPIPE_VECTOR_HPP
#define PTO_CPU_FIXPIPE_VECTOR_HPP

#include "pto/cpu/load_store.hpp"
#include "pto/cpu/move.hpp"

namespace pto {
namespace fixpipe_ {

template <typename S, typename F>
inline const uint64_t *params_of(const char *op, const S &src, const F &fp, int cols)
{
	static_assert(F::Loc == TileType::Scaling && sizeof(typename F::DType) == 8,
		      "[PTO][SA] the parameters are a Scaling tile of 64-bit elements");
	static_assert(S::Loc == TileType::Acc, "[PTO][SA] the source is an Acc tile");
	if (!src.data() || !fp.data())
		core_::fail("%s: a tile has no memory; TASSIGN it first", op);
	if (cols > F::Cols)
		core_::fail("%s: %d columns need more than the %d parameters of the Scaling tile",
			   op, cols, F::Cols);
	return reinterpret_cast<const uint64_t *>(fp.data());
}

/* Writes the rows x cols source elements at (sr, sc) to (dr, dc) of @dst. */
template <bool Relu, typename D, typename S, typename F>
inline void move_columns(const char *op, D &dst, int dr, int dc, const S &src, int sr, int sc,
			 int rows, int cols, const F &fp)
{
	if (rows <= 0 || cols <= 0)
		return;
	const uint64_t *params = params_of(op, src, fp, cols);
	converted<typename D::DType> tmp(rows, cols);

	convert_columns<Relu>(tmp, copy_::tile_view(src), sr, sc, rows, params);
	copy_::region(copy_::move_bits(), copy_::raw_view(dst), dr, dc, tmp.view(), 0, 0, rows, cols);
}

template <AtomicType Atomic, bool Relu, typename G, typename S, typename F>
inline void store_columns(const G &g, const S &src, const F &fp)
{
	using E = typename G::RawDType;
	const int rows = src.GetValidRow(), cols = src.GetValidCol();

	if (rows <= 0 || cols <= 0)
		return;
	converted<E> tmp(rows, cols);

	convert_columns<Relu>(tmp, copy_::tile_view(src), 0, 0, rows,
			      params_of("TSTORE_FP", src, fp, cols));
	if constexpr (Atomic == AtomicType::AtomicAdd)
		transfer_::store(add_atomic<copy_::move_bits>{}, transfer_::tensor_of<E>(src, g),
				copy_::strided(tmp.p, cols, 1), src);
	else
		transfer_::store(copy_::move_bits(), transfer_::tensor_of<copy_::raw_t<E>>(src, g),
				tmp.view(), src);
}

template <bool Relu, typename D, typename S, typename F>
inline void move_whole(const char *op, D &dst, const S &src, const F &fp)
{
	move_columns<Relu>(op, dst, 0, 0, src, 0, 0, dst.GetValidRow(), dst.GetValidCol(), fp);
}

template <bool Relu, typename D, typename S, typename F>
inline void extract(D &dst, const S &src, const F &fp, int64_t row, int64_t col)
{
	move_::check_extract("TEXTRACT_FP", dst, src, row, col);
	move_columns<Relu>("TEXTRACT_FP", dst, 0, 0, src, int(row), int(col), dst.GetValidRow(),
			   dst.GetValidCol(), fp);
}

template <bool Relu, typename D, typename S, typename F>
inline void insert(D &dst, const S &src, const F &fp, int64_t row, int64_t col)
{
	move_::check_insert("TINSERT_FP", dst, src, row, col);
	move_columns<Relu>("TINSERT_FP", dst, int(row), int(col), src, 0, 0, src.GetValidRow(),
			   src.GetValidCol(), fp);
}

} // namespace fixpipe_

/* Stores column c quantised by fp[0, c]. */
template <typename G, typename T, typename F, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<T> && is_tile_data_v<F>, int> = 0>
PTO_INST RecordEvent TSTORE_FP(const G &dst, const T &src, const F &fp, PTO_EXTRA)
{
	PTO_CHECK("TSTORE_FP", checking_::FIX, 0,
		  checking_::memory(checking_::tensor_of(dst), checking_::WRITE), checking_::in(src),
		  checking_::part(fp, 1, src.GetValidCol(), checking_::READ));
	fixpipe_::store_columns<AtomicType::AtomicNone, false>(dst, src, fp);
	return {};
}
template <typename T, typename G, typename F, AtomicType Atomic,
	  ReluPreMode Relu = ReluPreMode::NoRelu, PTO_EXTRA_T>
PTO_INST RecordEvent TSTORE_FP(const G &dst, const T &src, const F &fp, PTO_EXTRA)
{
	PTO_CHECK("TSTORE_FP", checking_::FIX, 0,
		  checking_::memory(checking_::tensor_of(dst), checking_::WRITE), checking_::in(src),
		  checking_::part(fp, 1, src.GetValidCol(), checking_::READ));
	fixpipe_::store_columns<Atomic, Relu == ReluPreMode::NormalRelu>(dst, src, fp);
	return {};
}
template <typename T, typename G, typename F, ReluPreMode Relu, PTO_EXTRA_T>
PTO_INST RecordEvent TSTORE_FP(const G &dst, const T &src, const F &fp, PTO_EXTRA)
{
	PTO_CHECK("TSTORE_FP", checking_::FIX, 0,
		  checking_::memory(checking_::tensor_of(dst), checking_::WRITE), checking_::in(src),
		  checking_::part(fp, 1, src.GetValidCol(), checking_::READ));
	fixpipe_::store_columns<AtomicType::AtomicNone, Relu == ReluPreMode::NormalRelu>(dst, src,
											fp);
	return {};
}

/* Moves column c quantised by fp[0, c]. */
template <typename D, typename S, typename F, ReluPreMode Relu = ReluPreMode::NoRelu, PTO_EXTRA_T>
PTO_INST RecordEvent TMOV_FP(D &dst, const S &src, const F &fp, PTO_EXTRA)
{
	PTO_CHECK("TMOV_FP", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::out(dst), checking_::in(src));
	fixpipe_::move_whole<Relu == ReluPreMode::NormalRelu>("TMOV_FP", dst, src, fp);
	return {};
}
template <typename D, typename S, typename F, AccToVecMode Mode,
	  ReluPreMode Relu = ReluPreMode::NoRelu, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<F>, int> = 0>
PTO_INST RecordEvent TMOV(D &dst, const S &src, const F &fp, PTO_EXTRA)
{
	PTO_CHECK("TMOV", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::out(dst), checking_::in(src));
	fixpipe_::move_whole<Relu == ReluPreMode::NormalRelu>("TMOV", dst, src, fp);
	return {};
}
template <typename D, typename S, typename F, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<D> && is_tile_data_v<S> && move_::is_params_v<F>, int> = 0>
PTO_INST RecordEvent TMOV(D &dst, const S &src, const F &fp, PTO_EXTRA)
{
	PTO_CHECK("TMOV", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::out(dst), checking_::in(src));
	fixpipe_::move_whole<false>("TMOV", dst, src, fp);
	return {};
}

template <typename D, typename S, typename F, ReluPreMode Relu = ReluPreMode::NoRelu, PTO_EXTRA_T>
PTO_INST RecordEvent TEXTRACT_FP(D &dst, const S &src, const F &fp, int64_t row, int64_t col,
				 PTO_EXTRA)
{
	PTO_CHECK("TEXTRACT_FP", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::out(dst),
		  checking_::window_of(src, row, col, dst.GetValidRow(), dst.GetValidCol()));
	fixpipe_::extract<Relu == ReluPreMode::NormalRelu>(dst, src, fp, row, col);
	return {};
}
template <typename D, typename S, typename F, ReluPreMode Relu = ReluPreMode::NoRelu, PTO_EXTRA_T>
PTO_INST RecordEvent TINSERT_FP(D &dst, const S &src, const F &fp, int64_t row, int64_t col,
				PTO_EXTRA)
{
	PTO_CHECK("TINSERT_FP", checking_::pipe_of_move(D::Loc, S::Loc), checking_::APART,
		  checking_::window_to(dst, row, col, src.GetValidRow(), src.GetValidCol()),
		  checking_::in(src));
	fixpipe_::insert<Relu == ReluPreMode::NormalRelu>(dst, src, fp, row, col);
	return {};
}

/*
 * Sets the scale of the stores and moves from the accumulator that follow and
 * bring no parameter of their own; @Out is the type they write.
 */
template <typename Out, typename... W>
PTO_INST RecordEvent SET_QUANT_SCALAR(float scale, const W &...)
{
	fixpipe_::set_preset(scale, std::is_signed_v<Out>, nullptr, 0);
	return {};
}
/* Sets one parameter per column for them; the tile must stay as it is. */
template <typename F, typename... W>
PTO_INST RecordEvent SET_QUANT_VECTOR(const F &fp, const W &...)
{
	static_assert(F::Loc == TileType::Scaling && sizeof(typename F::DType) == 8,
		      "[PTO][SA] the parameters are a Scaling tile of 64-bit elements");
	fixpipe_::set_preset(1.0f, false, reinterpret_cast<const uint64_t *>(fp.data()), F::Cols);
	return {};
}

} // namespace pto

#endif
