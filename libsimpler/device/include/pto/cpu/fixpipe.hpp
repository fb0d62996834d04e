/* SPDX-License-Identifier: MIT */
/*
 * Element conversions on the way out of the accumulator: type conversion,
 * quantisation by a scalar, ReLU, atomic addition.
 *
 * Spec: pto-isa §4.1 (TSTORE, TMOV), §4.12.
 */
#ifndef PTO_CPU_FIXPIPE_HPP
#define PTO_CPU_FIXPIPE_HPP

#include <cmath>

#include "pto/cpu/copy.hpp"
#include "pto/cpu/simd.hpp"

namespace pto {
namespace fixpipe {

/* Pre-quantisation scalar: scale in the low half, offset in bits 37..45, sign choice in bit 46. */
struct quant {
	bool given = false;
	bool is_signed = false;
	float scale = 1.0f;
	int offset = 0;

	quant() = default;
	template <typename... Rest>
	explicit quant(uint64_t word, const Rest &...)
		: given(true), is_signed((word >> 46) & 1),
		  scale(bits::cast<float>(uint32_t(word))),
		  offset(int((word >> 37) & 0x1ff) - int(((word >> 45) & 1) << 9))
	{}
	template <typename First, typename... Rest,
		  std::enable_if_t<!std::is_arithmetic_v<First>, int> = 0>
	explicit quant(const First &, const Rest &...)
	{}

	float to_int8(float v) const
	{
		const float lo = is_signed ? -128.0f : 0.0f, hi = is_signed ? 127.0f : 255.0f;
		const float r = std::nearbyint(v * scale + float(offset));

		return r < lo ? lo : r <= hi ? r : hi;
	}
};

/* Accumulator element S to element D. */
template <typename D, typename S, bool Relu>
struct convert {
	const quant *q;

	struct relu_vec {
		template <typename V>
		PTO_SIMD V operator()(V v) const
		{
			return Relu ? (v < V{} ? V{} : v) : v;
		}
	};

	D value(S s) const
	{
		if constexpr (sizeof(D) == 1 && std::is_integral_v<D>) {
			const float v = (q ? *q : quant()).to_int8(float(s));

			return D(int(Relu && v < 0 ? 0.0f : v));
		} else if constexpr (std::is_same_v<S, int32_t> && std::is_integral_v<D>) {
			return D(Relu && s < 0 ? 0 : s);
		} else {
			float v = q ? float(s) * q->scale : float(s);

			if (q && is_half_v<D>)
				v = v < -F16_MAX ? -F16_MAX : v > F16_MAX ? F16_MAX : v;
			return D(Relu && v < 0 ? 0.0f : v);
		}
	}
	template <typename DE>
	void one(DE *d, const S *s) const
	{
		*d = value(*s);
	}
	void span(size_t n, D *d, const S *s) const
	{
		if constexpr (std::is_same_v<D, S> && !Relu) {
			if (!q) {
				copy::move_bits::span(n, d, s);
				return;
			}
		} else if constexpr (is_float_like_v<D> && is_float_like_v<S>) {
			if (!q) {
				simd::map(relu_vec(), n, d, s);
				return;
			}
		}
		for (size_t i = 0; i < n; i++)
			d[i] = value(s[i]);
	}
};

/*
 * Adds to an element of global memory that other cores may add to at the same
 * time.  Relaxed throughout: only the sum counts, and the end of the block
 * (release in the engine, acquire by whoever waits for the task) publishes it.
 */
template <typename E>
inline void add_to(E *d, E v)
{
	if constexpr (std::is_integral_v<E>) {
		/* relaxed: see above */
		__atomic_fetch_add(d, v, __ATOMIC_RELAXED);
	} else {
		using U = typename simd::int_of_bytes<sizeof(E)>::u;
		U *word = reinterpret_cast<U *>(d);
		/* relaxed: see above; the compare-exchange detects a lost race */
		U old = __atomic_load_n(word, __ATOMIC_RELAXED);
		U sum;

		do
			sum = bits::cast<U>(E(bits::cast<E>(old) + v));
		/* relaxed: see above */
		while (!__atomic_compare_exchange_n(word, &old, sum, true, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED));
	}
}

template <typename Move>
struct add_atomic {
	Move move;

	template <typename D, typename S>
	void one(D *d, const S *s) const
	{
		D v;

		move.one(&v, s);
		add_to(d, v);
	}
	template <typename D, typename S>
	void span(size_t n, D *d, const S *s) const
	{
		for (size_t i = 0; i < n; i++)
			one(d + i, s + i);
	}
};

} // namespace fixpipe
} // namespace pto

#endif
