// SPDX-License-Identifier: MIT
/* TCVT: every pair of types, mode and saturation (pto-isa §4.9). */
#include <algorithm>
#include <vector>

#include "element.hpp"

using namespace check;

namespace {

constexpr RoundMode modes[] = {RoundMode::CAST_NONE,  RoundMode::CAST_RINT, RoundMode::CAST_ROUND,
			       RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL, RoundMode::CAST_TRUNC,
			       RoundMode::CAST_ODD};

double rounded(double v, RoundMode m)
{
	if (std::isnan(v) || std::isinf(v) || m == RoundMode::CAST_NONE)
		return v;
	const double low = std::floor(v), frac = v - low;
	const bool low_odd = std::fmod(low, 2.0) != 0.0;

	switch (m) {
	case RoundMode::CAST_FLOOR:
		return low;
	case RoundMode::CAST_CEIL:
		return frac > 0 ? low + 1 : low;
	case RoundMode::CAST_TRUNC:
		return v < 0 && frac > 0 ? low + 1 : low;
	case RoundMode::CAST_ROUND:
		return frac == 0.5 ? (v < 0 ? low : low + 1) : frac > 0.5 ? low + 1 : low;
	case RoundMode::CAST_RINT:
		return frac == 0.5 ? (low_odd ? low + 1 : low) : frac > 0.5 ? low + 1 : low;
	default:
		return frac == 0.5 ? (low_odd ? low : low + 1) : frac > 0.5 ? low + 1 : low;
	}
}

template <typename T>
double least()
{
	return std::is_same_v<T, float8_e4m3_t>	  ? -448.0
	       : std::is_same_v<T, float8_e5m2_t> ? -57344.0
	       : is_half_v<T>		  ? -65504.0
	       : is_bfloat16_v<T>	  ? -3.3895313892515355e38
	       : std::is_same_v<T, float> ? -double(3.4028234663852886e38f)
	       : std::is_unsigned_v<T>	  ? 0.0
					  : -std::ldexp(1.0, 8 * int(sizeof(T)) - 1);
}
template <typename T>
double most()
{
	return is_float_like_v<T>
		       ? -least<T>()
		       : std::ldexp(1.0, 8 * int(sizeof(T)) - (std::is_signed_v<T> ? 1 : 0)) - 1;
}

/* The integer the value has after C truncation to 64 bits, modulo the destination's width. */
template <typename D>
D integer_of(double v)
{
	v = std::trunc(v);
	if (std::isnan(v))
		return 0;
	if (v >= 9223372036854775808.0 || v < -9223372036854775808.0)
		return D(uint64_t(1) << 63);
	return D(uint64_t(int64_t(v)));
}

/* Magnitudes of a narrow float by code; behind the largest, what lies one step behind it. */
template <typename D>
const std::vector<double> &magnitudes()
{
	static const std::vector<double> all = [] {
		std::vector<double> m;

		for (uint64_t code = 0; code < uint64_t(1) << (8 * sizeof(D) - 1); code++) {
			const double v = double(float(from_raw<D>(code)));

			if (!std::isfinite(v))
				break;
			m.push_back(v);
		}
		m.push_back(2 * m.back() - m[m.size() - 2]);
		return m;
	}();
	return all;
}

/* To a narrow float by mode; behind the largest infinite, or not a number without infinities. */
template <typename D>
double narrowed(double v, RoundMode m)
{
	const std::vector<double> &all = magnitudes<D>();
	const double size = std::fabs(v), past = std::is_same_v<D, float8_e4m3_t> ? NAN : INFINITY;
	size_t above = size_t(std::upper_bound(all.begin(), all.end(), size) - all.begin());
	bool up;

	if (!std::isfinite(v))
		return std::isnan(v) ? v : std::copysign(past, v);
	above = above < all.size() ? above : all.size() - 1;
	const double low = all[above - 1], high = all[above], middle = (low + high) / 2;

	switch (m) {
	case RoundMode::CAST_TRUNC:
		up = false;
		break;
	case RoundMode::CAST_FLOOR:
	case RoundMode::CAST_CEIL:
		up = size != low && (m == RoundMode::CAST_CEIL) != std::signbit(v);
		break;
	case RoundMode::CAST_ROUND:
		up = size >= middle;
		break;
	case RoundMode::CAST_ODD:
		up = size == middle ? above % 2 : size > middle;
		break;
	default:
		up = size == middle ? above % 2 == 0 : size > middle;
	}
	return std::copysign(!up ? low : above == all.size() - 1 ? past : high, v);
}

template <typename D>
constexpr bool is_narrow = is_half_v<D> || is_bfloat16_v<D> || std::is_same_v<D, float8_e4m3_t> ||
			   std::is_same_v<D, float8_e5m2_t>;

template <typename D, typename S>
bool one(context &t, const char *what, S s, D got, RoundMode m, bool saturate)
{
	if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
		__int128 v = s;
		const __int128 lo = std::numeric_limits<D>::min(),
			       hi = std::numeric_limits<D>::max();

		if (saturate)
			v = v < lo ? lo : v > hi ? hi : v;
		return t.expect(got == D(v), "%s: %lld gives %lld, expected %lld", what,
				static_cast<long long>(s), static_cast<long long>(got),
				static_cast<long long>(D(v)));
	} else {
		double v = double(wide(s));

		if (saturate) {
			const double lo = std::fmax(least<D>(), least<S>()),
				     hi = std::fmin(most<D>(), most<S>());

			v = std::isnan(v) ? hi : v < lo ? lo : v > hi ? hi : v;
		}
		if constexpr (std::is_integral_v<D>) {
			const D want = saturate && rounded(v, m) >= most<D>()
					       ? std::numeric_limits<D>::max()
					       : integer_of<D>(rounded(v, m));

			return t.expect(got == want,
					"%s mode %d sat %d: %.9g gives %lld, expected %lld", what,
					int(m), saturate, double(wide(s)),
					static_cast<long long>(got), static_cast<long long>(want));
		} else {
			double want;
			const double g = double(float(got));

			if constexpr (is_narrow<D> && is_float_like_v<S> && !std::is_same_v<D, S>)
				want = narrowed<D>(v, m);
			else if constexpr (std::is_same_v<D, S>)
				want = std::copysign(to_type<D>(rounded(v, m)), v);
			else
				want = to_type<D>(v);

			return t.expect(std::isnan(want) ? std::isnan(g)
							 : g == want &&
								   std::signbit(g) ==
									   std::signbit(want),
					"%s mode %d sat %d: %.9g gives %.9g, expected %.9g", what,
					int(m), saturate, double(wide(s)), g, want);
		}
	}
}

