// SPDX-License-Identifier: MIT
/* Element-wise instructions on two tiles and on a tile and a scalar (pto-isa §4.2, §4.3). */
#include "element.hpp"

using namespace check;

namespace {

template <typename X>
X rem(X a, X b, bool floor_style)
{
	if constexpr (std::is_floating_point_v<X>) {
		double r = std::fmod(a, b);

		return floor_style && r != 0 && (a < 0) != (b < 0) ? r + b : r;
	} else {
		X r = b == 0 || (std::is_signed_v<X> && b == X(-1)) ? 0 : a % b;

		return floor_style && r != 0 && (a < 0) != (b < 0) ? X(r + b) : r;
	}
}

struct r_add {
	template <typename X>
	X operator()(X a, X b) const
	{
		return wrap_add(a, b);
	}
};
struct r_sub {
	template <typename X>
	X operator()(X a, X b) const
	{
		return wrap_sub(a, b);
	}
};
struct r_mul {
	template <typename X>
	X operator()(X a, X b) const
	{
		return wrap_mul(a, b);
	}
};
struct r_max {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a < b ? b : a;
	}
};
struct r_min {
	template <typename X>
	X operator()(X a, X b) const
	{
		return b < a ? b : a;
	}
};
struct r_div {
	template <typename X>
	X operator()(X a, X b) const
	{
		if constexpr (std::is_floating_point_v<X>)
			return a / b;
		else
			return b == 0				   ? 0
			       : std::is_signed_v<X> && b == X(-1) ? wrap_sub(X(0), a)
								   : a / b;
	}
};
struct r_rdiv {
	template <typename X>
	X operator()(X a, X s) const
	{
		return r_div()(s, a);
	}
};
struct r_rem {
	template <typename X>
	X operator()(X a, X b) const
	{
		return rem(a, b, true);
	}
};
struct r_fmod {
	template <typename X>
	X operator()(X a, X b) const
	{
		return rem(a, b, false);
	}
};
struct r_and {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a & b;
	}
};
struct r_or {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a | b;
	}
};
struct r_xor {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a ^ b;
	}
};
template <int Bits>
struct r_shl {
	template <typename X>
	X operator()(X a, X b) const
	{
		return X(uint64_t(a) << (uint64_t(b) % Bits));
	}
};
template <int Bits>
struct r_shr {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a >> (uint64_t(b) % Bits);
	}
};
struct r_leaky {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a > 0 ? a : a * b;
	}
};
struct r_subrelu {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a - b < 0 ? X(0) : a - b;
	}
};

#define TILES2(NAME, CALL)                                          \
	struct NAME {                                               \
		template <typename D, typename A, typename B>       \
		void operator()(D &d, const A &a, const B &b) const \
		{                                                   \
			CALL;                                       \
		}                                                   \
	};
TILES2(c_add, TADD(d, a, b))
TILES2(c_sub, TSUB(d, a, b))
TILES2(c_mul, TMUL(d, a, b))
TILES2(c_div, TDIV(d, a, b))
TILES2(c_rem, TREM(d, a, b, a))
TILES2(c_fmod, TFMOD(d, a, b))
TILES2(c_max, TMAX(d, a, b))
TILES2(c_min, TMIN(d, a, b))
TILES2(c_and, TAND(d, a, b))
TILES2(c_or, TOR(d, a, b))
TILES2(c_xor, TXOR(d, a, b, a))
TILES2(c_shl, TSHL(d, a, b))
TILES2(c_shr, TSHR(d, a, b))
TILES2(c_prelu, TPRELU(d, a, b, a))
TILES2(c_subrelu, TSUBRELU(d, a, b))

#define SCALAR(NAME, CALL)                                    \
	struct NAME {                                         \
		template <typename D, typename A, typename S> \
		void operator()(D &d, const A &a, S s) const  \
		{                                             \
			CALL;                                 \
		}                                             \
	};
