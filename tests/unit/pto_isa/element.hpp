/* SPDX-License-Identifier: MIT */
/*
 * Runs an element-wise instruction on tiles of every layout, full and partly
 * valid, and compares each element with a reference.
 */
#ifndef PTO_ISA_ELEMENT_HPP
#define PTO_ISA_ELEMENT_HPP

#include "check.hpp"

namespace check
{

template <typename... T>
struct type_list {
};
using floats = type_list<float, half, bfloat16_t>;
using integers =
	type_list<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
using numbers = type_list<float, half, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t, int32_t,
			  uint32_t, int64_t, uint64_t>;
using divisible = type_list<float, half, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
using remaindered = type_list<float, half, int16_t, uint16_t, int32_t, uint32_t>;

template <typename X>
X wrap_add(X a, X b)
{
	if constexpr (std::is_floating_point_v<X>)
		return a + b;
	else
		return X(uint64_t(a) + uint64_t(b));
}
template <typename X>
X wrap_sub(X a, X b)
{
	if constexpr (std::is_floating_point_v<X>)
		return a - b;
	else
		return X(uint64_t(a) - uint64_t(b));
}
template <typename X>
X wrap_mul(X a, X b)
{
	if constexpr (std::is_floating_point_v<X>)
		return a * b;
	else
		return X(uint64_t(a) * uint64_t(b));
}

template <typename T, typename B>
T at_before(const std::vector<T> &box, int r, int c, const B &)
{
	return box[spec_offset<B>(r, c)];
}

/* Expected element: the reference, rounded to T. */
template <typename T, typename W>
auto expected(W v)
{
	if constexpr (is_float_like_v<T>)
		return to_type<T>(double(v));
	else
		return v;
}

/* Instruction and reference as functions of one type: the frame is compiled once per type. */
template <typename D, typename A, typename B>
using call2 = void (*)(D &, const A &, const B &);
template <typename T>
using ref2 = decltype(wide(T())) (*)(decltype(wide(T())), decltype(wide(T())));

template <typename D, typename A, typename B>
bool binary_on(context &t, const char *op, call2<D, A, B> call, ref2<typename D::DType> ref, D d,
	       A a, B b)
{
	using T = typename D::DType;
	char what[64];
	place at;

	covers(t, op, d);
	snprintf(what, sizeof(what), "%s %s %s %dx%d", op, type_name<T>(), layout_name<D>(),
		 d.GetValidRow(), d.GetValidCol());
	at.put(d);
	at.put(a);
	at.put(b);
	fill(t, d);
	fill(t, a);
	fill(t, b);
	const auto before = copy_of(d);

	call(d, a, b);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			if (!matches(t, what, r, c, now(d, r, c),
				     expected<T>(ref(wide(now(a, r, c)), wide(now(b, r, c))))))
				return false;
	return untouched(t, what, d, before, d.GetValidRow(), d.GetValidCol());
}

/* A box of an odd number of rows, so that full tiles are odd too. */
template <typename T>
using Odd = Part<T, 7, 96>;
constexpr int odd_valid[][2] = {{7, 96}, {5, 51}, {1, 1}, {0, 7}};

template <typename T>
bool shapes(context &t, const char *op, call2<Odd<T>, Odd<T>, Odd<T>> call, ref2<T> ref)
{
	bool ok = true;

	for (auto &v : odd_valid)
		ok = ok && binary_on(t, op, call, ref, Odd<T>(v[0], v[1]), Odd<T>(v[0], v[1]),
				     Odd<T>(v[0], v[1]));
	return ok;
}

template <typename D, typename A, typename B, typename Call, typename Ref>
bool one_layout(context &t, const char *op, const Call &, const Ref &, D d, A a, B b)
{
	using W = decltype(wide(typename D::DType()));
	const call2<D, A, B> call = [](D &x, const A &y, const B &z) { Call()(x, y, z); };
	const ref2<typename D::DType> ref = [](W y, W z) -> W { return Ref()(y, z); };

	return binary_on(t, op, call, ref, d, a, b);
}

/*
 * Tiles of one type: plain ones that are full, partly valid, a single element, nothing; the other
 * layouts full and partly valid; a mixture.
 */
template <typename T, typename Call, typename Ref>
bool binary(context &t, const char *op, const Call &call, const Ref &ref)
{
	using W = decltype(wide(T()));
	using P = Odd<T>;
	using C = Dn<T, 32, 7>;
	using N = Nz<T, 32, 64>;
	using Z = Zn<T, 64, 32>;

	return shapes<T>(
		       t, op, [](P &d, const P &a, const P &b) { Call()(d, a, b); },
		       [](W a, W b) -> W { return Ref()(a, b); }) &&
	       one_layout(t, op, call, ref, C(32, 7), C(32, 7), C(32, 7)) &&
	       one_layout(t, op, call, ref, C(29, 5), C(29, 5), C(29, 5)) &&
	       one_layout(t, op, call, ref, N(32, 64), N(32, 64), N(32, 64)) &&
	       one_layout(t, op, call, ref, N(19, 37), N(19, 37), N(19, 37)) &&
	       one_layout(t, op, call, ref, Z(37, 19), Z(37, 19), Z(37, 19)) &&
	       one_layout(t, op, call, ref, P(7, 5), C(7, 5), N(7, 5));
}

/* Every kind of layout and mixtures of them. */
template <typename T, typename Call, typename Ref>
bool layouts(context &t, const char *op, const Call &call, const Ref &ref)
{
	return one_layout(t, op, call, ref, Full<T, 8, 32>(), Full<T, 8, 32>(), Full<T, 8, 32>()) &&
	       one_layout(t, op, call, ref, Part<T, 8, 64>(5, 51), Part<T, 16, 32 * 3>(5, 51),
			  Part<T, 8, 64>(5, 51)) &&
	       one_layout(t, op, call, ref, Dn<T, 32, 8>(29, 5), Dn<T, 32, 8>(29, 5),
			  Dn<T, 32, 8>(29, 5)) &&
	       one_layout(t, op, call, ref, Nz<T, 32, 64>(32, 64), Nz<T, 32, 64>(32, 64),
			  Nz<T, 32, 64>(32, 64)) &&
	       one_layout(t, op, call, ref, Nz<T, 32, 64>(19, 37), Nz<T, 32, 64>(19, 37),
			  Nz<T, 32, 64>(19, 37)) &&
	       one_layout(t, op, call, ref, Zn<T, 64, 32>(37, 19), Zn<T, 64, 32>(37, 19),
			  Zn<T, 64, 32>(37, 19)) &&
	       one_layout(t, op, call, ref, Part<T, 32, 64>(29, 7), Dn<T, 32, 8>(29, 7),
			  Nz<T, 32, 64>(29, 7));
}

template <typename Call, typename Ref, typename... T>
void binary_all(context &t, const char *op, const Call &call, const Ref &ref, type_list<T...>)
{
	(void)(binary<T>(t, op, call, ref) && ...);
}

template <typename D>
using call_scalar = void (*)(D &, const D &, typename D::DType);

template <typename D, typename T = typename D::DType>
bool scalar_on(context &t, const char *op, call_scalar<D> call, ref2<T> ref, D d, T s)
{
	D a = d;
	char what[64];
	place at;

	covers(t, op, d);
	snprintf(what, sizeof(what), "%s %s %s %dx%d by %g", op, type_name<T>(), layout_name<D>(),
		 d.GetValidRow(), d.GetValidCol(), double(wide(s)));
	at.put(d);
	at.put(a);
	fill(t, d);
	fill(t, a);
	const auto before = copy_of(d);

	call(d, a, s);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			if (!matches(t, what, r, c, now(d, r, c),
				     expected<T>(ref(wide(now(a, r, c)), wide(s)))))
				return false;
	return untouched(t, what, d, before, d.GetValidRow(), d.GetValidCol());
}

template <typename T, typename Call, typename Ref>
bool with_scalar(context &t, const char *op, const Call &, const Ref &, double value)
{
	using W = decltype(wide(T()));
	const ref2<T> ref = [](W a, W b) -> W { return Ref()(a, b); };
	const T s = T(float(value));
	const auto on = [&](auto d) {
		using D = decltype(d);

		return scalar_on<D>(
			t, op, [](D &x, const D &a, T v) { Call()(x, a, v); }, ref, d, s);
	};
	bool ok = true;

	for (auto &v : odd_valid)
		ok = ok && on(Odd<T>(v[0], v[1]));
	return ok && on(Dn<T, 32, 7>(32, 7)) && on(Dn<T, 32, 7>(29, 5)) &&
	       on(Nz<T, 32, 64>(32, 64)) && on(Nz<T, 32, 64>(19, 37)) && on(Zn<T, 64, 32>(37, 19));
}

template <typename Call, typename Ref, typename... T>
void scalar_all(context &t, const char *op, const Call &call, const Ref &ref, type_list<T...>)
{
	(void)((with_scalar<T>(t, op, call, ref, 3) &&
		with_scalar<T>(t, op, call, ref, std::is_unsigned_v<T> ? 7 : -2)) &&
	       ...);
}

template <typename D>
bool expands_on(context &t, D d)
{
	using T = typename D::DType;
	place at;
	const T s = T(float(t.below(100)));

	covers(t, "TEXPANDS", d);
	at.put(d);
	fill(t, d);
	const auto before = copy_of(d);

	TEXPANDS(d, s);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			if (!t.expect(raw(now(d, r, c)) == raw(s), "TEXPANDS %s: element (%d, %d)",
				      type_name<T>(), r, c))
				return false;
	return untouched(t, "TEXPANDS", d, before, d.GetValidRow(), d.GetValidCol());
}

template <typename... T>
void expands_all(context &t, type_list<T...>)
{
	(void)((expands_on(t, Odd<T>(7, 96)) && expands_on(t, Odd<T>(5, 33)) &&
		expands_on(t, Dn<T, 32, 8>(31, 3)) && expands_on(t, Nz<T, 32, 64>(32, 64)) &&
		expands_on(t, Nz<T, 32, 64>(17, 33)) && expands_on(t, Zn<T, 64, 32>(33, 17)) &&
		expands_on(t, Tile<TileType::Mat, T, 32, 64, BLayout::ColMajor, 31, 33,
				   SLayout::RowMajor>())) &&
	       ...);
}

} // namespace check

#endif
