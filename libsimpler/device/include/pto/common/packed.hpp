/* SPDX-License-Identifier: MIT */
/*
 * Four-bit element types, two to a byte, the element with the even index in the
 * low half.  Tiles and tensors of them count elements, not bytes: a tile of 64
 * columns has rows of 32 bytes.
 *
 * Spec: pto-isa §3.2, §4.8, §4.9.
 */
#ifndef PTO_COMMON_PACKED_HPP
#define PTO_COMMON_PACKED_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pto {
namespace bits_ {

struct i4_codec {
	using value = int8_t;
	static value to(uint8_t code) { return value(int(code ^ 8u) - 8); }
	static uint8_t from(value v) { return uint8_t(v < -8 ? 8 : v > 7 ? 7 : v & 15); }
};

/* Nearest of the eight magnitudes, ties to the even code; beyond the largest: the largest. */
inline uint8_t fp4_nearest(float f, const float (&mags)[8])
{
	const float a = __builtin_fabsf(f);
	const uint8_t sign = __builtin_signbit(f) ? 8 : 0;
	uint8_t code = 0;

	if (f != f)
		return 7;
	while (code < 7) {
		const float middle = (mags[code] + mags[code + 1]) * 0.5f;

		if (a < middle || (a == middle && !(code & 1)))
			break;
		code++;
	}
	return sign | code;
}

struct e2m1_codec {
	using value = float;
	static constexpr float mags[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
	static value to(uint8_t code) { return code & 8 ? -mags[code & 7] : mags[code & 7]; }
	static uint8_t from(value v) { return fp4_nearest(v, mags); }
};
struct e1m2_codec {
	using value = float;
	static constexpr float mags[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 2.5f, 3.0f, 3.5f};
	static value to(uint8_t code) { return code & 8 ? -mags[code & 7] : mags[code & 7]; }
	static uint8_t from(value v) { return fp4_nearest(v, mags); }
};

template <typename Codec>
struct packed_pair {
	using codec = Codec;
	using value = typename Codec::value;
	static constexpr bool is_packed = true;
	uint8_t raw;

	static uint8_t code(const packed_pair *p, size_t i)
	{
		return (p[i / 2].raw >> (i % 2 * 4)) & 15;
	}
	static void set_code(packed_pair *p, size_t i, uint8_t code)
	{
		const unsigned shift = i % 2 * 4;

		p[i / 2].raw = uint8_t((p[i / 2].raw & (0xf0u >> shift)) | unsigned(code) << shift);
	}
	static value get(const packed_pair *p, size_t i) { return Codec::to(code(p, i)); }
	static void set(packed_pair *p, size_t i, value v) { set_code(p, i, Codec::from(v)); }
};

} // namespace bits_
} // namespace pto

typedef pto::bits_::packed_pair<pto::bits_::i4_codec> int4b_t;
typedef pto::bits_::packed_pair<pto::bits_::e2m1_codec> float4_e2m1x2_t;
typedef pto::bits_::packed_pair<pto::bits_::e1m2_codec> float4_e1m2x2_t;

namespace pto {

using ::float4_e1m2x2_t;
using ::float4_e2m1x2_t;
using ::int4b_t;

template <typename T, typename = void>
struct is_packed_type : std::false_type {};
template <typename T>
struct is_packed_type<T, std::void_t<decltype(std::remove_cv_t<T>::is_packed)>> : std::true_type {};
template <typename T>
inline constexpr bool is_packed_v = is_packed_type<T>::value;
/* Bits of one element. */
template <typename T>
inline constexpr int element_bits = is_packed_v<T> ? 4 : int(8 * sizeof(T));

/* What one element of type T is when read. */
template <typename T, bool = is_packed_v<T>>
struct element_value {
	using type = std::remove_cv_t<T>;
};
template <typename T>
struct element_value<T, true> {
	using type = typename T::value;
};
template <typename T>
using element_value_t = typename element_value<T>::type;

} // namespace pto

#endif
