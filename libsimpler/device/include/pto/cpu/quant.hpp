/* SPDX-License-Identifier: MIT */
/*
 * Quantisation of vector tiles: TQUANT to 8 bits by a scale per row, to MX
 * formats by a shared exponent per 32 elements, and TDEQUANT.
 *
 * Spec: pto-isa §4.12.
 */
#ifndef PTO_CPU_QUANT_HPP
#define PTO_CPU_QUANT_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"

namespace pto {
namespace quantise_ {

/* Operands that may be given as a tile or as a pointer to one. */
template <typename T>
inline T &deref(T &t)
{
	return t;
}
template <typename T>
inline T &deref(T *t)
{
	return *t;
}

/* A parameter of row @r and column @c: a scalar, one per row, one per column, or one each. */
template <typename P>
inline float param(const P &p, int r, int c)
{
	if constexpr (is_tile_data_v<P>)
		return float(
			p.GetElement(p.GetValidRow() > 1 ? r : 0, p.GetValidCol() > 1 ? c : 0));
	else
		return float(p);
}

/* The parameter of a row of TQUANT, whichever way the vector lies. */
template <typename P>
inline float row_param(const P &p, int r)
{
	if constexpr (is_tile_data_v<P>)
		return float(p.GetValidRow() > 1 ? p.GetElement(r, 0)
						 : p.GetElement(0, p.GetValidCol() > 1 ? r : 0));
	else
		return float(p);
}

inline float to_range(float v, float lo, float hi) { return v < lo ? lo : v <= hi ? v : hi; }

/* d = clamp(nearbyint(src * scale[r]) + offset[r]) */
template <typename D, typename S, typename P, typename Off>
inline void int8(D &d, const S &src, const P &scale, const Off &offset)
{
	using T = typename D::DType;
	static_assert(sizeof(T) == 1 && std::is_integral_v<T>, "[PTO][SA] TQUANT gives i8 or u8");
	constexpr float lo = std::is_signed_v<T> ? -128.0f : 0.0f;
	constexpr float hi = std::is_signed_v<T> ? 127.0f : 255.0f;

	for (int r = 0; r < d.GetValidRow(); r++) {
		const float s = row_param(scale, r), o = row_param(offset, r);

		for (int c = 0; c < d.GetValidCol(); c++) {
			const float v = __builtin_nearbyintf(float(src.GetElement(r, c)) * s) + o;

			d.data()[D::Offset(r, c)] = T(int(to_range(v, lo, hi)));
		}
	}
}

constexpr int GROUP = MX_BLOCK_SIZE;

struct e4m3_target {
	using elem = float8_e4m3_t;
	static constexpr int max_exponent = 8;
	static constexpr float largest = 448.0f;
};
struct e2m1_target {
	using elem = float4_e2m1x2_t;
	static constexpr int max_exponent = 2;
	static constexpr float largest = 6.0f;
};

/* The e8m0 code of a group whose largest magnitude is @max. */
template <typename Target, QuantScaleAlg Alg>
inline uint8_t shared_exponent(float max)
{
	const bool is_fp4 = Target::max_exponent == 2;

	if (max != max)
		return 255;
	if constexpr (Alg == QuantScaleAlg::NV) {
		const uint32_t x = bits_::cast<uint32_t>(max * (1.0f / Target::largest));
		const uint32_t up = (x >> 23) + ((x & 0x7fffffu) != 0);

		return uint8_t(up > 254 ? 254 : up);
	}
	uint32_t x = bits_::cast<uint32_t>(max);

	if (is_fp4)
		x &= 0xffff0000u;
	const int e = int(x >> 23) - Target::max_exponent;

	return uint8_t(e < 0 ? 0 : e);
}

/* 2^(127 - code), what a group is multiplied by. */
inline float scaling_of(uint8_t code)
{
	if (code == 255)
		return __builtin_nanf("");
	return bits_::cast<float>(code == 254 ? 0x00400000u : uint32_t(254 - code) << 23);
}

/* Sets element number @g, in row order of the valid region. */
template <typename T, typename V>
inline void set_flat(T &t, int g, V v)
{
	const int cols = t.GetValidCol();

	if (cols > 0 && g / cols < T::Rows)
		t.SetElement(g / cols, g % cols, v);
}

template <typename T>
inline void set_code(T &t, int g, uint8_t code)
{
	using E = typename T::DType;
	static_assert(sizeof(E) == 1, "[PTO][SA] the shared exponents are bytes");
	const int cols = t.GetValidCol();

	if (cols > 0 && g / cols < T::Rows)
		memcpy(static_cast<void *>(t.data() + T::Offset(g / cols, g % cols)), &code, 1);
}

template <typename Target, QuantScaleAlg Alg, typename D, typename E, typename M, typename F,
	  typename S>
inline void mx(D &d, E &exp, M &max, F &scaling, const S &src)
{
	static_assert(std::is_same_v<typename D::DType, typename Target::elem>,
		      "[PTO][SA] TQUANT: the destination's type is that of the format");
	const int cols = src.GetValidCol();

	for (int r = 0, g = 0; r < src.GetValidRow(); r++)
		for (int c = 0; c < cols; c += GROUP, g++) {
			const int n = copy_::least(GROUP, cols - c);
			float top = 0;

			for (int i = 0; i < n; i++) {
				const float a = __builtin_fabsf(float(src.GetElement(r, c + i)));

				top = a != a || top != top ? __builtin_nanf("") : a > top ? a : top;
			}
			const uint8_t code = shared_exponent<Target, Alg>(top);
			const float by = scaling_of(code);

			set_code(exp, g, code);
			set_flat(max, g, top);
			set_flat(scaling, g, by);
			for (int i = 0; i < n; i++)
				d.SetElement(r, c + i,
					     to_range(float(src.GetElement(r, c + i)) * by,
						      -Target::largest, Target::largest));
		}
}

} // namespace quantise_

/* INT8_SYM: d = clamp(nearbyint(src * scale[r])); the scale is the reciprocal of the step. */
template <QuantType Type, typename D, typename S, typename P, PTO_EXTRA_T,
	  std::enable_if_t<Type == QuantType::INT8_SYM, int> = 0>
PTO_INST RecordEvent TQUANT(D &d, const S &src, const P &scale, PTO_EXTRA)
{
	PTO_CHECK("TQUANT", checking_::VECTOR, 0, checking_::out(d), checking_::in(src));
	static_assert(std::is_same_v<typename D::DType, int8_t>,
		      "[PTO][SA] INT8_SYM gives elements of int8_t");
	quantise_::int8(d, src, quantise_::deref(scale), 0.0f);
	return {};
}
/* INT8_ASYM: plus offset[r], to uint8_t. */
template <QuantType Type, typename D, typename S, typename P, typename O, PTO_EXTRA_T,
	  std::enable_if_t<Type == QuantType::INT8_ASYM, int> = 0>
PTO_INST RecordEvent TQUANT(D &d, const S &src, const P &scale, O &&offset, PTO_EXTRA)
{
	PTO_CHECK("TQUANT", checking_::VECTOR, 0, checking_::out(d), checking_::in(src));
	static_assert(std::is_same_v<typename D::DType, uint8_t>,
		      "[PTO][SA] INT8_ASYM gives elements of uint8_t");
	quantise_::int8(d, src, quantise_::deref(scale), quantise_::deref(offset));
	return {};
}
/* MX formats: shared exponents, largest magnitudes and multipliers of groups of 32 columns. */
template <QuantType Type, QuantScaleAlg Alg = QuantScaleAlg::OCP, typename D, typename E,
	  typename M, typename F, typename S, PTO_EXTRA_T,
	  std::enable_if_t<Type == QuantType::MXFP8 || Type == QuantType::MXFP4_E2M1, int> = 0>
PTO_INST RecordEvent TQUANT(D &d, E &&exp, M &&max, F &&scaling, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TQUANT", checking_::VECTOR, 0, checking_::out(d), checking_::in(src));
	using Target = std::conditional_t<Type == QuantType::MXFP8, quantise_::e4m3_target,
					  quantise_::e2m1_target>;

	quantise_::mx<Target, Alg>(d, quantise_::deref(exp), quantise_::deref(max),
				  quantise_::deref(scaling), src);
	return {};
}
/* d = (src - offset) * scale */
template <typename D, typename S, typename P, typename O, PTO_EXTRA_T>
PTO_INST RecordEvent TDEQUANT(D &d, const S &src, const P &scale, const O &offset, PTO_EXTRA)
{
	PTO_CHECK("TDEQUANT", checking_::VECTOR, 0, checking_::out(d), checking_::in(src));
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			d.SetElement(r, c,
				     (float(src.GetElement(r, c)) - quantise_::param(offset, r, c)) *
					     quantise_::param(scale, r, c));
	return {};
}

} // namespace pto

#endif
