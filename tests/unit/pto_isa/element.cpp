// SPDX-License-Identifier: MIT
/* Element-wise instructions on two tiles (pto-isa §4.2). */
#include "refs.hpp"

using namespace check;

namespace
{

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

/* A shift by the tile's own width, whatever the type. */
template <template <int> class R, typename Call, typename... T>
void shifts(context &t, const char *op, type_list<T...>)
{
	(binary<T>(t, op, Call(), R<8 * sizeof(T)>()), ...);
}

} // namespace

CHECK(tadd_adds_and_wraps_for_all_types)
{
	binary_all(t, "TADD", c_add(), r_add(), numbers());
}
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
CHECK(trem_takes_the_sign_of_the_divisor)
{
	binary_all(t, "TREM", c_rem(), r_rem(), remaindered());
}
CHECK(tfmod_takes_the_sign_of_the_dividend)
{
	binary_all(t, "TFMOD", c_fmod(), r_fmod(), remaindered());
}
CHECK(tmax_keeps_nan_in_the_first_operand_only)
{
	binary_all(t, "TMAX", c_max(), r_max(), numbers());
}
CHECK(tmin_keeps_nan_in_the_first_operand_only)
{
	binary_all(t, "TMIN", c_min(), r_min(), numbers());
}
CHECK(tand_is_bitwise)
{
	binary_all(t, "TAND", c_and(), r_and(), integers());
}
CHECK(tor_is_bitwise)
{
	binary_all(t, "TOR", c_or(), r_or(), integers());
}
CHECK(txor_is_bitwise)
{
	binary_all(t, "TXOR", c_xor(), r_xor(), integers());
}
CHECK(tshl_shifts_by_the_second_tile)
{
	shifts<r_shl, c_shl>(t, "TSHL", integers());
}
CHECK(tshr_is_arithmetic_for_signed_types)
{
	shifts<r_shr, c_shr>(t, "TSHR", integers());
}
CHECK(tprelu_scales_what_is_not_positive)
{
	binary_all(t, "TPRELU", c_prelu(), r_leaky(), floats());
}
CHECK(tsubrelu_clips_the_difference_at_zero)
{
	binary_all(t, "TSUBRELU", c_subrelu(), r_subrelu(), floats());
}

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

namespace
{

template <typename T>
T power(T base, T exponent)
{
	uint64_t want = 1;

	for (int64_t k = 0; k < int64_t(exponent); k++)
		want *= uint64_t(int64_t(base));
	return T(want);
}

/* Floats within a unit of the last place, integers exactly; their exponents are not negative. */
template <typename D>
void powers_on(context &t, D d)
{
	using T = typename D::DType;
	D a = d, b = d;
	place at;
	const T s = T(3.0f);
	const auto is = [&](const char *op, T base, T exponent, T got, int r, int c) {
		if constexpr (std::is_integral_v<T>)
			t.expect(got == power(base, exponent), "%s %s: element (%d, %d)", op,
				 type_name<T>(), r, c);
		else
			matches(t, op, r, c, got, to_type<T>(std::pow(wide(base), wide(exponent))),
				1.0);
	};

	covers(t, "TPOW", d), covers(t, "TPOWS", d);
	at.put(a), at.put(b), at.put(d);
	for (size_t k = 0; k < D::Extent; k++) {
		constexpr bool integral = std::is_integral_v<T>;

		a.data()[k] = integral ? T(t.below(21) - (std::is_signed_v<T> ? 10 : 0))
				       : T(0.5f + float(t.below(100)) / 16.0f);
		b.data()[k] = integral ? T(t.below(12)) : T(float(t.below(80) - 40) / 8.0f);
	}
	fill(t, d);
	const auto before = copy_of(d);

	TPOW(d, a, b, a);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			is("TPOW", now(a, r, c), now(b, r, c), now(d, r, c), r, c);
	TPOWS(d, a, s, a);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			is("TPOWS", now(a, r, c), s, now(d, r, c), r, c);
	untouched(t, "TPOW", d, before, d.GetValidRow(), d.GetValidCol());
}

template <typename... T>
void powers(context &t, type_list<T...>)
{
	((powers_on(t, Odd<T>(7, 96)), powers_on(t, Odd<T>(3, 11)),
	  powers_on(t, Dn<T, 32, 8>(29, 7)), powers_on(t, Nz<T, 32, 64>(19, 37))),
	 ...);
}

/* relu(a + b) and relu(a - b), converted; @clip is what the destination holds. */
template <typename D, typename S, typename Clip>
void relu_converts(context &t, int rows, int cols, const Clip &clip)
{
	Part<S, 7, 96> a(rows, cols), b(rows, cols);
	Part<D, 7, 96> d(rows, cols);
	place at;

	covers(t, "TADDRELUCONV", a), covers(t, "TSUBRELUCONV", a);
	at.put(a), at.put(b), at.put(d);
	for (size_t i = 0; i < a.Extent; i++)
		a.data()[i] = S(t.below(700) - 350), b.data()[i] = S(t.below(100));
	fill(t, d);
	const auto before = copy_of(d);

	for (int sign = 1; sign >= -1; sign -= 2) {
		sign > 0 ? TADDRELUCONV(d, a, b) : TSUBRELUCONV(d, a, b);
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < cols; c++) {
				const double v = double(now(a, r, c)) + sign * double(now(b, r, c));

				matches(t, "relu and convert", r, c, now(d, r, c),
					clip(v < 0 ? 0 : v));
			}
	}
	untouched(t, "relu and convert", d, before, rows, cols);
}

} // namespace

CHECK(tpow_raises_floats_and_wraps_integers)
{
	powers(t, type_list<float, half, int8_t, int16_t, int32_t, uint32_t>());
}
CHECK(relu_conversions_saturate)
{
	const auto to_i8 = [](double v) { return int64_t(v > 127 ? 127 : v); };
	const auto to_u8 = [](double v) { return int64_t(v > 255 ? 255 : v); };
	const auto to_half = [](double v) { return to_type<half>(v); };

	for (auto &v : {std::initializer_list<int>{7, 96}, {5, 51}, {1, 1}}) {
		const int rows = v.begin()[0], cols = v.begin()[1];

		relu_converts<int8_t, int16_t>(t, rows, cols, to_i8);
		relu_converts<uint8_t, int16_t>(t, rows, cols, to_u8);
		relu_converts<half, float>(t, rows, cols, to_half);
	}
}
CHECK(tadddeqrelu_scales_the_sum)
{
	Part<int32_t, 7, 96> a(5, 51), b(5, 51);
	Part<half, 7, 96> d(5, 51);
	place at;

	covers(t, "TADDDEQRELU", a);
	at.put(a), at.put(b), at.put(d);
	for (size_t i = 0; i < a.Extent; i++)
		a.data()[i] = t.below(2000) - 1000, b.data()[i] = t.below(100);
	fill(t, d);
	const auto before = copy_of(d);

	TADDDEQRELU(d, a, b, 0.125f, a);
	for (int r = 0; r < 5; r++)
		for (int c = 0; c < 51; c++) {
			const double v = (now(a, r, c) + now(b, r, c)) * 0.125;

			matches(t, "TADDDEQRELU", r, c, now(d, r, c),
				to_type<half>(v < 0 ? 0.0 : v));
		}
	untouched(t, "TADDDEQRELU", d, before, 5, 51);
}

#include "exports.hpp"
