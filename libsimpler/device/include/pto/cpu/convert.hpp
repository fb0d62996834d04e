/* SPDX-License-Identifier: MIT */
/*
 * TCVT: element type conversion with rounding and saturation.
 *
 * Spec: pto-isa §4.9, decisions D10.
 */
#ifndef PTO_CPU_CONVERT_HPP
#define PTO_CPU_CONVERT_HPP

#include <limits>

#include "pto/common/event.hpp"
#include "pto/cpu/ops.hpp"
#include "pto/cpu/spans.hpp"

namespace pto {
namespace convert_ {

/* Largest finite magnitude of a float type. */
template <typename T>
constexpr double float_limit()
{
	if (is_half_v<T>)
		return 65504.0;
	if (is_bfloat16_v<T>)
		return 338953138925153547590470800371487866880.0;
	if (std::is_same_v<T, float8_e4m3_t>)
		return 448.0;
	if (std::is_same_v<T, float8_e5m2_t>)
		return 57344.0;
	if (std::is_same_v<T, hifloat8_t>)
		return 32768.0;
	return 340282346638528859811704183484516925440.0;
}
template <typename T>
constexpr double lowest()
{
	if constexpr (is_float_like_v<T>)
		return -float_limit<T>();
	else
		return double(std::numeric_limits<T>::min());
}
template <typename T>
constexpr double highest()
{
	if constexpr (is_float_like_v<T>)
		return float_limit<T>();
	else
		return double(std::numeric_limits<T>::max());
}

/* To an integral value; NONE leaves the value alone. */
inline double round_double(double v, RoundMode mode)
{
	switch (mode) {
	case RoundMode::CAST_RINT:
		return __builtin_nearbyint(v);
	case RoundMode::CAST_ROUND:
		return __builtin_round(v);
	case RoundMode::CAST_FLOOR:
		return __builtin_floor(v);
	case RoundMode::CAST_CEIL:
		return __builtin_ceil(v);
	case RoundMode::CAST_TRUNC:
		return __builtin_trunc(v);
	case RoundMode::CAST_ODD: {
		const double low = __builtin_floor(v), frac = v - low;

		if (frac != 0.5)
			return __builtin_nearbyint(v);
		return __builtin_fmod(low, 2.0) != 0.0 ? low : low + 1.0;
	}
	default:
		return v;
	}
}

/* The low bits of the value truncated to 64 bits; 0 for NaN. */
template <typename D>
inline D to_integer(double v)
{
	if (v != v)
		return 0;
	if (v >= 9223372036854775808.0) {
		if (std::is_same_v<D, uint64_t> && v < 18446744073709551616.0)
			return D(uint64_t(v));
		return D(std::numeric_limits<int64_t>::min());
	}
	if (v < -9223372036854775808.0)
		return D(std::numeric_limits<int64_t>::min());
	return D(uint64_t(int64_t(v)));
}

/* Float types whose bits count up with the magnitude, and have fewer of them than float. */
template <typename T>
inline constexpr bool is_narrow_v = is_half_v<T> || is_bfloat16_v<T> ||
				    std::is_same_v<T, float8_e4m3_t> ||
				    std::is_same_v<T, float8_e5m2_t>;

/* Which of two neighbours, @in nearer to 0 than @v and @out, a mode that is not RINT takes. */
template <typename Code, typename Value>
inline Code neighbour(float v, RoundMode mode, Code near, Code in, Code out, Value value)
{
	const bool negative = __builtin_signbit(v);

	if (mode == RoundMode::CAST_FLOOR)
		return negative ? out : in;
	if (mode == RoundMode::CAST_CEIL)
		return negative ? in : out;
	if (mode == RoundMode::CAST_TRUNC)
		return in;

	/* only ties differ from RINT; behind the largest the step is that before it */
	const float low = __builtin_fabsf(value(in)), high = __builtin_fabsf(value(out));
	const float step = high < __builtin_inff() ? high - low
						   : low - __builtin_fabsf(value(Code(in - 1)));

	if ((__builtin_fabsf(v) - low) * 2 != step)
		return near;
	return mode == RoundMode::CAST_ROUND || !(in & 1) ? out : in;
}

/* To a narrower float.  The language's own conversion is RINT; NONE is that, too. */
template <typename D>
inline D narrow(float v, RoundMode mode)
{
	using code = std::conditional_t<sizeof(D) == 1, uint8_t, uint16_t>;
	const D near = D(v);
	const float got = float(near), size = __builtin_fabsf(v);

	if (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT || got == v ||
	    !(size < __builtin_inff()))
		return near;
	const code bits = bits_::cast<code>(near);
	const code in = __builtin_fabsf(got) < size ? bits : code(bits - 1);

	return bits_::cast<D>(neighbour(v, mode, bits, in, code(in + 1),
					[](code c) { return float(bits_::cast<D>(c)); }));
}

struct how {
	RoundMode mode;
	bool saturate;
};

/* One element, by the rules of the host golden model. */
template <typename D, typename S>
inline D element(S s, how h)
{
	constexpr double lo = lowest<D>() > lowest<S>() ? lowest<D>() : lowest<S>();
	constexpr double hi = highest<D>() < highest<S>() ? highest<D>() : highest<S>();

	if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
		if (h.saturate) {
			if constexpr (lowest<S>() < lowest<D>())
				s = s < S(std::numeric_limits<D>::min())
					    ? S(std::numeric_limits<D>::min())
					    : s;
			if constexpr (highest<S>() > highest<D>())
				s = s > S(std::numeric_limits<D>::max())
					    ? S(std::numeric_limits<D>::max())
					    : s;
		}
		return D(s);
	} else {
		double v = double(s);

		if (h.saturate)
			v = v < lo ? lo : v <= hi ? v : hi;
		if constexpr (std::is_integral_v<D>) {
			v = round_double(v, h.mode);
			if (h.saturate && v >= highest<D>())
				return std::numeric_limits<D>::max();
			return to_integer<D>(v);
		} else {
			if constexpr (is_narrow_v<D> && is_float_like_v<S> &&
				      !std::is_same_v<S, D>)
				return narrow<D>(float(v), h.mode);
			if constexpr (std::is_same_v<S, D>)
				v = round_double(v, h.mode);
			return D(float(v));
		}
	}
}

/* ---- vectors ---- */

/* Integral value of |v| < 2^31 by mode; larger values are integral already. */
PTO_SIMD simd_::vfloat round_vec(simd_::vfloat v, RoundMode mode)
{
	using namespace simd_;
	const vfloat a = vabs(v);
	const vuint sign = (vuint)v & 0x80000000u;
	/* |v| >= 2^23, and NaN, are integral already */
	const auto small = a < 8388608.0f;
	const vfloat safe = small ? a : vfloat{};
	const vfloat t = __builtin_convertvector(__builtin_convertvector(safe, vint), vfloat);
	const vfloat frac = safe - t;
	const vfloat one = splat<vfloat>(1.0f), none = {};
	vfloat r = t;

	switch (mode) {
	case RoundMode::CAST_ROUND:
		r = t + (frac >= 0.5f ? one : none);
		break;
	case RoundMode::CAST_RINT:
	case RoundMode::CAST_ODD: {
		const vint odd = __builtin_convertvector(t, vint) & 1;
		const vint tie_up = mode == RoundMode::CAST_RINT ? odd : 1 - odd;
		const vint up = (frac > 0.5f) | ((frac == 0.5f) & (tie_up != 0));

		r = t + (up ? one : none);
		break;
	}
	case RoundMode::CAST_FLOOR:
		r = t + (((sign != 0u) & (frac > 0.0f)) ? one : none);
		break;
	case RoundMode::CAST_CEIL:
		r = t + (((sign == 0u) & (frac > 0.0f)) ? one : none);
		break;
	case RoundMode::CAST_TRUNC:
		break;
	default:
		return v;
	}
	return small ? (vfloat)((vuint)r | sign) : v;
}

PTO_SIMD bool any(simd_::vint mask)
{
	uint64_t w[sizeof(mask) / 8], all = 0;

	__builtin_memcpy(w, &mask, sizeof(mask));
	for (uint64_t x : w)
		all |= x;
	return all != 0;
}

/* Float-like to float-like: through float vectors. */
template <typename D, typename S, bool Saturate>
struct to_float {
	RoundMode mode;
	PTO_SIMD simd_::vfloat operator()(simd_::vfloat v) const
	{
		if constexpr (Saturate) {
			constexpr float hi =
				float(highest<D>() < highest<S>() ? highest<D>() : highest<S>());
			const simd_::vfloat top = simd_::splat<simd_::vfloat>(hi),
					   low = simd_::splat<simd_::vfloat>(-hi);

			v = v < low ? low : v;
			v = v <= top ? v : top;
		}
		if constexpr (std::is_same_v<S, D>)
			v = round_vec(v, mode);
		return v;
	}
};

/* Float-like to integers of at most 32 bits; lanes beyond 31 bits one by one. */
template <typename D, typename S>
__attribute__((noinline)) void float_to_int(size_t n, D *d, const S *s, how h)
{
	using namespace simd_;
	constexpr int L = FLOATS;
	size_t i = 0;

	for (; i + L <= n; i += L) {
		vfloat v = load(s + i);

		if (__builtin_expect(any(!(vabs(v) < 2147483520.0f)), 0)) {
			for (int k = 0; k < L; k++)
				d[i + k] = element<D>(s[i + k], h);
			continue;
		}
		if constexpr (sizeof(D) < 4) {
			if (h.saturate) {
				const vfloat lo = splat<vfloat>(float(lowest<D>())),
					     hi = splat<vfloat>(float(highest<D>()));

				v = v < lo ? lo : v;
				v = v > hi ? hi : v;
			}
		}
		if constexpr (std::is_same_v<D, uint32_t>) {
			if (h.saturate)
				v = v < vfloat{} ? vfloat{} : v;
		}
		const vint w = __builtin_convertvector(round_vec(v, h.mode), vint);
		store_raw(d + i,
			  __builtin_convertvector((vuint)w, vec<std::make_unsigned_t<D>, L>));
	}
	for (; i < n; i++)
		d[i] = element<D>(s[i], h);
}

/* Integers whose values a 32-bit integer holds to float-like. */
template <typename D, typename S>
__attribute__((noinline)) void int_to_float(size_t n, D *d, const S *s, how h)
{
	using namespace simd_;
	size_t i = 0;

	for (; i + FLOATS <= n; i += FLOATS) {
		const vint w = __builtin_convertvector((load_raw<vec<S, FLOATS>>(s + i)), vint);
		vfloat v = __builtin_convertvector(w, vfloat);

		if (h.saturate && highest<S>() > highest<D>())
			v = op_max()(op_min()(v, splat<vfloat>(float(highest<D>()))),
				     splat<vfloat>(float(lowest<D>())));
		store(d + i, v);
	}
	for (; i < n; i++)
		d[i] = element<D>(s[i], h);
}

template <typename D, typename S>
__attribute__((noinline)) void one_by_one(size_t n, D *d, const S *s, how h)
{
	for (size_t i = 0; i < n; i++)
		d[i] = element<D>(s[i], h);
}

#if defined(__x86_64__) && defined(__F16C__)
#define PTO_HAS_WIDE_HALF 1
typedef float f32x16 __attribute__((vector_size(64)));
typedef int16_t i16x16 __attribute__((vector_size(32)));

/*
 * Vectors of 16, four at a time, as many as there are whole ones; returns the elements done.  A
 * conversion of 16 takes as long as one of 8.
 */
__attribute__((noinline, target("avx512f"))) inline size_t wide_to_half(size_t n, half *d,
								       const float *s)
{
	size_t i = 0;

	for (; i + 64 <= n; i += 64)
		PTO_UNROLL for (int k = 0; k < 64; k += 16)
		{
			f32x16 v;

			__builtin_memcpy(&v, s + i + k, sizeof(v));
			const i16x16 h = __builtin_ia32_vcvtps2ph512_mask(v, 0, i16x16{},
									  (unsigned short)-1);

			__builtin_memcpy(static_cast<void *>(d + i + k), &h, sizeof(h));
		}
	return i;
}
#endif

/* Short spans are not worth the question. */
constexpr size_t WIDE_FROM = 64;

/* Rounds to nearest; the elements done, if the processor has wider vectors than the kernel. */
template <typename D, typename S>
inline size_t wide([[maybe_unused]] size_t n, [[maybe_unused]] D *d, [[maybe_unused]] const S *s)
{
#ifdef PTO_HAS_WIDE_HALF
	if constexpr (is_half_v<D> && std::is_same_v<S, float>)
		if (n >= WIDE_FROM && __builtin_cpu_supports("avx512f"))
			return wide_to_half(n, d, s);
#endif
	return 0;
}

template <typename D, typename S>
inline void plain_floats(size_t n, D *d, const S *s, how h)
{
	const size_t done = wide(n, d, s);

	if (done < n)
		simd_::map(to_float<D, S, false>{h.mode}, n - done, d + done, s + done);
}

template <typename D, typename S>
inline void span(size_t n, D *d, const S *s, how h)
{
	if constexpr (is_narrow_v<D> && is_float_like_v<S> && !std::is_same_v<S, D>)
		if (h.mode != RoundMode::CAST_NONE && h.mode != RoundMode::CAST_RINT)
			return one_by_one(n, d, s, h);
	if constexpr (is_float_like_v<D> && is_float_like_v<S>)
		h.saturate ? simd_::map(to_float<D, S, true>{h.mode}, n, d, s)
			   : plain_floats(n, d, s, h);
	else if constexpr (is_float_like_v<S> && sizeof(D) <= 4)
		float_to_int(n, d, s, h);
	else if constexpr (is_float_like_v<D> && (sizeof(S) < 4 || std::is_same_v<S, int32_t>))
		int_to_float(n, d, s, h);
	else
		one_by_one(n, d, s, h);
}

/*
 * To a packed element: both are rounded by mode and clamped, integers to -8..7, four-bit floats
 * to their range; NaN gives the largest.
 */
template <typename P>
inline typename P::value to_packed(double v, RoundMode mode)
{
	if constexpr (std::is_integral_v<typename P::value>) {
		v = round_double(v, mode);
		return typename P::value(v < -8 ? -8.0 : v <= 7 ? v : 7.0);
	} else {
		using C = typename P::codec;
		const float f = float(v), size = __builtin_fabsf(f);
		const uint8_t near = C::from(f);
		const float got = __builtin_fabsf(C::to(near));

		if (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT || got == size ||
		    !(size < C::mags[7]))
			return C::to(near);
		const uint8_t in = got < size ? near : uint8_t(near - 1);

		return C::to(neighbour(f, mode, near, in, uint8_t(in + 1),
				       [](uint8_t c) { return float(C::to(c)); }));
	}
}

/* Tiles of which one or both hold packed pairs. */
template <typename D, typename S>
inline void packed_tile(D &dst, const S &src, how h)
{
	using DE = typename D::DType;

	for (int r = 0; r < dst.GetValidRow(); r++)
		for (int c = 0; c < dst.GetValidCol(); c++) {
			const auto v = src.GetElement(r, c);

			if constexpr (is_packed_v<DE>)
				dst.SetElement(r, c, to_packed<DE>(double(v), h.mode));
			else
				dst.data()[D::Offset(r, c)] = element<DE>(v, h);
		}
}

template <typename D, typename S>
inline void tile(D &dst, const S &src, how h)
{
	if constexpr (is_packed_v<typename D::DType> || is_packed_v<typename S::DType>) {
		packed_tile(dst, src, h);
		return;
	} else {
		spans_::run(
			[h](size_t n, auto *d, auto *s) {
				span(n, d, static_cast<const typename S::DType *>(s), h);
			},
			dst, src);
	}
}

} // namespace convert_

