// SPDX-License-Identifier: MIT
/* Matrix multiplication in all its forms (pto-isa §4.8). */
#include "element.hpp"

using namespace check;

namespace {

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
template <typename C, typename T, int M, int K, int N, BLayout B = LEFT_BLAYOUT>
bool product(context &t, int m, int k, int n)
{
	char what[64];
	place at;
	Left<T, M, K, B> a(m, k);
	Right<T, K, N> b(k, n);
	Res<C, M, N> c(m, n), in(m, n);
	BiasRow<C, N> bias(n);

	for (const char *op : {"TMATMUL", "TMATMUL_ACC", "TMATMUL_BIAS"})
		t.covers(op, type_name<T>());
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

CHECK(tmatmul_of_halves_is_an_ascending_fma_chain) { products<float, half>(t); }
CHECK(tmatmul_of_bfloat16_is_an_ascending_fma_chain) { products<float, bfloat16_t>(t); }
CHECK(tmatmul_of_floats_is_an_ascending_fma_chain) { products<float, float>(t); }
CHECK(tmatmul_of_bytes_wraps_in_32_bits) { products<int32_t, int8_t>(t); }
#ifdef PTO_NPU_ARCH_A5
CHECK(tmatmul_of_fp8_accumulates_in_float)
{
	(void)(product<float, float8_e4m3_t, 32, 64, 32>(t, 29, 61, 30) &&
	       product<float, float8_e5m2_t, 32, 64, 32>(t, 29, 61, 30));
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

CHECK(tgemv_equals_tmatmul)
{
	place at;
	Left<half, 16, 64> a(1, 61);
	Right<half, 64, 32> b(61, 30);
	Res<float, 16, 32> c(1, 30), d(1, 30);
	BiasRow<float, 32> bias(30);

	at.put(a), at.put(b), at.put(c), at.put(d), at.put(bias);
	fill(t, a, false), fill(t, b, false), fill(t, bias, false);
	TMATMUL(c, a, b);
	for (const char *op : {"TGEMV", "TGEMV_ACC", "TGEMV_BIAS"})
		t.covers(op, "f16");
	TGEMV(d, a, b);
	for (int j = 0; j < 30; j++)
		matches(t, "TGEMV", 0, j, now(d, 0, j), double(now(c, 0, j)));
	TGEMV_BIAS(d, a, b, bias);
	for (int j = 0; j < 30; j++)
		matches(t, "TGEMV_BIAS", 0, j, now(d, 0, j),
			double(now(c, 0, j) + now(bias, 0, j)));
	TGEMV_ACC(d, c, a, b);
	TGEMV_ACC(d, d, a, b);
	for (int j = 0; j < 30; j++)
		matches(t, "TGEMV_ACC", 0, j, now(d, 0, j), double(now(c, 0, j) * 3), 1);
}

#include "exports.hpp"
