// SPDX-License-Identifier: MIT
/* Element-wise instructions on a tile and a scalar, and on three operands (pto-isa §4.3). */
#include "refs.hpp"

using namespace check;

namespace
{

using divided = type_list<float, half, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t,
			  int64_t, uint64_t>;

struct r_divs {
	template <typename X>
	X operator()(X a, X s) const
	{
#ifdef PTO_NPU_ARCH_A5
		return a * (s == 0 ? double(INFINITY) : double(float(1 / s)));
#else
		return a / s;
#endif
	}
};

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

template <template <int> class R, typename Call, typename... T>
void scalar_shifts(context &t, const char *op, type_list<T...>)
{
	((with_scalar<T>(t, op, Call(), R<8 * sizeof(T)>(), 5) &&
	  with_scalar<T>(t, op, Call(), R<8 * sizeof(T)>(), 0)),
	 ...);
}

} // namespace

CHECK(tadds_adds_a_scalar)
{
	scalar_all(t, "TADDS", s_add(), r_add(), numbers());
}
CHECK(tsubs_subtracts_a_scalar)
{
	scalar_all(t, "TSUBS", s_sub(), r_sub(), numbers());
}
CHECK(tmuls_multiplies_by_a_scalar)
{
	scalar_all(t, "TMULS", s_mul(), r_mul(), numbers());
}
CHECK(tdivs_divides_integers_by_a_scalar)
{
	scalar_all(t, "TDIVS", s_div(), r_div(), integers());
}
CHECK(tdivs_with_the_scalar_first_divides_it)
{
	scalar_all(t, "TDIVS", s_rdiv(), r_rdiv(), divided());
}
CHECK(trems_takes_the_sign_of_the_scalar)
{
	scalar_all(t, "TREMS", s_rem(), r_rem(), remaindered());
}
CHECK(tfmods_takes_the_sign_of_the_tile)
{
	scalar_all(t, "TFMODS", s_fmod(), r_fmod(), remaindered());
}
CHECK(tmaxs_takes_the_larger)
{
	scalar_all(t, "TMAXS", s_max(), r_max(), numbers());
}
CHECK(tmins_takes_the_smaller)
{
	scalar_all(t, "TMINS", s_min(), r_min(), numbers());
}
CHECK(tands_is_bitwise)
{
	scalar_all(t, "TANDS", s_and(), r_and(), integers());
}
CHECK(tors_is_bitwise)
{
	scalar_all(t, "TORS", s_or(), r_or(), integers());
}
CHECK(txors_is_bitwise)
{
	scalar_all(t, "TXORS", s_xor(), r_xor(), integers());
}
CHECK(tshls_shifts_by_a_scalar)
{
	scalar_shifts<r_shl, s_shl>(t, "TSHLS", integers());
}
CHECK(tshrs_shifts_by_a_scalar)
{
	scalar_shifts<r_shr, s_shr>(t, "TSHRS", integers());
}
CHECK(tlrelu_scales_what_is_not_positive)
{
	scalar_all(t, "TLRELU", s_lrelu(), r_leaky(), floats());
}

/* a5 multiplies by the reciprocal, whose zero case is +inf; a2a3 divides. */
CHECK(tdivs_divides_floats_as_the_architecture_does)
{
	for (double s : {3.0, 0.7, -2.0, 0.0})
		(void)(with_scalar<float>(t, "TDIVS", s_div(), r_divs(), s) &&
		       with_scalar<half>(t, "TDIVS", s_div(), r_divs(), s));
}