SCALAR(s_add, TADDS(d, a, s))
SCALAR(s_sub, TSUBS(d, a, s))
SCALAR(s_mul, TMULS(d, a, s))
SCALAR(s_div, TDIVS(d, a, s))
SCALAR(s_rdiv, TDIVS(d, s, a))
SCALAR(s_rem, TREMS(d, a, s, a))
SCALAR(s_fmod, TFMODS(d, a, s))
SCALAR(s_max, TMAXS(d, a, s))
SCALAR(s_min, TMINS(d, a, s))
SCALAR(s_and, TANDS(d, a, s))
SCALAR(s_or, TORS(d, a, s))
SCALAR(s_xor, TXORS(d, a, s, a))
SCALAR(s_shl, TSHLS(d, a, s))
SCALAR(s_shr, TSHRS(d, a, s))
SCALAR(s_lrelu, TLRELU(d, a, s))

/* A shift by the tile's own width, whatever the type. */
template <template <int> class R, typename Call, typename... T>
void shifts(context &t, const char *op, type_list<T...>)
{
	(binary<T>(t, op, Call(), R<8 * sizeof(T)>()), ...);
}
template <template <int> class R, typename Call, typename... T>
void scalar_shifts(context &t, const char *op, type_list<T...>)
{
	(with_scalar<T>(t, op, Call(), R<8 * sizeof(T)>(), 5), ...);
}

} // namespace

CHECK(tadd_adds_and_wraps_for_all_types) { binary_all(t, "TADD", c_add(), r_add(), numbers()); }
CHECK(element_operations_follow_every_layout)
{
	(void)(layouts<float>(t, "TADD", c_add(), r_add()) &&
	       layouts<half>(t, "TADD", c_add(), r_add()) &&
	       layouts<int8_t>(t, "TADD", c_add(), r_add()) &&
	       layouts<int64_t>(t, "TADD", c_add(), r_add()));
}
CHECK(tsub_subtracts_and_wraps_for_all_types)
{
	binary_all(t, "TSUB", c_sub(), r_sub(), numbers());
}
CHECK(tmul_multiplies_and_wraps_for_all_types)
{
	binary_all(t, "TMUL", c_mul(), r_mul(), numbers());
}
CHECK(tdiv_divides_and_gives_signed_infinity)
{
	binary_all(t, "TDIV", c_div(), r_div(), divisible());
}
CHECK(trem_takes_the_sign_of_the_divisor) { binary_all(t, "TREM", c_rem(), r_rem(), divisible()); }
CHECK(tfmod_takes_the_sign_of_the_dividend)
{
	binary_all(t, "TFMOD", c_fmod(), r_fmod(), divisible());
}
CHECK(tmax_keeps_nan_in_the_first_operand_only)
{
	binary_all(t, "TMAX", c_max(), r_max(), numbers());
}
CHECK(tmin_keeps_nan_in_the_first_operand_only)
{
	binary_all(t, "TMIN", c_min(), r_min(), numbers());
}
CHECK(tand_is_bitwise) { binary_all(t, "TAND", c_and(), r_and(), integers()); }
CHECK(tor_is_bitwise) { binary_all(t, "TOR", c_or(), r_or(), integers()); }
CHECK(txor_is_bitwise) { binary_all(t, "TXOR", c_xor(), r_xor(), integers()); }
CHECK(tshl_shifts_by_the_second_tile) { shifts<r_shl, c_shl>(t, "TSHL", integers()); }
CHECK(tshr_is_arithmetic_for_signed_types) { shifts<r_shr, c_shr>(t, "TSHR", integers()); }
CHECK(tprelu_scales_what_is_not_positive)
{
	binary_all(t, "TPRELU", c_prelu(), r_leaky(), floats());
}
CHECK(tsubrelu_clips_the_difference_at_zero)
{
	binary_all(t, "TSUBRELU", c_subrelu(), r_subrelu(), floats());
}

