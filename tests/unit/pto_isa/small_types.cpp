// SPDX-License-Identifier: MIT
/* Elements of eight and four bits: values, rounding, TCVT, moves, MX products (pto-isa §3.2). */
#include <algorithm>

#include "element.hpp"
#include "fake_core.hpp"

using namespace check;

namespace
{

/* hifloat8 from its definition: prefix, exponent, mantissa read bit by bit. */
double hif8_value(unsigned code)
{
	const double sign = code & 0x80 ? -1 : 1;
	const unsigned v = code & 0x7f;
	int d, left;

	if (code == 0x80)
		return NAN;
	if (v == 0x6f)
		return sign * INFINITY;
	if (v >> 5 == 3)
		d = 4, left = 5;
	else if (v >> 5 == 2)
		d = 3, left = 5;
	else if (v >> 5 == 1)
		d = 2, left = 5;
	else if (v >> 4 == 1)
		d = 1, left = 4;
	else if (v >> 3 == 1)
		d = 0, left = 3;
	else
		return v ? sign * std::ldexp(1.0, int(v) - 23) : 0.0;
	const int m = left - d;
	const unsigned mant = v & ((1u << m) - 1), field = (v >> m) & ((1u << d) - 1);
	int e = 0;

	if (d) {
		e = int(field & ((1u << (d - 1)) - 1)) + (1 << (d - 1));
		e = field >> (d - 1) ? -e : e;
	}
	return sign * std::ldexp(1.0 + double(mant) / (1 << m), e);
}

/* The finite non-negative values of a format in ascending order, with their codes. */
struct value_of {
	double v;
	int code;
};
template <typename Value>
std::vector<value_of> ladder(const Value &value, int codes)
{
	std::vector<value_of> l;

	for (int i = 0; i < codes; i++)
		if (std::isfinite(value(i)) && !std::signbit(value(i)))
			l.push_back({value(i), i});
	std::sort(l.begin(), l.end(),
		  [](const value_of &a, const value_of &b) { return a.v < b.v; });
	return l;
}

/* Every float between two neighbours goes to the nearer; ties as @up says. */
template <typename T, typename Up>
void rounds_between(context &t, const char *name, const std::vector<value_of> &l, const Up &up)
{
	for (size_t i = 0; i + 1 < l.size(); i++) {
		const float lo = float(l[i].v), hi = float(l[i + 1].v),
			    mid = float((l[i].v + l[i + 1].v) / 2);
		const float probe[] = {lo, std::nextafter(mid, 0.0f), mid, std::nextafter(mid, hi),
				       hi};
		const float want[] = {lo, lo, up(l[i], l[i + 1]) ? hi : lo, hi, hi};

		for (int k = 0; k < 5; k++) {
			t.expect(float(T(probe[k])) == want[k], "%s(%.9g) is %.9g, expected %.9g",
				 name, double(probe[k]), double(float(T(probe[k]))),
				 double(want[k]));
			t.expect(float(T(-probe[k])) == -want[k], "%s(-%.9g)", name,
				 double(probe[k]));
		}
	}
}

template <typename T>
void survives(context &t, const char *name)
{
	for (int code = 0; code < 256; code++) {
		const T v = from_raw<T>(unsigned(code));
		const float f = float(v);

		if (f == f)
			t.expect(raw(T(f)) == unsigned(code),
				 "%s code %02x is %g and comes back as %02x", name, code, double(f),
				 unsigned(raw(T(f))));
		else
			t.expect(float(T(f)) != float(T(f)), "%s NaN %02x", name, code);
	}
}

constexpr RoundMode modes[] = {RoundMode::CAST_NONE,  RoundMode::CAST_RINT, RoundMode::CAST_ROUND,
			       RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL, RoundMode::CAST_TRUNC,
			       RoundMode::CAST_ODD};

/* Value of an 8-bit code with @e exponent bits; @ieee: the last exponent is infinity and NaN. */
double fp8_value(unsigned code, int e, bool ieee)
{
	const int m = 7 - e, bias = (1 << (e - 1)) - 1, field = int(code & 0x7f) >> m;
	const double mant = double(code & ((1u << m) - 1)) / (1 << m), sign = code & 0x80 ? -1 : 1;

	if (ieee && field == (1 << e) - 1)
		return mant == 0 ? sign * INFINITY : NAN;
	if (!ieee && (code & 0x7f) == 0x7f)
		return NAN;
	return sign * (field ? std::ldexp(1 + mant, field - bias) : std::ldexp(mant, 1 - bias));
}
double e4m3_value(unsigned code)
{
	return fp8_value(code, 4, false);
}
double e5m2_value(unsigned code)
{
	return fp8_value(code, 5, true);
}
double e2m1_value(unsigned code)
{
	static const double v[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

	return code & 8 ? -v[code & 7] : v[code & 7];
}
double e1m2_value(unsigned code)
{
	return (code & 8 ? -0.5 : 0.5) * (code & 7);
}

/* What the mode makes of @v among the finite values of a format; beyond the last it is the last. */
double chosen(const std::vector<value_of> &l, double v, RoundMode m, bool ties_away)
{
	const double a = std::fabs(v);
	size_t i = 0;

	while (i + 1 < l.size() && l[i + 1].v <= a)
		i++;
	if (i + 1 == l.size() || l[i].v == a)
		return std::copysign(l[i].v, v);
	const double lo = l[i].v, hi = l[i + 1].v;
	bool up;

	if (m == RoundMode::CAST_FLOOR || m == RoundMode::CAST_CEIL)
		up = (m == RoundMode::CAST_CEIL) == (v > 0);
	else if (m == RoundMode::CAST_TRUNC)
		up = false;
	else if (a - lo != hi - a)
		up = a - lo > hi - a;
	else if (m == RoundMode::CAST_ROUND || (ties_away && m != RoundMode::CAST_ODD))
		up = true;
	else
		up = (l[i].code & 1) == (m != RoundMode::CAST_ODD);
	return std::copysign(up ? hi : lo, v);
}

/* All 8-bit codes to float and the other way through TCVT, in every mode. */
template <typename T, typename W, typename Value>
void converts_all_codes(context &t, const Value &value)
{
	Full<T, 4, 64> src, back;
	Full<W, 4, 64> wide_tile;
	place at;

	t.covers("TCVT", type_name<T>(), "ND", "full");
	at.put(src), at.put(wide_tile), at.put(back);
	for (RoundMode m : modes) {
		for (int i = 0; i < 256; i++)
			src.data()[i] = from_raw<T>(unsigned(i));
		TCVT(wide_tile, src, m);
		for (int i = 0; i < 256; i++)
			t.expect(same_bits(wide_tile.data()[i], W(float(value(unsigned(i))))),
				 "TCVT from %s code %02x: %g", type_name<T>(), i,
				 double(float(wide_tile.data()[i])));
		TCVT(back, wide_tile, m, SaturationMode::ON);
		for (int i = 0; i < 256; i++) {
			const float f = float(src.data()[i]);

			if (std::isfinite(f) && !(f == 0 && std::signbit(f)))
				t.expect(raw(back.data()[i]) == unsigned(i),
					 "TCVT to %s of %g: %02x", type_name<T>(), double(f),
					 unsigned(raw(back.data()[i])));
		}
	}
}

/* A 16-bit value, or a float with these upper bits, ties among them. */
template <typename S>
S with_bits(context &t, unsigned bits)
{
	return from_raw<S>(sizeof(S) == 2 ? bits : bits << 16 | (t.below(2) ? 0 : t.next() >> 48));
}

/*
 * Every 16-bit value to a narrow format in every mode, with and without saturation; @value is what
 * a code means. What no finite value is near is left to the checks of the formats' ends. HiF8 has a
 * rounding of its own, whatever the mode.
 */
template <typename T, typename S, typename Value>
void narrows_every_value(context &t, const Value &value, bool by_mode = true)
{
	const auto l = ladder(value, is_packed_v<T> ? 8 : 128);
	Full<S, 8, 64> src;
	Full<T, 8, 64> d;
	place at;

	covers(t, "TCVT", d);
	at.put(src), at.put(d);
	for (RoundMode m : modes)
		for (int sat = 0; sat < 2; sat++)
			for (unsigned base = 0; base < 65536; base += 512) {
				for (unsigned i = 0; i < 512; i++)
					src.data()[i] = with_bits<S>(t, base + i);
				TCVT(d, src, m, sat ? SaturationMode::ON : SaturationMode::OFF);
				for (int i = 0; i < 512; i++) {
					const double v = double(float(src.data()[i])),
						     got = double(
							     float(d.GetElement(i / 64, i % 64)));
					const bool beyond = !(std::fabs(v) <= l.back().v);
					const double want =
						v == v ? chosen(l, v, by_mode ? m : RoundMode::CAST_NONE, !by_mode) : l.back().v;

					if (beyond && !sat && !is_packed_v<T>)
						continue;
					if (!t.expect(got == want,
						      "TCVT to %s of %.9g, mode %d sat %d: %.9g, "
						      "expected %.9g",
						      type_name<T>(), v, int(m), sat, got, want))
						return;
				}
			}
}

/* To i4 integers are rounded and always clamped. */
void narrows_every_half_to_i4(context &t)
{
	Full<half, 8, 64> src;
	Full<int4b_t, 8, 64> d;
	place at;

	covers(t, "TCVT", d);
	at.put(src), at.put(d);
	for (RoundMode m : modes)
		for (unsigned base = 0; base < 65536; base += 512) {
			for (unsigned i = 0; i < 512; i++)
				src.data()[i] = from_raw<half>(base + i);
			TCVT(d, src, m);
			for (int i = 0; i < 512; i++) {
				const double v = double(float(src.data()[i]));
				const double low = std::floor(v), frac = v - low;
				double want = v;

				if (m == RoundMode::CAST_NONE || m == RoundMode::CAST_TRUNC)
					want = v < 0 ? std::ceil(v) : low;
				else if (m == RoundMode::CAST_FLOOR || m == RoundMode::CAST_CEIL)
					want = m == RoundMode::CAST_CEIL ? std::ceil(v) : low;
				else if (frac != 0.5)
					want = frac > 0.5 ? low + 1 : low;
				else if (m == RoundMode::CAST_ROUND)
					want = v < 0 ? low : low + 1;
				else
					want = low + ((std::fmod(low, 2) != 0) ==
						      (m == RoundMode::CAST_RINT));
				want = v != v ? 7 : want < -8 ? -8 : want > 7 ? 7 : want;
				if (!t.expect(double(d.GetElement(i / 64, i % 64)) == want,
					      "TCVT to i4 of %g, mode %d: %d, expected %g", v,
					      int(m), int(d.GetElement(i / 64, i % 64)), want))
					return;
			}
		}
}

/* Parts of tiles: the codes outside of the valid region stay, and every code comes back. */
template <typename P, typename W, typename Value>
void converts_packed(context &t, int rows, int cols, const Value &value)
{
	Part<P, 8, 64> d(rows, cols), again(rows, cols);
	Part<W, 8, 64> wide_tile(rows, cols);
	place at;

	covers(t, "TCVT", d);
	at.put(d), at.put(wide_tile), at.put(again);
	for (size_t i = 0; i < sizeof(P) * d.Extent; i++)
		reinterpret_cast<uint8_t *>(d.data())[i] = uint8_t(t.next() >> 40);
	memset(static_cast<void *>(again.data()), 0x5a, sizeof(P) * again.Extent);
	TCVT(wide_tile, d, RoundMode::CAST_RINT);
	TCVT(again, wide_tile, RoundMode::CAST_RINT);
	for (int r = 0; r < 8; r++)
		for (int c = 0; c < 64; c++) {
			const size_t i = size_t(r) * 64 + size_t(c);
			const unsigned code = P::code(d.data(), i);

			if (r >= rows || c >= cols) {
				t.expect(P::code(again.data(), i) == (c % 2 ? 5 : 10),
					 "code (%d, %d) outside the valid region", r, c);
				continue;
			}
			t.expect(double(float(now(wide_tile, r, c))) == value(code),
				 "TCVT from %s code %u: %g", type_name<P>(), code,
				 double(float(now(wide_tile, r, c))));
			t.expect(P::code(again.data(), i) == code || value(code) == 0,
				 "TCVT to %s of %g", type_name<P>(), value(code));
		}
}

template <typename P>
void moves_packed(context &t)
{
	using N = Tile<TileType::Mat, P, 32, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
	using Z = Tile<TileType::Mat, P, 64, 32, BLayout::RowMajor, -1, -1, SLayout::ColMajor>;
	using G = GlobalTensor<P, Shape<1, 1, 1, 21, 53>, Stride<1, 1, 1, 60, 1>>;
	P mem[21 * 30], out[21 * 30] = {};
	Part<P, 32, 64> nd(21, 53);
	N nz(21, 53), cut(9, 30);
	Z zn(21, 32);
	place at;

	for (const char *op : {"TLOAD", "TSTORE", "TEXTRACT"})
		covers(t, op, nd), covers(t, op, nz), covers(t, op, zn);
	at.put(nd), at.put(nz), at.put(cut), at.put(zn);
	for (P &p : mem)
		p.raw = uint8_t(t.next() >> 40);
	G g(mem), o(out);

	TLOAD(nd, g);
	TLOAD(nz, g);
	TEXTRACT(cut, nz, 5, 17);
	TEXTRACT(zn, nz, 0, 3);
	TSTORE(o, nz);
	for (int r = 0; r < 21; r++)
		for (int c = 0; c < 53; c++) {
			const auto want = P::codec::to(P::code(mem, size_t(r) * 60 + c));

			t.expect(nd.GetElement(r, c) == want && nz.GetElement(r, c) == want,
				 "TLOAD of %s (%d, %d)", type_name<P>(), r, c);
			t.expect(P::code(out, size_t(r) * 60 + c) ==
					 P::code(mem, size_t(r) * 60 + c),
				 "TSTORE of %s (%d, %d)", type_name<P>(), r, c);
			if (r >= 5 && r < 14 && c >= 17 && c < 47)
				t.expect(cut.GetElement(r - 5, c - 17) == want, "TEXTRACT (%d, %d)",
					 r, c);
			if (c >= 3 && c < 35)
				t.expect(zn.GetElement(r, c - 3) == want, "TEXTRACT to Zn (%d, %d)",
					 r, c);
		}
}

template <typename T>
void set_random(context &t, T *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned code = unsigned(t.next() >> 40) & 255;

		if constexpr (is_packed_v<T>)
			data[i].raw = uint8_t(code);
		else
			data[i] = float(from_raw<T>(code)) - float(from_raw<T>(code)) == 0
					  ? from_raw<T>(code)
					  : T(1.0f);
	}
}

/* Reference of an MX product: double terms, summed into a float in ascending k. */
template <typename A, typename AS, typename B, typename BS>
float mx_element(const A &a, const AS &as, const B &b, const BS &bs, int i, int j, int k)
{
	float acc = 0;

	for (int x = 0; x < k; x++) {
		const double sa = std::ldexp(1.0, int(raw(now(as, i, x / 32))) - 127),
			     sb = std::ldexp(1.0, int(raw(now(bs, x / 32, j))) - 127);

		acc = float(double(acc) + double(float(a.GetElement(i, x))) *
						  double(float(b.GetElement(x, j))) * sa * sb);
	}
	return acc;
}

template <typename EA, typename EB>
void multiplies(context &t, int m, int k, int n, int spread)
{
	Tile<TileType::Left, EA, 32, 128, BLayout::ColMajor, -1, -1, SLayout::RowMajor> a(m, k);
	Tile<TileType::Right, EB, 128, 64, BLayout::RowMajor, -1, -1, SLayout::ColMajor> b(k, n);
	TileLeftScale<float8_e8m0_t, 32, 4> as;
	TileRightScale<float8_e8m0_t, 4, 64> bs;
	TileAcc<float, 32, 64, -1, -1> c(m, n), d(m, n);
	Tile<TileType::Bias, float, 1, 64> bias;
	place at;

	for (const char *op : {"TMATMUL_MX", "TGEMV_MX"})
		covers(t, op, a), covers(t, op, b);
	at.put(a), at.put(b), at.put(as), at.put(bs), at.put(c), at.put(d), at.put(bias);
	set_random(t, a.data(), a.Extent);
	set_random(t, b.data(), b.Extent);
	for (size_t i = 0; i < as.Extent; i++)
		as.data()[i] =
			from_raw<float8_e8m0_t>(unsigned(127 - spread / 2 + t.below(spread)));
	for (size_t i = 0; i < bs.Extent; i++)
		bs.data()[i] =
			from_raw<float8_e8m0_t>(unsigned(127 - spread / 2 + t.below(spread)));
	for (int i = 0; i < 64; i++)
		bias.data()[i] = float(i);
	TMATMUL_MX(c, a, as, b, bs);
	TMATMUL_MX(d, c, a, as, b, bs);
	const auto check = [&](const char *what, const auto &tile, const auto &want) {
		for (int i = 0; i < m; i++)
			for (int j = 0; j < n; j++)
				if (!t.expect(same_bits(now(tile, i, j), want(i, j)),
					      "%s %s x %s (%d, %d): %.9g, expected %.9g", what,
					      type_name<EA>(), type_name<EB>(), i, j,
					      double(now(tile, i, j)), double(want(i, j))))
					return;
	};

	check("TMATMUL_MX", c, [&](int i, int j) { return mx_element(a, as, b, bs, i, j, k); });
	check("TMATMUL_MX acc", d, [&](int i, int j) { return now(c, i, j) + now(c, i, j); });
	TMATMUL_MX(d, a, as, b, bs, bias);
	check("TMATMUL_MX bias", d, [&](int i, int j) { return now(c, i, j) + float(j); });
	TGEMV_MX(d, a, as, b, bs);
	check("TGEMV_MX", d, [&](int i, int j) { return now(c, i, j); });
}

template <Layout L, typename T>
void loads_scales(context &t, T d)
{
	constexpr int R = T::Rows, C = T::Cols;
	using S = TileShape2D<float8_e8m0_t, R, C, L>;
	using D = BaseShape2D<float8_e8m0_t, R, C, L>;
	float8_e8m0_t mem[R * C];
	GlobalTensor<float8_e8m0_t, S, D, L> g(mem, S(R, C), D(R, C));
	place at;

	at.put(d);
	for (int r = 0; r < R; r++)
		for (int c = 0; c < C; c++) {
			const int place =
				L == Layout::MX_A_ND   ? r * C + c
				: L == Layout::MX_A_DN ? c / 2 * 2 * R + r * 2 + c % 2
				: L == Layout::MX_A_ZZ
					? r / 16 * 16 * C + c / 2 * 32 + r % 16 * 2 + c % 2
				: L == Layout::MX_B_ND ? r / 2 * 2 * C + c * 2 + r % 2
				: L == Layout::MX_B_DN
					? c * R + r
					: c / 16 * 16 * R + r / 2 * 32 + c % 16 * 2 + r % 2;

			mem[place] = from_raw<float8_e8m0_t>(unsigned(r * C + c) & 255);
		}
	TLOAD(d, g);
	for (int r = 0; r < R; r++)
		for (int c = 0; c < C; c++)
			t.expect(raw(now(d, r, c)) == (unsigned(r * C + c) & 255),
				 "TLOAD of layout %d (%d, %d)", int(L), r, c);
	t.covers("TLOAD (scale layouts)", "e8m0");
}

} // namespace

