// SPDX-License-Identifier: MIT
/* Matrix multiplication in all its forms (pto-isa §4.8). */
#include "element.hpp"

using namespace check;

namespace
{

template <typename T, int R, int C, BLayout B = LEFT_BLAYOUT>
using Left = Tile<TileType::Left, T, R, C, B, -1, -1, SLayout::RowMajor>;
template <typename T, int R, int C>
using Right = Tile<TileType::Right, T, R, C, BLayout::RowMajor, -1, -1, SLayout::ColMajor>;
template <typename T, int R, int C>
using Res = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 1024>;
template <typename T, int C>
using BiasRow = Tile<TileType::Bias, T, 1, C, BLayout::RowMajor, 1, -1>;

/* k ascending, one fma per step. */
template <typename A, typename B>
float dot(const A &a, const B &b, int i, int j, int k, float)
{
	float acc = 0;

	for (int x = 0; x < k; x++)
		acc = std::fma(float(now(a, i, x)), float(now(b, x, j)), acc);
	return acc;
}
template <typename A, typename B>
int32_t dot(const A &a, const B &b, int i, int j, int k, int32_t)
{
	uint32_t acc = 0;

	for (int x = 0; x < k; x++)
		acc += uint32_t(int(now(a, i, x)) * int(now(b, x, j)));
	return int32_t(acc);
}

template <typename C>
C sum(C a, C b)
{
	if constexpr (std::is_integral_v<C>)
		return C(uint32_t(a) + uint32_t(b));
	else
		return a + b;
}

/* The four forms against the reference, bit for bit. */
template <typename C, typename T, int M, int K, int N, BLayout B = LEFT_BLAYOUT, typename TB = T>
bool product(context &t, int m, int k, int n)
{
	char what[64];
	place at;
	Left<T, M, K, B> a(m, k);
	Right<TB, K, N> b(k, n);
	Res<C, M, N> c(m, n), in(m, n);
	BiasRow<C, N> bias(n);

	for (const char *op : {"TMATMUL", "TMATMUL_ACC", "TMATMUL_BIAS"})
		covers(t, op, a), covers(t, op, b);
	at.put(a), at.put(b), at.put(c), at.put(in), at.put(bias);
	fill(t, a, false), fill(t, b, false), fill(t, in, false), fill(t, bias, false);
	for (int form = 0; form < 4; form++) {
		fill(t, c, false);
		const auto before = copy_of(c);

		snprintf(what, sizeof(what), "%s %dx%dx%d form %d", type_name<T>(), m, k, n, form);
		if (form == 0)
			TMATMUL(c, a, b);
		else if (form == 1)
			TMATMUL_ACC(c, in, a, b);
		else if (form == 2)
			TMATMUL_BIAS(c, a, b, bias);
		else
			TMATMUL_ACC(c, a, b);
		for (int i = 0; i < m; i++)
			for (int j = 0; j < n; j++) {
				const C p = dot(a, b, i, j, k, C());
				const C want =
					form == 0   ? p
					: form == 1 ? sum(now(in, i, j), p)
					: form == 2
						? sum(p, now(bias, 0, j))
						: sum(before[spec_offset<Res<C, M, N>>(i, j)], p);

				if (!t.expect(raw(now(c, i, j)) == raw(want),
					      "%s: element (%d, %d) is %.9g, expected %.9g", what,
					      i, j, double(now(c, i, j)), double(want)))
					return false;
			}
		if (!untouched(t, what, c, before, m, n))
			return false;
	}
	return true;
}

template <typename C, typename T>
bool products(context &t)
{
	return product<C, T, 16, 32, 16>(t, 16, 32, 16) && product<C, T, 16, 32, 16>(t, 1, 1, 1) &&
	       product<C, T, 64, 96, 64>(t, 64, 96, 64) &&
	       product<C, T, 64, 96, 64>(t, 61, 83, 53) &&
	       product<C, T, 64, 96, 64>(t, 13, 95, 33) && product<C, T, 64, 96, 64>(t, 7, 3, 17) &&
	       product<C, T, 64, 96, 64, BLayout::RowMajor>(t, 50, 70, 49) &&
	       product<C, T, 64, 96, 64, BLayout::ColMajor>(t, 50, 70, 49);
}

} // namespace

