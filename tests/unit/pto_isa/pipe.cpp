// SPDX-License-Identifier: MIT
/* Cluster pipes over a runtime of the test's own (pto-isa §5). */
#include <deque>

#include "fake_core.hpp"

using namespace check;

namespace {

/*
 * The rings of one cluster, driven by one thread: an operation that would wait
 * ends the run instead.  Slots of both directions are kept apart.
 */
struct fake_cluster : fake_core {
	struct slot {
		std::vector<uint8_t> bytes;
		uint32_t pushed = 0, popped[2] = {}, freed = 0;
	};
	struct ring {
		std::deque<slot> slots;
	};
	ring rings[3];
	pto_pipe key = {};

	fake_cluster()
	{
		ops.push_begin = push_begin;
		ops.push_end = push_end;
		ops.pop_begin = pop_begin;
		ops.pop_free = pop_free;
	}
	static fake_cluster &me() { return *static_cast<fake_cluster *>(current()); }
	int lane() const { return int(core.sub_block_id); }

	/* The slot of a lane's next push: a second lane joins the one the first opened. */
	slot *open_slot(const pto_pipe *p, pto_pipe_dir dir, uint32_t lanes)
	{
		ring &r = rings[dir];

		for (slot &s : r.slots)
			if (lanes == 2 && dir == PTO_PIPE_V2C && s.pushed == 1)
				return &s;
		if (r.slots.size() == p->slot_num)
			return nullptr;
		r.slots.emplace_back();
		r.slots.back().bytes.assign(p->slot_bytes, 0xee);
		return &r.slots.back();
	}
	static uint8_t *push_begin(const pto_pipe *p, pto_pipe_dir dir, uint32_t lanes)
	{
		fake_cluster &c = me();
		slot *s = c.open_slot(p, dir, lanes);

		c.key = *p;
		if (!s)
			on_fail(1, "push would wait");
		return s->bytes.data();
	}
	static void push_end(const pto_pipe *, pto_pipe_dir dir, uint32_t lanes)
	{
		for (slot &s : me().rings[dir].slots)
			if (s.pushed < (dir == PTO_PIPE_V2C ? lanes : 1)) {
				s.pushed++;
				return;
			}
	}
	static uint8_t *pop_begin(const pto_pipe *p, pto_pipe_dir dir, uint32_t lanes)
	{
		fake_cluster &c = me();

		c.key = *p;
		for (slot &s : c.rings[dir].slots)
			if (!s.popped[c.lane()] && s.pushed >= (dir == PTO_PIPE_V2C ? lanes : 1)) {
				s.popped[c.lane()] = 1;
				return s.bytes.data();
			}
		on_fail(1, "pop would wait");
	}
	static void pop_free(const pto_pipe *, pto_pipe_dir dir, uint32_t lanes)
	{
		ring &r = me().rings[dir];

		for (slot &s : r.slots)
			if (s.freed < (dir == PTO_PIPE_C2V ? lanes : 1)) {
				s.freed++;
				break;
			}
		while (!r.slots.empty() &&
		       r.slots.front().freed >= (dir == PTO_PIPE_C2V ? lanes : 1))
			r.slots.pop_front();
	}
	void on_cube() { core.is_aic = 1, core.sub_block_id = 0; }
	void on_lane(int l, int dim = 2)
	{
		core.is_aic = 0, core.lane = uint8_t(l), core.sub_block_id = uint32_t(l),
		core.sub_block_dim = uint32_t(dim);
	}
};

template <typename T>
using AccOf = Tile<TileType::Acc, T, 32, 32, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 1024>;
template <typename T>
using MatOf = Tile<TileType::Mat, T, 32, 32, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
using C2V = TPipe<3, Direction::DIR_C2V, 32 * 32 * 4, 2, 2>;
using V2C = TPipe<4, Direction::DIR_V2C, 32 * 32 * 4, 2, 2>;
using Both = TPipe<5, Direction::DIR_BOTH, 32 * 32 * 4, 2, 2>;
constexpr auto UpDown = TileSplitAxis::TILE_UP_DOWN;
constexpr auto LeftRight = TileSplitAxis::TILE_LEFT_RIGHT;
constexpr auto UpDownOdd = TileSplitAxis::TILE_UP_DOWN_ODD;
constexpr auto LeftRightOdd = TileSplitAxis::TILE_LEFT_RIGHT_ODD;
constexpr auto Whole = TileSplitAxis::TILE_NO_SPLIT;

template <typename T>
void number(T &tile, int base = 0)
{
	for (int r = 0; r < T::Rows; r++)
		for (int c = 0; c < T::Cols; c++)
			tile.SetElement(r, c, typename T::DType(float(base + r * 32 + c)));
}

/* Element (r, c) of @tile is element (r + dr, c + dc) of the numbered tile. */
template <typename T>
void numbered(context &t, const char *what, const T &tile, int rows, int cols, int dr, int dc,
	      int base = 0)
{
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			if (!matches(t, what, r, c, now(tile, r, c),
				     double(base + (r + dr) * 32 + c + dc)))
				return;
}

/* One tile from the cube to both lanes. */
template <TileSplitAxis Split, int R, int C>
void cut(context &t, const char *what, int valid_rows, int valid_cols, const int (&share)[2][4])
{
	fake_cluster cluster;
	C2V pipe(static_cast<void *>(nullptr), 0, 0);
	AccOf<float> acc(valid_rows, valid_cols);

	cluster.on_cube();
	TASSIGN(acc, 0);
	number(acc);
	TPUSH<C2V, AccOf<float>, Split>(pipe, acc);
	for (int lane = 0; lane < 2; lane++) {
		Part<float, R, C> v(share[lane][2], share[lane][3]);

		cluster.on_lane(lane);
		TPOP<C2V, decltype(v), Split>(pipe, v);
		numbered(t, what, v, share[lane][2], share[lane][3], share[lane][0],
			 share[lane][1]);
		t.expect(cluster.rings[PTO_PIPE_C2V].slots.size() == 1,
			 "%s: the slot is in use until both lanes have freed it", what);
		TFREE<C2V, Split>(pipe);
	}
	t.expect(cluster.rings[PTO_PIPE_C2V].slots.empty(), "%s: the slot is free", what);
}

/* One tile from both lanes to the cube. */
template <TileSplitAxis Split, int R, int C>
void join(context &t, const char *what, const int (&share)[2][4], int rows, int cols)
{
	fake_cluster cluster;
	V2C pipe(static_cast<void *>(nullptr), 0, 0x8000);
	MatOf<float> m(rows, cols);

	for (int lane = 0; lane < 2; lane++) {
		Part<float, R, C> v(share[lane][2], share[lane][3]);

		cluster.on_lane(lane);
		TASSIGN(v, 0);
		number(v, share[lane][0] * 32 + share[lane][1]);
		TPUSH<V2C, decltype(v), Split>(pipe, v);
	}
	cluster.on_cube();
	TPOP<V2C, decltype(m), Split>(pipe, m);
	numbered(t, what, m, rows, cols, 0, 0);
	TFREE<V2C, Split>(pipe);
	t.expect(cluster.rings[PTO_PIPE_V2C].slots.empty(), "%s: the slot is free", what);
}

} // namespace

