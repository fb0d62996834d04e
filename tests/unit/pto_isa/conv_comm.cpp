// SPDX-License-Identifier: MIT
/* Convolution, communication, host calls (pto-isa §3.2, §4.8, §6). */
#include "element.hpp"
#include "fake_core.hpp"

using namespace check;

namespace {

/* Input patches by the definition, for every output pixel. */
template <typename T, int C1, int H, int W, int C0>
void patches(context &t, const ConvParams &given, int pos_m, int pos_k)
{
	using Map = ConvTile<TileType::Mat, T, C1 * H * W * C0 *int(sizeof(T)), Layout::NC1HWC0,
			     ConvTileShape<1, C1, H, W, C0>>;
	using G = GlobalTensor<T, Shape<1, C1, H, W, C0>,
			       Stride<C1 * H * W * C0, H * W * C0, W * C0, C0, 1>, Layout::NC1HWC0>;
	std::vector<T> mem(C1 * H * W * C0);
	Map map;
	Tile<TileType::Left, T, 16, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor> d(13, 37);
	ConvParams p = given;
	place at;

	p.fmap_h = H, p.fmap_w = W;
	map.params = p;
	map.SetPadValue(T(-3));
	TASSIGN(map, 0);
	at.put(d);
	for (T &v : mem)
		v = T(t.below(100));
	G g(mem.data());

	TLOAD(map, g);
	SETFMATRIX(map);
	SET_IMG2COL_RPT(map);
	SET_IMG2COL_PADDING(map);
	TIMG2COL(d, map, pos_m, pos_k);
	for (int r = 0; r < 13; r++)
		for (int c = 0; c < 37; c++) {
			const int m = pos_m + r, k = pos_k + c, c0 = k % C0, f = k / C0;
			const int fx = f % p.filter_w, fy = f / p.filter_w % p.filter_h,
				  c1 = f / p.filter_w / p.filter_h;
			const int y = m / p.out_w() * p.stride_h - p.pad_top + fy * p.dilation_h;
			const int x = m % p.out_w() * p.stride_w - p.pad_left + fx * p.dilation_w;
			const T want = y < 0 || y >= H || x < 0 || x >= W
					       ? T(-3)
					       : mem[((c1 * H + y) * W + x) * C0 + c0];

			t.expect(raw(now(d, r, c)) == raw(want),
				 "TIMG2COL (%d, %d) is %g, expected %g", r, c,
				 double(float(now(d, r, c))), double(float(want)));
		}
	t.covers("TIMG2COL", type_name<T>());
}

template <typename E>
using Matrix = GlobalTensor<E, Shape<1, 2, 1, -1, 16>, Stride<-1, -1, -1, -1, -1>>;
template <typename E>
using Stage = Tile<TileType::Vec, E, 4, 16, BLayout::RowMajor, -1, -1>;

template <typename E>
Matrix<E> matrix(E *p, int rows, int pitch = 16)
{
	return Matrix<E>(
		p, Shape<1, 2, 1, -1, 16>(rows),
		Stride<-1, -1, -1, -1, -1>(2 * rows * pitch, rows * pitch, rows * pitch, pitch, 1));
}

template <typename E>
void transfers(context &t)
{
	E src[2 * 6 * 16], dst[2 * 6 * 20], sum[2 * 6 * 20];
	Stage<E> stage(2, 16);
	place at;

	t.covers("comm::TPUT", type_name<E>());
	t.covers("comm::TGET", type_name<E>());
	at.put(stage);
	for (E &v : src)
		v = E(t.below(50));
	for (int i = 0; i < 240; i++)
		dst[i] = sum[i] = E(t.below(50));
	const auto from = matrix(src, 6);
	const auto to = matrix(dst, 6, 20);

	comm::TPUT(to, from, stage);
	for (int i = 0; i < 240; i++)
		t.expect(raw(dst[i]) == raw(i % 20 < 16 ? src[i / 20 * 16 + i % 20] : sum[i]),
			 "TPUT %d", i);
	comm::TPUT<AtomicType::AtomicAdd>(to, from, stage, stage);
	for (int i = 0; i < 240; i++)
		if (i % 20 < 16)
			t.expect(float(dst[i]) == 2 * float(src[i / 20 * 16 + i % 20]),
				 "atomic TPUT %d", i);
	E back[2 * 6 * 16];

	comm::TGET(matrix(back, 6), from, stage);
	t.expect(!memcmp(back, src, sizeof(src)), "TGET");
	memset(static_cast<void *>(back), 0, sizeof(back));
	const comm::AsyncSession session;

	t.expect(comm::TPUT_ASYNC(matrix(back, 6), from, session).Wait(session) &&
			 !memcmp(back, src, sizeof(src)),
		 "TPUT_ASYNC");
	memset(static_cast<void *>(back), 0, sizeof(back));
	t.expect(comm::TGET_ASYNC<comm::DmaEngine::URMA>(matrix(back, 6), from, session)
				 .Test(session) &&
			 !memcmp(back, src, sizeof(src)),
		 "TGET_ASYNC");
}

template <typename E>
void collectives(context &t)
{
	constexpr int N = 3, ROWS = 4, WORDS = 2 * ROWS * 16;
	E mem[N][WORDS], all[N * WORDS], out[WORDS];
	Matrix<E> rank[N] = {matrix(mem[0], ROWS), matrix(mem[1], ROWS), matrix(mem[2], ROWS)};
	const auto group = comm::ParallelGroup<Matrix<E>>::Create(rank, N, 1);
	Stage<E> stage(4, 8);
	place at;

	for (const char *op :
	     {"comm::TGATHER", "comm::TSCATTER", "comm::TBROADCAST", "comm::TREDUCE"})
		t.covers(op, type_name<E>());
	at.put(stage);
	for (auto &m : mem)
		for (E &v : m)
			v = E(t.below(50) - 25);
	comm::TGATHER(group, matrix(all, N * ROWS), stage);
	for (int i = 0; i < N * WORDS; i++) {
		const int half = i / (N * ROWS * 16), in = i % (N * ROWS * 16),
			  r = in / (ROWS * 16);

		t.expect(raw(all[i]) == raw(mem[r][half * ROWS * 16 + in % (ROWS * 16)]),
			 "TGATHER %d", i);
	}
	const comm::ReduceOp ops[] = {comm::ReduceOp::Sum, comm::ReduceOp::Max,
				      comm::ReduceOp::Min};

	for (comm::ReduceOp op : ops) {
		comm::TREDUCE(group, matrix(out, ROWS), stage, stage, op);
		for (int i = 0; i < WORDS; i++) {
			const double a = double(float(mem[0][i])), b = double(float(mem[1][i])),
				     c = double(float(mem[2][i]));
			const double want = op == comm::ReduceOp::Sum ? a + b + c
					    : op == comm::ReduceOp::Max
						    ? std::fmax(a, std::fmax(b, c))
						    : std::fmin(a, std::fmin(b, c));

			t.expect(double(float(out[i])) == want, "TREDUCE %d word %d", int(op), i);
		}
	}
	E before[N][WORDS];

	memcpy(static_cast<void *>(before), mem, sizeof(mem));
	memset(static_cast<void *>(mem), 0, sizeof(mem));
	comm::TSCATTER(group, matrix(all, N * ROWS), stage);
	t.expect(!memcmp(before, mem, sizeof(mem)), "TSCATTER is the inverse of TGATHER");
	comm::TBROADCAST(group, matrix(out, ROWS), stage);
	for (auto &m : mem)
		t.expect(!memcmp(m, out, sizeof(out)), "TBROADCAST");
}

} // namespace

