/* SPDX-License-Identifier: MIT */
/*
 * Reductions along columns, in the element type of the destination, and the sum
 * of adjacent pairs.
 *
 * Spec: pto-isa §4.6.
 */
#ifndef PTO_CPU_REDUCE_COLS_HPP
#define PTO_CPU_REDUCE_COLS_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/reduce.hpp"

namespace pto {
namespace reduce_ {

/* @count vectors of columns, from the first row down. */
template <int Count, typename Op, typename D, typename S>
PTO_SIMD void columns(D *d, const S *s, int rows, ptrdiff_t pitch)
{
	constexpr int L = simd_::LANES<S>;
	simd_::vec_of<D> acc[Count];

	PTO_UNROLL for (int i = 0; i < Count; i++) acc[i] =
		simd_::round_to<D>(simd_::load(s + i * L));
	for (int r = 1; r < rows; r++) {
		s += pitch;
		PTO_UNROLL for (int i = 0; i < Count; i++) acc[i] =
			simd_::round_to<D>(Op()(acc[i], simd_::load(s + i * L)));
	}
	PTO_UNROLL for (int i = 0; i < Count; i++) simd_::store(d + i * L, acc[i]);
}

template <typename Op, typename D, typename S>
__attribute__((noinline)) void all_columns(D *d, const S *s, int rows, int cols, ptrdiff_t pitch)
{
	constexpr int L = simd_::LANES<S>;
	static_assert(simd_::LANES<D> == L,
		      "[PTO][SA] column reductions do not change the width of integers");
	int c = 0;

	for (; c + 4 * L <= cols; c += 4 * L)
		columns<4, Op>(d + c, s + c, rows, pitch);
	for (; c + L <= cols; c += L)
		columns<1, Op>(d + c, s + c, rows, pitch);
	if (c < cols) {
		const int n = cols - c;
		auto acc = simd_::round_to<D>(simd_::load_part(s + c, n));

		for (int r = 1; r < rows; r++)
			acc = simd_::round_to<D>(Op()(acc, simd_::load_part(s + r * pitch + c, n)));
		simd_::store_part(d + c, acc, n);
	}
}

/* One column of any layout. */
template <typename Op, typename D, typename S>
inline void one_column(D *d, const S &src, int c)
{
	constexpr int L = simd_::LANES<D>;
	auto acc = simd_::vec_of<D>{};

	for (int r = 0; r < src.GetValidRow(); r++) {
		const auto x =
			simd_::splat<simd_::vec_of<D>>(simd_::compute_t<D>(src.GetElement(r, c)));

		acc = simd_::round_to<D>(r ? Op()(acc, x) : x);
	}
	static_assert(L > 0, "");
	simd_::store_part(d, acc, 1);
}

template <typename D, typename S>
inline void check_cols(const D &dst, const S &src)
{
	if (core_::checked() && dst.GetValidCol() != src.GetValidCol())
		checking_::fail_here("column reduction: destination has %d valid columns, source %d",
			   dst.GetValidCol(), src.GetValidCol());
}

template <typename Op, typename D, typename S>
inline void along_cols(D &dst, const S &src)
{
	const int rows = src.GetValidRow(), cols = src.GetValidCol();

	check_cols(dst, src);
	if (rows <= 0 || cols <= 0)
		return;
	if constexpr (spans_::is_rows<S> && spans_::is_rows<D>)
		all_columns<Op>(dst.data(), static_cast<const typename S::DType *>(src.data()),
				rows, cols, S::Cols);
	else
		for (int c = 0; c < cols; c++)
			one_column<Op>(dst.data() + D::Offset(0, c), src, c);
}

/* done(column, lane, fold) for each column; elements of at most 32 bits. */
template <bool Max, typename S, typename F>
inline void each_col(const S &src, const F &done)
{
	using T = typename S::DType;
	constexpr int L = simd_::FLOATS;
	static_assert(sizeof(acc_t<T>) == 4, "[PTO][SA] elements of at most 4 bytes");
	const int rows = src.GetValidRow(), cols = src.GetValidCol();

	for (int c = 0; c < cols && rows > 0; c += L) {
		const int n = cols - c < L ? cols - c : L;
		fold_arg<Max, acc_vec<T>> fold;

		for (int r = 0; r < rows; r++) {
			acc_vec<T> x = {};

			if (spans_::is_rows<S> && n == L)
				x = load(static_cast<const T *>(src.data() + size_t(r) * S::Cols +
								c));
			else
				for (int i = 0; i < n; i++)
					x[i] = acc_t<T>(src.GetElement(r, c + i));
			r ? fold.next(x, r) : fold.first(x);
		}
		for (int i = 0; i < n; i++)
			done(c + i, i, fold);
	}
}

template <bool Max, typename I, typename S>
inline void col_arg(I &idx, const S &src)
{
	check_cols(idx, src);
	each_col<Max>(src, [&](int c, int lane, const auto &fold) {
		idx.data()[I::Offset(0, c)] = typename I::DType(fold.at[lane]);
	});
}

template <bool Max, typename V, typename I, typename S>
inline void col_arg(V &val, I &idx, const S &src)
{
	check_cols(idx, src);
	each_col<Max>(src, [&](int c, int lane, const auto &fold) {
		val.data()[V::Offset(0, c)] = typename V::DType(fold.acc[lane]);
		idx.data()[I::Offset(0, c)] = typename I::DType(fold.at[lane]);
	});
}

} // namespace reduce_

/* Scratch and the choice of a tree are the hardware's; columns are summed from the top down. */
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLSUM(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TCOLSUM", checking_::VECTOR, checking_::APART,
		  checking_::part(d, 1, src.GetValidCol(), checking_::WRITE), checking_::in(src));
	reduce_::along_cols<simd_::op_add>(d, src);
	return {};
}
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLPROD(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TCOLPROD", checking_::VECTOR, checking_::APART,
		  checking_::part(d, 1, src.GetValidCol(), checking_::WRITE), checking_::in(src));
	reduce_::along_cols<simd_::op_mul>(d, src);
	return {};
}
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLMAX(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TCOLMAX", checking_::VECTOR, checking_::APART,
		  checking_::part(d, 1, src.GetValidCol(), checking_::WRITE), checking_::in(src));
	reduce_::along_cols<simd_::op_max>(d, src);
	return {};
}
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLMIN(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TCOLMIN", checking_::VECTOR, checking_::APART,
		  checking_::part(d, 1, src.GetValidCol(), checking_::WRITE), checking_::in(src));
	reduce_::along_cols<simd_::op_min>(d, src);
	return {};
}
template <typename D, typename S, typename T>
PTO_INST RecordEvent TCOLARGMAX(D &idx, const S &src, const T &, PTO_SITE)
{
	PTO_CHECK_ALONE("TCOLARGMAX", checking_::VECTOR, checking_::APART,
			checking_::part(idx, 1, src.GetValidCol(), checking_::WRITE),
			checking_::in(src));
	reduce_::col_arg<true>(idx, src);
	return {};
}
template <typename V, typename I, typename S, typename T>
PTO_INST RecordEvent TCOLARGMAX(V &val, I &idx, const S &src, const T &, PTO_SITE)
{
	PTO_CHECK_ALONE("TCOLARGMAX", checking_::VECTOR, checking_::APART,
			checking_::part(idx, 1, src.GetValidCol(), checking_::WRITE),
			checking_::in(src));
	reduce_::col_arg<true>(val, idx, src);
	return {};
}
template <typename D, typename S, typename T>
PTO_INST RecordEvent TCOLARGMIN(D &idx, const S &src, const T &, PTO_SITE)
{
	PTO_CHECK_ALONE("TCOLARGMIN", checking_::VECTOR, checking_::APART,
			checking_::part(idx, 1, src.GetValidCol(), checking_::WRITE),
			checking_::in(src));
	reduce_::col_arg<false>(idx, src);
	return {};
}
template <typename V, typename I, typename S, typename T>
PTO_INST RecordEvent TCOLARGMIN(V &val, I &idx, const S &src, const T &, PTO_SITE)
{
	PTO_CHECK_ALONE("TCOLARGMIN", checking_::VECTOR, checking_::APART,
			checking_::part(idx, 1, src.GetValidCol(), checking_::WRITE),
			checking_::in(src));
	reduce_::col_arg<false>(val, idx, src);
	return {};
}
/* d[r, j] = src[r, 2j] + src[r, 2j + 1]; an odd last column stays alone. */
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TPAIRREDUCESUM(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TPAIRREDUCESUM", checking_::VECTOR, checking_::APART,
		  checking_::part(d, src.GetValidRow(), src.GetValidCol() / 2, checking_::WRITE),
		  checking_::in(src));
	using T = typename D::DType;
	const int cols = src.GetValidCol();

	for (int r = 0; r < d.GetValidRow(); r++)
		for (int j = 0; j < d.GetValidCol() && 2 * j < cols; j++) {
			const T a = src.GetElement(r, 2 * j);

			d.SetElement(r, j,
				     2 * j + 1 < cols ? T(a + src.GetElement(r, 2 * j + 1)) : a);
		}
	return {};
}

} // namespace pto

#endif
