/* SPDX-License-Identifier: MIT */
/*
 * Vectors for the element loops, built on the compilers' vector extensions so
 * that they do not depend on the optimisation level.  half, bfloat16_t and the
 * one-byte floats are loaded to and computed in float; integers are computed in
 * their own type.
 */
#ifndef PTO_CPU_SIMD_HPP
#define PTO_CPU_SIMD_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/common/types.hpp"

#define PTO_SIMD inline __attribute__((always_inline))
/* Before loops over arrays of vectors, which stay in memory unless the loop is unrolled whole. */
#define PTO_UNROLL _Pragma("GCC unroll 16")

namespace pto {
namespace simd_ {

#ifdef __AVX__
constexpr int BYTES = 32;
#else
constexpr int BYTES = 16;
#endif

template <typename T, int N>
struct vec_type {
	typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <typename T, int N>
using vec = typename vec_type<T, N>::type;

/* The type an element is computed in. */
template <typename T>
using compute_t = std::conditional_t<is_float_like_v<T>, float,
				     std::conditional_t<std::is_same_v<std::remove_cv_t<T>, bool>,
							uint8_t, std::remove_cv_t<T>>>;
template <typename T>
constexpr int LANES = BYTES / int(sizeof(compute_t<T>));
constexpr int FLOATS = BYTES / 4;

using vfloat = vec<float, FLOATS>;
using vint = vec<int32_t, FLOATS>;
using vuint = vec<uint32_t, FLOATS>;

template <typename V>
using elem_t = std::remove_cv_t<std::remove_reference_t<decltype(std::declval<V &>()[0])>>;
template <typename V>
constexpr int count = int(sizeof(V) / sizeof(elem_t<V>));
template <typename V>
constexpr bool is_float_vec = std::is_same_v<elem_t<V>, float>;
template <int Bytes>
struct int_of_bytes;
template <>
struct int_of_bytes<1> {
	using s = int8_t;
	using u = uint8_t;
};
template <>
struct int_of_bytes<2> {
	using s = int16_t;
	using u = uint16_t;
};
template <>
struct int_of_bytes<4> {
	using s = int32_t;
	using u = uint32_t;
};
template <>
struct int_of_bytes<8> {
	using s = int64_t;
	using u = uint64_t;
};
/* The unsigned and signed integer vectors of the same shape as V. */
template <typename V>
using uint_vec = vec<typename int_of_bytes<sizeof(elem_t<V>)>::u, count<V>>;
template <typename V>
using int_vec = vec<typename int_of_bytes<sizeof(elem_t<V>)>::s, count<V>>;

template <typename V>
PTO_SIMD V splat(elem_t<V> v)
{
	return V{} + v;
}
/* Keeps the sign of -0.0, which adding to zero would lose. */
template <>
PTO_SIMD vfloat splat<vfloat>(float v)
{
	return (vfloat)(vuint{} + bits_::cast<uint32_t>(v));
}

template <typename V>
PTO_SIMD V load_raw(const void *p)
{
	V v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}
template <typename V>
PTO_SIMD void store_raw(void *p, V v)
{
	__builtin_memcpy(p, &v, sizeof(v));
}

PTO_SIMD vfloat from_half(const void *p)
{
#if defined(__F16C__) && defined(__AVX__)
	return __builtin_ia32_vcvtph2ps256(load_raw<vec<int16_t, FLOATS>>(p));
#else
	vfloat v;
	uint16_t h[FLOATS];

	__builtin_memcpy(h, p, sizeof(h));
	for (int i = 0; i < FLOATS; i++)
		v[i] = bits_::half_to_float(h[i]);
	return v;
#endif
}

PTO_SIMD void to_half(void *p, vfloat v)
{
#if defined(__F16C__) && defined(__AVX__)
	store_raw(p, __builtin_ia32_vcvtps2ph256(v, 0));
#else
	uint16_t h[FLOATS];

	for (int i = 0; i < FLOATS; i++)
		h[i] = bits_::half_from_float(v[i]);
	__builtin_memcpy(p, h, sizeof(h));
#endif
}

PTO_SIMD vfloat from_bf16(const void *p)
{
	return (vfloat)(__builtin_convertvector(load_raw<vec<uint16_t, FLOATS>>(p), vuint) << 16);
}

PTO_SIMD void to_bf16(void *p, vfloat v)
{
	vuint x = (vuint)v;
	vuint rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
	vuint quiet = (x >> 16) | 0x40u;
	vuint r = v != v ? quiet : rounded;

	store_raw(p, __builtin_convertvector(r, vec<uint16_t, FLOATS>));
}

/* Loads LANES<T> elements as the type they are computed in. */
template <typename T>
PTO_SIMD auto load(const T *p)
{
	if constexpr (is_half_v<T>) {
		return from_half(p);
	} else if constexpr (is_bfloat16_v<T>) {
		return from_bf16(p);
	} else if constexpr (is_float8_v<T>) {
		vfloat v;

		for (int i = 0; i < FLOATS; i++)
			v[i] = float(p[i]);
		return v;
	} else {
		return load_raw<vec<compute_t<T>, LANES<T>>>(p);
	}
}

template <typename T, typename V>
PTO_SIMD void store(T *p, V v)
{
	if constexpr (is_half_v<T>) {
		to_half(p, v);
	} else if constexpr (is_bfloat16_v<T>) {
		to_bf16(p, v);
	} else if constexpr (is_float8_v<T>) {
		for (int i = 0; i < FLOATS; i++)
			p[i] = T(float(v[i]));
	} else {
		store_raw(p, v);
	}
}

template <typename T>
PTO_SIMD auto load_part(const T *p, int n)
{
	T buf[LANES<T>];

	__builtin_memset(static_cast<void *>(buf), 0, sizeof(buf));
	__builtin_memcpy(static_cast<void *>(buf), p, size_t(n) * sizeof(T));
	return load(static_cast<const T *>(buf));
}

template <typename T, typename V>
PTO_SIMD void store_part(T *p, V v, int n)
{
	T buf[LANES<T>];

	store(static_cast<T *>(buf), v);
	__builtin_memcpy(static_cast<void *>(p), buf, size_t(n) * sizeof(T));
}

template <typename T>
using vec_of = vec<compute_t<T>, LANES<T>>;

/* What storing to T and loading again gives. */
template <typename T, typename V>
PTO_SIMD V round_to(V v)
{
	if constexpr (is_float_like_v<T> && !std::is_same_v<T, float>) {
		T buf[LANES<T>];

		store(static_cast<T *>(buf), v);
		return load(static_cast<const T *>(buf));
	} else {
		return v;
	}
}

/* v[i][j] becomes v[j][i]. */
template <typename V>
PTO_SIMD void transpose8(V (&v)[8])
{
	static_assert(count<V> == 8, "eight vectors of eight");
	PTO_UNROLL for (int step = 0; step < 3; step++)
	{
		V t[8];

		PTO_UNROLL for (int i = 0; i < 4; i++)
		{
			t[2 * i] =
				__builtin_shufflevector(v[i], v[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
			t[2 * i + 1] =
				__builtin_shufflevector(v[i], v[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
		}
		PTO_UNROLL for (int i = 0; i < 8; i++) v[i] = t[i];
	}
}

/* Four of the vectors below: columns 0 to 3 of their low halves and of their high halves. */
template <typename V>
PTO_SIMD void transpose4_halves(V *v)
{
	const V ab = __builtin_shufflevector(v[0], v[1], 0, 8, 1, 9, 4, 12, 5, 13);
	const V ab2 = __builtin_shufflevector(v[0], v[1], 2, 10, 3, 11, 6, 14, 7, 15);
	const V cd = __builtin_shufflevector(v[2], v[3], 0, 8, 1, 9, 4, 12, 5, 13);
	const V cd2 = __builtin_shufflevector(v[2], v[3], 2, 10, 3, 11, 6, 14, 7, 15);

	v[0] = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
	v[1] = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
	v[2] = __builtin_shufflevector(ab2, cd2, 0, 1, 8, 9, 4, 5, 12, 13);
	v[3] = __builtin_shufflevector(ab2, cd2, 2, 3, 10, 11, 6, 7, 14, 15);
}

/* The same for 32-byte vectors; most shuffles stay within 16-byte halves. */
template <typename V>
PTO_SIMD void transpose8_wide(V (&v)[8])
{
	transpose4_halves(v);
	transpose4_halves(v + 4);
	PTO_UNROLL for (int i = 0; i < 4; i++)
	{
		const V top = v[i], bottom = v[i + 4];

		v[i] = __builtin_shufflevector(top, bottom, 0, 1, 2, 3, 8, 9, 10, 11);
		v[i + 4] = __builtin_shufflevector(top, bottom, 4, 5, 6, 7, 12, 13, 14, 15);
	}
}

/* d[i] = op(s[i]...) over a contiguous span; all element types have the same lane count. */
template <typename Op, typename D, typename... S>
__attribute__((noinline)) void map(const Op &op, size_t n, D *d, const S *...s)
{
	constexpr size_t L = LANES<D>;
	static_assert(((LANES<S> == int(L)) && ...), "equal lane counts");
	size_t i = 0;

	for (; i + L <= n; i += L)
		store(d + i, op(load(s + i)...));
	if (i < n)
		store_part(d + i, op(load_part(s + i, int(n - i))...), int(n - i));
}

template <typename T>
__attribute__((noinline)) void fill(T *d, size_t n, T value)
{
	constexpr size_t L = BYTES / sizeof(T);
	T buf[L];
	size_t i = 0;

	for (size_t k = 0; k < L; k++)
		buf[k] = value;
	const auto v = load_raw<vec<uint8_t, BYTES>>(buf);
	for (; i + L <= n; i += L)
		store_raw(d + i, v);
	__builtin_memcpy(static_cast<void *>(d + i), buf, (n - i) * sizeof(T));
}

struct op_same {
	template <typename V>
	PTO_SIMD V operator()(V a) const
	{
		return a;
	}
};
/* max = a < b ? b : a, min = b < a ? b : a. */
struct op_max {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return a < b ? b : a;
	}
};
struct op_min {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return b < a ? b : a;
	}
};
struct op_add {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		if constexpr (is_float_vec<V>)
			return a + b;
		else
			return (V)((uint_vec<V>)a + (uint_vec<V>)b);
	}
};
struct op_sub {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		if constexpr (is_float_vec<V>)
			return a - b;
		else
			return (V)((uint_vec<V>)a - (uint_vec<V>)b);
	}
};
struct op_mul {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		if constexpr (is_float_vec<V>)
			return a * b;
		else
			return (V)((uint_vec<V>)a * (uint_vec<V>)b);
	}
};

} // namespace simd_
} // namespace pto

#endif
