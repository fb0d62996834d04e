/* SPDX-License-Identifier: MIT */
/*
 * Comparisons into bit masks and selection by them.  Bit c of row r stands in
 * mask row r, least significant bit first, whatever the mask's element type.
 *
 * Spec: pto-isa §4.5, §12 cases 11 to 14.
 */
#ifndef PTO_CPU_COMPARE_HPP
#define PTO_CPU_COMPARE_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/reduce.hpp"

namespace pto {
namespace compare_ {

template <CmpMode Mode, typename A>
PTO_SIMD auto test(A a, A b)
{
	if constexpr (Mode == CmpMode::EQ)
		return a == b;
	else if constexpr (Mode == CmpMode::NE)
		return a != b;
	else if constexpr (Mode == CmpMode::LT)
		return a < b;
	else if constexpr (Mode == CmpMode::LE)
		return a <= b;
	else if constexpr (Mode == CmpMode::GT)
		return a > b;
	else
		return a >= b;
}

/* One bit per 32-bit lane of an all-ones or all-zeros mask. */
PTO_SIMD unsigned lane_bits(simd_::vint mask)
{
#ifdef __AVX__
	return unsigned(__builtin_ia32_movmskps256((simd_::vfloat)mask));
#else
	unsigned r = 0;

	for (int i = 0; i < simd_::FLOATS; i++)
		r |= unsigned(mask[i] & 1) << i;
	return r;
#endif
}

/* Bits of a row of @n elements; @scalar: b is one value. */
template <CmpMode Mode, typename T>
__attribute__((noinline)) void row_bits(uint8_t *bits, int n, const T *a, const T *b, bool scalar)
{
	int c = 0;

	if constexpr (sizeof(reduce_::acc_t<T>) == 4) {
		const auto s = reduce_::acc_vec<T>{} + reduce_::acc_t<T>(*b);

		for (; c + 8 <= n; c += 8) {
			unsigned byte = 0;

			for (int i = 0; i < 8; i += simd_::FLOATS)
				byte |= lane_bits(test<Mode>(reduce_::load(a + c + i),
							     scalar ? s : reduce_::load(b + c + i)))
					<< i;
			bits[c / 8] = uint8_t(byte);
		}
	}
	for (; c < n; c++) {
		const reduce_::acc_t<T> x = a[c], y = b[scalar ? 0 : c];

		bits[c / 8] =
			uint8_t((c % 8 ? bits[c / 8] : 0) | unsigned(test<Mode>(x, y)) << (c % 8));
	}
}

template <typename T>
using row_fn = void (*)(uint8_t *, int, const T *, const T *, bool);

template <typename T>
inline row_fn<T> row_function(CmpMode mode)
{
	switch (mode) {
	case CmpMode::EQ:
		return row_bits<CmpMode::EQ, T>;
	case CmpMode::NE:
		return row_bits<CmpMode::NE, T>;
	case CmpMode::LT:
		return row_bits<CmpMode::LT, T>;
	case CmpMode::LE:
		return row_bits<CmpMode::LE, T>;
	case CmpMode::GT:
		return row_bits<CmpMode::GT, T>;
	default:
		return row_bits<CmpMode::GE, T>;
	}
}

template <typename M>
inline uint8_t *mask_row(const M &mask, int r)
{
	static_assert(spans_::is_rows<M>, "[PTO][SA] masks are plain row-major tiles");
	return reinterpret_cast<uint8_t *>(mask.data() + size_t(r) * M::Cols);
}

template <typename D, typename A>
inline void check_mask(const char *op, const D &, const A &a)
{
	const long bits = long(D::Cols) * long(sizeof(typename D::DType)) * 8;

	if (a.GetValidCol() > bits || a.GetValidRow() > D::Rows)
		core_::fail("%s: %d x %d elements need more than the mask's %d x %ld bits", op,
			   a.GetValidRow(), a.GetValidCol(), D::Rows, bits);
}

/* Elements of a row in order, in @buf when the layout does not have them so. */
template <typename A>
inline const typename A::DType *row_of(const A &a, int r, int c, int n, typename A::DType *buf)
{
	if constexpr (spans_::is_rows<A>) {
		return a.data() + A::Offset(r, c);
	} else {
		for (int i = 0; i < n; i++)
			buf[i] = a.GetElement(r, c + i);
		return buf;
	}
}

/* next_b(row, column, count) gives the second operand; at most @chunk elements at a time. */
template <typename D, typename A, typename NextB>
inline void run(D &mask, const A &a, CmpMode mode, bool scalar, int chunk, const NextB &next_b)
{
	using T = typename A::DType;
	const row_fn<T> fn = row_function<T>(mode);
	T buf[spans_::CHUNK];

	check_mask("TCMP", mask, a);
	if (!mask.IsWindow())
		memset(static_cast<void *>(mask.data()), 0, D::Extent * sizeof(typename D::DType));
	for (int r = 0; r < a.GetValidRow(); r++)
		for (int c = 0; c < a.GetValidCol(); c += chunk) {
			const int n = a.GetValidCol() - c < chunk ? a.GetValidCol() - c : chunk;

			fn(mask_row(mask, r) + c / 8, n, row_of(a, r, c, n, buf), next_b(r, c, n),
			   scalar);
		}
}

/* d = bit ? a : b for @n elements; @scalar: b is one value. */
template <typename T>
__attribute__((noinline)) void select_row(T *d, const uint8_t *bits, int n, const T *a, const T *b,
					  bool scalar)
{
	using U = typename simd_::int_of_bytes<sizeof(T)>::u;
	using V = simd_::vec<U, 8>;
	const V weight = {1, 2, 4, 8, 16, 32, 64, 128};
	const V s = V{} + bits_::cast<U>(*b);
	int c = 0;

	for (; c + 8 <= n; c += 8) {
		V x, y = s;

		__builtin_memcpy(&x, a + c, sizeof(x));
		if (!scalar)
			__builtin_memcpy(&y, b + c, sizeof(y));
		x = ((V{} + U(bits[c / 8])) & weight) != V{} ? x : y;
		__builtin_memcpy(static_cast<void *>(d + c), &x, sizeof(x));
	}
	for (; c < n; c++)
		d[c] = bits[c / 8] >> (c % 8) & 1 ? a[c] : b[scalar ? 0 : c];
}

/* b_at(row, column) gives the second operand, whose rows are contiguous when @Plain. */
template <bool Plain, typename D, typename M, typename A, typename At>
inline void select(D &d, const M &mask, const A &a, bool scalar, const At &b_at)
{
	check_mask("TSEL", mask, d);
	for (int r = 0; r < d.GetValidRow(); r++) {
		const uint8_t *bits = mask_row(mask, r);

		if constexpr (Plain && spans_::is_rows<D> && spans_::is_rows<A>) {
			if (d.GetValidCol() > 0)
				select_row(d.data() + D::Offset(r, 0), bits, d.GetValidCol(),
					   static_cast<const typename A::DType *>(a.data() +
										  A::Offset(r, 0)),
					   b_at(r, 0), scalar);
		} else {
			for (int c = 0; c < d.GetValidCol(); c++)
				d.data()[D::Offset(r, c)] = bits[c / 8] >> (c % 8) & 1
								    ? a.GetElement(r, c)
								    : *b_at(r, c);
		}
	}
}

} // namespace compare_

template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TCMP(D &d, const A &a, const B &b, CmpMode mode, PTO_EXTRA)
{
	PTO_CHECK("TCMP", checking_::VECTOR, 0, checking_::box(d), checking_::in(a), checking_::in(b));
	static_assert(std::is_same_v<typename A::DType, typename B::DType>,
		      "[PTO][SA] element types must be equal");
	constexpr bool plain = spans_::is_rows<A> && spans_::is_rows<B>;
	typename B::DType buf[spans_::CHUNK];

	compare_::run(d, a, mode, false, plain ? layout_::UNBOUNDED : spans_::CHUNK,
		     [&](int r, int c, int n) { return compare_::row_of(b, r, c, n, buf); });
	return {};
}
/* The scalar may be a value or a tile of one element. */
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TCMPS(D &d, const A &a, const S &s, CmpMode mode, PTO_EXTRA)
{
	PTO_CHECK("TCMPS", checking_::VECTOR, 0, checking_::box(d), checking_::in(a));
	using T = typename A::DType;
	T v;

	if constexpr (is_tile_data_v<S>)
		v = static_cast<T>(s.GetElement(0, 0));
	else
		v = static_cast<T>(s);
	compare_::run(d, a, mode, true, spans_::is_rows<A> ? layout_::UNBOUNDED : spans_::CHUNK,
		     [&v](int, int, int) { return static_cast<const T *>(&v); });
	return {};
}
template <typename D, typename M, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TSEL(D &d, const M &mask, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TSEL", checking_::VECTOR, 0, checking_::out(d), checking_::some_of(mask),
		  checking_::in(a), checking_::in(b));
	compare_::select<spans_::is_rows<B>>(d, mask, a, false, [&b](int r, int c) {
		return static_cast<const typename B::DType *>(b.data() + B::Offset(r, c));
	});
	return {};
}
template <typename D, typename M, typename A, typename T, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TSELS(D &d, const M &mask, const A &a, const T &, S s, PTO_EXTRA)
{
	PTO_CHECK("TSELS", checking_::VECTOR, 0, checking_::out(d), checking_::some_of(mask),
		  checking_::in(a));
	using E = typename D::DType;
	const E v = static_cast<E>(s);

	compare_::select<true>(d, mask, a, true, [&v](int, int) { return &v; });
	return {};
}

} // namespace pto

#endif