CHECK(tmatmul_of_halves_is_an_ascending_fma_chain)
{
	products<float, half>(t);
}
CHECK(tmatmul_of_bfloat16_is_an_ascending_fma_chain)
{
	products<float, bfloat16_t>(t);
}
CHECK(tmatmul_of_floats_is_an_ascending_fma_chain)
{
	products<float, float>(t);
}
CHECK(tmatmul_of_bytes_wraps_in_32_bits)
{
	products<int32_t, int8_t>(t);
}
#ifdef PTO_NPU_ARCH_A5
CHECK(tmatmul_of_fp8_accumulates_in_float)
{
	constexpr auto L = LEFT_BLAYOUT;
	using e4 = float8_e4m3_t;
	using e5 = float8_e5m2_t;

	(void)(product<float, e4, 32, 64, 32>(t, 29, 61, 30) &&
	       product<float, e5, 32, 64, 32>(t, 29, 61, 30) &&
	       product<float, e4, 32, 64, 32>(t, 32, 64, 32) &&
	       product<float, e4, 32, 64, 32, L, e5>(t, 31, 63, 29) &&
	       product<float, e5, 32, 64, 32, L, e4>(t, 1, 64, 17) &&
	       product<float, hifloat8_t, 32, 64, 32>(t, 32, 64, 32) &&
	       product<float, hifloat8_t, 32, 64, 32>(t, 29, 61, 30));
}
#endif

CHECK(every_kernel_of_the_processor_gives_the_same_bits)
{
	constexpr int k = 37;
	std::vector<float> a(12 * k), b(32 * k);

	for (auto &v : a)
		v = float(t.below(2001) - 1000) / 64.0f;
	for (auto &v : b)
		v = float(t.below(2001) - 1000) / 64.0f;
	const auto run = [&](const matmul_::kernel_table<float> &kern, int rows) {
		std::vector<float> pa(size_t(kern.rows * k)), pb(size_t(kern.cols * k)),
			out(matmul_::MAX_BLOCK);

		for (int x = 0; x < k; x++) {
			for (int r = 0; r < kern.rows; r++)
				pa[size_t(x * kern.rows + r)] = a[size_t(r * k + x)];
			for (int c = 0; c < kern.cols; c++)
				pb[size_t(x * kern.cols + c)] = b[size_t(c * k + x)];
		}
		kern.run(k, pa.data(), pb.data(), out.data(), rows);
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < kern.cols; c++) {
				float want = 0;

				for (int x = 0; x < k; x++)
					want = std::fma(a[size_t(r * k + x)], b[size_t(c * k + x)],
							want);
				if (!t.expect(raw(out[size_t(r * kern.cols + c)]) == raw(want),
					      "%d-row kernel, %d rows: (%d, %d)", kern.rows, rows,
					      r, c))
					return;
			}
	};

	for (const auto &kern : matmul_::all_kernels())
		for (int rows = 1; rows <= kern.rows; rows++)
			run(kern, rows);
}

/* The forms for one row: in full and in part. */
template <typename C, typename T>
static void vectors(context &t, int k, int n)
{
	Left<T, 16, 64> a(1, k);
	Right<T, 64, 32> b(k, n);
	Res<C, 16, 32> c(1, n), in(1, n);
	BiasRow<C, 32> bias(n);
	place at;

	for (const char *op : {"TGEMV", "TGEMV_ACC", "TGEMV_BIAS"})
		covers(t, op, b);
	at.put(a), at.put(b), at.put(c), at.put(in), at.put(bias);
	fill(t, a, false), fill(t, b, false), fill(t, in, false), fill(t, bias, false);
	for (int form = 0; form < 3; form++) {
		fill(t, c, false);
		const auto before = copy_of(c);

		if (form == 0)
			TGEMV(c, a, b);
		else if (form == 1)
			TGEMV_ACC(c, in, a, b);
		else
			TGEMV_BIAS(c, a, b, bias);
		for (int j = 0; j < n; j++) {
			const C p = dot(a, b, 0, j, k, C());
			const C want = form == 0   ? p
				       : form == 1 ? sum(now(in, 0, j), p)
						   : sum(p, now(bias, 0, j));

			t.expect(raw(now(c, 0, j)) == raw(want),
				 "TGEMV %s form %d: column %d is %.9g, expected %.9g",
				 type_name<T>(), form, j, double(now(c, 0, j)), double(want));
		}
		untouched(t, "TGEMV", c, before, 1, n);
	}
}
template <typename C, typename... T>
static void vectors_all(context &t, type_list<T...>)
{
	((vectors<C, T>(t, 64, 32), vectors<C, T>(t, 61, 29), vectors<C, T>(t, 1, 1)), ...);
}
CHECK(tgemv_multiplies_one_row)
{
	vectors_all<float>(t, floats());
	vectors_all<int32_t>(t, type_list<int8_t>());
#ifdef PTO_NPU_ARCH_A5
	vectors_all<float>(t, type_list<float8_e4m3_t, float8_e5m2_t, hifloat8_t>());
#endif
}

#include "exports.hpp"
