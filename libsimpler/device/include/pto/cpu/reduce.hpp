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
namespace reduce {

/* What a row is accumulated in: float for all floats, 32 or 64 bit for integers. */
template <typename T>
using acc_t = std::conditional_t<
	is_float_like_v<T>, float,
	std::conditional_t<sizeof(T) == 8, T, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;

template <typename T>
using acc_vec = simd::vec<acc_t<T>, simd::FLOATS>;

template <typename T>
PTO_SIMD acc_vec<T> load(const T *p)
{
	if constexpr (is_float_like_v<T>)
		return simd::load(p);
	else
		return __builtin_convertvector((simd::load_raw<simd::vec<T, simd::FLOATS>>(p)), acc_vec<T>);
}

/* v[i][j] becomes v[j][i], for vectors of 32-bit elements. */
template <typename V>
PTO_SIMD void transpose(V (&v)[simd::FLOATS])
{
	if constexpr (simd::FLOATS == 8) {
		V t[8], u[8];

		for (int i = 0; i < 8; i += 2) {
			t[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
			t[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
		}
		for (int i = 0; i < 8; i += 4)
			for (int j = 0; j < 2; j++) {
				u[i + 2 * j] = __builtin_shufflevector(t[i + j], t[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
				u[i + 2 * j + 1] = __builtin_shufflevector(t[i + j], t[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
			}
		for (int i = 0; i < 4; i++) {
			v[i] = __builtin_shufflevector(u[i], u[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
			v[i + 4] = __builtin_shufflevector(u[i], u[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
		}
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

/* Reduces FLOATS rows of 32-bit accumulators at once; needs at least one column. */
template <typename Op, typename T>
__attribute__((noinline)) void rows_at_once(const T *const (&row)[simd::FLOATS], int cols, acc_t<T> *out)
{
	constexpr int L = simd::FLOATS;
	acc_vec<T> acc = {};
	int c = 0;

	for (int i = 0; i < L; i++)
		acc[i] = acc_t<T>(row[i][0]);
	for (c = 1; c < cols && c % L; c++) {
		acc_vec<T> x = {};

		for (int i = 0; i < L; i++)
			x[i] = acc_t<T>(row[i][c]);
		acc = Op()(acc, x);
	}
	for (; c + L <= cols; c += L) {
		acc_vec<T> v[L];

		for (int i = 0; i < L; i++)
			v[i] = load(row[i] + c);
		transpose(v);
		for (int i = 0; i < L; i++)
			acc = Op()(acc, v[i]);
	}
	for (; c < cols; c++) {
		acc_vec<T> x = {};

		for (int i = 0; i < L; i++)
			x[i] = acc_t<T>(row[i][c]);
		acc = Op()(acc, x);
	}
	simd::store_raw(out, acc);
}

/* One row of any layout. */
template <typename Op, typename S>
inline acc_t<typename S::DType> one_row(const S &src, int r, int cols)
{
	using C = acc_t<typename S::DType>;
	using V = simd::vec<C, 16 / sizeof(C)>;
	V acc = V{} + C(src.GetElement(r, 0));

	for (int c = 1; c < cols; c++)
		acc = Op()(acc, V{} + C(src.GetElement(r, c)));
	return acc[0];
}

template <typename Op, typename D, typename S>
inline void along_rows(D &dst, const S &src)
{
	using T = typename S::DType;
	using DT = typename D::DType;
	const int rows = src.GetValidRow(), cols = src.GetValidCol();

	if (core::checked() && dst.GetValidRow() != rows)
		core::fail("row reduction: destination has %d valid rows, source %d", dst.GetValidRow(), rows);
	if (rows <= 0 || cols <= 0)
		return;
	if constexpr (spans::is_rows<S> && sizeof(acc_t<T>) == 4) {
		constexpr int L = simd::FLOATS;

		for (int r = 0; r < rows; r += L) {
			const int n = rows - r < L ? rows - r : L;
			const T *row[L];
			acc_t<T> out[L];

			for (int i = 0; i < L; i++)
				row[i] = src.data() + size_t(r + (i < n ? i : 0)) * S::Cols;
			rows_at_once<Op>(row, cols, out);
			for (int i = 0; i < n; i++)
				dst.data()[D::Offset(r + i, 0)] = DT(out[i]);
		}
	} else {
		for (int r = 0; r < rows; r++)
			dst.data()[D::Offset(r, 0)] = DT(one_row<Op>(src, r, cols));
	}
}

} // namespace reduce

template <typename D, typename S, typename... W>
PTO_INST RecordEvent TROWSUM(D &d, const S &src, const W &...)
{
	reduce::along_rows<simd::op_add>(d, src);
	return {};
}
template <typename D, typename S, typename... W>
PTO_INST RecordEvent TROWPROD(D &d, const S &src, const W &...)
{
	reduce::along_rows<simd::op_mul>(d, src);
	return {};
}
template <typename D, typename S, typename... W>
PTO_INST RecordEvent TROWMAX(D &d, const S &src, const W &...)
{
	reduce::along_rows<simd::op_max>(d, src);
	return {};
}
template <typename D, typename S, typename... W>
PTO_INST RecordEvent TROWMIN(D &d, const S &src, const W &...)
{
	reduce::along_rows<simd::op_min>(d, src);
	return {};
}

} // namespace pto

#endif
