/* SPDX-License-Identifier: MIT */
/*
 * Reductions along rows and columns.  Row reductions take several rows at a
 * time and go through the columns from left to right, so that every row is
 * reduced in the order of its elements.
 *
 * Spec: pto-isa §4.6, §12 cases 19 and 20; decisions D26.
 */
#ifndef PTO_CPU_REDUCE_HPP
#define PTO_CPU_REDUCE_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/ops.hpp"
#include "pto/cpu/spans.hpp"

namespace pto {
namespace reduce_ {

/* What a row is accumulated in: float for all floats, 32 or 64 bit for integers. */
template <typename T>
using acc_t = std::conditional_t<
	is_float_like_v<T>, float,
	std::conditional_t<sizeof(T) == 8, T,
			   std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;

template <typename T>
using acc_vec = simd_::vec<acc_t<T>, simd_::FLOATS>;

template <typename T>
PTO_SIMD acc_vec<T> load(const T *p)
{
	if constexpr (is_float_like_v<T>)
		return simd_::load(p);
	else
		return __builtin_convertvector((simd_::load_raw<simd_::vec<T, simd_::FLOATS>>(p)),
					       acc_vec<T>);
}

/* v[i][j] becomes v[j][i], for vectors of 32-bit elements. */
template <typename V>
PTO_SIMD void transpose(V (&v)[simd_::FLOATS])
{
	if constexpr (simd_::FLOATS == 8) {
		simd_::transpose8_wide(v);
	} else {
		const V a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
		const V b = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
		const V c = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
		const V d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);

		v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
		v[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
		v[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
		v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
	}
}

/* The value of one row in each lane. */
template <typename Op, typename V>
struct fold_value {
	using values = V;
	V acc;

	PTO_SIMD void first(V x) { acc = x; }
	PTO_SIMD void next(V x, int) { acc = Op()(acc, x); }
};

/* The best value and its first position; a leading NaN stays. */
template <bool Max, typename V>
struct fold_arg {
	using values = V;
	V acc;
	simd_::vint at;

	PTO_SIMD void first(V x)
	{
		acc = x;
		at = simd_::vint{};
	}
	PTO_SIMD void next(V x, int c)
	{
		const simd_::vint better = Max ? acc < x : x < acc;

		acc = better ? x : acc;
		at = better ? simd_::vint{} + c : at;
	}
};

/* Columns @c of FLOATS rows. */
template <typename T>
PTO_SIMD acc_vec<T> column(const T *const *row, int c)
{
	acc_vec<T> x = {};

	for (int i = 0; i < simd_::FLOATS; i++)
		x[i] = acc_t<T>(row[i][c]);
	return x;
}

/* FLOATS rows from @row on, columns @c to @c + FLOATS - 1: one column in each vector. */
template <typename T>
PTO_SIMD void columns(acc_vec<T> (&v)[simd_::FLOATS], const T *const *row, int c)
{
	PTO_UNROLL for (int i = 0; i < simd_::FLOATS; i++) v[i] = load(row[i] + c);
	transpose(v);
}

/*
 * Folds G groups of FLOATS rows of 32-bit accumulators at once; needs at least
 * one column.  Two groups keep the processor busy while each waits for its own
 * sum.
 */
template <int G, typename Fold, typename T>
__attribute__((noinline)) void rows_at_once(const T *const *row, int cols, Fold *out)
{
	constexpr int L = simd_::FLOATS;
	acc_vec<T> v[L];
	Fold fold[G];
	int c = 1;

	if (cols < L) {
		for (int g = 0; g < G; g++)
			fold[g].first(column(row + g * L, 0));
	} else {
		PTO_UNROLL for (int g = 0; g < G; g++)
		{
			columns(v, row + g * L, 0);
			fold[g].first(v[0]);
			PTO_UNROLL for (int i = 1; i < L; i++) fold[g].next(v[i], i);
		}
		c = L;
	}
	for (; c + L <= cols; c += L)
		PTO_UNROLL for (int g = 0; g < G; g++)
		{
			columns(v, row + g * L, c);
			PTO_UNROLL for (int i = 0; i < L; i++) fold[g].next(v[i], c + i);
		}
	for (; c < cols; c++)
		for (int g = 0; g < G; g++)
			fold[g].next(column(row + g * L, c), c);
	for (int g = 0; g < G; g++)
		out[g] = fold[g];
}

/* Calls done(row, lane, fold) for each row of @src; any layout, elements of at most 32 bits. */
template <typename Fold, typename S, typename F>
inline void each_row(const S &src, const F &done)
{
	using T = typename S::DType;
	constexpr int L = simd_::FLOATS;
	const int rows = src.GetValidRow(), cols = src.GetValidCol();

	if (rows <= 0 || cols <= 0)
		return;
	for (int r = 0; r < rows; r += 2 * L) {
		const int n = rows - r < 2 * L ? rows - r : 2 * L;
		Fold fold[2];

		if constexpr (spans_::is_rows<S>) {
			const T *row[2 * L];

			for (int i = 0; i < 2 * L; i++)
				row[i] = src.data() + size_t(r + (i < n ? i : 0)) * S::Cols;
			if (n > L)
				rows_at_once<2>(row, cols, fold);
			else
				rows_at_once<1>(row, cols, fold);
		} else {
			for (int c = 0; c < cols; c++)
				for (int g = 0; g < 2; g++) {
					typename Fold::values x = {};

					for (int i = 0; i < L && g * L + i < n; i++)
						x[i] = acc_t<T>(src.GetElement(r + g * L + i, c));
					c ? fold[g].next(x, c) : fold[g].first(x);
				}
		}
		for (int i = 0; i < n; i++)
			done(r + i, i % L, fold[i / L]);
	}
}

template <typename D, typename S>
inline void check_rows(const D &dst, const S &src)
{
	if (core_::checked() && dst.GetValidRow() != src.GetValidRow())
		checking_::fail_here("row reduction: destination has %d valid rows, source %d",
			   dst.GetValidRow(), src.GetValidRow());
}

/* A row of 64-bit integers. */
template <typename Op, typename S>
inline typename S::DType wide_row(const S &src, int r)
{
	using V = simd_::vec<typename S::DType, 2>;
	V acc = V{} + src.GetElement(r, 0);

	for (int c = 1; c < src.GetValidCol(); c++)
		acc = Op()(acc, V{} + src.GetElement(r, c));
	return acc[0];
}

template <typename Op, typename D, typename S>
inline void along_rows(D &dst, const S &src)
{
	using T = typename S::DType;
	using DT = typename D::DType;

	check_rows(dst, src);
	if constexpr (sizeof(acc_t<T>) == 4) {
		each_row<fold_value<Op, acc_vec<T>>>(
			src, [&dst](int r, int lane, const auto &fold) {
				dst.data()[D::Offset(r, 0)] = DT(fold.acc[lane]);
			});
	} else if (src.GetValidCol() > 0) {
		for (int r = 0; r < src.GetValidRow(); r++)
			dst.data()[D::Offset(r, 0)] = DT(wide_row<Op>(src, r));
	}
}

/* Index, and with @val also the value, of the best element of each row. */
template <bool Max, typename I, typename S>
inline void row_arg(I &idx, const S &src)
{
	using T = typename S::DType;
	static_assert(sizeof(acc_t<T>) == 4, "[PTO][SA] elements of at most 4 bytes");

	check_rows(idx, src);
	each_row<fold_arg<Max, acc_vec<T>>>(src, [&](int r, int lane, const auto &fold) {
		idx.data()[I::Offset(r, 0)] = typename I::DType(fold.at[lane]);
	});
}

template <bool Max, typename V, typename I, typename S>
inline void row_arg(V &val, I &idx, const S &src)
{
	using T = typename S::DType;
	static_assert(sizeof(acc_t<T>) == 4, "[PTO][SA] elements of at most 4 bytes");

	check_rows(idx, src);
	each_row<fold_arg<Max, acc_vec<T>>>(src, [&](int r, int lane, const auto &fold) {
		val.data()[V::Offset(r, 0)] = typename V::DType(fold.acc[lane]);
		idx.data()[I::Offset(r, 0)] = typename I::DType(fold.at[lane]);
	});
}

} // namespace reduce_

template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TROWSUM(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TROWSUM", checking_::VECTOR, checking_::APART,
		  checking_::part(d, src.GetValidRow(), 1, checking_::WRITE), checking_::in(src));
	reduce_::along_rows<simd_::op_add>(d, src);
	return {};
}
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TROWPROD(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TROWPROD", checking_::VECTOR, checking_::APART,
		  checking_::part(d, src.GetValidRow(), 1, checking_::WRITE), checking_::in(src));
	reduce_::along_rows<simd_::op_mul>(d, src);
	return {};
}
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TROWMAX(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TROWMAX", checking_::VECTOR, checking_::APART,
		  checking_::part(d, src.GetValidRow(), 1, checking_::WRITE), checking_::in(src));
	reduce_::along_rows<simd_::op_max>(d, src);
	return {};
}
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TROWMIN(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TROWMIN", checking_::VECTOR, checking_::APART,
		  checking_::part(d, src.GetValidRow(), 1, checking_::WRITE), checking_::in(src));
	reduce_::along_rows<simd_::op_min>(d, src);
	return {};
}

