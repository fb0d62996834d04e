/* SPDX-License-Identifier: MIT */
/*
 * Matrix multiplication.  Operands are packed once per call into panels; the
 * inner kernel keeps a block of the result in registers and goes through k in
 * ascending order with one fused multiply-add per element and step, so the
 * result does not depend on the blocking or on the vector width.
 *
 * Spec: pto-isa §4.8, §12 cases 25 to 27.
 */
#ifndef PTO_CPU_MATMUL_HPP
#define PTO_CPU_MATMUL_HPP

#include <cstdlib>

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/matmul_kernel.hpp"
#include "pto/cpu/spans.hpp"

namespace pto {
namespace matmul_ {

/* Floats for f32 results, 32-bit words for i32 results. */
template <typename C>
using word_t = std::conditional_t<std::is_same_v<C, float>, float, uint32_t>;

/* Packing: panel of @Width rows (or columns) of the operand, k by k; missing ones are zero. */
template <typename W>
struct to_word {
	template <typename S>
	static void one(W *d, const S *s)
	{
		if constexpr (std::is_same_v<W, float>)
			*d = float(*s);
		else
			*d = W(int32_t(*s));
	}
	template <typename S>
	static void span(size_t n, W *d, const S *s)
	{
		if constexpr (std::is_same_v<W, float>) {
			simd_::map(simd_::op_same(), n, d, s);
		} else {
			for (size_t i = 0; i < n; i++)
				one(d + i, s + i);
		}
	}

	template <typename D, typename S>
	static constexpr bool has_tile8 = std::is_same_v<D, float> &&simd_::FLOATS == 8;
	template <typename S>
	static void tile8(float *d, ptrdiff_t d_step, const S *s, ptrdiff_t s_step)
	{
		simd_::vfloat v[8];

		PTO_UNROLL for (int i = 0; i < 8; i++) v[i] = simd_::load(s + i * s_step);
		simd_::transpose8_wide(v);
		PTO_UNROLL for (int i = 0; i < 8; i++) simd_::store_raw(d + i * d_step, v[i]);
	}
};

template <typename W>
struct panels {
	W *a, *b;

