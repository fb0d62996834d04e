// SPDX-License-Identifier: MIT
/*
 * Ten kernels written from the instructions' documentation alone, run in
 * checked mode with their synchronisation, against goldens in double.
 */
#include <algorithm>

#include "fake_core.hpp"

using namespace check;

namespace
{

struct kernel_core : fake_core {
	kernel_core()
	{
		ops.checked = true;
	}

	template <typename F>
	bool runs(context &t, const F &f)
	{
		const bool ended = fails(f);

		return t.expect(!ended, "%s", text);
	}
};

void after(pipe_t first, pipe_t then)
{
	set_flag(first, then, EVENT_ID0);
	wait_flag(first, then, EVENT_ID0);
}

template <typename T, int R, int C>
using Mem = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;
template <typename T, int R, int C, int VR, int VC>
using Odd = Tile<TileType::Vec, T, R, C, BLayout::RowMajor, VR, VC>;
template <typename T, int R>
using Col = Tile<TileType::Vec, T, R, 1, BLayout::ColMajor, R, 1>;
template <typename T, int R, int C>
using L1 = Tile<TileType::Mat, T, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor>;
template <typename T, int R, int C>
using L1T = Tile<TileType::Mat, T, R, C, BLayout::RowMajor, R, C, SLayout::ColMajor>;

template <typename T>
std::vector<T> numbers(context &t, int n, double scale)
{
	std::vector<T> v(n);

	for (T &x : v)
		x = T(float((t.below(2001) - 1000) / 1000.0 * scale));
	return v;
}

template <typename T>
void near(context &t, const char *what, int i, T got, double want, double tol)
{
	const double g = double(float(got));

	t.expect(std::fabs(g - want) <= tol * (1 + std::fabs(want)),
		 "%s: element %d is %g, expected %g", what, i, g, want);
}

/* ---- attention over blocks of keys, softmax rescaled as it goes ---- */

constexpr int Q = 16, HEAD = 32, KEYS = 64, STEP = 32;

struct attention {
	std::vector<half> q, k, v;
	float out[Q * HEAD];

	Full<float, Q, STEP> s, tmp;
	Full<half, Q, STEP> p;
	Full<float, Q, HEAD> o, part;
	Col<float, Q> m, m_new, l, sum, alpha;
	L1<half, Q, HEAD> lq;
	L1<half, Q, STEP> lp;
	L1T<half, HEAD, STEP> lk;
	L1<half, STEP, HEAD> lv;
	TileLeft<half, Q, HEAD> a0;
	TileRight<half, HEAD, STEP> b0;
	TileAcc<float, Q, STEP> c0;

