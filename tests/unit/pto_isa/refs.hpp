/* SPDX-License-Identifier: MIT */
/* What instructions on two operands compute, in double or 64-bit integers (pto-isa §4.2). */
#ifndef PTO_ISA_REFS_HPP
#define PTO_ISA_REFS_HPP

#include "element.hpp"

namespace check
{

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

} // namespace check

#endif