CHECK(tadds_adds_a_scalar) { scalar_all(t, "TADDS", s_add(), r_add(), some_numbers()); }
CHECK(tsubs_subtracts_a_scalar) { scalar_all(t, "TSUBS", s_sub(), r_sub(), some_numbers()); }
CHECK(tmuls_multiplies_by_a_scalar) { scalar_all(t, "TMULS", s_mul(), r_mul(), some_numbers()); }
CHECK(tdivs_divides_integers_by_a_scalar)
{
	scalar_all(t, "TDIVS", s_div(), r_div(), some_integers());
}
CHECK(tdivs_with_the_scalar_first_divides_it)
{
	scalar_all(t, "TDIVS", s_rdiv(), r_rdiv(), divisible());
}
CHECK(trems_takes_the_sign_of_the_scalar) { scalar_all(t, "TREMS", s_rem(), r_rem(), divisible()); }
CHECK(tfmods_takes_the_sign_of_the_tile)
{
	scalar_all(t, "TFMODS", s_fmod(), r_fmod(), divisible());
}
CHECK(tmaxs_takes_the_larger) { scalar_all(t, "TMAXS", s_max(), r_max(), some_numbers()); }
CHECK(tmins_takes_the_smaller) { scalar_all(t, "TMINS", s_min(), r_min(), some_numbers()); }
CHECK(tands_is_bitwise) { scalar_all(t, "TANDS", s_and(), r_and(), some_integers()); }
CHECK(tors_is_bitwise) { scalar_all(t, "TORS", s_or(), r_or(), some_integers()); }
CHECK(txors_is_bitwise) { scalar_all(t, "TXORS", s_xor(), r_xor(), some_integers()); }
CHECK(tshls_shifts_by_a_scalar) { scalar_shifts<r_shl, s_shl>(t, "TSHLS", some_integers()); }
CHECK(tshrs_shifts_by_a_scalar) { scalar_shifts<r_shr, s_shr>(t, "TSHRS", some_integers()); }
CHECK(tlrelu_scales_what_is_not_positive)
{
	scalar_all(t, "TLRELU", s_lrelu(), r_leaky(), floats());
}

/* a5 multiplies by the reciprocal, whose zero case is +inf; a2a3 divides. */
CHECK(tdivs_divides_floats_as_the_architecture_does)
{
	place at;
	Full<float, 4, 8> a, d;

	at.put(a);
	at.put(d);
	fill(t, a, false);
	a.SetElement(0, 0, -3.0f);
	for (float s : {3.0f, 0.7f, 0.0f}) {
		TDIVS(d, a, s);
		for (int r = 0; r < 4; r++)
			for (int c = 0; c < 8; c++) {
				const float x = a.GetElement(r, c);
#ifdef PTO_NPU_ARCH_A5
				const float want = x * (s == 0 ? INFINITY : 1.0f / s);
#else
				const float want = x / s;
#endif
				if (!matches(t, "TDIVS", r, c, d.GetElement(r, c), want))
					return;
			}
	}
}

namespace {

/* Three tiles or two tiles and a scalar; float results within one rounding of each step. */
template <typename T, typename Call, typename Ref>
void ternary(context &t, const char *op, const Call &call, const Ref &ref)
{
	place at;
	Part<T, 16, 64> a(13, 37), b(13, 37), c(13, 37), d(13, 37);

	t.covers(op, type_name<T>());
	at.put(a);
	at.put(b);
	at.put(c);
	at.put(d);
	fill(t, a, false);
	fill(t, b, false);
	fill(t, c, false);
	fill(t, d, false);
	const auto before = copy_of(d);

	call(d, a, b, c);
	for (int r = 0; r < 13; r++)
		for (int x = 0; x < 37; x++) {
			const auto want = ref(wide(now(a, r, x)), wide(now(b, r, x)),
					      wide(now(c, r, x)), wide(at_before(before, r, x, d)));
			/* an intermediate rounding may cost a few units where terms cancel */
			const double got = double(wide(now(d, r, x)));

			if (std::is_integral_v<T>) {
				if (!matches(t, op, r, x, now(d, r, x), want))
					return;
			} else if (!t.expect(std::fabs(got - double(want)) <=
						     (is_half_v<T>	 ? 0.6
						      : is_bfloat16_v<T> ? 5
									 : 1e-4),
					     "%s %s: element (%d, %d) is %g, expected %g", op,
					     type_name<T>(), r, x, got, double(want))) {
				return;
			}
		}
	untouched(t, op, d, before, 13, 37);
}

} // namespace

