/* SPDX-License-Identifier: MIT */
/*
 * Vector float functions: exp, log, square root, rounding.  Polynomials within
 * 2 ulp of the true value over the whole range, subnormals included, with the
 * special cases of IEEE 754.
 */
#ifndef PTO_CPU_MATH_HPP
#define PTO_CPU_MATH_HPP

#include "pto/cpu/simd.hpp"

namespace pto {
namespace simd_ {

PTO_SIMD vfloat vsqrt(vfloat v)
{
#ifdef __AVX__
	return __builtin_ia32_sqrtps256(v);
#elif defined(__SSE__)
	return __builtin_ia32_sqrtps(v);
#else
	for (int i = 0; i < FLOATS; i++)
		v[i] = __builtin_sqrtf(v[i]);
	return v;
#endif
}

PTO_SIMD vfloat vabs(vfloat v) { return (vfloat)((vuint)v & 0x7fffffffu); }

/* 1.5 * 2^23: adding and subtracting it rounds |v| < 2^22 to nearest even. */
constexpr float ROUND_MAGIC = 12582912.0f;

/*
 * exp(x) = 2^n * exp(r), n = round(x / ln 2), |r| <= ln(2) / 2.  The power of
 * two is applied in two steps so that subnormal results round once.
 */
PTO_SIMD vfloat vexp(vfloat x)
{
	const vfloat lo = splat<vfloat>(-104.0f), hi = splat<vfloat>(89.0f);
	vfloat c = x < lo ? lo : x;

	c = c > hi ? hi : c;
	const vfloat shifted = c * 1.44269504088896341f + ROUND_MAGIC;
	const vfloat n = shifted - ROUND_MAGIC;
	const vfloat r = (c - n * 0.693145751953125f) - n * 1.42860682030941723e-6f;
	vfloat p = splat<vfloat>(1.9841270e-4f);

	p = p * r + 1.3888889e-3f;
	p = p * r + 8.3333338e-3f;
	p = p * r + 4.1666668e-2f;
	p = p * r + 1.6666667e-1f;
	p = p * r + 0.5f;
	p = p * r * r + r + 1.0f;
	const vint k = (vint)shifted - bits_::cast<int32_t>(ROUND_MAGIC);
	const vint k1 = k >> 1, k2 = k - k1;
	const vfloat y = p * (vfloat)((k1 + 127) << 23) * (vfloat)((k2 + 127) << 23);

	return x != x ? x : y;
}

/*
 * log(x) = k ln 2 + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2); log(1 + f) by the
 * odd series in s = f / (2 + f).
 */
PTO_SIMD vfloat vlog(vfloat x)
{
	const vfloat zero = {}, inf = splat<vfloat>(__builtin_inff());
	const auto tiny = x < 1.17549435e-38f;
	const vfloat scaled = tiny ? x * 33554432.0f : x;
	const vuint u = (vuint)scaled - 0x3f3504f3u;
	const vint k = ((vint)u >> 23) - (tiny ? splat<vint>(25) : vint{});
	const vfloat m = (vfloat)((u & 0x007fffffu) + 0x3f3504f3u);
	const vfloat f = m - 1.0f, s = f / (f + 2.0f), z = s * s, w = z * z;
	const vfloat t1 = w * (w * 0.24279078841f + 0.40000972152f);
	const vfloat t2 = z * (w * 0.28498786688f + 0.66666662693f);
	const vfloat half_sq = f * f * 0.5f, kf = __builtin_convertvector(k, vfloat);
	vfloat y =
		s * (half_sq + t1 + t2) + kf * 9.0580006145e-6f - half_sq + f + kf * 0.69313812256f;

	y = x == inf ? inf : y;
	y = x == zero ? -inf : y;
	y = x < zero ? splat<vfloat>(__builtin_nanf("")) : y;
	return x != x ? x : y;
}

} // namespace simd_
} // namespace pto

#endif