/* (index, source, scratch) or (value, index, source, scratch) */
template <typename D, typename S, typename T>
PTO_INST RecordEvent TROWARGMAX(D &idx, const S &src, const T &, PTO_SITE)
{
	PTO_CHECK_ALONE("TROWARGMAX", checking_::VECTOR, checking_::APART,
			checking_::part(idx, src.GetValidRow(), 1, checking_::WRITE),
			checking_::in(src));
	reduce_::row_arg<true>(idx, src);
	return {};
}
template <typename V, typename I, typename S, typename T>
PTO_INST RecordEvent TROWARGMAX(V &val, I &idx, const S &src, const T &, PTO_SITE)
{
	PTO_CHECK_ALONE("TROWARGMAX", checking_::VECTOR, checking_::APART,
			checking_::part(idx, src.GetValidRow(), 1, checking_::WRITE),
			checking_::in(src));
	reduce_::row_arg<true>(val, idx, src);
	return {};
}
template <typename D, typename S, typename T>
PTO_INST RecordEvent TROWARGMIN(D &idx, const S &src, const T &, PTO_SITE)
{
	PTO_CHECK_ALONE("TROWARGMIN", checking_::VECTOR, checking_::APART,
			checking_::part(idx, src.GetValidRow(), 1, checking_::WRITE),
			checking_::in(src));
	reduce_::row_arg<false>(idx, src);
	return {};
}
template <typename V, typename I, typename S, typename T>
PTO_INST RecordEvent TROWARGMIN(V &val, I &idx, const S &src, const T &, PTO_SITE)
{
	PTO_CHECK_ALONE("TROWARGMIN", checking_::VECTOR, checking_::APART,
			checking_::part(idx, src.GetValidRow(), 1, checking_::WRITE),
			checking_::in(src));
	reduce_::row_arg<false>(val, idx, src);
	return {};
}

} // namespace pto

#endif
