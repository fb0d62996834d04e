/* SPDX-License-Identifier: MIT */
/*
 * Element-wise instructions on two tiles, on a tile and a scalar, and on one
 * tile.
 *
 * Spec: pto-isa §4.2, §4.3, §4.4.
 */
#ifndef PTO_CPU_ELEMENTWISE_HPP
#define PTO_CPU_ELEMENTWISE_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/ops.hpp"
#include "pto/cpu/spans.hpp"

namespace pto {
namespace elementwise_ {

/* dst = op(src...) over dst's valid region; all of one element type. */
template <typename Op, typename D, typename... S>
inline void run(const Op &op, D &dst, const S &...src)
{
	using T = typename D::DType;
	static_assert((std::is_same_v<T, typename S::DType> && ...),
		      "[PTO][SA] element types must be equal");

	spans_::run([&](size_t n, auto *d,
		       auto *...s) { simd_::map(op, n, d, static_cast<const T *>(s)...); },
		   dst, src...);
}

/* The scalar operand of an instruction as a vector of the tile's compute type. */
template <typename D, typename V>
inline auto scalar(const D &, V v)
{
	using T = typename D::DType;

	return simd_::splat<simd_::vec_of<T>>(static_cast<simd_::compute_t<T>>(static_cast<T>(v)));
}

} // namespace elementwise_

/* ---- two tiles (§4.2) ---- */

template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TADD(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TADD", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_add(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TSUB(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TSUB", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_sub(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TMUL(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TMUL", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_mul(), d, a, b);
	return {};
}
template <auto Alg = DivAlgorithm::DEFAULT, typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TDIV(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TDIV", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_div(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TREM(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TREM", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_rem(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TFMOD(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TFMOD", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_fmod(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TMAX(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TMAX", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_max(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TMIN(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TMIN", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_min(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TAND(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TAND", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_and(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TOR(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TOR", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_or(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TXOR(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TXOR", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_xor(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TSHL(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TSHL", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_shl(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TSHR(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TSHR", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_shr(), d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TPRELU(D &d, const A &a, const B &slope, PTO_EXTRA)
{
	PTO_CHECK("TPRELU", checking_::VECTOR, checking_::SAME | checking_::ROWS | checking_::APART,
		  checking_::out(d), checking_::in(a), checking_::in(slope));
	elementwise_::run(simd_::op_leaky(), d, a, slope);
	return {};
}
template <auto Alg = PowAlgorithm::DEFAULT, typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TPOW(D &d, const A &base, const B &exp, PTO_EXTRA)
{
	PTO_CHECK("TPOW", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(base), checking_::in(exp));
	elementwise_::run(simd_::op_pow(), d, base, exp);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TSUBRELU(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TSUBRELU", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_sub_relu(), d, a, b);
	return {};
}
/* d = a + b + c */
template <typename D, typename A, typename B, typename C, PTO_EXTRA_T>
PTO_INST RecordEvent TADDC(D &d, const A &a, const B &b, const C &c, PTO_EXTRA)
{
	PTO_CHECK("TADDC", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b), checking_::in(c));
	elementwise_::run(simd_::op_add3(), d, a, b, c);
	return {};
}
/* d = a - b + c */
template <typename D, typename A, typename B, typename C, PTO_EXTRA_T>
PTO_INST RecordEvent TSUBC(D &d, const A &a, const B &b, const C &c, PTO_EXTRA)
{
	PTO_CHECK("TSUBC", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b), checking_::in(c));
	elementwise_::run(simd_::op_sub_add(), d, a, b, c);
	return {};
}
/* d = a * d + b */
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TFUSEDMULADD(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TFUSEDMULADD", checking_::VECTOR, checking_::SAME | checking_::ROWS,
		  checking_::inout(d), checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_mul_add<false>(), d, a, d, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TFUSEDMULADDRELU(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TFUSEDMULADDRELU", checking_::VECTOR, checking_::SAME | checking_::ROWS,
		  checking_::inout(d), checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_mul_add<true>(), d, a, d, b);
	return {};
}
/* d = a * b + d */
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TMULADDDST(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TMULADDDST", checking_::VECTOR, checking_::SAME | checking_::ROWS,
		  checking_::inout(d), checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::op_mul_add<false>(), d, a, b, d);
	return {};
}

/* ---- tile and scalar (§4.3) ---- */

template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TADDS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TADDS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_add(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TSUBS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TSUBS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_sub(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TMULS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TMULS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_mul(), elementwise_::scalar(d, s)), d, a);
	return {};
}
/* d = a / s, or s / a by the order.  a5 multiplies floats by 1 / s, with 1 / 0 = +inf. */
template <auto Alg = DivAlgorithm::DEFAULT, typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TDIVS(D &d, const A &a, const S &s, PTO_EXTRA)
{
	if constexpr (is_tile_data_v<A>)
		PTO_CHECK("TDIVS", checking_::VECTOR, checking_::SAME | checking_::ROWS,
			  checking_::out(d), checking_::in(a));
	else
		PTO_CHECK("TDIVS", checking_::VECTOR, checking_::SAME | checking_::ROWS,
			  checking_::out(d), checking_::in(s));
	if constexpr (!is_tile_data_v<A>) {
		elementwise_::run(simd_::with_first(simd_::op_div(), elementwise_::scalar(d, a)), d, s);
	} else {
#ifdef PTO_NPU_ARCH_A5
		using T = typename D::DType;
		if constexpr (is_float_like_v<T>) {
			const float v = float(T(s)),
				    inverse = v == 0.0f ? __builtin_inff() : 1.0f / v;

			elementwise_::run(simd_::with_scalar(simd_::op_mul(),
							   simd_::splat<simd_::vfloat>(inverse)),
					 d, a);
			return {};
		}
#endif
		elementwise_::run(simd_::with_scalar(simd_::op_div(), elementwise_::scalar(d, s)), d,
				 a);
	}
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TREMS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TREMS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_rem(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TFMODS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TFMODS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_fmod(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TMAXS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TMAXS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_max(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TMINS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TMINS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_min(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TANDS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TANDS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_and(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TORS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TORS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_or(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TXORS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TXORS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_xor(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TSHLS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TSHLS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_shl(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TSHRS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TSHRS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_shr(), elementwise_::scalar(d, s)), d, a);
	return {};
}
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TLRELU(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TLRELU", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_leaky(), elementwise_::scalar(d, s)), d, a);
	return {};
}
/* d = a + s + b */
template <typename D, typename A, typename S, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TADDSC(D &d, const A &a, S s, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TADDSC", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::with_middle(simd_::op_add3(), elementwise_::scalar(d, s)), d, a, b);
	return {};
}
/* d = a - s + b */
template <typename D, typename A, typename S, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TSUBSC(D &d, const A &a, S s, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TSUBSC", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a), checking_::in(b));
	elementwise_::run(simd_::with_middle(simd_::op_sub_add(), elementwise_::scalar(d, s)), d, a, b);
	return {};
}
/* d = a * s + d */
template <typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TAXPY(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TAXPY", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::inout(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_middle(simd_::op_mul_add<false>(), elementwise_::scalar(d, s)), d,
			 a, d);
	return {};
}
template <auto Alg = PowAlgorithm::DEFAULT, typename D, typename A, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TPOWS(D &d, const A &a, S s, PTO_EXTRA)
{
	PTO_CHECK("TPOWS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::with_scalar(simd_::op_pow(), elementwise_::scalar(d, s)), d, a);
	return {};
}
/* Every valid element = s. */
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TEXPANDS(D &d, S s, PTO_EXTRA)
{
	PTO_CHECK("TEXPANDS", checking_::pipe_of_fill<D>(), 0, checking_::out(d));
	using T = typename D::DType;
	const T v = static_cast<T>(s);

	spans_::run([v](size_t n, T *p) { simd_::fill(p, n, v); }, d);
	return {};
}

/* ---- one tile (§4.4) ---- */

template <typename D, typename A, PTO_EXTRA_T>
PTO_INST RecordEvent TABS(D &d, const A &a, PTO_EXTRA)
{
	PTO_CHECK("TABS", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::op_abs(), d, a);
	return {};
}
template <typename D, typename A, PTO_EXTRA_T>
PTO_INST RecordEvent TNEG(D &d, const A &a, PTO_EXTRA)
{
	PTO_CHECK("TNEG", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::op_neg(), d, a);
	return {};
}
template <typename D, typename A, PTO_EXTRA_T>
PTO_INST RecordEvent TNOT(D &d, const A &a, PTO_EXTRA)
{
	PTO_CHECK("TNOT", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::op_not(), d, a);
	return {};
}
template <auto Alg = ExpAlgorithm::DEFAULT, typename D, typename A, PTO_EXTRA_T>
PTO_INST RecordEvent TEXP(D &d, const A &a, PTO_EXTRA)
{
	PTO_CHECK("TEXP", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::op_exp(), d, a);
	return {};
}
template <auto Alg = LogAlgorithm::DEFAULT, typename D, typename A, PTO_EXTRA_T>
PTO_INST RecordEvent TLOG(D &d, const A &a, PTO_EXTRA)
{
	PTO_CHECK("TLOG", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::op_log(), d, a);
	return {};
}
template <auto Alg = SqrtAlgorithm::DEFAULT, typename D, typename A, PTO_EXTRA_T>
PTO_INST RecordEvent TSQRT(D &d, const A &a, PTO_EXTRA)
{
	PTO_CHECK("TSQRT", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::op_sqrt(), d, a);
	return {};
}
template <auto Alg = RsqrtAlgorithm::DEFAULT, typename D, typename A, PTO_EXTRA_T>
PTO_INST RecordEvent TRSQRT(D &d, const A &a, PTO_EXTRA)
{
	PTO_CHECK("TRSQRT", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::op_rsqrt(), d, a);
	return {};
}
template <auto Alg = RecipAlgorithm::DEFAULT, typename D, typename A, PTO_EXTRA_T>
PTO_INST RecordEvent TRECIP(D &d, const A &a, PTO_EXTRA)
{
	PTO_CHECK("TRECIP", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::op_recip(), d, a);
	return {};
}
template <typename D, typename A, PTO_EXTRA_T>
PTO_INST RecordEvent TRELU(D &d, const A &a, PTO_EXTRA)
{
	PTO_CHECK("TRELU", checking_::VECTOR, checking_::SAME | checking_::ROWS, checking_::out(d),
		  checking_::in(a));
	elementwise_::run(simd_::op_relu(), d, a);
	return {};
}

} // namespace pto

#endif
