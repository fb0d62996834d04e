/* SPDX-License-Identifier: MIT */
/*
 * Element conversions on the way out of the accumulator: type conversion,
 * quantisation by a scalar, ReLU, atomic addition.
 *
 * Spec: pto-isa §4.1 (TSTORE, TMOV), §4.12.
 */
#ifndef PTO_CPU_FIXPIPE_HPP
#define PTO_CPU_FIXPIPE_HPP

#include <cstdlib>

#include "pto/common/core_state.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/simd.hpp"

namespace pto {
namespace fixpipe_ {

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
		  scale(bits_::cast<float>(uint32_t(word))),
		  offset(int((word >> 37) & 0x1ff) - int(((word >> 45) & 1) << 9))
	{}
	template <typename First, typename... Rest,
		  std::enable_if_t<!std::is_arithmetic_v<First>, int> = 0>
	explicit quant(const First &, const Rest &...)
	{}

	/* The parameter when one was given. */
	const quant *pointer() const { return given ? this : nullptr; }

	float to_int8(float v) const
	{
		const float lo = is_signed ? -128.0f : 0.0f, hi = is_signed ? 127.0f : 255.0f;
		const float r = __builtin_nearbyintf(v * scale + float(offset));

		return r < lo ? lo : r <= hi ? r : hi;
	}
};

/* What SET_QUANT_SCALAR and SET_QUANT_VECTOR of this block set. */
struct preset {
	quant scalar;
	const uint64_t *params;
	int count;

	void begin()
	{
		scalar = quant();
		params = nullptr;
		count = 0;
	}
};

/* True in a kernel object that ever set one, so that others need not look. */
inline bool &presets_used()
{
	static bool used;

	return used;
}

inline __attribute__((noinline)) void set_preset(float scale, bool is_signed,
						 const uint64_t *params, int count)
{
	preset &p = core_::state<preset>();

	/* relaxed: a core that reads it late did not set it itself */
	__atomic_store_n(&presets_used(), true, __ATOMIC_RELAXED);
	p.scalar.given = !params;
	p.scalar.is_signed = is_signed;
	p.scalar.scale = scale;
	p.params = params;
	p.count = count;
}

/* The preset of this block, null if there is none. */
inline const preset *active_preset()
{
	/* relaxed: partner is set_preset() of the same core, earlier in program order */
	if (!__atomic_load_n(&presets_used(), __ATOMIC_RELAXED))
		return nullptr;
	const preset &p = core_::state<preset>();

	return p.scalar.given || p.params ? &p : nullptr;
}

/* True for conversions that are quantisations: they look at the preset. */
template <typename D, typename S>
constexpr bool quantises = (sizeof(D) == 1 && std::is_integral_v<D>) ||
			   (std::is_same_v<S, int32_t> && is_float_like_v<D>);

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

	/* Without a parameter: scale 1, the range of the type. */
	static quant unit()
	{
		quant u;

		u.is_signed = std::is_signed_v<D>;
		return u;
	}

	D value(S s) const
	{
		if constexpr (sizeof(D) == 1 && std::is_integral_v<D>) {
			const float v = (q ? *q : unit()).to_int8(float(s));

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
				copy_::move_bits::span(n, d, s);
				return;
			}
		} else if constexpr (is_float_like_v<D> && is_float_like_v<S>) {
			if (!q) {
				simd_::map(relu_vec(), n, d, s);
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
		using U = typename simd_::int_of_bytes<sizeof(E)>::u;
		U *word = reinterpret_cast<U *>(d);
		/* relaxed: see above; the compare-exchange detects a lost race */
		U old = __atomic_load_n(word, __ATOMIC_RELAXED);
		U sum;

		do
			sum = bits_::cast<U>(E(bits_::cast<E>(old) + v));
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

/*
 * Parameter of one column: scale in bits 31..13 as the upper bits of a float,
 * offset in bits 45..37, bit 46 chooses -128..127 instead of 0..255.
 */
inline quant column_quant(uint64_t word)
{
	return quant((word & ~uint64_t(0xffffffffu)) | (word & 0xffffe000u));
}

/* A row-major matrix of converted elements. */
template <typename D>
struct converted {
	D *p;
	int cols;

	converted(int rows, int columns) : cols(columns)
	{
		p = static_cast<D *>(malloc(size_t(rows) * size_t(columns) * sizeof(D) + 1));
		if (!p)
			core_::fail("no memory for %d x %d quantised elements", rows, columns);
	}
	~converted() { free(static_cast<void *>(p)); }
	converted(const converted &) = delete;
	converted &operator=(const converted &) = delete;

	copy_::view<copy_::raw_t<D>> view() const
	{
		return copy_::strided(reinterpret_cast<copy_::raw_t<D> *>(p), cols, 1);
	}
};

template <bool Relu, typename D, typename S>
inline void convert_columns(converted<D> &to, const copy_::view<S> &src, int row, int col, int rows,
			    const uint64_t *params)
{
	for (int c = 0; c < to.cols; c++) {
		const quant q = column_quant(params[c]);
		const convert<D, S, Relu> conv{&q};

		for (int r = 0; r < rows; r++)
			conv.one(to.p + size_t(r) * to.cols + c, src.at(row + r, col + c));
	}
}

} // namespace fixpipe_
} // namespace pto

#endif