CHECK(timg2col_gives_the_matrix_of_patches)
{
	ConvParams p;

	p.filter_h = 3, p.filter_w = 3, p.pad_top = p.pad_bottom = p.pad_left = p.pad_right = 1;
	patches<half, 2, 5, 7, 16>(t, p, 0, 0);
	patches<half, 2, 5, 7, 16>(t, p, 11, 150);
	p.stride_w = 2, p.dilation_h = 2, p.filter_w = 2;
	patches<float, 3, 8, 9, 8>(t, p, 3, 9);
	patches<int8_t, 2, 6, 8, 32>(t, p, 1, 40);
}
CHECK(windows_beyond_the_matrix_of_patches_end_the_run)
{
	fake_core core;
	ConvTile<TileType::Mat, half, 512, Layout::NC1HWC0, ConvTileShape<1, 1, 4, 4, 16>> map;
	Tile<TileType::Left, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> d;

	TASSIGN(map, 0), TASSIGN(d, 0);
	t.expect(core.fails([&] { TIMG2COL(d, map, 1, 0); }) && strstr(core.text, "16 x 16 matrix"),
		 "%s", core.text);
}
CHECK(tput_and_tget_go_through_the_stage)
{
	transfers<float>(t);
	transfers<half>(t);
	transfers<int32_t>(t);
	transfers<int16_t>(t);
}
CHECK(collectives_reach_every_rank)
{
	collectives<float>(t);
	collectives<half>(t);
	collectives<int32_t>(t);
}
CHECK(a_stage_that_does_not_divide_the_tensor_ends_the_run)
{
	fake_core core;
	float a[2 * 6 * 16], b[2 * 6 * 16];
	Tile<TileType::Vec, float, 4, 16> stage;

	TASSIGN(stage, 0);
	t.expect(core.fails([&] { comm::TPUT(matrix(a, 6), matrix(b, 6), stage); }) &&
			 strstr(core.text, "4 x 16 does not divide"),
		 "%s", core.text);
}
CHECK(signals_are_tested_and_waited_for)
{
	int32_t words[6] = {};
	comm::Signal one(words);
	comm::Signal2D<2, 3> all(words);

	t.covers("comm::TNOTIFY", "i32");
	t.covers("comm::TTEST", "i32");
	comm::TNOTIFY(one, 4, comm::NotifyOp::Set);
	comm::TNOTIFY(one, 3, comm::NotifyOp::AtomicAdd);
	t.expect(words[0] == 7, "signal is %d", words[0]);
	t.expect(comm::TTEST(one, 7, comm::WaitCmp::EQ) && comm::TTEST(one, 6, comm::WaitCmp::NE) &&
			 comm::TTEST(one, 6, comm::WaitCmp::GT) &&
			 !comm::TTEST(one, 7, comm::WaitCmp::GT) &&
			 comm::TTEST(one, 7, comm::WaitCmp::GE) &&
			 comm::TTEST(one, 8, comm::WaitCmp::LT) &&
			 !comm::TTEST(one, 6, comm::WaitCmp::LE),
		 "comparisons with 7");
	t.expect(!comm::TTEST(all, 7, comm::WaitCmp::EQ), "all words count");
	for (int32_t &w : words)
		w = 7;
	t.expect(comm::TTEST(all, 7, comm::WaitCmp::EQ), "all words are 7");
	comm::TWAIT(all, 7, comm::WaitCmp::GE);
}
CHECK(a_signal_that_never_comes_ends_the_run)
{
	fake_core core;
	int32_t word = 0;
	comm::Signal s(&word);

	t.covers("comm::TWAIT", "i32");
	setenv("PTO_CPU_SIM_TWAIT_MAX_SPINS", "3", 1);
	t.expect(core.fails([&] { comm::TWAIT(s, 1, comm::WaitCmp::EQ); }) &&
			 strstr(core.text, "did not reach 1 in 3 polls"),
		 "%s", core.text);
	unsetenv("PTO_CPU_SIM_TWAIT_MAX_SPINS");
}
CHECK(a_launch_runs_every_block_and_throws_what_a_block_threw)
{
	static int64_t sum;
	bool thrown = false;

	sum = 0;
	/* relaxed: partner is the join of the threads */
	LaunchKernelMultiCore(5, [] {
		__atomic_fetch_add(&sum, 10 * get_block_idx() + get_block_num(), __ATOMIC_RELAXED);
	});
	t.expect(sum == 125, "blocks add up to %ld", long(sum));
	try {
		LaunchKernelMultiCore(3, [] {
			if (get_block_idx() == 2)
				throw 7;
		});
	} catch (int v) {
		thrown = v == 7;
	}
	t.expect(thrown, "the exception of block 2");
}
CHECK(host_calls_of_test_programs)
{
	void *p = nullptr;
	aclrtStream stream = nullptr;
	char buf[8] = "abcdefg";

	t.expect(!aclInit(nullptr) && !aclrtSetDevice(0) && !aclrtCreateStream(&stream) && stream,
		 "start");
	t.expect(!aclrtMalloc(&p, 8, ACL_MEM_MALLOC_HUGE_FIRST) &&
			 !memcmp(p, "\0\0\0\0\0\0\0\0", 8),
		 "memory is zero");
	t.expect(!aclrtMemcpy(p, 4, buf, 8, ACL_MEMCPY_HOST_TO_DEVICE) &&
			 !memcmp(p, "abcd\0\0\0\0", 8),
		 "the smaller size counts");
	t.expect(aclrtMemset(p, 8, 1, 9) == 145000 && aclrtMemset(nullptr, 8, 1, 1) == 145000,
		 "memset");
	t.expect(!aclrtMemset(p, 8, 1, 2) && !memcmp(p, "\1\1cd", 4), "memset fills");
	aclrtFree(p);
}

#include "exports.hpp"
