/* SPDX-License-Identifier: MIT */
/*
 * Frame of the instruction checks: registration, random tiles, and references
 * computed element by element in double or 64-bit integers.
 */
#ifndef PTO_ISA_CHECK_HPP
#define PTO_ISA_CHECK_HPP

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

#include <pto/pto-inst.hpp>

#include "check.h"

namespace check {

using namespace pto;

struct coverage {
	pto_isa_covered what;
	bool ok;
};
inline std::vector<coverage> &covered()
{
	static std::vector<coverage> list;

	return list;
}

struct context {
	char *msg;
	size_t size;
	uint64_t seed;
	bool bad = false;

	context(char *m, size_t n) : msg(m), size(n), seed(0x9e3779b97f4a7c15u) {}

	uint64_t next()
	{
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		return seed * 0x2545f4914f6cdd1du;
	}
	int below(int n) { return int((next() >> 33) % uint64_t(n)); }
	/* Says that the check covers an instruction with an element type (Documentation/isa.md). */
	void covers(const char *op, const char *type, const char *layout = "",
		    const char *region = "")
	{
		covered().push_back({{op, type, layout, region}, true});
	}
	__attribute__((format(printf, 3, 4))) bool expect(bool ok, const char *fmt, ...)
	{
		if (ok || bad)
			return ok;
		va_list ap;

		va_start(ap, fmt);
		vsnprintf(msg, size, fmt, ap);
		va_end(ap);
		bad = true;
		return false;
	}
};

using fn = void (*)(context &);

struct entry {
	const char *name;
	fn run;
};
inline std::vector<entry> &all()
{
	static std::vector<entry> list;

	return list;
}
struct registrar {
	registrar(const char *name, fn run) { all().push_back({name, run}); }
};
#define CHECK(name)                                                   \
	static void name(check::context &t);                          \
	static const check::registrar name##_registered(#name, name); \
	static void name(check::context &t)

/* ---- references ---- */

/* Nearest value of a format with @mant mantissa bits and least exponent @emin, ties to even. */
inline double round_bits(double v, int mant, int emin, double max_finite)
{
	if (v == 0 || std::isnan(v) || std::isinf(v))
		return v;
	int e;

	std::frexp(v, &e);
	e = e - 1 < emin ? emin : e - 1;
	const double ulp = std::ldexp(1.0, e - mant), q = v / ulp, low = std::floor(q),
		     frac = q - low;
	const bool up = frac > 0.5 || (frac == 0.5 && std::fmod(low, 2.0) != 0.0);
	const double r = (up ? low + 1 : low) * ulp;

	if (std::fabs(r) > max_finite)
		return std::copysign(std::numeric_limits<double>::infinity(), v);
	return r == 0 ? std::copysign(0.0, v) : r;
}
template <typename T>
double to_type(double v)
{
	if constexpr (is_half_v<T>)
		return round_bits(v, 10, -14, 65504.0);
	else if constexpr (is_bfloat16_v<T>)
		return round_bits(v, 7, -126, 3.3895313892515355e38);
	else
		return double(float(v));
}

template <typename T>
uint64_t raw(T v)
{
	uint64_t r = 0;

	memcpy(&r, &v, sizeof(v));
	return r;
}
template <typename T>
T from_raw(uint64_t r)
{
	T v;

	memcpy(static_cast<void *>(&v), &r, sizeof(v));
	return v;
}

/* Distance in units of the last place of T's format. */
template <typename T>
double ulps(double got, double want)
{
	if (std::isnan(got) || std::isnan(want))
		return std::isnan(got) == std::isnan(want) ? 0 : INFINITY;
	if (got == want)
		return 0;
	if (std::isinf(got) || std::isinf(want))
		return INFINITY;
	const int mant = is_half_v<T> ? 10 : is_bfloat16_v<T> ? 7 : 23;
	const int emin = is_half_v<T> ? -14 : -126;
	int e;

	std::frexp(want, &e);
	e = e - 1 < emin ? emin : e - 1;
	return std::fabs(got - want) / std::ldexp(1.0, e - mant);
}

/* ---- tiles ---- */

template <typename T, int R, int C>
using Full = Tile<TileType::Vec, T, R, C>;
template <typename T, int R, int C>
using Part = Tile<TileType::Vec, T, R, C, BLayout::RowMajor, -1, -1>;
template <typename T, int R, int C>
using Dn = Tile<TileType::Vec, T, R, C, BLayout::ColMajor, -1, -1>;
template <typename T, int R, int C>
using Nz = Tile<TileType::Vec, T, R, C, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512>;
template <typename T, int R, int C>
using Zn = Tile<TileType::Vec, T, R, C, BLayout::RowMajor, -1, -1, SLayout::ColMajor, 512>;

/* Offset of an element by the table of pto-isa §3.4, written out anew. */
template <typename T>
size_t spec_offset(int r, int c)
{
	if (T::SFractal == SLayout::NoneBox)
		return T::BFractal == BLayout::RowMajor ? size_t(r) * T::Cols + c
							: size_t(c) * T::Rows + r;
	const int size = int(sizeof(typename T::DType));
	const bool row_inner = T::SFractal == SLayout::RowMajor,
		   row_outer = T::BFractal == BLayout::RowMajor;
	const int long_side = 16, short_side = T::SFractalSize == 1024 ? 16
					       : T::SFractalSize == 32 ? 2
								       : 32 / size;
	const int ih = row_inner ? long_side : short_side, iw = row_inner ? short_side : long_side;
	const int sr = r / ih, sc = c / iw, ir = r % ih, ic = c % iw;
	const int box =
		row_outer ? sr * T::Cols * ih + sc * ih * iw : sc * T::Rows * iw + sr * ih * iw;

	return size_t(box + (row_inner ? ir * iw + ic : ic * ih + ir));
}

struct place {
	uint64_t next[9] = {};