#define TERNARY(T, NAME, CALL, EXPR)                     \
	ternary<T>(                                      \
		t, NAME,                                 \
		[](auto &d, auto &a, auto &b, auto &c) { \
			(void)b;                         \
			(void)c;                         \
			CALL;                            \
		},                                       \
		[](auto a, auto b, auto c, auto d) {     \
			(void)a;                         \
			(void)b;                         \
			(void)c;                         \
			(void)d;                         \
			using X = decltype(a);           \
			return X(EXPR);                  \
		})

CHECK(taddc_adds_three_tiles)
{
	TERNARY(float, "TADDC", TADDC(d, a, b, c), a + b + c);
	TERNARY(half, "TADDC", TADDC(d, a, b, c), a + b + c);
	TERNARY(int16_t, "TADDC", TADDC(d, a, b, c), a + b + c);
	TERNARY(int32_t, "TADDC", TADDC(d, a, b, c), a + b + c);
}
CHECK(tsubc_subtracts_then_adds)
{
	TERNARY(float, "TSUBC", TSUBC(d, a, b, c), a - b + c);
	TERNARY(int32_t, "TSUBC", TSUBC(d, a, b, c), a - b + c);
}
CHECK(taddsc_adds_a_scalar_and_a_tile)
{
	TERNARY(float, "TADDSC", TADDSC(d, a, 3.0f, b), a + 3 + b);
	TERNARY(int16_t, "TADDSC", TADDSC(d, a, int16_t(3), b), a + 3 + b);
}
CHECK(tsubsc_subtracts_a_scalar_and_adds_a_tile)
{
	TERNARY(float, "TSUBSC", TSUBSC(d, a, 3.0f, b), a - 3 + b);
	TERNARY(half, "TSUBSC", TSUBSC(d, a, half(3.0f), b), a - 3 + b);
}
CHECK(taxpy_adds_the_scaled_source)
{
	TERNARY(float, "TAXPY", TAXPY(d, a, 0.5f), a * 0.5 + d);
	TERNARY(half, "TAXPY", TAXPY(d, a, half(0.5f)), a * 0.5 + d);
}
CHECK(tfusedmuladd_multiplies_by_the_destination)
{
	TERNARY(float, "TFUSEDMULADD", TFUSEDMULADD(d, a, b), a *d + b);
	TERNARY(float, "TFUSEDMULADDRELU", TFUSEDMULADDRELU(d, a, b), a *d + b < 0 ? 0 : a * d + b);
}
CHECK(tmuladddst_adds_to_the_destination)
{
	TERNARY(float, "TMULADDDST", TMULADDDST(d, a, b), a *b + d);
}

