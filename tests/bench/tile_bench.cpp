// SPDX-License-Identifier: MIT
/*
 * Speed of tile instructions called as plain functions, one JSON row per line:
 * bandwidth of TADD and TEXP (bytes read and written) beside loops over the same
 * arrays, of the others beside a copy of the same number of bytes, arithmetic of
 * TMATMUL on half operands beside OpenBLAS's sgemm of the same shape on one
 * thread.  "value" is of the median time, "peer" the peer's value by the same
 * measure.
 */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>

#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

/* cblas_sgemm, without the header, so that the program builds where OpenBLAS is missing. */
using sgemm_fn = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
			  const float *a, int lda, const float *b, int ldb, float beta, float *c,
			  int ldc);
constexpr int ROW_MAJOR = 101, NO_TRANS = 111;
constexpr int SAMPLES = 201;

struct times {
	double p50, p99;
	int n;
};

/* Seconds per call over samples that are long enough to be timed. */
template <typename F>
times measure(const F &f)
{
	using clock = std::chrono::steady_clock;
	const auto run = [&f](int calls) {
		const auto start = clock::now();

		for (int i = 0; i < calls; i++)
			f();
		return std::chrono::duration<double>(clock::now() - start).count();
	};
	int calls = 1;

	while (run(calls) < 200e-6)
		calls *= 2;
	std::vector<double> s(SAMPLES);
	for (double &v : s)
		v = run(calls) / calls;
	std::sort(s.begin(), s.end());
	return {s[SAMPLES / 2], s[SAMPLES * 99 / 100], SAMPLES};
}

/* @work units per call; a peer of 0 means that there is none. */
void report(const char *name, const char *unit, double work, const times &t, double peer_seconds)
{
	const double value = work / t.p50;

	printf("{\"name\": \"%s\", \"unit\": \"%s\", \"value\": %.3f, \"n\": %d, \"p50\": %.9f, "
	       "\"p99\": %.9f, ",
	       name, unit, value, t.n, t.p50, t.p99);
	if (peer_seconds > 0)
		printf("\"peer\": %.3f, \"ratio\": %.3f}\n", work / peer_seconds,
		       value / (work / peer_seconds));
	else
		printf("\"peer\": null, \"ratio\": null}\n");
}

__attribute__((noinline)) void plain_add(float *d, const float *a, const float *b, int n)
{
#pragma GCC ivdep
	for (int i = 0; i < n; i++)
		d[i] = a[i] + b[i];
}
__attribute__((noinline)) void plain_exp(float *d, const float *a, int n)
{
	for (int i = 0; i < n; i++)
		d[i] = expf(a[i]);
}

/* Seconds that copying takes, as many bytes read and written as @bytes. */
double copy_seconds(double bytes)
{
	const size_t half_of_it = size_t(bytes / 2);
	std::vector<char> from(half_of_it, 1), to(half_of_it);

	return measure([&] {
		       memcpy(to.data(), from.data(), half_of_it);
		       asm volatile("" ::: "memory");
	       })
		.p50;
}