template <typename S>
S value(context &t)
{
	if constexpr (is_float_like_v<S>) {
		static const double edge[] = {
			0.5,	   -0.5,	 1.5,		2.5,	      -2.5,    0.49999997,
			8388607.5, 255.5,	 127.5,		-128.5,	      65504.0, 65520.0,
			32767.5,   2147483648.0, -2147483648.0, 4294967295.0, 1e10,    -1e10,
			1e30,	   INFINITY,	 -INFINITY,	NAN,	      1e-6,    -1e-6,
			1e19,	   300.0,	 -1.0};

		switch (t.below(4)) {
		case 0:
			return S(float(edge[t.below(27)]));
		case 1:
			return S(float(t.below(2001) - 1000) / 2.0f);
		case 2:
			return from_raw<S>(t.next() >> 13);
		default:
			return S(float(t.below(200001) - 100000) / 256.0f);
		}
	} else {
		return t.below(2) ? S(t.next() >> 7)
				  : S(t.below(400) - (std::is_signed_v<S> ? 200 : 0));
	}
}

/* Every value of an 8- or 16-bit source, in every mode, with and without saturation. */
template <typename D, typename S>
bool every_value(context &t, const char *what)
{
	constexpr int values = 1 << (8 * sizeof(S));
	place at;
	Full<S, 8, 64> s;
	Full<D, 8, 64> d;

	at.put(s), at.put(d);
	for (RoundMode m : modes)
		for (int sat = 0; sat < 2; sat++)
			for (int base = 0; base < values; base += 512) {
				for (int i = 0; i < 512; i++)
					s.data()[i] =
						from_raw<S>(uint64_t(base + i) % uint64_t(values));
				TCVT(d, s, m, sat ? SaturationMode::ON : SaturationMode::OFF);
				for (int i = 0; i < 512; i++)
					if (!one(t, what, s.data()[i], d.data()[i], m, sat))
						return false;
			}
	return true;
}

/* Every mode and saturation on tiles that are as @d and @s say. */
template <typename DT, typename ST>
bool pair_on(context &t, const char *types, DT d, ST s)
{
	using S = typename ST::DType;
	const int rows = d.GetValidRow(), cols = d.GetValidCol();
	char what[64];
	place at;

	snprintf(what, sizeof(what), "TCVT %s %s %dx%d", types, layout_name<DT>(), rows, cols);
	covers(t, "TCVT", d, types);
	at.put(s), at.put(d);
	for (RoundMode m : modes)
		for (int sat = 0; sat < 3; sat++) {
			for (size_t i = 0; i < s.Extent; i++)
				s.data()[i] = value<S>(t);
			fill(t, d);
			const auto before = copy_of(d);

			if (sat == 2)
				TCVT(d, s, s, m);
			else
				TCVT(d, s, m, sat ? SaturationMode::ON : SaturationMode::OFF);
			for (int r = 0; r < rows; r++)
				for (int c = 0; c < cols; c++)
					if (!one(t, what, now(s, r, c), now(d, r, c), m, sat == 1))
						return false;
			if (!untouched(t, what, d, before, rows, cols))
				return false;
		}
	return true;
}

