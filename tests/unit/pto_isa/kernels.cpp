// SPDX-License-Identifier: MIT
/*
 * Ten kernels written from the instructions' documentation alone, run in
 * checked mode with their synchronisation, against goldens in double.
 */
#include <algorithm>

#include "fake_core.hpp"

using namespace check;

namespace {

struct kernel_core : fake_core {
	kernel_core() { ops.checked = true; }

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
CHECK(layer_norm)
{
	kernel_core c;
	static std::vector<float> x, gamma, beta;
	static float out[8 * 64];

	x = numbers<float>(t, 512, 3), gamma = numbers<float>(t, 64, 1),
	beta = numbers<float>(t, 64, 1);
	const auto kernel = [] {
		Full<float, 8, 64> v, sq;
		Full<float, 1, 64> g, b;
		Col<float, 8> mean, var;
		Full<float, 1, 8> rv;

		TASSIGN(v, 0), TASSIGN(sq, 0x800), TASSIGN(g, 0x1000), TASSIGN(b, 0x1100);
		TASSIGN(mean, 0x1200), TASSIGN(var, 0x1240), TASSIGN(rv, 0x1240);
		TLOAD(v, Mem<float, 8, 64>(x.data()));
		TLOAD(g, Mem<float, 1, 64>(gamma.data()));
		TLOAD(b, Mem<float, 1, 64>(beta.data()));
		after(PIPE_MTE2, PIPE_V);
		TROWSUM(var, v, sq);
		TMULS(rv, rv, 1.0f / 64);
		TROWEXPANDSUB(v, v, var);
		TMUL(sq, v, v);
		TROWSUM(var, sq, sq);
		TMULS(rv, rv, 1.0f / 64);
		TADDS(rv, rv, 1e-5f);
		TRSQRT(rv, rv);
		TROWEXPANDMUL(v, v, var);
		TCOLEXPANDMUL(v, v, g);
		TCOLEXPANDADD(v, v, b);
		after(PIPE_V, PIPE_MTE3);
		TSTORE(Mem<float, 8, 64>(out), v);
	};
	if (!c.runs(t, kernel))
		return;
	for (int r = 0; r < 8; r++) {
		double mean = 0, var = 0;

		for (int i = 0; i < 64; i++)
			mean += double(x[r * 64 + i]) / 64;
		for (int i = 0; i < 64; i++)
			var += (double(x[r * 64 + i]) - mean) * (double(x[r * 64 + i]) - mean) / 64;
		for (int i = 0; i < 64; i++)
			near(t, "layer norm", r * 64 + i, out[r * 64 + i],
			     (double(x[r * 64 + i]) - mean) / std::sqrt(var + 1e-5) *
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
CHECK(quantised_matmul)
{
	kernel_core c;
	static int8_t a[16 * 64], b[64 * 32];
	static uint64_t scales[32];
	static half out[16 * 32];

	for (int8_t &v : a)
		v = int8_t(t.below(21) - 10);
	for (int8_t &v : b)
		v = int8_t(t.below(21) - 10);
	for (int i = 0; i < 32; i++)
		scales[i] = raw(1.0f / float(1 << (i % 8)));
	const auto kernel = [] {
		L1<int8_t, 16, 64> la;
		L1<int8_t, 64, 32> lb;
		Tile<TileType::Mat, uint64_t, 1, 32> ls;
		Tile<TileType::Scaling, uint64_t, 1, 32> fp;
		TileLeft<int8_t, 16, 64> l;
		TileRight<int8_t, 64, 32> r;
		TileAcc<int32_t, 16, 32> acc;

		TASSIGN(la, 0), TASSIGN(lb, 0x1000), TASSIGN(ls, 0x2000), TASSIGN(fp, 0);
		TASSIGN(l, 0), TASSIGN(r, 0), TASSIGN(acc, 0);
		TLOAD(la, Mem<int8_t, 16, 64>(a));
		TLOAD(lb, Mem<int8_t, 64, 32>(b));
		TLOAD(ls, Mem<uint64_t, 1, 32>(scales));
		after(PIPE_MTE2, PIPE_MTE1);
		after(PIPE_MTE2, PIPE_FIX);
		TMOV(l, la);
		TMOV(r, lb);
		TMOV(fp, ls);
		after(PIPE_MTE1, PIPE_M);
		TMATMUL(acc, l, r);
		after(PIPE_M, PIPE_FIX);
		TSTORE_FP(Mem<half, 16, 32>(out), acc, fp);
	};
	if (!c.runs(t, kernel))
		return;
	for (int i = 0; i < 512; i++) {
		int sum = 0;

		for (int x = 0; x < 64; x++)
			sum += a[i / 32 * 64 + x] * b[x * 32 + i % 32];
		near(t, "quantised matmul", i, out[i], double(sum) / (1 << (i % 32 % 8)), 1e-3);
	}
}
CHECK(embedding_by_gather)
{
	kernel_core c;
	static std::vector<half> table;
	static int32_t ids[8];
	static half out[8 * 32];

	table = numbers<half>(t, 50 * 32, 2);
	for (int32_t &i : ids)
		i = t.below(50);
	const auto kernel = [] {
		Tile<TileType::Vec, int32_t, 8, 8, BLayout::RowMajor, 8, 1> idx;
		Full<half, 8, 32> rows;

		TASSIGN(idx, 0), TASSIGN(rows, 0x400);
		TLOAD(idx, GlobalTensor<int32_t, Shape<1, 1, 1, 8, 1>, Stride<8, 8, 8, 1, 1>>(ids));
		after(PIPE_MTE2, PIPE_V);
		MGATHER<Coalesce::Row>(rows, Mem<half, 50, 32>(table.data()), idx);
		TMULS(rows, rows, half(2.0f));
		after(PIPE_V, PIPE_MTE3);
		TSTORE(Mem<half, 8, 32>(out), rows);
	};
	if (!c.runs(t, kernel))
		return;
	for (int i = 0; i < 256; i++)
		near(t, "embedding", i, out[i], 2 * double(float(table[ids[i / 32] * 32 + i % 32])),
		     0);
}
CHECK(mixture_of_experts_dispatch)
{
	kernel_core c;
	static std::vector<float> gate, x;
	static float places[EXPERTS * ROOM * WIDTH];
	static int32_t expert[TOKENS];
	int used[EXPERTS] = {};

	gate = numbers<float>(t, TOKENS * EXPERTS, 4), x = numbers<float>(t, TOKENS * WIDTH, 1);
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
}
CHECK(rotary_embedding)
{
	kernel_core c;
	static std::vector<float> x;
	static float cs[32], sn[32], out[8 * 64];

	x = numbers<float>(t, 512, 2);
	for (int i = 0; i < 32; i++)
		cs[i] = std::cos(float(i) * 0.1f), sn[i] = std::sin(float(i) * 0.1f);
	const auto kernel = [] {
		using P = Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, 8, 32>;
		Full<float, 8, 64> v, y;
		P even, odd, a, b, high;
		Tile<TileType::Vec, float, 1, 32> co, si;

		TASSIGN(v, 0), TASSIGN(y, 0x800), TASSIGN(even, 0x1000), TASSIGN(odd, 0x1800);
		TASSIGN(a, 0x2000), TASSIGN(b, 0x2800), TASSIGN(co, 0x3000), TASSIGN(si, 0x3100);
		TLOAD(v, Mem<float, 8, 64>(x.data()));
		TLOAD(co, Mem<float, 1, 32>(cs));
		TLOAD(si, Mem<float, 1, 32>(sn));
		after(PIPE_MTE2, PIPE_V);
		TDEINTERLEAVE(odd, even, v);
		TCOLEXPANDMUL(a, even, co);
		TCOLEXPANDMUL(b, odd, si);
		TSUB(a, a, b); /* x0 cos - x1 sin */
		TCOLEXPANDMUL(odd, odd, co);
		TCOLEXPANDMUL(even, even, si);
		TADD(b, odd, even); /* x1 cos + x0 sin */
		TSUBVIEW(high, y, 0, 32);
		P low;

		TSUBVIEW(low, y, 0, 0);
		TINTERLEAVE(high, low, b, a);
		after(PIPE_V, PIPE_MTE3);
		TSTORE(Mem<float, 8, 64>(out), y);
	};
	if (!c.runs(t, kernel))
		return;
	for (int i = 0; i < 512; i += 2) {
		const double co = double(cs[i % 64 / 2]), si = double(sn[i % 64 / 2]);

		near(t, "rotary", i, out[i], double(x[i]) * co - double(x[i + 1]) * si, 1e-6);
		near(t, "rotary", i + 1, out[i + 1], double(x[i + 1]) * co + double(x[i]) * si,
		     1e-6);
	}
}
CHECK(softmax_with_online_rescale)
{
	kernel_core c;
	static std::vector<float> x;
	static float out[8 * 96];

	x = numbers<float>(t, 8 * 96, 30);
	const auto kernel = [] {
		using Chunk =
			GlobalTensor<float, Shape<1, 1, 1, 8, 32>, Stride<768, 768, 768, 96, 1>>;
		Full<float, 8, 32> v, tmp;
		Full<float, 1, 8> m, l, n, a;
		Col<float, 8> cm, cl, cn;

		TASSIGN(v, 0), TASSIGN(tmp, 0x400), TASSIGN(m, 0x800), TASSIGN(l, 0x820);
		TASSIGN(n, 0x840), TASSIGN(a, 0x860);
		TRESHAPE(cm, m), TRESHAPE(cl, l), TRESHAPE(cn, n);
		TEXPANDS(m, -1e30f);
		TEXPANDS(l, 0.0f);
		for (int i = 0; i < 3; i++) {
			after(PIPE_V, PIPE_MTE2);
			TLOAD(v, Chunk(&x[i * 32]));
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
		for (int i = 0; i < 3; i++) {
			after(PIPE_V, PIPE_MTE2);
			after(PIPE_MTE3, PIPE_MTE2);
			TLOAD(v, Chunk(&x[i * 32]));
			after(PIPE_MTE2, PIPE_V);
			TROWEXPANDEXPDIF(v, v, cm);
			TROWEXPANDDIV(v, v, cl);
			after(PIPE_V, PIPE_MTE3);
			TSTORE(Chunk(&out[i * 32]), v);
		}
	};
	if (!c.runs(t, kernel))
		return;
	for (int r = 0; r < 8; r++) {
		double top = -1e30, sum = 0;

		for (int i = 0; i < 96; i++)
			top = std::max(top, double(x[r * 96 + i]));
		for (int i = 0; i < 96; i++)
			sum += std::exp(double(x[r * 96 + i]) - top);
		for (int i = 0; i < 96; i++)
			near(t, "softmax", r * 96 + i, out[r * 96 + i],
			     std::exp(double(x[r * 96 + i]) - top) / sum, 1e-5);
	}
}
CHECK(convolution_by_im2col)
{
	kernel_core c;
	static std::vector<half> map, filter;
	static float out[16 * 32];

	/* 16 channels of 4 x 4 pixels, 3 x 3 filters with padding 1, 32 output channels */
	map = numbers<half>(t, 4 * 4 * 16, 1), filter = numbers<half>(t, 9 * 16 * 32, 1);
	const auto kernel = [] {
		using G = GlobalTensor<half, Shape<1, 1, 4, 4, 16>, Stride<256, 256, 64, 16, 1>,
				       Layout::NC1HWC0>;
		ConvTile<TileType::Mat, half, 512, Layout::NC1HWC0, ConvTileShape<1, 1, 4, 4, 16>>
			m;
		L1<half, 144, 32> f;
		TileLeft<half, 16, 144> l;
		TileRight<half, 144, 32> r;
		TileAcc<float, 16, 32> acc;

		TASSIGN(m, 0), TASSIGN(f, 0x400), TASSIGN(l, 0), TASSIGN(r, 0), TASSIGN(acc, 0);
		m.SetFilter(3, 3);
		m.SetPad(1, 1, 1, 1);
		TLOAD(m, G(map.data()));
		TLOAD(f, Mem<half, 144, 32>(filter.data()));
		after(PIPE_MTE2, PIPE_MTE1);
		SETFMATRIX(m);
		TIMG2COL(l, m);
		TMOV(r, f);
		after(PIPE_MTE1, PIPE_M);
		TMATMUL(acc, l, r);
		after(PIPE_M, PIPE_FIX);
		TSTORE(Mem<float, 16, 32>(out), acc);
	};
	if (!c.runs(t, kernel))
		return;
	for (int i = 0; i < 512; i++) {
		const int y = i / 32 / 4, x = i / 32 % 4;
		double sum = 0;

		for (int fy = 0; fy < 3; fy++)
			for (int fx = 0; fx < 3; fx++)
				for (int ch = 0; ch < 16; ch++)
					if (y + fy >= 1 && y + fy < 5 && x + fx >= 1 && x + fx < 5)
						sum += double(float(map[((y + fy - 1) * 4 + x + fx -
									 1) * 16 +
									ch])) *
						       double(float(filter[((fy * 3 + fx) * 16 +
									    ch) * 32 +
									   i % 32]));
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