template <int N>
void elements()
{
	using T = Tile<TileType::Vec, float, N, N>;
	constexpr double bytes = double(N) * N * sizeof(float);
	std::vector<float> words[3] = {std::vector<float>(N * N), std::vector<float>(N * N),
				       std::vector<float>(N * N)};
	T a, b, d;
	char name[64];

	a.Bind(words[0].data());
	b.Bind(words[1].data());
	d.Bind(words[2].data());
	for (int i = 0; i < N * N; i++)
		a.data()[i] = float(i % 173) / 16.0f - 5.0f, b.data()[i] = float(i % 97);
	snprintf(name, sizeof(name), "tile.add_f32.%d", N);
	report(name, "GB/s", 3 * bytes / 1e9, measure([&] { TADD(d, a, b); }),
	       measure([&] { plain_add(d.data(), a.data(), b.data(), N * N); }).p50);
	snprintf(name, sizeof(name), "tile.exp_f32.%d", N);
	report(name, "GB/s", 2 * bytes / 1e9, measure([&] { TEXP(d, a); }),
	       measure([&] { plain_exp(d.data(), a.data(), N * N); }).p50);
	Tile<TileType::Vec, float, N, 1, BLayout::ColMajor> m;

	m.Bind(words[2].data());
	snprintf(name, sizeof(name), "tile.rowsum_f32.%d", N);
	report(name, "GB/s", bytes / 1e9, measure([&] { TROWSUM(m, a, d); }), copy_seconds(bytes));
	Tile<TileType::Vec, half, N, N> h;

	h.Bind(reinterpret_cast<half *>(words[2].data()));
	snprintf(name, sizeof(name), "tile.cvt_f32_f16.%d", N);
	report(name, "GB/s", 1.5 * bytes / 1e9, measure([&] { TCVT(h, a, RoundMode::CAST_RINT); }),
	       copy_seconds(1.5 * bytes));
	GlobalTensor<float, pto::Shape<1, 1, 1, N, N>, pto::Stride<1, 1, 1, N, 1>> g(b.data());

	snprintf(name, sizeof(name), "tile.load_f32.%d", N);
	report(name, "GB/s", 2 * bytes / 1e9, measure([&] { TLOAD(d, g); }),
	       measure([&] {
		       memcpy(d.data(), b.data(), N * N * 4);
		       asm volatile("" ::: "memory");
	       }).p50);
	Tile<TileType::Mat, half, N, N, BLayout::ColMajor, N, N, SLayout::RowMajor> z;
	GlobalTensor<half, pto::Shape<1, 1, 1, N, N>, pto::Stride<1, 1, 1, N, 1>> gh(
		reinterpret_cast<half *>(b.data()));

	z.Bind(reinterpret_cast<half *>(words[0].data()));
	snprintf(name, sizeof(name), "tile.load_nz_f16.%d", N);
	report(name, "GB/s", bytes / 1e9, measure([&] { TLOAD(z, gh); }), copy_seconds(bytes));
	snprintf(name, sizeof(name), "tile.trans_f32.%d", N);
	report(name, "GB/s", 2 * bytes / 1e9, measure([&] { TTRANS(d, a, d); }),
	       copy_seconds(2 * bytes));
	Tile<TileType::Vec, half, N, N> turned;

	turned.Bind(reinterpret_cast<half *>(words[0].data()));
	snprintf(name, sizeof(name), "tile.trans_f16.%d", N);
	report(name, "GB/s", bytes / 1e9, measure([&] { TTRANS(h, turned, h); }),
	       copy_seconds(bytes));
}

template <int N>
void product(sgemm_fn sgemm)
{
	std::vector<half> a(N * N), b(N * N);
	std::vector<float> c(N * N), fa(N * N), fb(N * N);
	TileLeft<half, N, N> l;
	TileRight<half, N, N> r;
	TileAcc<float, N, N> acc;
	char name[64];

	l.Bind(a.data());
	r.Bind(b.data());
	acc.Bind(c.data());
	for (int i = 0; i < N * N; i++) {
		fa[i] = float(i % 13 - 6) / 4.0f, fb[i] = float(i % 11 - 5) / 4.0f;
		l.SetElement(i / N, i % N, half(fa[i]));
		r.SetElement(i / N, i % N, half(fb[i]));
	}
	double peer = 0;

	if (sgemm) {
		std::vector<float> out(N * N);

		peer = measure([&] {
			       sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, N, N, N, 1.0f, fa.data(), N,
				     fb.data(), N, 0.0f, out.data(), N);
		       }).p50;
	}
	snprintf(name, sizeof(name), "tile.matmul_f16.%d", N);
	report(name, "GFLOP/s", 2.0 * N * N * N / 1e9, measure([&] { TMATMUL(acc, l, r); }), peer);
}

sgemm_fn find_sgemm()
{
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	void *so = dlopen("libopenblas.so.0", RTLD_NOW);

	if (!so) {
		fprintf(stderr,
			"tile_bench: no OpenBLAS (libopenblas0): matmul rows have no peer\n");
		return nullptr;
	}
	return reinterpret_cast<sgemm_fn>(dlsym(so, "cblas_sgemm"));
}

} // namespace

int main()
{
	const sgemm_fn sgemm = find_sgemm();

	elements<16>();
	elements<64>();
	elements<128>();
	elements<256>();
	product<64>(sgemm);
	product<128>(sgemm);
	product<192>(sgemm);
	product<256>(sgemm);
	product<512>(sgemm);
	return 0;
}