	void place_all()
	{
		TASSIGN(s, 0), TASSIGN(tmp, 0x1000), TASSIGN(p, 0x2000), TASSIGN(o, 0x3000);
		TASSIGN(part, 0x4000), TASSIGN(m, 0x5000), TASSIGN(m_new, 0x5100),
			TASSIGN(l, 0x5200);
		TASSIGN(sum, 0x5300), TASSIGN(alpha, 0x5400);
		TASSIGN(lq, 0), TASSIGN(lp, 0x1000), TASSIGN(lk, 0x2000), TASSIGN(lv, 0x3000);
		TASSIGN(a0, 0), TASSIGN(b0, 0), TASSIGN(c0, 0);
	}
	template <typename A, typename B>
	void multiply(const A &a, const B &b, Full<float, Q, STEP> &to)
	{
		after(PIPE_MTE2, PIPE_MTE1);
		TMOV(a0, a);
		TMOV(b0, b);
		after(PIPE_MTE1, PIPE_M);
		TMATMUL(c0, a0, b0);
		after(PIPE_M, PIPE_FIX);
		TMOV(to, c0);
		after(PIPE_FIX, PIPE_V);
		after(PIPE_FIX, PIPE_MTE1);
		after(PIPE_FIX, PIPE_MTE2);
	}
	void block(int from)
	{
		/* keys are stored row by row; as a DN tensor they load transposed */
		using Keys = GlobalTensor<half, Shape<1, 1, 1, HEAD, STEP>,
					  Stride<HEAD * STEP, HEAD * STEP, HEAD * STEP, 1, HEAD>,
					  Layout::DN>;

		TLOAD(lk, Keys(&k[from * HEAD]));
		TLOAD(lv, Mem<half, STEP, HEAD>(&v[from * HEAD]));
		multiply(lq, lk, s);
		TMULS(s, s, 1.0f / std::sqrt(float(HEAD)));
		TROWMAX(m_new, s, tmp);
		rescale(from == 0);
		TROWEXPANDSUB(s, s, m);
		TEXP(s, s);
		TROWSUM(sum, s, tmp);
		add_sum(from == 0);
		TCVT(p, s, RoundMode::CAST_RINT);
		after(PIPE_V, PIPE_FIX);
		TMOV(lp, p);
		after(PIPE_FIX, PIPE_MTE1);
		multiply(lp, lv, part);
		if (from == 0)
			TMOV(o, part);
		else
			TADD(o, o, part);
		after(PIPE_V, PIPE_FIX);
	}
	/* Vectors of one number per row, as rows, so that they can be computed with. */
	static auto row(const Col<float, Q> &c)
	{
		Full<float, 1, Q> r;

		TRESHAPE(r, c);
		return r;
	}
	void rescale(bool first)
	{
		auto rm = row(m), rn = row(m_new), ra = row(alpha), rl = row(l);

		if (first) {
			TMOV(rm, rn);
			return;
		}
		TMAX(rn, rn, rm);
		TSUB(ra, rm, rn);
		TEXP(ra, ra);
		TMUL(rl, rl, ra);
		TMOV(rm, rn);
		TROWEXPANDMUL(o, o, alpha);
	}
	void add_sum(bool first)
	{
		auto rs = row(sum), rl = row(l);

		if (first)
			TMOV(rl, rs);
		else
			TADD(rl, rl, rs);
	}
	void kernel()
	{
		place_all();
		TLOAD(lq, Mem<half, Q, HEAD>(q.data()));
		for (int from = 0; from < KEYS; from += STEP)
			block(from);
		TROWEXPANDDIV(o, o, l);
		after(PIPE_V, PIPE_MTE3);
		TSTORE(Mem<float, Q, HEAD>(out), o);
	}
	double golden(int row_, int col) const
	{
		double w[KEYS], top = -1e30, all = 0, r = 0;

		for (int j = 0; j < KEYS; j++) {
			w[j] = 0;
			for (int x = 0; x < HEAD; x++)
				w[j] += double(float(q[row_ * HEAD + x])) *
					double(float(k[j * HEAD + x]));
			w[j] /= std::sqrt(double(HEAD));
			top = std::max(top, w[j]);
		}
		for (double &x : w)
			all += x = std::exp(x - top);
		for (int j = 0; j < KEYS; j++)
			r += w[j] / all * double(float(v[j * HEAD + col]));
		return r;
	}
};

/* ---- mixture of experts: rows go to the places of their expert ---- */

constexpr int TOKENS = 16, EXPERTS = 8, ROOM = 16, WIDTH = 32;

void dispatch(const float *gate, const float *x, float *places, int32_t *expert)
{
	Full<float, TOKENS, EXPERTS> g, tmp;
	Col<int32_t, TOKENS> best;
	Full<float, TOKENS, WIDTH> rows;
	Full<int32_t, 1, TOKENS> flat;
	Full<int32_t, TOKENS, 8> idx;
	Tile<TileType::Vec, int32_t, TOKENS, 8, BLayout::RowMajor, TOKENS, 1> first;
	int used[EXPERTS] = {};

	TASSIGN(g, 0), TASSIGN(tmp, 0x400), TASSIGN(best, 0x800), TASSIGN(rows, 0x1000);
	TASSIGN(flat, 0x800), TASSIGN(idx, 0x2000), TASSIGN(first, 0x2000);
	TLOAD(g, Mem<float, TOKENS, EXPERTS>(const_cast<float *>(gate)));
	TLOAD(rows, Mem<float, TOKENS, WIDTH>(const_cast<float *>(x)));
	after(PIPE_MTE2, PIPE_V);
	TROWARGMAX(best, g, tmp);
	after(PIPE_V, PIPE_S);
	for (int i = 0; i < TOKENS; i++) {
		const int e = flat.GetValue(i);

		expert[i] = e;
		idx.SetValue(i * 8, e * ROOM + used[e]++);
	}
	after(PIPE_S, PIPE_V);
	MSCATTER<Coalesce::Row>(Mem<float, EXPERTS * ROOM, WIDTH>(places), rows, first);
}

} // namespace