CHECK(hifloat8_has_the_values_of_its_definition)
{
	for (unsigned code = 0; code < 256; code++)
		t.expect(same_bits(float(from_raw<hifloat8_t>(code)), float(hif8_value(code))),
			 "code %02x is %g, expected %g", code,
			 double(float(from_raw<hifloat8_t>(code))), hif8_value(code));
	survives<hifloat8_t>(t, "hif8");
	t.expect(raw(hifloat8_t(1.0f)) == 0x08, "1.0");
}
CHECK(hifloat8_rounds_to_nearest_ties_away)
{
	rounds_between<hifloat8_t>(t, "hif8",
				   ladder([](int i) { return hif8_value(unsigned(i)); }, 128),
				   [](value_of, value_of) { return true; });
	t.expect(raw(hifloat8_t(40000.0f)) == 0x6e && raw(hifloat8_t(40960.0f)) == 0x6f &&
			 raw(hifloat8_t(-1e30f)) == 0xef && raw(hifloat8_t(1e-12f)) == 0,
		 "ends of the range");
}
CHECK(fp8_rounds_to_nearest_ties_to_even)
{
	const auto even = [](value_of a, value_of) { return a.code & 1; };

	rounds_between<float8_e4m3_t>(
		t, "e4m3", ladder([](int i) { return e4m3_value(unsigned(i)); }, 128), even);
	rounds_between<float8_e5m2_t>(
		t, "e5m2", ladder([](int i) { return e5m2_value(unsigned(i)); }, 128), even);
	survives<float8_e4m3_t>(t, "e4m3");
	survives<float8_e5m2_t>(t, "e5m2");
	for (float f : {464.5f, 480.0f, 497.5f, 511.0f, 512.0f, 1e30f})
		t.expect(std::isnan(float(float8_e4m3_t(f))) && std::isnan(float(float8_e4m3_t(-f))),
			 "e4m3 of %g is %g", double(f), double(float(float8_e4m3_t(f))));
	t.expect(float(float8_e4m3_t(448.0f)) == 448.0f && std::isinf(float(float8_e5m2_t(1e6f))),
		 "ends");
}
CHECK(packed_types_have_their_values)
{
	static const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

	for (int code = 0; code < 16; code++) {
		float4_e2m1x2_t p = {uint8_t(code << 4)};
		int4b_t i = {uint8_t(code)};

		t.expect(float4_e2m1x2_t::get(&p, 1) == (code & 8 ? -1 : 1) * e2m1[code & 7],
			 "e2m1 %d", code);
		t.expect(int4b_t::get(&i, 0) == (code < 8 ? code : code - 16), "i4 %d", code);
	}
}
CHECK(tcvt_of_every_8_bit_code)
{
	converts_all_codes<float8_e4m3_t, float>(t, e4m3_value);
	converts_all_codes<float8_e5m2_t, float>(t, e5m2_value);
	converts_all_codes<hifloat8_t, float>(t, hif8_value);
	converts_all_codes<hifloat8_t, half>(t, hif8_value);
}
CHECK(tcvt_of_every_16_bit_value_to_narrow_formats)
{
	narrows_every_half_to_i4(t);
	narrows_every_value<hifloat8_t, half>(
		t, [](int i) { return hif8_value(unsigned(i)); }, false);
	narrows_every_value<float4_e2m1x2_t, bfloat16_t>(
		t, [](int i) { return e2m1_value(unsigned(i)); });
	narrows_every_value<float4_e1m2x2_t, bfloat16_t>(
		t, [](int i) { return e1m2_value(unsigned(i)); });
}
CHECK(tcvt_of_floats_to_8_bits_follows_the_mode)
{
	narrows_every_value<float8_e4m3_t, float>(
		t, [](int i) { return e4m3_value(unsigned(i)); });
	narrows_every_value<float8_e5m2_t, float>(
		t, [](int i) { return e5m2_value(unsigned(i)); });
	narrows_every_value<hifloat8_t, float>(
		t, [](int i) { return hif8_value(unsigned(i)); }, false);
}
CHECK(tcvt_packs_and_unpacks)
{
	const auto i4 = [](unsigned code) { return code < 8 ? code : double(code) - 16; };

	converts_packed<int4b_t, half>(t, 8, 64, i4);
	converts_packed<int4b_t, half>(t, 5, 51, i4);
	converts_packed<float4_e2m1x2_t, bfloat16_t>(t, 7, 33, e2m1_value);
	converts_packed<float4_e2m1x2_t, bfloat16_t>(t, 1, 1, e2m1_value);
	converts_packed<float4_e1m2x2_t, bfloat16_t>(t, 8, 63, e1m2_value);
}
CHECK(packed_tiles_load_move_and_store)
{
	moves_packed<int4b_t>(t);
	moves_packed<float4_e2m1x2_t>(t);
	moves_packed<float4_e1m2x2_t>(t);
}
CHECK(tmatmul_mx_scales_groups_of_32)
{
	multiplies<float8_e4m3_t, float8_e4m3_t>(t, 32, 128, 64, 6);
	multiplies<float8_e4m3_t, float8_e5m2_t>(t, 19, 101, 37, 20);
	multiplies<float4_e2m1x2_t, float4_e2m1x2_t>(t, 32, 128, 64, 9);
	multiplies<float4_e2m1x2_t, float4_e1m2x2_t>(t, 1, 64, 33, 4);
	multiplies<float4_e1m2x2_t, float4_e1m2x2_t>(t, 13, 128, 17, 8);
	multiplies<float8_e5m2_t, float8_e4m3_t>(t, 7, 96, 64, 8);
	/* scales near the ends of the range, which a float cannot hold */
	multiplies<float8_e5m2_t, float8_e5m2_t>(t, 5, 64, 7, 250);
}
CHECK(scale_tensors_load_in_every_layout)
{
	loads_scales<Layout::MX_A_ND>(t, TileLeftScale<float8_e8m0_t, 32, 4>());
	loads_scales<Layout::MX_A_DN>(t, TileLeftScale<float8_e8m0_t, 32, 4>());
	loads_scales<Layout::MX_A_ZZ>(t, TileLeftScale<float8_e8m0_t, 32, 4>());
	loads_scales<Layout::MX_B_ND>(t, TileRightScale<float8_e8m0_t, 4, 32>());
	loads_scales<Layout::MX_B_DN>(t, TileRightScale<float8_e8m0_t, 4, 32>());
	loads_scales<Layout::MX_B_NN>(t, TileRightScale<float8_e8m0_t, 4, 32>());
}
CHECK(tget_scale_addr_gives_each_operand_its_own_scales)
{
	Tile<TileType::Left, float8_e4m3_t, 16, 64, BLayout::ColMajor, 16, 64, SLayout::RowMajor> a,
		b;
	TileLeftScale<float8_e8m0_t, 16, 2> as, bs;

	TASSIGN(a, 0), TASSIGN(b, 1024);
	TGET_SCALE_ADDR(as, a);
	TGET_SCALE_ADDR(bs, b);
	t.expect(bs.data() - as.data() == 64, "scales %ld bytes apart",
		 long(bs.data() - as.data()));
	t.covers("TGET_SCALE_ADDR", "e8m0");
}

#include "exports.hpp"