	template <typename T>
	void put(T &tile)
	{
		uint64_t &at = next[int(T::Loc)];

		TASSIGN(tile, at);
		at += (T::Extent * sizeof(typename T::DType) + 63) / 64 * 64;
	}
};

/* Random values: small numbers, and for @wild also special and extreme ones. */
template <typename T>
T random_value(context &t, bool wild)
{
	if constexpr (is_float_like_v<T>) {
		static const float special[] = {0.0f, -0.0f,  1.0f,   INFINITY, -INFINITY,
						NAN,  1e-40f, -3e38f, 65504.0f};

		if (wild && t.below(8) == 0)
			return T(special[t.below(9)]);
		return T(float(t.below(20001) - 10000) / 512.0f);
	} else {
		const uint64_t v = t.next() >> 20;

		return wild && t.below(4) ? T(v)
					  : T(int64_t(v % 41) - (std::is_signed_v<T> ? 20 : 0));
	}
}

template <typename T>
void fill(context &t, T &tile, bool wild = true)
{
	for (size_t i = 0; i < T::Extent; i++)
		tile.data()[i] = random_value<typename T::DType>(t, wild);
}

template <typename T>
std::vector<typename T::DType> copy_of(const T &tile)
{
	return std::vector<typename T::DType>(tile.data(), tile.data() + T::Extent);
}

template <typename T>
typename T::DType at(const T &, const std::vector<typename T::DType> &box, int r, int c)
{
	return box[spec_offset<T>(r, c)];
}
template <typename T>
typename T::DType now(const T &tile, int r, int c)
{
	return tile.data()[spec_offset<T>(r, c)];
}

template <typename T>
bool same_bits(T a, T b)
{
	if constexpr (is_float_like_v<T>) {
		if (float(a) != float(a) && float(b) != float(b))
			return true;
	}
	return raw(a) == raw(b);
}

/* Nothing outside rows x cols may differ from @before. */
template <typename T>
bool untouched(context &t, const char *what, const T &tile,
	       const std::vector<typename T::DType> &before, int rows, int cols)
{
	std::vector<bool> inside(T::Extent);

	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			inside[spec_offset<T>(r, c)] = true;
	for (size_t i = 0; i < T::Extent; i++)
		if (!inside[i] &&
		    !t.expect(raw(tile.data()[i]) == raw(before[i]),
			      "%s: element %zu outside the %d x %d valid region changed", what, i,
			      rows, cols))
			return false;
	return true;
}

/* Compares with the expected value: exactly, or within @tol units of the last place. */
template <typename E>
bool close(context &t, const char *what, int r, int c, E got, double want, double tol)
{
	const double g = double(float(got));

	return t.expect(tol == 0 ? (std::isnan(g)
					    ? std::isnan(want)
					    : g == want && std::signbit(g) == std::signbit(want))
				 : ulps<E>(g, want) <= tol,
			"%s: element (%d, %d) is %.9g, expected %.9g", what, r, c, g, want);
}

template <typename E, typename W>
bool matches(context &t, const char *what, int r, int c, E got, W want, double tol = 0)
{
	if constexpr (is_float_like_v<E>)
		return close(t, what, r, c, got, double(want), tol);
	else
		return t.expect(got == E(want), "%s: element (%d, %d) is %lld, expected %lld", what,
				r, c, static_cast<long long>(got), static_cast<long long>(E(want)));
}

/* Value for references: double for floats, 64-bit integers else. */
template <typename T>
auto wide(T v)
{
	if constexpr (is_float_like_v<T>)
		return double(float(v));
	else
		return std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>(v);
}

template <typename T>
const char *type_name()
{
	if (is_half_v<T>)
		return "f16";
	if (is_bfloat16_v<T>)
		return "bf16";
	if (std::is_same_v<T, float>)
		return "f32";
	if (std::is_same_v<T, float8_e4m3_t>)
		return "e4m3";
	if (std::is_same_v<T, float8_e5m2_t>)
		return "e5m2";
	if (std::is_same_v<T, hifloat8_t>)
		return "hif8";
	if (std::is_same_v<T, int4b_t>)
		return "i4";
	if (std::is_same_v<T, float4_e2m1x2_t>)
		return "e2m1";
	if (std::is_same_v<T, float4_e1m2x2_t>)
		return "e1m2";
	static const char *const s[] = {"i8", "i16", "", "i32", "", "", "", "i64"};
	static const char *const u[] = {"u8", "u16", "", "u32", "", "", "", "u64"};

	return (std::is_signed_v<T> ? s : u)[sizeof(T) - 1];
}

template <typename T>
const char *layout_name()
{
	static const char *const names[2][3] = {{"ND", "Zz", "Zn"}, {"DN", "Nz", "Nn"}};

	return names[T::BFractal == BLayout::ColMajor][int(T::SFractal)];
}

/* The same for an instruction on @tile. */
template <typename T>
void covers(context &t, const char *op, const T &tile,
	    const char *type = type_name<typename T::DType>())
{
	const bool full = tile.GetValidRow() == T::Rows && tile.GetValidCol() == T::Cols;

	t.covers(op, type, layout_name<T>(), full ? "full" : "part");
}

} // namespace check

#endif