CHECK(flash_attention)
{
	kernel_core c;
	static attention a;

	a.q = numbers<half>(t, Q * HEAD, 2), a.k = numbers<half>(t, KEYS * HEAD, 2);
	a.v = numbers<half>(t, KEYS * HEAD, 1);
	if (!c.runs(t, [] { a.kernel(); }))
		return;
	for (int i = 0; i < Q * HEAD; i++)
		near(t, "attention", i, a.out[i], a.golden(i / HEAD, i % HEAD), 3e-3);
}
/* Rows of 53 numbers in boxes of 64. */
CHECK(layer_norm)
{
	constexpr int ROWS = 7, N = 53;
	kernel_core c;
	static std::vector<float> x, gamma, beta;
	static float out[ROWS * N];

	x = numbers<float>(t, ROWS * N, 3), gamma = numbers<float>(t, N, 1),
	beta = numbers<float>(t, N, 1);
	const auto kernel = [] {
		Odd<float, 8, 64, ROWS, N> v, sq;
		Odd<float, 1, 64, 1, N> g, b;
		Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor, ROWS, 1> var;
		Odd<float, 1, 8, 1, ROWS> rv;

		TASSIGN(v, 0), TASSIGN(sq, 0x800), TASSIGN(g, 0x1000), TASSIGN(b, 0x1100);
		TASSIGN(var, 0x1240), TASSIGN(rv, 0x1240);
		TLOAD(v, Mem<float, ROWS, N>(x.data()));
		TLOAD(g, Mem<float, 1, N>(gamma.data()));
		TLOAD(b, Mem<float, 1, N>(beta.data()));
		after(PIPE_MTE2, PIPE_V);
		TROWSUM(var, v, sq);
		TMULS(rv, rv, 1.0f / N);
		TROWEXPANDSUB(v, v, var);
		TMUL(sq, v, v);
		TROWSUM(var, sq, sq);
		TMULS(rv, rv, 1.0f / N);
		TADDS(rv, rv, 1e-5f);
		TRSQRT(rv, rv);
		TROWEXPANDMUL(v, v, var);
		TCOLEXPANDMUL(v, v, g);
		TCOLEXPANDADD(v, v, b);
		after(PIPE_V, PIPE_MTE3);
		TSTORE(Mem<float, ROWS, N>(out), v);
	};
	if (!c.runs(t, kernel))
		return;
	for (int r = 0; r < ROWS; r++) {
		double mean = 0, var = 0;

		for (int i = 0; i < N; i++)
			mean += double(x[r * N + i]) / N;
		for (int i = 0; i < N; i++)
			var += (double(x[r * N + i]) - mean) * (double(x[r * N + i]) - mean) / N;
		for (int i = 0; i < N; i++)
			near(t, "layer norm", r * N + i, out[r * N + i],
			     (double(x[r * N + i]) - mean) / std::sqrt(var + 1e-5) *
					     double(gamma[i]) +
				     double(beta[i]),
			     1e-5);
	}
}
CHECK(top_k_by_sort)
{
	kernel_core c;
	static std::vector<float> x;
	static float values[8];
	static uint32_t indices[8];

	x = numbers<float>(t, 128, 5);
	const auto kernel = [] {
		Full<float, 1, 128> v;
		Full<uint32_t, 1, 128> idx;
		Full<float, 1, 256> rec, run;
		Tile<TileType::Vec, float, 1, 16> top;
		Full<float, 1, 8> best;
		Full<uint32_t, 1, 8> where;

		TASSIGN(v, 0), TASSIGN(idx, 0x400), TASSIGN(rec, 0x800), TASSIGN(run, 0x1000);
		TASSIGN(top, 0x1000), TASSIGN(best, 0x1800), TASSIGN(where, 0x1900);
		TLOAD(v, Mem<float, 1, 128>(x.data()));
		TCI(idx, 0u);
		after(PIPE_MTE2, PIPE_V);
		TSORT32(rec, v, idx);
		TMRGSORT(run, rec, 64);
		TGATHER<decltype(best), decltype(top), MaskPattern::P0101>(best, top);
		TGATHER<decltype(where), decltype(top), MaskPattern::P1010>(where, top);
		after(PIPE_V, PIPE_MTE3);
		TSTORE(Mem<float, 1, 8>(values), best);
		TSTORE(Mem<uint32_t, 1, 8>(indices), where);
	};
	if (!c.runs(t, kernel))
		return;
	std::vector<int> order(128);

	for (int i = 0; i < 128; i++)
		order[i] = i;
	std::stable_sort(order.begin(), order.end(), [](int a, int b) { return x[a] > x[b]; });
	for (int i = 0; i < 8; i++)
		t.expect(int(indices[i]) == order[i] && values[i] == x[order[i]],
			 "top %d: %g at %u, expected index %d", i, double(values[i]), indices[i],
			 order[i]);
}
/* Parts of the boxes that the instructions work in, and a scale of its own for each column. */
CHECK(quantised_matmul)
{
	constexpr int M = 13, K = 57, N = 29;
	kernel_core c;
	static int8_t a[M * K], b[K * N];
	static uint64_t scales[32];
	static half out[M * N];
	float scale[N];

	for (int8_t &v : a)
		v = int8_t(t.below(21) - 10);
	for (int8_t &v : b)
		v = int8_t(t.below(21) - 10);
	for (int i = 0; i < N; i++) {
		/* ten bits behind the point are what a parameter holds */
		scale[i] = float(1024 + t.below(1024)) / float(1 << (12 + i % 5));
		scales[i] = raw(scale[i]);
	}
	const auto kernel = [] {
		using LA = Tile<TileType::Mat, int8_t, 16, 64, BLayout::ColMajor, M, K,
				SLayout::RowMajor>;
		using LB = Tile<TileType::Mat, int8_t, 64, 32, BLayout::ColMajor, K, N,
				SLayout::RowMajor>;
		LA la;
		LB lb;
		Tile<TileType::Mat, uint64_t, 1, 32> ls;
		Tile<TileType::Scaling, uint64_t, 1, 32> fp;
		TileLeft<int8_t, 16, 64, M, K> l;
		TileRight<int8_t, 64, 32, K, N> r;
		TileAcc<int32_t, 16, 32, M, N> acc;

		TASSIGN(la, 0), TASSIGN(lb, 0x1000), TASSIGN(ls, 0x2000), TASSIGN(fp, 0);
		TASSIGN(l, 0), TASSIGN(r, 0), TASSIGN(acc, 0);
		TLOAD(la, Mem<int8_t, M, K>(a));
		TLOAD(lb, Mem<int8_t, K, N>(b));
		TLOAD(ls, Mem<uint64_t, 1, 32>(scales));
		after(PIPE_MTE2, PIPE_MTE1);
		after(PIPE_MTE2, PIPE_FIX);
		TMOV(l, la);
		TMOV(r, lb);
		TMOV(fp, ls);
		after(PIPE_MTE1, PIPE_M);
		TMATMUL(acc, l, r);
		after(PIPE_M, PIPE_FIX);
		TSTORE_FP(Mem<half, M, N>(out), acc, fp);
	};
	if (!c.runs(t, kernel))
		return;
	for (int i = 0; i < M * N; i++) {
		int sum = 0;

		for (int x = 0; x < K; x++)
			sum += a[i / N * K + x] * b[x * N + i % N];
		near(t, "quantised matmul", i, out[i], double(sum) * double(scale[i % N]), 5e-4);
	}
}
/* Seven of 50 rows of 27 numbers, the first and the last among them. */
CHECK(embedding_by_gather)
{
	constexpr int IDS = 7, N = 27;
	kernel_core c;
	static std::vector<half> table;
	static int32_t ids[IDS];
	static half out[IDS * N];

	table = numbers<half>(t, 50 * N, 2);
	for (int32_t &i : ids)
		i = t.below(50);
	ids[2] = 49, ids[5] = 0;
	const auto kernel = [] {
		Odd<int32_t, 8, 8, IDS, 1> idx;
		Odd<half, 8, 32, IDS, N> rows;

		TASSIGN(idx, 0), TASSIGN(rows, 0x400);
		TLOAD(idx, Mem<int32_t, IDS, 1>(ids));
		after(PIPE_MTE2, PIPE_V);
		MGATHER<Coalesce::Row>(rows, Mem<half, 50, N>(table.data()), idx);
		TMULS(rows, rows, half(2.0f));
		after(PIPE_V, PIPE_MTE3);
		TSTORE(Mem<half, IDS, N>(out), rows);
	};
	if (!c.runs(t, kernel))
		return;
	for (int i = 0; i < IDS * N; i++)
		near(t, "embedding", i, out[i],
		     2 * double(float(table[size_t(ids[i / N] * N + i % N)])), 0);
}
CHECK(mixture_of_experts_dispatch)
{
	kernel_core c;
	static std::vector<float> gate, x;
	static float places[EXPERTS * ROOM * WIDTH];
	static int32_t expert[TOKENS];
	int used[EXPERTS] = {};

	gate = numbers<float>(t, TOKENS * EXPERTS, 4), x = numbers<float>(t, TOKENS * WIDTH, 1);
	std::fill(places, places + EXPERTS * ROOM * WIDTH, -9.0f);
	if (!c.runs(t, [] { dispatch(gate.data(), x.data(), places, expert); }))
		return;
	for (int i = 0; i < TOKENS; i++) {
		const float *g = &gate[i * EXPERTS];
		const int best = int(std::max_element(g, g + EXPERTS) - g),
			  at = best * ROOM + used[best]++;

		t.expect(expert[i] == best, "token %d went to expert %d, not %d", i, expert[i],
			 best);
		for (int k = 0; k < WIDTH; k++)
			near(t, "dispatch", i * WIDTH + k, places[at * WIDTH + k],
			     double(x[i * WIDTH + k]), 0);
	}
	for (int place = 0; place < EXPERTS * ROOM; place++)
		for (int k = 0; k < WIDTH && place % ROOM >= used[place / ROOM]; k++)
			t.expect(places[place * WIDTH + k] == -9.0f, "place %d was written", place);
}
/* Heads of 62 numbers, 31 pairs, with an angle of its own for each position and pair. */
CHECK(rotary_embedding)
{
	constexpr int ROWS = 7, N = 62, PAIRS = N / 2;
	kernel_core c;
	static std::vector<float> x;
	static float cs[ROWS * PAIRS], sn[ROWS * PAIRS], out[ROWS * N];

	x = numbers<float>(t, ROWS * N, 2);
	for (int i = 0; i < ROWS * PAIRS; i++) {
		const float angle =
			float(i / PAIRS + 3) * std::pow(10000.0f, -float(i % PAIRS) / float(PAIRS));

		cs[i] = std::cos(angle), sn[i] = std::sin(angle);
	}
	const auto kernel = [] {
		using P = Odd<float, 8, 64, ROWS, PAIRS>;
		Odd<float, 8, 64, ROWS, N> v, y;
		P even, odd, a, b, co, si, low, high;

		TASSIGN(v, 0), TASSIGN(y, 0x800), TASSIGN(even, 0x1000), TASSIGN(odd, 0x1800);
		TASSIGN(a, 0x2000), TASSIGN(b, 0x2800), TASSIGN(co, 0x3000), TASSIGN(si, 0x3800);
		TLOAD(v, Mem<float, ROWS, N>(x.data()));
		TLOAD(co, Mem<float, ROWS, PAIRS>(cs));
		TLOAD(si, Mem<float, ROWS, PAIRS>(sn));
		after(PIPE_MTE2, PIPE_V);
		TDEINTERLEAVE(odd, even, v);
		TMUL(a, even, co);
		TMUL(b, odd, si);
		TSUB(a, a, b); /* x0 cos - x1 sin */
		TMUL(odd, odd, co);
		TMUL(even, even, si);
		TADD(b, odd, even); /* x1 cos + x0 sin */
		TSUBVIEW(high, y, 0, PAIRS);
		TSUBVIEW(low, y, 0, 0);
		TINTERLEAVE(high, low, b, a);
		after(PIPE_V, PIPE_MTE3);
		TSTORE(Mem<float, ROWS, N>(out), y);
	};
	if (!c.runs(t, kernel))
		return;
	for (int i = 0; i < ROWS * N; i += 2) {
		const int pair = i / N * PAIRS + i % N / 2;
		const double co = double(cs[pair]), si = double(sn[pair]);

		near(t, "rotary", i, out[i], double(x[i]) * co - double(x[i + 1]) * si, 1e-6);
		near(t, "rotary", i + 1, out[i + 1], double(x[i + 1]) * co + double(x[i]) * si,
		     1e-6);
	}
}
/* Rows of 90 numbers in pieces of 32, 32 and 26. */
CHECK(softmax_with_online_rescale)
{
	constexpr int ROWS = 7, N = 90;
	kernel_core c;
	static std::vector<float> x;
	static float out[ROWS * N];

	x = numbers<float>(t, ROWS * N, 30);
	const auto kernel = [] {
		using Piece = GlobalTensor<float, Shape<1, 1, 1, ROWS, -1>,
					   Stride<ROWS * N, ROWS * N, ROWS * N, N, 1>>;
		using V = Tile<TileType::Vec, float, 8, 32, BLayout::RowMajor, ROWS, -1>;
		using Column = Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor, ROWS, 1>;
		const auto piece = [](float *p, int from) {
			return Piece(p + from, Shape<1, 1, 1, ROWS, -1>(std::min(32, N - from)));
		};
		Odd<float, 1, 8, 1, ROWS> m, l, n, a;
		Column cm, cl, cn;

		TASSIGN(m, 0x800), TASSIGN(l, 0x820), TASSIGN(n, 0x840), TASSIGN(a, 0x860);
		TRESHAPE(cm, m), TRESHAPE(cl, l), TRESHAPE(cn, n);
		TEXPANDS(m, -1e30f);
		TEXPANDS(l, 0.0f);
		for (int from = 0; from < N; from += 32) {
			V v(std::min(32, N - from)), tmp(std::min(32, N - from));

			TASSIGN(v, 0), TASSIGN(tmp, 0x400);
			after(PIPE_V, PIPE_MTE2);
			TLOAD(v, piece(x.data(), from));
			after(PIPE_MTE2, PIPE_V);
			TROWMAX(cn, v, tmp);
			TMAX(n, n, m);
			TSUB(a, m, n);
			TEXP(a, a);
			TMUL(l, l, a);
			TMOV(m, n);
			TROWEXPANDEXPDIF(v, v, cm);
			TROWSUM(cn, v, tmp);
			TADD(l, l, n);
		}
		for (int from = 0; from < N; from += 32) {
			V v(std::min(32, N - from));

			TASSIGN(v, 0);
			after(PIPE_V, PIPE_MTE2);
			after(PIPE_MTE3, PIPE_MTE2);
			TLOAD(v, piece(x.data(), from));
			after(PIPE_MTE2, PIPE_V);
			TROWEXPANDEXPDIF(v, v, cm);
			TROWEXPANDDIV(v, v, cl);
			after(PIPE_V, PIPE_MTE3);
			TSTORE(piece(out, from), v);
		}
	};
	if (!c.runs(t, kernel))
		return;
	for (int r = 0; r < ROWS; r++) {
		double top = -1e30, sum = 0;

		for (int i = 0; i < N; i++)
			top = std::max(top, double(x[r * N + i]));
		for (int i = 0; i < N; i++)
			sum += std::exp(double(x[r * N + i]) - top);
		for (int i = 0; i < N; i++)
			near(t, "softmax", r * N + i, out[r * N + i],
			     std::exp(double(x[r * N + i]) - top) / sum, 1e-5);
	}
}
/* 16 channels of 4 x 8 pixels, filters of 3 x 2, bordered above, below, left; 32 channels out. */
CHECK(convolution_by_im2col)
{
	constexpr int H = 4, W = 8, FH = 3, FW = 2, IN = 16, OUT = 32, K = FH * FW * IN;
	kernel_core c;
	static std::vector<half> map, filter;
	static float out[H * W * OUT];

	map = numbers<half>(t, H * W * IN, 1), filter = numbers<half>(t, K * OUT, 1);
	const auto kernel = [] {
		using G = GlobalTensor<half, Shape<1, 1, H, W, IN>,
				       Stride<H * W * IN, H * W * IN, W * IN, IN, 1>,
				       Layout::NC1HWC0>;
		ConvTile<TileType::Mat, half, H * W * IN * 2, Layout::NC1HWC0,
			 ConvTileShape<1, 1, H, W, IN>>
			m;
		L1<half, K, OUT> f;
		TileLeft<half, H * W, K> l;
		TileRight<half, K, OUT> r;
		TileAcc<float, H * W, OUT> acc;

		TASSIGN(m, 0), TASSIGN(f, 0x800), TASSIGN(l, 0), TASSIGN(r, 0), TASSIGN(acc, 0);
		m.SetFilter(FH, FW);
		m.SetPad(1, 1, 1, 0);
		TLOAD(m, G(map.data()));
		TLOAD(f, Mem<half, K, OUT>(filter.data()));
		after(PIPE_MTE2, PIPE_MTE1);
		SETFMATRIX(m);
		TIMG2COL(l, m);
		TMOV(r, f);
		after(PIPE_MTE1, PIPE_M);
		TMATMUL(acc, l, r);
		after(PIPE_M, PIPE_FIX);
		TSTORE(Mem<float, H * W, OUT>(out), acc);
	};
	if (!c.runs(t, kernel))
		return;
	const auto pixel = [](int y, int x, int ch) {
		return y < 0 || y >= H || x < 0 || x >= W
			       ? 0.0
			       : double(float(map[size_t((y * W + x) * IN + ch)]));
	};

	for (int i = 0; i < H * W * OUT; i++) {
		const int y = i / OUT / W, x = i / OUT % W;
		double sum = 0;

		for (int fy = 0; fy < FH; fy++)
			for (int fx = 0; fx < FW; fx++)
				for (int ch = 0; ch < IN; ch++)
					sum += pixel(y + fy - 1, x + fx - 1, ch) *
					       double(float(filter[size_t(
						       ((fy * FW + fx) * IN + ch) * OUT +
						       i % OUT)]));
		near(t, "convolution", i, out[i], sum, 1e-5);
	}
}
CHECK(prefix_sum_by_a_triangle)
{
	kernel_core c;
	static std::vector<half> x;
	static float out[16 * 32];

	x = numbers<half>(t, 512, 4);
	const auto kernel = [] {
		Full<half, 32, 32> tri;
		L1<half, 16, 32> lx;
		L1<half, 32, 32> lt;
		TileLeft<half, 16, 32> l;
		TileRight<half, 32, 32> r;
		TileAcc<float, 16, 32> acc;

		TASSIGN(tri, 0), TASSIGN(lx, 0), TASSIGN(lt, 0x1000), TASSIGN(l, 0), TASSIGN(r, 0);
		TASSIGN(acc, 0);
		TLOAD(lx, Mem<half, 16, 32>(x.data()));
		TTRI<decltype(tri), 1>(tri, 0);
		after(PIPE_V, PIPE_FIX);
		TMOV(lt, tri);
		after(PIPE_FIX, PIPE_MTE1);
		after(PIPE_MTE2, PIPE_MTE1);
		TMOV(l, lx);
		TMOV(r, lt);
		after(PIPE_MTE1, PIPE_M);
		TMATMUL(acc, l, r);
		after(PIPE_M, PIPE_FIX);
		TSTORE(Mem<float, 16, 32>(out), acc);
	};
	if (!c.runs(t, kernel))
		return;
	for (int r = 0; r < 16; r++) {
		double sum = 0;

		for (int i = 0; i < 32; i++) {
			sum += double(float(x[r * 32 + i]));
			near(t, "prefix sum", r * 32 + i, out[r * 32 + i], sum, 1e-5);
		}
	}
}

#include "exports.hpp"