CHECK(an_unsplit_tile_arrives_in_the_slot_itself)
{
	fake_cluster cluster;
	C2V pipe(static_cast<void *>(nullptr), 0, 0);
	AccOf<float> acc(32, 32);
	Full<float, 32, 32> v;

	cluster.on_cube();
	TASSIGN(acc, 0);
	number(acc);
	for (const char *op : {"TPUSH", "TPOP", "TFREE"})
		t.covers(op, "f32");
	TPUSH(acc, pipe);
	cluster.on_lane(0, 1);
	TPOP(v, pipe);
	numbered(t, "unsplit", v, 32, 32, 0, 0);
	const uint8_t *p = reinterpret_cast<const uint8_t *>(v.data()),
		      *slot = cluster.rings[PTO_PIPE_C2V].slots[0].bytes.data();
	t.expect(p > slot && p < slot + cluster.key.slot_bytes, "no copy is made");
	t.expect(cluster.key.flag_id == 3 && cluster.key.dir_mask == 1 &&
			 cluster.key.slot_num == 2 && cluster.key.local_slot_num == 2,
		 "key");
	TFREE<C2V>(pipe);
	t.expect(cluster.rings[PTO_PIPE_C2V].slots.empty(), "freed");
}
CHECK(a_partial_width_arrives_right_whatever_the_consumers_width)
{
	for (int consumer = 0; consumer < 3; consumer++) {
		fake_cluster cluster;
		C2V pipe(static_cast<void *>(nullptr), 0x4000, 0);
		AccOf<float> acc(19, 21);

		cluster.on_cube();
		TASSIGN(acc, 0);
		number(acc);
		TPUSH(acc, pipe);
		cluster.on_lane(0, 1);
		if (consumer == 0) {
			Part<float, 32, 32> v(19, 21);
			TPOP(v, pipe);
			numbered(t, "same box", v, 19, 21, 0, 0);
		} else if (consumer == 1) {
			Part<float, 24, 24> v(19, 21);
			TPOP(v, pipe);
			numbered(t, "narrow box", v, 19, 21, 0, 0);
		} else {
			Dn<float, 24, 32> v(19, 21);
			TPOP(v, pipe);
			numbered(t, "column-major box", v, 19, 21, 0, 0);
		}
		TFREE(pipe);
	}
}
CHECK(isa_case_42_a_push_into_a_full_pipe_waits_for_the_first_free)
{
	fake_cluster cluster;
	C2V pipe(static_cast<void *>(nullptr), 0, 0);
	AccOf<float> acc(32, 32);
	Full<float, 32, 32> v;

	TASSIGN(acc, 0);
	for (int push = 0; push < 3; push++) {
		cluster.on_cube();
		number(acc, 2000 * push);
		if (push < 2) {
			TPUSH(pipe, acc);
			continue;
		}
		t.expect(cluster.fails([&] { TPUSH(pipe, acc); }) &&
				 strstr(cluster.text, "push would wait"),
			 "the third push has to wait");
		cluster.on_lane(0, 1);
		TPOP(pipe, v);
		cluster.on_cube();
		t.expect(cluster.fails([&] { TPUSH(pipe, acc); }) &&
				 strstr(cluster.text, "push would wait"),
			 "a pop alone makes no room");
		cluster.on_lane(0, 1);
		numbered(t, "the first is still there", v, 32, 32, 0, 0);
		TFREE(pipe);
		cluster.on_cube();
		t.expect(!cluster.fails([&] { TPUSH(pipe, acc); }), "%s", cluster.text);
	}
	cluster.on_lane(0, 1);
	for (int pop = 1; pop < 3; pop++) {
		TPOP(pipe, v);
		numbered(t, "in order", v, 32, 32, 0, 0, 2000 * pop);
		TFREE(pipe);
	}
}
CHECK(isa_case_43_each_lane_pops_its_rows_and_frees_for_itself)
{
	fake_cluster cluster;
	C2V pipe(static_cast<void *>(nullptr), 0, 0);
	AccOf<float> acc(32, 32);
	Part<float, 16, 32> v(16, 32);

	cluster.on_cube();
	TASSIGN(acc, 0);
	for (int i = 0; i < 1024; i++)
		acc.SetElement(i / 32, i % 32, float(i / 32));
	TPUSH<C2V, AccOf<float>, UpDown>(pipe, acc);
	TPUSH<C2V, AccOf<float>, UpDown>(pipe, acc);
	for (int lane = 0; lane < 2; lane++) {
		cluster.on_cube();
		t.expect(cluster.fails([&] { TPUSH<C2V, AccOf<float>, UpDown>(pipe, acc); }),
			 "both slots are in use when %d lanes have freed one", lane);
		cluster.on_lane(lane);
		TPOP<C2V, decltype(v), UpDown>(pipe, v);
		for (int i = 0; i < 512; i++)
			matches(t, "row number", i / 32, i % 32, now(v, i / 32, i % 32),
				double(16 * lane + i / 32));
		TFREE<C2V, UpDown>(pipe);
	}
	cluster.on_cube();
	t.expect(!cluster.fails([&] { TPUSH<C2V, AccOf<float>, UpDown>(pipe, acc); }), "%s",
		 cluster.text);
}
CHECK(a_split_tile_gives_each_lane_its_half)
{
	cut<UpDown, 16, 32>(t, "up/down", 32, 32, {{0, 0, 16, 32}, {16, 0, 16, 32}});
	cut<UpDown, 16, 32>(t, "up/down partial", 20, 29, {{0, 0, 16, 29}, {16, 0, 4, 29}});
	cut<LeftRight, 32, 16>(t, "left/right", 32, 32, {{0, 0, 32, 16}, {0, 16, 32, 16}});
	cut<LeftRight, 32, 16>(t, "left/right partial", 30, 25, {{0, 0, 30, 16}, {0, 16, 30, 9}});
	cut<UpDownOdd, 16, 32>(t, "up/down odd", 31, 32, {{0, 0, 16, 32}, {16, 0, 15, 32}});
	cut<LeftRightOdd, 32, 16>(t, "left/right odd", 32, 31, {{0, 0, 32, 16}, {0, 16, 32, 15}});
}
CHECK(halves_of_two_lanes_make_up_the_cubes_tile)
{
	join<UpDown, 16, 32>(t, "up/down", {{0, 0, 16, 32}, {16, 0, 16, 32}}, 32, 32);
	join<UpDown, 16, 32>(t, "up/down partial", {{0, 0, 16, 29}, {16, 0, 4, 29}}, 20, 29);
	join<LeftRight, 32, 16>(t, "left/right", {{0, 0, 32, 16}, {0, 16, 32, 16}}, 32, 32);
	join<UpDownOdd, 16, 32>(t, "up/down odd", {{0, 0, 15, 32}, {15, 0, 14, 32}}, 29, 32);
	join<LeftRightOdd, 32, 16>(t, "left/right odd", {{0, 0, 32, 15}, {0, 15, 32, 14}}, 32, 29);
}
CHECK(a_vector_push_reaches_the_cube_boxed_and_zero_filled)
{
	fake_cluster cluster;
	V2C pipe(static_cast<void *>(nullptr), 0, 0x8000);
	Part<half, 32, 32> v(19, 21);
	MatOf<half> m(32, 32);

	cluster.on_lane(0, 1);
	TASSIGN(v, 0);
	number(v);
	TPUSH<V2C, decltype(v), Whole>(pipe, v);
	cluster.on_cube();
	TPOP<V2C, decltype(m), Whole>(pipe, m);
	numbered(t, "Mat", m, 19, 21, 0, 0);
	t.expect(float(m.GetElement(19, 0)) == 0.0f && float(m.GetElement(0, 21)) == 0.0f,
		 "the rest is zero");
	t.expect(reinterpret_cast<uint8_t *>(m.data()) == cluster.core.arena[PTO_ARENA_L1] + 0x8000,
		 "in the consumer's buffer");
	TFREE(pipe);
}
CHECK(the_idle_lane_of_an_unsplit_transfer_gets_zeros)
{
	fake_cluster cluster;
	C2V pipe(static_cast<void *>(nullptr), 0x4000, 0);
	V2C back(static_cast<void *>(nullptr), 0, 0);
	Full<float, 32, 32> v;

	cluster.on_lane(1);
	TPOP<C2V, decltype(v), Whole>(pipe, v);
	for (int i = 0; i < 1024; i++)
		t.expect(v.GetValue(size_t(i)) == 0.0f, "element %d", i);
	TFREE<C2V, Whole>(pipe);
	TPUSH<V2C, decltype(v), Whole>(back, v);
	t.expect(cluster.rings[PTO_PIPE_V2C].slots.empty(), "nothing was pushed");
}
CHECK(a_push_may_convert_and_rectify)
{
	fake_cluster cluster;
	C2V pipe(static_cast<void *>(nullptr), 0, 0);
	AccOf<float> acc(32, 32);
	Full<half, 32, 32> v;
	using Params = FixpipeParams<Layout::ND, F322F16, ReluPreMode::NormalRelu>;

	cluster.on_cube();
	TASSIGN(acc, 0);
	number(acc, -500);
	TPUSH<C2V, AccOf<float>, Whole, Params>(pipe, acc);
	cluster.on_lane(0, 1);
	TPOP<C2V, decltype(v), Whole>(pipe, v);
	for (int r = 0; r < 32; r++)
		for (int c = 0; c < 32; c++)
			matches(t, "relu f16", r, c, now(v, r, c),
				r * 32 + c < 500 ? 0.0 : double(r * 32 + c - 500));
	TFREE(pipe);
}
CHECK(pops_may_overlap_up_to_the_slot_count_and_are_freed_in_order)
{
	fake_cluster cluster;
	Both pipe(static_cast<void *>(nullptr), 0, 0x4000);
	AccOf<float> acc(32, 32);
	Full<float, 32, 32> a, b;
	MatOf<float> m(32, 32);

	cluster.on_cube();
	TASSIGN(acc, 0);
	number(acc);
	TPUSH(pipe, acc);
	number(acc, 5000);
	TPUSH(pipe, acc);
	cluster.on_lane(0, 1);
	TPOP(pipe, a);
	TPOP(pipe, b);
	numbered(t, "first", a, 32, 32, 0, 0);
	numbered(t, "second", b, 32, 32, 0, 0, 5000);
	TFREE(pipe);
	cluster.on_cube();
	TPUSH(pipe, acc);
	cluster.on_lane(0, 1);
	TPUSH(pipe, b);
	cluster.on_cube();
	TPOP(pipe, m);
	numbered(t, "back", m, 32, 32, 0, 0, 5000);
	TFREE(pipe);
	t.expect(cluster.rings[PTO_PIPE_V2C].slots.empty() &&
			 cluster.rings[PTO_PIPE_C2V].slots.size() == 2,
		 "the cube frees its own direction");
}
CHECK(a_pop_of_another_element_size_is_an_error)
{
	fake_cluster cluster;
	C2V pipe(static_cast<void *>(nullptr), 0, 0);
	AccOf<float> acc(32, 32);
	Full<half, 32, 32> v;

	cluster.on_cube();
	TASSIGN(acc, 0);
	TPUSH(pipe, acc);
	cluster.on_lane(0, 1);
	t.expect(cluster.fails([&] { TPOP(pipe, v); }) && strstr(cluster.text, "2 bytes"),
		 "message: %s", cluster.text);
}
CHECK(this_object_says_that_it_may_suspend) { t.expect(pto_kernel_may_block == 1, "marker"); }
CHECK(tensors_are_slots_that_talloc_gives_and_tpush_sends)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, 32, 32>, Stride<1, 1, 1, 32, 1>>;
	using H = GlobalTensor<float, Shape<1, 1, 1, 16, 32>, Stride<1, 1, 1, 32, 1>>;
	fake_cluster c;
	C2V p(nullptr, 0, 0);
	V2C v(nullptr, 0, 0);
	G g, other;
	H h;

	t.covers("TALLOC", "f32");
	c.on_cube();
	TALLOC(p, g);
	for (int i = 0; i < 1024; i++)
		g.data()[i] = float(i);
	t.expect(c.fails([&] { TPUSH(p, other); }) && strstr(c.text, "not the slot"), "%s", c.text);
	TPUSH(p, g);
	c.on_lane(0, 1);
	TPOP(p, other);
	for (int i = 0; i < 1024; i++)
		t.expect(other.data()[i] == float(i), "element %d is %g", i,
			 double(other.data()[i]));
	TFREE(p, other);
	t.expect(c.rings[PTO_PIPE_C2V].slots.empty(), "TFREE gives the slot back");
	for (int lane = 0; lane < 2; lane++) {
		c.on_lane(lane);
		TALLOC<V2C, H, UpDown>(v, h);
		for (int i = 0; i < 512; i++)
			h.data()[i] = float(lane * 512 + i);
		TPUSH<V2C, H, UpDown>(v, h);
	}
	c.on_cube();
	MatOf<float> m(32, 32);

	TPOP<V2C, MatOf<float>, UpDown>(v, m);
	for (int r = 0; r < 32; r++)
		for (int col = 0; col < 32; col++)
			matches(t, "TPOP", r, col, now(m, r, col), double(r * 32 + col));
}

#include "exports.hpp"