template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TCVT(D &dst, const S &src, RoundMode mode, SaturationMode sat, PTO_EXTRA)
{
	PTO_CHECK("TCVT", checking_::VECTOR, checking_::SAME, checking_::out(dst), checking_::in(src));
	convert_::tile(dst, src, {mode, sat == SaturationMode::ON});
	return {};
}
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TCVT(D &dst, const S &src, RoundMode mode, PTO_EXTRA)
{
	PTO_CHECK("TCVT", checking_::VECTOR, checking_::SAME, checking_::out(dst), checking_::in(src));
	convert_::tile(dst, src, {mode, false});
	return {};
}
/* The scratch tile serves the hardware only. */
template <typename D, typename S, typename T, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<T>, int> = 0>
PTO_INST RecordEvent TCVT(D &dst, const S &src, const T &, RoundMode mode, PTO_EXTRA)
{
	PTO_CHECK("TCVT", checking_::VECTOR, checking_::SAME, checking_::out(dst), checking_::in(src));
	convert_::tile(dst, src, {mode, false});
	return {};
}
template <typename D, typename S, typename T, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<T>, int> = 0>
PTO_INST RecordEvent TCVT(D &dst, const S &src, const T &, RoundMode mode, SaturationMode sat,
			  PTO_EXTRA)
{
	PTO_CHECK("TCVT", checking_::VECTOR, checking_::SAME, checking_::out(dst), checking_::in(src));
	convert_::tile(dst, src, {mode, sat == SaturationMode::ON});
	return {};
}

} // namespace pto

#endif
