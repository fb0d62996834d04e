/* SPDX-License-Identifier: MIT */
/*
 * hifloat8: one sign bit, a prefix code of two to four bits that says how many
 * exponent bits follow, then sign and magnitude of the exponent (its leading one
 * is implied), then the mantissa in what is left.  Code 0 is zero, 0x80 NaN,
 * 0x6f and 0xef infinity; magnitudes reach from 2^-22 to 2^15.
 *
 * Rounding is to nearest, ties away from zero, which is the format's own rule.
 */
#ifndef PTO_COMMON_HIF8_HPP
#define PTO_COMMON_HIF8_HPP

#include <cstdint>
#include <cstring>

namespace pto {
namespace bits_ {

struct hif8_codec {
	using raw = uint8_t;
	static constexpr raw NOT_A_NUMBER = 0x80, INFINITE = 0x6f;

	static int exponent_bits(int magnitude)
	{
		return magnitude == 0 ? 0 : 32 - __builtin_clz(unsigned(magnitude));
	}
	static int mantissa_bits(int exponent_width)
	{
		return exponent_width < 3 ? 3 : 5 - exponent_width;
	}

	/* Code of 2^@e * (1 + @mant / 2^width) without sign, |@e| <= 15. */
	static raw encode(int e, uint32_t mant)
	{
		static const uint8_t prefix[] = {0x08, 0x10, 0x20, 0x40, 0x60};
		const int mag = e < 0 ? -e : e, d = exponent_bits(mag), m = mantissa_bits(d);
		uint32_t field = 0;

		if (d)
			field = uint32_t(e < 0) << (d - 1) |
				(uint32_t(mag) & ((1u << (d - 1)) - 1u));
		return raw(prefix[d] | field << m | mant);
	}

	static raw from(float f)
	{
		uint32_t x;

		memcpy(&x, &f, sizeof(x));
		const raw sign = raw((x >> 31) << 7);
		const int biased = int((x >> 23) & 0xffu);
		int e = biased - 127;
		uint32_t mant = x & 0x7fffffu;

		if (f != f)
			return NOT_A_NUMBER;
		if (e < -23)
			return 0;
		if (e < -15) { /* powers of two only */
			e += mant >= 0x400000u;
			if (e == -23)
				e = -22; /* a tie with zero, or beyond it */
			if (e < -15)
				return raw(sign | (e + 23));
			mant = 0;
		}
		if (e > 15)
			return raw(sign | INFINITE);
		const int m = mantissa_bits(exponent_bits(e < 0 ? -e : e));

		mant = (mant + (1u << (22 - m))) >> (23 - m);
		if (mant >> m)
			return raw(sign | (e == 15 ? INFINITE : encode(e + 1, 0)));
		return raw(sign | encode(e, mant));
	}

	static float to(raw r)
	{
		const uint32_t sign = uint32_t(r >> 7) << 31, v = r & 0x7fu;
		int d = v >= 0x60 ? 4 : v >= 0x40 ? 3 : v >= 0x20 ? 2 : v >= 0x10 ? 1 : 0;
		uint32_t x;
		float f;

		if (r == NOT_A_NUMBER)
			return __builtin_nanf("");
		if (v == 0)
			return 0.0f;
		if (v == INFINITE) {
			x = sign | 0x7f800000u;
		} else if (v < 8) {
			x = sign | (v + 127 - 23) << 23;
		} else {
			const int m = mantissa_bits(d);
			const uint32_t field = (v >> m) & ((1u << d) - 1u);
			int e = d ? int(field & ((1u << (d - 1)) - 1u)) | 1 << (d - 1) : 0;

			if (d && (field >> (d - 1)))
				e = -e;
			x = sign | uint32_t(e + 127) << 23 | (v & ((1u << m) - 1u)) << (23 - m);
		}
		memcpy(&f, &x, sizeof(f));
		return f;
	}
};

} // namespace bits_
} // namespace pto

#endif
