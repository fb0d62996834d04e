/* SPDX-License-Identifier: MIT */
/*
 * Operations on tiles whose valid regions differ, and element-wise operations
 * whose result has another type.
 *
 * Spec: pto-isa §4.14 (TPART*), §4.2 (TADDRELUCONV, TSUBRELUCONV, TADDDEQRELU).
 */
#ifndef PTO_CPU_PARTIAL_HPP
#define PTO_CPU_PARTIAL_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/broadcast.hpp"
#include "pto/cpu/convert.hpp"

namespace pto {
namespace partial_ {

template <typename T>
inline bool covers(const T &t, int r, int c)
{
	return r < t.GetValidRow() && c < t.GetValidCol();
}

/* One row of plain tiles: combined, then the longer operand's rest, then zeros. */
template <typename Op, typename T>
inline void row(T *d, int n, const T *a, int na, const T *b, int nb)
{
	na = copy_::least(na, n);
	nb = copy_::least(nb, n);
	const int both = copy_::least(na, nb), any = na > nb ? na : nb;

	simd_::map(Op(), size_t(both), d, a, b);
	memmove(static_cast<void *>(d + both), (na > nb ? a : b) + both,
		size_t(any - both) * sizeof(T));
	memset(static_cast<void *>(d + any), 0, size_t(n - any) * sizeof(T));
}

/* Combined where both are valid, copied where one is, 0 elsewhere. */
template <typename Op, typename D, typename A, typename B>
inline void run(D &d, const A &a, const B &b)
{
	using T = typename D::DType;
	static_assert(std::is_same_v<T, typename A::DType> && std::is_same_v<T, typename B::DType>,
		      "[PTO][SA] element types must be equal");
	const int cols = d.GetValidCol();

	for (int r = 0; r < d.GetValidRow() && cols > 0; r++) {
		if constexpr (spans_::is_rows<D> && spans_::is_rows<A> && spans_::is_rows<B>) {
			row<Op, T>(d.data() + D::Offset(r, 0), cols, a.data() + size_t(r) * A::Cols,
				   r < a.GetValidRow() ? a.GetValidCol() : 0,
				   b.data() + size_t(r) * B::Cols,
				   r < b.GetValidRow() ? b.GetValidCol() : 0);
		} else {
			for (int c = 0; c < cols; c++) {
				const bool in_a = covers(a, r, c), in_b = covers(b, r, c);
				T v = T(0);

				if (in_a && in_b)
					v = broadcast_::single<Op>(a.GetElement(r, c),
								  b.GetElement(r, c));
				else if (in_a || in_b)
					v = in_a ? a.GetElement(r, c) : b.GetElement(r, c);
				d.data()[D::Offset(r, c)] = v;
			}
		}
	}
}

/* The better value with its index; b's unless a is strictly better. */
template <bool Max, typename D, typename A, typename B, typename DI, typename AI, typename BI>
inline void arg(D &d, const A &a, const B &b, DI &di, const AI &ai, const BI &bi)
{
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++) {
			const bool in_a = covers(a, r, c), in_b = covers(b, r, c);
			bool from_a = in_a;

			if (in_a && in_b)
				from_a = Max ? a.GetElement(r, c) > b.GetElement(r, c)
					     : a.GetElement(r, c) < b.GetElement(r, c);
			if (!in_a && !in_b) {
				d.SetElement(r, c, 0);
				di.SetElement(r, c, 0);
			} else {
				d.SetElement(r, c,
					     from_a ? a.GetElement(r, c) : b.GetElement(r, c));
				di.SetElement(r, c,
					      from_a ? ai.GetElement(r, c) : bi.GetElement(r, c));
			}
		}
}

/* convert(relu(a + b)) or convert(relu(a - b)): nearest even, saturating. */
template <bool Add, typename D, typename A, typename B>
inline void relu_convert(D &d, const A &a, const B &b)
{
	using T = typename A::DType;
	using W = std::conditional_t<std::is_integral_v<T>, int64_t, float>;
	static_assert(std::is_same_v<T, typename B::DType>, "[PTO][SA] source types must be equal");

	spans_::run(
		[](size_t n, auto *to, auto *x, auto *y) {
			for (size_t i = 0; i < n; i++) {
				const W v = T(Add ? W(x[i]) + W(y[i]) : W(x[i]) - W(y[i]));

				to[i] = convert_::element<typename D::DType>(
					v < 0 ? W(0) : v, {RoundMode::CAST_RINT, true});
			}
		},
		d, a, b);
}

} // namespace partial_

template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TPARTADD(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TPARTADD", checking_::VECTOR, checking_::ROWS, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	partial_::run<simd_::op_add>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TPARTMUL(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TPARTMUL", checking_::VECTOR, checking_::ROWS, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	partial_::run<simd_::op_mul>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TPARTMAX(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TPARTMAX", checking_::VECTOR, checking_::ROWS, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	partial_::run<simd_::op_max>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TPARTMIN(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TPARTMIN", checking_::VECTOR, checking_::ROWS, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	partial_::run<simd_::op_min>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, typename DI, typename AI, typename BI, PTO_EXTRA_T>
PTO_INST RecordEvent TPARTARGMAX(D &d, const A &a, const B &b, DI &di, const AI &ai, const BI &bi,
				 PTO_EXTRA)
{
	PTO_CHECK("TPARTARGMAX", checking_::VECTOR, checking_::ROWS, checking_::out(d),
		  checking_::out(di), checking_::in(a), checking_::in(b), checking_::in(ai),
		  checking_::in(bi));
	partial_::arg<true>(d, a, b, di, ai, bi);
	return {};
}
template <typename D, typename A, typename B, typename DI, typename AI, typename BI, PTO_EXTRA_T>
PTO_INST RecordEvent TPARTARGMIN(D &d, const A &a, const B &b, DI &di, const AI &ai, const BI &bi,
				 PTO_EXTRA)
{
	PTO_CHECK("TPARTARGMIN", checking_::VECTOR, checking_::ROWS, checking_::out(d),
		  checking_::out(di), checking_::in(a), checking_::in(b), checking_::in(ai),
		  checking_::in(bi));
	partial_::arg<false>(d, a, b, di, ai, bi);
	return {};
}

template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TADDRELUCONV(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TADDRELUCONV", checking_::VECTOR, checking_::SAME | checking_::ROWS,
		  checking_::out(d), checking_::in(a), checking_::in(b));
	partial_::relu_convert<true>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TSUBRELUCONV(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TSUBRELUCONV", checking_::VECTOR, checking_::SAME | checking_::ROWS,
		  checking_::out(d), checking_::in(a), checking_::in(b));
	partial_::relu_convert<false>(d, a, b);
	return {};
}
/* relu((a + b) * scale), from i32 to half */
template <typename D, typename A, typename B, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TADDDEQRELU(D &d, const A &a, const B &b, S scale, PTO_EXTRA)
{
	PTO_CHECK("TADDDEQRELU", checking_::VECTOR, checking_::SAME | checking_::ROWS,
		  checking_::out(d), checking_::in(a), checking_::in(b));
	const float f = static_cast<float>(scale);

	spans_::run(
		[f](size_t n, auto *to, auto *x, auto *y) {
			for (size_t i = 0; i < n; i++) {
				const float v = float(int64_t(x[i]) + int64_t(y[i])) * f;

				to[i] = typename D::DType(v < 0 ? 0.0f : v);
			}
		},
		d, a, b);
	return {};
}

} // namespace pto

#endif