	panels(size_t a_words, size_t b_words)
	{
		const size_t line = 64 / sizeof(W);

		a_words = (a_words + line - 1) / line * line;
		b_words = (b_words + line - 1) / line * line;
		a = static_cast<W *>(aligned_alloc(64, (a_words + b_words) * sizeof(W)));
		if (!a)
			core_::fail("TMATMUL: no memory for %zu packed words", a_words + b_words);
		b = a + a_words;
	}
	~panels() { free(a); }
	panels(const panels &) = delete;
	panels &operator=(const panels &) = delete;
};

template <typename W, typename E>
inline void pack_rows(W *to, const copy_::view<E> &a, int m, int k, int width)
{
	for (int i = 0; i < m; i += width, to += size_t(width) * k) {
		const int n = copy_::least(width, m - i);

		if (n < width)
			memset(to, 0, size_t(width) * k * sizeof(W));
		copy_::region(to_word<W>(), copy_::strided(to, 1, width), 0, 0, a, i, 0, n, k);
	}
}

template <typename W, typename E>
inline void pack_cols(W *to, const copy_::view<E> &b, int k, int n, int width)
{
	for (int j = 0; j < n; j += width, to += size_t(width) * k) {
		const int cols = copy_::least(width, n - j);

		if (cols < width)
			memset(to, 0, size_t(width) * k * sizeof(W));
		copy_::region(to_word<W>(), copy_::strided(to, width, 1), 0, 0, b, 0, j, k, cols);
	}
}

template <typename E>
inline E wrapping_add(E a, E b)
{
	if constexpr (std::is_same_v<E, float>)
		return a + b;
	else
		return E(uint32_t(a) + uint32_t(b));
}

/* What the product is added to: nothing, a tile, or a row. */
template <typename E>
struct addend {
	const copy_::view<E> *tile;
	const E *row;
};

/* @n result elements of one row, at most 16 from a multiple of 16. */
template <typename E, typename W>
inline void finish(const copy_::view<E> &c, const addend<E> &add, int row, int col, int n,
		   const W *v)
{
	if (c.cs == 1 && c.col_bits >= 4 && !add.tile && !add.row) {
		memcpy(c.at(row, col), v, size_t(n) * sizeof(E));
		return;
	}
	for (int i = 0; i < n; i++) {
		E x = bits_::cast<E>(v[i]);

		if (add.tile)
			x = wrapping_add(*add.tile->at(row, col + i), x);
		else if (add.row)
			x = wrapping_add(x, add.row[col + i]);
		*c.at(row, col + i) = x;
	}
}

template <typename C, typename A, typename B>
__attribute__((noinline)) void multiply(const copy_::view<C> &c, const copy_::view<A> &a,
					const copy_::view<B> &b, int m, int k, int n,
					const addend<C> &add)
{
	using W = word_t<C>;
	const kernel_table<W> &kern = kernels<W>();
	const int mr = kern.rows, nr = kern.cols;
	const panels<W> p(size_t((m + mr - 1) / mr) * mr * k, size_t((n + nr - 1) / nr) * nr * k);

	pack_rows(p.a, a, m, k, mr);
	pack_cols(p.b, b, k, n, nr);
	for (int j = 0; j < n; j += nr)
		for (int i = 0; i < m; i += mr) {
			alignas(64) W out[MAX_BLOCK];
			const int rows = copy_::least(mr, m - i), cols = copy_::least(nr, n - j);

			kern.run(k, p.a + size_t(i) * k, p.b + size_t(j) * k, out, rows);
			for (int r = 0; r < rows; r++)
				for (int x = 0; x < cols; x += 16)
					finish(c, add, i + r, j + x, copy_::least(16, cols - x),
					       out + r * nr + x);
		}
}

template <typename C, typename A, typename B>
constexpr void check_types()
{
	static_assert(A::Rows == C::Rows && A::Cols == B::Rows && B::Cols == C::Cols,
		      "[PTO][SA] matmul shapes must agree: a is m x k, b is k x n, c is m x n");
	static_assert(C::Loc == TileType::Acc && A::Loc == TileType::Left &&
			      B::Loc == TileType::Right,
		      "[PTO][SA] matmul operands are Acc, Left and Right tiles");
	static_assert(
		(std::is_same_v<typename C::DType, float> && is_float_like_v<typename A::DType>) ||
			(std::is_same_v<typename C::DType, int32_t> &&
			 std::is_integral_v<typename A::DType>),
		"[PTO][SA] matmul element types: float from floats, int32 from int8");
}

template <typename C, typename A, typename B>
inline void product(const C &c, const A &a, const B &b, const addend<typename C::DType> &add)
{
	check_types<C, A, B>();
	const int m = a.GetValidRow(), k = a.GetValidCol(), n = b.GetValidCol();

	if (!c.data() || !a.data() || !b.data())
		core_::fail("TMATMUL: a tile has no memory; TASSIGN it first");
	if (core_::checked() && (k != b.GetValidRow() || m > c.GetValidRow() || n > c.GetValidCol()))
		checking_::fail_here("TMATMUL: valid regions %d x %d times %d x %d into %d x %d", m, k,
			   b.GetValidRow(), n, c.GetValidRow(), c.GetValidCol());
	if (m > 0 && n > 0)
		multiply(copy_::tile_view(c), copy_::tile_view(a), copy_::tile_view(b), m, k, n, add);
}

template <typename C, typename A, typename B>
inline void plain(C &c, const A &a, const B &b)
{
	product(c, a, b, {nullptr, nullptr});
}

template <typename C, typename I, typename A, typename B>
inline void accumulate(C &c, const I &in, const A &a, const B &b)
{
	static_assert(std::is_same_v<typename I::DType, typename C::DType>,
		      "[PTO][SA] accumulators are of one type");
	const auto from = copy_::tile_view(in);

	product(c, a, b, {&from, nullptr});
}

template <typename C, typename A, typename B, typename Bias>
inline void with_bias(C &c, const A &a, const B &b, const Bias &bias)
{
	static_assert(std::is_same_v<typename Bias::DType, typename C::DType> && Bias::Rows == 1 &&
			      spans_::is_rows<Bias>,
		      "[PTO][SA] the bias is one plain row of the result's type");
	product(c, a, b, {nullptr, bias.data()});
}

/*
 * The forms under their names: a matrix times a matrix, and a vector times one, are told apart by
 * the name only.
 */
template <typename C, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent run(const char *op, C &c, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK(op, checking_::MATRIX, 0,
		  checking_::part(c, a.GetValidRow(), b.GetValidCol(), checking_::WRITE),
		  checking_::in(a), checking_::in(b));
	plain(c, a, b);
	return {};
}
template <typename C, typename I, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent run_acc(const char *op, C &c, const I &in, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK(op, checking_::MATRIX, 0,
		  checking_::part(c, a.GetValidRow(), b.GetValidCol(), checking_::WRITE),
		  checking_::part(in, a.GetValidRow(), b.GetValidCol(), checking_::READ),
		  checking_::in(a), checking_::in(b));
	accumulate(c, in, a, b);
	return {};
}
template <typename C, typename A, typename B, typename Bias, PTO_EXTRA_T>
PTO_INST RecordEvent run_bias(const char *op, C &c, const A &a, const B &b, const Bias &bias,
			      PTO_EXTRA)
{
	PTO_CHECK(op, checking_::MATRIX, 0,
		  checking_::part(c, a.GetValidRow(), b.GetValidCol(), checking_::WRITE),
		  checking_::in(a), checking_::in(b),
		  checking_::part(bias, 1, b.GetValidCol(), checking_::READ));
	with_bias(c, a, b, bias);
	return {};
}

} // namespace matmul_

/* c = a * b */
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TMATMUL(C &c, const A &a, const B &b, PTO_EXTRA)
{
	return matmul_::run("TMATMUL", c, a, b, PTO_EXTRA_ARGS);
}
/* c = in + a * b: the product is summed first, then added once. */
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename I, typename A, typename B,
	  PTO_EXTRA_T, std::enable_if_t<is_tile_data_v<B>, int> = 0>
PTO_INST RecordEvent TMATMUL_ACC(C &c, const I &in, const A &a, const B &b, PTO_EXTRA)
{
	return matmul_::run_acc("TMATMUL_ACC", c, in, a, b, PTO_EXTRA_ARGS);
}
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename B, PTO_EXTRA_T,
	  std::enable_if_t<!is_tile_data_v<W1>, int> = 0>
PTO_INST RecordEvent TMATMUL_ACC(C &c, const A &a, const B &b, PTO_EXTRA)
{
	return matmul_::run_acc("TMATMUL_ACC", c, c, a, b, PTO_EXTRA_ARGS);
}
/* c = a * b + bias[0, :] */
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename B, typename Bias,
	  PTO_EXTRA_T>
PTO_INST RecordEvent TMATMUL_BIAS(C &c, const A &a, const B &b, const Bias &bias, PTO_EXTRA)
{
	return matmul_::run_bias("TMATMUL_BIAS", c, a, b, bias, PTO_EXTRA_ARGS);
}

template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TGEMV(C &c, const A &a, const B &b, PTO_EXTRA)
{
	return matmul_::run("TGEMV", c, a, b, PTO_EXTRA_ARGS);
}
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename I, typename A, typename B,
	  PTO_EXTRA_T, std::enable_if_t<is_tile_data_v<B>, int> = 0>
PTO_INST RecordEvent TGEMV_ACC(C &c, const I &in, const A &a, const B &b, PTO_EXTRA)
{
	return matmul_::run_acc("TGEMV_ACC", c, in, a, b, PTO_EXTRA_ARGS);
}
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename B, PTO_EXTRA_T,
	  std::enable_if_t<!is_tile_data_v<W1>, int> = 0>
PTO_INST RecordEvent TGEMV_ACC(C &c, const A &a, const B &b, PTO_EXTRA)
{
	return matmul_::run_acc("TGEMV_ACC", c, c, a, b, PTO_EXTRA_ARGS);
}
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename B, typename Bias,
	  PTO_EXTRA_T>
PTO_INST RecordEvent TGEMV_BIAS(C &c, const A &a, const B &b, const Bias &bias, PTO_EXTRA)
{
	return matmul_::run_bias("TGEMV_BIAS", c, a, b, bias, PTO_EXTRA_ARGS);
}

} // namespace pto

#endif
