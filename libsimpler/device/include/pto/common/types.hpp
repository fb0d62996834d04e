/* SPDX-License-Identifier: MIT */
/*
 * Element types of tiles: half, bfloat16_t, the one-byte floats and packed pairs.  Compilers
 * without _Float16 or std::bfloat16_t get a storage class that converts to and
 * from float with rounding to nearest, ties to even, and computes in float.
 *
 * Spec: pto-isa §3.2.
 */
#ifndef PTO_COMMON_TYPES_HPP
#define PTO_COMMON_TYPES_HPP

#include <cstdint>
#include <cstring>
#include <type_traits>
#if __cplusplus > 202002L && __has_include(<stdfloat>)
#include <stdfloat>
#endif

#include "pto/common/hif8.hpp"
#include "pto/common/packed.hpp"

namespace pto {
namespace bits_ {

template <typename To, typename From>
inline __attribute__((always_inline)) To cast(const From &from)
{
	static_assert(sizeof(To) == sizeof(From), "equal sizes");
	To to;
	__builtin_memcpy(&to, &from, sizeof(to));
	return to;
}

inline uint16_t bf16_from_float(float f)
{
	uint32_t x = cast<uint32_t>(f);

	if ((x & 0x7fffffffu) > 0x7f800000u)
		return uint16_t((x >> 16) | 0x40u);
	return uint16_t((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}

inline float bf16_to_float(uint16_t b) { return cast<float>(uint32_t(b) << 16); }

/* Rounds the low @drop bits of @mant away, to nearest, ties to even. */
inline uint32_t round_even(uint32_t mant, int drop)
{
	uint32_t half = 1u << (drop - 1);
	uint32_t kept = mant >> drop;
	uint32_t rest = mant & ((1u << drop) - 1u);

	return kept + (rest > half || (rest == half && (kept & 1u)));
}

/*
 * Float to a small format of 1 sign, @E exponent and @M mantissa bits with the
 * usual bias and subnormals.  Returns sign and magnitude; magnitudes above the
 * format's finite range come out larger than its largest finite code.
 */
template <int E, int M>
inline uint32_t small_from_float(float f)
{
	constexpr int bias = (1 << (E - 1)) - 1;
	constexpr uint32_t most = (1u << (E + M)) - 1u;
	uint32_t x = cast<uint32_t>(f);
	uint32_t sign = (x >> 31) << (E + M);
	int exp = int((x >> 23) & 0xffu) - 127;
	uint32_t mant = x & 0x7fffffu;

	if (exp + bias >= (1 << E))
		return sign | most;
	if (exp + bias >= 1) {
		const uint32_t near =
			round_even((uint32_t(exp + bias) << 23) | mant, 23 - M);

		return sign | (near < most ? near : most);
	}
	if (exp + bias < -M)
		return sign;
	return sign | round_even(mant | 0x800000u, 24 - M - (exp + bias));
}

/* Magnitude bits of such a format to float; infinities and NaN are the caller's. */
template <int E, int M>
inline float small_to_float(uint32_t v)
{
	constexpr int bias = (1 << (E - 1)) - 1;
	uint32_t exp = (v >> M) & ((1u << E) - 1u);
	uint32_t mant = v & ((1u << M) - 1u);
	uint32_t sign = (v >> (E + M)) << 31;

	if (exp)
		return cast<float>(sign | ((exp + 127 - bias) << 23) | (mant << (23 - M)));
	float sub = float(mant) * cast<float>(uint32_t(127 - bias + 1 - M) << 23);
	return sign ? -sub : sub;
}

inline uint16_t half_from_float(float f)
{
	uint32_t x = cast<uint32_t>(f);

	if ((x & 0x7fffffffu) > 0x7f800000u)
		return uint16_t(((x >> 16) & 0x8000u) | 0x7e00u);
	uint32_t v = small_from_float<5, 10>(f);
	return uint16_t((v & 0x7fffu) >= 0x7c00u ? (v & 0x8000u) | 0x7c00u : v);
}

inline float half_to_float(uint16_t v)
{
	if ((v & 0x7c00u) == 0x7c00u)
		return cast<float>(uint32_t(v & 0x8000u) << 16 | 0x7f800000u |
				   uint32_t(v & 0x3ffu) << 13);
	return small_to_float<5, 10>(v);
}

struct half_codec {
	using raw = uint16_t;
	static raw from(float f) { return half_from_float(f); }
	static float to(raw r) { return half_to_float(r); }
};
struct bf16_codec {
	using raw = uint16_t;
	static raw from(float f) { return bf16_from_float(f); }
	static float to(raw r) { return bf16_to_float(r); }
};

/* e4m3fn: no infinity, 0x7f is NaN, largest 448. */
struct e4m3_codec {
	using raw = uint8_t;
	static raw from(float f)
	{
		uint32_t v = small_from_float<4, 3>(f);

		return raw(f != f || (v & 0x7fu) >= 0x7fu ? (v & 0x80u) | 0x7fu : v);
	}
	static float to(raw r)
	{
		return (r & 0x7fu) == 0x7fu ? __builtin_nanf("") : small_to_float<4, 3>(r);
	}
};

/* e5m2: as IEEE, largest 57344. */
struct e5m2_codec {
	using raw = uint8_t;
	static raw from(float f)
	{
		uint32_t v = small_from_float<5, 2>(f);

		if (f != f)
			return raw((v & 0x80u) | 0x7fu);
		return raw((v & 0x7fu) >= 0x7cu ? (v & 0x80u) | 0x7cu : v);
	}
	static float to(raw r) { return half_to_float(uint16_t(r << 8)); }
};

/* e8m0: 2^(v-127), 255 is NaN; conversion from float keeps the exponent. */
struct e8m0_codec {
	using raw = uint8_t;
	static raw from(float f) { return raw((cast<uint32_t>(f) >> 23) & 0xffu); }
	static float to(raw r)
	{
		if (r == 255)
			return __builtin_nanf("");
		return r ? cast<float>(uint32_t(r) << 23) : cast<float>(uint32_t(1) << 22);
	}
};

/* A float kept in few bits.  Expressions are computed in float. */
template <typename Codec>
struct small_float {
	typename Codec::raw raw;

	small_float() = default;
	template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
	small_float(T v) : raw(Codec::from(static_cast<float>(v)))
	{}
	operator float() const { return Codec::to(raw); }
	template <typename T>
	small_float &operator+=(T v)
	{
		return *this = small_float(float(*this) + float(v));
	}
	template <typename T>
	small_float &operator-=(T v)
	{
		return *this = small_float(float(*this) - float(v));
	}
	template <typename T>
	small_float &operator*=(T v)
	{
		return *this = small_float(float(*this) * float(v));
	}
	template <typename T>
	small_float &operator/=(T v)
	{
		return *this = small_float(float(*this) / float(v));
	}
};

} // namespace bits_
} // namespace pto

#if defined(__FLT16_MAX__)
typedef _Float16 half;
#else
typedef pto::bits_::small_float<pto::bits_::half_codec> half;
#endif
#if defined(__STDCPP_BFLOAT16_T__)
typedef std::bfloat16_t bfloat16_t;
#else
typedef pto::bits_::small_float<pto::bits_::bf16_codec> bfloat16_t;
#endif
typedef half aclFloat16;
typedef half float16_t;
typedef float float32_t;
typedef pto::bits_::small_float<pto::bits_::e4m3_codec> float8_e4m3_t;
typedef pto::bits_::small_float<pto::bits_::e5m2_codec> float8_e5m2_t;
typedef pto::bits_::small_float<pto::bits_::e8m0_codec> float8_e8m0_t;
typedef pto::bits_::small_float<pto::bits_::hif8_codec> hifloat8_t;

namespace pto {

using ::aclFloat16;
using ::bfloat16_t;
using ::float16_t;
using ::float32_t;
using ::float8_e4m3_t;
using ::float8_e5m2_t;
using ::float8_e8m0_t;
using ::half;
using ::hifloat8_t;

template <typename T>
inline constexpr bool is_half_v = std::is_same_v<std::remove_cv_t<T>, half>;
template <typename T>
inline constexpr bool is_bfloat16_v = std::is_same_v<std::remove_cv_t<T>, bfloat16_t>;
template <typename T>
inline constexpr bool is_float8_v = std::is_same_v<std::remove_cv_t<T>, float8_e4m3_t> ||
				    std::is_same_v<std::remove_cv_t<T>, float8_e5m2_t> ||
				    std::is_same_v<std::remove_cv_t<T>, float8_e8m0_t> ||
				    std::is_same_v<std::remove_cv_t<T>, hifloat8_t>;
/* Types whose arithmetic is done in float. */
template <typename T>
inline constexpr bool is_float_like_v = std::is_same_v<std::remove_cv_t<T>, float> ||
					is_half_v<T> || is_bfloat16_v<T> || is_float8_v<T>;

} // namespace pto

#endif
