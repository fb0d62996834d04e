// SPDX-License-Identifier: MIT
/* Element-wise instructions on one tile (pto-isa §4.4), their accuracy and special cases. */
#include "element.hpp"

using namespace check;

namespace {

template <typename T>
using Row = Part<T, 8, 64>;
template <typename D>
using call1_on = void (*)(D &, const D &);
template <typename T>
using call1 = call1_on<Row<T>>;

/* Runs over the tile's elements as they are; results within @tol units of the last place. */
template <typename D, typename Ref>
bool compare_unary(context &t, const char *op, call1_on<D> call, const Ref &ref, D &d, const D &a,
		   double tol)
{
	using T = typename D::DType;
	const auto before = copy_of(d);
	char what[64];

	snprintf(what, sizeof(what), "%s %s %s %dx%d", op, type_name<T>(), layout_name<D>(),
		 d.GetValidRow(), d.GetValidCol());
	call(d, a);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++) {
			const auto x = wide(now(a, r, c));
			const auto want = expected<T>(ref(x));

			if (!matches(t, what, r, c, now(d, r, c), want, tol))
				return false;
		}
	return untouched(t, what, d, before, d.GetValidRow(), d.GetValidCol());
}

/* Every layout, full and partly valid. */
template <typename T, typename Call, typename Ref>
bool unary(context &t, const char *op, const Call &, const Ref &ref, double tol = 0)
{
	const auto on = [&](auto d) {
		using D = decltype(d);
		D a = d;
		place at;

		covers(t, op, d);
		at.put(d);
		at.put(a);
		fill(t, d);
		fill(t, a);
		return compare_unary<D>(
			t, op, [](D &x, const D &y) { Call()(x, y); }, ref, d, a, tol);
	};
	bool ok = true;

	for (auto &v : odd_valid)
		ok = ok && on(Odd<T>(v[0], v[1]));
	return ok && on(Dn<T, 32, 7>(32, 7)) && on(Dn<T, 32, 7>(29, 5)) &&
	       on(Nz<T, 32, 64>(32, 64)) && on(Nz<T, 32, 64>(19, 37)) && on(Zn<T, 64, 32>(37, 19));
}

#define UNARY(T, INST, EXPR)                                       \
	unary<T>(                                                  \
		t, #INST, [](auto &d, const auto &a) { INST(d, a); }, \
		[](auto x) {                                       \
			using X = decltype(x);                     \
			return X(EXPR);                            \
		})
/* Floats and halves of every layout, with a tolerance. */
#define FLOATS(INST, EXPR, TOL, HALF_TOL)                              \
	(void)(unary<float>(                                           \
		       t, #INST, [](auto &d, const auto &a) { INST(d, a); }, \
		       [](double x) { return EXPR; }, TOL) &&          \
	       unary<half>(                                            \
		       t, #INST, [](auto &d, const auto &a) { INST(d, a); }, \
		       [](double x) { return EXPR; }, HALF_TOL))

/* Sweeps the whole range of a float function: all exponents, and dense around @lo to @hi. */
template <typename Ref>
void sweep(context &t, const char *op, call1<float> call, const Ref &ref, float lo, float hi,
	   double tol)
{
	place at;
	Row<float> d(8, 64), a(8, 64);

	at.put(d);
	at.put(a);
	for (int round = 0; round < 400 && !t.bad; round++) {
		for (int i = 0; i < 512; i++)
			a.data()[i] = round % 2 ? from_raw<float>(t.next() >> 32)
						: lo + (hi - lo) * float(t.below(1 << 24)) /
								  float(1 << 24);
		compare_unary<Row<float>>(t, op, call, ref, d, a, tol);
	}
}

/* Every half there is. */
template <typename Ref>
void all_halves(context &t, const char *op, call1<half> call, const Ref &ref, double tol)
{
	place at;
	Row<half> d(8, 64), a(8, 64);

	at.put(d);
	at.put(a);
	for (uint32_t base = 0; base < 65536 && !t.bad; base += 512) {
		for (uint32_t i = 0; i < 512; i++)
			a.data()[i] = from_raw<half>(base + i);
		compare_unary<Row<half>>(t, op, call, ref, d, a, tol);
	}
}