CHECK(tpow_raises_floats_and_wraps_integers)
{
	place at;
	Part<float, 4, 16> a(3, 11), b(3, 11), d(3, 11);
	Part<int32_t, 4, 16> i(3, 11), e(3, 11), p(3, 11);

	at.put(a), at.put(b), at.put(d), at.put(i), at.put(e), at.put(p);
	for (int k = 0; k < 64; k++) {
		a.data()[k] = 0.5f + float(t.below(100)) / 16.0f;
		b.data()[k] = float(t.below(80) - 40) / 8.0f;
		i.data()[k] = t.below(21) - 10;
		e.data()[k] = t.below(12);
	}
	t.covers("TPOW", "f32");
	t.covers("TPOW", "i32");
	t.covers("TPOWS", "f32");
	TPOW(d, a, b, a);
	TPOW(p, i, e, i);
	for (int r = 0; r < 3; r++)
		for (int c = 0; c < 11; c++) {
			uint64_t want = 1;

			for (int k = 0; k < now(e, r, c); k++)
				want *= uint64_t(int64_t(now(i, r, c)));
			if (!matches(t, "TPOW f32", r, c, now(d, r, c),
				     std::pow(double(now(a, r, c)), double(now(b, r, c))), 1.0) ||
			    !matches(t, "TPOW i32", r, c, now(p, r, c), int64_t(want)))
				return;
		}
	TPOWS(d, a, 3.0f, a);
	for (int c = 0; c < 11; c++)
		matches(t, "TPOWS", 1, c, now(d, 1, c), std::pow(double(now(a, 1, c)), 3.0), 1.0);
}

CHECK(texpands_fills_the_valid_region_of_any_layout) { expands_all(t, numbers()); }

CHECK(element_operations_may_be_done_in_place)
{
	place at;
	Full<float, 16, 16> a, b;

	at.put(a);
	at.put(b);
	fill(t, a, false);
	fill(t, b, false);
	const auto old = copy_of(a);

	TADD(a, a, b);
	TMULS(a, a, 2.0f);
	for (int i = 0; i < 256; i++)
		if (!t.expect(a.data()[i] == (old[size_t(i)] + b.data()[i]) * 2, "element %d", i))
			return;
}

CHECK(relu_conversions_saturate)
{
	place at;
	Full<int16_t, 2, 16> a, b;
	Full<int8_t, 2, 32> unused;
	Tile<TileType::Vec, int8_t, 2, 32, BLayout::RowMajor, 2, 16> d;
	Full<float, 2, 16> x, y;
	Full<half, 2, 16> h;
	Full<int32_t, 2, 16> m, n;

	at.put(a), at.put(b), at.put(d), at.put(unused), at.put(x), at.put(y), at.put(h), at.put(m),
		at.put(n);
	for (int i = 0; i < 32; i++) {
		a.data()[i] = int16_t(t.below(400) - 200), b.data()[i] = int16_t(t.below(100));
		x.data()[i] = float(t.below(1000) - 500) / 8,
		y.data()[i] = float(t.below(1000)) / 8;
		m.data()[i] = t.below(2000) - 1000, n.data()[i] = t.below(100);
	}
	const auto clip = [](int v) { return v < 0 ? 0 : v > 127 ? 127 : v; };

	t.covers("TADDRELUCONV", "i16");
	t.covers("TSUBRELUCONV", "f32");
	t.covers("TADDDEQRELU", "i32");
	TADDRELUCONV(d, a, b);
	for (int r = 0; r < 2; r++)
		for (int c = 0; c < 16; c++)
			matches(t, "TADDRELUCONV", r, c, now(d, r, c),
				int64_t(clip(now(a, r, c) + now(b, r, c))));
	TSUBRELUCONV(h, x, y);
	for (int r = 0; r < 2; r++)
		for (int c = 0; c < 16; c++) {
			const double v = double(now(x, r, c)) - double(now(y, r, c));

			matches(t, "TSUBRELUCONV", r, c, now(h, r, c),
				to_type<half>(v < 0 ? 0.0 : v));
		}
	TADDDEQRELU(h, m, n, 0.125f, m);
	for (int r = 0; r < 2; r++)
		for (int c = 0; c < 16; c++) {
			const double v = (now(m, r, c) + now(n, r, c)) * 0.125;

			matches(t, "TADDDEQRELU", r, c, now(h, r, c),
				to_type<half>(v < 0 ? 0.0 : v));
		}
}

#include "exports.hpp"
