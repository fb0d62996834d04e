/* SPDX-License-Identifier: MIT */
/*
 * The operations of element-wise instructions on vectors of the compute type.
 *
 * Spec: pto-isa §4.0 (rounding, wrapping), §4.2 to §4.4.
 */
#ifndef PTO_CPU_OPS_HPP
#define PTO_CPU_OPS_HPP

#include "pto/cpu/math.hpp"

namespace pto {
namespace simd_ {

/* Applies a function of scalars to each lane. */
template <typename F, typename V, typename... Rest>
PTO_SIMD V by_lane(const F &f, V a, Rest... rest)
{
	V r = {};

	for (int i = 0; i < count<V>; i++)
		r[i] = f(elem_t<V>(a[i]), elem_t<V>(rest[i])...);
	return r;
}

template <typename T>
inline T int_div(T a, T b)
{
	if (b == 0)
		return 0;
	if (std::is_signed_v<T> && b == T(-1))
		return T(typename int_of_bytes<sizeof(T)>::u(0) -
			 typename int_of_bytes<sizeof(T)>::u(a));
	return T(a / b);
}

/* C remainder; 0 where the division is not defined. */
template <typename T>
inline T rem_c(T a, T b)
{
	if constexpr (std::is_same_v<T, float>)
		return __builtin_fmodf(a, b);
	else
		return b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T(0) : T(a % b);
}

struct op_div {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		if constexpr (is_float_vec<V>)
			return a / b;
		else
			return by_lane([](auto x, auto y) { return int_div(x, y); }, a, b);
	}
};
struct op_fmod {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return by_lane([](auto x, auto y) { return rem_c(x, y); }, a, b);
	}
};
/* Remainder with the divisor's sign. */
struct op_rem {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return by_lane(
			[](auto x, auto y) {
				auto r = rem_c(x, y);

				if (r != 0 && (x < 0) != (y < 0))
					r = decltype(r)(r + y);
				return r;
			},
			a, b);
	}
};
struct op_and {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return a & b;
	}
};
struct op_or {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return a | b;
	}
};
struct op_xor {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return a ^ b;
	}
};
/* Shift counts are taken modulo the width. */
struct op_shl {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		using U = uint_vec<V>;
		return (V)((U)a << ((U)b & elem_t<U>(8 * sizeof(elem_t<V>) - 1)));
	}
};
struct op_shr {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return a >> (b & elem_t<V>(8 * sizeof(elem_t<V>) - 1));
	}
};
/* a > 0 ? a : a * slope */
struct op_leaky {
	template <typename V>
	PTO_SIMD V operator()(V a, V slope) const
	{
		return a > V{} ? a : op_mul()(a, slope);
	}
};
struct op_relu {
	template <typename V>
	PTO_SIMD V operator()(V a) const
	{
		return a < V{} ? V{} : a;
	}
};
struct op_sub_relu {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return op_relu()(op_sub()(a, b));
	}
};
struct op_add3 {
	template <typename V>
	PTO_SIMD V operator()(V a, V b, V c) const
	{
		return op_add()(op_add()(a, b), c);
	}
};
struct op_sub_add {
	template <typename V>
	PTO_SIMD V operator()(V a, V b, V c) const
	{
		return op_add()(op_sub()(a, b), c);
	}
};
template <bool Relu>
struct op_mul_add {
	template <typename V>
	PTO_SIMD V operator()(V a, V b, V c) const
	{
		const V v = op_add()(op_mul()(a, b), c);

		return Relu ? op_relu()(v) : v;
	}
};
struct op_pow {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return by_lane(
			[](auto x, auto y) {
				if constexpr (std::is_same_v<decltype(x), float>) {
					return float(__builtin_pow(double(x), double(y)));
				} else {
					return int_pow(x, y);
				}
			},
			a, b);
	}

	/* Wraps; a negative exponent gives the truncated fraction. */
	template <typename T>
	static T int_pow(T x, T y)
	{
		using U = typename int_of_bytes<sizeof(T)>::u;
		uint64_t r = 1, base = uint64_t(x);

		if (y < 0)
			return x == 1 ? T(1) : x == T(-1) ? T((y & 1) ? -1 : 1) : T(0);
		for (uint64_t e = uint64_t(y); e; e >>= 1, base *= base)
			if (e & 1)
				r *= base;
		return T(U(r));
	}
};
struct op_abs {
	template <typename V>
	PTO_SIMD V operator()(V a) const
	{
		if constexpr (is_float_vec<V>)
			return vabs(a);
		else
			return a < V{} ? op_sub()(V{}, a) : a;
	}
};
struct op_neg {
	template <typename V>
	PTO_SIMD V operator()(V a) const
	{
		if constexpr (is_float_vec<V>)
			return -a;
		else
			return op_sub()(V{}, a);
	}
};
struct op_not {
	template <typename V>
	PTO_SIMD V operator()(V a) const
	{
		return ~a;
	}
};
struct op_exp {
	PTO_SIMD vfloat operator()(vfloat a) const { return vexp(a); }
};
struct op_log {
	PTO_SIMD vfloat operator()(vfloat a) const { return vlog(a); }
};
struct op_sqrt {
	PTO_SIMD vfloat operator()(vfloat a) const { return vsqrt(a); }
};
struct op_rsqrt {
	PTO_SIMD vfloat operator()(vfloat a) const { return splat<vfloat>(1.0f) / vsqrt(a); }
};
struct op_recip {
	PTO_SIMD vfloat operator()(vfloat a) const { return splat<vfloat>(1.0f) / a; }
};

/* op(x, s), op(s, x) and op(x, s, y) with a scalar s. */
template <typename Op, typename V>
struct scalar_last {
	Op op;
	V s;
	PTO_SIMD V operator()(V a) const { return op(a, s); }
};
template <typename Op, typename V>
struct scalar_first {
	Op op;
	V s;
	PTO_SIMD V operator()(V a) const { return op(s, a); }
};
template <typename Op, typename V>
struct scalar_middle {
	Op op;
	V s;
	PTO_SIMD V operator()(V a, V b) const { return op(a, s, b); }
};
template <typename Op, typename V>
PTO_SIMD scalar_last<Op, V> with_scalar(Op op, V s)
{
	return {op, s};
}
template <typename Op, typename V>
PTO_SIMD scalar_first<Op, V> with_first(Op op, V s)
{
	return {op, s};
}
template <typename Op, typename V>
PTO_SIMD scalar_middle<Op, V> with_middle(Op op, V s)
{
	return {op, s};
}

} // namespace simd_
} // namespace pto

#endif