/* The same for every half, and for all layouts. */
#define SWEEP(INST, EXPR, LO, HI, TOL)                                            \
	sweep(                                                                    \
		t, #INST, [](Row<float> &d, const Row<float> &a) { INST(d, a); }, \
		[](double x) { return EXPR; }, LO, HI, TOL);                      \
	all_halves(                                                               \
		t, #INST, [](Row<half> &d, const Row<half> &a) { INST(d, a); },   \
		[](double x) { return EXPR; }, 1);                                \
	FLOATS(INST, EXPR, TOL, 1)

} // namespace

CHECK(tabs_clears_the_sign_and_keeps_the_least_integer)
{
	(void)(UNARY(float, TABS, std::fabs(x)) && UNARY(half, TABS, std::fabs(x)) &&
	       UNARY(int8_t, TABS, int8_t(x < 0 ? -x : x)) &&
	       UNARY(int16_t, TABS, int16_t(x < 0 ? -x : x)) &&
	       UNARY(int32_t, TABS, int32_t(x < 0 ? -x : x)));
}
CHECK(tneg_negates_and_wraps)
{
	(void)(UNARY(float, TNEG, -x) && UNARY(half, TNEG, -x) && UNARY(bfloat16_t, TNEG, -x) &&
	       UNARY(int8_t, TNEG, 0 - x) && UNARY(int16_t, TNEG, 0 - x) &&
	       UNARY(int32_t, TNEG, 0 - x));
}
CHECK(tnot_complements_bits)
{
	(void)(UNARY(int8_t, TNOT, ~x) && UNARY(uint8_t, TNOT, ~x) && UNARY(int16_t, TNOT, ~x) &&
	       UNARY(uint16_t, TNOT, ~x) && UNARY(int32_t, TNOT, ~x) && UNARY(uint32_t, TNOT, ~x));
}
CHECK(trelu_passes_nan_and_minus_zero)
{
	(void)(UNARY(float, TRELU, x < 0 ? 0 : x) && UNARY(half, TRELU, x < 0 ? 0 : x) &&
	       UNARY(int32_t, TRELU, x < 0 ? 0 : x));
}

CHECK(texp_is_within_two_units_everywhere) { SWEEP(TEXP, std::exp(x), -90.0f, 90.0f, 2); }
CHECK(tlog_is_within_two_units_everywhere)
{
	SWEEP(TLOG, x < 0 ? std::nan("") : std::log(x), 0.5f, 2.0f, 2);
}
CHECK(tsqrt_is_correctly_rounded)
{
	sweep(
		t, "TSQRT", [](Row<float> &d, const Row<float> &a) { TSQRT(d, a); },
		[](double x) { return std::sqrt(x); }, 0.0f, 100.0f, 0.5);
	all_halves(
		t, "TSQRT", [](Row<half> &d, const Row<half> &a) { TSQRT(d, a); },
		[](double x) { return std::sqrt(x); }, 0);
	FLOATS(TSQRT, std::sqrt(x), 0.5, 0);
}
CHECK(trsqrt_of_zero_is_infinite)
{
	SWEEP(TRSQRT, 1.0 / std::sqrt(x), 0.0f, 100.0f, 1.5);
	place at;
	Row<float> d(1, 8), a(1, 8);

	at.put(d), at.put(a);
	TEXPANDS(a, 0.0f);
	TRSQRT(d, a, a);
	t.expect(d.GetValue(0) == INFINITY, "TRSQRT(0) with scratch is %g", double(d.GetValue(0)));
}
CHECK(trecip_of_zero_is_infinite_with_its_sign) { SWEEP(TRECIP, 1.0 / x, -10.0f, 10.0f, 0.5); }
CHECK(exp_and_log_treat_special_values_as_ieee)
{
	place at;
	Row<float> d(1, 8), a(1, 8);
	const float in[8] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, -1.0f, 89.5f, -110.0f};
	const float e[8] = {INFINITY, 0, NAN, 1, 1, 0.36787944f, INFINITY, 0};
	const float l[8] = {INFINITY, NAN, NAN, -INFINITY, -INFINITY, NAN, 4.494239f, NAN};

	at.put(d), at.put(a);
	for (int i = 0; i < 8; i++)
		a.SetValue(i, in[i]);
	TEXP(d, a);
	for (int i = 0; i < 8; i++)
		matches(t, "TEXP", 0, i, d.GetValue(i), double(e[i]), 2);
	TLOG(d, a);
	for (int i = 0; i < 8; i++)
		matches(t, "TLOG", 0, i, d.GetValue(i), double(l[i]), 2);
}

#include "exports.hpp"
