/* SPDX-License-Identifier: MIT */
/*
 * Inner kernels of the matrix multiplication: one block of the result from two
 * packed panels.  The widest one that the processor has is chosen at run time;
 * all give the same bits.
 */
#ifndef PTO_CPU_MATMUL_KERNEL_HPP
#define PTO_CPU_MATMUL_KERNEL_HPP

#include "pto/cpu/simd.hpp"

namespace pto {
namespace matmul_ {

constexpr int MAX_BLOCK = 12 * 32;

/* out[rows x cols] = sum over k of a[k][row] * b[k][col] */
template <typename W>
struct kernel_table {
	int rows, cols;
	void (*run)(int k, const W *a, const W *b, W *out, int rows);
};

#if defined(__x86_64__)
typedef float f32x8 __attribute__((vector_size(32)));
typedef float f32x16 __attribute__((vector_size(64)));

/* R rows by two vectors of results in registers. */
#define PTO_MATMUL_BLOCK(R, V, LANES, STRIDE, FMA)                             \
	{                                                                      \
		V acc[R][2] = {};                                              \
		for (int i = 0; i < k; i++, a += (STRIDE), b += 2 * (LANES)) { \
			V b0, b1;                                              \
			__builtin_memcpy(&b0, b, sizeof(V));                   \
			__builtin_memcpy(&b1, b + (LANES), sizeof(V));         \
			_Pragma("GCC unroll 16") for (int r = 0; r < (R); r++) \
			{                                                      \
				const V x = V{} + a[r];                        \
				acc[r][0] = FMA(x, b0, acc[r][0]);             \
				acc[r][1] = FMA(x, b1, acc[r][1]);             \
			}                                                      \
		}                                                              \
		__builtin_memcpy(out, acc, sizeof(acc));                       \
	}
#define PTO_FMA8(x, y, z) __builtin_ia32_vfmaddps256(x, y, z)
#define PTO_FMA16(x, y, z) __builtin_ia32_vfmaddps512_mask(x, y, z, short(-1), 4)

template <int R>
__attribute__((noinline, target("avx2,fma"))) void block_avx2(int k, const float *a, const float *b,
							      float *out)
{
	PTO_MATMUL_BLOCK(R, f32x8, 8, 6, PTO_FMA8)
}
template <int R>
__attribute__((noinline, target("avx512f"))) void block_avx512(int k, const float *a,
							       const float *b, float *out)
{
	PTO_MATMUL_BLOCK(R, f32x16, 16, 12, PTO_FMA16)
}
#undef PTO_FMA8
#undef PTO_FMA16
#undef PTO_MATMUL_BLOCK

inline void run_avx2(int k, const float *a, const float *b, float *out, int rows)
{
	rows > 2 ? block_avx2<6>(k, a, b, out) : block_avx2<2>(k, a, b, out);
}
inline void run_avx512(int k, const float *a, const float *b, float *out, int rows)
{
	rows > 4 ? block_avx512<12>(k, a, b, out) : block_avx512<4>(k, a, b, out);
}
#endif

inline void run_portable(int k, const float *a, const float *b, float *out, int rows)
{
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < 16; c++) {
			float acc = 0.0f;

			for (int i = 0; i < k; i++)
				acc = __builtin_fmaf(a[i * 4 + r], b[i * 16 + c], acc);
			out[r * 16 + c] = acc;
		}
}

inline void run_words(int k, const uint32_t *a, const uint32_t *b, uint32_t *out, int)
{
	using V = simd_::vec<uint32_t, simd_::FLOATS>;
	constexpr int N = 16 / simd_::FLOATS;
	V acc[4][N] = {};

	for (int i = 0; i < k; i++, a += 4, b += 16)
		for (int c = 0; c < N; c++) {
			const V y = simd_::load_raw<V>(b + c * simd_::FLOATS);

			for (int r = 0; r < 4; r++)
				acc[r][c] += a[r] * y;
		}
	__builtin_memcpy(out, acc, sizeof(acc));
}

/* The kernels this processor can run, widest first. */
struct kernel_list {
	kernel_table<float> table[3];
	int count;

	const kernel_table<float> *begin() const { return table; }
	const kernel_table<float> *end() const { return table + count; }
};

inline const kernel_list &all_kernels()
{
	static const kernel_list list = [] {
		kernel_list l = {};

#if defined(__x86_64__)
		if (__builtin_cpu_supports("avx512f"))
			l.table[l.count++] = {12, 32, run_avx512};
		if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
			l.table[l.count++] = {6, 16, run_avx2};
#endif
		l.table[l.count++] = {4, 16, run_portable};
		return l;
	}();

	return list;
}

template <typename W>
const kernel_table<W> &kernels();

template <>
inline const kernel_table<float> &kernels<float>()
{
	return all_kernels().table[0];
}

template <>
inline const kernel_table<uint32_t> &kernels<uint32_t>()
{
	static const kernel_table<uint32_t> table = {4, 16, run_words};

	return table;
}

} // namespace matmul_
} // namespace pto

#endif