template <typename D, typename S>
bool pair(context &t)
{
	static char types[24];

	snprintf(types, sizeof(types), "%s-%s", type_name<S>(), type_name<D>());
	if (!pair_on(t, types, Odd<D>(7, 96), Odd<S>(7, 96)) ||
	    !pair_on(t, types, Part<D, 8, 64>(7, 53), Part<S, 8, 64>(7, 53)) ||
	    !pair_on(t, types, Part<D, 8, 64>(1, 1), Part<S, 8, 64>(1, 1)) ||
	    !pair_on(t, types, Dn<D, 32, 8>(29, 7), Dn<S, 32, 8>(29, 7)) ||
	    !pair_on(t, types, Nz<D, 32, 64>(19, 37), Nz<S, 32, 64>(19, 37)))
		return false;
	if constexpr (sizeof(S) <= 2)
		return every_value<D, S>(t, types);
	return true;
}

template <typename S, typename... D>
void from(context &t)
{
	(void)(pair<D, S>(t) && ...);
}

} // namespace

CHECK(tcvt_from_f32)
{
	from<float, half, bfloat16_t, float, int16_t, int32_t, int64_t, int8_t, uint8_t>(t);
}
CHECK(tcvt_to_8_bit_floats)
{
	from<float, float8_e4m3_t, float8_e5m2_t>(t);
	from<half, float8_e4m3_t, float8_e5m2_t>(t);
}
CHECK(tcvt_of_rows_of_many_vectors_to_f16)
{
	pair_on(t, "f32-f16", Part<half, 8, 160>(7, 131), Part<float, 8, 160>(7, 131));
}
CHECK(tcvt_from_f16) { from<half, float, int32_t, int16_t, int8_t, uint8_t, bfloat16_t>(t); }
CHECK(tcvt_from_bf16) { from<bfloat16_t, float, int32_t, half>(t); }
CHECK(tcvt_from_16_bits)
{
	from<int16_t, half, float, uint8_t, uint32_t, int32_t>(t);
	from<uint16_t, float, uint8_t>(t);
}
CHECK(tcvt_from_i32) { from<int32_t, float, int16_t, int64_t, half, uint16_t, uint8_t>(t); }
CHECK(tcvt_from_i64) { from<int64_t, float, int32_t>(t); }
CHECK(tcvt_from_8_bits)
{
	from<uint8_t, half, uint16_t, float>(t);
	from<int8_t, half, int16_t, int32_t, float>(t);
}
CHECK(tcvt_from_u32) { from<uint32_t, uint8_t, uint16_t, int16_t, float>(t); }

CHECK(scalar_conversions_of_the_small_floats_round_to_even)
{
	for (int i = 0; i < 20000 && !t.bad; i++) {
		const float f = i % 2 ? from_raw<float>(t.next() >> 32)
				      : float(t.below(200001) - 100000) / 4096.0f;
		const double h = double(float(half(f))), b = double(float(bfloat16_t(f)));

		t.expect(std::isnan(f) ? std::isnan(h) : h == to_type<half>(double(f)),
			 "half(%.9g) is %.9g", double(f), h);
		t.expect(std::isnan(f) ? std::isnan(b) : b == to_type<bfloat16_t>(double(f)),
			 "bfloat16_t(%.9g) is %.9g", double(f), b);
		t.expect(std::isnan(f) || float(bits_::half_to_float(bits_::half_from_float(f))) ==
						  float(half(f)),
			 "the portable half(%.9g) differs", double(f));
	}
	const float e4[][2] = {{448.0f, 448.0f},
			       {17.0f, 16.0f},
			       {19.0f, 20.0f},
			       {0.001953125f, 0.001953125f},
			       {-1.1f, -1.125f}};
	const float e5[][2] = {{57344.0f, 57344.0f},
			       {1e6f, INFINITY},
			       {9.0f, 8.0f},
			       {11.0f, 12.0f},
			       {-1.1f, -1.0f}};

	for (int i = 0; i < 5; i++) {
		t.expect(float(float8_e4m3_t(e4[i][0])) == e4[i][1], "e4m3 %g", double(e4[i][0]));
		t.expect(float(float8_e5m2_t(e5[i][0])) == e5[i][1], "e5m2 %g", double(e5[i][0]));
	}
}

#include "exports.hpp"