namespace
{

/*
 * Three tiles or two tiles and a scalar; each step may round once, so that floats may differ by a
 * unit of the last place of the largest term.
 */
template <typename D, typename Call, typename Ref>
bool ternary_on(context &t, const char *op, const Call &call, const Ref &ref, D d)
{
	using T = typename D::DType;
	const double unit = std::ldexp(1.0, is_half_v<T> ? -10 : is_bfloat16_v<T> ? -7 : -23);
	D a = d, b = d, c = d;
	place at;

	covers(t, op, d);
	at.put(a), at.put(b), at.put(c), at.put(d);
	fill(t, a, false), fill(t, b, false), fill(t, c, false), fill(t, d, false);
	const auto before = copy_of(d);

	call(d, a, b, c);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int x = 0; x < d.GetValidCol(); x++) {
			const auto va = wide(now(a, r, x)), vb = wide(now(b, r, x)),
				   vc = wide(now(c, r, x)), vd = wide(at_before(before, r, x, d));
			const auto want = ref(va, vb, vc, vd);
			const double got = double(wide(now(d, r, x))),
				     largest = std::fabs(double(va)) + std::fabs(double(vb)) +
					       std::fabs(double(vc)) + std::fabs(double(vd)) +
					       std::fabs(double(want));

			if (!t.expect(std::is_integral_v<T>
					      ? now(d, r, x) == T(want)
					      : std::fabs(got - double(want)) <= unit * largest,
				      "%s %s %s: element (%d, %d) is %g, expected %g", op,
				      type_name<T>(), layout_name<D>(), r, x, got, double(want)))
				return false;
		}
	return untouched(t, op, d, before, d.GetValidRow(), d.GetValidCol());
}

template <typename Call, typename Ref, typename... T>
void ternary(context &t, const char *op, const Call &call, const Ref &ref, type_list<T...>)
{
	(void)((ternary_on(t, op, call, ref, Odd<T>(7, 96)) &&
		ternary_on(t, op, call, ref, Odd<T>(5, 37)) &&
		ternary_on(t, op, call, ref, Dn<T, 32, 8>(29, 7)) &&
		ternary_on(t, op, call, ref, Nz<T, 32, 64>(19, 37))) &&
	       ...);
}

} // namespace

#define TERNARY(TYPES, NAME, CALL, EXPR)                                     \
	ternary(                                                             \
		t, NAME,                                                     \
		[](auto &d, auto &a, auto &b, auto &c) {                     \
			using T = typename std::decay_t<decltype(d)>::DType; \
			const T s = T(3.0f);                                 \
			(void)s, (void)b, (void)c;                           \
			CALL;                                                \
		},                                                           \
		[](auto a, auto b, auto c, auto d) {                         \
			using X = decltype(a);                               \
			const X s = 3;                                       \
			(void)s, (void)a, (void)b, (void)c, (void)d;         \
			return X(EXPR);                                      \
		},                                                           \
		TYPES())

using two_floats = type_list<float, half>;

CHECK(taddc_adds_three_tiles)
{
	TERNARY(numbers, "TADDC", TADDC(d, a, b, c), a + b + c);
}
CHECK(tsubc_subtracts_then_adds)
{
	TERNARY(numbers, "TSUBC", TSUBC(d, a, b, c), a - b + c);
}
CHECK(taddsc_adds_a_scalar_and_a_tile)
{
	TERNARY(numbers, "TADDSC", TADDSC(d, a, s, b), a + s + b);
}
CHECK(tsubsc_subtracts_a_scalar_and_adds_a_tile)
{
	TERNARY(numbers, "TSUBSC", TSUBSC(d, a, s, b), a - s + b);
}
CHECK(taxpy_adds_the_scaled_source)
{
	TERNARY(two_floats, "TAXPY", TAXPY(d, a, s), a * s + d);
}
CHECK(tfusedmuladd_multiplies_by_the_destination)
{
	TERNARY(two_floats, "TFUSEDMULADD", TFUSEDMULADD(d, a, b), a * d + b);
	TERNARY(two_floats, "TFUSEDMULADDRELU", TFUSEDMULADDRELU(d, a, b),
		a * d + b < 0 ? 0 : a * d + b);
}
CHECK(tmuladddst_adds_to_the_destination)
{
	TERNARY(two_floats, "TMULADDDST", TMULADDDST(d, a, b), a * b + d);
}
CHECK(texpands_fills_the_valid_region_of_any_layout)
{
	expands_all(t, numbers());
}

#include "exports.hpp"
